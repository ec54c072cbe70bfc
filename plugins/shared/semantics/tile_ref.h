/* Tiles on chip and windows of global memory: where an element lies.
 *
 * What a space is called does not matter, nor a layout: a tile has the role of its space and the order of its layout.
 * Boxes have 16 rows of 32 bytes, or as many columns where elements lie column by column; accumulators have boxes of 16
 * x 16 elements. */
#ifndef PTO_SEMANTICS_TILE_REF_H
#define PTO_SEMANTICS_TILE_REF_H

#include "semantics/element.h"

/* A tile: rows x cols of capacity, of which the first valid_rows x valid_cols hold data. `base` has any alignment. */
typedef struct tile_ref {
    uint8_t *base;
    size_t bytes; /* that may be touched from base */
    pto_dtype dtype;
    pto_space space; /* for reports */
    uint32_t role;   /* of the space, PTO_ROLE_* */
    uint32_t order;  /* of the layout, PTO_ORDER_* */
    int64_t rows, cols, valid_rows, valid_cols;
} tile_ref;

/* A window of rows x cols elements of an array in global memory, over its last two dims; extent 1 along the others.
 * Rank 1: one row. strides count elements. transpose: window element (r, c) is array element [offsets[rank-2] + c,
 * offsets[rank-1] + r]. */
typedef struct gm_window {
    uint8_t *base; /* element [0, 0, ...] */
    size_t bytes;  /* that may be touched from base */
    pto_dtype dtype;
    uint32_t rank;
    bool transpose;
    int64_t dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS], offsets[PTO_MAX_DIMS];
    int64_t rows, cols;
} gm_window;

/* Elements with constant distance along a row. */
typedef struct tile_run {
    int64_t offset; /* of the first one, in elements from base */
    int64_t stride; /* in elements */
    size_t count;
} tile_run;

/* Bytes of rows x cols elements. */
size_t tile_capacity_bytes(const tile_ref *t);
/* The bytes of a tile of `mask`, as a tile of u8: whole rows of bytes, in which the bits of one row lie. Any other tile
 * as it is. */
tile_ref tile_as_bytes(const tile_ref *t);
/* NULL, or what is wrong with the descriptor in itself: sizes, box, bytes. A constant sentence. */
const char *tile_problem(const tile_ref *t);
/* The run that starts at element (r, c), at most n long and within the capacity. r and c lie within it. */
tile_run tile_run_at(const tile_ref *t, int64_t r, int64_t c, size_t n);
/* The same memory with rows and columns exchanged. */
tile_ref tile_transposed(const tile_ref *t);
/* Whether the bytes of the two capacities overlap; whether each (r, c) has the same place in both. */
bool tile_overlaps(const tile_ref *a, const tile_ref *b);
bool tile_same_places(const tile_ref *a, const tile_ref *b);

/* n elements of row r from column c on; see element.h for the types. */
void tile_read_f32(const tile_ref *t, int64_t r, int64_t c, size_t n, float *out);
void tile_read_i64(const tile_ref *t, int64_t r, int64_t c, size_t n, int64_t *out);
void tile_write_f32(const tile_ref *t, int64_t r, int64_t c, size_t n, const float *from);
void tile_write_f64(const tile_ref *t, int64_t r, int64_t c, size_t n, const double *from);
void tile_write_i64(const tile_ref *t, int64_t r, int64_t c, size_t n, const int64_t *from);
/* The same of a tile of `mask` in layout nd: 0 or 1. */
void tile_read_bits(const tile_ref *t, int64_t r, int64_t c, size_t n, uint8_t *out);
void tile_write_bits(const tile_ref *t, int64_t r, int64_t c, size_t n, const uint8_t *from);
/* n copies of the element whose bits are given. */
void tile_fill(const tile_ref *t, int64_t r, int64_t c, size_t n, uint64_t bits);

/* Where window element (r, c) lies, in elements from base, and the distance of neighbours along a window row. */
int64_t gm_offset(const gm_window *w, int64_t r, int64_t c);
int64_t gm_row_stride(const gm_window *w);
/* The first dim along which the window leaves the array and the extent it asks for there, or -1. */
int gm_outside_dim(const gm_window *w, int64_t *out_extent);
/* Whether the window's elements lie within `bytes`. Only for a window inside its array. */
bool gm_in_bytes(const gm_window *w);

#endif
