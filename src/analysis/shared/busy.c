#include "busy.h"

#include "timeline/host_comm.h"

/* Returns set number i of a tm_busy; NULL if i is too large. */
static tm_intervals *sets_of(tm_busy *busy, size_t i) {
    tm_intervals *sets[] = {
        &busy->compute,          &busy->communication,  &busy->memory,        &busy->overlap,
        &busy->exposed_comm,     &busy->exposed_memory, &busy->exposed_wait,  &busy->window,
        &busy->exposed_transfer, &busy->busy,           &busy->exposed_least,
    };
    return i < sizeof sets / sizeof *sets ? sets[i] : NULL;
}

/* Stands for all devices of the rank, in place of a device number. */
static const int32_t ALL_DEVICES = -1;

/* Adds the events of a track to P, C or M by their roles. */
static bool collect_track(const tm_timeline *timeline, const tm_track *track, tm_busy *out) {
    tm_intervals *by_role[] = {
        [TM_ROLE_NONE] = NULL,
        [TM_ROLE_COMPUTE] = &out->compute,
        [TM_ROLE_COMMUNICATION] = &out->communication,
        [TM_ROLE_MEMORY] = &out->memory,
    };
    for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
        tm_intervals *set = by_role[timeline->role[row]];
        if (!set)
            continue;
        int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
        begin = tm_opened(timeline, begin);
        out->any = true;
        if (end > begin && !tm_intervals_add(set, begin, end))
            return false;
    }
    return true;
}

/* Collects P, C and M of one device or of all devices. The window is always that of the whole
 * rank. */
static bool collect(const tm_timeline *timeline, int32_t device, tm_busy *out) {
    for (size_t k = 0; k < timeline->n_tracks; k++) {
        const tm_track *track = &timeline->tracks[k];
        const bool counts =
            device == ALL_DEVICES || (track->kind == TM_TRACK_GPU && track->device == device);
        if (counts && !collect_track(timeline, track, out))
            return false;
    }
    /* Each span has its own window, because the GPU may have worked unrecorded between spans. */
    for (size_t i = 0; i < timeline->n_spans; i++)
        if (timeline->spans[i].n_gpu_events > 0 &&
            !tm_intervals_add(&out->window, tm_opened(timeline, timeline->spans[i].gpu_begin_ns),
                              timeline->spans[i].gpu_end_ns))
            return false;
    tm_intervals_normalise(&out->compute);
    tm_intervals_normalise(&out->communication);
    tm_intervals_normalise(&out->memory);
    tm_intervals_normalise(&out->window);
    return true;
}

/* Times of communication kernels on the rank's own clock. Each kernel is split into a wait and the
 * transfer after it. If an operation lacks ranks, only a minimum of the wait is known (`least`). */
typedef struct split {
    tm_intervals wait, transfer, least;
} split;

static bool collect_waits(const tm_timeline *timeline, split *out, bool *any) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t n = timeline->answers ? timeline->n_attrs[TM_ATTR_COLLECTIVE] : 0;
    for (size_t i = 0; i < n; i++) {
        /* below 0: unknown, so the kernel adds neither a wait nor a transfer */
        int64_t waited = timeline->answers[i].wait_ns;
        const int64_t least_ns = timeline->answers[i].least_ns;
        int64_t begin = timeline->begin_ns[attrs[i].event];
        int64_t end = begin + timeline->duration_ns[attrs[i].event];
        const int64_t came = begin + least_ns;
        begin = tm_opened(timeline, begin);
        *any = *any || waited >= 0;
        if (came > begin && !tm_intervals_add(&out->least, begin, came))
            return false;
        if (waited >= 0 && (!tm_intervals_add(&out->wait, begin, begin + waited) ||
                            !tm_intervals_add(&out->transfer, begin + waited, end)))
            return false;
    }
    tm_intervals_normalise(&out->wait);
    tm_intervals_normalise(&out->transfer);
    tm_intervals_normalise(&out->least);
    return true;
}

/* Splits exposed communication into waits and transfers. If one kernel waits while another
 * transfers, the time counts as transfer. */
static bool split_exposed(const tm_timeline *timeline, tm_busy *out) {
    split s = {TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS()};
    tm_intervals shown = TM_INTERVALS(), bare = TM_INTERVALS(), rest = TM_INTERVALS();
    bool ok = collect_waits(timeline, &s, &out->any_wait) &&
              tm_intervals_subtract(&s.transfer, &out->compute, &out->exposed_transfer) &&
              tm_intervals_subtract(&s.wait, &out->compute, &shown) &&
              tm_intervals_subtract(&shown, &s.transfer, &out->exposed_wait) &&
              tm_intervals_subtract(&s.least, &out->compute, &bare) &&
              tm_intervals_subtract(&bare, &s.transfer, &rest) &&
              tm_intervals_subtract(&rest, &s.wait, &out->exposed_least);
    tm_intervals *sets[] = {&s.wait, &s.transfer, &s.least, &shown, &bare, &rest};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        tm_vec_free(sets[i]);
    return ok;
}

static tm_status compute(const tm_timeline *timeline, int32_t device, tm_busy *out, tm_error *err) {
    *out = (tm_busy){.any = false};
    for (size_t i = 0; sets_of(out, i); i++)
        *sets_of(out, i) = TM_INTERVALS();
    tm_intervals memory_only = TM_INTERVALS(), kernels = TM_INTERVALS();
    bool ok = collect(timeline, device, out) &&
              tm_timeline_add_hidden(timeline, &out->communication, &out->compute) &&
              tm_intervals_unite(&out->compute, &out->communication, &kernels) &&
              tm_intervals_unite(&kernels, &out->memory, &out->busy);
    tm_vec_free(&kernels);
    ok = ok && tm_intervals_intersect(&out->communication, &out->compute, &out->overlap) &&
         tm_intervals_subtract(&out->communication, &out->compute, &out->exposed_comm) &&
         tm_intervals_subtract(&out->memory, &out->compute, &memory_only) &&
         tm_intervals_subtract(&memory_only, &out->communication, &out->exposed_memory) &&
         (device != ALL_DEVICES || split_exposed(timeline, out));
    tm_vec_free(&memory_only);
    for (size_t i = 0; sets_of(out, i); i++)
        tm_vec_trim(sets_of(out, i));
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Clears all sets except communication and window, if the rank's recording has only
 * communication. */
static void forget_others(tm_busy *out) {
    out->any_wait = false;
    out->comm_alone = true;
    for (size_t i = 0; sets_of(out, i); i++)
        if (sets_of(out, i) != &out->communication && sets_of(out, i) != &out->window)
            tm_vec_free(sets_of(out, i));
}

tm_status tm_busy_compute(const tm_timeline *timeline, tm_busy *out, tm_error *err) {
    TM_TRY(compute(timeline, ALL_DEVICES, out, err));
    if (tm_timeline_lacks_compute(timeline))
        forget_others(out);
    return TM_OK;
}

/* Lists the devices of the GPU tracks, ascending. */
static bool list_devices(const tm_timeline *timeline, tm_vec *out) {
    bool ok = true;
    for (size_t k = 0; k < timeline->n_tracks && ok; k++) {
        const tm_track *track = &timeline->tracks[k];
        tm_device_busy *v = out->data;
        size_t at = 0;
        if (track->kind != TM_TRACK_GPU || track->device < 0)
            continue;
        while (at < out->n && v[at].device < track->device)
            at++;
        if (at < out->n && v[at].device == track->device)
            continue;
        v = tm_vec_append(out, NULL, 1);
        ok = v != NULL;
        v = out->data;
        for (size_t i = out->n; ok && i > at + 1; i--)
            v[i - 1] = v[i - 2];
        if (ok)
            v[at] = (tm_device_busy){.device = track->device};
    }
    return ok;
}

/* Returns whether a device computes in at least five of the ten equal parts of the rank's
 * recording. */
static bool computes_throughout(const tm_busy *busy) {
    enum { PARTS = 10 };
    const tm_interval *window = busy->window.data;
    int parts = 0;
    if (busy->window.n == 0)
        return false;
    const int64_t begin = window[0].begin_ns, length = window[busy->window.n - 1].end_ns - begin;
    for (int i = 0; i < PARTS; i++)
        parts += tm_intervals_length_in(&busy->compute, begin + length / PARTS * i,
                                        begin + length / PARTS * (i + 1)) > 0;
    return 2 * parts >= PARTS;
}

/* Removes the devices that are not the rank's own. If one device is left, removes it, too. */
static void leave_own(const tm_timeline *timeline, tm_vec *devices) {
    tm_device_busy *v = devices->data;
    const bool whole_job = timeline->world_size <= 1;
    int64_t most = 0;
    size_t n = 0, n_working = 0;
    for (size_t i = 0; i < devices->n; i++) {
        const int64_t busy = tm_intervals_length(&v[i].busy.busy);
        most = busy > most ? busy : most;
    }
    for (size_t i = 0; i < devices->n; i++) {
        v[i].works = tm_intervals_length(&v[i].busy.busy) > most / TM_DEVICE_WORKS;
        n_working += v[i].works;
    }
    for (size_t i = 0; i < devices->n; i++) {
        const bool touched = v[i].busy.any && n_working > 1 && whole_job;
        const bool used = (n_working > 1 || whole_job) && computes_throughout(&v[i].busy);
        if (v[i].works || touched || used)
            v[n++] = v[i];
        else
            tm_busy_free(&v[i].busy);
    }
    devices->n = n;
    if (n == 1)
        tm_busy_free_devices(devices);
}

tm_status tm_busy_by_device(const tm_timeline *timeline, tm_vec *out, tm_error *err) {
    *out = TM_VEC(tm_device_busy);
    tm_status status = list_devices(timeline, out) ? TM_OK : tm_fail_memory(err);
    if (out->n < 2)
        out->n = 0;
    tm_device_busy *v = out->data;
    for (size_t i = 0; i < out->n && status == TM_OK; i++)
        status = compute(timeline, v[i].device, &v[i].busy, err);
    if (status == TM_OK)
        leave_own(timeline, out);
    return status;
}

void tm_busy_free_devices(tm_vec *devices) {
    tm_device_busy *v = devices->data;
    for (size_t i = 0; i < devices->n; i++)
        tm_busy_free(&v[i].busy);
    tm_vec_free(devices);
}

void tm_busy_free(tm_busy *busy) {
    for (size_t i = 0; sets_of(busy, i); i++)
        tm_vec_free(sets_of(busy, i));
}

/* Busy time (P u C u M) consists of the disjoint sets P, C \ P and (M \ P) \ C. */
static void complete(tm_busy_times *t, int64_t window_ns) {
    t->busy_ns = t->compute_ns + t->exposed_comm_ns + t->exposed_memory_ns;
    t->window_ns = window_ns;
    t->idle_ns = t->window_ns - t->busy_ns;
}

tm_busy_times tm_busy_rank(const tm_busy *busy) {
    tm_busy_times t = {
        .compute_ns = tm_intervals_length(&busy->compute),
        .comm_ns = tm_intervals_length(&busy->communication),
        .memory_ns = tm_intervals_length(&busy->memory),
        .overlap_ns = tm_intervals_length(&busy->overlap),
        .exposed_comm_ns = tm_intervals_length(&busy->exposed_comm),
        .exposed_memory_ns = tm_intervals_length(&busy->exposed_memory),
        .exposed_wait_ns = tm_intervals_length(&busy->exposed_wait),
        .exposed_transfer_ns = tm_intervals_length(&busy->exposed_transfer),
        .exposed_least_ns = tm_intervals_length(&busy->exposed_least),
    };
    complete(&t, tm_intervals_length(&busy->window));
    return t;
}

int64_t tm_step_window(const tm_timeline *timeline, const tm_step *step) {
    int64_t sum = 0;
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        int64_t begin = span->begin_ns > step->begin_ns ? span->begin_ns : step->begin_ns;
        int64_t end = span->end_ns < step->end_ns ? span->end_ns : step->end_ns;
        sum += span->n_durations > 0 && end > begin ? end - begin : 0;
    }
    return sum;
}

int64_t tm_busy_compared(const tm_table *unmarked, int64_t rank, int64_t window_ns) {
    size_t row = unmarked ? tm_table_find_row(unmarked, &rank, 1) : 0;
    bool found = unmarked && row < unmarked->n_rows;
    return found ? tm_table_cell(unmarked, row, "window_ns")->value.i : window_ns;
}

tm_busy_times tm_busy_step(const tm_busy *busy, const tm_timeline *timeline, const tm_step *step) {
    int64_t begin = step->begin_ns, end = step->end_ns;
    /* Without GPU events, the window is 0. The rank then does not count in means over ranks. */
    if (!busy->any)
        return (tm_busy_times){0};
    tm_busy_times t = {
        .compute_ns = tm_intervals_length_in(&busy->compute, begin, end),
        .comm_ns = tm_intervals_length_in(&busy->communication, begin, end),
        .memory_ns = tm_intervals_length_in(&busy->memory, begin, end),
        .overlap_ns = tm_intervals_length_in(&busy->overlap, begin, end),
        .exposed_comm_ns = tm_intervals_length_in(&busy->exposed_comm, begin, end),
        .exposed_memory_ns = tm_intervals_length_in(&busy->exposed_memory, begin, end),
        .exposed_wait_ns = tm_intervals_length_in(&busy->exposed_wait, begin, end),
        .exposed_transfer_ns = tm_intervals_length_in(&busy->exposed_transfer, begin, end),
        .exposed_least_ns = tm_intervals_length_in(&busy->exposed_least, begin, end),
    };
    complete(&t, tm_step_window(timeline, step));
    return t;
}
