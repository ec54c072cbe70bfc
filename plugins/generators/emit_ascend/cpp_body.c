/* Bodies of functions of the host: workspaces, launches in order, and control flow around them. */
#include "cpp_print.h"

static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }
static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* ---- launches and memory ---- */

/* A symbol of a kernel where it is launched: the extent of an argument, or the caller's symbol of that name. */
static pto_expr symbol_at_launch(pto_op launch, const ascend_kernel *k, pto_str symbol)
{
    const pto_block body = pto_body(k->op);
    for (uint32_t i = 0; i < pto_op_operand_count(launch); i++) {
        const pto_value parameter = pto_block_arg(body, k->rank + i);
        const pto_type type = pto_value_type(parameter), given = pto_value_type(pto_op_operand(launch, i));
        for (uint32_t d = 0; is_memory(parameter) && d < pto_type_rank(type); d++) {
            const pto_expr dim = pto_type_dim(type, d);
            if (pto_expr_kind_of(dim) == PTO_EXPR_SYMBOL && pto_str_same(pto_expr_symbol_name(dim), symbol))
                return pto_type_dim(given, d);
        }
    }
    return pto_expr_symbol(launch.run, symbol);
}

static pto_expr at_launch(pto_op launch, const ascend_kernel *k, pto_expr x)
{
    pto_expr *to = PTO_SCRATCH(launch.run, pto_expr, k->symbol_count);
    for (uint32_t i = 0; i < k->symbol_count; i++) to[i] = symbol_at_launch(launch, k, k->symbols[i]);
    return pto_expr_rename(x, k->symbol_count, k->symbols, to);
}

/* Where the kernel has a branch without instructions, the function ends instead. */
static void put_refusals(cpp_printer *p, pto_op launch, const ascend_kernel *k)
{
    for (const ascend_refusal *r = k->refusals; r != NULL; r = r->next) {
        const char *left = cpp_index(p, at_launch(launch, k, pto_expr_of(r->branch, PTO_STR("left"), 0)));
        const char *right = cpp_index(p, at_launch(launch, k, pto_expr_of(r->branch, PTO_STR("right"), 0)));
        text_line(p->out, "if (%s %s %s)", left, cpp_relation(r->branch), right);
        text_line(p->out, "    return ascend_leave(&workspace, stream, \"%s: not where %s %s %s\");",
                  cpp_global(p, k->op), left, cpp_relation(r->branch), right);
    }
}

static pto_status put_launch(cpp_printer *p, pto_op op)
{
    const ascend_kernel *k = ascend_kernel_of(p->m, pto_symbol_find(p->run, pto_attr_str_of(op, PTO_STR("callee"))));
    if (k == NULL) return ascend_refuse(op, "what it launches is not a kernel");
    const pto_attr grid = pto_op_attr(k->op, PTO_STR("grid"));
    text count = {.run = p->run}, handed = {.run = p->run};
    put_refusals(p, op, k);
    for (uint32_t d = 0; d < k->rank; d++) {
        const pto_expr n = at_launch(op, k, pto_attr_expr(pto_attr_item(grid, d, NULL)));
        text_put(&count, "%s%s", d != 0 ? " * " : "", k->rank > 1 ? cpp_factor(p, n) : cpp_index(p, n));
    }
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        text_put(&handed, ", %s", cpp_value(p, pto_op_operand(op, i)));
    for (uint32_t i = 0; i < k->symbol_count; i++)
        text_put(&handed, ", %s", cpp_index(p, symbol_at_launch(op, k, k->symbols[i])));
    const char *blocks = cpp_spare(p, text_format(p->run, "%s_blocks", cpp_global(p, k->op)));
    text_line(p->out, "const int64_t %s = %s;%s", blocks, k->rank != 0 ? text_end(&count) : "1", cpp_remark(p, op));
    text_line(p->out, "if (%s > 0) launch_%s((uint32_t)%s, stream%s);", blocks, cpp_global(p, k->op), blocks,
              text_end(&handed));
    return PTO_OK;
}

static pto_status put_alloc(cpp_printer *p, pto_op op)
{
    const pto_value v = pto_op_result(op, 0);
    const pto_type type = pto_value_type(v);
    pto_expr bytes = pto_expr_const(p->run, pto_dtype_bytes(dtype_of(v)));
    for (uint32_t d = 0; d < pto_type_rank(type) && PTO_SOME(bytes); d++)
        bytes = pto_expr_mul(bytes, pto_type_dim(type, d));
    if (!PTO_SOME(bytes)) return ascend_refuse(op, "it has more than 63 bits of bytes");
    text_line(p->out, "void *const %s = ascend_take(&workspace, %s);%s", cpp_value(p, v), cpp_index(p, bytes),
              cpp_remark(p, op));
    text_line(p->out, "if (%s == NULL) return ascend_leave(&workspace, stream, \"no memory for a workspace\");",
              cpp_value(p, v));
    return PTO_OK;
}

/* An array of the program, which the chip needs in a workspace. */
static pto_status put_constant_array(cpp_printer *p, pto_op op)
{
    const pto_value v = pto_op_result(op, 0);
    const pto_str bytes = pto_attr_bytes(pto_op_attr(op, PTO_STR("value")));
    if (bytes.n == 0) return ascend_refuse(op, "its elements are in a file");
    const char *name = cpp_value(p, v), *listed = cpp_spare(p, text_format(p->run, "%s_bytes", name));
    text t = {.run = p->run};
    for (size_t i = 0; i < bytes.n; i++)
        text_put(&t, i == 0 ? "%u" : i % 32 == 0 ? ",\n        %u" : ", %u", (unsigned)(unsigned char)bytes.p[i]);
    text_line(p->out, "static const unsigned char %s[] = {%s};", listed, text_end(&t));
    text_line(p->out, "void *const %s = ascend_take(&workspace, sizeof %s);%s", name, listed, cpp_remark(p, op));
    text_line(p->out, "if (%s == NULL || !ascend_put(%s, %s, sizeof %s))", name, name, listed, listed);
    text_line(p->out, "    return ascend_leave(&workspace, stream, \"no memory for an array\");");
    return PTO_OK;
}

/* ---- scalars ---- */

/* Floats that the host does not have, which are their bits here. */
static int is_bits(pto_dtype t) { return pto_dtype_is_half_float(t); }

static pto_status put_scalar_of(cpp_printer *p, pto_op op)
{
    const pto_value memory = pto_op_operand(op, 0), v = pto_op_result(op, 0);
    const pto_type type = pto_value_type(memory);
    pto_expr offset = pto_expr_const(p->run, 0);
    for (uint32_t d = 0; d < pto_type_rank(type) && PTO_SOME(offset); d++)
        offset = pto_expr_add(offset, pto_expr_mul(pto_expr_of(op, PTO_STR("offsets"), d), pto_type_stride(type, d)));
    if (!PTO_SOME(offset) || cpp_element(dtype_of(v)) == NULL) return ascend_refuse(op, "of its element type or place");
    const char *name = cpp_value(p, v);
    text_line(p->out, "%s%s = 0;%s", cpp_host_type(p, v), name, cpp_remark(p, op));
    text_line(p->out, "if (!ascend_get(stream, &%s, %s, %s, sizeof %s))", name, cpp_value(p, memory),
              cpp_index(p, offset), name);
    text_line(p->out, "    return ascend_leave(&workspace, stream, \"an element cannot be read\");");
    return PTO_OK;
}

static pto_status put_compare(cpp_printer *p, pto_op op)
{
    const pto_value a = pto_op_operand(op, 0), b = pto_op_operand(op, 1);
    if (is_bits(dtype_of(a))) return ascend_refuse(op, "of its element type");
    text_line(p->out, "const bool %s = %s %s %s;%s", cpp_value(p, pto_op_result(op, 0)), cpp_value(p, a),
              cpp_relation(op), cpp_value(p, b), cpp_remark(p, op));
    return PTO_OK;
}

static pto_status put_constant(cpp_printer *p, pto_op op)
{
    const pto_value v = pto_op_result(op, 0);
    const pto_dtype t = dtype_of(v);
    const pto_attr value = pto_op_attr(op, PTO_STR("value"));
    const char *number =
        is_bits(t) ? text_format(p->run, "0x%04x", (unsigned)ascend_bits(t, value)) : cpp_number(p, t, value);
    if (number == NULL) return ascend_refuse(op, "of its element type");
    text_line(p->out, "const %s%s = %s;%s", cpp_host_type(p, v), cpp_value(p, v), number, cpp_remark(p, op));
    return PTO_OK;
}

static pto_status put_index_cast(cpp_printer *p, pto_op op)
{
    const pto_value v = pto_op_result(op, 0);
    const char *c = cpp_element(dtype_of(v));
    if (c == NULL || is_bits(dtype_of(v))) return ascend_refuse(op, "of its element type");
    text_line(p->out, "const %s %s = (%s)(%s);%s", c, cpp_value(p, v), c,
              cpp_index(p, pto_expr_of(op, PTO_STR("from"), 0)), cpp_remark(p, op));
    return PTO_OK;
}

/* ---- control flow ---- */

/* Variables of what an op hands over, which are its results and, inside, what its blocks carry. */
static const char **put_variables(cpp_printer *p, pto_op op, int has_first)
{
    const uint32_t n = pto_op_result_count(op);
    const char **names = PTO_SCRATCH(p->run, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        const pto_value v = pto_op_result(op, i);
        names[i] = cpp_value(p, v);
        text_line(p->out, "%s%s = %s;", cpp_host_type(p, v), names[i],
                  has_first      ? cpp_value(p, pto_op_operand(op, i))
                  : is_memory(v) ? "NULL"
                                 : "0");
    }
    return names;
}

static void name_arguments(cpp_printer *p, pto_block block, uint32_t from, const char *const *names)
{
    for (uint32_t i = from; i < pto_block_arg_count(block); i++) cpp_alias(p, pto_block_arg(block, i), names[i - from]);
}

/* All at once: what is yielded may be what another one is. */
static void put_yield(cpp_printer *p, pto_op yield, const char *const *names)
{
    const uint32_t n = PTO_SOME(yield) ? pto_op_operand_count(yield) : 0;
    const char **from = PTO_SCRATCH(p->run, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        const pto_value v = pto_op_operand(yield, i);
        from[i] = cpp_value(p, v);
        if (n == 1 || strcmp(from[i], names[i]) == 0) continue;
        const char *next = cpp_spare(p, text_format(p->run, "%s_then", names[i]));
        text_line(p->out, "%sconst %s = %s;", cpp_host_type(p, v), next, from[i]);
        from[i] = next;
    }
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(from[i], names[i]) != 0) text_line(p->out, "%s = %s;", names[i], from[i]);
}

static pto_status put_block(cpp_printer *p, pto_block block, pto_op *yield);

static pto_status put_for(cpp_printer *p, pto_op op)
{
    const char *const *names = put_variables(p, op, 1);
    const char *i = cpp_value(p, pto_block_arg(pto_body(op), 0));
    pto_op yield = {0};
    name_arguments(p, pto_body(op), 1, names);
    text_open(p->out, "for (int64_t %s = %s; %s < %s; %s += %s)", i, cpp_index(p, pto_expr_of(op, PTO_STR("from"), 0)),
              i, cpp_index(p, pto_expr_of(op, PTO_STR("to"), 0)), i, cpp_index(p, pto_expr_of(op, PTO_STR("step"), 0)));
    PTO_TRY(put_block(p, pto_body(op), &yield));
    put_yield(p, yield, names);
    text_close(p->out, "");
    return PTO_OK;
}

static pto_status put_if(cpp_printer *p, pto_op op)
{
    const char *const *names = put_variables(p, op, 0);
    text_open(p->out, "if (%s %s %s)", cpp_index(p, pto_expr_of(op, PTO_STR("left"), 0)), cpp_relation(op),
              cpp_index(p, pto_expr_of(op, PTO_STR("right"), 0)));
    for (uint32_t b = 0; b < pto_op_block_count(op); b++) {
        pto_op yield = {0};
        if (b != 0) {
            p->out->depth--;
            text_open(p->out, "} else");
        }
        PTO_TRY(put_block(p, pto_op_block_at(op, b), &yield));
        put_yield(p, yield, names);
    }
    text_close(p->out, "");
    return PTO_OK;
}

static pto_status put_while(cpp_printer *p, pto_op op)
{
    const char *const *names = put_variables(p, op, 1);
    pto_op holds = {0}, yield = {0};
    for (uint32_t b = 0; b < 2; b++) name_arguments(p, pto_op_block_at(op, b), 0, names);
    text_open(p->out, "for (;;)");
    PTO_TRY(put_block(p, pto_op_block_at(op, 0), &holds));
    text_line(p->out, "if (!%s) break;", cpp_value(p, pto_op_operand(holds, 0)));
    PTO_TRY(put_block(p, pto_op_block_at(op, 1), &yield));
    put_yield(p, yield, names);
    text_close(p->out, "");
    return PTO_OK;
}

/* ---- ops ---- */

static pto_status put_op(cpp_printer *p, pto_op op)
{
    const ascend_module *m = p->m;
    p->at = op;
    if (ASCEND_IS(m, op, LAUNCH)) return put_launch(p, op);
    if (ASCEND_IS(m, op, ALLOC)) return put_alloc(p, op);
    if (ASCEND_IS(m, op, FREE)) return PTO_OK; /* at the end of the function */
    if (ASCEND_IS(m, op, FOR)) return put_for(p, op);
    if (ASCEND_IS(m, op, IF)) return put_if(p, op);
    if (ASCEND_IS(m, op, WHILE)) return put_while(p, op);
    if (ASCEND_IS(m, op, CONSTANT)) return put_constant(p, op);
    if (ASCEND_IS(m, op, CONSTANT_ARRAY)) return put_constant_array(p, op);
    if (ASCEND_IS(m, op, SCALAR_OF)) return put_scalar_of(p, op);
    if (ASCEND_IS(m, op, COMPARE)) return put_compare(p, op);
    if (ASCEND_IS(m, op, INDEX_CAST)) return put_index_cast(p, op);
    if (ASCEND_IS(m, op, VIEW)) {
        cpp_alias(p, pto_op_result(op, 0), cpp_value(p, pto_op_operand(op, 0)));
        return PTO_OK;
    }
    if (ASCEND_IS(m, op, BIND)) {
        text_line(p->out, "const int64_t %s = %s;%s", cpp_symbol(p, pto_attr_str_of(op, PTO_STR("symbol"))),
                  cpp_index(p, pto_expr_of(op, PTO_STR("value"), 0)), cpp_remark(p, op));
        return PTO_OK;
    }
    if (ASCEND_IS(m, op, RETURN)) {
        if (pto_op_operand_count(op) != 0) return ascend_refuse(op, "it returns values");
        text_line(p->out, "return ascend_leave(&workspace, stream, NULL);");
        return PTO_OK;
    }
    return ascend_refuse(op, "not in a function of the host");
}

/* `yield`: what the block ends with, where it hands values over. */
static pto_status put_block(cpp_printer *p, pto_block block, pto_op *yield)
{
    PTO_EACH_OP(block, op) {
        if (ASCEND_IS(p->m, op, YIELD))
            *yield = op;
        else
            PTO_TRY(put_op(p, op));
    }
    return PTO_OK;
}

pto_status cpp_body(cpp_printer *p, pto_block block)
{
    pto_op yield = {0};
    return put_block(p, block, &yield);
}
