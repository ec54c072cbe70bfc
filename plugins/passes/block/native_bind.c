/* pto.native-bind: refuses, at its op, what no native code can be written for: instructions and buffers of a chip,
 * calls that were not inlined, symbols that nothing fixed, arrays in files, and in a `tile.fused` what cannot be done
 * row by row with the ops before it. It changes nothing. Requires tiles as values, as pto.outline leaves them. Leaves
 * them so. Exact. */
#include "fused_run.h"

#include <pto/plugin.h>

#define KINDS(X)               \
    X(KERNEL, "block.kernel")  \
    X(FUSED, "tile.fused")     \
    X(TILE, "block.tile")      \
    X(BUFFER, "block.buffer")  \
    X(CALL, "call")            \
    X(TUNE, "tune")            \
    X(ARRAY, "constant_array") \
    X(FORALL, "forall")
PTO_KINDS(KINDS);

static pto_status refuse(pto_op op, const char *why)
{
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.native-bind/unsupported", "`%.*s` cannot become native code: %s", PTO_FMT(name), why);
}

static pto_status check_value(pto_op op, pto_value v)
{
    const pto_dtype t = pto_type_dtype(pto_value_type(v));
    if (t == PTO_REC64) return refuse(op, "there are no sort records outside of the simulator");
    if (pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TENSOR)
        return refuse(op, "a tensor has no memory yet; pto.bufferize makes some");
    return PTO_OK;
}

static int is_instruction(pto_op op)
{
    const pto_str name = pto_op_name(op);
    return name.n > 4 && memcmp(name.p, "pto.", 4) == 0;
}

static pto_status check_op(pto_op op)
{
    if (is_instruction(op) || PTO_IS(op, TILE) || PTO_IS(op, BUFFER))
        return refuse(op, "it is in the form of instructions, which a chip or a simulator runs; leave pto.select out");
    if (PTO_IS(op, CALL))
        return refuse(op,
                      "what it calls takes its place: by pto.inline, or by pto.inline-nests where that holds a nest");
    if (PTO_IS(op, FORALL)) return refuse(op, "pto.outline makes a kernel of it");
    if (PTO_IS(op, TUNE)) return refuse(op, "its symbol is not fixed");
    if (PTO_IS(op, ARRAY) && pto_attr_kind_of(pto_op_attr(op, PTO_STR("value"))) != PTO_ATTR_DENSE)
        return refuse(op, "what it holds is in a file");
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) PTO_TRY(check_value(op, pto_op_operand(op, i)));
    for (uint32_t i = 0; i < pto_op_result_count(op); i++) PTO_TRY(check_value(op, pto_op_result(op, i)));
    return PTO_OK;
}

static pto_status check_function(const pto_run *run, pto_op unit)
{
    const pto_block body = pto_body(unit);
    (void)run;
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) PTO_TRY(check_value(unit, pto_block_arg(body, i)));
    PTO_WALK(unit, op) PTO_TRY(check_op(op));
    return PTO_OK;
}

/* ---- regions ---- */

static pto_status check_region(const fused_model *m, pto_op fused)
{
    fused_run r = {.count = 0};
    pto_op bad = fused;
    const char *why = fused_run_read(m, fused, &r, &bad);
    if (why == NULL) return PTO_OK;
    const pto_str name = pto_op_name(bad);
    return pto_error(bad, "pto.native-bind/not-by-row",
                     "`%.*s` cannot be in one walk through rows with the ops before it: %s; put it outside of the "
                     "`tile.fused`, or begin another one",
                     PTO_FMT(name), why);
}

static pto_status check_regions(fused_model *m, pto_op kernel)
{
    int is_entered = 0;
    PTO_WALK(kernel, op)
    {
        if (!PTO_IS(op, FUSED)) continue;
        if (!is_entered) fused_model_enter(m, kernel);
        is_entered = 1;
        PTO_TRY(check_region(m, op));
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    fused_model m = fused_model_make(run);
    (void)unit;
    PTO_EACH_OP(pto_module_top(run), function) {
        PTO_TRY(check_function(run, function));
        if (PTO_IS(function, KERNEL)) PTO_TRY(check_regions(&m, function));
    }
    return PTO_OK;
}

static const pto_property property = {
    .struct_size = sizeof property,
    .id = "pto.native-bound",
    .doc = "kernels compute on tiles as values, with ops that native code is written for",
    .level = "block/1",
    .kinds = pass_kinds,
    .check = check_function,
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.native-bind",
    .summary = "Refuse what cannot become native code, at its op",
    .scope = "module",
    .consumes = "block/1",
    .produces = "block/1",
    .establishes = PTO_STRS("pto.native-bound"),
    .kinds = pass_kinds,
    .run = run_pass,
};
PTO_PLUGIN("pto.native-bind", "pass:pto.native-bind property:pto.native-bound", "pto.native-bound", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &property));
