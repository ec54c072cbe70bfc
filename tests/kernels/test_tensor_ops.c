/* Every tensor op against the table of make_tensor_ops_tables.py; then the messages of calls that must fail.
 *
 * usage: test_tensor_ops TABLE PASSED. PASSED, which is written when all is right, lists ops and the element types that
 * cases of theirs had, for docs/op_types.py. Arrays are contiguous, permuted or with gaps, at odd addresses between
 * guard bytes; the whole memory image is compared. */
#include "semantics/insn_semantics.h"
#include "semantics/tensor_ops.h"

#include <pto/names.h>

#include "case_table.h"

typedef struct array {
    pto_tensor t;
    const uint8_t *image, *want;
    region memory;
} array;

static array take_array(reader *r, bool result)
{
    array a = {0};
    a.t.struct_size = sizeof a.t;
    a.t.dtype = (pto_dtype)take_i64(r);
    a.t.rank = (uint32_t)take_i64(r);
    for (int d = 0; d < PTO_MAX_DIMS; d++) a.t.dims[d] = take_i64(r);
    for (int d = 0; d < PTO_MAX_DIMS; d++) a.t.strides[d] = take_i64(r);
    a.t.bytes = (uint64_t)take_i64(r);
    a.image = take(r, a.t.bytes);
    if (result) a.want = take(r, a.t.bytes);
    a.memory = region_of(a.image, a.t.bytes);
    a.t.data = a.memory.all + GUARD;
    return a;
}

static bool is_as_wanted(const array *out, const char *name, const char *what, int64_t ulp)
{
    const int64_t at = first_difference(out->t.dtype, out->memory.all + GUARD, out->want, out->memory.bytes, ulp);
    if (at >= 0) {
        uint64_t got = 0, want = 0;
        memcpy(&got, out->memory.all + GUARD + at, element_bytes(out->t.dtype));
        memcpy(&want, out->want + at, element_bytes(out->t.dtype));
        printf("%s %s: byte %lld holds %llx, wanted %llx\n", name, what, (long long)at, (unsigned long long)got,
               (unsigned long long)want);
        return false;
    }
    if (guards_stand(&out->memory)) return true;
    printf("%s %s: bytes beside the result changed\n", name, what);
    return false;
}

/* How many cases there were, by the element type of the first operand: of `where` the second, without operands the
 * result. */
typedef int64_t seen_types[EVAL_COUNT][PTO_DTYPE_COUNT];

static bool run_case(reader *r, uint32_t cpu, seen_types seen)
{
    char name[NAME], what[WHAT];
    memcpy(name, take(r, NAME), NAME);
    memcpy(what, take(r, WHAT), WHAT);
    tensor_call call = {.cpu = cpu};
    call.mode = (round_mode)take_i64(r);
    call.saturate = take_i64(r) != 0;
    call.nan = (nan_rule)take_i64(r);
    call.drop_reduced = take_i64(r) != 0;
    call.transpose_a = take_i64(r) != 0;
    call.transpose_b = take_i64(r) != 0;
    call.approx = (gelu_approx)take_i64(r);
    const int64_t ulp = take_i64(r), faults = take_i64(r);
    call.axis_count = (uint32_t)take_i64(r);
    for (int d = 0; d < PTO_MAX_DIMS; d++) call.axes[d] = take_i64(r);
    memcpy(&call.eps, take(r, sizeof call.eps), sizeof call.eps);
    call.has_strides = take_i64(r) != 0;
    for (int d = 0; d < PTO_MAX_DIMS; d++) call.offsets[d] = take_i64(r);
    for (int d = 0; d < PTO_MAX_DIMS; d++) call.strides[d] = take_i64(r);
    call.value = take_number(r);
    call.third_is_scale = take_i64(r) != 0;
    call.relu = take_i64(r) != 0;
    call.block = take_i64(r);
    call.key = (uint64_t)take_i64(r);
    call.counter = (uint64_t)take_i64(r);
    call.causal = take_i64(r) != 0;
    call.interleaved = take_i64(r) != 0;
    call.groups = take_i64(r);
    call.has_scale = take_i64(r) != 0;
    memcpy(&call.scale, take(r, sizeof call.scale), sizeof call.scale);
    call.combine = (combine_rule)take_i64(r);
    call.descending = take_i64(r) != 0;
    call.exclusive = take_i64(r) != 0;
    call.reverse = take_i64(r) != 0;
    call.alpha = take_number(r);
    const int64_t count = take_i64(r), results = take_i64(r);
    array in[TENSOR_OPERANDS] = {{{0}, NULL, NULL, {0}}};
    for (int i = 0; i < count; i++) {
        in[i] = take_array(r, false);
        call.in[i] = &in[i].t;
    }
    array out[TENSOR_RESULTS] = {{{0}, NULL, NULL, {0}}};
    for (int i = 0; i < results; i++) out[i] = take_array(r, true);
    call.out = &out[0].t;
    call.second = results > 1 ? &out[1].t : NULL;

    const tensor_op op = tensor_op_by_name(name, strlen(name));
    seen[op][(count == 0 ? &out[0] : &in[op == EVAL_TENSOR_WHERE ? 1 : 0])->t.dtype]++;
    call.scratch = malloc(tensor_scratch_bytes(op, &call));
    bool good = tensor_run(op, &call) == PTO_OK;
    if (!good) printf("%s %s: failed: %s\n", name, what, call.text);
    for (int i = 0; i < results && good; i++) good = is_as_wanted(&out[i], name, what, ulp);
    if (good && call.faults != (uint64_t)faults) {
        printf("%s %s: %llu faults, wanted %lld\n", name, what, (unsigned long long)call.faults, (long long)faults);
        good = false;
    }
    free(call.scratch);
    for (int i = 0; i < count; i++) free(in[i].memory.all);
    for (int i = 0; i < results; i++) free(out[i].memory.all);
    return good;
}

static int run_table(const uint8_t *bytes, size_t n, seen_types seen)
{
    reader r = {bytes, bytes + n};
    const int64_t cases = take_i64(&r);
    int bad = 0;
    for (int64_t i = 0; i < cases && bad < 50; i++) {
        const int64_t size = take_i64(&r);
        reader one = {r.p, r.p + size}, again = one;
        take(&r, (size_t)size);
        bad += !run_case(&one, insn_cpu(), seen);
        bad += !run_case(&again, 0, seen);
    }
    for (int op = EVAL_NONE + 1; op < EVAL_COUNT; op++) {
        int64_t cases_of_op = 0;
        for (int t = 0; t < PTO_DTYPE_COUNT; t++) cases_of_op += seen[op][t];
        if (cases_of_op != 0 || op == EVAL_TENSOR_GROUP) continue;
        printf("%s: no case in the table\n", tensor_op_name((tensor_op)op));
        bad++;
    }
    printf("%lld cases, %d bad\n", (long long)cases, bad);
    return bad;
}

static int fails(tensor_op op, tensor_call call, const char *text)
{
    if (tensor_run(op, &call) == PTO_FAILED && strcmp(call.text, text) == 0) return 0;
    printf("must fail:\n    got  %s\n    want %s\n", call.text, text);
    return 1;
}

static int conv_failures(const pto_tensor *f)
{
    int bad = 0;
    pto_tensor list = *f;
    list.rank = 1;
    const pto_tensor x = {.dtype = PTO_F32, .rank = 4, .data = f->data, .dims = {1, 2, 2, 3}, .strides = {12, 6, 3, 1}};
    pto_tensor to = x, kernel = x;
    to.dims[3] = kernel.dims[3] = 4;
    kernel.dims[1] = kernel.dims[2] = 1;
    bad += fails(EVAL_TENSOR_CONV2D, (tensor_call){.in = {f, &kernel}, .out = &to}, "ranks 2 and 4 to 4");
    bad += fails(EVAL_TENSOR_CONV2D, (tensor_call){.in = {&x, &kernel}, .out = &to, .groups = 2},
                 "2 groups of 1 channels and 4 results for 3");
    kernel.dims[2] = 3;
    bad += fails(EVAL_TENSOR_CONV2D, (tensor_call){.in = {&x, &kernel, &list}, .out = &to},
                 "1 x 4 from 1 x 4, with a bias that does not fit");
    kernel.dtype = PTO_F16;
    bad += fails(EVAL_TENSOR_CONV2D, (tensor_call){.in = {&x, &kernel}, .out = &to},
                 "x is f32, w f16: they must be equal");
    return bad;
}

static int run_failures(void)
{
    float memory[64] = {0};
    const pto_tensor f = {.dtype = PTO_F32, .rank = 2, .data = memory, .bytes = 48, .dims = {3, 4}, .strides = {4, 1}};
    pto_tensor i = f, tall = f, wide = f, point = f, square = f, deep = f;
    i.dtype = PTO_I32;
    tall.dims[0] = 4;
    wide.rank = 1;
    point.rank = 0;
    square.dims[1] = 3;
    deep.rank = 9;
    int bad = 0;
    bad += fails(EVAL_TENSOR_ADD, (tensor_call){.in = {&f, &tall}, .out = &f},
                 "operand 2 has extent 4 along dim 0, which does not broadcast to 3");
    bad += fails(EVAL_TENSOR_ADD, (tensor_call){.in = {&f, &i}, .out = &f},
                 "operand 2 is i32, the result f32: they must be equal");
    bad += fails(EVAL_TENSOR_EXP, (tensor_call){.in = {&i}, .out = &i},
                 "element type i32 is not a float that ops compute in");
    bad += fails(EVAL_TENSOR_EXP, (tensor_call){.in = {&tall}, .out = &f},
                 "operand 1 has extent 4 along dim 0, the result 3");
    bad += fails(EVAL_TENSOR_EXP, (tensor_call){.in = {&deep}, .out = &f}, "rank 9, the limit is 8");
    bad += fails(EVAL_TENSOR_REDUCE_SUM, (tensor_call){.in = {&f}, .out = &f, .axis_count = 1, .axes = {2}},
                 "axis 2 of a tensor of rank 2");
    bad += fails(EVAL_TENSOR_REDUCE_SUM, (tensor_call){.in = {&f}, .out = &f, .axis_count = 1, .axes = {-1}},
                 "dim 1 of the result is 4, it must be 1");
    bad += fails(EVAL_TENSOR_REDUCE_SUM, (tensor_call){.in = {&f}, .out = &f, .axis_count = 2, .axes = {-1, 1}},
                 "axis 1 occurs twice");
    bad += fails(EVAL_TENSOR_MATMUL, (tensor_call){.in = {&f, &f}, .out = &f}, "3 x 4 times 3 x 4 is not 3 x 4");
    bad += fails(EVAL_TENSOR_MATMUL, (tensor_call){.in = {&f, &point}, .out = &f}, "ranks 2 and 0 to 2");
    bad += fails(EVAL_TENSOR_MATMUL, (tensor_call){.in = {&square, &square, &f}, .out = &square},
                 "bias: operand 1 has extent 4 along dim 1, which does not broadcast to 3");
    bad += fails(EVAL_TENSOR_TRANSPOSE, (tensor_call){.in = {&f}, .out = &f, .axis_count = 2, .axes = {0, 0}},
                 "entry 1 of perm is 0, no permutation");
    bad += fails(EVAL_TENSOR_RESHAPE, (tensor_call){.in = {&f}, .out = &tall}, "12 elements for a shape of 16");
    bad += fails(EVAL_TENSOR_VIEW, (tensor_call){.in = {&f}, .out = &f, .offsets = {0, 1}},
                 "reaches index 4 of dim 1, whose extent is 4");
    bad += fails(EVAL_TENSOR_VIEW,
                 (tensor_call){.in = {&f}, .out = &f, .offsets = {2}, .has_strides = true, .strides = {-2, 1}},
                 "reaches index -2 of dim 0, whose extent is 3");
    bad += fails(EVAL_TENSOR_VIEW, (tensor_call){.in = {&f}, .out = &f, .has_strides = true, .strides = {INT64_MAX, 1}},
                 "reaches an index of dim 0 beyond 64 bits");
    bad += fails(EVAL_TENSOR_ASSEMBLE, (tensor_call){.in = {&f, &f}, .out = &f, .offsets = {-1}},
                 "reaches index -1 of dim 0, whose extent is 3");
    bad +=
        fails(EVAL_TENSOR_PAD, (tensor_call){.in = {&tall}, .out = &f}, "reaches index 3 of dim 0, whose extent is 3");
    bad += fails(EVAL_TENSOR_CONCAT, (tensor_call){.in = {&wide}, .out = &f}, "a window of rank 1 in rank 2");
    bad += fails(EVAL_TENSOR_FLIP, (tensor_call){.in = {&f}, .out = &f, .axis_count = 1, .axes = {2}},
                 "axis 2 of a tensor of rank 2");
    int32_t places[] = {0, 4, -1};
    const pto_tensor index = {
        .dtype = PTO_I32, .rank = 2, .data = places, .bytes = 12, .dims = {3, 1}, .strides = {1, 1}};
    pto_tensor list = index, column = f;
    list.rank = 1;
    column.dims[1] = 1;
    bad += fails(EVAL_TENSOR_GATHER, (tensor_call){.in = {&f, &index}, .out = &column, .axis_count = 1, .axes = {1}},
                 "has index 4 at [1, 0] of operand 2, out of the extent 4 of axis 1; legal are 0 to 3");
    bad += fails(EVAL_TENSOR_TAKE, (tensor_call){.in = {&tall, &list}, .out = &f, .axis_count = 1, .axes = {0}},
                 "has index 4 at [1] of operand 2, out of the extent 4 of axis 0; legal are 0 to 3");
    places[1] = -1;
    bad += fails(EVAL_TENSOR_SCATTER_UPDATE,
                 (tensor_call){.in = {&tall, &list, &f}, .out = &tall, .axis_count = 1, .axes = {0}},
                 "has index -1 at [1] of operand 2, out of the extent 4 of axis 0; legal are 0 to 3");
    bad += fails(EVAL_TENSOR_TAKE, (tensor_call){.in = {&tall, &i}, .out = &f, .axis_count = 1, .axes = {0}},
                 "ranks 2 and 2 make 2");
    bad += fails(EVAL_TENSOR_TAKE, (tensor_call){.in = {&tall, &wide}, .out = &f, .axis_count = 1, .axes = {0}},
                 "operand 2 is f32, indices are i16, i32 or i64");
    bad += fails(EVAL_TENSOR_TOPK, (tensor_call){.in = {&f}, .out = &tall, .axis_count = 1, .axes = {0}},
                 "4 elements of an axis that has 3");
    bad += conv_failures(&f);
    bad += fails(EVAL_TENSOR_GROUP, (tensor_call){.out = &f}, "tensor.group computes nothing");
    return bad;
}

static int write_passed(const char *path, seen_types seen)
{
    FILE *f = fopen(path, "w");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    for (int op = EVAL_NONE + 1; op < EVAL_COUNT; op++)
        for (int t = 0; t < PTO_DTYPE_COUNT; t++)
            if (seen[op][t] != 0) fprintf(f, "%s %s\n", tensor_op_name((tensor_op)op), pto_dtype_name((pto_dtype)t));
    return fclose(f) != 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_tensor_ops TABLE PASSED\n");
        return 2;
    }
    size_t n;
    uint8_t *bytes = table_load(argv[1], &n);
    static seen_types seen;
    const int bad = run_table(bytes, n, seen) + run_failures();
    free(bytes);
    return bad != 0 || write_passed(argv[2], seen) != 0;
}
