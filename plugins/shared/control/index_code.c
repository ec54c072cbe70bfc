#include "index_code.h"

#include <pto/arithmetic.h>
#include <pto/call.h>

#include <string.h>

/* The host bounds the depth and the number of arguments of expressions; both limits lie well above its own. */
enum { DEPTH_MAX = 128, STACK_MAX = 512 };

enum {
    POSTFIX_CONST, /* push number */
    POSTFIX_SLOT,  /* push slots[slot] */
    POSTFIX_TERM,  /* top += number * slots[slot] */
    POSTFIX_MADD,  /* pop b; top += number * b */
    POSTFIX_MUL,
    POSTFIX_FLOORDIV,
    POSTFIX_CEILDIV,
    POSTFIX_MOD,
    POSTFIX_MIN,
    POSTFIX_MAX,
    POSTFIX_UNKNOWN /* of a kind that this header does not have: never in a program */
};

bool index_code_reads(const index_code *c) { return c->what == POSTFIX_SLOT || c->what == POSTFIX_TERM; }

static void emit(index_pool *pool, uint32_t what, uint32_t slot, int64_t number)
{
    PTO_GROW(pool->run, pool->codes, pool->count, pool->capacity);
    pool->codes[pool->count++] = (index_code){what, slot, number};
}

static uint32_t slot_of(const index_leaves *leaves, pto_expr e)
{
    switch (pto_expr_kind_of(e)) {
    case PTO_EXPR_SYMBOL: return leaves->symbol(leaves->self, pto_expr_symbol_name(e));
    case PTO_EXPR_VALUE: return leaves->value(leaves->self, pto_expr_leaf(e));
    default: return UINT32_MAX;
    }
}

static bool is_leaf(pto_expr_kind kind) { return kind == PTO_EXPR_SYMBOL || kind == PTO_EXPR_VALUE; }

static uint32_t code_of(pto_expr_kind kind)
{
    switch (kind) {
    case PTO_EXPR_PRODUCT: return POSTFIX_MUL;
    case PTO_EXPR_FLOORDIV: return POSTFIX_FLOORDIV;
    case PTO_EXPR_CEILDIV: return POSTFIX_CEILDIV;
    case PTO_EXPR_MOD: return POSTFIX_MOD;
    case PTO_EXPR_MIN: return POSTFIX_MIN;
    case PTO_EXPR_MAX: return POSTFIX_MAX;
    default: return POSTFIX_UNKNOWN;
    }
}

typedef struct frame {
    pto_expr e;
    pto_expr_kind kind;
    uint32_t next, count;
} frame;

/* What follows when argument `f->next - 1` has left its value on the stack. */
static void join(index_pool *pool, const frame *f)
{
    if (f->kind == PTO_EXPR_SUM)
        emit(pool, POSTFIX_MADD, 0, pto_expr_coef(f->e, f->next - 1));
    else if (f->next > 1)
        emit(pool, code_of(f->kind), 0, 0);
}

/* A leaf as an argument of the frame, which is NULL at the top. False: it has no slot. */
static bool compile_leaf(index_pool *pool, const index_leaves *leaves, pto_expr e, const frame *f)
{
    const bool is_const = pto_expr_kind_of(e) == PTO_EXPR_CONST, in_sum = f != NULL && f->kind == PTO_EXPR_SUM;
    const uint32_t slot = is_const ? 0 : slot_of(leaves, e);
    if (slot == UINT32_MAX) return false;
    if (in_sum && !is_const) {
        emit(pool, POSTFIX_TERM, slot, pto_expr_coef(f->e, f->next - 1));
        return true;
    }
    if (is_const)
        emit(pool, POSTFIX_CONST, 0, pto_expr_number(e));
    else
        emit(pool, POSTFIX_SLOT, slot, 0);
    if (f != NULL) join(pool, f);
    return true;
}

bool index_compile(index_pool *pool, const index_leaves *leaves, pto_expr e, index_expr *out)
{
    frame frames[DEPTH_MAX];
    int depth = 0;
    *out = (index_expr){.first = pool->count};
    if (pto_expr_is_const(e, &out->constant)) return true;
    for (pto_expr at = e;;) {
        const pto_expr_kind kind = pto_expr_kind_of(at);
        if (kind == PTO_EXPR_CONST || is_leaf(kind)) {
            if (!compile_leaf(pool, leaves, at, depth ? &frames[depth - 1] : NULL)) return false;
        } else {
            if (depth == DEPTH_MAX || (kind != PTO_EXPR_SUM && code_of(kind) == POSTFIX_UNKNOWN)) return false;
            if (kind == PTO_EXPR_SUM) emit(pool, POSTFIX_CONST, 0, pto_expr_number(at));
            frames[depth++] = (frame){at, kind, 0, pto_expr_arg_count(at)};
        }
        while (depth && frames[depth - 1].next == frames[depth - 1].count) {
            depth--;
            if (depth) join(pool, &frames[depth - 1]);
        }
        if (!depth) break;
        frame *f = &frames[depth - 1];
        at = pto_expr_arg(f->e, f->next++);
    }
    out->count = pool->count - out->first;
    return true;
}

index_result index_eval(const index_code *codes, const index_expr *e, const int64_t *slots, int64_t *out)
{
    if (e->count == 0) {
        *out = e->constant;
        return INDEX_OK;
    }
    int64_t stack[STACK_MAX];
    uint32_t n = 0;
    bool bad = false;
    const index_code *end = codes + e->first + e->count;
    for (const index_code *c = codes + e->first; c < end; c++) {
        int64_t t;
        switch (c->what) {
        case POSTFIX_CONST:
        case POSTFIX_SLOT:
            if (n == STACK_MAX) return INDEX_OVERFLOW;
            stack[n++] = c->what == POSTFIX_CONST ? c->number : slots[c->slot];
            continue;
        case POSTFIX_TERM:
            if (n == 0) return INDEX_OVERFLOW;
            bad |= __builtin_mul_overflow(c->number, slots[c->slot], &t);
            bad |= __builtin_add_overflow(stack[n - 1], t, &stack[n - 1]);
            continue;
        default: break;
        }
        if (n < 2) return INDEX_OVERFLOW;
        const int64_t b = stack[--n];
        int64_t *top = &stack[n - 1];
        if (c->what >= POSTFIX_FLOORDIV && c->what <= POSTFIX_MOD && b < 1) return INDEX_DIVISOR;
        switch (c->what) {
        case POSTFIX_MADD:
            bad |= __builtin_mul_overflow(c->number, b, &t);
            bad |= __builtin_add_overflow(*top, t, top);
            break;
        case POSTFIX_MUL: bad |= __builtin_mul_overflow(*top, b, top); break;
        case POSTFIX_FLOORDIV: *top = pto_floor_div(*top, b); break;
        case POSTFIX_CEILDIV: *top = pto_ceil_div(*top, b); break;
        case POSTFIX_MOD: *top = *top - pto_floor_div(*top, b) * b; break;
        case POSTFIX_MIN: *top = b < *top ? b : *top; break;
        case POSTFIX_MAX: *top = b > *top ? b : *top; break;
        default: return INDEX_OVERFLOW;
        }
    }
    if (bad || n == 0) return INDEX_OVERFLOW;
    *out = stack[0];
    return INDEX_OK;
}
