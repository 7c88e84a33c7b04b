#include "moves.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sorted.h"

tm_hang_gpu tm_hang_gpu_of(const tm_ras_member *m, int64_t number) {
    return (tm_hang_gpu){m->host, m->pid, m->gpu, number};
}

int tm_hang_by_gpu(const void *a, const void *b) {
    const tm_hang_gpu *x = a, *y = b;
    const int host = strcmp(x->host, y->host);
    return host != 0          ? host
           : x->pid == y->pid ? tm_order_i64(x->gpu, y->gpu)
                              : tm_order_i64(x->pid, y->pid);
}

const tm_hang_gpu *tm_hang_find_gpu(const tm_vec *gpus, const tm_ras_member *m) {
    const tm_hang_gpu wanted = tm_hang_gpu_of(m, 0);
    return gpus->n > 0 && m->pid >= 0
               ? bsearch(&wanted, gpus->data, gpus->n, sizeof wanted, tm_hang_by_gpu)
               : NULL;
}

int64_t tm_hang_launched(const tm_ras_member *m) {
    int64_t sum = 0;
    for (size_t i = 0; i < m->n_counts; i++)
        sum += m->counts[i].launched < INT64_MAX - sum ? m->counts[i].launched : 0;
    return sum;
}

static int64_t launched_by_all(const tm_ras *answer) {
    size_t n;
    int64_t sum = 0;
    const tm_ras_comm *c = tm_ras_comms(answer, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < c[i].n_members; k++) {
            const int64_t more = tm_hang_launched(&c[i].members[k]);
            sum += more < INT64_MAX - sum ? more : 0;
        }
    return sum;
}

bool tm_hang_is_earlier(const tm_ras *answer, const tm_ras *other) {
    const int order = strcmp(tm_ras_time(answer), tm_ras_time(other));
    return order != 0 ? order < 0 : launched_by_all(answer) < launched_by_all(other);
}

/* Reads "2026-03-04 05:06:07" as local time without summer time. Returns the seconds since the
 * epoch; -1 if the text is not a time. */
static int64_t seconds_of(const char *time) {
    static const char between[] = "-- ::";
    int n[sizeof between];
    for (size_t i = 0; i < sizeof between; i++) {
        char *end;
        const long value = strtol(time, &end, 10);
        if (end == time || value < 0 || value > 9999 || *end != between[i])
            return -1;
        n[i] = (int)value;
        time = end + 1;
    }
    struct tm t = {.tm_year = n[0] - 1900,
                   .tm_mon = n[1] - 1,
                   .tm_mday = n[2],
                   .tm_hour = n[3],
                   .tm_min = n[4],
                   .tm_sec = n[5]};
    return (int64_t)mktime(&t);
}

int64_t tm_hang_apart(const tm_ras *before, const tm_ras *after) {
    const int64_t from = seconds_of(tm_ras_time(before)), to = seconds_of(tm_ras_time(after));
    return from >= 0 && to >= from ? to - from : -1;
}

static int by_comm(const void *a, const void *b) {
    const tm_ras_comm *x = *(const tm_ras_comm *const *)a, *y = *(const tm_ras_comm *const *)b;
    const int hash = strcmp(x->hash, y->hash);
    return hash != 0 ? hash : strcmp(x->secondary_hash, y->secondary_hash);
}

/* Sorts by hash, then by the order in the answer. */
static int by_comm_then_place(const void *a, const void *b) {
    const tm_ras_comm *x = *(const tm_ras_comm *const *)a, *y = *(const tm_ras_comm *const *)b;
    const int order = by_comm(a, b);
    return order ? order : (x > y) - (x < y);
}

/* Lists the communicators of an answer, sorted. Returns false if out of memory. */
static bool list_comms(const tm_ras *answer, tm_vec *out) {
    size_t n;
    const tm_ras_comm *c = tm_ras_comms(answer, &n);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const tm_ras_comm *at = &c[i];
        ok = tm_vec_append(out, &at, 1) != NULL;
    }
    if (out->n > 1)
        tm_sort(out->data, out->n, sizeof(const tm_ras_comm *), by_comm_then_place);
    return ok;
}

/* Returns whether the later answer has a lower count of some operation. */
static bool is_less(const tm_ras_member *before, const tm_ras_member *after) {
    for (size_t i = 0; i < before->n_counts; i++)
        for (size_t k = 0; k < after->n_counts; k++)
            if (strcmp(before->counts[i].operation, after->counts[k].operation) == 0 &&
                after->counts[k].launched < before->counts[i].launched)
                return true;
    return false;
}

/* stands for an unknown number of launches, if only one answer has the counts */
enum { UNKNOWN = -1 };

/* Adds the GPU of a member that only one answer has. Returns false if out of memory. */
static bool add_lone(const tm_ras_member *m, bool later, tm_vec *gpus) {
    const tm_hang_gpu of = tm_hang_gpu_of(m, UNKNOWN);
    /* A member that had launched nothing by the later answer launched nothing between the
     * answers. */
    const bool idle = later && tm_hang_launched(m) == 0;
    return m->pid < 0 || m->n_counts == 0 || idle || tm_vec_append(gpus, &of, 1);
}

/* Adds the GPU of a member that both answers have. Returns false if out of memory. */
static bool add_pair(const tm_ras_member *before, const tm_ras_member *after, tm_vec *gpus,
                     bool *shrunk) {
    const tm_hang_gpu was = tm_hang_gpu_of(before, 0);
    const tm_hang_gpu is =
        tm_hang_gpu_of(after, tm_hang_launched(after) - tm_hang_launched(before));
    if (before->n_counts == 0 || after->n_counts == 0 || tm_hang_by_gpu(&was, &is) != 0)
        return add_lone(before, false, gpus) && add_lone(after, true, gpus);
    *shrunk = *shrunk || is.number < 0 || is_less(before, after);
    return is.pid < 0 || tm_vec_append(gpus, &is, 1);
}

/* Adds the GPUs of a communicator's members, which are sorted by rank. `before` or `after` is NULL
 * if that answer lacks the communicator. Returns false if out of memory. */
static bool add_members(const tm_ras_comm *before, const tm_ras_comm *after, tm_vec *gpus,
                        bool *shrunk) {
    const size_t n = before ? before->n_members : 0, m = after ? after->n_members : 0;
    bool ok = true;
    for (size_t i = 0, k = 0; (i < n || k < m) && ok;) {
        const int order = i == n   ? 1
                          : k == m ? -1
                                   : tm_order_i64(before->members[i].rank, after->members[k].rank);
        ok = order < 0   ? add_lone(&before->members[i], false, gpus)
             : order > 0 ? add_lone(&after->members[k], true, gpus)
                         : add_pair(&before->members[i], &after->members[k], gpus, shrunk);
        i += order <= 0;
        k += order >= 0;
    }
    return ok;
}

/* Sorts the GPUs, and sums their launches over communicators. Omits a GPU if its known launches sum
 * to 0 and its launches in another communicator are unknown. */
static void join(tm_vec *gpus) {
    tm_hang_gpu *v = gpus->data;
    size_t w = 0;
    if (gpus->n > 1)
        tm_sort(v, gpus->n, sizeof *v, tm_hang_by_gpu);
    for (size_t i = 0, k; i < gpus->n; i = k) {
        tm_hang_gpu sum = v[i];
        bool unknown = false;
        sum.number = 0;
        for (k = i; k < gpus->n && tm_hang_by_gpu(&v[i], &v[k]) == 0; k++) {
            unknown = unknown || v[k].number == UNKNOWN;
            if (v[k].number > 0 && v[k].number < INT64_MAX - sum.number)
                sum.number += v[k].number;
        }
        if (sum.number > 0 || !unknown)
            v[w++] = sum;
    }
    gpus->n = w;
}

bool tm_hang_find_moves(const tm_ras *before, const tm_ras *after, tm_vec *gpus,
                        tm_hang_compared *compared) {
    tm_vec earlier = TM_VEC(const tm_ras_comm *), later = TM_VEC(const tm_ras_comm *);
    bool shrunk = false, ok = list_comms(before, &earlier) && list_comms(after, &later);
    const tm_ras_comm *const *b = earlier.data, *const *a = later.data;
    for (size_t i = 0, k = 0; (i < earlier.n || k < later.n) && ok;) {
        const int order = i == earlier.n ? 1 : k == later.n ? -1 : by_comm(&b[i], &a[k]);
        ok = add_members(order <= 0 ? b[i] : NULL, order >= 0 ? a[k] : NULL, gpus, &shrunk);
        i += order <= 0;
        k += order >= 0;
    }
    join(gpus);
    *compared = shrunk ? TM_HANG_SHRUNK : gpus->n == 0 ? TM_HANG_STRANGERS : TM_HANG_COMPARED;
    gpus->n = shrunk ? 0 : gpus->n;
    tm_vec_free(&earlier);
    tm_vec_free(&later);
    return ok;
}
