/* memory.operator and memory.module: memory by the operator or module that allocated it. */
#include "analysis/shared/over_ranks.h"
#include "devices.h"
#include "tables.h"

/* Columns with an owner's sums, relative to the first of them, in the part and the shown table. */
enum { CALLS, SELF_COUNT, SELF_BYTES, SELF_INCREASE, COUNT, BYTES, INCREASE, N_SUMS };

/* @p owner is the word for an owner; @p further describes nested ones. */
#define SUM_COLUMNS(owner, further)                                                                \
    {"calls", TM_INT, "",                                                                          \
     "Number of calls of the " owner " on all ranks, including calls that allocated nothing."},    \
        {"self_allocations", TM_INT, "",                                                           \
         "Number of allocations in these calls, outside of any nested " owner "."},                \
        {"self_bytes", TM_INT, "B", "Bytes of the allocations in self_allocations."},              \
        {"self_increase_bytes", TM_INT, "B",                                                       \
         "self_bytes minus the bytes that the " owner " itself freed."},                           \
        {"allocations", TM_INT, "",                                                                \
         "Number of allocations in these calls, including " further "."},                          \
        {"bytes", TM_INT, "B", "Bytes allocated in these calls, including " further "."}, {        \
        "increase_bytes", TM_INT, "B", "bytes minus the bytes freed within these calls."           \
    }

/* Columns after the sums. */
#define PEAK_COLUMNS                                                                               \
    {"peak_bytes", TM_INT, "B",                                                                    \
     "Part of self_bytes that was allocated at a device's peak: the maximum over ranks. Null if "  \
     "records have no addresses."},                                                                \
    {                                                                                              \
        "peak_rank", TM_INT, "", "Rank with peak_bytes; the lowest if there are several."          \
    }

enum { P_NAME, P_TYPE, P_RANK, P_SUMS, P_PEAK = P_SUMS + N_SUMS, N_PART };

static const tm_column part_columns[N_PART] = {
    {"name", TM_INT, "", "Id of the owner's name."},
    {"device_type", TM_INT, "", "Type of the device."},
    {"rank", TM_INT, "", "Global rank."},
    SUM_COLUMNS("owner", "nested owners"),
    {"peak_bytes", TM_INT, "B", "Part of self_bytes allocated at a device's peak."},
};

/* Keyed by name and device type; rows of all ranks are merged to one row of the shown table. */
#define PART(table)                                                                                \
    {                                                                                              \
        .name = (table),                                                                           \
        .doc = "A row for each owner, device type and rank: its part of the shown table.",         \
        .columns = part_columns, .n_columns = N_PART, .n_keys = 3, .top = -1, .internal = true,    \
        .n_merged = 2                                                                              \
    }

const tm_table_def tm_memory_operator_part = PART("memory.operator_part");
const tm_table_def tm_memory_module_part = PART("memory.module_part");

enum { O_OWNER, O_DEVICE, O_RANKS, O_SUMS, O_PEAK = O_SUMS + N_SUMS, O_PEAK_RANK, N_SHOWN };

static const tm_column operator_columns[N_SHOWN] = {
    {"operator", TM_TEXT, "",
     "Name of the operator or annotation; null for memory that was allocated outside of all."},
    {"device", TM_TEXT, "", "Type of the device: cpu, cuda, ..."},
    {"ranks", TM_INT, "", "Number of ranks on which the operator allocated or freed memory."},
    SUM_COLUMNS("operator", "nested operators"),
    PEAK_COLUMNS,
};

static const tm_column module_columns[N_SHOWN] = {
    {"module", TM_TEXT, "",
     "Name of the module with the profiler's number; null for memory that was allocated outside of "
     "all modules."},
    {"device", TM_TEXT, "", "Type of the device: cpu, cuda, ..."},
    {"ranks", TM_INT, "", "Number of ranks on which the module allocated or freed memory."},
    SUM_COLUMNS("module", "nested modules"),
    PEAK_COLUMNS,
};

const tm_table_def tm_memory_operator_def = {
    .name = "memory.operator",
    .doc = "A row for each operator and device type, over all ranks, if the operator allocated or "
           "freed memory; the largest self_bytes come first. Memory that an operator's result "
           "keeps is freed elsewhere, so an increase is not a leak.",
    .columns = operator_columns,
    .n_columns = N_SHOWN,
    .n_keys = 2,
    .top = O_SUMS + SELF_BYTES,
};

const tm_table_def tm_memory_module_def = {
    .name = "memory.module",
    .doc = "A row for each module and device type, over all ranks, if the module allocated or "
           "freed memory in its forward calls; the largest self_bytes come first. Only if the "
           "profiler recorded modules. increase_bytes shows the memory that a module's calls keep "
           "for the backward pass, in which no module is open.",
    .columns = module_columns,
    .n_columns = N_SHOWN,
    .n_keys = 2,
    .top = O_SUMS + SELF_BYTES,
};

const tm_owner_table tm_memory_owner_tables[TM_N_OWNER_TABLES] = {
    [TM_OWNERS_OPERATOR] = {&tm_memory_operator_part, &tm_memory_operator_def,
                            tm_is_owning_operator},
    [TM_OWNERS_MODULE] = {&tm_memory_module_part, &tm_memory_module_def, tm_is_owning_module},
};

/* Owners are merged over ranks by device type only, as device numbers differ between ranks. */
tm_status tm_memory_add_owners(const tm_timeline *timeline, const tm_owners *owners, tm_table *part,
                               tm_error *err) {
    const tm_owner_key *keys = owners->keys.keys.data;
    /* most traces have no modules: a row only for memory outside of modules would be useless */
    bool any = part->def != &tm_memory_module_part;
    for (size_t i = 0; i < owners->owners.n; i++)
        any = any || keys[i].name != TM_NO_NAME;
    for (size_t i = 0; any && i < owners->owners.n; i++) {
        const tm_owner *o = (const tm_owner *)owners->owners.data + i;
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return tm_fail_memory(err);
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
        if (o->peak_told)
            tm_cell_set_int(&row[P_PEAK], o->peak_bytes);
    }
    return TM_OK;
}

/* A rank has one row per key, so the number of ranks is that of rows. */
tm_status tm_memory_merge_owners(const tm_names *names, const tm_owner_table *which,
                                 tm_tables *tables, tm_error *err) {
    const tm_table *part = tm_tables_find(tables, which->part->name);
    tm_table *table = tm_tables_find(tables, which->shown->name);
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        char type[32];
        tm_over_ranks peak;
        end = tm_over_ranks_end(part, first);
        TM_TRY(tm_over_ranks_column(part, first, end, P_PEAK, &peak, err));
        const tm_cell *key = tm_table_row(part, first);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[O_RANKS], (int64_t)(end - first));
        for (int sum = 0; sum < N_SUMS; sum++)
            tm_cell_set_int(&row[O_SUMS + sum], tm_over_ranks_sum(part, first, end, P_SUMS + sum));
        if (peak.ranks > 0) {
            tm_cell_set_int(&row[O_PEAK], peak.max);
            tm_cell_set_int(&row[O_PEAK_RANK], peak.max_rank);
        }
        tm_device_type_text(key[P_TYPE].value.i, type);
        TM_TRY(tm_table_set_text(table, &row[O_DEVICE], type, err));
        tm_text name = tm_names_text(names, (uint32_t)key[P_NAME].value.i);
        /* the empty name stands for memory outside of all owners */
        if (name.size > 0)
            TM_TRY(tm_table_set_bytes(table, &row[O_OWNER], name.bytes, name.size, err));
    }
    return TM_OK;
}
