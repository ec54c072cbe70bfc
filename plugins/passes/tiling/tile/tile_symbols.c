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
        if (!pto_op_is(op, pto_kind(run, KIND_TUNE))) continue;
        if (pto_str_same(pto_attr_str_of(op, "symbol"), symbol)) return op;
    }
    return pto_op_none(run);
}

/* What the option says, for symbols of this function. */
static pto_status fix_as_set(const pto_run *run, pto_op unit)
{
    const pto_str all = pto_opt_str(run, TILE_OPT_SYMBOLS);
    pto_str text = all, name;
    int64_t value;
    int more;
    while ((more = next_setting(&text, &name, &value)) > 0) {
        const pto_op tune = find_tune(run, unit, name);
        if (PTO_SOME(tune))
            PTO_TRY(pto_tune_fix(tune, value));
        else
            pto_remark(unit, "pto.tile/no-such-symbol",
                       "the option `symbols` gives $%.*s, which this function has no `tune` of", PTO_FMT(name));
    }
    if (more == 0) return PTO_OK;
    return pto_error(unit, "pto.tile/bad-symbols", "the option `symbols` is `%.*s`; it is a list like `KB=128, MB=64`",
                     PTO_FMT(all));
}

static pto_status fix_at_largest(pto_op tune)
{
    const pto_str symbol = pto_attr_str_of(tune, "symbol");
    const int64_t lo = pto_attr_int_of(tune, "lo", 1), hi = pto_attr_int_of(tune, "hi", 1),
                  step = pto_attr_int_of(tune, "step", 1);
    const int64_t value = step > 0 ? lo + (hi - lo) / step * step : lo;
    pto_remark(tune, "pto.tile/largest",
               "$%.*s is fixed at its largest value, %lld; the option `symbols` of pto.tile takes another",
               (int)symbol.n, symbol.p != NULL ? symbol.p : "", (long long)value);
    return pto_tune_fix(tune, value);
}

pto_status tile_fix_symbols(const pto_run *run, pto_op unit)
{
    const pto_block body = pto_body(unit);
    PTO_TRY(fix_as_set(run, unit));
    for (pto_op op = pto_block_first(body), next; PTO_SOME(op); op = next) {
        next = pto_op_next(op);
        if (pto_op_is(op, pto_kind(run, KIND_TUNE))) PTO_TRY(fix_at_largest(op));
    }
    return PTO_OK;
}
