/* Analysis `contention`: by how much concurrent communication slows other kernels. */
#include "tmerge/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "analysis/shared/launch_shape.h"
#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "base/keys.h"
#include "base/median.h"

/* Minimum number of kernels for a median, both of kernels that ran alone and of kernels that ran
 * beside communication. */
enum { ENOUGH = 5 };

enum { NAME, GRID, BLOCK, RANKS, BESIDE, ALONE, MEDIAN_BESIDE, MEDIAN_ALONE, SLOWDOWN, EXTRA };

static const tm_column columns[] = {
    [NAME] = {"name", TM_TEXT, "", "Name of the compute kernel."},
    [GRID] = {"grid", TM_TEXT, "",
              "Number of thread blocks of the launch (x,y,z); null if not recorded."},
    [BLOCK] = {"block", TM_TEXT, "", "Number of threads per block (x,y,z); null if not recorded."},
    [RANKS] = {"ranks", TM_INT, "",
               "Number of ranks that run the kernel at least 5 times beside communication (at the "
               "same time) and at least 5 times alone. The other columns count only these ranks."},
    [BESIDE] = {"beside_calls", TM_INT, "",
                "Number of kernels that run beside communication for at least half of their "
                "duration: sum over ranks."},
    [ALONE] = {"alone_calls", TM_INT, "",
               "Number of kernels that overlap no communication: sum over ranks."},
    [MEDIAN_BESIDE] = {"beside_ns", TM_INT, "ns",
                       "Duration of the kernel beside communication: median of each rank, then "
                       "median over ranks."},
    [MEDIAN_ALONE] = {"alone_ns", TM_INT, "ns",
                      "Duration of the kernel when no communication runs at the same time: median "
                      "of each rank, then median over ranks."},
    [SLOWDOWN] = {"slowdown", TM_REAL, "",
                  "Median duration beside communication / median duration alone, for each rank; "
                  "then median over ranks. 1.2 means 20 % slower. Kernels with equal names and "
                  "shapes may still do different work."},
    [EXTRA] = {"extra_ns", TM_INT, "ns",
               "Time lost to the slowdown: duration of a rank's kernels beside communication, "
               "minus their number times the rank's mean duration alone; sum over ranks. Negative "
               "if kernels were faster beside communication."},
};

static const tm_table_def kernel_def = {
    .name = "contention.kernel",
    .doc = "A row for each kernel and launch shape that ran often enough both alone and beside "
           "communication (at the same time), with the largest extra_ns first.",
    TM_ARRAY(columns, columns),
    .n_keys = 3,
    .top = EXTRA,
};

enum {
    P_NAME,
    P_GRID,
    P_BLOCK = P_GRID + 3,
    P_RANK = P_BLOCK + 3,
    P_BESIDE,
    P_ALONE,
    P_MEDIAN_BESIDE,
    P_MEDIAN_ALONE,
    P_EXTRA
};

static const tm_column part_columns[] = {
    {"name", TM_INT, "", "Name id of the kernel."},
    {"grid_x", TM_INT, "", "Number of thread blocks in x."},
    {"grid_y", TM_INT, "", "Number of thread blocks in y."},
    {"grid_z", TM_INT, "", "Number of thread blocks in z."},
    {"block_x", TM_INT, "", "Threads per block in x."},
    {"block_y", TM_INT, "", "Threads per block in y."},
    {"block_z", TM_INT, "", "Threads per block in z."},
    {"rank", TM_INT, "", "Global rank."},
    {"beside_calls", TM_INT, "", "Number of kernels that ran beside communication."},
    {"alone_calls", TM_INT, "", "Number of kernels that overlapped no communication."},
    {"beside_ns", TM_INT, "ns", "Median duration of the kernels that ran beside communication."},
    {"alone_ns", TM_INT, "ns", "Median duration of the kernels that overlapped no communication."},
    {"extra_ns", TM_INT, "ns", "Time that the rank lost to the slowdown."},
};

/* A row for each rank, kernel name and shape. The merge combines the rows of all ranks with equal
 * names and shapes. Medians are taken within a rank, because some ranks may be slower than others.
 */
static const tm_table_def part_def = TM_PART_TABLE(
    "contention.kernel_part",
    "A row for each kernel, shape and rank: its part of contention.kernel.", part_columns, P_RANK);

static const tm_table_def *const defs[] = {&kernel_def, &part_def};

/* Kernels of one name and shape. Element 0 of each array is for kernels that ran alone, element 1
 * for kernels that ran beside communication. */
typedef struct shape {
    size_t n[2];
    size_t first[2]; /* index in `durations` of the first kernel */
} shape;

typedef struct sample {
    int64_t duration_ns;
    uint32_t shape;
    uint32_t beside; /* 1: beside communication, 0: alone */
} sample;

typedef struct scan {
    const tm_rank_view *view;
    uint32_t *alike; /* [launch shapes] index of the first shape with equal grid and block */
    tm_keys keys;    /* keys of tm_named_shape: name, and launch shape as in `alike` */
    tm_vec shapes;   /* [keys] vector of shape */
    tm_vec samples;  /* vector of sample */
    size_t next;     /* first communication interval that later kernels may overlap */
    int64_t last_ns; /* start of the previous kernel */
} scan;

/* Returns for how long [begin, end) overlaps communication [ns]. Kernels of a stream must be passed
 * in the order of their starts. */
static int64_t beside_ns(scan *s, int64_t begin, int64_t end) {
    const tm_intervals *set = &s->view->busy->communication;
    const tm_interval *v = set->data;
    int64_t sum = 0;
    if (begin < s->last_ns) /* a new stream starts */
        s->next = 0;
    s->last_ns = begin;
    while (s->next < set->n && v[s->next].end_ns <= begin)
        s->next++;
    for (size_t i = s->next; i < set->n && v[i].begin_ns < end; i++) {
        int64_t from = v[i].begin_ns > begin ? v[i].begin_ns : begin;
        sum += (v[i].end_ns < end ? v[i].end_ns : end) - from;
    }
    return sum;
}

/* Adds a compute kernel to its shape. A kernel ran alone if it overlaps no communication. It ran
 * beside communication if at least half of its duration overlaps communication. All other kernels
 * are left out. */
static bool look_at(scan *s, const tm_kernel_attr *k) {
    const tm_timeline *timeline = s->view->timeline;
    int64_t begin = timeline->begin_ns[k->event], duration = timeline->duration_ns[k->event];
    /* Skips empty kernels. Otherwise a median might be 0, and slowdowns divide by medians. */
    if (timeline->role[k->event] != TM_ROLE_COMPUTE || duration == 0)
        return true;
    int64_t beside = beside_ns(s, begin, begin + duration);
    if (beside > 0 && beside < duration - beside)
        return true;
    const tm_named_shape key = {timeline->name[k->event], s->alike[k->shape]};
    sample *found = tm_vec_push(&s->samples);
    shape *its = tm_keys_value(&s->keys, &s->shapes, &key);
    if (!found || !its)
        return false;
    its->n[beside > 0]++;
    *found = (sample){duration, (uint32_t)(its - (shape *)s->shapes.data), beside > 0};
    return true;
}

/* Sorts the durations by shape (counting sort). Within a shape, kernels that ran alone come
 * first. */
static void arrange(scan *s, int64_t *durations) {
    shape *shapes = s->shapes.data;
    const sample *samples = s->samples.data;
    size_t next = 0;
    for (size_t i = 0; i < s->shapes.n; i++)
        for (int kind = 0; kind < 2; kind++) {
            shapes[i].first[kind] = next;
            next += shapes[i].n[kind];
            shapes[i].n[kind] = 0;
        }
    for (size_t i = 0; i < s->samples.n; i++) {
        shape *its = &shapes[samples[i].shape];
        uint32_t kind = samples[i].beside;
        durations[its->first[kind] + its->n[kind]++] = samples[i].duration_ns;
    }
}

static double sum_of(const int64_t *durations, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)durations[i];
    return sum;
}

/* Adds a shape's row if it has enough kernels of both sorts. */
static bool add_part(const scan *s, size_t number, int64_t *durations, tm_table *table) {
    const shape *its = (const shape *)s->shapes.data + number;
    const tm_named_shape *key = (const tm_named_shape *)s->keys.keys.data + number;
    const tm_launch_shape *shape_of = &s->view->timeline->shapes[key->shape];
    const double mean = sum_of(durations + its->first[0], its->n[0]) / (double)its->n[0];
    const double extra = sum_of(durations + its->first[1], its->n[1]) - mean * (double)its->n[1];
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return false;
    tm_cell_set_int(&row[P_NAME], key->name);
    for (int axis = 0; axis < 3; axis++) {
        tm_cell_set_int(&row[P_GRID + axis], shape_of->grid[axis]);
        tm_cell_set_int(&row[P_BLOCK + axis], shape_of->block[axis]);
    }
    tm_cell_set_int(&row[P_RANK], s->view->timeline->rank);
    tm_cell_set_int(&row[P_BESIDE], (int64_t)its->n[1]);
    tm_cell_set_int(&row[P_ALONE], (int64_t)its->n[0]);
    tm_cell_set_int(&row[P_MEDIAN_BESIDE], tm_median_any(durations + its->first[1], its->n[1]));
    tm_cell_set_int(&row[P_MEDIAN_ALONE], tm_median_any(durations + its->first[0], its->n[0]));
    tm_cell_set_int(&row[P_EXTRA], llround(extra));
    return true;
}

static tm_status contention_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    const tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    tm_table *table = tm_tables_find(out, part_def.name);
    if (view->busy->communication.n == 0)
        return TM_OK;
    scan s = {.view = view,
              .alike = tm_launch_shapes_alike(timeline, offsetof(tm_launch_shape, registers)),
              .keys = TM_KEYS(tm_named_shape),
              .shapes = TM_VEC(shape),
              .samples = TM_VEC(sample),
              .last_ns = INT64_MIN};
    bool ok = s.alike != NULL;
    for (size_t i = 0; ok && i < timeline->n_attrs[TM_ATTR_KERNEL]; i++)
        ok = look_at(&s, &kernels[i]);
    int64_t *durations = ok ? malloc((s.samples.n + 1) * sizeof *durations) : NULL;
    ok = durations != NULL;
    if (ok)
        arrange(&s, durations);
    for (size_t i = 0; ok && i < s.shapes.n; i++) {
        const shape *its = (const shape *)s.shapes.data + i;
        if (its->n[0] >= ENOUGH && its->n[1] >= ENOUGH)
            ok = add_part(&s, i, durations, table);
    }
    free(durations);
    free(s.alike);
    tm_keys_free(&s.keys);
    tm_vec_free(&s.shapes);
    tm_vec_free(&s.samples);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Computes the ratio of two medians for each rank, and sets the cell to the median of these ratios.
 * A rank that is always slow has a normal ratio, so it does not change the result. */
static tm_status set_slowdown(tm_cell *cell, const tm_rank_rows *rows, tm_error *err) {
    const size_t n = rows->end - rows->first;
    double *ratios = malloc(n * sizeof *ratios);
    if (!ratios)
        return tm_fail_memory(err);
    for (size_t r = 0; r < n; r++) {
        const tm_cell *row = tm_table_row(rows->part, rows->first + r);
        ratios[r] = (double)row[P_MEDIAN_BESIDE].value.i / (double)row[P_MEDIAN_ALONE].value.i;
    }
    tm_cell_set_real(cell, tm_median_real(ratios, n));
    free(ratios);
    return TM_OK;
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                         tm_cell *row, tm_error *err) {
    tm_over_ranks beside, alone;
    TM_TRY(tm_over_ranks_column(rows, P_MEDIAN_BESIDE, &beside, err));
    TM_TRY(tm_over_ranks_column(rows, P_MEDIAN_ALONE, &alone, err));
    const tm_cell *key = tm_rank_rows_key(rows);
    tm_cell_set_int(&row[RANKS], beside.ranks);
    tm_cell_set_int(&row[BESIDE], tm_over_ranks_sum(rows, P_BESIDE));
    tm_cell_set_int(&row[ALONE], tm_over_ranks_sum(rows, P_ALONE));
    tm_cell_set_int(&row[MEDIAN_BESIDE], beside.median);
    tm_cell_set_int(&row[MEDIAN_ALONE], alone.median);
    tm_cell_set_int(&row[EXTRA], tm_over_ranks_sum(rows, P_EXTRA));
    TM_TRY(set_slowdown(&row[SLOWDOWN], rows, err));
    TM_TRY(tm_set_launch_shape(table, &row[GRID], &key[P_GRID], err));
    TM_TRY(tm_set_launch_shape(table, &row[BLOCK], &key[P_BLOCK], err));
    return tm_set_named(names, key[P_NAME].value.i, table, &row[NAME], err);
}

static tm_status contention_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&part_def, &kernel_def, names, tables, set_row, err);
}

static tm_status contention_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    (void)err;
    tm_table_top(tm_tables_find(out, kernel_def.name), SIZE_MAX); /* largest cost first */
    return TM_OK;
}

const tm_analysis tm_analysis_contention = {
    .name = "contention",
    .summary = "how much slower kernels are while communication runs",
    TM_ARRAY(tables, defs),
    .rank = contention_rank,
    .merge = contention_merge,
    .job = contention_job,
};
