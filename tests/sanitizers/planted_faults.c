/* planted-faults FAULT: makes one mistake, which a build with the right sanitizer reports. Without one it ends with 0,
 * mostly. What is volatile hides the mistake from compilers. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *volatile kept;
static volatile int one = 1;
static char table[8];

/* clang-tidy finds most of them, too. NOLINTBEGIN(clang-analyzer-*,bugprone-casting-through-void) */
static void leak(void)
{
    kept = malloc(24);
    kept = NULL;
}

static void heap(void)
{
    kept = malloc(8);
    kept[8 * one] = 1;
}

static void global(void) { ((char *volatile)table)[8 * one] = 1; }

static void stack(void)
{
    char bytes[8];
    kept = bytes;
    kept[8 * one] = 1;
}

static void freed(void)
{
    kept = malloc(8);
    char *const before = kept;
    free(before);
    kept[0] = 1;
}

static void freed_twice(void)
{
    kept = malloc(8);
    char *const first = kept;
    free(first);
    free(kept);
}

__attribute__((noinline)) static void keep_local(void)
{
    char bytes[8] = "local";
    kept = bytes;
}

static void returned(void)
{
    keep_local();
    kept[0] = 1;
}

static void sum(void) { one = INT_MAX - 1 + one + one; }

static void shift(void) { one = 1 << (32 * one); }

static void element(void)
{
    int numbers[4] = {0};
    one = numbers[4 * one];
}

static void alignment(void)
{
    _Alignas(8) char bytes[16] = {0};
    kept = bytes + one;
    one = *(int *)(void *)kept;
}

static void null(void)
{
    kept = NULL;
    one = *(int *)(void *)kept;
}

/* NOLINTEND(clang-analyzer-*,bugprone-casting-through-void) */

static int counter;

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) counter++;
    return NULL;
}

static void race(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, count, NULL) != 0) abort();
    count(NULL);
    pthread_join(other, NULL);
}

static const struct {
    const char *name;
    void (*make)(void);
} faults[] = {{"leak", leak},
              {"heap", heap},
              {"global", global},
              {"stack", stack},
              {"freed", freed},
              {"freed-twice", freed_twice},
              {"returned", returned},
              {"sum", sum},
              {"shift", shift},
              {"element", element},
              {"alignment", alignment},
              {"null", null},
              {"race", race}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof faults / sizeof *faults; i++) {
        if (strcmp(argv[1], faults[i].name) != 0) continue;
        faults[i].make();
        return 0;
    }
    fprintf(stderr, "usage: planted-faults FAULT\n");
    return 2;
}
