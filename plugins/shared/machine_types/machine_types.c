#include "machine_types.h"

#include <math.h>
#include <stdio.h>

int machine_lists(pto_str list, const char *item)
{
    const size_t n = strlen(item);
    for (size_t at = 0; at < list.n;) {
        size_t end = at;
        while (end < list.n && list.p[end] != ',') end++;
        if (end - at == n && memcmp(list.p + at, item, n) == 0) return 1;
        at = end + 1;
    }
    return 0;
}

pto_kind_id machine_tile_kind(const pto_run *run, pto_kind_id tensor_kind)
{
    return (pto_kind_id)pto_kind_column(run, tensor_kind, PTO_COLUMN_TYPED_BY);
}

static pto_str find_dtypes(const pto_run *run, pto_kind_id kind)
{
    const pto_str cost = pto_kind_cost(run, kind);
    const pto_str own = pto_machine_text(run, "instructions.%.*s.dtypes", PTO_FMT(cost));
    return own.n != 0 ? own : pto_machine_text(run, "vector.dtypes");
}

/* Lists that were asked for last, by kind: passes and checkers ask for each op of a module. */
enum { KINDS_KEPT = 64 };
typedef struct kept_dtypes {
    pto_kind_id kind[KINDS_KEPT]; /* 0: none */
    pto_str list[KINDS_KEPT];
} kept_dtypes;

pto_str machine_dtypes(const pto_run *run, pto_kind_id kind)
{
    kept_dtypes *kept = pto_recall(run, PTO_STR("dtypes"), sizeof *kept);
    const uint32_t at = kind % KINDS_KEPT;
    if (kept->kind[at] == kind) return kept->list[at];
    const pto_str found = find_dtypes(run, kind);
    char *copy = pto_keep(run, found.n + 1);
    if (found.n != 0) memcpy(copy, found.p, found.n);
    kept->kind[at] = kind;
    kept->list[at] = pto_str_make(copy, found.n);
    return kept->list[at];
}

int machine_takes(const pto_run *run, pto_kind_id kind, pto_dtype t)
{
    if (pto_kind_column(run, kind, PTO_COLUMN_RULE) == PTO_RULE_CONVERT) return machine_converts(run, t, t);
    return machine_lists(machine_dtypes(run, kind), pto_dtype_name(t));
}

static pto_str own_dtypes(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_text(run, "instructions.%.*s.dtypes", PTO_FMT(pto_kind_cost(run, kind)));
}

int machine_states(const pto_run *run, pto_kind_id kind, pto_dtype t)
{
    return machine_lists(own_dtypes(run, kind), pto_dtype_name(t));
}

int machine_lacks(const pto_run *run, pto_kind_id kind)
{
    return pto_kind_column(run, kind, PTO_COLUMN_STATED) != 0 && own_dtypes(run, kind).n == 0;
}

static pto_kind_id whole_form(const pto_run *run, pto_kind_id tensor_kind)
{
    return (pto_kind_id)pto_kind_column(run, tensor_kind, PTO_COLUMN_TILE_WHOLE);
}

int machine_is_function(const pto_run *run, pto_kind_id tensor_kind)
{
    const pto_kind_id whole = whole_form(run, tensor_kind);
    return whole != 0 && pto_kind_column(run, whole, PTO_COLUMN_STATED) != 0;
}

int machine_calls(const pto_run *run, pto_kind_id tensor_kind, pto_dtype t)
{
    return machine_is_function(run, tensor_kind) && machine_states(run, whole_form(run, tensor_kind), t);
}

pto_str machine_conversions(const pto_run *run, pto_dtype from)
{
    return pto_machine_text(run, "vector.conversions.%s", pto_dtype_name(from));
}

int machine_converts(const pto_run *run, pto_dtype from, pto_dtype to)
{
    return machine_lists(machine_conversions(run, from), pto_dtype_name(to));
}

static int multiplies(const pto_run *run, pto_dtype t)
{
    return pto_machine_i64_or(run, -1, "matrix.cycles-per-box.%s", pto_dtype_name(t)) >= 0;
}

static int are_ones(pto_type type, uint32_t count)
{
    int64_t extent = 0;
    for (uint32_t d = 0; d < count; d++)
        if (!pto_dim_is_const(type, d, &extent) || extent != 1) return 0;
    return 1;
}

/* One element for each column of the result. */
static int is_row(pto_op product, pto_value v)
{
    const pto_type type = pto_value_type(v), result = pto_value_type(pto_op_result(product, 0));
    const uint32_t rank = pto_type_rank(type), rank_r = pto_type_rank(result);
    return rank != 0 && pto_expr_equal(pto_type_dim(type, rank - 1), pto_type_dim(result, rank_r - 1)) &&
           are_ones(type, rank - 1);
}

/* A row that is added as one more k, times ones of its type: each product is exact, and the sum rounds as an addition.
 */
static const char *bias_obstacle(pto_op product, pto_value bias)
{
    const pto_type type = pto_value_type(bias);
    if (!pto_dtype_is_float(pto_type_dtype(type)) || !multiplies(product.run, pto_type_dtype(type)))
        return "the machine has no matrix unit for the bias";
    return is_row(product, bias) ? NULL : "the bias is not a row of the result";
}

int machine_scales(const pto_run *run, pto_dtype from, pto_dtype to)
{
    return machine_lists(pto_machine_text(run, "matrix.store-scaled.%s", pto_dtype_name(from)), pto_dtype_name(to));
}

int machine_scales_columns(const pto_run *run, pto_dtype from, pto_dtype to)
{
    const pto_str made = pto_machine_text(run, "matrix.store-scaled-columns.%s", pto_dtype_name(from));
    return machine_lists(made, pto_dtype_name(to)) && pto_path_facts_of(run, PTO_ROLE_PANEL, PTO_ROLE_SCALING) != NULL;
}

int machine_scale_is_short(pto_value scale)
{
    double number = 0;
    const pto_dtype t = pto_type_dtype(pto_value_type(scale));
    return pto_dtype_is_half_float(t) || machine_scale_number(scale, &number);
}

int machine_scale_number(pto_value scale, double *number)
{
    const pto_op made = pto_value_op(scale);
    if (!PTO_SOME(made) || pto_kind_column(scale.run, pto_op_kind(made), PTO_COLUMN_SPACE_RULE) != PTO_ITER_FILL)
        return 0;
    const pto_attr value = pto_op_attr(made, PTO_STR("value"));
    const pto_attr_kind kind = pto_attr_kind_of(value);
    if (kind != PTO_ATTR_INT && kind != PTO_ATTR_FLOAT) return 0;
    *number = (double)(float)pto_attr_f64(value);
    return isfinite(*number);
}

/* Numbers that are not known are a table of factors for the columns. */
static const char *factors_obstacle(pto_op product, const machine_epilogue *e, pto_dtype sum)
{
    const pto_type type = pto_value_type(e->scale);
    if (!is_row(product, e->scale) && !are_ones(type, pto_type_rank(type)))
        return "the scale has more than a number for each column: numbers for rows are work of the vector unit";
    if (e->relu) return "the sign of the scale is not known, and the relu of a store comes before it";
    return machine_scales_columns(product.run, sum, e->to)
               ? NULL
               : "stores of the machine do not scale columns to the result type";
}

/* One known number is in a register of the store, in f32. */
static const char *scale_obstacle(pto_op product, const machine_epilogue *e)
{
    double number = 0;
    const pto_dtype from = pto_type_dtype(pto_value_type(pto_op_operand(product, 0))),
                    sum = pto_dtype_is_float(from) ? PTO_F32 : PTO_I32;
    if (!machine_scale_number(e->scale, &number)) return factors_obstacle(product, e, sum);
    if (e->relu && signbit(number)) return "the scale is below 0, and the relu of a store comes before it";
    return machine_scales(product.run, sum, e->to) ? NULL : "stores of the machine do not scale to the result type";
}

machine_epilogue machine_epilogue_of(pto_op product)
{
    const pto_value none = pto_value_none(product.run);
    const uint32_t count = pto_op_operand_count(product);
    const int third_is_scale = pto_str_is(pto_attr_str_of(product, PTO_STR("third")), "scale");
    return (machine_epilogue){
        .bias = count > 2 && !third_is_scale ? pto_op_operand(product, 2) : none,
        .scale = count > 3 || third_is_scale ? pto_op_operand(product, count - 1) : none,
        .to = pto_type_dtype(pto_value_type(pto_op_result(product, 0))),
        .relu = pto_str_is(pto_attr_str_of(product, PTO_STR("activation")), "relu"),
    };
}

const char *machine_epilogue_obstacle(pto_op product, const machine_epilogue *epilogue)
{
    const pto_run *run = product.run;
    const pto_dtype from = pto_type_dtype(pto_value_type(pto_op_operand(product, 0)));
    const pto_path_facts out = pto_path_facts_of(run, PTO_ROLE_ACCUMULATOR, PTO_ROLE_GLOBAL);
    for (uint32_t k = 0; k < 2; k++)
        if (pto_type_rank(pto_value_type(pto_op_operand(product, k))) < 2) return "an operand is a vector";
    if (out == NULL || !multiplies(run, from)) return "the machine has no matrix unit for the operands";
    if (!pto_dtype_is_float(from) && !PTO_SOME(epilogue->scale)) return "sums of integers leave as they are";
    const char *scale = PTO_SOME(epilogue->scale) ? scale_obstacle(product, epilogue) : NULL;
    if (scale != NULL) return scale;
    if (!PTO_SOME(epilogue->scale) && epilogue->to != PTO_F32 && (out->casts[PTO_F32] >> epilogue->to & 1) == 0)
        return "stores do not round to the result type";
    if (epilogue->relu && pto_machine_i64_or(run, 0, "matrix.store-relu") == 0)
        return "stores of the machine have no relu";
    return PTO_SOME(epilogue->bias) ? bias_obstacle(product, epilogue->bias) : NULL;
}

static pto_str core_of(const pto_run *run, uint32_t role)
{
    const pto_space_facts facts = pto_machine_space(run, pto_space_of_role(run, role));
    return facts != NULL ? facts->core : pto_no_str();
}

int machine_has_common_core(const pto_run *run)
{
    static const uint32_t roles[] = {PTO_ROLE_PANEL, PTO_ROLE_LEFT, PTO_ROLE_RIGHT, PTO_ROLE_ACCUMULATOR};
    static const uint32_t paths[][2] = {{PTO_ROLE_ACCUMULATOR, PTO_ROLE_SCRATCHPAD},
                                        {PTO_ROLE_SCRATCHPAD, PTO_ROLE_PANEL},
                                        {PTO_ROLE_PANEL, PTO_ROLE_LEFT}};
    const pto_str core = core_of(run, PTO_ROLE_SCRATCHPAD);
    if (core.n == 0) return 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (!pto_str_same(core_of(run, roles[i]), core)) return 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (pto_path_facts_of(run, paths[i][0], paths[i][1]) == NULL) return 0;
    return 1;
}
