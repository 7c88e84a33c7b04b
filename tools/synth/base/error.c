#include "error.h"

#include <stdarg.h>
#include <stdio.h>

tms_status tms_fail(tms_error *err, tms_status status, const char *format, ...) {
    va_list args;

    err->status = status;
    va_start(args, format);
    /* A message that is too long is cut; the status is still right. */
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}
