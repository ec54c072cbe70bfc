#include "tools/run/npy.h"

#include "tools/base/file.h"
#include "tools/base/tool_diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The header is a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: a cursor over it. */
typedef struct cursor {
    diag_engine *diags;
    const char *name;
    const char *p, *end;
} cursor;

static status malformed(const cursor *c, const char *what)
{
    diag_error(c->diags, (src_pos){c->name, 0, 0}, &E1401, "the .npy header is malformed: %s", what);
    diag_note(c->diags, NO_POS, "numpy.save writes a header that is accepted here");
    return FAILED;
}

static void skip_blanks(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t')) c->p++;
}

static bool accept_char(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->p >= c->end || *c->p != wanted) return false;
    c->p++;
    return true;
}

static status read_string(cursor *c, str *out)
{
    skip_blanks(c);
    if (c->p >= c->end || (*c->p != '\'' && *c->p != '"')) return malformed(c, "a quoted text is missing");
    const char quote = *c->p++;
    const char *start = c->p;
    while (c->p < c->end && *c->p != quote) c->p++;
    if (c->p >= c->end) return malformed(c, "a quoted text does not end");
    *out = (str){start, (size_t)(c->p - start)};
    c->p++;
    return OK;
}

static bool accept_word(cursor *c, const char *word)
{
    skip_blanks(c);
    const size_t n = strlen(word);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0) return false;
    c->p += n;
    return true;
}

static status read_shape(cursor *c, npy_header *out)
{
    if (!accept_char(c, '(')) return malformed(c, "`shape` is not a tuple");
    while (!accept_char(c, ')')) {
        skip_blanks(c);
        const char *start = c->p;
        while (c->p < c->end && *c->p >= '0' && *c->p <= '9') c->p++;
        int64_t extent = 0;
        if (c->p - start > 1 && *start == '0') return malformed(c, "an extent of `shape` has leading zeros");
        if (c->p == start || str_to_i64((str){start, (size_t)(c->p - start)}, &extent) != OK)
            return malformed(c, "an extent of `shape` is not a number from 0 to 9223372036854775807");
        if (out->rank == NPY_MAX_RANK) {
            diag_error(c->diags, (src_pos){c->name, 0, 0}, &E1402, "the array has more than %d dims", NPY_MAX_RANK);
            return FAILED;
        }
        out->dims[out->rank++] = extent;
        if (accept_char(c, ',')) continue;
        if (c->p >= c->end || *c->p != ')') return malformed(c, "`shape` does not end");
        if (out->rank == 1) return malformed(c, "`shape` is a number in parentheses; a tuple of one extent is (3,)");
    }
    return OK;
}

static bool is_one_of(char c, const char *set) { return c != '\0' && strchr(set, c) != NULL; }

static status read_descr(cursor *c, npy_header *out)
{
    str s;
    TRY(read_string(c, &s));
    const bool known_order = s.n >= 1 && is_one_of(s.p[0], "<>|=");
    const bool known = s.n == 3 && known_order && is_one_of(s.p[1], "fiubV") && is_one_of(s.p[2], "1248");
    if (!known || (s.p[1] == 'f' && s.p[2] == '1') || (s.p[1] == 'b' && s.p[2] != '1')) {
        diag_error(c->diags, (src_pos){c->name, 0, 0}, &E1403, "element type `%.*s` of the .npy file is not supported",
                   (int)(s.n > 40 ? 40 : s.n), s.p);
        diag_note(c->diags, NO_POS, "supported: <f2 <f4 <i2 <i4 <i8 <u2 <u4 <u8 |i1 |u1 |b1 |V2");
        return FAILED;
    }
    if (s.p[0] == '>') {
        diag_error(c->diags, (src_pos){c->name, 0, 0}, &E1403,
                   "element type `%.*s` is big endian; only little endian is read", (int)s.n, s.p);
        diag_note(c->diags, NO_POS, "convert it with array.astype(array.dtype.newbyteorder('<'))");
        return FAILED;
    }
    out->kind = s.p[1];
    out->item_bytes = (uint32_t)(s.p[2] - '0');
    return OK;
}

static status read_order(cursor *c)
{
    if (accept_word(c, "False")) return OK;
    if (!accept_word(c, "True")) return malformed(c, "`fortran_order` is neither True nor False");
    diag_error(c->diags, (src_pos){c->name, 0, 0}, &E1404, "the array is in Fortran order; only C order is read");
    diag_note(c->diags, NO_POS, "save it with numpy.save(path, numpy.ascontiguousarray(array))");
    return FAILED;
}

static status read_dictionary(cursor *c, npy_header *out)
{
    bool descr = false, order = false, shape = false;
    if (!accept_char(c, '{')) return malformed(c, "it is not a dictionary");
    while (!accept_char(c, '}')) {
        str key;
        TRY(read_string(c, &key));
        if (!accept_char(c, ':')) return malformed(c, "a `:` is missing");
        bool *seen = str_is(key, "descr")           ? &descr
                     : str_is(key, "fortran_order") ? &order
                     : str_is(key, "shape")         ? &shape
                                                    : NULL;
        if (seen == NULL) return malformed(c, "it has a key other than descr, fortran_order and shape");
        if (*seen) return malformed(c, "a key occurs twice");
        *seen = true;
        TRY(seen == &descr ? read_descr(c, out) : seen == &order ? read_order(c) : read_shape(c, out));
        if (!accept_char(c, ',') && !(c->p < c->end && *c->p == '}'))
            return malformed(c, "the dictionary does not end");
    }
    if (!descr || !order || !shape) return malformed(c, "descr, fortran_order or shape is missing");
    skip_blanks(c);
    return c->p == c->end ? OK : malformed(c, "text follows the dictionary");
}

static status count_elements(const cursor *c, npy_header *out)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        if (__builtin_mul_overflow(count, (uint64_t)out->dims[i], &count) || count > INT64_MAX / 8) {
            diag_error(c->diags, (src_pos){c->name, 0, 0}, &E1402, "the array has more than %" PRId64 " elements",
                       (int64_t)(INT64_MAX / 8));
            return FAILED;
        }
    }
    out->element_count = count;
    return OK;
}

status npy_parse(diag_engine *d, const char *name, str file, npy_header *out)
{
    *out = (npy_header){0};
    cursor c = {d, name, file.p, file.p + file.n};
    static const char magic[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (file.n < 10 || memcmp(file.p, magic, sizeof magic) != 0) {
        diag_error(d, (src_pos){name, 0, 0}, &E1401, "this is not a .npy file: it does not begin with \\x93NUMPY");
        return FAILED;
    }
    const uint8_t *b = (const uint8_t *)file.p;
    const uint8_t version = b[6], minor = b[7];
    if (version < 1 || version > 3 || minor != 0) {
        diag_error(d, (src_pos){name, 0, 0}, &E1401,
                   ".npy version %u.%u is not supported; versions 1.0, 2.0 and 3.0 are", version, minor);
        return FAILED;
    }
    if (version > 1 && file.n < 12) return malformed(&c, "the file ends inside the header length");
    const uint64_t header_bytes =
        version == 1 ? (uint64_t)b[8] | (uint64_t)b[9] << 8
                     : (uint64_t)b[8] | (uint64_t)b[9] << 8 | (uint64_t)b[10] << 16 | (uint64_t)b[11] << 24;
    const uint64_t start = version == 1 ? 10 : 12;
    if (header_bytes > file.n - start) return malformed(&c, "the file ends inside the header");
    c.p = file.p + start;
    c.end = c.p + header_bytes;
    TRY(read_dictionary(&c, out));
    TRY(count_elements(&c, out));
    out->data_offset = start + header_bytes;
    const uint64_t wanted = out->element_count * out->item_bytes, present = file.n - out->data_offset;
    if (present < wanted) {
        diag_error(d, (src_pos){name, 0, 0}, &E1405,
                   "the file is truncated: its shape needs %" PRIu64 " bytes of elements, %" PRIu64 " are there",
                   wanted, present);
        return FAILED;
    }
    /* numpy.load reads such a file without a word; more often than not it is a wrong shape or two files in one. */
    if (present > wanted)
        diag_warning(d, (src_pos){name, 0, 0}, &E1406,
                     "%" PRIu64 " bytes follow the elements, of which the shape has %" PRIu64 " in %" PRIu64
                     " bytes; they are ignored",
                     present - wanted, out->element_count, wanted);
    return OK;
}

status npy_read(arena *a, diag_engine *d, const char *path, npy_array *out)
{
    str file;
    TRY(file_read(a, d, path, UINT64_MAX, &file));
    TRY(npy_parse(d, path, file, &out->header));
    out->data = (const uint8_t *)file.p + out->header.data_offset;
    return OK;
}

const char *npy_descr(dtype d) { return dtype_numpy(d); }

void npy_header_descr(const npy_header *h, char out[8])
{
    snprintf(out, 8, "%c%c%u", h->item_bytes == 1 || h->kind == 'V' ? '|' : '<', h->kind, h->item_bytes);
}

bool npy_matches(const npy_header *h, dtype wanted)
{
    const char *descr = npy_descr(wanted);
    if (descr == NULL) return false;
    /* Extensions of numpy write the floats that it lacks as bytes without a type. */
    bool is_bare = h->kind == 'V' && descr[1] == 'u' && dtype_class_of(wanted) == DTYPE_CLASS_FLOAT;
    return (h->kind == descr[1] || is_bare) && h->item_bytes == (uint32_t)(descr[2] - '0');
}

status npy_write(diag_engine *d, const char *path, dtype type, uint32_t rank, const int64_t *dims, const void *data)
{
    const char *descr = npy_descr(type);
    BUG_IF(descr == NULL, "element type %s has no .npy form", dtype_name(type));
    char header[512];
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    uint64_t bytes = dtype_bytes(type);
    for (uint32_t i = 0; i < rank; i++) {
        n += snprintf(header + n, sizeof header - (size_t)n, "%" PRId64 "%s", dims[i],
                      rank == 1 || i + 1 < rank ? ", " : "");
        bytes *= (uint64_t)dims[i];
    }
    n += snprintf(header + n, sizeof header - (size_t)n, "), }");
    /* The elements start at a multiple of 64 bytes, the header ends in a newline: both as numpy has it. */
    while ((10 + n + 1) % 64 != 0) header[n++] = ' ';
    header[n++] = '\n';
    const uint8_t prefix[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(n & 0xff), (uint8_t)(n >> 8)};
    file_writer w;
    TRY(file_writer_open(&w, d, path));
    file_writer_put(&w, prefix, sizeof prefix);
    file_writer_put(&w, header, (size_t)n);
    file_writer_put(&w, data, bytes);
    return file_writer_commit(&w);
}
