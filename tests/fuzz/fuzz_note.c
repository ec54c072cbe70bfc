/* libFuzzer target: any bytes as a plugin file; inputs whose first byte is odd are the notes of a file that is good
 * otherwise. */
#include "core/host/elf_note.h"

#include <elf.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_image(const void *image, size_t bytes)
{
    arena *a = arena_create("fuzz");
    elf_note note;
    const char *problem = NULL;
    int is_plugin = 0;
    const status s = elf_note_read_image(a, image, bytes, &note, &problem, &is_plugin);
    BUG_IF((s == OK) != (problem == NULL), "a reason exactly when refused");
    BUG_IF(s == OK && (note.id == NULL || strlen(note.id) > NOTE_ID_MAX), "an id");
    for (uint32_t i = 0; s == OK && i < note.provided_count; i++) {
        BUG_IF(strchr(note.provides[i].text, ':') + 1 != note.provides[i].id, "an item");
    }
    arena_destroy(a);
}

/* A minimal shared object whose only segment is a note with the fuzzer's bytes. */
static void read_note(const uint8_t *data, size_t size)
{
    static unsigned char image[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 4096];
    const size_t start = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    if (size > sizeof image - start) size = sizeof image - start;
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof(Elf64_Ehdr),
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1};
    Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = start, .p_filesz = size, .p_memsz = size, .p_align = 4};
    memcpy(image, &header, sizeof header);
    memcpy(image + sizeof header, &segment, sizeof segment);
    memcpy(image + start, data, size);
    read_image(image, start + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size != 0 && (data[0] & 1) != 0) {
        read_note(data + 1, size - 1);
    } else {
        read_image(data, size);
    }
    return 0;
}
