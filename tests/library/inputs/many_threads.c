/* many_threads PIPELINE MODULE: threads with a context each compile and call at the same time, and get the same bits.
 * The process stays as it was: locale, floating point, signal handlers, standard files. */
#include <pto/pto.h>

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, CALLS = 20, COUNT = 2 * 32 * 256 };

typedef struct worker {
    const char *pipeline, *module;
    float y[COUNT];
    const char *failed; /* or NULL */
} worker;

static worker workers[THREADS];

static const char *work(worker *w, pto_context *c)
{
    static float x[COUNT];
    int64_t shape[] = {2, 32, 256};
    const DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = 3, .dtype = {kDLFloat, 32, 1}, .shape = shape};
    DLTensor out = in;
    out.data = w->y;
    const DLTensor *inputs[] = {&in}, *outputs[] = {&out};
    pto_pipeline *p;
    pto_program *program, *again;
    pto_callable *f, *g;
    if (pto_pipeline_read(c, w->pipeline, NULL, &p)) return "pipeline";
    if (pto_compile_file(p, w->module, &program) || pto_compile_file(p, w->module, &again)) return "compile";
    /* Both stay open, and are called in turn. */
    if (pto_callable_create(program, NULL, &f) || pto_callable_create(again, "softmax", &g)) return "callable";
    for (int i = 0; i < CALLS; i++)
        if (pto_callable_call(i % 2 ? f : g, inputs, 1, outputs, 1)) return "call";
    pto_program_destroy(program);
    if (pto_callable_call(g, inputs, 1, outputs, 1)) return "call of the second";
    return strstr(pto_program_text(again), "func @softmax") == NULL ? "text" : NULL;
}

static void *run(void *self)
{
    worker *w = self;
    pto_context *c;
    if (pto_context_create(NULL, &c) != PTO_RESULT_OK)
        w->failed = "context";
    else
        w->failed = work(w, c);
    if (w->failed != NULL) fprintf(stderr, "%s: %s", w->failed, pto_diagnostics_text(c));
    pto_context_destroy(c);
    return NULL;
}

static void on_child(int number) { (void)number; }

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int failed = argc != 3;
    struct sigaction before = {.sa_handler = on_child}, after;
    sigaction(SIGCHLD, &before, NULL);
    fesetround(FE_UPWARD);
    if (failed) return 2;
    for (int i = 0; i < THREADS; i++) {
        workers[i].pipeline = argv[1];
        workers[i].module = argv[2];
        pthread_create(&threads[i], NULL, run, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        failed |= workers[i].failed != NULL || memcmp(workers[i].y, workers[0].y, sizeof workers[0].y) != 0;
    sigaction(SIGCHLD, NULL, &after);
    if (after.sa_handler != on_child) failed = !!fprintf(stderr, "SIGCHLD\n");
    if (fegetround() != FE_UPWARD) failed = !!fprintf(stderr, "rounding\n");
    if (uselocale((locale_t)0) != LC_GLOBAL_LOCALE) failed = !!fprintf(stderr, "locale\n");
    printf("%.9g\n", (double)workers[0].y[0]);
    return failed;
}
