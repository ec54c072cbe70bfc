# --check=semantics on given inputs: every step of the default pipeline keeps the numbers of examples; NaN and
# infinities are numbers like others; what a pass does to them is seen.
. "$TEST_ROOT/tests/shell.sh"
for name in softmax rms_norm gemm embedding cross_entropy; do
  # With sanitizers what takes seconds without them is left out.
  case $TEST_SHARE:$name in 1:* | *:softmax | *:embedding) ;; *) continue ;; esac
  yaml=$TEST_ROOT/examples/$name/case.yaml
  pto-run --case "$yaml" "$kept_data" --check=semantics >out.txt 2>text || complain "$yaml"
  grep -q '^semantics: steps that changed the module and not the numbers: [1-9][0-9]*, bit for bit: [1-9]' text || complain "$yaml"
  grep -q '^semantics: @[a-z_]* on given inputs' text || complain "$yaml"
done
/usr/bin/python3 - <<'END'
import numpy as np
x = np.zeros((5, 32, 256), np.float32)
x[0, 0, 0], x[1, 1, 1], x[2, 2, 2], x[3, 3, 3], x[4] = np.nan, np.inf, -np.inf, 1e38, -0.0
np.save("x.npy", x)
np.save("n.npy", np.float32([[np.nan] * 8, [1] * 8]))
END
softmax=$TEST_ROOT/examples/softmax/softmax.ptir
ends 0 pto-run "$softmax" --in x=x.npy --check=semantics --out y=y.npy
/usr/bin/python3 -c "import numpy as np; y = np.load('y.npy'); assert np.isnan(y[0, 0]).any() and y[3, 3, 3] == 1 and np.isfinite(y[4]).all()" || exit 1

# A NaN that becomes a number, and the other way round.
numbers="--plugin=$TEST_PLUGINS/liar-numbers.so"
cat >f.ptir <<'END'
func @f(%x: tensor<$N x 8 x f32>) -> tensor<$N x 8 x f32> {
  %y = tensor.exp %x : tensor<$N x 8 x f32>
  return %y
}
END
blamed() { # PASS TEXT
  exits 6 pto-run f.ptir --in x=n.npy "$numbers" --passes="test.liar-numbers-$1" --backend=pto.reference --check=semantics \
    >/dev/null 2>text || fail "$1"
  grep -q "changed the numbers: \`y\` of @f at $2" text || fail "$1: text"
  grep -q 'note: @f was run on given inputs, \$N = 2$' text || fail "$1: inputs"
}
blamed 'scales{factor=0}' '\[1, 0\] was 2.71828[0-9]* and is 0, error 2.72, limit 0$'
blamed 'reassociates{factor=0}' '\[1, 0\] was 2.71828[0-9]* and is 0, error 2.72, limit [1-9][0-9.]*e-0[67]$'
blamed 'numbs' '\[0, 0\] was nan and is 0, error inf, limit '
blamed 'reassociates{factor=3.4028234663852886e+38}' '\[1, 0\] was 2.71828[0-9]* and is inf, error inf, limit '
# Inputs that are missing are said before anything is compiled.
fails 4 'error: \[E1605\] input `x` was not given' pto-run "$softmax" --sym B=2 --check=semantics
fails 0 '^semantics: @softmax on random inputs, \$B = 2$' pto-run "$softmax" --check=semantics --random-inputs 3 --sym B=2
