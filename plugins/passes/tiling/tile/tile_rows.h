/* Row groups: elementwise ops, reductions along the columns and broadcasts on a space of rows x columns, into which
 * all dims of the group's widest tensor are collapsed. */
#ifndef TILE_ROWS_H
#define TILE_ROWS_H

#include "tile_nest.h"

/* Along what a value varies, as bits. A value that varies along neither is one number for the whole space. */
enum { ALONG_ROWS = 1, ALONG_COLUMNS = 2, ALONG_BOTH = 3 };

enum row_role { ROW_INPUT, ROW_SPLAT, ROW_ELEMENTWISE, ROW_BROADCAST, ROW_REDUCE };

/* A tensor of the group. `shape` is what its type varies along, `form` what its tile does: a broadcast keeps the tile
 * of its operand. Depth counts the reductions that a value hangs on. */
typedef struct row_value {
    pto_value value;
    pto_str name; /* of the group's result for outputs, since it is the one that stays */
    pto_op op;    /* none for inputs */
    pto_op at;    /* to blame: `op`, or the first user of an input */
    uint8_t role, shape, form, is_needed, is_output;
    uint8_t in_sweep; /* is computed in the sweep being written */
    uint32_t depth;
    uint32_t in_count, in[2];
    tile_number number; /* ROW_SPLAT */
    pto_dtype dtype;
    pto_value memory; /* 2-D tensor of an input */
    tile_piece piece; /* latest tile */
} row_value;

typedef struct row_group {
    const pto_run *run;
    pto_op group;
    row_value *values;
    uint32_t count, room;
    uint32_t *slots, slot_mask;      /* value handle to row_value + 1 */
    uint32_t *outputs, output_count; /* values in order of the results */
    pto_value *targets;              /* 2-D tensors that they are stored to */
    pto_type widest;
    uint32_t rank, wide, columns_mask; /* bit i: dim i from the end */
    pto_expr extent[2];                /* rows, columns */
    int64_t static_extent[2];          /* -1: symbolic */
    uint32_t depth;                    /* deepest reduction */
    int splits_columns;                /* instances may share a row */
    int64_t granule;                   /* of columns */
    storage_plan counted;              /* room for footprints */
} row_group;

/* One nest being written: tile sizes, and where the instance's window starts and ends. */
typedef struct row_nest {
    row_group *g;
    tile_nest *n;
    int64_t tile[2];
    pto_expr offset[2], valid[2];
} row_nest;

/* Reads the group; reports what cannot be one. */
pto_status rows_analyse(row_group *g, const pto_run *run, pto_op group);

/* Tile of a form: 1 along what it does not vary along. */
int64_t rows_extent(const row_nest *w, uint8_t form, int which);
/* Valid region of a form. */
void rows_valid(const row_nest *w, uint8_t form, pto_expr out[2]);
/* Computes one value that is no reduction. */
void rows_emit_value(row_nest *w, row_value *v);
/* The tile of `v` repeated along what `form` has more. */
tile_piece rows_widen(row_nest *w, const row_value *v, uint8_t form);
/* Kinds and start of a reduction: of one tile, of two results. */
uint32_t rows_reduce_kind(const pto_run *run, pto_op op);
uint32_t rows_combine_kind(const pto_run *run, pto_op op);
tile_number rows_identity(const pto_run *run, pto_op op);
/* Whether a unary or binary op has a tile form. */
int rows_has_form(const pto_run *run, pto_op op);

/* Everything inside of one instance. */
void rows_emit_instance(row_nest *w);

#endif
