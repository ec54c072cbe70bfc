/* What generated code asks of its caller, during one call: launches, memory, debug ops. */
#ifndef NATIVE_SERVICES_H
#define NATIVE_SERVICES_H

#include <native_arena.h>
#include <native_constants.h>
#include <native_pool.h>

#include <kernel_products.h>

#include <pto/native.h>
#include <pto/plugin.h>

/* What stays from call to call. */
typedef struct native_keep {
    native_pool *pool;
    native_arena memory;  /* what functions allocate */
    native_arena scratch; /* of the threads, for one launch */
    pto_product_table products;
    native_constants constants;
    int64_t cache_bytes; /* that threads share, as of native_thread_plan */
} native_keep;

typedef struct native_session {
    const pto_run *run;
    pto_op function;
    native_keep *keep;
    uint64_t seed;                  /* of the order of instances, as of pto_call */
    int64_t instances, launches;    /* that ran so far */
    struct native_profile *profile; /* NULL: nobody asks */
    native_error e;                 /* why memory was refused, if it was */
    int64_t index_and_extent[2];    /* of the last launch that failed */
} native_session;

/* Faults of the services, which are negative; those of generated code are positive. */
enum { NATIVE_FAULT_MEMORY = -1, NATIVE_FAULT_REPORTED = -2 };

/* Services whose `self` is the session, which lives as long as they do. */
pto_native_services native_services_of(native_session *s);

/* The op with a number of the walk through the module that the generator counted by; the first has number 1. */
pto_op native_op_at(const pto_run *run, uint32_t which);

#endif
