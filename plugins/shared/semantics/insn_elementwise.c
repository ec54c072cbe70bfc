/* Rows of pto.def that compute each element from the elements in the same place. */
#include "semantics/insn_family.h"
#include "semantics/lanes.h"

#include <math.h>
#include <string.h>

/* Long runs go down in column-major tiles: exchanging rows and columns everywhere changes no result. */
static void turn_column_major(insn_call *call, int source_count)
{
    if (call->dst.order != PTO_ORDER_COLUMN) return;
    call->dst = tile_transposed(&call->dst);
    for (int i = 0; i < source_count; i++) call->src[i] = tile_transposed(&call->src[i]);
}

/* Descriptors, valid regions, element types; then the orientation. */
static pto_status begin_elementwise(insn_call *call, int source_count)
{
    INSN_TRY(insn_begin(call, source_count, 3));
    INSN_TRY(insn_check_number(call, call->dst.dtype));
    for (int i = 0; i < source_count; i++) {
        INSN_TRY(insn_check_valid(call, i, call->dst.valid_rows, call->dst.valid_cols));
        INSN_TRY(insn_check_dtype(call, i));
    }
    turn_column_major(call, source_count);
    return PTO_OK;
}

static size_t piece_at(const tile_ref *t, int64_t c)
{
    return t->valid_cols - c < LANES ? (size_t)(t->valid_cols - c) : LANES;
}

/* Every piece of the valid region of `t`: n elements of row r from column c on. */
#define EACH_PIECE(t)                             \
    for (int64_t r = 0; r < (t)->valid_rows; r++) \
        for (int64_t c = 0; c < (t)->valid_cols; c += LANES)

static pto_status run_binary(insn_call *call, lane_op op)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(begin_elementwise(call, 2));
    if (element_is_float(t->dtype)) {
        float a[LANES], b[LANES];
        EACH_PIECE(t)
        {
            const size_t n = piece_at(t, c);
            tile_read_f32(&call->src[0], r, c, n, a);
            tile_read_f32(&call->src[1], r, c, n, b);
            lanes_f32(op, n, a, b, a);
            tile_write_f32(t, r, c, n, a);
        }
        return PTO_OK;
    }
    int64_t a[LANES], b[LANES];
    EACH_PIECE(t)
    {
        const size_t n = piece_at(t, c);
        tile_read_i64(&call->src[0], r, c, n, a);
        tile_read_i64(&call->src[1], r, c, n, b);
        call->faults += lanes_i64(op, element_is_unsigned(t->dtype), n, a, b, a);
        tile_write_i64(t, r, c, n, a);
    }
    return PTO_OK;
}

pto_status insn_TADD(insn_call *call) { return run_binary(call, LANE_ADD); }
pto_status insn_TSUB(insn_call *call) { return run_binary(call, LANE_SUB); }
pto_status insn_TMUL(insn_call *call) { return run_binary(call, LANE_MUL); }
pto_status insn_TDIV(insn_call *call) { return run_binary(call, LANE_DIV); }
pto_status insn_TMAX(insn_call *call) { return run_binary(call, LANE_MAX); }
pto_status insn_TMIN(insn_call *call) { return run_binary(call, LANE_MIN); }

pto_status insn_TREM(insn_call *call) { return run_binary(call, LANE_REM); }
pto_status insn_TFMOD(insn_call *call) { return run_binary(call, LANE_FMOD); }
pto_status insn_TPOW(insn_call *call) { return run_binary(call, LANE_POW); }

/* scalar_first: s op a. */
static pto_status run_scalar(insn_call *call, lane_op op, bool scalar_first)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(begin_elementwise(call, 1));
    const uint64_t bits = element_from_number(t->dtype, call->scalar, false);
    if (element_is_float(t->dtype)) {
        float a[LANES], s[LANES];
        element_read_f32(t->dtype, &bits, 0, LANES, s);
        EACH_PIECE(t)
        {
            const size_t n = piece_at(t, c);
            tile_read_f32(&call->src[0], r, c, n, a);
            lanes_f32(op, n, scalar_first ? s : a, scalar_first ? a : s, a);
            tile_write_f32(t, r, c, n, a);
        }
        return PTO_OK;
    }
    int64_t a[LANES], s[LANES];
    element_read_i64(t->dtype, &bits, 0, LANES, s);
    EACH_PIECE(t)
    {
        const size_t n = piece_at(t, c);
        tile_read_i64(&call->src[0], r, c, n, a);
        call->faults += lanes_i64(op, element_is_unsigned(t->dtype), n, scalar_first ? s : a, scalar_first ? a : s, a);
        tile_write_i64(t, r, c, n, a);
    }
    return PTO_OK;
}

pto_status insn_TADDS(insn_call *call) { return run_scalar(call, LANE_ADD, false); }
pto_status insn_TSUBS(insn_call *call) { return run_scalar(call, LANE_SUB, false); }
pto_status insn_TMULS(insn_call *call) { return run_scalar(call, LANE_MUL, false); }
pto_status insn_TDIVS(insn_call *call) { return run_scalar(call, LANE_DIV, false); }
pto_status insn_TRDIVS(insn_call *call) { return run_scalar(call, LANE_DIV, true); }
pto_status insn_TMAXS(insn_call *call) { return run_scalar(call, LANE_MAX, false); }
pto_status insn_TMINS(insn_call *call) { return run_scalar(call, LANE_MIN, false); }

pto_status insn_TLRELU(insn_call *call)
{
    if (!element_is_float(call->dst.dtype))
        return insn_fail(call, "element type %s is not a float type", pto_dtype_name(call->dst.dtype));
    return run_scalar(call, LANE_LRELU, false);
}

pto_status insn_TPRELU(insn_call *call)
{
    if (!element_is_float(call->dst.dtype))
        return insn_fail(call, "element type %s is not a float type", pto_dtype_name(call->dst.dtype));
    return run_binary(call, LANE_LRELU);
}

pto_status insn_TAXPY(insn_call *call)
{
    const tile_ref *t = &call->dst;
    if (!element_is_float(t->dtype))
        return insn_fail(call, "element type %s is not a float type", pto_dtype_name(t->dtype));
    INSN_TRY(begin_elementwise(call, 2));
    const uint64_t bits = element_from_number(t->dtype, call->scalar, false);
    float base[LANES], a[LANES], s[LANES];
    element_read_f32(t->dtype, &bits, 0, LANES, s);
    EACH_PIECE(t)
    {
        const size_t n = piece_at(t, c);
        tile_read_f32(&call->src[0], r, c, n, base);
        tile_read_f32(&call->src[1], r, c, n, a);
        lanes_f32(LANE_MUL, n, a, s, a);
        element_round_f32(t->dtype, n, a);
        lanes_f32(LANE_ADD, n, base, a, base);
        tile_write_f32(t, r, c, n, base);
    }
    return PTO_OK;
}

pto_status insn_TREMS(insn_call *call) { return run_scalar(call, LANE_REM, false); }
pto_status insn_TFMODS(insn_call *call) { return run_scalar(call, LANE_FMOD, false); }
pto_status insn_TPOWS(insn_call *call) { return run_scalar(call, LANE_POW, false); }

typedef enum sign_op { SIGN_NEG, SIGN_ABS, SIGN_RELU } sign_op;

/* Of the bits of a float; every NaN keeps the other ones. */
static int64_t sign_of_float(sign_op op, int64_t bits, int64_t sign)
{
    return op == SIGN_NEG ? bits ^ sign : bits & ~sign;
}

static int64_t sign_of_int(sign_op op, int64_t v, bool is_unsigned)
{
    const bool is_negative = v < 0 && !is_unsigned;
    if (op == SIGN_RELU) return is_negative ? 0 : v;
    return op == SIGN_NEG || is_negative ? (int64_t)-(uint64_t)v : v;
}

static pto_status run_sign(insn_call *call, sign_op op)
{
    tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(begin_elementwise(call, 1));
    const bool is_float = element_is_float(t->dtype), is_unsigned = element_is_unsigned(t->dtype);
    const int64_t sign = (int64_t)(UINT64_C(1) << (8 * element_bytes(t->dtype) - 1));
    if (is_float) t->dtype = s->dtype = element_bits_type(t->dtype);
    int64_t a[LANES];
    EACH_PIECE(t)
    {
        const size_t n = piece_at(t, c);
        tile_read_i64(s, r, c, n, a);
        for (size_t i = 0; i < n; i++)
            a[i] = is_float ? sign_of_float(op, a[i], sign) : sign_of_int(op, a[i], is_unsigned);
        tile_write_i64(t, r, c, n, a);
    }
    return PTO_OK;
}

pto_status insn_TNEG(insn_call *call) { return run_sign(call, SIGN_NEG); }
pto_status insn_TABS(insn_call *call) { return run_sign(call, SIGN_ABS); }

static double rsqrt(double x) { return 1 / sqrt(x); }
static double recip(double x) { return 1 / x; }

static pto_status run_function(insn_call *call, double (*function)(double))
{
    const tile_ref *t = &call->dst;
    if (!element_is_float(t->dtype))
        return insn_fail(call, "element type %s is not a float type", pto_dtype_name(t->dtype));
    INSN_TRY(begin_elementwise(call, 1));
    float a[LANES];
    double x[LANES];
    EACH_PIECE(t)
    {
        const size_t n = piece_at(t, c);
        tile_read_f32(&call->src[0], r, c, n, a);
        for (size_t i = 0; i < n; i++) x[i] = function((double)a[i]);
        tile_write_f64(t, r, c, n, x);
    }
    return PTO_OK;
}

static double relu(double x) { return x <= 0 ? 0 : x; }

pto_status insn_TRELU(insn_call *call)
{
    return element_is_float(call->dst.dtype) ? run_function(call, relu) : run_sign(call, SIGN_RELU);
}

const insn_function *insn_function_by_name(const char *p, size_t n)
{
    static const insn_function rows[] = {
#define FUNCTION_AS(word, ROW, approx) {#word, EVAL_TENSOR_##ROW, approx},
#define FUNCTION(word, ROW) FUNCTION_AS(word, ROW, GELU_TANH)
#define FUNCTION2 FUNCTION
#include <pto/ops/functions.def>
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].word) == n && memcmp(rows[i].word, p, n) == 0) return &rows[i];
    return NULL;
}

static pto_status check_f32(insn_call *call)
{
    const pto_dtype t = call->dst.dtype;
    return t == PTO_F32 ? PTO_OK : insn_fail(call, "element type %s is not f32", pto_dtype_name(t));
}

pto_status insn_TFUNCTION(insn_call *call)
{
    const insn_function *of = call->function;
    double (*function)(double) = of != NULL ? tensor_function(of->row, of->approx) : NULL;
    if (function == NULL) return insn_fail(call, "there is no such function of one number");
    INSN_TRY(check_f32(call));
    return run_function(call, function);
}

pto_status insn_TFUNCTION2(insn_call *call)
{
    const tile_ref *t = &call->dst;
    double (*function)(double, double) = call->function != NULL ? tensor_function2(call->function->row) : NULL;
    if (function == NULL) return insn_fail(call, "there is no such function of two numbers");
    INSN_TRY(check_f32(call));
    INSN_TRY(begin_elementwise(call, 2));
    float a[LANES], b[LANES];
    double x[LANES];
    EACH_PIECE(t)
    {
        const size_t n = piece_at(t, c);
        tile_read_f32(&call->src[0], r, c, n, a);
        tile_read_f32(&call->src[1], r, c, n, b);
        for (size_t i = 0; i < n; i++) x[i] = function((double)a[i], (double)b[i]);
        tile_write_f64(t, r, c, n, x);
    }
    return PTO_OK;
}

pto_status insn_TEXP(insn_call *call) { return run_function(call, exp); }
pto_status insn_TLOG(insn_call *call) { return run_function(call, log); }
pto_status insn_TSQRT(insn_call *call) { return run_function(call, sqrt); }
pto_status insn_TRSQRT(insn_call *call) { return run_function(call, rsqrt); }
pto_status insn_TRECIP(insn_call *call) { return run_function(call, recip); }

pto_status insn_TCVT(insn_call *call)
{
    tile_ref *t = &call->dst, *s = &call->src[0];
    /* Only elements of one size can be converted in place. */
    INSN_TRY(insn_begin(call, 1, 1));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    turn_column_major(call, 1);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols;) {
            const tile_run to = tile_run_at(t, r, c, (size_t)(t->valid_cols - c));
            const tile_run from = tile_run_at(s, r, c, to.count);
            element_convert(t->dtype, t->base + to.offset * (int64_t)element_bytes(t->dtype), to.stride, s->dtype,
                            s->base + from.offset * (int64_t)element_bytes(s->dtype), from.stride, from.count,
                            call->mode, call->saturate, true);
            c += (int64_t)from.count;
        }
    }
    return PTO_OK;
}
