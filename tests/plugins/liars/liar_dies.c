/* Ends the process, or its memory, in the way its option says; or only talks. */
#include <pto/plugin.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const ways[] = {"segfault", "exit", "abort", "recursion", "scratch", "heap", "print",
                                   "hang",     "slow", "stop",  "silent",    "fork",    "odd",  NULL};
enum { SEGFAULT, EXIT, ABORT, RECURSION, SCRATCH, HEAP, PRINT, HANG, SLOW, STOP, SILENT, FORK, ODD };

#define OPTIONS(X) \
    X(WAY, ENUM, "way", .def = "segfault", .choices = ways, .doc = "how to end", .example = "with: { way: exit }")
PTO_OPTIONS(OPTIONS);

static int deeper(const volatile int *above)
{
    volatile int here[1024];
    here[0] = above[0] + 1;
    return here[0] < 0 ? 0 : deeper(here) + here[0];
}

/* Takes memory until there is none, and writes to it unasked. */
static void take_heap(void)
{
    for (;;) {
        volatile char *p = malloc(16u << 20);
        for (size_t i = 0; i < 16u << 20; i += 4096) p[i] = 1;
    }
}

static pto_status run(const pto_run *run, pto_op unit)
{
    volatile int zero = 0;
    switch (pto_opt_i64(run, OPT_WAY)) {
    case SEGFAULT: raise(SIGSEGV); break;
    case EXIT: exit(0);
    case ABORT: abort();
    case RECURSION: return deeper(&zero) == 0 ? PTO_OK : PTO_FAILED;
    case SCRATCH:
        for (;;) memset(PTO_SCRATCH(run, char, 16u << 20), 1, 16u << 20);
    case HEAP: take_heap(); break;
    case PRINT: puts("a plugin talks"); break;
    case HANG:
        for (;;) pause();
    case SLOW: /* does not stop, but ends */
        while (!pto_should_stop(run)) usleep(1000);
        break;
    case STOP:
        while (!pto_should_stop(run)) usleep(1000);
        return pto_error(unit, "test.liar-dies/interrupted", "stopped while looking at the function");
    case SILENT:
        while (!pto_should_stop(run)) usleep(1000);
        return PTO_FAILED;
    case FORK:
        if (fork() < 0) return pto_error(unit, "test.liar-dies/no-process", "no second process");
        break;
    case ODD: return 12345;
    default: break;
    }
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-dies",
                              .summary = "End the process",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.liar-dies", "pass:test.liar-dies", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
