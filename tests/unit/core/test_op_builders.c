/* <pto/ops.h> has a builder for each row, and it makes the op of that row. */
#include "tests/unit/unit.h"

#include <pto/ops.h>

#include "ir/op_info.h"

static pto_kind_id kind_of_name(const pto_run *run, pto_str name)
{
    (void)run;
    return op_kind_by_name(NULL, (str){name.p, name.n});
}

#define CHECK_KIND(ID) assert_int_equal(pto_spec_##ID(&run).op.kind, OP_##ID);

TEST(builders_come_from_the_rows)
{
    const pto_host host = {.struct_size = sizeof host, .kind_by_name = kind_of_name};
    const pto_run run = {.struct_size = sizeof run, .host = &host};
#define OP(ID, ...) CHECK_KIND(ID)
#include "ir/ops/block.def"
#include "ir/ops/core.def"
#include "ir/ops/exec.def"
#include "ir/ops/tensor.def"
#include "ir/ops/tile.def"
#undef OP
#define INSN(ID, mnemonic, TILE_ID, ...) CHECK_KIND(PTO_##ID) CHECK_KIND(TILE_##TILE_ID)
#define INSN_ONLY(ID, ...) CHECK_KIND(PTO_##ID)
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
    assert_string_equal(op_info_at(NULL, (op_kind)pto_spec_TENSOR_EXP(&run).op.kind)->name, "tensor.exp");
    assert_string_equal(op_info_at(NULL, (op_kind)pto_spec_PTO_TADD(&run).op.kind)->name, "pto.tadd");
    assert_string_equal(op_info_at(NULL, (op_kind)pto_spec_TILE_ADD(&run).op.kind)->name, "tile.add");
}
