#include "band.h"

#include <math.h>
#include <stdlib.h>

/* Number of marks after which the offset is updated, if at least BLOCK_LEAST of them were
 * paired. */
enum { BLOCK = 64, BLOCK_LEAST = 4 };

typedef struct band {
    const tm_run *ref, *other;
    int64_t *partners;
    int64_t offset_ns; /* as last measured */
    int64_t at_ns;     /* time on the reference's clock at which offset_ns was measured */
    double drift;
    bool met; /* pair only synchronising kernels by their ends, not all kernels */
    size_t n_pairs;
    /* Number of marks of the reference that should have a partner, because they are within the
     * other run's recording. */
    size_t n_expected;
    size_t n_wrong; /* number of marks of the reference where the other run has a different
                       operation */
} band;

/* Returns whether two marks can belong to one operation if the clock offset is @p offset_ns. */
static bool belong(const tm_mark *a, const tm_mark *b, int64_t offset_ns) {
    if (!a->synchronises)
        return llabs(b->end_ns - a->end_ns - offset_ns) <= tm_mark_noise(a, b);
    int64_t begin = a->begin_ns + offset_ns, end = a->end_ns + offset_ns;
    int64_t first = begin > b->begin_ns ? begin : b->begin_ns;
    int64_t last = end < b->end_ns ? end : b->end_ns;
    int64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;
    return 2 * (last - first) >= (x < y ? x : y);
}

static int64_t offset_at(const band *b, int64_t end_ns) {
    return b->offset_ns + llround(b->drift * (double)(end_ns - b->at_ns));
}

/* Returns whether a mark is paired by its end. If not, it is paired by its position. */
static bool tells(const band *b, const tm_mark *mark) {
    return !b->met || mark->synchronises;
}

static bool is_recorded(const tm_run *run, int64_t at_ns) {
    return at_ns >= run->marks[0].end_ns && at_ns <= run->marks[run->n - 1].end_ns;
}

/* Pairs the marks [from, to). Returns the number of pairs. Sets errors[k] to the difference between
 * the actual and the predicted end of pair k. */
static size_t pair_block(band *b, size_t from, size_t to, int64_t *errors) {
    size_t n = 0, partner;
    for (size_t i = from; i < to; i++) {
        const tm_mark *mark = &b->ref->marks[i];
        int64_t offset = offset_at(b, mark->end_ns), at = mark->end_ns + offset;
        if (!tells(b, mark))
            continue;
        if (tm_run_partner(b->ref, i, b->other, offset, &partner) &&
            belong(mark, &b->other->marks[partner], offset)) {
            b->partners[i] = (int64_t)partner;
            errors[n++] = b->other->marks[partner].end_ns - at;
        } else if (is_recorded(b->other, at)) {
            b->n_wrong += tm_run_meet(b->ref, i, b->other, offset, 0) == TM_ANOTHER;
        }
        b->n_expected += is_recorded(b->other, at);
    }
    return n;
}

/* Pairs the marks of a block and updates the offset. If the ends of the block do not agree with the
 * offset, undoes the pairing and returns false. */
static bool follow_block(band *b, size_t from, size_t to) {
    int64_t errors[BLOCK];
    size_t expected = b->n_expected, wrong = b->n_wrong, n = pair_block(b, from, to, errors);
    const tm_mark *middle = &b->ref->marks[from + (to - from) / 2];
    int64_t error = tm_run_median(errors, n);
    size_t due = b->n_expected - expected;
    bool few = due / 2 >= BLOCK_LEAST && n < due / 2;
    bool jumps = n >= BLOCK_LEAST && llabs(error) > tm_mark_noise(middle, middle);
    if (few || jumps) {
        for (size_t i = from; i < to; i++)
            b->partners[i] = -1;
        /* n_expected still counts the marks of this block, so they count as missing. */
        b->n_wrong = wrong;
        return false;
    }
    if (n >= BLOCK_LEAST) {
        b->offset_ns = offset_at(b, middle->end_ns) + error;
        b->at_ns = middle->end_ns;
    }
    b->n_pairs += n;
    return true;
}

static void begin_at(band *b, const tm_shift *shift) {
    b->offset_ns = shift->offset_ns;
    b->at_ns = b->ref->marks[shift->centre].end_ns;
    b->drift = shift->drift;
}

/* Removes pairs that cross an earlier pair. */
static void drop_crossings(band *b) {
    int64_t last = -1;
    for (size_t i = 0; i < b->ref->n; i++) {
        if (b->partners[i] < 0)
            continue;
        if (b->partners[i] <= last) {
            b->partners[i] = -1;
            b->n_pairs--;
        } else {
            last = b->partners[i];
        }
    }
}

/* Returns whether n marks, from mark i of the reference and mark j of the other run on, can be
 * paired by position. Their signatures must agree, and none of them may be paired by its end. */
static bool is_same(const band *b, size_t i, size_t j, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (tells(b, &b->ref->marks[i + k]) || tells(b, &b->other->marks[j + k]) ||
            !tm_mark_fits(&b->ref->marks[i + k], &b->other->marks[j + k]))
            return false;
    return true;
}

static void pair_all(band *b, size_t i, size_t j, size_t n) {
    for (size_t k = 0; k < n; k++)
        b->partners[i + k] = (int64_t)(j + k);
}

/* Returns the first paired mark of the reference from i on; the reference's n if there is none. */
static size_t next_paired(const band *b, size_t i) {
    while (i < b->ref->n && b->partners[i] < 0)
        i++;
    return i;
}

/* Returns whether one of the runs has every operation of the other. Only the marks between the
 * first and the last pair count. */
static bool is_whole(const band *b, size_t first) {
    bool ref_lacks = false, other_lacks = false;
    for (size_t i = first, next; (next = next_paired(b, i + 1)) < b->ref->n; i = next) {
        size_t j = (size_t)b->partners[i], end = (size_t)b->partners[next];
        ref_lacks = ref_lacks || end - j > next - i;
        other_lacks = other_lacks || end - j < next - i;
        for (size_t k = i + 1; k < next; k++)
            other_lacks = other_lacks || tells(b, &b->ref->marks[k]);
        for (size_t k = j + 1; k < end; k++)
            ref_lacks = ref_lacks || tells(b, &b->other->marks[k]);
    }
    return !ref_lacks || !other_lacks;
}

/* Counts the marks between mark i and the next mark that is paired by its end: after i if @p after
 * is set, else before i. Sets *ends if there is no such mark up to the end of the run. */
static size_t count_rest(const band *b, const tm_run *run, size_t i, bool after, bool *ends) {
    size_t n = 0, most = after ? run->n - i - 1 : i;
    while (n < most && !tells(b, &run->marks[after ? i + 1 + n : i - 1 - n]))
        n++;
    *ends = n == most;
    return n;
}

/* Pairs the marks after the last pair if @p after is set, else the marks before the first pair, up
 * to the next mark that is paired by its end. They are paired only if both runs have equally many,
 * and at least one of the runs has no mark beyond them that is paired by its end. */
static void pair_edge(band *b, size_t i, bool after) {
    bool ends, other_ends;
    size_t j = (size_t)b->partners[i], n = count_rest(b, b->ref, i, after, &ends);
    if (n != count_rest(b, b->other, j, after, &other_ends) || (!ends && !other_ends))
        return;
    size_t from = after ? i + 1 : i - n, others = after ? j + 1 : j - n;
    if (is_same(b, from, others, n))
        pair_all(b, from, others, n);
}

/* Pairs kernels that do not synchronise by their position between synchronising kernels. If one run
 * has all kernels of the other, equal counts mean the same kernels. If each run lacks some, equal
 * counts may hide different kernels, and nothing is paired. */
static void pair_rest(band *b) {
    size_t first = next_paired(b, 0), last = first;
    if (!b->met || first == b->ref->n || !is_whole(b, first))
        return;
    for (size_t i = first; i < b->ref->n; i = next_paired(b, i + 1))
        last = i;
    for (size_t i = first, next; i < last; i = next) {
        next = next_paired(b, i + 1);
        size_t n = next - i - 1, j = (size_t)b->partners[i] + 1;
        if ((size_t)b->partners[next] - j == n && is_same(b, i + 1, j, n))
            pair_all(b, i + 1, j, n);
    }
    pair_edge(b, first, false);
    pair_edge(b, last, true);
}

tm_unmatched tm_band_pair(const tm_run *ref, const tm_run *other, const tm_shift *shift,
                          int64_t *partners) {
    band b = {.ref = ref, .other = other, .partners = partners};
    b.met = tm_run_synchronises(ref) && tm_run_synchronises(other);
    for (size_t i = 0; i < ref->n; i++)
        partners[i] = -1;
    begin_at(&b, shift);
    for (size_t from = shift->centre; from < ref->n;) {
        size_t to = ref->n - from > BLOCK ? from + BLOCK : ref->n;
        if (!follow_block(&b, from, to))
            break;
        from = to;
    }
    begin_at(&b, shift);
    for (size_t to = shift->centre; to > 0;) {
        size_t from = to > BLOCK ? to - BLOCK : 0;
        if (!follow_block(&b, from, to))
            break;
        to = from;
    }
    drop_crossings(&b);
    size_t least = shift->least > 0 ? shift->least : tm_shift_least(ref, other);
    tm_unmatched reason = b.n_wrong > 1 && b.n_wrong * 50 > b.n_pairs ? TM_UNMATCHED_SIGNATURES
                          : b.n_pairs * 2 < b.n_expected              ? TM_UNMATCHED_INCOHERENT
                          : b.n_pairs < least                         ? TM_UNMATCHED_TOO_FEW
                                                                      : TM_UNMATCHED_NOT;
    for (size_t i = 0; i < ref->n && reason != TM_UNMATCHED_NOT; i++)
        partners[i] = -1;
    if (reason == TM_UNMATCHED_NOT)
        pair_rest(&b);
    return reason;
}
