#include "api_calls.h"

#include <stdlib.h>

#include "analysis/shared/over_ranks.h"
#include "base/median.h"
#include "base/sums.h"
#include "base/vec.h"

enum { P_NAME, P_RANK, P_CALLS, P_TOTAL, P_MAX, N_PART_COLUMNS };

static const tm_column part_columns[N_PART_COLUMNS] = {
    [P_NAME] = {"name", TM_INT, "", "Name id."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_CALLS] = {"calls", TM_INT, "", "Calls of the rank."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of their durations."},
    [P_MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call."},
};

/* Merged by name: the rows of all ranks make one row of launches.api. */
const tm_table_def tm_api_part_table = {
    .name = "launches.api_part",
    .doc = "A row for each call's name and rank: its part of launches.api.",
    .columns = part_columns,
    .n_columns = N_PART_COLUMNS,
    .n_keys = 2,
    .top = -1,
    .internal = true,
    .n_merged = 1,
};

enum { NAME, CALLS, TOTAL, MEAN, MAX, RANKS, MEDIAN_RANK, MAX_RANK_TIME, MAX_RANK, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [NAME] = {"name", TM_TEXT, "", "Name of the call: cudaLaunchKernel, cuLaunchKernelEx, ..."},
    [CALLS] = {"calls", TM_INT, "", "Number of calls on all ranks."},
    [TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the calls on the host."},
    [MEAN] = {"mean_ns", TM_INT, "ns", "total_ns / calls."},
    [MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call."},
    [RANKS] = {"ranks", TM_INT, "", "Number of ranks that made the call."},
    [MEDIAN_RANK] = {"median_rank_ns", TM_INT, "ns",
                     "Median of the ranks' total_ns, over the ranks that made the call."},
    [MAX_RANK_TIME] = {"max_rank_ns", TM_INT, "ns", "Largest total_ns of a rank."},
    [MAX_RANK] = {"max_rank", TM_INT, "",
                  "Rank with max_rank_ns; the lowest if there are several."},
};

const tm_table_def tm_api_table = {
    .name = "launches.api",
    .doc = "A row for each function of the CUDA or HIP runtime or driver that was called, over all "
           "ranks, with the largest total_ns first.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .n_keys = 1,
    .top = TOTAL,
};

/* Calls of one name on this rank. */
typedef struct tally {
    int64_t calls, total_ns, max_ns;
    uint32_t name;
} tally;

/* Counts calls by name. Returns false when out of memory. @param known [names] 1 + index of the
 * name's tally; 0 if it has none */
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

tm_status tm_api_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    const tm_table *part = tm_tables_find(tables, tm_api_part_table.name);
    tm_table *table = tm_tables_find(tables, tm_api_table.name);
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        tm_over_ranks total, longest;
        end = tm_over_ranks_end(part, first);
        TM_TRY(tm_over_ranks_column(part, first, end, P_TOTAL, &total, err));
        TM_TRY(tm_over_ranks_column(part, first, end, P_MAX, &longest, err));
        int64_t calls = tm_over_ranks_sum(part, first, end, P_CALLS);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[CALLS], calls);
        tm_cell_set_int(&row[TOTAL], total.sum);
        tm_cell_set_int(&row[MEAN], tm_round_ratio(total.sum, calls));
        tm_cell_set_int(&row[MAX], longest.max);
        tm_cell_set_int(&row[RANKS], total.ranks);
        tm_cell_set_int(&row[MEDIAN_RANK], total.median);
        tm_cell_set_int(&row[MAX_RANK_TIME], total.max);
        tm_cell_set_int(&row[MAX_RANK], total.max_rank);
        tm_text name = tm_names_text(names, (uint32_t)tm_table_row(part, first)[P_NAME].value.i);
        TM_TRY(tm_table_set_bytes(table, &row[NAME], name.bytes, name.size, err));
    }
    return TM_OK;
}
