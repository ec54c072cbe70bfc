#include "tools/run/run_work.h"

#include "ir/relations.h"

#include <string.h>

enum { VISITS_MAX = 2000000, ARRAYS_MAX = 256, SYMBOLS_MAX = 64, CALLS_MAX = 32 };

typedef struct known_symbol {
    str_id name;
    int64_t value;
} known_symbol;

/* Bytes that one launch reads and writes of each of its arrays, and of memory that has no number. */
typedef struct touched {
    double read[ARRAYS_MAX + 1], written[ARRAYS_MAX + 1];
} touched;

typedef struct walk {
    arena *arena;
    const module *m;
    const ir_context *c;
    const bound_call *call;
    run_work *out;
    known_symbol symbols[SYMBOLS_MAX]; /* that ops bind */
    uint32_t symbol_count, depth;
    struct {
        int64_t value;
        bool is_known;
    } *values; /* of index values, by value */
    size_t value_capacity;
    uint64_t visits;
    kernel_work *at; /* NULL: outside of kernels */
    touched touched;
    block_id kernel_body;
    uint32_t first_array; /* argument of that body */
    op_id op;             /* whose expressions are evaluated */
} walk;

static bool walk_block(walk *w, block_id b);

/* ---- values ---- */

static void set_value(walk *w, value_id v, bool is_known, int64_t value)
{
    if (v >= w->value_capacity) {
        const size_t capacity = 2 * (size_t)v + 64;
        void *larger = arena_array(w->arena, capacity, sizeof *w->values);
        if (w->value_capacity > 0) memcpy(larger, w->values, w->value_capacity * sizeof *w->values);
        w->values = larger;
        w->value_capacity = capacity;
    }
    w->values[v].value = value;
    w->values[v].is_known = is_known;
}

static bool value_of_value(void *self, uint32_t v, int64_t *out)
{
    const walk *w = self;
    if (v >= w->value_capacity || !w->values[v].is_known) return false;
    *out = w->values[v].value;
    return true;
}

static bool value_of_slot(void *self, uint32_t slot, int64_t *out)
{
    const walk *w = self;
    return value_of_value(self, op_operand(w->m, w->op, slot), out);
}

static bool value_of_symbol(void *self, str_id name, int64_t *out)
{
    const walk *w = self;
    for (uint32_t i = w->symbol_count; i-- > 0;) {
        if (w->symbols[i].name != name) continue;
        *out = w->symbols[i].value;
        return true;
    }
    const str text = string_of(w->c, name);
    for (uint32_t i = 0; i < w->call->symbol_count; i++) {
        if (!str_eq(w->call->symbols[i], text)) continue;
        *out = w->call->values[i];
        return true;
    }
    return false;
}

static bool evaluate(walk *w, op_id o, expr_id e, int64_t *out)
{
    const expr_values values = {value_of_symbol, value_of_slot, value_of_value, w};
    w->op = o;
    return expr_eval(w->c, e, &values, out);
}

/* Expression `i` of a list attribute. */
static bool evaluate_attr(walk *w, op_id o, const char *name, uint32_t i, int64_t *out)
{
    const attr_id list = op_attr(w->m, o, name);
    if (list == 0 || i >= attr_at(w->c, list)->count) return false;
    const attr_node *a = attr_at(w->c, attr_at(w->c, list)->items[i]);
    if (a->kind == ATTR_INT) *out = a->i;
    return a->kind == ATTR_INT || (a->kind == ATTR_EXPR && evaluate(w, o, a->id, out));
}

/* Rows and columns of a tile that hold data. */
static bool extents(walk *w, value_id v, double out[2])
{
    const type_node *t = type_at(w->c, value_type(w->m, v));
    expr_id dims[2];
    if (t->kind != TYPE_TILE) return false;
    if (!tile_valid(w->m, v, dims)) return false;
    for (int d = 0; d < 2; d++) {
        int64_t n = 0;
        if (!evaluate(w, 0, dims[d], &n)) return false;
        out[d] = (double)n;
    }
    return true;
}

static bool is_of_kind(const walk *w, value_id v, type_kind kind)
{
    return type_at(w->c, value_type(w->m, v))->kind == kind;
}

static double bytes_of_type(walk *w, type_id type)
{
    const type_node *t = type_at(w->c, type);
    double bytes = dtype_bytes((dtype)t->dtype);
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t n = 0;
        if (!evaluate(w, 0, t->dims[d], &n)) return 0;
        bytes *= (double)n;
    }
    return bytes;
}

/* ---- ops of kernels ---- */

/* Which array of the launch a value in global memory is, through views; ARRAYS_MAX: no number. */
static uint32_t array_of(const walk *w, value_id v)
{
    for (op_id o; (o = value_op(w->m, v)) != 0 && op_value_operand_count(w->m, o) > 0;) v = op_operand(w->m, o, 0);
    if (value_op(w->m, v) != 0 || value_block(w->m, v) != w->kernel_body) return ARRAYS_MAX;
    for (uint32_t i = w->first_array; i < block_arg_count(w->m, w->kernel_body); i++)
        if (block_arg(w->m, w->kernel_body, i) == v && i - w->first_array < ARRAYS_MAX) return i - w->first_array;
    return ARRAYS_MAX;
}

static bool count_transfer(walk *w, op_id o, value_id memory)
{
    const bool is_read = op_result_count(w->m, o) > 0;
    value_id tile = is_read ? op_result(w->m, o, 0) : 0;
    for (uint32_t i = 0; !is_read && tile == 0 && i < op_value_operand_count(w->m, o); i++)
        if (is_of_kind(w, op_operand(w->m, o, i), TYPE_TILE)) tile = op_operand(w->m, o, i);
    double n[2];
    if (tile == 0 || !is_of_kind(w, tile, TYPE_TILE)) return true; /* an element */
    if (!extents(w, tile, n)) return false;
    const double bytes = n[0] * n[1] * dtype_bytes((dtype)type_at(w->c, value_type(w->m, memory))->dtype);
    (is_read ? w->touched.read : w->touched.written)[array_of(w, memory)] += bytes;
    return true;
}

/* Of those that make nothing new of elements. */
static bool is_arithmetic(const op_info *info, uint32_t tiles)
{
    static const char *const others[] = {"copy",     "fill", "transpose", "gather", "scatter", "sort", "sequence",
                                         "compress", "read", "convert",   "move",   "load",    "store"};
    if (info->cost == NULL) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(info->cost, others[i]) == 0) return false;
    return strcmp(info->cost, "expand") != 0 || tiles > 1;
}

static dtype dtype_of(const walk *w, value_id v) { return (dtype)type_at(w->c, value_type(w->m, v))->dtype; }

static void add_product(walk *w, const double sums[2], double depth, dtype type)
{
    const double ops = 2 * sums[0] * sums[1] * depth;
    w->at->ops += ops;
    w->at->products += ops;
    w->at->product_type = type;
}

static bool count_product(walk *w, op_id o)
{
    double sums[2], left[2];
    const bool has_sums = strstr(op_info_of(w->m, o)->name, "_acc") != NULL;
    const value_id a = op_operand(w->m, o, has_sums ? 1 : 0);
    if (!extents(w, op_result(w->m, o, 0), sums) || !extents(w, a, left)) return false;
    add_product(w, sums, left[1], dtype_of(w, a));
    return true;
}

/* Its operands are windows of memory, or tiles. */
static bool count_contract(walk *w, op_id o)
{
    double sums[2];
    int64_t depth = 0;
    if (!extents(w, op_result(w->m, o, 0), sums) || !evaluate_attr(w, o, "depth", 0, &depth)) return false;
    add_product(w, sums, (double)depth, dtype_of(w, op_operand(w->m, o, 1)));
    for (uint32_t i = 1; i <= 2; i++) {
        const value_id v = op_operand(w->m, o, i);
        if (is_of_kind(w, v, TYPE_GM))
            w->touched.read[array_of(w, v)] += sums[i - 1] * (double)depth * dtype_bytes(dtype_of(w, v));
    }
    return true;
}

/* Right is two columns in a byte, and a scale for each block. */
static bool count_contract_weights(walk *w, op_id o)
{
    double sums[2];
    int64_t depth = 0;
    if (!extents(w, op_result(w->m, o, 0), sums) || !evaluate_attr(w, o, "depth", 0, &depth)) return false;
    add_product(w, sums, (double)depth, DTYPE_F32);
    const double right = sums[1] * (double)depth, block = (double)op_attr_int(w->m, o, "block", 1);
    const value_id left = op_operand(w->m, o, 1);
    if (is_of_kind(w, left, TYPE_GM)) w->touched.read[array_of(w, left)] += sums[0] * (double)depth * sizeof(float);
    w->touched.read[array_of(w, op_operand(w->m, o, 2))] += right / 2;
    w->touched.read[array_of(w, op_operand(w->m, o, 3))] += right / block * sizeof(float);
    return true;
}

static bool count_op(walk *w, op_id o)
{
    const op_info *info = op_info_of(w->m, o);
    const uint32_t operands = op_value_operand_count(w->m, o);
    if (info->traits & TRAIT_DESCRIPTOR) return true;
    if (op_kind_of(w->m, o) == OP_TILE_CONTRACT) return count_contract(w, o);
    if (op_kind_of(w->m, o) == OP_TILE_CONTRACT_WEIGHTS) return count_contract_weights(w, o);
    uint32_t tiles = 0;
    double elements = 0, n[2];
    for (uint32_t i = 0; i < operands; i++) {
        const value_id v = op_operand(w->m, o, i);
        if (is_of_kind(w, v, TYPE_GM)) return count_transfer(w, o, v);
        tiles += is_of_kind(w, v, TYPE_TILE);
    }
    if (info->cost != NULL && strcmp(info->cost, "matmul") == 0) return count_product(w, o);
    if (tiles == 0 || op_result_count(w->m, o) == 0 || !is_arithmetic(info, tiles)) return true;
    for (uint32_t i = 0; i <= operands; i++) {
        const value_id v = i < operands ? op_operand(w->m, o, i) : op_result(w->m, o, 0);
        if (!is_of_kind(w, v, TYPE_TILE)) continue;
        if (!extents(w, v, n)) return false;
        if (n[0] * n[1] > elements) elements = n[0] * n[1];
    }
    w->at->ops += elements;
    return true;
}

/* ---- launches ---- */

static kernel_work *kernel_of(walk *w, op_id kernel)
{
    run_work *r = w->out;
    for (uint32_t i = 0; i < r->kernel_count; i++)
        if (r->kernels[i].kernel == kernel) return &r->kernels[i];
    if ((r->kernel_count & (r->kernel_count + 1)) == 0) {
        kernel_work *larger = arena_array(w->arena, 2 * (size_t)r->kernel_count + 2, sizeof *larger);
        if (r->kernel_count > 0) memcpy(larger, r->kernels, r->kernel_count * sizeof *larger);
        r->kernels = larger;
    }
    r->kernels[r->kernel_count] = (kernel_work){.kernel = kernel};
    return &r->kernels[r->kernel_count++];
}

/* All instances of a grid, the last index first. */
static bool walk_grid(walk *w, op_id kernel, uint32_t rank)
{
    int64_t extent[TYPE_MAX_RANK], at[TYPE_MAX_RANK] = {0};
    if (rank > TYPE_MAX_RANK) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (!evaluate_attr(w, kernel, "grid", i, &extent[i])) return false;
        if (extent[i] <= 0) return true;
    }
    for (;;) {
        for (uint32_t i = 0; i < rank; i++) set_value(w, block_arg(w->m, w->kernel_body, i), true, at[i]);
        if (!walk_block(w, w->kernel_body)) return false;
        uint32_t i = rank;
        while (i > 0 && ++at[i - 1] == extent[i - 1]) at[--i] = 0;
        if (i == 0) return true;
    }
}

static void add_touched(walk *w)
{
    const touched *t = &w->touched;
    w->at->bytes_read += t->read[ARRAYS_MAX];
    w->at->bytes_written += t->written[ARRAYS_MAX];
    for (uint32_t i = w->first_array; i < block_arg_count(w->m, w->kernel_body) && i - w->first_array < ARRAYS_MAX;
         i++) {
        const value_id v = block_arg(w->m, w->kernel_body, i);
        if (!is_of_kind(w, v, TYPE_GM)) continue;
        const double all = bytes_of_type(w, value_type(w->m, v)), read = t->read[i - w->first_array],
                     written = t->written[i - w->first_array];
        w->at->bytes_read += read < all ? read : all;
        w->at->bytes_written += written < all ? written : all;
    }
}

static op_id callee_of(const walk *w, op_id o)
{
    const attr_id a = op_attr(w->m, o, "callee");
    return a != 0 ? module_find_symbol(w->m, attr_at(w->c, a)->id) : 0;
}

static bool walk_launch(walk *w, op_id o)
{
    const op_id kernel = callee_of(w, o);
    if (kernel == 0 || op_kind_of(w->m, kernel) != OP_BLOCK_KERNEL || w->at != NULL) return false;
    const attr_id grid = op_attr(w->m, kernel, "grid");
    const uint32_t rank = grid != 0 ? attr_at(w->c, grid)->count : 0, symbols = w->symbol_count;
    w->kernel_body = op_block_at(w->m, kernel, 0);
    w->first_array = rank;
    for (uint32_t i = rank; i < block_arg_count(w->m, w->kernel_body); i++) {
        int64_t n = 0;
        const bool is_known = value_of_value(w, op_operand(w->m, o, i - rank), &n);
        set_value(w, block_arg(w->m, w->kernel_body, i), is_known, n);
    }
    memset(&w->touched, 0, sizeof w->touched);
    w->at = kernel_of(w, kernel);
    w->at->launches++;
    const bool is_known = walk_grid(w, kernel, rank);
    add_touched(w);
    w->symbol_count = symbols;
    w->at = NULL;
    return is_known;
}

/* ---- control ---- */

static bool walk_for(walk *w, op_id o)
{
    int64_t from = 0, to = 0, step = 1;
    if (!evaluate_attr(w, o, "from", 0, &from) || !evaluate_attr(w, o, "to", 0, &to) ||
        !evaluate_attr(w, o, "step", 0, &step) || step <= 0)
        return false;
    const block_id body = op_block_at(w->m, o, 0);
    for (int64_t i = from; i < to; i += step) {
        set_value(w, block_arg(w->m, body, 0), true, i);
        if (!walk_block(w, body)) return false;
    }
    return true;
}

static bool walk_if(walk *w, op_id o)
{
    int64_t left = 0, right = 0;
    if (!evaluate_attr(w, o, "left", 0, &left) || !evaluate_attr(w, o, "right", 0, &right)) return false;
    const relation r = relation_by_name(op_attr_str(w->m, o, "relation"));
    const uint32_t taken = relation_holds(r, left, right) ? 0 : 1;
    return taken >= op_block_count(w->m, o) || walk_block(w, op_block_at(w->m, o, taken));
}

static bool walk_bind(walk *w, op_id o)
{
    int64_t n = 0;
    if (w->symbol_count == SYMBOLS_MAX || !evaluate_attr(w, o, "value", 0, &n)) return false;
    const attr_id name = op_attr(w->m, o, "symbol");
    w->symbols[w->symbol_count++] = (known_symbol){(str_id)attr_at(w->c, name)->id, n};
    return true;
}

static bool walk_call(walk *w, op_id o)
{
    const op_id f = callee_of(w, o);
    if (f == 0 || w->depth == CALLS_MAX) return false;
    w->depth++;
    const bool is_known = walk_block(w, op_block_at(w->m, f, 0));
    w->depth--;
    return is_known;
}

static bool walk_op(walk *w, op_id o)
{
    if (++w->visits > VISITS_MAX) return false;
    switch (op_kind_of(w->m, o)) {
    case OP_BLOCK_LAUNCH: return walk_launch(w, o);
    case OP_FOR: return walk_for(w, o);
    case OP_IF: return walk_if(w, o);
    case OP_BIND: return walk_bind(w, o);
    case OP_CALL: return walk_call(w, o);
    case OP_WHILE: return false;
    default: break;
    }
    int64_t n = 0;
    if (op_kind_of(w->m, o) == OP_INDEX_CAST && evaluate_attr(w, o, "from", 0, &n))
        set_value(w, op_result(w->m, o, 0), true, n);
    if (w->at != NULL && !count_op(w, o)) return false;
    for (uint32_t i = 0; i < op_block_count(w->m, o); i++)
        if (!walk_block(w, op_block_at(w->m, o, i))) return false;
    return true;
}

static bool walk_block(walk *w, block_id b)
{
    BLOCK_EACH_OP(w->m, o, b)
        if (!walk_op(w, o)) return false;
    return true;
}

void run_work_count(arena *a, const module *m, const bound_call *call, run_work *out)
{
    walk *w = arena_alloc(a, sizeof *w);
    *w = (walk){.arena = a, .m = m, .c = module_context(m), .call = call, .out = out};
    *out = (run_work){.is_known = false};
    out->is_known = walk_block(w, function_body(m, call->function)) && out->kernel_count > 0;
    for (uint32_t i = 0; i < out->kernel_count; i++) {
        const kernel_work *k = &out->kernels[i];
        if (k->products > out->all.products) out->all.product_type = k->product_type;
        out->all.launches += k->launches;
        out->all.bytes_read += k->bytes_read;
        out->all.bytes_written += k->bytes_written;
        out->all.ops += k->ops;
        out->all.products += k->products;
    }
    if (!out->is_known) *out = (run_work){.is_known = false};
}
