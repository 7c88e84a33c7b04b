#include "serial.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "base/sorted.h"
#include "timeline/build_timeline.h"

/* If at least this many kernels begin and end during another kernel of their stream, that kernel's
 * recorded end is wrong. The real traces that were checked (NVIDIA and AMD) have no such
 * kernels. */
enum { FOLLOWERS_LEAST = 3 };

/* Maximum depth of nested kernels of a stream; deeper kernels are ignored. */
enum { DEPTH_MOST = 16 };

/* Minimum number of kernels in a recording. In a shorter recording, the last kernel may really be
 * the longest. */
enum { RECORDED_LEAST = 16 };

/* Largest expected difference between the clocks of host and GPU [ns]. */
static const int64_t SKEW_NS = 1000000;

/* A kernel whose recorded end is after later kernels of its stream. */
typedef struct cover {
    uint32_t row;
    /* recorded end, and earliest possible end: the start of the next kernel */
    int64_t end_ns, least_ns;
    int64_t followers;
} cover;

/* A call in which the host waited until the device was idle. */
typedef struct waited {
    int64_t begin_ns, end_ns;
} waited;

/* A recording of the rank. `over_ns` is the later of two times: the last end of a host event, and
 * the last start of a device event. Only the last kernels can end after it. */
typedef struct recorded {
    int64_t begin_ns, over_ns;
    size_t calls, kernels;
} recorded;

typedef struct search {
    const tm_rank_view *view;
    recorded *recordings; /* ascending in begin */
    size_t n_recordings;
    tm_vec waits; /* vector of waited, ascending */
    size_t next;  /* index of the first wait after the launch of the previous kernel */
    tm_vec found; /* vector of cover */
    tm_serial *out;
} search;

static bool waits_for_device(const search *s, uint32_t row) {
    const uint32_t name = s->view->timeline->name[row];
    if (tm_call_kinds_at(s->view->call_kinds, name) != TM_CALL_KIND_SYNC)
        return false;
    const char *text = tm_names_text(s->view->names, name).bytes;
    return strstr(text, "DeviceSynchronize") || strstr(text, "CtxSynchronize");
}

TM_ORDER_BY(by_begin, waited, begin_ns, end_ns);

/* Returns the recording that contains a time.
 * @param r  start of the search: the recording of an earlier row of the track, or the first
 *           recording */
static recorded *recording_of(const search *s, recorded *r, int64_t begin_ns) {
    while (r + 1 < s->recordings + s->n_recordings && r[1].begin_ns <= begin_ns)
        r++;
    return r;
}

static bool look_at_track(search *s, const tm_track *track) {
    const tm_timeline *timeline = s->view->timeline;
    const bool device = track->kind == TM_TRACK_GPU;
    recorded *r = s->recordings;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        const uint8_t category = timeline->category[row];
        const int64_t begin_ns = timeline->begin_ns[row];
        const waited call = {begin_ns, begin_ns + timeline->duration_ns[row]};
        if (!tm_span_counts(timeline->kind[row], category))
            continue;
        r = recording_of(s, r, begin_ns);
        const int64_t ns = device ? begin_ns : call.end_ns;
        r->over_ns = ns > r->over_ns ? ns : r->over_ns;
        r->kernels += category == TM_CAT_KERNEL;
        if (category != TM_CAT_RUNTIME && category != TM_CAT_DRIVER)
            continue;
        r->calls++;
        if (waits_for_device(s, row) && !tm_vec_append(&s->waits, &call, 1))
            return false;
    }
    return true;
}

static bool scan(search *s) {
    const tm_timeline *timeline = s->view->timeline;
    bool ok = true;
    for (size_t i = 0; i < timeline->n_spans && timeline->spans[i].n_durations > 0; i++)
        s->recordings[s->n_recordings++] =
            (recorded){timeline->spans[i].begin_ns, timeline->spans[i].begin_ns, 0, 0};
    for (size_t t = 0; t < timeline->n_tracks && s->n_recordings > 0 && ok; t++)
        ok = look_at_track(s, &timeline->tracks[t]);
    /* the host may have waited for another device */
    if (s->view->devices->n > 1)
        s->waits.n = 0;
    if (ok && s->waits.n > 1)
        qsort(s->waits.data, s->waits.n, s->waits.size, by_begin);
    return ok;
}

/* Returns whether a kernel more than doubles its recording: it ends after everything else, by more
 * than the duration of everything else. This is impossible, because profilers write a kernel after
 * it has ended, and stop together with the device. */
static bool is_beyond_all(const search *s, const cover *c) {
    const recorded *r = recording_of(s, s->recordings, s->view->timeline->begin_ns[c->row]);
    return s->n_recordings > 0 && r->calls > 0 && r->kernels >= RECORDED_LEAST &&
           c->end_ns - r->over_ns > r->over_ns - r->begin_ns;
}

/* Returns the first wait for the device after the launch of a kernel; NULL if there is none. The
 * search starts at the previous result, because the next kernel of a stream usually has the same
 * wait or one of the next few waits. */
static const waited *wait_after(search *s, uint32_t row) {
    enum { NEAR = 8 };
    const tm_timeline *timeline = s->view->timeline;
    const uint32_t launch = timeline->launch[row];
    if (launch == TM_NO_EVENT || s->waits.n == 0)
        return NULL;
    const waited *v = s->waits.data;
    const int64_t end_ns = timeline->begin_ns[launch] + timeline->duration_ns[launch];
    size_t i = s->next, n = s->waits.n;
    if (i > 0 && v[i - 1].begin_ns >= end_ns)
        n = i, i = 0;
    for (int k = 0; k < NEAR && i < n && v[i].begin_ns < end_ns; k++)
        i++;
    if (i < n && v[i].begin_ns < end_ns)
        i += TM_FIRST_FROM(waited, begin_ns, &v[i], n - i, end_ns);
    s->next = i;
    return i < s->waits.n ? &v[i] : NULL;
}

/* Returns whether the host stopped waiting for the device before half of the kernel's recorded
 * duration had passed. */
static bool is_beyond_wait(const search *s, const cover *c, const waited *wait) {
    const tm_timeline *timeline = s->view->timeline;
    const int64_t ns = timeline->duration_ns[c->row];
    return wait && wait->end_ns > timeline->begin_ns[c->row] &&
           c->end_ns - wait->end_ns > SKEW_NS && c->end_ns - wait->end_ns > ns / 2;
}

/* Counts a kernel if it ends after the host has waited for it. With correct clocks, this is
 * impossible. */
static void note_late(search *s, const cover *c, const waited *wait) {
    const int64_t by_ns = wait ? c->end_ns - wait->end_ns : 0;
    s->out->late += by_ns > 0;
    s->out->latest_ns = by_ns > s->out->latest_ns ? by_ns : s->out->latest_ns;
}

/* Adds a kernel if its end is in doubt. If no kernel follows it, all of its time is in doubt. */
static bool add_cover(search *s, const cover *c) {
    const tm_timeline *timeline = s->view->timeline;
    tm_serial *out = s->out;
    const waited *wait = wait_after(s, c->row);
    if (c->followers < FOLLOWERS_LEAST && !is_beyond_wait(s, c, wait) && !is_beyond_all(s, c)) {
        note_late(s, c, wait);
        return true;
    }
    int64_t beyond_ns = c->end_ns - c->least_ns;
    out->kernels++;
    if (out->name == TM_NO_NAME || beyond_ns > out->beyond_ns) {
        out->name = timeline->name[c->row];
        out->begin_ns = timeline->begin_ns[c->row];
        out->followers = c->followers;
        out->beyond_ns = beyond_ns;
    }
    return tm_vec_append(&s->found, c, 1) != NULL;
}

/* @param open kernels that have not ended, each nested in the previous one */
static bool look_at_stream(search *s, const tm_track *track) {
    const tm_timeline *timeline = s->view->timeline;
    cover open[DEPTH_MOST];
    size_t n = 0;
    bool ok = true;
    for (uint32_t row = track->first; row < track->first + track->count && ok; row++) {
        int64_t begin_ns = timeline->begin_ns[row], end_ns = begin_ns + timeline->duration_ns[row];
        if (timeline->category[row] != TM_CAT_KERNEL || end_ns == begin_ns)
            continue;
        while (n > 0 && end_ns > open[n - 1].end_ns && ok)
            ok = add_cover(s, &open[--n]);
        for (size_t i = 0; i < n; i++)
            if (timeline->launch[row] == TM_NO_EVENT ||
                timeline->launch[row] != timeline->launch[open[i].row])
                open[i].least_ns = open[i].followers++ == 0 ? begin_ns : open[i].least_ns;
        if (n < DEPTH_MOST)
            open[n++] = (cover){.row = row, .end_ns = end_ns, .least_ns = begin_ns};
    }
    while (n > 0 && ok)
        ok = add_cover(s, &open[--n]);
    return ok;
}

TM_ORDER_BY(by_row, cover, row);

/* Computes the interval sets of the result. They do not contain the time in doubt. */
static bool leave_out(search *s) {
    const tm_timeline *timeline = s->view->timeline;
    tm_serial *out = s->out;
    const cover *c = s->found.data, *end = c + s->found.n;
    tm_intervals others = TM_INTERVALS();
    bool ok = true;
    qsort(s->found.data, s->found.n, s->found.size, by_row);
    for (uint32_t row = 0; row < timeline->n_events && ok; row++) {
        tm_role role = (tm_role)timeline->role[row];
        int64_t end_ns = timeline->begin_ns[row] + timeline->duration_ns[row];
        if (c < end && c->row == row)
            end_ns = c++->least_ns;
        if (role != TM_ROLE_NONE)
            ok = tm_intervals_add(role == TM_ROLE_COMPUTE ? &out->compute : &others,
                                  timeline->begin_ns[row], end_ns);
    }
    tm_intervals_normalise(&out->compute);
    tm_intervals_normalise(&others);
    ok = ok && tm_intervals_unite(&out->compute, &others, &out->busy);
    tm_vec_free(&others);
    return ok;
}

tm_status tm_serial_find(const tm_rank_view *view, tm_serial *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    search s = {.view = view,
                .recordings = calloc(timeline->n_spans + 1, sizeof *s.recordings),
                .waits = TM_VEC(waited),
                .found = TM_VEC(cover),
                .out = out};
    *out = (tm_serial){.name = TM_NO_NAME, .compute = TM_INTERVALS(), .busy = TM_INTERVALS()};
    bool ok = s.recordings && scan(&s);
    for (size_t t = 0; t < timeline->n_tracks && ok; t++)
        if (timeline->tracks[t].kind == TM_TRACK_GPU && timeline->tracks[t].stream >= 0)
            ok = look_at_stream(&s, &timeline->tracks[t]);
    if (ok && s.found.n > 0)
        ok = leave_out(&s);
    free(s.recordings);
    tm_vec_free(&s.waits);
    tm_vec_free(&s.found);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_serial_free(tm_serial *serial) {
    tm_vec_free(&serial->compute);
    tm_vec_free(&serial->busy);
}
