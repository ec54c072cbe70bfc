/* Packs columns whose elements lie apart in memory. */
#include "columns_apart.h"

#include "machine_facts.h"
#include "tile_machine.h"

enum { PIECE_ROWS = 64 }; /* of a column that are on chip as blocks at a time */

/* A column in memory, its place in the workspace, and the tile that is there and here in turn. */
typedef struct column {
    const pto_run *run;
    pto_op op;
    pto_type tile; /* of the column */
    pto_value memory, workspace;
    uint32_t rank;
    pto_expr at[PTO_MAX_DIMS], valid[2], place;
} column;

static pto_value memory_of(pto_op op)
{
    return pto_op_operand(op, pto_op_transfer(op) == PTO_TRANSFER_LOAD ? 0 : pto_op_operand_count(op) - 1);
}

static pto_value value_of(pto_op op)
{
    return pto_op_transfer(op) == PTO_TRANSFER_LOAD ? pto_op_result(op, 0) : pto_op_operand(op, 0);
}

static pto_type tile_of(pto_op op) { return pto_value_type(value_of(op)); }

/* Whether no more than one row of the tile is valid, whatever its capacity is. */
static int is_one_row(pto_op op)
{
    pto_expr valid[2];
    int64_t rows = 0;
    if (tile_capacity_of(tile_of(op), 0) == 1) return 1;
    return pto_value_valid(value_of(op), valid) == PTO_OK && pto_expr_is_const(valid[0], &rows) && rows <= 1;
}

int columns_are_apart(pto_op op)
{
    const uint32_t transfer = pto_op_transfer(op);
    int64_t step = 0;
    if (transfer != PTO_TRANSFER_LOAD && transfer != PTO_TRANSFER_STORE) return 0;
    const pto_type t = tile_of(op), memory = pto_value_type(memory_of(op));
    const uint32_t rank = pto_type_rank(memory),
                   down = pto_attr_bool_of(op, PTO_STR("transpose"), 0) || rank < 2 ? rank - 1 : rank - 2;
    const pto_layout layout = pto_type_layout(t);
    const int is_column = layout == PTO_LAYOUT_NONE ? tile_capacity_of(t, 1) == 1 && pto_type_dtype(t) != PTO_REC64
                                                    : pto_layout_order(op.run, layout) == PTO_ORDER_COLUMN;
    if (!is_column || rank == 0) return 0;
    if (pto_space_role(op.run, pto_type_space(t)) != PTO_ROLE_SCRATCHPAD) return 0;
    if (!machine_dense_lines(op.run, pto_op_kind(op))) return 0;
    return (!pto_expr_is_const(pto_type_stride(memory, down), &step) || step != 1) && !is_one_row(op);
}

int columns_go_as_rows(pto_op load)
{
    const pto_run *run = load.run;
    if (pto_op_transfer(load) != PTO_TRANSFER_LOAD) return 0;
    const pto_value v = pto_op_result(load, 0);
    const pto_type t = pto_value_type(v);
    const int64_t block = pto_machine_i64_or(run, 1, "vector.block-bytes"),
                  bytes = tile_product(tile_product(tile_capacity_of(t, 0), block),
                                       pto_attr_int_of(load, PTO_STR("stages"), 1));
    if (pto_type_layout(t) != PTO_LAYOUT_NONE || tile_capacity_of(t, 0) == 1) return 0;
    int is_apart = columns_are_apart(load);
    PTO_EACH_USE(v, use) {
        if (pto_op_transfer(use.op) != PTO_TRANSFER_STORE) return 0;
        is_apart |= columns_are_apart(use.op);
    }
    return is_apart &&
           bytes <= pto_machine_i64_or(run, 0, "spaces.%s.usable-bytes", pto_space_name(run, pto_type_space(t)));
}

/* ---- the place in workspace ---- */

/* Of the nest around an op, the outermost one; or else of all that is around it. */
static pto_op outermost(pto_op op, pto_op function, int *is_nest)
{
    pto_op found = op;
    *is_nest = 0;
    for (pto_op at = op; PTO_SOME(at) && !pto_op_same(at, function); at = pto_op_parent(at)) {
        const int is_forall = PTO_IS(at, FORALL);
        if (is_forall || !*is_nest) found = at;
        *is_nest |= is_forall;
    }
    return found;
}

/* Memory for all instances before their nest, and which of it is that of an instance. */
static pto_status make_place(column *c, pto_op function)
{
    const pto_run *run = c->run;
    int is_nest = 0;
    const pto_op nest = outermost(c->op, function, &is_nest);
    const pto_expr one = pto_expr_const(run, 1);
    pto_expr instances = one;
    c->place = pto_expr_const(run, 0);
    for (uint32_t d = 0, dims = is_nest ? pto_expr_count_of(nest, PTO_STR("to")) : 0; d < dims; d++) {
        const pto_expr extent = pto_expr_of(nest, PTO_STR("to"), d);
        c->place = pto_expr_add(pto_expr_mul(c->place, extent), pto_expr_value(pto_block_arg(pto_body(nest), d)));
        instances = pto_expr_mul(instances, extent);
    }
    if (pto_expr_has_value(instances))
        return pto_error(c->op, "pto.assign-layouts/column-apart",
                         "elements of the column that `%.*s` moves are apart in %%%.*s; the machine moves lines of "
                         "elements that follow each other (`dense-lines`), and workspace to bring them together needs "
                         "the number of instances of the nest before it runs: move a dim of another extent than 1 to "
                         "the end of %%%.*s, or give the extent a name by `bind`",
                         PTO_FMT(pto_op_name(c->op)), PTO_FMT(pto_value_name(c->memory)),
                         PTO_FMT(pto_value_name(c->memory)));
    const pto_expr dims[3] = {instances, pto_expr_const(run, tile_capacity_of(c->tile, 0)), one};
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_WORKSPACE));
    pto_spec_result(&s, pto_type_gm(run, pto_type_dtype(c->tile), 3, dims));
    pto_spec_name(&s, pto_str_join(run, pto_value_name(c->memory), PTO_STR("_column")));
    pto_spec_loc(&s, pto_op_loc(c->op));
    c->workspace = pto_spec_value(&s, pto_before(nest));
    PTO_NEED(c->workspace);
    return PTO_OK;
}

/* ---- moving ---- */

/* Where the column begins in either memory, `row` rows further down. */
static void start_at(const column *c, pto_value memory, pto_expr row, pto_expr out[PTO_MAX_DIMS])
{
    if (pto_value_same(memory, c->workspace)) {
        out[0] = c->place;
        out[1] = row;
        out[2] = pto_expr_const(c->run, 0);
        return;
    }
    for (uint32_t d = 0; d < c->rank; d++) out[d] = c->at[d];
    if (c->rank >= 2) out[c->rank - 2] = pto_expr_add(out[c->rank - 2], row);
}

/* Copies some rows of the column as a block for each. */
static pto_status copy_piece(const column *c, pto_value from, pto_value to, pto_expr row, int64_t rows, pto_expr valid,
                             pto_place where)
{
    const pto_run *run = c->run;
    const pto_space_facts space = pto_machine_space(run, pto_type_space(c->tile));
    const pto_dtype dtype = pto_type_dtype(c->tile);
    const pto_expr sizes[2] = {valid, c->valid[1]};
    pto_expr at[PTO_MAX_DIMS] = {{.run = run}};
    int64_t unit[2];
    tile_unit(run, pto_type_space(c->tile), space->usual, dtype, unit);
    pto_spec load = pto_spec_make(run, pto_kind(run, KIND_LOAD)), store = pto_spec_make(run, pto_kind(run, KIND_STORE));
    start_at(c, from, row, at);
    pto_spec_operand(&load, from);
    pto_spec_exprs(&load, PTO_STR("offsets"), pto_type_rank(pto_value_type(from)), at);
    pto_spec_exprs(&load, PTO_STR("sizes"), 2, sizes);
    pto_spec_result(
        &load, pto_type_tile(run, dtype, pto_round_up(rows, unit[0]), unit[1], pto_type_space(c->tile), space->usual));
    pto_spec_name(&load, pto_str_join(run, pto_value_name(c->memory), PTO_STR("_blocks")));
    pto_spec_loc(&load, pto_op_loc(c->op));
    const pto_value piece = pto_spec_value(&load, where);
    PTO_NEED(piece);
    start_at(c, to, row, at);
    pto_spec_operand(&store, piece);
    pto_spec_operand(&store, to);
    pto_spec_exprs(&store, PTO_STR("offsets"), pto_type_rank(pto_value_type(to)), at);
    pto_spec_loc(&store, pto_op_loc(c->op));
    return PTO_SOME(pto_spec_build(&store, pto_after(pto_value_op(piece)))) ? PTO_OK : PTO_FAILED;
}

/* The whole column, piece by piece, so that blocks take little of the space. */
static pto_status copy_column(const column *c, pto_value from, pto_value to, pto_place where)
{
    const pto_run *run = c->run;
    const int64_t rows = tile_capacity_of(c->tile, 0);
    const pto_expr zero = pto_expr_const(run, 0), one = pto_expr_const(run, 1);
    if (rows <= PIECE_ROWS) return copy_piece(c, from, to, zero, rows, c->valid[0], where);
    const pto_expr piece = pto_expr_const(run, PIECE_ROWS), trips = pto_expr_ceildiv(c->valid[0], piece);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FOR));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &zero);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &trips);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &one);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(c->op));
    const pto_op loop = pto_spec_build(&s, where);
    PTO_NEED(loop);
    const pto_value index = pto_block_add_arg(pto_body(loop), pto_type_scalar(run, PTO_INDEX), PTO_STR("p"));
    PTO_NEED(index);
    const pto_expr row = pto_expr_scale(pto_expr_value(index), PIECE_ROWS);
    PTO_TRY(copy_piece(c, from, to, row, PIECE_ROWS, pto_expr_min(piece, pto_expr_sub(c->valid[0], row)),
                       pto_at_end(pto_body(loop))));
    pto_spec yield = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    return PTO_SOME(pto_spec_build(&yield, pto_at_end(pto_body(loop)))) ? PTO_OK : PTO_FAILED;
}

/* The transfer again, with the workspace as its memory. */
static pto_op move_packed(const column *c, int is_load)
{
    pto_spec s = pto_spec_make(c->run, pto_op_kind(c->op));
    pto_expr at[PTO_MAX_DIMS];
    start_at(c, c->workspace, pto_expr_const(c->run, 0), at);
    if (!is_load) pto_spec_operand(&s, pto_op_operand(c->op, 0));
    pto_spec_operand(&s, c->workspace);
    pto_spec_attrs_of(&s, c->op);
    pto_spec_exprs(&s, PTO_STR("offsets"), 3, at);
    pto_spec_loc(&s, pto_op_loc(c->op));
    if (is_load) {
        pto_spec_result(&s, c->tile);
        pto_spec_name(&s, pto_value_name(pto_op_result(c->op, 0)));
    }
    return pto_spec_build(&s, pto_before(c->op));
}

static pto_status pack(const pto_run *run, pto_op function, pto_op op)
{
    const int is_load = pto_op_transfer(op) == PTO_TRANSFER_LOAD;
    column c = {.run = run, .op = op, .tile = tile_of(op), .memory = memory_of(op)};
    c.rank = pto_expr_count_of(op, PTO_STR("offsets"));
    for (uint32_t d = 0; d < c.rank; d++) c.at[d] = pto_expr_of(op, PTO_STR("offsets"), d);
    PTO_TRY(pto_value_valid(value_of(op), c.valid));
    PTO_TRY(make_place(&c, function));
    if (is_load) PTO_TRY(copy_column(&c, c.memory, c.workspace, pto_before(op)));
    const pto_op moved = move_packed(&c, is_load);
    PTO_NEED(moved);
    if (is_load) return pto_op_replace_by(op, pto_op_result(moved, 0));
    PTO_TRY(copy_column(&c, c.workspace, c.memory, pto_before(op)));
    return pto_op_erase(op);
}

pto_status columns_pack(const pto_run *run, pto_op function, uint32_t *out_count)
{
    pto_op *found = NULL;
    uint32_t count = 0, capacity = 0;
    PTO_WALK(function, op)
    {
        const pto_op from = pto_op_transfer(op) == PTO_TRANSFER_STORE ? pto_value_op(pto_op_operand(op, 0)) : op;
        if (!columns_are_apart(op) || tile_capacity_of(tile_of(op), 1) != 1) continue;
        if (PTO_SOME(from) && columns_go_as_rows(from)) continue;
        PTO_GROW(run, found, count, capacity);
        found[count++] = op;
    }
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pack(run, function, found[i]));
    *out_count = count;
    return PTO_OK;
}
