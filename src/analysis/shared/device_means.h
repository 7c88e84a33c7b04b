/* What a rank's devices do: of several, on average. */
#ifndef TMERGE_DEVICE_MEANS_H
#define TMERGE_DEVICE_MEANS_H

#include "tmerge/table.h"

/** The rows of overlap.device of a rank, whose first is *first; 0 where it has one device. */
size_t tm_devices_of(const tm_tables *tables, int64_t rank, size_t *first);

/** Whether the device of a row of overlap.device works. */
bool tm_device_works(const tm_tables *tables, size_t row);

/** A time of overlap.rank, by its row; of a rank with several devices the mean of overlap.device,
 * of those that work. */
int64_t tm_device_mean(const tm_tables *tables, size_t row, const char *column);

/** Its sum over the ranks whose computation is recorded. */
int64_t tm_device_mean_sum(const tm_tables *tables, const char *column);

#endif
