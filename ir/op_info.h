/* What an op is: one row of ir/ops/<level>.def for each, and everything else derived from it.
 *
 * Fields of a row are the fields of op_info, so a row reads like a form. Enum, verifier, parser, printer, builder,
 * reference table, docs and `pto-inspect ops` come from the same rows. Order has no meaning; numbers of kinds are
 * never stored in files, names are. */
#ifndef IR_OP_INFO_H
#define IR_OP_INFO_H

#include "ir/insn_rule.h"

/* X(ID, name, guest): the levels of ir/ops. Ops of the level `guest` may be in kernels of this level too, until a
 * property holds that excludes them (pto_property). */
#define IR_LEVELS(X)            \
    X(TENSOR, "tensor/1", NONE) \
    X(TILE, "tile/1", NONE)     \
    X(BLOCK, "block/1", TILE)   \
    X(EXEC, "exec/1", NONE)

/* A level of ours, or from LEVEL_COUNT on one that a table of ops adds (op_table_add_level). Sets of levels are bits.
 */
typedef uint8_t ir_level;
#define IR_LEVEL_ENUM(ID, ...) LEVEL_##ID,
enum { LEVEL_NONE, IR_LEVELS(IR_LEVEL_ENUM) LEVEL_COUNT, LEVELS_MAX = 16 };
#undef IR_LEVEL_ENUM
typedef struct op_table op_table;
const char *level_name(const op_table *t, ir_level l); /* "tensor/1" ... */
/* LEVEL_NONE when `t` has no such level. */
ir_level level_by_name(const op_table *t, str s);
/* The level whose ops may be in kernels of `l` too; LEVEL_NONE: there is none. */
ir_level level_guest(ir_level l);

/* An op kind: index into the op table. Static rows have enumerators OP_<ID>. */
typedef uint16_t op_kind;
enum {
    OP_NONE,
#define OP(ID, ...) OP_##ID,
#include "ir/ops/block.def"
#include "ir/ops/core.def"
#include "ir/ops/exec.def"
#include "ir/ops/tensor.def"
#include "ir/ops/tile.def"
#undef OP
#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, ...) OP_PTO_##ID, OP_TILE_##TILE_ID,
#define INSN_ONLY(ID, mnemonic, ...) OP_PTO_##ID,
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
    OP_KIND_COUNT
};

/* Which levels an op may be at. Control ops may be everywhere. From HOME_COUNT on: one level that a table adds. */
typedef uint8_t op_home;
enum {
#define HOME(ID, ...) HOME_##ID,
#include "ir/ops/kinds.def"
    HOME_COUNT
};
/* LEVEL_NONE of HOME_ANY. */
ir_level op_home_level(op_home home);
/* The home of ops that are of one level alone. */
op_home level_home(ir_level l);

enum op_trait {
#define TRAIT(ID, bit, word, doc) TRAIT_##ID = 1 << (bit),
#include "ir/ops/kinds.def"
};

/* The value forms that compute a tensor op on tiles: of one operand TILE_WHOLE; of two one for each way in which the
 * second tile lacks extents of the first; of a reduction TILE_ALONG_*, and TILE_WHOLE combines two results. */
typedef enum tile_form {
    TILE_WHOLE,
    TILE_SCALAR_RIGHT,
    TILE_SCALAR_LEFT, /* none of a commutative op: TILE_SCALAR_RIGHT is meant */
    TILE_BY_ROW,      /* the second operand has one value for each row */
    TILE_BY_COLUMN,
    TILE_ALONG_ROWS, /* reduces the rows: the result has one */
    TILE_ALONG_COLUMNS,
    TILE_FORM_COUNT
} tile_form;

/* Type classes an operand or result may have. */
enum type_class {
    TY_TENSOR = 1 << 0,
    TY_GM = 1 << 1,
    TY_TILE = 1 << 2,
    TY_SCALAR = 1 << 3, /* scalar that is not index */
    TY_INDEX = 1 << 4,
    TY_BUFFER = 1 << 5,
    TY_CHANNEL = 1 << 6,
    TY_MEMORY = TY_TENSOR | TY_GM,
    TY_ANY = 0xff
};

/* Sets of element types. */
#define DT(ID) (1u << DTYPE_##ID)
#define DT_FLOAT8 (DT(F8E4M3) | DT(F8E5M2))
#define DT_SINT (DT(I8) | DT(I16) | DT(I32) | DT(I64))
#define DT_UINT (DT(U8) | DT(U16) | DT(U32) | DT(U64))
#define DT_INT (DT_SINT | DT_UINT)
#define DT_NUMBER (DT_FLOAT | DT_INT)
#define DT_IF_FLOAT(ID) | DT(ID)
#define DT_IF_SINT(ID) | DT(ID)
#define DT_IF_UINT(ID) | DT(ID)
#define DT_IF_BOOL(ID) | DT(ID)
#define DT_IF_INDEX(ID) | DT(ID)
#define DT_IF_OPAQUE(ID)
enum {
    DT_ANY = 0
#define DTYPE(ID, text, bits, class, ...) DT_IF_##class(ID)
#include "ir/ops/types.def"
};
/* Ops compute in floats of more than 8 bits, which have exponents. */
enum {
    DT_FLOAT = 0
#define DTYPE(ID, text, bits, class, exponent_bits, ...) | ((exponent_bits) > 0 && (bits) > 8 ? DT(ID) : 0)
#include "ir/ops/types.def"
};

typedef enum attr_spec_kind {
    SPEC_NONE,
    SPEC_BOOL,
    SPEC_INT,
    SPEC_FLOAT,
    SPEC_NUMBER, /* int or float */
    SPEC_ENUM,   /* quoted string out of `choices` ("a|b|c") */
    SPEC_WORD,   /* same, printed without quotes */
    SPEC_STRING,
    SPEC_DTYPE, /* scalar type */
    SPEC_TYPES, /* list of types */
    SPEC_INTS,  /* list of integers; a single integer is read as a list of one */
    SPEC_EXPRS, /* list of index expressions */
    SPEC_SYMBOL,
    SPEC_DENSE, /* number, dense or resource */
    SPEC_LIST,  /* list, checked by the op's own verify */
    SPEC_DICT
} attr_spec_kind;

typedef struct attr_spec {
    const char *name;
    uint8_t kind;
    uint8_t required;
    const char *def; /* default in .ptir spelling; NULL: none */
    const char *choices;
    const char *doc;
    uint8_t hint;  /* affects only speed: a backend that does not heed it has the same results, and the user is told */
    uint8_t names; /* of a word: the name_kind whose names it may be too; NAME_NONE: `choices` are all */
} attr_spec;

typedef struct module module;

/* Computes or checks result types; reports diagnostics against the op. `out` has space for the op's result count and
 * arrives holding the op's own result types, which a rule with free choices (a cast's dtype) may keep. */
typedef status (*infer_rule)(module *m, uint32_t op, type_id *out);
/* Whatever else must hold. NULL: nothing. */
typedef status (*verify_rule)(module *m, uint32_t op);

/* How a tensor op maps its iteration space to operands; see op_space.h. NONE: not a structured op. */
typedef enum space_rule {
    ITER_NONE,
#define ITERATION_RULE(ID, doc) ITER_##ID,
#include "ir/ops/kinds.def"
} space_rule;

/* Constant folding rule; see fold.h. */
typedef enum fold_rule {
    FOLD_NONE,
    FOLD_ADD,
    FOLD_SUB,
    FOLD_MUL,
    FOLD_DIV,
    FOLD_MAXIMUM,
    FOLD_MINIMUM,
    FOLD_FMOD,
    FOLD_EQ, /* in the order of relations.def */
    FOLD_NE,
    FOLD_LT,
    FOLD_LE,
    FOLD_GT,
    FOLD_GE,
    FOLD_AND, /* bit by bit; truth values are 0 and 1 */
    FOLD_OR,
    FOLD_XOR,
    FOLD_LOGICAL_AND,
    FOLD_LOGICAL_OR,
    FOLD_WHERE,
    FOLD_NEG,
    FOLD_ABS,
    FOLD_SIGN,
    FOLD_RELU,
    FOLD_FLOOR,
    FOLD_CEIL,
    FOLD_ROUND,
    FOLD_TRUNC,
    FOLD_SQRT,
    FOLD_NOT,
    FOLD_LOGICAL_NOT,
    FOLD_ISNAN,
    FOLD_ISINF,
    FOLD_ISFINITE,
    FOLD_CAST,
    FOLD_RESHAPE,
    FOLD_TRANSPOSE,
    FOLD_VIEW
} fold_rule;

enum { OP_INFO_ATTRS = 11 }; /* most attributes of one row */

typedef struct op_info {
    const char *name; /* with dialect prefix */
    const char *doc;  /* one sentence */
    uint8_t home;     /* op_home */
    uint32_t traits;
    uint32_t dtypes;        /* of the main operands */
    uint32_t target_dtypes; /* of a result with an element type of its own; 0: `dtypes` */
    const operand_spec *in; /* ended by a row without types; NULL: none. Of an instruction those of its rule */
    uint8_t in_optional;    /* how many of the last `in` may be absent */
    uint8_t in_variadic;    /* the last `in` repeats 0..n times */
    uint8_t out_count;      /* results; OUT_ANY: any number */
    uint32_t out_types;     /* type classes of results */
    uint8_t blocks;         /* how many; BLOCKS_ANY */
    attr_spec attrs[OP_INFO_ATTRS];
    const char *syntax; /* custom form, see parser.h; NULL: operands then attributes */
    infer_rule infer;
    verify_rule verify;
    uint8_t space;
    uint8_t fold;
    /* tensor ops */
    uint8_t makes;                 /* element type of the results; 0: that of the operands */
    op_kind tile[TILE_FORM_COUNT]; /* OP_NONE: none */
    const char *tile_attr[2];      /* an attribute that the value forms have for the op, and its word; NULL: none */
    const char *expansion;         /* the op in others, for pto.expand-math; see tensor.def. NULL: none */
    op_kind typed_by; /* the value form whose element types are those of the op; OP_NONE: see op_typed_by */
    /* instructions and their value forms */
    uint8_t rule;         /* insn_rule */
    uint8_t unit;         /* unit_role */
    const char *cost;     /* cost class: key under `instructions:` of the machine file */
    uint8_t is_stated;    /* of no chip here: a machine has it that lists element types for the cost class */
    op_kind partner;      /* pto.x <-> tile.x, OP_NONE when there is none */
    const char *numerics; /* one sentence when not bit-exact IEEE */
    const char *example;  /* parameters of a function, `;`, and ops of its body; see tensor.def. NULL: none */
    uint8_t ulp;          /* how far a result may be off, in units of its last place */
    uint8_t argument_ulp; /* and how far what its function is taken of */
    uint8_t is_evaluated; /* of an added row: it has reference semantics */
    const void *origin;   /* of an added row: what its rules know it by */
} op_info;

enum { OUT_ANY = 255, BLOCKS_ANY = 255 };

/* The rows of ir/ops by kind; the first is empty. */
extern const op_info op_rows[OP_KIND_COUNT];
/* Of those rows; OP_NONE when unknown. */
op_kind op_kind_of_ours(str name);

/* The row of an added kind; BUG for another. */
const op_info *op_table_row(const op_table *t, op_kind kind);
/* The row of a kind; BUG for a kind out of range. */
static inline const op_info *op_info_at(const op_table *t, op_kind kind)
{
    BUG_IF(kind == OP_NONE, "no kind of op");
    return kind < OP_KIND_COUNT ? &op_rows[kind] : op_table_row(t, kind);
}
/* OP_NONE when unknown. Asks the source of the table when neither ir/ops nor the table has the name. */
op_kind op_kind_by_name(op_table *t, str name);
/* Of the op of that name; LEVEL_NONE when it is unknown or of every level. */
ir_level op_level_by_name(op_table *t, str name);
/* Kinds are below it. It grows when rows are added. */
uint32_t op_kind_count(const op_table *t);
/* The nearest op name, for "did you mean"; NULL when none is near. It lives as long as the table. */
const char *op_nearest_name(const op_table *t, str name);
/* Entries of `in`. */
uint32_t op_info_operands(const op_info *info);
/* The name of an entry of `in`; NULL: there is none. */
const char *op_info_operand_name(const op_info *info, uint32_t i);
/* Bit i: entry i of `in` has one of the flags (enum operand_flag). */
uint32_t op_info_operands_with(const op_info *info, uint32_t flags);
/* The value form whose instruction decides in which element types a tensor op can be computed; OP_NONE: the op becomes
 * several others. */
op_kind op_typed_by(const op_info *info);
/* Of an instruction or its value form: the scratch that the instruction takes. */
insn_tmp op_info_tmp(const op_info *info);
/* TRANSFER_NONE of an instruction that a unit of its row runs, and of other ops. */
insn_transfer op_info_transfer(const op_info *info);
/* Element types that a result with one of its own may have. */
uint32_t op_info_target_dtypes(const op_info *info);
/* Roles of the spaces that operand `i` may be in, 1 << space_role each; 0: it is not a tile of an instruction or value
 * form. */
uint32_t op_info_spaces(const op_info *info, uint32_t i);
const attr_spec *op_attr_spec(const op_info *info, str name);
/* Whether a row of some op calls the attribute a hint. */
bool op_has_hint(str name);
/* Whether a spec limits words at all; whether a word is one of its choices or names, or with neither any name; and all
 * that are, for messages: of names that are not in ir/ops those in the set `others`, 1 << id each. */
bool attr_spec_limits(const attr_spec *spec);
bool attr_spec_allows(const attr_spec *spec, const role_names *names, str word);
void attr_spec_print_legal(const attr_spec *spec, const role_names *names, uint32_t others, text_buffer *out);

#endif
