/* Block sizes that the program leaves open: `tune $KB in [64, 512] step 64`. */
#include "tile_nest.h"

static int is_blank(char c) { return c == ' ' || c == ','; }

/* The next `NAME=N` of the option. 0 at its end, -1 when it is malformed. */
static int next_setting(pto_str *text, pto_str *name, int64_t *value)
{
    uint32_t i = 0, digits = 0;
    while (i < text->n && is_blank(text->p[i])) i++;
    *name = (pto_str){text->p + i, 0};
    while (i < text->n && text->p[i] != '=' && !is_blank(text->p[i])) i++;
    name->n = i - (uint32_t)(name->p - text->p);
    if (name->n == 0 && i == text->n) return 0;
    if (name->n == 0 || i == text->n || text->p[i] != '=') return -1;
    *value = 0;
    for (i++; i < text->n && text->p[i] >= '0' && text->p[i] <= '9'; i++, digits++) {
        if (digits == 18) return -1;
        *value = *value * 10 + (text->p[i] - '0');
    }
    if (digits == 0 || (i < text->n && !is_blank(text->p[i]))) return -1;
    *text = (pto_str){text->p + i, text->n - i};
    return 1;
}

static pto_op find_tune(const pto_run *run, pto_op unit, pto_str symbol)
{
    PTO_EACH_OP(pto_body(unit), op) {
        if (!PTO_IS(op, TUNE)) continue;
        if (pto_str_same(pto_attr_str_of(op, PTO_STR("symbol")), symbol)) return op;
    }
    return pto_op_none(run);
}

/* Whether functions before this one were tiled, and have lost their symbols; then all names were looked up. */
static int comes_later(pto_op unit)
{
    for (pto_op f = pto_op_prev(unit); PTO_SOME(f); f = pto_op_prev(f))
        PTO_WALK(f, op) if (PTO_IS(op, FORALL)) return 1;
    return 0;
}

static int is_tuned(const pto_run *run, pto_op unit, pto_str symbol)
{
    const pto_block functions = pto_op_block(unit);
    PTO_EACH_OP(functions, f)
        if (pto_op_block_count(f) != 0 && PTO_SOME(find_tune(run, f, symbol))) return 1;
    return 0;
}

/* What the option names must be a symbol of some function. */
static pto_status check_option(const pto_run *run, pto_op unit)
{
    const pto_str all = pto_opt_str(run, TILE_OPT_SYMBOLS);
    pto_str text = all, name;
    int64_t value;
    int more;
    if (all.n == 0) return PTO_OK;
    const int is_checked = comes_later(unit);
    while ((more = next_setting(&text, &name, &value)) > 0) {
        if (is_checked || is_tuned(run, unit, name)) continue;
        return pto_error(unit, "pto.tile/no-such-symbol",
                         "the option `symbols` names $%.*s, which no function has a `tune` of: it would do nothing",
                         PTO_FMT(name));
    }
    if (more == 0) return PTO_OK;
    return pto_error(unit, "pto.tile/bad-symbols", "the option `symbols` is `%.*s`; it is a list like `KB=128, MB=64`",
                     PTO_FMT(all));
}

/* The value that the option has for the symbol. */
static int find_setting(const pto_run *run, pto_str symbol, int64_t *value)
{
    pto_str text = pto_opt_str(run, TILE_OPT_SYMBOLS), name;
    while (next_setting(&text, &name, value) > 0)
        if (pto_str_same(name, symbol)) return 1;
    return 0;
}

static int64_t largest_of(pto_op tune)
{
    const int64_t lo = pto_attr_int_of(tune, PTO_STR("lo"), 1), hi = pto_attr_int_of(tune, PTO_STR("hi"), 1),
                  step = pto_attr_int_of(tune, PTO_STR("step"), 1);
    return step > 0 ? lo + (hi - lo) / step * step : lo;
}

/* The schedule pins the symbol, or the option has it, or it gets its largest value. */
static pto_status fix(const pto_run *run, pto_op tune)
{
    const pto_str symbol = pto_attr_str_of(tune, PTO_STR("symbol"));
    const int64_t lo = pto_attr_int_of(tune, PTO_STR("lo"), 1), hi = pto_attr_int_of(tune, PTO_STR("hi"), 1),
                  step = pto_attr_int_of(tune, PTO_STR("step"), 1);
    char limit[96];
    (void)snprintf(limit, sizeof limit, "%lld to %lld in steps of %lld", (long long)lo, (long long)hi, (long long)step);
    const pto_decision d = {
        .struct_size = sizeof d, .count = 1, .name = "symbol", .min = &lo, .max = &hi, .limit = limit};
    int64_t value = largest_of(tune);
    const int is_set = find_setting(run, symbol, &value);
    const int32_t pinned = pto_decision_pinned(tune, &d, &value);
    if (pinned < 0) return PTO_FAILED;
    if (!is_set && !pinned)
        pto_remark(tune, "pto.tile/largest",
                   "$%.*s is fixed at its largest value, %lld; the option `symbols` of pto.tile, or a schedule, takes "
                   "another",
                   PTO_FMT(symbol), (long long)value);
    if (pinned && step > 0 && (value - lo) % step != 0)
        return pto_error(tune, "pto.tile/not-offered", "$%.*s is pinned at %lld; it takes %s", PTO_FMT(symbol),
                         (long long)value, limit);
    PTO_TRY(pto_decision_made(tune, &d, &value));
    return pto_tune_fix(tune, value);
}

pto_status tile_fix_symbols(const pto_run *run, pto_op unit)
{
    const pto_block body = pto_body(unit);
    PTO_TRY(check_option(run, unit));
    for (pto_op op = pto_block_first(body), next; PTO_SOME(op); op = next) {
        next = pto_op_next(op);
        if (PTO_IS(op, TUNE)) PTO_TRY(fix(run, op));
    }
    return PTO_OK;
}
