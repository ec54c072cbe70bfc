/* A module for unit tests of ir/ and core/, with its context and the diagnostics that it leads to.
 *
 *     module_fixture f = module_fixture_verified("func @f() {\n  return\n}\n");
 *     ... use f.m, f.c and f.d ...
 *     module_fixture_end(&f); */
#ifndef TESTS_MODULE_FIXTURE_H
#define TESTS_MODULE_FIXTURE_H

#include "ir/module.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"

#include "tests/unit/unit.h"

typedef struct module_fixture {
    diag_engine *d; /* keeps records, prints nothing */
    ir_context *c;
    module *m;
} module_fixture;

/* No module yet: for tests of the parser. */
static inline module_fixture module_fixture_none(void)
{
    module_fixture f = {.d = diag_create(NULL, 0)};
    f.c = context_create(f.d);
    return f;
}

/* An empty module. */
static inline module_fixture module_fixture_empty(void)
{
    module_fixture f = module_fixture_none();
    f.m = module_create(f.c, 0);
    return f;
}

/* What the text, called t.ptir, reads as. A text that does not read fails the test. */
static inline module_fixture module_fixture_parsed(const char *text)
{
    module_fixture f = module_fixture_none();
    if (parse_module(f.c, str_from(text), "t.ptir", &f.m) != OK) fail_msg("%s", diag_record_at(f.d, 0)->text);
    return f;
}

/* The same of a text that must verify, too. */
static inline module_fixture module_fixture_verified(const char *text)
{
    module_fixture f = module_fixture_parsed(text);
    if (module_verify(f.m) != OK) fail_msg("%s", diag_record_at(f.d, 0)->text);
    return f;
}

/* The module may have been destroyed before, and then is NULL. */
static inline void module_fixture_end(const module_fixture *f)
{
    if (f->m != NULL) module_destroy(f->m);
    context_destroy(f->c);
    diag_destroy(f->d);
}

#endif
