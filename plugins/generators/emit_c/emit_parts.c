/* Parts of a long text, for compilers that run at the same time: kernels go to parts of about the same work. */
#include "emit.h"

/* A compiler reads all of the text, and what it makes is linked: less than this is not worth another one. */
enum { PART_BYTES = 8 * 1024, HALVINGS_MAX = 2 };

/* What a compiler makes of a sweep beyond its text, a loop and one trip more of vector functions that are inlined, in
 * bytes of other text. */
enum { SWEEP_BYTES = 1800 };

static size_t work_of(const emit_kernel_info *kernel) { return kernel->bytes + (size_t)kernel->sweeps * SWEEP_BYTES; }

static emit_kernel_info **longest_first(emitter *e)
{
    emit_kernel_info **order = PTO_SCRATCH(e->run, emit_kernel_info *, e->kernel_count);
    for (uint32_t i = 0; i < e->kernel_count; i++) {
        uint32_t at = i;
        for (; at > 0 && work_of(order[at - 1]) < work_of(&e->kernels_done[i]); at--) order[at] = order[at - 1];
        order[at] = &e->kernels_done[i];
    }
    return order;
}

/* Halves what there is, and then each half, so that the first half is parts 0 and 2: each kernel, the longest first,
 * goes to the half that has less. Functions stay in part 0. */
static void assign(emitter *e, size_t total)
{
    emit_kernel_info **order = longest_first(e);
    size_t functions = total;
    for (uint32_t i = 0; i < e->kernel_count; i++) functions -= order[i]->bytes;
    for (uint32_t halving = 0; halving < HALVINGS_MAX && total >= (size_t)PART_BYTES << (halving + 1); halving++) {
        const uint32_t other = 1U << halving;
        size_t work[1 << HALVINGS_MAX] = {functions};
        for (uint32_t i = 0; i < e->kernel_count; i++) {
            emit_kernel_info *const kernel = order[i];
            if (work[kernel->part | other] < work[kernel->part]) kernel->part |= other;
            work[kernel->part] += work_of(kernel);
        }
    }
}

void emit_parts(emitter *e, text *all, const text *code)
{
    size_t from = 0;
    assign(e, code->n);
    for (uint32_t i = 0; i < e->kernel_count; i++) {
        const emit_kernel_info *const kernel = &e->kernels_done[i];
        if (kernel->part == 0) continue;
        text_bytes(all, code->p + from, kernel->name_begin - from);
        text_put(all, "PTO_PART_%u(", kernel->part);
        text_bytes(all, code->p + kernel->name_begin, kernel->name_end - kernel->name_begin);
        text_put(all, ")");
        from = kernel->name_end;
    }
    if (code->n > from) text_bytes(all, code->p + from, code->n - from);
}
