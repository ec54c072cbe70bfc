/* Does while it is loaded what PTO_TEST_LOADING says: its constructor, or its entry ("entry-..."). */
#define pto_plugin_entry_v1 harmless_entry
#include "hostile.h"

#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

HOSTILE_NOTHING("test.hostile-loads");
#undef pto_plugin_entry_v1

/* What the start files of a compiler do under -Ofast. */
static void flush(void)
{
#if defined __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

static void hang(void)
{
    for (;;) pause();
}

static void hang_deaf(void)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    hang();
}

static void print(void)
{
    puts("GARBAGE");
    (void)fflush(stdout);
}

static void stay(void)
{
    if (fork() == 0) hang();
}

static void end(void) { exit(0); }
static void copy(void) { (void)!fork(); }
static void round_up(void) { (void)fesetround(FE_UPWARD); }
static void change_folder(void) { (void)!chdir("elsewhere"); }
static void take_rights(void) { umask(0777); }
static void take_files(void) { closefrom(0); }
static void raise_term(void) { (void)raise(SIGTERM); }
static void raise_pipe(void)
{
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
}
static void change_locale(void)
{
    const char *name = getenv("PTO_TEST_LOCALE");
    (void)setlocale(LC_ALL, name);
    const locale_t l = newlocale(LC_ALL_MASK, name, (locale_t)0);
    if (l != NULL) (void)uselocale(l);
}

static void act(const char *when)
{
    static const struct {
        const char *name;
        void (*act)(void);
    } acts[] = {{"flush", flush},
                {"hang", hang},
                {"hang-deaf", hang_deaf},
                {"print", print},
                {"stay", stay},
                {"abort", abort},
                {"end", end},
                {"copy", copy},
                {"round-up", round_up},
                {"folder", change_folder},
                {"rights", take_rights},
                {"files", take_files},
                {"term", raise_term},
                {"pipe", raise_pipe},
                {"locale", change_locale}};
    const char *wanted = getenv("PTO_TEST_LOADING");
    if (wanted == NULL || strncmp(wanted, when, strlen(when)) != 0) return;
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        if (strcmp(wanted + strlen(when), acts[i].name) == 0) acts[i].act();
    }
}

__attribute__((constructor)) static void construct(void) { act("constructor-"); }

__attribute__((visibility("default"))) const pto_plugin *pto_plugin_entry_v1(void);
const pto_plugin *pto_plugin_entry_v1(void)
{
    act("entry-");
    return harmless_entry();
}
