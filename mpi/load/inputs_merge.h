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
    int64_t match;   /* if the argument is a pattern: number of leading characters of the path that
                        it matched */
    int64_t host;    /* number of the host that listed the input */
    tm_identity identity;
} tm_input_head;

/** Compares names by the values of the numbers in them: rank 9 comes before rank 10. */
int tm_natural_order(const char *a, const char *b);

/**
 * Merges the lists of all hosts. Inputs that several hosts list under the same name become one
 * input if they are the same file. The inputs get the order in which a host that sees all files
 * would list them. Different files with the same name are ordered by their first host.
 * @param listed  inputs of all hosts, by host
 * @param out     of char: appended to
 * @param seen    of uint64_t: tm_hosts_words words for each input: bit set of the hosts that see
 *                the input; appended to
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_inputs_merge(const tm_vec *listed, int n_hosts, tm_vec *out, tm_vec *seen,
                          tm_error *err) TM_MUST_CHECK;

#endif
