/* What is read most, inline: the records of a module by id. Only for module.h, which ends in it and documents the
 * functions; nothing but the functions of module.h may change a record. */
#ifndef IR_MODULE_READ_H
#define IR_MODULE_READ_H

#include "ir/base/record_table.h"
#include "ir/module.h" // NOLINT(misc-header-include-cycle): which ends with this one

/* An operand slot. `prev` of a value's first use is its last one, so both ends are near; `next` of the last is 0. */
typedef struct use_record {
    value_id value;
    use_id next, prev;
} use_record;

/* Operands in the record itself. Their use ids hold the op and the slot, so that the uses need not say whose they are.
 */
enum { NEAR_OPERANDS = 2 };
#define USE_NEAR 0x80000000u
#define OPS_END (UINT32_C(1) << 30) /* use ids have 31 bits for op and slot */

/* 64 bytes: a line of the cache. */
typedef struct op_record {
    uint16_t kind; /* OP_NONE: free; then `next` links the free records */
    uint16_t generation;
    uint16_t operand_count;
    uint16_t result_count;
    op_id next, prev;
    block_id block;
    loc_id loc;
    attr_id attrs;
    value_id results;
    uint32_t order; /* ascending in the block while the block is `ordered` */
    uint32_t rest;  /* record of what does not fit here; 0: no further operands and no blocks */
    use_record operands[NEAR_OPERANDS];
} op_record;
_Static_assert(sizeof(op_record) == 64, "an op fits a line of the cache");

/* 8 bytes. A free one is linked by `operands`. */
typedef struct rest_record {
    use_id operands; /* from slot NEAR_OPERANDS on */
    block_id blocks;
} rest_record;

/* 24 bytes. */
typedef struct value_record {
    type_id type;
    uint32_t def; /* op, or block | DEF_BLOCK; 0: free, then `first_use` links the free runs */
    use_id first_use;
    str_id name_base;
    uint32_t name_number;
    uint16_t index; /* of the result or argument */
    uint16_t generation;
} value_record;
#define DEF_BLOCK 0x80000000u

/* 16 bytes. A free run is linked by `use.value` and has op 0. */
typedef struct far_use_record {
    use_record use;
    op_id op;
} far_use_record;

typedef struct block_record {
    op_id parent;
    op_id first, last;
    uint16_t arg_count;
    uint16_t generation;
    uint16_t siblings; /* in the first block of an op: how many blocks the op has */
    bool live;         /* a free run is linked by `first` */
    bool ordered;
    uint32_t arg_capacity;
    value_id *args;
} block_record;

struct module {
    ir_context *context;
    op_table *known_ops; /* of the context */
    arena *memory;
    str_id name, file;
    attr_id attrs;
    src_pos attrs_at;
    block_id top;
    uint64_t epoch;
    uint64_t pathless;    /* how many of these changes left the paths of all ops as they were */
    uint64_t valid_epoch; /* changes with what may change the valid region of an existing value */
    uint64_t rangeless;   /* how many of the changes left the ranges of all values and expressions as they were */
    record_table ops, rests, values, uses, blocks;
    struct module_caches *caches; /* module_impl.h */
};

/* Records by id, without a check that they are live. */
static inline op_record *op_raw(const module *m, op_id o)
{
    return (op_record *)m->ops.chunks[o >> CHUNK_SHIFT] + (o & CHUNK_MASK);
}
static inline value_record *value_raw(const module *m, value_id v)
{
    return (value_record *)m->values.chunks[v >> CHUNK_SHIFT] + (v & CHUNK_MASK);
}
static inline rest_record *rest_raw(const module *m, uint32_t r)
{
    return (rest_record *)m->rests.chunks[r >> CHUNK_SHIFT] + (r & CHUNK_MASK);
}
static inline far_use_record *far_use_raw(const module *m, use_id u)
{
    return (far_use_record *)m->uses.chunks[u >> CHUNK_SHIFT] + (u & CHUNK_MASK);
}
static inline block_record *block_raw(const module *m, block_id b)
{
    return (block_record *)m->blocks.chunks[b >> CHUNK_SHIFT] + (b & CHUNK_MASK);
}

/* The record of a live id; BUG otherwise. */
static inline op_record *op_at(const module *m, op_id o)
{
    BUG_IF(o >= m->ops.count || op_raw(m, o)->kind == OP_NONE, "op %u does not exist or was erased", o);
    return op_raw(m, o);
}

/* The same of values and blocks. */
static inline value_record *value_at(const module *m, value_id v)
{
    BUG_IF(v >= m->values.count || value_raw(m, v)->def == 0, "value %u does not exist or was erased", v);
    return value_raw(m, v);
}
static inline block_record *block_at(const module *m, block_id b)
{
    BUG_IF(b >= m->blocks.count || !block_raw(m, b)->live, "block %u does not exist or was erased", b);
    return block_raw(m, b);
}

/* The value of operand `i`, which is in range. */
static inline value_id operand_value(const module *m, const op_record *op, uint32_t i)
{
    if (i < NEAR_OPERANDS) return op->operands[i].value;
    return far_use_raw(m, rest_raw(m, op->rest)->operands + i - NEAR_OPERANDS)->use.value;
}

/* First block of an op; 0 when it has none. */
static inline block_id first_block(const module *m, const op_record *op)
{
    return op->rest == 0 ? 0 : rest_raw(m, op->rest)->blocks;
}

/* How many blocks the op has. */
static inline uint32_t block_count(const module *m, const op_record *op)
{
    block_id first = first_block(m, op);
    return first == 0 ? 0 : block_raw(m, first)->siblings;
}

/* ---- module.h ---- */

static inline ir_context *module_context(const module *m) { return m->context; }
static inline block_id module_top(const module *m) { return m->top; }

static inline bool op_is_live(const module *m, op_id o)
{
    return o != 0 && o < m->ops.count && op_raw(m, o)->kind != OP_NONE;
}

static inline bool op_is_live_since(const module *m, op_id o, uint32_t generation)
{
    return op_is_live(m, o) && op_raw(m, o)->generation == generation;
}

static inline uint32_t op_generation(const module *m, op_id o)
{
    return o == 0 || o >= m->ops.count ? 0 : op_raw(m, o)->generation;
}

static inline op_kind op_kind_of(const module *m, op_id o) { return op_at(m, o)->kind; }
static inline const op_info *op_info_of(const module *m, op_id o)
{
    return op_info_at(m->known_ops, op_at(m, o)->kind);
}
static inline loc_id op_loc(const module *m, op_id o) { return op_at(m, o)->loc; }
static inline attr_id op_attrs(const module *m, op_id o) { return op_at(m, o)->attrs; }
static inline block_id op_block(const module *m, op_id o) { return op_at(m, o)->block; }
static inline op_id op_next(const module *m, op_id o) { return op_at(m, o)->next; }
static inline op_id op_prev(const module *m, op_id o) { return op_at(m, o)->prev; }
static inline op_id op_parent(const module *m, op_id o) { return block_at(m, op_at(m, o)->block)->parent; }

static inline uint32_t op_operand_count(const module *m, op_id o) { return op_at(m, o)->operand_count; }

static inline value_id op_operand(const module *m, op_id o, uint32_t i)
{
    const op_record *op = op_at(m, o);
    BUG_IF(i >= op->operand_count, "op %u has %u operands, not %u", o, op->operand_count, i + 1);
    return operand_value(m, op, i);
}

static inline uint32_t op_result_count(const module *m, op_id o) { return op_at(m, o)->result_count; }

static inline value_id op_result(const module *m, op_id o, uint32_t i)
{
    const op_record *op = op_at(m, o);
    BUG_IF(i >= op->result_count, "op %u has %u results, not %u", o, op->result_count, i + 1);
    return op->results + i;
}

static inline uint32_t op_block_count(const module *m, op_id o) { return block_count(m, op_at(m, o)); }

static inline block_id op_block_at(const module *m, op_id o, uint32_t i)
{
    const op_record *op = op_at(m, o);
    BUG_IF(i >= block_count(m, op), "op %u has %u blocks, not %u", o, block_count(m, op), i + 1);
    return first_block(m, op) + i;
}

static inline bool block_is_live(const module *m, block_id b)
{
    return b != 0 && b < m->blocks.count && block_raw(m, b)->live;
}

static inline uint32_t block_generation(const module *m, block_id b)
{
    return b == 0 || b >= m->blocks.count ? 0 : block_raw(m, b)->generation;
}

static inline op_id block_parent(const module *m, block_id b) { return block_at(m, b)->parent; }
static inline op_id block_first(const module *m, block_id b) { return block_at(m, b)->first; }
static inline op_id block_last(const module *m, block_id b) { return block_at(m, b)->last; }
static inline uint32_t block_arg_count(const module *m, block_id b) { return block_at(m, b)->arg_count; }

static inline value_id block_arg(const module *m, block_id b, uint32_t i)
{
    const block_record *block = block_at(m, b);
    BUG_IF(i >= block->arg_count, "block %u has %u arguments, not %u", b, block->arg_count, i + 1);
    return block->args[i];
}

static inline bool value_is_live(const module *m, value_id v)
{
    return v != 0 && v < m->values.count && value_raw(m, v)->def != 0;
}

static inline bool value_is_live_since(const module *m, value_id v, uint32_t generation)
{
    return value_is_live(m, v) && value_raw(m, v)->generation == generation;
}

static inline uint32_t value_generation(const module *m, value_id v)
{
    return v == 0 || v >= m->values.count ? 0 : value_raw(m, v)->generation;
}

static inline type_id value_type(const module *m, value_id v) { return value_at(m, v)->type; }

static inline op_id value_op(const module *m, value_id v)
{
    uint32_t def = value_at(m, v)->def;
    return (def & DEF_BLOCK) != 0 ? 0 : def;
}

static inline block_id value_block(const module *m, value_id v)
{
    uint32_t def = value_at(m, v)->def;
    return (def & DEF_BLOCK) != 0 ? def & ~DEF_BLOCK : 0;
}

static inline uint32_t value_index(const module *m, value_id v) { return value_at(m, v)->index; }

#endif
