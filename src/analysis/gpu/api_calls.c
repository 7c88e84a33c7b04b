#include "api_calls.h"

#include <stdlib.h>

#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "base/median.h"
#include "base/sums.h"
#include "base/vec.h"

enum { P_NAME, P_RANK, P_CALLS, P_TOTAL, P_MAX, N_PART_COLUMNS };

static const tm_column part_columns[N_PART_COLUMNS] = {
    [P_NAME] = {"name", TM_INT, "", "Name id of the call."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_CALLS] = {"calls", TM_INT, "", "Number of calls of the rank."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the calls."},
    [P_MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call."},
};

/* The merge combines rows of the same name into a row of launches.api. */
const tm_table_def tm_api_part_table = TM_PART_TABLE(
    "launches.api_part", "A row for each call's name and rank: its part of launches.api.",
    part_columns, 1);

enum {
    NAME,
    CALLS,
    TOTAL,
    MEAN,
    MAX,
    RANKS /* first column of TM_OVER_RANKS_COLUMNS */,
    N_COLUMNS = RANKS + 4
};

static const tm_column columns[N_COLUMNS] = {
    [NAME] = {"name", TM_TEXT, "",
              "Name of the call, such as cudaLaunchKernel or cuLaunchKernelEx."},
    [CALLS] = {"calls", TM_INT, "", "Number of calls, over all ranks."},
    [TOTAL] = {"total_ns", TM_INT, "ns",
               "Time that host threads spend in the calls: sum of durations over all ranks."},
    [MEAN] = {"mean_ns", TM_INT, "ns", "Mean duration of a call: total_ns / calls."},
    [MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call on any rank."},
    [RANKS] = TM_OVER_RANKS_COLUMNS("total_ns"),
};

const tm_table_def tm_api_table = {
    .name = "launches.api",
    .doc = "A row for each function of the CUDA or HIP runtime or driver that was called, over all "
           "ranks, with the largest total_ns first.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = TOTAL,
};

/* Calls of one name on this rank. */
typedef struct tally {
    int64_t calls, total_ns, max_ns;
    uint32_t name;
} tally;

/* Counts calls by name. Returns false if out of memory. @param known [names] 1 + index of the
 * name's tally; 0: no tally */
static bool count_calls(const tm_timeline *timeline, uint32_t *known, tm_vec *tallies) {
    for (size_t row = 0; row < timeline->n_events; row++) {
        uint8_t category = timeline->category[row];
        if ((category != TM_CAT_RUNTIME && category != TM_CAT_DRIVER) ||
            timeline->kind[row] != TM_DURATION)
            continue;
        uint32_t *number = &known[timeline->name[row]];
        if (*number == 0) {
            const tally none = {.name = timeline->name[row]};
            if (!tm_vec_append(tallies, &none, 1))
                return false;
            *number = (uint32_t)tallies->n;
        }
        tally *t = (tally *)tallies->data + (*number - 1);
        int64_t duration = timeline->duration_ns[row];
        t->calls++;
        t->total_ns = tm_sum(t->total_ns, duration);
        t->max_ns = duration > t->max_ns ? duration : t->max_ns;
    }
    return true;
}

tm_status tm_api_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, tm_api_part_table.name);
    tm_vec tallies = TM_VEC(tally);
    uint32_t *known = calloc(view->n_names, sizeof *known);
    bool ok = known && count_calls(view->timeline, known, &tallies);
    for (size_t i = 0; ok && i < tallies.n; i++) {
        const tally *t = (const tally *)tallies.data + i;
        tm_cell *row = tm_table_add_row(table);
        ok = row != NULL;
        if (!ok)
            break;
        tm_cell_set_int(&row[P_NAME], t->name);
        tm_cell_set_int(&row[P_RANK], view->timeline->rank);
        tm_cell_set_int(&row[P_CALLS], t->calls);
        tm_cell_set_int(&row[P_TOTAL], t->total_ns);
        tm_cell_set_int(&row[P_MAX], t->max_ns);
    }
    free(known);
    tm_vec_free(&tallies);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                         tm_cell *row, tm_error *err) {
    const int64_t calls = tm_over_ranks_sum(rows, P_CALLS);
    tm_over_ranks total, longest;
    TM_TRY(tm_over_ranks_column(rows, P_TOTAL, &total, err));
    TM_TRY(tm_over_ranks_column(rows, P_MAX, &longest, err));
    tm_cell_set_int(&row[CALLS], calls);
    tm_cell_set_int(&row[TOTAL], total.sum);
    tm_cell_set_int(&row[MEAN], tm_round_ratio(total.sum, calls));
    tm_cell_set_int(&row[MAX], longest.max);
    tm_over_ranks_set(&row[RANKS], &total);
    return tm_set_named(names, tm_rank_rows_key(rows)[P_NAME].value.i, table, &row[NAME], err);
}

tm_status tm_api_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_api_part_table, &tm_api_table, names, tables, set_row, err);
}
