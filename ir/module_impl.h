/* Inside of modules, for the ir/ files that implement module.h; records and tables are in module_read.h.
 *
 * Tables grow in chunks of the module's arena, so records never move; ids index them and 0 is none. The first two
 * operands of an op are in its record, the others are a run of consecutive use records; its results are a run
 * of values, its blocks a run of blocks. Freed runs are recycled by length. */
#ifndef IR_MODULE_IMPL_H
#define IR_MODULE_IMPL_H

#include "ir/module.h"

#include <limits.h>

/* What a row says, in ids of the context: filled on first use. */
typedef struct kind_cache {
    const op_info *info;
    bool ready;
    bool has_default;
    bool index_attrs; /* an attribute may hold index expressions over operands */
    bool in_variadic;
    uint8_t attr_count;
    uint16_t in_count;                /* entries of `in` */
    const char *names[OP_INFO_ATTRS]; /* of the attributes of the row */
    str_id keys[OP_INFO_ATTRS];       /* the same */
    attr_id defaults[OP_INFO_ATTRS];
} kind_cache;

typedef struct symbol_slot {
    str_id name; /* 0: empty */
    op_id op;    /* 0: erased */
} symbol_slot;

/* What is known of values, of expressions in a function and of loops while no range changes (verify/ranges.c). */
enum { RANGE_ENTRIES = 64, LOOP_ENTRIES = 16 };
typedef struct range_entry {
    value_id value;
    uint64_t epoch;
    expr_range range;
} range_entry;

typedef struct expr_range_entry {
    expr_id expr;
    op_id function;
    uint64_t epoch;
    expr_range range;
} expr_range_entry;

typedef struct loop_entry {
    op_id loop;
    bool is_never_entered;
    uint64_t epoch;
} loop_entry;

/* The same as long as no range of a value or expression has changed. */
static inline uint64_t range_epoch(const module *m) { return m->epoch - m->rangeless; }

/* An expression, or with OVER_VALUES_ATTR an attribute, of ops with these operands, and what it is over values. */
enum { OVER_VALUES_OPERANDS = 4, OVER_VALUES_FIRST_LOG2 = 8, OVER_VALUES_LAST_LOG2 = 17 };
#define OVER_VALUES_ATTR 0x80000000u
typedef struct over_values {
    uint32_t from;
    uint32_t operand_count;
    value_id operands[OVER_VALUES_OPERANDS];
    uint32_t to;
} over_values;

/* Attributes that fit the row of a kind, of ops with so many operands. */
enum { FITTING_ATTRS = 256 };
typedef struct fitting_attrs {
    op_kind kind;
    uint16_t operand_count;
    attr_id attrs;
} fitting_attrs;

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
    expr_range_entry expr_ranges[RANGE_ENTRIES];
    loop_entry loops[LOOP_ENTRIES];
    over_values *over_values;                    /* NULL: none is kept yet */
    uint32_t over_values_log2, over_values_kept; /* how many places there are, and are in use */
    fitting_attrs fitting[FITTING_ATTRS];        /* verify/verify_row.c */
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

/* The op that has the use in its own record. */
static inline op_id near_use_op(use_id u) { return (u & ~USE_NEAR) / NEAR_OPERANDS; }
/* A use, in the record of its op or apart; without a check that it is live. */
static inline use_record *use_raw(const module *m, use_id u)
{
    if ((u & USE_NEAR) == 0) return &far_use_raw(m, u)->use;
    return &op_raw(m, near_use_op(u))->operands[u % NEAR_OPERANDS];
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
/* Operands and attributes in canonical form (op_create). `operands` points at the given ones, into the form, which is
 * not to be copied therefore, or at scratch that index_form_fini releases. */
enum { INDEX_FORM_NEAR = 8 };
typedef struct index_form {
    uint32_t count;
    const value_id *operands;
    attr_id attrs;
    value_id near[INDEX_FORM_NEAR];
    value_id *scratch; /* of more */
} index_form;
void index_form_init(const module *m, index_form *f, op_kind kind, uint32_t value_count, uint32_t count,
                     const value_id *operands, attr_id attrs);
void index_form_fini(index_form *f);
/* Value operands of an op of this kind with so many operands and results: all, except for rows with index expressions.
 * Loops have a variable number of them: one for each result. The others have the fixed ones of `in`. Rows with an
 * optional operand or a free number of them have no index expressions. */
static inline uint32_t value_operands_of(const module *m, op_kind kind, uint32_t operand_count, uint32_t result_count)
{
    const kind_cache *k = kind_cache_at(m, kind);
    if (!k->index_attrs) return operand_count;
    const uint32_t n = k->in_variadic ? result_count : k->in_count;
    return n < operand_count ? n : operand_count;
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
