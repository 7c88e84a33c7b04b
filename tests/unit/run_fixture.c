/* Simulated runs of kernels of a group, with known truth, for the alignment tests. */
#include "run_fixture.h"

#include <stdlib.h>

const int64_t ends_us[16] = {1000, 1400, 1830, 2350, 2660, 3300, 3650, 4390,
                             4670, 5260, 5930, 6250, 7020, 7480, 8040, 8870};

int64_t draw(uint64_t *state, int64_t limit) {
    *state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return limit > 0 ? (int64_t)((x ^ x >> 31) % (uint64_t)limit) : 0;
}

static rank_run allocate(size_t n) {
    rank_run made = {{calloc(n + 1, sizeof(tm_mark)), 0}, calloc(n + 1, sizeof(int64_t))};
    assert_non_null(made.run.marks);
    assert_non_null(made.truth);
    return made;
}

static void prepare(rank_run *r) {
    tm_error err;
    assert_int_equal(tm_run_prepare(&r->run, &err), TM_OK);
}

enum { BROADCAST_NS = 40000 };

rank_run simulate(const group_spec *spec, uint64_t seed, int64_t r, int *seen) {
    uint64_t shared = seed, own = seed * 1000003 + (uint64_t)r + 1;
    int64_t n = spec->steps * spec->per_step, at = 1700 * INT64_C(1000000000);
    rank_run made = allocate((size_t)n);
    int64_t offset = draw(&own, 2 * spec->offset_ns + 1) - spec->offset_ns;
    int64_t drift = draw(&own, 2 * spec->drift_ppm + 1) - spec->drift_ppm;
    int64_t skipped = draw(&own, spec->skipped_steps + 1);
    for (int64_t k = 0, origin = at, after = 0; k < n; k++) {
        bool broadcast = k % spec->per_step < spec->broadcasts;
        int64_t waited = draw(&own, 100 * US), noise = draw(&own, spec->noise_ns + 1);
        bool lost = draw(&own, 1000) < spec->lost_permille;
        bool late = draw(&own, 1000) < spec->late_permille;
        bool ends_step = k % spec->per_step == spec->per_step - 1;
        if (broadcast && k % spec->per_step == 0)
            after = draw(&own, INT64_C(4) * BROADCAST_NS);
        at += broadcast ? BROADCAST_NS : spec->gap_ns + draw(&shared, spec->jitter_ns + 1);
        int64_t own_at = at + offset + (at - origin) / MS * drift; /* 1 ppm is 1 ns per ms */
        own_at += broadcast ? after : 0;
        at += ends_step ? spec->step_gap_ns + draw(&shared, spec->jitter_ns + 1) : 0;
        if (lost || k / spec->per_step < skipped)
            continue;
        made.truth[made.run.n] = k;
        made.run.marks[made.run.n++] =
            (tm_mark){.begin_ns = own_at - (broadcast ? BROADCAST_NS : 20 * US + waited),
                      .end_ns = own_at + noise + (late ? spec->late_ns : 0),
                      .step = spec->knows_steps ? k / spec->per_step + 7 : -1,
                      .signature = broadcast                         ? 3
                                   : spec->last_differs && ends_step ? 2
                                                                     : 1,
                      .synchronises = !broadcast};
        if (seen)
            seen[k]++;
    }
    prepare(&made);
    return made;
}

rank_run run_of(const int64_t *at_us, size_t n) {
    rank_run made = allocate(n);
    made.run.n = n;
    for (size_t i = 0; i < n; i++)
        made.run.marks[i] = (tm_mark){.begin_ns = (at_us[i] - 10) * US,
                                      .end_ns = at_us[i] * US,
                                      .step = -1,
                                      .signature = 1,
                                      .synchronises = true};
    prepare(&made);
    return made;
}

void free_run(rank_run *r) {
    free(r->run.marks);
    free(r->truth);
}
