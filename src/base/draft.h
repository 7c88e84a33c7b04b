/* An output that appears complete or not at all: while it is written it has no name, or a
 * temporary one. */
#ifndef TMERGE_BASE_DRAFT_H
#define TMERGE_BASE_DRAFT_H

#include <stdbool.h>
#include <stddef.h>

/** A temporary name is at most so much longer than the file's, the end of the string included. */
enum { TM_DRAFT_LONGER = 64 };

typedef struct tm_draft {
    char *path;      /* owned; the name that it will have */
    char *temporary; /* owned; the one before that, tm_draft_temporary_path */
    int fd;          /* owned, -1 where none is open */
    bool named;      /* it lies under the temporary name */
} tm_draft;

/**
 * The name that a file may have before it is complete, in the same folder: dot, base name, what
 * tells this process from all others on machines that share the folder, ".tmerge-tmp".
 *
 * @param size  of @p out; strlen(path) + TM_DRAFT_LONGER suffices
 * @return      false where @p size is too small; @p out is "" then
 */
bool tm_draft_temporary_path(const char *path, char *out, size_t size);

/** Copies the path. False where memory is out; then too tm_draft_discard is to be called. */
bool tm_draft_create(tm_draft *draft, const char *path);

/**
 * Opens the file, empty, to be read and written. It has no name where the file system and /proc
 * allow that: then nothing is left of it, however the process ends. What processes left that were
 * killed while they wrote the same file is removed: of this machine, or older than a day.
 * @return  0 or the errno of the failure
 */
int tm_draft_open(tm_draft *draft);

/**
 * Writes the file to the disk (fsync) and gives it its name, in place of a file that had it.
 * @return  0 or the errno of the failure, ENOENT where somebody took the draft away or put another
 *          file in its place; tm_draft_discard is to be called in either case
 */
int tm_draft_publish(tm_draft *draft);

/** Closes the file, which is gone where it was not published, and frees what is owned. */
void tm_draft_discard(tm_draft *draft);

#endif
