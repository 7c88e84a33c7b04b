/* Lists the files of a folder given as an operand. */
#ifndef TMERGE_FOLDERS_H
#define TMERGE_FOLDERS_H

#include <stdbool.h>

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

/** Returns whether the path is a regular file. */
bool tm_is_file(const char *path);

/** Returns whether the path is a trace, or a report from which a trace can be exported. */
bool tm_is_trace(const char *path);

/** Appends a name to a list in a message ("a, b"). Appends "..." if the name does not fit. */
void tm_folders_list_name(char *text, size_t room, tm_text name);

/** Compares paths, for qsort. Numbers in paths compare as numbers: 9 before 10. */
int tm_path_order(const void *a, const void *b);

/** Lists the regular files of a folder except hidden ones. Also lists the files in those places
 * below the folder where profilers write traces. If none of these files is a trace, each subfolder
 * that has a trace is a recording. In this case, lists the files of the only recording, or of all
 * recordings if @p all_recordings is set. Subfolders that are named after ranks are together one
 * recording.
 *
 * @param paths  vector of char *, each owned by the caller, in natural order; also set on failure
 * @param any set to whether one of the paths is a trace
 * @return       TM_OK; TM_ERR_INPUT, also if there are several recordings and the user has to name
 * one; TM_ERR_FAULT */
tm_status tm_folder_list(const char *folder, bool all_recordings, tm_vec *paths, bool *any,
                         tm_error *err) TM_MUST_CHECK;

#endif
