/* Cycles of the loop before and after, by unit. What leaves the loop is made before all else, so that nothing runs
 * beside it: it must be saved often enough. Where the number of iterations is not known several extents are tried. */
#include "hoist.h"

static const int64_t trial_extents[] = {4096, 16, 256, 65536};
enum { TRIALS = sizeof trial_extents / sizeof *trial_extents };

/* An op on tiles, with what its flags cost those that wait for it. */
static void add_op(const hoist_nest *n, pto_op op, double times, op_cycles *c)
{
    const op_prices *p = &n->prices;
    const pto_space on_chip = pto_space_of_role(n->run, PTO_ROLE_SCRATCHPAD);
    const uint32_t transfer = pto_op_transfer(op),
                   unit = (uint32_t)pto_kind_column(n->run, pto_op_kind(op), PTO_COLUMN_UNIT);
    if (transfer == PTO_TRANSFER_NONE) {
        if (unit == PTO_UNIT_MATRIX)
            op_price_matrix(p, op, times, c);
        else
            op_price_vector(p, op, times, c);
        return;
    }
    const pto_value from = pto_op_operand(op, 0), tile = transfer == PTO_TRANSFER_STORE ? from : pto_op_result(op, 0);
    const pto_space target = transfer == PTO_TRANSFER_STORE ? p->global : pto_type_space(pto_value_type(tile)),
                    source = transfer == PTO_TRANSFER_LOAD ? p->global : pto_type_space(pto_value_type(from));
    op_price_copy(p, tile, source, target, times, c);
    if (p->is_serial) return;
    const double flags = times * 2.0 * p->flag;
    if (transfer == PTO_TRANSFER_LOAD && target == on_chip)
        c->units[PTO_UNIT_VECTOR] += flags + times * (double)pto_machine_i64_or(n->run, 0, "instructions.default.head");
    if (transfer == PTO_TRANSFER_MOVE && target != on_chip) c->units[PTO_UNIT_MATRIX] += flags;
}

/* How often an op runs in an iteration of the loop. */
static double times_of(hoist_nest *n, uint32_t place, uint32_t loop)
{
    double times = 1.0;
    for (uint32_t p = n->ops[place].around; p != loop; p = n->regions.ops[p].parent)
        if (n->regions.ops[p].kind == REGION_FOR) times *= op_trips(&n->prices, n->regions.ops[p].op);
    return times;
}

static int is_priced(const hoist_nest *n, uint32_t place)
{
    return n->regions.ops[place].blocks == 0 && storage_is_tile_op(n->regions.ops[place].op);
}

static double max_of(double a, double b) { return a > b ? a : b; }

/* Cycles that a core waits in an iteration for the first load of a loop inside: what the loop does itself runs in that
 * time. */
static double idle_cycles(const hoist_nest *n, uint32_t loop)
{
    double most = 0.0;
    int is_inside = 1;
    for (uint32_t p = loop + 1; p <= n->regions.ops[loop].last; p++) {
        op_cycles c = {.bytes = 0.0};
        if (n->ops[p].is_marked && n->ops[p].around == loop) is_inside = 0;
        if (n->ops[p].around <= loop || pto_op_transfer(n->regions.ops[p].op) != PTO_TRANSFER_LOAD) continue;
        add_op(n, n->regions.ops[p].op, 1.0, &c);
        most = max_of(most, op_cycles_most(&n->prices, &c, 1.0));
    }
    return is_inside || n->prices.is_serial ? 0.0 : most;
}

/* Cycles that are saved of those of the nest at one set of extents. */
static double try_extents(hoist_nest *n, uint32_t loop, hoist_gain *g)
{
    /* What one core of a CPU makes again it reads from its cache. */
    const double cores = op_cores(&n->prices, pto_attr_str_of(n->nest, PTO_STR("core"))),
                 busy = n->prices.is_serial ? 0.0 : cores,
                 launch = (double)(pto_machine_i64_or(n->run, 0, "dispatch.launch-cycles") +
                                   pto_machine_i64_or(n->run, 0, "dispatch.block-cycles"));
    op_cycles all = {.bytes = 0.0}, rest = {.bytes = 0.0}, once = {.bytes = 0.0};
    for (uint32_t p = loop + 1; p <= n->regions.ops[loop].last; p++) {
        if (n->ops[p].around < loop || !is_priced(n, p)) continue;
        const double times = times_of(n, p, loop);
        add_op(n, n->regions.ops[p].op, times, &all);
        if (n->ops[p].is_marked)
            add_op(n, n->regions.ops[p].op, 1.0, &once);
        else
            add_op(n, n->regions.ops[p].op, times, &rest);
    }
    g->trips = max_of(op_trips(&n->prices, n->regions.ops[loop].op), 1.0);
    g->before = op_cycles_pace(&n->prices, &all, busy);
    g->after = op_cycles_pace(&n->prices, &rest, busy) + idle_cycles(n, loop);
    if (g->after > g->before) g->after = g->before;
    /* A first iteration overlaps nothing, and what was beside its work is before it. */
    const double first = (n->prices.is_serial ? 1.0 : 2.0) * op_cycles_sum(&once);
    const double before = op_cycles_sum(&all) + (g->trips - 1.0) * g->before,
                 after = first + op_cycles_sum(&rest) + (g->trips - 1.0) * g->after;
    return (before - after) / (launch + before);
}

hoist_gain hoist_price(hoist_nest *n, uint32_t loop)
{
    hoist_gain first = {.share = 0.0};
    double sum = 0.0;
    uint32_t count = 0;
    do {
        hoist_gain g = {.share = 0.0};
        n->prices.trial = trial_extents[count];
        n->prices.is_open = 0;
        sum += try_extents(n, loop, &g);
        if (count == 0) first = g;
    } while (++count < TRIALS && n->prices.is_open);
    first.is_open = n->prices.is_open;
    first.share = sum / (double)count;
    return first;
}
