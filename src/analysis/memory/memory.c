/* Analysis `memory`: what is allocated, when, and by which operators. */
#include "tmerge/analysis.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/shared/over_ranks.h"
#include "base/median.h"
#include "devices.h"
#include "levels.h"
#include "owners.h"
#include "passes.h"
#include "tables.h"

enum {
    D_RANK,
    D_DEVICE,
    D_ALLOCATIONS,
    D_RELEASES,
    D_RELATIVE,
    D_BEGIN,
    D_END,
    D_PEAK,
    D_PEAK_TIME,
    D_PEAK_STEP,
    D_PEAK_OPERATOR,
    D_RESERVED,
    D_FRAGMENTATION,
    D_CAPACITY,
    D_CAPACITY_PCT,
    D_GROWTH,
    D_GROWING,
    N_DEVICE_COLUMNS
};

static const tm_column device_columns[N_DEVICE_COLUMNS] = {
    [D_RANK] = {"rank", TM_INT, "", "Global rank."},
    [D_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [D_ALLOCATIONS] = {"allocations", TM_INT, "", "[memory] records that take memory."},
    [D_RELEASES] = {"releases", TM_INT, "", "Those that give it back."},
    [D_RELATIVE] = {"relative", TM_BOOL, "",
                    "The trace has no totals (before PyTorch 1.10): bytes count from 0 at its "
                    "first record."},
    [D_BEGIN] = {"begin_bytes", TM_INT, "B", "Allocated before the first record."},
    [D_END] = {"end_bytes", TM_INT, "B", "Allocated behind the last."},
    [D_PEAK] = {"peak_bytes", TM_INT, "B", "The most that was allocated (Total Allocated)."},
    [D_PEAK_TIME] = {"peak_time_ns", TM_INT, "ns",
                     "When that was first, since the epoch, on the rank's own clock."},
    [D_PEAK_STEP] = {"peak_step", TM_INT, "", "In which step; null for none."},
    [D_PEAK_OPERATOR] = {"peak_operator", TM_TEXT, "",
                         "The innermost operator or annotation that allocated then; null outside "
                         "of all."},
    [D_RESERVED] = {"peak_reserved_bytes", TM_INT, "B",
                    "The most that the allocator held of the device (Total Reserved)."},
    [D_FRAGMENTATION] = {"fragmentation_pct", TM_REAL, "%",
                         "100 (1 - peak_bytes / peak_reserved_bytes): held and never used."},
    [D_CAPACITY] = {"capacity_bytes", TM_INT, "B", "Memory of the device (totalGlobalMem)."},
    [D_CAPACITY_PCT] =
        {"capacity_pct", TM_REAL, "%",
         "100 peak_reserved_bytes / capacity_bytes. 85 to 95 is well used; above, what other "
         "libraries hold besides may not fit."},
    [D_GROWTH] = {"growth_bytes", TM_INT, "B",
                  "Median of memory.step.growth_bytes over the steps but the first: above 0 in "
                  "step after step is a leak. Null with fewer than 2 steps."},
    [D_GROWING] = {"growing_steps", TM_INT, "", "Of these steps, those that grew."},
};

static const tm_table_def device_def = {
    .name = "memory.device",
    .doc = "A row for each rank and device of which [memory] was recorded.",
    .columns = device_columns,
    .n_columns = N_DEVICE_COLUMNS,
    .n_keys = 2,
    .top = D_PEAK,
};

enum { C_RANK, C_DEVICE, C_TIME, C_ALLOCATED, C_RESERVED, N_CURVE_COLUMNS };

static const tm_column curve_columns[N_CURVE_COLUMNS] = {
    [C_RANK] = {"rank", TM_INT, "", "Global rank."},
    [C_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [C_TIME] = {"time_ns", TM_INT, "ns", "Aligned time since the epoch."},
    [C_ALLOCATED] = {"allocated_bytes", TM_INT, "B", "Allocated from then on."},
    [C_RESERVED] = {"reserved_bytes", TM_INT, "B", "Held by the allocator from then on."},
};

static const tm_table_def curve_def = {
    .name = "memory.curve",
    .doc = "Points of each rank's and device's memory over time. Of over 384, those with the "
           "least and most allocated and the most reserved of each 128th of the time: every peak "
           "is there.",
    .columns = curve_columns,
    .n_columns = N_CURVE_COLUMNS,
    .n_keys = 3,
    .top = C_ALLOCATED,
    .form = TM_FORM_LINE,
};

enum { S_RANK, S_DEVICE, S_STEP, S_ALLOCATED, S_PEAK, S_RESERVED, S_END, S_GROWTH, N_STEP_COLUMNS };

static const tm_column step_columns[N_STEP_COLUMNS] = {
    [S_RANK] = {"rank", TM_INT, "", "Global rank."},
    [S_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [S_STEP] = {"step", TM_INT, "", "Number of the step that holds the records."},
    [S_ALLOCATED] = {"allocated_bytes", TM_INT, "B", "Sum of all allocations in the step."},
    [S_PEAK] = {"peak_bytes", TM_INT, "B", "The most that was allocated in it."},
    [S_RESERVED] = {"peak_reserved_bytes", TM_INT, "B", "The most that was reserved in it."},
    [S_END] = {"end_bytes", TM_INT, "B", "Allocated behind its last record."},
    [S_GROWTH] = {"growth_bytes", TM_INT, "B",
                  "end_bytes less that of the step before (of the first: less what was allocated "
                  "before the trace's first record)."},
};

static const tm_table_def step_def = {
    .name = "memory.step",
    .doc = "A row for each rank, device and step with [memory] records.",
    .columns = step_columns,
    .n_columns = N_STEP_COLUMNS,
    .n_keys = 3,
    .top = S_GROWTH,
};

/* Columns of an operator's sums, in the part and in the table, from their first on. */
enum { CALLS, SELF_COUNT, SELF_BYTES, SELF_INCREASE, COUNT, BYTES, INCREASE, N_SUMS };

#define SUM_COLUMNS                                                                                \
    {"calls", TM_INT, "", "Calls of it on all ranks, also those that took nothing."},              \
        {"self_allocations", TM_INT, "", "Allocations with no operator further in."},              \
        {"self_bytes", TM_INT, "B", "Sum of these allocations."},                                  \
        {"self_increase_bytes", TM_INT, "B", "self_bytes less what it gave back itself."},         \
        {"allocations", TM_INT, "", "Allocations by it and all that it called."},                  \
        {"bytes", TM_INT, "B", "Sum of these allocations."}, {                                     \
        "increase_bytes", TM_INT, "B", "bytes less what was given back within it."                 \
    }

enum { P_NAME, P_TYPE, P_RANK, P_SUMS };

static const tm_column part_columns[] = {
    {"name", TM_INT, "", "Id of the operator's name."},
    {"device_type", TM_INT, "", "Type of the device."},
    {"rank", TM_INT, "", "Global rank."},
    SUM_COLUMNS,
};

/* By name and type of device: the rows of all ranks make one of memory.operator. */
static const tm_table_def part_def = {
    .name = "memory.operator_part",
    .doc = "A row for each operator, type of device and rank: its part of memory.operator.",
    .columns = part_columns,
    .n_columns = P_SUMS + N_SUMS,
    .n_keys = 3,
    .top = -1,
    .internal = true,
    .n_merged = 2,
};

enum { O_OPERATOR, O_DEVICE, O_RANKS, O_SUMS };

static const tm_column operator_columns[] = {
    {"operator", TM_TEXT, "", "Operator or annotation; null for memory taken outside of all."},
    {"device", TM_TEXT, "", "Type of the device: cpu, cuda, ..."},
    {"ranks", TM_INT, "", "Ranks on which it took or gave back memory."},
    SUM_COLUMNS,
};

static const tm_table_def operator_def = {
    .name = "memory.operator",
    .doc = "A row for each operator that took or gave back memory, by type of device, over all "
           "ranks, the largest self_bytes first. Memory that an operator's result keeps is given "
           "back elsewhere, so an increase is no leak.",
    .columns = operator_columns,
    .n_columns = O_SUMS + N_SUMS,
    .n_keys = 2,
    .top = O_SUMS + SELF_BYTES,
};

static const tm_table_def *const defs[] = {&device_def,
                                           &curve_def,
                                           &operator_def,
                                           &step_def,
                                           &tm_memory_category_def,
                                           &tm_memory_category_curve_def,
                                           &tm_memory_live_def,
                                           &part_def};

/* Adds the rows of a device's steps, and collects the growth of all but the first, in which caches
 * fill and optimizers make their states. */
static tm_status add_steps(const tm_timeline *timeline, const tm_device_levels *d, tm_table *table,
                           tm_vec *growths, tm_error *err) {
    int64_t before = d->begin_bytes;
    bool first = true;
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_memory_step *s = (const tm_memory_step *)d->steps.data + i;
        int64_t growth = s->end_bytes - before;
        if (s->records == 0)
            continue;
        tm_cell *row = tm_table_add_row(table);
        if (!row || (!first && !tm_vec_append(growths, &growth, 1)))
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_RANK], timeline->rank);
        tm_cell_set_int(&row[S_STEP], timeline->steps[i].number);
        tm_cell_set_int(&row[S_ALLOCATED], s->allocated_bytes);
        tm_cell_set_int(&row[S_PEAK], s->peak_bytes);
        if (s->peak_reserved_bytes >= 0)
            tm_cell_set_int(&row[S_RESERVED], s->peak_reserved_bytes);
        tm_cell_set_int(&row[S_END], s->end_bytes);
        tm_cell_set_int(&row[S_GROWTH], growth);
        TM_TRY(tm_device_set_text(d->type, d->device, table, &row[S_DEVICE], err));
        before = s->end_bytes;
        first = false;
    }
    return TM_OK;
}

/* The median, for one step may take a lot and give it back in the next. */
static void set_growth(tm_cell *row, tm_vec *growths) {
    int64_t *v = growths->data, growing = 0;
    if (growths->n == 0)
        return;
    for (size_t i = 0; i < growths->n; i++)
        growing += v[i] > 0;
    tm_cell_set_int(&row[D_GROWTH], tm_median_any(v, growths->n));
    tm_cell_set_int(&row[D_GROWING], growing);
}

/* Levels are whole here; `capacity` is not above 0 where nobody tells it. */
static void set_totals(tm_cell *row, const tm_device_levels *d, int64_t capacity) {
    const tm_memory_level *v = d->levels.data;
    int64_t peak = v[d->peak].allocated_bytes, reserved = d->peak_reserved_bytes;
    tm_cell_set_int(&row[D_ALLOCATIONS], d->allocations);
    tm_cell_set_int(&row[D_RELEASES], d->releases);
    tm_cell_set_bool(&row[D_RELATIVE], d->relative);
    tm_cell_set_int(&row[D_BEGIN], d->begin_bytes);
    tm_cell_set_int(&row[D_END], v[d->levels.n - 1].allocated_bytes);
    tm_cell_set_int(&row[D_PEAK], peak);
    tm_cell_set_int(&row[D_PEAK_TIME], v[d->peak].time_ns);
    if (reserved > 0) { /* of the CPU it is always 0 */
        tm_cell_set_int(&row[D_RESERVED], reserved);
        tm_cell_set_ratio(&row[D_FRAGMENTATION], 100.0, reserved - peak, reserved);
    }
    if (capacity > 0) {
        tm_cell_set_int(&row[D_CAPACITY], capacity);
        if (reserved > 0)
            tm_cell_set_ratio(&row[D_CAPACITY_PCT], 100.0, reserved, capacity);
    }
}

/* One device's row; `op` is what allocated when most was taken. */
static tm_status add_device(const tm_rank_view *view, const tm_device_levels *d, uint32_t op,
                            tm_vec *growths, tm_table *table, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    set_totals(row, d, d->type == 0 ? -1 : tm_device_memory(timeline, view->names, d->device));
    set_growth(row, growths);
    tm_cell_set_int(&row[D_RANK], timeline->rank);
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    const tm_memory_level *levels = d->levels.data;
    int32_t step = timeline->step[records[levels[d->peak].record].event];
    if (step != TM_NO_STEP)
        tm_cell_set_int(&row[D_PEAK_STEP], timeline->steps[step].number);
    tm_text name = tm_names_text(view->names, op);
    if (op != TM_NO_NAME)
        TM_TRY(tm_table_set_bytes(table, &row[D_PEAK_OPERATOR], name.bytes, name.size, err));
    return tm_device_set_text(d->type, d->device, table, &row[D_DEVICE], err);
}

static tm_status add_curve(const tm_timeline *timeline, tm_device_levels *d, tm_table *table,
                           tm_error *err) {
    tm_memory_levels_thin(&d->levels);
    for (size_t i = 0; i < d->levels.n; i++) {
        const tm_memory_level *level = (const tm_memory_level *)d->levels.data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[C_RANK], timeline->rank);
        tm_cell_set_int(&row[C_TIME], tm_rank_clock_true(&timeline->clock, level->time_ns));
        tm_cell_set_int(&row[C_ALLOCATED], level->allocated_bytes);
        if (level->reserved_bytes >= 0)
            tm_cell_set_int(&row[C_RESERVED], level->reserved_bytes);
        TM_TRY(tm_device_set_text(d->type, d->device, table, &row[C_DEVICE], err));
    }
    return TM_OK;
}

/* Operators of all ranks are brought together by the type of device alone: numbers differ by
 * rank. */
static tm_status add_owners(const tm_timeline *timeline, const tm_owners *owners, tm_table *table,
                            tm_error *err) {
    const tm_owner_key *keys = owners->keys.keys.data;
    for (size_t i = 0; i < owners->owners.n; i++) {
        const tm_owner *o = (const tm_owner *)owners->owners.data + i;
        tm_cell *row = tm_table_add_row(table);
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
    }
    return TM_OK;
}

/* What blocks tell, of the devices whose records have addresses. */
static tm_status add_blocks(const tm_rank_view *view, const tm_vec *devices,
                            const tm_scopes *scopes, const tm_vec *passes, tm_tables *out,
                            tm_error *err) {
    tm_status status = TM_OK;
    for (size_t i = 0; i < devices->n && status == TM_OK; i++) {
        const tm_device_levels *d = (const tm_device_levels *)devices->data + i;
        tm_blocks blocks;
        if (!tm_blocks_are_told(view->timeline, d))
            continue;
        status = tm_blocks_find(view, d, scopes, passes, &blocks, err);
        if (status == TM_OK)
            status = tm_memory_add_categories(view->timeline, d, &blocks, out, err);
        if (status == TM_OK)
            status = tm_memory_add_live(view, d, scopes, &blocks, out, err);
        tm_blocks_free(&blocks);
    }
    return status;
}

static tm_status find_blocks(const tm_rank_view *view, const tm_vec *devices, tm_tables *out,
                             tm_error *err) {
    tm_scopes scopes;
    tm_vec passes = TM_VEC(tm_backward_pass);
    tm_status status = tm_scopes_find(view, &scopes, err);
    if (status == TM_OK)
        status = tm_backward_passes_find(view, &passes, err);
    if (status == TM_OK)
        status = add_blocks(view, devices, &scopes, &passes, out, err);
    tm_scopes_free(&scopes);
    tm_vec_free(&passes);
    return status;
}

static tm_status add_devices(const tm_rank_view *view, tm_vec *devices, const tm_owners *owners,
                             tm_tables *out, tm_error *err) {
    tm_vec growths = TM_VEC(int64_t);
    tm_status status = TM_OK;
    for (size_t i = 0; i < devices->n && status == TM_OK; i++) {
        tm_device_levels *d = (tm_device_levels *)devices->data + i;
        const tm_memory_level *peak = (const tm_memory_level *)d->levels.data + d->peak;
        growths.n = 0;
        status = add_steps(view->timeline, d, tm_tables_find(out, step_def.name), &growths, err);
        if (status == TM_OK)
            status = add_device(view, d, owners->of[peak->record], &growths,
                                tm_tables_find(out, device_def.name), err);
        if (status == TM_OK)
            /* Last, for it thins the levels, in which the peak has its place. */
            status = add_curve(view->timeline, d, tm_tables_find(out, curve_def.name), err);
    }
    tm_vec_free(&growths);
    return status;
}

static tm_status memory_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_owners owners;
    tm_vec devices = TM_VEC(tm_device_levels);
    if (view->timeline->n_attrs[TM_ATTR_MEMORY] == 0)
        return TM_OK;
    tm_status status = tm_owners_find(view, &owners, err);
    if (status == TM_OK)
        status = tm_memory_levels_find(view->timeline, &devices, err);
    if (status == TM_OK)
        status = find_blocks(view, &devices, out, err);
    if (status == TM_OK)
        status = add_devices(view, &devices, &owners, out, err);
    if (status == TM_OK)
        status = add_owners(view->timeline, &owners, tm_tables_find(out, part_def.name), err);
    tm_memory_levels_free(&devices);
    tm_owners_free(&owners);
    return status;
}

/* A rank has one row of a key, so there are as many ranks as rows. */
static tm_status memory_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    const tm_table *part = tm_tables_find(tables, part_def.name);
    tm_table *table = tm_tables_find(tables, operator_def.name);
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        char type[32];
        end = tm_over_ranks_end(part, first);
        const tm_cell *key = tm_table_row(part, first);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[O_RANKS], (int64_t)(end - first));
        for (int sum = 0; sum < N_SUMS; sum++)
            tm_cell_set_int(&row[O_SUMS + sum], tm_over_ranks_sum(part, first, end, P_SUMS + sum));
        tm_device_type_text(key[P_TYPE].value.i, type);
        TM_TRY(tm_table_set_text(table, &row[O_DEVICE], type, err));
        tm_text name = tm_names_text(names, (uint32_t)key[P_NAME].value.i);
        /* The empty name stands for what no operator took. */
        if (name.size > 0)
            TM_TRY(tm_table_set_bytes(table, &row[O_OPERATOR], name.bytes, name.size, err));
    }
    return TM_OK;
}

static tm_status memory_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    (void)err;
    tm_table_top(tm_tables_find(out, operator_def.name), SIZE_MAX); /* the largest first */
    return TM_OK;
}

const tm_analysis tm_analysis_memory = {
    .name = "memory",
    .summary = "what is allocated on each device, when, by which operators, and what grows",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = memory_rank,
    .merge = memory_merge,
    .job = memory_job,
};
