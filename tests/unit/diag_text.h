/* For tests of messages: an arena and a diagnostics engine that prints into memory.
 *
 *     diag_text t;
 *     diag_text_begin(&t);
 *     ... use t.a and t.d ...
 *     diag_text_end(&t, "a.yaml:1:1: error: [E1006] ...\n");     compares, releases */
#ifndef TESTS_DIAG_TEXT_H
#define TESTS_DIAG_TEXT_H

#include "ir/base/diag.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct diag_text {
    arena *a;
    diag_engine *d;
    FILE *out;
    char *text;
    size_t n;
} diag_text;

static inline void diag_text_begin(diag_text *t)
{
    t->text = NULL;
    t->out = open_memstream(&t->text, &t->n);
    assert_non_null(t->out);
    t->a = arena_create("test");
    t->d = diag_create(t->out, 0);
}

/* `want` NULL: whatever was printed. */
static inline void diag_text_end(diag_text *t, const char *want)
{
    diag_destroy(t->d);
    fclose(t->out);
    arena_destroy(t->a);
    if (want != NULL) assert_string_equal(t->text, want);
    free(t->text);
}

#endif
