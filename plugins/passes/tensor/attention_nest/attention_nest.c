/* pto.attention-nest: attention becomes one nest, on a machine of which one kind of core has matrix and vector units.
 *
 *     %y = tensor.attention %q, %k, %v      =>      %y = call @f_attention(%q, %k, %v)
 *
 * The function is private and one nest (attention_write.c): an instance takes a block of rows of q, and goes from
 * scores to sums of weighted values without a way through memory. It holds the scores of all keys, or where these are
 * too many or not known those of a block of keys after the other, with a running maximum and sum. With `causal` it
 * stops at the last key that a query of its block sees: elements of v after it have no part in the result, even where
 * they are not finite. Heads of q that share one of k become more rows of it where nothing tells them apart.
 *
 * A nest reads keys twice where weights of 16 bits cannot be whole otherwise, and again for each head of those that
 * share them and cannot be rows. Of few queries the scores are small, so that such an attention is left; where their
 * number is not known a branch decides.
 *
 * Requires tensor ops, of any form. Leaves calls of functions of nests in the place of each attention, except for those
 * that no nest is made of, as a remark says; pto.decompose-attention takes these apart. On other machines it changes
 * nothing. The decision `attention` of the op is its form, `attention-blocks` the size of the blocks. */
#include "attention_nest.h"
#include "machine_types.h"
#include "nest_function.h"

#define STATS(X) X(MADE, "made") X(LEFT, "left")
PTO_STATS(STATS);

static const char *const online_words[] = {"auto", "always", "never", NULL};
enum { ONLINE_AUTO, ONLINE_ALWAYS, ONLINE_NEVER };
static const char *const by_words[] = {"quotient", "reciprocal", NULL};

#define OPTIONS(X)                                                                                                     \
    X(ROWS, I64, "rows", .def = "0", .min = "0", .max = "1024",                                                        \
      .doc =                                                                                                           \
          "queries of a block; 0: 64 of a causal one; 512 of f32 where keys are taken block by block and each core "   \
          "has a block; else 256",                                                                                     \
      .example = "with: { rows: 128 }")                                                                                \
    X(KEYS, I64, "keys", .def = "0", .min = "0", .max = "4096",                                                        \
      .doc = "keys of a block where not all fit, 1 counts as 2; 0: 512 where `rows` is 0 and becomes that, else 256",  \
      .example = "with: { keys: 512 }")                                                                                \
    X(SCORES, BYTES, "scores", .def = "512KiB", .min = "0", .unit = "bytes",                                           \
      .doc = "a block holds the scores of all keys where they need no more, of f32 and 64 rows of a causal one where " \
             "those of 256 would; one of 16 bits has fewer rows for that",                                             \
      .example = "with: { scores: 1MiB }")                                                                             \
    X(FEW, I64, "few", .def = "16", .min = "0", .max = "1024",                                                         \
      .doc = "attention of at most so many queries is left where a nest would read keys more often",                   \
      .example = "with: { few: 0 }")                                                                                   \
    X(ONLINE, ENUM, "online", .def = "auto", .choices = online_words,                                                  \
      .doc = "blocks of keys one after the other: where not all fit, or always, or never",                             \
      .example = "with: { online: always }")                                                                           \
    X(BY, ENUM, "by", .def = "quotient", .choices = by_words,                                                          \
      .doc = "quotient: divide by the sum of the weights; reciprocal: multiply by one over it, one unit of 2^-24 "     \
             "less exact, for machines on which a division takes longer",                                              \
      .example = "with: { by: reciprocal }")
PTO_OPTIONS(OPTIONS);

static const char *const form_words[] = {"composed", "rows", "online", NULL};
enum { CAUSAL = 64, USUAL = 256, WIDE = 512, KEYS_LEAST = 2 };
enum { BLOCK_ROWS, BLOCK_KEYS, BLOCK_DIMS, ROWS_MAX = 1024, KEYS_MAX = 65536, ROWS_WORTH = 16 };
static const char *const block_keys[BLOCK_DIMS] = {"rows", "keys"};

/* ---- decisions ---- */

/* Whether there is a block of `rows` queries for each core. */
static int is_shared_by_all(const attention *a, int64_t rows)
{
    const pto_space_facts space = pto_space_facts_of(a->run, PTO_ROLE_SCRATCHPAD);
    const int64_t cores = space != NULL ? pto_machine_i64_or(a->run, 1, "cores.%.*s.count", PTO_FMT(space->core)) : 1;
    pto_expr blocks = pto_expr_ceildiv(a->queries, pto_expr_const(a->run, rows));
    for (uint32_t d = 0; d + 2 < a->rank; d++) blocks = pto_expr_mul(blocks, pto_type_dim(a->q, d));
    return pto_expr_range(blocks, a->op, NULL).lo >= cores;
}

/* Rows of a block that holds the scores of all keys; 0: it has too few. Keys are read again for each block, and twice
 * for each where weights of 16 bits cannot be whole otherwise. Those of f32 take no longer block by block: a causal
 * block has few rows, and more scores of each would be too far apart for a first-level cache. */
static int64_t rows_of_all(const attention *a, int64_t rows)
{
    if (a->static_keys < 1 || a->static_keys > KEYS_MAX) return 0;
    const int64_t fit = pto_opt_i64(a->run, OPT_SCORES) / (a->static_keys * (int64_t)sizeof(float));
    const int is_f32 = pto_type_dtype(a->q) == PTO_F32, is_short = is_f32 && a->is_causal && rows == CAUSAL;
    if (fit >= (is_short ? USUAL : rows)) return rows;
    return !is_f32 && fit >= ROWS_WORTH ? fit : 0;
}

/* Rows are summed up once for each block of keys, so that larger ones cost less; but a causal one computes half a block
 * of scores for each query that are not seen. */
static void choose_blocks(const attention *a, int64_t *blocks)
{
    const int64_t rows = pto_opt_i64(a->run, OPT_ROWS), keys = pto_opt_i64(a->run, OPT_KEYS);
    const int is_wide = rows == 0 && pto_type_dtype(a->q) == PTO_F32 && !a->is_causal && rows_of_all(a, USUAL) == 0 &&
                        is_shared_by_all(a, WIDE);
    const int64_t usual = is_wide ? WIDE : USUAL;
    blocks[BLOCK_ROWS] = nest_block(rows > 0 ? rows : a->is_causal ? CAUSAL : usual, a->queries);
    blocks[BLOCK_KEYS] = nest_block(keys > 1 ? keys : keys == 1 ? KEYS_LEAST : usual, a->keys);
}

/* The form, and by that the rows of a block. */
static int64_t form_of(const attention *a, int64_t *rows)
{
    const int64_t online = pto_opt_i64(a->run, OPT_ONLINE), all = rows_of_all(a, *rows);
    if (online == ONLINE_ALWAYS || all == 0) return online == ONLINE_NEVER ? FORM_COMPOSED : FORM_ONLINE;
    *rows = all;
    return FORM_ROWS;
}

static pto_status decide_form(const attention *a, const char *obstacle, int64_t *rows, int64_t *form)
{
    const int64_t least = FORM_COMPOSED, most = obstacle != NULL ? FORM_COMPOSED : FORM_ONLINE;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "attention",
                            .words = form_words,
                            .min = &least,
                            .max = &most,
                            .limit = obstacle};
    *form = obstacle != NULL ? FORM_COMPOSED : form_of(a, rows);
    PTO_TRY(pto_decision_pinned(a->op, &d, form));
    if (*form == FORM_ROWS && (a->static_keys < 1 || a->static_keys > KEYS_MAX))
        return pto_error(a->op, "pto.attention-nest/open-keys",
                         "the form `rows` holds the scores of all keys, and their number is not known or above %d; pin "
                         "`online`, which takes them block by block",
                         (int)KEYS_MAX);
    return pto_decision_made(a->op, &d, form);
}

/* The form `rows` leaves nothing open of the keys: a block has all of them. */
static pto_status decide_blocks(const attention *a, int64_t form, int64_t *blocks)
{
    const int has_all = form == FORM_ROWS;
    const int64_t least[BLOCK_DIMS] = {1, has_all ? a->static_keys : KEYS_LEAST},
                  most[BLOCK_DIMS] = {ROWS_MAX, has_all ? a->static_keys : KEYS_MAX};
    const pto_decision d = {.struct_size = sizeof d,
                            .count = BLOCK_DIMS,
                            .name = "attention-blocks",
                            .keys = block_keys,
                            .min = least,
                            .max = most};
    if (has_all) blocks[BLOCK_KEYS] = a->static_keys;
    PTO_TRY(pto_decision_pinned(a->op, &d, blocks));
    return pto_decision_made(a->op, &d, blocks);
}

/* Of how many queries at most an attention is left, in branches or without; 0: of none. */
static pto_status decide_few(const attention *a, int64_t form, int64_t *few)
{
    const int64_t least = 0, most = ROWS_MAX;
    const int reads_more = a->shares_heads || (form == FORM_ONLINE && pto_type_dtype(a->q) != PTO_F32);
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "attention-few", .min = &least, .max = &most};
    *few = reads_more ? pto_opt_i64(a->run, OPT_FEW) : 0;
    PTO_TRY(pto_decision_pinned(a->op, &d, few));
    return pto_decision_made(a->op, &d, few);
}

/* Why the form is `composed` where nothing is in the way of a nest. */
static const char *wish_of(const attention *a, int64_t rows)
{
    return pto_opt_i64(a->run, OPT_ONLINE) == ONLINE_NEVER && rows_of_all(a, rows) == 0
               ? "the scores of all keys are more than `scores`, or their number is not known, and `online` is never"
               : "a pin makes it `composed`";
}

static pto_status leave(pto_op op, const char *why)
{
    pto_stat_add(op.run, STAT_LEFT, 1);
    pto_remark(op, "pto.attention-nest/left", "becomes no nest: %s", why);
    return PTO_OK;
}

/* A copy of the op, as all of block number `block` of a branch. */
static pto_op copy_into(pto_op branch, uint32_t block, pto_op op)
{
    const pto_place end = pto_at_end(pto_op_block_at(branch, block));
    const pto_op copy = pto_op_clone(op, end, 0, NULL, NULL);
    if (!PTO_SOME(copy)) return copy;
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_YIELD));
    pto_spec_operand(&s, pto_op_result(copy, 0));
    pto_spec_loc(&s, pto_op_loc(op));
    return PTO_SOME(pto_spec_build(&s, end)) ? copy : pto_op_none(op.run);
}

/* A branch by the number of queries takes the place of the op; `*many` is the attention of more than `few`. */
static pto_status branch_by_queries(const attention *a, int64_t few, pto_op *many)
{
    const pto_op op = a->op;
    const pto_expr right = pto_expr_const(a->run, few);
    pto_spec s = pto_spec_make(a->run, pto_kind(a->run, KIND_IF));
    pto_spec_str(&s, PTO_STR("relation"), PTO_STR("le"));
    pto_spec_exprs(&s, PTO_STR("left"), 1, &a->queries);
    pto_spec_exprs(&s, PTO_STR("right"), 1, &right);
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_blocks(&s, 2);
    pto_spec_loc(&s, pto_op_loc(op));
    const pto_op branch = pto_spec_build(&s, pto_before(op));
    PTO_NEED(branch);
    PTO_NEED(copy_into(branch, 0, op));
    *many = copy_into(branch, 1, op);
    PTO_NEED(*many);
    const pto_value y = pto_op_result(branch, 0);
    const pto_str name = pto_str_join(a->run, pto_value_name(pto_op_result(op, 0)), pto_no_str());
    PTO_TRY(pto_op_replace(op, 1, &y));
    return name.n == 0 ? PTO_OK : pto_value_set_name(y, name);
}

static pto_status make_nest(pto_op op, int64_t form, const int64_t *blocks)
{
    attention a;
    (void)attention_read(op, &a);
    a.multiplies = pto_str_is(pto_opt_str(op.run, OPT_BY), "reciprocal");
    const pto_value y =
        attention_write(&a, form == FORM_ROWS ? FORM_ROWS : FORM_ONLINE, blocks[BLOCK_ROWS], blocks[BLOCK_KEYS]);
    PTO_NEED(y);
    pto_stat_add(op.run, STAT_MADE, 1);
    pto_remark(op, "pto.attention-nest/made", "is one nest over blocks of %lld rows, %s %lld keys",
               (long long)blocks[BLOCK_ROWS], form == FORM_ROWS ? "with the scores of all" : "block by block of",
               (long long)blocks[BLOCK_KEYS]);
    return pto_op_replace_by(op, y);
}

static int is_attention(pto_op op) { return PTO_IS(op, ATTENTION); }

static pto_status lower(pto_op op)
{
    attention a;
    const char *obstacle = attention_read(op, &a);
    int64_t form, few = 0, blocks[BLOCK_DIMS] = {1, 1};
    if (obstacle == NULL) choose_blocks(&a, blocks);
    PTO_TRY(decide_form(&a, obstacle, &blocks[BLOCK_ROWS], &form));
    if (form == FORM_COMPOSED) return leave(op, obstacle != NULL ? obstacle : wish_of(&a, blocks[BLOCK_ROWS]));
    PTO_TRY(decide_few(&a, form, &few));
    const pto_range queries = pto_expr_range(a.queries, op, NULL);
    if (queries.hi <= few) return leave(op, "of so few queries it would read keys more often than the scores take");
    PTO_TRY(decide_blocks(&a, form, blocks));
    if (few > 0 && queries.lo <= few) PTO_TRY(branch_by_queries(&a, few, &op));
    return make_nest(op, form, blocks);
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    return machine_has_common_core(run) ? nest_lower_each(unit, is_attention, lower) : PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_KEEPS_LEVEL,
    .id = "pto.attention-nest",
    .summary = "Make one nest of an attention, for cores with matrix and vector units",
    .scope = "module",
    .consumes = "tensor/1",
    .produces = "tile/1",
    .kinds = attention_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.attention-nest", "pass:pto.attention-nest", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
