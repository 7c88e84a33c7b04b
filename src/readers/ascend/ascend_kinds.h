/* Classifies NPU events by type and name. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_KINDS_H
#define TMERGE_ASCEND_KINDS_H

#include "readers/json.h"

typedef enum tm_ascend_work {
    TM_ASCEND_COMPUTES,
    TM_ASCEND_COPIES,
    /* a copy, but a part of a collective if the same stream has other parts of collectives */
    TM_ASCEND_COPIES_OR_PART,
    TM_ASCEND_PART, /* part of a collective; the trace also has an event for the whole collective */
    TM_ASCEND_NOTHING /* the recording of events, waits for events, and marks of the profiler */
} tm_ascend_work;

/** Classifies a task. @p type is the arg "Task Type". An unknown type sets *known to false, and the
 * task counts as computation.
 */
tm_ascend_work tm_ascend_work_of(const tm_json_text *type, const tm_json_text *name, bool *known);

/**
 * Removes the number that makes a kernel's name differ in every launch. For example, "Conv2D12"
 * becomes "Conv2D", and "trans_Cast_10" becomes "trans_Cast".
 *
 * @param op   the dequeued operator, or "" if it is unknown. If it is known, the kernel's name is
 *             the operator's name (which may end with digits) followed by the number.
 * @param out  [size] terminated
 * @return     false if the name is unchanged or does not fit
 */
bool tm_ascend_plain_name(const char *name, const char *op, char *out, size_t size);

/** Returns the abbreviation of a copy's direction, for example "HtoD" for "host to device". Returns
 * "" if neither the type nor the arg "memcpy direction" states the direction. */
const char *tm_ascend_direction(const tm_json_text *type, const tm_json_text *direction);

/** The parts of a collective's name, hcom_<op>__<group>_<n>_<k>. */
typedef struct tm_ascend_operation {
    tm_json_text name;  /* "hcom_allReduce" */
    tm_json_text op;    /* "allReduce" */
    tm_json_text group; /* the last three digits of the communicator's hash */
    int64_t seq;        /* number of the operation in its group: n + 2^32 (k - 1), or n if k is 0 */
} tm_ascend_operation;

/** Parses the name of an operation. Returns false if the name does not have this form. */
bool tm_ascend_operation_of(const tm_json_text *name, tm_ascend_operation *out);

/** Returns torch's word for an element type, such as "Float" for "FP32"; the text itself if torch
 * has none. */
tm_json_text tm_ascend_dtype(const tm_json_text *text);

#endif
