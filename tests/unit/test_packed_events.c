/* Timelines whose events are packed. */
#include "timeline/packed_events.h"

#include "run_fixture.h"
#include "timeline/trace.h"

enum { EVENTS = 300, ATTRS = 129, SIZE_MOST = 64 };

/* Size of each packed attribute [B], without the padding at its end. */
static const size_t bytes_of[TM_N_ATTRS] = {
    [TM_ATTR_LAUNCH] = 12, [TM_ATTR_KERNEL] = 16,   [TM_ATTR_COPY] = 24,
    [TM_ATTR_MEMORY] = 44, [TM_ATTR_COUNTER] = 16,  [TM_ATTR_SHAPES] = 8,
    [TM_ATTR_INPUTS] = 12, [TM_ATTR_OPERATOR] = 24, [TM_ATTR_XLA] = 40};

/* Returns a copy of [n] elements. Fills these with numbers of 32 bits, mostly small ones. */
static void *filled(uint64_t *seed, char *like, size_t n, size_t size, size_t used) {
    static const int64_t limits[] = {1, 200, 60000, 1 << 20, INT64_C(1) << 32};
    memset(like, 0, n * size);
    for (size_t at = 0; at < used; at += sizeof(uint32_t)) {
        const int64_t limit = limits[draw(seed, COUNT(limits))];
        const uint32_t least = (uint32_t)draw(seed, INT64_C(1) << 32);
        for (size_t i = 0; i < n; i++) {
            const uint32_t number = least + (uint32_t)draw(seed, limit);
            memcpy(like + i * size + at, &number, sizeof number);
        }
    }
    void *copy = malloc(n * size);
    assert_non_null(copy);
    return memcpy(copy, like, n * size);
}

TEST(unpacked_events_are_those_that_were_packed) {
    static char begin[EVENTS * 8], duration[EVENTS * 8], step[EVENTS * 4], launch[EVENTS * 4];
    static char attrs[TM_N_ATTRS][ATTRS * SIZE_MOST];
    tm_error err;
    for (uint64_t seed = 1; seed < 40; seed++) {
        uint64_t draws = seed;
        tm_timeline t = {.n_events = EVENTS};
        t.begin_ns = filled(&draws, begin, EVENTS, 8, 8);
        t.duration_ns = filled(&draws, duration, EVENTS, 8, 8);
        t.step = filled(&draws, step, EVENTS, 4, 4);
        t.launch = filled(&draws, launch, EVENTS, 4, 4);
        for (int a = 0; a < TM_N_ATTRS; a++) {
            const size_t size = tm_attr_size((tm_attr)a);
            t.n_attrs[a] = bytes_of[a] > 0 ? ATTRS : 0;
            if (bytes_of[a] > 0)
                t.attrs[a] = filled(&draws, attrs[a], ATTRS, size, bytes_of[a]);
        }
        assert_ok(tm_timeline_open(&t, &err)); /* does nothing, because it is not packed */
        assert_ok(tm_timeline_pack(&t, &err));
        assert_true(!t.begin_ns && !t.launch && !t.attrs[TM_ATTR_XLA]);
        assert_ok(tm_timeline_open_array(&t, offsetof(tm_timeline, launch), &err));
        assert_memory_equal(t.launch, launch, sizeof launch);
        assert_true(!t.begin_ns);
        tm_timeline_close(&t);
        assert_ok(tm_timeline_open(&t, &err));
        assert_memory_equal(t.begin_ns, begin, sizeof begin);
        assert_memory_equal(t.duration_ns, duration, sizeof duration);
        assert_memory_equal(t.step, step, sizeof step);
        assert_memory_equal(t.launch, launch, sizeof launch);
        for (int a = 0; a < TM_N_ATTRS; a++)
            if (bytes_of[a] > 0)
                assert_memory_equal(t.attrs[a], attrs[a], ATTRS * tm_attr_size((tm_attr)a));
        tm_timeline_destroy(&t);
    }
}

RUN_TESTS()
