#include "ir/context/context.h"

#include "tests/unit/unit.h"

#include <string.h>

static void assert_type_prints(ir_context *c, type_id t, const char *text)
{
    text_buffer out;
    text_init(&out);
    type_print(c, t, &out);
    text_putc(&out, '\0');
    assert_string_equal(out.p, text);
    text_fini(&out);
}

static expr_id symbol(ir_context *c, const char *name) { return expr_symbol(c, string_intern_z(c, name)); }

TEST(type_text_of_every_kind)
{
    ir_context *c = context_create(NULL);
    expr_id b = symbol(c, "B"), n32 = expr_const(c, 32), n256 = expr_const(c, 256);
    assert_type_prints(c, type_scalar(c, DTYPE_INDEX), "index");
    assert_type_prints(c, type_buffer(c), "buffer");
    assert_type_prints(c, type_tensor(c, DTYPE_F32, 0, NULL), "tensor<f32>");
    assert_type_prints(c, type_tensor(c, DTYPE_F32, 2, (expr_id[]){b, n32}), "tensor<$B x 32 x f32>");
    assert_type_prints(c, type_gm(c, DTYPE_BF16, 2, (expr_id[]){expr_mul(c, n32, b), n256}),
                       "gm<32 * $B x 256 x bf16>");
    assert_type_prints(c, type_gm(c, DTYPE_I8, 2, (expr_id[]){expr_add(c, b, expr_const(c, 1)), expr_min(c, b, n32)}),
                       "gm<$B + 1 x min(32, $B) x i8>");
    assert_type_prints(c, type_tile(c, DTYPE_F32, 16, 256, SPACE_NONE, LAYOUT_NONE), "tile<16 x 256 x f32, ?>");
    assert_type_prints(c, type_tile(c, DTYPE_F32, 16, 256, space_by_name(c, STR("vec")), LAYOUT_NONE),
                       "tile<16 x 256 x f32, vec>");
    assert_type_prints(c, type_tile(c, DTYPE_F32, 16, 256, space_by_name(c, STR("vec")), layout_by_name(c, STR("nd"))),
                       "tile<16 x 256 x f32, vec, nd>");
    assert_type_prints(c, 0, "<none>");
    context_destroy(c);
}

TEST(type_text_of_formats_and_strides)
{
    ir_context *c = context_create(NULL);
    expr_id n8 = expr_const(c, 8);
    type_node t = {.kind = TYPE_TENSOR, .dtype = DTYPE_BF16, .rank = 2, .format = FORMAT_NZ, .dims = {n8, n8}};
    assert_type_prints(c, type_intern(c, &t), "tensor<8 x 8 x bf16, nz>");
    t.format = FORMAT_PANEL;
    memcpy(t.panel, (int32_t[]){64, 16, 2}, sizeof t.panel);
    assert_type_prints(c, type_intern(c, &t), "tensor<8 x 8 x bf16, panel(64, 16, 2)>");
    t.kind = TYPE_GM;
    t.has_strides = 1;
    t.strides[0] = symbol(c, "N");
    t.strides[1] = expr_const(c, 1);
    assert_type_prints(c, type_intern(c, &t), "gm<8 x 8 x bf16, panel(64, 16, 2), strides [$N, 1]>");
    t.format = FORMAT_ND;
    assert_type_prints(c, type_intern(c, &t), "gm<8 x 8 x bf16, strides [$N, 1]>");
    context_destroy(c);
}

TEST(type_equal_content_is_equal_id)
{
    ir_context *c = context_create(NULL);
    expr_id dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < TYPE_MAX_RANK; i++) dims[i] = expr_const(c, i + 1);
    type_id seen[TYPE_MAX_RANK + 1];
    for (uint32_t rank = 0; rank <= TYPE_MAX_RANK; rank++) {
        seen[rank] = type_tensor(c, DTYPE_F32, rank, dims);
        assert_int_equal(type_tensor(c, DTYPE_F32, rank, dims), seen[rank]);
        assert_int_not_equal(type_tensor(c, DTYPE_F16, rank, dims), seen[rank]);
        assert_int_not_equal(type_gm(c, DTYPE_F32, rank, dims), seen[rank]);
        if (rank > 0) assert_int_not_equal(seen[rank], seen[rank - 1]);
    }
    type_node noisy;
    memset(&noisy, 0xA5, sizeof noisy);
    noisy.kind = TYPE_TENSOR;
    noisy.dtype = DTYPE_F32;
    noisy.rank = 1;
    noisy.format = FORMAT_ND;
    noisy.has_strides = 0;
    noisy.dims[0] = dims[0];
    assert_int_equal(type_intern(c, &noisy), seen[1]);
    noisy.kind = TYPE_BUFFER;
    assert_int_equal(type_intern(c, &noisy), type_buffer(c));
    assert_int_equal(type_at(c, seen[8])->rank, 8);
    assert_int_equal(type_at(c, 0)->kind, TYPE_NONE);
    context_destroy(c);
}

TEST(type_element_count_is_an_expression)
{
    ir_context *c = context_create(NULL);
    expr_id b = symbol(c, "B"), n32 = expr_const(c, 32), big = expr_const(c, INT64_C(1) << 40);
    expr_id count = type_element_count(c, type_tensor(c, DTYPE_F32, 3, (expr_id[]){b, n32, n32}));
    assert_int_equal(count, expr_mul(c, b, expr_const(c, 1024)));
    assert_int_equal(type_element_count(c, type_tensor(c, DTYPE_F32, 0, NULL)), expr_const(c, 1));
    assert_int_equal(type_element_count(c, type_scalar(c, DTYPE_F32)), expr_const(c, 1));
    assert_int_equal(type_element_count(c, type_tensor(c, DTYPE_F32, 2, (expr_id[]){big, big})), 0);
    assert_int_equal(type_element_count(c, type_buffer(c)), 0);
    context_destroy(c);
}

static expr_id eight(void *self, str_id name)
{
    (void)name;
    return expr_const(self, 8);
}

TEST(type_substitution_reaches_dims_and_strides)
{
    ir_context *c = context_create(NULL);
    expr_id b = symbol(c, "B"), n4 = expr_const(c, 4);
    type_node t = {.kind = TYPE_GM, .dtype = DTYPE_F32, .rank = 2, .has_strides = 1, .dims = {n4, b}};
    t.strides[0] = expr_mul(c, b, n4);
    t.strides[1] = expr_const(c, 1);
    expr_substitution s = {.symbol = eight, .self = c};
    assert_type_prints(c, type_substitute(c, type_intern(c, &t), &s), "gm<4 x 8 x f32, strides [32, 1]>");
    type_id fixed = type_tensor(c, DTYPE_F32, 1, &n4);
    assert_int_equal(type_substitute(c, fixed, &s), fixed);
    type_id scalar = type_scalar(c, DTYPE_F32);
    assert_int_equal(type_substitute(c, scalar, &s), scalar);
    expr_id much = expr_mul(c, b, expr_const(c, INT64_C(1) << 61));
    assert_int_equal(type_substitute(c, type_tensor(c, DTYPE_F32, 1, &much), &s), 0);
    context_destroy(c);
}

TEST(channels_are_queues_of_tiles)
{
    ir_context *c = context_create(NULL);
    type_id tile = type_tile(c, DTYPE_F32, 16, 64, space_by_name(c, STR("vec")), layout_by_name(c, STR("nd")));
    type_id two = type_channel(c, tile, 2, VIA_GM);
    assert_type_prints(c, two, "channel<tile<16 x 64 x f32, vec, nd>, depth = 2, via = gm>");
    assert_int_equal(type_channel(c, tile, 2, VIA_GM), two);
    assert_int_not_equal(type_channel(c, tile, 3, VIA_GM), two);
    assert_int_not_equal(type_channel(c, tile, 2, VIA_DIRECT), two);
    assert_int_not_equal(two, tile);
    assert_int_equal(channel_tile(c, two), tile);
    assert_int_equal(channel_tile(c, type_channel(c, tile, 64, VIA_DIRECT)), tile);
    context_destroy(c);
}

TEST(rows_of_a_mask_begin_every_32_bytes)
{
    static const struct {
        dtype d;
        int64_t rows, columns, bytes;
        bool is_column_major;
    } cases[] = {
        {DTYPE_MASK, 257, 3, 192, true},      {DTYPE_MASK, 16, 1, 32, true},
        {DTYPE_F32, 16, 1, 64, true},         {DTYPE_MASK, 1, 1, 32, false},
        {DTYPE_MASK, 16, 64, 512, false},     {DTYPE_MASK, 16, 256, 512, false},
        {DTYPE_MASK, 16, 257, 1024, false},   {DTYPE_MASK, 0, 8, 0, false},
        {DTYPE_REC64, 2, 3, 48, false},       {DTYPE_BOOL, 3, 5, 15, false},
        {DTYPE_F32, 16, 64, 4096, false},     {DTYPE_MASK, 1, INT64_MAX, INT64_C(1) << 60, false},
        {DTYPE_F32, 3, INT64_MAX, -1, false}, {DTYPE_I8, 2, INT64_MAX, -1, false},
        {DTYPE_F32, -1, 4, -1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t bytes = -1;
        bool fits = tile_bytes(cases[i].d, cases[i].is_column_major, cases[i].rows, cases[i].columns, &bytes);
        assert_int_equal(fits, cases[i].bytes >= 0);
        if (fits) assert_int_equal(bytes, cases[i].bytes);
    }
}

TEST(masks_and_records_stand_on_chip)
{
    ir_context *c = context_create(NULL);
    const uint8_t vec = (uint8_t)space_by_name(c, STR("vec")), acc = (uint8_t)space_by_name(c, STR("acc")),
                  mat = (uint8_t)space_by_name(c, STR("mat")), nd = (uint8_t)layout_by_name(c, STR("nd")),
                  nz = (uint8_t)layout_by_name(c, STR("nz"));
    const struct {
        type_node t;
        bool fits;
    } cases[] = {
        {{.kind = TYPE_TILE, .dtype = DTYPE_MASK, .rank = 2, .space = vec}, true},
        {{.kind = TYPE_TILE, .dtype = DTYPE_MASK, .rank = 2, .space = SPACE_NONE, .layout = nd}, true},
        {{.kind = TYPE_TILE, .dtype = DTYPE_MASK, .rank = 2, .space = acc}, false},
        {{.kind = TYPE_TILE, .dtype = DTYPE_REC64, .rank = 2, .space = vec, .layout = nz}, false},
        {{.kind = TYPE_CHANNEL, .dtype = DTYPE_MASK, .rank = 2, .space = mat}, false},
        {{.kind = TYPE_GM, .dtype = DTYPE_REC64}, true},
        {{.kind = TYPE_GM, .dtype = DTYPE_MASK}, false},
        {{.kind = TYPE_TENSOR, .dtype = DTYPE_REC64}, false},
        {{.kind = TYPE_SCALAR, .dtype = DTYPE_MASK}, false},
        {{.kind = TYPE_SCALAR, .dtype = DTYPE_F32}, true},
        {{.kind = TYPE_TILE, .dtype = DTYPE_F32, .rank = 2, .space = acc}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(type_misfit(c, &cases[i].t) == NULL, cases[i].fits);
    context_destroy(c);
}
