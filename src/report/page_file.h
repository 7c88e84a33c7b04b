/* Writes a page: title, tables, program, blocks of data, in this order. */
#ifndef TMERGE_REPORT_PAGE_FILE_H
#define TMERGE_REPORT_PAGE_FILE_H

#include <stddef.h>

#include "base/vec.h"
#include "tmerge/status.h"

typedef struct tm_page tm_page;

enum { TM_PAGE_BYTES = 6000000 /* maximum size of a whole page */ };

/**
 * Starts a page.
 *
 * @param path   final name of the file; the file gets this name in tm_page_commit
 * @param title  any bytes
 * @param out    set only on TM_OK; the caller must end it with tm_page_commit or tm_page_abandon
 * @return       TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT. The functions below return the same statuses.
 */
tm_status tm_page_create(const char *path, const char *title, tm_page **out,
                         tm_error *err) TM_MUST_CHECK;

/**
 * Starts a page for a server. The page's security policy allows requests to the server.
 *
 * @param out  vector of char: the page is appended; after a failure, only a part of it
 */
tm_status tm_page_serve(tm_vec *out, const char *title, tm_page **page,
                        tm_error *err) TM_MUST_CHECK;

/** Writes the tables as a packed block with the id "tables", then the program.
 * @param json a document as written by report/page_json.h */
tm_status tm_page_put_tables(tm_page *page, const char *json, size_t size,
                             tm_error *err) TM_MUST_CHECK;

/**
 * Write blocks of data after the program. A block is compressed with zlib and encoded in base64. So
 * no byte needs an escape, and zlib's checksum reveals damage. tm_page_pack appends the packed
 * bytes to @p packed, of unsigned char. tm_page_size_of returns the maximum number of bytes that a
 * packed block takes in a page.
 *
 * @param id  id of the block's element: letters, digits, '.', ':', '_' and '-'
 */
tm_status tm_page_pack(const void *bytes, size_t size, tm_vec *packed, tm_error *err) TM_MUST_CHECK;
size_t tm_page_size_of(const tm_vec *packed);
tm_status tm_page_put_packed(tm_page *page, const char *id, const tm_vec *packed,
                             tm_error *err) TM_MUST_CHECK;

/** Returns the number of bytes written so far. */
size_t tm_page_bytes(const tm_page *page);

/** Ends the page and gives it its final name. @p page is freed, also after a failure. */
tm_status tm_page_commit(tm_page *page, tm_error *err) TM_MUST_CHECK;

/** Discards the page. @p page may be NULL. */
void tm_page_abandon(tm_page *page);

#endif
