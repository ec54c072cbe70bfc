/* Reads an expansion: steps divided by `;`, each `name = op operand ..`, the last one without a name. An operand is the
 * name of one of the op's operands, the name of the last step that has it, or a number. Alternatives are divided by
 * `|`; one that starts with `[attribute=word]` holds where the op has that. The grammar is that of ops/tensor.def. */
#include "expand_steps.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MAX = 40, WORD_MAX = 32 };

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

static pto_value number(pto_op op, pto_dtype dtype, double value)
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

/* A number is a tensor without dims, of the element type of the result. `type` becomes that of what the operands make:
 * theirs, or that of the result where they are broadcast. */
static pto_value find_operand(const steps *s, const char *word, pto_type *type)
{
    const pto_type all = pto_value_type(pto_op_result(s->op, 0));
    for (uint32_t i = s->count; i-- > 0;) {
        if (strcmp(s->known[i].name, word) != 0) continue;
        const pto_type own = pto_value_type(s->known[i].value);
        *type = !PTO_SOME(*type) || pto_type_same(*type, own) ? own : all;
        return s->known[i].value;
    }
    return number(s->op, pto_type_dtype(all), strtod(word, NULL));
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
    pto_spec spec = pto_spec_make(s->op.run, pto_kind_by_name(s->op.run, pto_s(text)));
    pto_type type = pto_type_none(s->op.run);
    for (read_word(s, word); word[0] != 0 && word[0] != ';'; read_word(s, word))
        pto_spec_operand(&spec, find_operand(s, word, &type));
    /* What a NaN does is the business of the formula. */
    if (strcmp(op_name, "maximum") == 0 || strcmp(op_name, "minimum") == 0)
        pto_spec_str(&spec, PTO_STR("nan"), PTO_STR("any"));
    (void)snprintf(text, sizeof text, "%s%s", result[0] != 0 ? "_" : "", result);
    pto_spec_result(&spec, type);
    pto_spec_name(&spec, pto_name_after(s->op, pto_s(text)));
    return pto_spec_value(&spec, pto_before(s->op));
}

/* Whether an alternative holds; its condition is read. */
static int read_condition(steps *s)
{
    char attribute[WORD_MAX], sign[WORD_MAX], word[WORD_MAX];
    while (*s->at == ' ') s->at++;
    if (*s->at != '[') return 1;
    s->at++;
    read_word(s, attribute);
    read_word(s, sign);
    read_word(s, word);
    word[strcspn(word, "]")] = 0;
    return pto_str_is(pto_attr_str_of(s->op, pto_s(attribute)), word);
}

pto_value expand_steps(pto_op op)
{
    static const char *const operand_names[][2] = {{"x", "a"}, {"y", "b"}};
    char name[WORD_MAX], word[WORD_MAX];
    steps s = {.op = op, .at = pto_kind_text(op.run, pto_op_kind(op), PTO_TEXT_EXPANSION).p};
    for (uint32_t i = 0; i < pto_op_operand_count(op) && i < 2; i++)
        for (uint32_t k = 0; k < 2; k++) name_value(&s, operand_names[i][k], pto_op_operand(op, i));
    while (!read_condition(&s)) {
        const char *next = strchr(s.at, '|');
        if (next == NULL) return pto_value_none(op.run);
        s.at = next + 1;
    }
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
