/* ISA-L restores bytes that were packed in one call or in pieces. */
#include "base/deflate.h"

#include <isa-l/igzip_lib.h>

#include "base/inflate.h"
#include "base/vec.h"
#include "timeline_fixture.h"

/* 6 of 8 bits are noise, so this compresses to three quarters. */
static void make_noise(unsigned char *out, size_t size) {
    uint32_t seed = 1;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        out[i] = (unsigned char)(seed >> 26);
    }
}

static void assert_unpacks(void *packed, size_t n_packed, const void *expected, size_t n) {
    struct inflate_state state;
    unsigned char *out = malloc(n + 1);
    assert_non_null(out);
    isal_inflate_init(&state);
    state.crc_flag = ISAL_ZLIB;
    state.next_in = packed;
    state.avail_in = (uint32_t)n_packed;
    state.next_out = out;
    state.avail_out = (uint32_t)n + 1;
    assert_int_equal(isal_inflate(&state), ISAL_DECOMP_OK);
    assert_true(state.block_state == ISAL_BLOCK_FINISH && state.avail_in == 0);
    assert_int_equal(state.total_out, n);
    assert_memory_equal(out, expected, n);
    free(out);
}

static tm_status append(void *context, const void *packed, size_t size, tm_error *err) {
    return tm_vec_append(context, packed, size) ? TM_OK : tm_fail_memory(err);
}

static tm_status refuse(void *context, const void *packed, size_t size, tm_error *err) {
    (void)context, (void)packed, (void)size;
    return tm_fail(err, TM_ERR_OUTPUT, NULL, -1, "full");
}

TEST(what_is_packed_unpacks) {
    static const size_t sizes[] = {0, 1, 8, 9, 1000, 500000}; /* the last needs several pieces */
    static unsigned char noise[500000], packed[600000];
    make_noise(noise, sizeof noise);
    tm_deflate *deflate = tm_deflate_create();
    assert_non_null(deflate);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        tm_error err = {0};
        tm_vec pieces = TM_VEC(unsigned char), own = TM_VEC(unsigned char);
        size_t size = tm_deflate_all(deflate, noise, sizes[i], packed, sizeof packed);
        assert_unpacks(packed, size, noise, sizes[i]);
        assert_int_equal(tm_deflate_all(deflate, noise, sizes[i], packed, size - 1), 0);
        assert_ok(tm_deflate_to(deflate, noise, sizes[i], append, &pieces, &err));
        assert_unpacks(pieces.data, pieces.n, noise, sizes[i]);
        assert_int_equal(tm_inflate(pieces.data, pieces.n, sizes[i], &own), TM_INFLATED);
        assert_int_equal(own.n, sizes[i]);
        assert_memory_equal(own.data, noise, sizes[i]);
        assert_int_equal(tm_inflate(pieces.data, pieces.n - 1, sizes[i], &own), TM_INFLATE_DAMAGED);
        if (sizes[i] > 0)
            assert_int_equal(tm_inflate(pieces.data, pieces.n, sizes[i] - 1, &own),
                             TM_INFLATE_LARGE);
        tm_vec_free(&pieces);
        assert_int_equal(tm_deflate_to(deflate, noise, sizes[i], refuse, NULL, &err),
                         TM_ERR_OUTPUT);
        tm_vec_free(&own);
    }
    tm_deflate_destroy(deflate);
}

RUN_TESTS()
