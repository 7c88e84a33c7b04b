/* The blocks of a page that its timeline is drawn from. */
#ifndef TMERGE_REPORT_TIMELINE_H
#define TMERGE_REPORT_TIMELINE_H

#include "page.h"
#include "timeline_survey.h"
#include "tmerge/store.h"

/** The decoders stand in tools/web/src/timeline/decode.ts; what is changed here changes there. */
typedef struct tm_timeline_blocks {
    tm_bytes job;        /* ranks, hosts, parts, names */
    tm_bytes strip;      /* what all ranks together did */
    tm_bytes coverage;   /* what each did */
    tm_bytes operations; /* matched, with their members */
    tm_bytes events;     /* within the budget */
    tm_bytes details;    /* of these, what their panels show besides */
} tm_timeline_blocks;

/**
 * Makes the blocks.
 *
 * @param source  who has the timelines; NULL: the store, which is read twice then, some hundred
 *                thousand events at a time
 * @param tables  every result table of the store, as it was read
 * @param budget  what a page may hold: tm_timeline_budget_of the ranks
 * @param out     freed by tm_timeline_blocks_free whatever comes of it
 * @return        TM_OK; TM_ERR_INPUT: the store is damaged; TM_ERR_FAULT
 */
tm_status tm_timeline_blocks_make(const tm_store *store, const tm_page_source *source,
                                  const tm_tables *tables, const tm_timeline_budget *budget,
                                  tm_timeline_blocks *out, tm_error *err) TM_MUST_CHECK;
void tm_timeline_blocks_free(tm_timeline_blocks *blocks);

/** What a page is made of. */
typedef struct tm_page_origin {
    const tm_store *store;
    const tm_page_source *source; /* of the same timelines, where they are at hand; else NULL */
    const tm_tables *at_hand;     /* the tables that were written to it; else NULL */
    const char *version;          /* of the tool */
    const char *served;           /* name of the store whose page is served; NULL: it is a file */
    tm_vec *memory;               /* where that goes */
} tm_page_origin;

/**
 * The same page as a server gives it: it can ask for more, and says who serves what.
 *
 * @param name  of the store, as people call it
 * @param out   of char: the page is appended; holds some of it after a failure
 * @return      as tm_report_write
 */
tm_status tm_report_serve(const tm_store *store, const char *name, const char *version, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/** As tm_report_write, and as tm_report_serve where the origin is served. */
tm_status tm_report_write_from(const tm_page_origin *origin, const char *path,
                               tm_error *err) TM_MUST_CHECK;

/** Makes them and puts them into the page as "timeline.job" and so on.
 * @param source  likewise
 * @param choice  the ranks that have lanes
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_OUTPUT; TM_ERR_FAULT */
tm_status tm_report_timeline(const tm_store *store, const tm_page_source *source,
                             const tm_tables *tables, const tm_page_choice *choice, tm_page *page,
                             tm_error *err) TM_MUST_CHECK;

#endif
