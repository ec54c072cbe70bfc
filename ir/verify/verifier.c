#include "ir/verify/verifier.h"

#include "ir/module_read.h"
#include "ir/tune.h"
#include "ir/verify/verifier_parts.h"
#include "ir/verify/verify_row.h"

#include <inttypes.h>
#include <string.h>

enum { ATTR_CACHE = 256, ACCEPTED_CACHE_MAX = 1024, ACCEPTED_OPERANDS = 3, PROBLEMS_MAX = 100 };

/* An op that passed and of which nothing counts but kind, attributes and types: the next one like it passes without a
 * look at its row. Of 100,000 elementwise ops that saves a third of the instructions that it takes to read, check and
 * print them. */
typedef struct accepted_op {
    uint32_t serial; /* of the function */
    op_kind kind;
    uint16_t operands;
    attr_id attrs;
    type_id result;
    type_id types[ACCEPTED_OPERANDS];
} accepted_op;

_Static_assert(sizeof(accepted_op) == (4 + ACCEPTED_OPERANDS) * sizeof(uint32_t), "compared by memcmp: no padding");

typedef struct symbol_mark {
    uint32_t serial;
    block_id block; /* of its `bind`; 0: bound by a parameter or `tune` */
    op_id tune;     /* its `tune`, when it has one */
} symbol_mark;

typedef struct attr_mark {
    uint32_t serial;
    op_kind kind;
    attr_id attrs;
    uint32_t operands;
} attr_mark;

typedef struct call_edge {
    op_id caller, call, callee;
} call_edge;

/* Scratch of one verification. A value is visible when it is marked and the block that defines it is still open. */
typedef struct verifier {
    module *m;
    ir_context *c;
    uint64_t *defined; /* a bit for each value */
    bool *open;
    uint32_t *type_seen; /* serial of the function in which all symbols of the type are bound by parameters */
    size_t type_capacity;
    symbol_mark *symbols;
    size_t symbol_capacity;
    accepted_op *accepted; /* a place for each hash, 2^n of them */
    size_t accepted_count;
    attr_mark attrs[ATTR_CACHE];
    call_edge *calls;
    size_t call_count, call_capacity;
    uint32_t serial;
    uint32_t problems;
    op_id function;
    ir_level level;
    uint32_t depth; /* of open blocks */
    bool kernel, has_tokens, has_parallel;
    op_id at;            /* for callbacks */
    bool unbound, local; /* a symbol was missing; a symbol came from `bind` */
    bool plain;          /* a symbol was seen that is not that of `tune` */
    op_id tune;          /* a symbol of it was seen */
    bool attrs_local;    /* `local` for the attributes of the op at hand */
    str_id missing;
} verifier;

static void verifier_init(verifier *v, module *m)
{
    size_t none = 0;
    *v = (verifier){.m = m, .c = module_context(m)};
    v->defined = table_grow(NULL, &none, m->values.count / 64 + 1, sizeof *v->defined);
    none = 0;
    v->open = table_grow(NULL, &none, m->blocks.count + 1, sizeof *v->open);
    /* As large as the module can use: small modules are verified after each step. */
    const size_t useful = m->ops.count < ACCEPTED_CACHE_MAX ? m->ops.count + 1 : ACCEPTED_CACHE_MAX;
    v->accepted = table_grow(NULL, &v->accepted_count, useful, sizeof *v->accepted);
}

static void verifier_fini(verifier *v)
{
    table_free(v->defined);
    table_free(v->open);
    table_free(v->accepted);
    table_free(v->type_seen);
    table_free(v->symbols);
    table_free(v->calls);
}

static void count_problem(verifier *v, status s) { v->problems += s != OK; }

/* ---- symbols ---- */

static void visit_symbol(void *self, str_id name)
{
    verifier *v = self;
    if (name < v->symbol_capacity && v->symbols[name].serial == v->serial) {
        block_id b = v->symbols[name].block;
        op_id tune = v->symbols[name].tune;
        v->plain = v->plain || tune == 0 || (v->tune != 0 && v->tune != tune);
        if (tune != 0) v->tune = tune;
        if (b == 0) return;
        v->local = true;
        if (v->open[b]) return;
    }
    v->plain = true;
    v->unbound = true;
    v->missing = name;
}

static void bind_symbol(verifier *v, str_id name, block_id block, op_id tune)
{
    v->symbols = table_grow(v->symbols, &v->symbol_capacity, (size_t)name + 1, sizeof *v->symbols);
    v->symbols[name] = (symbol_mark){v->serial, block, tune};
}

static void bind_mentioned(void *self, str_id name) { bind_symbol(self, name, 0, 0); }

static status unbound_symbol(verifier *v, op_id o)
{
    str name = string_of(v->c, v->missing);
    return op_error(v->m, o, &E0410,
                    "mentions $%.*s, which is not bound here; a parameter with the bare extent $%.*s binds it, "
                    "or `bind` or `tune` before this op",
                    (int)name.n, name.p, (int)name.n, name.p);
}

static status check_type(verifier *v, op_id o, type_id t)
{
    if (t < v->type_capacity && v->type_seen[t] == v->serial) return OK;
    TRY(row_check_type(v->m, o, t));
    const type_node *n = type_at(v->c, t);
    bool local_before = v->local;
    v->unbound = v->local = false;
    for (uint32_t i = 0; i < n->rank; i++) {
        v->plain = false;
        v->tune = 0;
        expr_visit_symbols(v->c, n->dims[i], visit_symbol, v);
        if (v->tune != 0 && !v->plain) TRY(tune_check_extent(v->m, o, t, n->dims[i], v->tune));
        if (n->has_strides) expr_visit_symbols(v->c, n->strides[i], visit_symbol, v);
    }
    if (v->unbound) return unbound_symbol(v, o);
    if (v->local) return OK;
    v->local = local_before;
    v->type_seen = table_grow(v->type_seen, &v->type_capacity, (size_t)t + 1, sizeof *v->type_seen);
    v->type_seen[t] = v->serial;
    return OK;
}

/* Symbols of expressions and types in an attribute; nesting was limited by row_check_attrs. */
static status check_attr_symbols(verifier *v, op_id o, attr_id a)
{
    const attr_node *n = attr_at(v->c, a);
    if (!n->has_symbol) return OK;
    if (n->kind == ATTR_TYPE) return check_type(v, o, n->id);
    if (n->kind == ATTR_EXPR) {
        v->unbound = false;
        expr_visit_symbols(v->c, n->id, visit_symbol, v);
        return v->unbound ? unbound_symbol(v, o) : OK;
    }
    if (n->kind != ATTR_LIST && n->kind != ATTR_DICT) return OK;
    for (uint32_t i = 0; i < n->count; i++) TRY(check_attr_symbols(v, o, n->items[i]));
    return OK;
}

static status check_attrs(verifier *v, op_id o, const op_record *r)
{
    v->attrs_local = false;
    attr_mark *mark = &v->attrs[(r->attrs * 31 + r->kind) % ATTR_CACHE];
    attr_mark this = {v->serial, r->kind, r->attrs, r->operand_count};
    if (mark->serial == this.serial && mark->kind == this.kind && mark->attrs == this.attrs &&
        mark->operands == this.operands)
        return OK;
    TRY(row_check_attrs(v->m, o, op_info_at(context_ops(v->c), r->kind)));
    if (r->attrs != 0) {
        v->local = false;
        TRY(check_attr_symbols(v, o, r->attrs));
        v->attrs_local = v->local;
    }
    if (!v->attrs_local) *mark = this;
    return OK;
}

static status bind_local(verifier *v, op_id o)
{
    str text = op_attr_str(v->m, o, "symbol");
    if (text.n == 0) return op_error(v->m, o, &E0314, "needs the name of a symbol");
    str_id name = string_intern(v->c, text);
    bool bound = name < v->symbol_capacity && v->symbols[name].serial == v->serial &&
                 (v->symbols[name].block == 0 || v->open[v->symbols[name].block]);
    if (bound) return op_error(v->m, o, &E0411, "binds $%.*s, which is bound already", (int)text.n, text.p);
    /* The body of the function, where a `tune` is, stays open to its end. */
    bool is_tune = op_kind_of(v->m, o) == OP_TUNE;
    bind_symbol(v, name, is_tune ? 0 : op_block(v->m, o), is_tune ? o : 0);
    return OK;
}

/* A function's bare extents bind; a launch hands a kernel its caller's symbols, so there every mention does. */
static void bind_parameters(verifier *v, op_id f)
{
    block_id body = op_block_at(v->m, f, 0);
    for (uint32_t i = 0; i < block_arg_count(v->m, body); i++) {
        const type_node *t = type_of_value(v->m, block_arg(v->m, body, i));
        if (t->kind != TYPE_TENSOR && t->kind != TYPE_GM) continue;
        for (uint32_t d = 0; d < t->rank; d++) {
            const expr_node *e = expr_at(v->c, t->dims[d]);
            if (e->kind == EXPR_SYMBOL)
                bind_symbol(v, (str_id)e->value, 0, 0);
            else if (v->kernel)
                expr_visit_symbols(v->c, t->dims[d], bind_mentioned, v);
        }
    }
}

/* ---- scopes ---- */

static status undefined_operand(verifier *v, op_id o, uint32_t i)
{
    value_id value = op_operand(v->m, o, i);
    op_id def = value_op(v->m, value);
    status s = op_error(v->m, o, &E0315, "uses %s, which is not defined before it in a block around it",
                        value_words(v->m, value));
    if (def == 0) return s;
    op_name_diag(context_diags(v->c), v->m, def, DIAG_NOTE);
    diag_note(context_diags(v->c), op_pos(v->m, def), "%s is defined here", value_words(v->m, value));
    return s;
}

static inline bool is_visible(const verifier *v, value_id value)
{
    if ((v->defined[value / 64] >> value % 64 & 1) == 0) return false;
    const uint32_t def = value_raw(v->m, value)->def;
    return v->open[(def & DEF_BLOCK) != 0 ? def & ~DEF_BLOCK : op_raw(v->m, def)->block];
}

static inline void define(verifier *v, value_id value) { v->defined[value / 64] |= UINT64_C(1) << value % 64; }

static inline void define_results(verifier *v, const op_record *r)
{
    for (uint32_t i = 0; i < r->result_count; i++) define(v, r->results + i);
}

static status check_terminator(verifier *v, op_id parent, block_id b)
{
    op_id last = block_last(v->m, b);
    op_kind want = (op_info_of(v->m, parent)->traits & TRAIT_FUNCTION) != 0 ? OP_RETURN : OP_YIELD;
    if (last != 0 && op_kind_of(v->m, last) == want) return OK;
    if (last == 0)
        return op_error(v->m, parent, &E0316, "has a block without ops, which must end in `%s`",
                        op_info_at(context_ops(v->c), want)->name);
    return op_error(v->m, last, &E0316, "ends a block of `%s` that must end in `%s`", op_info_of(v->m, parent)->name,
                    op_info_at(context_ops(v->c), want)->name);
}

/* ---- levels ---- */

static bool home_allowed(const verifier *v, op_home home)
{
    if (home >= HOME_COUNT) return v->level == op_home_level(home) && !v->kernel;
    switch (home) {
    case HOME_ANY: return true;
    case HOME_TENSOR: return v->level == LEVEL_TENSOR && !v->kernel;
    case HOME_TILE: return v->level == LEVEL_TILE || v->kernel;
    case HOME_BLOCK: return v->level == LEVEL_BLOCK;
    case HOME_PTO: return v->kernel;
    case HOME_EXEC: return v->level == LEVEL_EXEC && !v->kernel;
    default: return false;
    }
}

static status check_place(verifier *v, op_id o, op_kind kind, const op_info *info)
{
    if (!home_allowed(v, info->home)) {
        if (info->home == HOME_PTO)
            return op_error(v->m, o, &E0318, "is an instruction and belongs in a `block.kernel` only");
        return op_error(v->m, o, &E0317, "does not belong to a function of level %s",
                        level_name(context_ops(v->c), v->level));
    }
    if (o == v->function) return OK;
    if ((info->traits & TRAIT_FUNCTION) != 0) return op_error(v->m, o, &E0318, "is inside another function");
    bool host = kind == OP_BLOCK_LAUNCH || kind == OP_BLOCK_WORKSPACE || kind == OP_CALL || kind == OP_CONSTANT_ARRAY;
    bool device = info->home == HOME_BLOCK && !host;
    if (v->kernel && host) return op_error(v->m, o, &E0318, "is in a kernel; it belongs to a function");
    if (!v->kernel && device) return op_error(v->m, o, &E0318, "is in a function; it belongs to a kernel");
    return OK;
}

/* ---- one op ---- */

static accepted_op *accepted_place(const verifier *v, const op_record *r, accepted_op *out_key)
{
    const module *m = v->m;
    uint32_t hash = r->kind * 0x9e3779b1u ^ r->attrs;
    *out_key = (accepted_op){v->serial, r->kind, r->operand_count, r->attrs, value_raw(m, r->results)->type, {0}};
    for (uint32_t i = 0; i < r->operand_count; i++) {
        out_key->types[i] = value_raw(m, operand_value(m, r, i))->type;
        hash = (hash ^ out_key->types[i]) * 0x9e3779b1u;
    }
    hash = (hash ^ out_key->result) * 0x9e3779b1u;
    return &v->accepted[hash >> 22 & (v->accepted_count - 1)];
}

static bool may_be_accepted(const module *m, const op_record *r)
{
    return r->result_count == 1 && first_block(m, r) == 0 && r->operand_count <= ACCEPTED_OPERANDS;
}

static bool is_accepted(const verifier *v, const op_record *r)
{
    if (!may_be_accepted(v->m, r)) return false;
    accepted_op key;
    const accepted_op *a = accepted_place(v, r, &key);
    if (memcmp(a, &key, sizeof key) != 0) return false;
    for (uint32_t i = 0; i < r->operand_count; i++)
        if (!is_visible(v, operand_value(v->m, r, i))) return false;
    return r->loc != 0;
}

static bool is_global_type(const verifier *v, type_id t)
{
    return t < v->type_capacity && v->type_seen[t] == v->serial;
}

/* After an op has passed: what depends on its place, such as a symbol of a `bind`, keeps it from the table. */
static void remember(verifier *v, op_id o, const op_record *r, const op_info *info)
{
    bool by_types = info->infer != NULL && info->verify == NULL && info->rule == RULE_NONE;
    if (!by_types || !may_be_accepted(v->m, r) || op_value_operand_count(v->m, o) != r->operand_count || v->attrs_local)
        return;
    accepted_op key;
    accepted_op *place = accepted_place(v, r, &key);
    if (!is_global_type(v, key.result)) return;
    for (uint32_t i = 0; i < r->operand_count; i++)
        if (!is_global_type(v, key.types[i])) return;
    *place = key;
}

static status check_op(verifier *v, op_id o, const op_record *r)
{
    const op_info *info = op_info_at(context_ops(v->c), r->kind);
    BUG_IF(r->loc == 0, "`%s` was made without a location", info->name);
    TRY(check_place(v, o, r->kind, info));
    for (uint32_t i = 0; i < r->operand_count; i++)
        if (!is_visible(v, op_operand(v->m, o, i))) return undefined_operand(v, o, i);
    TRY(row_check_values(v->m, o, info));
    TRY(check_attrs(v, o, r));
    for (uint32_t i = 0; i < r->result_count; i++) TRY(check_type(v, o, value_type(v->m, op_result(v->m, o, i))));
    TRY(row_check_rules(v->m, o, info));
    if (first_block(v->m, r) != 0 || info->blocks != 0) TRY(verify_blocks(v->m, o));
    if ((info->traits & TRAIT_TERMINATOR) != 0 && r->next != 0)
        return op_error(v->m, o, &E0316, "ends a block, but `%s` follows it", op_info_of(v->m, r->next)->name);
    if (r->kind == OP_BIND || r->kind == OP_TUNE) TRY(bind_local(v, o));
    remember(v, o, r, info);
    return OK;
}

static void note_call(verifier *v, op_id o)
{
    v->calls = table_grow(v->calls, &v->call_capacity, v->call_count + 1, sizeof *v->calls);
    str_id callee = string_intern(v->c, op_attr_str(v->m, o, "callee"));
    v->calls[v->call_count++] = (call_edge){v->function, o, module_find_symbol(v->m, callee)};
}

static void visit(verifier *v, op_id o, const op_record *r)
{
    if (r->kind == OP_FOR && op_is_parallel(v->m, o)) v->has_parallel = true;
    if (is_accepted(v, r)) return;
    if (r->kind == OP_PTO_SET_FLAG || r->kind == OP_PTO_WAIT_FLAG) v->has_tokens = true;
    status s = check_op(v, o, r);
    count_problem(v, s);
    if (s == OK && r->kind == OP_CALL) note_call(v, o);
}

/* ---- bodies ---- */

/* Opens the blocks of `o` from number `index` on until one has ops; its first op, 0 when there is none. */
static op_id open_block(verifier *v, op_id o, uint32_t index)
{
    if (v->depth == VERIFIER_BLOCK_NESTING) {
        count_problem(v, op_error(v->m, o, &E0104, "has blocks nested %d deep; the limit is %d",
                                  VERIFIER_BLOCK_NESTING + 1, VERIFIER_BLOCK_NESTING));
        return 0;
    }
    for (; index < op_block_count(v->m, o); index++) {
        block_id b = op_block_at(v->m, o, index);
        op_id first = block_first(v->m, b);
        if (first == 0) {
            count_problem(v, check_terminator(v, o, b));
            continue;
        }
        v->open[b] = true;
        v->depth++;
        for (uint32_t i = 0; i < block_arg_count(v->m, b); i++) {
            value_id arg = block_arg(v->m, b, i);
            define(v, arg);
            count_problem(v, check_type(v, o, value_type(v->m, arg)));
        }
        return first;
    }
    return 0;
}

static uint32_t index_of_block(const module *m, op_id o, block_id b)
{
    uint32_t i = 0;
    while (op_block_at(m, o, i) != b) i++;
    return i;
}

/* The op after `o` in the walk, blocks closed and results defined on the way out; 0 when `root` is done. */
static op_id leave(verifier *v, op_id root, op_id o)
{
    for (;;) {
        const op_record *r = op_raw(v->m, o);
        define_results(v, r);
        if (o == root) return 0;
        if (r->next != 0) return r->next;
        block_id b = r->block;
        op_id parent = block_parent(v->m, b);
        count_problem(v, check_terminator(v, parent, b));
        v->open[b] = false;
        v->depth--;
        op_id inner = open_block(v, parent, index_of_block(v->m, parent, b) + 1);
        if (inner != 0) return inner;
        o = parent;
    }
}

static void verify_body(verifier *v, op_id f)
{
    v->serial++;
    v->function = f;
    v->kernel = op_kind_of(v->m, f) == OP_BLOCK_KERNEL;
    v->level = v->kernel ? LEVEL_BLOCK : function_level(v->m, f);
    v->has_tokens = v->has_parallel = false;
    v->depth = 0;
    uint32_t problems_before = v->problems;
    if ((op_info_of(v->m, f)->traits & TRAIT_FUNCTION) == 0 || op_block_count(v->m, f) != 1) {
        count_problem(v, op_error(v->m, f, &E0318, "is outside of a function"));
        return;
    }
    bind_parameters(v, f);
    for (op_id o = f; o != 0;) {
        const op_record *r = op_raw(v->m, o);
        visit(v, o, r);
        if (v->problems > PROBLEMS_MAX) return;
        op_id inner = first_block(v->m, r) == 0 ? 0 : open_block(v, o, 0);
        o = inner != 0 ? inner : leave(v, f, o);
    }
    if (v->has_tokens && v->problems == problems_before) count_problem(v, verify_tokens(v->m, f));
    if (v->has_parallel && v->problems == problems_before) count_problem(v, verify_parallel(v->m, f));
}

/* ---- call cycles ---- */

typedef struct call_graph {
    uint32_t *first; /* by op id of a caller: index + 1 into edges of its first call */
    uint32_t *next;  /* by edge: index + 1 of the next call of the same caller */
    uint8_t *state;  /* by op id: 0 new, 1 on the path, 2 done */
    uint32_t *path;  /* edges from the start of the search */
    uint32_t depth;
} call_graph;

static status report_cycle(const verifier *v, const call_graph *g, uint32_t closing)
{
    text_buffer t;
    text_init(&t);
    op_id start = v->calls[closing].callee;
    uint32_t from = 0;
    while (from < g->depth && v->calls[g->path[from]].caller != start) from++;
    for (uint32_t i = from; i < g->depth && t.n < 500; i++) {
        str name = string_of(v->c, function_name(v->m, v->calls[g->path[i]].caller));
        text_printf(&t, "@%.*s -> ", (int)name.n, name.p);
    }
    str last = string_of(v->c, function_name(v->m, v->calls[closing].caller));
    str name = string_of(v->c, function_name(v->m, start));
    text_printf(&t, "@%.*s -> @%.*s", (int)last.n, last.p, (int)name.n, name.p);
    status s = op_error(v->m, v->calls[closing].call, &E0324, "makes the call graph cyclic: %s", t.p);
    text_fini(&t);
    return s;
}

/* Depth first from one function; fails at the first edge back to the path. */
static status search_calls(const verifier *v, call_graph *g, op_id start)
{
    op_id f = start;
    g->state[f] = 1;
    for (;;) {
        uint32_t e = g->first[f];
        if (e == 0) {
            g->state[f] = 2;
            if (g->depth == 0) return OK;
            f = v->calls[g->path[--g->depth]].caller;
            continue;
        }
        g->first[f] = g->next[e - 1];
        op_id callee = v->calls[e - 1].callee;
        if (g->state[callee] == 1) return report_cycle(v, g, e - 1);
        if (g->state[callee] == 2) continue;
        g->path[g->depth++] = e - 1;
        f = callee;
        g->state[f] = 1;
    }
}

static status verify_calls(const verifier *v)
{
    if (v->call_count == 0) return OK;
    arena *scratch = arena_create("call graph");
    size_t ops = v->m->ops.count;
    call_graph g = {.first = arena_array(scratch, ops, sizeof(uint32_t)),
                    .next = arena_array(scratch, v->call_count, sizeof(uint32_t)),
                    .state = arena_array(scratch, ops, 1),
                    .path = arena_array(scratch, v->call_count, sizeof(uint32_t))};
    for (size_t i = v->call_count; i-- > 0;) {
        g.next[i] = g.first[v->calls[i].caller];
        g.first[v->calls[i].caller] = (uint32_t)i + 1;
    }
    status s = OK;
    for (size_t i = 0; i < v->call_count && s == OK; i++)
        if (g.state[v->calls[i].caller] == 0) s = search_calls(v, &g, v->calls[i].caller);
    arena_destroy(scratch);
    return s;
}

/* ---- entry points ---- */

status module_verify(module *m)
{
    verifier v;
    verifier_init(&v, m);
    block_id top = module_top(m);
    BLOCK_EACH_OP(m, o, top) {
        if (v.problems <= PROBLEMS_MAX) verify_body(&v, o);
    }
    if (v.problems == 0) count_problem(&v, verify_calls(&v));
    verifier_fini(&v);
    return v.problems == 0 ? OK : FAILED;
}

/* Of the functions that were left out: a cycle may go through them. */
static void note_other_calls(verifier *v, uint32_t count, const op_id *functions)
{
    arena *scratch = arena_create("verified functions");
    bool *is_verified = arena_array(scratch, v->m->ops.count, sizeof *is_verified);
    for (uint32_t i = 0; i < count; i++) is_verified[functions[i]] = true;
    BLOCK_EACH_OP(v->m, f, module_top(v->m)) {
        if (is_verified[f]) continue;
        v->function = f;
        IR_WALK(v->m, o, f)
        {
            if (op_kind_of(v->m, o) == OP_CALL) note_call(v, o);
        }
    }
    arena_destroy(scratch);
}

status module_verify_functions(module *m, uint32_t count, const op_id *functions)
{
    verifier v;
    verifier_init(&v, m);
    for (uint32_t i = 0; i < count && v.problems <= PROBLEMS_MAX; i++) verify_body(&v, functions[i]);
    if (v.problems == 0 && v.call_count > 0) {
        note_other_calls(&v, count, functions);
        count_problem(&v, verify_calls(&v));
    }
    verifier_fini(&v);
    return v.problems == 0 ? OK : FAILED;
}

status op_verify(module *m, op_id o)
{
    const op_info *info = op_info_of(m, o);
    TRY(row_check_values(m, o, info));
    TRY(row_check_attrs(m, o, info));
    for (uint32_t i = 0; i < op_result_count(m, o); i++) TRY(row_check_type(m, o, value_type(m, op_result(m, o, i))));
    return row_check_rules(m, o, info);
}
