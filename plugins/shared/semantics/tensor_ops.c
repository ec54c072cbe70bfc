#include "semantics/tensor_ops.h"

#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The block of a group is run by the walker of the ops. */
#define eval_TENSOR_GROUP NULL

static const struct {
    const char *name;
    tensor_fn run;
} rows[EVAL_COUNT] = {
#define OP(ID, mnemonic, ...) [EVAL_##ID] = {mnemonic, eval_##ID},
#include <pto/ops/tensor.def>
#undef OP
};

const char *tensor_op_name(tensor_op op) { return op > EVAL_NONE && op < EVAL_COUNT ? rows[op].name : "?"; }

tensor_op tensor_op_by_name(const char *p, size_t n)
{
    for (int op = EVAL_NONE + 1; op < EVAL_COUNT; op++) {
        if (strlen(rows[op].name) == n && memcmp(rows[op].name, p, n) == 0) return (tensor_op)op;
    }
    return EVAL_NONE;
}

pto_status tensor_fail(tensor_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(call->text, sizeof call->text, format, args);
    va_end(args);
    return PTO_FAILED;
}

pto_status tensor_run(tensor_op op, tensor_call *call)
{
    call->text[0] = 0;
    call->is_outside = false;
    if (op <= EVAL_NONE || op >= EVAL_COUNT || rows[op].run == NULL)
        return tensor_fail(call, "%s computes nothing", tensor_op_name(op));
    for (int i = -TENSOR_RESULTS; i < TENSOR_OPERANDS; i++) {
        const pto_tensor *t = i >= 0 ? call->in[i] : i == -1 ? call->out : call->second;
        if (t == NULL) continue;
        if (t->rank > PTO_MAX_DIMS) return tensor_fail(call, "rank %u, the limit is %d", t->rank, PTO_MAX_DIMS);
        if (element_bytes(t->dtype) == 0) return tensor_fail(call, "an array without element type");
    }
    return rows[op].run(call);
}

bool walk_begin(walk *w)
{
    for (int a = 0; a < WALK_ARRAYS; a++) w->offset[a] = 0;
    for (uint32_t d = 0; d < w->rank; d++) {
        w->index[d] = 0;
        if (w->dims[d] <= 0) return false;
    }
    return true;
}

bool walk_next(walk *w)
{
    for (uint32_t d = w->rank; d-- > 0;) {
        const bool carry = ++w->index[d] == w->dims[d];
        for (int a = 0; a < WALK_ARRAYS; a++)
            w->offset[a] += carry ? -(w->dims[d] - 1) * w->strides[a][d] : w->strides[a][d];
        if (!carry) return true;
        w->index[d] = 0;
    }
    return false;
}

int64_t walk_split_last(walk *w, int64_t out_strides[WALK_ARRAYS])
{
    if (w->rank == 0) {
        for (int a = 0; a < WALK_ARRAYS; a++) out_strides[a] = 0;
        return 1;
    }
    w->rank--;
    for (int a = 0; a < WALK_ARRAYS; a++) out_strides[a] = w->strides[a][w->rank];
    return w->dims[w->rank];
}

pto_status walk_broadcast(tensor_call *call, int count, walk *out_walk)
{
    const pto_tensor *out = call->out;
    *out_walk = (walk){.rank = out->rank};
    for (uint32_t d = 0; d < out->rank; d++) {
        out_walk->dims[d] = out->dims[d];
        out_walk->strides[0][d] = out->strides[d];
    }
    for (int i = 0; i < count; i++) {
        const pto_tensor *t = call->in[i];
        if (t->rank > out->rank)
            return tensor_fail(call, "operand %d has rank %u, the result %u", i + 1, t->rank, out->rank);
        const uint32_t skip = out->rank - t->rank;
        for (uint32_t d = 0; d < t->rank; d++) {
            if (t->dims[d] != out->dims[skip + d] && t->dims[d] != 1) {
                return tensor_fail(
                    call, "operand %d has extent %" PRId64 " along dim %u, which does not broadcast to %" PRId64, i + 1,
                    t->dims[d], d, out->dims[skip + d]);
            }
            out_walk->strides[1 + i][skip + d] = t->dims[d] == 1 ? 0 : t->strides[d];
        }
    }
    return PTO_OK;
}

walk tensor_lines(const tensor_call *call, uint32_t axis)
{
    const pto_tensor *all[] = {call->out, call->in[0], call->second};
    walk w = {0};
    for (uint32_t d = 0; d < call->out->rank; d++) {
        if (d == axis) continue;
        w.dims[w.rank] = call->out->dims[d];
        for (int a = 0; a < 3; a++) w.strides[a][w.rank] = all[a] != NULL ? all[a]->strides[d] : 0;
        w.rank++;
    }
    return w;
}

void tensor_insert_dim(pto_tensor *t, uint32_t at)
{
    for (uint32_t d = t->rank++; d > at; d--) {
        t->dims[d] = t->dims[d - 1];
        t->strides[d] = t->strides[d - 1];
    }
    t->dims[at] = 1;
    t->strides[at] = 0;
}

uint8_t *tensor_at(const pto_tensor *t, int64_t offset)
{
    return (uint8_t *)t->data + offset * (int64_t)element_bytes(t->dtype);
}

int64_t tensor_count(const pto_tensor *t)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++) n *= t->dims[d];
    return n;
}

size_t tensor_piece(int64_t n, int64_t i) { return n - i < TENSOR_LANES ? (size_t)(n - i) : TENSOR_LANES; }

pto_status tensor_check_dtype(tensor_call *call, int i)
{
    if (call->in[i]->dtype == call->out->dtype) return PTO_OK;
    return tensor_fail(call, "operand %d is %s, the result %s: they must be equal", i + 1,
                       pto_dtype_name(call->in[i]->dtype), pto_dtype_name(call->out->dtype));
}

pto_status tensor_check_float(tensor_call *call)
{
    const pto_dtype t = call->out->dtype;
    if (element_is_wide_float(t)) return PTO_OK;
    return tensor_fail(call, "element type %s is not a float that ops compute in", pto_dtype_name(t));
}

pto_status tensor_check_same_dims(tensor_call *call, int i)
{
    const pto_tensor *t = call->in[i], *out = call->out;
    if (t->rank != out->rank)
        return tensor_fail(call, "operand %d has rank %u, the result %u", i + 1, t->rank, out->rank);
    for (uint32_t d = 0; d < t->rank; d++) {
        if (t->dims[d] == out->dims[d]) continue;
        return tensor_fail(call, "operand %d has extent %" PRId64 " along dim %u, the result %" PRId64, i + 1,
                           t->dims[d], d, out->dims[d]);
    }
    return PTO_OK;
}

pto_status tensor_check_axis(tensor_call *call, int64_t axis, uint32_t rank, uint32_t *out_axis)
{
    const int64_t r = rank;
    if (axis < -r || axis >= r) return tensor_fail(call, "axis %" PRId64 " of a tensor of rank %u", axis, rank);
    *out_axis = (uint32_t)(axis < 0 ? axis + r : axis);
    return PTO_OK;
}
