/* Kernels of a report: their ops as rows, and where their buffers lie. */
#include "core/files/machine_pipe.h"
#include "tools/report/report_model.h"

#include <stdio.h>

/* Their value forms, before instructions are selected, too. */
static bool is_instruction(const op_info *info) { return info->rule != RULE_NONE && !(info->traits & TRAIT_SYNC); }

static const char *pipe_of(const report *r, op_id o)
{
    const char *pipe = is_instruction(op_info_of(r->m, o)) ? machine_pipe_of(r->machine, r->m, o) : NULL;
    return pipe != NULL ? pipe : "";
}

static const char *word(const report *r, op_id o, const char *attr)
{
    const str s = op_attr_str(r->m, o, attr);
    return s.p != NULL ? arena_strndup(r->arena, s.p, s.n) : "";
}

static report_row_kind row_kind(const module *m, op_id o)
{
    switch (op_kind_of(m, o)) {
    case OP_PTO_SET_FLAG: return ROW_SET;
    case OP_PTO_WAIT_FLAG: return ROW_WAIT;
    case OP_PTO_BARRIER: return ROW_BARRIER;
    default: break;
    }
    if (op_block_count(m, o) > 0) return ROW_BLOCK;
    return is_instruction(op_info_of(m, o)) ? ROW_INSN : ROW_OTHER;
}

static bool has_row(const module *m, op_id o)
{
    return !(op_info_of(m, o)->traits & (TRAIT_DESCRIPTOR | TRAIT_CONSTANT | TRAIT_TERMINATOR));
}

static report_row make_row(const report *r, const report_kernel *k, op_id o)
{
    report_row row = {.kind = row_kind(r->m, o), .op = o, .pipe = "", .dst = "", .cost = run_trace_op(r->trace, o)};
    for (op_id p = op_parent(r->m, o); p != 0 && p != k->op; p = op_parent(r->m, p)) row.depth++;
    if (row.kind == ROW_INSN) row.pipe = pipe_of(r, o);
    if (row.kind == ROW_BARRIER) row.pipe = word(r, o, "pipe");
    if (row.kind == ROW_SET || row.kind == ROW_WAIT) {
        row.pipe = word(r, o, "src");
        row.dst = word(r, o, "dst");
    }
    return row;
}

static void find_rows(report *r, report_kernel *k)
{
    uint32_t count = 0;
    IR_WALK(r->m, o, k->op) count += o != k->op && has_row(r->m, o);
    k->rows = arena_array(r->arena, count, sizeof *k->rows);
    IR_WALK(r->m, o, k->op)
    {
        if (o != k->op && has_row(r->m, o)) k->rows[k->row_count++] = make_row(r, k, o);
    }
    /* A block ends where the nesting is not deeper than its own: innermost open blocks last. */
    uint32_t *open = arena_array(r->arena, count + 1u, sizeof *open), opened = 0;
    for (uint32_t i = 0; i <= count; i++) {
        while (opened > 0 && (i == count || k->rows[i].depth <= k->rows[open[opened - 1]].depth))
            k->rows[open[--opened]].last = i - 1;
        if (i < count && k->rows[i].kind == ROW_BLOCK) open[opened++] = i;
    }
}

/* ---- memory ---- */

/* Number of the row of an op, UINT32_MAX when it has none. */
static uint32_t row_of(const uint32_t *rows, uint32_t limit, op_id o) { return o < limit ? rows[o] - 1 : UINT32_MAX; }

static void find_life(const report *r, const uint32_t *rows, report_buffer *b)
{
    b->first = b->last = UINT32_MAX;
    VALUE_EACH_USE(r->m, tile, op_result(r->m, b->op, 0)) {
        const op_id t = use_op(r->m, tile);
        if (op_result_count(r->m, t) == 0) continue;
        VALUE_EACH_USE(r->m, u, op_result(r->m, t, 0)) {
            const uint32_t row = row_of(rows, r->op_limit, use_op(r->m, u));
            if (row == UINT32_MAX) continue;
            if (b->first == UINT32_MAX || row < b->first) b->first = row;
            if (b->last == UINT32_MAX || row > b->last) b->last = row;
        }
    }
}

static report_memory *memory_of(report *r, report_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->memory_count; i++)
        if (strcmp(k->memories[i].space, name) == 0) return &k->memories[i];
    report_memory *x = &k->memories[k->memory_count++];
    const machine_space *s = r->machine != NULL ? machine_space_by_name(r->machine, str_from(name)) : NULL;
    *x = (report_memory){
        .space = name, .limit = s != NULL ? s->bytes : 0, .reserved = s != NULL ? s->reserved_bytes : 0};
    return x;
}

static const char *value_text(const report *r, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(r->m, v, &t);
    return text_keep(&t, r->arena);
}

/* `rows`: zeros, by op; and again at the end. */
static void find_memory(report *r, report_kernel *k, uint32_t *rows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->row_count; i++) rows[k->rows[i].op] = i + 1;
    IR_WALK(r->m, o, k->op) count += op_kind_of(r->m, o) == OP_BLOCK_BUFFER;
    k->memories = arena_array(r->arena, count, sizeof *k->memories);
    IR_WALK(r->m, o, k->op)
    {
        if (op_kind_of(r->m, o) != OP_BLOCK_BUFFER) continue;
        report_memory *x = memory_of(r, k, word(r, o, "space"));
        if (x->buffers == NULL) x->buffers = arena_array(r->arena, count, sizeof *x->buffers);
        report_buffer *b = &x->buffers[x->count++];
        *b = (report_buffer){.op = o,
                             .name = value_text(r, op_result(r->m, o, 0)),
                             .address = op_attr_int(r->m, o, "addr", -1),
                             .bytes_per_stage = op_attr_int(r->m, o, "bytes_per_stage", 0),
                             .stages = op_attr_int(r->m, o, "stages", 1)};
        if (__builtin_mul_overflow(b->bytes_per_stage, b->stages, &b->bytes)) b->bytes = INT64_MAX / 2;
        find_life(r, rows, b);
        if (b->address >= 0 && b->bytes < INT64_MAX / 2 && b->address < INT64_MAX / 2 &&
            b->address + b->bytes > x->used)
            x->used = b->address + b->bytes;
    }
    for (uint32_t i = 0; i < k->row_count; i++) rows[k->rows[i].op] = 0;
}

/* ---- kernels ---- */

/* `3-softmax_0`: the number keeps names apart that differ in other letters. */
static const char *file_name(const report *r, str name, uint32_t number)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%u-", number);
    for (size_t i = 0; i < name.n && n < 48; i++) {
        const char c = name.p[i];
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        text[n++] = is_plain ? c : '_';
    }
    return arena_strndup(r->arena, text, (size_t)n);
}

void report_kernels(report *r)
{
    uint32_t count = 0;
    BLOCK_EACH_OP(r->m, o, module_top(r->m)) count += op_kind_of(r->m, o) == OP_BLOCK_KERNEL;
    r->kernels = arena_array(r->arena, count, sizeof *r->kernels);
    uint32_t *rows = arena_array(r->arena, r->op_limit, sizeof *rows);
    BLOCK_EACH_OP(r->m, o, module_top(r->m)) {
        if (op_kind_of(r->m, o) != OP_BLOCK_KERNEL) continue;
        report_kernel *k = &r->kernels[r->kernel_count];
        const str name = string_of(module_context(r->m), function_name(r->m, o));
        *k = (report_kernel){.op = o,
                             .name = arena_strndup(r->arena, name.p, name.n),
                             .file_name = file_name(r, name, r->kernel_count),
                             .core = word(r, o, "core"),
                             .trace = run_trace_kernel(r->trace, o)};
        find_rows(r, k);
        find_memory(r, k, rows);
        r->kernel_count++;
    }
}
