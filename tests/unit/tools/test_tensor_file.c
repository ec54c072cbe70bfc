#include "tools/run/tensor_file.h"

#include "tests/unit/diag_text.h"
#include "tools/base/file.h"

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

static tensor_header header_of(diag_text *t, const char *header, size_t data_bytes)
{
    tensor_header h;
    assert_int_equal(tensor_parse_npy(t->d, "a.npy", npy_file(t, header, data_bytes), &h), OK);
    return h;
}

static void refuse(const char *header, size_t data_bytes, const char *want)
{
    diag_text t;
    tensor_header h;
    diag_text_begin(&t);
    assert_int_equal(tensor_parse_npy(t.d, "a.npy", npy_file(&t, header, data_bytes), &h), FAILED);
    fflush(t.out);
    if (strstr(t.text, want) == NULL) fail_msg("wanted `%s` in: %s", want, t.text);
    diag_text_end(&t, NULL);
}

TEST(a_header_gives_type_shape_and_place)
{
    diag_text t;
    tensor_header h;
    diag_text_begin(&t);
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n";
    h = header_of(&t, header, 24);
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
    tensor_header h;
    diag_text_begin(&t);
    h = header_of(&t, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}", 8);
    assert_int_equal(h.rank, 0);
    assert_int_equal(h.element_count, 1);
    h = header_of(&t, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7)}", 0);
    assert_int_equal(h.element_count, 0);
    diag_text_end(&t, "");
}

TEST(what_is_no_npy_file_is_refused)
{
    diag_text t;
    tensor_header h;
    diag_text_begin(&t);
    assert_int_equal(tensor_parse_npy(t.d, "a.npy", STR(""), &h), FAILED);
    assert_int_equal(tensor_parse_npy(t.d, "a.npy", STR("PK\x03\x04 a zip file"), &h), FAILED);
    str other = npy_file(&t, "{}", 0);
    char *bytes = arena_strndup(t.a, other.p, other.n);
    bytes[6] = 9;
    assert_int_equal(tensor_parse_npy(t.d, "a.npy", (str){bytes, other.n}, &h), FAILED);
    diag_text_end(&t, "a.npy: error: [E1401] this is not a .npy file: it does not begin with \\x93NUMPY\n"
                      "a.npy: error: [E1401] this is not a .npy file: it does not begin with \\x93NUMPY\n"
                      "a.npy: error: [E1401] .npy version 9.0 is not supported; versions 1.0, 2.0 and 3.0 are\n");
}

TEST(every_cut_of_a_file_is_refused)
{
    diag_text t;
    tensor_header h;
    diag_text_begin(&t);
    const str whole = npy_file(&t, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}\n", 12);
    for (size_t n = 0; n < whole.n; n++)
        assert_int_equal(tensor_parse_npy(t.d, "a.npy", (str){whole.p, n}, &h), FAILED);
    assert_int_equal(tensor_parse_npy(t.d, "a.npy", whole, &h), OK);
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
    const tensor_header f4 = {.kind = 'f', .item_bytes = 4}, u2 = {.kind = 'u', .item_bytes = 2},
                        v2 = {.kind = 'V', .item_bytes = 2}, u1 = {.kind = 'u', .item_bytes = 1};
    assert_true(tensor_matches(&f4, DTYPE_F32));
    assert_false(tensor_matches(&f4, DTYPE_I32));
    assert_true(tensor_matches(&u2, DTYPE_BF16));
    assert_true(tensor_matches(&v2, DTYPE_BF16));
    assert_true(tensor_matches(&u2, DTYPE_U16));
    assert_false(tensor_matches(&v2, DTYPE_U16));
    assert_true(tensor_matches(&u1, DTYPE_F8E4M3));
    assert_false(tensor_matches(&u1, DTYPE_I8));
    assert_false(tensor_matches(&f4, DTYPE_INDEX));
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
        tensor_array back;
        const tensor_output output = {path, STR("y"), DTYPE_F32, rank, dims, data};
        assert_int_equal(tensor_write(t.a, t.d, 1, &output), OK);
        assert_int_equal(tensor_read(t.a, t.d, path, &back), OK);
        assert_int_equal(back.header.rank, rank);
        assert_int_equal(back.header.data_offset % 64, 0);
        for (uint32_t i = 0; i < rank; i++) assert_int_equal(back.header.dims[i], dims[i]);
        assert_memory_equal(back.data, data, back.header.element_count * 4);
    }
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    diag_text_end(&t, "");
}

/* ---- archives ---- */

/* A .safetensors file with this header and so many bytes of tensors; lives in t->a. */
static str safetensors_file(diag_text *t, const char *header, size_t data_bytes)
{
    const size_t n = strlen(header);
    char *file = arena_alloc(t->a, 8 + n + data_bytes);
    for (int i = 0; i < 8; i++) file[i] = (char)(n >> 8 * i & 0xff);
    for (size_t i = 0; i < n; i++) file[8 + i] = header[i];
    return (str){file, 8 + n + data_bytes};
}

static void refuse_safetensors(const char *header, size_t data_bytes, const char *want)
{
    diag_text t;
    tensor_array x;
    diag_text_begin(&t);
    assert_int_equal(tensor_parse(t.a, t.d, "a.safetensors:x", safetensors_file(&t, header, data_bytes), &x), FAILED);
    fflush(t.out);
    if (strstr(t.text, want) == NULL) fail_msg("wanted `%s` in: %s", want, t.text);
    diag_text_end(&t, NULL);
}

TEST(tensors_of_safetensors_have_types_shapes_and_places)
{
    diag_text t;
    tensor_array x;
    diag_text_begin(&t);
    const str file =
        safetensors_file(&t,
                         "{\"__metadata__\": {\"format\": \"pt\"}, \"b\\u00e9\\\"\": {\"shape\": [2, 3], \"dtype\": "
                         "\"BF16\", \"data_offsets\": [4, 16]}, \"x\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],"
                         "\"data_offsets\":[0,4]}}  ",
                         16);
    assert_int_equal(tensor_parse(t.a, t.d, "a.safetensors:x", file, &x), OK);
    assert_int_equal(x.header.type, DTYPE_F8E4M3);
    assert_int_equal(x.header.rank, 1);
    assert_ptr_equal(x.data, file.p + file.n - 16);
    assert_int_equal(tensor_parse(t.a, t.d, "a.safetensors:b\xc3\xa9\"", file, &x), OK);
    assert_int_equal(x.header.type, DTYPE_BF16);
    assert_int_equal(x.header.element_count, 6);
    assert_ptr_equal(x.data, file.p + file.n - 12);
    assert_true(tensor_matches(&x.header, DTYPE_BF16));
    assert_false(tensor_matches(&x.header, DTYPE_U16));
    diag_text_end(&t, "");
}

TEST(headers_of_safetensors_are_not_trusted)
{
    refuse_safetensors("", 0, "[E1401] the .safetensors header is malformed: it is not an object");
    refuse_safetensors("{}", 4, "malformed: bytes follow the last tensor");
    refuse_safetensors("{}", 0, "[E1407] the file has no tensors");
    refuse_safetensors("{} x", 0, "malformed: text follows the object");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},}", 4,
                       "a quoted text is missing");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8,
                       "the bytes of a tensor are not those of its shape");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,4]}}", 8,
                       "a tensor ends before it begins");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
                       "bytes that belong to no tensor");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7,
                       "[E1405] the file is truncated: its tensors need 8 bytes, 7 are there");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                       "\"y\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
                       12, "two tensors overlap");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},"
                       "\"\\u0078\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                       0, "two tensors of the file are called `x`");
    refuse_safetensors("{\"x\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8,
                       "[E1403] element type `C64` of the .safetensors file is not supported");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", 4,
                       "[E1402]");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
                       "[E1402]");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "not a number from 0");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
                       "not a number");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
                       "a key occurs twice");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4,
                       "dtype, shape or data_offsets of a tensor is missing");
    refuse_safetensors("{\"x\":{\"dtype\":\"F32\",\"more\":1}}", 4, "a tensor has a key other than");
    refuse_safetensors("{\"\\ud800\":1}", 4, "a quoted text holds an unknown escape");
    refuse_safetensors("{\"__metadata__\":{\"a\":1}}", 0, "a quoted text is missing");
    refuse_safetensors("{\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
                       "[E1407] the file has no tensor `x`; it has `y`");
    diag_text t;
    tensor_array x;
    diag_text_begin(&t);
    assert_int_equal(tensor_parse(t.a, t.d, "a.safetensors", STR("\xff\xff\xff\xff\xff\xff\xff\x7f{}"), &x), FAILED);
    assert_int_equal(tensor_parse(t.a, t.d, "a.safetensors", STR("\x09\0\0\0\0\0\0\0{}"), &x), FAILED);
    assert_int_equal(tensor_parse(t.a, t.d, "a.safetensors", STR("\x09"), &x), FAILED);
    diag_text_end(&t,
                  "a.safetensors: error: [E1401] the .safetensors header is malformed: it claims more than 100000000 "
                  "bytes, or this is not a .safetensors file\n"
                  "note: safetensors.numpy.save_file writes a header that is accepted here\n"
                  "a.safetensors: error: [E1405] the file ends inside the header\n"
                  "a.safetensors: error: [E1405] the file ends inside the header length\n");
}

/* What tensor_write makes of two tensors; lives in t->a. */
static str archive(diag_text *t, const char *ending)
{
    char folder[] = "/tmp/pto-archive-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a%s", folder, ending);
    const int64_t dims[] = {2, 3};
    const float x[6] = {1, 2, 3, 4, 5, 6};
    const uint8_t y[2] = {7, 8};
    const tensor_output outputs[] = {{path, STR("x"), DTYPE_F32, 2, dims, x}, {path, STR("y"), DTYPE_U8, 1, dims, y}};
    str file;
    assert_int_equal(tensor_write(t->a, t->d, 2, outputs), OK);
    assert_int_equal(file_read(t->a, t->d, path, UINT64_MAX, &file), OK);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    return file;
}

static void check_archive(const char *ending)
{
    diag_text t;
    diag_text_begin(&t);
    str file = archive(&t, ending);
    char name[32];
    tensor_array x;
    snprintf(name, sizeof name, "a%s:x", ending);
    assert_int_equal(tensor_parse(t.a, t.d, name, file, &x), OK);
    assert_int_equal(x.header.rank, 2);
    assert_int_equal(((uintptr_t)x.data - (uintptr_t)file.p) % 64, 0);
    assert_memory_equal(x.data, ((float[]){1, 2, 3, 4, 5, 6}), 24);
    snprintf(name, sizeof name, "a%s:y", ending);
    assert_int_equal(tensor_parse(t.a, t.d, name, file, &x), OK);
    assert_memory_equal(x.data, "\7\10", 2);
    diag_text_end(&t, "");

    diag_text_begin(&t);
    file = archive(&t, ending);
    snprintf(name, sizeof name, "a%s:x", ending);
    for (size_t n = 0; n < file.n; n++) assert_int_equal(tensor_parse(t.a, t.d, name, (str){file.p, n}, &x), FAILED);
    /* One byte of anything: a tensor inside of the file, or a diagnostic. */
    static const uint8_t others[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff, ' ', '9'};
    char *damaged = arena_strndup(t.a, file.p, file.n);
    for (size_t i = 0; i < file.n; i++) {
        for (size_t k = 0; k < sizeof others; k++) {
            damaged[i] = (char)others[k];
            const uint32_t errors = diag_error_count(t.d);
            if (tensor_parse(t.a, t.d, name, (str){damaged, file.n}, &x) != OK) {
                assert_true(diag_error_count(t.d) > errors);
                continue;
            }
            const size_t at = (size_t)(x.data - (const uint8_t *)damaged);
            assert_true(at <= file.n && x.header.element_count * x.header.item_bytes <= file.n - at);
        }
        damaged[i] = file.p[i];
    }
    diag_text_end(&t, NULL);
}

TEST(an_npz_archive_is_read_back_and_never_believed) { check_archive(".npz"); }
TEST(a_safetensors_archive_is_read_back_and_never_believed) { check_archive(".safetensors"); }

TEST(a_name_of_a_tensor_follows_the_first_colon_after_the_ending)
{
    size_t n;
    const char *entry;
    assert_int_equal(tensor_split("w.safetensors:a:b.npz:c", &n, &entry), TENSOR_SAFETENSORS);
    assert_int_equal(n, 13);
    assert_string_equal(entry, "a:b.npz:c");
    assert_int_equal(tensor_split("c:d/w.npz", &n, &entry), TENSOR_NPZ);
    assert_int_equal(n, 9);
    assert_null(entry);
    assert_int_equal(tensor_split("w.npy:x", &n, &entry), TENSOR_NPY);
    assert_int_equal(n, 7);
    assert_null(entry);
}
