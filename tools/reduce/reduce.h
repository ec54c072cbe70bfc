/* Delta debugging of modules: a smaller text that still has a property which the caller tests.
 *
 * Proposals come in a fixed order, large ones first, and each that keeps the property is taken at once; the end is
 * reached when no proposal is taken any more, or when a bound is. The same module and the same answers make the same
 * result. One thread. */
#ifndef TOOLS_REDUCE_REDUCE_H
#define TOOLS_REDUCE_REDUCE_H

#include "ir/module.h"

typedef struct reducer {
    arena *arena; /* memory of all that is tried */
    ir_context *context;
    diag_engine *diags;
    const char *file;                    /* of the module, for resources and messages */
    bool (*keeps)(void *self, str text); /* whether this text still has the property */
    void *self;
    uint32_t tests_max;   /* calls of `keeps` */
    uint64_t deadline_ns; /* of monotonic_ns; 0: none */

    /* ---- what is found ---- */
    str best; /* NUL-terminated, in the arena */
    uint32_t tests;
    bool is_stopped; /* by a bound */
    bool parses;     /* the text is read as a module; without, lines are taken out */
    bool verifies;   /* and that is a valid one, as all that are tried then are */
    uint64_t *tried; /* digests of texts that were tested */
    uint32_t tried_count, tried_capacity;
} reducer;

/* `text` has the property. Fills in what is found; needs no call at the end. */
void reduce_run(reducer *r, str text);
/* Again from what was found: after the caller has made the test easier to pass. */
void reduce_again(reducer *r);

/* Ops of a text; 0 when it cannot be read. */
uint32_t reduce_count_ops(reducer *r, str text);

/* ---- for proposals ---- */
/* Tests a text, unless it was tested before or a bound is reached; true: it is the best one now. */
bool reduce_try(reducer *r, str text);
/* Prints a changed module and tries it, when it verifies or need not. */
bool reduce_try_module(reducer *r, module *m);
/* The best text as a module, which the caller destroys; NULL when it cannot be read. */
module *reduce_module(reducer *r, str text);
/* True while something was taken. */
bool reduce_ir(reducer *r);
bool reduce_words(reducer *r);
bool reduce_lines(reducer *r);

#endif
