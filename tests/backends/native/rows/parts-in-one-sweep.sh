# Parts of a concat that nests compute are stored where the result has them: what comes out is what the reference makes,
# for parts of one width and of several, numbers and symbols, and of windows that do not begin with a vector.
. "$TEST_ROOT/tests/shell.sh"
for t in f32 f16 i32; do
  cat <<PTIR
func @same_$t(%x: tensor<5 x \$N x 64 x $t>, %c: tensor<\$N x 64 x $t>) -> tensor<5 x \$N x 128 x $t> {
  %a = tensor.mul %x, %c : tensor<5 x \$N x 64 x $t>
  %b = tensor.sub %x, %c : tensor<5 x \$N x 64 x $t>
  %y = tensor.concat %a, %b {axis = 2} : tensor<5 x \$N x 128 x $t>
  return %y
}
func @other_$t(%x: tensor<\$N x 35 x $t>, %c: tensor<\$N x 5 x $t>) -> tensor<\$N x 75 x $t> {
  %a = tensor.add %x, %x : tensor<\$N x 35 x $t>
  %b = tensor.neg %c : tensor<\$N x 5 x $t>
  %d = tensor.mul %x, %x : tensor<\$N x 35 x $t>
  %y = tensor.concat %a, %b, %d {axis = 1} : tensor<\$N x 75 x $t>
  return %y
}
PTIR
done >f.ptir
cat >>f.ptir <<'PTIR'
func @rope_f32(%x: tensor<3 x $N x 24 x f32>, %cos: tensor<$N x 12 x f32>, %sin: tensor<$N x 12 x f32>) -> tensor<3 x $N x 24 x f32> {
  %y = tensor.rope %x, %cos, %sin : tensor<3 x $N x 24 x f32>
  return %y
}
func @rope_bf16(%x: tensor<3 x $N x 24 x bf16>, %cos: tensor<$N x 12 x bf16>, %sin: tensor<$N x 12 x bf16>) -> tensor<3 x $N x 24 x bf16> {
  %y = tensor.rope %x, %cos, %sin : tensor<3 x $N x 24 x bf16>
  return %y
}
PTIR
for entry in same_f32 same_f16 same_i32 other_f32 other_f16 other_i32; do
  ends 0 pto-run f.ptir --entry $entry --sym N=19 --random-inputs=1 --backend=pto.reference --out y=r.npz:y
  ends 0 pto-run f.ptir --entry $entry --sym N=19 --random-inputs=1 --pipeline=native.yaml --expect y=r.npz:y
done
# The reference rounds a rotation as a whole.
for entry in rope_f32 rope_bf16; do
  ends 0 pto-run f.ptir --entry $entry --sym N=19 --random-inputs=1 --pipeline=native.yaml --set=tile.with.join-parts=false --out y=r.npz:y
  ends 0 pto-run f.ptir --entry $entry --sym N=19 --random-inputs=1 --pipeline=native.yaml --expect y=r.npz:y
done
ends 0 pto-opt f.ptir --pipeline=native.yaml -o f.c
! grep -q 'rope[a-z0-9_]*_part1' f.c || fail 'halves of a rotation are copied'
