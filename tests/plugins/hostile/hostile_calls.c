/* Calls every slot of the host table in random order with random arguments (hostile_calls.h): from passes on all four
 * levels, of one function and of the module, from patterns, callbacks, property checkers, a tiling strategy and a
 * backend. `--passes='test.hostile-calls-tile{seed=7,calls=1000,misuses=10}'`. */
#include "hostile_calls.h"

#include <pto/backend.h>
#include <pto/tiling.h>

#define AT now.run->host

static void make_calls(uint32_t most);

/* ---- run services ---- */

static void call_scratch(void) { memset(AT->scratch(any_run(), 64), 1, 64); }
static void call_keep(void) { memset(AT->keep(any_run(), 16), 1, 16); }
static void call_recall(void) { memset(AT->recall(any_run(), any_str(), 16), 1, 16); }
static void call_extension(void)
{
    const void *table;
    (void)AT->extension(any_run(), chance(50) ? PTO_STR(PTO_TILING_HOST) : any_str(), &table);
}
static void call_diag(void)
{
    const int32_t severity = chance(now.misuses) ? (int32_t)any_u32() : chance(50) ? PTO_NOTE : PTO_REMARK;
    if (chance(10)) AT->diag(any_run(), severity, any_loc(), any_str(), any_str());
}
static void call_should_stop(void) { (void)AT->should_stop(any_run()); }
static void call_stat_add(void) { AT->stat_add(any_run(), chance(now.misuses) ? any_u32() : 0, any_i64()); }
static void call_kind_at(void) { (void)AT->kind_at(any_run(), chance(now.misuses) ? any_u32() : 0); }
static void call_kind_by_name(void) { (void)AT->kind_by_name(any_run(), any_str()); }
static pto_kind_id any_kind(void)
{
    return chance(now.misuses) ? any_u32() : chance(50) ? 1 + random_below(150) : pto_op_kind(any_op());
}
static void call_kind_name(void) { (void)AT->kind_name(any_run(), any_kind()); }
static void call_kind_column(void) { (void)AT->kind_column(any_run(), any_kind(), any_u32()); }
static void call_kind_roles(void) { (void)AT->kind_roles(any_run(), any_kind(), any_u32()); }
static void call_op_pipe(void) { (void)AT->op_pipe(any_op()); }
static void call_kind_text(void) { (void)AT->kind_text(any_run(), any_kind(), any_u32()); }

/* ---- options, machine, module ---- */

static uint32_t any_option(void) { return chance(now.misuses) ? any_u32() : random_below(3); }
static void call_opt_i64(void) { (void)AT->opt_i64(any_run(), any_option()); }
static void call_opt_f64(void) { (void)(chance(now.misuses) ? AT->opt_f64(any_run(), any_option()) : 0); }
static void call_opt_str(void) { (void)(chance(now.misuses) ? AT->opt_str(any_run(), any_option()) : pto_no_str()); }
static void call_opt_list(void)
{
    const int64_t *items;
    if (chance(now.misuses)) (void)AT->opt_list(any_run(), any_option(), &items);
}
static void call_opt_is_set(void) { (void)AT->opt_is_set(any_run(), any_option()); }
static void call_machine_i64(void)
{
    int64_t out;
    (void)AT->machine_i64(any_run(), any_str(), &out);
}
static void call_machine_f64(void)
{
    double out;
    (void)AT->machine_f64(any_run(), any_str(), &out);
}
static void call_machine_str(void)
{
    pto_str out;
    (void)AT->machine_str(any_run(), any_str(), &out);
}
static uint32_t any_name_kind(void) { return chance(now.misuses) ? any_u32() : 1 + random_below(3); }
static uint32_t any_name_id(void) { return chance(now.misuses) ? any_u32() : random_below(7); }
static void call_machine_space(void) { (void)AT->machine_space(any_run(), any_name_id()); }
static void call_machine_path(void) { (void)AT->machine_path(any_run(), any_name_id(), any_name_id()); }
static void call_name_count(void) { (void)AT->name_count(any_run(), any_name_kind()); }
static void call_name_text(void) { (void)AT->name_text(any_run(), any_name_kind(), any_name_id()); }
static void call_name_find(void) { (void)AT->name_find(any_run(), any_name_kind(), any_str()); }
static void call_name_role(void) { (void)AT->name_role(any_run(), any_name_kind(), any_name_id()); }
static void call_name_of_role(void) { (void)AT->name_of_role(any_run(), any_name_kind(), any_name_id()); }
static void call_module_top(void) { keep_block(AT->module_top(any_run())); }
static void call_symbol_find(void) { keep_op(AT->symbol_find(any_run(), any_str())); }
static void call_module_attr(void) { keep_attr(AT->module_attr(any_run(), any_str())); }
static void call_module_set_attr(void)
{
    if (!PTO_SOME(now.unit) || chance(now.misuses)) (void)AT->module_set_attr(any_run(), any_str(), any_attr());
}
static void call_module_file(void) { (void)AT->module_file(any_run()); }

/* ---- reading ops ---- */

static void call_op_kind(void) { (void)AT->op_kind(any_op()); }
static void call_op_loc(void) { keep_loc(AT->op_loc(any_op())); }
static void call_op_block(void) { keep_block(AT->op_block(any_op())); }
static void call_op_next(void) { keep_op(AT->op_next(any_op())); }
static void call_op_prev(void) { keep_op(AT->op_prev(any_op())); }
static void call_op_parent(void) { keep_op(AT->op_parent(any_op())); }
static void call_op_function(void) { keep_op(AT->op_function(any_op())); }
static void call_op_walk_next(void) { keep_op(AT->op_walk_next(any_op(), any_op())); }
static void call_op_is_live(void) { (void)AT->op_is_live(any_op()); }
static void call_op_is_before(void)
{
    const pto_op op = any_op();
    (void)AT->op_is_before(op, chance(now.misuses) ? any_op() : pto_op_next(op));
}
static void call_op_dominates(void) { (void)AT->op_dominates(any_op(), any_op()); }
static void call_op_operand_count(void) { (void)AT->op_operand_count(any_op()); }
static void call_op_operand(void) { keep_value(AT->op_operand(any_op(), any_u32())); }
static void call_op_result_count(void) { (void)AT->op_result_count(any_op()); }
static void call_op_result(void) { keep_value(AT->op_result(any_op(), any_u32())); }
static void call_op_block_count(void) { (void)AT->op_block_count(any_op()); }
static void call_op_block_at(void) { keep_block(AT->op_block_at(any_op(), any_u32())); }
static void call_op_attr(void) { keep_attr(AT->op_attr(any_op(), any_str())); }
static void call_op_attr_count(void) { (void)AT->op_attr_count(any_op()); }
static void call_op_attr_at(void)
{
    pto_str name;
    keep_attr(AT->op_attr_at(any_op(), any_u32(), chance(50) ? &name : NULL));
}
static void call_op_path(void)
{
    char path[40];
    (void)AT->op_path(any_op(), path, random_below(sizeof path + 1));
}
static void call_op_evaluate(void)
{
    const pto_tensor *const none[] = {NULL, NULL};
    if (chance(now.misuses)) (void)AT->op_evaluate(any_op(), any_u32(), none, any_u32(), none);
}
static void call_op_iteration(void)
{
    pto_iteration space = {.struct_size = chance(now.misuses) ? any_u32() % sizeof space : sizeof space};
    if (AT->op_iteration(any_op(), &space) == PTO_OK && space.dim_count != 0) keep_expr(space.extent[0]);
}
static void call_op_fold(void) { keep_attr(AT->op_fold(any_op())); }
static void call_op_walk_on(void)
{
    pto_op behind;
    keep_op(AT->op_walk_on(any_op(), any_op(), &behind));
    keep_op(behind);
}
static void call_op_hash(void) { (void)AT->op_hash(any_op()); }
static void call_op_equal(void) { (void)AT->op_equal(any_op(), any_op()); }
static void call_op_is_used(void) { (void)AT->op_is_used(any_op()); }

/* ---- changing ---- */

static void call_op_set_operand(void)
{
    const pto_op op = any_op();
    const uint32_t index = chance(now.misuses) ? any_u32() : random_below(pto_op_operand_count(op));
    if (index < pto_op_operand_count(op) || chance(now.misuses)) (void)AT->op_set_operand(op, index, any_value());
}
static void call_op_set_attr(void)
{
    const pto_attr none = pto_attr_none(now.run);
    (void)AT->op_set_attr(any_op(), any_str(), chance(20) ? none : any_attr());
}
static void call_op_set_loc(void) { (void)AT->op_set_loc(any_op(), any_loc()); }

/* Mostly another op like one that is there, with some parts that are not. */
static void call_op_build(void)
{
    enum { MOST = 8 };
    pto_value operands[MOST];
    pto_type types[MOST];
    pto_str names[MOST];
    pto_attr attrs[MOST];
    const pto_op like = some_op();
    pto_op_spec s = {.struct_size = sizeof s,
                     .kind = chance(now.misuses) ? any_kind() : pto_op_kind(like),
                     .loc = chance(50) ? pto_loc_none(now.run) : any_loc(),
                     .operand_count = pto_op_operand_count(like) % MOST,
                     .result_count = pto_op_result_count(like) % MOST,
                     .attr_count = AT->op_attr_count(like) % MOST,
                     .block_count = pto_op_block_count(like),
                     .operands = operands,
                     .result_types = types,
                     .attr_names = names,
                     .attrs = attrs,
                     .name = chance(50) ? pto_no_str() : any_name()};
    if (chance(now.misuses)) s.operand_count = random_below(MOST);
    if (chance(now.misuses)) s.result_count = random_below(MOST);
    if (chance(now.misuses)) s.block_count = any_u32();
    if (chance(now.misuses / 4)) s.struct_size = random_below(sizeof s);
    for (uint32_t i = 0; i < MOST; i++) {
        pto_str name = pto_no_str();
        operands[i] = i < pto_op_operand_count(like) && chance(90) ? pto_op_operand(like, i) : any_value();
        types[i] = i < pto_op_result_count(like) && chance(90) ? pto_value_type(pto_op_result(like, i)) : any_type();
        attrs[i] = AT->op_attr_at(like, i, &name);
        names[i] = chance(90) ? name : any_str();
        if (chance(10)) attrs[i] = any_attr();
    }
    keep_op(AT->op_build(any_run(), any_place(), &s));
}
static void call_op_erase(void)
{
    const pto_op op = any_op();
    if (!pto_op_is_used(op) || chance(now.misuses)) (void)AT->op_erase(op);
}
static void call_op_replace(void)
{
    const pto_op op = any_op();
    pto_value values[4];
    uint32_t count = pto_op_result_count(op) % 4;
    for (uint32_t i = 0; i < 4; i++) values[i] = any_value();
    if (chance(now.misuses)) count = random_below(4);
    (void)AT->op_replace(op, count, values);
}
static void call_op_move(void) { (void)AT->op_move(any_op(), any_place()); }
static void call_op_clone(void)
{
    pto_value from[3], to[3];
    for (uint32_t i = 0; i < 3; i++) from[i] = any_value();
    for (uint32_t i = 0; i < 3; i++) to[i] = any_value();
    if (now.copies == 0) return;
    now.copies--;
    keep_op(AT->op_clone(any_op(), any_place(), random_below(4), from, to));
}

static pto_status rewrite(const pto_run *run, pto_op op)
{
    (void)run;
    keep_op(op);
    make_calls(3);
    if (chance(now.misuses)) return (pto_status)any_u32();
    return chance(20) ? PTO_CHANGED : PTO_OK;
}
static void call_greedy(void)
{
    const pto_pattern one = {.struct_size = sizeof one, .kind = chance(50) ? 0 : any_kind(), .rewrite = rewrite};
    const pto_pattern *const patterns[] = {&one, &one};
    if (now.depth != 0 && !chance(now.misuses)) return;
    (void)AT->greedy(any_run(), any_op(), random_below(3), patterns, 1);
}

/* ---- blocks and values ---- */

static void call_block_parent(void) { keep_op(AT->block_parent(any_block())); }
static void call_block_first(void) { keep_op(AT->block_first(any_block())); }
static void call_block_last(void) { keep_op(AT->block_last(any_block())); }
static void call_block_arg_count(void) { (void)AT->block_arg_count(any_block()); }
static void call_block_arg(void) { keep_value(AT->block_arg(any_block(), any_u32())); }
static void call_block_add_arg(void)
{
    const pto_type type = chance(50) ? pto_type_scalar(now.run, PTO_INDEX) : any_type();
    if (chance(30)) keep_value(AT->block_add_arg(any_block(), type, any_name()));
}
static void call_block_erase_arg(void)
{
    const pto_block block = any_block();
    const uint32_t index = any_u32();
    const int is_unused = index < pto_block_arg_count(block) && pto_value_use_count(pto_block_arg(block, index)) == 0;
    if (is_unused || chance(now.misuses)) (void)AT->block_erase_arg(block, index);
}
static void call_value_type(void) { keep_type(AT->value_type(any_value())); }
static void call_value_set_type(void) { (void)AT->value_set_type(any_value(), any_type()); }
static void call_value_op(void) { keep_op(AT->value_op(any_value())); }
static void call_value_block(void) { keep_block(AT->value_block(any_value())); }
static void call_value_index(void) { (void)AT->value_index(any_value()); }
static void call_value_use_count(void) { (void)AT->value_use_count(any_value()); }
static void call_value_use(void)
{
    uint32_t slot;
    keep_op(AT->value_use(any_value(), any_u32(), chance(50) ? &slot : NULL));
}
static void call_value_replace(void) { (void)AT->value_replace(any_value(), any_value()); }
static void call_value_valid(void)
{
    pto_expr out[2];
    if (AT->value_valid(any_value(), out) == PTO_OK) keep_expr(out[1]);
}
static void call_value_name(void) { (void)AT->value_name(any_value()); }
static void call_value_set_name(void) { (void)AT->value_set_name(any_value(), any_name()); }

/* ---- types ---- */

static void call_type_kind_of(void) { (void)AT->type_kind_of(any_type()); }
static void call_type_dtype(void) { (void)AT->type_dtype(any_type()); }
static void call_type_rank(void) { (void)AT->type_rank(any_type()); }
static void call_type_dim(void) { keep_expr(AT->type_dim(any_type(), any_u32())); }
static void call_type_stride(void) { keep_expr(AT->type_stride(any_type(), any_u32())); }
static void call_type_space(void) { (void)AT->type_space(any_type()); }
static void call_type_layout(void) { (void)AT->type_layout(any_type()); }
static pto_dtype any_dtype(void) { return chance(now.misuses) ? any_u32() * 5 : 1 + random_below(PTO_DTYPE_COUNT - 1); }
static void call_type_scalar(void) { keep_type(AT->type_scalar(any_run(), any_dtype())); }
/* Extents of a new type. */
static uint32_t any_dims(pto_expr dims[9])
{
    for (uint32_t i = 0; i < 9; i++) dims[i] = chance(60) ? pto_expr_const(now.run, random_below(64)) : any_expr();
    return random_below(chance(now.misuses) ? 10 : 5);
}
static void call_type_tensor(void)
{
    pto_expr dims[9];
    const uint32_t rank = any_dims(dims);
    keep_type(AT->type_tensor(any_run(), any_dtype(), rank, dims));
}
static void call_type_gm(void)
{
    pto_expr dims[9];
    const uint32_t rank = any_dims(dims);
    keep_type(AT->type_gm(any_run(), any_dtype(), rank, dims));
}
static void call_type_tile(void)
{
    const int64_t rows = chance(now.misuses) ? any_i64() : 16, columns = chance(now.misuses) ? any_i64() : 8;
    keep_type(AT->type_tile(any_run(), any_dtype(), rows, columns, chance(now.misuses) ? any_u32() : random_below(9),
                            chance(now.misuses) ? any_u32() : random_below(7)));
}
static void call_type_buffer(void) { keep_type(AT->type_buffer(any_run())); }

/* ---- attributes: read as what they are, or as what they are not ---- */

static pto_attr attr_of(pto_attr_kind kind)
{
    const pto_attr a = any_attr();
    const int fits = pto_attr_kind_of(a) == kind || chance(now.misuses);
    return fits ? a : pto_attr_none(now.run);
}
static void call_attr_kind_of(void) { (void)AT->attr_kind_of(any_attr()); }
static void call_attr_i64(void) { (void)AT->attr_i64(attr_of(PTO_ATTR_INT)); }
static void call_attr_f64(void) { (void)AT->attr_f64(attr_of(PTO_ATTR_FLOAT)); }
static void call_attr_str(void) { (void)AT->attr_str(attr_of(PTO_ATTR_STRING)); }
static void call_attr_type(void) { keep_type(AT->attr_type(attr_of(PTO_ATTR_TYPE))); }
static void call_attr_expr(void) { keep_expr(AT->attr_expr(attr_of(PTO_ATTR_EXPR))); }
static void call_attr_count(void) { (void)AT->attr_count(any_attr()); }
static void call_attr_item(void)
{
    pto_str key;
    keep_attr(AT->attr_item(any_attr(), any_u32(), chance(50) ? &key : NULL));
}
static void call_attr_bytes(void) { (void)AT->attr_bytes(attr_of(PTO_ATTR_DENSE)); }
static void call_attr_make_bool(void) { keep_attr(AT->attr_make_bool(any_run(), (int32_t)any_u32())); }
static void call_attr_make_i64(void) { keep_attr(AT->attr_make_i64(any_run(), any_i64())); }
static void call_attr_make_f64(void) { keep_attr(AT->attr_make_f64(any_run(), any_f64())); }
static void call_attr_make_str(void) { keep_attr(AT->attr_make_str(any_run(), any_str())); }
static void call_attr_make_symbol(void) { keep_attr(AT->attr_make_symbol(any_run(), any_name())); }
static void call_attr_make_type(void) { keep_attr(AT->attr_make_type(any_run(), any_type())); }
static void call_attr_make_expr(void) { keep_attr(AT->attr_make_expr(any_run(), any_expr())); }
static void call_attr_make_list(void)
{
    pto_attr items[4];
    for (uint32_t i = 0; i < 4; i++) items[i] = any_attr();
    keep_attr(AT->attr_make_list(any_run(), random_below(5), items));
}
static void call_attr_make_dense(void)
{
    static const uint8_t bytes[256];
    if (chance(now.misuses)) keep_attr(AT->attr_make_dense(any_run(), any_type(), random_below(256), bytes));
}

/* ---- expressions ---- */

static void call_expr_kind_of(void) { (void)AT->expr_kind_of(any_expr()); }
static void call_expr_number(void) { (void)AT->expr_number(any_expr()); }
static void call_expr_symbol_name(void) { (void)AT->expr_symbol_name(any_expr()); }
static void call_expr_leaf(void) { keep_value(AT->expr_leaf(any_expr())); }
static void call_expr_arg_count(void) { (void)AT->expr_arg_count(any_expr()); }
static void call_expr_arg(void) { keep_expr(AT->expr_arg(any_expr(), any_u32())); }
static void call_expr_coef(void) { (void)AT->expr_coef(any_expr(), any_u32()); }
static void call_expr_const(void) { keep_expr(AT->expr_const(any_run(), any_i64())); }
static void call_expr_symbol(void) { keep_expr(AT->expr_symbol(any_run(), any_name())); }
static void call_expr_value(void)
{
    const pto_value v = any_value();
    const int is_index = pto_type_dtype(pto_value_type(v)) == PTO_INDEX;
    if (is_index || chance(now.misuses)) keep_expr(AT->expr_value(v));
}
static void call_expr_make(void)
{
    const pto_expr_kind kind = chance(now.misuses) ? any_u32() : PTO_EXPR_SUM + random_below(7);
    keep_expr(AT->expr_make(any_expr(), kind, any_expr()));
}
static void call_expr_substitute(void)
{
    pto_value from[3];
    pto_expr to[3];
    for (uint32_t i = 0; i < 3; i++) from[i] = any_value();
    for (uint32_t i = 0; i < 3; i++) to[i] = any_expr();
    keep_expr(AT->expr_substitute(any_expr(), random_below(4), from, to));
}
static void call_expr_rename(void)
{
    pto_str from[3];
    pto_expr to[3];
    for (uint32_t i = 0; i < 3; i++) from[i] = any_str();
    for (uint32_t i = 0; i < 3; i++) to[i] = any_expr();
    keep_expr(AT->expr_rename(any_expr(), random_below(4), from, to));
}
static void call_expr_equal(void) { (void)AT->expr_equal(any_expr(), any_expr()); }

static int32_t bounds(int64_t *lo, int64_t *hi)
{
    make_calls(2);
    *lo = any_i64();
    *hi = any_i64();
    return chance(50);
}
static int32_t symbol_bounds(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    (void)self;
    (void)name;
    return bounds(lo, hi);
}
static int32_t value_bounds(void *self, pto_value v, int64_t *lo, int64_t *hi)
{
    (void)self;
    keep_value(v);
    return bounds(lo, hi);
}
static void call_expr_range(void)
{
    const pto_expr_env env = {.struct_size = sizeof env,
                              .symbol = chance(80) ? symbol_bounds : NULL,
                              .value = chance(80) ? value_bounds : NULL};
    (void)AT->expr_range(any_expr(), any_op(), now.depth == 0 && chance(50) ? &env : NULL);
}

/* ---- locations, tiling, decisions ---- */

static void call_loc_make(void) { keep_loc(AT->loc_make(any_run(), any_u32(), any_u32())); }
static void call_loc_fuse(void)
{
    pto_loc locs[4];
    for (uint32_t i = 0; i < 4; i++) locs[i] = any_loc();
    keep_loc(AT->loc_fuse(any_run(), random_below(5), locs));
}
static void call_loc_text(void)
{
    char text[32];
    (void)AT->loc_text(any_loc(), text, random_below(sizeof text + 1));
}

enum { VEC = 1 }; /* the first memory space of ir/ops */

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    (void)self;
    make_calls(1);
    return space == VEC ? tile[0] * 4 : 0;
}
static int64_t capacity(void *self, pto_space space)
{
    (void)self;
    make_calls(1);
    return space == VEC ? (chance(50) ? 65536 : any_i64()) : 0;
}
/* Asks `call` with a problem, at random. */
static void with_problem(void (*call)(const pto_tiling_problem *problem))
{
    pto_tiling_dim dims[3];
    const pto_tiling_dim *list[3] = {&dims[0], &dims[1], &dims[2]};
    for (uint32_t d = 0; d < 3; d++)
        dims[d] = (pto_tiling_dim){.struct_size = sizeof dims[d],
                                   .kind = chance(now.misuses) ? any_u32() : PTO_PARALLEL,
                                   .name = chance(90) ? "rows" : any_word(),
                                   .extent = any_expr(),
                                   .static_extent = chance(now.misuses) ? any_i64() : 100,
                                   .granule = chance(now.misuses) ? any_i64() : 8};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = chance(now.misuses) ? any_u32() : 1 + random_below(3),
                                        .shape = chance(50) ? "rows" : "elementwise",
                                        .nest = any_op(),
                                        .dims = list,
                                        .footprint = footprint,
                                        .capacity = capacity,
                                        .outer_instances = chance(now.misuses) ? any_i64() : 0};
    if (problem.dim_count > 3 && problem.dim_count <= 32) return; /* the list has three */
    if (now.depth != 0 || !chance(20)) return;
    now.depth++;
    call(&problem);
    now.depth--;
}
static void choose_for(const pto_tiling_problem *problem)
{
    int64_t tile[32];
    uint32_t ordinal;
    (void)pto_tiling_choose(any_run(), chance(now.misuses) ? any_option() : 3, problem, tile, &ordinal);
}
static void call_tiling_choose(void) { with_problem(choose_for); }
static void price_for(const pto_tiling_problem *problem)
{
    const int64_t tiles[3 * 32] = {8, 8, 8, any_i64()};
    double costs[3];
    (void)pto_tiling_price(any_run(), chance(now.misuses) ? any_option() : 4, problem, random_below(4), tiles, costs);
}
static void call_tiling_price(void) { with_problem(price_for); }
static pto_status any_write(void *self, const char *bytes, size_t n)
{
    (void)self, (void)bytes, (void)n;
    return chance(50) ? PTO_OK : PTO_FAILED;
}
static void call_generate(void)
{
    const pto_text_sink sink = {.struct_size = chance(now.misuses) ? any_u32() : sizeof(pto_text_sink),
                                .write = any_write};
    if (chance(now.misuses)) (void)pto_generate(any_run(), any_option(), &sink);
}
static void call_generate_key(void)
{
    const pto_text_sink sink = {.struct_size = chance(now.misuses) ? any_u32() : sizeof(pto_text_sink),
                                .write = any_write};
    if (chance(now.misuses)) (void)pto_generate_key(any_run(), any_option(), &sink);
}
static void call_op_replace_symbols(void)
{
    pto_str symbols[2] = {any_str(), any_name()};
    pto_expr by[2] = {any_expr(), any_expr()};
    if (chance(now.misuses)) (void)AT->op_replace_symbols(any_op(), random_below(3), symbols, by);
}
static void call_tune_fix(void)
{
    if (chance(now.misuses)) (void)AT->tune_fix(any_op(), any_i64());
}

static pto_decision any_decision(void)
{
    static const char *const keys[] = {"a", "b", "c", NULL}, *const words[] = {"no", "yes", NULL};
    return (pto_decision){.struct_size = chance(now.misuses) ? any_u32() : sizeof(pto_decision),
                          .count = chance(now.misuses) ? any_u32() : 1 + random_below(3),
                          .name = any_word(),
                          .keys = keys,
                          .words = chance(50) ? words : NULL};
}
static void call_decision_pinned(void)
{
    int64_t values[32] = {0};
    const pto_decision d = any_decision();
    if (d.count <= 3 || d.count > 32) (void)pto_decision_pinned(any_op(), &d, values);
}
static void call_decision_made(void)
{
    int64_t values[32] = {0};
    for (uint32_t i = 0; i < 3; i++) values[i] = chance(now.misuses) ? any_i64() : random_below(2);
    const pto_decision d = any_decision();
    if (d.count <= 3 || d.count > 32) (void)pto_decision_made(any_op(), &d, values);
}
static void call_choice_take(void) { (void)pto_choice_take(any_op(), any_u32()); }
static void call_report_does_not_fit(void)
{
    if (chance(now.misuses / 2)) (void)pto_report_does_not_fit(any_op(), any_str(), any_str());
}
static void call_diag_op(void)
{
    const int32_t severity = chance(now.misuses) ? (int32_t)any_u32() : chance(50) ? PTO_NOTE : PTO_REMARK;
    if (chance(10)) AT->diag_op(any_op(), severity, any_str(), any_str());
}

/* ---- all of them, in the order of the rows ---- */

/* A row of <pto/host.def> without a call above does not compile. */
#define HOST(returns, name, parameters, arguments, doc) SLOT_##name,
#define HOST_TILING(...) HOST(__VA_ARGS__)
#define HOST_SCHEDULE(...) HOST(__VA_ARGS__)
enum {
#include <pto/host.def>
    SLOT_COUNT
};
#define HOST(returns, name, parameters, arguments, doc) call_##name,
#define HOST_TILING(...) HOST(__VA_ARGS__)
#define HOST_SCHEDULE(...) HOST(__VA_ARGS__)
static void (*const calls[])(void) = {
#include <pto/host.def>
};

static void make_calls(uint32_t most)
{
    if (now.depth >= 3) return;
    now.depth++;
    for (uint32_t i = 0; i < most && now.left != 0; i++) {
        now.left--;
        calls[random_below(SLOT_COUNT)]();
    }
    now.depth--;
}

/* ---- callers ---- */

static caller enter(const pto_run *run, pto_op unit, uint32_t left, uint32_t misuses)
{
    const caller outer = now;
    run_pool[run_count++ % 8] = run;
    now = (caller){.run = run, .unit = unit, .left = left, .misuses = misuses, .copies = 6};
    return outer;
}

#define OPTIONS(X)                                                                                                    \
    X(SEED, I64, "seed", .def = "1", .doc = "of the random calls")                                                    \
    X(CALLS, I64, "calls", .def = "1000", .min = "0", .max = "1000000", .doc = "how many")                            \
    X(MISUSES, I64, "misuses", .def = "10", .min = "0", .max = "100", .doc = "handles that are not good, in percent") \
    X(STRATEGY, PLUGIN, "strategy", .def = "test.hostile-calls-strategy", .doc = "Which one is asked",                \
      .choices = tiling_kind)                                                                                         \
    X(COST, PLUGIN, "cost", .def = "test.hostile-calls-cost", .doc = "Which one prices", .choices = cost_kind)
static const char *const tiling_kind[] = {"tiling", NULL}, *const cost_kind[] = {"cost", NULL};
PTO_OPTIONS(OPTIONS);
#define KINDS(X) X(NEG, "tensor.neg")
PTO_KINDS(KINDS);

static pto_status run(const pto_run *run, pto_op unit)
{
    const uint32_t misuses = (uint32_t)pto_opt_i64(run, OPT_MISUSES);
    random_state += (uint64_t)pto_opt_i64(run, OPT_SEED) * UINT64_C(0x9E3779B97F4A7C15) + 1;
    const caller outer = enter(run, unit, (uint32_t)pto_opt_i64(run, OPT_CALLS), misuses);
    const uint32_t all = now.left;
    for (uint32_t i = 0; i < all && now.left != 0; i++) make_calls(1);
    const pto_status s = chance(misuses / 2) ? (pto_status)any_u32() : PTO_OK;
    now = outer;
    return s;
}

/* What checkers and strategies do: a little, and nothing bad where nobody asked for it. */
static pto_status look(const pto_run *run, pto_op unit)
{
    const caller outer = enter(run, unit, 30, chance(5) ? 5 : 0);
    now.copies = 0;
    for (uint32_t i = 0; i < 30; i++) {
        const uint32_t slot = random_below(SLOT_COUNT);
        if (slot >= SLOT_op_kind && slot <= SLOT_op_operand) calls[slot]();
        if (now.misuses != 0) make_calls(1);
    }
    now = outer;
    return PTO_OK;
}
static pto_status offer(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    int64_t tile[32];
    (void)look(run, problem->nest);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t d = 0; d < problem->dim_count; d++) tile[d] = chance(5) ? any_i64() : 8;
        if (!sink->offer_priced(sink->self, tile, chance(5) ? any_f64() : 1.0)) break;
    }
    return PTO_OK;
}
static pto_status price(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                        double *costs)
{
    (void)tiles;
    (void)look(run, problem->nest);
    for (uint32_t i = 0; i < count; i++) costs[i] = chance(5) ? any_f64() : 1.0;
    return chance(5) ? PTO_FAILED : PTO_OK;
}

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    *exe = NULL;
    return look(run, function);
}
/* Artefacts without any order. */
static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    const pto_run_sink *to = call->sink;
    (void)exe;
    random_state += call->seed;
    (void)look(run, call->function);
    const caller outer = enter(run, call->function, 100, 20);
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t what = random_below(8);
        if (what == 0) to->counter(to->self, any_str(), any_str(), any_f64());
        if (what == 1 && to->file_begin != NULL) to->file_begin(to->self, any_str());
        if (what == 2 && to->file_write != NULL) to->file_write(to->self, "x", 1);
        if (what == 3 && to->file_end != NULL) to->file_end(to->self);
        if (what == 4 && to->unit != NULL) (void)to->unit(to->self, any_str());
        const pto_slice s = {.struct_size = chance(5) ? 8 : sizeof s,
                             .unit = any_u32(),
                             .op = any_op(),
                             .cause = any_str(),
                             .from = any_i64(),
                             .to = any_i64(),
                             .bytes = any_i64()};
        if (what == 5 && to->slice != NULL) to->slice(to->self, &s);
        if (what > 5) make_calls(1);
    }
    now = outer;
    return PTO_OK;
}
static void release(const pto_run *run, void *exe)
{
    (void)exe;
    (void)look(run, pto_op_none(run));
}

#define LEVELS(X) X(tensor) X(tile) X(block) X(exec)
#define PASS(level_, name_, scope_)                                                        \
    static const pto_pass name_ = {.struct_size = sizeof name_,                            \
                                   .id = "test.hostile-calls-" #name_,                     \
                                   .summary = "Call the host at random",                   \
                                   .scope = scope_,                                        \
                                   .consumes = #level_ "/1",                               \
                                   .produces = #level_ "/1",                               \
                                   .establishes = PTO_STRS("test.hostile-looks-" #level_), \
                                   .kinds = pass_kinds,                                    \
                                   .options = pass_options,                                \
                                   .stats = PTO_STRS("calls"),                             \
                                   .run = run};
#define PASSES(level_)                                                                \
    PASS(level_, level_, "function")                                                  \
    PASS(level_, level_##_module, "module")                                           \
    static const pto_property level_##_looks = {.struct_size = sizeof level_##_looks, \
                                                .id = "test.hostile-looks-" #level_,  \
                                                .doc = "Nothing.",                    \
                                                .level = #level_ "/1",                \
                                                .check = look};
LEVELS(PASSES)

static const pto_tiling strategy = {.struct_size = sizeof strategy,
                                    .id = "test.hostile-calls-strategy",
                                    .summary = "Call the host at random, then offer",
                                    .offer = offer};
static const pto_cost model = {.struct_size = sizeof model,
                               .id = "test.hostile-calls-cost",
                               .summary = "Call the host at random, then price",
                               .price = price};
static const pto_backend backend = {.struct_size = sizeof backend,
                                    .id = "test.hostile-calls-backend",
                                    .summary = "Call the host at random",
                                    .consumes = PTO_STRS("tensor/1", "tile/1", "block/1", "exec/1"),
                                    .prepare = prepare,
                                    .execute = execute,
                                    .release = release};

#define NOTE(level_)                                                                  \
    "pass:test.hostile-calls-" #level_ " pass:test.hostile-calls-" #level_ "_module " \
    "property:test.hostile-looks-" #level_ " "
PTO_PLUGIN(
    "test.hostile-calls",
    LEVELS(NOTE) "tiling:test.hostile-calls-strategy cost:test.hostile-calls-cost backend:test.hostile-calls-backend",
    "test.hostile-looks-tensor test.hostile-looks-tile test.hostile-looks-block test.hostile-looks-exec",
    .version = "1.0.0", .license = "Apache-2.0",
    .passes = PTO_LIST(pto_pass, &tensor, &tensor_module, &tile, &tile_module, &block, &block_module, &exec,
                       &exec_module),
    .properties = PTO_LIST(pto_property, &tensor_looks, &tile_looks, &block_looks, &exec_looks),
    .tilings = PTO_LIST(pto_tiling, &strategy), .costs = PTO_LIST(pto_cost, &model),
    .backends = PTO_LIST(pto_backend, &backend));
