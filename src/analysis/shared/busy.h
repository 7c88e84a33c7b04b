/* A rank's GPU time as interval sets: the input of every time-based analysis. */
#ifndef TMERGE_BUSY_H
#define TMERGE_BUSY_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/* C, P and M: the unions of communication events, compute events, and memory events (copies and
 * sets). */
typedef struct tm_busy {
    tm_intervals compute;        /* P */
    tm_intervals communication;  /* C */
    tm_intervals memory;         /* M */
    tm_intervals busy;           /* P u C u M */
    tm_intervals overlap;        /* C n P */
    tm_intervals exposed_comm;   /* C \ P */
    tm_intervals exposed_memory; /* (M \ P) \ C */
    /* for each span: from the first start to the last end of its GPU events */
    tm_intervals window;
    tm_intervals exposed_transfer; /* C_transfer \ P */
    tm_intervals exposed_wait;     /* (C_wait \ P) \ C_transfer */
    /* Minimum waits in operations that lack ranks: until the last recorded rank came. Does not
     * contain P, C_transfer and C_wait. */
    tm_intervals exposed_least;
    bool any;        /* whether the rank has GPU events */
    bool comm_alone; /* whether only communication is recorded; then all sets but C and the window
                        are empty */
    bool any_wait;   /* whether the rank has operations with a known wait */
} tm_busy;

/** Durations of the sets within a window [ns]: compute + exposed_comm + exposed_memory + idle =
 * window. */
typedef struct tm_busy_times {
    int64_t window_ns, compute_ns, comm_ns, memory_ns, overlap_ns;
    int64_t exposed_comm_ns, exposed_memory_ns, busy_ns, idle_ns;
    int64_t exposed_wait_ns, exposed_transfer_ns; /* 0 if no wait is known */
    int64_t exposed_least_ns; /* 0 if the rank has no operation that lacks ranks */
} tm_busy_times;

/** Computes the sets of a timeline. The caller frees them with tm_busy_free, also on failure. */
tm_status tm_busy_compute(const tm_timeline *timeline, tm_busy *out, tm_error *err) TM_MUST_CHECK;
void tm_busy_free(tm_busy *busy);

/** Busy time of one device of a rank. `busy` has the window of the whole rank, and empty sets of
 * waits and transfers. */
typedef struct tm_device_busy {
    int32_t device;
    /* whether the device is busy for more than 1 / TM_DEVICE_WORKS of the busiest device's busy
     * time */
    bool works;
    tm_busy busy;
} tm_device_busy;

enum { TM_DEVICE_WORKS = 100 };

/**
 * Finds the devices of a rank that uses several devices. A process may touch devices that are not
 * its own, for example by a copy from a peer or a context on device 0. So a device that hardly
 * works counts only in two cases:
 * - The rank is the whole job, and several of its devices work.
 * - The device computes throughout the recording, and the rank is the whole job or has several
 *   working devices.
 *
 * @param out  vector of tm_device_busy, ascending by device, empty for fewer than two devices;
 *             the caller frees it with tm_busy_free_devices, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_busy_by_device(const tm_timeline *timeline, tm_vec *out, tm_error *err) TM_MUST_CHECK;
void tm_busy_free_devices(tm_vec *devices);

/** Returns the times of the whole rank. All times are 0 if the rank has no GPU events. */
tm_busy_times tm_busy_rank(const tm_busy *busy);

/** Returns the times of a step within its window, without the time between spans. */
tm_busy_times tm_busy_step(const tm_busy *busy, const tm_timeline *timeline, const tm_step *step);

/** Returns the duration of a row of overlap.step for comparison with other ranks [ns]. If the rank
 * marks steps, it is the row's window, @p window_ns. Otherwise that window spans all host events,
 * so the result is the rank's window in @p unmarked (the table overlap.unmarked). */
int64_t tm_busy_compared(const tm_table *unmarked, int64_t rank, int64_t window_ns);

/** Returns the duration of a step's window, without the time between spans [ns]. */
int64_t tm_step_window(const tm_timeline *timeline, const tm_step *step);

#endif
