# What a function computes of its constants is computed when they are bound, once for any number of runs and again after
# a change, by what was compiled with the function; the bits are the same.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<$M x $K x f32>, const %w: tensor<$N x $K x f32>, const %g: tensor<1 x $N x f32>) -> tensor<$M x $N x f32> {
  %t = tensor.transpose %w {perm = [1, 0]} : tensor<$K x $N x f32>
  %s = tensor.mul %t, %g : tensor<$K x $N x f32>
  %p = tensor.matmul %x, %s : tensor<$M x $N x f32>
  %c = tensor.exp %g : tensor<1 x $N x f32>
  %y = tensor.add %p, %c : tensor<$M x $N x f32>
  return %y
}
END
sizes='--random-inputs=3 --sym=M=17 --sym=K=40 --sym=N=24'
made() { # RUNS-OF-INIT RUNS OPTION..
  want_init=$1 want_runs=$2
  shift 2
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --pipeline="$pipeline.yaml" $sizes --out=y=y.npy --json "$@"
  /usr/bin/python3 -c '
import json, sys
r = json.load(open("out"))["runs"][0]
assert r["init"]["function"] == "f.init" and [r["init"]["runs"], r["runs"]] == [int(a) for a in sys.argv[1:]], r' "$want_init" "$want_runs" || fail
  [ -s first.npy ] || mv y.npy first.npy
  [ ! -s y.npy ] || cmp -s first.npy y.npy || complain "$*: other bits"
}
for pipeline in native default; do
  rm -f first.npy
  made 1 1
  made 1 10 --repeat=10
  made 2 10 --repeat=10 --rebind=5
  made 4 10 --repeat=10 --rebind=3
  made 1 10 --repeat=10 --rebind=10
done
pipeline=native
# shellcheck disable=SC2086
ends 0 pto-run f.ptir --pipeline=native.yaml $sizes --repeat=10 --rebind=5
says '^@f.init ran 2 times, before the first run and between runs: [0-9.]* ms on this machine$' out

# Both functions are compiled at once.
cat >counts <<END
#!/bin/sh
echo x >>'$PWD/count'
exec gcc "\$@"
END
chmod +x counts
rm first.npy
made 2 4 --repeat=4 --rebind=2 --set=backend.with.compiler=./counts --set=backend.with.cache=false
[ "$(grep -c x count)" -eq 1 ] || fail 'it was compiled more than once'

negation >n.ptir
refuses 2 'pto-run: error: [E1504] option `--rebind` has no effect: the function has no parameters that are `const`' \
  pto-run n.ptir --pipeline=native.yaml --random-inputs=1 --repeat=4 --rebind=2
refuses 2 'pto-run: error: [E1504] option `--rebind` has no effect without --repeat' \
  pto-run n.ptir --pipeline=native.yaml --random-inputs=1 --rebind=2
