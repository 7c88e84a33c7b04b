/* What the calls of a rocmProfileData database say about the operations that they launched. (In
 * SQL, each process would need a join of five tables.) Private to the rpd reader. */
#ifndef TMERGE_RPD_LAUNCHES_H
#define TMERGE_RPD_LAUNCHES_H

#include "readers/rocpd/rocpd_rows.h"

/** A call that launched operations. */
typedef struct tm_rpd_call {
    int64_t id;
    /* pid is INT64_MIN if the call is not recorded; name is the id of the string that names the
     * call */
    int64_t pid, name;
    uint32_t n;           /* number of operations that it launched */
    uint32_t description; /* 1 + index in `descriptions`; 0: none */
} tm_rpd_call;

enum { TM_RPD_FIELDS = 8 };

/** Size and shape of an operation that a call launched. */
typedef struct tm_rpd_description {
    uint64_t values[TM_RPD_FIELDS];
    uint8_t present; /* bit i: values[i] is known */
    int bad_values;
} tm_rpd_description;

/** An operation and the call that launched it. */
typedef struct tm_rpd_launch {
    int64_t operation, call; /* ids; call is INT64_MIN if there is none */
} tm_rpd_launch;

typedef struct tm_rpd_launches {
    tm_vec launches;     /* vector of tm_rpd_launch, sorted by operation and call */
    tm_vec calls;        /* vector of tm_rpd_call, sorted by id */
    tm_vec descriptions; /* vector of tm_rpd_description */
} tm_rpd_launches;

void tm_rpd_launches_init(tm_rpd_launches *launches);
void tm_rpd_launches_free(tm_rpd_launches *launches);

/** Reads the calls. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_rpd_launches_read(tm_rpd_launches *launches, const tm_db *db,
                               tm_error *err) TM_MUST_CHECK;

/** Reads sizes and shapes of the calls' operations. Returns like tm_rpd_launches_read. */
tm_status tm_rpd_descriptions_read(tm_rpd_launches *launches, const tm_db *db,
                                   tm_error *err) TM_MUST_CHECK;

/** Returns the launches of an operation, usually one; NULL if it has none. */
const tm_rpd_launch *tm_rpd_launches_of(const tm_rpd_launches *launches, int64_t operation,
                                        size_t *n);

/** Returns the call with an id; NULL if it launched nothing. */
const tm_rpd_call *tm_rpd_call_of(const tm_rpd_launches *launches, int64_t id);

/** Adds the call's id to the record of an operation, and the size and shape if the call launched
 * only this operation. */
void tm_rpd_describe(const tm_rpd_launches *launches, const tm_rpd_call *call,
                     tm_rocprof_record *record);

#endif
