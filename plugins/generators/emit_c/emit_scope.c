/* Blocks, and extents that have a name: an index expression that is more than a name or a number becomes a constant at
 * the head of the outermost block that has what it is made of, where all that is inside finds it. */
#include "emit.h"

typedef struct extent_name {
    pto_expr extent;
    const char *c;
} extent_name;

struct emit_scope {
    emit_scope *around;
    pto_block block;
    text head; /* lines before those of its ops */
    extent_name *names;
    uint32_t name_count, name_capacity;
    const char **checks;
    uint32_t check_count, check_capacity;
};

static int is_bound_inside(const emitter *e, pto_str symbol)
{
    for (uint32_t i = 0; i < e->bound_count; i++)
        if (pto_str_same(e->names[i].symbol, symbol)) return 1;
    return 0;
}

/* The outermost scope in which all of it is known before the first op; NULL: in none. What divides by 0 there is 0, and
 * not used. */
static emit_scope *scope_of(const emitter *e, pto_expr x)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    emit_scope *found = NULL;
    for (emit_scope *s = e->scope; s != NULL; s = s->around) found = s;
    if (kind == PTO_EXPR_SYMBOL) return is_bound_inside(e, pto_expr_symbol_name(x)) ? NULL : found;
    if (kind == PTO_EXPR_VALUE) {
        const pto_block block = pto_value_block(pto_expr_leaf(x));
        for (emit_scope *s = e->scope; s != NULL; s = s->around)
            if (PTO_SOME(block) && s->block.index == block.index) return s;
        return NULL;
    }
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
        emit_scope *s = scope_of(e, pto_expr_arg(x, i));
        if (s == NULL) return NULL;
        if (found == NULL || s->head.depth > found->head.depth) found = s;
    }
    return found;
}

/* At most one of all that are seen here is equal: what has a name gets no other. The very same expression, which most
 * often it is, is found without a comparison of numbers. */
static const char *name_of(const emitter *e, pto_expr x)
{
    for (const emit_scope *s = e->scope; s != NULL; s = s->around)
        for (uint32_t i = 0; i < s->name_count; i++)
            if (s->names[i].extent.index == x.index) return s->names[i].c;
    for (const emit_scope *s = e->scope; s != NULL; s = s->around)
        for (uint32_t i = 0; i < s->name_count; i++)
            if (pto_expr_equal(s->names[i].extent, x)) return s->names[i].c;
    return NULL;
}

/* Declares the name at the head of the scope; of NULL here, in the innermost one. */
static const char *give_name(emitter *e, emit_scope *at, pto_expr x, const char *c, const char *stem)
{
    const char *name = emit_spare(e, stem);
    text_line(at != NULL ? &at->head : e->out, "const int64_t %s = %s;", name, c);
    if (at == NULL) at = e->scope;
    PTO_GROW(e->run, at->names, at->name_count, at->name_capacity);
    at->names[at->name_count++] = (extent_name){x, name};
    return name;
}

const char *emit_extent(emitter *e, pto_expr x, const char *stem)
{
    const char *c = emit_index(e, x);
    if (strpbrk(c, " (") == NULL) return c;
    const char *name = name_of(e, x);
    return name != NULL ? name : give_name(e, scope_of(e, x), x, c, stem);
}

int emit_is_known_around(const emitter *e, pto_expr x)
{
    const emit_scope *s = scope_of(e, x);
    return s != NULL && s != e->scope;
}

const char *emit_quotient_name(emitter *e, pto_expr x, const char *(*quotient)(emitter *e, pto_expr x))
{
    const char *name = name_of(e, x);
    emit_scope *at = name == NULL ? scope_of(e, x) : NULL;
    if (at == NULL) return name;
    const char *c = quotient(e, x);
    return give_name(e, at, x, c, "index");
}

int emit_is_checked(emitter *e, const char *condition)
{
    for (const emit_scope *s = e->scope; s != NULL; s = s->around)
        for (uint32_t i = 0; i < s->check_count; i++)
            if (strcmp(s->checks[i], condition) == 0) return 1;
    emit_scope *s = e->scope;
    if (s == NULL) return 0;
    PTO_GROW(e->run, s->checks, s->check_count, s->check_capacity);
    s->checks[s->check_count++] = condition;
    return 0;
}

pto_status emit_block(emitter *e, pto_block block)
{
    text *const out = e->out;
    text body = {.run = e->run, .depth = out->depth};
    emit_scope scope = {.around = e->scope, .block = block, .head = {.run = e->run, .depth = out->depth}};
    e->scope = &scope;
    e->out = &body;
    PTO_TRY(emit_ops(e, block));
    e->scope = scope.around;
    e->out = out;
    if (scope.head.n != 0) text_bytes(out, scope.head.p, scope.head.n);
    if (body.n != 0) text_bytes(out, body.p, body.n);
    return PTO_OK;
}
