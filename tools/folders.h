/* Which files a folder stands for that somebody names. */
#ifndef TMERGE_FOLDERS_H
#define TMERGE_FOLDERS_H

#include <stdbool.h>

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

/** Whether a regular file lies there. */
bool tm_is_file(const char *path);

/** Whether it is a trace, or a report of which a trace is made. */
bool tm_is_trace(const char *path);

/** Adds a name to those in a message ("a, b"), which end with "..." where there is no more room. */
void tm_folders_list_name(char *text, size_t room, tm_text name);

/** For qsort of paths: numbers in them count as such (9 before 10). */
int tm_path_order(const void *a, const void *b);

/**
 * Lists the regular files of a folder whose names begin with no dot, and what profilers left where
 * they leave it below. Where that is no trace, the folders in it are recordings, of which one is
 * read, or all; those that are called by ranks are one.
 *
 * @param paths  of char *, each owned by the caller, in natural order; also where the call fails
 * @param any    whether one of them is a trace
 * @return       TM_OK; TM_ERR_INPUT, also where one of several folders has to be named;
 * TM_ERR_FAULT
 */
tm_status tm_folder_list(const char *folder, bool all_recordings, tm_vec *paths, bool *any,
                         tm_error *err) TM_MUST_CHECK;

#endif
