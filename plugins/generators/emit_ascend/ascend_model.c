/* The module, its kernels and their control flow. */
#include "ascend_build.h"

static const char *const kind_names[] = {
#define NAME(ID, text) text,
    ASCEND_KINDS(NAME)
#undef NAME
};

const ascend_insn *ascend_insn_of(pto_op op)
{
    const pto_str name = pto_op_name(op);
    if (name.n < 4 || memcmp(name.p, "pto.", 4) != 0) return NULL;
    return ascend_insn_by_name(pto_str_make(name.p + 4, name.n - 4));
}

pto_status ascend_refuse(pto_op op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const pto_status status = ascend_refuse_in(op, "the vendor's library", format, args);
    va_end(args);
    return status;
}

pto_status ascend_refuse_in(pto_op op, const char *language, const char *format, va_list args)
{
    text t = {.run = op.run};
    text_vput(&t, format, args);
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.emit-ascend/unsupported", "`%.*s` has no form in %s: %s", PTO_FMT(name), language,
                     text_end(&t));
}

/* ---- symbols ---- */

static void add_symbol(ascend_symbols *s, pto_str name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (pto_str_same(s->items[i], name)) return;
    PTO_GROW(s->run, s->items, s->count, s->capacity);
    s->items[s->count++] = name;
}

void ascend_symbols_of_expr(ascend_symbols *s, pto_expr x)
{
    if (!PTO_SOME(x)) return;
    if (pto_expr_kind_of(x) == PTO_EXPR_SYMBOL) add_symbol(s, pto_expr_symbol_name(x));
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) ascend_symbols_of_expr(s, pto_expr_arg(x, i));
}

void ascend_symbols_of_type(ascend_symbols *s, pto_type type)
{
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 0; d < rank; d++) ascend_symbols_of_expr(s, pto_type_dim(type, d));
    for (uint32_t d = 0; d < rank; d++) ascend_symbols_of_expr(s, pto_type_stride(type, d));
}

static void symbols_of_attr(ascend_symbols *s, pto_attr attr)
{
    if (pto_attr_kind_of(attr) == PTO_ATTR_EXPR) ascend_symbols_of_expr(s, pto_attr_expr(attr));
    for (uint32_t i = 0; i < pto_attr_count(attr); i++) symbols_of_attr(s, pto_attr_item(attr, i, NULL));
}

/* Of parameters first, then of the grid and what is inside; those that are bound inside are variables there. */
static void symbols_of_kernel(ascend_kernel *k)
{
    const pto_block body = pto_body(k->op);
    ascend_symbols all = {.run = k->op.run}, bound = {.run = k->op.run};
    for (uint32_t i = k->rank; i < pto_block_arg_count(body); i++)
        if (pto_type_kind_of(pto_value_type(pto_block_arg(body, i))) == PTO_TYPE_GM)
            ascend_symbols_of_type(&all, pto_value_type(pto_block_arg(body, i)));
    symbols_of_attr(&all, pto_op_attr(k->op, PTO_STR("grid")));
    PTO_WALK(k->op, op)
    {
        for (uint32_t i = 0; i < pto_op_attr_count(op); i++) symbols_of_attr(&all, pto_op_attr_at(op, i, NULL));
        if (pto_str_is(pto_op_name(op), "bind")) add_symbol(&bound, pto_attr_str_of(op, PTO_STR("symbol")));
    }
    k->symbols = PTO_SCRATCH(k->op.run, pto_str, all.count);
    for (uint32_t i = 0; i < all.count; i++) {
        int is_bound = 0;
        for (uint32_t j = 0; j < bound.count; j++) is_bound |= pto_str_same(all.items[i], bound.items[j]);
        if (!is_bound) k->symbols[k->symbol_count++] = all.items[i];
    }
}

/* ---- bodies ---- */

/* A product over no column at all, for which there is no instruction. */
static int multiplies_nothing(const ascend_builder *b, pto_op branch)
{
    PTO_WALK(branch, op)
    {
        pto_expr valid[2];
        int64_t n = 1;
        if (!ASCEND_IS(b->m, op, TMATMUL) || pto_value_valid(pto_op_operand(op, 1), valid) != PTO_OK) continue;
        if (pto_expr_is_const(valid[1], &n) && n == 0) return 1;
    }
    return 0;
}

/* A branch on symbols alone that cannot be emitted: the function that launches the kernel must not go there. */
static int is_refused_branch(const ascend_builder *b, pto_op op)
{
    return pto_op_block_count(op) == 1 && multiplies_nothing(b, op) &&
           !pto_expr_has_value(pto_expr_of(op, PTO_STR("left"), 0)) &&
           !pto_expr_has_value(pto_expr_of(op, PTO_STR("right"), 0));
}

static void add_refusal(ascend_builder *b, pto_op branch)
{
    ascend_refusal *r = PTO_SCRATCH(branch.run, ascend_refusal, 1), **end = &b->kernel->refusals;
    r->branch = branch;
    while (*end != NULL) end = &(*end)->next;
    *end = r;
}

ascend_node *ascend_node_add(ascend_builder *b, uint32_t kind, pto_op op)
{
    ascend_node *n = PTO_SCRATCH(op.run, ascend_node, 1);
    n->kind = kind;
    n->op = op;
    *b->end = n;
    b->end = &n->next;
    return n;
}

static pto_status add_block(ascend_builder *b, pto_block block, ascend_node **first)
{
    ascend_node **const end = b->end;
    b->end = first;
    PTO_EACH_OP(block, op) PTO_TRY(ascend_add_op(b, op));
    b->end = end;
    return PTO_OK;
}

static pto_status add_region(ascend_builder *b, pto_op op, uint32_t kind)
{
    if (pto_op_result_count(op) != 0) return ascend_refuse(op, "it hands values over inside of a kernel");
    ascend_node *n = ascend_node_add(b, kind, op);
    for (uint32_t i = 0; i < pto_op_block_count(op) && i < 2; i++)
        PTO_TRY(add_block(b, pto_op_block_at(op, i), &n->first[i]));
    return PTO_OK;
}

pto_status ascend_add_op(ascend_builder *b, pto_op op)
{
    const ascend_module *m = b->m;
    PTO_TRY(pto_go_on(op.run));
    if (ASCEND_IS(m, op, BUFFER) || ASCEND_IS(m, op, RETURN) || ASCEND_IS(m, op, YIELD)) return PTO_OK;
    if (ASCEND_IS(m, op, TILE)) return ascend_add_tile(b, op);
    if (ASCEND_IS(m, op, FOR)) return add_region(b, op, ASCEND_FOR);
    if (ASCEND_IS(m, op, IF)) {
        if (!is_refused_branch(b, op)) return add_region(b, op, ASCEND_IF);
        add_refusal(b, op);
        return PTO_OK;
    }
    if (ASCEND_IS(m, op, BIND) || ASCEND_IS(m, op, CONSTANT) || ASCEND_IS(m, op, INDEX_CAST) ||
        ASCEND_IS(m, op, VIEW)) {
        (void)ascend_node_add(b, ASCEND_SCALAR, op);
        return PTO_OK;
    }
    if (ASCEND_IS(m, op, SET_FLAG) || ASCEND_IS(m, op, WAIT_FLAG) || ASCEND_IS(m, op, BARRIER)) {
        (void)ascend_node_add(b,
                              ASCEND_IS(m, op, SET_FLAG)    ? ASCEND_SET
                              : ASCEND_IS(m, op, WAIT_FLAG) ? ASCEND_WAIT
                                                            : ASCEND_BARRIER,
                              op);
        return PTO_OK;
    }
    return ascend_add_insn(b, op);
}

/* ---- kernels and functions ---- */

static pto_status make_kernel(ascend_builder *b, pto_op op, ascend_kernel **end)
{
    const ascend_module *m = b->m;
    ascend_kernel *k = PTO_SCRATCH(m->run, ascend_kernel, 1);
    const pto_str core = pto_attr_str_of(op, PTO_STR("core"));
    const pto_space_facts scratchpad = pto_space_facts_of(m->run, PTO_ROLE_SCRATCHPAD);
    const pto_space_facts sums = pto_space_facts_of(m->run, PTO_ROLE_ACCUMULATOR);
    k->op = op;
    k->rank = pto_attr_count(pto_op_attr(op, PTO_STR("grid")));
    k->is_cube = sums != NULL && pto_str_same(core, sums->core);
    if (!k->is_cube && (scratchpad == NULL || !pto_str_same(core, scratchpad->core)))
        return ascend_refuse(op, "the machine has no cores of the kind `%.*s` with tiles of their own", PTO_FMT(core));
    symbols_of_kernel(k);
    b->kernel = k;
    PTO_TRY(add_block(b, pto_body(op), &k->first));
    *end = k;
    return PTO_OK;
}

const ascend_kernel *ascend_kernel_of(const ascend_module *m, pto_op op)
{
    const ascend_kernel *k = m->kernels;
    while (k != NULL && !pto_op_same(k->op, op)) k = k->next;
    return k;
}

pto_status ascend_model_make(const pto_run *run, int is_text, ascend_module *out)
{
    ascend_module *m = out;
    ascend_builder b = {.m = m};
    ascend_kernel **end = &m->kernels;
    const pto_block top = pto_module_top(run);
    uint32_t capacity = 0;
    m->run = run;
    m->is_text = is_text;
    for (uint32_t i = 0; i < ASCEND_KIND_COUNT; i++) m->kinds[i] = pto_kind_by_name(run, pto_s(kind_names[i]));
    if (pto_machine_str(run, PTO_STR("arch"), &m->arch) != PTO_OK)
        return pto_error_at(run, pto_loc_none(run), "pto.emit-ascend/machine",
                            "the machine does not say what architecture it has in the vendor's library: `arch` is "
                            "missing");
    if (!pto_str_is(m->arch, "a3") && !pto_str_is(m->arch, "a5"))
        return pto_error_at(run, pto_loc_none(run), "pto.emit-ascend/machine",
                            "the architecture `%.*s` is none that can be written for: a3 or a5", PTO_FMT(m->arch));
    PTO_EACH_OP(top, op) {
        if (ASCEND_IS(m, op, KERNEL)) {
            PTO_TRY(make_kernel(&b, op, end));
            end = &(*end)->next;
            continue;
        }
        if (!ASCEND_IS(m, op, FUNC)) return ascend_refuse(op, "it is not a function");
        PTO_GROW(run, m->functions, m->function_count, capacity);
        m->functions[m->function_count++] = op;
    }
    return PTO_OK;
}

pto_str ascend_role(pto_op function, uint32_t i)
{
    const pto_attr params = pto_op_attr(function, PTO_STR("params"));
    return PTO_SOME(params) && i < pto_attr_count(params) ? pto_attr_str(pto_attr_item(params, i, NULL))
                                                          : PTO_STR("in");
}

int ascend_is_output(pto_op function, uint32_t i) { return pto_str_is(ascend_role(function, i), "out"); }

pto_str ascend_argument_name(pto_op function, uint32_t i)
{
    const pto_attr outputs = pto_op_attr(function, PTO_STR("outputs"));
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; k++) before += ascend_is_output(function, k) != 0;
    if (!ascend_is_output(function, i) || !PTO_SOME(outputs) || before >= pto_attr_count(outputs))
        return pto_value_name(pto_block_arg(pto_body(function), i));
    return pto_attr_str(pto_attr_item(outputs, before, NULL));
}

/* ---- words ---- */

const char *ascend_pipe(pto_op op, const char *attr)
{
    static const char *const names[] = {
#define PIPE(unit, word) [PTO_UNIT_##unit] = word,
#include "ascend_words.def"
    };
    const pto_pipe pipe = pto_pipe_by_name(op.run, pto_attr_str_of(op, pto_s(attr)));
    return pipe == PTO_PIPE_ALL ? "PIPE_ALL" : names[pto_pipe_role(op.run, pipe)];
}

const char *ascend_rounding(pto_op op)
{
    static const char *const rows[][2] = {
#define ROUND(ours, word) {ours, word},
#include "ascend_words.def"
    };
    const pto_str mode = pto_attr_str_of(op, PTO_STR("mode"));
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pto_str_is(mode, rows[i][0])) return rows[i][1];
    return "RINT";
}
