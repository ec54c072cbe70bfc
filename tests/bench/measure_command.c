/* measure-command PROGRAM [ARGUMENT...]: runs the program once, its output to /dev/null, and prints
 * "<exit status> <wall seconds> <CPU seconds> <largest resident KiB>". A program of its own, since the kernel counts
 * the memory of the process that starts another one towards the other's largest size: this one is small. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h> /* IWYU pragma: keep (struct rusage) */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: measure-command PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const double start = seconds_now();
    pid_t child;
    if (posix_spawnp(&child, argv[1], &actions, NULL, argv + 1, environ) != 0) {
        perror(argv[1]);
        return 2;
    }
    int status = 0;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child) return 2;
    const double wall = seconds_now() - start;
    printf("%d %.6f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall,
           seconds_of(used.ru_utime) + seconds_of(used.ru_stime), used.ru_maxrss);
    return 0;
}
