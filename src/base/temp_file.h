/* An output file that appears complete or not at all. While it is written it has no name or a
 * temporary one. */
#ifndef TMERGE_BASE_TEMP_FILE_H
#define TMERGE_BASE_TEMP_FILE_H

#include <stdbool.h>
#include <stddef.h>

/** A temporary name has at most this many bytes more than the final name. The count includes the
 * terminating 0. */
enum { TM_TEMP_LONGER = 64 };

typedef struct tm_temp_file {
    char *path;      /* owned; final name */
    char *temporary; /* owned; temporary name, see tm_temp_file_temporary_path */
    int fd;          /* owned, -1 if not open */
    bool named;      /* the file currently has the temporary name */
} tm_temp_file;

/**
 * Builds the temporary name of an incomplete file. The file is in the folder of the final file.
 * Its name consists of a dot, the base name, an id, and ".tmerge-tmp". The id is unique to this
 * process among all machines that share the folder.
 * @param size  size of @p out; strlen(path) + TM_TEMP_LONGER is sufficient
 * @return      false if @p size is too small; @p out is then ""
 */
bool tm_temp_file_temporary_path(const char *path, char *out, size_t size);

/** Copies the path. Returns false when out of memory; tm_temp_file_discard must be called even
 * then. */
bool tm_temp_file_create(tm_temp_file *temp, const char *path);

/**
 * Opens the file for reading and writing. It is empty. If the file system and /proc allow it, the
 * file has no name, so it vanishes however the process ends. Also removes temporary files that
 * killed processes left for the same output, if they are from this machine or older than a day.
 * @return 0 or the errno of the failure
 */
int tm_temp_file_open(tm_temp_file *temp);

/**
 * Writes the file to disk (fsync) and gives it its final name, replacing an existing file.
 * @return  0 or the errno of the failure, ENOENT if the temporary file was removed or replaced by
 *          another; tm_temp_file_discard must be called in either case
 */
int tm_temp_file_publish(tm_temp_file *temp);

/** Closes the file and frees the paths. A file that was not published vanishes. */
void tm_temp_file_discard(tm_temp_file *temp);

#endif
