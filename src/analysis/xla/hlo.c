/* Analysis `hlo`: FLOP and bytes of the operations of XLA's programs. */
#include <string.h>

#include "analysis/shared/device_facts.h"
#include "analysis/shared/xla_ops.h"
#include "hlo_rows.h"

enum {
    RANK,
    DEVICE,
    PEAK_RATE,
    PEAK_BANDWIDTH,
    RIDGE,
    OCCURRENCES,
    SELF,
    KNOWN,
    FLOP,
    RATE,
    PEAK,
    BYTES,
    BANDWIDTH,
    BANDWIDTH_PEAK,
    INTENSITY
};

static const tm_column rank_columns[] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [DEVICE] = {"device", TM_TEXT, "", "Name of the rank's device, from the trace."},
    [PEAK_RATE] = {"peak_tflops", TM_REAL, "TFLOP/s",
                   "Peak compute rate of the device (16 bit), from the trace."},
    [PEAK_BANDWIDTH] = {"peak_bw_gbps", TM_REAL, "GB/s",
                        "Peak bandwidth of the device's main memory, from the trace."},
    [RIDGE] = {"ridge_flop_per_byte", TM_REAL, "FLOP/B",
               "FLOP per byte at which compute and memory are equally limiting: peak_tflops / "
               "peak_bw_gbps. Memory limits operations with fewer FLOP per byte."},
    [OCCURRENCES] = {"occurrences", TM_INT, "", "Number of operations that ran on the rank."},
    [SELF] = {"self_ns", TM_INT, "ns", "Duration of the operations, without nested operations."},
    [KNOWN] = {"known_pct", TM_REAL, "%",
               "Share of self_ns in operations whose FLOP and bytes are known. The rates "
               "achieved_tflops and bw_gbps count only these operations."},
    [FLOP] = {"flop", TM_REAL, "FLOP",
              "FLOP of all operations, as in hlo.work; null if unknown for every operation."},
    [RATE] = {"achieved_tflops", TM_REAL, "TFLOP/s",
              "Rate of the operations whose FLOP and bytes are known: flop / self_ns."},
    [PEAK] = {"peak_pct", TM_REAL, "%",
              "Share of the peak compute rate: 100 achieved_tflops / peak_tflops."},
    [BYTES] = {"bytes", TM_REAL, "B",
               "Bytes that the operations read from and write to the device's main memory, as in "
               "hlo.work."},
    [BANDWIDTH] = {"bw_gbps", TM_REAL, "GB/s",
                   "Bandwidth of the operations whose FLOP and bytes are known: bytes / self_ns."},
    [BANDWIDTH_PEAK] = {"peak_bw_pct", TM_REAL, "%",
                        "Share of the peak bandwidth: 100 bw_gbps / peak_bw_gbps."},
    [INTENSITY] = {"flop_per_byte", TM_REAL, "FLOP/B", "Arithmetic intensity: flop / bytes."},
};

static const tm_table_def rank_def = {
    .name = "hlo.rank",
    .doc = "A row for each rank whose device ran operations that XLA compiled.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = SELF,
    .form = TM_FORM_BARS,
};

static const tm_table_def *const defs[] = {&rank_def, &tm_hlo_work_table, &tm_hlo_work_part};

/* Sets a cell to the quotient of two cells, or leaves it null if one of them is null. */
static void set_quotient(tm_cell *row, int cell, double scale, int of, int by) {
    if (!row[of].null && !row[by].null)
        tm_cell_set_real(&row[cell], scale * row[of].value.r / row[by].value.r);
}

static tm_status add_row(const tm_rank_view *view, const tm_hlo_sum *sum, tm_table *table,
                         tm_error *err) {
    tm_device device;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_device_find(view->timeline, view->names, view->timeline->device, &device);
    tm_cell_set_int(&row[RANK], view->timeline->rank);
    tm_cell_set_int(&row[OCCURRENCES], sum->occurrences);
    tm_cell_set_int(&row[SELF], sum->self_ns);
    tm_cell_set_ratio(&row[KNOWN], 100.0, sum->known_ns, sum->self_ns);
    if (device.peak_tflops > 0.0)
        tm_cell_set_real(&row[PEAK_RATE], device.peak_tflops);
    if (device.peak_bw_gbps > 0.0)
        tm_cell_set_real(&row[PEAK_BANDWIDTH], device.peak_bw_gbps);
    set_quotient(row, RIDGE, 1e3, PEAK_RATE, PEAK_BANDWIDTH);
    if (sum->known_ns > 0) {
        tm_cell_set_real(&row[FLOP], (double)sum->flop);
        tm_cell_set_real(&row[RATE], (double)sum->flop / (double)sum->known_ns / 1e3);
        tm_cell_set_real(&row[BYTES], (double)sum->bytes);
        tm_cell_set_real(&row[BANDWIDTH], (double)sum->bytes / (double)sum->known_ns);
    }
    set_quotient(row, PEAK, 100.0, RATE, PEAK_RATE);
    set_quotient(row, BANDWIDTH_PEAK, 100.0, BANDWIDTH, PEAK_BANDWIDTH);
    set_quotient(row, INTENSITY, 1.0, FLOP, BYTES);
    return tm_table_set_text(table, &row[DEVICE], *device.name ? device.name : NULL, err);
}

static tm_status hlo_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_vec ops;
    tm_hlo_sum sum = {0};
    if (view->timeline->n_attrs[TM_ATTR_XLA] == 0)
        return TM_OK;
    tm_status status = tm_xla_ops_find(view->timeline, view->names, &ops, err);
    if (status == TM_OK)
        status = tm_hlo_rank_rows(view, &ops, out, &sum, err);
    tm_vec_free(&ops);
    if (status != TM_OK || sum.occurrences == 0)
        return status;
    return add_row(view, &sum, tm_tables_find(out, rank_def.name), err);
}

/* Returns the peak that all ranks have in common; 0 if peaks differ. */
static double common(const tm_table *ranks, int column) {
    double value = 0.0;
    for (size_t r = 0; r < ranks->n_rows; r++) {
        const tm_cell *cell = &tm_table_row(ranks, r)[column];
        if (cell->null || (r > 0 && cell->value.r != value))
            return 0.0;
        value = cell->value.r;
    }
    return value;
}

static tm_status hlo_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    const tm_table *ranks = tm_tables_find(out, rank_def.name);
    const tm_hlo_peaks peaks = {common(ranks, PEAK_RATE), common(ranks, PEAK_BANDWIDTH)};
    return tm_hlo_complete_rows(&peaks, out, err);
}

const tm_analysis tm_analysis_hlo = {
    .name = "hlo",
    .summary = "FLOP and bytes of XLA's operations, compared with the device's peak rates",
    TM_ARRAY(tables, defs),
    .rank = hlo_rank,
    .merge = tm_hlo_merge_rows,
    .job = hlo_job,
};
