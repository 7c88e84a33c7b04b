/* Records are sent to the processes that own them. Run with 1, 2, 3 and 4 processes. */
#include "mpi/exchange/shuffle.h"

#include <unistd.h>

#include "mpi_main.h"

enum { N_JOBS = 6 };

/* A record. It states its origin, and its size is large and no power of two. */
typedef struct parcel {
    int32_t from, place, to;
    char rest[41];
} parcel;

static int owner_of(const void *record, int n_processes) {
    const parcel *p = record;
    return p->to % n_processes;
}

static int count_of(int job, int process, int n_processes) {
    switch (job) {
    case 0:
        return 200; /* all have equally many */
    case 1:
        return process * 37 + 5; /* each has another number */
    case 2:
        return process == n_processes - 1 ? 1000 : 0; /* only the last process has any */
    case 3:
        return process == 0 ? 0 : 1; /* process 0 has none */
    case 4:
        return 300; /* all go to process 0 */
    default:
        return 0;
    }
}

static parcel make_parcel(int job, int process, int place) {
    uint32_t mixed = (uint32_t)(process * 7919 + place) * 2654435761u;
    parcel p = {.from = process, .place = place, .to = (int32_t)(mixed >> 20)};
    memset(p.rest, process * 31 + place, sizeof p.rest);
    p.to = job == 4 ? 0 : p.to;
    return p;
}

static tm_vec make_parcels(int job, int process, int n_processes) {
    tm_vec parcels = TM_VEC(parcel);
    for (int i = 0; i < count_of(job, process, n_processes); i++) {
        parcel p = make_parcel(job, process, i);
        assert_non_null(tm_vec_append(&parcels, &p, 1));
    }
    return parcels;
}

/* Checks that this process received exactly its records, in the order of sender and index. */
static void check_received(int job, const tm_vec *received, int self, int n_processes) {
    const parcel *found = received->data;
    size_t n = 0;
    for (int from = 0; from < n_processes; from++)
        for (int i = 0; i < count_of(job, from, n_processes); i++) {
            parcel p = make_parcel(job, from, i);
            if (p.to % n_processes != self)
                continue;
            assert_true(n < received->n);
            assert_int_equal(found[n].from, from);
            assert_int_equal(found[n].place, i);
            assert_int_equal(found[n].to, p.to);
            assert_memory_equal(found[n].rest, p.rest, sizeof p.rest);
            n++;
        }
    assert_int_equal(received->n, n);
}

TEST(records_come_in_order_and_none_is_lost) {
    int self = this_process(), n_processes = all_processes();
    tm_error err;
    for (int job = 0; job < N_JOBS; job++) {
        tm_vec sent = make_parcels(job, self, n_processes), received = TM_VEC(parcel);
        assert_int_equal(tm_mpi_shuffle(MPI_COMM_WORLD, &sent, owner_of, &received, &err), TM_OK);
        check_received(job, &received, self, n_processes);
        assert_int_equal(sent.n, 0);
        assert_null(sent.data);
        tm_vec_free(&received);
    }
}

TEST(what_was_in_the_vector_is_replaced) {
    int self = this_process(), n_processes = all_processes();
    tm_error err;
    tm_vec received = make_parcels(0, self + 50, n_processes);
    tm_vec sent = make_parcels(1, self, n_processes);
    assert_int_equal(tm_mpi_shuffle(MPI_COMM_WORLD, &sent, owner_of, &received, &err), TM_OK);
    check_received(1, &received, self, n_processes);
    tm_vec_free(&received);
}

RUN_MPI_TESTS(NULL, NULL)
