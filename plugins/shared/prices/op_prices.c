#include "op_prices.h"

#include <math.h>

op_prices op_prices_of(const pto_run *run)
{
    const pto_space_facts sums = pto_space_facts_of(run, PTO_ROLE_ACCUMULATOR),
                          vectors = pto_space_facts_of(run, PTO_ROLE_SCRATCHPAD);
    op_prices p = {.run = run, .global = pto_space_of_role(run, PTO_ROLE_GLOBAL)};
    p.is_serial = sums != NULL && vectors != NULL && pto_str_same(sums->core, vectors->core);
    p.flag = (double)pto_machine_i64_or(run, 1, "sync.flag-cycles");
    p.gm_rate = pto_machine_f64_or(run, 0.0, "shared.gm-bytes-per-cycle");
    p.repeat_bytes = pto_machine_i64_or(run, 256, "vector.repeat-bytes");
    if (p.repeat_bytes < 1) p.repeat_bytes = 1;
    return p;
}

/* ---- ops ---- */

static double elements_of(pto_value v, double *row_bytes)
{
    const pto_type type = pto_value_type(v);
    int64_t rows = 1, columns = 1, size = 1;
    *row_bytes = 0.0;
    if (pto_type_kind_of(type) != PTO_TYPE_TILE) return 0.0;
    (void)pto_expr_is_const(pto_type_dim(type, 0), &rows);
    (void)pto_expr_is_const(pto_type_dim(type, 1), &columns);
    size = pto_dtype_bytes(pto_type_dtype(type));
    if (columns == 1) { /* a column lies as one row */
        columns = rows;
        rows = 1;
    }
    *row_bytes = (double)columns * (double)(size > 0 ? size : 1);
    return (double)rows;
}

static double instruction_number(const op_prices *p, pto_str cost, const char *column)
{
    const int64_t usual = pto_machine_i64_or(p->run, 0, "instructions.default.%s", column);
    return (double)pto_machine_i64_or(p->run, usual, "instructions.%.*s.%s", PTO_FMT(cost), column);
}

void op_price_copy(const op_prices *p, pto_value tile, pto_space from, pto_space to, double times, op_cycles *c)
{
    const pto_path_facts path = pto_machine_path(p->run, from, to);
    double row_bytes = 0.0;
    const double rows = elements_of(tile, &row_bytes);
    if (path == NULL) return;
    const double rate = path->bytes_per_cycle > 0.0 ? path->bytes_per_cycle : 1.0;
    const uint32_t role = pto_pipe_role(p->run, path->pipe), unit = role < PTO_UNIT_COUNT ? role : PTO_UNIT_MOVE;
    c->units[unit] += times * (rows * row_bytes / rate + 2.0 * p->flag + (double)path->latency);
    if (from == p->global || to == p->global) c->bytes += times * rows * row_bytes;
}

void op_price_vector(const op_prices *p, pto_op op, double times, op_cycles *c)
{
    const pto_str cost = pto_kind_cost(p->run, pto_op_kind(op));
    double most = 0.0, rows = 0.0;
    for (uint32_t i = 0; i <= pto_op_operand_count(op); i++) {
        double bytes = 0.0;
        const double r = elements_of(i == 0 ? pto_op_result(op, 0) : pto_op_operand(op, i - 1), &bytes);
        if (r * bytes <= most * rows) continue;
        rows = r;
        most = bytes;
    }
    const double repeats = ceil(most / (double)p->repeat_bytes);
    c->units[PTO_UNIT_VECTOR] +=
        times * (instruction_number(p, cost, "head") + instruction_number(p, cost, "tail") +
                 rows * (instruction_number(p, cost, "per-row") + repeats * instruction_number(p, cost, "per-repeat")));
}

void op_price_matrix(const op_prices *p, pto_op op, double times, op_cycles *c)
{
    const uint32_t first = pto_op_operand_count(op) - 2;
    const pto_value left = pto_op_operand(op, first), right = pto_op_operand(op, first + 1);
    const double box = (double)pto_machine_i64_or(p->run, 16, "matrix.box-rows");
    const double box_bytes = (double)pto_machine_i64_or(p->run, 32, "matrix.box-row-bytes");
    const double each = pto_machine_f64_or(p->run, 1.0, "matrix.cycles-per-box.%s",
                                           pto_dtype_name(pto_type_dtype(pto_value_type(left))));
    double depth = 0.0, width = 0.0;
    const double rows = elements_of(left, &depth);
    (void)elements_of(right, &width);
    const int64_t size = pto_dtype_bytes(pto_type_dtype(pto_value_type(right)));
    width /= (double)(size > 0 ? size : 1);
    c->units[PTO_UNIT_MATRIX] += times * (pto_machine_f64_or(p->run, 0.0, "matrix.head") +
                                          each * ceil(rows / box) * ceil(width / box) * ceil(depth / box_bytes));
}

/* ---- many ---- */

double op_cycles_sum(const op_cycles *c)
{
    double sum = 0.0;
    for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++) sum += c->units[u];
    return sum;
}

double op_cycles_most(const op_prices *p, const op_cycles *c, double busy)
{
    double most = p->gm_rate > 0.0 ? busy * c->bytes / p->gm_rate : 0.0;
    for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++)
        if (c->units[u] > most) most = c->units[u];
    return most;
}

double op_cycles_pace(const op_prices *p, const op_cycles *c, double busy)
{
    const double sum = op_cycles_sum(c), most = op_cycles_most(p, c, busy), least = p->is_serial ? sum : 0.5 * sum;
    return most > least ? most : least;
}

/* ---- extents ---- */

/* The value that the function expects of the symbol, else the trial. */
typedef struct symbol_numbers {
    pto_attr expect;
    int64_t trial;
    int is_tried; /* the trial was needed */
} symbol_numbers;

static int32_t number_of_symbol(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    symbol_numbers *n = (symbol_numbers *)self;
    for (uint32_t i = 0; PTO_SOME(n->expect) && i < pto_attr_count(n->expect); i++) {
        const pto_attr item = pto_attr_item(n->expect, i, NULL);
        if (!pto_str_same(pto_attr_str(pto_attr_item(item, 0, NULL)), name)) continue;
        *lo = *hi = pto_attr_i64(pto_attr_item(item, 1, NULL));
        return 1;
    }
    n->is_tried = 1;
    *lo = *hi = n->trial;
    return 1;
}

double op_extent(op_prices *p, pto_op at, pto_expr extent)
{
    const int64_t known = pto_expected_extent(at, extent);
    if (known >= 0) return (double)known;
    symbol_numbers numbers = {.expect = pto_op_attr(pto_op_function(at), PTO_STR("expect")), .trial = p->trial};
    const pto_expr_env env = {.struct_size = sizeof env, .self = &numbers, .symbol = number_of_symbol};
    const pto_range r = pto_expr_range(extent, at, &env);
    const int is_bounded = r.hi > 0 && r.hi != INT64_MAX;
    p->is_open |= numbers.is_tried || !is_bounded;
    return is_bounded ? (double)r.hi : (double)p->trial;
}

double op_trips(op_prices *p, pto_op loop)
{
    const pto_expr more = pto_expr_sub(pto_expr_of(loop, PTO_STR("to"), 0), pto_expr_of(loop, PTO_STR("from"), 0));
    const pto_expr trips = pto_expr_ceildiv(more, pto_expr_of(loop, PTO_STR("step"), 0));
    return PTO_SOME(trips) ? op_extent(p, loop, trips) : 1.0;
}

double op_cores(const op_prices *p, pto_str core)
{
    const int64_t cores = pto_machine_i64_or(p->run, 1, "cores.%.*s.count", PTO_FMT(core));
    return cores > 0 ? (double)cores : 1.0;
}
