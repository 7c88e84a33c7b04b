/* A rank's GPU time as interval sets: what every time-based analysis starts from. */
#ifndef TMERGE_BUSY_H
#define TMERGE_BUSY_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/* C, P and M are the unions of communication, compute and memory (copies and sets). */
typedef struct tm_busy {
    tm_intervals compute;          /* P */
    tm_intervals communication;    /* C */
    tm_intervals memory;           /* M */
    tm_intervals busy;             /* P u C u M */
    tm_intervals overlap;          /* C n P */
    tm_intervals exposed_comm;     /* C \ P */
    tm_intervals exposed_memory;   /* (M \ P) \ C */
    tm_intervals window;           /* the spans' windows: first begin to last end of GPU events */
    tm_intervals exposed_transfer; /* C_transfer \ P */
    tm_intervals exposed_wait;     /* (C_wait \ P) \ C_transfer */
    bool any;                      /* the rank has GPU events */
    bool comm_alone;               /* nothing but C is recorded: the others but window are empty */
    bool any_wait;                 /* it has operations with wait and transfer */
} tm_busy;

/** Lengths of the sets in one window [ns]; compute + exposed_comm + exposed_memory + idle =
 * window always. */
typedef struct tm_busy_times {
    int64_t window_ns, compute_ns, comm_ns, memory_ns, overlap_ns;
    int64_t exposed_comm_ns, exposed_memory_ns, busy_ns, idle_ns;
    int64_t exposed_wait_ns, exposed_transfer_ns; /* 0 where the rank has no such operation */
} tm_busy_times;

/** Computes the sets of a timeline; release them with tm_busy_free whatever comes of it. */
tm_status tm_busy_compute(const tm_timeline *timeline, tm_busy *out, tm_error *err) TM_MUST_CHECK;
void tm_busy_free(tm_busy *busy);

/** One of several devices of a rank. Its window is the rank's, its waits are not told apart. */
typedef struct tm_device_busy {
    int32_t device;
    bool works; /* busy for over 1 / TM_DEVICE_WORKS of the rank's busiest */
    tm_busy busy;
} tm_device_busy;

enum { TM_DEVICE_WORKS = 100 };

/**
 * Finds the devices of a rank that has several. A process may touch another device than its own, as
 * a copy from a peer or a context on device 0 does. So one that hardly works is the rank's only
 * where the rank is the whole job and others work, or where it computes throughout the recording;
 * and not where one of several ranks has one device that works.
 *
 * @param out  of tm_device_busy, ascending in device, none where they are fewer than two; release
 *             them with tm_busy_free_devices whatever comes of it
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_busy_by_device(const tm_timeline *timeline, tm_vec *out, tm_error *err) TM_MUST_CHECK;
void tm_busy_free_devices(tm_vec *devices);

/** The times of the whole rank; all 0 where it has no GPU events. */
tm_busy_times tm_busy_rank(const tm_busy *busy);

/** The times of one step, clipped to its window; time between two spans is in no window. */
tm_busy_times tm_busy_step(const tm_busy *busy, const tm_timeline *timeline, const tm_step *step);

/** The length [ns] by which a row of overlap.step is compared with other ranks': its window; of a
 * step that no trace marks the rank's, for neither how much of the host was recorded nor with which
 * rank of a process its events lie is time of the device. @p unmarked is overlap.unmarked. */
int64_t tm_busy_compared(const tm_table *unmarked, int64_t rank, int64_t window_ns);

/** The length [ns] of a step's window without the time between spans, where nothing was recorded.
 */
int64_t tm_step_window(const tm_timeline *timeline, const tm_step *step);

#endif
