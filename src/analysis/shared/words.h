/* What a job calls its devices. Sentences are written of GPUs; where all devices of a job are of
 * another kind they are called so, and where it has several kinds, devices. */
#ifndef TMERGE_WORDS_H
#define TMERGE_WORDS_H

#include "base/vec.h"
#include "tmerge/table.h"

/** The word for one device of the job, as job.job tells: "GPU" also where nothing is told. It is
 * the tables', or static. */
const char *tm_words_device(const tm_tables *tables);

/** A kind of collective ("allreduce") as NCCL writes it ("AllReduce"); itself where it is none. */
const char *tm_words_kind(const char *kind);

/** What the replay's savings are of: a step, or where none is marked what is replayed. Static. */
const char *tm_words_whole(const tm_tables *tables);

/**
 * Says a sentence of GPUs of other devices. What stands in quotes is a name and stays.
 *
 * @param device  "NPU", ...
 * @param out     of char: emptied; the sentence with its terminating 0
 * @return        false when memory is out
 */
bool tm_words_say(const char *device, const char *sentence, tm_vec *out);

/** tm_words_say with all columns of tables that hold sentences; nothing for GPUs. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_words_say_all(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
