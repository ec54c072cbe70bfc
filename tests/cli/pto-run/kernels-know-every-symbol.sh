# A kernel computes with a symbol that no memory it reads or writes mentions: it comes with a parameter that does.
set -u
run() {
  for pipeline in reference default; do
    file=$pipeline.npy
    options=
    [ $pipeline = reference ] || options=$sets
    # shellcheck disable=SC2086 # a list of options
    pto-run m.ptir --pipeline=$pipeline.yaml --random-inputs=1 "$@" $options --out "$output=$file" >text 2>&1 || { cat m.ptir text; exit 1; }
  done
}
cat >m.ptir <<'EOF'
func @f(%x: tensor<$A x f32>, %z: tensor<4 x f32>) -> (tensor<$A x f32>, tensor<4 x f32>) where ($A >= 2) {
  %c = tensor.index_cast from(3 * $A + 1) : tensor<4 x f32>
  %d = tensor.add %c, %z : tensor<4 x f32>
  %y = tensor.neg %x : tensor<$A x f32>
  return %y, %d
}
EOF
output=d sets=''
run --sym A=7
cmp reference.npy default.npy || exit 1
pto-opt m.ptir --pipeline=default.yaml | grep -q '^  block.kernel @f_0 .* reads(%z_2d) writes(%d_2d) (%z_2d: .*, out %d_2d: .*, %x: gm<$A x f32>)' || exit 1
# What is divided by the symbol is in a kernel of its own.
cat >m.ptir <<'EOF'
func @f(%x: tensor<7 x $C x f32>) -> tensor<7 x 1 x f32> {
  %y = tensor.reduce_mean %x {axis = 1} : tensor<7 x 1 x f32>
  return %y
}
EOF
output=y sets='--set fuse.with.max-ops=1'
run --sym C=33
/usr/bin/python3 -c "
import numpy
a, b = numpy.load('reference.npy'), numpy.load('default.npy')
assert a.shape == (7, 1) and numpy.abs(a).min() > 0 and numpy.abs(a - b).max() < 1e-6 * numpy.abs(a).max()" || exit 1
