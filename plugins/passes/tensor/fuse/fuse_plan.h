/* What the rooms of pto.fuse share: shapes split into rows and columns, and the plan of one block.
 *
 * Everything here lives in scratch memory of one run. */
#ifndef FUSE_PLAN_H
#define FUSE_PLAN_H

#include <pto/plugin.h>

#define FUSE_KINDS(X)        \
    X(GROUP, "tensor.group") \
    X(YIELD, "yield")        \
    X(BIND, "bind")
PTO_KINDS_AS(fuse_kinds, FUSE_KINDS);

enum { FUSE_NONE = INT32_MAX, FUSE_COPY_LIMIT = 16 };

/* The index space of an op or cluster. Bit i of the masks is dim i counted from the end. */
typedef struct fuse_shape {
    pto_type type; /* gives the extents */
    uint32_t rank;
    uint32_t wide;          /* extent is not the constant 1 */
    uint32_t rows, columns; /* dims known to be rows or columns: some operand or result has only those, or lacks them */
    uint32_t cuts;          /* bit i: something tells dim i from the next wide one outwards */
    uint32_t reduced;       /* dims of the reductions */
    int is_box;             /* dims do not fall into rows before columns */
} fuse_shape;

/* Index space of a vector op with what its reduction and its operands say about rows and columns. */
fuse_shape fuse_shape_of_op(pto_op op);
/* Makes `a` the common space of both. 0 when there is none: extents differ, what is rows in one is columns in the
 * other, or one of them is a box and they reduce along different dims; `a` is garbage then. */
int fuse_shape_join(fuse_shape *a, const fuse_shape *b);
/* Whether a value of shape `from` is repeated along dims before its own when used in `to`: computing it there again
 * costs little, while storing it in a nest over those would have every instance write it. */
int fuse_shape_repeats(const fuse_shape *from, const fuse_shape *to);
/* Dims that a reduction runs along; bit i is dim i counted from the end. */
uint32_t fuse_reduced_dims(pto_op op);
/* Whether an op gives one number for all elements: a constant, or a cast index expression. */
int fuse_is_splat(pto_op op);

enum fuse_role {
    FUSE_OTHER, /* stays outside of groups */
    FUSE_SOLO,  /* a group of its own: matrix product, transpose, stored constant */
    FUSE_VECTOR /* elementwise, broadcast, reduction, splat constant */
};

typedef struct fuse_node {
    pto_op op;
    uint8_t role, is_live, drops_dims, done;
    uint8_t has_copies;          /* something that stays computes it again */
    uint8_t has_choice;          /* it could be in one group with some of what feeds it, or not */
    uint8_t is_pinned, is_apart; /* the schedule says so */
    const char *obstacle;        /* why it does not go on with what feeds it, or NULL */
    uint32_t
        in[PTO_MAX_SPACE_OPERANDS]; /* nodes that make the operands, or FUSE_NONE; stays when operands are replaced */
    uint32_t in_count;              /* 0 for FUSE_OTHER */
    uint32_t stage;                 /* of FUSE_OTHER and FUSE_SOLO; of vector ops the stage of the cluster */
    uint32_t cluster;               /* not for FUSE_OTHER */
    uint32_t copies;                /* ops to compute it again from what no vector op made; 0: not to be copied */
    uint32_t copy_stage;
    uint32_t copied_for; /* cluster that `copy` is in */
    pto_value copy;
    uint64_t key, least_key; /* order of emission */
    fuse_shape space;
} fuse_node;

typedef struct fuse_cluster {
    uint32_t parent; /* itself: a root */
    uint32_t stage, op_count;
    uint32_t first, end; /* members in fuse_plan.members, roots only, after fuse_order */
    fuse_shape space;
} fuse_cluster;

/* Ops of one block, in order; the last one is the terminator. An edge between different clusters, or between a cluster
 * and another op, always leads to a higher stage, so the groups cannot depend on each other in a circle. */
typedef struct fuse_plan {
    const pto_run *run;
    pto_block block;
    fuse_node *nodes;
    uint32_t count;
    fuse_cluster *clusters;
    uint32_t cluster_count;
    uint32_t *slots, slot_mask; /* op handle index to node, open addressing */
    uint32_t *members;
    int64_t max_ops;
} fuse_plan;

/* Reads the block and decides what belongs together. Fails when the schedule pins what cannot be. */
pto_status fuse_plan_make(fuse_plan *p);
uint32_t fuse_root(fuse_plan *p, uint32_t cluster);
/* Node of the op, or of the op of this block that contains it; FUSE_NONE outside. */
uint32_t fuse_node_at(const fuse_plan *p, pto_op op);
/* Whether node `user` computes operand value of node `made` again instead of reading it. */
int fuse_is_copied(const fuse_plan *p, uint32_t made, uint32_t user);

/* Rewrites the block; `label` is the function's name, `serial` counts its groups. */
pto_status fuse_rewrite(fuse_plan *p, pto_str label, uint32_t *serial);

#endif
