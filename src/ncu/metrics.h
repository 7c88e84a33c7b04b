/* The Nsight Compute metrics that are read, and the figures derived from them. */
#ifndef TMERGE_NCU_METRICS_H
#define TMERGE_NCU_METRICS_H

#include <stdbool.h>

#include "tmerge/ncu.h"

/* Slots of the values that are kept for a launch, in base units. */
enum {
    TM_SLOT_SM_PCT,
    TM_SLOT_MEMORY_PCT,
    TM_SLOT_DRAM_PCT,
    TM_SLOT_OCCUPANCY_PCT,
    TM_SLOT_DURATION_S,
    TM_SLOT_CYCLES_PER_S, /* frequency of an SMSP (a quarter of a multiprocessor) */
    TM_SLOT_DRAM_BYTES,
    TM_SLOT_DRAM_READ,
    TM_SLOT_DRAM_WRITTEN,
    TM_SLOT_DRAM_BYTES_PER_S,
    TM_SLOT_FLOP_PEAK, /* peak FLOP per cycle */
    TM_SLOT_SM_CYCLES_PER_S,
    TM_SLOT_DRAM_PEAK, /* peak bytes per cycle */
    TM_SLOT_DRAM_CYCLES_PER_S,
    TM_SLOT_TENSOR_USE, /* > 0 if the tensor cores had floating-point work */
    /* This is the first of three blocks of TM_N_COUNTERS slots each: operations, operations per
     * cycle, and peak operations per cycle. */
    TM_SLOT_COUNTERS,
    TM_N_COUNTERS = 16,
    TM_N_SLOTS = TM_SLOT_COUNTERS + 3 * TM_N_COUNTERS
};

/** The slot of a metric, and the factor that converts its values to base units. */
typedef struct tm_metric {
    int slot; /* -1: not read */
    double factor;
} tm_metric;

/**
 * Looks up a metric.
 * @param section  title of the metric's section on a details page, because labels in different
 *                 sections may be equal; "" on a raw page
 * @param name     name of the metric on a raw page, or its label on a details page
 */
tm_metric tm_metric_find(const char *section, const char *name);

/** Returns the factor from a unit to byte, second or hertz: 1e9 for "Gbyte/s", 1 for "byte". */
double tm_unit_scale(const char *unit);

/** Parses a value, which may have thousands separators. Returns false if the text starts like a
 * number but is not one. If the text does not start like a number, such as "n/a", "nan" or "", the
 * value is NaN. */
bool tm_value_parse(const char *text, double *out);

/**
 * Computes the figures of a launch.
 * @param slots  [TM_N_SLOTS] values of the metrics; NaN for a metric that the file lacks
 */
void tm_metrics_figures(const double *slots, double figures[TM_NCU_N_FIGURES]);

#endif
