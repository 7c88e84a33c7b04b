/* The data of a TPU core, while its rank is read. Private to the reader of XSpaces. */
#ifndef TMERGE_XPLANE_TPU_CORE_H
#define TMERGE_XPLANE_TPU_CORE_H

#include "readers/xplane/hlo/assignments.h"
#include "tpu.h"
#include "tpu_clock.h"

/** What all events of a metadata entry have in common. */
typedef struct tm_tpu_meta {
    tm_hlo hlo;
    tm_hlo_kind kind;
    bool known;       /* whether the other members are set */
    uint32_t name;    /* id of the operation's name: "fusion.2" */
    uint32_t awaited; /* for an operation that waits: name id of the operation for which it waits */
    uint32_t shown;   /* name id that the events of the entry get; 0: not made yet */
    uint32_t group;   /* for a collective: name id of its group in `program`; TM_NO_NAME:
                         unknown */
    int32_t n_members; /* number of devices in this group */
    uint32_t program;  /* 1 + index of the metadata of the program; 0: none yet */
    tm_xla_attr facts; /* attributes of the entry's events, except for the event index */
} tm_tpu_meta;

/** An operation, in host time. */
typedef struct tm_tpu_op {
    int64_t begin_ps, end_ps;
    uint32_t meta;
    uint32_t run; /* index of the program run that contains the operation; TM_NO_EVENT: none */
} tm_tpu_op;

typedef struct tm_tpu_run {
    int64_t begin_ps, end_ps;
    int64_t launch; /* correlation id, which the host's call has, too; 0: none */
    uint32_t meta;
} tm_tpu_run;

/** An event of the core that is not an operation. */
typedef struct tm_tpu_note {
    int64_t begin_ps, end_ps;
    uint32_t meta, place; /* place: position in the file */
} tm_tpu_note;

typedef struct tm_tpu_core {
    tm_xread *r;
    const tm_xplane *plane;
    int sparse;           /* 0 for the core itself; 1 + number for a SparseCore */
    const tm_xline *line; /* line of the core's operations; times are relative to its base */
    tm_xstats stats;
    tm_xassignments programs;
    tm_tpu_meta *metas; /* [plane->metadata.n] owned */
    int64_t id;         /* number of the core in the job, -1 unknown */
    /* vector of tm_tpu_op, ascending by begin; if begins are equal, the longer one is first */
    tm_vec ops;
    tm_vec runs;  /* vector of tm_tpu_run, ascending by begin */
    tm_vec notes; /* vector of tm_tpu_note, ascending by begin */
    tm_vec steps; /* vector of tm_tpu_note: step markers */
} tm_tpu_core;

/** Reads the lines of the core, or the lines of one of its SparseCores. (Each SparseCore has its
 * own plane.) Converts all times to host times. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_tpu_core_read(tm_tpu_core *core, tm_xread *r, const tm_xplane *plane, int sparse,
                           tm_error *err) TM_MUST_CHECK;
void tm_tpu_core_free(tm_tpu_core *core);

/** Returns the index of the program run that contains a time; TM_NO_EVENT if there is none. */
uint32_t tm_tpu_run_at(const tm_tpu_core *core, int64_t ps);

/** Returns the line with a name; NULL if the plane has none. */
const tm_xline *tm_tpu_line(const tm_xplane *plane, const char *name);

/** Adds events for everything that was read. TM_OK; TM_ERR_FAULT. */
tm_status tm_tpu_emit(tm_tpu_core *core, tm_error *err) TM_MUST_CHECK;

/**
 * Records that an event is the core's part of a collective.
 *
 * @param meta  metadata of the operation that is the collective, or that starts it; for a barrier,
 *              metadata of the barrier's event
 * @param run   the program run that contains the event; NULL: unknown
 * @return      false if out of memory
 */
bool tm_tpu_add_collective(tm_tpu_core *core, uint32_t meta, const tm_tpu_run *run, uint32_t row);

#endif
