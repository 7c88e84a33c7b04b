/* A record of NCCL's inspector: one operation on one rank of a communicator. */
#ifndef TMERGE_INSPECTOR_RECORD_H
#define TMERGE_INSPECTOR_RECORD_H

#include "readers/json.h"

/** A record. Integers are -1 if they are missing, or not in the range from 0 to 2^62. */
typedef struct tm_inspector_record {
    /* the first 14 digits of the communicator's hash: "0x7f8c496ae9f661" */
    tm_json_text communicator;
    tm_json_text description; /* from NCCL 2.30 on; "unknown" if the program gives none */
    tm_json_text version;     /* version of the record format: "v4.0" */
    tm_json_text host;
    tm_json_text function; /* "AllReduce" */
    tm_json_text source; /* source of the duration: the GPU's clock ("kernel_gpu") or the host's */
    int64_t rank, n_ranks; /* rank in the communicator, and number of ranks of the communicator */
    int64_t pid;
    int64_t dump_us; /* time at which the record was written, some time after the operation's end */
    /* Sequence number. Each function on each communicator has its own numbering. Transfers are also
     * numbered separately by each rank. */
    int64_t sn;
    int64_t peer;    /* peer of a transfer: rank in the communicator */
    int64_t bytes;   /* one rank's part */
    int64_t exec_us; /* duration of the slowest channel */
    /* First start and last stop of the channels, as a host thread saw them, on the host's clock.
     * Only in verbose records; otherwise 0. */
    int64_t start_us;
    int64_t stop_us;
    int64_t channel_us[2]; /* start and stop of the channel that is being parsed */
} tm_inspector_record;

/** Returns whether the object at @p p starts with a member of a record. This is enough to recognise
 * a record. */
bool tm_inspector_begins(tm_json_cursor *cursor, const char *p);

/** Parses the object at @p p as far as possible. Returns NULL on failure, as the functions of
 * readers/json.h do. */
const char *tm_inspector_record_parse(tm_json_cursor *cursor, const char *p,
                                      tm_inspector_record *out);

/**
 * Returns whether an object has the members that only records have, with any values.
 * @param cut  whether the text ends within the object
 */
bool tm_inspector_has_form(const tm_inspector_record *record, bool cut);

/** Returns whether a record is a complete operation: it has a version, communicator, rank, function
 * and duration. */
bool tm_inspector_is_record(const tm_inspector_record *record);

#endif
