/* Tiles as values: each op makes a tile of its own, row-major, whatever space and layout its type names. */
#include "reference_interp.h"

#include "debug_values.h"

#include <inttypes.h>
#include <string.h>

/* Of the instance that runs, if one does. */
static void print_tile(const interp *in, pto_op at, const tile_ref *t)
{
    int64_t index[PTO_MAX_DIMS] = {0};
    if (in->innermost != NULL) instances_indices(in->innermost, index);
    debug_tile(at, t, in->innermost != NULL ? in->innermost->rank : 0, index);
}

pto_status interp_insn(interp *in, pto_op at, insn_id id, insn_call *call)
{
    call->cpu = in->cpu;
    call->scratch = in->scratch;
    call->scratch_bytes = in->scratch_bytes;
    call->faults = 0;
    in->insn_count++;
    insn_bounds bounds = {0};
    const bool is_bounded = in->pool->shadow != NULL && id != INSN_TGETVAL && id != INSN_TPRINT;
    if (is_bounded) PTO_TRY(bound_insn_begin(in, at, id, call, &bounds));
    pto_status s = insn_run(id, call);
    if (s < 0 && call->scratch_needed > in->scratch_bytes) {
        in->scratch_bytes = call->scratch_needed * 2;
        in->scratch = pto_scratch(in->run, in->scratch_bytes);
        call->scratch = in->scratch;
        call->scratch_bytes = in->scratch_bytes;
        s = insn_run(id, call);
    }
    if (s < 0) return pto_error(at, "pto.reference/unsupported", "%s", call->text);
    if (call->faults != 0)
        return pto_error(at, "pto.reference/division-by-zero", "`%s` divides %" PRIu64 " integers by zero",
                         insn_name(id), call->faults);
    if (is_bounded) bound_insn_end(in, id, call, &bounds);
    if (id == INSN_TPRINT) print_tile(in, at, &call->src[0]);
    return PTO_OK;
}

static pto_status take_tile(interp *in, const op_code *o, const shape_code *s, int64_t rows, int64_t cols, value *out)
{
    const int64_t bytes = pto_tile_bytes(s->dtype, PTO_ORDER_ROW, s->rows, s->cols);
    if (bytes < 0) return pto_error(o->op, "pto.reference/limit", "the tile takes more than 64 GiB");
    *out = (value){.kind = VALUE_TILE};
    out->tile_in = storage_make(in->pool, (size_t)bytes);
    if (out->tile_in == NULL) return pto_error(o->op, "pto.reference/limit", "the tile takes more than 64 GiB");
    out->tile = (tile_ref){.base = out->tile_in->data,
                           .bytes = (size_t)bytes,
                           .dtype = s->dtype,
                           .space = s->space,
                           .role = pto_space_role(in->run, s->space),
                           .order = PTO_ORDER_ROW,
                           .rows = s->rows,
                           .cols = s->cols,
                           .valid_rows = rows,
                           .valid_cols = cols};
    return PTO_OK;
}

/* A tile of the result's type; its valid region is given. */
static pto_status make_tile(interp *in, const frame *fr, const op_code *o, int64_t rows, int64_t cols, value *out)
{
    const shape_code *s = &fr->f->shapes[o->results[0]];
    if (rows < 0 || cols < 0 || rows > s->rows || cols > s->cols)
        return pto_error(o->op, "pto.reference/valid",
                         "`%.*s` makes a valid region of %" PRId64 " x %" PRId64 " in a tile of %" PRId64 " x %" PRId64,
                         PTO_FMT(o->name), rows, cols, s->rows, s->cols);
    return take_tile(in, o, s, rows, cols, out);
}

static void set_tile(interp *in, frame *fr, const op_code *o, value *v)
{
    value_copy(in->pool, &fr->values[o->results[0]], v);
    value_clear(in->pool, v);
}

static const tile_ref *tile_operand(const frame *fr, const op_code *o, uint32_t i)
{
    return &fr->values[o->operands[i]].tile;
}

/* Before spaces are assigned any f32 tile may turn out to be an accumulator, whose elements are rounded on their way
 * out. */
static tile_ref leaving(const tile_ref *t)
{
    tile_ref out = *t;
    if (out.space == PTO_SPACE_NONE) out.role = PTO_ROLE_ACCUMULATOR;
    return out;
}

/* ---- windows ---- */

static pto_status check_window(const op_code *o, const gm_window *w);

/* A window whose memory is known: where it starts, by expressions of the op. */
static pto_status place_window(const frame *fr, const op_code *o, const index_expr *starts, gm_window *w)
{
    for (uint32_t d = 0; d < w->rank; d++) PTO_TRY(interp_eval(fr, o->op, &starts[d], &w->offsets[d]));
    return check_window(o, w);
}

/* That it lies in its memory. */
static pto_status check_window(const op_code *o, const gm_window *w)
{
    int64_t extent;
    const int d = gm_outside_dim(w, &extent);
    if (d >= 0)
        return pto_error(o->op, "pto.reference/out-of-bounds",
                         "`%.*s` needs %" PRId64 " element%s from %" PRId64
                         " on along dim %d, whose extent is %" PRId64,
                         PTO_FMT(o->name), extent, extent == 1 ? "" : "s", w->rank != 0 ? w->offsets[d] : 0, d,
                         w->rank != 0 ? w->dims[d] : 1);
    if (gm_in_bytes(w)) return PTO_OK;
    return pto_error(o->op, "pto.reference/out-of-bounds", "`%.*s` reaches past the %zu bytes of the memory",
                     PTO_FMT(o->name), w->bytes);
}

static gm_window window_of(const array *a, bool transpose, int64_t rows, int64_t cols)
{
    gm_window w = {
        .base = a->base, .dtype = a->dtype, .rank = a->rank, .transpose = transpose, .rows = rows, .cols = cols};
    w.bytes = a->in->bytes - (size_t)(a->base - a->in->data);
    for (uint32_t d = 0; d < a->rank; d++) {
        w.dims[d] = a->dims[d];
        w.strides[d] = a->strides[d];
    }
    return w;
}

static pto_status make_window(const frame *fr, const op_code *o, const array *a, int64_t rows, int64_t cols,
                              gm_window *w)
{
    *w = window_of(a, o->transpose, rows, cols);
    return place_window(fr, o, o->exprs, w);
}

pto_status interp_scalar_of(interp *in, frame *fr, const op_code *o)
{
    const array *a = &fr->values[o->operands[0]].array;
    gm_window w;
    PTO_TRY(make_window(fr, o, a, 1, 1, &w));
    PTO_TRY(instances_read_window(in, o->op, a->in, &w));
    const uint8_t *at = w.base + gm_offset(&w, 0, 0) * (int64_t)element_bytes(w.dtype);
    interp_set_number(fr, o->results[0], w.dtype, element_number(w.dtype, at));
    return PTO_OK;
}

pto_status interp_debug(interp *in, frame *fr, const op_code *o)
{
    const value *v = &fr->values[o->operands[0]];
    if (v->kind != VALUE_ARRAY) return debug_scalar(o->op, "pto.reference", v->dtype, v->number);
    const array *a = &v->array;
    PTO_TRY(instances_read_array(in, o->op, a));
    gm_window w = {.base = a->base, .dtype = a->dtype, .rank = a->rank};
    memcpy(w.dims, a->dims, sizeof w.dims);
    memcpy(w.strides, a->strides, sizeof w.strides);
    return debug_array(o->op, "pto.reference", &w);
}

static pto_status do_load(interp *in, frame *fr, const op_code *o)
{
    const array *a = &fr->values[o->operands[0]].array;
    const shape_code *s = &fr->f->shapes[o->results[0]];
    insn_call call = {.has_pad = o->has_pad, .pad = o->pad};
    int64_t rows, cols;
    value v;
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[a->rank], &rows));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[a->rank + 1], &cols));
    if (rows < 0 || cols < 0 || rows > s->rows || cols > s->cols)
        return pto_error(o->op, "pto.reference/valid",
                         "`tile.load` loads %" PRId64 " x %" PRId64 " into a tile of %" PRId64 " x %" PRId64, rows,
                         cols, s->rows, s->cols);
    PTO_TRY(make_window(fr, o, a, rows, cols, &call.gm));
    PTO_TRY(instances_read_window(in, o->op, a->in, &call.gm));
    PTO_TRY(make_tile(in, fr, o, o->has_pad ? s->rows : rows, o->has_pad ? s->cols : cols, &v));
    call.dst = v.tile;
    PTO_TRY(interp_insn(in, o->op, o->insn, &call));
    set_tile(in, fr, o, &v);
    return PTO_OK;
}

static pto_status do_store(interp *in, frame *fr, const op_code *o)
{
    const tile_ref *t = tile_operand(fr, o, 0);
    const uint32_t memory = o->operand_count - 1;
    const array *a = &fr->values[o->operands[memory]].array;
    insn_call call = {.src = {leaving(t)},
                      .relu = pto_attr_bool_of(o->op, PTO_STR("relu"), 0) != 0,
                      .has_scale = PTO_SOME(pto_op_attr(o->op, PTO_STR("scale"))),
                      .scale = (float)pto_attr_float_of(o->op, PTO_STR("scale"), 0)};
    if (memory == 2) call.src[1] = *tile_operand(fr, o, 1);
    if (a->is_read_only)
        return pto_error(o->op, "pto.reference/read-only", "`tile.store` writes to memory that is only read here");
    PTO_TRY(make_window(fr, o, a, t->valid_rows, t->valid_cols, &call.gm));
    PTO_TRY(instances_write_window(in, o->op, a->in, &call.gm));
    return interp_insn(in, o->op, o->insn, &call);
}

/* ---- everything on chip ---- */

/* Shapes of operands by rule, as their rows have them: the target, then the sources. */
#define TILE(name, shape, ...) shape,
#define MEMORY(name) "",
#define SCALAR(name) "",
#define SCRATCH(...)
#define TILE_OUT(name, shape, ...) shape,
#define MEMORY_OUT(name) "",
#define SCALAR_OUT "",
#define NOTHING_OUT "",
enum { OPERANDS_MAX = 6 };
static const char shapes[PTO_RULE_COUNT][OPERANDS_MAX][3] = {
#define RULE(ID, target, sources, ...) [PTO_RULE_##ID] = {target sources},
#include <pto/ops/rules.def>
};
#undef TILE
#undef MEMORY
#undef SCALAR
#undef SCRATCH
#undef TILE_OUT
#undef MEMORY_OUT
#undef SCALAR_OUT
#undef NOTHING_OUT

/* An extent of the valid region of the result: that of the source whose shape has the letter; where none has, as the op
 * states it, or the capacity. */
static pto_status valid_extent(frame *fr, const op_code *o, uint32_t dim, int64_t *out)
{
    const shape_code *s = &fr->f->shapes[o->results[0]];
    const char(*const shape)[3] = shapes[o->rule];
    const char letter = shape[0][dim];
    *out = letter == '1' ? 1 : dim == 0 ? s->rows : s->cols;
    if (letter == '1') return PTO_OK;
    for (uint32_t k = 1; k < OPERANDS_MAX; k++) {
        const char *place = shape[k][0] != 0 ? strchr(shape[k], letter) : NULL;
        if (place == NULL) continue;
        const tile_ref *source = tile_operand(fr, o, k - 1);
        *out = place == shape[k] ? source->valid_rows : source->valid_cols;
        return PTO_OK;
    }
    return o->expr_count != o->place_count ? interp_eval(fr, o->op, &o->exprs[o->place_count + dim], out) : PTO_OK;
}

static bool leaves_scaled(uint32_t rule)
{
    return rule == PTO_RULE_MOVE_FP || rule == PTO_RULE_EXTRACT_FP || rule == PTO_RULE_INSERT_FP;
}

static pto_status do_on_chip(interp *in, frame *fr, const op_code *o)
{
    insn_call call = {.has_pad = o->has_pad,
                      .pad = o->pad,
                      .mode = o->mode,
                      .saturate = o->saturate,
                      .relation = o->relation,
                      .function = o->function,
                      .run = o->run,
                      .descending = o->descending,
                      .upper = o->upper};
    int64_t valid[2];
    value v;
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const value *x = &fr->values[o->operands[i]];
        if (x->kind == VALUE_TILE && count < 3) call.src[count++] = x->tile;
        if (x->kind == VALUE_NUMBER) call.scalar = x->number;
    }
    for (uint32_t d = 0; d < 2; d++) PTO_TRY(valid_extent(fr, o, d, &valid[d]));
    for (uint32_t d = 0; d < o->place_count; d++) PTO_TRY(interp_eval(fr, o->op, &o->exprs[d], &call.at[d]));
    PTO_TRY(make_tile(in, fr, o, valid[0], valid[1], &v));
    call.dst = v.tile;
    const uint32_t sums = count - (leaves_scaled(o->rule) ? 2 : 1);
    if (o->transfer == PTO_TRANSFER_MOVE || leaves_scaled(o->rule)) call.src[sums] = leaving(&call.src[sums]);
    PTO_TRY(interp_insn(in, o->op, o->insn, &call));
    set_tile(in, fr, o, &v);
    return PTO_OK;
}

static pto_status do_read(interp *in, frame *fr, const op_code *o)
{
    insn_call call = {.src = {*tile_operand(fr, o, 0)}};
    for (uint32_t i = 0; i < 2; i++) PTO_TRY(interp_eval(fr, o->op, &o->exprs[i], &call.at[i]));
    PTO_TRY(interp_insn(in, o->op, o->insn, &call));
    interp_set_number(fr, o->results[0], fr->f->shapes[o->results[0]].dtype, call.scalar);
    return PTO_OK;
}

static pto_status do_print(interp *in, const frame *fr, const op_code *o)
{
    insn_call call = {.src = {*tile_operand(fr, o, 0)}};
    return interp_insn(in, o->op, o->insn, &call);
}

pto_status interp_tile(interp *in, frame *fr, const op_code *o)
{
    if (o->transfer == PTO_TRANSFER_LOAD) return do_load(in, fr, o);
    if (o->transfer == PTO_TRANSFER_STORE) return do_store(in, fr, o);
    if (shapes[o->rule][0][0] != 0) return do_on_chip(in, fr, o);
    return o->rule == PTO_RULE_PRINT ? do_print(in, fr, o) : do_read(in, fr, o);
}

pto_status interp_zero_acc(interp *in, frame *fr, const op_code *o)
{
    int64_t rows, cols;
    value v = {.kind = VALUE_NONE};
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[0], &rows));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[1], &cols));
    PTO_TRY(make_tile(in, fr, o, rows, cols, &v));
    if (v.tile.bytes != 0) memset(v.tile.base, 0, v.tile.bytes);
    set_tile(in, fr, o, &v);
    return PTO_OK;
}

/* ---- tile.contract: its windows become tiles, which tmatmul_acc multiplies ---- */

/* The window of an operand as a tile of its size. */
static pto_status take_operand(interp *in, frame *fr, const op_code *o, uint32_t i, const int64_t size[2],
                               const index_expr *starts, value *out)
{
    const value *x = &fr->values[o->operands[i]];
    const bool is_tile = x->kind == VALUE_TILE;
    const bool turns = pto_attr_bool_of(o->op, pto_s(i == 1 ? "transpose_left" : "transpose_right"), 0) != 0;
    const tile_ref *t = &x->tile;
    insn_call call = {.gm = {.dtype = t->dtype}};
    if (is_tile)
        call.gm = (gm_window){.base = t->base,
                              .bytes = t->bytes,
                              .dtype = t->dtype,
                              .rank = 2,
                              .transpose = turns,
                              .rows = size[0],
                              .cols = size[1],
                              .dims = {t->valid_rows, t->valid_cols},
                              .strides = {t->cols, 1}};
    else
        call.gm = window_of(&x->array, turns, size[0], size[1]);
    PTO_TRY(place_window(fr, o, starts, &call.gm));
    if (!is_tile) PTO_TRY(instances_read_window(in, o->op, x->array.in, &call.gm));
    /* A tile has space for an element at least. */
    const shape_code shape = {.dtype = call.gm.dtype,
                              .rows = size[0] > 0 ? size[0] : 1,
                              .cols = size[1] > 0 ? size[1] : 1,
                              .space = PTO_SPACE_NONE};
    PTO_TRY(take_tile(in, o, &shape, size[0], size[1], out));
    call.dst = out->tile;
    return interp_insn(in, o->op, INSN_TLOAD, &call);
}

/* Right in panels, as a tile of its size: panel after panel. */
static pto_status take_panels(interp *in, frame *fr, const op_code *o, int64_t width, const int64_t size[2],
                              const index_expr *starts, value *out)
{
    const array *memory = &fr->values[o->operands[2]].array;
    /* One row more than there are: a panel begins inside of the first one, and counts as many elements as the tile. */
    const shape_code shape = {
        .dtype = memory->dtype, .rows = size[0] + 1, .cols = size[1] > 0 ? size[1] : 1, .space = PTO_SPACE_NONE};
    PTO_TRY(take_tile(in, o, &shape, size[0], size[1], out));
    out->tile.rows = size[0] > 0 ? size[0] : 1;
    for (int64_t j = 0; j < size[1]; j += width) {
        insn_call call = {.gm = window_of(memory, false, size[0], size[1] - j < width ? size[1] - j : width)};
        for (uint32_t d = 0; d < 3; d++) PTO_TRY(interp_eval(fr, o->op, &starts[d], &call.gm.offsets[d]));
        call.gm.offsets[0] += j / width;
        PTO_TRY(check_window(o, &call.gm));
        PTO_TRY(instances_read_window(in, o->op, memory->in, &call.gm));
        const size_t bytes = (size_t)(j * pto_dtype_bytes(memory->dtype));
        call.dst = out->tile;
        call.dst.base += bytes;
        call.dst.bytes -= bytes;
        call.dst.valid_cols = call.gm.cols;
        PTO_TRY(interp_insn(in, o->op, INSN_TLOAD, &call));
    }
    return PTO_OK;
}

pto_status interp_contract(interp *in, frame *fr, const op_code *o)
{
    const tile_ref *acc = tile_operand(fr, o, 0);
    const uint32_t left_rank = pto_expr_count_of(o->op, PTO_STR("left"));
    int64_t depth;
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[o->expr_count - 1], &depth));
    if (depth < 0) return pto_error(o->op, "pto.reference/valid", "`tile.contract` has a depth of %" PRId64, depth);
    const int64_t left_size[2] = {acc->valid_rows, depth}, right_size[2] = {depth, acc->valid_cols};
    value left = {.kind = VALUE_NONE}, right = left, v = left;
    PTO_TRY(take_operand(in, fr, o, 1, left_size, o->exprs, &left));
    const int64_t panels = pto_attr_int_of(o->op, PTO_STR("panels"), 0);
    if (panels != 0)
        PTO_TRY(take_panels(in, fr, o, panels, right_size, o->exprs + left_rank, &right));
    else
        PTO_TRY(take_operand(in, fr, o, 2, right_size, o->exprs + left_rank, &right));
    PTO_TRY(make_tile(in, fr, o, acc->valid_rows, acc->valid_cols, &v));
    insn_call call = {.dst = v.tile, .src = {*acc, left.tile, right.tile}};
    PTO_TRY(interp_insn(in, o->op, INSN_TMATMUL_ACC, &call));
    value_clear(in->pool, &left);
    value_clear(in->pool, &right);
    set_tile(in, fr, o, &v);
    return PTO_OK;
}

/* ---- tile.contract_weights: weights and scales become tiles, which are multiplied, and then that is right ---- */

/* `rows` x `columns` from memory, where they begin by `at`. */
static pto_status take_window(interp *in, const op_code *o, const array *memory, const int64_t at[2], int64_t rows,
                              int64_t columns, int turned, value *out)
{
    const shape_code shape = {.dtype = memory->dtype,
                              .rows = rows > 0 ? rows : 1,
                              .cols = columns > 0 ? columns : 1,
                              .space = PTO_SPACE_NONE};
    insn_call call = {.gm = window_of(memory, turned != 0, rows, columns)};
    for (uint32_t d = 0; d < 2; d++) call.gm.offsets[d] = at[d];
    PTO_TRY(check_window(o, &call.gm));
    PTO_TRY(instances_read_window(in, o->op, memory->in, &call.gm));
    PTO_TRY(take_tile(in, o, &shape, rows, columns, out));
    call.dst = out->tile;
    return interp_insn(in, o->op, INSN_TLOAD, &call);
}

/* The signed half number `half` of a row of bytes. */
static float half_of(const uint8_t *bytes, int64_t half)
{
    const int32_t bits = bytes[half / 2] >> 4 * (half & 1) & 15;
    return (float)((bits ^ 8) - 8);
}

/* Columns `column` .. of the weights as numbers, `depth` rows of them, and their scales beside them. */
static pto_status take_weights(interp *in, const frame *fr, const op_code *o, int64_t column, int64_t columns,
                               int64_t depth, value *numbers, value *scales)
{
    const int turned = pto_attr_bool_of(o->op, PTO_STR("transpose_right"), 0);
    const int64_t block = pto_attr_int_of(o->op, PTO_STR("block"), 1), groups = (depth + block - 1) / block;
    const int64_t first = turned ? 0 : column, halves = turned ? depth : columns,
                  bytes = (first + halves + 1) / 2 - first / 2, rows = turned ? columns : depth;
    const int64_t bytes_at[2] = {turned ? column : 0, first / 2}, scales_at[2] = {turned ? column : 0, first};
    const shape_code shape = {
        .dtype = PTO_F32, .rows = depth > 0 ? depth : 1, .cols = columns > 0 ? columns : 1, .space = PTO_SPACE_NONE};
    value packed = {.kind = VALUE_NONE}, few = packed;
    PTO_TRY(take_window(in, o, &fr->values[o->operands[2]].array, bytes_at, rows, bytes, 0, &packed));
    PTO_TRY(take_window(in, o, &fr->values[o->operands[3]].array, scales_at, groups, columns, turned, &few));
    PTO_TRY(take_tile(in, o, &shape, depth, columns, numbers));
    PTO_TRY(take_tile(in, o, &shape, depth, columns, scales));
    for (int64_t p = 0; p < depth; p++) {
        uint8_t *const to = numbers->tile.base + p * columns * (int64_t)sizeof(float);
        for (int64_t j = 0; j < columns; j++) {
            const int64_t row = turned ? j : p, half = turned ? p : first % 2 + j;
            const float weight = half_of(packed.tile.base + row * packed.tile.cols, half);
            memcpy(to + j * (int64_t)sizeof weight, &weight, sizeof weight);
        }
        insn_call line = {.dst = scales->tile, .src = {few.tile}};
        line.dst.base += p * columns * (int64_t)sizeof(float);
        line.src[0].base += p / block * columns * (int64_t)sizeof(float);
        line.dst.rows = line.dst.valid_rows = line.src[0].rows = line.src[0].valid_rows = 1;
        PTO_TRY(interp_insn(in, o->op, INSN_TMOV, &line));
    }
    value_clear(in->pool, &packed);
    value_clear(in->pool, &few);
    return PTO_OK;
}

pto_status interp_contract_weights(interp *in, frame *fr, const op_code *o)
{
    const tile_ref *acc = tile_operand(fr, o, 0);
    const index_expr *const last = &o->exprs[o->expr_count - 1];
    int64_t column, depth;
    PTO_TRY(interp_eval(fr, o->op, last - 1, &column));
    PTO_TRY(interp_eval(fr, o->op, last, &depth));
    if (depth < 0)
        return pto_error(o->op, "pto.reference/valid", "`tile.contract_weights` has a depth of %" PRId64, depth);
    const int64_t left_size[2] = {acc->valid_rows, depth};
    value left = {.kind = VALUE_NONE}, numbers = left, scales = left, v = left;
    PTO_TRY(take_operand(in, fr, o, 1, left_size, o->exprs, &left));
    PTO_TRY(take_weights(in, fr, o, column, acc->valid_cols, depth, &numbers, &scales));
    value right = numbers;
    insn_call scale = {.dst = right.tile, .src = {numbers.tile, scales.tile}};
    PTO_TRY(interp_insn(in, o->op, INSN_TMUL, &scale));
    PTO_TRY(make_tile(in, fr, o, acc->valid_rows, acc->valid_cols, &v));
    insn_call call = {.dst = v.tile, .src = {*acc, left.tile, right.tile}};
    PTO_TRY(interp_insn(in, o->op, INSN_TMATMUL_ACC, &call));
    value_clear(in->pool, &left);
    value_clear(in->pool, &numbers);
    value_clear(in->pool, &scales);
    set_tile(in, fr, o, &v);
    return PTO_OK;
}
