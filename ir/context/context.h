/* The context: everything that is uniqued and shared by all modules of a session.
 *
 * Strings, expressions, types, attributes and locations are 32-bit ids; equal content means equal id, 0 means
 * none. Ids stay valid as long as the context. One thread at a time. */
#ifndef IR_CONTEXT_CONTEXT_H
#define IR_CONTEXT_CONTEXT_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"
#include "ir/context/role_names.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t str_id;
typedef uint32_t expr_id;
typedef uint32_t type_id;
typedef uint32_t attr_id;
typedef uint32_t loc_id;

typedef struct ir_context ir_context;
typedef struct op_table op_table; /* ir/op_table.h */

/* The diagnostic engine must outlive the context. */
ir_context *context_create(diag_engine *diags);
void context_destroy(ir_context *c);
diag_engine *context_diags(const ir_context *c);
/* What takes long looks at `stop` now and then, and stops after a diagnostic when it is not 0. */
void context_set_stop(ir_context *c, const _Atomic uint32_t *stop);
bool context_should_stop(const ir_context *c);
arena *context_arena(const ir_context *c);
/* The ops that its modules may hold, before the first module is made; NULL, as at first: the rows of ir/ops alone. */
void context_set_ops(ir_context *c, op_table *ops);
op_table *context_ops(const ir_context *c);

/* ---- strings ---- */
/* The id of a text, the same for the same bytes as long as the context lives; the text is copied. `_z`: of one that
 * ends in NUL. */
str_id string_intern(ir_context *c, str s);
str_id string_intern_z(ir_context *c, const char *s);
static inline str string_of(const ir_context *c, str_id id); /* always NUL-terminated after n */

/* ---- element types, spaces, layouts ---- */
typedef enum dtype {
    DTYPE_NONE,
#define DTYPE(ID, text, ...) DTYPE_##ID,
#include "ir/ops/types.def"
    DTYPE_COUNT
} dtype;
typedef enum dtype_class {
    DTYPE_CLASS_NONE,
    DTYPE_CLASS_FLOAT,
    DTYPE_CLASS_SINT,
    DTYPE_CLASS_UINT,
    DTYPE_CLASS_BOOL,
    DTYPE_CLASS_INDEX,
    DTYPE_CLASS_OPAQUE /* no number: mask and rec64, elements of tiles */
} dtype_class;
/* Ids of role_names.h; 0 is none. */
typedef uint32_t space;
typedef uint32_t layout;
enum { SPACE_NONE = 0 /* printed `?` */, LAYOUT_NONE = 0 /* not decided yet; not printed */ };

/* By the rows of ops/types.def: how the text spells a type, its bits and its class. The texts are static. */
const char *dtype_name(dtype d);
uint32_t dtype_bits(dtype d);
uint32_t dtype_bytes(dtype d); /* of one element in memory; of mask, which packs 8 in a byte, 1: see tile_row_bytes */
dtype_class dtype_class_of(dtype d);
/* What MLIR calls it; NULL: as dtype_name. */
const char *dtype_mlir(dtype d);
dtype dtype_by_name(str s); /* DTYPE_NONE when unknown */
/* Memory spaces, pipes and layouts of the session: those of ir/ops, of the machine, and what modules declare. */
role_names *context_names(const ir_context *c);
const char *space_name(const ir_context *c, space s);
space space_by_name(const ir_context *c, str s);        /* SPACE_NONE when unknown */
space_role space_role_of(const ir_context *c, space s); /* SPACE_ROLE_NONE for SPACE_NONE */
const char *layout_name(const ir_context *c, layout l);
layout layout_by_name(const ir_context *c, str s);           /* LAYOUT_NONE when unknown */
layout_order layout_order_of(const ir_context *c, layout l); /* ORDER_NONE for LAYOUT_NONE */

/* ---- index expressions ----
 * Over symbols ($B), operand slots (d0, d1, ...: operand numbers of the op that holds the expression) and 64-bit
 * constants. Uniqued and simplified on creation: constants fold, like terms of a sum merge, min and max flatten and
 * drop duplicates, x floordiv 1, x mod 1 and the like vanish, (c*k*x) floordiv k cancels.
 * Terms without slots are in one canonical order; terms with slots keep the order in which they were written, so
 * that printing and parsing again makes the same text whatever the slot numbers are. */
typedef enum expr_kind {
    EXPR_NONE,
#define EXPR_KIND(ID, doc) EXPR_##ID,
#include "ir/ops/kinds.def"
} expr_kind;

typedef struct expr_node {
    uint8_t kind;
    bool has_slot; /* or a value leaf */
    bool has_symbol;
    uint8_t depth; /* 1 for a leaf */
    uint16_t arg_count;
    uint16_t size; /* nodes when written out as a tree */
    int64_t value;
    const expr_id *args; /* in print order */
    const int64_t *coefs;
} expr_node;

/* Beyond these a builder fails. They bound the recursion and the work of everything that walks an expression. */
enum { EXPR_MAX_DEPTH = 64, EXPR_MAX_ARGS = 256, EXPR_MAX_SIZE = 16384 };

/* The node stays where it is as long as the context. Of 0: a node of kind EXPR_NONE. */
static inline const expr_node *expr_at(const ir_context *c, expr_id e);
/* Whether there is such a number, made from none or from a wild one; 0 is none. So with the others below. */
static inline bool expr_exists(const ir_context *c, expr_id e);
/* Builders return 0 when a constant or coefficient leaves -(2^63 - 1) .. 2^63 - 1, when a divisor is a constant below
 * 1, or beyond the limits above; nothing is reported. A zero operand makes zero, so errors may be tested once at the
 * end. What is simplified away is no longer evaluated: 0 * ($A floordiv $B) is 0 whatever $B is. */
expr_id expr_const(ir_context *c, int64_t v);
expr_id expr_symbol(ir_context *c, str_id name);
expr_id expr_slot(ir_context *c, uint32_t slot);
expr_id expr_value(ir_context *c, uint32_t value);
expr_id expr_add(ir_context *c, expr_id a, expr_id b);
expr_id expr_sub(ir_context *c, expr_id a, expr_id b);
expr_id expr_mul(ir_context *c, expr_id a, expr_id b);
expr_id expr_floordiv(ir_context *c, expr_id a, expr_id b);
expr_id expr_ceildiv(ir_context *c, expr_id a, expr_id b);
expr_id expr_mod(ir_context *c, expr_id a, expr_id b);
expr_id expr_min(ir_context *c, expr_id a, expr_id b);
expr_id expr_max(ir_context *c, expr_id a, expr_id b);
static inline bool expr_is_const(const ir_context *c, expr_id e, int64_t *out);
/* The greatest one of both, which are above INT64_MIN; of 0 and 0 it is 0. */
int64_t common_divisor(int64_t a, int64_t b);

/* Replaces leaves; the callbacks return 0 to keep one as it is. Any may be NULL. */
typedef struct expr_substitution {
    expr_id (*symbol)(void *self, str_id name);
    expr_id (*slot)(void *self, uint32_t slot);
    expr_id (*value)(void *self, uint32_t value);
    void *self;
} expr_substitution;
expr_id expr_substitute(ir_context *c, expr_id e, const expr_substitution *s);

/* Evaluates. The callbacks return false when a name has no value. Fails (false) also on overflow and on division
 * by a value that is not positive. */
typedef struct expr_values {
    bool (*symbol)(void *self, str_id name, int64_t *out);
    bool (*slot)(void *self, uint32_t slot, int64_t *out);
    bool (*value)(void *self, uint32_t value, int64_t *out);
    void *self;
} expr_values;
bool expr_eval(const ir_context *c, expr_id e, const expr_values *v, int64_t *out);

/* Interval of an expression when every symbol and slot lies in the interval that its callback returns (false: unknown).
 * INT64_MIN / INT64_MAX stand for "no bound". Symbols are at least 0 unless a fact says more. */
typedef struct expr_range {
    int64_t lo, hi;
} expr_range;
typedef struct expr_ranges {
    bool (*symbol)(void *self, str_id name, expr_range *out);
    bool (*slot)(void *self, uint32_t slot, expr_range *out);
    bool (*value)(void *self, uint32_t value, expr_range *out);
    void *self;
} expr_ranges;
expr_range expr_bounds(const ir_context *c, expr_id e, const expr_ranges *r);

/* Prints with `slot_text` for slots; NULL prints d0, d1, ... Precedence as in the grammar, fewest parentheses. */
typedef void (*expr_slot_printer)(void *self, text_buffer *out, uint32_t slot);
void expr_print(const ir_context *c, expr_id e, text_buffer *out, expr_slot_printer slot_text, void *self);

/* Calls `visit` for each slot in print order, repeated ones too. */
void expr_visit_slots(const ir_context *c, expr_id e, void (*visit)(void *self, uint32_t slot), void *self);
void expr_visit_symbols(const ir_context *c, expr_id e, void (*visit)(void *self, str_id name), void *self);
void expr_visit_values(const ir_context *c, expr_id e, void (*visit)(void *self, uint32_t value), void *self);

/* ---- types ---- */
enum {
#define LIMIT(ID, number, doc) IR_##ID = number,
#include "ir/ops/kinds.def"
    TYPE_MAX_RANK = IR_MAX_DIMS
};
typedef enum type_kind {
    TYPE_NONE,
#define TYPE_KIND(ID) TYPE_##ID,
#include "ir/ops/kinds.def"
} type_kind;
typedef enum tensor_format { FORMAT_ND, FORMAT_NZ, FORMAT_PANEL } tensor_format;
typedef enum channel_via { VIA_GM, VIA_DIRECT } channel_via;
enum { CHANNEL_MAX_DEPTH = 64, MASK_ROW_BYTES = 32 };

typedef struct type_node {
    uint8_t kind;   /* type_kind */
    uint8_t dtype;  /* dtype; DTYPE_NONE for buffer */
    uint8_t rank;   /* tensor, gm: 0..8; tile, channel: 2 */
    uint8_t space;  /* tile; channel: of its tiles */
    uint8_t layout; /* tile; channel: of its tiles */
    uint8_t via;    /* channel: channel_via */
    uint8_t format; /* tensor, gm: tensor_format */
    uint8_t has_strides;
    int32_t panel[3];               /* kb, nb, interleave when format is FORMAT_PANEL */
    int32_t depth;                  /* channel: tiles it holds, 1..CHANNEL_MAX_DEPTH */
    expr_id dims[TYPE_MAX_RANK];    /* symbols and constants only; tile, channel: constants, rows then columns */
    expr_id strides[TYPE_MAX_RANK]; /* gm, in elements; all 0 when has_strides is 0 (contiguous) */
} type_node;

/* Interns a copy. The caller has checked it (type_check) or built it from a checked one. */
type_id type_intern(ir_context *c, const type_node *t);
static inline const type_node *type_at(const ir_context *c, type_id t);
static inline bool type_exists(const ir_context *c, type_id t);
type_id type_scalar(ir_context *c, dtype d);
type_id type_tensor(ir_context *c, dtype d, uint32_t rank, const expr_id *dims);
type_id type_gm(ir_context *c, dtype d, uint32_t rank, const expr_id *dims);
type_id type_tile(ir_context *c, dtype d, int64_t rows, int64_t columns, space s, layout l);
type_id type_buffer(ir_context *c);
type_id type_channel(ir_context *c, type_id tile, int32_t depth, channel_via via);
/* The type of the tiles of a channel. */
type_id channel_tile(ir_context *c, type_id channel);
/* Bytes of a tile of `rows` x `columns` elements: rows of a mask (columns, where the layout is column-major) are packed
 * bits, the first one in the lowest bit, each row from a multiple of MASK_ROW_BYTES on. Fails (false) beyond 63 bits.
 */
bool tile_bytes(dtype d, bool is_column_major, int64_t rows, int64_t columns, int64_t *out);
/* What keeps a type from being one, in words for a message: an element type where none of its kind is allowed. NULL:
 * nothing. */
const char *type_misfit(const ir_context *c, const type_node *t);
/* Number of elements as an expression; 0 on overflow. */
expr_id type_element_count(ir_context *c, type_id t);
void type_print(const ir_context *c, type_id t, text_buffer *out);
type_id type_substitute(ir_context *c, type_id t, const expr_substitution *s);

/* ---- attributes ---- */
typedef enum attr_kind {
    ATTR_NONE,
#define ATTR_KIND(ID, words, doc) ATTR_##ID,
#include "ir/ops/kinds.def"
} attr_kind;

typedef struct attr_node {
    uint8_t kind;
    uint8_t nesting; /* lists and dicts in each other, this one included; 255 stands for more too */
    bool has_slot;   /* an expression in it has one, or a value leaf */
    bool has_symbol; /* an expression in it has one, or there is a type in it */
    bool is_large;   /* of an integer: above INT64_MAX, `i` has the bits */
    uint32_t count;
    union {
        int64_t i;
        double f;
        uint32_t id;
    };
    const attr_id *items;
    const str_id *keys;
    type_id type;
    const uint8_t *bytes;
    uint32_t byte_count;
} attr_node;

/* The node of an attribute that exists; it lives and stays in place as long as the context. */
static inline const attr_node *attr_at(const ir_context *c, attr_id a);
/* The value of an integer. */
static inline double attr_number(const attr_node *n) { return n->is_large ? (double)(uint64_t)n->i : (double)n->i; }
/* False for 0 and for numbers that were never handed out. */
static inline bool attr_exists(const ir_context *c, attr_id a);
/* Interned: equal values have one id. Ids that are arguments must exist. */
attr_id attr_bool(ir_context *c, bool v);
attr_id attr_int(ir_context *c, int64_t v);
attr_id attr_uint(ir_context *c, uint64_t v);
attr_id attr_float(ir_context *c, double v);
attr_id attr_string(ir_context *c, str_id s);
attr_id attr_symbol(ir_context *c, str_id s);
attr_id attr_type(ir_context *c, type_id t);
attr_id attr_expr(ir_context *c, expr_id e);
attr_id attr_list(ir_context *c, uint32_t count, const attr_id *items);
/* Sorts; keys must differ. No keys: 0, the empty dict as ops hold it. */
attr_id attr_dict(ir_context *c, uint32_t count, const str_id *keys, const attr_id *values);
/* The empty dict as an item or value of another attribute, where 0 would mean none. */
attr_id attr_dict_empty(ir_context *c);
attr_id attr_dense(ir_context *c, type_id type, uint32_t byte_count, const void *bytes);
attr_id attr_resource(ir_context *c, str_id file);
/* Value of a key of a dict (or of 0, the empty dict); 0 when absent. */
static inline attr_id attr_get(const ir_context *c, attr_id dict, str_id key);
/* The dict with one key set, or removed when value is 0; 0 when no key is left. */
attr_id attr_with(ir_context *c, attr_id dict, str_id key, attr_id value);

/* ---- locations ----
 * Most locations are a line and a column of the module's own file and cost nothing; others are interned. */
loc_id loc_make(ir_context *c, str_id file, uint32_t line, uint32_t column);
/* All origins of a fused op, in order, without repetition. */
loc_id loc_fuse(ir_context *c, uint32_t count, const loc_id *locs);
uint32_t loc_count(const ir_context *c, loc_id l); /* number of origins, 1 for a plain one, 0 for none */
src_pos loc_at(const ir_context *c, loc_id l, uint32_t index);
bool loc_exists(const ir_context *c, loc_id l);
/* The file that the plain line-and-column locations refer to: one for a context at a time. Set by the parser. */
void loc_set_main_file(ir_context *c, str_id file);

#include "ir/context/context_read.h" // NOLINT(misc-header-include-cycle): bodies of functions above

#endif
