/* The snapshots and timelines that were read so far. Private to this folder. */
#ifndef TMERGE_SNAPSHOT_FILES_H
#define TMERGE_SNAPSHOT_FILES_H

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/snapshot.h"

struct tm_snapshots {
    tm_names *texts;  /* owns all texts; the address of a text never changes */
    tm_vec devices;   /* vector of tm_snapshot_device */
    tm_vec sites;     /* vector of tm_snapshot_site */
    tm_vec timelines; /* vector of tm_memory_timeline */
};

/** Interns a text, which is valid as long as the snapshots are; NULL if out of memory. */
const char *tm_snapshots_text(tm_snapshots *snapshots, const char *text);

/** Reads a source that contains a pickle. */
tm_status tm_snapshot_read_pickle(tm_snapshots *snapshots, tm_source *source,
                                  tm_error *err) TM_MUST_CHECK;

/** Reads a source whose content starts with "[". */
tm_status tm_snapshot_read_timeline(tm_snapshots *snapshots, tm_source *source,
                                    tm_error *err) TM_MUST_CHECK;

#endif
