/* A backend that fills its results with zeros and does beside that what PTO_TEST_BACKEND says: sleeps on when it is
 * asked to stop, or changes the process before it writes a file of the report. */
#include <pto/plugin.h>

#include <fcntl.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pto_str text(const char *s) { return (pto_str){s, strlen(s)}; }

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    (void)run;
    (void)function;
    *exe = NULL;
    return PTO_OK;
}

static void sleep_on(const pto_run *run)
{
    close(open("begun", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    while (!pto_should_stop(run)) usleep(1000);
    usleep(20000);
}

static void change_process(const pto_run_sink *to)
{
    (void)!chdir("elsewhere");
    umask(0777);
    (void)fesetround(FE_UPWARD);
    if (to->file_begin == NULL) return;
    to->file_begin(to->self, text("note.txt"));
    (void)!chdir("..");
    to->file_write(to->self, "note\n", 5);
    umask(0777);
    to->file_end(to->self);
    (void)!chdir("elsewhere");
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    (void)exe;
    const char *way = getenv("PTO_TEST_BACKEND");
    for (uint32_t i = 0; i < call->result_count; i++) memset(call->results[i]->data, 0, call->results[i]->bytes);
    if (way != NULL && strcmp(way, "sleep") == 0) sleep_on(run);
    if (way != NULL && strcmp(way, "process") == 0) change_process(call->sink);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend backend = {.struct_size = sizeof backend,
                                    .id = "test.hostile-backend",
                                    .summary = "Do to the host what no backend should",
                                    .consumes = PTO_STRS("tensor/1"),
                                    .prepare = prepare,
                                    .execute = execute,
                                    .release = release};
PTO_PLUGIN("test.hostile-backend", "backend:test.hostile-backend", "", .version = "1.0.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
