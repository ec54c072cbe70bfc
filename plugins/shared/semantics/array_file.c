/* Elements of resource("file.npy"): numpy's format, versions 1 to 3, C order, little endian; and of listed values. */
#include "semantics/array_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MAX = 1 << 16, PATH_ROOM = 4096 };

typedef struct npy_head {
    char descr[8];
    bool is_fortran;
    uint32_t rank;
    int64_t dims[PTO_MAX_DIMS];
} npy_head;

/* Spellings of the types; those that numpy lacks travel as integers of their size. */
static const char *const descrs[PTO_DTYPE_COUNT] = {
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, largest, quiet_nan, numpy, mlir) \
    [PTO_##ID] = (numpy),
#include <pto/ops/types.def>
};

/* A float type that numpy lacks, as the extensions that have it write it: bytes without a type. */
static bool is_bare(const char *descr, const char *want, pto_dtype t)
{
    return pto_dtype_is_float(t) && want[1] == 'u' && descr[0] == '|' && descr[1] == 'V' &&
           strcmp(descr + 2, want + 2) == 0;
}

/* What follows `key:` in the header, spaces skipped; NULL when absent. */
static const char *after_key(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (at == NULL) return NULL;
    at += strlen(key);
    while (*at == ' ') at++;
    if (*at++ != ':') return NULL;
    while (*at == ' ') at++;
    return at;
}

static bool read_shape(const char *at, npy_head *out)
{
    if (*at++ != '(') return false;
    for (;;) {
        while (*at == ' ' || *at == ',') at++;
        if (*at == ')') return true;
        if (*at < '0' || *at > '9' || out->rank == PTO_MAX_DIMS) return false;
        int64_t n = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *at - '0', &n)) return false;
        out->dims[out->rank++] = n;
    }
}

static bool read_head(const char *text, npy_head *out)
{
    const char *descr = after_key(text, "'descr'"), *order = after_key(text, "'fortran_order'"),
               *shape = after_key(text, "'shape'");
    *out = (npy_head){.rank = 0};
    if (descr == NULL || order == NULL || shape == NULL || *descr != '\'') return false;
    const size_t n = strcspn(descr + 1, "'");
    if (n == 0 || n >= sizeof out->descr) return false;
    memcpy(out->descr, descr + 1, n);
    out->is_fortran = strncmp(order, "True", 4) == 0;
    return read_shape(shape, out);
}

/* The text of the header; NULL when the file does not begin like one. */
static const char *load_head(const pto_run *run, FILE *f)
{
    uint8_t start[12];
    if (fread(start, 1, 8, f) != 8 || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3) return NULL;
    const size_t length_bytes = start[6] == 1 ? 2 : 4;
    if (fread(start + 8, 1, length_bytes, f) != length_bytes) return NULL;
    size_t n = (size_t)start[8] | (size_t)start[9] << 8;
    if (length_bytes == 4) n |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (n > HEADER_MAX) return NULL;
    char *text = pto_scratch(run, n + 1);
    return fread(text, 1, n, f) == n ? text : NULL;
}

static pto_status check_head(const array_file *to, const char *path, const npy_head *h)
{
    const char *want = descrs[to->dtype < PTO_DTYPE_COUNT ? to->dtype : 0];
    if (want == NULL || (strcmp(h->descr, want) != 0 && !is_bare(h->descr, want, to->dtype)))
        return pto_error(to->op, to->code, "%s holds elements of type %s; %s is written as %s", path, h->descr,
                         pto_dtype_name(to->dtype), want != NULL ? want : "nothing that numpy knows");
    if (h->is_fortran && h->rank > 1)
        return pto_error(to->op, to->code, "%s is in Fortran order; write it with numpy.ascontiguousarray", path);
    bool same = h->rank == to->rank;
    for (uint32_t d = 0; same && d < h->rank; d++) same = h->dims[d] == to->dims[d];
    if (!same) return pto_error(to->op, to->code, "%s has another shape than the tensor", path);
    return PTO_OK;
}

static pto_status read_file(const array_file *to, const char *path, FILE *f)
{
    npy_head head;
    const char *text = load_head(to->op.run, f);
    if (text == NULL || !read_head(text, &head)) return pto_error(to->op, to->code, "%s is not a .npy file", path);
    PTO_TRY(check_head(to, path, &head));
    const size_t got = fread(to->base, 1, to->bytes, f);
    if (got != to->bytes)
        return pto_error(to->op, to->code, "%s ends after %zu of %zu bytes of elements", path, got, to->bytes);
    struct stat st;
    const long end = ftell(f);
    if (end >= 0 && fstat(fileno(f), &st) == 0 && st.st_size > end)
        pto_warning(to->op, to->rest_code,
                    "%s: %" PRId64 " bytes follow the elements, which are %zu bytes; they are ignored", path,
                    (int64_t)st.st_size - end, to->bytes);
    return PTO_OK;
}

/* NULL after a diagnostic. A pipe or device is refused before anybody waits for it. */
static FILE *open_file(const array_file *to, const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = NULL;
    if (fd < 0 || fstat(fd, &st) != 0)
        (void)pto_error(to->op, to->code, "cannot open %s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        (void)pto_error(to->op, to->code, "%s is not a regular file", path);
    else if ((f = fdopen(fd, "rb")) == NULL)
        (void)pto_error(to->op, to->code, "cannot read %s: %s", path, strerror(errno));
    if (f == NULL && fd >= 0) close(fd);
    return f;
}

static pto_status read_resource(const array_file *to, pto_str file)
{
    char path[PATH_ROOM];
    const pto_str module = pto_module_file(to->op.run);
    size_t folder = module.n;
    while (folder != 0 && module.p[folder - 1] != '/') folder--;
    if (file.n != 0 && file.p[0] == '/') folder = 0;
    if (folder + file.n + 1 > sizeof path) return pto_error(to->op, to->code, "the path of the resource is too long");
    snprintf(path, sizeof path, "%.*s%.*s", (int)folder, module.p != NULL ? module.p : "", PTO_FMT(file));
    FILE *f = open_file(to, path);
    if (f == NULL) return PTO_FAILED;
    const pto_status s = read_file(to, path, f);
    fclose(f);
    return s;
}

pto_status array_file_read(const array_file *to, pto_attr value)
{
    if (pto_attr_kind_of(value) == PTO_ATTR_RESOURCE) return read_resource(to, pto_attr_str(value));
    const pto_str data = pto_attr_bytes(value);
    if (data.n != to->bytes)
        return pto_error(to->op, to->code, "the value has %zu bytes, the array %zu", data.n, to->bytes);
    if (data.n != 0) memcpy(to->base, data.p, data.n);
    return PTO_OK;
}
