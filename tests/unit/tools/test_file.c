/* tools/base/file.h: several files appear together or not at all. */
#include "tools/base/file.h"

#include "tests/unit/diag_text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

/* A folder for a test, with what it writes: `a` and `b`. */
typedef struct folder {
    char path[64], a[72], b[72];
} folder;

static folder folder_make(void)
{
    folder f = {.path = "/tmp/pto-test-file-XXXXXX"};
    assert_non_null(mkdtemp(f.path));
    snprintf(f.a, sizeof f.a, "%s/a", f.path);
    snprintf(f.b, sizeof f.b, "%s/b", f.path);
    return f;
}

static int count_entries(const folder *f)
{
    DIR *all = opendir(f->path);
    int count = -2; /* `.` and `..` */
    assert_non_null(all);
    while (readdir(all) != NULL) count++;
    closedir(all);
    return count;
}

static void assert_holds(const char *path, const char *wanted)
{
    diag_text t;
    str bytes;
    diag_text_begin(&t);
    assert_int_equal(file_read(t.a, t.d, path, 100, &bytes), OK);
    assert_true(str_is(bytes, wanted));
    diag_text_end(&t, "");
}

static void open_both(diag_text *t, const folder *f, file_writer *list)
{
    assert_int_equal(file_writer_open(&list[0], t->d, f->a), OK);
    assert_int_equal(file_writer_open(&list[1], t->d, f->b), OK);
    file_writer_put(&list[0], "new a", 5);
    file_writer_put(&list[1], "new b", 5);
}

TEST(several_files_are_new_or_replace_others)
{
    const folder f = folder_make();
    file_writer list[2];
    diag_text t;
    diag_text_begin(&t);
    for (int i = 0; i < 2; i++) {
        open_both(&t, &f, list);
        assert_int_equal(file_writers_commit(list, 2), OK);
        assert_holds(f.a, "new a");
        assert_holds(f.b, "new b");
        assert_int_equal(count_entries(&f), 2);
    }
    diag_text_end(&t, "");
    file_remove_tree(f.path);
}

/* The second cannot be written: the system says so at once, or when it gets its name. */
TEST(nothing_is_left_when_one_fails)
{
    const folder f = folder_make();
    file_writer list[2];
    diag_text t;
    char wanted[2 * PATH_MAX];
    diag_text_begin(&t);
    open_both(&t, &f, list);
    list[1].failed = ENOSPC;
    assert_int_equal(file_writers_commit(list, 2), FAILED);
    assert_int_equal(count_entries(&f), 0);
    open_both(&t, &f, list);
    assert_int_equal(mkdir(f.b, 0700), 0);
    assert_int_equal(file_writers_commit(list, 2), FAILED);
    assert_int_equal(count_entries(&f), 1); /* the folder */
    snprintf(wanted, sizeof wanted,
             "%s: error: [E1501] cannot write: No space left on device\n"
             "%s: error: [E1501] cannot write: Is a directory\n",
             f.b, f.b);
    diag_text_end(&t, wanted);
    file_remove_tree(f.path);
}

TEST(what_was_there_stays_when_one_fails)
{
    const folder f = folder_make();
    file_writer list[2];
    diag_text t;
    diag_text_begin(&t);
    open_both(&t, &f, list);
    assert_int_equal(file_writers_commit(list, 2), OK);
    open_both(&t, &f, list);
    file_writer_put(&list[0], " again", 6);
    list[1].failed = ENOSPC;
    assert_int_equal(file_writers_commit(list, 2), FAILED);
    assert_holds(f.a, "new a");
    assert_holds(f.b, "new b");
    assert_int_equal(count_entries(&f), 2);
    diag_text_end(&t, NULL);
    file_remove_tree(f.path);
}
