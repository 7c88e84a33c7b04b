/* The inputs that the hosts of a job see, made one list. */
#ifndef TMERGE_INPUTS_MERGE_H
#define TMERGE_INPUTS_MERGE_H

#include "base/vec.h"
#include "identity/file.h"

/** An input as it goes between processes: this, then its path with the terminating zero. */
typedef struct tm_input_head {
    int64_t mapped_rank;
    int64_t from_folder;
    int64_t operand; /* number of the operand that means it */
    int64_t match; /* so many characters of its path are what the operand, if a pattern, matched */
    int64_t host;  /* that sees it */
    tm_identity identity;
} tm_input_head;

/** Numbers inside names compare by value, so that rank 9 stands before rank 10. */
int tm_natural_order(const char *a, const char *b);

/**
 * Makes one of inputs that several hosts see under one name, if they are the same file, in the
 * order in which one host that saw all of them would list them; of one name by their first host.
 *
 * @param listed   inputs of all hosts, by host
 * @param out      of char: appended to
 * @param seen     of uint64_t: tm_hosts_words for each input, the hosts that see it; appended to
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_inputs_merge(const tm_vec *listed, int n_hosts, tm_vec *out, tm_vec *seen,
                          tm_error *err) TM_MUST_CHECK;

#endif
