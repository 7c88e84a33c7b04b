/* Collects the properties of the job that a rank reports. */
#include "differs.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "timeline/host_comm.h"
#include "timeline/metadata.h"

static const tm_column place_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"world_size", TM_INT, "", "Number of ranks of the job according to the rank's trace."},
    {"begin_ns", TM_INT, "ns",
     "As in job.rank; null if the rank's clock cannot be compared with other clocks."},
    {"end_ns", TM_INT, "ns", "As in job.rank; null if begin_ns is null."},
    {"recorded_begin_ns", TM_INT, "ns",
     "Recorded start of the rank; null if it is not a time of day."},
    {"recorded_end_ns", TM_INT, "ns",
     "Recorded end of the rank; null if recorded_begin_ns is null."},
    {"marks_steps", TM_BOOL, "",
     "Whether the rank's trace marks steps. If not, the whole trace is step 0, or "
     "in no step if other ranks mark steps."},
};

static const tm_column kernel_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"hash", TM_INT, "",
     "Hash of a compute kernel's name. Only the 128 smallest hashes of a rank are kept."},
};

static const tm_column group_columns[] = {
    {"name", TM_TEXT, "", "Name of a process group."},
    {"rank", TM_INT, "", "Global rank."},
    {"members", TM_INT, "", "Name id of the list of the group's members in this rank's trace."},
};

const tm_table_def tm_differs_place =
    TM_INTERNAL_TABLE("job.place", "A row for each rank: its place in the job.", place_columns, 1);

const tm_table_def tm_differs_kernel =
    TM_INTERNAL_TABLE("job.kernel", "A row for each rank and kernel.", kernel_columns, 2);

const tm_table_def tm_differs_group = TM_INTERNAL_TABLE(
    "job.group", "A row for each rank and process group that its trace lists.", group_columns, 2);

/* Collects the distinct hashes of compute kernels' names, ascending. */
static bool hash_kernels(const tm_rank_view *view, tm_vec *out) {
    const tm_timeline *timeline = view->timeline;
    const uint32_t end = tm_timeline_work_end(timeline);
    unsigned char *seen = calloc(view->n_names / 8 + 1, 1);
    bool ok = seen != NULL;
    for (uint32_t row = 0; row < end && ok; row++) {
        uint32_t name = timeline->name[row];
        if (timeline->role[row] != TM_ROLE_COMPUTE || name == TM_NO_NAME ||
            (seen[name / 8] & 1u << name % 8))
            continue;
        seen[name / 8] |= (unsigned char)(1u << name % 8);
        tm_text text = tm_names_text(view->names, name);
        int64_t hash = (int64_t)(tm_hash_mixed(0, text.bytes, text.size) >> 1);
        ok = tm_vec_append(out, &hash, 1) != NULL;
    }
    free(seen);
    tm_sort_values(out->data, out->n);
    return ok;
}

static tm_status add_kernels(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, tm_differs_kernel.name);
    tm_vec hashes = TM_VEC(int64_t);
    bool ok = hash_kernels(view, &hashes);
    for (size_t i = 0; i < hashes.n && i < TM_DIFFERS_KERNELS && ok; i++) {
        tm_cell *row = tm_table_add_row(table);
        ok = row != NULL;
        if (!row)
            break;
        tm_cell_set_int(&row[0], view->timeline->rank);
        tm_cell_set_int(&row[1], ((const int64_t *)hashes.data)[i]);
    }
    tm_vec_free(&hashes);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status add_groups(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, tm_differs_group.name);
    if (timeline->n_metadata_lists == 0)
        return TM_OK;
    const char *reported =
        tm_metadata_member(tm_timeline_metadata(timeline).bytes, "distributedInfo");
    cJSON *info = reported ? cJSON_ParseWithOpts(reported, NULL, false) : NULL;
    const cJSON *configs = cJSON_GetObjectItemCaseSensitive(info, "pg_config"), *config;
    tm_status status = TM_OK;
    cJSON_ArrayForEach(config, configs) {
        const char *name =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(config, "pg_name"));
        const char *ranks = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(config, "ranks"));
        uint32_t list = tm_timeline_list(timeline, ranks);
        tm_cell *row = name && list != TM_NO_NAME ? tm_table_add_row(table) : NULL;
        if (name && list != TM_NO_NAME && status == TM_OK)
            status = row ? tm_table_set_text(table, &row[0], name, err) : tm_fail_memory(err);
        if (row) {
            tm_cell_set_int(&row[1], timeline->rank);
            tm_cell_set_int(&row[2], list);
        }
    }
    cJSON_Delete(info);
    return status;
}

tm_status tm_differs_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_cell *row = tm_table_add_row(tm_tables_find(out, tm_differs_place.name));
    int64_t begin, end;
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], timeline->rank);
    if (timeline->world_size > 0)
        tm_cell_set_int(&row[1], timeline->world_size);
    bool any = tm_timeline_range(timeline, &begin, &end);
    tm_cell_set_bool(&row[6], timeline->n_steps > 0 && timeline->steps[0].annotated);
    if (any && timeline->clock.way != TM_CLOCK_UNKNOWN) {
        tm_cell_set_int(&row[2], tm_rank_clock_true(&timeline->clock, begin));
        tm_cell_set_int(&row[3], tm_rank_clock_true(&timeline->clock, end));
    }
    if (any && begin >= TM_FIRST_DAY_NS) {
        tm_cell_set_int(&row[4], begin);
        tm_cell_set_int(&row[5], end);
    }
    TM_TRY(add_kernels(view, out, err));
    return add_groups(view, out, err);
}
