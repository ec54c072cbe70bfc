/* The trace of a run in the JSON form of Chrome and Perfetto: one lane for each pipe of each core. */
#include "cpu-sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>

/* Slices that instructions leave to whole instances, so that a long run still shows where its time goes. */
enum { INSTANCE_SLICES = SLICES_MAX / 10 };

/* ---- slices for the host ---- */

static bool has_listener(const sim *s)
{
    return s->options.has_timing && s->sink != NULL && PTO_HAS(s->sink, slice) && s->sink->unit != NULL &&
           s->sink->slice != NULL;
}

static uint32_t unit_of(sim *s, uint32_t core, uint32_t pipe)
{
    if (s->units == NULL) s->units = PTO_SCRATCH(s->run, uint32_t, (size_t)s->machine->core_count *CORE_ACTORS);
    uint32_t *unit = &s->units[core * CORE_ACTORS + pipe];
    if (*unit == 0) {
        char name[96];
        const sim_core_kind *k = s->cores[core].kind;
        snprintf(name, sizeof name, "%s %02" PRIu32 " / %s", k->name, core - k->first, k->pipe_names[pipe]);
        *unit = s->sink->unit(s->sink->self, pto_s(name)) + 1;
    }
    return *unit - 1;
}

/* A part of what the slice says, in one state. */
static void tell_part(sim *s, const sim_slice *e, pipe_state state, int64_t from, int64_t to)
{
    if (from == to && state != PIPE_BUSY) return;
    const pto_slice part = {.struct_size = sizeof part,
                            .unit = unit_of(s, e->core, e->pipe),
                            .op = e->site->op,
                            .cause = pto_profile_cause(pipe_state_counter(state)),
                            .from = from,
                            .to = to,
                            .bytes = state == PIPE_BUSY ? e->bytes : 0,
                            .instance = e->instance};
    s->sink->slice(s->sink->self, &part);
}

static void tell(sim *s, const sim_slice *e)
{
    tell_part(s, e, PIPE_LATENCY, e->from, e->from + e->latency);
    tell_part(s, e, PIPE_BUSY, e->from + e->latency, e->to - e->shared);
    tell_part(s, e, PIPE_SHARED, e->to - e->shared, e->to);
}

void trace_wait(sim *s, const sim_core *c, uint32_t pipe)
{
    const sim_pipe *p = &c->pipes[pipe];
    if ((p->state != PIPE_FLAG && p->state != PIPE_RESULT && p->state != PIPE_BARRIER) || !has_listener(s)) return;
    const sim_slice e = {.site = p->ring[p->head].site, .core = c->number, .pipe = pipe, .instance = c->instance};
    tell_part(s, &e, p->state, p->since, s->now);
}

/* ---- slices for the file ---- */

void trace_slice(sim *s, const sim_slice *slice)
{
    if (has_listener(s)) tell(s, slice);
    if (s->sink == NULL || s->sink->file_begin == NULL) return;
    const uint32_t most = slice->site->insn == INSN_NONE ? SLICES_MAX : SLICES_MAX - INSTANCE_SLICES;
    if (s->slice_count >= most) {
        s->slices_dropped++;
        return;
    }
    PTO_GROW(s->run, s->slices, s->slice_count, s->slice_capacity);
    s->slices[s->slice_count++] = *slice;
}

/* Text that is written piece by piece. */
typedef struct writer {
    const pto_run_sink *sink;
    char text[1 << 14];
    size_t n;
} writer;

static void flush(writer *w)
{
    if (w->n) w->sink->file_write(w->sink->self, w->text, w->n);
    w->n = 0;
}

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    enum { PIECE = 1024 };
    if (sizeof w->text - w->n < PIECE) flush(w);
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->text + w->n, PIECE, format, args);
    va_end(args);
    if (n > 0) w->n += (size_t)n < PIECE ? (size_t)n : PIECE - 1;
}

/* A string with its quotes. */
static void put_string(writer *w, const char *text)
{
    put(w, "\"");
    for (const char *p = text; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            put(w, "\\%c", c);
        else if (c < 0x20)
            put(w, "\\u%04x", c);
        else
            put(w, "%c", c);
    }
    put(w, "\"");
}

/* Microseconds with three decimals; at least `least` of them. */
static void put_time(writer *w, const sim *s, const char *key, int64_t cycles, int64_t least)
{
    int64_t ns = (int64_t)((double)cycles * 1e9 / (double)s->machine->clock_hz + 0.5);
    if (ns < least) ns = least;
    put(w, "\"%s\":%" PRId64 ".%03" PRId64 ",", key, ns / 1000, ns % 1000);
}

static uint32_t lane_of(uint32_t core, uint32_t pipe) { return core * CLOCK_PIPES + pipe; }

/* A name of the process or of a lane, and where to draw it. */
static void put_name(writer *w, const char *what, uint32_t lane, const char *name)
{
    put(w, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":0,\"tid\":%" PRIu32 ",\"args\":{\"name\":", what, lane);
    put_string(w, name);
    put(w, "}}");
}

static void put_lane(writer *w, const sim_core_kind *k, uint32_t core, uint32_t pipe)
{
    char name[96];
    const uint32_t lane = lane_of(core, pipe);
    snprintf(name, sizeof name, "%s %02" PRIu32 " / %s", k->name, core - k->first, k->pipe_names[pipe]);
    put(w, ",\n");
    put_name(w, "thread_name", lane, name);
    put(w, ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":%" PRIu32, lane);
    put(w, ",\"args\":{\"sort_index\":%" PRIu32 "}}", lane);
}

static void put_lanes(writer *w, const sim *s)
{
    put_name(w, "process_name", 0, s->machine->name);
    for (uint32_t i = 0; i < s->machine->kind_count; i++) {
        const sim_core_kind *k = &s->machine->kinds[i];
        for (uint32_t c = k->first; report_is_used(s, k) && c < k->first + k->count; c++)
            for (uint32_t pipe = SCALAR_PIPE; pipe < k->pipe_end; pipe++) put_lane(w, k, c, pipe);
    }
}

static void put_slice(writer *w, const sim *s, const sim_slice *e)
{
    char path[256] = "", source[512] = "";
    pto_op_path(e->site->op, path, sizeof path);
    pto_loc_text(e->site->loc, source, sizeof source);
    const bool is_insn = e->site->insn != INSN_NONE;
    put(w, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%" PRIu32 ",", lane_of(e->core, e->pipe));
    put_time(w, s, "ts", e->from, 0);
    put_time(w, s, "dur", e->to - e->from, 1);
    const pto_str title = is_insn ? e->site->op_name : pto_s(e->site->function);
    put(w, "\"name\":\"%.*s\",\"cat\":\"%s\",\"args\":{\"cycles\":%" PRId64 ",\"from\":%" PRId64, PTO_FMT(title),
        e->site->function, e->to - e->from, e->from);
    if (is_insn)
        put(w, ",\"bytes\":%" PRId64, e->bytes);
    else
        put(w, ",\"instance\":%" PRId64, e->instance);
    if (e->latency > 0) put(w, ",\"latency\":%" PRId64, e->latency);
    if (e->shared > 0) put(w, ",\"shared-bandwidth\":%" PRId64, e->shared);
    put(w, ",\"op\":\"%s\",\"source\":", path);
    put_string(w, source);
    put(w, "}}");
}

void trace_write(sim *s)
{
    if (s->sink == NULL || s->sink->file_begin == NULL || !s->options.has_timing) return;
    writer *w = PTO_SCRATCH(s->run, writer, 1);
    w->sink = s->sink;
    s->sink->file_begin(s->sink->self, PTO_STR(PTO_PROFILE_SWIMLANE));
    put(w, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"tool\":\"pto.cpu-sim\",\"schema\":1,\"machine\":");
    put_string(w, s->machine->name);
    put(w, ",\"clock-hz\":%" PRId64 ",\"cycles\":%" PRId64 ",\"function\":", s->machine->clock_hz, s->now);
    put_string(w, s->orchestrator->name);
    put(w, ",\"slices\":%" PRIu32 ",\"slices-left-out\":%" PRIu64 "},\n\"traceEvents\":[\n", s->slice_count,
        s->slices_dropped);
    put_lanes(w, s);
    for (uint32_t i = 0; i < s->slice_count; i++) put_slice(w, s, &s->slices[i]);
    put(w, "\n]}\n");
    flush(w);
    s->sink->file_end(s->sink->self);
}
