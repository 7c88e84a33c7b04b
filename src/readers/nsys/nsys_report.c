#include "nsys_report.h"

#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "readers/sqlite/profiler_database.h"

#define REPORT_END ".nsys-rep"

/* Writes the command for the user to type. The command has nsys's default file name, and only
 * options that every version has. */
static void write_command(const char *report, char *out, size_t size) {
    size_t stem = strlen(report) - (sizeof REPORT_END - 1);
    int shown = stem < 160 ? (int)stem : 160;
    snprintf(out, size, "nsys export --type sqlite -o %.*s.sqlite %.*s" REPORT_END, shown, report,
             shown, report);
}

static void advise(const char *report, char *out, size_t size) {
    char command[TM_MESSAGE_MAX];
    write_command(report, command, sizeof command);
    snprintf(out, size,
             "a report of Nsight Systems can only be read from its export; make it with: %s",
             command);
}

static bool is_database(const char *path) {
    char magic[sizeof TM_DB_MAGIC];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    bool is = fread(magic, 1, sizeof magic, file) == sizeof magic &&
              memcmp(magic, TM_DB_MAGIC, sizeof magic) == 0;
    fclose(file);
    return is;
}

static tm_status tell_failure(const char *report, const tm_child_end *end, tm_error *err) {
    char how[64], command[TM_MESSAGE_MAX];
    if (end->signal)
        snprintf(how, sizeof how, "was ended by signal %d", end->signal);
    else if (end->status != 0)
        snprintf(how, sizeof how, "failed with status %d", end->status);
    else
        snprintf(how, sizeof how, "ended with status 0 but left no SQLite database");
    write_command(report, command, sizeof command);
    return tm_fail(err, TM_ERR_INPUT, report, -1, "nsys %s, %s%s; to try it yourself: %.300s", how,
                   *end->said ? "saying: " : "without a message", end->said, command);
}

/* Prefixes "./" to a path that starts with a dash, which nsys would take for an option. */
static bool shield(const char *path, char out[TM_PATH_MAX + 64]) {
    int n = snprintf(out, TM_PATH_MAX + 64, "%s%s", *path == '-' ? "./" : "", path);
    return n > 0 && n < TM_PATH_MAX + 64;
}

/* Options that older versions of nsys lack. The options for JSON and for blobs, which contain
 * NCCL's payloads, came after 2024.2. The option --ts-normalize came after 2022.4. */
static const struct {
    const char *name, *option;
} newer[] = {
    {"--include-blobs", "--include-blobs=true"},
    {"--include-json", "--include-json=true"},
    {"--ts-normalize", "--ts-normalize=false"},
};

enum { N_NEWER = sizeof newer / sizeof *newer };

/* Drops the first option that the program's error message names as unknown. */
static bool drop_unknown(const tm_child_end *end, bool with[N_NEWER]) {
    for (int i = 0; i < N_NEWER && end->status > 0; i++)
        if (with[i] && strstr(end->said, newer[i].name)) {
            with[i] = false;
            return true;
        }
    return false;
}

static int run(const char *program, const char *from, const char *to, const bool with[N_NEWER],
               const tm_child_watch *watch, tm_child_end *end) {
    const char *arguments[9 + N_NEWER] = {"nsys", "export", "--type", "sqlite"};
    int n = 4;
    for (int i = 0; i < N_NEWER; i++)
        if (with[i])
            arguments[n++] = newer[i].option;
    arguments[n++] = "--quiet=true";
    arguments[n++] = "-o";
    arguments[n++] = to;
    arguments[n++] = from;
    arguments[n] = NULL;
    return tm_child_run(program, arguments, watch, end);
}

static tm_status convert(const char *program, const char *report, const char *path,
                         const tm_child_watch *watch, tm_error *err) {
    char from[TM_PATH_MAX + 64], to[TM_PATH_MAX + 64];
    bool with[N_NEWER] = {true, true, true};
    tm_child_end end;
    int failed;
    if (!shield(report, from) || !shield(path, to))
        return tm_fail(err, TM_ERR_INPUT, report, -1, "this path is too long for nsys");
    do
        failed = run(program, from, to, with, watch, &end);
    while (!failed && drop_unknown(&end, with));
    if (failed)
        return tm_fail(err, TM_ERR_INPUT, report, -1, "%.200s cannot be run: %s", program,
                       strerror(failed));
    if (end.status != 0 || !is_database(path))
        return tell_failure(report, &end, err);
    return TM_OK;
}

const tm_converter tm_nsys_converter = {
    .program = "nsys",
    .report_end = REPORT_END,
    .trace_end = ".sqlite",
    .advise = advise,
    .convert = convert,
};
