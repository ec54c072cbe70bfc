#include "native_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 32, TAGS_MAX = 256 };

typedef struct image {
    int fd;
    uint64_t bytes;
    uint32_t segment_count;
    Elf64_Phdr segments[SEGMENTS_MAX];
} image;

static bool is_within(const image *m, uint64_t at, uint64_t n) { return at <= m->bytes && n <= m->bytes - at; }

static bool read_at(const image *m, uint64_t at, void *p, size_t n)
{
    return is_within(m, at, n) && pread(m->fd, p, n, (off_t)at) == (ssize_t)n;
}

/* ---- segments and sections ---- */

static bool is_header(const Elf64_Ehdr *h)
{
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_type == ET_DYN;
}

static bool has_segments(image *m, const Elf64_Ehdr *h)
{
    if (h->e_phnum > SEGMENTS_MAX || h->e_phentsize != sizeof m->segments[0]) return false;
    m->segment_count = h->e_phnum;
    if (!read_at(m, h->e_phoff, m->segments, m->segment_count * sizeof m->segments[0])) return false;
    for (uint32_t i = 0; i < m->segment_count; i++) {
        const Elf64_Phdr *s = &m->segments[i];
        if (s->p_type == PT_LOAD && (!is_within(m, s->p_offset, s->p_filesz) || s->p_filesz > s->p_memsz)) return false;
    }
    return true;
}

/* Loaders do not need them; linkers write them last, and their names: what is cut short has not all of them, and what
 * ends with zeros has no names. */
static bool has_sections(const image *m, const Elf64_Ehdr *h)
{
    if (h->e_shnum == 0) return h->e_shoff == 0;
    if (h->e_shentsize != sizeof(Elf64_Shdr)) return false;
    for (uint32_t i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr s;
        if (!read_at(m, h->e_shoff + i * sizeof s, &s, sizeof s)) return false;
        if (s.sh_type != SHT_NULL && s.sh_type != SHT_NOBITS && !is_within(m, s.sh_offset, s.sh_size)) return false;
        if (i == h->e_shstrndx && s.sh_type != SHT_STRTAB) return false;
    }
    return true;
}

/* ---- what a loader follows ---- */

/* Whether n bytes at an address are of the file. */
static bool is_loaded(const image *m, uint64_t address, uint64_t n)
{
    for (uint32_t i = 0; i < m->segment_count; i++) {
        const Elf64_Phdr *s = &m->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr > s->p_filesz) continue;
        return n <= s->p_filesz - (address - s->p_vaddr);
    }
    return false;
}

/* The tag that says how long the table of another one is; 0: that is a pointer whose end nothing says; -1: it is not a
 * pointer. */
static int64_t size_tag(int64_t tag)
{
    switch (tag) {
    case DT_STRTAB: return DT_STRSZ;
    case DT_RELA: return DT_RELASZ;
    case DT_JMPREL: return DT_PLTRELSZ;
    case DT_INIT_ARRAY: return DT_INIT_ARRAYSZ;
    case DT_FINI_ARRAY: return DT_FINI_ARRAYSZ;
    case DT_SYMTAB:
    case DT_GNU_HASH:
    case DT_HASH:
    case DT_VERSYM:
    case DT_VERNEED:
    case DT_VERDEF:
    case DT_INIT:
    case DT_FINI: return 0;
    default: return -1;
    }
}

static uint64_t value_of(const Elf64_Dyn *tags, size_t count, int64_t tag)
{
    for (size_t i = 0; i < count; i++)
        if (tags[i].d_tag == tag) return tags[i].d_un.d_val;
    return 0;
}

static bool has_tables(const image *m)
{
    const Elf64_Phdr *dynamic = NULL;
    Elf64_Dyn tags[TAGS_MAX];
    for (uint32_t i = 0; i < m->segment_count; i++)
        if (m->segments[i].p_type == PT_DYNAMIC) dynamic = &m->segments[i];
    if (dynamic == NULL || dynamic->p_filesz > sizeof tags || !is_loaded(m, dynamic->p_vaddr, dynamic->p_filesz) ||
        !read_at(m, dynamic->p_offset, tags, dynamic->p_filesz))
        return false;
    const size_t capacity = dynamic->p_filesz / sizeof tags[0];
    size_t count = 0;
    while (count < capacity && tags[count].d_tag != DT_NULL) count++;
    for (size_t i = 0; i < count; i++) {
        const int64_t size = size_tag(tags[i].d_tag);
        const uint64_t n = size > 0 ? value_of(tags, count, size) : 1;
        if (size >= 0 && !is_loaded(m, tags[i].d_un.d_ptr, n)) return false;
    }
    return count < capacity && value_of(tags, count, DT_STRTAB) != 0 && value_of(tags, count, DT_SYMTAB) != 0;
}

/* ---- a file ---- */

native_status native_image_check(int fd, native_error *e)
{
    struct stat st;
    Elf64_Ehdr header;
    image m = {.fd = fd};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return native_fail(e, NATIVE_NOT_LOADED, "it is not a file");
    m.bytes = (uint64_t)st.st_size;
    if (!read_at(&m, 0, &header, sizeof header) || !is_header(&header))
        return native_fail(e, NATIVE_NOT_LOADED, "it is not a shared object");
    if (has_segments(&m, &header) && has_sections(&m, &header) && has_tables(&m)) return NATIVE_OK;
    return native_fail(e, NATIVE_NOT_LOADED, "it has %ju bytes, which are not all of a shared object",
                       (uintmax_t)m.bytes);
}

native_status native_image_open(int folder, const char *name, int *fd, native_error *e)
{
    *fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 && errno == ENOENT) return native_fail(e, NATIVE_NOT_LOADED, "it is missing");
    if (*fd < 0) return native_fail(e, NATIVE_NOT_LOADED, "it cannot be opened: %s", native_errno_text(errno));
    const native_status status = native_image_check(*fd, e);
    if (status == NATIVE_OK) return NATIVE_OK;
    close(*fd);
    *fd = -1;
    return status;
}

native_status native_image_load(const char *path, const char *symbol, void **library, native_error *e)
{
    dlerror();
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*library == NULL) {
        const char *why = dlerror();
        return native_fail(e, NATIVE_NOT_LOADED, "it cannot be loaded: %s", why != NULL ? why : path);
    }
    if (symbol == NULL || dlsym(*library, symbol) != NULL) return NATIVE_OK;
    dlclose(*library);
    *library = NULL;
    return native_fail(e, NATIVE_NOT_LOADED, "it has no symbol `%s`", symbol);
}
