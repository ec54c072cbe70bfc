/* What the text follows from besides the module and the machine: this code. There are no options. */
#include "emit.h"

#include <elf.h>
#include <link.h>

typedef struct self_writer {
    const pto_text_sink *sink;
    pto_status status;
} self_writer;

static void write(self_writer *w, const char *from, size_t n)
{
    if (w->status == PTO_OK) w->status = w->sink->write(w->sink->self, from, n);
}

/* Of an image, where sanitizers have guards between constants. */
__attribute__((no_sanitize("address"))) static void write_image(self_writer *w, const volatile char *from, size_t n)
{
    char piece[4096];
    while (n > 0) {
        const size_t count = n < sizeof piece ? n : sizeof piece;
        for (size_t i = 0; i < count; i++) piece[i] = from[i];
        write(w, piece, count);
        from += count;
        n -= count;
    }
}

static bool is_this(const struct dl_phdr_info *image)
{
    const uintptr_t here = (uintptr_t)&emit_key - image->dlpi_addr;
    for (size_t i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &image->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && here >= p->p_vaddr && here - p->p_vaddr < p->p_memsz) return true;
    }
    return false;
}

/* The id that linkers make of all that they link, from a segment of notes. */
static bool write_build_id(self_writer *w, const char *notes, size_t bytes)
{
    enum { ALIGNMENT = 4 };
    const size_t head_bytes = sizeof(ElfW(Nhdr));
    for (size_t at = 0; bytes - at >= head_bytes;) {
        ElfW(Nhdr) head;
        memcpy(&head, notes + at, head_bytes);
        const size_t name = at + head_bytes, id = name + (head.n_namesz + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        const size_t end = id + (head.n_descsz + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (end > bytes) return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            write(w, notes + id, head.n_descsz);
            return true;
        }
        at = end;
    }
    return false;
}

/* Of the image that this function is in: its id, or else all of it that nobody writes. What is in memory counts, since
 * the file may be another one by now. */
static int write_self(struct dl_phdr_info *image, size_t bytes, void *self)
{
    self_writer *w = self;
    (void)bytes;
    if (!is_this(image)) return 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < image->dlpi_phnum; i++) {
            const ElfW(Phdr) *p = &image->dlpi_phdr[i];
            const char *from = (const char *)(image->dlpi_addr + p->p_vaddr);
            if (pass == 0 && p->p_type == PT_NOTE && write_build_id(w, from, p->p_memsz)) return 1;
            if (pass == 1 && p->p_type == PT_LOAD && (p->p_flags & PF_W) == 0) write_image(w, from, p->p_memsz);
        }
    }
    return 1;
}

pto_status emit_key(const pto_run *run, const pto_text_sink *sink)
{
    self_writer w = {sink, PTO_OK};
    (void)run;
    (void)dl_iterate_phdr(write_self, &w);
    return w.status;
}
