#include "core/host/plugin_host.h"

#include "core/core_diag.h"
#include "core/host/op_calls.h"
#include "core/host/plugin_load.h"
#include "core/host/run_context.h"
#include "core/program_path.h"
#include "ir/base/monotonic.h"

#include <pto/note.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Ends in NULL once anything was added. */
typedef struct text_list {
    const char **items;
    uint32_t count, capacity;
} text_list;

/* One id that a note provides, or the plugin's own. */
enum { OFFERS_ITSELF = PLUGIN_KIND_COUNT };
typedef struct offer {
    uint32_t kind; /* plugin_kind, or OFFERS_ITSELF */
    uint32_t file; /* its index */
    const char *id;
} offer;

struct plugin_host {
    arena *a;
    diag_engine *diags;
    plugin_host_params params;
    plugin_file **files;
    uint32_t file_count, file_capacity;
    offer *offers; /* of all files, once they are scanned: by kind, id and file */
    uint32_t offer_count;
    text_list folders;
    bool scanned, is_whole;
    status scan_result;
    run_registry *runs;
    op_table *ops;
    opset_calls calls; /* of functions of their ops */
};

static void text_list_add(arena *a, text_list *l, const char *text)
{
    /* One place stays free for the NULL that ends the list. */
    if (l->count + 1 >= l->capacity) l->items = arena_grow(a, l->items, l->count, &l->capacity, sizeof *l->items);
    l->items[l->count++] = text;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *const *text_list_sorted(text_list *l)
{
    static const char *const nothing[] = {NULL};
    if (l->count == 0) return nothing;
    qsort((void *)l->items, l->count, sizeof *l->items, compare_text);
    return l->items;
}

plugin_host_params plugin_host_defaults(void)
{
    return (plugin_host_params){.abi_minor = PTO_ABI_MINOR, .draft = PTO_ABI_DRAFT != 0};
}

uint32_t plugin_host_abi_minor(const plugin_host *h) { return h->params.abi_minor; }

op_table *plugin_host_ops(const plugin_host *h) { return h->ops; }

run_registry *plugin_host_runs(const plugin_host *h) { return h->runs; }

/* ---- accepting and refusing, from the note alone ---- */

#define REFUSE(h, f, code, ...) ((f)->refusal_code = &(code), (f)->refusal = text_format((h)->a, __VA_ARGS__))

static void check_draft(plugin_host *h, plugin_file *f)
{
    const elf_note *n = &f->note;
    const bool fits = (n->draft != 0) == h->params.draft && n->built_minor == h->params.abi_minor;
    if (fits) return;
    REFUSE(h, f, E1304,
           "plugin `%s` (%s) was built for %s plugin ABI %u.%u; this core has %s %d.%u, and a draft fits only "
           "its equal; rebuild the plugin with the headers of this core; nothing in the plugin was run",
           n->id, f->path, n->draft != 0 ? "draft" : "final", n->abi_major, n->built_minor,
           h->params.draft ? "draft" : "final", PTO_ABI_MAJOR, h->params.abi_minor);
}

static void check_version(plugin_host *h, plugin_file *f)
{
    const elf_note *n = &f->note;
    if (n->abi_major != PTO_ABI_MAJOR) {
        REFUSE(h, f, E1302,
               "plugin `%s` (%s) speaks plugin ABI %u.%u; this core (%d.%u) speaks only major %d; rebuild the "
               "plugin against the headers of this core, or use a core %u.x; nothing in the plugin was run",
               n->id, f->path, n->abi_major, n->built_minor, PTO_ABI_MAJOR, h->params.abi_minor, PTO_ABI_MAJOR,
               n->abi_major);
    } else if (h->params.draft || n->draft != 0) {
        check_draft(h, f);
    } else if (n->least_minor > h->params.abi_minor) {
        REFUSE(h, f, E1303,
               "plugin `%s` (%s) needs plugin ABI >= %u.%u; this core has %d.%u; upgrade the core, or build the "
               "plugin with PTO_ABI_LEAST_MINOR <= %u; nothing in the plugin was run",
               n->id, f->path, n->abi_major, n->least_minor, PTO_ABI_MAJOR, h->params.abi_minor, h->params.abi_minor);
    }
}

/* A sanitizer's run-time library cannot join a process that started without it. */
static void check_sanitizer(plugin_host *h, plugin_file *f)
{
    static const char *const names[] = {"no", "the address", "the thread", "the memory"};
    const uint32_t want = f->note.sanitizer;
    if (want == PTO_SANITIZER_NONE || want == PTO_SANITIZER_KIND) return;
    REFUSE(h, f, E1305,
           "plugin `%s` (%s) was built with %s sanitizer and this core with %s one; build both alike; nothing in "
           "the plugin was run",
           f->note.id, f->path, want < 4 ? names[want] : "an unknown", names[PTO_SANITIZER_KIND]);
}

static void check_tried(plugin_host *h, plugin_file *f)
{
    const plugin_refusal *r = h->params.refused;
    while (r != NULL && (r->device != f->identity.device || r->inode != f->identity.inode)) r = r->next;
    if (r == NULL) return;
    REFUSE(h, f, E1328, "plugin `%s` (%s) cannot be loaded: its code %s", f->note.id, f->path, r->why);
}

static void judge(plugin_host *h, plugin_file *f, const struct stat *st)
{
    if ((st->st_mode & S_IWOTH) != 0) {
        REFUSE(h, f, E1308,
               "plugin `%s` (%s) may be written to by anybody; take that right away (chmod o-w); nothing in the "
               "plugin was run",
               f->note.id, f->path);
        return;
    }
    check_version(h, f);
    if (f->refusal == NULL) check_sanitizer(h, f);
    if (f->refusal == NULL) check_tried(h, f);
}

/* ---- the list of files ---- */

static bool is_known(const plugin_host *h, struct plugin_identity id)
{
    for (uint32_t i = 0; i < h->file_count; i++) {
        const struct plugin_identity *known = &h->files[i]->identity;
        if (known->device == id.device && known->inode == id.inode) return true;
    }
    return false;
}

static void push_file(plugin_host *h, plugin_file *f)
{
    if (h->file_count == h->file_capacity)
        h->files = arena_grow(h->a, h->files, h->file_count, &h->file_capacity, sizeof *h->files);
    h->files[h->file_count++] = f;
}

/* Reads one note, of the file `name` of an open folder. `given`: by the user, so a file that is not a plugin is an
 * error and not just another file. */
static status add_file(plugin_host *h, int folder, const char *name, const char *path, bool given)
{
    struct stat st;
    plugin_file *f = arena_alloc(h->a, sizeof *f);
    const char *problem = NULL;
    int is_plugin = 0;
    if (elf_note_read(h->a, folder, name, &st, &f->note, &problem, &is_plugin) != OK) {
        const char *why = st.st_mode == 0 ? strerror(errno) : "", *colon = *why != '\0' ? ": " : "";
        if (given) diag_error(h->diags, NO_POS, &E1301, "`%s` %s%s%s", path, problem, colon, why);
        if (!given && is_plugin) diag_warning(h->diags, NO_POS, &E1301, "`%s` %s", path, problem);
        return FAILED;
    }
    const struct plugin_identity identity = {(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    if (is_known(h, identity)) return OK;
    f->path = arena_strdup(h->a, path);
    f->given = given;
    f->identity = identity;
    judge(h, f, &st);
    push_file(h, f);
    if (given && f->refusal != NULL) {
        diag_error(h->diags, NO_POS, f->refusal_code, "%s", f->refusal);
        f->load_failed = true;
        return FAILED;
    }
    return OK;
}

enum { FOLDER_FILES_MAX = 4096 };

/* Names of the *.so files of an open folder, sorted, since readdir's order is arbitrary. */
static const char *const *list_plugins(arena *a, DIR *folder)
{
    text_list names = {0};
    for (const struct dirent *e = readdir(folder); e != NULL && names.count < FOLDER_FILES_MAX; e = readdir(folder)) {
        const size_t n = strlen(e->d_name);
        if (n < 4 || e->d_name[0] == '.' || strcmp(e->d_name + n - 3, ".so") != 0) continue;
        text_list_add(a, &names, arena_strdup(a, e->d_name));
    }
    return text_list_sorted(&names);
}

/* `wanted`: named by the user, so it must be there and be safe; others are left out with a warning. */
static status add_folder(plugin_host *h, const char *path, bool wanted)
{
    DIR *folder = opendir(path);
    struct stat st;
    if (folder == NULL) {
        if (!wanted && (errno == ENOENT || errno == ENOTDIR)) return OK;
        static const char *const text = "the plugin folder `%s` cannot be read: %s";
        if (wanted) diag_error(h->diags, NO_POS, &E1309, text, path, strerror(errno));
        if (!wanted) diag_warning(h->diags, NO_POS, &E1309, text, path, strerror(errno));
        return wanted ? FAILED : OK;
    }
    const int fd = dirfd(folder);
    if (fd < 0 || fstat(fd, &st) != 0 || (st.st_mode & S_IWOTH) != 0) {
        static const char *const text = "the plugin folder `%s` may be written to by anybody and is not searched; take "
                                        "that right away (chmod o-w)";
        if (wanted) diag_error(h->diags, NO_POS, &E1308, text, path);
        if (!wanted) diag_warning(h->diags, NO_POS, &E1308, text, path);
        closedir(folder);
        return wanted ? FAILED : OK;
    }
    text_list_add(h->a, &h->folders, arena_strdup(h->a, path));
    for (const char *const *names = list_plugins(h->a, folder); *names != NULL; names++) {
        /* Files that are not plugins are skipped. */
        (void)!add_file(h, fd, *names, text_format(h->a, "%s/%s", path, *names), false);
    }
    closedir(folder);
    return OK;
}

static status add_path_variable(plugin_host *h)
{
    const char *list = secure_getenv("PTO_PLUGIN_PATH");
    status result = OK;
    while (list != NULL && *list != '\0') {
        const size_t n = strcspn(list, ":");
        const char *entry = arena_strndup(h->a, list, n);
        list += n + (list[n] == ':');
        if (n == 0) continue;
        if (*entry != '/') {
            diag_error(h->diags, NO_POS, &E1309, "PTO_PLUGIN_PATH names `%s`, which is not an absolute path", entry);
            result = FAILED;
        } else if (add_folder(h, entry, true) != OK) {
            diag_note(h->diags, NO_POS, "PTO_PLUGIN_PATH names it");
            result = FAILED;
        }
    }
    return result;
}

static status add_user_folder(plugin_host *h)
{
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME"), *path = NULL;
    if (data != NULL && *data == '/') {
        path = text_format(h->a, "%s/pto/plugins-%d", data, PTO_ABI_MAJOR);
    } else if (home != NULL && *home == '/') {
        path = text_format(h->a, "%s/.local/share/pto/plugins-%d", home, PTO_ABI_MAJOR);
    }
    return path != NULL ? add_folder(h, path, false) : OK;
}

static status add_own_folder(plugin_host *h)
{
    const char *prefix = h->params.prefix != NULL ? h->params.prefix : program_prefix(h->a);
    if (prefix == NULL) return OK;
    return add_folder(h, text_format(h->a, "%s/lib/pto/plugins-%d", prefix, PTO_ABI_MAJOR), false);
}

static status scan_all(plugin_host *h)
{
    status result = OK;
    for (const char *const *f = h->params.folders; f != NULL && *f != NULL; f++) {
        if (add_folder(h, *f, true) != OK) result = FAILED;
    }
    if (h->params.only_given) return result;
    if (add_path_variable(h) != OK) result = FAILED;
    if (add_user_folder(h) != OK) result = FAILED;
    return add_own_folder(h) == OK ? result : FAILED;
}

static int compare_offers(const void *a, const void *b)
{
    const offer *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    const int order = strcmp(x->id, y->id);
    return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

/* A host looks up some hundred ids. */
static void index_offers(plugin_host *h)
{
    uint32_t n = h->file_count;
    for (uint32_t i = 0; i < h->file_count; i++) n += h->files[i]->note.provided_count;
    h->offers = arena_array(h->a, n, sizeof *h->offers);
    for (uint32_t i = 0; i < h->file_count; i++) {
        const elf_note *note = &h->files[i]->note;
        h->offers[h->offer_count++] = (offer){OFFERS_ITSELF, i, note->id};
        for (uint32_t k = 0; k < note->provided_count; k++)
            h->offers[h->offer_count++] = (offer){note->provides[k].kind, i, note->provides[k].id};
    }
    qsort(h->offers, n, sizeof *h->offers, compare_offers);
}

/* What is wrong with a folder is said once. All others are read nevertheless, but nothing is provided then: which file
 * has an id would be a guess, and each id that is missing another error. */
static status scan(plugin_host *h)
{
    if (h->scanned) return h->scan_result;
    h->scan_result = scan_all(h);
    index_offers(h);
    h->scanned = true;
    return h->scan_result;
}

static void find_op(void *self, op_table *t, str name);
static const char *const *op_names(void *self);
static const char *op_excuse(void *self);

status plugin_host_create(arena *a, diag_engine *d, const plugin_host_params *p, plugin_host **out_host)
{
    plugin_host *h = arena_alloc(a, sizeof *h);
    h->a = a;
    h->diags = d;
    h->params = *p;
    h->is_whole = true;
    h->runs = run_registry_create(a);
    h->ops = op_table_create(a);
    const op_source source = {h, find_op, op_names, op_excuse};
    op_table_set_source(h->ops, &source);
    h->calls = (opset_calls){
        .a = a, .params = {.diags = d, .registry = h->runs, .abi_minor = p->abi_minor, .recorder = p->recorder}};
    *out_host = h;
    for (const char *const *f = p->files; f != NULL && *f != NULL; f++) {
        /* A bare name must not be sought where the dynamic loader looks. */
        const char *path = strchr(*f, '/') == NULL ? text_format(a, "./%s", *f) : *f;
        const status s = add_file(h, AT_FDCWD, path, path, true);
        h->is_whole &= s == OK;
        if (!p->goes_on) TRY(s);
    }
    return OK;
}

void plugin_host_close(plugin_host *h)
{
    if (h != NULL) run_session_destroy(h->calls.session);
}

bool plugin_host_is_whole(const plugin_host *h) { return h->is_whole; }

/* ---- from an id to a file ---- */

/* The files that provide the id, in their order: the first of *out_count offers. */
static const offer *find_offers(const plugin_host *h, uint32_t kind, str id, uint32_t *out_count)
{
    uint32_t low = 0, high = h->offer_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const offer *o = &h->offers[middle];
        const int order = o->kind != kind ? (o->kind < kind ? -1 : 1) : str_order(str_from(o->id), id);
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t end = low;
    while (end < h->offer_count && h->offers[end].kind == kind && str_is(id, h->offers[end].id)) end++;
    *out_count = end - low;
    return h->offers + low;
}

bool plugin_host_has_dialect(plugin_host *h, str dialect)
{
    for (const char *const *id = plugin_host_ids(h, PLUGIN_OP); *id != NULL; id++) {
        const char *dot = strrchr(*id, '.');
        if (dot != NULL && str_eq(dialect, (str){*id, (size_t)(dot - *id)})) return true;
    }
    return false;
}

const char *const *plugin_host_ids(plugin_host *h, plugin_kind kind)
{
    /* What cannot be read was reported and is missing here. */
    (void)!scan(h);
    text_list ids = {0};
    for (uint32_t i = 0; i < h->file_count; i++) {
        const elf_note *n = &h->files[i]->note;
        for (uint32_t k = 0; k < n->provided_count; k++) {
            if (n->provides[k].kind != kind) continue;
            text_list_add(h->a, &ids, n->provides[k].id);
        }
    }
    return text_list_sorted(&ids);
}

/* Where ids are looked for. */
static const char *searched(const plugin_host *h)
{
    if (h->folders.count == 0) return "no plugin folder was found; PTO_PLUGIN_PATH can name some";
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < h->folders.count; i++)
        text_printf(&t, "%s%s", i == 0 ? "searched: " : ", ", h->folders.items[i]);
    return text_keep(&t, h->a);
}

static void report_missing(plugin_host *h, src_pos at, plugin_kind kind, str id)
{
    const char *near = str_nearest(id, plugin_host_ids(h, kind));
    diag_error(h->diags, at, &E1307, "no plugin provides %s `%.*s`%s%s%s", plugin_kind_name(kind), (int)id.n, id.p,
               near != NULL ? "; did you mean `" : "", near != NULL ? near : "", near != NULL ? "`?" : "");
    diag_note(h->diags, NO_POS, "%s", searched(h));
}

/* Constructors and the entry of the plugin run now. */
static void record_loading(const plugin_host *h, src_pos at, const plugin_file *f)
{
    flight_recorder *r = h->params.recorder;
    if (r == NULL) return;
    FLIGHT_SET(r, plugin, str_from(f->note.id));
    FLIGHT_SET(r, role, STR("loading"));
    FLIGHT_SET(r, pass, str_from(f->path));
    FLIGHT_SET(r, file, str_from(at.file));
    r->line = at.line;
    r->load_device = f->identity.device;
    r->load_inode = f->identity.inode;
    atomic_store(&r->load_began_ns, monotonic_ns());
}

static void record_loaded(const plugin_host *h)
{
    if (h->params.recorder == NULL) return;
    atomic_store(&h->params.recorder->load_began_ns, 0);
    flight_recorder_clear(h->params.recorder);
}

/* What the diagnostics say last. */
static const char *last_error(const diag_engine *d)
{
    for (uint32_t i = diag_record_count(d); i-- > 0;) {
        if (diag_record_at(d, i)->severity == DIAG_ERROR) return diag_record_at(d, i)->text;
    }
    return NULL;
}

static status use_file(plugin_host *h, src_pos at, plugin_file *f)
{
    if (f->plugin != NULL) return OK;
    if (f->load_failed) return FAILED;
    if (f->refusal != NULL) {
        diag_error(h->diags, at, f->refusal_code, "%s", f->refusal);
        return FAILED;
    }
    record_loading(h, at, f);
    status s = plugin_load(h, h->a, h->diags, at, h->params.recorder, f);
    record_loaded(h);
    if (s == OK) s = opset_add(&h->calls, h->ops, h->diags, at, f);
    if (s == OK) return OK;
    f->plugin = NULL;
    f->load_failed = true;
    f->refusal = last_error(h->diags);
    return FAILED;
}

/* A file that the user gave may have what its note does not tell of; that it differs is then the true error. */
static status load_given(plugin_host *h, src_pos at)
{
    for (uint32_t i = 0; i < h->file_count; i++) {
        if (h->files[i]->load_failed) return FAILED;
        if (h->files[i]->given && h->files[i]->refusal == NULL) TRY(use_file(h, at, h->files[i]));
    }
    return OK;
}

/* NULL after a diagnostic. */
static plugin_file *find_file(plugin_host *h, src_pos at, plugin_kind kind, str id)
{
    if (scan(h) != OK) return NULL;
    uint32_t count;
    const offer *offers = find_offers(h, kind, id, &count);
    if (count == 0) {
        if (load_given(h, at) == OK) report_missing(h, at, kind, id);
        return NULL;
    }
    plugin_file *found = h->files[offers[0].file];
    for (uint32_t i = 1; i < count; i++) {
        if (offers[i].file == offers[0].file) continue;
        diag_error(h->diags, at, &E1306, "%s `%.*s` is provided by two files: %s and %s; remove one of them",
                   plugin_kind_name(kind), (int)id.n, id.p, found->path, h->files[offers[i].file]->path);
        return NULL;
    }
    offers = find_offers(h, OFFERS_ITSELF, str_from(found->note.id), &count);
    for (uint32_t i = 0; i < count; i++) {
        const plugin_file *f = h->files[offers[i].file];
        if (f == found) continue;
        diag_error(h->diags, at, &E1306, "two files say that they are plugin `%s`: %s and %s; remove one of them",
                   found->note.id, f->path, found->path);
        return NULL;
    }
    return found;
}

status plugin_host_load(plugin_host *h, src_pos at, const plugin_file *file)
{
    for (uint32_t i = 0; i < h->file_count; i++) {
        if (h->files[i] == file) return use_file(h, at, h->files[i]);
    }
    BUG_IF(true, "a plugin file of another host");
}

static void find_op(void *self, op_table *t, str name)
{
    plugin_host *h = self;
    (void)t;
    plugin_file *f = plugin_host_has(h, PLUGIN_OP, name) ? find_file(h, NO_POS, PLUGIN_OP, name) : NULL;
    /* What keeps it from being used was reported; the op stays unknown. */
    if (f != NULL) (void)!use_file(h, NO_POS, f);
}

static const char *const *op_names(void *self) { return plugin_host_ids(self, PLUGIN_OP); }

static const char *op_excuse(void *self)
{
    plugin_host *h = self;
    (void)!scan(h);
    return text_format(h->a, "no plugin that can be used provides it; %s", searched(h));
}

bool plugin_host_has(plugin_host *h, plugin_kind kind, str id)
{
    uint32_t count;
    (void)!scan(h);
    find_offers(h, kind, id, &count);
    return count != 0;
}

const char *plugin_host_refusal(plugin_host *h, plugin_kind kind, str id)
{
    uint32_t count;
    const offer *offers = find_offers(h, kind, id, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (h->files[offers[i].file]->refusal != NULL) return h->files[offers[i].file]->refusal;
    }
    return NULL;
}

static const plugin_file *get(plugin_host *h, src_pos at, plugin_kind kind, str id, const plugin_file **out_file)
{
    plugin_file *f = find_file(h, at, kind, id);
    if (f == NULL || use_file(h, at, f) != OK) return NULL;
    if (out_file != NULL) *out_file = f;
    return f;
}

/* The note was compared with the descriptor, so what the note promised is there. */
#define FIND_ITEM(type, what, KIND, list)                                                              \
    const type *plugin_host_##what(plugin_host *h, src_pos at, str id, const plugin_file **out_file)   \
    {                                                                                                  \
        const plugin_file *f = get(h, at, KIND, id, out_file);                                         \
        const type *const *item = f != NULL ? f->plugin->list : NULL;                                  \
        while (item != NULL && *item != NULL && !str_is(id, (*item)->id)) item++;                      \
        BUG_IF(item != NULL && *item == NULL, "plugin `%s` lost `%.*s`", f->note.id, (int)id.n, id.p); \
        return item != NULL ? *item : NULL;                                                            \
    }
FIND_ITEM(pto_pass, pass, PLUGIN_PASS, passes)
FIND_ITEM(pto_property, property, PLUGIN_PROPERTY, properties)
FIND_ITEM(pto_tiling, tiling, PLUGIN_TILING, tilings)
FIND_ITEM(pto_cost, cost, PLUGIN_COST, costs)
FIND_ITEM(pto_generator, generator, PLUGIN_GENERATOR, generators)
FIND_ITEM(pto_reader, reader, PLUGIN_READER, readers)
FIND_ITEM(pto_backend, backend, PLUGIN_BACKEND, backends)

/* NULL: the note does not tell what it needs of the pass. */
static const pto_pass *noted_pass(plugin_host *h, const plugin_file *f, str id)
{
    const char **kinds = arena_array(h->a, f->note.provided_count, sizeof *kinds);
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->note.provided_count; i++)
        if (f->note.provides[i].kind == PLUGIN_REWRITES) kinds[count++] = f->note.provides[i].id;
    const ir_level level = count != 0 ? op_level_by_name(h->ops, str_from(kinds[0])) : LEVEL_NONE;
    if (level == LEVEL_NONE || count + 1 != f->note.provided_count) return NULL;
    pto_pass *p = arena_alloc(h->a, sizeof *p);
    const char *at = level_name(h->ops, level);
    *p = (pto_pass){.struct_size = sizeof *p, .scope = "function", .consumes = at, .produces = at, .kinds = kinds};
    p->id = arena_strndup(h->a, id.p, id.n);
    return p;
}

const pto_pass *plugin_host_pass_to_come(plugin_host *h, src_pos at, str id, const plugin_file **out_file)
{
    const plugin_file *f = find_file(h, at, PLUGIN_PASS, id);
    const bool may_wait = f != NULL && f->plugin == NULL && f->refusal == NULL && !f->given;
    const pto_pass *pass = may_wait ? noted_pass(h, f, id) : NULL;
    *out_file = f;
    return f == NULL || pass != NULL ? pass : plugin_host_pass(h, at, id, out_file);
}

/* ---- lists ---- */

const char *const *plugin_host_suppliers(plugin_host *h, str property)
{
    (void)!scan(h);
    text_list ids = {0};
    for (uint32_t i = 0; i < h->file_count; i++) {
        const elf_note *n = &h->files[i]->note;
        bool supplies = false;
        for (const char *const *p = n->establishes; *p != NULL; p++) supplies = supplies || str_is(property, *p);
        for (uint32_t k = 0; supplies && k < n->provided_count; k++) {
            if (n->provides[k].kind != PLUGIN_PASS) continue;
            text_list_add(h->a, &ids, n->provides[k].id);
        }
    }
    return text_list_sorted(&ids);
}

uint32_t plugin_host_file_count(plugin_host *h)
{
    (void)!scan(h);
    return h->file_count;
}

const plugin_file *plugin_host_file_at(plugin_host *h, uint32_t index)
{
    BUG_IF(index >= h->file_count, "plugin file %u of %u", index, h->file_count);
    return h->files[index];
}

const char *const *plugin_host_folders(plugin_host *h)
{
    (void)!scan(h);
    static const char *const nothing[] = {NULL};
    return h->folders.count != 0 ? h->folders.items : nothing;
}
