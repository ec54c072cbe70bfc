/* The simulated chip: cores with pipes, launches, time.
 *
 * A core runs one instance of a kernel at a time. Its scalar unit walks the program, one op a cycle, and appends each
 * op to the queue of its pipe; it may be far ahead of the pipes, until a queue is full. A pipe takes its ops in order.
 * An instruction has its effects when it ends. Every cycle of every pipe is counted under one of enum pipe_state.
 *
 * Actors of the event queue: core * CORE_ACTORS + pipe, then the dispatcher and the memory. */
#ifndef PTO_CPU_SIM_SIM_H
#define PTO_CPU_SIM_SIM_H

#include "cpu-sim/claims.h"
#include "cpu-sim/event_queue.h"
#include "cpu-sim/sim_machine.h"
#include "cpu-sim/written.h"

#include <pto/backend.h>
#include <pto/build.h>
#include <pto/profile.h>

enum { CORE_ACTORS = CLOCK_PIPES, ACCESSES_MAX = 5, LAUNCHES_MAX = 64, SLICES_MAX = 200000 };

/* What a pipe does with a cycle. All but BUSY are stalls, by cause. */
typedef enum pipe_state {
    PIPE_BUSY,    /* works; of a transfer: for as long as its bytes take at the speed of its path */
    PIPE_LATENCY, /* the first byte of a transfer is on its way */
    PIPE_SHARED,  /* a transfer takes longer because others use global memory at the same time */
    PIPE_FLAG,    /* waits for a token */
    PIPE_RESULT,  /* waits until the result of an earlier instruction of its own is there */
    PIPE_BARRIER, /* waits at a barrier */
    PIPE_EMPTY,   /* nothing in the queue; of the scalar unit: nothing left to issue */
    PIPE_FULL,    /* scalar unit: the queue of a pipe is full */
    PIPE_LAUNCH,  /* no instance runs on the core */
    PIPE_STATES
} pipe_state;
pto_counter pipe_state_counter(uint32_t state);

/* Elements [from, to) along each dim. */
typedef struct region_box {
    int64_t from[PTO_MAX_DIMS], to[PTO_MAX_DIMS];
} region_box;

/* What execute() was asked for. */
typedef struct sim_options {
    bool has_data, has_timing, is_chip; /* chip: `semantics` */
    uint32_t queue_depth;
    int64_t drop_wait, drop_set; /* number of the flag op that is left out; -1: none */
} sim_options;

/* A kernel of the module, decoded once. */
typedef struct sim_kernel {
    const program *p;
    uint32_t kind;
    site_charge *charges; /* of each site; CHARGE_NONE: not yet known */
    site_facts *facts;    /* of each site */
    bool *is_dropped;     /* of each site: fault injection */
    bool has_two_stores;  /* two of its pipes store to global memory */
    bool uses_scalar;     /* the machine file assigns some of its instructions to the scalar unit */
} sim_kernel;

typedef struct sim_span {
    uint32_t root;
    int64_t lo, hi;
} sim_span;

typedef enum launch_phase { LAUNCH_FREE, LAUNCH_WAITS, LAUNCH_RUNS } launch_phase;
typedef struct sim_launch {
    launch_phase phase;
    uint64_t order;
    const sim_kernel *kernel;
    const program_site *site;
    program_argument *arguments;
    bool *is_written, *is_read; /* of each argument: whether the kernel states to write its array, to read it */
    int64_t *symbols;
    int64_t extents[PROGRAM_GRID_MAX];
    uint32_t read_count, write_count;
    sim_span *reads, *writes;
    int64_t issued, ready; /* cycles */
    int64_t instances, started, done;
    claim_table claims;
    pto_order instance_order; /* in which they start */
} sim_launch;

typedef struct sim_token {
    struct sim_token *next;
    const program_site *site;
    vector_clock clock;
} sim_token;

typedef struct sim_event {
    sim_token *first, *last;
} sim_event;

/* An op in the queue of a pipe. */
typedef struct sim_entry {
    step_kind kind;
    uint32_t pipe, dst_pipe; /* numbers */
    uint32_t event, access_count;
    const program_site *site;
    const vector_clock *scalar; /* what the scalar unit had waited for; NULL: nothing */
    int64_t issued;             /* cycle from which the pipe may take it */
    insn_charge charge;
    double bytes_per_cycle;
    byte_access accesses[ACCESSES_MAX];
    uint32_t root;        /* of its window; UINT32_MAX: none */
    window_access window; /* of an array that the kernel writes; rows 0: none */
    bool is_shared;       /* another pipe may touch that array: order within the instance matters */
} sim_entry;

typedef struct sim_pipe {
    sim_entry *ring;
    insn_call *calls; /* beside ring, with data */
    uint32_t head, count;
    bool is_running, is_in_latency; /* in latency: a transfer through global memory that has not begun */
    pipe_state state;
    int64_t since, ticks[PIPE_STATES];
    int64_t started;   /* of the entry that runs */
    int64_t latency;   /* of the instruction that runs: cycles before its work began */
    int64_t idle_from; /* end of the last instruction */
    int64_t settled;   /* when the results of all ended instructions are there */
    byte_access result;
    int64_t result_at; /* `result`, of the last instruction, is there */
    vector_clock clock;
    uint32_t over; /* its entries up to this one are over; UINT32_MAX where its instructions do not overlap */
} sim_pipe;

/* A tile of which `pad` filled rows x cols elements and no more, or of which an instruction has left nothing. */
typedef struct short_pad {
    const program_site *site; /* of the load, or of that instruction */
    pto_space space;
    int64_t lo, hi; /* bytes of its capacity */
    int64_t rows, cols;
    bool is_destroyed;
} short_pad;

typedef struct sim_core {
    uint32_t number;
    const sim_core_kind *kind;
    sim_launch *launch; /* NULL: free */
    int64_t instance, begun;
    int64_t grid[PROGRAM_GRID_MAX]; /* of the instance */
    bool is_begun, has_step, has_ended;
    program_state *state;
    const program *state_of;
    program_step step;
    uint32_t step_pipe, step_dst; /* numbers of its pipes; NO_PIPE: the core does not have it, or it is all */
    int64_t scalar_time;          /* next free cycle of the scalar unit */
    const vector_clock *scalar_clock;
    sim_pipe pipes[CLOCK_PIPES]; /* by number */
    sim_event *events;           /* [source][target][id] */
    short_pad *pads;             /* of tiles that do not hold what they seem to */
    uint32_t pad_count, pad_capacity;
    sim_token *free_tokens;
    uint32_t token_count; /* in all events */
    uint8_t *memory[PTO_NAMES_MAX];
    access_history history;
} sim_core;

/* Tokens that an instance left. */
typedef struct sim_leftover {
    const program_site *set; /* of the first one; NULL: there was none */
    const char *kernel;
    int64_t instance, instances;
    const char *src, *dst; /* names of pipes */
    uint32_t id, count;
} sim_leftover;

/* For the trace. */
typedef struct sim_slice {
    const program_site *site;
    int64_t from, to, bytes, latency, shared; /* latency and shared: cycles of PIPE_LATENCY and PIPE_SHARED */
    uint32_t core, pipe;
    int64_t instance; /* of a kernel, when pipe is the scalar one */
} sim_slice;

typedef struct sim {
    const pto_run *run;
    sim_options options;
    const sim_machine *machine;
    const pto_run_sink *sink;
    event_queue queue;
    bandwidth memory;
    sim_core *cores;
    int64_t now;
    sim_kernel *kernels;
    uint32_t kernel_count;
    sim_launch launches[LAUNCHES_MAX];
    uint64_t launch_order;
    const program *orchestrator;
    program_state *orchestrator_state;
    program_step orchestrator_step;
    bool orchestrator_reads; /* its step is a read that waits for launches */
    bool orchestrator_ended;
    int64_t orchestrator_time;
    written_memory written;
    region_box *boxes; /* scratch memory of stated_regions.c */
    uint32_t box_capacity;
    int64_t workspace_bytes;
    uint32_t cpu;
    uint64_t seed;
    void *scratch;
    size_t scratch_bytes;
    sim_slice *slices;
    uint32_t slice_count, slice_capacity;
    uint64_t slices_dropped, claims_dropped;
    uint32_t *units;           /* number + 1 of each pipe of each core at the sink, by core * CORE_ACTORS + pipe */
    uint64_t other_elements;   /* that the chip makes otherwise */
    const program_site *other; /* of the first of them */
    const char *other_why;
    sim_leftover leftover; /* of the first instance that left some */
    uint64_t ops, instructions, faults, gm_read, gm_written, launch_total, instance_total;
} sim;

/* Numbers of actors in the event queue: what starts launches, the global memory, and each pipe of each core. */
static inline uint32_t dispatcher_actor(const sim *s) { return s->machine->core_count * CORE_ACTORS; }
static inline uint32_t memory_actor(const sim *s) { return dispatcher_actor(s) + 1; }
static inline uint32_t pipe_actor(const sim_core *c, uint32_t pipe) { return c->number * CORE_ACTORS + pipe; }

/* ---- sim_core.c: the scalar unit and the life of an instance ---- */
/* An idle core of `c->kind`. */
void core_init(sim *s, sim_core *c);
/* Takes an instance; it begins at `at`. */
void core_take(sim *s, sim_core *c, sim_launch *l, int64_t instance, int64_t at);
/* Lets the scalar unit go on, if it can. */
pto_status core_issue(sim *s, sim_core *c);
/* An actor of the core wakes up at s->now. */
pto_status core_wake(sim *s, sim_core *c, uint32_t pipe);

/* ---- sim_pipe.c ---- */
/* Puts the step of the core into the queue of `pipe`, to be taken from cycle `at` on. False: full. */
bool pipe_append(sim *s, sim_core *c, uint32_t pipe, int64_t at, pto_status *out_status);
/* The pipe looks at its first entry: begins it, ends it, or waits on. */
pto_status pipe_wake(sim *s, sim_core *c, uint32_t pipe);
/* The bytes of a transfer have moved. */
pto_status pipe_transferred(sim *s, sim_core *c, uint32_t pipe);
void pipe_set_state(sim_pipe *p, pipe_state state, int64_t now);
sim_event *core_event(sim_core *c, uint32_t src, uint32_t dst, uint32_t id);
void event_put(sim *s, sim_core *c, sim_event *e, const program_site *site, const vector_clock *clock);
/* Empties the queues of tokens, as the end of an instance does; what was in them goes to s->leftover. */
void core_discard_tokens(sim *s, sim_core *c);
/* False: no token. */
bool event_take(sim_core *c, sim_event *e, vector_clock *into);

/* ---- stated_regions.c ---- */
/* Fails when the instruction touches what its kernel does not state to read or write. */
pto_status check_stated(sim *s, const sim_core *c, const program_step *step, bool is_write);

/* ---- sim_facts.c: what the machine says that instructions do on the chip ---- */
/* Fails when the instruction that is to be issued, c->step, would do something else on the chip than it means. */
pto_status check_facts(sim *s, sim_core *c);
/* The same of elements, when it runs. */
pto_status check_elements(const sim *s, const sim_core *c, const program_site *site, const insn_call *call);
/* Where the chip computes something else, and that is asked for: makes the call compute it, and returns the bytes that
 * it should have made; else NULL. After the call chip_end counts the elements that differ. */
const uint8_t *chip_begin(sim *s, const sim_core *c, const program_site *site, insn_call *call);
void chip_end(sim *s, const sim_core *c, const program_site *site, const insn_call *call, const uint8_t *meant);
/* At the end of the run. */
void report_chip(const sim *s);

/* ---- sim_chip.c: launches and time ---- */
/* Runs all launches of the function to their end. Fails after a diagnostic: a race, a deadlock, no time left. */
pto_status chip_run(sim *s);
/* The core has ended its instance: takes the next one, or the launch ends. */
pto_status chip_instance_done(sim *s, sim_core *c);

/* ---- sim_report.c ---- */
/* Reports two accesses without order, of one instance or of two, or a barrier that the machine does not take; returns
 * PTO_FAILED. The other two report the first
 * read of bytes that nothing wrote and the first instruction whose operands overlap; PTO_OK: there was none. */
pto_status report_race(const sim_core *c, const race *r);
pto_status report_barrier(const sim *s, const sim_core *c);
pto_status report_instances(const sim_core *c, const race *r, int64_t other);
pto_status report_blank(const sim_core *c);
pto_status report_overlap(const sim_core *c);
/* An instruction reads this element of a root, which nothing wrote. */
pto_status report_unwritten(const sim *s, const sim_core *c, const program_site *site, uint32_t root, int64_t element);
/* The function reads such an element, between launches. */
pto_status report_unwritten_scalar(const sim *s, const program_site *site, uint32_t root, int64_t element);
/* It would look at elements, and this run has none. */
void report_no_data(const program_site *site);
/* At the end of the run: outputs with elements that nothing wrote. */
pto_status report_never_written(const sim *s);
/* At the end of the run, when it is known that no accesses raced. */
pto_status report_leftover(sim *s);
pto_status report_deadlock(sim *s);
void report_counters(sim *s);
/* Whether a kernel of the run is for cores of this kind. */
bool report_is_used(const sim *s, const sim_core_kind *k);

/* ---- sim_trace.c ---- */
/* Notes a stretch of time, when slices are asked for; beyond the limit it is counted as dropped. */
void trace_slice(sim *s, const sim_slice *slice);
/* Before a pipe looks at its first entry again: what it waited for until now. */
void trace_wait(sim *s, const sim_core *c, uint32_t pipe);
void trace_write(sim *s);

#endif
