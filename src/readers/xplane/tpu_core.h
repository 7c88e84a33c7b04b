/* A TPU core while its rank is read. Private to the reader of XSpaces. */
#ifndef TMERGE_XPLANE_TPU_CORE_H
#define TMERGE_XPLANE_TPU_CORE_H

#include "assignments.h"
#include "tpu.h"
#include "tpu_clock.h"

/** What events of one metadata are; by its place in the plane's. */
typedef struct tm_tpu_meta {
    tm_hlo hlo;
    tm_hlo_kind kind;
    bool known;        /* the others are set */
    uint32_t name;     /* name id of the operation's own, "fusion.2" */
    uint32_t awaited;  /* of what waits: name id of what starts it */
    uint32_t shown;    /* name id of what an event of it is called; 0 not made yet */
    uint32_t group;    /* of a collective, in the program below: name id, TM_NO_NAME unknown, */
    int32_t n_members; /* and size */
    uint32_t program;  /* index of metadata + 1; 0 none yet */
    tm_xla_attr facts; /* but for the event */
} tm_tpu_meta;

/** An operation, in the host's time. */
typedef struct tm_tpu_op {
    int64_t begin_ps, end_ps;
    uint32_t meta;
    uint32_t run; /* index of the program's run that holds it, TM_NO_EVENT none */
} tm_tpu_op;

/** A run of a program. */
typedef struct tm_tpu_run {
    int64_t begin_ps, end_ps;
    int64_t launch; /* correlation with the call on the host, 0 none */
    uint32_t meta;
} tm_tpu_run;

/** An event of the core that is no operation. */
typedef struct tm_tpu_note {
    int64_t begin_ps, end_ps;
    uint32_t meta;
} tm_tpu_note;

typedef struct tm_tpu_core {
    tm_xread *r;
    const tm_xplane *plane;
    int sparse;           /* 0; of one of its SparseCores the number + 1 */
    const tm_xline *line; /* of its operations: times count from where it does */
    tm_xstats stats;
    tm_xassignments programs;
    tm_tpu_meta *metas; /* [plane->metadata.n] owned */
    int64_t id;         /* of the core among all of the job, -1 unknown */
    tm_vec ops;         /* of tm_tpu_op, ascending in begin, the longer first */
    tm_vec runs;        /* of tm_tpu_run, ascending in begin */
    tm_vec notes;       /* of tm_tpu_note, ascending in begin, and */
    tm_vec steps;       /* markers of steps, likewise */
} tm_tpu_core;

/** Reads the lines of the core, or of one of its SparseCores, which has a plane of its own;
 * everything gets the host's time. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_tpu_core_read(tm_tpu_core *core, tm_xread *r, const tm_xplane *plane, int sparse,
                           tm_error *err) TM_MUST_CHECK;
void tm_tpu_core_free(tm_tpu_core *core);

/** The run that holds a time, TM_NO_EVENT for none. */
uint32_t tm_tpu_run_at(const tm_tpu_core *core, int64_t ps);

/** The line of a name, NULL where the plane has none. */
const tm_xline *tm_tpu_line(const tm_xplane *plane, const char *name);

/** Adds the events of all that was read. TM_OK; TM_ERR_FAULT. */
tm_status tm_tpu_emit(tm_tpu_core *core, tm_error *err) TM_MUST_CHECK;

/**
 * Says of an event that it is the core's part of a collective.
 * @param meta  of the whole, or of what starts it; of a barrier its own
 * @param run   of the program that it is in, NULL unknown
 * @return      false when memory is out
 */
bool tm_tpu_add_collective(tm_tpu_core *core, uint32_t meta, const tm_tpu_run *run, uint32_t row);

#endif
