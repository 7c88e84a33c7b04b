/* What all processes know of the inputs before and while they are read. */
#ifndef TMERGE_MPI_ENTRIES_H
#define TMERGE_MPI_ENTRIES_H

#include <mpi.h>

#include "base/vec.h"
#include "mpi/load/load.h"
#include "tmerge/reader.h"

enum { TM_ENTRY_BAD = 100 };

/** An input, or one unit of one that holds several. Plain numbers, so that a sum over the
 * processes, of which one alone fills an entry, spreads them. */
typedef struct tm_entry {
    int64_t input;                   /* whose it is: index into the inputs */
    int64_t kind;                    /* tm_file_kind; TM_ENTRY_BAD: it cannot be read */
    int64_t weight, size, has_parts; /* as in tm_file_info */
    int64_t format;                  /* 1 + its place in tm_formats; 0: none */
    int64_t rank; /* before reading: what is known; after it: what it is; -1 unknown */
    int64_t told, world_size, begin_ns, end_ns, has_device, replica; /* as of tm_claim */
    int64_t has_unit;
    tm_unit unit;
} tm_entry;

/** The format that it was found to have; NULL for none. */
const tm_format *tm_entry_format(const tm_entry *entry);

/** As of its format. */
static inline bool tm_entry_is_by_path(const tm_entry *entry) {
    const tm_format *format = tm_entry_format(entry);
    return format && format->by_path;
}

/** Adds a row to a table of the form of job.left_out. Collective: no.  TM_OK; TM_ERR_FAULT. */
tm_status tm_entries_leave_out(tm_table *left_out, const char *path, const char *reason,
                               const char *message, tm_error *err) TM_MUST_CHECK;

/** Brings the entries of all processes together, in the order of the inputs.
 * Collective: over comm.
 * @param found  of tm_entry: of this process
 * @param out    [n] owned by the caller, set only on TM_OK
 * @return       TM_OK; TM_ERR_USAGE (too many); TM_ERR_FAULT */
tm_status tm_mpi_entries_gather(MPI_Comm comm, const tm_vec *found, tm_entry **out, size_t *n,
                                tm_error *err) TM_MUST_CHECK;

/** Spreads entries of which each process filled those that it owns and has all others 0.
 * Collective: over comm.  TM_OK; TM_ERR_USAGE (too many); TM_ERR_FAULT. */
tm_status tm_mpi_entries_sum(MPI_Comm comm, tm_entry *entries, size_t n,
                             tm_error *err) TM_MUST_CHECK;

#endif
