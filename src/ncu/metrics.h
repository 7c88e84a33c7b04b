/* The metrics of Nsight Compute that are read, and what is made of them. */
#ifndef TMERGE_NCU_METRICS_H
#define TMERGE_NCU_METRICS_H

#include <stdbool.h>

#include "tmerge/ncu.h"

/* What is kept of a launch, in base units. */
enum {
    TM_SLOT_SM_PCT,
    TM_SLOT_MEMORY_PCT,
    TM_SLOT_DRAM_PCT,
    TM_SLOT_OCCUPANCY_PCT,
    TM_SLOT_DURATION_S,
    TM_SLOT_CYCLES_PER_S, /* of a quarter of a multiprocessor */
    TM_SLOT_DRAM_BYTES,
    TM_SLOT_DRAM_READ,
    TM_SLOT_DRAM_WRITTEN,
    TM_SLOT_DRAM_BYTES_PER_S,
    TM_SLOT_FLOP_PEAK, /* per cycle */
    TM_SLOT_SM_CYCLES_PER_S,
    TM_SLOT_DRAM_PEAK, /* bytes per cycle */
    TM_SLOT_DRAM_CYCLES_PER_S,
    TM_SLOT_TENSOR_USE, /* anything above 0 where the tensor cores had floating-point work */
    TM_SLOT_COUNTERS,   /* of operations: as many as TM_N_COUNTERS, then the same per cycle, then
                           the most per cycle */
    TM_N_COUNTERS = 16,
    TM_N_SLOTS = TM_SLOT_COUNTERS + 3 * TM_N_COUNTERS
};

/** Where a metric is kept, and by what its value in base units is multiplied first. */
typedef struct tm_metric {
    int slot; /* -1: nowhere */
    double factor;
} tm_metric;

/**
 * Looks a metric up.
 * @param section  the title that it stands under in a details page, "" in a raw one; tells two of
 *                 one label apart
 * @param name     as a raw page has it, or its label in that section
 */
tm_metric tm_metric_find(const char *section, const char *name);

/** What one of a unit is in base units (byte, second, hertz): 1e9 of "Gbyte/s", 1 where it has no
 * prefix. */
double tm_unit_scale(const char *unit);

/** Reads a value, which may have thousands separators. False where it begins like a number and is
 * none; a text that does not ("n/a", "nan", nothing) gives NaN. */
bool tm_value_parse(const char *text, double *out);

/** The figures of a launch. @param slots [TM_N_SLOTS] NaN where the file has none */
void tm_metrics_figures(const double *slots, double figures[TM_NCU_N_FIGURES]);

#endif
