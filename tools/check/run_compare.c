#include "tools/check/run_compare.h"

#include "tools/run/run_counters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const bound_tensor *next_output(const bound_call *call, uint32_t *at)
{
    while (*at < call->parameter_count + call->result_count) {
        const bound_tensor *t = &call->tensors[(*at)++];
        if (t->is_output) return t;
    }
    return NULL;
}

static bool same_type(const bound_tensor *a, const bound_tensor *b)
{
    if (a->type != b->type || a->rank != b->rank) return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (a->dims[d] != b->dims[d]) return false;
    }
    return true;
}

status run_compare_bits(const bound_call *one, const bound_call *other, bool *out_is_same)
{
    uint32_t i = 0, k = 0;
    *out_is_same = true;
    for (;;) {
        const bound_tensor *a = next_output(one, &i), *b = next_output(other, &k);
        if (a == NULL && b == NULL) return OK;
        if (a == NULL || b == NULL || !same_type(a, b)) return FAILED;
        *out_is_same &= semantics_compare(a, b, NULL).is_same;
    }
}

static void put_element(const bound_tensor *a, const bound_tensor *b, const semantics_difference *r, text_buffer *out)
{
    text_printf(out, "  %" PRIu64 " elements beyond their limit; worst at %" PRIu64 ": this ", r->count, r->at);
    semantics_put_element(a, r->at, out);
    text_puts(out, ", other ");
    semantics_put_element(b, r->at, out);
    text_printf(out, ", error %.3g, limit %.3g\n", r->error, r->limit);
}

bool run_compare_outputs(const bound_call *one, const bound_call *other, const semantics_bounds *bounds,
                         text_buffer *out)
{
    uint32_t i = 0, k = 0, number = 0;
    bool all = true;
    for (const bound_tensor *a = next_output(one, &i); a != NULL; a = next_output(one, &i)) {
        const bound_tensor *b = next_output(other, &k);
        const semantics_bounds *row = bounds != NULL ? &bounds[number++] : NULL;
        semantics_difference r = semantics_compare(a, b, row);
        if (row != NULL && r.count == 0) r = semantics_compare(b, a, row);
        text_printf(out, "%.*s: %" PRIu64 " elements, ", (int)a->name.n, a->name.p, a->element_count);
        if (r.is_same)
            text_puts(out, "the same bits\n");
        else if (r.count == 0)
            text_printf(out, "the same within rounding, largest error %.2g of its limit\n", r.worst_ratio);
        else {
            text_puts(out, "DIFFERS\n");
            put_element(a, b, &r, out);
        }
        all &= r.count == 0;
    }
    return all;
}

/* ---- counters ---- */

static const backend_counter *find_counter(const backend_result *r, const char *name)
{
    for (uint32_t i = 0; i < r->counter_count; i++) {
        if (strcmp(r->counters[i].name, name) == 0) return &r->counters[i];
    }
    return NULL;
}

static void put_value(const backend_counter *c, text_buffer *out)
{
    if (c == NULL)
        text_printf(out, "%16s", "-");
    else
        text_printf(out, "%16.*g", floor(c->all.median) == c->all.median ? 15 : 6, c->all.median);
}

static void put_counter(const backend_counter *a, const backend_counter *b, text_buffer *out)
{
    text_printf(out, "%-36s", a != NULL ? a->name : b->name);
    put_value(a, out);
    put_value(b, out);
    if (a != NULL && b != NULL && a->all.median != 0)
        text_printf(out, "%12.4g", b->all.median / a->all.median);
    else
        text_printf(out, "%12s", a != NULL && b != NULL && a->all.median == b->all.median ? "1" : "-");
    text_printf(out, "  %s\n", a != NULL ? a->unit : b->unit);
}

void run_compare_counters(const backend_result *one, const backend_result *other, bool all, text_buffer *out)
{
    text_printf(out, "%-36s%16s%16s%12s\n", "", "this", "other", "other/this");
    for (uint32_t i = 0; i < one->counter_count; i++) {
        const backend_counter *c = &one->counters[i];
        if (all || !run_counter_is_detail(one, c->name)) put_counter(c, find_counter(other, c->name), out);
    }
    for (uint32_t i = 0; i < other->counter_count; i++) {
        const backend_counter *c = &other->counters[i];
        if ((all || !run_counter_is_detail(other, c->name)) && find_counter(one, c->name) == NULL)
            put_counter(NULL, c, out);
    }
}
