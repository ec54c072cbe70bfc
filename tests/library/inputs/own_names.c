/* A program whose functions are called like those inside of the library, which it holds. */
#include <pto/pto.h>

#include <stdio.h>

int arena_alloc(void), diag_error(void), module_verify(void), call_bind(void);
int arena_alloc(void) { return 1; }
int diag_error(void) { return 2; }
int module_verify(void) { return 3; }
int call_bind(void) { return 4; }

int main(int argc, char **argv)
{
    pto_context_params params = {.struct_size = sizeof params, .prefix = argv[argc - 1]};
    pto_context *c;
    pto_pipeline *p;
    pto_program *program;
    pto_result r = pto_context_create(&params, &c);
    if (r == PTO_RESULT_OK) r = pto_pipeline_read(c, "reference.yaml", NULL, &p);
    if (r == PTO_RESULT_OK) r = pto_compile_text(p, "func @f() {\n  return\n}\n", 23, "f.ptir", &program);
    printf("%d %d %s%s", (int)r, arena_alloc() + diag_error() + module_verify() + call_bind(), pto_diagnostics_text(c),
           r == PTO_RESULT_OK ? pto_program_text(program) : "");
    pto_context_destroy(c);
    return 0;
}
