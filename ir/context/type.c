/* Types and their text.
 *
 * For the reader of types: dims are separated by the word `x`, and a dim is any expression without parentheses around
 * it: `tensor<32 * $B x 256 x f32>`, `gm<$B + 1 x min(16, $B) x f32>`. That is unambiguous, because names in an
 * expression begin with `$`, so a bare `x` can only end a dim, and a bare word other than `min`, `max` and `ceildiv` at
 * the start of a dim can only be the element type, which ends the list. The words `x`, commas and brackets are always
 * printed as ` x ` and `, `. Clauses come in this order: format, strides; space, layout. */
#include "ir/context/context_impl.h"

/* A copy in which everything that the kind does not use, padding too, is zero. */
static void canonical_copy(type_node *to, const type_node *from)
{
    memset(to, 0, sizeof *to);
    to->kind = from->kind;
    if (from->kind == TYPE_BUFFER) return;
    to->dtype = from->dtype;
    if (from->kind == TYPE_SCALAR) return;
    to->rank = from->rank;
    BUG_IF(from->rank > TYPE_MAX_RANK, "a type of rank %d", from->rank);
    memcpy(to->dims, from->dims, from->rank * sizeof *to->dims);
    if (from->kind == TYPE_TILE || from->kind == TYPE_CHANNEL) {
        BUG_IF(from->rank != 2, "a tile of rank %d", from->rank);
        to->space = from->space;
        to->layout = from->layout;
        if (from->kind == TYPE_TILE) return;
        to->depth = from->depth;
        to->via = from->via;
        return;
    }
    to->format = from->format;
    if (from->format == FORMAT_PANEL) memcpy(to->panel, from->panel, sizeof to->panel);
    if (from->kind != TYPE_GM || !from->has_strides) return;
    to->has_strides = 1;
    memcpy(to->strides, from->strides, from->rank * sizeof *to->strides);
}

static uint32_t type_hash(const type_node *t)
{
    uint64_t head = (uint64_t)t->kind | (uint64_t)t->dtype << 8 | (uint64_t)t->rank << 16 | (uint64_t)t->space << 24 |
                    (uint64_t)t->layout << 32 | (uint64_t)t->format << 40 | (uint64_t)t->has_strides << 48 |
                    (uint64_t)t->via << 56;
    uint64_t h = hash_step(0, head);
    if (t->depth != 0) h = hash_step(h, (uint64_t)t->depth);
    for (uint32_t i = 0; i < t->rank; i++) h = hash_step(h, (uint64_t)t->dims[i] << 32 | t->strides[i]);
    for (uint32_t i = 0; i < 3 && t->format == FORMAT_PANEL; i++) h = hash_step(h, (uint64_t)t->panel[i]);
    return hash_end(h);
}

type_id type_intern(ir_context *c, const type_node *t)
{
    type_node wanted;
    canonical_copy(&wanted, t);
    uint32_t hash = type_hash(&wanted);
    INTERN_EACH(&c->type_index, hash, found)
    {
        if (memcmp(type_at(c, found), &wanted, sizeof wanted) == 0) return found;
    }
    type_id id;
    type_node *n = id_table_add(c, &c->tables.types, &id);
    memcpy(n, &wanted, sizeof wanted);
    intern_add(&c->type_index, hash, id);
    return id;
}

type_id type_scalar(ir_context *c, dtype d)
{
    return type_intern(c, &(type_node){.kind = TYPE_SCALAR, .dtype = (uint8_t)d});
}

static type_id type_of_dims(ir_context *c, type_kind kind, dtype d, uint32_t rank, const expr_id *dims)
{
    BUG_IF(rank > TYPE_MAX_RANK, "a type of rank %u", rank);
    type_node t = {.kind = (uint8_t)kind, .dtype = (uint8_t)d, .rank = (uint8_t)rank};
    for (uint32_t i = 0; i < rank; i++) t.dims[i] = dims[i];
    return type_intern(c, &t);
}

type_id type_tensor(ir_context *c, dtype d, uint32_t rank, const expr_id *dims)
{
    return type_of_dims(c, TYPE_TENSOR, d, rank, dims);
}

type_id type_gm(ir_context *c, dtype d, uint32_t rank, const expr_id *dims)
{
    return type_of_dims(c, TYPE_GM, d, rank, dims);
}

type_id type_tile(ir_context *c, dtype d, int64_t rows, int64_t columns, space s, layout l)
{
    return type_intern(c, &(type_node){.kind = TYPE_TILE,
                                       .dtype = (uint8_t)d,
                                       .rank = 2,
                                       .space = (uint8_t)s,
                                       .layout = (uint8_t)l,
                                       .dims = {expr_const(c, rows), expr_const(c, columns)}});
}

type_id type_buffer(ir_context *c) { return type_intern(c, &(type_node){.kind = TYPE_BUFFER}); }

type_id type_channel(ir_context *c, type_id tile, int32_t depth, channel_via via)
{
    type_node t = *type_at(c, tile);
    BUG_IF(t.kind != TYPE_TILE || depth < 1 || depth > CHANNEL_MAX_DEPTH, "a channel of depth %d", depth);
    t.kind = TYPE_CHANNEL;
    t.depth = depth;
    t.via = (uint8_t)via;
    return type_intern(c, &t);
}

type_id channel_tile(ir_context *c, type_id channel)
{
    type_node t = *type_at(c, channel);
    BUG_IF(t.kind != TYPE_CHANNEL, "the tile of what is not a channel");
    t.kind = TYPE_TILE;
    return type_intern(c, &t);
}

bool tile_bytes(dtype d, bool is_column_major, int64_t rows, int64_t columns, int64_t *out)
{
    int64_t row = columns;
    if (rows < 0 || columns < 0) return false;
    if (d == DTYPE_MASK) {
        int64_t bits = is_column_major ? rows : columns, bytes = bits / 8 + (bits % 8 != 0);
        if (is_column_major) rows = columns;
        row = bytes / MASK_ROW_BYTES * MASK_ROW_BYTES + (bytes % MASK_ROW_BYTES != 0 ? MASK_ROW_BYTES : 0);
    } else if (__builtin_mul_overflow(columns, (int64_t)dtype_bytes(d), &row)) {
        return false;
    }
    return !__builtin_mul_overflow(rows, row, out);
}

const char *type_misfit(const ir_context *c, const type_node *t)
{
    bool is_tile = t->kind == TYPE_TILE || t->kind == TYPE_CHANNEL;
    if (t->dtype == DTYPE_MASK && !is_tile)
        return "`mask` is packed bits on chip; in memory and as a scalar it is `bool`";
    if (t->dtype == DTYPE_REC64 && !is_tile && t->kind != TYPE_GM)
        return "`rec64` is a sort record; it is the element of tiles and of gm";
    if (t->dtype != DTYPE_MASK && t->dtype != DTYPE_REC64) return NULL;
    if (!is_tile) return NULL;
    if (t->space != SPACE_NONE && space_role_of(c, t->space) != SPACE_ROLE_SCRATCHPAD)
        return "tiles of `mask` and `rec64` are in a scratchpad, such as `vec`";
    layout_order order = layout_order_of(c, t->layout);
    if (t->layout != LAYOUT_NONE && order != ORDER_ROW && (t->dtype != DTYPE_MASK || order != ORDER_COLUMN))
        return "tiles of `mask` are row-major or column-major, as in the layouts `nd` and `dn`, those of `rec64` "
               "row-major";
    return NULL;
}

expr_id type_element_count(ir_context *c, type_id t)
{
    const type_node *n = type_at(c, t);
    if (n->kind == TYPE_NONE || n->kind == TYPE_BUFFER) return 0;
    expr_id count = expr_const(c, 1);
    for (uint32_t i = 0; i < n->rank; i++) count = expr_mul(c, count, n->dims[i]);
    return count;
}

type_id type_substitute(ir_context *c, type_id t, const expr_substitution *s)
{
    type_node changed = *type_at(c, t);
    bool same = true;
    for (uint32_t i = 0; i < changed.rank; i++) {
        expr_id dim = expr_substitute(c, changed.dims[i], s);
        expr_id stride = changed.has_strides ? expr_substitute(c, changed.strides[i], s) : 0;
        if (dim == 0 || (changed.has_strides && stride == 0)) return 0;
        same &= dim == changed.dims[i] && stride == changed.strides[i];
        changed.dims[i] = dim;
        changed.strides[i] = stride;
    }
    return same ? t : type_intern(c, &changed);
}

/* ---- text ---- */

static void print_shape(const ir_context *c, const type_node *n, text_buffer *out)
{
    for (uint32_t i = 0; i < n->rank; i++) {
        expr_print(c, n->dims[i], out, NULL, NULL);
        text_puts(out, " x ");
    }
    text_puts(out, dtype_name((dtype)n->dtype));
}

static void print_memory_clauses(const ir_context *c, const type_node *n, text_buffer *out)
{
    if (n->format == FORMAT_NZ) text_puts(out, ", nz");
    if (n->format == FORMAT_PANEL) text_printf(out, ", panel(%d, %d, %d)", n->panel[0], n->panel[1], n->panel[2]);
    if (!n->has_strides) return;
    text_puts(out, ", strides [");
    for (uint32_t i = 0; i < n->rank; i++) {
        if (i > 0) text_puts(out, ", ");
        expr_print(c, n->strides[i], out, NULL, NULL);
    }
    text_putc(out, ']');
}

static void print_tile_clauses(const ir_context *c, const type_node *n, text_buffer *out)
{
    text_puts(out, ", ");
    text_puts(out, space_name(c, n->space));
    if (n->layout == LAYOUT_NONE) return;
    text_puts(out, ", ");
    text_puts(out, layout_name(c, n->layout));
}

void type_print(const ir_context *c, type_id t, text_buffer *out)
{
    const type_node *n = type_at(c, t);
    switch (n->kind) {
    case TYPE_SCALAR: text_puts(out, dtype_name((dtype)n->dtype)); return;
    case TYPE_BUFFER: text_puts(out, "buffer"); return;
    case TYPE_TENSOR: text_puts(out, "tensor<"); break;
    case TYPE_GM: text_puts(out, "gm<"); break;
    case TYPE_TILE: text_puts(out, "tile<"); break;
    case TYPE_CHANNEL: text_puts(out, "channel<tile<"); break;
    default: text_puts(out, "<none>"); return;
    }
    print_shape(c, n, out);
    if (n->kind == TYPE_TILE || n->kind == TYPE_CHANNEL) {
        print_tile_clauses(c, n, out);
    } else {
        print_memory_clauses(c, n, out);
    }
    text_putc(out, '>');
    if (n->kind == TYPE_CHANNEL)
        text_printf(out, ", depth = %d, via = %s>", n->depth, n->via == VIA_GM ? "gm" : "direct");
}
