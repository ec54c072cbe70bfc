/* Kernels of products as generated code asks for them (<pto/native.h>), for one set of instruction sets. */
#ifndef PTO_KERNEL_PRODUCTS_H
#define PTO_KERNEL_PRODUCTS_H

#include "kernel_table.h"

#include <pto/native.h>

typedef struct pto_product_table {
    pto_native_product rows[PTO_PRODUCT_COUNT], beyond[PTO_PRODUCT_COUNT];
    const pto_native_product *list[PTO_PRODUCT_COUNT]; /* for pto_native_services.products */
} pto_product_table;

/* Fills a table with the last row of each element type that `isa` has all instruction sets of. Its list points into the
 * table, which stays where it is. */
void pto_products_fill(uint32_t isa, pto_product_table *out);

#endif
