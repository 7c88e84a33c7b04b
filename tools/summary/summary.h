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

/** What it begins with: what the job is, and the verdict. @p lines are left for that and the
 * advice; 0: as many as they need. */
void tm_summary_job(const tm_tables *tables, int lines, const tm_colors *colors);

/** The verdict: headline, what fixing saves, and what it rests on, cut where it does not fit: then
 * where to look comes before it. */
void tm_summary_verdict(const tm_tables *tables, int lines, const tm_colors *colors);

/** The first thing to do that the verdict has not said, cut where the verdict needs the lines. */
void tm_summary_advice(const tm_tables *tables, int lines);

/** A line on the steps of each kind, where there are several, or an inference engine marks them. */
void tm_summary_kinds(const tm_tables *tables);

/** Whether it has a table by rank: one of zeros, or of the few kernels beside a capture, says
 * nothing. */
bool tm_summary_has_ranks(const tm_tables *tables);

/** Its table by rank: up to 16 ranks all of them, else the 8 that cost most and a line for the
 * rest. */
tm_status tm_summary_ranks(const tm_tables *tables, const tm_colors *colors,
                           tm_error *err) TM_MUST_CHECK;

/** Of a job of which nothing but communication is recorded, in place of figures: how long the
 * operations that take most time take, and how much they carry. */
tm_status tm_summary_bandwidth(const tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Whether a row of overlap.rank is of a rank of which nothing but communication is recorded. */
bool tm_summary_lacks_compute(const tm_tables *tables, size_t row);

/** How many there are of those. */
size_t tm_summary_count_lacking(const tm_tables *tables);

/** Its figures of the job: what its time was, samples and tokens a second. */
void tm_summary_figures(const tm_tables *tables);

/** How even the load is and how clocks stand: one line where both are fine. */
void tm_summary_state(const tm_tables *tables);

/** How many lines that takes. */
int tm_summary_state_lines(const tm_tables *tables);

/** How clocks stand and what was matched, "one clock; 20 collectives complete"; "" of
 * one rank. @return false where clocks do not agree, or that is not known */
bool tm_summary_agreement(const tm_tables *tables, char *out, size_t size);

/** What following an item of advice.item saves, after a blank, as its column `saves` has it; ""
 * where that is null. */
void tm_summary_saving(const tm_tables *tables, size_t row, char *out, size_t size);

/** Whether so little of the communication time was matched that nobody is cleared: then it is told
 * beside the verdict, and not with the clocks. */
bool tm_summary_mostly_unmatched(const tm_tables *tables);

/** Prints how many kernels are unmatched and why, and what to do about it. */
void tm_summary_unmatched(const tm_tables *tables, bool remedies, const tm_colors *colors);

/** Warnings on clocks and matching. */
void tm_summary_clocks(const tm_tables *tables, const tm_colors *colors);

#endif
