# A plugin that changes how floating point rounds, traps or treats denormals, while it is loaded (as -Ofast makes the
# compiler do) or in a run, changes no result of others; what a run does to it is a warning that names the plugin, said
# once.
. "$TEST_ROOT/tests/shell.sh"
[ "$(uname -m)" = x86_64 ] || { echo "flushing of denormals is set as on x86-64 here"; exit 77; }
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
/usr/bin/python3 - <<'END' || exit 1
import numpy as np
np.save("tiny.npy", np.full(4, 1e-39, np.float32))
np.save("tiny-y.npy", np.full(4, 1e-39, np.float32) * np.float32(.1))
np.save("plain.npy", np.array([1, 3, 7, 1e-3], np.float32))
END
run() { # X OUT OPTION...
  in=$1 out=$2; shift 2
  exits 0 pto-run "$m" --in x="$in" --out y="$out" "$@" >said 2>text || fail "$*"
}
run tiny.npy tiny-want.npy --expect y=tiny-y.npy
run plain.npy plain-want.npy

for change in flush round-up; do
  for when in constructor entry; do
    for x in tiny plain; do
      PTO_TEST_LOADING=$when-$change run $x.npy got.npy --plugin="$TEST_PLUGINS/hostile-loads.so" --insert-after=canonicalize=test.hostile-loads
      [ ! -s text ] && cmp $x-want.npy got.npy || fail "loading, $when-$change, $x"
    done
  done
done
run tiny.npy got.npy --plugin="$TEST_PLUGINS/hostile-fast.so" --insert-after=canonicalize=test.hostile-fast
[ ! -s text ] && cmp tiny-want.npy got.npy || fail 'built with -Ofast'
for way in flush round_up trap; do
  for x in tiny plain; do
    run $x.npy got.npy --plugin="$TEST_PLUGINS/hostile-state.so" --insert-after="canonicalize=test.hostile-state{way=$way}"
    cmp $x-want.npy got.npy || fail "$way, $x"
    grep -q "warning: \[E1327\] pass \`test.hostile-state\` of plugin \`test.hostile-state\` changed how floating point rounds, traps or treats denormals; a plugin leaves the process as it found it; the host has put that back$" text || fail "$way: not said"
    [ "$(grep -c warning text)" = 1 ] || fail "$way: not once"
  done
done
