/* Reads databases of Ascend NPUs. torch_npu's profiler writes ascend_pytorch_profiler_RANK.db with
 * ExportType.Db, and then no trace_view.json. msprof writes msprof_TIME.db. The tables are defined
 * by MindStudio (msprof, analysis/csrc/application/database/msprof_db.cpp) and by torch_npu
 * (prof_view/prof_db_parse). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ascend_db_reader.h"
#include "base/letters.h"
#include "readers/ascend/ascend_peers.h"
#include "readers/ascend/ascend_place.h"
#include "readers/formats.h"

static const char *const of_events[] = {"TASK", "CANN_API", "PYTORCH_API"};

static bool ascend_db_accepts(const char *path) {
    bool strings = false, events = false;
    tm_db db;
    if (tm_db_open(path, &db, NULL) != TM_OK)
        return false;
    bool ok = tm_db_has_table(&db, "STRING_IDS", &strings, NULL) == TM_OK && strings;
    for (size_t i = 0; i < 3 && ok && !events; i++)
        ok = tm_db_has_table(&db, of_events[i], &events, NULL) == TM_OK;
    tm_db_close(&db);
    return ok && events;
}

/* Sets the rank from a row. torch_npu writes the same rank for all devices, and -1 for a job that
 * is not distributed. A file with several ranks is an error, because their events would be
 * merged. */
static tm_status each_rank(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    int64_t rank = tm_db_int(values, 0, -1), *known = &d->trace->rank;
    if (rank < 0 || rank > TM_RANK_MAX)
        return TM_OK;
    if (*known >= 0 && *known != rank)
        return tm_fail(err, TM_ERR_INPUT, d->db.path, -1,
                       "this database has several ranks (%" PRId64 " and %" PRId64
                       " in RANK_DEVICE_MAP): give one database per rank",
                       *known, rank);
    *known = rank;
    return TM_OK;
}

static tm_status each_host(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    tm_text name = tm_db_text(values[0]);
    if (name.size > 0 && d->trace->host == TM_NO_NAME)
        d->trace->host = tm_names_intern(d->names, name.bytes, name.size);
    return d->trace->host == TM_NAME_FAILED ? tm_fail_memory(err) : TM_OK;
}

static tm_status each_metadata(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    tm_text name = tm_db_text(values[0]);
    if (!tm_text_is(name, "parallel_group_info"))
        return TM_OK;
    return tm_ascend_db_read_groups(tm_db_text(values[1]), d->names, &d->groups, err);
}

static void set_world_size(tm_ascend_db *d) {
    const tm_ascend_db_group *v = d->groups.data;
    for (size_t i = 0; i < d->groups.n; i++)
        if (tm_ascend_db_holds_all(&v[i], d->names))
            d->trace->world_size = v[i].n_ranks;
}

/* Adds an interval of the overlap analysis to its track. The types of intervals are those of
 * ENUM_OVERLAP_ANALYSIS_TYPE. */
static tm_status each_part(void *context, sqlite3_value **values, tm_error *err) {
    static const char *const words[] = {"Computing", "Communication",
                                        "Communication(Not Overlapped)", "Free"};
    tm_ascend_db *d = context;
    int64_t type = tm_db_int(values, 2, -1), begin = tm_db_int(values, 0, -1);
    int64_t end = tm_db_int(values, 1, -1);
    (void)err;
    if (type < 0 || type >= 4 || begin < 0 || end < begin)
        return TM_OK;
    const tm_json_text part = {.bytes = words[type], .size = strlen(words[type])};
    tm_ascend_overlap_add(&d->overlap, &part, end - begin);
    return TM_OK;
}

static tm_status read_facts(tm_ascend_db *d, tm_error *err) {
    static const char described[] = "{" TM_DEVICE_KIND "NPU\"," TM_OWN_CLOCK "}";
    static const char *const rank[] = {"rankId"}, *const host[] = {"hostName"};
    static const char *const metadata[] = {"name", "value"};
    static const char *const part[] = {"startNs", "endNs", "type"};
    d->trace->metadata = tm_names_intern_string(d->names, described);
    if (d->trace->metadata == TM_NAME_FAILED)
        return tm_fail_memory(err);
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"RANK_DEVICE_MAP", rank, 1, NULL, NULL}, each_rank,
                             err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"HOST_INFO", host, 1, NULL, NULL}, each_host, err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"META_DATA", metadata, 2, NULL, NULL}, each_metadata,
                             err));
    set_world_size(d);
    if (d->trace->rank < 0)
        d->trace->rank = tm_ascend_rank_of(d->db.path);
    return tm_ascend_db_scan(d, &(tm_db_query){"OVERLAP_ANALYSIS", part, 3, NULL, NULL}, each_part,
                             err);
}

/* Links calls with the work that they launched, and compares sums of the trace with the profiler's
 * own. */
static tm_status finish(tm_ascend_db *d, tm_error *err) {
    tm_ascend_overlap own;
    if (!tm_ascend_overlap_of(d->trace, &own))
        return tm_fail_memory(err);
    /* If there are several devices, the profiler's sums are per device, so they are not
     * compared. */
    if (d->device != TM_ASCEND_DB_SEVERAL)
        d->trace->counts[TM_COUNT_OTHER_SUMS] = tm_ascend_overlap_differ(&d->overlap, &own);
    TM_TRY(tm_ascend_count_peers(d->trace, d->names, &d->mesh, err));
    return tm_ascend_flows_link(&d->flows, d->trace, d->names, err);
}

static tm_status read_all(tm_ascend_db *d, tm_error *err) {
    for (size_t i = 0; i < sizeof of_events / sizeof *of_events; i++)
        d->n_rows += tm_db_last_row(&d->db, of_events[i]);
    TM_TRY(tm_ascend_db_strings_read(&d->strings, &d->db, err));
    TM_TRY(read_facts(d, err));
    TM_TRY(tm_ascend_db_read_tasks(d, err));
    TM_TRY(tm_ascend_db_read_calls(d, err));
    TM_TRY(tm_ascend_db_read_samples(d, err));
    return finish(d, err);
}

static void clear(tm_ascend_db *d) {
    tm_db_close(&d->db);
    tm_ascend_db_strings_free(&d->strings);
    tm_vec_free(&d->groups);
    tm_ascend_flows_free(&d->flows);
    tm_ascend_db_tasks_free(d);
    tm_ascend_db_calls_free(d);
}

static tm_status ascend_db_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    tm_ascend_db *d = calloc(1, sizeof *d);
    if (!d)
        return tm_fail_memory(err);
    d->source = source;
    d->names = names;
    d->trace = out;
    d->device = -1;
    d->groups = TM_VEC(tm_ascend_db_group);
    for (int i = 0; i < TM_ASCEND_DB_PLACES; i++)
        d->places[i].kind = UINT8_MAX;
    tm_ascend_db_strings_init(&d->strings, names);
    tm_ascend_flows_init(&d->flows);
    tm_ascend_db_tasks_init(d);
    tm_ascend_db_calls_init(d);
    tm_status status = tm_db_open(tm_source_path(source), &d->db, err);
    if (status == TM_OK)
        status = read_all(d, err);
    clear(d);
    free(d);
    return status;
}

/* Where databases are: in the folder of one rank, and in a folder of several ranks. */
static const char *const in_folders[] = {
    "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db",
    "*_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db", "PROF_*/msprof_*.db",
    "PROF_*/mindstudio_profiler_output/msprof_*.db", NULL};

const tm_format tm_format_ascend_db = {
    .name = "ascend_db",
    .summary = "Databases of Ascend NPUs by torch_npu's profiler (ascend_pytorch_profiler_RANK.db) "
               "or msprof (msprof_TIME.db)",
    .cannot_tell = "The occupancy of kernels is not recorded; memory is recorded by PyTorch, "
                   "without addresses; only newer databases record the direction of copies.",
    .in_folders = in_folders,
    .by_path = true,
    .sniff = tm_db_sniff,
    .accepts = ascend_db_accepts,
    .read = ascend_db_read,
    .is_covered = tm_ascend_msprof_is_covered,
    .advice_unknown_group =
        "give the traces of all ranks: they show which ranks use which HCCL group",
};
