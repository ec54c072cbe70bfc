/* Op-sets: ops that a plugin adds to the IR. An op is one row with the columns of the rows in <pto/ops/tensor.def>;
 * verifier, parser, printer, builders, `pto-inspect ops` and canonicalization follow from it.
 *
 * The note of the plugin names every op (`op:acme.squared_distance`): the host loads the plugin when a text, or a pass,
 * first names one. Rows are constant data. Their functions are called in the thread of the tool, each as a run of its
 * own that only reads, in which the plugin has no options, statistics or machine; what they do must depend on nothing
 * but the op and its operands' types, since answers are remembered. */
#ifndef PTO_OPSET_H
#define PTO_OPSET_H

#include <pto/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of types that an operand or result may have, added up. */
enum { PTO_OF_TENSOR = 1, PTO_OF_GM = 2, PTO_OF_TILE = 4, PTO_OF_SCALAR = 8, PTO_OF_INDEX = 16 };

/* Element types, added up: PTO_DTYPE_SET(F32) | PTO_DTYPE_SET(F16). */
#define PTO_DTYPE_SET(ID) (UINT32_C(1) << PTO_##ID)
#define PTO_DTYPES_FLOAT (PTO_DTYPE_SET(F32) | PTO_DTYPE_SET(F16) | PTO_DTYPE_SET(BF16))

/* An operand of a row. */
typedef struct pto_row_operand {
    uint32_t struct_size;
    uint32_t types;    /* PTO_OF_* */
    uint32_t dtypes;   /* PTO_DTYPE_SET(..); 0: those of the row */
    uint32_t reserved; /* 0 */
    const char *name;  /* for messages and docs: a letter, then letters, digits and `_` */
} pto_row_operand;

typedef uint32_t pto_row_attr_type;
enum {
    PTO_ROW_NONE,
    PTO_ROW_BOOL,
    PTO_ROW_INT,
    PTO_ROW_FLOAT, /* an integer, too */
    PTO_ROW_ENUM,  /* one of `choices`, in quotes */
    PTO_ROW_STRING,
    PTO_ROW_DTYPE,
    PTO_ROW_INTS /* a list of integers, or one */
};

/* An attribute of a row. */
typedef struct pto_row_attr {
    uint32_t struct_size;
    pto_row_attr_type type;
    uint32_t required; /* 0 or 1 */
    uint32_t reserved; /* 0 */
    const char *name;  /* a letter, then letters, digits and `_` */
    const char *doc;
    const char *def;            /* in the spelling of the text: "true", "1", "0.5", "\"left\""; NULL: none */
    const char *const *choices; /* of an ENUM, NULL-ended */
} pto_row_attr;

enum { PTO_OP_OPERANDS_MAX = 6, PTO_OP_RESULTS_MAX = 4, PTO_OP_ATTRS_MAX = 10 };

/* An op. */
typedef struct pto_op_row {
    uint32_t struct_size;
    uint32_t traits;       /* PTO_TRAIT_PURE, PTO_TRAIT_COMMUTATIVE */
    const char *name;      /* begins with the id of the op-set and a dot: "acme.squared_distance" */
    const char *doc;       /* one sentence */
    uint32_t dtypes;       /* of operands that do not say otherwise; 0: any */
    uint32_t result_count; /* up to PTO_OP_RESULTS_MAX */
    uint32_t result_types; /* PTO_OF_* of each result */
    uint32_t iteration; /* PTO_ITER_* of <pto/insn.h>, for what may be fused and tiled by it; PTO_ITER_NONE is safe */
    const pto_row_operand *const *operands; /* NULL-ended, up to PTO_OP_OPERANDS_MAX, each of them given */
    const pto_row_attr *const *attrs;       /* NULL-ended, up to PTO_OP_ATTRS_MAX; or NULL */
    const char *numerics;                   /* how far results may be off, one sentence; NULL: exact */
    uint32_t ulp;          /* of floats: how far a result may be off the exact one of its operands, in units of its last
                            * place; 255: no number of units says it */
    uint32_t argument_ulp; /* and how far what its function is taken of */
    /* Result types from those of the operands, whose number, kinds and element types the row allows, and the
     * attributes. `results` arrives with the types that the text states. PTO_FAILED after a diagnostic at `op`. */
    pto_status (*infer)(const pto_run *run, pto_op op, pto_type *results);
    /* What else must hold. PTO_FAILED after a diagnostic at `op`. NULL: nothing. */
    pto_status (*verify)(const pto_run *run, pto_op op);
    /* Reference semantics: fills `results`, whose types and extents are those inferred, from `operands`. Nothing
     * overlaps; strides are those of the arrays. PTO_FAILED after a diagnostic at `op`. NULL: none; then only a rewrite
     * by a pass makes a module with the op run. */
    pto_status (*evaluate)(const pto_run *run, pto_op op, const pto_tensor *const *operands,
                           const pto_tensor *const *results);
} pto_op_row;

/* The descriptor of an op-set. */
typedef struct pto_opset {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    const char *id;    /* what names of its ops begin with: the plugin's id, or a part of it up to a dot */
    const char *level; /* where its ops may be: "tensor/1", or one of their own: what `id` is, a slash and a number */
    const pto_op_row *const *rows; /* NULL-ended */
} pto_opset;

#ifdef __cplusplus
}
#endif
#endif
