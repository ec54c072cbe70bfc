/* A folder for one test of plugins/shared/native, with compilers that misbehave. */
#ifndef TESTS_UNIT_PLUGINS_NATIVE_FIXTURE_H
#define TESTS_UNIT_PLUGINS_NATIVE_FIXTURE_H

#include "tests/unit/unit.h"

#include <native_folder.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534, NAME_TEXT = 512 };

typedef struct native_fixture {
    char folder[NAME_TEXT], cache[NAME_TEXT + 8];
    native_error e;
} native_fixture;

/* "<folder>/<name>", in one of a few buffers that take turns. */
static inline const char *path_in(const native_fixture *f, const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned turn = 0;
    char *path = paths[turn++ % 8];
    snprintf(path, PATH_MAX, "%s/%s", f->folder, name);
    return path;
}

static inline void write_text(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A program in a shell: its commands begin in the folder where the compiler runs. */
static inline const char *write_program(const native_fixture *f, const char *name, const char *commands)
{
    char text[2 * PATH_MAX];
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", commands);
    const char *path = path_in(f, name);
    write_text(path, text, 0755);
    return path;
}

/* The folder is $TMPDIR of the test, too, and the only one of $XDG_CACHE_HOME. */
static inline native_fixture native_fixture_begin(void)
{
    native_fixture f = {.folder = "/tmp/pto-native-test-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    assert_int_equal(chmod(f.folder, 0755), 0);
    snprintf(f.cache, sizeof f.cache, "%s/cache", f.folder);
    setenv("TMPDIR", f.folder, 1);
    setenv("XDG_CACHE_HOME", f.folder, 1);
    return f;
}

static inline void native_fixture_end(native_fixture *f) { native_folder_remove(AT_FDCWD, f->folder); }

/* Files and folders in the folder at `path`, those of it that begin with a dot apart; 0 when there is none. */
static inline int entry_count(const char *path)
{
    int n = 0;
    DIR *entries = opendir(path);
    if (entries == NULL) return 0;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        n += entry->d_name[0] != '.';
    closedir(entries);
    return n;
}

static inline bool has_entry(const native_fixture *f, const char *name) { return access(path_in(f, name), F_OK) == 0; }

/* How often a program has added a line to the file. */
static inline int line_count(const char *path)
{
    int n = 0;
    FILE *file = fopen(path, "r");
    for (int c = file != NULL ? fgetc(file) : EOF; c != EOF; c = fgetc(file)) n += c == '\n';
    if (file != NULL) fclose(file);
    return n;
}

/* Modes of folders do not stop root: what follows is done as another user, which the folder then belongs to. */
static inline void become_plain_user(const native_fixture *f)
{
    if (geteuid() != 0) return;
    assert_int_equal(chown(f->folder, NOBODY, NOBODY), 0);
    assert_int_equal(seteuid(NOBODY), 0);
}
static inline void become_oneself(void)
{
    if (getuid() == 0) assert_int_equal(seteuid(0), 0);
}

/* What the last function that failed said has this in it. */
static inline void assert_says(const native_fixture *f, const char *text)
{
    if (strstr(f->e.text, text) == NULL) fail_msg("`%s` is not in `%s`", text, f->e.text);
}

#endif
