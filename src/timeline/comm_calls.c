#include "comm_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"

/* How the names of calls and ranges begin from which a kind is taken. */
static const char *const beginnings[] = {
    "nccl",               /* NCCL's calls and PyTorch's ranges around them: ncclAllToAll,
                             nccl:all_to_all; of RCCL, too */
    "rccl",               /* RCCL's own: rcclAllToAllv */
    "c10d::",             /* operators of PyTorch: c10d::alltoall_base_ */
    "_c10d_functional::", /* and of its compiled programs: _c10d_functional::all_to_all_single */
};

tm_collective_kind tm_comm_call_kind(const char *bytes, size_t size) {
    char letters[TM_LETTERS];
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t n = strlen(beginnings[i]);
        if (size <= n || memcmp(bytes, beginnings[i], n) != 0)
            continue;
        tm_letters_of(bytes + n, size - n, letters);
        return tm_collective_kind_in(letters);
    }
    return TM_COLL_OTHER;
}

/* A call of a thread whose name says a kind. */
typedef struct call {
    int64_t begin_ns, end_ns;
    int64_t reach_ns; /* the latest end of its thread so far */
    size_t track;
    uint8_t kind;
} call;

/* The kinds of names, each looked at once. */
typedef struct known {
    const tm_names *names;
    uint8_t *kinds; /* [n] owned; by name id, UNSEEN before it is asked for */
    size_t n;
} known;

enum { UNSEEN = 0xff };

static uint8_t kind_of(known *k, uint32_t name) {
    if (name >= k->n)
        return TM_COLL_OTHER;
    if (k->kinds[name] == UNSEEN) {
        tm_text text = tm_names_text(k->names, name);
        k->kinds[name] = (uint8_t)tm_comm_call_kind(text.bytes, text.size);
    }
    return k->kinds[name];
}

static bool add_calls(const tm_timeline *timeline, size_t at, known *k, tm_vec *out) {
    const tm_track *track = &timeline->tracks[at];
    int64_t reach = INT64_MIN;
    for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
        const uint8_t kind =
            timeline->kind[row] == TM_DURATION ? kind_of(k, timeline->name[row]) : TM_COLL_OTHER;
        if (kind == TM_COLL_OTHER)
            continue;
        call added = {timeline->begin_ns[row], timeline->begin_ns[row] + timeline->duration_ns[row],
                      reach, at, kind};
        reach = added.reach_ns = added.end_ns > reach ? added.end_ns : reach;
        if (!tm_vec_append(out, &added, 1))
            return false;
    }
    return true;
}

static bool has_begun(const void *element, const void *key) {
    const call *x = element, *y = key;
    return x->track < y->track || (x->track == y->track && x->begin_ns <= y->begin_ns);
}

/* The innermost call of a thread that holds a moment; NULL where none does. */
static const call *call_at(const tm_vec *calls, size_t track, int64_t time_ns) {
    const call *v = calls->data, key = {.track = track, .begin_ns = time_ns};
    size_t i = tm_bisect(v, calls->n, sizeof *v, &key, has_begun);
    while (i-- > 0 && v[i].track == track && v[i].reach_ns > time_ns)
        if (v[i].end_ns > time_ns)
            return &v[i];
    return NULL;
}

/* Whether the kind of a kernel is to be told by the call. */
static bool is_open(const tm_timeline *timeline, const tm_names *names, tm_classifier *classifier,
                    const tm_collective_attr *row) {
    return row->name == TM_NO_NAME && timeline->role[row->event] == TM_ROLE_COMMUNICATION &&
           (row->kind == TM_COLL_SENDRECV || row->kind == TM_COLL_OTHER) &&
           tm_timeline_asked(timeline, row->event) != TM_NO_EVENT &&
           tm_classifier_kind(classifier, names, timeline->name[row->event]).class ==
               TM_KERNEL_COLLECTIVE;
}

static void name_kernel(const tm_timeline *timeline, const tm_vec *calls, tm_collective_attr *row) {
    const uint32_t asked = tm_timeline_asked(timeline, row->event);
    const size_t track = (size_t)(tm_timeline_track(timeline, asked) - timeline->tracks);
    const call *found = call_at(calls, track, timeline->begin_ns[asked]);
    if (found && found->kind != TM_COLL_SEND && found->kind != TM_COLL_RECV)
        row->kind = found->kind;
}

tm_status tm_comm_calls_name(const tm_timeline *timeline, const tm_names *names,
                             tm_classifier *classifier, tm_collective_attr *rows, size_t n,
                             tm_error *err) {
    tm_vec calls = TM_VEC(call);
    size_t first = 0;
    while (first < n && !is_open(timeline, names, classifier, &rows[first]))
        first++;
    if (first == n)
        return TM_OK;
    known k = {names, NULL, tm_names_count(names)};
    k.kinds = malloc(k.n + 1);
    bool ok = k.kinds != NULL;
    if (ok)
        memset(k.kinds, UNSEEN, k.n);
    for (size_t i = 0; i < timeline->n_tracks && ok; i++)
        ok = timeline->tracks[i].kind != TM_TRACK_CPU || add_calls(timeline, i, &k, &calls);
    for (size_t i = first; i < n && ok && calls.n > 0; i++)
        if (is_open(timeline, names, classifier, &rows[i]))
            name_kernel(timeline, &calls, &rows[i]);
    free(k.kinds);
    tm_vec_free(&calls);
    return ok ? TM_OK : tm_fail_memory(err);
}
