/* Names for a job's devices. Sentences are written about GPUs. If all devices of a job are of
 * another kind, "GPU" is replaced by its word; if there are several kinds, by "device". */
#ifndef TMERGE_WORDS_H
#define TMERGE_WORDS_H

#include "base/vec.h"
#include "tmerge/table.h"

/** Returns the word for one device of the job, from job.job; "GPU" if not recorded. Borrowed from
 * the tables, or static. */
const char *tm_words_device(const tm_tables *tables);

/** Returns NCCL's spelling ("AllReduce") of a kind of collective ("allreduce"), or @p kind if it
 * has none. */
const char *tm_words_kind(const char *kind);

/** Returns what savings refer to, in words: a step, or the replayed time if no step is marked.
 * Static.
 */
const char *tm_words_whole(const tm_tables *tables);

/**
 * Rewords a sentence about GPUs for other devices. Quoted text is a name, so it is not changed.
 *
 * @param device  word for the device, such as "NPU"
 * @param out     vector of char, replaced by the sentence with its terminating 0
 * @return        false if out of memory
 */
bool tm_words_say(const char *device, const char *sentence, tm_vec *out);

/** Applies tm_words_say to all columns with sentences. Does nothing if the devices are GPUs.
 * Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_words_say_all(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
