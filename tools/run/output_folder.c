#include "tools/run/output_folder.h"

#include "core/core_diag.h"
#include "tools/base/digest.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char list_name[] = ".pto-files", list_head[] = "pto-files 1\n";

enum { LIST_BYTES_MAX = 1 << 28, NAME_BYTES_MAX = 255, DIGEST_DIGITS = 16 };

struct output_folder {
    arena *a;
    diag_engine *d;
    const char *path;
    int fd, list; /* the folder, and the list in it, locked; or -1 */
    file_writer file;
    bool is_open; /* a file has begun and not ended */
    uint64_t digest;
    str *names; /* what this run wrote; the last one may be unfinished */
    uint32_t count, capacity;
};

static status fail(const output_folder *f, const char *what, int error)
{
    diag_error(f->d, (src_pos){f->path, 0, 0}, &E1501, "cannot %s: %s", what, strerror(error));
    return FAILED;
}

const char *output_folder_path(const output_folder *f) { return f->path; }
uint32_t output_folder_count(const output_folder *f) { return f->count; }

/* ---- the files of an earlier run ---- */

/* True when a file is there and still has the bytes that were written. */
static bool is_unchanged(int folder, const char *name, uint64_t wanted)
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0) return false;
    bool is_whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    uint64_t digest = DIGEST_OF_NOTHING;
    char piece[1 << 14];
    while (is_whole) {
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        is_whole = n >= 0;
        if (n <= 0) break;
        digest = digest_add(digest, piece, (size_t)n);
    }
    close(fd);
    return is_whole && digest == wanted;
}

bool output_folder_takes_name(str name)
{
    if (name.n == 0 || name.n > NAME_BYTES_MAX || str_is(name, ".") || str_is(name, "..") || str_is(name, list_name))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || (uint8_t)name.p[i] < ' ' || name.p[i] == 0x7f) return false;
    return true;
}

/* "0123456789abcdef name". A line that is anything else was not written here and is passed over. */
static bool read_line(str line, uint64_t *digest, str *name)
{
    if (line.n < DIGEST_DIGITS + 2 || line.p[DIGEST_DIGITS] != ' ') return false;
    *digest = 0;
    for (int i = 0; i < DIGEST_DIGITS; i++) {
        const char c = line.p[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return false;
        *digest = *digest << 4 | (uint64_t)digit;
    }
    *name = (str){line.p + DIGEST_DIGITS + 1, line.n - DIGEST_DIGITS - 1};
    return output_folder_takes_name(*name);
}

static void remove_listed(const output_folder *f, str list)
{
    while (list.n > 0) {
        const char *end = memchr(list.p, '\n', list.n);
        const str line = {list.p, end != NULL ? (size_t)(end - list.p) : list.n};
        uint64_t digest;
        str name;
        if (read_line(line, &digest, &name)) {
            const char *path = arena_strndup(f->a, name.p, name.n);
            if (is_unchanged(f->fd, path, digest)) unlinkat(f->fd, path, 0);
        }
        const size_t used = line.n + (end != NULL);
        list = (str){list.p + used, list.n - used};
    }
}

static status append(const output_folder *f, const char *text, size_t n)
{
    if (write(f->list, text, n) == (ssize_t)n) return OK;
    return fail(f, "write the list `.pto-files`", errno);
}

/* The lock goes with the process. */
static status take_list(output_folder *f)
{
    f->list = openat(f->fd, list_name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    struct stat st;
    if (f->list < 0) return fail(f, "open the list `.pto-files`", errno);
    if (flock(f->list, LOCK_EX | LOCK_NB) == 0)
        return fstat(f->list, &st) == 0 && S_ISREG(st.st_mode) ? OK : fail(f, "read the list `.pto-files`", EINVAL);
    if (errno != EWOULDBLOCK) return fail(f, "lock the list `.pto-files`", errno);
    diag_error(f->d, (src_pos){f->path, 0, 0}, &E1508, "another run is filling this folder");
    diag_note(f->d, NO_POS, "wait for it, or name another folder");
    return FAILED;
}

static status clear(output_folder *f)
{
    str list;
    char list_path[64];
    snprintf(list_path, sizeof list_path, "/proc/self/fd/%d", f->list);
    TRY(file_read(f->a, f->d, list_path, LIST_BYTES_MAX, &list));
    if (list.n > 0 && !str_starts_with(list, list_head)) {
        diag_error(f->d, (src_pos){f->path, 0, 0}, &E1507, "the folder holds a file `%s` that pto did not write",
                   list_name);
        diag_note(f->d, NO_POS, "remove it, or name another folder");
        return FAILED;
    }
    remove_listed(f, list);
    if (ftruncate(f->list, 0) != 0) return fail(f, "write the list `.pto-files`", errno);
    return append(f, list_head, sizeof list_head - 1);
}

static status open_all(output_folder *f)
{
    if (mkdir(f->path, 0777) != 0 && errno != EEXIST) return fail(f, "create the folder", errno);
    f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0) return fail(f, "open the folder", errno);
    TRY(take_list(f));
    return clear(f);
}

status output_folder_open(arena *a, diag_engine *d, const char *path, output_folder **out)
{
    output_folder *f = arena_alloc(a, sizeof *f);
    *f = (output_folder){.a = a, .d = d, .path = arena_strdup(a, path), .fd = -1, .list = -1};
    *out = NULL;
    const status s = open_all(f);
    if (s == OK)
        *out = f;
    else
        output_folder_close(f);
    return s;
}

void output_folder_close(output_folder *f)
{
    if (f == NULL) return;
    if (f->is_open) file_writer_abandon(&f->file);
    if (f->list >= 0) close(f->list);
    if (f->fd >= 0) close(f->fd);
    f->is_open = false;
    f->list = f->fd = -1;
}

/* ---- the files of this run ---- */

static bool is_of_this_run(const output_folder *f, str name)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (str_eq(f->names[i], name)) return true;
    return false;
}

static status refuse_name(const output_folder *f, str name)
{
    if (is_of_this_run(f, name)) {
        diag_error(f->d, (src_pos){f->path, 0, 0}, &E1507, "the file `%.*s` is written twice by this run", (int)name.n,
                   name.p);
        return FAILED;
    }
    diag_error(f->d, (src_pos){f->path, 0, 0}, &E1507,
               "the folder holds a file `%.*s` that pto did not write, or that was changed since", (int)name.n, name.p);
    diag_note(f->d, NO_POS, "move it away, or name another folder");
    return FAILED;
}

static void push_name(output_folder *f, str name)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 32;
        str *names = arena_array(f->a, f->capacity, sizeof *names);
        if (f->count > 0) memcpy(names, f->names, f->count * sizeof *names);
        f->names = names;
    }
    f->names[f->count++] = name;
}

status output_folder_begin(output_folder *f, str name)
{
    BUG_IF(f->is_open, "a file begins in %s before another ended", f->path);
    if (!output_folder_takes_name(name)) {
        diag_error(f->d, (src_pos){f->path, 0, 0}, &E1501,
                   "`%.*s` is not a name for a file of this folder: up to %d bytes, no `/` and no control characters",
                   (int)(name.n > NAME_BYTES_MAX ? NAME_BYTES_MAX : name.n), name.p, NAME_BYTES_MAX);
        return FAILED;
    }
    const str own = {arena_strndup(f->a, name.p, name.n), name.n};
    struct stat st;
    if (fstatat(f->fd, own.p, &st, AT_SYMLINK_NOFOLLOW) == 0) return refuse_name(f, own);
    TRY(file_writer_open(&f->file, f->d, file_join(f->a, f->path, own.p)));
    f->is_open = true;
    f->digest = DIGEST_OF_NOTHING;
    push_name(f, own);
    return OK;
}

void output_folder_put(output_folder *f, const void *bytes, size_t n)
{
    if (!f->is_open) return;
    f->digest = digest_add(f->digest, bytes, n);
    file_writer_put(&f->file, bytes, n);
}

status output_folder_end(output_folder *f)
{
    BUG_IF(!f->is_open, "a file ends in %s that did not begin", f->path);
    char line[DIGEST_DIGITS + NAME_BYTES_MAX + 3];
    const str name = f->names[f->count - 1];
    const int n = snprintf(line, sizeof line, "%016" PRIx64 " %.*s\n", f->digest, (int)name.n, name.p);
    f->is_open = false;
    if (append(f, line, (size_t)n) == OK) return file_writer_commit(&f->file);
    file_writer_abandon(&f->file);
    return FAILED;
}

status output_folder_write(output_folder *f, str name, str bytes)
{
    TRY(output_folder_begin(f, name));
    output_folder_put(f, bytes.p, bytes.n);
    return output_folder_end(f);
}

void output_folder_rewind(output_folder *f, uint32_t count)
{
    BUG_IF(f->is_open || count > f->count, "files of %s are taken back that were not written", f->path);
    while (f->count > count) unlinkat(f->fd, f->names[--f->count].p, 0);
}
