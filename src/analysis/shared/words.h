/* Words for a job's devices. Sentences are written about GPUs. If all devices of a job are of
 * another kind, its word replaces "GPU". If the kinds differ, "device" does. */
#ifndef TMERGE_WORDS_H
#define TMERGE_WORDS_H

#include "base/vec.h"
#include "tmerge/table.h"

/** Returns the word for a device of the job, from job.job; "GPU" if not recorded. Borrowed from the
 * tables, or static. */
const char *tm_words_device(const tm_tables *tables);

/** Returns NCCL's name of a kind of collective, such as "AllReduce" for "allreduce"; @p kind if
 * NCCL has no name for it. */
const char *tm_words_kind(const char *kind);

/** Returns the noun that savings refer to: a step, or the replayed time if no step is marked.
 * Static. */
const char *tm_words_whole(const tm_tables *tables);

/**
 * Rewords a sentence on GPUs for other devices. Quoted text does not change, because it is a name.
 * @param device  word for the device, such as "NPU"
 * @param out     vector of char; replaced by the sentence, with its terminating 0
 * @return        false if out of memory
 */
bool tm_words_say(const char *device, const char *sentence, tm_vec *out);

/** Applies tm_words_say to all columns of sentences. Does nothing if the devices are GPUs. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_words_say_all(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
