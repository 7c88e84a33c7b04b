#include "rocpd_document.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "identity/environment.h"

/* A set is recognised by this table. Its other tables depend on its version. */
#define PROCESSES "rocpd_info_process"

static bool is_suffix(const char *text) {
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t size = strlen(text);
    return size < TM_ROCPD_SUFFIX_MAX && strspn(text, allowed) == size;
}

/* Lists the sets, sorted by their suffixes. A suffix begins with the start time of the process. */
static tm_status list_sets(const tm_db *db, tm_vec *sets, tm_error *err) {
    sqlite3_stmt *scan;
    bool row = true;
    TM_TRY(tm_db_prepare(db,
                         "SELECT substr(name, 19) FROM sqlite_master WHERE type = 'table' AND "
                         "name GLOB '" PROCESSES "*' ORDER BY name",
                         &scan, err));
    tm_status status = tm_db_step(db, scan, &row, err);
    for (; status == TM_OK && row; status = tm_db_step(db, scan, &row, err)) {
        const char *suffix = (const char *)sqlite3_column_text(scan, 0);
        tm_rocpd_set set = {""};
        if (!suffix || !is_suffix(suffix))
            continue;
        memcpy(set.suffix, suffix, strlen(suffix));
        if (!tm_vec_append(sets, &set, 1)) {
            status = tm_fail_memory(err);
            break;
        }
    }
    sqlite3_finalize(scan);
    return status;
}

bool tm_rocpd_accepts(const char *path) {
    tm_vec sets = TM_VEC(tm_rocpd_set);
    tm_db db;
    if (tm_db_open(path, &db, NULL) != TM_OK)
        return false;
    bool is = list_sets(&db, &sets, NULL) == TM_OK && sets.n > 0;
    tm_vec_free(&sets);
    tm_db_close(&db);
    return is;
}

static void add_suffix(const tm_rocpd_document *d, const char *sql, char *out, size_t size) {
    size_t n = 0, suffix = strlen(d->set->suffix);
    for (; *sql != '\0' && n + suffix + 1 < size; sql++) {
        memcpy(out + n, *sql == '@' ? d->set->suffix : sql, *sql == '@' ? suffix : 1);
        n += *sql == '@' ? suffix : 1;
    }
    out[n] = '\0';
}

tm_status tm_rocpd_select(const tm_rocpd_document *d, const char *table,
                          const tm_db_statement *statement, tm_db_each *each, void *context,
                          tm_error *err) {
    char text[2048], name[128];
    bool has = true;
    if (table) {
        snprintf(name, sizeof name, "%s%s", table, d->set->suffix);
        TM_TRY(tm_db_has_table(&d->db, name, &has, err));
    }
    if (!has)
        return TM_OK;
    add_suffix(d, statement->sql, text, sizeof text);
    return tm_db_select(&d->db, &(tm_db_statement){text, statement->n_columns, d->process}, each,
                        context, err);
}

int64_t tm_rocpd_rows(const tm_rocpd_document *d, const char *table) {
    char name[128];
    snprintf(name, sizeof name, "\"%s%s\"", table, d->set->suffix);
    return tm_db_last_row(&d->db, name);
}

typedef struct version {
    char text[32];
    bool packed;
} version;

static tm_status each_metadata(void *context, sqlite3_value **values, tm_error *err) {
    version *v = context;
    const char *tag = tm_db_text(values[0]).bytes;
    const unsigned char *value = sqlite3_value_text(values[1]);
    (void)err;
    if (strcmp(tag, "schema_version") == 0 && value)
        snprintf(v->text, sizeof v->text, "%s", (const char *)value);
    v->packed |= strcmp(tag, "compression") == 0;
    return TM_OK;
}

/* Fails for version 4, which has other columns in tables of the same names. */
static tm_status check_version(const tm_rocpd_document *d, tm_error *err) {
    version v = {.text = "3"};
    TM_TRY(tm_rocpd_select(
        d, "rocpd_metadata",
        &(tm_db_statement){"SELECT take_row(tag, value) FROM \"rocpd_metadata@\"", 2, 0},
        each_metadata, &v, err));
    if (v.text[0] == '3' && (v.text[1] == '\0' || v.text[1] == '.') && !v.packed)
        return TM_OK;
    for (char *c = v.text; *c != '\0'; c++)
        *c = *c > ' ' && *c <= '~' ? *c : '?';
    return tm_fail(err, TM_ERR_INPUT, d->db.path, -1,
                   "the schema of this rocpd database is version %s%s, but tmerge reads version 3: "
                   "give the JSON of rocprofv3 --output-format json",
                   v.text, v.packed ? " with compressed columns" : "");
}

static bool keep(tm_rocprof_tables *t, sqlite3_value *value, tm_rocprof_text *out) {
    tm_text text = tm_db_text(value);
    return tm_rocprof_keep(t, text.bytes, text.size, out);
}

static int64_t number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    const double most = 1125899906842624.0; /* 2^50 */
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < most
               ? (int64_t)item->valuedouble
               : -1;
}

/* Returns the size of a GPU's memory [bytes]: the sum of its public and private frame buffer
 * heaps. */
static int64_t memory_of(const cJSON *agent) {
    enum { FRAME_BUFFER_PUBLIC = 1, FRAME_BUFFER_PRIVATE = 2 };
    const cJSON *bank, *banks = cJSON_GetObjectItemCaseSensitive(agent, "mem_banks");
    int64_t sum = 0;
    cJSON_ArrayForEach(bank, banks) {
        int64_t heap = number_of(bank, "heap_type"), bytes = number_of(bank, "size_in_bytes");
        if (bytes > 0 && sum < INT64_C(1) << 60 &&
            (heap == FRAME_BUFFER_PUBLIC || heap == FRAME_BUFFER_PRIVATE))
            sum += bytes;
    }
    return sum > 0 ? sum : -1;
}

static tm_status each_agent(void *context, sqlite3_value **values, tm_error *err) {
    enum { ID, TYPE, DEVICE, PRODUCT, NAME, EXTRA };
    tm_rocpd_document *d = context;
    tm_text extra = tm_db_text(values[EXTRA]);
    cJSON *more = cJSON_ParseWithLength(extra.bytes, extra.size);
    tm_rocprof_agent agent = {.handle = (uint64_t)tm_db_int(values, ID, 0),
                              .gpu = strcmp(tm_db_text(values[TYPE]).bytes, "GPU") == 0,
                              .device = -1,
                              .units = number_of(more, "cu_count"),
                              .wave = number_of(more, "wave_front_size"),
                              .bytes = memory_of(more)};
    cJSON_Delete(more);
    if (agent.gpu)
        agent.device = tm_db_int(values, DEVICE, -1);
    int name = tm_db_text(values[PRODUCT]).size > 0 ? PRODUCT : NAME;
    return keep(&d->tables, values[name], &agent.name) &&
                   tm_vec_append(&d->tables.agents, &agent, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status each_kernel(void *context, sqlite3_value **values, tm_error *err) {
    enum { ID, DISPLAYED, NAME, VGPRS, ACCUMULATION };
    tm_rocpd_document *d = context;
    int64_t vgprs = tm_db_int(values, VGPRS, -1), more = tm_db_int(values, ACCUMULATION, -1);
    tm_rocprof_entry kernel = {.id = (uint64_t)tm_db_int(values, ID, 0)};
    vgprs = vgprs < 0 || vgprs > INT32_MAX ? -1 : vgprs;
    kernel.registers =
        tm_narrow_i32(vgprs > 0 && more > 0 && more < INT32_MAX ? vgprs + more : vgprs);
    int name = tm_db_text(values[DISPLAYED]).size > 0 ? DISPLAYED : NAME;
    return keep(&d->tables, values[name], &kernel.text) &&
                   tm_vec_append(&d->tables.kernels.entries, &kernel, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Classifies a category. rocprofv3 names categories after kinds of records (HIP_RUNTIME_API_EXT).
 * rocprof-sys has names of its own (rocm_hip_api). Categories of sampled stacks are not calls. */
static uint8_t class_of(const tm_rocprof_tables *t, const tm_rocprof_text *text) {
    static const struct {
        const char *word;
        uint8_t list;
    } classes[] = {{"MARKER", L_MARKER}, {"marker", L_MARKER}, {"RCCL", L_RCCL},
                   {"rccl", L_RCCL},     {"HIP", L_HIP},       {"hip", L_HIP},
                   {"HSA", L_HSA},       {"hsa", L_HSA},       {"sampling", L_SAMPLES}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (tm_rocprof_holds(t, text, classes[i].word))
            return classes[i].list;
    return L_OTHER;
}

static const char *const words[TM_ROCPD_WORDS] = {
    [TM_ROCPD_MARK] = "roctxMarkA",
    [TM_ROCPD_ALLOCATE] = "MEMORY_ALLOCATION_ALLOCATE",
    [TM_ROCPD_FREE] = "MEMORY_ALLOCATION_FREE",
    [TM_ROCPD_SCRATCH_ALLOCATE] = "SCRATCH_MEMORY_ALLOC",
    [TM_ROCPD_SCRATCH_FREE] = "SCRATCH_MEMORY_FREE",
    [TM_ROCPD_SCRATCH_RECLAIM] = "SCRATCH_MEMORY_ASYNC_RECLAIM",
};

static tm_status read_strings(tm_rocpd_document *d, tm_error *err) {
    char sql[256];
    add_suffix(
        d,
        "SELECT take_row(id, string) FROM (SELECT id, string FROM \"rocpd_string@\" ORDER BY id)",
        sql, sizeof sql);
    TM_TRY(tm_rocpd_read_strings(&d->db, sql, &d->tables, &d->strings, err));
    const tm_rocprof_text *v = d->tables.operations.data;
    d->classes.n = 0;
    for (size_t i = 0; i < d->strings.ids.n; i++) {
        uint8_t class = class_of(&d->tables, &v[i]);
        if (!tm_vec_append(&d->classes, &class, 1))
            return tm_fail_memory(err);
    }
    for (int i = 0; i < TM_ROCPD_WORDS; i++) {
        d->words[i] = tm_rocpd_add_string(&d->strings, words[i]);
        if (d->words[i] < 0)
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status each_process(void *context, sqlite3_value **values, tm_error *err) {
    enum { PID, HOST, ENVIRONMENT };
    tm_rocprof_tables *t = context;
    tm_text text = tm_db_text(values[ENVIRONMENT]);
    tm_environment environment;
    cJSON *all = cJSON_ParseWithLength(text.bytes, text.size);
    const cJSON *one;
    tm_environment_init(&environment);
    cJSON_ArrayForEach(one, all) if (one->string && cJSON_IsString(one))
        tm_environment_take(&environment, one->string, strlen(one->string), one->valuestring);
    cJSON_Delete(all);
    t->pid = tm_db_int(values, PID, -1);
    t->rank = tm_environment_rank(&environment);
    t->world_size = tm_environment_world_size(&environment);
    return keep(t, values[HOST], &t->host) ? TM_OK : tm_fail_memory(err);
}

/* Reads the tables that the current process's records refer to. Ids are unique within a set. */
static tm_status read_tables(tm_rocpd_document *d, tm_error *err) {
    TM_TRY(tm_rocpd_select(
        d, NULL,
        &(tm_db_statement){"SELECT take_row(P.pid, N.hostname, P.environment) FROM "
                           "\"" PROCESSES "@\" P LEFT JOIN \"rocpd_info_node@\" N ON N.id = P.nid "
                           "WHERE P.id = ?1",
                           3, 0},
        each_process, &d->tables, err));
    TM_TRY(tm_rocpd_select(
        d, NULL,
        &(tm_db_statement){"SELECT take_row(id, type, type_index, product_name, name, extdata) "
                           "FROM \"rocpd_info_agent@\" WHERE pid = ?1",
                           6, 0},
        each_agent, d, err));
    if (d->sink->devices_alone)
        return TM_OK;
    TM_TRY(read_strings(d, err));
    return tm_rocpd_select(
        d, NULL,
        &(tm_db_statement){"SELECT take_row(id, display_name, kernel_name, arch_vgpr_count, "
                           "accum_vgpr_count) FROM \"rocpd_info_kernel_symbol@\"",
                           5, 0},
        each_kernel, d, err);
}

static tm_status read_process(tm_rocpd_document *d, int64_t number, tm_error *err) {
    tm_rocprof_tables_clear(&d->tables);
    TM_TRY(read_tables(d, err));
    TM_TRY(tm_rocpd_read_records(d, err));
    return d->sink->end(d->sink->context, &d->tables, number) ? TM_OK : tm_fail_memory(err);
}

static tm_status each_id(void *context, sqlite3_value **values, tm_error *err) {
    int64_t id = tm_db_int(values, 0, 0);
    return tm_vec_append(context, &id, 1) ? TM_OK : tm_fail_memory(err);
}

/*
 * Reads the processes of a set.
 *
 * @param number  number of the first process of the set; the number of processes of the set is
 *                added to it
 */
static tm_status read_set(tm_rocpd_document *d, int64_t *number, tm_error *err) {
    tm_vec ids = TM_VEC(int64_t);
    TM_TRY(check_version(d, err));
    tm_status status = tm_rocpd_select(
        d, NULL,
        &(tm_db_statement){
            "SELECT take_row(id) FROM (SELECT id FROM \"" PROCESSES "@\" ORDER BY id)", 1, 0},
        each_id, &ids, err);
    const int64_t *v = ids.data;
    for (size_t i = 0; i < ids.n && status == TM_OK; i++, ++*number)
        if (d->sink->process < 0 || d->sink->process == *number) {
            d->process = v[i];
            status = read_process(d, *number, err);
            tm_rocpd_strings_free(&d->strings);
        }
    tm_vec_free(&ids);
    return status;
}

static tm_status read_all(tm_rocpd_document *d, tm_error *err) {
    tm_vec sets = TM_VEC(tm_rocpd_set);
    int64_t number = 0;
    tm_status status = list_sets(&d->db, &sets, err);
    const tm_rocpd_set *v = sets.data;
    for (size_t i = 0; i < sets.n && status == TM_OK; i++) {
        d->set = &v[i];
        status = read_set(d, &number, err);
    }
    tm_vec_free(&sets);
    if (status == TM_OK && number == 0)
        return tm_fail(err, TM_ERR_INPUT, d->db.path, -1,
                       "this rocpd database names no process, so writing it was not completed");
    return status;
}

tm_status tm_rocpd_document_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                                 tm_error *err) {
    tm_rocpd_document *d = calloc(1, sizeof *d);
    *cut = false;
    if (!d)
        return tm_fail_memory(err);
    d->source = source;
    d->sink = sink;
    d->classes = TM_VEC(uint8_t);
    d->strings.ids = TM_VEC(int64_t);
    tm_rocprof_tables_init(&d->tables);
    tm_status status = tm_db_open(tm_source_path(source), &d->db, err);
    if (status == TM_OK)
        status = read_all(d, err);
    tm_db_close(&d->db);
    tm_rocprof_tables_free(&d->tables);
    tm_vec_free(&d->classes);
    free(d);
    return status;
}
