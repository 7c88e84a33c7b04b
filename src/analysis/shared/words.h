/* Names for a job's devices. Sentences are written for GPUs. If all devices of a job are of another
 * kind, they are called that; if there are several kinds, "devices". */
#ifndef TMERGE_WORDS_H
#define TMERGE_WORDS_H

#include "base/vec.h"
#include "tmerge/table.h"

/** Returns the word for one device of the job from job.job, "GPU" if not recorded. Borrowed from
 * the tables, or static. */
const char *tm_words_device(const tm_tables *tables);

/** Returns NCCL's spelling ("AllReduce") of a kind of collective ("allreduce"), else @p kind. */
const char *tm_words_kind(const char *kind);

/** Returns the base of savings in words: a step, or the replayed time if no step is marked. Static.
 */
const char *tm_words_whole(const tm_tables *tables);

/**
 * Rewords a sentence about GPUs for other devices. Quoted text is a name and stays as it is.
 *
 * @param device  "NPU", ...
 * @param out     vector of char, replaced by the sentence with its terminating 0
 * @return        false if out of memory
 */
bool tm_words_say(const char *device, const char *sentence, tm_vec *out);

/** Applies tm_words_say to all columns that hold sentences; does nothing for GPUs. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_words_say_all(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
