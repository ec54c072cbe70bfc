/* What an instruction rule says of its operands: one row of ir/ops/rules.def each. */
#ifndef IR_INSN_RULE_H
#define IR_INSN_RULE_H

#include "ir/context/context.h"

typedef enum insn_rule {
    RULE_NONE,
#define RULE(ID, ...) RULE_##ID,
#include "ir/ops/rules.def"
    RULE_COUNT
} insn_rule;

/* Size of the scratch operand; TMP_NONE: the rule has none. */
typedef enum insn_tmp {
    TMP_NONE,
#define SCRATCH_SIZE(ID, ...) TMP_##ID,
#include "ir/ops/rules.def"
    TMP_COUNT
} insn_tmp;

/* What an instruction without unit moves, and its value form. */
typedef enum insn_transfer {
    TRANSFER_NONE,
#define TRANSFER(ID, doc) TRANSFER_##ID,
#include "ir/ops/kinds.def"
} insn_transfer;

enum operand_flag {
    OPERAND_SAME_LAYOUT = 1 << 0, /* has the layout of the target */
    OPERAND_IN_PLACE = 1 << 1,    /* the target may have its bytes */
    OPERAND_CONTINUED = 1 << 2,   /* the target starts with its values, in its bytes */
    OPERAND_SUMS = 1 << 3,        /* has the element type of sums */
    OPERAND_CONVERTED = 1 << 4,   /* has an element type of its own */
    OPERAND_WRITTEN = 1 << 5,
    OPERAND_SCRATCH = 1 << 6,  /* written, and what it held or holds has no meaning */
    OPERAND_MASK = 1 << 7,     /* has one bit for each element: of the element type mask */
    OPERAND_INDEX = 1 << 8,    /* holds indices: i32, whatever the others hold */
    OPERAND_RECORD = 1 << 9,   /* holds keys with their indices: rec64, whatever the others hold */
    OPERAND_FACTORS = 1 << 10, /* holds factors: f32, whatever the others hold */
    OPERAND_ROUNDED = 1 << 11  /* f32 of an accumulator may arrive as f16 or bf16 */
};

/* An operand in the row of an op. What follows `dtypes` is of instructions and their value forms. */
typedef struct operand_spec {
    const char *name;
    uint32_t types;  /* enum type_class; 0 ends the list */
    uint32_t dtypes; /* 0: the row's dtypes */
    uint16_t flags;  /* enum operand_flag */
    char shape[3];   /* of a tile: rows and columns; see rules.def */
    uint32_t spaces; /* of a tile: 1 << space_role, for each space that it may be in */
} operand_spec;

typedef struct insn_rule_row {
    const char *doc;
    const char *valid; /* attribute with the valid region of the value form; NULL: it follows from the sources */
    uint8_t tmp;       /* insn_tmp */
    uint8_t rounds;    /* an f32 accumulator may leave as f16 or bf16 */
    uint8_t
        by_column; /* and narrower, times a factor of its column: the last operand has two words of each; 2: on chip */
    uint8_t own_capacities; /* shapes speak of valid regions only */
} insn_rule_row;

enum { INSN_OPERANDS_MAX = 5 };
/* Operands by rule, ended by a row without types: of the instruction, its target first and scratch last, and of the
 * value form. */
extern const operand_spec insn_operands[RULE_COUNT][INSN_OPERANDS_MAX + 1];
extern const operand_spec insn_value_operands[RULE_COUNT][INSN_OPERANDS_MAX + 1];

/* The row of a rule other than RULE_NONE. */
const insn_rule_row *insn_rule_at(insn_rule rule);

#endif
