/* What every module must bear: what the verifier accepts prints, reads back and prints the same, in the custom and in
 * the generic form; what it refuses prints at least. */
#ifndef FUZZ_ROUND_TRIP_H
#define FUZZ_ROUND_TRIP_H

#include "ir/op_table.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/tune.h"
#include "ir/verify/verifier.h"

static module *fuzz_parse(diag_engine *d, ir_context *c, str text)
{
    module *m = NULL;
    uint32_t before = diag_error_count(d);
    status s = parse_module(c, text, "fuzz.ptir", &m);
    BUG_IF((s == OK) != (m != NULL), "parse_module and its result disagree");
    BUG_IF(s != OK && diag_error_count(d) == before, "parsing failed without a diagnostic");
    return m;
}

static void fuzz_print(module *m, bool generic, text_buffer *out)
{
    text_init(out);
    module_print(m, &(print_options){.generic = generic}, out);
}

static void fuzz_round_trip(diag_engine *d, ir_context *c, module *m, bool generic)
{
    text_buffer once, custom, again;
    fuzz_print(m, generic, &once);
    fuzz_print(m, false, &custom);
    module *back = fuzz_parse(d, c, (str){once.p, once.n});
    BUG_IF(back == NULL, "what was printed does not parse:\n%s", once.p);
    fuzz_print(back, generic, &again);
    BUG_IF(!str_eq((str){once.p, once.n}, (str){again.p, again.n}), "printing again differs:\n%s\n----\n%s", once.p,
           again.p);
    text_fini(&again);
    fuzz_print(back, false, &again);
    BUG_IF(!str_eq((str){custom.p, custom.n}, (str){again.p, again.n}), "the custom form differs:\n%s\n----\n%s",
           custom.p, again.p);
    BUG_IF(module_verify(back) != OK, "what was printed does not verify:\n%s", once.p);
    module_destroy(back);
    text_fini(&once);
    text_fini(&custom);
    text_fini(&again);
}

/* Symbols that are left open are fixed at their least value. */
static void fuzz_fix_symbols(module *m)
{
    BLOCK_EACH_OP(m, f, module_top(m)) {
        for (op_id tune; (tune = tune_find(m, f, (str){NULL, 0})) != 0;)
            if (tune_fix(m, tune, tune_range_of(m, tune).lo) != OK) return;
    }
}

/* `ops`: those that there are besides the rows of ir/ops; NULL: none. */
static void fuzz_module_of(op_table *ops, str text)
{
    diag_engine *d = diag_create(NULL, 0);
    ir_context *c = context_create(d);
    context_set_ops(c, ops);
    module *m = fuzz_parse(d, c, text);
    bool is_valid = m != NULL && module_verify(m) == OK;
    if (is_valid) {
        fuzz_round_trip(d, c, m, false);
        fuzz_round_trip(d, c, m, true);
        fuzz_fix_symbols(m);
        is_valid = module_verify(m) == OK;
    }
    if (m != NULL && !is_valid) {
        text_buffer t;
        fuzz_print(m, false, &t);
        text_fini(&t);
        fuzz_print(m, true, &t);
        text_fini(&t);
    }
    if (m != NULL) module_destroy(m);
    context_destroy(c);
    diag_destroy(d);
}

static inline void fuzz_module(str text) { fuzz_module_of(NULL, text); }

#endif
