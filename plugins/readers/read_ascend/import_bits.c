/* Bits and records: the text has eight bits as a byte, and a record as two f32. */
#include "import.h"

/* Operands that are bits or records, a bit each. The tile that is as large as the bits is operand `like`. */
static const struct {
    const char *name;
    uint32_t bits, records, like;
} rows[] = {{"tcmp", 1, 0, 1},
            {"tcmps", 1, 0, 1},
            {"tsel", 2, 0, 0},
            {"tsels", 2, 0, 0},
            {"tsort32", 0, 1, 0},
            {"tgather_mask", 0, 2, 0},
            {"tmrgsort", 0, 1 + 2 + 4, 0},
            {"tmrgsort_lists", 0, 15, 0}};

static int is_same_block(pto_block a, pto_block b) { return a.index == b.index; }

uint32_t import_numbers_of(const char *name)
{
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (strcmp(rows[k].name, name) == 0 && rows[k].bits != 0) return rows[k].like;
    return 0;
}

int import_takes_bits(const char *name, uint32_t i)
{
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (strcmp(rows[k].name, name) == 0) return (rows[k].bits >> i & 1) != 0;
    return 0;
}

/* Whether a value that is defined beside the tile is in the expression. */
static int has_local(pto_expr x, pto_block block)
{
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
        if (has_local(pto_expr_arg(x, i), block)) return 1;
    if (pto_expr_kind_of(x) != PTO_EXPR_VALUE) return 0;
    const pto_op made = pto_value_op(pto_expr_leaf(x));
    return PTO_SOME(made) && is_same_block(pto_op_block(made), block);
}

/* The tile as another one, which takes its name and its place: of both, what nothing uses is dropped in the end. */
static pto_value seen_as(importer *im, const mlir_op *op, import_tile *tile, const import_tile_type *type,
                         pto_expr valid[2])
{
    import_tile *const known = tile->elements, *const t = PTO_SCRATCH(im->run, import_tile, 1);
    *t = *tile;
    t->type = *type;
    t->valid[0] = valid[0];
    t->valid[1] = valid[1];
    if (known != NULL && is_same_block(known->block, im->block) && import_same_type(known, t) &&
        pto_expr_same(known->valid[0], valid[0]) && pto_expr_same(known->valid[1], valid[1]))
        return known->value;
    const pto_value bytes = import_tile_value(im, tile);
    if (!PTO_SOME(bytes)) return bytes;
    const pto_str name = pto_value_name(bytes);
    const pto_op before = pto_value_op(bytes);
    const int is_beside = is_same_block(pto_op_block(before), im->block) && !has_local(valid[0], im->block) &&
                          !has_local(valid[1], im->block);
    t->block = im->block;
    (void)pto_value_set_name(bytes, pto_str_join(im->run, name, PTO_STR("_bytes")));
    const pto_op made = import_build_alias(im, t, before, name, import_loc(im, op),
                                           is_beside ? pto_after(before) : pto_at_end(im->block));
    if (!PTO_SOME(made)) return pto_value_none(im->run);
    t->value = pto_op_result(made, 0);
    tile->elements = t;
    import_shadow *s = PTO_SCRATCH(im->run, import_shadow, 1);
    *s = (import_shadow){before, im->shadows};
    im->shadows = s;
    return t->value;
}

pto_status import_drop_shadows(importer *im)
{
    for (const import_shadow *s = im->shadows; s != NULL; s = s->next)
        if (pto_op_is_live(s->op) && !pto_op_is_used(s->op)) PTO_TRY(pto_op_erase(s->op));
    im->shadows = NULL;
    return PTO_OK;
}

static pto_value as_bits(importer *im, const mlir_op *op, import_tile *tile, const import_tile *like)
{
    import_tile_type type = tile->type;
    pto_expr valid[2] = {like->valid[0], like->valid[1]};
    *(type.order == PTO_ORDER_COLUMN ? &type.rows : &type.columns) *= 8;
    type.dtype = PTO_MASK;
    return seen_as(im, op, tile, &type, valid);
}

static pto_value as_records(importer *im, const mlir_op *op, import_tile *tile)
{
    import_tile_type type = tile->type;
    pto_expr valid[2] = {tile->valid[0], pto_expr_floordiv(tile->valid[1], pto_expr_const(im->run, 2))};
    type.columns /= 2;
    type.dtype = PTO_REC64;
    return seen_as(im, op, tile, &type, valid);
}

/* The indices of records: as many as there are records, of which the text has the whole tile. */
static pto_value as_indices(importer *im, const mlir_op *op, import_tile *tile, const import_tile *records)
{
    pto_expr valid[2] = {records->valid[0], pto_expr_floordiv(records->valid[1], pto_expr_const(im->run, 2))};
    if (pto_expr_same(tile->valid[1], valid[1])) return import_tile_value(im, tile);
    return seen_as(im, op, tile, &tile->type, valid);
}

/* What is known as bits makes bits of all that logic has beside it. */
static const import_tile *bits_of_logic(const importer *im, const char *name, import_tile *const *tiles)
{
    static const char *const logic[] = {"tand", "tor", "txor", "tnot"};
    for (size_t k = 0; k < sizeof logic / sizeof logic[0]; k++) {
        if (strcmp(logic[k], name) != 0) continue;
        for (uint32_t i = 0; tiles[i] != NULL; i++) {
            const import_tile *bits = tiles[i]->elements;
            if (bits != NULL && bits->type.dtype == PTO_MASK && is_same_block(bits->block, im->block)) return bits;
        }
    }
    return NULL;
}

pto_value import_elements(importer *im, const mlir_op *op, const char *name, import_tile *const *tiles, uint32_t i)
{
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (strcmp(rows[k].name, name) != 0) continue;
        if ((rows[k].bits >> i & 1) != 0 && pto_dtype_bytes(tiles[i]->type.dtype) == 1)
            return as_bits(im, op, tiles[i], tiles[rows[k].like]);
        if ((rows[k].records >> i & 1) != 0 && tiles[i]->type.dtype == PTO_F32) return as_records(im, op, tiles[i]);
    }
    const import_tile *bits = bits_of_logic(im, name, tiles);
    if (bits != NULL) return as_bits(im, op, tiles[i], bits);
    if (strcmp(name, "tgather_mask") == 0) return as_indices(im, op, tiles[i], tiles[1]);
    return import_tile_value(im, tiles[i]);
}

/* A tile that has the lists one after the other; NULL: there is none. */
static import_tile *tile_of_lists(const importer *im, import_tile *const *lists, uint32_t count)
{
    int64_t columns = 0;
    pto_expr valid = pto_expr_const(im->run, 0);
    for (uint32_t i = 0; i < count; i++) {
        const import_tile *t = lists[i];
        const int64_t bytes = columns * pto_dtype_bytes(t->type.dtype);
        if (!PTO_SOME(t->address) || !pto_expr_same(t->address, pto_expr_offset(lists[0]->address, bytes))) return NULL;
        if (i + 1 < count && t->type.columns != lists[0]->type.columns) return NULL;
        columns += t->type.columns;
        valid = pto_expr_add(valid, t->valid[1]);
    }
    for (uint32_t i = im->name_count; i-- > im->floor;) {
        import_tile *t = im->names[i].kind == IMPORT_TILE ? im->names[i].tile : NULL;
        if (t != NULL && t->type.role == lists[0]->type.role && t->type.dtype == PTO_F32 && t->type.rows == 1 &&
            PTO_SOME(t->address) && pto_expr_same(t->address, lists[0]->address) && pto_expr_same(t->valid[1], valid))
            return t;
    }
    return NULL;
}

pto_status import_merge(importer *im, const mlir_op *op, import_tile *const *ins, uint32_t count, import_tile *to)
{
    import_tile *const through = ins[count - 1];
    const uint32_t lists = count - 1;
    /* Two lists apart are as long as what becomes of them. */
    const int are_two = lists == 2 && pto_expr_same(ins[0]->valid[1], to->valid[1]);
    import_tile *const all = are_two ? NULL : tile_of_lists(im, ins, lists);
    if (!are_two && all == NULL)
        return import_refuse(im, op,
                             "merges %u lists; read are two of which the first is as long as the result, and up to "
                             "four of one length that are one tile",
                             lists);
    im->loc = import_loc(im, op);
    import_tile *const two[] = {to, ins[1], ins[0], through}, *const more[] = {to, all, through};
    import_tile *const *const taken = all != NULL ? more : two;
    pto_value values[4];
    for (uint32_t i = 0; i < (all != NULL ? 3u : 4u); i++) {
        values[i] = as_records(im, op, taken[i]);
        PTO_NEED(values[i]);
    }
    pto_spec s = all != NULL ? IMPORT_SPEC(im, TMRGSORT) : IMPORT_SPEC(im, TMRGSORT_LISTS);
    pto_spec_operands(&s, all != NULL ? 3 : 4, values);
    if (all != NULL) pto_spec_int(&s, PTO_STR("run"), ins[0]->type.columns / 2);
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}
