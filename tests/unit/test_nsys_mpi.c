/* Nsight Systems exports of MPI programs on CPUs: communication, and the work between calls. */
#include "nsys_fixture.h"
#include "readers/nsys/nsys_mpi_names.h"

#define MPI "start, end, globalTid, textId, commHandle, "
/* Rank 1 of 2, from MPI_Init on. Communicator 70 is the world, 71 has one rank, 72 is a dup. */
#define JOB                                                                                        \
    "INSERT INTO StringIds VALUES (1,'MPI_Init'),(2,'MPI_Allreduce'),(3,'MPI_Irecv'),"             \
    "(4,'MPI_Isend'),(5,'MPI_Waitall'),(6,'MPI_Sendrecv'),(7,'MPI_Barrier'),(8,'MPI_Bcast');",     \
        TABLE("MPI_RANKS", "globalTid, rank", "(" T144 ", 1)"),                                    \
        TABLE("MPI_COMMUNICATORS",                                                                 \
              "rank, timestamp, commHandle, parentHandle, localRank, size, groupRoot, "            \
              "groupRootUid",                                                                      \
              "(1, 10, 70, 0, 1, 2, NULL, NULL), (1, 10, 71, 70, 0, 1, 1, 0), "                    \
              "(1, 10, 72, 70, NULL, NULL, NULL, NULL), (0, 10, 70, 0, 0, 9, NULL, NULL)"),        \
        TABLE("MPI_OTHER_EVENTS", "start, end, globalTid, textId", "(0, 10, " T144 ", 1)")

TEST(calls_of_mpi_are_once_each_and_what_they_moved_is_of_one_rank) {
    /* Nsight counts 800 bytes for an all-reduce of two ranks, i.e. 400 each. A call that waits for
     * two requests has two rows, but is one call; it ends both transfers. */
    nsys n = READ_SQL(
        JOB,
        TABLE("MPI_COLLECTIVES_EVENTS", MPI "size, recvSize",
              "(20, 25, " T144 ", 2, 70, 800, 800), (70, 72, " T144 ", 7, 71, NULL, NULL), "
              "(72, 74, " T144 ", 7, 72, NULL, NULL), (74, 76, " T144 ", 8, 70, NULL, 30)"),
        TABLE("MPI_P2P_EVENTS", MPI "tag, remoteRank, size, requestHandle",
              "(30, 31, " T144 ", 3, 70, 7, 0, 64, 900), (32, 33, " T144 ", 4, 70, 8, 0, 32, 901), "
              "(60, 60, " T144 ", 6, 70, 5, 0, 16, NULL), (60, 65, " T144
              ", 6, 70, 6, 0, 17, NULL)"),
        TABLE("MPI_START_WAIT_EVENTS", "start, end, globalTid, textId, requestHandle",
              "(40, 50, " T144 ", 5, 900), (40, 50, " T144 ", 5, 901)"));
    assert_int_equal(n.units.n, 1);
    const tm_unit *unit = n.units.data;
    assert_int_equal(unit->rank, 1);
    assert_events(&n, "MPI_Init mpi 0 10\n"
                      "MPI_Allreduce mpi 20 5\n"
                      "MPI_Irecv mpi 30 1\n"
                      "MPI_Isend mpi 32 1\n"
                      "MPI_Waitall mpi 40 10\n"
                      "MPI_Irecv collective_comm 30 20\n"
                      "MPI_Isend collective_comm 32 18\n"
                      "MPI_Sendrecv mpi 60 5\n"
                      "MPI_Sendrecv collective_comm 60 5\n"
                      "MPI_Sendrecv collective_comm 60 5\n"
                      "MPI_Barrier mpi 70 2\n"
                      "MPI_Barrier mpi 72 2\n"
                      "MPI_Bcast mpi 74 2\n"
                      "outside of ranges host_work 10 10\n"
                      "outside of ranges host_work 25 5\n"
                      "outside of ranges host_work 31 1\n"
                      "outside of ranges host_work 33 7\n"
                      "outside of ranges host_work 50 10\n"
                      "outside of ranges host_work 65 5\n");
    static const struct {
        int64_t seq, in, out, tag;
        const char *kind, *group;
        int32_t from, to;
    } expected[] = {
        {0, 400, 400, 0, "allreduce", "MPI_COMM_WORLD", -1, -1},
        {TM_SEQ_REPEATED, -1, -1, 7, "recv", "MPI_COMM_WORLD", 0, -1},
        {TM_SEQ_REPEATED, 32, -1, 8, "send", "MPI_COMM_WORLD", -1, 0},
        {TM_SEQ_REPEATED, 16, -1, 5, "send", "MPI_COMM_WORLD", -1, 0},
        {TM_SEQ_REPEATED, -1, -1, 6, "recv", "MPI_COMM_WORLD", 0, -1},
        {0, -1, -1, 0, "barrier", "MPI_COMM_WORLD dup 1", -1, -1}, /* the one on 71 is left out */
        {1, 30, 30, 0, "broadcast", "MPI_COMM_WORLD", -1, -1},
    };
    const tm_collective_attr *rows = n.trace.attrs[TM_ATTR_COLLECTIVE].data;
    assert_int_equal(n.trace.attrs[TM_ATTR_COLLECTIVE].n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        print_message("row %zu\n", i);
        assert_int_equal(rows[i].seq, expected[i].seq);
        assert_int_equal(rows[i].in_elements, expected[i].in);
        assert_int_equal(rows[i].out_elements, expected[i].out);
        assert_int_equal(rows[i].comms_id, expected[i].tag ? expected[i].tag + 2 : 0);
        assert_int_equal(rows[i].src_rank, expected[i].from);
        assert_int_equal(rows[i].dst_rank, expected[i].to);
        assert_name(&n.ground, rows[i].name, expected[i].kind);
        assert_name(&n.ground, rows[i].group, expected[i].group);
    }
    assert_int_equal(n.trace.world_size, 2);
    close_nsys(&n);
}

TEST(work_between_calls_is_of_the_innermost_range) {
    /* Without MPI tables (2022.4), MPI calls are ranges of a domain, and the name of a thread has
     * the rank. A range that is still open at the end is left out. */
    nsys n = READ_SQL("INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text, domainId) "
                      "VALUES (0, NULL, 75, " T145 ", 'MPI', 1), (0, NULL, 39, " T145
                      ", 'MPI Rank 3', 0), (0, 5, 59, " T145 ", 'MPI_Init', 1), (6, 40, 59, " T145
                      ", 'step 12', 0), (10, 20, 59, " T145 ", 'fc1', 0), (15, 18, 59, " T145
                      ", 'MPI_Barrier', 1), (50, NULL, 59, " T145 ", 'open', 0);",
                      TABLE("OSRT_API", "start, end, globalTid, nameId", "(0, 99, " T144 ", 1)"));
    const tm_unit *unit = n.units.data;
    assert_int_equal(n.units.n, 1);
    assert_int_equal(unit->rank, 3);
    assert_events(&n, "step 12 user_annotation 6 34\n"
                      "fc1 user_annotation 10 10\n"
                      "MPI_Init mpi 0 5\n"
                      "MPI_Barrier mpi 15 3\n"
                      "outside of ranges host_work 5 1\n"
                      "step host_work 6 4\n"
                      "fc1 host_work 10 5\n"
                      "fc1 host_work 18 2\n"
                      "step host_work 20 20\n");
    assert_int_equal(n.trace.counts[TM_COUNT_OPEN_RANGE], 1);
    close_nsys(&n);
}

TEST(functions_of_mpi_are_reported_by_their_names) {
    static const struct {
        const char *name;
        tm_mpi_function is;
    } all[] = {
        {"MPI_Allreduce", {TM_COLL_ALLREDUCE, true, false, false, false, false}},
        {"MPI_Iallreduce", {TM_COLL_ALLREDUCE, true, false, true, false, false}},
        {"MPI_Ialltoallv", {TM_COLL_ALLTOALL, true, true, true, false, false}},
        {"MPI_Reduce_scatter_block", {TM_COLL_REDUCESCATTER, true, false, false, false, false}},
        {"MPI_Send_init", {TM_COLL_SEND, true, false, false, true, false}},
        {"MPI_Sendrecv_replace", {TM_COLL_SENDRECV, true, false, false, false, false}},
        {"MPI_Send_c", {TM_COLL_SEND, true, false, false, false, false}},
        {"MPI_Startall", {TM_COLL_OTHER, false, false, false, false, true}},
        {"MPI_Scan", {TM_COLL_OTHER, true, false, false, false, false}},
        {"MPI_Sendx", {TM_COLL_OTHER, false, false, false, false, false}},
        {"MPI_Init", {TM_COLL_OTHER, false, false, false, false, false}},
        {"MPI_", {TM_COLL_OTHER, false, false, false, false, false}},
        {"gather", {TM_COLL_OTHER, false, false, false, false, false}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tm_mpi_function f = tm_mpi_function_of((tm_text){all[i].name, strlen(all[i].name)});
        print_message("%s\n", all[i].name);
        assert_memory_equal(&f, &all[i].is, sizeof f);
    }
}

RUN_TESTS()
