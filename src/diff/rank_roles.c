#include "rank_roles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"

/* Returns how many rows a rank has in a table whose first key is the rank. The table is sorted, so
 * the search starts at *at, where the previous search ended. Sets *at to the rank's first row. */
static size_t rows_of(const tm_table *table, int64_t rank, size_t *at) {
    size_t n = 0;
    while (*at < table->n_rows && tm_table_row(table, *at)[0].value.i < rank)
        ++*at;
    while (*at + n < table->n_rows && tm_table_row(table, *at + n)[0].value.i == rank)
        n++;
    return n;
}

/* A rank's rows in overlap.kind, and its number of steps. */
typedef struct habit {
    size_t first, n;
    int64_t steps;
} habit;

static const char *kind_of(const tm_table *kinds, size_t row) {
    const tm_cell *kind = tm_table_cell(kinds, row, "kind");
    return kind->null ? "" : kind->value.text;
}

/* Returns the number of kernels per step, or the total if there are no steps. The number is
 * rounded, because a recording may start or end within a step. */
static int64_t count_a_step(const tm_table *kinds, const habit *h, size_t i) {
    int64_t count = tm_table_cell(kinds, h->first + i, "count")->value.i;
    return h->steps > 0 ? tm_round_ratio(count, h->steps) : count;
}

/* Returns whether two ranks have the same kinds and numbers of kernels per step. Rows are sorted by
 * kind, so the kinds of both ranks are in the same order. */
static bool same_habit(const tm_table *kinds, const habit *a, const habit *b) {
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = strcmp(kind_of(kinds, a->first + i), kind_of(kinds, b->first + i)) == 0 &&
               count_a_step(kinds, a, i) == count_a_step(kinds, b, i);
    return same;
}

/* Gives each rank the role of the first rank that has the same kernels per step. Each rank is
 * compared with all roles found so far, which are few. `first` [n_roles] has the index of the first
 * rank of each role. */
static void number_roles(tm_roles *roles, const habit *habits, const tm_table *kinds,
                         size_t *first) {
    for (size_t i = 0; i < roles->n; i++) {
        int role = 0;
        while (role < roles->n_roles && !same_habit(kinds, &habits[first[role]], &habits[i]))
            role++;
        if (role == roles->n_roles)
            first[roles->n_roles++] = i;
        roles->ranks[i].role = role;
    }
}

/* All three tables are sorted by rank, so one pass over each is enough. */
tm_status tm_roles_find(const tm_tables *tables, tm_roles *out, tm_error *err) {
    const tm_table *job = tm_tables_find(tables, "job.rank");
    const tm_table *steps = tm_tables_find(tables, "overview.rank");
    const tm_table *kinds = tm_tables_find(tables, "overlap.kind");
    tm_roles roles = {.n = job->n_rows};
    size_t at_kind = 0, at_step = 0;
    roles.ranks = calloc(roles.n + 1, sizeof *roles.ranks);
    habit *habits = calloc(roles.n + 1, sizeof *habits);
    size_t *first = calloc(roles.n + 1, sizeof *first);
    bool ok = roles.ranks && habits && first;
    for (size_t i = 0; i < roles.n && ok; i++) {
        int64_t rank = tm_table_row(job, i)[0].value.i;
        roles.ranks[i].rank = rank;
        habits[i].n = rows_of(kinds, rank, &at_kind);
        habits[i].first = at_kind;
        if (rows_of(steps, rank, &at_step) > 0)
            habits[i].steps = tm_table_cell(steps, at_step, "steps")->value.i;
    }
    if (ok)
        number_roles(&roles, habits, kinds, first);
    free(habits);
    free(first);
    if (!ok) {
        tm_roles_free(&roles);
        return tm_fail_memory(err);
    }
    *out = roles;
    return TM_OK;
}

void tm_roles_free(tm_roles *roles) {
    free(roles->ranks);
    *roles = (tm_roles){0};
}

void tm_roles_unite(tm_roles *roles) {
    for (size_t i = 0; i < roles->n; i++)
        roles->ranks[i].role = 0;
    roles->n_roles = roles->n > 0;
}

int tm_roles_of(const tm_roles *roles, int64_t rank) {
    size_t i = TM_FIRST_FROM(tm_role_of, rank, roles->ranks, roles->n, rank);
    return i < roles->n && roles->ranks[i].rank == rank ? roles->ranks[i].role : -1;
}

void tm_roles_list(const tm_roles *roles, int role, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < roles->n; i++) {
        if (roles->ranks[i].role != role)
            continue;
        size_t last = i;
        while (last + 1 < roles->n && roles->ranks[last + 1].role == role &&
               roles->ranks[last + 1].rank == roles->ranks[last].rank + 1)
            last++;
        char part[48];
        int length =
            snprintf(part, sizeof part, "%s%" PRId64, used > 0 ? "," : "", roles->ranks[i].rank);
        if (last > i)
            length += snprintf(part + length, sizeof part - (size_t)length, "-%" PRId64,
                               roles->ranks[last].rank);
        /* leave room for ",..." after each part */
        if (used + (size_t)length + sizeof ",..." > size) {
            snprintf(out + used, size - used, ",...");
            return;
        }
        memcpy(out + used, part, (size_t)length + 1);
        used += (size_t)length;
        i = last;
    }
}
