#include "tools/check/symbol_search.h"

#include "ir/verify/ranges.h"
#include "tools/base/tool_diag.h"
#include "tools/check/call_work.h"

#include <inttypes.h>
#include <string.h>

enum { CANDIDATES_MAX = 24 };

typedef struct searched {
    str_id name;
    bool is_given;
    int64_t candidates[CANDIDATES_MAX];
    uint32_t candidate_count, at; /* the value is candidates[at] */
} searched;

typedef struct search {
    module *m;
    ir_context *c;
    op_id function;
    searched symbols[SYMBOL_SEARCH_SYMBOLS_MAX];
    uint32_t count, known; /* the first `known` symbols have a value */
    bool is_too_many;
    uint64_t work_max;   /* 0: none */
    uint32_t work_tries; /* values that were more work */
} search;

static void add_symbol(void *self, str_id name)
{
    search *s = self;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->symbols[i].name == name) return;
    }
    if (s->count == SYMBOL_SEARCH_SYMBOLS_MAX)
        s->is_too_many = true;
    else
        s->symbols[s->count++] = (searched){.name = name};
}

static const type_node *parameter_type(const search *s, uint32_t i)
{
    return type_at(s->c, value_type(s->m, block_arg(s->m, function_body(s->m, s->function), i)));
}

static void collect_symbols(search *s)
{
    const uint32_t count = block_arg_count(s->m, function_body(s->m, s->function));
    for (uint32_t i = 0; i < count; i++) {
        const type_node *t = parameter_type(s, i);
        for (uint32_t d = 0; d < t->rank; d++) expr_visit_symbols(s->c, t->dims[d], add_symbol, s);
    }
}

static void add_candidate(searched *s, int64_t value, expr_range range)
{
    if (value < 0 || value < range.lo || value > range.hi || s->candidate_count == CANDIDATES_MAX) return;
    for (uint32_t i = 0; i < s->candidate_count; i++) {
        if (s->candidates[i] == value) return;
    }
    s->candidates[s->candidate_count++] = value;
}

/* Primes above one fractal, another one for each symbol, so that extents that need not be equal are not; then what
 * facts most often require. */
static void set_candidates(search *s, uint32_t index)
{
    static const int64_t primes[] = {37, 41, 43, 47},
                         others[] = {5, 3, 7, 2, 1, 48, 32, 64, 16, 128, 256, 512, 1024, 0};
    searched *symbol = &s->symbols[index];
    const op_id first = block_first(s->m, function_body(s->m, s->function));
    const expr_range range = op_expr_range(s->m, first, expr_symbol(s->c, symbol->name));
    const uint32_t prime_count = sizeof primes / sizeof primes[0];
    add_candidate(symbol, primes[index % prime_count], range);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        add_candidate(symbol, others[i], range);
        if (i == 4 && range.lo > 0) add_candidate(symbol, range.lo, range);
        if (i == 4 && range.lo > 0) add_candidate(symbol, range.lo + 1, range);
    }
    if (range.hi != INT64_MAX) add_candidate(symbol, range.hi, range);
}

static void set_symbols(search *s, uint32_t given_count, const given_symbol *given)
{
    for (uint32_t i = 0; i < s->count; i++) {
        searched *symbol = &s->symbols[i];
        for (uint32_t g = 0; g < given_count && !symbol->is_given; g++) {
            if (!str_eq(given[g].name, string_of(s->c, symbol->name))) continue;
            symbol->is_given = true;
            symbol->candidates[symbol->candidate_count++] = given[g].value;
        }
        if (!symbol->is_given) set_candidates(s, i);
    }
}

static bool value_of_symbol(void *self, str_id name, int64_t *out)
{
    const search *s = self;
    for (uint32_t i = 0; i < s->known; i++) {
        if (s->symbols[i].name != name) continue;
        *out = s->symbols[i].candidates[s->symbols[i].at];
        return true;
    }
    return false;
}

/* No fact whose symbols are all known is broken. */
static bool facts_hold(search *s)
{
    const expr_values values = {.symbol = value_of_symbol, .self = s};
    const attr_id facts = op_attr(s->m, s->function, "facts");
    for (uint32_t i = 0; facts != 0 && i < attr_at(s->c, facts)->count; i++) {
        relation r;
        expr_id sides[2];
        int64_t left, right;
        if (!fact_read(s->c, attr_at(s->c, facts)->items[i], &r, &sides[0], &sides[1])) continue;
        if (!expr_eval(s->c, sides[0], &values, &left) || !expr_eval(s->c, sides[1], &values, &right)) continue;
        if (!relation_holds(r, left, right)) return false;
    }
    return true;
}

/* Of one tensor, empty extents taken as 1; -1 when an extent is negative or has no value. More than any limit is
 * INT64_MAX >> 8. */
static int64_t count_of_type(search *s, const type_node *t)
{
    const expr_values values = {.symbol = value_of_symbol, .self = s};
    int64_t n = 1, extent;
    for (uint32_t d = 0; d < t->rank; d++) {
        if (!expr_eval(s->c, t->dims[d], &values, &extent) || extent < 0) return -1;
        /* Loops around an empty one run nevertheless. */
        if (__builtin_mul_overflow(n, extent > 0 ? extent : 1, &n) || n > INT64_MAX >> 8) n = INT64_MAX >> 8;
    }
    return n;
}

/* Elements of all parameters and results, with every symbol known; -1 when there are no such extents. */
static int64_t count_elements(search *s)
{
    const uint32_t count = block_arg_count(s->m, function_body(s->m, s->function));
    const attr_id results = op_attr(s->m, s->function, "results");
    const uint32_t result_count = results ? attr_at(s->c, results)->count : 0;
    int64_t all = 0;
    for (uint32_t i = 0; i < count + result_count; i++) {
        const type_node *t = i < count ? parameter_type(s, i)
                                       : type_at(s->c, attr_at(s->c, attr_at(s->c, results)->items[i - count])->id);
        const int64_t n = count_of_type(s, t);
        if (n < 0) return -1;
        if (__builtin_add_overflow(all, n, &all)) all = INT64_MAX;
    }
    return all;
}

/* Goes on to the next assignment: the last known symbol gets its next value. False when all were tried. */
static bool advance(search *s)
{
    while (s->known > 0) {
        searched *last = &s->symbols[s->known - 1];
        if (++last->at < last->candidate_count) return true;
        last->at = 0;
        s->known--;
    }
    return false;
}

static void take_values(arena *a, const search *s, uint32_t *out_count, given_symbol **out)
{
    *out_count = s->count;
    *out = arena_array(a, s->count, sizeof **out);
    for (uint32_t i = 0; i < s->count; i++)
        (*out)[i] = (given_symbol){.name = string_of(s->c, s->symbols[i].name),
                                   .value = s->symbols[i].candidates[s->symbols[i].at]};
}

/* Whether a call with the values of now is little enough work; else the first such values are kept in `passed`. */
static bool is_little_work(arena *a, search *s, symbol_search_passed *passed)
{
    const expr_values values = {.symbol = value_of_symbol, .self = s};
    if (s->work_max == 0 || passed == NULL) return true;
    const uint64_t work = call_work(s->m, s->function, &values);
    if (work <= s->work_max) return true;
    if (s->work_tries++ == 0) {
        passed->work = work;
        take_values(a, s, &passed->count, &passed->symbols);
    }
    return false;
}

/* True when values for all symbols were found with at most so many elements; `least` becomes the fewest seen. */
static bool find(arena *a, search *s, int64_t elements_max, int64_t *least, symbol_search_passed *passed)
{
    for (uint32_t i = 0; i < s->count; i++) s->symbols[i].at = 0;
    s->known = 0;
    for (uint32_t step = 0; step < SYMBOL_SEARCH_STEPS_MAX; step++) {
        if (facts_hold(s)) {
            if (s->known < s->count) {
                if (s->symbols[s->known].candidate_count == 0) return false;
                s->known++;
                continue;
            }
            const int64_t elements = count_elements(s);
            if (elements >= 0 && (*least < 0 || elements < *least)) *least = elements;
            if (elements >= 0 && elements <= elements_max && is_little_work(a, s, passed)) return true;
            if (s->work_tries == SYMBOL_SEARCH_WORK_MAX) return false;
        }
        if (!advance(s)) return false;
    }
    return false;
}

static status fail(search *s, int64_t least)
{
    diag_engine *d = context_diags(s->c);
    const src_pos at = op_pos(s->m, s->function);
    const str name = string_of(s->c, function_name(s->m, s->function));
    if (least > SYMBOL_SEARCH_ELEMENTS_MAX)
        diag_error(d, at, &E1903,
                   "@%.*s is too large to be run after every step: its parameters and results have %" PRId64
                   " elements, the limit is %d",
                   (int)name.n, name.p, least, SYMBOL_SEARCH_ELEMENTS_MAX);
    else
        diag_error(d, at, &E1903, "no small values were found for the symbols of @%.*s that its facts allow",
                   (int)name.n, name.p);
    diag_note(d, NO_POS, "give the symbols with --sym NAME=N, or inputs of your own with pto-run --check=semantics");
    return FAILED;
}

bool symbol_search_within(arena *a, module *m, op_id function, uint32_t given_count, const given_symbol *given,
                          int64_t elements_max, uint32_t *out_count, given_symbol **out)
{
    search s = {.m = m, .c = module_context(m), .function = function};
    int64_t least = -1;
    collect_symbols(&s);
    set_symbols(&s, given_count, given);
    if (s.is_too_many || !find(a, &s, elements_max, &least, NULL)) return false;
    take_values(a, &s, out_count, out);
    return true;
}

status symbol_search(arena *a, module *m, op_id function, uint32_t given_count, const given_symbol *given,
                     uint64_t work_max, uint32_t *out_count, given_symbol **out, symbol_search_passed *passed)
{
    search s = {.m = m, .c = module_context(m), .function = function, .work_max = work_max};
    int64_t least = -1;
    *passed = (symbol_search_passed){0};
    collect_symbols(&s);
    set_symbols(&s, given_count, given);
    if (!s.is_too_many && s.count != 0 && find(a, &s, SYMBOL_SEARCH_ELEMENTS, &least, passed)) {
        take_values(a, &s, out_count, out);
        return OK;
    }
    s.work_max = s.work_tries = 0;
    *passed = (symbol_search_passed){0};
    if (s.is_too_many ||
        (!find(a, &s, SYMBOL_SEARCH_ELEMENTS, &least, NULL) && !find(a, &s, SYMBOL_SEARCH_ELEMENTS_MAX, &least, NULL)))
        return fail(&s, least);
    take_values(a, &s, out_count, out);
    return OK;
}
