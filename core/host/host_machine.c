/* What plugins ask of the machine, and the names of its spaces, pipes and layouts. */
#include "core/files/machine_pipe.h"
#include "core/host/host_handle.h"

/* What a step does may depend on the machine from here on. */
static const machine *ask_machine(run_context *c)
{
    c->asked_machine |= c->session->params.machine != NULL;
    return c->session->params.machine;
}

pto_status host_machine_i64(const pto_run *run, pto_str path, int64_t *out)
{
    const machine *m = ask_machine(run_of(run));
    return m != NULL && machine_query_i64(m, str_of(path), out) ? PTO_OK : PTO_FAILED;
}

pto_status host_machine_f64(const pto_run *run, pto_str path, double *out)
{
    const machine *m = ask_machine(run_of(run));
    return m != NULL && machine_query_f64(m, str_of(path), out) ? PTO_OK : PTO_FAILED;
}

pto_status host_machine_str(const pto_run *run, pto_str path, pto_str *out)
{
    run_context *c = run_of(run);
    const machine *m = ask_machine(c);
    str text;
    if (m == NULL || !machine_query_str(c->scratch, m, str_of(path), &text)) return PTO_FAILED;
    *out = pto_str_of(text);
    return PTO_OK;
}

pto_pipe host_op_pipe(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const char *pipe = o != 0 ? machine_pipe_of(ask_machine(c), c->m, o) : NULL;
    return pipe != NULL ? role_names_find(context_names(c->ir), NAME_PIPE, str_from(pipe)) : PTO_PIPE_NONE;
}

/* ---- facts by id ---- */

/* Of the machine of a session, by the ids of its context. */
typedef struct machine_facts {
    uint32_t first[NAME_KIND_COUNT][NAME_IDS]; /* by role: the first that the machine names; 0: none */
    pto_space_data spaces[NAME_IDS];
    const pto_path_data *paths[NAME_IDS][NAME_IDS];
} machine_facts;

static uint32_t id_of(const run_context *c, name_kind kind, const char *name)
{
    return role_names_find(context_names(c->ir), kind, str_from(name));
}

static uint32_t note_name(const run_context *c, machine_facts *facts, name_kind kind, const char *name)
{
    const uint32_t id = id_of(c, kind, name);
    if (id == 0) return 0;
    uint32_t *first = &facts->first[kind][role_names_role(context_names(c->ir), kind, id)];
    if (*first == 0) *first = id;
    return id;
}

static void fill_space(const run_context *c, machine_facts *facts, const machine_space *s)
{
    const uint32_t id = note_name(c, facts, NAME_SPACE, s->name);
    pto_space_data *out = &facts->spaces[id];
    if (id == 0) return;
    *out = (pto_space_data){.struct_size = sizeof *out,
                            .usual = id_of(c, NAME_LAYOUT, s->layouts[0]),
                            .core = s->core != NULL ? pto_str_z(s->core) : (pto_str){0},
                            .bytes = s->bytes,
                            .usable_bytes = machine_space_usable_bytes(s),
                            .align = s->align_bytes};
    for (uint32_t i = 0; i < s->layout_count; i++)
        out->layouts |= UINT32_C(1) << note_name(c, facts, NAME_LAYOUT, s->layouts[i]);
}

static void fill_path(const run_context *c, machine_facts *facts, const machine_path *p)
{
    const pto_path_data **place = &facts->paths[id_of(c, NAME_SPACE, p->from)][id_of(c, NAME_SPACE, p->to)];
    if (*place != NULL) return;
    pto_path_data *out = arena_alloc(c->session->a, sizeof *out);
    *out = (pto_path_data){.struct_size = sizeof *out,
                           .pipe = id_of(c, NAME_PIPE, p->pipe),
                           .core = pto_str_z(p->core),
                           .bytes_per_cycle = p->bytes_per_cycle,
                           .latency = p->latency_cycles};
    for (uint32_t i = 0; i < p->layout_count; i++)
        out->layouts[id_of(c, NAME_LAYOUT, p->layouts[i].from)] |= UINT32_C(1)
                                                                   << id_of(c, NAME_LAYOUT, p->layouts[i].to);
    for (uint32_t i = 0; i < p->cast_count; i++)
        out->casts[dtype_by_name(str_from(p->casts[i].from))] |= UINT32_C(1) << dtype_by_name(str_from(p->casts[i].to));
    *place = out;
}

/* NULL without a machine. The names of a machine are in the context before anything runs. */
static const machine_facts *facts_of(run_context *c)
{
    const machine *m = ask_machine(c);
    if (m == NULL || c->session->facts != NULL) return c->session->facts;
    machine_facts *facts = arena_alloc(c->session->a, sizeof *facts);
    for (uint32_t i = 0; i < m->space_count; i++) fill_space(c, facts, &m->spaces[i]);
    for (uint32_t i = 0; i < m->path_count; i++) fill_path(c, facts, &m->paths[i]);
    for (uint32_t i = 0; i < m->core_count; i++)
        for (uint32_t k = 0; k < m->cores[i].pipe_count; k++)
            (void)note_name(c, facts, NAME_PIPE, m->cores[i].pipes[k]);
    c->session->facts = facts;
    return facts;
}

pto_space_facts host_machine_space(const pto_run *run, pto_space id)
{
    const machine_facts *facts = facts_of(run_of(run));
    return facts != NULL && id < NAME_IDS && facts->spaces[id].struct_size != 0 ? &facts->spaces[id] : NULL;
}

pto_path_facts host_machine_path(const pto_run *run, pto_space from, pto_space to)
{
    const machine_facts *facts = facts_of(run_of(run));
    return facts != NULL && from != 0 && from < NAME_IDS && to < NAME_IDS ? facts->paths[from][to] : NULL;
}

/* ---- names ---- */

void run_note_name(run_context *c, name_kind kind, uint32_t id)
{
    if (!role_names_is_standard(kind, id)) (void)ask_machine(c);
}

/* NULL after a diagnostic. */
static const role_names *names_of(run_context *c, uint32_t kind)
{
    if (kind != NAME_NONE && kind < NAME_KIND_COUNT) return context_names(c->ir);
    run_misuse(c, &E1323, "used %u as a kind of names", kind);
    return NULL;
}

uint32_t host_name_count(const pto_run *run, uint32_t kind)
{
    const role_names *n = names_of(run_of(run), kind);
    return n != NULL ? role_names_count(n, (name_kind)kind) : 0;
}

/* Whether an id is one, and not none. */
static bool is_id(run_context *c, const role_names *n, uint32_t kind, uint32_t id)
{
    if (n == NULL || id == 0) return false;
    if (id < role_names_count(n, (name_kind)kind)) {
        run_note_name(c, (name_kind)kind, id);
        return true;
    }
    run_misuse(c, &E1323, "asked for the %s number %u", name_kind_words((name_kind)kind), id);
    return false;
}

pto_str host_name_text(const pto_run *run, uint32_t kind, uint32_t id)
{
    run_context *c = run_of(run);
    const role_names *n = names_of(c, kind);
    return pto_str_z(is_id(c, n, kind, id) ? role_names_text(n, (name_kind)kind, id) : "?");
}

uint32_t host_name_find(const pto_run *run, uint32_t kind, pto_str name)
{
    run_context *c = run_of(run);
    const role_names *n = names_of(c, kind);
    const uint32_t id = n != NULL ? role_names_find(n, (name_kind)kind, str_of(name)) : 0;
    if (id != 0) run_note_name(c, (name_kind)kind, id);
    return id;
}

uint32_t host_name_role(const pto_run *run, uint32_t kind, uint32_t id)
{
    run_context *c = run_of(run);
    const role_names *n = names_of(c, kind);
    return is_id(c, n, kind, id) ? role_names_role(n, (name_kind)kind, id) : 0;
}

uint32_t host_name_of_role(const pto_run *run, uint32_t kind, uint32_t role)
{
    run_context *c = run_of(run);
    const role_names *n = names_of(c, kind);
    const machine_facts *facts = facts_of(c);
    if (n == NULL) return 0;
    if (facts != NULL && role < NAME_IDS && facts->first[kind][role] != 0) return facts->first[kind][role];
    for (uint32_t id = 1; id < role_names_count(n, (name_kind)kind); id++)
        if (role_names_role(n, (name_kind)kind, id) == role) return id;
    return 0;
}
