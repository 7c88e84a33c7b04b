/* Merges the inputs seen by the hosts of a job into one list. */
#ifndef TMERGE_INPUTS_MERGE_H
#define TMERGE_INPUTS_MERGE_H

#include "base/vec.h"
#include "identity/file.h"

/** Header of an input that is sent between processes. The path with its terminating zero follows.
 */
typedef struct tm_input_head {
    int64_t mapped_rank;
    int64_t from_folder;
    int64_t operand; /* number of the command-line argument that names the input */
    int64_t match;   /* if the argument is a pattern: length of the beginning of the path that the
                        pattern matched */
    int64_t host;    /* number of the host that listed the input */
    tm_identity identity;
} tm_input_head;

/** Compares names by the values of the numbers in them: rank 9 comes before rank 10. */
int tm_natural_order(const char *a, const char *b);

/**
 * Merges the lists of all hosts. If several hosts list the same file under the same name, it
 * becomes one input. The inputs are in the order in which a host that sees all files would list
 * them. Different files with the same name are in the order of the hosts that list them.
 * @param listed  inputs of all hosts, by host
 * @param out     vector of char to which the merged list is appended
 * @param seen    vector of uint64_t to which, for each input, a bit set of tm_hosts_words words is
 *                appended: the hosts that see the input
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_inputs_merge(const tm_vec *listed, int n_hosts, tm_vec *out, tm_vec *seen,
                          tm_error *err) TM_MUST_CHECK;

#endif
