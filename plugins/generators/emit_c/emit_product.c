/* Products: calls of the kernels that the caller has. */
#include "emit.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }

/* What the kernels are of, what finds them, and what says how much scratch they need. */
static const struct {
    pto_dtype type;
    const char *name, *number, *find, *scratch;
} kinds[EMIT_PRODUCT_COUNT] = {
    [PTO_PRODUCT_F32] = {PTO_F32, "f32_product_", "PTO_PRODUCT_F32", "pto_native_product_of", "scratch_most"},
    [PTO_PRODUCT_F16] = {PTO_F16, "f16_product_", "PTO_PRODUCT_F16", "pto_native_product_of", "scratch_most"},
    [PTO_PRODUCT_BF16] = {PTO_BF16, "bf16_product_", "PTO_PRODUCT_BF16", "pto_native_product_of", "scratch_most"},
    [PTO_PRODUCT_I8] = {PTO_I8, "i8_product_", "PTO_PRODUCT_I8", "pto_native_product_of", "scratch_most"},
    [EMIT_WEIGHTS] = {PTO_F32, "weights_product_", "PTO_PRODUCT_F32", "pto_native_weights_of", "weights_scratch"},
#define PANELS(TYPE, name)        \
    [EMIT_PANELS + PTO_PRODUCT_## \
        TYPE] = {PTO_##TYPE, name "_panels_", "PTO_PRODUCT_" #TYPE, "pto_native_panels_of", "panels_scratch"}
    PANELS(F32, "f32"),
    PANELS(F16, "f16"),
    PANELS(BF16, "bf16"),
    PANELS(I8, "i8"),
};

/* Of the op; EMIT_PRODUCT_COUNT: there is none. */
static uint32_t kind_of(emitter *e, pto_op op)
{
    const pto_dtype t = dtype_of(pto_op_operand(op, 1));
    if (EMIT_IS(e, op, CONTRACT_WEIGHTS)) return EMIT_WEIGHTS;
    for (uint32_t i = 0; i < PTO_PRODUCT_COUNT; i++)
        if (kinds[i].type == t) return pto_attr_int_of(op, PTO_STR("panels"), 0) != 0 ? EMIT_PANELS + i : i;
    return EMIT_PRODUCT_COUNT;
}

const char *emit_product_name(uint32_t kind) { return kinds[kind].name; }

/* ---- the call ---- */

/* Pointer and strides of left or right. */
static emit_window operand_of(emitter *e, pto_op op, uint32_t i, const pto_expr size[2])
{
    static const char *const starts[] = {NULL, "left", "right"}, *const turns[] = {NULL, "transpose_left",
                                                                                   "transpose_right"};
    const pto_value v = pto_op_operand(op, i);
    const int turned = pto_attr_bool_of(op, pto_s(turns[i]), 0);
    emit_window w;
    if (is_memory(v)) {
        emit_window_of(e, op, starts[i], v, size, turned, &w);
        const char *name = emit_spare(e, starts[i]);
        text_line(e->out, "const %s *const %s = %s;", emit_memory_type(dtype_of(v)), name, w.base);
        w.base = name;
        return w;
    }
    const char *capacity = emit_format(e, "%lld", (long long)emit_columns(v));
    w.base =
        emit_format(e, "&%s", emit_at(e, v, emit_index_of(e, op, starts[i], 0), emit_index_of(e, op, starts[i], 1)));
    if (strcmp(emit_index_of(e, op, starts[i], 0), "0") == 0 && strcmp(emit_index_of(e, op, starts[i], 1), "0") == 0)
        w.base = emit_tile(e, v);
    w.row_stride = turned ? "1" : capacity;
    w.column_stride = turned ? capacity : "1";
    return w;
}

/* The right side as arguments. */
static const char *right_of(emitter *e, pto_op op, uint32_t kind, pto_expr depth, pto_expr columns)
{
    if (kind == EMIT_WEIGHTS) return emit_format(e, "&%s", emit_weights(e, op, columns));
    if (kind >= EMIT_PANELS) return emit_panels(e, op, depth, columns);
    const emit_window w = operand_of(e, op, 2, (const pto_expr[]){depth, columns});
    return emit_format(e, "%s, %s, %s", w.base, w.row_stride, w.column_stride);
}

/* Notes that the kernel needs kernels of that element type, and scratch for tiles of that capacity. */
static void note_product(emitter *e, uint32_t kind, pto_type sums)
{
    emit_product p = {.kind = kind};
    (void)pto_dim_is_const(sums, 0, &p.rows);
    (void)pto_dim_is_const(sums, 1, &p.columns);
    for (uint32_t i = 0; i < e->product_count; i++)
        if (memcmp(&e->products[i], &p, sizeof p) == 0) return;
    PTO_GROW(e->run, e->products, e->product_count, e->product_capacity);
    e->products[e->product_count++] = p;
}

/* `store`: where the sums go; none: to their tile. */
static pto_status put_product(emitter *e, pto_op op, pto_op store)
{
    const pto_value sums = pto_op_result(op, 0), before = pto_op_operand(op, 0);
    const uint32_t kind = kind_of(e, op);
    const pto_expr depth = pto_expr_of(op, PTO_STR("depth"), 0);
    const int from_zero = fused_starts_at_zero(&e->model, op);
    pto_expr valid[2];
    PTO_TRY(pto_value_valid(sums, valid));
    if (kind == EMIT_PRODUCT_COUNT) return emit_refuse(op, "there are no kernels for its element type");
    note_product(e, kind, pto_value_type(sums));
    emit_open_block(e);
    text_line(e->out, "const int64_t m_ = %s, n_ = %s, k_ = %s;", emit_index(e, valid[0]), emit_index(e, valid[1]),
              emit_index(e, depth));
    if (pto_expr_range(depth, op, NULL).lo < 0)
        text_line(e->out, "if (k_ < 0) return %u;", emit_fault_of(e, op, "has a depth below 0"));
    const emit_window left = operand_of(e, op, 1, (const pto_expr[]){valid[0], depth});
    const char *right = right_of(e, op, kind, depth, valid[1]);
    emit_window to = {.row_stride = emit_format(e, "%lld", (long long)emit_columns(sums))};
    if (PTO_SOME(store)) {
        emit_window_of(e, store, "offsets", pto_op_operand(store, 1), valid, 0, &to);
        const char *name = emit_spare(e, "to");
        text_line(e->out, "%s *const %s = %s;", emit_memory_type(dtype_of(sums)), name, to.base);
        to.base = name;
    } else {
        to.base = emit_tile(e, sums);
        if (!from_zero) PTO_TRY(emit_hand_over(e, 1, &sums, &before, 0));
    }
    const char *packed = emit_packed_right(e, op, kind, depth, valid[1]), *adds = from_zero ? "false" : "true";
    if (packed != NULL)
        text_open(e->out, "if (!pto_native_multiply(%s, m_, n_, k_, %s, %s, %s, %s, %s, %s, packing_))",
                  emit_packed_arguments(e, op, packed), left.base, left.row_stride, left.column_stride, to.base,
                  to.row_stride, adds);
    text_line(e->out, "%s->%s(m_, n_, k_, %s, %s, %s, %s, %s, %s, %s, packing_);", kinds[kind].name,
              kind == EMIT_WEIGHTS  ? "weights"
              : kind >= EMIT_PANELS ? "panels"
                                    : "block",
              left.base, left.row_stride, left.column_stride, right, to.base, to.row_stride, adds);
    if (packed != NULL) text_close(e->out, "");
    text_close(e->out, "");
    return PTO_OK;
}

pto_status emit_contract(emitter *e, pto_op op)
{
    if (PTO_SOME(fused_store_of_product(&e->model, op))) return PTO_OK;
    emit_comment(e, op);
    return put_product(e, op, pto_op_none(e->run));
}

pto_status emit_stored_product(emitter *e, pto_op store)
{
    const pto_op contract = pto_value_op(pto_op_operand(store, 0));
    emit_comment(e, contract);
    return put_product(e, contract, store);
}

/* ---- what is around it ---- */

static int uses_kind(const emit_product *products, uint32_t count, uint32_t kind)
{
    for (uint32_t i = 0; i < count; i++)
        if (products[i].kind == kind) return 1;
    return 0;
}

void emit_products_fields(emitter *e, text *out)
{
    for (uint32_t k = 0; k < EMIT_PRODUCT_COUNT; k++)
        if (uses_kind(e->products, e->product_count, k))
            text_put(out, "    const pto_native_product *%s;\n", kinds[k].name);
}

void emit_products_declare(emitter *e, text *out)
{
    for (uint32_t k = 0; k < EMIT_PRODUCT_COUNT; k++)
        if (uses_kind(e->products, e->product_count, k))
            text_put(out, "    const pto_native_product *const %s = frame_->%s;\n", kinds[k].name, kinds[k].name);
    if (e->product_count != 0)
        text_put(out, "    char *const packing_ = scratch_ + %lld;\n", (long long)e->scratch_bytes);
}

void emit_products_find(emitter *e, pto_op launch, const emit_kernel_info *kernel, const char *frame)
{
    for (uint32_t k = 0; k < EMIT_PRODUCT_COUNT; k++) {
        if (!uses_kind(kernel->products, kernel->product_count, k)) continue;
        const char *bytes = k >= EMIT_PANELS ? emit_format(e, ", %s", emit_bare(e, emit_call_bytes(e))) : "";
        text_line(e->out, "%s.%s = %s(call_->services, %s%s);", frame, kinds[k].name, kinds[k].find, kinds[k].number,
                  bytes);
        text_line(e->out, "if (%s.%s == NULL) return %u;", frame, kinds[k].name,
                  emit_fault_of(e, launch, "needs kernels of products that the caller does not have"));
    }
}

const char *emit_products_scratch(emitter *e, const emit_kernel_info *kernel, const char *frame)
{
    const char *most = NULL;
    for (uint32_t i = 0; i < kernel->product_count; i++) {
        const emit_product *p = &kernel->products[i];
        const int may_be_packed = p->kind < PTO_PRODUCT_COUNT && kernel->packed_count != 0;
        const char *of = may_be_packed
                             ? emit_format(e, "pto_native_scratch_most(%s.%s, ", frame, kinds[p->kind].name)
                             : emit_format(e, "%s.%s->%s(", frame, kinds[p->kind].name, kinds[p->kind].scratch),
                   *bytes = emit_format(e, "%s%lld, %lld)", of, (long long)p->rows, (long long)p->columns);
        most = most == NULL ? bytes : emit_format(e, "pto_index_max(%s, %s)", most, bytes);
    }
    const long long tiles = (long long)kernel->scratch_bytes;
    return most == NULL ? emit_format(e, "%lld", tiles) : emit_format(e, "(size_t)(%lld + %s)", tiles, most);
}
