/* pto-reduce: makes a module that fails smaller. */
#include "core/core_diag.h"
#include "ir/base/monotonic.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/reduce/reduce.h"
#include "tools/session/case_folder.h"
#include "tools/session/tool_main.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "pto-reduce FILE.ptir --test 'COMMAND {}' [-o OUT]   or   pto-reduce FILE.ptir --code CODE [-o OUT]";
static const char summary[] = "Makes a module smaller, as long as COMMAND, with {} for the file, has status 0, or as "
                              "long as compiling it reports\n"
                              "CODE. With --code, steps that are not needed for that are named too.";

enum { TEST_SECONDS_MAX = 60, TESTS_MAX = 5000, SECONDS_MAX = 600 };

typedef struct job {
    session *s;
    flight_recorder *recorder;
    const char *command, *code; /* one of them */
    const char *folder, *path;  /* of the file that commands read */
    bool *is_removed;           /* by step of the pipeline; NULL: there is none */
} job;

static src_pos tool(void) { return (src_pos){"pto-reduce", 0, 0}; }

/* ---- a trial, in a process of its own: what fails may take it along ---- */

/* Waits for the child, at most TEST_SECONDS_MAX; true when it ended with status 0. */
static bool succeeds(pid_t child)
{
    int wait_status = 0;
    const int fd = pidfd_open(child, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int ready = fd >= 0 ? poll(&ended, 1, TEST_SECONDS_MAX * 1000) : 1;
    while (ready < 0 && errno == EINTR) ready = poll(&ended, 1, TEST_SECONDS_MAX * 1000);
    if (ready == 0) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) continue;
    if (fd >= 0) close(fd);
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

/* In the child: it ends with us, and prints nothing. */
static void begin_child(pid_t us)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != us) _exit(2);
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++) dup2(nothing, fd);
}

/* The command with the path in place of each `{}`. */
static const char *command_of(const job *j)
{
    text_buffer t;
    text_init(&t);
    const char *p = j->command;
    for (const char *hole; (hole = strstr(p, "{}")) != NULL; p = hole + 2) {
        text_put(&t, p, (size_t)(hole - p));
        command_line_put_word(&t, j->path);
    }
    text_puts(&t, p);
    return text_keep(&t, j->s->arena);
}

static status write_text(const job *j, str text)
{
    file_writer w;
    TRY(file_writer_open(&w, j->s->diags, j->path));
    file_writer_put(&w, text.p, text.n);
    return file_writer_commit(&w);
}

static bool command_keeps(void *self, str text)
{
    const job *j = self;
    const pid_t us = getpid();
    if (write_text(j, text) != OK) return false;
    const pid_t child = fork();
    if (child == 0) {
        begin_child(us);
        execl("/bin/sh", "sh", "-c", command_of(j), (char *)NULL);
        _exit(127);
    }
    return child > 0 && succeeds(child);
}

static bool is_reported(const diag_engine *d, const char *code)
{
    for (uint32_t i = 0; i < diag_record_count(d); i++) {
        const diag_record *r = diag_record_at(d, i);
        if (r->code != NULL && strcmp(r->code, code) == 0) return true;
    }
    return false;
}

/* The line with `--remove` for each step that is left out. */
static command_line line_without(const job *j)
{
    const command_line *line = j->s->line;
    const contract *c = &j->s->opened.contract;
    command_line out = *line;
    out.uses = arena_array(j->s->arena, line->use_count + c->step_count, sizeof *out.uses);
    if (line->use_count > 0) memcpy(out.uses, line->uses, line->use_count * sizeof *out.uses);
    for (uint32_t i = 0; i < c->step_count; i++)
        if (j->is_removed[i])
            out.uses[out.use_count++] = (cli_use){.option = OPTION_REMOVE, .value = c->steps[i].step->id};
    return out;
}

/* In the child, in a session of its own: what pto-opt would do with the text. */
static bool compiling_reports(const job *j, str text)
{
    const command_line line = j->is_removed != NULL ? line_without(j) : *j->s->line;
    flight_recorder own = *j->recorder; /* what the worker keeps of its process is not of this one */
    own.process = NULL;
    session s;
    module *m = NULL;
    const bool is_read = session_open(&s, &line, &own) == EXIT_STATUS_OK &&
                         session_open_pipeline(&s, NULL) == EXIT_STATUS_OK &&
                         parse_module(s.context, text, line.arguments[0], &m) == OK && module_verify(m) == OK;
    const bool is_compiled = is_read && session_compile(&s, m, &own) == EXIT_STATUS_OK;
    (void)is_compiled; /* what it reports counts */
    return is_reported(s.diags, j->code);
}

static bool code_keeps(void *self, str text)
{
    const job *j = self;
    const pid_t us = getpid(), child = fork();
    if (child == 0) {
        begin_child(us);
        _exit(compiling_reports(j, text) ? 0 : 1);
    }
    return child > 0 && succeeds(child);
}

/* ---- steps ---- */

/* Leaves out, one after the other, the steps without which the code is still reported. */
static bool drop_steps(job *j, reducer *r)
{
    bool is_any = false;
    for (uint32_t i = j->s->opened.contract.step_count; j->is_removed != NULL && i-- > 0;) {
        if (j->is_removed[i] || r->tests >= r->tests_max) continue;
        j->is_removed[i] = true;
        r->tests++;
        if (code_keeps(j, r->best))
            is_any = true;
        else
            j->is_removed[i] = false;
    }
    return is_any;
}

/* ---- the whole ---- */

static status read_job(job *j)
{
    const command_line *line = j->s->line;
    j->command = command_line_value(line, OPTION_TEST);
    j->code = command_line_value(line, OPTION_CODE);
    if (line->argument_count != 1 || (j->command == NULL) == (j->code == NULL)) {
        diag_error(j->s->diags, tool(), &E1504, "one file and one of --test and --code are needed");
        diag_note(j->s->diags, NO_POS, "usage: %s", usage);
        return FAILED;
    }
    if (j->command == NULL) return OK;
    if (strstr(j->command, "{}") == NULL) {
        diag_error(j->s->diags, tool(), &E1503, "option `--test` needs a command with {} for the file, not `%s`",
                   j->command);
        return FAILED;
    }
    j->folder = case_folder_make(j->s->arena);
    if (j->folder == NULL) {
        diag_error(j->s->diags, tool(), &E1501, "cannot create a folder: %s", strerror(errno));
        return FAILED;
    }
    FLIGHT_SET(j->recorder, folder, str_from(j->folder));
    j->path = file_join(j->s->arena, j->folder, "module.ptir");
    return OK;
}

static status read_bounds(const job *j, reducer *r)
{
    int64_t tests, seconds;
    TRY(command_line_i64(j->s->diags, j->s->line, OPTION_TESTS, 1, 1000000, TESTS_MAX, &tests));
    TRY(command_line_i64(j->s->diags, j->s->line, OPTION_SECONDS, 1, 1000000, SECONDS_MAX, &seconds));
    r->tests_max = (uint32_t)tests;
    r->deadline_ns = monotonic_ns() + (uint64_t)seconds * 1000000000u;
    return OK;
}

/* A sentence on stderr: how small it is, and what of the pipeline is not needed. */
static void tell(const job *j, reducer *r, str text)
{
    if (r->parses)
        fprintf(stderr, "pto-reduce: %" PRIu32 " ops became %" PRIu32, reduce_count_ops(r, text),
                reduce_count_ops(r, r->best));
    else
        fprintf(stderr, "pto-reduce: %zu bytes became %zu", text.n, r->best.n);
    fprintf(stderr, " in %" PRIu32 " tests%s\n", r->tests, r->is_stopped ? ", and a bound was reached" : "");
    bool is_any = false;
    for (uint32_t i = 0; j->is_removed != NULL && i < j->s->opened.contract.step_count; i++) {
        if (!j->is_removed[i]) continue;
        fprintf(stderr, "%s --remove=%s",
                is_any ? "" : "pto-reduce: not needed for it:", j->s->opened.contract.steps[i].step->id);
        is_any = true;
    }
    if (is_any) fputc('\n', stderr);
}

static exit_status reduce(job *j, reducer *r, str text)
{
    if (!r->keeps(j, text)) {
        if (j->code != NULL)
            diag_error(j->s->diags, (src_pos){r->file, 0, 0}, &E1510, "compiling it does not report `%s`", j->code);
        else
            diag_error(j->s->diags, (src_pos){r->file, 0, 0}, &E1510, "the test does not end with status 0 for it: %s",
                       j->command);
        return EXIT_STATUS_NO;
    }
    reduce_run(r, text);
    if (drop_steps(j, r)) reduce_again(r);
    if (!session_is_quiet(j->s)) tell(j, r, text);
    const char *path = command_line_value(j->s->line, OPTION_OUTPUT);
    file_writer w;
    if (file_writer_open(&w, j->s->diags, path != NULL ? path : "-") != OK) return EXIT_STATUS_OUTPUT;
    file_writer_put(&w, r->best.p, r->best.n);
    return file_writer_commit(&w) == OK ? EXIT_STATUS_OK : EXIT_STATUS_OUTPUT;
}

static exit_status run(session *s, flight_recorder *recorder)
{
    job j = {.s = s, .recorder = recorder};
    reducer r = {.arena = s->arena, .context = s->context, .diags = s->diags, .self = &j};
    str text;
    TRY_EXIT(session_open_pipeline(s, NULL));
    TRY_AS(EXIT_STATUS_USAGE, read_job(&j));
    TRY_AS(EXIT_STATUS_USAGE, read_bounds(&j, &r));
    r.file = s->line->arguments[0];
    r.keeps = j.code != NULL ? code_keeps : command_keeps;
    exit_status code = EXIT_STATUS_USAGE;
    if (j.code != NULL && s->has_pipeline)
        j.is_removed = arena_array(s->arena, s->opened.contract.step_count, sizeof *j.is_removed);
    if (flight_recorder_phase(recorder, "reducing"))
        code = EXIT_STATUS_RESOURCES;
    else if (file_read(s->arena, s->diags, r.file, INT32_MAX, &text) == OK)
        code = reduce(&j, &r, text);
    if (j.folder != NULL) file_remove_tree(j.folder);
    FLIGHT_SET(recorder, folder, STR(""));
    return code;
}

int main(int argc, char **argv)
{
    static const cli_tool self = {"pto-reduce", usage, summary, TOOL_REDUCE, NULL, NULL, run};
    return tool_main(&self, argc, argv);
}
