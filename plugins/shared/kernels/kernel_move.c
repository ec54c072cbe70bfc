/* Copies and transposes: what moves elements as they are. */
#include "kernel_rows.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__x86_64__)
/* Streaming stores need whole lines, or they read what they overwrite in part. */
static void stream_line(const char *from, char *to, int64_t bytes)
{
    const int64_t head = (int64_t)(-(uintptr_t)to & 63);
    if (bytes < head + 64) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    memcpy(to, from, (size_t)head);
    int64_t at = head;
    for (; at + 64 <= bytes; at += 64)
        for (int64_t q = 0; q < 64; q += 16) {
            const void *const source = from + at + q;
            void *const target = to + at + q;
            _mm_stream_si128(target, _mm_loadu_si128(source));
        }
    memcpy(to + at, from + at, (size_t)(bytes - at));
}
#endif

void pto_copy_rows(int64_t rows, int64_t bytes, const void *from, int64_t from_row_bytes, void *to,
                   int64_t to_row_bytes, bool streaming)
{
    for (int64_t i = 0; i < rows; i++) {
        const char *const source = (const char *)from + i * from_row_bytes;
        char *const target = (char *)to + i * to_row_bytes;
#if defined(__x86_64__)
        if (streaming) {
            stream_line(source, target, bytes);
            continue;
        }
#endif
        memcpy(target, source, (size_t)bytes);
    }
#if defined(__x86_64__)
    /* Other threads see streamed bytes in order only after this. */
    if (streaming) _mm_sfence();
#endif
    (void)streaming;
}

/* Blocks of elements whose lines of both sides fit the first-level cache. */
enum { BLOCK = 32 };

KERNEL_INLINE void transpose(int64_t bytes, int64_t rows, int64_t columns, const char *from, int64_t from_row_bytes,
                             char *to, int64_t to_row_bytes)
{
    for (int64_t i = 0; i < rows; i += BLOCK)
        for (int64_t j = 0; j < columns; j += BLOCK) {
            const int64_t i_end = i + BLOCK < rows ? i + BLOCK : rows,
                          j_end = j + BLOCK < columns ? j + BLOCK : columns;
            for (int64_t jj = j; jj < j_end; jj++)
                for (int64_t ii = i; ii < i_end; ii++)
                    memcpy(to + jj * to_row_bytes + ii * bytes, from + ii * from_row_bytes + jj * bytes, (size_t)bytes);
        }
}

void pto_transpose(int64_t element_bytes, int64_t rows, int64_t columns, const void *from, int64_t from_row_stride,
                   void *to, int64_t to_row_stride)
{
    const int64_t from_bytes = from_row_stride * element_bytes, to_bytes = to_row_stride * element_bytes;
    switch (element_bytes) {
    case 1: transpose(1, rows, columns, from, from_bytes, to, to_bytes); break;
    case 2: transpose(2, rows, columns, from, from_bytes, to, to_bytes); break;
    case 4: transpose(4, rows, columns, from, from_bytes, to, to_bytes); break;
    default: transpose(8, rows, columns, from, from_bytes, to, to_bytes); break;
    }
}
