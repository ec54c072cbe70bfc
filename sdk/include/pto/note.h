/* The ELF note `.note.pto`: what a host must know of a plugin before a line of it runs. PTO_PLUGIN emits it.
 *
 * An ordinary ELF note with the name "PTO" and type 1 in a PT_NOTE segment. Its descriptor is a pto_note_head in the
 * byte order of the file and, right after it, `text_bytes` bytes of text: four fields, each ended by a NUL: vendor,
 * plugin id, ids it provides ("pass:pto.fuse backend:pto.toy") with the ops that its pass is for
 * ("rewrites:tensor.rope"), properties its passes establish. Items of the last two are separated by single spaces. Zero
 * bytes may follow up to the end of the descriptor. */
#ifndef PTO_NOTE_H
#define PTO_NOTE_H

#include <stdint.h>

#define PTO_NOTE_SECTION ".note.pto"
#define PTO_NOTE_NAME "PTO" /* 4 bytes with its NUL */
enum { PTO_NOTE_TYPE = 1, PTO_NOTE_REVISION = 1, PTO_NOTE_TEXT_MAX = 64 * 1024 };
enum { PTO_NOTE_FLAG_DRAFT = 1 }; /* built against a draft of the ABI */
enum { PTO_SANITIZER_NONE, PTO_SANITIZER_ADDRESS, PTO_SANITIZER_THREAD, PTO_SANITIZER_MEMORY };

/* The numbers of the note, before its text. */
typedef struct pto_note_head {
    uint32_t revision; /* PTO_NOTE_REVISION */
    uint32_t abi_major;
    uint32_t built_minor; /* of the headers it was built against */
    uint32_t least_minor; /* the oldest host minor it can live with */
    uint32_t flags;       /* PTO_NOTE_FLAG_* */
    uint32_t sanitizer;   /* PTO_SANITIZER_* */
    uint32_t text_bytes;  /* with the four NULs */
} pto_note_head;

#ifdef PTO_SANITIZER_KIND
#elif defined(__SANITIZE_ADDRESS__)
#define PTO_SANITIZER_KIND PTO_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__)
#define PTO_SANITIZER_KIND PTO_SANITIZER_THREAD
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PTO_SANITIZER_KIND PTO_SANITIZER_ADDRESS
#elif __has_feature(thread_sanitizer)
#define PTO_SANITIZER_KIND PTO_SANITIZER_THREAD
#elif __has_feature(memory_sanitizer)
#define PTO_SANITIZER_KIND PTO_SANITIZER_MEMORY
#endif
#endif
#ifndef PTO_SANITIZER_KIND
#define PTO_SANITIZER_KIND PTO_SANITIZER_NONE
#endif

/* clang would put red zones into the section. */
#ifdef __clang__
#define PTO_NOTE_PLAIN __attribute__((no_sanitize("address")))
#else
#define PTO_NOTE_PLAIN
#endif

/* Ends in an unfinished declaration: expects a `;`. */
#define PTO_NOTE_EMIT(vendor, id, provides, establishes)                                              \
    PTO_NOTE_PLAIN __attribute__((section(PTO_NOTE_SECTION), used, aligned(4))) static const struct { \
        uint32_t name_bytes, body_bytes, type;                                                        \
        char name[4];                                                                                 \
        pto_note_head head;                                                                           \
        char text[sizeof(vendor "\0" id "\0" provides "\0" establishes)];                             \
    } pto_plugin_note = {4,                                                                           \
                         (uint32_t)(sizeof(pto_plugin_note) - 16),                                    \
                         PTO_NOTE_TYPE,                                                               \
                         PTO_NOTE_NAME,                                                               \
                         {PTO_NOTE_REVISION, PTO_ABI_MAJOR, PTO_ABI_MINOR, PTO_ABI_LEAST_MINOR,       \
                          PTO_ABI_DRAFT ? PTO_NOTE_FLAG_DRAFT : 0, PTO_SANITIZER_KIND,                \
                          (uint32_t)sizeof(vendor "\0" id "\0" provides "\0" establishes)},           \
                         vendor "\0" id "\0" provides "\0" establishes}

#endif
