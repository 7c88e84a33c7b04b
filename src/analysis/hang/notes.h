/* What is kept of the dumps that this process reads: how far each rank has come in each group, a
 * number for the form of each operation, and the full calls of the few that are not over. */
#ifndef TMERGE_HANG_NOTES_H
#define TMERGE_HANG_NOTES_H

#include "base/vec.h"
#include "tmerge/flight.h"
#include "tmerge/table.h"

typedef struct tm_hang_notes tm_hang_notes;

/** Returns NULL if out of memory. */
tm_hang_notes *tm_hang_notes_create(void);
void tm_hang_notes_destroy(tm_hang_notes *notes);

/** Adds a dump.
 * @param rank        rank as given by the caller or as stated in the dump
 * @param written_ns  time of the file's last write, since the epoch; 0: unknown
 * @return            false if out of memory */
bool tm_hang_notes_add(tm_hang_notes *notes, const tm_flight *flight, const char *path,
                       int64_t rank, int64_t written_ns);

/** Adds the dump of a rank that cannot be read. Returns false if out of memory. */
bool tm_hang_notes_add_unreadable(tm_hang_notes *notes, const char *path, int64_t rank);

/** Returns whether no rank can leave an operation of this name before all ranks have come. */
bool tm_hang_synchronises(const char *op);

/** How far a group has come, over the ranks whose dumps this process read or over all ranks of the
 * job. It is sent as bytes, so it has no padding. */
typedef struct tm_hang_span {
    uint64_t group;
    int64_t first; /* maximum of the ranks' first numbers: from here on all ranks have records */
    int64_t last;  /* minimum of the ranks' last numbers: all came this far */
    int64_t open;  /* lowest number that is not over on some rank; INT64_MAX: none */
} tm_hang_span;

/** Appends a span for each group of which this process read dumps. Returns false if out of
 * memory. */
bool tm_hang_notes_spans(const tm_hang_notes *notes, tm_vec *spans);

/** Merges the spans of each group into one. Sorts by group. */
void tm_hang_spans_join(tm_vec *spans);

/** An operation, and the form in which ranks called it. Over the ranks that this process read, or
 * over all ranks. */
typedef struct tm_hang_form {
    uint64_t group;
    int64_t seq;
    uint64_t form; /* TM_HANG_MIXED: ranks differ */
} tm_hang_form;

enum { TM_HANG_MIXED = 1 };

/** Appends the forms of the operations at which a group may be stuck: those that all ranks reached,
 * from the first that is not over.
 * @param spans  of all ranks, merged. Returns false if out of memory. */
bool tm_hang_notes_forms(const tm_hang_notes *notes, const tm_vec *spans, tm_vec *forms);

/** For each group, keeps only its first operation in which ranks differ. Forms may be in any
 * order. */
void tm_hang_forms_keep_mixed(tm_vec *forms);

/**
 * Adds the rows that the job part reads (tables.h).
 * @param spans  of all ranks, merged
 * @param mixed  of all groups, by tm_hang_forms_keep_mixed
 */
tm_status tm_hang_notes_rows(const tm_hang_notes *notes, const tm_vec *spans, const tm_vec *mixed,
                             tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
