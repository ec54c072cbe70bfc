# How many blocks of a row are sorted at once can be pinned as far as the memory of a core goes, and no further.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOM'
func @f(%x: tensor<4 x $C x f32>) -> (tensor<4 x 3 x f32>, tensor<4 x 3 x i32>) {
  %v, %i = tensor.topk %x {axis = 1, k = 3, largest = true} : tensor<4 x 3 x f32>, tensor<4 x 3 x i32>
  return %v, %i
}
EOM
# `pinned N`: a schedule with so many blocks.
pinned() { printf 'pto-schedule: 1\ndecisions:\n  - at: "@f/f_0"\n    decide: blocks\n    value: %d\n    pinned: true\n' "$1" >s.yaml; }

ends 0 pto-opt m.ptir --pipeline=default.yaml --print-search-space
most=$(sed -n '/decide: blocks/,/most:/s/^ *most: //p' out)
[ "$most" -gt 8 ] && [ "$most" -lt 1000 ] || fail "most: $most"
/usr/bin/python3 - <<'EOP'
import numpy
x = numpy.random.default_rng(3).standard_normal((4, 9001)).astype(numpy.float32)
places = numpy.argsort(-x, axis=1, kind="stable")[:, :3]
numpy.save("x.npy", x)
numpy.save("v.npy", numpy.take_along_axis(x, places, 1))
numpy.save("i.npy", places.astype(numpy.int32))
EOP
pinned "$most"
ends 0 pto-run m.ptir --pipeline=default.yaml --schedule=s.yaml --in x=x.npy --expect v=v.npy --expect i=i.npy --rtol=0 --atol=0
pinned $((most + 1))
ends 2 pto-opt m.ptir --pipeline=default.yaml --schedule=s.yaml
says "s.yaml:5:12: error: \[E1804\] \`blocks\` of @f/f_0 is $((most + 1)); the largest legal value is $most\$"
