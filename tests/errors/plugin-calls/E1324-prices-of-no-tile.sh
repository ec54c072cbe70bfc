# A strategy that asks what a tile without elements costs is blamed, not the cost model that would divide by its sizes.
. "$TEST_ROOT/tests/shell.sh"
for cost in pto.cost-roofline pto.cost-pipes; do
  for example in softmax/softmax gemm/gemm; do
    fails 5 '\[E1324\] tiling strategy `test.liar-prices` of plugin `test.liar-prices` asked what a tile with [a-z]* = 0 costs; sizes are at least 1' \
      pto-opt "$TEST_ROOT/examples/$example.ptir" --plugin="$TEST_PLUGINS/liar-prices.so" --pipeline=default.yaml \
      --set="tile.with.strategy={ use: test.liar-prices, with: { cost: $cost } }"
  done
done
