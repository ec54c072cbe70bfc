/* plugins/shared/native/native_compiler.h: compilers that are missing, fail, hang, print without end. */
#include "tests/unit/plugins/native_fixture.h"

#include <native_compiler.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static native_status find(native_fixture *f, const char *wanted, native_compiler *c)
{
    memset(c, 0, sizeof *c);
    return native_compiler_find(wanted, c, &f->e);
}

static native_status run(native_fixture *f, const char *program, double seconds_max)
{
    static const char *const arguments[] = {"first", "second one", NULL};
    native_compiler c;
    assert_int_equal(find(f, program, &c), NATIVE_OK);
    const native_compile job = {f->folder, {arguments}, seconds_max, NULL, NULL};
    return native_compiler_run(&c, &job, &f->e);
}

static void set_path(const char *path, char before[PATH_MAX])
{
    snprintf(before, PATH_MAX, "%s", getenv("PATH"));
    setenv("PATH", path, 1);
}

/* ---- finding it ---- */

TEST(the_first_of_the_usual_names_in_path)
{
    native_fixture f = native_fixture_begin();
    native_compiler c;
    char before[PATH_MAX], path[PATH_MAX];
    snprintf(path, sizeof path, "::%s/missing:%s:", f.folder, f.folder);
    set_path(path, before);
    const char *clang = write_program(&f, "clang", "exit 0");
    write_program(&f, "cc", "exit 0");
    assert_int_equal(find(&f, NULL, &c), NATIVE_OK);
    assert_string_equal(c.path, clang);
    assert_string_equal(c.name, "clang");
    const char *gcc = write_program(&f, "gcc", "exit 0");
    assert_int_equal(find(&f, NULL, &c), NATIVE_OK);
    assert_string_equal(c.path, gcc);
    assert_int_equal(find(&f, "cc", &c), NATIVE_OK);
    assert_string_equal(c.name, "cc");
    setenv("PATH", before, 1);
    native_fixture_end(&f);
}

TEST(no_compiler_is_a_sentence_with_the_package)
{
    native_fixture f = native_fixture_begin();
    native_compiler c;
    char before[PATH_MAX];
    set_path(f.folder, before);
    assert_int_equal(find(&f, NULL, &c), NATIVE_NO_COMPILER);
    assert_string_equal(f.e.text,
                        "no C compiler is in a folder of $PATH; Debian packages `gcc` and `libc6-dev` have one");
    assert_int_equal(find(&f, "icc", &c), NATIVE_NO_COMPILER);
    assert_string_equal(f.e.text,
                        "C compiler `icc` is in no folder of $PATH; Debian packages `gcc` and `libc6-dev` have one");
    write_text(path_in(&f, "gcc"), "text", 0644);
    assert_int_equal(find(&f, NULL, &c), NATIVE_NO_COMPILER);
    assert_int_equal(find(&f, path_in(&f, "gcc"), &c), NATIVE_NO_COMPILER);
    assert_says(&f, "gcc` is not a program that can be run");
    assert_int_equal(find(&f, f.folder, &c), NATIVE_NO_COMPILER);
    unsetenv("PATH");
    assert_int_equal(find(&f, NULL, &c), NATIVE_NO_COMPILER);
    setenv("PATH", before, 1);
    native_fixture_end(&f);
}

TEST(another_compiler_at_the_same_path_has_another_identity)
{
    native_fixture f = native_fixture_begin();
    native_compiler a, same, b;
    const char *program = write_program(&f, "gcc", "exit 0");
    assert_int_equal(find(&f, program, &a), NATIVE_OK);
    assert_int_equal(find(&f, program, &same), NATIVE_OK);
    write_program(&f, "gcc", "exit 1");
    assert_int_equal(find(&f, program, &b), NATIVE_OK);
    assert_string_equal(a.identity, same.identity);
    assert_string_not_equal(a.identity, b.identity);
    native_fixture_end(&f);
}

/* ---- running it ---- */

TEST(arguments_folder_and_environment)
{
    native_fixture f = native_fixture_begin();
    setenv("CPATH", "/elsewhere", 1);
    const char *program = write_program(&f, "gcc",
                                        "echo \"$#:$1:$2\" >out\n"
                                        "env | sed 's/=.*//' | grep -vxE 'PWD|_|SHLVL|OLDPWD' | sort >names\n"
                                        "[ \"$TMPDIR\" = \"$PWD\" ] && read x || echo nothing to read >>out");
    assert_int_equal(run(&f, program, 10), NATIVE_OK);
    unsetenv("CPATH");
    char text[256] = "";
    FILE *out = fopen(path_in(&f, "out"), "r"), *names = fopen(path_in(&f, "names"), "r");
    assert_non_null(out);
    assert_non_null(names);
    assert_true(fread(text, 1, sizeof text - 1, out) > 0);
    assert_string_equal(text, "2:first:second one\nnothing to read\n");
    memset(text, 0, sizeof text);
    assert_true(fread(text, 1, sizeof text - 1, names) > 0);
    assert_non_null(strstr(text, "LC_ALL\n"));
    assert_non_null(strstr(text, "PATH\n"));
    assert_non_null(strstr(text, "TMPDIR\n"));
    assert_null(strstr(text, "CPATH"));
    assert_null(strstr(text, "XDG"));
    fclose(out);
    fclose(names);
    native_fixture_end(&f);
}

TEST(the_first_error_line_is_shown)
{
    native_fixture f = native_fixture_begin();
    const char *program = write_program(&f, "gcc",
                                        "echo 'In file included from module.c:1:' >&2\n"
                                        "printf 'module.c:3:5: error: expected\\033 something\\n' >&2\n"
                                        "echo 'module.c:9:1: error: another' >&2\nexit 1");
    assert_int_equal(run(&f, program, 10), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 1: module.c:3:5: error: expected  something");
    program = write_program(&f, "gcc", "echo; echo first; echo second; exit 3");
    assert_int_equal(run(&f, program, 10), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 3: first");
    program = write_program(&f, "gcc", "printf 'without an end'; kill -SEGV $$");
    assert_int_equal(run(&f, program, 10), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended by signal 11: without an end");
    program = write_program(&f, "gcc", "exit 2");
    assert_int_equal(run(&f, program, 10), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 2");
    native_fixture_end(&f);
}

TEST(one_that_cannot_be_started)
{
    native_fixture f = native_fixture_begin();
    write_text(path_in(&f, "gcc"),
               "\x7f"
               "ELF that is none",
               0755);
    assert_int_equal(run(&f, path_in(&f, "gcc"), 10), NATIVE_COMPILER_FAILED);
    assert_says(&f, "gcc` cannot be started: Exec format error");
    static const char *const none[] = {NULL};
    native_compiler c;
    assert_int_equal(find(&f, write_program(&f, "cc", "exit 0"), &c), NATIVE_OK);
    const native_compile nowhere = {"/nonexistent", {none}, 10, NULL, NULL};
    assert_int_equal(native_compiler_run(&c, &nowhere, &f.e), NATIVE_COMPILER_FAILED);
    assert_says(&f, "cc` cannot be started: No such file or directory");
    const char *many[NATIVE_ARGUMENTS_MAX + 2];
    for (size_t i = 0; i <= NATIVE_ARGUMENTS_MAX; i++) many[i] = "x";
    many[NATIVE_ARGUMENTS_MAX + 1] = NULL;
    const native_compile too_many = {f.folder, {many}, 10, NULL, NULL};
    assert_int_equal(native_compiler_run(&c, &too_many, &f.e), NATIVE_COMPILER_FAILED);
    assert_says(&f, "cc` cannot be started: Argument list too long");
    native_fixture_end(&f);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The process whose number a program wrote to the file is gone, and nobody has to wait for it. */
static void assert_ended(const native_fixture *f, const char *name)
{
    char line[32] = "", path[64];
    FILE *file = fopen(path_in(f, name), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    const long process = strtol(line, NULL, 10);
    assert_true(process > 1);
    snprintf(path, sizeof path, "/proc/%ld", process);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(one_that_hangs_is_killed_with_its_children)
{
    native_fixture f = native_fixture_begin();
    const char *program = write_program(&f, "gcc", "sleep 600 & echo $! >child; echo $$ >self; wait");
    const double began = seconds();
    assert_int_equal(run(&f, program, 0.3), NATIVE_COMPILER_SLOW);
    assert_true(seconds() - began < 30);
    assert_string_equal(f.e.text, "C compiler `gcc` did not end within 0.3 s and was killed");
    assert_ended(&f, "child");
    assert_ended(&f, "self");
    native_fixture_end(&f);
}

TEST(one_that_leaves_a_child_does_not_hold_us_up)
{
    native_fixture f = native_fixture_begin();
    const char *program = write_program(&f, "gcc", "sleep 600 & echo $! >child; exit 0");
    const double began = seconds();
    assert_int_equal(run(&f, program, 300), NATIVE_OK);
    assert_true(seconds() - began < 30);
    assert_ended(&f, "child");
    native_fixture_end(&f);
}

TEST(one_that_prints_without_end_meets_its_limit)
{
    native_fixture f = native_fixture_begin();
    const char *program = write_program(&f, "gcc", "while :; do echo 'a line of text that has no end'; done");
    assert_int_equal(run(&f, program, 0.3), NATIVE_COMPILER_SLOW);
    program = write_program(&f, "gcc", "head -c 3000000 /dev/zero; echo; echo the error; exit 1");
    assert_int_equal(run(&f, program, 60), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 1: the error");
    native_fixture_end(&f);
}

static bool stop_at_once(void *self)
{
    ++*(int *)self;
    return true;
}

TEST(the_caller_can_stop_it)
{
    native_fixture f = native_fixture_begin();
    static const char *const none[] = {NULL};
    int asked = 0;
    native_compiler c;
    assert_int_equal(find(&f, write_program(&f, "gcc", "sleep 600"), &c), NATIVE_OK);
    const native_compile job = {f.folder, {none}, 0, stop_at_once, &asked};
    assert_int_equal(native_compiler_run(&c, &job, &f.e), NATIVE_STOPPED);
    assert_string_equal(f.e.text, "C compiler `gcc` was stopped");
    assert_int_equal(asked, 1);
    native_fixture_end(&f);
}

/* ---- several at a time ---- */

/* Runs the program with "first" and "second" at the same time. */
static native_status run_both(native_fixture *f, const char *program, double seconds_max)
{
    static const char *const first[] = {"first", NULL}, *const second[] = {"second", NULL};
    native_compiler c;
    assert_int_equal(find(f, program, &c), NATIVE_OK);
    const native_compile job = {f->folder, {first, second}, seconds_max, NULL, NULL};
    return native_compiler_run(&c, &job, &f->e);
}

TEST(both_run_at_the_same_time)
{
    native_fixture f = native_fixture_begin();
    /* Each waits for what the other one makes. */
    const char *program = write_program(&f, "gcc",
                                        "touch $1\n"
                                        "while ! [ -e first ] || ! [ -e second ]; do sleep 0.01; done");
    assert_int_equal(run_both(&f, program, 30), NATIVE_OK);
    assert_true(has_entry(&f, "first"));
    assert_true(has_entry(&f, "second"));
    native_fixture_end(&f);
}

TEST(the_first_of_several_that_fail_has_the_word)
{
    native_fixture f = native_fixture_begin();
    const char *program = write_program(&f, "gcc", "[ $1 = second ] || sleep 0.2; echo \"$1: error\"; exit 1");
    assert_int_equal(run_both(&f, program, 30), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 1: first: error");
    program = write_program(&f, "gcc", "echo \"$1: error\"; [ $1 = first ] || exit 2; touch whole");
    assert_int_equal(run_both(&f, program, 30), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 2: second: error");
    assert_true(has_entry(&f, "whole"));
    native_fixture_end(&f);
}

TEST(one_of_several_that_hangs_ends_all)
{
    native_fixture f = native_fixture_begin();
    const char *program =
        write_program(&f, "gcc", "echo $$ >self-$1; [ $1 = first ] || { sleep 600 & echo $! >child; wait; }");
    assert_int_equal(run_both(&f, program, 0.3), NATIVE_COMPILER_SLOW);
    assert_string_equal(f.e.text, "C compiler `gcc` did not end within 0.3 s and was killed");
    assert_ended(&f, "self-first");
    assert_ended(&f, "self-second");
    assert_ended(&f, "child");
    native_fixture_end(&f);
}

TEST(one_of_several_that_cannot_be_started_ends_all)
{
    native_fixture f = native_fixture_begin();
    static const char *const none[] = {NULL};
    const char *many[NATIVE_ARGUMENTS_MAX + 2];
    for (size_t i = 0; i <= NATIVE_ARGUMENTS_MAX; i++) many[i] = "x";
    many[NATIVE_ARGUMENTS_MAX + 1] = NULL;
    native_compiler c;
    assert_int_equal(find(&f, write_program(&f, "gcc", "echo $$ >self; sleep 600"), &c), NATIVE_OK);
    const native_compile job = {f.folder, {none, many}, 0, NULL, NULL};
    const double began = seconds();
    assert_int_equal(native_compiler_run(&c, &job, &f.e), NATIVE_COMPILER_FAILED);
    assert_says(&f, "gcc` cannot be started: Argument list too long");
    assert_true(seconds() - began < 30);
    native_fixture_end(&f);
}

/* ---- several threads ---- */

typedef struct runner {
    pthread_t thread;
    native_fixture *f;
    native_compiler c;
    int times;
    native_status status;
} runner;

static void *run_times(void *self)
{
    static const char *const none[] = {NULL};
    runner *r = self;
    native_error e;
    const native_compile job = {r->f->folder, {none}, 60, NULL, NULL};
    for (int i = 0; i < r->times && r->status == NATIVE_OK; i++) r->status = native_compiler_run(&r->c, &job, &e);
    return NULL;
}

static void on_child(int number) { (void)number; }

TEST(threads_wait_for_each_other_and_the_process_is_as_before)
{
    enum { THREADS = 3, TIMES = 5 };
    native_fixture f = native_fixture_begin();
    runner runners[THREADS];
    struct sigaction own = {.sa_handler = on_child}, after, before;
    int adopts = -1;
    assert_int_equal(sigaction(SIGCHLD, &own, &before), 0);
    const char *program = write_program(&f, "gcc", "mkdir busy || exit 1; sleep 0.02; rmdir busy; echo x >>count");
    for (int i = 0; i < THREADS; i++) {
        runners[i] = (runner){.f = &f, .times = TIMES};
        assert_int_equal(find(&f, program, &runners[i].c), NATIVE_OK);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&runners[i].thread, NULL, run_times, &runners[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(runners[i].thread, NULL), 0);
        assert_int_equal(runners[i].status, NATIVE_OK);
    }
    assert_int_equal(line_count(path_in(&f, "count")), TIMES * THREADS);
    assert_int_equal(sigaction(SIGCHLD, &before, &after), 0);
    assert_ptr_equal(after.sa_handler, on_child);
    assert_int_equal(prctl(PR_GET_CHILD_SUBREAPER, &adopts), 0);
    assert_int_equal(adopts, 0);
    native_fixture_end(&f);
}

TEST(one_that_waits_for_another_thread_can_be_stopped)
{
    native_fixture f = native_fixture_begin();
    static const char *const none[] = {NULL};
    const struct timespec moment = {.tv_nsec = 1000000};
    runner r = {.f = &f, .times = 1};
    native_compiler second;
    int asked = 0;
    const char *first = write_program(&f, "gcc", "touch began; until [ -e go ]; do sleep 0.01; done");
    assert_int_equal(find(&f, first, &r.c), NATIVE_OK);
    assert_int_equal(find(&f, write_program(&f, "cc", "touch second"), &second), NATIVE_OK);
    assert_int_equal(pthread_create(&r.thread, NULL, run_times, &r), 0);
    while (!has_entry(&f, "began")) nanosleep(&moment, NULL);
    const native_compile job = {f.folder, {none}, 60, stop_at_once, &asked};
    assert_int_equal(native_compiler_run(&second, &job, &f.e), NATIVE_STOPPED);
    assert_string_equal(f.e.text, "C compiler `cc` was stopped");
    assert_false(has_entry(&f, "second"));
    write_text(path_in(&f, "go"), "", 0600);
    assert_int_equal(pthread_join(r.thread, NULL), 0);
    assert_int_equal(r.status, NATIVE_OK);
    native_fixture_end(&f);
}

/* ---- the process afterwards ---- */

TEST(the_process_is_as_before)
{
    native_fixture f = native_fixture_begin();
    struct sigaction ignored = {.sa_handler = SIG_IGN}, default_one = {.sa_handler = SIG_DFL}, after;
    sigset_t blocked, mask;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    assert_int_equal(sigaction(SIGCHLD, &ignored, NULL), 0);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
    char folder[PATH_MAX], folder_after[PATH_MAX];
    assert_non_null(getcwd(folder, sizeof folder));
    const int files = entry_count("/proc/self/fd");
    int adopts = -1;
    assert_int_equal(run(&f, write_program(&f, "gcc", "exit 7"), 10), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc` ended with status 7");
    assert_int_equal(entry_count("/proc/self/fd"), files);
    assert_non_null(getcwd(folder_after, sizeof folder_after));
    assert_string_equal(folder, folder_after);
    assert_int_equal(sigaction(SIGCHLD, &default_one, &after), 0);
    assert_ptr_equal(after.sa_handler, SIG_IGN);
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &blocked, &mask), 0);
    assert_int_equal(sigismember(&mask, SIGCHLD), 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(prctl(PR_GET_CHILD_SUBREAPER, &adopts), 0);
    assert_int_equal(adopts, 0);
    native_fixture_end(&f);
}

TEST(descriptors_of_the_host_stay_its_own)
{
    native_fixture f = native_fixture_begin();
    const int left_open = open("/dev/null", O_RDONLY); /* not marked */
    const char *program = write_program(&f, "gcc", "ls /proc/self/fd | wc -l >count; ls -l /proc/$$/fd >list");
    assert_int_equal(run(&f, program, 10), NATIVE_OK);
    close(left_open);
    char text[1024] = "";
    FILE *list = fopen(path_in(&f, "list"), "r");
    assert_non_null(list);
    int nulls = 0;
    while (fgets(text, sizeof text, list) != NULL) nulls += strstr(text, "/dev/null") != NULL;
    fclose(list);
    assert_int_equal(nulls, 1); /* its input */
    native_fixture_end(&f);
}
