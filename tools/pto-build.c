/* pto-build: compiles a module to a library of C functions, which programs call that know nothing of pto. */
#include "core/core_diag.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/build/build_link.h"
#include "tools/build/build_settings.h"
#include "tools/build/build_wrapper.h"
#include "tools/library/library.h"
#include "tools/session/tool_main.h"

#include <native_flags.h>

#include <string.h>
#include <sys/stat.h>

static const char usage[] = "pto-build [options] FILE.ptir -o libNAME.so [--header FILE.h]";
static const char summary[] =
    "Compiles a module (pipeline native.yaml unless another is named) to a library: one C function, NAME_f, for each\n"
    "public function @f. What is written goes by the name: .so, .a, .o, or .c, the source of all of it. The library\n"
    "needs libc, libm and libpthread, and a CPU with the instructions of its machine: of this one unless --machine or\n"
    "--set=backend.with.isa names others.";

/* Of programs, where the backend has no option for it. */
static const double seconds_max = 600;

static src_pos tool(void) { return (src_pos){"pto-build", 0, 0}; }

/* Whether functions of a library would meet names that it is made of, by the first word. */
static bool is_of_others(const char *name)
{
    static const char *const words[] = {"pto", "PTO", "DLPACK"};
    const size_t n = strcspn(name, "_");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_is((str){name, n}, words[i])) return true;
    return false;
}

/* Nothing links what comes out of a pipe, which waits until somebody reads it. */
static bool is_file_or_new(const session *s, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode)) return true;
    diag_error(s->diags, (src_pos){path, 0, 0}, &E1501, "cannot write: this is not a regular file");
    return false;
}

/* What the functions begin with: that of --name, or of the file: "libop.so" is of op. */
static status find_name(const session *s, const char *path, const char **out)
{
    const char *given = command_line_value(s->line, OPTION_NAME);
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    if (strncmp(base, "lib", 3) == 0 && base[3] != '.') base += 3;
    const char *name = given != NULL ? given : arena_strndup(s->arena, base, (size_t)(strrchr(base, '.') - base));
    *out = name;
    if (is_of_others(name)) {
        diag_error(s->diags, tool(), &E1503,
                   "the name `%s` is taken: what begins with `%.*s_` is of pto itself or of DLPack; give another with "
                   "--name",
                   name, (int)strcspn(name, "_"), name);
        return FAILED;
    }
    if (build_is_name(str_from(name)) && strlen(name) <= 100) return OK;
    if (given != NULL)
        diag_error(s->diags, tool(), &E1503, "option `--name` needs the beginning of names in C, not `%s`", given);
    else
        diag_error(s->diags, tool(), &E1503,
                   "the functions of `%s` cannot begin with `%s`, which is not a name in C; name another file, or give "
                   "--name",
                   path, name);
    return FAILED;
}

static pto_status put(void *self, const char *text, size_t n)
{
    text_put(self, text, n);
    return PTO_OK;
}

/* A line for each function of the library. */
static void put_for_exports(text_buffer *t, str exports, const char *before, const char *after)
{
    for (size_t i = 0; i < exports.n;) {
        const char *name = exports.p + i, *end = memchr(name, '\n', exports.n - i);
        const int n = (int)(end - name);
        text_printf(t, "%s %.*s", before, n, name);
        if (after != NULL) text_printf(t, " %s%.*s", after, n, name);
        text_putc(t, '\n');
        i += (size_t)n + 1;
    }
}

/* As one file, whose first lines say how it is compiled. What the module has for itself does not meet the names of
 * functions: it is called otherwise. */
static void put_source(const build_request *q, text_buffer *t)
{
    const char *slash = strrchr(q->path, '/'), *flags[NATIVE_FLAGS_MAX];
    const uint32_t flag_count = native_flags_upto("cc", q->isa_bytes, flags);
    text_printf(t, "/* Made by pto-build %s. To compile:\n *   cc", library_version());
    for (uint32_t i = 0; i < flag_count; i++) text_printf(t, " %s", flags[i]);
    text_printf(t,
                " -DPTO_VECTOR_BYTES=%d $(pkg-config --cflags pto-runtime) -c %s\n"
                " *   and to link: $(pkg-config --libs pto-runtime) */\n"
                "#define pto_native_module_v1 pto_module_of_%s\n",
                (int)q->vector_bytes, slash != NULL ? slash + 1 : q->path, q->name);
    put_for_exports(t, q->exports, "#define", "pto_in_module_");
    text_put(t, q->module.p, q->module.n);
    text_putc(t, '\n');
    put_for_exports(t, q->exports, "#undef", NULL);
    text_put(t, q->wrapper.p, q->wrapper.n);
}

/* All texts of the library. */
typedef struct texts {
    text_buffer module, wrapper, header, exports, source;
} texts;

static exit_status make_library(session *s, build_request *q, module *m, const run_agent *generator,
                                flight_recorder *recorder, texts *t, str *library)
{
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &t->module, .write = put};
    TRY_EXIT(session_generate_text(s, m, generator, &sink, recorder));
    q->module = (str){t->module.p, t->module.n};
    q->wrapper = (str){t->wrapper.p, t->wrapper.n};
    q->exports = (str){t->exports.p, t->exports.n};
    if (q->kind != BUILD_SOURCE) return build_library(s->arena, s->diags, q, library);
    put_source(q, &t->source);
    *library = (str){t->source.p, t->source.n};
    return EXIT_STATUS_OK;
}

/* There is both or none. */
static status write_files(const session *s, const char *const paths[2], const str contents[2])
{
    file_writer list[2];
    for (uint32_t i = 0; i < 2 && paths[i] != NULL; i++) {
        if (file_writer_open(&list[i], s->diags, paths[i]) == OK) {
            file_writer_put(&list[i], contents[i].p, contents[i].n);
            continue;
        }
        if (i > 0) file_writer_abandon(&list[0]);
        return FAILED;
    }
    return file_writers_commit(list, paths[1] != NULL ? 2 : 1);
}

static exit_status make(session *s, build_request *q, module *m, const run_agent *generator, flight_recorder *recorder,
                        texts *t)
{
    const char *const paths[] = {q->path, command_line_value(s->line, OPTION_HEADER)};
    str library = STR("");
    TRY_AS(EXIT_STATUS_INPUT, build_wrapper_write(s->arena, m, q->name, &t->wrapper, &t->header, &t->exports));
    TRY_EXIT(make_library(s, q, m, generator, recorder, t, &library));
    const str contents[] = {library, {t->header.p, t->header.n}};
    TRY_AS(EXIT_STATUS_OUTPUT, write_files(s, paths, contents));
    return EXIT_STATUS_OK;
}

static exit_status build(session *s, build_request *q, flight_recorder *recorder)
{
    const run_agent *generator;
    module *m = NULL;
    texts t;
    const char *prefix = library_prefix(s->arena);
    q->runtime = file_join(s->arena, prefix != NULL ? prefix : "", "lib/pto/libpto_runtime.a");
    TRY_AS(EXIT_STATUS_USAGE, session_find_generator(s, q->path, "module.c", &generator));
    TRY_AS(EXIT_STATUS_USAGE, build_settings_read(s->diags, &s->opened, q));
    TRY_EXIT(session_read_module(s, s->line->arguments[0], &m));
    exit_status code = session_compile(s, m, recorder);
    text_init(&t.module);
    text_init(&t.wrapper);
    text_init(&t.header);
    text_init(&t.exports);
    text_init(&t.source);
    if (code == EXIT_STATUS_OK) code = make(s, q, m, generator, recorder, &t);
    text_fini(&t.module);
    text_fini(&t.wrapper);
    text_fini(&t.header);
    text_fini(&t.exports);
    text_fini(&t.source);
    module_destroy(m);
    return code;
}

static exit_status run(session *s, flight_recorder *recorder)
{
    const char *path = command_line_value(s->line, OPTION_LIBRARY);
    build_request q = {.path = path, .seconds_max = seconds_max};
    exit_status code;
    TRY_EXIT(session_open_pipeline(s, NULL));
    if (session_answers_after_pipeline(s, &code)) return code;
    if (s->line->argument_count != 1 || path == NULL) {
        if (path == NULL)
            diag_error(s->diags, tool(), &E1504, "the library has no name: give it with -o");
        else
            diag_error(s->diags, tool(), &E1504, "one input file is needed, %u are given", s->line->argument_count);
        diag_note(s->diags, NO_POS, "usage: %s", usage);
        return EXIT_STATUS_USAGE;
    }
    q.kind = build_kind_of(path);
    if (q.kind == BUILD_NONE) {
        diag_error(s->diags, tool(), &E1503, "the name `%s` does not say what to make; it ends in .so, .a, .o or .c",
                   path);
        return EXIT_STATUS_USAGE;
    }
    TRY_AS(EXIT_STATUS_USAGE, find_name(s, path, &q.name));
    if (!is_file_or_new(s, path)) return EXIT_STATUS_OUTPUT;
    return build(s, &q, recorder);
}

/* By default, a module runs through the pipeline for this CPU. */
static void default_pipeline(arena *a, command_line *line)
{
    if (command_line_has(line, OPTION_PIPELINE) || command_line_has(line, OPTION_PASSES)) return;
    cli_use *uses = arena_array(a, line->use_count + 1u, sizeof *uses);
    if (line->use_count > 0) memcpy(uses, line->uses, line->use_count * sizeof *uses);
    uses[line->use_count++] = (cli_use){.option = OPTION_PIPELINE, .value = "native.yaml"};
    line->uses = uses;
}

int main(int argc, char **argv)
{
    static const cli_tool self = {"pto-build", usage, summary, TOOL_BUILD, default_pipeline, NULL, run};
    return tool_main(&self, argc, argv);
}
