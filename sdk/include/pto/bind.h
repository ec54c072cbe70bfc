/* For execute() of a backend: which tensor of a call belongs to which value of the function. */
#ifndef PTO_BIND_H
#define PTO_BIND_H

#include <pto/backend.h>
#include <pto/build.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter or a result of the function, and the tensor that the call has for it. */
typedef struct pto_binding {
    pto_value value;
    const pto_tensor *tensor;
} pto_binding;

/* The number of a symbol, without `$`, in a call: 1 and the number, or 0 when the call has no such symbol. */
static inline int32_t pto_call_symbol(const pto_call *call, pto_str name, int64_t *out)
{
    for (uint32_t i = 0; i < call->symbol_count; i++) {
        if (!pto_str_same(call->symbols[i], name)) continue;
        *out = call->symbol_values[i];
        return 1;
    }
    return 0;
}

/* Whether another tensor of the call is in the memory of this one, which is one of the call's: what the function
 * declares by `may_alias`. */
static inline int32_t pto_call_shares(const pto_call *call, const pto_tensor *t)
{
    for (uint32_t i = 0; i < call->argument_count + call->result_count; i++) {
        const pto_tensor *o = i < call->argument_count ? call->arguments[i] : call->results[i - call->argument_count];
        const char *first = (const char *)t->data, *second = (const char *)o->data;
        if (o != t && first < second + o->bytes && second < first + t->bytes) return 1;
    }
    return 0;
}

/* A symbol of the call as pto_expr_env asks for it. */
static inline int32_t pto_binding_symbol(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    const int32_t is_known = pto_call_symbol((const pto_call *)self, name, lo);
    *hi = *lo;
    return is_known;
}

/* Whether the tensor has the element type, the rank and the extents of the value; a scalar has rank 0. */
static inline pto_status pto_binding_check(const pto_call *call, const pto_binding *b, const char *code)
{
    const pto_type type = pto_value_type(b->value);
    const pto_str name = pto_value_name(b->value);
    pto_expr_env env;
    memset(&env, 0, sizeof env);
    env.struct_size = (uint32_t)sizeof env;
    env.self = (void *)(uintptr_t)call;
    env.symbol = pto_binding_symbol;
    if (b->tensor->dtype != pto_type_dtype(type) || b->tensor->rank != pto_type_rank(type))
        return pto_error(call->function, code, "%%%.*s has rank %u, %s; the call has rank %u, %s", PTO_FMT(name),
                         (unsigned)pto_type_rank(type), pto_dtype_name(pto_type_dtype(type)), (unsigned)b->tensor->rank,
                         pto_dtype_name(b->tensor->dtype));
    for (uint32_t d = 0; d < b->tensor->rank; d++) {
        const pto_range extent = pto_expr_range(pto_type_dim(type, d), call->function, &env);
        if (extent.lo == extent.hi && extent.lo == b->tensor->dims[d]) continue;
        return pto_error(call->function, code, "dim %u of %%%.*s is not %lld, which the call has", (unsigned)d,
                         PTO_FMT(name), (long long)b->tensor->dims[d]);
    }
    return PTO_OK;
}

/* Fills `out`, which has argument_count + result_count items of the call: the arguments of the body in order, then the
 * operands of the op that ends it. PTO_FAILED after a diagnostic with `code`: the function has other numbers of them,
 * or a tensor does not fit its value. Strides are not looked at. */
static inline pto_status pto_backend_bind(const pto_call *call, const char *code, pto_binding *out)
{
    const pto_block body = pto_body(call->function);
    const pto_op last = pto_block_last(body);
    const uint32_t arguments = pto_block_arg_count(body), results = pto_op_operand_count(last);
    if (call->argument_count != arguments || call->result_count != results)
        return pto_error(call->function, code, "the function has %u parameters and %u results, the call has %u and %u",
                         (unsigned)arguments, (unsigned)results, (unsigned)call->argument_count,
                         (unsigned)call->result_count);
    for (uint32_t i = 0; i < arguments + results; i++) {
        out[i].value = i < arguments ? pto_block_arg(body, i) : pto_op_operand(last, i - arguments);
        out[i].tensor = i < arguments ? call->arguments[i] : call->results[i - arguments];
        PTO_TRY(pto_binding_check(call, &out[i], code));
    }
    return PTO_OK;
}

#ifdef __cplusplus
}
#endif
#endif
