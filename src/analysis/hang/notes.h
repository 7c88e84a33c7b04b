/* Data kept from the dumps that this process reads: how far each rank has come in each group, the
 * forms of operations (hashes of operation, sizes and types), and full data of calls that have not
 * ended. */
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
 * @param rank        rank in the job
 * @param written_ns  last write of the file [ns since the epoch]; 0: unknown
 * @return            false if out of memory */
bool tm_hang_notes_add(tm_hang_notes *notes, const tm_flight *flight, const char *path,
                       int64_t rank, int64_t written_ns);

/** Adds an unreadable dump of a rank. Returns false if out of memory. */
bool tm_hang_notes_add_unreadable(tm_hang_notes *notes, const char *path, int64_t rank);

/** Returns whether an operation of this name makes every rank wait until all ranks have come. */
bool tm_hang_synchronises(const char *op);

/** How far a group has come. It covers the ranks whose dumps this process read, or, after merging,
 * all ranks. It has no padding, because it is sent as bytes. */
typedef struct tm_hang_span {
    uint64_t group;
    int64_t first; /* maximum of the ranks' first operations; from it on, all ranks have records */
    int64_t last;  /* minimum of the ranks' last operations; all ranks reached it */
    int64_t open;  /* lowest operation that has not ended on some rank; INT64_MAX: none */
} tm_hang_span;

/** Appends a span for each group in the dumps that this process read. Returns false if out of
 * memory. */
bool tm_hang_notes_spans(const tm_hang_notes *notes, tm_vec *spans);

/** Sorts by group, and merges the spans of each group into one. */
void tm_hang_spans_join(tm_vec *spans);

/** An operation and its form. It covers the ranks whose dumps this process read, or, after merging,
 * all ranks. */
typedef struct tm_hang_form {
    uint64_t group;
    int64_t seq;
    uint64_t form; /* TM_HANG_MIXED: ranks differ */
} tm_hang_form;

enum { TM_HANG_MIXED = 1 };

/**
 * Appends the forms of operations at which a group may be stuck. These are the operations from the
 * first that has not ended to the last that all ranks reached. Returns false if out of memory.
 * @param spans  merged spans of all ranks
 */
bool tm_hang_notes_forms(const tm_hang_notes *notes, const tm_vec *spans, tm_vec *forms);

/** Keeps only the first operation of each group in which ranks differ. @p forms may be in any
 * order. */
void tm_hang_forms_keep_mixed(tm_vec *forms);

/**
 * Adds the rows that the job part reads (tables.h).
 * @param spans  merged spans of all ranks
 * @param mixed  the forms of all groups that tm_hang_forms_keep_mixed has kept
 */
tm_status tm_hang_notes_rows(const tm_hang_notes *notes, const tm_vec *spans, const tm_vec *mixed,
                             tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
