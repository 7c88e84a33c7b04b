#include "outbox.h"

#include <stdlib.h>
#include <string.h>

#include "patience.h"

static tm_mpi_message *oldest(tm_mpi_outbox *outbox) {
    return &outbox->messages[outbox->first];
}

static void forget_oldest(tm_mpi_outbox *outbox) {
    tm_mpi_message *message = oldest(outbox);
    free(message->bytes);
    outbox->size -= message->size;
    outbox->first = (outbox->first + 1) % TM_OUTBOX_MESSAGES;
    outbox->n--;
}

static void wait_for_oldest(tm_mpi_outbox *outbox) {
    (void)tm_mpi_await_data(&oldest(outbox)->request, MPI_STATUS_IGNORE);
    forget_oldest(outbox);
}

/* Also lets MPI get on with the messages: it works only while it is called. */
static void forget_sent(tm_mpi_outbox *outbox) {
    int sent = 1;
    while (outbox->n > 0 && sent) {
        MPI_Test(&oldest(outbox)->request, &sent, MPI_STATUS_IGNORE);
        if (sent)
            forget_oldest(outbox);
    }
}

void tm_mpi_outbox_send(tm_mpi_outbox *outbox, const void *bytes, size_t size, int to, int tag) {
    forget_sent(outbox);
    while (outbox->n == TM_OUTBOX_MESSAGES ||
           (outbox->n > 0 && outbox->size + size > TM_OUTBOX_BYTES))
        wait_for_oldest(outbox);
    void *copy = malloc(size + 1);
    if (!copy) {
        MPI_Send(bytes, (int)size, MPI_BYTE, to, tag, outbox->comm);
        return;
    }
    memcpy(copy, bytes, size);
    tm_mpi_message *message = &outbox->messages[(outbox->first + outbox->n) % TM_OUTBOX_MESSAGES];
    *message = (tm_mpi_message){.bytes = copy, .size = size};
    MPI_Isend(copy, (int)size, MPI_BYTE, to, tag, outbox->comm, &message->request);
    outbox->n++;
    outbox->size += size;
}

void tm_mpi_outbox_drain(tm_mpi_outbox *outbox) {
    while (outbox->n > 0)
        wait_for_oldest(outbox);
}
