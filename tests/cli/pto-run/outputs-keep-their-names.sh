# An output is called what the user's text calls it, whatever passes make of the value.
set -u
cat >m.ptir <<'EOF'
func @f(%x: tensor<5 x 33 x bf16>) -> (tensor<5 x bf16>, tensor<5 x 33 x bf16>, tensor<5 x 33 x bf16>) {
  %m = tensor.reduce_max %x {axis = 1, keepdim = false} : tensor<5 x bf16>
  %a = tensor.abs %x : tensor<5 x 33 x bf16>
  %b = tensor.abs %x : tensor<5 x 33 x bf16>
  return %m, %b, %x
}
EOF
for pipeline in reference default; do
  pto-run m.ptir --pipeline=$pipeline.yaml --random-inputs=1 --out m=$pipeline-m.npy --out b=$pipeline-b.npy --out x=$pipeline-x.npy \
    >text 2>&1 || { cat text; exit 1; }
done
for output in m b x; do
  cmp reference-$output.npy default-$output.npy || exit 1
done
cmp default-b.npy default-x.npy >/dev/null && exit 1
exits 4 pto-run m.ptir --random-inputs=1 --out n=n.npy 2>text || exit 1
for output in m b x; do
  grep -q "^note: output \`$output\`$" text || { cat text; exit 1; }
done
exit 0
