/* Analysis `memory`: allocated memory over time, by operator and by device. */
#include "tmerge/analysis.h"

#include <string.h>

#include "analysis/shared/allocators.h"
#include "backward.h"
#include "base/median.h"
#include "devices.h"
#include "memory_levels.h"
#include "owners.h"
#include "patterns.h"
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
    D_MEAN,
    D_PATTERN,
    D_SPIKE_STEP,
    D_FALLS,
    D_STEPS_LEFT,
    D_ALLOCATOR,
    D_LIMIT
};

static const tm_column device_columns[] = {
    [D_RANK] = {"rank", TM_INT, "", "Global rank."},
    [D_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [D_ALLOCATIONS] = {"allocations", TM_INT, "", "Number of [memory] records that allocate."},
    [D_RELEASES] = {"releases", TM_INT, "", "Number of [memory] records that free."},
    [D_RELATIVE] = {"relative", TM_BOOL, "",
                    "Whether the trace does not record totals, as before PyTorch 1.10. If so, "
                    "bytes count from 0 at the trace's first record."},
    [D_BEGIN] = {"begin_bytes", TM_INT, "B", "Allocated bytes before the first record."},
    [D_END] = {"end_bytes", TM_INT, "B", "Allocated bytes after the last record."},
    [D_PEAK] = {"peak_bytes", TM_INT, "B",
                "Peak: maximum of the allocated bytes (Total Allocated)."},
    [D_PEAK_TIME] =
        {"peak_time_ns", TM_INT, tm_epoch_ns,
         "Time at which the peak was first reached, since the epoch, on the rank's own clock."},
    [D_PEAK_STEP] = {"peak_step", TM_INT, "",
                     "Step in which the peak was first reached; null if outside of steps."},
    [D_PEAK_OPERATOR] = {"peak_operator", TM_TEXT, "",
                         "Innermost operator or annotation that made the allocation at the peak; "
                         "null if there was none."},
    [D_RESERVED] = {"peak_reserved_bytes", TM_INT, "B",
                    "Maximum of the bytes that the allocator held on the device (Total Reserved); "
                    "null if not recorded."},
    [D_FRAGMENTATION] = {"fragmentation_pct", TM_REAL, "%",
                         "Share of peak_reserved_bytes that peak_bytes leaves unused: 100 (1 - "
                         "peak_bytes / peak_reserved_bytes)."},
    [D_CAPACITY] = {"capacity_bytes", TM_INT, "B",
                    "Memory of the device (totalGlobalMem); null if not recorded."},
    [D_CAPACITY_PCT] =
        {"capacity_pct", TM_REAL, "%",
         "How full the device is: 100 peak_reserved_bytes / capacity_bytes, or 100 peak_bytes / "
         "limit_bytes if limit_bytes is known and reserved bytes are not. 85 to 95 is good use. "
         "Above 95, memory of other libraries may not fit."},
    [D_GROWTH] = {"growth_bytes", TM_INT, "B",
                  "Growth in a step: median of memory.step.growth_bytes over all steps except the "
                  "first. If each step grows, memory leaks. Null with fewer than 2 steps."},
    [D_GROWING] = {"growing_steps", TM_INT, "",
                   "Number of steps, except the first, in which memory grows "
                   "(memory.step.growth_bytes is above 0)."},
    [D_MEAN] = {"mean_bytes", TM_INT, "B",
                "Mean of the allocated bytes over the time from the first to the last record."},
    [D_PATTERN] =
        {"pattern", TM_TEXT, "",
         "How memory changes over all steps except the first: the first of these patterns that "
         "applies. growth: each step ends with more allocated bytes than the step before, which is "
         "a leak. saw-tooth: allocated bytes at the ends of steps, or bytes that the allocator "
         "holds, fall at least twice by 5 % of their peak. spike: one step, or at most a fourth of "
         "the steps, peaks over 20 % above the median. stable: all peaks are within 5 % of the "
         "median. uneven: none of these. Null with fewer than 4 steps."},
    [D_SPIKE_STEP] = {"spike_step", TM_INT, "",
                      "Step with the highest peak if the pattern is spike; otherwise null."},
    [D_FALLS] = {"reserve_falls", TM_INT, "",
                 "Number of times that the allocator returned at least a twentieth of "
                 "peak_reserved_bytes to the device. Null if reserved bytes are not recorded."},
    [D_STEPS_LEFT] = {"steps_left", TM_INT, "",
                      "Number of steps until the device is out of memory if pattern is growth: "
                      "(limit_bytes - peak_bytes) / growth_bytes. If limit_bytes is unknown, "
                      "capacity_bytes is used in its place. Fewer steps are left if other "
                      "libraries hold memory, too. Null for other patterns."},
    [D_ALLOCATOR] = {"allocator", TM_TEXT, "",
                     "Name of the device's allocator in a TensorFlow or JAX profile, such as "
                     "GPU_4_bfc; null for other profiles and for TPUs."},
    [D_LIMIT] = {"limit_bytes", TM_INT, "B",
                 "Bytes that the allocator can hand out, from a TensorFlow or JAX profile: "
                 "allocated memory + program stacks + free memory. Null for other profiles."},
};

static const tm_table_def device_def = {
    .name = "memory.device",
    .doc = "A row for each rank and device with [memory] records.",
    TM_ARRAY(columns, device_columns),
    .n_keys = 2,
    .top = D_PEAK,
};

enum { C_RANK, C_DEVICE, C_TIME, C_ALLOCATED, C_RESERVED, C_CATEGORIES };

static const tm_column curve_columns[] = {
    [C_RANK] = {"rank", TM_INT, "", "Global rank."},
    [C_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [C_TIME] = {"time_ns", TM_INT, tm_epoch_ns, "Aligned time of the point, since the epoch."},
    [C_ALLOCATED] = {"allocated_bytes", TM_INT, "B", "Allocated bytes from this time on."},
    [C_RESERVED] = {"reserved_bytes", TM_INT, "B",
                    "Bytes that the allocator held from this time on."},
#define COLUMN(id, word, doc) {word "_bytes", TM_INT, "B", doc},
    TM_MEMORY_CATEGORIES(COLUMN)
#undef COLUMN
};

static const tm_table_def curve_def = {
    .name = "memory.curve",
    .doc = "A row for each rank, device and point in time: the memory from then on. The bytes of "
           "all categories add up to allocated_bytes; they are null if [memory] records lack "
           "addresses. If a device has over 384 points, the table has only some of them: the "
           "points with the minimum and maximum allocated and the maximum reserved bytes in each "
           "128th of the time, which include the peaks.",
    TM_ARRAY(columns, curve_columns),
    .n_keys = 3,
    .top = C_ALLOCATED,
    .form = TM_FORM_LINE,
};

enum { S_RANK, S_DEVICE, S_STEP, S_ALLOCATED, S_PEAK, S_RESERVED, S_END, S_GROWTH, N_STEP_COLUMNS };

static const tm_column step_columns[N_STEP_COLUMNS] = {
    [S_RANK] = {"rank", TM_INT, "", "Global rank."},
    [S_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [S_STEP] = {"step", TM_INT, "", "Number of the step in which memory was allocated or freed."},
    [S_ALLOCATED] = {"allocated_bytes", TM_INT, "B",
                     "Sum of the sizes of all allocations in the step, freed or not."},
    [S_PEAK] = {"peak_bytes", TM_INT, "B", "Maximum of the allocated bytes in the step."},
    [S_RESERVED] = {"peak_reserved_bytes", TM_INT, "B",
                    "Maximum of the bytes that the allocator held in the step."},
    [S_END] = {"end_bytes", TM_INT, "B", "Allocated bytes after the last record of the step."},
    [S_GROWTH] = {"growth_bytes", TM_INT, "B",
                  "Growth in the step: end_bytes minus end_bytes of the step before. For the first "
                  "step: end_bytes minus the allocated bytes before the trace's first record."},
};

static const tm_table_def step_def = {
    .name = "memory.step",
    .doc = "A row for each rank, device and step with [memory] records.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 3,
    .top = S_GROWTH,
};

static const tm_table_def *const defs[] = {
    &tm_memory_job_def,
    &device_def,
    &curve_def,
    &tm_memory_owner_def,
    &step_def,
    &tm_memory_category_def,
    &tm_memory_live_def,
    &tm_memory_parameters_def,
    &tm_memory_snapshot_def,
    &tm_memory_site_def,
    &tm_memory_timeline_def,
    &tm_memory_owner_part,
};

/* Adds the rows of a device's steps. Collects the growth of each step except the first, in which
 * caches fill and optimizers create their states. */
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
        tm_cell_set_known(&row[S_RESERVED], s->peak_reserved_bytes);
        tm_cell_set_int(&row[S_END], s->end_bytes);
        tm_cell_set_int(&row[S_GROWTH], growth);
        TM_TRY(tm_device_set_text(d->type, d->device, table, &row[S_DEVICE], err));
        before = s->end_bytes;
        first = false;
    }
    return TM_OK;
}

/* Sets the growth to the median over steps, because a step may allocate much that the next step
 * frees. */
static void set_growth(tm_cell *row, tm_vec *growths) {
    int64_t *v = growths->data, growing = 0;
    if (growths->n == 0)
        return;
    for (size_t i = 0; i < growths->n; i++)
        growing += v[i] > 0;
    tm_cell_set_int(&row[D_GROWTH], tm_median_any(v, growths->n));
    tm_cell_set_int(&row[D_GROWING], growing);
}

static tm_status set_pattern(const tm_timeline *timeline, const tm_device_levels *d,
                             tm_table *table, tm_cell *row, tm_error *err) {
    tm_memory_pattern p;
    TM_TRY(tm_memory_pattern_find(d, &p, err));
    tm_cell_set_int(&row[D_MEAN], p.mean_bytes);
    if (d->peak_reserved_bytes > 0)
        tm_cell_set_int(&row[D_FALLS], p.falls);
    if (!p.word)
        return TM_OK;
    if (strcmp(p.word, "spike") == 0)
        tm_cell_set_int(&row[D_SPIKE_STEP], timeline->steps[p.spike].number);
    const tm_cell *most = row[D_LIMIT].null ? &row[D_CAPACITY] : &row[D_LIMIT];
    if (strcmp(p.word, "growth") == 0 && !most->null && row[D_GROWTH].value.i > 0) {
        int64_t room = most->value.i - row[D_PEAK].value.i;
        tm_cell_set_int(&row[D_STEPS_LEFT], room > 0 ? room / row[D_GROWTH].value.i : 0);
    }
    return tm_table_set_text(table, &row[D_PATTERN], p.word, err);
}

/* Sets the columns that need all levels. Call it before the levels are thinned.
 * @param capacity  [bytes]; 0 or less if unknown */
static void set_totals(tm_cell *row, const tm_device_levels *d, int64_t capacity,
                       const tm_allocator *allocator) {
    const tm_memory_level *v = d->levels.data;
    int64_t peak = v[d->peak].allocated_bytes, reserved = d->peak_reserved_bytes;
    int64_t limit = allocator->limit_bytes;
    tm_cell_set_int(&row[D_ALLOCATIONS], d->allocations);
    tm_cell_set_int(&row[D_RELEASES], d->releases);
    tm_cell_set_bool(&row[D_RELATIVE], d->relative);
    tm_cell_set_int(&row[D_BEGIN], d->begin_bytes);
    tm_cell_set_int(&row[D_END], v[d->levels.n - 1].allocated_bytes);
    tm_cell_set_int(&row[D_PEAK], peak);
    tm_cell_set_int(&row[D_PEAK_TIME], v[d->peak].time_ns);
    if (reserved > 0) { /* the reserved memory is not recorded for every device */
        tm_cell_set_int(&row[D_RESERVED], reserved);
        tm_cell_set_ratio(&row[D_FRAGMENTATION], 100.0, reserved - peak, reserved);
    }
    if (capacity > 0) {
        tm_cell_set_int(&row[D_CAPACITY], capacity);
        if (reserved > 0)
            tm_cell_set_ratio(&row[D_CAPACITY_PCT], 100.0, reserved, capacity);
    }
    if (limit > 0) {
        tm_cell_set_int(&row[D_LIMIT], limit);
        /* On the host, the allocator's limit is not the size of the memory. */
        if (reserved <= 0 && d->type != 0)
            tm_cell_set_ratio(&row[D_CAPACITY_PCT], 100.0, peak, limit);
    }
}

/* Adds the row of a device. @param op name id of the operator that made the allocation at the peak
 */
static tm_status add_device(const tm_rank_view *view, const tm_device_levels *d, uint32_t op,
                            tm_vec *growths, tm_table *table, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    const tm_allocator allocator = tm_allocator_find(timeline, d->type, d->device);
    set_totals(row, d, d->type == 0 ? -1 : tm_device_memory(timeline, view->names, d->device),
               &allocator);
    TM_TRY(
        tm_table_set_text(table, &row[D_ALLOCATOR], *allocator.name ? allocator.name : NULL, err));
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
    TM_TRY(set_pattern(timeline, d, table, row, err));
    return tm_device_set_text(d->type, d->device, table, &row[D_DEVICE], err);
}

/* Adds a level of the walk's device. If blocks are unknown, so are categories. */
static tm_status add_point(const tm_category_walk *at, size_t number, tm_table *table,
                           tm_error *err) {
    const tm_device_levels *d = at->levels;
    const tm_memory_level *level = (const tm_memory_level *)d->levels.data + number;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[C_RANK], at->timeline->rank);
    tm_cell_set_int(&row[C_TIME], tm_rank_clock_true(&at->timeline->clock, level->time_ns));
    tm_cell_set_int(&row[C_ALLOCATED], level->allocated_bytes);
    if (level->reserved_bytes >= 0 && !d->stacks)
        tm_cell_set_int(&row[C_RESERVED], level->reserved_bytes);
    for (int c = 0; c < TM_N_MEMORY_CATEGORIES && at->blocks; c++)
        tm_cell_set_int(&row[C_CATEGORIES + c], at->bytes[c]);
    return tm_device_set_text(d->type, d->device, table, &row[C_DEVICE], err);
}

static tm_status add_curve(tm_category_walk walk, tm_table *table, tm_error *err) {
    tm_vec kept = TM_VEC(size_t);
    bool ok = tm_memory_levels_thin(&walk.levels->levels, &kept);
    tm_status status = ok ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < kept.n && status == TM_OK; i++) {
        const size_t level = ((const size_t *)kept.data)[i];
        while (walk.blocks && walk.next <= level)
            tm_category_walk_next(&walk);
        status = add_point(&walk, level, table, err);
    }
    tm_vec_free(&kept);
    return status;
}

/* State of the analysis of a rank. */
typedef struct rank_memory {
    const tm_rank_view *view;
    tm_vec devices; /* vector of tm_device_levels */
    tm_owners owners[TM_N_OWNER_LEVELS];
    tm_scopes scopes;
    tm_vec passes; /* vector of tm_backward_pass */
} rank_memory;

/* Finds the inputs that the tables need. The caller frees *m, also on failure. */
static tm_status find(rank_memory *m, tm_error *err) {
    tm_status status = tm_memory_levels_find(m->view->timeline, &m->devices, err);
    for (size_t o = 0; o < TM_N_OWNER_LEVELS && status == TM_OK; o++)
        status = tm_owners_find(m->view, tm_owner_classes[o], &m->owners[o], err);
    if (status == TM_OK)
        status = tm_scopes_find(m->view, &m->scopes, err);
    return status;
}

static void free_found(rank_memory *m) {
    tm_memory_levels_free(&m->devices);
    for (size_t o = 0; o < TM_N_OWNER_LEVELS; o++)
        tm_owners_free(&m->owners[o]);
    tm_scopes_free(&m->scopes);
    tm_vec_free(&m->passes);
}

/* Adds the rows of the curve. Also adds the rows that need blocks, if the device's records have
 * addresses. */
static tm_status add_blocks(rank_memory *m, const tm_device_levels *d, tm_tables *out,
                            tm_error *err) {
    const tm_timeline *timeline = m->view->timeline;
    tm_table *curve = tm_tables_find(out, curve_def.name);
    tm_blocks blocks;
    if (!tm_blocks_are_reported(timeline, d))
        return add_curve(tm_category_walk_begin(timeline, d, NULL), curve, err);
    tm_status status = tm_blocks_find(m->view, d, &m->scopes, &m->passes, &blocks, err);
    if (status == TM_OK)
        status = add_curve(tm_category_walk_begin(timeline, d, &blocks), curve, err);
    if (status == TM_OK)
        status = tm_memory_add_categories(timeline, d, &blocks, out, err);
    if (status == TM_OK)
        status = tm_memory_add_live(&(tm_live){m->view, &m->scopes}, d, &blocks, out, err);
    for (size_t o = 0; o < TM_N_OWNER_LEVELS && status == TM_OK; o++)
        tm_owners_count_peak(timeline, d, &blocks, &m->owners[o]);
    tm_blocks_free(&blocks);
    return status;
}

static tm_status add_devices(rank_memory *m, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = m->view->timeline;
    const uint32_t *operators = m->owners[TM_OWNERS_OPERATOR].of;
    tm_vec growths = TM_VEC(int64_t);
    tm_status status = TM_OK;
    for (size_t i = 0; i < m->devices.n && status == TM_OK; i++) {
        const tm_device_levels *d = (const tm_device_levels *)m->devices.data + i;
        const tm_memory_level *peak = (const tm_memory_level *)d->levels.data + d->peak;
        growths.n = 0;
        status = add_blocks(m, d, out, err);
        if (status == TM_OK)
            status = add_steps(timeline, d, tm_tables_find(out, step_def.name), &growths, err);
        if (status == TM_OK)
            status = add_device(m->view, d, operators[peak->record], &growths,
                                tm_tables_find(out, device_def.name), err);
    }
    tm_vec_free(&growths);
    return status;
}

static tm_status add_records(rank_memory *m, tm_tables *out, tm_error *err) {
    tm_status status = find(m, err);
    if (status == TM_OK)
        status = add_devices(m, out, err);
    for (size_t o = 0; o < TM_N_OWNER_LEVELS && status == TM_OK; o++)
        status = tm_memory_add_owners(m->view->timeline, (tm_owner_level)o, &m->owners[o],
                                      tm_tables_find(out, tm_memory_owner_part.name), err);
    return status;
}

static tm_status memory_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    rank_memory m = {.view = view};
    tm_status status = TM_OK;
    /* no table needs the passes if there are no memory records and no shapes */
    if (view->timeline->n_attrs[TM_ATTR_MEMORY] > 0 || view->timeline->n_attrs[TM_ATTR_SHAPES] > 0)
        status = tm_backward_passes_find(view, &m.passes, err);
    if (status == TM_OK && m.passes.n > 0)
        status = tm_memory_add_parameters(view, &m.passes, out, err);
    if (status == TM_OK && view->timeline->n_attrs[TM_ATTR_MEMORY] > 0)
        status = add_records(&m, out, err);
    free_found(&m);
    return status;
}

static tm_status memory_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table_top(tm_tables_find(out, tm_memory_owner_def.name), SIZE_MAX); /* largest first */
    tm_memory_split_preexisting(out);
    TM_TRY(tm_memory_add_snapshots(job->snapshots, out, err));
    return tm_memory_compare_ranks(out, err);
}

const tm_analysis tm_analysis_memory = {
    .name = "memory",
    .summary = "the memory allocated on each device over time, the operators that allocate it, and "
               "memory that grows",
    TM_ARRAY(tables, defs),
    .rank = memory_rank,
    .merge = tm_memory_merge_owners,
    .job = memory_job,
};
