/* .npz is a zip archive whose members are .npy files, stored or deflated. What counts is the directory at its end; the
 * header in front of each member must agree with it. */
#include "tensor_files/tensor_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    MEMBER_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_MAX = 65535,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,
    DEFLATE_RATIO_MAX = 1032, /* 258 bytes of two bits */
    EXTRA_SIZES = 1           /* the record with 64-bit sizes */
};

typedef struct directory {
    uint64_t offset, bytes, count;
} directory;

/* What the directory says of a member. */
typedef struct zip_member {
    const uint8_t *name;
    uint32_t name_bytes, flags, method, crc;
    uint64_t stored_bytes, bytes, local;
    uint64_t data; /* of its first byte, by the header in front of it */
} zip_member;

static uint32_t get16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t get32(const uint8_t *p) { return get16(p) | get16(p + 2) << 16; }
static uint64_t get64(const uint8_t *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

static bool malformed(const tensor_file_bytes *f, const char *what)
{
    tensor_file_fail(f->problem, TENSOR_MALFORMED, "the .npz archive is malformed: %s", what);
    f->problem->note = "numpy.savez writes an archive that is accepted here";
    return false;
}

/* The directory of an archive with 64-bit numbers, which a record in front of the last one leads to. */
static bool find_directory64(const tensor_file_bytes *f, uint64_t end, directory *out)
{
    if (end < LOCATOR_BYTES + END64_BYTES || get32(f->bytes + end - LOCATOR_BYTES) != 0x07064b50)
        return malformed(f, "the record of its 64-bit sizes is missing");
    const uint64_t at = get64(f->bytes + end - LOCATOR_BYTES + 8);
    if (at > end - LOCATOR_BYTES - END64_BYTES || get32(f->bytes + at) != 0x06064b50)
        return malformed(f, "the record of its 64-bit sizes lies elsewhere");
    *out = (directory){get64(f->bytes + at + 48), get64(f->bytes + at + 40), get64(f->bytes + at + 32)};
    return true;
}

static bool find_directory(const tensor_file_bytes *f, directory *out)
{
    if (f->n < 4 || get32(f->bytes) != (f->n == END_BYTES ? 0x06054b50U : 0x04034b50U))
        return tensor_file_fail(f->problem, TENSOR_MALFORMED, "this is not a .npz archive: it does not begin with PK");
    uint64_t end = f->n;
    for (uint64_t comment = 0; end == f->n && comment <= COMMENT_MAX && comment + END_BYTES <= f->n; comment++) {
        const uint8_t *p = f->bytes + f->n - END_BYTES - comment;
        if (get32(p) == 0x06054b50 && get16(p + 20) == comment) end = f->n - END_BYTES - comment;
    }
    if (end == f->n)
        return tensor_file_fail(f->problem, TENSOR_TRUNCATED,
                                "the archive is truncated: its directory is not at its end");
    const uint8_t *p = f->bytes + end;
    if (get16(p + 4) != 0 || get16(p + 6) != 0 || get16(p + 8) != get16(p + 10))
        return malformed(f, "it is one part of several");
    *out = (directory){get32(p + 16), get32(p + 12), get16(p + 10)};
    const bool is_large = out->offset == UINT32_MAX || out->bytes == UINT32_MAX || out->count == UINT16_MAX;
    if (is_large && !find_directory64(f, end, out)) return false;
    if (out->offset > end || out->bytes > end - out->offset) return malformed(f, "its directory lies beyond its end");
    if (out->count > out->bytes / MEMBER_BYTES) return malformed(f, "its directory is too short for its members");
    return true;
}

/* Sizes that do not fit 32 bits are in a record of their own, those that are needed only, in this order. */
static bool read_sizes64(const uint8_t *extra, uint64_t n, zip_member *m)
{
    while (n >= 4) {
        const uint64_t size = get16(extra + 2);
        if (size > n - 4) return false;
        if (get16(extra) == EXTRA_SIZES) {
            uint64_t *const wanted[] = {&m->bytes, &m->stored_bytes, &m->local};
            uint64_t used = 0;
            for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
                if (*wanted[i] != UINT32_MAX) continue;
                if (used + 8 > size) return false;
                *wanted[i] = get64(extra + 4 + used);
                used += 8;
            }
            return true;
        }
        extra += 4 + size;
        n -= 4 + size;
    }
    return m->bytes != UINT32_MAX && m->stored_bytes != UINT32_MAX && m->local != UINT32_MAX;
}

/* The next member of the directory; `*at` moves on. */
static bool read_member(const tensor_file_bytes *f, const directory *d, uint64_t *at, zip_member *out)
{
    const uint64_t left = d->offset + d->bytes - *at;
    const uint8_t *p = f->bytes + *at;
    if (left < MEMBER_BYTES || get32(p) != 0x02014b50) return malformed(f, "its directory ends inside of a member");
    *out = (zip_member){.name = p + MEMBER_BYTES,
                        .name_bytes = get16(p + 28),
                        .flags = get16(p + 8),
                        .method = get16(p + 10),
                        .crc = get32(p + 16),
                        .stored_bytes = get32(p + 20),
                        .bytes = get32(p + 24),
                        .local = get32(p + 42)};
    const uint64_t extra = get16(p + 30), all = MEMBER_BYTES + out->name_bytes + extra + get16(p + 32);
    if (all > left) return malformed(f, "its directory ends inside of a member");
    if (!read_sizes64(out->name + out->name_bytes, extra, out)) return malformed(f, "a member has no size");
    *at += all;
    return true;
}

/* The member lies between the start of the file and the directory, and what is in front of it says the same of it. */
static bool place_member(const tensor_file_bytes *f, const directory *d, zip_member *m)
{
    if (m->local > d->offset || d->offset - m->local < LOCAL_BYTES + m->name_bytes)
        return malformed(f, "a member lies beyond the directory");
    const uint8_t *p = f->bytes + m->local;
    if (get32(p) != 0x04034b50 || get16(p + 8) != m->method || get16(p + 26) != m->name_bytes ||
        memcmp(p + LOCAL_BYTES, m->name, m->name_bytes) != 0)
        return malformed(f, "a member is not what the directory says of it");
    m->data = m->local + LOCAL_BYTES + m->name_bytes + get16(p + 28);
    if (m->data > d->offset || m->stored_bytes > d->offset - m->data)
        return malformed(f, "a member ends beyond the directory");
    if ((m->flags & ENCRYPTED) != 0) return malformed(f, "a member is encrypted");
    if (m->method != STORED && m->method != DEFLATED) return malformed(f, "a member is neither stored nor deflated");
    if (m->method == STORED && m->bytes != m->stored_bytes) return malformed(f, "a stored member has two sizes");
    if (m->bytes / DEFLATE_RATIO_MAX > m->stored_bytes)
        return malformed(f, "a member claims to inflate to more than its bytes can hold");
    return true;
}

static int compare_places(const void *x, const void *y)
{
    const zip_member *a = x, *b = y;
    return (a->local > b->local) - (a->local < b->local);
}

static bool read_members(const tensor_file_bytes *f, const directory *d, zip_member *members)
{
    uint64_t at = d->offset;
    for (uint64_t i = 0; i < d->count; i++)
        if (!read_member(f, d, &at, &members[i]) || !place_member(f, d, &members[i])) return false;
    if (at != d->offset + d->bytes) return malformed(f, "its directory is longer than its members");
    qsort(members, (size_t)d->count, sizeof *members, compare_places);
    for (uint64_t i = 1; i < d->count; i++)
        if (members[i].local < members[i - 1].data + members[i - 1].stored_bytes)
            return malformed(f, "two members overlap");
    return true;
}

bool tensor_list_npz(const tensor_file_bytes *f, tensor_entry **list, uint32_t *count)
{
    directory d = {0};
    *count = 0;
    if (!find_directory(f, &d)) return false;
    if (d.count > UINT32_MAX / 2) return malformed(f, "it has too many members");
    zip_member *members = f->allocate(f->self, (size_t)(d.count + 1) * sizeof *members);
    if (!read_members(f, &d, members)) return false;
    *list = f->allocate(f->self, (size_t)(d.count + 1) * sizeof **list);
    for (uint64_t i = 0; i < d.count; i++) {
        const zip_member *m = &members[i];
        if (m->name_bytes < 4 || memcmp(m->name + m->name_bytes - 4, ".npy", 4) != 0) continue; /* not an array */
        (*list)[(*count)++] = (tensor_entry){.name = (const char *)m->name,
                                             .name_bytes = m->name_bytes - 4,
                                             .offset = m->data,
                                             .stored_bytes = m->stored_bytes,
                                             .is_deflated = m->method == DEFLATED,
                                             .inflated_bytes = m->bytes,
                                             .crc = m->crc};
    }
    return tensor_check_names(f, *list, *count);
}
