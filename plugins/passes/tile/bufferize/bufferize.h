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

typedef struct bufferizer {
    const pto_run *run;
    pto_op function;
    int64_t copy_bytes;    /* largest tile of a nest that copies */
    copied_tensor *copied; /* one for each nest that was made to copy */
    uint32_t copies, copy_capacity;
    pto_op *binds; /* those in loops and branches */
    uint32_t bind_count;
} bufferizer;

/* Whether the value is a tensor, which becomes memory. */
int bufferize_is_tensor(pto_value v);
/* Whether the op is one of `for`, `if` and `while`. */
int bufferize_is_control(pto_op op);

/* ---- which memory a tensor is: bufferize_memory.c ---- */

/* Through views to what makes the memory: a parameter, a `tile.empty`, a result of a nest, loop or branch. */
pto_value bufferize_origin(pto_value v);
/* Through views and nests. `last_nest`: the result of a nest met first, or none. */
pto_value bufferize_root(const pto_run *run, pto_value v, pto_value *last_nest);
/* Whether a nest or loop writes to the memory of a `tile.empty`. */
int bufferize_is_written(pto_value empty);
/* Lets each nest write to memory that it may overwrite. */
pto_status bufferize_separate(bufferizer *b);

/* ---- making memory: bufferize_copy.c ---- */

/* `v` under another type before `at`; itself when it has that type. */
pto_value bufferize_view(const pto_run *run, pto_place at, pto_value v, pto_type type, pto_str name);
pto_value bufferize_empty(const pto_run *run, pto_place at, pto_type type, pto_str name);
/* A nest before `at` that copies a tensor; the copy, or none after a diagnostic. `why` ends the remark. */
pto_value bufferize_copy(bufferizer *b, pto_op at, pto_value from, const char *why);

/* ---- loops and branches that hand tensors on: bufferize_control.c ---- */

/* Makes two buffers for each tensor that a loop carries, and memory for the results of branches. */
pto_status bufferize_control(bufferizer *b);

#endif
