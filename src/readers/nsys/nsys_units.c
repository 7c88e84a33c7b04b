#include "nsys_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "identity/environment.h"
#include "nsys_nccl.h"
#include "readers/number.h"
#include "tmerge/timeline.h"

/* Stands for the device of a process that used no GPU. */
enum { NO_GPU = -2 };

typedef struct pair {
    int64_t process, device;
    int64_t rank; /* -1 unknown */
} pair;

static tm_status each_start(void *context, sqlite3_value **values, tm_error *err) {
    tm_nsys_clock *clock = context;
    (void)err;
    clock->utc_ns = tm_db_int(values, 0, -1);
    clock->system_ns = tm_db_int(values, 1, -1);
    return TM_OK;
}

static tm_status each_parameter(void *context, sqlite3_value **values, tm_error *err) {
    tm_nsys_clock *clock = context;
    const char *name = tm_db_text(values[0]).bytes;
    (void)err;
    if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0)
        clock->normalised = strcmp(tm_db_text(values[1]).bytes, "true") == 0 ||
                            strcmp(tm_db_text(values[1]).bytes, "1") == 0;
    else if (strcmp(name, "EXPORT_PARAM_TIME_SHIFT") == 0) /* stored as a number or as text */
        clock->shift_ns = sqlite3_value_int64(values[1]);
    return TM_OK;
}

tm_status tm_nsys_read_clock(const tm_db *db, tm_nsys_clock *out, tm_error *err) {
    static const char *const start[] = {"utcEpochNs", "systemClockNs"};
    static const char *const parameter[] = {"name", "value"};
    static const char *const tables[] = {"META_DATA_EXPORT", "EXPORT_META_DATA"};
    const int64_t most = INT64_C(3000000000000000000), shift_most = most / 3;
    const tm_db_query query = {"TARGET_INFO_SESSION_START_TIME", start, 2, NULL, NULL};
    *out = (tm_nsys_clock){-1, -1, 0, false};
    TM_TRY(tm_db_scan(db, &query, 0, each_start, out, err));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const tm_db_query of = {tables[i], parameter, 2, "name LIKE 'EXPORT_PARAM_TIME_%'", "name"};
        TM_TRY(tm_db_scan(db, &of, 0, each_parameter, out, err));
    }
    if (out->utc_ns <= 0 || out->utc_ns > most)
        out->utc_ns = -1;
    if (out->system_ns < 0 || out->system_ns > out->utc_ns)
        out->system_ns = -1;
    if (out->shift_ns < -shift_most || out->shift_ns > shift_most)
        return tm_fail(err, TM_ERR_INPUT, db->path, -1,
                       "the times of this report were shifted by over 30 years: export it again "
                       "without a shift");
    return TM_OK;
}

static tm_status each_host(void *context, sqlite3_value **values, tm_error *err) {
    tm_vec *out = context;
    tm_text text = tm_db_text(values[0]);
    out->n = 0;
    return tm_vec_append(out, text.bytes, text.size) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_nsys_read_host(const tm_db *db, tm_vec *out, tm_error *err) {
    static const char *const column[] = {"value"};
    const tm_db_query query = {"TARGET_INFO_SYSTEM_ENV", column, 1, "name = 'Hostname'", "name"};
    *out = TM_VEC(char);
    return tm_db_scan(db, &query, 0, each_host, out, err);
}

static tm_status each_pair(void *context, sqlite3_value **values, tm_error *err) {
    tm_vec *pairs = context;
    pair found = {tm_db_int(values, 0, 0), tm_db_int(values, 1, 0), -1};
    const pair *v = pairs->data;
    for (size_t i = pairs->n; i-- > 0;)
        if (v[i].process == found.process && v[i].device == found.device)
            return TM_OK;
    return tm_vec_append(pairs, &found, 1) ? TM_OK : tm_fail_memory(err);
}

static bool has_process(const tm_vec *pairs, size_t n, int64_t process) {
    const pair *v = pairs->data;
    for (size_t i = 0; i < n; i++)
        if (v[i].process == process)
            return true;
    return false;
}

TM_ORDER_BY(by_device, pair, device, process);

/* Lists pairs of a process and a device. A process belongs to the devices on which it runs kernels.
 * If it has no kernels, it belongs to the devices to and from which it copies. A copy to a device
 * of another process does not count. */
static tm_status list_pairs(const tm_db *db, tm_vec *pairs, tm_error *err) {
    static const char *const columns[] = {"globalPid", "deviceId"};
    static const char *const kernels[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                          "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
    static const char *const copies[] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "CUPTI_ACTIVITY_KIND_MEMSET"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const tm_db_query query = {kernels[i], columns, 2, NULL, NULL};
        TM_TRY(tm_db_scan(db, &query, 0, each_pair, pairs, err));
    }
    size_t n_computing = pairs->n;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        const tm_db_query query = {copies[i], columns, 2, NULL, NULL};
        TM_TRY(tm_db_scan(db, &query, 0, each_pair, pairs, err));
    }
    pair *v = pairs->data;
    size_t n = n_computing;
    for (size_t i = n_computing; i < pairs->n; i++)
        if (!has_process(pairs, n_computing, v[i].process))
            v[n++] = v[i];
    pairs->n = n;
    if (n > 1)
        qsort(v, n, sizeof *v, by_device);
    return TM_OK;
}

static tm_status each_process(void *context, sqlite3_value **values, tm_error *err) {
    tm_vec *pairs = context;
    const pair found = {tm_db_int(values, 0, 0) & TM_NSYS_PROCESS_MASK, NO_GPU, -1};
    if (sqlite3_value_type(values[0]) != SQLITE_INTEGER ||
        has_process(pairs, pairs->n, found.process))
        return TM_OK;
    return tm_vec_append(pairs, &found, 1) ? TM_OK : tm_fail_memory(err);
}

/* Adds those processes without a GPU that are ranks. These are all processes that call MPI. If no
 * process used a GPU and the MPI tables are missing (nsys up to 2022.4), adds the first of these
 * sets that is not empty: the processes with NVTX ranges of MPI, the processes with any NVTX range,
 * all traced processes. (A launcher makes only OS calls.) */
static tm_status list_processes(const tm_db *db, tm_vec *pairs, tm_error *err) {
    enum { N_MPI = 3 };
    static const char *const columns[] = {"globalTid"};
    static const struct {
        const char *table, *where;
    } reported[] = {
        {"MPI_OTHER_EVENTS", NULL},
        {"MPI_COLLECTIVES_EVENTS", NULL},
        {"MPI_P2P_EVENTS", NULL},
        {"NVTX_EVENTS", "eventType = 75 AND text = 'MPI'"},
        {"NVTX_EVENTS", "eventType IN (34, 59, 60)"},
        {"OSRT_API", NULL},
    };
    for (size_t i = 0; i < sizeof reported / sizeof *reported && (i < N_MPI || pairs->n == 0);
         i++) {
        const tm_db_query query = {reported[i].table, columns, 1, reported[i].where,
                                   reported[i].where ? "eventType" : NULL};
        TM_TRY(tm_db_scan(db, &query, 0, each_process, pairs, err));
    }
    return TM_OK;
}

static int64_t valid_rank(int64_t rank) {
    return rank >= 0 && rank <= TM_RANK_MAX ? rank : -1;
}

static tm_status each_mpi_rank(void *context, sqlite3_value **values, tm_error *err) {
    tm_vec *pairs = context;
    pair *v = pairs->data;
    (void)err;
    for (size_t i = 0; i < pairs->n; i++)
        if (v[i].process == (tm_db_int(values, 0, 0) & TM_NSYS_PROCESS_MASK))
            v[i].rank = valid_rank(tm_db_int(values, 1, -1));
    return TM_OK;
}

/* Sets the rank of a process from the name of a thread. Nsight gives such a name to the thread that
 * calls MPI_Init. In versions before 2023, the rank is recorded nowhere else. */
static tm_status each_named_thread(void *context, sqlite3_value **values, tm_error *err) {
    tm_vec *pairs = context;
    static const char start[] = "MPI Rank ";
    const tm_text text = tm_db_text(values[1]);
    int64_t rank;
    pair *v = pairs->data;
    (void)err;
    if (text.size < sizeof start || memcmp(text.bytes, start, sizeof start - 1) != 0 ||
        !tm_number_int(text.bytes + sizeof start - 1, text.size + 1 - sizeof start, &rank))
        return TM_OK;
    for (size_t i = 0; i < pairs->n; i++)
        if (v[i].process == (tm_db_int(values, 0, 0) & TM_NSYS_PROCESS_MASK))
            v[i].rank = valid_rank(rank);
    return TM_OK;
}

/* State while payloads are searched for numbers of ranks in communicators. */
typedef struct init_scan {
    tm_vec *pairs;
    tm_vec fields; /* fields of the payloads' schemas */
    /* [pairs] for each pair, the number of ranks of the largest communicator found so far */
    int64_t *most;
} init_scan;

static tm_status each_payload(void *context, sqlite3_value **values, tm_error *err) {
    init_scan *s = context;
    pair *v = s->pairs->data;
    int64_t process = tm_db_int(values, 0, 0) & TM_NSYS_PROCESS_MASK;
    (void)err;
    tm_nsys_payload p =
        tm_nsys_decode_payload(&s->fields, tm_db_int(values, 1, 0), sqlite3_value_blob(values[2]),
                               (size_t)sqlite3_value_bytes(values[2]));
    for (size_t i = 0; i < s->pairs->n; i++)
        if (v[i].process == process && v[i].device == p.device && p.n_ranks > s->most[i] &&
            p.rank < p.n_ranks) {
            s->most[i] = p.n_ranks;
            v[i].rank = valid_rank(p.rank);
        }
    return TM_OK;
}

static tm_status find_init_ranks(const tm_db *db, tm_vec *pairs, tm_error *err) {
    static const char *const columns[] = {"globalTid", "domainId", "binaryData"};
    const tm_db_query query = {"NVTX_EVENTS", columns, 3, "binaryData IS NOT NULL", "binaryData"};
    init_scan s = {.pairs = pairs};
    tm_status status = tm_nsys_read_schemas(db, &s.fields, err);
    s.most = calloc(pairs->n + 1, sizeof *s.most);
    if (status == TM_OK && !s.most)
        status = tm_fail_memory(err);
    if (status == TM_OK && s.fields.n > 0)
        status = tm_db_scan(db, &query, 0, each_payload, &s, err);
    tm_vec_free(&s.fields);
    free(s.most);
    return status;
}

static tm_status each_variable(void *context, sqlite3_value **values, tm_error *err) {
    tm_environment *environment = context;
    const char *text = tm_db_text(values[0]).bytes;
    size_t size = strcspn(text, "=");
    (void)err;
    if (text[size] == '=')
        tm_environment_take(environment, text, size, text + size + 1);
    return TM_OK;
}

/* Reads rank and world size from the captured environment. No other variables are read, because
 * they may contain secrets. */
static tm_status read_environment(const tm_db *db, tm_environment *out, tm_error *err) {
    static const char *const column[] = {"value"};
    const tm_db_query query = {"META_DATA_CAPTURE", column, 1,
                               "name LIKE 'PROCESS_%:ENVIRONMENT_VARIABLE' AND (value GLOB "
                               "'RANK=*' OR value GLOB 'OMPI_COMM_WORLD_*' OR value GLOB "
                               "'PMI_*' OR value GLOB 'SLURM_PROCID=*' OR value GLOB "
                               "'SLURM_STEP_NUM_TASKS=*' OR value GLOB 'WORLD_SIZE=*')",
                               "name"};
    tm_environment_init(out);
    return tm_db_scan(db, &query, 0, each_variable, out, err);
}

tm_status tm_nsys_read_world_size(const tm_db *db, int64_t *out, tm_error *err) {
    tm_environment environment;
    TM_TRY(read_environment(db, &environment, err));
    *out = tm_environment_world_size(&environment);
    return TM_OK;
}

/* Discards a rank that several units have. */
static void drop_repeated(tm_vec *pairs) {
    pair *v = pairs->data;
    for (size_t i = 0; i < pairs->n; i++) {
        bool repeated = false;
        for (size_t k = i + 1; k < pairs->n && v[i].rank >= 0; k++)
            if (v[k].rank == v[i].rank) {
                v[k].rank = -1;
                repeated = true;
            }
        if (repeated)
            v[i].rank = -1;
    }
}

static bool any_unknown(const tm_vec *pairs) {
    const pair *v = pairs->data;
    for (size_t i = 0; i < pairs->n; i++)
        if (v[i].rank < 0)
            return true;
    return false;
}

/* Sets the ranks of the processes. They come from MPI, from NCCL or from the environment, which may
 * number ranks differently. So only one of these is used: the first one that has all ranks. */
static tm_status find_ranks(const tm_db *db, tm_vec *pairs, tm_error *err) {
    static const char *const columns[] = {"globalTid", "rank"};
    static const char *const named[] = {"globalTid", "text"};
    const tm_db_query query = {"MPI_RANKS", columns, 2, NULL, NULL};
    const tm_db_query names = {"NVTX_EVENTS", named, 2, "eventType = 39", "eventType"};
    pair *v = pairs->data;
    TM_TRY(tm_db_scan(db, &query, 0, each_mpi_rank, pairs, err));
    if (any_unknown(pairs))
        TM_TRY(tm_db_scan(db, &names, 0, each_named_thread, pairs, err));
    drop_repeated(pairs);
    if (any_unknown(pairs)) {
        for (size_t i = 0; i < pairs->n; i++)
            v[i].rank = -1;
        TM_TRY(find_init_ranks(db, pairs, err));
        drop_repeated(pairs);
    }
    /* The export contains the environment of the program that was launched. If there are several
     * ranks, this is not the environment of any rank. */
    if (pairs->n == 1 && v->rank < 0) {
        tm_environment environment;
        TM_TRY(read_environment(db, &environment, err));
        v->rank = tm_environment_rank(&environment);
        return TM_OK;
    }
    if (any_unknown(pairs))
        for (size_t i = 0; i < pairs->n; i++)
            v[i].rank = -1;
    return TM_OK;
}

/* Makes the units. Each device of a process is assigned to one of the process's units. Devices
 * without kernels are assigned to the first unit. */
static tm_status add_units(const tm_vec *pairs, tm_unit unit, tm_vec *units, tm_error *err) {
    const pair *v = pairs->data;
    for (size_t i = 0; i < pairs->n; i++) {
        uint64_t devices = tm_unit_device(v[i].device), others = 0;
        for (size_t k = 0; k < pairs->n; k++)
            if (k != i && v[k].process == v[i].process)
                others |= tm_unit_device(v[k].device);
        if (v[i].device == NO_GPU)
            devices = 0;
        else if (!has_process(pairs, i, v[i].process))
            devices = ~others;
        unit.process = v[i].process;
        memcpy(&unit.devices, &devices, sizeof devices);
        unit.rank = v[i].rank;
        if (!tm_vec_append(units, &unit, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status is_export(const tm_db *db, bool *is, tm_error *err) {
    static const char *const any[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                      "CUPTI_ACTIVITY_KIND_RUNTIME",
                                      "NVTX_EVENTS",
                                      "TARGET_INFO_SESSION_START_TIME",
                                      "ANALYSIS_DETAILS",
                                      "META_DATA_EXPORT",
                                      "EXPORT_META_DATA"};
    bool has = false;
    TM_TRY(tm_db_has_table(db, "StringIds", is, err));
    for (size_t i = 0; i < sizeof any / sizeof *any && *is && !has; i++)
        TM_TRY(tm_db_has_table(db, any[i], &has, err));
    *is = *is && has;
    return TM_OK;
}

static tm_status list_units(const tm_db *db, bool known, tm_vec *pairs, tm_vec *units,
                            bool *foreign, tm_error *err) {
    tm_nsys_clock clock;
    tm_vec host;
    bool is;
    TM_TRY(is_export(db, &is, err));
    *foreign = !is;
    if (!is)
        return tm_db_fail_unread(db, err);
    TM_TRY(list_pairs(db, pairs, err));
    TM_TRY(list_processes(db, pairs, err));
    if (pairs->n == 0)
        return tm_fail(err, TM_ERR_INPUT, db->path, -1,
                       "this report holds no activity of a process: no kernels, copies, MPI or OS "
                       "calls, or NVTX ranges");
    if (!known || pairs->n > 1)
        TM_TRY(find_ranks(db, pairs, err));
    TM_TRY(tm_nsys_read_clock(db, &clock, err));
    tm_status status = tm_nsys_read_host(db, &host, err);
    uint64_t hash = tm_hash(TM_HASH_BEGIN, host.data, host.n);
    tm_unit unit = {.clock_ns = clock.system_ns >= 0 ? clock.utc_ns - clock.system_ns : -1};
    if (host.n > 0)
        memcpy(&unit.host, &hash, sizeof hash);
    tm_vec_free(&host);
    return status == TM_OK ? add_units(pairs, unit, units, err) : status;
}

tm_status tm_nsys_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                             tm_error *err) {
    tm_db db;
    tm_vec pairs = TM_VEC(pair);
    *foreign = false;
    TM_TRY(tm_db_open(tm_source_path(source), &db, err));
    tm_status status = list_units(&db, known, &pairs, units, foreign, err);
    tm_vec_free(&pairs);
    tm_db_close(&db);
    return status;
}
