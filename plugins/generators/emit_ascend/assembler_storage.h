/* Which tiles share storage where the text has no addresses. There a tile that is described has storage of its own, in
 * one stage, which is as good where the tile is written before it is read. Where that is not known, all tiles of the
 * buffer are views of one tile, the base, that is described before them. */
#ifndef ASSEMBLER_STORAGE_H
#define ASSEMBLER_STORAGE_H

#include "ascend_model.h"

typedef struct assembler_base {
    uint32_t buffer;           /* index of its value */
    const ascend_tile *like;   /* it has the type of this one, and all of it is valid */
    const ascend_node *before; /* what it is described before */
    struct assembler_base *next;
} assembler_base;

/* Tiles that are seen in several ways get as many bytes as the largest way. PTO_FAILED after a diagnostic at a tile
 * that needs an address. NULL in `*out`: there is no base. */
pto_status assembler_storage_make(const ascend_kernel *k, assembler_base **out);
/* NULL: the tile has storage of its own. */
const assembler_base *assembler_base_of(const assembler_base *bases, const ascend_tile *t);

#endif
