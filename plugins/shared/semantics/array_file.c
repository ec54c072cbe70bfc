/* Elements of resource("file.npy"), and of archives; and of listed values. */
#include "semantics/array_file.h"

#include "tensor_files/tensor_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

static pto_status check_header(const array_file *to, const char *path, const tensor_header *h)
{
    if (!tensor_matches(h, to->dtype)) {
        char descr[TENSOR_DESCR_BYTES];
        const char *want = h->type != PTO_DTYPE_NONE ? tensor_safetensors_type(to->dtype) : tensor_npy_type(to->dtype);
        tensor_descr(h, descr);
        return pto_error(to->op, to->code, "%s holds elements of type %s; %s is written as %s", path, descr,
                         pto_dtype_name(to->dtype), want != NULL ? want : "nothing that the format knows");
    }
    bool same = h->rank == to->rank;
    for (uint32_t d = 0; same && d < h->rank; d++) same = h->dims[d] == to->dims[d];
    if (!same) return pto_error(to->op, to->code, "%s has another shape than the tensor", path);
    return PTO_OK;
}

static void *allocate(void *run, size_t bytes) { return pto_scratch(run, bytes); }

/* `path` names a tensor of the file, whose bytes are mapped. */
static pto_status read_mapped(const array_file *to, const char *path, const uint8_t *bytes, size_t n)
{
    tensor_problem problem;
    tensor_entry e;
    size_t path_bytes;
    const char *entry;
    const tensor_file_bytes file = {bytes, n, allocate, (void *)(uintptr_t)to->op.run, &problem};
    const tensor_file_kind kind = tensor_split(path, &path_bytes, &entry);
    if (!tensor_locate(&file, kind, entry, &e))
        return pto_error(to->op, to->code, "%s: %s%s%s", path, problem.text, problem.note != NULL ? "; " : "",
                         problem.note != NULL ? problem.note : "");
    if (e.is_deflated)
        return pto_error(to->op, to->code, "%s is deflated, which resources are not: write it with numpy.savez", path);
    PTO_TRY(check_header(to, path, &e.header));
    if (to->bytes > 0) memcpy(to->base, bytes + e.offset, to->bytes);
    if (e.rest_bytes > 0)
        pto_warning(to->op, to->rest_code,
                    "%s: %" PRIu64 " bytes follow the elements, which are %zu bytes; they are ignored", path,
                    e.rest_bytes, to->bytes);
    return PTO_OK;
}

/* A pipe or device is refused before anybody waits for it. */
static pto_status read_file(const array_file *to, const char *path, const char *file)
{
    struct stat st;
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    pto_status s;
    if (fd < 0 || fstat(fd, &st) != 0) {
        s = pto_error(to->op, to->code, "cannot open %s: %s", file, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        s = pto_error(to->op, to->code, "%s is not a regular file", file);
    } else if (st.st_size == 0) {
        s = read_mapped(to, path, (const uint8_t *)"", 0);
    } else {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        s = bytes == MAP_FAILED ? pto_error(to->op, to->code, "cannot read %s: %s", file, strerror(errno))
                                : read_mapped(to, path, bytes, (size_t)st.st_size);
        if (bytes != MAP_FAILED) munmap(bytes, (size_t)st.st_size);
    }
    if (fd >= 0) close(fd);
    return s;
}

static pto_status read_resource(const array_file *to, pto_str name)
{
    char path[PATH_ROOM], file[PATH_ROOM];
    const pto_str module = pto_module_file(to->op.run);
    size_t folder = module.n, path_bytes;
    const char *entry;
    while (folder != 0 && module.p[folder - 1] != '/') folder--;
    if (name.n != 0 && name.p[0] == '/') folder = 0;
    if (folder + name.n + 1 > sizeof path) return pto_error(to->op, to->code, "the path of the resource is too long");
    snprintf(path, sizeof path, "%.*s%.*s", (int)folder, module.p != NULL ? module.p : "", PTO_FMT(name));
    (void)tensor_split(path, &path_bytes, &entry);
    snprintf(file, sizeof file, "%.*s", (int)path_bytes, path);
    return read_file(to, path, file);
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
