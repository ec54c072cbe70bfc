/* Random errors, each as large as the rules of comparison allow the op that makes it; see docs/pipelines.md.
 *
 * A float result y gets y + r * unit * m, with r in +-[0.5, 1] and unit by the element type (perturb_unit). m is |y|,
 * or for a sum of K terms sqrt(K) times the sum of their magnitudes. For tiles that sum is bounded by K times the
 * largest product of magnitudes, since instructions see no more. What several perturbed runs differ by is how far the
 * numbers of the program can be trusted, op by op and through all that follows. */
#include "reference_interp.h"

#include <math.h>
#include <string.h>

enum { PIECE = 256 };

/* f32: 8 * 2^-24, the factor of the rule for sums. Narrower types: one step of the type, since an error however small
 * can decide which way a number is rounded. */
static double perturb_unit(pto_dtype t)
{
    switch (t) {
    case PTO_F32: return 0x1p-21;
    case PTO_F16: return 0x1p-10;
    case PTO_BF16: return 0x1p-7;
    case PTO_F8E4M3: return 0x1p-3;
    case PTO_F8E5M2: return 0x1p-2;
    default: return 0;
    }
}

/* In +-[0.5, 1]; splitmix64. */
static double next_error(interp *in)
{
    uint64_t z = in->perturb += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    const double size = 0.5 + 0.5 * (double)(z >> 11) * 0x1p-53;
    return (z & 1) != 0 ? size : -size;
}

/* n elements, `stride` apart; with `m`, as many magnitudes of the same type side by side; else those of the elements,
 * and at least `least`. */
static void perturb_run(interp *in, pto_dtype t, uint8_t *at, int64_t stride, int64_t n, const uint8_t *m,
                        double factor, double least)
{
    const int64_t size = (int64_t)element_bytes(t);
    double y[PIECE], magnitude[PIECE];
    for (int64_t i = 0; i < n; i += PIECE) {
        const size_t count = n - i < PIECE ? (size_t)(n - i) : PIECE;
        uint8_t *piece = at + i * stride * size;
        element_read_f64(t, piece, stride, count, y);
        element_read_f64(t, m != NULL ? m + i * size : piece, m != NULL ? 1 : stride, count, magnitude);
        for (size_t k = 0; k < count; k++) {
            const double error = next_error(in) * perturb_unit(t) * factor * fmax(fabs(magnitude[k]), least);
            if (isfinite(y[k]) && isfinite(error)) y[k] += error;
        }
        element_write_f64(t, piece, stride, count, y);
    }
}

/* ---- tensor ops ---- */

static bool is_exact(tensor_op op)
{
    switch (op) {
    case EVAL_TENSOR_CONSTANT:
    case EVAL_TENSOR_NEG:
    case EVAL_TENSOR_ABS:
    case EVAL_TENSOR_RELU:
    case EVAL_TENSOR_MAXIMUM:
    case EVAL_TENSOR_MINIMUM:
    case EVAL_TENSOR_REDUCE_MAX:
    case EVAL_TENSOR_REDUCE_MIN:
    case EVAL_TENSOR_RESHAPE:
    case EVAL_TENSOR_TRANSPOSE:
    case EVAL_TENSOR_BROADCAST: return true;
    default: return false;
    }
}

static int64_t count_of(const pto_tensor *t)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++) n *= t->dims[d];
    return n;
}

/* How many terms an element of the result is the sum of; 1 for an op that sums nothing. */
static int64_t terms_of(tensor_op op, const tensor_call *call)
{
    const pto_tensor *a = call->in[0];
    const int64_t results = count_of(call->out);
    switch (op) {
    case EVAL_TENSOR_REDUCE_SUM:
    case EVAL_TENSOR_REDUCE_MEAN: return results > 0 ? count_of(a) / results : 1;
    case EVAL_TENSOR_MATMUL: return a->rank < 2 ? 1 : a->dims[call->transpose_a ? a->rank - 2 : a->rank - 1];
    case EVAL_TENSOR_SOFTMAX: return a->dims[call->axes[0] < 0 ? call->axes[0] + a->rank : call->axes[0]];
    case EVAL_TENSOR_RMS_NORM: return a->rank > 0 ? a->dims[a->rank - 1] : 1;
    default: return 1;
    }
}

static bool has_magnitudes(tensor_op op)
{
    return op == EVAL_TENSOR_REDUCE_SUM || op == EVAL_TENSOR_REDUCE_MEAN || op == EVAL_TENSOR_MATMUL;
}

static void clear_signs(const array *a)
{
    double x[PIECE];
    int64_t n = 0;
    if (!array_count(a, &n)) return;
    const int64_t size = (int64_t)element_bytes(a->dtype);
    for (int64_t i = 0; i < n; i += PIECE) {
        const size_t count = n - i < PIECE ? (size_t)(n - i) : PIECE;
        element_read_f64(a->dtype, a->base + i * size, 1, count, x);
        for (size_t k = 0; k < count; k++) x[k] = fabs(x[k]);
        element_write_f64(a->dtype, a->base + i * size, 1, count, x);
    }
}

/* The op of the operands without their signs into `out`, whose type and dims are set. */
static pto_status make_magnitudes(interp *in, const op_code *o, const array *const *from, const tensor_call *call,
                                  array *out)
{
    array copies[2];
    pto_tensor sources[2], target = *call->out;
    tensor_call again = *call;
    bool ok = array_make(in->pool, out);
    uint32_t count = 0;
    for (; ok && count < 2 && call->in[count] != NULL; count++) {
        copies[count] = *from[count];
        ok = array_make(in->pool, &copies[count]);
        if (!ok) break;
        array_copy(in->pool, &copies[count], from[count]);
        clear_signs(&copies[count]);
        sources[count] = *call->in[count];
        sources[count].data = copies[count].base;
        memcpy(sources[count].strides, copies[count].strides, sizeof sources[count].strides);
        again.in[count] = &sources[count];
    }
    if (ok) {
        target.data = out->base;
        again.out = &target;
        ok = tensor_run(o->tensor, &again) == PTO_OK;
    }
    while (count-- > 0) storage_release(in->pool, copies[count].in);
    return ok ? PTO_OK
              : pto_error(o->op, "pto.reference/limit", "perturbing '%.*s' takes too much memory", PTO_FMT(o->name));
}

pto_status perturb_tensor(interp *in, const op_code *o, const array *const *from, const tensor_call *call,
                          const array *result)
{
    int64_t n = 0;
    if (perturb_unit(result->dtype) == 0 || is_exact(o->tensor) || !array_count(result, &n) || n == 0) return PTO_OK;
    const double factor = sqrt((double)terms_of(o->tensor, call));
    if (!has_magnitudes(o->tensor)) {
        perturb_run(in, result->dtype, result->base, 1, n, NULL, factor, 0);
        return PTO_OK;
    }
    array m = *result;
    m.in = NULL;
    const pto_status s = make_magnitudes(in, o, from, call, &m);
    if (s == PTO_OK) perturb_run(in, result->dtype, result->base, 1, n, m.base, factor, 0);
    if (m.in != NULL) storage_release(in->pool, m.in);
    return s;
}

/* ---- instructions ---- */

static double largest(const tile_ref *t)
{
    double most = 0, x[PIECE];
    const int64_t size = (int64_t)element_bytes(t->dtype);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols;) {
            const size_t left = (size_t)(t->valid_cols - c);
            const tile_run run = tile_run_at(t, r, c, left < PIECE ? left : PIECE);
            element_read_f64(t->dtype, t->base + run.offset * size, run.stride, run.count, x);
            for (size_t k = 0; k < run.count; k++) most = isfinite(x[k]) ? fmax(most, fabs(x[k])) : most;
            c += (int64_t)run.count;
        }
    }
    return most;
}

static bool is_exact_insn(insn_id id)
{
    switch (id) {
    case INSN_TLOAD:
    case INSN_TSTORE:
    case INSN_TEXPANDS:
    case INSN_TMOV:
    case INSN_TTRANS:
    case INSN_TFILLPAD:
    case INSN_TNEG:
    case INSN_TABS:
    case INSN_TRELU:
    case INSN_TMAX:
    case INSN_TMIN:
    case INSN_TMAXS:
    case INSN_TMINS:
    case INSN_TROWMAX:
    case INSN_TROWMIN:
    case INSN_TCOLMAX:
    case INSN_TCOLMIN:
    case INSN_TROWEXPAND:
    case INSN_TCOLEXPAND:
    case INSN_TROWEXPANDMAX:
    case INSN_TROWEXPANDMIN:
    case INSN_TCOLEXPANDMAX:
    case INSN_TCOLEXPANDMIN: return true;
    default: return false;
    }
}

double perturb_terms(insn_id id, const insn_call *call, double *out_magnitude)
{
    double terms = 1;
    *out_magnitude = 0;
    switch (id) {
    case INSN_TROWSUM: terms = (double)call->src[0].valid_cols; break;
    case INSN_TCOLSUM: terms = (double)call->src[0].valid_rows; break;
    case INSN_TMATMUL:
    case INSN_TMATMUL_ACC: {
        const tile_ref *left = &call->src[id == INSN_TMATMUL ? 0 : 1];
        terms = (double)left->valid_cols;
        *out_magnitude = terms * largest(left) * largest(left + 1);
        return terms;
    }
    default: return terms;
    }
    *out_magnitude = terms * largest(&call->src[0]);
    return terms;
}

void perturb_insn(interp *in, insn_id id, const insn_call *call, double terms, double magnitude)
{
    const tile_ref *t = &call->dst;
    if (is_exact_insn(id) || perturb_unit(t->dtype) == 0) return;
    const int64_t size = (int64_t)element_bytes(t->dtype);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols;) {
            const tile_run run = tile_run_at(t, r, c, (size_t)(t->valid_cols - c));
            perturb_run(in, t->dtype, t->base + run.offset * size, run.stride, (int64_t)run.count, NULL, sqrt(terms),
                        magnitude);
            c += (int64_t)run.count;
        }
    }
}
