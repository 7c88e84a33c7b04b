/* What PyTorch itself writes of its memory: snapshots of the allocator
 * (torch.cuda.memory._dump_snapshot) and exported memory timelines (export_memory_timeline). */
#ifndef TMERGE_SNAPSHOT_H
#define TMERGE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "tmerge/source.h"

/** One device of a snapshot. */
typedef struct tm_snapshot_device {
    const char *file; /* as given; borrowed, as all texts here */
    int64_t device;
    int64_t segments, reserved_bytes;       /* what the allocator holds of the device */
    int64_t blocks, allocated_bytes;        /* what the program holds of that */
    int64_t requested_bytes;                /* what it asked for */
    int64_t pending_bytes;                  /* given back, and still in use by a stream */
    int64_t free_bytes, largest_free_bytes; /* the rest, and its largest piece */
    int64_t entries, ooms;                  /* of the trace that goes with it */
    int64_t peak_bytes;                     /* most allocated over that trace */
} tm_snapshot_device;

/** What one place in the program holds of a device. */
typedef struct tm_snapshot_site {
    const char *file;
    int64_t device;
    const char *site; /* "train.py:12 forward"; "" where no stack was recorded */
    int64_t blocks, bytes, requested_bytes;
} tm_snapshot_site;

/* PyTorch's categories, in the order of its files. */
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

/** One exported timeline, of one device that it does not name. */
typedef struct tm_memory_timeline {
    const char *file;
    int64_t moments;      /* records, or times */
    int64_t peak_time_ns; /* the first moment with most, since the epoch; -1: before the trace */
    int64_t peak_bytes[TM_N_TIMELINE_CATEGORIES]; /* then */
    int64_t most_bytes[TM_N_TIMELINE_CATEGORIES]; /* at any time */
    int64_t end_bytes[TM_N_TIMELINE_CATEGORIES];
} tm_memory_timeline;

typedef struct tm_snapshots tm_snapshots;

/** Without files. NULL when memory is out. */
tm_snapshots *tm_snapshots_create(void);

/** Takes NULL. */
void tm_snapshots_destroy(tm_snapshots *snapshots);

/**
 * Adds a file: a pickled snapshot, of which nothing is ever run, or a timeline (.json or .raw.json,
 * compressed or not), told by content.
 *
 * @param source  read to its end
 * @return        TM_OK; TM_ERR_INPUT (unreadable, another kind of file, malformed, a pickle that
 *                asks for more than plain data: the offset is that of the instruction);
 *                TM_ERR_FAULT. After a failure @p snapshots can only be destroyed
 */
tm_status tm_snapshots_read(tm_snapshots *snapshots, tm_source *source,
                            tm_error *err) TM_MUST_CHECK;

/* In the order of files, then devices, then most bytes first; borrowed, until more are read. */
const tm_snapshot_device *tm_snapshots_devices(const tm_snapshots *snapshots, size_t *n);
const tm_snapshot_site *tm_snapshots_sites(const tm_snapshots *snapshots, size_t *n);
const tm_memory_timeline *tm_snapshots_timelines(const tm_snapshots *snapshots, size_t *n);

#endif
