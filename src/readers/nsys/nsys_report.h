/* Reports of Nsight Systems (.nsys-rep), which only its own program can read: their export. */
#ifndef TMERGE_NSYS_REPORT_H
#define TMERGE_NSYS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/child.h"
#include "tmerge/status.h"

/** Whether a file's name says that it is such a report. */
bool tm_nsys_is_report(const char *path);

/**
 * The path that a report's export has by default: beside it, with .sqlite for .nsys-rep.
 * @return  false where @p size is too small
 */
bool tm_nsys_export_path(const char *report, char *out, size_t size);

/** What to do with a report: a message with the command that exports it. */
void tm_nsys_advise(const char *report, char *out, size_t size);

/**
 * Looks for the program nsys on the PATH.
 * @return  false where it is not there; @p out is not set then
 */
bool tm_nsys_find_program(char *out, size_t size);

/**
 * Runs `nsys export` and waits for it, as long as it takes.
 *
 * @param program  by tm_nsys_find_program
 * @param path     of the export, which must not exist; whatever nsys leaves there, and beside it,
 *                 is the caller's to remove
 * @return         TM_OK: an SQLite database lies there; TM_ERR_INPUT: nsys could not be run, or
 *                 failed, with the report's path and what nsys said
 */
tm_status tm_nsys_export(const char *program, const char *report, const char *path,
                         const tm_child_watch *watch, tm_error *err) TM_MUST_CHECK;

#endif
