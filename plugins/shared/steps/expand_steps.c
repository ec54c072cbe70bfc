/* Reads an expansion: steps divided by `;`, each `name = op operand ..`, the last one without a name. An operand is the
 * name of one of the op's operands, the name of the last step that has it, or a number. Alternatives are divided by
 * `|`; one that starts with `[attribute=word]` holds where the op has that, with `[bool]`, `[integer]` or `[number]`
 * for operands of that kind. The grammar is that of ops/tensor.def. Formulas of passes may write `op:type` and
 * `op:type:mode` for a result of another element type, `@op` for one with the attributes and the result's shape of the
 * op that they stand for, and `lowest` and `highest` for numbers of their type. */
#include "expand_steps.h"

#include "cast_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MAX = 128, WORD_MAX = 32 };

typedef struct named_value {
    char name[WORD_MAX];
    pto_value value;
} named_value;

typedef struct steps {
    pto_op op;
    const char *at; /* what is left of the text, which ends in NUL */
    pto_type all;   /* shape of what operands of several shapes make */
    pto_dtype numbers;
    named_value known[STEPS_MAX];
    uint32_t count;
} steps;

/* The next word or sign; empty at the end of an alternative. */
static void read_word(steps *s, char word[WORD_MAX])
{
    size_t n = 0;
    while (*s->at == ' ') s->at++;
    if (*s->at == ';' || *s->at == '=') {
        word[n++] = *s->at++;
    } else {
        while (*s->at != 0 && strchr(" ;=|", *s->at) == NULL) {
            if (n + 1 < WORD_MAX) word[n++] = *s->at;
            s->at++;
        }
    }
    word[n] = 0;
}

/* The element type that the op computes in: of its first operand other than truth values. */
static pto_dtype computed_type(pto_op op)
{
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(op, i)));
        if (t != PTO_BOOL) return t;
    }
    return PTO_BOOL;
}

pto_value expand_number(pto_op op, pto_dtype dtype, double value)
{
    pto_spec s = pto_spec_make(op.run, pto_kind_by_name(op.run, PTO_STR("tensor.constant")));
    if (pto_dtype_is_float(dtype))
        pto_spec_float(&s, PTO_STR("value"), value);
    else
        pto_spec_int(&s, PTO_STR("value"), (int64_t)value);
    pto_spec_result(&s, pto_type_tensor(op.run, dtype, 0, NULL));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_c")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value number_of(const steps *s, const char *word)
{
    const int bits = 8 * (int)pto_dtype_bytes(s->numbers);
    const double above = ldexp(1, bits - 1);
    const double value = strcmp(word, "lowest") == 0    ? -above
                         : strcmp(word, "highest") == 0 ? above - 1
                                                        : strtod(word, NULL);
    return expand_number(s->op, s->numbers, value);
}

static int is_one(pto_expr e)
{
    int64_t n;
    return pto_expr_is_const(e, &n) && n == 1;
}

/* What two shapes are broadcast to, dims counted from the last; s->all has the dims of which that is not known. */
static pto_type broadcast_of(const steps *s, pto_type a, pto_type b)
{
    if (pto_type_same(a, b)) return a;
    const uint32_t rank_a = pto_type_rank(a), rank_b = pto_type_rank(b), rank = rank_a > rank_b ? rank_a : rank_b;
    const uint32_t rank_all = pto_type_rank(s->all);
    pto_expr dims[PTO_MAX_DIMS];
    if (rank > rank_all) return s->all;
    for (uint32_t i = 1; i <= rank; i++) {
        const pto_expr one = pto_expr_const(s->op.run, 1), x = i <= rank_a ? pto_type_dim(a, rank_a - i) : one,
                       y = i <= rank_b ? pto_type_dim(b, rank_b - i) : one;
        dims[rank - i] = is_one(x) || pto_expr_equal(x, y) ? y : is_one(y) ? x : pto_type_dim(s->all, rank_all - i);
    }
    return pto_type_tensor(s->op.run, pto_type_dtype(a), rank, dims);
}

/* A number is a tensor without dims. `shape` becomes that of what the operands make. */
static pto_value find_operand(const steps *s, const char *word, pto_type *shape)
{
    for (uint32_t i = s->count; i-- > 0;) {
        if (strcmp(s->known[i].name, word) != 0) continue;
        const pto_type own = pto_type_with_dtype(s->op.run, pto_value_type(s->known[i].value), pto_type_dtype(s->all));
        *shape = PTO_SOME(*shape) ? broadcast_of(s, *shape, own) : own;
        return s->known[i].value;
    }
    return number_of(s, word);
}

static void name_value(steps *s, const char *name, pto_value value)
{
    if (s->count == STEPS_MAX) return;
    (void)snprintf(s->known[s->count].name, WORD_MAX, "%s", name);
    s->known[s->count++].value = value;
}

/* Cuts `:type` and `:mode` off the name of an op. */
static pto_dtype cut_type(char *op_name, const char **mode)
{
    char *type = strchr(op_name, ':');
    *mode = NULL;
    if (type == NULL) return PTO_DTYPE_NONE;
    *type++ = 0;
    char *end = strchr(type, ':');
    if (end != NULL) {
        *end = 0;
        *mode = end + 1;
    }
    for (pto_dtype t = PTO_F32; t < PTO_DTYPE_COUNT; t++)
        if (strcmp(pto_dtype_name(t), type) == 0) return t;
    return PTO_DTYPE_NONE;
}

/* `op operand ..`, up to a `;` or the end. */
static pto_value make_step(steps *s, char *op_name, const char *result)
{
    char text[WORD_MAX + 16], word[WORD_MAX];
    const char *mode;
    const pto_dtype given = cut_type(op_name, &mode);
    const int is_as_op = op_name[0] == '@';
    (void)snprintf(text, sizeof text, "tensor.%s", op_name + is_as_op);
    const pto_run *run = s->op.run;
    const pto_kind_id kind = pto_kind_by_name(run, pto_s(text));
    pto_spec spec = pto_spec_make(run, kind);
    pto_type shape = pto_type_none(run);
    pto_dtype from = PTO_DTYPE_NONE, dtype = (pto_dtype)pto_kind_column(run, kind, PTO_COLUMN_MAKES);
    const int makes_type = dtype != PTO_DTYPE_NONE;
    for (read_word(s, word); word[0] != 0 && word[0] != ';'; read_word(s, word)) {
        const pto_value operand = find_operand(s, word, &shape);
        if (PTO_SOME(operand)) from = pto_type_dtype(pto_value_type(operand));
        if (!makes_type && PTO_SOME(operand)) dtype = from;
        pto_spec_operand(&spec, operand);
    }
    if (given != PTO_DTYPE_NONE) dtype = given;
    if (mode != NULL) pto_spec_str(&spec, PTO_STR("mode"), pto_s(mode));
    if (is_as_op) {
        if (strcmp(op_name, "@cast") == 0)
            cast_put_options_of(&spec, from, dtype, s->op);
        else
            pto_spec_attrs_of(&spec, s->op);
        shape = pto_value_type(pto_op_result(s->op, 0));
    }
    /* What a NaN does is the business of the formula. */
    if (strcmp(op_name, "maximum") == 0 || strcmp(op_name, "minimum") == 0)
        pto_spec_str(&spec, PTO_STR("nan"), PTO_STR("any"));
    (void)snprintf(text, sizeof text, "%s%s", result[0] != 0 ? "_" : "", result);
    pto_spec_result(&spec, pto_type_with_dtype(run, shape, dtype));
    pto_spec_name(&spec, pto_name_after(s->op, pto_s(text)));
    return pto_spec_value(&spec, pto_before(s->op));
}

/* `word` ends in `]`. */
static int is_of_kind(pto_dtype t, const char *word)
{
    const int is_bool = t == PTO_BOOL, is_integer = !is_bool && !pto_dtype_is_float(t),
              is_unsigned = t >= PTO_U8 && t <= PTO_U64;
    if (strcmp(word, "bool]") == 0) return is_bool;
    if (strcmp(word, "integer]") == 0) return is_integer;
    if (strcmp(word, "signed]") == 0) return is_integer && !is_unsigned;
    if (strcmp(word, "unsigned]") == 0) return is_unsigned;
    return !is_bool;
}

/* Whether an alternative holds; its condition is read. */
static int read_condition(steps *s)
{
    char attribute[WORD_MAX], sign[WORD_MAX], word[WORD_MAX];
    while (*s->at == ' ') s->at++;
    if (*s->at != '[') return 1;
    s->at++;
    read_word(s, attribute);
    const char *end = strchr(attribute, ']');
    if (end != NULL) {
        const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(s->op, pto_op_operand_count(s->op) - 1)));
        return is_of_kind(t, attribute);
    }
    read_word(s, sign);
    read_word(s, word);
    word[strcspn(word, "]")] = 0;
    return pto_str_is(pto_attr_str_of(s->op, pto_s(attribute)), word);
}

/* Goes to the first alternative that holds; 0: there is none. */
static int find_alternative(steps *s)
{
    s->at = pto_kind_text(s->op.run, pto_op_kind(s->op), PTO_TEXT_EXPANSION).p;
    if (s->at == NULL || *s->at == 0) return 0;
    while (!read_condition(s)) {
        const char *next = strchr(s->at, '|');
        if (next == NULL) return 0;
        s->at = next + 1;
    }
    return 1;
}

int expand_has_steps(pto_op op)
{
    steps s = {.op = op};
    return find_alternative(&s);
}

/* Up to the step without a name, or the end. */
static pto_value make_all(steps *s)
{
    char name[WORD_MAX], word[WORD_MAX];
    for (;;) {
        read_word(s, name);
        if (name[0] == 0) return s->known[s->count - 1].value;
        const char *behind = s->at;
        read_word(s, word);
        if (word[0] != '=') {
            s->at = behind;
            return make_step(s, name, "");
        }
        read_word(s, word);
        const pto_value value = make_step(s, word, name);
        if (!PTO_SOME(value)) return value;
        name_value(s, name, value);
    }
}

pto_value expand_formula(pto_op op, const char *text, pto_type all, pto_dtype numbers, uint32_t given_count,
                         const expand_operand *given, uint32_t count, expand_operand *made)
{
    steps s = {.op = op, .at = text, .all = all, .numbers = numbers};
    for (uint32_t i = 0; i < given_count; i++) name_value(&s, given[i].name, given[i].value);
    const pto_value last = make_all(&s);
    for (uint32_t i = 0; i < count; i++) {
        made[i].value = pto_value_none(op.run);
        for (uint32_t k = 0; k < s.count; k++)
            if (strcmp(s.known[k].name, made[i].name) == 0) made[i].value = s.known[k].value;
    }
    return last;
}

pto_value expand_steps(pto_op op)
{
    char name[WORD_MAX];
    steps s = {.op = op, .all = pto_value_type(pto_op_result(op, 0)), .numbers = computed_type(op)};
    for (uint32_t i = 0; i < pto_op_operand_count(op) && i < 3; i++) {
        const pto_str operand = pto_kind_text(op.run, pto_op_kind(op), PTO_TEXT_OPERAND_1 + i);
        (void)snprintf(name, sizeof name, "%.*s", PTO_FMT(operand));
        name_value(&s, name, pto_op_operand(op, i));
    }
    if (!find_alternative(&s)) return pto_value_none(op.run);
    return make_all(&s);
}
