/* The tables memory.snapshot, memory.site and memory.timeline, with the contents of PyTorch's files
 * about its memory. */
#include "tables.h"
#include "tmerge/snapshot.h"

#define FILE_DOC "Path of the snapshot file as given."

enum {
    D_FILE,
    D_DEVICE,
    D_SEGMENTS,
    D_RESERVED,
    D_BLOCKS,
    D_ALLOCATED,
    D_REQUESTED,
    D_PENDING,
    D_FREE,
    D_FREE_PCT,
    D_LARGEST,
    D_ENTRIES,
    D_PEAK,
    D_OOMS
};

static const tm_column device_columns[] = {
    [D_FILE] = {"file", TM_TEXT, "", FILE_DOC},
    [D_DEVICE] = {"device", TM_INT, "", "Number of the device."},
    [D_SEGMENTS] = {"segments", TM_INT, "",
                    "Number of memory segments that the allocator holds on the device."},
    [D_RESERVED] = {"reserved_bytes", TM_INT, "B", "Sum of the sizes of the segments."},
    [D_BLOCKS] = {"blocks", TM_INT, "", "Number of blocks in use, over all segments."},
    [D_ALLOCATED] = {"allocated_bytes", TM_INT, "B", "Sum of the sizes of the blocks in use."},
    [D_REQUESTED] = {"requested_bytes", TM_INT, "B",
                     "Bytes that the program requested. allocated_bytes also includes rounding."},
    [D_PENDING] = {"pending_bytes", TM_INT, "B",
                   "Bytes that the program freed, but that the allocator holds until streams no "
                   "longer use them."},
    [D_FREE] = {"free_bytes", TM_INT, "B", "Bytes of the segments that are not in use."},
    [D_FREE_PCT] = {"free_pct", TM_REAL, "%",
                    "Share of the segments that is not in use, but cached or fragmented: 100 "
                    "free_bytes / reserved_bytes."},
    [D_LARGEST] = {"largest_free_bytes", TM_INT, "B",
                   "Size of the largest free block. A larger request needs a new segment."},
    [D_ENTRIES] = {"entries", TM_INT, "",
                   "Number of entries in the snapshot's trace. The trace is a ring buffer, so its "
                   "start may be lost."},
    [D_PEAK] =
        {"trace_peak_bytes", TM_INT, "B",
         "Largest number of allocated bytes after any entry of the trace; null without entries."},
    [D_OOMS] = {"ooms", TM_INT, "", "Number of entries that report that memory ran out."},
};

const tm_table_def tm_memory_snapshot_def = {
    .name = "memory.snapshot",
    .doc = "A row for each device of a snapshot of PyTorch's allocator (--memory-snapshot): its "
           "state when the file was written.",
    TM_ARRAY(columns, device_columns),
    .n_keys = 2,
    .top = D_RESERVED,
};

enum { S_FILE, S_DEVICE, S_PLACE, S_SITE, S_BLOCKS, S_BYTES, S_REQUESTED, S_PCT, N_SITE };

static const tm_column site_columns[N_SITE] = {
    [S_FILE] = {"file", TM_TEXT, "", FILE_DOC},
    [S_DEVICE] = {"device", TM_INT, "", "Number of the device."},
    [S_PLACE] = {"place", TM_INT, "", "Position of the row in the order of bytes: 1 has most."},
    [S_SITE] = {"site", TM_TEXT, "",
                "Innermost line of the user's own Python code on the stack of the allocation; "
                "without such a line, the innermost frame. Null if no stack was recorded, and in "
                "row 51, which sums all other places."},
    [S_BLOCKS] = {"blocks", TM_INT, "", "Number of blocks that were allocated at this place."},
    [S_BYTES] = {"bytes", TM_INT, "B",
                 "Sum of the sizes of the blocks. The rows of a device add up to "
                 "memory.snapshot.allocated_bytes."},
    [S_REQUESTED] = {"requested_bytes", TM_INT, "B",
                     "Bytes that the program requested at this place."},
    [S_PCT] = {"share_pct", TM_REAL, "%",
               "Share of the place in the device's allocated memory: bytes / "
               "memory.snapshot.allocated_bytes, in percent."},
};

const tm_table_def tm_memory_site_def = {
    .name = "memory.site",
    .doc =
        "A row for each place in the program that holds memory in a snapshot (--memory-snapshot): "
        "the 50 places of each device with the largest bytes, and a row for the rest.",
    TM_ARRAY(columns, site_columns),
    .n_keys = 3,
    .top = S_BYTES,
};

enum { T_FILE, T_CATEGORY, T_PEAK, T_PEAK_PCT, T_MOST, T_END, T_TIME, T_MOMENTS, N_TIMELINE };

static const tm_column timeline_columns[N_TIMELINE] = {
    [T_FILE] = {"file", TM_TEXT, "", FILE_DOC},
    [T_CATEGORY] =
        {"category", TM_TEXT, "",
         "Category that PyTorch's profiler gave the memory. parameter includes buffers."},
    [T_PEAK] = {"peak_bytes", TM_INT, "B",
                "Bytes of the category at the time when the sum of all categories was largest."},
    [T_PEAK_PCT] = {"peak_pct", TM_REAL, "%",
                    "Share of the category at the time when the sum of all categories was largest: "
                    "100 peak_bytes / this sum."},
    [T_MOST] = {"most_bytes", TM_INT, "B", "Maximum of the category's bytes over time."},
    [T_END] = {"end_bytes", TM_INT, "B", "The category's bytes after the last record."},
    [T_TIME] = {"peak_time_ns", TM_INT, tm_epoch_ns,
                "Time at which the sum of all categories first reached its maximum, as recorded, "
                "since the epoch; null if this was before the trace."},
    [T_MOMENTS] = {"records", TM_INT, "", "Number of records (or of points in time) in the file."},
};

const tm_table_def tm_memory_timeline_def = {
    .name = "memory.timeline",
    .doc = "A row for each category of an exported memory timeline (--memory-snapshot) of one "
           "device; the file does not name the device.",
    TM_ARRAY(columns, timeline_columns),
    .n_keys = 2,
    .top = T_PEAK,
};

static tm_status add_device(const tm_snapshot_device *d, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[D_DEVICE], d->device);
    tm_cell_set_int(&row[D_SEGMENTS], d->segments);
    tm_cell_set_int(&row[D_RESERVED], d->reserved_bytes);
    tm_cell_set_int(&row[D_BLOCKS], d->blocks);
    tm_cell_set_int(&row[D_ALLOCATED], d->allocated_bytes);
    tm_cell_set_int(&row[D_REQUESTED], d->requested_bytes);
    tm_cell_set_int(&row[D_PENDING], d->pending_bytes);
    tm_cell_set_int(&row[D_FREE], d->free_bytes);
    tm_cell_set_ratio(&row[D_FREE_PCT], 100.0, d->free_bytes, d->reserved_bytes);
    tm_cell_set_int(&row[D_LARGEST], d->largest_free_bytes);
    tm_cell_set_int(&row[D_ENTRIES], d->entries);
    tm_cell_set_int(&row[D_OOMS], d->ooms);
    if (d->entries > 0)
        tm_cell_set_int(&row[D_PEAK], d->peak_bytes);
    return tm_table_set_text(table, &row[D_FILE], d->file, err);
}

static tm_status add_site(const tm_snapshot_site *s, int64_t place, int64_t allocated_bytes,
                          tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[S_DEVICE], s->device);
    tm_cell_set_int(&row[S_PLACE], place);
    tm_cell_set_int(&row[S_BLOCKS], s->blocks);
    tm_cell_set_int(&row[S_BYTES], s->bytes);
    tm_cell_set_int(&row[S_REQUESTED], s->requested_bytes);
    tm_cell_set_ratio(&row[S_PCT], 100.0, s->bytes, allocated_bytes);
    if (*s->site)
        TM_TRY(tm_table_set_text(table, &row[S_SITE], s->site, err));
    return tm_table_set_text(table, &row[S_FILE], s->file, err);
}

/* Adds a row for each of the first SITES sites of a device, and a row for all other sites. */
static tm_status add_sites(const tm_snapshot_site *v, size_t n, const tm_snapshot_device *d,
                           tm_table *table, tm_error *err) {
    enum { SITES = 50 };
    tm_snapshot_site rest = {.file = d->file, .device = d->device, .site = ""};
    for (size_t i = 0; i < n; i++) {
        if (i < SITES) {
            TM_TRY(add_site(&v[i], (int64_t)i + 1, d->allocated_bytes, table, err));
            continue;
        }
        rest.blocks += v[i].blocks;
        rest.bytes += v[i].bytes;
        rest.requested_bytes += v[i].requested_bytes;
    }
    return n > SITES ? add_site(&rest, SITES + 1, d->allocated_bytes, table, err) : TM_OK;
}

static tm_status add_timeline(const tm_memory_timeline *t, tm_table *table, tm_error *err) {
#define WORD(word) word,
    static const char *const words[] = {TM_TIMELINE_CATEGORIES(WORD)};
#undef WORD
    int64_t sum = 0;
    for (int c = 0; c < TM_N_TIMELINE_CATEGORIES; c++)
        sum += t->peak_bytes[c];
    for (int c = 0; c < TM_N_TIMELINE_CATEGORIES; c++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[T_PEAK], t->peak_bytes[c]);
        tm_cell_set_ratio(&row[T_PEAK_PCT], 100.0, t->peak_bytes[c], sum);
        tm_cell_set_int(&row[T_MOST], t->most_bytes[c]);
        tm_cell_set_int(&row[T_END], t->end_bytes[c]);
        tm_cell_set_int(&row[T_MOMENTS], t->moments);
        tm_cell_set_known(&row[T_TIME], t->peak_time_ns);
        TM_TRY(tm_table_set_text(table, &row[T_CATEGORY], words[c], err));
        TM_TRY(tm_table_set_text(table, &row[T_FILE], t->file, err));
    }
    return TM_OK;
}

tm_status tm_memory_add_snapshots(const tm_snapshots *snapshots, tm_tables *out, tm_error *err) {
    size_t n_devices = 0, n_sites = 0, n_timelines = 0, site = 0;
    tm_table *devices = tm_tables_find(out, tm_memory_snapshot_def.name);
    tm_table *sites = tm_tables_find(out, tm_memory_site_def.name);
    tm_table *timelines = tm_tables_find(out, tm_memory_timeline_def.name);
    if (!snapshots)
        return TM_OK;
    const tm_snapshot_device *d = tm_snapshots_devices(snapshots, &n_devices);
    const tm_snapshot_site *s = tm_snapshots_sites(snapshots, &n_sites);
    const tm_memory_timeline *t = tm_snapshots_timelines(snapshots, &n_timelines);
    for (size_t i = 0; i < n_devices; i++) {
        size_t first = site;
        while (site < n_sites && s[site].file == d[i].file && s[site].device == d[i].device)
            site++;
        TM_TRY(add_device(&d[i], devices, err));
        TM_TRY(add_sites(s + first, site - first, &d[i], sites, err));
    }
    for (size_t i = 0; i < n_timelines; i++)
        TM_TRY(add_timeline(&t[i], timelines, err));
    tm_table_sort(devices);
    tm_table_sort(sites);
    tm_table_sort(timelines);
    return TM_OK;
}
