#include "tools/check/semantics_constants.h"

#include "tools/run/call_init.h"

#include <string.h>

static op_id find_function(module *m, const char *name)
{
    const op_id f = module_find_symbol(m, string_intern_z(module_context(m), name));
    return f != 0 && op_kind_of(m, f) == OP_FUNC ? f : 0;
}

static const given_tensor *find_given(const given_tensor *tensors, uint32_t count, str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(tensors[i].name, name)) return &tensors[i];
    return NULL;
}

static bool has_inputs_of(const trial *t, uint32_t count, const semantics_inputs *init)
{
    for (uint32_t i = 0; i < init->count; i++)
        if (find_given(t->inputs, count, init->names[i]) == NULL) return false;
    return true;
}

/* The inputs of @f.init on one set of inputs of @f. */
static trial trial_of_init(semantics_runs *r, const module *m, op_id init, const semantics_inputs *names,
                           const trial *from)
{
    trial t = {.values = from->values, .work = from->work, .input_count = names->count};
    t.inputs = arena_array(r->arena, names->count + 1u, sizeof *t.inputs);
    t.symbols = t.bound = arena_array(r->arena, from->bound_count + 1u, sizeof *t.bound);
    for (uint32_t i = 0; i < names->count; i++)
        t.inputs[i] = *find_given(from->inputs, from->input_count, names->names[i]);
    for (uint32_t i = 0; i < from->bound_count; i++)
        if (call_has_symbol(m, init, from->bound[i].name)) t.bound[t.bound_count++] = from->bound[i];
    t.symbol_count = t.bound_count;
    return t;
}

/* The inputs of @f that it had, under the names that they have now, and what @f.init made. */
static status add_made(semantics_runs *r, const semantics_inputs *names, const outcome *made, trial *t)
{
    given_tensor *inputs = arena_array(r->arena, names->count, sizeof *inputs);
    memcpy(inputs, t->inputs, t->input_count * sizeof *inputs);
    for (uint32_t i = t->input_count; i < names->count; i++) {
        const bound_tensor *found = NULL;
        for (uint32_t k = 0; k < made->call.parameter_count + made->call.result_count; k++) {
            const bound_tensor *o = &made->call.tensors[k];
            if (o->is_output && str_eq(o->name, names->names[i])) found = o;
        }
        if (found == NULL) return FAILED; /* the run of @f tells that it has other inputs */
        bound_tensor copy = *found;
        copy.name = names->names[i];
        copy.data = arena_alloc_aligned(r->arena, found->abi.bytes, 64);
        if (found->abi.bytes > 0) memcpy(copy.data, found->data, found->abi.bytes);
        inputs[i] = call_tensor_given(r->arena, &copy);
    }
    t->own_count = t->input_count;
    t->inputs = inputs;
    t->input_count = names->count;
    return OK;
}

static void name_inputs(const semantics_inputs *names, trial *t)
{
    for (uint32_t i = 0; i < t->input_count && i < names->count; i++) t->inputs[i].name = names->names[i];
}

static status take(semantics_runs *r, module *m, checked_function *fn, op_id init, const semantics_inputs *own)
{
    semantics_inputs of_init;
    semantics_inputs_of(r->arena, m, init, &of_init);
    for (uint32_t k = 0; k < fn->trial_count; k++) {
        name_inputs(own, &fn->trials[k]);
        if (!has_inputs_of(&fn->trials[k], fn->trials[k].input_count, &of_init)) return OK;
    }
    checked_function *to = &r->functions[r->function_count];
    *to = (checked_function){.name = string_of(module_context(m), function_name(m, init)).p, .is_made = true};
    call_output_names(r->arena, m, to->name, &to->outputs);
    to->trials = arena_array(r->arena, fn->trial_count, sizeof *to->trials);
    r->function_count++;
    for (uint32_t k = 0; k < fn->trial_count; k++) {
        trial *t = &to->trials[k];
        *t = trial_of_init(r, m, init, &of_init, &fn->trials[k]);
        TRY(semantics_run(r, m, to, t, &t->before));
        to->trial_count++;
        if (add_made(r, own, &t->before, &fn->trials[k]) != OK) return OK;
    }
    return OK;
}

status semantics_take_constants(semantics_runs *r, module *m)
{
    const uint32_t count = r->function_count;
    for (uint32_t i = 0; i < count; i++) {
        checked_function *fn = &r->functions[i];
        const op_id f = find_function(m, fn->name), init = f != 0 ? call_init_of(m, f) : 0;
        if (init == 0 || fn->trial_count == 0 || fn->is_made || fn->trials[0].own_count != 0) continue;
        semantics_inputs own;
        semantics_inputs_of(r->arena, m, f, &own);
        if (own.count > fn->trials[0].input_count) TRY(take(r, m, fn, init, &own));
    }
    return OK;
}
