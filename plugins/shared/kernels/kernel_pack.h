/* Packing by vectors, for each width of them. Before it is included there are kernel_vector, of LANES units of four
 * bytes, vector_of_zeros(), turn_lanes(), which makes rows of LANES vectors columns, store_units(), which writes the
 * first units of a vector, and store_lines(), which writes the first `width` units of LANES vectors beside each other.
 */
#ifndef PTO_KERNEL_PACK_H
#define PTO_KERNEL_PACK_H

#include "kernel_load.h"

/* LANES units of one row from `at` upwards along k, of which k_left elements are there. */
typedef kernel_vector kernel_units_along(const void *from, int64_t at, int64_t k_left);

/* One unit of each of LANES columns beside each other, of which columns_left are there. */
typedef kernel_vector kernel_units_across(const void *from, int64_t at, int64_t k_stride, int64_t k_left,
                                          int64_t columns_left);

/* How a panel is packed: what reads it, units beside each other, elements of a unit, bits of an element. */
typedef struct pack_form {
    kernel_units_along *along;
    kernel_units_across *across;
    int64_t width, group, bits;
} pack_form;

/* Asks for the line of an element that comes later, which may be beyond all that is there. */
KERNEL_INLINE void pack_ask(pack_form f, const void *from, int64_t at)
{
    const uintptr_t line = (uintptr_t)from + (uintptr_t)(at * f.bits / 8);
    __builtin_prefetch((const void *)line, 0, 2); // NOLINT(performance-no-int-to-ptr): it need not be inside
}

/* What is asked for lies so many panels, or pieces of a few lines along k, later: memory takes that long. */
enum { AHEAD_PANELS = 2, AHEAD_PIECES = 2 };

/* Some units of one panel whose rows or columns lie beside each other; `left` of them and k_left elements along k are
 * there, of which those beyond the panel are read and not written. */
KERNEL_INLINE void lines_across(pack_form f, int lines, int64_t left, int64_t k_left, const void *from, int64_t at,
                                int64_t k_stride, int32_t *to)
{
#pragma GCC unroll 4
    for (int q = 0; q < lines; q++)
#pragma GCC unroll 2
        for (int64_t v = 0; v < f.width; v += LANES)
            store_units(to + q * f.width + v,
                        f.across(from, at + q * f.group * k_stride + v, k_stride, k_left - q * f.group, left - v),
                        f.width - v);
}

/* Asks for a piece of `depth` lines of a panel. */
KERNEL_INLINE void ask_across(pack_form f, int64_t depth, const void *from, int64_t at, int64_t k_stride)
{
    const int64_t line = 8 * 64 / f.bits;
    for (int64_t q = 0; q < depth; q++)
        for (int64_t v = 0; v < f.width; v += line) pack_ask(f, from, at + v + q * k_stride);
}

/* Packs panels whose rows or columns lie beside each other: a few lines of a few panels at a time, so that memory is
 * read along its lines. */
KERNEL_INLINE void pack_across(pack_form f, int64_t count, int64_t k, const void *from, int64_t offset,
                               int64_t k_stride, char *panels, int64_t panel_bytes)
{
    enum { COLUMNS = 128, LINES = 4 };
    const int64_t depth = LINES * f.group, columns = COLUMNS / f.width * f.width;
    /* Vectors are read whole as long as their elements are there: parts of them take longer. */
    const int64_t vectors = (f.width + LANES - 1) / LANES * LANES;
    for (int64_t first = 0; first < count; first += columns) {
        const int64_t last = first + columns < count ? first + columns : count;
        for (int64_t p = 0; p < k; p += depth) {
            const int64_t at = offset + p * k_stride;
            const int lines = k - p < depth ? (int)((k - p + f.group - 1) / f.group) : LINES;
            for (int64_t i = first; i < last; i += f.width) {
                int32_t *const to = (void *)(panels + i / f.width * panel_bytes + 4 * f.width * (p / f.group));
                ask_across(f, depth, from, at + i + AHEAD_PIECES * depth * k_stride, k_stride);
                if (k - p >= depth && count - i >= vectors)
                    lines_across(f, LINES, vectors, depth, from, at + i, k_stride, to);
                else if (k - p >= depth && last - i >= f.width)
                    lines_across(f, LINES, f.width, depth, from, at + i, k_stride, to);
                else
                    for (int q = 0; q < lines; q++)
                        lines_across(f, 1, last - i, k - p - q * f.group, from, at + i + q * f.group * k_stride,
                                     k_stride, to + q * f.width);
            }
        }
    }
}

/* LANES units along k of each row or column of one panel, of which `count` are there, and k_left elements along k. */
KERNEL_INLINE void units_along(pack_form f, int64_t count, int64_t k_left, const void *from, int64_t at, int64_t stride,
                               int32_t *to)
{
#pragma GCC unroll 2
    for (int64_t v = 0; v < f.width; v += LANES) {
        kernel_vector r[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) {
            pack_ask(f, from, at + (v + i + AHEAD_PANELS * f.width) * stride);
            r[i] = v + i < count ? f.along(from, at + (v + i) * stride, k_left) : vector_of_zeros();
        }
        turn_lanes(r);
        if (k_left >= LANES * f.group)
            store_lines(to + v, f.width, f.width - v, r);
        else
#pragma GCC unroll 16
            for (int i = 0; i < LANES; i++)
                if (i * f.group < k_left) store_units(to + i * f.width + v, r[i], f.width - v);
    }
}

/* Packs a panel whose rows or columns each go upwards along k; `count` of them are there. */
KERNEL_INLINE void pack_along(pack_form f, int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride,
                              int32_t *to)
{
    const int64_t depth = LANES * f.group;
    int64_t p = 0;
    for (; p + depth <= k && count >= f.width; p += depth, to += LANES * f.width)
        units_along(f, f.width, depth, from, offset + p, stride, to);
    for (; p < k; p += depth, to += LANES * f.width) units_along(f, count, k - p, from, offset + p, stride, to);
}

/* A function pto_contraction_pack: along_LOAD and across_LOAD read units of `group` elements, ANY packs what lies
 * otherwise, and then FINISH(width, k, panel) completes each panel. */
#define KERNEL_PACK_UNITS(name, load, any, width, group, finish)                                                   \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride, \
                     void *panels, int64_t panel_bytes)                                                            \
    {                                                                                                              \
        const pack_form form = {along_##load, across_##load, width, group, bits_##load};                           \
        if (stride == 1)                                                                                           \
            pack_across(form, count, k, from, offset, k_stride, panels, panel_bytes);                              \
        else if (k_stride != 1)                                                                                    \
            any(count, k, from, offset, stride, k_stride, panels, panel_bytes);                                    \
        for (int64_t i = 0; i < count; i += (width)) {                                                             \
            void *const panel = (char *)panels + i / (width) * panel_bytes;                                        \
            if (stride != 1 && k_stride == 1)                                                                      \
                pack_along(form, count - i, k, from, offset + i * stride, stride, panel);                          \
            finish(width, k, panel);                                                                               \
        }                                                                                                          \
    }                                                                                                              \
    _Static_assert((width) > 0, "of a panel")

/* For panels that are complete. */
KERNEL_INLINE void finish_nothing(int64_t width, int64_t k, void *panel)
{
    (void)width;
    (void)k;
    (void)panel;
}

#endif
