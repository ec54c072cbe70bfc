#include "ir/verifier_parts.h"

#include "ir/ranges.h"

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

status check_index_count(const module *m, op_id o, const char *attr, uint32_t want)
{
    uint32_t have = op_index_count(m, o, attr);
    if (have == want) return OK;
    return op_error(m, o, &E0327, "has %" PRIu32 " expression%s in `%s` and needs %" PRIu32, have, have == 1 ? "" : "s",
                    attr, want);
}

static status check_one_valid(module *m, op_id o, type_id tile, expr_id e, uint32_t dim)
{
    static const char *const what[] = {"rows", "columns"};
    int64_t capacity;
    if (e == 0 || !expr_is_const(module_context(m), type_at(module_context(m), tile)->dims[dim], &capacity)) return OK;
    expr_range r = op_expr_range(m, o, e);
    if (r.lo != INT64_MIN && r.lo > capacity)
        return op_error(m, o, &E0224, "has %s valid %s, at least %" PRId64 ", in a %s with room for %" PRId64,
                        expr_words(m, o, e), what[dim], r.lo, type_words(m, tile), capacity);
    if (r.hi != INT64_MAX && r.hi < 0)
        return op_error(m, o, &E0224, "has %s valid %s, at most %" PRId64 "; they cannot be fewer than 0",
                        expr_words(m, o, e), what[dim], r.hi);
    return OK;
}

status check_valid_fits(module *m, op_id o, type_id tile, expr_id rows, expr_id columns)
{
    TRY(check_one_valid(m, o, tile, rows, 0));
    return check_one_valid(m, o, tile, columns, 1);
}

bool valid_same(module *m, op_id o, const expr_id a[2], const expr_id b[2])
{
    return op_expr_same(m, o, a[0], b[0]) && op_expr_same(m, o, a[1], b[1]);
}

bool types_agree(module *m, op_id at, type_id a, type_id b)
{
    if (a == b) return true;
    const type_node *x = type_at(module_context(m), a);
    const type_node *y = type_at(module_context(m), b);
    if (x->kind != y->kind || x->dtype != y->dtype || x->rank != y->rank || x->space != y->space ||
        x->layout != y->layout || x->format != y->format || x->has_strides != y->has_strides)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (x->panel[i] != y->panel[i]) return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!op_expr_same(m, at, x->dims[i], y->dims[i])) return false;
        if (x->has_strides && !op_expr_same(m, at, x->strides[i], y->strides[i])) return false;
    }
    return true;
}
