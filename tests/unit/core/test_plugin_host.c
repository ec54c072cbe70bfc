#include "tests/unit/unit.h"

#include "core/host/plugin_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* build/tests/plugins, found from build/tests/unit/<this program>. */
static const char *plugin_folder(void)
{
    static char folder[4096];
    const ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 32);
    assert_true(n > 0);
    folder[n] = '\0';
    for (int up = 0; up < 2; up++) *strrchr(folder, '/') = '\0';
    memcpy(folder + strlen(folder), "/plugins", sizeof "/plugins");
    return folder;
}

static const char *plugin(const char *name)
{
    static char paths[8][4200];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s.so", plugin_folder(), name);
    return path;
}

typedef struct fixture {
    arena *a;
    diag_engine *d;
    plugin_host *h;
    plugin_host_params params;
    const char *files[4];
} fixture;

static void begin(fixture *f, const char *file, const char *other)
{
    *f = (fixture){.a = arena_create("test"), .d = diag_create(NULL, 0), .files = {file, other}};
    f->params = plugin_host_defaults();
    f->params.only_given = true;
    f->params.files = f->files;
}

static void end(fixture *f)
{
    diag_destroy(f->d);
    arena_destroy(f->a);
}

static const pto_pass *open_pass(fixture *f, const char *id)
{
    if (plugin_host_create(f->a, f->d, &f->params, &f->h) != OK) return NULL;
    return plugin_host_pass(f->h, NO_POS, str_from(id), NULL);
}

/* The only error, without what depends on the machine: "%P" stands for the path of the plugin. */
static void expect_error(fixture *f, const char *code, const char *path, const char *text)
{
    char wanted[5000];
    const char *hole = strstr(text, "%P");
    snprintf(wanted, sizeof wanted, "%.*s%s%s", hole != NULL ? (int)(hole - text) : (int)strlen(text), text,
             hole != NULL ? path : "", hole != NULL ? hole + 2 : "");
    assert_true(diag_record_count(f->d) >= 1);
    const diag_record *r = diag_record_at(f->d, 0);
    assert_string_equal(r->text, wanted);
    assert_string_equal(r->code, code);
    assert_int_equal(diag_error_count(f->d), 1);
}

/* One cell of host {1.0, 1.1} x {draft, final} x plugin. `text` NULL: accepted. */
static void cell(uint32_t minor, bool draft, const char *name, const char *code, const char *text)
{
    fixture f;
    char id[64];
    snprintf(id, sizeof id, "test.%s", name);
    begin(&f, plugin(name), NULL);
    f.params.abi_minor = minor;
    f.params.draft = draft;
    const pto_pass *pass = open_pass(&f, id);
    if (text == NULL) {
        assert_int_equal(diag_error_count(f.d), 0);
        assert_non_null(pass);
        assert_string_equal(pass->id, id);
    } else {
        assert_null(pass);
        expect_error(&f, code, f.files[0], text);
    }
    end(&f);
}

#define MAJOR(name, minor)                                                                                         \
    "plugin `test." name "` (%P) speaks plugin ABI 2.0; this core (1." minor ") speaks only major 1; rebuild the " \
    "plugin against the headers of this core, or use a core 2.x; nothing in the plugin was run"
#define DRAFT(name, built, host)                                                                                     \
    "plugin `test." name "` (%P) was built for " built "; this core has " host ", and a draft fits only its equal; " \
    "rebuild the plugin with the headers of this core; nothing in the plugin was run"

TEST(versions_with_the_draft_flag_must_be_equal)
{
    cell(0, true, "abi-draft-0", NULL, NULL);
    cell(0, true, "abi-draft-1", "E1304", DRAFT("abi-draft-1", "draft plugin ABI 1.1", "draft 1.0"));
    cell(0, true, "abi-draft-1-least-0", "E1304", DRAFT("abi-draft-1-least-0", "draft plugin ABI 1.1", "draft 1.0"));
    cell(0, true, "abi-draft-2-0", "E1302", MAJOR("abi-draft-2-0", "0"));
    cell(1, true, "abi-draft-0", "E1304", DRAFT("abi-draft-0", "draft plugin ABI 1.0", "draft 1.1"));
    cell(1, true, "abi-draft-1", NULL, NULL);
    cell(1, true, "abi-draft-1-least-0", NULL, NULL);
    cell(1, true, "abi-draft-2-0", "E1302", MAJOR("abi-draft-2-0", "1"));
}

TEST(final_versions_follow_the_least_minor)
{
    cell(0, false, "abi-final-0", NULL, NULL);
    cell(0, false, "abi-final-1", "E1303",
         "plugin `test.abi-final-1` (%P) needs plugin ABI >= 1.1; this core has 1.0; upgrade the core, or build the "
         "plugin "
         "with PTO_ABI_LEAST_MINOR <= 0; nothing in the plugin was run");
    cell(0, false, "abi-final-1-least-0", NULL, NULL);
    cell(0, false, "abi-final-2-0", "E1302", MAJOR("abi-final-2-0", "0"));
    cell(1, false, "abi-final-0", NULL, NULL);
    cell(1, false, "abi-final-1", NULL, NULL);
    cell(1, false, "abi-final-1-least-0", NULL, NULL);
    cell(1, false, "abi-final-2-0", "E1302", MAJOR("abi-final-2-0", "1"));
}

TEST(a_draft_never_fits_a_final_version)
{
    cell(0, false, "abi-draft-0", "E1304", DRAFT("abi-draft-0", "draft plugin ABI 1.0", "final 1.0"));
    cell(1, false, "abi-draft-1-least-0", "E1304", DRAFT("abi-draft-1-least-0", "draft plugin ABI 1.1", "final 1.1"));
    cell(0, true, "abi-final-0", "E1304", DRAFT("abi-final-0", "final plugin ABI 1.0", "draft 1.0"));
    cell(1, true, "abi-final-1", "E1304", DRAFT("abi-final-1", "final plugin ABI 1.1", "draft 1.1"));
}

TEST(a_longer_struct_of_a_later_minor_is_cut_to_ours)
{
    fixture f;
    begin(&f, plugin("abi-final-1-least-0"), NULL);
    f.params.draft = false;
    const pto_pass *pass = open_pass(&f, "test.abi-final-1-least-0");
    assert_non_null(pass);
    assert_int_equal(pass->struct_size, sizeof(pto_pass));
    assert_non_null(pass->options);
    assert_null(pass->options[0]);
    end(&f);
}

static int exists(const char *path) { return access(path, F_OK) == 0; }

TEST(nothing_of_a_refused_plugin_runs)
{
    char touched[] = "/tmp/pto-touch-XXXXXX";
    const int fd = mkstemp(touched);
    assert_true(fd >= 0);
    close(fd);
    unlink(touched);
    setenv("PTO_TEST_TOUCH", touched, 1);
    fixture f;
    begin(&f, plugin("abi-constructor"), NULL);
    assert_null(open_pass(&f, "test.abi-constructor"));
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1302");
    assert_false(exists(touched));
    end(&f);

    /* The same constructor in a plugin that is loaded does write, so the test above can fail. */
    begin(&f, plugin("abi-constructor-runs"), NULL);
    assert_int_equal(plugin_host_create(f.a, f.d, &f.params, &f.h), OK);
    assert_true(plugin_host_has(f.h, PLUGIN_PASS, STR("test.abi-constructor-runs")));
    assert_false(exists(touched));
    assert_non_null(plugin_host_pass(f.h, NO_POS, STR("test.abi-constructor-runs"), NULL));
    assert_true(exists(touched));
    unlink(touched);
    unsetenv("PTO_TEST_TOUCH");
    end(&f);
}

TEST(files_that_are_no_plugins_are_refused)
{
    fixture f;
    begin(&f, "/proc/self/exe", NULL);
    assert_int_equal(plugin_host_create(f.a, f.d, &f.params, &f.h), FAILED);
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1301");
    end(&f);
    begin(&f, "/nonexistent/x.so", NULL);
    assert_int_equal(plugin_host_create(f.a, f.d, &f.params, &f.h), FAILED);
    expect_error(&f, "E1301", f.files[0], "`%P` cannot be opened: No such file or directory");
    end(&f);
}

TEST(one_id_in_two_files_is_an_error_with_both_paths)
{
    fixture f;
    begin(&f, plugin("abi-twin-a"), plugin("abi-twin-b"));
    char wanted[9000];
    snprintf(wanted, sizeof wanted, "pass `test.abi-twin` is provided by two files: %s and %s; remove one of them",
             f.files[0], f.files[1]);
    assert_null(open_pass(&f, "test.abi-twin"));
    expect_error(&f, "E1306", "", wanted);
    end(&f);
    /* The same file twice is one file. */
    begin(&f, plugin("abi-twin-a"), plugin("abi-twin-a"));
    assert_non_null(open_pass(&f, "test.abi-twin"));
    assert_int_equal(plugin_host_file_count(f.h), 1);
    end(&f);
}

TEST(unknown_ids_get_the_nearest_name)
{
    fixture f;
    begin(&f, plugin("abi-draft-0"), NULL);
    assert_null(open_pass(&f, "test.abi-draft-O"));
    expect_error(&f, "E1307", "", "no plugin provides pass `test.abi-draft-O`; did you mean `test.abi-draft-0`?");
    end(&f);
}

static void refused_at_load(const char *name, const char *code, const char *text)
{
    fixture f;
    char id[64];
    snprintf(id, sizeof id, "test.%s", name);
    begin(&f, plugin(name), NULL);
    assert_null(open_pass(&f, id));
    expect_error(&f, code, f.files[0], text);
    /* It stays refused, and is reported once. */
    assert_null(plugin_host_pass(f.h, NO_POS, str_from(id), NULL));
    assert_int_equal(diag_error_count(f.d), 1);
    end(&f);
}

TEST(descriptors_are_checked_against_notes_and_rows)
{
    refused_at_load("abi-wrong-note", "E1311",
                    "plugin `test.abi-wrong-note` (%P): its note and its descriptor differ in what it provides: "
                    "pass:test.abi-wrong-note and nothing");
    refused_at_load("abi-wrong-property", "E1311",
                    "plugin `test.abi-wrong-property` (%P): its note and its descriptor differ in established "
                    "properties: test.promised and nothing");
    refused_at_load("abi-rewrites-more", "E1311",
                    "plugin `test.abi-rewrites-more` (%P): its note and its descriptor differ in what its pass is for: "
                    "rewrites:tensor.neg and a pass that needs, changes or asks for more than the op");
    refused_at_load(
        "abi-unknown-op", "E1313",
        "`test.abi-unknown-op` of plugin `test.abi-unknown-op` (%P) uses the op `tensor.softmix`, which does "
        "not exist; the nearest is `tensor.softmax`");
    refused_at_load("abi-short-pass", "E1312",
                    "plugin `test.abi-short-pass` (%P) describes itself wrongly: a pass is too short a struct");
    refused_at_load("abi-no-entry", "E1310", "plugin `test.abi-no-entry` (%P) lacks its entry pto_plugin_entry_v1");
}

TEST(a_foreign_sanitizer_is_refused)
{
    fixture f;
    begin(&f, plugin("abi-sanitizer"), NULL);
    assert_null(open_pass(&f, "test.abi-sanitizer"));
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1305");
    end(&f);
}

/* ---- folders ---- */

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "rb");
    assert_non_null(in);
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    FILE *out = fopen(to, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(out);
}

typedef struct temporary {
    char folder[64], file[128];
} temporary;

static void make_folder(temporary *t, const char *name)
{
    snprintf(t->folder, sizeof t->folder, "/tmp/pto-plugins-XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    snprintf(t->file, sizeof t->file, "%s/x.so", t->folder);
    copy_file(plugin(name), t->file);
}

static void remove_folder(const temporary *t)
{
    unlink(t->file);
    rmdir(t->folder);
}

TEST(folders_are_searched_by_note)
{
    temporary t;
    make_folder(&t, "abi-draft-0");
    char noise[128];
    snprintf(noise, sizeof noise, "%s/noise.so", t.folder);
    FILE *f = fopen(noise, "w");
    assert_non_null(f);
    fputs("not ELF\n", f);
    fclose(f);
    const char *const folders[] = {t.folder, NULL};
    fixture x;
    begin(&x, NULL, NULL);
    x.params.folders = folders;
    assert_non_null(open_pass(&x, "test.abi-draft-0"));
    assert_int_equal(diag_record_count(x.d), 0);
    assert_string_equal(plugin_host_folders(x.h)[0], t.folder);
    assert_string_equal(plugin_host_ids(x.h, PLUGIN_PASS)[0], "test.abi-draft-0");
    assert_null(plugin_host_ids(x.h, PLUGIN_BACKEND)[0]);
    end(&x);
    unlink(noise);
    remove_folder(&t);
}

TEST(what_anybody_may_write_to_is_refused)
{
    temporary t;
    make_folder(&t, "abi-draft-0");
    const char *const folders[] = {t.folder, NULL};
    fixture x;
    assert_int_equal(chmod(t.folder, 0777), 0);
    begin(&x, NULL, NULL);
    x.params.folders = folders;
    assert_null(open_pass(&x, "test.abi-draft-0"));
    expect_error(
        &x, "E1308", t.folder,
        "the plugin folder `%P` may be written to by anybody and is not searched; take that right away (chmod o-w)");
    end(&x);
    assert_int_equal(chmod(t.folder, 0755), 0);
    assert_int_equal(chmod(t.file, 0666), 0);
    begin(&x, NULL, NULL);
    x.params.folders = folders;
    assert_null(open_pass(&x, "test.abi-draft-0"));
    expect_error(
        &x, "E1308", t.file,
        "plugin `test.abi-draft-0` (%P) may be written to by anybody; take that right away (chmod o-w); nothing in "
        "the plugin was run");
    end(&x);
    remove_folder(&t);
}

TEST(missing_folders_are_errors_only_when_named)
{
    const char *const folders[] = {"/nonexistent/plugins", NULL};
    fixture x;
    begin(&x, NULL, NULL);
    x.params.folders = folders;
    assert_null(open_pass(&x, "pto.x"));
    expect_error(&x, "E1309", "/nonexistent/plugins",
                 "the plugin folder `%P` cannot be read: No such file or directory");
    end(&x);
}

TEST(the_environment_is_searched_after_what_is_given_and_only_by_absolute_paths)
{
    temporary t;
    make_folder(&t, "abi-draft-0");
    fixture x;
    setenv("PTO_PLUGIN_PATH", t.folder, 1);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    begin(&x, NULL, NULL);
    x.params.only_given = false;
    assert_non_null(open_pass(&x, "test.abi-draft-0"));
    end(&x);
    setenv("PTO_PLUGIN_PATH", "plugins", 1);
    begin(&x, NULL, NULL);
    x.params.only_given = false;
    assert_null(open_pass(&x, "test.abi-draft-0"));
    expect_error(&x, "E1309", "", "PTO_PLUGIN_PATH names `plugins`, which is not an absolute path");
    end(&x);
    unsetenv("PTO_PLUGIN_PATH");
    unsetenv("XDG_DATA_HOME");
    remove_folder(&t);
}

TEST(suppliers_come_from_notes)
{
    fixture f;
    begin(&f, plugin("abi-wrong-property"), NULL);
    assert_int_equal(plugin_host_create(f.a, f.d, &f.params, &f.h), OK);
    const char *const *ids = plugin_host_suppliers(f.h, STR("test.promised"));
    assert_string_equal(ids[0], "test.abi-wrong-property");
    assert_null(ids[1]);
    assert_null(plugin_host_suppliers(f.h, STR("test.other"))[0]);
    assert_null(plugin_host_file_at(f.h, 0)->plugin);
    end(&f);
}
