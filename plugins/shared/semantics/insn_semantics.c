#include "semantics/insn_semantics.h"

#include "semantics/insn_family.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

typedef struct insn_row {
    const char *name, *tile_name;
    insn_fn run;
} insn_row;

static const insn_row rows[INSN_COUNT] = {
#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, ...) [INSN_##ID] = {mnemonic, tile_mnemonic, insn_##ID},
#define INSN_ONLY(ID, ...)
#include <pto/ops/pto.def>
#undef INSN
#undef INSN_ONLY
};

const char *insn_name(insn_id id) { return id > INSN_NONE && id < INSN_COUNT ? rows[id].name : "?"; }

static insn_id find(const char *p, size_t n, const char *prefix, bool tile)
{
    const size_t skip = strlen(prefix);
    if (n > skip && memcmp(p, prefix, skip) == 0) {
        p += skip;
        n -= skip;
    }
    for (int id = INSN_NONE + 1; id < INSN_COUNT; id++) {
        const char *name = tile ? rows[id].tile_name : rows[id].name;
        if (strlen(name) == n && memcmp(name, p, n) == 0) return (insn_id)id;
    }
    return INSN_NONE;
}

insn_id insn_by_name(const char *p, size_t n) { return find(p, n, "pto.", false); }
insn_id insn_by_tile_name(const char *p, size_t n) { return find(p, n, "tile.", true); }

uint32_t insn_cpu(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_FMA) || !(c & bit_OSXSAVE)) return 0;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6) return 0; /* the system does not save the wide registers */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return 0;
    return INSN_CPU_FMA;
#else
    return 0;
#endif
}

pto_status insn_fail(insn_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(call->text, sizeof call->text, format, args);
    va_end(args);
    return PTO_FAILED;
}

pto_status insn_check_valid(insn_call *call, int i, int64_t want_rows, int64_t want_cols)
{
    const tile_ref *s = &call->src[i];
    if (s->valid_rows == want_rows && s->valid_cols == want_cols) return PTO_OK;
    return insn_fail(call,
                     "source %d has a valid region of %" PRId64 " x %" PRId64 ", it must be %" PRId64 " x %" PRId64,
                     i + 1, s->valid_rows, s->valid_cols, want_rows, want_cols);
}

pto_status insn_check_dtype(insn_call *call, int i)
{
    if (call->src[i].dtype == call->dst.dtype) return PTO_OK;
    return insn_fail(call, "source %d is %s, the destination %s: they must be equal", i + 1,
                     pto_dtype_name(call->src[i].dtype), pto_dtype_name(call->dst.dtype));
}

pto_status insn_check_number(insn_call *call, pto_dtype t)
{
    const element_class c = element_class_of(t);
    if (element_is_wide_float(t) || c == ELEMENT_UINT || (c == ELEMENT_SINT && t != PTO_INDEX)) return PTO_OK;
    return insn_fail(call, "element type %s is not a number that ops compute in", pto_dtype_name(t));
}

pto_status insn_check_inside(insn_call *call, const tile_ref *part, const tile_ref *whole)
{
    const int64_t r = call->at[0], c = call->at[1];
    if (r >= 0 && c >= 0 && r <= whole->valid_rows - part->valid_rows && c <= whole->valid_cols - part->valid_cols)
        return PTO_OK;
    return insn_fail(call,
                     "%" PRId64 " x %" PRId64 " elements from [%" PRId64 ", %" PRId64
                     "] on leave the valid region of %" PRId64 " x %" PRId64,
                     part->valid_rows, part->valid_cols, r, c, whole->valid_rows, whole->valid_cols);
}

static pto_status check_tile(insn_call *call, const tile_ref *t, int source)
{
    const char *problem = tile_problem(t);
    if (problem == NULL) return PTO_OK;
    char who[24] = "the destination";
    if (source) snprintf(who, sizeof who, "source %d", source);
    return insn_fail(call, "%s %s (%" PRId64 " x %" PRId64 " x %s, valid %" PRId64 " x %" PRId64 ", %zu bytes)", who,
                     problem, t->rows, t->cols, pto_dtype_name(t->dtype), t->valid_rows, t->valid_cols, t->bytes);
}

pto_status insn_begin(insn_call *call, int source_count, unsigned in_place)
{
    size_t needed = 0;
    bool copied[3] = {false, false, false};
    INSN_TRY(check_tile(call, &call->dst, 0));
    for (int i = 0; i < source_count; i++) {
        tile_ref *s = &call->src[i];
        INSN_TRY(check_tile(call, s, i + 1));
        const bool alike = (in_place >> i & 1) && tile_same_places(&call->dst, s);
        copied[i] = !alike && tile_overlaps(&call->dst, s);
        if (copied[i]) needed += tile_capacity_bytes(s);
    }
    if (needed > call->scratch_bytes) {
        call->scratch_needed = needed;
        return insn_fail(call, "sources overlap the destination: %zu bytes of scratch are needed", needed);
    }
    uint8_t *to = call->scratch;
    for (int i = 0; i < source_count; i++) {
        if (!copied[i]) continue;
        tile_ref *s = &call->src[i];
        s->bytes = tile_capacity_bytes(s);
        memcpy(to, s->base, s->bytes);
        s->base = to;
        to += s->bytes;
    }
    return PTO_OK;
}

pto_status insn_run(insn_id id, insn_call *call)
{
    call->text[0] = 0;
    call->scratch_needed = 0;
    if (id <= INSN_NONE || id >= INSN_COUNT) return insn_fail(call, "no such instruction");
    insn_call work = *call; /* overlapping sources are redirected in the copy */
    const pto_status s = rows[id].run(&work);
    call->faults = work.faults;
    call->scalar = work.scalar;
    call->scratch_needed = work.scratch_needed;
    if (s != PTO_OK) {
        const int used = snprintf(call->text, sizeof call->text, "%s: ", rows[id].name);
        snprintf(call->text + used, sizeof call->text - (size_t)used, "%s", work.text);
    }
    return s;
}
