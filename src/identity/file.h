/* What a file is, wherever it is seen from: hosts that have a file of one name on their own disks
 * are told from those that share it. */
#ifndef TMERGE_IDENTITY_FILE_H
#define TMERGE_IDENTITY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/** Numbers alone, so that it can be sent. */
typedef struct tm_identity {
    int64_t size;     /* bytes */
    int64_t mtime_ns; /* since the epoch */
    uint64_t digest;  /* of its first 64 KiB; 0 where it lies on a file system of a network, which
                         tells by name, size and time, and would be asked by every host */
} tm_identity;

static inline bool tm_identity_is(const tm_identity *a, const tm_identity *b) {
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->digest == b->digest;
}

/** What lies at a path. TM_OK; TM_ERR_INPUT where it cannot be read. */
tm_status tm_identity_of(const char *path, tm_identity *out, tm_error *err) TM_MUST_CHECK;

/** How much of a file its digest is of [bytes]: a look at a recording, or as in tm_identity. */
enum { TM_IDENTITY_SHORT = 4 * 1024, TM_IDENTITY_LONG = 64 * 1024 };

/** The digest alone, on any file system, of so many bytes. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_identity_digest(const char *path, size_t bytes, uint64_t *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
