/* Device assignments of the compiled programs of an XSpace. */
#ifndef TMERGE_XPLANE_ASSIGNMENTS_H
#define TMERGE_XPLANE_ASSIGNMENTS_H

#include "hlo_groups.h"
#include "readers/xplane/plane/space.h"

typedef struct tm_xassigned {
    tm_text name; /* name with its fingerprint, "jit_f(12190760917235803885)"; borrowed */
    int64_t id;   /* id as tm_program_id returns it; GPU events refer to the program by this id */
    size_t first; /* index of its first device in tm_xassignments.devices */
    size_t n_replicas, n_parts;
} tm_xassigned;

typedef struct tm_xassignments {
    tm_vec programs; /* vector of tm_xassigned */
    tm_vec devices;  /* vector of int64_t */
} tm_xassignments;

/**
 * Reads the device assignments in the plane /host:metadata. If the data of a program is damaged
 * before its assignment, the program gets no assignment.
 *
 * @param out  must be freed by the caller, also after a failure
 * @return     TM_OK; TM_ERR_INPUT if the source cannot be read again; TM_ERR_FAULT
 */
tm_status tm_xassignments_read(tm_space *space, tm_xassignments *out, tm_error *err) TM_MUST_CHECK;
void tm_xassignments_free(tm_xassignments *programs);

/** Return the assignment of a program. It is borrowed. If the program is unknown, the assignment
 * has no devices. */
tm_assignment tm_xassignments_find(const tm_xassignments *programs, tm_text name);
tm_assignment tm_xassignments_of(const tm_xassignments *programs, int64_t id);

#endif
