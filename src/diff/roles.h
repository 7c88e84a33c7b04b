/* Ranks of equal role: they take part in the same communication. */
#ifndef TMERGE_DIFF_ROLES_H
#define TMERGE_DIFF_ROLES_H

#include "tmerge/table.h"

typedef struct tm_role_of {
    int64_t rank;
    int role;
} tm_role_of;

typedef struct tm_roles {
    tm_role_of *ranks; /* [n] ascending in rank, owned */
    size_t n;
    int n_roles; /* numbered in the order of their lowest ranks */
} tm_roles;

/**
 * Finds the roles of a job. Ranks are of one role where they have as many communication kernels of
 * each kind in a step, to the nearest whole number: the stages of a pipeline differ in that.
 *
 * @param tables  with job.rank, overview.rank and overlap.kind
 * @param out     freed by the caller; set only on TM_OK
 * @return        TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_roles_find(const tm_tables *tables, tm_roles *out, tm_error *err) TM_MUST_CHECK;
void tm_roles_free(tm_roles *roles);

/** Makes all ranks one role. */
void tm_roles_unite(tm_roles *roles);

/** The role of a rank, -1 where it is not in the job. */
int tm_roles_of(const tm_roles *roles, int64_t rank);

/** The ranks of a role as a list: "0-3,8"; where there is no room for all it ends in "...". */
void tm_roles_list(const tm_roles *roles, int role, char *out, size_t size);

#endif
