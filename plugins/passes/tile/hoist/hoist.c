/* pto.hoist: what loops make again in each iteration is made once, before them.
 *
 *     for %t = %core to 64 step 48 {                    %g = tile.load %gamma[0, 0] ..
 *       %x = tile.load %x[8 * %t, 0] ..                 %f = tile.cast %g
 *       %g = tile.load %gamma[0, 0] ..           =>     for %t = %core to 64 step 48 {
 *       %f = tile.cast %g                                 %x = tile.load %x[8 * %t, 0] ..
 *       %y = tile.colexpandmul %x, %f                     %y = tile.colexpandmul %x, %f
 *     }                                                 }
 *
 * An op without effects leaves a loop when nothing that it takes changes there, nothing in the loop writes to the
 * memory that it reads, and the loop is known to have an iteration; it leaves as many loops as it may. What it makes is
 * there for as long as the loop runs. So it leaves where that saves cycles (hoist_price.c) and the spaces can hold it,
 * as pto.select and pto.allocate will see them (storage_plan.h), with the buffers that pto.pipeline lets transfers
 * rotate through: those that save most for each byte come first. The schedule says of each such op how many loops it
 * leaves (decision `hoist`). Exact.
 *
 * Requires nests of one core each (pto.distributed). Leaves nests of the same kind. */
#include "hoist.h"

#include <stdlib.h>

#define KINDS(X) X(FORALL, "forall")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                     \
    X(SHARE, F64, "share", .def = "0.5", .min = "0", .max = "1",                                                       \
      .doc = "how much of a space tiles may take that have left loops", .example = "with: { share: 0.25 }")            \
    X(BYTES, BYTES, "bytes", .def = "1GiB", .min = "0", .unit = "bytes",                                               \
      .doc = "most bytes of a space for them, where that is less", .example = "with: { bytes: 16KiB }")                \
    X(ALWAYS, BOOL, "always", .def = "false", .doc = "ops leave loops where they may, also when that saves no cycles", \
      .example = "with: { always: true }")                                                                             \
    X(PANELS, BOOL, "panels", .def = "true", .doc = "what products take leaves loops too, not tiles of vectors alone", \
      .example = "with: { panels: false }")                                                                            \
    X(STAGES, I64, "stages", .def = "2", .min = "1", .max = "8",                                                       \
      .doc = "buffers of each transfer in a loop, for which space is left", .example = "with: { stages: 3 }")          \
    X(IN_PLACE, BOOL, "in-place", .def = "true",                                                                       \
      .doc = "space is counted as pto.select with this option makes buffers", .example = "with: { in-place: false }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)                                   \
    X(HOISTED, "hoisted")                          \
    X(NO_SPACE, "left in loops for lack of space") \
    X(NO_GAIN, "left in loops since too little is saved")
PTO_STATS(STATS);

enum { REASON_BYTES = 256 };

/* ---- space ---- */

/* Bytes of each space that the nest needs: with one buffer of all, with those that transfers rotate through, and of
 * tiles that have left loops. */
typedef struct space_needs {
    int64_t single[PTO_NAMES_MAX], rotated[PTO_NAMES_MAX], held[PTO_NAMES_MAX];
} space_needs;

/* A move that can be undone. */
typedef struct moved_op {
    uint32_t place, left, around;
    pto_op next;
} moved_op;

typedef struct hoister {
    hoist_nest n;
    moved_op *moves; /* in the order in which they were made */
    uint32_t move_count, move_capacity;
    storage_plan plan;
    space_needs needs; /* as the nest is */
} hoister;

/* Whether an op of the loop uses the value. */
static int is_used_in(const hoist_nest *n, pto_value v, uint32_t loop)
{
    PTO_EACH_USE(v, use) {
        const uint32_t place = region_place(&n->regions, use.op);
        if (place > loop && place <= n->regions.ops[loop].last && n->ops[place].around >= loop) return 1;
    }
    return 0;
}

static void count_held(hoister *h, const storage_source *source, int64_t held[PTO_NAMES_MAX])
{
    for (uint32_t place = 1; place < h->n.regions.count; place++) {
        const pto_op op = h->n.regions.ops[place].op;
        if (h->n.ops[place].left == 0) continue;
        for (uint32_t i = 0; i < pto_op_result_count(op); i++) {
            const uint32_t at = storage_find_value(source, pto_op_result(op, i));
            if (at == STORAGE_NONE ||
                !is_used_in(&h->n, pto_op_result(op, i), hoist_target(&h->n, place, h->n.ops[place].left)))
                continue;
            held[h->plan.values[at].shape.space] += h->plan.values[at].shape.bytes;
        }
    }
}

static void rotate_all(storage_plan *p, int64_t stages)
{
    for (uint32_t k = 0; k < p->op_count; k++)
        if (pto_kind_column(p->run, p->ops[k].kind, PTO_COLUMN_TRANSFER) != PTO_TRANSFER_NONE &&
            storage_loop_around(p, k) != STORAGE_NONE)
            storage_ask(p, k, stages);
    storage_solve(p);
}

static space_needs measure(hoister *h)
{
    const pto_run *run = h->n.run;
    const uint32_t spaces = pto_name_count(run, PTO_NAME_SPACE);
    space_needs needs = {.single = {0}};
    storage_source source;
    storage_read(&h->plan, &source, h->n.nest);
    count_held(h, &source, needs.held);
    for (pto_space s = 1; s < spaces; s++)
        needs.single[s] = storage_bytes(&h->plan, s, pto_space_usable_bytes(run, s, 0));
    rotate_all(&h->plan, pto_opt_i64(run, OPT_STAGES));
    for (pto_space s = 1; s < spaces; s++)
        needs.rotated[s] = storage_bytes(&h->plan, s, pto_space_usable_bytes(run, s, 0));
    return needs;
}

/* Why the spaces cannot hold the nest as it would be; NULL: they can. */
static const char *find_lack(const hoister *h, const space_needs *now)
{
    const pto_run *run = h->n.run;
    char text[REASON_BYTES];
    for (pto_space s = 1; s < pto_name_count(run, PTO_NAME_SPACE); s++) {
        const int64_t capacity = pto_space_usable_bytes(run, s, 0);
        const int64_t share = (int64_t)((double)capacity * pto_opt_f64(run, OPT_SHARE)),
                      most = share < pto_opt_i64(run, OPT_BYTES) ? share : pto_opt_i64(run, OPT_BYTES);
        const char *name = pto_space_name(run, s);
        if (now->single[s] > capacity && (now->held[s] != 0 || now->single[s] > h->needs.single[s]))
            (void)snprintf(text, sizeof text, "the nest would need %lld bytes of `%s`, which has %lld",
                           (long long)now->single[s], name, (long long)capacity);
        else if (now->held[s] > most)
            (void)snprintf(text, sizeof text,
                           "%lld bytes of `%s` would be held during loops, of %lld that may by the option `%s`",
                           (long long)now->held[s], name, (long long)most, most < share ? "bytes" : "share");
        else if (now->rotated[s] > capacity && now->rotated[s] > h->needs.rotated[s])
            (void)snprintf(text, sizeof text,
                           "with %lld buffers of each transfer the nest would need %lld bytes of "
                           "`%s`, which has %lld",
                           (long long)pto_opt_i64(run, OPT_STAGES), (long long)now->rotated[s], name,
                           (long long)capacity);
        else
            continue;
        return pto_str_join(run, pto_s(text), pto_no_str()).p;
    }
    return NULL;
}

/* ---- moving ---- */

static uint32_t count_left(const hoist_nest *n, uint32_t place, uint32_t loop)
{
    uint32_t left = 1;
    for (uint32_t p = n->regions.ops[place].parent; p != loop; p = n->regions.ops[p].parent) left++;
    return left;
}

/* What leaves a loop stands before it in the order that it had. */
static pto_status order_moved(const hoist_nest *n)
{
    for (uint32_t place = 1; place < n->regions.count; place++) {
        if (n->ops[place].left == 0) continue;
        const uint32_t loop = hoist_target(n, place, n->ops[place].left);
        PTO_TRY(pto_op_move(n->regions.ops[place].op, pto_before(n->regions.ops[loop].op)));
    }
    return PTO_OK;
}

/* Moves what is marked. */
static pto_status move_marked(hoister *h, uint32_t loop)
{
    hoist_nest *n = &h->n;
    for (uint32_t place = loop + 1; place <= n->regions.ops[loop].last; place++) {
        hoist_op *o = &n->ops[place];
        if (!o->is_marked) continue;
        const pto_op op = n->regions.ops[place].op;
        PTO_GROW(n->run, h->moves, h->move_count, h->move_capacity);
        h->moves[h->move_count++] = (moved_op){place, o->left, o->around, pto_op_next(op)};
        o->left = count_left(n, place, loop);
        o->around = n->regions.ops[loop].parent;
        PTO_TRY(pto_op_move(op, pto_before(n->regions.ops[loop].op)));
    }
    return order_moved(n);
}

/* Puts ops back where they were, those from move `from` on. */
static pto_status put_back(const hoister *h, uint32_t from)
{
    for (uint32_t i = h->move_count; i-- > from;)
        PTO_TRY(pto_op_move(h->n.regions.ops[h->moves[i].place].op, pto_before(h->moves[i].next)));
    return PTO_OK;
}

static pto_status undo(hoister *h, uint32_t from)
{
    PTO_TRY(put_back(h, from));
    while (h->move_count > from) {
        const moved_op *m = &h->moves[--h->move_count];
        h->n.ops[m->place].left = m->left;
        h->n.ops[m->place].around = m->around;
    }
    return order_moved(&h->n);
}

/* ---- choosing ---- */

/* Lets the op leave so many loops, with what it takes; else says why not. */
static pto_status try_leaving(hoister *h, uint32_t place, uint32_t loops)
{
    const pto_run *run = h->n.run;
    hoist_op *o = &h->n.ops[place];
    const uint32_t loop = hoist_target(&h->n, place, loops), before = h->move_count;
    hoist_mark(&h->n, place, loop);
    const hoist_gain gain = hoist_price(&h->n, loop);
    PTO_TRY(pto_go_on(run));
    /* What one core does it does one after the other: less of it never takes longer. */
    const int gains = gain.share > 0.0 || (h->n.prices.is_serial && gain.share == 0.0);
    if (!o->is_pinned && !pto_opt_bool(run, OPT_ALWAYS) && !gains) {
        o->gain = gain;
        o->why = "that saves too little";
        return PTO_OK;
    }
    PTO_TRY(move_marked(h, loop));
    const space_needs now = measure(h);
    o->why = find_lack(h, &now);
    for (uint32_t i = before; o->why == NULL && i < h->move_count; i++) h->n.ops[h->moves[i].place].gain = gain;
    if (o->why == NULL) {
        h->needs = now;
        return PTO_OK;
    }
    o->gain = (hoist_gain){.share = 0.0};
    if (o->is_pinned)
        return pto_error(h->n.regions.ops[place].op, "pto.hoist/does-not-fit",
                         "%%%.*s leaves %u loops, and then %s; pin fewer, or smaller tiles",
                         PTO_FMT(pto_value_name(pto_op_result(h->n.regions.ops[place].op, 0))), loops, o->why);
    pto_stat_add(run, STAT_NO_SPACE, 1);
    return undo(h, before);
}

/* What the user pins comes first, so that others share what it leaves. */
static pto_status leave_pinned(hoister *h)
{
    for (uint32_t place = 1; place < h->n.regions.count; place++) {
        hoist_op *o = &h->n.ops[place];
        const uint32_t loops = o->left;
        if (!o->is_pinned || loops == 0) continue;
        o->left = 0;
        PTO_TRY(try_leaving(h, place, loops));
    }
    return PTO_OK;
}

/* An op that may leave loops, by what it saves for each byte that it holds. */
typedef struct choice {
    uint32_t place;
    double worth;
} choice;

static int by_worth(const void *a, const void *b)
{
    const choice *x = (const choice *)a, *y = (const choice *)b;
    if (x->worth != y->worth) return x->worth > y->worth ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static double worth_of(hoister *h, uint32_t place)
{
    const pto_type type = pto_value_type(pto_op_result(h->n.regions.ops[place].op, 0));
    const uint32_t loop = hoist_target(&h->n, place, h->n.ops[place].loops);
    int64_t rows = 1, columns = 1;
    if (pto_type_kind_of(type) == PTO_TYPE_TILE) {
        (void)pto_dim_is_const(type, 0, &rows);
        (void)pto_dim_is_const(type, 1, &columns);
    }
    const int64_t element = pto_dtype_bytes(pto_type_dtype(type));
    hoist_mark(&h->n, place, loop);
    return hoist_price(&h->n, loop).share / ((double)rows * (double)columns * (double)(element > 0 ? element : 1));
}

static pto_status leave_free(hoister *h)
{
    choice *choices = NULL;
    uint32_t count = 0, capacity = 0;
    for (uint32_t place = 1; place < h->n.regions.count; place++) {
        if (!hoist_is_candidate(&h->n, place) || h->n.ops[place].is_pinned || h->n.ops[place].loops == 0) continue;
        PTO_GROW(h->n.run, choices, count, capacity);
        choices[count++] = (choice){place, worth_of(h, place)};
    }
    if (count != 0) qsort(choices, count, sizeof *choices, by_worth);
    for (uint32_t i = 0; i < count; i++) {
        const hoist_op *o = &h->n.ops[choices[i].place];
        for (uint32_t loops = o->loops; loops > o->left; loops--) PTO_TRY(try_leaving(h, choices[i].place, loops));
    }
    return PTO_OK;
}

/* ---- what was chosen ---- */

static void describe(const hoist_nest *n, uint32_t place)
{
    const hoist_op *o = &n->ops[place];
    const pto_op op = n->regions.ops[place].op;
    const pto_str name = pto_value_name(pto_op_result(op, 0));
    const char *at = o->gain.is_open ? " at extents of 4096, one of the sizes that are tried" : "";
    if (o->left != 0)
        pto_remark(op, "pto.hoist/hoisted",
                   "%%%.*s leaves %u of %u loops: it is made once in place of %.0f times, and an iteration takes %.0f "
                   "cycles, %.0f before%s",
                   PTO_FMT(name), o->left, o->loops, o->gain.trips, o->gain.after, o->gain.before, at);
    else if (o->gain.trips > 0.0)
        pto_remark(op, "pto.hoist/stays",
                   "%%%.*s stays in its loop: %s; %.0f iterations would take %.0f cycles each in place of %.0f%s",
                   PTO_FMT(name), o->why, o->gain.trips, o->gain.after, o->gain.before, at);
    else
        pto_remark(op, "pto.hoist/stays", "%%%.*s stays in its loop: %s", PTO_FMT(name), o->why);
}

static pto_status record(const hoister *h)
{
    for (uint32_t place = 1; place < h->n.regions.count; place++) {
        const hoist_op *o = &h->n.ops[place];
        const int64_t left = o->left;
        if (!o->is_pinned && !hoist_is_candidate(&h->n, place)) continue;
        const pto_decision d = {
            .struct_size = sizeof d, .count = 1, .name = "hoist", .limit = left < o->loops ? o->why : NULL};
        PTO_TRY(pto_decision_made(h->n.regions.ops[place].op, &d, &left));
        pto_stat_add(h->n.run, STAT_HOISTED, left != 0);
        pto_stat_add(h->n.run, STAT_NO_GAIN, left == 0 && o->gain.trips > 0.0);
        describe(&h->n, place);
    }
    return PTO_OK;
}

static pto_status hoist_in_nest(const pto_run *run, pto_op nest)
{
    hoister h = {.n = {.run = run, .nest = nest, .prices = op_prices_of(run)}};
    int is_any = 0;
    if (!pto_opt_bool(run, OPT_PANELS)) h.n.only = pto_space_of_role(run, PTO_ROLE_SCRATCHPAD);
    PTO_TRY(hoist_find(&h.n));
    for (uint32_t place = 1; place < h.n.regions.count; place++)
        is_any |= hoist_is_candidate(&h.n, place) || h.n.ops[place].is_pinned;
    if (!is_any) return PTO_OK;
    h.plan = storage_plan_make(run, pto_opt_bool(run, OPT_IN_PLACE));
    h.needs = measure(&h);
    PTO_TRY(leave_pinned(&h));
    PTO_TRY(leave_free(&h));
    PTO_TRY(put_back(&h, 0)); /* ops are called as where they were */
    PTO_TRY(record(&h));
    return order_moved(&h.n);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, nest)
    if (PTO_IS(nest, FORALL)) PTO_TRY(hoist_in_nest(run, nest));
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.hoist",
    .summary = "Make once, before loops, what each of their iterations makes again",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.distributed"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.hoist", "pass:pto.hoist", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
