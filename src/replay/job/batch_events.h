/* The recorded events of a process's ranks. Ranks whose columns differ only in times, and whose
 * events are in the same order, share one tm_graph_input. The input has the times of the rank that
 * was requested last. If inputs take much memory, older inputs are freed. They are made again when
 * they are requested. */
#ifndef TMERGE_REPLAY_BATCH_EVENTS_H
#define TMERGE_REPLAY_BATCH_EVENTS_H

#include "replay/graph/call_class.h"
#include "replay/graph/rank_events.h"

/** TM_GRAPH_INPUTS_LATEST: a rank is compared with this many of the latest inputs.
 * TM_GRAPH_INPUTS_BYTES: if inputs take more memory than this, older inputs are freed. */
enum { TM_GRAPH_INPUTS_LATEST = 4, TM_GRAPH_INPUTS_BYTES = 32 << 20 };

typedef struct tm_graph_inputs_rank {
    tm_warm_up before;
    uint32_t leader; /* index of the rank whose input this rank uses: its own or an earlier one */
    bool leads;      /* another rank uses this rank's input */
    bool kept;       /* this rank's input is in memory */
    bool warm_up;    /* set by the caller; see tm_graph_input */
} tm_graph_inputs_rank;

typedef struct tm_graph_inputs {
    const tm_timeline *timelines; /* borrowed; [n] */
    const tm_timebase *base;      /* borrowed */
    tm_call_classes classes;      /* owned */
    tm_graph_input *own;          /* owned; [n] inputs; empty for a rank that uses another
                               rank's input */
    tm_graph_inputs_rank *ranks;  /* owned; [n] */
    uint32_t latest[TM_GRAPH_INPUTS_LATEST]; /* indices of the ranks with the latest inputs, the
                                          latest first */
    bool stepless; /* set by the caller before inputs are made; see tm_graph_input */
    size_t n, n_latest;
    /* bytes: size of the inputs in memory. most_bytes: limit of this size. */
    size_t bytes, most_bytes;
} tm_graph_inputs;

/**
 * Allocates memory for [n] ranks. False when out of memory. The caller must free it in either case.
 *
 * @param names  as in tm_call_classes
 */
bool tm_graph_inputs_open(tm_graph_inputs *inputs, const tm_timeline *timelines, size_t n,
                          const tm_timebase *base, const tm_names *names) TM_MUST_CHECK;
void tm_graph_inputs_free(tm_graph_inputs *inputs);

/**
 * Collects the recorded events of rank @p i. Must be called for all ranks in order.
 *
 * @param out  valid until the next call of one of these functions
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_graph_inputs_make(tm_graph_inputs *inputs, size_t i, int64_t stage,
                               const tm_graph_input **out, tm_error *err) TM_MUST_CHECK;

/** Returns the events that tm_graph_inputs_make collected for rank @p i. Sets `warm_up` of these
 * events to the value for this rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_graph_inputs_at(tm_graph_inputs *inputs, size_t i, const tm_graph_input **out,
                             tm_error *err) TM_MUST_CHECK;

/** Frees a rank's input, unless another rank uses it. */
void tm_graph_inputs_done(tm_graph_inputs *inputs, size_t i);

#endif
