/* Lines, index expressions and numbers of C++. */
#include "cpp_print.h"

#include <pto/relation.h>

#include <math.h>

static void indent(cpp_printer *p)
{
    for (uint32_t i = 0; i < p->depth; i++) text_bytes(p->out, "    ", 4);
}

void cpp_line(cpp_printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    indent(p);
    text_vput(p->out, format, args);
    text_bytes(p->out, "\n", 1);
    va_end(args);
}

void cpp_open(cpp_printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    indent(p);
    text_vput(p->out, format, args);
    text_bytes(p->out, " {\n", 3);
    p->depth++;
    va_end(args);
}

void cpp_begin(cpp_printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vput(p->out, format, args);
    text_bytes(p->out, "\n{\n", 3);
    p->depth = 1;
    va_end(args);
}

void cpp_close(cpp_printer *p, const char *end)
{
    p->depth--;
    cpp_line(p, "}%s", end);
}

/* "FILE:line:column" without the file; a comment ends at the end of the line, so nothing else can end it. */
static const char *line_and_column(const char *at)
{
    const char *slash = strrchr(at, '/'), *colon = strchr(slash != NULL ? slash : at, ':');
    return colon != NULL ? colon + 1 : at;
}

const char *cpp_remark(cpp_printer *p, pto_op op)
{
    char at[512] = "", around[512] = "", path[512] = "";
    const uint32_t outer = pto_op_path(p->function, around, sizeof around);
    if (pto_loc_text(pto_op_loc(op), at, sizeof at) == 0) at[0] = 0;
    (void)pto_op_path(op, path, sizeof path);
    const char *name = strncmp(path, around, outer) == 0 && path[outer] == '/' ? path + outer + 1 : path;
    for (char *c = at; *c != 0; c++)
        if ((unsigned char)*c < ' ' || *c == '\\') *c = '_';
    return text_format(p->run, " // %s%s%s", line_and_column(at), at[0] != 0 ? " " : "", name);
}

/* ---- index expressions ---- */

enum { LOOSE, SUM, PRODUCT, TIGHT };

static void put(cpp_printer *p, text *t, pto_expr x, int around);

static void put_sum(cpp_printer *p, text *t, pto_expr x)
{
    const int64_t constant = pto_expr_number(x);
    int is_first = 1;
    for (uint32_t pass = 0; pass < 2; pass++) { /* what is added comes first */
        for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
            const int64_t coef = pto_expr_coef(x, i), size = coef < 0 ? -coef : coef;
            if ((coef < 0) != (pass != 0)) continue;
            text_put(t, "%s", is_first ? coef < 0 ? "-" : "" : coef < 0 ? " - " : " + ");
            if (size != 1) text_put(t, "%lld * ", (long long)size);
            put(p, t, pto_expr_arg(x, i), size != 1 ? PRODUCT : SUM);
            is_first = 0;
        }
    }
    if (is_first)
        text_put(t, "%lld", (long long)constant);
    else if (constant != 0)
        text_put(t, " %s %lld", constant < 0 ? "-" : "+", (long long)(constant < 0 ? -constant : constant));
}

void cpp_know(cpp_printer *p, pto_expr x, const char *c)
{
    PTO_GROW(p->run, p->known, p->known_count, p->known_capacity);
    p->known[p->known_count++] = (cpp_known){x, c};
}

static const char *known(const cpp_printer *p, pto_expr x)
{
    for (uint32_t i = p->known_count; i-- > 0;)
        if (pto_expr_same(p->known[i].expr, x)) return p->known[i].c;
    return NULL;
}

/* Whether it is never below 0. */
static int is_natural(const cpp_printer *p, pto_expr x)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    if (known(p, x) != NULL || pto_expr_range(x, p->at, NULL).lo >= 0) return 1;
    if (kind == PTO_EXPR_CONST || kind == PTO_EXPR_SYMBOL || kind == PTO_EXPR_VALUE || kind == PTO_EXPR_MOD) return 0;
    if (kind == PTO_EXPR_SUM && pto_expr_number(x) < 0) return 0;
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
        if (!is_natural(p, pto_expr_arg(x, i)) || (kind == PTO_EXPR_SUM && pto_expr_coef(x, i) < 0)) return 0;
    return 1;
}

/* C divides towards zero; what is never below it needs no function. */
static void put_division(cpp_printer *p, text *t, pto_expr x, const char *sign, const char *function, int around)
{
    const pto_expr a = pto_expr_arg(x, 0), b = pto_expr_arg(x, 1);
    const int is_plain = is_natural(p, a) && is_natural(p, b);
    if (!is_plain || sign == NULL) {
        text_put(t, "%s(", function);
        put(p, t, a, LOOSE);
        text_put(t, ", ");
        put(p, t, b, LOOSE);
        text_put(t, ")");
        return;
    }
    if (around >= PRODUCT) text_put(t, "(");
    put(p, t, a, PRODUCT);
    text_put(t, " %s ", sign);
    put(p, t, b, PRODUCT);
    if (around >= PRODUCT) text_put(t, ")");
}

static void put_call(cpp_printer *p, text *t, const char *function, pto_expr x)
{
    const uint32_t n = pto_expr_arg_count(x);
    for (uint32_t i = 0; i + 1 < n; i++) {
        text_put(t, "%s(", function);
        put(p, t, pto_expr_arg(x, i), LOOSE);
        text_put(t, ", ");
    }
    put(p, t, pto_expr_arg(x, n - 1), LOOSE);
    for (uint32_t i = 0; i + 1 < n; i++) text_put(t, ")");
}

/* As int64_t, so that arithmetic has 64 bits. */
static void put_value(cpp_printer *p, text *t, pto_value v)
{
    const pto_dtype type = pto_type_dtype(pto_value_type(v));
    text_put(t, type == PTO_INDEX || type == PTO_I64 ? "%s" : "(int64_t)%s", cpp_value(p, v));
}

static void put(cpp_printer *p, text *t, pto_expr x, int around)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    const int own = kind == PTO_EXPR_SUM ? SUM : kind == PTO_EXPR_PRODUCT ? PRODUCT : TIGHT;
    const char *name = known(p, x);
    if (name != NULL) {
        text_put(t, "%s", name);
        return;
    }
    if (own <= around && own != TIGHT) text_put(t, "(");
    switch (kind) {
    case PTO_EXPR_CONST: text_put(t, "%lld", (long long)pto_expr_number(x)); break;
    case PTO_EXPR_SYMBOL: text_put(t, "%s", cpp_symbol(p, pto_expr_symbol_name(x))); break;
    case PTO_EXPR_VALUE: put_value(p, t, pto_expr_leaf(x)); break;
    case PTO_EXPR_SUM: put_sum(p, t, x); break;
    case PTO_EXPR_PRODUCT:
        for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
            if (i != 0) text_put(t, " * ");
            put(p, t, pto_expr_arg(x, i), PRODUCT);
        }
        break;
    case PTO_EXPR_FLOORDIV: put_division(p, t, x, "/", "floordiv", around); break;
    case PTO_EXPR_MOD: put_division(p, t, x, "%", "modulo", around); break;
    case PTO_EXPR_CEILDIV: put_division(p, t, x, NULL, "ceildiv", around); break;
    case PTO_EXPR_MIN: put_call(p, t, "least", x); break;
    case PTO_EXPR_MAX: put_call(p, t, "most", x); break;
    default: text_put(t, "0"); break;
    }
    if (own <= around && own != TIGHT) text_put(t, ")");
}

const char *cpp_index(cpp_printer *p, pto_expr x)
{
    text t = {.run = p->run};
    put(p, &t, x, LOOSE);
    return text_end(&t);
}

const char *cpp_factor(cpp_printer *p, pto_expr x)
{
    text t = {.run = p->run};
    put(p, &t, x, PRODUCT);
    return text_end(&t);
}

const char *cpp_relation(pto_op op)
{
    return pto_relation_sign(pto_relation_by_name(pto_attr_str_of(op, PTO_STR("relation"))));
}

/* ---- elements ---- */

const char *cpp_element(pto_dtype t)
{
    switch (t) {
    case PTO_F32: return "float";
    case PTO_F16: return "half";
    case PTO_BF16: return "bfloat16_t";
    case PTO_I8: return "int8_t";
    case PTO_I16: return "int16_t";
    case PTO_I32: return "int32_t";
    case PTO_I64: return "int64_t";
    case PTO_BOOL:
    case PTO_U8: return "uint8_t";
    case PTO_U16: return "uint16_t";
    case PTO_U32: return "uint32_t";
    case PTO_U64: return "uint64_t";
    case PTO_INDEX: return "int64_t";
    default: return NULL;
    }
}

const char *cpp_number(cpp_printer *p, pto_dtype t, pto_attr number)
{
    const char *c = cpp_element(t);
    if (c == NULL) return NULL;
    if (!pto_dtype_is_float(t)) {
        const long long n = (long long)pto_attr_i64(number);
        if (t == PTO_U64 && n < 0) return text_format(p->run, "%lluULL", (unsigned long long)n);
        /* The least number has no literal. */
        return n == INT64_MIN ? "INT64_MIN"
                              : text_format(p->run, n > INT32_MAX || n < INT32_MIN ? "%lldLL" : "%lld", n);
    }
    const double given = pto_attr_f64(number), x = ascend_rounded(given, t);
    const char *cast = t == PTO_F32 ? "" : text_format(p->run, "(%s)", c);
    if (isnan(x)) return text_format(p->run, "%s__builtin_nanf(\"\")", cast);
    if (isinf(x)) return text_format(p->run, "%s%s__builtin_inff()", cast, x < 0 ? "-" : "");
    char digits[64];
    (void)snprintf(digits, sizeof digits, "%.9g", x);
    return text_format(p->run, "%s%s%sf", cast, digits, strpbrk(digits, ".e") == NULL ? ".0" : "");
}
