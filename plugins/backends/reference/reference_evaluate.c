/* Ops of plugins: the host calls the function of the row. */
#include "reference_interp.h"

#include <pto/opset.h>

typedef struct evaluation {
    uint32_t operand_count, result_count;
    const array *from[PTO_OP_OPERANDS_MAX];
    value made[PTO_OP_RESULTS_MAX];
    pto_tensor tensors[PTO_OP_OPERANDS_MAX + PTO_OP_RESULTS_MAX];
    const pto_tensor *operands[PTO_OP_OPERANDS_MAX], *results[PTO_OP_RESULTS_MAX];
} evaluation;

/* ---- which values the results may have ---- */

enum { ULP_UNKNOWN = 255 };

static bool is_exact(const interp *in, const evaluation *e)
{
    for (uint32_t i = 0; i < e->operand_count; i++) {
        const array *a = e->from[i];
        if (shadow_has(in->pool->shadow, a->in->data, a->in->bytes)) return false;
    }
    return true;
}

/* What the row says holds of exact operands: how operands that may be off change the results is not known. */
static void bound_result(interp *in, const op_code *o, const evaluation *e, const array *result)
{
    const pto_kind_id kind = pto_op_kind(o->op);
    const int64_t units = pto_kind_column(in->run, kind, PTO_COLUMN_ULP);
    const double ulp = (double)units;
    const bool is_known =
        is_exact(in, e) && units < ULP_UNKNOWN && pto_kind_column(in->run, kind, PTO_COLUMN_ARGUMENT_ULP) == 0;
    const size_t bytes = element_bytes(result->dtype);
    int64_t count = 0;
    if ((is_known && units == 0) || !array_count(result, &count)) return;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *at = result->base + (size_t)i * bytes;
        bound b = bound_anything(result->dtype);
        if (is_known) {
            shadow_read(in->pool->shadow, result->dtype, at, 1, 1, &b);
            b = bound_rounded(result->dtype, b.lo, b.hi, ulp, b.may_be_nan);
        }
        shadow_write(in->pool->shadow, result->dtype, at, 1, 1, &b);
    }
}

/* ---- running ---- */

static pto_status take_operands(interp *in, frame *fr, const op_code *o, evaluation *e)
{
    for (uint32_t i = 0; i < e->operand_count; i++) {
        e->from[i] = &fr->values[o->operands[i]].array;
        PTO_TRY(instances_read_array(in, o->op, e->from[i]));
        e->tensors[i] = interp_tensor_of(e->from[i]);
        e->operands[i] = &e->tensors[i];
    }
    return PTO_OK;
}

static pto_status make_results(interp *in, frame *fr, const op_code *o, evaluation *e)
{
    for (uint32_t i = 0; i < o->result_count; i++) {
        PTO_TRY(interp_make_result(in, fr, o, i, &e->made[i]));
        e->result_count++;
        e->tensors[e->operand_count + i] = interp_tensor_of(&e->made[i].array);
        e->results[i] = &e->tensors[e->operand_count + i];
    }
    return PTO_OK;
}

static pto_status run(interp *in, frame *fr, const op_code *o, evaluation *e)
{
    PTO_TRY(take_operands(in, fr, o, e));
    PTO_TRY(make_results(in, fr, o, e));
    PTO_TRY(pto_op_evaluate(o->op, e->operand_count, e->operands, e->result_count, e->results));
    for (uint32_t i = 0; i < e->result_count && in->pool->shadow != NULL; i++)
        bound_result(in, o, e, &e->made[i].array);
    for (uint32_t i = 0; i < e->result_count; i++) value_copy(in->pool, &fr->values[o->results[i]], &e->made[i]);
    return PTO_OK;
}

pto_status interp_evaluate(interp *in, frame *fr, const op_code *o)
{
    evaluation e = {.operand_count = o->operand_count};
    const pto_status s = run(in, fr, o, &e);
    for (uint32_t i = 0; i < e.result_count; i++) value_clear(in->pool, &e.made[i]);
    return s;
}
