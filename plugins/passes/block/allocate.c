/* pto.allocate: every buffer of a kernel gets its address.
 *
 *     %a = block.buffer {space = vec, bytes_per_stage = 8192, stages = 2}
 *                =>
 *     %a = block.buffer {space = vec, bytes_per_stage = 8192, stages = 2, addr = 0}
 *
 * Buffers of a space follow each other while they fit: what shares nothing waits for nothing. When they do not
 * fit, buffers that never live at once share bytes, at first those where that costs nothing: one pipe uses both, and it
 * runs in order, or they live in different loops. When that is not enough, all others, which a remark tells: then one
 * pipe waits in every iteration until another is done with its bytes. At last, where that is asked for and the
 * instruction may work in place, a result gets the buffer of an operand of the same type that is not read again. Exact:
 * what a buffer holds is not touched between its first write and its last read.
 *
 * Requires kernels of instructions (pto.selected). Leaves every buffer with an address (pto.addresses-assigned),
 * whatever it had before; flags that order accesses to the bytes from before are to be placed again (breaks
 * pto.synchronised). */
#include "machine_facts.h"
#include "regions.h"
#include "storage_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS(X)              \
    X(BUFFER, "block.buffer") \
    X(TILE, "block.tile")     \
    X(KERNEL, "block.kernel")
PTO_KINDS(KINDS);

static const char *const reuse_choices[] = {"when-needed", "free", "always", "never", "in-place", NULL};
enum { REUSE_WHEN_NEEDED, REUSE_FREE, REUSE_ALWAYS, REUSE_NEVER, REUSE_IN_PLACE };

#define OPTIONS(X)                                                                                                  \
    X(REUSE, ENUM, "reuse", .def = "when-needed", .choices = reuse_choices,                                         \
      .doc = "when buffers share bytes: once they do not fit apart; always where it costs nothing; always; never; " \
             "as when-needed, and results take the buffers of operands at last",                                    \
      .example = "with: { reuse: always }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)                                  \
    X(BUFFERS, "buffers")                         \
    X(BYTES, "bytes given out, all spaces")       \
    X(SHARED, "spaces where buffers share bytes") \
    X(WAITING, "spaces where pipes share bytes")
PTO_STATS(STATS);

/* Places count ops in print order. An op with blocks spans the places of its insides. */
typedef struct span {
    uint32_t first, last;
} span;

/* A buffer; `s.order` is its place among the lives. */
typedef struct life {
    pto_op buffer;
    storage_life s;
    struct life *origin; /* whose buffer its tiles get; NULL: they keep their own */
    struct life *tail;   /* the last one that gets its buffer; NULL: itself */
} life;

typedef struct access {
    uint32_t place;
    int is_write;
    uint32_t pipe;
} access;

/* What is asked of each instruction, by kind modulo their number. */
enum { KINDS_KEPT = 32 };
typedef struct kind_facts {
    pto_kind_id kind; /* 0: none */
    uint32_t pipe;
    int64_t written;
} kind_facts;

/* ---- when a buffer lives ---- */

static int by_place(const void *a, const void *b)
{
    const access *x = (const access *)a, *y = (const access *)b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    /* An instruction reads before it writes. */
    return x->is_write - y->is_write;
}

static const kind_facts *facts_of(const pto_run *run, kind_facts known[KINDS_KEPT], pto_kind_id kind)
{
    kind_facts *f = &known[kind % KINDS_KEPT];
    if (f->kind != kind)
        *f = (kind_facts){kind, storage_pipe(run, kind), pto_kind_column(run, kind, PTO_COLUMN_WRITTEN)};
    return f;
}

static uint32_t find_accesses(const region_table *r, kind_facts *known, pto_value buffer, access **out)
{
    access *found = NULL;
    uint32_t n = 0, capacity = 0;
    PTO_EACH_USE(buffer, tile) {
        PTO_EACH_USE(pto_op_result(tile.op, 0), use) {
            PTO_GROW(r->run, found, n, capacity);
            const kind_facts *f = facts_of(r->run, known, pto_op_kind(use.op));
            found[n++] = (access){region_place(r, use.op), use.slot < 32 && (f->written >> use.slot & 1) != 0, f->pipe};
        }
    }
    if (n != 0) qsort(found, n, sizeof *found, by_place);
    *out = found;
    return n;
}

static void extend(span *s, uint32_t first, uint32_t last)
{
    if (first < s->first) s->first = first;
    if (last > s->last) s->last = last;
}

/* The innermost loop that holds all accesses; REGION_NONE: none does. */
static uint32_t common_loop(const region_table *r, const access *accesses, uint32_t count)
{
    uint32_t p = accesses[0].place;
    for (uint32_t i = 1; i < count; i++) p = region_common(r, p, accesses[i].place);
    return region_is_loop(r, p) ? p : region_loop_around(r, p);
}

/* From the first to the last access; a loop that may see what an earlier iteration wrote counts as a whole. */
static span life_span(const region_table *r, pto_op buffer, uint32_t loop, const access *accesses, uint32_t count)
{
    span s = {accesses[0].place, accesses[count - 1].place};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t p = r->ops[accesses[i].place].parent; p != REGION_NONE && p != loop; p = r->ops[p].parent) {
            if (region_is_loop(r, p)) extend(&s, p, r->ops[p].last);
        }
    }
    /* Written first, and in every iteration: nothing crosses iterations, unless stages rotate. */
    const int is_fresh =
        accesses[0].is_write && r->ops[accesses[0].place].parent == (loop != REGION_NONE ? loop : REGION_ROOT);
    const int crosses = !is_fresh || pto_attr_int_of(buffer, PTO_STR("stages"), 1) > 1;
    for (uint32_t p = loop; crosses && p != REGION_NONE; p = is_fresh ? REGION_NONE : region_loop_around(r, p))
        extend(&s, p, r->ops[p].last);
    return s;
}

static pto_space space_of(pto_op buffer)
{
    return pto_space_by_name(buffer.run, pto_attr_str_of(buffer, PTO_STR("space")));
}

/* What the buffer asks for, and what its space requires of every buffer: both are powers of two. */
static int64_t alignment(pto_op buffer, pto_space space)
{
    const int64_t own = pto_attr_int_of(buffer, PTO_STR("align"), 32), least = pto_space_align(buffer.run, space, 1);
    return own > least ? own : least;
}

static void find_life(const region_table *r, kind_facts *known, pto_op buffer, storage_life *l)
{
    access *accesses = NULL;
    const uint32_t count = find_accesses(r, known, pto_op_result(buffer, 0), &accesses);
    if (count == 0) return;
    const uint32_t loop = common_loop(r, accesses, count);
    const span s = life_span(r, buffer, loop, accesses, count);
    l->first = s.first;
    l->last = s.last;
    l->loop_first = loop != REGION_NONE ? loop : s.first;
    l->loop_last = loop != REGION_NONE ? r->ops[loop].last : s.last;
    for (uint32_t i = 0; i < count; i++) l->pipes |= accesses[i].pipe;
}

static uint32_t find_lives(const region_table *r, life **out)
{
    uint32_t n = 0, capacity = 0;
    life *lives = NULL;
    kind_facts known[KINDS_KEPT] = {{0}};
    for (uint32_t i = 1; i < r->count; i++) {
        const pto_op op = r->ops[i].op;
        if (!PTO_IS(op, BUFFER)) continue;
        const pto_space space = space_of(op);
        PTO_GROW(r->run, lives, n, capacity);
        lives[n].buffer = op;
        lives[n].s = (storage_life){
            .space = space,
            .align = alignment(op, space),
            .addr = pto_attr_int_of(op, PTO_STR("addr"), -1),
            .bytes = pto_attr_int_of(op, PTO_STR("bytes_per_stage"), 0) * pto_attr_int_of(op, PTO_STR("stages"), 1),
            .first = i,
            .last = i,
            .loop_first = i,
            .loop_last = i,
            .order = n,
        };
        find_life(r, known, op, &lives[n++].s);
    }
    *out = lives;
    return n;
}

/* ---- results in the bytes of operands ---- */

/* The buffer of a tile that an instruction takes; none of another operand. */
static pto_op buffer_of(pto_op op, uint32_t i)
{
    const pto_op tile = pto_value_op(pto_op_operand(op, i));
    return PTO_IS(tile, TILE) ? pto_value_op(pto_op_operand(tile, 0)) : pto_op_none(op.run);
}

/* Whether `op`, which `from` ends at and `to` begins at, computes one from the other in place. */
static int computes_in_place(pto_op op, const life *from, const life *to)
{
    if (!pto_op_writes(op, 0) || !pto_op_same(buffer_of(op, 0), to->buffer) ||
        machine_in_place(op.run, pto_op_kind(op)) == 0)
        return 0;
    for (uint32_t i = 1; i < pto_op_operand_count(op); i++)
        if (pto_kind_is_in_place(op.run, pto_op_kind(op), i) && pto_op_same(buffer_of(op, i), from->buffer) &&
            pto_type_same(pto_value_type(pto_op_operand(op, i)), pto_value_type(pto_op_operand(op, 0))))
            return 1;
    return 0;
}

static int may_be_one(const region_table *r, const life *from, const life *to)
{
    return from != to && from->s.space == to->s.space && from->s.bytes == to->s.bytes && from->s.last == to->s.first &&
           from->s.first < from->s.last && to->s.first < to->s.last &&
           pto_attr_int_of(from->buffer, PTO_STR("stages"), 1) == 1 &&
           pto_attr_int_of(to->buffer, PTO_STR("stages"), 1) == 1 &&
           computes_in_place(r->ops[to->s.first].op, from, to);
}

/* Whether the buffer is there before the first tile of the other. */
static int comes_before(const region_table *r, const life *buffer, const life *other)
{
    const uint32_t place = region_place(r, buffer->buffer);
    PTO_EACH_USE(pto_op_result(other->buffer, 0), tile) {
        if (region_place(r, tile.op) < place) return 0;
    }
    return 1;
}

/* Lives that begin where one of those before them ends become a part of that; the number of those that are left. */
static uint32_t join_lives(const region_table *r, life **lives, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        life *to = lives[i];
        for (uint32_t k = 0; k < left && to->origin == NULL; k++)
            if (may_be_one(r, lives[k]->tail != NULL ? lives[k]->tail : lives[k], to) && comes_before(r, lives[k], to))
                to->origin = lives[k];
        if (to->origin == NULL) {
            lives[left++] = to;
            continue;
        }
        storage_life *s = &to->origin->s;
        to->origin->tail = to;
        s->last = to->s.last;
        s->pipes |= to->s.pipes;
        if (to->s.loop_first < s->loop_first) s->loop_first = to->s.loop_first;
        if (to->s.loop_last > s->loop_last) s->loop_last = to->s.loop_last;
    }
    return left;
}

/* ---- where it goes ---- */

/* Assigns addresses, with what storage_place returns. */
static int64_t place_lives(const pto_run *run, life **lives, uint32_t count, storage_sharing sharing)
{
    storage_life **of = PTO_SCRATCH(run, storage_life *, count);
    for (uint32_t i = 0; i < count; i++) of[i] = &lives[i]->s;
    return storage_place(run, of, count, sharing);
}

static pto_status report_full(pto_op kernel, life *const *lives, uint32_t count, int64_t needed, int64_t available)
{
    const pto_str name = pto_function_name(kernel);
    pto_does_not_fit(kernel, "pto.allocate/does-not-fit",
                     "the buffers of @%.*s need %lld bytes of `%s`, the machine has %lld", PTO_FMT(name),
                     (long long)needed, pto_space_name(kernel.run, lives[0]->s.space), (long long)available);
    for (uint32_t i = 0; i < count; i++) {
        const pto_str buffer = pto_value_name(pto_op_result(lives[i]->buffer, 0));
        pto_note(lives[i]->buffer, "`%%%.*s` takes %lld bytes", PTO_FMT(buffer), (long long)lives[i]->s.bytes);
    }
    return PTO_FAILED;
}

/* The first way of sharing that fits, of those that the option names; at last with results in the bytes of operands. */
static pto_status place(const region_table *r, pto_op kernel, life **lives, uint32_t count)
{
    static const struct {
        storage_sharing from, to;
    } ways[] = {[REUSE_WHEN_NEEDED] = {STORAGE_APART, STORAGE_ALL},
                [REUSE_FREE] = {STORAGE_FREELY, STORAGE_FREELY},
                [REUSE_ALWAYS] = {STORAGE_ALL, STORAGE_ALL},
                [REUSE_NEVER] = {STORAGE_APART, STORAGE_APART},
                [REUSE_IN_PLACE] = {STORAGE_APART, STORAGE_ALL}};
    const pto_run *run = kernel.run;
    const int64_t reuse = pto_opt_i64(run, OPT_REUSE);
    const pto_space space = lives[0]->s.space;
    const int64_t available = pto_space_usable_bytes(run, space, 0),
                  apart = place_lives(run, lives, count, STORAGE_APART);
    storage_sharing sharing = ways[reuse].from;
    int64_t needed = place_lives(run, lives, count, sharing);
    while (needed > available && sharing < ways[reuse].to) needed = place_lives(run, lives, count, ++sharing);
    if (needed > available && reuse == REUSE_IN_PLACE) {
        life **left = PTO_SCRATCH(run, life *, count);
        memcpy(left, lives, count * sizeof *left);
        needed = place_lives(run, left, join_lives(r, left, count), sharing);
    }
    PTO_TRY(pto_go_on(run));
    if (needed > available) return report_full(kernel, lives, count, needed, available);
    pto_stat_add(run, STAT_BYTES, needed);
    if (sharing != STORAGE_APART) pto_stat_add(run, STAT_SHARED, 1);
    if (sharing != STORAGE_ALL || reuse == REUSE_ALWAYS) return PTO_OK;
    pto_stat_add(run, STAT_WAITING, 1);
    pto_remark(kernel, "pto.allocate/pipes-wait",
               "buffers of `%s` share bytes between pipes, which wait for each other: apart they need %lld bytes, the "
               "machine has %lld",
               pto_space_name(run, space), (long long)apart, (long long)available);
    return PTO_OK;
}

/* Its tiles become tiles of the buffer that it shares. */
static pto_status take_over(const life *l)
{
    const pto_value by = pto_op_result(l->origin->buffer, 0);
    return pto_op_replace(l->buffer, 1, &by);
}

static pto_status allocate_space(const region_table *r, pto_space space, life *all, uint32_t all_count)
{
    const pto_op kernel = r->ops[REGION_ROOT].op;
    life **lives = PTO_SCRATCH(kernel.run, life *, all_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all_count; i++) {
        if (all[i].s.space == space) lives[count++] = &all[i];
    }
    if (count == 0) return PTO_OK;
    PTO_TRY(place(r, kernel, lives, count));
    for (uint32_t i = 0; i < count; i++)
        PTO_TRY(lives[i]->origin != NULL ? take_over(lives[i])
                                         : pto_op_set_attr(lives[i]->buffer, PTO_STR("addr"),
                                                           pto_attr_make_i64(kernel.run, lives[i]->s.addr)));
    return PTO_OK;
}

static pto_status allocate_kernel(const pto_run *run, pto_op kernel)
{
    if (!PTO_IS(kernel, KERNEL)) return PTO_OK;
    const region_table r = regions_of(kernel);
    life *lives = NULL;
    const uint32_t count = find_lives(&r, &lives);
    pto_stat_add(run, STAT_BUFFERS, count);
    for (pto_space s = 1; s < pto_name_count(run, PTO_NAME_SPACE); s++) PTO_TRY(allocate_space(&r, s, lives, count));
    return PTO_OK;
}

/* ---- pto.addresses-assigned ---- */

static pto_status check_buffer(const pto_run *run, const life *l)
{
    const int64_t available = pto_space_usable_bytes(run, l->s.space, 0), end = l->s.addr + l->s.bytes;
    const int is_aligned = l->s.align <= 1 || l->s.addr % l->s.align == 0;
    if (l->s.addr >= 0 && is_aligned && end <= available) return PTO_OK;
    const pto_str name = pto_value_name(pto_op_result(l->buffer, 0)),
                  space = pto_attr_str_of(l->buffer, PTO_STR("space"));
    if (l->s.addr < 0) return pto_error(l->buffer, "pto.allocate/no-address", "`%%%.*s` has no address", PTO_FMT(name));
    if (!is_aligned)
        return pto_error(l->buffer, "pto.allocate/misaligned", "`%%%.*s` is at %lld, which is not a multiple of %lld",
                         PTO_FMT(name), (long long)l->s.addr, (long long)l->s.align);
    return pto_error(l->buffer, "pto.allocate/out-of-space",
                     "`%%%.*s` ends at byte %lld of `%.*s`, the machine has %lld", PTO_FMT(name), (long long)end,
                     PTO_FMT(space), (long long)available);
}

static pto_status check_addresses(const pto_run *run, pto_op kernel)
{
    if (!PTO_IS(kernel, KERNEL)) return PTO_OK;
    const region_table r = regions_of(kernel);
    life *lives = NULL;
    const uint32_t count = find_lives(&r, &lives);
    for (uint32_t i = 0; i < count; i++) {
        const life *a = &lives[i];
        PTO_TRY(pto_go_on(run));
        PTO_TRY(check_buffer(run, a));
        for (uint32_t k = 0; k < i; k++) {
            const life *b = &lives[k];
            if (a->s.space != b->s.space || storage_may_share(&a->s, &b->s, STORAGE_ALL) ||
                a->s.addr >= b->s.addr + b->s.bytes || b->s.addr >= a->s.addr + a->s.bytes)
                continue;
            const pto_str x = pto_value_name(pto_op_result(a->buffer, 0)),
                          y = pto_value_name(pto_op_result(b->buffer, 0));
            pto_error(a->buffer, "pto.allocate/overlap", "`%%%.*s` shares bytes with `%%%.*s` while both live",
                      PTO_FMT(x), PTO_FMT(y));
            pto_note(b->buffer, "`%%%.*s` is here", PTO_FMT(y));
            return PTO_FAILED;
        }
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.allocate",
    .summary = "Assign an address to every buffer of a kernel",
    .scope = "function",
    .consumes = "block/1",
    .produces = "block/1",
    .requires_props = PTO_STRS("pto.selected"),
    .establishes = PTO_STRS("pto.addresses-assigned"),
    .breaks = PTO_STRS("pto.synchronised"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = allocate_kernel,
};
static const pto_property addresses_assigned = {
    .struct_size = sizeof addresses_assigned,
    .id = "pto.addresses-assigned",
    .doc = "Every buffer has an aligned address inside its space, and buffers that live at once do not overlap",
    .level = "block/1",
    .kinds = pass_kinds,
    .check = check_addresses,
};
PTO_PLUGIN("pto.allocate", "pass:pto.allocate property:pto.addresses-assigned", "pto.addresses-assigned",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &addresses_assigned));
