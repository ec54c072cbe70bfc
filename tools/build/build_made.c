#include "tools/build/build_made.h"

#include <ar.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file while it is looked at. */
typedef struct made {
    int fd;
    uint64_t bytes;
    char *flaw;
} made;

static bool refuse(const made *m, const char *format, ...) PRINTF_LIKE(2, 3);

static bool refuse(const made *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(m->flaw, BUILD_FLAW_BYTES, format, args);
    va_end(args);
    return false;
}

static bool has_upto(const made *m, uint64_t at, uint64_t n)
{
    if (at <= m->bytes && n <= m->bytes - at) return true;
    return refuse(m, "has %" PRIu64 " bytes, and what its headers tell of ends at %" PRIu64, m->bytes, at + n);
}

static bool reads(const made *m, uint64_t at, void *to, size_t n)
{
    return pread(m->fd, to, n, (off_t)at) == (ssize_t)n || refuse(m, "cannot be read from byte %" PRIu64 " on", at);
}

static bool has_sections(const made *m, const Elf64_Ehdr *h)
{
    for (uint32_t i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr s;
        const uint64_t at = h->e_shoff + (uint64_t)i * h->e_shentsize;
        if (!has_upto(m, at, sizeof s) || !reads(m, at, &s, sizeof s)) return false;
        if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !has_upto(m, s.sh_offset, s.sh_size)) return false;
    }
    return true;
}

static bool has_segments(const made *m, const Elf64_Ehdr *h)
{
    for (uint32_t i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        const uint64_t at = h->e_phoff + (uint64_t)i * h->e_phentsize;
        if (!has_upto(m, at, sizeof p) || !reads(m, at, &p, sizeof p)) return false;
        if (!has_upto(m, p.p_offset, p.p_filesz)) return false;
    }
    return true;
}

static bool is_elf(const made *m, uint16_t type)
{
    Elf64_Ehdr h;
    if (!reads(m, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64)
        return refuse(m, "is not an ELF file of 64 bits; it has %" PRIu64 " bytes", m->bytes);
    if (h.e_type != type) return refuse(m, "is an ELF file of type %d, not %d", h.e_type, type);
    return has_sections(m, &h) && has_segments(m, &h);
}

static bool is_archive(const made *m)
{
    char magic[SARMAG];
    if (!reads(m, 0, magic, sizeof magic) || memcmp(magic, ARMAG, SARMAG) != 0)
        return refuse(m, "is not an archive; it has %" PRIu64 " bytes", m->bytes);
    for (uint64_t at = SARMAG; at < m->bytes;) {
        struct ar_hdr h;
        if (!has_upto(m, at, sizeof h) || !reads(m, at, &h, sizeof h)) return false;
        char size[sizeof h.ar_size + 1] = {0};
        memcpy(size, h.ar_size, sizeof h.ar_size);
        const uint64_t n = strtoull(size, NULL, 10);
        if (!has_upto(m, at + sizeof h, n)) return false;
        at += sizeof h + n + n % 2;
    }
    return true;
}

bool build_is_made(const char *path, build_kind kind, char *flaw)
{
    made m = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .flaw = flaw};
    struct stat st;
    if (m.fd < 0) return refuse(&m, "is not there: %s", strerror(errno));
    bool is_made = fstat(m.fd, &st) == 0 && S_ISREG(st.st_mode);
    m.bytes = is_made ? (uint64_t)st.st_size : 0;
    if (!is_made)
        refuse(&m, "is not a regular file");
    else
        is_made = kind == BUILD_STATIC ? is_archive(&m) : is_elf(&m, kind == BUILD_SHARED ? ET_DYN : ET_REL);
    close(m.fd);
    return is_made;
}
