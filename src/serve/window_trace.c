#include "serve/window_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/now.h"
#include "tmerge/export.h"

enum { EVENTS_MOST = 1 << 20, MILLI = 1000000 };

typedef struct builder {
    const tm_tiler *tiler;
    const tm_tile_wish *wish;
    const tm_timeline *ranks;
    size_t n_ranks;
    bool *wanted;   /* owned; [n_ranks] */
    int64_t end_ns; /* time at which the limit is reached; no further rank is started after it */
    int64_t budget_ns;
    tm_export *x;
} builder;

static tm_status write_rank(builder *m, size_t at, tm_error *err) {
    const tm_serve_wish own = {
        .at = at,
        .from_ns = m->tiler->begin_ns + m->wish->from,
        .to_ns = m->tiler->begin_ns + m->wish->to,
        .gpu_most = EVENTS_MOST / m->wish->n_ranks / 2,
        .host_most = EVENTS_MOST / m->wish->n_ranks / 2,
        .host = true,
    };
    tm_timeline window;
    bool gpu, host;
    tm_status status = tm_serve_events_read(m->tiler->events, &own, &window, &gpu, &host, err);
    if (status == TM_OK && !(gpu && host))
        status = tm_fail(err, TM_ERR_USAGE, NULL, -1,
                         "too many events for one answer: zoom in, or use tmerge export");
    if (status == TM_OK)
        status = tm_export_rank(m->x, &window, NULL, err);
    tm_timeline_destroy(&window);
    return status;
}

/* Fails because the time is up. If only some ranks were written, the trace would look complete in
 * Perfetto. */
static tm_status fail_late(const builder *m, size_t written, tm_error *err) {
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "only %zu of %zu ranks could be written in %lld ms, the limit for one answer: "
                   "zoom in, or use tmerge export",
                   written, m->wish->n_ranks, (long long)(m->budget_ns / MILLI));
}

static tm_status write_ranks(builder *m, const tm_export_format *format, tm_error *err) {
    TM_TRY(tm_serve_events_want(m->tiler->events, format->attrs, err));
    tm_status status = TM_OK;
    size_t written = 0;
    for (size_t at = 0; at < m->n_ranks && status == TM_OK; at++) {
        if (!m->wanted[at])
            continue;
        status = tm_now_ns() < m->end_ns ? write_rank(m, at, err) : fail_late(m, written, err);
        written++;
    }
    tm_error ignored;
    if (tm_serve_events_want(m->tiler->events, 0, &ignored) != TM_OK)
        return tm_fail_memory(err);
    return status == TM_OK ? tm_export_end(m->x, err) : status;
}

static tm_status export_to(builder *m, const tm_trace_job *job, int fd, tm_error *err) {
    const tm_export_format *format = tm_export_format_find("perfetto");
    const tm_export_job all = {
        .names = m->tiler->names,
        .ranks = m->ranks,
        .hosts = job->hosts,
        .n_ranks = m->n_ranks,
        .wanted = m->wanted,
        .begin_ns = m->tiler->begin_ns,
        .from_ns = m->tiler->begin_ns + m->wish->from,
        .to_ns = m->tiler->begin_ns + m->wish->to,
        .tool_version = job->version,
    };
    TM_TRY(tm_export_create(format, &all, fd, "the trace", &m->x, err));
    tm_status status = write_ranks(m, format, err);
    tm_export_destroy(m->x);
    return status;
}

static tm_status read_back(int fd, tm_vec *out, tm_error *err) {
    off_t size = lseek(fd, 0, SEEK_END);
    char *to = size > 0 ? tm_vec_append(out, NULL, (size_t)size) : NULL;
    if (size > 0 && !to)
        return tm_fail_memory(err);
    for (off_t done = 0; done < size;) {
        ssize_t n = pread(fd, to + done, (size_t)(size - done), done);
        if (n <= 0)
            return tm_fail(err, TM_ERR_FAULT, NULL, -1, "the temporary trace cannot be read");
        done += n;
    }
    return TM_OK;
}

static bool choose(builder *m) {
    size_t found = 0;
    for (size_t i = 0, at = 0; i < m->wish->n_ranks; i++) {
        while (at < m->n_ranks && m->ranks[at].rank < m->wish->ranks[i])
            at++;
        if (at < m->n_ranks && m->ranks[at].rank == m->wish->ranks[i]) {
            m->wanted[at] = true;
            found++;
        }
    }
    return found == m->wish->n_ranks;
}

tm_status tm_serve_trace(const tm_tiler *tiler, const tm_trace_job *job, const tm_tile_wish *wish,
                         tm_vec *out, tm_error *err) {
    builder m = {.tiler = tiler,
                 .wish = wish,
                 .end_ns = tm_now_ns() + job->budget_ns,
                 .budget_ns = job->budget_ns};
    m.ranks = tm_serve_ranks(tiler->events, &m.n_ranks);
    m.wanted = calloc(m.n_ranks, sizeof *m.wanted);
    FILE *file = tmpfile(); /* a file without a name, which is deleted when it is closed */
    tm_status status = m.wanted && file ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && !choose(&m))
        status = tm_fail(err, TM_ERR_USAGE, NULL, -1, "the store does not have this rank");
    if (status == TM_OK)
        status = export_to(&m, job, fileno(file), err);
    if (status == TM_OK)
        status = read_back(fileno(file), out, err);
    if (file)
        (void)fclose(file);
    free(m.wanted);
    return status;
}
