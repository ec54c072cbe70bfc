#include "cpu-sim/sim_machine.h"

#include <pto/build.h>

#include <inttypes.h>

static const char *text_copy(const pto_run *run, pto_str s)
{
    char *text = PTO_SCRATCH(run, char, s.n + 1);
    if (s.n) memcpy(text, s.p, s.n);
    return text;
}

/* The kind of cores that own the first space of a role; NULL when none does. */
static const char *owner_of(const pto_run *run, uint32_t role)
{
    const pto_space_facts space = pto_space_facts_of(run, role);
    return space != NULL && space->core.n != 0 ? text_copy(run, space->core) : NULL;
}

static void read_spaces(const pto_run *run, sim_core_kind *k)
{
    for (pto_space s = 1; s < pto_name_count(run, PTO_NAME_SPACE); s++) {
        const pto_space_facts facts = pto_machine_space(run, s);
        if (facts == NULL || !pto_str_is(facts->core, k->name)) continue;
        k->space_bytes[s] = facts->bytes;
        k->usable_bytes[s] = facts->usable_bytes;
        k->align_bytes[s] = facts->align;
    }
}

static void add_pipe(const pto_run *run, sim_core_kind *k, pto_pipe pipe)
{
    k->pipe_numbers[pipe] = (uint8_t)k->pipe_end;
    k->barriers[k->pipe_end] = (uint8_t)machine_barriers(run, pipe);
    k->pipe_names[k->pipe_end++] = text_copy(run, pto_pipe_name(run, pipe));
}

/* A core that names no scalar pipe has one all the same: something must issue. */
static pto_status read_pipes(const pto_run *run, sim_core_kind *k)
{
    const pto_str list = pto_machine_text(run, "cores.%s.pipes", k->name);
    pto_pipe scalar = PTO_PIPE_NONE;
    uint32_t set = 0, count = 0;
    for (size_t i = 0, n; i < list.n; i += n + 1) {
        for (n = 0; i + n < list.n && list.p[i + n] != ','; n++) {
        }
        const pto_pipe pipe = pto_pipe_by_name(run, pto_str_make(list.p + i, n));
        if (pto_pipe_role(run, pipe) == PTO_UNIT_SCALAR && scalar == PTO_PIPE_NONE) scalar = pipe;
        if (pipe == PTO_PIPE_NONE || pipe >= PTO_NAMES_MAX || (set >> pipe & 1) != 0) continue;
        set |= UINT32_C(1) << pipe;
        count++;
    }
    if (scalar == PTO_PIPE_NONE) count++;
    if (count >= CLOCK_PIPES)
        return pto_error_at(run, pto_loc_none(run), "pto.cpu-sim/machine",
                            "a core of kind `%s` has %" PRIu32 " pipes; the simulator takes up to %d", k->name, count,
                            CLOCK_PIPES - 1);
    if (scalar == PTO_PIPE_NONE) scalar = pto_name_of_role(run, PTO_NAME_PIPE, PTO_UNIT_SCALAR);
    k->pipe_end = SCALAR_PIPE;
    add_pipe(run, k, scalar);
    for (pto_pipe p = 1; p < PTO_NAMES_MAX; p++)
        if (p != scalar && (set >> p & 1) != 0) add_pipe(run, k, p);
    return PTO_OK;
}

static pto_status read_kind(const pto_run *run, const char *name, sim_machine *m, uint32_t *out_index)
{
    for (uint32_t i = 0; i < m->kind_count; i++) {
        if (strcmp(m->kinds[i].name, name) != 0) continue;
        *out_index = i;
        return PTO_OK;
    }
    sim_core_kind *k = &m->kinds[ *out_index = m->kind_count++];
    *k = (sim_core_kind){.name = name, .first = m->core_count};
    const int64_t count = pto_machine_i64_or(run, 0, "cores.%s.count", name);
    if (count < 1 || count > 4096)
        return pto_error_at(run, pto_loc_none(run), "pto.cpu-sim/machine",
                            "the machine has %" PRId64 " cores of kind `%s`; the simulator takes 1 to 4096", count,
                            name);
    k->count = (uint32_t)count;
    m->core_count += k->count;
    read_spaces(run, k);
    return read_pipes(run, k);
}

pto_status sim_machine_read(const pto_run *run, bool has_timing, sim_machine *out)
{
    *out = (sim_machine){.run = run, .has_timing = has_timing};
    const pto_str name = pto_machine_text(run, "name");
    if (name.n == 0)
        return pto_error_at(run, pto_loc_none(run), "pto.cpu-sim/machine",
                            "the pipeline names no machine; add `machine: machines/ascend-910b.yaml` or use --machine");
    out->name = text_copy(run, name);
    const char *vector = owner_of(run, PTO_ROLE_SCRATCHPAD), *cube = owner_of(run, PTO_ROLE_ACCUMULATOR);
    if (vector == NULL && cube == NULL)
        return pto_error_at(run, pto_loc_none(run), "pto.cpu-sim/machine",
                            "no core of machine `%s` owns a scratchpad, such as `vec`, or accumulators, such as `acc`",
                            out->name);
    PTO_TRY(read_kind(run, cube != NULL ? cube : vector, out, &out->cube_kind));
    PTO_TRY(read_kind(run, vector != NULL ? vector : cube, out, &out->vector_kind));
    out->clock_hz = pto_machine_i64_or(run, 1000000000, "clock-hz");
    out->global = pto_space_of_role(run, PTO_ROLE_GLOBAL);
    const pto_space_facts global = pto_machine_space(run, out->global);
    out->gm_bytes = global != NULL ? global->bytes : INT64_MAX;
    out->gm_bytes_per_cycle = pto_machine_f64_or(run, 0, "shared.gm-bytes-per-cycle");
    out->repeat_bytes = pto_machine_i64_or(run, 256, "vector.repeat-bytes");
    out->partial_repeat_cycles = pto_machine_i64_or(run, 0, "vector.partial-repeat-cycles");
    out->matrix_head = pto_machine_i64_or(run, 0, "matrix.head");
    out->matrix_rows = pto_machine_i64_or(run, 16, "matrix.box-rows");
    out->matrix_row_bytes = pto_machine_i64_or(run, 32, "matrix.box-row-bytes");
    out->acc_rows = pto_machine_i64_or(run, 16, "matrix.acc-box-rows");
    out->acc_cols = pto_machine_i64_or(run, 16, "matrix.acc-box-cols");
    out->dim_min = pto_machine_i64_or(run, 0, "matrix.dim-min");
    out->dim_max = pto_machine_i64_or(run, INT64_MAX, "matrix.dim-max");
    out->is_packed = pto_machine_i64_or(run, 0, "matrix.packed") != 0;
    out->wants_scratch = pto_machine_i64_or(run, 0, "vector.tmp") != 0;
    out->event_ids = pto_machine_i64_or(run, PROGRAM_EVENTS_MAX, "sync.event-ids");
    out->flag_cycles = has_timing ? pto_machine_i64_or(run, 1, "sync.flag-cycles") : 1;
    out->barrier_cycles = has_timing ? pto_machine_i64_or(run, 1, "sync.barrier-cycles") : 1;
    if (has_timing) {
        out->launch_cycles = pto_machine_i64_or(run, 0, "dispatch.launch-cycles");
        out->block_cycles = pto_machine_i64_or(run, 0, "dispatch.block-cycles");
        out->task_cycles = pto_machine_i64_or(run, 0, "dispatch.task-cycles");
    }
    return PTO_OK;
}

uint32_t sim_machine_kind_of(const sim_machine *m, const program *kernel)
{
    for (uint32_t k = 0; k < m->kind_count; k++)
        if (pto_str_is(kernel->core, m->kinds[k].name)) return k;
    for (uint32_t i = 0; i < kernel->buffer_count; i++)
        if (pto_space_role(m->run, kernel->buffers[i].space) != PTO_ROLE_SCRATCHPAD) return m->cube_kind;
    return m->vector_kind;
}

/* ---- charges ---- */

static pto_status charge_vector(const sim_machine *m, const program_site *site, site_charge *out)
{
    static const char *const columns[] = {"head", "per-repeat", "per-row", "tail"};
    int64_t *const values[] = {&out->head, &out->per_repeat, &out->per_row, &out->tail};
    for (uint32_t i = 0; i < 4; i++) {
        const int64_t usual = pto_machine_i64_or(m->run, 0, "instructions.default.%s", columns[i]);
        *values[i] = pto_machine_i64_or(m->run, usual, "instructions.%.*s.%s", PTO_FMT(site->cost), columns[i]);
    }
    out->one_row = pto_machine_i64_or(m->run, 0, "instructions.%.*s.one-row", PTO_FMT(site->cost)) != 0;
    out->kind = CHARGE_VECTOR;
    return PTO_OK;
}

static pto_status charge_move(const sim_machine *m, const program_site *site, site_charge *out)
{
    const pto_path_facts path = pto_machine_path(m->run, site->from, site->to);
    out->kind = site->from == m->global || site->to == m->global ? CHARGE_GM : CHARGE_MOVE;
    if (path == NULL)
        return pto_error(site->op, "pto.cpu-sim/no-path",
                         "`%.*s` moves data from `%s` to `%s`; machine `%s` has no such path", PTO_FMT(site->op_name),
                         pto_space_name(m->run, site->from), pto_space_name(m->run, site->to), m->name);
    out->bytes_per_cycle = path->bytes_per_cycle;
    out->latency = path->latency;
    return PTO_OK;
}

static pto_status charge_matrix(const sim_machine *m, const program_step *step, site_charge *out)
{
    const char *dtype = pto_dtype_name(factors_of(step)[1]->ref.dtype);
    out->kind = CHARGE_MATRIX;
    out->head = m->matrix_head;
    out->per_repeat = pto_machine_i64_or(m->run, -1, "matrix.cycles-per-box.%s", dtype);
    if (out->per_repeat >= 0) return PTO_OK;
    return pto_error(step->site->op, "pto.cpu-sim/unsupported",
                     "`%.*s` multiplies %s; machine `%s` has no cycles for it", PTO_FMT(step->site->op_name), dtype,
                     m->name);
}

pto_status sim_charge_site(const sim_machine *m, const program *kernel, const program_step *step, site_charge *out)
{
    const program_site *site = step->site;
    const sim_core_kind *k = &m->kinds[sim_machine_kind_of(m, kernel)];
    *out = (site_charge){0};
    if (site->transfer != PTO_TRANSFER_NONE)
        PTO_TRY(charge_move(m, site, out));
    else if (site->unit == PTO_UNIT_MATRIX)
        PTO_TRY(charge_matrix(m, step, out));
    else
        PTO_TRY(charge_vector(m, site, out));
    if (sim_pipe_number(k, site->pipe) != NO_PIPE) return PTO_OK;
    const pto_str pipe = pto_pipe_name(m->run, site->pipe);
    return pto_error(site->op, "pto.cpu-sim/no-path", "`%.*s` needs %s`%.*s`; a core of kind `%s` has none",
                     PTO_FMT(site->op_name), pipe.n != 0 ? "pipe " : "a pipe of the unit ",
                     PTO_FMT(pipe.n != 0 ? pipe : pto_s(pto_unit_name(site->unit))), k->name);
}

static int64_t valid_count(const program_tile *t) { return t != NULL ? t->ref.valid_rows * t->ref.valid_cols : 0; }

static int64_t vector_cycles(const sim_machine *m, const site_charge *c, const program_step *step)
{
    const program_tile *t = step->dst != NULL ? step->dst : step->src[0];
    for (uint32_t i = 0; i < step->src_count; i++)
        if (valid_count(step->src[i]) > valid_count(t)) t = step->src[i];
    int64_t size = (int64_t)element_bytes(t->ref.dtype);
    if (step->dst != NULL && (int64_t)element_bytes(step->dst->ref.dtype) > size)
        size = (int64_t)element_bytes(step->dst->ref.dtype);
    const bool down = t->ref.order == PTO_ORDER_COLUMN;
    const int64_t rows = down ? t->ref.valid_cols : t->ref.valid_rows,
                  cols = down ? t->ref.valid_rows : t->ref.valid_cols;
    if (rows == 0 || cols == 0) return 1;
    const int64_t lines = c->one_row && cols == (down ? t->ref.rows : t->ref.cols) ? 1 : rows;
    const int64_t row_bytes = rows / lines * cols * size;
    const int64_t partial = m->repeat_bytes > 0 && row_bytes % m->repeat_bytes ? m->partial_repeat_cycles : 0;
    return lines * (c->per_row + pto_ceil_div(row_bytes, m->repeat_bytes) * c->per_repeat) + partial;
}

static int64_t matrix_cycles(const sim_machine *m, const site_charge *c, const program_step *step)
{
    const tile_ref *left = &factors_of(step)[0]->ref, *right = &factors_of(step)[1]->ref;
    const int64_t size = (int64_t)element_bytes(left->dtype);
    return c->head + c->per_repeat * pto_ceil_div(left->valid_rows, m->matrix_rows) *
                         pto_ceil_div(left->valid_cols * size, m->matrix_row_bytes) *
                         pto_ceil_div(right->valid_cols, m->matrix_rows);
}

void sim_charge_insn(const sim_machine *m, const site_charge *c, const program_step *step, insn_charge *out)
{
    *out = (insn_charge){.kind = c->kind, .cycles = 1};
    if (program_wants_scalar(step)) {
        *out = (insn_charge){.kind = c->kind, .cycles = c->per_repeat > 0 ? c->per_repeat : 1, .head = c->head};
        return;
    }
    if (step->has_gm) {
        out->bytes = step->gm.rows * step->gm.cols * (int64_t)element_bytes(step->gm.dtype);
    } else if (step->dst != NULL) {
        out->bytes = valid_count(step->dst) * (int64_t)element_bytes(step->dst->ref.dtype);
    }
    if (!m->has_timing) {
        if (out->kind == CHARGE_GM) out->kind = CHARGE_MOVE;
        return;
    }
    switch (c->kind) {
    case CHARGE_VECTOR:
        out->cycles = vector_cycles(m, c, step);
        out->head = c->head;
        out->tail = c->tail;
        break;
    case CHARGE_MATRIX: out->cycles = matrix_cycles(m, c, step); break;
    case CHARGE_GM: out->latency = c->latency; break;
    case CHARGE_MOVE: {
        const double cycles = (double)out->bytes / c->bytes_per_cycle;
        out->latency = c->latency;
        out->cycles = (int64_t)cycles + ((double)(int64_t)cycles < cycles);
        break;
    }
    case CHARGE_NONE: break;
    }
    if (out->cycles < 1) out->cycles = 1;
}
