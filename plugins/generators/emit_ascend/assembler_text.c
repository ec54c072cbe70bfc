/* Names, element types and index expressions in the text of the vendor's assembler. Index arithmetic is `arith`; what a
 * block computed once is not computed again in it or inside of it. */
#include "assembler_text.h"

void assembler_line(assembler_printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (uint32_t i = 0; i < p->depth; i++) text_bytes(p->out, "  ", 2);
    text_vput(p->out, format, args);
    text_bytes(p->out, "\n", 1);
    va_end(args);
}

/* ---- names ---- */

/* A name that begins with a digit is a number there. */
const char *assembler_value(assembler_printer *p, pto_value v)
{
    for (pto_op op = pto_value_op(v); PTO_SOME(op) && ASCEND_IS(p->m, op, VIEW); op = pto_value_op(v))
        v = pto_op_operand(op, 0);
    const char *name = text_identifier(p->run, pto_value_name(v));
    const size_t digits = strspn(name, "0123456789");
    return text_format(p->run, "%%%s%s%s", digits > 0 && name[digits] != 0 ? "$" : "", name,
                       name[0] == 0 || name[strlen(name) - 1] == '_' ? "v" : "");
}

const char *assembler_symbol(assembler_printer *p, pto_str name)
{
    return text_format(p->run, "%%%s_", text_identifier(p->run, name));
}

const char *assembler_temporary(assembler_printer *p) { return text_format(p->run, "%%x%u_", ++p->temporary_count); }

const char *assembler_at_head(assembler_printer *p, const char *name, const char *number, const char *type)
{
    const char *definition = text_format(p->run, "%s = arith.constant %s : %s\n", name, number, type);
    if (p->constants->n == 0 || strstr(text_end(p->constants), definition) == NULL)
        text_put(p->constants, "    %s", definition);
    return name;
}

const char *assembler_constant(assembler_printer *p, int64_t n, const char *type)
{
    const char *name = text_format(p->run, "%%c%s%llu_%s_", n < 0 ? "m" : "",
                                   n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n, type);
    return assembler_at_head(p, name, text_format(p->run, "%lld", (long long)n), type);
}

/* ---- element types ---- */

const char *assembler_element(pto_dtype t)
{
    switch (t) {
    case PTO_F32:
    case PTO_F16:
    case PTO_BF16:
    case PTO_I8:
    case PTO_I16:
    case PTO_I32:
    case PTO_I64: return pto_dtype_name(t);
    case PTO_U8:
    case PTO_BOOL:
    case PTO_F8E4M3: /* no unit computes in them */
    case PTO_F8E5M2:
    case PTO_F8E8M0: return "ui8";
    case PTO_U16: return "ui16";
    case PTO_U32: return "ui32";
    case PTO_U64: return "ui64";
    default: return NULL;
    }
}

const char *assembler_number_type(pto_dtype t)
{
    const char *type = assembler_element(t);
    return type != NULL && type[0] == 'u' ? type + 1 : type;
}

/* ---- index expressions ---- */

/* `type` is index, or i64. */
static const char *expression(assembler_printer *p, pto_expr x, const char *type);

static const char *binary(assembler_printer *p, const char *op, const char *a, const char *b, const char *type)
{
    const char *name = assembler_temporary(p);
    assembler_line(p, "%s = arith.%s %s, %s : %s", name, op, a, b, type);
    return name;
}

const char *assembler_binary(assembler_printer *p, const char *op, const char *a, const char *b)
{
    return binary(p, op, a, b, "index");
}

static const char *sum(assembler_printer *p, pto_expr x, const char *type)
{
    const char *all = NULL;
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
        const int64_t factor = pto_expr_coef(x, i);
        const char *term = expression(p, pto_expr_arg(x, i), type);
        if (factor != 1) term = binary(p, "muli", term, assembler_constant(p, factor, type), type);
        all = all == NULL ? term : binary(p, "addi", all, term, type);
    }
    const int64_t rest = pto_expr_number(x);
    if (all == NULL) return assembler_constant(p, rest, type);
    return rest == 0 ? all : binary(p, "addi", all, assembler_constant(p, rest, type), type);
}

static const char *folded(assembler_printer *p, const char *op, pto_expr x, const char *type)
{
    const char *all = expression(p, pto_expr_arg(x, 0), type);
    for (uint32_t i = 1; i < pto_expr_arg_count(x); i++)
        all = binary(p, op, all, expression(p, pto_expr_arg(x, i), type), type);
    return all;
}

/* What is left of a division that rounds down. */
static const char *modulo(assembler_printer *p, pto_expr x, const char *type)
{
    if (pto_expr_range(pto_expr_arg(x, 0), p->at, NULL).lo >= 0) return folded(p, "remsi", x, type);
    const char *a = expression(p, pto_expr_arg(x, 0), type), *b = expression(p, pto_expr_arg(x, 1), type);
    const char *quotient = binary(p, "floordivsi", a, b, type);
    return binary(p, "subi", a, binary(p, "muli", quotient, b, type), type);
}

static const char *cast(assembler_printer *p, const char *x, const char *from, const char *to)
{
    if (strcmp(from, to) == 0) return x;
    const char *name = assembler_temporary(p);
    assembler_line(p, "%s = arith.index_cast %s : %s to %s", name, x, from, to);
    return name;
}

static int has_64_bits(pto_dtype t) { return t == PTO_I64 || t == PTO_U64; }

static const char *leaf(assembler_printer *p, pto_value v, const char *type)
{
    const pto_dtype t = pto_type_dtype(pto_value_type(v));
    const char *own = t == PTO_INDEX ? "index" : assembler_number_type(t);
    if (strcmp(own, type) == 0) return assembler_value(p, v);
    return cast(p, cast(p, assembler_value(p, v), own, "index"), "index", type);
}

static const char *compute(assembler_printer *p, pto_expr x, const char *type)
{
    switch (pto_expr_kind_of(x)) {
    case PTO_EXPR_SUM: return sum(p, x, type);
    case PTO_EXPR_PRODUCT: return folded(p, "muli", x, type);
    case PTO_EXPR_FLOORDIV:
        return folded(p, pto_expr_range(pto_expr_arg(x, 0), p->at, NULL).lo >= 0 ? "divsi" : "floordivsi", x, type);
    case PTO_EXPR_CEILDIV: return folded(p, "ceildivsi", x, type);
    case PTO_EXPR_MOD: return modulo(p, x, type);
    case PTO_EXPR_MIN: return folded(p, "minsi", x, type);
    case PTO_EXPR_MAX: return folded(p, "maxsi", x, type);
    default: return leaf(p, pto_expr_leaf(x), type);
    }
}

static const char *expression(assembler_printer *p, pto_expr x, const char *type)
{
    const int is_index = strcmp(type, "index") == 0;
    if (pto_expr_kind_of(x) == PTO_EXPR_CONST) return assembler_constant(p, pto_expr_number(x), type);
    if (pto_expr_kind_of(x) == PTO_EXPR_SYMBOL)
        return cast(p, assembler_symbol(p, pto_expr_symbol_name(x)), "index", type);
    const char *name = is_index ? index_names_find(&p->known, x) : NULL;
    if (name != NULL) return name;
    name = compute(p, x, type);
    if (is_index) index_names_add(&p->known, x, name);
    return name;
}

const char *assembler_index(assembler_printer *p, pto_expr x) { return expression(p, x, "index"); }

int assembler_needs_64_bits(pto_expr x)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    if (kind == PTO_EXPR_SYMBOL) return 0;
    if (kind == PTO_EXPR_CONST || kind == PTO_EXPR_SUM) {
        const int64_t n = pto_expr_number(x);
        if (n != (int32_t)n) return 1;
        if (kind == PTO_EXPR_CONST) return 0;
    } else if (pto_expr_arg_count(x) == 0)
        return has_64_bits(pto_type_dtype(pto_value_type(pto_expr_leaf(x))));
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
        if ((kind == PTO_EXPR_SUM && pto_expr_coef(x, i) != (int32_t)pto_expr_coef(x, i)) ||
            assembler_needs_64_bits(pto_expr_arg(x, i)))
            return 1;
    return 0;
}

const char *assembler_wide(assembler_printer *p, pto_expr x)
{
    return assembler_needs_64_bits(x) ? expression(p, x, "i64") : cast(p, assembler_index(p, x), "index", "i64");
}
