/* Index expressions as C of int64_t, for code generators. */
#ifndef INDEX_TEXT_H
#define INDEX_TEXT_H

#include "scratch_text.h"

/* What a generator calls the parts of an expression. */
typedef struct index_words {
    void *self;
    const char *(*symbol)(void *self, pto_str name);
    const char *(*value)(void *self, pto_value v);
    /* A name that stands for all of an expression; NULL: it has none. */
    const char *(*name)(void *self, pto_expr x);
    /* Functions of two arguments, that round down, round up, .. */
    const char *floordiv, *ceildiv, *mod, *min, *max;
    /* Whether an expression is never below 0: C divides towards zero, so `/` and `%` do for two of these. NULL: no
     * division is asked about, all are functions. */
    int (*is_natural)(void *self, pto_expr x);
} index_words;

/* Expressions that have a name from where it is declared to the end of its block, where `count` is set back. */
typedef struct index_names {
    struct index_name {
        pto_expr expr;
        const char *name;
    } *items;
    uint32_t count, capacity;
} index_names;
/* The text of `name` must live as long as the run. */
void index_names_add(index_names *names, pto_expr x, const char *name);
/* The latest name; NULL: it has none. */
const char *index_names_find(const index_names *names, pto_expr x);

/* The expression, in scratch memory of the run. */
const char *index_text(const pto_run *run, const index_words *w, pto_expr x);
/* The same as a factor or a divisor: in parentheses where it is a sum, product or division. */
const char *index_text_factor(const pto_run *run, const index_words *w, pto_expr x);
/* The same without the name of the whole. */
const char *index_text_in_full(const pto_run *run, const index_words *w, pto_expr x);

#endif
