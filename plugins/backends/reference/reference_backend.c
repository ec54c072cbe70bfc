/* pto.reference: runs a module of any level, op by op. */
#include "reference_interp.h"

#include <pto/plugin.h>
#include <pto/profile.h>

#include <math.h>
#include <string.h>

#define OPTIONS(X)                                                                                                   \
    X(BOUND, ENUM, "bound", .def = "none", .choices = bound_choices,                                                 \
      .doc =                                                                                                         \
          "instead of what was computed, outputs hold the least or the most that the rows of the ops allow "         \
          "each element to be, or 1 where they allow NaN; all: one after the other, for hosts that give the memory", \
      .example = "with: { bound: least }")
static const char *const bound_choices[] = {"none", "least", "most", "nan", "all", NULL};
enum { BOUND_NONE, BOUND_LEAST, BOUND_MOST, BOUND_NAN, BOUND_ALL };
PTO_OPTIONS(OPTIONS);

/* What lives from prepare to release: memory that executions leave to each other. */
typedef struct executable {
    pool pool;
} executable;

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    if (code_decode(run, function) == NULL) return PTO_FAILED;
    *exe = pto_keep(run, sizeof(executable));
    return PTO_OK;
}

/* ---- bounds instead of values ---- */

static int bound_mode(const pto_run *run)
{
    int mode = BOUND_NONE;
    while (bound_choices[mode + 1] != NULL && !pto_str_is(pto_opt_str(run, OPT_BOUND), bound_choices[mode])) mode++;
    return mode;
}

static double shown(const bound *b, double computed, int mode)
{
    if (mode == BOUND_NAN) return b->may_be_nan ? 1 : 0;
    if (b->is_exact) return computed;
    if (!bound_has_numbers(b)) return (double)NAN;
    return mode == BOUND_LEAST ? b->lo : b->hi;
}

/* Integers that a double does not hold are shown as the nearest. */
static void show_element(pto_dtype t, const bound *b, const uint8_t *from, uint8_t *to, int mode)
{
    double x;
    if (b->is_exact && mode != BOUND_NAN) {
        memmove(to, from, element_bytes(t));
        return;
    }
    element_read_f64(t, from, 1, 1, &x);
    const double y = shown(b, x, mode);
    if (element_is_float(t)) {
        element_write_f64(t, to, 1, 1, &y);
        return;
    }
    const int64_t whole = element_is_unsigned(t) && y >= 0x1p63 ? (int64_t)(uint64_t)y : (int64_t)y;
    element_write_i64(t, to, 1, 1, &whole);
}

static int64_t count_of(const pto_tensor *t)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++) n *= t->dims[d];
    return n;
}

/* Memory of tensors that are called is contiguous. */
static void show_tensor(const shadow *s, const pto_tensor *t, int mode)
{
    const size_t size = element_bytes(t->dtype), n = (size_t)count_of(t);
    uint8_t *const data = t->data;
    for (size_t i = 0; i < n; i++) {
        bound b;
        shadow_read(s, t->dtype, data + i * size, 1, 1, &b);
        for (int part = BOUND_NAN; part >= BOUND_LEAST; part--) {
            if (mode == BOUND_ALL)
                show_element(t->dtype, &b, data + i * size, data + ((size_t)(part - BOUND_LEAST) * n + i) * size, part);
            if (mode == part) show_element(t->dtype, &b, data + i * size, data + i * size, part);
        }
    }
}

typedef struct shown_call {
    const pto_call *call;
    const function_code *entry;
    int mode;
} shown_call;

static bool is_shown(const shown_call *c, uint32_t i)
{
    return i >= c->call->argument_count || c->entry->parameters[i].out;
}

static const pto_tensor *tensor_at_place(const pto_call *call, uint32_t i)
{
    return i < call->argument_count ? call->arguments[i] : call->results[i - call->argument_count];
}

/* The call without the memory that bounds go to. */
static pto_status without_bounds(const pto_run *run, const shown_call *c, pto_call *out)
{
    const uint32_t count = c->call->argument_count + c->call->result_count;
    pto_tensor *tensors = PTO_SCRATCH(run, pto_tensor, count);
    const pto_tensor **list = PTO_SCRATCH(run, const pto_tensor *, count);
    for (uint32_t i = 0; i < count; i++) {
        tensors[i] = *tensor_at_place(c->call, i);
        list[i] = &tensors[i];
        const size_t bytes = (size_t)count_of(&tensors[i]) * element_bytes(tensors[i].dtype);
        if (!is_shown(c, i)) continue;
        if (tensors[i].bytes < 3 * bytes)
            return pto_error(c->entry->op, "pto.reference/arguments",
                             "`bound: all` needs three times the memory of every output");
        tensors[i].bytes = bytes;
    }
    *out = *c->call;
    out->arguments = list;
    out->results = list + c->call->argument_count;
    return PTO_OK;
}

static void show_bounds(const shadow *s, const shown_call *c)
{
    for (uint32_t i = 0; i < c->call->argument_count + c->call->result_count; i++)
        if (is_shown(c, i)) show_tensor(s, tensor_at_place(c->call, i), c->mode);
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    executable *e = exe;
    pto_call plain = *call;
    e->pool.run = run;
    const function_code *entry = code_decode(run, call->function);
    if (entry == NULL) return PTO_FAILED;
    const shown_call shown = {call, entry, bound_mode(run)};
    if (shown.mode == BOUND_ALL) PTO_TRY(without_bounds(run, &shown, &plain));
    interp in = {.run = run,
                 .call = &plain,
                 .pool = &e->pool,
                 .serial = MARK_FIRST - 1,
                 .random = call->seed,
                 .cpu = insn_cpu()};
    e->pool.shadow = shown.mode != BOUND_NONE ? shadow_make(run) : NULL;
    PTO_TRY(interp_run(&in, entry));
    if (shown.mode != BOUND_NONE) show_bounds(e->pool.shadow, &shown);
    pto_profile_count(call->sink, PTO_COUNTER_OPS, (double)in.op_count);
    pto_profile_count(call->sink, PTO_COUNTER_INSTRUCTIONS, (double)in.insn_count);
    pto_profile_count(call->sink, PTO_COUNTER_INSTANCES, (double)in.instance_count);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend backend = {
    .struct_size = sizeof backend,
    .id = "pto.reference",
    .summary = "Interprets a module of any level op by op",
    .options = pass_options,
    .consumes = PTO_STRS("tensor/1", "tile/1", "block/1", "exec/1"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .counters = PTO_STRS("ops", "instructions", "instances"),
};

PTO_PLUGIN("pto.reference", "backend:pto.reference", "", .version = "1.0.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
