#include "tools/library/library_impl.h"

#include "tools/base/tool_diag.h"

#include <inttypes.h>
#include <stdarg.h>

/* Codes of DLPack that its header of version 0.8 has no names for. */
enum { CODE_F8E4M3 = 10, CODE_F8E5M2 = 12, CODE_F8E8M0 = 14 };

/* Element types by DLPack's code and bits. */
static const struct {
    uint8_t code, bits;
    char kind; /* as of tensor_header; 'V': its `type` says what it is */
    dtype type;
} rows[] = {
    {kDLFloat, 32, 'f', DTYPE_F32},      {kDLFloat, 16, 'f', DTYPE_F16},      {kDLBfloat, 16, 'V', DTYPE_BF16},
    {CODE_F8E4M3, 8, 'V', DTYPE_F8E4M3}, {CODE_F8E5M2, 8, 'V', DTYPE_F8E5M2}, {CODE_F8E8M0, 8, 'V', DTYPE_F8E8M0},
    {kDLInt, 8, 'i', DTYPE_I8},          {kDLInt, 16, 'i', DTYPE_I16},        {kDLInt, 32, 'i', DTYPE_I32},
    {kDLInt, 64, 'i', DTYPE_I64},        {kDLUInt, 8, 'u', DTYPE_U8},         {kDLUInt, 16, 'u', DTYPE_U16},
    {kDLUInt, 32, 'u', DTYPE_U32},       {kDLUInt, 64, 'u', DTYPE_U64},       {kDLBool, 8, 'b', DTYPE_BOOL},
};

DLDataType library_dtype(dtype type)
{
    const dtype wanted = type == DTYPE_INDEX ? DTYPE_I64 : type;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].type == wanted) return (DLDataType){.code = rows[i].code, .bits = rows[i].bits, .lanes = 1};
    return (DLDataType){0};
}

static status fail(diag_engine *d, const char *name, const char *format, ...) PRINTF_LIKE(3, 4);

static status fail(diag_engine *d, const char *name, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(d, NO_POS, &E1612, "the tensor for `%s` %s", name, text);
    return FAILED;
}

static status read_type(diag_engine *d, const pto_argument_info *info, DLDataType type, tensor_header *h)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code != type.code || rows[i].bits != type.bits || type.lanes != 1) continue;
        h->kind = rows[i].kind;
        h->item_bytes = type.bits / 8u;
        h->type = rows[i].kind == 'V' ? (pto_dtype)rows[i].type : PTO_DTYPE_NONE;
        return OK;
    }
    return fail(d, info->name, "needs elements of type %s; it has DLPack's code %u, %u bits, %u lanes", info->type,
                type.code, type.bits, type.lanes);
}

static status read_shape(diag_engine *d, const char *name, const DLTensor *t, tensor_header *h)
{
    if (t->ndim < 0 || t->ndim > TENSOR_MAX_RANK)
        return fail(d, name, "has rank %" PRId32 "; ranks are 0 to %d", t->ndim, TENSOR_MAX_RANK);
    if (t->ndim > 0 && t->shape == NULL) return fail(d, name, "has no shape: it is NULL");
    h->rank = (uint32_t)t->ndim;
    h->element_count = 1;
    for (uint32_t i = 0; i < h->rank; i++) {
        h->dims[i] = t->shape[i];
        if (t->shape[i] < 0) return fail(d, name, "has the extent %" PRId64 " in dim %" PRIu32, t->shape[i], i);
        if (__builtin_mul_overflow(h->element_count, (uint64_t)t->shape[i], &h->element_count))
            return fail(d, name, "has more elements than 64 bits count");
    }
    return OK;
}

/* Strides of dims with one element, and of a tensor without any, mean nothing. */
static status check_dense(diag_engine *d, const char *name, const DLTensor *t, const tensor_header *h)
{
    int64_t stride = 1;
    if (t->strides == NULL || h->element_count == 0) return OK;
    for (uint32_t i = h->rank; i-- > 0; stride *= h->dims[i]) {
        if (h->dims[i] == 1 || t->strides[i] == stride) continue;
        return fail(d, name, "is not dense: dim %" PRIu32 " has stride %" PRId64 " and not %" PRId64, i, t->strides[i],
                    stride);
    }
    return OK;
}

status library_read_tensor(diag_engine *d, const pto_argument_info *info, const DLTensor *t, bool with_data,
                           tensor_array *out)
{
    const char *name = info->name;
    *out = (tensor_array){.data = NULL};
    if (t == NULL) return fail(d, name, "is NULL");
    if (t->device.device_type != kDLCPU)
        return fail(d, name, "is on a device of DLPack's type %d; only memory of the CPU, type %d, can be used",
                    (int)t->device.device_type, (int)kDLCPU);
    TRY(read_type(d, info, t->dtype, &out->header));
    TRY(read_shape(d, name, t, &out->header));
    if (!with_data) return OK;
    TRY(check_dense(d, name, t, &out->header));
    if (t->data == NULL && out->header.element_count > 0) return fail(d, name, "has no data: it is NULL");
    const uintptr_t address = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
    if (address % out->header.item_bytes != 0)
        return fail(d, name, "begins at an address that is not a multiple of %u, the bytes of an element",
                    (unsigned)out->header.item_bytes);
    out->data = (const uint8_t *)address;
    return OK;
}
