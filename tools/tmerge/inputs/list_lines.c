#include "list_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tm_status tm_line_fail(const tm_line *line, tm_error *err, const char *format, ...) {
    char text[TM_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tm_fail(err, TM_ERR_INPUT, line->file, -1, "line %" PRId64 ": %s", line->number, text);
}

static tm_status visit(const tm_line *line, size_t size, tm_line_visitor *visitor, void *context,
                       tm_error *err) {
    if (strlen(line->text) < size)
        return tm_line_fail(line, err, "a zero byte: this is not text");
    size -= size > 0 && line->text[size - 1] == '\n';
    size -= size > 0 && line->text[size - 1] == '\r';
    line->text[size] = '\0';
    char first = line->text[strspn(line->text, " \t")];
    return first == '\0' || first == '#' ? TM_OK : visitor(context, line, err);
}

tm_status tm_lines_each(const char *file, tm_line_visitor *visitor, void *context, tm_error *err) {
    tm_line line = {file, 0, NULL};
    size_t capacity = 0;
    FILE *stream = fopen(file, "r");
    if (!stream)
        return tm_fail(err, TM_ERR_INPUT, file, -1, "%s", strerror(errno));
    tm_status status = TM_OK;
    ssize_t size;
    while (status == TM_OK && (size = getline(&line.text, &capacity, stream)) >= 0) {
        line.number++;
        status = visit(&line, (size_t)size, visitor, context, err);
    }
    if (status == TM_OK && !feof(stream)) /* a read failed (for example because the path is a
                                             folder) or memory ran out: see errno */
        status = tm_fail(err, TM_ERR_INPUT, file, -1, "%s", strerror(errno));
    free(line.text);
    fclose(stream);
    return status;
}
