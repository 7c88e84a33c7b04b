/* Maps the clock of a TPU core to its host's. */
#ifndef TMERGE_XPLANE_TPU_CLOCK_H
#define TMERGE_XPLANE_TPU_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** The times of an operation [ps]. file_ps is on the host's clock, as the file gives it. device_ps
 * is on the core's clock. */
typedef struct tm_tpu_times {
    int64_t file_ps, file_duration_ps;
    int64_t device_ps, device_duration_ps;
} tm_tpu_times;

/**
 * How the core's clock maps to the host's. In the file, this mapping changes in steps, and is wrong
 * by up to 0.2 s, for periods of up to 0.2 s. The core's clock itself is right. So a single line
 * that fits most operations is used instead. If no operation has both times, the file's times are
 * used.
 */
typedef struct tm_tpu_clock {
    tm_vec begins,
        ends; /* vector of tm_tpu_edge: starts and ends of operations, ascending by file time */
    int64_t middle_ps; /* time on the core's clock at which shift_ps applies */
    int64_t shift_ps;  /* host's clock minus core's clock, at middle_ps */
    double drift;      /* change of the shift per time on the core's clock */
} tm_tpu_clock;

/** The begin or end of an operation on both clocks. */
typedef struct tm_tpu_edge {
    int64_t file_ps, device_ps;
} tm_tpu_edge;

/**
 * Fits the line.
 * @param times  [n] in any order
 * @param out    set only on TM_OK; free it with tm_tpu_clock_free
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_tpu_clock_fit(const tm_tpu_times *times, size_t n, tm_tpu_clock *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_tpu_clock_free(tm_tpu_clock *clock);

/** Converts a core time to the host's clock. */
int64_t tm_tpu_clock_host(const tm_tpu_clock *clock, int64_t device_ps);

/** Corrects a span that has only the file's times, such as the run of a module. If there are
 * operations inside the span, its start is moved like the start of the first operation, and its end
 * like the end of the last operation. Otherwise, both are moved like the start or end of an
 * operation that is nearest to the span. */
void tm_tpu_clock_move(const tm_tpu_clock *clock, int64_t *begin_ps, int64_t *end_ps);

#endif
