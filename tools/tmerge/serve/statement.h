/* Answers of tmerge serve to SQL statements. */
#ifndef TMERGE_SERVE_STATEMENT_H
#define TMERGE_SERVE_STATEMENT_H

#include "serve/http.h"
#include "tmerge/store.h"

/** Answers the query text=STATEMENT, which is percent-encoded. The answer has the members of a
 * table's definition as in the page, and "cells", a list for each column. If "more" is true, the
 * cells are only those of the first rows. */
void tm_statement_answer(const tm_store *store, tm_http_look *look, const void *query,
                         tm_http_answer *out);

#endif
