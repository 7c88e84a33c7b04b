#include "counters.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/shared/named.h"
#include "base/keys.h"

/* Maximum number of counters of a rank in the table; profilers usually sample a few dozen. */
#define LISTED 200

enum { RANK, SOURCE, NAME, SERIES, SAMPLES, MEAN, MIN, MAX, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [SOURCE] = {"source", TM_TEXT, "",
                "What the counter belongs to: a device; or the process and thread, or the network "
                "card and port, of the counter's track."},
    [NAME] = {"name", TM_TEXT, "", "Name of the counter; null if not recorded."},
    [SERIES] = {"series", TM_TEXT, "", "Name of the value, if the counter has several values."},
    [SAMPLES] = {"samples", TM_INT, "", "Number of recorded values."},
    [MEAN] = {"mean", TM_REAL, "", "Mean of the samples; each sample counts equally."},
    [MIN] = {"min", TM_REAL, "", "Smallest sample."},
    [MAX] = {"max", TM_REAL, "", "Largest sample."},
};

const tm_table_def tm_counters_table = {
    .name = "host.counter",
    .doc = "A row for each counter of a rank, in the profiler's own units: metrics of GPUs and "
           "network cards that Nsight Systems sampled, and any other counters in a trace. Limited "
           "to the first 200 counters of a rank.",
    TM_ARRAY(columns, columns),
    .n_keys = 4,
    .top = -1,
};

typedef struct counter_key {
    uint32_t track, name, series;
} counter_key;

typedef struct counter {
    int64_t samples;
    double sum, min, max;
} counter;

/* Adds each sample to its counter. Samples and tracks are both sorted by row. Returns false if out
 * of memory. */
static bool count(const tm_timeline *timeline, tm_keys *keys, tm_vec *counters) {
    const tm_counter_attr *attrs = timeline->attrs[TM_ATTR_COUNTER];
    uint32_t track = 0;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COUNTER]; i++) {
        const uint32_t row = attrs[i].event;
        while (row >= timeline->tracks[track].first + timeline->tracks[track].count)
            track++;
        if (timeline->kind[row] != TM_COUNTER || !isfinite(attrs[i].value))
            continue;
        const counter_key key = {track, timeline->name[row], attrs[i].series};
        counter *c = tm_keys_value(keys, counters, &key);
        if (!c)
            return false;
        c->min = c->samples == 0 || attrs[i].value < c->min ? attrs[i].value : c->min;
        c->max = c->samples == 0 || attrs[i].value > c->max ? attrs[i].value : c->max;
        c->sum += attrs[i].value;
        c->samples++;
    }
    return true;
}

/* Returns the name of a process or thread. If it has no name, returns its number. */
static const char *called(const tm_names *names, uint32_t name, uint32_t number) {
    return tm_names_text(names, name == TM_NO_NAME ? number : name).bytes;
}

static tm_status set_source(const tm_names *names, const tm_track *track, tm_table *table,
                            tm_cell *cell, tm_error *err) {
    char text[160];
    if (track->kind == TM_TRACK_GPU && track->device >= 0)
        snprintf(text, sizeof text, "device %" PRId32, track->device);
    else
        snprintf(text, sizeof text, "%.70s, %.70s", called(names, track->process_name, track->pid),
                 called(names, track->thread_name, track->tid));
    return tm_table_set_text(table, cell, text, err);
}

static tm_status add_row(const tm_rank_view *view, const counter_key *key, const counter *c,
                         tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[RANK], view->timeline->rank);
    tm_cell_set_int(&row[SAMPLES], c->samples);
    tm_cell_set_real(&row[MEAN], c->sum / (double)c->samples);
    tm_cell_set_real(&row[MIN], c->min);
    tm_cell_set_real(&row[MAX], c->max);
    TM_TRY(set_source(view->names, &view->timeline->tracks[key->track], table, &row[SOURCE], err));
    TM_TRY(tm_set_named(view->names, key->name, table, &row[NAME], err));
    return tm_set_named(view->names, key->series, table, &row[SERIES], err);
}

tm_status tm_counters_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_keys keys = TM_KEYS(counter_key);
    tm_vec counters = TM_VEC(counter);
    tm_status status = count(view->timeline, &keys, &counters) ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < counters.n && i < LISTED && status == TM_OK; i++)
        status = add_row(view, (const counter_key *)keys.keys.data + i,
                         (const counter *)counters.data + i,
                         tm_tables_find(out, tm_counters_table.name), err);
    tm_keys_free(&keys);
    tm_vec_free(&counters);
    return status;
}
