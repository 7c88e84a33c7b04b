/* The table memory.owner: memory by the operator or module that allocates it. */
#include "analysis/shared/over_ranks.h"
#include "devices.h"
#include "table/levels.h"
#include "tables.h"

/* Columns with the sums of an owner, relative to the first of them. The part table and the result
 * table have different columns before them. */
enum { CALLS, SELF_COUNT, SELF_BYTES, SELF_INCREASE, COUNT, BYTES, INCREASE, N_SUMS };

#define SUM_COLUMNS                                                                                \
    {"calls", TM_INT, "",                                                                          \
     "Number of calls of the operator or module, over all ranks, including calls that allocated "  \
     "nothing."},                                                                                  \
        {"self_allocations", TM_INT, "",                                                           \
         "Number of allocations in these calls, outside of nested calls of the same level."},      \
        {"self_bytes", TM_INT, "B",                                                                \
         "Sum of the sizes of the allocations counted by self_allocations."},                      \
        {"self_increase_bytes", TM_INT, "B",                                                       \
         "Change of memory by the calls themselves: self_bytes minus the bytes that they freed "   \
         "outside of nested calls."},                                                              \
        {"allocations", TM_INT, "",                                                                \
         "Number of allocations in these calls, including nested calls."},                         \
        {"bytes", TM_INT, "B",                                                                     \
         "Bytes allocated in calls of the operator or module, including nested calls."},           \
    {                                                                                              \
        "increase_bytes", TM_INT, "B",                                                             \
            "Change of memory in these calls: bytes minus the bytes freed in them, including "     \
            "nested calls."                                                                        \
    }

enum { P_LEVEL, P_NAME, P_TYPE, P_RANK, P_SUMS, P_PEAK = P_SUMS + N_SUMS, N_PART };

static const tm_column part_columns[N_PART] = {
    {"level", TM_INT, "", "Level of the owner (tm_owner_level)."},
    {"name", TM_INT, "", "Name id of the owner."},
    {"device_type", TM_INT, "", "Type of the device."},
    {"rank", TM_INT, "", "Global rank."},
    SUM_COLUMNS,
    {"peak_bytes", TM_INT, "B", "Part of self_bytes that was in use at a device's peak."},
};

/* The merge combines the rows of all ranks into a row of memory.owner. */
const tm_table_def tm_memory_owner_part = TM_PART_TABLE(
    "memory.owner_part", "A row for each owner, device type and rank: its part of the shown table.",
    part_columns, P_RANK);

enum { O_LEVEL, O_NAME, O_DEVICE, O_RANKS, O_SUMS, O_PEAK = O_SUMS + N_SUMS, O_PEAK_RANK, N_SHOWN };

static const tm_column columns[N_SHOWN] = {
    TM_LEVEL_COLUMN("operator or module"),
    {"name", TM_TEXT, "",
     "Name of the operator or annotation, or of the module with the profiler's number. Null: "
     "memory that was allocated outside of all operators or modules."},
    {"device", TM_TEXT, "", "Type of device, such as cpu or cuda."},
    {"ranks", TM_INT, "",
     "Number of ranks on which the operator or module allocated or freed memory."},
    SUM_COLUMNS,
    {"peak_bytes", TM_INT, "B",
     "Part of self_bytes that was in use at a device's peak: maximum over ranks. Null if "
     "records have no addresses."},
    {"peak_rank", TM_INT, "", "Rank with the largest peak_bytes; the lowest if there are several."},
};

const tm_table_def tm_memory_owner_def = {
    .name = "memory.owner",
    .doc = "A row for each operator and device type, over all ranks, if the operator allocated or "
           "freed memory; the largest self_bytes come first. Memory that an operator's result "
           "keeps is freed elsewhere, so an increase is not a leak. If the profiler recorded "
           "modules, the same memory also has a row for each module; increase_bytes then shows the "
           "memory that a module's forward calls keep for the backward pass, in which no module is "
           "open.",
    TM_ARRAY(columns, columns),
    .n_keys = O_DEVICE + 1,
    .top = O_SUMS + SELF_BYTES,
};

static const char *const level_words[TM_N_OWNER_LEVELS] = {
    [TM_OWNERS_MODULE] = "module", [TM_OWNERS_OPERATOR] = "operator"};

tm_owner_class *const tm_owner_classes[TM_N_OWNER_LEVELS] = {
    [TM_OWNERS_MODULE] = tm_is_owning_module, [TM_OWNERS_OPERATOR] = tm_is_owning_operator};

/* Adds a row for each owner and type of device. Numbers of devices do not matter, because they
 * differ between ranks. */
tm_status tm_memory_add_owners(const tm_timeline *timeline, tm_owner_level level,
                               const tm_owners *owners, tm_table *part, tm_error *err) {
    const tm_owner_key *keys = owners->keys.keys.data;
    /* Most traces have no modules. Their only row would be that for memory outside of modules. */
    bool any = level != TM_OWNERS_MODULE;
    for (size_t i = 0; i < owners->owners.n; i++)
        any = any || keys[i].name != TM_NO_NAME;
    for (size_t i = 0; any && i < owners->owners.n; i++) {
        const tm_owner *o = (const tm_owner *)owners->owners.data + i;
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[P_LEVEL], level);
        tm_cell_set_int(&row[P_NAME], keys[i].name);
        tm_cell_set_int(&row[P_TYPE], keys[i].device_type);
        tm_cell_set_int(&row[P_RANK], timeline->rank);
        tm_cell_set_int(&row[P_SUMS + CALLS], o->calls);
        tm_cell_set_int(&row[P_SUMS + SELF_COUNT], o->self_allocations);
        tm_cell_set_int(&row[P_SUMS + SELF_BYTES], o->self_bytes);
        tm_cell_set_int(&row[P_SUMS + SELF_INCREASE], o->self_increase);
        tm_cell_set_int(&row[P_SUMS + COUNT], o->allocations);
        tm_cell_set_int(&row[P_SUMS + BYTES], o->bytes);
        tm_cell_set_int(&row[P_SUMS + INCREASE], o->increase);
        if (o->peak_reported)
            tm_cell_set_int(&row[P_PEAK], o->peak_bytes);
    }
    return TM_OK;
}

static tm_status set_owner(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                           tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    char type[32];
    tm_over_ranks peak;
    TM_TRY(tm_over_ranks_column(rows, P_PEAK, &peak, err));
    /* each rank has one row */
    tm_cell_set_int(&row[O_RANKS], (int64_t)(rows->end - rows->first));
    for (int sum = 0; sum < N_SUMS; sum++)
        tm_cell_set_int(&row[O_SUMS + sum], tm_over_ranks_sum(rows, P_SUMS + sum));
    if (peak.ranks > 0) {
        tm_cell_set_int(&row[O_PEAK], peak.max);
        tm_cell_set_int(&row[O_PEAK_RANK], peak.max_rank);
    }
    tm_device_type_text(key[P_TYPE].value.i, type);
    TM_TRY(tm_table_set_text(table, &row[O_DEVICE], type, err));
    TM_TRY(tm_table_set_text(table, &row[O_LEVEL], level_words[key[P_LEVEL].value.i], err));
    tm_text name = tm_names_text(names, (uint32_t)key[P_NAME].value.i);
    /* an empty name stands for memory outside of all owners */
    return name.size > 0 ? tm_table_set_bytes(table, &row[O_NAME], name.bytes, name.size, err)
                         : TM_OK;
}

tm_status tm_memory_merge_owners(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_memory_owner_part, &tm_memory_owner_def, names, tables,
                               set_owner, err);
}
