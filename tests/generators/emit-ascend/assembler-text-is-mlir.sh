# Kernels of examples as text of the assembler are well-formed: every name is defined before it is used, with one type.
. "$TEST_ROOT/tests/shell.sh"
mlir=$(command -v mlir-opt-19 || command -v mlir-opt) || { echo 'no mlir-opt'; exit 77; }
count=0
# FORM MODULE: of both forms.
check() {
  rm -rf tree
  ends 0 pto-opt "$TEST_ROOT/examples/$2.ptir" --pipeline=ascend.yaml \
    --set="backend.with.generator={ use: pto.emit-ascend, with: { form: $1 } }" -o tree/
  for kernel in tree/kernel_*.pto; do
    /usr/bin/python3 -B "$TEST_ROOT/tests/generators/emit-ascend/inputs/as_mlir.py" <"$kernel" >generic.mlir || fail "$1 $2 $kernel"
    "$mlir" --allow-unregistered-dialect generic.mlir >/dev/null 2>text || fail "$1 $2 $kernel"
    count=$((count + 1))
  done
}
modules='softmax/softmax softmax/rows rms_norm/rms_norm gemm/gemm gemm/transposed gemm/int8 ffn/ffn ffn/relu rope/rope conv2d/block embedding/embedding'
least=30
if is_sanitized; then modules='softmax/rows ffn/ffn rope/rope' least=6; fi
for module in $modules; do
  check assembler "$module"
  check assembler-level2 "$module"
done
[ "$count" -ge $least ] || fail "$count kernels"

# Merges of runs of records are at addresses.
is_sanitized || check assembler topk/topk

# What has no form there.
cp "$TEST_ROOT/examples/topk/topk.ptir" .
fails 5 'error: \[pto.emit-ascend/unsupported\] `block.tile` has no form in the text of the vendor.s assembler: a part of it is taken as a tile, which is only said by addresses: write level 3' \
  pto-opt topk.ptir --pipeline=ascend.yaml --set='backend.with.generator={ use: pto.emit-ascend, with: { form: assembler-level2 } }' -o none/
[ ! -e none ] || fail 'a refused run left a folder'
printf 'func @f(%%x: tensor<8 x f32>, %%n: tensor<8 x f32>) -> tensor<8 x f32> {\n  %%y = tensor.pow %%x, %%n : tensor<8 x f32>\n  return %%y\n}\n' >pow.ptir
fails 5 'pow.ptir:2:8: error: \[pto.emit-ascend/unsupported\] `pto.tpow` has no form in the text of the vendor.s assembler: ascend.def has no op for it' \
  pto-opt pow.ptir --pipeline=ascend.yaml --set='backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }' -o none/
[ ! -e none ] || fail 'a refused run left a folder'
