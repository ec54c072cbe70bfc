/* Host functions of the schedule: what it pins, what passes decide and which alternatives they take. */
#include "core/host/host_handle.h"

#include <pto/decision.h>

#include <string.h>

static schedule_form form_of(const pto_decision *d)
{
    return (schedule_form){d->count, d->keys, d->words, d->min, d->max, d->limit};
}

/* Decisions are a pass's: what a checker or a strategy said would be in the schedule as if it held. */
static bool check_decider(run_context *c)
{
    if (c->request.access != RUN_READS) return true;
    run_misuse(c, &E1325, "took part in a decision; only passes decide");
    return false;
}

static bool check_decision(run_context *c, const pto_decision *d, const int64_t *values)
{
    if (!check_decider(c)) return false;
    const bool is_whole = d != NULL && PTO_HAS(d, limit) && d->name != NULL && *d->name != '\0' && values != NULL &&
                          d->count >= 1 && d->count <= SCHEDULE_VALUES_MAX && (d->keys != NULL || d->count == 1);
    if (!is_whole)
        run_misuse(c, &E1324, "gave a decision that is not complete, or of more than %d values", SCHEDULE_VALUES_MAX);
    return is_whole;
}

/* The path of `o` in `t`; false after a diagnostic, or without a schedule. */
static bool ask_path(run_context *c, pto_op at, text_buffer *t)
{
    const op_id o = op_from(c, at);
    text_init(t);
    if (o == 0 || c->session->params.schedule == NULL) return false;
    schedule_print_path(c->session->params.schedule, c->m, o, t);
    return true;
}

pto_status host_decision_pinned(pto_op at, const pto_decision *d, int64_t *values)
{
    run_context *c = run_of(at.run);
    text_buffer path;
    if (!check_decision(c, d, values)) return PTO_FAILED;
    schedule_answer answer = SCHEDULE_FREE;
    if (ask_path(c, at, &path)) {
        const schedule_form form = form_of(d);
        src_pos pin_at = NO_POS;
        int64_t pinned[SCHEDULE_VALUES_MAX] = {0};
        answer = schedule_find(c->session->params.schedule, (str){path.p, path.n}, d->name, &form, pinned, &pin_at);
        if (answer == SCHEDULE_PINNED) {
            memcpy(values, pinned, d->count * sizeof *values);
            c->pin_at = pin_at;
        }
    }
    text_fini(&path);
    return answer == SCHEDULE_REFUSED ? PTO_FAILED : answer == SCHEDULE_PINNED;
}

/* A value that the words of the decision do not have. */
static bool check_words(run_context *c, const pto_decision *d, const int64_t *values)
{
    int64_t words = 0;
    while (d->words != NULL && d->words[words] != NULL) words++;
    for (uint32_t k = 0; d->words != NULL && k < d->count; k++) {
        if (values[k] >= 0 && values[k] < words) continue;
        run_misuse(c, &E1324, "decided `%s` as word %lld of %lld", d->name, (long long)values[k], (long long)words);
        return false;
    }
    return true;
}

pto_status host_decision_made(pto_op at, const pto_decision *d, const int64_t *values)
{
    run_context *c = run_of(at.run);
    text_buffer path;
    if (!check_decision(c, d, values) || !check_words(c, d, values)) return PTO_FAILED;
    pto_status result = PTO_OK;
    if (ask_path(c, at, &path)) {
        const schedule_record r = {.at = {path.p, path.n},
                                   .name = d->name,
                                   .form = {.count = d->count, .keys = d->keys, .words = d->words},
                                   .values = values,
                                   .origin = c->request.agent->id,
                                   .limit = d->limit};
        if (schedule_keeps_pin(c->session->params.schedule, &r)) {
            schedule_record_decision(c->session->params.schedule, &r);
        } else {
            run_misuse(c, &E1324, "decided `%s` of %s otherwise than the schedule pins it", d->name, path.p);
            result = PTO_FAILED;
        }
    } else if (op_from(c, at) == 0) {
        result = PTO_FAILED;
    }
    c->pin_at = NO_POS;
    text_fini(&path);
    return result;
}

/* The label of the op or of the nearest one around it, which the kernel that it becomes has as its name. */
static str label_around(const run_context *c, op_id o)
{
    for (op_id at = o; at != 0; at = op_parent(c->m, at)) {
        const str label = op_attr_str(c->m, at, "label");
        if (label.n != 0) return label;
    }
    return run_function_name(c, o);
}

uint32_t host_choice_take(pto_op at, uint32_t count)
{
    run_context *c = run_of(at.run);
    const op_id o = op_from(c, at);
    if (o == 0) return 0;
    if (!check_decider(c)) return 0;
    if (count == 0 || !c->request.agent->chooses) {
        run_misuse(c, &E1324,
                   count == 0 ? "chose one of no alternatives"
                              : "chose one of several alternatives, and does not declare PTO_PASS_CHOOSES");
        return 0;
    }
    if (c->session->params.choices == NULL) return 0;
    return choices_next(c->session->params.choices, c->request.agent, run_function_name(c, o), label_around(c, o),
                        count);
}
