/* Communication that threads of the host do themselves: by gloo, MPI or UCC, of jobs whose tensors
 * lie in the host's memory. */
#ifndef TMERGE_HOST_COMM_H
#define TMERGE_HOST_COMM_H

#include "base/intervals.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** Stands in the metadata of a rank that works on the CPU alone: no GPU is in its machine, or what
 * it communicates goes from host to host. Its device is the CPU, whose operators are the work. */
#define TM_CPU_KIND "CPU"

/** What the name of an event on a thread says. */
typedef enum tm_host_comm {
    TM_HOST_COMM_NONE,
    TM_HOST_COMM_OPERATION, /* gloo:all_reduce: lasts from when a thread takes it until it is done
                             */
    TM_HOST_COMM_TRANSFER,  /* gloo:send, gloo:recv: likewise, on the thread that asked, from isend
                               to the end of wait(); what is inside is not part of it */
    TM_HOST_COMM_ASKS,      /* c10d::allreduce_: puts it into the queue of its group */
    TM_HOST_COMM_WAITS,     /* _c10d_functional::wait_tensor: waits until it is done */
    TM_HOST_COMM_INPUT      /* the loader's next batch: what is inside is not the step's work */
} tm_host_comm;

tm_host_comm tm_host_comm_of(tm_text name);

static inline bool tm_host_comm_is_operation(tm_host_comm kind) {
    return kind == TM_HOST_COMM_OPERATION || kind == TM_HOST_COMM_TRANSFER;
}

/** Whether the device of a rank is the CPU. */
bool tm_timeline_is_of_cpu(const tm_timeline *timeline);

/**
 * Gives the roles of a device to what the threads of such a rank do: communication to operations,
 * computation to the outermost operators that ask for none and lie in none, or to what lies between
 * calls of MPI (TM_CAT_HOST_WORK), each of which is its own launch. Part of tm_timeline_find_roles.
 */
tm_status tm_timeline_find_cpu_roles(tm_timeline *timeline, const tm_names *names,
                                     tm_error *err) TM_MUST_CHECK;

/** The row before which all work of the rank's device lies: the end of the last GPU stream, of all
 * rows where the device is the CPU. No event from there on has a role. */
uint32_t tm_timeline_work_end(const tm_timeline *timeline);

/**
 * Adds to what a rank computes what it does while the host communicates and no thread waits for
 * that. Of a rank all of whose communication is of devices: nothing.
 *
 * @param communication  union of its communication
 * @param compute        union of what it computes
 * @return               false when memory is out
 */
bool tm_timeline_add_hidden(const tm_timeline *timeline, const tm_intervals *communication,
                            tm_intervals *compute);

/** Such a rank works from the begin of each recording to its end: sets what spans say of GPUs. */
void tm_timeline_set_cpu_spans(tm_timeline *timeline);

#endif
