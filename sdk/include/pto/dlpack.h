/* DLTensor: a tensor in memory, as arrays of numpy, torch and others are handed on. The layout is that of DLPack 0.8
 * and 1.x, which do not differ in it ([dlpack] in docs/sources.md). A program that has the published header includes
 * that first, and its types are used. */
#ifndef PTO_DLPACK_H
#define PTO_DLPACK_H

#include <stdint.h>

#ifndef DLPACK_DLPACK_H_
#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(readability-identifier-naming): the names are DLPack's */

typedef int32_t DLDeviceType;
enum { kDLCPU = 1 };

/* Where the memory is. */
typedef struct DLDevice {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };

/* An element type: one of the codes above (8-bit floats have codes of their own), the bits of a lane, and lanes: 1. */
typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;

/* The first element is at data + byte_offset. strides count elements; NULL: dense, row-major. */
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
#endif
#endif
