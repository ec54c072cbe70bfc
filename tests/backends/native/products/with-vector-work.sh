# Elementwise work on the sums of products: what reference computes within what its rows allow, at sizes that leave
# tails, with the same bits for any number of threads, and as alone.
. "$TEST_ROOT/tests/shell.sh"
cat >gated.ptir <<'END'
func @f(%x: tensor<2 x $S x 40 x bf16>, %w: tensor<40 x 70 x bf16>, %bias: tensor<70 x bf16>, %v: tensor<40 x 70 x bf16>, %u: tensor<70 x 24 x bf16>, %r: tensor<2 x $S x 1 x f32>) -> tensor<2 x $S x 24 x f32> {
  %a = tensor.matmul %x, %w, %bias : tensor<2 x $S x 70 x bf16>
  %b = tensor.matmul %x, %v : tensor<2 x $S x 70 x bf16>
  %s = tensor.silu %a : tensor<2 x $S x 70 x bf16>
  %g = tensor.mul %s, %b : tensor<2 x $S x 70 x bf16>
  %o = tensor.matmul %g, %u {out = f32} : tensor<2 x $S x 24 x f32>
  %y = tensor.mul %o, %r : tensor<2 x $S x 24 x f32>
  return %y
}
END
cat >mlp.ptir <<'END'
func @f(%x: tensor<$S x 33 x f32>, %w: tensor<33 x 50 x f32>, %bias: tensor<50 x f32>, %u: tensor<64 x 50 x f32>, %r: tensor<$S x 64 x f32>) -> tensor<$S x 64 x f32> {
  %h = tensor.matmul %x, %w, %bias : tensor<$S x 50 x f32>
  %g = tensor.gelu %h : tensor<$S x 50 x f32>
  %o = tensor.matmul %g, %u {transpose_b = true} : tensor<$S x 64 x f32>
  %y = tensor.add %o, %r : tensor<$S x 64 x f32>
  return %y
}
END
cat >integers.ptir <<'END'
func @f(%x: tensor<$S x 70 x i8>, %w: tensor<70 x 34 x i8>, %s: tensor<1 x 34 x f32>, %t: tensor<$S x 1 x f32>) -> (tensor<$S x 34 x f32>, tensor<$S x 34 x i32>) {
  %p = tensor.matmul %x, %w {out = i32} : tensor<$S x 34 x i32>
  %c = tensor.cast %p : tensor<$S x 34 x f32>
  %a = tensor.mul %c, %s : tensor<$S x 34 x f32>
  %y = tensor.mul %a, %t : tensor<$S x 34 x f32>
  return %y, %p
}
END
for program in gated mlp integers; do
  for size in 0 1 139; do
    ends 0 pto-run "$program.ptir" --pipeline=native.yaml --random-inputs=1 --sym=S=$size --compare=reference.yaml
    says '^y: [0-9]* elements, the same' out
  done
  for threads in 1 2 7; do
    ends 0 pto-run "$program.ptir" --pipeline=native.yaml --random-inputs=1 --sym=S=139 "--set=backend.with.threads=$threads" "--out=y=$threads.npy"
    cmp -s 1.npy "$threads.npy" || fail "$program with $threads threads"
  done
  ends 0 pto-run "$program.ptir" --pipeline=native.yaml --random-inputs=1 --sym=S=139 --set=fuse.with.products=false --compare=native.yaml
  says '^y: [0-9]* elements, the same' out
done
