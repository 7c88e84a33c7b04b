#include "ncu/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PER_SECOND ".avg.per_second"
#define PCT ".avg.pct_of_peak_sustained_elapsed"
/* Start of a section's title. Since 2021 the title is "GPU Speed Of Light Throughput". */
#define SOL "GPU Speed Of Light"

/* The metrics that are read. A metric is found by its name on any page, or by its label in a
 * section of a details page. */
static const struct row {
    const char *name;            /* NULL: the row only adds a label that old versions use */
    const char *section, *label; /* start of the section's title, and label; or both NULL */
    int slot;
    double factor;
} rows[] = {
    {"sm__throughput" PCT, SOL, "Compute (SM) Throughput", TM_SLOT_SM_PCT, 1},
    {NULL, SOL, "SM [%]", TM_SLOT_SM_PCT, 1},
    {NULL, SOL, "SOL SM", TM_SLOT_SM_PCT, 1},
    {"gpu__compute_memory_throughput" PCT, SOL, "Memory Throughput", TM_SLOT_MEMORY_PCT, 1},
    {NULL, SOL, "Memory [%]", TM_SLOT_MEMORY_PCT, 1},
    {NULL, SOL, "SOL Memory", TM_SLOT_MEMORY_PCT, 1},
    {"dram__throughput" PCT, SOL, "DRAM Throughput", TM_SLOT_DRAM_PCT, 1},
    {"gpu__dram_throughput" PCT, NULL, NULL, TM_SLOT_DRAM_PCT, 1},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "Occupancy", "Achieved Occupancy",
     TM_SLOT_OCCUPANCY_PCT, 1},
    {"gpu__time_duration.sum", SOL, "Duration", TM_SLOT_DURATION_S, 1},
    {"smsp__cycles_elapsed" PER_SECOND, NULL, NULL, TM_SLOT_CYCLES_PER_S, 1},
    {"dram__bytes.sum", NULL, NULL, TM_SLOT_DRAM_BYTES, 1},
    {"dram__bytes_read.sum", NULL, NULL, TM_SLOT_DRAM_READ, 1},
    {"dram__bytes_write.sum", NULL, NULL, TM_SLOT_DRAM_WRITTEN, 1},
    {"dram__bytes.sum.per_second", "Memory Workload Analysis", "Memory Throughput",
     TM_SLOT_DRAM_BYTES_PER_S, 1},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", NULL, NULL,
     TM_SLOT_FLOP_PEAK, 2},
    {"derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", NULL, NULL, TM_SLOT_FLOP_PEAK, 1},
    {"sm__cycles_elapsed" PER_SECOND, NULL, NULL, TM_SLOT_SM_CYCLES_PER_S, 1},
    {"dram__bytes.sum.peak_sustained", NULL, NULL, TM_SLOT_DRAM_PEAK, 1},
    {"dram__cycles_elapsed" PER_SECOND, NULL, NULL, TM_SLOT_DRAM_CYCLES_PER_S, 1},
};

/* Operation counters, and the number of operations that one count stands for. The name of a tensor
 * core counter gives the source type and usually the destination type. A counter without a
 * destination type is a sum over all of them. So it is listed only if its source type has no other
 * counter. */
static const struct counter {
    const char *name;
    double operations;
} counters[TM_N_COUNTERS] = {
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on", 1},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on", 1},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on", 2},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on", 1},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on", 1},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on", 2},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on", 1},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on", 1},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on", 2},
    {"sm__ops_path_tensor_src_bf16_dst_fp32", 1},
    {"sm__ops_path_tensor_src_fp16_dst_fp16", 1},
    {"sm__ops_path_tensor_src_fp16_dst_fp32", 1},
    {"sm__ops_path_tensor_src_tf32_dst_fp32", 1},
    {"sm__ops_path_tensor_src_fp64", 1},
    {"sm__ops_path_tensor_src_fp8", 1},
    {"sm__ops_path_tensor_src_fp4_dst_fp32", 1},
};

enum { FIRST_TENSOR = 9 };

/* Finds the slot of an operation counter. A metric "derived__..._x2" is twice the number of fused
 * multiply-adds per cycle, so it counts operations. */
static tm_metric find_counter(const char *name) {
    static const char derived[] = "derived__";
    const bool doubled = strncmp(name, derived, sizeof derived - 1) == 0;
    name += doubled ? sizeof derived - 1 : 0;
    for (int c = 0; c < TM_N_COUNTERS; c++) {
        const size_t size = strlen(counters[c].name);
        if (strncmp(name, counters[c].name, size) != 0)
            continue;
        const char *form = name + size;
        if (doubled && strcmp(form, "_x2") == 0)
            return (tm_metric){TM_SLOT_COUNTERS + TM_N_COUNTERS + c, 1};
        if (!doubled && strcmp(form, ".sum") == 0)
            return (tm_metric){TM_SLOT_COUNTERS + c, counters[c].operations};
        if (!doubled && strcmp(form, ".sum.per_cycle_elapsed") == 0)
            return (tm_metric){TM_SLOT_COUNTERS + TM_N_COUNTERS + c, counters[c].operations};
        if (!doubled && strcmp(form, ".sum.peak_sustained") == 0)
            return (tm_metric){TM_SLOT_COUNTERS + 2 * TM_N_COUNTERS + c, counters[c].operations};
    }
    return (tm_metric){-1, 0};
}

/* Returns whether values above 0 of this metric show floating-point work of the tensor cores. This
 * excludes peaks and counters of imma (integer). */
static bool is_tensor_use(const char *name) {
    return strstr(name, "pipe_tensor") && !strstr(name, "imma") &&
           (!strstr(name, "peak_sustained") || strstr(name, ".pct_of_peak_sustained"));
}

tm_metric tm_metric_find(const char *section, const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        const bool labelled = r->label && strcmp(name, r->label) == 0 &&
                              strncmp(section, r->section, strlen(r->section)) == 0;
        if (labelled || (r->name && strcmp(name, r->name) == 0))
            return (tm_metric){r->slot, r->factor};
    }
    if (is_tensor_use(name))
        return (tm_metric){TM_SLOT_TENSOR_USE, 1};
    return find_counter(name);
}

/* Returns the factor that converts a unit to its base unit: 1e-6 for "usecond". The unit has no
 * "/". */
static double scale_of(const char *unit, size_t size) {
    static const char *const bases[] = {"byte", "B",    "second", "s",  "hz",
                                        "Hz",   "inst", "cycle",  "op", "ops"};
    static const struct {
        char letter;
        double scale;
    } prefixes[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'K', 1e3},
                    {'k', 1e3},  {'M', 1e6},  {'G', 1e9},  {'T', 1e12}};
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        if (size != strlen(bases[b]) + 1 || memcmp(unit + 1, bases[b], size - 1) != 0)
            continue;
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
            if (unit[0] == prefixes[p].letter)
                return prefixes[p].scale;
    }
    return 1.0;
}

double tm_unit_scale(const char *unit) {
    const size_t size = strcspn(unit, "/");
    const double scale = scale_of(unit, size);
    return unit[size] ? scale / scale_of(unit + size + 1, strlen(unit + size + 1)) : scale;
}

double tm_ncu_unit_scale(tm_text unit) {
    return tm_unit_scale(unit.bytes);
}

/* Copies a value without its thousands separators; false if one is misplaced. */
static bool without_separators(const char *text, size_t size, char *out) {
    bool whole = true;
    for (size_t i = 0; i < size; i++) {
        whole = whole && text[i] != '.' && text[i] != 'e' && text[i] != 'E';
        if (text[i] != ',') {
            *out++ = text[i];
            continue;
        }
        if (!whole || i == 0 || strspn(text + i + 1, "0123456789") != 3)
            return false;
    }
    *out = '\0';
    return true;
}

bool tm_value_parse(const char *text, double *out) {
    char digits[64], *end;
    /* The values of single instances may follow after a blank. */
    const size_t size = strcspn(text, " ");
    *out = (double)NAN;
    if (!isdigit((unsigned char)text[text[0] == '-' || text[0] == '+']))
        return true;
    if (size >= sizeof digits || strspn(text, "0123456789+-.,eE") < size ||
        !without_separators(text, size, digits))
        return false;
    const double value = strtod(digits, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* Returns the first value unless it is NaN, else the second. Callers pass a direct count first,
 * then a value derived from a rate. */
static double known_or(double first, double second) {
    return isnan(first) ? second : first;
}

/* Returns the number of floating-point operations of one counter; NaN if the file lacks it. */
static double flop_counted(const double *slots, int c) {
    const double *counted = slots + TM_SLOT_COUNTERS, *per_cycle = counted + TM_N_COUNTERS;
    const double cycles = slots[TM_SLOT_CYCLES_PER_S] * slots[TM_SLOT_DURATION_S];
    return known_or(counted[c], per_cycle[c] * cycles);
}

/* Returns the tensor cores' peak operations per cycle for the type that they used most. If the
 * tensor cores were idle, returns the peak for the fastest type. Returns NaN if it is unknown. */
static double tensor_peak(const double *slots) {
    const double *peaks = &slots[TM_SLOT_COUNTERS + 2 * TM_N_COUNTERS];
    double most = 0, used = (double)NAN, fastest = (double)NAN;
    for (int c = FIRST_TENSOR; c < TM_N_COUNTERS; c++) {
        const double flop = flop_counted(slots, c);
        fastest = peaks[c] > known_or(fastest, 0.0) ? peaks[c] : fastest;
        if (flop > most) {
            most = flop;
            used = peaks[c];
        }
    }
    return most > 0 ? used : fastest;
}

/* Returns the number of floating-point operations. Returns NaN if no counter is known. Also returns
 * NaN if the tensor cores worked, but none of their counters is known. */
static double flop_of(const double *slots) {
    double sum = (double)NAN;
    bool has_tensor = false;
    for (int c = 0; c < TM_N_COUNTERS; c++) {
        const double flop = flop_counted(slots, c);
        if (isnan(flop))
            continue;
        sum = known_or(sum, 0.0) + flop;
        has_tensor = has_tensor || c >= FIRST_TENSOR;
    }
    return slots[TM_SLOT_TENSOR_USE] > 0 && !has_tensor ? (double)NAN : sum;
}

void tm_metrics_figures(const double *slots, double figures[TM_NCU_N_FIGURES]) {
    figures[TM_NCU_SM_PCT] = slots[TM_SLOT_SM_PCT];
    figures[TM_NCU_MEMORY_PCT] = slots[TM_SLOT_MEMORY_PCT];
    figures[TM_NCU_DRAM_PCT] = slots[TM_SLOT_DRAM_PCT];
    figures[TM_NCU_OCCUPANCY_PCT] = slots[TM_SLOT_OCCUPANCY_PCT];
    figures[TM_NCU_FLOP] = flop_of(slots);
    figures[TM_NCU_DRAM_BYTES] = known_or(
        known_or(slots[TM_SLOT_DRAM_BYTES], slots[TM_SLOT_DRAM_READ] + slots[TM_SLOT_DRAM_WRITTEN]),
        slots[TM_SLOT_DRAM_BYTES_PER_S] * slots[TM_SLOT_DURATION_S]);
    figures[TM_NCU_FLOP_ROOF] = slots[TM_SLOT_FLOP_PEAK] * slots[TM_SLOT_SM_CYCLES_PER_S];
    figures[TM_NCU_TENSOR_ROOF] = tensor_peak(slots) * slots[TM_SLOT_SM_CYCLES_PER_S];
    figures[TM_NCU_DRAM_ROOF] = slots[TM_SLOT_DRAM_PEAK] * slots[TM_SLOT_DRAM_CYCLES_PER_S];
}
