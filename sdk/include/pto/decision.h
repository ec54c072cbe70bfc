/* Decisions of passes that the schedule file shows and pins (docs/schedules.md).
 *
 * A pass that makes a choice which somebody might make otherwise asks whether the user has pinned it, and says what it
 * chose in the end. Sizes of tiles are asked for and taken down by pto_tiling_choose. */
#ifndef PTO_DECISION_H
#define PTO_DECISION_H

#include <pto/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Texts and arrays are borrowed for the call. At most 16 values. */
typedef struct pto_decision {
    uint32_t struct_size;
    uint32_t count;           /* of values; 1 when there are no keys */
    const char *name;         /* what is decided: "stages"; of third parties with their prefix: "acme.unroll" */
    const char *const *keys;  /* a word for each value: "rows", "columns"; NULL: one value without a word */
    const char *const *words; /* the values are indices into these, NULL-ended; NULL: they are numbers */
    const int64_t *min, *max; /* the legal values, one for each; NULL: no limit. Used by pto_decision_pinned. */
    const char *limit;        /* what bounds the value, for the reader, or NULL. Used by pto_decision_made. */
} pto_decision;

/* Asks for the decision about `at`. 1: it is pinned, and `values` are those that hold; the caller keeps them exactly or
 * fails after a diagnostic, to which the host adds the line of the schedule. 0: it is free; `values` are left alone.
 * PTO_FAILED: what is pinned has another form or is out of the limits, which has been reported. */
static inline int32_t pto_decision_pinned(pto_op at, const pto_decision *decision, int64_t *values)
{
    return at.run != NULL ? at.run->host->decision_pinned(at, decision, values) : PTO_FAILED;
}
/* Says what was decided about `at`, pinned or not. To decide otherwise than pinned is a defect of the plugin. */
static inline pto_status pto_decision_made(pto_op at, const pto_decision *decision, const int64_t *values)
{
    return at.run != NULL ? at.run->host->decision_made(at, decision, values) : PTO_FAILED;
}

#ifdef __cplusplus
}
#endif
#endif
