/* Decisions of passes that the schedule file shows and pins (docs/schedules.md).
 *
 * A pass that makes a choice asks with pto_decision_pinned whether the user has pinned it, and records with
 * pto_decision_made what it chose. pto_tiling_choose does both for sizes of tiles. */
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
    const int64_t *min, *max; /* the legal values, one for each; NULL: no limit. Read by pto_decision_pinned. */
    const char *limit;        /* what bounds the value, for the reader, or NULL; why words are not legal, for pins */
} pto_decision;

#ifdef __cplusplus
}
#endif
#endif
