/* What the columns of an op row mean, in words: for docs and `pto-inspect ops`. Texts are static. */
#ifndef IR_OP_WORDS_H
#define IR_OP_WORDS_H

#include "ir/op_info.h"

/* "tensor/1", "every level", .. */
const char *op_home_words(op_home home); /* below HOME_COUNT */
/* How operands lie in the iteration space; NULL when the op has none. */
const char *space_rule_words(space_rule rule);
/* Capacities and valid regions that an instruction requires and produces; NULL when it has no rule. */
const char *insn_rule_words(insn_rule rule);
/* The scratch operand; NULL when there is none. */
const char *insn_tmp_words(insn_tmp tmp);
/* What is computed at compile time; NULL: nothing. */
const char *fold_rule_words(fold_rule rule);
/* What an attribute takes: "an integer", "a list of index expressions", .. */
const char *attr_spec_words(const attr_spec *spec);
/* "tensor or gm" of a set of enum type_class, onto `out`. */
void type_classes_print(uint32_t classes, text_buffer *out);

/* Onto `out`: "; these have: tensor.reduce_sum, .." of the ops of the same dialect as a row that have an attribute of
 * the name; nothing when there are none, or many. */
void attr_takers_print(const op_table *t, const op_info *info, str name, text_buffer *out);

/* The text form of a kind, such as "tile.load %src[offsets] size(sizes) {..} : types"; nothing for ops whose form is
 * not built from the row. */
void op_form_words(const op_table *t, op_kind kind, text_buffer *out);

#endif
