/* Makes the table that a store with a factor for each column reads: two words for a column, the factor and what the
 * store is to know of the result.
 *
 *     forall (%j) to (ceildiv($N, 256)) out(%o = %e) {
 *       %ts = tile.load %s[0, 256 * %j] size(1, ..)
 *       %tw = tile.fill %word valid(1, 2 * ..)
 *       %ti = tile.muls (tile.iota 0), 2
 *       %ty = tile.scatter %tw, %ts, %ti
 *       tile.store %ty, %o[0, 512 * %j]
 *     }
 *
 * A scale of one number is read as a scalar, which fills %ts. */
#include "tile_nest.h"

enum { COLUMNS_MOST = 256, COLUMNS_LEAST = 32, BYTES_FOR_COLUMN = 64 /* of all tiles, each in two buffers */ };

/* The words of the table are f32; this one has the bits 0x4000, which say that integers are signed. */
static const double signed_word = 0x1p-135;

static int64_t columns_of_tile(const pto_run *run, pto_expr columns)
{
    int64_t size = COLUMNS_MOST, extent = 0;
    const int64_t room = tile_capacity(run, pto_space_of_role(run, PTO_ROLE_SCRATCHPAD)) / BYTES_FOR_COLUMN;
    while (size > COLUMNS_LEAST && size > room) size /= 2;
    if (pto_expr_is_const(columns, &extent) && extent > 0 && extent < size) size = pto_round_up(extent, COLUMNS_LEAST);
    return size;
}

/* The factors of the instance's columns in f32. */
static tile_piece load_factors(tile_nest *n, pto_value row, int is_one, pto_expr at, const pto_expr valid[2],
                               int64_t columns)
{
    const pto_expr zero = pto_expr_const(n->run, 0), one = pto_expr_const(n->run, 1);
    const pto_expr from[2] = {zero, is_one ? zero : at}, size[2] = {one, is_one ? one : valid[1]};
    tile_piece t = tile_emit_load(n, row, from, size, 1, is_one ? COLUMNS_LEAST : columns, 0);
    if (t.dtype != PTO_F32) t = tile_emit(n, pto_kind(n->run, KIND_CAST), PTO_F32, 1, t.columns, 1, &t);
    if (!is_one || n->failed) return t;
    return tile_emit_fill(n, PTO_F32, (tile_number){.value = tile_emit_read(n, t, zero)}, valid, 1, columns);
}

static void emit_table(tile_nest *n, pto_value row, pto_expr columns, int64_t size, int is_signed)
{
    int64_t given = 0;
    const pto_expr j = pto_expr_value(pto_block_arg(n->block, 0)), zero = pto_expr_const(n->run, 0),
                   none = pto_expr_none(n->run);
    const pto_expr valid[2] = {pto_expr_const(n->run, 1), tile_valid_extent(size, columns, j)},
                   words[2] = {valid[0], pto_expr_scale(valid[1], 2)}, at[2] = {zero, pto_expr_scale(j, 2 * size)};
    const int is_one = pto_dim_is_const(pto_value_type(row), 1, &given) && given == 1;
    const pto_value out = pto_block_arg(n->block, 1);
    const tile_number word = {.real = is_signed ? signed_word : 0, .index = none}, start = {.index = none},
                      two = {.whole = 2, .index = none};
    tile_piece t[3];
    t[1] = load_factors(n, row, is_one, pto_expr_scale(j, size), valid, size);
    t[0] = tile_emit_fill(n, PTO_F32, word, words, 1, 2 * size);
    t[2] = tile_emit_scalar(n, pto_kind(n->run, KIND_MULS), tile_emit_count(n, PTO_I32, start, valid, size), two);
    tile_emit_store(n, tile_emit(n, pto_kind(n->run, KIND_SCATTER), PTO_F32, 1, 2 * size, 3, t), out, at);
}

pto_status tile_make_factors(pto_op group, pto_op product, pto_value scale, pto_expr columns, int is_signed,
                             pto_value *out_table)
{
    static const char *const names[1] = {"j"};
    const pto_run *run = group.run;
    const uint32_t rank = pto_type_rank(pto_value_type(scale));
    const pto_expr one = pto_expr_const(run, 1);
    const pto_expr dims[2] = {one, rank == 0 ? one : pto_type_dim(pto_value_type(scale), rank - 1)},
                   words[2] = {one, pto_expr_scale(columns, 2)};
    const int64_t size = columns_of_tile(run, columns);
    const pto_expr to = pto_expr_ceildiv(columns, pto_expr_const(run, size));
    const pto_value row = tile_view(run, group, scale, 2, dims);
    const pto_value target = tile_empty(run, group, pto_type_tensor(run, PTO_F32, 2, words), PTO_STR("e"));
    PTO_NEED(row);
    PTO_NEED(target);
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(product);
    n.name = pto_value_name(scale);
    const pto_op forall = tile_begin_forall(&n, group, 1, &to, names, 1, &target);
    PTO_NEED(forall);
    emit_table(&n, row, columns, size, is_signed);
    PTO_TRY(tile_end_body(&n));
    *out_table = pto_op_result(forall, 0);
    return pto_value_set_name(*out_table, PTO_STR("factors"));
}
