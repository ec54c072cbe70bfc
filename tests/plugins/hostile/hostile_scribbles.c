/* Writes over the memory that the worker shares with its supervisor, then dies. */
#include "hostile.h"

#include <stdint.h>
#include <stdlib.h>

/* All of it, with this text over and over. */
static void fill(const char *text, size_t bytes)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *rest = NULL;
        const unsigned long long from = strtoull(line, &rest, 16),
                                 to = *rest == '-' ? strtoull(rest + 1, &rest, 16) : 0;
        if (strncmp(rest, " rw-s ", 6) != 0) continue;
        for (unsigned long long at = from; at < to; at++) *(volatile char *)(uintptr_t)at = text[(at - from) % bytes];
    }
    abort();
}

HOSTILE_WAY(names_without_end)
{
    fill("A", 1);
    return PTO_FAILED;
}
/* The name of a folder in the working folder, wherever one is looked for. */
HOSTILE_WAY(folder)
{
    fill("v", 2);
    return PTO_FAILED;
}
HOSTILE_WAY(colours)
{
    fill("\033[31m", 6);
    return PTO_FAILED;
}

#define WAYS(X) X(names_without_end) X(folder) X(colours)
HOSTILE("test.hostile-scribbles", WAYS);
