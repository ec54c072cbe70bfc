#include "tools/library/library_impl.h"

#include "ir/text/printer.h"
#include "tools/run/hints.h"

#include <string.h>

/* ---- pipelines ---- */

static uint32_t read_settings(arena *a, const char *const *settings, const pipeline_override **out)
{
    uint32_t n = 0;
    while (settings != NULL && settings[n] != NULL) n++;
    pipeline_override *all = arena_array(a, n, sizeof *all);
    for (uint32_t i = 0; i < n; i++)
        all[i] = (pipeline_override){PIPELINE_SET, str_from(arena_strdup(a, settings[i])), {"<settings>", 1, 1}};
    *out = all;
    return n;
}

/* `text`: NULL for a file. */
static exit_status read_pipeline(pto_context *c, const char *path, const str *text, const pto_pipeline_params *params,
                                 pto_pipeline **out)
{
    arena *a = c->arena;
    pto_pipeline_params p = {.struct_size = sizeof p};
    if (params != NULL) memcpy(&p, params, params->struct_size < sizeof p ? params->struct_size : sizeof p);
    pipeline_request request = {.file = arena_strdup(a, path),
                                .machine_at = {"<settings>", 1, 1},
                                .search = c->search,
                                .machine_stands_for = library_host_machine};
    if (p.machine != NULL) request.machine = arena_strdup(a, p.machine);
    request.override_count = read_settings(a, p.settings, &request.overrides);
    const pipeline *read = NULL;
    TRY_AS(EXIT_STATUS_USAGE, text != NULL ? pipeline_read_text(a, c->diags, &request, *text, &read)
                                           : pipeline_read(a, c->diags, &request, &read));
    pto_pipeline *made = arena_alloc(a, sizeof *made);
    made->context = c;
    TRY_EXIT(library_open_pipeline(a, c->diags, c->host, read, NULL, c->recorder, &made->loaded));
    *out = made;
    return EXIT_STATUS_OK;
}

pto_result pto_pipeline_read(pto_context *c, const char *path, const pto_pipeline_params *params, pto_pipeline **out)
{
    const library_scope scope = library_enter(c);
    const bool is_whole = library_needs(c, path, "pto_pipeline_read", "a path") &&
                          library_needs(c, out, "pto_pipeline_read", "a place for the pipeline");
    return library_leave(c, &scope, is_whole ? read_pipeline(c, path, NULL, params, out) : EXIT_STATUS_USAGE);
}

pto_result pto_pipeline_read_text(pto_context *c, const char *text, size_t bytes, const char *name,
                                  const pto_pipeline_params *params, pto_pipeline **out)
{
    const library_scope scope = library_enter(c);
    const str all = {text, bytes};
    const bool is_whole = library_needs(c, text, "pto_pipeline_read_text", "a text") &&
                          library_needs(c, name, "pto_pipeline_read_text", "a name") &&
                          library_needs(c, out, "pto_pipeline_read_text", "a place for the pipeline");
    return library_leave(c, &scope, is_whole ? read_pipeline(c, name, &all, params, out) : EXIT_STATUS_USAGE);
}

/* ---- what functions take and return, from the module as it was written ---- */

static pto_role role_of(const module *m, op_id f, uint32_t parameter)
{
    const str mode = function_param_mode(m, f, parameter);
    return str_is(mode, "const")   ? PTO_ROLE_CONST
           : str_is(mode, "inout") ? PTO_ROLE_INOUT
           : str_is(mode, "out")   ? PTO_ROLE_OUT
                                   : PTO_ROLE_IN;
}

static const char *name_of(arena *a, const module *m, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(m, v, &t);
    const char *name = arena_strndup(a, t.p + 1, t.n - 1); /* without % */
    text_fini(&t);
    return name;
}

static const char *dim_text(arena *a, const ir_context *c, expr_id e)
{
    text_buffer t;
    text_init(&t);
    expr_print(c, e, &t, NULL, NULL);
    return text_keep(&t, a);
}

static pto_argument_info *describe(arena *a, const module *m, const char *name, type_id type, pto_role role)
{
    const ir_context *c = module_context(m);
    const type_node *t = type_at(c, type);
    pto_argument_info *x = arena_alloc(a, sizeof *x);
    int64_t *extents = arena_array(a, t->rank, sizeof *extents);
    const char **dims = arena_array(a, t->rank, sizeof *dims);
    for (uint32_t i = 0; i < t->rank; i++) {
        const expr_node *e = expr_at(c, t->dims[i]);
        extents[i] = e->kind == EXPR_CONST ? e->value : -1;
        dims[i] = dim_text(a, c, t->dims[i]);
    }
    *x = (pto_argument_info){.struct_size = sizeof *x,
                             .role = role,
                             .name = name,
                             .type = dtype_name((dtype)t->dtype),
                             .dtype = library_dtype((dtype)t->dtype),
                             .rank = t->rank,
                             .extents = extents,
                             .dims = dims};
    return x;
}

/* Space for what a function and its @f.init have. */
typedef struct signature {
    arena *arena;
    const module *m;
    const pto_argument_info **inputs, **constants, **outputs;
    uint32_t input_count, constant_count, output_count;
    const char **symbols;
    uint32_t symbol_count, symbol_space;
} signature;

static void add_symbol(void *self, str_id name)
{
    signature *s = self;
    const str text = string_of(module_context(s->m), name);
    for (uint32_t i = 0; i < s->symbol_count; i++)
        if (str_is(text, s->symbols[i])) return;
    if (s->symbol_count == s->symbol_space) {
        s->symbol_space = s->symbol_space * 2 + 8;
        const char **larger = arena_array(s->arena, s->symbol_space, sizeof *larger);
        for (uint32_t i = 0; i < s->symbol_count; i++) larger[i] = s->symbols[i];
        s->symbols = larger;
    }
    s->symbols[s->symbol_count++] = arena_strndup(s->arena, text.p, text.n);
}

static bool has_name(const pto_argument_info *const *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i]->name, name) == 0) return true;
    return false;
}

static void add_parameter(signature *s, op_id f, uint32_t index)
{
    const ir_context *c = module_context(s->m);
    const value_id v = block_arg(s->m, function_body(s->m, f), index);
    const type_node *type = type_at(c, value_type(s->m, v));
    const pto_role role = role_of(s->m, f, index);
    for (uint32_t d = 0; d < type->rank; d++) expr_visit_symbols(c, type->dims[d], add_symbol, s);
    const pto_argument_info *x = describe(s->arena, s->m, name_of(s->arena, s->m, v), value_type(s->m, v), role);
    if (role == PTO_ROLE_CONST)
        s->constants[s->constant_count++] = x;
    else if (role != PTO_ROLE_OUT)
        s->inputs[s->input_count++] = x;
}

static void add_outputs(signature *s, module *m, op_id f)
{
    const block_id body = function_body(m, f);
    const op_id last = block_last(m, body);
    output_names names;
    output_names_of(s->arena, m, f, &names);
    for (uint32_t i = 0; i < block_arg_count(m, body); i++) {
        if (role_of(m, f, i) != PTO_ROLE_OUT || s->output_count == names.count) continue;
        const char *name = names.names[s->output_count].p;
        s->outputs[s->output_count++] = describe(s->arena, m, name, value_type(m, block_arg(m, body, i)), PTO_ROLE_OUT);
    }
    for (uint32_t i = 0; last != 0 && i < op_operand_count(m, last); i++) {
        if (function_alias(m, f, i) != UINT32_MAX || s->output_count == names.count) continue;
        const char *name = names.names[s->output_count].p;
        s->outputs[s->output_count++] =
            describe(s->arena, m, name, value_type(m, op_operand(m, last, i)), PTO_ROLE_OUT);
    }
}

/* What @f.init makes is nobody else's to give; what it takes is. */
static void add_init(signature *s, module *m, op_id init)
{
    output_names made;
    output_names_of(s->arena, m, init, &made);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->constant_count; i++) {
        bool is_made = false;
        for (uint32_t k = 0; k < made.count; k++) is_made |= str_is(made.names[k], s->constants[i]->name);
        if (!is_made) s->constants[kept++] = s->constants[i];
    }
    s->constant_count = kept;
    for (uint32_t i = 0; i < block_arg_count(m, function_body(m, init)); i++) {
        const char *name = name_of(s->arena, m, block_arg(m, function_body(m, init), i));
        if (role_of(m, init, i) == PTO_ROLE_CONST && !has_name(s->constants, s->constant_count, name))
            add_parameter(s, init, i);
    }
}

static pto_function_info *describe_function(arena *a, module *m, op_id f)
{
    const op_id init = call_init_of(m, f);
    const block_id body = function_body(m, f);
    const op_id last = block_last(m, body);
    const uint32_t own = block_arg_count(m, body), results = last != 0 ? op_operand_count(m, last) : 0,
                   of_init = init != 0 ? block_arg_count(m, function_body(m, init)) : 0;
    signature s = {.arena = a, .m = m};
    s.inputs = arena_array(a, own, sizeof *s.inputs);
    s.constants = arena_array(a, own + of_init, sizeof *s.constants);
    s.outputs = arena_array(a, own + results, sizeof *s.outputs);
    for (uint32_t i = 0; i < own; i++) add_parameter(&s, f, i);
    if (init != 0) add_init(&s, m, init);
    add_outputs(&s, m, f);
    const str name = string_of(module_context(m), function_name(m, f));
    pto_function_info *x = arena_alloc(a, sizeof *x);
    *x = (pto_function_info){.struct_size = sizeof *x,
                             .input_count = s.input_count,
                             .constant_count = s.constant_count,
                             .output_count = s.output_count,
                             .symbol_count = s.symbol_count,
                             .name = arena_strndup(a, name.p, name.n),
                             .inputs = s.inputs,
                             .constants = s.constants,
                             .outputs = s.outputs,
                             .symbols = s.symbols};
    return x;
}

static void describe_functions(pto_program *p)
{
    uint32_t n = 0;
    BLOCK_EACH_OP(p->m, f, module_top(p->m)) n += call_is_entry(p->m, f);
    p->functions = arena_array(p->arena, n, sizeof *p->functions);
    BLOCK_EACH_OP(p->m, f, module_top(p->m)) {
        if (call_is_entry(p->m, f)) p->functions[p->function_count++] = describe_function(p->arena, p->m, f);
    }
}

const pto_function_info *pto_program_function(const pto_program *p, uint32_t index)
{
    return p != NULL && index < p->function_count ? p->functions[index] : NULL;
}

const pto_function_info *library_find_function(const pto_program *p, const char *name)
{
    if (name == NULL) return p->function_count == 1 ? p->functions[0] : NULL;
    for (uint32_t i = 0; i < p->function_count; i++)
        if (strcmp(p->functions[i]->name, name) == 0) return p->functions[i];
    return NULL;
}

/* ---- programs ---- */

static exit_status compile(pto_program *p, const char *path, const str *text)
{
    pto_context *c = p->context;
    const loaded_pipeline *loaded = &p->pipeline->loaded;
    TRY_AS(EXIT_STATUS_USAGE, library_declare_names(p->ir, loaded));
    const run_session_params params = {.diags = c->diags,
                                       .registry = plugin_host_runs(c->host),
                                       .machine = loaded->machine,
                                       .abi_minor = plugin_host_abi_minor(c->host),
                                       .recorder = c->recorder};
    const run_agent *reader;
    TRY_EXIT(library_find_reader(p->arena, c->diags, c->host, path, NULL, &reader));
    TRY_AS(EXIT_STATUS_INPUT, reader != NULL ? library_read(p->ir, &params, reader, path, text, &p->m)
                                             : library_parse(p->ir, path, text, &p->m));
    TRY_AS(EXIT_STATUS_INPUT, library_verify(p->m));
    TRY_AS(EXIT_STATUS_INPUT, library_check_functions(p->m));
    describe_functions(p);
    const compile_request request = {.verify = loaded->pipeline->verify};
    TRY_EXIT(pass_manager_run(p->arena, loaded, &request, p->m, c->recorder, &p->stats));
    if (loaded->contract.backend != NULL) hints_warn(p->m, loaded->contract.backend);
    return EXIT_STATUS_OK;
}

static void free_program(pto_program *p)
{
    library_destroy_callables(p);
    if (p->m != NULL) module_destroy(p->m);
    context_destroy(p->ir);
    arena_destroy(p->arena);
}

static exit_status make_program(pto_pipeline *by, const char *path, const str *text, pto_program **out)
{
    pto_context *c = by->context;
    arena *a = arena_create("program");
    pto_program *p = arena_alloc(a, sizeof *p);
    *p = (pto_program){.context = c, .pipeline = by, .arena = a, .ir = context_create(c->diags)};
    context_set_ops(p->ir, plugin_host_ops(c->host));
    const exit_status compiled = compile(p, path, text);
    if (compiled != EXIT_STATUS_OK) {
        free_program(p);
        return compiled;
    }
    p->next = c->programs;
    c->programs = p;
    *out = p;
    return EXIT_STATUS_OK;
}

pto_result pto_compile_text(pto_pipeline *p, const char *text, size_t bytes, const char *name, pto_program **out)
{
    pto_context *c = p != NULL ? p->context : NULL;
    const library_scope scope = library_enter(c);
    const str all = {text, bytes};
    const bool is_whole = p != NULL && library_needs(c, text, "pto_compile_text", "a text") &&
                          library_needs(c, name, "pto_compile_text", "a name") &&
                          library_needs(c, out, "pto_compile_text", "a place for the program");
    return library_leave(c, &scope, is_whole ? make_program(p, name, &all, out) : EXIT_STATUS_USAGE);
}

pto_result pto_compile_file(pto_pipeline *p, const char *path, pto_program **out)
{
    pto_context *c = p != NULL ? p->context : NULL;
    const library_scope scope = library_enter(c);
    const bool is_whole = p != NULL && library_needs(c, path, "pto_compile_file", "a path") &&
                          library_needs(c, out, "pto_compile_file", "a place for the program");
    return library_leave(c, &scope, is_whole ? make_program(p, path, NULL, out) : EXIT_STATUS_USAGE);
}

void pto_program_destroy(pto_program *p)
{
    if (p == NULL) return;
    pto_program **link = &p->context->programs;
    while (*link != p) link = &(*link)->next;
    *link = p->next;
    free_program(p);
}

const char *pto_program_text(pto_program *p)
{
    if (p == NULL) return "";
    if (p->text == NULL) {
        const locale_t before = uselocale(p->context->locale);
        text_buffer t;
        text_init(&t);
        module_print(p->m, NULL, &t);
        p->text = text_keep(&t, p->arena);
        uselocale(before);
    }
    return p->text;
}
