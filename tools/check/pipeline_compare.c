#include "tools/check/pipeline_compare.h"

#include "tools/check/text_difference.h"

#include <inttypes.h>
#include <string.h>

/* The step of an id from `from` on; step_count when there is none. */
static uint32_t find_step(const compile_stats *r, uint32_t from, const char *id)
{
    for (uint32_t i = from; i < r->step_count; i++) {
        if (strcmp(r->steps[i].id, id) == 0) return i;
    }
    return r->step_count;
}

static void put_count(text_buffer *out, bool ran, int64_t n)
{
    if (ran)
        text_printf(out, "%10" PRId64, n);
    else
        text_printf(out, "%10s", "-");
}

static int64_t stat_of(const compiled *c, uint32_t step, const char *name, bool *found)
{
    const char *const *names = c->pipeline->contract.steps[step].pass->stats;
    for (uint32_t k = 0; names != NULL && names[k] != NULL; k++) {
        if (strcmp(names[k], name) != 0) continue;
        *found = true;
        return c->report->steps[step].stats[k];
    }
    *found = false;
    return 0;
}

/* One counter; only when it differs, or one side lacks it. */
static void put_stat(text_buffer *out, const char *name, bool in_one, int64_t a, bool in_other, int64_t b)
{
    char left[24] = "-", right[24] = "-";
    if (in_one == in_other && a == b) return;
    if (in_one) snprintf(left, sizeof left, "%" PRId64, a);
    if (in_other) snprintf(right, sizeof right, "%" PRId64, b);
    text_printf(out, "      %-42s%20s%20s\n", name, left, right);
}

/* `i` and `k` are steps, or NO_STEP. */
enum { NO_STEP = -1 };

static void put_stats(const compiled *one, int64_t i, const compiled *other, int64_t k, text_buffer *out)
{
    if (i == NO_STEP || k == NO_STEP) return;
    bool found = false;
    const char *const *names = one->pipeline->contract.steps[i].pass->stats;
    for (uint32_t n = 0; names != NULL && names[n] != NULL; n++) {
        const int64_t b = stat_of(other, (uint32_t)k, names[n], &found);
        put_stat(out, names[n], true, one->report->steps[i].stats[n], found, b);
    }
    names = other->pipeline->contract.steps[k].pass->stats;
    for (uint32_t n = 0; names != NULL && names[n] != NULL; n++) {
        stat_of(one, (uint32_t)i, names[n], &found);
        if (!found) put_stat(out, names[n], false, 0, true, other->report->steps[k].stats[n]);
    }
}

/* Both have the step and left the same. */
static bool are_alike(const compiled *one, int64_t i, const compiled *other, int64_t k)
{
    return i != NO_STEP && k != NO_STEP && one->report->steps[i].ran == other->report->steps[k].ran &&
           one->digests->after[i] == other->digests->after[k];
}

static void put_step(const compiled *one, int64_t i, const compiled *other, int64_t k, text_buffer *out)
{
    const step_stats none = {0}, *a = i == NO_STEP ? NULL : &one->report->steps[i],
                     *b = k == NO_STEP ? NULL : &other->report->steps[k];
    const step_stats *left = a != NULL ? a : &none, *right = b != NULL ? b : &none;
    if (!left->ran && !right->ran) return;
    const step_stats *named = a != NULL ? a : right;
    text_printf(out, "%c %-26s", are_alike(one, i, other, k) ? ' ' : '*', named->id);
    put_count(out, left->ran, left->op_count);
    put_count(out, right->ran, right->op_count);
    put_count(out, left->ran, (int64_t)left->changes);
    put_count(out, right->ran, (int64_t)right->changes);
    const char *pass = named->pass != NULL ? named->pass : "";
    text_printf(out, "  %s", pass);
    if (right->pass != NULL && strcmp(pass, right->pass) != 0) text_printf(out, "; other: %s", right->pass);
    text_putc(out, '\n');
    put_stats(one, i, other, k, out);
}

static void put_steps(const compiled *one, const compiled *other, text_buffer *out)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < one->report->step_count; i++) {
        const uint32_t same = find_step(other->report, k, one->report->steps[i].id);
        if (same == other->report->step_count) {
            put_step(one, i, other, NO_STEP, out);
            continue;
        }
        for (; k < same; k++) put_step(one, NO_STEP, other, k, out);
        put_step(one, i, other, k++, out);
    }
    for (; k < other->report->step_count; k++) put_step(one, NO_STEP, other, k, out);
}

bool pipeline_compare(const compiled *one, const compiled *other, text_buffer *out)
{
    text_printf(out, "this:  %s\nother: %s\n\n* the module is another one after the step\n", one->name, other->name);
    text_printf(out, "  %-26s%20s%20s\n", "", "ops left", "changes");
    text_printf(out, "  %-26s%10s%10s%10s%10s  %s\n", "step", "this", "other", "this", "other", "pass");
    put_steps(one, other, out);
    text_buffer difference;
    text_init(&difference);
    const bool differs = text_difference(one->text, other->text, "this", "other", &difference);
    text_printf(out, "\nfinal IR: %s\n", differs ? "differs, first here" : "equal");
    if (differs) text_puts(out, difference.p);
    text_fini(&difference);
    return !differs;
}
