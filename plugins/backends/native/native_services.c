#include "native_services.h"

#include "native_profile.h"

#include "debug_values.h"

#include <native_launch.h>

#include <pto/arithmetic.h>

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

static void *keep(void *self, const void *key, size_t key_bytes, size_t bytes, bool **is_made)
{
    return native_constants_keep(&((native_session *)self)->keep->constants, key, key_bytes, bytes, is_made);
}

/* ---- launches ---- */

typedef struct job {
    native_launch launch;
    native_profile *profile; /* NULL: nobody asks */
    pto_order order;
} job;

static void run_instances(void *self, int64_t from, int64_t to, uint32_t thread)
{
    job *j = self;
    if (j->profile != NULL) native_profile_piece(j->profile, thread);
    native_launch_run(&j->launch, from, to, thread);
    if (j->profile != NULL) native_profile_pieced(j->profile, thread, from, to);
}

static void run_in_other_order(void *self, int64_t from, int64_t to, uint32_t thread)
{
    const job *j = self;
    for (int64_t k = from; k < to; k++) {
        const int64_t instance = pto_order_at(&j->order, k);
        run_instances(self, instance, instance + 1, thread);
    }
}

static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    native_session *s = self;
    native_pool *pool = s->keep->pool;
    if (instances < 0) {
        (void)pto_error(s->function, "pto.native/arguments",
                        "a grid has a negative extent; it has 0 or more instances");
        return NATIVE_FAULT_REPORTED;
    }
    if (pto_should_stop(s->run)) return NATIVE_FAULT_REPORTED;
    job j = {.profile = s->profile, .order = pto_order_make(s->seed, instances)};
    if (native_launch_begin(&j.launch, kernel, frame, scratch_bytes, native_pool_threads(pool), &s->keep->scratch,
                            &s->e) != NATIVE_OK)
        return NATIVE_FAULT_MEMORY;
    s->instances += instances;
    s->launches++;
    if (s->profile != NULL) native_profile_launch(s->profile, kernel);
    native_pool_run(pool, instances, s->seed != 0 ? run_in_other_order : run_instances, &j);
    if (s->profile != NULL) native_profile_launched(s->profile, instances);
    memcpy(s->index_and_extent, j.launch.index_and_extent, sizeof s->index_and_extent);
    return j.launch.fault;
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
        .thread_count = native_pool_threads(s->keep->pool),
        .products = s->keep->products.list,
        .keep = keep,
        .cache_bytes = s->keep->cache_bytes,
    };
}
