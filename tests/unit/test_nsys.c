/* Nsight Systems exports: the events that are made of their rows. */
#include "nsys_fixture.h"
#include "timeline/build_timeline.h"

/* Rows for a kernel, copy, memset, call and range. Their column names are common to all schemas. */
#define KERNEL(start, end, device, correlation, pid, name)                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "          \
    "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "       \
    "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory) VALUES (" start       \
    "," end "," device ",1,7," correlation "," pid "," name ",2,40,8,2,1,128,2,1,48,1000);"
#define COPY(start, end, kind, from, to)                                                           \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "          \
    "correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES (" start "," end          \
    ",0,1,13,6," P144 ",4000," kind "," from "," to ");"
#define SET(start, end)                                                                            \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, "          \
    "correlationId, globalPid, bytes, memKind) VALUES (" start "," end ",0,1,7,8," P144 ",16,2);"
#define CALL(start, end, class, correlation, name)                                                 \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, "  \
    "nameId, returnValue) VALUES (" start "," end "," class "," T144 "," correlation "," name      \
                                                            ",0);"
#define RANGE(start, end, type, text, id, domain)                                                  \
    "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text, textId, domainId) VALUES "   \
    "(" start "," end "," type "," T144 "," text "," id "," domain ");"
#define STRINGS                                                                                    \
    "INSERT INTO StringIds VALUES (1,'void gemm<float>(int)'),(2,'gemm'),"                         \
    "(3,'cudaLaunchKernel_v7000'),(4,'cuMemAlloc_v2'),(5,'registered');"
#define EPOCH                                                                                      \
    "INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs) VALUES (1700000000000000000);"

TEST(every_schema_gives_the_same_events) {
    for (size_t i = 0; i < N_SCHEMAS; i++) {
        bool dated = strstr(schemas[i].tables, "SESSION_START");
        char sql[4096];
        snprintf(sql, sizeof sql, "%s%s", dated ? EPOCH : "",
                 STRINGS KERNEL("1000", "1500", "0", "5", P144, "1")
                     COPY("1600", "2600", "1", "1", "2") SET("2700", "2750")
                         CALL("900", "950", "0", "5", "3")
                             RANGE("800", "2000", "59", "'fwd'", "NULL", "0"));
        (void)write_export(schemas[i].tables, sql);
        nsys n = read_nsys(0);
        print_message("schema %s\n", schemas[i].name);
        /* A time is the row's time plus the epoch time of the start, if that is recorded. */
        assert_events(&n, dated ? "void gemm<float>(int) kernel 1700000000000001000 500\n"
                                  "Memcpy HtoD (Pinned -> Device) gpu_memcpy "
                                  "1700000000000001600 1000\n"
                                  "Memset (Device) gpu_memset 1700000000000002700 50\n"
                                  "cudaLaunchKernel cuda_runtime 1700000000000000900 50\n"
                                  "fwd user_annotation 1700000000000000800 1200\n"
                                : "void gemm<float>(int) kernel 1000 500\n"
                                  "Memcpy HtoD (Pinned -> Device) gpu_memcpy 1600 1000\n"
                                  "Memset (Device) gpu_memset 2700 50\n"
                                  "cudaLaunchKernel cuda_runtime 900 50\n"
                                  "fwd user_annotation 800 1200\n");
        assert_int_equal(n.trace.counts[TM_COUNT_NO_EPOCH], dated ? 0 : 5);
        assert_int_equal(n.units.n, 1);
        close_nsys(&n);
    }
}

TEST(kernels_have_shape_registers_and_both_kinds_of_shared_memory) {
    nsys n = READ_SQL(
        STRINGS, KERNEL("10", "20", "3", "5", P144, "99"),
        TABLE("TARGET_INFO_GPU",
              "id INTEGER, cuDevice INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER",
              "(0, 3, 'A100', 85899345920, 108)"));
    assert_events(&n, "gemm kernel 10 10\n"); /* string 99 is missing, so the short name is used */
    const tm_kernel_attr *k = n.trace.attrs[TM_ATTR_KERNEL].data;
    assert_int_equal(k->correlation, 5);
    const tm_launch_shape *shape = shape_at(&n.trace, 0);
    assert_int_equal(shape->grid[0] * 100 + shape->grid[1] * 10 + shape->grid[2], 821);
    assert_int_equal(shape->block[0], 128);
    assert_int_equal(shape->registers, 40);
    assert_int_equal(shape->shared_memory_bytes, 1048);
    assert_float_equal(shape->blocks_per_sm, 16.0 / 108, 1e-6);
    assert_float_equal(shape->warps_per_sm, 16.0 * 256 / 32 / 108, 1e-6);
    const tm_track *track = n.trace.tracks.data;
    assert_int_equal(track->device, 3);
    assert_int_equal(track->stream, 7);
    assert_name(&n.ground, n.trace.metadata,
                "{\"reported_by\":\"nsys "
                "stats\",\"nsysSchemaVersion\":\"3.28.1\",\"deviceProperties\":[{\"id\":3,\"name\":"
                "\"A100\",\"totalGlobalMem\":85899345920,\"numSms\":108}],\"diagnostics\":[]}");
    close_nsys(&n);
}

TEST(devices_have_their_number_in_cuda) {
    nsys n = READ_SQL(STRINGS, KERNEL("10", "20", "0", "5", P144, "1"),
                      TABLE("TARGET_INFO_GPU", "id INTEGER, cuDevice INTEGER, name TEXT",
                            "(0, 0, 'first'), (1, 1, 'second')"),
                      TABLE("TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER, pid INTEGER",
                            "(1, 0, 144), (0, 0, 145)"));
    assert_name(&n.ground, n.trace.metadata,
                "{\"reported_by\":\"nsys "
                "stats\",\"nsysSchemaVersion\":\"3.28.1\",\"deviceProperties\":[{\"id\":0,\"name\":"
                "\"second\"}],\"diagnostics\":[]}");
    close_nsys(&n);
}

TEST(copies_are_named_as_the_analyses_know_them) {
    nsys n = READ_SQL(COPY("0", "1", "1", "0", "2"), COPY("1", "2", "2", "2", "1"),
                      COPY("2", "3", "8", "2", "2"), COPY("3", "4", "10", "2", "2"),
                      COPY("4", "5", "11", "4", "2"), COPY("5", "6", "99", "9", "-1"));
    assert_events(&n, "Memcpy HtoD (Pageable -> Device) gpu_memcpy 0 1\n"
                      "Memcpy DtoH (Device -> Pinned) gpu_memcpy 1 1\n"
                      "Memcpy DtoD (Device -> Device) gpu_memcpy 2 1\n"
                      "Memcpy PtoP (Device -> Device) gpu_memcpy 3 1\n"
                      "Memcpy Unified HtoD (Managed -> Device) gpu_memcpy 4 1\n"
                      "Memcpy Unknown (Unknown -> Unknown) gpu_memcpy 5 1\n");
    /* attributes from the second copy on: 4000 bytes in 1 ns */
    assert_attrs(&n, " #6 4000 bytes gbps=4000\n #6 4000 bytes gbps=4000\n"
                     " #6 4000 bytes gbps=4000\n #6 4000 bytes gbps=4000\n"
                     " #6 4000 bytes gbps=4000\n");
    close_nsys(&n);
}

TEST(calls_are_of_the_runtime_or_the_driver_and_counted_once) {
    /* Class 67 repeats a call to record its stack. "_v2" is part of a name, "_v7000" is not. */
    nsys n = READ_SQL(STRINGS, SET("50", "60"), CALL("1", "3", "0", "5", "3"),
                      CALL("1", "3", "67", "5", "3"), CALL("4", "6", "1", "0", "4"),
                      CALL("9", "8", "0", "7", "3"));
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "cudaLaunchKernel cuda_runtime 1 2\n"
                      "cuMemAlloc_v2 cuda_driver 4 2\n");
    assert_attrs(&n, " launches #5\n\n"); /* correlation 0 launches nothing */
    assert_int_equal(n.trace.counts[TM_COUNT_NEGATIVE_DURATION], 1);
    close_nsys(&n);
}

TEST(what_the_host_does_besides_cuda_is_ranges_of_its_kind) {
    /* Classes 31 and 32 are the begin and end of OS runtime tracing. */
    nsys n = READ_SQL(SET("50", "60"),
                      "INSERT INTO StringIds VALUES (10, 'poll'), (11, 'cudnnFind_v8'), (12, "
                      "'Parallel'), (13, 'Wait'), (14, 'futex');",
                      TABLE("OSRT_API", "start, end, eventClass, globalTid, nameId",
                            "(1, 3, 27, " T144 ", 10), (0, 0, 31, " T144 ", 10), (4, 6, 27, " T145
                            ", 10), (7, NULL, 27, " T144 ", 10)"),
                      TABLE("CUDNN_EVENTS", "start, end, eventClass, globalTid, nameId",
                            "(2, 5, 28, " T144 ", 11)"),
                      TABLE("OPENMP_EVENT_KIND_PARALLEL", "start, end, globalTid, nameId",
                            "(6, 9, " T144 ", 12)"),
                      TABLE("CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "start, end, nameId, globalTid",
                            "(8, 9, 13, " T144 ")"),
                      TABLE("SYSCALL", "start, end, globalTid, nameId", "(3, 4, " T144 ", 14)"));
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "poll os_runtime 1 2\n"
                      "futex syscall 3 1\n"
                      "cudnnFind_v8 library 2 3\n"
                      "Wait openacc 8 1\n"
                      "Parallel openmp 6 3\n");
    assert_int_equal(n.trace.counts[TM_COUNT_OPEN_RANGE], 1);
    tm_span span; /* begins with cuDNN's call, because OS calls do not extend the range */
    tm_trace_range(&n.trace, &span);
    assert_int_equal(span.begin_ns, 2);
    assert_int_equal(span.end_ns, 60);
    close_nsys(&n);
}

TEST(memory_is_taken_and_given_back_at_addresses) {
    /* 100 B of device memory at 4096, and its release without a size; pinned host memory. These
     * make no records: managed memory, another device's memory, and a release of memory allocated
     * before the recording. */
    nsys n = READ_SQL(
        STRINGS, KERNEL("50", "60", "0", "5", P144, "1"), KERNEL("50", "60", "1", "6", P145, "1"),
        TABLE("CUDA_GPU_MEMORY_USAGE_EVENTS",
              "start, globalPid, deviceId, address, bytes, memKind, memoryOperationType",
              "(1, " P144 ", 0, 4096, 100, 2, 0), (2, " P144 ", 0, 4096, 0, 2, 1), (3, " P144
              ", 0, 8192, 64, 1, 0), (4, " P144 ", 0, 9000, 10, 4, 0), (5, " P145
              ", 1, 4096, 10, 2, 0), (6, " P144 ", 0, 7777, 0, 2, 1)"));
    assert_attrs(&n, " 1000 100 bytes of 1:0\n 1000 -100 bytes of 1:0\n 2000 64 bytes of 0:-1\n\n");
    assert_int_equal(n.trace.counts[TM_COUNT_BAD_VALUE], 1);
    assert_events(&n, "void gemm<float>(int) kernel 50 10\n"
                      "[memory] cpu_instant_event 1 0\n"
                      "[memory] cpu_instant_event 2 0\n"
                      "[memory] cpu_instant_event 3 0\n"
                      "[memory] cpu_instant_event 6 0\n");
    close_nsys(&n);
}

TEST(faults_and_samples_are_reported_with_their_numbers) {
    /* GPU 1 of the machine is device 0 of process 144. GPU 0 is of process 145. */
    nsys n = READ_SQL(
        SET("50", "60"), "INSERT INTO StringIds VALUES (10, 'main'), (11, 'a.out');",
        TABLE("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start, globalPid, address, CpuInstruction, module",
              "(1, " P144 ", 4096, 10, 11), (2, " P144 ", NULL, NULL, 11)"),
        TABLE("CUDA_UM_GPU_PAGE_FAULT_EVENTS",
              "start, end, globalPid, deviceId, numberOfPageFaults, faultAccessType, address",
              "(3, 7, " P144 ", 0, 12, 2, 8192)"),
        TABLE("TARGET_INFO_CUDA_DEVICE", "gpuId, cudaId, pid", "(1, 0, 144), (0, 0, 145)"),
        TABLE("TARGET_INFO_GPU_METRICS", "typeId, metricId, metricName", "(257, 4, 'SMs Active')"),
        TABLE("GPU_METRICS", "timestamp, typeId, metricId, value",
              "(8, 257, 4, 75), (8, 256, 4, 50)"),
        TABLE("TARGET_INFO_NETWORK_METRICS", "metricsListId, metricsIdx, name",
              "(2, 1, 'Bytes sent')"),
        TABLE("NET_NIC_METRIC", "start, end, globalId, portId, metricsListId, metricsIdx, value",
              "(9, 10, 3, 1, 2, 1, 4000)"));
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "main page_fault 1 0\n"
                      "a.out page_fault 2 0\n"
                      "GPU page faults (write) page_fault 3 4\n"
                      "SMs Active none 8 0\n"
                      "Bytes sent none 9 0\n");
    /* NULL means not recorded */
    assert_attrs(&n, " at 4096\n\n faults=12 at 8192\n =75\n =4000\n");
    close_nsys(&n);
}

TEST(threads_run_from_one_row_to_the_next) {
    /* Rows of another thread come in between. A thread still on a core at the end has no event. */
    nsys n = READ_SQL(SET("50", "60"),
                      TABLE("SCHED_EVENTS", "start, cpu, isSchedIn, globalTid",
                            "(1, 5, 1, " T144 "), (2, 6, 1, " T144 " + 1), (4, 5, 0, " T144
                            "), (6, 6, 0, " T144 " + 1), (9, 7, 1, " T144 ")"),
                      "INSERT INTO StringIds VALUES (10, 'worker');",
                      TABLE("ThreadNames", "nameId, priority, globalTid", "(10, 0, " T144 ")"));
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "CPU 5 on_cpu 1 3\n"
                      "CPU 6 on_cpu 2 4\n");
    assert_int_equal(n.trace.counts[TM_COUNT_OPEN_RANGE], 1);
    const tm_track *track = (const tm_track *)n.trace.tracks.data + 1;
    assert_name(&n.ground, track->tid, "9 on CPU");
    assert_name(&n.ground, track->thread_name, "worker");
    close_nsys(&n);
}

TEST(calls_have_the_stacks_of_their_chains) {
    /* String 5 is "registered". A frame without a symbol has the name of its module. Several such
     * frames in a row are shown as one. */
    nsys n = READ_SQL(
        STRINGS, SET("50", "60"), CALL("1", "3", "0", "5", "3"), CALL("5", "6", "0", "6", "3"),
        "INSERT INTO StringIds VALUES (70, '0x7f'), (71, '/lib/libcuda.so'), (72, 'f(a;",
        "b)'), (73, 'main');",
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = 4 WHERE correlationId = 5;",
        TABLE("CUDA_CALLCHAINS", "id, symbol, module, unresolved, stackDepth",
              "(4, 73, 71, NULL, 3), (4, 70, 71, 1, 0), (4, 70, 71, 1, 1), (4, 72, 71, 0, 2), (5, "
              "73, 71, 0, 0)"));
    assert_attrs(&n, " launches #5 stack=[libcuda.so];f(a:b);main\n launches #6\n");
    close_nsys(&n);
}

TEST(ranges_have_text_registered_text_and_domain) {
    nsys n = READ_SQL(
        STRINGS, SET("50", "60"), RANGE("1", "9", "59", "NULL", "5", "0"),
        RANGE("2", "4", "60", "'loop'", "NULL", "2"),
        RANGE("3", "NULL", "34", "'mark'", "NULL", "0"),
        RANGE("3", "NULL", "59", "'open'", "NULL", "0"),
        RANGE("5", "6", "59", "'aten::mm, op_id = 12'", "NULL", "0"),
        RANGE("6", "7", "59", "'MPI_Send'", "NULL", "3"),
        RANGE("0", "NULL", "75", "'data'", "NULL", "2"),
        RANGE("0", "NULL", "75", "'MPI'", "NULL", "3"),
        "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text) VALUES (1, 2, 59, " T145
        ", 'of another process');");
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "registered user_annotation 1 8\n"
                      "data:loop user_annotation 2 2\n"
                      "mark user_annotation 3 0\n"
                      "aten::mm cpu_op 5 1\n"
                      "MPI_Send mpi 6 1\n");
    assert_int_equal(n.trace.counts[TM_COUNT_OPEN_RANGE], 1);
    assert_int_equal(((const tm_raw_event *)n.trace.events.data)[3].kind, TM_INSTANT);
    close_nsys(&n);
}

TEST(a_domain_is_named_by_its_first_row_wherever_that_stands) {
    nsys n = READ_SQL(
        SET("50", "60"), RANGE("0", "NULL", "75", "'data'", "NULL", "2"),
        RANGE("1", "2", "59", "'a'", "NULL", "2"), RANGE("0", "NULL", "75", "'no'", "NULL", "2"),
        RANGE("2", "3", "59", "'b'", "NULL", "2"),
        RANGE("3", "4", "59", "'c'", "NULL", "4"), /* domain 4 has no name */
        "INSERT INTO NVTX_EVENTS (start, eventType, globalTid, text, domainId) VALUES (0, 75, " T145
        ", 'alien', 4);",
        RANGE("4", "5", "59", "'d'", "NULL", "5"), RANGE("0", "NULL", "75", "'late'", "NULL", "5"),
        RANGE("5", "6", "59", "'e'", "NULL", "2"), RANGE("6", "7", "59", "'f'", "NULL", "5"));
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "data:a user_annotation 1 1\n"
                      "data:b user_annotation 2 1\n"
                      "c user_annotation 3 1\n"
                      "late:d user_annotation 4 1\n"
                      "data:e user_annotation 5 1\n"
                      "late:f user_annotation 6 1\n");
    close_nsys(&n);
}

TEST(a_process_has_all_threads_of_its_number_and_no_other) {
    /* The threads of process 144 are 2415919104 to 2415919104 + 2^24 - 1. */
    nsys n = READ_SQL(
        SET("50", "60"),
        "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text) VALUES (1, 2, 59, "
        "2415919103, 'before'), (2, 3, 59, 2415919104, 'first'), (3, 4, 59, 2432696319, 'last'), "
        "(4, 5, 59, 2432696320, 'behind'), (5, 6, 59, NULL, 'nobody');");
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "first user_annotation 2 1\n"
                      "last user_annotation 3 1\n");
    close_nsys(&n);
}

TEST(mpi_calls_and_waits_are_events_and_threads_have_names) {
    nsys n = READ_SQL(
        STRINGS, SET("50", "60"),
        TABLE("MPI_COLLECTIVES_EVENTS", "start, end, globalTid, textId", "(1, 5, " T144 ", 5)"),
        TABLE("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
              "start, end, deviceId, streamId, globalPid, syncType",
              "(2, 4, 0, 7, " P144 ", 3), (5, 6, 0, 4294967295, " P144 ", 4)"),
        TABLE("ThreadNames", "nameId, priority, globalTid", "(5, 20, " T144 "), (5, 20, " T145 ")"),
        TABLE("PROCESSES", "globalPid, pid, name", "(" P144 ", 144, 'python3')"));
    assert_events(&n, "Memset (Device) gpu_memset 50 10\n"
                      "Stream Sync cuda_sync 2 2\n"
                      "Context Sync cuda_sync 5 1\n"
                      "registered mpi 1 4\n");
    const tm_track *tracks = n.trace.tracks.data;
    assert_int_equal(n.trace.tracks.n, 3); /* stream 7, no stream, the thread */
    assert_int_equal(tracks[1].stream, -1);
    assert_name(&n.ground, tracks[2].process_name, "python3");
    assert_name(&n.ground, tracks[2].thread_name, "registered");
    assert_name(&n.ground, tracks[2].tid, "9");
    close_nsys(&n);
}

TEST(waits_have_their_streams_and_what_recorded_their_events) {
#define RECORD(context, stream, correlation, pid, event, sync)                                     \
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, " context ", " stream ", " correlation  \
    ", " pid ", " event ", " sync ");"
#define WAIT(stream, correlation, type, event, sync)                                               \
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 3, 0, 1, " stream ", " correlation \
    ", " P144 ", " type ", " event ", " sync ");"
#define NONE "4294967295"
    nsys n = READ_SQL(
        STRINGS, SET("50", "60"), /* an event makes the process a unit */
        "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId, "
        "correlationId, globalPid, eventId, eventSyncId);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, "
        "streamId, correlationId, globalPid, syncType, eventId, eventSyncId);", /* unsorted rows */
        RECORD("1", "21", "30", P144, "5", "101"), RECORD("1", "20", "10", P144, "5", "100"),
        RECORD("0", "22", "8", P144, "5", "0"),  /* belongs to another context */
        RECORD("1", "23", "12", P145, "5", "0"), /* belongs to another process */
        WAIT("7", "20", "2", "5", "100"), WAIT("8", "40", "2", "5", "101"),
        WAIT("7", "41", "2", "5", "103"),   /* its record was not captured */
        WAIT("7", "9", "2", "5", "0"),      /* before the event was recorded */
        WAIT("7", "42", "2", "6", "0"),     /* waits for another event */
        WAIT(NONE, "43", "1", "5", "NULL"), /* the export has no ids */
        WAIT("7", "44", "3", NONE, "0"), WAIT(NONE, "45", "4", NONE, "0"),
        WAIT(NONE, "46", "1", NONE, "0"), WAIT("7", "47", "9", NONE, "0"));
#undef NONE
#undef WAIT
#undef RECORD
    assert_attrs(&n, " Stream Wait Event call=20 record=10 stream=7 on=20\n"
                     " Stream Wait Event call=40 record=30 stream=8 on=21\n"
                     " Stream Wait Event call=41 stream=7\n"
                     " Stream Wait Event call=9 stream=7\n"
                     " Stream Wait Event call=42 stream=7\n"
                     " Event Sync call=43 record=30 on=21\n"
                     " Stream Sync call=44 on=7\n"
                     " Context Sync call=45\n"
                     " Context Sync call=46\n"
                     " Unknown Sync call=47 stream=7\n");
    const tm_raw_event *events = n.trace.events.data;
    const tm_wait_attr *waits = n.trace.attrs[TM_ATTR_WAIT].data;
    for (size_t i = 0; i < n.trace.attrs[TM_ATTR_WAIT].n; i++)
        assert_name(&n.ground, events[waits[i].event].name, tm_wait_text(waits[i].kind));
    close_nsys(&n);
}

TEST(a_graph_traced_as_a_whole_is_one_kernel_and_counted) {
    nsys n = READ_SQL(TABLE("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                            "start, end, deviceId, streamId, correlationId, globalPid, graphId",
                            "(1, 9, 0, 7, 3, " P144 ", 12)"));
    assert_events(&n, "CUDA graph 12 kernel 1 8\n");
    assert_int_equal(n.trace.counts[TM_COUNT_WHOLE_GRAPH], 1);
    close_nsys(&n);
}

TEST(warnings_of_the_profiler_are_kept_and_notes_are_not) {
    nsys n =
        READ_SQL(SET("50", "60"),
                 TABLE("DIAGNOSTIC_EVENT", "timestamp, severity, text, globalPid",
                       "(-5, 1, 'note', 0), (-5, 2, 'lost 3 events', 0), (1, 3, 'no memory', " P144
                       "), (1, 3, 'of another', " P145 "), (1, 4, 'verbose', 0)"));
    assert_name(&n.ground, n.trace.metadata,
                "{\"reported_by\":\"nsys "
                "stats\",\"nsysSchemaVersion\":\"3.28.1\",\"deviceProperties\":[],\"diagnostics\":["
                "\"lost 3 events\",\"no memory\"]}");
    assert_int_equal(n.trace.counts[TM_COUNT_DIAGNOSTIC], 2);
    close_nsys(&n);
}

TEST(times_are_of_the_epoch_whatever_the_export_did_to_them) {
    static const struct {
        const char *normalised, *shift, *start;
        int64_t begin_ns;
    } cases[] = {
        {"false", "0", "50", 1700000000000000050},
        {"false", "-20", "30", 1700000000000000050},
        {"true", "0", "1700000000000000050", 1700000000000000050},
        {"true", "5", "1700000000000000055", 1700000000000000050},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char sql[1024];
        snprintf(sql, sizeof sql,
                 EPOCH "UPDATE META_DATA_EXPORT SET value = '%s' WHERE name LIKE '%%NORMALIZE';"
                       "UPDATE META_DATA_EXPORT SET value = '%s' WHERE name LIKE '%%SHIFT';"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, "
                       "streamId, globalPid) VALUES (%s, %s + 10, 0, 1, 7, " P144 ");",
                 cases[i].normalised, cases[i].shift, cases[i].start, cases[i].start);
        nsys n = READ_SQL(sql);
        const tm_raw_event *event = n.trace.events.data;
        assert_int_equal(event->begin_ns, cases[i].begin_ns);
        assert_int_equal(event->duration_ns, 10);
        assert_int_equal(n.trace.counts[TM_COUNT_NO_EPOCH], 0);
        close_nsys(&n);
    }
}

RUN_TESTS()
