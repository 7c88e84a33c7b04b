/* Fixtures of the byte source tests, and every way to read the same bytes. */
#ifndef TMERGE_SOURCE_WAYS_H
#define TMERGE_SOURCE_WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "tmerge/source.h"

/* Two forms of a string literal without its terminator: an initialiser, and an expression. */
#define INIT(literal)                                                                              \
    { (literal), sizeof(literal) - 1 }
#define SPAN(literal) ((span)INIT(literal))
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct span {
    const void *bytes;
    size_t n;
} span;

/* One line of text, compressed by programs other than the code under test: by gzip 1.12 -9n, by
 * Python's zlib with every header field, and by zstd 1.5.4 --check. */
#define TICK "tick tock tick tock\n"
#define GZIP                                                                                       \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xc9\x4c\xce\x56\x28\xc9\x07\x11\x30"             \
    "\x16\x17\x00\x3a\x53\x65\x41\x14\x00\x00\x00"
#define FIELDS                                                                                     \
    "\x1f\x8b\x08\x1e\x00\x00\x00\x00\x02\x03\x04\x00\x61\x62\x00\x00\x6e\x2e\x6a\x73"             \
    "\x6f\x6e\x00\x77\x68\x79\x00\x2e\x4b\x2b\xc9\x4c\xce\x56\x28\xc9\x07\x11\x30\x16"             \
    "\x17\x00\x3a\x53\x65\x41\x14\x00\x00\x00"
#define ZSTD                                                                                       \
    "\x28\xb5\x2f\xfd\x04\x58\x8d\x00\x00\x58\x74\x69\x63\x6b\x20\x74\x6f\x63\x6b\x20"             \
    "\x0a\x01\x00\x2d\x0a\x12\xe2\x31\x6e\x15"
/* Frames written by hand: a skippable frame of 3 bytes, and an empty frame with a window of 2^27 or
 * 2^28 bytes (its sixth byte is (log - 10) << 3). */
#define SKIPPABLE                                                                                  \
    "\x5a\x2a\x4d\x18\3\0\0\0"                                                                     \
    "xyz"
#define WINDOW_27 "\x28\xb5\x2f\xfd\0\x88\1\0\0"
#define WINDOW_28 "\x28\xb5\x2f\xfd\0\x90\1\0\0"
#define ZEROS_8 "\0\0\0\0\0\0\0\0"

typedef struct outcome {
    tm_status status;
    tm_vec bytes; /* the bytes that were read */
    bool cut_short;
    tm_error error;
} outcome;

void append(tm_vec *vec, const void *bytes, size_t n);
span all_of(const tm_vec *vec);
tm_vec copy_of(span content);

/* Opens a source over memory that decodes this many bytes at a time; 0: the default size. */
tm_source *open_pieces(span encoded, size_t piece);

enum { PATH_BYTES = 64 };

void write_all(int fd, span content);
void make_file(char path[PATH_BYTES], span content);
tm_source *open_file(span content);

/* Reads a source in steps to its end or a failure, checks what always holds, and closes it. */
outcome drain(tm_source *source, size_t step);

/* Reads the bytes in way i. A way combines three choices: how many bytes the caller reads at once;
 * the size of the input pieces, or a file; and whether decoding runs ahead of the reader. */
enum { N_WAYS = 7 * 6 * 2 };
outcome read_in_way(span encoded, size_t way);

void check_ticks(span delivered, size_t n_ticks);

/* Returns pseudo-random numbers as text, which compresses moderately well. */
tm_vec make_text(size_t n);
void append_gzip(tm_vec *file, span content);
void append_zstd(tm_vec *file, span content);

#endif
