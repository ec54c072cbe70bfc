/* Right sides of products that are packed once for a launch: where its instances multiply blocks of rows by the same
 * columns, each would pack them again. */
#include "emit.h"

static int is_parameter(const emitter *e, pto_value v)
{
    return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM && pto_type_rank(pto_value_type(v)) == 2 &&
           !PTO_SOME(pto_value_op(v)) && pto_block_same(pto_value_block(v), pto_body(e->function));
}

static int is_zero(pto_expr x)
{
    int64_t n = 1;
    return pto_expr_is_const(x, &n) && n == 0;
}

/* Whether the instances need all columns, and each begins where a part does. */
static int takes_all(emitter *e, pto_op op, pto_expr column, pto_expr columns, pto_expr all)
{
    const pto_expr rest = pto_expr_mod(column, pto_expr_const(e->run, PTO_PACKED_COLUMNS));
    const pto_range first = pto_expr_range(column, op, NULL), count = pto_expr_range(columns, op, NULL);
    if (is_zero(column) && pto_expr_equal(columns, all)) return 1;
    return is_zero(rest) && first.lo == 0 && first.hi >= pto_expr_range(all, op, NULL).hi - count.hi;
}

/* Whether all rows are one block. */
static int is_one_block(pto_type left, int turns, int64_t rows)
{
    int64_t n = 0;
    return pto_dim_is_const(left, turns ? 1 : 0, &n) && n <= rows;
}

const char *emit_packed_right(emitter *e, pto_op op, uint32_t kind, pto_expr depth, pto_expr columns)
{
    const pto_value left = pto_op_operand(op, 1), right = pto_op_operand(op, 2);
    const int left_turns = pto_attr_bool_of(op, PTO_STR("transpose_left"), 0),
              right_turns = pto_attr_bool_of(op, PTO_STR("transpose_right"), 0);
    if (kind >= PTO_PRODUCT_COUNT || !is_parameter(e, left) || !is_parameter(e, right)) return NULL;
    const pto_type type = pto_value_type(right);
    const pto_expr column = pto_expr_of(op, PTO_STR("right"), right_turns ? 0 : 1);
    emit_packed p = {.kind = kind, .left_turns = left_turns, .right_turns = right_turns};
    p.left = pto_value_index(left);
    p.right = pto_value_index(right);
    if (!is_zero(pto_expr_of(op, PTO_STR("right"), right_turns ? 1 : 0)) ||
        !pto_expr_equal(depth, pto_type_dim(type, right_turns ? 1 : 0)) ||
        !takes_all(e, op, column, columns, pto_type_dim(type, right_turns ? 0 : 1)) ||
        !pto_dim_is_const(pto_value_type(pto_op_result(op, 0)), 0, &p.rows) ||
        is_one_block(pto_value_type(left), left_turns, p.rows) || !fused_is_only_read(&e->model, right))
        return NULL;
    p.name = emit_format(e, "%s_packed_", emit_value(e, right));
    for (uint32_t i = 0; i < e->packed_count; i++) {
        const emit_packed *before = &e->packed[i];
        if (before->right != p.right) continue;
        return before->right_turns == right_turns && before->rows == p.rows ? before->name : NULL;
    }
    PTO_GROW(e->run, e->packed, e->packed_count, e->packed_capacity);
    e->packed[e->packed_count++] = p;
    return p.name;
}

void emit_packed_fields(emitter *e, text *out)
{
    for (uint32_t i = 0; i < e->packed_count; i++) text_put(out, "    const void *%s;\n", e->packed[i].name);
}

void emit_packed_declare(emitter *e, text *out)
{
    for (uint32_t i = 0; i < e->packed_count; i++)
        text_put(out, "    const void *const %s = frame_->%s;\n", e->packed[i].name, e->packed[i].name);
}

void emit_packed_fill(emitter *e, pto_op launch, const emit_kernel_info *kernel, const char *frame)
{
    const uint32_t rank = pto_attr_count(pto_op_attr(kernel->op, PTO_STR("grid")));
    for (uint32_t i = 0; i < kernel->packed_count; i++) {
        const emit_packed *p = &kernel->packed[i];
        const pto_value left = pto_op_operand(launch, p->left - rank), right = pto_op_operand(launch, p->right - rank);
        const pto_type a = pto_value_type(left), b = pto_value_type(right);
        const uint32_t n = p->right_turns ? 0 : 1, k = 1 - n;
        text_line(e->out,
                  "%s.%s = pto_native_packed(call_->services, (pto_native_right){%s.%s, %s, %s, %s, %s, %s, NULL}, %s, "
                  "%lld);",
                  frame, p->name, frame, emit_product_name(p->kind), emit_value(e, right),
                  emit_index(e, pto_type_dim(b, n)), emit_index(e, pto_type_dim(b, k)),
                  emit_index(e, pto_type_stride(b, k)), emit_index(e, pto_type_stride(b, n)),
                  emit_index(e, pto_type_dim(a, p->left_turns ? 1 : 0)), (long long)p->rows);
    }
}
