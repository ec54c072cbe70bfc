#include "tools/run/call_init.h"

#include "ir/base/text.h"
#include "tools/base/tool_diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static str name_of(arena *a, const module *m, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(m, v, &t);
    const str name = {arena_strndup(a, t.p + 1, t.n - 1), t.n - 1}; /* without % */
    text_fini(&t);
    return name;
}

bool call_has_constants(const module *m, op_id f)
{
    for (uint32_t i = 0; i < block_arg_count(m, function_body(m, f)); i++)
        if (str_is(function_param_mode(m, f, i), "const")) return true;
    return false;
}

/* The parameter of that name, which is not `out`; -1: none. `const_only`: of mode `const`. */
static int64_t find_input(arena *a, const module *m, op_id f, str name, bool const_only)
{
    const block_id body = function_body(m, f);
    for (uint32_t i = 0; i < block_arg_count(m, body); i++) {
        const str mode = function_param_mode(m, f, i);
        if (str_is(mode, "out") || (const_only && !str_is(mode, "const"))) continue;
        if (str_eq(name_of(a, m, block_arg(m, body, i)), name)) return i;
    }
    return -1;
}

static const given_tensor *find_given(const given_call *call, str name)
{
    for (uint32_t i = 0; i < call->tensor_count; i++)
        if (str_eq(call->tensors[i].name, name)) return &call->tensors[i];
    return NULL;
}

given_tensor call_tensor_given(arena *a, const bound_tensor *from)
{
    const char *descr = tensor_npy_type(from->type);
    tensor_array *array = arena_alloc(a, sizeof *array);
    *array = (tensor_array){.header = {.kind = descr != NULL ? descr[1] : 'V',
                                       .item_bytes = dtype_bytes(from->type),
                                       .type = (pto_dtype)from->type,
                                       .rank = from->rank,
                                       .element_count = from->element_count},
                            .data = from->data};
    memcpy(array->header.dims, from->dims, sizeof array->header.dims);
    return (given_tensor){.name = from->name, .path = "<what @f.init makes>", .array = array};
}

/* What is given for the parameters of the function, with space for `more`. */
static void take_given(arena *a, const module *m, const given_call *from, op_id f, op_id other, uint32_t more,
                       given_call *out)
{
    given_tensor *tensors = arena_array(a, from->tensor_count + more, sizeof *tensors);
    given_symbol *symbols = arena_array(a, from->symbol_count, sizeof *symbols);
    *out = (given_call){
        .function = f, .tensors = tensors, .symbols = symbols, .random_seed = from->random_seed, .words = from->words};
    for (uint32_t i = 0; i < from->tensor_count; i++) {
        const str name = from->tensors[i].name;
        const bool is_others = find_input(a, m, other, name, false) >= 0;
        /* What neither has is a mistake that binding @f tells. */
        if (find_input(a, m, f, name, false) >= 0 || (f == from->function && !is_others))
            tensors[out->tensor_count++] = from->tensors[i];
    }
    for (uint32_t i = 0; i < from->symbol_count; i++) {
        const str name = from->symbols[i].name;
        if (call_has_symbol(m, f, name) || (f == from->function && !call_has_symbol(m, other, name)))
            symbols[out->symbol_count++] = from->symbols[i];
    }
}

/* ---- what may be an @f.init ---- */

static status refuse(const module *m, op_id init, const char *format, ...) __attribute__((format(printf, 3, 4)));

static status refuse(const module *m, op_id init, const char *format, ...)
{
    char text[512];
    const str name = string_of(module_context(m), function_name(m, init));
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(context_diags(module_context(m)), op_pos(m, init), &E1610, "@%.*s %s", (int)name.n, name.p, text);
    return FAILED;
}

/* What has a name that a tool made up can be told apart by its place alone, which says nothing here. */
static bool is_number(str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < '0' || name.p[i] > '9') return false;
    return true;
}

static status check_output(arena *a, const module *m, op_id f, op_id init, str name, value_id v)
{
    const ir_context *c = module_context(m);
    const str called = string_of(c, function_name(m, f));
    const int64_t at = find_input(a, m, f, name, true);
    if (at < 0)
        return refuse(m, init, "makes `%.*s`, which is not a `const` parameter of @%.*s", (int)name.n, name.p,
                      (int)called.n, called.p);
    const type_node *made = type_at(c, value_type(m, v)),
                    *want = type_at(c, value_type(m, block_arg(m, function_body(m, f), (uint32_t)at)));
    bool is_same = made->dtype == want->dtype && made->rank == want->rank;
    for (uint32_t d = 0; is_same && d < made->rank; d++) {
        const expr_node *x = expr_at(c, made->dims[d]), *y = expr_at(c, want->dims[d]);
        is_same = x->kind != EXPR_CONST || y->kind != EXPR_CONST || x->value == y->value;
    }
    if (is_same) return OK;
    return refuse(m, init, "makes `%.*s` of another element type or other extents than the parameter of @%.*s has",
                  (int)name.n, name.p, (int)called.n, called.p);
}

static status check_init(arena *a, module *m, op_id f, op_id init)
{
    const block_id body = function_body(m, init);
    for (uint32_t i = 0; i < block_arg_count(m, body); i++) {
        const str mode = function_param_mode(m, init, i);
        if (str_is(mode, "const") || str_is(mode, "out")) continue;
        const str name = name_of(a, m, block_arg(m, body, i));
        return refuse(m, init,
                      "has the parameter `%.*s`, which is `%.*s`: what it computes is kept over runs, so that "
                      "all its parameters are `const`",
                      (int)name.n, name.p, (int)mode.n, mode.p);
    }
    const op_id last = block_last(m, body);
    output_names names;
    output_names_of(a, m, init, &names);
    if (last == 0 || op_value_operand_count(m, last) != names.count) return OK; /* memory: binding compares it */
    for (uint32_t i = 0; i < names.count; i++)
        if (!is_number(names.names[i])) TRY(check_output(a, m, f, init, names.names[i], op_operand(m, last, i)));
    return OK;
}

status call_init_check(module *m)
{
    arena *a = arena_create("check of @f.init");
    status s = OK;
    BLOCK_EACH_OP(m, o, module_top(m)) {
        const str name = op_kind_of(m, o) == OP_FUNC ? string_of(module_context(m), function_name(m, o)) : STR("");
        const str end = STR(".init");
        if (s != OK || name.n <= end.n || !str_eq((str){name.p + name.n - end.n, end.n}, end)) continue;
        const str of = {name.p, name.n - end.n};
        const op_id f = module_find_symbol(m, string_intern(module_context(m), of));
        if (f == 0 || op_kind_of(m, f) != OP_FUNC)
            s = refuse(m, o, "computes constants of @%.*s, which is not a function of the module", (int)of.n, of.p);
        else
            s = check_init(a, m, f, o);
    }
    arena_destroy(a);
    return s;
}

/* ---- running it ---- */

/* After passes: the names of the outputs are those of constants. */
static status check_outputs(arena *a, const module *m, op_id f, op_id init, const output_names *names)
{
    const str called = string_of(module_context(m), function_name(m, f));
    for (uint32_t i = 0; i < names->count; i++)
        if (find_input(a, m, f, names->names[i], true) < 0)
            return refuse(m, init, "makes `%.*s`, which is not a `const` parameter of @%.*s", (int)names->names[i].n,
                          names->names[i].p, (int)called.n, called.p);
    return OK;
}

exit_status call_init_bind(arena *a, module *m, given_call *call, const bound_call **bound)
{
    *bound = NULL;
    const op_id f = call->function, init = call_init_of(m, f);
    if (init == 0) return EXIT_STATUS_OK;
    output_names names;
    output_names_of(a, m, init, &names);
    if (check_outputs(a, m, f, init, &names) != OK) return EXIT_STATUS_INPUT;
    const uint32_t most = names.count + block_arg_count(m, function_body(m, init));
    given_call own, rest;
    take_given(a, m, call, init, f, 0, &own);
    take_given(a, m, call, f, init, most, &rest);
    *call = rest;
    bool is_needed = false;
    for (uint32_t i = 0; i < names.count; i++) is_needed |= find_given(&rest, names.names[i]) == NULL;
    if (!is_needed) return EXIT_STATUS_OK;

    bound_call *made = arena_alloc(a, sizeof *made);
    if (call_bind(a, m, init, own.tensor_count, own.tensors, own.symbol_count, own.symbols, own.random_seed, own.words,
                  made) != OK)
        return EXIT_STATUS_INPUT;
    call_name_outputs(made, &names);
    given_tensor *tensors = (given_tensor *)(uintptr_t)rest.tensors;
    for (uint32_t i = 0; i < made->parameter_count + made->result_count; i++) {
        bound_tensor *t = &made->tensors[i];
        const int64_t at = find_input(a, m, f, t->name, false);
        if (at < 0) continue;
        /* What both have is what @f would have without an @f.init. */
        if (i < made->parameter_count && t->random_seed != 0)
            t->random_seed = call_input_seed(own.random_seed, (uint32_t)at);
        if (t->is_scalar || t->alias != 0 || find_given(call, t->name) != NULL) continue;
        tensors[call->tensor_count] = call_tensor_given(a, t);
        tensors[call->tensor_count++].is_lent = true; /* what is bound to it is made before @f runs */
    }
    *bound = made;
    return EXIT_STATUS_OK;
}

exit_status call_init_run(arena *a, const loaded_pipeline *p, module *m, flight_recorder *recorder, given_call *call)
{
    const bound_call *bound = NULL;
    const backend_request request = {.repeat = 1};
    backend_result result = {0};
    TRY_EXIT(call_init_bind(a, m, call, &bound));
    if (bound == NULL) return EXIT_STATUS_OK;
    given_tensor *tensors = (given_tensor *)(uintptr_t)call->tensors;
    for (uint32_t i = 0; i < call->tensor_count; i++) tensors[i].is_lent = false; /* of any number of calls */
    return backend_run(a, p, &request, m, bound, recorder, &result);
}
