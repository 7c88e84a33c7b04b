/* The first screen after a merge: the conclusion first, then the ranks, then what to know. */
#ifndef TMERGE_SUMMARY_H
#define TMERGE_SUMMARY_H

#include "console.h"
#include "mpi/load/load.h"
#include "tmerge/table.h"

/** Prints the summary of a job to standard output. @p store is the path of the store,
 * @p page that of the report, or NULL. */
tm_status tm_summary_print(const tm_tables *tables, const tm_loaded *loaded, const char *store,
                           const char *page, const tm_colors *colors, tm_error *err) TM_MUST_CHECK;

/** What it begins with: what the job is, and the verdict. */
void tm_summary_job(const tm_tables *tables, const tm_colors *colors);

/** A line on the steps of each kind, where there are several, or an inference engine marks them. */
void tm_summary_kinds(const tm_tables *tables);

/** Of a job of one rank with events of a device what that rank tells, in place of a verdict; false
 * where it is none. */
bool tm_summary_alone(const tm_tables *tables, const tm_colors *colors);

/** Its table by rank: up to 16 ranks all of them, else the 8 that cost most and a line for the
 * rest. */
tm_status tm_summary_ranks(const tm_tables *tables, const tm_colors *colors,
                           tm_error *err) TM_MUST_CHECK;

/** Its figures of the job: what its time was, samples and tokens a second, imbalance. */
void tm_summary_figures(const tm_tables *tables);

/** What following an item of advice.item saves: " It saves up to 11.3 % of a step (1.15 ms)."; ""
 * where that is not known, or nothing, or a bound that says nothing. */
void tm_summary_saving(const tm_tables *tables, size_t row, char *out, size_t size);

/** Whether so little of the communication time was matched that nobody is cleared: then it is told
 * beside the verdict, and not with the clocks. */
bool tm_summary_mostly_unmatched(const tm_tables *tables);

/** Prints how many kernels are unmatched and why, and what to do about it. */
void tm_summary_unmatched(const tm_tables *tables, bool remedies, const tm_colors *colors);

/** What to know of clocks and matching: one line where all is well, and warnings. */
void tm_summary_clocks(const tm_tables *tables, const tm_colors *colors);

#endif
