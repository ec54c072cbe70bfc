/* Kernels of PTO instructions and the functions that launch them, decoded into flat programs.
 *
 * program_decode reads a function once through the host's handles; what it makes is constant and holds no handle but
 * locations and kernels. A program_state walks a program in program order, with every index operand computed:
 *
 *     const program *p = program_decode(run, kernel, "acme.toy", 0);
 *     program_state *s = program_state_make(p);
 *     program_start(s, &frame);
 *     for (;;) { PTO_TRY(program_next(s, &step)); if (step.kind == STEP_END) break; ... }
 *
 * All memory is scratch memory of the run: programs and states live until the call of prepare() or execute() returns.
 * States are independent of one another. A failing function has reported a located diagnostic whose code begins with
 * the id given to program_decode and ends in
 *     /unsupported    an op that cannot be executed, or a form that is not that of instructions
 *     /no-address     a buffer without address
 *     /out-of-bounds  a stage, window or tile outside of its buffer, array or memory; a negative offset
 *     /valid          a valid region that is negative or beyond the capacity
 *     /event          an event id outside of 0 .. PROGRAM_EVENTS_MAX - 1
 *     /expression     overflow, a divisor below 1, a step below 1, a `bind` outside of its range
 *     /arguments      arguments that do not fit the parameters
 *     /interrupted    the host asks to stop */
#ifndef PTO_SEMANTICS_PROGRAM_H
#define PTO_SEMANTICS_PROGRAM_H

#include "index_code.h"

#include "semantics/insn_semantics.h"

#include <pto/insn.h>

enum { PROGRAM_EVENTS_MAX = 64, PROGRAM_GRID_MAX = PTO_MAX_DIMS };

/* Flags of program_decode. */
enum {
    PROGRAM_ASSIGN_ADDRESSES = 1 /* buffers without `addr` get memory of their own after the others */
};

/* An op of the source. `op_name` is "pto.tadd"; `cost` its cost class, empty for ops that are not instructions. */
typedef struct program_site {
    pto_loc loc;
    pto_op op;
    pto_str op_name, cost;
    const char *function; /* name of the kernel or function, without `@` */
    insn_id insn;         /* INSN_NONE for flags, barriers and everything else */
    uint32_t transfer;    /* PTO_TRANSFER_* */
    uint32_t unit;        /* PTO_UNIT_* of the row */
    pto_pipe pipe;        /* that runs it; of a flag that which gets on with it. NONE: the machine has none */
    pto_space from, to;   /* of a move of data; gm included */
    uint32_t index;       /* in program.sites */
} program_site;

/* A block.buffer. */
typedef struct program_buffer {
    const program_site *site;
    pto_space space;
    int64_t address, bytes_per_stage, stages, align;
} program_buffer;

/* An array in global memory. `root` names the allocation, by the number its owner gave; base is the first byte, NULL
 * where no data is simulated. dims and strides count elements. */
typedef struct program_array {
    uint8_t *base;
    size_t bytes;
    uint32_t root;
    pto_dtype dtype;
    uint32_t rank;
    int64_t dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS];
} program_array;

/* Of a parameter: the array of a gm parameter, the number of a scalar or index one. */
typedef struct program_argument {
    program_array array;
    number scalar;
} program_argument;

typedef struct program_region {
    uint32_t parameter;
    bool whole;   /* no box was given, or it depends on the grid */
    bool has_box; /* one was given */
    uint32_t rank;
    index_expr offsets[PTO_MAX_DIMS], sizes[PTO_MAX_DIMS];
} program_region;

/* Parameters, symbols, regions of a kernel or function. */
typedef struct program_parameter {
    pto_type_kind kind; /* PTO_TYPE_GM, PTO_TYPE_SCALAR */
    pto_dtype dtype;
    pto_str name;
    bool in, out; /* inout: both */
    uint32_t rank;
    index_expr dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS];
    pto_str bare[PTO_MAX_DIMS]; /* the symbol a dim consists of, or empty */
    uint32_t slot, array;       /* private */
} program_parameter;

typedef struct program {
    const pto_run *run;
    const char *id; /* in front of diagnostic codes */
    const char *name;
    pto_op op;
    const program_site *self; /* of the function */
    bool is_kernel;
    pto_str core; /* the machine's name for the kind of its cores; empty: any */
    uint32_t grid_rank;
    index_expr grid[PROGRAM_GRID_MAX];
    uint32_t parameter_count;
    const program_parameter *parameters;
    bool has_reads, has_writes; /* whether the kernel states its regions */
    uint32_t read_count, write_count;
    const program_region *reads, *writes;
    uint32_t symbol_count; /* those that a call must bind; after them, up to known_count, what the body binds */
    uint32_t known_count;
    const pto_str *symbols;
    uint32_t site_count;
    const program_site *const *sites;
    uint32_t buffer_count;
    const program_buffer *buffers;
    int64_t space_bytes[PTO_NAMES_MAX]; /* end of the last buffer in each space */
    const struct program_body *body;    /* private: program_body.h */
} program;

/* NULL after a diagnostic. `id` must be a literal. */
const program *program_decode(const pto_run *run, pto_op function, const char *id, uint32_t flags);

/* ---- walking ---- */

typedef struct program_state program_state;

/* What one walk works on. */
typedef struct program_frame {
    const int64_t *symbols;            /* one for each of program.symbols */
    const program_argument *arguments; /* one for each parameter; dims are compared with those of the parameter */
    const int64_t *grid;               /* index of the instance along each grid index; kernels only */
    /* On-chip memory by space; NULL: tiles get no address in the host's memory. bytes: 0: no such space. */
    uint8_t *memory[PTO_NAMES_MAX];
    int64_t memory_bytes[PTO_NAMES_MAX];
} program_frame;

typedef enum step_kind {
    STEP_END,
    STEP_INSN,
    STEP_SET_FLAG,
    STEP_WAIT_FLAG,
    STEP_BARRIER, /* pipe may be PTO_PIPE_ALL */
    STEP_LAUNCH,  /* functions only, like the next three */
    STEP_READ,    /* one element, the window `gm`: program_give_scalar must follow */
    STEP_DEBUG,   /* a debug op: `array` or, when that is NULL, `scalar` */
    STEP_ALLOC,   /* program_give must follow; with elements when the op has a `value` */
    STEP_FREE
} step_kind;

typedef struct program_tile {
    tile_ref ref;    /* base NULL without memory */
    int64_t address; /* byte in its space */
    int64_t end;     /* address after the last byte of the valid region; == address when that is empty */
    const program_buffer *buffer;
    const program_site *site; /* of the block.tile */
} program_tile;

/* One dynamic op. Pointers live until the next call for this state. */
typedef struct program_step {
    step_kind kind;
    const program_site *site;
    pto_pipe pipe, dst_pipe; /* of an instruction, a barrier; of a flag: source and target */
    uint32_t event;
    /* STEP_INSN */
    const program_tile *dst, *src[3], *tmp; /* NULL when absent; order as in insn_call */
    uint32_t src_count;
    bool has_gm, has_scalar, has_pad, saturate, relu, has_scale;
    float scale;
    round_mode mode;
    pto_relation relation;
    const insn_function *function;
    bool descending, upper;
    number scalar, pad;
    int64_t at[2];                  /* row and column of what is read */
    int64_t run;                    /* records of a run; tmrgsort */
    uint32_t result;                /* private: slot of a scalar that the instruction produces */
    gm_window gm;                   /* only filled when has_gm; a window is inside its array or empty */
    uint32_t gm_root, gm_parameter; /* gm_parameter: UINT32_MAX when the array is not a parameter */
    /* STEP_LAUNCH */
    pto_op kernel;
    uint32_t argument_count;
    const program_argument *arguments;
    /* STEP_ALLOC: what to give; STEP_FREE: what is free; STEP_DEBUG: what to look at */
    program_array *array;
} program_step;

/* NULL only when the machine has no memory left. */
program_state *program_state_make(const program *p);
/* Begins, from wherever the state was. Fails with /arguments when dims, ranks or sizes do not fit. */
pto_status program_start(program_state *s, const program_frame *frame);
pto_status program_next(program_state *s, program_step *out);
/* Answers STEP_ALLOC: `array->bytes` bytes at base (NULL without data), called `root` from now on. */
void program_give(program_state *s, program_step *alloc, uint8_t *base, uint32_t root);

/* Whether the instruction produces a scalar: program_give_scalar must follow before the next program_next. */
bool program_wants_scalar(const program_step *insn);
void program_give_scalar(program_state *s, const program_step *step, number scalar);

/* The operands of a STEP_INSN as a call of insn_run. cpu, scratch and faults are left as they are. */
void program_insn_call(const program_step *step, insn_call *out);

/* ---- between a launching function and a kernel ---- */

/* Value of each symbol of the kernel: from a parameter dim that is a bare symbol, else the value of the symbol of the
 * same name in the caller. `out` has kernel->symbol_count places. Fails with /arguments. */
pto_status program_bind_symbols(const program *kernel, const program_state *caller, const program_step *launch,
                                int64_t *out);
/* Symbols of a function from those of a call, by name. */
pto_status program_pick_symbols(const program *p, uint32_t count, const pto_str *names, const int64_t *values,
                                int64_t *out);
/* Instances along each grid index, each from 0 to 2^31; their product is at most 2^31. */
pto_status program_grid(const program *kernel, const int64_t *symbols, int64_t *out_extents);
/* The bytes [lo, hi) of its array that a region may touch; nothing: lo == hi. */
pto_status program_region_bytes(const program *kernel, const program_region *region, const int64_t *symbols,
                                const program_argument *arguments, int64_t *out_lo, int64_t *out_hi);

/* The box of a region with one for an instance: `rank` offsets and sizes in elements, not clipped. */
pto_status program_region_box(const program *kernel, const program_region *region, const int64_t *symbols,
                              const int64_t *grid, int64_t *out_offsets, int64_t *out_sizes);

#endif
