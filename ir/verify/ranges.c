#include "ir/verify/ranges.h"

#include "ir/module_impl.h"
#include "ir/tune.h"

enum { DEPTH_MAX = 16, EVALUATIONS_MAX = 256, MEMO_COUNT = 16 };

/* One question. The memo keeps a nest whose bounds mention outer indices twice from costing 2^depth. */
typedef struct range_query {
    module *m;
    op_id at, function;
    uint32_t depth, evaluations;
    bool was_cut;   /* a bound is unknown since it is too far out */
    bool is_placed; /* the answer is that at this op alone */
    struct {
        value_id value;
        bool known;
        expr_range range;
    } memo[MEMO_COUNT];
    str_id symbol; /* the parameter's that was asked for last, and its range */
    expr_range symbol_range;
} range_query;

static const expr_range unbounded = {INT64_MIN, INT64_MAX};

expr_id attr_as_expr(ir_context *c, attr_id a)
{
    if (a == 0) return 0;
    const attr_node *n = attr_at(c, a);
    if (n->kind == ATTR_EXPR) return n->id;
    return n->kind == ATTR_INT && !n->is_large ? expr_const(c, n->i) : 0;
}

bool known_read(ir_context *c, attr_id item, str *out_name, expr_id *out_value)
{
    const attr_node *n = attr_at(c, item);
    if (n->kind != ATTR_LIST || n->count != 2 || attr_at(c, n->items[0])->kind != ATTR_STRING) return false;
    *out_name = string_of(c, attr_at(c, n->items[0])->id);
    *out_value = attr_as_expr(c, n->items[1]);
    return out_name->n != 0 && *out_value != 0;
}

bool fact_read(const ir_context *c, attr_id fact, relation *out_relation, expr_id *out_left, expr_id *out_right)
{
    const attr_node *n = attr_at(c, fact);
    if (n->kind != ATTR_LIST || n->count != 3) return false;
    const attr_node *word = attr_at(c, n->items[0]);
    const attr_node *left = attr_at(c, n->items[1]);
    const attr_node *right = attr_at(c, n->items[2]);
    if (word->kind != ATTR_STRING || left->kind != ATTR_EXPR || right->kind != ATTR_EXPR) return false;
    *out_relation = relation_by_name(string_of(c, word->id));
    *out_left = left->id;
    *out_right = right->id;
    return *out_relation != RELATION_NONE;
}

static bool is_symbol(const ir_context *c, expr_id e, str_id name)
{
    const expr_node *n = expr_at(c, e);
    return n->kind == EXPR_SYMBOL && (str_id)n->value == name;
}

static void narrow(expr_range *r, relation rel, int64_t bound)
{
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    if (rel == RELATION_EQ || rel == RELATION_GE) lo = bound;
    if (rel == RELATION_GT && bound < INT64_MAX) lo = bound + 1;
    if (rel == RELATION_EQ || rel == RELATION_LE) hi = bound;
    if (rel == RELATION_LT && bound > INT64_MIN) hi = bound - 1;
    if (lo > r->lo) r->lo = lo;
    if (hi < r->hi) r->hi = hi;
}

static relation mirrored(relation rel)
{
    switch (rel) {
    case RELATION_LT: return RELATION_GT;
    case RELATION_LE: return RELATION_GE;
    case RELATION_GT: return RELATION_LT;
    case RELATION_GE: return RELATION_LE;
    default: return rel;
    }
}

static void narrow_by_facts(const module *m, op_id function, str_id name, expr_range *r)
{
    const ir_context *c = module_context(m);
    attr_id facts = op_attr(m, function, "facts");
    if (facts == 0 || attr_at(c, facts)->kind != ATTR_LIST) return;
    for (uint32_t i = 0; i < attr_at(c, facts)->count; i++) {
        relation rel;
        expr_id left, right;
        int64_t bound;
        if (!fact_read(c, attr_at(c, facts)->items[i], &rel, &left, &right)) continue;
        if (is_symbol(c, left, name) && expr_is_const(c, right, &bound)) narrow(r, rel, bound);
        if (is_symbol(c, right, name) && expr_is_const(c, left, &bound)) narrow(r, mirrored(rel), bound);
    }
}

typedef struct symbol_search {
    str_id name;
    bool found;
} symbol_search;

static void match_symbol(void *self, str_id name)
{
    symbol_search *s = self;
    s->found = s->found || s->name == name;
}

bool is_parameter_symbol(const module *m, op_id function, str_id name)
{
    const ir_context *c = module_context(m);
    block_id body = function_body(m, function);
    symbol_search s = {name, false};
    for (uint32_t i = 0; i < block_arg_count(m, body) && !s.found; i++) {
        const type_node *t = type_at(c, value_type(m, block_arg(m, body, i)));
        if (t->kind != TYPE_TENSOR && t->kind != TYPE_GM) continue;
        for (uint32_t k = 0; k < t->rank; k++) expr_visit_symbols(c, t->dims[k], match_symbol, &s);
    }
    return s.found;
}

/* The `bind` or `tune` of a symbol that is in force at an op; 0 when there is none. */
static op_id find_bind(const module *m, op_id at, str_id name)
{
    const ir_context *c = module_context(m);
    for (op_id o = at; o != 0 && (op_info_of(m, o)->traits & TRAIT_FUNCTION) == 0; o = op_parent(m, o))
        for (op_id b = op_prev(m, o); b != 0; b = op_prev(m, b))
            if ((op_kind_of(m, b) == OP_BIND || op_kind_of(m, b) == OP_TUNE) &&
                str_eq(op_attr_str(m, b, "symbol"), string_of(c, name)))
                return b;
    return 0;
}

static expr_range query_range(range_query *q, op_id at, expr_id e);

static bool symbol_range(void *self, str_id name, expr_range *out)
{
    range_query *q = self;
    *out = q->symbol == name ? q->symbol_range : (expr_range){0, INT64_MAX};
    if (q->function == 0 || q->symbol == name) return out->lo <= out->hi;
    narrow_by_facts(q->m, q->function, name, out);
    if (is_parameter_symbol(q->m, q->function, name)) {
        q->symbol = name;
        q->symbol_range = *out;
        return out->lo <= out->hi;
    }
    q->is_placed |= q->depth == 1;
    op_id bind = find_bind(q->m, q->at, name);
    if (bind == 0) return out->lo <= out->hi;
    if (q->depth >= DEPTH_MAX) {
        q->was_cut = true;
        return out->lo <= out->hi;
    }
    if (op_kind_of(q->m, bind) == OP_TUNE) {
        tune_range t = tune_range_of(q->m, bind);
        narrow(out, RELATION_GE, t.lo);
        narrow(out, RELATION_LE, t.hi);
        return out->lo <= out->hi;
    }
    int64_t lo = query_range(q, bind, op_index_expr(q->m, bind, "lo", 0)).lo;
    int64_t hi = query_range(q, bind, op_index_expr(q->m, bind, "hi", 0)).hi;
    if (lo > out->lo) out->lo = lo;
    if (hi < out->hi) out->hi = hi;
    return out->lo <= out->hi;
}

/* The bounds of a loop; 0 for those that it does not have. */
typedef struct loop_exprs {
    expr_id from, to, step;
} loop_exprs;

static loop_exprs loop_bounds(const module *m, op_id loop)
{
    return (loop_exprs){op_index_expr(m, loop, "from", 0), op_index_expr(m, loop, "to", 0),
                        op_index_expr(m, loop, "step", 0)};
}

static bool constant_bounds(const ir_context *c, const loop_exprs *e, int64_t *from, int64_t *to, int64_t *step)
{
    if (e->from == 0 || e->to == 0 || e->step == 0) return false;
    return expr_is_const(c, e->from, from) && expr_is_const(c, e->to, to) && expr_is_const(c, e->step, step) &&
           *step > 0;
}

bool loop_constant_bounds(module *m, op_id loop, int64_t *from, int64_t *to, int64_t *step)
{
    const loop_exprs e = loop_bounds(m, loop);
    return constant_bounds(module_context(m), &e, from, to, step);
}

static expr_range for_index_range(range_query *q, op_id loop)
{
    int64_t from, to, step;
    const loop_exprs e = loop_bounds(q->m, loop);
    if (constant_bounds(module_context(q->m), &e, &from, &to, &step)) {
        uint64_t span = from < to ? (uint64_t)(to - 1) - (uint64_t)from : 0;
        if (from >= to) return unbounded;
        return (expr_range){from, from + (int64_t)(span / (uint64_t)step * (uint64_t)step)};
    }
    expr_range r = {query_range(q, loop, e.from).lo, query_range(q, loop, e.to).hi};
    if (r.hi != INT64_MAX && r.hi != INT64_MIN) r.hi--;
    return r;
}

static expr_range extent_range(range_query *q, op_id at, expr_id extent)
{
    int64_t hi = extent == 0 ? INT64_MAX : query_range(q, at, extent).hi;
    return (expr_range){0, hi == INT64_MAX || hi == INT64_MIN ? INT64_MAX : hi - 1};
}

/* Interval of a value by where it comes from. An empty one means that the code is never reached: no bound then. */
static expr_range compute_value_range(range_query *q, value_id v)
{
    module *m = q->m;
    ir_context *c = module_context(m);
    op_id def = value_op(m, v);
    if (def != 0) {
        attr_id a = op_kind_of(m, def) == OP_CONSTANT ? op_attr(m, def, "value") : 0;
        if (a == 0 || attr_at(c, a)->kind != ATTR_INT) return unbounded;
        return (expr_range){attr_at(c, a)->i, attr_at(c, a)->i};
    }
    op_id owner = block_parent(m, value_block(m, v));
    uint32_t index = value_index(m, v);
    if (owner == 0) return unbounded;
    switch (op_kind_of(m, owner)) {
    case OP_FOR: return index == 0 ? for_index_range(q, owner) : unbounded;
    case OP_FORALL:
        if (index >= op_index_count(m, owner, "to")) return unbounded;
        return extent_range(q, owner, op_index_expr(m, owner, "to", index));
    case OP_BLOCK_KERNEL: {
        attr_id grid = op_attr(m, owner, "grid");
        if (grid == 0 || attr_at(c, grid)->kind != ATTR_LIST || index >= attr_at(c, grid)->count) return unbounded;
        return extent_range(q, owner, attr_as_expr(c, attr_at(c, grid)->items[index]));
    }
    default: return unbounded;
    }
}

/* Verification asks for the indices of a nest at each op in it: what was found holds until ranges change. */
static bool value_range(void *self, uint32_t v, expr_range *out)
{
    range_query *q = self;
    uint32_t place = v % MEMO_COUNT;
    range_entry *kept = &q->m->caches->ranges[v % RANGE_ENTRIES];
    if (q->memo[place].known && q->memo[place].value == v) {
        *out = q->memo[place].range;
        return true;
    }
    if (kept->value == v && kept->epoch == range_epoch(q->m)) {
        *out = kept->range;
        return true;
    }
    if (q->depth >= DEPTH_MAX) {
        q->was_cut = true;
        return false;
    }
    *out = compute_value_range(q, v);
    if (out->lo > out->hi) *out = unbounded;
    q->memo[place].value = v;
    q->memo[place].known = true;
    q->memo[place].range = *out;
    if (!q->was_cut) *kept = (range_entry){v, range_epoch(q->m), *out};
    return true;
}

static bool slot_range(void *self, uint32_t slot, expr_range *out)
{
    range_query *q = self;
    q->is_placed |= q->depth == 1;
    if (slot >= op_operand_count(q->m, q->at)) return false;
    return value_range(q, op_operand(q->m, q->at, slot), out);
}

static expr_range query_range(range_query *q, op_id at, expr_id e)
{
    if (e == 0) return unbounded;
    if (++q->evaluations > EVALUATIONS_MAX) {
        q->was_cut = true;
        return unbounded;
    }
    op_id outer = q->at;
    q->at = at;
    q->depth++;
    expr_ranges r = {symbol_range, slot_range, value_range, q};
    expr_range out = expr_bounds(module_context(q->m), e, &r);
    q->depth--;
    q->at = outer;
    return out;
}

expr_range op_expr_range(module *m, op_id at, expr_id e)
{
    int64_t number;
    if (e == 0) return unbounded;
    if (expr_is_const(module_context(m), e, &number)) return (expr_range){number, number};
    const op_id function = op_function(m, at);
    expr_range_entry *kept = &m->caches->expr_ranges[(e ^ function) % RANGE_ENTRIES];
    if (kept->expr == e && kept->function == function && kept->epoch == range_epoch(m)) return kept->range;
    range_query q = {.m = m, .at = at, .function = function};
    const expr_range range = query_range(&q, at, e);
    if (!q.was_cut && !q.is_placed) *kept = (expr_range_entry){e, function, range_epoch(m), range};
    return range;
}

/* An index that runs through all numbers of a constant range; its loop is around `at` since it is visible there. */
static bool is_full_index(const module *m, value_id v)
{
    ir_context *c = module_context(m);
    op_id owner = value_op(m, v) != 0 ? 0 : block_parent(m, value_block(m, v));
    uint32_t index = value_index(m, v);
    int64_t number;
    if (owner == 0) return false;
    switch (op_kind_of(m, owner)) {
    case OP_FOR: {
        expr_id bounds[] = {op_index_expr(m, owner, "from", 0), op_index_expr(m, owner, "to", 0),
                            op_index_expr(m, owner, "step", 0)};
        for (uint32_t i = 0; i < 3; i++)
            if (bounds[i] == 0 || !expr_is_const(c, bounds[i], &number)) return false;
        return index == 0 && number > 0;
    }
    case OP_FORALL: {
        expr_id extent = index < op_index_count(m, owner, "to") ? op_index_expr(m, owner, "to", index) : 0;
        return extent != 0 && expr_is_const(c, extent, &number) && number > 0;
    }
    case OP_BLOCK_KERNEL: {
        attr_id grid = op_attr(m, owner, "grid");
        bool is_grid = grid != 0 && attr_at(c, grid)->kind == ATTR_LIST && index < attr_at(c, grid)->count;
        expr_id extent = is_grid ? attr_as_expr(c, attr_at(c, grid)->items[index]) : 0;
        return extent != 0 && expr_is_const(c, extent, &number) && number > 0;
    }
    default: return false;
    }
}

static bool is_conditional(const module *m, op_id at)
{
    for (op_id o = op_parent(m, at); o != 0; o = op_parent(m, o))
        if (op_kind_of(m, o) == OP_IF || op_kind_of(m, o) == OP_WHILE) return true;
    return false;
}

bool op_expr_reaches_ends(module *m, op_id at, expr_id e)
{
    const expr_node *n = expr_at(module_context(m), e);
    if (n->kind == EXPR_CONST) return !is_conditional(m, at);
    if (n->kind == EXPR_VALUE) return is_full_index(m, (value_id)n->value) && !is_conditional(m, at);
    if (n->kind != EXPR_SUM) return false;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        const expr_node *leaf = expr_at(module_context(m), n->args[i]);
        if (leaf->kind != EXPR_VALUE || !is_full_index(m, (value_id)leaf->value)) return false;
    }
    return !is_conditional(m, at);
}

static bool is_never_positive(module *m, op_id at, expr_id e) { return e != 0 && op_expr_range(m, at, e).hi <= 0; }

static bool runs_through_nothing(module *m, op_id o)
{
    ir_context *c = module_context(m);
    if (op_kind_of(m, o) == OP_FOR) {
        const expr_id from = op_index_expr(m, o, "from", 0), to = op_index_expr(m, o, "to", 0);
        return from != 0 && to != 0 && is_never_positive(m, o, expr_sub(c, to, from));
    }
    if (op_kind_of(m, o) == OP_FORALL) {
        for (uint32_t i = 0; i < op_index_count(m, o, "to"); i++)
            if (is_never_positive(m, o, op_index_expr(m, o, "to", i))) return true;
    }
    if (op_kind_of(m, o) == OP_BLOCK_KERNEL) {
        const attr_id grid = op_attr(m, o, "grid");
        const bool is_list = grid != 0 && attr_at(c, grid)->kind == ATTR_LIST;
        for (uint32_t i = 0; is_list && i < attr_at(c, grid)->count; i++)
            if (is_never_positive(m, o, attr_as_expr(c, attr_at(c, grid)->items[i]))) return true;
    }
    return false;
}

static bool is_never_entered(module *m, op_id o)
{
    loop_entry *kept = &m->caches->loops[o % LOOP_ENTRIES];
    if (kept->loop != o || kept->epoch != range_epoch(m))
        *kept = (loop_entry){o, runs_through_nothing(m, o), range_epoch(m)};
    return kept->is_never_entered;
}

bool op_is_never_reached(module *m, op_id at)
{
    for (op_id o = op_parent(m, at); o != 0; o = op_parent(m, o))
        if (is_never_entered(m, o)) return true;
    return false;
}

/* ---- multiples: a symbol of which facts say `$S mod 16 == 0` is 16 of what it stands for ---- */

/* The k of a fact `name mod k == 0`; 1 of another one. */
static int64_t fact_factor(const ir_context *c, attr_id fact, str_id name)
{
    relation rel;
    expr_id left, right;
    int64_t rest, k;
    if (!fact_read(c, fact, &rel, &left, &right) || rel != RELATION_EQ) return 1;
    if (expr_is_const(c, left, &rest)) {
        const expr_id other = left;
        left = right;
        right = other;
    }
    const expr_node *n = expr_at(c, left);
    if (n->kind != EXPR_MOD || !is_symbol(c, n->args[0], name) || !expr_is_const(c, n->args[1], &k) || k < 1) return 1;
    return expr_is_const(c, right, &rest) && rest == 0 ? k : 1;
}

typedef struct multiples {
    ir_context *c;
    attr_id facts;
} multiples;

static expr_id as_multiple(void *self, str_id name)
{
    const multiples *u = self;
    const attr_node *facts = attr_at(u->c, u->facts);
    int64_t factor = 1;
    for (uint32_t i = 0; i < facts->count; i++) {
        const int64_t k = fact_factor(u->c, facts->items[i], name);
        if (__builtin_mul_overflow(factor, k / common_divisor(factor, k), &factor)) return 0;
    }
    return factor == 1 ? 0 : expr_mul(u->c, expr_const(u->c, factor), expr_symbol(u->c, name));
}

static bool is_same_of_multiples(module *m, op_id at, expr_id a, expr_id b)
{
    multiples u = {module_context(m), op_attr(m, op_function(m, at), "facts")};
    if (u.facts == 0 || attr_at(u.c, u.facts)->kind != ATTR_LIST) return false;
    const expr_substitution by = {.symbol = as_multiple, .self = &u};
    const expr_id of_a = expr_substitute(u.c, a, &by), of_b = expr_substitute(u.c, b, &by);
    return of_a != 0 && of_b != 0 && expr_same(u.c, of_a, of_b);
}

bool op_expr_same(module *m, op_id at, expr_id a, expr_id b)
{
    if (a == b || a == 0 || b == 0) return a == b;
    ir_context *c = module_context(m);
    int64_t x, y;
    if (expr_is_const(c, a, &x) && expr_is_const(c, b, &y)) return x == y;
    if (expr_same(c, a, b)) return true;
    expr_id difference = expr_sub(c, a, b);
    if (difference == 0) return false;
    expr_range r = op_expr_range(m, at, difference);
    return (r.lo == 0 && r.hi == 0) || is_same_of_multiples(m, at, a, b);
}
