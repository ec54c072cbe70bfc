/* Between handles and ids: what all files of host functions (host_*.c) share. */
#ifndef CORE_HOST_HOST_HANDLE_H
#define CORE_HOST_HOST_HANDLE_H

#include "core/core_diag.h"
#include "core/host/run_context.h"

#include <pto/insn.h>

typedef struct run_context run_context;

struct run_context {
    pto_run run; /* first: a pto_run is a run_context */
    run_registry *registry;
    run_session *session;
    run_context *outer;  /* the run of the same session that asked for this one */
    run_context *around; /* the run that was open when this one began, of any session */
    run_context *inner;  /* kept for the next nested run */
    bool active;
    uint16_t serial; /* upper half of the generation of its handles; never twice the same, see context_for */
    run_request request;
    module *m;
    ir_context *ir;
    diag_engine *diags;
    arena *scratch;
    uint32_t errors_before, changes;
    uint64_t epoch_before;
    bool misused;
    bool asked_machine; /* of a session that has one */
    bool was_told_to_stop;
    bool was_stopped;      /* a loop of the host ended since the time is up */
    src_pos pin_at;        /* of the decision it has asked about and not yet made, when that is pinned */
    bool saw_outside;      /* it got a handle of what is not in its unit */
    bool saw_own;          /* of its unit: what functions of one class (ir/verify/function_class.h) do not share */
    struct greedy *greedy; /* the running pattern driver, told about changes; or NULL */
    /* Where the last value_use stopped. */
    struct {
        value_id value;
        use_id use;
        uint32_t index;
        uint64_t epoch;
    } use_cache;
};

/* What an agent left for its next run. */
typedef struct recalled {
    const run_agent *agent;
    str what;
    size_t bytes;
    void *memory;
    struct recalled *next;
} recalled;

struct run_session {
    arena *a;
    run_session_params params;
    struct machine_facts *facts; /* host_machine.c; NULL until they are asked for */
    run_context *outermost, *current;
    const run_agent *group; /* whose runs run_group_end looks at together; or NULL */
    recalled *recalled;
};

struct run_registry {
    pto_host host;        /* that runs and handles lead to */
    arena *a;             /* of the contexts of all sessions: a handle of any of them can be looked at */
    run_context *current; /* the innermost open run; or NULL */
};

/* A name that is not in ir/ops may get into the module, which has to declare it then: the machine counts as asked. */
void run_note_name(run_context *c, name_kind kind, uint32_t id);

/* After a diagnostic: the run that is open now, in which the plugin uses what it kept of another one. */
__attribute__((cold)) run_context *run_refuse(const run_context *c);

/* The context of a handle, or of a run; of one that has ended, that which is open now, where no handle of the other is
 * taken. The table takes pto_run as const, since a plugin may not write to it; we may. */
static inline run_context *run_of(const pto_run *run)
{
    run_context *c = (run_context *)(uintptr_t)run;
    return c->active ? c : run_refuse(c);
}

/* Reports, once for each run, that the plugin broke a rule; the run fails. The text goes on after "pass 'x' of plugin
 * 'y' ". */
void run_misuse(run_context *c, const diag_code_info *code, const char *format, ...) PRINTF_LIKE(3, 4);

/* The strategy, cost model or generator that an option of the run's agent names, by its role; NULL after a misuse is
 * reported. */
const run_agent *run_strategy(run_context *c, uint32_t option, const char *role);

/* Ids of handles; 0 for none, and after a diagnostic for stale or foreign ones. */
static inline op_id op_from(run_context *c, pto_op h);
static inline value_id value_from(run_context *c, pto_value h);
block_id block_from(run_context *c, pto_block h);

/* Whether a handle is of the run that is open now; its generation carries the number of the run. */
static inline bool run_is_current(const run_context *c, const pto_run *run, uint32_t generation)
{
    return c->active && run == &c->run && generation >> 16 == c->serial;
}
/* What is wrong with a handle that is not none; returns 0. */
__attribute__((cold)) op_id op_refuse(run_context *c, pto_op h);
__attribute__((cold)) value_id value_refuse(run_context *c, pto_value h);

/* The ids of an op and of a value that are live in this run. */
static inline op_id op_from(run_context *c, pto_op h)
{
    if (!run_is_current(c, h.run, h.generation)) return op_refuse(c, h);
    return op_is_live_since(c->m, h.index, h.generation & 0xffffu) ? h.index : op_refuse(c, h);
}
static inline value_id value_from(run_context *c, pto_value h)
{
    if (!run_is_current(c, h.run, h.generation)) return value_refuse(c, h);
    return value_is_live_since(c->m, h.index, h.generation & 0xffffu) ? h.index : value_refuse(c, h);
}

/* The generation that a handle of this run carries: the number of the run above that of the object. */
static inline uint32_t run_generation(const run_context *c, uint32_t generation)
{
    return ((uint32_t)c->serial << 16) | (generation & 0xffffu);
}
/* Handles of ids, for plugins: valid until the run ends or the object is erased. The id must exist. */
static inline pto_op op_handle(run_context *c, op_id o)
{
    return (pto_op){&c->run, o, run_generation(c, op_generation(c->m, o))};
}
static inline pto_value value_handle(run_context *c, value_id v)
{
    return (pto_value){&c->run, v, run_generation(c, value_generation(c->m, v))};
}
static inline pto_block block_handle(run_context *c, block_id b)
{
    return (pto_block){&c->run, b, run_generation(c, block_generation(c->m, b))};
}
/* The same of what is shared and never erased; `what` it is takes the place of the object's generation. */
#define SHARED(name, what)                                                                               \
    static inline pto_##name name##_handle(run_context *c, name##_id id)                                 \
    {                                                                                                    \
        return (pto_##name){&c->run, id, run_generation(c, what)};                                       \
    }                                                                                                    \
    __attribute__((cold)) name##_id name##_refuse(run_context *c, pto_##name h);                         \
    static inline name##_id name##_from(run_context *c, pto_##name h)                                    \
    {                                                                                                    \
        const bool is_fine = c->active && h.run == &c->run && h.generation == run_generation(c, what);   \
        return is_fine && h.index != 0 && name##_exists(c->ir, h.index) ? h.index : name##_refuse(c, h); \
    }
SHARED(type, 1)
SHARED(attr, 2)
SHARED(expr, 3)
SHARED(loc, 4)
#undef SHARED

/* Name of the function or kernel that an op is in or is; empty for none. */
static inline str run_function_name(const run_context *c, op_id o)
{
    const op_id function = o != 0 ? op_function(c->m, o) : 0;
    return function != 0 ? string_of(c->ir, function_name(c->m, function)) : (str){NULL, 0};
}

/* Views of the same bytes; nothing is copied. */
static inline str str_of(pto_str s) { return (str){s.p, s.n}; }
static inline pto_str pto_str_of(str s) { return (pto_str){s.p, s.n}; }
static inline pto_str pto_str_z(const char *s) { return pto_str_of(str_from(s)); }

/* Whether all values that an expression names still exist; reports when not. */
bool run_check_leaves(run_context *c, expr_id e);
/* Whether text of a plugin can be printed and read back: as a string, after `%`, or after `@`; reports when not.
 * An empty name of a value stands for one without. */
bool run_check_text(run_context *c, pto_str s);
bool run_check_value_name(run_context *c, pto_str name);
bool run_check_symbol(run_context *c, pto_str name);

/* Whether the run may change an op, or what is in a block; reports when it may not. */
bool run_may_change_op(run_context *c, op_id o);
bool run_may_change_block(run_context *c, block_id b);
/* The place as ids; false after a diagnostic. It must be one where the run may change things. */
bool place_from(run_context *c, pto_place h, op_place *out);
/* Notes a change and tells the pattern driver, if one runs. `o` may be 0. */
void run_changed(run_context *c, uint32_t classes, op_id o);

/* ---- host_expr_slots.c: expressions in attributes name operands by slot (a kernel's: its block arguments); plugins
 * see and pass values instead ---- */
/* The attribute with value leaves for slots. */
attr_id attr_with_leaves(run_context *c, op_id o, attr_id a);
/* Whether an attribute holds value leaves or slots. */
bool attr_has_leaves(const ir_context *ir, attr_id a);
/* What a plugin passes as attribute `name` of an op of this row, fit to be stored; 0 after a diagnostic. `o`: the op, 0
 * while it is being made. */
attr_id attr_for_op(run_context *c, const op_info *info, op_id o, str name, pto_attr h);

/* ---- greedy.c: what the driver asks ---- */
/* `changed`: the op itself changed, so its readers are of interest too; else it only lost a use. */
void greedy_touched(struct greedy *g, op_id o, bool changed);

/* ---- the host functions: host_<name> for each row of <pto/host.def> ---- */
#define HOST(returns, name, parameters, arguments, doc) returns host_##name parameters;
#define HOST_TILING(...) HOST(__VA_ARGS__)
#define HOST_SCHEDULE(...) HOST(__VA_ARGS__)
#include <pto/host.def>
/* The table of them. */
pto_host host_table(uint32_t abi_minor);

#endif
