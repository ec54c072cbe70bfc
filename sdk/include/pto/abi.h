/* The plugin ABI: handles, the host table, descriptors. Authors of plugins include <pto/plugin.h>.
 *
 * Rules of the boundary. Every struct begins with struct_size, filled by its producer with its own sizeof; a reader
 * touches a field only under PTO_HAS. Arrays of pointers, never of structs (handles excepted). No bool, bitfield, long,
 * union by value, varargs, FILE or errno crosses. Nobody frees the other's memory. What the host hands out lives until
 * the call of run(), prepare() or execute() it was handed out in returns, unless said otherwise. Text is UTF-8.
 * Threads: a pto_run belongs to the thread that got it. Threads that a plugin starts use no handle, block all signals
 * and end before the call that started them returns; those that `prepare` or `execute` of a backend starts, before
 * `release` does. The process belongs to the host. A plugin leaves as it found them: floating point (rounding, traps,
 * denormals), the locale of the thread, the working folder, the umask, the standard files. The host puts them back when
 * a call returns, or when the file is loaded, and warns; it cannot where a plugin closed descriptors that it did not
 * open, and ends. Handlers of SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ and SIGCHLD, the signal mask and the
 * global locale do not last longer than a compile or a run. SIGPIPE has no effect: a write to a closed pipe fails. What
 * is printed goes to standard error. A process that a plugin forks ends with the thread that forked it; every process
 * that it starts ends with the tool. Versions: ABI major 1; a minor only appends. */
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

/* What functions return. PTO_FAILED after a diagnostic, unless the function says otherwise; PTO_CHANGED only from
 * patterns; PTO_MISSING, after a diagnostic, only from `prepare` of a backend: something that it needs is not on this
 * host, and the tool ends as where a plugin is missing. */
typedef int32_t pto_status;
enum { PTO_OK = 0, PTO_FAILED = -1, PTO_MISSING = -2, PTO_CHANGED = 1 };

/* A text, or bytes: `n` bytes at `p`, without NUL at the end. */
typedef struct pto_str {
    const char *p;
    size_t n;
} pto_str;
/* Memory of the host, which frees it. */
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
struct pto_cost;
struct pto_decision;
struct pto_backend;
struct pto_opset;
struct pto_generator;
struct pto_reader;
struct pto_text_sink;
struct pto_tensor;

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

/* ---- enumerations, from rows that the IR has too; <pto/names.h> has the words of the IR text for them ---- */
enum {
#define LIMIT(ID, number, doc) PTO_##ID = number,
#include <pto/ops/kinds.def>
};
typedef uint32_t pto_dtype;
enum {
    PTO_DTYPE_NONE,
#define DTYPE(ID, ...) PTO_##ID,
#include <pto/ops/types.def>
    PTO_DTYPE_COUNT
};
/* Memory spaces, pipes and layouts have names that machines choose. Ids of names are below PTO_NAMES_MAX and valid for
 * the session; 0 is none. What one is for is its role. */
typedef uint32_t pto_space;
typedef uint32_t pto_layout;
enum { PTO_SPACE_NONE = 0, PTO_LAYOUT_NONE = 0 };
enum {
    PTO_NAME_NONE,
#define NAME_KIND(ID, ...) PTO_NAME_##ID,
#include <pto/ops/kinds.def>
};
/* What a memory space is for. */
enum {
    PTO_ROLE_NONE,
#define SPACE_ROLE(ID, ...) PTO_ROLE_##ID,
#include <pto/ops/types.def>
};
/* How the elements of a layout lie, its role. */
enum {
    PTO_ORDER_NONE,
#define LAYOUT_ORDER(ID, ...) PTO_ORDER_##ID,
#include <pto/ops/types.def>
    PTO_ORDER_COUNT
};

/* Units of a core that run instructions, by what they do. NONE: a path of the machine runs it. */
enum {
    PTO_UNIT_NONE,
#define UNIT(ID, ...) PTO_UNIT_##ID,
#include <pto/ops/units.def>
    PTO_UNIT_COUNT
};
/* Pipes by number, those of <pto/ops/units.def> and those that machine files name: below PTO_NAMES_MAX, and valid for
 * the session. Each feeds a unit. */
typedef uint32_t pto_pipe;
enum { PTO_PIPE_NONE, PTO_PIPE_ALL = PTO_NAMES_MAX /* in barriers */ };

typedef uint32_t pto_type_kind;
enum {
    PTO_TYPE_NONE,
#define TYPE_KIND(ID) PTO_TYPE_##ID,
#include <pto/ops/kinds.def>
};
typedef uint32_t pto_expr_kind;
enum {
    PTO_EXPR_NONE,
#define EXPR_KIND(ID, ...) PTO_EXPR_##ID,
#include <pto/ops/kinds.def>
};
typedef uint32_t pto_attr_kind;
enum {
    PTO_ATTR_NONE,
#define ATTR_KIND(ID, ...) PTO_ATTR_##ID,
#include <pto/ops/kinds.def>
};
/* Severities of diagnostics. */
enum {
#define SEVERITY(ID, ...) PTO_##ID,
#include <pto/ops/kinds.def>
};
/* Dims of an iteration space. */
enum {
    PTO_ITERATION_NONE,
#define ITERATION_KIND(ID) PTO_##ID,
#include <pto/ops/kinds.def>
};
/* Traits of op rows, a set of bits. */
enum {
#define TRAIT(ID, bit, ...) PTO_TRAIT_##ID = 1 << (bit),
#include <pto/ops/kinds.def>
};
/* Numbers of an op row, for pto_kind_column. */
enum {
#define COLUMN(ID, ...) PTO_COLUMN_##ID,
#include <pto/ops/kinds.def>
};
/* Texts of an op row, for pto_kind_text. */
enum {
#define TEXT(ID, ...) PTO_TEXT_##ID,
#include <pto/ops/kinds.def>
};
/* Where ops may be. */
enum {
#define HOME(ID, ...) PTO_HOME_##ID,
#include <pto/ops/kinds.def>
};

/* Facts of the machine about one of its memory spaces. */
typedef struct pto_space_data {
    uint32_t struct_size;
    uint32_t layouts; /* that tiles may have in it: 1 << pto_layout each */
    pto_layout usual; /* the first that the machine lists */
    uint32_t reserved;
    pto_str core; /* kind of cores that own one each; empty: one for the chip */
    int64_t bytes, usable_bytes, align;
} pto_space_data;
typedef const pto_space_data *pto_space_facts;
/* And about a path, on which data moves between two of them. */
typedef struct pto_path_data {
    uint32_t struct_size;
    uint32_t pipe; /* that moves the data */
    pto_str core;  /* kind of cores that the pipe is of */
    double bytes_per_cycle;
    int64_t latency;                 /* cycles before the first byte, when the pipe was idle */
    uint32_t layouts[PTO_NAMES_MAX]; /* by the layout before: 1 << pto_layout for each that it can have after */
    uint32_t casts[PTO_NAMES_MAX];   /* by the element type before: 1 << pto_dtype for each that it can have after */
} pto_path_data;
typedef const pto_path_data *pto_path_facts;

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
    /* Index i of the dim is index offset + step * i of the operand; one that it does not have: the element of the
     * result is not from this operand. Offsets none: 0; steps 0: 1. */
    pto_expr operand_offset[PTO_MAX_SPACE_OPERANDS][PTO_MAX_DIMS];
    int64_t operand_step[PTO_MAX_SPACE_OPERANDS][PTO_MAX_DIMS];
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
/* The same of decisions. */
#define PTO_SCHEDULE_HOST "pto.schedule"
typedef struct pto_schedule_host {
    uint32_t struct_size, reserved;
#define HOST_SCHEDULE(returns, name, parameters, arguments, doc) returns(*name) parameters;
#include <pto/host.def>
} pto_schedule_host;

/* ---- descriptors ----
 * Constants of the plugin: the host reads them when it loads the file and as long as it keeps it, never writes them,
 * and calls their functions on the thread that compiles or runs. Lists end with NULL; a NULL list is empty. Texts end
 * with NUL; ids are "vendor.name". */
typedef uint32_t pto_option_type;
enum {
    PTO_OPT_NONE,
#define OPTION_TYPE(ID, name, words) PTO_OPT_##ID,
#include <pto/options.def>
};

/* An option that a user sets in a pipeline or with --set; values are read by its position in the list. */
typedef struct pto_option {
    uint32_t struct_size;
    pto_option_type type;
    const char *name, *doc, *unit, *example;
    const char *def, *min, *max; /* YAML spelling; NULL: none. An option without default must be given. */
    const char *const *choices;  /* enum: NULL-ended; plugin reference: the kind, such as "tiling" */
} pto_option;

/* A pass. `run` changes the unit and leaves a module that verifies, with the properties that the pass establishes.
 * PTO_FAILED, after a diagnostic, ends the compile. It is called once for each unit, and again, on the module as it was
 * before, when other alternatives are tried. It keeps nothing between calls. */
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
    PTO_PASS_KEEPS_LEVEL = 2,  /* the consumed level stays present beside the produced one */
    PTO_PASS_CHOOSES = 4,      /* it asks `choice_take`; passes with an option that names a strategy need not say so */
    PTO_PASS_NEEDED = 8        /* later passes have no form for what it replaces: --bisect never leaves it out */
};

/* A fact that a checker can verify. A checker changes nothing. It may read all of the module; for an unchanged module
 * its answer must not change. The host notes whether it read more than its unit (module_top, symbol_find, module_attr,
 * or the neighbours of the unit). If not, it is asked again only for functions that a step may have changed; if so,
 * after every step that may have changed the module. Of functions that differ in names, locations and the
 * numbers of float constants alone it is asked for one, unless it read those (value_name, op_loc, op_path, the name of
 * the unit, labels; attributes of `constant`; op_attr_at, op_hash, op_equal) or reported anything. */
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

/* What the entry of a plugin returns. */
typedef struct pto_plugin {
    uint32_t struct_size;
    uint32_t abi_minor;
    const char *id, *version, *license;
    const pto_pass *const *passes;
    const pto_property *const *properties;
    const struct pto_tiling *const *tilings;
    const struct pto_backend *const *backends;
    const struct pto_opset *const *opsets;
    const struct pto_cost *const *costs;
    const struct pto_generator *const *generators;
    const struct pto_reader *const *readers;
} pto_plugin;

#ifdef __cplusplus
}
#endif
#endif
