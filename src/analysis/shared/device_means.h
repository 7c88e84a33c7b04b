/* Times of a rank, as means over its devices if it has several. */
#ifndef TMERGE_DEVICE_MEANS_H
#define TMERGE_DEVICE_MEANS_H

#include "tmerge/table.h"

/** Finds the rows of a rank in overlap.device. Sets *first to the first row, and returns their
 * number; 0 if the rank has one device. */
size_t tm_devices_of(const tm_tables *tables, int64_t rank, size_t *first);

/** Returns whether the device of a row of overlap.device works. */
bool tm_device_works(const tm_tables *tables, size_t row);

/** Returns a time from a row of overlap.rank. If the rank has several devices, returns the mean
 * over its working devices, from overlap.device. */
int64_t tm_device_mean(const tm_tables *tables, size_t row, const char *column);

/** Returns the sum of tm_device_mean over the ranks whose computation was recorded. */
int64_t tm_device_mean_sum(const tm_tables *tables, const char *column);

#endif
