#include "source_ways.h"

#include <isa-l/igzip_lib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "input/decoder.h"

void append(tm_vec *vec, const void *bytes, size_t n) {
    if (n > 0)
        assert_non_null(tm_vec_append(vec, bytes, n));
}

outcome drain(tm_source *source, size_t step) {
    outcome got = {.bytes = TM_VEC(uint8_t)};
    uint8_t *buffer = malloc(step);
    assert_non_null(buffer);
    size_t n = 1;
    while (got.status == TM_OK && n > 0) {
        assert_false(tm_source_cut_short(source));
        got.status = tm_source_read(source, buffer, step, &n, &got.error);
        if (got.status != TM_OK)
            break;
        assert_true(n <= step);
        append(&got.bytes, buffer, n);
        assert_int_equal(tm_source_offset(source), got.bytes.n);
    }
    got.cut_short = tm_source_cut_short(source);
    if (got.status == TM_OK) {
        assert_int_equal(tm_source_consumed(source), tm_source_size(source));
        assert_int_equal(tm_source_read(source, buffer, step, &n, NULL), TM_OK);
        assert_int_equal(n, 0); /* at the end, another read gives 0 bytes again */
    } else {
        assert_int_equal(got.error.offset, got.bytes.n);
        assert_int_equal(got.error.status, got.status);
        assert_string_equal(got.error.path, tm_source_path(source));
        assert_int_equal(tm_source_read(source, buffer, step, &n, NULL), got.status);
    }
    free(buffer);
    tm_source_close(source);
    return got;
}

tm_source *open_pieces(span encoded, size_t piece) {
    tm_raw raw;
    tm_source *source = NULL;
    tm_raw_open_memory(&raw, encoded.bytes, encoded.n);
    if (piece > 0)
        raw.piece_bytes = piece;
    assert_int_equal(tm_source_wrap(&raw, "memory.json", &source, NULL), TM_OK);
    return source;
}

void write_all(int fd, span content) {
    const char *bytes = content.bytes;
    for (size_t done = 0; done < content.n;) {
        ssize_t n = write(fd, bytes + done, content.n - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
}

void make_file(char path[PATH_BYTES], span content) {
    strcpy(path, "/tmp/test_source.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    write_all(fd, content);
    close(fd);
}

tm_source *open_file(span content) {
    char path[PATH_BYTES];
    make_file(path, content);
    tm_source *source = NULL;
    assert_int_equal(tm_source_open(path, &source, NULL), TM_OK);
    assert_string_equal(tm_source_path(source), path);
    unlink(path); /* the open source keeps the file alive */
    return source;
}

static const size_t steps[] = {1, 2, 7, 19, 20, 21, 1 << 20};
static const size_t pieces[] = {1, 2, 3, 7, 0}; /* 0: unsplit */
_Static_assert(N_WAYS == COUNT(steps) * (COUNT(pieces) + 1) * 2, "a way for each of them");

outcome read_in_way(span encoded, size_t way) {
    bool ahead = way % 2 == 1;
    way /= 2;
    size_t at = way % (COUNT(pieces) + 1);
    tm_source *source = at < COUNT(pieces) ? open_pieces(encoded, pieces[at]) : open_file(encoded);
    if (ahead)
        tm_source_decode_ahead(source);
    return drain(source, steps[way / (COUNT(pieces) + 1)]);
}

void check_ticks(span delivered, size_t n_ticks) {
    const uint8_t *bytes = delivered.bytes;
    assert_int_equal(delivered.n, n_ticks * strlen(TICK));
    for (size_t i = 0; i < delivered.n; i++)
        assert_int_equal(bytes[i], TICK[i % strlen(TICK)]);
}

span all_of(const tm_vec *vec) {
    return (span){vec->data, vec->n};
}

tm_vec copy_of(span content) {
    tm_vec copy = TM_VEC(uint8_t);
    append(&copy, content.bytes, content.n);
    return copy;
}

tm_vec make_text(size_t n) {
    tm_vec text = TM_VEC(uint8_t);
    uint32_t seed = 12345;
    while (text.n < n) {
        char word[32];
        seed = seed * 1664525u + 1013904223u;
        append(&text, word, (size_t)snprintf(word, sizeof word, "{\"ts\": %u},\n", seed >> 12));
    }
    text.n = n;
    return text;
}

void append_gzip(tm_vec *file, span content) {
    struct isal_zstream stream = {0}; /* isal_deflate_init leaves many fields unset */
    size_t room = content.n + content.n / 8 + 1024;
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    isal_deflate_stateless_init(&stream);
    stream.gzip_flag = IGZIP_GZIP;
    stream.next_in = (uint8_t *)(uintptr_t)content.bytes;
    stream.avail_in = (uint32_t)content.n;
    stream.next_out = packed;
    stream.avail_out = (uint32_t)room;
    stream.end_of_stream = 1;
    assert_int_equal(isal_deflate_stateless(&stream), COMP_OK);
    append(file, packed, stream.total_out);
    free(packed);
}

void append_zstd(tm_vec *file, span content) {
    size_t room = ZSTD_compressBound(content.n);
    uint8_t *packed = malloc(room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(packed);
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(context, packed, room, content.bytes, content.n);
    assert_false(ZSTD_isError(n));
    append(file, packed, n);
    ZSTD_freeCCtx(context);
    free(packed);
}
