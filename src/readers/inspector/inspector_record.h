/* A record of NCCL's inspector: one operation of one rank of a communicator. */
#ifndef TMERGE_INSPECTOR_RECORD_H
#define TMERGE_INSPECTOR_RECORD_H

#include "readers/json.h"

/** Of the integers, -1 stands for what is not there, or is none of 0 to 2^62. */
typedef struct tm_inspector_record {
    tm_json_text communicator; /* "0x7f8c496ae9f661": of its hash the first 14 digits */
    tm_json_text description;  /* from NCCL 2.30 on; "unknown" where the program gives none */
    tm_json_text version;      /* of the records' form: "v4.0" */
    tm_json_text host;
    tm_json_text function; /* "AllReduce" */
    tm_json_text source;   /* of the duration: the GPU's clock ("kernel_gpu"), or the host's */
    int64_t rank, n_ranks; /* in the communicator, and of it */
    int64_t pid;
    int64_t dump_us;  /* when it was written: some time after the operation's end */
    int64_t sn;       /* counts the operations of a function in the communicator; transfers count
                         together, on each rank for itself */
    int64_t peer;     /* of a transfer, in the communicator */
    int64_t bytes;    /* of one rank's part */
    int64_t exec_us;  /* of the channel that took longest */
    int64_t start_us; /* of the verbose form: the first start and the last stop of its channels, as
                         a thread of the host saw them, by the host's clock; 0: none */
    int64_t stop_us;
    int64_t channel_us[2]; /* of the channel at hand */
} tm_inspector_record;

/** Whether the object at @p p begins with a member of a record: all that others need to be told by.
 */
bool tm_inspector_begins(tm_json_cursor *cursor, const char *p);

/** Parses the object at @p p, or as much as it can; as in readers/json.h, NULL where it fails. */
const char *tm_inspector_record_parse(tm_json_cursor *cursor, const char *p,
                                      tm_inspector_record *out);

/** Whether it has what only records have, be their values odd. @param cut  the text ends within it
 */
bool tm_inspector_has_form(const tm_inspector_record *record, bool cut);

/** Whether it is an operation: it says its form, communicator, rank, function and duration. */
bool tm_inspector_is_record(const tm_inspector_record *record);

#endif
