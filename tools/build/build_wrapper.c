#include "tools/build/build_wrapper.h"

#include "ir/relations.h"
#include "ir/text/output_names.h"
#include "ir/verify/ranges.h"
#include "tools/base/tool_diag.h"
#include "tools/build/build_headers.h"
#include "tools/library/library.h"
#include "tools/run/call_init.h"

#include <inttypes.h>
#include <stdarg.h>

enum { LIST_MAX = 64 }; /* as in the runtime: arguments, symbols and facts of one function */

typedef struct argument {
    const char *name;   /* of the module */
    const char *c_name; /* of the parameter in the header */
    type_id type;
    bool is_written, is_read, is_constant;
} argument;

/* One function while it is written. */
typedef struct writer {
    arena *arena;
    module *m;
    ir_context *c;
    diag_engine *d;
    const char *prefix;
    text_buffer *source, *header, *exports;
    op_id function;
    uint32_t number;           /* of the function in the library */
    const char *name, *c_name; /* "f.init", "op_f_init" */
    argument arguments[LIST_MAX];
    uint32_t argument_count;
    uint32_t order[LIST_MAX], order_count;
    str_id symbols[LIST_MAX];
    uint32_t symbol_count;
    bool has_too_many;
} writer;

static status refuse(const writer *w, op_id at, const char *format, ...) PRINTF_LIKE(3, 4);

static status refuse(const writer *w, op_id at, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(w->d, op_pos(w->m, at), &E1613, "%s", text);
    return FAILED;
}

bool build_is_name(str text)
{
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return text.n > 0;
}

/* ---- names ---- */

/* Those of C and C++, macros in small letters of headers that come with them, and the parameter that each function has.
 */
static const char *const reserved[] = {
#define C_WORD(text) text,
#include "text/c_words.def"
    "complex", "context", "errno", "noreturn", "I", NULL};

/* Macros are in capitals, and types of DLPack begin so. */
static bool is_of_headers(const char *name)
{
    uint32_t capitals = 0;
    if (strncmp(name, "DL", 2) == 0) return true;
    for (; *name != '\0'; name++) {
        if (*name >= 'a' && *name <= 'z') return false;
        capitals += *name >= 'A' && *name <= 'Z';
    }
    return capitals > 1;
}

/* A parameter in the header, of that name, or like it, that no other has. The C that is compiled numbers them. */
static const char *parameter_name(const writer *w, const char *name)
{
    text_buffer t;
    text_init(&t);
    if ((*name >= '0' && *name <= '9') || *name == '_') text_putc(&t, 't');
    for (const char *p = name; *p != '\0'; p++)
        text_putc(&t, build_is_name((str){p, 1}) || (*p >= '0' && *p <= '9') ? *p : '_');
    if (str_list_has(reserved, t.p) || is_of_headers(t.p)) text_putc(&t, '_');
    bool is_taken = true;
    while (is_taken) {
        is_taken = false;
        for (uint32_t i = 0; i < w->argument_count; i++) is_taken |= strcmp(w->arguments[i].c_name, t.p) == 0;
        if (is_taken) text_putc(&t, '_');
    }
    return text_keep(&t, w->arena);
}

/* The C function; a point becomes `_`. */
static status name_function(writer *w)
{
    static const char *const own[] = {"open", "close", "error", "constants", "context", NULL};
    const str name = string_of(w->c, function_name(w->m, w->function));
    char *c_name = arena_strndup(w->arena, name.p, name.n);
    for (char *p = c_name; *p != '\0'; p++)
        if (*p == '.') *p = '_';
    BUG_IF(!build_is_name(str_from(c_name)), "@%s is not a name", c_name);
    if (str_list_has(own, c_name))
        return refuse(w, w->function, "@%.*s would be %s_%s, which each library has for itself: rename it", (int)name.n,
                      name.p, w->prefix, c_name);
    BLOCK_EACH_OP(w->m, o, module_top(w->m)) {
        if (o == w->function || op_kind_of(w->m, o) != OP_FUNC || !str_is(op_attr_str(w->m, o, "visibility"), "public"))
            continue;
        const str other = string_of(w->c, function_name(w->m, o));
        bool is_same = other.n == name.n;
        for (size_t i = 0; is_same && i < name.n; i++)
            is_same = c_name[i] == other.p[i] || (c_name[i] == '_' && other.p[i] == '.');
        if (is_same)
            return refuse(w, w->function, "@%.*s and @%.*s would both be %s_%s: rename one", (int)name.n, name.p,
                          (int)other.n, other.p, w->prefix, c_name);
    }
    w->name = arena_strndup(w->arena, name.p, name.n);
    text_buffer t;
    text_init(&t);
    text_printf(&t, "%s_%s", w->prefix, c_name);
    w->c_name = text_keep(&t, w->arena);
    return OK;
}

/* ---- what the function takes ---- */

static void add_symbol(void *self, str_id name)
{
    writer *w = self;
    for (uint32_t i = 0; i < w->symbol_count; i++)
        if (w->symbols[i] == name) return;
    w->has_too_many |= w->symbol_count == LIST_MAX;
    if (w->symbol_count < LIST_MAX) w->symbols[w->symbol_count++] = name;
}

static uint32_t symbol_number(const writer *w, str_id name)
{
    uint32_t i = 0;
    while (i < w->symbol_count && w->symbols[i] != name) i++;
    return i;
}

static void add_argument(writer *w, const char *name, type_id type, str mode)
{
    const type_node *t = type_at(w->c, type);
    w->has_too_many |= w->argument_count == LIST_MAX;
    if (w->argument_count == LIST_MAX) return;
    const argument x = {.name = name,
                        .c_name = parameter_name(w, name),
                        .type = type,
                        .is_written = str_is(mode, "out") || str_is(mode, "inout"),
                        .is_read = !str_is(mode, "out"),
                        .is_constant = str_is(mode, "const")};
    w->arguments[w->argument_count++] = x;
    for (uint32_t d = 0; d < t->rank; d++) expr_visit_symbols(w->c, t->dims[d], add_symbol, w);
}

static const char *name_of(const writer *w, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(w->m, v, &t);
    const char *name = arena_strndup(w->arena, t.p + 1, t.n - 1); /* without % */
    text_fini(&t);
    return name;
}

static void collect_arguments(writer *w)
{
    const block_id body = function_body(w->m, w->function);
    const op_id last = block_last(w->m, body);
    output_names names;
    uint32_t outputs = 0;
    output_names_of(w->arena, w->m, w->function, &names);
    for (uint32_t i = 0; i < block_arg_count(w->m, body) && w->order_count < LIST_MAX; i++) {
        const value_id v = block_arg(w->m, body, i);
        const str mode = function_param_mode(w->m, w->function, i);
        const bool is_out = str_is(mode, "out");
        w->order[w->order_count++] = w->argument_count;
        add_argument(w, is_out && outputs < names.count ? names.names[outputs].p : name_of(w, v), value_type(w->m, v),
                     mode);
        outputs += is_out;
    }
    for (uint32_t i = 0; last != 0 && i < op_operand_count(w->m, last) && w->order_count < LIST_MAX; i++) {
        const uint32_t alias = function_alias(w->m, w->function, i);
        w->order[w->order_count++] = alias != UINT32_MAX ? alias : w->argument_count;
        if (alias != UINT32_MAX) continue;
        const value_id v = op_operand(w->m, last, i);
        add_argument(w, outputs < names.count ? names.names[outputs].p : name_of(w, v), value_type(w->m, v),
                     STR("out"));
        outputs++;
    }
}

/* What the verifier knows: all is data, and each symbol is an extent by itself, by which calls bind it. */
static void check_arguments(const writer *w)
{
    for (uint32_t i = 0; i < w->argument_count; i++) {
        const type_node *t = type_at(w->c, w->arguments[i].type);
        BUG_IF(library_dtype((dtype)t->dtype).lanes == 0, "`%s` of @%s is not a tensor", w->arguments[i].name, w->name);
    }
    for (uint32_t s = 0; s < w->symbol_count; s++) {
        bool is_bound = false;
        for (uint32_t i = 0; i < w->argument_count; i++) {
            const type_node *t = type_at(w->c, w->arguments[i].type);
            for (uint32_t d = 0; d < t->rank; d++) {
                const expr_node *e = expr_at(w->c, t->dims[d]);
                is_bound |= e->kind == EXPR_SYMBOL && (str_id)e->value == w->symbols[s];
            }
        }
        BUG_IF(!is_bound, "symbol %u of @%s is not an extent", s, w->name);
    }
}

static status check_body(const writer *w)
{
    IR_WALK(w->m, o, w->function)
    {
        const str name = str_from(op_info_of(w->m, o)->name);
        if (str_starts_with(name, "debug."))
            return refuse(w, o, "`%.*s` has no place in a library, which prints nothing: take it out", (int)name.n,
                          name.p);
    }
    return OK;
}

/* ---- C of index expressions ---- */

static void put_expr(const writer *w, text_buffer *t, expr_id e);

static void put_call(const writer *w, text_buffer *t, const char *function, const expr_node *n)
{
    for (uint32_t i = 0; i + 1 < n->arg_count; i++) text_printf(t, "%s(", function);
    put_expr(w, t, n->args[0]);
    for (uint32_t i = 1; i < n->arg_count; i++) {
        text_puts(t, ", ");
        put_expr(w, t, n->args[i]);
        text_putc(t, ')');
    }
}

static void put_number(text_buffer *t, int64_t n)
{
    if (n == INT64_MIN)
        text_puts(t, "INT64_MIN");
    else
        text_printf(t, "INT64_C(%" PRId64 ")", n);
}

/* Recursion is bounded by EXPR_MAX_DEPTH. */
static void put_expr(const writer *w, text_buffer *t, expr_id e)
{
    const expr_node *n = expr_at(w->c, e);
    switch (n->kind) {
    case EXPR_CONST: put_number(t, n->value); return;
    case EXPR_SYMBOL: text_printf(t, "s[%u]", symbol_number(w, (str_id)n->value)); return;
    case EXPR_FLOORDIV: put_call(w, t, "pto_runtime_floordiv", n); return;
    case EXPR_CEILDIV: put_call(w, t, "pto_runtime_ceildiv", n); return;
    case EXPR_MOD: put_call(w, t, "pto_runtime_mod", n); return;
    case EXPR_MIN: put_call(w, t, "pto_index_min", n); return;
    case EXPR_MAX: put_call(w, t, "pto_index_max", n); return;
    default: break;
    }
    text_putc(t, '(');
    if (n->kind == EXPR_SUM) put_number(t, n->value);
    for (uint32_t i = 0; i < n->arg_count; i++) {
        if (n->kind == EXPR_SUM) {
            text_puts(t, " + ");
            put_number(t, n->coefs[i]);
            text_puts(t, " * ");
        } else if (i > 0) {
            text_puts(t, " * ");
        }
        put_expr(w, t, n->args[i]);
    }
    text_putc(t, ')');
}

static const char *dim_text(const writer *w, expr_id e)
{
    text_buffer t;
    text_init(&t);
    expr_print(w->c, e, &t, NULL, NULL);
    return text_keep(&t, w->arena);
}

/* ---- the source ----
 *
 * Its own names begin with pto_ and PTO_, and those of DLPack with DLPACK_ or have no `_`, as no function of a library;
 * or they are of a block or parameter, where no name of a user is in sight. */

/* Types that numpy lacks are taken as integers of their bits. */
static DLDataType other_type(dtype type)
{
    const DLDataType own = library_dtype(type);
    const bool is_bits = type == DTYPE_BF16 || (own.bits == 8 && dtype_class_of(type) == DTYPE_CLASS_FLOAT);
    return is_bits ? (DLDataType){.code = kDLUInt, .bits = own.bits, .lanes = 1} : (DLDataType){0};
}

/* Bit i: the memory of argument i may overlap that of argument `number`. */
static uint64_t may_alias(const writer *w, uint32_t number)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < w->order_count; i++)
        for (uint32_t k = 0; w->order[i] == number && k < w->order_count; k++)
            if (function_may_alias(w->m, w->function, i, k)) mask |= UINT64_C(1) << w->order[k];
    return mask;
}

static void put_argument(const writer *w, uint32_t number)
{
    text_buffer *t = w->source;
    const argument *x = &w->arguments[number];
    const type_node *type = type_at(w->c, x->type);
    const DLDataType own = library_dtype((dtype)type->dtype), other = other_type((dtype)type->dtype);
    text_puts(t, "        {");
    text_put_quoted(t, str_from(x->name));
    text_printf(t, ", \"%s\", {%d, %d, %d}, {%d, %d, %d}, %d, %d, %u, 0, {", dtype_name((dtype)type->dtype), own.code,
                own.bits, own.lanes, other.code, other.bits, other.lanes, x->is_written, x->is_read, type->rank);
    for (uint32_t d = 0; d < type->rank; d++) text_printf(t, "%s\"%s\"", d > 0 ? ", " : "", dim_text(w, type->dims[d]));
    text_puts(t, type->rank == 0 ? "0}, {" : "}, {");
    for (uint32_t d = 0; d < type->rank; d++) {
        const expr_node *e = expr_at(w->c, type->dims[d]);
        text_printf(t, "%s%d", d > 0 ? ", " : "",
                    e->kind == EXPR_SYMBOL ? (int)symbol_number(w, (str_id)e->value) : -1);
    }
    text_printf(t, "%s}, UINT64_C(0x%" PRIx64 ")},\n", type->rank == 0 ? "-1" : "", may_alias(w, number));
}

static void put_extents(const writer *w)
{
    text_buffer *t = w->source;
    text_printf(t, "static void pto_extents_%u(const int64_t *s, int64_t (*out)[PTO_RUNTIME_RANK_MAX])\n{\n",
                w->number);
    text_puts(t, "    (void)s, (void)out;\n");
    for (uint32_t i = 0; i < w->argument_count; i++) {
        const type_node *type = type_at(w->c, w->arguments[i].type);
        for (uint32_t d = 0; d < type->rank; d++) {
            text_printf(t, "    out[%u][%u] = ", i, d);
            put_expr(w, t, type->dims[d]);
            text_puts(t, ";\n");
        }
    }
    text_puts(t, "}\n\n");
}

static uint32_t fact_count(const writer *w)
{
    const attr_id facts = op_attr(w->m, w->function, "facts");
    return facts != 0 ? attr_at(w->c, facts)->count : 0;
}

static void put_holds(const writer *w)
{
    text_buffer *t = w->source;
    const attr_id facts = op_attr(w->m, w->function, "facts");
    text_printf(t, "static void pto_holds_%u(const int64_t *s, uint8_t *out)\n{\n    (void)s, (void)out;\n", w->number);
    for (uint32_t i = 0; i < fact_count(w); i++) {
        relation r;
        expr_id sides[2];
        if (!fact_read(w->c, attr_at(w->c, facts)->items[i], &r, &sides[0], &sides[1])) continue;
        text_printf(t, "    out[%u] = ", i);
        put_expr(w, t, sides[0]);
        text_printf(t, " %s ", relation_sign(r));
        put_expr(w, t, sides[1]);
        text_puts(t, ";\n");
    }
    text_puts(t, "}\n\n");
}

static void put_facts(const writer *w)
{
    text_buffer *t = w->source;
    const attr_id facts = op_attr(w->m, w->function, "facts");
    text_puts(t, "    static const pto_runtime_fact facts[] = {");
    for (uint32_t i = 0; i < fact_count(w); i++) {
        relation r;
        expr_id sides[2];
        if (!fact_read(w->c, attr_at(w->c, facts)->items[i], &r, &sides[0], &sides[1])) continue;
        text_printf(t, "{\"%s %s %s\"}, ", dim_text(w, sides[0]), relation_sign(r), dim_text(w, sides[1]));
    }
    text_puts(t, "{0}};\n");
}

static void put_symbols(const writer *w)
{
    text_buffer *t = w->source;
    text_puts(t, "    static const char *const symbols[] = {");
    for (uint32_t i = 0; i < w->symbol_count; i++) {
        const str name = string_of(w->c, w->symbols[i]);
        text_printf(t, "\"%.*s\", ", (int)name.n, name.p);
    }
    text_puts(t, "0};\n");
}

static void put_source(const writer *w)
{
    text_buffer *t = w->source;
    put_extents(w);
    put_holds(w);
    text_printf(t, "PTO_EXPORT_ int %s(%s_context *context", w->c_name, w->prefix);
    for (uint32_t i = 0; i < w->argument_count; i++) text_printf(t, ", const DLTensor *t%u", i);
    text_puts(t, ")\n{\n");
    put_symbols(w);
    text_puts(t, "    static const pto_runtime_argument arguments[] = {\n");
    for (uint32_t i = 0; i < w->argument_count; i++) put_argument(w, i);
    text_puts(t, "        {0}};\n    static const uint32_t order[] = {");
    for (uint32_t i = 0; i < w->order_count; i++) text_printf(t, "%u, ", w->order[i]);
    text_puts(t, "0};\n");
    put_facts(w);
    text_printf(t,
                "    static const pto_runtime_function function = {\n        \"%s\", &pto_native_module_v1, symbols, "
                "%u, %u, %u, PTO_RUNTIME_ISA, arguments, order, %u, facts,\n        pto_extents_%u, pto_holds_%u};\n",
                w->name, w->symbol_count, w->argument_count, fact_count(w), w->order_count, w->number, w->number);
    text_puts(t, "    const DLTensor *const tensors[] = {");
    for (uint32_t i = 0; i < w->argument_count; i++) text_printf(t, "t%u, ", i);
    text_puts(t, "0};\n    return pto_runtime_call((pto_runtime_context *)context, &function, tensors);\n}\n\n");
}

/* ---- the header ---- */

static void put_declaration(const writer *w)
{
    text_buffer *t = w->header;
    text_printf(t, "/* @%s", w->name);
    for (uint32_t i = 0; i < w->argument_count; i++) {
        const argument *x = &w->arguments[i];
        const type_node *type = type_at(w->c, x->type);
        text_printf(t, "\n *   %s  %s", x->c_name,
                    x->is_constant   ? "const:"
                    : !x->is_written ? "in:   "
                    : x->is_read     ? "inout:"
                                     : "out:  ");
        for (uint32_t d = 0; d < type->rank; d++) text_printf(t, " %s x", dim_text(w, type->dims[d]));
        text_printf(t, " %s", dtype_name((dtype)type->dtype));
    }
    text_printf(t, " */\nint %s(", w->c_name);
    text_printf(t, "%s_context *context", w->prefix);
    for (uint32_t i = 0; i < w->argument_count; i++) text_printf(t, ", const DLTensor *%s", w->arguments[i].c_name);
    text_puts(t, ");\n\n");
    text_printf(w->exports, "%s\n", w->c_name);
}

static status write_function(writer *w)
{
    TRY(name_function(w));
    TRY(check_body(w));
    collect_arguments(w);
    const attr_id facts = op_attr(w->m, w->function, "facts");
    for (uint32_t i = 0; i < fact_count(w); i++) {
        relation r;
        expr_id sides[2];
        if (!fact_read(w->c, attr_at(w->c, facts)->items[i], &r, &sides[0], &sides[1])) continue;
        expr_visit_symbols(w->c, sides[0], add_symbol, w);
        expr_visit_symbols(w->c, sides[1], add_symbol, w);
    }
    if (w->has_too_many || w->order_count == LIST_MAX || fact_count(w) > LIST_MAX)
        return refuse(w, w->function, "@%s has more than %d tensors, symbols or facts", w->name, LIST_MAX - 1);
    check_arguments(w);
    put_source(w);
    put_declaration(w);
    return OK;
}

/* Without the lines for our own linter. */
static void put_dlpack(text_buffer *t)
{
    const str all = build_dlpack_text();
    for (size_t i = 0; i < all.n;) {
        const char *line = all.p + i, *end = memchr(line, '\n', all.n - i);
        const size_t n = end != NULL ? (size_t)(end - line) + 1 : all.n - i;
        if (memmem(line, n, "NOLINT", 6) == NULL) text_put(t, line, n);
        i += n;
    }
}

static void begin_header(text_buffer *t, const char *name)
{
    text_printf(
        t,
        "/* Made by pto-build %s. Tensors are dense, row-major, in the memory of the CPU, elements at multiples "
        "of their size;\n * they are used where they are, and what is written overlaps only what the module says.\n *\n"
        " * Functions return 0, or after a failure, of which %s_error has the sentence:\n"
        " *   1  a tensor does not fit: NULL, type, rank, extents, strides, alignment, overlap\n"
        " *   2  an op failed, such as an index beyond its tensor; outputs hold arbitrary values\n"
        " *   3  memory, threads, or a CPU without the instructions that this library is made of */\n",
        library_version(), name);
    text_printf(t, "#ifndef PTO_BUILT_%s_H\n#define PTO_BUILT_%s_H\n\n", name, name);
    put_dlpack(t);
    text_printf(
        t,
        "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* Threads and memory that stay from call to call. Of one thread at a time; any number of them may be "
        "used at the same\n * time. Functions take NULL too: then they run on the calling thread alone. */\n"
        "typedef struct %s_context %s_context;\n"
        "/* For so many threads, the calling one included; 0: as many as CPUs, OMP_NUM_THREADS and the quota of "
        "the cgroup allow.\n * NULL: they cannot be had. */\n"
        "%s_context *%s_open(int threads);\n"
        "/* Ends its threads and frees its memory; NULL is none. */\n"
        "void %s_close(%s_context *context);\n"
        "/* Why the last call with this context failed; \"\" when it did not. Lives until the next call. */\n"
        "const char *%s_error(const %s_context *context);\n\n",
        name, name, name, name, name, name, name, name);
}

/* Whether functions have constants that they do not compute, too. */
static bool has_constants(module *m)
{
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (op_kind_of(m, f) == OP_FUNC && call_is_entry(m, f) && call_has_constants(m, f)) return true;
    }
    return false;
}

static void put_constants(text_buffer *source, text_buffer *header, text_buffer *exports, const char *name)
{
    text_printf(header,
                "/* Says that constants of the calls that follow have the same elements where they are at the same "
                "addresses, until it\n * is called with another version: what is made of them, as packed weights, "
                "stays in the context and is not made in each\n * call. It takes as much memory again. 0, as at "
                "first: nothing is known of constants. */\n"
                "void %s_constants(%s_context *context, uint64_t version);\n\n",
                name, name);
    text_printf(source,
                "PTO_EXPORT_ void %s_constants(%s_context *context, uint64_t version)\n{\n"
                "    pto_runtime_constants((pto_runtime_context *)context, version);\n}\n\n",
                name, name);
    text_printf(exports, "%s_constants\n", name);
}

static void begin_source(text_buffer *t, const char *name)
{
    text_printf(
        t,
        "/* Functions of the library. */\n#include <pto/native_runtime.h>\n\n"
        "extern const pto_native_module pto_native_module_v1;\n"
        "typedef struct %s_context %s_context;\n"
        "#define PTO_EXPORT_ __attribute__((visibility(\"default\")))\n"
        "PTO_EXPORT_ %s_context *%s_open(int threads) { return (%s_context *)pto_runtime_open(threads, "
        "PTO_RUNTIME_ISA); }\n"
        "PTO_EXPORT_ void %s_close(%s_context *context) { pto_runtime_close((pto_runtime_context *)context); }\n"
        "PTO_EXPORT_ const char *%s_error(const %s_context *context)\n{\n"
        "    return pto_runtime_error((const pto_runtime_context *)context);\n}\n\n",
        name, name, name, name, name, name, name, name, name);
}

status build_wrapper_write(arena *a, module *m, const char *name, text_buffer *source, text_buffer *header,
                           text_buffer *exports)
{
    ir_context *c = module_context(m);
    uint32_t count = 0;
    begin_source(source, name);
    begin_header(header, name);
    text_printf(exports, "%s_open\n%s_close\n%s_error\n", name, name, name);
    if (has_constants(m)) put_constants(source, header, exports, name);
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (op_kind_of(m, f) != OP_FUNC || !str_is(op_attr_str(m, f, "visibility"), "public")) continue;
        writer *w = arena_alloc(a, sizeof *w);
        *w = (writer){.arena = a,
                      .m = m,
                      .c = c,
                      .d = context_diags(c),
                      .prefix = name,
                      .source = source,
                      .header = header,
                      .exports = exports,
                      .function = f,
                      .number = count};
        TRY(write_function(w));
        count++;
    }
    text_puts(header, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
    if (count > 0) return OK;
    diag_error(context_diags(c), (src_pos){string_of(c, module_file(m)).p, 0, 0}, &E1613,
               "the module has no public function, so that a library of it would be empty");
    return FAILED;
}
