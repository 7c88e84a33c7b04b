#include "error.h"

#include <stdarg.h>
#include <stdio.h>

tms_status tms_fail(tms_error *err, tms_status status, const char *format, ...) {
    va_list args;

    err->status = status;
    va_start(args, format);
    /* vsnprintf cuts a message that is too long. */
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}
