/* Writes tensor files; what they are like is in tensor_layout.h. */
#include "tools/base/file.h"
#include "tools/run/tensor_file.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

enum { ELEMENT_ALIGN = 64 };

static uint64_t bytes_of(const tensor_output *o)
{
    uint64_t bytes = dtype_bytes(o->type);
    for (uint32_t i = 0; i < o->rank; i++) bytes *= (uint64_t)o->dims[i];
    return bytes;
}

/* ---- .npy ---- */

/* The elements start at a multiple of 64 bytes, the header ends in a newline: both as numpy has it. */
static void put_npy_header(const tensor_output *o, text_buffer *out)
{
    const char *descr = tensor_npy_type(o->type);
    BUG_IF(descr == NULL, "element type %s has no .npy form", dtype_name(o->type));
    static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    text_buffer header;
    text_init(&header);
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t i = 0; i < o->rank; i++)
        text_printf(&header, "%" PRId64 "%s", o->dims[i], o->rank == 1 || i + 1 < o->rank ? ", " : "");
    text_puts(&header, "), }");
    while ((sizeof magic + 2 + header.n + 1) % ELEMENT_ALIGN != 0) text_putc(&header, ' ');
    text_putc(&header, '\n');
    text_put(out, magic, sizeof magic);
    text_putc(out, (char)(header.n & 0xff));
    text_putc(out, (char)(header.n >> 8));
    text_put(out, header.p, header.n);
    text_fini(&header);
}

static void write_npy(file_writer *w, const tensor_output *o)
{
    text_buffer header;
    text_init(&header);
    put_npy_header(o, &header);
    file_writer_put(w, header.p, header.n);
    file_writer_put(w, o->data, bytes_of(o));
    text_fini(&header);
}

/* ---- .npz: always with 64-bit sizes ---- */

static void put_number(text_buffer *t, uint64_t n, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) text_putc(t, (char)(n >> 8 * i & 0xff));
}

typedef struct member {
    str name;        /* without .npy */
    text_buffer npy; /* its header */
    uint64_t bytes, local;
    uint32_t crc;
} member;

/* What headers in front of members and those of the directory have in common, from the version to the name's length. */
static void put_member(const member *m, text_buffer *t)
{
    put_number(t, 45, 2);          /* version that has 64-bit sizes */
    put_number(t, 1U << 11, 2);    /* names are UTF-8 */
    put_number(t, 0, 2);           /* stored */
    put_number(t, 0, 2);           /* midnight */
    put_number(t, 1U << 5 | 1, 2); /* 1980-01-01: the same file for the same tensors */
    put_number(t, m->crc, 4);
    put_number(t, UINT32_MAX, 4);
    put_number(t, UINT32_MAX, 4);
    put_number(t, m->name.n + 4, 2);
}

static void put_name(const member *m, text_buffer *t)
{
    text_put(t, m->name.p, m->name.n);
    text_puts(t, ".npy");
}

/* A record without meaning fills up to the alignment of the elements. */
static void put_local(const member *m, text_buffer *t)
{
    const uint64_t sizes = 20, before = m->local + 30 + m->name.n + 4 + sizes + 4;
    const uint64_t fill = (ELEMENT_ALIGN - before % ELEMENT_ALIGN) % ELEMENT_ALIGN;
    put_number(t, 0x04034b50, 4);
    put_member(m, t);
    put_number(t, sizes + 4 + fill, 2);
    put_name(m, t);
    put_number(t, 1, 2);
    put_number(t, 16, 2);
    put_number(t, m->bytes, 8);
    put_number(t, m->bytes, 8);
    put_number(t, 0xd935, 2);
    put_number(t, fill, 2);
    for (uint64_t i = 0; i < fill; i++) text_putc(t, '\0');
}

static void put_directory_entry(const member *m, text_buffer *t)
{
    put_number(t, 0x02014b50, 4);
    put_number(t, 3U << 8 | 45, 2); /* permissions are those of Unix */
    put_member(m, t);
    put_number(t, 28, 2);
    put_number(t, 0, 2); /* comment */
    put_number(t, 0, 2); /* part */
    put_number(t, 0, 2);
    put_number(t, 0100644U << 16, 4);
    put_number(t, UINT32_MAX, 4);
    put_name(m, t);
    put_number(t, 1, 2);
    put_number(t, 24, 2);
    put_number(t, m->bytes, 8);
    put_number(t, m->bytes, 8);
    put_number(t, m->local, 8);
}

static void put_end(uint64_t directory, uint64_t directory_bytes, uint32_t count, text_buffer *t)
{
    put_number(t, 0x06064b50, 4);
    put_number(t, 44, 8); /* bytes that follow */
    put_number(t, 45, 2);
    put_number(t, 45, 2);
    put_number(t, 0, 8); /* parts */
    put_number(t, count, 8);
    put_number(t, count, 8);
    put_number(t, directory_bytes, 8);
    put_number(t, directory, 8);
    put_number(t, 0x07064b50, 4);
    put_number(t, 0, 4);
    put_number(t, directory + directory_bytes, 8);
    put_number(t, 1, 4);
    put_number(t, 0x06054b50, 4);
    put_number(t, 0, 4);
    put_number(t, UINT16_MAX, 2);
    put_number(t, UINT16_MAX, 2);
    put_number(t, UINT32_MAX, 4);
    put_number(t, UINT32_MAX, 4);
    put_number(t, 0, 2);
}

static uint32_t crc_of(uint32_t crc, const void *bytes, uint64_t n) { return (uint32_t)crc32_z(crc, bytes, n); }

static uint64_t put(file_writer *w, text_buffer *t)
{
    const uint64_t n = t->n;
    file_writer_put(w, t->p, n);
    t->n = 0;
    return n;
}

static void write_npz(file_writer *w, uint32_t count, const tensor_output *const *outputs, const str *names)
{
    text_buffer t, directory;
    text_init(&t);
    text_init(&directory);
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        member m = {.name = names[i], .local = at};
        text_init(&m.npy);
        put_npy_header(outputs[i], &m.npy);
        const uint64_t elements = bytes_of(outputs[i]);
        m.bytes = m.npy.n + elements;
        m.crc = crc_of(crc_of(0, m.npy.p, m.npy.n), elements > 0 ? outputs[i]->data : m.npy.p, elements);
        put_local(&m, &t);
        put_directory_entry(&m, &directory);
        at += put(w, &t) + m.bytes;
        file_writer_put(w, m.npy.p, m.npy.n);
        file_writer_put(w, outputs[i]->data, elements);
        text_fini(&m.npy);
    }
    put_end(at, put(w, &directory), count, &t);
    put(w, &t);
    text_fini(&directory);
    text_fini(&t);
}

/* ---- .safetensors ---- */

static void write_safetensors(file_writer *w, uint32_t count, const tensor_output *const *outputs, const str *names)
{
    text_buffer t, length;
    text_init(&t);
    text_init(&length);
    uint64_t at = 0;
    text_putc(&t, '{');
    for (uint32_t i = 0; i < count; i++) {
        const tensor_output *o = outputs[i];
        const char *type = tensor_safetensors_type(o->type);
        BUG_IF(type == NULL, "element type %s has no .safetensors form", dtype_name(o->type));
        if (i > 0) text_putc(&t, ',');
        text_put_quoted(&t, names[i]);
        text_printf(&t, ":{\"dtype\":\"%s\",\"shape\":[", type);
        for (uint32_t k = 0; k < o->rank; k++) text_printf(&t, "%s%" PRId64, k > 0 ? "," : "", o->dims[k]);
        text_printf(&t, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at, at + bytes_of(o));
        at += bytes_of(o);
    }
    text_putc(&t, '}');
    while ((8 + t.n) % ELEMENT_ALIGN != 0) text_putc(&t, ' ');
    put_number(&length, t.n, 8);
    put(w, &length);
    put(w, &t);
    for (uint32_t i = 0; i < count; i++) file_writer_put(w, outputs[i]->data, bytes_of(outputs[i]));
    text_fini(&length);
    text_fini(&t);
}

/* ---- all ---- */

/* The outputs of the file of the first one. */
static status write_file(arena *a, diag_engine *d, uint32_t count, const tensor_output *const *outputs)
{
    str *names = arena_array(a, count, sizeof *names);
    tensor_file_kind kind = TENSOR_NPY;
    for (uint32_t i = 0; i < count; i++) {
        size_t path_bytes;
        const char *entry;
        kind = tensor_split(outputs[i]->text, &path_bytes, &entry);
        names[i] = entry != NULL ? str_from(entry) : outputs[i]->name;
    }
    file_writer w;
    TRY(file_writer_open(&w, d, tensor_path(a, outputs[0]->text)));
    if (kind == TENSOR_NPY)
        write_npy(&w, outputs[0]);
    else if (kind == TENSOR_NPZ)
        write_npz(&w, count, outputs, names);
    else
        write_safetensors(&w, count, outputs, names);
    return file_writer_commit(&w);
}

status tensor_write(arena *a, diag_engine *d, uint32_t count, const tensor_output *outputs)
{
    const tensor_output **group = arena_array(a, count, sizeof *group);
    bool *is_done = arena_array(a, count, sizeof *is_done);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = 0;
        const char *path = tensor_path(a, outputs[i].text);
        for (uint32_t k = i; k < count && !is_done[i]; k++) {
            if (is_done[k] || strcmp(tensor_path(a, outputs[k].text), path) != 0) continue;
            group[n++] = &outputs[k];
            is_done[k] = k != i;
        }
        if (n > 0) TRY(write_file(a, d, n, group));
    }
    return OK;
}
