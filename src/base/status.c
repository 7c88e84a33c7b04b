#include "tmerge/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void keep_path(tm_error *err, const char *path) {
    size_t length = path ? strlen(path) : 0;
    if (length >= TM_PATH_MAX) {
        path += length - (TM_PATH_MAX - 1);
        length = TM_PATH_MAX - 1;
    }
    if (length > 0)
        memcpy(err->path, path, length);
    err->path[length] = '\0';
}

tm_status tm_fail(tm_error *err, tm_status status, const char *path, int64_t offset,
                  const char *format, ...) {
    if (!err)
        return status;
    err->status = status;
    err->offset = offset;
    err->host[0] = '\0';
    err->nothing = false;
    keep_path(err, path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

tm_status tm_fail_nothing(tm_error *err, const char *path, int64_t offset, const char *why) {
    tm_status status = tm_fail(err, TM_ERR_INPUT, path, offset, "%s", why);
    if (err)
        err->nothing = true;
    return status;
}

tm_status tm_fail_memory(tm_error *err) {
    return tm_fail(err, TM_ERR_FAULT, NULL, -1, "out of memory");
}

void tm_error_text(const tm_error *err, char *out, size_t size) {
    char at[32] = "";
    if (err->path[0] && err->offset >= 0)
        snprintf(at, sizeof at, "byte %" PRId64 ": ", err->offset);
    snprintf(out, size, "%s%s%s%s%s%s%s", err->path, err->path[0] ? ": " : "", at, err->message,
             err->host[0] ? " (on " : "", err->host, err->host[0] ? ")" : "");
}
