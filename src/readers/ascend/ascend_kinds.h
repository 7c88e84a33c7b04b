/* What an event of an NPU does, told from its type and name. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_KINDS_H
#define TMERGE_ASCEND_KINDS_H

#include "readers/json.h"

typedef enum tm_ascend_work {
    TM_ASCEND_COMPUTES,
    TM_ASCEND_COPIES,
    TM_ASCEND_COPIES_OR_PART, /* part of a collective on a stream that carries such */
    TM_ASCEND_PART,           /* of a collective, which is there as a whole besides */
    TM_ASCEND_NOTHING         /* records of and waits for events, marks of the profiler */
} tm_ascend_work;

/** @p type is the arg "Task Type". Of a type that is not known, *known is false, and the event
 * computes. */
tm_ascend_work tm_ascend_work_of(const tm_json_text *type, const tm_json_text *name, bool *known);

/**
 * A kernel's name without the number that counts what its process launched, by which every call of
 * a kernel would have another name: "Conv2D" of "Conv2D12", "trans_Cast" of "trans_Cast_10".
 *
 * @param op   what was taken from the queue for it, "" where that is not known: the number follows
 *             it in the kernel's name, and it may end with digits itself
 * @param out  [size] terminated  @return false where the name stays, or has no room
 */
bool tm_ascend_plain_name(const char *name, const char *op, char *out, size_t size);

/** The words in which a copy's direction is told: "HtoD" of "host to device", "" where neither the
 * type nor the arg "memcpy direction" tells it. */
const char *tm_ascend_direction(const tm_json_text *type, const tm_json_text *direction);

/** A collective as its name tells it: hcom_<op>__<group>_<n>_<k>. */
typedef struct tm_ascend_operation {
    tm_json_text name;  /* "hcom_allReduce" */
    tm_json_text op;    /* "allReduce" */
    tm_json_text group; /* the last three digits of the communicator's hash */
    int64_t seq;        /* the n-th of its group; those of a further k come behind all before */
} tm_ascend_operation;

/** False where it is no such name. */
bool tm_ascend_operation_of(const tm_json_text *name, tm_ascend_operation *out);

/** torch's word for a type of elements: "Float" of "FP32"; the text itself where it has none. */
tm_json_text tm_ascend_dtype(const tm_json_text *text);

#endif
