# Five kernels that a newcomer writes first have 25 lines or less, and hold on both pipelines: layer norm, causal
# attention with shared heads, experts with gather and scatter, a quantised feed-forward block, convolutions.
. "$TEST_ROOT/tests/shell.sh"
kernels="layer_norm/case attention/case moe_layer/case ffn_int8/case conv2d/block"
for kernel in $kernels; do
  example "$kernel"
  lines=$(wc -l <"$module")
  { [ "$lines" -ge 4 ] && [ "$lines" -le 25 ]; } || complain "$module has $lines lines; at most 25 are short"
  small_holds "$kernel"
done
