/* What the files of pto.bufferize share: which memory a tensor is, copies, loops and branches.
 *
 * Until the end all values keep their tensor types, while nests, loops and branches come to write where their results
 * are wanted. Everything here lives in scratch memory of one run. */
#ifndef BUFFERIZE_H
#define BUFFERIZE_H

#include <pto/plugin.h>

#define BUFFERIZE_KINDS(X)         \
    X(VIEW, "view")                \
    X(ARRAY, "constant_array")     \
    X(FORALL, "forall")            \
    X(FOR, "for")                  \
    X(IF, "if")                    \
    X(WHILE, "while")              \
    X(BIND, "bind")                \
    X(YIELD, "yield")              \
    X(RETURN, "return")            \
    X(EMPTY, "tile.empty")         \
    X(WORKSPACE, "tile.workspace") \
    X(LOAD, "tile.load")           \
    X(STORE, "tile.store")         \
    X(CALL, "call")
PTO_KINDS_AS(bufferize_kinds, BUFFERIZE_KINDS);

/* A copy that was made of a tensor. */
typedef struct copied_tensor {
    pto_value from; /* where the tensor is */
    pto_op at;      /* what needs it */
    const char *why;
} copied_tensor;

/* A tensor that a loop carries in one place: every iteration changes it there. */
typedef struct kept_tensor {
    pto_op loop;
    uint32_t slot; /* of the carried values */
} kept_tensor;

typedef struct bufferizer {
    const pto_run *run;
    pto_op function;
    int64_t copy_bytes;    /* largest tile of a nest that copies */
    copied_tensor *copied; /* one for each nest that was made to copy */
    uint32_t copies, copy_capacity;
    kept_tensor *kept;
    uint32_t kept_count, kept_capacity;
    pto_op *binds; /* those in loops and branches */
    uint32_t bind_count;
    pto_op *calls; /* each in a nest of its own */
    uint32_t call_count, call_capacity;
} bufferizer;

/* Whether the value is a tensor, which becomes memory. */
int bufferize_is_tensor(pto_value v);
/* Whether the op is one of `for`, `if` and `while`. */
int bufferize_is_control(pto_op op);
/* Whether a nest stores to other memory than what its results are. */
int bufferize_writes_elsewhere(pto_op forall);

/* ---- which memory a tensor is: bufferize_memory.c ---- */

/* Through views to what makes the memory: a parameter, a `tile.empty`, a result of a nest, loop or branch. */
pto_value bufferize_origin(pto_value v);
/* Through views and nests. `last_nest`: the result of a nest met first, or none. */
pto_value bufferize_root(const pto_run *run, pto_value v, pto_value *last_nest);
/* Why a tensor cannot be made in memory of its own type; NULL: it can, if `root`, which is bufferize_root of it, can.
 * Memory of other elements cannot be seen as truth values. */
const char *bufferize_view_reason(pto_value v, pto_value root);
/* Whether a nest or loop writes to the memory of a `tile.empty`. */
int bufferize_is_written(pto_value empty);
/* Whether elements of `value` are used in or after `op` of the same block by anything but its operand `slot`. `todo`
 * has space for bufferize_value_count of the function. */
int bufferize_is_used_later(pto_value value, pto_op op, uint32_t slot, pto_value *todo);
uint32_t bufferize_value_count(const bufferizer *b);
/* Lets a nest or loop start from memory that it may overwrite, in the place of its operand `slot`. */
pto_status bufferize_separate_one(bufferizer *b, pto_op op, uint32_t slot, pto_value *todo);
/* Lets each nest write to memory that it may overwrite. */
pto_status bufferize_separate(bufferizer *b);

/* ---- results in the memory of parameters: bufferize_inplace.c ---- */

/* The number of the parameter whose memory returned value `i` is; -1: it has its own. */
int64_t bufferize_alias_of(const bufferizer *b, uint32_t i);
/* Whether what is made in a `tile.empty` may be made in the memory of the parameter, after bufferize_control. */
int bufferize_may_replace(const bufferizer *b, pto_value parameter, pto_value empty);

/* Puts nests that read what a result replaces before it, where they need nothing of that: bufferize_early.c. */
pto_status bufferize_read_early(const bufferizer *b);

/* ---- making memory: bufferize_copy.c ---- */

/* `v` under another type before `at`; itself when it has that type. */
pto_value bufferize_view(const pto_run *run, pto_place at, pto_value v, pto_type type, pto_str name);
pto_value bufferize_empty(const pto_run *run, pto_place at, pto_type type, pto_str name);
/* A nest before `at` that copies a tensor; the copy, or none after a diagnostic. `why` ends the remark. */
pto_value bufferize_copy(bufferizer *b, pto_op at, pto_value from, const char *why);

/* ---- what may overlap: bufferize_overlap.c ---- */

/* Copies parameters that memory of an `inout` tensor may overlap, where nests read them after it is written to. */
pto_status bufferize_copy_overlapped(bufferizer *b);
/* Results that may overlap parameters which nests need until later are copied last; `homes`: where results are. */
pto_status bufferize_copy_overlapping(bufferizer *b, pto_op ret, pto_value *homes);
/* Pairs of results become pairs of the `out` parameters that these are now. */
pto_status bufferize_number_pairs(const bufferizer *b, const uint32_t *out_numbers);

/* ---- calls of functions on memory: bufferize_call.c ---- */

/* Whether the callee is a function of nests on memory: no parameter is a tensor, and there are no results. */
int bufferize_is_call_of_memory(pto_op call);
/* Puts each such call with tensors into a nest that writes to what the function writes to. */
pto_status bufferize_wrap_calls(bufferizer *b);
/* The end of that: calls on memory in the place of their nests. */
pto_status bufferize_unwrap_calls(bufferizer *b);

/* ---- outputs that a branch leaves unwritten: bufferize_written.c ---- */

/* Refuses an `out` parameter with elements that one side of a branch writes to and the other does not, when both sides
 * are taken for some values of scalars. What else is unwritten is found when it runs. */
pto_status bufferize_check_written(const bufferizer *b);

/* ---- loops that carry a tensor in one place: bufferize_kept.c ---- */

/* Whether carried value `slot` of the loop is one. */
int bufferize_is_kept(const bufferizer *b, pto_op loop, uint32_t slot);
/* Finds them, and lets each start from memory that it may overwrite. */
pto_status bufferize_find_kept(bufferizer *b);
/* The loop without them, which takes its place: they are what it began with. */
pto_status bufferize_drop_kept(bufferizer *b, pto_op *loop);

/* ---- loops and branches that hand tensors on: bufferize_control.c ---- */

/* Makes two buffers for each tensor that a loop carries, and memory for the results of branches. */
pto_status bufferize_control(bufferizer *b);

#endif
