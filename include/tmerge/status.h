/* Status codes, and the caller-owned error record that every fallible call fills. */
#ifndef TMERGE_STATUS_H
#define TMERGE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TM_MUST_CHECK __attribute__((warn_unused_result))
#define TM_PRINTF(text, first) __attribute__((format(printf, text, first)))

/** Sets two members of a struct to an array and its length: TM_ARRAY(columns, rank_columns) sets
 * `columns` and `n_columns`. */
#define TM_ARRAY(member, array) .member = array, .n_##member = sizeof array / sizeof *array

/** Result of a call. The value is also the exit status and is stored in stores, so a value must
 * never be reused. */
typedef enum tm_status {
    TM_OK = 0,
    TM_ERR_USAGE = 2,  /* the command line is wrong */
    TM_ERR_INPUT = 3,  /* an input is missing, unreadable or malformed */
    TM_ERR_OUTPUT = 4, /* an output could not be written */
    TM_ERR_FAULT = 5,  /* out of memory, or an internal error of tmerge, MPI or HDF5 */
    TM_ERR_LIMIT = 6,  /* tmerge gate: a figure exceeds its limit */
    TM_ERR_UNSURE = 7  /* tmerge gate: no figure exceeds its limit, but at least one is undecided */
} tm_status;

enum { TM_PATH_MAX = 1024, TM_MESSAGE_MAX = 512, TM_HOST_MAX = 64 };

/** Where and why a call failed. Contains no pointers, so it can be sent between processes as bytes.
 */
typedef struct tm_error {
    tm_status status;
    int64_t offset; /* offset in the decoded content of path [bytes], -1 if not applicable */
    char path[TM_PATH_MAX];       /* "" if no file is concerned */
    char message[TM_MESSAGE_MAX]; /* one line without a full stop */
    char host[TM_HOST_MAX];       /* host on which the call failed; "" unless the job runs on
                                     several hosts */
    bool nothing; /* the file is empty, or ends before any content (tm_fail_nothing) */
} tm_error;

/**
 * Fills @p err (which may be NULL) and returns @p status, so that a function can end with `return
 * tm_fail(...)`.
 * @param path    file concerned, or NULL; an overlong path keeps its end
 * @param offset  byte in the decoded content of the file, or -1
 * @param format  printf format of the message
 */
tm_status tm_fail(tm_error *err, tm_status status, const char *path, int64_t offset,
                  const char *format, ...) TM_PRINTF(5, 6);

/** Fails with TM_ERR_INPUT for a file that is empty or ends before any content. Such a file is
 * skipped if it was found in a folder. */
tm_status tm_fail_nothing(tm_error *err, const char *path, int64_t offset, const char *why);

/** Returns TM_ERR_FAULT: out of memory. */
tm_status tm_fail_memory(tm_error *err);

/** Writes "PATH: byte OFFSET: MESSAGE (on HOST)" to @p out, without the parts that are not known;
 * always terminated. */
void tm_error_text(const tm_error *err, char *out, size_t size);

/** Returns from the calling function if @p expression is not TM_OK. */
#define TM_TRY(expression)                                                                         \
    do {                                                                                           \
        tm_status tm_try_status_ = (expression);                                                   \
        if (tm_try_status_ != TM_OK)                                                               \
            return tm_try_status_;                                                                 \
    } while (0)

#endif
