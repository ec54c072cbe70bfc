/* Rules of ops that describe storage and order on it: buffers, tiles in them, accumulators, workspace, flags. */
#include "ir/op_rules.h"
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>

status verify_zero_acc(module *m, uint32_t op)
{
    type_id type = value_type(m, op_result(m, op, 0));
    const ir_context *c = module_context(m);
    const type_node *t = type_at(c, type);
    if (t->space != SPACE_NONE && space_role_of(c, t->space) != SPACE_ROLE_ACCUMULATOR)
        return op_error(m, op, &E0221, "makes a tile in `%s`, which is not a space for accumulators, such as `acc`",
                        space_name(c, t->space));
    if (t->dtype != DTYPE_F32 && t->dtype != DTYPE_I32)
        return op_error(m, op, &E0211, "makes accumulators of %s; legal are f32 and i32", dtype_name(t->dtype));
    TRY(check_index_count(m, op, "valid", 2));
    return check_valid_fits(m, op, type, op_index_expr(m, op, "valid", 0), op_index_expr(m, op, "valid", 1));
}

/* The window of left or right: `rows` x `columns` of it on its last two dims, or on the valid region of a tile. */
static status check_contract_window(module *m, op_id o, uint32_t operand, expr_id rows, expr_id columns)
{
    static const char *const starts[] = {NULL, "left", "right"};
    static const char *const turns[] = {NULL, "transpose_left", "transpose_right"};
    const value_id v = op_operand(m, o, operand);
    const type_node *t = type_at(module_context(m), value_type(m, v));
    const bool is_turned = op_attr_int(m, o, turns[operand], 0) != 0;
    const expr_id one = expr_const(module_context(m), 1),
                  size[2] = {is_turned ? columns : rows, is_turned ? rows : columns};
    expr_id valid[2] = {0, 0};
    if (t->kind == TYPE_TILE && !tile_valid(m, v, valid)) return OK;
    const uint32_t rank = t->kind == TYPE_TILE ? 2 : t->rank;
    TRY(check_index_count(m, o, starts[operand], rank));
    for (uint32_t d = 0; d < rank; d++) {
        const expr_id extent = d + 2 < rank ? one : size[d + 2 - rank], dim = valid[0] != 0 ? valid[d] : t->dims[d];
        const expr_id offset = op_index_expr(m, o, starts[operand], d);
        if (extent != 0 && offset != 0) TRY(verify_window_dim(m, o, d, offset, extent, dim));
    }
    return OK;
}

/* The window of right in panels: from the first column of one on, `depth` rows of each that has some of `columns`. */
static status check_panels(module *m, op_id o, int64_t width, expr_id depth, expr_id columns)
{
    ir_context *c = module_context(m);
    const type_node *t = type_at(c, value_type(m, op_operand(m, o, 2)));
    const expr_id panel_width = expr_const(c, width), size[2] = {expr_ceildiv(c, columns, panel_width), depth};
    if (t->kind != TYPE_GM || t->rank != 3 || t->dims[2] != panel_width || op_attr_int(m, o, "transpose_right", 0) != 0)
        return op_error(m, o, &E0213,
                        "reads panels of %" PRId64 " columns from %s; they are memory of three dims, the "
                        "last one of that extent, and are not transposed",
                        width, type_words(m, value_type(m, op_operand(m, o, 2))));
    TRY(check_index_count(m, o, "right", 3));
    for (uint32_t d = 0; d < 2; d++)
        TRY(verify_window_dim(m, o, d, op_index_expr(m, o, "right", d), size[d], t->dims[d]));
    return verify_window_dim(m, o, 2, op_index_expr(m, o, "right", 2), panel_width, panel_width);
}

status verify_contract(module *m, uint32_t op)
{
    const ir_context *c = module_context(m);
    const dtype acc = type_at(c, value_type(m, op_operand(m, op, 0)))->dtype,
                left = type_at(c, value_type(m, op_operand(m, op, 1)))->dtype,
                right = type_at(c, value_type(m, op_operand(m, op, 2)))->dtype;
    const bool is_float = (1u << left & (DT_FLOAT | DT_FLOAT8)) != 0;
    expr_id valid[2];
    if (left != right)
        return op_error(m, op, &E0212, "multiplies %s by %s; both are of one type", dtype_name(left),
                        dtype_name(right));
    if (!is_float && left != DTYPE_I8)
        return op_error(m, op, &E0211, "multiplies %s; legal are floats and i8", dtype_name(left));
    if (acc != (is_float ? DTYPE_F32 : DTYPE_I32) ||
        value_type(m, op_result(m, op, 0)) != value_type(m, op_operand(m, op, 0)))
        return op_error(m, op, &E0212, "sums products of %s in %s into %s; acc and result are one type, of %s",
                        dtype_name(left), type_words(m, value_type(m, op_operand(m, op, 0))),
                        type_words(m, value_type(m, op_result(m, op, 0))), is_float ? "f32" : "i32");
    TRY(check_index_count(m, op, "depth", 1));
    if (!tile_valid(m, op_operand(m, op, 0), valid)) return OK;
    const expr_id depth = op_index_expr(m, op, "depth", 0);
    TRY(check_contract_window(m, op, 1, valid[0], depth));
    const int64_t panels = op_attr_int(m, op, "panels", 0);
    if (panels < 0) return op_error(m, op, &E0332, "has panels of %" PRId64 " columns", panels);
    return panels != 0 ? check_panels(m, op, panels, depth, valid[1])
                       : check_contract_window(m, op, 2, depth, valid[1]);
}

/* The columns of weights, halves of bytes along their last dim, and of scales. */
static status check_weights_windows(module *m, op_id o, expr_id columns)
{
    ir_context *c = module_context(m);
    const bool is_turned = op_attr_int(m, o, "transpose_right", 0) != 0;
    const expr_id depth = op_index_expr(m, o, "depth", 0), column = op_index_expr(m, o, "column", 0),
                  zero = expr_const(c, 0), two = expr_const(c, 2),
                  groups = expr_ceildiv(c, depth, expr_const(c, op_attr_int(m, o, "block", 1)));
    for (uint32_t operand = 2; operand < 4; operand++) {
        const type_node *t = type_at(c, value_type(m, op_operand(m, o, operand)));
        const bool is_weights = operand == 2;
        if (t->rank != 2)
            return op_error(m, o, &E0213, "takes %s of rank %u; theirs is 2", is_weights ? "weights" : "scales",
                            (unsigned)t->rank);
        for (uint32_t d = 0; d < 2; d++) {
            const bool is_along_k = (d == 0) != is_turned;
            const expr_id dim = is_weights && d == 1 ? expr_mul(c, t->dims[d], two) : t->dims[d];
            const expr_id along_k = is_weights ? depth : groups;
            TRY(verify_window_dim(m, o, d, is_along_k ? zero : column, is_along_k ? along_k : columns, dim));
        }
    }
    return OK;
}

status verify_contract_weights(module *m, uint32_t op)
{
    expr_id valid[2];
    const int64_t block = op_attr_int(m, op, "block", 0);
    if (value_type(m, op_result(m, op, 0)) != value_type(m, op_operand(m, op, 0)))
        return op_error(m, op, &E0212, "sums into %s and results in %s; acc and result are one type",
                        type_words(m, value_type(m, op_operand(m, op, 0))),
                        type_words(m, value_type(m, op_result(m, op, 0))));
    if (block < 1) return op_error(m, op, &E0332, "has a block of %" PRId64 "; it must be 1 or more", block);
    TRY(check_index_count(m, op, "depth", 1));
    TRY(check_index_count(m, op, "column", 1));
    if (!tile_valid(m, op_operand(m, op, 0), valid)) return OK;
    TRY(check_contract_window(m, op, 1, valid[0], op_index_expr(m, op, "depth", 0)));
    return check_weights_windows(m, op, valid[1]);
}

status verify_buffer(module *m, uint32_t op)
{
    int64_t bytes = op_attr_int(m, op, "bytes_per_stage", 0);
    int64_t stages = op_attr_int(m, op, "stages", 1);
    int64_t align = op_attr_int(m, op, "align", 32);
    int64_t addr = op_attr_int(m, op, "addr", 0);
    int64_t total;
    const ir_context *c = module_context(m);
    str where = op_attr_str(m, op, "space");
    if (space_role_of(c, space_by_name(c, where)) == SPACE_ROLE_GLOBAL)
        return op_error(m, op, &E0221, "is in `%.*s`, which is memory of the chip; buffers are on a core", (int)where.n,
                        where.p);
    if (bytes <= 0) return op_error(m, op, &E0332, "has %" PRId64 " bytes_per_stage; it must be 1 or more", bytes);
    if (stages <= 0) return op_error(m, op, &E0332, "has %" PRId64 " stages; it must be 1 or more", stages);
    if (__builtin_mul_overflow(bytes, stages, &total) || total > INT64_C(1) << 48)
        return op_error(m, op, &E0332, "has %" PRId64 " stages of %" PRId64 " bytes; the limit is 2^48 bytes", stages,
                        bytes);
    if (align <= 0 || (align & (align - 1)) != 0)
        return op_error(m, op, &E0332, "has align %" PRId64 "; it must be a power of two", align);
    if (addr < 0 || addr % align != 0)
        return op_error(m, op, &E0332, "has addr %" PRId64 "; it must be 0 or more and a multiple of align %" PRId64,
                        addr, align);
    return OK;
}

static status check_in_buffer(module *m, op_id op, op_id buffer, type_id type)
{
    const type_node *t = type_at(module_context(m), type);
    int64_t rows = 0, columns = 0, bytes = 0, end;
    int64_t offset = op_attr_int(m, op, "offset", 0);
    int64_t stage_bytes = op_attr_int(m, buffer, "bytes_per_stage", 0);
    bool is_mask = t->dtype == DTYPE_MASK;
    bool is_column_major = layout_order_of(module_context(m), t->layout) == ORDER_COLUMN;
    uint32_t element = is_mask ? MASK_ROW_BYTES : dtype_bytes(t->dtype);
    str space_text = op_attr_str(m, buffer, "space");
    if (t->space == SPACE_NONE || !str_is(space_text, space_name(module_context(m), t->space)))
        return op_error(m, op, &E0221, "describes %s in a buffer of space `%.*s`", type_words(m, type),
                        (int)space_text.n, space_text.p);
    if (offset < 0 || offset % element != 0)
        return op_error(m, op, &E0227,
                        "has offset %" PRId64 "; it must be 0 or more and a multiple of %" PRIu32 " bytes of %s",
                        offset, element, is_mask ? "a row of bits" : "an element");
    if (!expr_is_const(module_context(m), t->dims[0], &rows) || !expr_is_const(module_context(m), t->dims[1], &columns))
        return op_error(m, op, &E0218, "describes %s, whose capacity is not two numbers", type_words(m, type));
    if (!tile_bytes((dtype)t->dtype, is_column_major, rows, columns, &bytes) ||
        __builtin_add_overflow(bytes, offset, &end) || end > stage_bytes)
        return op_error(m, op, &E0227,
                        "needs %s at offset %" PRId64 " in stages of %" PRId64 " bytes; the tile has %" PRId64 " bytes",
                        type_words(m, type), offset, stage_bytes, bytes);
    return OK;
}

status verify_block_tile(module *m, uint32_t op)
{
    type_id type = value_type(m, op_result(m, op, 0));
    TRY(check_index_count(m, op, "stage", 1));
    TRY(check_index_count(m, op, "valid", 2));
    op_id buffer = value_op(m, op_operand(m, op, 0));
    if (buffer != 0 && op_kind_of(m, buffer) == OP_BLOCK_BUFFER) {
        TRY(check_in_buffer(m, op, buffer, type));
        expr_id stage = op_index_expr(m, op, "stage", 0);
        int64_t stages = op_attr_int(m, buffer, "stages", 1);
        expr_range r = op_expr_range(m, op, stage);
        if (r.hi < 0 || r.lo >= stages)
            return op_error(m, op, &E0227, "names stage %s of a buffer with %" PRId64 " stage%s",
                            expr_words(m, op, stage), stages, stages == 1 ? "" : "s");
    }
    return check_valid_fits(m, op, type, op_index_expr(m, op, "valid", 0), op_index_expr(m, op, "valid", 1));
}

status verify_flag(module *m, uint32_t op)
{
    if (op_kind_of(m, op) == OP_PTO_BARRIER) return OK;
    TRY(check_index_count(m, op, "event", 1));
    str src = op_attr_str(m, op, "src");
    if (str_eq(src, op_attr_str(m, op, "dst")))
        return op_error(m, op, &E0330, "goes from pipe `%.*s` to itself; use `pto.barrier`", (int)src.n, src.p);
    expr_id event = op_index_expr(m, op, "event", 0);
    if (op_expr_range(m, op, event).hi < 0)
        return op_error(m, op, &E0414, "has the event id %s, which is below 0", expr_words(m, op, event));
    return OK;
}

status verify_free(module *m, uint32_t op)
{
    value_id workspace = op_operand(m, op, 0);
    op_id alloc = value_op(m, workspace);
    if (alloc == 0 || op_kind_of(m, alloc) != OP_EXEC_ALLOC)
        return op_error(m, op, &E0333, "frees %s, which `exec.alloc` did not make", value_words(m, workspace));
    VALUE_EACH_USE(m, u, workspace) {
        op_id other = use_op(m, u);
        if (other == op || op_kind_of(m, other) != OP_EXEC_FREE) continue;
        status s = op_error(m, op, &E0333, "frees %s, which is freed twice", value_words(m, workspace));
        op_note(m, other, "the other one is here");
        return s;
    }
    return OK;
}
