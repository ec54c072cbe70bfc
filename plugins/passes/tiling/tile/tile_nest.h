/* What the files of pto.tile share: the writer of nests, and the two kinds of groups.
 *
 * A nest is written by one piece of code in two modes: counting, to learn how many bytes tiles of given sizes need, and
 * building. Bytes are those of storage_plan.h, which pto.select and pto.allocate follow. So what a strategy is told and
 * what comes out cannot differ. All memory is scratch of one run. */
#ifndef TILE_NEST_H
#define TILE_NEST_H

#include "storage_plan.h"

#define TILE_KINDS(X)                            \
    X(GROUP, "tensor.group")                     \
    X(T_CONSTANT, "tensor.constant")             \
    X(T_INDEX_CAST, "tensor.index_cast")         \
    X(T_FULL, "tensor.full")                     \
    X(T_RESHAPE, "tensor.reshape")               \
    X(T_BITCAST, "tensor.bitcast")               \
    X(T_TRANSPOSE, "tensor.transpose")           \
    X(T_MATMUL, "tensor.matmul")                 \
    X(T_SQUEEZE, "tensor.squeeze")               \
    X(T_UNSQUEEZE, "tensor.unsqueeze")           \
    X(T_FLIP, "tensor.flip")                     \
    X(T_VIEW, "tensor.view")                     \
    X(T_CONCAT, "tensor.concat")                 \
    X(T_PAD, "tensor.pad")                       \
    X(T_ASSEMBLE, "tensor.assemble")             \
    X(T_CAST, "tensor.cast")                     \
    X(T_ADD, "tensor.add")                       \
    X(T_SUB, "tensor.sub")                       \
    X(T_REDUCE_PROD, "tensor.reduce_prod")       \
    X(T_REDUCE_MAX, "tensor.reduce_max")         \
    X(T_REDUCE_MIN, "tensor.reduce_min")         \
    X(T_GATHER, "tensor.gather")                 \
    X(T_TAKE, "tensor.take")                     \
    X(T_SCATTER, "tensor.scatter")               \
    X(T_SCATTER_UPDATE, "tensor.scatter_update") \
    X(T_INDEX_ADD, "tensor.index_add")           \
    X(T_INDEX_PUT, "tensor.index_put")           \
    X(T_CUMSUM, "tensor.cumsum")                 \
    X(T_CUMPROD, "tensor.cumprod")               \
    X(T_SORT, "tensor.sort")                     \
    X(T_ARGSORT, "tensor.argsort")               \
    X(T_TOPK, "tensor.topk")                     \
    X(FORALL, "forall")                          \
    X(FOR, "for")                                \
    X(IF, "if")                                  \
    X(CALL, "call")                              \
    X(YIELD, "yield")                            \
    X(BIND, "bind")                              \
    X(TUNE, "tune")                              \
    X(CONSTANT, "constant")                      \
    X(CONSTANT_ARRAY, "constant_array")          \
    X(INDEX_CAST, "index_cast")                  \
    X(VIEW, "view")                              \
    X(EMPTY, "tile.empty")                       \
    X(ZERO_ACC, "tile.zero_acc")                 \
    X(LOAD, "tile.load")                         \
    X(STORE, "tile.store")                       \
    X(STORE_FP, "tile.store_fp")                 \
    X(MOVE, "tile.move")                         \
    X(FILL, "tile.fill")                         \
    X(IOTA, "tile.iota")                         \
    X(CAST, "tile.cast")                         \
    X(TRANSPOSE, "tile.transpose")               \
    X(NEG, "tile.neg")                           \
    X(ADDS, "tile.adds")                         \
    X(MULS, "tile.muls")                         \
    X(ROWEXPANDADD, "tile.rowexpandadd")         \
    X(COLEXPANDADD, "tile.colexpandadd")         \
    X(CMPS, "tile.cmps")                         \
    X(SELECT, "tile.select")                     \
    X(SELECTS, "tile.selects")                   \
    X(ADD, "tile.add")                           \
    X(MUL, "tile.mul")                           \
    X(ABS, "tile.abs")                           \
    X(MAXS, "tile.maxs")                         \
    X(MINS, "tile.mins")                         \
    X(CMP, "tile.cmp")                           \
    X(BITCAST, "tile.bitcast")                   \
    X(SORT32, "tile.sort32")                     \
    X(MERGE_RUNS, "tile.merge_runs")             \
    X(MERGE, "tile.merge")                       \
    X(RECORD_INDEX, "tile.record_index")         \
    X(ORDER, "tile.order")                       \
    X(ROWGATHER, "tile.rowgather")               \
    X(READ_SCALAR, "tile.read_scalar")           \
    X(GATHER, "tile.gather")                     \
    X(SCATTER, "tile.scatter")                   \
    X(MATMUL_ACC, "tile.matmul_acc")
PTO_KINDS_AS(tile_kinds, TILE_KINDS);

/* Options of the pass. */
enum { TILE_OPT_STRATEGY, TILE_OPT_SYMBOLS, TILE_OPT_IN_PLACE, TILE_OPT_WHOLE_ROWS, TILE_OPT_JOIN_PARTS };

/* Statistics of the pass that other files count. */
enum { TILE_STAT_PRICED = 1 };

/* A tile, or while counting just its sizes and its number in the plan. */
typedef struct tile_piece {
    pto_value value;
    uint32_t at;
    int64_t rows, columns; /* capacity */
    pto_dtype dtype;
} tile_piece;

/* A scalar. A constant: `real` for element types that are floats, else `whole`. With an expression: its value. With a
 * value: that. */
typedef struct tile_number {
    double real;
    int64_t whole;
    pto_expr index;
    pto_value value;
} tile_number;

/* Where a nest is written. */
typedef struct tile_nest {
    const pto_run *run;
    storage_plan *counts; /* where tiles are recorded and nothing is built; NULL: ops are built */
    uint32_t around;      /* counting: the loop being written */
    uint32_t carried;     /* counting: the first tile that it carries */
    int failed;           /* an op could not be built; reported */
    pto_block block;      /* ops are appended here */
    pto_loc loc;
    pto_str name;                 /* tensor value being computed: names results */
    int64_t block_bytes;          /* rows of vector tiles are padded to this */
    pto_space global, scratchpad; /* memory; what vector tiles are in */
    int64_t align_bytes;          /* of each vector tile */
} tile_nest;

/* Products and sums of byte counts that stop at INT64_MAX. */
int64_t tile_mul(int64_t a, int64_t b);
int64_t tile_add(int64_t a, int64_t b);

/* Reads the padding rules of the machine; `counts` as in the struct, begins anew. */
tile_nest tile_nest_make(const pto_run *run, storage_plan *counts);
/* Counts with the padding rules of `*n`, read from the machine when it is zero; `counts` begins anew. */
tile_nest tile_nest_count(const pto_run *run, tile_nest *n, storage_plan *counts);
/* What has been counted: bytes of the scratchpad, for an instance with those before and after it. */
int64_t tile_counted_bytes(const tile_nest *n);
/* Notes after an error at `at`: the largest buffers of what has been counted. */
void tile_note_counted(const tile_nest *n, pto_op at);

/* Hands on what has been counted, for a strategy: what is in a loop as often as the loop is walked, -1: not known; and
 * a loop in a loop `inner` times for each trip of that. */
void tile_put_work(const tile_nest *n, double trips, double inner, const pto_work_sink *sink);

/* A window of memory of any rank: extents on the last two dims, 1 before. Counted as rotating through two buffers. */
tile_piece tile_emit_load(tile_nest *n, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                          int64_t rows, int64_t columns, int transpose);
/* The same of floats, where `pad` is in the rest of the tile. */
tile_piece tile_emit_filled_load(tile_nest *n, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                                 int64_t rows, int64_t columns, double pad);
/* Refuses a sum of floats that is a tree: that is several nests. */
pto_status tile_check_order(pto_op op);
/* The tile is counted as rotating too. */
void tile_emit_store(tile_nest *n, tile_piece tile, pto_value memory, const pto_expr *offsets);
/* The same of an accumulator, with a relu and a scale on the way; NaN: without one. */
void tile_emit_store_after(tile_nest *n, tile_piece tile, pto_value memory, const pto_expr *offsets, int relu,
                           double scale);
/* The same with a factor for each column; in a nest that is built. */
void tile_emit_store_by_factors(tile_nest *n, tile_piece tile, tile_piece factors, pto_value memory,
                                const pto_expr *offsets);
/* The element of the first row at `column`, as a scalar; in a nest that is built. */
pto_value tile_emit_read(tile_nest *n, tile_piece t, pto_expr column);
tile_piece tile_emit_fill(tile_nest *n, pto_dtype dtype, tile_number number, const pto_expr valid[2], int64_t rows,
                          int64_t columns);
/* A row that counts from a scalar. */
tile_piece tile_emit_count(tile_nest *n, pto_dtype dtype, tile_number start, const pto_expr valid[2], int64_t columns);
/* An op without attributes; the result has the given capacity. */
tile_piece tile_emit(tile_nest *n, pto_kind_id kind, pto_dtype dtype, int64_t rows, int64_t columns, uint32_t count,
                     const tile_piece *operands);
tile_piece tile_emit_scalar(tile_nest *n, pto_kind_id kind, tile_piece tile, tile_number number);
/* The first `columns` records of a row of runs, each of `run` records. */
tile_piece tile_emit_merged(tile_nest *n, pto_kind_id kind, int64_t columns, tile_piece tile, int64_t run);
/* Of each row of a tile the places of the first `columns` elements in the order of pto.torder. */
tile_piece tile_emit_order(tile_nest *n, tile_piece tile, pto_expr rows, int64_t columns, int descending);
/* The same with an attribute, and with a number of the type of the last tile. `attr` is empty: without. */
typedef struct tile_attr {
    pto_str name, word;
} tile_attr;
tile_piece tile_emit_with(tile_nest *n, pto_kind_id kind, tile_attr attr, pto_dtype dtype, uint32_t count,
                          const tile_piece *operands, const tile_number *number);
/* `from` is the tensor.cast that states the rounding. */
tile_piece tile_emit_cast(tile_nest *n, tile_piece tile, pto_dtype to, pto_op from);
/* Opens a loop over `trips` iterations that carries `count` tiles; ops are then appended to its body. Returns the loop;
 * while counting, `carried` is set. */
pto_op tile_begin_for(tile_nest *n, pto_expr trips, uint32_t count, const tile_piece *initial,
                      const pto_expr (*valid)[2]);
/* Closes it: the body yields `next`, ops are appended after the loop again. */
void tile_end_for(tile_nest *n, pto_op loop, uint32_t count, const tile_piece *next, tile_piece *results);
/* The forall of a group, before it; ops are then appended to its body. `outs` are the tensors it writes to. */
pto_op tile_begin_forall(tile_nest *n, pto_op group, uint32_t dims, const pto_expr *to, const char *const *names,
                         uint32_t outs, const pto_value *targets);
/* Ends the body of a forall. */
pto_status tile_end_body(tile_nest *n);
/* Does that, and puts its results in the place of the group's, viewed under their shapes. */
pto_status tile_end_forall(tile_nest *n, pto_op group, pto_op forall);
/* `value` under another shape, made before `at`; itself when it has that shape. */
pto_value tile_view(const pto_run *run, pto_op at, pto_value value, uint32_t rank, const pto_expr *dims);
pto_value tile_empty(const pto_run *run, pto_op at, pto_type type, pto_str name);

/* min(size, extent - size * index), or just what it is known to be. */
pto_expr tile_valid_extent(int64_t size, pto_expr extent, pto_expr index);
/* Tells a cost model by words when two problems are the same one: of a kind of nests, whose numbers are below 0 (those
 * of vector groups, by rows_put_words, begin with another word), facts that counting reads, and the dims. Says nothing
 * of nests whose extents hang on values. */
enum { TILE_WORDS_PRODUCT = -1 };
void tile_put_words(pto_op group, int64_t kind, uint32_t count, const int64_t *facts, pto_tiling_problem *problem);

/* Usable bytes of a space, 0 when the machine has none of the kind. */
int64_t tile_capacity(const pto_run *run, pto_space space);

/* What the strategy is asked for where a group has a dim of columns, and one of rows or none. */
typedef struct tile_rectangle {
    pto_op group;
    pto_expr extent[2];                      /* rows, columns */
    int64_t static_extent[2], element_bytes; /* below 0: not known; 0: tiles have any width */
    uint32_t row_kind;                       /* PTO_PARALLEL, PTO_REDUCE */
    int64_t outer_instances;                 /* below 0: not known */
    void *self;                              /* of the functions, which are those of pto_tiling_problem */
    int64_t (*footprint)(void *self, const int64_t *tile, pto_space space);
    int64_t (*capacity)(void *self, pto_space space);
    void (*work)(void *self, const int64_t *tile, const pto_work_sink *sink);
} tile_rectangle;
/* The size of its tiles, within the extents. Fails after a diagnostic. */
pto_status tile_choose_rectangle(const pto_run *run, const tile_rectangle *r, int64_t out_tile[2]);
/* The same where tiles are one row of elements of the type; `rows` are how many of `columns` there are. Of `r` the
 * functions are read. */
pto_status tile_choose_row(pto_op group, pto_expr rows, pto_expr columns, pto_dtype dtype, const tile_rectangle *r,
                           int64_t *out_columns);

/* Fixes the symbols of `tune` in a function: at what the option `symbols` says, else at their largest value. */
pto_status tile_fix_symbols(const pto_run *run, pto_op unit);

/* Lower one group each; `op` is the one that the group is made of. */
pto_status tile_lower_rows(const pto_run *run, pto_op group);
pto_status tile_lower_matmul(const pto_run *run, pto_op group, pto_op op);

/* A product in a group of others, whose result is one matrix: its leading dims are rows. */
typedef struct tile_product tile_product;
/* Reads it, and makes before the group what it needs there. */
pto_status tile_product_read(const pto_run *run, pto_op group, pto_op op, tile_product **out);
/* Whether its result is all rows and columns; reports that it is not. */
pto_status tile_product_check(const tile_product *p, pto_expr rows, pto_expr columns);
/* Asks for the size of its tiles: rows, columns, depth. */
pto_status tile_product_choose(tile_product *p, pto_op group, int64_t tile[3]);
/* The sums of an instance, in the type that they are added up in. */
tile_piece tile_product_emit(const tile_product *p, tile_nest *n, const int64_t tile[3], const pto_expr offset[2],
                             const pto_expr valid[2]);
/* A nest before `group` that makes of a scale, which has a number for each of `columns` or one, the table of factors
 * for the stores of `product`: 1 x 2 * columns words. is_signed: the stores make signed integers. */
pto_status tile_make_factors(pto_op group, pto_op product, pto_value scale, pto_expr columns, int is_signed,
                             pto_value *out_table);
/* The view that a value is, perhaps with dims of extent 1 more or less, while the group of the view is not lowered;
 * none: it is none. */
pto_op tile_view_op(pto_value value);
pto_status tile_lower_move(const pto_run *run, pto_op group, pto_op op);
/* By tile_join.c, if it is a concat of what nests compute and the option says so; `*done`: whether it was. */
pto_status tile_join(pto_op group, pto_op op, int *done);
pto_status tile_lower_transpose(const pto_run *run, pto_op group, pto_op op);
pto_status tile_lower_index(const pto_run *run, pto_op group, pto_op op);
/* Whether gather or scatter is one instruction for a row; lowers one that is. */
int tile_can_look_up(const pto_run *run, pto_op group, pto_op op);
pto_status tile_lower_lookup(const pto_run *run, pto_op group, pto_op op);
pto_status tile_lower_scan(const pto_run *run, pto_op group, pto_op op);
pto_status tile_lower_sort(const pto_run *run, pto_op group, pto_op op);
/* Whether rows of the op are put in order by one instruction; lowers one that is. */
int tile_can_order(const pto_run *run, pto_op op);
pto_status tile_lower_order(const pto_run *run, pto_op group, pto_op op);

#endif
