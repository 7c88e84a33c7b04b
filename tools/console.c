#include "console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tm_console_launched(void) {
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL;
}

bool tm_console_speaks(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return !rank || strcmp(rank, "0") == 0;
}

/* Under mpirun a process's own streams are pipes and pseudo terminals of the launcher, so what
 * counts is where the launcher's stream leads. */
static bool person_looks_on(int stream) {
    if (!tm_console_launched())
        return isatty(stream);
    char link[64], target[256];
    snprintf(link, sizeof link, "/proc/%ld/fd/%d", (long)getppid(), stream);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0;
}

tm_status tm_console_colors(const char *choice, int stream, tm_colors *out, tm_error *err) {
    static const tm_colors none = {"", "", ""};
    static const tm_colors ansi = {"\033[1m", "\033[33m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR");
    bool on;
    if (!choice || strcmp(choice, "auto") == 0)
        on = !(no_color && *no_color) && person_looks_on(stream);
    else if (strcmp(choice, "always") == 0)
        on = true;
    else if (strcmp(choice, "never") == 0)
        on = false;
    else
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--color takes auto, always or never, not '%s'",
                       choice);
    *out = on ? ansi : none;
    return TM_OK;
}

int tm_console_width(void) {
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width >= 40 && width <= 1000 ? (int)width : 80;
}

void tm_console_error(const tm_error *err) {
    char text[TM_PATH_MAX + TM_MESSAGE_MAX + 64];
    tm_error_text(err, text, sizeof text);
    fprintf(stderr, "tmerge: %s\n", text);
}

void tm_console_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("tmerge: warning: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}
