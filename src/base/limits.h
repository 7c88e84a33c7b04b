/* The cores and memory that this process may use, within the limits of a container or batch job. */
#ifndef TMERGE_LIMITS_H
#define TMERGE_LIMITS_H

#include <stdint.h>

/**
 * Returns the number of cores in this process's affinity, which taskset or a batch system's cpuset
 * may restrict. If a control group limits CPU time (a container's --cpus), returns at most the
 * whole cores within that limit.
 * @param root  prefix of /proc and /sys: ""
 * @return      at least 1
 */
int tm_cores(const char *root);

/**
 * Returns the machine's memory [B], or less if a control group limits it (Slurm's --mem, a
 * container's --memory).
 * @param root  prefix of /proc and /sys: ""
 * @return      INT64_MAX if unknown
 */
int64_t tm_memory(const char *root);

#endif
