/* memory.category and memory.category_curve: memory by category, at the peak and over time. */
#include <math.h>
#include <string.h>

#include "devices.h"
#include "tables.h"

enum {
    C_RANK,
    C_DEVICE,
    C_CATEGORY,
    C_PEAK,
    C_PEAK_PCT,
    C_MEAN,
    C_MOST,
    C_END,
    C_BLOCKS,
    C_ALLOCATED,
    N_CATEGORY_COLUMNS
};

static const tm_column category_columns[N_CATEGORY_COLUMNS] = {
    [C_RANK] = {"rank", TM_INT, "", "Global rank."},
    [C_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [C_CATEGORY] = {"category", TM_TEXT, "",
                    "Category of memory: a column of memory.category_curve. Exported traces do not "
                    "record to which tensor a block belongs."},
    [C_PEAK] = {"peak_bytes", TM_INT, "B",
                "Bytes of the category at the device's peak. The rows of a device add up to "
                "memory.device.peak_bytes."},
    [C_PEAK_PCT] =
        {"peak_pct", TM_REAL, "%",
         "Share of the category at the device's peak: 100 peak_bytes / memory.device.peak_bytes."},
    [C_MEAN] = {"mean_bytes", TM_INT, "B",
                "Mean of the category's bytes over the time from the first to the last record."},
    [C_MOST] = {"most_bytes", TM_INT, "B", "Maximum of the category's bytes over time."},
    [C_END] = {"end_bytes", TM_INT, "B", "The category's bytes after the last record."},
    [C_BLOCKS] = {"blocks", TM_INT, "",
                  "Number of the category's blocks that were allocated in the trace."},
    [C_ALLOCATED] = {"allocated_bytes", TM_INT, "B",
                     "Sum of the sizes of the blocks counted by blocks."},
};

const tm_table_def tm_memory_category_def = {
    .name = "memory.category",
    .doc = "A row for each rank, device and category that has memory, if [memory] records have "
           "addresses. The category of a block is inferred from the calls that were open when it "
           "was allocated and freed, because exported traces do not record its tensor.",
    .columns = category_columns,
    .n_columns = N_CATEGORY_COLUMNS,
    .n_keys = 3,
    .top = C_PEAK,
};

enum { V_RANK, V_DEVICE, V_TIME, V_ALLOCATED, V_FIRST };

static const tm_column curve_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"device", TM_TEXT, "", TM_DEVICE_DOC},
    {"time_ns", TM_INT, tm_epoch_ns, "Aligned time of the point, since the epoch."},
    {"allocated_bytes", TM_INT, "B", "Allocated bytes from this time on: sum over all categories."},
#define COLUMN(id, word, doc) {word "_bytes", TM_INT, "B", doc},
    TM_MEMORY_CATEGORIES(COLUMN)
#undef COLUMN
};

const tm_table_def tm_memory_category_curve_def = {
    .name = "memory.category_curve",
    .doc = "A row for each rank, device and point in time: the memory by category. In each 48th of "
           "the recording, there is the point with the largest total (so the peak is included) and "
           "the last point.",
    .columns = curve_columns,
    .n_columns = sizeof curve_columns / sizeof *curve_columns,
    .n_keys = 3,
    .top = V_ALLOCATED,
};

/* Sums of a category over all levels. Integrals are reals, because byte nanoseconds exceed 64 bits.
 */
typedef struct sums {
    double integral;
    int64_t peak_bytes, most_bytes, end_bytes, blocks, allocated_bytes;
    bool seen; /* whether some level has memory of the category */
} sums;

static tm_status add_category(const tm_timeline *timeline, const tm_device_levels *d, int category,
                              const sums *s, tm_table *table, tm_error *err) {
    const tm_memory_level *v = d->levels.data;
    int64_t length = v[d->levels.n - 1].time_ns - v[0].time_ns;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[C_RANK], timeline->rank);
    tm_cell_set_int(&row[C_PEAK], s->peak_bytes);
    tm_cell_set_ratio(&row[C_PEAK_PCT], 100.0, s->peak_bytes, v[d->peak].allocated_bytes);
    tm_cell_set_int(&row[C_MEAN],
                    length > 0 ? llround(s->integral / (double)length) : s->end_bytes);
    tm_cell_set_int(&row[C_MOST], s->most_bytes);
    tm_cell_set_int(&row[C_END], s->end_bytes);
    if (category != TM_MEMORY_PREEXISTING && category != TM_MEMORY_STACK &&
        category != TM_MEMORY_UNRECORDED) {
        tm_cell_set_int(&row[C_BLOCKS], s->blocks);
        tm_cell_set_int(&row[C_ALLOCATED], s->allocated_bytes);
    }
    TM_TRY(tm_table_set_text(table, &row[C_CATEGORY],
                             tm_memory_category_word((tm_memory_category)category), err));
    return tm_device_set_text(d->type, d->device, table, &row[C_DEVICE], err);
}

/* Adds the current level of the walk to the sums. */
static void count(const tm_category_walk *walk, sums all[TM_N_MEMORY_CATEGORIES]) {
    const tm_device_levels *d = walk->levels;
    const tm_memory_level *v = d->levels.data;
    size_t level = walk->next - 1;
    int64_t lasts = level + 1 < d->levels.n ? v[level + 1].time_ns - v[level].time_ns : 0;
    uint32_t number = walk->blocks->of[level];
    for (int c = 0; c < TM_N_MEMORY_CATEGORIES; c++) {
        sums *s = &all[c];
        s->end_bytes = walk->bytes[c];
        s->seen = s->seen || s->end_bytes != 0;
        s->integral += (double)lasts * (double)s->end_bytes;
        s->most_bytes = s->end_bytes > s->most_bytes ? s->end_bytes : s->most_bytes;
        if (level == d->peak)
            s->peak_bytes = s->end_bytes;
    }
    if (number == TM_NO_BLOCK)
        return;
    const tm_block *block = (const tm_block *)walk->blocks->blocks.data + number;
    if (block->taken == level) {
        all[block->category].blocks++;
        all[block->category].allocated_bytes += block->bytes;
    }
}

static tm_status add_moment(const tm_category_walk *at, tm_table *table, tm_error *err) {
    const tm_device_levels *d = at->levels;
    const tm_memory_level *level = (const tm_memory_level *)d->levels.data + at->next - 1;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[V_RANK], at->timeline->rank);
    tm_cell_set_int(&row[V_TIME], tm_rank_clock_true(&at->timeline->clock, level->time_ns));
    tm_cell_set_int(&row[V_ALLOCATED], level->allocated_bytes);
    for (int c = 0; c < TM_N_MEMORY_CATEGORIES; c++)
        tm_cell_set_int(&row[V_FIRST + c], at->bytes[c]);
    return tm_device_set_text(d->type, d->device, table, &row[V_DEVICE], err);
}

/* Adds levels of one of 48 equal parts of the time: the level with the maximum, and the last level
 * if it is another one. */
static tm_status add_slot(const tm_category_walk *best, const tm_category_walk *last,
                          tm_table *table, tm_error *err) {
    TM_TRY(add_moment(best, table, err));
    return last->next != best->next ? add_moment(last, table, err) : TM_OK;
}

tm_status tm_memory_add_categories(const tm_timeline *timeline, const tm_device_levels *d,
                                   const tm_blocks *blocks, tm_tables *out, tm_error *err) {
    enum { SLOTS = 48 };
    sums all[TM_N_MEMORY_CATEGORIES] = {{0}};
    tm_table *curve = tm_tables_find(out, tm_memory_category_curve_def.name);
    const tm_memory_level *v = d->levels.data;
    int64_t width = (v[d->levels.n - 1].time_ns - v[0].time_ns) / SLOTS + 1, slot = 0;
    tm_category_walk walk = tm_category_walk_begin(timeline, d, blocks), best = walk, last = walk;
    while (tm_category_walk_next(&walk)) {
        const tm_memory_level *level = &v[walk.next - 1];
        count(&walk, all);
        if ((level->time_ns - v[0].time_ns) / width != slot) {
            TM_TRY(add_slot(&best, &last, curve, err));
            slot = (level->time_ns - v[0].time_ns) / width;
            best.next = 0;
        }
        if (best.next == 0 || level->allocated_bytes > v[best.next - 1].allocated_bytes)
            best = walk;
        last = walk;
    }
    TM_TRY(add_slot(&best, &last, curve, err));
    tm_table *table = tm_tables_find(out, tm_memory_category_def.name);
    for (int c = 0; c < TM_N_MEMORY_CATEGORIES; c++)
        if (all[c].seen)
            TM_TRY(add_category(timeline, d, c, &all[c], table, err));
    return TM_OK;
}
