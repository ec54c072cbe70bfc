/* Records and tables of module.h; only for ir/ files that implement it.
 *
 * Tables grow in chunks of the module's arena, so records never move; ids index them and 0 is none. The first two
 * operands of an op are in its record, the others are a run of consecutive use records; its results are a run
 * of values, its blocks a run of blocks. Freed runs are recycled by length. */
#ifndef IR_MODULE_IMPL_H
#define IR_MODULE_IMPL_H

#include "ir/module.h"

#include <limits.h>

enum { CHUNK_SHIFT = 10, CHUNK_RECORDS = 1 << CHUNK_SHIFT, CHUNK_MASK = CHUNK_RECORDS - 1 };

/* Runs of up to EXACT_RUN records are recycled by their exact length, longer ones have a capacity of a power of two. */
enum { EXACT_RUN = 16, RUN_CLASSES = EXACT_RUN + 1 + 32 };

typedef struct record_table {
    void **chunks;
    size_t chunk_capacity; /* of `chunks` */
    uint32_t chunk_count;
    uint32_t count; /* ids given out so far, 0 included */
    uint32_t record_bytes;
    uint32_t free[RUN_CLASSES]; /* first record of the first free run of a class; linked by the record's own field */
} record_table;

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

/* What a row says, in ids of the context: filled on first use. */
typedef struct kind_cache {
    bool ready;
    bool has_default;
    bool index_attrs; /* an attribute may hold index expressions over operands */
    uint8_t attr_count;
    uint16_t in_count; /* entries of `in` */
    str_id keys[10];
    attr_id defaults[10];
    attr_id slots_of; /* the dict asked last ... */
    bool slots_found; /* ... and whether expressions in it have slots or value leaves */
} kind_cache;

typedef struct symbol_slot {
    str_id name; /* 0: empty */
    op_id op;    /* 0: erased */
} symbol_slot;

/* What is known of a value while the module does not change (verify/ranges.c). */
enum { RANGE_ENTRIES = 64 };
typedef struct range_entry {
    value_id value;
    uint64_t epoch;
    expr_range range;
} range_entry;

/* Parts that reading functions fill on demand. */
typedef struct module_caches {
    kind_cache kinds[OP_KIND_COUNT];
    kind_cache **added_kinds; /* of kinds that the table of ops has more; in the arena */
    size_t added_capacity;
    symbol_slot *symbols; /* open addressing, capacity a power of two */
    size_t symbol_capacity, symbol_count;
    bool symbols_stale, symbols_repeat;
    /* Valid regions by value and dim (tile_valid.c); an entry counts when its epoch is `valid_epoch`. */
    struct valid_entry *valid;
    size_t valid_capacity;
    struct valid_step *steps; /* of the chain being followed */
    size_t step_capacity;
    range_entry ranges[RANGE_ENTRIES]; /* by value modulo their count */
} module_caches;

typedef struct valid_entry {
    uint64_t epoch;
    expr_id expr[2];
    uint8_t state[2]; /* VALID_UNKNOWN, VALID_RUNNING, VALID_DONE */
} valid_entry;

typedef struct valid_step {
    value_id value;
    uint32_t dim;
} valid_step;

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
    record_table ops, rests, values, uses, blocks;
    module_caches *caches;
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
/* The op that holds the use in its own record, and the use, which may be there or apart. */
static inline op_id near_use_op(use_id u) { return (u & ~USE_NEAR) / NEAR_OPERANDS; }
static inline use_record *use_raw(const module *m, use_id u)
{
    if ((u & USE_NEAR) == 0) return &far_use_raw(m, u)->use;
    return &op_raw(m, near_use_op(u))->operands[u % NEAR_OPERANDS];
}
/* The block, live or not. */
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

/* The op whose operand this is; BUG when it was dropped. */
static inline op_id use_owner(const module *m, use_id u)
{
    if ((u & USE_NEAR) != 0) {
        op_id o = near_use_op(u);
        BUG_IF(u % NEAR_OPERANDS >= op_at(m, o)->operand_count, "use %u was dropped", u);
        return o;
    }
    BUG_IF(u >= m->uses.count || far_use_raw(m, u)->op == 0, "use %u does not exist or was dropped", u);
    return far_use_raw(m, u)->op;
}

/* Operand slots and blocks of a live op. `i` is in range. */
static inline use_id operand_use(const module *m, op_id o, uint32_t i)
{
    if (i < NEAR_OPERANDS) return USE_NEAR | (o * NEAR_OPERANDS + i);
    return rest_raw(m, op_raw(m, o)->rest)->operands + i - NEAR_OPERANDS;
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

/* ---- record_table.c ---- */
/* An empty table of records of so many bytes. Its chunks are in the arenas that are given with additions; `fini` frees
 * the list of chunks. */
void record_table_init(record_table *t, uint32_t record_bytes);
void record_table_fini(record_table *t);
/* A copy with the same ids, its chunks in `memory`. */
void record_table_copy(record_table *to, const record_table *from, arena *memory);
/* Ids that were never used before, consecutive. */
uint32_t record_table_extend(record_table *t, arena *memory, uint32_t n);
static inline uint32_t record_table_add(record_table *t, arena *memory)
{
    return (t->count & CHUNK_MASK) != 0 ? t->count++ : record_table_extend(t, memory, 1);
}
uint32_t run_class(uint32_t n);
uint32_t run_capacity(uint32_t class_index);

/* ---- module_value.c ----
 * Create: consecutive ids, those of freed records first where a run of that length is there. Free: `n` ids from `first`
 * on, which nothing refers to any more. */
value_id values_create(module *m, uint32_t n); /* consecutive; the caller fills type, def and index */
void values_free(module *m, value_id first, uint32_t n);
use_id uses_create(module *m, uint32_t n);
void uses_free(module *m, use_id first, uint32_t n);
void use_link(module *m, use_id u, value_id v); /* after the value's other uses */
void use_unlink(module *m, use_id u);
block_id blocks_create(module *m, op_id parent, uint32_t n);
void blocks_free(module *m, block_id first, uint32_t n);

/* ---- op_attr.c ---- */
/* Finds out what kind_cache_at returns: of any kind, and the place of one that a plugin added. */
void kind_cache_fill(const module *m, op_kind kind, kind_cache *k);
kind_cache *kind_cache_added(const module *m, op_kind kind);

/* What was found out about ops of a kind, for rows of ir/ops and for those added to the table. */
static inline kind_cache *kind_cache_at(const module *m, op_kind kind)
{
    BUG_IF(kind == OP_NONE, "no kind of op");
    kind_cache *k = kind < OP_KIND_COUNT ? &m->caches->kinds[kind] : kind_cache_added(m, kind);
    if (!k->ready) kind_cache_fill(m, kind, k);
    return k;
}

/* The dict without the values that equal the row's defaults. */
attr_id attrs_without_defaults(const module *m, op_kind kind, attr_id attrs);

/* ---- op_index.c ---- */
/* Operands and attributes in canonical form (op_create). `operands` points into the given ones or at scratch that
 * index_form_fini releases. */
typedef struct index_form {
    uint32_t count;
    const value_id *operands;
    attr_id attrs;
    value_id *scratch;
} index_form;
void index_form_init(const module *m, index_form *f, op_kind kind, uint32_t value_count, uint32_t count,
                     const value_id *operands, attr_id attrs);
void index_form_fini(index_form *f);
uint32_t value_operands_before_index(const kind_cache *k, const op_info *info, uint32_t operand_count,
                                     uint32_t result_count);
/* Value operands of an op of this kind with so many operands and results: all, except for rows with index expressions.
 */
static inline uint32_t value_operands_of(const module *m, op_kind kind, uint32_t operand_count, uint32_t result_count)
{
    const kind_cache *k = kind_cache_at(m, kind);
    if (!k->index_attrs) return operand_count;
    return value_operands_before_index(k, op_info_at(m->known_ops, kind), operand_count, result_count);
}

/* Expression number `index` of a list (or of a lone expression) that op `o` holds, its slots replaced by values; 0 when
 * there is none. */
expr_id index_expr_of(const module *m, op_id o, attr_id list, uint32_t index);

/* ---- op_path.c ---- */
/* Whether an op with the attributes `a` has the name of one with `b` in paths, all else being equal. */
bool attrs_call_alike(const module *m, attr_id a, attr_id b);

/* ---- symbols.c: functions by name ---- */
/* Enters a function by its name, takes it out, or lets the table be made anew when it is asked next. */
void symbols_add(module *m, op_id f);
void symbols_remove(module *m, op_id f);
void symbols_forget(module *m);

/* Forgets what tile_valid.c knows of a value. */
static inline void valid_forget(module *m, value_id v)
{
    if (v < m->caches->valid_capacity) m->caches->valid[v].epoch = 0;
}

#endif
