#include "native_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

native_status native_fail(native_error *e, native_status status, const char *format, ...)
{
    if (e == NULL) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->text, sizeof e->text, format, arguments);
    va_end(arguments);
    return status;
}

const char *native_errno_text(int number)
{
    const char *text = strerrordesc_np(number);
    return text != NULL ? text : "unknown error";
}
