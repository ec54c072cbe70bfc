/* Values of the columns PTO_COLUMN_RULE, PTO_COLUMN_TMP, PTO_COLUMN_TRANSFER and PTO_COLUMN_SPACE_RULE of op rows. What
 * a rule means is its row in <pto/ops/rules.def>. */
#ifndef PTO_INSN_H
#define PTO_INSN_H

/* Rule of an instruction and its value form. */
enum {
    PTO_RULE_NONE,
#define RULE(ID, ...) PTO_RULE_##ID,
#include <pto/ops/rules.def>
    PTO_RULE_COUNT
};

/* Size of the scratch operand, which comes last. */
enum {
    PTO_TMP_NONE,
#define SCRATCH_SIZE(ID, ...) PTO_TMP_##ID,
#include <pto/ops/rules.def>
    PTO_TMP_COUNT
};

/* What an instruction without unit moves, and its value form. NONE: a unit of the row runs it. */
enum {
    PTO_TRANSFER_NONE,
#define TRANSFER(ID, doc) PTO_TRANSFER_##ID,
#include <pto/ops/kinds.def>
};

/* How a tensor op maps its iteration space to its operands. NONE: not a structured op. */
enum {
    PTO_ITER_NONE,
#define ITERATION_RULE(ID, doc) PTO_ITER_##ID,
#include <pto/ops/kinds.def>
};

#endif
