/* Variables that launchers set for a process of a job: which rank it is, and of how many. Others
 * may hold secrets, and are not kept. */
#ifndef TMERGE_ENVIRONMENT_H
#define TMERGE_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/** First those that name the rank, then those that name how many there are. */
enum { TM_ENVIRONMENT_RANKS = 4, TM_ENVIRONMENT_VARIABLES = 8 };

typedef struct tm_environment {
    int64_t numbers[TM_ENVIRONMENT_VARIABLES]; /* -1 unknown */
} tm_environment;

void tm_environment_init(tm_environment *environment);

/** Takes a variable with its value, a number with or without quotation marks; passes over all
 * others. */
void tm_environment_take(tm_environment *environment, const char *name, size_t size,
                         const char *value);

/** What the first variable that is known says; -1 where none is. */
int64_t tm_environment_rank(const tm_environment *environment);
int64_t tm_environment_world_size(const tm_environment *environment);

#endif
