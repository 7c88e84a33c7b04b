#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "tmerge/timeline.h"

/* SLURM_NTASKS is left out: a job step may have fewer tasks than the allocation. */
static const char *const variables[TM_ENVIRONMENT_VARIABLES] = {
    "RANK",       "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
    "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

void tm_environment_init(tm_environment *e) {
    for (int i = 0; i < TM_ENVIRONMENT_VARIABLES; i++)
        e->numbers[i] = -1;
}

void tm_environment_take(tm_environment *e, const char *name, size_t size, const char *value) {
    for (int i = 0; i < TM_ENVIRONMENT_VARIABLES; i++) {
        if (strlen(variables[i]) != size || memcmp(variables[i], name, size) != 0)
            continue;
        const char *digits = value + (*value == '"'); /* the value may be in quotation marks */
        size_t n = strspn(digits, "0123456789");
        if (n == 0 || n >= 12 || (digits[n] != '\0' && digits[n] != '"'))
            continue;
        int64_t number = strtoll(digits, NULL, 10);
        e->numbers[i] = number <= TM_RANK_MAX ? number : -1;
    }
}

static int64_t first_of(const tm_environment *e, int from, int end) {
    for (int i = from; i < end; i++)
        if (e->numbers[i] >= 0)
            return e->numbers[i];
    return -1;
}

int64_t tm_environment_rank(const tm_environment *e) {
    return first_of(e, 0, TM_ENVIRONMENT_RANKS);
}

int64_t tm_environment_world_size(const tm_environment *e) {
    int64_t size = first_of(e, TM_ENVIRONMENT_RANKS, TM_ENVIRONMENT_VARIABLES);
    return size > 0 && size <= TM_GROUP_RANKS_MAX ? size : -1;
}
