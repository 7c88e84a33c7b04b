/* The page that is being written: title, tables, program, blocks of data, in this order. */
#ifndef TMERGE_REPORT_PAGE_H
#define TMERGE_REPORT_PAGE_H

#include <stddef.h>

#include "base/vec.h"
#include "tmerge/status.h"

typedef struct tm_page tm_page;

enum { TM_PAGE_BYTES = 6000000 /* of a whole page, at most */ };

/**
 * Begins a page.
 * @param path   what it will be called when tm_page_commit returns TM_OK
 * @param title  any text
 * @param out    set only on TM_OK; ended by tm_page_commit or tm_page_abandon
 * @return       TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT, as all that follow
 */
tm_status tm_page_create(const char *path, const char *title, tm_page **out,
                         tm_error *err) TM_MUST_CHECK;

/**
 * Begins a page that is served: its bytes are appended to @p out, of char, which holds some of them
 * after a failure, and its policy lets it ask who serves it for more.
 */
tm_status tm_page_serve(tm_vec *out, const char *title, tm_page **page,
                        tm_error *err) TM_MUST_CHECK;

/** Puts the tables in, packed as a block is, which the program finds under the id "tables", and
 * then the program.
 * @param json  a document as report/json.h writes it */
tm_status tm_page_put_tables(tm_page *page, const char *json, size_t size,
                             tm_error *err) TM_MUST_CHECK;

/**
 * Puts a block of data behind the program: the bytes through zlib and base64, which need no
 * escaping, and whose sum finds damage.
 * @param id  of its element: letters, digits, '.', ':', '_' and '-'
 */
tm_status tm_page_put_block(tm_page *page, const char *id, const void *bytes, size_t size,
                            tm_error *err) TM_MUST_CHECK;

/** The same in two steps: packs, appending to @p packed, of unsigned char; says how many bytes of a
 * page that takes at most; and puts it in. */
tm_status tm_page_pack(const void *bytes, size_t size, tm_vec *packed, tm_error *err) TM_MUST_CHECK;
size_t tm_page_size_of(const tm_vec *packed);
tm_status tm_page_put_packed(tm_page *page, const char *id, const tm_vec *packed,
                             tm_error *err) TM_MUST_CHECK;

/** Bytes of the page so far. */
size_t tm_page_bytes(const tm_page *page);

/** Ends the page and gives it its name. @p page is gone, whatever comes of it. */
tm_status tm_page_commit(tm_page *page, tm_error *err) TM_MUST_CHECK;

/** Gives up: nothing is left. NULL is allowed. */
void tm_page_abandon(tm_page *page);

#endif
