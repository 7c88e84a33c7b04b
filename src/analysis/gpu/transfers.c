/* Analysis `transfers`: size and speed of copies, and how long they block the host. */
#include "base/letters.h"
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/gaps.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/size_class.h"
#include "base/keys.h"
#include "base/sums.h"
#include "over_time.h"

#define KIND_DOC                                                                                   \
    "Kind of copy: htod, dtoh, dtod (on one device), ptop (between devices), htoh, set (a memset)" \
    " or other."
#define MEMORY_DOC                                                                                 \
    "Kind of host memory: pinned, pageable, or unknown if the trace does not say; device if the "  \
    "copy does not use host memory."

enum {
    RANK,
    KIND,
    MEMORY,
    COUNT,
    BYTES,
    TOTAL,
    BANDWIDTH,
    UNION,
    OVERLAP,
    OVERLAP_PCT,
    SYNC_COUNT,
    SYNC
};

static const tm_column kind_columns[] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [KIND] = {"kind", TM_TEXT, "", KIND_DOC},
    [MEMORY] = {"host_memory", TM_TEXT, "", MEMORY_DOC},
    [COUNT] = {"count", TM_INT, "", "Number of copies or sets of this kind and memory."},
    [BYTES] = {"bytes", TM_INT, "B",
               "Sum of the known sizes of the copies; null if no size is known."},
    [TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the copies on the GPU."},
    [BANDWIDTH] =
        {"bw_gbps", TM_REAL, "GB/s",
         "Bandwidth while copies run: bytes / total_ns, over the copies with a known size; null if "
         "no size is known. Overhead makes small copies slower: see transfers.size."},
    [UNION] = {"union_ns", TM_INT, "ns",
               "Time in which at least one copy of this kind and memory ran. Overlapping copies "
               "count once."},
    [OVERLAP] = {"overlap_ns", TM_INT, "ns", "Part of union_ns in which compute kernels ran."},
    [OVERLAP_PCT] =
        {"overlap_pct", TM_REAL, "%",
         "Share of the copies' time in which compute kernels also ran: 100 overlap_ns / union_ns."},
    [SYNC_COUNT] = {"sync_count", TM_INT, "",
                    "Number of copies that blocked the host, as copies of pageable memory do: the "
                    "call that launched the copy returned after the middle of the copy."},
    [SYNC] = {"sync_ns", TM_INT, "ns",
              "Sum of the durations of the calls that launched the copies in sync_count."},
};

static const tm_table_def kind_def = {
    .name = "transfers.kind",
    .doc = "A row for each rank, kind of copy and kind of host memory.",
    TM_ARRAY(columns, kind_columns),
    .n_keys = 3,
    .top = TOTAL,
};

enum { Z_KIND, Z_MEMORY, Z_SIZE, Z_COUNT, Z_BYTES, Z_TOTAL, Z_BANDWIDTH, N_SIZE_COLUMNS };

static const tm_column size_columns[N_SIZE_COLUMNS] = {
    [Z_KIND] = {"kind", TM_TEXT, "", KIND_DOC},
    [Z_MEMORY] = {"host_memory", TM_TEXT, "", MEMORY_DOC},
    [Z_SIZE] = {"size_class_bytes", TM_INT, "B",
                "Size class: the largest power of two that does not exceed the copy's size. Null "
                "if the size is unknown."},
    [Z_COUNT] = {"count", TM_INT, "", "Number of copies or sets, over all ranks."},
    [Z_BYTES] = {"bytes", TM_INT, "B",
                 "Sum of the sizes of the copies, over all ranks; null if unknown."},
    [Z_TOTAL] = {"total_ns", TM_INT, "ns",
                 "Sum of the durations of the copies on the GPU, over all ranks."},
    [Z_BANDWIDTH] = {"bw_gbps", TM_REAL, "GB/s", "Bandwidth while copies run: bytes / total_ns."},
};

static const tm_table_def size_def = {
    .name = "transfers.size",
    .doc = "A row for each kind of copy, kind of host memory and size class, over all ranks.",
    TM_ARRAY(columns, size_columns),
    .n_keys = 3,
    .top = Z_TOTAL,
};

enum { P_KIND, P_MEMORY, P_SIZE, P_RANK, P_COUNT, P_BYTES, P_TOTAL, N_PART_COLUMNS };

static const tm_column part_columns[N_PART_COLUMNS] = {
    [P_KIND] = {"kind", TM_INT, "", "Kind of the copies, as a number."},
    [P_MEMORY] = {"host_memory", TM_INT, "", "Kind of host memory, as a number."},
    [P_SIZE] = {"size_class_bytes", TM_INT, "B", "As in transfers.size."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_COUNT] = {"count", TM_INT, "", "Number of copies of the rank."},
    [P_BYTES] = {"bytes", TM_INT, "B", "Sum of the sizes of the copies."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the copies."},
};

/* The merge combines rows with equal kind, memory and size class. These columns are numbers,
 * because the merge does not support texts. */
static const tm_table_def part_def =
    TM_PART_TABLE("transfers.size_part",
                  "A row for each class and rank: its part of transfers.size.", part_columns, 3);

enum { A_RANK, A_CALL, A_CALLS, A_STEP_CALLS, A_TOTAL, A_MAX, N_ALLOCATION_COLUMNS };

static const tm_column allocation_columns[N_ALLOCATION_COLUMNS] = {
    [A_RANK] = {"rank", TM_INT, "", "Global rank."},
    [A_CALL] = {"call", TM_TEXT, "",
                "Name of the call, such as cudaMalloc, cudaFree, hipMalloc or cudaHostAlloc."},
    [A_CALLS] = {"calls", TM_INT, "", "Number of calls."},
    [A_STEP_CALLS] =
        {"step_calls", TM_INT, "",
         "Number of calls within marked steps. A caching allocator should need none there."},
    [A_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of all calls."},
    [A_MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call."},
};

static const tm_table_def allocation_def = {
    .name = "transfers.allocation",
    .doc = "A row for each rank and call that allocates or frees device memory or pinned memory; "
           "such calls may wait for the GPU.",
    TM_ARRAY(columns, allocation_columns),
    .n_keys = 2,
    .top = A_TOTAL,
};

enum { O_RANK, O_KIND, O_TIME, O_BYTES, O_RATE, N_RATE_COLUMNS };

static const tm_column rate_columns[N_RATE_COLUMNS] = {
    [O_RANK] = {"rank", TM_INT, "", "Global rank."},
    [O_KIND] = {"kind", TM_TEXT, "", "Kind of the copies, as in transfers.kind."},
    [O_TIME] = {"time_ns", TM_INT, tm_epoch_ns, "Aligned start of the interval, since the epoch."},
    [O_BYTES] = {"bytes", TM_INT, "B",
                 "Bytes copied in the interval. If only part of a copy's time is in the interval, "
                 "the same part of its bytes counts."},
    [O_RATE] = {"bw_gbps", TM_REAL, "GB/s",
                "Mean bandwidth in the interval: bytes / duration of the interval, including time "
                "without copies."},
};

static const tm_table_def rate_def = {
    .name = "transfers.rate",
    .doc = "A row for each rank, kind of copy (except sets) and interval in which copies of known "
           "size ran. An interval is 1/64 of the time from the first start to the last end of the "
           "rank's GPU events. Limited to the 64 ranks that copied the most bytes.",
    TM_ARRAY(columns, rate_columns),
    .n_keys = O_TIME + 1,
    .top = O_RATE,
};

static const tm_table_def *const defs[] = {&kind_def, &size_def, &rate_def, &allocation_def,
                                           &part_def};

enum { HTOD, DTOH, DTOD, PTOP, HTOH, SET, OTHER_KIND, N_KINDS };
static const char *const kind_words[] = {"htod", "dtoh", "dtod", "ptop", "htoh", "set", "other"};

enum { DEVICE, PINNED, PAGEABLE, UNKNOWN, N_MEMORIES };
#define N_CLASSES ((int)N_KINDS * (int)N_MEMORIES)
static const char *const memory_words[] = {"device", "pinned", "pageable", "unknown"};

/* Returns the kind of a copy from its name, such as "Memcpy HtoD (Pageable -> Device)" or
 * "CopyHostToDevice". Memory sets have their own event category. */
static int kind_of(tm_text name, uint8_t category) {
    static const struct {
        const char *part;
        int kind;
    } parts[] = {
        {"HtoD", HTOD},
        {"HostToDevice", HTOD},
        {"DtoH", DTOH},
        {"DeviceToHost", DTOH},
        {"DtoD", DTOD},
        {"DeviceToDevice", DTOD},
        {"PtoP", PTOP},
        {"HtoH", HTOH},
        {"HOST_TO_DEVICE", HTOD},
        {"DEVICE_TO_HOST", DTOH},
        {"DEVICE_TO_DEVICE", DTOD},
        {"M2D", HTOD},
        {"D2M", DTOH},
        {"D2D", DTOD}, /* XPUs' traces have M2D, D2M and D2D, where M means host memory */
    };
    if (category == TM_CAT_MEMSET)
        return SET;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (tm_text_holds(name, parts[i].part))
            return parts[i].kind;
    return OTHER_KIND;
}

/* Returns the kind of host memory. If a copy from host to host has both kinds, returns pageable. */
static int memory_of(tm_text name, int kind) {
    if (kind == DTOD || kind == PTOP || kind == SET)
        return DEVICE;
    return tm_text_holds(name, "Pageable") ? PAGEABLE
           : tm_text_holds(name, "Pinned") ? PINNED
                                           : UNKNOWN;
}

/* Totals of the copies of one kind, from or to one kind of memory. */
typedef struct tally {
    int64_t count, bytes, total_ns, sync_count, sync_ns;
    int64_t n_sized, sized_ns; /* copies of known size: number and total duration */
    tm_intervals set;
} tally;

typedef struct size_key {
    int64_t kind, memory, size_class;
} size_key;

typedef struct size_tally {
    int64_t count, bytes, total_ns;
} size_tally;

/* Totals of a rank. */
typedef struct account {
    const tm_timeline *timeline;
    tm_call_kinds *call_kinds;
    uint8_t *classes; /* [names] 1 + kind * N_MEMORIES + memory; 0: not yet known; owned */
    /* [kind * N_MEMORIES + memory] */
    tally tallies[N_CLASSES];
    tm_keys sizes; /* keys of size_key */
    tm_vec size_tallies;
    tm_over_time rates[N_KINDS]; /* bytes copied over time */
} account;

/* Returns the call that launched a copy; TM_NO_EVENT if the call is unknown or launched a graph. */
static uint32_t call_of(account *a, uint32_t row) {
    uint32_t call = a->timeline->launch[row];
    bool graph = call != TM_NO_EVENT &&
                 tm_call_kinds_at(a->call_kinds, a->timeline->name[call]) == TM_CALL_KIND_GRAPH;
    return graph ? TM_NO_EVENT : call;
}

static bool count_size(account *a, int class, int64_t bytes, int64_t duration_ns) {
    const size_key key = {class / N_MEMORIES, class % N_MEMORIES, tm_size_class(bytes)};
    size_tally *t = tm_keys_value(&a->sizes, &a->size_tallies, &key);
    if (!t)
        return false;
    t->count++;
    t->bytes = tm_sum(t->bytes, bytes > 0 ? bytes : 0);
    t->total_ns = tm_sum(t->total_ns, duration_ns);
    return true;
}

/* Counts a copy by kind and memory for the rank, and by size class for the job. */
static bool count_copy(account *a, const tm_copy_attr *copy) {
    const tm_timeline *timeline = a->timeline;
    uint32_t row = copy->event, name = timeline->name[row];
    int64_t begin = timeline->begin_ns[row], duration = timeline->duration_ns[row];
    if (timeline->role[row] != TM_ROLE_MEMORY)
        return true;
    if (a->classes[name] == 0) {
        tm_text text = tm_names_text(a->call_kinds->names, name);
        int kind = kind_of(text, timeline->category[row]);
        a->classes[name] = (uint8_t)(1 + kind * N_MEMORIES + memory_of(text, kind));
    }
    tally *t = &a->tallies[a->classes[name] - 1];
    uint32_t call = call_of(a, row);
    t->count++;
    t->total_ns = tm_sum(t->total_ns, duration);
    if (copy->bytes >= 0) {
        t->n_sized++;
        t->bytes = tm_sum(t->bytes, copy->bytes);
        t->sized_ns = tm_sum(t->sized_ns, duration);
        tm_over_time_spread(&a->rates[(a->classes[name] - 1) / N_MEMORIES], begin, begin + duration,
                            copy->bytes);
    }
    if (call != TM_NO_EVENT && tm_copy_held_host(timeline, row)) {
        t->sync_count++;
        t->sync_ns = tm_sum(t->sync_ns, timeline->duration_ns[call]);
    }
    return tm_intervals_add(&t->set, begin, begin + duration) &&
           count_size(a, a->classes[name] - 1, copy->bytes, duration);
}

static tm_status add_kind(const tm_rank_view *view, int class, tally *t, tm_table *table,
                          tm_error *err) {
    tm_intervals overlap = TM_INTERVALS();
    tm_intervals_normalise(&t->set);
    tm_cell *row = tm_table_add_row(table);
    bool ok = row && tm_intervals_intersect(&t->set, &view->busy->compute, &overlap);
    int64_t union_ns = tm_intervals_length(&t->set), overlap_ns = tm_intervals_length(&overlap);
    tm_vec_free(&overlap);
    if (!ok)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[RANK], view->timeline->rank);
    tm_cell_set_int(&row[COUNT], t->count);
    tm_cell_set_int(&row[TOTAL], t->total_ns);
    if (t->n_sized > 0)
        tm_cell_set_int(&row[BYTES], t->bytes);
    /* without known sizes the bandwidth is null */
    if (t->bytes > 0)
        tm_cell_set_ratio(&row[BANDWIDTH], 1.0, t->bytes, t->sized_ns);
    tm_cell_set_int(&row[UNION], union_ns);
    tm_cell_set_int(&row[OVERLAP], overlap_ns);
    tm_cell_set_ratio(&row[OVERLAP_PCT], 100.0, overlap_ns, union_ns);
    tm_cell_set_int(&row[SYNC_COUNT], t->sync_count);
    tm_cell_set_int(&row[SYNC], t->sync_ns);
    TM_TRY(tm_table_set_text(table, &row[KIND], kind_words[class / N_MEMORIES], err));
    return tm_table_set_text(table, &row[MEMORY], memory_words[class % N_MEMORIES], err);
}

/* Adds this rank's rows to the part table. */
static tm_status add_sizes(const account *a, tm_table *table, tm_error *err) {
    const size_key *keys = a->sizes.keys.data;
    for (size_t i = 0; i < a->size_tallies.n; i++) {
        const size_tally *t = (const size_tally *)a->size_tallies.data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[P_KIND], keys[i].kind);
        tm_cell_set_int(&row[P_MEMORY], keys[i].memory);
        tm_cell_set_int(&row[P_SIZE], keys[i].size_class);
        tm_cell_set_int(&row[P_RANK], a->timeline->rank);
        tm_cell_set_int(&row[P_COUNT], t->count);
        tm_cell_set_int(&row[P_BYTES], t->bytes);
        tm_cell_set_int(&row[P_TOTAL], t->total_ns);
    }
    return TM_OK;
}

static tm_status add_rates(const account *a, tm_table *table, tm_error *err) {
    for (int i = 0; i < N_KINDS * TM_PARTS; i++) {
        int kind = i / TM_PARTS, part = i % TM_PARTS;
        int64_t copied = a->rates[kind].part[part];
        if (copied <= 0 || kind == SET)
            continue;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[O_RANK], a->timeline->rank);
        tm_cell_set_int(&row[O_TIME], tm_over_time_begin(&a->rates[kind], a->timeline, part));
        tm_cell_set_int(&row[O_BYTES], copied);
        tm_cell_set_ratio(&row[O_RATE], 1.0, copied, tm_over_time_width(&a->rates[kind], part));
        TM_TRY(tm_table_set_text(table, &row[O_KIND], kind_words[kind], err));
    }
    return TM_OK;
}

static tm_status account_copies(const tm_rank_view *view, account *a, tm_tables *out,
                                tm_error *err) {
    const tm_copy_attr *copies = view->timeline->attrs[TM_ATTR_COPY];
    tm_table *kinds = tm_tables_find(out, kind_def.name);
    tm_status status = TM_OK;
    bool ok = a->classes != NULL;
    for (size_t i = 0; ok && i < view->timeline->n_attrs[TM_ATTR_COPY]; i++)
        ok = count_copy(a, &copies[i]);
    if (!ok)
        return tm_fail_memory(err);
    for (int class = 0; class < N_CLASSES && status == TM_OK; class ++)
        if (a->tallies[class].count > 0)
            status = add_kind(view, class, &a->tallies[class], kinds, err);
    if (status == TM_OK)
        status = add_rates(a, tm_tables_find(out, rate_def.name), err);
    return status == TM_OK ? add_sizes(a, tm_tables_find(out, part_def.name), err) : status;
}

/* Calls with one name, such as cudaMalloc. */
typedef struct calls {
    int64_t calls, step_calls, total_ns, max_ns;
} calls;

/* Counts the runtime and driver calls that allocate or free memory, by name. */
static bool count_allocations(account *a, tm_keys *keys, tm_vec *found) {
    const tm_timeline *timeline = a->timeline;
    for (size_t row = 0; row < timeline->n_events; row++) {
        uint8_t category = timeline->category[row];
        if ((category != TM_CAT_RUNTIME && category != TM_CAT_DRIVER) ||
            timeline->kind[row] != TM_DURATION ||
            tm_call_kinds_at(a->call_kinds, timeline->name[row]) != TM_CALL_KIND_ALLOCATION)
            continue;
        calls *c = tm_keys_value(keys, found, &timeline->name[row]);
        if (!c)
            return false;
        int64_t duration = timeline->duration_ns[row];
        int32_t step = timeline->step[row];
        c->calls++;
        /* If no steps are marked, the whole trace is a step, including the program's start. Then no
         * call counts as within a step. */
        c->step_calls += step != TM_NO_STEP && timeline->steps[step].annotated;
        c->total_ns = tm_sum(c->total_ns, duration);
        c->max_ns = duration > c->max_ns ? duration : c->max_ns;
    }
    return true;
}

static tm_status add_allocations(const tm_rank_view *view, const tm_keys *keys, const tm_vec *found,
                                 tm_table *table, tm_error *err) {
    for (size_t i = 0; i < found->n; i++) {
        const calls *c = (const calls *)found->data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[A_RANK], view->timeline->rank);
        tm_cell_set_int(&row[A_CALLS], c->calls);
        tm_cell_set_int(&row[A_STEP_CALLS], c->step_calls);
        tm_cell_set_int(&row[A_TOTAL], c->total_ns);
        tm_cell_set_int(&row[A_MAX], c->max_ns);
        tm_text name = tm_names_text(view->names, ((const uint32_t *)keys->keys.data)[i]);
        TM_TRY(tm_table_set_bytes(table, &row[A_CALL], name.bytes, name.size, err));
    }
    return TM_OK;
}

static tm_status account_allocations(const tm_rank_view *view, account *a, tm_tables *out,
                                     tm_error *err) {
    tm_keys keys = TM_KEYS(uint32_t);
    tm_vec found = TM_VEC(calls);
    tm_status status = TM_OK;
    if (count_allocations(a, &keys, &found))
        status =
            add_allocations(view, &keys, &found, tm_tables_find(out, allocation_def.name), err);
    else
        status = tm_fail_memory(err);
    tm_keys_free(&keys);
    tm_vec_free(&found);
    return status;
}

static tm_status transfers_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    account a = {
        .timeline = view->timeline, .call_kinds = view->call_kinds, .sizes = TM_KEYS(size_key)};
    a.size_tallies = TM_VEC(size_tally);
    a.classes = calloc(view->n_names, 1);
    for (int i = 0; i < N_CLASSES; i++)
        a.tallies[i].set = TM_INTERVALS();
    a.rates[0] = tm_over_time_make(view->timeline);
    for (int i = 1; i < N_KINDS; i++)
        a.rates[i] = a.rates[0];
    tm_status status = account_copies(view, &a, out, err);
    if (status == TM_OK)
        status = account_allocations(view, &a, out, err);
    for (int i = 0; i < N_CLASSES; i++)
        tm_vec_free(&a.tallies[i].set);
    tm_keys_free(&a.sizes);
    tm_vec_free(&a.size_tallies);
    free(a.classes);
    return status;
}

static tm_status set_size(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                          tm_cell *row, tm_error *err) {
    const int64_t bytes = tm_over_ranks_sum(rows, P_BYTES);
    const int64_t total_ns = tm_over_ranks_sum(rows, P_TOTAL);
    const tm_cell *key = tm_rank_rows_key(rows);
    (void)names;
    if (key[P_SIZE].value.i >= 0) {
        tm_cell_set_int(&row[Z_SIZE], key[P_SIZE].value.i);
        tm_cell_set_int(&row[Z_BYTES], bytes);
    }
    tm_cell_set_int(&row[Z_COUNT], tm_over_ranks_sum(rows, P_COUNT));
    tm_cell_set_int(&row[Z_TOTAL], total_ns);
    if (bytes > 0)
        tm_cell_set_ratio(&row[Z_BANDWIDTH], 1.0, bytes, total_ns);
    TM_TRY(tm_table_set_text(table, &row[Z_KIND], kind_words[key[P_KIND].value.i], err));
    return tm_table_set_text(table, &row[Z_MEMORY], memory_words[key[P_MEMORY].value.i], err);
}

static tm_status transfers_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&part_def, &size_def, names, tables, set_size, err);
}

static tm_status transfers_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    return tm_over_time_keep(tm_tables_find(out, rate_def.name), tm_tables_find(out, kind_def.name),
                             BYTES, err);
}

const tm_analysis tm_analysis_transfers = {
    .name = "transfers",
    .summary = "copies: how much is copied, how fast, how much overlaps computation, and whether "
               "the host waits",
    TM_ARRAY(tables, defs),
    .rank = transfers_rank,
    .merge = transfers_merge,
    .job = transfers_job,
};
