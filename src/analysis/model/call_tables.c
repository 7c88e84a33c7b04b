#include "call_tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/passes.h"
#include "analysis/shared/tensor_cores.h"
#include "base/keys.h"
#include "base/sums.h"
#include "timeline/host_comm.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

const tm_column tm_call_part_columns[TM_CALL_P_N_PASSES] = {
    [TM_CALL_P_NAME] = {"name", TM_INT, "", "Name id."},
    [TM_CALL_P_SHAPES] = {"shapes", TM_INT, "", "Id of the input shapes, 0 for all."},
    [TM_CALL_P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [TM_CALL_P_CALLS] = {"calls", TM_INT, "", "Number of calls."},
    [TM_CALL_P_DEVICE_SELF] = {"device_self_ns", TM_INT, "ns", "Directly launched GPU time."},
    [TM_CALL_P_DEVICE_TOTAL] = {"device_total_ns", TM_INT, "ns",
                                "GPU time of the work launched within the call."},
    [TM_CALL_P_HOST_SELF] = {"host_self_ns", TM_INT, "ns", "Host self time."},
    [TM_CALL_P_HOST_TOTAL] = {"host_total_ns", TM_INT, "ns", "Host time."},
    [TM_CALL_P_TENSOR_SELF] = {"tensor_self_ns", TM_INT, "ns",
                               "Tensor-core time in device_self_ns."},
    [TM_CALL_P_TENSOR_TOTAL] = {"tensor_total_ns", TM_INT, "ns",
                                "Tensor-core time in device_total_ns."},
    [TM_CALL_P_KERNEL_SELF] = {"kernel_self_ns", TM_INT, "ns", "Kernel time in device_self_ns."},
    [TM_CALL_P_KERNEL_TOTAL] = {"kernel_total_ns", TM_INT, "ns", "Kernel time in device_total_ns."},
    [TM_CALL_P_FITS] = {"tensor_cores_fit", TM_BOOL, "", "Whether tensor cores could be used."},
    [TM_CALL_P_BACKWARD_SELF] = {"backward_device_self_ns", TM_INT, "ns", "Its backward GPU time."},
    [TM_CALL_P_BACKWARD_TOTAL] = {"backward_device_total_ns", TM_INT, "ns", "With nested calls."},
    [TM_CALL_P_BACKWARD_HOST] = {"backward_host_ns", TM_INT, "ns", "Its backward host time."},
};

typedef struct call_key {
    uint32_t name, shapes;
} call_key;

/* GPU time with or without nested calls. */
typedef struct device_time {
    int64_t all_ns, kernels_ns, tensor_ns;
} device_time;

/* Backward pass of a call: its own, and with nested calls. */
typedef struct backward_time {
    int64_t self_ns, total_ns, host_ns;
} backward_time;

/* Sums of one key's calls on this rank. */
typedef struct call_sum {
    int64_t calls, host_self_ns, host_total_ns;
    device_time self, total;
    backward_time backward;
    bool fits;
} call_sum;

/* One way to group a rank's calls. */
typedef struct grouping {
    tm_table *part; /* receives the sums; NULL: unused */
    tm_keys keys;   /* of call_key */
    tm_vec sums;    /* of call_sum, by key */
    uint32_t *slot; /* [calls->n] key of each call, TM_NO_KEY if it is not summed */
} grouping;

enum { BY_NAME, BY_SHAPES, N_GROUPINGS };

/* State of summing a rank's calls. */
typedef struct summing {
    const tm_rank_view *view;
    const tm_calls *calls;
    bool gpus;
    grouping by[N_GROUPINGS];
    device_time *total;      /* [calls->n] */
    backward_time *backward; /* [calls->n]; NULL if not requested */
    bool *fits;              /* [calls->n] whether the call or a nested one fits tensor cores */
} summing;

static call_sum *sum_at(const grouping *g, uint32_t slot) {
    return (call_sum *)g->sums.data + slot;
}

/* Returns the index of a key, adding it if new; TM_NO_KEY if out of memory. */
static uint32_t add_key(grouping *g, const call_key *key) {
    const call_sum *sum = tm_keys_value(&g->keys, &g->sums, key);
    return sum ? (uint32_t)(sum - (const call_sum *)g->sums.data) : TM_NO_KEY;
}

/* Assigns every call the key of its name. */
static bool key_by_name(const summing *s, grouping *g) {
    const tm_timeline *timeline = s->view->timeline;
    uint32_t *known = calloc(s->view->n_names, sizeof *known); /* [names] 1 + key */
    bool ok = known != NULL;
    for (size_t i = 0; i < s->calls->n && ok; i++) {
        uint32_t name = timeline->name[s->calls->calls[i].row];
        if (known[name] == 0)
            /* TM_NO_KEY overflows to 0, and the line below restores it. */
            known[name] = 1 + add_key(g, &(call_key){name, TM_NO_NAME});
        g->slot[i] = known[name] - 1;
        ok = g->slot[i] != TM_NO_KEY;
    }
    free(known);
    return ok;
}

/* Assigns every call with input shapes the key of its name and shapes. Calls and shapes both ascend
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

/* Returns whether the devices are GPUs: only then do names indicate tensor cores. */
static bool on_gpus(const tm_rank_view *view) {
    return tm_trace_noted(tm_timeline_metadata(view->timeline), TM_DEVICE_KIND).size == 0;
}

/* Returns whether a call is nested in another one of its key. */
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

/* Adds up self times; of nested calls of one key, only the outermost adds to totals. */
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
    for (int i = 0; i < N_GROUPINGS && s->by[i].part; i++)
        if (s->by[i].slot[call] != TM_NO_KEY)
            add_time(&sum_at(&s->by[i], s->by[i].slot[call])->self, &time);
}

/* Adds GPU events to the calls that launched them and to the totals of all enclosing calls. */
static void find_device(summing *s) {
    const tm_timeline *timeline = s->view->timeline;
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        uint32_t call = timeline->role[row] == TM_ROLE_NONE ? TM_NO_CALL : s->calls->above[row];
        if (call != TM_NO_CALL)
            add_event(s, call, row);
    }
    for (size_t i = s->calls->n; i-- > 0;) /* children come after their parents */
        if (s->calls->calls[i].parent != TM_NO_CALL && s->total[i].all_ns > 0)
            add_time(&s->total[s->calls->calls[i].parent], &s->total[i]);
}

/* Attributes backward work to the call open when its forward operator ran, and to its ancestors. */
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
    for (size_t i = s->calls->n; i-- > 0;) { /* children come after their parents */
        backward_time *own = &s->backward[i];
        own->total_ns = tm_sum(own->total_ns, own->self_ns);
        if (calls[i].parent == TM_NO_CALL)
            continue;
        backward_time *parent = &s->backward[calls[i].parent];
        parent->total_ns = tm_sum(parent->total_ns, own->total_ns);
        parent->host_ns = tm_sum(parent->host_ns, own->host_ns);
    }
}

/* Looks up each key once. A call that contains a fitting call fits as well. */
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

static void set_row(tm_cell *row, const call_key *key, int64_t rank, const call_sum *sum) {
    tm_cell_set_int(&row[TM_CALL_P_NAME], key->name);
    tm_cell_set_int(&row[TM_CALL_P_SHAPES], key->shapes);
    tm_cell_set_int(&row[TM_CALL_P_RANK], rank);
    tm_cell_set_int(&row[TM_CALL_P_CALLS], sum->calls);
    tm_cell_set_int(&row[TM_CALL_P_DEVICE_SELF], sum->self.all_ns);
    tm_cell_set_int(&row[TM_CALL_P_DEVICE_TOTAL], sum->total.all_ns);
    tm_cell_set_int(&row[TM_CALL_P_HOST_SELF], sum->host_self_ns);
    tm_cell_set_int(&row[TM_CALL_P_HOST_TOTAL], sum->host_total_ns);
    tm_cell_set_int(&row[TM_CALL_P_TENSOR_SELF], sum->self.tensor_ns);
    tm_cell_set_int(&row[TM_CALL_P_TENSOR_TOTAL], sum->total.tensor_ns);
    tm_cell_set_int(&row[TM_CALL_P_KERNEL_SELF], sum->self.kernels_ns);
    tm_cell_set_int(&row[TM_CALL_P_KERNEL_TOTAL], sum->total.kernels_ns);
    tm_cell_set_bool(&row[TM_CALL_P_FITS], sum->fits || sum->total.tensor_ns > 0);
}

/* Adds a row for each key of this rank, to be merged with other ranks. */
static bool add_rows(const summing *s, const grouping *g) {
    for (uint32_t i = 0; i < g->sums.n; i++) {
        tm_cell *row = tm_table_add_row(g->part);
        if (!row)
            return false;
        const backward_time *backward = &sum_at(g, i)->backward;
        set_row(row, (const call_key *)g->keys.keys.data + i, s->view->timeline->rank,
                sum_at(g, i));
        if (!s->backward)
            continue;
        tm_cell_set_int(&row[TM_CALL_P_BACKWARD_SELF], backward->self_ns);
        tm_cell_set_int(&row[TM_CALL_P_BACKWARD_TOTAL], backward->total_ns);
        tm_cell_set_int(&row[TM_CALL_P_BACKWARD_HOST], backward->host_ns);
    }
    return true;
}

/* Determines keys before anything is summed, so that self times go directly to their sums and only
 * totals are kept per call. */
static bool make_groups(summing *s) {
    bool ok = true;
    for (int i = 0; i < N_GROUPINGS && s->by[i].part && ok; i++) {
        grouping *g = &s->by[i];
        g->keys = TM_KEYS(call_key);
        g->sums = TM_VEC(call_sum);
        g->slot = malloc((s->calls->n + 1) * sizeof *g->slot);
        ok = g->slot && (i == BY_NAME ? key_by_name(s, g) : key_by_shapes(s, g));
    }
    return ok;
}

static bool sum_groups(const summing *s) {
    bool ok = true;
    for (int i = 0; i < N_GROUPINGS && s->by[i].part && ok; i++) {
        find_fitting(s, &s->by[i]);
        sum_calls(s, &s->by[i]);
        ok = add_rows(s, &s->by[i]);
    }
    return ok;
}

tm_status tm_call_rows(const tm_rank_view *view, const tm_calls *calls, tm_table *by_name,
                       tm_table *by_shapes, tm_error *err) {
    summing s = {.view = view,
                 .calls = calls,
                 .gpus = on_gpus(view),
                 .by = {[BY_NAME] = {.part = by_name}, [BY_SHAPES] = {.part = by_shapes}}};
    s.fits = malloc((calls->n + 1) * sizeof *s.fits);
    s.total = calloc(calls->n + 1, sizeof *s.total);
    bool ok = s.fits && s.total && make_groups(&s);
    if (by_name->def->n_columns == TM_CALL_P_N_PASSES) {
        s.backward = calloc(calls->n + 1, sizeof *s.backward);
        ok = ok && s.backward;
    }
    if (ok)
        find_device(&s);
    if (ok && s.backward)
        find_backward(&s);
    ok = ok && sum_groups(&s);
    for (int i = 0; i < N_GROUPINGS; i++) {
        tm_keys_free(&s.by[i].keys);
        tm_vec_free(&s.by[i].sums);
        free(s.by[i].slot);
    }
    free(s.fits);
    free(s.total);
    free(s.backward);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Turns ids of names and shapes into text. */
static tm_status set_key(const tm_names *names, tm_table *shown, tm_cell *cell, int64_t id,
                         tm_error *err) {
    tm_text text = tm_names_text(names, (uint32_t)id);
    return tm_table_set_bytes(shown, cell, text.bytes, text.size, err);
}

/* Sets four adjacent columns: min, median, max and the rank of the max. */
static void set_spread(tm_cell *cells, const tm_over_ranks *m) {
    tm_cell_set_int(&cells[0], m->min);
    tm_cell_set_int(&cells[1], m->median);
    tm_cell_set_int(&cells[2], m->max);
    tm_cell_set_int(&cells[3], m->max_rank);
}

/* Sets the shown columns of one key from rows [first, end) of the part, one per rank. */
static tm_status set_merged(const tm_table *part, size_t first, size_t end, tm_cell *cells,
                            tm_error *err) {
    tm_over_ranks device, host;
#define SUM(column) tm_over_ranks_sum(part, first, end, TM_CALL_P_##column)
    TM_TRY(tm_over_ranks_column(part, first, end, TM_CALL_P_DEVICE_SELF, &device, err));
    TM_TRY(tm_over_ranks_column(part, first, end, TM_CALL_P_HOST_SELF, &host, err));
    tm_cell_set_int(&cells[TM_CALL_CALLS], SUM(CALLS));
    tm_cell_set_int(&cells[TM_CALL_DEVICE_SELF], device.sum);
    tm_cell_set_int(&cells[TM_CALL_DEVICE_TOTAL], SUM(DEVICE_TOTAL));
    tm_cell_set_int(&cells[TM_CALL_HOST_SELF], host.sum);
    tm_cell_set_int(&cells[TM_CALL_HOST_TOTAL], SUM(HOST_TOTAL));
    tm_cell_set_ratio(&cells[TM_CALL_TENSOR_SELF], 100, SUM(TENSOR_SELF), SUM(KERNEL_SELF));
    tm_cell_set_ratio(&cells[TM_CALL_TENSOR_TOTAL], 100, SUM(TENSOR_TOTAL), SUM(KERNEL_TOTAL));
    tm_cell_set_int(&cells[TM_CALL_RANKS], host.ranks);
    set_spread(&cells[TM_CALL_DEVICE_MIN], &device);
    set_spread(&cells[TM_CALL_HOST_MIN], &host);
#undef SUM
    return TM_OK;
}

tm_status tm_call_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                        tm_error *err) {
    int n_keys = shown->def->n_keys, fits = n_keys + TM_CALL_N_SHOWN;
    bool passes = part->def->n_columns == TM_CALL_P_N_PASSES;
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        const tm_cell *key = tm_table_row(part, first);
        tm_cell *row = tm_table_add_row(shown);
        end = tm_over_ranks_end(part, first);
        if (!row)
            return tm_fail_memory(err);
        for (int k = 0; k < n_keys; k++)
            TM_TRY(set_key(names, shown, &row[k], key[k].value.i, err));
        TM_TRY(set_merged(part, first, end, row + n_keys, err));
        for (int c = 0; passes && c < TM_CALL_P_N_PASSES - TM_CALL_P_N; c++)
            tm_cell_set_int(&row[n_keys + TM_CALL_BACKWARD_SELF + c],
                            tm_over_ranks_sum(part, first, end, TM_CALL_P_BACKWARD_SELF + c));
        if (!passes && fits < shown->def->n_columns)
            tm_cell_set_bool(&row[fits], tm_over_ranks_sum(part, first, end, TM_CALL_P_FITS) > 0);
    }
    /* This process has all rows of its keys, so the job's first TM_CALL_ROWS are among its own.
     * Sorted by keys first, so that ties are cut in the same way here and in the job's table. */
    tm_table_sort(shown);
    tm_call_order(shown);
    return TM_OK;
}

void tm_call_order(tm_table *shown) {
    /* Host first: the sort by device time keeps the order of ties. */
    int top = shown->def->top; /* device column; the host column is at a fixed distance */
    tm_table_rank(shown, top + TM_CALL_HOST_SELF - TM_CALL_DEVICE_SELF);
    tm_table_rank(shown, top);
    if (shown->n_rows > TM_CALL_ROWS)
        shown->n_rows = TM_CALL_ROWS;
}
