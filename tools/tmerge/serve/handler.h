/* Request handler of tmerge serve for one store. */
#ifndef TMERGE_SERVE_HANDLER_H
#define TMERGE_SERVE_HANDLER_H

#include "serve/http.h"

typedef struct tm_handler tm_handler;

/** Opens a store and makes its page.
 * @param out  set only on TM_OK; closed by the caller
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_handler_open(const char *path, tm_handler **out, tm_error *err) TM_MUST_CHECK;
void tm_handler_close(tm_handler *handler);

/** Returns whether the store has levels of its timeline. A store of an older tmerge may not. */
bool tm_handler_has_levels(const tm_handler *handler);

/** Answers a request, as tm_http_plan.answer. @param context the handler */
void tm_handler_answer(void *context, tm_serve_route route, tm_http_look *look, const void *query,
                       const tm_http_others *others, tm_http_answer *out);

#endif
