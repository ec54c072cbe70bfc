/* Functions of the host: workspaces and launches in order; and what a test has to know of them. */
#include "c_types.h"
#include "cpp_print.h"

static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }
static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

const char *cpp_host_type(cpp_printer *p, pto_value v)
{
    const pto_dtype t = dtype_of(v);
    if (is_memory(v)) return "void *";
    return text_format(p->run, "%s ", pto_dtype_is_half_float(t) ? c_integer_of(2, 0) : cpp_element(t));
}

/* ---- what a function takes ---- */

/* Symbols of the types of parameters, then those that the body has beyond them and does not bind. */
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
    PTO_WALK(function, op)
    {
        uint32_t kept = 0;
        if (!ASCEND_IS(p->m, op, BIND)) continue;
        for (uint32_t i = 0; i < s.count; i++)
            if (!pto_str_same(s.items[i], pto_attr_str_of(op, PTO_STR("symbol")))) s.items[kept++] = s.items[i];
        s.count = kept;
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
        text_put(&t, ", %s%s", cpp_host_type(p, v), cpp_value(p, v));
    }
    for (uint32_t i = 0; i < symbols->count; i++) text_put(&t, ", int64_t %s", cpp_symbol(p, symbols->items[i]));
    return text_end(&t);
}

/* ---- for tests ---- */

static void put_extents(cpp_printer *p, pto_op function, const ascend_symbols *symbols)
{
    const pto_block body = pto_body(function);
    const char *name = cpp_global(p, function);
    cpp_begin(p, "static void %s_extents(const int64_t *symbols, int64_t (*extents)[8])", name);
    for (uint32_t i = 0; i < symbols->count; i++)
        text_line(p->out, "[[maybe_unused]] const int64_t %s = symbols[%u];", cpp_symbol(p, symbols->items[i]), i);
    text_line(p->out, "(void)symbols, (void)extents;");
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        for (uint32_t d = 0; is_memory(pto_block_arg(body, i)) && d < pto_type_rank(type); d++)
            text_line(p->out, "extents[%u][%u] = %s;", i, d, cpp_index(p, pto_type_dim(type, d)));
    }
    text_close(p->out, "\n");
}

static int is_written(pto_op function, uint32_t i)
{
    return ascend_is_output(function, i) || pto_str_is(ascend_role(function, i), "inout");
}

/* Floats that numpy lacks are bits there. */
static char numpy_kind(pto_dtype t)
{
    if (t == PTO_BOOL) return 'b';
    if (t == PTO_BF16 || pto_dtype_is_byte_float(t)) return 'u';
    return pto_dtype_is_float(t) ? 'f' : c_type_is_signed(t) ? 'i' : 'u';
}

/* A call by arrays in the order of the parameters, and the row of the table of functions. */
static void put_entry(cpp_printer *p, pto_op function, const ascend_symbols *symbols)
{
    const pto_block body = pto_body(function);
    const char *name = cpp_global(p, function);
    const uint32_t n = pto_block_arg_count(body);
    cpp_begin(p, "static const char *%s_call(void *stream, void *const *arguments, const int64_t *symbols)", name);
    text_line(p->out, "(void)arguments, (void)symbols;");
    text t = {.run = p->run};
    for (uint32_t i = 0; i < n; i++) {
        const pto_value v = pto_block_arg(body, i);
        text_put(&t, is_memory(v) ? ", %.0sarguments[%u]" : ", *(const %s*)arguments[%u]", cpp_host_type(p, v), i);
    }
    for (uint32_t i = 0; i < symbols->count; i++) text_put(&t, ", symbols[%u]", i);
    text_line(p->out, "return %s(stream%s);", name, t.n != 0 ? text_end(&t) : "");
    text_close(p->out, "\n");
    text_open(p->out, "static const ascend_argument %s_arguments[] =", name);
    for (uint32_t i = 0; i < n; i++) {
        const pto_value v = pto_block_arg(body, i);
        const pto_type type = pto_value_type(v);
        text_line(p->out, "{\"%.*s\", '%c', %d, %u, %d, %d, %d},", PTO_FMT(ascend_argument_name(function, i)),
                  numpy_kind(dtype_of(v)), (int)pto_dtype_bytes(dtype_of(v)), is_memory(v) ? pto_type_rank(type) : 0,
                  !ascend_is_output(function, i), is_written(function, i), is_memory(v));
    }
    text_line(p->out, "{NULL, 0, 0, 0, 0, 0, 0}");
    text_close(p->out, ";\n");
    text_open(p->out, "static const ascend_symbol %s_symbols[] =", name);
    for (uint32_t s = 0; s < symbols->count; s++) {
        int at = -1, dim = -1;
        for (uint32_t i = n; i-- > 0;)
            for (uint32_t d = pto_type_rank(pto_value_type(pto_block_arg(body, i))); d-- > 0;) {
                const pto_expr x = pto_type_dim(pto_value_type(pto_block_arg(body, i)), d);
                if (pto_expr_kind_of(x) != PTO_EXPR_SYMBOL || ascend_is_output(function, i) ||
                    !pto_str_same(pto_expr_symbol_name(x), symbols->items[s]))
                    continue;
                at = (int)i;
                dim = (int)d;
            }
        text_line(p->out, "{\"%.*s\", %d, %d},", PTO_FMT(symbols->items[s]), at, dim);
    }
    text_line(p->out, "{NULL, -1, -1}");
    text_close(p->out, ";\n");
}

/* ---- both files ---- */

static pto_status put_function(cpp_printer *p, pto_op function, text *header, text *table)
{
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        if (!cpp_has_type(v))
            return ascend_refuse(function, "parameter `%%%.*s` has elements of type %s", PTO_FMT(pto_value_name(v)),
                                 pto_dtype_name(dtype_of(v)));
    }
    cpp_names_begin(p, function);
    const ascend_symbols symbols = symbols_of(p, function);
    const char *parameters = function_parameters(p, function, &symbols), *name = cpp_global(p, function);
    text_put(header, "const char *%s(%s);\n", name, parameters);
    cpp_begin(p, "const char *%s(%s)", name, parameters);
    text_line(p->out, "ascend_workspace workspace = {};");
    PTO_TRY(cpp_body(p, body));
    text_close(p->out, "\n");
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
