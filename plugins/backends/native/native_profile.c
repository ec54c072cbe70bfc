#include "native_profile.h"

#include "native_services.h"

#include <native_clock.h>
#include <native_events.h>

#include <pto/profile.h>

#include <inttypes.h>
#include <stdarg.h>

enum { PIECES_MAX = 1 << 16, LAUNCHES_MAX = 1 << 14, LINE_BYTES = 128 };

/* Instances that a thread ran one after the other. Times are nanoseconds from the start of the call. */
typedef struct piece {
    int64_t begin, end, from, to;
    uint32_t kernel;
} piece;

typedef struct thread_profile {
    piece *pieces;
    uint32_t count, left_out;
    int is_open; /* events are */
    native_events events;
    uint64_t before[NATIVE_EVENTS], counts[NATIVE_EVENTS]; /* of this launch */
    int64_t begin;
    char space[LINE_BYTES]; /* threads write beside each other */
} thread_profile;

typedef struct kernel_profile {
    pto_native_kernel run;
    const char *name; /* of the module, without `@` */
    int64_t launches, ns;
    uint64_t counts[NATIVE_EVENTS];
    int lacks[NATIVE_EVENTS]; /* some thread could not count it */
} kernel_profile;

struct native_profile {
    int64_t start, begin; /* of the call, by the clock; of the launch */
    uint32_t kernel_count, thread_count, pieces_max;
    uint32_t at; /* the kernel that runs */
    kernel_profile *kernels;
    thread_profile *threads;
    piece *launches;
    uint32_t launch_count, launches_left_out;
};

static const char *name_of(const pto_run *run, uint32_t op)
{
    const pto_str name = pto_function_name(native_op_at(run, op));
    char *text = pto_keep(run, name.n + 1);
    memcpy(text, name.p, name.n);
    return text;
}

native_profile *native_profile_make(const pto_run *run, const pto_native_module *module, uint32_t threads)
{
    native_profile *p = pto_keep(run, sizeof *p);
    p->kernel_count = module->kernel_count;
    p->kernels = pto_keep(run, (p->kernel_count + 1) * sizeof *p->kernels); /* the last one: of no kernel's own */
    p->kernels[p->kernel_count].name = "packing";
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        p->kernels[i].run = module->kernels[i].run;
        p->kernels[i].name = name_of(run, module->kernels[i].op);
    }
    p->thread_count = threads;
    p->pieces_max = PIECES_MAX / threads;
    p->threads = pto_keep(run, threads * sizeof *p->threads);
    for (uint32_t i = 0; i < threads; i++) p->threads[i].pieces = pto_keep(run, p->pieces_max * sizeof(piece));
    p->launches = pto_keep(run, LAUNCHES_MAX * sizeof(piece));
    return p;
}

void native_profile_close(native_profile *p)
{
    for (uint32_t i = 0; p != NULL && i < p->thread_count; i++)
        if (p->threads[i].is_open) native_events_close(&p->threads[i].events);
}

void native_profile_begin(native_profile *p)
{
    for (uint32_t i = 0; i <= p->kernel_count; i++) {
        kernel_profile *k = &p->kernels[i];
        *k = (kernel_profile){.run = k->run, .name = k->name};
    }
    for (uint32_t i = 0; i < p->thread_count; i++) p->threads[i].count = p->threads[i].left_out = 0;
    p->launch_count = p->launches_left_out = 0;
    p->start = (int64_t)native_now_ns();
}

/* ---- while it runs ---- */

void native_profile_launch(native_profile *p, pto_native_kernel kernel)
{
    for (p->at = 0; p->at < p->kernel_count && p->kernels[p->at].run != kernel;) p->at++;
    for (uint32_t i = 0; i < p->thread_count; i++) memset(p->threads[i].counts, 0, sizeof p->threads[i].counts);
    p->begin = (int64_t)native_now_ns() - p->start;
}

void native_profile_launched(native_profile *p, int64_t instances)
{
    const int64_t end = (int64_t)native_now_ns() - p->start;
    kernel_profile *k = &p->kernels[p->at];
    k->launches++;
    k->ns += end - p->begin;
    for (uint32_t i = 0; i < p->thread_count; i++) {
        for (uint32_t n = 0; n < NATIVE_EVENTS; n++) {
            k->counts[n] += p->threads[i].counts[n];
            k->lacks[n] |= p->threads[i].is_open && !native_events_has(&p->threads[i].events, n);
        }
    }
    if (p->launch_count < LAUNCHES_MAX)
        p->launches[p->launch_count++] = (piece){p->begin, end, 0, instances, p->at};
    else
        p->launches_left_out++;
}

void native_profile_piece(native_profile *p, uint32_t thread)
{
    thread_profile *t = &p->threads[thread];
    if (!t->is_open) native_events_open(&t->events);
    t->is_open = 1;
    native_events_read(&t->events, t->before);
    t->begin = (int64_t)native_now_ns() - p->start;
}

void native_profile_pieced(native_profile *p, uint32_t thread, int64_t from, int64_t to)
{
    thread_profile *t = &p->threads[thread];
    const int64_t end = (int64_t)native_now_ns() - p->start;
    uint64_t after[NATIVE_EVENTS];
    native_events_read(&t->events, after);
    for (uint32_t n = 0; n < NATIVE_EVENTS; n++) t->counts[n] += after[n] - t->before[n];
    if (t->count < p->pieces_max)
        t->pieces[t->count++] = (piece){t->begin, end, from, to, p->at};
    else
        t->left_out++;
}

/* ---- the file ---- */

typedef struct writer {
    const pto_run_sink *sink;
    char text[1 << 12];
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->text, sizeof w->text, format, args);
    va_end(args);
    if (n > 0) w->sink->file_write(w->sink->self, w->text, (size_t)n < sizeof w->text ? (size_t)n : sizeof w->text - 1);
}

static void put_lane(writer *w, uint32_t lane, const char *name)
{
    put(w, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":%" PRIu32 ",\"args\":{\"name\":\"%s\"}}", lane,
        name);
    put(w,
        ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":%" PRIu32
        ",\"args\":{\"sort_index\":%" PRIu32 "}}",
        lane, lane);
}

static void put_piece(writer *w, const native_profile *p, uint32_t lane, const piece *e)
{
    const char *name = p->kernels[e->kernel].name;
    const int64_t length = e->end - e->begin;
    put(w,
        ",\n{\"ph\":\"X\",\"name\":\"%.900s\",\"pid\":0,\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%03" PRId64
        ",\"dur\":%" PRId64 ".%03" PRId64 ",\"args\":{\"first instance\":%" PRId64 ",\"instances\":%" PRId64 "}}",
        name, lane, e->begin / 1000, e->begin % 1000, length / 1000, length % 1000, e->from, e->to - e->from);
}

static void put_swimlane(const native_profile *p, const pto_run_sink *sink)
{
    writer w = {.sink = sink};
    sink->file_begin(sink->self, pto_profile_text(PTO_PROFILE_SWIMLANE));
    put(&w, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":"
            "{\"name\":\"pto.native\"}}");
    put_lane(&w, 0, "launches");
    for (uint32_t i = 0; i < p->launch_count; i++) put_piece(&w, p, 0, &p->launches[i]);
    for (uint32_t i = 0; i < p->thread_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "thread %02" PRIu32, i);
        put_lane(&w, i + 1, name);
        for (uint32_t n = 0; n < p->threads[i].count; n++) put_piece(&w, p, i + 1, &p->threads[i].pieces[n]);
    }
    put(&w, "\n]}\n");
    sink->file_end(sink->self);
}

void native_profile_end(native_profile *p, const pto_run_sink *sink)
{
    static const pto_counter counters[NATIVE_EVENTS] = {[NATIVE_EVENT_CYCLES] = PTO_COUNTER_KERNEL_CYCLES,
                                                        [NATIVE_EVENT_INSTRUCTIONS] = PTO_COUNTER_KERNEL_INSTRUCTIONS,
                                                        [NATIVE_EVENT_CACHE_MISSES] = PTO_COUNTER_KERNEL_CACHE_MISSES};
    double left_out = p->launches_left_out;
    for (uint32_t i = 0; i < p->thread_count; i++) left_out += p->threads[i].left_out;
    for (uint32_t i = 0; i <= p->kernel_count; i++) {
        const kernel_profile *k = &p->kernels[i];
        if (k->launches == 0) continue;
        pto_profile_count_unit(sink, PTO_COUNTER_KERNEL_TIME, k->name, (double)k->ns / 1e3);
        pto_profile_count_unit(sink, PTO_COUNTER_KERNEL_LAUNCHES, k->name, (double)k->launches);
        for (uint32_t n = 0; n < NATIVE_EVENTS; n++)
            if (!k->lacks[n]) pto_profile_count_unit(sink, counters[n], k->name, (double)k->counts[n]);
    }
    if (sink->file_begin == NULL) return;
    if (left_out > 0) pto_profile_count(sink, PTO_COUNTER_SLICES_LEFT_OUT, left_out);
    put_swimlane(p, sink);
}
