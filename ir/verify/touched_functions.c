#include "ir/verify/touched_functions.h"

#include "ir/verify/verifier.h"

#include <string.h>

enum { MASK_WORDS = FUNCTION_FACTS_MAX / 64, FIRST_CAPACITY = 16 };

typedef struct function_state {
    op_id op; /* 0: the slot is free */
    uint32_t generation;
    bool is_known; /* was verified once; `signature` is of then */
    bool is_verified;
    uint64_t signature;
    function_class *class;      /* facts of it: by checker that saw only what all of them have. NULL: to be found */
    uint64_t holds[MASK_WORDS]; /* by checker: it saw this function only */
    uint64_t holds_with_module[MASK_WORDS]; /* it saw more; counts while `module_version` is the module's */
    uint64_t module_version;
} function_state;

struct touched_functions {
    arena *arena;
    module *module;
    function_classes *classes;
    bool is_doubted;
    function_state *slots;
    uint32_t capacity, count; /* power of two; at most half full */
    uint64_t module_version;
    uint32_t signatures;  /* changes with any signature: what was verified before may call it */
    uint32_t known_count; /* functions there when all were last verified */
};

touched_functions *touched_functions_create(arena *a, module *m)
{
    touched_functions *s = arena_alloc(a, sizeof *s);
    *s = (touched_functions){.arena = a, .module = m, .capacity = FIRST_CAPACITY, .module_version = 1, .signatures = 1};
    s->classes = function_classes_create(a, m);
    s->slots = arena_array(a, s->capacity, sizeof *s->slots);
    return s;
}

static function_state *find_slot(const touched_functions *s, op_id f)
{
    uint32_t at = (f * 2654435761u) & (s->capacity - 1);
    while (s->slots[at].op != 0 && s->slots[at].op != f) at = (at + 1) & (s->capacity - 1);
    return &s->slots[at];
}

static void grow(touched_functions *s)
{
    const function_state *old = s->slots;
    const uint32_t old_capacity = s->capacity;
    s->capacity *= 2;
    s->slots = arena_array(s->arena, s->capacity, sizeof *s->slots);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].op != 0) *find_slot(s, old[i].op) = old[i];
    }
}

static void leave_class(touched_functions *s, function_state *state)
{
    if (state->class != NULL) function_class_leave(s->classes, state->class);
    state->class = NULL;
}

static function_state *state_of(touched_functions *s, op_id f)
{
    function_state *state = find_slot(s, f);
    const uint32_t generation = op_generation(s->module, f);
    if (state->op == f && state->generation == generation) return state;
    if (state->op == 0 && ++s->count > s->capacity / 2) {
        grow(s);
        state = find_slot(s, f);
    }
    leave_class(s, state);
    *state = (function_state){.op = f, .generation = generation};
    return state;
}

static function_class *class_of(touched_functions *s, function_state *state)
{
    if (state->class == NULL) state->class = function_class_join(s->classes, state->op, s->is_doubted);
    return state->class;
}

void touched_functions_touch(touched_functions *s, op_id function)
{
    s->module_version++;
    if (function == 0) return;
    function_state *state = state_of(s, function);
    state->is_verified = false;
    memset(state->holds, 0, sizeof state->holds);
    leave_class(s, state);
}

void touched_functions_doubt(touched_functions *s)
{
    s->is_doubted = true;
    touched_functions_touch(s, 0);
    BLOCK_EACH_OP(s->module, f, module_top(s->module)) touched_functions_touch(s, f);
}

ir_level touched_functions_level(touched_functions *s, op_id function)
{
    return class_of(s, state_of(s, function))->level;
}

/* ---- verification ---- */

static uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3u + 0x9e3779b97f4a7c15u; }

/* What callers see: kind, attributes (name, results and parameter modes are among them), types of the parameters. */
static uint64_t signature_of(const module *m, op_id f)
{
    uint64_t hash = mix(mix(0xcbf29ce484222325u, op_kind_of(m, f)), op_attrs(m, f));
    if (op_block_count(m, f) == 0) return hash;
    const block_id body = op_block_at(m, f, 0);
    for (uint32_t i = 0; i < block_arg_count(m, body); i++) hash = mix(hash, value_type(m, block_arg(m, body, i)));
    return hash;
}

void touched_functions_set_verified(touched_functions *s)
{
    s->known_count = 0;
    BLOCK_EACH_OP(s->module, f, module_top(s->module)) {
        function_state *state = state_of(s, f);
        if (!state->is_verified) state->signature = signature_of(s->module, f);
        state->is_known = state->is_verified = true;
        class_of(s, state)->verified = s->signatures;
        s->known_count++;
    }
}

void touched_functions_restart(touched_functions *s)
{
    for (uint32_t i = 0; i < s->capacity; i++) leave_class(s, &s->slots[i]);
    memset(s->slots, 0, s->capacity * sizeof *s->slots);
    s->count = 0;
    s->module_version++;
    s->signatures++;
    touched_functions_set_verified(s);
}

/* Whether the body has to be looked at, after which all of its class count as verified: not, where one of its class
 * was, and where callers see what they saw. */
static bool is_to_verify(touched_functions *s, function_state *state, bool *out_all)
{
    if (state->is_verified) return false;
    *out_all |= state->is_known && state->signature != signature_of(s->module, state->op);
    function_class *c = class_of(s, state);
    if (c->verified == s->signatures) return false;
    c->verified = s->signatures;
    return true;
}

/* What a function has as its own, which its class says nothing of: the name of a new one may be that of another. */
static status verify_new(touched_functions *s)
{
    BLOCK_EACH_OP(s->module, f, module_top(s->module)) {
        if (!state_of(s, f)->is_known) TRY(op_verify(s->module, f));
    }
    return OK;
}

status touched_functions_verify(touched_functions *s)
{
    uint32_t count = 0, changed = 0, known = 0;
    BLOCK_EACH_OP(s->module, f, module_top(s->module)) count++;
    arena *scratch = arena_create("changed functions");
    op_id *functions = arena_array(scratch, count, sizeof *functions);
    bool all = false;
    BLOCK_EACH_OP(s->module, f, module_top(s->module)) {
        function_state *state = state_of(s, f);
        known += state->is_known;
        if (is_to_verify(s, state, &all)) functions[changed++] = f;
    }
    all |= known < s->known_count;
    status result = OK;
    if (all)
        result = module_verify(s->module);
    else if (changed > 0)
        result = module_verify_functions(s->module, changed, functions);
    if (!all && result == OK) result = verify_new(s);
    arena_destroy(scratch);
    if (all || result != OK) s->signatures++;
    if (result == OK) touched_functions_set_verified(s);
    return result;
}

/* ---- properties ---- */

bool touched_functions_holds(touched_functions *s, op_id function, uint32_t checker)
{
    function_state *state = state_of(s, function);
    const uint64_t bit = 1ull << checker % 64;
    if (((class_of(s, state)->facts[checker / 64] | state->holds[checker / 64]) & bit) != 0) return true;
    return state->module_version == s->module_version && (state->holds_with_module[checker / 64] & bit) != 0;
}

void touched_functions_set_holds(touched_functions *s, op_id function, uint32_t checker, function_sight saw)
{
    function_state *state = state_of(s, function);
    if (state->module_version != s->module_version) {
        memset(state->holds_with_module, 0, sizeof state->holds_with_module);
        state->module_version = s->module_version;
    }
    uint64_t *mask = saw == SAW_MODULE     ? state->holds_with_module
                     : saw == SAW_FUNCTION ? state->holds
                                           : class_of(s, state)->facts;
    mask[checker / 64] |= 1ull << checker % 64;
}
