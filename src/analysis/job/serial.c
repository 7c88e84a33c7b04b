#include "serial.h"

#include "analysis/shared/busy.h"

/* So many kernels of a stream cannot have come and gone while one ran. In the traces of real jobs
 * that were looked at (NVIDIA and AMD) none does within another. */
enum { FOLLOWERS_LEAST = 3 };

/* A kernel that lasts beyond others of its stream. */
typedef struct cover {
    uint32_t row;
    int64_t end_ns, next_ns; /* its end, and the begin of the next */
    int64_t followers;
} cover;

static bool add_cover(const tm_timeline *timeline, const cover *c, tm_serial *out, tm_vec *found) {
    if (c->followers < FOLLOWERS_LEAST)
        return true;
    int64_t beyond_ns = c->end_ns - c->next_ns;
    out->kernels++;
    if (out->name == TM_NO_NAME || beyond_ns > out->beyond_ns) {
        out->name = timeline->name[c->row];
        out->begin_ns = timeline->begin_ns[c->row];
        out->followers = c->followers;
        out->beyond_ns = beyond_ns;
    }
    return tm_vec_append(found, c, 1) != NULL;
}

static bool look_at_stream(const tm_timeline *timeline, const tm_track *track, tm_serial *out,
                           tm_vec *found) {
    cover c = {.end_ns = INT64_MIN};
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        int64_t begin_ns = timeline->begin_ns[row], end_ns = begin_ns + timeline->duration_ns[row];
        if (timeline->category[row] != TM_CAT_KERNEL || end_ns == begin_ns)
            continue;
        if (end_ns > c.end_ns) {
            if (!add_cover(timeline, &c, out, found))
                return false;
            c = (cover){.row = row, .end_ns = end_ns};
        } else if (timeline->launch[row] == TM_NO_EVENT ||
                   timeline->launch[row] != timeline->launch[c.row]) {
            c.next_ns = c.followers++ == 0 ? begin_ns : c.next_ns;
        }
    }
    return add_cover(timeline, &c, out, found);
}

/* The sets without what is in doubt; those found are in the order of rows. */
static bool leave_out(const tm_rank_view *view, const tm_vec *found, tm_serial *out) {
    const tm_timeline *timeline = view->timeline;
    const cover *c = found->data, *end = c + found->n;
    tm_intervals others = TM_INTERVALS();
    bool ok = true;
    for (uint32_t row = 0; row < timeline->n_events && ok; row++) {
        tm_role role = (tm_role)timeline->role[row];
        int64_t end_ns = timeline->begin_ns[row] + timeline->duration_ns[row];
        if (c < end && c->row == row)
            end_ns = c++->next_ns;
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
    tm_vec found = TM_VEC(cover);
    bool ok = true;
    *out = (tm_serial){.name = TM_NO_NAME, .compute = TM_INTERVALS(), .busy = TM_INTERVALS()};
    for (size_t t = 0; t < timeline->n_tracks && ok; t++)
        if (timeline->tracks[t].kind == TM_TRACK_GPU && timeline->tracks[t].stream >= 0)
            ok = look_at_stream(timeline, &timeline->tracks[t], out, &found);
    if (ok && found.n > 0)
        ok = leave_out(view, &found, out);
    tm_vec_free(&found);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_serial_free(tm_serial *serial) {
    tm_vec_free(&serial->compute);
    tm_vec_free(&serial->busy);
}
