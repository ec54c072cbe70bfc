/* The nest of an attention, in a function of its own.
 *
 *     func private @f_attention(%q: gm<$B x $H x $S x 64 x f32>, %k: .., %v: .., out %y: ..) {
 *       forall "f_attention" (%b, %h, %i) to ($B, $H, ceildiv($S, 64)) {
 *         %q = tile.load ..                      rows of q
 *         for %j .. carry(%m, %s, %y) {          blocks of keys
 *           %p = tile.matmul %q, %k              scores, as far as rows see keys
 *           %w = exp(%p - max(%m, rows of %p))
 *           yield largest, %s and %y times exp(old - new largest) plus rows of %w, plus %w times rows of v
 *         }
 *         tile.store %y / %s
 *       }
 *     }
 *
 * A query that sees no key yet has -inf as its largest score; what is subtracted is at least the lowest number, so that
 * its weights are 0 and not NaN. One that sees none in the end has a sum of 0, and 0 / 0 is the NaN that it becomes.
 *
 * Weights of f16 and bf16 are rounded after they are divided by their sum. Block by block that takes a first pass over
 * the keys, for the sums alone. With `by: reciprocal` they are multiplied by one over it; where a query sees no key
 * that is infinity, and 0 times it is NaN, too. */
#include "attention_tiles.h"
#include "nest_function.h"

#include <float.h>
#include <math.h>

enum { LARGEST, SUM, MADE, CARRIED };

/* A nest that is written. Expressions are of the function's symbols and the instance's indices. */
typedef struct body {
    writer w;
    enum attention_form form;
    int64_t rows, keys; /* capacity of blocks */
    pto_dtype dtype;
    pto_value q, k, v, mask, out;     /* of the function; mask: or none */
    pto_expr query_count, key_count;  /* extents */
    pto_expr index[PTO_MAX_DIMS];     /* of batches and heads */
    pto_expr first, row_count, start; /* the first query; queries of the block; the first query less those before
                                       * it that see no key */
    piece queries, places;            /* rows of q; numbers of the rows of the block */
    pto_value none, least, scale, zero, small;
} body;

/* ---- the function ---- */

static const char *const lead_symbols[PTO_MAX_DIMS] = {"B0", "B1", "B2", "B3", "B4", "B5", "B6", "B7"};

/* An operand's type in memory, with symbols of the function: those of batches and heads, then that of places. `heads`
 * names those of k and v, where they are others than those of q. */
static pto_type memory_type(const attention *a, pto_type type, const char *heads, const char *places)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 0; d < rank; d++) {
        const char *symbol = d + 2 < rank ? lead_symbols[d] : places;
        if (d + 3 == rank && !pto_expr_equal(pto_type_dim(type, d), pto_type_dim(a->q, d))) symbol = heads;
        dims[d] = nest_symbol_or_number(a->run, pto_type_dim(type, d), symbol);
    }
    return pto_type_gm(a->run, pto_type_dtype(type), rank, dims);
}

static pto_type mask_type(const attention *a)
{
    const pto_type type = pto_value_type(a->mask);
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type), missing = a->rank - rank;
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t of = d + missing;
        dims[d] = nest_symbol_or_number(a->run, pto_type_dim(type, d),
                                        of + 1 == a->rank   ? "T"
                                        : of + 2 == a->rank ? "S"
                                                            : lead_symbols[of]);
    }
    return pto_type_gm(a->run, pto_type_dtype(type), rank, dims);
}

/* Parameters and extents. */
static void open_function(body *b, pto_op function)
{
    const attention *a = b->w.a;
    const pto_block block = pto_body(function);
    const pto_type q = memory_type(a, a->q, "H", "S"), k = memory_type(a, a->k, "H", "T");
    b->q = pto_block_add_arg(block, q, PTO_STR("q"));
    b->k = pto_block_add_arg(block, k, PTO_STR("k"));
    b->v = pto_block_add_arg(block, memory_type(a, a->v, "H", "T"), PTO_STR("v"));
    b->mask = PTO_SOME(a->mask) ? pto_block_add_arg(block, mask_type(a), PTO_STR("mask")) : a->mask;
    b->out = pto_block_add_arg(block, memory_type(a, a->result, "H", "S"), PTO_STR("y"));
    b->w.failed = !PTO_SOME(b->q) || !PTO_SOME(b->k) || !PTO_SOME(b->v) || !PTO_SOME(b->out);
    b->query_count = pto_type_dim(q, a->rank - 2);
    b->key_count = pto_type_dim(k, a->rank - 2);
    b->w.block = block;
}

/* The nest; ops are then made in its body. */
static pto_op open_nest(body *b, pto_str label)
{
    const attention *a = b->w.a;
    const uint32_t lead = a->rank - 2;
    const pto_type type = pto_value_type(b->q), index = pto_type_scalar(a->run, PTO_INDEX);
    pto_expr to[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < lead; d++) to[d] = pto_type_dim(type, d);
    to[lead] = pto_expr_ceildiv(b->query_count, pto_expr_const(a->run, b->rows));
    pto_spec s = pto_spec_make(a->run, pto_kind(a->run, KIND_FORALL));
    pto_spec_str(&s, PTO_STR("label"), label);
    pto_spec_exprs(&s, PTO_STR("to"), lead + 1, to);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, b->w.loc);
    const pto_op nest = pto_spec_build(&s, pto_at_end(b->w.block));
    if (!PTO_SOME(nest)) return nest;
    b->w.block = pto_body(nest);
    for (uint32_t d = 0; d < lead; d++)
        b->index[d] = pto_expr_value(pto_block_add_arg(b->w.block, index, pto_s(d + 1 == lead ? "h" : "b")));
    const pto_expr i = pto_expr_value(pto_block_add_arg(b->w.block, index, PTO_STR("i")));
    b->first = pto_expr_scale(i, b->rows);
    b->row_count = pto_expr_const(a->run, b->rows);
    if (b->rows > 1) b->row_count = pto_expr_min(b->row_count, pto_expr_sub(b->query_count, b->first));
    b->start = pto_expr_add(b->first, pto_expr_sub(b->key_count, b->query_count));
    return nest;
}

static pto_status close_nest(body *b, pto_op nest, pto_op function)
{
    pto_spec yield = pto_spec_make(b->w.run, pto_kind(b->w.run, KIND_YIELD));
    pto_spec_loc(&yield, b->w.loc);
    PTO_NEED(pto_spec_build(&yield, pto_at_end(pto_body(nest))));
    pto_spec s = pto_spec_make(b->w.run, pto_kind(b->w.run, KIND_RETURN));
    pto_spec_loc(&s, b->w.loc);
    PTO_NEED(pto_spec_build(&s, pto_at_end(pto_body(function))));
    return b->w.failed ? PTO_FAILED : PTO_OK;
}

/* ---- windows ---- */

/* Offsets in q and the result, or with `is_shared` in k and v, whose heads those of q share. */
static void offsets_of(const body *b, pto_value memory, int is_shared, pto_expr place, pto_expr *out)
{
    const pto_type type = pto_value_type(memory), of_q = pto_value_type(b->q);
    const uint32_t rank = b->w.a->rank;
    for (uint32_t d = 0; d + 2 < rank; d++) {
        out[d] = b->index[d];
        if (!is_shared || d + 3 != rank || pto_expr_equal(pto_type_dim(type, d), pto_type_dim(of_q, d))) continue;
        out[d] = pto_expr_floordiv(out[d], pto_expr_floordiv(pto_type_dim(of_q, d), pto_type_dim(type, d)));
    }
    out[rank - 2] = place;
    out[rank - 1] = pto_expr_const(b->w.run, 0);
}

static int is_single(pto_expr extent)
{
    int64_t n = 0;
    return pto_expr_is_const(extent, &n) && n == 1;
}

/* Whether a mask tells queries apart. */
static int mask_has_rows(const body *b)
{
    const pto_type type = pto_value_type(b->mask);
    const uint32_t rank = pto_type_rank(type);
    return rank > 1 && (!is_single(pto_type_dim(type, rank - 2)) || is_single(b->query_count));
}

/* The part of the mask for the block, of keys from `key` on: rows of it, or one. */
static piece load_mask(body *b, pto_expr key, pto_expr count)
{
    const pto_type type = pto_value_type(b->mask);
    const uint32_t rank = pto_type_rank(type), missing = b->w.a->rank - rank;
    const int has_rows = mask_has_rows(b);
    const pto_expr zero = pto_expr_const(b->w.run, 0);
    pto_expr offsets[PTO_MAX_DIMS];
    for (uint32_t d = 0; d + 2 < rank; d++)
        offsets[d] = is_single(pto_type_dim(type, d)) ? zero : b->index[d + missing];
    if (rank > 1) offsets[rank - 2] = has_rows ? b->first : zero;
    offsets[rank - 1] = key;
    const pto_expr valid[2] = {has_rows ? b->row_count : pto_expr_const(b->w.run, 1), count};
    return write_load(&b->w, "tmask", b->mask, offsets, valid, has_rows ? b->rows : 1, b->keys, 0);
}

/* ---- a block of scores ---- */

static piece masked(body *b, piece scores, pto_expr key, pto_expr count)
{
    writer *w = &b->w;
    const pto_expr valid[2] = {b->row_count, count};
    const piece mask = load_mask(b, key, count), numbers = write_cast(w, "tmask", mask, PTO_F32);
    const int has_rows = mask.rows > 1 || b->rows == 1;
    if (mask.dtype != PTO_BOOL) {
        const uint32_t add = has_rows ? KIND_ADD : KIND_COLEXPANDADD;
        return write_two(w, add, "tmasked", scores, numbers);
    }
    piece all = numbers;
    if (!has_rows) {
        all = write_fill(w, "tsees", PTO_F32, b->zero, valid, b->rows, b->keys);
        all = write_two(w, KIND_COLEXPANDADD, "tsees", all, numbers);
    }
    return write_select(w, "tseen", write_compare(w, "tsees", all, "ne", b->zero), scores, b->none);
}

/* A key is seen when it is at most as many places after a query as there are more keys than queries. */
static piece seen(body *b, piece scores, pto_expr key, pto_expr count)
{
    writer *w = &b->w;
    const pto_expr row[2] = {pto_expr_const(w->run, 1), count}, valid[2] = {b->row_count, count};
    const pto_value from = write_index(w, PTO_I32, pto_expr_sub(key, b->start)), zero = write_number(w, PTO_I32, 0);
    const piece keys = write_count(w, "tkey", from, row, b->keys);
    piece after = write_fill(w, "tafter", PTO_I32, zero, valid, b->rows, b->keys);
    after = write_two(w, KIND_COLEXPANDADD, "tafter", after, keys);
    after = write_two(w, KIND_ROWEXPANDSUB, "tafter", after, b->places);
    return write_select(w, "tseen", write_compare(w, "tsees", after, "le", zero), scores, b->none);
}

/* Scores of the block and `count` keys from `key` on. */
static piece write_scores(body *b, pto_expr key, pto_expr count, int may_be_hidden)
{
    writer *w = &b->w;
    const attention *a = w->a;
    pto_expr offsets[PTO_MAX_DIMS];
    const pto_expr valid[2] = {pto_expr_const(w->run, a->elements), count};
    offsets_of(b, b->k, 1, key, offsets);
    const piece keys = write_load(w, "tk", b->k, offsets, valid, a->elements, b->keys, 1);
    piece scores = write_product(w, "tscores", b->queries, keys);
    scores = write_scalar(w, KIND_MULS, "tscaled", scores, b->scale);
    if (PTO_SOME(b->mask)) scores = masked(b, scores, key, count);
    return may_be_hidden ? seen(b, scores, key, count) : scores;
}

/* Weights times the values of the same keys. */
static piece weigh(body *b, piece weights, pto_expr key, pto_expr count)
{
    writer *w = &b->w;
    pto_expr offsets[PTO_MAX_DIMS];
    const pto_expr valid[2] = {count, pto_expr_const(w->run, w->a->values)};
    const piece rounded = write_cast(w, "tweights", weights, b->dtype);
    offsets_of(b, b->v, 1, key, offsets);
    return write_product(w, "tpart", rounded, write_load(w, "tv", b->v, offsets, valid, b->keys, w->a->values, 0));
}

/* exp(x - level). With `are_small` times a number so small that weights of up to 2^24 keys times values add up to no
 * more than the largest of these: only in the end is that divided by the sum of the weights. */
static piece write_weights(body *b, piece scores, piece level, int are_small)
{
    writer *w = &b->w;
    const piece shifted = write_two(w, KIND_ROWEXPANDSUB, "tshifted", scores, level);
    const piece weights = write_one(w, KIND_EXP, "tweights", shifted);
    return are_small ? write_scalar(w, KIND_MULS, "tweights", weights, b->small) : weights;
}

/* The largest score of a row, or the lowest number where no key is seen: exp(-inf - level) is 0 then. */
static piece level_of(body *b, piece largest) { return write_scalar(&b->w, KIND_MAXS, "tlevel", largest, b->least); }

/* Keys that some query of the block sees; the last one sees those before start + row_count. Where there are keys it is
 * one at least: a query that sees none is NaN. */
static pto_expr seen_count(const body *b)
{
    if (!b->w.a->is_causal) return b->key_count;
    const pto_expr least = pto_expr_min(pto_expr_const(b->w.run, 1), b->key_count);
    return pto_expr_max(least, pto_expr_add(b->start, b->row_count));
}

/* What divide() takes of the sums of weights, once for each row. */
static piece divisor_of(body *b, piece sum)
{
    return b->w.a->multiplies ? write_one(&b->w, KIND_RECIPROCAL, "tover", sum) : sum;
}

static piece divide(body *b, const char *name, piece x, piece divisor)
{
    return write_two(&b->w, b->w.a->multiplies ? KIND_ROWEXPANDMUL : KIND_ROWEXPANDDIV, name, x, divisor);
}

/* ---- all keys at once ---- */

/* Weights of 16 bits are rounded when they are whole; others are divided by their sum after they are multiplied. */
static piece write_rows(body *b)
{
    writer *w = &b->w;
    const pto_expr key = pto_expr_const(w->run, 0), count = seen_count(b);
    const piece scores = write_scores(b, key, count, w->a->is_causal);
    const piece level = level_of(b, write_reduce(w, KIND_ROWMAX, "tlargest", scores));
    const piece weights = write_weights(b, scores, level, b->dtype == PTO_F32);
    const piece sum = write_reduce(w, KIND_ROWSUM, "tsum", weights), divisor = divisor_of(b, sum);
    if (b->dtype == PTO_F32) return divide(b, "ty", weigh(b, weights, key, count), divisor);
    return weigh(b, divide(b, "tweights", weights, divisor), key, count);
}

/* ---- block of keys by block of keys ---- */

/* Blocks from number `from` up to `to`, of which the last one ends at key `end`. */
typedef struct span {
    pto_expr from, to, end;
    int may_be_hidden; /* some query may not see some key */
} span;

/* An iteration over a block of keys. */
typedef struct step {
    pto_op loop;
    pto_expr key, count;
    piece scores;
} step;

/* Whether the expression is known to be a multiple. */
static int is_whole(pto_expr x, int64_t of)
{
    int64_t rest = -1;
    return pto_expr_is_const(pto_expr_mod(x, pto_expr_const(x.run, of)), &rest) && rest == 0;
}

/* What the block sees, in one span or two. */
static uint32_t find_spans(const body *b, span out[2])
{
    const pto_run *run = b->w.run;
    const pto_expr zero = pto_expr_const(run, 0), keys = pto_expr_const(run, b->keys);
    if (!b->w.a->is_causal) {
        out[0] = (span){zero, pto_expr_ceildiv(b->key_count, keys), b->key_count, 0};
        return 1;
    }
    /* The first query of the block sees the keys before start + 1. */
    const pto_expr all_see = pto_expr_max(zero, pto_expr_offset(b->start, 1)), some_see = seen_count(b),
                   whole = pto_expr_floordiv(all_see, keys);
    out[0] = (span){zero, whole, pto_expr_mul(whole, keys), 0};
    out[1] = (span){whole, pto_expr_ceildiv(some_see, keys), some_see, 1};
    return 2;
}

/* A loop over a span that carries the first `count` of a state. */
static step open_step(body *b, const span *s, uint32_t count, piece *state)
{
    writer *w = &b->w;
    const pto_expr block = pto_expr_const(w->run, b->keys);
    pto_expr valid[CARRIED][2], j;
    step t;
    for (uint32_t i = 0; i < count; i++) {
        valid[i][0] = b->row_count;
        valid[i][1] = pto_expr_const(w->run, state[i].columns);
    }
    t.loop = write_for(w, s->from, s->to, count, state, (const pto_expr(*)[2])valid, &j);
    t.key = pto_expr_scale(j, b->keys);
    t.count = is_whole(s->end, b->keys) ? block : pto_expr_min(block, pto_expr_sub(s->end, t.key));
    t.scores = write_scores(b, t.key, t.count, s->may_be_hidden);
    return t;
}

/* The largest score and the sum of the weights with those of a block; the weights, and what is before the block counts
 * as it did times `*factor`. */
static piece add_sums(body *b, const step *t, const piece *state, piece *now, piece *factor)
{
    writer *w = &b->w;
    now[LARGEST] = write_two(w, KIND_MAX, "tlargest", state[LARGEST], write_reduce(w, KIND_ROWMAX, "tmost", t->scores));
    const piece level = level_of(b, now[LARGEST]), weights = write_weights(b, t->scores, level, b->dtype == PTO_F32);
    const piece total = write_reduce(w, KIND_ROWSUM, "ttotal", weights);
    *factor = write_one(w, KIND_EXP, "tfactor", write_two(w, KIND_SUB, "tshift", state[LARGEST], level));
    now[SUM] = write_two(w, KIND_ADD, "tsum", write_two(w, KIND_MUL, "tsum", state[SUM], *factor), total);
    return weights;
}

/* f32: one pass over the keys. */
static void write_together(body *b, const span *s, piece *state)
{
    writer *w = &b->w;
    piece now[CARRIED], factor;
    const step t = open_step(b, s, CARRIED, state);
    const piece weights = add_sums(b, &t, state, now, &factor), part = weigh(b, weights, t.key, t.count);
    now[MADE] = write_two(w, KIND_ADD, "tmade", write_two(w, KIND_ROWEXPANDMUL, "tmade", state[MADE], factor), part);
    write_end(w, t.loop, CARRIED, now);
    for (uint32_t i = 0; i < CARRIED; i++) state[i] = now[i];
}

/* 16 bits: one pass for the sums, by which weights are divided before they are rounded, and one for the products. */
static void write_sums(body *b, const span *s, piece *state)
{
    piece now[MADE], factor;
    const step t = open_step(b, s, MADE, state);
    (void)add_sums(b, &t, state, now, &factor);
    write_end(&b->w, t.loop, MADE, now);
    for (uint32_t i = 0; i < MADE; i++) state[i] = now[i];
}

static void write_products(body *b, const span *s, piece level, piece divisor, piece *made)
{
    writer *w = &b->w;
    const step t = open_step(b, s, 1, made);
    const piece weights = write_weights(b, t.scores, level, 0);
    const piece whole = divide(b, "tweights", weights, divisor);
    piece now = write_two(w, KIND_ADD, "tmade", *made, weigh(b, whole, t.key, t.count));
    write_end(w, t.loop, 1, &now);
    *made = now;
}

/* What the state is before the first key. Where there are no keys the result is 0, so that the sum is not. */
static void begin_state(body *b, piece *state)
{
    writer *w = &b->w;
    const pto_expr one = pto_expr_const(w->run, 1), zero = pto_expr_const(w->run, 0);
    const pto_expr column[2] = {b->row_count, one}, all[2] = {b->row_count, pto_expr_const(w->run, w->a->values)};
    const pto_expr no_keys = pto_expr_max(zero, pto_expr_sub(one, b->key_count));
    const pto_value sum = w->a->static_keys > 0 ? b->zero : write_index(w, PTO_F32, no_keys);
    state[LARGEST] = write_fill(w, "tlargest", PTO_F32, b->none, column, b->rows, 1);
    state[SUM] = write_fill(w, "tsum", PTO_F32, sum, column, b->rows, 1);
    state[MADE] = write_fill(w, "tmade", PTO_F32, b->zero, all, b->rows, w->a->values);
}

static piece write_online(body *b)
{
    span spans[2];
    piece state[CARRIED];
    const uint32_t count = find_spans(b, spans);
    begin_state(b, state);
    if (b->dtype == PTO_F32) {
        for (uint32_t i = 0; i < count; i++) write_together(b, &spans[i], state);
        return divide(b, "ty", state[MADE], divisor_of(b, state[SUM]));
    }
    for (uint32_t i = 0; i < count; i++) write_sums(b, &spans[i], state);
    const piece level = level_of(b, state[LARGEST]), divisor = divisor_of(b, state[SUM]);
    for (uint32_t i = 0; i < count; i++) write_products(b, &spans[i], level, divisor, &state[MADE]);
    return state[MADE];
}

/* ---- the nest ---- */

static void write_body(body *b)
{
    writer *w = &b->w;
    const attention *a = w->a;
    const pto_expr one = pto_expr_const(w->run, 1), valid[2] = {b->row_count, pto_expr_const(w->run, a->elements)};
    pto_expr offsets[PTO_MAX_DIMS];
    b->none = write_number(w, PTO_F32, -HUGE_VAL);
    b->least = write_number(w, PTO_F32, -(double)FLT_MAX);
    b->zero = write_number(w, PTO_F32, 0);
    b->scale = write_number(w, PTO_F32, a->scale);
    b->small = write_number(w, PTO_F32, 0x1p-24);
    offsets_of(b, b->q, 0, b->first, offsets);
    b->queries = write_load(w, "tq", b->q, offsets, valid, b->rows, a->elements, 0);
    if (a->is_causal) {
        const pto_expr row[2] = {one, b->row_count};
        b->places = write_turned(w, "tplace", write_count(w, "tplace", write_number(w, PTO_I32, 0), row, b->rows));
    }
    const piece y = b->form == FORM_ROWS ? write_rows(b) : write_online(b);
    offsets_of(b, b->out, 0, b->first, offsets);
    write_store(w, write_cast(w, "ty", y, b->dtype), b->out, offsets);
}

static pto_value reshaped(const attention *a, pto_value v, pto_type to, const char *suffix)
{
    pto_spec s = pto_spec_make(a->run, pto_kind(a->run, KIND_RESHAPE));
    pto_spec_operand(&s, v);
    pto_spec_result(&s, to);
    pto_spec_loc(&s, pto_op_loc(a->op));
    pto_spec_name(&s, pto_name_after(a->op, pto_s(suffix)));
    return pto_spec_value(&s, pto_before(a->op));
}

static pto_value call_function(const attention *a, pto_str name)
{
    pto_value q = pto_op_operand(a->op, 0);
    if (a->is_folded) q = reshaped(a, q, a->q, "_rows");
    pto_spec s = pto_spec_make(a->run, pto_kind(a->run, KIND_CALL));
    pto_spec_symbol(&s, PTO_STR("callee"), name);
    pto_spec_operand(&s, q);
    for (uint32_t i = 1; i < pto_op_operand_count(a->op); i++) pto_spec_operand(&s, pto_op_operand(a->op, i));
    pto_spec_result(&s, a->result);
    pto_spec_loc(&s, pto_op_loc(a->op));
    pto_spec_name(&s, pto_name_after(a->op, pto_s(a->is_folded ? "_product" : "")));
    const pto_value y = pto_spec_value(&s, pto_before(a->op));
    return a->is_folded && PTO_SOME(y) ? reshaped(a, y, pto_value_type(pto_op_result(a->op, 0)), "") : y;
}

pto_value attention_write(const attention *a, enum attention_form form, int64_t rows, int64_t keys)
{
    const pto_str name = nest_free_name(a->op, "_attention");
    const pto_value none = pto_value_none(a->run);
    body b = {.form = form, .rows = rows, .keys = keys, .dtype = pto_type_dtype(a->q)};
    b.w = (writer){.a = a, .run = a->run, .loc = pto_op_loc(a->op)};
    const pto_op function = nest_function(a->op, pto_kind(a->run, KIND_FUNC), name, PTO_SOME(a->mask) ? 5 : 4);
    if (!PTO_SOME(function)) return none;
    open_function(&b, function);
    const pto_op nest = open_nest(&b, name);
    if (!PTO_SOME(nest)) return none;
    write_body(&b);
    return close_nest(&b, nest, function) == PTO_OK ? call_function(a, name) : none;
}
