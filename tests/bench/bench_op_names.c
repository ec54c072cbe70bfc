/* How long the parser looks for an op by its name: once for each op of a text. */
#include "ir/op_info.h"

#include <stdio.h>
#include <time.h>

int main(void)
{
    enum { ROUNDS = 10000 };
    struct timespec begin, end;
    uint64_t sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint32_t i = 0; i < ROUNDS; i++)
        for (uint32_t k = 1; k < op_kind_count(NULL); k++)
            sum += op_kind_by_name(NULL, str_from(op_info_at(NULL, (op_kind)k)->name));
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double ns = 1e9 * (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec);
    const uint64_t ops = op_kind_count(NULL) - 1;
    printf("%.1f ns to find an op of %u by its name\n", ns / ROUNDS / (double)ops, (unsigned)ops);
    return sum == ROUNDS * (ops * (ops + 1) / 2) ? 0 : 1;
}
