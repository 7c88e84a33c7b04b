/* Ranks and hosts parsed from the names of files, and of processes in files with several ranks. */
#ifndef TMERGE_IDENTITY_RANK_FROM_PATH_H
#define TMERGE_IDENTITY_RANK_FROM_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Words that precede a rank number, in descending priority. PP and DP do not number a rank by
 * themselves: they distinguish ranks of different pipeline stages or replicas. */
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

/** The numbers in a name. A label contains no texts, so that labels can be compared and sent. */
typedef struct tm_rank_label {
    int64_t of[TM_N_RANK_WORDS]; /* number after each word, -1 if the word is absent */
} tm_rank_label;

/**
 * Extracts the number after each word of a name: the last case-insensitive match of
 * (^|[^a-z])WORD[-_]?([0-9]+)([^0-9]|$). Numbers above TM_RANK_MAX do not count.
 * @param text  [size]
 */
tm_rank_label tm_rank_label_of(const char *text, size_t size);

/** Returns the label of a path's base name.
 * @param or_folder  use the folder's name if the base name has no word */
tm_rank_label tm_rank_label_of_path(const char *path, bool or_folder);

bool tm_rank_label_is_empty(const tm_rank_label *label);

/** Returns the number of the highest-priority word that numbers a rank; -1 if there is none. */
int64_t tm_rank_of_label(const tm_rank_label *label);

/** Returns the rank that the base name of a path states, as tm_rank_of_label does; -1 if there is
 * none. */
int64_t tm_rank_of_path(const char *path);

/** Returns the rank in a process name: "RANK 3 - GPU", "rank3", "[Rank 3] python"; -1 if it names
 * no rank or several. */
int64_t tm_rank_of_process(const char *name, size_t size);

/** Extracts the host from a file name of the form [rankN__]HOST_PID.TIME.pt.trace.json.
 * @param out  [size] terminated; set only if a host is found
 * @return     false if there is none */
bool tm_host_of_path(const char *path, char *out, size_t size);

#endif
