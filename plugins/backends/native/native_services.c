#include "native_services.h"

#include "native_profile.h"

#include "debug_values.h"

#include <stdatomic.h>

static void *allocate(void *self, size_t bytes)
{
    native_session *s = self;
    void *memory = NULL;
    return native_arena_take(&s->keep->memory, bytes, &memory, &s->e) == NATIVE_OK ? memory : NULL;
}

static uint64_t mark(void *self)
{
    const native_session *s = self;
    return native_arena_mark(&s->keep->memory);
}

static void release(void *self, uint64_t to)
{
    native_session *s = self;
    native_arena_release(&s->keep->memory, to);
}

/* ---- launches ---- */

typedef struct job {
    pto_native_kernel kernel;
    const void *frame;
    char *scratch;
    size_t scratch_step; /* from one thread's to the next one's */
    /* The first instance that failed so far: those after it need not run. Its fault is written with the lock. */
    _Atomic int64_t failed_at;
    atomic_flag lock;
    int32_t fault;
    native_profile *profile;
} job;

static void note_fault(job *j, int64_t instance, int32_t fault)
{
    while (atomic_flag_test_and_set_explicit(&j->lock, memory_order_acquire)) continue;
    if (instance < atomic_load_explicit(&j->failed_at, memory_order_relaxed)) {
        atomic_store_explicit(&j->failed_at, instance, memory_order_relaxed);
        j->fault = fault;
    }
    atomic_flag_clear_explicit(&j->lock, memory_order_release);
}

static void run_instances(void *self, int64_t from, int64_t to, uint32_t thread)
{
    job *j = self;
    char *scratch = j->scratch + thread * j->scratch_step;
    for (int64_t i = from; i < to && i < atomic_load_explicit(&j->failed_at, memory_order_relaxed); i++) {
        const int32_t fault = j->kernel(j->frame, i, scratch);
        if (fault != 0) note_fault(j, i, fault);
    }
}

static void run_profiled(void *self, int64_t from, int64_t to, uint32_t thread)
{
    const job *j = self;
    native_profile_piece(j->profile, thread);
    run_instances(self, from, to, thread);
    native_profile_pieced(j->profile, thread, from, to);
}

static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    /* Threads write at the ends of what they have; prefetchers fetch pairs of lines. */
    enum { LINES_BYTES = 128 };
    native_session *s = self;
    native_arena *scratch = &s->keep->scratch;
    if (instances < 0) {
        (void)pto_error(s->function, "pto.native/arguments",
                        "a grid has a negative extent; it has 0 or more instances");
        return NATIVE_FAULT_REPORTED;
    }
    if (pto_should_stop(s->run)) return NATIVE_FAULT_REPORTED;
    const uint32_t threads = native_pool_threads(s->keep->pool);
    const size_t step = (scratch_bytes + LINES_BYTES - 1) / LINES_BYTES * LINES_BYTES + LINES_BYTES;
    void *memory = NULL;
    native_arena_reset(scratch);
    if (native_arena_take(scratch, step * threads, &memory, &s->e) != NATIVE_OK) return NATIVE_FAULT_MEMORY;
    job j = {.kernel = kernel,
             .frame = frame,
             .scratch = memory,
             .scratch_step = step,
             .failed_at = INT64_MAX,
             .lock = ATOMIC_FLAG_INIT,
             .profile = s->profile};
    s->instances += instances;
    s->launches++;
    if (s->profile != NULL) native_profile_launch(s->profile, kernel);
    native_pool_run(s->keep->pool, instances, s->profile != NULL ? run_profiled : run_instances, &j);
    if (s->profile != NULL) native_profile_launched(s->profile, instances);
    return j.fault;
}

/* ---- debug ops ---- */

pto_op native_op_at(const pto_run *run, uint32_t which)
{
    const pto_op all = pto_op_none(run);
    uint32_t n = 0;
    PTO_WALK(all, op)
    if (++n == which) return op;
    return all;
}

static int32_t debug(void *self, uint32_t which, const void *data, const int64_t *dims, const int64_t *strides,
                     int32_t fault)
{
    const native_session *s = self;
    const pto_op op = native_op_at(s->run, which);
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const pto_dtype dtype = pto_type_dtype(type);
    (void)fault; /* what is wrong has been said */
    pto_status done = PTO_OK;
    if (dims == NULL) {
        done = debug_scalar(op, "pto.native", dtype, element_number(dtype, data));
    } else {
        gm_window w = {.base = (uint8_t *)(uintptr_t)data, .dtype = dtype, .rank = pto_type_rank(type)};
        memcpy(w.dims, dims, w.rank * sizeof *dims);
        memcpy(w.strides, strides, w.rank * sizeof *strides);
        done = debug_array(op, "pto.native", &w);
    }
    return done == PTO_OK ? 0 : NATIVE_FAULT_REPORTED;
}

pto_native_services native_services_of(native_session *s)
{
    return (pto_native_services){
        .struct_size = sizeof(pto_native_services),
        .self = s,
        .launch = launch,
        .allocate = allocate,
        .mark = mark,
        .release = release,
        .debug = debug,
        .product_count = PTO_PRODUCT_COUNT,
        .products = s->keep->products.list,
    };
}
