/* Peak compute rates of devices, by number type. */
#ifndef TMERGE_PEAKS_H
#define TMERGE_PEAKS_H

#include "analysis/shared/device_facts.h"
#include "operator_flop.h"

/** Peak rates [10^12 operations/s]; a multiply-add is two; without sparsity; 0 if unknown. */
typedef struct tm_peaks {
    double tflops[TM_N_NUMBERS];
} tm_peaks;

/** Returns the peaks of a device from its trace (XLA) and from a table by name, which applies only
 * if the number of multiprocessors matches or is unknown: fewer mean a slice or another product. */
tm_peaks tm_peaks_of(const tm_device *device);

/**
 * Parses "bf16=989.4,fp8=1978.9", with the words of tm_number_word.
 * @param out  types not in the text keep their value; set only on TM_OK
 * @return     TM_OK; TM_ERR_USAGE
 */
tm_status tm_peaks_parse(const char *text, tm_peaks *out, tm_error *err) TM_MUST_CHECK;

#endif
