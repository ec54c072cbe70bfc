#include "tools/report/report_verdict.h"

#include "tools/report/report_clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Shares of the time instances run from which a unit counts as the bound, and a way of waiting as the cause. */
static const double bound_share = 0.65, shared_share = 0.25, dispatch_share = 0.5, noticed_share = 0.1,
                    idle_cores_share = 0.5;

PRINTF_LIKE(2, 3) static const char *say(const report *r, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_strdup(r->arena, text);
}

/* ---- a kernel ---- */

/* Cycles in which others used the memory that a transfer uses. */
static int64_t shared_of(const report *r, const trace_sum *s)
{
    for (uint32_t i = 0; i < r->trace->cause_count; i++)
        if (counter_of_cause(str_from(r->trace->causes[i])) == PTO_COUNTER_SHARED_BANDWIDTH) return s->stalls[i];
    return 0;
}

/* Work, and work that others of the same memory slow down. */
static double occupied(const report *r, const trace_kernel *k, uint32_t pipe)
{
    return (double)(k->pipes[pipe].busy + shared_of(r, &k->pipes[pipe]));
}

static uint32_t busiest(const report *r, const trace_kernel *k, uint32_t but)
{
    uint32_t best = TRACE_NONE;
    for (uint32_t i = 0; i < r->trace->pipe_count; i++)
        if (i != but && (best == TRACE_NONE || occupied(r, k, i) > occupied(r, k, best))) best = i;
    return best;
}

/* The op with the most busy cycles on a pipe. */
static const report_row *longest_row(const report_kernel *k, const char *pipe)
{
    const report_row *best = NULL;
    for (uint32_t i = 0; i < k->row_count; i++) {
        const report_row *row = &k->rows[i];
        if (row->kind != ROW_INSN || row->cost == NULL || strcmp(row->pipe, pipe) != 0) continue;
        if (best == NULL || row->cost->busy > best->cost->busy) best = row;
    }
    return best;
}

static const char *share_text(double part, double whole, char *out) { return markup_percent(part, whole, out); }

static report_verdict bound_by_pipe(const report *r, const report_kernel *k, uint32_t pipe)
{
    const trace_kernel *t = k->trace;
    const trace_sum *s = &t->pipes[pipe];
    const double all = (double)t->instance_cycles;
    const char *name = r->trace->pipes[pipe];
    const uint32_t next = busiest(r, t, pipe);
    const report_row *row = longest_row(k, name);
    char a[32], b[32], c[32];
    const char *work = report_pipe_work(r, k->core, name);
    report_verdict v = {.headline =
                            *work ? say(r, "Bound by pipe %s (%s)", name, work) : say(r, "Bound by pipe %s", name)};
    const char *second = next == TRACE_NONE ? ""
                                            : say(r, "; the next is %s with %s", r->trace->pipes[next],
                                                  share_text(occupied(r, t, next), all, b));
    const char *most = row != NULL && s->busy > 0
                           ? say(r, " Its longest instruction is %s, with %s of that.", op_info_of(r->m, row->op)->name,
                                 share_text((double)row->cost->busy, (double)s->busy, c))
                           : "";
    const uint8_t rule = row != NULL ? op_info_of(r->m, row->op)->rule : RULE_NONE;
    const bool is_transfer = s->bytes > 0 && (rule == RULE_LOAD || rule == RULE_STORE || rule == RULE_MOVE);
    const char *rate = is_transfer && s->busy > 0
                           ? say(r, " It moves %.1f bytes a cycle while it works.", (double)s->bytes / (double)s->busy)
                           : "";
    const char *doubt = !is_transfer || report_has(r, PTO_COUNTER_SHARED_BANDWIDTH)
                            ? ""
                            : " This backend does not report shared bandwidth: waiting for others that use the same "
                              "memory is part of that.";
    v.reason = say(r, "It works %s of the time instances run%s.%s%s%s", share_text((double)s->busy, all, a), second,
                   most, rate, doubt);
    v.advice = is_transfer ? "Faster only with fewer bytes on this path (larger tiles that are used more often, a "
                             "smaller element type, fusion) or a machine with a wider one."
                           : "Faster only with fewer or cheaper instructions on this pipe.";
    return v;
}

static report_verdict bound_by_memory(const report *r, const report_kernel *k, uint32_t pipe)
{
    const trace_sum *s = &k->trace->pipes[pipe];
    const double all = (double)k->trace->instance_cycles;
    char a[32], b[32];
    report_verdict v = {.headline = "Bound by the bandwidth of global memory that all cores share"};
    v.reason =
        say(r, "Pipe %s transfers %s of the time instances run, and %s more because others transfer too.",
            r->trace->pipes[pipe], share_text((double)s->busy, all, a), share_text((double)shared_of(r, s), all, b));
    v.advice = "Faster only with fewer bytes: fusion, a smaller element type, tiles that are used more often.";
    return v;
}

static report_verdict bound_by_waiting(const report *r, const report_kernel *k, uint32_t pipe)
{
    const trace_sum *s = &k->trace->pipes[pipe];
    const double all = (double)k->trace->instance_cycles, waits = (double)trace_sum_stalled(s);
    uint64_t most = 0;
    for (uint32_t i = 0; i < k->row_count; i++)
        if (k->rows[i].kind == ROW_INSN && k->rows[i].cost != NULL && k->rows[i].cost->executions > most)
            most = k->rows[i].cost->executions;
    const double iterations = (double)most / (double)(k->trace->instances ? k->trace->instances : 1);
    char a[32], b[32], c[32];
    report_verdict v = {.headline = "Bound by waiting: no unit works most of the time"};
    uint32_t worst = 0;
    for (uint32_t i = 1; i < r->trace->cause_count; i++)
        if (s->stalls[i] > s->stalls[worst]) worst = i;
    const char *cause = waits > 0 ? say(r, ", most of it for: %s (%s)", r->trace->causes[worst],
                                        share_text((double)s->stalls[worst], all, c))
                                  : "";
    const char *why = r->trace->cause_count > 0 ? say(r, " and waits %s%s.", share_text(waits, all, b), cause)
                                                : ". This backend does not report what it waits for in the rest.";
    v.reason = say(r, "The busiest pipe, %s, works %s of the time instances run%s", r->trace->pipes[pipe],
                   share_text((double)s->busy, all, a), why);
    v.advice = iterations < 3
                   ? say(r,
                         "An instance runs %.1f iterations on average: too few for loads, work and stores to "
                         "overlap. A larger problem or smaller tiles leave more.",
                         iterations)
                   : "More stages, or tiles that make the pipes' parts equally long, let them overlap.";
    return v;
}

report_verdict report_judge_kernel(const report *r, const report_kernel *k)
{
    const trace_kernel *t = k->trace;
    const uint32_t pipe = busiest(r, t, TRACE_NONE);
    if (pipe == TRACE_NONE || t->instance_cycles <= 0)
        return (report_verdict){"It did not run", "No instance took any time.", ""};
    const double share = occupied(r, t, pipe) / (double)t->instance_cycles;
    const double shared = (double)shared_of(r, &t->pipes[pipe]);
    if (share < bound_share) return bound_by_waiting(r, k, pipe);
    if (shared > shared_share * occupied(r, t, pipe)) return bound_by_memory(r, k, pipe);
    return bound_by_pipe(r, k, pipe);
}

/* ---- the run ---- */

typedef struct stretch {
    int64_t from, to;
} stretch;

static int earlier(const void *a, const void *b)
{
    const stretch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Cycles in which at least one core ran a kernel. */
static double report_active_cycles(const report *r)
{
    const run_trace *t = r->trace;
    /* Where not all instances are known, a kernel counts as running from its first to its last. */
    const size_t count = t->instances_left_out ? t->kernel_count : t->instance_count;
    stretch *all = arena_array(r->arena, count, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = t->instances_left_out ? (stretch){t->kernels[i].from, t->kernels[i].to}
                                       : (stretch){t->instances[i].from, t->instances[i].to};
    if (count > 1) qsort(all, count, sizeof *all, earlier);
    int64_t end = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].to <= end) continue;
        sum += all[i].to - (all[i].from > end ? all[i].from : end);
        end = all[i].to;
    }
    return (double)sum;
}

/* Cores that ran an instance of a kernel, of those of its kind. */
static const char *idle_cores(const report *r, const report_kernel *k)
{
    const machine_core *kind = r->machine != NULL ? machine_core_by_name(r->machine, str_from(k->core)) : NULL;
    if (kind == NULL || k->trace == NULL || (double)k->trace->instances >= (1 - idle_cores_share) * (double)kind->count)
        return "";
    return say(r, " It has %llu instance%s for %lld %s cores: most of the chip is idle.",
               (unsigned long long)k->trace->instances, k->trace->instances == 1 ? "" : "s", (long long)kind->count,
               kind->name);
}

static report_verdict judge_dispatch(const report *r, double active)
{
    char a[32], b[32], c[32];
    report_verdict v = {.headline = "Bound by dispatch: most of the time no kernel runs"};
    v.reason =
        say(r, "Some kernel runs in %s of %s cycles; starting them takes the other %s.", markup_thousands(active, a),
            markup_thousands(r->cycles, b), share_text(r->cycles - active, r->cycles, c));
    v.advice = "Faster with fewer launches (fusion), or with more work in each.";
    return v;
}

report_verdict report_judge_run(const report *r)
{
    if (report_is_clocked(r)) return report_judge_clocked(r);
    if (report_counter(r, PTO_COUNTER_CYCLES, -1) < 0)
        return (report_verdict){"No cycles", "The backend computes and counts; it does not model time.",
                                "Run on a backend that reports cycles to see what bounds the run."};
    const report_kernel *longest = NULL;
    for (uint32_t i = 0; i < r->kernel_count; i++) {
        const report_kernel *k = &r->kernels[i];
        if (k->trace != NULL &&
            (longest == NULL || k->trace->to - k->trace->from > longest->trace->to - longest->trace->from))
            longest = k;
    }
    if (r->trace->slice_total == 0 && report_counter(r, PTO_COUNTER_INSTANCES, -1) == 0)
        return (report_verdict){"Nothing ran", "No launch had an instance.", ""};
    if (longest == NULL || r->cycles <= 0)
        return (report_verdict){"Cycles, but no trace", "The backend tells no slices: only its counters are shown.",
                                ""};
    const double active = report_active_cycles(r);
    report_verdict v = report_judge_kernel(r, longest);
    if (r->cycles - active > dispatch_share * r->cycles) {
        const report_verdict d = judge_dispatch(r, active);
        v.advice = say(r, "%s Within @%s: %s. %s", d.advice, longest->name, v.headline, v.reason);
        v.headline = d.headline;
        v.reason = d.reason;
    } else if (r->kernel_count > 1) {
        v.reason = say(r, "This is @%s, which takes longest. %s", longest->name, v.reason);
    }
    const bool is_noticed =
        r->cycles - active > noticed_share * r->cycles && r->cycles - active <= dispatch_share * r->cycles;
    char text[32];
    v.reason = say(
        r, "%s%s%s", v.reason, idle_cores(r, longest),
        is_noticed ? say(r, " Starting kernels takes %s of the run.", share_text(r->cycles - active, r->cycles, text))
                   : "");
    return v;
}

/* ---- limits ---- */

static void add_limit(report_limit *out, uint32_t *count, uint32_t capacity, report_limit l)
{
    if (*count < capacity) out[(*count)++] = l;
}

uint32_t report_limits(const report *r, report_limit *out, uint32_t capacity)
{
    uint32_t count = 0;
    if (r->cycles <= 0) return 0;
    const double bytes = report_counter(r, PTO_COUNTER_GM_READ, 0) + report_counter(r, PTO_COUNTER_GM_WRITTEN, 0);
    const bool has_bytes = report_has(r, PTO_COUNTER_GM_READ) && report_has(r, PTO_COUNTER_GM_WRITTEN);
    char text[32];
    add_limit(out, &count, capacity, (report_limit){"the run", "from the call to the end", "", r->cycles});
    if (r->trace->core_count > 0)
        add_limit(out, &count, capacity,
                  (report_limit){"kernels", "some kernel runs on some core", "", report_active_cycles(r)});
    if (has_bytes && r->machine != NULL && r->machine->shared_bytes_per_cycle > 0)
        add_limit(out, &count, capacity,
                  (report_limit){"global memory",
                                 say(r, "%s at %g bytes a cycle for the chip", markup_bytes(bytes, text),
                                     r->machine->shared_bytes_per_cycle),
                                 "", bytes / r->machine->shared_bytes_per_cycle});
    for (uint32_t i = 0; i < r->unit_count; i++) {
        const report_unit *u = &r->units[i];
        const machine_core *kind = r->machine != NULL ? machine_core_by_name(r->machine, str_from(u->group)) : NULL;
        const char *work = report_pipe_work(r, u->group, u->pipe);
        if (u->is_core || kind == NULL || !u->is_measured) continue;
        add_limit(out, &count, capacity,
                  (report_limit){say(r, "%s / %s", u->group, u->pipe),
                                 say(r, "%s%sspread over %lld cores", work, *work ? ", " : "", (long long)kind->count),
                                 u->pipe, u->busy / (double)kind->count});
    }
    return count;
}
