#include "core/host/run_context.h"

#include "core/host/host_handle.h"
#include "core/host/process_state.h"

#include <stdarg.h>
#include <stdio.h>

_Static_assert(offsetof(run_context, run) == 0, "a pto_run is the front of a run_context");

const pto_kind_id *run_agent_kinds(arena *a, op_table *ops, const char *const *names, uint32_t *out_count)
{
    uint32_t n = 0;
    while (names != NULL && names[n] != NULL) n++;
    pto_kind_id *kinds = arena_array(a, (size_t)n + 1, sizeof *kinds);
    bool found = true;
    for (uint32_t i = 0; i < n; i++) {
        kinds[i] = op_kind_by_name(ops, str_from(names[i]));
        found &= kinds[i] != OP_NONE;
    }
    *out_count = n;
    return found ? kinds : NULL;
}

run_registry *run_registry_create(arena *a)
{
    run_registry *r = arena_alloc(a, sizeof *r);
    r->a = a;
    return r;
}

run_session *run_session_create(arena *a, const run_session_params *params)
{
    run_session *s = arena_alloc(a, sizeof *s);
    s->a = a;
    s->params = *params;
    if (s->params.registry == NULL) s->params.registry = run_registry_create(a);
    return s;
}

void run_session_destroy(run_session *s)
{
    if (s == NULL) return;
    BUG_IF(s->current != NULL, "a session ends while a run is open");
    for (run_context *c = s->outermost; c != NULL; c = c->inner) {
        if (c->scratch != NULL) arena_destroy(c->scratch);
        c->scratch = NULL;
    }
}

void run_session_forget(run_session *s) { s->recalled = NULL; }

bool run_session_is_stopped(const run_session *s) { return flight_recorder_stop(s->params.recorder); }

const char *run_agent_text(const run_agent *agent, char *out)
{
    snprintf(out, RUN_AGENT_TEXT_BYTES, "step `%.100s` (pass %.100s of plugin %.100s)", agent->step, agent->id,
             agent->plugin);
    return out;
}

void run_agent_note(const run_agent *agent, diag_engine *d)
{
    diag_note(d, agent->at, "step `%s`: pass %s of plugin %s", agent->step, agent->id, agent->plugin);
}

uint32_t run_levels(const op_table *ops, const pto_pass *pass, uint32_t excluded)
{
    const ir_level from = level_by_name(ops, str_from(pass->consumes)),
                   to = level_by_name(ops, str_from(pass->produces));
    return 1u << from | 1u << to | ((1u << level_guest(from) | 1u << level_guest(to)) & ~excluded);
}

/* What runs, for the supervisor: a checker counts as the step whose work it checks. NULL: nothing. */
static void record(const run_session *s, const run_context *c)
{
    flight_recorder *r = s->params.recorder;
    if (r == NULL || r->stopped) return;
    flight_recorder_clear(r);
    if (c == NULL) return;
    const run_request *q = &c->request;
    const run_agent *step = q->after != NULL ? q->after : q->agent;
    FLIGHT_SET(r, plugin, str_from(q->agent->plugin));
    FLIGHT_SET(r, role, str_from(q->agent->role));
    FLIGHT_SET(r, pass, str_from(q->agent->id));
    FLIGHT_SET(r, step, str_from(step->step));
    FLIGHT_SET(r, file, str_from(step->at.file));
    r->line = step->at.line;
    if (q->unit != 0 && op_is_live(c->m, q->unit))
        FLIGHT_SET(r, function, string_of(c->ir, function_name(c->m, q->unit)));
}

static process_caller caller_of(const run_session *s, const run_agent *who)
{
    return (process_caller){
        .diags = s->params.diags, .at = who->at, .role = who->role, .id = who->id, .plugin = who->plugin};
}

void run_context_put_back(const pto_run *run)
{
    const run_context *c = run_of(run);
    const process_caller who = caller_of(c->session, c->request.agent);
    process_put_back(c->session->params.recorder, &who);
}

void run_group_begin(run_session *s, const run_agent *agent)
{
    s->group = agent;
    process_enter(s->params.recorder);
}

void run_group_end(run_session *s)
{
    const process_caller who = caller_of(s, s->group);
    s->group = NULL;
    process_leave(s->params.recorder, &who);
    record(s, NULL);
}

static void leave(const run_context *c)
{
    const run_agent *agent = c->request.agent;
    const process_caller who = caller_of(c->session, agent);
    if (c->session->group == agent)
        process_check_copy(c->session->params.recorder, &who);
    else
        process_leave(c->session->params.recorder, &who);
}

/* The context of the next run. One whose serial numbers are used up stays as it is, for handles that were kept to lead
 * to, and another takes its place. */
static run_context *context_for(run_session *s)
{
    run_context **place = s->current != NULL ? &s->current->inner : &s->outermost, *old = *place;
    if (old != NULL && old->serial < UINT16_MAX) return old;
    *place = arena_alloc(s->params.registry->a, sizeof **place);
    if (old == NULL) return *place;
    (*place)->scratch = old->scratch;
    (*place)->inner = old->inner;
    old->scratch = NULL;
    old->inner = NULL;
    return *place;
}

const pto_run *run_context_begin(run_session *s, const run_request *request)
{
    run_context *around = s->params.registry->current;
    if (around != NULL) run_context_put_back(&around->run);
    run_context *c = context_for(s), *inner = c->inner;
    arena *scratch = c->scratch != NULL ? c->scratch : arena_create("plugin scratch");
    const uint16_t serial = (uint16_t)(c->serial + 1);
    // Anew for each run: what a plugin writes into it is not the next one's.
    s->params.registry->host = host_table(s->params.abi_minor);
    *c = (run_context){
        .run = {sizeof(pto_run), request->agent->kind_count, &s->params.registry->host, request->agent->kinds},
        .registry = s->params.registry,
        .session = s,
        .outer = s->current,
        .around = around,
        .inner = inner,
        .active = true,
        .serial = serial,
        .request = *request,
        .m = request->module,
        .ir = module_context(request->module),
        .diags = s->params.diags,
        .scratch = scratch,
        .errors_before = diag_error_count(s->params.diags),
        .epoch_before = module_epoch(request->module)};
    s->current = c;
    c->registry->current = c;
    record(s, c);
    if (s->group != request->agent) process_enter(s->params.recorder);
    return &c->run;
}

pto_op run_context_unit(const pto_run *run)
{
    run_context *c = run_of(run);
    return op_handle(c, c->request.unit);
}

pto_op run_context_op(const pto_run *run, op_id o) { return op_handle(run_of(run), o); }

static void blame(const run_context *c)
{
    const run_agent *who = c->request.agent;
    diag_note(c->diags, who->at, "reported by %s `%s` of plugin `%s`%s%s%s", who->role, who->id, who->plugin,
              who->step != NULL ? " in step `" : "", who->step != NULL ? who->step : "", who->step != NULL ? "`" : "");
}

/* After an error that names pass and plugin already. */
static void note_step(const run_context *c)
{
    const run_agent *who = c->request.after != NULL ? c->request.after : c->request.agent;
    if (who->step != NULL)
        diag_note(c->diags, who->at, "%s step `%s`", c->request.after != NULL ? "after" : "in", who->step);
}

/* Names what reported, or on whose behalf. */
static void report_end(const run_context *c, bool failed, bool reported)
{
    const run_agent *who = c->request.agent;
    const run_session_params *p = &c->session->params;
    const bool is_silent = failed && !reported && (p->choices == NULL || !choices_is_wanted(p->choices));
    if (is_silent && c->was_told_to_stop)
        diag_error(c->diags, who->at, &E1711, "the time ran out in %s `%s` of plugin `%s`", who->role, who->id,
                   who->plugin);
    else if (is_silent)
        diag_error(c->diags, who->at, &E1326,
                   "%s `%s` of plugin `%s` failed without saying why; this is a defect of the "
                   "plugin",
                   who->role, who->id, who->plugin);
    if (is_silent)
        note_step(c);
    else if (reported && !c->misused)
        blame(c);
    if (c->pin_at.file == NULL || (!failed && !reported)) return;
    diag_note(c->diags, c->pin_at, "the schedule pins it here");
    schedule_set_refused(p->schedule);
}

/* Calls that a plugin jumped out of: runs inside of this one, and the pattern driver. */
static void end_left_calls(run_context *c)
{
    bool left = c->greedy != NULL;
    for (run_context *r = c->registry->current; r != c; r = r->around, left = true) {
        BUG_IF(r == NULL, "runs end in the wrong order");
        leave(r);
        r->active = false;
        r->session->current = r->outer;
        arena_rewind(r->scratch, (arena_mark){0});
    }
    c->registry->current = c;
    c->greedy = NULL;
    if (left) run_misuse(c, &E1324, "left a call of the host with a jump");
}

static function_sight sight_of(const run_context *c)
{
    if (c->saw_outside) return SAW_MODULE;
    return c->saw_own ? SAW_FUNCTION : SAW_CLASS;
}

run_result run_context_end(const pto_run *run, pto_status returned)
{
    run_context *c = run_of(run);
    run_session *s = c->session;
    end_left_calls(c);
    leave(c);
    /* PTO_CHANGED is what a pass that ends with a pattern driver may hand on. */
    if (returned > (c->request.access == RUN_READS ? PTO_OK : PTO_CHANGED))
        run_misuse(c, &E1323, "returned %d, which is not a status here", returned);
    const bool failed = returned < 0 || c->was_stopped, reported = diag_error_count(c->diags) != c->errors_before;
    report_end(c, failed, reported);
    /* Every way to change a module bumps its epoch; classes come from the table. */
    const bool changed = module_epoch(c->m) != c->epoch_before;
    BUG_IF(changed && c->changes == 0, "a change that the host table did not see");
    const run_result result = {
        .failed = failed || reported || c->misused,
        .misused = c->misused,
        .changes = changed || (c->changes & RUN_CHANGED_NAMES) != 0 ? c->changes : 0,
        .asked_machine = c->asked_machine,
        .saw = sight_of(c),
    };
    if (result.changes != 0 && s->params.functions != NULL && c->request.unit != 0)
        touched_functions_touch(s->params.functions, c->request.unit);
    if (c->outer != NULL) c->outer->asked_machine |= c->asked_machine;
    if (c->outer != NULL) c->outer->misused |= c->misused; /* all is said of it */
    if (result.failed && c->was_told_to_stop && s->params.recorder != NULL) s->params.recorder->stopped = 1;
    c->active = false;
    s->current = c->outer;
    c->registry->current = c->around;
    if (s->group != c->request.agent) record(c->around != NULL ? c->around->session : s, c->around);
    arena_reset(c->scratch);
    return result;
}

void run_misuse(run_context *c, const diag_code_info *code, const char *format, ...)
{
    if (c->misused) return;
    c->misused = true;
    const run_agent *who = c->request.agent;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(c->diags, who->at, code, "%s `%s` of plugin `%s` %s", who->role, who->id, who->plugin, text);
    note_step(c);
}

/* ---- handles ---- */

run_context *run_refuse(const run_context *c)
{
    run_context *now = c->registry->current;
    BUG_IF(now == NULL, "a plugin called the host outside of any run");
    run_misuse(now, &E1320, "used a handle, or the pto_run, of a run that has ended");
    return now;
}

static bool is_current(run_context *c, const pto_run *run, uint32_t generation, const char *what)
{
    if (run_is_current(c, run, generation)) return true;
    run_misuse(c, &E1320, "used a handle of %s of a run that has ended", what);
    return false;
}

op_id op_refuse(run_context *c, pto_op h)
{
    if (h.index != 0 && is_current(c, h.run, h.generation, "an op"))
        run_misuse(c, &E1320, "used a handle of an op that was erased");
    return 0;
}

value_id value_refuse(run_context *c, pto_value h)
{
    if (h.index != 0 && is_current(c, h.run, h.generation, "a value"))
        run_misuse(c, &E1320, "used a handle of a value that was erased");
    return 0;
}

block_id block_from(run_context *c, pto_block h)
{
    if (h.index == 0 || !is_current(c, h.run, h.generation, "a block")) return 0;
    if (block_is_live(c->m, h.index) && (block_generation(c->m, h.index) & 0xffffu) == (h.generation & 0xffffu))
        return h.index;
    run_misuse(c, &E1320, "used a handle of a block that was erased");
    return 0;
}

/* Types and the like are never erased; their number must be one that there is. */
static uint32_t refuse_shared(run_context *c, const pto_run *run, uint32_t index, uint32_t generation, const char *what)
{
    if (index != 0 && is_current(c, run, generation, what))
        run_misuse(c, &E1320, "made a handle of %s by itself", what);
    return 0;
}
#define REFUSE(name, what)                                           \
    name##_id name##_refuse(run_context *c, pto_##name h)            \
    {                                                                \
        return refuse_shared(c, h.run, h.index, h.generation, what); \
    }
REFUSE(type, "a type")
REFUSE(attr, "an attribute")
REFUSE(expr, "an expression")
REFUSE(loc, "a location")

static void look_at_leaf(void *self, uint32_t v)
{
    run_context *c = self;
    if (!value_is_live(c->m, v)) run_misuse(c, &E1320, "used an expression over a value that was erased");
}

bool run_check_leaves(run_context *c, expr_id e)
{
    expr_visit_values(c->ir, e, look_at_leaf, c);
    return !c->misused;
}

/* ---- what a run may write ---- */

static bool may_change(run_context *c)
{
    if (!c->active || c->session->current != c || c->request.access == RUN_READS) {
        run_misuse(c, &E1325, "tried to change the module, which it may only read");
        return false;
    }
    return true;
}

static bool is_inside_unit(run_context *c, op_id function)
{
    if (c->request.access == RUN_WRITES_MODULE) {
        if (c->session->params.functions != NULL) touched_functions_touch(c->session->params.functions, function);
        return true;
    }
    if (function == c->request.unit) return true;
    str name = function != 0 ? string_of(c->ir, function_name(c->m, function)) : STR("module");
    str own = string_of(c->ir, function_name(c->m, c->request.unit));
    run_misuse(c, &E1321, "wrote to %s%.*s while it was given @%.*s; only a pass of scope module may do that",
               function != 0 ? "@" : "the ", (int)name.n, name.p, (int)own.n, own.p);
    return false;
}

bool run_may_change_op(run_context *c, op_id o)
{
    if (!may_change(c)) return false;
    /* Most ops are right in the body. */
    if (c->request.unit != 0 && op_parent(c->m, o) == c->request.unit) return true;
    return is_inside_unit(c, op_function(c->m, o));
}

bool run_may_change_block(run_context *c, block_id b)
{
    const op_id parent = block_parent(c->m, b);
    return may_change(c) && is_inside_unit(c, parent != 0 ? op_function(c->m, parent) : 0);
}

bool place_from(run_context *c, pto_place h, op_place *out)
{
    const block_id b = block_from(c, h.block);
    const op_id before = op_from(c, h.before);
    if (b == 0) {
        run_misuse(c, &E1324, "gave no block as the place for an op");
        return false;
    }
    if (h.before.index != 0 && before == 0) return false;
    if (before != 0 && op_block(c->m, before) != b) {
        run_misuse(c, &E1324, "gave a place before an op of another block");
        return false;
    }
    if (!run_may_change_block(c, b)) return false;
    *out = (op_place){b, before};
    return true;
}

void run_changed(run_context *c, uint32_t classes, op_id o)
{
    c->changes |= classes;
    if (c->greedy != NULL && o != 0) greedy_touched(c->greedy, o, classes != 0);
}
