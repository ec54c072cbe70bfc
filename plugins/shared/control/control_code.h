/* The one interpreter of `for`, `if` and `while`: a function becomes flat code, in which they are jumps and copies
 * between slots, and control_step follows it.
 *
 * The client owns the slots. A slot holds what loops and branches hand over, whatever that is; those of indices,
 * integers and bools have a 64-bit number besides, which index expressions read. Ops without blocks are the client's:
 * it emits codes of its own for them, from CONTROL_CLIENT on. Both sides walk without recursion, in memory of the run.
 */
#ifndef CONTROL_CONTROL_CODE_H
#define CONTROL_CONTROL_CODE_H

#include "index_code.h"

#include <pto/relation.h>

#define CONTROL_NONE UINT32_MAX

enum {
    CONTROL_END,
    CONTROL_COPY,   /* slot a = slot b */
    CONTROL_MOVE,   /* the same; nothing reads slot b before it is written again */
    CONTROL_FOR,    /* a: loops; enters, or jumps to b */
    CONTROL_NEXT,   /* a: loops; jumps to b while there is one more iteration */
    CONTROL_BRANCH, /* a: branches; jumps to b when the relation does not hold */
    CONTROL_UNLESS, /* jumps to b when the number of slot a is 0 */
    CONTROL_JUMP,   /* to b */
    CONTROL_CLIENT
};

typedef struct control_code {
    uint32_t what, a, b;
} control_code;

typedef struct control_loop {
    const void *site;            /* the client's name for the op */
    uint32_t index, bound, step; /* slots */
    index_expr from, to, by;
} control_loop;

typedef struct control_branch {
    const void *site;
    pto_relation relation;
    index_expr left, right;
} control_branch;

typedef struct control_flow {
    const control_code *codes;
    uint32_t count;
    const control_loop *loops;
    const control_branch *branches;
} control_flow;

/* ---- decoding ---- */

/* What the client does. Those that fail have reported why. */
typedef struct control_client {
    void *(*site)(void *self, pto_op op); /* of an op with blocks, asked for once; NULL: it failed */
    pto_status (*expr)(void *self, void *site, pto_op op, const char *name, index_expr *out);
    uint32_t (*spare)(void *self);               /* a slot that no value has */
    uint32_t (*define)(void *self, pto_value v); /* a new slot, that of the value from now on */
    void (*alias)(void *self, pto_value v, uint32_t slot);
    uint32_t (*use)(void *self, void *site, pto_value v);   /* CONTROL_NONE: it cannot be handed over */
    pto_status (*op)(void *self, pto_op op);                /* without blocks; what ends the function, too */
    pto_status (*enter)(void *self, pto_op op, void *site); /* with blocks, and none of those known here */
    pto_status (*leave)(void *self, pto_op op, void *site, pto_op yield);
    pto_status (*refuse)(void *self, void *site, const char *why);
    /* NULL: nothing. The first before the operands of `from`, the loop or its yield, are handed to the loop; the other
     * at the end of an op with blocks. */
    pto_status (*hand)(void *self, pto_op loop, void *site, pto_op from);
    void (*ended)(void *self, pto_op op, void *site);
} control_client;

typedef struct control_list {
    void *items;
    uint32_t count, capacity;
} control_list;

typedef struct control_builder {
    const pto_run *run;
    const control_client *client;
    void *self;
    control_list codes, loops, branches, nests;
} control_builder;

/* Appends a code; its place. */
uint32_t control_emit(control_builder *b, uint32_t what, uint32_t a, uint32_t target);
/* Lets the code at `place` jump to the next one. */
void control_patch(control_builder *b, uint32_t place);
uint32_t control_here(const control_builder *b);
/* Operands of `from` to slots, all at once. */
pto_status control_hand_over(control_builder *b, void *site, pto_op from, uint32_t count, const uint32_t *to);
/* The ops of a function's body, with the control flow around them, and CONTROL_END. */
pto_status control_decode(control_builder *b, pto_block body, control_flow *out);

/* ---- following ---- */

typedef struct control_actions {
    /* Reports what is wrong with expression `which`. */
    pto_status (*eval)(void *self, const void *site, const index_expr *e, const char *which, int64_t *out);
    pto_status (*bad_step)(void *self, const void *site, int64_t step);
    void (*set_index)(void *self, uint32_t slot, int64_t n);
    void (*copy)(void *self, uint32_t to, uint32_t from, int is_move);
} control_actions;

/* Follows one code below CONTROL_CLIENT. `at`: the code after it; changed by jumps, and put on the end again by
 * CONTROL_END. `slots`: the numbers, of which bounds and steps are written here. */
pto_status control_step(const control_flow *flow, const control_code *c, const control_actions *act, void *self,
                        int64_t *slots, uint32_t *at);

#endif
