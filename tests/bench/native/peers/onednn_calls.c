/* Calls of oneDNN 2 for onednn_peer.py, which compiles this: each function makes a call on arrays that stay where they
 * are, NULL when oneDNN cannot; `onednn_then` joins two; `onednn_run` runs. Types: 0 f32, 1 bf16, 2 s8, 3 s32. */
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>

#if DNNL_VERSION_MAJOR != 2
#error "only oneDNN 2 is known here"
#endif

enum { ARGUMENTS_MAX = 6 };

typedef struct call {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[ARGUMENTS_MAX];
    int count;
    struct call *next;
} call;

typedef struct shape {
    int rank, type;
    dnnl_dim_t dims[3];
} shape;

static dnnl_engine_t engine;
static dnnl_stream_t stream;

const char *onednn_begin(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) return "";
    if (dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success) return "";
    text[0] = (char)('0' + v->major);
    text[1] = '.';
    text[2] = (char)('0' + v->minor);
    text[3] = '.';
    text[4] = (char)('0' + v->patch);
    return text;
}

static dnnl_memory_desc_t describe(const shape *s, dnnl_format_tag_t tag)
{
    static const dnnl_data_type_t types[] = {dnnl_f32, dnnl_bf16, dnnl_s8, dnnl_s32};
    static const dnnl_format_tag_t dense[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc};
    dnnl_memory_desc_t d;
    dnnl_memory_desc_init_by_tag(&d, s->rank, s->dims, types[s->type],
                                 tag != dnnl_format_tag_undef ? tag : dense[s->rank]);
    return d;
}

static void add(call *c, int which, const dnnl_memory_desc_t *d, void *data)
{
    c->arguments[c->count].arg = which;
    dnnl_memory_create(&c->arguments[c->count++].memory, d, engine, data);
}

/* The primitive of a descriptor; NULL: there is none. */
static call *begin(const void *op, dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *out)
{
    if (dnnl_primitive_desc_create(out, op, attributes, engine, NULL) != dnnl_success) return NULL;
    call *c = calloc(1, sizeof *c);
    if (c != NULL && dnnl_primitive_create(&c->primitive, *out) == dnnl_success) return c;
    free(c);
    return NULL;
}

void onednn_run(const call *c)
{
    for (; c != NULL; c = c->next) dnnl_primitive_execute(c->primitive, stream, c->count, c->arguments);
    dnnl_stream_wait(stream);
}

call *onednn_then(call *first, call *next)
{
    if (first != NULL) first->next = next;
    return next != NULL ? first : NULL;
}

call *onednn_softmax(void *x, void *y, long rows, long columns)
{
    const shape s = {2, 0, {rows, columns}};
    const dnnl_memory_desc_t d = describe(&s, dnnl_format_tag_undef);
    dnnl_softmax_desc_t op;
    dnnl_primitive_desc_t p;
    if (dnnl_softmax_forward_desc_init(&op, dnnl_forward_inference, &d, 1) != dnnl_success) return NULL;
    call *c = begin(&op, NULL, &p);
    if (c == NULL) return NULL;
    add(c, DNNL_ARG_SRC, &d, x);
    add(c, DNNL_ARG_DST, &d, y);
    return c;
}

call *onednn_layer_norm(void *x, void *gamma, void *beta, void *y, long rows, long columns)
{
    const shape s = {2, 0, {rows, columns}}, row = {1, 0, {columns}};
    const dnnl_memory_desc_t d = describe(&s, dnnl_format_tag_undef), r = describe(&row, dnnl_format_tag_undef);
    dnnl_layer_normalization_desc_t op;
    dnnl_primitive_desc_t p;
    if (dnnl_layer_normalization_forward_desc_init(&op, dnnl_forward_inference, &d, NULL, 1e-6F,
                                                   dnnl_use_scale | dnnl_use_shift) != dnnl_success)
        return NULL;
    call *c = begin(&op, NULL, &p);
    if (c == NULL) return NULL;
    add(c, DNNL_ARG_SRC, &d, x);
    add(c, DNNL_ARG_SCALE, &r, gamma);
    add(c, DNNL_ARG_SHIFT, &r, beta);
    add(c, DNNL_ARG_DST, &d, y);
    return c;
}

/* y = x * row, the row's number the same along its columns. */
call *onednn_scale_rows(void *x, void *row, long rows, long columns)
{
    const shape s = {2, 0, {rows, columns}}, r = {2, 0, {rows, 1}};
    const dnnl_memory_desc_t d = describe(&s, dnnl_format_tag_undef), e = describe(&r, dnnl_format_tag_undef);
    dnnl_binary_desc_t op;
    dnnl_primitive_desc_t p;
    if (dnnl_binary_desc_init(&op, dnnl_binary_mul, &d, &e, &d) != dnnl_success) return NULL;
    call *c = begin(&op, NULL, &p);
    if (c == NULL) return NULL;
    add(c, DNNL_ARG_SRC_0, &d, x);
    add(c, DNNL_ARG_SRC_1, &e, row);
    add(c, DNNL_ARG_DST, &d, x);
    return c;
}

/* Weights in the layout that the primitive likes best; copied to it once. */
static void add_packed(call *c, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to, void *data)
{
    dnnl_memory_t plain, packed;
    dnnl_primitive_desc_t p;
    dnnl_primitive_t reorder;
    dnnl_memory_create(&plain, from, engine, data);
    dnnl_memory_create(&packed, to, engine, DNNL_MEMORY_ALLOCATE);
    dnnl_reorder_primitive_desc_create(&p, from, engine, to, engine, NULL);
    dnnl_primitive_create(&reorder, p);
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, packed}};
    dnnl_primitive_execute(reorder, stream, 2, arguments);
    dnnl_stream_wait(stream);
    c->arguments[c->count].arg = DNNL_ARG_WEIGHTS;
    c->arguments[c->count++].memory = packed;
}

/* What is done to the product: one scale, or one for each column (count of them), and GELU. */
static dnnl_primitive_attr_t after_product(int batched, const float *scales, long scale_count, int gelu)
{
    dnnl_primitive_attr_t attributes;
    dnnl_post_ops_t ops;
    dnnl_primitive_attr_create(&attributes);
    dnnl_post_ops_create(&ops);
    if (scales != NULL)
        dnnl_primitive_attr_set_output_scales(attributes, scale_count, scale_count > 1 ? 2 << batched : 0, scales);
    if (gelu) dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_gelu_tanh, 0, 0);
    dnnl_primitive_attr_set_post_ops(attributes, ops);
    return attributes;
}

/* `sizes`: batch (0: none), m, n, k. `types`: of a and b, of c. `turned`: b is n x k. `packs`: b is the same in all
 * calls. */
call *onednn_matmul(const long *sizes, const int *types, int turned, int packs, void *a, void *b, void *bias,
                    void *result, const float *scales, long scale_count, int gelu)
{
    const int batched = sizes[0] > 0;
    const long m = sizes[1], n = sizes[2], k = sizes[3];
    shape sa = {2 + batched, types[0], {m, k}}, sb = {2 + batched, types[0], {k, n}},
          sc = {2 + batched, types[1], {m, n}};
    const shape row = {2, 0, {1, n}};
    if (batched) {
        sa = (shape){3, types[0], {sizes[0], m, k}};
        sb = (shape){3, types[0], {sizes[0], k, n}};
        sc = (shape){3, types[1], {sizes[0], m, n}};
    }
    const dnnl_memory_desc_t da = describe(&sa, dnnl_format_tag_undef), dc = describe(&sc, dnnl_format_tag_undef),
                             dr = describe(&row, dnnl_format_tag_undef),
                             plain = describe(&sb, !turned   ? dnnl_format_tag_undef
                                                   : batched ? dnnl_acb
                                                             : dnnl_ba),
                             db = packs ? describe(&sb, dnnl_format_tag_any) : plain;
    dnnl_matmul_desc_t op;
    dnnl_primitive_desc_t p;
    if (dnnl_matmul_desc_init(&op, &da, &db, bias != NULL ? &dr : NULL, &dc) != dnnl_success) return NULL;
    call *c = begin(&op, after_product(batched, scales, scale_count, gelu), &p);
    if (c == NULL) return NULL;
    add(c, DNNL_ARG_SRC, &da, a);
    if (packs)
        add_packed(c, &plain, dnnl_primitive_desc_query_md(p, dnnl_query_weights_md, 0), b);
    else
        add(c, DNNL_ARG_WEIGHTS, &db, b);
    if (bias != NULL) add(c, DNNL_ARG_BIAS, &dr, bias);
    add(c, DNNL_ARG_DST, &dc, result);
    return c;
}
