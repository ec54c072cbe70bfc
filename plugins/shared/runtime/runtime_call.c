#include "runtime_isa.h"

#include <kernel_products.h>
#include <native_constants.h>
#include <native_floats.h>
#include <native_launch.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct pto_runtime_context {
    native_pool *pool; /* NULL: the calling thread alone */
    native_arena memory, scratch;
    native_constants constants;
    pto_product_table products;
    uint32_t has;                /* PTO_ISA_* of this CPU */
    int64_t cache_bytes;         /* that threads share, as of native_thread_plan */
    int64_t index_and_extent[2]; /* of the last launch that failed */
    char error[PTO_RUNTIME_ERROR_BYTES];
};

/* ---- contexts ---- */

/* More than the system has would be taken from the disk, or end the process. */
static uint64_t memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
}

static void begin(pto_runtime_context *c, uint32_t isa)
{
    c->has = pto_isa_of_host();
    c->memory = c->scratch = c->constants.memory = native_arena_begin(memory_bytes());
    pto_products_fill(pto_isa_worth_using(runtime_isa_of_products(isa, c->has)), &c->products);
}

pto_runtime_context *pto_runtime_open(int32_t threads, uint32_t isa)
{
    native_thread_plan plan;
    if (threads < 0) return NULL;
    pto_runtime_context *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED) return NULL;
    begin(c, isa);
    /* Threads begin with the floating point of the one that starts them. */
    const native_floats floats = native_floats_begin();
    const int is_made = native_threads_plan((uint32_t)threads, &plan, NULL) == NATIVE_OK &&
                        native_pool_begin(&plan, NATIVE_POOL_SPIN_NS, &c->pool, NULL) == NATIVE_OK;
    native_floats_end(floats);
    c->cache_bytes = plan.cache_bytes;
    if (is_made) return c;
    munmap(c, sizeof *c);
    return NULL;
}

static void end_memory(pto_runtime_context *c)
{
    native_arena_end(&c->memory);
    native_arena_end(&c->scratch);
    native_arena_end(&c->constants.memory);
}

void pto_runtime_close(pto_runtime_context *c)
{
    if (c == NULL) return;
    native_pool_end(c->pool);
    end_memory(c);
    munmap(c, sizeof *c);
}

void pto_runtime_constants(pto_runtime_context *c, uint64_t version)
{
    if (c != NULL) native_constants_begin(&c->constants, version);
}

const char *pto_runtime_error(const pto_runtime_context *c) { return c != NULL ? c->error : ""; }

static int32_t fail(pto_runtime_context *c, int32_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int32_t fail(pto_runtime_context *c, int32_t result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->error, sizeof c->error, format, args);
    va_end(args);
    return result;
}

/* ---- what generated code asks for ---- */

enum { FAULT_MEMORY = -1, FAULT_GRID = -2, FAULT_DEBUG = -3 };

static uint32_t threads_of(const pto_runtime_context *c) { return c->pool != NULL ? native_pool_threads(c->pool) : 1; }

static void *allocate(void *self, size_t bytes)
{
    pto_runtime_context *c = self;
    void *memory = NULL;
    return native_arena_take(&c->memory, bytes, &memory, NULL) == NATIVE_OK ? memory : NULL;
}

static uint64_t mark(void *self) { return native_arena_mark(&((const pto_runtime_context *)self)->memory); }

static void release(void *self, uint64_t to) { native_arena_release(&((pto_runtime_context *)self)->memory, to); }

static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    pto_runtime_context *c = self;
    native_launch l;
    if (instances < 0) return FAULT_GRID;
    if (native_launch_begin(&l, kernel, frame, scratch_bytes, threads_of(c), &c->scratch, NULL) != NATIVE_OK)
        return FAULT_MEMORY;
    if (c->pool != NULL)
        native_pool_run(c->pool, instances, native_launch_run, &l);
    else
        native_launch_run(&l, 0, instances, 0);
    memcpy(c->index_and_extent, l.index_and_extent, sizeof c->index_and_extent);
    return l.fault;
}

static void *keep(void *self, const void *key, size_t key_bytes, size_t bytes, bool **is_made)
{
    return native_constants_keep(&((pto_runtime_context *)self)->constants, key, key_bytes, bytes, is_made);
}

/* pto-build refuses modules with debug ops. */
static int32_t debug(void *self, uint32_t op, const void *data, const int64_t *dims, const int64_t *strides,
                     int32_t fault)
{
    (void)self, (void)op, (void)data, (void)dims, (void)strides, (void)fault;
    return FAULT_DEBUG;
}

/* ---- tensors ---- */

enum { UNBOUND = -1, EXTENT_BITS_MAX = 31 };

/* A call while its tensors are checked. */
typedef struct checked_call {
    pto_runtime_context *context;
    const pto_runtime_function *function;
    const DLTensor *const *tensors;
    int64_t symbols[64];
    uint8_t by_argument[64], by_dim[64]; /* what bound each symbol */
    int64_t extents[64][PTO_RUNTIME_RANK_MAX];
    char *data[64];
    uint64_t bytes[64];
} checked_call;

static int is_type(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

static int32_t check_tensor(checked_call *k, uint32_t at)
{
    const pto_runtime_argument *a = &k->function->arguments[at];
    const DLTensor *t = k->tensors[at];
    if (t == NULL) return fail(k->context, PTO_RUNTIME_ARGUMENT, "`%s` is NULL", a->name);
    if (t->device.device_type != kDLCPU)
        return fail(k->context, PTO_RUNTIME_ARGUMENT,
                    "`%s` is on a device of DLPack's type %d; only memory of the CPU, type 1, can be used", a->name,
                    (int)t->device.device_type);
    if (!is_type(t->dtype, a->dtype) && (a->other_dtype.lanes == 0 || !is_type(t->dtype, a->other_dtype)))
        return fail(k->context, PTO_RUNTIME_ARGUMENT,
                    "`%s` needs elements of type %s; it has DLPack's code %d, %d bits, %d lanes", a->name, a->type,
                    t->dtype.code, t->dtype.bits, t->dtype.lanes);
    if (t->ndim != a->rank)
        return fail(k->context, PTO_RUNTIME_ARGUMENT, "`%s` needs rank %d; it has rank %d", a->name, a->rank,
                    (int)t->ndim);
    if (a->rank > 0 && t->shape == NULL)
        return fail(k->context, PTO_RUNTIME_ARGUMENT, "`%s` has no shape: it is NULL", a->name);
    for (uint32_t d = 0; d < a->rank; d++)
        if (t->shape[d] < 0 || t->shape[d] >> EXTENT_BITS_MAX != 0)
            return fail(k->context, PTO_RUNTIME_ARGUMENT,
                        "`%s` has the extent %" PRId64 " in dim %u; extents are 0 to 2147483647", a->name, t->shape[d],
                        (unsigned)d);
    return PTO_RUNTIME_OK;
}

static int32_t bind_symbols(checked_call *k)
{
    const pto_runtime_function *f = k->function;
    for (uint32_t s = 0; s < f->symbol_count; s++) k->symbols[s] = UNBOUND;
    for (uint32_t i = 0; i < f->argument_count; i++) {
        const int32_t checked = check_tensor(k, i);
        if (checked != PTO_RUNTIME_OK) return checked;
        for (uint32_t d = 0; d < f->arguments[i].rank; d++) {
            const int32_t s = f->arguments[i].symbol[d];
            const int64_t extent = k->tensors[i]->shape[d];
            if (s < 0) continue;
            if (k->symbols[s] == UNBOUND) {
                k->symbols[s] = extent;
                k->by_argument[s] = (uint8_t)i;
                k->by_dim[s] = (uint8_t)d;
            }
            if (k->symbols[s] != extent)
                return fail(k->context, PTO_RUNTIME_ARGUMENT,
                            "$%s is %" PRId64 " by dim %d of `%s` but %" PRId64 " by dim %u of `%s`", f->symbols[s],
                            k->symbols[s], k->by_dim[s], f->arguments[k->by_argument[s]].name, extent, (unsigned)d,
                            f->arguments[i].name);
        }
    }
    return PTO_RUNTIME_OK;
}

/* Strides of dims with one element, and of a tensor without any, mean nothing. */
static int32_t check_memory(checked_call *k, uint32_t at)
{
    const pto_runtime_argument *a = &k->function->arguments[at];
    const DLTensor *t = k->tensors[at];
    const uint32_t bytes = a->dtype.bits / 8u;
    uint64_t count = bytes;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (t->shape[d] != k->extents[at][d] && a->dims[d][strspn(a->dims[d], "0123456789")] == '\0')
            return fail(k->context, PTO_RUNTIME_ARGUMENT, "dim %u of `%s` must be %" PRId64 "; it is %" PRId64,
                        (unsigned)d, a->name, k->extents[at][d], t->shape[d]);
        if (t->shape[d] != k->extents[at][d])
            return fail(k->context, PTO_RUNTIME_ARGUMENT, "dim %u of `%s` must be %s = %" PRId64 "; it is %" PRId64,
                        (unsigned)d, a->name, a->dims[d], k->extents[at][d], t->shape[d]);
        if (__builtin_mul_overflow(count, (uint64_t)t->shape[d], &count))
            return fail(k->context, PTO_RUNTIME_ARGUMENT, "`%s` has more elements than 64 bits count", a->name);
    }
    int64_t stride = 1;
    for (uint32_t d = a->rank; t->strides != NULL && count > 0 && d-- > 0; stride *= t->shape[d])
        if (t->shape[d] != 1 && t->strides[d] != stride)
            return fail(k->context, PTO_RUNTIME_ARGUMENT,
                        "`%s` is not dense: dim %u has stride %" PRId64 " and not %" PRId64, a->name, (unsigned)d,
                        t->strides[d], stride);
    if (t->data == NULL && count > 0)
        return fail(k->context, PTO_RUNTIME_ARGUMENT, "`%s` has no data: it is NULL", a->name);
    const uintptr_t address = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
    if ((address & (bytes - 1)) != 0)
        return fail(k->context, PTO_RUNTIME_ARGUMENT,
                    "`%s` begins at an address that is not a multiple of %u, the bytes of an element", a->name,
                    (unsigned)bytes);
    k->data[at] = (char *)address;
    k->bytes[at] = count;
    return PTO_RUNTIME_OK;
}

/* What is written is read by nobody else, unless the module declares it, and written once. */
static int32_t check_overlaps(const checked_call *k)
{
    const pto_runtime_function *f = k->function;
    for (uint32_t i = 0; i < f->argument_count; i++) {
        for (uint32_t o = 0; f->arguments[i].is_written && o < f->argument_count; o++) {
            if (o == i || (f->arguments[i].may_alias >> o & 1) != 0) continue;
            /* What is empty lies nowhere. */
            if (k->bytes[i] == 0 || k->bytes[o] == 0) continue;
            if (k->data[i] >= k->data[o] + k->bytes[o] || k->data[o] >= k->data[i] + k->bytes[i]) continue;
            return fail(k->context, PTO_RUNTIME_ARGUMENT, "the memory of `%s` overlaps that of `%s`",
                        f->arguments[i].name, f->arguments[o].name);
        }
    }
    return PTO_RUNTIME_OK;
}

static int32_t check_facts(checked_call *k)
{
    uint8_t holds[64] = {0};
    k->function->holds(k->symbols, holds);
    for (uint32_t i = 0; i < k->function->fact_count; i++)
        if (!holds[i])
            return fail(k->context, PTO_RUNTIME_ARGUMENT, "the fact `%s` does not hold", k->function->facts[i].text);
    return PTO_RUNTIME_OK;
}

/* ---- a call ---- */

static int32_t say_fault(pto_runtime_context *c, const pto_runtime_function *f, int32_t fault)
{
    if (fault > 0 && (uint32_t)fault <= f->module->fault_count) {
        const pto_native_fault *x = &f->module->faults[fault - 1];
        char index[NATIVE_INDEX_TEXT];
        return fail(c, x->is_memory ? PTO_RUNTIME_SYSTEM : PTO_RUNTIME_FAULT, "%s%sin @%s, `%s` %s%s",
                    x->place != NULL ? x->place : "", x->place != NULL ? ": " : "", f->name,
                    x->kind != NULL ? x->kind : "an op", x->text,
                    native_index_text(x->has_index != 0, c->index_and_extent, index));
    }
    if (fault == FAULT_GRID) return fail(c, PTO_RUNTIME_FAULT, "in @%s, a grid has a negative extent", f->name);
    if (fault == FAULT_DEBUG) return fail(c, PTO_RUNTIME_FAULT, "in @%s, a debug op ran", f->name);
    return fail(c, PTO_RUNTIME_SYSTEM, "there is not enough memory for scratch");
}

static int32_t run(checked_call *k)
{
    const pto_runtime_function *f = k->function;
    const pto_native_function *native = NULL;
    void *memory[64];
    int64_t symbols[64] = {0};
    for (uint32_t i = 0; i < f->module->function_count; i++)
        if (strcmp(f->module->functions[i]->name, f->name) == 0) native = f->module->functions[i];
    if (native == NULL || native->argument_count != f->order_count || native->symbol_count > 64)
        return fail(k->context, PTO_RUNTIME_SYSTEM, "the library has no function @%s that fits", f->name);
    for (uint32_t i = 0; i < f->order_count; i++) memory[i] = k->data[f->order[i]];
    for (uint32_t i = 0; i < native->symbol_count; i++)
        for (uint32_t s = 0; s < f->symbol_count; s++)
            if (strcmp(native->symbols[i], f->symbols[s]) == 0) symbols[i] = k->symbols[s];
    const pto_native_services services = {.struct_size = sizeof services,
                                          .self = k->context,
                                          .launch = launch,
                                          .allocate = allocate,
                                          .mark = mark,
                                          .release = release,
                                          .debug = debug,
                                          .product_count = PTO_PRODUCT_COUNT,
                                          .thread_count = threads_of(k->context),
                                          .products = k->context->products.list,
                                          .keep = keep,
                                          .cache_bytes = k->context->cache_bytes};
    const pto_native_call call = {
        .struct_size = sizeof call, .services = &services, .arguments = memory, .symbols = symbols};
    const native_floats floats = native_floats_begin();
    native_arena_reset(&k->context->memory);
    const int32_t fault = native->run(&call);
    native_floats_end(floats);
    return fault == 0 ? PTO_RUNTIME_OK : say_fault(k->context, f, fault);
}

static int32_t check_and_run(pto_runtime_context *c, const pto_runtime_function *f, const DLTensor *const *tensors)
{
    checked_call k = {.context = c, .function = f, .tensors = tensors};
    c->error[0] = '\0';
    const char *lacks = runtime_isa_lacks(f->isa, c->has);
    if (lacks != NULL) return fail(c, PTO_RUNTIME_SYSTEM, "%s", lacks);
    int32_t result = bind_symbols(&k);
    if (result != PTO_RUNTIME_OK) return result;
    f->extents(k.symbols, k.extents);
    for (uint32_t i = 0; result == PTO_RUNTIME_OK && i < f->argument_count; i++) result = check_memory(&k, i);
    if (result == PTO_RUNTIME_OK) result = check_facts(&k);
    if (result == PTO_RUNTIME_OK) result = check_overlaps(&k);
    return result == PTO_RUNTIME_OK ? run(&k) : result;
}

int32_t pto_runtime_call(pto_runtime_context *c, const pto_runtime_function *f, const DLTensor *const *tensors)
{
    if (c != NULL) return check_and_run(c, f, tensors);
    pto_runtime_context own = {.pool = NULL};
    begin(&own, f->isa);
    const int32_t result = check_and_run(&own, f, tensors);
    end_memory(&own);
    return result;
}
