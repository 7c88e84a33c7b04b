/* What is kept of the dumps that this process reads: for each rank and group how far it came, for
 * each of its operations a number that tells its form, and in full the few that are not over. */
#ifndef TMERGE_HANG_NOTES_H
#define TMERGE_HANG_NOTES_H

#include "base/vec.h"
#include "tmerge/flight.h"
#include "tmerge/table.h"

typedef struct tm_hang_notes tm_hang_notes;

/** NULL when memory is out. */
tm_hang_notes *tm_hang_notes_create(void);
void tm_hang_notes_destroy(tm_hang_notes *notes);

/** A dump that was read. @p path and @p rank are as given, or as it says.
 * @param written_ns  when the file was last written, since the epoch; 0: not known
 * False when memory is out. */
bool tm_hang_notes_add(tm_hang_notes *notes, const tm_flight *flight, const char *path,
                       int64_t rank, int64_t written_ns);

/** A dump of a rank that cannot be read. False when memory is out. */
bool tm_hang_notes_add_unreadable(tm_hang_notes *notes, const char *path, int64_t rank);

/** Whether no rank leaves an operation of this name before all have come. */
bool tm_hang_synchronises(const char *op);

/** A group over the ranks that this process read, or over all of the job. No padding: it is sent
 * as bytes. */
typedef struct tm_hang_span {
    uint64_t group;
    int64_t first; /* the latest first number, from which on all of them have records */
    int64_t last;  /* the lowest last number: all of them came so far */
    int64_t open;  /* the lowest number that is not over on some; INT64_MAX: none */
} tm_hang_span;

/** Appends this process's groups, one span each. False when memory is out. */
bool tm_hang_notes_spans(const tm_hang_notes *notes, tm_vec *spans);

/** Makes spans of the same group one, ascending by group. */
void tm_hang_spans_join(tm_vec *spans);

/** The form of one operation on the ranks of this process, or of all. */
typedef struct tm_hang_form {
    uint64_t group;
    int64_t seq;
    uint64_t form; /* TM_HANG_MIXED: ranks differ */
} tm_hang_form;

enum { TM_HANG_MIXED = 1 };

/** Appends the forms of what may hold a group up: where all came, from the first that is not over.
 * @param spans  of all ranks, joined. False when memory is out. */
bool tm_hang_notes_forms(const tm_hang_notes *notes, const tm_vec *spans, tm_vec *forms);

/** Keeps of forms, of any order, the first of each group in which ranks differ. */
void tm_hang_forms_keep_mixed(tm_vec *forms);

/**
 * Adds the rows that the job part reads (tables.h).
 * @param spans  of all ranks, joined
 * @param mixed  of all groups, by tm_hang_forms_keep_mixed
 */
tm_status tm_hang_notes_rows(const tm_hang_notes *notes, const tm_vec *spans, const tm_vec *mixed,
                             tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
