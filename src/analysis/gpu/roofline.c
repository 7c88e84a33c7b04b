#include "roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/launch_shape.h"
#include "base/sums.h"
#include "kernel_key.h"
#include "measured.h"

/* If both throughputs are below this [%], the kernel mostly waits. The value is
 * latency_bound_threshold of Nsight Compute's SpeedOfLight rule (sections/SpeedOfLight.py). */
#define LATENCY_PCT 60.0

enum {
    NAME,
    GRID,
    BLOCK,
    LAUNCHES,
    CALLS,
    TOTAL,
    SM,
    MEMORY,
    DRAM,
    OCCUPANCY,
    FLOP,
    DRAM_BYTES,
    INTENSITY,
    RATE,
    FLOP_ROOF,
    DRAM_ROOF,
    TENSOR_ROOF,
    BOUND
};

static const tm_column columns[] = {
    [NAME] = {"name", TM_TEXT, "",
              "Name of the kernel in the job's traces; if the job does not run it, its name in the "
              "file of --ncu."},
    [GRID] = {"grid", TM_TEXT, "",
              "Number of thread blocks of the launch (x,y,z). Null if the file of --ncu does not "
              "have it; the row then covers all launch shapes of the kernel."},
    [BLOCK] = {"block", TM_TEXT, "",
               "Number of threads per block (x,y,z); null if the file of --ncu lacks it."},
    [LAUNCHES] = {"launches", TM_INT, "",
                  "Number of launches that Nsight Compute measured. Measured columns are means "
                  "over these launches; launches without a value are skipped."},
    [CALLS] =
        {"calls", TM_INT, "",
         "Number of kernels of this name and shape in the job's traces; null if there are none."},
    [TOTAL] = {"total_ns", TM_INT, "ns",
               "Sum of the durations of the kernels of this name and shape in the job's traces."},
    [SM] = {"sm_pct", TM_REAL, "%",
            "Throughput of the multiprocessors as a share of their peak (sm__throughput)."},
    [MEMORY] = {"memory_pct", TM_REAL, "%",
                "Throughput of the busiest part of the memory, including caches, as a share of its "
                "peak (gpu__compute_memory_throughput)."},
    [DRAM] = {"dram_pct", TM_REAL, "%",
              "Throughput of DRAM as a share of its peak (dram__throughput)."},
    [OCCUPANCY] =
        {"occupancy_pct", TM_REAL, "%",
         "Achieved occupancy: active warps / maximum number of warps (sm__warps_active)."},
    [FLOP] = {"flop", TM_REAL, "FLOP",
              "Floating-point operations per launch: sum of two kinds of counters in the file of "
              "--ncu. Names of the first kind start with smsp__sass_thread_inst_executed_op_ (add "
              "and mul count 1, fma counts 2), names of the second with sm__ops_path_tensor_. Null "
              "if tensor cores were active, but their operations were not counted."},
    [DRAM_BYTES] =
        {"dram_bytes", TM_REAL, "B",
         "Bytes that a launch reads from and writes to DRAM: the counter dram__bytes. Without this "
         "counter: DRAM's throughput times the duration that Nsight Compute measured."},
    [INTENSITY] = {"flop_per_byte", TM_REAL, "FLOP/B", "Arithmetic intensity: flop / dram_bytes."},
    [RATE] = {"achieved_gflops", TM_REAL, "GFLOP/s",
              "Rate that the kernel achieves in the job: flop x calls / total_ns."},
    [FLOP_ROOF] = {"roof_gflops", TM_REAL, "GFLOP/s",
                   "Peak FP32 rate without tensor cores: twice the peak of op_ffma per cycle, "
                   "times cycles per second."},
    [DRAM_ROOF] =
        {"roof_bw_gbps", TM_REAL, "GB/s",
         "Peak bandwidth of DRAM: the peak of dram__bytes per cycle, times cycles per second."},
    [TENSOR_ROOF] =
        {"tensor_roof_gflops", TM_REAL, "GFLOP/s",
         "Peak rate of the tensor cores: the peak of sm__ops_path_tensor_* per cycle, times cycles "
         "per second. The peak is for the number format that the kernel uses most on tensor cores; "
         "if it uses none, for the fastest format in the file."},
    [BOUND] = {"bound", TM_TEXT, "",
               "What limits the kernel. latency: sm_pct and memory_pct are both under 60, the "
               "threshold of Nsight Compute's SpeedOfLight rule. compute: sm_pct is at least "
               "memory_pct. memory: all other cases. If memory_pct is missing, dram_pct is used in "
               "its place. Null if sm_pct is missing, or if both memory_pct and dram_pct are."},
};

const tm_table_def tm_roofline_table = {
    .name = "kernels.roofline",
    .doc = "A row for each kernel name and launch shape that Nsight Compute measured (tmerge "
           "analyze --ncu), with the largest total_ns first. Measured kernels and the job's "
           "kernels are joined by name, grid and block; names are compared without parameters and "
           "independent of the demangler.",
    TM_ARRAY(columns, columns),
    .n_keys = 3,
    .top = TOTAL,
};

/* Measured launches with one name and shape. */
typedef struct group {
    tm_text name;
    /* "" if the file does not have it */
    char grid[TM_LAUNCH_SHAPE_MAX], block[TM_LAUNCH_SHAPE_MAX];
    int64_t launches, calls, total_ns;
    double sums[TM_NCU_N_FIGURES];
    /* number of launches that have the figure */
    int64_t counts[TM_NCU_N_FIGURES];
} group;

/* Finds groups by name and shape. The id of a key is 1 + the index of its group. */
typedef struct groups {
    tm_names *keys;
    tm_vec list; /* vector of group */
    tm_vec key;  /* scratch for a key: vector of char */
} groups;

/* Returns the id of a key; 0 if out of memory. */
static uint32_t key_of(groups *g, tm_text name, const char *grid, const char *block) {
    bool ok = tm_kernel_key(name, &g->key) && tm_vec_append(&g->key, "\n", 1) &&
              tm_vec_append(&g->key, grid, strlen(grid)) && tm_vec_append(&g->key, "\n", 1) &&
              tm_vec_append(&g->key, block, strlen(block));
    const uint32_t id = ok ? tm_names_intern(g->keys, g->key.data, g->key.n) : TM_NAME_FAILED;
    return id == TM_NAME_FAILED ? 0 : id;
}

/* Adds a launch to its group. Counts each figure separately, because a launch may lack some. */
static bool add_launch(groups *g, const tm_ncu_launch *launch, uint32_t *number) {
    group new = {.name = launch->name};
    tm_launch_shape_text(launch->grid, new.grid);
    tm_launch_shape_text(launch->block, new.block);
    /* The id of a new key is 1 + the number of groups, so a new group belongs at the end of the
     * list. */
    const uint32_t key = key_of(g, launch->name, new.grid, new.block);
    if (key == 0 || (key > g->list.n && !tm_vec_append(&g->list, &new, 1)))
        return false;
    group *own = (group *)g->list.data + (key - 1);
    own->launches++;
    *number = key - 1;
    for (int f = 0; f < TM_NCU_N_FIGURES; f++)
        if (!isnan(launch->figures[f])) {
            own->sums[f] += launch->figures[f];
            own->counts[f]++;
        }
    return true;
}

static const char *text_of(const tm_cell *cell) {
    return cell->null ? "" : cell->value.text;
}

/* Adds the calls of a shape to two groups: the group of its name and shape, and the group of its
 * name without a shape. Groups exist only for measured kernels. If there is no group, the key's id
 * is above the number of groups. */
static bool add_calls(groups *g, const tm_table *shapes, size_t row) {
    const char *text = text_of(tm_table_cell(shapes, row, "name"));
    const char *grid = text_of(tm_table_cell(shapes, row, "grid"));
    const char *block = text_of(tm_table_cell(shapes, row, "block"));
    const tm_text name = {text, strlen(text)};
    const uint32_t keys[] = {key_of(g, name, grid, block), key_of(g, name, "", "")};
    for (int i = 0; i < 2; i++) {
        if (keys[i] == 0)
            return false;
        if (keys[i] > g->list.n || (i == 1 && keys[1] == keys[0]))
            continue; /* not measured */
        group *own = (group *)g->list.data + (keys[i] - 1);
        /* Rows are sorted by total_ns, so the group gets the name of the shape with the most
         * time. */
        own->name = own->calls == 0 ? name : own->name;
        own->calls += tm_table_cell(shapes, row, "calls")->value.i;
        own->total_ns = tm_sum(own->total_ns, tm_table_cell(shapes, row, "total_ns")->value.i);
    }
    return true;
}

/* Returns the mean of a figure times @p scale; NaN, stored as null, if no launch has the figure. */
static double mean(const group *g, tm_ncu_figure figure, double scale) {
    return g->sums[figure] / (double)g->counts[figure] * scale;
}

static const char *bound_of(const group *g) {
    const double sm = mean(g, TM_NCU_SM_PCT, 1), all = mean(g, TM_NCU_MEMORY_PCT, 1);
    const double memory = isnan(all) ? mean(g, TM_NCU_DRAM_PCT, 1) : all;
    if (isnan(sm) || isnan(memory))
        return NULL;
    if (sm < LATENCY_PCT && memory < LATENCY_PCT)
        return "latency";
    return sm >= memory ? "compute" : "memory";
}

static tm_status add_row(const group *g, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    const double flop = mean(g, TM_NCU_FLOP, 1), bytes = mean(g, TM_NCU_DRAM_BYTES, 1);
    tm_cell_set_int(&row[LAUNCHES], g->launches);
    if (g->calls > 0) {
        tm_cell_set_int(&row[CALLS], g->calls);
        tm_cell_set_int(&row[TOTAL], g->total_ns);
        /* operations/ns are 10^9 operations/s */
        tm_cell_set_real(&row[RATE], flop * (double)g->calls / (double)g->total_ns);
    }
    tm_cell_set_real(&row[SM], mean(g, TM_NCU_SM_PCT, 1));
    tm_cell_set_real(&row[MEMORY], mean(g, TM_NCU_MEMORY_PCT, 1));
    tm_cell_set_real(&row[DRAM], mean(g, TM_NCU_DRAM_PCT, 1));
    tm_cell_set_real(&row[OCCUPANCY], mean(g, TM_NCU_OCCUPANCY_PCT, 1));
    tm_cell_set_real(&row[FLOP], flop);
    tm_cell_set_real(&row[DRAM_BYTES], bytes);
    tm_cell_set_real(&row[INTENSITY], flop / bytes);
    tm_cell_set_real(&row[FLOP_ROOF], mean(g, TM_NCU_FLOP_ROOF, 1e-9));
    tm_cell_set_real(&row[DRAM_ROOF], mean(g, TM_NCU_DRAM_ROOF, 1e-9));
    tm_cell_set_real(&row[TENSOR_ROOF], mean(g, TM_NCU_TENSOR_ROOF, 1e-9));
    TM_TRY(tm_table_set_bytes(table, &row[NAME], g->name.bytes, g->name.size, err));
    TM_TRY(tm_table_set_text(table, &row[GRID], *g->grid ? g->grid : NULL, err));
    TM_TRY(tm_table_set_text(table, &row[BLOCK], *g->block ? g->block : NULL, err));
    return tm_table_set_text(table, &row[BOUND], bound_of(g), err);
}

/* Adds Nsight Compute's metrics and rules for the measured kernels. */
static tm_status add_measured(const groups *g, const tm_ncu *ncu, const uint32_t *of_launch,
                              tm_tables *tables, tm_error *err) {
    tm_measured_kernel *kernels = malloc((g->list.n + 1) * sizeof *kernels);
    if (!kernels)
        return tm_fail_memory(err);
    for (size_t i = 0; i < g->list.n; i++) {
        const group *own = (const group *)g->list.data + i;
        kernels[i] = (tm_measured_kernel){own->name, own->grid, own->block};
    }
    tm_status status = tm_measured_rows(ncu, kernels, of_launch, tables, err);
    free(kernels);
    return status;
}

static tm_status add_rows(groups *g, const tm_ncu *ncu, tm_tables *tables, tm_error *err) {
    const tm_table *shapes = tm_tables_find(tables, "kernels.launch_shape");
    tm_table *table = tm_tables_find(tables, tm_roofline_table.name);
    size_t n;
    const tm_ncu_launch *launches = tm_ncu_launches(ncu, &n);
    uint32_t *of_launch = malloc((n + 1) * sizeof *of_launch);
    bool ok = g->keys != NULL && of_launch;
    for (size_t i = 0; i < n && ok; i++)
        ok = add_launch(g, &launches[i], &of_launch[i]);
    for (size_t i = 0; i < shapes->n_rows && ok; i++)
        ok = add_calls(g, shapes, i);
    tm_status status = ok ? add_measured(g, ncu, of_launch, tables, err) : tm_fail_memory(err);
    free(of_launch);
    TM_TRY(status);
    for (size_t i = 0; i < g->list.n; i++)
        TM_TRY(add_row((const group *)g->list.data + i, table, err));
    /* sorts by key first, so that rows with equal times have a fixed order */
    tm_table_sort(table);
    tm_table_top(table, SIZE_MAX); /* sorts the largest first */
    return TM_OK;
}

tm_status tm_roofline_rows(const tm_ncu *ncu, tm_tables *tables, tm_error *err) {
    if (!ncu)
        return TM_OK;
    groups g = {.keys = tm_names_create(), .list = TM_VEC(group), .key = TM_VEC(char)};
    tm_status status = add_rows(&g, ncu, tables, err);
    tm_names_destroy(g.keys);
    tm_vec_free(&g.list);
    tm_vec_free(&g.key);
    return status;
}
