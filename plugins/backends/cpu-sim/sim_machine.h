/* What the simulator reads from the machine file. Cycles are those of clock_hz. */
#ifndef PTO_CPU_SIM_SIM_MACHINE_H
#define PTO_CPU_SIM_SIM_MACHINE_H

#include "cpu-sim/bandwidth.h"
#include "cpu-sim/happens_before.h"

#include "machine_facts.h"

enum { CORE_KINDS_MAX = 2, SCALAR_PIPE = 1 };

/* Cores that are alike. Their pipes have numbers: SCALAR_PIPE issues to all, the others follow in the order of their
 * ids. */
typedef struct sim_core_kind {
    const char *name;
    uint32_t count, first;               /* cores first .. first + count - 1 of the chip */
    uint32_t pipe_end;                   /* numbers of pipes are below it */
    const char *pipe_names[CLOCK_PIPES]; /* by number; of 0 none */
    uint8_t barriers[CLOCK_PIPES];       /* by number; machine_barriers_of */
    uint8_t pipe_numbers[PTO_NAMES_MAX]; /* by id; NO_PIPE: the cores do not have it */
    int64_t space_bytes[PTO_NAMES_MAX], usable_bytes[PTO_NAMES_MAX], align_bytes[PTO_NAMES_MAX];
} sim_core_kind;

typedef struct sim_machine {
    const pto_run *run;
    const char *name;
    bool has_timing; /* off: everything takes one cycle, memory has no limit */
    int64_t clock_hz;
    sim_core_kind kinds[CORE_KINDS_MAX];
    uint32_t kind_count, core_count;
    uint32_t vector_kind, cube_kind; /* indices; equal where one kind does all */
    pto_space global;                /* that arrays are in */
    int64_t gm_bytes;
    double gm_bytes_per_cycle;
    int64_t repeat_bytes, partial_repeat_cycles;
    int64_t matrix_head, matrix_rows, matrix_row_bytes, dim_min, dim_max;
    int64_t acc_rows, acc_cols; /* of a box */
    bool is_packed;             /* `matrix.packed` */
    bool wants_scratch;         /* `vector.tmp` */
    int64_t event_ids, flag_cycles, barrier_cycles, launch_cycles, block_cycles, task_cycles;
} sim_machine;

/* How an instruction of the source is charged. Found once for each site. */
typedef enum charge_kind { CHARGE_NONE, CHARGE_VECTOR, CHARGE_MATRIX, CHARGE_MOVE, CHARGE_GM } charge_kind;
typedef struct site_charge {
    charge_kind kind;
    bool one_row;                            /* a tile without gaps between its rows is one row */
    int64_t head, per_repeat, per_row, tail; /* vector; per_repeat of a matrix: cycles per box */
    double bytes_per_cycle;                  /* moves */
    int64_t latency;
} site_charge;

/* What the machine says of it beyond its cost. Found with that. */
typedef struct site_facts {
    bool is_known;
    bool is_compact;    /* of a `block.tile` */
    bool in_place;      /* its result may take the place of an operand */
    bool rounds_scalar; /* to an f32 */
    bool saturates;     /* it clamps whatever is asked */
    bool no_denormals;  /* it takes them for zeros, and makes zeros instead: with `semantics: chip` */
    bool through_f32;   /* its elements are integers, and it computes in f32 */
    bool destroys;      /* its last source holds nothing afterwards */
    bool below_width;   /* it shifts by less than the width of its elements alone */
    bool row_major;     /* its tiles have their rows one after the other */
    bool dense_lines;   /* elements of a line of its tile follow each other in memory: with `semantics: chip` */
    uint32_t relation;  /* pto_relation: by which it compares whatever is asked; NONE: as asked */
    int64_t pads_to;
    uint32_t event_count;
    machine_event events[MACHINE_EVENTS_MAX]; /* that its code uses */
} site_facts;

/* What an instance of it costs. Transfers through global memory take the cycles that their bytes take. */
typedef struct insn_charge {
    charge_kind kind;
    int64_t cycles, tail;  /* tail: until the result is there */
    int64_t head, latency; /* only when the pipe was idle: of its own work, of the way through a path */
    int64_t bytes;
} insn_charge;

/* Left and right of a product: an accumulator is before them, a bias after them. */
static inline const program_tile *const *factors_of(const program_step *step)
{
    const insn_id insn = step->site->insn;
    return (const program_tile *const *)&step->src[insn == INSN_TMATMUL_ACC || insn == INSN_TGEMV_ACC ? 1 : 0];
}

/* Reads the facts of the machine. Fails after a diagnostic: there is no machine, or it lacks what runs kernels. */
pto_status sim_machine_read(const pto_run *run, bool has_timing, sim_machine *out);
/* The number of a pipe; NO_PIPE for one that the cores do not have. */
static inline uint32_t sim_pipe_number(const sim_core_kind *k, pto_pipe pipe)
{
    return pipe < PTO_NAMES_MAX ? k->pipe_numbers[pipe] : NO_PIPE;
}
/* The kind of core a kernel runs on. */
uint32_t sim_machine_kind_of(const sim_machine *m, const program *kernel);
/* Fails when the machine cannot do it. `dtype`: of the operands of a matrix product. */
pto_status sim_charge_site(const sim_machine *m, const program *kernel, const program_step *step, site_charge *out);
void sim_charge_insn(const sim_machine *m, const site_charge *c, const program_step *step, insn_charge *out);

#endif
