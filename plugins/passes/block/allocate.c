/* pto.allocate: every buffer of a kernel gets its address.
 *
 *     %a = block.buffer {space = vec, bytes_per_stage = 8192, stages = 2}
 *                =>
 *     %a = block.buffer {space = vec, bytes_per_stage = 8192, stages = 2, addr = 0}
 *
 * Buffers of a space stand one behind the other while they fit. When they do not, buffers that never live at once share
 * bytes: largest first, each at the lowest address that no overlapping life takes. Exact: what a buffer holds is not
 * touched between its first write and its last read. */
#include <pto/plugin.h>

#include <stdio.h>
#include <stdlib.h>

#define KINDS(X)              \
    X(BUFFER, "block.buffer") \
    X(TILE, "block.tile")     \
    X(FOR, "for")             \
    X(WHILE, "while")         \
    X(KERNEL, "block.kernel")
PTO_KINDS(KINDS);

static const char *const reuse_choices[] = {"when-needed", "always", "never", NULL};
enum { REUSE_WHEN_NEEDED, REUSE_ALWAYS, REUSE_NEVER };

#define OPTIONS(X)                                                                                                 \
    X(REUSE, ENUM, "reuse", .def = "when-needed", .choices = reuse_choices, .doc = "when buffers may share bytes", \
      .example = "with: { reuse: always }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) \
    X(BUFFERS, "buffers") X(BYTES, "bytes given out, all spaces") X(SHARED, "spaces where buffers share bytes")
PTO_STATS(STATS);

/* Places count ops in print order. An op with blocks spans the places of its insides. */
typedef struct span {
    uint32_t first, last;
} span;

typedef struct life {
    pto_op buffer;
    pto_space space;
    int64_t bytes, align, addr;
    span span;
    uint32_t order; /* of definition */
} life;

typedef struct access {
    pto_op op;
    uint32_t place;
    int is_write;
} access;

typedef struct kernel_walk {
    const pto_run *run;
    pto_op kernel;
    pto_op *ops;           /* by place */
    uint32_t *last_inside; /* place of the last op inside, itself for an op without blocks */
    uint32_t count;
    uint32_t *slots; /* place + 1 by the hash of an op's index, 0 for none; a power of two, at most half full */
    uint32_t slot_mask;
} kernel_walk;

/* ---- when a buffer lives ---- */

static uint32_t first_slot(const kernel_walk *w, pto_op op) { return op.index * 2654435761u & w->slot_mask; }

/* `count` when the op is not of the kernel. */
static uint32_t place_of(const kernel_walk *w, pto_op op)
{
    for (uint32_t s = first_slot(w, op); w->slots[s] != 0; s = (s + 1) & w->slot_mask) {
        if (pto_op_same(w->ops[w->slots[s] - 1], op)) return w->slots[s] - 1;
    }
    return w->count;
}

static void add_place(kernel_walk *w, uint32_t place)
{
    uint32_t s = first_slot(w, w->ops[place]);
    while (w->slots[s] != 0) s = (s + 1) & w->slot_mask;
    w->slots[s] = place + 1;
}

static kernel_walk walk_kernel(const pto_run *run, pto_op kernel)
{
    kernel_walk w = {.run = run, .kernel = kernel, .slot_mask = 1};
    PTO_WALK(kernel, op) w.count++;
    w.ops = PTO_SCRATCH(run, pto_op, w.count);
    w.last_inside = PTO_SCRATCH(run, uint32_t, w.count);
    while (w.slot_mask < 2 * w.count) w.slot_mask = 2 * w.slot_mask + 1;
    w.slots = PTO_SCRATCH(run, uint32_t, w.slot_mask + 1);
    uint32_t n = 0;
    PTO_WALK(kernel, op)
    {
        w.ops[n] = op;
        w.last_inside[n] = n;
        add_place(&w, n++);
    }
    /* Each op extends the op around it, innermost first. */
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t parent = place_of(&w, pto_op_parent(w.ops[i]));
        if (parent < n && w.last_inside[parent] < w.last_inside[i]) w.last_inside[parent] = w.last_inside[i];
    }
    return w;
}

static int is_loop(const kernel_walk *w, pto_op op)
{
    return pto_op_is(op, pto_kind(w->run, KIND_FOR)) || pto_op_is(op, pto_kind(w->run, KIND_WHILE));
}

/* Whether an instruction writes the tile at an operand: its destination, or its scratch tile behind the sources. */
static int writes_operand(const pto_run *run, pto_op op, uint32_t operand)
{
    if (operand == 0) return 1;
    const int64_t rule = pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_RULE);
    const uint32_t scratch = rule == PTO_RULE_ROW_REDUCE || rule == PTO_RULE_TRANSPOSE ? 2
                             : rule == PTO_RULE_ROW_BINARY                             ? 3
                                                                                       : UINT32_MAX;
    return operand == scratch;
}

static int by_place(const void *a, const void *b)
{
    const access *x = (const access *)a, *y = (const access *)b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    /* An instruction reads before it writes. */
    return x->is_write - y->is_write;
}

static uint32_t count_accesses(pto_value buffer)
{
    uint32_t n = 0;
    PTO_EACH_USE(buffer, tile) n += pto_value_use_count(pto_result(tile.op, 0));
    return n;
}

static uint32_t find_accesses(const kernel_walk *w, pto_value buffer, access *out)
{
    uint32_t n = 0;
    PTO_EACH_USE(buffer, tile) {
        PTO_EACH_USE(pto_result(tile.op, 0), use) {
            const access a = {use.op, place_of(w, use.op), writes_operand(w->run, use.op, use.slot)};
            out[n++] = a;
        }
    }
    qsort(out, n, sizeof *out, by_place);
    return n;
}

static void extend(span *s, uint32_t first, uint32_t last)
{
    if (first < s->first) s->first = first;
    if (last > s->last) s->last = last;
}

static int contains(const kernel_walk *w, uint32_t outer, const access *accesses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].place < outer || accesses[i].place > w->last_inside[outer]) return 0;
    }
    return 1;
}

/* The innermost loop that holds all accesses, or the kernel. */
static pto_op common_loop(const kernel_walk *w, const access *accesses, uint32_t count)
{
    pto_op p = pto_op_parent(accesses[0].op);
    while (PTO_SOME(p) && !pto_op_same(p, w->kernel)) {
        if (is_loop(w, p) && contains(w, place_of(w, p), accesses, count)) return p;
        p = pto_op_parent(p);
    }
    return w->kernel;
}

/* From the first to the last access; a loop that may see what an earlier iteration wrote counts as a whole. */
static span life_span(const kernel_walk *w, pto_op buffer, const access *accesses, uint32_t count)
{
    span s = {accesses[0].place, accesses[count - 1].place};
    pto_op loop = common_loop(w, accesses, count);
    for (uint32_t i = 0; i < count; i++) {
        for (pto_op p = pto_op_parent(accesses[i].op); PTO_SOME(p) && !pto_op_same(p, loop); p = pto_op_parent(p)) {
            const uint32_t place = place_of(w, p);
            if (is_loop(w, p)) extend(&s, place, w->last_inside[place]);
        }
    }
    /* Written first, and in every iteration: nothing crosses iterations, unless stages rotate. */
    const int is_fresh = accesses[0].is_write && pto_op_same(pto_op_parent(accesses[0].op), loop);
    int crosses = !is_fresh || pto_attr_int_of(buffer, "stages", 1) > 1;
    while (crosses && !pto_op_same(loop, w->kernel)) {
        const uint32_t place = place_of(w, loop);
        extend(&s, place, w->last_inside[place]);
        if (is_fresh) break;
        loop = pto_op_parent(loop);
        while (!pto_op_same(loop, w->kernel) && !is_loop(w, loop)) loop = pto_op_parent(loop);
    }
    return s;
}

static pto_space space_by_name(pto_str name)
{
    static const char *const names[PTO_SPACE_COUNT] = {"",    "vec",  "mat",     "left", "right",
                                                       "acc", "bias", "scaling", "gm"};
    for (uint32_t i = 1; i < PTO_SPACE_COUNT; i++) {
        if (pto_str_is(name, names[i])) return i;
    }
    return PTO_SPACE_NONE;
}

/* A number of the machine's space, or `absent`. */
static int64_t space_number(const pto_run *run, pto_str space, const char *what, int64_t absent)
{
    char path[80];
    int64_t n = 0;
    snprintf(path, sizeof path, "spaces.%.*s.%s", PTO_FMT(space), what);
    return pto_machine_i64(run, path, &n) == PTO_OK ? n : absent;
}

static int64_t usable_bytes(const pto_run *run, pto_str space) { return space_number(run, space, "usable-bytes", 0); }

/* What the buffer asks for, and what its space wants of every buffer: both are powers of two. */
static int64_t alignment(const pto_run *run, pto_op buffer)
{
    const int64_t own = pto_attr_int_of(buffer, "align", 32),
                  space = space_number(run, pto_attr_str_of(buffer, "space"), "align", 1);
    return own > space ? own : space;
}

static uint32_t find_lives(const kernel_walk *w, life **out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->count; i++) n += pto_op_is(w->ops[i], pto_kind(w->run, KIND_BUFFER)) ? 1u : 0u;
    life *lives = PTO_SCRATCH(w->run, life, n);
    n = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const pto_op op = w->ops[i];
        if (!pto_op_is(op, pto_kind(w->run, KIND_BUFFER))) continue;
        life *l = &lives[n];
        *l = (life){.buffer = op,
                    .space = space_by_name(pto_attr_str_of(op, "space")),
                    .align = alignment(w->run, op),
                    .addr = pto_attr_int_of(op, "addr", -1),
                    .bytes = pto_attr_int_of(op, "bytes_per_stage", 0) * pto_attr_int_of(op, "stages", 1),
                    .span = {i, i},
                    .order = n};
        n++;
        const uint32_t room = count_accesses(pto_result(op, 0));
        if (room == 0) continue;
        access *accesses = PTO_SCRATCH(w->run, access, room);
        l->span = life_span(w, op, accesses, find_accesses(w, pto_result(op, 0), accesses));
    }
    *out = lives;
    return n;
}

static int live_at_once(const life *a, const life *b)
{
    return a->span.first <= b->span.last && b->span.first <= a->span.last;
}

/* ---- where it goes ---- */

static int64_t round_up(int64_t n, int64_t align) { return align > 1 ? (n + align - 1) / align * align : n; }

static int64_t place_in_a_row(life **lives, uint32_t count)
{
    int64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        lives[i]->addr = round_up(end, lives[i]->align);
        end = lives[i]->addr + lives[i]->bytes;
    }
    return end;
}

static int larger_first(const void *a, const void *b)
{
    const life *x = *(life *const *)a, *y = *(life *const *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* The lowest address at which `l` overlaps none of the placed lives that it meets. */
static int64_t lowest_fit(const life *l, life *const *placed, uint32_t count)
{
    int64_t addr = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (uint32_t i = 0; i < count; i++) {
            const life *p = placed[i];
            if (!live_at_once(l, p) || addr >= p->addr + p->bytes || p->addr >= addr + l->bytes) continue;
            addr = round_up(p->addr + p->bytes, l->align);
            moved = 1;
        }
    }
    return addr;
}

static int64_t place_shared(life **lives, uint32_t count)
{
    int64_t end = 0;
    qsort(lives, count, sizeof *lives, larger_first);
    for (uint32_t i = 0; i < count; i++) {
        lives[i]->addr = lowest_fit(lives[i], lives, i);
        if (lives[i]->addr + lives[i]->bytes > end) end = lives[i]->addr + lives[i]->bytes;
    }
    return end;
}

static pto_status report_full(const pto_run *run, pto_op kernel, pto_space space, life *const *lives, uint32_t count,
                              int64_t needed, int64_t available)
{
    static const char *const names[PTO_SPACE_COUNT] = {"?",   "vec",  "mat",     "left", "right",
                                                       "acc", "bias", "scaling", "gm"};
    const pto_str name = pto_function_name(kernel);
    pto_error(kernel, "pto.allocate/does-not-fit", "the buffers of @%.*s need %lld bytes of `%s`, the machine has %lld",
              PTO_FMT(name), (long long)needed, names[space], (long long)available);
    for (uint32_t i = 0; i < count; i++) {
        const pto_str buffer = pto_value_name(pto_result(lives[i]->buffer, 0));
        pto_note(lives[i]->buffer, "`%%%.*s` takes %lld bytes", PTO_FMT(buffer), (long long)lives[i]->bytes);
    }
    (void)run;
    return PTO_FAILED;
}

static pto_status allocate_space(const pto_run *run, pto_op kernel, pto_space space, life *all, uint32_t all_count)
{
    life **lives = PTO_SCRATCH(run, life *, all_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all_count; i++) {
        if (all[i].space == space) lives[count++] = &all[i];
    }
    if (count == 0) return PTO_OK;
    const int64_t available = usable_bytes(run, pto_attr_str_of(lives[0]->buffer, "space")),
                  reuse = pto_opt_i64(run, OPT_REUSE);
    int64_t needed = place_in_a_row(lives, count);
    if (reuse == REUSE_ALWAYS || (reuse == REUSE_WHEN_NEEDED && needed > available)) {
        needed = place_shared(lives, count);
        pto_count(run, STAT_SHARED);
    }
    if (needed > available) return report_full(run, kernel, space, lives, count, needed, available);
    pto_count_by(run, STAT_BYTES, needed);
    for (uint32_t i = 0; i < count; i++)
        PTO_TRY(pto_op_set_attr(lives[i]->buffer, "addr", pto_attr_make_i64(run, lives[i]->addr)));
    return PTO_OK;
}

static pto_status allocate_kernel(const pto_run *run, pto_op kernel)
{
    if (!pto_op_is(kernel, pto_kind(run, KIND_KERNEL))) return PTO_OK;
    const kernel_walk w = walk_kernel(run, kernel);
    life *lives = NULL;
    const uint32_t count = find_lives(&w, &lives);
    pto_count_by(run, STAT_BUFFERS, count);
    for (pto_space s = PTO_VEC; s < PTO_GM; s++) PTO_TRY(allocate_space(run, kernel, s, lives, count));
    return PTO_OK;
}

/* ---- pto.addresses-assigned ---- */

static pto_status check_buffer(const pto_run *run, const life *l)
{
    const pto_str name = pto_value_name(pto_result(l->buffer, 0)), space = pto_attr_str_of(l->buffer, "space");
    const int64_t available = usable_bytes(run, space), end = l->addr + l->bytes;
    if (l->addr < 0) return pto_error(l->buffer, "pto.allocate/no-address", "`%%%.*s` has no address", PTO_FMT(name));
    if (l->align > 1 && l->addr % l->align != 0)
        return pto_error(l->buffer, "pto.allocate/misaligned", "`%%%.*s` stands at %lld, which is no multiple of %lld",
                         PTO_FMT(name), (long long)l->addr, (long long)l->align);
    if (end > available)
        return pto_error(l->buffer, "pto.allocate/out-of-space",
                         "`%%%.*s` ends at byte %lld of `%.*s`, the machine has %lld", PTO_FMT(name), (long long)end,
                         PTO_FMT(space), (long long)available);
    return PTO_OK;
}

static pto_status check_addresses(const pto_run *run, pto_op kernel)
{
    if (!pto_op_is(kernel, pto_kind(run, KIND_KERNEL))) return PTO_OK;
    const kernel_walk w = walk_kernel(run, kernel);
    life *lives = NULL;
    const uint32_t count = find_lives(&w, &lives);
    for (uint32_t i = 0; i < count; i++) {
        const life *a = &lives[i];
        PTO_TRY(check_buffer(run, a));
        for (uint32_t k = 0; k < i; k++) {
            const life *b = &lives[k];
            if (a->space != b->space || !live_at_once(a, b) || a->addr >= b->addr + b->bytes ||
                b->addr >= a->addr + a->bytes)
                continue;
            const pto_str x = pto_value_name(pto_result(a->buffer, 0)), y = pto_value_name(pto_result(b->buffer, 0));
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
    .summary = "Give every buffer of a kernel its address",
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
