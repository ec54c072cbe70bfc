/* Leaves the process changed: what floating point does, the locale, the folder, the rights of new files, descriptors,
 * what happens at signals. */
#include "hostile.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

HOSTILE_WAY(round_up) { return fesetround(FE_UPWARD) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(trap) { return feenableexcept(FE_ALL_EXCEPT) < 0 ? PTO_FAILED : PTO_OK; }
#if defined __x86_64__
HOSTILE_WAY(flush)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
    return PTO_OK;
}
#else
HOSTILE_WAY(flush) { return PTO_FAILED; }
#endif
/* The locale that PTO_TEST_LOCALE names. */
HOSTILE_WAY(locale) { return setlocale(LC_ALL, getenv("PTO_TEST_LOCALE")) != NULL ? PTO_OK : PTO_FAILED; }
HOSTILE_WAY(thread_locale)
{
    const locale_t l = newlocale(LC_ALL_MASK, getenv("PTO_TEST_LOCALE"), (locale_t)0);
    return l != NULL && uselocale(l) != NULL ? PTO_OK : PTO_FAILED;
}
HOSTILE_WAY(chdir) { return chdir("elsewhere") ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(umask)
{
    umask(0777);
    return PTO_OK;
}
HOSTILE_WAY(close_above_2)
{
    closefrom(3);
    return PTO_OK;
}
HOSTILE_WAY(close_standard)
{
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    return PTO_OK;
}
HOSTILE_WAY(close_all)
{
    closefrom(0);
    return PTO_OK;
}
/* Another file in every place. */
HOSTILE_WAY(replace_all)
{
    const int other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (other < 0) return PTO_FAILED;
    for (int fd = 0; fd < 64; fd++) dup2(other, fd);
    return PTO_OK;
}
HOSTILE_WAY(block_signals)
{
    sigset_t all;
    sigfillset(&all);
    return sigprocmask(SIG_SETMASK, &all, NULL) ? PTO_FAILED : PTO_OK;
}
HOSTILE_WAY(ignore_signals)
{
    for (int s = 1; s < SIGRTMIN; s++) (void)signal(s, SIG_IGN);
    return PTO_OK;
}

#define WAYS(X)       \
    X(round_up)       \
    X(trap)           \
    X(flush)          \
    X(locale)         \
    X(thread_locale)  \
    X(chdir)          \
    X(umask)          \
    X(close_above_2)  \
    X(close_standard) \
    X(close_all)      \
    X(replace_all)    \
    X(block_signals)  \
    X(ignore_signals)
HOSTILE("test.hostile-state", WAYS);
