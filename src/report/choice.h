/* Which ranks and steps a page holds, where it cannot hold all: those that tell most. */
#ifndef TMERGE_REPORT_CHOICE_H
#define TMERGE_REPORT_CHOICE_H

#include <stdbool.h>

#include "base/vec.h"
#include "report/step_sums.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

enum {
    TM_PAGE_RANKS_WHOLE = 1024, /* a job of so many ranks is in its page with all of them, */
    TM_PAGE_RANKS = 256,        /* a larger one with these */
    TM_PAGE_STEPS_WHOLE = 512,
    TM_PAGE_STEPS = 384,
    TM_PAGE_CELLS_WHOLE = 5120, /* ranks times steps */
    TM_PAGE_CELLS = 4096,
    TM_PAGE_ROWS = 8192 /* of a table that has neither */
};

/** Ranks or steps of a job. */
typedef struct tm_page_kept {
    tm_vec kept;  /* of int64_t: ascending */
    tm_vec cells; /* of int64_t: those of the tables of ranks and steps, ascending */
    size_t n;     /* that the job has */
} tm_page_kept;

typedef struct tm_page_choice {
    tm_page_kept ranks, steps;
    tm_step_time step_time;
} tm_page_choice;

/**
 * Chooses, by the result tables of a store. Reads them one after another.
 *
 * Ranks: those that the verdict, the plan and the worst operations name; those that cost, wait,
 * compute, idle most and least; those whose trace is cut short; the first and the last ones; and of
 * the rest every so many. Steps: those of most waiting, the
 * longest and the most uneven; those that findings begin and end with; the first and the last ones;
 * and of each run of equally many steps the longest.
 *
 * @param tables  with the definitions, each empty, and empty again afterwards
 * @param out     freed by tm_page_choice_free whatever comes of it
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_page_choice_make(const tm_store *store, const tm_tables *tables, tm_page_choice *out,
                              tm_error *err) TM_MUST_CHECK;
void tm_page_choice_free(tm_page_choice *choice);

/** Whether any is left out. */
bool tm_page_is_part(const tm_page_kept *kept);

/** Whether a rank or a step is kept, and whether it is in tables of ranks and steps. */
bool tm_page_keeps(const tm_page_kept *kept, int64_t number);
bool tm_page_keeps_cell(const tm_page_kept *kept, int64_t number);

#endif
