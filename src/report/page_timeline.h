/* The blocks of data from which a page draws its timeline. */
#ifndef TMERGE_REPORT_PAGE_TIMELINE_H
#define TMERGE_REPORT_PAGE_TIMELINE_H

#include "page_file.h"
#include "timeline_scan.h"
#include "tmerge/store.h"

/** The encoded blocks. tools/web/src/timeline/decode.ts decodes them: change both together. */
typedef struct tm_timeline_blocks {
    tm_bytes job;        /* ranks, hosts, parts and names */
    tm_bytes strip;      /* activity of all ranks together */
    tm_bytes coverage;   /* activity of each rank */
    tm_bytes operations; /* matched operations with their participations */
    tm_bytes events;     /* chosen events, within the budget */
    tm_bytes details;    /* details of these events for their panels */
} tm_timeline_blocks;

/** Where a page's data comes from, and where the page goes. */
typedef struct tm_page_origin {
    const tm_store *store;
    /* timelines in memory; NULL: read them from the store */
    const tm_page_source *source;
    const tm_tables *at_hand; /* tables in memory; NULL: read them from the store */
    const char *version;      /* version of tmerge */
    const char *served;       /* name of the store if the page is served; NULL: it is a file */
    tm_vec *memory;           /* vector of char: receives the page for a server; NULL: the page is a
                                 file */
} tm_page_origin;

/**
 * Like tm_report_write, but writes the page for a server. The page also shows the name of the
 * store, and can request more data.
 *
 * @param name  display name of the store
 * @param out   vector of char: the page is appended; after a failure, only a part of it
 * @return      as tm_report_write
 */
tm_status tm_report_serve(const tm_store *store, const char *name, const char *version, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/** Writes the page of tm_report_write, or of tm_report_serve if origin->served is set. */
tm_status tm_report_write_from(const tm_page_origin *origin, const char *path,
                               tm_error *err) TM_MUST_CHECK;

/**
 * Makes the blocks of the timeline, and writes them to the page. Their ids are "timeline.job" and
 * so on.
 *
 * @param source  timelines; NULL: the store is read
 * @param selection  the ranks that have lanes
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_OUTPUT; TM_ERR_FAULT
 */
tm_status tm_report_timeline(const tm_store *store, const tm_page_source *source,
                             const tm_tables *tables, const tm_page_selection *selection,
                             tm_page *page, tm_error *err) TM_MUST_CHECK;

#endif
