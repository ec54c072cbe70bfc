# Examples of experts with ragged rows, and of whole parts of a layer: the small size holds on both pipelines.
. "$TEST_ROOT/tests/shell.sh"
small_holds ragged_expert/case attention_prequant/case mla_prolog_quant/case indexer_prolog_quant/case qwen3_decode_layer/case
