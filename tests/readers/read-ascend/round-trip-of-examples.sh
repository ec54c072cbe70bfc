# What pto.emit-ascend writes for the assembler is read back, of examples of which it writes every kernel: the same
# text again, byte by byte, and on the simulator the same bits and the same counters. A pointer that a kernel sees in
# two shapes is two parameters where it is read, so sinkhorn_premix is none of them.
. "$TEST_ROOT/tests/shell.sh"
here=$TEST_ROOT/tests/readers/read-ascend/inputs
pipeline=$TEST_ROOT/tests/generators/emit-ascend/inputs/emit.yaml
build=$(dirname "$(dirname "$(command -v pto-opt)")")
kernels=0
modules='softmax/softmax:case softmax/rows:rows gemm/gemm:case ffn/ffn:case'
is_sanitized || modules="$modules
  rms_norm/rms_norm:case rms_norm/bf16:bf16 layer_norm/layer_norm:case layer_norm/bf16:bf16 gemm/bf16:bf16 gemm/int8:int8
  gemm/transposed:transposed gemm/turned:turned gemm_residual/gemm_residual:case ffn/swiglu:swiglu rope/rope:case
  attention/masked:masked conv2d/conv2d:case conv2d/bf16:bf16
  conv2d/block:block conv2d/nchw:nchw embedding/embedding:case cross_entropy/cross_entropy:case
  attention_prequant/attention_prequant:case"
for pair in $modules; do
  folder=${pair%%/*} module=${pair%%:*} case=${pair##*:}
  rm -rf before after
  ends 0 /usr/bin/python3 -B "$here/round_trip.py" "$build" "$pipeline" "$TEST_ROOT/examples/$module.ptir" \
    "$TEST_ROOT/examples/$folder/$case.yaml" small
  kernels=$((kernels + $(sed -n 's/ kernels$//p' out)))
done
echo "$kernels kernels"
is_sanitized || [ "$kernels" -ge 145 ] || fail "$kernels kernels"
