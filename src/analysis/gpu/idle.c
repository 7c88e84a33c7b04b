/* Analysis `idle`: why the GPU is idle. */
#include "tmerge/analysis.h"

#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "gap_host.h"

/* Limits for rows of idle.gap. A rank lists only a few gaps, because finding the host's calls in
 * them requires a walk over threads. */
enum { LISTED_PER_RANK = 10, LISTED = 100 };

enum {
    R_RANK,
    R_IDLE,
    R_IDLE_PCT,
    R_HOST_WAIT,
    R_KERNEL_WAIT,
    R_OTHER,
    R_INPUT,
    R_COMM,
    R_ALLOCATION,
    R_SYNC,
    R_HOST_WORK,
    R_GAPS,
    R_LONGEST,
    R_TURNS,
    R_QUEUED
};

static const tm_column rank_columns[] = {
    [R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [R_IDLE] = {"idle_ns", TM_INT, "ns",
                "Time in which nothing ran on the GPU, as in overlap.rank: host_wait_ns + "
                "kernel_wait_ns + other_ns. A communication kernel that waits for other ranks "
                "counts as running (see overlap.rank.exposed_wait_ns)."},
    [R_IDLE_PCT] =
        {"idle_pct", TM_REAL, "%",
         "Share of the rank's window in which it idles: 100 idle_ns / overlap.rank.window_ns."},
    [R_HOST_WAIT] =
        {"host_wait_ns", TM_INT, "ns",
         "Idle time in which the GPU had no queued work, because the host launched late: input_ns "
         "+ host_comm_ns + alloc_ns + sync_ns + host_work_ns. A gap counts if the call that "
         "launched its next event ended after the start of the gap, because work is queued when "
         "its call ends. There are two exceptions. If the call ended after its copy or set had "
         "started, the call must have begun in the gap. If the call is of a graph that had "
         "started, it must cover at least 30 us of the gap. Of the time after the end of the call, "
         "only about the first 30 us count (see part 2 of other_ns)."},
    [R_KERNEL_WAIT] =
        {"kernel_wait_ns", TM_INT, "ns",
         "Idle time of the GPU itself between kernels: gaps under 30 us that are not part of "
         "host_wait_ns. The next event was already queued, or its launch is not in the trace."},
    [R_OTHER] = {"other_ns", TM_INT, "ns",
                 "Idle time for other reasons: the GPU waited for another process, another GPU, "
                 "host memory, ... This is the sum of three parts. (1) Gaps of at least 30 us "
                 "whose next event was already queued, or whose next event has no launch in the "
                 "trace. (2) In the gaps of host_wait_ns: the time after the end of the launch "
                 "call, without its first part, which is 30 us plus the rank's shortest time from "
                 "the end of a launch call to the start of its event. (3) In the same gaps: time "
                 "in which the GPU may have run unrecorded work (job.integrity.hidden_ns)."},
    [R_INPUT] = {"input_ns", TM_INT, "ns",
                 "Part of host_wait_ns in which the host waited for the next batch "
                 "(enumerate(DataLoader)#... or DataPipe)."},
    [R_COMM] = {"host_comm_ns", TM_INT, "ns",
                "Part of host_wait_ns, without input_ns, in which the host was in a communication "
                "call (gloo:, mpi:, ucc:, nccl:, c10d::, record_param_comms)."},
    [R_ALLOCATION] = {"alloc_ns", TM_INT, "ns",
                      "Part of host_wait_ns, without input_ns and host_comm_ns, in which the host "
                      "was in a call that allocates, frees or pins memory or loads code "
                      "(cudaMalloc, cudaFree, cudaHostAlloc, cuModuleLoad)."},
    [R_SYNC] =
        {"sync_ns", TM_INT, "ns",
         "Part of host_wait_ns in gaps that began while the host was in a call that waits or may "
         "wait for the GPU (a synchronisation, a copy, an allocation): the queue was empty when "
         "the call returned. Does not include input_ns, host_comm_ns and alloc_ns. A gap counts "
         "for at most the duration of the call. If the call allocates, frees or loads code, or "
         "launched the copy after the gap, the gap counts for at most the time from the start of "
         "the call to the start of the gap."},
    [R_HOST_WORK] = {"host_work_ns", TM_INT, "ns",
                     "Rest of host_wait_ns: the host launched late, because it did other work or "
                     "was in a call that does not wait for the GPU."},
    [R_GAPS] = {"gaps", TM_INT, "", "Number of gaps: periods in which nothing ran on the GPU."},
    [R_LONGEST] = {"longest_ns", TM_INT, "ns",
                   "Duration of the longest gap; null if there is no gap."},
    [R_TURNS] = {"turns_ns", TM_INT, "ns",
                 "Time in which a GPU of the rank was idle while another GPU of the rank worked: "
                 "mean over the rank's GPUs that work (overlap.device.works). Not part of idle_ns: "
                 "idle_ns + turns_ns is the mean of overlap.device.idle_ns over these GPUs. Null "
                 "unless several GPUs of the rank work."},
    [R_QUEUED] = {"queued_ns", TM_INT, "ns",
                  "Part of other_ns in which the trace shows that the next event was already "
                  "queued, and in which the GPU ran no unrecorded work."},
};

static const tm_table_def rank_def = {
    .name = "idle.rank",
    .doc = "A row for each rank: the idle time of its GPU by cause. A gap is a period in which no "
           "stream of the GPU had work.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_IDLE,
    .form = TM_FORM_BARS,
};

enum { S_RANK, S_DEVICE, S_STREAM, S_EVENTS, S_IDLE, S_HOST_WAIT, S_KERNEL_WAIT, S_OTHER };

static const tm_column stream_columns[] = {
    [S_RANK] = {"rank", TM_INT, "", "Global rank."},
    [S_DEVICE] = {"device", TM_INT, "",
                  "Number of the device of the stream; null if not recorded."},
    [S_STREAM] = {"stream", TM_INT, "", "Number of the stream; null if not recorded."},
    [S_EVENTS] = {"events", TM_INT, "", "Number of kernels, copies and sets on the stream."},
    [S_IDLE] = {"idle_ns", TM_INT, "ns",
                "Idle time of the stream between its events: host_wait_ns + kernel_wait_ns + "
                "other_ns. Other streams may be busy meanwhile."},
    [S_HOST_WAIT] = {"host_wait_ns", TM_INT, "ns",
                     "Idle time in gaps whose next event was launched only after the gap had "
                     "begun, even if the event started long after its launch. This is HTA's "
                     "definition; idle.rank.host_wait_ns is stricter."},
    [S_KERNEL_WAIT] = {"kernel_wait_ns", TM_INT, "ns",
                       "Idle time in gaps under 30 us that are not part of host_wait_ns: the next "
                       "event was already queued, or its launch is not in the trace."},
    [S_OTHER] = {"other_ns", TM_INT, "ns",
                 "Idle time in all other gaps. In most of them, the stream waited for an event of "
                 "another stream."},
};

static const tm_table_def stream_def = {
    .name = "idle.stream",
    .doc = "A row for each stream of a rank: the time between its events, by cause.",
    TM_ARRAY(columns, stream_columns),
    .n_keys = 3,
    .top = S_IDLE,
};

enum {
    G_RANK,
    G_BEGIN,
    G_DURATION,
    G_STEP,
    G_CAUSE,
    G_AFTER,
    G_BEFORE,
    G_HOST,
    G_HOST_TIME,
    G_UNRECORDED
};

static const tm_column gap_columns[] = {
    [G_RANK] = {"rank", TM_INT, "", "Global rank."},
    [G_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns, "Aligned start of the gap, since the epoch."},
    [G_DURATION] = {"duration_ns", TM_INT, "ns", "Duration of the gap."},
    [G_STEP] = {"step", TM_INT, "",
                "Step of the event that ended the gap; null if the event is in no step."},
    [G_CAUSE] = {"cause", TM_TEXT, "",
                 "Cause of the largest part of the gap, in the words of idle.rank: input, "
                 "host_comm, alloc, sync, host_work, kernel_wait or other."},
    [G_AFTER] = {"after", TM_TEXT, "", "Name of the GPU event before the gap."},
    [G_BEFORE] = {"before", TM_TEXT, "", "Name of the GPU event that follows the gap."},
    [G_HOST] =
        {"host", TM_TEXT, "",
         "Name of the calls that took more of the gap than calls of any other name, on the thread "
         "that launched the next event. Only innermost calls count. Null if no call was recorded."},
    [G_HOST_TIME] = {"host_ns", TM_INT, "ns",
                     "Time in the gap that the thread which launched the next event spent in these "
                     "calls (column host)."},
    [G_UNRECORDED] =
        {"unrecorded_ns", TM_INT, "ns",
         "Time in the gap that the thread which launched the next event spent in no recorded call, "
         "for example in Python code without recorded stacks. Null if this thread is unknown."},
};

static const tm_table_def gap_def = {
    .name = "idle.gap",
    .doc = "A row for each of the 100 longest gaps of the job, longest first, with at most 10 of "
           "one rank.",
    TM_ARRAY(columns, gap_columns),
    .n_keys = 2,
    .top = G_DURATION,
};

static const tm_table_def *const defs[] = {&rank_def, &stream_def, &gap_def};

static const char *const cause_words[] = {
    [TM_IDLE_HOST] = "host_work",
    [TM_IDLE_INPUT] = "input",
    [TM_IDLE_COMMUNICATION] = "host_comm",
    [TM_IDLE_ALLOCATION] = "alloc",
    [TM_IDLE_SYNC] = "sync",
    [TM_IDLE_KERNEL] = "kernel_wait",
    [TM_IDLE_OTHER] = "other",
};

static int64_t length_of(const tm_gap *gap) {
    return gap->end_ns - gap->begin_ns;
}

/* Adds the rank's row. The causes add up to idle_ns of overlap.rank, because gaps are all the time
 * in which no device is busy. */
static tm_status add_rank(const tm_rank_view *view, const tm_gaps *gaps, tm_table *table,
                          tm_error *err) {
    const int64_t *sums = gaps->sums;
    int64_t host = sums[TM_IDLE_HOST] + sums[TM_IDLE_INPUT] + sums[TM_IDLE_COMMUNICATION] +
                   sums[TM_IDLE_ALLOCATION] + sums[TM_IDLE_SYNC];
    int64_t idle = host + sums[TM_IDLE_KERNEL] + sums[TM_IDLE_OTHER], longest = -1;
    for (size_t i = 0; i < gaps->gaps.n; i++) {
        const tm_gap *gap = (const tm_gap *)gaps->gaps.data + i;
        longest = length_of(gap) > longest ? length_of(gap) : longest;
    }
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[R_RANK], view->timeline->rank);
    tm_cell_set_int(&row[R_IDLE], idle);
    tm_cell_set_ratio(&row[R_IDLE_PCT], 100.0, idle, tm_busy_rank(view->busy).window_ns);
    tm_cell_set_int(&row[R_HOST_WAIT], host);
    tm_cell_set_int(&row[R_KERNEL_WAIT], sums[TM_IDLE_KERNEL]);
    tm_cell_set_int(&row[R_OTHER], sums[TM_IDLE_OTHER]);
    tm_cell_set_int(&row[R_INPUT], sums[TM_IDLE_INPUT]);
    tm_cell_set_int(&row[R_COMM], sums[TM_IDLE_COMMUNICATION]);
    tm_cell_set_int(&row[R_ALLOCATION], sums[TM_IDLE_ALLOCATION]);
    tm_cell_set_int(&row[R_SYNC], sums[TM_IDLE_SYNC]);
    tm_cell_set_int(&row[R_HOST_WORK], sums[TM_IDLE_HOST]);
    tm_cell_set_int(&row[R_QUEUED], gaps->queued_ns);
    tm_cell_set_int(&row[R_GAPS], (int64_t)gaps->gaps.n);
    tm_cell_set_known(&row[R_LONGEST], longest);
    return TM_OK;
}

/* A track, and the rows [next, end) not yet visited. */
typedef struct place {
    size_t next, end;
} place;

/* Returns the next row in time of a stream's tracks; TM_NO_EVENT at the end. If starts are equal,
 * the first track comes first. Most streams have one track. */
static size_t next_row(const tm_timeline *timeline, place *places, size_t n) {
    place *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (places[i].next < places[i].end &&
            (!first || timeline->begin_ns[places[i].next] < timeline->begin_ns[first->next]))
            first = &places[i];
    return first ? first->next++ : TM_NO_EVENT;
}

/* Adds the row of a stream with n tracks. A gap is between events of this stream only. Events may
 * overlap, so a gap starts at the latest end so far. */
static tm_status add_stream(const tm_timeline *timeline, const tm_track *track, place *places,
                            size_t n, tm_table *table, tm_error *err) {
    int64_t sums[TM_N_IDLE_CAUSES] = {0}, events = 0, ended = 0;
    for (size_t row; (row = next_row(timeline, places, n)) != TM_NO_EVENT;) {
        if (timeline->role[row] == TM_ROLE_NONE)
            continue;
        int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
        /* It is unknown whether the stream was in use before its first event and after its last. */
        if (events++ > 0 && begin > ended)
            sums[tm_idle_cause_of(timeline, row, begin - ended)] += begin - ended;
        ended = events == 1 || end > ended ? end : ended;
    }
    if (events == 0)
        return TM_OK;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[S_RANK], timeline->rank);
    tm_cell_set_known(&row[S_DEVICE], track->device);
    tm_cell_set_known(&row[S_STREAM], track->stream);
    tm_cell_set_int(&row[S_EVENTS], events);
    tm_cell_set_int(&row[S_IDLE], sums[TM_IDLE_HOST] + sums[TM_IDLE_KERNEL] + sums[TM_IDLE_OTHER]);
    tm_cell_set_int(&row[S_HOST_WAIT], sums[TM_IDLE_HOST]);
    tm_cell_set_int(&row[S_KERNEL_WAIT], sums[TM_IDLE_KERNEL]);
    tm_cell_set_int(&row[S_OTHER], sums[TM_IDLE_OTHER]);
    return TM_OK;
}

/* Returns whether two tracks are known to belong to one stream. */
static bool same_stream(const tm_track *a, const tm_track *b) {
    return b->kind == TM_TRACK_GPU && a->stream >= 0 && a->stream == b->stream &&
           a->device == b->device;
}

/* Adds the rows of all streams. A stream may have several ids in a trace, on adjacent tracks. */
static tm_status add_streams(const tm_timeline *timeline, tm_table *table, tm_error *err) {
    place *places = calloc(timeline->n_tracks + 1, sizeof *places);
    tm_status status = places ? TM_OK : tm_fail_memory(err);
    for (size_t t = 0, n; t < timeline->n_tracks && status == TM_OK; t += n) {
        const tm_track *track = &timeline->tracks[t];
        for (n = 0; n == 0 || (t + n < timeline->n_tracks && same_stream(track, track + n)); n++)
            places[n] = (place){track[n].first, (size_t)track[n].first + track[n].count};
        if (track->kind == TM_TRACK_GPU)
            status = add_stream(timeline, track, places, n, table, err);
    }
    free(places);
    return status;
}

/* Chooses the longest gaps of at least @p least_ns. If durations are equal, earlier gaps come
 * first. Returns the number of chosen gaps, and their indices in order of time, as tm_gap_hosts
 * requires. */
static size_t choose_longest(const tm_gaps *gaps, int64_t least_ns,
                             size_t chosen[LISTED_PER_RANK]) {
    const tm_gap *v = gaps->gaps.data;
    size_t n = 0, shortest = 0;
    for (size_t i = 0; i < gaps->gaps.n; i++) {
        int64_t length = length_of(&v[i]);
        if (length < least_ns ||
            (n == LISTED_PER_RANK && length <= length_of(&v[chosen[shortest]])))
            continue;
        if (n == LISTED_PER_RANK) {
            for (size_t k = shortest + 1; k < n; k++)
                chosen[k - 1] = chosen[k];
            n--;
        }
        chosen[n++] = i;
        shortest = 0;
        for (size_t k = 1; k < n; k++)
            if (length_of(&v[chosen[k]]) <= length_of(&v[chosen[shortest]]))
                shortest = k;
    }
    return n;
}

static tm_status set_event(const tm_rank_view *view, tm_table *table, tm_cell *cell, uint32_t row,
                           tm_error *err) {
    if (row == TM_NO_EVENT)
        return TM_OK;
    tm_text name = tm_names_text(view->names, view->timeline->name[row]);
    return tm_table_set_bytes(table, cell, name.bytes, name.size, err);
}

static tm_status add_gap(const tm_rank_view *view, const tm_gaps *gaps, const tm_gap *gap,
                         const tm_gap_host *host, tm_table *table, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[G_RANK], timeline->rank);
    tm_cell_set_int(&row[G_BEGIN], tm_rank_clock_true(&timeline->clock, gap->begin_ns));
    tm_cell_set_int(&row[G_DURATION], length_of(gap));
    if (gap->next != TM_NO_EVENT && timeline->step[gap->next] != TM_NO_STEP)
        tm_cell_set_int(&row[G_STEP], timeline->steps[timeline->step[gap->next]].number);
    if (host->known)
        tm_cell_set_int(&row[G_UNRECORDED], host->unrecorded_ns);
    if (host->known && host->longest_ns > 0) {
        tm_text name = tm_names_text(view->names, host->longest);
        tm_cell_set_int(&row[G_HOST_TIME], host->longest_ns);
        TM_TRY(tm_table_set_bytes(table, &row[G_HOST], name.bytes, name.size, err));
    }
    TM_TRY(set_event(view, table, &row[G_AFTER], tm_gap_last_event(timeline, gap), err));
    TM_TRY(set_event(view, table, &row[G_BEFORE], gap->next, err));
    return tm_table_set_text(table, &row[G_CAUSE], cause_words[tm_gap_cause(gaps, gap)], err);
}

/* Returns the minimum duration of a gap for the list [ns]: 0 until the list is full, then the
 * duration of its last gap. */
static int64_t least_listed(const tm_table *table) {
    return table->n_rows < LISTED ? 0 : tm_table_row(table, LISTED - 1)[G_DURATION].value.i;
}

/* Adds the longest gaps of a rank. Finds the host's calls in all of them at once. */
static tm_status add_gaps(const tm_rank_view *view, const tm_gaps *gaps, tm_table *table,
                          tm_error *err) {
    size_t chosen[LISTED_PER_RANK], n = choose_longest(gaps, least_listed(table), chosen);
    tm_gap longest[LISTED_PER_RANK] = {{0}};
    tm_gap_host hosts[LISTED_PER_RANK];
    if (n == 0)
        return TM_OK;
    for (size_t i = 0; i < n; i++)
        longest[i] = ((const tm_gap *)gaps->gaps.data)[chosen[i]];
    TM_TRY(tm_gap_hosts(view, longest, n, hosts, err));
    for (size_t i = 0; i < n; i++)
        TM_TRY(add_gap(view, gaps, &longest[i], &hosts[i], table, err));
    if (table->n_rows >= LISTED) {
        tm_table_sort(table); /* sorts by rank and time first, so that of equally long gaps the
                                 earlier ones stay, as in the job's table */
        tm_table_top(table, LISTED);
    }
    return TM_OK;
}

/* Sets the cell to the mean idle time of the rank's working devices, minus the rank's idle time.
 * Does nothing if only one device works. */
static void set_turns(const tm_rank_view *view, tm_cell *cell) {
    const tm_device_busy *v = view->devices->data;
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < view->devices->n; i++) {
        if (!v[i].works)
            continue;
        sum += tm_intervals_length(&view->busy->busy) - tm_intervals_length(&v[i].busy.busy);
        n++;
    }
    if (n > 1)
        tm_cell_set_int(cell, sum / n);
}

static tm_status idle_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_table *ranks = tm_tables_find(out, rank_def.name);
    TM_TRY(add_rank(view, view->gaps, ranks, err));
    set_turns(view, &tm_table_row(ranks, ranks->n_rows - 1)[R_TURNS]);
    TM_TRY(add_streams(view->timeline, tm_tables_find(out, stream_def.name), err));
    return add_gaps(view, view->gaps, tm_tables_find(out, gap_def.name), err);
}

static tm_status idle_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    (void)err;
    /* each process kept its longest gaps, so the rows include the job's longest */
    tm_table_top(tm_tables_find(out, gap_def.name), LISTED);
    return TM_OK;
}

const tm_analysis tm_analysis_idle = {
    .name = "idle",
    .summary = "why the GPU idles: host, input, communication, small gaps",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_GAPS,
    .rank = idle_rank,
    .job = idle_job,
};
