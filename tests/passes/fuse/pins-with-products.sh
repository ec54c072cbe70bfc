# What feeds a product cannot be in its group; elementwise work after it can be kept apart.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<$S x 64 x f32>, %w: tensor<64 x 64 x f32>) -> tensor<$S x 64 x f32> {
  %v = tensor.exp %x : tensor<$S x 64 x f32>
  %p = tensor.matmul %v, %w : tensor<$S x 64 x f32>
  %y = tensor.add %p, %v : tensor<$S x 64 x f32>
  return %y
}
END
fused='pto-opt m.ptir --pipeline=default.yaml --machine=cpu-avx2.yaml --until=fuse --set=fuse.with.products=true'
# shellcheck disable=SC2086
ends 0 $fused --emit-schedule=s.yaml
[ "$(grep -c tensor.group out)" -eq 2 ] || fail 'not two groups'
says 'value: "%p"' s.yaml
pin_all s.yaml >pinned.yaml
mv out first
# shellcheck disable=SC2086
ends 0 $fused --schedule=pinned.yaml
cmp -s out first || fail 'pinned: other groups'
sed 's/value: "%p"/value: apart/' pinned.yaml >apart.yaml
# shellcheck disable=SC2086
ends 0 $fused --schedule=apart.yaml
[ "$(grep -c tensor.group out)" -eq 3 ] || fail 'apart: not three groups'
sed 's/value: "%p"/value: joined/' pinned.yaml >joined.yaml
# shellcheck disable=SC2086
fails 2 'pto.fuse/cannot-join\] `tensor.add` cannot be in one group with what feeds it: a product reads all of what feeds it' $fused --schedule=joined.yaml
