/* What the files of pto.fuse share: index spaces, and the plan of one block.
 *
 * A plan says for each op that goes into a group with which of the ops that feed it it is in one. That alone fixes the
 * groups: those of an op are what such edges lead to. So a schedule that pins it of every op makes the same groups
 * again, whatever order they were found in the first time; what a set of ops must be to make one nest is asked of the
 * set. All memory is scratch of one run. */
#ifndef FUSE_PLAN_H
#define FUSE_PLAN_H

#include "dims.h"

#define FUSE_KINDS(X)        \
    X(GROUP, "tensor.group") \
    X(YIELD, "yield")        \
    X(BIND, "bind")
PTO_KINDS_AS(fuse_kinds, FUSE_KINDS);

enum { FUSE_NONE = INT32_MAX, FUSE_COPY_LIMIT = 16, FUSE_MASKS = 1 << PTO_MAX_DIMS };

/* ---- index spaces ---- */

/* The index space of a set of ops. Bit i of a mask is dim i counted from the end. Joining spaces in any order makes the
 * same one. */
typedef struct fuse_space {
    pto_type type; /* of a value that has all dims of the space; it has the extents */
    uint32_t rank;
    uint32_t wide;                    /* extent is not the constant 1 */
    uint32_t common;                  /* dims that every result has */
    uint32_t reduced;                 /* dims of the reductions */
    uint32_t left;                    /* dims that reductions leave */
    uint32_t product;                 /* all dims of a matrix product; 0: there is none */
    uint64_t varies[FUSE_MASKS / 64]; /* bit m: some value varies along just the dims m */
    uint8_t reduces_apart;            /* along different dims */
} fuse_space;

/* What pto.tile makes of a space. */
typedef struct fuse_nest {
    int is_one;      /* it is the space of one nest */
    int is_box;      /* its dims do not fall into rows before columns */
    uint32_t walked; /* dims that an instance may walk: what lacks others is the same for several instances */
    uint32_t known;  /* those of them that some value says to be columns, or that are reduced */
} fuse_nest;

/* The space of one op that may be in a group. */
fuse_space fuse_space_of_op(pto_op op);
/* Makes `a` the space of both. 0 when extents differ or neither has the dims of both; `a` is garbage then. */
int fuse_space_join(fuse_space *a, const fuse_space *b);
fuse_nest fuse_space_nest(const fuse_space *s);
/* Whether a value of space `from` is repeated along dims before its own when used in `to`: computing it there again
 * costs little, while storing it in a nest over those would have every instance write it. */
int fuse_space_repeats(const fuse_space *from, const fuse_space *to);
/* Whether an op produces one number for all elements: a constant, or a cast index expression. */
int fuse_is_splat(pto_op op);
/* Indices along an axis, which any group can count by itself. */
int fuse_is_count(pto_op op);
int fuse_is_reduction(pto_op op);

/* ---- the plan ---- */

enum fuse_role {
    FUSE_OTHER,   /* stays outside of groups */
    FUSE_SOLO,    /* a group of its own: matrix product, transpose, stored constant */
    FUSE_PRODUCT, /* a matrix product that elementwise ops may join; what feeds it is memory */
    FUSE_VECTOR   /* elementwise, broadcast, reduction, splat constant */
};

typedef struct fuse_node {
    pto_op op;
    uint8_t role, is_live, done;
    uint8_t has_copies; /* something that stays computes it again */
    uint8_t is_alone;   /* what feeds it is too */
    uint8_t is_pinned;
    uint8_t open;           /* bit k: operand k could come from the same group; one bit for each op that feeds it */
    uint8_t joined;         /* those that the schedule requires from the same group */
    const char *ends_group; /* why what uses it is in other groups, or NULL */
    const char *obstacle;   /* why it did not go on with what feeds it, or NULL */
    uint32_t in_count;      /* 0 for FUSE_OTHER */
    /* Nodes that make the operands, or FUSE_NONE; stays when operands are replaced. */
    uint32_t in[PTO_MAX_SPACE_OPERANDS];
    uint32_t next;                   /* member of its cluster, or FUSE_NONE */
    uint32_t copies;                 /* ops to compute it again from what no vector op made; 0: not to be copied */
    uint64_t taken[FUSE_MASKS / 64]; /* as `varies` of a space: of it and what is copied with it */
    uint32_t copied_for;             /* cluster that `copy` is in */
    pto_value copy;
    uint64_t key, least_key; /* order of emission */
    fuse_space space;
} fuse_node;

/* Of each node one, which others may have joined. What is said of members holds for roots. */
typedef struct fuse_cluster {
    uint32_t parent;           /* itself: a root */
    uint32_t head, tail, last; /* members as a list; the last one in the block */
    uint32_t stage, op_count;
    uint32_t seen;        /* by the node whose joint is being found */
    uint32_t at, at_need; /* member whose needs are being looked at, and the next of them */
    uint8_t state;
    uint32_t first, end; /* members in fuse_plan.members, after the order is made */
    fuse_space space;
} fuse_cluster;

/* Ops of one block, in order; the last one is the terminator. An edge between different clusters always leads to a
 * higher stage, so groups cannot depend on each other in a circle. */
typedef struct fuse_plan {
    const pto_run *run;
    pto_block block;
    fuse_node *nodes;
    uint32_t count, grouped;     /* all, and those that go into groups */
    fuse_cluster *clusters;      /* count */
    uint32_t *slots, slot_mask;  /* op handle index to node, open addressing */
    uint32_t *needs, *need_from; /* nodes that must come before node i: needs[need_from[i]] up to need_from[i + 1] */
    uint32_t *bind_before;       /* the last `bind` before each node, or FUSE_NONE */
    uint32_t *members;
    int64_t max_ops;
    int joins_products; /* vector work may be in the group of a product */
} fuse_plan;

/* Why an op must be in a group of its own that it could share by its dims. */
extern const char fuse_shared[];

/* Reads the block and decides what belongs together. Fails when the schedule pins what cannot be. */
pto_status fuse_plan_make(fuse_plan *p);
uint32_t fuse_root(fuse_plan *p, uint32_t cluster);
/* Node of the op, or of the op of this block that contains it; FUSE_NONE outside. */
uint32_t fuse_node_at(const fuse_plan *p, pto_op op);
/* Whether node `user` computes operand value of node `made` again instead of reading it. */
int fuse_is_copied(const fuse_plan *p, uint32_t made, uint32_t user);
/* Whether something that stays, outside of the cluster `root`, reads the node. */
int fuse_is_used_outside(fuse_plan *p, uint32_t index, uint32_t root);

/* Fills `needs`. */
void fuse_find_needs(fuse_plan *p);
/* Assigns a stage to every cluster of live nodes, in an order in which each comes after what it needs. With `joins`,
 * each then goes on with the clusters that feed it where that is one nest. */
pto_status fuse_place(fuse_plan *p, int joins);
/* Makes `a` the space of both when one nest can compute them and repeats nothing along dims that it does not walk. 0:
 * it does not; `a` is garbage then. */
int fuse_goes_with(fuse_space *a, const fuse_space *b);
/* Puts the members of root `from` into root `into`. Spaces and counts are the caller's. */
void fuse_merge(fuse_plan *p, uint32_t into, uint32_t from);

/* ---- decisions ---- */

/* Asks what the schedule says of each node. */
pto_status fuse_read_pins(fuse_plan *p);
/* Puts together what is pinned to be joined. */
pto_status fuse_join_pinned(fuse_plan *p);
/* Whether the schedule keeps operand `k` of the node in another group. */
int fuse_is_pinned_apart(const fuse_node *n, uint32_t k);
/* The pins that put the members of the cluster together cannot be kept: reports it at the line of one of them. 0 when
 * there are none. */
int fuse_refuse(fuse_plan *p, uint32_t root, const char *why);
/* Says for each node what came out. */
pto_status fuse_record(fuse_plan *p);

/* Rewrites the block; `label` is the function's name, `serial` counts its groups. */
pto_status fuse_rewrite(fuse_plan *p, pto_str label, uint32_t *serial);

#endif
