/* The plugin ABI: handles, the host table, descriptors. Authors of plugins include <pto/plugin.h>.
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

#define PTO_HAS(p, field) \
    ((p)->struct_size >= (size_t)((const char *)&(p)->field - (const char *)(p)) + sizeof((p)->field))

typedef int32_t pto_status;
enum { PTO_OK = 0, PTO_FAILED = -1, PTO_CHANGED = 1 }; /* CHANGED: only from patterns */

/* A text, or bytes: `n` bytes at `p`, without NUL at the end. */
typedef struct pto_str {
    const char *p;
    size_t n;
} pto_str;
typedef void *pto_memory;
/* The integers from lo to hi, both included. */
typedef struct pto_range {
    int64_t lo, hi;
} pto_range;

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

/* What to build. Expressions inside attrs name values directly (pto_expr_value): the host makes index operands of
 * them. */
typedef struct pto_op_spec {
    uint32_t struct_size;
    pto_kind_id kind;
    pto_loc loc; /* none: that of the op at the place of insertion; in a module without ops, its first line */
    uint32_t operand_count, result_count, attr_count, block_count;
    const pto_value *operands; /* value operands, without index operands */
    const pto_type *result_types;
    const pto_str *attr_names;
    const pto_attr *attrs;
    pto_str name; /* base name for the first result; empty: derived from the kind */
} pto_op_spec;

/* Iteration space of a structured tensor op: its dims, and which of them each dim of an operand and of the result
 * walks. */
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

/* What the caller of expr_range knows of symbols and values, on top of what the host knows. */
typedef struct pto_expr_env {
    uint32_t struct_size;
    uint32_t reserved;
    void *self;
    /* 1 and the bounds of a symbol or value; 0: unknown. */
    int32_t (*symbol)(void *self, pto_str name, int64_t *lo, int64_t *hi);
    int32_t (*value)(void *self, pto_value v, int64_t *lo, int64_t *hi);
} pto_expr_env;

/* The host table: one function for each row of <pto/host.def>, which says what it means. */
struct pto_host {
    uint32_t struct_size;
    uint32_t abi_minor;
#define HOST(returns, name, parameters, arguments, doc) returns(*name) parameters;
#include <pto/host.def>
};

/* Tables that few plugins need, by the id that `extension` takes. A new major of one gets a new id. */
#define PTO_TILING_HOST "pto.tiling"
typedef struct pto_tiling_host {
    uint32_t struct_size, reserved;
#define HOST_TILING(returns, name, parameters, arguments, doc) returns(*name) parameters;
#include <pto/host.def>
} pto_tiling_host;
#define PTO_SCHEDULE_HOST "pto.schedule"
typedef struct pto_schedule_host {
    uint32_t struct_size, reserved;
#define HOST_SCHEDULE(returns, name, parameters, arguments, doc) returns(*name) parameters;
#include <pto/host.def>
} pto_schedule_host;

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

/* A checker may read all of the module; for an unchanged module its answer must not change. The host notes whether it
 * read more than its unit (module_top, symbol_find, module_attr, or the neighbours of the unit). If not, it is asked
 * again only for functions that a step may have changed; if so, after every step that may have changed the module. */
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
