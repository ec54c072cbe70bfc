/* Any bytes: parsing ends in a module or in a diagnostic. What the verifier accepts prints, reads back and prints the
 * same, in the custom and in the generic form. */
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static module *parse(diag_engine *d, ir_context *c, str text)
{
    module *m = NULL;
    uint32_t before = diag_error_count(d);
    status s = parse_module(c, text, "fuzz.ptir", &m);
    BUG_IF((s == OK) != (m != NULL), "parse_module and its result disagree");
    BUG_IF(s != OK && diag_error_count(d) == before, "parsing failed without a diagnostic");
    return m;
}

static void print(module *m, bool generic, text_buffer *out)
{
    text_init(out);
    module_print(m, &(print_options){.generic = generic}, out);
}

static void check_round_trip(diag_engine *d, ir_context *c, module *m, bool generic)
{
    text_buffer once, custom, again;
    print(m, generic, &once);
    print(m, false, &custom);
    module *back = parse(d, c, (str){once.p, once.n});
    BUG_IF(back == NULL, "what was printed does not parse:\n%s", once.p);
    print(back, generic, &again);
    BUG_IF(!str_eq((str){once.p, once.n}, (str){again.p, again.n}), "printing again differs:\n%s\n----\n%s", once.p,
           again.p);
    text_fini(&again);
    print(back, false, &again);
    BUG_IF(!str_eq((str){custom.p, custom.n}, (str){again.p, again.n}), "the custom form differs:\n%s\n----\n%s",
           custom.p, again.p);
    module_destroy(back);
    text_fini(&once);
    text_fini(&custom);
    text_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    diag_engine *d = diag_create(NULL, 0);
    ir_context *c = context_create(d);
    module *m = parse(d, c, (str){(const char *)data, size});
    if (m != NULL && module_verify(m) == OK) {
        check_round_trip(d, c, m, false);
        check_round_trip(d, c, m, true);
    } else if (m != NULL) {
        text_buffer t;
        print(m, false, &t);
        text_fini(&t);
        print(m, true, &t);
        text_fini(&t);
    }
    if (m != NULL) module_destroy(m);
    context_destroy(c);
    diag_destroy(d);
    return 0;
}
