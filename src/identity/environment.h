/* Rank and world size from the environment variables that launchers set for each process of a job.
 * Other variables may hold secrets and are not kept. */
#ifndef TMERGE_ENVIRONMENT_H
#define TMERGE_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/** The first TM_ENVIRONMENT_RANKS variables contain the rank, the others contain the world size. */
enum { TM_ENVIRONMENT_RANKS = 4, TM_ENVIRONMENT_VARIABLES = 8 };

typedef struct tm_environment {
    int64_t numbers[TM_ENVIRONMENT_VARIABLES]; /* -1 unknown */
} tm_environment;

void tm_environment_init(tm_environment *environment);

/** Records a variable's value, a number with or without quotation marks. Ignores other
 * variables. */
void tm_environment_take(tm_environment *environment, const char *name, size_t size,
                         const char *value);

/** Return the rank and the world size; -1 if none of their variables was recorded. */
int64_t tm_environment_rank(const tm_environment *environment);
int64_t tm_environment_world_size(const tm_environment *environment);

#endif
