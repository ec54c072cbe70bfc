/* Breaks what only pto-plugin lint looks at: exports, writable data, documentation. */
#include <pto/plugin.h>

__attribute__((visibility("default"))) int test_lint_exported(void);
int test_lint_exported(void)
{
    static int calls;
    static _Thread_local int of_thread;
    static int of_process __attribute__((section("of_process"))) = 1; /* which it lets be */
    return ++calls + ++of_thread + ++of_process;
}

static const pto_option bare = {
    .struct_size = sizeof bare, .type = PTO_OPT_BOOL, .name = "bare", .doc = "bare of an example", .def = "true"};
static const pto_option *const options[] = {&bare, NULL};

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return test_lint_exported() > 0 ? PTO_OK : PTO_FAILED;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-lint",
                              .summary = "",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = options,
                              .run = run};
PTO_PLUGIN("test.abi-lint", "pass:test.abi-lint", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
