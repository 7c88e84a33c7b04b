/* The clock of a TPU core, brought to its host's. */
#ifndef TMERGE_XPLANE_TPU_CLOCK_H
#define TMERGE_XPLANE_TPU_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** An operation by both clocks [ps]: as the file has it on the host's, and by the core's own. */
typedef struct tm_tpu_times {
    int64_t file_ps, file_duration_ps;
    int64_t device_ps, device_duration_ps;
} tm_tpu_times;

/**
 * The file's own mapping of the core's clock to the host's goes in steps, and is wrong by up to
 * 0.2 s for stretches as long: the core's clock is right. One line leads from it to the host's,
 * where most operations lie. Without operations that have both times, times are the file's.
 */
typedef struct tm_tpu_clock {
    tm_vec begins, ends; /* of tm_tpu_edge: those of operations, each ascending by the file */
    int64_t middle_ps;   /* of the core's clock: there the line has */
    int64_t shift_ps;    /* host's minus core's, which grows by */
    double drift;        /* with the core's time */
} tm_tpu_clock;

/** Begin or end of an operation by both clocks. */
typedef struct tm_tpu_edge {
    int64_t file_ps, device_ps;
} tm_tpu_edge;

/**
 * Finds the line.
 * @param times  [n] in any order
 * @param out    owns its edges: tm_tpu_clock_free; set only on TM_OK
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_tpu_clock_fit(const tm_tpu_times *times, size_t n, tm_tpu_clock *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_tpu_clock_free(tm_tpu_clock *clock);

/** The host's time of one of the core's. */
int64_t tm_tpu_clock_host(const tm_tpu_clock *clock, int64_t device_ps);

/**
 * The host's times of what has the file's alone, such as the run of a module. Where operations lie
 * inside, its begin moves with the first one's and its end with the last one's; else both move with
 * the begin or end of an operation that is nearest.
 */
void tm_tpu_clock_move(const tm_tpu_clock *clock, int64_t *begin_ps, int64_t *end_ps);

#endif
