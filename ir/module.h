/* Modules: ops, values and blocks, and every way to change them.
 *
 * A module is one tree of ops for all levels. Ops, values and blocks are 32-bit ids into tables of the module; 0 is
 * none. Functions and kernels are ops (`func`, `block.kernel`) in the module's top block; their parameters are the
 * arguments of their body block. Control flow is structured, so a region is exactly one block and an op has zero or
 * more blocks. Records are recycled after erase with a new generation, so that stale handles are noticed.
 *
 * Only the functions here change a module; each bumps `module_epoch` so that "did anything change" is exact.
 * One thread at a time. Everything is released with the module. */
#ifndef IR_MODULE_H
#define IR_MODULE_H

#include "ir/context/context.h"
#include "ir/op_info.h"

typedef uint32_t op_id;
typedef uint32_t value_id;
typedef uint32_t block_id;
typedef uint32_t use_id; /* one operand slot of one op */

typedef struct module module;

/* An empty module in the context, which must outlive it. `name` 0: anonymous. */
module *module_create(ir_context *c, str_id name);
/* Frees all its memory; ids and pointers into it are of no use afterwards. NULL is fine. */
void module_destroy(module *m);
/* A copy in the same context, with the same ids. */
module *module_clone(const module *m);
/* Makes `m` what `from`, an earlier clone of it, is. Ids are those of then; memory of what it drops stays with `m`.
 */
void module_restore(module *m, const module *from);
static inline ir_context *module_context(const module *m);
str_id module_name(const module *m);
attr_id module_attrs(const module *m);
void module_set_attrs(module *m, attr_id dict);
static inline block_id module_top(const module *m);
uint64_t module_epoch(const module *m);
/* Changes with what may change the path of an op. */
uint64_t module_path_epoch(const module *m);
/* Bytes taken for ops, values and uses. */
size_t module_bytes(const module *m);
/* Where the text of the attributes begins; no place when the module was not read from a text, or has none in it. */
void module_set_attrs_pos(module *m, src_pos at);
src_pos module_attrs_pos(const module *m);
/* The file the module was read from; resources are relative to it. */
void module_set_file(module *m, str_id file);
str_id module_file(const module *m);

/* Function or kernel by symbol name; 0 when absent. */
op_id module_find_symbol(const module *m, str_id name);

/* Puts names and use lists into the state that printing and parsing again would make: every value gets a unique name
 * in its function, use lists go in program order. The pass manager calls it after each step, so that a run from a
 * snapshot takes the same decisions as one that never stopped. */
void module_settle(module *m);

/* ---- ops ---- */
typedef struct op_spec {
    op_kind kind;
    loc_id loc;
    uint32_t operand_count;
    const value_id *operands;
    uint32_t result_count;
    const type_id *result_types;
    attr_id attrs; /* dict or 0; values equal to the row's default are dropped */
    uint32_t block_count;
} op_spec;

/* Where to insert: before an op, or at the end of a block when before is 0. */
typedef struct op_place {
    block_id block;
    op_id before;
} op_place;

/* Creates without verification. Expressions in `attrs` may name operands by slot (of `operands`) or values directly
 * (expr_value); index operands are put into canonical form: after the value operands of the row, in the order of
 * their first use by the expressions, none unused, none twice, and the expressions are renumbered to slots. */
op_id op_create(module *m, op_place at, const op_spec *spec);
/* Erases the op with its blocks. BUG when a result still has uses outside. */
void op_erase(module *m, op_id o);
void op_move(module *m, op_id o, op_place to);
/* Deep copy. `map` (from value ids of the source to new ones) is applied to operands and extended by results and
 * block arguments; see value_map below. */
typedef struct value_map value_map;
op_id op_clone(module *m, op_id o, op_place at, value_map *map);

/* False for ids that were erased or never existed; all functions below take live ids. */
static inline bool op_is_live(const module *m, op_id o);
/* op_is_live, and its op_generation is this one. */
static inline bool op_is_live_since(const module *m, op_id o, uint32_t generation);
static inline uint32_t op_generation(const module *m, op_id o);
static inline op_kind op_kind_of(const module *m, op_id o);
static inline const op_info *op_info_of(const module *m, op_id o);
static inline loc_id op_loc(const module *m, op_id o);
void op_set_loc(module *m, op_id o, loc_id l);
src_pos op_pos(const module *m, op_id o); /* first origin */
static inline block_id op_block(const module *m, op_id o);
static inline op_id op_next(const module *m, op_id o);
static inline op_id op_prev(const module *m, op_id o);
static inline op_id op_parent(const module *m, op_id o); /* op that holds the op's block; 0 at top */
op_id op_function(const module *m, op_id o);             /* enclosing func or kernel, itself if it is one; 0 */
bool op_is_before(const module *m, op_id a, op_id b);    /* same block */
/* Hash of kind, operands, attributes and result types; 0 for an op with blocks. */
uint32_t op_hash(const module *m, op_id o);
/* Both without blocks, and of the same kind, operands, attributes and result types. */
bool op_equal(const module *m, op_id a, op_id b);
bool op_is_used(const module *m, op_id o); /* any of its results */

/* Operands in order, index operands included; `i` is below the count. Setting one keeps the use lists right. */
static inline uint32_t op_operand_count(const module *m, op_id o);
static inline value_id op_operand(const module *m, op_id o, uint32_t i);
void op_set_operand(module *m, op_id o, uint32_t i, value_id v);
/* Replaces the whole operand list (and the attributes, since expressions count operands); canonical as op_create. */
void op_set_operands(module *m, op_id o, uint32_t count, const value_id *operands, attr_id attrs);
/* How many operands come before the index operands. */
uint32_t op_value_operand_count(const module *m, op_id o);
/* Value operand `i`; 0 when there are fewer. */
value_id op_find_operand(const module *m, op_id o, uint32_t i);
static inline uint32_t op_result_count(const module *m, op_id o);
static inline value_id op_result(const module *m, op_id o, uint32_t i);
static inline attr_id op_attrs(const module *m, op_id o);
void op_set_attrs(module *m, op_id o, attr_id dict);
/* One attribute; the row's default when absent; 0 when neither. */
attr_id op_attr(const module *m, op_id o, const char *name);
attr_id op_given_attr(const module *m, op_id o, const char *name); /* 0 when absent */
attr_id op_attr_by_key(const module *m, op_id o, str_id key);
void op_set_attr(module *m, op_id o, const char *name, attr_id value);
int64_t op_attr_int(const module *m, op_id o, const char *name, int64_t absent);
str op_attr_str(const module *m, op_id o, const char *name); /* {NULL,0} when absent */
static inline uint32_t op_block_count(const module *m, op_id o);
static inline block_id op_block_at(const module *m, op_id o, uint32_t i);

/* ---- blocks ----
 * Ids are live ones: another is a BUG, except where liveness is asked. First and last: 0 in an empty block. Arguments
 * count from 0; a new one is the last, and an erased one lets the later ones move up. A generation is new each time
 * that a number is used again. */
static inline op_id block_parent(const module *m, block_id b); /* 0 for the top block */
static inline op_id block_first(const module *m, block_id b);
static inline op_id block_last(const module *m, block_id b);
static inline uint32_t block_arg_count(const module *m, block_id b);
static inline value_id block_arg(const module *m, block_id b, uint32_t i);
value_id block_add_arg(module *m, block_id b, type_id type);
void block_erase_arg(module *m, block_id b, uint32_t i); /* BUG when used */
static inline uint32_t block_generation(const module *m, block_id b);
static inline bool block_is_live(const module *m, block_id b);

/* ---- values ----
 * As of blocks. Uses of a value form a list, the oldest first, which ends with 0; the slot of a use is its number among
 * all operands of the op, index operands included. */
static inline bool value_is_live(const module *m, value_id v);
/* value_is_live, and its value_generation is this one. */
static inline bool value_is_live_since(const module *m, value_id v, uint32_t generation);
static inline uint32_t value_generation(const module *m, value_id v);
static inline type_id value_type(const module *m, value_id v);
void value_set_type(module *m, value_id v, type_id t);
static inline op_id value_op(const module *m, value_id v);       /* defining op; 0 for a block argument */
static inline block_id value_block(const module *m, value_id v); /* owner of a block argument; 0 for a result */
static inline uint32_t value_index(const module *m, value_id v);
use_id value_first_use(const module *m, value_id v);
use_id use_next(const module *m, use_id u);
op_id use_op(const module *m, use_id u);
uint32_t use_slot(const module *m, use_id u);
void value_replace_all(module *m, value_id v, value_id by);
/* Names: a base and, when the text ends in digits without leading zeros, a number. */
typedef struct value_name {
    str_id base;     /* 0: the name is the number alone */
    uint32_t number; /* VALUE_NO_NUMBER: no digits */
} value_name;
#define VALUE_NO_NUMBER 0xffffffffu
value_name value_name_of(const module *m, value_id v);
/* A new value carries a hint until module_settle makes it unique. */
void value_set_name(module *m, value_id v, str text);
void value_set_name_parts(module *m, value_id v, value_name n);
void value_print_name(const module *m, value_id v, text_buffer *out); /* with the `%` */

/* ---- symbols, functions, levels ---- */
/* Of a function or kernel: its name without `@`, which is unique in the module, and its one block. */
str_id function_name(const module *m, op_id f);
void function_set_name(module *m, op_id f, str_id name);
block_id function_body(const module *m, op_id f);
/* How a function takes a parameter: "in", "out", "inout" or "const"; "in" where it does not say. */
str function_param_mode(const module *m, op_id f, uint32_t parameter);
/* The number of the `inout` tensor whose memory a result of the function is; UINT32_MAX: it has its own. */
uint32_t function_alias(const module *m, op_id f, uint32_t result);
/* Whether the function declares that the memory of two of its parameters and results, numbered in this order, may
 * overlap. */
bool function_may_alias(const module *m, op_id f, uint32_t a, uint32_t b);
/* The level of a function: that of the first op with a level in it; for a function without any, tensor/1 when its
 * body makes or its signature returns a tensor, else none: what it does belongs to every level. Kernels are block/1. */
ir_level function_level(const module *m, op_id f);

/* ---- walking: the op and everything inside it, in print order. IR_WALK finds the next op before its body runs: the
 * body may erase or move the current op when it holds no other op, and must not erase the next one; an op created right
 * after the current one is not visited. The same holds for BLOCK_EACH_OP and VALUE_EACH_USE with their steps. ---- */
op_id walk_next(const module *m, op_id root, op_id current); /* pre-order; 0 at the end */
/* The next one that is not inside `current`. */
op_id walk_skip(const module *m, op_id root, op_id current);
/* Whether an op of one of the kinds (op_kind) is anywhere in the module. */
bool module_has_op(const module *m, const uint32_t *kinds, uint32_t count);
/* walk_next, and in `out_behind` walk_skip. */
op_id walk_on(const module *m, op_id root, op_id current, op_id *out_behind);
#define IR_WALK(m, o, root)                                         \
    for (op_id o = (root), o##_next = walk_next((m), o, o); o != 0; \
         o = o##_next, o##_next = o == 0 ? 0 : walk_next((m), (root), o))
#define BLOCK_EACH_OP(m, o, b)                                                             \
    for (op_id o = block_first((m), (b)), o##_next = o == 0 ? 0 : op_next((m), o); o != 0; \
         o = o##_next, o##_next = o == 0 ? 0 : op_next((m), o))
#define VALUE_EACH_USE(m, u, v)                                                                  \
    for (use_id u = value_first_use((m), (v)), u##_next = u == 0 ? 0 : use_next((m), u); u != 0; \
         u = u##_next, u##_next = u == 0 ? 0 : use_next((m), u))

/* All ops of the module's functions, these included. */
uint32_t module_count_ops(const module *m);

/* A map on the heap: the caller destroys it. Putting a value again replaces what it maps to. */
value_map *value_map_create(void);
void value_map_destroy(value_map *map);
void value_map_put(value_map *map, value_id from, value_id to);
value_id value_map_get(const value_map *map, value_id from); /* `from` itself when absent */

/* ---- paths: how diagnostics, traces and schedules name an op in text; op_path.c ----
 *     @softmax        a function or kernel
 *     @softmax/y      the op in it that is called y
 *     @softmax/y#2    the second one of that name, in the order of the text
 * An op is called by its label (`forall`, `tensor.group`), else by the name of its first result, else by the symbol
 * that it declares (`tune`), else by its kind ("tile.store"). What is in a label and belongs to no word prints as
 * `_`. Blocks are not part of a path: names are unique in a function once module_settle has seen them, so that `#` is
 * seen at ops without results, at labels, and in the middle of a step. In a module that verifies, paths are unique; to
 * make or erase an op that is called otherwise does not change them. */

/* Appends the path of a live op. Takes time in the length of its function. */
void op_print_path(const module *m, op_id o, text_buffer *out);
/* The op with this path, 0 when there is none; "#1" may follow a name. The same time. */
op_id op_by_path(const module *m, str path);

/* The paths of all ops of one function, for callers that need many: takes time in its length once, and holds while the
 * function does not change. Lives in `a`. */
typedef struct path_table path_table;
path_table *path_table_create(arena *a, const module *m, op_id function);
/* As op_print_path, for an op of that function. */
void path_table_print(const path_table *t, op_id o, text_buffer *out);

/* The next report to this engine is about this op (0: none), so that it prints the path, once. */
void op_name_diag(diag_engine *d, const module *m, op_id o, diag_severity severity);

/* Expression number `index` of a list attribute (SPEC_EXPRS) with its slots replaced by value leaves, so that
 * expressions of different ops can be combined and compared; 0 when absent. */
expr_id op_index_expr(const module *m, op_id o, const char *attr, uint32_t index);
uint32_t op_index_count(const module *m, op_id o, const char *attr);
/* An attribute of the op with value leaves for the slots of its expressions, in lists too. */
attr_id op_attr_over_values(const module *m, op_id o, attr_id a);
/* True when both denote the same number for all values: the difference simplifies to 0. */
bool expr_same(ir_context *c, expr_id a, expr_id b);

/* Valid rows and columns of a tile value, over symbols and value leaves, by the rule of its producer; false when the
 * producer has none (a malformed module, reported by the verifier). `column` 0: rows, 1: columns. */
bool tile_valid(const module *m, value_id tile, expr_id out[2]);

#include "ir/module_read.h" // NOLINT(misc-header-include-cycle): bodies of functions above

#endif
