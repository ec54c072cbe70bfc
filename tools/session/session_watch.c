/* Which observers a compile has, and in which order. */
#include "tools/check/bisect.h"
#include "tools/check/paranoid_check.h"
#include "tools/check/progress.h"
#include "tools/session/session.h"

static void watch(session_watch *w, compile_observer o)
{
    BUG_IF(w->count == SESSION_OBSERVERS_MAX, "more observers than SESSION_OBSERVERS_MAX");
    w->list[w->count++] = o;
}

/* Of the pipeline on the command line alone: what changes or shows its steps. */
static void watch_first(session *s, session_watch *w)
{
    const command_line *line = s->line;
    if (command_line_has(line, OPTION_BISECT))
        watch(w, bisect_observer(s->arena, s->bisect_limit, session_is_quiet(s)));
    w->snapshots = (snapshot_request){.arena = s->arena,
                                      .folder = command_line_value(line, OPTION_DUMP_DIR),
                                      .printed = s->printed_steps,
                                      .prints_all = command_line_has(line, OPTION_PRINT_AFTER_ALL),
                                      .prints_changed = command_line_has(line, OPTION_PRINT_AFTER_CHANGE),
                                      .trace = s->trace};
    if (w->snapshots.folder != NULL || w->snapshots.printed[0] != NULL || w->snapshots.prints_all ||
        w->snapshots.prints_changed)
        watch(w, snapshot_observer(&w->snapshots));
}

void session_watch_compile(session *s, session_watch *w, bool is_first)
{
    const pipeline_verify verify =
        is_first || command_line_has(s->line, OPTION_VERIFY) ? s->request.verify : s->other.pipeline->verify;
    *w = (session_watch){.digests = {.arena = s->arena}};
    if (command_line_has(s->line, OPTION_PROGRESS)) watch(w, progress_observer());
    if (is_first) watch_first(s, w);
    if (verify == PIPELINE_VERIFY_PARANOID) watch(w, paranoid_observer(s->trace));
    if (session_checks_semantics(s)) {
        w->semantics =
            (semantics_watch){.arena = s->arena, .request = &s->semantics, .recorder = s->recorder, .trace = s->trace};
        watch(w, semantics_observer(&w->semantics));
    }
    if (session_compares(s)) watch(w, step_digest_observer(&w->digests));
    /* Last: it counts what the step left, inside the span of the step. */
    if (s->trace != NULL) watch(w, compile_trace_observer(s->trace));
}
