/* Functions decoded for the interpreter: ops with numbered values, compiled index expressions, resolved callees, in the
 * flat code of control_code.h, whose slots are the numbers of values.
 *
 * Everything is scratch memory of the run. Decoding reports what cannot be executed, so that a module that decodes has
 * no op left that the interpreter does not know. */
#ifndef REFERENCE_CODE_H
#define REFERENCE_CODE_H

#include "control_code.h"

#include "semantics/insn_semantics.h"
#include "semantics/program.h"
#include "semantics/tensor_ops.h"

#include <pto/build.h>

typedef enum op_action {
    DO_CONTROL, /* for, if, while, tensor.group, tile.fused: they are codes */
    DO_RETURN,
    DO_CALL,
    DO_FORALL,
    DO_CARRIED, /* what is handed to a loop has the valid regions that it states */
    DO_BIND,
    DO_NUMBER,     /* constant */
    DO_INDEX_CAST, /* index_cast, tensor.index_cast */
    DO_COMPARE,
    DO_VIEW,
    DO_SCALAR_OF,
    DO_DEBUG,
    DO_CONSTANT, /* tensor.constant */
    DO_TENSOR,   /* a tensor op: tensor_ops.h */
    DO_CONCAT,
    DO_SPLIT,
    DO_EVALUATE, /* an op of a plugin */
    DO_EMPTY,    /* memory that nothing has written */
    DO_FREE,
    DO_ZERO_ACC,
    DO_CONTRACT,
    DO_CONTRACT_WEIGHTS,
    DO_TILE, /* value form of an instruction */
    DO_LAUNCH
} op_action;

/* What a value is; extents by the frame's slots. */
typedef struct shape_code {
    pto_type_kind kind;
    pto_dtype dtype;
    uint32_t rank;
    bool has_strides;
    index_expr dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS];
    uint32_t bare[PTO_MAX_DIMS]; /* slot of the symbol that the dim consists of, or NO_SLOT */
    int64_t rows, cols;          /* of a tile */
    pto_space space;
} shape_code;

#define NO_SLOT UINT32_MAX

typedef struct op_code op_code;
typedef struct function_code function_code;

/* Codes besides those of control_code.h; a: number of the op in function_code.ops. */
enum {
    CODE_OP = CONTROL_CLIENT,
    CODE_DROP,      /* the op is done: drops what nothing needs any more */
    CODE_INSTANCES, /* of a forall; jumps to b when there are none */
    CODE_INSTANCE   /* the next one at b, or on */
};

struct op_code {
    op_action what;
    pto_op op;
    pto_str name;
    uint32_t number; /* in function_code.ops */
    uint32_t operand_count, result_count, expr_count, drop_count;
    uint32_t place_count; /* of a tile op on chip: how many of `exprs` are a row and a column */
    const uint32_t *operands, *results;
    /* A `for`, CARRIED: two for each carried value, which count when states_valid says so. FORALL: extents. BIND:
     * value, lo, hi. Tile ops: offsets (or the valid region), then for loads the sizes. CONTRACT: offsets of left and
     * of right, depth. */
    const index_expr *exprs;
    const bool *states_valid; /* NULL: no value states one */
    const uint32_t *args;     /* FORALL: indices, then outs */
    uint32_t begin;           /* FORALL: its CODE_INSTANCES */
    uint32_t *drops;          /* arrays and tiles that nothing needs after this op */
    uint32_t symbol;          /* BIND */
    pto_relation relation;
    const bool *takes; /* FORALL: for each out, whether its memory may be written in place */
    insn_id insn;
    tensor_op tensor;
    uint32_t rule, transfer; /* of tile ops: PTO_RULE_*, PTO_TRANSFER_* */
    int64_t run;             /* of tile ops: records of a run */
    const insn_function *function;
    bool descending, upper;
    bool transpose, has_pad, saturate;
    round_mode mode;
    number pad;
    number constant; /* of a constant, and what tensor.pad fills with */
    const function_code *callee;
    bool by_value; /* CALL: out parameters come back as results */
};

typedef struct parameter_code {
    uint32_t value;
    bool in, out;
    shape_code shape;
    pto_str name;
} parameter_code;

typedef struct fact_code {
    pto_relation relation;
    index_expr left, right;
} fact_code;

struct function_code {
    pto_op op;
    pto_str name;
    bool is_kernel;
    const program *program; /* of a kernel of instructions; then there is no body */
    uint32_t value_count;   /* values and symbols share the numbers */
    const shape_code *shapes;
    const index_code *codes;
    uint32_t grid_rank;
    const index_expr *grid;
    uint32_t parameter_count, result_count, fact_count;
    uint32_t symbol_count, all_symbol_count; /* those that must be bound when it starts; then those of `bind` */
    const parameter_code *parameters;
    const fact_code *facts;
    const pto_str *symbol_names;
    const uint32_t *symbols;
    const uint32_t *args; /* of the body: of a kernel the grid indices first */
    control_flow flow;
    const op_code *const *ops;
    function_code *next; /* all that were decoded */
};

/* The function and all that it calls and launches; NULL after a diagnostic. */
const function_code *code_decode(const pto_run *run, pto_op function);

#endif
