#include "tools/library/library_impl.h"

#include "tools/base/tool_diag.h"
#include "tools/run/call_init.h"

#include <inttypes.h>
#include <string.h>

static const uint32_t nowhere = UINT32_MAX;

static const call_words words = {
    .array = "tensor", .symbol = "pto_callable_set_symbol", .symbol_value = "pto_callable_set_symbol"};

/* A constant that the caller has bound. */
typedef struct constant {
    const char *name;
    tensor_array array;
} constant;

struct pto_callable {
    pto_program *program;
    const pto_function_info *info;
    arena *arena;  /* as long as it lives */
    arena *bound;  /* of `call`, until shapes, symbols or constants change */
    arena *memory; /* of one execution */
    op_id function;
    backend_exe exe;
    constant *constants; /* space for all; those with an array are bound */
    given_symbol *symbols;
    uint32_t symbol_count;
    tensor_array *inputs;           /* of the last call */
    bool is_bound;                  /* `call` is right for tensors of these shapes */
    bool has_constants;             /* `made` is right */
    arena *made_memory;             /* of `made` */
    given_call made;                /* constants, with what @f.init computed */
    uint64_t made_count;            /* how often they were made */
    bound_call call;                /* without memory of inputs and outputs */
    uint32_t *input_at, *output_at; /* where in `call` they are */
    pto_callable *next;
};

/* ---- making it ---- */

static status find_function(pto_program *p, const char *name, pto_callable *x)
{
    diag_engine *d = p->context->diags;
    const src_pos file = {string_of(p->ir, module_file(p->m)).p, 0, 0};
    x->info = library_find_function(p, name);
    if (x->info == NULL && name != NULL)
        diag_error(d, file, &E1601, "the module has no public function @%s", name);
    else if (x->info == NULL)
        diag_error(d, file, &E1601, "the module has %" PRIu32 " public functions; name the one to call",
                   p->function_count);
    if (x->info == NULL) return FAILED;
    x->function = module_find_symbol(p->m, string_intern_z(p->ir, x->info->name));
    if (x->function != 0 && op_kind_of(p->m, x->function) == OP_FUNC) return OK;
    diag_error(d, file, &E1601, "a pass has removed the function @%s", x->info->name);
    return FAILED;
}

static void free_callable(pto_callable *x)
{
    arena *a = x->arena;
    arena_destroy(x->bound);
    arena_destroy(x->memory);
    arena_destroy(x->made_memory);
    arena_destroy(a);
}

static exit_status prepare(pto_program *p, const char *name, pto_callable *x)
{
    pto_context *c = p->context;
    const loaded_pipeline *loaded = &p->pipeline->loaded;
    if (loaded->contract.backend == NULL) {
        diag_error(c->diags, NO_POS, &E1710, "the pipeline names no backend, which a callable needs");
        return EXIT_STATUS_USAGE;
    }
    if (find_function(p, name, x) != OK || call_check_fixed(p->m, &words) != OK) return EXIT_STATUS_INPUT;
    const pto_function_info *f = x->info;
    x->constants = arena_array(x->arena, f->constant_count, sizeof *x->constants);
    x->symbols = arena_array(x->arena, f->symbol_count, sizeof *x->symbols);
    x->inputs = arena_array(x->arena, f->input_count, sizeof *x->inputs);
    x->input_at = arena_array(x->arena, f->input_count, sizeof *x->input_at);
    x->output_at = arena_array(x->arena, f->output_count, sizeof *x->output_at);
    for (uint32_t i = 0; i < f->constant_count; i++) x->constants[i].name = f->constants[i]->name;
    backend_exe_open(x->arena, loaded, p->m, x->function, NULL, c->recorder, &x->exe);
    return x->exe.prepared == PTO_OK ? EXIT_STATUS_OK : backend_exe_close(&x->exe, x->exe.prepared);
}

static exit_status make_callable(pto_program *p, const char *name, pto_callable **out)
{
    arena *a = arena_create("callable");
    pto_callable *x = arena_alloc(a, sizeof *x);
    *x = (pto_callable){.program = p,
                        .arena = a,
                        .bound = arena_create("bound call"),
                        .memory = arena_create("execution"),
                        .made_memory = arena_create("constants")};
    const exit_status prepared = prepare(p, name, x);
    if (prepared != EXIT_STATUS_OK) {
        free_callable(x);
        return prepared;
    }
    x->next = p->callables;
    p->callables = x;
    *out = x;
    return EXIT_STATUS_OK;
}

pto_result pto_callable_create(pto_program *p, const char *name, pto_callable **out)
{
    pto_context *c = p != NULL ? p->context : NULL;
    const library_scope scope = library_enter(c);
    const bool is_whole = p != NULL && library_needs(c, out, "pto_callable_create", "a place for the callable");
    return library_leave(c, &scope, is_whole ? make_callable(p, name, out) : EXIT_STATUS_USAGE);
}

static void destroy(pto_callable *x)
{
    diag_engine *d = x->program->context->diags;
    /* What the last call reported is said. */
    diag_hush(d, true);
    backend_exe_close(&x->exe, PTO_OK);
    diag_hush(d, false);
    free_callable(x);
}

void pto_callable_destroy(pto_callable *x)
{
    if (x == NULL) return;
    pto_callable **link = &x->program->callables;
    while (*link != x) link = &(*link)->next;
    *link = x->next;
    destroy(x);
}

void library_destroy_callables(pto_program *p)
{
    for (pto_callable *x = p->callables, *next; x != NULL; x = next) {
        next = x->next;
        destroy(x);
    }
    p->callables = NULL;
}

/* ---- constants and symbols ---- */

static exit_status set_constant(pto_callable *x, const char *name, const DLTensor *tensor)
{
    diag_engine *d = x->program->context->diags;
    for (uint32_t i = 0; i < x->info->constant_count; i++) {
        constant *k = &x->constants[i];
        if (strcmp(k->name, name) != 0) continue;
        tensor_array array;
        TRY_AS(EXIT_STATUS_INPUT, library_read_tensor(d, x->info->constants[i], tensor, true, &array));
        k->array = array;
        x->is_bound = x->has_constants = false;
        return EXIT_STATUS_OK;
    }
    diag_error(d, NO_POS, &E1605, "@%s has no constant `%s` to bind", x->info->name, name);
    for (uint32_t i = 0; i < x->info->constant_count; i++) diag_note(d, NO_POS, "constant `%s`", x->constants[i].name);
    return EXIT_STATUS_INPUT;
}

pto_result pto_callable_set_constant(pto_callable *x, const char *name, const DLTensor *tensor)
{
    pto_context *c = x != NULL ? x->program->context : NULL;
    const library_scope scope = library_enter(c);
    const bool is_whole = x != NULL && library_needs(c, name, "pto_callable_set_constant", "a name");
    return library_leave(c, &scope, is_whole ? set_constant(x, name, tensor) : EXIT_STATUS_USAGE);
}

static exit_status set_symbol(pto_callable *x, const char *name, int64_t n)
{
    diag_engine *d = x->program->context->diags;
    uint32_t at = 0;
    const char *own = NULL;
    for (uint32_t i = 0; i < x->info->symbol_count; i++)
        if (strcmp(x->info->symbols[i], name) == 0) own = x->info->symbols[i];
    if (own == NULL || n < 0) {
        if (own == NULL)
            diag_error(d, NO_POS, &E1608, "@%s has no symbol $%s that could be set", x->info->name, name);
        else
            diag_error(d, NO_POS, &E1604, "the symbol $%s cannot be %" PRId64 "; symbols are at least 0", name, n);
        return EXIT_STATUS_INPUT;
    }
    while (at < x->symbol_count && !str_is(x->symbols[at].name, own)) at++;
    x->symbols[at] = (given_symbol){.name = str_from(own), .value = n};
    if (at == x->symbol_count) x->symbol_count++;
    x->is_bound = x->has_constants = false;
    return EXIT_STATUS_OK;
}

pto_result pto_callable_set_symbol(pto_callable *x, const char *name, int64_t n)
{
    pto_context *c = x != NULL ? x->program->context : NULL;
    const library_scope scope = library_enter(c);
    const bool is_whole = x != NULL && library_needs(c, name, "pto_callable_set_symbol", "a name");
    return library_leave(c, &scope, is_whole ? set_symbol(x, name, n) : EXIT_STATUS_USAGE);
}

/* ---- binding ---- */

/* All constants, with those that @f.init computes of them. */
static exit_status make_constants(pto_callable *x)
{
    pto_program *p = x->program;
    const uint32_t count = x->info->constant_count;
    if (x->has_constants) return EXIT_STATUS_OK;
    arena_reset(x->made_memory);
    given_tensor *tensors = arena_array(x->made_memory, count, sizeof *tensors);
    for (uint32_t i = 0; i < count; i++) {
        const constant *k = &x->constants[i];
        if (k->array.header.item_bytes == 0) {
            diag_error(p->context->diags, NO_POS, &E1605,
                       "the constant `%s` of @%s is not bound; bind it with pto_callable_set_constant", k->name,
                       x->info->name);
            return EXIT_STATUS_INPUT;
        }
        tensors[i] = (given_tensor){.name = str_from(k->name), .array = &k->array, .is_lent = true};
    }
    x->made = (given_call){.function = x->function,
                           .tensor_count = count,
                           .symbol_count = x->symbol_count,
                           .tensors = tensors,
                           .symbols = x->symbols,
                           .words = &words};
    if (call_init_of(p->m, x->function) != 0)
        TRY_EXIT(call_init_run(x->made_memory, &p->pipeline->loaded, p->m, p->context->recorder, &x->made));
    x->has_constants = true;
    x->made_count++;
    return EXIT_STATUS_OK;
}

/* Where inputs and outputs of the caller are in the call. Passes keep their names and their order. */
static status find_places(pto_callable *x)
{
    const bound_call *call = &x->call;
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < x->info->input_count; i++) {
        x->input_at[i] = nowhere;
        for (uint32_t k = 0; k < call->parameter_count; k++)
            if (call->tensors[k].is_input && str_is(call->tensors[k].name, x->info->inputs[i]->name))
                x->input_at[i] = k;
    }
    for (uint32_t i = 0; i < call->parameter_count + call->result_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (!t->is_output || t->is_input) continue;
        if (outputs < x->info->output_count) x->output_at[outputs] = i;
        outputs++;
    }
    if (outputs == x->info->output_count) return OK;
    diag_error(x->program->context->diags, NO_POS, &E1601,
               "passes have changed the outputs of @%s: it has %" PRIu32 " and had %" PRIu32, x->info->name, outputs,
               x->info->output_count);
    return FAILED;
}

static exit_status bind(pto_callable *x)
{
    if (x->is_bound) return EXIT_STATUS_OK;
    TRY_EXIT(make_constants(x));
    arena_reset(x->bound);
    const uint32_t constants = x->made.tensor_count, inputs = x->info->input_count;
    given_tensor *tensors = arena_array(x->bound, constants + inputs, sizeof *tensors);
    for (uint32_t i = 0; i < constants; i++) tensors[i] = x->made.tensors[i];
    for (uint32_t i = 0; i < inputs; i++)
        tensors[constants + i] =
            (given_tensor){.name = str_from(x->info->inputs[i]->name), .array = &x->inputs[i], .is_lent = true};
    TRY_AS(EXIT_STATUS_INPUT, call_bind_in_place(x->bound, x->program->m, x->function, constants + inputs, tensors,
                                                 x->made.symbol_count, x->made.symbols, &words, &x->call));
    TRY_AS(EXIT_STATUS_INPUT, find_places(x));
    x->is_bound = true;
    return EXIT_STATUS_OK;
}

static status check_count(const pto_callable *x, const char *what, uint32_t given, uint32_t wanted)
{
    if (given == wanted) return OK;
    diag_error(x->program->context->diags, NO_POS, &E1611, "@%s has %" PRIu32 " %s, %" PRIu32 " are given",
               x->info->name, wanted, what, given);
    return FAILED;
}

static bool is_same_shape(const tensor_header *a, const tensor_header *b)
{
    return a->kind == b->kind && a->item_bytes == b->item_bytes && a->type == b->type && a->rank == b->rank &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

static status read_inputs(pto_callable *x, const DLTensor *const *inputs, uint32_t count, bool with_data)
{
    TRY(check_count(x, "inputs", count, x->info->input_count));
    for (uint32_t i = 0; i < count; i++) {
        tensor_array now;
        TRY(library_read_tensor(x->program->context->diags, x->info->inputs[i], inputs[i], with_data, &now));
        x->is_bound = x->is_bound && is_same_shape(&now.header, &x->inputs[i].header);
        x->inputs[i] = now;
    }
    return OK;
}

/* ---- calls ---- */

static exit_status find_shapes(pto_callable *x, const DLTensor *const *inputs, uint32_t input_count, uint32_t *ranks,
                               int64_t (*extents)[8], uint32_t output_count)
{
    _Static_assert(TYPE_MAX_RANK == 8, "the header says so");
    if (read_inputs(x, inputs, input_count, false) != OK ||
        check_count(x, "outputs", output_count, x->info->output_count) != OK)
        return EXIT_STATUS_INPUT;
    TRY_EXIT(bind(x));
    for (uint32_t i = 0; i < output_count; i++) {
        const bound_tensor *t = &x->call.tensors[x->output_at[i]];
        ranks[i] = t->rank;
        memcpy(extents[i], t->dims, sizeof t->dims);
    }
    return EXIT_STATUS_OK;
}

pto_result pto_callable_shapes(pto_callable *x, const DLTensor *const *inputs, uint32_t input_count, uint32_t *ranks,
                               int64_t (*extents)[8], uint32_t output_count)
{
    pto_context *c = x != NULL ? x->program->context : NULL;
    const library_scope scope = library_enter(c);
    const bool is_whole =
        x != NULL && (input_count == 0 || library_needs(c, inputs, "pto_callable_shapes", "a list of inputs")) &&
        (output_count == 0 || (library_needs(c, ranks, "pto_callable_shapes", "a place for ranks") &&
                               library_needs(c, extents, "pto_callable_shapes", "a place for extents")));
    return library_leave(
        c, &scope, is_whole ? find_shapes(x, inputs, input_count, ranks, extents, output_count) : EXIT_STATUS_USAGE);
}

static void place(bound_tensor *t, const tensor_array *a)
{
    t->data = (uint8_t *)(uintptr_t)a->data;
    t->abi.data = t->data;
}

/* An output is of the type and the shape that the inputs make it. */
static status place_output(pto_callable *x, uint32_t index, const DLTensor *given)
{
    diag_engine *d = x->program->context->diags;
    const char *name = x->info->outputs[index]->name;
    bound_tensor *t = &x->call.tensors[x->output_at[index]];
    tensor_array array;
    char descr[TENSOR_DESCR_BYTES];
    TRY(library_read_tensor(d, x->info->outputs[index], given, true, &array));
    if (!tensor_matches(&array.header, (pto_dtype)t->type)) {
        tensor_descr(&array.header, descr);
        diag_error(d, NO_POS, &E1603, "`%s` needs elements of type %s, the tensor has %s", name, dtype_name(t->type),
                   descr);
        return FAILED;
    }
    if (array.header.rank != t->rank) {
        diag_error(d, NO_POS, &E1603, "`%s` needs rank %" PRIu32 ", the tensor has rank %" PRIu32, name, t->rank,
                   array.header.rank);
        return FAILED;
    }
    for (uint32_t i = 0; i < t->rank; i++) {
        if (array.header.dims[i] == t->dims[i]) continue;
        diag_error(d, NO_POS, &E1602, "dim %" PRIu32 " of `%s` must be %s = %" PRId64 ", the tensor has %" PRId64, i,
                   name, x->info->outputs[index]->dims[i], t->dims[i], array.header.dims[i]);
        return FAILED;
    }
    place(t, &array);
    return OK;
}

/* What is written is read by nobody else, unless the function declares it, and written once. */
static status check_overlaps(const pto_callable *x)
{
    const bound_call *call = &x->call;
    const module *m = x->program->m;
    diag_engine *d = x->program->context->diags;
    const uint32_t count = call->parameter_count + call->result_count;
    for (uint32_t i = 0; i < count; i++) {
        const bound_tensor *w = &call->tensors[i];
        if (!w->is_output) continue;
        for (uint32_t k = 0; k < count; k++) {
            const bound_tensor *t = &call->tensors[k];
            if (k == i || t->alias != 0 || (t->is_output && k < i)) continue;
            /* What is empty lies nowhere. */
            if (w->abi.bytes == 0 || t->abi.bytes == 0) continue;
            if (w->data >= t->data + t->abi.bytes || t->data >= w->data + w->abi.bytes) continue;
            if (function_may_alias(m, call->function, i, k)) continue;
            op_name_diag(d, m, call->function, DIAG_ERROR);
            diag_error(d, op_pos(m, call->function), &E1612,
                       "the tensor for `%.*s` overlaps that for `%.*s`, which the function does not declare",
                       (int)w->name.n, w->name.p, (int)t->name.n, t->name.p);
            return FAILED;
        }
    }
    return OK;
}

static exit_status call(pto_callable *x, const DLTensor *const *inputs, uint32_t input_count,
                        const DLTensor *const *outputs, uint32_t output_count)
{
    if (read_inputs(x, inputs, input_count, true) != OK ||
        check_count(x, "outputs", output_count, x->info->output_count) != OK)
        return EXIT_STATUS_INPUT;
    TRY_EXIT(bind(x));
    for (uint32_t i = 0; i < input_count; i++)
        if (x->input_at[i] != nowhere) place(&x->call.tensors[x->input_at[i]], &x->inputs[i]);
    for (uint32_t i = 0; i < output_count; i++) TRY_AS(EXIT_STATUS_INPUT, place_output(x, i, outputs[i]));
    for (uint32_t i = 0; i < x->call.result_count; i++) {
        bound_tensor *t = &x->call.tensors[x->call.parameter_count + i];
        if (t->alias != 0) t->abi = x->call.tensors[t->alias - 1].abi;
    }
    TRY_AS(EXIT_STATUS_INPUT, check_overlaps(x));
    arena_reset(x->memory);
    return backend_exe_call(&x->exe, x->memory, &x->call, x->made_count);
}

pto_result pto_callable_call(pto_callable *x, const DLTensor *const *inputs, uint32_t input_count,
                             const DLTensor *const *outputs, uint32_t output_count)
{
    pto_context *c = x != NULL ? x->program->context : NULL;
    const library_scope scope = library_enter(c);
    const bool is_whole = c != NULL &&
                          (input_count == 0 || library_needs(c, inputs, "pto_callable_call", "a list of inputs")) &&
                          (output_count == 0 || library_needs(c, outputs, "pto_callable_call", "a list of outputs"));
    return library_leave(c, &scope, is_whole ? call(x, inputs, input_count, outputs, output_count) : EXIT_STATUS_USAGE);
}
