/* The header of .npy is a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. */
#include "tensor_files/tensor_layout.h"

#include <inttypes.h>
#include <string.h>

typedef struct cursor {
    tensor_problem *problem;
    const char *p, *end;
} cursor;

static bool malformed(const cursor *c, const char *what)
{
    tensor_file_fail(c->problem, TENSOR_MALFORMED, "the .npy header is malformed: %s", what);
    c->problem->note = "numpy.save writes a header that is accepted here";
    return false;
}

static bool is_text(pto_str s, const char *text) { return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0; }

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

static bool accept_word(cursor *c, const char *word)
{
    skip_blanks(c);
    const size_t n = strlen(word);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0) return false;
    c->p += n;
    return true;
}

static bool read_string(cursor *c, pto_str *out)
{
    skip_blanks(c);
    if (c->p >= c->end || (*c->p != '\'' && *c->p != '"')) return malformed(c, "a quoted text is missing");
    const char quote = *c->p++;
    const char *start = c->p;
    while (c->p < c->end && *c->p != quote) c->p++;
    if (c->p >= c->end) return malformed(c, "a quoted text does not end");
    *out = (pto_str){start, (size_t)(c->p - start)};
    c->p++;
    return true;
}

static bool read_extent(cursor *c, int64_t *out)
{
    skip_blanks(c);
    const char *start = c->p;
    bool fits = true;
    *out = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        fits = fits && !__builtin_mul_overflow(*out, 10, out) && !__builtin_add_overflow(*out, *c->p - '0', out);
    if (c->p - start > 1 && *start == '0') return malformed(c, "an extent of `shape` has leading zeros");
    if (c->p != start && fits) return true;
    return malformed(c, "an extent of `shape` is not a number from 0 to 9223372036854775807");
}

static bool read_shape(cursor *c, tensor_header *out)
{
    if (!accept_char(c, '(')) return malformed(c, "`shape` is not a tuple");
    while (!accept_char(c, ')')) {
        int64_t extent;
        if (!read_extent(c, &extent)) return false;
        if (out->rank == TENSOR_MAX_RANK)
            return tensor_file_fail(c->problem, TENSOR_TOO_LARGE, "the array has more than %d dims", TENSOR_MAX_RANK);
        out->dims[out->rank++] = extent;
        if (accept_char(c, ',')) continue;
        if (c->p >= c->end || *c->p != ')') return malformed(c, "`shape` does not end");
        if (out->rank == 1) return malformed(c, "`shape` is a number in parentheses; a tuple of one extent is (3,)");
    }
    return true;
}

static bool is_one_of(char c, const char *set) { return c != '\0' && strchr(set, c) != NULL; }

static bool read_descr(cursor *c, tensor_header *out)
{
    pto_str s;
    if (!read_string(c, &s)) return false;
    const bool known_order = s.n >= 1 && is_one_of(s.p[0], "<>|=");
    const bool known = s.n == 3 && known_order && is_one_of(s.p[1], "fiubV") && is_one_of(s.p[2], "1248");
    if (!known || (s.p[1] == 'f' && s.p[2] == '1') || (s.p[1] == 'b' && s.p[2] != '1')) {
        tensor_file_fail(c->problem, TENSOR_ELEMENT_TYPE, "element type `%.*s` of the .npy file is not supported",
                         (int)(s.n > 40 ? 40 : s.n), s.p);
        c->problem->note = "supported: <f2 <f4 <i2 <i4 <i8 <u2 <u4 <u8 |i1 |u1 |b1 |V2";
        return false;
    }
    if (s.p[0] == '>') {
        tensor_file_fail(c->problem, TENSOR_ELEMENT_TYPE,
                         "element type `%.*s` is big endian; only little endian is read", (int)s.n, s.p);
        c->problem->note = "convert it with array.astype(array.dtype.newbyteorder('<'))";
        return false;
    }
    out->kind = s.p[1];
    out->item_bytes = (uint32_t)(s.p[2] - '0');
    return true;
}

static bool read_order(cursor *c)
{
    if (accept_word(c, "False")) return true;
    if (!accept_word(c, "True")) return malformed(c, "`fortran_order` is neither True nor False");
    tensor_file_fail(c->problem, TENSOR_ORDER, "the array is in Fortran order; only C order is read");
    c->problem->note = "save it with numpy.save(path, numpy.ascontiguousarray(array))";
    return false;
}

static bool read_dictionary(cursor *c, tensor_header *out)
{
    bool descr = false, order = false, shape = false;
    if (!accept_char(c, '{')) return malformed(c, "it is not a dictionary");
    while (!accept_char(c, '}')) {
        pto_str key;
        if (!read_string(c, &key)) return false;
        if (!accept_char(c, ':')) return malformed(c, "a `:` is missing");
        bool *seen = is_text(key, "descr")           ? &descr
                     : is_text(key, "fortran_order") ? &order
                     : is_text(key, "shape")         ? &shape
                                                     : NULL;
        if (seen == NULL) return malformed(c, "it has a key other than descr, fortran_order and shape");
        if (*seen) return malformed(c, "a key occurs twice");
        *seen = true;
        if (!(seen == &descr ? read_descr(c, out) : seen == &order ? read_order(c) : read_shape(c, out))) return false;
        if (!accept_char(c, ',') && !(c->p < c->end && *c->p == '}'))
            return malformed(c, "the dictionary does not end");
    }
    if (!descr || !order || !shape) return malformed(c, "descr, fortran_order or shape is missing");
    skip_blanks(c);
    return c->p == c->end || malformed(c, "text follows the dictionary");
}

bool tensor_npy_header(const uint8_t *b, uint64_t n, tensor_header *out, tensor_problem *problem)
{
    *out = (tensor_header){.type = PTO_DTYPE_NONE};
    cursor c = {.problem = problem};
    if (n < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return tensor_file_fail(problem, TENSOR_MALFORMED,
                                "this is not a .npy file: it does not begin with \\x93NUMPY");
    const uint8_t version = b[6], minor = b[7];
    if (version < 1 || version > 3 || minor != 0)
        return tensor_file_fail(problem, TENSOR_MALFORMED,
                                ".npy version %u.%u is not supported; versions 1.0, 2.0 and 3.0 are", version, minor);
    if (version > 1 && n < 12) return malformed(&c, "the file ends inside the header length");
    uint64_t header_bytes = (uint64_t)b[8] | (uint64_t)b[9] << 8;
    if (version > 1) header_bytes |= (uint64_t)b[10] << 16 | (uint64_t)b[11] << 24;
    const uint64_t start = version == 1 ? 10 : 12;
    if (header_bytes > n - start) return malformed(&c, "the file ends inside the header");
    c.p = (const char *)b + start;
    c.end = c.p + header_bytes;
    if (!read_dictionary(&c, out) || !tensor_count_elements(out, problem)) return false;
    out->data_offset = start + header_bytes;
    const uint64_t wanted = out->element_count * out->item_bytes, present = n - out->data_offset;
    if (present >= wanted) return true;
    return tensor_file_fail(
        problem, TENSOR_TRUNCATED,
        "the file is truncated: its shape needs %" PRIu64 " bytes of elements, %" PRIu64 " are there", wanted, present);
}
