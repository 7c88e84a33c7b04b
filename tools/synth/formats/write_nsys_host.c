#include "write_nsys_host.h"

/* STRING_HOST: first id of the strings in this file; write_nsys.c uses no ids from 100 to 999.
 * N_ROWS: number of rows of each kind per rank. PAGE: size of a page [B]. */
enum { STRING_HOST = 100, N_ROWS = 12, PAGE = 4096 };

#define UNIFIED_AT INT64_C(0x7f3a12000000) /* address at which managed memory starts */

/* Kinds of ranges. For each kind: its table, its event class, and two names that successive rows
 * use in turn. */
static const struct {
    tms_table table;
    int64_t class;
    const char *names[2];
} ranges[] = {
    {TMS_TABLE_OS_RUNTIME, 27, {"poll", "pthread_cond_wait"}},
    {TMS_TABLE_CUDNN, 28, {"cudnnConvolutionForward", "cudnnBackendExecute"}},
    {TMS_TABLE_CUBLAS, 29, {"cublasSgemm_v2", "cublasGemmEx"}},
    {TMS_TABLE_OPENMP, 78, {"Parallel", "Parallel"}},
    {TMS_TABLE_OPENACC, 48, {"Enqueue launch@solve:17", "Enqueue launch@solve:29"}},
    {TMS_TABLE_SYSCALL, 107, {"futex", "epoll_wait"}},
};

enum { N_RANGES = sizeof ranges / sizeof *ranges, STRING_FAULT = STRING_HOST + 2 * N_RANGES };

/* Kinds of memory (PINNED, DEVICE, MANAGED), kinds of copies (UNIFIED_IN, UNIFIED_OUT), and the
 * type of GPU metrics. The lowest byte of a metric's type is the number of the GPU. */
enum { PINNED = 1, DEVICE = 2, MANAGED = 4, UNIFIED_IN = 11, UNIFIED_OUT = 12, METRICS = 256 };

static const char *const gpu_metrics[] = {"SMs Active [Throughput %]", "DRAM Read [Throughput %]"};

void tms_nsys_host_names(tms_db *db) {
    for (int i = 0; i < 2 * N_RANGES; i++) {
        TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_HOST + i),
                TMS_TEXT(ranges[i / 2].names[i % 2]));
    }
    TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_FAULT), TMS_TEXT("initialise(float*, int)"));
    TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_FAULT + 1), TMS_TEXT("check(float const*)"));
    TMS_ROW(db, TMS_TABLE_NIC_METRIC_NAME, TMS_INT(1), TMS_INT(0), TMS_TEXT("Bytes sent"),
            TMS_TEXT("Bytes that the port has sent"), TMS_TEXT("bytes/sec"));
}

/* Writes a range of each kind, of varying length, and the times at which the thread is on a core.
 */
static void write_ranges(tms_db *db, int64_t thread, int64_t at_ns, int64_t slot_ns, int row) {
    for (int k = 0; k < N_RANGES; k++) {
        int64_t start_ns = at_ns + k * slot_ns / 20;
        int64_t length_ns = slot_ns / 40 + (int64_t)row * row * 13 + k;

        TMS_ROW(db, ranges[k].table, TMS_INT(start_ns), TMS_INT(start_ns + length_ns),
                TMS_INT(ranges[k].class), TMS_INT(thread),
                TMS_INT(STRING_HOST + 2 * k + (row % 3 == 0)));
    }
    /* The thread is not on a core in the middle of the first call. */
    TMS_ROW(db, TMS_TABLE_SCHEDULING, TMS_INT(at_ns + slot_ns / 80), TMS_INT(row / 5), TMS_INT(0),
            TMS_INT(thread));
    TMS_ROW(db, TMS_TABLE_SCHEDULING, TMS_INT(at_ns + slot_ns / 8), TMS_INT((row + 1) / 5),
            TMS_INT(1), TMS_INT(thread));
}

/* In the first half of the rows, allocates blocks on the device and the host. In the second half,
 * releases all but one block of each. */
static void write_memory(tms_db *db, const tms_placement *placement, int64_t at_ns, int row) {
    int64_t process = tms_nsys_process(placement->pid[TMS_TRACK_HOST]);
    bool freed = row >= N_ROWS / 2;
    int block = freed ? row - N_ROWS / 2 : row;

    for (int kind = PINNED; kind <= DEVICE && !(freed && block == 0); kind++) {
        TMS_ROW(db, TMS_TABLE_MEMORY_USAGE, TMS_INT(at_ns + kind), TMS_INT(process),
                TMS_INT(placement->device), TMS_INT(1),
                TMS_INT((int64_t)(block + 1) * 16777216 + kind), TMS_INT(0),
                TMS_INT(freed ? 0 : (int64_t)(block + 1) * 1048576), TMS_INT(kind), TMS_INT(freed));
    }
}

/* Writes a page fault of the host or the GPU, and the page's migration. */
static void write_unified(tms_db *db, const tms_placement *placement, int64_t at_ns, int row) {
    int64_t process = tms_nsys_process(placement->pid[TMS_TRACK_HOST]);
    int64_t address = UNIFIED_AT + (int64_t)(row % 5) * 16 * PAGE, faults = 3 + row;
    bool to_host = row % 3 == 0;

    if (to_host) {
        TMS_ROW(db, TMS_TABLE_CPU_FAULT, TMS_INT(at_ns), TMS_INT(process), TMS_INT(address),
                TMS_INT(STRING_FAULT + (row > 6)));
    } else {
        TMS_ROW(db, TMS_TABLE_GPU_FAULT, TMS_INT(at_ns), TMS_INT(at_ns + 20 * faults),
                TMS_INT(process), TMS_INT(placement->device), TMS_INT(address), TMS_INT(faults),
                TMS_INT(1 + row % 2));
    }
    TMS_ROW(db, TMS_TABLE_MEMCPY, TMS_INT(at_ns + 20 * faults),
            TMS_INT(at_ns + 20 * faults + 400 + row), TMS_INT(placement->device), TMS_INT(1),
            TMS_INT(placement->tid[TMS_TRACK_COMPUTE]), TMS_INT(0), TMS_INT(process),
            TMS_INT(faults * PAGE), TMS_INT(to_host ? UNIFIED_OUT : UNIFIED_IN), TMS_INT(MANAGED),
            TMS_INT(MANAGED), TMS_INT(address), TMS_INT(1));
}

/* Writes samples of the rank's GPU and, if the rank is the first of its host, of the host's network
 * card. */
static void write_metrics(tms_db *db, const tms_placement *placement, int64_t at_ns, int row) {
    int64_t type = METRICS + placement->device;

    for (int m = 0; m < 2; m++) {
        if (row == 0) {
            TMS_ROW(db, TMS_TABLE_GPU_METRIC_NAME, TMS_INT(type), TMS_INT(1),
                    TMS_TEXT("General metrics"), TMS_INT(m), TMS_TEXT(gpu_metrics[m]));
        }
        TMS_ROW(db, TMS_TABLE_GPU_METRIC, TMS_INT(at_ns), TMS_INT(type), TMS_INT(m),
                TMS_INT(90 - 10 * m - row));
    }
    if (placement->device == 0) {
        TMS_ROW(db, TMS_TABLE_NIC_METRIC, TMS_INT(at_ns), TMS_INT(at_ns + 1000), TMS_INT(5),
                TMS_INT(1), TMS_INT(1), TMS_INT(0), TMS_INT((int64_t)row * 1000));
    }
}

void tms_nsys_host_rows(tms_db *db, const tms_placement *placement, int64_t begin_ns,
                        int64_t end_ns) {
    int64_t slot_ns = (end_ns - begin_ns) / N_ROWS;
    int64_t thread =
        tms_nsys_thread(placement->pid[TMS_TRACK_HOST], placement->tid[TMS_TRACK_HOST]);

    TMS_ROW(db, TMS_TABLE_SCHEDULING, TMS_INT(begin_ns), TMS_INT(0), TMS_INT(1), TMS_INT(thread));
    for (int row = 0; row < N_ROWS; row++) {
        int64_t at_ns = begin_ns + row * slot_ns;

        write_ranges(db, thread, at_ns, slot_ns, row);
        write_memory(db, placement, at_ns, row);
        write_unified(db, placement, at_ns, row);
        write_metrics(db, placement, at_ns, row);
    }
    TMS_ROW(db, TMS_TABLE_SCHEDULING, TMS_INT(end_ns), TMS_INT(N_ROWS / 5), TMS_INT(0),
            TMS_INT(thread));
}
