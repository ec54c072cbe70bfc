/* Makes what the text form cannot say, or not so that it reads back. */
#include <pto/ops.h>
#include <pto/plugin.h>

#define OPTIONS(X)                                                                                    \
    X(WHAT, ENUM, "what", .doc = "what to make", .choices = whats, .example = "with: { what: name }") \
    X(N, I64, "n", .def = "0", .doc = "how many", .example = "with: { n: 3 }")
static const char *const whats[] = {"name", "argument", "result", "reference", "text",
                                    "key",  "loops",    "notes",  "silence",   NULL};
PTO_OPTIONS(OPTIONS);
enum { NAME, ARGUMENT, RESULT, REFERENCE, TEXT, KEY, LOOPS, NOTES, SILENCE };

static pto_status nest(const pto_run *run, pto_place at, int64_t depth)
{
    for (int64_t i = 0; i < depth; i++) {
        const pto_expr from = pto_expr_const(run, 0), to = pto_expr_const(run, 2), step = pto_expr_const(run, 1);
        pto_spec s = pto_spec_FOR(run), end = pto_spec_YIELD(run);
        pto_spec_exprs(&s, PTO_STR("from"), 1, &from);
        pto_spec_exprs(&s, PTO_STR("to"), 1, &to);
        pto_spec_exprs(&s, PTO_STR("step"), 1, &step);
        pto_spec_blocks(&s, 1);
        const pto_op loop = pto_spec_build(&s, at);
        PTO_NEED(loop);
        PTO_NEED(pto_block_add_arg(pto_body(loop), pto_type_scalar(run, PTO_INDEX), PTO_STR("i")));
        const pto_op yield = pto_spec_build(&end, pto_at_end(pto_body(loop)));
        PTO_NEED(yield);
        at = pto_before(yield);
    }
    return PTO_OK;
}

static pto_status annotate(const pto_run *run, pto_op op, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "test.note%d", (int)i);
        PTO_TRY(pto_op_set_attr(op, pto_s(key), pto_attr_make_i64(run, i)));
    }
    return PTO_OK;
}

static pto_status make_neg(const pto_run *run, pto_op op)
{
    pto_spec s = pto_spec_TENSOR_NEG(run);
    pto_spec_operand(&s, pto_op_operand(op, 0));
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, PTO_STR("a-b"));
    return PTO_SOME(pto_spec_build(&s, pto_before(op))) ? PTO_OK : PTO_FAILED;
}

static pto_status run(const pto_run *run, pto_op unit)
{
    const int64_t n = pto_opt_i64(run, OPT_N);
    const pto_op op = pto_block_first(pto_body(unit));
    switch (pto_opt_i64(run, OPT_WHAT)) {
    case NAME: return pto_value_set_name(pto_op_result(op, 0), PTO_STR("a b"));
    case ARGUMENT: return pto_value_set_name(pto_block_arg(pto_body(unit), 0), PTO_STR("a.b"));
    case RESULT: return make_neg(run, op);
    case REFERENCE: return pto_op_set_attr(op, PTO_STR("test.ref"), pto_attr_make_symbol(run, PTO_STR("1")));
    case TEXT: {
        char *text = (char *)pto_scratch(run, (size_t)n + 1);
        memset(text, 'x', (size_t)n);
        return pto_op_set_attr(op, PTO_STR("test.text"), pto_attr_make_str(run, pto_s(text)));
    }
    case KEY: return pto_op_set_attr(op, PTO_STR("test.\xff"), pto_attr_make_i64(run, 1));
    case SILENCE: return pto_error(op, "test.liar-unprintable/silence", "%s", "");
    case LOOPS: return nest(run, pto_before(op), n);
    default: return annotate(run, op, n);
    }
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-unprintable",
                              .summary = "Make what cannot be printed",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.liar-unprintable", "pass:test.liar-unprintable", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
