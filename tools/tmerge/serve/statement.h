/* Answers of tmerge serve to SQL statements. */
#ifndef TMERGE_SERVE_STATEMENT_H
#define TMERGE_SERVE_STATEMENT_H

#include "serve/http.h"
#include "tmerge/store.h"

/** Answers the query text=STATEMENT, percent-encoded, with JSON: the members of a table's
 * definition, as in the page, and "cells", the values by column. "more": true means that the cells
 * are only those of the first rows. While the statement runs, lets the server answer other
 * requests. */
void tm_statement_answer(const tm_store *store, tm_http_look *look, const void *query,
                         const tm_http_others *others, tm_http_answer *out);

#endif
