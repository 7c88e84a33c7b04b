/* What names tell of a rank and its host: of a file, or of a process in one that holds several. */
#ifndef TMERGE_IDENTITY_NAMES_H
#define TMERGE_IDENTITY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The words that number a rank, the strongest first. PP and DP number none alone: they tell apart
 * ranks of several stages or replicas. */
#define TM_RANK_WORDS(X)                                                                           \
    X(RANK, "rank")                                                                                \
    X(WORKER, "worker")                                                                            \
    X(TP, "tp")                                                                                    \
    X(PP, "pp")                                                                                    \
    X(DP, "dp")

typedef enum tm_rank_word {
#define TM_RANK_WORD(id, text) TM_WORD_##id,
    TM_RANK_WORDS(TM_RANK_WORD)
#undef TM_RANK_WORD
        TM_N_RANK_WORDS
} tm_rank_word;

/** Plain numbers, so that it can be compared and sent. */
typedef struct tm_rank_label {
    int64_t of[TM_N_RANK_WORDS]; /* -1: the word is not there */
} tm_rank_label;

/**
 * The numbers of the words in a name: of each the last match, without case, of
 * (^|[^a-z])WORD[-_]?([0-9]+)([^0-9]|$); none above TM_RANK_MAX.
 * @param text  [size]
 */
tm_rank_label tm_rank_label_of(const char *text, size_t size);

/** The label of a path's base name.
 * @param or_folder  of the folder's, where that has no word */
tm_rank_label tm_rank_label_of_path(const char *path, bool or_folder);

/** Whether none of the words is there. */
bool tm_rank_label_is_empty(const tm_rank_label *label);

/** The number of the strongest word that numbers a rank; -1 where the label has none. */
int64_t tm_rank_of_label(const tm_rank_label *label);

/** The same of a path's base name. */
int64_t tm_rank_of_path(const char *path);

/** The rank that the name of a process tells: "RANK 3 - GPU", "rank3", "[Rank 3] python"; -1 where
 * it tells none, or several. */
int64_t tm_rank_of_process(const char *name, size_t size);

/** The host that a file name of the form [rankN__]HOST_PID.TIME.pt.trace.json tells.
 * @param out  [size] terminated; set only where there is one  @return false where there is none */
bool tm_host_of_path(const char *path, char *out, size_t size);

#endif
