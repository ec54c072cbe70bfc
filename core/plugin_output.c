#include "core/plugin_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int plugin_output_divert(void)
{
    /* What is buffered so far is ours, what is buffered at the end is theirs. */
    fflush(stdout);
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    return kept;
}

void plugin_output_restore(int kept)
{
    if (kept < 0) return;
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
}
