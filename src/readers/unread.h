/* Recognises files of profilers that no reader reads, and has advice for the user. */
#ifndef TMERGE_READERS_UNREAD_H
#define TMERGE_READERS_UNREAD_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Returns the message for a file that is not a trace.
 *
 * @param head  the first decoded bytes of the file, zero-terminated
 * @return      a sentence; NULL if the file is of no known kind
 */
const char *tm_unread_what(const char *path, const char *head, size_t size);

/**
 * Whether a file is a dump of NCCL's example profiler (plugins/profiler/example). Such a file looks
 * like a Chrome trace, so no reader must be tried.
 * @param head  as for tm_unread_what
 */
bool tm_unread_is_nccl_example(const char *head);

#endif
