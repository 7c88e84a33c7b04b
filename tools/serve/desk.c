#include "serve/desk.h"

#include <stdlib.h>
#include <string.h>

#include "report/timeline.h"
#include "tmerge/store.h"

struct tm_desk {
    tm_store *store;
    tm_vec page; /* of char */
};

static tm_status open_all(const char *path, tm_desk *desk, tm_error *err) {
    const char *slash = strrchr(path, '/');
    TM_TRY(tm_store_open(path, &desk->store, err));
    TM_TRY(
        tm_report_serve(desk->store, slash ? slash + 1 : path, TMERGE_VERSION, &desk->page, err));
    tm_vec_trim(&desk->page);
    return TM_OK;
}

tm_status tm_desk_open(const char *path, tm_desk **out, tm_error *err) {
    tm_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return tm_fail_memory(err);
    desk->page = TM_VEC(char);
    tm_status status = open_all(path, desk, err);
    if (status == TM_OK)
        *out = desk;
    else
        tm_desk_close(desk);
    return status;
}

void tm_desk_close(tm_desk *desk) {
    if (!desk)
        return;
    tm_vec_free(&desk->page);
    tm_store_close(desk->store);
    free(desk);
}

void tm_desk_answer(void *context, tm_serve_route route, tm_http_look *look, const void *query,
                    tm_http_answer *out) {
    const tm_desk *desk = context;
    (void)route;
    (void)look;
    (void)query;
    *out = (tm_http_answer){200, "text/html; charset=utf-8", desk->page.data, desk->page.n, true};
}
