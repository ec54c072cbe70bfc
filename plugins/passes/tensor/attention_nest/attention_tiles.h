/* Ops of a nest, made one after the other at the end of a block. One that fails has reported it and is noted, so that
 * one test at the end is enough. */
#ifndef ATTENTION_TILES_H
#define ATTENTION_TILES_H

#include "attention_nest.h"

/* Where ops are made, of which attention. */
typedef struct writer {
    const attention *a;
    const pto_run *run;
    pto_block block;
    pto_loc loc;
    int failed;
} writer;

/* A tile with its capacity. */
typedef struct piece {
    pto_value value;
    pto_dtype dtype;
    int64_t rows, columns;
} piece;

/* The number as a scalar of the type. */
pto_value write_number(writer *w, pto_dtype dtype, double number);
pto_value write_index(writer *w, pto_dtype dtype, pto_expr from);
/* A window of memory; `turned`: its last two dims change places. */
piece write_load(writer *w, const char *name, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                 int64_t rows, int64_t columns, int turned);
void write_store(writer *w, piece tile, pto_value memory, const pto_expr *offsets);
piece write_fill(writer *w, const char *name, pto_dtype dtype, pto_value scalar, const pto_expr valid[2], int64_t rows,
                 int64_t columns);
/* A row that counts from a scalar. */
piece write_count(writer *w, const char *name, pto_value start, const pto_expr valid[2], int64_t columns);
/* Of one tile, of two, of a tile and a scalar; the result is like the first tile, except for what is said. */
piece write_one(writer *w, uint32_t kind, const char *name, piece x);
piece write_two(writer *w, uint32_t kind, const char *name, piece x, piece y);
piece write_scalar(writer *w, uint32_t kind, const char *name, piece x, pto_value scalar);
piece write_reduce(writer *w, uint32_t kind, const char *name, piece x);
/* The tile itself when it has the type. */
piece write_cast(writer *w, const char *name, piece x, pto_dtype dtype);
piece write_turned(writer *w, const char *name, piece x);
piece write_product(writer *w, const char *name, piece x, piece y);
piece write_compare(writer *w, const char *name, piece x, const char *relation, pto_value scalar);
/* x where the mask is true, else the scalar. */
piece write_select(writer *w, const char *name, piece mask, piece x, pto_value scalar);
/* Opens a loop that carries tiles, with their valid regions; ops are made in it from then on. `carried` become those of
 * an iteration. Returns the loop, and its index. */
pto_op write_for(writer *w, pto_expr from, pto_expr to, uint32_t count, piece *carried, const pto_expr (*valid)[2],
                 pto_expr *index);
/* Closes it; `carried` become what it leaves. */
void write_end(writer *w, pto_op loop, uint32_t count, piece *carried);

#endif
