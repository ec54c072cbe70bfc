/* What is written before it is read: for each buffer, what happens to its tiles is gone through in the order of the
 * text, with the tile that wrote the buffer last. */
#include "assembler_storage.h"

#include "assembler_print.h"

#include <pto/relation.h>

enum { DEPTH_MAX = 64 };

/* What happens to the tiles of a buffer: a tile is described, read or written, or there is more inside. */
typedef enum step_kind { STEP_TILE, STEP_READ, STEP_WRITE, STEP_INSIDE } step_kind;

typedef struct step {
    step_kind kind;
    const ascend_tile *tile; /* in its first form */
    const ascend_node *node;
    struct step *inside[2]; /* of a loop, of both sides of a branch; NULL: nothing happens there */
    struct step *next;
} step;

/* Which tile wrote the buffer last, where `when` of the number `of` holds; NULL: none, or it is not known. */
typedef enum holds { ALWAYS, WHERE_POSITIVE, WHERE_NOT_POSITIVE } holds;
typedef struct writer {
    const ascend_tile *tile;
    holds when;
    pto_expr of;
} writer;

/* A loop that is in its first round. */
typedef struct first_round {
    pto_op loop;
    const struct first_round *around;
} first_round;

typedef struct storage_maker {
    const ascend_kernel *k;
    const ascend_tile **tiles; /* by the index of the value, in their first form */
    uint32_t *buffers;         /* likewise: the index of the value of the buffer */
    uint32_t capacity;
    const ascend_tile *all; /* where all tiles of the buffer are taken as one: that one; else NULL */
    int is_stale;           /* what is read may be what another tile wrote, or this one when it was described before */
    assembler_base **end;
} storage_maker;

/* ---- the steps of a buffer ---- */

static step **add_step(step **end, step_kind kind, const ascend_tile *t, const ascend_node *n)
{
    step *s = PTO_SCRATCH(n->op.run, step, 1);
    *s = (step){.kind = kind, .tile = t, .node = n};
    *end = s;
    return &s->next;
}

static int is_of(const storage_maker *mk, const ascend_node *n, uint32_t operand, uint32_t buffer)
{
    const ascend_operand *o = &n->operands[operand];
    return o->tile != NULL && mk->buffers[o->value.index] == buffer;
}

/* Reads come before writes. Operands beyond those of the op are parts of a source. */
static step **add_insn(const storage_maker *mk, const ascend_node *n, uint32_t buffer, step **end)
{
    const uint32_t count = pto_op_operand_count(n->op);
    for (uint32_t writes = 0; writes < 2; writes++)
        for (uint32_t i = 0; i < n->operand_count; i++)
            if (is_of(mk, n, i, buffer) && (i < count && pto_op_writes(n->op, i)) == (int)writes)
                end = add_step(end, writes ? STEP_WRITE : STEP_READ, mk->tiles[n->operands[i].value.index], n);
    return end;
}

static step *steps_of(const storage_maker *mk, const ascend_node *first, uint32_t buffer)
{
    step *all = NULL, **end = &all;
    for (const ascend_node *n = first; n != NULL; n = n->next) {
        if (n->kind == ASCEND_TILE && pto_op_operand(n->op, 0).index == buffer)
            end = add_step(end, STEP_TILE, n->tile, n);
        if (n->kind == ASCEND_INSN) end = add_insn(mk, n, buffer, end);
        if (n->kind != ASCEND_FOR && n->kind != ASCEND_IF) continue;
        step *inside[2] = {steps_of(mk, n->first[0], buffer), steps_of(mk, n->first[1], buffer)};
        if (inside[0] == NULL && inside[1] == NULL) continue;
        step **const at = end;
        end = add_step(end, STEP_INSIDE, NULL, n);
        memcpy((*at)->inside, inside, sizeof inside);
    }
    return all;
}

/* ---- the last writer ---- */

static writer run_steps(storage_maker *mk, const step *s, writer w, const first_round *rounds);

static const ascend_tile *unit_of(const storage_maker *mk, const step *s)
{
    return mk->all != NULL ? mk->all : s->tile;
}

static int is_same(writer a, writer b)
{
    return a.tile == b.tile &&
           (a.tile == NULL || (a.when == b.when && (a.when == ALWAYS || pto_expr_same(a.of, b.of))));
}

static int is_surely(writer w, const ascend_tile *t) { return w.tile == t && w.when == ALWAYS; }

/* What is known after either of both, the second one where the number is positive. */
static writer join(writer otherwise, writer where_positive, pto_expr number)
{
    if (is_same(otherwise, where_positive)) return otherwise;
    const ascend_tile *a = otherwise.tile, *b = where_positive.tile;
    const int a_holds = a != NULL && (otherwise.when == ALWAYS ||
                                      (otherwise.when == WHERE_NOT_POSITIVE && pto_expr_same(otherwise.of, number)));
    const int b_holds = b != NULL && where_positive.when == ALWAYS;
    if (a_holds && b_holds && a == b) return (writer){a, ALWAYS, number};
    if (!PTO_SOME(number)) return (writer){NULL, ALWAYS, number};
    if (b_holds && a == NULL) return (writer){b, WHERE_POSITIVE, number};
    if (a_holds && b == NULL) return (writer){a, WHERE_NOT_POSITIVE, number};
    return (writer){NULL, ALWAYS, number};
}

/* What is known where the number is positive. */
static writer where_positive(writer w, pto_expr number)
{
    if (w.when == ALWAYS || !pto_expr_same(w.of, number)) return w;
    return w.when == WHERE_POSITIVE ? (writer){w.tile, ALWAYS, number} : (writer){NULL, ALWAYS, number};
}

static writer run_loop(storage_maker *mk, const step *s, writer in, const first_round *rounds)
{
    enum { ROUNDS = 4 };
    const pto_op loop = s->node->op;
    const pto_expr count = pto_expr_sub(pto_expr_of(loop, PTO_STR("to"), 0), pto_expr_of(loop, PTO_STR("from"), 0));
    const first_round first = {loop, rounds};
    const writer nobody = {NULL, ALWAYS, count};
    const int goes_round = PTO_SOME(count) && pto_expr_range(count, loop, NULL).lo > 0;
    writer w = run_steps(mk, s->inside[0], PTO_SOME(count) ? where_positive(in, count) : in, &first);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const writer next = run_steps(mk, s->inside[0], w, rounds);
        if (is_same(next, w)) return goes_round ? w : join(in, w, count);
        w = join(w, next, pto_expr_none(loop.run));
    }
    (void)run_steps(mk, s->inside[0], nobody, rounds);
    return nobody;
}

/* Which side a branch takes in the first round of a loop around: 0, 1, or -1: not known. */
static int side_of(pto_op branch, const first_round *rounds)
{
    const pto_relation r = pto_relation_by_name(pto_attr_str_of(branch, PTO_STR("relation")));
    const pto_expr left = pto_expr_of(branch, PTO_STR("left"), 0), right = pto_expr_of(branch, PTO_STR("right"), 0);
    if ((r != PTO_RELATION_EQ && r != PTO_RELATION_NE) || pto_expr_kind_of(left) != PTO_EXPR_VALUE) return -1;
    for (; rounds != NULL; rounds = rounds->around)
        if (pto_value_same(pto_expr_leaf(left), pto_block_arg(pto_body(rounds->loop), 0)) &&
            pto_expr_same(right, pto_expr_of(rounds->loop, PTO_STR("from"), 0)))
            return r == PTO_RELATION_NE;
    return -1;
}

static writer run_branch(storage_maker *mk, const step *s, writer in, const first_round *rounds)
{
    const pto_op branch = s->node->op;
    const int side = side_of(branch, rounds);
    if (side >= 0) return run_steps(mk, s->inside[side], in, rounds);
    const pto_relation r = pto_relation_by_name(pto_attr_str_of(branch, PTO_STR("relation")));
    const pto_expr left = pto_expr_of(branch, PTO_STR("left"), 0), right = pto_expr_of(branch, PTO_STR("right"), 0);
    const int is_above = r == PTO_RELATION_GT;
    const pto_expr number = is_above || r == PTO_RELATION_LE ? pto_expr_sub(left, right) : pto_expr_none(branch.run);
    const writer then = run_steps(mk, s->inside[0], in, rounds), other = run_steps(mk, s->inside[1], in, rounds);
    return is_above ? join(other, then, number) : join(then, other, number);
}

static writer run_steps(storage_maker *mk, const step *s, writer w, const first_round *rounds)
{
    for (; s != NULL; s = s->next) {
        if (s->kind == STEP_INSIDE) {
            w = s->node->kind == ASCEND_FOR ? run_loop(mk, s, w, rounds) : run_branch(mk, s, w, rounds);
            continue;
        }
        const ascend_tile *unit = unit_of(mk, s);
        if (s->kind == STEP_READ && !is_surely(w, unit)) mk->is_stale = 1;
        if (s->kind == STEP_WRITE) w = (writer){unit, ALWAYS, pto_expr_none(s->node->op.run)};
        if (s->kind == STEP_TILE && mk->all == NULL && w.tile == unit) w.tile = NULL;
    }
    return w;
}

/* Whether nothing that is read can be older than the list; `all`: tiles are taken as this one. */
static int is_written_first(storage_maker *mk, const step *list, const ascend_tile *all)
{
    mk->all = all;
    mk->is_stale = 0;
    (void)run_steps(mk, list, (writer){NULL, ALWAYS, pto_expr_none(mk->k->op.run)}, NULL);
    return !mk->is_stale;
}

/* ---- bases ---- */

/* Whether a number is the same from an op on until the end of its block. */
static int stays(const storage_maker *mk, pto_expr x, pto_op from)
{
    if (pto_expr_kind_of(x) == PTO_EXPR_VALUE) {
        const pto_op made = pto_value_op(pto_expr_leaf(x));
        if (PTO_SOME(made)) return pto_op_dominates(made, from);
        for (pto_op around = pto_op_parent(from); PTO_SOME(around); around = pto_op_parent(around))
            for (uint32_t i = 0; i < pto_block_arg_count(pto_body(around)); i++)
                if (pto_value_same(pto_expr_leaf(x), pto_block_arg(pto_body(around), i))) return 1;
        return 0;
    }
    if (pto_expr_kind_of(x) == PTO_EXPR_SYMBOL) {
        for (uint32_t i = 0; i < mk->k->symbol_count; i++)
            if (pto_str_same(mk->k->symbols[i], pto_expr_symbol_name(x))) return 1;
        return 0;
    }
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++)
        if (!stays(mk, pto_expr_arg(x, i), from)) return 0;
    return 1;
}

static int64_t bytes_of(const ascend_tile *t)
{
    return t->type.rows * t->type.columns * pto_dtype_bytes(t->type.dtype);
}

/* ---- one size for what is seen in several ways ---- */

static int64_t most_bytes(const ascend_tile *t, int64_t most)
{
    for (; t != NULL; t = t->next_form) most = bytes_of(t) > most ? bytes_of(t) : most;
    return most;
}

/* Views have as many bytes as what they show. Lines at the end, of which none is valid, leave the others where they
 * are. 0: there are boxes, no whole number of lines, or a part that begins elsewhere. */
static int grow(ascend_tile *t, int64_t bytes)
{
    for (const ascend_tile *const first = t; t != NULL; t = t->next_form) {
        ascend_tile_type *type = &t->type;
        int64_t *const lines = type->is_column_major ? &type->columns : &type->rows;
        if (t->address != first->address) return 0;
        if (bytes_of(t) == bytes) continue;
        if (type->boxes != PTO_LINES_NONE || bytes % (bytes_of(t) / *lines) != 0) return 0;
        *lines = bytes / (bytes_of(t) / *lines);
    }
    return 1;
}

/* The largest of all tiles that are described in the list. */
static int64_t most_of(const step *s, int64_t most)
{
    for (; s != NULL; s = s->next) {
        for (uint32_t i = 0; s->kind == STEP_INSIDE && i < 2; i++) most = most_of(s->inside[i], most);
        if (s->kind == STEP_TILE) most = most_bytes(s->tile, most);
    }
    return most;
}

/* All tiles of the buffer become views of `bytes` bytes; `*is_one_stage` stays 1 where all are in the stage of `like`.
 */
static pto_status make_views(const step *s, const ascend_tile *like, int64_t bytes, int *is_one_stage)
{
    for (; s != NULL; s = s->next) {
        for (uint32_t i = 0; s->kind == STEP_INSIDE && i < 2; i++)
            PTO_TRY(make_views(s->inside[i], like, bytes, is_one_stage));
        if (s->kind != STEP_TILE) continue;
        *is_one_stage &= pto_expr_same(s->tile->stage, like->stage);
        if (s->tile->address == like->address && grow(s->node->tile, bytes)) continue;
        return assembler_refuse(
            s->tile->op,
            "it is a part of the %lld bytes that another tile of its buffer wrote, which is only said "
            "by addresses: write level 3, `form: assembler`",
            (long long)bytes);
    }
    return PTO_OK;
}

static const ascend_tile *first_tile(const step *s)
{
    const ascend_tile *t = NULL;
    for (; s != NULL && t == NULL; s = s->next) {
        if (s->kind == STEP_TILE) return s->tile;
        for (uint32_t i = 0; i < 2 && t == NULL; i++) t = first_tile(s->inside[i]);
    }
    return t;
}

/* Whether an instruction writes one tile in the place of another one: with storage of their own both need space. */
static int hands_over(const step *s)
{
    int found = 0;
    for (; s != NULL && !found; s = s->next) {
        for (uint32_t i = 0; s->kind == STEP_INSIDE && i < 2; i++) found |= hands_over(s->inside[i]);
        for (const step *w = s; s->kind == STEP_READ && w != NULL && w->node == s->node; w = w->next)
            found |= w->kind == STEP_WRITE && w->tile != s->tile;
    }
    return found;
}

/* Whether all tiles that are described in the list are of that size and in the place of `like`. */
static int is_one_size(const step *s, const ascend_tile *like, int64_t bytes)
{
    for (; s != NULL; s = s->next) {
        for (uint32_t i = 0; s->kind == STEP_INSIDE && i < 2; i++)
            if (!is_one_size(s->inside[i], like, bytes)) return 0;
        if (s->kind == STEP_TILE && (bytes_of(s->tile) != bytes || s->tile->address != like->address)) return 0;
    }
    return 1;
}

/* The base of a buffer, as far inside as can be. `is_needed`: else there is none where that takes addresses. */
static pto_status add_base(storage_maker *mk, uint32_t buffer, const step *list, int is_needed)
{
    const step *lists[DEPTH_MAX];
    uint32_t depth = 0;
    const ascend_tile *like = first_tile(list);
    int is_one_stage = 1;
    if (!is_needed && !is_one_size(list, like, bytes_of(like))) return PTO_OK;
    PTO_TRY(make_views(list, like, most_of(list, 0), &is_one_stage));
    for (lists[depth++] = list; depth < DEPTH_MAX; depth++) {
        const step *s = lists[depth - 1];
        if (s->next != NULL || s->kind != STEP_INSIDE || (s->inside[0] != NULL && s->inside[1] != NULL)) break;
        lists[depth] = s->inside[s->inside[0] == NULL];
    }
    const pto_op made = pto_value_op(pto_op_operand(like->op, 0));
    const int rotates = pto_attr_int_of(made, PTO_STR("stages"), 1) != 1;
    while (depth > 1 || rotates) {
        const step *at = lists[depth - 1];
        const int fits = !rotates || (is_one_stage && stays(mk, like->stage, at->node->op));
        if (fits && is_written_first(mk, at, like)) break;
        if (--depth != 0) continue;
        if (!is_needed) return PTO_OK;
        return assembler_refuse(
            like->op, "its buffer has stages, and what it holds may be what an earlier round left there, which "
                      "is only said by addresses: write level 3, `form: assembler`");
    }
    assembler_base *base = PTO_SCRATCH(like->op.run, assembler_base, 1);
    *base = (assembler_base){.buffer = buffer, .like = like, .before = lists[depth != 0 ? depth - 1 : 0]->node};
    *mk->end = base;
    mk->end = &base->next;
    return PTO_OK;
}

/* ---- kernels ---- */

static pto_status note_tiles(storage_maker *mk, const ascend_node *first)
{
    for (const ascend_node *n = first; n != NULL; n = n->next) {
        for (uint32_t i = 0; i < 2; i++) PTO_TRY(note_tiles(mk, n->first[i]));
        if (n->kind != ASCEND_TILE) continue;
        if (!grow(n->tile, most_bytes(n->tile, 0)))
            return assembler_refuse(n->op,
                                    "a part of it is taken as a tile, which is only said by addresses: write level "
                                    "3, `form: assembler`");
        const uint32_t value = pto_op_result(n->op, 0).index;
        while (value >= mk->capacity) {
            const uint32_t capacity = 2 * mk->capacity + 64;
            const ascend_tile **tiles = PTO_SCRATCH(n->op.run, const ascend_tile *, capacity);
            uint32_t *buffers = PTO_SCRATCH(n->op.run, uint32_t, capacity);
            if (mk->capacity != 0) {
                memcpy(tiles, mk->tiles, mk->capacity * sizeof *tiles);
                memcpy(buffers, mk->buffers, mk->capacity * sizeof *buffers);
            }
            mk->tiles = tiles;
            mk->buffers = buffers;
            mk->capacity = capacity;
        }
        mk->tiles[value] = n->tile;
        mk->buffers[value] = pto_op_operand(n->op, 0).index;
    }
    return PTO_OK;
}

pto_status assembler_storage_make(const ascend_kernel *k, assembler_base **out)
{
    storage_maker mk = {.k = k, .end = out};
    const pto_block body = pto_body(k->op);
    *out = NULL;
    PTO_TRY(note_tiles(&mk, k->first));
    PTO_EACH_OP(body, op) {
        PTO_TRY(pto_go_on(op.run));
        if (!pto_str_is(pto_op_name(op), "block.buffer")) continue;
        const uint32_t buffer = pto_op_result(op, 0).index;
        const step *list = steps_of(&mk, k->first, buffer);
        if (list == NULL) continue;
        const int is_needed = !is_written_first(&mk, list, NULL);
        if (is_needed || hands_over(list)) PTO_TRY(add_base(&mk, buffer, list, is_needed));
    }
    return PTO_OK;
}

const assembler_base *assembler_base_of(const assembler_base *bases, const ascend_tile *t)
{
    const uint32_t buffer = pto_op_operand(t->op, 0).index;
    while (bases != NULL && bases->buffer != buffer) bases = bases->next;
    return bases;
}
