/* Functions of the host: workspaces and launches in order; and what a test has to know of them. */
#include "cpp_print.h"

static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }
static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* ---- what a function takes ---- */

/* Symbols of the types of parameters, then those that the body has beyond them. */
static ascend_symbols symbols_of(cpp_printer *p, pto_op function)
{
    ascend_symbols s = {.run = p->run};
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++)
        if (is_memory(pto_block_arg(body, i))) ascend_symbols_of_type(&s, pto_value_type(pto_block_arg(body, i)));
    PTO_WALK(function, op)
    {
        for (uint32_t i = 0; i < pto_op_result_count(op); i++)
            if (is_memory(pto_op_result(op, i))) ascend_symbols_of_type(&s, pto_value_type(pto_op_result(op, i)));
        if (!ASCEND_IS(p->m, op, LAUNCH)) continue;
        const ascend_kernel *k =
            ascend_kernel_of(p->m, pto_symbol_find(p->run, pto_attr_str_of(op, PTO_STR("callee"))));
        /* A symbol that is not an extent of an argument is the caller's of that name. */
        for (uint32_t i = 0; k != NULL && i < k->symbol_count; i++)
            ascend_symbols_of_expr(&s, pto_expr_symbol(p->run, k->symbols[i]));
    }
    return s;
}

static const char *function_parameters(cpp_printer *p, pto_op function, const ascend_symbols *symbols)
{
    const pto_block body = pto_body(function);
    text t = {.run = p->run};
    text_put(&t, "void *stream");
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        text_put(&t, ", %s%s", is_memory(v) ? "void *" : text_format(p->run, "%s ", cpp_element(dtype_of(v))),
                 cpp_value(p, v));
    }
    for (uint32_t i = 0; i < symbols->count; i++) text_put(&t, ", int64_t %s", cpp_symbol(p, symbols->items[i]));
    return text_end(&t);
}

/* ---- bodies ---- */

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
        cpp_line(p, "if (%s %s %s)", left, cpp_relation(r->branch), right);
        cpp_line(p, "    return ascend_leave(&workspace, stream, \"%s: not where %s %s %s\");", cpp_global(p, k->op),
                 left, cpp_relation(r->branch), right);
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
    cpp_line(p, "const int64_t %s = %s;%s", blocks, k->rank != 0 ? text_end(&count) : "1", cpp_remark(p, op));
    cpp_line(p, "if (%s > 0) launch_%s((uint32_t)%s, stream%s);", blocks, cpp_global(p, k->op), blocks,
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
    cpp_line(p, "void *const %s = ascend_take(&workspace, %s);%s", cpp_value(p, v), cpp_index(p, bytes),
             cpp_remark(p, op));
    cpp_line(p, "if (%s == NULL) return ascend_leave(&workspace, stream, \"no memory for a workspace\");",
             cpp_value(p, v));
    return PTO_OK;
}

static pto_status put_block(cpp_printer *p, pto_block block);

static pto_status put_control(cpp_printer *p, pto_op op)
{
    if (pto_op_result_count(op) != 0) return ascend_refuse(op, "it hands values over between launches");
    if (ASCEND_IS(p->m, op, FOR)) {
        const char *i = cpp_value(p, pto_block_arg(pto_body(op), 0));
        cpp_open(p, "for (int64_t %s = %s; %s < %s; %s += %s)", i, cpp_index(p, pto_expr_of(op, PTO_STR("from"), 0)), i,
                 cpp_index(p, pto_expr_of(op, PTO_STR("to"), 0)), i, cpp_index(p, pto_expr_of(op, PTO_STR("step"), 0)));
    } else {
        cpp_open(p, "if (%s %s %s)", cpp_index(p, pto_expr_of(op, PTO_STR("left"), 0)), cpp_relation(op),
                 cpp_index(p, pto_expr_of(op, PTO_STR("right"), 0)));
    }
    for (uint32_t b = 0; b < pto_op_block_count(op); b++) {
        if (b != 0) {
            p->depth--;
            cpp_open(p, "} else");
        }
        PTO_TRY(put_block(p, pto_op_block_at(op, b)));
    }
    cpp_close(p, "");
    return PTO_OK;
}

static pto_status put_op(cpp_printer *p, pto_op op)
{
    const ascend_module *m = p->m;
    p->at = op;
    if (ASCEND_IS(m, op, LAUNCH)) return put_launch(p, op);
    if (ASCEND_IS(m, op, ALLOC)) return put_alloc(p, op);
    if (ASCEND_IS(m, op, FREE) || ASCEND_IS(m, op, YIELD)) return PTO_OK; /* at the end of the function */
    if (ASCEND_IS(m, op, FOR) || ASCEND_IS(m, op, IF)) return put_control(p, op);
    if (ASCEND_IS(m, op, VIEW)) {
        cpp_alias(p, pto_op_result(op, 0), cpp_value(p, pto_op_operand(op, 0)));
        return PTO_OK;
    }
    if (ASCEND_IS(m, op, CONSTANT)) {
        const pto_value v = pto_op_result(op, 0);
        const pto_dtype t = dtype_of(v);
        const char *number = cpp_number(p, t, pto_op_attr(op, PTO_STR("value")));
        if (number == NULL || t == PTO_F16 || t == PTO_BF16) return ascend_refuse(op, "of its element type");
        cpp_line(p, "const %s %s = %s;%s", cpp_element(t), cpp_value(p, v), number, cpp_remark(p, op));
        return PTO_OK;
    }
    if (ASCEND_IS(m, op, RETURN)) {
        if (pto_op_operand_count(op) != 0) return ascend_refuse(op, "it returns values");
        cpp_line(p, "return ascend_leave(&workspace, stream, NULL);");
        return PTO_OK;
    }
    return ascend_refuse(op, "not in a function of the host");
}

static pto_status put_block(cpp_printer *p, pto_block block)
{
    PTO_EACH_OP(block, op) PTO_TRY(put_op(p, op));
    return PTO_OK;
}

/* ---- for tests ---- */

static void put_extents(cpp_printer *p, pto_op function, const ascend_symbols *symbols)
{
    const pto_block body = pto_body(function);
    const char *name = cpp_global(p, function);
    cpp_begin(p, "static void %s_extents(const int64_t *symbols, int64_t (*extents)[8])", name);
    for (uint32_t i = 0; i < symbols->count; i++)
        cpp_line(p, "[[maybe_unused]] const int64_t %s = symbols[%u];", cpp_symbol(p, symbols->items[i]), i);
    cpp_line(p, "(void)symbols, (void)extents;");
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        for (uint32_t d = 0; is_memory(pto_block_arg(body, i)) && d < pto_type_rank(type); d++)
            cpp_line(p, "extents[%u][%u] = %s;", i, d, cpp_index(p, pto_type_dim(type, d)));
    }
    cpp_close(p, "\n");
}

static int writes(pto_op function, uint32_t i)
{
    const pto_attr params = pto_op_attr(function, PTO_STR("params"));
    return PTO_SOME(params) && i < pto_attr_count(params) &&
           !pto_str_is(pto_attr_str(pto_attr_item(params, i, NULL)), "in") &&
           !pto_str_is(pto_attr_str(pto_attr_item(params, i, NULL)), "const");
}

/* What a user calls a parameter: outputs may have another name in the text that it comes from. */
static pto_str argument_name(pto_op function, uint32_t i)
{
    const pto_attr outputs = pto_op_attr(function, PTO_STR("outputs"));
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; k++) before += writes(function, k) != 0;
    if (!writes(function, i) || !PTO_SOME(outputs) || before >= pto_attr_count(outputs))
        return pto_value_name(pto_block_arg(pto_body(function), i));
    return pto_attr_str(pto_attr_item(outputs, before, NULL));
}

static char numpy_kind(pto_dtype t)
{
    if (t == PTO_BOOL) return 'b';
    if (t == PTO_BF16) return 'u';
    return pto_dtype_is_float(t) ? 'f' : t == PTO_U8 || t == PTO_U16 || t == PTO_U32 || t == PTO_U64 ? 'u' : 'i';
}

/* A call by arrays in the order of the parameters, and the row of the table of functions. */
static void put_entry(cpp_printer *p, pto_op function, const ascend_symbols *symbols)
{
    const pto_block body = pto_body(function);
    const char *name = cpp_global(p, function);
    const uint32_t n = pto_block_arg_count(body);
    cpp_begin(p, "static const char *%s_call(void *stream, void *const *arguments, const int64_t *symbols)", name);
    cpp_line(p, "(void)arguments, (void)symbols;");
    text t = {.run = p->run};
    for (uint32_t i = 0; i < n; i++) {
        const pto_value v = pto_block_arg(body, i);
        text_put(&t, is_memory(v) ? ", %.0sarguments[%u]" : ", *(const %s *)arguments[%u]", cpp_element(dtype_of(v)),
                 i);
    }
    for (uint32_t i = 0; i < symbols->count; i++) text_put(&t, ", symbols[%u]", i);
    cpp_line(p, "return %s(stream%s);", name, t.n != 0 ? text_end(&t) : "");
    cpp_close(p, "\n");
    cpp_open(p, "static const ascend_argument %s_arguments[] =", name);
    for (uint32_t i = 0; i < n; i++) {
        const pto_value v = pto_block_arg(body, i);
        const pto_type type = pto_value_type(v);
        cpp_line(p, "{\"%.*s\", '%c', %d, %u, %d, %d},", PTO_FMT(argument_name(function, i)), numpy_kind(dtype_of(v)),
                 (int)pto_dtype_bytes(dtype_of(v)), is_memory(v) ? pto_type_rank(type) : 0, writes(function, i),
                 is_memory(v));
    }
    cpp_line(p, "{NULL, 0, 0, 0, 0, 0}");
    cpp_close(p, ";\n");
    cpp_open(p, "static const ascend_symbol %s_symbols[] =", name);
    for (uint32_t s = 0; s < symbols->count; s++) {
        int at = -1, dim = -1;
        for (uint32_t i = n; i-- > 0;)
            for (uint32_t d = pto_type_rank(pto_value_type(pto_block_arg(body, i))); d-- > 0;) {
                const pto_expr x = pto_type_dim(pto_value_type(pto_block_arg(body, i)), d);
                if (pto_expr_kind_of(x) != PTO_EXPR_SYMBOL || writes(function, i) ||
                    !pto_str_same(pto_expr_symbol_name(x), symbols->items[s]))
                    continue;
                at = (int)i;
                dim = (int)d;
            }
        cpp_line(p, "{\"%.*s\", %d, %d},", PTO_FMT(symbols->items[s]), at, dim);
    }
    cpp_line(p, "{NULL, -1, -1}");
    cpp_close(p, ";\n");
}

/* ---- both files ---- */

static pto_status put_function(cpp_printer *p, pto_op function, text *header, text *table)
{
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const pto_dtype t = dtype_of(v);
        if (cpp_element(t) == NULL || (!is_memory(v) && (t == PTO_F16 || t == PTO_BF16)))
            return ascend_refuse(function, "parameter `%%%.*s` has elements of type %s", PTO_FMT(pto_value_name(v)),
                                 pto_dtype_name(t));
    }
    cpp_names_begin(p, function);
    const ascend_symbols symbols = symbols_of(p, function);
    const char *parameters = function_parameters(p, function, &symbols), *name = cpp_global(p, function);
    text_put(header, "const char *%s(%s);\n", name, parameters);
    cpp_begin(p, "const char *%s(%s)", name, parameters);
    cpp_line(p, "ascend_workspace workspace = {};");
    PTO_TRY(put_block(p, body));
    cpp_close(p, "\n");
    put_extents(p, function, &symbols);
    put_entry(p, function, &symbols);
    text_put(table, "    {\"%.*s\", %s_arguments, %u, %s_symbols, %u, %s_extents, %s_call},\n",
             PTO_FMT(pto_function_name(function)), name, pto_block_arg_count(body), name, symbols.count, name, name);
    return PTO_OK;
}

pto_status cpp_host(cpp_printer *p, text *header, text *source)
{
    text table = {.run = p->run};
    p->out = source;
    text_put(header, "// What the host calls. Arrays are dense, row-major, in the memory of the chip; calls return "
                     "NULL, or what is\n"
                     "// wrong. They wait for the stream where they have workspaces of their own.\n"
                     "#pragma once\n#include <cstddef>\n#include <cstdint>\n\n");
    text_put(source, "// Launches of kernels, in order, written by pto.emit-ascend. Remarks are as in the kernels.\n"
                     "#include \"host.h\"\n\n#include \"runtime.h\"\n\n");
    for (const ascend_kernel *k = p->m->kernels; k != NULL; k = k->next) {
        const char *parameters = cpp_launch_parameters(p, k);
        text_put(source, "extern \"C\" void launch_%s(uint32_t blocks, void *stream%s%s);\n", cpp_global(p, k->op),
                 parameters[0] != 0 ? ", " : "", parameters);
    }
    text_put(source, "\n");
    for (uint32_t i = 0; i < p->m->function_count; i++) PTO_TRY(put_function(p, p->m->functions[i], header, &table));
    text_put(source, "const ascend_function ascend_functions[] = {\n%s    {NULL, NULL, 0, NULL, 0, NULL, NULL}};\n",
             text_end(&table));
    return PTO_OK;
}
