/* Converts the operations of one rank to its trace. */
#ifndef TMERGE_OPS_EMIT_H
#define TMERGE_OPS_EMIT_H

#include "ops_job.h"
#include "timeline/part.h"
#include "tmerge/names.h"

typedef struct tm_ops_emitter {
    int64_t rank;
    tm_names *names;
    tm_part part;      /* the part whose labels name the tracks of the trace */
    tm_vec operations; /* operations of the rank, in file order */
    tm_vec members;    /* vector of int64_t: ranks of the current group */
} tm_ops_emitter;

/** @param trace  initialised by the caller */
void tm_ops_emitter_init(tm_ops_emitter *emitter, int64_t rank, tm_names *names, tm_trace *trace);
void tm_ops_emitter_free(tm_ops_emitter *emitter);

/** Keeps an event if it belongs to the rank. Returns false if out of memory. */
bool tm_ops_emitter_add(tm_ops_emitter *emitter, const tm_ops_event *event);

/**
 * Fills the trace. Call it once the file is read.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_emit(tm_ops_emitter *emitter, const tm_ops_job *job, tm_error *err) TM_MUST_CHECK;

#endif
