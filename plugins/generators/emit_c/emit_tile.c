/* Tile ops, each a nest of loops over its valid region. */
#include "emit.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* ---- loops ---- */

typedef struct region {
    const char *rows, *columns;
    int one_row, one_column;
} region;

static pto_status region_of(emitter *e, pto_value v, region *out)
{
    pto_expr valid[2];
    int64_t n = 0;
    PTO_TRY(pto_value_valid(v, valid));
    *out = (region){.rows = emit_extent(e, valid[0], "rows"), .columns = emit_extent(e, valid[1], "columns")};
    out->one_row = pto_expr_is_const(valid[0], &n) && n == 1;
    out->one_column = pto_expr_is_const(valid[1], &n) && n == 1;
    return PTO_OK;
}

/* Opens the loops over a region and names its indices. */
static void open_loops(emitter *e, const region *g, const char **row, const char **column)
{
    *row = g->one_row ? "0" : "i_";
    *column = g->one_column ? "0" : "j_";
    if (!g->one_row) text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", g->rows);
    if (!g->one_column) text_open(e->out, "for (int64_t j_ = 0; j_ < %s; j_++)", g->columns);
}

static void close_loops(emitter *e, const region *g)
{
    if (!g->one_column) text_close(e->out, "");
    if (!g->one_row) text_close(e->out, "");
}

/* ---- windows of memory ---- */

static pto_expr product_or_zero(pto_expr a, pto_expr b, const pto_run *run)
{
    const pto_expr p = PTO_SOME(a) && PTO_SOME(b) ? pto_expr_mul(a, b) : pto_expr_none(run);
    return PTO_SOME(p) ? p : pto_expr_const(run, 0);
}

static uint32_t count_of(pto_expr x, pto_value index)
{
    uint32_t n = pto_expr_kind_of(x) == PTO_EXPR_VALUE && pto_expr_leaf(x).index == index.index;
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) n += count_of(pto_expr_arg(x, i), index);
    return n;
}

/* What an index is multiplied by in an expression that has it once; 0: anything. */
static int64_t coefficient_of(pto_expr x, pto_value index)
{
    if (count_of(x, index) != 1) return 0;
    if (pto_expr_kind_of(x) == PTO_EXPR_VALUE) return 1;
    for (uint32_t i = 0; pto_expr_kind_of(x) == PTO_EXPR_SUM && i < pto_expr_arg_count(x); i++)
        if (pto_expr_kind_of(pto_expr_arg(x, i)) == PTO_EXPR_VALUE && count_of(pto_expr_arg(x, i), index) == 1)
            return pto_expr_coef(x, i);
    return 0;
}

/* Where a loop ends; of an end that is the least of several one of them, by its number: the loop ends before each. */
static pto_expr end_of(pto_op loop, uint32_t number)
{
    const pto_expr to = pto_expr_of(loop, PTO_STR("to"), 0);
    return pto_expr_kind_of(to) == PTO_EXPR_MIN ? pto_expr_arg(to, number % pto_expr_arg_count(to)) : to;
}

/* An expression that is at least, or at most, x wherever the loops around are: with ends of theirs as indices. */
static pto_expr at_end(emitter *e, pto_op op, pto_expr x, int most, uint32_t number)
{
    for (pto_op loop = pto_op_parent(op); PTO_SOME(loop); loop = pto_op_parent(loop)) {
        if (!EMIT_IS(e, loop, FOR)) continue;
        const pto_value index = pto_block_arg(pto_body(loop), 0);
        const int64_t coefficient = coefficient_of(x, index);
        if (coefficient == 0) continue;
        const pto_expr end = (coefficient > 0) == most ? pto_expr_offset(end_of(loop, number), -1)
                                                       : pto_expr_of(loop, PTO_STR("from"), 0);
        const pto_expr with = PTO_SOME(end) ? pto_expr_substitute(x, 1, &index, &end) : end;
        if (PTO_SOME(with)) x = with;
    }
    return x;
}

enum { ENDS_MOST = 2 };

/* Whether `offset + size <= dim` is known; a size that is the least of several needs only one of them to fit. */
static int is_within(emitter *e, pto_op op, pto_expr offset, pto_expr size, pto_expr dim)
{
    const pto_expr over = pto_expr_sub(pto_expr_add(offset, size), dim);
    for (uint32_t i = 0; i < ENDS_MOST && PTO_SOME(over); i++)
        if (pto_expr_range(at_end(e, op, over, 1, i), op, NULL).hi <= 0) return 1;
    if (pto_expr_kind_of(size) != PTO_EXPR_MIN) return 0;
    for (uint32_t i = 0; i < pto_expr_arg_count(size); i++)
        if (is_within(e, op, offset, pto_expr_arg(size, i), dim)) return 1;
    return 0;
}

void emit_check_dim(emitter *e, pto_op op, pto_expr offset, pto_expr size, pto_expr dim)
{
    if (pto_expr_range(at_end(e, op, offset, 0, 0), op, NULL).lo >= 0 && is_within(e, op, offset, size, dim)) return;
    const char *at = emit_index(e, offset), *extent = emit_index(e, dim),
               *check = emit_format(e, "if (pto_index_outside(%s, %s, %s))", at, emit_index(e, size), extent);
    if (emit_is_checked(e, check)) return;
    text_line(e->out, "%s return %s;", check,
              emit_index_fault(e, op, "reaches beyond the extent of the memory", at, extent));
}

/* `size`: rows and columns of the tile. */
void emit_window_open(emitter *e, pto_op op, pto_value memory, const pto_expr size[2], int transposed, emit_window *out)
{
    emit_window_of(e, op, "offsets", memory, size, transposed, out);
}

void emit_window_of(emitter *e, pto_op op, const char *starts, pto_value memory, const pto_expr size[2], int transposed,
                    emit_window *out)
{
    const pto_type type = pto_value_type(memory);
    const uint32_t rank = pto_type_rank(type);
    const pto_expr one = pto_expr_const(e->run, 1);
    pto_expr at = pto_expr_const(e->run, 0), stride[2] = {at, at};
    for (uint32_t d = 0; d < rank; d++) {
        const pto_expr offset = pto_expr_of(op, pto_s(starts), d);
        const pto_expr extent = d + 1 == rank ? size[!transposed] : d + 2 == rank ? size[transposed] : one;
        emit_check_dim(e, op, offset, extent, pto_type_dim(type, d));
        at = pto_expr_add(at, product_or_zero(offset, pto_type_stride(type, d), e->run));
        if (d + 2 == rank) stride[transposed] = pto_type_stride(type, d);
        if (d + 1 == rank) stride[!transposed] = pto_type_stride(type, d);
    }
    int64_t n = 1;
    const int is_start = pto_expr_is_const(at, &n) && n == 0;
    out->base = is_start ? emit_value(e, memory) : emit_format(e, "%s + %s", emit_value(e, memory), emit_index(e, at));
    out->row_stride = emit_index(e, stride[0]);
    out->column_stride = emit_index(e, stride[1]);
}

const char *emit_window_at(emitter *e, const emit_window *w, const char *name, const char *row, const char *column)
{
    text t = {.run = e->run};
    const int has_row = strcmp(row, "0") != 0, has_column = strcmp(column, "0") != 0;
    const char *r = w->row_stride, *c = w->column_stride;
    text_put(&t, "%s[", name);
    if (has_row) text_put(&t, strpbrk(r, "+-") != NULL ? "%s * (%s)" : "%s * %s", row, r);
    if (has_row && has_column) text_put(&t, " + ");
    if (has_column && strcmp(c, "1") == 0) text_put(&t, "%s", column);
    if (has_column && strcmp(c, "1") != 0) text_put(&t, strpbrk(c, "+-") != NULL ? "%s * (%s)" : "%s * %s", column, c);
    text_put(&t, has_row || has_column ? "]" : "0]");
    return text_end(&t);
}

/* What is beyond `inner` in the whole tile. */
static void fill_rest(emitter *e, pto_op op, const pto_expr inner[2])
{
    const pto_value result = pto_op_result(op, 0);
    const pto_type type = pto_value_type(result);
    const char *rows = emit_index(e, pto_type_dim(type, 0)), *columns = emit_index(e, pto_type_dim(type, 1));
    const char *pad =
        emit_write(e, pto_type_dtype(type), emit_number(e, pto_type_dtype(type), pto_op_attr(op, PTO_STR("pad")), 1));
    text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", rows);
    text_line(e->out, "for (int64_t j_ = i_ < %s ? %s : 0; j_ < %s; j_++) %s = %s;", emit_index(e, inner[0]),
              emit_index(e, inner[1]), columns, emit_at(e, result, "i_", "j_"), pad);
    text_close(e->out, "");
}

static pto_status emit_load(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0), memory = pto_op_operand(op, 0);
    const pto_dtype t = dtype_of(result);
    const int pads = PTO_SOME(pto_op_attr(op, PTO_STR("pad")));
    const char *row, *column, *name = emit_spare(e, "from");
    emit_window w;
    pto_expr size[2] = {pto_expr_of(op, PTO_STR("sizes"), 0), pto_expr_of(op, PTO_STR("sizes"), 1)};
    if (!PTO_SOME(size[0])) PTO_TRY(pto_value_valid(result, size));
    const region g = {emit_extent(e, size[0], "rows"), emit_extent(e, size[1], "columns"), 0, 0};
    emit_window_open(e, op, memory, size, pto_attr_bool_of(op, PTO_STR("transpose"), 0), &w);
    if (emit_load_transposed(e, op, &w, g.rows, g.columns)) {
        if (pads) fill_rest(e, op, size);
        return PTO_OK;
    }
    text_line(e->out, "const %s *const %s = %s;%s", emit_memory_type(t), name, w.base, emit_remark(e, op));
    open_loops(e, &g, &row, &column);
    text_line(e->out, "%s = %s;", emit_at(e, result, row, column), emit_window_at(e, &w, name, row, column));
    close_loops(e, &g);
    if (pads) fill_rest(e, op, size);
    return PTO_OK;
}

/* What an accumulator does on its way out: a relu, a product in f32, rounding. */
static const char *leaving(emitter *e, pto_op op, pto_dtype from, pto_dtype to, const char *x)
{
    const pto_attr scale = pto_op_attr(op, PTO_STR("scale"));
    const int has_relu = pto_attr_bool_of(op, PTO_STR("relu"), 0), has_scale = PTO_SOME(scale);
    const pto_dtype passes = has_relu || has_scale ? PTO_F32 : from;
    if (passes != from) x = emit_format(e, "(float)%s", x);
    if (has_relu) x = emit_format(e, "(%s <= 0 ? 0 : %s)", x, x);
    if (has_scale) x = emit_format(e, "(%s * %s)", x, emit_number(e, PTO_F32, scale, 0));
    return emit_convert(e, to, passes, x, 1, !pto_dtype_is_float(to), 0);
}

static pto_status emit_store(emitter *e, pto_op op)
{
    const pto_value tile = pto_op_operand(op, 0), memory = pto_op_operand(op, 1);
    const pto_dtype from = dtype_of(tile), to = dtype_of(memory);
    const char *row, *column, *name = emit_spare(e, "to");
    emit_window w;
    region g;
    pto_expr size[2];
    PTO_TRY(pto_value_valid(tile, size));
    PTO_TRY(region_of(e, tile, &g));
    emit_window_open(e, op, memory, size, 0, &w);
    text_line(e->out, "%s *const %s = %s;%s", emit_memory_type(to), name, w.base, emit_remark(e, op));
    if (fused_transpose_goes_out(&e->model, pto_value_op(tile))) return emit_transpose_out(e, op, name, w.row_stride);
    open_loops(e, &g, &row, &column);
    const char *at = emit_at(e, tile, row, column);
    const int is_plain =
        from == to && !pto_attr_bool_of(op, PTO_STR("relu"), 0) && !PTO_SOME(pto_op_attr(op, PTO_STR("scale")));
    text_line(e->out, "%s = %s;", emit_window_at(e, &w, name, row, column),
              is_plain ? at : emit_write(e, to, leaving(e, op, from, to, emit_read(e, from, at))));
    close_loops(e, &g);
    return PTO_OK;
}

/* ---- element by element ---- */

/* An operand's element for that of the result at [row, column], as a number or as it moves. */
static const char *operand_at(emitter *e, pto_op op, uint32_t i, const char *row, const char *column, int moves)
{
    const pto_value v = pto_op_operand(op, i);
    if (!storage_is_tile(v)) return moves ? emit_moved_scalar(e, op, i) : emit_value(e, v);
    const char *at = emit_at(e, v, fused_repeats_row(op, i) ? "0" : row, fused_repeats_column(op, i) ? "0" : column);
    return moves ? at : emit_read(e, dtype_of(v), at);
}

static pto_status emit_map(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0);
    const char *row, *column, *x[4] = {NULL};
    region g;
    PTO_TRY(region_of(e, result, &g));
    open_loops(e, &g, &row, &column);
    const int moves = emit_moves(op);
    for (uint32_t i = 0; i < pto_op_operand_count(op) && i < 4; i++)
        x[i] = operand_at(e, op, i, row, column, moves && !emit_is_condition(op, i));
    const char *formula = moves ? emit_moved(e, op, x, 0) : emit_formula(e, op, x);
    if (formula == NULL) return emit_refuse(op, "its formula is not known");
    text_line(e->out, "%s = %s;", emit_at(e, result, row, column),
              moves ? formula : emit_write(e, dtype_of(result), formula));
    close_loops(e, &g);
    return PTO_OK;
}

/* ---- reductions ---- */

typedef struct reduction {
    const char *suffix, *step;        /* of the name; function or operator */
    const char *empty, *start;        /* of floats: of no element; NaN loses against numbers */
    const char *of_int, *of_unsigned; /* NULL: 0 */
} reduction;

static const reduction reductions[] = {
    {"sum", "add", "0.0f", "0.0f", "0", "0"},
    {"prod", "mul", "1.0f", "1.0f", "1", "1"},
    {"max", "max", "-__builtin_inff()", "__builtin_nanf(\"\")", "least", "0"},
    {"min", "min", "__builtin_inff()", "__builtin_nanf(\"\")", "most", "most"},
};

static const reduction *reduction_of(pto_op op)
{
    const pto_str name = pto_op_name(op);
    for (uint32_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
        const size_t n = strlen(reductions[i].suffix);
        if (name.n > n && memcmp(name.p + name.n - n, reductions[i].suffix, n) == 0) return &reductions[i];
    }
    return NULL;
}

static const char *start_of(emitter *e, const reduction *r, pto_dtype t, const char *count)
{
    if (pto_dtype_is_float(t))
        return strcmp(r->empty, r->start) == 0 ? r->start
                                               : emit_format(e, "%s == 0 ? %s : %s", count, r->empty, r->start);
    const char *name = emit_type_name(t);
    const int is_unsigned = name[0] == 'u', bits = (int)(8 * pto_dtype_bytes(t));
    const char *start = is_unsigned ? r->of_unsigned : r->of_int;
    if (strcmp(start, "least") == 0) return emit_format(e, "INT%d_MIN", bits);
    if (strcmp(start, "most") == 0) return emit_format(e, is_unsigned ? "UINT%d_MAX" : "INT%d_MAX", bits);
    return start;
}

static const char *step_of(emitter *e, const reduction *r, pto_dtype t, const char *a, const char *b)
{
    const int is_float = pto_dtype_is_float(t);
    if (is_float && strcmp(r->step, "add") == 0) return emit_format(e, "%s + %s", a, b);
    if (is_float && strcmp(r->step, "mul") == 0) return emit_format(e, "%s * %s", a, b);
    return emit_format(e, "pto_%s_%s_1(%s, %s)", r->step, is_float ? "f32" : emit_type_name(t), a, b);
}

const char *emit_reduce_start(emitter *e, pto_op reduce, const char *count)
{
    const pto_dtype t = dtype_of(pto_op_operand(reduce, 0));
    const reduction *r = reduction_of(reduce);
    if (r == NULL) return "0";
    if (pto_dtype_is_float(t)) return strcmp(count, "0") == 0 ? r->empty : r->start;
    return start_of(e, r, t, count);
}

/* Rows in f32, rounded at the end; columns in the element type. */
static pto_status emit_reduce(emitter *e, pto_op op, int along_row)
{
    const pto_value a = pto_op_operand(op, 0), result = pto_op_result(op, 0);
    const pto_dtype t = dtype_of(a);
    const reduction *r = reduction_of(op);
    region g;
    if (r == NULL || emit_lane_type(t) == NULL) return emit_refuse(op, "what it reduces by is not known");
    PTO_TRY(region_of(e, a, &g));
    const char *outer = along_row ? "i_" : "j_", *inner = along_row ? "j_" : "i_";
    const char *outer_count = along_row ? g.rows : g.columns, *inner_count = along_row ? g.columns : g.rows;
    text_open(e->out, "for (int64_t %s = 0; %s < %s; %s++)", outer, outer, outer_count, outer);
    text_line(e->out, "%s all_ = %s;", emit_lane_type(t), start_of(e, r, t, inner_count));
    const char *element = emit_read(e, t, emit_at(e, a, "i_", "j_"));
    const char *step = step_of(e, r, t, "all_", element);
    text_line(e->out, "for (int64_t %s = 0; %s < %s; %s++) all_ = %s;", inner, inner, inner_count, inner,
              along_row ? step : emit_rounded(e, t, step));
    text_line(e->out, "%s = %s;", emit_at(e, result, along_row ? "i_" : "0", along_row ? "0" : "j_"),
              emit_write(e, t, "all_"));
    text_close(e->out, "");
    return PTO_OK;
}

/* ---- products ---- */

static const char *product_step(emitter *e, pto_dtype sums, pto_dtype t, const char *to, const char *a, const char *b)
{
    if (sums == PTO_F32) return emit_format(e, "pto_fma_f32_1(%s, %s, %s)", emit_read(e, t, a), emit_read(e, t, b), to);
    return emit_format(e, "(int32_t)((uint32_t)%s + (uint32_t)%s * (uint32_t)%s)", to, a, b);
}

/* One vector of columns of four rows at a time, whose sums stay in variables; beyond the last row it is computed again,
 * to the same bits. */
enum { PRODUCT_ROWS = 4 };

static void product_columns(emitter *e, pto_value sums, pto_value left, pto_value right, const region *g,
                            const char *depth, const char *tail, int starts_at_zero)
{
    const pto_dtype t = dtype_of(left);
    const char *column = "j_";
    text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_ += %d)", g->rows, PRODUCT_ROWS);
    for (int q = 0; q < PRODUCT_ROWS; q++) {
        text_line(e->out, "const int64_t r%d_ = pto_index_min(i_ + %d, %s - 1);", q, q, g->rows);
        const char *at = emit_format(e, "&%s", emit_at(e, sums, emit_format(e, "r%d_", q), column));
        text_line(e->out, "pto_f32 s%d_ = %s;", q,
                  starts_at_zero ? "pto_splat_f32(0)" : emit_vector_load(e, PTO_F32, at, tail));
    }
    text_open(e->out, "for (int64_t k_ = 0; k_ < %s; k_++)", depth);
    const char *from = emit_format(e, "&%s", emit_at(e, right, "k_", column));
    text_line(e->out, "const pto_f32 b_ = %s;", emit_vector_load(e, t, from, tail));
    for (int q = 0; q < PRODUCT_ROWS; q++) {
        const char *a = emit_read(e, t, emit_at(e, left, emit_format(e, "r%d_", q), "k_"));
        text_line(e->out, "s%d_ = pto_fma_f32(pto_splat_f32(%s), b_, s%d_);", q, a, q);
    }
    text_close(e->out, "");
    for (int q = 0; q < PRODUCT_ROWS; q++) {
        const char *at = emit_format(e, "&%s", emit_at(e, sums, emit_format(e, "r%d_", q), column));
        text_line(e->out, "%s", emit_vector_store(e, PTO_F32, at, emit_format(e, "s%d_", q), tail));
    }
    text_close(e->out, "");
}

static void product_of_floats(emitter *e, pto_value sums, pto_value left, pto_value right, const region *g,
                              const char *depth, int starts_at_zero)
{
    text_open(e->out, "for (int64_t j_ = 0; j_ + PTO_LANES <= %s; j_ += PTO_LANES)", g->columns);
    product_columns(e, sums, left, right, g, depth, NULL, starts_at_zero);
    text_close(e->out, "");
    text_open(e->out, "if ((%s) %% PTO_LANES != 0)", g->columns);
    text_line(e->out, "const int64_t n_ = (%s) %% PTO_LANES, j_ = (%s) - n_;", g->columns, g->columns);
    product_columns(e, sums, left, right, g, depth, "n_", starts_at_zero);
    text_close(e->out, "");
}

/* k ascending for each sum, so that the columns of a row can be computed side by side. */
static pto_status emit_matmul(emitter *e, pto_op op, int accumulates)
{
    const pto_value result = pto_op_result(op, 0);
    const pto_value left = pto_op_operand(op, (uint32_t)accumulates),
                    right = pto_op_operand(op, 1 + (uint32_t)accumulates);
    const pto_dtype t = dtype_of(left), sums = dtype_of(result);
    pto_expr depth[2];
    region g;
    PTO_TRY(region_of(e, result, &g));
    PTO_TRY(pto_value_valid(left, depth));
    if (accumulates && strcmp(emit_tile(e, result), emit_tile(e, pto_op_operand(op, 0))) != 0) {
        const pto_value to = result, from = pto_op_operand(op, 0);
        PTO_TRY(emit_hand_over(e, 1, &to, &from, 0));
    }
    if (sums == PTO_F32 && (t == PTO_F32 || t == PTO_F16 || t == PTO_BF16)) {
        product_of_floats(e, result, left, right, &g, emit_index(e, depth[1]), !accumulates);
        return PTO_OK;
    }
    text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", g.rows);
    const char *sum = emit_at(e, result, "i_", "j_");
    if (!accumulates) text_line(e->out, "for (int64_t j_ = 0; j_ < %s; j_++) %s = 0;", g.columns, sum);
    text_open(e->out, "for (int64_t k_ = 0; k_ < %s; k_++)", emit_index(e, depth[1]));
    text_line(e->out, "for (int64_t j_ = 0; j_ < %s; j_++)", g.columns);
    text_line(e->out, "    %s = %s;", sum,
              product_step(e, sums, t, sum, emit_at(e, left, "i_", "k_"), emit_at(e, right, "k_", "j_")));
    text_close(e->out, "");
    text_close(e->out, "");
    return PTO_OK;
}

/* ---- the others ---- */

static pto_status emit_zero_acc(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0);
    region g;
    PTO_TRY(region_of(e, result, &g));
    text_line(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", g.rows);
    text_line(e->out, "    for (int64_t j_ = 0; j_ < %s; j_++) %s = 0;", g.columns, emit_at(e, result, "i_", "j_"));
    return PTO_OK;
}

static pto_status emit_iota(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0), start = pto_op_operand(op, 0);
    const pto_dtype t = dtype_of(result);
    region g;
    PTO_TRY(region_of(e, result, &g));
    if (!g.one_row) text_open(e->out, "if (%s > 0)", g.rows);
    text_line(e->out, "for (int64_t j_ = 0; j_ < %s; j_++) %s = (%s)((uint64_t)%s + (uint64_t)j_);", g.columns,
              emit_at(e, result, "0", "j_"), emit_lane_type(t),
              emit_convert(e, t, dtype_of(start), emit_value(e, start), 1, 0, 0));
    if (!g.one_row) text_close(e->out, "");
    return PTO_OK;
}

static pto_status emit_fillpad(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0), source = pto_op_operand(op, 0);
    const char *row, *column;
    region g;
    pto_expr valid[2];
    PTO_TRY(pto_value_valid(source, valid));
    PTO_TRY(region_of(e, source, &g));
    open_loops(e, &g, &row, &column);
    text_line(e->out, "%s = %s;", emit_at(e, result, row, column), emit_at(e, source, row, column));
    close_loops(e, &g);
    fill_rest(e, op, valid);
    return PTO_OK;
}

/* Elements of `table` by index: gathers them, or scatters `listed` there. */
static pto_status emit_by_index(emitter *e, pto_op op, pto_value table, pto_value listed, pto_value index, int gathers)
{
    region g, all;
    PTO_TRY(region_of(e, index, &g));
    PTO_TRY(region_of(e, table, &all));
    if (!g.one_row) text_open(e->out, "if (%s > 0)", g.rows);
    text_open(e->out, "for (int64_t j_ = 0; j_ < %s; j_++)", g.columns);
    text_line(e->out, "const int32_t at_ = %s;", emit_at(e, index, "0", "j_"));
    text_line(e->out, "if (at_ < 0 || at_ >= %s) return %s;", all.columns,
              emit_index_fault(e, op, "has an index that is out of range", "at_", all.columns));
    const char *in_table = emit_at(e, table, "0", "at_"), *in_list = emit_at(e, listed, "0", "j_");
    text_line(e->out, "%s = %s;", gathers ? in_list : in_table, gathers ? in_table : in_list);
    text_close(e->out, "");
    if (!g.one_row) text_close(e->out, "");
    return PTO_OK;
}

static pto_status emit_scatter(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0), base = pto_op_operand(op, 0);
    if (strcmp(emit_tile(e, result), emit_tile(e, base)) != 0) PTO_TRY(emit_hand_over(e, 1, &result, &base, 0));
    return emit_by_index(e, op, result, pto_op_operand(op, 1), pto_op_operand(op, 2), 0);
}

static pto_status emit_read_scalar(emitter *e, pto_op op)
{
    const pto_value tile = pto_op_operand(op, 0), result = pto_op_result(op, 0);
    const char *row = emit_index_of(e, op, "offsets", 0), *column = emit_index_of(e, op, "offsets", 1);
    pto_expr valid[2];
    PTO_TRY(pto_value_valid(tile, valid));
    const pto_expr one = pto_expr_const(e->run, 1);
    for (uint32_t d = 0; d < 2; d++) emit_check_dim(e, op, pto_expr_of(op, PTO_STR("offsets"), d), one, valid[d]);
    const char *at =
        emit_format(e, "%s[(%s) * %lld + %s]", emit_tile(e, tile), row, (long long)emit_columns(tile), column);
    text_line(e->out, "const %s %s = %s;", emit_lane_type(dtype_of(result)), emit_value(e, result),
              emit_convert(e, dtype_of(result), dtype_of(tile), emit_read(e, dtype_of(tile), at), 1, 0, 0));
    return PTO_OK;
}

pto_status emit_scalar_of(emitter *e, pto_op op)
{
    const pto_value memory = pto_op_operand(op, 0), result = pto_op_result(op, 0);
    const pto_expr one = pto_expr_const(e->run, 1), size[2] = {one, one};
    emit_window w;
    emit_window_open(e, op, memory, size, 0, &w);
    text_line(e->out, "const %s %s = %s;", emit_lane_type(dtype_of(result)), emit_value(e, result),
              emit_read(e, dtype_of(memory), emit_format(e, "*(%s)", w.base)));
    return PTO_OK;
}

static pto_status check_types(pto_op op)
{
    for (uint32_t i = 0; i < pto_op_operand_count(op) + pto_op_result_count(op); i++) {
        const uint32_t n = pto_op_operand_count(op);
        const pto_value v = i < n ? pto_op_operand(op, i) : pto_op_result(op, i - n);
        if (emit_lane_type(dtype_of(v)) == NULL) return emit_refuse(op, "of one of its element types");
    }
    return PTO_OK;
}

static pto_status refuse_unknown(pto_op op)
{
    return emit_refuse(op, emit_rule_of(op) == PTO_RULE_PRINT
                               ? "instances would print in any order: `pto.reference` and "
                                 "`pto.cpu-sim` print tiles"
                               : "this generator does not know it");
}

pto_status emit_tile_op(emitter *e, pto_op op)
{
    PTO_TRY(check_types(op));
    if (fused_is_product(&e->model, op)) return emit_contract(e, op);
    if (EMIT_IS(e, op, ZERO_ACC) && fused_is_start_of_product(&e->model, op)) return PTO_OK;
    if (EMIT_IS(e, op, TRANSPOSE)) return emit_transpose(e, op);
    if (EMIT_IS(e, op, LOAD)) return emit_load(e, op);
    if (emit_leaves_in_vectors(e, op)) return emit_leaving_store(e, op);
    if (EMIT_IS(e, op, STORE)) return emit_store(e, op);
    emit_comment(e, op);
    int is_order = 0;
    PTO_TRY(emit_in_order(e, op, &is_order));
    if (is_order) return PTO_OK;
    if (EMIT_IS(e, op, ZERO_ACC)) return emit_zero_acc(e, op);
    if (EMIT_IS(e, op, IOTA)) return emit_iota(e, op);
    if (EMIT_IS(e, op, FILLPAD)) return emit_fillpad(e, op);
    if (EMIT_IS(e, op, READ_SCALAR)) return emit_read_scalar(e, op);
    if (EMIT_IS(e, op, MATMUL)) return emit_matmul(e, op, 0);
    if (EMIT_IS(e, op, MATMUL_ACC)) return emit_matmul(e, op, 1);
    if (EMIT_IS(e, op, SCATTER)) return emit_scatter(e, op);
    if (EMIT_IS(e, op, GATHER))
        return emit_by_index(e, op, pto_op_operand(op, 0), pto_op_result(op, 0), pto_op_operand(op, 1), 1);
    if (emit_rule_of(op) == PTO_RULE_ROW_REDUCE) return emit_reduce(e, op, 1);
    if (emit_rule_of(op) == PTO_RULE_COL_REDUCE) return emit_reduce(e, op, 0);
    return emit_is_map(op) ? emit_map(e, op) : refuse_unknown(op);
}
