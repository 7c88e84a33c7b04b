/* The blocks of a page that its timeline is drawn from. */
#ifndef TMERGE_REPORT_TIMELINE_H
#define TMERGE_REPORT_TIMELINE_H

#include "page.h"
#include "timeline_plan.h"
#include "tmerge/store.h"

/** The decoders stand in tools/web/src/timeline/decode.ts; what is changed here changes there. */
typedef struct tm_timeline_blocks {
    tm_bytes job;        /* ranks, hosts, parts, names */
    tm_bytes strip;      /* what all ranks together did */
    tm_bytes coverage;   /* what each did */
    tm_bytes operations; /* matched, with their members */
    tm_bytes events;     /* within the budget */
} tm_timeline_blocks;

/**
 * Makes the blocks. Reads the store twice, some hundred thousand events at a time.
 *
 * @param tables  every result table of the store, as it was read
 * @param budget  what a page may hold: tm_timeline_budget_of the ranks
 * @param out     freed by tm_timeline_blocks_free whatever comes of it
 * @return        TM_OK; TM_ERR_INPUT: the store is damaged; TM_ERR_FAULT
 */
tm_status tm_timeline_blocks_make(const tm_store *store, const tm_tables *tables,
                                  const tm_timeline_budget *budget, tm_timeline_blocks *out,
                                  tm_error *err) TM_MUST_CHECK;
void tm_timeline_blocks_free(tm_timeline_blocks *blocks);

/** Makes them and puts them into the page as "timeline.job" and so on.
 * @param choice  the ranks that have lanes
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_OUTPUT; TM_ERR_FAULT */
tm_status tm_report_timeline(const tm_store *store, const tm_tables *tables,
                             const tm_page_choice *choice, tm_page *page,
                             tm_error *err) TM_MUST_CHECK;

#endif
