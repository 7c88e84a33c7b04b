/* Chooses the most informative ranks and steps for a page that cannot hold all of them. */
#ifndef TMERGE_REPORT_PAGE_SELECTION_H
#define TMERGE_REPORT_PAGE_SELECTION_H

#include <stdbool.h>

#include "base/vec.h"
#include "report/step_sums.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

enum {
    TM_PAGE_RANKS_WHOLE = 1024, /* number of ranks of the largest job whose page has all ranks */
    TM_PAGE_RANKS = 256,        /* number of ranks that the page of a larger job has */
    TM_PAGE_STEPS_WHOLE = 512,
    TM_PAGE_STEPS = 384,
    TM_PAGE_CELLS_WHOLE = 5120, /* maximum of ranks * steps for which the page has rows for all
                                   ranks and steps */
    TM_PAGE_CELLS = 4096,
    TM_PAGE_ROWS = 8192 /* maximum number of rows of a table with neither ranks nor steps */
};

/** The ranks, or the steps, that the page keeps. */
typedef struct tm_page_kept {
    tm_vec kept; /* vector of int64_t, ascending */
    /* vector of int64_t, ascending: the ranks or steps that are kept in tables with a row for each
     * rank and step */
    tm_vec cells;
    size_t n; /* number of ranks or steps in the job */
} tm_page_kept;

typedef struct tm_page_selection {
    tm_page_kept ranks, steps;
    tm_step_time step_time;
} tm_page_selection;

/**
 * Chooses ranks and steps by the result tables of a store. These ranks are chosen:
 * - ranks that are named by the verdict, the plan or the worst operations;
 * - ranks with the largest or smallest cost, wait, compute or idle time;
 * - ranks with a truncated trace;
 * - the first and last ranks, and ranks at even distances.
 *
 * These steps are chosen:
 * - the steps with the most wait, the longest steps, and the most imbalanced steps;
 * - the first and last step of findings, and of the job;
 * - if the job is divided into stretches of equally many steps, the longest step of each stretch.
 *
 * @param tables  definitions without rows; empty again on return
 * @param out     must be freed with tm_page_selection_free, also after a failure
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_page_selection_make(const tm_store *store, const tm_tables *tables,
                                 tm_page_selection *out, tm_error *err) TM_MUST_CHECK;
void tm_page_selection_free(tm_page_selection *selection);

/** Returns whether the page leaves out at least one rank or step. */
bool tm_page_is_part(const tm_page_kept *kept);

/** tm_page_keeps returns whether the page keeps a rank or step. tm_page_keeps_cell returns whether
 * the page's tables with a row for each rank and step keep it. */
bool tm_page_keeps(const tm_page_kept *kept, int64_t number);
bool tm_page_keeps_cell(const tm_page_kept *kept, int64_t number);

#endif
