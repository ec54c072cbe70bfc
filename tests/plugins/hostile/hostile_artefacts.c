/* A backend that runs nothing and leaves artefacts, in the way that it is told. Outputs become 0. */
#include <pto/plugin.h>

#include <pto/backend.h>

/* clang-format off */
#define WAYS(X) \
    X(nothing) X(write_unbegun) X(end_unbegun) X(leave_open) X(begin_twice) X(same_name) X(name_with_nul) \
    X(name_with_slash) X(name_of_report) X(no_such_unit) X(backwards) X(short_slice) X(odd_counter) X(odd_unit) \
    X(counter_twice) X(odd_cause) X(write_input) X(change_call) X(many_units) X(many_counters)
/* clang-format on */

#define WAY_NAME(name) #name,
#define WAY_NUMBER(name) WAY_##name,
static const char *const way_names[] = {WAYS(WAY_NAME) NULL};
enum { WAYS(WAY_NUMBER) WAY_COUNT };
#define OPTIONS(X) X(WAY, ENUM, "way", .def = "nothing", .doc = "what to leave", .choices = way_names)
PTO_OPTIONS(OPTIONS);

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    (void)run;
    (void)function;
    *exe = NULL;
    return PTO_OK;
}

static void leave_files(const pto_run_sink *to, int64_t way)
{
    if (way != WAY_write_unbegun && way != WAY_end_unbegun)
        to->file_begin(to->self, way == WAY_name_with_nul     ? pto_str_make("a\0b", 3)
                                 : way == WAY_name_with_slash ? PTO_STR("../a")
                                 : way == WAY_name_of_report  ? PTO_STR("index.html")
                                                              : PTO_STR("a.txt"));
    if (way == WAY_begin_twice) to->file_begin(to->self, PTO_STR("b.txt"));
    if (way != WAY_end_unbegun) to->file_write(to->self, "text\n", 5);
    if (way != WAY_leave_open) to->file_end(to->self);
    if (way != WAY_same_name) return;
    to->file_begin(to->self, PTO_STR("a.txt"));
    to->file_end(to->self);
}

static void leave_slice(const pto_run_sink *to, int64_t way, pto_op op)
{
    const pto_slice s = {.struct_size = way == WAY_short_slice ? 8 : sizeof s,
                         .unit = way == WAY_no_such_unit ? 7 : to->unit(to->self, PTO_STR("core 00 / v")),
                         .op = op,
                         .cause = pto_s(way == WAY_odd_cause ? "fl\033[31mag" : ""),
                         .from = way == WAY_backwards ? 9 : 0,
                         .to = 5};
    to->slice(to->self, &s);
}

static void leave_many(const pto_run_sink *to, int64_t way, pto_op op)
{
    char name[64];
    for (uint32_t i = 0; i < 20000 && way == WAY_many_units; i++) {
        snprintf(name, sizeof name, "core %05u / v", i);
        const pto_slice s = {.struct_size = sizeof s, .unit = to->unit(to->self, pto_s(name)), .op = op, .to = 5};
        to->slice(to->self, &s);
    }
    for (uint32_t i = 0; i < 300000 && way == WAY_many_counters; i++) {
        static const char *const what[] = {"busy", "utilisation", "stall / flag"};
        snprintf(name, sizeof name, "core %05u / v / %s", i / 3, what[i % 3]);
        to->counter(to->self, pto_s(name), pto_s(i % 3 == 1 ? "%" : "cycles"), 1);
    }
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    const int64_t way = pto_opt_i64(run, OPT_WAY);
    const pto_run_sink *to = call->sink;
    (void)exe;
    for (uint32_t i = 0; i < call->result_count; i++) memset(call->results[i]->data, 0, call->results[i]->bytes);
    to->counter(to->self, pto_s(way == WAY_odd_counter ? "\033]0;x\007cycles" : "cycles"),
                pto_s(way == WAY_odd_unit ? "\ncycles" : "cycles"), 1);
    if (way == WAY_counter_twice) to->counter(to->self, PTO_STR("cycles"), PTO_STR("cycles"), 2);
    if (way == WAY_write_input) memset(call->arguments[0]->data, 1, call->arguments[0]->bytes);
    if (way == WAY_change_call) {
        pto_tensor *t = (pto_tensor *)(uintptr_t)call->results[0];
        t->rank = 77;
        t->bytes = UINT64_MAX;
        t->data = NULL;
    }
    if (way >= WAY_write_unbegun && way <= WAY_name_of_report && to->file_begin != NULL) leave_files(to, way);
    if (way >= WAY_no_such_unit && way <= WAY_odd_cause && to->slice != NULL) leave_slice(to, way, call->function);
    if (to->slice != NULL) leave_many(to, way, call->function);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend backend = {.struct_size = sizeof backend,
                                    .id = "test.hostile-artefacts",
                                    .summary = "Leave artefacts as one should not",
                                    .options = pass_options,
                                    .consumes = PTO_STRS("tensor/1"),
                                    .prepare = prepare,
                                    .execute = execute,
                                    .release = release};
PTO_PLUGIN("test.hostile-artefacts", "backend:test.hostile-artefacts", "", .version = "1.0.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
