# Kernels of examples as text of the assembler are well-formed: every name is defined before it is used, with one type.
. "$TEST_ROOT/tests/shell.sh"
mlir=$(command -v mlir-opt-19 || command -v mlir-opt) || { echo 'no mlir-opt'; exit 77; }
count=0
for module in softmax/softmax softmax/rows rms_norm/rms_norm gemm/gemm gemm/transposed gemm/int8 ffn/ffn rope/rope conv2d/block embedding/embedding; do
  rm -rf tree
  ends 0 pto-opt "$TEST_ROOT/examples/$module.ptir" --pipeline=ascend.yaml \
    --set='backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }' -o tree/
  for kernel in tree/kernel_*.pto; do
    /usr/bin/python3 -B "$TEST_ROOT/tests/generators/emit-ascend/inputs/as_mlir.py" <"$kernel" >generic.mlir || fail "$module $kernel"
    "$mlir" --allow-unregistered-dialect generic.mlir >/dev/null 2>text || fail "$module $kernel"
    count=$((count + 1))
  done
done
[ "$count" -ge 14 ] || fail "$count kernels"

# What has no form there.
cp "$TEST_ROOT/examples/ffn/relu.ptir" .
fails 5 'error: \[pto.emit-ascend/unsupported\] `pto.tstore` has no form in the text of the vendor.s assembler: not with `relu`' \
  pto-opt relu.ptir --pipeline=ascend.yaml --set='backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }' -o none/
[ ! -e none ] || fail 'a refused run left a folder'
