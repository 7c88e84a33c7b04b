/* The table memory.category: memory by category, at the peak and on average. */
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
    C_ALLOCATED
};

static const tm_column category_columns[] = {
    [C_RANK] = {"rank", TM_INT, "", "Global rank."},
    [C_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [C_CATEGORY] = {"category", TM_TEXT, "",
                    "Category of memory: a column of memory.curve without _bytes. Inferred from "
                    "the calls that are open when the memory is allocated, because exported traces "
                    "do not record a block's tensor."},
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
                  "Number of the category's blocks that were allocated in the trace. Null for "
                  "preexisting, stack and unrecorded; allocated_bytes is then null, too."},
    [C_ALLOCATED] = {"allocated_bytes", TM_INT, "B",
                     "Sum of the sizes of the category's blocks that were allocated in the trace "
                     "(column blocks)."},
};

const tm_table_def tm_memory_category_def = {
    .name = "memory.category",
    .doc = "A row for each rank, device and category that has memory, if [memory] records have "
           "addresses. The category of a block is inferred from the calls that were open when it "
           "was allocated and freed, because exported traces do not record its tensor.",
    TM_ARRAY(columns, category_columns),
    .n_keys = 3,
    .top = C_PEAK,
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

tm_status tm_memory_add_categories(const tm_timeline *timeline, const tm_device_levels *d,
                                   const tm_blocks *blocks, tm_tables *out, tm_error *err) {
    sums all[TM_N_MEMORY_CATEGORIES] = {{0}};
    tm_category_walk walk = tm_category_walk_begin(timeline, d, blocks);
    while (tm_category_walk_next(&walk))
        count(&walk, all);
    tm_table *table = tm_tables_find(out, tm_memory_category_def.name);
    for (int c = 0; c < TM_N_MEMORY_CATEGORIES; c++)
        if (all[c].seen)
            TM_TRY(add_category(timeline, d, c, &all[c], table, err));
    return TM_OK;
}
