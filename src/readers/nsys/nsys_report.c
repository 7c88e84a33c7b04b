#include "nsys_report.h"

#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "readers/sqlite/database.h"

#define REPORT_END ".nsys-rep"

/* To be typed: to the file that nsys itself would name. */
static void write_command(const char *report, char *out, size_t size) {
    size_t stem = strlen(report) - (sizeof REPORT_END - 1);
    int shown = stem < 160 ? (int)stem : 160;
    snprintf(out, size,
             "nsys export --type sqlite --include-blobs=true --include-json=true "
             "--ts-normalize=false -o %.*s.sqlite %.*s" REPORT_END,
             shown, report, shown, report);
}

static void advise(const char *report, char *out, size_t size) {
    char command[TM_MESSAGE_MAX];
    write_command(report, command, sizeof command);
    snprintf(out, size, "a report of Nsight Systems is read from its export: %s", command);
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
        snprintf(how, sizeof how, "ended with status 0 and left no SQLite database");
    write_command(report, command, sizeof command);
    return tm_fail(err, TM_ERR_INPUT, report, -1, "nsys %s, %s%s; to try it by hand: %.300s", how,
                   *end->said ? "saying: " : "saying nothing", end->said, command);
}

/* Options of nsys begin with a dash, and nothing tells it that a file does too. */
static bool shield(const char *path, char out[TM_PATH_MAX + 64]) {
    int n = snprintf(out, TM_PATH_MAX + 64, "%s%s", *path == '-' ? "./" : "", path);
    return n > 0 && n < TM_PATH_MAX + 64;
}

static tm_status convert(const char *program, const char *report, const char *path,
                         const tm_child_watch *watch, tm_error *err) {
    char from[TM_PATH_MAX + 64], to[TM_PATH_MAX + 64];
    tm_child_end end;
    if (!shield(report, from) || !shield(path, to))
        return tm_fail(err, TM_ERR_INPUT, report, -1, "this path is too long for nsys");
    const char *const arguments[] = {"nsys",
                                     "export",
                                     "--type",
                                     "sqlite",
                                     "--include-blobs=true",
                                     "--include-json=true",
                                     "--ts-normalize=false",
                                     "--quiet=true",
                                     "-o",
                                     to,
                                     from,
                                     NULL};
    int failed = tm_child_run(program, arguments, watch, &end);
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
