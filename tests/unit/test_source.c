/* Byte sources: every encoding gives the same bytes with blocks of any size, and all damage is
 * detected. */
#include "tmerge/source.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "input/decoder.h"
#include "source_ways.h"

/* A file: its content is a number of ticks, followed by its end or a failure. */
typedef struct stream_case {
    span file;
    size_t n_ticks;
    const char *encoding;
    const char *message; /* NULL: the stream is good */
    bool cut_short;
} stream_case;

#define GZIP_CUT "gzip stream is cut short: the file ends inside a member"
#define GZIP_RUBBISH "other data follows the gzip stream"
#define ZSTD_CUT "zstd stream is cut short: the file ends inside a frame"
#define ZSTD_RUBBISH "other data follows the zstd stream"
#define ZSTD_WINDOW                                                                                \
    "zstd stream needs a window of over 128 MiB (zstd --long=28 or more): compress the file "      \
    "again with --long=27 or without --long"
#define ZSTD_DICTIONARY                                                                            \
    "zstd stream was made with a dictionary: compress the file again without a dictionary"

static const stream_case streams[] = {
    {INIT(TICK), 1, "plain", NULL, false},
    {INIT(TICK TICK TICK), 3, "plain", NULL, false},
    {INIT(GZIP), 1, "gzip", NULL, false},
    {INIT(FIELDS), 1, "gzip", NULL, false},
    {INIT(GZIP GZIP), 2, "gzip", NULL, false},
    {INIT(FIELDS GZIP FIELDS), 3, "gzip", NULL, false},
    {INIT(GZIP "\0"), 1, "gzip", NULL, false},
    {INIT(GZIP FIELDS ZEROS_8 ZEROS_8 ZEROS_8), 2, "gzip", NULL, false},
    {INIT(GZIP "rub"), 1, "gzip", GZIP_RUBBISH, false},
    {INIT(GZIP "\n"), 1, "gzip", GZIP_RUBBISH, false},
    {INIT(GZIP ZEROS_8 "r"), 1, "gzip", GZIP_RUBBISH, false},
    {INIT(GZIP "\x1f\x8c" TICK), 1, "gzip", GZIP_RUBBISH, false},
    {{GZIP, 27}, 1, "gzip", GZIP_CUT, true}, /* cut in the trailer, after all content */
    {INIT(GZIP "\x1f"), 1, "gzip", GZIP_CUT, true},
    {{GZIP FIELDS, 31 + 20}, 1, "gzip", GZIP_CUT, true}, /* cut in the second member's name */
    {INIT(ZSTD), 1, "zstd", NULL, false},
    {INIT(ZSTD ZSTD ZSTD), 3, "zstd", NULL, false},
    {INIT(SKIPPABLE ZSTD), 1, "zstd", NULL, false},
    {INIT(ZSTD SKIPPABLE ZSTD SKIPPABLE), 2, "zstd", NULL, false},
    {INIT(WINDOW_27), 0, "zstd", NULL, false},
    {INIT(ZSTD "rub"), 1, "zstd", ZSTD_RUBBISH, false},
    {INIT(ZSTD "\n"), 1, "zstd", ZSTD_RUBBISH, false},
    {INIT(ZSTD ZEROS_8), 1, "zstd", ZSTD_RUBBISH, false},
    {INIT(ZSTD "(rubbish"), 1, "zstd", ZSTD_RUBBISH, false},
    {{ZSTD, 28}, 1, "zstd", ZSTD_CUT, true}, /* cut in the checksum */
    {INIT(ZSTD "\x28\xb5"), 1, "zstd", ZSTD_CUT, true},
    {{SKIPPABLE SKIPPABLE, 11 + 10}, 0, "zstd", ZSTD_CUT, true},
    {INIT(WINDOW_28), 0, "zstd", ZSTD_WINDOW, false},
    {INIT("\x28\xb5\x2f\xfd\1\x58\7\1\0\0"), 0, "zstd", ZSTD_DICTIONARY, false}, /* dictionary 7 */
    {INIT(ZSTD WINDOW_28), 1, "zstd", ZSTD_WINDOW, false},
};

static void check_stream(const stream_case *c) {
    for (size_t way = 0; way < N_WAYS; way++) {
        outcome got = read_in_way(c->file, way);
        check_ticks(all_of(&got.bytes), c->n_ticks);
        assert_int_equal(got.status, c->message ? TM_ERR_INPUT : TM_OK);
        if (c->message)
            assert_string_equal(got.error.message, c->message);
        assert_int_equal(got.cut_short, c->cut_short);
        tm_vec_free(&got.bytes);
    }
}

TEST(streams_give_their_content_or_say_what_is_wrong) {
    for (size_t i = 0; i < COUNT(streams); i++) {
        tm_source *source = open_pieces(streams[i].file, 0);
        assert_string_equal(tm_source_encoding(source), streams[i].encoding);
        assert_string_equal(tm_source_path(source), "memory.json");
        assert_int_equal(tm_source_size(source), streams[i].file.n);
        tm_source_close(source);
        check_stream(&streams[i]);
    }
}

/* A good byte is replaced. The layout is that of RFC 1952 and RFC 1951. */
typedef struct damage_case {
    span good;
    size_t at;
    uint8_t value;
    size_t n_ticks;
    const char *message;
} damage_case;

static const damage_case damages[] = {
    {INIT(GZIP), 2, 7, 0, "gzip member has an unknown compression method"},
    {INIT(GZIP), 10, 0x07, 0, "gzip stream is damaged"}, /* block type 3 does not exist */
    {INIT(GZIP), 23, 0x3b, 1, "gzip checksum is wrong: the file is damaged"},
    {INIT(GZIP), 27, 0x15, 1, "gzip checksum is wrong: the file is damaged"}, /* in the length */
    {INIT(FIELDS), 27, 0x2f, 0, "gzip header checksum is wrong: the file is damaged"},
    {INIT(FIELDS), 17, '_', 0, "gzip header checksum is wrong: the file is damaged"},
};

TEST(gzip_damage_is_named_after_what_was_decoded) {
    for (size_t i = 0; i < COUNT(damages); i++) {
        const damage_case *c = &damages[i];
        tm_vec file = copy_of(c->good);
        ((uint8_t *)file.data)[c->at] = c->value;
        check_stream(&(stream_case){all_of(&file), c->n_ticks, "gzip", c->message, false});
        tm_vec_free(&file);
    }
}

TEST(zstd_checksum_damage_is_named) {
    tm_vec file = copy_of(SPAN(ZSTD));
    ((uint8_t *)file.data)[29] ^= 1; /* a byte of the checksum */
    for (size_t way = 0; way < N_WAYS; way++) {
        outcome got = read_in_way(all_of(&file), way);
        assert_int_equal(got.status, TM_ERR_INPUT);
        assert_string_equal(got.error.message, "zstd checksum is wrong: the file is damaged");
        assert_true(got.bytes.n <= strlen(TICK)); /* zstd may keep back the failing block */
        assert_false(got.cut_short);
        tm_vec_free(&got.bytes);
    }
    tm_vec_free(&file);
}

/* Flips every bit from byte `first` on. Returns how many flips were not noticed. */
static size_t flip_bits(span good, size_t first) {
    size_t n_unnoticed = 0;
    for (size_t bit = first * 8; bit < good.n * 8; bit++) {
        tm_vec file = copy_of(good);
        ((uint8_t *)file.data)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (size_t piece = 0; piece < 2; piece++) {
            outcome got = drain(open_pieces(all_of(&file), piece), 64);
            if (got.status == TM_OK) {
                check_ticks(all_of(&got.bytes), 1);
                n_unnoticed += piece;
            }
            tm_vec_free(&got.bytes);
        }
        tm_vec_free(&file);
    }
    return n_unnoticed;
}

TEST(a_flipped_bit_never_changes_the_content_unnoticed) {
    /* deflate does not use 3 bits of its last byte */
    assert_int_equal(flip_bits(SPAN(GZIP), 10), 3);
    assert_int_equal(flip_bits(SPAN(FIELDS), 3), 3); /* this header has its own checksum */
    /* 2 bits of the sequence modes are reserved, and some versions of zstd do not check them */
    assert_true(flip_bits(SPAN(ZSTD), 6) <= 2);
}

static void append_plain(tm_vec *file, span content) {
    append(file, content.bytes, content.n);
}

static void (*const encoders[])(tm_vec *, span) = {append_plain, append_gzip, append_zstd};

static void check_whole(outcome got, span expected) {
    assert_int_equal(got.status, TM_OK);
    assert_int_equal(got.bytes.n, expected.n);
    assert_memory_equal(got.bytes.data, expected.bytes, expected.n);
    tm_vec_free(&got.bytes);
}

static tm_source *decoded_ahead(tm_source *source) {
    tm_source_decode_ahead(source);
    return source;
}

TEST(large_content_is_the_same_in_small_and_large_steps) {
    enum { TEXT = 1500000, BLANK = 3000000 }; /* blanks: a little input makes much output */
    for (size_t e = 0; e < COUNT(encoders); e++) {
        tm_vec text = make_text(TEXT), file = TM_VEC(uint8_t), expected = make_text(TEXT);
        uint8_t *blank = calloc(BLANK, 1);
        assert_non_null(blank);
        append(&expected, blank, BLANK);
        append(&expected, text.data, TEXT);
        encoders[e](&file, (span){text.data, TEXT});
        encoders[e](&file, (span){blank, BLANK});
        encoders[e](&file, (span){text.data, TEXT});
        check_whole(drain(open_pieces(all_of(&file), 0), 1 << 20), all_of(&expected));
        check_whole(drain(open_pieces(all_of(&file), 1000), 65537), all_of(&expected));
        check_whole(drain(open_pieces(all_of(&file), 0), in_full_set() ? 1 : 61),
                    all_of(&expected));
        check_whole(drain(open_file(all_of(&file)), 1 << 20), all_of(&expected));
        check_whole(drain(decoded_ahead(open_file(all_of(&file))), 65537), all_of(&expected));
        check_whole(drain(decoded_ahead(open_pieces(all_of(&file), 1000)), 1 << 20),
                    all_of(&expected));
        check_whole(drain(open_file(all_of(&file)), 10000000), all_of(&expected));
        free(blank);
        tm_vec_free(&text);
        tm_vec_free(&file);
        tm_vec_free(&expected);
    }
}

/* The reader may be anywhere, also while decoding ahead waits for room. */
TEST(a_source_can_be_left_and_begun_again) {
    tm_vec text = make_text(4000000);
    static char buffer[3000000];
    for (size_t way = 0; way < 2 * COUNT(encoders); way++) {
        tm_vec file = TM_VEC(uint8_t);
        encoders[way / 2](&file, all_of(&text));
        for (size_t read = 1; read <= sizeof buffer; read *= 1000) {
            tm_source *source = open_file(all_of(&file));
            size_t n = 0;
            if (way % 2 == 1)
                tm_source_decode_ahead(source);
            assert_int_equal(tm_source_read(source, buffer, read, &n, NULL), TM_OK);
            assert_int_equal(n, read);
            assert_in_range(tm_source_consumed(source), 1, file.n);
            assert_int_equal(tm_source_rewind(source, NULL), TM_OK);
            assert_int_equal(tm_source_offset(source), 0);
            assert_int_equal(tm_source_read(source, buffer, read, &n, NULL), TM_OK);
            assert_memory_equal(buffer, text.data, n);
            tm_source_close(source);
        }
        tm_vec_free(&file);
    }
    tm_vec_free(&text);
}

/* Checks that all content of a truncated stream is read, and then the cut is reported. */
static void check_cut(tm_source *source, size_t step, span content) {
    outcome got = drain(source, step);
    assert_int_equal(got.status, TM_ERR_INPUT);
    assert_true(got.cut_short);
    assert_non_null(strstr(got.error.message, "stream is cut short: the file ends inside a"));
    assert_true(got.bytes.n <= content.n);
    if (got.bytes.n > 0)
        assert_memory_equal(got.bytes.data, content.bytes, got.bytes.n);
    tm_vec_free(&got.bytes);
}

TEST(a_cut_at_any_byte_is_found) {
    tm_vec text = make_text(3000);
    span ticks = SPAN(TICK);
    tm_vec files[] = {copy_of(SPAN(GZIP)), copy_of(SPAN(FIELDS)), copy_of(SPAN(ZSTD)),
                      TM_VEC(uint8_t), TM_VEC(uint8_t)};
    append_gzip(&files[3], all_of(&text));
    append_zstd(&files[4], all_of(&text));
    for (size_t i = 0; i < COUNT(files); i++) {
        span content = i < 3 ? ticks : all_of(&text);
        size_t step = i < 3 || in_full_set() ? 1 : 13;
        for (size_t n = 2 + first_of_every(step); n < files[i].n; n += step) { /* 1 byte is plain */
            span cut = {files[i].data, n};
            check_cut(open_pieces(cut, 0), 1 << 16, content);
            check_cut(open_pieces(cut, 1), 1, content);
            check_cut(open_file(cut), 7, content);
            check_cut(decoded_ahead(open_file(cut)), 7, content);
        }
        tm_vec_free(&files[i]);
    }
    tm_vec_free(&text);
}

TEST(a_long_stream_cut_short_gives_nearly_all_of_what_it_holds) {
    tm_vec text = make_text(1000000);
    for (size_t e = 1; e < COUNT(encoders); e++) {
        tm_vec file = TM_VEC(uint8_t);
        encoders[e](&file, all_of(&text));
        for (int ahead = 0; ahead < 2; ahead++) {
            tm_source *source = open_pieces((span){file.data, file.n / 2}, 0);
            outcome got = drain(ahead ? decoded_ahead(source) : source, 1 << 20);
            assert_true(got.cut_short);
            assert_true(got.bytes.n > 300000); /* half, minus one zstd block of 128 KiB */
            assert_memory_equal(got.bytes.data, text.data, got.bytes.n);
            tm_vec_free(&got.bytes);
        }
        tm_vec_free(&file);
    }
    tm_vec_free(&text);
}

TEST(only_the_outermost_encoding_of_two_bytes_or_more_is_taken_off) {
    tm_vec file = TM_VEC(uint8_t);
    append_gzip(&file, SPAN(GZIP));
    check_whole(drain(open_pieces(all_of(&file), 0), 64), SPAN(GZIP));
    tm_vec_free(&file);
    check_whole(drain(open_file((span){GZIP, 1}), 64), (span){GZIP, 1});
    check_whole(drain(open_file((span){ZSTD, 1}), 64), (span){ZSTD, 1});
}

static void check_unopened(const char *path, const char *message) {
    tm_source *source = NULL;
    tm_error err;
    assert_int_equal(tm_source_open(path, &source, &err), TM_ERR_INPUT);
    assert_null(source);
    assert_string_equal(err.message, message);
    assert_string_equal(err.path, path);
    assert_int_equal(err.offset, -1);
    assert_int_equal(tm_source_open(path, &source, NULL), TM_ERR_INPUT);
}

TEST(what_cannot_be_read_is_refused_on_opening) {
    char path[PATH_BYTES];
    make_file(path, (span){"", 0});
    check_unopened(path, "file is empty");
    unlink(path);
    check_unopened(path, "cannot be opened: No such file or directory");
    check_unopened("/tmp", "cannot be read: Is a directory");
    check_unopened("/dev/null", "file is empty");
    tm_source *source = NULL;
    tm_error err;
    assert_int_equal(tm_source_open_memory("", 0, "m", &source, &err), TM_ERR_INPUT);
    assert_string_equal(err.message, "file is empty");
    assert_string_equal(err.path, "m");
    assert_null(source);
    tm_source_close(NULL);
}

TEST(a_file_without_permission_is_refused) {
    if (geteuid() == 0)
        skip(); /* root may read everything */
    char path[PATH_BYTES];
    make_file(path, SPAN(TICK));
    assert_int_equal(chmod(path, 0), 0);
    check_unopened(path, "cannot be opened: Permission denied");
    unlink(path);
}

/* While the source is open, its descriptor is replaced by that of a folder, so that read fails. */
TEST(a_read_error_comes_after_what_was_read) {
    char path[PATH_BYTES];
    tm_raw raw;
    tm_source *source = NULL;
    make_file(path, SPAN(TICK));
    assert_int_equal(tm_raw_open(&raw, path, NULL), TM_OK);
    int folder = open("/tmp", O_RDONLY);
    assert_int_equal(dup2(folder, raw.fd), raw.fd);
    close(folder);
    unlink(path);
    assert_int_equal(tm_source_wrap(&raw, path, &source, NULL), TM_OK);
    outcome got = drain(source, 64);
    assert_int_equal(got.status, TM_ERR_INPUT);
    assert_string_equal(got.error.message, "cannot be read: Is a directory");
    assert_int_equal(got.error.offset, TM_RAW_HEAD); /* read before the replacement */
    assert_false(got.cut_short);
    tm_vec_free(&got.bytes);
}

TEST(a_plain_source_can_be_read_from_any_byte) {
    const size_t size = SPAN(TICK).n;
    for (size_t i = 0; i < 2 * (size + 1); i++) {
        size_t offset = i / 2, n = 0;
        char buffer[64];
        tm_source *source = i % 2 == 0 ? open_pieces(SPAN(TICK), 0) : open_file(SPAN(TICK));
        assert_int_equal(tm_source_skip(source, (int64_t)offset, NULL), TM_OK);
        assert_int_equal(tm_source_offset(source), offset);
        assert_int_equal(tm_source_read(source, buffer, sizeof buffer, &n, NULL), TM_OK);
        assert_int_equal(n, size - offset);
        assert_memory_equal(buffer, &TICK[offset], n);
        assert_int_equal(tm_source_offset(source), size);
        assert_int_equal(tm_source_consumed(source), n);
        tm_source_close(source);
    }
}

TEST(what_cannot_be_skipped_is_said) {
    static const struct {
        span content;
        int64_t offset;
        const char *message;
    } cases[] = {
        {INIT(TICK), 21, "ends before byte 21"}, /* the line has 20 bytes */
        {INIT(TICK), -1, "ends before byte -1"},
        {INIT(GZIP), 1, "is compressed: it can only be read whole"},
        {INIT(ZSTD), 1, "is compressed: it can only be read whole"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_error err;
        tm_source *source = open_file(cases[i].content);
        assert_int_equal(tm_source_skip(source, cases[i].offset, &err), TM_ERR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.path, tm_source_path(source));
        tm_source_close(source);
    }
}

static void ignore_signal(int number) {
    (void)number;
}

/* Writes the file in two halves, and interrupts the reader's read call in between. */
static void feed_slowly(const char *path, span content) {
    const struct timespec pause = {.tv_nsec = 20000000};
    int fd = open(path, O_WRONLY);
    write_all(fd, (span){content.bytes, 10});
    nanosleep(&pause, NULL);
    kill(getppid(), SIGUSR1);
    nanosleep(&pause, NULL);
    write_all(fd, (span){(const char *)content.bytes + 10, content.n - 10});
    _exit(0);
}

TEST(a_slow_pipe_and_a_signal_change_nothing) {
    char path[PATH_BYTES];
    make_file(path, (span){"", 0});
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore_signal}, NULL), 0);
    pid_t child = fork();
    if (child == 0)
        feed_slowly(path, SPAN(FIELDS));
    tm_source *source = NULL;
    assert_int_equal(tm_source_open(path, &source, NULL), TM_OK);
    unlink(path);
    assert_int_equal(tm_source_size(source), -1);
    uint8_t buffer[64];
    size_t n = 0;
    assert_int_equal(tm_source_read(source, buffer, sizeof buffer, &n, NULL), TM_OK);
    check_ticks((span){buffer, n}, 1);
    assert_int_equal(tm_source_consumed(source), SPAN(FIELDS).n);
    tm_source_close(source);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

RUN_TESTS()
