#include "tools/run/tensor_file.h"

#include "tools/base/file.h"
#include "tools/base/tool_diag.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

static status report(diag_engine *d, const char *name, const tensor_problem *p)
{
    static const diag_code_info *const codes[] = {
        [TENSOR_MALFORMED] = &E1401, [TENSOR_TOO_LARGE] = &E1402, [TENSOR_ELEMENT_TYPE] = &E1403,
        [TENSOR_ORDER] = &E1404,     [TENSOR_TRUNCATED] = &E1405, [TENSOR_ENTRY] = &E1407,
    };
    diag_error(d, (src_pos){name, 0, 0}, codes[p->fault], "%s", p->text);
    if (p->note != NULL) diag_note(d, NO_POS, "%s", p->note);
    return FAILED;
}

/* numpy.load reads such a file without a word; more often than not it is a wrong shape or two files in one. */
static void warn_rest(diag_engine *d, const char *name, const tensor_header *h, uint64_t rest)
{
    if (rest > 0)
        diag_warning(d, (src_pos){name, 0, 0}, &E1406,
                     "%" PRIu64 " bytes follow the elements, of which the shape has %" PRIu64 " in %" PRIu64
                     " bytes; they are ignored",
                     rest, h->element_count, h->element_count * h->item_bytes);
}

status tensor_parse_npy(diag_engine *d, const char *name, str file, tensor_header *out)
{
    tensor_problem problem;
    if (!tensor_npy_header((const uint8_t *)file.p, file.n, out, &problem)) return report(d, name, &problem);
    warn_rest(d, name, out, file.n - out->data_offset - out->element_count * out->item_bytes);
    return OK;
}

/* All of a deflated member, which must be as long as the directory says and have its check sum. */
static status inflate_member(arena *a, diag_engine *d, const char *name, const uint8_t *stored, const tensor_entry *e,
                             str *out)
{
    z_stream z = {0};
    uint8_t *bytes = arena_alloc_aligned(a, e->inflated_bytes + 1, 64);
    uint64_t done = 0, used = 0;
    uLong crc = crc32(0, NULL, 0);
    int result = inflateInit2(&z, -MAX_WBITS);
    while (result == Z_OK) {
        const uint64_t left = e->stored_bytes - used, more = e->inflated_bytes + 1 - done;
        const uInt in = left < UINT32_MAX / 2 ? (uInt)left : UINT32_MAX / 2;
        const uInt out_bytes = more < UINT32_MAX / 2 ? (uInt)more : UINT32_MAX / 2;
        z.next_in = (z_const Bytef *)(uintptr_t)(stored + used);
        z.avail_in = in;
        z.next_out = bytes + done;
        z.avail_out = out_bytes;
        result = inflate(&z, Z_NO_FLUSH);
        crc = crc32(crc, bytes + done, out_bytes - z.avail_out);
        used += in - z.avail_in;
        done += out_bytes - z.avail_out;
        if (in == z.avail_in && out_bytes == z.avail_out) break;
    }
    inflateEnd(&z);
    *out = (str){(const char *)bytes, (size_t)done};
    if (result == Z_STREAM_END && done == e->inflated_bytes && used == e->stored_bytes && crc == e->crc) return OK;
    diag_error(d, (src_pos){name, 0, 0}, &E1401,
               result == Z_STREAM_END && done == e->inflated_bytes
                   ? "the member does not have the check sum that the archive says"
                   : "the member does not inflate to the %" PRIu64 " bytes that the archive says",
               e->inflated_bytes);
    return FAILED;
}

static void *allocate(void *self, size_t bytes) { return arena_alloc(self, bytes); }

status tensor_parse(arena *a, diag_engine *d, const char *text, str file, tensor_array *out)
{
    tensor_problem problem;
    const tensor_file_bytes bytes = {(const uint8_t *)file.p, file.n, allocate, a, &problem};
    tensor_entry e;
    size_t path_bytes;
    const char *entry;
    const tensor_file_kind kind = tensor_split(text, &path_bytes, &entry);
    if (!tensor_locate(&bytes, kind, entry, &e)) return report(d, text, &problem);
    if (e.is_deflated) {
        str inflated;
        TRY(inflate_member(a, d, text, bytes.bytes + e.offset, &e, &inflated));
        TRY(tensor_parse_npy(d, text, inflated, &out->header));
        out->data = (const uint8_t *)inflated.p + out->header.data_offset;
        return OK;
    }
    warn_rest(d, text, &e.header, e.rest_bytes);
    *out = (tensor_array){e.header, bytes.bytes + e.offset};
    return OK;
}

const char *tensor_path(arena *a, const char *text)
{
    size_t path_bytes;
    const char *entry;
    (void)tensor_split(text, &path_bytes, &entry);
    return entry != NULL ? arena_strndup(a, text, path_bytes) : text;
}

status tensor_read(arena *a, diag_engine *d, const char *text, tensor_array *out)
{
    str file;
    TRY(file_map(d, tensor_path(a, text), &file));
    return tensor_parse(a, d, text, file, out);
}
