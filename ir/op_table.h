/* The ops of a session: the rows of ir/ops, and rows that are added at run time, such as those of plugins.
 *
 * A table belongs to the code that makes it and outlives all contexts that use it (context_set_ops); contexts that
 * share a table have the same kinds. Added kinds are numbered from OP_KIND_COUNT on. Every function takes NULL for the
 * rows of ir/ops alone. One thread at a time. */
#ifndef IR_OP_TABLE_H
#define IR_OP_TABLE_H

#include "ir/op_form.h"

/* Where rows come from that are not in the table yet. */
typedef struct op_source {
    void *self;
    /* Adds the row of a name (and others), if it has it. What keeps it from that is reported. */
    void (*find)(void *self, op_table *t, str name);
    /* Names that `find` knows, NULL-ended, and why it does not know others, as the end of a sentence. Both live as long
     * as the source. */
    const char *const *(*names)(void *self);
    const char *(*excuse)(void *self);
} op_source;

/* With the rows of ir/ops alone; lives in `a`. */
op_table *op_table_create(arena *a);
/* `source` is copied, and asked about names without a row. */
void op_table_set_source(op_table *t, const op_source *source);

/* Adds a row, of which a copy is kept; what it points at lives as long as the table. Its name has a dialect that is
 * none of ours (op_dialect_is_ours) and no row has it yet: BUG otherwise, or when there is no number left. */
op_kind op_table_add(op_table *t, const op_info *row);
/* A level that ops of the table may have: the one of this name, or a new one; LEVEL_NONE when
 * there are LEVELS_MAX. */
ir_level op_table_add_level(op_table *t, const char *name);
/* Whether names that begin with this word and a dot are those of ir/ops. */
bool op_dialect_is_ours(str dialect);

/* What a search finds without asking the source. */
op_kind op_table_find_added(const op_table *t, str name);
/* Why the source does not know a name; NULL for one that it was not asked about. */
const char *op_table_excuse(const op_table *t, str name);

#endif
