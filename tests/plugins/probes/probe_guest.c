/* A pass over kernels that makes a tile op and takes it out again. */
#include <pto/plugin.h>

static const char *const kinds[] = {"tile.zero_acc", "block.kernel", NULL};

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    if (!pto_op_is(unit, pto_kind(run, 1))) return PTO_OK;
    pto_expr valid[] = {pto_expr_const(run, 16), pto_expr_const(run, 16)};
    pto_spec s = pto_spec_make(run, pto_kind(run, 0));
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    pto_spec_result(&s, pto_type_tile(run, PTO_F32, 16, 16, pto_space_by_name(run, PTO_STR("acc")),
                                      pto_layout_by_name(run, PTO_STR("nz"))));
    pto_op made = pto_spec_build(&s, pto_at_start(pto_body(unit)));
    PTO_NEED(made);
    return pto_op_erase(made);
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.tile-guest",
                              .summary = "Make a tile op in each kernel and erase it",
                              .scope = "function",
                              .consumes = "block/1",
                              .produces = "block/1",
                              .kinds = kinds,
                              .run = run_pass};
PTO_PLUGIN("test.probe-guest", "pass:test.tile-guest", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
