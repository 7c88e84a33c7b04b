/* Number of cores that this process may use. */
#ifndef TMERGE_CORES_H
#define TMERGE_CORES_H

/**
 * Returns the cores in its affinity (taskset, the cpuset of a batch system), or fewer if a control
 * group limits CPU time (a container's --cpus): the whole cores within the limit.
 * @param root  prefix of /proc and /sys: ""
 * @return      at least 1
 */
int tm_cores(const char *root);

#endif
