/* Files of profilers that no reader takes: what they are, and the way out. */
#ifndef TMERGE_READERS_UNREAD_H
#define TMERGE_READERS_UNREAD_H

#include <stdbool.h>
#include <stddef.h>

/**
 * What is said of a file that is no trace.
 * @param head  its first decoded bytes, ended by a zero
 * @return      a sentence; NULL where it is nothing that is known
 */
const char *tm_unread_what(const char *path, const char *head, size_t size);

/** Whether a file is a dump of NCCL's example profiler (plugins/profiler/example), which looks like
 * a Chrome trace: no reader is to be asked. @param head  as above */
bool tm_unread_is_nccl_example(const char *head);

#endif
