/* Lines, index expressions and numbers of C++. */
#include "c_types.h"
#include "cpp_print.h"
#include "index_text.h"

#include <pto/relation.h>

#include <math.h>

void cpp_begin(cpp_printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vput(p->out, format, args);
    text_bytes(p->out, "\n{\n", 3);
    p->out->depth = 1;
    va_end(args);
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

static const char *known(void *self, pto_expr x)
{
    const cpp_printer *p = self;
    return index_names_find(&p->known, x);
}

static const char *symbol(void *self, pto_str name) { return cpp_symbol(self, name); }
static const char *value(void *self, pto_value v) { return cpp_value(self, v); }

static int is_natural(void *self, pto_expr x)
{
    const cpp_printer *p = self;
    const pto_expr_kind kind = pto_expr_kind_of(x);
    if (known(self, x) != NULL || pto_expr_range(x, p->at, NULL).lo >= 0) return 1;
    if (kind == PTO_EXPR_CONST || kind == PTO_EXPR_SYMBOL || kind == PTO_EXPR_VALUE || kind == PTO_EXPR_MOD) return 0;
    if (kind == PTO_EXPR_SUM && pto_expr_number(x) < 0) return 0;
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
        if (!is_natural(self, pto_expr_arg(x, i)) || (kind == PTO_EXPR_SUM && pto_expr_coef(x, i) < 0)) return 0;
    return 1;
}

static index_words words_of(cpp_printer *p)
{
    return (index_words){.self = p,
                         .symbol = symbol,
                         .value = value,
                         .name = known,
                         .floordiv = "floordiv",
                         .ceildiv = "ceildiv",
                         .mod = "modulo",
                         .min = "least",
                         .max = "most",
                         .is_natural = is_natural};
}

const char *cpp_index(cpp_printer *p, pto_expr x)
{
    const index_words words = words_of(p);
    return index_text(p->run, &words, x);
}

const char *cpp_factor(cpp_printer *p, pto_expr x)
{
    const index_words words = words_of(p);
    return index_text_factor(p->run, &words, x);
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
    /* No unit computes in them: they are moved, and what is made of them is made of their bits. */
    case PTO_F8E4M3:
    case PTO_F8E5M2:
    case PTO_F8E8M0: return c_integer_type(PTO_U8);
    default: return c_integer_type(t);
    }
}

int cpp_has_type(pto_value parameter)
{
    const pto_type type = pto_value_type(parameter);
    const pto_dtype t = pto_type_dtype(type);
    return cpp_element(t) != NULL && (pto_type_kind_of(type) == PTO_TYPE_GM || !pto_dtype_is_byte_float(t));
}

const char *cpp_number(cpp_printer *p, pto_dtype t, pto_attr number)
{
    const char *c = cpp_element(t);
    if (c == NULL || pto_dtype_is_byte_float(t)) return NULL;
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
