/* Tiles: what describes them, and the buffers that they are in. */
#include "import.h"

static int is_boxless(const import_tile_type *t, uint32_t order) { return t->order == order; }

/* With rows and columns exchanged: the same bytes. */
static void exchange(import_tile *t)
{
    const int64_t rows = t->type.rows;
    const pto_expr valid = t->valid[0];
    t->type.rows = t->type.columns;
    t->type.columns = rows;
    t->type.order = PTO_ORDER_ROW;
    t->valid[0] = t->valid[1];
    t->valid[1] = valid;
}

/* As integers: floats as their bits; as i16, pairs of bytes and halves of words, along what is contiguous. */
static int take_as(import_tile *t, pto_dtype integers)
{
    const int64_t bytes = pto_dtype_bytes(t->type.dtype);
    const int is_down = pto_order_elements(t->type.order) == PTO_LINES_COLUMN;
    const int is_of_bits = bytes == pto_dtype_bytes(integers);
    if (!is_of_bits && (integers != PTO_I16 || (bytes != 1 && bytes != 4))) return 0;
    t->type.dtype = integers;
    if (is_of_bits) return 1;
    int64_t *const line = is_down ? &t->type.rows : &t->type.columns;
    pto_expr *const valid = &t->valid[is_down ? 0 : 1];
    *line = *line * bytes / 2;
    *valid = pto_expr_ceildiv(pto_expr_scale(*valid, bytes), pto_expr_const(valid->run, 2));
    return 1;
}

/* A row of which no more is valid. */
static int is_wider_row(const import_tile_type *t, const import_tile_type *u)
{
    return is_boxless(t, PTO_ORDER_ROW) && t->rows == 1 && u->rows == 1 && t->columns > u->columns;
}

static int is_same_place(const import_tile *a, const import_tile *b)
{
    return a->type.role == b->type.role && a->type.order == b->type.order && a->type.dtype == b->type.dtype &&
           PTO_SOME(a->address) && PTO_SOME(b->address) && pto_expr_same(a->address, b->address) &&
           pto_expr_same(a->valid[0], b->valid[0]) && pto_expr_same(a->valid[1], b->valid[1]);
}

/* Elements of a column one after the other are those of a row of a tile with rows and columns exchanged: the text has
 * such a tile for instructions that take rows alone. And it has i16 for what it cannot take as it is. */
static int is_twin(const import_tile *a, const import_tile *of)
{
    import_tile seen = *of;
    const import_tile_type *t = &a->type, *u = &seen.type;
    const int is_turned = is_boxless(t, PTO_ORDER_ROW) && is_boxless(u, PTO_ORDER_COLUMN),
              is_other = (t->dtype == PTO_I16 || t->dtype == PTO_I32 || t->dtype == PTO_U32) && u->dtype != t->dtype;
    if (!PTO_SOME(of->valid[0]) || !PTO_SOME(of->valid[1])) return 0;
    if (is_turned) exchange(&seen);
    if (is_other && !take_as(&seen, t->dtype)) return 0;
    if (!is_turned && !is_other) return 0;
    return is_same_place(a, &seen) && t->rows == u->rows && (t->columns == u->columns || is_wider_row(t, u));
}

/* ---- buffers ---- */

/* address + stage * bytes, as one of `stages` buffers one after the other. */
typedef struct place {
    int64_t address, stage_bytes, stages;
    pto_expr stage;
} place;

static int has_terms(pto_expr x) { return pto_expr_kind_of(x) == PTO_EXPR_SUM; }

static pto_status find_place(const importer *im, const mlir_op *op, const import_tile *t, place *out)
{
    const int64_t bytes = import_tile_bytes(&t->type);
    *out = (place){.address = -1, .stage_bytes = bytes, .stages = 1, .stage = pto_expr_const(im->run, 0)};
    if (!PTO_SOME(t->address)) return PTO_OK;
    if (pto_expr_is_const(t->address, &out->address)) return PTO_OK;
    const int64_t rest = has_terms(t->address) ? pto_expr_number(t->address) : 0;
    pto_expr moving = pto_expr_offset(t->address, -rest);
    int64_t step = 1;
    if (has_terms(moving)) {
        step = pto_expr_coef(moving, 0);
        for (uint32_t i = 1; i < pto_expr_arg_count(moving); i++) step = pto_gcd(step, pto_expr_coef(moving, i));
        pto_expr one = pto_expr_const(im->run, 0);
        for (uint32_t i = 0; i < pto_expr_arg_count(moving); i++)
            one = pto_expr_add(one, pto_expr_scale(pto_expr_arg(moving, i), pto_expr_coef(moving, i) / step));
        moving = one;
    }
    const pto_op last = pto_block_last(im->block), at = PTO_SOME(last) ? last : pto_block_parent(im->block);
    const pto_range r = pto_expr_range(moving, at, NULL);
    if (r.lo < 0 || r.hi > 1 << 16 || step < bytes)
        return import_refuse(im, op,
                             "has an address that is not a number plus a stage times a number of at least %lld, the "
                             "bytes of the tile, with a stage of a known range",
                             (long long)bytes);
    *out = (place){.address = rest, .stage_bytes = step, .stages = r.hi + 1, .stage = moving};
    return PTO_OK;
}

static int64_t align_of(const importer *im, pto_space space, int64_t address)
{
    int64_t align = pto_space_align(im->run, space, 32);
    while (address > 0 && address % align != 0 && align > 1) align /= 2;
    return align;
}

static pto_status build_buffer(importer *im, import_buffer *b, pto_str name)
{
    pto_spec s = IMPORT_SPEC(im, BUFFER);
    pto_spec_str(&s, PTO_STR("space"), pto_s(pto_space_name(im->run, b->space)));
    pto_spec_int(&s, PTO_STR("bytes_per_stage"), b->stage_bytes);
    if (b->stages != 1) pto_spec_int(&s, PTO_STR("stages"), b->stages);
    const int64_t align = align_of(im, b->space, b->address);
    if (align != 32) pto_spec_int(&s, PTO_STR("align"), align);
    if (b->address >= 0) pto_spec_int(&s, PTO_STR("addr"), b->address);
    pto_spec_result(&s, pto_type_buffer(im->run));
    pto_spec_name(&s, pto_str_join(im->run, name, PTO_STR("_b")));
    pto_spec_loc(&s, im->loc);
    b->op = pto_spec_build(&s, PTO_SOME(im->first) ? pto_before(im->first) : pto_at_end(pto_body(im->kernel)));
    return PTO_SOME(b->op) ? PTO_OK : PTO_FAILED;
}

/* Tiles at one address share a buffer, those without one have their own. */
static pto_status buffer_for(importer *im, pto_space space, const place *p, pto_str name, import_buffer **out)
{
    import_buffer **end = &im->buffers;
    for (; *end != NULL; end = &(*end)->next) {
        import_buffer *b = *end;
        if (b->space != space || p->address < 0 || b->address != p->address || b->stages != p->stages) continue;
        if (p->stages != 1 && b->stage_bytes != p->stage_bytes) continue;
        *out = b;
        if (b->stage_bytes >= p->stage_bytes) return PTO_OK;
        b->stage_bytes = p->stage_bytes;
        return pto_op_set_attr(b->op, PTO_STR("bytes_per_stage"), pto_attr_make_i64(im->run, b->stage_bytes));
    }
    import_buffer *b = PTO_SCRATCH(im->run, import_buffer, 1);
    *b = (import_buffer){.space = space, .address = p->address, .stage_bytes = p->stage_bytes, .stages = p->stages};
    *end = b;
    *out = b;
    return build_buffer(im, b, name);
}

/* ---- alloc_tile ---- */

static pto_status read_clauses(importer *im, const mlir_op *op, import_tile *t, const mlir_node **type)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    pto_expr *const to[] = {&t->address, &t->valid[0], &t->valid[1]};
    static const char *const words[] = {"addr", "valid_row", "valid_col"};
    for (uint32_t i = 0; i < 3; i++) {
        if (!mlir_take_word(&c, words[i])) continue;
        if (!mlir_take_mark(&c, '=')) return mlir_expected(&c, "`=`");
        PTO_TRY(import_index(im, &c, to[i]));
        if (im->builds && !PTO_SOME(*to[i])) return import_refuse(im, op, "has a `%s` that is not known", words[i]);
    }
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "addr, valid_row or valid_col, or `:` and a type");
    PTO_TRY(import_take_type(&c, type));
    return mlir_at_end(&c);
}

static pto_status fix_valid(const importer *im, const mlir_op *op, import_tile *t)
{
    static const char *const words[] = {"valid_row", "valid_col"};
    for (uint32_t d = 0; d < 2; d++) {
        const int is_given = PTO_SOME(t->valid[d]);
        if (t->type.valid[d] >= 0 && !is_given) t->valid[d] = pto_expr_const(im->run, t->type.valid[d]);
        if (im->builds && !PTO_SOME(t->valid[d]))
            return import_refuse(im, op, "has `?` in its type and no `%s`", words[d]);
    }
    return PTO_OK;
}

/* The tile before this one that is not a twin itself. */
static import_tile *tile_before(const importer *im)
{
    for (uint32_t i = im->name_count; i-- > im->floor;)
        if (im->names[i].kind == IMPORT_TILE && im->names[i].tile->twin == NULL) return im->names[i].tile;
    return NULL;
}

/* The same elements in a tile of more rows or of a longer row, of which no more is valid, as the library or the
 * assembler asks for beside others. */
static int is_larger(const import_tile *a, const import_tile *b)
{
    const import_tile_type *t = &a->type, *u = &b->type;
    return is_boxless(t, PTO_ORDER_ROW) && is_same_place(a, b) &&
           ((t->columns == u->columns && t->rows > u->rows) || is_wider_row(t, u));
}

static pto_status build_tile(importer *im, const mlir_op *op, import_tile *t, pto_str name)
{
    const pto_space space = pto_space_of_role(im->run, t->type.role);
    place at;
    import_buffer *b = NULL;
    im->loc = import_loc(im, op);
    PTO_TRY(find_place(im, op, t, &at));
    PTO_TRY(buffer_for(im, space, &at, name, &b));
    pto_spec s = IMPORT_SPEC(im, TILE);
    pto_spec_operand(&s, pto_op_result(b->op, 0));
    pto_spec_exprs(&s, PTO_STR("stage"), 1, &at.stage);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, t->valid);
    if (t->type.is_compact) pto_spec_bool(&s, PTO_STR("compact"), 1);
    pto_spec_result(
        &s, pto_type_tile(im->run, t->type.dtype, t->type.rows, t->type.columns, space, import_layout(im, &t->type)));
    pto_spec_name(&s, name);
    const pto_op made = import_build(im, &s);
    PTO_NEED(made);
    t->value = pto_op_result(made, 0);
    return PTO_OK;
}

pto_status import_alloc_tile(importer *im, const mlir_op *op)
{
    const mlir_node *type = NULL;
    import_tile *t = PTO_SCRATCH(im->run, import_tile, 1);
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    t->address = t->valid[0] = t->valid[1] = pto_expr_none(im->run);
    PTO_TRY(read_clauses(im, op, t, &type));
    PTO_TRY(import_tile_type_of(im, type, &t->type));
    if (t->type.is_words && PTO_SOME(t->valid[1])) t->valid[1] = pto_expr_scale(t->valid[1], 2);
    return import_new_tile(im, op, t);
}

pto_status import_new_tile(importer *im, const mlir_op *op, import_tile *t)
{
    t->value = pto_value_none(im->run);
    t->block = im->block;
    PTO_TRY(fix_valid(im, op, t));
    if (t->type.role == PTO_ROLE_SCRATCHPAD)
        im->is_vector = 1;
    else
        im->is_cube = 1;
    if (im->builds) {
        import_tile *before = tile_before(im);
        if (before != NULL && is_twin(t, before)) t->twin = before;
        if (before != NULL && is_larger(t, before)) t = before;
        if (t->twin == NULL && t != before) PTO_TRY(build_tile(im, op, t, import_plain_name(im, op->results->text)));
    }
    return import_define(im, op->results, (import_name){.kind = IMPORT_TILE, .dtype = t->type.dtype, .tile = t});
}

pto_op import_build_alias(importer *im, const import_tile *t, pto_op like, pto_str name, pto_loc loc, pto_place at)
{
    const pto_expr stage = pto_expr_of(like, PTO_STR("stage"), 0);
    pto_spec s = IMPORT_SPEC(im, TILE);
    if (t->offset != 0) pto_spec_int(&s, PTO_STR("offset"), t->offset);
    pto_spec_operand(&s, pto_op_operand(like, 0));
    pto_spec_exprs(&s, PTO_STR("stage"), 1, &stage);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, t->valid);
    if (t->type.is_compact) pto_spec_bool(&s, PTO_STR("compact"), 1);
    pto_spec_result(&s, pto_type_tile(im->run, t->type.dtype, t->type.rows, t->type.columns,
                                      pto_space_of_role(im->run, t->type.role), import_layout(im, &t->type)));
    pto_spec_name(&s, name);
    pto_spec_loc(&s, loc);
    return pto_spec_build(&s, at);
}

pto_value import_tile_value(importer *im, import_tile *t)
{
    if (PTO_SOME(t->value) || t->twin == NULL) return t->value;
    const pto_op column = pto_value_op(import_tile_value(im, t->twin));
    const pto_str name = pto_str_join(im->run, pto_value_name(pto_op_result(column, 0)), PTO_STR("_row"));
    const pto_op made = import_build_alias(im, t, column, name, pto_op_loc(column), pto_after(column));
    if (PTO_SOME(made)) t->value = pto_op_result(made, 0);
    return t->value;
}

pto_value import_factors(importer *im, const mlir_op *op, import_tile *words)
{
    const import_tile *base = words->like;
    import_tile t = *words;
    t.type.dtype = PTO_F32;
    t.type.columns *= 2;
    t.valid[1] = pto_expr_scale(words->valid[1], 2);
    if (base != NULL && base->type.dtype == t.type.dtype && base->type.columns == t.type.columns &&
        pto_expr_same(base->valid[1], t.valid[1]))
        return import_tile_value(im, words->like);
    const pto_value v = import_tile_value(im, words);
    if (!PTO_SOME(v)) return v;
    const pto_str name = pto_str_join(im->run, pto_value_name(v), PTO_STR("_factors"));
    const pto_op made = import_build_alias(im, &t, pto_value_op(v), name, import_loc(im, op), pto_at_end(im->block));
    return PTO_SOME(made) ? pto_op_result(made, 0) : pto_value_none(im->run);
}

int import_same_type(const import_tile *a, const import_tile *b)
{
    const import_tile_type *t = &a->type, *u = &b->type;
    return t->role == u->role && t->dtype == u->dtype && t->rows == u->rows && t->columns == u->columns &&
           t->order == u->order && t->pad == u->pad && t->is_compact == u->is_compact;
}

import_tile *import_choice(importer *im, pto_expr truth, import_tile *a, import_tile *b)
{
    import_tile *t = PTO_SCRATCH(im->run, import_tile, 1);
    *t = *a;
    t->value = pto_value_none(im->run);
    t->twin = NULL;
    t->truth = truth;
    t->sides[0] = a;
    t->sides[1] = b;
    im->has_choices = 1;
    return t;
}

static pto_status check_choice(const importer *im, const mlir_op *op, const import_tile *t)
{
    if (t->sides[0] == NULL) return PTO_OK;
    return import_refuse(im, op, "describes a tile that a branch chose, which is not read; describe both before");
}

pto_status import_part(importer *im, const mlir_op *op, import_tile *of, int64_t first, int64_t rows, import_tile **out)
{
    import_tile *t = PTO_SCRATCH(im->run, import_tile, 1);
    const pto_value whole = import_tile_value(im, of);
    PTO_NEED(whole);
    *t = *of;
    t->type.rows = rows;
    t->valid[0] = pto_expr_const(im->run, rows);
    t->offset = of->offset + first * of->type.columns * pto_dtype_bytes(of->type.dtype);
    const pto_op made = import_build_alias(im, t, pto_value_op(whole), pto_value_name(whole), import_loc(im, op),
                                           pto_at_end(im->block));
    PTO_NEED(made);
    t->value = pto_op_result(made, 0);
    *out = t;
    return PTO_OK;
}

/* Whether the next op is the `set_validshape` of the result: until then it is nothing. */
static int is_set_next(const mlir_op *op)
{
    return op->next != NULL && pto_str_is(op->next->name, "pto.set_validshape") && op->next->arguments != NULL &&
           op->next->arguments->kind == MLIR_VALUE && pto_str_same(op->next->arguments->text, op->results->text);
}

/* `%b = pto.treshape %a : type -> type`. Where the type has `?`, %b has the valid region of %a. */
pto_status import_reshape(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *name = NULL, *type = NULL;
    const import_name *from;
    import_tile *t = PTO_SCRATCH(im->run, import_tile, 1);
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    if (!mlir_take(&c, MLIR_VALUE, &name)) return mlir_expected(&c, "a tile");
    PTO_TRY(import_find(im, name, 1 << IMPORT_TILE, "a tile", &from));
    import_tile *base = from->tile;
    PTO_TRY(check_choice(im, op, base));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    if (!mlir_take_mark(&c, '>')) return mlir_expected(&c, "`->` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    t->address = t->valid[0] = t->valid[1] = pto_expr_none(im->run);
    t->value = pto_value_none(im->run);
    t->block = im->block;
    t->root = base->root != NULL ? base->root : base;
    PTO_TRY(import_tile_type_of(im, type, &t->type));
    for (uint32_t d = 0; d < 2; d++)
        if (t->type.valid[d] < 0) t->valid[d] = base->valid[d];
    PTO_TRY(fix_valid(im, op, t));
    if (t->type.role != base->type.role || import_tile_bytes(&t->type) != import_tile_bytes(&base->type))
        return import_refuse(im, op, "makes a tile of %lld bytes of one of %lld",
                             (long long)import_tile_bytes(&t->type), (long long)import_tile_bytes(&base->type));
    t->like = base;
    if (im->builds && !is_set_next(op)) {
        const pto_op made =
            import_build_alias(im, t, pto_value_op(import_tile_value(im, base)),
                               import_plain_name(im, op->results->text), import_loc(im, op), pto_at_end(im->block));
        PTO_NEED(made);
        t->value = pto_op_result(made, 0);
    }
    return import_define(im, op->results, (import_name){.kind = IMPORT_TILE, .dtype = t->type.dtype, .tile = t});
}

/* `pto.set_validshape %t, %rows, %columns : type` */
pto_status import_set_valid(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *name = NULL, *type = NULL;
    const import_name *tile;
    pto_expr valid[2];
    if (op->results != NULL) return import_refuse(im, op, "has no result");
    if (!mlir_take(&c, MLIR_VALUE, &name)) return mlir_expected(&c, "a tile");
    PTO_TRY(import_find(im, name, 1 << IMPORT_TILE, "a tile", &tile));
    import_tile *t = tile->tile;
    PTO_TRY(check_choice(im, op, t));
    for (uint32_t i = 0; i < 2; i++) {
        if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,` and an integer");
        PTO_TRY(import_index(im, &c, &valid[i]));
    }
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    if (!im->builds) return PTO_OK;
    if (!pto_block_same(t->block, im->block))
        return import_refuse(im, op, "is in a loop or branch in which its tile is not defined, which is not read");
    const pto_op before = pto_value_op(import_tile_value(im, PTO_SOME(t->value) || t->like == NULL ? t : t->like));
    t->valid[0] = valid[0];
    t->valid[1] = t->type.is_words ? pto_expr_scale(valid[1], 2) : valid[1];
    const pto_op made =
        import_build_alias(im, t, before, import_plain_name(im, name->text), import_loc(im, op), pto_at_end(im->block));
    PTO_NEED(made);
    t->value = pto_op_result(made, 0);
    return PTO_OK;
}
