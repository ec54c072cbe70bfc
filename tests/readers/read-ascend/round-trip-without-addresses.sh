# The same examples as text without addresses and flags, which pto-level2.yaml finds: the same bits on the simulator.
# Not conv2d/block: row values of one kernel are seen as a tile four times as large, for which a core has no space.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/readers/read-ascend/inputs/round_trips.sh"
round_trips modules.txt 135 '^conv2d/block:' --level2=pto-level2.yaml
