/* Finds the roles of ranks. Ranks with the same role take part in the same communication. */
#ifndef TMERGE_DIFF_RANK_ROLES_H
#define TMERGE_DIFF_RANK_ROLES_H

#include "tmerge/table.h"

typedef struct tm_role_of {
    int64_t rank;
    int role;
} tm_role_of;

typedef struct tm_roles {
    tm_role_of *ranks; /* [n] ascending in rank, owned */
    size_t n;
    int n_roles; /* Number of roles. Roles are numbered in the order of their lowest ranks. */
} tm_roles;

/**
 * Finds the roles of a job. Ranks have the same role if they have the same number of communication
 * kernels of each kind per step, rounded to an integer. Thus stages of a pipeline have different
 * roles.
 *
 * @param tables  with job.rank, overview.rank and overlap.kind
 * @param out     set only on TM_OK; the caller frees it
 * @return        TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_roles_find(const tm_tables *tables, tm_roles *out, tm_error *err) TM_MUST_CHECK;
void tm_roles_free(tm_roles *roles);

/** Gives all ranks one role. */
void tm_roles_unite(tm_roles *roles);

/** Returns the role of a rank; -1 if the rank is not in the job. */
int tm_roles_of(const tm_roles *roles, int64_t rank);

/** Writes the ranks of a role, for example "0-3,8". If the text does not fit, it ends with
 * "...". */
void tm_roles_list(const tm_roles *roles, int role, char *out, size_t size);

#endif
