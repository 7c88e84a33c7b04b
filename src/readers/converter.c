#include "converter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/letters.h"

const tm_converter *tm_converter_of(const char *path) {
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    for (size_t i = 0; i < n; i++)
        if (formats[i]->converter &&
            tm_ends_with(path, strlen(path), formats[i]->converter->report_end))
            return formats[i]->converter;
    return NULL;
}

bool tm_converter_trace(const tm_converter *converter, const char *report, char *out, size_t size) {
    size_t stem = strlen(report) - strlen(converter->report_end);
    int n = snprintf(out, size, "%.*s%s", (int)stem, report, converter->trace_end);
    return n >= 0 && (size_t)n < size;
}

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool tm_converter_find(const tm_converter *converter, char *out, size_t size) {
    const char *folders = getenv("PATH");
    char path[TM_PATH_MAX];
    while (folders) {
        int length = (int)strcspn(folders, ":");
        /* In PATH, an empty entry stands for the working directory. */
        int n = snprintf(path, sizeof path, "%.*s/%s", length ? length : 1, length ? folders : ".",
                         converter->program);
        if (n > 0 && (size_t)n < sizeof path && (size_t)n < size && is_program(path)) {
            memcpy(out, path, (size_t)n + 1);
            return true;
        }
        folders = folders[length] == ':' ? folders + length + 1 : NULL;
    }
    return false;
}
