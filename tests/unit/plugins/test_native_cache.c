/* plugins/shared/native/native_cache.h: folders that cannot be used, files that are damaged, locks, the size. */
#include "tests/unit/plugins/native_fixture.h"

#include <native_cache.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { BYTES_MAX = 1024 * 1024 };

static native_digest key_of(const char *text)
{
    native_hash h = native_hash_begin();
    native_hash_add_text(&h, text);
    return native_hash_end(&h);
}

/* The name of the file of a key, with an ending. */
static const char *file_of(const native_fixture *f, const char *text, const char *ending)
{
    char name[NATIVE_DIGEST_DIGITS + 1], file[NAME_TEXT];
    const native_digest key = key_of(text);
    native_digest_print(&key, name);
    snprintf(file, sizeof file, "%s%s", name, ending);
    return path_in(f, file);
}

static native_cache open_cache(native_fixture *f, uint64_t bytes_max)
{
    native_cache c;
    assert_int_equal(native_cache_open(&c, f->folder, bytes_max, &f->e), NATIVE_OK);
    return c;
}

/* A library that every system has. */
static const char *library_path(void)
{
    static char path[PATH_MAX];
    Dl_info found;
    void *libm = dlopen("libm.so.6", RTLD_NOW);
    assert_non_null(libm);
    void *symbol = dlsym(libm, "exp");
    assert_non_null(symbol);
    assert_int_not_equal(dladdr(symbol, &found), 0);
    snprintf(path, sizeof path, "%s", found.dli_fname);
    dlclose(libm);
    return path;
}

static native_status store(native_cache *c, const char *text, const char *file, native_error *e)
{
    int lock = -1;
    const native_digest key = key_of(text);
    native_status status = native_cache_lock(c, &key, 10, NULL, NULL, &lock, e);
    if (status != NATIVE_OK) return status;
    const int from = open(file, O_RDONLY);
    assert_true(from >= 0);
    status = native_cache_store(c, &key, from, e);
    close(from);
    native_cache_unlock(c, &key, lock);
    return status;
}

/* The handle, or NULL when the file is not there. */
static void *load(native_fixture *f, native_cache *c, const char *text)
{
    void *library = NULL;
    const native_digest key = key_of(text);
    assert_int_equal(native_cache_load(c, &key, "exp", &library, &f->e), NATIVE_OK);
    return library;
}

static native_status load_status(native_fixture *f, native_cache *c, const char *text)
{
    void *library = NULL;
    const native_digest key = key_of(text);
    const native_status status = native_cache_load(c, &key, "exp", &library, &f->e);
    assert_null(library);
    return status;
}

/* ---- where it is ---- */

TEST(the_folder_of_the_user)
{
    native_error e;
    char path[PATH_MAX], home[PATH_MAX];
    snprintf(home, sizeof home, "%s", getenv("HOME") != NULL ? getenv("HOME") : "/");
    setenv("XDG_CACHE_HOME", "/a/cache", 1);
    assert_int_equal(native_cache_default(path, &e), NATIVE_OK);
    assert_string_equal(path, "/a/cache/pto/native-1");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/of/a", 1);
    assert_int_equal(native_cache_default(path, &e), NATIVE_OK);
    assert_string_equal(path, "/of/a/.cache/pto/native-1");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_int_equal(native_cache_default(path, &e), NATIVE_NO_FOLDER);
    assert_string_equal(e.text, "neither $XDG_CACHE_HOME nor $HOME is an absolute path");
    char long_name[PATH_MAX + 2];
    memset(long_name, '/', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    setenv("HOME", long_name, 1);
    assert_int_equal(native_cache_default(path, &e), NATIVE_NO_FOLDER);
    assert_string_equal(e.text, "the name of the cache folder is too long");
    native_cache c;
    assert_int_equal(native_cache_open(&c, long_name, BYTES_MAX, &e), NATIVE_NO_FOLDER);
    assert_string_equal(e.text, "the name of the cache folder is too long");
    native_cache_close(&c);
    setenv("HOME", home, 1);
}

TEST(it_is_made_for_the_user_alone)
{
    native_fixture f = native_fixture_begin();
    native_cache c;
    struct stat st;
    umask(0);
    assert_int_equal(native_cache_open(&c, path_in(&f, "a/b/native-1"), BYTES_MAX, &f.e), NATIVE_OK);
    assert_int_equal(stat(path_in(&f, "a/b/native-1"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    umask(022);
    native_cache_close(&c);
    native_cache_close(&c);
    native_fixture_end(&f);
}

TEST(folders_that_are_not_ours)
{
    native_fixture f = native_fixture_begin();
    native_cache c;
    char text[NAME_TEXT + 128];
    assert_int_equal(chmod(f.folder, 0777), 0);
    assert_int_equal(native_cache_open(&c, f.folder, BYTES_MAX, &f.e), NATIVE_NO_FOLDER);
    snprintf(text, sizeof text, "cache folder `%s` can be written by others (mode 0777, expected 0700)", f.folder);
    assert_string_equal(f.e.text, text);
    assert_int_equal(chmod(f.folder, 0700), 0);
    /* The folder of root, or one of somebody else for root. */
    const bool is_root = geteuid() == 0;
    const char *foreign = is_root ? f.folder : "/";
    if (is_root) assert_int_equal(chown(f.folder, NOBODY, NOBODY), 0);
    assert_int_equal(native_cache_open(&c, foreign, BYTES_MAX, &f.e), NATIVE_NO_FOLDER);
    snprintf(text, sizeof text, "cache folder `%s` belongs to user %d, not to user %d, which runs this", foreign,
             is_root ? NOBODY : 0, (int)geteuid());
    assert_string_equal(f.e.text, text);
    write_text(path_in(&f, "file"), "", 0644);
    assert_int_equal(native_cache_open(&c, path_in(&f, "file"), BYTES_MAX, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "file` cannot be opened: Not a directory");
    assert_int_equal(native_cache_open(&c, path_in(&f, "file/below"), BYTES_MAX, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "below` cannot be opened: Not a directory");
    native_fixture_end(&f);
}

/* ---- what goes in comes out ---- */

TEST(what_was_stored_is_loaded)
{
    native_fixture f = native_fixture_begin();
    native_cache c = open_cache(&f, 100 * BYTES_MAX);
    assert_null(load(&f, &c, "a"));
    assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(entry_count(f.folder), 1);
    void *library = load(&f, &c, "a");
    assert_non_null(library);
    assert_non_null(dlsym(library, "exp"));
    dlclose(library);
    assert_null(load(&f, &c, "b"));
    native_cache_close(&c);
    native_fixture_end(&f);
}

static void change_byte(const char *path, off_t at)
{
    char byte = 0;
    const int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 1);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

TEST(a_file_that_is_not_what_was_written_is_never_loaded)
{
    native_fixture f = native_fixture_begin();
    native_cache c = open_cache(&f, 100 * BYTES_MAX);
    struct stat st;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_OK);
        const char *file = file_of(&f, "a", ".so");
        assert_int_equal(stat(file, &st), 0);
        if (i == 0) change_byte(file, 5000);
        if (i == 1) change_byte(file, st.st_size - 1);
        if (i == 2) change_byte(file, st.st_size - 48);
        if (i == 3) assert_int_equal(truncate(file, st.st_size - 1), 0);
        if (i == 4) assert_int_equal(truncate(file, 0), 0);
        if (i == 5) assert_int_equal(rename(file, file_of(&f, "b", ".so")), 0);
        if (i == 6) assert_int_equal(chmod(file, 0666), 0); /* others could have written it */
        const char *key = i == 5 ? "b" : "a";
        assert_int_equal(load_status(&f, &c, key), NATIVE_DAMAGED);
        assert_says(&f, file_of(&f, key, ".so"));
        assert_says(&f, " of the cache is not what was written");
        assert_int_equal(entry_count(f.folder), 0);
    }
    assert_int_equal(symlink(library_path(), file_of(&f, "a", ".so")), 0);
    assert_int_equal(load_status(&f, &c, "a"), NATIVE_DAMAGED);
    assert_int_equal(entry_count(f.folder), 0);
    assert_int_equal(mkdir(file_of(&f, "a", ".so"), 0700), 0);
    assert_int_equal(load_status(&f, &c, "a"), NATIVE_DAMAGED);
    assert_int_equal(entry_count(f.folder), 0);
    /* What others put there stays: it is not loaded, nor replaced. */
    assert_int_equal(mkdir(file_of(&f, "a", ".so"), 0700), 0);
    write_text(file_of(&f, "a", ".so/thesis"), "", 0600);
    assert_int_equal(load_status(&f, &c, "a"), NATIVE_DAMAGED);
    assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, ".so` is a folder that is not empty, where a file of the cache belongs; remove it");
    assert_int_equal(entry_count(f.folder), 1);
    native_cache_close(&c);
    native_fixture_end(&f);
}

/* Of it the cache has the digest. */
static void assert_not_a_module(native_fixture *f, const char *file, const char *why)
{
    native_cache c = open_cache(f, 100 * BYTES_MAX);
    assert_int_equal(store(&c, "a", file, &f->e), NATIVE_OK);
    assert_int_equal(load_status(f, &c, "a"), NATIVE_NOT_LOADED);
    assert_says(f, file_of(f, "a", ".so"));
    assert_says(f, "` of the cache is not a module: ");
    assert_says(f, why);
    assert_int_equal(store(&c, "a", library_path(), &f->e), NATIVE_OK);
    dlclose(load(f, &c, "a"));
    native_cache_close(&c);
}

TEST(a_whole_file_that_is_not_a_module)
{
    native_fixture f = native_fixture_begin();
    write_text(path_in(&f, "text"), "a text that is longer than the head of a library, which has 64 bytes", 0644);
    assert_not_a_module(&f, path_in(&f, "text"), "it is not a shared object");
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "head -c 5000 %s >%s/cut", library_path(), f.folder);
    assert_int_equal(system(command), 0);
    assert_not_a_module(&f, path_in(&f, "cut"), "it has 5048 bytes, which are not all of a shared object");
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    Dl_info found;
    assert_int_not_equal(dladdr(dlsym(libc, "getpid"), &found), 0);
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%s", found.dli_fname);
    dlclose(libc);
    assert_not_a_module(&f, other, "it has no symbol `exp`");
    native_fixture_end(&f);
}

/* ---- folders that cannot be written ---- */

TEST(a_folder_that_is_read_only_is_read)
{
    native_fixture f = native_fixture_begin();
    char library[PATH_MAX];
    snprintf(library, sizeof library, "%s", library_path());
    become_plain_user(&f);
    native_cache c = open_cache(&f, 100 * BYTES_MAX);
    assert_int_equal(store(&c, "a", library, &f.e), NATIVE_OK);
    assert_int_equal(chmod(f.folder, 0500), 0);
    void *loaded = load(&f, &c, "a");
    assert_non_null(loaded);
    dlclose(loaded);
    assert_int_equal(store(&c, "b", library, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "cache folder `/tmp/pto-native-test-");
    assert_says(&f, "` cannot be written: Permission denied");
    change_byte(file_of(&f, "a", ".so"), 5000);
    assert_int_equal(load_status(&f, &c, "a"), NATIVE_DAMAGED);
    native_cache_close(&c);
    assert_int_equal(native_cache_open(&c, path_in(&f, "below"), BYTES_MAX, &f.e), NATIVE_NO_FOLDER);
    assert_says(&f, "below` cannot be opened: No such file or directory");
    assert_int_equal(chmod(f.folder, 0700), 0);
    become_oneself();
    native_fixture_end(&f);
}

TEST(a_folder_that_is_full_keeps_nothing_of_a_file)
{
    native_fixture f = native_fixture_begin();
    native_cache c = open_cache(&f, 100 * BYTES_MAX);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {100 * 1000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const native_status status = store(&c, "a", library_path(), &f.e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, NATIVE_NO_FOLDER);
    assert_says(&f, "` cannot be written: File too large");
    assert_int_equal(entry_count(f.folder), 0);
    assert_null(load(&f, &c, "a"));
    assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_OK);
    native_cache_close(&c);
    native_fixture_end(&f);
}

/* ---- size ---- */

static void set_time(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(the_file_that_was_not_used_for_longest_goes)
{
    native_fixture f = native_fixture_begin();
    struct stat st;
    assert_int_equal(stat(library_path(), &st), 0);
    native_cache c = open_cache(&f, 3 * (uint64_t)st.st_size + 1000);
    assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(store(&c, "b", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(store(&c, "c", library_path(), &f.e), NATIVE_OK);
    set_time(file_of(&f, "a", ".so"), 1000);
    set_time(file_of(&f, "b", ".so"), 2000);
    set_time(file_of(&f, "c", ".so"), 3000);
    write_text(path_in(&f, "of-somebody-else"), "", 0644);
    dlclose(load(&f, &c, "a"));
    assert_int_equal(store(&c, "d", library_path(), &f.e), NATIVE_OK);
    assert_null(load(&f, &c, "b"));
    assert_int_equal(access(file_of(&f, "a", ".so"), F_OK), 0);
    assert_int_equal(access(file_of(&f, "c", ".so"), F_OK), 0);
    assert_int_equal(entry_count(f.folder), 4);
    /* The newest stays, even alone above the limit. */
    c.bytes_max = 1;
    assert_int_equal(store(&c, "e", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(access(file_of(&f, "e", ".so"), F_OK), 0);
    assert_int_equal(entry_count(f.folder), 2);
    native_cache_close(&c);
    native_fixture_end(&f);
}

/* ---- what is not ours ---- */

TEST(a_link_to_the_folder_is_followed_and_only_our_files_are_removed)
{
    /* As long as a key, one digit too few, and the like: files of the user that the folder had before. */
    static const char *const names[] = {"a-library-of-somebody-else-with-a-name-that-is-as-long-as-a-key.so",
                                        "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef.so",
                                        "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.so",
                                        "a-library-of-somebody-else-with-a-name-that-is-as-long-as-a-key.lock",
                                        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.so.1"};
    enum { COUNT = sizeof names / sizeof names[0] };
    native_fixture f = native_fixture_begin();
    native_cache c;
    assert_int_equal(mkdir(path_in(&f, "disk"), 0700), 0);
    assert_int_equal(symlink(path_in(&f, "disk"), path_in(&f, "link")), 0);
    assert_int_equal(native_cache_open(&c, path_in(&f, "link"), 1, &f.e), NATIVE_OK);
    for (size_t i = 0; i < COUNT; i++) {
        char name[NAME_TEXT];
        snprintf(name, sizeof name, "disk/%s", names[i]);
        write_text(path_in(&f, name), "a text", 0600);
    }
    assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(store(&c, "b", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(entry_count(path_in(&f, "disk")), COUNT + 1);
    dlclose(load(&f, &c, "b"));
    assert_int_equal(native_cache_clear(&c, &f.e), NATIVE_OK);
    assert_int_equal(entry_count(path_in(&f, "disk")), COUNT);
    native_cache_close(&c);
    native_fixture_end(&f);
}

/* ---- several processes ---- */

static bool stop_third_time(void *self) { return ++*(int *)self == 3; }

TEST(a_lock_is_waited_for_and_ends_with_its_process)
{
    native_fixture f = native_fixture_begin();
    native_cache c = open_cache(&f, BYTES_MAX);
    const native_digest key = key_of("a"), other = key_of("b");
    int lock = -1, second = -1, asked = 0, ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t holder = fork();
    if (holder == 0) {
        char byte = 0;
        if (native_cache_lock(&c, &key, 0, NULL, NULL, &lock, NULL) == NATIVE_OK) byte = (char)write(ready[1], "x", 1);
        (void)byte;
        pause();
        _exit(0);
    }
    char byte = 0;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(native_cache_lock(&c, &key, 0.02, NULL, NULL, &lock, &f.e), NATIVE_STOPPED);
    assert_says(&f, "another process compiles the same for cache folder `");
    assert_int_equal(native_cache_lock(&c, &key, 60, stop_third_time, &asked, &lock, &f.e), NATIVE_STOPPED);
    assert_int_equal(asked, 3);
    assert_int_equal(native_cache_lock(&c, &other, 0, NULL, NULL, &second, &f.e), NATIVE_OK);
    native_cache_unlock(&c, &other, second);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(native_cache_lock(&c, &key, 10, NULL, NULL, &lock, &f.e), NATIVE_OK);
    native_cache_unlock(&c, &key, lock);
    assert_int_equal(entry_count(f.folder), 0);
    close(ready[0]);
    close(ready[1]);
    native_cache_close(&c);
    native_fixture_end(&f);
}

TEST(what_a_killed_process_left_goes_with_the_next_file)
{
    native_fixture f = native_fixture_begin();
    native_cache c = open_cache(&f, 100 * BYTES_MAX);
    const native_digest held = key_of("held");
    int lock = -1;
    write_text(file_of(&f, "killed", ".tmp"), "half a file", 0600);
    write_text(file_of(&f, "killed", ".lock"), "", 0600);
    assert_int_equal(native_cache_lock(&c, &held, 0, NULL, NULL, &lock, &f.e), NATIVE_OK);
    write_text(file_of(&f, "held", ".tmp"), "half a file", 0600);
    assert_int_equal(store(&c, "a", library_path(), &f.e), NATIVE_OK);
    assert_int_equal(access(file_of(&f, "killed", ".tmp"), F_OK), -1);
    assert_int_equal(access(file_of(&f, "killed", ".lock"), F_OK), -1);
    assert_int_equal(access(file_of(&f, "held", ".tmp"), F_OK), 0);
    assert_int_equal(entry_count(f.folder), 3);
    native_cache_unlock(&c, &held, lock);
    native_cache_close(&c);
    native_fixture_end(&f);
}
