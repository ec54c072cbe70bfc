/* pto-run: compiles a module, runs it on tensors, compares the results. */
#include "core/core_diag.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/check/run_compare.h"
#include "tools/report/report.h"
#include "tools/run/backend_run.h"
#include "tools/run/call_init.h"
#include "tools/run/call_value.h"
#include "tools/run/data_maker.h"
#include "tools/run/expectation.h"
#include "tools/run/run_case.h"
#include "tools/run/run_counters.h"
#include "tools/run/run_json.h"
#include "tools/run/run_rates.h"
#include "tools/session/case_folder.h"
#include "tools/session/tool_main.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "pto-run [options] FILE.ptir --in NAME=FILE ...   or   pto-run --case CASE.yaml [FILE.ptir]";
static const char summary[] =
    "Compiles a module (pipeline default.yaml unless another is named), runs it on tensors and compares.";

/* Executions before those that --repeat asks for, where a clock of this machine counts: pages, caches and threads. */
enum { WARM_UPS = 2 };

/* One pipeline's module on the inputs of the job. */
typedef struct execution {
    bound_call call;
    backend_result result;
    run_work work; /* known where a clock of this machine counts */
} execution;

typedef struct run_job {
    session *s;
    flight_recorder *recorder;
    const char *name, *size; /* of a case */
    const char *module_path, *entry;
    given_tensor *tensors; /* those of a case first */
    uint32_t tensor_count, case_input_count;
    given_symbol *symbols;
    uint32_t symbol_count;
    given_symbol *expected; /* what symbols most likely are */
    uint32_t expected_count;
    const case_size *size_taken; /* NULL: no case */
    expectation *expectations;
    uint32_t expectation_count;
    int64_t seed, shuffle, repeat, rebind;
    output_names output_names;
    output_folder *report; /* or NULL */
    execution first;
    bool is_executed;    /* `first` is filled */
    exit_status failure; /* exit status when reading the job fails */
} run_job;

static bool prints_json(const run_job *j) { return command_line_has(j->s->line, OPTION_JSON); }

static src_pos tool(void) { return (src_pos){"pto-run", 0, 0}; }

/* "name=rest" of an option's value. */
static status split(diag_engine *d, const char *option, const char *text, str *name, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || !equals[1]) {
        diag_error(d, tool(), &E1503, "option `--%s` needs NAME=VALUE, not `%s`", option, text);
        return FAILED;
    }
    *name = (str){text, (size_t)(equals - text)};
    if (name->p[0] == '%' || name->p[0] == '$') *name = (str){name->p + 1, name->n - 1};
    *rest = equals + 1;
    return OK;
}

static status read_array(run_job *j, const char *path, const tensor_array **out)
{
    tensor_array *array = arena_alloc(j->s->arena, sizeof *array);
    if (access(tensor_path(j->s->arena, path), R_OK) == 0) j->failure = EXIT_STATUS_INPUT;
    TRY(tensor_read(j->s->arena, j->s->diags, path, array));
    j->failure = EXIT_STATUS_USAGE;
    *out = array;
    return OK;
}

static status read_f64(diag_engine *d, const command_line *line, uint32_t option, double *out)
{
    const char *text = command_line_value(line, option);
    *out = 0;
    if (text == NULL || (str_to_f64(str_from(text), out) == OK && *out >= 0)) return OK;
    diag_error(d, tool(), &E1503, "option `--%s` needs a number that is not negative, not `%s`",
               cli_options[option].name, text);
    return FAILED;
}

/* `text` is a file or, like a number, a value. */
static status add_input(run_job *j, str name, const char *text)
{
    given_tensor *t = &j->tensors[j->tensor_count];
    *t = (given_tensor){.name = name, .path = text, .value_at = tool()};
    if (call_value_is_text(text))
        t->value = text;
    else
        TRY(read_array(j, text, &t->array));
    j->tensor_count++;
    return OK;
}

static status add_expectation(run_job *j, str name, const char *path)
{
    expectation *e = &j->expectations[j->expectation_count++];
    *e = (expectation){.name = name, .comparison = {.rule = COMPARE_TOLERANCE, .terms = 1}, .rule_text = "tolerance"};
    TRY(read_f64(j->s->diags, j->s->line, OPTION_RTOL, &e->comparison.rtol));
    TRY(read_f64(j->s->diags, j->s->line, OPTION_ATOL, &e->comparison.atol));
    return read_array(j, path, &e->comparison.want);
}

/* An input has one value: none of two is taken in silence. */
static status refuse_second(const run_job *j, str name)
{
    for (uint32_t i = 0; i < j->tensor_count; i++) {
        if (!str_eq(j->tensors[i].name, name)) continue;
        diag_error(j->s->diags, tool(), &E1504, "input `%.*s` is given twice: %s and --in", (int)name.n, name.p,
                   i < j->case_input_count ? "--case" : "--in");
        return FAILED;
    }
    return OK;
}

static status take_options(run_job *j)
{
    const command_line *line = j->s->line;
    for (uint32_t i = 0; i < line->use_count; i++) {
        const uint32_t option = line->uses[i].option;
        if (option == OPTION_SYM)
            TRY(given_symbol_read(j->s->diags, line->tool, cli_options[option].name, line->uses[i].value,
                                  &j->symbols[j->symbol_count++]));
        if (option != OPTION_IN && option != OPTION_EXPECT && option != OPTION_OUT) continue;
        str name;
        const char *rest;
        TRY(split(j->s->diags, cli_options[option].name, line->uses[i].value, &name, &rest));
        if (option == OPTION_IN) {
            TRY(refuse_second(j, name));
            TRY(add_input(j, name, rest));
        }
        int64_t number = 0;
        if (option == OPTION_EXPECT && str_to_i64(str_from(rest), &number) == OK)
            TRY(given_symbol_read(j->s->diags, line->tool, cli_options[option].name, line->uses[i].value,
                                  &j->expected[j->expected_count++]));
        else if (option == OPTION_EXPECT)
            TRY(add_expectation(j, name, rest));
    }
    return OK;
}

static status size_terms(diag_engine *d, const case_output *o, const case_size *size, double *out)
{
    int64_t n = 0;
    if (str_to_i64(o->terms, &n) == OK && n > 0) {
        *out = (double)n;
        return OK;
    }
    for (uint32_t i = 0; o->terms.n > 1 && o->terms.p[0] == '$' && i < size->symbol_count; i++) {
        if (!str_eq(size->symbols[i].name, (str){o->terms.p + 1, o->terms.n - 1})) continue;
        *out = (double)size->symbols[i].value;
        return OK;
    }
    diag_error(d, o->at, &E1033, "`terms` is `%.*s`: neither a positive number nor a symbol of this size",
               (int)o->terms.n, o->terms.p);
    return FAILED;
}

/* The data folder that --data-dir names, or a temporary one. */
static const char *make_folder(run_job *j, bool *is_temporary)
{
    const char *folder = command_line_value(j->s->line, OPTION_DATA_DIR);
    *is_temporary = folder == NULL;
    if (folder != NULL) {
        if (mkdir(folder, 0777) == 0 || errno == EEXIST) return folder;
    } else {
        folder = case_folder_make(j->s->arena);
        if (folder != NULL) {
            FLIGHT_SET(j->recorder, folder, str_from(folder));
            return folder;
        }
    }
    diag_error(j->s->diags, tool(), &E1501, "cannot create the data folder: %s", strerror(errno));
    return NULL;
}

/* What a case names, `what`, is missing: that is said where it is named. */
static status check_named(const run_job *j, src_pos at, const char *what, const char *path)
{
    struct stat st;
    const int error = stat(path, &st) != 0 || access(path, R_OK) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (error == 0) return OK;
    diag_error(j->s->diags, at, &E1501, "cannot read the %s `%s`: %s", what, path, strerror(error));
    return FAILED;
}

static status read_case_array(run_job *j, src_pos at, const char *folder, const char *file, const tensor_array **out)
{
    const char *path = file_join(j->s->arena, folder, file);
    TRY(check_named(j, at, "tensor file", tensor_path(j->s->arena, path)));
    const status s = read_array(j, path, out);
    if (s != OK) diag_note(j->s->diags, at, "the case names it here");
    return s;
}

static status load_case_data(run_job *j, const case_description *c, const case_size *size, const char *folder)
{
    for (uint32_t i = 0; i < c->input_count; i++) {
        given_tensor *t = &j->tensors[j->tensor_count];
        *t = (given_tensor){.name = c->inputs[i].parameter,
                            .path = file_join(j->s->arena, folder, c->inputs[i].file),
                            .value_at = c->inputs[i].at};
        if (call_value_is_text(c->inputs[i].file))
            t->value = c->inputs[i].file;
        else
            TRY(read_case_array(j, c->inputs[i].at, folder, c->inputs[i].file, &t->array));
        j->tensor_count++;
    }
    for (uint32_t i = 0; i < c->output_count; i++) {
        const case_output *o = &c->outputs[i];
        expectation *e = &j->expectations[j->expectation_count++];
        *e = (expectation){.name = o->parameter,
                           .comparison = {.rule = o->rule, .rtol = o->rtol, .atol = o->atol},
                           .rule_text = compare_rule_name(o->rule)};
        TRY(size_terms(j->s->diags, o, size, &e->comparison.terms));
        TRY(read_case_array(j, o->expect_at, folder, o->expect, &e->comparison.want));
        if (o->magnitude != NULL)
            TRY(read_case_array(j, o->magnitude_at, folder, o->magnitude, &e->comparison.magnitude));
    }
    return OK;
}

static status take_case(run_job *j, const char *path)
{
    if (flight_recorder_phase(j->recorder, "reading the case")) return FAILED;
    case_description *c = arena_alloc(j->s->arena, sizeof *c);
    TRY(case_read(j->s->arena, j->s->diags, path, c));
    j->name = c->name;
    const char *size_name = command_line_value(j->s->line, OPTION_SIZE);
    const case_size *size = case_size_by_name(j->s->diags, c, str_from(size_name != NULL ? size_name : "small"));
    if (size == NULL) return FAILED;
    j->size_taken = size;
    j->size = size->name.p;
    if (j->s->line->argument_count == 0) TRY(check_named(j, c->module_at, "module", c->module));
    if (c->data != NULL) TRY(check_named(j, c->data_at, "data program", c->data));
    j->module_path = c->module;
    if (j->entry == NULL) j->entry = c->entry;
    j->tensors = arena_array(j->s->arena, j->s->line->use_count + c->input_count, sizeof *j->tensors);
    j->expectations = arena_array(j->s->arena, j->s->line->use_count + c->output_count, sizeof *j->expectations);
    bool is_temporary = false;
    const char *folder = make_folder(j, &is_temporary);
    if (folder == NULL) return FAILED;
    status s = OK;
    const char *share = session_share_folder(j->s->arena);
    if (flight_recorder_phase(j->recorder, "making and reading the data of the case")) return FAILED;
    if (c->data != NULL)
        s = data_maker_run(j->s->arena, j->s->diags, c, size, command_line_value(j->s->line, OPTION_PYTHON),
                           share != NULL ? file_join(j->s->arena, share, "examples") : NULL, folder);
    if (s == OK) s = load_case_data(j, c, size, folder);
    if (is_temporary) {
        file_remove_tree(folder);
        FLIGHT_SET(j->recorder, folder, STR(""));
    }
    if (!is_temporary && !session_is_quiet(j->s))
        fprintf(stderr, "%s, size %.*s, data in %s\n", c->name, (int)size->name.n, size->name.p, folder);
    return s;
}

static status read_job(run_job *j)
{
    const command_line *line = j->s->line;
    const char *case_path = command_line_value(line, OPTION_CASE);
    if (line->argument_count > 1 || (case_path == NULL && line->argument_count == 0)) {
        diag_error(j->s->diags, tool(), &E1504, "%s, %u are given",
                   case_path != NULL ? "one file at most is allowed beside --case" : "one input file is needed",
                   line->argument_count);
        diag_note(j->s->diags, NO_POS, "usage: %s", usage);
        return FAILED;
    }
    TRY(command_line_i64(j->s->diags, line, OPTION_RANDOM_INPUTS, 1, INT64_MAX, 0, &j->seed));
    TRY(command_line_i64(j->s->diags, line, OPTION_SHUFFLE, 1, INT64_MAX, 0, &j->shuffle));
    TRY(command_line_i64(j->s->diags, line, OPTION_REPEAT, 1, 1000000, 1, &j->repeat));
    TRY(command_line_i64(j->s->diags, line, OPTION_REBIND, 1, 1000000, 0, &j->rebind));
    j->entry = command_line_value(line, OPTION_ENTRY);
    j->symbols = arena_array(j->s->arena, line->use_count, sizeof *j->symbols);
    j->expected = arena_array(j->s->arena, line->use_count, sizeof *j->expected);
    j->tensors = arena_array(j->s->arena, line->use_count, sizeof *j->tensors);
    j->expectations = arena_array(j->s->arena, line->use_count, sizeof *j->expectations);
    if (case_path != NULL) TRY(take_case(j, case_path));
    j->case_input_count = j->tensor_count;
    if (line->argument_count == 1) j->module_path = line->arguments[0];
    return take_options(j);
}

static status check_outputs(run_job *j, const bound_call *call)
{
    TRY(expectations_check(j->s->diags, j->s->line->tool, call, j->expectation_count, j->expectations));
    for (uint32_t i = 0; i < j->s->line->use_count; i++) {
        if (j->s->line->uses[i].option != OPTION_OUT) continue;
        str name;
        const char *rest;
        TRY(split(j->s->diags, "out", j->s->line->uses[i].value, &name, &rest));
        if (expectation_output(j->s->diags, j->s->line->tool, call, name) == NULL) return FAILED;
    }
    return OK;
}

static status write_outputs(run_job *j, const bound_call *call)
{
    tensor_output *outputs = arena_array(j->s->arena, j->s->line->use_count, sizeof *outputs);
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->s->line->use_count; i++) {
        if (j->s->line->uses[i].option != OPTION_OUT) continue;
        str name;
        const char *path;
        TRY(split(j->s->diags, "out", j->s->line->uses[i].value, &name, &path));
        const bound_tensor *t = expectation_output(j->s->diags, j->s->line->tool, call, name);
        if (t == NULL) return FAILED;
        outputs[count++] = (tensor_output){path, t->name, t->type, t->rank, t->dims, t->data};
    }
    return tensor_write(j->s->arena, j->s->diags, count, outputs);
}

static void print_counters(const run_job *j, const backend_result *r)
{
    text_buffer t;
    text_init(&t);
    run_counters_print(r, command_line_has(j->s->line, OPTION_COUNTERS), &t);
    run_rates_print(j->s->opened.machine, &j->first.work, r, &t);
    fwrite(t.p, 1, t.n, stdout);
    text_fini(&t);
}

/* `q` holds what the run produced. */
static status write_report(const run_job *j, module *m, const report_request *q)
{
    session *s = j->s;
    text_buffer command, yaml, files;
    text_init(&command);
    text_init(&yaml);
    text_init(&files);
    command_line_write(s->line, &command);
    if (s->opened.pipeline->name != NULL) session_write_pipeline(s, &yaml);
    report_request request = *q;
    request.folder = j->report;
    request.m = m;
    request.opened = &s->opened;
    request.command = command.p;
    request.pipeline = yaml.n > 0 ? yaml.p : "";
    const status result = report_write(s->arena, &request, &files);
    if (result == OK) {
        for (size_t i = 0; i < files.n; i++)
            if (files.p[i] == '\n') files.p[i] = i + 1 < files.n ? ' ' : '\0';
        if (!session_is_quiet(s)) fprintf(stderr, "report in %s: %s\n", output_folder_path(j->report), files.p);
    }
    text_fini(&command);
    text_fini(&yaml);
    text_fini(&files);
    return result;
}

/* `trace`: filled when a report is asked for; NULL: none is. */
static exit_status execute(run_job *j, const loaded_pipeline *opened, module *m, run_trace *trace, execution *out)
{
    session *s = j->s;
    if (flight_recorder_phase(j->recorder, "making the inputs")) return EXIT_STATUS_RESOURCES;
    for (uint32_t i = 0; i < j->tensor_count; i++) j->tensors[i].is_lent = !session_compares(s);
    const op_id f = call_entry(m, j->entry);
    if (f == 0 || call_check_fixed(m, NULL) != OK) return EXIT_STATUS_INPUT;
    given_call given = {f, j->tensor_count, j->symbol_count, j->tensors, j->symbols, (uint64_t)j->seed, NULL};
    const bound_call *init = NULL;
    TRY_EXIT(call_init_bind(s->arena, m, &given, &init));
    if (j->rebind != 0 && !call_has_constants(m, f)) {
        diag_error(s->diags, tool(), &E1504,
                   "option `--rebind` has no effect: the function has no parameters that are `const`");
        return EXIT_STATUS_USAGE;
    }
    if (call_bind(s->arena, m, f, given.tensor_count, given.tensors, given.symbol_count, given.symbols,
                  given.random_seed, NULL, &out->call) != OK)
        return EXIT_STATUS_INPUT;
    call_name_outputs(&out->call, &j->output_names);
    if (check_outputs(j, &out->call) != OK) return EXIT_STATUS_INPUT;
    const char *folder = trace != NULL ? command_line_value(s->line, OPTION_REPORT) : NULL;
    if (folder != NULL) TRY_AS(EXIT_STATUS_OUTPUT, output_folder_open(s->arena, s->diags, folder, &j->report));
    const backend_request request = {
        .seed = (uint64_t)j->shuffle,
        .folder = folder != NULL ? j->report : NULL,
        .reserves = report_writes_name,
        .trace = trace,
        .repeat = (uint32_t)j->repeat,
        .warm_up = j->repeat > 1 && run_counters_has_clock(opened->contract.backend) ? WARM_UPS : 0,
        .rebind = (uint32_t)j->rebind,
        .init = init};
    if (flight_recorder_phase(j->recorder, "running the backend")) return EXIT_STATUS_RESOURCES;
    compile_trace_begin(s->trace, "run", str_from(opened->contract.backend_id), NULL);
    const exit_status ran = backend_run(s->arena, opened, &request, m, &out->call, j->recorder, &out->result);
    compile_trace_end(s->trace);
    if (ran == EXIT_STATUS_OK && run_counters_has_clock(opened->contract.backend))
        run_work_count(s->arena, m, &out->call, &out->work);
    return ran;
}

static exit_status run_first(run_job *j, module *m, bool *out_is_equal)
{
    execution *first = &j->first;
    session *s = j->s;
    run_trace trace;
    run_trace_init(&trace, s->arena, m);
    exit_status code = EXIT_STATUS_OK;
    TRY_EXIT(execute(j, &s->opened, m, &trace, first));
    j->is_executed = true;
    if (flight_recorder_phase(j->recorder, "writing the outputs")) return EXIT_STATUS_RESOURCES;
    if (write_outputs(j, &first->call) != OK) return EXIT_STATUS_OUTPUT;
    if (flight_recorder_phase(j->recorder, "comparing the outputs")) return EXIT_STATUS_RESOURCES;
    text_buffer outcome;
    text_init(&outcome);
    *out_is_equal = expectations_compare(&first->call, j->expectation_count, j->expectations, &outcome);
    if (outcome.n > 0 && session_compares(s)) printf("this:\n");
    if (outcome.n > 0 && !prints_json(j)) fwrite(outcome.p, 1, outcome.n, stdout);
    if (!session_compares(s) && !prints_json(j)) print_counters(j, &first->result);
    const report_request report = {
        .call = &first->call, .result = &first->result, .trace = &trace, .outcome = outcome.n > 0 ? outcome.p : ""};
    if (flight_recorder_phase(j->recorder, "writing the report"))
        code = EXIT_STATUS_RESOURCES;
    else if (j->report != NULL && write_report(j, m, &report) != OK)
        code = EXIT_STATUS_OUTPUT;
    text_fini(&outcome);
    return code;
}

/* The outputs of both pipelines: `input` is the module before any step. */
static exit_status compare_both(run_job *j, module *input, const execution *first, const execution *other,
                                bool *out_is_equal, text_buffer *page)
{
    session *s = j->s;
    bool is_same = false;
    const semantics_bounds *bounds = NULL;
    arena *sets = NULL;
    if (flight_recorder_phase(j->recorder, "comparing the outputs")) return EXIT_STATUS_RESOURCES;
    if (run_compare_bits(&first->call, &other->call, &is_same) != OK) {
        diag_error(s->diags, tool(), &E1904,
                   "the outputs of the two pipelines differ in number, element type or extents");
        return EXIT_STATUS_FAILED;
    }
    if (flight_recorder_phase(j->recorder, "finding the bounds of the numbers")) return EXIT_STATUS_RESOURCES;
    if (!is_same) TRY_EXIT(semantics_find_bounds(s->host, &s->semantics, input, j->recorder, &sets, &bounds));
    if (flight_recorder_phase(j->recorder, "comparing the outputs")) return EXIT_STATUS_RESOURCES;
    text_puts(page, "\n");
    *out_is_equal &= run_compare_outputs(&first->call, &other->call, bounds, page);
    if (sets != NULL) arena_destroy(sets);
    text_puts(page, "\n");
    run_compare_counters(&first->result, &other->result, command_line_has(s->line, OPTION_COUNTERS), page);
    return EXIT_STATUS_OK;
}

/* The other pipeline, and the page of both. */
static exit_status run_other(run_job *j, module *m, module *other, module *input, const execution *first,
                             bool *out_is_equal)
{
    session *s = j->s;
    execution second = {0};
    TRY_EXIT(session_compile_other(s, other, j->recorder));
    TRY_EXIT(execute(j, &s->other, other, NULL, &second));
    text_buffer page;
    text_init(&page);
    if (j->expectation_count > 0) text_puts(&page, "other:\n");
    *out_is_equal &= expectations_compare(&second.call, j->expectation_count, j->expectations, &page);
    text_putc(&page, '\n');
    session_write_comparison(s, m, other, &(print_options){0}, &page);
    const exit_status code = compare_both(j, input, first, &second, out_is_equal, &page);
    if (code == EXIT_STATUS_OK) fwrite(page.p, 1, page.n, stdout);
    text_fini(&page);
    return code;
}

static exit_status compile_and_run(run_job *j, module *m)
{
    session *s = j->s;
    bool is_equal = true;
    module *input = session_compares(s) ? module_clone(m) : NULL, *other = input != NULL ? module_clone(m) : NULL;
    exit_status code = session_compile(s, m, j->recorder);
    if (code == EXIT_STATUS_OK) {
        if (!session_answers_after_compile(s)) code = run_first(j, m, &is_equal);
        if (code == EXIT_STATUS_OK && other != NULL) code = run_other(j, m, other, input, &j->first, &is_equal);
        if (code == EXIT_STATUS_OK && !is_equal) code = EXIT_STATUS_NO;
    }
    if (input != NULL) {
        module_destroy(input);
        module_destroy(other);
    }
    return code;
}

static status check_backends(const session *s)
{
    if (s->opened.contract.backend == NULL) {
        diag_error(s->diags, tool(), &E1710, "the pipeline names no backend; name one with --backend");
        return FAILED;
    }
    if (!session_compares(s) || s->other.contract.backend != NULL) return OK;
    diag_error(s->diags, tool(), &E1710, "the pipeline of --compare names no backend");
    return FAILED;
}

/* Sizes of a case are what its data is made for, and may be of no function; what the command line says goes before. */
static status expect_sizes(run_job *j, module *m)
{
    const uint32_t count = j->size_taken != NULL ? j->size_taken->symbol_count : 0;
    given_symbol *sizes = arena_array(j->s->arena, count, sizeof *sizes);
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = (given_symbol){.name = j->size_taken->symbols[i].name, .value = j->size_taken->symbols[i].value};
    TRY(session_expect(j->s, m, count, sizes, false));
    return session_expect(j->s, m, j->expected_count, j->expected, true);
}

static exit_status run_module(run_job *j)
{
    session *s = j->s;
    exit_status code;
    TRY_EXIT(session_open_pipeline(s, command_line_value(s->line, OPTION_BACKEND)));
    TRY_EXIT(session_open_other(s));
    if (session_answers_after_pipeline(s, &code)) return code;
    if (check_backends(s) != OK) return EXIT_STATUS_USAGE;
    if (read_job(j) != OK) return j->failure;
    module *m = NULL;
    TRY_EXIT(session_read_module(s, j->module_path, &m));
    call_output_names(s->arena, m, j->entry, &j->output_names);
    s->semantics = (semantics_request){.entry = j->entry,
                                       .tensor_count = j->tensor_count,
                                       .tensors = j->tensors,
                                       .symbol_count = j->symbol_count,
                                       .symbols = j->symbols,
                                       .seed = (uint64_t)j->seed};
    if (call_fix_symbols(m, j->symbol_count, j->symbols) != OK || expect_sizes(j, m) != OK)
        code = EXIT_STATUS_INPUT;
    else
        code = compile_and_run(j, m);
    output_folder_close(j->report);
    module_destroy(m);
    return code;
}

/* One case, or one module on what the command line names. */
static exit_status run(session *s, flight_recorder *recorder)
{
    run_job j = {.s = s, .recorder = recorder, .failure = EXIT_STATUS_USAGE};
    const exit_status code = run_module(&j);
    if (!prints_json(&j)) return code;
    const run_json r = {.name = j.name,
                        .size = j.size,
                        .module = j.module_path,
                        .backend = s->opened.contract.backend_id,
                        .status = (int)code,
                        .call = j.is_executed ? &j.first.call : NULL,
                        .result = j.is_executed ? &j.first.result : NULL,
                        .machine = s->opened.machine,
                        .work = j.first.work.is_known ? &j.first.work : NULL,
                        .expectation_count = j.expectation_count,
                        .expectations = j.expectations,
                        .diags = s->diags};
    text_buffer t;
    text_init(&t);
    run_json_write(&r, &t);
    fwrite(t.p, 1, t.n, stdout);
    text_fini(&t);
    return code;
}

/* ---- one worker for each case ---- */

/* The same line for one of the cases of its file. */
static command_line line_of_case(arena *a, const command_line *line, const char *text)
{
    command_line one = *line;
    one.uses = arena_array(a, line->use_count, sizeof *one.uses);
    memcpy(one.uses, line->uses, line->use_count * sizeof *one.uses);
    for (uint32_t i = 0; i < one.use_count; i++)
        if (one.uses[i].option == OPTION_CASE) one.uses[i].value = text;
    return one;
}

/* What is written or given for one run makes no sense for several. */
static status check_several(diag_engine *d, const command_line *line, const char *first)
{
    for (uint32_t i = 0; i < line->use_count; i++) {
        const uint32_t o = line->uses[i].option;
        if (!cli_options[o].is_output && o != OPTION_IN && o != OPTION_EXPECT && o != OPTION_DATA_DIR) continue;
        diag_error(d, tool(), &E1504, "option `--%s` is for one case, and the file has several", cli_options[o].name);
        diag_note(d, NO_POS, "name one, as --case %s", first);
        return FAILED;
    }
    if (line->argument_count == 0) return OK;
    diag_error(d, tool(), &E1504, "a module is given for one case, and the file has several");
    diag_note(d, NO_POS, "name one, as --case %s", first);
    return FAILED;
}

/* Runs one worker; what it prints goes to `out`. */
static status run_captured(const command_line *line, text_buffer *out, int *code)
{
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO), page = memfd_create("what a run prints", MFD_CLOEXEC);
    const bool is_ready = saved >= 0 && page >= 0 && dup2(page, STDOUT_FILENO) >= 0;
    if (is_ready) {
        *code = session_supervise(line, run);
        fflush(stdout);
        dup2(saved, STDOUT_FILENO);
        char piece[1 << 14];
        off_t at = 0;
        for (ssize_t n; (n = pread(page, piece, sizeof piece, at)) > 0; at += n) text_put(out, piece, (size_t)n);
    }
    if (saved >= 0) close(saved);
    if (page >= 0) close(page);
    return is_ready ? OK : FAILED;
}

/* The object of a worker; one that died left none. */
static int run_as_json(diag_engine *d, const command_line *line, text_buffer *out)
{
    int code = EXIT_STATUS_RESOURCES;
    const size_t before = out->n;
    if (run_captured(line, out, &code) != OK)
        diag_error(d, tool(), &E1501, "cannot keep what a run prints: %s", strerror(errno));
    if (out->n == before)
        run_json_write(&(run_json){.name = command_line_value(line, OPTION_CASE), .status = code}, out);
    return code;
}

/* Differing outputs count less than what did not run. */
static int worse_of(int x, int y)
{
    return x == EXIT_STATUS_OK || (x == EXIT_STATUS_NO && y != EXIT_STATUS_OK) ? y : x;
}

static int run_all(arena *a, diag_engine *d, const command_line *line, text_buffer *json)
{
    const char *text = command_line_value(line, OPTION_CASE), *const *cases = NULL;
    uint32_t count = 1;
    int code = EXIT_STATUS_OK;
    if (text != NULL && case_list(a, d, text, &cases, &count) != OK) return EXIT_STATUS_USAGE;
    if (count > 1 && check_several(d, line, cases[0]) != OK) return EXIT_STATUS_USAGE;
    for (uint32_t i = 0; i < count; i++) {
        const command_line one = text != NULL ? line_of_case(a, line, cases[i]) : *line;
        if (json == NULL && count > 1) {
            printf("%s%s:\n", i > 0 ? "\n" : "", cases[i]);
            fflush(stdout);
        }
        if (json != NULL && i > 0) text_puts(json, ",\n");
        code = worse_of(code, json != NULL ? run_as_json(d, &one, json) : session_supervise(&one, run));
        if (code > 128) break; /* a signal of the user ended it */
    }
    return code;
}

static status check_standard_output(diag_engine *d, const command_line *line)
{
    for (uint32_t i = 0; i < line->use_count; i++) {
        const char *text = line->uses[i].value;
        const size_t n = text != NULL ? strlen(text) : 0;
        if (!cli_options[line->uses[i].option].is_output || n == 0 || text[n - 1] != '-') continue;
        if (n > 1 && text[n - 2] != '=') continue;
        diag_error(d, tool(), &E1509, "--%s and --json both go to standard output",
                   cli_options[line->uses[i].option].name);
        return FAILED;
    }
    return OK;
}

static int run_supervised(arena *a, diag_engine *d, const command_line *line)
{
    if (!command_line_has(line, OPTION_JSON)) return run_all(a, d, line, NULL);
    text_buffer runs, diagnostics;
    text_init(&runs);
    text_init(&diagnostics);
    const int code = check_standard_output(d, line) == OK ? run_all(a, d, line, &runs) : EXIT_STATUS_USAGE;
    run_json_write_diagnostics(d, &diagnostics);
    printf("{\"pto-run\": 1, \"status\": %d, \"diagnostics\": %s, \"runs\": [\n%s]}\n", code, diagnostics.p,
           runs.n > 0 ? runs.p : "");
    text_fini(&runs);
    text_fini(&diagnostics);
    return code;
}

/* By default, a module runs through the default pipeline. */
static void default_pipeline(arena *a, command_line *line)
{
    if (command_line_has(line, OPTION_PIPELINE) || command_line_has(line, OPTION_PASSES) ||
        command_line_has(line, OPTION_BACKEND))
        return;
    cli_use *uses = arena_array(a, line->use_count + 1u, sizeof *uses);
    if (line->use_count > 0) memcpy(uses, line->uses, line->use_count * sizeof *uses);
    uses[line->use_count++] = (cli_use){.option = OPTION_PIPELINE, .value = "default.yaml"};
    line->uses = uses;
}

int main(int argc, char **argv)
{
    static const cli_tool self = {"pto-run", usage, summary, TOOL_RUN, default_pipeline, run_supervised, NULL};
    return tool_main(&self, argc, argv);
}
