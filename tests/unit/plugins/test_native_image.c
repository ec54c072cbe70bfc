/* plugins/shared/native/native_image.h: what dlopen would fall over. */
#include "tests/unit/plugins/native_fixture.h"

#include <native_image.h>

#include <elf.h>

enum { FILE_BYTES = 64 * 1024 };

/* A small library, in memory; returns its bytes. */
static size_t make_library(const native_fixture *f, uint8_t bytes[FILE_BYTES])
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command,
             "cd %s && echo 'int answer(void) { return 42; } int *where = (int *)&answer;' >a.c && cc -w -shared -fPIC "
             "a.c -o a.so",
             f->folder);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path_in(f, "a.so"), "r");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, FILE_BYTES, file);
    fclose(file);
    assert_in_range(n, 4096, FILE_BYTES - 1);
    return n;
}

static native_status check(native_fixture *f, const uint8_t *bytes, size_t n)
{
    int fd = open(path_in(f, "b.so"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(native_folder_write(fd, bytes, n));
    const native_status status = native_image_check(fd, &f->e);
    close(fd);
    return status;
}

TEST(no_part_of_a_library_is_one)
{
    native_fixture f = native_fixture_begin();
    static uint8_t bytes[FILE_BYTES];
    const size_t n = make_library(&f, bytes);
    char text[128];
    assert_int_equal(check(&f, bytes, n), NATIVE_OK);
    assert_int_equal(check(&f, bytes, n + 1), NATIVE_OK); /* the cache adds bytes */
    for (size_t part = 0; part < n; part += part < sizeof(Elf64_Ehdr) ? 1 : 101) {
        assert_int_equal(check(&f, bytes, part), NATIVE_NOT_LOADED);
        snprintf(text, sizeof text, "it has %zu bytes, which are not all of a shared object", part);
        assert_string_equal(f.e.text, part < sizeof(Elf64_Ehdr) ? "it is not a shared object" : text);
    }
    /* What a full disk leaves of a file that was mapped. */
    for (size_t zeros = 64; zeros < n; zeros += 501) {
        static uint8_t copy[FILE_BYTES];
        memcpy(copy, bytes, n - zeros);
        memset(copy + n - zeros, 0, zeros);
        if (zeros > 40 * sizeof(Elf64_Shdr)) assert_int_equal(check(&f, copy, n), NATIVE_NOT_LOADED);
    }
    native_fixture_end(&f);
}

static void *at(uint8_t *bytes, uint64_t offset) { return bytes + offset; }

static Elf64_Phdr *segment_of(uint8_t *bytes, uint32_t type)
{
    const Elf64_Ehdr *header = at(bytes, 0);
    Elf64_Phdr *segments = at(bytes, header->e_phoff);
    for (uint32_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == type) return &segments[i];
    fail_msg("no segment of type %u", type);
    return NULL;
}

/* A number of the file that is not what it was. */
static void refuses_other(native_fixture *f, uint8_t *bytes, size_t n, void *place, size_t size, uint64_t value)
{
    uint8_t before[8];
    memcpy(before, place, size);
    memcpy(place, &value, size);
    assert_int_equal(check(f, bytes, n), NATIVE_NOT_LOADED);
    memcpy(place, before, size);
    assert_int_equal(check(f, bytes, n), NATIVE_OK);
}
#define REFUSES_OTHER(place, value) refuses_other(&f, bytes, n, &(place), sizeof(place), value)

TEST(numbers_that_lead_out_of_the_file)
{
    native_fixture f = native_fixture_begin();
    static _Alignas(8) uint8_t bytes[FILE_BYTES];
    const size_t n = make_library(&f, bytes);
    Elf64_Ehdr *header = at(bytes, 0);
    REFUSES_OTHER(header->e_type, ET_EXEC);
    REFUSES_OTHER(header->e_ident[EI_CLASS], ELFCLASS32);
    REFUSES_OTHER(header->e_phoff, n);
    REFUSES_OTHER(header->e_phoff, UINT64_MAX);
    REFUSES_OTHER(header->e_phnum, 33);
    REFUSES_OTHER(header->e_phentsize, 32);
    REFUSES_OTHER(header->e_shoff, UINT64_MAX - 63);
    REFUSES_OTHER(header->e_shnum, 0);
    REFUSES_OTHER(header->e_shentsize, 65);
    Elf64_Phdr *loaded = segment_of(bytes, PT_LOAD), *dynamic = segment_of(bytes, PT_DYNAMIC);
    REFUSES_OTHER(loaded->p_offset, UINT64_MAX);
    REFUSES_OTHER(loaded->p_filesz, n + 1);
    REFUSES_OTHER(loaded->p_memsz, 1);
    REFUSES_OTHER(dynamic->p_type, PT_NULL);
    REFUSES_OTHER(dynamic->p_offset, n);
    REFUSES_OTHER(dynamic->p_vaddr, UINT64_MAX);
    REFUSES_OTHER(dynamic->p_filesz, 16 * 257);
    REFUSES_OTHER(dynamic->p_filesz, 16); /* without the end of the list */
    Elf64_Dyn *tags = at(bytes, dynamic->p_offset);
    int pointers = 0;
    for (; tags->d_tag != DT_NULL; tags++) {
        const int64_t tag = tags->d_tag;
        if (tag == DT_STRTAB || tag == DT_SYMTAB) REFUSES_OTHER(tags->d_tag, DT_DEBUG);
        if (tag == DT_STRSZ || tag == DT_RELASZ || tag == DT_INIT_ARRAYSZ) REFUSES_OTHER(tags->d_un.d_val, n + 1);
        if (tag != DT_STRTAB && tag != DT_SYMTAB && tag != DT_GNU_HASH && tag != DT_RELA && tag != DT_INIT) continue;
        REFUSES_OTHER(tags->d_un.d_ptr, UINT64_MAX);
        pointers++;
    }
    assert_in_range(pointers, 4, 5);
    native_fixture_end(&f);
}
