/* The plugin ABI: handles, the host table, descriptors. Plugin authors include <pto/plugin.h>, which adds wrappers.
 *
 * Rules of the boundary. Every struct begins with struct_size, filled by its producer with its own sizeof; a reader
 * touches a field only under PTO_HAS. Arrays of pointers, never of structs (handles excepted). No bool, bitfield, long,
 * union by value, varargs, FILE or errno crosses. Nobody frees the other's memory. What the host hands out lives until
 * the call of run(), prepare() or execute() it was handed out in returns, unless said otherwise. Text is UTF-8.
 * Threads: a pto_run belongs to the thread that got it.
 * The process belongs to the host. A plugin leaves as it found them: floating point (rounding, traps, denormals), the
 * locale of the thread, the working folder, the umask, the standard files. The host puts them back when a call returns,
 * or when the file is loaded, and warns; it cannot where a plugin closed descriptors that it did not open, and ends.
 * Handlers of SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ and SIGCHLD, the signal mask and the global locale do
 * not last longer than a compile or a run. SIGPIPE has no effect: a write to a closed pipe fails. What is printed goes
 * to standard error. A process that a plugin forks ends with the thread that forked it; every process that it starts
 * ends with the tool. Versions: ABI major 1; a minor only appends. */
#ifndef PTO_ABI_H
#define PTO_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifndef PTO_ABI_MAJOR
#define PTO_ABI_MAJOR 1
#endif
#ifndef PTO_ABI_MINOR
#define PTO_ABI_MINOR 0 /* what this header describes */
#endif
#ifndef PTO_ABI_LEAST_MINOR
#define PTO_ABI_LEAST_MINOR PTO_ABI_MINOR /* the oldest host minor the plugin can live with */
#endif
#ifndef PTO_ABI_DRAFT
#define PTO_ABI_DRAFT 1 /* while set, minors must be equal */
#endif

#define PTO_HAS(p, field) ((p)->struct_size >= offsetof(__typeof__(*(p)), field) + sizeof((p)->field))

typedef int32_t pto_status;
enum { PTO_OK = 0, PTO_FAILED = -1, PTO_CHANGED = 1 }; /* CHANGED: only from patterns */

typedef struct pto_str {
    const char *p;
    size_t n;
} pto_str;

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pto_host pto_host;
struct pto_tiling;
struct pto_tiling_problem;
struct pto_decision;
struct pto_backend;

/* One run of one plugin function on one unit. Handles hold its address. */
typedef struct pto_run {
    uint32_t struct_size;
    uint32_t kind_count; /* of `kinds` */
    const pto_host *host;
    const uint32_t *kinds; /* op kinds (pto_kind_id) of the plugin's own list, in its order */
} pto_run;

/* Handles: passed by value, two registers. index 0 is none. A stale or foreign handle is a diagnostic that blames the
 * plugin; the call then returns none, 0 or PTO_FAILED. So is an expression over a value that was erased. Calls of the
 * host return: a plugin does not jump out of its own callbacks. */
typedef struct pto_op {
    const pto_run *run;
    uint32_t index, generation;
} pto_op;
typedef struct pto_value {
    const pto_run *run;
    uint32_t index, generation;
} pto_value;
typedef struct pto_block {
    const pto_run *run;
    uint32_t index, generation;
} pto_block;
typedef struct pto_type {
    const pto_run *run;
    uint32_t index, generation;
} pto_type;
typedef struct pto_attr {
    const pto_run *run;
    uint32_t index, generation;
} pto_attr;
typedef struct pto_expr {
    const pto_run *run;
    uint32_t index, generation;
} pto_expr;
typedef struct pto_loc {
    const pto_run *run;
    uint32_t index, generation;
} pto_loc;
/* Kind of an op, valid for the session. 0 is none. */
typedef uint32_t pto_kind_id;

/* ---- enumerations: numbers are part of the ABI; <pto/names.h> has the words of the IR text for them ---- */
#define PTO_ENUMERATOR(ID, ...) PTO_##ID,

typedef uint32_t pto_dtype;
#define PTO_DTYPES(X) /* name, text, bytes */ \
    X(F32, "f32", 4)                          \
    X(F16, "f16", 2)                          \
    X(BF16, "bf16", 2)                        \
    X(F8E4M3, "f8e4m3", 1)                    \
    X(F8E5M2, "f8e5m2", 1)                    \
    X(F8E8M0, "f8e8m0", 1)                    \
    X(I8, "i8", 1)                            \
    X(I16, "i16", 2)                          \
    X(I32, "i32", 4)                          \
    X(I64, "i64", 8)                          \
    X(U8, "u8", 1)                            \
    X(U16, "u16", 2)                          \
    X(U32, "u32", 4)                          \
    X(U64, "u64", 8)                          \
    X(BOOL, "bool", 1)                        \
    X(INDEX, "index", 8)                      \
    X(MASK, "mask", 1) /* packed bits */      \
    X(REC64, "rec64", 8)
enum { PTO_DTYPE_NONE, PTO_DTYPES(PTO_ENUMERATOR) PTO_DTYPE_COUNT };

typedef uint32_t pto_space;
#define PTO_SPACES(X)     \
    X(VEC, "vec")         \
    X(MAT, "mat")         \
    X(LEFT, "left")       \
    X(RIGHT, "right")     \
    X(ACC, "acc")         \
    X(BIAS, "bias")       \
    X(SCALING, "scaling") \
    X(GM, "gm")
enum { PTO_SPACE_NONE, PTO_SPACES(PTO_ENUMERATOR) PTO_SPACE_COUNT };

typedef uint32_t pto_layout;
#define PTO_LAYOUTS(X) \
    X(ND, "nd")        \
    X(DN, "dn")        \
    X(NZ, "nz")        \
    X(ZN, "zn")        \
    X(ZZ, "zz")        \
    X(NN, "nn")
enum { PTO_LAYOUT_NONE, PTO_LAYOUTS(PTO_ENUMERATOR) PTO_LAYOUT_COUNT };

/* Units of a core, and the pipes that feed them. NONE: the memory spaces of the operands decide. ALL: in barriers. */
enum {
    PTO_PIPE_NONE,
#define UNIT(ID, ...) PTO_PIPE_##ID,
#include <pto/ops/units.def>
    PTO_PIPE_ALL,
    PTO_PIPE_COUNT
};

typedef uint32_t pto_type_kind;
enum { PTO_TYPE_NONE, PTO_TYPE_SCALAR, PTO_TYPE_TENSOR, PTO_TYPE_GM, PTO_TYPE_TILE, PTO_TYPE_BUFFER, PTO_TYPE_CHANNEL };
typedef uint32_t pto_expr_kind;
enum {
    PTO_EXPR_NONE,
    PTO_EXPR_CONST,
    PTO_EXPR_SYMBOL,
    PTO_EXPR_SLOT,
    PTO_EXPR_VALUE,
    PTO_EXPR_SUM,
    PTO_EXPR_PRODUCT,
    PTO_EXPR_FLOORDIV,
    PTO_EXPR_CEILDIV,
    PTO_EXPR_MOD,
    PTO_EXPR_MIN,
    PTO_EXPR_MAX
};
typedef uint32_t pto_attr_kind;
enum {
    PTO_ATTR_NONE,
    PTO_ATTR_BOOL,
    PTO_ATTR_INT,
    PTO_ATTR_FLOAT,
    PTO_ATTR_STRING,
    PTO_ATTR_SYMBOL,
    PTO_ATTR_TYPE,
    PTO_ATTR_EXPR,
    PTO_ATTR_LIST,
    PTO_ATTR_DICT,
    PTO_ATTR_DENSE,
    PTO_ATTR_RESOURCE
};
enum { PTO_NOTE, PTO_WARNING, PTO_ERROR, PTO_REMARK };
enum { PTO_PARALLEL = 1, PTO_REDUCE = 2 };
enum { PTO_INTERVAL_MIN = -1, PTO_MAX_DIMS = 8, PTO_MAX_SPACE_OPERANDS = 6 };
/* Traits of op rows that passes may ask for. */
enum {
    PTO_TRAIT_PURE = 1,
    PTO_TRAIT_COMMUTATIVE = 2,
    PTO_TRAIT_TERMINATOR = 4,
    PTO_TRAIT_FUNCTION = 8,
    PTO_TRAIT_LOOP = 16,
    PTO_TRAIT_CONSTANT = 32,
    PTO_TRAIT_DESCRIPTOR = 64,
    PTO_TRAIT_SYNC = 128
};
/* Numeric columns of an op row; see pto_kind_column. Values of RULE and TMP are those of <pto/insn.h>. */
enum {
    PTO_COLUMN_TRAITS,
    PTO_COLUMN_RULE,
    PTO_COLUMN_TMP,
    PTO_COLUMN_UNIT, /* PTO_PIPE_* */
    PTO_COLUMN_PARTNER,
    PTO_COLUMN_DTYPES,
    PTO_COLUMN_SPACE_RULE,
    PTO_COLUMN_ULP,          /* how far a result may be off, in units of its last place; 0: correctly rounded */
    PTO_COLUMN_ARGUMENT_ULP, /* and how far what its function is taken of */
    /* Sets of operands of an instruction or value form, bit i for operand i; see <pto/operands.h>. */
    PTO_COLUMN_WRITTEN,
    PTO_COLUMN_SCRATCH,
    PTO_COLUMN_IN_PLACE,
    PTO_COLUMN_CONTINUED
};

/* A place to insert at: before an op, or at the end of a block. */
typedef struct pto_place {
    pto_block block;
    pto_op before; /* none: at the end of block */
} pto_place;

/* What to build. Expressions inside attrs name values directly (pto_expr_value): the host makes index operands of them.
 */
typedef struct pto_op_spec {
    uint32_t struct_size;
    pto_kind_id kind;
    pto_loc loc; /* none: that of the op at the place of insertion; in a module without ops, its first line */
    uint32_t operand_count, result_count, attr_count, block_count;
    const pto_value *operands; /* value operands, without index operands */
    const pto_type *result_types;
    const char *const *attr_names;
    const pto_attr *attrs;
    pto_str name; /* base name for the first result; empty: derived from the kind */
} pto_op_spec;

/* Iteration space of a structured tensor op: its dims, and which of them each dim of an operand and of
 * the result walks. */
typedef struct pto_iteration {
    uint32_t struct_size;
    uint32_t dim_count, operand_count, operand_rank[PTO_MAX_SPACE_OPERANDS], result_rank;
    pto_expr extent[PTO_MAX_DIMS];
    uint8_t kind[PTO_MAX_DIMS]; /* PTO_PARALLEL, PTO_REDUCE */
    int8_t operand_dim[PTO_MAX_SPACE_OPERANDS]
                      [PTO_MAX_DIMS]; /* dim of the space that operand dim d walks; -1: extent 1 */
    int8_t result_dim[PTO_MAX_DIMS];
} pto_iteration;

/* A rewrite pattern: returns PTO_CHANGED when it changed something, PTO_OK when not, PTO_FAILED after a diagnostic.
 * It may erase or replace `op` and anything it dominates. */
typedef struct pto_pattern {
    uint32_t struct_size;
    pto_kind_id kind; /* 0: every op */
    pto_status (*rewrite)(const pto_run *run, pto_op op);
} pto_pattern;

/* Leaves of an expression to values while evaluating or bounding; see expr_eval and expr_range. */
typedef struct pto_expr_env {
    uint32_t struct_size;
    uint32_t reserved;
    void *self;
    /* Gives lo and hi of a symbol (name) or value (leaf); equal when known exactly. 0: unknown. */
    int32_t (*symbol)(void *self, pto_str name, int64_t *lo, int64_t *hi);
    int32_t (*value)(void *self, pto_value v, int64_t *lo, int64_t *hi);
} pto_expr_env;

struct pto_host {
    uint32_t struct_size;
    uint32_t abi_minor;

    /* ---- run services ---- */
    void *(*scratch)(const pto_run *, size_t bytes); /* zeroed, 16-byte aligned, until the call returns */
    void *(*keep)(const pto_run *, size_t bytes);    /* zeroed, until release() of a backend or the session's end */
    void (*diag)(const pto_run *, int32_t severity, pto_loc at, pto_str code, pto_str text);
    /* 0: go on; 1: the time is up: fail. Who knows more than in which step reports <plugin>/interrupted first. */
    int32_t (*should_stop)(const pto_run *);
    void (*stat_add)(const pto_run *, uint32_t stat, int64_t delta);
    pto_kind_id (*kind)(const pto_run *, uint32_t index); /* of the plugin's own kind list */
    pto_kind_id (*kind_by_name)(const pto_run *, pto_str name);
    pto_str (*kind_name)(const pto_run *, pto_kind_id);
    int64_t (*kind_column)(const pto_run *, pto_kind_id, uint32_t column);
    pto_str (*kind_cost)(const pto_run *, pto_kind_id); /* cost class */

    /* ---- options, by position in the descriptor's list ---- */
    int64_t (*opt_i64)(const pto_run *, uint32_t option); /* bool, i64, bytes; enum: index of the choice */
    double (*opt_f64)(const pto_run *, uint32_t option);
    pto_str (*opt_str)(const pto_run *, uint32_t option); /* str, enum */
    uint32_t (*opt_list)(const pto_run *, uint32_t option, const int64_t **items);
    int32_t (*opt_is_set)(const pto_run *, uint32_t option); /* given by the user, not by default */

    /* ---- machine description: paths such as "spaces.vec.bytes" ---- */
    pto_status (*machine_i64)(const pto_run *, pto_str path,
                              int64_t *out); /* PTO_FAILED: absent; nothing is reported */
    pto_status (*machine_f64)(const pto_run *, pto_str path, double *out);
    pto_status (*machine_str)(const pto_run *, pto_str path, pto_str *out);

    /* ---- module ---- */
    pto_block (*module_top)(const pto_run *); /* functions and kernels are the ops in it */
    pto_op (*symbol_find)(const pto_run *, pto_str name);
    pto_attr (*module_attr)(const pto_run *, pto_str name);
    pto_status (*module_set_attr)(const pto_run *, pto_str name, pto_attr value);
    pto_str (*module_file)(const pto_run *);

    /* ---- ops ---- */
    pto_kind_id (*op_kind)(pto_op);
    pto_loc (*op_loc)(pto_op);
    pto_block (*op_block)(pto_op);
    pto_op (*op_next)(pto_op);
    pto_op (*op_prev)(pto_op);
    pto_op (*op_parent)(pto_op);
    pto_op (*op_function)(pto_op);
    pto_op (*op_walk_next)(pto_op current, pto_op root); /* pre-order through root's insides (root none: the
                                                            module's); none at the end */
    int32_t (*op_is_live)(pto_op);                       /* not erased; never a diagnostic */
    int32_t (*op_is_before)(pto_op a, pto_op b);         /* same block */
    int32_t (*op_dominates)(pto_op a, pto_op b);         /* a's results are visible at b */
    uint32_t (*op_operand_count)(pto_op);                /* value operands only */
    pto_value (*op_operand)(pto_op, uint32_t);
    pto_status (*op_set_operand)(pto_op, uint32_t, pto_value);
    uint32_t (*op_result_count)(pto_op);
    pto_value (*op_result)(pto_op, uint32_t);
    uint32_t (*op_block_count)(pto_op);
    pto_block (*op_block_at)(pto_op, uint32_t);
    pto_attr (*op_attr)(pto_op, pto_str name); /* with the row's default; expressions carry value leaves */
    pto_status (*op_set_attr)(pto_op, pto_str name, pto_attr value); /* value none: remove */
    uint32_t (*op_attr_count)(pto_op);                               /* those stored */
    pto_attr (*op_attr_at)(pto_op, uint32_t, pto_str *name);
    uint32_t (*op_path)(pto_op, char *buffer, uint32_t capacity); /* "@f/exp#2"; returns the full length */
    pto_status (*op_iteration)(pto_op, pto_iteration *out);       /* PTO_FAILED: not structured; nothing is reported */
    pto_attr (*op_fold)(pto_op);                                  /* constant value of the result, or none */

    /* ---- changing ---- */
    pto_op (*build)(const pto_run *, pto_place at, const pto_op_spec *);
    pto_status (*erase)(pto_op);
    pto_status (*replace)(pto_op old_op, uint32_t count,
                          const pto_value *values); /* all uses of the results, then erase */
    pto_status (*move)(pto_op, pto_place to);
    pto_op (*clone)(pto_op, pto_place to, uint32_t count, const pto_value *from, const pto_value *to_values);
    /* Applies patterns inside root (none: the module) until none matches, at most max_rounds visits for each op (0:
     * 10). PTO_CHANGED: it stopped before that. */
    pto_status (*greedy)(const pto_run *, pto_op root, uint32_t count, const pto_pattern *const *patterns,
                         uint32_t max_rounds);

    /* ---- blocks and values ---- */
    pto_op (*block_parent)(pto_block);
    pto_op (*block_first)(pto_block);
    pto_op (*block_last)(pto_block);
    uint32_t (*block_arg_count)(pto_block);
    pto_value (*block_arg)(pto_block, uint32_t);
    pto_value (*block_add_arg)(pto_block, pto_type, pto_str name);
    pto_status (*block_erase_arg)(pto_block, uint32_t);
    pto_type (*value_type)(pto_value);
    pto_status (*value_set_type)(pto_value, pto_type);
    pto_op (*value_op)(pto_value);       /* none for block arguments */
    pto_block (*value_block)(pto_value); /* none for results */
    uint32_t (*value_index)(pto_value);
    uint32_t (*value_use_count)(pto_value);
    pto_op (*value_use)(pto_value, uint32_t index, uint32_t *slot); /* slot: operand number, index operands included */
    pto_status (*value_replace)(pto_value, pto_value by);
    pto_status (*value_valid)(pto_value tile, pto_expr out[2]); /* valid rows and columns */
    pto_str (*value_name)(pto_value);                           /* without % */
    pto_status (*value_set_name)(pto_value, pto_str); /* letters, digits and `_`; a name that is taken gets a number */

    /* ---- types ---- */
    pto_type_kind (*type_kind)(pto_type);
    pto_dtype (*type_dtype)(pto_type);
    uint32_t (*type_rank)(pto_type);
    pto_expr (*type_dim)(pto_type, uint32_t);
    pto_expr (*type_stride)(pto_type, uint32_t); /* elements; contiguous ones are computed */
    pto_space (*type_space)(pto_type);
    pto_layout (*type_layout)(pto_type);
    pto_type (*type_scalar)(const pto_run *, pto_dtype);
    pto_type (*type_tensor)(const pto_run *, pto_dtype, uint32_t rank, const pto_expr *dims);
    pto_type (*type_gm)(const pto_run *, pto_dtype, uint32_t rank, const pto_expr *dims);
    pto_type (*type_tile)(const pto_run *, pto_dtype, int64_t rows, int64_t columns, pto_space, pto_layout);
    pto_type (*type_buffer)(const pto_run *);

    /* ---- attributes; reading one as what it is not is a diagnostic that blames the plugin: ask attr_kind before ----
     */
    pto_attr_kind (*attr_kind)(pto_attr);
    int64_t (*attr_i64)(pto_attr);   /* int, bool; a float that is integral */
    double (*attr_f64)(pto_attr);    /* float, int */
    pto_str (*attr_str)(pto_attr);   /* string, symbol, resource */
    pto_type (*attr_type)(pto_attr); /* type; type of a dense */
    pto_expr (*attr_expr)(pto_attr);
    uint32_t (*attr_count)(pto_attr);                        /* list, dict */
    pto_attr (*attr_item)(pto_attr, uint32_t, pto_str *key); /* key may be NULL */
    const uint8_t *(*attr_bytes)(pto_attr, uint32_t *count); /* dense */
    pto_attr (*attr_make_bool)(const pto_run *, int32_t);
    pto_attr (*attr_make_i64)(const pto_run *, int64_t);
    pto_attr (*attr_make_f64)(const pto_run *, double);
    pto_attr (*attr_make_str)(const pto_run *, pto_str);
    pto_attr (*attr_make_symbol)(const pto_run *, pto_str);
    pto_attr (*attr_make_type)(const pto_run *, pto_type);
    pto_attr (*attr_make_expr)(const pto_run *, pto_expr);
    pto_attr (*attr_make_list)(const pto_run *, uint32_t, const pto_attr *);
    pto_attr (*attr_make_dense)(const pto_run *, pto_type, uint32_t bytes, const void *);

    /* ---- expressions; builders give none on overflow or division by constant 0, and take none as none ---- */
    pto_expr_kind (*expr_kind)(pto_expr);
    int64_t (*expr_value)(pto_expr); /* const; slot number; constant part of a sum */
    pto_str (*expr_symbol)(pto_expr);
    pto_value (*expr_leaf)(pto_expr); /* of PTO_EXPR_VALUE */
    uint32_t (*expr_arg_count)(pto_expr);
    pto_expr (*expr_arg)(pto_expr, uint32_t);
    int64_t (*expr_coef)(pto_expr, uint32_t); /* of a sum */
    pto_expr (*expr_make_const)(const pto_run *, int64_t);
    pto_expr (*expr_make_symbol)(const pto_run *, pto_str);
    pto_expr (*expr_make_value)(pto_value);                       /* an index value as an expression */
    pto_expr (*expr_make)(pto_expr_kind, pto_expr a, pto_expr b); /* SUM PRODUCT FLOORDIV CEILDIV MOD MIN MAX */
    pto_expr (*expr_substitute)(pto_expr, uint32_t count, const pto_value *from, const pto_expr *to);
    pto_expr (*expr_rename)(pto_expr, uint32_t count, const pto_str *symbols, const pto_expr *to);
    int32_t (*expr_same)(pto_expr, pto_expr); /* equal for all values */
    /* Interval of the expression: facts of the function and ranges of loop indices are known to the host; env may be
     * NULL. */
    void (*expr_range)(pto_expr, pto_op at, const pto_expr_env *env, int64_t *lo, int64_t *hi);

    /* ---- locations ---- */
    pto_loc (*loc_fuse)(const pto_run *, uint32_t, const pto_loc *);

    /* ---- tiling: asks the strategy that option `option` (a plugin reference) names; see <pto/tiling.h>. When none of
     * its sizes fits, `tile` are those that need least, for notes behind the error ---- */
    pto_status (*tiling_choose)(const pto_run *, uint32_t option, const struct pto_tiling_problem *, int64_t *tile,
                                uint32_t *ordinal);

    /* ---- appended ---- */
    /* "file:line:column" of the first origin; empty when there is none. Returns the full length. */
    uint32_t (*loc_text)(pto_loc, char *buffer, uint32_t capacity);
    /* Fixes the symbol of a `tune`: the function's expressions and types get the number, the op goes. A value that the
     * op does not offer is reported. */
    pto_status (*tune_fix)(pto_op tune, int64_t value);
    /* Where a walk through root's insides (root none: the module's) may go on: gives the next op, as op_walk_next does,
     * and in `behind` the next one that is not inside of `current`. */
    pto_op (*op_walk_on)(pto_op current, pto_op root, pto_op *behind);
    /* Hash of kind, operands, attributes and result types; 0 for an op with blocks. It holds within the run and while
     * the op does not change. */
    uint32_t (*op_hash)(pto_op);
    /* Two ops without blocks of one kind, with the same operands, attributes and result types: when both are pure and
     * one dominates the other, it can stand for both. Equal ops have equal hashes. */
    int32_t (*op_equal)(pto_op a, pto_op b);
    /* Whether any result of the op has a use. */
    int32_t (*op_is_used)(pto_op);
    /* Where an op comes from; new ops take what they are built before. An op that stands for others has the origins of
     * all (pto_loc_fuse). */
    pto_status (*op_set_loc)(pto_op, pto_loc); /* none is refused */
    /* ---- decisions: what the schedule file shows and pins; of passes only, see <pto/decision.h> ---- */
    int32_t (*decision_pinned)(pto_op at, const struct pto_decision *, int64_t *values);
    pto_status (*decision_made)(pto_op at, const struct pto_decision *, const int64_t *values);
    /* As `diag_op`, an error, about memory that does not suffice. When a tiling strategy has other sizes to offer it is
     * a remark instead, and the steps run once more from the tiling on: what the run has changed is given up. Gives
     * PTO_FAILED, which the run returns. */
    pto_status (*no_room)(pto_op, pto_str code, pto_str text);
    /* As `diag`, about an op: at its location, with its path (op_path). */
    void (*diag_op)(pto_op, int32_t severity, pto_str code, pto_str text);
};

/* ---- descriptors ---- */
typedef uint32_t pto_option_type;
enum {
    PTO_OPT_NONE,
    PTO_OPT_BOOL,
    PTO_OPT_I64,
    PTO_OPT_F64,
    PTO_OPT_STR,
    PTO_OPT_ENUM,
    PTO_OPT_BYTES,
    PTO_OPT_LIST,
    PTO_OPT_PLUGIN
};

typedef struct pto_option {
    uint32_t struct_size;
    pto_option_type type;
    const char *name, *doc, *unit, *example;
    const char *def, *min, *max; /* YAML spelling; NULL: none. An option without default must be given. */
    const char *const *choices;  /* enum: NULL-ended; plugin reference: the kind, such as "tiling" */
} pto_option;

typedef struct pto_pass {
    uint32_t struct_size;
    uint32_t flags; /* PTO_PASS_* */
    const char *id, *summary;
    const char *scope;               /* "function": run sees one function or kernel at a time; "module": all of it */
    const char *consumes, *produces; /* levels: "tensor/1" */
    const char *const *requires_props, *const *establishes,
                                           *const *breaks; /* properties of the consumed/produced level; NULL-ended */
    const char *const *kinds;                              /* op kinds read as pto_kind(run, i) */
    const pto_option *const *options;
    const char *const *stats;
    pto_status (*run)(const pto_run *run, pto_op unit); /* unit: the function; none for module scope */
} pto_pass;
enum {
    PTO_PASS_REASSOCIATES = 1, /* results may change by roundings: the order of sums, how often; otherwise exact */
    PTO_PASS_KEEPS_LEVEL = 2   /* the consumed level stays present beside the produced one */
};

/* A checker may look at all of the module, and must say the same of the same. The host knows whether it looked at more
 * than its unit (through module_top, symbol_find, module_attr, or from the unit to its neighbours): one that did not is
 * asked again only for functions that a step may have changed, one that did whenever anything of the module may have.
 */
typedef struct pto_property {
    uint32_t struct_size, reserved;
    const char *id, *doc, *level;
    const char *const *kinds;
    /* PTO_OK: holds. Otherwise PTO_FAILED after a diagnostic at the op that breaks it. */
    pto_status (*check)(const pto_run *run, pto_op unit);
    /* A level of which no function with this property holds ops, such as "tile/1" of kernels whose instructions are
     * selected: no pass may make them there while it holds. NULL: none. */
    const char *excludes;
} pto_property;

typedef struct pto_plugin {
    uint32_t struct_size;
    uint32_t abi_minor;
    const char *id, *version, *license;
    const pto_pass *const *passes;
    const pto_property *const *properties;
    const struct pto_tiling *const *tilings;
    const struct pto_backend *const *backends;
} pto_plugin;

#ifdef __cplusplus
}
#endif
#endif
