/* Files of profilers that no reader takes: what they are, and the way out. */
#ifndef TMERGE_READERS_UNREAD_H
#define TMERGE_READERS_UNREAD_H

#include <stddef.h>

/**
 * What is said of a file that is no trace.
 * @param head  its first decoded bytes, ended by a zero
 * @return      a sentence; NULL where it is nothing that is known
 */
const char *tm_unread_what(const char *path, const char *head, size_t size);

#endif
