/* Which ranks are on one host. Ranks whose host was not recorded are in order: a rank is on the
 * host of the rank before it if its device number is higher and its rank is higher by 1 or by the
 * difference of the device numbers. If its device number is unknown, it is on the same host if its
 * rank is higher by 1. */
#ifndef TMERGE_HOSTS_H
#define TMERGE_HOSTS_H

#include "tmerge/names.h"
#include "tmerge/status.h"

/** A rank and its host. Sent as bytes. */
typedef struct tm_host_rank {
    int64_t rank, device; /* device: -1 unknown */
    uint32_t name;        /* name id of the recorded host; TM_NO_NAME unknown */
    int32_t number;       /* result */
} tm_host_rank;

/**
 * Numbers the hosts of all ranks of a job in the order of the hosts' lowest ranks.
 * @param ranks    [n] ascending in rank; their numbers are set
 * @param n_hosts  set on TM_OK
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_hosts_number(tm_host_rank *ranks, size_t n, int32_t *n_hosts,
                          tm_error *err) TM_MUST_CHECK;

/** Returns N if a host's name is "hostN"; otherwise -1. */
int32_t tm_host_number_of(const char *name);

/**
 * Names the hosts that were not recorded: host0, host1, ..., without the names of recorded hosts.
 * @param ranks  [n] ascending in rank. The number of a recorded host is tm_host_number_of its name.
 *               It is set to the N of an inferred name hostN; to -1 if the host was recorded, or if
 *               there are several ranks and the job has neither a host nor a device number
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_hosts_infer(tm_host_rank *ranks, size_t n, tm_error *err) TM_MUST_CHECK;

#endif
