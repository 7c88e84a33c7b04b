#include "overlap_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"

#define SECOND_NS INT64_C(1000000000)

enum { PLACE_NUMBERS = 4, NAME_MAX_SHOWN = 140 };

/* Time range of a rank's recording, and the process that has the rank; sent as numbers. */
typedef struct place {
    int64_t begin_ns, end_ns, rank, owner;
} place;

_Static_assert(sizeof(place) == PLACE_NUMBERS * sizeof(int64_t), "sent as numbers");

TM_ORDER_BY(by_begin, place, begin_ns, rank);

/* Writes the recordings of this process's ranks to @p out [n_ranks], which is all 0 before the
 * call. The other elements stay 0, so the sum over all processes has every rank. */
static void list_own(const tm_loaded *loaded, int self, place *out) {
    for (size_t i = 0, k = 0; i < loaded->n_ranks && k < loaded->n_timelines; i++) {
        int64_t begin, end;
        if (loaded->timelines[k].rank != loaded->ranks[i])
            continue;
        if (tm_timeline_range(&loaded->timelines[k], &begin, &end) && begin >= TM_FIRST_DAY_NS)
            out[i] = (place){begin, end, loaded->ranks[i], self};
        k++;
    }
}

/* Finds the widest gap that is wider than the limit. Returns false if there is none. */
static bool find_gap(place *v, size_t n, place *before, place *after) {
    int64_t widest = TM_FAR_APART_NS;
    bool found = false;
    qsort(v, n, sizeof *v, by_begin);
    for (size_t i = 1, last = 0; i < n; i++) {
        if (v[i].begin_ns - v[last].end_ns > widest) {
            widest = v[i].begin_ns - v[last].end_ns;
            *before = v[last];
            *after = v[i];
            found = true;
        }
        last = v[i].end_ns > v[last].end_ns ? i : last;
    }
    return found;
}

/* Describes the file whose recording starts or ends at this time: "job/trace.json (2025-12-01
 * 00:00:00 UTC)". */
static void describe(MPI_Comm comm, const tm_loaded *loaded, const place *p, int64_t at_ns,
                     char out[256]) {
    char name[NAME_MAX_SHOWN + 1] = "", date[32] = "";
    time_t seconds = (time_t)(at_ns / SECOND_NS);
    struct tm utc;
    for (size_t k = 0; k < loaded->n_timelines; k++) {
        const tm_timeline *timeline = &loaded->timelines[k];
        for (size_t i = 0; i < timeline->n_spans && timeline->rank == p->rank; i++) {
            const tm_span *span = &timeline->spans[i];
            tm_text path = tm_names_text(loaded->names, span->source);
            size_t cut = path.size > NAME_MAX_SHOWN ? path.size - NAME_MAX_SHOWN : 0;
            if (span->begin_ns == at_ns || span->end_ns == at_ns || i == 0)
                snprintf(name, sizeof name, "%.*s", (int)(path.size - cut), path.bytes + cut);
        }
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, (int)p->owner, comm);
    if (gmtime_r(&seconds, &utc))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", &utc);
    snprintf(out, 256, "%s (%s)", name, date);
}

static void put_gap(int64_t ns, char *out, size_t size) {
    const int64_t day_ns = 86400 * SECOND_NS, hour_ns = 3600 * SECOND_NS;
    if (ns >= 2 * day_ns)
        snprintf(out, size, "%lld days", (long long)((ns + day_ns / 2) / day_ns));
    else if (ns >= 2 * hour_ns)
        snprintf(out, size, "%lld hours", (long long)((ns + hour_ns / 2) / hour_ns));
    else
        snprintf(out, size, "%lld minutes", (long long)(ns / (60 * SECOND_NS)));
}

/* Fails if two recordings of a rank are more than 30 days apart. They are then probably not of one
 * job that was restarted. */
static tm_status check_restarts(const tm_loaded *loaded, tm_error *err) {
    const int64_t most_ns = INT64_C(30) * 86400 * SECOND_NS;
    for (size_t k = 0; k < loaded->n_timelines; k++) {
        const tm_span *v = loaded->timelines[k].spans;
        for (size_t i = 1; i < loaded->timelines[k].n_spans; i++) {
            const int64_t gap_ns = v[i].begin_ns - v[i - 1].end_ns;
            char gap[32];
            if (v[i - 1].begin_ns < TM_FIRST_DAY_NS || gap_ns <= most_ns)
                continue;
            put_gap(gap_ns, gap, sizeof gap);
            const tm_text a = tm_names_text(loaded->names, v[i - 1].source);
            const tm_text b = tm_names_text(loaded->names, v[i].source);
            return tm_fail(
                err, TM_ERR_INPUT, NULL, -1,
                "these are not traces of one job: both %.*s and %.*s, %s later, are rank "
                "%" PRId64 " (--force merges them anyway)",
                (int)a.size, a.bytes, (int)b.size, b.bytes, gap, loaded->timelines[k].rank);
        }
    }
    return TM_OK;
}

static tm_status check(MPI_Comm comm, const tm_loaded *loaded, place *v, tm_error *err) {
    place before, after;
    char first[256], second[256], gap[32];
    int self;
    size_t n = 0;
    MPI_Comm_rank(comm, &self);
    list_own(loaded, self, v);
    MPI_Allreduce(MPI_IN_PLACE, v, (int)loaded->n_ranks * PLACE_NUMBERS, MPI_INT64_T, MPI_SUM,
                  comm);
    for (size_t i = 0; i < loaded->n_ranks; i++)
        if (v[i].begin_ns > 0)
            v[n++] = v[i];
    if (!find_gap(v, n, &before, &after))
        return TM_OK;
    describe(comm, loaded, &before, before.end_ns, first);
    describe(comm, loaded, &after, after.begin_ns, second);
    put_gap(after.begin_ns - before.end_ns, gap, sizeof gap);
    return tm_fail(
        err, TM_ERR_INPUT, NULL, -1,
        "these are not traces of one job: %s ends %s before %s starts (--force merges them anyway)",
        first, gap, second);
}

tm_status tm_overlap_check(MPI_Comm comm, const tm_loaded *loaded, tm_error *err) {
    place *v = calloc(loaded->n_ranks + 1, sizeof *v);
    tm_status status = tm_mpi_agree(comm, v ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, check_restarts(loaded, err), err);
    if (status == TM_OK)
        status = check(comm, loaded, v, err);
    free(v);
    return status;
}
