# One more memory space is a line of the machine file and its paths. Nothing is put there that no program puts there;
# what a program puts there stays, takes part in vector work and has addresses of its own.
. "$TEST_ROOT/tests/shell.sh"
{
  sed '/^paths:/,$d' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" | sed 's/^name: .*/name: two-scratchpads/'
  echo '  vec2: { role: scratchpad, core: vector, bytes: 4KiB, align: 64, layouts: [nd, dn] }'
  sed -n '/^paths:/,$p' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" | sed '/^paths:/a\
  - { from: gm, to: vec2, core: vector, pipe: mte2, bytes-per-cycle: 20, layouts: [nd-nd, dn-dn] }\
  - { from: vec2, to: gm, core: vector, pipe: mte3, bytes-per-cycle: 20, layouts: [nd-nd, dn-dn] }'
} >machine.yaml
softmax=$TEST_ROOT/examples/softmax/softmax.ptir
pto-opt "$softmax" --pipeline=default.yaml | sed 1d >one.ptir
pto-opt "$softmax" --pipeline=default.yaml --machine=machine.yaml -o two.ptir || fail
[ "$(head -n 1 two.ptir)" = 'module {machine = "two-scratchpads", spaces = {vec2 = "scratchpad"}} {' ] || fail "two.ptir begins with $(head -n 1 two.ptir)"
sed 1d two.ptir | cmp - one.ptir || fail "a space that nothing asks for changed the program"

cat >stated.ptir <<'END'
module {spaces = {vec2 = "scratchpad"}} {
  func @f(%a: gm<32 x 16 x f32>, %b: gm<32 x 16 x f32>, out %c: gm<32 x 16 x f32>) {
    forall "f" (%i) to (1) {
      %ta = tile.load %a[0, 0] size(32, 16) : tile<32 x 16 x f32, vec2>
      %tb = tile.load %b[0, 0] size(32, 16) : tile<32 x 16 x f32, ?>
      %te = tile.exp %ta : tile<32 x 16 x f32, vec2>
      %ts = tile.add %te, %tb : tile<32 x 16 x f32, ?>
      tile.store %ts, %c[0, 0]
    }
    return
  }
}
END
pto-opt stated.ptir --pipeline=default.yaml --from=assign-spaces --machine=machine.yaml -o kernels.ptir || fail
grep -q 'tile.move\|pto.tmov' kernels.ptir && fail "a tile left the space that the program states"
[ "$(grep -c 'space = vec2' kernels.ptir)" -ge 1 ] || fail "nothing is in vec2"
[ "$(grep -c 'space = vec,' kernels.ptir)" -ge 1 ] || fail "nothing is in vec"
for backend in reference cpu-sim; do
  pto-run stated.ptir --pipeline=default.yaml --from=assign-spaces --machine=machine.yaml --backend=pto.$backend --random-inputs=1 --out=c=$backend.npy >out 2>text || fail
done
cmp reference.npy cpu-sim.npy || fail "the backends differ"
# Too much for it: the message says its name.
sed 's/bytes: 4KiB/bytes: 1KiB/' machine.yaml >small.yaml
fails 5 'buffers of @f_1 need [0-9]* bytes of `vec2`, the machine has 1024' pto-opt stated.ptir --pipeline=default.yaml --from=assign-spaces --machine=small.yaml
