#include "tools/build/build_headers.h"

#include <native_headers.h>

NATIVE_EMBED(dlpack_h, "pto/dlpack.h");
NATIVE_EMBED(native_runtime_h, "pto/native_runtime.h");

static const native_header own[] = {
    {"pto/dlpack.h", dlpack_h_begin, dlpack_h_end},
    {"pto/native_runtime.h", native_runtime_h_begin, native_runtime_h_end},
};
enum { OWN_COUNT = sizeof own / sizeof own[0] };

str build_header_at(uint32_t index, const char **name)
{
    if (index >= OWN_COUNT + native_header_count) return (str){NULL, 0};
    const native_header *h = index < OWN_COUNT ? &own[index] : &native_headers[index - OWN_COUNT];
    *name = h->name;
    return (str){h->begin, (size_t)(h->end - h->begin)};
}

str build_dlpack_text(void) { return (str){dlpack_h_begin, (size_t)(dlpack_h_end - dlpack_h_begin)}; }
