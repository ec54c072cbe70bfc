#include "ir/text/output_names.h"

#include "ir/base/text.h"

typedef struct kept_function {
    str_id name;
    attr_id outputs; /* a list of names; 0: none */
} kept_function;

struct output_keeper {
    arena *arena;
    kept_function *functions; /* in the order of the module */
    uint32_t count;
};

static bool is_out(const module *m, op_id f, uint32_t parameter)
{
    return str_is(function_param_mode(m, f, parameter), "out");
}

static attr_id name_of(module *m, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(m, v, &t);
    ir_context *c = module_context(m);
    const attr_id name = attr_string(c, string_intern(c, (str){t.p + 1, t.n - 1})); /* without % */
    text_fini(&t);
    return name;
}

/* The names that the values have; 0: there are no outputs. */
static attr_id names_of_values(arena *a, module *m, op_id f)
{
    const block_id body = function_body(m, f);
    const op_id last = block_last(m, body);
    const uint32_t parameters = block_arg_count(m, body), results = last != 0 ? op_operand_count(m, last) : 0;
    attr_id *names = arena_array(a, parameters + results, sizeof *names);
    uint32_t n = 0;
    for (uint32_t i = 0; i < parameters; i++)
        if (is_out(m, f, i)) names[n++] = name_of(m, block_arg(m, body, i));
    for (uint32_t i = 0; i < results; i++)
        if (function_alias(m, f, i) == UINT32_MAX) names[n++] = name_of(m, op_operand(m, last, i));
    return n > 0 ? attr_list(module_context(m), n, names) : 0;
}

static attr_id names_of(arena *a, module *m, op_id f)
{
    const attr_id own = op_attr(m, f, "outputs");
    return own != 0 ? own : names_of_values(a, m, f);
}

void output_names_of(arena *a, module *m, op_id function, output_names *out)
{
    const ir_context *c = module_context(m);
    const attr_id list = names_of(a, m, function);
    *out = (output_names){0};
    if (list == 0) return;
    out->count = attr_at(c, list)->count;
    out->names = arena_array(a, out->count, sizeof *out->names);
    for (uint32_t i = 0; i < out->count; i++) {
        const str name = string_of(c, attr_at(c, attr_at(c, list)->items[i])->id);
        out->names[i] = (str){arena_strndup(a, name.p, name.n), name.n};
    }
}

static bool is_public(const module *m, op_id f)
{
    return op_kind_of(m, f) == OP_FUNC && !str_is(op_attr_str(m, f, "visibility"), "private");
}

/* What is kept of the function, or else the names that it has. `next` is where it most likely is, and after it. */
static kept_function find_or_adopt(const output_keeper *k, module *m, op_id f, uint32_t *next)
{
    const str_id name = function_name(m, f);
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t at = (*next + i) % k->count;
        if (k->functions[at].name != name) continue;
        *next = at + 1;
        return k->functions[at];
    }
    return (kept_function){name, names_of(k->arena, m, f)};
}

/* Functions that are new are kept, too, so that a run which begins after the step that made them has the same names. */
static void keep_all(output_keeper *k, module *m)
{
    uint32_t count = 0, n = 0, next = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) count += is_public(m, f);
    kept_function *now = arena_array(k->arena, count, sizeof *now);
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (is_public(m, f)) now[n++] = find_or_adopt(k, m, f, &next);
    }
    k->functions = now;
    k->count = n;
}

output_keeper *output_keeper_create(arena *a, module *m)
{
    output_keeper *k = arena_alloc(a, sizeof *k);
    *k = (output_keeper){.arena = a};
    keep_all(k, m);
    return k;
}

static bool has_names(const ir_context *c, attr_id list, uint32_t count)
{
    return list != 0 && attr_at(c, list)->count == count;
}

void output_keeper_run(output_keeper *k, module *m, void (*touched)(void *self, op_id function), void *self)
{
    const ir_context *c = module_context(m);
    arena *scratch = arena_create("output names");
    keep_all(k, m);
    for (uint32_t i = 0; i < k->count; i++) {
        kept_function *kept = &k->functions[i];
        const op_id f = module_find_symbol(m, kept->name);
        const attr_id now = names_of_values(scratch, m, f), own = op_attr(m, f, "outputs");
        const uint32_t count = now != 0 ? attr_at(c, now)->count : 0;
        if (!has_names(c, kept->outputs, count)) kept->outputs = has_names(c, own, count) ? own : now;
        const attr_id wanted = kept->outputs == now ? 0 : kept->outputs;
        if (wanted == own) continue;
        op_set_attr(m, f, "outputs", wanted);
        touched(self, f);
    }
    arena_destroy(scratch);
}
