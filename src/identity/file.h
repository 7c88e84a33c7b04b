/* Identifies a file across hosts, to find out whether files of the same name on several hosts are
 * one shared file or different files on local disks. */
#ifndef TMERGE_IDENTITY_FILE_H
#define TMERGE_IDENTITY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/** The identity of a file. It has no pointers, so that it can be sent to other processes. */
typedef struct tm_identity {
    int64_t size;     /* bytes */
    int64_t mtime_ns; /* since the epoch */
    /* Hash of the first 64 KiB. It is 0 on a network file system: all hosts would read the same
     * bytes there, and name, size and time are enough. */
    uint64_t digest;
} tm_identity;

static inline bool tm_identity_is(const tm_identity *a, const tm_identity *b) {
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->digest == b->digest;
}

/**
 * Identifies the file at @p path.
 * @return TM_OK; TM_ERR_INPUT if it cannot be read
 */
tm_status tm_identity_of(const char *path, tm_identity *out, tm_error *err) TM_MUST_CHECK;

/** Number of bytes that a digest covers: SHORT for a first comparison, LONG for tm_identity. */
enum { TM_IDENTITY_SHORT = 4 * 1024, TM_IDENTITY_LONG = 64 * 1024 };

/**
 * Computes only the digest of the first @p bytes.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_identity_digest(const char *path, size_t bytes, uint64_t *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
