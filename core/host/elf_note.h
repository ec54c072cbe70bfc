/* Reading the note of a plugin without loading it: see <pto/note.h> for what is in it.
 *
 * Nothing of the file is run or mapped. Any file may be given: whatever is not a well-formed plugin of this machine is
 * refused with a reason. */
#ifndef CORE_HOST_ELF_NOTE_H
#define CORE_HOST_ELF_NOTE_H

#include "ir/base/arena.h"
#include "ir/base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef enum plugin_kind {
    PLUGIN_OTHER, /* of a kind that this core does not know */
    PLUGIN_PASS,
    PLUGIN_PROPERTY,
    PLUGIN_TILING,
    PLUGIN_BACKEND,
    PLUGIN_OP,
    PLUGIN_COST,
    PLUGIN_GENERATOR,
    PLUGIN_READER,
    PLUGIN_REWRITES, /* not an item of its own: an op that its pass is for */
    PLUGIN_KIND_COUNT
} plugin_kind;

/* "pass", "property", "tiling", "backend", "op", "cost", "generator", "reader", "rewrites". */
const char *plugin_kind_name(plugin_kind kind);

typedef struct note_item {
    plugin_kind kind;
    const char *text; /* "pass:acme.fuse" */
    const char *id;   /* "acme.fuse" */
} note_item;

typedef struct elf_note {
    uint32_t abi_major, built_minor, least_minor;
    uint32_t draft;     /* 0 or 1 */
    uint32_t sanitizer; /* PTO_SANITIZER_* of <pto/note.h> */
    const char *vendor, *id;
    const note_item *provides;
    uint32_t provided_count;
    const char *const *establishes; /* NULL-ended */
} elf_note;

enum { NOTE_ITEMS_MAX = 1024, NOTE_ID_MAX = 128 };

/* Reads the note of the file `path`, of an open folder (AT_FDCWD: the working folder) when it is relative, or of an
 * image of a file in memory. What `out_note` points at lives in `a`. *out_file is all 0 when it cannot be opened; errno
 * then says why.
 * FAILED: nothing is reported; *out_problem is the second half of a sentence that begins with the file ("is not ..."),
 * a static text. *out_is_plugin tells a broken plugin (1) from a file that is none (0). */
MUST_CHECK status elf_note_read(arena *a, int folder, const char *path, struct stat *out_file, elf_note *out_note,
                                const char **out_problem, int *out_is_plugin);
MUST_CHECK status elf_note_read_image(arena *a, const void *image, size_t bytes, elf_note *out_note,
                                      const char **out_problem, int *out_is_plugin);

#endif
