/* What a machine says of its pipes and instructions beyond rows and costs: `sync.barriers` and `facts` of the machine
 * file. Without a machine nothing is special. Most answers are not kept: ask once for each
 * instruction of the source. */
#ifndef MACHINE_FACTS_H
#define MACHINE_FACTS_H

#include <pto/plugin.h>

/* Of a pipe: whether instructions that depend on each other need a `pto.barrier` between them. */
typedef enum machine_barriers_of {
    MACHINE_BARRIERS_FREE, /* they see each other's results; a barrier does no harm */
    MACHINE_BARRIERS_NEEDED,
    MACHINE_BARRIERS_FORBIDDEN /* they do, and the chip takes no barrier of this pipe */
} machine_barriers_of;
machine_barriers_of machine_barriers(const pto_run *run, pto_pipe pipe);

/* Whether the result of an instruction, or of its value form, may take the place of an operand; to be asked where its
 * rule allows that. */
int machine_in_place(const pto_run *run, pto_kind_id kind);

/* Whether the scalar operand of an instruction on tiles of `dtype` passes through an f32, which has 24 bits. */
int machine_scalar_through_f32(const pto_run *run, pto_kind_id kind, pto_dtype dtype);

/* What `pad` of a load fills: each row to a multiple of so many bytes, and no further row; 0: the whole tile. */
int64_t machine_pads_to(const pto_run *run, pto_kind_id kind);

/* Whether a load or store takes only windows in which the elements of a row of the tile follow each other, or those of
 * a column where columns are one after the other. */
int machine_dense_lines(const pto_run *run, pto_kind_id kind);

/* Whether a conversion has the mode `odd`; without it the chip rounds in another one. */
int machine_rounds_to_odd(const pto_run *run, pto_kind_id kind, pto_dtype from, pto_dtype to);

/* Whether a conversion clamps to the range of its target even where it is not asked to. */
int machine_saturates(const pto_run *run, pto_kind_id kind, pto_dtype from, pto_dtype to);

/* The relation by which a comparison of elements of `dtype` is made that is asked for by `relation`, both words; empty:
 * that one. */
pto_str machine_compares_as(const pto_run *run, pto_kind_id kind, pto_dtype dtype, pto_str relation);

/* Whether an instruction takes elements of `dtype` but computes in f32, which has 24 bits. */
int machine_through_f32(const pto_run *run, pto_kind_id kind, pto_dtype dtype);

/* Whether its last source holds nothing when it has run on elements of `dtype`. */
int machine_destroys(const pto_run *run, pto_kind_id kind, pto_dtype dtype);

/* Whether an instruction shifts by 0 to the width of the element type less one alone. */
int machine_below_width(const pto_run *run, pto_kind_id kind);

/* Whether its results are approximate where it has no scratch operand. */
int machine_approximate_without_scratch(const pto_run *run, pto_kind_id kind);

/* Whether the tiles that it takes have their rows one after the other. */
int machine_row_major(const pto_run *run, pto_kind_id kind);

/* An event that the code of an instruction uses while it runs: none of its tokens may be there then. */
typedef struct machine_event {
    pto_pipe src, dst;
    uint32_t id;
} machine_event;
enum { MACHINE_EVENTS_MAX = 8 };
/* Those of an instruction on tiles of `dtype`, at most MACHINE_EVENTS_MAX; returns how many. */
uint32_t machine_events(const pto_run *run, pto_kind_id kind, pto_dtype dtype, machine_event out[MACHINE_EVENTS_MAX]);

#endif
