/* What devices could compute at most, by the type of the numbers. */
#ifndef TMERGE_PEAKS_H
#define TMERGE_PEAKS_H

#include "analysis/shared/device_facts.h"
#include "work.h"

/** Products and sums in a second, in 10^12, without what sparsity would give; 0 where not known. */
typedef struct tm_peaks {
    double tflops[TM_N_NUMBERS];
} tm_peaks;

/** Those of a device as its trace tells, which is of what XLA compiles, and by its name, where it
 * has as many multiprocessors as such a device: what has fewer is a part of one, or another. */
tm_peaks tm_peaks_of(const tm_device *device);

/**
 * Reads "bf16=989.4,fp8=1978.9", by the words of tm_number_word.
 * @param out  the others are as they were; set only on TM_OK
 * @return     TM_OK; TM_ERR_USAGE
 */
tm_status tm_peaks_parse(const char *text, tm_peaks *out, tm_error *err) TM_MUST_CHECK;

#endif
