#include "tools/run/npy.h"

#include "tests/unit/diag_text.h"

#include <unistd.h>

/* A file of version 1 with this header text and so many bytes of elements; lives in t->a. */
static str npy_file(diag_text *t, const char *header, size_t data_bytes)
{
    const size_t n = strlen(header);
    char *file = arena_alloc(t->a, 10 + n + data_bytes);
    static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(file, magic, sizeof magic);
    file[8] = (char)(n & 0xff);
    file[9] = (char)(n >> 8);
    for (size_t i = 0; i < n; i++) file[10 + i] = header[i];
    return (str){file, 10 + n + data_bytes};
}

static void refuse(const char *header, size_t data_bytes, const char *want)
{
    diag_text t;
    npy_header h;
    diag_text_begin(&t);
    assert_int_equal(npy_parse(t.d, "a.npy", npy_file(&t, header, data_bytes), &h), FAILED);
    fflush(t.out);
    if (strstr(t.text, want) == NULL) fail_msg("wanted `%s` in: %s", want, t.text);
    diag_text_end(&t, NULL);
}

TEST(a_header_gives_type_shape_and_place)
{
    diag_text t;
    npy_header h;
    diag_text_begin(&t);
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n";
    assert_int_equal(npy_parse(t.d, "a.npy", npy_file(&t, header, 24), &h), OK);
    assert_int_equal(h.kind, 'f');
    assert_int_equal(h.item_bytes, 4);
    assert_int_equal(h.rank, 2);
    assert_int_equal(h.dims[0], 2);
    assert_int_equal(h.dims[1], 3);
    assert_int_equal(h.element_count, 6);
    assert_int_equal(h.data_offset, 10 + strlen(header));
    diag_text_end(&t, "");
}

TEST(scalars_and_empty_arrays_are_arrays)
{
    diag_text t;
    npy_header h;
    diag_text_begin(&t);
    assert_int_equal(
        npy_parse(t.d, "a.npy", npy_file(&t, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}", 8), &h), OK);
    assert_int_equal(h.rank, 0);
    assert_int_equal(h.element_count, 1);
    assert_int_equal(
        npy_parse(t.d, "a.npy", npy_file(&t, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7)}", 0), &h), OK);
    assert_int_equal(h.element_count, 0);
    diag_text_end(&t, "");
}

TEST(what_is_no_npy_file_is_refused)
{
    diag_text t;
    npy_header h;
    diag_text_begin(&t);
    assert_int_equal(npy_parse(t.d, "a.npy", STR(""), &h), FAILED);
    assert_int_equal(npy_parse(t.d, "a.npy", STR("PK\x03\x04 a zip file"), &h), FAILED);
    str other = npy_file(&t, "{}", 0);
    char *bytes = arena_strndup(t.a, other.p, other.n);
    bytes[6] = 9;
    assert_int_equal(npy_parse(t.d, "a.npy", (str){bytes, other.n}, &h), FAILED);
    diag_text_end(&t, "a.npy: error: [E1401] this is not a .npy file: it does not begin with \\x93NUMPY\n"
                      "a.npy: error: [E1401] this is not a .npy file: it does not begin with \\x93NUMPY\n"
                      "a.npy: error: [E1401] .npy version 9.0 is not supported; versions 1.0, 2.0 and 3.0 are\n");
}

TEST(every_cut_of_a_file_is_refused)
{
    diag_text t;
    npy_header h;
    diag_text_begin(&t);
    const str whole = npy_file(&t, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}\n", 12);
    for (size_t n = 0; n < whole.n; n++) assert_int_equal(npy_parse(t.d, "a.npy", (str){whole.p, n}, &h), FAILED);
    assert_int_equal(npy_parse(t.d, "a.npy", whole, &h), OK);
    diag_text_end(&t, NULL);
}

TEST(headers_are_not_trusted)
{
    refuse("{'descr': '<f4', 'fortran_order': False}", 4,
           "[E1401] the .npy header is malformed: descr, fortran_order or shape is missing");
    refuse("{'descr': '<f4', 'descr': '<f4'}", 4, "[E1401] the .npy header is malformed: a key occurs twice");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, "[E1401]");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4, "[E1401]");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}", 12, "[E1401]");
    refuse("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", 4, "[E1404] the array is in Fortran order");
    refuse("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4, "[E1403] element type `>f4` is big endian");
    refuse("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8,
           "[E1403] element type `<c8` of the .npy file is not supported");
    refuse("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, "[E1403]");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 4, "[E1402]");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4,
           "[E1402] the array has more than 8 dims");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 11,
           "[E1405] the file is truncated: its shape needs 12 bytes of elements, 11 are there");
}

TEST(element_types_match_what_can_hold_them)
{
    const npy_header f4 = {.kind = 'f', .item_bytes = 4}, u2 = {.kind = 'u', .item_bytes = 2},
                     v2 = {.kind = 'V', .item_bytes = 2}, u1 = {.kind = 'u', .item_bytes = 1};
    assert_true(npy_matches(&f4, DTYPE_F32));
    assert_false(npy_matches(&f4, DTYPE_I32));
    assert_true(npy_matches(&u2, DTYPE_BF16));
    assert_true(npy_matches(&v2, DTYPE_BF16));
    assert_true(npy_matches(&u2, DTYPE_U16));
    assert_false(npy_matches(&v2, DTYPE_U16));
    assert_true(npy_matches(&u1, DTYPE_F8E4M3));
    assert_false(npy_matches(&u1, DTYPE_I8));
    assert_false(npy_matches(&f4, DTYPE_INDEX));
}

TEST(what_is_written_is_read_back)
{
    char folder[] = "/tmp/pto-npy-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    snprintf(path, sizeof path, "%s/a.npy", folder);
    diag_text t;
    diag_text_begin(&t);
    const int64_t shapes[][3] = {{6, 1, 1}, {2, 3, 1}, {0, 3, 2}};
    const float data[6] = {1, 2, 3, 4, 5, 6};
    for (uint32_t rank = 0; rank <= 3; rank++) {
        const int64_t *dims = shapes[rank == 0 ? 0 : rank - 1];
        npy_array back;
        assert_int_equal(npy_write(t.d, path, DTYPE_F32, rank, dims, data), OK);
        assert_int_equal(npy_read(t.a, t.d, path, &back), OK);
        assert_int_equal(back.header.rank, rank);
        assert_int_equal(back.header.data_offset % 64, 0);
        for (uint32_t i = 0; i < rank; i++) assert_int_equal(back.header.dims[i], dims[i]);
        assert_memory_equal(back.data, data, back.header.element_count * 4);
    }
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    diag_text_end(&t, "");
}
