/* pto.assign-spaces: every tile gets a memory space, and moves take operands to the space where they are needed.
 *
 *     %ta = tile.load %a[..] size(..) : tile<128 x 64 x bf16, ?>      %ta = tile.load %a[..] size(..) : tile<.., mat>
 *     %tb = tile.load %b[..] size(..) : tile<64 x 128 x bf16, ?>      %tb = tile.load %b[..] size(..) : tile<.., mat>
 *     %n = tile.matmul_acc %s, %ta, %tb : tile<.., ?>            =>   %la = tile.move %ta : tile<.., left>
 *                                                                     %rb = tile.move %tb : tile<.., right>
 *                                                                     %n = tile.matmul_acc %s, %la, %rb : tile<.., acc>
 *
 * Values that share storage (carried through a loop, accumulated in) are one class and get one space: `acc` for matrix
 * products, `vec` for vector work (what the machine calls them), for loads that of the machine's paths that reaches
 * their uses in the fewest moves. A space that the program states stays. Exact. A use that no path of the machine
 * reaches on chip is an error.
 *
 * Requires functions on memory (pto.bufferized). Leaves every tile with a space, and every move on a path of the
 * machine (pto.spaces-assigned). */
#include <pto/plugin.h>

#include "tile_machine.h"

#define KINDS(X)                 \
    X(FOR, "for")                \
    X(WHILE, "while")            \
    X(IF, "if")                  \
    X(YIELD, "yield")            \
    X(ZERO_ACC, "tile.zero_acc") \
    X(LOAD, "tile.load")         \
    X(MOVE, "tile.move")
PTO_KINDS(KINDS);

#define STATS(X)            \
    X(ASSIGNED, "assigned") \
    X(MOVES, "moves")
PTO_STATS(STATS);

/* ---- routes ---- */

/* Between on-chip spaces: how many moves, -1 when there is no way, and the space after the first. */
typedef struct routes {
    int hops[PTO_NAMES_MAX][PTO_NAMES_MAX];
    pto_space first[PTO_NAMES_MAX][PTO_NAMES_MAX];
    int loads[PTO_NAMES_MAX], stores[PTO_NAMES_MAX]; /* has a path from and to global memory */
    pto_space global, end;                           /* ids are below `end` */
} routes;

static void find_routes_from(routes *r, pto_space from, const uint8_t (*path)[PTO_NAMES_MAX])
{
    pto_space queue[PTO_NAMES_MAX];
    int head = 0, tail = 0, *hops = r->hops[from];
    for (pto_space i = 0; i < r->end; i++) hops[i] = -1;
    hops[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        pto_space at = queue[head++];
        for (pto_space next = 1; next < r->end; next++) {
            if (hops[next] >= 0 || !path[at][next]) continue;
            hops[next] = hops[at] + 1;
            r->first[from][next] = at == from ? next : r->first[from][at];
            queue[tail++] = next;
        }
    }
}

/* Those of the machine are the same for all functions. */
static const routes *find_routes(const pto_run *run)
{
    uint8_t path[PTO_NAMES_MAX][PTO_NAMES_MAX] = {{0}};
    const pto_space global = tile_global(run), end = pto_name_count(run, PTO_NAME_SPACE);
    routes *r = pto_recall(run, PTO_STR("routes"), sizeof *r);
    if (r->end == end) return r;
    r->global = global;
    r->end = end;
    for (pto_space a = 1; a < end; a++) {
        for (pto_space b = 1; b < end; b++)
            path[a][b] = (uint8_t)(a != global && b != global && tile_has_path(run, a, b));
        r->loads[a] = tile_has_path(run, global, a);
        r->stores[a] = tile_has_path(run, a, global);
    }
    for (pto_space a = 1; a < end; a++) find_routes_from(r, a, (const uint8_t(*)[PTO_NAMES_MAX])path);
    return r;
}

static pto_status no_route(const pto_run *run, pto_op user, pto_value v, pto_space from, pto_space to)
{
    pto_str machine = tile_machine_name(run);
    return pto_error(user, "pto.assign-spaces/no-path",
                     "`%.*s` needs %%%.*s in `%s`, where it is in `%s`; %.*s has no path from `%s` to `%s` but through "
                     "global memory: store it in one nest and load it in the next",
                     PTO_FMT(pto_op_name(user)), PTO_FMT(pto_value_name(v)), pto_space_name(run, to),
                     pto_space_name(run, from), PTO_FMT(machine), pto_space_name(run, from), pto_space_name(run, to));
}

/* ---- what ops require ---- */

/* The space for a tile that may be in spaces of several roles, which are bits: the first one of the first role, or the
 * one of that role that the tile is in. */
static pto_space space_of_roles(const pto_run *run, pto_value v, uint32_t roles)
{
    if (roles == 0) return PTO_SPACE_NONE;
    const uint32_t role = (uint32_t)__builtin_ctz(roles);
    const pto_space stated = pto_type_space(pto_value_type(v));
    const int is_legal = stated != PTO_SPACE_NONE && (roles >> pto_space_role(run, stated) & 1) != 0;
    return is_legal ? stated : pto_space_of_role(run, role);
}

/* Space that the row of `op` puts its result `v` in; NONE: it follows from the uses or from the operands. */
static pto_space result_space(const pto_run *run, pto_op op, pto_value v)
{
    if (PTO_IS(op, ZERO_ACC)) return space_of_roles(run, v, 1u << PTO_ROLE_ACCUMULATOR);
    const pto_kind_id insn = (pto_kind_id)pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_PARTNER);
    if (insn == 0 || pto_op_transfer(op) != PTO_TRANSFER_NONE) return PTO_SPACE_NONE;
    return space_of_roles(run, v, pto_kind_roles(run, insn, 0));
}

/* Space in which `op` needs its value operand number `i`; GM: any that can be stored to memory; NONE: any. */
static pto_space operand_space(const pto_run *run, pto_op op, uint32_t i)
{
    const uint32_t roles = pto_kind_roles(run, pto_op_kind(op), i);
    if (roles == 0) return PTO_SPACE_NONE;
    switch (pto_op_transfer(op)) {
    case PTO_TRANSFER_STORE: return i == 0 ? tile_global(run) : space_of_roles(run, pto_op_operand(op, i), roles);
    case PTO_TRANSFER_MOVE: return pto_type_space(pto_value_type(pto_op_result(op, 0)));
    default: return space_of_roles(run, pto_op_operand(op, i), roles);
    }
}

/* ---- classes of values that share storage ---- */

typedef struct tile_class {
    pto_value value;
    uint32_t first_use; /* of the root: index + 1 in the list of uses, 0 none */
    uint32_t parent;    /* index of a class; its own when it is the root */
    pto_space space;    /* of the root */
    pto_value why;      /* of the root: the value that decided the space */
} tile_class;

/* A tile as a value operand of an op. */
typedef struct tile_use {
    pto_op op;
    uint32_t slot, next; /* next: of the same class, index + 1 */
} tile_use;

typedef struct classes {
    const pto_run *run;
    const routes *routes;
    tile_use *uses;
    tile_class *items;
    uint32_t count, *slots, capacity; /* slots: open addressing by value, 0 empty, else index + 1 */
} classes;

static uint32_t class_of(classes *c, pto_value v)
{
    for (uint32_t at = v.index * 0x9e3779b1u;; at++) {
        uint32_t *slot = &c->slots[at & (c->capacity - 1)];
        if (*slot != 0 && !pto_value_same(c->items[*slot - 1].value, v)) continue;
        if (*slot == 0) {
            c->items[c->count] = (tile_class){.value = v, .parent = c->count, .why = v};
            c->items[c->count].space = pto_type_space(pto_value_type(v));
            *slot = ++c->count;
        }
        uint32_t i = *slot - 1;
        while (c->items[i].parent != i) i = c->items[i].parent = c->items[c->items[i].parent].parent;
        return i;
    }
}

static pto_status conflict(const tile_class *a, pto_op at, pto_space space, pto_value b)
{
    pto_str machine = tile_machine_name(at.run);
    return pto_error(at, "pto.assign-spaces/two-spaces",
                     "%%%.*s is in `%s` and %%%.*s in `%s`, but `%.*s` makes both one piece of storage on %.*s; begin "
                     "accumulators with `tile.zero_acc`, and carry no product into vector work",
                     PTO_FMT(pto_value_name(a->why)), pto_space_name(at.run, a->space), PTO_FMT(pto_value_name(b)),
                     pto_space_name(at.run, space), PTO_FMT(pto_op_name(at)), PTO_FMT(machine));
}

static pto_status put_space(classes *c, pto_op at, pto_value v, pto_space space)
{
    tile_class *k = &c->items[class_of(c, v)];
    if (space == PTO_SPACE_NONE || k->space == space) return PTO_OK;
    if (k->space != PTO_SPACE_NONE) return conflict(k, at, space, v);
    k->space = space;
    k->why = v;
    return PTO_OK;
}

static pto_status join(classes *c, pto_op at, pto_value a, pto_value b)
{
    if (!tile_is_tile(a) || !tile_is_tile(b)) return PTO_OK;
    uint32_t x = class_of(c, a), y = class_of(c, b);
    if (x == y) return PTO_OK;
    tile_class *k = &c->items[x], *other = &c->items[y];
    if (k->space != PTO_SPACE_NONE && other->space != PTO_SPACE_NONE && k->space != other->space)
        return conflict(k, at, other->space, other->why);
    if (k->space == PTO_SPACE_NONE) {
        k->space = other->space;
        k->why = other->why;
    }
    other->parent = x;
    return PTO_OK;
}

/* Carried values: what goes in, the block argument, what is yielded, the result. */
static pto_status join_control(classes *c, pto_op op)
{
    int is_for = PTO_IS(op, FOR), is_while = PTO_IS(op, WHILE);
    if (!is_for && !is_while && !PTO_IS(op, IF)) return PTO_OK;
    for (uint32_t b = 0, blocks = pto_op_block_count(op); b < blocks; b++) {
        pto_block block = pto_op_block_at(op, b);
        pto_op yield = pto_block_terminator(block);
        int is_condition = is_while && b == 0;
        for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
            pto_value result = pto_op_result(op, i);
            if (is_for || is_while) {
                PTO_TRY(join(c, op, result, pto_op_operand(op, i)));
                PTO_TRY(join(c, op, result, pto_block_arg(block, i + (is_for ? 1 : 0))));
            }
            if (!is_condition && i < pto_op_operand_count(yield))
                PTO_TRY(join(c, yield, result, pto_op_operand(yield, i)));
        }
    }
    return PTO_OK;
}

static pto_status collect(classes *c, pto_op op)
{
    const pto_run *run = c->run;
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
        const pto_value v = pto_op_result(op, i);
        if (tile_is_tile(v)) PTO_TRY(put_space(c, op, v, result_space(run, op, v)));
    }
    if (pto_op_continues(op, 0)) PTO_TRY(join(c, op, pto_op_result(op, 0), pto_op_operand(op, 0)));
    return join_control(c, op);
}

/* ---- loads: their uses decide ---- */

/* Moves to all uses of a class when it is in `space`, -1 when one is out of reach. */
static int64_t count_moves(const classes *c, uint32_t class, pto_space space)
{
    int64_t moves = 0;
    for (uint32_t i = c->items[class].first_use; i != 0; i = c->uses[i - 1].next) {
        pto_space want = operand_space(c->run, c->uses[i - 1].op, c->uses[i - 1].slot);
        if (want == PTO_SPACE_NONE) continue;
        int hops = want == c->routes->global ? c->routes->stores[space] - 1 : c->routes->hops[space][want];
        if (hops < 0) return -1;
        moves += hops;
    }
    return moves;
}

static pto_status choose_space(classes *c, uint32_t class)
{
    const pto_kind_id insn = (pto_kind_id)pto_kind_column(c->run, pto_kind(c->run, KIND_LOAD), PTO_COLUMN_PARTNER);
    const uint32_t roles = pto_kind_roles(c->run, insn, 0);
    int64_t least = -1;
    pto_space best = PTO_SPACE_NONE;
    for (pto_space s = 1; s < c->routes->end; s++) {
        if (!c->routes->loads[s] || (roles >> pto_space_role(c->run, s) & 1) == 0) continue;
        int64_t moves = count_moves(c, class, s);
        if (moves < 0 || (best != PTO_SPACE_NONE && moves >= least)) continue;
        least = moves;
        best = s;
    }
    tile_class *k = &c->items[class];
    if (best != PTO_SPACE_NONE) {
        k->space = best;
        return PTO_OK;
    }
    pto_op def = pto_value_op(k->value);
    pto_str machine = tile_machine_name(c->run);
    if (!PTO_SOME(def)) def = pto_block_parent(pto_value_block(k->value));
    return pto_error(def, "pto.assign-spaces/no-space",
                     "%%%.*s has no space from which %.*s reaches all its uses without global memory; load it once for "
                     "vector work and once for the matrix product, in nests of their own",
                     PTO_FMT(pto_value_name(k->value)), PTO_FMT(machine));
}

/* ---- rewriting ---- */

static pto_type with_space(pto_value v, pto_space space)
{
    pto_type t = pto_value_type(v);
    return pto_type_tile(v.run, pto_type_dtype(t), tile_capacity_of(t, 0), tile_capacity_of(t, 1), space,
                         pto_type_layout(t));
}

/* An earlier move of `v` to `space` in the block of `user`. */
static pto_value match_moved(const pto_run *run, pto_value v, pto_space space, pto_op user)
{
    PTO_EACH_USE(v, use) {
        if (!PTO_IS(use.op, MOVE) || !pto_block_same(pto_op_block(use.op), pto_op_block(user))) continue;
        pto_value moved = pto_op_result(use.op, 0);
        if (pto_type_space(pto_value_type(moved)) == space && pto_op_is_before(use.op, user)) return moved;
    }
    return pto_value_none(run);
}

/* "l" and the name of the tile, or "r", by where it goes. */
static pto_str moved_name(pto_value v, pto_space space)
{
    pto_str name = pto_value_name(v);
    char *text = pto_scratch(v.run, name.n + 2);
    text[0] = pto_space_name(v.run, space)[0];
    if (name.n != 0) memcpy(text + 1, name.p, name.n);
    return pto_str_make(text, name.n + 1);
}

static pto_value move_to(const pto_run *run, const routes *r, pto_op user, pto_value v, pto_space to)
{
    for (pto_space at = pto_type_space(pto_value_type(v)), next; at != to; at = next) {
        next = r->first[at][to];
        if (next == PTO_SPACE_NONE) {
            (void)no_route(run, user, v, at, to);
            return pto_value_none(run);
        }
        pto_value moved = match_moved(run, v, next, user);
        if (!PTO_SOME(moved)) {
            pto_spec s = pto_spec_make(run, pto_kind(run, KIND_MOVE));
            pto_spec_operand(&s, v);
            pto_spec_result(&s, with_space(v, next));
            pto_spec_name(&s, moved_name(v, next));
            moved = pto_spec_value(&s, pto_before(user));
            if (!PTO_SOME(moved)) return moved;
            pto_stat_add(run, STAT_MOVES, 1);
        }
        v = moved;
    }
    return v;
}

static pto_status check_store(const pto_run *run, pto_op store, const char *code)
{
    pto_value v = pto_op_operand(store, 0);
    pto_type type = pto_value_type(v);
    pto_space from = pto_type_space(type);
    pto_dtype have = pto_type_dtype(type),
              want = pto_type_dtype(pto_value_type(pto_op_operand(store, pto_op_operand_count(store) - 1)));
    const pto_space global = tile_global(run);
    if (!tile_has_path(run, from, global))
        return pto_error(store, code, "`tile.store` takes %%%.*s from `%s`; %.*s has no path from `%s` to `%s`",
                         PTO_FMT(pto_value_name(v)), pto_space_name(run, from), PTO_FMT(tile_machine_name(run)),
                         pto_space_name(run, from), pto_space_name(run, global));
    const int is_scaled = pto_op_operand_count(store) > 2 || PTO_SOME(pto_op_attr(store, PTO_STR("scale")));
    if (is_scaled || tile_path_casts(run, from, global, have, want)) return PTO_OK; /* pto.select looks at scales */
    pto_str casts = tile_path_list(run, from, global, "casts");
    return pto_error(store, code,
                     "`tile.store` writes %s as %s; the path from `%s` to `%s` of %.*s changes element types by: %.*s; "
                     "use `tile.cast` before it",
                     pto_dtype_name(have), pto_dtype_name(want), pto_space_name(run, from), pto_space_name(run, global),
                     PTO_FMT(tile_machine_name(run)), PTO_FMT(casts.n != 0 ? casts : PTO_STR("none")));
}

static pto_status check_move(const pto_run *run, pto_op move, const char *code)
{
    pto_type a = pto_value_type(pto_op_operand(move, pto_op_operand_count(move) - 1)),
             b = pto_value_type(pto_op_result(move, 0));
    pto_space from = pto_type_space(a), to = pto_type_space(b);
    if (!tile_has_path(run, from, to))
        return pto_error(move, code, "`tile.move` goes from `%s` to `%s`; %.*s has no path between them",
                         pto_space_name(run, from), pto_space_name(run, to), PTO_FMT(tile_machine_name(run)));
    if (tile_path_casts(run, from, to, pto_type_dtype(a), pto_type_dtype(b))) return PTO_OK;
    return pto_error(move, code, "`tile.move` makes %s of %s; the path from `%s` to `%s` of %.*s does not",
                     pto_dtype_name(pto_type_dtype(b)), pto_dtype_name(pto_type_dtype(a)), pto_space_name(run, from),
                     pto_space_name(run, to), PTO_FMT(tile_machine_name(run)));
}

static pto_status rewrite_uses(const pto_run *run, const routes *r, pto_op op)
{
    const uint32_t transfer = pto_op_transfer(op);
    if (transfer == PTO_TRANSFER_MOVE) return check_move(run, op, "pto.assign-spaces/illegal-move");
    if (transfer == PTO_TRANSFER_STORE) PTO_TRY(check_store(run, op, "pto.assign-spaces/illegal-store"));
    for (uint32_t i = transfer == PTO_TRANSFER_STORE ? 1 : 0; i < pto_op_operand_count(op); i++) {
        pto_value v = pto_op_operand(op, i);
        pto_space want = operand_space(run, op, i);
        if (want == PTO_SPACE_NONE || !tile_is_tile(v) || pto_type_space(pto_value_type(v)) == want) continue;
        pto_value moved = move_to(run, r, op, v, want);
        PTO_NEED(moved);
        PTO_TRY(pto_op_set_operand(op, i, moved));
    }
    return PTO_OK;
}

/* Tile values, and uses of tiles as value operands. */
static void count_tiles(pto_op function, uint32_t *out_values, uint32_t *out_uses)
{
    PTO_WALK(function, op)
    {
        *out_values += pto_op_result_count(op);
        *out_uses += pto_op_operand_count(op);
        for (uint32_t b = 0, blocks = pto_op_block_count(op); b < blocks; b++)
            *out_values += pto_block_arg_count(pto_op_block_at(op, b));
    }
}

/* Lists the uses of each class; to be called when all classes are joined. */
static void list_uses(classes *c, pto_op function)
{
    uint32_t count = 0;
    PTO_WALK(function, op)
    {
        for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
            if (!tile_is_tile(pto_op_operand(op, i))) continue;
            tile_class *k = &c->items[class_of(c, pto_op_operand(op, i))];
            c->uses[count++] = (tile_use){.op = op, .slot = i, .next = k->first_use};
            k->first_use = count;
        }
    }
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    uint32_t values = 0, uses = 0;
    count_tiles(function, &values, &uses);
    classes c = {.run = run, .routes = find_routes(run), .capacity = 64};
    while (c.capacity < 2 * values) c.capacity *= 2;
    c.items = PTO_SCRATCH(run, tile_class, values + 1);
    c.slots = PTO_SCRATCH(run, uint32_t, c.capacity);
    c.uses = PTO_SCRATCH(run, tile_use, uses);
    PTO_WALK(function, op) PTO_TRY(collect(&c, op));
    list_uses(&c, function);
    for (uint32_t i = 0; i < c.count; i++)
        if (class_of(&c, c.items[i].value) == i && c.items[i].space == PTO_SPACE_NONE) PTO_TRY(choose_space(&c, i));
    for (uint32_t i = 0; i < c.count; i++) {
        pto_value v = c.items[i].value;
        PTO_TRY(pto_value_set_type(v, with_space(v, c.items[class_of(&c, v)].space)));
        pto_stat_add(run, STAT_ASSIGNED, 1);
    }
    PTO_WALK(function, user) PTO_TRY(rewrite_uses(run, c.routes, user));
    return PTO_OK;
}

/* ---- the property ---- */

static pto_status check_value(pto_op at, pto_value v)
{
    if (!tile_is_tile(v) || pto_type_space(pto_value_type(v)) != PTO_SPACE_NONE) return PTO_OK;
    return pto_error(at, "pto.spaces-assigned/no-space", "%%%.*s has no memory space", PTO_FMT(pto_value_name(v)));
}

static pto_status check_op(const pto_run *run, pto_op op)
{
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) PTO_TRY(check_value(op, pto_op_result(op, i)));
    for (uint32_t b = 0, blocks = pto_op_block_count(op); b < blocks; b++) {
        pto_block block = pto_op_block_at(op, b);
        for (uint32_t i = 0, end = pto_block_arg_count(block); i < end; i++)
            PTO_TRY(check_value(op, pto_block_arg(block, i)));
    }
    const uint32_t transfer = pto_op_transfer(op);
    if (transfer == PTO_TRANSFER_MOVE) return check_move(run, op, "pto.spaces-assigned/illegal-move");
    if (transfer == PTO_TRANSFER_STORE) return check_store(run, op, "pto.spaces-assigned/illegal-store");
    if (transfer != PTO_TRANSFER_LOAD) return PTO_OK;
    pto_space to = pto_type_space(pto_value_type(pto_op_result(op, 0)));
    if (tile_has_path(run, tile_global(run), to)) return PTO_OK;
    pto_str machine = tile_machine_name(run);
    return pto_error(op, "pto.spaces-assigned/illegal-load",
                     "`tile.load` goes to `%s`; %.*s has no path from `%s` to it", pto_space_name(run, to),
                     PTO_FMT(machine), pto_space_name(run, tile_global(run)));
}

static pto_status check_assigned(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op) PTO_TRY(check_op(run, op));
    return PTO_OK;
}

static const pto_property assigned = {
    .struct_size = sizeof assigned,
    .id = "pto.spaces-assigned",
    .doc = "every tile has a memory space; loads, moves and stores follow paths of the machine",
    .level = "tile/1",
    .kinds = pass_kinds,
    .check = check_assigned,
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.assign-spaces",
    .summary = "Give every tile a memory space, with moves along the machine's paths",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.bufferized"),
    .establishes = PTO_STRS("pto.spaces-assigned"),
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.assign-spaces", "pass:pto.assign-spaces property:pto.spaces-assigned", "pto.spaces-assigned",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &assigned));
