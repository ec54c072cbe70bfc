# A machine file that does not say what the least extent of a product is: the branch over no column has no instruction,
# and the function of the host ends before it with a text that names the kernel and the condition.
. "$TEST_ROOT/tests/shell.sh"
cat >gemm.ptir <<'END'
func @gemm(%a: tensor<$M x $K x bf16>, %b: tensor<64 x $K x bf16>) -> tensor<$M x 64 x f32> {
  %c = tensor.matmul %a, %b {out = f32, transpose_b = true} : tensor<$M x 64 x f32>
  return %c
}
END
sed '/^  dim-min: /d' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >any.yaml
if cmp -s any.yaml "$TEST_ROOT/pipelines/machines/ascend-910b.yaml"; then fail "the machine file has no dim-min"; fi
ends 0 pto-opt gemm.ptir --pipeline=ascend.yaml --machine=./any.yaml -o tree/
says '^    if (ceildiv(K, [0-9]*) <= 0)$' tree/host.cpp
says '^        return ascend_leave(&workspace, stream, "gemm_0: not where ceildiv(K, [0-9]*) <= 0");$' tree/host.cpp
