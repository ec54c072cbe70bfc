/* Messages of the checker. */
#include "sync_flow.h"

/* The buffer, or the parameter, in which the two meet. */
static pto_str meeting_place(const sync_model *m, uint32_t first, uint32_t second)
{
    const sync_op *x = &m->ops[first], *y = &m->ops[second];
    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            const sync_access *a = &m->accesses[x->access + i], *b = &m->accesses[y->access + k];
            if (!a->is_write && !b->is_write) continue;
            if (a->space == PTO_SPACE_NONE && b->space == PTO_SPACE_NONE && pto_value_same(a->root, b->root))
                return pto_value_name(a->root);
            if (a->space != PTO_SPACE_NONE && sync_bytes_meet(a, SYNC_ANY_STAGE, b, SYNC_ANY_STAGE))
                return pto_value_name(pto_op_result(a->buffer, 0));
        }
    }
    return PTO_STR("?");
}

static pto_status report_wait(const sync_model *m, uint32_t wait)
{
    const sync_op *o = &m->ops[wait];
    const pto_str name = pto_op_name(o->at->op);
    return pto_error(o->at->op, "pto.synchronize/endless-wait",
                     "`%.*s` from %.*s to %.*s gets no token: every set before it is taken by another wait",
                     PTO_FMT(name), PTO_FMT(sync_pipe_name(m, o->pipe)), PTO_FMT(sync_pipe_name(m, o->dst_pipe)));
}

pto_status sync_report_race(const sync_model *m, const sync_race *race)
{
    if (race->second == SYNC_NONE) return report_wait(m, race->first);
    const sync_op *x = &m->ops[race->first], *y = &m->ops[race->second];
    const pto_str first = pto_op_name(x->at->op), second = pto_op_name(y->at->op),
                  place = meeting_place(m, race->first, race->second);
    if (sync_is_own(m, race->first, race->second)) {
        pto_error(
            y->at->op, "pto.synchronize/race",
            "instructions of pipe %.*s overlap, and nothing orders `%.*s` after `%.*s`, which touches `%%%.*s` too",
            PTO_FMT(sync_pipe_name(m, y->pipe)), PTO_FMT(second), PTO_FMT(first), PTO_FMT(place));
        pto_note(x->at->op, "the earlier instruction is here; pto.synchronize puts `pto.barrier %.*s` between them",
                 PTO_FMT(sync_pipe_name(m, y->pipe)));
        return PTO_FAILED;
    }
    pto_error(y->at->op, "pto.synchronize/race",
              "nothing orders `%.*s` on pipe %.*s after `%.*s` on pipe %.*s, and both touch `%%%.*s`", PTO_FMT(second),
              PTO_FMT(sync_pipe_name(m, y->pipe)), PTO_FMT(first), PTO_FMT(sync_pipe_name(m, x->pipe)), PTO_FMT(place));
    pto_note(x->at->op, "the earlier instruction is here; pto.synchronize sets flags between them");
    return PTO_FAILED;
}
