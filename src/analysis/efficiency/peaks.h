/* Peak compute rates of devices, by number type. */
#ifndef TMERGE_PEAKS_H
#define TMERGE_PEAKS_H

#include "analysis/shared/device_facts.h"
#include "operator_flop.h"

/** Peak rates [10^12 operations/s] without sparsity; 0 if unknown. A multiply-add counts as two
 * operations. */
typedef struct tm_peaks {
    double tflops[TM_N_NUMBERS];
} tm_peaks;

/** Returns the peaks of a device from its trace (XLA) or from a table of device names. The table
 * does not apply if the device has another number of multiprocessors, for example as a slice of a
 * GPU. */
tm_peaks tm_peaks_of(const tm_device *device);

/**
 * Parses "bf16=989.4,fp8=1978.9", with the words of tm_number_word.
 * @param out  set only on TM_OK; types that the text does not name keep their value
 * @return     TM_OK; TM_ERR_USAGE
 */
tm_status tm_peaks_parse(const char *text, tm_peaks *out, tm_error *err) TM_MUST_CHECK;

#endif
