/* .safetensors: eight bytes with the length of a JSON object, the object, then the bytes of all tensors, without gaps.
 * { "name": { "dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24] }, .., "__metadata__": { "key": "text" } } */
#include "tensor_files/tensor_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 100000000, LENGTH_BYTES = 8 };

typedef struct json {
    const tensor_file_bytes *file;
    const char *p, *end;
} json;

typedef struct json_text {
    char *p;
    size_t n;
} json_text;

static bool malformed(const json *j, const char *what)
{
    tensor_file_fail(j->file->problem, TENSOR_MALFORMED, "the .safetensors header is malformed: %s", what);
    j->file->problem->note = "safetensors.numpy.save_file writes a header that is accepted here";
    return false;
}

static void skip_blanks(json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r')) j->p++;
}

static bool accept_char(json *j, char wanted)
{
    skip_blanks(j);
    if (j->p >= j->end || *j->p != wanted) return false;
    j->p++;
    return true;
}

/* ---- texts ---- */

static bool read_hex4(json *j, uint32_t *out)
{
    *out = 0;
    if (j->end - j->p < 4) return false;
    for (int i = 0; i < 4; i++) {
        const char c = *j->p++;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static void put_utf8(json_text *t, uint32_t c)
{
    const uint32_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    t->p[t->n++] = (char)(first[more] | c >> 6 * more);
    for (uint32_t i = more; i-- > 0;) t->p[t->n++] = (char)(0x80 | (c >> 6 * i & 0x3f));
}

/* \uXXXX, or two of them for what is beyond 16 bits. Never more bytes than were read. */
static bool read_unicode(json *j, json_text *t)
{
    uint32_t c, low;
    if (!read_hex4(j, &c)) return false;
    if (c >= 0xd800 && c < 0xdc00) {
        if (j->end - j->p < 2 || j->p[0] != '\\' || j->p[1] != 'u') return false;
        j->p += 2;
        if (!read_hex4(j, &low) || low < 0xdc00 || low > 0xdfff) return false;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c <= 0xdfff) {
        return false;
    }
    put_utf8(t, c);
    return true;
}

static bool read_escape(json *j, json_text *t)
{
    static const char signs[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (j->p >= j->end) return false;
    const char c = *j->p++;
    if (c == 'u') return read_unicode(j, t);
    const char *at = c != '\0' ? strchr(signs, c) : NULL;
    if (at == NULL) return false;
    t->p[t->n++] = means[at - signs];
    return true;
}

static bool read_text(json *j, json_text *out)
{
    if (!accept_char(j, '"')) return malformed(j, "a quoted text is missing");
    const char *close = j->p;
    while (close < j->end && *close != '"') close += *close == '\\' && close + 1 < j->end ? 2 : 1;
    if (close >= j->end) return malformed(j, "a quoted text does not end");
    *out = (json_text){j->file->allocate(j->file->self, (size_t)(close - j->p) + 1), 0};
    while (j->p < close) {
        const char c = *j->p++;
        if ((uint8_t)c < 0x20) return malformed(j, "a quoted text holds a control character");
        if (c != '\\')
            out->p[out->n++] = c;
        else if (!read_escape(j, out))
            return malformed(j, "a quoted text holds an unknown escape");
    }
    j->p++;
    return true;
}

static bool is_text(const json_text *t, const char *text)
{
    return t->n == strlen(text) && memcmp(t->p, text, t->n) == 0;
}

/* ---- values ---- */

static bool read_number(json *j, int64_t *out)
{
    skip_blanks(j);
    const char *start = j->p;
    bool fits = true;
    *out = 0;
    for (; j->p < j->end && *j->p >= '0' && *j->p <= '9'; j->p++)
        fits = fits && !__builtin_mul_overflow(*out, 10, out) && !__builtin_add_overflow(*out, *j->p - '0', out);
    if (j->p == start || !fits || (j->p - start > 1 && *start == '0'))
        return malformed(j, "an extent or offset is not a number from 0 to 9223372036854775807");
    return true;
}

/* Up to `most` numbers. */
static bool read_numbers(json *j, int64_t *out, uint32_t most, uint32_t *count)
{
    *count = 0;
    if (!accept_char(j, '[')) return malformed(j, "`shape` or `data_offsets` is not a list");
    if (accept_char(j, ']')) return true;
    do {
        if (*count == most)
            return most == 2 ? malformed(j, "`data_offsets` are more than two")
                             : tensor_file_fail(j->file->problem, TENSOR_TOO_LARGE,
                                                "a tensor has more than %" PRIu32 " dims", most);
        if (!read_number(j, &out[(*count)++])) return false;
    } while (accept_char(j, ','));
    return accept_char(j, ']') || malformed(j, "a list does not end");
}

static bool read_type(json *j, tensor_header *out)
{
    json_text t;
    if (!read_text(j, &t)) return false;
    if (is_text(&t, "F64")) { /* no type of ours, but references may be of it */
        out->kind = 'f';
        out->item_bytes = 8;
        return true;
    }
    for (pto_dtype d = PTO_DTYPE_NONE + 1; d < PTO_DTYPE_COUNT; d++) {
        const char *name = tensor_safetensors_type(d), *npy = tensor_npy_type(d);
        if (name == NULL || npy == NULL || !is_text(&t, name)) continue;
        *out = (tensor_header){.kind = npy[1], .item_bytes = (uint32_t)(npy[2] - '0'), .type = d};
        return true;
    }
    tensor_file_fail(j->file->problem, TENSOR_ELEMENT_TYPE,
                     "element type `%.*s` of the .safetensors file is not supported", (int)(t.n > 40 ? 40 : t.n), t.p);
    return false;
}

/* { "dtype": .., "shape": .., "data_offsets": .. }, in any order. */
static bool read_tensor(json *j, tensor_entry *e)
{
    int64_t dims[TENSOR_MAX_RANK] = {0}, offsets[2] = {0};
    uint32_t rank = 0, offset_count = 0;
    bool has_type = false, has_shape = false, has_offsets = false;
    if (!accept_char(j, '{')) return malformed(j, "a tensor is not an object");
    do {
        json_text key;
        if (!read_text(j, &key)) return false;
        bool *seen = is_text(&key, "dtype")          ? &has_type
                     : is_text(&key, "shape")        ? &has_shape
                     : is_text(&key, "data_offsets") ? &has_offsets
                                                     : NULL;
        if (seen == NULL) return malformed(j, "a tensor has a key other than dtype, shape and data_offsets");
        if (*seen) return malformed(j, "a key occurs twice");
        *seen = true;
        if (!accept_char(j, ':')) return malformed(j, "a `:` is missing");
        if (!(seen == &has_type    ? read_type(j, &e->header)
              : seen == &has_shape ? read_numbers(j, dims, TENSOR_MAX_RANK, &rank)
                                   : read_numbers(j, offsets, 2, &offset_count)))
            return false;
    } while (accept_char(j, ','));
    if (!accept_char(j, '}')) return malformed(j, "a tensor does not end");
    if (!has_type || !has_shape || offset_count != 2)
        return malformed(j, "dtype, shape or data_offsets of a tensor is missing");
    if (offsets[0] > offsets[1]) return malformed(j, "a tensor ends before it begins");
    e->header.rank = rank;
    memcpy(e->header.dims, dims, sizeof dims);
    e->offset = (uint64_t)offsets[0];
    e->stored_bytes = (uint64_t)(offsets[1] - offsets[0]);
    if (!tensor_count_elements(&e->header, j->file->problem)) return false;
    return e->stored_bytes == e->header.element_count * e->header.item_bytes ||
           malformed(j, "the bytes of a tensor are not those of its shape");
}

/* Texts by texts, which nothing here reads. */
static bool skip_metadata(json *j)
{
    json_text unused;
    if (!accept_char(j, '{')) return malformed(j, "`__metadata__` is not an object");
    if (accept_char(j, '}')) return true;
    do {
        if (!read_text(j, &unused)) return false;
        if (!accept_char(j, ':')) return malformed(j, "a `:` is missing");
        if (!read_text(j, &unused)) return false;
    } while (accept_char(j, ','));
    return accept_char(j, '}') || malformed(j, "`__metadata__` does not end");
}

static void push(const tensor_file_bytes *f, tensor_entry **list, uint32_t *count, uint32_t *capacity,
                 const tensor_entry *e)
{
    if (*count == *capacity) {
        const uint32_t more = *capacity == 0 ? 16 : *capacity * 2;
        tensor_entry *grown = f->allocate(f->self, more * sizeof *grown);
        if (*count > 0) memcpy(grown, *list, *count * sizeof *grown);
        *list = grown;
        *capacity = more;
    }
    (*list)[(*count)++] = *e;
}

static bool read_object(json *j, tensor_entry **list, uint32_t *count)
{
    uint32_t capacity = 0;
    bool has_metadata = false;
    *list = NULL;
    if (j->p >= j->end || *j->p != '{') return malformed(j, "it is not an object");
    j->p++;
    if (!accept_char(j, '}')) {
        do {
            json_text name;
            tensor_entry e = {.name = NULL};
            if (!read_text(j, &name)) return false;
            if (!accept_char(j, ':')) return malformed(j, "a `:` is missing");
            if (is_text(&name, "__metadata__")) {
                if (has_metadata) return malformed(j, "a key occurs twice");
                has_metadata = true;
                if (!skip_metadata(j)) return false;
                continue;
            }
            if (!read_tensor(j, &e)) return false;
            e.name = name.p;
            e.name_bytes = name.n;
            push(j->file, list, count, &capacity, &e);
        } while (accept_char(j, ','));
        if (!accept_char(j, '}')) return malformed(j, "the object does not end");
    }
    skip_blanks(j);
    return j->p == j->end || malformed(j, "text follows the object");
}

static int compare_places(const void *x, const void *y)
{
    const tensor_entry *a = x, *b = y;
    if (a->offset != b->offset) return a->offset > b->offset ? 1 : -1;
    return (a->stored_bytes > b->stored_bytes) - (a->stored_bytes < b->stored_bytes);
}

/* Tensors follow each other from the first byte to the last; their offsets then count from the start of the file. */
static bool check_places(const json *j, tensor_entry *list, uint32_t count, uint64_t data)
{
    uint64_t end = 0;
    const uint64_t present = j->file->n - data;
    if (count > 0) qsort(list, count, sizeof *list, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].offset < end) return malformed(j, "two tensors overlap");
        if (list[i].offset > end) return malformed(j, "there are bytes that belong to no tensor");
        end += list[i].stored_bytes;
        list[i].offset += data;
    }
    if (end < present) return malformed(j, "bytes follow the last tensor");
    if (end == present) return true;
    return tensor_file_fail(j->file->problem, TENSOR_TRUNCATED,
                            "the file is truncated: its tensors need %" PRIu64 " bytes, %" PRIu64 " are there", end,
                            present);
}

bool tensor_list_safetensors(const tensor_file_bytes *f, tensor_entry **list, uint32_t *count)
{
    json j = {.file = f};
    *count = 0;
    if (f->n < LENGTH_BYTES)
        return tensor_file_fail(f->problem, TENSOR_TRUNCATED, "the file ends inside the header length");
    uint64_t length = 0;
    for (uint32_t i = 0; i < LENGTH_BYTES; i++) length |= (uint64_t)f->bytes[i] << 8 * i;
    if (length > HEADER_MAX)
        return malformed(&j, "it claims more than 100000000 bytes, or this is not a .safetensors file");
    if (length > f->n - LENGTH_BYTES)
        return tensor_file_fail(f->problem, TENSOR_TRUNCATED, "the file ends inside the header");
    j.p = (const char *)f->bytes + LENGTH_BYTES;
    j.end = j.p + length;
    return read_object(&j, list, count) && check_places(&j, *list, *count, LENGTH_BYTES + length) &&
           tensor_check_names(f, *list, *count);
}
