/* Tile descriptors, windows of global memory, and the instructions on both. */
#include "ascend_build.h"

/* ---- tiles ---- */

/* Whether less than all may be valid. */
static int is_partial(pto_op at, pto_expr valid, int64_t capacity)
{
    int64_t n = 0;
    if (pto_expr_is_const(valid, &n)) return n != capacity;
    return pto_extent_range(at, valid).lo < capacity;
}

static pto_status tile_type(pto_op op, ascend_tile *t)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    const uint32_t order = pto_layout_order(run, pto_type_layout(type));
    ascend_tile_type *out = &t->type;
    out->role = pto_space_role(run, pto_type_space(type));
    out->dtype = pto_type_dtype(type);
    if (!pto_expr_is_const(pto_type_dim(type, 0), &out->rows) ||
        !pto_expr_is_const(pto_type_dim(type, 1), &out->columns))
        return ascend_refuse(op, "the capacity of the tile is not a number");
    const uint32_t outer = pto_order_boxes(order), inner = pto_order_elements(order);
    out->boxes = outer == PTO_LINES_NONE ? PTO_LINES_NONE : inner;
    out->is_column_major = (outer == PTO_LINES_NONE ? inner : outer) == PTO_LINES_COLUMN;
    out->box_bytes = out->role == PTO_ROLE_ACCUMULATOR ? 1024 : 512;
    const int is_operand =
        out->role == PTO_ROLE_LEFT || out->role == PTO_ROLE_RIGHT || out->role == PTO_ROLE_ACCUMULATOR;
    out->is_compact =
        is_operand && (is_partial(op, t->valid[0], out->rows) || is_partial(op, t->valid[1], out->columns));
    /* A line of elements is a whole number of blocks. */
    const int64_t line = (out->is_column_major ? out->rows : out->columns) * pto_dtype_bytes(out->dtype);
    if (out->boxes == PTO_LINES_NONE && line % 32 != 0)
        return ascend_refuse(op, "a line of the tile has %lld bytes, and must have a multiple of 32", (long long)line);
    return PTO_OK;
}

static ascend_tile *find_tile(ascend_builder *b, pto_value v)
{
    return v.index < b->tile_capacity ? b->tiles[v.index] : NULL;
}

static void note_tile(ascend_builder *b, pto_value v, ascend_tile *t)
{
    if (v.index >= b->tile_capacity) {
        const uint32_t capacity = 2 * v.index + 64;
        ascend_tile **bigger = PTO_SCRATCH(v.run, ascend_tile *, capacity);
        if (b->tile_capacity != 0) memcpy(bigger, b->tiles, b->tile_capacity * sizeof *bigger);
        b->tiles = bigger;
        b->tile_capacity = capacity;
    }
    b->tiles[v.index] = t;
}

pto_status ascend_add_tile(ascend_builder *b, pto_op op)
{
    const pto_op buffer = pto_value_op(pto_op_operand(op, 0));
    ascend_tile *t = PTO_SCRATCH(op.run, ascend_tile, 1);
    const int64_t address = pto_attr_int_of(buffer, PTO_STR("addr"), -1);
    if (address < 0) return ascend_refuse(op, "its buffer has no address");
    t->op = op;
    t->suffix = "";
    t->address = address + pto_attr_int_of(op, PTO_STR("offset"), 0);
    t->stage_bytes = pto_attr_int_of(buffer, PTO_STR("bytes_per_stage"), 0);
    t->stage = pto_expr_of(op, PTO_STR("stage"), 0);
    for (uint32_t i = 0; i < 2; i++) t->valid[i] = pto_expr_of(op, PTO_STR("valid"), i);
    PTO_TRY(tile_type(op, t));
    note_tile(b, pto_op_result(op, 0), t);
    ascend_node_add(b, ASCEND_TILE, op)->tile = t;
    return PTO_OK;
}

/* A form of a tile by its suffix; a new one is as the tile itself. */
static ascend_tile *form_of(ascend_tile *t, const char *suffix, int *is_new)
{
    ascend_tile **form = &t->next_form;
    for (*is_new = 0; *form != NULL; form = &(*form)->next_form)
        if (strcmp((*form)->suffix, suffix) == 0) return *form;
    ascend_tile *f = PTO_SCRATCH(t->op.run, ascend_tile, 1);
    *f = *t;
    f->suffix = suffix;
    f->next_form = NULL;
    *is_new = 1;
    *form = f;
    return f;
}

/* The tile as a row-major one with rows and columns exchanged, which are the same bytes. */
static const ascend_tile *turned(ascend_tile *t)
{
    int is_new = 0;
    if (!t->type.is_column_major || t->type.boxes != PTO_LINES_NONE) return t;
    ascend_tile *f = form_of(t, "_turned", &is_new);
    if (!is_new) return f;
    f->type.rows = t->type.columns;
    f->type.columns = t->type.rows;
    f->type.is_column_major = 0;
    f->valid[0] = t->valid[1];
    f->valid[1] = t->valid[0];
    return f;
}

/* The tile with more rows, of which none is valid: the row values that it goes with fill whole blocks. */
static const ascend_tile *taller(ascend_tile *t, int64_t rows)
{
    int is_new = 0;
    ascend_tile *f = form_of(t, text_format(t->op.run, "_of_%lld", (long long)rows), &is_new);
    f->type.rows = rows;
    return f;
}

/* ---- windows ---- */

static int is_one(pto_expr x)
{
    int64_t n = 0;
    return pto_expr_is_const(x, &n) && n == 1;
}

/* What a copy moves: the valid region of the tile, in memory from the offsets on. */
static pto_status make_window(pto_op op, pto_value memory, const ascend_tile *t, ascend_window *w)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(memory);
    const uint32_t rank = pto_type_rank(type);
    const int is_transposed = pto_attr_bool_of(op, PTO_STR("transpose"), 0);
    const pto_expr one = pto_expr_const(run, 1);
    w->memory = memory;
    w->offset = pto_expr_const(run, 0);
    for (uint32_t d = 0; d < rank && PTO_SOME(w->offset); d++)
        w->offset =
            pto_expr_add(w->offset, pto_expr_mul(pto_expr_of(op, PTO_STR("offsets"), d), pto_type_stride(type, d)));
    w->rows = t->valid[0];
    w->columns = t->valid[1];
    w->row_step = rank > 1 ? pto_type_stride(type, rank - 2) : one;
    w->column_step = rank > 0 ? pto_type_stride(type, rank - 1) : one;
    if (is_transposed) {
        const pto_expr step = w->row_step;
        w->row_step = w->column_step;
        w->column_step = step;
    }
    if (!PTO_SOME(w->offset) || !PTO_SOME(w->row_step) || !PTO_SOME(w->column_step))
        return ascend_refuse(op, "where the window begins is more than 63 bits");
    if (is_transposed && t->type.boxes == PTO_LINES_NONE)
        return ascend_refuse(op, "tiles without boxes are not transposed on the way from global memory");
    const int is_column = t->type.is_column_major && t->type.boxes == PTO_LINES_NONE;
    w->is_columns = is_column || is_transposed;
    if (is_column && is_one(w->rows)) w->row_step = one; /* no other element follows in it */
    if (!is_one(w->is_columns ? w->row_step : w->column_step))
        return ascend_refuse(op, "the elements of a %s of the window do not follow each other in memory",
                             w->is_columns ? "column" : "row");
    return PTO_OK;
}

/* ---- instructions ---- */

static int is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

static pto_status make_operand(ascend_builder *b, ascend_node *n, uint32_t i)
{
    const pto_value v = pto_op_operand(n->op, i);
    ascend_operand *o = &n->operands[i];
    o->value = v;
    if (!is_tile(v)) return PTO_OK;
    ascend_tile *t = find_tile(b, v);
    if (t == NULL) return ascend_refuse(n->op, "operand %u is not a tile of this kernel", i);
    o->tile = (n->insn->flags & ASCEND_COLUMNS_TURN) != 0 ? turned(t) : t;
    return PTO_OK;
}

/* The library asks for one number of rows where tiles of rows meet values of rows. */
static void level_rows(const ascend_builder *b, ascend_node *n)
{
    const int64_t rule = pto_kind_column(n->op.run, pto_op_kind(n->op), PTO_COLUMN_RULE);
    int64_t most = 0;
    if (rule != PTO_RULE_ROW_REDUCE && rule != PTO_RULE_ROW_BINARY && rule != PTO_RULE_ROW_EXPAND) return;
    for (uint32_t i = 0; i < n->operand_count; i++)
        if (!pto_op_is_scratch(n->op, i) && n->operands[i].tile->type.rows > most)
            most = n->operands[i].tile->type.rows;
    for (uint32_t i = 0; i < n->operand_count; i++) {
        const ascend_tile_type *t = &n->operands[i].tile->type;
        if (pto_op_is_scratch(n->op, i) || t->is_column_major || t->rows == most) continue;
        n->operands[i].tile = taller(b->tiles[n->operands[i].value.index], most);
    }
}

/* Of copies to and from global memory: the window takes the place of the memory. */
static pto_status add_window(ascend_node *n, uint32_t memory, uint32_t tile)
{
    ascend_window *w = PTO_SCRATCH(n->op.run, ascend_window, 1);
    PTO_TRY(make_window(n->op, n->operands[memory].value, n->operands[tile].tile, w));
    n->operands[memory].window = w;
    return PTO_OK;
}

/* Attributes that mean something and have no form. */
static pto_status check_attributes(const ascend_builder *b, pto_op op)
{
    static const char *const unknown[] = {"scale", "pad", NULL};
    if (!ASCEND_IS(b->m, op, TLOAD) && !ASCEND_IS(b->m, op, TSTORE) && !ASCEND_IS(b->m, op, TFILLPAD)) return PTO_OK;
    for (uint32_t i = 0; unknown[i] != NULL; i++) {
        const pto_attr a = pto_op_attr(op, pto_s(unknown[i]));
        if (PTO_SOME(a) && (pto_attr_kind_of(a) != PTO_ATTR_BOOL || pto_attr_i64(a) != 0))
            return ascend_refuse(op, "not with `%s`", unknown[i]);
    }
    return PTO_OK;
}

pto_status ascend_add_insn(ascend_builder *b, pto_op op)
{
    const ascend_insn *insn = ascend_insn_of(op);
    if (insn == NULL) return ascend_refuse(op, "ascend.def has no row for it");
    PTO_TRY(check_attributes(b, op));
    ascend_node *n = ascend_node_add(b, ASCEND_INSN, op);
    n->insn = insn;
    n->operand_count = pto_op_operand_count(op);
    n->operands = PTO_SCRATCH(op.run, ascend_operand, n->operand_count);
    for (uint32_t i = 0; i < n->operand_count; i++) PTO_TRY(make_operand(b, n, i));
    level_rows(b, n);
    if (ASCEND_IS(b->m, op, TLOAD)) return add_window(n, 1, 0);
    if (ASCEND_IS(b->m, op, TSTORE)) return add_window(n, 0, 1);
    return PTO_OK;
}
