/* What a nest uses from outside: memory, constants, and the symbols that its kernel must know. */
#include "outline_nest.h"

typedef struct finder {
    nest *nest;
    capture_memory *memory;
    const outline_kinds *kinds;
    int wants_symbols; /* all uses are known */
} finder;

static capture *find_capture(const nest *n, pto_value v)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (pto_value_same(n->captures[i].value, v)) return &n->captures[i];
    }
    return NULL;
}

static capture *add_capture(const finder *f, pto_value v, uint32_t uses)
{
    nest *n = f->nest;
    n->captures = PTO_GROW(n->run, f->memory->items, n->count, f->memory->capacity);
    n->captures[n->count] = (capture){v, uses};
    return &n->captures[n->count++];
}

static int is_inside(pto_op op, pto_op root)
{
    for (pto_op p = op; PTO_SOME(p); p = pto_op_parent(p)) {
        if (pto_op_same(p, root)) return 1;
    }
    return 0;
}

static int is_defined_inside(pto_value v, pto_op root)
{
    const pto_op def = pto_value_op(v);
    return is_inside(PTO_SOME(def) ? def : pto_block_parent(pto_value_block(v)), root);
}

/* Memory or a scalar: with pto.distributed no tile is outside of a nest. */
static void note_use(const finder *f, pto_value v, uint32_t uses)
{
    if (is_defined_inside(v, f->nest->op)) return;
    const int is_constant = pto_op_is(pto_value_op(v), f->kinds->constant);
    const int is_memory = pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM;
    capture *c = find_capture(f->nest, v);
    if (c == NULL) c = add_capture(f, v, 0);
    if (!is_constant) c->uses |= is_memory ? uses : (uint32_t)USE_VALUE;
}

static int mentions(pto_expr e, pto_expr symbol, int depth)
{
    if (pto_expr_same(e, symbol)) return 1;
    for (uint32_t i = 0; depth < OUTLINE_DEPTH_MAX && i < pto_expr_arg_count(e); i++) {
        if (mentions(pto_expr_arg(e, i), symbol, depth + 1)) return 1;
    }
    return 0;
}

int outline_memory_mentions(pto_value memory, pto_expr symbol)
{
    const pto_type type = pto_value_type(memory);
    if (pto_type_kind_of(type) != PTO_TYPE_GM) return 0;
    for (uint32_t i = 0; i < pto_type_rank(type); i++) {
        if (mentions(pto_type_dim(type, i), symbol, 0)) return 1;
    }
    return 0;
}

static void note_attrs(const finder *f, pto_op op);

/* The `bind` of the symbol before the nest; none when a parameter binds it. */
static pto_op find_bind(const finder *f, pto_expr symbol)
{
    const pto_str name = pto_expr_symbol_name(symbol);
    for (pto_op at = f->nest->op; PTO_SOME(at) && !pto_op_same(at, f->nest->function); at = pto_op_parent(at)) {
        for (pto_op op = pto_op_prev(at); PTO_SOME(op); op = pto_op_prev(op)) {
            if (pto_op_is(op, f->kinds->bind) && pto_str_same(pto_attr_str_of(op, PTO_STR("symbol")), name)) return op;
        }
    }
    return pto_op_none(f->nest->run);
}

/* What a `bind` is made of comes before it. */
static void note_bind(const finder *f, pto_op bind)
{
    nest *n = f->nest;
    for (uint32_t i = 0; i < n->bind_count; i++) {
        if (pto_op_same(n->binds[i], bind)) return;
    }
    note_attrs(f, bind);
    PTO_GROW(n->run, n->binds, n->bind_count, n->bind_capacity);
    n->binds[n->bind_count++] = bind;
}

/* A kernel knows a symbol by its memory. When none that it uses mentions it, the `bind` is said again, or a parameter
 * that mentions it comes along. */
static void note_symbol(const finder *f, pto_expr symbol)
{
    const nest *n = f->nest;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses != 0 && outline_memory_mentions(n->captures[i].value, symbol)) return;
    }
    const pto_op bind = find_bind(f, symbol);
    if (PTO_SOME(bind)) {
        note_bind(f, bind);
        return;
    }
    const pto_block body = pto_body(n->function);
    for (uint32_t i = 0, end = pto_block_arg_count(body); i < end; i++) {
        const pto_value memory = pto_block_arg(body, i);
        if (!outline_memory_mentions(memory, symbol)) continue;
        (void)add_capture(f, memory, USE_SHAPE);
        break;
    }
}

static void note_expr(const finder *f, pto_expr e, int depth)
{
    const pto_expr_kind kind = pto_expr_kind_of(e);
    if (kind == PTO_EXPR_CONST) return;
    if (kind == PTO_EXPR_VALUE) note_use(f, pto_expr_leaf(e), USE_READ);
    if (kind == PTO_EXPR_SYMBOL && f->wants_symbols) note_symbol(f, e);
    for (uint32_t i = 0; depth < OUTLINE_DEPTH_MAX && i < pto_expr_arg_count(e); i++)
        note_expr(f, pto_expr_arg(e, i), depth + 1);
}

/* Lists it for the symbols in it. Ops near each other often have the same. */
enum { EXPRS_LOOKED_AT = 8 };
static void list_expr(const finder *f, pto_expr e)
{
    capture_memory *m = f->memory;
    const uint32_t first = m->expr_count > EXPRS_LOOKED_AT ? m->expr_count - EXPRS_LOOKED_AT : 0;
    for (uint32_t i = first; i < m->expr_count; i++)
        if (pto_expr_same(m->exprs[i], e)) return;
    PTO_GROW(f->nest->run, m->exprs, m->expr_count, m->expr_capacity);
    m->exprs[m->expr_count++] = e;
    note_expr(f, e, 0);
}

/* Index operands are inside attributes. */
static void note_attr(const finder *f, pto_attr a, int depth)
{
    if (pto_attr_kind_of(a) == PTO_ATTR_EXPR) {
        if (f->wants_symbols)
            note_expr(f, pto_attr_expr(a), 0);
        else
            list_expr(f, pto_attr_expr(a));
        return;
    }
    if (pto_attr_kind_of(a) != PTO_ATTR_LIST || depth == OUTLINE_DEPTH_MAX) return;
    for (uint32_t i = 0; i < pto_attr_count(a); i++) note_attr(f, pto_attr_item(a, i, NULL), depth + 1);
}

static void note_attrs(const finder *f, pto_op op)
{
    for (uint32_t i = 0, end = pto_op_attr_count(op); i < end; i++) note_attr(f, pto_op_attr_at(op, i, NULL), 0);
}

/* Strides may mention symbols that no extent does. What comes along for these has strides too. */
static void note_strides(const finder *f)
{
    for (uint32_t i = 0; i < f->nest->count; i++) {
        const pto_type type = pto_value_type(f->nest->captures[i].value);
        const uint32_t rank = f->nest->captures[i].uses != 0 ? pto_type_rank(type) : 0;
        for (uint32_t d = 0; d < rank; d++) note_expr(f, pto_type_stride(type, d), 0);
    }
}

/* The captures are in `memory` while they are found. */
static void keep_captures(nest *n)
{
    capture *own = PTO_SCRATCH(n->run, capture, n->count);
    if (n->count != 0) memcpy(own, n->captures, n->count * sizeof *own);
    n->captures = own;
}

void outline_find_captures(nest *n, capture_memory *memory, const outline_kinds *kinds)
{
    finder f = {n, memory, kinds, 0};
    n->captures = memory->items;
    n->count = memory->expr_count = 0;
    PTO_WALK(n->op, op)
    {
        const uint32_t count = pto_op_operand_count(op);
        const int is_store = pto_op_transfer(op) == PTO_TRANSFER_STORE;
        for (uint32_t i = 0; i < count; i++)
            note_use(&f, pto_op_operand(op, i), is_store && i + 1 == count ? USE_WRITE : USE_READ);
        note_attrs(&f, op);
    }
    note_attrs(&f, n->op);
    f.wants_symbols = 1;
    for (uint32_t i = 0; i < memory->expr_count; i++) note_expr(&f, memory->exprs[i], 0);
    note_strides(&f);
    keep_captures(n);
}
