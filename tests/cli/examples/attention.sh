# Examples of attention: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds attention/masked paged_attention/case paged_attention/blocks sparse_flash_attention/case window_attention_sink/case
