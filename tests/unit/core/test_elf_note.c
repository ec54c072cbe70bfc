#include "tests/unit/unit.h"

#include "core/host/elf_note.h"

#include <pto/note.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IMAGE_MAX = 4096 };

/* A shared object with one note segment. */
typedef struct image {
    union {
        _Alignas(16) unsigned char bytes[IMAGE_MAX];
        struct {
            Elf64_Ehdr header;
            Elf64_Phdr segments[2];
        };
    };
    size_t n;
} image;

enum { NOTE_AT = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), TEXT_AT = NOTE_AT + 16 + (int)sizeof(pto_note_head) };

static void put_u32(image *i, size_t at, uint32_t v) { memcpy(i->bytes + at, &v, sizeof v); }

static Elf64_Phdr *segment(image *i, int index) { return &i->segments[index]; }

/* `text` of `bytes` bytes, its last NUL included. */
static void make(image *i, const char *text, size_t bytes)
{
    *i = (image){.n = TEXT_AT + (bytes + 3) / 4 * 4};
    i->header = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                             .e_type = ET_DYN,
                             .e_machine = EM_X86_64,
                             .e_version = EV_CURRENT,
                             .e_phoff = sizeof(Elf64_Ehdr),
                             .e_ehsize = sizeof(Elf64_Ehdr),
                             .e_phentsize = sizeof(Elf64_Phdr),
                             .e_phnum = 2};
    *segment(i, 0) = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = i->n, .p_memsz = i->n, .p_align = 4096};
    *segment(i, 1) = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = NOTE_AT, .p_filesz = i->n - NOTE_AT, .p_align = 4};
    put_u32(i, NOTE_AT, 4);
    put_u32(i, NOTE_AT + 4, (uint32_t)(i->n - NOTE_AT - 16));
    put_u32(i, NOTE_AT + 8, PTO_NOTE_TYPE);
    memcpy(i->bytes + NOTE_AT + 12, PTO_NOTE_NAME, 4);
    const pto_note_head head = {.revision = 1,
                                .abi_major = 1,
                                .built_minor = 3,
                                .least_minor = 2,
                                .flags = PTO_NOTE_FLAG_DRAFT,
                                .text_bytes = (uint32_t)bytes};
    memcpy(i->bytes + NOTE_AT + 16, &head, sizeof head);
    memcpy(i->bytes + TEXT_AT, text, bytes);
}

#define GOOD "acme\0org.acme.x\0pass:acme.a tiling:acme.t oracle:acme.o\0acme.p acme.q"

static const char *problem_of(const image *i, int *is_plugin)
{
    static char text[256];
    arena *a = arena_create("test");
    elf_note note;
    const char *problem = NULL;
    const status s = elf_note_read_image(a, i->bytes, i->n, &note, &problem, is_plugin);
    assert_int_equal(s == OK, problem == NULL);
    snprintf(text, sizeof text, "%s", problem != NULL ? problem : "");
    arena_destroy(a);
    return text;
}

static void expect(const image *i, const char *problem)
{
    int is_plugin = 0;
    assert_string_equal(problem_of(i, &is_plugin), problem);
}

TEST(a_good_note_is_read_whole)
{
    image i;
    make(&i, GOOD, sizeof GOOD);
    arena *a = arena_create("test");
    elf_note n;
    const char *problem = NULL;
    int is_plugin = 0;
    assert_int_equal(elf_note_read_image(a, i.bytes, i.n, &n, &problem, &is_plugin), OK);
    assert_int_equal(is_plugin, 1);
    assert_int_equal(n.abi_major, 1);
    assert_int_equal(n.built_minor, 3);
    assert_int_equal(n.least_minor, 2);
    assert_int_equal(n.draft, 1);
    assert_string_equal(n.vendor, "acme");
    assert_string_equal(n.id, "org.acme.x");
    assert_int_equal(n.provided_count, 3);
    assert_int_equal(n.provides[0].kind, PLUGIN_PASS);
    assert_string_equal(n.provides[0].id, "acme.a");
    assert_int_equal(n.provides[1].kind, PLUGIN_TILING);
    assert_int_equal(n.provides[2].kind, PLUGIN_OTHER);
    assert_string_equal(n.provides[2].text, "oracle:acme.o");
    assert_string_equal(n.establishes[0], "acme.p");
    assert_string_equal(n.establishes[1], "acme.q");
    assert_null(n.establishes[2]);
    arena_destroy(a);
}

/* Linkers put headers and notes to the front, but may put them anywhere. */
TEST(headers_and_notes_far_from_the_front_of_a_file_are_read)
{
    enum { SEGMENTS_AT = 10000, MOVED_NOTE_AT = 20000 };
    image i;
    make(&i, GOOD, sizeof GOOD);
    i.header.e_phoff = SEGMENTS_AT;
    segment(&i, 1)->p_offset = MOVED_NOTE_AT;
    FILE *file = tmpfile();
    assert_non_null(file);
    fwrite(&i.header, sizeof i.header, 1, file);
    fseek(file, SEGMENTS_AT, SEEK_SET);
    fwrite(i.segments, sizeof i.segments, 1, file);
    fseek(file, MOVED_NOTE_AT, SEEK_SET);
    fwrite(i.bytes + NOTE_AT, i.n - NOTE_AT, 1, file);
    assert_int_equal(fflush(file), 0);

    arena *a = arena_create("test");
    struct stat st;
    elf_note n;
    const char *problem = NULL;
    int is_plugin = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    assert_int_equal(elf_note_read(a, AT_FDCWD, path, &st, &n, &problem, &is_plugin), OK);
    assert_string_equal(n.id, "org.acme.x");
    assert_int_equal(st.st_size, MOVED_NOTE_AT + i.n - NOTE_AT);
    assert_int_equal(ftruncate(fileno(file), MOVED_NOTE_AT), 0);
    assert_int_equal(elf_note_read(a, AT_FDCWD, path, &st, &n, &problem, &is_plugin), FAILED);
    assert_string_equal(problem, "is truncated; nothing in it was run");
    assert_int_equal(ftruncate(fileno(file), SEGMENTS_AT), 0);
    assert_int_equal(elf_note_read(a, AT_FDCWD, path, &st, &n, &problem, &is_plugin), FAILED);
    assert_string_equal(problem, "is damaged: its program headers cannot be read; nothing in it was run");
    arena_destroy(a);
    fclose(file);
}

TEST(notes_aligned_to_8_bytes_are_passed_over)
{
    static const uint32_t property[] = {4, 16, 5, 0x00554e47 /* "GNU" */, 0xc0008002, 4, 1, 0};
    image i;
    make(&i, GOOD, sizeof GOOD);
    const size_t at = (i.n + 7) / 8 * 8;
    memcpy(i.bytes + at, property, sizeof property);
    i.n = at + sizeof property;
    *segment(&i, 0) = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = at, .p_filesz = sizeof property, .p_align = 8};
    expect(&i, "");
    segment(&i, 1)->p_align = 8; /* content after 12 + 4 bytes, at a multiple of 8 as well */
    expect(&i, "");
    put_u32(&i, at + 4, 17);
    expect(&i, "holds a damaged note: its content runs past its end");
}

TEST(every_truncation_is_refused)
{
    image whole;
    make(&whole, GOOD, sizeof GOOD);
    for (size_t n = 0; n < whole.n; n++) {
        image cut = whole;
        int is_plugin = 0;
        cut.n = n;
        assert_string_not_equal(problem_of(&cut, &is_plugin), "");
    }
}

TEST(every_flipped_byte_is_survived)
{
    image whole;
    make(&whole, GOOD, sizeof GOOD);
    for (size_t at = 0; at < whole.n; at++) {
        for (int bit = 0; bit < 8; bit++) {
            image bad = whole;
            int is_plugin = 0;
            bad.bytes[at] ^= (unsigned char)(1u << bit);
            (void)problem_of(&bad, &is_plugin);
        }
    }
}

TEST(files_that_are_no_plugins_are_told_from_broken_ones)
{
    image i;
    int is_plugin = 1;
    make(&i, GOOD, sizeof GOOD);
    segment(&i, 1)->p_type = PT_NULL;
    assert_string_equal(problem_of(&i, &is_plugin), "is not a PTO plugin (no PTO note); nothing in it was run");
    assert_int_equal(is_plugin, 0);
    make(&i, GOOD, sizeof GOOD);
    i.bytes[0] = 'M';
    assert_string_equal(problem_of(&i, &is_plugin), "is not a PTO plugin (not an ELF file); nothing in it was run");
    assert_int_equal(is_plugin, 0);
    make(&i, GOOD, sizeof GOOD);
    put_u32(&i, NOTE_AT + 16, 2);
    assert_string_equal(problem_of(&i, &is_plugin),
                        "carries a PTO note of a revision that this core does not know; nothing in it was run");
    assert_int_equal(is_plugin, 1);
}

TEST(other_machines_and_executables_are_refused)
{
    image i;
    make(&i, GOOD, sizeof GOOD);
    i.header.e_machine = EM_AARCH64;
    expect(&i, "is made for another machine; nothing in it was run");
    make(&i, GOOD, sizeof GOOD);
    i.header.e_type = ET_EXEC;
    expect(&i, "is not a shared object; nothing in it was run");
}

TEST(segments_beyond_the_end_are_refused)
{
    image i;
    make(&i, GOOD, sizeof GOOD);
    segment(&i, 0)->p_filesz = 1 << 20;
    expect(&i, "is truncated; nothing in it was run");
    make(&i, GOOD, sizeof GOOD);
    segment(&i, 1)->p_offset = UINT64_MAX - 3;
    expect(&i, "is truncated; nothing in it was run");
}

TEST(sizes_inside_the_note_are_checked)
{
    image i;
    make(&i, GOOD, sizeof GOOD);
    put_u32(&i, NOTE_AT + 4, 0x7fffffff);
    expect(&i, "holds a damaged note: its content runs past its end");
    make(&i, GOOD, sizeof GOOD);
    put_u32(&i, NOTE_AT, 0xfffffffe);
    expect(&i, "holds a damaged note: its name runs past its end");
    make(&i, GOOD, sizeof GOOD);
    put_u32(&i, TEXT_AT - 4, 1000);
    expect(&i, "carries a truncated PTO note; nothing in it was run");
    make(&i, GOOD, sizeof GOOD);
    put_u32(&i, TEXT_AT - 4, 20);
    expect(&i, "carries a PTO note with damaged text; nothing in it was run");
    make(&i, GOOD, sizeof GOOD);
    put_u32(&i, NOTE_AT + 4, 8);
    segment(&i, 1)->p_filesz = 24;
    expect(&i, "carries a truncated PTO note; nothing in it was run");
}

TEST(oversized_notes_are_refused)
{
    static const size_t bytes = 70 * 1024;
    arena *a = arena_create("test");
    image small;
    make(&small, GOOD, sizeof GOOD);
    segment(&small, 1)->p_filesz = TEXT_AT - NOTE_AT + bytes;
    unsigned char *big = arena_alloc(a, TEXT_AT + bytes);
    memcpy(big, small.bytes, TEXT_AT);
    const uint32_t body = (uint32_t)(sizeof(pto_note_head) + bytes);
    memcpy(big + NOTE_AT + 4, &body, sizeof body);
    elf_note n;
    const char *problem = NULL;
    int is_plugin = 0;
    assert_int_equal(elf_note_read_image(a, big, TEXT_AT + bytes, &n, &problem, &is_plugin), FAILED);
    assert_string_equal(problem, "carries a PTO note larger than 64 KiB");
    arena_destroy(a);
}

TEST(two_notes_are_refused)
{
    image i;
    make(&i, GOOD, sizeof GOOD);
    const size_t bytes = i.n - NOTE_AT;
    memcpy(i.bytes + i.n, i.bytes + NOTE_AT, bytes);
    i.n += bytes;
    segment(&i, 1)->p_filesz += bytes;
    expect(&i, "carries two PTO notes");
}

TEST(malformed_ids_are_refused)
{
    static const char no_kind[] = "acme\0org.acme.x\0acme.a\0", space[] = "acme\0org.acme.x\0pass:acme.a  pass:b\0";
    static const char empty_id[] = "acme\0\0pass:acme.a\0", odd[] = "acme\0org.acme.x\0pass:a\x1b[31m\0";
    static const char property[] = "acme\0org.acme.x\0pass:a\0p ", least[] = GOOD;
    image i;
    make(&i, no_kind, sizeof no_kind);
    expect(&i, "carries a PTO note with a malformed id; nothing in it was run");
    make(&i, space, sizeof space);
    expect(&i, "carries a PTO note with a malformed id; nothing in it was run");
    make(&i, empty_id, sizeof empty_id);
    expect(&i, "carries a PTO note with a malformed id; nothing in it was run");
    make(&i, odd, sizeof odd);
    expect(&i, "carries a PTO note with a malformed id; nothing in it was run");
    make(&i, property, sizeof property);
    expect(&i, "carries a PTO note with a malformed property; nothing in it was run");
    make(&i, least, sizeof least);
    put_u32(&i, NOTE_AT + 16 + 12, 9);
    expect(&i, "carries a PTO note that requires more than it was built for; nothing in it was run");
}

TEST(what_is_no_file_is_refused_without_waiting)
{
    arena *a = arena_create("test");
    struct stat st;
    elf_note n;
    const char *problem = NULL;
    int is_plugin = 0;
    assert_int_equal(elf_note_read(a, AT_FDCWD, "/dev/zero", &st, &n, &problem, &is_plugin), FAILED);
    assert_string_equal(problem, "is not a regular file");
    assert_int_equal(elf_note_read(a, AT_FDCWD, "/", &st, &n, &problem, &is_plugin), FAILED);
    assert_int_equal(elf_note_read(a, AT_FDCWD, "/nonexistent/x.so", &st, &n, &problem, &is_plugin), FAILED);
    assert_string_equal(problem, "cannot be opened");
    /* This program is a shared object (PIE) without a note, or an executable. */
    assert_int_equal(elf_note_read(a, AT_FDCWD, "/proc/self/exe", &st, &n, &problem, &is_plugin), FAILED);
    assert_int_equal(is_plugin, 0);
    arena_destroy(a);
}
