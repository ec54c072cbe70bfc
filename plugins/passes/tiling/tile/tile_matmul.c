/* Lowers a matrix product, batched or not, and a transpose of the last two dims.
 *
 *     forall (%b, %im, %in) to (batch, ceildiv(M, 128), ceildiv(N, 128)) out(%o = %e) {
 *       %z = tile.zero_acc valid(..)
 *       %r = for %ik to ceildiv(K, 64) carry(%s = %z valid(..)) { load a, load b, matmul_acc, yield }
 *       tile.store %r, %o[..]
 *     }
 *
 * A bias is one more k: a column of ones times the row, which adds it with the rounding of an addition. A relu
 * and a scale are on the way of the store: one known number is an attribute of it, others are a table that a nest of
 * its own makes (tile_factors.c). */
#include "machine_types.h"
#include "tile_nest.h"

#include <math.h>

enum { DIM_M, DIM_N, DIM_K, DIM_COUNT };
enum { FACTOR_BYTES = 8 /* of a column: two words of 4 */ };

struct tile_product {
    const pto_run *run;
    pto_op op;
    pto_value left; /* in memory */
    pto_value bias;
    double scale;      /* of the store; NaN: none */
    pto_value factors; /* what stores multiply columns by: at first the scale, then the table; may be none */
    pto_type a, b, result;
    pto_dtype from, acc;
    int transpose_a, transpose_b;
    uint32_t batch_count;
    pto_expr extent[DIM_COUNT];
    int64_t static_extent[DIM_COUNT], granule[DIM_COUNT];
};
typedef tile_product product;

/* Edges of tiles are multiples of it: boxes of both operands are rows by elements of a row, or turned. */
static int64_t granule_of(const pto_run *run, pto_dtype t)
{
    const int64_t rows = pto_machine_i64_or(run, 1, "matrix.box-rows"),
                  bytes = pto_machine_i64_or(run, 1, "matrix.box-row-bytes"), element = pto_dtype_bytes(t),
                  row = element > 0 ? bytes / element : 1;
    return row > rows ? row : rows;
}

static pto_dtype bias_dtype(const product *p) { return pto_type_dtype(pto_value_type(p->bias)); }
static int64_t bias_depth(const product *p) { return granule_of(p->run, bias_dtype(p)); }

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    const product *p = self;
    int64_t t[DIM_COUNT], bytes = pto_dtype_bytes(p->from);
    for (int d = 0; d < DIM_COUNT; d++) t[d] = pto_round_up(tile[d], p->granule[d]);
    /* A bias has operands of its own, one box deep and of its type. */
    const int64_t bias = PTO_SOME(p->bias) ? bias_depth(p) * pto_dtype_bytes(bias_dtype(p)) : 0,
                  depth = tile_add(tile_mul(t[DIM_K], bytes), bias);
    const int64_t factors = PTO_SOME(p->factors) ? tile_mul(t[DIM_N], FACTOR_BYTES) : 0;
    int64_t left = tile_mul(tile_mul(t[DIM_M], depth), 2);
    int64_t right = tile_mul(tile_mul(depth, t[DIM_N]), 2);
    const uint32_t role = pto_space_role(p->run, space);
    if (space != pto_space_of_role(p->run, role)) return 0;
    switch (role) {
    case PTO_ROLE_PANEL: return tile_add(tile_add(left, right), factors);
    case PTO_ROLE_SCALING: return factors;
    case PTO_ROLE_LEFT: return left;
    case PTO_ROLE_RIGHT: return right;
    /* One is enough: pto.pipeline makes it two where there is space, so that a store overlaps the next product. */
    case PTO_ROLE_ACCUMULATOR: return tile_mul(tile_mul(t[DIM_M], t[DIM_N]), pto_dtype_bytes(p->acc));
    default: return 0;
    }
}

/* What of a product: loads of both operands, their ways to the unit, the product, the store. */
static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    static const uint32_t roles[][2] = {{PTO_ROLE_GLOBAL, PTO_ROLE_PANEL}, {PTO_ROLE_GLOBAL, PTO_ROLE_PANEL},
                                        {PTO_ROLE_PANEL, PTO_ROLE_LEFT},   {PTO_ROLE_PANEL, PTO_ROLE_RIGHT},
                                        {PTO_ROLE_NONE, PTO_ROLE_NONE},    {PTO_ROLE_ACCUMULATOR, PTO_ROLE_GLOBAL}};
    static const uint32_t kinds[] = {KIND_LOAD, KIND_LOAD, KIND_LOAD, KIND_LOAD, KIND_MATMUL_ACC, KIND_STORE};
    enum { A = 0, A_TO_LEFT = 2, PRODUCT = 4, RESULT = 5, COUNT };
    const product *p = self;
    const int64_t steps = pto_expected_extent(p->op, p->extent[DIM_K]);
    for (int i = 0; i < COUNT; i++) {
        const int is_left = i == A || i == A_TO_LEFT, is_whole = i >= PRODUCT;
        const pto_tile_work w = {.struct_size = sizeof w,
                                 .kind = pto_kind(p->run, kinds[i]),
                                 .from = pto_space_of_role(p->run, roles[i][0]),
                                 .to = pto_space_of_role(p->run, roles[i][1]),
                                 .rows = is_left || is_whole ? tile[DIM_M] : tile[DIM_K],
                                 .columns = is_left ? tile[DIM_K] : tile[DIM_N],
                                 .depth = i == PRODUCT ? tile[DIM_K] : 0,
                                 .dtype = i == RESULT ? pto_type_dtype(p->result) : p->from,
                                 .loop = i != RESULT,
                                 .times = i == RESULT ? 1.0
                                          : steps < 0 ? -1.0
                                                      : (double)pto_ceil_div(steps, tile[DIM_K])};
        sink->take(sink->self, &w);
    }
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((const product *)self)->run, space); }

/* Whether the machine can store an f32 accumulator as `to`. */
static int stores_as(const pto_run *run, pto_dtype to)
{
    const pto_path_facts path = pto_path_facts_of(run, PTO_ROLE_ACCUMULATOR, PTO_ROLE_GLOBAL);
    return path != NULL && (path->casts[PTO_F32] >> to & 1) != 0 && pto_dtype_is_half_float(to);
}

static pto_status check_types(product *p)
{
    pto_dtype to = pto_type_dtype(p->result);
    p->from = pto_type_dtype(p->a);
    if ((!pto_dtype_is_float(p->from) || p->from == PTO_F8E8M0) && p->from != PTO_I8)
        return pto_error(
            p->op, "pto.tile/unsupported-type",
            "`tensor.matmul` of this element type has no instruction; supported are f32, f16, bf16, f8e4m3, f8e5m2 "
            "and i8");
    p->acc = p->from == PTO_I8 ? PTO_I32 : PTO_F32;
    if (!isnan(p->scale) || PTO_SOME(p->factors) || to == p->acc || (p->acc == PTO_F32 && stores_as(p->run, to)))
        return PTO_OK;
    return pto_error(
        p->op, "pto.tile/unsupported-type",
        "`tensor.matmul` cannot give this result type: the accumulator is %s, and the machine stores it as %s; use "
        "{out = %s} and a `tensor.cast`",
        p->acc == PTO_I32 ? "i32" : "f32", p->acc == PTO_I32 ? "i32 only" : "f32, f16 or bf16 as its paths say",
        p->acc == PTO_I32 ? "i32" : "f32");
}

static pto_status check_plain(pto_op op)
{
    const int is_plain = pto_op_operand_count(op) == 2 && pto_type_rank(pto_value_type(pto_op_operand(op, 0))) > 1 &&
                         pto_type_rank(pto_value_type(pto_op_operand(op, 1))) > 1 &&
                         !pto_str_is(pto_attr_str_of(op, PTO_STR("activation")), "relu");
    const machine_epilogue epilogue = machine_epilogue_of(op);
    PTO_TRY(tile_check_order(op));
    return is_plain || machine_epilogue_obstacle(op, &epilogue) == NULL
               ? PTO_OK
               : pto_error(op, "pto.tile/composite-left",
                           "`tensor.matmul` has a vector, a bias, a scale or an activation; "
                           "`pto.decompose-matmul` takes it apart: put it before `pto.legalize-types`");
}

static pto_status read_product(product *p, const pto_run *run, pto_op op)
{
    PTO_TRY(check_plain(op));
    *p = (product){
        .run = run, .op = op, .left = pto_op_operand(op, 0), .scale = (double)NAN, .factors = pto_value_none(run)};
    const pto_value scale = machine_epilogue_of(op).scale;
    if (PTO_SOME(scale) && !machine_scale_number(scale, &p->scale)) p->factors = scale;
    p->a = pto_value_type(pto_op_operand(op, 0));
    p->b = pto_value_type(pto_op_operand(op, 1));
    p->result = pto_value_type(pto_op_result(op, 0));
    p->transpose_a = pto_attr_bool_of(op, PTO_STR("transpose_a"), 0);
    p->transpose_b = pto_attr_bool_of(op, PTO_STR("transpose_b"), 0);
    PTO_TRY(check_types(p));
    uint32_t rank = pto_type_rank(p->result), rank_a = pto_type_rank(p->a);
    p->batch_count = rank - 2;
    p->extent[DIM_M] = pto_type_dim(p->result, rank - 2);
    p->extent[DIM_N] = pto_type_dim(p->result, rank - 1);
    p->extent[DIM_K] = pto_type_dim(p->a, rank_a - (p->transpose_a ? 2 : 1));
    for (int d = 0; d < DIM_COUNT; d++) {
        if (!pto_expr_is_const(p->extent[d], &p->static_extent[d])) p->static_extent[d] = -1;
        p->granule[d] = granule_of(run, p->from);
    }
    return PTO_OK;
}

/* Products of a batch; -1: not known. */
static int64_t outer_instances(const product *p, pto_op group)
{
    int64_t instances = 1;
    for (uint32_t d = 0; d < p->batch_count; d++) {
        const int64_t extent = pto_expected_extent(group, pto_type_dim(p->result, d));
        if (extent < 0) return -1;
        instances = tile_mul(instances, extent);
    }
    return instances;
}

static pto_status choose(product *p, pto_op group, int64_t tile[DIM_COUNT])
{
    static const char *const names[DIM_COUNT] = {"m", "n", "k"};
    pto_tiling_dim dims[DIM_COUNT];
    const pto_tiling_dim *list[DIM_COUNT];
    for (int d = 0; d < DIM_COUNT; d++) {
        dims[d] = (pto_tiling_dim){.struct_size = sizeof dims[d],
                                   .kind = d == DIM_K ? PTO_REDUCE : PTO_PARALLEL,
                                   .name = names[d],
                                   .extent = p->extent[d],
                                   .static_extent = p->static_extent[d],
                                   .granule = p->granule[d]};
        list[d] = &dims[d];
    }
    pto_tiling_problem problem = {.struct_size = sizeof problem,
                                  .dim_count = DIM_COUNT,
                                  .shape = "matmul",
                                  .nest = group,
                                  .dims = list,
                                  .self = p,
                                  .footprint = footprint,
                                  .capacity = capacity,
                                  .outer_instances = outer_instances(p, group),
                                  .work = work};
    const int64_t facts[] = {p->from, p->acc, pto_type_dtype(p->result), PTO_SOME(p->bias) ? bias_dtype(p) : 0,
                             PTO_SOME(p->factors)};
    tile_put_words(group, TILE_WORDS_PRODUCT, sizeof facts / sizeof *facts, facts, &problem);
    PTO_TRY(pto_tiling_choose(p->run, TILE_OPT_STRATEGY, &problem, tile, NULL));
    for (int d = 0; d < DIM_COUNT; d++) {
        int64_t most = pto_round_up(p->static_extent[d], p->granule[d]);
        if (p->static_extent[d] > 0 && tile[d] > most) tile[d] = most;
        /* A size that covers the extent may end within a box; layouts hold whole ones. */
        tile[d] = pto_round_up(tile[d], p->granule[d]);
        /* What is never loaded has tiles of one box. */
        if (p->static_extent[d] == 0) tile[d] = p->granule[d];
    }
    return PTO_OK;
}

/* Offsets of an operand: the batch indices it has, then its two. `batch` may be NULL where there are none. */
static pto_expr *offsets_of(const product *p, pto_type type, const pto_expr *batch, pto_expr first, pto_expr second)
{
    uint32_t rank = pto_type_rank(type), lead = p->batch_count - (rank - 2);
    pto_expr *offsets = PTO_SCRATCH(p->run, pto_expr, rank);
    for (uint32_t i = lead; batch != NULL && i < p->batch_count; i++) {
        int64_t extent = 0;
        int repeats = pto_dim_is_const(type, i - lead, &extent) && extent == 1;
        offsets[i - lead] = repeats ? pto_expr_const(p->run, 0) : batch[i];
    }
    offsets[rank - 2] = first;
    offsets[rank - 1] = second;
    return offsets;
}

/* Load of a rows x columns tile of an operand whose dims may be stored the other way round. */
static tile_piece load_operand(const product *p, tile_nest *n, uint32_t operand, int transposed, const pto_expr *batch,
                               const pto_expr offset[2], const pto_expr valid[2], int64_t rows, int64_t columns)
{
    pto_value memory = operand == 0 ? p->left : pto_op_operand(p->op, operand);
    pto_expr *offsets =
        offsets_of(p, pto_value_type(memory), batch, offset[transposed ? 1 : 0], offset[transposed ? 0 : 1]);
    n->name = pto_value_name(memory);
    return tile_emit_load(n, memory, offsets, valid, rows, columns, transposed);
}

static tile_piece emit_zero(tile_nest *n, pto_dtype dtype, const pto_expr valid[2], int64_t rows, int64_t columns)
{
    tile_piece p = {.rows = rows, .columns = columns, .dtype = dtype};
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_ZERO_ACC));
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    pto_spec_result(&s, pto_type_tile(n->run, dtype, rows, columns, PTO_SPACE_NONE, PTO_LAYOUT_NONE));
    pto_spec_loc(&s, n->loc);
    pto_spec_name(&s, PTO_STR("z"));
    p.value = pto_spec_value(&s, pto_at_end(n->block));
    if (!PTO_SOME(p.value)) n->failed = 1;
    return p;
}

/* What is made before the nest: the bias as a matrix of one row, the table of factors. */
static pto_status make_rows(product *p, pto_op group)
{
    const int is_signed = pto_type_dtype(p->result) == PTO_I8;
    if (PTO_SOME(p->factors))
        PTO_TRY(tile_make_factors(group, p->op, p->factors, p->extent[DIM_N], is_signed, &p->factors));
    p->bias = machine_epilogue_of(p->op).bias;
    if (!PTO_SOME(p->bias)) return PTO_OK;
    const pto_expr row[2] = {pto_expr_const(p->run, 1), p->extent[DIM_N]};
    p->bias = tile_view(p->run, group, p->bias, 2, row);
    PTO_NEED(p->bias);
    return PTO_OK;
}

static pto_value in_space(const product *p, tile_nest *n, tile_piece tile, uint32_t role)
{
    const pto_type type =
        pto_type_tile(p->run, tile.dtype, tile.rows, tile.columns, pto_space_of_role(p->run, role), PTO_LAYOUT_NONE);
    if (n->failed || pto_value_set_type(tile.value, type) != PTO_OK) n->failed = 1;
    return tile.value;
}

/* A column of ones as the left operand. Without the spaces it would be filled in vector memory, which has no path to
 * operands of products. */
static tile_piece emit_ones(const product *p, tile_nest *n, const pto_expr valid[2], int64_t rows, int64_t columns)
{
    const tile_number one = {.real = 1.0, .whole = 1};
    tile_piece ones = tile_emit_fill(n, bias_dtype(p), one, valid, rows, columns);
    ones.value = in_space(p, n, ones, PTO_ROLE_PANEL);
    tile_piece left = tile_emit(n, pto_kind(n->run, KIND_MOVE), ones.dtype, rows, columns, 1, &ones);
    left.value = in_space(p, n, left, PTO_ROLE_LEFT);
    return left;
}

/* The sum plus the bias, whose row is where the instance's columns are. */
static tile_piece add_bias(const product *p, tile_nest *n, tile_piece sum, const pto_expr offset[DIM_COUNT],
                           const pto_expr valid[DIM_COUNT], const int64_t *tile)
{
    const pto_expr one = pto_expr_const(p->run, 1), at[2] = {pto_expr_const(p->run, 0), offset[DIM_N]},
                   ones_valid[2] = {valid[DIM_M], one}, row_valid[2] = {one, valid[DIM_N]};
    const int64_t depth = bias_depth(p);
    const pto_str name = n->name;
    tile_piece step[3] = {sum};
    n->name = pto_value_name(p->bias);
    step[1] = emit_ones(p, n, ones_valid, tile[DIM_M], depth);
    step[2] = tile_emit_load(n, p->bias, at, row_valid, depth, tile[DIM_N], 0);
    n->name = name;
    return tile_emit(n, pto_kind(n->run, KIND_MATMUL_ACC), p->acc, tile[DIM_M], tile[DIM_N], 3, step);
}

/* Stores the sum, with what follows it on the way. */
static void emit_store(const product *p, tile_nest *n, tile_piece sum, pto_value target, const pto_expr *to,
                       pto_expr column, pto_expr columns)
{
    if (!PTO_SOME(p->factors)) {
        tile_emit_store_after(n, sum, target, to, machine_epilogue_of(p->op).relu, p->scale);
        return;
    }
    const pto_expr at[2] = {pto_expr_const(p->run, 0), pto_expr_scale(column, 2)},
                   words[2] = {pto_expr_const(p->run, 1), pto_expr_scale(columns, 2)};
    n->name = pto_value_name(p->factors);
    tile_emit_store_by_factors(n, sum, tile_emit_load(n, p->factors, at, words, 1, 2 * sum.columns, 0), target, to);
}

/* The sums of an instance. `offset` and `valid` are set for rows and columns. */
static tile_piece emit_sums(const product *p, tile_nest *n, const int64_t *tile, const pto_expr *batch,
                            pto_expr offset[DIM_COUNT], pto_expr valid[DIM_COUNT])
{
    const pto_str name = n->name;
    const pto_expr region[1][2] = {{valid[DIM_M], valid[DIM_N]}};
    /* One chain over k, ascending: what {order = "ascending"} asks for. A strategy that splits k must refuse that, as
     * rows do. */
    tile_piece sum = emit_zero(n, p->acc, region[0], tile[DIM_M], tile[DIM_N]);
    pto_op loop =
        tile_begin_for(n, pto_expr_ceildiv(p->extent[DIM_K], pto_expr_const(p->run, tile[DIM_K])), 1, &sum, region);
    if (n->failed) return sum;
    pto_value ik = pto_block_add_arg(n->block, pto_type_scalar(p->run, PTO_INDEX), PTO_STR("ik"));
    tile_piece step[3] = {sum};
    step[0].value = pto_block_add_arg(n->block, pto_value_type(sum.value), PTO_STR("s"));
    offset[DIM_K] = pto_expr_scale(pto_expr_value(ik), tile[DIM_K]);
    valid[DIM_K] = tile_valid_extent(tile[DIM_K], p->extent[DIM_K], pto_expr_value(ik));
    const pto_expr at_a[2] = {offset[DIM_M], offset[DIM_K]}, at_b[2] = {offset[DIM_K], offset[DIM_N]};
    const pto_expr valid_a[2] = {valid[DIM_M], valid[DIM_K]}, valid_b[2] = {valid[DIM_K], valid[DIM_N]};
    step[1] = load_operand(p, n, 0, p->transpose_a, batch, at_a, valid_a, tile[DIM_M], tile[DIM_K]);
    step[2] = load_operand(p, n, 1, p->transpose_b, batch, at_b, valid_b, tile[DIM_K], tile[DIM_N]);
    n->name = name;
    tile_piece next = tile_emit(n, pto_kind(n->run, KIND_MATMUL_ACC), p->acc, tile[DIM_M], tile[DIM_N], 3, step);
    tile_end_for(n, loop, 1, &next, &sum);
    return sum;
}

static void emit_instance(const product *p, tile_nest *n, pto_str name, const int64_t *tile, pto_value target)
{
    pto_block body = n->block;
    pto_expr *batch = PTO_SCRATCH(p->run, pto_expr, p->batch_count), offset[DIM_COUNT], valid[DIM_COUNT];
    for (uint32_t i = 0; i < p->batch_count; i++) batch[i] = pto_expr_value(pto_block_arg(body, i));
    for (uint32_t d = DIM_M; d <= DIM_N; d++) {
        pto_expr index = pto_expr_value(pto_block_arg(body, p->batch_count + d));
        offset[d] = pto_expr_scale(index, tile[d]);
        valid[d] = tile_valid_extent(tile[d], p->extent[d], index);
    }
    n->name = name;
    tile_piece sum = emit_sums(p, n, tile, batch, offset, valid);
    if (PTO_SOME(p->bias)) sum = add_bias(p, n, sum, offset, valid, tile);
    const pto_expr *to = offsets_of(p, p->result, batch, offset[DIM_M], offset[DIM_N]);
    emit_store(p, n, sum, target, to, offset[DIM_N], valid[DIM_N]);
}

pto_status tile_lower_matmul(const pto_run *run, pto_op group, pto_op op)
{
    product p;
    int64_t tile[DIM_COUNT];
    PTO_TRY(read_product(&p, run, op));
    p.bias = machine_epilogue_of(op).bias;
    PTO_TRY(choose(&p, group, tile));
    PTO_TRY(make_rows(&p, group));
    uint32_t dims = p.batch_count + 2;
    pto_expr *to = PTO_SCRATCH(run, pto_expr, dims);
    const char **names = pto_scratch_array(run, dims, sizeof *names);
    for (uint32_t i = 0; i < p.batch_count; i++) {
        to[i] = pto_type_dim(p.result, i);
        names[i] = "ib";
    }
    names[dims - 2] = "im";
    names[dims - 1] = "in";
    for (uint32_t d = DIM_M; d <= DIM_N; d++)
        to[p.batch_count + d] = pto_expr_ceildiv(p.extent[d], pto_expr_const(run, tile[d]));
    pto_value target = tile_empty(run, group, p.result, PTO_STR("e"));
    PTO_NEED(target);
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    pto_op forall = tile_begin_forall(&n, group, dims, to, names, 1, &target);
    PTO_NEED(forall);
    emit_instance(&p, &n, pto_value_name(pto_op_result(group, 0)), tile, pto_block_arg(n.block, dims));
    return tile_end_forall(&n, group, forall);
}

/* ---- in a group with others ---- */

pto_status tile_product_read(const pto_run *run, pto_op group, pto_op op, tile_product **out)
{
    product *p = PTO_SCRATCH(run, product, 1);
    *out = p;
    PTO_TRY(read_product(p, run, op));
    if (!isnan(p->scale) || PTO_SOME(p->factors) || machine_epilogue_of(op).relu)
        return pto_error(
            op, "pto.tile/not-alone",
            "`tensor.matmul` with a scale or a relu shares its group; supported is a group of this op alone");
    PTO_TRY(make_rows(p, group));
    if (p->batch_count == 0) return PTO_OK;
    pto_expr dims[2] = {p->extent[DIM_M], p->extent[DIM_K]};
    for (uint32_t i = 0; i < p->batch_count; i++) dims[0] = pto_expr_mul(pto_type_dim(p->result, i), dims[0]);
    p->left = tile_view(run, group, p->left, 2, dims);
    PTO_NEED(p->left);
    p->batch_count = 0;
    p->extent[DIM_M] = dims[0];
    if (!pto_expr_is_const(dims[0], &p->static_extent[DIM_M])) p->static_extent[DIM_M] = -1;
    return PTO_OK;
}

pto_status tile_product_check(const tile_product *p, pto_expr rows, pto_expr columns)
{
    if (pto_expr_equal(p->extent[DIM_M], rows) && pto_expr_equal(p->extent[DIM_N], columns)) return PTO_OK;
    return pto_error(p->op, "pto.tile/not-alone",
                     "`tensor.matmul` shares its group with values of other rows and columns; supported are those of "
                     "the product");
}

pto_status tile_product_choose(tile_product *p, pto_op group, int64_t tile[3]) { return choose(p, group, tile); }

tile_piece tile_product_emit(const tile_product *p, tile_nest *n, const int64_t tile[3], const pto_expr offset[2],
                             const pto_expr valid[2])
{
    pto_expr from[DIM_COUNT] = {offset[0], offset[1]}, size[DIM_COUNT] = {valid[0], valid[1]};
    const pto_str name = n->name;
    tile_piece step[2] = {emit_sums(p, n, tile, NULL, from, size)};
    if (!PTO_SOME(p->bias)) return step[0];
    const pto_expr at[2] = {pto_expr_const(p->run, 0), offset[1]}, row[2] = {pto_expr_const(p->run, 1), valid[1]};
    n->name = pto_value_name(p->bias);
    step[1] = tile_emit_load(n, p->bias, at, row, 1, tile[DIM_N], 0);
    if (step[1].dtype != p->acc)
        step[1] = tile_emit(n, pto_kind(n->run, KIND_CAST), p->acc, 1, tile[DIM_N], 1, &step[1]);
    n->name = name;
    return tile_emit(n, pto_kind(n->run, KIND_COLEXPANDADD), p->acc, tile[DIM_M], tile[DIM_N], 2, step);
}
