#include "ir/op_message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

status op_error(const module *m, op_id o, const diag_code_info *code, const char *format, ...)
{
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_engine *d = context_diags(module_context(m));
    op_name_diag(d, m, o, DIAG_ERROR);
    diag_error(d, op_pos(m, o), code, "`%s` %s", op_info_of(m, o)->name, message);
    return FAILED;
}

void op_note(const module *m, op_id o, const char *text)
{
    diag_engine *d = context_diags(module_context(m));
    op_name_diag(d, m, o, DIAG_NOTE);
    diag_note(d, op_pos(m, o), "%s", text);
}

static const char *keep_words(const module *m, text_buffer *t)
{
    enum { LONGEST = 400 };
    arena *a = context_arena(module_context(m));
    bool cut = t->n > LONGEST;
    size_t n = cut ? LONGEST : t->n;
    while (cut && n > 0 && ((unsigned char)t->p[n] & 0xc0) == 0x80) n--;
    char *words = arena_alloc(a, n + 4);
    snprintf(words, n + 4, "%.*s%s", (int)n, t->n == 0 ? "" : t->p, cut ? "..." : "");
    text_fini(t);
    return words;
}

const char *type_words(const module *m, type_id t)
{
    text_buffer text;
    text_init(&text);
    type_print(module_context(m), t, &text);
    return keep_words(m, &text);
}

const char *value_words(const module *m, value_id v)
{
    text_buffer text;
    text_init(&text);
    value_print_name(m, v, &text);
    return keep_words(m, &text);
}

typedef struct slot_names {
    const module *m;
    op_id o;
} slot_names;

static void put_slot_name(void *self, text_buffer *out, uint32_t slot)
{
    const slot_names *s = self;
    if (slot < op_operand_count(s->m, s->o))
        value_print_name(s->m, op_operand(s->m, s->o, slot), out);
    else
        text_printf(out, "d%" PRIu32, slot);
}

typedef struct value_slots {
    const module *m;
    op_id o;
} value_slots;

/* Value leaves back to slots where the op has the value among its operands, so that names can be printed. */
static expr_id slot_of_value(void *self, uint32_t v)
{
    const value_slots *s = self;
    for (uint32_t i = 0; i < op_operand_count(s->m, s->o); i++)
        if (op_operand(s->m, s->o, i) == v) return expr_slot(module_context(s->m), i);
    return 0;
}

const char *expr_words(const module *m, op_id o, expr_id e)
{
    value_slots values = {m, o};
    expr_substitution to_slots = {.value = slot_of_value, .self = &values};
    expr_id e_slots = expr_substitute(module_context(m), e, &to_slots);
    text_buffer text;
    text_init(&text);
    slot_names names = {m, o};
    expr_print(module_context(m), e_slots == 0 ? e : e_slots, &text, put_slot_name, &names);
    return keep_words(m, &text);
}
