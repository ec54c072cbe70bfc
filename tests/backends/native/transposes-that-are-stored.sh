# A transpose alone goes from memory to memory, and one that something follows by a tile: both are what the reference
# makes, in each width, for numbers and symbols.
. "$TEST_ROOT/tests/shell.sh"
for t in f32 i32 f16 i8; do
  cat <<PTIR
func @$t(%x: tensor<40 x \$N x $t>, %y: tensor<16 x 24 x $t>) -> (tensor<\$N x 40 x $t>, tensor<24 x 16 x $t>, tensor<24 x 16 x $t>) {
  %a = tensor.transpose %x {perm = [1, 0]} : tensor<\$N x 40 x $t>
  %b = tensor.transpose %y {perm = [1, 0]} : tensor<24 x 16 x $t>
  %c = tensor.add %b, %b : tensor<24 x 16 x $t>
  return %a, %b, %c
}
PTIR
done >f.ptir
for t in f32 i32 f16 i8; do
  ends 0 pto-run f.ptir --entry $t --sym N=19 --random-inputs=1 --backend=pto.reference --out a=r.npz:a --out b=r.npz:b --out c=r.npz:c
  ends 0 pto-run f.ptir --entry $t --sym N=19 --random-inputs=1 --pipeline=native.yaml --expect a=r.npz:a --expect b=r.npz:b --expect c=r.npz:c
done
