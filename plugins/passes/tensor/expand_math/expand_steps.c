/* Reads an expansion: steps divided by `;`, each `name = op operand ..`, the last one without a name. An operand is the
 * name of one of the op's operands, the name of the last step that has it, or a number. Alternatives are divided by
 * `|`; one that starts with `[attribute=word]` holds where the op has that, with `[bool]`, `[integer]` or `[number]`
 * for operands of that kind. The grammar is that of ops/tensor.def. */
#include "expand_steps.h"

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
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
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

/* A number is a tensor without dims. `shape` becomes that of what the operands make: theirs, or that of the result
 * where they are broadcast. */
static pto_value find_operand(const steps *s, const char *word, pto_type *shape)
{
    const pto_type all = pto_value_type(pto_op_result(s->op, 0));
    for (uint32_t i = s->count; i-- > 0;) {
        if (strcmp(s->known[i].name, word) != 0) continue;
        const pto_type own = pto_type_with_dtype(s->op.run, pto_value_type(s->known[i].value), pto_type_dtype(all));
        *shape = !PTO_SOME(*shape) || pto_type_same(*shape, own) ? own : all;
        return s->known[i].value;
    }
    return expand_number(s->op, computed_type(s->op), strtod(word, NULL));
}

static void name_value(steps *s, const char *name, pto_value value)
{
    if (s->count == STEPS_MAX) return;
    (void)snprintf(s->known[s->count].name, WORD_MAX, "%s", name);
    s->known[s->count++].value = value;
}

/* `op operand ..`, up to a `;` or the end. */
static pto_value make_step(steps *s, const char *op_name, const char *result)
{
    char text[WORD_MAX + 16], word[WORD_MAX];
    (void)snprintf(text, sizeof text, "tensor.%s", op_name);
    const pto_run *run = s->op.run;
    const pto_kind_id kind = pto_kind_by_name(run, pto_s(text));
    pto_spec spec = pto_spec_make(run, kind);
    pto_type shape = pto_type_none(run);
    pto_dtype dtype = (pto_dtype)pto_kind_column(run, kind, PTO_COLUMN_MAKES);
    const int makes_type = dtype != PTO_DTYPE_NONE;
    for (read_word(s, word); word[0] != 0 && word[0] != ';'; read_word(s, word)) {
        const pto_value operand = find_operand(s, word, &shape);
        if (!makes_type && PTO_SOME(operand)) dtype = pto_type_dtype(pto_value_type(operand));
        pto_spec_operand(&spec, operand);
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

pto_value expand_steps(pto_op op)
{
    char name[WORD_MAX], word[WORD_MAX];
    steps s = {.op = op};
    for (uint32_t i = 0; i < pto_op_operand_count(op) && i < 3; i++) {
        const pto_str operand = pto_kind_text(op.run, pto_op_kind(op), PTO_TEXT_OPERAND_1 + i);
        (void)snprintf(name, sizeof name, "%.*s", PTO_FMT(operand));
        name_value(&s, name, pto_op_operand(op, i));
    }
    if (!find_alternative(&s)) return pto_value_none(op.run);
    for (;;) {
        read_word(&s, name);
        const char *behind = s.at;
        read_word(&s, word);
        if (word[0] != '=') {
            s.at = behind;
            return make_step(&s, name, "");
        }
        read_word(&s, word);
        const pto_value value = make_step(&s, word, name);
        if (!PTO_SOME(value)) return value;
        name_value(&s, name, value);
    }
}
