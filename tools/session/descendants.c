#include "tools/session/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 5, AWAIT_STEPS = 40, END_STEPS = 400 };

static bool has_children(void)
{
    siginfo_t child;
    return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool descendants_adopt(void) { return !has_children() && prctl(PR_SET_CHILD_SUBREAPER, 1L) == 0; }

static void rest(void)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    nanosleep(&step, NULL);
}

/* The fourth word of /proc/PID/stat; the second is in brackets and may hold anything. */
static pid_t parent_of(const char *pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *f = fopen(path, "re");
    if (f == NULL) return 0;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end != NULL && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

static void kill_children(void)
{
    DIR *all = opendir("/proc");
    if (all == NULL) return;
    const pid_t self = getpid();
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all)) {
        if (isdigit((unsigned char)e->d_name[0]) && parent_of(e->d_name) == self)
            kill((pid_t)strtol(e->d_name, NULL, 10), SIGKILL);
    }
    closedir(all);
}

uint32_t descendants_end(void)
{
    uint32_t killed = 0;
    for (int step = 0; step < END_STEPS; step++) {
        int wait_status = 0;
        pid_t child;
        while ((child = waitpid(-1, &wait_status, WNOHANG)) > 0)
            killed += WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
        if (child < 0 && errno != EINTR) break;
        kill_children();
        if (step > 0) rest();
    }
    return killed;
}

void descendants_await(void)
{
    for (int step = 0; step < AWAIT_STEPS && has_children(); step++) {
        /* Those that have ended count no more. */
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        rest();
    }
}
