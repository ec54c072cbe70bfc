/* Which values the destination of an instruction may have. Instructions are exact except for sums, whose order is open.
 */
#include "reference_interp.h"

#include <string.h>

typedef struct bound_insn_run {
    interp *in;
    insn_id id;
    int64_t rule_id; /* PTO_RULE_* */
    const insn_call *call;
    pto_dtype type; /* of the destination, which may be a window */
    bound_rule rule;
    bound scalar;
    const bound *src[3];
    int64_t rows, cols; /* of the result */
    bound *to;
} bound_insn_run;

/* ---- tiles and windows as lists ---- */

static void move_tile(shadow *s, const tile_ref *t, int64_t rows, int64_t cols, bound *list, bool writes)
{
    const int64_t size = (int64_t)element_bytes(t->dtype);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols;) {
            const tile_run run = tile_run_at(t, r, c, (size_t)(cols - c));
            if (writes)
                shadow_write(s, t->dtype, t->base + run.offset * size, run.stride, run.count, &list[r * cols + c]);
            else
                shadow_read(s, t->dtype, t->base + run.offset * size, run.stride, run.count, &list[r * cols + c]);
            c += (int64_t)run.count;
        }
    }
}

/* A byte of a mask is sure when all its bits are. */
static void read_mask(const shadow *s, const tile_ref *t, bound *list)
{
    const bool down = t->order == PTO_ORDER_COLUMN;
    const tile_ref rows = down ? tile_transposed(t) : *t, bytes = tile_as_bytes(&rows);
    for (int64_t r = 0; r < rows.valid_rows; r++) {
        for (int64_t c = 0; c < rows.valid_cols; c++) {
            bound byte;
            uint8_t bit;
            shadow_read(s, PTO_U8, bytes.base + r * bytes.cols + c / 8, 1, 1, &byte);
            tile_read_bits(&rows, r, c, 1, &bit);
            list[down ? c * t->valid_cols + r : r * t->valid_cols + c] =
                byte.is_exact ? bound_of(PTO_BOOL, bit) : bound_anything(PTO_BOOL);
        }
    }
}

static void write_mask(shadow *s, const tile_ref *t, const bound *list)
{
    const bool down = t->order == PTO_ORDER_COLUMN;
    const tile_ref rows = down ? tile_transposed(t) : *t, bytes = tile_as_bytes(&rows);
    for (int64_t r = 0; r < rows.valid_rows; r++) {
        for (int64_t c = 0; c < bytes.valid_cols; c++) {
            bound byte = {.is_exact = true};
            for (int64_t bit = 8 * c; bit < 8 * c + 8 && bit < rows.valid_cols; bit++)
                if (!list[down ? bit * t->valid_cols + r : r * t->valid_cols + bit].is_exact)
                    byte = bound_anything(PTO_U8);
            shadow_write(s, PTO_U8, bytes.base + r * bytes.cols + c, 1, 1, &byte);
        }
    }
}

static void move_window(shadow *s, const gm_window *w, bound *list, bool writes)
{
    const int64_t size = (int64_t)element_bytes(w->dtype), stride = gm_row_stride(w);
    for (int64_t r = 0; r < w->rows && w->cols > 0; r++) {
        uint8_t *row = w->base + gm_offset(w, r, 0) * size;
        if (writes)
            shadow_write(s, w->dtype, row, stride, (size_t)w->cols, &list[r * w->cols]);
        else
            shadow_read(s, w->dtype, row, stride, (size_t)w->cols, &list[r * w->cols]);
    }
}

static bound *make_bounds(interp *in, int64_t count, storage **out)
{
    *out = storage_make(in->pool, (size_t)(count > 0 ? count : 1) * sizeof(bound));
    if (*out == NULL) return NULL;
    void *const data = (*out)->data;
    return data;
}

/* ---- elements ---- */

static bound one_operand(const bound_insn_run *r, const bound *a)
{
    const pto_dtype t = r->type;
    switch (r->id) {
    case INSN_TNEG: return bound_neg(t, a);
    case INSN_TABS: return bound_abs(t, a);
    case INSN_TRELU: return bound_relu(a);
    case INSN_TEXP: return bound_function(EVAL_TENSOR_EXP, GELU_TANH, t, a, &r->rule);
    case INSN_TLOG: return bound_function(EVAL_TENSOR_LOG, GELU_TANH, t, a, &r->rule);
    case INSN_TSQRT: return bound_function(EVAL_TENSOR_SQRT, GELU_TANH, t, a, &r->rule);
    case INSN_TRSQRT: return bound_function(EVAL_TENSOR_RSQRT, GELU_TANH, t, a, &r->rule);
    case INSN_TRECIP: return bound_function(EVAL_TENSOR_RECIPROCAL, GELU_TANH, t, a, &r->rule);
    case INSN_TFUNCTION: return bound_function(r->call->function->row, r->call->function->approx, t, a, &r->rule);
    case INSN_TCVT: return bound_convert(t, r->call->src[0].dtype, a, r->call->mode, r->call->saturate);
    default: break;
    }
    if (r->rule_id == PTO_RULE_UNARY || r->rule_id == PTO_RULE_ROOT) return bound_anything(t);
    /* Copies, and stores of accumulators. */
    const pto_dtype from = r->call->src[0].dtype;
    bound left = r->call->relu ? bound_relu(a) : *a;
    if (!r->call->has_scale) return bound_convert(t, from, &left, ROUND_RINT, false);
    const bound scale = bound_of(PTO_F32, (double)r->call->scale);
    left = bound_convert(PTO_F32, from, &left, ROUND_RINT, false);
    left = bound_mul(PTO_F32, &left, &scale, 1);
    return bound_convert(t, PTO_F32, &left, ROUND_RINT, !element_is_float(t));
}

typedef enum two_op { TWO_NONE, TWO_ADD, TWO_SUB, TWO_MUL, TWO_DIV, TWO_RDIV, TWO_MAX, TWO_MIN } two_op;

#define FAMILY(op)            \
    case INSN_T##op:          \
    case INSN_T##op##S:       \
    case INSN_TROWEXPAND##op: \
    case INSN_TCOLEXPAND##op: return TWO_##op;
static two_op two_of(insn_id id)
{
    switch (id) {
        FAMILY(ADD)
        FAMILY(SUB)
        FAMILY(MUL)
        FAMILY(DIV)
        FAMILY(MAX)
        FAMILY(MIN)
    case INSN_TRDIVS: return TWO_RDIV;
    default: return TWO_NONE;
    }
}
#undef FAMILY

static bound two_operands(const bound_insn_run *r, two_op op, const bound *a, const bound *b)
{
    const pto_dtype t = r->type;
    const double ulp = r->rule.ulp;
    switch (op) {
    case TWO_ADD: return bound_add(t, a, b, ulp);
    case TWO_SUB: return bound_sub(t, a, b, ulp);
    case TWO_MUL: return bound_mul(t, a, b, ulp);
    case TWO_DIV: return bound_div(t, a, b, ulp);
    case TWO_RDIV: return bound_div(t, b, a, ulp);
    default: return bound_extreme(a, b, op == TWO_MIN, NAN_IGNORE);
    }
}

/* Element (r, c) of a source that may be one column, or one row. */
static const bound *source_at(const bound_insn_run *r, int i, int64_t row, int64_t col)
{
    const tile_ref *t = &r->call->src[i];
    return &r->src[i][(t->valid_rows == 1 ? 0 : row) * t->valid_cols + (t->valid_cols == 1 ? 0 : col)];
}

static void elements(const bound_insn_run *r)
{
    const two_op op = two_of(r->id);
    const bool is_turned = r->id == INSN_TTRANS, has_scalar = op != TWO_NONE && r->src[1] == NULL;
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t k = 0; k < r->cols; k++) {
            const bound *a = is_turned ? source_at(r, 0, k, i) : source_at(r, 0, i, k), *b = has_scalar ? &r->scalar
                                                                                             : op != TWO_NONE
                                                                                                 ? source_at(r, 1, i, k)
                                                                                                 : NULL;
            bound *z = &r->to[i * r->cols + k];
            if (a->is_exact && (b == NULL || b->is_exact) && r->rule.ulp == 0)
                *z = (bound){.is_exact = true};
            else
                *z = op != TWO_NONE ? two_operands(r, op, a, b) : one_operand(r, a);
        }
    }
}

/* Bits, and what they choose. */
static void masks(const bound_insn_run *r)
{
    const bool compares = r->rule_id == PTO_RULE_COMPARE || r->rule_id == PTO_RULE_COMPARE_SCALAR;
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t k = 0; k < r->cols; k++) {
            const bound *a = source_at(r, 0, i, k), *b = r->src[1] != NULL ? source_at(r, 1, i, k) : &r->scalar,
                        *c = r->src[2] != NULL ? source_at(r, 2, i, k) : &r->scalar;
            r->to[i * r->cols + k] = compares    ? bound_compare(r->call->relation, a, b)
                                     : a->lo > 0 ? *b
                                     : a->hi < 1 ? *c
                                                 : bound_join(b, c);
        }
    }
}

/* Bit by bit: sure of operands that are. */
static void logic(const bound_insn_run *r)
{
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t k = 0; k < r->cols; k++) {
            const bool is_sure =
                source_at(r, 0, i, k)->is_exact && (r->src[1] == NULL || source_at(r, 1, i, k)->is_exact);
            r->to[i * r->cols + k] = is_sure ? (bound){.is_exact = true} : bound_anything(r->type);
        }
    }
}

/* ---- rows, columns, products ---- */

static void fold(const bound_insn_run *r, bool of_rows, bool is_sum, bool smaller)
{
    const tile_ref *t = &r->call->src[0];
    const int64_t outer = of_rows ? t->valid_rows : t->valid_cols, inner = of_rows ? t->valid_cols : t->valid_rows;
    const bool is_float = element_is_float(t->dtype);
    for (int64_t i = 0; i < outer; i++) {
        bound_sum s = bound_sum_start();
        bound top = {.is_exact = true};
        for (int64_t k = 0; k < inner; k++) {
            const bound *x = of_rows ? source_at(r, 0, i, k) : source_at(r, 0, k, i);
            const bool is_exact = top.is_exact && x->is_exact;
            if (is_sum) bound_sum_add(&s, x);
            if (!is_sum) top = k == 0 ? *x : bound_extreme(&top, x, smaller, NAN_IGNORE);
            top.is_exact = is_exact;
        }
        if (is_sum && (!s.is_exact || (is_float && inner > 0)))
            top = bound_sum_end(t->dtype, of_rows && is_float ? PTO_F32 : t->dtype, &s);
        r->to[i] = top;
    }
}

static bool products(const bound_insn_run *r)
{
    const int first = r->rule_id == PTO_RULE_MATMUL_ACC || r->rule_id == PTO_RULE_GEMV_ACC;
    const pto_dtype t = r->type;
    const int64_t depth = r->call->src[first].valid_cols;
    const bound_matrices p = {.a = r->src[first],
                              .b = r->src[first + 1],
                              .first = first ? r->src[0] : NULL,
                              .out = r->to,
                              .m = r->rows,
                              .k = depth,
                              .n = r->cols,
                              .a_strides = {depth, 1},
                              .b_strides = {r->call->src[first + 1].valid_cols, 1},
                              .out_strides = {r->cols, 1},
                              .type = t,
                              .inside = t,
                              .is_bf16 = r->call->src[first].dtype == PTO_BF16};
    return bound_products(r->in, &p);
}

static void anything(const bound_insn_run *r)
{
    for (int64_t i = 0; i < r->rows * r->cols; i++) r->to[i] = bound_anything(r->type);
}

static void folds(const bound_insn_run *r)
{
    switch (r->id) {
    case INSN_TROWSUM: fold(r, true, true, false); break;
    case INSN_TROWMAX: fold(r, true, false, false); break;
    case INSN_TROWMIN: fold(r, true, false, true); break;
    case INSN_TCOLSUM: fold(r, false, true, false); break;
    case INSN_TCOLMAX: fold(r, false, false, false); break;
    case INSN_TCOLMIN: fold(r, false, false, true); break;
    default: anything(r); break;
    }
}

/* Elements keep their bounds where all indices are exact, and are legal. */
static void by_index(const bound_insn_run *r)
{
    const bool gathers = r->rule_id == PTO_RULE_GATHER;
    const int last = gathers ? 1 : 2;
    const tile_ref *index = &r->call->src[last], *table = &r->call->src[0];
    if (r->rows != 1) return;
    for (int64_t c = 0; c < r->cols && !gathers; c++) r->to[c] = *source_at(r, 0, 0, c);
    for (int64_t c = 0; index->valid_rows != 0 && c < index->valid_cols; c++) {
        int64_t at;
        tile_read_i64(index, 0, c, 1, &at);
        if (!source_at(r, last, 0, c)->is_exact || at < 0 || at >= table->valid_cols) {
            anything(r);
            return;
        }
        r->to[gathers ? c : at] = *source_at(r, gathers ? 0 : 1, 0, gathers ? at : c);
    }
}

static void rows_by_index(const bound_insn_run *r)
{
    const tile_ref *index = &r->call->src[1], *table = &r->call->src[0];
    for (int64_t i = 0; i < index->valid_rows; i++)
        for (int64_t c = 0; c < index->valid_cols; c++) {
            int64_t at;
            tile_read_i64(index, i, c, 1, &at);
            const bool is_known = source_at(r, 1, i, c)->is_exact && at >= 0 && at < table->valid_cols;
            r->to[i * r->cols + c] = is_known ? *source_at(r, 0, i, at) : bound_anything(r->type);
        }
}

/* What is exact where all that is read is, and anything where not. */
static void all_or_nothing(const bound_insn_run *r, int sources)
{
    for (int k = 0; k < sources; k++) {
        const tile_ref *s = &r->call->src[k];
        for (int64_t i = 0; i < s->valid_rows; i++)
            for (int64_t c = 0; c < s->valid_cols; c++)
                if (!source_at(r, k, i, c)->is_exact) {
                    anything(r);
                    return;
                }
    }
    for (int64_t i = 0; i < r->rows * r->cols; i++) r->to[i] = (bound){.is_exact = true};
}

/* Factors that are not sure may be any: how they are cut depends on their bits. */
static void scaled_columns(const bound_insn_run *r)
{
    const pto_dtype from = r->call->src[0].dtype;
    for (int64_t c = 0; c < r->cols; c++) {
        const bool is_sure = source_at(r, 1, 0, 2 * c)->is_exact && source_at(r, 1, 0, 2 * c + 1)->is_exact;
        float stated;
        tile_read_f32(&r->call->src[1], 0, 2 * c, 1, &stated);
        const bound factor = bound_of(PTO_F32, (double)store_factor(stated));
        for (int64_t i = 0; i < r->rows; i++) {
            const bound *a = source_at(r, 0, i, c);
            bound x = r->call->relu ? bound_relu(a) : *a;
            x = bound_convert(PTO_F32, from, &x, ROUND_RINT, false);
            x = bound_mul(PTO_F32, &x, &factor, 1);
            x = bound_convert(r->type, PTO_F32, &x, ROUND_RINT, !element_is_float(r->type));
            r->to[i * r->cols + c] = is_sure ? x : bound_anything(r->type);
        }
    }
}

static bool results(bound_insn_run *r)
{
    const bool is_known = two_of(r->id) != TWO_NONE;
    if (r->id == INSN_TAND || r->id == INSN_TOR || r->id == INSN_TXOR || r->id == INSN_TNOT || r->id == INSN_TSHL ||
        r->id == INSN_TSHR) {
        logic(r);
        return true;
    }
    switch (r->rule_id) {
    case PTO_RULE_COMPARE:
    case PTO_RULE_COMPARE_SCALAR:
    case PTO_RULE_SELECT:
    case PTO_RULE_SELECT_SCALAR: masks(r); break;
    case PTO_RULE_ROW_REDUCE:
    case PTO_RULE_COL_REDUCE: folds(r); break;
    case PTO_RULE_MATMUL:
    case PTO_RULE_MATMUL_ACC:
    case PTO_RULE_GEMV:
    case PTO_RULE_GEMV_ACC: return products(r);
    case PTO_RULE_LOAD: move_window(r->in->pool->shadow, &r->call->gm, r->to, false); break;
    case PTO_RULE_SEQUENCE:
    case PTO_RULE_TRIANGLE:
    case PTO_RULE_FILL:
        for (int64_t i = 0; i < r->rows * r->cols; i++) r->to[i] = (bound){.is_exact = true};
        break;
    case PTO_RULE_BINARY:
    case PTO_RULE_SCALAR:
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_COL_BINARY: is_known ? elements(r) : anything(r); break;
    case PTO_RULE_STORE:
    case PTO_RULE_MOVE:
    case PTO_RULE_UNARY:
    case PTO_RULE_ROOT:
    case PTO_RULE_CONVERT:
    case PTO_RULE_ROW_EXPAND:
    case PTO_RULE_COL_EXPAND:
    case PTO_RULE_FILLPAD:
    case PTO_RULE_TRANSPOSE: elements(r); break;
    case PTO_RULE_GATHER:
    case PTO_RULE_SCATTER: by_index(r); break;
    case PTO_RULE_ROW_GATHER: rows_by_index(r); break;
    case PTO_RULE_BITS:
    case PTO_RULE_MERGE_RUNS:
    case PTO_RULE_RECORD_INDEX:
    case PTO_RULE_EXTRACT:
    case PTO_RULE_ROW_ARGUMENT:
    case PTO_RULE_COL_ARGUMENT:
    case PTO_RULE_ORDER: all_or_nothing(r, 1); break;
    case PTO_RULE_CONCAT:
    case PTO_RULE_SLOPES:
    case PTO_RULE_BLOCK_GATHER:
    case PTO_RULE_QUANTIZE:
    case PTO_RULE_INSERT:
    case PTO_RULE_MOVE_FP:
    case PTO_RULE_EXTRACT_FP:
    case PTO_RULE_SORT:
    case PTO_RULE_MERGE: all_or_nothing(r, 2); break;
    case PTO_RULE_QUANTIZE_FROM:
    case PTO_RULE_INSERT_FP:
    case PTO_RULE_DEQUANTIZE: all_or_nothing(r, 3); break;
    case PTO_RULE_STORE_FP: scaled_columns(r); break;
    default: anything(r); break;
    }
    return true;
}

/* ---- one instruction ---- */

/* Tiles that an instruction reads, by the rows of the tables. */
#define TILE(...) +1
#define TILE_OUT(...)
#define MEMORY(...) +0
#define MEMORY_OUT(...)
#define SCALAR(...) +0
#define SCRATCH(...) +0
enum {
#define RULE(ID, target, sources, ...) RULE_##ID##_SOURCES = 0 sources,
#include <pto/ops/rules.def>
};
static const uint8_t source_counts[] = {
#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, sentence, RULE, ...) [INSN_##ID] = RULE##_SOURCES,
#define INSN_ONLY(...)
#include <pto/ops/pto.def>
#undef INSN
#undef INSN_ONLY
};
static const uint8_t rules[] = {
#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, sentence, RULE, ...) [INSN_##ID] = PTO_##RULE,
#define INSN_ONLY(...)
#include <pto/ops/pto.def>
#undef INSN
#undef INSN_ONLY
};

/* As an element of the last source but a mask. */
static bound scalar_of(const insn_call *call)
{
    const pto_dtype t = call->src[0].dtype == PTO_MASK ? call->dst.dtype : call->src[0].dtype;
    const uint64_t bits = element_from_number(t, call->scalar, false);
    double x;
    element_read_f64(t, &bits, 1, 1, &x);
    return bound_of(t, x);
}

static bool is_store(insn_id id) { return id == INSN_TSTORE || id == INSN_TSTORE_FP; }

static void set_extents(bound_insn_run *r)
{
    const insn_call *call = r->call;
    r->rows = call->dst.valid_rows;
    r->cols = call->dst.valid_cols;
    if (is_store(r->id) || r->id == INSN_TLOAD) {
        r->rows = call->gm.rows;
        r->cols = call->gm.cols;
    }
    if (r->id == INSN_TFILLPAD) {
        r->rows = call->src[0].valid_rows;
        r->cols = call->src[0].valid_cols;
    }
}

/* Sources are read before the instruction, which may write over them. */
pto_status bound_insn_begin(interp *in, pto_op at, insn_id id, const insn_call *call, insn_bounds *out)
{
    storage *memories[3] = {NULL};
    bound_insn_run r = {.in = in,
                        .id = id,
                        .call = call,
                        .type = is_store(id) ? call->gm.dtype : call->dst.dtype,
                        .rule_id = rules[id]};
    r.rule.ulp = (double)pto_kind_column(in->run, pto_op_kind(at), PTO_COLUMN_ULP);
    set_extents(&r);
    *out = (insn_bounds){.rows = r.rows, .cols = r.cols};
    r.to = make_bounds(in, r.rows * r.cols, &out->in);
    bool ok = r.to != NULL;
    out->at = r.to;
    for (uint32_t i = 0; ok && i < source_counts[id]; i++) {
        const tile_ref *t = &call->src[i];
        bound *list = make_bounds(in, t->valid_rows * t->valid_cols, &memories[i]);
        ok = list != NULL;
        r.src[i] = list;
        if (!ok) break;
        if (t->dtype == PTO_MASK)
            read_mask(in->pool->shadow, t, list);
        else
            move_tile(in->pool->shadow, t, t->valid_rows, t->valid_cols, list, false);
    }
    if (ok && r.src[0] != NULL) r.scalar = scalar_of(call);
    ok = ok && results(&r);
    for (int i = 0; i < 3; i++) {
        if (memories[i] != NULL) storage_release(in->pool, memories[i]);
    }
    return ok ? PTO_OK : pto_error(at, "pto.reference/limit", "the bounds of `%s` take too much memory", insn_name(id));
}

void bound_insn_end(interp *in, insn_id id, const insn_call *call, insn_bounds *b)
{
    shadow *s = in->pool->shadow;
    if (is_store(id)) {
        move_window(s, &call->gm, b->at, true);
    } else {
        /* What fills the rest of the capacity is exact. */
        const bool fills = id == INSN_TFILLPAD || (id == INSN_TLOAD && call->has_pad);
        if (fills) shadow_clear(s, call->dst.base, tile_capacity_bytes(&call->dst));
        if (call->dst.dtype == PTO_MASK)
            write_mask(s, &call->dst, b->at);
        else
            move_tile(s, &call->dst, b->rows, b->cols, b->at, true);
    }
    storage_release(in->pool, b->in);
}
