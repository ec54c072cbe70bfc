/* Single ops to code, by name. An op without a row is refused. */
#include "reference_decoder.h"

#include <pto/operands.h>

#include <inttypes.h>

typedef struct op_row {
    const char *name;
    op_action what;
    pto_status (*decode)(coder *c, op_code *o); /* NULL: operands and results say it all */
} op_row;

static pto_attr attribute(const op_code *o, const char *name) { return pto_op_attr(o->op, pto_s(name)); }

static number number_of(pto_attr a)
{
    return pto_attr_kind_of(a) == PTO_ATTR_FLOAT ? number_from_float(pto_attr_f64(a))
                                                 : number_from_int(pto_attr_i64(a));
}

/* Appends the expressions of the attribute `name` to o->exprs. */
static pto_status coder_exprs(coder *c, op_code *o, const char *name)
{
    const pto_attr list = attribute(o, name);
    const uint32_t n = PTO_SOME(list) ? pto_attr_count(list) : 0;
    index_expr *all = PTO_SCRATCH(c->run, index_expr, o->expr_count + n);
    if (o->expr_count != 0) memcpy(all, o->exprs, o->expr_count * sizeof *all);
    for (uint32_t i = 0; i < n; i++)
        PTO_TRY(coder_expr(c, o->op, pto_attr_expr(pto_attr_item(list, i, NULL)), &all[o->expr_count + i]));
    o->exprs = all;
    o->expr_count += n;
    return PTO_OK;
}

static pto_status want_exprs(coder *c, op_code *o, const char *name, uint32_t count)
{
    const uint32_t before = o->expr_count;
    PTO_TRY(coder_exprs(c, o, name));
    if (o->expr_count - before == count) return PTO_OK;
    return coder_refuse(o->op, "pto.reference/unsupported",
                        "`%.*s` has %" PRIu32 " expressions in `%s` and needs %" PRIu32, PTO_FMT(o->name),
                        o->expr_count - before, name, count);
}

/* ---- control ---- */

static pto_status decode_call(coder *c, op_code *o)
{
    const pto_str name = pto_attr_str(attribute(o, "callee"));
    const pto_op callee = pto_symbol_find(c->run, name);
    if (!PTO_SOME(callee))
        return coder_refuse(o->op, "pto.reference/unsupported", "there is no function @%.*s", PTO_FMT(name));
    o->callee = coder_function(c, callee);
    /* What a call returns beyond the results of the function: its out parameters. */
    o->by_value = o->what == DO_CALL && o->result_count != pto_attr_count(pto_op_attr(callee, PTO_STR("results")));
    return PTO_OK;
}

/* Stated valid regions of carried tiles, to two expressions for each carried value. The attribute has an entry for each
 * carried value, or one for each carried tile. */
static pto_status decode_stated_valid(coder *c, op_code *o, index_expr *out)
{
    const pto_attr list = attribute(o, "valid");
    const uint32_t carried = o->operand_count, entries = PTO_SOME(list) ? pto_attr_count(list) : 0;
    bool *states = PTO_SCRATCH(c->run, bool, carried);
    o->states_valid = states;
    for (uint32_t i = 0, next = 0; i < carried && next < entries; i++) {
        const bool is_tile = pto_type_kind_of(pto_value_type(pto_op_operand(o->op, i))) == PTO_TYPE_TILE;
        if (entries != carried && !is_tile) continue;
        const pto_attr item = pto_attr_item(list, next++, NULL);
        if (!is_tile || pto_attr_kind_of(item) != PTO_ATTR_LIST || pto_attr_count(item) != 2) continue;
        states[i] = true;
        for (uint32_t d = 0; d < 2; d++)
            PTO_TRY(coder_expr(c, o->op, pto_attr_expr(pto_attr_item(item, d, NULL)), &out[2 * i + d]));
    }
    return PTO_OK;
}

static pto_status decode_for(coder *c, op_code *o)
{
    if (!PTO_SOME(attribute(o, "valid"))) return PTO_OK;
    index_expr *all = PTO_SCRATCH(c->run, index_expr, 2 * (size_t)o->operand_count);
    o->exprs = all;
    return decode_stated_valid(c, o, all);
}

static pto_status decode_forall(coder *c, op_code *o)
{
    PTO_TRY(coder_exprs(c, o, "to"));
    if (o->expr_count > PTO_MAX_DIMS)
        return coder_refuse(o->op, "pto.reference/unsupported", "`%.*s` has %" PRIu32 " indices, the limit is %d",
                            PTO_FMT(o->name), o->expr_count, PTO_MAX_DIMS);
    /* An `out` that nothing else sees may be written in place; the result of tile.empty is such. */
    bool *takes = PTO_SCRATCH(c->run, bool, o->operand_count);
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const pto_value v = pto_op_operand(o->op, i);
        const pto_op def = pto_value_op(v);
        takes[i] = PTO_SOME(def) && pto_str_is(pto_op_name(def), "tile.empty") && pto_value_use_count(v) == 1 &&
                   pto_block_same(pto_op_block(def), pto_op_block(o->op));
    }
    o->takes = takes;
    const pto_block body = pto_body(o->op);
    uint32_t *args = PTO_SCRATCH(c->run, uint32_t, pto_block_arg_count(body));
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) args[i] = coder_value(c, pto_block_arg(body, i));
    o->args = args;
    return PTO_OK;
}

static pto_status decode_bind(coder *c, op_code *o)
{
    const pto_str name = pto_attr_str(attribute(o, "symbol"));
    coder_bind_symbol(c, name);
    o->symbol = coder_symbol(c, name);
    PTO_TRY(want_exprs(c, o, "value", 1));
    PTO_TRY(want_exprs(c, o, "lo", 1));
    return want_exprs(c, o, "hi", 1);
}

/* ---- numbers, tensors, tiles ---- */

static pto_status decode_number(coder *c, op_code *o)
{
    (void)c;
    o->constant = number_of(attribute(o, "value"));
    return PTO_OK;
}

static pto_status decode_index_cast(coder *c, op_code *o) { return want_exprs(c, o, "from", 1); }

static pto_status decode_dim(coder *c, op_code *o)
{
    const pto_type type = pto_value_type(pto_op_operand(o->op, 0));
    const uint32_t axis = (uint32_t)__builtin_ctz(pto_axes_of(o->op, pto_type_rank(type)));
    index_expr *extent = PTO_SCRATCH(c->run, index_expr, 1);
    o->exprs = extent;
    o->expr_count = 1;
    return coder_expr(c, o->op, pto_type_dim(type, axis), extent);
}

static pto_status decode_window(coder *c, op_code *o)
{
    const uint32_t rank = pto_type_rank(pto_value_type(pto_op_result(o->op, 0)));
    return want_exprs(c, o, "offsets", rank);
}

static pto_status decode_scalar_of(coder *c, op_code *o)
{
    return want_exprs(c, o, "offsets", pto_type_rank(pto_value_type(pto_op_operand(o->op, 0))));
}

static pto_status decode_pad(coder *c, op_code *o)
{
    o->constant = number_of(attribute(o, "value"));
    const uint32_t rank = pto_type_rank(pto_value_type(pto_op_result(o->op, 0)));
    PTO_TRY(want_exprs(c, o, "low", rank));
    return want_exprs(c, o, "high", rank);
}

static pto_status decode_compare(coder *c, op_code *o)
{
    (void)c;
    o->relation = pto_relation_by_name(pto_attr_str(attribute(o, "relation")));
    return PTO_OK;
}

static pto_status decode_zero_acc(coder *c, op_code *o) { return want_exprs(c, o, "valid", 2); }

static pto_status decode_tile(coder *c, op_code *o)
{
    o->insn = insn_by_tile_name(o->name.p, o->name.n);
    o->rule = (uint32_t)pto_kind_column(c->run, pto_op_kind(o->op), PTO_COLUMN_RULE);
    o->transfer = pto_op_transfer(o->op);
    if (o->insn == INSN_NONE)
        return coder_refuse(o->op, "pto.reference/unsupported", "there is no semantics for `%.*s`", PTO_FMT(o->name));
    if (o->transfer == PTO_TRANSFER_LOAD || o->transfer == PTO_TRANSFER_STORE) {
        const uint32_t memory = o->transfer == PTO_TRANSFER_STORE ? pto_op_operand_count(o->op) - 1 : 0;
        PTO_TRY(want_exprs(c, o, "offsets", pto_type_rank(pto_value_type(pto_op_operand(o->op, memory)))));
    } else if (PTO_SOME(attribute(o, "offsets"))) {
        PTO_TRY(want_exprs(c, o, "offsets", 2));
        o->place_count = 2;
    }
    o->relation = pto_relation_by_name(pto_attr_str(attribute(o, "relation")));
    PTO_TRY(o->transfer == PTO_TRANSFER_LOAD ? want_exprs(c, o, "sizes", 2) : coder_exprs(c, o, "valid"));
    o->transpose = pto_attr_bool_of(o->op, PTO_STR("transpose"), 0);
    const pto_attr pad = attribute(o, "pad"), mode = attribute(o, "mode");
    o->has_pad = PTO_SOME(pad);
    if (o->has_pad) o->pad = number_of(pad);
    if (PTO_SOME(mode)) o->mode = round_mode_by_name(pto_attr_str(mode).p, pto_attr_str(mode).n);
    o->saturate = pto_attr_bool_of(o->op, PTO_STR("saturate"), 0);
    const pto_str function = pto_attr_str_of(o->op, PTO_STR("function"));
    o->function = insn_function_by_name(function.p, function.n);
    o->run = pto_attr_int_of(o->op, PTO_STR("run"), 0);
    o->descending = pto_attr_bool_of(o->op, PTO_STR("descending"), 0) != 0;
    o->upper = pto_attr_bool_of(o->op, PTO_STR("upper"), 0) != 0;
    return PTO_OK;
}

static uint32_t window_rank(pto_value v)
{
    const pto_type type = pto_value_type(v);
    return pto_type_kind_of(type) == PTO_TYPE_TILE ? 2 : pto_type_rank(type);
}

static pto_status decode_contract(coder *c, op_code *o)
{
    PTO_TRY(want_exprs(c, o, "left", window_rank(pto_op_operand(o->op, 1))));
    PTO_TRY(want_exprs(c, o, "right", window_rank(pto_op_operand(o->op, 2))));
    return want_exprs(c, o, "depth", 1);
}

static pto_status decode_contract_weights(coder *c, op_code *o)
{
    PTO_TRY(want_exprs(c, o, "left", window_rank(pto_op_operand(o->op, 1))));
    PTO_TRY(want_exprs(c, o, "column", 1));
    return want_exprs(c, o, "depth", 1);
}

static const op_row rows[] = {
    {"return", DO_RETURN, NULL},
    {"call", DO_CALL, decode_call},
    {"for", DO_CONTROL, decode_for},
    {"forall", DO_FORALL, decode_forall},
    {"if", DO_CONTROL, NULL},
    {"while", DO_CONTROL, NULL},
    {"bind", DO_BIND, decode_bind},
    {"constant", DO_NUMBER, decode_number},
    {"index_cast", DO_INDEX_CAST, decode_index_cast},
    {"tensor.index_cast", DO_INDEX_CAST, decode_index_cast},
    {"dim", DO_INDEX_CAST, decode_dim},
    {"compare", DO_COMPARE, decode_compare},
    {"view", DO_VIEW, NULL},
    {"scalar_of", DO_SCALAR_OF, decode_scalar_of},
    {"debug.print", DO_DEBUG, NULL},
    {"debug.assert", DO_DEBUG, NULL},
    {"tensor.constant", DO_CONSTANT, NULL},
    {"constant_array", DO_CONSTANT, NULL},
    {"tensor.view", DO_TENSOR, decode_window},
    {"tensor.assemble", DO_TENSOR, decode_window},
    {"tensor.pad", DO_TENSOR, decode_pad},
    {"tensor.concat", DO_CONCAT, NULL},
    {"tensor.split", DO_SPLIT, NULL},
    {"tensor.group", DO_CONTROL, NULL},
    {"tile.empty", DO_EMPTY, NULL},
    {"tile.workspace", DO_EMPTY, NULL},
    {"tile.fused", DO_CONTROL, NULL},
    {"tile.zero_acc", DO_ZERO_ACC, decode_zero_acc},
    {"tile.contract", DO_CONTRACT, decode_contract},
    {"tile.contract_weights", DO_CONTRACT_WEIGHTS, decode_contract_weights},
    {"block.workspace", DO_EMPTY, NULL},
    {"block.launch", DO_LAUNCH, decode_call},
    {"exec.launch", DO_LAUNCH, decode_call},
    {"exec.alloc", DO_EMPTY, NULL},
    {"exec.free", DO_FREE, NULL},
};

/* Arrays are all that evaluating takes and makes. */
static pto_status decode_evaluate(op_code *o)
{
    bool is_array = true;
    for (uint32_t i = 0; i < o->operand_count; i++)
        is_array &= pto_type_kind_of(pto_value_type(pto_op_operand(o->op, i))) == PTO_TYPE_TENSOR;
    for (uint32_t i = 0; i < o->result_count; i++)
        is_array &= pto_type_kind_of(pto_value_type(pto_op_result(o->op, i))) == PTO_TYPE_TENSOR;
    if (!is_array)
        return coder_refuse(o->op, "pto.reference/unsupported",
                            "`%.*s` has operands or results that are not tensors; this backend evaluates ops of "
                            "plugins on tensors only",
                            PTO_FMT(o->name));
    o->what = DO_EVALUATE;
    return PTO_OK;
}

static pto_status decode_by_name(coder *c, op_code *o)
{
    o->tensor = tensor_op_by_name(o->name.p, o->name.n);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!pto_str_is(o->name, rows[i].name)) continue;
        o->what = rows[i].what;
        return rows[i].decode != NULL ? rows[i].decode(c, o) : PTO_OK;
    }
    if (o->tensor != EVAL_NONE) {
        o->what = DO_TENSOR;
        return PTO_OK;
    }
    if (o->name.n > 5 && memcmp(o->name.p, "tile.", 5) == 0) {
        o->what = DO_TILE;
        return decode_tile(c, o);
    }
    if (pto_kind_column(c->run, pto_op_kind(o->op), PTO_COLUMN_EVALUATES) != 0) return decode_evaluate(o);
    return coder_refuse(o->op, "pto.reference/unsupported", "`%.*s` has no semantics in this backend",
                        PTO_FMT(o->name));
}

op_code *coder_new_op(coder *c, pto_op at, op_action what)
{
    op_code *o = PTO_SCRATCH(c->run, op_code, 1);
    *o = (op_code){.what = what, .op = at, .name = pto_op_name(at), .number = c->code.count};
    *CODER_ADD(c, code, op_code *) = o;
    return o;
}

op_code *coder_op(coder *c, pto_op op)
{
    op_code *o = coder_new_op(c, op, DO_CONTROL);
    o->operand_count = pto_op_operand_count(op);
    o->result_count = pto_op_result_count(op);
    uint32_t *operands = PTO_SCRATCH(c->run, uint32_t, o->operand_count),
             *results = PTO_SCRATCH(c->run, uint32_t, o->result_count);
    for (uint32_t i = 0; i < o->operand_count; i++) operands[i] = coder_value(c, pto_op_operand(op, i));
    for (uint32_t i = 0; i < o->result_count; i++) {
        const pto_value v = pto_op_result(op, i);
        const pto_type_kind kind = pto_type_kind_of(pto_value_type(v));
        results[i] = coder_value(c, v);
        if (kind == PTO_TYPE_BUFFER) {
            (void)coder_refuse(op, "pto.reference/unsupported", "a buffer outside of a kernel of instructions");
            return NULL;
        }
        if (kind != PTO_TYPE_SCALAR) *CODER_ADD(c, results, pto_value) = v;
    }
    o->operands = operands;
    o->results = results;
    *(op_code **)coder_at(c, &c->ops, op.index, sizeof(op_code *)) = o;
    return decode_by_name(c, o) == PTO_OK ? o : NULL;
}
