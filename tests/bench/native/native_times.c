/* How long modules take to become callable, in `./dev bench native`.
 *
 *     native_times CACHE_DIR PIPELINE MACHINE FILE.ptir ..
 *
 * Prints a line for each file: its name, the milliseconds of the passes, the median of those until a callable is made
 * with the C compiler, and of those with what the compiler made before, which is kept in CACHE_DIR. */
#include <pto/pto.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES_MAX = 201, COMPILES_MIN = 5, LOADS = 101, PATH_BYTES = 4096 };
static const double compile_seconds = 1; /* or COMPILES_MIN, whichever takes longer */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, compare);
    return ms[count / 2];
}

static void check(pto_context *c, pto_result result)
{
    if (result == PTO_RESULT_OK) return;
    fprintf(stderr, "%s", pto_diagnostics_text(c));
    exit(1);
}

/* Makes a callable of the first function and lets it go; the milliseconds of the first. */
static double time_callable(pto_context *c, pto_program *p)
{
    pto_callable *callable = NULL;
    const double begin = now_ms();
    check(c, pto_callable_create(p, pto_program_function(p, 0)->name, &callable));
    const double end = now_ms();
    pto_callable_destroy(callable);
    return end - begin;
}

static pto_pipeline *open_pipeline(pto_context *c, const char *path, const char *machine, const char *cache,
                                   const char *cache_folder)
{
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "backend.with.cache-dir=%s", cache_folder);
    const char *settings[] = {cache, folder, NULL};
    const pto_pipeline_params params = {.struct_size = sizeof params, .machine = machine, .settings = settings};
    pto_pipeline *p = NULL;
    check(c, pto_pipeline_read(c, path, &params, &p));
    return p;
}

static void time_file(pto_context *c, pto_pipeline *compiling, pto_pipeline *loading, const char *path)
{
    double ms[TIMES_MAX];
    int count = 0;
    pto_program *p = NULL;
    const double begin = now_ms();
    check(c, pto_compile_file(compiling, path, &p));
    const double passes = now_ms() - begin, first = now_ms();
    while (count < TIMES_MAX && (count < COMPILES_MIN || now_ms() - first < 1e3 * compile_seconds))
        ms[count++] = time_callable(c, p);
    pto_program_destroy(p);
    const double compiled = median(ms, count);
    check(c, pto_compile_file(loading, path, &p));
    (void)time_callable(c, p);
    for (count = 0; count < LOADS; count++) ms[count] = time_callable(c, p);
    pto_program_destroy(p);
    printf("%s\t%.3f\t%.3f\t%.3f\n", path, passes, compiled, median(ms, count));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    pto_context *c = NULL;
    check(c, pto_context_create(NULL, &c));
    pto_pipeline *compiling = open_pipeline(c, argv[2], argv[3], "backend.with.cache=false", argv[1]);
    pto_pipeline *loading = open_pipeline(c, argv[2], argv[3], "backend.with.cache=true", argv[1]);
    for (int i = 4; i < argc; i++) time_file(c, compiling, loading, argv[i]);
    pto_context_destroy(c);
    return 0;
}
