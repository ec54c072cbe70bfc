# A reduction without kept dims over an extent of 1, after other ops and below rows of which a middle extent is 1.
set -u
run() {
  for pipeline in reference default; do
    pto-run m.ptir --pipeline=$pipeline.yaml --random-inputs=1 "$@" --out y=$pipeline.npy >text 2>&1 || { cat m.ptir text; exit 1; }
  done
  cmp reference.npy default.npy || { cat m.ptir; exit 1; }
}
for extent in 1 4 300 '$A'; do
  cat >m.ptir <<EOF
func @f(%x: tensor<$extent x 1 x f32>) -> tensor<$extent x f32> {
  %n = tensor.neg %x : tensor<$extent x 1 x f32>
  %y = tensor.reduce_sum %n {axis = 1, keepdim = false} : tensor<$extent x f32>
  return %y
}
EOF
  case $extent in '$A') run --sym A=37 ;; *) run ;; esac
done
cat >m.ptir <<'EOF'
func @f(%x: tensor<33 x 1 x 300 x f32>) -> tensor<33 x 1 x f32> {
  %n = tensor.neg %x : tensor<33 x 1 x 300 x f32>
  %y = tensor.reduce_max %n {axis = 2, keepdim = false} : tensor<33 x 1 x f32>
  return %y
}
EOF
run
