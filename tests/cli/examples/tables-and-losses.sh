# Examples that go by indices: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds embedding/case cross_entropy/case moe_router/case moe_router/stable moe_router/table
