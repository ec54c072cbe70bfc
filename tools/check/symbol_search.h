/* Small values for the symbols of a function, so that it can be run on inputs that nobody gave. */
#ifndef TOOLS_CHECK_SYMBOL_SEARCH_H
#define TOOLS_CHECK_SYMBOL_SEARCH_H

#include "tools/run/call_binding.h"

enum {
    SYMBOL_SEARCH_SYMBOLS_MAX = 32,
    SYMBOL_SEARCH_STEPS_MAX = 1 << 16,   /* values tried, in all */
    SYMBOL_SEARCH_WORK_MAX = 1 << 8,     /* of which so many are looked at for what the ops make */
    SYMBOL_SEARCH_ELEMENTS = 1 << 18,    /* of all parameters and results; aimed at */
    SYMBOL_SEARCH_ELEMENTS_MAX = 1 << 24 /* never exceeded */
};

/* Values that would have been taken if a call with them was less work; count 0: there were none. */
typedef struct symbol_search_passed {
    uint64_t work; /* elements, as in call_work.h */
    uint32_t count;
    given_symbol *symbols;
} symbol_search_passed;

/* Finds values for every symbol of the parameters that is not among `given` a value: primes first, so that tiles have
 * tails; all facts hold and all extents are 0 or more. The ops make `work_max` elements at most where some values allow
 * that; then `passed` has the first ones that do not. `given` symbols that the function does not have are left out. On
 * failure a diagnostic names what is too large or cannot be found, and --sym. The same module has the same values. */
MUST_CHECK status symbol_search(arena *a, module *m, op_id function, uint32_t given_count, const given_symbol *given,
                                uint64_t work_max, uint32_t *out_count, given_symbol **out,
                                symbol_search_passed *passed);
/* The same without a diagnostic, and with at most so many elements. */
bool symbol_search_within(arena *a, module *m, op_id function, uint32_t given_count, const given_symbol *given,
                          int64_t elements_max, uint32_t *out_count, given_symbol **out);

#endif
