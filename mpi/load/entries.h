/* What all processes know about the inputs, before and during reading. */
#ifndef TMERGE_MPI_ENTRIES_H
#define TMERGE_MPI_ENTRIES_H

#include <mpi.h>

#include "base/vec.h"
#include "mpi/load/load.h"
#include "tmerge/reader.h"

enum { TM_ENTRY_BAD = 100 };

/** An input, or one unit of an input with several units. Contains only numbers. One process fills
 * the entry; on other processes all its numbers are 0, so that a sum over the processes gives the
 * entry to all. */
typedef struct tm_entry {
    int64_t input;                   /* index into the job's inputs */
    int64_t kind;                    /* tm_file_kind; TM_ENTRY_BAD: unreadable */
    int64_t weight, size, has_parts; /* as in tm_file_info */
    int64_t format;                  /* 1 + index in tm_formats; 0: not detected */
    int64_t rank; /* before reading: the rank if known; afterwards: the final rank; -1 unknown */
    int64_t reported, world_size, begin_ns, end_ns, has_device, replica; /* as in tm_trace_rank */
    int64_t has_unit;
    tm_unit unit;
} tm_entry;

/** Returns the detected format; NULL if none was detected. */
const tm_format *tm_entry_format(const tm_entry *entry);

/** Returns by_path of the entry's format; false if none was detected. */
static inline bool tm_entry_is_by_path(const tm_entry *entry) {
    const tm_format *format = tm_entry_format(entry);
    return format && format->by_path;
}

/** Adds a row to a table that has the columns of job.left_out. Collective: no. Returns TM_OK or
 * TM_ERR_FAULT. */
tm_status tm_entries_leave_out(tm_table *left_out, const char *path, const char *reason,
                               const char *message, tm_error *err) TM_MUST_CHECK;

/**
 * Gathers the entries of all processes in the order of the inputs. Collective: over comm.
 * @param found  vector of tm_entry: the entries that this process found
 * @param out    [n] owned by the caller, set only on TM_OK
 * @return       TM_OK; TM_ERR_USAGE (too many); TM_ERR_FAULT
 */
tm_status tm_mpi_entries_gather(MPI_Comm comm, const tm_vec *found, tm_entry **out, size_t *n,
                                tm_error *err) TM_MUST_CHECK;

/** Distributes entries. The process that owns an entry must have filled it, and all other processes
 * must have set it to 0. Collective: over comm. Returns TM_OK; TM_ERR_USAGE (too many);
 * TM_ERR_FAULT. */
tm_status tm_mpi_entries_sum(MPI_Comm comm, tm_entry *entries, size_t n,
                             tm_error *err) TM_MUST_CHECK;

#endif
