#include "ir/text/source_text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_STEP = 64 * 1024, DROP_STEP = 256 * 1024, HUGE_PAGE = 2 * 1024 * 1024, SMALLEST_MAPPED = 256 * 1024 };

/* A large file that is read from its start needs no copy. The pages belong to it until they are written, and the NUL
 * goes into the last of them, or into the page after it. FAILED: it has to be read. */
static status map_file(source_text *t, int fd, size_t limit)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < SMALLEST_MAPPED) return FAILED;
    if (lseek(fd, 0, SEEK_CUR) != 0) return FAILED;
    const size_t n = (uint64_t)info.st_size <= limit ? (size_t)info.st_size : limit + 1;
    const size_t size = (n + PAGE_STEP) / PAGE_STEP * PAGE_STEP;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return FAILED;
    if (mmap(p, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(p, size);
        return FAILED;
    }
    p[n] = 0;
    *t = (source_text){.bytes = p, .n = n, .mapped = size, .is_mapped = true};
    return OK;
}

static status map(source_text *t, size_t wanted)
{
    /* Whole huge pages, or the kernel puts the mapping where it can use none. */
    const size_t step = wanted >= (size_t)2 * HUGE_PAGE ? HUGE_PAGE : PAGE_STEP;
    const size_t size = (wanted + step - 1) / step * step;
    void *p = t->bytes == NULL ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                               : mremap(t->bytes, t->mapped, size, MREMAP_MAYMOVE);
    if (p == MAP_FAILED) return FAILED;
    t->bytes = p;
    t->mapped = size;
    if (step == HUGE_PAGE) (void)madvise(p, size, MADV_HUGEPAGE);
    return OK;
}

status source_text_read(source_text *t, int fd, size_t expected, size_t limit)
{
    *t = (source_text){0};
    if (map_file(t, fd, limit) == OK) return OK;
    /* One byte more than expected for the read that finds the end, one for the NUL. */
    TRY(map(t, expected + 2));
    for (;;) {
        const ssize_t got = read(fd, t->bytes + t->n, t->mapped - t->n - 1);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return FAILED;
        t->n += (size_t)got;
        /* A NUL is refused whatever follows; /dev/zero has no end. */
        if (t->n > limit || memchr(t->bytes + t->n - got, 0, (size_t)got) != NULL) break;
        if (t->n + 1 == t->mapped) TRY(map(t, t->mapped <= limit / 2 ? 2 * t->mapped : limit + 2));
    }
    t->bytes[t->n] = 0;
    return OK;
}

void source_text_rest(source_text *t, size_t from, size_t to)
{
    from = (from + PAGE_STEP - 1) / PAGE_STEP * PAGE_STEP;
    to = to / PAGE_STEP * PAGE_STEP; /* the page of the NUL lies after it */
    if (t->is_mapped && from < to) (void)madvise(t->bytes + from, to - from, MADV_DONTNEED);
}

bool source_text_drop(source_text *t, const char *at)
{
    const size_t end = (size_t)(at - t->bytes) / DROP_STEP * DROP_STEP;
    if (end <= t->dropped) return false;
    void *p = mmap(t->bytes + t->dropped, end - t->dropped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    t->dropped = end;
    return true;
}

void source_text_close(source_text *t)
{
    if (t->bytes != NULL) munmap(t->bytes, t->mapped);
    *t = (source_text){0};
}
