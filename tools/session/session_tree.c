/* `-o` with the name of a folder: the files that the code generator of the pipeline writes, what they were made with,
 * and a manifest. */
#include "tools/base/digest.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/run/output_folder.h"
#include "tools/session/session.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

bool session_names_folder(const char *path)
{
    struct stat st;
    const size_t n = strlen(path);
    const char *slash = strrchr(path, '/'), *last = slash != NULL ? slash + 1 : path;
    if (n == 0 || strcmp(path, "-") == 0) return false;
    if (stat(path, &st) == 0) return S_ISDIR(st.st_mode);
    return last[0] == 0 || strchr(last, '.') == NULL;
}

/* ---- what the generator hands over; nothing is written before all of it is there ---- */

typedef struct tree_part {
    const char *name;
    text_buffer text;
    struct tree_part *next;
} tree_part;

typedef struct tree {
    session *s;
    tree_part *first, **end, *last;
} tree;

static tree_part *add(tree *t, const char *name)
{
    tree_part *p = arena_alloc(t->s->arena, sizeof *p);
    *p = (tree_part){.name = arena_strdup(t->s->arena, name)};
    text_init(&p->text);
    *t->end = t->last = p;
    t->end = &p->next;
    return p;
}

static pto_status begin_file(void *self, const char *name)
{
    tree *t = self;
    for (const tree_part *p = t->first; p != NULL; p = p->next) {
        if (strcmp(p->name, name) != 0) continue;
        diag_error(t->s->diags, (src_pos){name, 0, 0}, &E1715, "the code generator writes this file twice");
        return PTO_FAILED;
    }
    if (output_folder_takes_name(str_from(name))) {
        (void)add(t, name);
        return PTO_OK;
    }
    diag_error(t->s->diags, (src_pos){name, 0, 0}, &E1715, "the code generator writes a file that has no plain name");
    return PTO_FAILED;
}

static pto_status put_bytes(void *self, const char *text, size_t n)
{
    tree *t = self;
    if (t->last == NULL && begin_file(t, "module.txt") != PTO_OK) return PTO_FAILED;
    text_put(&t->last->text, text, n);
    return PTO_OK;
}

/* ---- what it was made with ---- */

/* The effective pipeline without the places that it is from: the same in every folder. */
static void add_pipeline(tree *t)
{
    text_buffer all;
    text_init(&all);
    session_write_pipeline(t->s, &all);
    text_buffer *out = &add(t, "pipeline.yaml")->text;
    str rest = {all.p, all.n};
    while (rest.n > 0) {
        const char *newline = memchr(rest.p, '\n', rest.n);
        str line = {rest.p, newline != NULL ? (size_t)(newline - rest.p) : rest.n};
        rest = (str){line.p + line.n + 1, rest.n > line.n ? rest.n - line.n - 1 : 0};
        const char *remark = memmem(line.p, line.n, "  # ", 4);
        const bool is_words = memmem(line.p, line.n, "doc: ", 5) != NULL;
        if (remark != NULL && !is_words) line.n = (size_t)(remark - line.p);
        if (str_starts_with(line, "machine: ") && t->s->opened.machine != NULL)
            text_printf(out, "machine: %s.yaml\n", t->s->opened.machine->name);
        else
            text_printf(out, "%.*s\n", (int)line.n, line.p);
    }
    text_fini(&all);
}

static status add_machine(tree *t)
{
    const pipeline *p = t->s->opened.pipeline;
    str bytes;
    if (p->machine == NULL) return OK;
    TRY(file_read(t->s->arena, t->s->diags, p->machine, UINT64_C(1) << 24, &bytes));
    text_put(&add(t, "machine.yaml")->text, bytes.p, bytes.n);
    return OK;
}

static void add_schedule(tree *t)
{
    const machine *m = t->s->opened.machine;
    schedule_write(t->s->request.schedule, m != NULL ? m->name : NULL, &add(t, "schedule.yaml")->text);
}

/* Names, sizes and digests of all files, and a digest of these lines: what has the same one is the same tree. */
static void add_manifest(tree *t, const module *m, const run_agent *generator)
{
    tree_part *const files = t->first;
    text_buffer lines;
    text_init(&lines);
    for (const tree_part *p = files; p != NULL; p = p->next)
        text_printf(&lines, "    { \"name\": \"%s\", \"bytes\": %zu, \"fnv1a64\": \"%016" PRIx64 "\" }%s\n", p->name,
                    p->text.n, digest_add(DIGEST_OF_NOTHING, p->text.p, p->text.n), p->next != NULL ? "," : "");
    text_buffer *out = &add(t, "manifest.json")->text;
    const char *file = string_of(t->s->context, module_file(m)).p, *slash = strrchr(file, '/');
    text_printf(out, "{\n  \"pto-manifest\": 1,\n  \"generator\": \"%s\",\n  \"module\": ", generator->id);
    text_put_quoted(out, str_from(slash != NULL ? slash + 1 : file));
    text_puts(out, ",\n  \"pipeline\": ");
    text_put_quoted(out, str_from(t->s->opened.pipeline->name != NULL ? t->s->opened.pipeline->name : ""));
    text_puts(out, ",\n  \"machine\": ");
    text_put_quoted(out, str_from(t->s->opened.machine != NULL ? t->s->opened.machine->name : ""));
    text_printf(out, ",\n  \"fnv1a64\": \"%016" PRIx64 "\",\n  \"files\": [\n%s  ]\n}\n",
                digest_add(DIGEST_OF_NOTHING, lines.p, lines.n), lines.p);
    text_fini(&lines);
}

/* ---- all of it ---- */

static status write_all(tree *t, const char *path)
{
    output_folder *folder;
    status s = output_folder_open(t->s->arena, t->s->diags, path, &folder);
    for (const tree_part *p = t->first; p != NULL && s == OK; p = p->next)
        s = output_folder_write(folder, str_from(p->name), (str){p->text.p, p->text.n});
    output_folder_close(folder);
    return s;
}

exit_status session_generate_tree(session *s, module *m, const run_agent *generator, const char *path,
                                  flight_recorder *recorder)
{
    tree t = {.s = s};
    t.end = &t.first;
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &t, .write = put_bytes, .file = begin_file};
    exit_status code = session_generate_text(s, m, generator, &sink, recorder);
    if (code == EXIT_STATUS_OK) {
        add_pipeline(&t);
        add_schedule(&t);
        const status read = add_machine(&t);
        add_manifest(&t, m, generator);
        if (read != OK || write_all(&t, path) != OK) code = EXIT_STATUS_OUTPUT;
    }
    for (tree_part *p = t.first; p != NULL; p = p->next) text_fini(&p->text);
    return code;
}
