/* Communication by host threads (gloo, MPI, UCC) in jobs whose tensors are in host memory. */
#ifndef TMERGE_HOST_COMM_H
#define TMERGE_HOST_COMM_H

#include "base/intervals.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** Kind of device in the metadata of a rank that works only on the CPU, because its machine has no
 * GPU or its communication is from host to host. The rank's device is the CPU, and operators are
 * the work. */
#define TM_CPU_KIND "CPU"

/** What an event of a thread is, according to its name. */
typedef enum tm_host_comm {
    TM_HOST_COMM_NONE,
    /* gloo:all_reduce, for example. The event lasts from the moment at which a thread starts to run
     * the operation until the operation's end */
    TM_HOST_COMM_OPERATION,
    /* gloo:send or gloo:recv. The event is recorded on the calling thread, from isend to the end of
     * wait(). Events inside it are not part of the transfer */
    TM_HOST_COMM_TRANSFER,
    TM_HOST_COMM_ASKS,  /* c10d::allreduce_, for example. The event requests an operation */
    TM_HOST_COMM_WAITS, /* _c10d_functional::wait_tensor, for example. The event waits until an
                           operation is done */
    TM_HOST_COMM_INPUT /* The event fetches the next batch from the data loader. Events inside it do
                          not count as work of the step */
} tm_host_comm;

tm_host_comm tm_host_comm_of(tm_text name);

static inline bool tm_host_comm_is_operation(tm_host_comm kind) {
    return kind == TM_HOST_COMM_OPERATION || kind == TM_HOST_COMM_TRANSFER;
}

/** Returns whether the rank's device is the CPU. */
bool tm_timeline_is_of_cpu(const tm_timeline *timeline);

/** Sets the roles of the events of a rank whose device is the CPU. Operations are communication. An
 * operator is computation if its thread neither requests communication nor waits for it inside the
 * operator. An operator inside a computation, a request or a wait has no role. If there are events
 * of the work between MPI calls (TM_CAT_HOST_WORK), these are computation, and operators are not.
 * Each event that is computation is its own launch. tm_timeline_find_roles calls this function. */
tm_status tm_timeline_find_cpu_roles(tm_timeline *timeline, const tm_names *names,
                                     tm_error *err) TM_MUST_CHECK;

/** Returns the row after the last event that can have a role. If the device is the CPU, this is the
 * number of rows. Otherwise it is the end of the last GPU stream. */
uint32_t tm_timeline_work_end(const tm_timeline *timeline);

/**
 * Adds to a rank's computation what its threads do while the host communicates and no thread waits
 * for the communication. Adds nothing if all communication is on devices.
 * @param communication  union of the rank's communication
 * @param compute        union of the rank's computation; extended
 * @return               false if out of memory
 */
bool tm_timeline_add_hidden(const tm_timeline *timeline, const tm_intervals *communication,
                            tm_intervals *compute);

/** For a rank whose device is the CPU: sets the GPU range of each span to the range of the whole
 * recording. */
void tm_timeline_set_cpu_spans(tm_timeline *timeline);

/** Maximum number of possible peers of a transfer whose group is unknown. */
enum { TM_PEERS_MAX = 8, TM_PEERS_TEXT_MAX = 24 * TM_PEERS_MAX };

/** Writes a name for an unknown group, which lists the possible peers: "peer 1 or 2".
 * @param n  at most TM_PEERS_MAX */
void tm_peers_text(const int64_t *peers, size_t n, char out[TM_PEERS_TEXT_MAX]);

/** Reads a name that tm_peers_text wrote. Returns the number of ranks in it; 0 for any other
 * name. */
size_t tm_peers_read(const char *text, int64_t peers[TM_PEERS_MAX]);

#endif
