/* How many collectives the GPUs of a job launched between two answers of NCCL's RAS. */
#ifndef TMERGE_HANG_MOVES_H
#define TMERGE_HANG_MOVES_H

#include "base/vec.h"
#include "tmerge/ras.h"

/** The GPU of a process (a rank of the job), and a number whose meaning depends on the vector that
 * the struct is in. Texts are borrowed. */
typedef struct tm_hang_gpu {
    const char *host;
    int64_t pid, gpu;
    int64_t number;
} tm_hang_gpu;

tm_hang_gpu tm_hang_gpu_of(const tm_ras_member *member, int64_t number);

/** Compares host, process and GPU, for qsort. */
int tm_hang_by_gpu(const void *a, const void *b);

/** Returns the member's GPU in a sorted vector; NULL if the vector does not have it, or if the
 * member's GPU is unknown. */
const tm_hang_gpu *tm_hang_find_gpu(const tm_vec *gpus, const tm_ras_member *member);

/** Whether two answers were compared. If not, the reason. */
typedef enum tm_hang_compared {
    TM_HANG_ONE_ANSWER,
    TM_HANG_COMPARED,
    TM_HANG_STRANGERS, /* the answers have no rank in common: they are of different runs */
    TM_HANG_SHRUNK     /* a count is lower in the later answer */
} tm_hang_compared;

/** Returns whether @p answer is earlier than @p other, by times, or by counts if times are
 * unknown. */
bool tm_hang_is_earlier(const tm_ras *answer, const tm_ras *other);

/** Returns the seconds from one answer to the other, by local times; -1 if an answer has no
 * time. */
int64_t tm_hang_apart(const tm_ras *before, const tm_ras *after);

/** Returns how many collectives a member has launched. */
int64_t tm_hang_launched(const tm_ras_member *member);

/**
 * Finds how many collectives each GPU launched between two answers, over the communicators that
 * both answers have. A GPU is left out if it launched nothing in these communicators, but may have
 * launched collectives in a communicator that only one answer has.
 * @param gpus  vector of tm_hang_gpu, sorted, whose `number` is the number of collectives; empty if
 *              the answers cannot be compared
 * @return      false if out of memory
 */
bool tm_hang_find_moves(const tm_ras *before, const tm_ras *after, tm_vec *gpus,
                        tm_hang_compared *compared);

#endif
