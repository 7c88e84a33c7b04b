/* Nsight Systems exports: their ranks, NCCL payloads, and rejected files. */
#include <inttypes.h>
#include <unistd.h>

#include "nsys_fixture.h"

#define KERNEL(device, pid)                                                                        \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "          \
    "correlationId, globalPid, demangledName, shortName) VALUES (10, 20, " device                  \
    ", 1, 7, 5, " pid ", 1, 1);"
#define COPY(device, pid)                                                                          \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "          \
    "globalPid, bytes, copyKind) VALUES (30, 40, " device ", 1, 7, " pid ", 8, 1);"
#define RANKS(rows) TABLE("MPI_RANKS", "globalTid, rank", rows)
#define CAPTURED(rows) TABLE("META_DATA_CAPTURE", "name, value", rows)
#define VARIABLE(text) "('PROCESS_0:ENVIRONMENT_VARIABLE', '" text "')"
#define SECRET "hunter2"

typedef struct unit_case {
    const char *sql;
    const char *units; /* each "pid.devices.rank.events"; devices: hex digit of bits 0 to 3 */
} unit_case;

static const unit_case unit_cases[] = {
    {KERNEL("0", P144), "144.f.-1.1 "},
    {KERNEL("1", P145) KERNEL("0", P144), "144.f.-1.1 145.f.-1.1 "},
    /* each process has its own device numbers; units are sorted by process */
    {KERNEL("0", P145) KERNEL("0", P144), "144.f.-1.1 145.f.-1.1 "},
    /* one process, two devices; its copies on a third, and on one beyond bit 63, make no rank */
    {KERNEL("1", P144) KERNEL("2", P144) COPY("0", P144) COPY("70", P144),
     "144.b.-1.3 144.4.-1.1 "},
    /* a copy on another process's device makes no rank */
    {KERNEL("0", P144) KERNEL("1", P145) COPY("0", P145), "144.f.-1.1 145.f.-1.2 "},
    {COPY("3", P145), "145.f.-1.1 "},
    /* MPI has recorded the rank of each process */
    {KERNEL("0", P144) KERNEL("1", P145) RANKS("(" T144 ", 9), (" T145 ", 8)"),
     "144.f.9.1 145.f.8.1 "},
    /* ranks are ignored if one is stated for two devices, or only for one of two processes */
    {KERNEL("0", P144) KERNEL("1", P144) RANKS("(" T144 ", 9)"), "144.d.-1.1 144.2.-1.1 "},
    {KERNEL("0", P144) KERNEL("1", P145) RANKS("(" T144 ", 9)"), "144.f.-1.1 145.f.-1.1 "},
    /* environment: RANK before other variables, quoted or not; only if there is one rank */
    {KERNEL("0", P144)
         CAPTURED(VARIABLE("SLURM_PROCID=\"4\"") "," VARIABLE("RANK=3") "," VARIABLE("MY_RANK=7")),
     "144.f.3.1 "},
    {KERNEL("0", P144)
         CAPTURED(VARIABLE("SLURM_PROCID=\"4\"") "," VARIABLE("RANK=3x") ",('OTHER', 'RANK=5')"),
     "144.f.4.1 "},
    {KERNEL("0", P144) KERNEL("1", P145) CAPTURED(VARIABLE("RANK=3")), "144.f.-1.1 145.f.-1.1 "},
};

TEST(a_unit_is_a_process_and_its_device) {
    for (size_t c = 0; c < COUNT(unit_cases); c++) {
        char found[256] = "";
        size_t n_units = 1;
        for (size_t i = 0; i < n_units; i++) {
            (void)write_export(schemas[LATEST].tables, unit_cases[c].sql);
            nsys n = read_nsys(i);
            const tm_unit *unit = (const tm_unit *)n.units.data + i;
            snprintf(found + strlen(found), sizeof found - strlen(found),
                     "%" PRId64 ".%x.%" PRId64 ".%zu ", unit->process >> 24,
                     (unsigned)unit->devices & 15, unit->rank, n.trace.events.n);
            n_units = n.units.n;
            close_nsys(&n);
        }
        print_message("case %zu\n", c);
        assert_string_equal(found, unit_cases[c].units);
    }
}

/* Finds the ranks of an export's units if the rank of a single unit is already known. */
static void ranks_if_known(const char *sql, int64_t *ranks, size_t n) {
    const char *path = write_export(schemas[LATEST].tables, sql);
    tm_vec units = TM_VEC(tm_unit);
    tm_file_info info;
    bool foreign;
    assert_int_equal(tm_file_sniff(path, &info, NULL), TM_OK);
    assert_int_equal(tm_file_list_units(&info, true, &units, &foreign, NULL), TM_OK);
    assert_int_equal(units.n, n);
    for (size_t i = 0; i < n; i++)
        ranks[i] = ((const tm_unit *)units.data)[i].rank;
    (void)remove(path);
    tm_vec_free(&units);
}

TEST(a_rank_that_is_known_is_not_looked_for_but_those_of_several_are) {
    int64_t found[2];
    ranks_if_known(KERNEL("0", P144) RANKS("(" T144 ", 9), (" T145 ", 8)"), found, 1);
    assert_int_equal(found[0], -1);
    ranks_if_known(KERNEL("0", P144) KERNEL("1", P145) RANKS("(" T144 ", 9), (" T145 ", 8)"), found,
                   2);
    assert_int_equal(found[0], 9);
    assert_int_equal(found[1], 8);
}

TEST(nothing_of_the_environment_but_ranks_is_read) {
    nsys n = READ_SQL(
        KERNEL("0", P144), "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'TOKEN=" SECRET "');",
        TABLE("TARGET_INFO_SYSTEM_ENV", "globalVid, devStateName, name, nameEnum, value",
              "(0, 'S', 'DeviceEnvironment', 1, 'K=" SECRET "'), (0, 'S', 'Hostname', 2, 'node7')"),
        TABLE("META_DATA_CAPTURE", "name, value",
              "('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=" SECRET
              "'), ('PROCESS_0:COMMAND', '" SECRET
              "'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'AWS_SECRET=" SECRET "')"));
    assert_name(&n.ground, n.trace.host, "node7");
    for (uint32_t id = 0; id < tm_names_count(n.ground.names); id++)
        assert_null(strstr(tm_names_text(n.ground.names, id).bytes, SECRET));
    assert_int_equal(((const tm_unit *)n.units.data)->rank, -1);
    close_nsys(&n);
}

/* NVTX payload: a header of 32 bytes with schema and payload size, then the payload. */
static void print_payload(char *out, size_t room, uint32_t id, uint64_t size,
                          const uint64_t words[3]) {
    unsigned char bytes[56] = {0};
    size_t n = 32 + (size < 24 ? (size_t)size : 24);
    memcpy(bytes + 8, &id, sizeof id);
    memcpy(bytes + 16, &size, sizeof size);
    memcpy(bytes + 32, words, 24);
    size_t used = (size_t)snprintf(out, room, "x'");
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(out + used, room - used, "%02x", bytes[i]);
    snprintf(out + used, room - used, "'");
}

#define SCHEMAS                                                                                    \
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset);"      \
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 5, 0, 18, 'NCCL communicator ID', NULL),"  \
    "(1, 5, 1, 22, 'Message size [bytes]', 8), (1, 5, 2, 5, 'Peer rank', 16),"                     \
    "(1, 6, 0, 18, 'NCCL communicator ID', NULL), (1, 6, 1, 5, 'No. of ranks', 8),"                \
    "(1, 6, 2, 5, 'Rank', 12), (1, 6, 3, 5, 'CUDA device', 16);"                                   \
    "INSERT INTO StringIds VALUES (1, 'ncclDevKernel_X'), (2, 'cudaLaunchKernel_v7000');"

typedef struct range {
    const char *text;
    int begin, end;
    uint32_t schema; /* 0: no payload */
    uint64_t size;   /* size of the payload [B] */
    uint64_t words[3];
} range;

/* An NCCL kernel launched at 100, and ranges of its thread. */
static nsys read_ranges(const range *ranges, size_t n) {
    char sql[8192];
    size_t used = (size_t)snprintf(
        sql, sizeof sql, "%s",
        SCHEMAS KERNEL(
            "0",
            P144) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
                  "correlationId, nameId, returnValue) VALUES (100, 105, 0, " T144 ", 5, 2, 0);");
    for (size_t i = 0; i < n; i++) {
        char payload[160] = "NULL";
        if (ranges[i].schema > 0)
            print_payload(payload, sizeof payload, ranges[i].schema, ranges[i].size,
                          ranges[i].words);
        used += (size_t)snprintf(
            sql + used, sizeof sql - used,
            "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text, domainId, "
            "binaryData) VALUES (%d, %d, 59, " T144 ", '%s', 1, %s);",
            ranges[i].begin, ranges[i].end, ranges[i].text, payload);
    }
    return READ_SQL(sql);
}

/* Communicator abc of 4 ranks; this is rank 2, on device 0. */
static const range init = {"ncclCommInitRank", 1, 9, 6, 24, {0xabc, 4 | UINT64_C(2) << 32, 0}};

TEST(payloads_say_what_kernels_of_nccl_do) {
    static const struct {
        range calls[4];
        const char *row; /* name, group, size, in, out, from, to */
    } cases[] = {
        {{{"ncclAllReduce", 90, 110, 5, 24, {0xabc, 4096, 0}}},
         "allreduce 0000000000000abc 4 4096 4096 -1 -1"},
        {{{"ncclAllGather", 90, 110, 5, 16, {0xabc, 100, 0}}},
         "allgather 0000000000000abc 4 100 -1 -1 -1"},
        {{{"ncclReduceScatter", 90, 110, 5, 16, {0xabc, 100, 0}}},
         "reducescatter 0000000000000abc 4 -1 100 -1 -1"},
        {{{"ncclSend", 90, 110, 5, 24, {0xabc, 64, 3}}}, "send 0000000000000abc 4 64 -1 -1 3"},
        {{{"ncclRecv", 90, 110, 5, 24, {0xabc, 64, 1}}}, "recv 0000000000000abc 4 -1 64 1 -1"},
        /* the size is unknown if the communicator's creation was not recorded */
        {{{"ncclSend", 90, 110, 5, 24, {0xdef, 64, 3}}}, "send 0000000000000def -1 64 -1 -1 3"},
        {{{"ncclAllGather", 90, 110, 5, 16, {0xdef, 100, 0}}},
         "allgather 0000000000000def -1 100 -1 -1 -1"},
        /* the innermost range counts */
        {{{"ncclAllReduce", 80, 120, 5, 24, {0xabc, 1, 0}},
          {"ncclBroadcast", 90, 110, 5, 24, {0xabc, 2, 0}}},
         "broadcast 0000000000000abc 4 2 2 -1 -1"},
        /* ncclGroupEnd launches the kernel of the calls since ncclGroupStart */
        {{{"ncclGroupStart", 80, 81, 0, 0, {0}},
          {"ncclSend", 82, 83, 5, 24, {0xabc, 64, 3}},
          {"ncclRecv", 84, 85, 5, 24, {0xabc, 32, 1}},
          {"ncclGroupEnd", 90, 110, 0, 0, {0}}},
         "sendrecv 0000000000000abc 4 64 32 -1 -1"},
        {{{"ncclGroupStart", 80, 81, 0, 0, {0}},
          {"ncclSend", 82, 83, 5, 24, {0xabc, 64, 3}},
          {"ncclGroupEnd", 90, 110, 0, 0, {0}}},
         "send 0000000000000abc 4 64 -1 -1 3"},
        /* if a group has several collectives, it is unknown which one the kernel is */
        {{{"ncclGroupStart", 80, 81, 0, 0, {0}},
          {"ncclAllReduce", 82, 83, 5, 24, {0xabc, 64, 3}},
          {"ncclAllReduce", 84, 85, 5, 24, {0xabc, 32, 1}},
          {"ncclGroupEnd", 90, 110, 0, 0, {0}}},
         ""},
        /* no metadata: the range ended before the launch; no payload; the payload ends in its
         * header; wrong size, twice; unknown schema; too short for the size field */
        {{{"ncclAllReduce", 80, 99, 5, 24, {0xabc, 64, 3}}}, ""},
        {{{"ncclAllReduce", 90, 110, 0, 0, {0}}}, ""},
        {{{"ncclAllReduce", 90, 110, 5, 0, {0}}}, ""},
        {{{"ncclAllReduce", 90, 110, 5, UINT64_MAX - 8, {0xabc, 64, 3}}}, ""},
        {{{"ncclAllReduce", 90, 110, 5, 40, {0xabc, 64, 3}}}, ""},
        {{{"ncclAllReduce", 90, 110, 7, 24, {0xabc, 64, 3}}}, ""},
        {{{"ncclAllReduce", 90, 110, 5, 15, {0xabc, 64, 3}}}, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        range ranges[5] = {init};
        size_t n_ranges = 1;
        char found[128] = "";
        for (size_t k = 0; k < 4 && cases[i].calls[k].text; k++)
            ranges[n_ranges++] = cases[i].calls[k];
        nsys n = read_ranges(ranges, n_ranges);
        const tm_collective_attr *a = n.trace.attrs[TM_ATTR_COLLECTIVE].data;
        if (n.trace.attrs[TM_ATTR_COLLECTIVE].n > 0)
            snprintf(found, sizeof found, "%s %s %d %" PRId64 " %" PRId64 " %d %d",
                     tm_names_text(n.ground.names, a->name).bytes,
                     tm_names_text(n.ground.names, a->group).bytes, a->group_size, a->in_elements,
                     a->out_elements, a->src_rank, a->dst_rank);
        print_message("case %zu\n", i);
        assert_string_equal(found, cases[i].row);
        assert_int_equal(((const tm_unit *)n.units.data)->rank, 2); /* from ncclCommInitRank */
        close_nsys(&n);
    }
}

static void bad_file(const char *path, const char *message) {
    tm_vec units = TM_VEC(tm_unit);
    tm_file_info info;
    tm_error err;
    bool foreign;
    tm_status status = tm_file_sniff(path, &info, &err);
    if (status == TM_OK)
        status = tm_file_list_units(&info, false, &units, &foreign, &err);
    assert_int_equal(status, TM_ERR_INPUT);
    assert_string_equal(err.path, path);
    assert_non_null(strstr(err.message, message));
    tm_vec_free(&units);
}

static void change(const char *path, long at, const void *bytes, size_t n) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

TEST(what_cannot_be_read_is_refused_with_words) {
    bad_file(write_export("CREATE TABLE users (name);", ""), "its tables: users");
    bad_file(write_export(schemas[LATEST].tables, ""), "no activity of a process");
    const char *path = write_export(schemas[LATEST].tables, KERNEL("0", P144));
    char journal[96];
    snprintf(journal, sizeof journal, "%s-journal", path);
    FILE *file = fopen(journal, "wb");
    assert_non_null(file);
    assert_int_equal(fputc('x', file), 'x');
    fclose(file);
    bad_file(path, "its journal is still there");
    assert_int_equal(remove(journal), 0);
    change(path, 28, "\0\0\0", 4); /* the number of pages */
    bad_file(path, "writing it was interrupted");
    (void)write_export(schemas[LATEST].tables, KERNEL("0", P144));
    change(path, 100, "\xFF", 1); /* the type of the first page */
    bad_file(path, "SQLite cannot read it: ");
    (void)write_export(schemas[LATEST].tables, KERNEL("0", P144));
    assert_int_equal(truncate(path, 8192), 0);
    bad_file(path, "ends too early: 8192 of ");
    assert_int_equal(truncate(path, 60), 0);
    bad_file(path, "the header of this database is missing");
    assert_int_equal(remove(path), 0);
}

TEST(views_and_wrong_types_are_not_followed) {
    nsys n = READ_SQL(KERNEL("0", P144), "INSERT INTO StringIds VALUES (1, 'gemm');",
                      "CREATE TABLE other (start, end, globalTid, textId);",
                      "CREATE VIEW MPI_OTHER_EVENTS AS SELECT * FROM other;",
                      "INSERT INTO other VALUES (1, 2, " T144 ", 1);",
                      TABLE("MPI_P2P_EVENTS", "start, end, globalTid, textId",
                            "('x', 2, " T144 ", 1), (9e300, 2, " T144
                            ", 1), (-9223372036854775808, 2, " T144
                            ", 1), (1, 9223372036854775807, " T144 ", 1), (1, 2, " T144
                            ", 'x'), (3, 'x', " T144 ", 1)"));
    assert_events(&n, "gemm kernel 10 10\n mpi 1 1\n");
    assert_int_equal(n.trace.counts[TM_COUNT_NO_TIME], 3);
    assert_int_equal(n.trace.counts[TM_COUNT_ABSURD_DURATION], 1);
    assert_int_equal(n.trace.counts[TM_COUNT_OPEN_RANGE], 1);
    assert_int_equal(n.trace.counts[TM_COUNT_NO_NAME], 1);
    close_nsys(&n);
}

RUN_TESTS()
