/* Right sides of products that are packed once for a launch: where its instances multiply blocks of rows by the same
 * matrix, each would pack it again. Constants are packed once for all executions with them. */
#include "emit.h"

static int is_parameter(const emitter *e, pto_value v)
{
    return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM && pto_type_rank(pto_value_type(v)) >= 2 &&
           !PTO_SOME(pto_value_op(v)) && pto_block_same(pto_value_block(v), pto_body(e->function));
}

static int is_zero(pto_expr x)
{
    int64_t n = 1;
    return pto_expr_is_const(x, &n) && n == 0;
}

/* Whether instances that each take `count` from `first` on need most of a dim: a quarter may be for nothing. */
static int takes_most(pto_op op, pto_expr first, pto_expr count, pto_expr all)
{
    const pto_range from = pto_expr_range(first, op, NULL), each = pto_expr_range(count, op, NULL);
    const int64_t most = pto_expr_range(all, op, NULL).hi;
    if (is_zero(first) && pto_expr_equal(count, all)) return 1;
    return from.lo == 0 && from.hi >= most - most / 4 - each.hi;
}

/* Dims before the last two, as one. */
static int are_dense(pto_type type)
{
    for (uint32_t d = 0; d + 3 < pto_type_rank(type); d++)
        if (!pto_expr_equal(pto_type_stride(type, d),
                            pto_expr_mul(pto_type_stride(type, d + 1), pto_type_dim(type, d + 1))))
            return 0;
    return 1;
}

static pto_expr count_of(const pto_run *run, pto_type type, uint32_t dims)
{
    pto_expr all = pto_expr_const(run, 1);
    for (uint32_t d = 0; d < dims; d++) all = pto_expr_mul(all, pto_type_dim(type, d));
    return all;
}

/* Which of the matrices of right it is. */
static pto_expr matrix_of(emitter *e, pto_op op, pto_type type)
{
    pto_expr at = pto_expr_const(e->run, 0);
    for (uint32_t d = 0; d + 2 < pto_type_rank(type); d++)
        at = pto_expr_add(pto_expr_mul(at, pto_type_dim(type, d)), pto_expr_of(op, PTO_STR("right"), d));
    return at;
}

/* The parameter whose rows the kernel makes: the first of several dims that it writes. 0: there is none. */
static uint32_t result_of(const emitter *e)
{
    const pto_block body = pto_body(e->function);
    const pto_attr modes = pto_op_attr(e->function, PTO_STR("params"));
    const uint32_t rank = pto_attr_count(pto_op_attr(e->function, PTO_STR("grid")));
    for (uint32_t i = rank; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        const pto_str mode = pto_attr_str(pto_attr_item(modes, i - rank, NULL));
        if ((pto_str_is(mode, "out") || pto_str_is(mode, "inout")) && pto_type_kind_of(type) == PTO_TYPE_GM &&
            pto_type_rank(type) >= 2)
            return i;
    }
    return 0;
}

/* Whether each matrix has one block of rows, as far as is known. */
static int has_one_block(const emitter *e, const emit_packed *p, pto_type right)
{
    const pto_type type = pto_value_type(pto_block_arg(pto_body(e->function), p->result));
    int64_t rows = 0, count = 0;
    return pto_expr_is_const(count_of(e->run, type, pto_type_rank(type) - 1), &rows) &&
           pto_expr_is_const(count_of(e->run, right, pto_type_rank(right) - 2), &count) && rows <= count * p->rows;
}

/* Whether executions may have the same in it: a `const` parameter of a function that the caller runs. */
static int is_constant(pto_op function, pto_value v)
{
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; PTO_SOME(modes) && i < pto_attr_count(modes) && i < pto_block_arg_count(body); i++)
        if (pto_value_same(pto_block_arg(body, i), v))
            return pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "const") &&
                   !pto_str_is(pto_attr_str_of(function, PTO_STR("visibility")), "private");
    return 0;
}

/* Whether a launch of the kernel that is written has a constant there. */
static int may_be_constant(const emitter *e, uint32_t parameter)
{
    const uint32_t grid = pto_attr_count(pto_op_attr(e->function, PTO_STR("grid")));
    PTO_EACH_OP(pto_module_top(e->run), function) {
        if (!EMIT_IS(e, function, FUNC)) continue;
        PTO_WALK(function, op)
        {
            if (EMIT_IS(e, op, LAUNCH) &&
                pto_op_same(pto_symbol_find(e->run, pto_attr_str_of(op, PTO_STR("callee"))), e->function) &&
                is_constant(function, pto_op_operand(op, parameter - grid)))
                return 1;
        }
    }
    return 0;
}

const char *emit_packed_right(emitter *e, pto_op op, uint32_t kind, pto_expr depth, pto_expr columns)
{
    const pto_value right = pto_op_operand(op, 2);
    const int turns = pto_attr_bool_of(op, PTO_STR("transpose_right"), 0);
    if (kind >= PTO_PRODUCT_COUNT || !is_parameter(e, right)) return NULL;
    const pto_type type = pto_value_type(right);
    const uint32_t last = pto_type_rank(type) - 1, along_k = turns ? last : last - 1, along_n = turns ? last - 1 : last;
    const pto_expr column = pto_expr_of(op, PTO_STR("right"), along_n),
                   row = pto_expr_of(op, PTO_STR("right"), along_k);
    emit_packed p = {.kind = kind, .right = pto_value_index(right), .result = result_of(e), .turns = turns};
    if (!is_zero(row) || !takes_most(op, row, depth, pto_type_dim(type, along_k)) ||
        !is_zero(pto_expr_mod(column, pto_expr_const(e->run, PTO_PACKED_BEGIN))) ||
        !takes_most(op, column, columns, pto_type_dim(type, along_n)) || !are_dense(type) || p.result == 0 ||
        !pto_dim_is_const(pto_value_type(pto_op_result(op, 0)), 0, &p.rows) ||
        (has_one_block(e, &p, type) && !may_be_constant(e, p.right)) || !fused_is_only_read(&e->model, right))
        return NULL;
    p.name = emit_format(e, "%s_packed_", emit_value(e, right));
    for (uint32_t i = 0; i < e->packed_count; i++) {
        const emit_packed *before = &e->packed[i];
        if (before->right == p.right) return before->turns == turns && before->rows == p.rows ? before->name : NULL;
    }
    PTO_GROW(e->run, e->packed, e->packed_count, e->packed_capacity);
    e->packed[e->packed_count++] = p;
    return p.name;
}

const char *emit_packed_arguments(emitter *e, pto_op op, const char *name)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 2));
    const uint32_t last = pto_type_rank(type) - 1,
                   along_n = pto_attr_bool_of(op, PTO_STR("transpose_right"), 0) ? last - 1 : last;
    return emit_format(e, "%s, %s, %s", name, emit_bare(e, emit_index(e, matrix_of(e, op, type))),
                       emit_index_of(e, op, "right", along_n));
}

void emit_packed_fields(emitter *e, text *out)
{
    for (uint32_t i = 0; i < e->packed_count; i++) text_put(out, "    pto_native_right %s;\n", e->packed[i].name);
}

void emit_packed_declare(emitter *e, text *out)
{
    for (uint32_t i = 0; i < e->packed_count; i++)
        text_put(out, "    const pto_native_right *const %s = &frame_->%s;\n", e->packed[i].name, e->packed[i].name);
}

void emit_packed_fill(emitter *e, pto_op launch, const emit_kernel_info *kernel, const char *frame)
{
    const uint32_t grid = pto_attr_count(pto_op_attr(kernel->op, PTO_STR("grid")));
    for (uint32_t i = 0; i < kernel->packed_count; i++) {
        const emit_packed *p = &kernel->packed[i];
        const pto_value right = pto_op_operand(launch, p->right - grid);
        const pto_type b = pto_value_type(right), c = pto_value_type(pto_op_operand(launch, p->result - grid));
        const uint32_t last = pto_type_rank(b) - 1, k = p->turns ? last : last - 1, n = p->turns ? last - 1 : last;
        const pto_expr apart = last < 2 ? pto_expr_const(e->run, 0) : pto_type_stride(b, last - 2),
                       apart_bytes = pto_expr_scale(apart, pto_dtype_bytes(pto_type_dtype(b)));
        const char *name = emit_spare(e, "right");
        text_line(e->out, "const pto_native_right %s = {%s.%s, %s, %s, %s, %s, %s, %s, %s, 0, NULL, 0};", name, frame,
                  emit_product_name(p->kind), emit_value(e, right), emit_index(e, count_of(e->run, b, last - 1)),
                  emit_index(e, apart_bytes), emit_index(e, pto_type_dim(b, n)), emit_index(e, pto_type_dim(b, k)),
                  emit_index(e, pto_type_stride(b, k)), emit_index(e, pto_type_stride(b, n)));
        text_line(e->out, "%s.%s = pto_native_packed(call_->services, %s, %s, %lld, %s, %s);", frame, p->name, name,
                  emit_bare(e, emit_index(e, count_of(e->run, c, pto_type_rank(c) - 1))), (long long)p->rows,
                  is_constant(e->function, right) ? "true" : "false", emit_bare(e, emit_call_bytes(e)));
    }
}
