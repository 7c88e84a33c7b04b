#include "align.h"

#include <stdlib.h>

#include "band.h"
#include "shift.h"

enum {
    REFERENCES = 3, /* maximum number of members tried as the reference */
    LOOPS = 3,      /* number of pairs of members whose offsets are compared */
    COMMON = 17     /* maximum number of common operations examined for a pair */
};

typedef struct alignment {
    tm_member *members;
    size_t n;
    size_t reference;
    int64_t *partners; /* [kernels of the longest run] result of tm_band_pair */
    bool *used;        /* [n] whether the member has been a reference */
} alignment;

/* Leaves a member out: its kernels belong to no operation. */
static void leave(tm_member *member, tm_unmatched reason) {
    member->reason = reason;
    for (size_t i = 0; i < member->run.n; i++)
        member->operations[i] = -1;
}

static void correspond(const alignment *a, tm_member *member) {
    const tm_run *ref = &a->members[a->reference].run;
    tm_shift shift;
    leave(member, tm_shift_find(ref, &member->run, &shift));
    if (member->reason == TM_UNMATCHED_NOT)
        member->reason = tm_band_pair(ref, &member->run, &shift, a->partners);
    for (size_t i = 0; i < ref->n && member->reason == TM_UNMATCHED_NOT; i++)
        if (a->partners[i] >= 0)
            member->operations[a->partners[i]] = (int64_t)i;
}

/* Aligns all members with the reference. Returns how many of them correspond to the reference. */
static size_t align_to(alignment *a, size_t reference) {
    size_t n = 0;
    a->reference = reference;
    a->used[reference] = true;
    for (size_t r = 0; r < a->n; r++) {
        if (r == reference)
            continue;
        correspond(a, &a->members[r]);
        n += a->members[r].reason == TM_UNMATCHED_NOT;
    }
    return n;
}

/* Returns the member with the most kernels that has not been a reference yet; n if there is
 * none. */
static size_t next_reference(const alignment *a) {
    size_t best = a->n;
    for (size_t r = 0; r < a->n; r++)
        if (!a->used[r] && (best == a->n || a->members[r].run.n > a->members[best].run.n))
            best = r;
    return best;
}

static void align(alignment *a) {
    size_t best = 0, most = 0;
    for (size_t k = 0; k < REFERENCES && k < a->n; k++) {
        size_t reference = next_reference(a), n = align_to(a, reference);
        if (k == 0 || n > most) {
            best = reference;
            most = n;
        }
        if (2 * n >= a->n - 1)
            break;
    }
    if (a->reference != best)
        align_to(a, best);
}

/* Finds the next operation that both members have, starting at marks *i of x and *j of y. */
static bool next_common(const tm_member *x, const tm_member *y, size_t *i, size_t *j) {
    for (; *i < x->run.n; ++*i) {
        while (*j < y->run.n && y->operations[*j] < x->operations[*i])
            ++*j;
        if (*j < y->run.n && x->operations[*i] >= 0 && y->operations[*j] == x->operations[*i])
            return true;
    }
    return false;
}

/* Collects the differences between the ends of up to COMMON operations that both members have. The
 * last of these operations is about COMMON / 2 marks after mark @p centre of x. If x has
 * synchronising kernels, uses only these. Sets *at_ns to the end of the last operation used. */
static size_t common_offsets(const tm_member *x, const tm_member *y, size_t centre,
                             int64_t offsets[COMMON], int64_t *at_ns) {
    const bool met = tm_run_synchronises(&x->run);
    size_t n = 0;
    for (size_t i = 0, j = 0; next_common(x, y, &i, &j); i++) {
        if (met && !x->run.marks[i].synchronises)
            continue;
        if (n >= COMMON && i > centre + COMMON / 2)
            break;
        offsets[n++ % COMMON] = y->run.marks[j].end_ns - x->run.marks[i].end_ns;
        *at_ns = x->run.marks[i].end_ns;
    }
    return n < COMMON ? n : COMMON;
}

/* Fits the offset between the clocks of two members directly. Returns whether it agrees with the
 * end differences of the operations that both members have, apart from a drift of 100 ppm. Returns
 * true if no offset can be fitted. */
static bool loop_closes(const tm_member *x, const tm_member *y) {
    tm_shift shift;
    int64_t offsets[COMMON], at = 0;
    if (tm_shift_find(&x->run, &y->run, &shift) != TM_UNMATCHED_NOT)
        return true;
    size_t n = common_offsets(x, y, shift.centre, offsets, &at);
    const tm_mark *mark = &x->run.marks[shift.centre];
    return n == 0 || llabs(tm_run_median(offsets, n) - shift.offset_ns) <=
                         llabs(at - mark->end_ns) / 10000 + tm_mark_noise(mark, mark);
}

/* Checks some pairs of members (see loop_closes). If a check fails, leaves out both members,
 * because either may be wrong. */
static void check_loops(alignment *a) {
    for (size_t k = 0; k < LOOPS; k++) {
        size_t x = k * a->n / LOOPS, y;
        while (x < a->n && (x == a->reference || a->members[x].reason != TM_UNMATCHED_NOT))
            x++;
        for (y = x + 1; y < a->n; y++)
            if (y != a->reference && a->members[y].reason == TM_UNMATCHED_NOT)
                break;
        if (y < a->n && !loop_closes(&a->members[x], &a->members[y])) {
            leave(&a->members[x], TM_UNMATCHED_INCOHERENT);
            leave(&a->members[y], TM_UNMATCHED_INCOHERENT);
        }
    }
}

/* Assigns numbers to the kernels of the reference that at least one other member has. */
static void number_reference(alignment *a) {
    tm_member *reference = &a->members[a->reference];
    tm_unmatched reason = TM_UNMATCHED_NOT;
    leave(reference, TM_UNMATCHED_TOO_FEW);
    for (size_t r = 0; r < a->n; r++) {
        const tm_member *member = &a->members[r];
        if (r == a->reference)
            continue;
        if (member->reason == TM_UNMATCHED_NOT)
            reference->reason = TM_UNMATCHED_NOT;
        else if (member->reason > reason)
            reason = member->reason;
        for (size_t i = 0; i < member->run.n; i++)
            if (member->operations[i] >= 0)
                reference->operations[member->operations[i]] = member->operations[i];
    }
    if (reference->reason != TM_UNMATCHED_NOT && reason != TM_UNMATCHED_NOT)
        reference->reason = reason;
}

tm_status tm_match_align(tm_member *members, size_t n, tm_error *err) {
    size_t longest = 0;
    for (size_t r = 0; r < n; r++) {
        TM_TRY(tm_run_prepare(&members[r].run, err));
        longest = members[r].run.n > longest ? members[r].run.n : longest;
    }
    alignment a = {.members = members, .n = n};
    a.partners = calloc(longest + 1, sizeof *a.partners);
    a.used = calloc(n + 1, sizeof *a.used);
    tm_status status = a.partners && a.used ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        align(&a);
        check_loops(&a);
        number_reference(&a);
    }
    free(a.partners);
    free(a.used);
    return status;
}
