/* Small values for the symbols of a function, so that it can be run on inputs that nobody gave. */
#ifndef TOOLS_CHECK_SYMBOL_SEARCH_H
#define TOOLS_CHECK_SYMBOL_SEARCH_H

#include "tools/run/call_binding.h"

enum {
    SYMBOL_SEARCH_SYMBOLS_MAX = 32,
    SYMBOL_SEARCH_STEPS_MAX = 1 << 16,   /* values tried, in all */
    SYMBOL_SEARCH_ELEMENTS = 1 << 18,    /* of all parameters and results; aimed at */
    SYMBOL_SEARCH_ELEMENTS_MAX = 1 << 24 /* never exceeded */
};

/* Finds values for every symbol of the parameters that is not among `given` a value: primes first, so that tiles have
 * tails; all facts hold and all extents are 0 or more. `given` symbols that the function does not have are left out. On
 * failure a diagnostic names what is too large or cannot be found, and --sym. The same module has the same values. */
MUST_CHECK status symbol_search(arena *a, module *m, op_id function, uint32_t given_count, const given_symbol *given,
                                uint32_t *out_count, given_symbol **out);
/* The same without a diagnostic, and with at most so many elements. */
bool symbol_search_within(arena *a, module *m, op_id function, uint32_t given_count, const given_symbol *given,
                          int64_t elements_max, uint32_t *out_count, given_symbol **out);

#endif
