/* State of a load in progress, in the order in which its stages fill it. Only for load.c and the
 * stages. */
#ifndef TMERGE_MPI_LOADER_H
#define TMERGE_MPI_LOADER_H

#include "identity/rank_numbers.h"
#include "mpi/load/entries.h"
#include "mpi/load/exports.h"
#include "mpi/load/share.h"
#include "mpi/load/trace_parts.h"
#include "timeline/build_timeline.h"

typedef struct tm_loader {
    MPI_Comm comm;
    int self, n_processes;
    tm_share_readers readers; /* all processes and their hosts */
    const tm_load_options *options;
    tm_table *left_out;
    tm_classifier *classifier;
    tm_step_names *step_names;
    tm_exports exports;
    tm_entry *entries; /* [n] an entry for each input, or for each unit of an input with several
                          units; the same on every process */
    size_t n;
    tm_vec parts;         /* vector of tm_mpi_part: parts of traces read by several processes */
    tm_share_item *items; /* [n + parts.n] reader of each entry, then of each part */
    tm_trace **traces;    /* [n] traces read on this process, NULL for others */
    size_t last;          /* index of the entry that this process read last */
    tm_vec moves; /* vector of tm_rank_move: the rank that a trace records, and the rank that the
                     trace got in the job */
    tm_loaded *out;
} tm_loader;

/** Returns the path of an entry's input as given on the command line. Collective: no. */
const char *tm_loader_path(const tm_loader *l, size_t i);

/** Returns the path of the file to read for an input: its own path, or the path of its export.
 * Collective: no. */
const char *tm_loader_file(const tm_loader *l, size_t input);

/** Returns the hosts that see an input; NULL: all. Collective: no. */
const uint64_t *tm_loader_seen(const tm_loader *l, size_t input);

/**
 * Handles an unusable file: fails or, if --skip-bad allows it, adds a row to left_out. If the file
 * is an export, the message names the report. Collective: no.
 * @param status  the failure, not TM_OK; described in @p err
 * @return        TM_OK if the entry is now marked bad; otherwise the failure
 */
tm_status tm_loader_bad_input(const tm_loader *l, tm_entry *entry, tm_status status,
                              tm_error *err) TM_MUST_CHECK;

/** Frees the trace of entry i if this process read it. Collective: no. */
void tm_loader_drop_trace(tm_loader *l, size_t i);

/** Lists the inputs: one process examines each input. Sets the entries and n_traces on every
 * process. Collective: over l->comm. Returns TM_OK; TM_ERR_INPUT, also if there is no trace;
 * TM_ERR_USAGE; TM_ERR_FAULT; the same on every process. */
tm_status tm_mpi_list_entries(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Appends an entry for each unit of an input that was read as one trace and turned out to have
 * units (is_fused). Collective: no. Returns TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_loader_list_units(tm_loader *l, size_t input, tm_vec *found,
                               tm_error *err) TM_MUST_CHECK;

/** Shares what each process found in the traces that it read, and which of these traces are bad.
 * Then every process knows this about all traces. Collective: over l->comm. Returns TM_OK;
 * TM_ERR_USAGE (too many); TM_ERR_FAULT. */
tm_status tm_loader_spread(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/**
 * Lists the units of traces that turned out to hold several ranks. The units' entries replace the
 * traces' entries; the caller must then distribute the work again and read the units. Collective:
 * over l->comm.
 * @param any  set to whether there are such traces
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_USAGE (too many); TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_list_fused(tm_loader *l, bool *any, tm_error *err) TM_MUST_CHECK;

/**
 * Decides the rank of each entry from the data of all entries. Leaves out entries that cannot have
 * a rank. Sets all fields of l->out about ranks except `ranks`. Collective: no.
 * @param were_read  the traces have been read and tm_loader_spread was called; if false, entries
 *                   may stay without a rank
 * @return           TM_OK; TM_ERR_INPUT if an entry has no rank; TM_ERR_FAULT
 */
tm_status tm_loader_decide_ranks(tm_loader *l, bool were_read, tm_error *err) TM_MUST_CHECK;

/** Splits traces that are too large for one process: sets `parts`, the same on every process.
 * Collective: no. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_loader_cut(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Assigns traces to processes by the ranks known so far: sets `items` and the readers of parts,
 * the same on every process. The reader of a trace's first part owns the trace; any process may
 * read the other parts. Collective: no. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_loader_plan(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Returns the number of bytes of the file that a part covers. Collective: no. */
int64_t tm_loader_part_size(const tm_loader *l, const tm_mpi_part *part);

/** Reads the traces that are assigned to this process and not yet read. Frees traces that are now
 * assigned to others. Then joins all parts of traces. Collective: over l->comm. Returns TM_OK;
 * TM_ERR_INPUT; TM_ERR_FAULT; the same on every process. */
tm_status tm_mpi_read_traces(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Frees the remaining parts. Collective: no. */
void tm_loader_drop_parts(tm_loader *l);

/**
 * Determines the rank of each trace after all metadata was read: from the rank map, the metadata,
 * the file name, or the position among the traces. Sets all fields of l->out about ranks except
 * `ranks`. Collective: over l->comm.
 * @param split  set to whether different processes hold traces of the same rank
 * @return       TM_OK; TM_ERR_USAGE (too many); TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_find_ranks(tm_loader *l, bool *split, tm_error *err) TM_MUST_CHECK;

/** Lists the ranks of the traces that could be read; all processes find the same list. Collective:
 * no. Returns TM_OK; TM_ERR_INPUT if there are none; TM_ERR_FAULT. */
tm_status tm_loader_list_ranks(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Builds the timeline of each rank on the process that holds its traces. Collective: over l->comm.
 * Returns TM_OK; TM_ERR_INPUT (two traces cover the same time of one rank); TM_ERR_FAULT; the same
 * on every process. */
tm_status tm_mpi_build_timelines(tm_loader *l, tm_error *err) TM_MUST_CHECK;

#endif
