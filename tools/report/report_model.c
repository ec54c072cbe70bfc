#include "tools/report/report_model.h"

#include "ir/text/printer.h"
#include "tools/run/run_counters.h"

#include <stdio.h>

/* ---- the text and its lines ---- */

typedef struct line_counter {
    report *r;
    text_buffer *out;
    size_t seen;
    uint32_t line;
} line_counter;

static void note_op(void *self, op_id o)
{
    line_counter *k = self;
    for (; k->seen < k->out->n; k->seen++) k->line += k->out->p[k->seen] == '\n';
    k->r->line_of[o] = k->line;
}

static uint32_t op_limit(const module *m)
{
    uint32_t limit = 1;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f) if (o >= limit) limit = o + 1;
    }
    return limit;
}

static void read_lines(report *r)
{
    for (size_t i = 0; i < r->text.n; i++) r->line_count += r->text.p[i] == '\n';
    r->lines = arena_array(r->arena, r->line_count + 1u, sizeof *r->lines);
    size_t at = 0;
    for (uint32_t i = 0; i < r->line_count; i++) {
        const char *end = memchr(r->text.p + at, '\n', r->text.n - at);
        r->lines[i] = (report_line){.at = at, .n = (size_t)(end - r->text.p) - at};
        at += r->lines[i].n + 1;
    }
    for (op_id o = 1; o < r->op_limit; o++)
        if (r->line_of[o]) r->lines[r->line_of[o] - 1].op = o;
}

static void print_text(report *r)
{
    text_buffer t;
    text_init(&t);
    r->op_limit = op_limit(r->m);
    r->line_of = arena_array(r->arena, r->op_limit, sizeof *r->line_of);
    line_counter counter = {.r = r, .out = &t, .line = 1};
    const print_options options = {.on_op = note_op, .self = &counter};
    module_print(r->m, &options, &t);
    r->text = (str){arena_strndup(r->arena, t.p != NULL ? t.p : "", t.n), t.n};
    text_fini(&t);
    read_lines(r);
}

uint32_t report_line_of(const report *r, op_id o) { return o < r->op_limit ? r->line_of[o] : 0; }

str report_line_text(const report *r, op_id o)
{
    const uint32_t line = report_line_of(r, o);
    if (line == 0) return (str){"", 0};
    str s = {r->text.p + r->lines[line - 1].at, r->lines[line - 1].n};
    while (s.n > 0 && *s.p == ' ') s = (str){s.p + 1, s.n - 1};
    if (s.n >= 2 && memcmp(s.p + s.n - 2, " {", 2) == 0) s.n -= 2;
    return s;
}

const char *report_source_of(const report *r, op_id o)
{
    const src_pos at = op_pos(r->m, o);
    if (at.file == NULL || at.line == 0) return "";
    const char *slash = strrchr(at.file, '/');
    char text[512];
    snprintf(text, sizeof text, "%.400s:%u:%u", slash != NULL ? slash + 1 : at.file, at.line, at.column);
    return arena_strdup(r->arena, text);
}

/* ---- numbers ---- */

double report_counter(const report *r, pto_counter counter, double absent)
{
    const pto_counter_row *row = pto_counter_row_at(counter);
    for (uint32_t i = 0; row != NULL && i < r->result->counter_count; i++)
        if (strcmp(r->result->counters[i].name, row->name) == 0) return r->result->counters[i].value;
    return absent;
}

bool report_has(const report *r, pto_counter counter) { return r->is_reported[counter]; }

static uint32_t cause_number(report *r, str name)
{
    for (uint32_t i = 0; i < r->cause_count; i++)
        if (str_is(name, r->causes[i])) return i;
    if (r->cause_count == TRACE_CAUSES_MAX) return TRACE_CAUSES_MAX - 1;
    r->causes[r->cause_count] = arena_strndup(r->arena, name.p, name.n);
    return r->cause_count++;
}

static bool is_core_kind(const report *r, str group)
{
    if (r->machine != NULL) return machine_core_by_name(r->machine, group) != NULL;
    return group.n > 0 && (group.p[group.n - 1] < '0' || group.p[group.n - 1] > '9');
}

static report_unit *unit_of(report *r, const counter_name *n)
{
    uint32_t number;
    if (name_index_find(&r->units_by_name, n->unit, &number)) return &r->units[number];
    name_index_put(r->arena, &r->units_by_name, n->unit, r->unit_count);
    report_unit *u = &r->units[r->unit_count++];
    *u = (report_unit){.group = arena_strndup(r->arena, n->group.p, n->group.n),
                       .pipe = arena_strndup(r->arena, n->pipe.p, n->pipe.n),
                       .is_core = !is_core_kind(r, n->group)};
    return u;
}

static void read_counter(report *r, const counter_name *n, double number)
{
    if (n->counter != PTO_COUNTER_NONE) r->is_reported[n->counter] = true;
    const pto_counter_row *row = pto_counter_row_at(n->counter);
    if (n->unit.n == 0 || (row != NULL && row->scope == PTO_SCOPE_KERNEL)) return;
    report_unit *u = unit_of(r, n);
    if (n->is_stall) {
        u->stalls[cause_number(r, n->what)] = number;
    } else if (n->counter == PTO_COUNTER_BUSY) {
        u->busy = number;
        u->is_measured = true;
    } else {
        u->utilisation = number;
        u->has_utilisation = true;
    }
}

/* Causes of the counters in the order of the profile's rows, which is that of the columns; then those of the backend's
 * own. Of slices alone: they are reported, but no column of units. */
static void name_causes(report *r, const counter_name *names)
{
    for (uint32_t row = 0; row < PTO_COUNTER_NONE; row++) {
        for (uint32_t i = 0; pto_counter_is_stall(row) && i < r->result->counter_count; i++)
            if (names[i].is_stall && names[i].counter == row) cause_number(r, names[i].what);
    }
    for (uint32_t i = 0; i < r->trace->cause_count; i++) {
        const pto_counter counter = counter_of_cause(str_from(r->trace->causes[i]));
        if (counter != PTO_COUNTER_NONE) r->is_reported[counter] = true;
    }
}

static void read_counters(report *r, const pto_backend *backend)
{
    const uint32_t count = r->result->counter_count;
    counter_name *names = arena_array(r->arena, count + 1u, sizeof *names);
    for (const char *const *c = backend->counters; c != NULL && *c != NULL; c++) {
        const pto_counter declared = counter_declared(str_from(*c));
        if (declared != PTO_COUNTER_NONE) r->is_reported[declared] = true;
    }
    for (uint32_t i = 0; i < count; i++) names[i] = counter_name_read(str_from(r->result->counters[i].name));
    name_causes(r, names);
    r->cycles = report_counter(r, PTO_COUNTER_CYCLES, 0);
    r->clock_hz = r->machine != NULL ? (double)r->machine->clock_hz : 0;
    r->units = arena_array(r->arena, count + 1u, sizeof *r->units);
    for (uint32_t i = 0; i < count; i++) read_counter(r, &names[i], r->result->counters[i].value);
}

static bool symbol_value(void *self, str_id name, int64_t *out)
{
    const report *r = self;
    return bound_call_value(r->call, string_of(module_context(r->m), name), out);
}

int64_t report_bytes_of(const report *r, type_id t)
{
    ir_context *c = module_context(r->m);
    const type_node *n = type_at(c, t);
    if (n->kind != TYPE_TENSOR && n->kind != TYPE_GM) return -1;
    const expr_id count = type_element_count(c, t);
    const expr_values values = {.symbol = symbol_value, .self = (void *)(uintptr_t)r};
    int64_t elements, bytes;
    if (count == 0 || !expr_eval(c, count, &values, &elements)) return -1;
    if (__builtin_mul_overflow(elements, (int64_t)dtype_bytes(n->dtype), &bytes)) return -1;
    return bytes;
}

void report_model(report *r, arena *a, module *m, const loaded_pipeline *opened, const bound_call *call,
                  const backend_result *result, const run_trace *trace)
{
    *r = (report){.arena = a, .m = m, .machine = opened->machine, .call = call, .result = result, .trace = trace};
    print_text(r);
    read_counters(r, opened->contract.backend);
    if (run_counters_has_clock(opened->contract.backend)) run_work_count(a, m, call, &r->work);
    report_kernels(r);
}
