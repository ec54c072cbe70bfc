/* How the functions of this folder fail: a status, and a sentence in the caller's memory. They print nothing. */
#ifndef PTO_NATIVE_ERROR_H
#define PTO_NATIVE_ERROR_H

#include <stddef.h>

typedef enum native_status {
    NATIVE_OK = 0,
    NATIVE_NO_COMPILER,     /* none is installed, or not the one that was asked for */
    NATIVE_COMPILER_FAILED, /* it could not be started, or said that the text is wrong */
    NATIVE_COMPILER_SLOW,   /* it did not end within its time, and was killed */
    NATIVE_STOPPED,         /* the caller asked for a stop */
    NATIVE_NO_FOLDER,       /* a folder is missing, not ours, read-only or full */
    NATIVE_DAMAGED,         /* a file is not what was written */
    NATIVE_NOT_LOADED,      /* what was compiled cannot be loaded */
    NATIVE_NO_THREAD,       /* a thread cannot be started, or a number of threads cannot be */
    NATIVE_NO_MEMORY
} native_status;

enum { NATIVE_ERROR_TEXT_BYTES = 1024 };

/* Written by a function that does not return NATIVE_OK; otherwise left alone. */
typedef struct native_error {
    char text[NATIVE_ERROR_TEXT_BYTES]; /* one sentence in lower case without full stop; ends with NUL */
} native_error;

/* Writes the sentence and returns `status`; a text that is too long ends early. `e` may be NULL. [any thread] */
__attribute__((format(printf, 3, 4))) native_status native_fail(native_error *e, native_status status,
                                                                const char *format, ...);
/* What `errno` says in words, whatever the locale: "No space left on device". Lives as long as the program.
 * [any thread] */
const char *native_errno_text(int number);

#endif
