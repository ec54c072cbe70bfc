#include "debug_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that is shown fits in a message of 4096 bytes. */
enum { SHOW_ALL = 150, EDGE = 3, LINE = 100 };

/* Text that grows in scratch memory of the run. */
typedef struct text {
    const pto_run *run;
    char *p;
    uint32_t count, capacity, line; /* line: where the current one begins */
} text;

static void put(text *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PTO_GROW(t->run, t->p, t->count, t->capacity);
        t->p[t->count++] = p[i];
        if (p[i] == '\n') t->line = t->count;
    }
}

static void put_string(text *t, const char *s) { put(t, s, strlen(s)); }

static void put_line(text *t, uint32_t indent)
{
    put_string(t, "\n");
    for (uint32_t i = 0; i < indent; i++) put_string(t, " ");
}

static int64_t element_count(const gm_window *x)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < x->rank; d++) n *= x->dims[d];
    return n;
}

/* Names of values change while a program is lowered: neither op prints them. */

/* ---- debug.print ---- */

/* The fewest digits that are this element and no other of its type; from 1 to 10^6 without an exponent. */
static void put_float(text *t, pto_dtype type, double x)
{
    char s[40];
    const uint32_t bits = element_encode(type, x, ROUND_RINT, false);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (fabs(x) >= 1 && fabs(x) < 1e6 && strchr(s, 'e') != NULL) continue;
        if (isnan(x) || element_encode(type, strtod(s, NULL), ROUND_RINT, false) == bits) break;
    }
    put_string(t, isnan(x) ? "nan" : s);
}

static void put_element(text *t, pto_dtype type, const uint8_t *at)
{
    char s[40];
    const number n = element_number(type, at);
    if (type == PTO_BOOL)
        put_string(t, n.i != 0 ? "true" : "false");
    else if (!n.is_int)
        put_float(t, type, n.f);
    else {
        if (element_is_unsigned(type))
            snprintf(s, sizeof s, "%" PRIu64, (uint64_t)n.i);
        else
            snprintf(s, sizeof s, "%" PRId64, n.i);
        put_string(t, s);
    }
}

/* The elements below dim d, of which the first is at `at`; lists of lists have a line each. */
static void put_elements(text *t, const gm_window *x, uint32_t d, const uint8_t *at, bool cuts)
{
    if (d == x->rank) {
        put_element(t, x->dtype, at);
        return;
    }
    put_string(t, "[");
    for (int64_t i = 0; i < x->dims[d]; i++) {
        const bool is_lists = d + 1 < x->rank;
        if (i != 0 && (is_lists || t->count - t->line > LINE))
            put_line(t, d + 1);
        else if (i != 0)
            put_string(t, " ");
        if (cuts && i == EDGE && x->dims[d] > 2 * EDGE) {
            put_string(t, "...");
            i = x->dims[d] - EDGE - 1;
            continue;
        }
        put_elements(t, x, d + 1, at + i * x->strides[d] * (int64_t)element_bytes(x->dtype), cuts);
    }
    put_string(t, "]");
}

static void put_value(text *t, const gm_window *x)
{
    for (uint32_t d = 0; d < x->rank; d++) {
        char s[40];
        snprintf(s, sizeof s, "%" PRId64 " x ", x->dims[d]);
        put_string(t, s);
    }
    put_string(t, pto_dtype_name(x->dtype));
    if (x->rank > 1)
        put_line(t, 0);
    else
        put_string(t, " = ");
    put_elements(t, x, 0, x->base, element_count(x) > SHOW_ALL);
}

static void print(pto_op op, const gm_window *x)
{
    text t = {.run = op.run};
    const pto_str label = pto_attr_str(pto_op_attr(op, PTO_STR("label")));
    put(&t, label.p, label.n);
    if (label.n != 0) put_string(&t, ": ");
    put_value(&t, x);
    pto_diag(op.run, PTO_NOTE, pto_op_loc(op), PTO_STR("debug.print"), pto_str_make(t.p, t.count));
}

void debug_tile(pto_op op, const tile_ref *tile, uint32_t rank, const int64_t *index)
{
    text t = {.run = op.run};
    const int64_t size = (int64_t)element_bytes(tile->dtype), rows = tile->valid_rows, cols = tile->valid_cols;
    gm_window x = {.dtype = tile->dtype, .rank = 2, .dims = {rows, cols}, .strides = {cols, 1}};
    x.base = PTO_SCRATCH(op.run, uint8_t, (size_t)(rows * cols * size) + 1);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            memcpy(x.base + (r * cols + c) * size, tile->base + tile_run_at(tile, r, c, 1).offset * size, (size_t)size);
    for (uint32_t d = 0; d < rank; d++) {
        char s[40];
        snprintf(s, sizeof s, "%s%" PRId64, d != 0 ? ", " : "instance [", index[d]);
        put_string(&t, s);
    }
    if (rank != 0) put_string(&t, "]: ");
    put_value(&t, &x);
    pto_diag(op.run, PTO_NOTE, pto_op_loc(op), pto_op_name(op), pto_str_make(t.p, t.count));
}

/* ---- debug.assert ---- */

static void put_place(text *t, const gm_window *x, const int64_t *index)
{
    for (uint32_t d = 0; d < x->rank; d++) {
        char s[40];
        snprintf(s, sizeof s, "%s%" PRId64, d != 0 ? ", " : "", index[d]);
        put_string(t, s);
    }
}

static pto_status fail(pto_op op, const char *id, const gm_window *x, const text *place, int64_t failing)
{
    char code[80];
    const pto_str message = pto_attr_str(pto_op_attr(op, PTO_STR("message")));
    const char *comma = message.n != 0 ? ", " : "";
    snprintf(code, sizeof code, "%s/assertion", id);
    if (x->rank == 0) return pto_error(op, code, "`debug.assert` fails%s%.*s: it is false", comma, PTO_FMT(message));
    return pto_error(op, code,
                     "`debug.assert` fails%s%.*s: element [%.*s] is false, the first of %" PRId64 " among %" PRId64,
                     comma, PTO_FMT(message), (int)place->count, place->p, failing, element_count(x));
}

static pto_status assert_all(pto_op op, const char *id, const gm_window *x)
{
    text place = {.run = op.run};
    int64_t index[PTO_MAX_DIMS] = {0}, failing = 0;
    const int64_t count = element_count(x);
    for (int64_t k = 0; k < count; k++) {
        int64_t at = 0;
        for (uint32_t d = 0; d < x->rank; d++) at += index[d] * x->strides[d];
        if (x->base[at] == 0 && failing++ == 0) put_place(&place, x, index);
        for (uint32_t d = x->rank; d-- > 0;) {
            if (++index[d] < x->dims[d]) break;
            index[d] = 0;
        }
    }
    return failing == 0 ? PTO_OK : fail(op, id, x, &place, failing);
}

/* ---- both ---- */

pto_status debug_array(pto_op op, const char *id, const gm_window *x)
{
    if (pto_str_is(pto_op_name(op), "debug.assert")) return assert_all(op, id, x);
    print(op, x);
    return PTO_OK;
}

pto_status debug_scalar(pto_op op, const char *id, pto_dtype t, number n)
{
    uint64_t bits = element_from_number(t, n, false);
    const gm_window x = {.base = (uint8_t *)&bits, .bytes = sizeof bits, .dtype = t};
    return debug_array(op, id, &x);
}
