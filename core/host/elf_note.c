#include "core/host/elf_note.h"

#include <pto/note.h>

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEGMENTS_MAX = 256,
    NOTE_BODY_MAX = PTO_NOTE_TEXT_MAX + (int)sizeof(pto_note_head) + 4,
    FILE_BYTES_MAX = 1 << 30,
    FRONT_BYTES = 4096 /* linkers put all that is read here so far to the front: one system call gets it */
};

static const char *const kind_names[PLUGIN_KIND_COUNT] = {"",   "pass", "property",  "tiling", "backend",
                                                          "op", "cost", "generator", "reader", "rewrites"};

const char *plugin_kind_name(plugin_kind kind)
{
    BUG_IF((unsigned)kind >= PLUGIN_KIND_COUNT, "plugin kind %d", (int)kind);
    return kind_names[kind];
}

/* A reader of one file. */
typedef struct note_reader {
    arena *a;
    int fd;                     /* -1: the front is all of the file */
    const unsigned char *front; /* its first bytes */
    size_t front_bytes;
    uint64_t file_bytes;
    const char *problem;
    const unsigned char *body; /* the descriptor of the note, when found */
    size_t body_bytes;
} note_reader;

static status refuse(note_reader *r, const char *problem)
{
    r->problem = problem;
    return FAILED;
}

static uint32_t u32_at(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* NULL when the file has fewer, or they cannot be read. */
static const unsigned char *bytes_at(const note_reader *r, uint64_t at, size_t n)
{
    if (at <= r->front_bytes && n <= r->front_bytes - at) return r->front + at;
    if (r->fd < 0 || at > r->file_bytes || n > r->file_bytes - at) return NULL;
    unsigned char *bytes = arena_alloc(r->a, n);
    return pread(r->fd, bytes, n, (off_t)at) == (ssize_t)n ? bytes : NULL;
}

static size_t round_up(size_t n, size_t align) { return (n + align - 1) / align * align; }

/* One PT_NOTE segment: a row of notes. Contents and notes begin at multiples of `align` from its start, which the 12
 * bytes in front of a name are not when it is 8, as in the notes of x86 features that some compilers add. */
static status scan_notes(note_reader *r, const unsigned char *p, size_t n, size_t align)
{
    while (n >= 12) {
        const size_t name_bytes = u32_at(p), body_bytes = u32_at(p + 4);
        const uint32_t type = u32_at(p + 8);
        if (name_bytes > n - 12) return refuse(r, "holds a damaged note: its name runs past its end");
        const size_t body = round_up(12 + name_bytes, align);
        if (body > n || body_bytes > n - body) return refuse(r, "holds a damaged note: its content runs past its end");
        const bool ours = type == PTO_NOTE_TYPE && name_bytes == 4 && memcmp(p + 12, PTO_NOTE_NAME, 4) == 0;
        if (ours && r->body != NULL) return refuse(r, "carries two PTO notes");
        if (ours) {
            if (body_bytes > NOTE_BODY_MAX) return refuse(r, "carries a PTO note larger than 64 KiB");
            r->body = arena_copy(r->a, p + body, body_bytes);
            r->body_bytes = body_bytes;
        }
        size_t step = round_up(body + body_bytes, align);
        if (step > n) step = n;
        p += step;
        n -= step;
    }
    return OK;
}

static status check_header(note_reader *r, Elf64_Ehdr *header)
{
    const unsigned char *p = bytes_at(r, 0, sizeof *header);
    if (p == NULL || memcmp(p, ELFMAG, SELFMAG) != 0 || p[EI_VERSION] != EV_CURRENT)
        return refuse(r, "is not a PTO plugin (not an ELF file); nothing in it was run");
    memcpy(header, p, sizeof *header);
    if (p[EI_CLASS] != ELFCLASS64 || p[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_X86_64)
        return refuse(r, "is made for another machine; nothing in it was run");
    if (header->e_type != ET_DYN) return refuse(r, "is not a shared object; nothing in it was run");
    return OK;
}

static status find_note(note_reader *r)
{
    Elf64_Ehdr header;
    TRY(check_header(r, &header));
    const size_t count = header.e_phoff != 0 ? header.e_phnum : 0;
    const bool is_fit = count == 0 || (count <= SEGMENTS_MAX && header.e_phentsize == sizeof(Elf64_Phdr));
    const unsigned char *segments = is_fit ? bytes_at(r, header.e_phoff, count * sizeof(Elf64_Phdr)) : NULL;
    if (segments == NULL) return refuse(r, "is damaged: its program headers cannot be read; nothing in it was run");
    for (size_t i = 0; i < count; i++) {
        Elf64_Phdr s;
        memcpy(&s, segments + i * sizeof s, sizeof s);
        if (s.p_type != PT_LOAD && s.p_type != PT_NOTE) continue;
        /* The dynamic loader would map pages beyond the end of the file, and touching them kills the process. */
        if (s.p_offset > r->file_bytes || s.p_filesz > r->file_bytes - s.p_offset)
            return refuse(r, "is truncated; nothing in it was run");
        if (s.p_type != PT_NOTE || s.p_filesz == 0) continue;
        if (s.p_filesz > 1024 * 1024)
            return refuse(r, "is damaged: its notes are larger than 1 MiB; nothing in it was run");
        const unsigned char *notes = bytes_at(r, s.p_offset, s.p_filesz);
        if (notes == NULL) return refuse(r, "is truncated; nothing in it was run");
        TRY(scan_notes(r, notes, s.p_filesz, s.p_align == 8 ? 8 : 4));
    }
    return OK;
}

/* Letters, digits and `. - _ / +`: what ids, kinds, properties and vendors are made of. */
static bool is_id(const char *p, size_t n)
{
    if (n == 0 || n > NOTE_ID_MAX) return false;
    for (size_t i = 0; i < n; i++) {
        const char c = p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || strchr(".-_/+", c) == NULL)) return false;
    }
    return true;
}

/* The field at the front of the rest of the text; NULL when it has no end. */
static char *next_field(char **rest, size_t *left)
{
    char *field = *rest;
    char *end = *left != 0 ? memchr(field, '\0', *left) : NULL;
    if (end == NULL) return NULL;
    *left -= (size_t)(end - field) + 1;
    *rest = end + 1;
    return field;
}

/* Cuts a field at its spaces, in place. */
static status split(note_reader *r, char *field, const char ***out_items, uint32_t *out_count)
{
    uint32_t count = *field != '\0';
    for (const char *p = field; *p != '\0'; p++) count += *p == ' ';
    if (count > NOTE_ITEMS_MAX) return refuse(r, "carries a PTO note with more than 1024 items; nothing in it was run");
    const char **items = arena_array(r->a, (size_t)count + 1, sizeof *items);
    char *p = field;
    for (uint32_t i = 0; i < count; i++) {
        char *space = strchr(p, ' ');
        items[i] = p;
        if (space == NULL) break;
        *space = '\0';
        p = space + 1;
    }
    *out_items = items;
    *out_count = count;
    return OK;
}

static status read_item(note_reader *r, const char *text, note_item *out)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL || !is_id(text, (size_t)(colon - text)) || !is_id(colon + 1, strlen(colon + 1)))
        return refuse(r, "carries a PTO note with a malformed id; nothing in it was run");
    out->text = text;
    out->id = colon + 1;
    out->kind = PLUGIN_OTHER;
    for (int k = PLUGIN_PASS; k < PLUGIN_KIND_COUNT; k++) {
        if (strlen(kind_names[k]) == (size_t)(colon - text) && memcmp(text, kind_names[k], (size_t)(colon - text)) == 0)
            out->kind = (plugin_kind)k;
    }
    return OK;
}

static status read_text(note_reader *r, char *text, size_t bytes, elf_note *out)
{
    char *vendor = next_field(&text, &bytes), *id = vendor != NULL ? next_field(&text, &bytes) : NULL;
    char *provides = id != NULL ? next_field(&text, &bytes) : NULL;
    char *establishes = provides != NULL ? next_field(&text, &bytes) : NULL;
    if (establishes == NULL || bytes != 0)
        return refuse(r, "carries a PTO note with damaged text; nothing in it was run");
    if (!is_id(vendor, strlen(vendor)) || !is_id(id, strlen(id)))
        return refuse(r, "carries a PTO note with a malformed id; nothing in it was run");
    out->vendor = vendor;
    out->id = id;

    const char **items = NULL;
    uint32_t count = 0;
    TRY(split(r, provides, &items, &count));
    note_item *provided = arena_array(r->a, count, sizeof *provided);
    for (uint32_t i = 0; i < count; i++) TRY(read_item(r, items[i], &provided[i]));
    out->provides = provided;
    out->provided_count = count;
    TRY(split(r, establishes, &items, &count));
    for (uint32_t i = 0; i < count; i++) {
        if (!is_id(items[i], strlen(items[i])))
            return refuse(r, "carries a PTO note with a malformed property; nothing in it was run");
    }
    out->establishes = items;
    return OK;
}

static status decode(note_reader *r, elf_note *out)
{
    pto_note_head head;
    if (r->body == NULL) return refuse(r, "is not a PTO plugin (no PTO note); nothing in it was run");
    if (r->body_bytes < sizeof head.revision) return refuse(r, "carries a truncated PTO note; nothing in it was run");
    if (u32_at(r->body) != PTO_NOTE_REVISION)
        return refuse(r, "carries a PTO note of a revision that this core does not know; nothing in it was run");
    if (r->body_bytes < sizeof head) return refuse(r, "carries a truncated PTO note; nothing in it was run");
    memcpy(&head, r->body, sizeof head);
    if (head.text_bytes > r->body_bytes - sizeof head)
        return refuse(r, "carries a truncated PTO note; nothing in it was run");
    if (head.least_minor > head.built_minor)
        return refuse(r, "carries a PTO note that requires more than it was built for; nothing in it was run");
    out->abi_major = head.abi_major;
    out->built_minor = head.built_minor;
    out->least_minor = head.least_minor;
    out->draft = (head.flags & PTO_NOTE_FLAG_DRAFT) != 0;
    out->sanitizer = head.sanitizer;
    char *text = arena_copy(r->a, r->body + sizeof head, head.text_bytes);
    return read_text(r, text, head.text_bytes, out);
}

static status read_elf(note_reader *r, elf_note *out, const char **out_problem, int *out_is_plugin)
{
    *out = (elf_note){0};
    status s = find_note(r);
    if (s == OK) s = decode(r, out);
    *out_is_plugin = r->body != NULL;
    *out_problem = r->problem;
    return s;
}

status elf_note_read_image(arena *a, const void *image, size_t bytes, elf_note *out_note, const char **out_problem,
                           int *out_is_plugin)
{
    note_reader r = {.a = a, .fd = -1, .front = image, .front_bytes = bytes, .file_bytes = bytes};
    return read_elf(&r, out_note, out_problem, out_is_plugin);
}

status elf_note_read(arena *a, int folder, const char *path, struct stat *out_file, elf_note *out_note,
                     const char **out_problem, int *out_is_plugin)
{
    *out_is_plugin = 0;
    *out_file = (struct stat){0};
    /* A FIFO would block, a device might do anything. */
    const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *out_problem = "cannot be opened";
        return FAILED;
    }
    status s = FAILED;
    if (fstat(fd, out_file) != 0 || !S_ISREG(out_file->st_mode)) {
        *out_problem = "is not a regular file";
    } else if (out_file->st_size > FILE_BYTES_MAX) {
        *out_problem = "is larger than 1 GiB; nothing in it was run";
    } else {
        unsigned char front[FRONT_BYTES];
        const ssize_t n = pread(fd, front, sizeof front, 0);
        note_reader r = {.a = a, .fd = fd, .front = front, .file_bytes = (uint64_t)out_file->st_size};
        r.front_bytes = n > 0 ? (size_t)n : 0;
        s = read_elf(&r, out_note, out_problem, out_is_plugin);
    }
    close(fd);
    return s;
}
