/* <pto/bind.h>: tensors of a call beside the values of its function. */
#include "tests/unit/unit.h"

#include <pto/bind.h>

#include "core/host/run_context.h"
#include "ir/text/parser.h"

static const char source[] = "func @f(%x: tensor<$N x 4 x f32>, %k: i32) -> tensor<4 x $N x f32> {\n"
                             "  %y = tensor.transpose %x {perm = [1, 0]} : tensor<4 x $N x f32>\n"
                             "  return %y\n"
                             "}\n";

/* A call of @f with $N = 3, with tensors that fit. */
typedef struct fixture {
    arena *a;
    diag_engine *d;
    ir_context *ir;
    module *m;
    run_session *s;
    run_agent agent;
    const pto_run *run;
    pto_tensor x, k, y;
    const pto_tensor *arguments[2], *results[1];
    pto_str symbol;
    int64_t n;
    pto_call call;
    pto_binding bound[3];
} fixture;

static void begin(fixture *f)
{
    *f = (fixture){.a = arena_create("test"), .d = diag_create(NULL, 0), .symbol = PTO_STR("N"), .n = 3};
    f->ir = context_create(f->d);
    assert_int_equal(parse_module(f->ir, str_from(source), "t.ptir", &f->m), OK);
    f->s = run_session_create(f->a, &(run_session_params){.diags = f->d});
    f->agent = (run_agent){.plugin = "org.acme.p", .role = "backend", .id = "acme.p", .at = {"pipe.yaml", 7, 5}};
    const run_request request = {.agent = &f->agent,
                                 .module = f->m,
                                 .unit = module_find_symbol(f->m, string_intern_z(f->ir, "f")),
                                 .access = RUN_READS};
    f->run = run_context_begin(f->s, &request);
    f->x = (pto_tensor){.struct_size = sizeof f->x, .dtype = PTO_F32, .rank = 2, .dims = {3, 4}, .strides = {4, 1}};
    f->y = (pto_tensor){.struct_size = sizeof f->y, .dtype = PTO_F32, .rank = 2, .dims = {4, 3}, .strides = {3, 1}};
    f->k = (pto_tensor){.struct_size = sizeof f->k, .dtype = PTO_I32};
    f->arguments[0] = &f->x;
    f->arguments[1] = &f->k;
    f->results[0] = &f->y;
    f->call = (pto_call){.struct_size = sizeof f->call,
                         .symbol_count = 1,
                         .argument_count = 2,
                         .result_count = 1,
                         .function = run_context_unit(f->run),
                         .symbols = &f->symbol,
                         .symbol_values = &f->n,
                         .arguments = f->arguments,
                         .results = f->results};
}

static void end(fixture *f, pto_status returned)
{
    (void)run_context_end(f->run, returned);
    run_session_destroy(f->s);
    module_destroy(f->m);
    context_destroy(f->ir);
    diag_destroy(f->d);
    arena_destroy(f->a);
}

static void expect_error(fixture *f, const char *text)
{
    assert_int_equal(pto_backend_bind(&f->call, "acme.b/arguments", f->bound), PTO_FAILED);
    const diag_record *r = diag_record_at(f->d, 0);
    assert_string_equal(r->code, "acme.b/arguments");
    assert_string_equal(r->text, text);
    end(f, PTO_FAILED);
}

TEST(values_and_tensors_come_in_pairs)
{
    fixture f;
    begin(&f);
    assert_int_equal(pto_backend_bind(&f.call, "acme.b/arguments", f.bound), PTO_OK);
    static const char *const names[] = {"x", "k", "y"};
    const pto_tensor *const tensors[] = {&f.x, &f.k, &f.y};
    for (int i = 0; i < 3; i++) {
        assert_true(pto_str_is(pto_value_name(f.bound[i].value), names[i]));
        assert_ptr_equal(f.bound[i].tensor, tensors[i]);
    }
    int64_t n = 0;
    assert_int_equal(pto_call_symbol(&f.call, PTO_STR("N"), &n), 1);
    assert_int_equal(n, 3);
    assert_int_equal(pto_call_symbol(&f.call, PTO_STR("M"), &n), 0);
    end(&f, PTO_OK);
}

TEST(another_number_of_tensors_is_refused)
{
    fixture f;
    begin(&f);
    f.call.result_count = 0;
    expect_error(&f, "the function has 2 parameters and 1 results, the call has 2 and 0");
}

TEST(another_element_type_or_rank_is_refused)
{
    fixture f;
    begin(&f);
    f.k.dtype = PTO_I64;
    expect_error(&f, "%k has rank 0, i32; the call has rank 0, i64");
    begin(&f);
    f.y.rank = 1;
    expect_error(&f, "%y has rank 2, f32; the call has rank 1, f32");
}

TEST(another_extent_is_refused)
{
    fixture f;
    begin(&f);
    f.x.dims[0] = 5;
    expect_error(&f, "dim 0 of %x is not 5, which the call has");
    begin(&f);
    f.call.symbol_count = 0;
    expect_error(&f, "dim 0 of %x is not 3, which the call has");
}
