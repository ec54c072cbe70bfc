/* A property whose checker changes the module, and a pass that establishes it. */
#include <pto/plugin.h>

static pto_status run(const pto_run *run, pto_op unit)
{
    pto_value x = pto_block_arg(pto_body(unit), 0);
    PTO_NEED(pto_make1(run, pto_at_start(pto_body(unit)), pto_kind_by_name(run, PTO_STR("tensor.neg")),
                       pto_value_type(x), x));
    return PTO_OK;
}

static pto_status check(const pto_run *run, pto_op unit)
{
    (void)run;
    return pto_op_erase(pto_block_first(pto_body(unit)));
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-checker-writes",
                              .summary = "Establish a property with a bad checker",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .establishes = PTO_STRS("test.checked"),
                              .run = run};
static const pto_property property = {
    .struct_size = sizeof property, .id = "test.checked", .doc = "Never mind.", .level = "tensor/1", .check = check};
PTO_PLUGIN("test.liar-checker-writes", "pass:test.liar-checker-writes property:test.checked", "test.checked",
           .version = "1.0.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &property));
