/* Reads back the blocks of the page. */
#ifndef TMERGE_TEST_TIMELINE_READER_H
#define TMERGE_TEST_TIMELINE_READER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/timeline_bytes.h"

typedef struct block_reader {
    const uint8_t *at, *end;
} block_reader;

static inline block_reader read_block(const tm_bytes *block) {
    const uint8_t *data = block->bytes.data;
    return (block_reader){data, data + block->bytes.n};
}

static inline uint64_t read_number(block_reader *r) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        assert_true(r->at < r->end);
        value |= (uint64_t)(*r->at & 0x7f) << shift;
        if (!(*r->at++ & 0x80))
            return value;
    }
}

static inline int64_t read_signed(block_reader *r) {
    uint64_t value = read_number(r);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#define EXPECT_NUMBERS(r, ...)                                                                     \
    do {                                                                                           \
        const uint64_t expected_[] = {__VA_ARGS__};                                                \
        for (size_t i_ = 0; i_ < sizeof expected_ / sizeof *expected_; i_++)                       \
            assert_int_equal(read_number(r), expected_[i_]);                                       \
    } while (0)

#endif
