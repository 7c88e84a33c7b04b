#include "serve/row_reader.h"

#include <stdlib.h>

#include "report/timeline_events.h"

enum { WHAT = TM_ROWS_NAMES | TM_ROWS_TIMES | TM_ROWS_KINDS };

struct tm_serve_reader {
    const tm_tiler *tiler;
    tm_store_pieces *pieces;
    const tm_timeline *ranks; /* [n] */
    size_t n;
};

tm_status tm_serve_reader_open(const tm_tiler *tiler, tm_serve_reader **out, tm_error *err) {
    const tm_store_visit_plan plan = {.records = 0};
    tm_serve_reader *r = calloc(1, sizeof *r);
    if (!r)
        return tm_fail_memory(err);
    r->tiler = tiler;
    r->ranks = tm_serve_ranks(tiler->events, &r->n);
    tm_status status =
        tm_serve_events_pieces(tiler->events, &plan, TM_SERVE_BLOCK_ROWS, &r->pieces, err);
    if (status == TM_OK)
        *out = r;
    else
        tm_serve_reader_close(r);
    return status;
}

void tm_serve_reader_close(tm_serve_reader *r) {
    if (!r)
        return;
    tm_store_close_pieces(r->pieces);
    free(r);
}

const tm_timeline *tm_serve_reader_ranks(const tm_serve_reader *r, size_t *n) {
    *n = r->n;
    return r->ranks;
}

tm_status tm_serve_reader_find(const tm_serve_reader *r, int64_t rank, size_t *at, tm_error *err) {
    return tm_serve_find_rank(r->tiler->events, rank, at, err);
}

tm_status tm_serve_reader_rows(const tm_serve_reader *r, size_t at, size_t first, unsigned what,
                               const tm_timeline **out, tm_error *err) {
    TM_TRY(tm_store_seek_piece(r->pieces, at, first, err));
    return tm_store_read_piece(r->pieces, at, first, what, out, err);
}

int64_t tm_serve_drawn(const tm_serve_reader *r, size_t at, int64_t recorded_ns) {
    const tm_timeline *rank = &r->ranks[at];
    return tm_rank_clock_true(&rank->clock, recorded_ns) + tm_tiler_shift(r->tiler, rank) -
           r->tiler->begin_ns;
}

bool tm_serve_reader_step(const tm_serve_reader *r, size_t at, int64_t step,
                          tm_serve_stretch *out) {
    const tm_timeline *rank = &r->ranks[at];
    *out = (tm_serve_stretch){INT64_MIN / 4, INT64_MAX / 4};
    for (size_t k = 0; k < rank->n_steps && step != TM_SERVE_NO_STEP; k++)
        if (rank->steps[k].number == step) {
            *out = (tm_serve_stretch){tm_serve_drawn(r, at, rank->steps[k].begin_ns),
                                      tm_serve_drawn(r, at, rank->steps[k].end_ns)};
            return true;
        }
    return step == TM_SERVE_NO_STEP;
}

/* Reads the next block that may overlap the time range. If there is none, sets walk->piece to NULL.
 */
static tm_status read_block(tm_serve_walk *w, tm_error *err) {
    const tm_tiler *tiler = w->reader->tiler;
    const tm_timeline *rank = &w->reader->ranks[w->at];
    const size_t gpu = tm_serve_gpu_rows(rank), end = w->host ? rank->n_events : gpu;
    const int64_t base = tiler->begin_ns - tm_tiler_shift(tiler, rank);
    w->piece = NULL;
    if (w->next == 0 && w->host)
        w->next = gpu;
    for (; w->next < end; w->next = w->first + TM_SERVE_BLOCK_ROWS) {
        w->first = w->next / TM_SERVE_BLOCK_ROWS * TM_SERVE_BLOCK_ROWS;
        if (!tm_serve_events_reach(tiler->events, w->at, w->first, base + w->from_ns,
                                   base + w->to_ns))
            continue;
        TM_TRY(tm_serve_reader_rows(w->reader, w->at, w->first, WHAT, &w->piece, err));
        w->i = w->next - w->first;
        w->next = w->first + TM_SERVE_BLOCK_ROWS;
        return TM_OK;
    }
    return TM_OK;
}

static bool is_wanted(tm_serve_walk *w, tm_serve_event *out) {
    const tm_timeline *rank = &w->reader->ranks[w->at], *piece = w->piece;
    const uint32_t row = (uint32_t)(w->first + w->i);
    if (!w->track || row - w->track->first >= w->track->count)
        w->track = tm_timeline_track(rank, row);
    if ((w->track->kind != TM_TRACK_GPU) != w->host)
        return false;
    out->begin_ns = tm_serve_drawn(w->reader, w->at, piece->begin_ns[w->i]);
    out->duration_ns = piece->duration_ns[w->i];
    if (out->begin_ns >= w->to_ns || out->begin_ns + out->duration_ns < w->from_ns ||
        tm_shown_as(piece, w->track, w->i) == TM_SHOWN_NOT)
        return false;
    out->name = piece->name[w->i];
    out->kind = tm_shown_kind_of(piece->role[w->i], piece->category[w->i], w->host, NULL);
    return true;
}

tm_status tm_serve_walk_next(tm_serve_walk *w, tm_serve_event *out, bool *found, tm_error *err) {
    for (;; w->i++) {
        if (!w->piece || w->i >= w->piece->n_events)
            TM_TRY(read_block(w, err));
        *found = w->piece && is_wanted(w, out);
        if (*found)
            w->i++;
        if (*found || !w->piece)
            return TM_OK;
    }
}
