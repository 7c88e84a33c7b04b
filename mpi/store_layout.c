#include "store_layout.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"

/* What a process sends about each of its timelines: the rank, then its number of rows in each
 * table. */
enum { WORDS = 1 + TM_N_RECORDS };

typedef struct exchange {
    int n_processes, self;
    int *counts;    /* owned; [n_processes] number of words of each process */
    int *starts;    /* owned; [n_processes] index of a process's first word */
    int64_t *mine;  /* owned; [n][WORDS] */
    int64_t *words; /* owned; [all ranks][WORDS] in the order of processes */
} exchange;

static void exchange_free(exchange *reported) {
    free(reported->counts);
    free(reported->starts);
    free(reported->mine);
    free(reported->words);
}

static tm_status prepare(exchange *reported, tm_timeline *const *timelines, size_t n,
                         tm_error *err) {
    reported->counts = calloc((size_t)reported->n_processes, sizeof *reported->counts);
    reported->starts = calloc((size_t)reported->n_processes, sizeof *reported->starts);
    reported->mine = n < INT_MAX / WORDS ? calloc(n + 1, WORDS * sizeof *reported->mine) : NULL;
    if (!reported->counts || !reported->starts || !reported->mine)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        reported->mine[i * WORDS] = timelines[i]->rank;
        for (int t = 0; t < TM_N_RECORDS; t++)
            reported->mine[i * WORDS + 1 + (size_t)t] =
                (int64_t)tm_record_rows(&tm_record_tables[t], timelines[i]);
    }
    return TM_OK;
}

static tm_status make_room(exchange *reported, tm_store_layout *layout, tm_error *err) {
    int total = 0;
    for (int p = 0; p < reported->n_processes; p++) {
        if (reported->counts[p] > INT_MAX - total)
            return tm_fail(err, TM_ERR_FAULT, NULL, -1, "more ranks than MPI can count");
        reported->starts[p] = total;
        total += reported->counts[p];
    }
    layout->n_slots = (size_t)total / WORDS;
    layout->slots = calloc(layout->n_slots + 1, sizeof *layout->slots);
    reported->words = calloc((size_t)total + 1, sizeof *reported->words);
    return layout->slots && reported->words ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_rank, tm_store_slot, rank);

static void list_slots(const exchange *reported, tm_timeline *const *timelines,
                       tm_store_layout *layout) {
    tm_store_slot *slot = layout->slots;
    for (int p = 0; p < reported->n_processes; p++) {
        for (int i = 0; i < reported->counts[p] / WORDS; i++, slot++) {
            const int64_t *words = reported->words + reported->starts[p] + (size_t)i * WORDS;
            slot->rank = words[0];
            slot->process = p;
            slot->timeline = p == reported->self ? timelines[i] : NULL;
            for (int t = 0; t < TM_N_RECORDS; t++)
                slot->n_rows[t] = words[1 + t];
        }
    }
    qsort(layout->slots, layout->n_slots, sizeof *layout->slots, by_rank);
}

/* Computes the rows of each slot. All processes get the same result. */
static tm_status place_slots(tm_store_layout *layout, tm_error *err) {
    for (size_t i = 0; i < layout->n_slots; i++) {
        tm_store_slot *slot = &layout->slots[i];
        if (i > 0 && slot[-1].rank == slot->rank)
            return tm_fail(err, TM_ERR_FAULT, NULL, -1, "two processes have rank %" PRId64,
                           slot->rank);
        for (int t = 0; t < TM_N_RECORDS; t++) {
            slot->base.first[t] = layout->n_rows[t];
            layout->n_rows[t] += slot->n_rows[t];
        }
    }
    if (layout->n_rows[TM_RECORD_STEPS] >
        INT32_MAX) /* /events/step holds row numbers of /steps as int32 */
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "the job has 2^31 steps or more");
    return TM_OK;
}

static tm_status fill(MPI_Comm comm, exchange *reported, tm_timeline *const *timelines, size_t n,
                      tm_store_layout *layout, tm_error *err) {
    TM_TRY(tm_mpi_agree(comm, prepare(reported, timelines, n, err), err));
    int mine = (int)n * WORDS;
    MPI_Allgather(&mine, 1, MPI_INT, reported->counts, 1, MPI_INT, comm);
    TM_TRY(tm_mpi_agree(comm, make_room(reported, layout, err), err));
    MPI_Allgatherv(reported->mine, mine, MPI_INT64_T, reported->words, reported->counts,
                   reported->starts, MPI_INT64_T, comm);
    list_slots(reported, timelines, layout);
    return place_slots(layout, err);
}

tm_status tm_mpi_store_layout(MPI_Comm comm, tm_timeline *const *timelines, size_t n,
                              tm_store_layout *out, tm_error *err) {
    exchange reported = {0};
    tm_store_layout layout = {0};
    MPI_Comm_size(comm, &reported.n_processes);
    MPI_Comm_rank(comm, &reported.self);
    tm_status status = fill(comm, &reported, timelines, n, &layout, err);
    exchange_free(&reported);
    if (status != TM_OK) {
        tm_store_layout_free(&layout);
        return status;
    }
    *out = layout;
    return TM_OK;
}

void tm_store_layout_free(tm_store_layout *layout) {
    free(layout->slots);
    layout->slots = NULL;
    layout->n_slots = 0;
}
