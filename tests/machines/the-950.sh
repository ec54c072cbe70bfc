# The Ascend 950 beside the 910B: no barriers of the vector pipe, left operands in another layout, more memory. Softmax
# and products run on its simulator with the results of their cases, and are written for its chip.
. "$TEST_ROOT/tests/shell.sh"
for case in softmax/case.yaml gemm/case.yaml gemm/bf16.yaml; do
  ends 0 pto-run --case "$TEST_ROOT/examples/$case" --size small --machine=ascend-950.yaml "$kept_data"
done
ends 0 pto-opt "$TEST_ROOT/examples/softmax/softmax.ptir" --pipeline=ascend.yaml --machine=ascend-950.yaml -o softmax/
! grep -q 'pipe_barrier(PIPE_V)' softmax/kernel_softmax_0.cpp || fail 'a barrier that the chip does not take'
says 'set(ARCH a5)' softmax/CMakeLists.txt
ends 0 pto-opt "$TEST_ROOT/examples/gemm/gemm.ptir" --pipeline=ascend.yaml --machine=ascend-950.yaml -o gemm/
cat gemm/kernel_*.cpp >kernels.cpp
says 'TileType::Left, float, [0-9]*, [0-9]*, pto::BLayout::ColMajor' kernels.cpp
ends 0 pto-opt "$TEST_ROOT/examples/gemm/gemm.ptir" --pipeline=ascend.yaml -o other/
cat other/kernel_*.cpp >kernels.cpp
says 'TileType::Left, float, [0-9]*, [0-9]*, pto::BLayout::RowMajor' kernels.cpp
ends 0 pto-inspect machines ascend-950
says '256' out
