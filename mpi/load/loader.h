/* A loading on its way: what its stages share, in the order in which they fill it. For load.c and
 * the stages alone. */
#ifndef TMERGE_MPI_LOADER_H
#define TMERGE_MPI_LOADER_H

#include "identity/ranks.h"
#include "mpi/load/entries.h"
#include "mpi/load/exports.h"
#include "mpi/load/parts.h"
#include "mpi/load/share.h"
#include "timeline/build.h"

typedef struct tm_loader {
    MPI_Comm comm;
    int self, n_processes;
    tm_share_readers readers; /* the same processes, with their hosts */
    const tm_load_options *options;
    tm_table *left_out;
    tm_classifier *classifier;
    tm_step_names *step_names;
    tm_exports exports;
    tm_entry *entries; /* [n] the same on every process: of all inputs and their units */
    size_t n;
    tm_vec parts;         /* of tm_mpi_part: of the traces that several processes read */
    tm_share_item *items; /* [n + parts.n] who reads what */
    tm_trace **traces;    /* [n] read here, NULL elsewhere */
    tm_vec moves;         /* of tm_rank_move: what ranks that traces tell are in the job */
    tm_loaded *out;
} tm_loader;

/** The path of an entry's input, as the command line names it. Collective: no. */
const char *tm_loader_path(const tm_loader *l, size_t i);

/** The file that is read for an input: itself, or its export. Collective: no. */
const char *tm_loader_file(const tm_loader *l, size_t input);

/** The hosts that see it; NULL: all. Collective: no. */
const uint64_t *tm_loader_seen(const tm_loader *l, size_t input);

/**
 * Deals with a file that cannot be used: an error, or a row where --skip-bad allows it. Of a report
 * it is the report that the message names.
 * Collective: no.
 * @param status  not TM_OK, with @p err: what is wrong
 * @return        TM_OK: the entry is bad from now on; else what it is
 */
tm_status tm_loader_bad_input(const tm_loader *l, tm_entry *entry, tm_status status,
                              tm_error *err) TM_MUST_CHECK;

/** Frees a trace that was read here. Collective: no. */
void tm_loader_drop_trace(tm_loader *l, size_t i);

/**
 * Looks at every input, each on one process: entries, and n_traces of what is loaded.
 * Collective: over l->comm.  TM_OK; TM_ERR_INPUT, also where there is no trace; TM_ERR_USAGE;
 * TM_ERR_FAULT; the same on every process.
 */
tm_status tm_mpi_list_entries(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Lists the units of an input that was read as one trace and is_fused: appends an entry for each.
 * Collective: no.  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_loader_list_units(tm_loader *l, size_t input, tm_vec *found,
                               tm_error *err) TM_MUST_CHECK;

/** Spreads what traces tell, and which are bad, from those who read them. Collective: over l->comm.
 * TM_OK; TM_ERR_USAGE (too many); TM_ERR_FAULT. */
tm_status tm_loader_spread(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/**
 * Lists the units of traces that turned out to be of several ranks, which replace them: to be read
 * by a new plan.
 * Collective: over l->comm.
 * @param any  whether there are some
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_USAGE (too many); TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_list_fused(tm_loader *l, bool *any, tm_error *err) TM_MUST_CHECK;

/**
 * Decides which rank each entry is of, by what is known of all, and leaves out what is none. Sets
 * what is loaded of ranks but their list.
 * Collective: no.
 * @param were_read  by their owners, who have told the others; else ranks that nothing tells yet
 *                   stay unknown
 * @return           TM_OK; TM_ERR_INPUT where one has no rank; TM_ERR_FAULT
 */
tm_status tm_loader_decide_ranks(tm_loader *l, bool were_read, tm_error *err) TM_MUST_CHECK;

/** Cuts what is too large for one process: parts, the same on every process. Collective: no.
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_loader_cut(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/**
 * Shares out the traces by the ranks known so far: items, and the readers of parts; on what they
 * know all processes agree. The first part of a trace stands for it: its reader owns the trace. The
 * others go to anyone.
 * Collective: no.  TM_OK; TM_ERR_FAULT.
 */
tm_status tm_loader_plan(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Bytes of the file that a part stands for. Collective: no. */
int64_t tm_loader_part_size(const tm_loader *l, const tm_mpi_part *part);

/**
 * Reads what is this process's by the plan and was not read yet, and drops what is not; joins what
 * was read in parts, of which none is left then.
 * Collective: over l->comm.  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT; the same on every process.
 */
tm_status tm_mpi_read_traces(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/** Frees what parts still hold. Collective: no. */
void tm_loader_drop_parts(tm_loader *l);

/**
 * Finds the rank of each trace, now that all of its metadata was seen: the map, the metadata, the
 * file's name, or its place among the traces. Sets what is loaded of ranks but their list.
 * Collective: over l->comm.
 * @param split  traces of one rank are of several processes
 * @return       TM_OK; TM_ERR_USAGE (too many); TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_find_ranks(tm_loader *l, bool *split, tm_error *err) TM_MUST_CHECK;

/** Lists the ranks of what could be read, on which all processes agree. Collective: no.
 * TM_OK; TM_ERR_INPUT where there is none; TM_ERR_FAULT. */
tm_status tm_loader_list_ranks(tm_loader *l, tm_error *err) TM_MUST_CHECK;

/**
 * Builds the timeline of each rank where its traces are.
 * Collective: over l->comm.  TM_OK; TM_ERR_INPUT (two cover the same time of one rank);
 * TM_ERR_FAULT; the same on every process.
 */
tm_status tm_mpi_build_timelines(tm_loader *l, tm_error *err) TM_MUST_CHECK;

#endif
