/* Maps the clock of a TPU core to its host's. */
#ifndef TMERGE_XPLANE_TPU_CLOCK_H
#define TMERGE_XPLANE_TPU_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** An operation on both clocks [ps]: on the host's as given by the file, and on the core's own. */
typedef struct tm_tpu_times {
    int64_t file_ps, file_duration_ps;
    int64_t device_ps, device_duration_ps;
} tm_tpu_times;

/**
 * The file's mapping of the core's clock to the host's changes in steps and is wrong by up to 0.2 s
 * during stretches of up to 0.2 s; the core's clock itself is right. So a single line, fitted to
 * most operations, maps it to the host's clock. Without operations that have both times, the file's
 * times are used.
 */
typedef struct tm_tpu_clock {
    tm_vec begins, ends; /* of tm_tpu_edge: starts and ends of operations, ascending by file time */
    int64_t middle_ps;   /* reference time on the core's clock */
    int64_t shift_ps;    /* host's minus core's clock at middle_ps */
    double drift;        /* change of the shift per core time */
} tm_tpu_clock;

/** Begin or end of an operation on both clocks. */
typedef struct tm_tpu_edge {
    int64_t file_ps, device_ps;
} tm_tpu_edge;

/**
 * Fits the line.
 * @param times  [n] in any order
 * @param out    owns its edges: tm_tpu_clock_free; set only on TM_OK
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_tpu_clock_fit(const tm_tpu_times *times, size_t n, tm_tpu_clock *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_tpu_clock_free(tm_tpu_clock *clock);

/** Converts a core time to the host's clock. */
int64_t tm_tpu_clock_host(const tm_tpu_clock *clock, int64_t device_ps);

/**
 * Corrects a span that has only the file's times, such as the run of a module. If operations are
 * inside, its start moves with the first one's begin and its end with the last one's end; otherwise
 * both move with the nearest begin or end of an operation.
 */
void tm_tpu_clock_move(const tm_tpu_clock *clock, int64_t *begin_ps, int64_t *end_ps);

#endif
