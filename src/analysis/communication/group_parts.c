#include "group_parts.h"

#include <stdlib.h>

#include "analysis/shared/bandwidth.h"
#include "analysis/shared/size_class.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "group_fit.h"

static const tm_column part_columns[TM_N_GP] = {
    [TM_GP_ID] = {"id", TM_INT, "", "Id of the process group."},
    [TM_GP_GROUP] = {"group", TM_TEXT, "", "As in groups.group."},
    [TM_GP_DESCRIPTION_ID] = {"description_id", TM_INT, "", "Name id of the group's description."},
    [TM_GP_DESCRIPTION] = {"description", TM_TEXT, "", "As in groups.group."},
    [TM_GP_DIMENSION] = {"dimension", TM_TEXT, "",
                         "Dimension named by the group's description or name."},
    [TM_GP_RANKS] = {"ranks", TM_INT, "", "As in groups.group."},
    [TM_GP_COMPLETE] = {"complete", TM_INT, "", "As in groups.group."},
    [TM_GP_INCOMPLETE] = {"incomplete", TM_INT, "", "As in groups.group."},
    [TM_GP_SUSPECT] = {"suspect", TM_INT, "", "As in groups.group."},
    [TM_GP_BYTES] = {"bytes", TM_INT, "B", "As in groups.group."},
    [TM_GP_COMM] = {"comm_ns", TM_INT, "ns", "As in groups.group."},
    [TM_GP_WAIT] = {"wait_ns", TM_INT, "ns", "As in groups.group."},
    [TM_GP_TRANSFER] = {"transfer_ns", TM_INT, "ns", "As in groups.group."},
    [TM_GP_BUSBW] = {"busbw_gbps", TM_REAL, "GB/s", "As in groups.group."},
    [TM_GP_LATENCY] = {"latency_ns", TM_INT, "ns", "As in groups.group."},
    [TM_GP_BANDWIDTH] = {"fit_busbw_gbps", TM_REAL, "GB/s", "As in groups.group."},
    [TM_GP_SLOW] = {"slow_operations", TM_INT, "", "As in groups.group."},
    [TM_GP_PAIRS_ONLY] = {"pairs_only", TM_BOOL, "",
                          "Whether the group has only sends and receives."},
};

/* There is one row per id, because one process owns a group and all its operations. */
const tm_table_def tm_group_part_def = TM_INTERNAL_TABLE(
    "groups.part", "A row for each process group: what its own operations show.", part_columns, 1);

static const tm_column class_columns[TM_N_GC] = {
    [TM_GC_ID] = {"id", TM_INT, "", "Id of the process group."},
    [TM_GC_FROM] = {"from_rank", TM_INT, "",
                    "Sending rank; -1 if the row is not for a pair of ranks."},
    [TM_GC_TO] = {"to_rank", TM_INT, "",
                  "Receiving rank; -1 if the row is not for a pair of ranks."},
    [TM_GC_KIND] = {"kind", TM_INT, "", "Kind of collective, as a number."},
    [TM_GC_SIZE_CLASS] = {"size_class_bytes", TM_INT, "B", "As in groups.link."},
    [TM_GC_COUNT] = {"count", TM_INT, "", "As in groups.link."},
    [TM_GC_BYTES] = {"bytes", TM_INT, "B", "As in groups.link."},
    [TM_GC_TIME] = {"median_ns", TM_INT, "ns", "As in groups.link."},
    [TM_GC_BUSBW] = {"busbw_gbps", TM_REAL, "GB/s", "As in groups.link."},
    [TM_GC_FIT] = {"times_fit", TM_REAL, "", "As in groups.link."},
};

/* The process that owns a group adds the rows. To find slow links, the job compares the rows of all
 * groups. */
const tm_table_def tm_group_class_def = TM_INTERNAL_TABLE(
    "groups.class", "A row for each process group, pair of ranks, kind and size class.",
    class_columns, TM_GC_SIZE_CLASS + 1);

/* One process group. */
typedef struct portrait {
    const tm_instance_value *v;
    size_t n;
    bool pairs_only;
    tm_transfer_line line;
    int64_t n_slow;
    double busbw; /* median bandwidth of large operations [GB/s]; 0 if there are none */
} portrait;

/* Sorts by group. Within a group, complete operations come first and are sorted by class. */
static int by_class(const void *a, const void *b) {
    const tm_instance_value *x = a, *y = b;
    int found = tm_order_u64(x->process_group, y->process_group);
    found = found ? found : tm_order_i64(x->state, y->state);
    found = found ? found : tm_order_i64(x->from, y->from);
    found = found ? found : tm_order_i64(x->to, y->to);
    found = found ? found : tm_order_i64(x->kind, y->kind);
    return found ? found : tm_order_i64(tm_size_class(x->bytes), tm_size_class(y->bytes));
}

static bool is_pair(const tm_instance_value *v) {
    return v->from >= 0 && v->to >= 0;
}

/* Returns how long a complete operation takes after its last rank has arrived [ns]; -1 if unknown.
 * For a transfer between two ranks, returns the duration of the shorter kernel, because that kernel
 * does not wait. */
static int64_t time_of(const tm_instance_value *v) {
    return is_pair(v) ? v->shortest_ns : v->transfer_ns;
}

static double moved(const tm_instance_value *v) {
    return (double)v->bytes * tm_bus_factor(v->kind, v->group_size);
}

/* Returns whether the fit uses operations of a class. Transfers between two ranks behave unlike
 * collectives, so the fit uses them only if the group has no other operations. */
static bool is_fitted(const portrait *p, const tm_instance_value *v) {
    return v->state == TM_INSTANCE_COMPLETE && v->bytes > 0 && v->group_size > 1 &&
           is_pair(v) == p->pairs_only;
}

static bool is_reported(const portrait *p, const tm_instance_value *v) {
    return is_fitted(p, v) && time_of(v) > 0;
}

/* Sets the line, the bandwidth of large operations, and the number of slow operations. */
static tm_status fit(portrait *p, tm_error *err) {
    tm_transfer *transfers = malloc((p->n + 1) * sizeof *transfers);
    double *rates = malloc((p->n + 1) * sizeof *rates);
    size_t n = 0, n_rates = 0;
    if (!transfers || !rates) {
        free(transfers);
        free(rates);
        return tm_fail_memory(err);
    }
    for (size_t i = 0; i < p->n; i++) {
        const tm_instance_value *v = &p->v[i];
        if (!is_reported(p, v))
            continue;
        transfers[n++] = (tm_transfer){moved(v), (double)time_of(v)};
        if (v->bytes >= TM_LARGE_BYTES)
            rates[n_rates++] = moved(v) / (double)time_of(v);
    }
    tm_status status = tm_fit_transfers(transfers, n, &p->line, err);
    if (status == TM_OK && n_rates > 0)
        p->busbw = tm_median_real(rates, n_rates);
    for (size_t i = 0; i < n && status == TM_OK && p->line.found; i++) {
        double usual = tm_line_at(&p->line, transfers[i].moved_bytes);
        /* Differences up to TM_SLOW_NS may be errors of clocks. */
        p->n_slow +=
            transfers[i].time_ns > 1.5 * usual && transfers[i].time_ns > usual + TM_SLOW_NS;
    }
    free(transfers);
    free(rates);
    return status;
}

/* Sets the sums. The transfer time counts only kernels whose wait is known. */
static void set_sums(tm_cell *row, const portrait *p) {
    int64_t states[] = {0, 0, 0}, bytes = 0, comm = 0, wait = 0, synced = 0;
    bool waits = false, sized = false;
    for (size_t i = 0; i < p->n; i++) {
        const tm_instance_value *v = &p->v[i];
        states[v->state]++;
        comm = tm_sum(comm, v->comm_ns);
        if (v->state == TM_INSTANCE_COMPLETE && v->bytes >= 0) {
            bytes = tm_sum(bytes, v->bytes);
            sized = true;
        }
        if (v->transfer_ns < 0)
            continue;
        waits = true;
        wait = tm_sum(wait, v->waited_ns);
        synced = tm_sum(synced, v->comm_ns);
    }
    tm_cell_set_int(&row[TM_GP_COMPLETE], states[TM_INSTANCE_COMPLETE]);
    tm_cell_set_int(&row[TM_GP_INCOMPLETE], states[TM_INSTANCE_INCOMPLETE]);
    tm_cell_set_int(&row[TM_GP_SUSPECT], states[TM_INSTANCE_SUSPECT]);
    tm_cell_set_int(&row[TM_GP_COMM], comm);
    if (sized)
        tm_cell_set_int(&row[TM_GP_BYTES], bytes);
    if (waits) {
        tm_cell_set_int(&row[TM_GP_WAIT], wait);
        tm_cell_set_int(&row[TM_GP_TRANSFER], synced - wait);
    }
}

/* Adds the group's row. The merge sets the text of the description, because only it knows names. */
static tm_status add_part(const portrait *p, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    uint32_t description = TM_NO_NAME;
    for (size_t i = 0; i < p->n; i++)
        /* Some ranks may lack a description. Unlike other choices, the maximum of the ids does not
         * depend on the order of ranks. TM_NO_NAME is below every id. */
        description = p->v[i].description > description ? p->v[i].description : description;
    tm_cell_set_int(&row[TM_GP_ID], (int64_t)p->v->process_group);
    tm_cell_set_int(&row[TM_GP_DESCRIPTION_ID], description);
    tm_cell_set_int(&row[TM_GP_RANKS], p->v->process_group_size);
    tm_cell_set_bool(&row[TM_GP_PAIRS_ONLY], p->pairs_only);
    set_sums(row, p);
    if (p->busbw > 0.0)
        tm_cell_set_real(&row[TM_GP_BUSBW], p->busbw);
    /* a line may show neither latency nor bandwidth */
    if (p->line.found)
        tm_cell_set_int(&row[TM_GP_SLOW], p->n_slow);
    if (p->line.shows_latency)
        tm_cell_set_int(&row[TM_GP_LATENCY], (int64_t)(p->line.latency_ns + 0.5));
    if (p->line.shows_bandwidth)
        tm_cell_set_real(&row[TM_GP_BANDWIDTH], p->line.bandwidth_gbps);
    return tm_table_set_text(table, &row[TM_GP_GROUP], p->v->group_text, err);
}

/* Adds the row of a class of complete operations, if any of their times is known. */
static tm_status add_class(const portrait *p, const tm_instance_value *v, size_t n, tm_table *table,
                           tm_error *err) {
    size_t n_timed = 0; /* some times are unknown if clocks cannot be compared, or if ranks left
                           early */
    for (size_t i = 0; i < n; i++)
        n_timed += time_of(&v[i]) >= 0;
    if (v->bytes <= 0 || n_timed == 0)
        return TM_OK;
    int64_t *times = malloc(2 * n * sizeof *times); /* room for two arrays: `times` and `bytes` */
    tm_cell *row = times ? tm_table_add_row(table) : NULL;
    if (!row) {
        free(times);
        return tm_fail_memory(err);
    }
    int64_t *bytes = times + n;
    n_timed = 0;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = v[i].bytes;
        if (time_of(&v[i]) >= 0)
            times[n_timed++] = time_of(&v[i]);
    }
    int64_t time = tm_median_any(times, n_timed), size = tm_median_any(bytes, n);
    free(times);
    double rate = (double)size * tm_bus_factor(v->kind, v->group_size);
    tm_cell_set_int(&row[TM_GC_ID], (int64_t)v->process_group);
    tm_cell_set_int(&row[TM_GC_FROM], v->from);
    tm_cell_set_int(&row[TM_GC_TO], v->to);
    tm_cell_set_int(&row[TM_GC_KIND], v->kind);
    tm_cell_set_int(&row[TM_GC_SIZE_CLASS], tm_size_class(v->bytes));
    tm_cell_set_int(&row[TM_GC_COUNT], (int64_t)n);
    tm_cell_set_int(&row[TM_GC_BYTES], size);
    tm_cell_set_int(&row[TM_GC_TIME], time);
    if (time > 0)
        tm_cell_set_real(&row[TM_GC_BUSBW], rate / (double)time);
    if (p->line.found && is_fitted(p, v) && time > 0)
        tm_cell_set_real(&row[TM_GC_FIT], (double)time / tm_line_at(&p->line, rate));
    return TM_OK;
}

/* Adds the rows of a process group with [n] operations, sorted by_class. */
static tm_status add_group(const tm_instance_value *v, size_t n, tm_tables *out, tm_error *err) {
    portrait p = {.v = v, .n = n, .pairs_only = true};
    for (size_t i = 0; i < n; i++)
        p.pairs_only = p.pairs_only && (v[i].from >= 0 || v[i].to >= 0);
    TM_TRY(fit(&p, err));
    TM_TRY(add_part(&p, tm_tables_find(out, tm_group_part_def.name), err));
    tm_table *classes = tm_tables_find(out, tm_group_class_def.name);
    /* complete operations come first */
    for (size_t first = 0, i = 0; first < n && v[first].state == TM_INSTANCE_COMPLETE; first = i) {
        for (i = first + 1; i < n && by_class(&v[first], &v[i]) == 0; i++)
            ;
        TM_TRY(add_class(&p, v + first, i - first, classes, err));
    }
    return TM_OK;
}

tm_status tm_group_parts_add(const tm_collectives *own, tm_tables *out, tm_error *err) {
    tm_instance_value *v = own->values.data;
    size_t n = own->values.n;
    if (n > 1)
        qsort(v, n, sizeof *v, by_class);
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first + 1; i < n && v[i].process_group == v[first].process_group; i++)
            ;
        TM_TRY(add_group(v + first, i - first, out, err));
    }
    return TM_OK;
}
