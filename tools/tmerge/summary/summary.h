/* The first screen after a merge: the verdict, the ranks, then warnings. */
#ifndef TMERGE_SUMMARY_H
#define TMERGE_SUMMARY_H

#include "mpi/load/load.h"
#include "output/console.h"
#include "tmerge/table.h"

/** Prints the summary of a job to standard output. @param store path of the store @param page path
 * of the report, or NULL */
tm_status tm_summary_print(const tm_tables *tables, const tm_loaded *loaded, const char *store,
                           const char *page, const tm_colors *colors, tm_error *err) TM_MUST_CHECK;

/** Prints the beginning: the job and the verdict. Verdict and advice may take @p lines lines; 0:
 * any number. */
void tm_summary_job(const tm_tables *tables, int lines, const tm_colors *colors);

/** Prints the verdict: its headline, what a fix saves, and the evidence. If the evidence does not
 * fit into @p lines, prints the place to look at first, such as the rank's GPU. */
void tm_summary_verdict(const tm_tables *tables, int lines, const tm_colors *colors);

/** Prints the first advice that is not part of the verdict. Shortens it if the verdict needs the
 * lines. */
void tm_summary_advice(const tm_tables *tables, int lines);

/** Prints a line about the kinds of steps, if there are several kinds or if an inference engine
 * marks them. */
void tm_summary_kinds(const tm_tables *tables);

/** Returns whether the table by rank is worth printing. It is not worth printing in two cases: all
 * windows are 0, or all steps are captures of graphs, during which only few kernels run. */
bool tm_summary_has_ranks(const tm_tables *tables);

/* Number of ranks that the table by rank shows if it cannot show all ranks. */
enum { TM_SUMMARY_RANKS_OF_MANY = 5 };

/** Prints the table by rank. If there are at most 16 ranks, shows all of them. Otherwise, shows the
 * 5 ranks that cost most, and a line for the rest. */
tm_status tm_summary_ranks(const tm_tables *tables, const tm_colors *colors,
                           tm_error *err) TM_MUST_CHECK;

/** Used for a job with only communication recorded: prints the duration and the bandwidth of the
 * operations that take most time. */
tm_status tm_summary_bandwidth(const tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Returns whether a rank's recording has only communication. @p row is the rank's row in
 * overlap.rank. */
bool tm_summary_lacks_compute(const tm_tables *tables, size_t row);

/** Returns the number of ranks whose recordings have only communication. */
size_t tm_summary_count_lacking(const tm_tables *tables);

/** Prints figures of the job: shares of time, samples and tokens per second. */
void tm_summary_figures(const tm_tables *tables);

/** Prints load balance and clocks. If neither has a problem, prints one line. */
void tm_summary_state(const tm_tables *tables);

/** Returns the number of lines of tm_summary_state. */
int tm_summary_state_lines(const tm_tables *tables);

/** Writes the state of clocks and matching, such as "one clock; 20 collectives complete". For a job
 * with one rank, writes "". Returns false if it is not known that the clocks agree. */
bool tm_summary_agreement(const tm_tables *tables, char *out, size_t size);

/** Writes a blank and the saving from column `saves` of a row of advice.item. Writes "" if the
 * saving is null. */
void tm_summary_saving(const tm_tables *tables, size_t row, char *out, size_t size);

/** Returns whether only a small part of the communication time was matched, so that any rank may be
 * the cause of waits. The verdict then says this, and the lines about clocks need not repeat it. */
bool tm_summary_mostly_unmatched(const tm_tables *tables);

/** Prints the number of unmatched kernels, the reasons, and what to do about them. */
void tm_summary_unmatched(const tm_tables *tables, bool remedies, const tm_colors *colors);

/** Warns of ranks without a trace. */
void tm_summary_missing(const tm_loaded *loaded, const tm_tables *tables, const tm_colors *colors);

/** Warns if the traces have several formats. @p ranks and @p formats are the tables job.rank and
 * job.format. */
void tm_summary_formats(const tm_table *ranks, const tm_table *formats, const tm_colors *colors);

/** Says which files were left out. */
void tm_summary_left_out(const tm_tables *tables, const tm_colors *colors);

/** Prints warnings on clocks and matching. */
void tm_summary_clocks(const tm_tables *tables, const tm_colors *colors);

#endif
