/* Vector groups: elementwise ops, reductions along one axis and broadcasts on one space.
 *
 * Axes of the space are runs of neighbouring dims of the group's widest tensor that everything in the group treats
 * alike. The last two are rows and columns of tiles; an instance is at one index of each axis before them. A group
 * whose dims fall into rows before columns, with reductions along the columns, has just these two axes (a row group);
 * any other is a box. Memory is viewed with one dim for each axis, 1 where a value does not vary along it. */
#ifndef TILE_ROWS_H
#define TILE_ROWS_H

#include "dims.h"
#include "tile_nest.h"

/* Axes by number: what tiles have, then those before them, outermost first. */
enum { AXIS_ROWS, AXIS_COLUMNS, AXIS_OUTER, AXES_MAX = PTO_MAX_DIMS };
/* Along what a value varies, as bits 1 << axis. A value that varies along none is one number for the whole space. */
enum { ALONG_ROWS = 1, ALONG_COLUMNS = 2, ALONG_BOTH = 3 };

enum { ROW_OPERANDS = 3 };
enum row_role { ROW_INPUT, ROW_SPLAT, ROW_COUNT, ROW_ELEMENTWISE, ROW_BROADCAST, ROW_REDUCE, ROW_PRODUCT };

/* Where an input is read from that is a window of another tensor: dim d of the memory is read from start[d] on, plus
 * step[d] times the offset along axis[d]; AXES_MAX: along none. */
typedef struct row_window {
    pto_value source;
    uint32_t rank;
    pto_expr dims[AXES_MAX], start[AXES_MAX];
    int64_t step[AXES_MAX];
    uint32_t axis[AXES_MAX];
} row_window;

/* A tensor of the group. `shape` is what its type varies along, `form` what its tile does: a broadcast keeps the tile
 * of its operand. Depth counts the reductions that a value hangs on. */
/* How an elementwise op is computed: by kinds of value forms, 0 where there is none. */
typedef struct row_forms {
    pto_kind_id kind; /* of the op; 0: not asked for yet */
    pto_kind_id whole, scalar_right, scalar_left, by_row, by_column;
    tile_attr attr; /* of `whole` */
    int commutes;
} row_forms;

typedef struct row_value {
    pto_value value;
    pto_str name; /* of the group's result for outputs, since it is the one that stays */
    pto_op op;    /* none for inputs */
    pto_op at;    /* to blame: `op`, or the first user of an input */
    uint8_t role, shape, form, is_needed, is_output;
    uint8_t as_mask;  /* of truth values that are loaded: they are wanted as bits */
    uint8_t in_sweep; /* is computed in the sweep being written */
    uint32_t depth;
    uint32_t in_count, in[ROW_OPERANDS];
    tile_number number;    /* ROW_SPLAT */
    tile_product *product; /* ROW_PRODUCT */
    row_forms forms;       /* ROW_ELEMENTWISE; by rows_forms */
    uint8_t axis;          /* that a ROW_COUNT counts along; of a splat AXIS_OUTER or more: its number is where the
                            * instance is along that axis */
    pto_dtype dtype;
    pto_value memory;         /* 2-D tensor of an input */
    const row_window *window; /* of an input; NULL: it is read as it is */
    tile_piece piece;         /* latest tile */
} row_value;

/* What sharing a sweep hangs on, beside its tiles: vector cores, bytes a cycle that one loads, kernels that parts take
 * more, and cycles of one. */
typedef struct row_part_costs {
    int64_t cores, kernels, kernel_cycles;
    double load_rate;
} row_part_costs;

typedef struct row_group {
    const pto_run *run;
    pto_op group;
    row_value *values;
    uint32_t count, capacity;
    uint32_t *slots, slot_mask;      /* value handle to row_value + 1 */
    uint32_t *outputs, output_count; /* values in order of the results */
    pto_value *targets;              /* 2-D tensors that they are stored to */
    pto_type widest;
    uint32_t rank, wide; /* bit i: dim i from the end */
    uint32_t axis_count; /* at least 2 */
    uint32_t axis_dims[AXES_MAX];
    pto_expr extent[AXES_MAX];
    int64_t static_extent[AXES_MAX]; /* -1: symbolic */
    int64_t expected[AXES_MAX];      /* -1: nobody knows */
    uint32_t depth;                  /* deepest reduction */
    uint32_t swept;                  /* innermost axis of the reductions */
    uint8_t sweeps;                  /* all of them, as bits 1 << axis: of rows and columns at most one */
    int is_split;                    /* instances may share what is along the swept axis: there is no reduction */
    int64_t granule;                 /* of columns */
    int64_t bound;                   /* columns at most, of rows whose symbolic length a tile holds; else -1 */
    pto_dtype truth;                 /* what truth values are between bytes and bits: 0 and 1 in that type */
    int can_part;                    /* several instances may share what one sweeps: `part_costs` are read */
    row_part_costs part_costs;
    tile_product *product; /* the first one, by which tiles are chosen; NULL: there is none */
    storage_plan counted;  /* memory for footprints */
    tile_nest counting;    /* what counts them; zeros: nothing yet */
} row_group;

/* One nest being written: tile sizes, and where the instance's window starts and ends. */
typedef struct row_nest {
    row_group *g;
    tile_nest *n;
    int64_t tile[AXES_MAX]; /* 1 for outer axes */
    int64_t depth;          /* of products */
    pto_expr offset[AXES_MAX], valid[AXES_MAX];
    int64_t part;        /* chunks of the swept axis that an instance walks; 0: all */
    pto_expr part_index; /* of the instance, where it walks a part */
} row_nest;

/* Reads the group; reports what cannot be one. */
pto_status rows_analyse(row_group *g, const pto_run *run, pto_op group);
/* A reduction without kept dims has its extents in other places; its shape is that of its kept form. */
int rows_drops_dims(const row_value *v);
/* Finds axes and the swept ones. Reports what mixes them. */
pto_status rows_find_axes(row_group *g);

/* The axis as a bit of shapes and forms. */
static inline uint8_t rows_along(uint32_t axis) { return (uint8_t)(1u << (axis % 8)); }
/* Whether the axis is walked by each instance. */
static inline int rows_sweeps(const row_group *g, uint32_t axis)
{
    return !g->is_split && (g->sweeps & rows_along(axis)) != 0;
}
/* Dim of memory that walks the axis. */
static inline uint32_t rows_memory_dim(const row_group *g, uint32_t axis)
{
    return axis >= AXIS_OUTER ? axis - AXIS_OUTER : g->axis_count - 2 + axis;
}

/* Along all swept axes: how many elements there are, and chunks of a tile. */
pto_expr rows_swept_extent(const row_group *g);
pto_expr rows_swept_chunks(const row_group *g, const int64_t *tile);
/* Tile of a form: 1 along what it does not vary along. */
int64_t rows_extent(const row_nest *w, uint8_t form, int which);
/* Where the instance's window of a shape starts in memory. */
void rows_offsets(const row_nest *w, uint8_t shape, pto_expr *out);
/* Valid region of a form. */
void rows_valid(const row_nest *w, uint8_t form, pto_expr out[2]);
/* Computes one value that is not a reduction. */
void rows_emit_value(row_nest *w, row_value *v);
/* The tile of `v` repeated along what `form` has more. */
tile_piece rows_widen(row_nest *w, const row_value *v, uint8_t form);
/* The value form of an op that a column PTO_COLUMN_TILE_* names; 0: none. */
pto_kind_id rows_form(const pto_run *run, pto_op op, uint32_t column);
/* The tile that a reduction in chunks starts from; it stays when there is no chunk. */
tile_piece rows_start(row_nest *w, const row_value *v);

/* tile_windows.c: inputs that are windows of other tensors. */

/* Dims of the group, those of bits 1 << i, that a window takes a part of: no axis goes on outwards from them. */
uint32_t rows_window_cuts(const row_value *v);
/* Finds the inputs that loads can read in place, once axes are known. */
void rows_find_windows(row_group *g);
/* Where the instance's window starts in that memory. */
void rows_window_offsets(const row_nest *w, const row_window *from, pto_expr *out);

/* tile_row_truth.c: truth values are bytes in memory, bits where they are computed, and numbers where they are repeated
 * or converted. */

/* Finds the type of those numbers; reports a machine that lacks one. */
pto_status rows_find_truth(row_group *g);
/* Truth values of a form: as numbers of a type, as bits, as bytes. */
tile_piece rows_numbers(row_nest *w, const row_value *v, uint8_t form, pto_dtype dtype);
tile_piece rows_mask(row_nest *w, const row_value *v, uint8_t form);
tile_piece rows_bytes(row_nest *w, const row_value *v, uint8_t form);
/* An op on truth values, or that makes them: comparisons, logic, conversions, choices. */
int rows_is_truth(const row_nest *w, const row_value *v);
tile_piece rows_emit_truth(row_nest *w, const row_value *v);
/* A tile of one number, of a form. */
tile_piece rows_filled(row_nest *w, pto_dtype dtype, tile_number number, uint8_t form);
/* The attribute that the value forms of a tensor op have, by its row. */
tile_attr rows_attr(const pto_run *run, pto_op op);
/* `narrow`, a tile of numbers, in another type; repeated along what `form` has more than `have`. */
/* Whether the machine repeats an element of the type along rows and columns. */
int rows_repeats(const pto_run *run, pto_dtype t);
tile_piece rows_converted(row_nest *w, tile_piece p, pto_dtype to);
tile_piece rows_repeated(row_nest *w, tile_piece narrow, uint8_t have, uint8_t form);

/* tile_words.c: what the answers of a problem about the group hang on; left out where that is not known. */
void rows_put_words(const row_group *g, pto_tiling_problem *problem);

/* tile_parts.c: reductions whose axis is shared by several instances. */

/* Finds out whether instances may share a sweep at all, and what that costs. */
void rows_find_parts(row_group *g);
/* Of a group that can: how many share a sweep unless the schedule says otherwise, and kernels that combine the parts.
 */
int64_t rows_parts(const row_group *g, const int64_t *tile, int64_t *out_kernels);
/* Decides how many chunks of the swept axis an instance walks; 0: all of them. */
pto_status rows_choose_part(const row_group *g, const int64_t *tile, int64_t *part);
/* Lowers the group that way: a nest of partial results, and groups for what follows. */
pto_status rows_lower_in_parts(row_group *g, const int64_t *tile, int64_t part);
/* Lowers a group of reductions to a nest of partial results, `count` along the swept axis, and erases it. `parts` are
 * the memories of its results. */
pto_status rows_lower_part(const pto_run *run, pto_op group, const int64_t *tile, int64_t part, pto_expr count,
                           pto_value *parts);

/* tile_forms.c: rows of a length that is known at run time alone. */

/* Finds the bound of rows that one tile holds whatever their length. */
void rows_find_bound(row_group *g);
/* Decides up to how many columns rows have a nest of their own, without chunks; 0: there is one nest. */
pto_status rows_choose_forms(row_group *g, int64_t *border);
/* Lowers the group as two nests, of which a branch takes one, and erases it. */
pto_status rows_lower_in_forms(row_group *g, int64_t border);
/* Lowers a group that has no other forms. */
pto_status rows_lower_form(const pto_run *run, pto_op group);
/* Bytes of a space that tiles of these sizes need. */
int64_t rows_footprint(row_group *g, const int64_t *tile, pto_space space);
/* How often chunks along the swept axes are walked. */
uint32_t rows_last_sweep(const row_group *g);

/* Everything inside of one instance. */
void rows_emit_instance(row_nest *w);

#endif
