/* As much of a runtime as host.cpp and run.cpp need, in the memory of this host. */
#ifndef ACL_H
#define ACL_H

#include <stdlib.h>
#include <string.h>

typedef void *aclrtStream;
enum { ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST };

static inline int aclInit(const char *file) { return file != NULL; }
static inline int aclFinalize(void) { return 0; }
static inline int aclrtSetDevice(int device) { return device; }
static inline int aclrtResetDevice(int device) { return device; }
static inline int aclrtCreateStream(aclrtStream *stream)
{
    *stream = NULL;
    return 0;
}
static inline int aclrtDestroyStream(aclrtStream stream) { return stream != NULL; }
static inline int aclrtSynchronizeStream(aclrtStream stream) { return stream != NULL; }
/* ACL_LIMIT: the largest piece that there is. */
static inline int aclrtMalloc(void **p, size_t bytes, int how)
{
    const char *limit = getenv("ACL_LIMIT");
    *p = limit != NULL && bytes > strtoull(limit, NULL, 10) ? NULL : malloc(bytes);
    return *p == NULL ? 207001 + how : 0;
}
static inline int aclrtFree(void *p)
{
    free(p);
    return 0;
}
static inline int aclrtMemcpy(void *to, size_t room, const void *from, size_t bytes, int how)
{
    if (bytes > room) return 1 + how;
    memcpy(to, from, bytes);
    return 0;
}

#endif
