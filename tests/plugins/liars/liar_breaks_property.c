/* Takes the addresses of buffers away without declaring that it breaks pto.addresses-assigned. */
#include <pto/plugin.h>

#define KINDS(X) X(BUFFER, "block.buffer")
PTO_KINDS(KINDS);

static pto_status run(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (PTO_IS(op, BUFFER)) PTO_TRY(pto_op_set_attr(op, PTO_STR("addr"), pto_attr_none(run)));
    }
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-breaks-property",
                              .summary = "Take addresses away",
                              .scope = "function",
                              .consumes = "block/1",
                              .produces = "block/1",
                              .kinds = pass_kinds,
                              .run = run};
PTO_PLUGIN("test.liar-breaks-property", "pass:test.liar-breaks-property", "", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
