/* Expressions: nodes, uniquing and the simplifications that the builders make.
 *
 * Arguments of a node are in print order. A sum: terms with positive coefficient, then those with negative one.
 * Inside these, and in products, min and max (constant first): terms with slots as written, then terms without slots in
 * structural order, which looks at spellings and never at ids. */
#include "ir/context/context_impl.h"

/* What a sum, product, min or max is collected in before it becomes a node. */
enum { TERMS_CAPACITY = 2 * EXPR_MAX_ARGS + 2 };
typedef struct term_list {
    uint32_t count;
    int64_t value;
    expr_id args[TERMS_CAPACITY];
    int64_t coefs[TERMS_CAPACITY];
} term_list;

/* ---- uniquing ---- */

static bool node_eq(const expr_node *a, const expr_node *b)
{
    if (a->kind != b->kind || a->arg_count != b->arg_count || a->value != b->value) return false;
    if (a->arg_count != 0 && memcmp(a->args, b->args, a->arg_count * sizeof *a->args) != 0) return false;
    return a->kind != EXPR_SUM || memcmp(a->coefs, b->coefs, a->arg_count * sizeof *a->coefs) == 0;
}

static uint32_t node_hash(const expr_node *n)
{
    uint64_t h = hash_step((uint64_t)n->kind << 16 | n->arg_count, (uint64_t)n->value);
    for (uint32_t i = 0; i < n->arg_count; i++) {
        h = hash_step(h, n->args[i]);
        if (n->kind == EXPR_SUM) h = hash_step(h, (uint64_t)n->coefs[i]);
    }
    return hash_end(h);
}

static expr_id node_intern(ir_context *c, expr_node wanted)
{
    uint32_t hash = node_hash(&wanted);
    INTERN_EACH(&c->expr_index, hash, found)
    {
        if (node_eq(expr_at(c, found), &wanted)) return found;
    }
    uint32_t depth = 0, size = 1;
    for (uint32_t i = 0; i < wanted.arg_count; i++) {
        const expr_node *arg = expr_at(c, wanted.args[i]);
        wanted.has_slot |= arg->has_slot;
        wanted.has_symbol |= arg->has_symbol;
        if (arg->depth > depth) depth = arg->depth;
        size += arg->size;
    }
    if (depth >= EXPR_MAX_DEPTH || size > EXPR_MAX_SIZE) return 0;
    wanted.depth = (uint8_t)(depth + 1);
    wanted.size = (uint16_t)size;
    if (wanted.arg_count != 0) {
        size_t count = wanted.arg_count;
        int64_t *coefs = NULL;
        if (wanted.kind == EXPR_SUM) {
            coefs = arena_alloc_aligned(c->memory, count * sizeof *coefs, sizeof *coefs);
            memcpy(coefs, wanted.coefs, count * sizeof *coefs);
        }
        expr_id *args = arena_alloc_aligned(c->memory, count * sizeof *args, sizeof *args);
        memcpy(args, wanted.args, count * sizeof *args);
        wanted.args = args;
        wanted.coefs = coefs;
    }
    expr_id id;
    expr_node *n = id_table_add(c, &c->tables.exprs, &id);
    *n = wanted;
    intern_add(&c->expr_index, hash, id);
    return id;
}

expr_id expr_const(ir_context *c, int64_t v)
{
    if (v == INT64_MIN) return 0;
    return node_intern(c, (expr_node){.kind = EXPR_CONST, .value = v});
}

expr_id expr_symbol(ir_context *c, str_id name)
{
    return node_intern(c, (expr_node){.kind = EXPR_SYMBOL, .value = name, .has_symbol = true});
}

expr_id expr_slot(ir_context *c, uint32_t slot)
{
    return node_intern(c, (expr_node){.kind = EXPR_SLOT, .value = slot, .has_slot = true});
}

expr_id expr_value(ir_context *c, uint32_t value)
{
    return node_intern(c, (expr_node){.kind = EXPR_VALUE, .value = value, .has_slot = true});
}

/* ---- order ---- */

/* Structural order of two expressions without slots. Recursion is bounded by EXPR_MAX_DEPTH. */
static int expr_order(const ir_context *c, expr_id a, expr_id b)
{
    if (a == b) return 0;
    const expr_node *x = expr_at(c, a), *y = expr_at(c, b);
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == EXPR_SYMBOL) return spelling_order(c, (str_id)x->value, (str_id)y->value);
    for (uint32_t i = 0; i < x->arg_count && i < y->arg_count; i++) {
        int order = expr_order(c, x->args[i], y->args[i]);
        if (order != 0) return order;
        if (x->kind == EXPR_SUM && x->coefs[i] != y->coefs[i]) return x->coefs[i] < y->coefs[i] ? -1 : 1;
    }
    if (x->arg_count != y->arg_count) return x->arg_count < y->arg_count ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static bool term_precedes(const ir_context *c, expr_id a, int64_t a_coef, expr_id b, int64_t b_coef)
{
    if ((a_coef < 0) != (b_coef < 0)) return b_coef < 0;
    const expr_node *x = expr_at(c, a), *y = expr_at(c, b);
    if ((x->kind == EXPR_CONST) != (y->kind == EXPR_CONST)) return x->kind == EXPR_CONST;
    if (x->has_slot != y->has_slot) return x->has_slot;
    return !x->has_slot && expr_order(c, a, b) < 0;
}

/* Insertion: lists are short and nearly in order, and terms with slots must keep theirs. */
static void terms_sort(const ir_context *c, term_list *t)
{
    for (uint32_t i = 1; i < t->count; i++) {
        expr_id arg = t->args[i];
        int64_t coef = t->coefs[i];
        uint32_t k = i;
        for (; k > 0 && term_precedes(c, arg, coef, t->args[k - 1], t->coefs[k - 1]); k--) {
            t->args[k] = t->args[k - 1];
            t->coefs[k] = t->coefs[k - 1];
        }
        t->args[k] = arg;
        t->coefs[k] = coef;
    }
}

static void terms_put(term_list *t, expr_id arg, int64_t coef)
{
    BUG_IF(t->count >= TERMS_CAPACITY, "a term list overflows");
    t->args[t->count] = arg;
    t->coefs[t->count++] = coef;
}

/* ---- sums ---- */

static bool sum_add_term(term_list *t, expr_id arg, int64_t coef)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->args[i] == arg) return !__builtin_add_overflow(t->coefs[i], coef, &t->coefs[i]);
    }
    terms_put(t, arg, coef);
    return true;
}

/* Adds factor * e; false on overflow. */
static bool sum_add(const ir_context *c, term_list *t, expr_id e, int64_t factor)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind != EXPR_CONST && n->kind != EXPR_SUM) return sum_add_term(t, e, factor);
    int64_t value;
    if (__builtin_mul_overflow(n->value, factor, &value)) return false;
    if (__builtin_add_overflow(t->value, value, &t->value)) return false;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        int64_t coef;
        if (__builtin_mul_overflow(n->coefs[i], factor, &coef)) return false;
        if (!sum_add_term(t, n->args[i], coef)) return false;
    }
    return true;
}

static expr_id sum_end(ir_context *c, term_list *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->coefs[i] == 0) continue;
        if (t->coefs[i] == INT64_MIN) return 0;
        t->args[kept] = t->args[i];
        t->coefs[kept++] = t->coefs[i];
    }
    t->count = kept;
    if (kept == 0) return expr_const(c, t->value);
    if (kept == 1 && t->value == 0 && t->coefs[0] == 1) return t->args[0];
    if (t->value == INT64_MIN || kept > EXPR_MAX_ARGS) return 0;
    terms_sort(c, t);
    return node_intern(
        c, (expr_node){
               .kind = EXPR_SUM, .arg_count = (uint16_t)kept, .value = t->value, .args = t->args, .coefs = t->coefs});
}

/* a + factor * b */
static expr_id sum_of(ir_context *c, expr_id a, expr_id b, int64_t factor)
{
    if (a == 0 || b == 0) return 0;
    term_list t;
    t.count = 0;
    t.value = 0;
    if (!sum_add(c, &t, a, 1) || !sum_add(c, &t, b, factor)) return 0;
    return sum_end(c, &t);
}

expr_id expr_sum(ir_context *c, int64_t value, uint32_t count, const expr_id *args, const int64_t *coefs)
{
    term_list t;
    t.count = 0;
    t.value = value;
    for (uint32_t i = 0; i < count; i++) {
        if (args[i] == 0 || !sum_add(c, &t, args[i], coefs[i])) return 0;
        /* Arguments that are sums bring terms of their own. */
        if (t.count > EXPR_MAX_ARGS) return 0;
    }
    return sum_end(c, &t);
}

static expr_id scale(ir_context *c, expr_id e, int64_t factor)
{
    term_list t;
    t.count = 0;
    t.value = 0;
    return sum_add(c, &t, e, factor) ? sum_end(c, &t) : 0;
}

expr_id expr_add(ir_context *c, expr_id a, expr_id b) { return sum_of(c, a, b, 1); }

expr_id expr_sub(ir_context *c, expr_id a, expr_id b) { return sum_of(c, a, b, -1); }

/* ---- products ---- */

int64_t common_divisor(int64_t a, int64_t b)
{
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Greatest common divisor of the constant and all coefficients; 1 when e is neither constant nor sum. */
static int64_t content_of(const expr_node *n)
{
    if (n->kind == EXPR_CONST) return common_divisor(n->value, 0);
    if (n->kind != EXPR_SUM) return 1;
    int64_t g = common_divisor(n->value, 0);
    for (uint32_t i = 0; i < n->arg_count; i++) g = common_divisor(g, n->coefs[i]);
    return g;
}

/* e / divisor, which divides the constant and all coefficients. */
static expr_id divide_exactly(ir_context *c, expr_id e, int64_t divisor)
{
    const expr_node *n = expr_at(c, e);
    if (divisor == 1) return e;
    if (n->kind == EXPR_CONST) return expr_const(c, n->value / divisor);
    BUG_IF(n->kind != EXPR_SUM, "only constants and sums have a content above 1");
    term_list t;
    t.count = 0;
    t.value = n->value / divisor;
    for (uint32_t i = 0; i < n->arg_count; i++) terms_put(&t, n->args[i], n->coefs[i] / divisor);
    return sum_end(c, &t);
}

/* Splits off the content, negative when everything in a sum is, and adds the factors of the rest. */
static bool product_add(ir_context *c, term_list *t, expr_id e, int64_t *coef)
{
    const expr_node *n = expr_at(c, e);
    int64_t content = content_of(n);
    /* Negative terms are last, so the first one tells of all. */
    if (n->kind == EXPR_SUM && n->coefs[0] < 0 && n->value <= 0) content = -content;
    if (__builtin_mul_overflow(*coef, content, coef)) return false;
    e = divide_exactly(c, e, content);
    if (e == 0) return false;
    n = expr_at(c, e);
    if (n->kind != EXPR_PRODUCT) {
        terms_put(t, e, 1);
        return true;
    }
    for (uint32_t i = 0; i < n->arg_count; i++) terms_put(t, n->args[i], 1);
    return true;
}

expr_id expr_mul(ir_context *c, expr_id a, expr_id b)
{
    if (a == 0 || b == 0) return 0;
    int64_t constant;
    if (expr_is_const(c, b, &constant)) return scale(c, a, constant);
    if (expr_is_const(c, a, &constant)) return scale(c, b, constant);
    term_list t;
    t.count = 0;
    int64_t coef = 1;
    if (!product_add(c, &t, a, &coef) || !product_add(c, &t, b, &coef)) return 0;
    if (t.count > EXPR_MAX_ARGS) return 0;
    terms_sort(c, &t);
    expr_id e = node_intern(c, (expr_node){.kind = EXPR_PRODUCT, .arg_count = (uint16_t)t.count, .args = t.args});
    return e == 0 ? 0 : scale(c, e, coef);
}

/* ---- division ---- */

static expr_id binary(ir_context *c, expr_kind kind, expr_id a, expr_id b)
{
    const expr_id args[2] = {a, b};
    return node_intern(c, (expr_node){.kind = (uint8_t)kind, .arg_count = 2, .args = args});
}

/* True when b is a constant, which is then at least 1 or *failed is set. */
static bool constant_divisor(const ir_context *c, expr_id b, int64_t *out, bool *failed)
{
    if (!expr_is_const(c, b, out)) return false;
    *failed = *out < 1;
    return true;
}

static expr_id divide(ir_context *c, expr_kind kind, expr_id a, expr_id b)
{
    if (a == 0 || b == 0) return 0;
    int64_t divisor, dividend;
    bool failed;
    if (!constant_divisor(c, b, &divisor, &failed)) return binary(c, kind, a, b);
    if (failed) return 0;
    if (expr_is_const(c, a, &dividend)) {
        int64_t quotient = dividend / divisor, rest = dividend % divisor;
        if (kind == EXPR_FLOORDIV && rest < 0) quotient--;
        if (kind == EXPR_CEILDIV && rest > 0) quotient++;
        return expr_const(c, quotient);
    }
    int64_t common = common_divisor(content_of(expr_at(c, a)), divisor);
    a = divide_exactly(c, a, common);
    if (a == 0 || divisor == common) return a;
    return binary(c, kind, a, expr_const(c, divisor / common));
}

expr_id expr_floordiv(ir_context *c, expr_id a, expr_id b) { return divide(c, EXPR_FLOORDIV, a, b); }

expr_id expr_ceildiv(ir_context *c, expr_id a, expr_id b) { return divide(c, EXPR_CEILDIV, a, b); }

expr_id expr_mod(ir_context *c, expr_id a, expr_id b)
{
    if (a == 0 || b == 0) return 0;
    int64_t divisor, dividend;
    bool failed;
    if (!constant_divisor(c, b, &divisor, &failed)) return binary(c, EXPR_MOD, a, b);
    if (failed) return 0;
    if (expr_is_const(c, a, &dividend)) {
        int64_t rest = dividend % divisor;
        return expr_const(c, rest < 0 ? rest + divisor : rest);
    }
    if (content_of(expr_at(c, a)) % divisor == 0) return expr_const(c, 0);
    return binary(c, EXPR_MOD, a, b);
}

/* ---- min and max ---- */

static void choice_add_one(const ir_context *c, term_list *t, bool is_min, bool *has_const, expr_id e)
{
    int64_t v;
    if (expr_is_const(c, e, &v)) {
        if (!*has_const || (is_min ? v < t->value : v > t->value)) t->value = v;
        *has_const = true;
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->args[i] == e) return;
    }
    terms_put(t, e, 1);
}

static void choice_add(const ir_context *c, term_list *t, expr_kind kind, bool *has_const, expr_id e)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind != kind) {
        choice_add_one(c, t, kind == EXPR_MIN, has_const, e);
        return;
    }
    for (uint32_t i = 0; i < n->arg_count; i++) choice_add_one(c, t, kind == EXPR_MIN, has_const, n->args[i]);
}

static expr_id choice(ir_context *c, expr_kind kind, expr_id a, expr_id b)
{
    if (a == 0 || b == 0) return 0;
    term_list t;
    t.count = 0;
    t.value = 0;
    bool has_const = false;
    choice_add(c, &t, kind, &has_const, a);
    choice_add(c, &t, kind, &has_const, b);
    if (has_const) terms_put(&t, expr_const(c, t.value), 1);
    if (t.count == 1) return t.args[0];
    if (t.count > EXPR_MAX_ARGS) return 0;
    terms_sort(c, &t);
    return node_intern(c, (expr_node){.kind = (uint8_t)kind, .arg_count = (uint16_t)t.count, .args = t.args});
}

expr_id expr_min(ir_context *c, expr_id a, expr_id b) { return choice(c, EXPR_MIN, a, b); }

expr_id expr_max(ir_context *c, expr_id a, expr_id b) { return choice(c, EXPR_MAX, a, b); }
