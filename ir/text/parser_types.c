/* Types. Most modules use few of them again and again: the text up to the closing `>` is looked up first. */
#include "ir/text/parser_state.h"

#include <string.h>

enum { CACHED_TYPE_BYTES = 120 };

static const char *const dtype_names[] = {
#define DTYPE(ID, text, ...) text,
#include "ir/ops/types.def"
    NULL};
/* What a type can begin with. */
static const char *const type_names[] = {"tensor", "gm", "tile", "buffer", "channel",
#define DTYPE(ID, text, ...) text,
#include "ir/ops/types.def"
                                         NULL};

/* "one of a b c", with the nearest in front when there is one. */
status fail_name(parser *p, const diag_code_info *code, const char *what, const char *const *names)
{
    if (!may_report(p)) return FAILED;
    text_buffer list;
    text_init(&list);
    for (size_t i = 0; names[i] != NULL; i++) text_printf(&list, "%s%s", i == 0 ? "" : " ", names[i]);
    const char *near = str_nearest(text_of(&p->tok), names);
    if (near != NULL) {
        diag_error(p->diags, pos_of(p, &p->tok), code, "unknown %s %s; did you mean `%s`?", what, shown(p, &p->tok),
                   near);
    } else {
        diag_error(p->diags, pos_of(p, &p->tok), code, "unknown %s %s; known are %s", what, shown(p, &p->tok), list.p);
    }
    text_fini(&list);
    return FAILED;
}

static bool starts_expr(const parser *p)
{
    if (p->tok.kind != TOK_WORD) return true;
    return at_word(p, "ceildiv") || at_word(p, "min") || at_word(p, "max") || at_word(p, "mod") ||
           at_word(p, "floordiv");
}

static status check_extent(parser *p, const token *at, expr_id e, bool is_tile)
{
    int64_t v;
    bool is_const = expr_is_const(p->c, e, &v);
    if (is_tile && !is_const)
        FAIL(p, pos_of(p, at), E0204, "tile extents are positive constants; this one is symbolic");
    if (is_tile && v <= 0) {
        FAIL(p, pos_of(p, at), E0204, "the tile extent is %lld; tile extents are at least 1", (long long)v);
    }
    if (is_const && v < 0) FAIL(p, pos_of(p, at), E0208, "the extent is %lld; extents are at least 0", (long long)v);
    return OK;
}

/* `d0 x d1 x ... x dtype` */
static status parse_shape(parser *p, type_node *t)
{
    bool is_tile = t->kind == TYPE_TILE;
    while (starts_expr(p)) {
        token at = p->tok;
        expr_id e;
        TRY(parse_expr(p, &e));
        TRY(check_extent(p, &at, e, is_tile));
        if (t->rank == TYPE_MAX_RANK) {
            FAIL(p, pos_of(p, &at), E0202, "more than %d dims; join or split them by a reshape", TYPE_MAX_RANK);
        }
        t->dims[t->rank++] = e;
        TRY(expect_word(p, "x"));
    }
    t->dtype = (uint8_t)dtype_by_name(text_of(&p->tok));
    if (t->dtype == DTYPE_NONE) return fail_name(p, &E0201, "element type", dtype_names);
    if (is_tile && t->rank != 2) FAIL_HERE(p, E0202, "a tile has 2 dims, rows and columns; this one has %u", t->rank);
    next(p);
    return OK;
}

static status parse_panel(parser *p, type_node *t)
{
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    for (int i = 0; i < 3; i++) {
        if (i != 0) TRY(expect(p, ',', "`,`"));
        token at = p->tok;
        int64_t v;
        TRY(parse_int(p, false, &v));
        if (v < 1 || v > INT32_MAX) {
            FAIL(p, pos_of(p, &at), E0205, "panel sizes are from 1 to %d; this one is %lld", INT32_MAX, (long long)v);
        }
        t->panel[i] = (int32_t)v;
    }
    t->format = FORMAT_PANEL;
    return expect_close(p, ')', &open);
}

static status parse_strides(parser *p, type_node *t)
{
    token open = p->tok;
    TRY(expect(p, '[', "`[`"));
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i != 0) TRY(expect(p, ',', "`,` and a stride for each dim"));
        TRY(parse_expr(p, &t->strides[i]));
    }
    t->has_strides = 1;
    return expect_close(p, ']', &open);
}

/* After the shape of a tensor or gm type. */
static status parse_memory_clauses(parser *p, type_node *t)
{
    static const char *const of_gm[] = {"nd", "nz", "panel", "strides", NULL}, *const of_tensors[] = {"nd", "nz",
                                                                                                      "panel", NULL};
    bool has_format = false;
    while (accept(p, ',')) {
        if (t->has_strides) return fail_expected(p, "`>`");
        if (t->kind == TYPE_GM && accept_word(p, "strides")) {
            TRY(parse_strides(p, t));
            continue;
        }
        if (has_format) return fail_expected(p, t->kind == TYPE_GM ? "`strides`" : "`>`");
        has_format = true;
        if (accept_word(p, "panel")) {
            TRY(parse_panel(p, t));
        } else if (accept_word(p, "nz")) {
            t->format = FORMAT_NZ;
        } else if (!accept_word(p, "nd")) {
            return fail_name(p, &E0205, "format", t->kind == TYPE_GM ? of_gm : of_tensors);
        }
    }
    return OK;
}

static status parse_tile_clauses(parser *p, type_node *t)
{
    TRY(expect(p, ',', "`,` and a memory space (or `?`)"));
    if (!accept(p, '?')) TRY(parse_declared_name(p, NAME_SPACE, &t->space));
    return accept(p, ',') ? parse_declared_name(p, NAME_LAYOUT, &t->layout) : OK;
}

static uint32_t hash_text(const char *s, uint32_t n)
{
    uint64_t h = n;
    for (; n >= 8; n -= 8, s += 8) {
        uint64_t word;
        memcpy(&word, s, sizeof word);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    uint64_t rest = 0;
    memcpy(&rest, s, n);
    h = (h ^ rest) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32);
}

/* Length of the text from the current token to the first `>`; 0 when there is none near on this line. */
static uint32_t composite_length(const parser *p)
{
    const char *s = p->tok.start;
    for (uint32_t n = 0; n < CACHED_TYPE_BYTES; n++) {
        if (s[n] == '>') return n + 1;
        if (s[n] == 0 || s[n] == '\n' || s[n] == '/') return 0;
    }
    return 0;
}

static status check_elements(parser *p, const token *at, const type_node *t)
{
    const char *misfit = type_misfit(p->c, t);
    if (misfit != NULL) FAIL(p, pos_of(p, at), E0209, "%s", misfit);
    return OK;
}

static void take_cached(parser *p, const type_cache_entry *e, type_id *out)
{
    *out = e->type;
    p->lex.at = p->tok.start + e->n;
    next(p);
}

/* Most ops have the type of the op before. */
static bool is_last_type(const parser *p)
{
    const type_cache_entry *e = p->last_type;
    return e != NULL && e->n != 0 && strncmp(p->tok.start, e->p, e->n) == 0;
}

static status parse_composite(parser *p, type_kind kind, type_id *out)
{
    token first = p->tok;
    uint32_t length = composite_length(p);
    type_cache_entry *e = &p->type_cache[hash_text(first.start, length) % TYPE_CACHE_SIZE];
    if (length != 0 && e->n == length && memcmp(e->p, first.start, length) == 0) {
        p->last_type = e;
        take_cached(p, e, out);
        return OK;
    }
    type_node t = {.kind = (uint8_t)kind};
    bool no_values = p->no_values;
    p->no_values = true;
    next(p);
    token open = p->tok;
    TRY(expect(p, '<', "`<`"));
    TRY(parse_shape(p, &t));
    TRY(kind == TYPE_TILE ? parse_tile_clauses(p, &t) : parse_memory_clauses(p, &t));
    const char *end = p->tok.start + 1;
    TRY(expect_close(p, '>', &open));
    p->no_values = no_values;
    TRY(check_elements(p, &first, &t));
    *out = type_intern(p->c, &t);
    if (type_element_count(p->c, *out) == 0) {
        FAIL(p, pos_of(p, &first), E0203, "the number of elements of this type does not fit in 64 bits");
    }
    if (end == first.start + length) *e = (type_cache_entry){.p = first.start, .n = length, .type = *out};
    return OK;
}

/* `channel<tile<..>, depth = n, via = gm>` */
static status parse_channel(parser *p, type_id *out)
{
    static const char *const routes[] = {"gm", "direct", NULL};
    type_id tile;
    int64_t depth;
    next(p);
    token open = p->tok;
    TRY(expect(p, '<', "`<`"));
    if (!at_word(p, "tile")) return fail_expected(p, "the type of the tiles, `tile<..>`");
    TRY(parse_composite(p, TYPE_TILE, &tile));
    TRY(expect(p, ',', "`, depth = ` and a number"));
    TRY(expect_word(p, "depth"));
    TRY(expect(p, '=', "`=`"));
    token at = p->tok;
    TRY(parse_int(p, accept(p, '-'), &depth));
    if (depth < 1 || depth > CHANNEL_MAX_DEPTH) {
        FAIL(p, pos_of(p, &at), E0228, "the depth is %lld; a channel holds 1 to %d tiles", (long long)depth,
             CHANNEL_MAX_DEPTH);
    }
    TRY(expect(p, ',', "`, via = gm` or `, via = direct`"));
    TRY(expect_word(p, "via"));
    TRY(expect(p, '=', "`=`"));
    bool is_direct = at_word(p, "direct");
    if (!is_direct && !at_word(p, "gm")) return fail_name(p, &E0228, "route", routes);
    next(p);
    *out = type_channel(p->c, tile, (int32_t)depth, is_direct ? VIA_DIRECT : VIA_GM);
    return expect_close(p, '>', &open);
}

static type_kind composite_kind(str word)
{
    if (str_is(word, "tensor")) return TYPE_TENSOR;
    if (str_is(word, "tile")) return TYPE_TILE;
    if (str_is(word, "channel")) return TYPE_CHANNEL;
    return str_is(word, "gm") ? TYPE_GM : TYPE_NONE;
}

/* What MLIR calls our scalars. */
static dtype builtin_dtype(str word)
{
    for (uint32_t d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        const char *name = dtype_mlir((dtype)d);
        if (name != NULL && str_is(word, name)) return (dtype)d;
    }
    return DTYPE_NONE;
}

bool at_type(const parser *p)
{
    if (p->tok.kind == '!') return p->is_generic;
    if (p->tok.kind != TOK_WORD) return false;
    str word = text_of(&p->tok);
    if (composite_kind(word) != TYPE_NONE) return *(word.p + word.n) == '<';
    return dtype_by_name(word) != DTYPE_NONE || str_is(word, "buffer") ||
           (p->is_generic && builtin_dtype(word) != DTYPE_NONE);
}

/* `!pto.tensor<..>`: what follows `!pto.` becomes the current token. */
static status skip_dialect(parser *p)
{
    next(p);
    str word = text_of(&p->tok);
    if (p->tok.kind != TOK_WORD || !str_starts_with(word, "pto.")) return fail_expected(p, "a type");
    p->tok.p += 4;
    p->tok.start += 4;
    p->tok.n -= 4;
    p->tok.column += 4;
    return OK;
}

status parse_type(parser *p, type_id *out)
{
    if (p->is_generic && p->tok.kind == '!') TRY(skip_dialect(p));
    if (p->tok.kind != TOK_WORD) return fail_expected(p, "a type");
    if (is_last_type(p)) {
        take_cached(p, p->last_type, out);
        return OK;
    }
    str word = text_of(&p->tok);
    type_kind kind = composite_kind(word);
    if (kind == TYPE_CHANNEL) return parse_channel(p, out);
    if (kind != TYPE_NONE) return parse_composite(p, kind, out);
    if (str_is(word, "buffer")) {
        *out = type_buffer(p->c);
    } else {
        dtype d = p->is_generic ? builtin_dtype(word) : DTYPE_NONE;
        if (d == DTYPE_NONE) d = dtype_by_name(word);
        if (d == DTYPE_NONE && op_kind_by_name(p->ops, word) != OP_NONE) return fail_expected(p, "a type");
        if (d == DTYPE_NONE) return fail_name(p, &E0201, "type", type_names);
        TRY(check_elements(p, &p->tok, &(type_node){.kind = TYPE_SCALAR, .dtype = (uint8_t)d}));
        *out = type_scalar(p->c, d);
    }
    next(p);
    return OK;
}

status parse_types(parser *p)
{
    do {
        type_id t = 0;
        TRY(parse_type(p, &t));
        push_id(&p->types, t);
    } while (accept(p, ','));
    return OK;
}
