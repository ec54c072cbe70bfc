/* Rows of pto.def that reduce rows or columns, or spread row or column values over a tile. */
#include "semantics/insn_family.h"
#include "semantics/lanes.h"

#include <inttypes.h>
#include <math.h>

static size_t piece_at(int64_t cols, int64_t c) { return cols - c < LANES ? (size_t)(cols - c) : LANES; }

/* What a reduction starts from; NaN loses against every number, so that a maximum of NaN alone stays NaN. */
static float start_f32(lane_op op, bool empty)
{
    if (op == LANE_ADD || op == LANE_MUL) return op == LANE_MUL;
    if (!empty) return NAN;
    return op == LANE_MAX ? -INFINITY : INFINITY;
}

static int64_t start_i64(lane_op op, pto_dtype t)
{
    if (op == LANE_ADD || op == LANE_MUL) return op == LANE_MUL;
    return op == LANE_MAX ? element_int_min(t) : element_int_max(t);
}

/* The order of a maximum or minimum does not matter: each half against the other. Overwrites a. */
static float fold_f32(lane_op op, float value, size_t n, float *a)
{
    if (op == LANE_ADD) {
        for (size_t i = 0; i < n; i++) value += a[i];
        return value;
    }
    if (op == LANE_MUL) {
        for (size_t i = 0; i < n; i++) value *= a[i];
        return value;
    }
    while (n > 1) {
        lanes_f32(op, n / 2, a, a + n - n / 2, a);
        n -= n / 2;
    }
    lanes_f32(op, n, &value, a, &value);
    return value;
}

static pto_status check_column(insn_call *call, const tile_ref *column, int64_t rows, const char *who)
{
    if (column->valid_rows == rows && column->valid_cols == 1) return PTO_OK;
    return insn_fail(call, "%s has a valid region of %" PRId64 " x %" PRId64 ", it must be %" PRId64 " x 1", who,
                     column->valid_rows, column->valid_cols, rows);
}

static pto_status check_row(insn_call *call, const tile_ref *row, int64_t cols, const char *who)
{
    if (row->valid_rows == 1 && row->valid_cols == cols) return PTO_OK;
    return insn_fail(call, "%s has a valid region of %" PRId64 " x %" PRId64 ", it must be 1 x %" PRId64, who,
                     row->valid_rows, row->valid_cols, cols);
}

static pto_status row_reduce(insn_call *call, lane_op op)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_number(call, t->dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(check_column(call, t, s->valid_rows, "the destination"));
    for (int64_t r = 0; r < s->valid_rows; r++) {
        if (element_is_float(t->dtype)) {
            float a[LANES], value = start_f32(op, s->valid_cols == 0);
            for (int64_t c = 0; c < s->valid_cols; c += LANES) {
                const size_t n = piece_at(s->valid_cols, c);
                tile_read_f32(s, r, c, n, a);
                value = fold_f32(op, value, n, a);
            }
            tile_write_f32(t, r, 0, 1, &value);
        } else {
            int64_t a[LANES], value = start_i64(op, t->dtype);
            for (int64_t c = 0; c < s->valid_cols; c += LANES) {
                const size_t n = piece_at(s->valid_cols, c);
                tile_read_i64(s, r, c, n, a);
                for (size_t i = 0; i < n; i++) lanes_i64(op, element_is_unsigned(t->dtype), 1, &value, &a[i], &value);
            }
            tile_write_i64(t, r, 0, 1, &value);
        }
    }
    return PTO_OK;
}

pto_status insn_TROWSUM(insn_call *call) { return row_reduce(call, LANE_ADD); }
pto_status insn_TROWMAX(insn_call *call) { return row_reduce(call, LANE_MAX); }
pto_status insn_TROWMIN(insn_call *call) { return row_reduce(call, LANE_MIN); }

pto_status insn_TROWPROD(insn_call *call) { return row_reduce(call, LANE_MUL); }

static pto_status col_reduce(insn_call *call, lane_op op)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_number(call, t->dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(check_row(call, t, s->valid_cols, "the destination"));
    for (int64_t c = 0; c < s->valid_cols; c += LANES) {
        const size_t n = piece_at(s->valid_cols, c);
        if (element_is_float(t->dtype)) {
            float a[LANES], value[LANES];
            for (size_t i = 0; i < n; i++) value[i] = start_f32(op, s->valid_rows == 0);
            for (int64_t r = 0; r < s->valid_rows; r++) {
                tile_read_f32(s, r, c, n, a);
                lanes_f32(op, n, value, a, value);
                element_round_f32(t->dtype, n, value);
            }
            tile_write_f32(t, 0, c, n, value);
        } else {
            int64_t a[LANES], value[LANES];
            for (size_t i = 0; i < n; i++) value[i] = start_i64(op, t->dtype);
            for (int64_t r = 0; r < s->valid_rows; r++) {
                tile_read_i64(s, r, c, n, a);
                lanes_i64(op, element_is_unsigned(t->dtype), n, value, a, value);
            }
            tile_write_i64(t, 0, c, n, value);
        }
    }
    return PTO_OK;
}

pto_status insn_TCOLSUM(insn_call *call) { return col_reduce(call, LANE_ADD); }
pto_status insn_TCOLMAX(insn_call *call) { return col_reduce(call, LANE_MAX); }
pto_status insn_TCOLMIN(insn_call *call) { return col_reduce(call, LANE_MIN); }

pto_status insn_TCOLPROD(insn_call *call) { return col_reduce(call, LANE_MUL); }

/* The first of the elements from `from` on up to n that is better than `best`, of which `at` is the place; a NaN is
 * worse than every number. */
static void better_f32(bool largest, size_t n, const float *x, int64_t from, float *best, int64_t *at)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_first = isnan(*best) && !isnan(x[i]);
        if (!is_first && !(largest ? x[i] > *best : x[i] < *best)) continue;
        *best = x[i];
        *at = from + (int64_t)i;
    }
}

static void better_i64(bool largest, bool is_unsigned, size_t n, const int64_t *x, int64_t from, int64_t *best,
                       int64_t *at)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_above = is_unsigned ? (uint64_t)x[i] > (uint64_t)*best : x[i] > *best;
        if ((*at >= 0 && x[i] == *best) || (*at >= 0 && is_above != largest)) continue;
        *best = x[i];
        *at = from + (int64_t)i;
    }
}

/* Place of the best element of row r; of no element 0. */
static int64_t best_of_row(const tile_ref *t, int64_t r, bool largest)
{
    float x[LANES], best = NAN;
    int64_t j[LANES], whole = 0, at = element_is_float(t->dtype) ? 0 : -1;
    for (int64_t c = 0; c < t->valid_cols; c += LANES) {
        const size_t n = piece_at(t->valid_cols, c);
        if (element_is_float(t->dtype)) {
            tile_read_f32(t, r, c, n, x);
            better_f32(largest, n, x, c, &best, &at);
        } else {
            tile_read_i64(t, r, c, n, j);
            better_i64(largest, element_is_unsigned(t->dtype), n, j, c, &whole, &at);
        }
    }
    return at < 0 ? 0 : at;
}

static pto_status argument(insn_call *call, bool largest, bool along_row)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_number(call, s->dtype));
    if (t->dtype != PTO_I32) return insn_fail(call, "places are %s, they must be i32", pto_dtype_name(t->dtype));
    INSN_TRY(along_row ? check_column(call, t, s->valid_rows, "the destination")
                       : check_row(call, t, s->valid_cols, "the destination"));
    const tile_ref lines = along_row ? *s : tile_transposed(s);
    for (int64_t r = 0; r < lines.valid_rows; r++) {
        const int64_t at = best_of_row(&lines, r, largest);
        tile_write_i64(t, along_row ? r : 0, along_row ? 0 : r, 1, &at);
    }
    return PTO_OK;
}

pto_status insn_TROWARGMAX(insn_call *call) { return argument(call, true, true); }
pto_status insn_TROWARGMIN(insn_call *call) { return argument(call, false, true); }
pto_status insn_TCOLARGMAX(insn_call *call) { return argument(call, true, false); }
pto_status insn_TCOLARGMIN(insn_call *call) { return argument(call, false, false); }

static pto_status check_row_values(insn_call *call, const tile_ref *v, int64_t rows)
{
    return check_column(call, v, rows, "the column of row values");
}

static void row_values_f32(const tile_ref *v, int64_t r, float *out)
{
    float value;
    tile_read_f32(v, r, 0, 1, &value);
    for (size_t i = 0; i < LANES; i++) out[i] = value;
}

static void row_values_i64(const tile_ref *v, int64_t r, int64_t *out)
{
    int64_t value;
    tile_read_i64(v, r, 0, 1, &value);
    for (size_t i = 0; i < LANES; i++) out[i] = value;
}

/* What spreading does with elements a of the tile: nothing, or combine. */
static pto_status spread(insn_call *call, const tile_ref *a, const tile_ref *v, lane_op op, bool along_row)
{
    const tile_ref *t = &call->dst;
    for (int64_t r = 0; r < t->valid_rows; r++) {
        float x[LANES], y[LANES];
        int64_t i[LANES], j[LANES];
        const bool is_float = element_is_float(t->dtype);
        if (along_row && t->valid_cols > 0) {
            if (is_float)
                row_values_f32(v, r, y);
            else
                row_values_i64(v, r, j);
        }
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t->valid_cols, c);
            if (is_float) {
                if (!along_row) tile_read_f32(v, 0, c, n, y);
                tile_read_f32(a, r, c, n, x);
                lanes_f32(op, n, x, y, x);
                tile_write_f32(t, r, c, n, x);
            } else {
                if (!along_row) tile_read_i64(v, 0, c, n, j);
                tile_read_i64(a, r, c, n, i);
                call->faults += lanes_i64(op, element_is_unsigned(t->dtype), n, i, j, i);
                tile_write_i64(t, r, c, n, i);
            }
        }
    }
    return PTO_OK;
}

static pto_status spread_binary(insn_call *call, lane_op op, bool along_row)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(insn_begin(call, 2, 1));
    INSN_TRY(insn_check_number(call, t->dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(insn_check_dtype(call, 1));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    if (along_row)
        INSN_TRY(check_row_values(call, &call->src[1], t->valid_rows));
    else
        INSN_TRY(check_row(call, &call->src[1], t->valid_cols, "the row of column values"));
    return spread(call, &call->src[0], &call->src[1], op, along_row);
}

pto_status insn_TROWEXPANDADD(insn_call *call) { return spread_binary(call, LANE_ADD, true); }
pto_status insn_TROWEXPANDSUB(insn_call *call) { return spread_binary(call, LANE_SUB, true); }
pto_status insn_TROWEXPANDMUL(insn_call *call) { return spread_binary(call, LANE_MUL, true); }
pto_status insn_TROWEXPANDDIV(insn_call *call) { return spread_binary(call, LANE_DIV, true); }
pto_status insn_TROWEXPANDMAX(insn_call *call) { return spread_binary(call, LANE_MAX, true); }
pto_status insn_TROWEXPANDMIN(insn_call *call) { return spread_binary(call, LANE_MIN, true); }
pto_status insn_TCOLEXPANDADD(insn_call *call) { return spread_binary(call, LANE_ADD, false); }
pto_status insn_TCOLEXPANDSUB(insn_call *call) { return spread_binary(call, LANE_SUB, false); }
pto_status insn_TCOLEXPANDMUL(insn_call *call) { return spread_binary(call, LANE_MUL, false); }
pto_status insn_TCOLEXPANDDIV(insn_call *call) { return spread_binary(call, LANE_DIV, false); }
pto_status insn_TCOLEXPANDMAX(insn_call *call) { return spread_binary(call, LANE_MAX, false); }
pto_status insn_TCOLEXPANDMIN(insn_call *call) { return spread_binary(call, LANE_MIN, false); }

/* Moves bits: element types are taken as integers of their size. */
static pto_status expand(insn_call *call, bool along_row)
{
    tile_ref *t = &call->dst, *v = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_dtype(call, 0));
    if (along_row)
        INSN_TRY(check_row_values(call, v, t->valid_rows));
    else
        INSN_TRY(check_row(call, v, t->valid_cols, "the row of column values"));
    t->dtype = v->dtype = element_bits_type(t->dtype);
    int64_t bits[LANES];
    for (int64_t r = 0; r < t->valid_rows; r++) {
        if (along_row) row_values_i64(v, r, bits);
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t->valid_cols, c);
            if (!along_row) tile_read_i64(v, 0, c, n, bits);
            tile_write_i64(t, r, c, n, bits);
        }
    }
    return PTO_OK;
}

pto_status insn_TROWEXPAND(insn_call *call) { return expand(call, true); }
pto_status insn_TCOLEXPAND(insn_call *call) { return expand(call, false); }
