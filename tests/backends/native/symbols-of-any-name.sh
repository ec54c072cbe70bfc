# A symbol may have any name, also one that the generator has for what it makes itself.
. "$TEST_ROOT/tests/shell.sh"
set -- all at b call fault first frame i instance j k m mark n nothing packing raw scratch state value t x y core
while [ $# -gt 1 ]; do
  cat >f.ptir <<END
func @f(%x: tensor<\$$1 x \$$2 x f32>, %w: tensor<\$$2 x f32>) -> (tensor<\$$1 x \$$2 x f32>, tensor<\$$1 x 1 x f32>) {
  %a = tensor.sqrt %w : tensor<\$$2 x f32>
  %y = tensor.mul %x, %a : tensor<\$$1 x \$$2 x f32>
  %s = tensor.reduce_max %y {axis = 1} : tensor<\$$1 x 1 x f32>
  return %y, %s
}
END
  sizes="--random-inputs=5 --sym=$1=5 --sym=$2=37"
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --backend=pto.reference $sizes --out=y=y.npy --out=s=s.npy
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --pipeline=native.yaml $sizes --expect="$1=5" --expect="$2=37" --expect=y=y.npy --expect=s=s.npy --rtol=1e-6
  [ "$(grep -c ': ok, ' out)" -eq 2 ] || fail 'it was not compared'
  shift 2
done
