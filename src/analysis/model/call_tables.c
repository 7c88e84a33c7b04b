#include "call_tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/passes.h"
#include "analysis/shared/tensor_cores.h"
#include "base/keys.h"
#include "base/sums.h"
#include "table/levels.h"
#include "timeline/host_comm.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

/* Columns from P_BACKWARD_SELF on are only for modules. */
enum {
    P_LEVEL,
    P_NAME,
    P_SHAPES,
    P_RANK,
    P_CALLS,
    P_DEVICE_SELF,
    P_DEVICE_TOTAL,
    P_HOST_SELF,
    P_HOST_TOTAL,
    P_TENSOR_SELF,
    P_TENSOR_TOTAL,
    P_KERNEL_SELF,
    P_KERNEL_TOTAL,
    P_FITS,
    P_BACKWARD_SELF,
    P_BACKWARD_TOTAL,
    P_BACKWARD_HOST,
    P_N
};

static const tm_column part_columns[P_N] = {
    [P_LEVEL] = {"level", TM_INT, "", "Level of the row (tm_call_level)."},
    [P_NAME] = {"name", TM_INT, "", "Name id of the call."},
    [P_SHAPES] = {"shapes", TM_INT, "", "Id of the input shapes, or none."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_CALLS] = {"calls", TM_INT, "", "Number of calls."},
    [P_DEVICE_SELF] = {"device_self_ns", TM_INT, "ns",
                       "Duration of GPU work that the calls launched directly."},
    [P_DEVICE_TOTAL] = {"device_total_ns", TM_INT, "ns",
                        "Duration of GPU work that the calls and their nested calls launched."},
    [P_HOST_SELF] = {"host_self_ns", TM_INT, "ns",
                     "Host time of the calls without their nested calls."},
    [P_HOST_TOTAL] = {"host_total_ns", TM_INT, "ns", "Host time of the calls."},
    [P_TENSOR_SELF] = {"tensor_self_ns", TM_INT, "ns", "Tensor-core time in device_self_ns."},
    [P_TENSOR_TOTAL] = {"tensor_total_ns", TM_INT, "ns", "Tensor-core time in device_total_ns."},
    [P_KERNEL_SELF] = {"kernel_self_ns", TM_INT, "ns", "Kernel time in device_self_ns."},
    [P_KERNEL_TOTAL] = {"kernel_total_ns", TM_INT, "ns", "Kernel time in device_total_ns."},
    [P_FITS] = {"tensor_cores_fit", TM_BOOL, "",
                "Whether tensor cores could do the work of the calls."},
    [P_BACKWARD_SELF] = {"backward_device_self_ns", TM_INT, "ns",
                         "GPU time of backward work of the calls, without nested calls."},
    [P_BACKWARD_TOTAL] = {"backward_device_total_ns", TM_INT, "ns",
                          "GPU time of backward work of the calls and their nested calls."},
    [P_BACKWARD_HOST] = {"backward_host_ns", TM_INT, "ns",
                         "Host time of backward work of the calls and their nested calls."},
};

const tm_table_def tm_call_part = TM_PART_TABLE(
    "calls.call_part", "A row for each level, name, input shapes and rank.", part_columns, P_RANK);

enum {
    S_LEVEL,
    S_NAME,
    S_SHAPES,
    S_CALLS,
    S_DEVICE_SELF,
    S_DEVICE_TOTAL,
    S_HOST_SELF,
    S_HOST_TOTAL,
    S_TENSOR_SELF,
    S_TENSOR_TOTAL,
    S_RANKS,
    S_DEVICE_MIN,
    S_DEVICE_MEDIAN,
    S_DEVICE_MAX,
    S_DEVICE_MAX_RANK,
    S_HOST_MIN,
    S_HOST_MEDIAN,
    S_HOST_MAX,
    S_HOST_MAX_RANK,
    S_FITS,
    S_BACKWARD_SELF,
    S_BACKWARD_TOTAL,
    S_BACKWARD_HOST
};

static const tm_column columns[] = {
    [S_LEVEL] =
        {"level", TM_TEXT, "",
         "What the row is about: operator; shape (an operator with its input shapes); module; or "
         "annotation. Several levels contain the same time, so add up only rows of one level."},
    [S_NAME] = {"name", TM_TEXT, "",
                "Name of the operator, or of the module with the profiler's number (nn.Module: "
                "Linear_3), or text of the annotation."},
    [S_SHAPES] = {"shapes", TM_TEXT, "",
                  "Dimensions of the operator's inputs as recorded, cut at 512 bytes. Null except "
                  "on level shape."},
    [S_CALLS] = {"calls", TM_INT, "",
                 "Number of calls, over all ranks; for modules, of forward calls."},
    [S_DEVICE_SELF] = {"device_self_ns", TM_INT, "ns",
                       "Duration of the kernels, copies and sets that the calls launched directly: "
                       "not through nested calls of the same level."},
    [S_DEVICE_TOTAL] =
        {"device_total_ns", TM_INT, "ns",
         "Duration of the kernels, copies and sets that the calls launched, directly or through "
         "nested calls of the same level. Nested calls with the same name count once."},
    [S_HOST_SELF] = {"host_self_ns", TM_INT, "ns",
                     "Host time of the calls, without their nested calls of the same level and "
                     "without their runtime and driver calls."},
    [S_HOST_TOTAL] = {"host_total_ns", TM_INT, "ns",
                      "Host time of the calls. Nested calls with the same name count once."},
    [S_TENSOR_SELF] = {"tensor_self_pct", TM_REAL, "%",
                       "Share of the kernel time in device_self_ns in which kernels use tensor "
                       "cores, judged by their names."},
    [S_TENSOR_TOTAL] = {"tensor_total_pct", TM_REAL, "%",
                        "Share of the kernel time in device_total_ns in which kernels use tensor "
                        "cores, judged by their names."},
    [S_RANKS] = {"ranks", TM_INT, "", "Number of ranks that have calls of this row."},
    [S_DEVICE_MIN] = {"device_min_ns", TM_INT, "ns", "Smallest device_self_ns on a rank."},
    [S_DEVICE_MEDIAN] = {"device_median_ns", TM_INT, "ns",
                         "Median of device_self_ns over the ranks."},
    [S_DEVICE_MAX] = {"device_max_ns", TM_INT, "ns", "Largest device_self_ns on a rank."},
    [S_DEVICE_MAX_RANK] =
        {"device_max_rank", TM_INT, "",
         "Rank with the largest device_self_ns (device_max_ns); the lowest if there are several."},
    [S_HOST_MIN] = {"host_min_ns", TM_INT, "ns", "Smallest host_self_ns on a rank."},
    [S_HOST_MEDIAN] = {"host_median_ns", TM_INT, "ns", "Median of host_self_ns over the ranks."},
    [S_HOST_MAX] = {"host_max_ns", TM_INT, "ns", "Largest host_self_ns on a rank."},
    [S_HOST_MAX_RANK] =
        {"host_max_rank", TM_INT, "",
         "Rank with the largest host_self_ns (host_max_ns); the lowest if there are several."},
    [S_FITS] = {"tensor_cores_fit", TM_BOOL, "",
                "Whether tensor cores could do the operator's work: libraries have tensor-core "
                "kernels for the operator or for a nested operator, or the operator launched such "
                "a kernel. Null for modules and annotations."},
    [S_BACKWARD_SELF] =
        {"backward_device_self_ns", TM_INT, "ns",
         "GPU time of the backward work of the module itself, without nested modules. Backward "
         "work is found by autograd's sequence numbers. device_self_ns includes this time only if "
         "a module was open during the backward pass. Null on levels other than module."},
    [S_BACKWARD_TOTAL] =
        {"backward_device_total_ns", TM_INT, "ns",
         "GPU time of the backward pass of the module and its nested modules. Backward work is "
         "found by autograd's sequence numbers. Null on levels other than module."},
    [S_BACKWARD_HOST] =
        {"backward_host_ns", TM_INT, "ns",
         "Host time of the backward pass of the module and its nested modules. Backward work is "
         "found by autograd's sequence numbers. Null on levels other than module."},
};

const tm_table_def tm_call_table = {
    .name = "calls.call",
    .doc = "A row for each operator, for each operator with its input shapes (if the profiler "
           "recorded shapes), for each module (if it recorded modules) and for each annotation of "
           "the program or a framework on the CPU (without steps and without copies on the GPU), "
           "over all ranks. Operators of a thread nest by time. Each level has the 1000 rows with "
           "the largest device_self_ns, then host_self_ns, in this order; annotations are ordered "
           "by device_total_ns, then host_total_ns.",
    TM_ARRAY(columns, columns),
    .n_keys = S_SHAPES + 1,
    .top = S_DEVICE_SELF,
};

static const char *const level_words[TM_N_CALL_LEVELS] = {"annotation", "module", "operator",
                                                          "shape"};

typedef struct call_key {
    uint32_t name, shapes;
} call_key;

/* GPU time of calls. Self times exclude nested calls; total times include them. */
typedef struct device_time {
    int64_t all_ns, kernels_ns, tensor_ns;
} device_time;

/* Time of a call's backward pass: GPU time without and with nested calls (self and total), host
 * time. */
typedef struct backward_time {
    int64_t self_ns, total_ns, host_ns;
} backward_time;

typedef struct call_sum {
    int64_t calls, host_self_ns, host_total_ns;
    device_time self, total;
    backward_time backward;
    bool fits;
} call_sum;

/* A way to group a rank's calls: by name, or by name and shapes. */
typedef struct grouping {
    tm_call_level level; /* level of the sums */
    tm_keys keys;        /* keys of call_key */
    tm_vec sums;         /* [keys] of call_sum */
    uint32_t *slot; /* [calls->n] number of each call's key; TM_NO_KEY: the call is not summed */
} grouping;

enum { BY_NAME, BY_SHAPES, N_GROUPINGS };

/* State while a rank's calls are summed. */
typedef struct summing {
    const tm_rank_view *view;
    const tm_calls *calls;
    bool gpus;
    int n_groupings;
    grouping by[N_GROUPINGS];
    device_time *total;      /* [calls->n] */
    backward_time *backward; /* [calls->n]; NULL if not requested */
    bool *fits; /* [calls->n] whether the call or a nested call could use tensor cores */
} summing;

static call_sum *sum_at(const grouping *g, uint32_t slot) {
    return (call_sum *)g->sums.data + slot;
}

/* Returns the index of a key. If the key is new, adds it first. Returns TM_NO_KEY if out of
 * memory. */
static uint32_t add_key(grouping *g, const call_key *key) {
    const call_sum *sum = tm_keys_value(&g->keys, &g->sums, key);
    return sum ? (uint32_t)(sum - (const call_sum *)g->sums.data) : TM_NO_KEY;
}

/* Sets each call's key to its name. */
static bool key_by_name(const summing *s, grouping *g) {
    const tm_timeline *timeline = s->view->timeline;
    /* [names] 1 + number of the key; 0: none yet */
    uint32_t *known = calloc(s->view->n_names, sizeof *known);
    bool ok = known != NULL;
    for (size_t i = 0; i < s->calls->n && ok; i++) {
        uint32_t name = timeline->name[s->calls->calls[i].row];
        if (known[name] == 0)
            /* If add_key fails, it returns TM_NO_KEY. Then 1 + TM_NO_KEY overflows to 0, and the
             * subtraction below gives TM_NO_KEY again. */
            known[name] = 1 + add_key(g, &(call_key){name, TM_NO_NAME});
        g->slot[i] = known[name] - 1;
        ok = g->slot[i] != TM_NO_KEY;
    }
    free(known);
    return ok;
}

/* Sets the key of each call with input shapes to its name and shapes. Calls and shapes are sorted
 * by row. */
static bool key_by_shapes(const summing *s, grouping *g) {
    const tm_timeline *timeline = s->view->timeline;
    const tm_shapes_attr *shapes = timeline->attrs[TM_ATTR_SHAPES];
    size_t n = timeline->n_attrs[TM_ATTR_SHAPES], next = 0;
    for (size_t i = 0; i < s->calls->n; i++) {
        uint32_t row = s->calls->calls[i].row;
        while (next < n && shapes[next].event < row)
            next++;
        g->slot[i] = TM_NO_KEY;
        if (next == n || shapes[next].event != row)
            continue;
        g->slot[i] = add_key(g, &(call_key){timeline->name[row], shapes[next].shapes});
        if (g->slot[i] == TM_NO_KEY)
            return false;
    }
    return true;
}

/* Returns whether the devices are GPUs. Only names of GPU kernels show tensor cores. */
static bool on_gpus(const tm_rank_view *view) {
    return tm_trace_noted(tm_timeline_metadata(view->timeline), TM_DEVICE_KIND).size == 0;
}

/* Returns whether a call is nested in another call with the same key. */
static bool is_repeated(const tm_call *calls, const grouping *g, size_t i) {
    for (uint32_t above = calls[i].parent; above != TM_NO_CALL; above = calls[above].parent)
        if (g->slot[above] == g->slot[i])
            return true;
    return false;
}

static void add_time(device_time *to, const device_time *time) {
    to->all_ns = tm_sum(to->all_ns, time->all_ns);
    to->kernels_ns = tm_sum(to->kernels_ns, time->kernels_ns);
    to->tensor_ns = tm_sum(to->tensor_ns, time->tensor_ns);
}

/* Sums the times of calls by key. Self times count for all calls. Total times count only for calls
 * that are not nested in a call with the same key. */
static void sum_calls(const summing *s, const grouping *g) {
    const tm_call *calls = s->calls->calls;
    for (size_t i = 0; i < s->calls->n; i++) {
        if (g->slot[i] == TM_NO_KEY)
            continue;
        call_sum *sum = sum_at(g, g->slot[i]);
        sum->calls++;
        sum->host_self_ns = tm_sum(sum->host_self_ns, calls[i].self_ns);
        if (s->backward)
            sum->backward.self_ns = tm_sum(sum->backward.self_ns, s->backward[i].self_ns);
        if (is_repeated(calls, g, i))
            continue;
        sum->host_total_ns =
            tm_sum(sum->host_total_ns, s->view->timeline->duration_ns[calls[i].row]);
        if (s->total[i].all_ns > 0)
            add_time(&sum->total, &s->total[i]);
        if (!s->backward)
            continue;
        sum->backward.total_ns = tm_sum(sum->backward.total_ns, s->backward[i].total_ns);
        sum->backward.host_ns = tm_sum(sum->backward.host_ns, s->backward[i].host_ns);
    }
}

/* Adds a GPU event to the self time of the call that launched it. */
static void add_event(summing *s, uint32_t call, uint32_t row) {
    const tm_timeline *timeline = s->view->timeline;
    int64_t duration = timeline->duration_ns[row];
    bool kernel = s->gpus && timeline->category[row] == TM_CAT_KERNEL;
    bool tensor =
        kernel && tm_call_kinds_kernel(s->view->call_kinds, timeline->name[row])->tensor_cores;
    const device_time time = {duration, kernel ? duration : 0, tensor ? duration : 0};
    add_time(&s->total[call], &time);
    for (int i = 0; i < s->n_groupings; i++)
        if (s->by[i].slot[call] != TM_NO_KEY)
            add_time(&sum_at(&s->by[i], s->by[i].slot[call])->self, &time);
}

/* Adds GPU events to the calls that launched them, and to all calls around those calls. */
static void find_device(summing *s) {
    const tm_timeline *timeline = s->view->timeline;
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        uint32_t call = timeline->role[row] == TM_ROLE_NONE ? TM_NO_CALL : s->calls->above[row];
        if (call != TM_NO_CALL)
            add_event(s, call, row);
    }
    /* Goes backwards, because children come after their parents. */
    for (size_t i = s->calls->n; i-- > 0;)
        if (s->calls->calls[i].parent != TM_NO_CALL && s->total[i].all_ns > 0)
            add_time(&s->total[s->calls->calls[i].parent], &s->total[i]);
}

/* Adds the time of backward work to the call in which its forward operator ran, and to all calls
 * around it. */
static void find_backward(summing *s) {
    const tm_timeline *timeline = s->view->timeline;
    const tm_call *calls = s->calls->calls, *ops = s->view->operators->calls;
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        uint32_t forward =
            timeline->role[row] == TM_ROLE_NONE ? TM_NO_EVENT : tm_pass_of_event(s->view, row);
        uint32_t call = forward == TM_NO_EVENT ? TM_NO_CALL : s->calls->above[forward];
        if (call != TM_NO_CALL)
            s->backward[call].self_ns =
                tm_sum(s->backward[call].self_ns, timeline->duration_ns[row]);
    }
    for (size_t i = 0; i < s->view->operators->n; i++) {
        uint32_t forward = tm_pass_of_operator(s->view, i);
        uint32_t call = forward == TM_NO_EVENT ? TM_NO_CALL : s->calls->above[forward];
        if (call != TM_NO_CALL)
            s->backward[call].host_ns =
                tm_sum(s->backward[call].host_ns, timeline->duration_ns[ops[i].row]);
    }
    /* Goes backwards, because children come after their parents. */
    for (size_t i = s->calls->n; i-- > 0;) {
        backward_time *own = &s->backward[i];
        own->total_ns = tm_sum(own->total_ns, own->self_ns);
        if (calls[i].parent == TM_NO_CALL)
            continue;
        backward_time *parent = &s->backward[calls[i].parent];
        parent->total_ns = tm_sum(parent->total_ns, own->total_ns);
        parent->host_ns = tm_sum(parent->host_ns, own->host_ns);
    }
}

/* Finds the keys with work that tensor cores could do, in a call or a nested call. Looks at each
 * name once. */
static void find_fitting(const summing *s, const grouping *g) {
    for (uint32_t k = 0; k < g->sums.n; k++) {
        tm_text name = tm_names_text(s->view->names, ((const call_key *)g->keys.keys.data)[k].name);
        sum_at(g, k)->fits = s->gpus && tm_operator_fits_tensor_cores(name.bytes);
    }
    memset(s->fits, 0, s->calls->n * sizeof *s->fits);
    for (size_t i = s->calls->n; i-- > 0;) {
        uint32_t parent = s->calls->calls[i].parent;
        if (g->slot[i] != TM_NO_KEY) {
            call_sum *sum = sum_at(g, g->slot[i]);
            sum->fits = s->fits[i] = s->fits[i] || sum->fits;
        }
        if (s->fits[i] && parent != TM_NO_CALL)
            s->fits[parent] = true;
    }
}

static void set_part(tm_cell *row, const call_key *key, int64_t rank, const call_sum *sum) {
    tm_cell_set_int(&row[P_NAME], key->name);
    tm_cell_set_int(&row[P_SHAPES], key->shapes);
    tm_cell_set_int(&row[P_RANK], rank);
    tm_cell_set_int(&row[P_CALLS], sum->calls);
    tm_cell_set_int(&row[P_DEVICE_SELF], sum->self.all_ns);
    tm_cell_set_int(&row[P_DEVICE_TOTAL], sum->total.all_ns);
    tm_cell_set_int(&row[P_HOST_SELF], sum->host_self_ns);
    tm_cell_set_int(&row[P_HOST_TOTAL], sum->host_total_ns);
    tm_cell_set_int(&row[P_TENSOR_SELF], sum->self.tensor_ns);
    tm_cell_set_int(&row[P_TENSOR_TOTAL], sum->total.tensor_ns);
    tm_cell_set_int(&row[P_KERNEL_SELF], sum->self.kernels_ns);
    tm_cell_set_int(&row[P_KERNEL_TOTAL], sum->total.kernels_ns);
    tm_cell_set_bool(&row[P_FITS], sum->fits || sum->total.tensor_ns > 0);
}

static bool add_rows(const summing *s, const grouping *g, tm_table *part) {
    for (uint32_t i = 0; i < g->sums.n; i++) {
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return false;
        const backward_time *backward = &sum_at(g, i)->backward;
        set_part(row, (const call_key *)g->keys.keys.data + i, s->view->timeline->rank,
                 sum_at(g, i));
        tm_cell_set_int(&row[P_LEVEL], g->level);
        if (!s->backward)
            continue;
        tm_cell_set_int(&row[P_BACKWARD_SELF], backward->self_ns);
        tm_cell_set_int(&row[P_BACKWARD_TOTAL], backward->total_ns);
        tm_cell_set_int(&row[P_BACKWARD_HOST], backward->host_ns);
    }
    return true;
}

/* Finds the keys of all calls before times are summed. Self times are then added directly to the
 * sums of the keys, so calls need memory only for totals. */
static bool make_groups(summing *s) {
    bool ok = true;
    for (int i = 0; i < s->n_groupings && ok; i++) {
        grouping *g = &s->by[i];
        g->keys = TM_KEYS(call_key);
        g->sums = TM_VEC(call_sum);
        g->slot = malloc((s->calls->n + 1) * sizeof *g->slot);
        ok = g->slot && (i == BY_NAME ? key_by_name(s, g) : key_by_shapes(s, g));
    }
    return ok;
}

static bool sum_groups(const summing *s, tm_table *part) {
    bool ok = true;
    for (int i = 0; i < s->n_groupings && ok; i++) {
        find_fitting(s, &s->by[i]);
        sum_calls(s, &s->by[i]);
        ok = add_rows(s, &s->by[i], part);
    }
    return ok;
}

tm_status tm_call_rows(const tm_rank_view *view, tm_call_level level, const tm_calls *calls,
                       tm_tables *out, tm_error *err) {
    summing s = {.view = view,
                 .calls = calls,
                 .gpus = on_gpus(view),
                 .n_groupings = level == TM_CALLS_OPERATOR ? N_GROUPINGS : 1,
                 .by = {[BY_NAME] = {.level = level}, [BY_SHAPES] = {.level = TM_CALLS_SHAPE}}};
    s.fits = malloc((calls->n + 1) * sizeof *s.fits);
    s.total = calloc(calls->n + 1, sizeof *s.total);
    bool ok = s.fits && s.total && make_groups(&s);
    if (level == TM_CALLS_MODULE) {
        s.backward = calloc(calls->n + 1, sizeof *s.backward);
        ok = ok && s.backward;
    }
    if (ok)
        find_device(&s);
    if (ok && s.backward)
        find_backward(&s);
    ok = ok && sum_groups(&s, tm_tables_find(out, tm_call_part.name));
    for (int i = 0; i < s.n_groupings; i++) {
        tm_keys_free(&s.by[i].keys);
        tm_vec_free(&s.by[i].sums);
        free(s.by[i].slot);
    }
    free(s.fits);
    free(s.total);
    free(s.backward);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Sets four adjacent columns: minimum, median, maximum, and the rank with the maximum. */
static void set_spread(tm_cell *cells, const tm_over_ranks *m) {
    tm_cell_set_int(&cells[0], m->min);
    tm_cell_set_int(&cells[1], m->median);
    tm_cell_set_int(&cells[2], m->max);
    tm_cell_set_int(&cells[3], m->max_rank);
}

/* Sets the columns that rows of all levels have. */
static tm_status set_merged(const tm_rank_rows *rows, tm_cell *cells, tm_error *err) {
    tm_over_ranks device, host;
#define SUM(column) tm_over_ranks_sum(rows, P_##column)
    TM_TRY(tm_over_ranks_column(rows, P_DEVICE_SELF, &device, err));
    TM_TRY(tm_over_ranks_column(rows, P_HOST_SELF, &host, err));
    tm_cell_set_int(&cells[S_CALLS], SUM(CALLS));
    tm_cell_set_int(&cells[S_DEVICE_SELF], device.sum);
    tm_cell_set_int(&cells[S_DEVICE_TOTAL], SUM(DEVICE_TOTAL));
    tm_cell_set_int(&cells[S_HOST_SELF], host.sum);
    tm_cell_set_int(&cells[S_HOST_TOTAL], SUM(HOST_TOTAL));
    tm_cell_set_ratio(&cells[S_TENSOR_SELF], 100, SUM(TENSOR_SELF), SUM(KERNEL_SELF));
    tm_cell_set_ratio(&cells[S_TENSOR_TOTAL], 100, SUM(TENSOR_TOTAL), SUM(KERNEL_TOTAL));
    tm_cell_set_int(&cells[S_RANKS], host.ranks);
    set_spread(&cells[S_DEVICE_MIN], &device);
    set_spread(&cells[S_HOST_MIN], &host);
#undef SUM
    return TM_OK;
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                         tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    const int64_t level = key[P_LEVEL].value.i;
    TM_TRY(tm_table_set_text(shown, &row[S_LEVEL], level_words[level], err));
    TM_TRY(tm_set_named(names, key[P_NAME].value.i, shown, &row[S_NAME], err));
    TM_TRY(tm_set_named(names, key[P_SHAPES].value.i, shown, &row[S_SHAPES], err));
    if (level == TM_CALLS_OPERATOR || level == TM_CALLS_SHAPE)
        tm_cell_set_bool(&row[S_FITS], tm_over_ranks_sum(rows, P_FITS) > 0);
    for (int c = 0; level == TM_CALLS_MODULE && c < P_N - P_BACKWARD_SELF; c++)
        tm_cell_set_int(&row[S_BACKWARD_SELF + c], tm_over_ranks_sum(rows, P_BACKWARD_SELF + c));
    return set_merged(rows, row, err);
}

tm_status tm_call_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    tm_table *shown = tm_tables_find(tables, tm_call_table.name);
    TM_TRY(tm_over_ranks_merge(&tm_call_part, &tm_call_table, names, tables, set_row, err));
    /* Each process has all rows of its keys, so the job needs only the first TM_CALL_ROWS rows of a
     * level from each. Sorts by key first, so that rows with equal cost are cut in the same order
     * as in the job's table. */
    tm_table_sort(shown);
    tm_call_order(shown);
    return TM_OK;
}

void tm_call_order(tm_table *shown) {
    for (int l = 0; l < TM_N_CALL_LEVELS; l++) {
        size_t end, first = tm_table_level(shown, level_words[l], &end);
        tm_table rows = *shown;
        int top = l == TM_CALLS_ANNOTATION ? S_DEVICE_TOTAL : S_DEVICE_SELF;
        rows.cells = tm_table_row(shown, first);
        rows.n_rows = end - first;
        /* The second sort is stable, so rows with equal device times are sorted by host time. */
        tm_table_rank(&rows, top + S_HOST_SELF - S_DEVICE_SELF);
        tm_table_rank(&rows, top);
    }
    tm_table_top_each(shown, S_LEVEL, TM_CALL_ROWS);
}
