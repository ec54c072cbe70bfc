/* Rows of kernels for tests, one after the other. */
#ifndef TESTS_UNIT_PLUGINS_KERNEL_EACH_H
#define TESTS_UNIT_PLUGINS_KERNEL_EACH_H

#include <kernel_table.h>
#include <stddef.h>

/* All rows of the table, then the twins of those that few machines run; NULL past the last one. */
static inline const pto_contraction *row_at(uint32_t index)
{
    uint32_t count = 0;
    while (pto_contraction_at(count) != NULL) count++;
    return index < count ? pto_contraction_at(index) : pto_contraction_twin_at(index - count);
}

#endif
