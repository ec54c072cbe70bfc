/* plugins/shared/native/native_load.h: from text to a library, with all that can be in the way. */
#include "tests/unit/plugins/native_fixture.h"

#include <native_load.h>

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const char *const flags[] = {"-O1", "-w", NULL};
static const char text[] = "int answer(void) { return 42; }\n";

static native_request request_of(const native_fixture *f)
{
    return (native_request){
        .text = text,
        .text_bytes = sizeof text - 1,
        .flags = flags,
        .symbol = "answer",
        .seconds_max = 60,
        .cache_path = f->cache,
        .cache_bytes_max = 100 * 1024 * 1024,
        .uses_cache = true,
    };
}

/* The compiler of this system, which is called through a program that counts and does what `before` says. */
static native_compiler counting_compiler(native_fixture *f, const char *before)
{
    native_compiler real, c;
    char commands[2 * PATH_MAX];
    assert_int_equal(native_compiler_find(NULL, &real, &f->e), NATIVE_OK);
    snprintf(commands, sizeof commands, "echo x >>%s/count\n%s\nexec %s \"$@\"", f->folder, before, real.path);
    assert_int_equal(native_compiler_find(write_program(f, "gcc", commands), &c, &f->e), NATIVE_OK);
    return c;
}

static int times_compiled(const native_fixture *f) { return line_count(path_in(f, "count")); }

static void assert_answers(native_loaded *loaded)
{
    assert_non_null(loaded->library);
    union {
        void *symbol;
        int (*function)(void);
    } answer = {dlsym(loaded->library, "answer")};
    assert_non_null(answer.symbol);
    assert_int_equal(answer.function(), 42);
    dlclose(loaded->library);
}

/* Loads without a warning; whether it was compiled. */
static bool load(native_fixture *f, const native_compiler *c, const native_request *q)
{
    native_loaded loaded;
    assert_int_equal(native_load(c, q, &loaded, &f->e), NATIVE_OK);
    assert_string_equal(loaded.warning.text, "");
    assert_answers(&loaded);
    return loaded.is_compiled;
}

static void load_with_warning(native_fixture *f, const native_compiler *c, const native_request *q, const char *said)
{
    native_loaded loaded;
    assert_int_equal(native_load(c, q, &loaded, &f->e), NATIVE_OK);
    assert_non_null(strstr(loaded.warning.text, said));
    assert_true(loaded.is_compiled);
    assert_answers(&loaded);
}

/* ---- by a key ---- */

/* Looks for what was made before, and finds nothing, with a warning that says so, or without. */
static void find_nothing(native_fixture *f, const native_compiler *c, const native_request *q, const char *said)
{
    native_loaded loaded;
    assert_null(q->text);
    assert_int_equal(native_load(c, q, &loaded, &f->e), NATIVE_OK);
    assert_null(loaded.library);
    if (said == NULL)
        assert_string_equal(loaded.warning.text, "");
    else
        assert_non_null(strstr(loaded.warning.text, said));
}

TEST(what_was_made_under_a_key_is_found_without_the_text)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f), without = q, other = q;
    q.key = without.key = "abc";
    other.key = "abd";
    q.key_bytes = without.key_bytes = other.key_bytes = 3;
    without.text = NULL;
    find_nothing(&f, &c, &without, NULL);
    assert_false(has_entry(&f, "count")); /* there is nothing to compile */
    assert_true(load(&f, &c, &q));
    assert_false(load(&f, &c, &without));
    q.text = "not looked at";
    assert_false(load(&f, &c, &q));
    assert_true(load(&f, &c, &other));
    assert_int_equal(times_compiled(&f), 2);
    /* A text is not the key of the same bytes. */
    const native_request plain = request_of(&f);
    other.key = plain.text;
    other.key_bytes = plain.text_bytes;
    assert_true(load(&f, &c, &plain));
    assert_true(load(&f, &c, &other));
    without.uses_cache = false;
    find_nothing(&f, &c, &without, NULL);
    native_fixture_end(&f);
}

TEST(a_damaged_file_is_said_when_it_is_looked_for)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    q.key = "abc";
    q.key_bytes = 3;
    assert_true(load(&f, &c, &q));
    char command[PATH_MAX];
    snprintf(command, sizeof command, "truncate -s -1 %s/*.so", f.cache);
    assert_int_equal(system(command), 0);
    q.text = NULL;
    find_nothing(&f, &c, &q, "is not what was written");
    native_fixture_end(&f);
}

/* ---- parts ---- */

/* Part 1 has what part 0 calls, as <pto/native.h> makes it of PTO_PART_1. */
static const char text_in_parts[] = "#ifndef PTO_PARTS_HERE\n#define PTO_PARTS_HERE 15\n#endif\n"
                                    "#define PTO_PART_1(name) name\n"
                                    "__attribute__((visibility(\"hidden\"))) int part(void);\n"
                                    "#if PTO_PARTS_HERE & 2\n"
                                    "int PTO_PART_1(part)(void) { return 42; }\n"
                                    "#endif\n"
                                    "#if PTO_PARTS_HERE & 1\n"
                                    "int answer(void) { return part(); }\n"
                                    "#endif\n";

static native_request request_in_parts(const native_fixture *f)
{
    native_request q = request_of(f);
    q.text = text_in_parts;
    q.text_bytes = sizeof text_in_parts - 1;
    return q;
}

TEST(parts_are_compiled_at_the_same_time_where_there_are_cpus)
{
    native_fixture f = native_fixture_begin();
    cpu_set_t all, one;
    const native_compiler c = counting_compiler(&f, "");
    const native_request q = request_in_parts(&f);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_true(load(&f, &c, &q));
    assert_int_equal(times_compiled(&f), CPU_COUNT(&all) > 1 ? 3 : 1); /* two, and what links them */
    assert_false(load(&f, &c, &q));

    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(remove(path_in(&f, "count")), 0);
    native_request alone = q;
    alone.uses_cache = false;
    assert_true(load(&f, &c, &alone));
    assert_int_equal(times_compiled(&f), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    native_fixture_end(&f);
}

TEST(a_mistake_in_a_part_is_said_with_its_line)
{
    native_fixture f = native_fixture_begin();
    native_loaded loaded;
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_in_parts(&f);
    char wrong[sizeof text_in_parts];
    memcpy(wrong, text_in_parts, sizeof wrong);
    strstr(wrong, "42")[1] = 'x';
    q.text = wrong;
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_COMPILER_FAILED);
    assert_says(&f, "module.c:7:");
    /* Compiled, but the other part has not what is called. */
    memcpy(wrong, text_in_parts, sizeof wrong);
    strstr(wrong, "(part)")[1] = 'l';
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_COMPILER_FAILED);
    assert_says(&f, "undefined reference to `part'");
    native_fixture_end(&f);
}

/* Folders that compilations left. */
static int scratch_count(const native_fixture *f)
{
    char name[64];
    snprintf(name, sizeof name, "pto-native-%ld", (long)geteuid());
    return entry_count(path_in(f, name));
}

TEST(the_second_time_it_comes_from_the_cache)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    assert_true(load(&f, &c, &q));
    assert_false(load(&f, &c, &q));
    assert_int_equal(times_compiled(&f), 1);
    assert_int_equal(entry_count(f.cache), 1);
    assert_int_equal(scratch_count(&f), 0);
    q.cache_path = NULL;
    assert_true(load(&f, &c, &q));
    assert_int_equal(entry_count(path_in(&f, "pto/native-1")), 1);
    q.uses_cache = false;
    assert_true(load(&f, &c, &q));
    assert_int_equal(entry_count(path_in(&f, "pto/native-1")), 1);
    assert_int_equal(scratch_count(&f), 0);
    native_fixture_end(&f);
}

TEST(all_that_a_library_depends_on_is_in_its_key)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_compiler other = c;
    const native_request q = request_of(&f);
    other.identity[0] ^= 1;
    static const char *const flags_b[] = {"-O1", NULL}, *const libraries[] = {"-lm", NULL};
    const native_file header = {"header.h", "", 0}, longer = {"header.h", "longer", 6};
    native_request changed[7] = {q, q, q, q, q, q, q};
    changed[1].flags = flags_b;
    changed[2].libraries = libraries;
    changed[3].files = &header;
    changed[6].files = &longer;
    changed[3].file_count = changed[6].file_count = 1;
    changed[4].salt = "2";
    changed[5].text_bytes--;
    native_digest keys[8];
    for (size_t i = 0; i < 7; i++) keys[i] = native_load_key(&c, &changed[i]);
    keys[7] = native_load_key(&other, &q);
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < i; j++) assert_memory_not_equal(&keys[i], &keys[j], sizeof keys[i]);
    const native_digest again = native_load_key(&c, &q);
    assert_memory_equal(&again, &keys[0], sizeof again);
    native_fixture_end(&f);
}

TEST(files_lie_where_the_text_includes_them)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    native_loaded loaded;
    static const char number[] = "#include \"pto/two.h\"\n#define NUMBER (TWO * 21)\n", two[] = "#define TWO 2\n";
    native_file files[] = {{"pto/number.h", number, sizeof number - 1}, {"pto/two.h", two, sizeof two - 1}};
    q.text = "#include <pto/number.h>\nint answer(void) { return NUMBER; }\n";
    q.text_bytes = strlen(q.text);
    q.files = files;
    q.file_count = 2;
    assert_true(load(&f, &c, &q));
    assert_false(load(&f, &c, &q));
    files[1].name = "none/two/three.h";
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "cannot be written: No such file or directory");
    assert_int_equal(scratch_count(&f), 0);
    native_fixture_end(&f);
}

TEST(text_that_is_not_c)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    native_loaded loaded;
    q.text = "int answer(void)\n{\n    return forty_two;\n}\n";
    q.text_bytes = strlen(q.text);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_COMPILER_FAILED);
        assert_says(&f, "C compiler `gcc` ended with status 1: module.c:3:12: error: ");
        assert_null(loaded.library);
    }
    assert_int_equal(times_compiled(&f), 2);
    assert_int_equal(entry_count(f.cache), 0);
    assert_int_equal(scratch_count(&f), 0);
    q.text = text;
    q.text_bytes = sizeof text - 1;
    assert_true(load(&f, &c, &q));
    native_fixture_end(&f);
}

TEST(compilers_that_hang_or_make_nothing_leave_nothing)
{
    native_fixture f = native_fixture_begin();
    native_request q = request_of(&f);
    native_loaded loaded;
    native_compiler c = counting_compiler(&f, "sleep 600");
    q.seconds_max = 0.2;
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_COMPILER_SLOW);
    c = counting_compiler(&f, "exit 0");
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NOT_LOADED);
    assert_says(&f, "gcc` ended with status 0 and made no file: it is not a C compiler with the options of gcc");
    assert_int_equal(entry_count(f.cache), 0);
    assert_int_equal(scratch_count(&f), 0);
    const char *many[NATIVE_ARGUMENTS_MAX + 1];
    for (size_t i = 0; i < NATIVE_ARGUMENTS_MAX; i++) many[i] = "-w";
    many[NATIVE_ARGUMENTS_MAX] = NULL;
    q.flags = many;
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_COMPILER_FAILED);
    assert_string_equal(f.e.text, "C compiler `gcc`: more than 64 arguments");
    native_fixture_end(&f);
}

TEST(compilers_that_end_well_and_make_something_else_leave_nothing)
{
    static const struct {
        const char *commands, *why;
    } rows[] = {
        {"ln module.so other; truncate -s 3000 module.so", "it has 3000 bytes, which are not all of a shared object"},
        {"truncate -s 10 module.so", "it is not a shared object"},
        {"cp module.c module.so", "it is not a shared object"},
        {"rm module.so; mkfifo module.so", "it is not a file"},
        {"rm module.so; mkdir module.so", "it is not a file"},
        {"mv module.so other; ln -s other module.so", "it cannot be opened: Too many levels of symbolic links"},
        {"echo 'int another;' >module.c; cc -shared module.c -o module.so", "it has no symbol `answer`"},
        {"echo 'int missing(void); int answer(void) { return missing(); }' >module.c; cc -shared module.c -o module.so",
         "undefined symbol: missing"},
        {"cc -w -c module.c -o module.so", "it is not a shared object"},
    };
    native_fixture f = native_fixture_begin();
    const native_request q = request_of(&f);
    native_compiler real;
    assert_int_equal(native_compiler_find(NULL, &real, &f.e), NATIVE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char commands[2 * PATH_MAX];
        native_compiler c;
        native_loaded loaded;
        snprintf(commands, sizeof commands, "%s \"$@\" && { %s; }", real.path, rows[i].commands);
        assert_int_equal(native_compiler_find(write_program(&f, "odd", commands), &c, &f.e), NATIVE_OK);
        assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NOT_LOADED);
        assert_says(&f, "what C compiler `odd` made is not a module: ");
        assert_says(&f, rows[i].why);
        assert_null(loaded.library);
        assert_int_equal(entry_count(f.cache), 0);
        assert_int_equal(scratch_count(&f), 0);
    }
    native_fixture_end(&f);
}

TEST(a_file_of_the_cache_that_is_not_a_module_is_made_anew)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    assert_true(load(&f, &c, &q));
    q.symbol = "question";
    static const char more[] = "int question(void) { return 6 * 9; }\nint answer(void) { return 42; }\n";
    q.key = q.text;
    q.key_bytes = q.text_bytes;
    native_request of_key = q;
    of_key.symbol = "answer";
    assert_true(load(&f, &c, &of_key)); /* and lacks the question */
    q.text = more;
    q.text_bytes = sizeof more - 1;
    load_with_warning(&f, &c, &q, ".so` of the cache is not a module: it has no symbol `question`");
    assert_false(load(&f, &c, &q));
    native_fixture_end(&f);
}

static bool stop_at_once(void *self)
{
    (void)self;
    return true;
}

TEST(the_caller_can_stop_it)
{
    native_fixture f = native_fixture_begin();
    native_request q = request_of(&f);
    native_loaded loaded;
    native_compiler c = counting_compiler(&f, "sleep 600");
    q.stop = stop_at_once;
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_STOPPED);
    assert_string_equal(f.e.text, "C compiler `gcc` was stopped");
    assert_int_equal(scratch_count(&f), 0);
    assert_int_equal(entry_count(f.cache), 0);
    native_fixture_end(&f);
}

TEST(a_cache_that_cannot_be_used_is_a_warning)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    assert_int_equal(mkdir(f.cache, 0777), 0);
    assert_int_equal(chmod(f.cache, 0777), 0);
    load_with_warning(&f, &c, &q, "can be written by others (mode 0777, expected 0700)");
    assert_int_equal(entry_count(f.cache), 0);
    q.cache_path = "/proc/pto";
    load_with_warning(&f, &c, &q, "cache folder `/proc/pto` cannot be opened: No such file or directory");
    q.cache_path = NULL;
    unsetenv("XDG_CACHE_HOME");
    char home[PATH_MAX];
    snprintf(home, sizeof home, "%s", getenv("HOME") != NULL ? getenv("HOME") : "/");
    unsetenv("HOME");
    load_with_warning(&f, &c, &q, "neither $XDG_CACHE_HOME nor $HOME is an absolute path");
    setenv("HOME", home, 1);
    assert_int_equal(times_compiled(&f), 3);
    assert_int_equal(scratch_count(&f), 0);
    native_fixture_end(&f);
}

TEST(a_cache_that_is_read_only_is_a_warning_for_what_it_does_not_have)
{
    native_fixture f = native_fixture_begin();
    become_plain_user(&f);
    const native_compiler c = counting_compiler(&f, "");
    native_request q = request_of(&f);
    assert_true(load(&f, &c, &q));
    assert_int_equal(chmod(f.cache, 0500), 0);
    assert_false(load(&f, &c, &q));
    q.salt = "another";
    load_with_warning(&f, &c, &q, "` cannot be written: Permission denied");
    assert_int_equal(times_compiled(&f), 2);
    assert_int_equal(chmod(f.cache, 0700), 0);
    become_oneself();
    native_fixture_end(&f);
}

TEST(a_damaged_file_is_made_anew)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    const native_request q = request_of(&f);
    char name[NATIVE_DIGEST_DIGITS + 1], file[NAME_TEXT];
    const native_digest key = native_load_key(&c, &q);
    assert_true(load(&f, &c, &q));
    native_digest_print(&key, name);
    snprintf(file, sizeof file, "cache/%s.so", name);
    assert_int_equal(truncate(path_in(&f, file), 1000), 0);
    load_with_warning(&f, &c, &q, ".so` of the cache is not what was written");
    assert_false(load(&f, &c, &q));
    assert_int_equal(times_compiled(&f), 2);
    native_fixture_end(&f);
}

TEST(a_temporary_folder_that_cannot_be_used)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    const native_request q = request_of(&f);
    native_loaded loaded;
    setenv("TMPDIR", "/proc", 1);
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "temporary folder `/proc/pto-native-");
    assert_says(&f, "` cannot be opened: No such file or directory");
    setenv("TMPDIR", path_in(&f, "missing"), 1);
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "` cannot be opened: No such file or directory");
    assert_false(has_entry(&f, "missing"));
    char long_name[PATH_MAX + 2];
    memset(long_name, '/', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    setenv("TMPDIR", long_name, 1);
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NO_FOLDER);
    assert_string_equal(f.e.text, "the name of the temporary folder is too long");
    setenv("TMPDIR", f.folder, 1);
    become_plain_user(&f);
    char root[64];
    snprintf(root, sizeof root, "pto-native-%ld", (long)geteuid());
    assert_int_equal(mkdir(path_in(&f, root), 0500), 0);
    assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "` cannot be written: Permission denied");
    become_oneself();
    assert_int_equal(times_compiled(&f), 0);
    native_fixture_end(&f);
}

/* ---- what is not ours ---- */

/* "<the temporary folder of the user>/<name>", or itself. */
static const char *in_temporary(const native_fixture *f, const char *name)
{
    char path[NAME_TEXT];
    snprintf(path, sizeof path, "pto-native-%ld%s%s", (long)geteuid(), name[0] != '\0' ? "/" : "", name);
    return path_in(f, path);
}

/* Folders "<name>" and "<name>/sub" with a file. */
static void make_tree(const native_fixture *f, const char *name)
{
    char path[NAME_TEXT];
    assert_int_equal(mkdir(path_in(f, name), 0700), 0);
    snprintf(path, sizeof path, "%s/sub", name);
    assert_int_equal(mkdir(path_in(f, path), 0700), 0);
    snprintf(path, sizeof path, "%s/sub/file", name);
    write_text(path_in(f, path), "data", 0600);
}

TEST(a_temporary_folder_that_is_a_link_is_not_followed)
{
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    const native_request q = request_of(&f);
    native_loaded loaded;
    make_tree(&f, "precious");
    for (int i = 0; i < 3; i++) {
        const char *link = in_temporary(&f, "");
        assert_int_equal(symlink(i < 2 ? path_in(&f, "precious") : path_in(&f, "missing"), link), 0);
        if (i == 1 && geteuid() == 0) assert_int_equal(lchown(link, NOBODY, NOBODY), 0);
        assert_int_equal(native_load(&c, &q, &loaded, &f.e), NATIVE_NO_FOLDER);
        assert_says(&f, "temporary folder `/tmp/pto-native-test-");
        assert_says(&f, "` is a link, which is not followed; remove it");
        assert_int_equal(unlink(link), 0);
    }
    assert_true(has_entry(&f, "precious/sub/file"));
    assert_int_equal(entry_count(path_in(&f, "precious")), 1);
    assert_false(has_entry(&f, "missing"));
    assert_int_equal(times_compiled(&f), 0);
    assert_true(load(&f, &c, &q));
    native_fixture_end(&f);
}

TEST(in_the_temporary_folder_only_what_was_left_is_removed)
{
    /* The first is as one that was left: the names of the others differ, or they are no folders. */
    static const char *const names[] = {
        "12-0123456789abcdef",  "project",           "12-0123456789abcdeg", "12-0123456789abcde",
        "12-0123456789abcdef0", "-0123456789abcdef", "a2-0123456789abcdef", "34-0123456789abcdef.old"};
    enum { COUNT = sizeof names / sizeof names[0] };
    native_fixture f = native_fixture_begin();
    const native_compiler c = counting_compiler(&f, "");
    const native_request q = request_of(&f);
    char name[NAME_TEXT];
    make_tree(&f, "precious");
    assert_int_equal(mkdir(in_temporary(&f, ""), 0700), 0);
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "pto-native-%ld/%s", (long)geteuid(), names[i]);
        make_tree(&f, name);
    }
    assert_int_equal(symlink(path_in(&f, "precious"), in_temporary(&f, "56-0123456789abcdef")), 0);
    assert_int_equal(symlink(path_in(&f, "precious"), in_temporary(&f, "12-0123456789abcdef/sub/link")), 0);
    write_text(in_temporary(&f, "78-0123456789abcdef"), "", 0600);
    assert_true(load(&f, &c, &q));
    assert_int_equal(access(in_temporary(&f, names[0]), F_OK), -1);
    for (size_t i = 1; i < COUNT; i++) {
        snprintf(name, sizeof name, "%s/sub/file", names[i]);
        assert_int_equal(access(in_temporary(&f, name), F_OK), 0);
    }
    assert_int_equal(scratch_count(&f), COUNT - 1 + 2);
    assert_true(has_entry(&f, "precious/sub/file"));
    native_fixture_end(&f);
}

/* ---- several processes ---- */

/* 0: it was found, 1: it was compiled; 2: it was neither. */
static int load_in_child(const native_compiler *c, const native_request *q)
{
    native_loaded loaded;
    if (native_load(c, q, &loaded, NULL) != NATIVE_OK || loaded.warning.text[0] != '\0') return 2;
    union {
        void *symbol;
        int (*function)(void);
    } answer = {dlsym(loaded.library, "answer")};
    return answer.symbol != NULL && answer.function() == 42 ? loaded.is_compiled : 2;
}

TEST(two_processes_at_once_compile_once_and_both_are_right)
{
    enum { TRIES = 100, PROCESSES = 2 };
    native_fixture f = native_fixture_begin();
    native_loaded made;
    native_request q = request_of(&f);
    /* What a compiler makes, a hundred times: a copy. Its argument after `-o` is the third of all. */
    const native_compiler real = counting_compiler(&f, "");
    assert_int_equal(native_load(&real, &q, &made, &f.e), NATIVE_OK);
    dlclose(made.library);
    char commands[PATH_MAX + 64];
    snprintf(commands, sizeof commands, "cp %s/cache/*.so %s/made.so", f.folder, f.folder);
    assert_int_equal(system(commands), 0);
    snprintf(commands, sizeof commands, "echo x >>%s/copies\ncp %s/made.so module.so", f.folder, f.folder);
    native_compiler c;
    assert_int_equal(native_compiler_find(write_program(&f, "copy", commands), &c, &f.e), NATIVE_OK);
    int compiled = 0;
    for (int i = 0; i < TRIES; i++) {
        char salt[16];
        pid_t children[PROCESSES];
        snprintf(salt, sizeof salt, "%d", i);
        q.salt = salt;
        for (int k = 0; k < PROCESSES; k++) {
            children[k] = fork();
            if (children[k] == 0) _exit(load_in_child(&c, &q));
        }
        for (int k = 0; k < PROCESSES; k++) {
            int status = 0;
            assert_int_equal(waitpid(children[k], &status, 0), children[k]);
            assert_true(WIFEXITED(status));
            assert_in_range(WEXITSTATUS(status), 0, 1);
            compiled += WEXITSTATUS(status);
        }
    }
    assert_int_equal(compiled, line_count(path_in(&f, "copies")));
    assert_int_equal(compiled, TRIES);
    assert_int_equal(entry_count(f.cache), 1 + TRIES);
    assert_int_equal(scratch_count(&f), 0);
    native_fixture_end(&f);
}

TEST(what_a_process_leaves_that_is_killed_while_it_compiles)
{
    native_fixture f = native_fixture_begin();
    const native_request q = request_of(&f);
    const struct timespec moment = {.tv_nsec = 1000000};
    native_compiler c = counting_compiler(&f, "echo $$ >process; exec sleep 600");
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child == 0) _exit(load_in_child(&c, &q));
        for (int t = 0; t < 20000 && times_compiled(&f) == i; t++) nanosleep(&moment, NULL);
        assert_int_equal(times_compiled(&f), i + 1);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        /* What the one before left is gone already. */
        assert_int_equal(scratch_count(&f), 1);
        char commands[PATH_MAX + 64];
        snprintf(commands, sizeof commands,
                 "for i in 1 2 3 4 5; do kill $(cat %s/pto-native-*/*/process) && break; sleep 0.1; done", f.folder);
        assert_int_equal(system(commands), 0);
    }
    c = counting_compiler(&f, "");
    assert_true(load(&f, &c, &q));
    assert_int_equal(scratch_count(&f), 0);
    assert_int_equal(entry_count(f.cache), 1);
    native_fixture_end(&f);
}
