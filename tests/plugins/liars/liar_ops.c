/* An op-set whose functions break the rules, one op for each way, and ops that are honest and odd. Id test. */
#include <pto/plugin.h>

#include <signal.h>
#include <unistd.h>

static pto_status infer_like_first(const pto_run *run, pto_op op, pto_type *results)
{
    (void)run;
    results[0] = pto_value_type(pto_op_operand(op, 0));
    return PTO_OK;
}

static pto_status infer_nothing(const pto_run *run, pto_op op, pto_type *results)
{
    (void)op;
    results[0] = pto_type_none(run);
    return PTO_OK;
}

static pto_status infer_garbage(const pto_run *run, pto_op op, pto_type *results)
{
    (void)run;
    (void)op;
    results[0].index = 123456789;
    return PTO_OK;
}

static pto_status infer_tile(const pto_run *run, pto_op op, pto_type *results)
{
    (void)op;
    results[0] = pto_type_tile(run, PTO_F32, 4, 8, pto_space_by_name(run, PTO_STR("vec")), PTO_LAYOUT_NONE);
    return PTO_OK;
}

static pto_status infer_silently_failing(const pto_run *run, pto_op op, pto_type *results)
{
    (void)run;
    (void)op;
    (void)results;
    return PTO_FAILED;
}

static pto_status infer_and_write(const pto_run *run, pto_op op, pto_type *results)
{
    (void)!pto_op_set_attr(op, PTO_STR("test.mark"), pto_attr_make_bool(run, 1));
    return infer_like_first(run, op, results);
}

static pto_status infer_no_status(const pto_run *run, pto_op op, pto_type *results)
{
    (void)infer_like_first(run, op, results);
    return 17;
}

static pto_status infer_and_die(const pto_run *run, pto_op op, pto_type *results)
{
    (void)infer_like_first(run, op, results);
    (void)raise(SIGSEGV);
    return PTO_OK;
}

static pto_status infer_for_ever(const pto_run *run, pto_op op, pto_type *results)
{
    (void)infer_like_first(run, op, results);
    while (pause() != 0) continue;
    return PTO_OK;
}

static pto_status verify_scale(const pto_run *run, pto_op op)
{
    (void)run;
    if (pto_attr_float_of(op, PTO_STR("scale"), 1) > 0) return PTO_OK;
    return pto_error(op, "test/scale", "has a scale that is not above 0");
}

static pto_status evaluate_scale(const pto_run *run, pto_op op, const pto_tensor *const *operands,
                                 const pto_tensor *const *results)
{
    const float scale = (float)pto_attr_float_of(op, PTO_STR("scale"), 1);
    const float *from = operands[0]->data;
    float *to = results[0]->data;
    int64_t count = 1;
    (void)run;
    for (uint32_t d = 0; d < operands[0]->rank; d++) count *= operands[0]->dims[d];
    for (int64_t i = 0; i < count; i++) to[i] = from[i] * scale;
    return PTO_OK;
}

static pto_status evaluate_badly(const pto_run *run, pto_op op, const pto_tensor *const *operands,
                                 const pto_tensor *const *results)
{
    (void)run;
    (void)operands;
    (void)results;
    return pto_error(op, "test/too-hard", "cannot be computed today");
}

static const pto_row_operand x = {.struct_size = sizeof x, .types = PTO_OF_TENSOR, .name = "x"};

/* One attribute of each type. */
#define ATTR(NAME, TYPE, ...)                 \
    static const pto_row_attr attr_##NAME = { \
        .struct_size = sizeof attr_##NAME, .type = PTO_ROW_##TYPE, .name = #NAME, .doc = "one of " #TYPE, __VA_ARGS__}
ATTR(flag, BOOL, .def = "false");
ATTR(count, INT, .def = "3");
ATTR(scale, FLOAT, .def = "1.5");
ATTR(side, ENUM, .def = "\"left\"", .choices = PTO_STRS("left", "right"));
ATTR(label, STRING, .def = "\"none\"");
ATTR(as, DTYPE, .required = 0);
ATTR(steps, INTS, .required = 1);

#define ROW(NAME, ...)                                                         \
    static const pto_op_row NAME = {.struct_size = sizeof NAME,                \
                                    .traits = PTO_TRAIT_PURE,                  \
                                    .name = "test." #NAME,                     \
                                    .doc = "An op of a test.",                 \
                                    .dtypes = PTO_DTYPES_FLOAT,                \
                                    .result_count = 1,                         \
                                    .result_types = PTO_OF_TENSOR,             \
                                    .operands = PTO_LIST(pto_row_operand, &x), \
                                    __VA_ARGS__}
ROW(infers_nothing, .infer = infer_nothing);
ROW(infers_garbage, .infer = infer_garbage);
ROW(infers_a_tile, .infer = infer_tile);
ROW(infers_silently, .infer = infer_silently_failing);
ROW(infers_and_writes, .infer = infer_and_write);
ROW(infers_no_status, .infer = infer_no_status);
ROW(infers_and_dies, .infer = infer_and_die);
ROW(infers_for_ever, .infer = infer_for_ever);
ROW(no_semantics, .infer = infer_like_first);
ROW(evaluates_badly, .infer = infer_like_first, .evaluate = evaluate_badly);
ROW(elementwise, .infer = infer_like_first, .iteration = PTO_ITER_ELEMENTWISE);
ROW(scaled, .infer = infer_like_first, .verify = verify_scale, .evaluate = evaluate_scale,
    .attrs = PTO_LIST(pto_row_attr, &attr_flag, &attr_count, &attr_scale, &attr_side, &attr_label, &attr_as,
                      &attr_steps),
    .ulp = 1, .numerics = "1 ulp");

static const pto_opset opset = {
    .struct_size = sizeof opset,
    .id = "test",
    .level = "tensor/1",
    .rows = PTO_LIST(pto_op_row, &infers_nothing, &infers_garbage, &infers_a_tile, &infers_silently, &infers_and_writes,
                     &infers_no_status, &infers_and_dies, &infers_for_ever, &no_semantics, &evaluates_badly,
                     &elementwise, &scaled),
};
PTO_PLUGIN("test.liar-ops",
           "op:test.infers_nothing op:test.infers_garbage op:test.infers_a_tile op:test.infers_silently "
           "op:test.infers_and_writes op:test.infers_no_status op:test.infers_and_dies op:test.infers_for_ever "
           "op:test.no_semantics op:test.evaluates_badly op:test.elementwise op:test.scaled",
           "", .version = "0", .license = "Apache-2.0", .opsets = PTO_LIST(pto_opset, &opset));
