/* Integers as index expressions, comparisons, constants. */
#include "float_bits.h"
#include "import.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t leaves_of(pto_expr x)
{
    const uint32_t count = pto_expr_arg_count(x);
    uint32_t n = count == 0;
    for (uint32_t i = 0; i < count; i++) n += leaves_of(pto_expr_arg(x, i));
    return n;
}

/* Numbers and symbols alone tell it, symbols being 0 or more. */
static int is_natural(pto_expr x)
{
    switch (pto_expr_kind_of(x)) {
    case PTO_EXPR_CONST: return pto_expr_number(x) >= 0;
    case PTO_EXPR_SYMBOL: return 1;
    case PTO_EXPR_VALUE: return 0;
    case PTO_EXPR_SUM:
        if (pto_expr_number(x) < 0) return 0;
        for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
            if (pto_expr_coef(x, i) < 0) return 0;
        break;
    default: break;
    }
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
        if (!is_natural(pto_expr_arg(x, i))) return 0;
    return 1;
}

int import_is_at_least(const importer *im, pto_expr x, int64_t least)
{
    int64_t n;
    if (pto_expr_is_const(x, &n)) return n >= least;
    if (least <= 0 && is_natural(x)) return 1;
    if (!im->builds) return 0;
    const pto_op last = pto_block_last(im->block), at = PTO_SOME(last) ? last : pto_block_parent(im->block);
    return pto_expr_range(x, at, NULL).lo >= least;
}

/* ---- conditions ---- */

pto_expr import_truth(const importer *im, const import_name *condition)
{
    const pto_expr none = pto_expr_none(im->run), zero = pto_expr_const(im->run, 0), one = pto_expr_const(im->run, 1);
    const import_name *c = condition;
    if (c->kind == IMPORT_INDEX && c->dtype == PTO_BOOL) return c->index;
    if (c->kind == IMPORT_INDEX && PTO_SOME(c->index) && pto_expr_kind_of(c->index) == PTO_EXPR_CONST)
        return pto_expr_const(im->run, pto_expr_number(c->index) != 0);
    if (c->kind == IMPORT_SCALAR && !pto_dtype_is_float(c->dtype) && PTO_SOME(c->value)) {
        const pto_expr x = pto_expr_value(c->value);
        return c->dtype == PTO_BOOL ? x : pto_expr_min(one, pto_expr_max(x, pto_expr_scale(x, -1)));
    }
    if (c->kind != IMPORT_CONDITION || !PTO_SOME(c->index) || !PTO_SOME(c->right)) return none;
    const pto_expr over = pto_expr_sub(c->index, c->right), under = pto_expr_sub(c->right, c->index);
    /* 1 where what is given is above 0 */
    const pto_expr differs = pto_expr_min(one, pto_expr_max(over, under)),
                   above = pto_expr_min(one, pto_expr_max(over, zero)),
                   below = pto_expr_min(one, pto_expr_max(under, zero));
    switch (c->relation) {
    case PTO_RELATION_EQ: return pto_expr_sub(one, differs);
    case PTO_RELATION_NE: return differs;
    case PTO_RELATION_LT: return below;
    case PTO_RELATION_LE: return pto_expr_sub(one, above);
    case PTO_RELATION_GT: return above;
    default: return pto_expr_sub(one, below);
    }
}

pto_expr import_choose(pto_expr truth, pto_expr x, pto_expr y)
{
    return pto_expr_add(y, pto_expr_mul(truth, pto_expr_sub(x, y)));
}

/* ---- operands ---- */

pto_status import_number_of(const importer *im, const mlir_node *number, int64_t *out)
{
    char text[MLIR_NAME_MAX + 1], *end;
    memcpy(text, number->text.p, number->text.n);
    text[number->text.n] = 0;
    errno = 0;
    *out = strtoll(text, &end, 0);
    if (errno == 0 && *end == 0) return PTO_OK;
    return mlir_error(im->run, number->line, number->column, "pto.read-ascend/number",
                      "`%s` is not an integer of 64 bits", text);
}

static pto_status as_index(importer *im, const mlir_node *node, const import_name *name, pto_expr *out)
{
    if (name->kind == IMPORT_INDEX) {
        *out = name->index;
        return PTO_OK;
    }
    if (name->kind == IMPORT_SCALAR && !pto_dtype_is_float(name->dtype)) {
        *out = pto_expr_value(name->value);
        return PTO_OK;
    }
    return mlir_error(im->run, node->line, node->column, "pto.read-ascend/name", "`%%%.*s` is not an integer",
                      PTO_FMT(node->text));
}

enum { INTEGERS = 1 << IMPORT_INDEX | 1 << IMPORT_SCALAR };

pto_status import_index(importer *im, mlir_cursor *c, pto_expr *out)
{
    const mlir_node *node = NULL;
    const import_name *name;
    if (mlir_take(c, MLIR_NUMBER, &node)) {
        int64_t n;
        PTO_TRY(import_number_of(im, node, &n));
        *out = pto_expr_const(im->run, n);
        return PTO_OK;
    }
    if (!mlir_take(c, MLIR_VALUE, &node)) return mlir_expected(c, "an integer");
    PTO_TRY(import_find(im, node, INTEGERS, "an integer", &name));
    return as_index(im, node, name, out);
}

pto_status import_index_list(importer *im, mlir_cursor *c, uint32_t *count, pto_expr out[IMPORT_RANK_MAX])
{
    mlir_cursor in;
    *count = 0;
    if (!mlir_enter(c, '[', &in)) return mlir_expected(c, "a list of integers in `[` and `]`");
    while (in.at != NULL) {
        if (*count == IMPORT_RANK_MAX) return mlir_expected(&in, "no more than 5 dims, and `]`,");
        PTO_TRY(import_index(im, &in, &out[(*count)++]));
        if (in.at != NULL && (!mlir_take_mark(&in, ',') || in.at == NULL))
            return mlir_expected(&in, "`,` and an integer");
    }
    return *count != 0 ? PTO_OK : mlir_expected(&in, "an integer");
}

pto_status import_scalar(importer *im, const mlir_op *op, const import_name *name, pto_dtype dtype, pto_value *out)
{
    if (dtype == PTO_DTYPE_NONE) dtype = name->dtype;
    if (name->kind == IMPORT_SCALAR) {
        *out = name->value;
        return PTO_OK;
    }
    if (pto_dtype_is_float(dtype) != (name->kind == IMPORT_NUMBER))
        return import_refuse(im, op, "has the scalar `%%%.*s` of %s beside tiles of %s", PTO_FMT(name->name),
                             pto_dtype_name(name->dtype), pto_dtype_name(dtype));
    int64_t n = 0;
    const int is_number = name->kind == IMPORT_NUMBER || pto_expr_is_const(name->index, &n);
    pto_spec s = is_number ? IMPORT_SPEC(im, CONSTANT) : IMPORT_SPEC(im, INDEX_CAST);
    if (name->kind == IMPORT_NUMBER)
        pto_spec_float(&s, PTO_STR("value"), name->number);
    else if (is_number)
        pto_spec_int(&s, PTO_STR("value"), n);
    else
        pto_spec_exprs(&s, PTO_STR("from"), 1, &name->index);
    pto_spec_result(&s, pto_type_scalar(im->run, dtype));
    pto_spec_name(&s, import_plain_name(im, name->name));
    const pto_op made = import_build(im, &s);
    PTO_NEED(made);
    *out = pto_op_result(made, 0);
    return PTO_OK;
}

/* ---- arith ---- */

static pto_status define_index(importer *im, const mlir_op *op, pto_expr x, pto_dtype dtype, int is_known)
{
    if (is_known && !PTO_SOME(x)) return import_refuse(im, op, "leaves the range of 64 bits, or divides by 0");
    if (is_known && leaves_of(x) > IMPORT_LEAVES_MAX)
        return import_refuse(im, op, "makes an expression of more than %d names and numbers", IMPORT_LEAVES_MAX);
    const import_name made = {.kind = IMPORT_INDEX, .dtype = dtype, .index = is_known ? x : pto_expr_none(im->run)};
    return import_define(im, op->results, made);
}

/* The instance of a kernel is called what the text calls it. */
static pto_status name_grid(importer *im, const mlir_op *op, pto_expr x)
{
    const pto_str name = op->results->text;
    if (!im->builds || im->is_grid_named || name.p[name.n - 1] == '_' || name.p[0] < 'A') return PTO_OK;
    if (pto_expr_kind_of(x) != PTO_EXPR_VALUE || !pto_value_same(pto_expr_leaf(x), im->grid)) return PTO_OK;
    im->is_grid_named = 1;
    return pto_value_set_name(im->grid, import_plain_name(im, name));
}

static pto_status float_constant(importer *im, const mlir_op *op, const mlir_node *number, pto_dtype t)
{
    char text[MLIR_NAME_MAX + 1], *end;
    memcpy(text, number->text.p, number->text.n);
    text[number->text.n] = 0;
    const int is_hex = strchr(text, 'x') != NULL;
    errno = 0;
    const uint64_t bits = is_hex ? strtoull(text, &end, 16) : 0;
    const double x = is_hex ? (double)float_bits_number(t, (uint32_t)bits) : strtod(text, &end);
    if (*end != 0 || (is_hex && (errno != 0 || bits >> (8 * pto_dtype_bytes(t)) != 0)))
        return mlir_error(im->run, number->line, number->column, "pto.read-ascend/number", "`%s` is not a number of %s",
                          text, pto_dtype_name(t));
    return import_define(im, op->results, (import_name){.kind = IMPORT_NUMBER, .dtype = t, .number = x});
}

/* A number of f64 is an integer there, which stands beside tiles of integers. */
static pto_status wide_constant(importer *im, const mlir_op *op, const mlir_node *number)
{
    char text[MLIR_NAME_MAX + 1], *end;
    memcpy(text, number->text.p, number->text.n);
    text[number->text.n] = 0;
    const double x = strtod(text, &end);
    if (*end != 0 || !(fabs(x) < 0x1p63) || x != rint(x))
        return mlir_error(im->run, number->line, number->column, "pto.read-ascend/number",
                          "`%s` of f64 is not an integer of 64 bits, and others are not read", text);
    return define_index(im, op, pto_expr_const(im->run, (int64_t)x), PTO_I64, 1);
}

static pto_status constant(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *number = NULL, *type = NULL;
    int64_t n = 0;
    if (mlir_take_word(&c, "true") || mlir_take_word(&c, "false")) {
        n = pto_str_is(op->arguments->text, "true");
        PTO_TRY(mlir_at_end(&c));
        return define_index(im, op, pto_expr_const(im->run, n), PTO_BOOL, 1);
    }
    if (c.at != NULL && c.at->kind == MLIR_TYPE && pto_str_is(c.at->text, "dense"))
        return import_define(im, op->results, (import_name){.kind = IMPORT_COUNTS});
    if (!mlir_take(&c, MLIR_NUMBER, &number)) return mlir_expected(&c, "a number");
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    const pto_dtype t = import_dtype(type->text);
    if (pto_dtype_is_float(t)) return float_constant(im, op, number, t);
    if (pto_str_is(type->text, "f64")) return wide_constant(im, op, number);
    if (t == PTO_DTYPE_NONE)
        return import_refuse(im, op, "is of `%.*s`, which is not a type of scalars", PTO_FMT(type->text));
    PTO_TRY(import_number_of(im, number, &n));
    return define_index(im, op, pto_expr_const(im->run, n), t, 1);
}

/* What rounds towards 0. */
static pto_expr quotient(const importer *im, pto_expr a, pto_expr b)
{
    const pto_expr zero = pto_expr_const(im->run, 0);
    if (import_is_at_least(im, a, 0)) return pto_expr_floordiv(a, b);
    return pto_expr_sub(pto_expr_floordiv(pto_expr_max(a, zero), b),
                        pto_expr_floordiv(pto_expr_max(pto_expr_scale(a, -1), zero), b));
}

/* a - (a floordiv n) * n is a mod n. */
static pto_expr difference(pto_expr a, pto_expr b)
{
    const int is_sum = pto_expr_kind_of(b) == PTO_EXPR_SUM && pto_expr_arg_count(b) == 1;
    for (uint32_t i = 0; is_sum || i < pto_expr_arg_count(b); i++) {
        const pto_expr n = is_sum ? pto_expr_const(a.run, pto_expr_coef(b, 0)) : pto_expr_arg(b, i);
        int64_t number;
        const int divides = !pto_expr_is_const(n, &number) || number > 0;
        if (divides && pto_expr_same(pto_expr_mul(pto_expr_floordiv(a, n), n), b)) return pto_expr_mod(a, n);
        if (is_sum) break;
    }
    return pto_expr_sub(a, b);
}

typedef enum operation { ADD, SUB, MUL, DIV, REM, FLOOR_DIV, CEIL_DIV, MIN, MAX } operation;

static pto_expr compute(const importer *im, operation what, pto_expr a, pto_expr b)
{
    switch (what) {
    case ADD: return pto_expr_add(a, b);
    case SUB: return difference(a, b);
    case MUL: return pto_expr_mul(a, b);
    case DIV: return quotient(im, a, b);
    case REM:
        if (import_is_at_least(im, a, 0)) return pto_expr_mod(a, b);
        return pto_expr_sub(a, pto_expr_mul(quotient(im, a, b), b));
    case FLOOR_DIV: return pto_expr_floordiv(a, b);
    case CEIL_DIV: return pto_expr_ceildiv(a, b);
    case MIN: return pto_expr_min(a, b);
    default: return pto_expr_max(a, b);
    }
}

static pto_status binary(importer *im, const mlir_op *op, operation what)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *type = NULL;
    pto_expr a = pto_expr_none(im->run), b = a;
    PTO_TRY(import_index(im, &c, &a));
    if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,`");
    PTO_TRY(import_index(im, &c, &b));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    const pto_dtype t = import_dtype(type->text);
    const int is_known = PTO_SOME(a) && PTO_SOME(b);
    if (t == PTO_DTYPE_NONE || pto_dtype_is_float(t))
        return import_refuse(im, op, "is of `%.*s`; integers are read", PTO_FMT(type->text));
    const int divides = what == DIV || what == REM || what == FLOOR_DIV || what == CEIL_DIV;
    int64_t divisor = 1;
    if (is_known && divides && pto_expr_is_const(b, &divisor) && divisor < 1)
        return import_refuse(im, op, "divides by %lld; divisors are above 0", (long long)divisor);
    const pto_expr x = is_known ? compute(im, what, a, b) : pto_expr_none(im->run);
    if (is_known && PTO_SOME(x)) PTO_TRY(name_grid(im, op, x));
    return define_index(im, op, x, t, is_known);
}

enum { CONDITIONS = 1 << IMPORT_CONDITION | 1 << IMPORT_INDEX | 1 << IMPORT_SCALAR };

/* `arith.select %c, %x, %y : type` */
static pto_status choose(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *name = NULL, *type = NULL;
    const import_name *condition;
    pto_expr x = pto_expr_none(im->run), y = x;
    if (!mlir_take(&c, MLIR_VALUE, &name)) return mlir_expected(&c, "a condition");
    PTO_TRY(import_find(im, name, CONDITIONS, "a condition", &condition));
    const pto_expr truth = import_truth(im, condition);
    if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,`");
    PTO_TRY(import_index(im, &c, &x));
    if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,`");
    PTO_TRY(import_index(im, &c, &y));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    const int is_known = PTO_SOME(truth) && PTO_SOME(x) && PTO_SOME(y);
    return define_index(im, op, is_known ? import_choose(truth, x, y) : x, import_dtype(type->text), is_known);
}

/* `arith.andi`, `ori` and `xori` of conditions. */
static pto_status combine(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *names[2] = {NULL, NULL}, *type = NULL;
    const import_name *what;
    pto_expr sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        if (i != 0 && !mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,`");
        if (!mlir_take(&c, MLIR_VALUE, &names[i])) return mlir_expected(&c, "a condition");
        PTO_TRY(import_find(im, names[i], CONDITIONS, "a condition", &what));
        sides[i] = import_truth(im, what);
    }
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    if (!pto_str_is(type->text, "i1"))
        return import_refuse(im, op, "is of `%.*s`; conditions are read, of i1", PTO_FMT(type->text));
    const int is_known = PTO_SOME(sides[0]) && PTO_SOME(sides[1]);
    pto_expr x = pto_expr_none(im->run);
    if (is_known) {
        const pto_expr both = pto_expr_min(sides[0], sides[1]), one_of = pto_expr_max(sides[0], sides[1]);
        x = pto_str_is(op->name, "arith.andi")  ? both
            : pto_str_is(op->name, "arith.ori") ? one_of
                                                : pto_expr_sub(one_of, both);
    }
    return define_index(im, op, x, PTO_BOOL, is_known);
}

static pto_status cast(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *from = NULL, *to = NULL;
    pto_expr x = pto_expr_none(im->run);
    PTO_TRY(import_index(im, &c, &x));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &from));
    if (!mlir_take_word(&c, "to")) return mlir_expected(&c, "`to` and a type");
    PTO_TRY(import_take_type(&c, &to));
    PTO_TRY(mlir_at_end(&c));
    /* An integer of f64 stays one. */
    const int is_wide = pto_str_is(op->name, "arith.sitofp") && pto_str_is(to->text, "f64");
    const pto_dtype t = import_dtype(is_wide ? from->text : to->text);
    if (t == PTO_DTYPE_NONE) return import_refuse(im, op, "makes `%.*s`, which is not read", PTO_FMT(to->text));
    const pto_dtype own = import_dtype(from->text);
    if (PTO_SOME(x) && pto_str_is(op->name, "arith.extui") && pto_dtype_bytes(own) < 8)
        x = pto_expr_mod(x, pto_expr_const(im->run, INT64_C(1) << 8 * pto_dtype_bytes(own)));
    if (PTO_SOME(x)) PTO_TRY(name_grid(im, op, x));
    const pto_str name = op->results->text;
    const int is_scalar = pto_dtype_is_float(t) || (t != PTO_INDEX && t != PTO_I64 && name.p[name.n - 1] != '_');
    if (!is_scalar || !im->builds) {
        if (pto_dtype_is_float(t))
            return import_define(im, op->results, (import_name){.kind = IMPORT_SCALAR, .dtype = t});
        return define_index(im, op, x, t, PTO_SOME(x));
    }
    pto_spec s = IMPORT_SPEC(im, INDEX_CAST);
    pto_spec_exprs(&s, PTO_STR("from"), 1, &x);
    pto_spec_result(&s, pto_type_scalar(im->run, t));
    pto_spec_name(&s, import_plain_name(im, name));
    const pto_op made = import_build(im, &s);
    PTO_NEED(made);
    return import_define(im, op->results,
                         (import_name){.kind = IMPORT_SCALAR, .dtype = t, .value = pto_op_result(made, 0)});
}

static pto_status compare(importer *im, const mlir_op *op)
{
    static const struct {
        const char *word;
        pto_relation relation;
    } rows[] = {{"eq", PTO_RELATION_EQ},  {"ne", PTO_RELATION_NE},  {"slt", PTO_RELATION_LT},
                {"sle", PTO_RELATION_LE}, {"sgt", PTO_RELATION_GT}, {"sge", PTO_RELATION_GE}};
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *word = NULL, *type = NULL;
    import_name made = {.kind = IMPORT_CONDITION, .dtype = PTO_BOOL};
    uint32_t i = 0;
    if (!mlir_take(&c, MLIR_WORD, &word)) return mlir_expected(&c, "eq, ne, slt, sle, sgt or sge");
    while (i < sizeof rows / sizeof rows[0] && !pto_str_is(word->text, rows[i].word)) i++;
    if (i == sizeof rows / sizeof rows[0])
        return import_refuse(im, op, "compares by `%.*s`; read are eq, ne, slt, sle, sgt and sge", PTO_FMT(word->text));
    made.relation = rows[i].relation;
    if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,`");
    PTO_TRY(import_index(im, &c, &made.index));
    if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,`");
    PTO_TRY(import_index(im, &c, &made.right));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    return import_define(im, op->results, made);
}

pto_status import_arith(importer *im, const mlir_op *op)
{
    static const struct {
        const char *name;
        operation what;
    } rows[] = {{"arith.addi", ADD},           {"arith.subi", SUB},  {"arith.muli", MUL},
                {"arith.divsi", DIV},          {"arith.remsi", REM}, {"arith.floordivsi", FLOOR_DIV},
                {"arith.ceildivsi", CEIL_DIV}, {"arith.minsi", MIN}, {"arith.maxsi", MAX}};
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    if (pto_str_is(op->name, "arith.constant")) return constant(im, op);
    if (pto_str_is(op->name, "arith.cmpi")) return compare(im, op);
    if (pto_str_is(op->name, "arith.index_cast") || pto_str_is(op->name, "arith.sitofp") ||
        pto_str_is(op->name, "arith.extsi") || pto_str_is(op->name, "arith.extui") ||
        pto_str_is(op->name, "arith.trunci"))
        return cast(im, op);
    if (pto_str_is(op->name, "arith.select")) return choose(im, op);
    if (pto_str_is(op->name, "arith.andi") || pto_str_is(op->name, "arith.ori") || pto_str_is(op->name, "arith.xori"))
        return combine(im, op);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pto_str_is(op->name, rows[i].name)) return binary(im, op, rows[i].what);
    return import_refuse(
        im, op,
        "is not read; of arith are constant, cmpi, select, andi, ori, xori, index_cast, sitofp, extsi, "
        "extui, trunci, addi, subi, muli, divsi, remsi, floordivsi, ceildivsi, minsi and maxsi");
}
