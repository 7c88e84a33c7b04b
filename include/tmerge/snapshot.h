/* PyTorch's own memory files: allocator snapshots (torch.cuda.memory._dump_snapshot) and exported
 * memory timelines (export_memory_timeline). */
#ifndef TMERGE_SNAPSHOT_H
#define TMERGE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "tmerge/source.h"

/** One device of a snapshot. */
typedef struct tm_snapshot_device {
    const char *file; /* path as given by the user; borrowed, like all texts here */
    int64_t device;
    int64_t segments, reserved_bytes; /* device memory that the allocator has reserved */
    int64_t blocks, allocated_bytes;  /* the part of reserved_bytes that is allocated to the
                                         program */
    int64_t requested_bytes;          /* the part of allocated_bytes that the program asked
                                         for, before rounding */
    int64_t pending_bytes; /* memory that the program has freed, but that a stream still uses */
    int64_t free_bytes, largest_free_bytes; /* reserved but unused; largest unused block */
    int64_t entries, ooms;                  /* number of entries of the allocator's trace, and
                                               number of entries that report that memory ran
                                               out */
    int64_t peak_bytes;                     /* maximum of allocated_bytes while the allocator's
                                               trace was recorded */
} tm_snapshot_device;

/** Memory of a device that was allocated at one line of the program and not freed. */
typedef struct tm_snapshot_site {
    const char *file;
    int64_t device;
    const char *site; /* "train.py:12 forward"; "" if no stack was recorded */
    int64_t blocks, bytes, requested_bytes;
} tm_snapshot_site;

/* PyTorch's categories of memory, in the order of its files. */
#define TM_TIMELINE_CATEGORIES(X)                                                                  \
    X("parameter")                                                                                 \
    X("optimizer_state")                                                                           \
    X("input")                                                                                     \
    X("temporary")                                                                                 \
    X("activation")                                                                                \
    X("gradient")                                                                                  \
    X("autograd_detail")                                                                           \
    X("unknown")
enum { TM_N_TIMELINE_CATEGORIES = 8 };

/** One exported timeline of one device. The file does not name the device. */
typedef struct tm_memory_timeline {
    const char *file;
    int64_t moments;      /* number of records (.raw.json) or of times (.json) */
    int64_t peak_time_ns; /* time at which the peak is first reached, since the epoch; -1: before
                             the first record */
    int64_t peak_bytes[TM_N_TIMELINE_CATEGORIES]; /* bytes of each category at the peak */
    int64_t most_bytes[TM_N_TIMELINE_CATEGORIES]; /* maximum of each category over time [B] */
    int64_t end_bytes[TM_N_TIMELINE_CATEGORIES];
} tm_memory_timeline;

typedef struct tm_snapshots tm_snapshots;

/** Creates an object without files. Returns NULL when out of memory. */
tm_snapshots *tm_snapshots_create(void);

/** Frees it. NULL is allowed. */
void tm_snapshots_destroy(tm_snapshots *snapshots);

/**
 * Adds a file: a pickled snapshot, whose code is never run, or a timeline (.json or .raw.json,
 * compressed or not). The kind is determined from the content.
 * @param source  read to its end
 * @return        TM_OK; TM_ERR_INPUT (unreadable, another kind of file, malformed, or a pickle that
 *                does more than build plain data; has the offset of the instruction); TM_ERR_FAULT.
 *                After a failure @p snapshots can only be destroyed
 */
tm_status tm_snapshots_read(tm_snapshots *snapshots, tm_source *source,
                            tm_error *err) TM_MUST_CHECK;

/* Return entries ordered by file, then device, then bytes descending. Borrowed until the next
 * read. */
const tm_snapshot_device *tm_snapshots_devices(const tm_snapshots *snapshots, size_t *n);
const tm_snapshot_site *tm_snapshots_sites(const tm_snapshots *snapshots, size_t *n);
const tm_memory_timeline *tm_snapshots_timelines(const tm_snapshots *snapshots, size_t *n);

#endif
