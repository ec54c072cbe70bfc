#include "tools/build/build_link.h"

#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/build/build_headers.h"
#include "tools/build/build_made.h"

#include <native_compiler.h>
#include <native_flags.h>
#include <native_scratch.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = NATIVE_FLAGS_MAX + 24, LIBRARY_BYTES_MAX = 1 << 30 };

static src_pos tool(void) { return (src_pos){"pto-build", 0, 0}; }

build_kind build_kind_of(const char *path)
{
    static const struct {
        const char *suffix;
        build_kind kind;
    } rows[] = {{".c", BUILD_SOURCE}, {".o", BUILD_OBJECT}, {".a", BUILD_STATIC}, {".so", BUILD_SHARED}};
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t k = strlen(rows[i].suffix);
        if (n > k && strcmp(path + n - k, rows[i].suffix) == 0) return rows[i].kind;
    }
    return BUILD_NONE;
}

/* A build while it goes on, in its scratch folder. */
typedef struct builder {
    arena *a;
    diag_engine *d;
    const build_request *q;
    native_compiler compiler;
    native_scratch scratch;
    const char *flags[NATIVE_FLAGS_MAX];
    uint32_t flag_count;
} builder;

static const char *in_folder(const builder *b, const char *name) { return file_join(b->a, b->scratch.path, name); }

/* What is in the way of a temporary file is in the way of a compiler, too: the exit status is the same. */
static exit_status put_file(const builder *b, const char *name, str text)
{
    file_writer w;
    TRY_AS(EXIT_STATUS_FAILED, file_writer_open(&w, b->d, in_folder(b, name)));
    file_writer_put(&w, text.p, text.n);
    return file_writer_commit(&w) == OK ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}

static exit_status put_headers(const builder *b)
{
    const char *name = "";
    uint32_t i = 0;
    for (str text = build_header_at(i, &name); text.p != NULL; text = build_header_at(++i, &name))
        TRY_EXIT(put_file(b, name, text));
    return EXIT_STATUS_OK;
}

static exit_status put_files(const builder *b)
{
    text_buffer map;
    if (mkdir(in_folder(b, "pto"), 0700) != 0) {
        diag_error(b->d, tool(), &E1614, "the library cannot be made: temporary folder `%s` cannot be written: %s",
                   b->scratch.path, strerror(errno));
        return EXIT_STATUS_FAILED;
    }
    TRY_EXIT(put_headers(b));
    TRY_EXIT(put_file(b, "module.c", b->q->module));
    TRY_EXIT(put_file(b, "wrapper.c", b->q->wrapper));
    TRY_EXIT(put_file(b, "exports.txt", b->q->exports));
    text_init(&map);
    text_puts(&map, "{ global: ");
    for (size_t i = 0; i < b->q->exports.n; i++) text_putc(&map, b->q->exports.p[i] == '\n' ? ';' : b->q->exports.p[i]);
    text_puts(&map, " local: *; };\n");
    const exit_status s = put_file(b, "exports.map", (str){map.p, map.n});
    text_fini(&map);
    return s;
}

/* ---- programs ---- */

/* Runs one that is to make the file `made`, of a kind. */
static exit_status run(const builder *b, const native_compiler *program, const char *const *arguments, const char *made,
                       build_kind kind)
{
    native_error e;
    char flaw[BUILD_FLAW_BYTES];
    const native_compile job = {.folder = b->scratch.path, .arguments = {arguments}, .seconds_max = b->q->seconds_max};
    if (native_compiler_run(program, &job, &e) != NATIVE_OK) {
        diag_error(b->d, tool(), &E1614, "the library cannot be made: %s", e.text);
        return EXIT_STATUS_FAILED;
    }
    if (build_is_made(in_folder(b, made), kind, flaw)) return EXIT_STATUS_OK;
    diag_error(b->d, tool(), &E1614, "the library cannot be made: `%s` ended with status 0, but its output `%s` %s",
               program->path, made, flaw);
    return EXIT_STATUS_FAILED;
}

/* One of those that come with a compiler. */
static exit_status run_binary_tool(const builder *b, const char *name, const char *const *arguments, const char *made,
                                   build_kind kind)
{
    native_compiler program;
    if (native_compiler_find(name, &program, NULL) == NATIVE_OK) return run(b, &program, arguments, made, kind);
    diag_error(b->d, tool(), &E1614, "the program `%s` is in no folder of $PATH; the Debian package `binutils` has it",
               name);
    return EXIT_STATUS_PLUGIN;
}

/* The wrapper is compiled for every CPU of the kind: it says when the module is for another one. */
static exit_status compile(const builder *b, const char *source, const char *object, bool is_module)
{
    const char *arguments[ARGUMENTS_MAX];
    uint32_t n = 0, isa = 0;
    char width[64], module[300], instructions[64];
    snprintf(width, sizeof width, "-DPTO_VECTOR_BYTES=%" PRId64, b->q->vector_bytes);
    snprintf(module, sizeof module, "-Dpto_native_module_v1=pto_module_of_%.200s", b->q->name);
    for (uint32_t i = 0; i < b->flag_count; i++) {
        const bool is_instruction = strncmp(b->flags[i], "-m", 2) == 0;
        if (is_module || !is_instruction) arguments[n++] = b->flags[i];
        if (strcmp(b->flags[i], "-mavx2") == 0) isa |= 1;
        if (strcmp(b->flags[i], "-mavx512f") == 0) isa |= 2;
    }
    snprintf(instructions, sizeof instructions, "-DPTO_RUNTIME_ISA=%" PRIu32, isa);
    const char *const rest[] = {"-fPIC", "-fvisibility=hidden", "-I.", width, module, "-c", source, "-o", object};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) arguments[n++] = rest[i];
    if (!is_module) arguments[n++] = instructions;
    arguments[n] = NULL;
    return run(b, &b->compiler, arguments, object, BUILD_OBJECT);
}

static exit_status link_shared(const builder *b)
{
    char name[300];
    snprintf(name, sizeof name, "-Wl,-soname,lib%.200s.so", b->q->name);
    const char *const arguments[] = {"-shared",
                                     "-o",
                                     "result",
                                     "module.o",
                                     "wrapper.o",
                                     b->q->runtime,
                                     "-lm",
                                     "-lpthread",
                                     "-Wl,--version-script=exports.map",
                                     "-Wl,-z,now",
                                     "-Wl,-z,noexecstack",
                                     "-Wl,--as-needed",
                                     "-Wl,--no-undefined",
                                     name,
                                     NULL};
    return run(b, &b->compiler, arguments, "result", BUILD_SHARED);
}

/* One object, of which a linker sees the functions alone. */
static exit_status link_object(const builder *b, const char *result)
{
    const char *const join[] = {"-r", "-nostdlib", "-o", result, "module.o", "wrapper.o", b->q->runtime, NULL};
    const char *const hide[] = {"--keep-global-symbols=exports.txt", result, NULL};
    TRY_EXIT(run(b, &b->compiler, join, result, BUILD_OBJECT));
    return run_binary_tool(b, "objcopy", hide, result, BUILD_OBJECT);
}

static exit_status make(const builder *b)
{
    char member[300];
    snprintf(member, sizeof member, "%.200s.o", b->q->name);
    const char *const archive[] = {"rcsD", "result", member, NULL};
    TRY_EXIT(compile(b, "module.c", "module.o", true));
    TRY_EXIT(compile(b, "wrapper.c", "wrapper.o", false));
    switch (b->q->kind) {
    case BUILD_SHARED: return link_shared(b);
    case BUILD_OBJECT: return link_object(b, "result");
    case BUILD_STATIC:
        TRY_EXIT(link_object(b, member));
        return run_binary_tool(b, "ar", archive, "result", BUILD_STATIC);
    case BUILD_NONE:
    case BUILD_SOURCE: break;
    }
    BUG_IF(true, "a kind of library that is not linked");
}

exit_status build_library(arena *a, diag_engine *d, const build_request *q, str *out)
{
    builder b = {.a = a, .d = d, .q = q};
    native_error e;
    if (access(q->runtime, R_OK) != 0) {
        diag_error(d, tool(), &E1614, "the runtime of libraries, `%s`, cannot be read: %s", q->runtime,
                   strerror(errno));
        return EXIT_STATUS_PLUGIN;
    }
    if (native_compiler_find(q->compiler, &b.compiler, &e) != NATIVE_OK) {
        diag_error(d, tool(), &E1614, "the library cannot be made: %s", e.text);
        return EXIT_STATUS_PLUGIN;
    }
    if (native_scratch_begin(&b.scratch, &e) != NATIVE_OK) {
        diag_error(d, tool(), &E1614, "the library cannot be made: %s", e.text);
        return EXIT_STATUS_FAILED;
    }
    b.flag_count = native_flags_upto(b.compiler.path, q->isa_bytes, b.flags);
    exit_status s = put_files(&b);
    if (s == EXIT_STATUS_OK) s = make(&b);
    if (s == EXIT_STATUS_OK && file_read(a, d, in_folder(&b, "result"), LIBRARY_BYTES_MAX, out) != OK)
        s = EXIT_STATUS_FAILED;
    native_scratch_end(&b.scratch);
    return s;
}
