# What is kept is what @f.init makes of the weights that a run is given: against numpy on both pipelines, over several
# runs and with other weights. The run says that it ran once and what that cost; a pin takes the decision back.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF2'
func @f(%x: tensor<$M x $K x f32>, const %w: tensor<$N x $K x f32>, const %g: tensor<1 x $N x f32>) -> tensor<$M x $N x f32> {
  %t = tensor.transpose %w {perm = [1, 0]} : tensor<$K x $N x f32>
  %s = tensor.mul %t, %g : tensor<$K x $N x f32>
  %p = tensor.matmul %x, %s : tensor<$M x $N x f32>
  %c = tensor.exp %g : tensor<1 x $N x f32>
  %y = tensor.add %p, %c : tensor<$M x $N x f32>
  return %y
}
EOF2
/usr/bin/python3 -c "
import numpy
random = numpy.random.default_rng(7)
x, w, v, g = (random.uniform(-1, 1, s).astype(numpy.float32) for s in ((7, 24), (40, 24), (40, 24), (1, 40)))
for name, value in dict(x=x, w=w, v=v, g=g, yw=x @ (w.T * g) + numpy.exp(g), yv=x @ (v.T * g) + numpy.exp(g), s=w.T * g, zero=0 * (x @ w.T) + numpy.exp(g), none=0 * w.T).items():
    numpy.save(name + '.npy', numpy.ascontiguousarray(value))"
near='--rtol=1e-4 --atol=1e-5'
ends 0 pto-opt m.ptir --passes=pto.hoist-const -o split.ptir
for pipeline in reference default; do
  for module in m split; do
    for w in w v; do
      ends 0 pto-run $module.ptir --pipeline=$pipeline.yaml --in=x=x.npy --in=w=$w.npy --in=g=g.npy --expect=y=y$w.npy $near --repeat=3 --verify=paranoid
      grep -q '^y: ok' out || fail
    done
  done
  # It is a parameter like others: what is given for it counts.
  ends 0 pto-run split.ptir --pipeline=$pipeline.yaml --in=x=x.npy --in=w=w.npy --in=g=g.npy --in=s=none.npy --expect=y=zero.npy $near
done

# Random weights are those that a pipeline without @f.init has.
ends 0 pto-run m.ptir --random-inputs=3 --sym=M=5 --sym=K=8 --sym=N=16 --compare=reference.yaml

# Once for all runs; nothing when all that it makes is given.
given='--in=x=x.npy --in=w=w.npy --in=g=g.npy'
ends 0 pto-run m.ptir $given --repeat=3 --report=report
grep -qE '^@f\.init ran once, before all runs: [1-9][0-9]* cycles, [0-9.]+ ms on this machine$' out || fail
grep -qE '<p id="init">@f\.init ran once, before all runs: [1-9][0-9]* cycles' report/index.html || fail
ends 0 pto-run m.ptir $given --json
/usr/bin/python3 -c '
import json
r = json.load(open("out"))["runs"][0]
assert r["init"]["function"] == "f.init" and r["init"]["runs"] == 1 and r["init"]["cycles"] > 0 and r["init"]["wall_ns"]["least"] > 0, r["init"]'
ends 0 pto-run m.ptir $given --set hoist-const.with.growth=0 --set hoist-const.with.product-growth=0 --json
/usr/bin/python3 -c 'import json; assert json.load(open("out"))["runs"][0]["init"] is None'
ends 0 pto-run split.ptir $given --in=s=s.npy --in=c=g.npy
! grep -q init out || fail

# It is less work in each run.
cycles() { pto-run m.ptir --random-inputs=1 --sym=M=16 --sym=K=512 --sym=N=512 "$@" | sed -n 's/^cycles: \([0-9]*\) cycles/\1/p'; }
with=$(cycles) without=$(cycles --set hoist-const.with.growth=0 --set hoist-const.with.product-growth=0)
[ "$with" -lt $((without * 3 / 4)) ] || fail "$with cycles with what is kept, $without without"

# A decision like others: in the list, pinned, and what cannot be decided is refused.
ends 0 pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml -o all.ptir
grep -qE '^ *- at: "@f/s"' s.yaml && grep -qE 'value: kept' s.yaml || fail
ends 0 pto-opt m.ptir --pipeline=default.yaml --schedule=s.yaml -o again.ptir
cmp all.ptir again.ptir || fail
cat >pin.yaml <<'EOF2'
pto-schedule: 1
decisions:
  - { at: "@f/s", decide: constant, value: computed, pinned: true }
EOF2
ends 0 pto-opt m.ptir --passes=pto.hoist-const --schedule=pin.yaml
says '^  return %t, %c$' out
says '^  %s = tensor.mul %t, %g' out
sed 's/computed/often/' pin.yaml >bad.yaml
fails 2 'bad.yaml:3:44: error: \[E1803\] .constant. of @f/s is one of' pto-opt m.ptir --passes=pto.hoist-const --schedule=bad.yaml

# The step changes no number, and neither do those after it, of both functions.
short_of m.ptir M=7 N=40
ends 0 pto-opt short.ptir --pipeline=default.yaml --check=semantics
grep -q '^semantics: @f.init on random inputs, $K = ' text || fail
short_of m.ptir M=7 K=24 N=40
ends 0 pto-run short.ptir $given --check=semantics --expect=y=yw.npy $near
ends 0 pto-run m.ptir $given --compare=reference.yaml

# What changes the numbers of @f.init alone is found there.
cat >d.ptir <<'EOF2'
func @f(%x: tensor<8 x 64 x f32>, const %w: tensor<64 x f32>, const %v: tensor<64 x f32>) -> tensor<8 x 64 x f32> {
  %d = tensor.sub %w, %v : tensor<64 x f32>
  %y = tensor.mul %x, %d : tensor<8 x 64 x f32>
  return %y
}
EOF2
fails 6 '\[E1901\] step `hostile-miscompiles-tile` .* changed the numbers: `d` of @f.init at ' pto-opt d.ptir --pipeline=default.yaml --plugin="$TEST_PLUGINS/hostile-miscompiles.so" '--insert-after=tile=test.hostile-miscompiles-tile{plant=swaps-sub}' --check=semantics
