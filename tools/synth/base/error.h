/* Statuses and the error record of tmerge-synth. */
#ifndef TMERGE_SYNTH_ERROR_H
#define TMERGE_SYNTH_ERROR_H

/* The program's exit statuses. Do not reuse a value. */
typedef enum tms_status {
    TMS_OK = 0,
    TMS_ERR_USAGE = 2,  /* the command line is wrong */
    TMS_ERR_OUTPUT = 4, /* a file or folder could not be written */
    TMS_ERR_FAULT = 5   /* out of memory, or an internal error */
} tms_status;

/* An error message, ready to print. */
typedef struct tms_error {
    tms_status status;
    char message[512];
} tms_error;

/** Sets the message and returns @p status, so that a function can fail in one statement.
 *
 * @param err     not NULL
 * @param status  never TMS_OK
 * @param format  printf format of the message, without a newline; cut at 511 bytes
 * @return        @p status */
tms_status tms_fail(tms_error *err, tms_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
