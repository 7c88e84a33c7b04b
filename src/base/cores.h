/* How many cores this process may use. */
#ifndef TMERGE_CORES_H
#define TMERGE_CORES_H

/**
 * Those of its affinity (taskset, the cpuset of a batch system), or fewer where a control group
 * limits their time (a container's --cpus): then as many as it leaves whole.
 * @param root  what stands before /proc and /sys: ""
 * @return      at least 1
 */
int tm_cores(const char *root);

#endif
