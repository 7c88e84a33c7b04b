#include "console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launch/launch.h"
#include "liveness/mpirun.h"
#include "progress_line.h"
#include "table/out.h"
#include "table/renamed.h"

bool tm_console_speaks(void) {
    return tm_launch_place()->rank == 0;
}

/* Finds the file or device that is open as a stream (0 to 2) of a process. Returns false if that
 * cannot be found out. */
static bool stream_target(long pid, int stream, char *out, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%ld/fd/%d", pid, stream);
    ssize_t n = readlink(link, out, size - 1);
    out[n < 0 ? 0 : n] = '\0';
    return n >= 0;
}

/* Returns whether the output of a stream goes to a terminal. Under mpirun, the streams of a process
 * are pipes and pseudo terminals that mpirun made. So this looks for the first ancestor that has
 * another file or device as this stream. That is mpirun or its wrapper. */
static bool person_looks_on(int stream) {
    enum { WRAPPERS_MAX = 8 };
    char own[256], target[256];
    if (tm_launch_place()->launcher == TM_LAUNCHER_NONE)
        return isatty(stream);
    if (!stream_target((long)getpid(), stream, own, sizeof own))
        return false;
    long pid = (long)getppid();
    for (int i = 0; i < WRAPPERS_MAX && pid > 0; i++, pid = tm_mpirun_parent_of(pid)) {
        if (!stream_target(pid, stream, target, sizeof target))
            return false;
        if (strcmp(own, target) != 0)
            return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0;
    }
    return false;
}

/* Parses "always", "never" or "auto". For "auto" and NULL, sets @p out to @p automatic. */
static tm_status choose(const char *option, const char *choice, bool automatic, bool *out,
                        tm_error *err) {
    if (!choice || strcmp(choice, "auto") == 0)
        *out = automatic;
    else if (strcmp(choice, "always") == 0 || strcmp(choice, "never") == 0)
        *out = *choice == 'a';
    else
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s takes auto, always or never, not '%s'",
                       option, choice);
    return TM_OK;
}

tm_status tm_console_colors(const char *choice, int stream, tm_colors *out, tm_error *err) {
    static const tm_colors none = {"", "", ""};
    static const tm_colors ansi = {"\033[1m", "\033[33m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR");
    bool on = false, automatic = !(no_color && *no_color) && person_looks_on(stream);
    TM_TRY(choose("color", choice, automatic, &on, err));
    *out = on ? ansi : none;
    return TM_OK;
}

tm_status tm_console_progress(const char *choice, bool quiet, bool *out, tm_error *err) {
    TM_TRY(choose("progress", choice, person_looks_on(2), out, err));
    *out = *out && !quiet;
    return TM_OK;
}

bool tm_console_redraws(void) {
    return person_looks_on(2);
}

/* Returns the width at which lines are wrapped. A terminal that mpirun made has no size. */
static int width_of(int stream) {
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize terminal;
    if (!columns && tm_launch_place()->launcher == TM_LAUNCHER_NONE &&
        ioctl(stream, TIOCGWINSZ, &terminal) == 0)
        width = terminal.ws_col;
    return width >= 40 && width <= 1000 ? (int)width : 80;
}

int tm_console_width(void) {
    return width_of(STDOUT_FILENO);
}

/* Returns the size [B] of the text's first word. A number and its unit are one word. */
static int word_size(const char *text) {
    static const char *const units[] = {"%", "ns", "us", "ms", "s"};
    size_t size = strcspn(text, " ");
    bool number = size > 0 && text[size] == ' ' && text[size - 1] >= '0' && text[size - 1] <= '9';
    const char *next = text + size + 1;
    for (size_t u = 0; u < sizeof units / sizeof *units && number; u++) {
        size_t unit = strlen(units[u]);
        if (strncmp(next, units[u], unit) == 0 && (!next[unit] || strchr(" ,;.:)", next[unit])))
            return (int)(size + 1 + strcspn(next, " "));
    }
    return (int)size;
}

static int wrap(const char *text, int column, int width, bool prints) {
    int lines = 1;
    while (*text) {
        int size = word_size(text);
        if (column > 0 && column + 1 + size > width) {
            fputs(prints ? "\n" : "", stdout);
            column = 0;
            lines++;
        }
        if (prints)
            printf("%s%.*s", column ? " " : "  ", size, text);
        column += size + (column ? 1 : 2);
        text += size;
        text += *text == ' ';
    }
    fputs(prints ? "\n" : "", stdout);
    return lines;
}

void tm_console_wrap(const char *text, int column, int width) {
    (void)wrap(text, column, width, true);
}

int tm_console_lines(const char *text, int column, int width) {
    return wrap(text, column, width, false);
}

void tm_console_beside(FILE *stream, const char *left, int at, const char *text) {
    tm_out out = TM_OUT();
    int size = (int)strlen(left), begin = size == 0 || size < at ? at : size + 1;
    tm_out_wrapped(&out, text, (size_t)begin, (size_t)tm_console_width());
    fprintf(stream, "%-*s%.*s", begin, left, (int)out.bytes.n,
            out.bytes.n > 0 ? (const char *)out.bytes.data : "");
    tm_vec_free(&out.bytes);
}

void tm_console_say(const char *text) {
    enum { INDENT = 2 };
    tm_out out = TM_OUT();
    const bool breaks = isatty(STDERR_FILENO) && !strchr(text, '\n');
    if (breaks)
        tm_out_wrapped(&out, text, INDENT, (size_t)width_of(STDERR_FILENO));
    tm_line_make_room();
    if (breaks && !out.failed)
        fprintf(stderr, "%.*s", (int)out.bytes.n, (const char *)out.bytes.data);
    else
        fprintf(stderr, "%s\n", text);
    tm_line_give_back();
    tm_vec_free(&out.bytes);
}

void tm_console_error(const tm_error *err) {
    char text[TM_PATH_MAX + TM_MESSAGE_MAX + 64];
    const size_t lead = (size_t)snprintf(text, sizeof text, "tmerge: ");
    tm_error_text(err, text + lead, sizeof text - lead);
    tm_console_say(text);
}

void tm_console_warn(const char *format, ...) {
    char text[TM_PATH_MAX + 2 * TM_MESSAGE_MAX];
    const size_t lead = (size_t)snprintf(text, sizeof text, "tmerge: warning: ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + lead, sizeof text - lead, format, arguments);
    va_end(arguments);
    tm_console_say(text);
}

void tm_console_renamed(const char *name) {
    const tm_renamed *renamed = tm_renamed_find(name);
    if (renamed)
        tm_console_warn("%s is now %s%s%s%s%s; the next version will not know the old name", name,
                        renamed->now, renamed->level ? ", level " : "",
                        renamed->level ? renamed->level : "",
                        renamed->name_was ? ", where the column name was " : "",
                        renamed->name_was ? renamed->name_was : "");
}
