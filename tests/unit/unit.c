/* The main program of every unit test executable: runs what TEST registered. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

static unit_test *first, **end = &first;
static size_t count;

void unit_register(unit_test *test)
{
    *end = test;
    end = &test->next;
    count++;
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (count == 0) {
        fprintf(stderr, "%s: no TEST in this file\n", argv[0]);
        return 1;
    }
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    if (tests == NULL) return 75;
    size_t n = 0;
    for (const unit_test *t = first; t != NULL; t = t->next)
        tests[n++] = (struct CMUnitTest){.name = t->name, .test_func = t->run};
    int failed = _cmocka_run_group_tests(argv[0], tests, n, NULL, NULL);
    free(tests);
    return failed == 0 ? 0 : 1;
}
