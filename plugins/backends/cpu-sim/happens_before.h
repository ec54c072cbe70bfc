/* Which accesses of one core are ordered: vector clocks of pipes, and what touched which bytes last, through which
 * buffer.
 *
 * Entry n of pipe p is ordered before what pipe q does next when clock_q[p] >= n. A pipe is ordered with itself, since
 * it executes in order; where the machine says that its instructions overlap, with what is over: a barrier, or a token
 * that another pipe set after it knew of an instruction, says so. Flags carry the clock of the pipe that sets them.
 * Tokens are matched in order, so what is ordered does not depend on timing, and of two accesses without order the
 * later one finds the earlier one here.
 *
 * Accesses that are ordered can still be wrong: bytes that a buffer's owner wrote are lost when another buffer that has
 * the same addresses is written before they are read. Such a reuse is legal once nothing reads the bytes any more, so
 * it is the read that shows it. */
#ifndef PTO_CPU_SIM_HAPPENS_BEFORE_H
#define PTO_CPU_SIM_HAPPENS_BEFORE_H

#include "semantics/program.h"

/* Pipes have numbers in their core, see sim_machine.h. */
enum { NO_PIPE = 0, CLOCK_PIPES = 16 };

typedef struct vector_clock {
    uint32_t at[CLOCK_PIPES];
} vector_clock;

/* Makes `to` the later of both, pipe by pipe. */
static inline void clock_join(vector_clock *to, const vector_clock *from)
{
    for (uint32_t i = 0; i < CLOCK_PIPES; i++)
        if (to->at[i] < from->at[i]) to->at[i] = from->at[i];
}

/* Bytes [lo, hi) of a space, touched by one entry of a pipe through a buffer. */
typedef struct byte_access {
    int64_t lo, hi;
    const program_buffer *buffer;
    pto_space space;
    bool is_write;
} byte_access;

/* A window of global memory: `rows` runs of `row_bytes`, `pitch` bytes apart. */
typedef struct window_access {
    uint32_t root;
    bool is_write;
    int64_t first, rows, row_bytes, pitch;
} window_access;

/* The pipe that does it, and what it is ordered after. */
typedef struct access_by {
    const program_site *site;
    uint32_t pipe, entry;
    const vector_clock *clock; /* of the pipe; clock->at[pipe] == entry */
    uint32_t over;             /* its own entries up to this one are over */
} access_by;

/* Two accesses without order. */
typedef struct race {
    const program_site *first, *second;
    uint32_t first_pipe, second_pipe;
    bool first_writes, second_writes;
    pto_space space;
    int64_t lo, hi;
    uint32_t root; /* in global memory */
} race;

/* A read of bytes that nothing wrote before. */
typedef struct blank_read {
    const program_site *site; /* NULL: none */
    pto_space space;
    int64_t lo, hi;
} blank_read;

/* A read, through one buffer, of bytes that were last written through another; or an instruction that writes them
 * through one while it reads them through the other: then reader == writer. */
typedef struct overlap_read {
    const program_site *reader, *writer; /* reader NULL: none */
    const program_buffer *read_buffer, *written_buffer;
    pto_space space;
    int64_t lo, hi;
} overlap_read;

typedef struct segment {
    int64_t lo, hi;
    uint32_t writer_pipe, writer_entry; /* NO_PIPE: never written */
    const program_site *writer;
    const program_buffer *written_buffer;
    uint32_t read_entry[CLOCK_PIPES];
    const program_site *reader[CLOCK_PIPES];
} segment;

/* Sorted, without overlap. Bytes in no segment were never touched. */
typedef struct segment_list {
    segment *items;
    uint32_t count, capacity;
} segment_list;

typedef struct window_record {
    window_access window;
    uint32_t pipe, entry;
    const program_site *site;
} window_record;

typedef struct access_history {
    const pto_run *run;
    segment_list spaces[PTO_NAMES_MAX];
    window_record *windows;
    uint32_t window_count, window_capacity;
    bool overlaps[CLOCK_PIPES]; /* pipes whose instructions overlap */
    blank_read blank;           /* the first one */
    overlap_read overlap;
} access_history;

/* An empty history, whose memory is scratch of the run. */
void history_init(const pto_run *run, access_history *h);
/* Forgets everything; keeps the memory. */
void history_clear(access_history *h);
/* Whether an access on chip races with one of another entry. */
bool history_has_race(const access_history *h, const byte_access *a, const access_by *by, race *out);
/* Enters an access. False: a race; the access is then not entered. */
bool history_touch(access_history *h, const byte_access *a, const access_by *by, race *out);
/* The same for global memory. `clocks`: of all pipes, to forget what all of them are ordered after. */
bool history_touch_window(access_history *h, const window_access *a, const access_by *by,
                          const vector_clock *const clocks[CLOCK_PIPES], race *out);
/* Whether two windows of one array have a byte in common. */
bool windows_overlap(const window_access *a, const window_access *b, int64_t *out_lo, int64_t *out_hi);

#endif
