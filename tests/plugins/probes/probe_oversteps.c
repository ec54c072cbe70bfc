/* Writes one byte past the end of what it took: a build with AddressSanitizer sees it. */
#include <pto/plugin.h>

#include <stdbool.h>
#include <stdlib.h>

static const char *const kinds[] = {"heap", "scratch", NULL};

#define OPTIONS(X) \
    X(OF, ENUM, "of", .def = "heap", .choices = kinds, .doc = "Whose end.", .example = "with: { of: scratch }")
PTO_OPTIONS(OPTIONS);

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)unit;
    const bool is_heap = pto_opt_i64(run, OPT_OF) == 0;
    char *volatile const bytes = is_heap ? malloc(8) : PTO_SCRATCH(run, char, 8);
    bytes[8] = 1;
    if (is_heap) free(bytes);
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.probe-oversteps",
                              .summary = "Write past the end",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.probe-oversteps", "pass:test.probe-oversteps", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
