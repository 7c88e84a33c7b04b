#include "fronts.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "last_events.h"
#include "notes.h"
#include "tables.h"
#include "tmerge/flight.h"

/* The members of a group. */
typedef struct members {
    tm_vec ranks; /* vector of int64_t, in the order of the group */
    bool reported;
} members;

static bool add_rank(tm_vec *to, int64_t rank) {
    return tm_vec_append(to, &rank, 1) != NULL;
}

int64_t tm_hang_most_ranks(size_t n_dumps) {
    enum { LEAST = 1 << 14, EACH = 64 };
    const int64_t n =
        n_dumps < TM_HANG_RANKS_MAX / EACH ? EACH * (int64_t)n_dumps : TM_HANG_RANKS_MAX;
    return n > LEAST ? n : LEAST;
}

bool tm_hang_has(const tm_vec *ranks, int64_t rank) {
    return ranks->n > 0 && bsearch(&rank, ranks->data, ranks->n, sizeof rank, tm_compare_i64);
}

static bool parse_ranks(const tm_hang_world *w, const char *text, tm_vec *out) {
    for (int64_t rank; (rank = tm_hang_next_rank(&text)) >= 0;)
        if (rank < w->most_ranks && !add_rank(out, rank))
            return false;
    return true;
}

/* Returns the number of ranks in a list such as "0 1 12". */
static int64_t length_of(const char *ranks) {
    int64_t n = 0;
    while (tm_hang_next_rank(&ranks) >= 0)
        n++;
    return n;
}

/* Returns the maximum number of ranks that lists and sizes of groups may claim. Without this limit,
 * one damaged number could add millions of ranks without a dump. */
static int64_t most_ranks(const tm_hang_world *w) {
    int64_t most = tm_hang_most_ranks(w->dumps->n_rows);
    for (size_t i = 0; i < w->dumps->n_rows; i++) {
        const int64_t rank = tm_hang_int(w->dumps, i, HD_RANK, 0);
        most = rank >= most ? rank + 1 : most;
    }
    for (size_t g = 0; g < w->groups->n_rows; g++) {
        const int64_t listed = length_of(tm_hang_text(w->groups, g, HG_RANKS));
        most = listed > most ? listed : most;
    }
    return w->n_ranks > most ? w->n_ranks : most;
}

static bool is_default(const tm_hang_world *w, size_t group) {
    return strcmp(tm_hang_text(w->groups, group, HG_DESC), "default_pg") == 0;
}

/* Returns the first row of a group and rank, by bisection. Lanes and calls are sorted by group,
 * then by rank. */
static size_t first_of(const tm_table *t, int64_t group, int64_t rank) {
    size_t low = 0, high = t->n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const tm_cell *row = tm_table_row(t, middle);
        const bool before =
            row[0].value.i != group ? row[0].value.i < group : row[1].value.i < rank;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static bool is_of(const tm_table *t, size_t row, int64_t group) {
    return row < t->n_rows && tm_hang_int(t, row, 0, 0) == group;
}

static size_t progress_of(const tm_hang_world *w, int64_t group, int64_t rank) {
    const size_t row = first_of(w->progress, group, rank);
    return is_of(w->progress, row, group) && tm_hang_int(w->progress, row, HP_RANK, -1) == rank
               ? row
               : TM_HANG_NO_ROW;
}

size_t tm_hang_call(const tm_hang_world *w, int64_t group, int64_t rank, int64_t seq) {
    for (size_t row = first_of(w->calls, group, rank);
         is_of(w->calls, row, group) && tm_hang_int(w->calls, row, HC_RANK, -1) == rank; row++)
        if (tm_hang_int(w->calls, row, HC_SEQ, -1) == seq &&
            tm_hang_int(w->calls, row, HC_P2P, 0) == 0)
            return row;
    return TM_HANG_NO_ROW;
}

size_t tm_hang_call_of(const tm_hang_world *w, const tm_hang_front *f, int64_t rank) {
    if (!f->is_p2p)
        return tm_hang_call(w, tm_hang_int(w->groups, f->group, HG_GROUP, 0), rank, f->seq);
    return tm_hang_int(w->calls, f->call, HC_RANK, -1) == rank ? f->call : f->answer;
}

/* Uses the answer of RAS if its number of ranks is the same as in the dumps. Returns false if out
 * of memory. */
static bool find_processes(tm_hang_world *w) {
    if (w->ras.n_ranks == 0 || w->ras.n_ranks != w->n_ranks)
        return true;
    w->processes = calloc((size_t)w->n_ranks, sizeof *w->processes);
    if (w->processes)
        tm_hang_ras_processes(&w->ras, w->processes);
    return w->processes != NULL;
}

static tm_status count_ranks(tm_hang_world *w, tm_error *err) {
    tm_vec ranks = TM_VEC(int64_t);
    int64_t n = w->n_ranks;
    bool ok = true;
    for (size_t i = 0; i < w->dumps->n_rows; i++) {
        const int64_t rank = tm_hang_int(w->dumps, i, HD_RANK, 0);
        n = rank >= n ? rank + 1 : n;
    }
    for (size_t g = 0; g < w->groups->n_rows && ok; g++) {
        const int64_t key = tm_hang_int(w->groups, g, HG_GROUP, 0);
        const bool used = is_default(w, g) ||
                          is_of(w->progress, first_of(w->progress, key, INT64_MIN), key) ||
                          is_of(w->calls, first_of(w->calls, key, INT64_MIN), key);
        ranks.n = 0;
        ok = parse_ranks(w, used ? tm_hang_text(w->groups, g, HG_RANKS) : "", &ranks);
        w->reported = w->reported || (is_default(w, g) && ranks.n > 0);
        const int64_t *v = ranks.data;
        for (size_t i = 0; i < ranks.n && ok; i++)
            n = v[i] >= n ? v[i] + 1 : n;
        for (size_t i = first_of(w->progress, key, INT64_MIN);
             is_default(w, g) && ranks.n == 0 && is_of(w->progress, i, key); i++) {
            const int64_t size = tm_hang_int(w->progress, i, HP_SIZE, 0);
            w->reported = w->reported || size > 0;
            n = size > n && size <= w->most_ranks ? size : n;
        }
    }
    tm_vec_free(&ranks);
    if (!w->reported && w->ras.n_ranks >= n && w->ras.n_ranks > 0) {
        w->reported = true;
        n = w->ras.n_ranks;
    }
    w->n_ranks = n;
    w->dump_of = ok ? malloc(((size_t)n + 1) * sizeof *w->dump_of) : NULL;
    if (!w->dump_of || !find_processes(w))
        return tm_fail_memory(err);
    for (int64_t r = 0; r < n; r++)
        w->dump_of[r] = TM_HANG_NO_ROW;
    for (size_t i = 0; i < w->dumps->n_rows && ok; i++) {
        const int64_t rank = tm_hang_int(w->dumps, i, HD_RANK, 0);
        if (tm_hang_int(w->dumps, i, HD_UNREADABLE, 0))
            ok = add_rank(&w->unreadable, rank);
        else
            w->dump_of[rank] = i;
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Lists the members of a group. The default group has all ranks. If no dump lists the members, each
 * rank may be a member. */
static bool find_members(const tm_hang_world *w, size_t group, members *out) {
    out->ranks = TM_VEC(int64_t);
    bool ok = parse_ranks(w, tm_hang_text(w->groups, group, HG_RANKS), &out->ranks);
    out->reported = out->ranks.n > 0 || is_default(w, group);
    const int64_t n = out->ranks.n == 0 ? w->n_ranks : 0;
    for (int64_t r = 0; r < n && ok; r++)
        ok = add_rank(&out->ranks, r);
    return ok;
}

static tm_hang_front new_front(size_t group, int64_t seq) {
    return (tm_hang_front){.group = group,
                           .seq = seq,
                           .call = TM_HANG_NO_ROW,
                           .answer = TM_HANG_NO_ROW,
                           .reported = true,
                           .came = TM_VEC(int64_t),
                           .waiting = TM_VEC(int64_t),
                           .absent = TM_VEC(int64_t),
                           .no_dump = TM_VEC(int64_t),
                           .perhaps = TM_VEC(int64_t)};
}

static void free_front(tm_hang_front *f) {
    TM_VECS_FREE(&f->came, &f->waiting, &f->absent, &f->no_dump, &f->perhaps);
}

void tm_hang_world_free(tm_hang_world *w) {
    tm_hang_front *f = w->fronts.data;
    for (size_t i = 0; i < w->fronts.n; i++)
        free_front(&f[i]);
    tm_vec_free(&w->fronts);
    tm_vec_free(&w->unreadable);
    free(w->dump_of);
    free(w->processes);
}

static void sort_ranks(tm_hang_front *f) {
    tm_vec *const lists[] = {&f->came, &f->waiting, &f->absent, &f->no_dump, &f->perhaps};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i]->n > 0)
            tm_sort(lists[i]->data, lists[i]->n, sizeof(int64_t), tm_compare_i64);
}

/* How far the ranks of a group have come, as numbers of operations. `low` and `top` are the lowest
 * and highest last operation of a rank, and `first` is the lowest first operation. */
typedef struct reach {
    int64_t key, low, top, first;
    int64_t open;  /* lowest operation that has not ended on some rank; INT64_MAX: none */
    int64_t after; /* like `open`, but counts only operations above `done`, and only ranks that
                       have not reached `top` */
    int64_t done;  /* last operation that all ranks have certainly reached; -1: none */
    bool never;    /* whether some member has a complete dump without any operation of the group */
} reach;

static bool is_whole(const tm_hang_world *w, int64_t rank) {
    return tm_hang_int(w->dumps, w->dump_of[rank], HD_WRAPPED, 0) == 0 &&
           tm_hang_int(w->dumps, w->dump_of[rank], HD_CUT, 0) == 0;
}

/* Returns whether a rank's dump is cut short, so that its last operations are unknown. */
static bool is_cut(const tm_hang_world *w, int64_t rank) {
    return tm_hang_int(w->dumps, w->dump_of[rank], HD_CUT, 0) != 0;
}

/* Returns the lowest operation above `done` that has not ended on some rank whose last operation is
 * below `top`; INT64_MAX if there is none. */
static int64_t open_after(const tm_hang_world *w, const reach *r) {
    int64_t found = INT64_MAX;
    for (size_t i = first_of(w->progress, r->key, INT64_MIN); is_of(w->progress, i, r->key); i++) {
        const int64_t last = tm_hang_int(w->progress, i, HP_LAST, 0);
        int64_t open = tm_hang_int(w->progress, i, HP_OPEN, INT64_MAX);
        open = open <= r->done ? r->done + 1 : open;
        if (last < r->top && open <= last && open < found)
            found = open;
    }
    return found;
}

static reach find_reach(const tm_hang_world *w, size_t group, const members *m) {
    reach r = {.key = tm_hang_int(w->groups, group, HG_GROUP, 0),
               .low = INT64_MAX,
               .top = INT64_MIN,
               .first = INT64_MAX,
               .open = INT64_MAX,
               .done = -1};
    size_t n = 0;
    for (size_t i = first_of(w->progress, r.key, INT64_MIN); is_of(w->progress, i, r.key);
         i++, n++) {
        const int64_t last = tm_hang_int(w->progress, i, HP_LAST, 0);
        const int64_t first = tm_hang_int(w->progress, i, HP_FIRST, 0);
        const int64_t open = tm_hang_int(w->progress, i, HP_OPEN, INT64_MAX);
        const int64_t done = tm_hang_int(w->progress, i, HP_DONE, -1);
        const int64_t rank = tm_hang_int(w->progress, i, HP_RANK, 0);
        r.low = last < r.low && !is_cut(w, rank) ? last : r.low;
        r.done = done > r.done ? done : r.done;
        r.top = last > r.top ? last : r.top;
        r.first = first < r.first ? first : r.first;
        r.open = open < r.open ? open : r.open;
    }
    const int64_t *v = m->ranks.data;
    for (size_t i = 0; n > 0 && n < m->ranks.n && m->reported && !r.never && i < m->ranks.n; i++)
        r.never = v[i] < w->n_ranks && w->dump_of[v[i]] != TM_HANG_NO_ROW && is_whole(w, v[i]) &&
                  progress_of(w, r.key, v[i]) == TM_HANG_NO_ROW;
    r.after = open_after(w, &r);
    return r;
}

/* Finds the first operation whose form differs between ranks. Sets *found to its number, or to
 * INT64_MAX if there is none. Returns false if out of memory. */
static bool find_mismatch(const tm_hang_world *w, const reach *r, int64_t *found) {
    *found = INT64_MAX;
    bool ok = true;
    const size_t first = first_of(w->calls, r->key, INT64_MIN);
    /* pairs of numbers: an operation, and its form on the lowest rank that called it; there are
     * few */
    tm_vec seen = TM_VEC(int64_t);
    for (size_t i = first; ok && is_of(w->calls, i, r->key); i++) {
        const int64_t seq = tm_hang_int(w->calls, i, HC_SEQ, 0);
        const int64_t form = tm_hang_int(w->calls, i, HC_FORM, 0);
        if (tm_hang_int(w->calls, i, HC_P2P, 0) || seq > r->low || seq >= *found)
            continue;
        const int64_t *v = seen.data;
        size_t k = 0;
        while (k < seen.n && v[k] != seq)
            k += 2;
        const int64_t pair[2] = {seq, form};
        if (k < seen.n && v[k + 1] != form)
            *found = seq;
        else if (k >= seen.n)
            ok = tm_vec_append(&seen, pair, 2) != NULL;
    }
    tm_vec_free(&seen);
    return ok;
}

/* Adds a member to one of the front's lists: ranks that came, or ranks that did not or perhaps did
 * not. */
static bool place_rank(const tm_hang_world *w, tm_hang_front *f, int64_t key, int64_t rank,
                       bool reported) {
    if (rank >= w->n_ranks || w->dump_of[rank] == TM_HANG_NO_ROW)
        return add_rank(&f->no_dump, rank);
    const size_t row = progress_of(w, key, rank);
    if (row == TM_HANG_NO_ROW)
        return add_rank(reported && is_whole(w, rank) ? &f->absent : &f->perhaps, rank);
    if (tm_hang_int(w->progress, row, HP_LAST, 0) < f->seq)
        return add_rank(is_cut(w, rank) ? &f->perhaps : &f->absent, rank);
    const bool waits = tm_hang_int(w->progress, row, HP_OPEN, INT64_MAX) <= f->seq;
    return add_rank(&f->came, rank) && (!waits || add_rank(&f->waiting, rank));
}

/* Sets the front's call and the times of the first arrival and of the first wait. The call is that
 * of the first rank whose call was kept. */
static void describe(const tm_hang_world *w, tm_hang_front *f, int64_t key) {
    const int64_t *v = f->came.data;
    for (size_t i = 0; i < f->came.n; i++) {
        const size_t row = tm_hang_call(w, key, v[i], f->seq);
        if (row == TM_HANG_NO_ROW)
            continue;
        const int64_t ns = tm_hang_int(w->calls, row, HC_CREATED, 0);
        f->call = f->call == TM_HANG_NO_ROW ? row : f->call;
        const int64_t ready_ns = tm_hang_int(w->calls, row, HC_READY, 0);
        f->first_ns = ns > 0 && (f->first_ns == 0 || ns < f->first_ns) ? ns : f->first_ns;
        f->since_ns =
            ready_ns > 0 && (f->since_ns == 0 || ready_ns < f->since_ns) ? ready_ns : f->since_ns;
    }
}

/* Returns whether ranks may wait at a front: the operation has not ended on some rank, or
 * operations of this kind wait for all ranks. */
static bool holds_up(const tm_hang_world *w, const tm_hang_front *f) {
    return f->waiting.n > 0 || (f->call != TM_HANG_NO_ROW &&
                                tm_hang_synchronises(tm_hang_text(w->calls, f->call, HC_OP)));
}

/* Returns the operation at which the group is stuck. This is the first of these that exists: the
 * operation in which ranks differ; `after`; the first operation that a rank has not issued; the
 * first operation that has not ended; `top`. */
static int64_t seq_of_front(const reach *r, int64_t mismatch) {
    if (mismatch < INT64_MAX)
        return mismatch;
    if (r->after <= r->low)
        return r->after;
    return r->never ? r->first : r->low < r->top ? r->low + 1 : r->open < r->top ? r->open : r->top;
}

static bool fill_front(const tm_hang_world *w, tm_hang_front *f, const members *m, const reach *r) {
    const int64_t *v = m->ranks.data;
    tm_vec *const lists[] = {&f->came, &f->waiting, &f->absent, &f->no_dump, &f->perhaps};
    bool ok = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lists[i]->n = 0;
    f->call = TM_HANG_NO_ROW;
    f->first_ns = f->since_ns = 0;
    for (size_t i = 0; i < m->ranks.n && ok; i++)
        ok = place_rank(w, f, r->key, v[i], m->reported);
    sort_ranks(f);
    describe(w, f, r->key);
    return ok;
}

static tm_hang_problem problem_of(const tm_hang_front *f, const members *m, bool differs) {
    return differs            ? TM_HANG_MISMATCH
           : f->absent.n > 0  ? TM_HANG_MISSING
           : !m->reported     ? TM_HANG_PERHAPS
           : f->no_dump.n > 0 ? TM_HANG_NO_DUMP
           : f->perhaps.n > 0 ? TM_HANG_PERHAPS
                              : TM_HANG_ALL_CAME;
}

/* Finds an operation that needs all ranks, and has ended on some ranks, but is missing in the dumps
 * of other ranks. Those dumps are from another time or run. */
static bool find_other_times(const tm_hang_world *w, tm_hang_front *f, const members *m,
                             const reach *r, bool *found) {
    f->seq = r->done;
    *found = false;
    if (r->done < 0 || !m->reported)
        return true;
    if (!fill_front(w, f, m, r))
        return false;
    *found = f->absent.n > 0;
    f->waiting.n = *found ? 0 : f->waiting.n;
    f->problem = TM_HANG_OTHER_TIMES;
    return true;
}

static bool add_front(tm_hang_world *w, size_t group, const members *m, const reach *r) {
    int64_t mismatch;
    tm_hang_front f = new_front(group, 0);
    bool stuck = false,
         ok = find_mismatch(w, r, &mismatch) && find_other_times(w, &f, m, r, &stuck);
    f.reported = m->reported;
    if (ok && !stuck) {
        f.seq = seq_of_front(r, mismatch);
        ok = fill_front(w, &f, m, r);
        if (ok && f.waiting.n == 0 && mismatch == INT64_MAX && r->open < INT64_MAX &&
            f.seq < r->open) {
            /* No rank waits in this operation. For example, the root of a broadcast sends and
             * continues. So the front is the first operation that has not ended. */
            f.seq = r->open;
            ok = fill_front(w, &f, m, r);
        }
        f.problem = problem_of(&f, m, mismatch < INT64_MAX);
        stuck = f.problem == TM_HANG_MISMATCH || f.waiting.n > 0 ||
                ((f.problem == TM_HANG_MISSING || f.problem == TM_HANG_NO_DUMP) &&
                 f.seq > r->done && holds_up(w, &f));
    }
    if (ok && stuck)
        return tm_vec_append(&w->fronts, &f, 1) != NULL;
    free_front(&f);
    return ok;
}

/* stands for the peer of a receive from any rank */
static const int64_t ANY = -1;

/* Parses a send or receive: "send 0->1", "recv 1<-0", or "recv 1<-?" for a receive from any rank.
 * The text has ranks within the group. */
static bool peers_of(const tm_hang_world *w, const members *m, size_t row, bool *sends,
                     int64_t *peer) {
    const char *op = tm_hang_text(w->calls, row, HC_OP);
    const char *blank = strchr(op, ' ');
    char *end;
    *sends = strncmp(op, "send", 4) == 0;
    if (!blank || (!*sends && strncmp(op, "recv", 4) != 0))
        return false;
    (void)strtoll(blank + 1, &end, 10);
    const char *arrow = *end ? end + 2 : end;
    *peer = ANY;
    if (!*sends && strcmp(arrow, "?") == 0)
        return true;
    const long long at = strtoll(arrow, &end, 10);
    if (end == arrow || at < 0 || (m->reported && (size_t)at >= m->ranks.n))
        return false;
    *peer = m->reported ? ((const int64_t *)m->ranks.data)[at] : (int64_t)at;
    return *peer < w->n_ranks;
}

/* Finds the peer's call that belongs to a send or receive. The match is sure if both ranks made
 * equally many earlier calls of the same name (HC_BEFORE). Without a sure match, takes the peer's
 * first open call. Returns false if the peer's list is complete and has no open call. */
static bool find_answer(const tm_hang_world *w, const members *m, tm_hang_front *f, bool sends,
                        int64_t peer) {
    const int64_t key = tm_hang_int(w->groups, f->group, HG_GROUP, 0);
    const int64_t rank = tm_hang_int(w->calls, f->call, HC_RANK, -1);
    const int64_t before = tm_hang_int(w->calls, f->call, HC_BEFORE, -1);
    int64_t n = 0;
    for (size_t i = first_of(w->calls, key, peer);
         is_of(w->calls, i, key) && tm_hang_int(w->calls, i, HC_RANK, -1) == peer; i++) {
        bool other;
        int64_t with;
        const bool p2p = tm_hang_int(w->calls, i, HC_P2P, 0) != 0;
        n += p2p;
        if (!p2p || !peers_of(w, m, i, &other, &with) || other == sends ||
            (with != rank && with != ANY))
            continue;
        f->sure = before >= 0 && with != ANY && tm_hang_int(w->calls, i, HC_BEFORE, -1) == before;
        f->answer = f->answer == TM_HANG_NO_ROW || f->sure ? i : f->answer;
        if (f->sure)
            break;
    }
    return f->answer != TM_HANG_NO_ROW || n >= TM_HANG_KEPT_P2P;
}

static bool has_other_form(const tm_hang_world *w, const tm_hang_front *f) {
    return f->answer != TM_HANG_NO_ROW && tm_hang_int(w->calls, f->answer, HC_FORM, 0) !=
                                              tm_hang_int(w->calls, f->call, HC_FORM, 0);
}

/* Returns whether the peer's front already reports this mismatch. */
static bool is_reported(const tm_hang_world *w, const tm_hang_front *f) {
    const tm_hang_front *v = w->fronts.data;
    for (size_t i = 0; i < w->fronts.n; i++)
        if (v[i].is_p2p && v[i].problem == TM_HANG_MISMATCH && v[i].answer == f->call)
            return true;
    return false;
}

/* Sets the problem of a send or receive, and its ranks. Returns false if out of memory. */
static bool fill_p2p(const tm_hang_world *w, const members *m, tm_hang_front *f, bool sends,
                     int64_t peer) {
    const int64_t rank = tm_hang_int(w->calls, f->call, HC_RANK, -1);
    const bool has_dump = w->dump_of[peer] != TM_HANG_NO_ROW, cut = has_dump && is_cut(w, peer);
    const bool there = has_dump && find_answer(w, m, f, sends, peer);
    const bool differs = f->sure && has_other_form(w, f);
    f->problem = differs    ? TM_HANG_MISMATCH
                 : there    ? TM_HANG_ALL_CAME
                 : cut      ? TM_HANG_PERHAPS
                 : has_dump ? TM_HANG_MISSING
                            : TM_HANG_NO_DUMP;
    tm_vec *peers = cut ? &f->perhaps : has_dump ? &f->absent : &f->no_dump;
    const bool ok = add_rank(&f->came, rank) && add_rank(&f->waiting, rank) &&
                    (there || add_rank(peers, peer)) &&
                    (!has_other_form(w, f) || peer == rank ||
                     (add_rank(&f->came, peer) && add_rank(&f->waiting, peer)));
    sort_ranks(f);
    return ok;
}

/* Sets the problem of a receive from any rank. Either a rank sends, or it is unknown which rank
 * should. */
static bool fill_receive(const tm_hang_world *w, const members *m, tm_hang_front *f) {
    const int64_t rank = tm_hang_int(w->calls, f->call, HC_RANK, -1), *v = m->ranks.data;
    bool ok = add_rank(&f->came, rank) && add_rank(&f->waiting, rank), there = false;
    for (size_t i = 0; i < m->ranks.n && ok && !there; i++) {
        if (v[i] == rank || v[i] >= w->n_ranks || w->dump_of[v[i]] == TM_HANG_NO_ROW)
            continue;
        there = find_answer(w, m, f, false, v[i]);
        ok = add_rank(&f->perhaps, v[i]);
    }
    f->perhaps.n = there ? 0 : f->perhaps.n;
    f->sure = false;
    f->problem = there ? TM_HANG_ALL_CAME : TM_HANG_PERHAPS;
    sort_ranks(f);
    return ok;
}

/* Adds the first open send or receive of each rank as a front. */
static bool add_p2p(tm_hang_world *w, size_t group, const members *m, int64_t key) {
    int64_t done = -1;
    for (size_t i = first_of(w->calls, key, INT64_MIN); is_of(w->calls, i, key); i++) {
        bool sends;
        int64_t peer;
        const int64_t rank = tm_hang_int(w->calls, i, HC_RANK, -1);
        if (!tm_hang_int(w->calls, i, HC_P2P, 0) || rank == done ||
            tm_hang_int(w->calls, i, HC_STATE, 0) == TM_FLIGHT_COMPLETED ||
            !peers_of(w, m, i, &sends, &peer))
            continue;
        done = rank;
        tm_hang_front f = new_front(group, tm_hang_int(w->calls, i, HC_SEQ, 0));
        f.is_p2p = true;
        f.call = i;
        f.first_ns = tm_hang_int(w->calls, i, HC_CREATED, 0);
        f.since_ns = f.first_ns;
        const bool ok = peer == ANY ? fill_receive(w, m, &f) : fill_p2p(w, m, &f, sends, peer);
        const bool reported = is_reported(w, &f);
        if (!ok || reported || !tm_vec_append(&w->fronts, &f, 1)) {
            free_front(&f);
            if (!ok || !reported)
                return false;
        }
    }
    return true;
}

/* Sorts the earliest front first. Fronts without a time come last. */
static int by_time(const void *a, const void *b) {
    const tm_hang_front *x = a, *y = b;
    const uint64_t s = x->first_ns > 0 ? (uint64_t)x->first_ns : UINT64_MAX;
    const uint64_t t = y->first_ns > 0 ? (uint64_t)y->first_ns : UINT64_MAX;
    const int order = tm_order_u64(s, t);
    return order != 0 ? order : tm_order_u64(x->group, y->group);
}

tm_status tm_hang_world_make(const tm_tables *tables, int64_t n_ranks, tm_hang_world *out,
                             tm_error *err) {
    *out = (tm_hang_world){.dumps = tm_tables_find(tables, tm_hang_dump_def.name),
                           .groups = tm_tables_find(tables, tm_hang_group_def.name),
                           .progress = tm_tables_find(tables, tm_hang_progress_def.name),
                           .calls = tm_tables_find(tables, tm_hang_call_def.name),
                           .seen = tm_tables_find(tables, tm_hang_seen_def.name),
                           .ras = tm_hang_ras_of(tables),
                           .n_ranks = n_ranks,
                           .reported = n_ranks > 0,
                           .unreadable = TM_VEC(int64_t),
                           .fronts = TM_VEC(tm_hang_front)};
    out->most_ranks = most_ranks(out);
    TM_TRY(count_ranks(out, err));
    bool ok = true;
    for (size_t i = 0; i < out->progress->n_rows; i++)
        out->any_open = out->any_open || tm_hang_int(out->progress, i, HP_OPEN, -1) >= 0;
    for (size_t i = 0; i < out->calls->n_rows; i++)
        out->any_open =
            out->any_open || tm_hang_int(out->calls, i, HC_STATE, 0) != TM_FLIGHT_COMPLETED;
    for (size_t g = 0; g < out->groups->n_rows && ok; g++) {
        members m;
        ok = find_members(out, g, &m);
        const reach r = find_reach(out, g, &m);
        if (ok && r.top != INT64_MIN)
            ok = add_front(out, g, &m, &r);
        ok = ok && add_p2p(out, g, &m, r.key);
        tm_vec_free(&m.ranks);
    }
    if (out->fronts.n > 0)
        tm_sort(out->fronts.data, out->fronts.n, sizeof(tm_hang_front), by_time);
    return ok ? TM_OK : tm_fail_memory(err);
}
