/* Messages on their way: a bounded number of bytes, so that a process works ahead of those that
 * receive from it without filling the memory. */
#ifndef TMERGE_MPI_OUTBOX_H
#define TMERGE_MPI_OUTBOX_H

#include <stddef.h>

#include <mpi.h>

enum { TM_OUTBOX_MESSAGES = 256, TM_OUTBOX_BYTES = 16 * 1024 * 1024 };

typedef struct tm_mpi_message {
    MPI_Request request;
    void *bytes; /* owned */
    size_t size;
} tm_mpi_message;

typedef struct tm_mpi_outbox {
    MPI_Comm comm;
    tm_mpi_message messages[TM_OUTBOX_MESSAGES]; /* a ring, oldest at first */
    int first, n;
    size_t size; /* bytes of all messages */
} tm_mpi_outbox;

/**
 * Sends a copy of @p bytes. Waits for the oldest messages where the outbox is full, and for this
 * one where memory is out; it cannot fail.
 *
 * Collective: no; the receiver must come to receive whatever else it does.
 * @param size  at most INT_MAX
 */
void tm_mpi_outbox_send(tm_mpi_outbox *outbox, const void *bytes, size_t size, int to, int tag);

/** Waits until all messages have gone. Collective: no. */
void tm_mpi_outbox_drain(tm_mpi_outbox *outbox);

#endif
