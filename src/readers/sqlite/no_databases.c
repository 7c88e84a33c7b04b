/* Replaces the readers of databases if TMERGE_SQLITE is OFF. Reports what a file is, and that this
 * build does not read it. */
#include <stdio.h>
#include <string.h>

#include "readers/formats.h"

#define LEFT_OUT "which this tmerge cannot read (it was built with TMERGE_SQLITE=OFF)"

static bool sniff(const char *head, size_t size, bool whole) {
    static const char magic[] = "SQLite format 3";
    (void)whole;
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* In a build without SQLite, the format nsys stands for all databases. */
static bool sniff_none(const char *head, size_t size, bool whole) {
    (void)head;
    (void)size;
    (void)whole;
    return false;
}

static tm_status refuse(tm_source *source, tm_names *names, struct tm_trace *out, tm_error *err) {
    (void)names;
    (void)out;
    return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                   "this is a SQLite database, " LEFT_OUT);
}

static void advise(const char *report, char *out, size_t size) {
    (void)report;
    snprintf(out, size, "this is a report of Nsight Systems, " LEFT_OUT);
}

static tm_status convert(const char *program, const char *report, const char *trace,
                         const struct tm_child_watch *watch, tm_error *err) {
    (void)program;
    (void)trace;
    (void)watch;
    return tm_fail(err, TM_ERR_INPUT, report, -1, "this is a report of Nsight Systems, " LEFT_OUT);
}

static const tm_converter converter = {"nsys", ".nsys-rep", ".sqlite", advise, convert};

const tm_format tm_format_nsys = {
    .name = "nsys",
    .summary = "Nsight Systems: left out of this tmerge (TMERGE_SQLITE=OFF)",
    .sniff = sniff,
    .read = refuse,
    .converter = &converter,
};

const tm_format tm_format_ascend_db = {
    .name = "ascend_db",
    .summary = "Databases of Ascend NPUs: left out of this tmerge (TMERGE_SQLITE=OFF)",
    .sniff = sniff_none,
    .read = refuse,
};

const tm_format tm_format_rocpd = {
    .name = "rocpd",
    .summary = "rocpd databases of ROCm: left out of this tmerge (TMERGE_SQLITE=OFF)",
    .sniff = sniff_none,
    .read = refuse,
};

const tm_format tm_format_rpd = {
    .name = "rpd",
    .summary = "rocmProfileData: left out of this tmerge (TMERGE_SQLITE=OFF)",
    .sniff = sniff_none,
    .read = refuse,
};
