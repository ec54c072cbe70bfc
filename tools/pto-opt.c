/* pto-opt: reads a module, runs a pipeline over it, prints what comes out. */
#include "ir/text/printer.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/session/tool_main.h"

static const char usage[] = "pto-opt [options] FILE.ptir [-o OUT]";
static const char summary[] = "Parses, verifies, transforms and prints a module. `-` reads standard input.\n"
                              "Without --pipeline or --passes nothing is transformed.";

static status write_out(void *self, const char *p, size_t n)
{
    file_writer *w = self;
    file_writer_put(w, p, n);
    return w->failed ? FAILED : OK;
}

static print_options form_of(const session *s)
{
    return (print_options){.generic = command_line_has(s->line, OPTION_PRINT_GENERIC),
                           .locations = command_line_has(s->line, OPTION_PRINT_LOCATIONS)};
}

static const char *output_path(const session *s)
{
    const char *path = command_line_value(s->line, OPTION_OUTPUT);
    return path != NULL ? path : "-";
}

static status open_output(session *s, file_writer *w) { return file_writer_open(w, s->diags, output_path(s)); }

static exit_status print_module(session *s, module *m)
{
    file_writer w;
    if (open_output(s, &w) != OK) return EXIT_STATUS_OUTPUT;
    text_buffer t;
    text_init(&t);
    t.flush = write_out;
    t.self = &w;
    const print_options form = form_of(s);
    compile_trace_begin(s->trace, "print", STR("print"), NULL);
    module_print(m, &form, &t);
    const status flushed = text_finish(&t);
    compile_trace_end(s->trace);
    text_fini(&t);
    const status written = file_writer_commit(&w);
    return flushed == OK && written == OK ? EXIT_STATUS_OK : EXIT_STATUS_OUTPUT;
}

/* The page of --compare in place of the module. */
static exit_status print_comparison(session *s, module *m, module *other)
{
    file_writer w;
    if (open_output(s, &w) != OK) return EXIT_STATUS_OUTPUT;
    text_buffer t;
    text_init(&t);
    const print_options form = form_of(s);
    const bool is_same = session_write_comparison(s, m, other, &form, &t);
    file_writer_put(&w, t.p, t.n);
    text_fini(&t);
    if (file_writer_commit(&w) != OK) return EXIT_STATUS_OUTPUT;
    return is_same ? EXIT_STATUS_OK : EXIT_STATUS_NO;
}

/* What says how the module is printed says nothing of what a generator writes in its place. */
static status check_printing(const session *s, const run_agent *generator)
{
    static const uint32_t options[] = {OPTION_PRINT_GENERIC, OPTION_PRINT_LOCATIONS, OPTION_COMPARE};
    for (size_t i = 0; generator != NULL && i < sizeof options / sizeof *options; i++) {
        if (!command_line_has(s->line, options[i])) continue;
        diag_error(
            s->diags, (src_pos){"pto-opt", 0, 0}, &E1504,
            "option `--%s` has no effect with `-o %s`: code generator %s writes that, not the printer of modules",
            cli_options[options[i]].name, output_path(s), generator->id);
        return FAILED;
    }
    return OK;
}

static exit_status compile(session *s, module *m, module *other, flight_recorder *recorder)
{
    const run_agent *generator;
    TRY_AS(EXIT_STATUS_USAGE, session_find_generator(s, output_path(s), output_path(s), &generator));
    TRY_AS(EXIT_STATUS_USAGE, check_printing(s, generator));
    TRY_EXIT(session_compile(s, m, recorder));
    if (other != NULL) TRY_EXIT(session_compile_other(s, other, recorder));
    if (session_answers_after_compile(s)) return EXIT_STATUS_OK;
    if (generator != NULL) return session_generate(s, m, generator, output_path(s), recorder);
    return other != NULL ? print_comparison(s, m, other) : print_module(s, m);
}

/* The symbols that options `id` state. */
static status read_symbols(const session *s, uint32_t id, uint32_t *count, given_symbol **out)
{
    *out = arena_array(s->arena, s->line->use_count, sizeof **out);
    *count = 0;
    for (uint32_t i = 0; i < s->line->use_count; i++) {
        const cli_use *use = &s->line->uses[i];
        if (use->option != id) continue;
        TRY(given_symbol_read(s->diags, "pto-opt", cli_options[id].name, use->value, &(*out)[(*count)++]));
    }
    return OK;
}

/* What --check=semantics runs the functions on. */
static status read_inputs(session *s)
{
    int64_t seed = 1;
    if (!session_checks_semantics(s)) return OK;
    TRY(command_line_i64(s->diags, s->line, OPTION_CHECK_SEED, 1, INT64_MAX, 1, &seed));
    s->semantics = (semantics_request){.seed = (uint64_t)seed, .finds_inputs = true};
    given_symbol *symbols;
    TRY(read_symbols(s, OPTION_CHECK_SYM, &s->semantics.symbol_count, &symbols));
    s->semantics.symbols = symbols;
    return OK;
}

static exit_status run(session *s, flight_recorder *recorder)
{
    exit_status code;
    TRY_EXIT(session_open_pipeline(s, NULL));
    TRY_EXIT(session_open_other(s));
    if (session_answers_after_pipeline(s, &code)) return code;
    if (s->line->argument_count != 1) {
        diag_error(s->diags, (src_pos){"pto-opt", 0, 0}, &E1504, "one input file is needed, %u are given",
                   s->line->argument_count);
        diag_note(s->diags, NO_POS, "usage: %s", usage);
        return EXIT_STATUS_USAGE;
    }
    given_symbol *expected;
    uint32_t expected_count;
    if (read_inputs(s) != OK || read_symbols(s, OPTION_LIKELY, &expected_count, &expected) != OK)
        return EXIT_STATUS_USAGE;
    module *m = NULL;
    TRY_EXIT(session_read_module(s, s->line->arguments[0], &m));
    const status taken = session_expect(s, m, expected_count, expected, true);
    module *other = taken == OK && session_compares(s) ? module_clone(m) : NULL;
    code = taken == OK ? compile(s, m, other, recorder) : EXIT_STATUS_USAGE;
    if (other != NULL) module_destroy(other);
    module_destroy(m);
    return code;
}

int main(int argc, char **argv)
{
    static const cli_tool tool = {"pto-opt", usage, summary, TOOL_OPT, NULL, NULL, run};
    return tool_main(&tool, argc, argv);
}
