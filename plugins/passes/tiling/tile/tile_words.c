/* What the answers about a nest hang on, as words: a cost model that has met them before knows its prices. Two nests
 * with the same words are counted alike, whatever their values are called and wherever they come from. So all that
 * counting and pricing read of a vector group is here, and of other nests in their files: what is new there belongs
 * here too. */
#include "tile_rows.h"

enum { WORDS_OF_GROUP = 17, WORDS_OF_SYMBOLS = 4, WORDS_OF_AXIS = 3, WORDS_OF_VALUE = 5 };

/* Of an op of the group: what it is, and from what reductions of nothing start. */
static int64_t word_of_op(const row_value *v)
{
    if (!PTO_SOME(v->op)) return 0;
    const pto_str nan = v->role == ROW_REDUCE ? pto_attr_str_of(v->op, PTO_STR("nan")) : pto_no_str();
    return 2 * (int64_t)pto_op_kind(v->op) + pto_str_is(nan, "ignore");
}

static void put_value(const row_value *v, int64_t *out)
{
    out[0] = v->role | v->shape << 8 | v->form << 16 | (int64_t)v->axis << 24 | (int64_t)v->dtype << 32;
    out[1] = (int64_t)v->is_needed | (int64_t)v->is_output << 1 | (int64_t)v->as_mask << 2 | (int64_t)v->in_count << 3 |
             (int64_t)v->depth << 8;
    out[2] = word_of_op(v);
    out[3] = v->in[0] | (int64_t)v->in[1] << 32;
    out[4] = v->in[2];
}

static uint32_t put_group(const row_group *g, int64_t *out)
{
    const int64_t words[WORDS_OF_GROUP] = {
        pto_opt_bool(g->run, TILE_OPT_IN_PLACE),
        g->count,
        g->output_count,
        g->axis_count,
        g->depth,
        g->swept,
        g->sweeps,
        g->is_split,
        g->granule,
        g->bound,
        g->truth,
        g->can_part,
        g->part_costs.kernels,
    };
    memcpy(out, words, sizeof words);
    return WORDS_OF_GROUP;
}

/* The functions of a run are lowered one by one: what the last one that was asked about is like. */
typedef struct words_memory {
    pto_block body;
    int has_binds;
} words_memory;

static int is_same(pto_block a, pto_block b) { return a.index == b.index && a.generation == b.generation; }

/* Whether ops of the function name symbols of their own. */
static int has_binds(const pto_run *run, pto_block body)
{
    words_memory *known = pto_recall(run, PTO_STR("words"), sizeof *known);
    if (is_same(known->body, body)) return known->has_binds;
    *known = (words_memory){.body = body};
    PTO_EACH_OP(body, op) known->has_binds |= PTO_IS(op, BIND);
    return known->has_binds;
}

/* What is known of symbols: what the function states, which is the same in others that state it, and, where there are
 * branches around or symbols of ops, those of this run alone. */
static void put_symbols(pto_op group, int64_t *out)
{
    const pto_block block = pto_op_block(group);
    const pto_op unit = pto_op_function(group);
    if (is_same(block, pto_body(unit)) && !has_binds(group.run, block)) {
        static const char *const stated[] = {"facts", "expect"};
        for (uint32_t i = 0; i < sizeof stated / sizeof stated[0]; i++)
            out[i + 1] = pto_op_attr(unit, pto_s(stated[i])).index;
        out[0] = 1;
        return;
    }
    out[0] = 2;
    out[1] = (int64_t)(uintptr_t)group.run;
    out[2] = block.index;
    out[3] = block.generation;
}

void rows_put_words(const row_group *g, pto_tiling_problem *problem)
{
    int is_static = 1;
    const uint32_t capacity =
        WORDS_OF_GROUP + g->axis_count * WORDS_OF_AXIS + g->count * WORDS_OF_VALUE + g->output_count;
    int64_t *words = PTO_SCRATCH(g->run, int64_t, capacity);
    uint32_t n = put_group(g, words);
    for (uint32_t a = 0; a < g->axis_count; a++) {
        /* The number of an expression stands for the same extent in all functions, except for the values in it: their
         * numbers are given to others later. */
        if (g->static_extent[a] < 0 && pto_expr_has_value(g->extent[a])) return;
        if (g->static_extent[a] < 0) is_static = 0;
        words[n++] = g->static_extent[a];
        words[n++] = g->expected[a];
        words[n++] = g->static_extent[a] < 0 ? g->extent[a].index : 0;
    }
    for (uint32_t i = 0; i < g->count; i++, n += WORDS_OF_VALUE) put_value(&g->values[i], words + n);
    for (uint32_t i = 0; i < g->output_count; i++) words[n++] = g->outputs[i];
    if (!is_static) put_symbols(g->group, words + WORDS_OF_GROUP - WORDS_OF_SYMBOLS);
    problem->words = words;
    problem->word_count = n;
}

void tile_put_words(pto_op group, int64_t kind, uint32_t count, const int64_t *facts, pto_tiling_problem *problem)
{
    int is_static = 1;
    int64_t *words = PTO_SCRATCH(group.run, int64_t, 1 + WORDS_OF_SYMBOLS + count + problem->dim_count * WORDS_OF_AXIS);
    uint32_t n = 1 + WORDS_OF_SYMBOLS;
    words[0] = kind;
    memset(words + 1, 0, WORDS_OF_SYMBOLS * sizeof *words);
    memcpy(words + n, facts, count * sizeof *facts);
    n += count;
    for (uint32_t d = 0; d < problem->dim_count; d++) {
        const pto_tiling_dim *dim = problem->dims[d];
        const int is_open = dim->static_extent < 0;
        if (is_open && pto_expr_has_value(dim->extent)) return;
        is_static &= !is_open;
        words[n++] = dim->static_extent;
        words[n++] = is_open ? pto_expected_extent(group, dim->extent) : dim->static_extent;
        words[n++] = is_open ? dim->extent.index : 0;
    }
    if (!is_static) put_symbols(group, words + 1);
    problem->words = words;
    problem->word_count = n;
}
