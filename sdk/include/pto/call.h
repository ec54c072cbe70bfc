/* One inline function for each slot of the host table, so that pass code reads like an ordinary C API. A none handle
 * gives none, 0, empty or PTO_FAILED. What a call means stands beside the slot in <pto/abi.h>. */
#ifndef PTO_CALL_H
#define PTO_CALL_H

#include <pto/abi.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text ---- */
static inline pto_str pto_str_make(const char *p, size_t n)
{
    pto_str s;
    s.p = p;
    s.n = n;
    return s;
}
static inline pto_str pto_no_str(void) { return pto_str_make(NULL, 0); }
/* Of a NUL-ended text; NULL gives the empty one. */
static inline pto_str pto_s(const char *text) { return pto_str_make(text, text != NULL ? strlen(text) : 0); }
static inline int pto_str_is(pto_str s, const char *text)
{
    return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}
static inline int pto_str_same(pto_str a, pto_str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
/* For printf: "%.*s". */
#define PTO_FMT(s) (int)(s).n, (s).p

/* ---- handles ---- */
#define PTO_HANDLE(type)                               \
    static inline type type##_none(const pto_run *run) \
    {                                                  \
        type h;                                        \
        h.run = run;                                   \
        h.index = 0;                                   \
        h.generation = 0;                              \
        return h;                                      \
    }                                                  \
    static inline int type##_same(type a, type b) { return a.index == b.index; }
PTO_HANDLE(pto_op)
PTO_HANDLE(pto_value)
PTO_HANDLE(pto_block)
PTO_HANDLE(pto_type)
PTO_HANDLE(pto_attr)
PTO_HANDLE(pto_expr)
PTO_HANDLE(pto_loc)
#undef PTO_HANDLE
/* True for any handle that is not none. */
#define PTO_SOME(handle) ((handle).index != 0)
/* Leaves the function with PTO_FAILED, for calls that have reported why. */
#define PTO_TRY(call)                      \
    do {                                   \
        if ((call) < 0) return PTO_FAILED; \
    } while (0)
#define PTO_NEED(handle)                          \
    do {                                          \
        if (!PTO_SOME(handle)) return PTO_FAILED; \
    } while (0)

/* ---- run services ---- */
static inline void *pto_scratch(const pto_run *run, size_t bytes) { return run->host->scratch(run, bytes); }
static inline void *pto_keep(const pto_run *run, size_t bytes) { return run->host->keep(run, bytes); }
/* Zeroed room for `count` things of `size` bytes, until the call returns. */
static inline void *pto_scratch_array(const pto_run *run, size_t count, size_t size)
{
    return run->host->scratch(run, size != 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size);
}
#define PTO_SCRATCH(run, type, count) ((type *)pto_scratch_array((run), (count), sizeof(type)))
static inline int32_t pto_should_stop(const pto_run *run) { return run->host->should_stop(run); }
/* `PTO_TRY(pto_go_on(run));` at the head of a loop that may be long: fails when the time is up, which the host reports
 * with the step. */
static inline pto_status pto_go_on(const pto_run *run) { return pto_should_stop(run) ? PTO_FAILED : PTO_OK; }
static inline void pto_count_by(const pto_run *run, uint32_t stat, int64_t delta)
{
    run->host->stat_add(run, stat, delta);
}
static inline void pto_count(const pto_run *run, uint32_t stat) { run->host->stat_add(run, stat, 1); }
/* The op kind at a position of the descriptor's `kinds`: pto_kind(run, KIND_NEG). */
static inline pto_kind_id pto_kind(const pto_run *run, uint32_t index)
{
    return index < run->kind_count ? run->kinds[index] : run->host->kind(run, index);
}
static inline pto_kind_id pto_kind_by_name(const pto_run *run, const char *name)
{
    return run->host->kind_by_name(run, pto_s(name));
}
static inline pto_str pto_kind_name(const pto_run *run, pto_kind_id kind) { return run->host->kind_name(run, kind); }
static inline int64_t pto_kind_column(const pto_run *run, pto_kind_id kind, uint32_t column)
{
    return run->host->kind_column(run, kind, column);
}
static inline pto_str pto_kind_cost(const pto_run *run, pto_kind_id kind) { return run->host->kind_cost(run, kind); }
static inline int pto_kind_has(const pto_run *run, pto_kind_id kind, int64_t traits)
{
    return (run->host->kind_column(run, kind, PTO_COLUMN_TRAITS) & traits) != 0;
}

/* ---- options: pto_opt_i64(run, OPT_ROWS) ---- */
static inline int64_t pto_opt_i64(const pto_run *run, uint32_t option) { return run->host->opt_i64(run, option); }
static inline int pto_opt_bool(const pto_run *run, uint32_t option) { return run->host->opt_i64(run, option) != 0; }
static inline double pto_opt_f64(const pto_run *run, uint32_t option) { return run->host->opt_f64(run, option); }
static inline pto_str pto_opt_str(const pto_run *run, uint32_t option) { return run->host->opt_str(run, option); }
static inline uint32_t pto_opt_list(const pto_run *run, uint32_t option, const int64_t **items)
{
    return run->host->opt_list(run, option, items);
}
static inline int32_t pto_opt_is_set(const pto_run *run, uint32_t option) { return run->host->opt_is_set(run, option); }

/* ---- machine: pto_machine_i64(run, "spaces.vec.bytes", &bytes); PTO_FAILED when absent ---- */
static inline pto_status pto_machine_i64(const pto_run *run, const char *path, int64_t *out)
{
    return run->host->machine_i64(run, pto_s(path), out);
}
static inline pto_status pto_machine_f64(const pto_run *run, const char *path, double *out)
{
    return run->host->machine_f64(run, pto_s(path), out);
}
static inline pto_status pto_machine_str(const pto_run *run, const char *path, pto_str *out)
{
    return run->host->machine_str(run, pto_s(path), out);
}

/* ---- module ---- */
static inline pto_block pto_module_top(const pto_run *run) { return run->host->module_top(run); }
static inline pto_op pto_symbol_find(const pto_run *run, pto_str name) { return run->host->symbol_find(run, name); }
static inline pto_attr pto_module_attr(const pto_run *run, const char *name)
{
    return run->host->module_attr(run, pto_s(name));
}
static inline pto_status pto_module_set_attr(const pto_run *run, const char *name, pto_attr value)
{
    return run->host->module_set_attr(run, pto_s(name), value);
}
static inline pto_str pto_module_file(const pto_run *run) { return run->host->module_file(run); }

/* ---- ops ---- */
static inline pto_kind_id pto_op_kind(pto_op op) { return op.run != NULL ? op.run->host->op_kind(op) : 0; }
static inline pto_loc pto_op_loc(pto_op op) { return op.run != NULL ? op.run->host->op_loc(op) : pto_loc_none(NULL); }
static inline pto_status pto_op_set_loc(pto_op op, pto_loc loc)
{
    return op.run != NULL ? op.run->host->op_set_loc(op, loc) : PTO_FAILED;
}
static inline pto_block pto_op_block(pto_op op)
{
    return op.run != NULL ? op.run->host->op_block(op) : pto_block_none(NULL);
}
static inline pto_op pto_op_next(pto_op op) { return op.run != NULL ? op.run->host->op_next(op) : pto_op_none(NULL); }
static inline pto_op pto_op_prev(pto_op op) { return op.run != NULL ? op.run->host->op_prev(op) : pto_op_none(NULL); }
static inline pto_op pto_op_parent(pto_op op)
{
    return op.run != NULL ? op.run->host->op_parent(op) : pto_op_none(NULL);
}
static inline pto_op pto_op_function(pto_op op)
{
    return op.run != NULL ? op.run->host->op_function(op) : pto_op_none(NULL);
}
static inline int pto_op_is(pto_op op, pto_kind_id kind) { return PTO_SOME(op) && pto_op_kind(op) == kind; }
static inline pto_str pto_op_name(pto_op op)
{
    return op.run != NULL ? pto_kind_name(op.run, pto_op_kind(op)) : pto_no_str();
}
static inline pto_op pto_op_walk_next(pto_op current, pto_op root)
{
    return current.run != NULL ? current.run->host->op_walk_next(current, root) : pto_op_none(NULL);
}
static inline int32_t pto_op_is_live(pto_op op) { return op.run != NULL ? op.run->host->op_is_live(op) : 0; }
static inline int32_t pto_op_is_before(pto_op a, pto_op b)
{
    return a.run != NULL ? a.run->host->op_is_before(a, b) : 0;
}
static inline int32_t pto_op_dominates(pto_op a, pto_op b)
{
    return a.run != NULL ? a.run->host->op_dominates(a, b) : 0;
}
/* For merging equal ops: see pto_host. */
static inline uint32_t pto_op_hash(pto_op op) { return op.run != NULL ? op.run->host->op_hash(op) : 0; }
static inline int32_t pto_op_equal(pto_op a, pto_op b) { return a.run != NULL ? a.run->host->op_equal(a, b) : 0; }
static inline int32_t pto_op_is_used(pto_op op) { return op.run != NULL ? op.run->host->op_is_used(op) : 0; }
static inline uint32_t pto_operand_count(pto_op op) { return op.run != NULL ? op.run->host->op_operand_count(op) : 0; }
static inline pto_value pto_operand(pto_op op, uint32_t index)
{
    return op.run != NULL ? op.run->host->op_operand(op, index) : pto_value_none(NULL);
}
static inline pto_status pto_set_operand(pto_op op, uint32_t index, pto_value value)
{
    return op.run != NULL ? op.run->host->op_set_operand(op, index, value) : PTO_FAILED;
}
static inline uint32_t pto_result_count(pto_op op) { return op.run != NULL ? op.run->host->op_result_count(op) : 0; }
static inline pto_value pto_result(pto_op op, uint32_t index)
{
    return op.run != NULL ? op.run->host->op_result(op, index) : pto_value_none(NULL);
}
static inline uint32_t pto_op_block_count(pto_op op) { return op.run != NULL ? op.run->host->op_block_count(op) : 0; }
static inline pto_block pto_op_block_at(pto_op op, uint32_t index)
{
    return op.run != NULL ? op.run->host->op_block_at(op, index) : pto_block_none(NULL);
}
/* The first block: the body of a function, kernel or loop. */
static inline pto_block pto_body(pto_op op) { return pto_op_block_at(op, 0); }
static inline pto_attr pto_op_attr(pto_op op, const char *name)
{
    return op.run != NULL ? op.run->host->op_attr(op, pto_s(name)) : pto_attr_none(NULL);
}
static inline pto_status pto_op_set_attr(pto_op op, const char *name, pto_attr value)
{
    return op.run != NULL ? op.run->host->op_set_attr(op, pto_s(name), value) : PTO_FAILED;
}
static inline uint32_t pto_op_attr_count(pto_op op) { return op.run != NULL ? op.run->host->op_attr_count(op) : 0; }
static inline pto_attr pto_op_attr_at(pto_op op, uint32_t index, pto_str *name)
{
    return op.run != NULL ? op.run->host->op_attr_at(op, index, name) : pto_attr_none(NULL);
}
static inline uint32_t pto_op_path(pto_op op, char *buffer, uint32_t capacity)
{
    return op.run != NULL ? op.run->host->op_path(op, buffer, capacity) : 0;
}
/* `out->struct_size` is set here. */
static inline pto_status pto_op_iteration(pto_op op, pto_iteration *out)
{
    out->struct_size = (uint32_t)sizeof *out;
    return op.run != NULL ? op.run->host->op_iteration(op, out) : PTO_FAILED;
}
static inline pto_attr pto_op_fold(pto_op op)
{
    return op.run != NULL ? op.run->host->op_fold(op) : pto_attr_none(NULL);
}

/* ---- changing ---- */
static inline pto_op pto_build(const pto_run *run, pto_place at, const pto_op_spec *spec)
{
    return run != NULL ? run->host->build(run, at, spec) : pto_op_none(NULL);
}
static inline pto_status pto_erase(pto_op op) { return op.run != NULL ? op.run->host->erase(op) : PTO_FAILED; }
static inline pto_status pto_replace_all(pto_op op, uint32_t count, const pto_value *values)
{
    return op.run != NULL ? op.run->host->replace(op, count, values) : PTO_FAILED;
}
/* For an op with one result. */
static inline pto_status pto_replace(pto_op op, pto_value by) { return pto_replace_all(op, 1, &by); }
static inline pto_status pto_move(pto_op op, pto_place to)
{
    return op.run != NULL ? op.run->host->move(op, to) : PTO_FAILED;
}
static inline pto_op pto_clone(pto_op op, pto_place to, uint32_t count, const pto_value *from,
                               const pto_value *to_values)
{
    return op.run != NULL ? op.run->host->clone(op, to, count, from, to_values) : pto_op_none(NULL);
}
static inline pto_status pto_greedy(const pto_run *run, pto_op root, uint32_t count, const pto_pattern *const *patterns,
                                    uint32_t max_rounds)
{
    return run->host->greedy(run, root, count, patterns, max_rounds);
}
static inline pto_place pto_before(pto_op op)
{
    pto_place p;
    p.block = pto_op_block(op);
    p.before = op;
    return p;
}
static inline pto_place pto_after(pto_op op)
{
    pto_place p;
    p.block = pto_op_block(op);
    p.before = pto_op_next(op);
    return p;
}
static inline pto_place pto_at_end(pto_block block)
{
    pto_place p;
    p.block = block;
    p.before = pto_op_none(block.run);
    return p;
}
static inline pto_place pto_at_start(pto_block block)
{
    pto_place p;
    p.block = block;
    p.before = block.run != NULL ? block.run->host->block_first(block) : pto_op_none(NULL);
    return p;
}

/* ---- blocks and values ---- */
static inline pto_op pto_block_parent(pto_block block)
{
    return block.run != NULL ? block.run->host->block_parent(block) : pto_op_none(NULL);
}
static inline pto_op pto_block_first(pto_block block)
{
    return block.run != NULL ? block.run->host->block_first(block) : pto_op_none(NULL);
}
static inline pto_op pto_block_last(pto_block block)
{
    return block.run != NULL ? block.run->host->block_last(block) : pto_op_none(NULL);
}
static inline uint32_t pto_block_arg_count(pto_block block)
{
    return block.run != NULL ? block.run->host->block_arg_count(block) : 0;
}
static inline pto_value pto_block_arg(pto_block block, uint32_t index)
{
    return block.run != NULL ? block.run->host->block_arg(block, index) : pto_value_none(NULL);
}
static inline pto_value pto_block_add_arg(pto_block block, pto_type type, const char *name)
{
    return block.run != NULL ? block.run->host->block_add_arg(block, type, pto_s(name)) : pto_value_none(NULL);
}
static inline pto_status pto_block_erase_arg(pto_block block, uint32_t index)
{
    return block.run != NULL ? block.run->host->block_erase_arg(block, index) : PTO_FAILED;
}
/* The last op of a block when it is a terminator, else none. */
static inline pto_op pto_block_terminator(pto_block block)
{
    pto_op last = pto_block_last(block);
    if (PTO_SOME(last) && !pto_kind_has(last.run, pto_op_kind(last), PTO_TRAIT_TERMINATOR))
        last = pto_op_none(last.run);
    return last;
}
static inline pto_type pto_value_type(pto_value value)
{
    return value.run != NULL ? value.run->host->value_type(value) : pto_type_none(NULL);
}
static inline pto_status pto_value_set_type(pto_value value, pto_type type)
{
    return value.run != NULL ? value.run->host->value_set_type(value, type) : PTO_FAILED;
}
static inline pto_op pto_value_op(pto_value value)
{
    return value.run != NULL ? value.run->host->value_op(value) : pto_op_none(NULL);
}
static inline pto_block pto_value_block(pto_value value)
{
    return value.run != NULL ? value.run->host->value_block(value) : pto_block_none(NULL);
}
static inline uint32_t pto_value_index(pto_value value)
{
    return value.run != NULL ? value.run->host->value_index(value) : 0;
}
static inline uint32_t pto_value_use_count(pto_value value)
{
    return value.run != NULL ? value.run->host->value_use_count(value) : 0;
}
static inline pto_op pto_value_use(pto_value value, uint32_t index, uint32_t *slot)
{
    return value.run != NULL ? value.run->host->value_use(value, index, slot) : pto_op_none(NULL);
}
static inline pto_status pto_value_replace(pto_value value, pto_value by)
{
    return value.run != NULL ? value.run->host->value_replace(value, by) : PTO_FAILED;
}
static inline pto_status pto_value_valid(pto_value tile, pto_expr out[2])
{
    return tile.run != NULL ? tile.run->host->value_valid(tile, out) : PTO_FAILED;
}
static inline pto_str pto_value_name(pto_value value)
{
    return value.run != NULL ? value.run->host->value_name(value) : pto_no_str();
}
static inline pto_status pto_value_set_name(pto_value value, const char *name)
{
    return value.run != NULL ? value.run->host->value_set_name(value, pto_s(name)) : PTO_FAILED;
}

/* ---- types ---- */
static inline pto_type_kind pto_type_kind_of(pto_type type)
{
    return type.run != NULL ? type.run->host->type_kind(type) : 0;
}
static inline pto_dtype pto_type_dtype(pto_type type)
{
    return type.run != NULL ? type.run->host->type_dtype(type) : 0;
}
static inline uint32_t pto_type_rank(pto_type type) { return type.run != NULL ? type.run->host->type_rank(type) : 0; }
static inline pto_expr pto_type_dim(pto_type type, uint32_t dim)
{
    return type.run != NULL ? type.run->host->type_dim(type, dim) : pto_expr_none(NULL);
}
static inline pto_expr pto_type_stride(pto_type type, uint32_t dim)
{
    return type.run != NULL ? type.run->host->type_stride(type, dim) : pto_expr_none(NULL);
}
static inline pto_space pto_type_space(pto_type type)
{
    return type.run != NULL ? type.run->host->type_space(type) : 0;
}
static inline pto_layout pto_type_layout(pto_type type)
{
    return type.run != NULL ? type.run->host->type_layout(type) : 0;
}
static inline pto_type pto_type_scalar(const pto_run *run, pto_dtype dtype)
{
    return run->host->type_scalar(run, dtype);
}
static inline pto_type pto_type_tensor(const pto_run *run, pto_dtype dtype, uint32_t rank, const pto_expr *dims)
{
    return run->host->type_tensor(run, dtype, rank, dims);
}
static inline pto_type pto_type_gm(const pto_run *run, pto_dtype dtype, uint32_t rank, const pto_expr *dims)
{
    return run->host->type_gm(run, dtype, rank, dims);
}
static inline pto_type pto_type_tile(const pto_run *run, pto_dtype dtype, int64_t rows, int64_t columns,
                                     pto_space space, pto_layout layout)
{
    return run->host->type_tile(run, dtype, rows, columns, space, layout);
}
static inline pto_type pto_type_buffer(const pto_run *run) { return run->host->type_buffer(run); }

/* ---- attributes ---- */
static inline pto_attr_kind pto_attr_kind_of(pto_attr attr)
{
    return attr.run != NULL ? attr.run->host->attr_kind(attr) : 0;
}
static inline int64_t pto_attr_i64(pto_attr attr) { return attr.run != NULL ? attr.run->host->attr_i64(attr) : 0; }
static inline double pto_attr_f64(pto_attr attr) { return attr.run != NULL ? attr.run->host->attr_f64(attr) : 0.0; }
static inline pto_str pto_attr_str(pto_attr attr)
{
    return attr.run != NULL ? attr.run->host->attr_str(attr) : pto_no_str();
}
static inline pto_type pto_attr_type(pto_attr attr)
{
    return attr.run != NULL ? attr.run->host->attr_type(attr) : pto_type_none(NULL);
}
static inline pto_expr pto_attr_expr(pto_attr attr)
{
    return attr.run != NULL ? attr.run->host->attr_expr(attr) : pto_expr_none(NULL);
}
static inline uint32_t pto_attr_count(pto_attr attr) { return attr.run != NULL ? attr.run->host->attr_count(attr) : 0; }
static inline pto_attr pto_attr_item(pto_attr attr, uint32_t index, pto_str *key)
{
    return attr.run != NULL ? attr.run->host->attr_item(attr, index, key) : pto_attr_none(NULL);
}
static inline const uint8_t *pto_attr_bytes(pto_attr attr, uint32_t *count)
{
    return attr.run != NULL ? attr.run->host->attr_bytes(attr, count) : NULL;
}
static inline pto_attr pto_attr_make_bool(const pto_run *run, int32_t value)
{
    return run->host->attr_make_bool(run, value);
}
static inline pto_attr pto_attr_make_i64(const pto_run *run, int64_t value)
{
    return run->host->attr_make_i64(run, value);
}
static inline pto_attr pto_attr_make_f64(const pto_run *run, double value)
{
    return run->host->attr_make_f64(run, value);
}
static inline pto_attr pto_attr_make_str(const pto_run *run, pto_str value)
{
    return run->host->attr_make_str(run, value);
}
static inline pto_attr pto_attr_make_symbol(const pto_run *run, pto_str value)
{
    return run->host->attr_make_symbol(run, value);
}
static inline pto_attr pto_attr_make_type(const pto_run *run, pto_type value)
{
    return run->host->attr_make_type(run, value);
}
static inline pto_attr pto_attr_make_expr(const pto_run *run, pto_expr value)
{
    return run->host->attr_make_expr(run, value);
}
static inline pto_attr pto_attr_make_list(const pto_run *run, uint32_t count, const pto_attr *items)
{
    return run->host->attr_make_list(run, count, items);
}
static inline pto_attr pto_attr_make_dense(const pto_run *run, pto_type type, uint32_t bytes, const void *data)
{
    return run->host->attr_make_dense(run, type, bytes, data);
}

/* ---- expressions ---- */
static inline pto_expr_kind pto_expr_kind_of(pto_expr expr)
{
    return expr.run != NULL ? expr.run->host->expr_kind(expr) : 0;
}
static inline int64_t pto_expr_number(pto_expr expr) { return expr.run != NULL ? expr.run->host->expr_value(expr) : 0; }
static inline pto_str pto_expr_symbol_name(pto_expr expr)
{
    return expr.run != NULL ? expr.run->host->expr_symbol(expr) : pto_no_str();
}
static inline pto_value pto_expr_leaf(pto_expr expr)
{
    return expr.run != NULL ? expr.run->host->expr_leaf(expr) : pto_value_none(NULL);
}
static inline uint32_t pto_expr_arg_count(pto_expr expr)
{
    return expr.run != NULL ? expr.run->host->expr_arg_count(expr) : 0;
}
static inline pto_expr pto_expr_arg(pto_expr expr, uint32_t index)
{
    return expr.run != NULL ? expr.run->host->expr_arg(expr, index) : pto_expr_none(NULL);
}
static inline int64_t pto_expr_coef(pto_expr expr, uint32_t index)
{
    return expr.run != NULL ? expr.run->host->expr_coef(expr, index) : 0;
}
static inline pto_expr pto_expr_const(const pto_run *run, int64_t value)
{
    return run->host->expr_make_const(run, value);
}
/* `name` without the `$`. */
static inline pto_expr pto_expr_symbol(const pto_run *run, pto_str name)
{
    return run->host->expr_make_symbol(run, name);
}
static inline pto_expr pto_expr_value(pto_value value)
{
    return value.run != NULL ? value.run->host->expr_make_value(value) : pto_expr_none(NULL);
}
/* `kind` of two operands: PTO_EXPR_SUM to PTO_EXPR_MAX. */
static inline pto_expr pto_expr_make(pto_expr_kind kind, pto_expr a, pto_expr b)
{
    return a.run != NULL ? a.run->host->expr_make(kind, a, b) : a;
}
static inline pto_expr pto_expr_add(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_SUM, a, b); }
static inline pto_expr pto_expr_mul(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_PRODUCT, a, b); }
static inline pto_expr pto_expr_floordiv(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_FLOORDIV, a, b); }
static inline pto_expr pto_expr_ceildiv(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_CEILDIV, a, b); }
static inline pto_expr pto_expr_mod(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_MOD, a, b); }
static inline pto_expr pto_expr_min(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_MIN, a, b); }
static inline pto_expr pto_expr_max(pto_expr a, pto_expr b) { return pto_expr_make(PTO_EXPR_MAX, a, b); }
static inline pto_expr pto_expr_scale(pto_expr a, int64_t by)
{
    return a.run != NULL ? pto_expr_mul(a, pto_expr_const(a.run, by)) : a;
}
static inline pto_expr pto_expr_sub(pto_expr a, pto_expr b) { return pto_expr_add(a, pto_expr_scale(b, -1)); }
static inline pto_expr pto_expr_offset(pto_expr a, int64_t by)
{
    return a.run != NULL ? pto_expr_add(a, pto_expr_const(a.run, by)) : a;
}
static inline pto_expr pto_expr_substitute(pto_expr expr, uint32_t count, const pto_value *from, const pto_expr *to)
{
    return expr.run != NULL ? expr.run->host->expr_substitute(expr, count, from, to) : pto_expr_none(NULL);
}
static inline pto_expr pto_expr_rename(pto_expr expr, uint32_t count, const pto_str *symbols, const pto_expr *to)
{
    return expr.run != NULL ? expr.run->host->expr_rename(expr, count, symbols, to) : pto_expr_none(NULL);
}
static inline int32_t pto_expr_same_number(pto_expr a, pto_expr b)
{
    return a.run != NULL ? a.run->host->expr_same(a, b) : 0;
}
/* Interval at `at`; INT64_MIN and INT64_MAX stand for no bound. `env` may be NULL. */
static inline void pto_expr_range(pto_expr expr, pto_op at, const pto_expr_env *env, int64_t *lo, int64_t *hi)
{
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (expr.run != NULL) expr.run->host->expr_range(expr, at, env, lo, hi);
}
/* 1 and the number when the expression is a constant. */
static inline int pto_expr_is_const(pto_expr expr, int64_t *out)
{
    if (pto_expr_kind_of(expr) != PTO_EXPR_CONST) return 0;
    *out = pto_expr_number(expr);
    return 1;
}

/* ---- locations, tiling ---- */
/* "file:line:column" of the first origin, cut to fit; returns the full length, 0 for none. */
static inline uint32_t pto_loc_text(pto_loc loc, char *buffer, uint32_t capacity)
{
    return loc.run != NULL ? loc.run->host->loc_text(loc, buffer, capacity) : 0;
}
static inline pto_loc pto_loc_fuse(const pto_run *run, uint32_t count, const pto_loc *locs)
{
    return run->host->loc_fuse(run, count, locs);
}
/* Gives the symbol of a `tune` op its value, in the whole function, and erases the op. */
static inline pto_status pto_tune_fix(pto_op tune, int64_t value)
{
    return tune.run != NULL ? tune.run->host->tune_fix(tune, value) : PTO_FAILED;
}
/* Sizes of tiles for the problem: what the schedule pins, or the first offer that fits of the strategy that the option
 * names; `ordinal`, which may be NULL, is the number of that offer. PTO_FAILED after a diagnostic: then `tile` has the
 * sizes that need least and still do not fit, for notes about their bytes, or zeros when there are none to speak of. */
static inline pto_status pto_tiling_choose(const pto_run *run, uint32_t option,
                                           const struct pto_tiling_problem *problem, int64_t *tile, uint32_t *ordinal)
{
    return run->host->tiling_choose(run, option, problem, tile, ordinal);
}

/* ---- walking. The body may erase, replace or move `op` itself, and change what is inside it. ---- */
/* Next op of the walk when the insides of `op` are left out. */
static inline pto_op pto_walk_skip(pto_op op, pto_op root)
{
    pto_op behind = pto_op_none(root.run);
    if (PTO_SOME(op)) (void)op.run->host->op_walk_on(op, root, &behind);
    return behind;
}
/* Where the walk goes on after `op`: `next`, and `behind` when the body has erased the insides of `op`. */
static inline pto_op pto_walk_look(pto_op op, pto_op root, pto_op *behind)
{
    *behind = pto_op_none(root.run);
    return PTO_SOME(op) ? op.run->host->op_walk_on(op, root, behind) : *behind;
}
static inline pto_op pto_walk_pick(pto_op next, pto_op behind)
{
    if (pto_op_same(next, behind) || pto_op_is_live(next)) return next;
    return !PTO_SOME(behind) || pto_op_is_live(behind) ? behind : next;
}
/* Every op directly in `block`, in order; ops inserted behind `op` are not visited. */
#define PTO_EACH_OP(block, op)                                                          \
    for (pto_op op = pto_block_first(block), op##_next = pto_op_next(op); PTO_SOME(op); \
         op = op##_next, op##_next = pto_op_next(op))
/* Every op inside `root`, in print order, root left out. */
#define PTO_WALK(root, op)                                                        \
    for (pto_op op##_behind, op = pto_op_walk_next((root), (root)),               \
                             op##_next = pto_walk_look(op, (root), &op##_behind); \
         PTO_SOME(op);                                                            \
         op = pto_walk_pick(op##_next, op##_behind), op##_next = pto_walk_look(op, (root), &op##_behind))
/* Every use of a value, while the body does not change its uses: `use.op` and `use.slot`. */
typedef struct pto_use {
    pto_value value;
    pto_op op;
    uint32_t index, slot;
} pto_use;
static inline pto_use pto_use_at(pto_value value, uint32_t index)
{
    pto_use use;
    use.value = value;
    use.index = index;
    use.slot = 0;
    use.op = pto_value_use(value, index, &use.slot);
    return use;
}
#define PTO_EACH_USE(value_, use) \
    for (pto_use use = pto_use_at((value_), 0); PTO_SOME(use.op); use = pto_use_at(use.value, use.index + 1))

#ifdef __cplusplus
}
#endif
#endif
