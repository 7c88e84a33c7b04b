#include "progress.h"

#include <stdlib.h>
#include <time.h>

#include "agree.h"

enum { TAG_PROGRESS = 13 };

/* Minimum time [s] between two messages of a process, and between two displays. */
static const double interval = 0.2;

/* Work that this process has not yet reported to process 0. */
typedef struct step {
    int64_t done, events, ended;
} step;

struct tm_progress {
    MPI_Comm comm;
    int self, n_processes;
    int n_ended; /* on process 0: number of other processes that have ended */
    tm_progress_sink sink;
    tm_progress_state state;
    /* work that was not yet sent, and work in the last message. `sent` must not change until the
     * message has arrived. */
    step pending, sent;
    MPI_Request request;
    double began, last;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tm_status tm_progress_begin(MPI_Comm comm, const tm_progress_sink *sink,
                            const tm_progress_work *work, tm_progress **out, tm_error *err) {
    *out = NULL;
    if (!sink || !sink->show)
        return TM_OK;
    tm_progress *progress = calloc(1, sizeof *progress);
    tm_status status = tm_mpi_agree(comm, progress ? TM_OK : tm_fail_memory(err), err);
    if (status != TM_OK || !progress) {
        free(progress);
        return status;
    }
    *progress = (tm_progress){.comm = comm, .sink = *sink, .request = MPI_REQUEST_NULL};
    progress->state =
        (tm_progress_state){.phase = work->phase, .unit = work->unit, .total = work->total};
    MPI_Comm_rank(comm, &progress->self);
    MPI_Comm_size(comm, &progress->n_processes);
    progress->began = now();
    *out = progress;
    return TM_OK;
}

static void take(tm_progress *progress, const step *made) {
    progress->state.done += made->done;
    progress->state.events += made->events;
    progress->n_ended += made->ended != 0;
}

/* Receives the messages that have arrived so far. */
static void drain(tm_progress *progress) {
    for (;;) {
        int there = 0;
        MPI_Status from;
        step made;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_PROGRESS, progress->comm, &there, &from);
        if (!there)
            return;
        MPI_Recv(&made, sizeof made, MPI_BYTE, from.MPI_SOURCE, TAG_PROGRESS, progress->comm,
                 MPI_STATUS_IGNORE);
        take(progress, &made);
    }
}

static void show(tm_progress *progress, double time) {
    progress->last = time;
    progress->state.seconds = time - progress->began;
    progress->sink.show(progress->sink.context, &progress->state);
}

/* Sends the work not yet reported, unless the previous message is still in transit. */
static void send_pending(tm_progress *progress) {
    int arrived = 1;
    MPI_Test(&progress->request, &arrived, MPI_STATUS_IGNORE);
    if (!arrived)
        return;
    progress->sent = progress->pending;
    progress->pending = (step){0};
    MPI_Isend(&progress->sent, sizeof progress->sent, MPI_BYTE, 0, TAG_PROGRESS, progress->comm,
              &progress->request);
}

void tm_progress_add(tm_progress *progress, int64_t done, int64_t events) {
    if (!progress)
        return;
    progress->pending.done += done;
    progress->pending.events += events;
    double time = now();
    if (time - progress->last < interval)
        return;
    if (progress->self != 0) {
        progress->last = time;
        send_pending(progress);
        return;
    }
    take(progress, &progress->pending);
    progress->pending = (step){0};
    drain(progress);
    show(progress, time);
}

void tm_progress_end(tm_progress *progress) {
    if (!progress)
        return;
    if (progress->self != 0) {
        MPI_Wait(&progress->request, MPI_STATUS_IGNORE);
        progress->pending.ended = 1;
        MPI_Send(&progress->pending, sizeof progress->pending, MPI_BYTE, 0, TAG_PROGRESS,
                 progress->comm);
        free(progress);
        return;
    }
    take(progress, &progress->pending);
    for (;;) {
        const struct timespec pause = {0, 20000000};
        drain(progress);
        if (progress->n_ended == progress->n_processes - 1)
            break;
        if (now() - progress->last >= interval)
            show(progress, now());
        nanosleep(&pause, NULL);
    }
    progress->state.ended = true;
    show(progress, now());
    free(progress);
}
