/* Binding a call: tensors and symbol values to a function's parameters, every extent checked.
 *
 * A parameter dim that is a bare symbol binds it; --sym sets further values; all other dims, repeated symbols and the
 * facts of the function are checked, with both arguments and numbers in the message. */
#ifndef TOOLS_RUN_CALL_BINDING_H
#define TOOLS_RUN_CALL_BINDING_H

#include "ir/module.h"
#include "ir/text/output_names.h"
#include "tools/run/tensor_file.h"

#include <pto/backend.h>

/* What a caller passes for a parameter: an array, or the text of a scalar. */
typedef struct given_tensor {
    str name;         /* parameter, without `%` */
    const char *path; /* for messages */
    const tensor_array *array;
    bool is_lent;      /* the elements are for one call, which may read them where they are */
    const char *value; /* NULL: `array` counts */
    src_pos value_at;  /* where `value` was written */
} given_tensor;

typedef struct given_symbol {
    str name; /* without `$` */
    int64_t value;
    bool is_fixed; /* of a `tune`: call_fix_symbols has used it */
} given_symbol;

/* How messages about a call name what its caller types; NULL: as the tools have it. */
typedef struct call_words {
    const char *array;        /* what a tensor comes in: "file" */
    const char *symbol;       /* what sets a symbol: "--sym" */
    const char *symbol_value; /* "--sym NAME=N" */
    bool takes_options;       /* options of a tool are a way out */
} call_words;

/* From the text NAME=N of an option of a tool; fails after a diagnostic. */
MUST_CHECK status given_symbol_read(diag_engine *d, const char *tool, const char *option, const char *text,
                                    given_symbol *out);

typedef struct bound_tensor {
    str name; /* parameter name, or "out<i>" of a result; the name of the returned value when it has one */
    dtype type;
    uint32_t rank;
    int64_t dims[TYPE_MAX_RANK];
    uint64_t element_count;
    uint8_t *data;  /* contiguous; inputs are copies, so a run cannot change the caller's, unless they are lent */
    bool is_output; /* result, out or inout */
    bool is_input;
    bool is_scalar;       /* not a tensor: one element, of rank 0 */
    uint32_t alias;       /* a result that is the memory of a parameter: its number + 1; else 0 */
    uint64_t random_seed; /* call_fill has to fill it; 0: nothing to do */
    pto_tensor abi;
} bound_tensor;

typedef struct bound_call {
    op_id function;
    bound_tensor *tensors; /* parameters in order, then results */
    uint32_t parameter_count, result_count;
    str *symbols;
    int64_t *values;
    uint32_t symbol_count;
} bound_call;

/* The function that computes constants of `function`: `@f.init` of @f; 0: there is none. */
op_id call_init_of(const module *m, op_id function);
/* Whether a parameter of the function mentions the symbol, or did before passes put something in its place. */
bool call_has_symbol(const module *m, op_id function, str name);

/* Whether it is a public function and not the `@f.init` of another. */
bool call_is_entry(const module *m, op_id f);
/* The function named `entry`, or, when entry is NULL, the only public one that is not the `@f.init` of another; 0 after
 * a diagnostic. */
op_id call_entry(module *m, const char *entry);

/* Before compilation: the names in the user's text, in memory of `a`; none when call_entry would find no function. */
void call_output_names(arena *a, module *m, const char *entry, output_names *out);

/* After it: the outputs of the compiled function, whose values passes have named, get those names again. Nothing
 * happens when a pass changed how many there are. */
void call_name_outputs(bound_call *call, const output_names *names);

/* The value of a symbol of the call; false: it has none. */
bool bound_call_value(const bound_call *call, str symbol, int64_t *out);
/* Before compilation: symbols of `tune`, in any function, that are given get their values and the module is verified
 * again. Afterwards: none may be left, since what runs has no ranges. */
MUST_CHECK status call_fix_symbols(module *m, uint32_t symbol_count, given_symbol *symbols);
MUST_CHECK status call_check_fixed(module *m, const call_words *words);

/* Binds. Inputs without a tensor: an error, unless `random_seed` is not 0: then call_fill fills them. Memory of tensors
 * comes from `a`. */
MUST_CHECK status call_bind(arena *a, module *m, op_id function, uint32_t tensor_count, const given_tensor *tensors,
                            uint32_t symbol_count, const given_symbol *symbols, uint64_t random_seed,
                            const call_words *words, bound_call *out);

/* The same for tensors that stay where the caller has them, all of which are given as arrays: no memory is taken for
 * them and nothing is copied. `data` of an input is that of its array; of an output it is NULL, for the caller to set,
 * as is that of a result that is the memory of a parameter. */
MUST_CHECK status call_bind_in_place(arena *a, module *m, op_id function, uint32_t tensor_count,
                                     const given_tensor *tensors, uint32_t symbol_count, const given_symbol *symbols,
                                     const call_words *words, bound_call *out);

/* The seed of the random numbers of one parameter, not 0; `random_seed` is that of the call. */
uint64_t call_input_seed(uint64_t random_seed, uint32_t parameter);

/* Fills the inputs that nobody gave with small random numbers, always the same for a seed; those of an index are not
 * negative. Not before something reads them: a layer has many. */
void call_fill(const bound_call *call);

#endif
