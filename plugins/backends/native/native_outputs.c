#include "native_outputs.h"

#include "native_services.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Chance that a call which wrote all integers is followed by two more. */
#define FALSE_ALARMS 1e-9

/* What eight bytes of an output hold before a call: bits of their own at each place, except for some. `is_computed`:
 * arithmetic may come to such bits. */
typedef struct blank {
    uint64_t fixed, random;
    int is_computed;
} blank;

/* Floats are signalling NaNs, which arithmetic never makes; a bool is neither 0 nor 1. */
static blank blank_of(pto_dtype dtype)
{
    if (dtype == PTO_BOOL) return (blank){UINT64_C(0xa0a0a0a0a0a0a0a0), UINT64_C(0x0f0f0f0f0f0f0f0f), 0};
    if (!pto_dtype_is_float(dtype) || pto_dtype_is_byte_float(dtype)) return (blank){0, UINT64_MAX, 1};
    const pto_float_format f = pto_dtype_float_format(dtype);
    const uint64_t each = pto_dtype_is_half_float(dtype) ? UINT64_C(0x0001000100010001) : UINT64_C(0x0000000100000001),
                   one = UINT64_C(1) << (f.mantissa_bits - 2), infinity = f.largest + UINT64_C(1);
    return (blank){(infinity | one) * each, (one - 1) * each, 0};
}

/* The eight bytes at a place; splitmix64. `is_turned`: all that are not fixed are the other way round. */
static uint64_t word_at(const blank *b, uint64_t place, int is_turned)
{
    uint64_t z = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return b->fixed | ((is_turned ? ~z : z) & b->random);
}

/* Whether the function has a parameter i of that mode. */
static int has_mode(const pto_call *call, uint32_t i, const char *mode)
{
    const pto_attr modes = pto_op_attr(call->function, PTO_STR("params"));
    return i < call->argument_count && PTO_SOME(modes) && pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), mode);
}

/* Whether what the call's tensor i holds before it has no meaning, and nothing else is in its memory. */
static int is_output(const native_outputs *o, uint32_t i)
{
    if (i < o->call->argument_count && !has_mode(o->call, i, "out")) return 0;
    return o->bindings[i].tensor->bytes != 0 && !pto_call_shares(o->call, o->bindings[i].tensor);
}

static void fill(const pto_tensor *t, int is_turned)
{
    const blank b = blank_of(t->dtype);
    char *p = t->data;
    uint64_t place = 0, left = t->bytes;
    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), p += sizeof(uint64_t)) {
        const uint64_t word = word_at(&b, place++, is_turned);
        memcpy(p, &word, sizeof word);
    }
    const uint64_t word = word_at(&b, place, is_turned);
    memcpy(p, &word, left);
}

static void fill_outputs(const native_outputs *o, int is_turned)
{
    for (uint32_t i = 0; i < o->call->argument_count + o->call->result_count; i++)
        if (is_output(o, i)) fill(o->bindings[i].tensor, is_turned);
}

void native_outputs_fill(const native_outputs *o) { fill_outputs(o, 0); }

/* Whether `found` of `count` elements may hold by chance what they held before: a bound on the tail of the binomial
 * distribution, after Chernoff. */
static int is_chance(uint64_t found, uint64_t count, size_t bytes)
{
    const double expected = ldexp((double)count, -8 * (int)bytes), n = (double)found;
    return n <= expected || n - expected - n * log(n / expected) > log(FALSE_ALARMS);
}

/* How many elements of `each` bytes at `p` hold what the tensor was filled with. */
static uint64_t count_blank(const pto_tensor *t, const blank *b, size_t each)
{
    const uint64_t ones = UINT64_MAX / (UINT64_MAX >> (64 - 8 * each)), tops = ones << (8 * each - 1);
    const char *p = t->data;
    uint64_t found = 0;
    for (uint64_t at = 0; at < t->bytes; at += sizeof(uint64_t)) {
        const uint64_t word = word_at(b, at / sizeof word, 0);
        const size_t n = t->bytes - at < sizeof word ? (size_t)(t->bytes - at) : sizeof word;
        uint64_t now = ~word;
        memcpy(&now, p + at, n);
        const uint64_t differs = now ^ word;
        /* An element of zeros is the only one that borrows, or the first of those that do. */
        if (((differs - ones) & ~differs & tops) == 0) continue;
        for (size_t k = 0; k < n; k += each) found += memcmp((const char *)&word + k, p + at + k, each) == 0;
    }
    return found;
}

/* Whether elements of the tensor hold what it was filled with, and more than chance explains. */
static int seems_blank(const pto_tensor *t)
{
    const size_t each = (size_t)pto_dtype_bytes(t->dtype);
    const blank b = blank_of(t->dtype);
    if (each == 0) return 0;
    const uint64_t found = count_blank(t, &b, each);
    return found != 0 && !(b.is_computed && is_chance(found, t->bytes / each, each));
}

/* ---- two more calls ----
 * An output that holds bits that it was filled with was not written, or the same bits were: integers come to any, and
 * what moves floats keeps those of a NaN that was put in. Two more calls tell which, over bits that differ in each
 * element: both compute the same, so that an element that was written cannot hold those of each. They begin with what
 * the first call left in the arguments that it changed, and in the end all tensors are as it left them. */

/* Copies of tensors, by their numbers; NULL: there is none. */
typedef struct trial {
    const native_outputs *o;
    uint32_t count;
    native_arena memory;
    void **results; /* of all that the call writes, after it */
    void **first;   /* of outputs, after the first of the two */
} trial;

/* Returns whether there is memory. */
static int copy_written(trial *t, int only_outputs, void **copies)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const pto_tensor *tensor = t->o->bindings[i].tensor;
        const int is_changed = i >= t->o->call->argument_count || has_mode(t->o->call, i, "inout");
        if (!is_output(t->o, i) && (only_outputs || !is_changed || tensor->bytes == 0)) continue;
        if (native_arena_take(&t->memory, tensor->bytes, &copies[i], NULL) != NATIVE_OK) return 0;
        memcpy(copies[i], tensor->data, tensor->bytes);
    }
    return 1;
}

static void restore(const trial *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->results[i] != NULL)
            memcpy(t->o->bindings[i].tensor->data, t->results[i], t->o->bindings[i].tensor->bytes);
}

static int32_t run_over(const trial *t, int is_turned)
{
    restore(t);
    fill_outputs(t->o, is_turned);
    return t->o->again(t->o->self);
}

static pto_status compare(const trial *t, uint32_t output)
{
    const pto_binding *bound = &t->o->bindings[output];
    const size_t each = (size_t)pto_dtype_bytes(bound->tensor->dtype);
    const char *first = t->first[output], *second = bound->tensor->data;
    const blank b = blank_of(bound->tensor->dtype);
    uint64_t found = 0, where = 0;
    if (each == 0) return PTO_OK;
    for (uint64_t at = 0; at < bound->tensor->bytes; at += each) {
        const uint64_t place = at / sizeof(uint64_t), within = at % sizeof(uint64_t);
        const uint64_t word = word_at(&b, place, 0), turned = word_at(&b, place, 1);
        if (memcmp(first + at, (const char *)&word + within, each) != 0 ||
            memcmp(second + at, (const char *)&turned + within, each) != 0)
            continue;
        if (found++ == 0) where = at / each;
    }
    if (found == 0) return PTO_OK;
    const pto_str name = pto_value_name(bound->value);
    return pto_error(t->o->call->function, "pto.native/never-written",
                     "%llu of the %llu elements of %%%.*s are never written, the first one is %llu",
                     (unsigned long long)found, (unsigned long long)(bound->tensor->bytes / each), PTO_FMT(name),
                     (unsigned long long)where);
}

/* Without memory for the copies nothing is said. */
static pto_status try_twice(trial *t)
{
    if (!copy_written(t, 0, t->results)) return PTO_OK;
    int32_t fault = run_over(t, 0);
    if (fault == 0 && !copy_written(t, 1, t->first)) return PTO_OK;
    if (fault == 0) fault = run_over(t, 1);
    pto_status s = fault == NATIVE_FAULT_REPORTED ? PTO_FAILED : PTO_OK;
    for (uint32_t i = 0; i < t->count && fault == 0 && s == PTO_OK; i++)
        if (t->first[i] != NULL) s = compare(t, i);
    restore(t);
    return s;
}

pto_status native_outputs_check(const native_outputs *o)
{
    const pto_run *run = o->call->function.run;
    trial t = {.o = o, .count = o->call->argument_count + o->call->result_count};
    int is_suspect = 0;
    for (uint32_t i = 0; i < t.count && !is_suspect; i++)
        is_suspect = is_output(o, i) && seems_blank(o->bindings[i].tensor);
    if (!is_suspect) return PTO_OK;
    t.results = PTO_SCRATCH(run, void *, t.count);
    t.first = PTO_SCRATCH(run, void *, t.count);
    t.memory = native_arena_begin(o->copies_bytes_max);
    const pto_status s = try_twice(&t);
    native_arena_end(&t.memory);
    return s;
}
