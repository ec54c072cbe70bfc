/* org.example.backend: runs functions that negate and add f32 tensors, element by element; anything else is an error
 * that names the op and its place. */
#include <pto/plugin.h>
#include <pto/profile.h>

#define KINDS(X) X(NEG, "tensor.neg") X(ADD, "tensor.add") X(RETURN, "return")
PTO_KINDS(KINDS);

/* The elements that a value has during a call: those of an argument, or computed ones. */
typedef struct slot {
    pto_value value;
    const float *elements;
} slot;

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    *exe = NULL;
    PTO_EACH_OP(pto_body(function), op) {
        const pto_kind_id kind = pto_op_kind(op);
        if (kind == pto_kind(run, KIND_RETURN)) continue;
        if (kind != pto_kind(run, KIND_NEG) && kind != pto_kind(run, KIND_ADD))
            return pto_error(op, "org.example.backend/unknown-op", "this backend cannot run `%.*s`",
                             PTO_FMT(pto_op_name(op)));
        if (pto_type_dtype(pto_value_type(pto_op_result(op, 0))) != PTO_F32)
            return pto_error(op, "org.example.backend/not-f32", "this backend knows f32 alone");
    }
    return PTO_OK;
}

// What a value holds. Every operand is an argument or an earlier result, so the search ends.
static const float *elements_of(const slot *slots, pto_value value)
{
    while (!pto_value_same(slots->value, value)) slots++;
    return slots->elements;
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    (void)exe;
    const uint64_t bytes = call->results[0]->bytes, count = bytes / sizeof(float);
    pto_binding *bound = PTO_SCRATCH(run, pto_binding, call->argument_count + call->result_count);
    PTO_TRY(pto_backend_bind(call, "org.example.backend/arguments", bound));
    uint32_t used = 0;
    PTO_EACH_OP(pto_body(call->function), op) used++;
    slot *slots = PTO_SCRATCH(run, slot, used + call->argument_count);
    for (used = 0; used < call->argument_count; used++) {
        const slot argument = {bound[used].value, (const float *)bound[used].tensor->data};
        if (bound[used].tensor->bytes != bytes)
            return pto_error(call->function, "org.example.backend/shape", "this backend does not broadcast");
        slots[used] = argument;
    }
    PTO_EACH_OP(pto_body(call->function), op) {
        const float *a = elements_of(slots, pto_op_operand(op, 0));
        if (a == NULL) return pto_error(op, "org.example.backend/operand", "its first operand has no elements");
        if (PTO_IS(op, RETURN)) {
            memcpy(call->results[0]->data, a, bytes);
            break;
        }
        const float *b = PTO_IS(op, ADD) ? elements_of(slots, pto_op_operand(op, 1)) : NULL;
        float *out = PTO_SCRATCH(run, float, count);
        for (uint64_t i = 0; i < count; i++) out[i] = b != NULL ? a[i] + b[i] : -a[i];
        const slot result = {pto_op_result(op, 0), out};
        slots[used++] = result;
    }
    pto_profile_count(call->sink, PTO_COUNTER_OPS, used - call->argument_count);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend backend = {
    .struct_size = sizeof backend,
    .id = "org.example.backend",
    .summary = "Negate and add f32 tensors",
    .kinds = pass_kinds,
    .consumes = PTO_STRS("tensor/1"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .counters = PTO_STRS("ops"), // what a report can tell of a run; <pto/profile.h> has the names
};
PTO_PLUGIN("org.example.backend", "backend:org.example.backend", "", .version = "0.1.0", .license = "MIT",
           .backends = PTO_LIST(pto_backend, &backend));
