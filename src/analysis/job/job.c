/* Analysis `job`: the job's ranks, where they ran, and what was read from their traces. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "base/intervals.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "diagnostics.h"
#include "differs.h"
#include "format_limits.h"
#include "integrity.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

enum {
    RANK,
    HOST,
    DEVICE,
    SOURCE,
    FORMAT,
    EVENTS,
    BEGIN,
    END,
    SKIPPED,
    REPAIRED,
    TRUNCATED,
    DIAGNOSTICS,
    DEVICE_KIND,
    UNRECOGNISED,
    PROFILER_ERROR,
    OPENING,
    HOST_INFERRED
};

static const tm_column rank_columns[] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [HOST] =
        {"host", TM_TEXT, "",
         "Name of the rank's host, from --host-map, the trace or the trace's file name. If "
         "unknown, hosts are named host0, host1, ..., without the names of known hosts. The second "
         "of two successive ranks is then on the host of the first in two cases: their numbers "
         "differ by 1, and the device number of the second is higher or unknown; or rank and "
         "device number differ by the same amount. Null if there are several ranks, and no host or "
         "device is known."},
    [DEVICE] = {"device", TM_INT, "",
                "Number of the rank's device on its host; of several devices, the one with the "
                "most busy time. Null without GPU events."},
    [SOURCE] = {"source", TM_TEXT, "",
                "Paths of the rank's traces as given, in order of start, separated by commas."},
    [FORMAT] = {"format", TM_TEXT, "", "Format of the rank's traces."},
    [EVENTS] = {"events", TM_INT, "",
                "Number of events that were kept: durations, instants and counters, without flows "
                "and metadata."},
    [BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
               "Aligned start of the rank's first duration event outside of the category Trace, "
               "since the epoch."},
    [END] = {"end_ns", TM_INT, tm_epoch_ns,
             "Aligned end of the rank's last duration event, since the epoch. Computed as begin_ns "
             "plus the time on the rank's own clock from that start to this end."},
    [SKIPPED] =
        {"skipped_events", TM_INT, "",
         "Number of events that were read but dropped; /ranks and /spans list the reasons."},
    [REPAIRED] =
        {"repaired_events", TM_INT, "",
         "Number of events with at least one repair; /ranks and /spans list the repairs by class."},
    [TRUNCATED] = {"truncated", TM_BOOL, "",
                   "Whether one of the rank's traces is cut short; its readable part is used."},
    [DIAGNOSTICS] = {"remarks", TM_TEXT, "",
                     "Kinds and counts of repaired, dropped or odd data in the rank's traces. "
                     "job.remark lists the traces and the meaning of each kind."},
    [DEVICE_KIND] = {"device_kind", TM_TEXT, "",
                     "Kind of the rank's devices: GPU, NPU, TPU, XPU, ...; null if the trace has "
                     "neither the kind nor device events."},
    [UNRECOGNISED] = {"unrecognised", TM_TEXT, "",
                      "Event categories that tmerge does not recognise as device or host work, "
                      "with their numbers of events."},
    [PROFILER_ERROR] = {"profiler_error", TM_TEXT, "",
                        "Why CUPTI did not record the device, from the profiler's log in the "
                        "trace. Null if the log has no error, or if the rank has device events."},
    [OPENING] = {"opening_ns", TM_INT, "ns",
                 "Time at the start of the rank's recording that is left out of windows, steps and "
                 "waits, because profilers of other ranks were still starting. It ends when the "
                 "last rank arrives at a collective in which some rank had waited before another "
                 "rank's recording started. That part of the wait must be at least half of the "
                 "wait, and at least 5 % of the waiting rank's recording. Null if nothing is left "
                 "out."},
    [HOST_INFERRED] =
        {"host_inferred", TM_BOOL, "",
         "Whether the host follows from device numbers, because nothing names it. Null "
         "if the host is null."},
};

static const tm_table_def rank_def = {
    .name = "job.rank",
    .doc = "A row for each rank: where it ran and what was read from its traces.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = EVENTS,
    .form = TM_FORM_BARS,
};

enum {
    J_RANKS,
    J_HOSTS,
    J_STEPS,
    J_EVENTS,
    J_COLLECTIVES,
    J_BEGIN,
    J_DURATION,
    J_RECORDINGS,
    J_RECORDED,
    J_KIND,
    J_INTEGRITY
};

static const tm_column job_columns[] = {
    [J_RANKS] = {"ranks", TM_INT, "", "Number of ranks whose traces were read."},
    [J_HOSTS] = {"hosts", TM_INT, "", "Number of hosts; null if unknown."},
    [J_STEPS] = {"steps", TM_INT, "",
                 "Number of marked steps; a step counts once for all ranks. 0 if no trace marks "
                 "steps (the whole trace is then step 0)."},
    [J_EVENTS] = {"events", TM_INT, "", "Number of events that were kept, over all ranks."},
    [J_COLLECTIVES] = {"collectives", TM_INT, "",
                       "Number of collectives that were found, complete or not."},
    [J_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "First aligned start over all ranks, since the epoch. If the times of some ranks "
                 "count from 0 and those of others since the epoch, only the latter are used."},
    [J_DURATION] = {"duration_ns", TM_INT, "ns",
                    "Duration of the job: last end of any rank minus begin_ns. Null if the times "
                    "of some ranks count from 0, and those of others since the epoch."},
    [J_RECORDINGS] = {"recordings", TM_INT, "",
                      "Number of separate recordings of a rank, with gaps between them: maximum "
                      "over ranks. Null if duration_ns is null."},
    [J_RECORDED] = {"recorded_ns", TM_INT, "ns",
                    "Time that a rank recorded, without the gaps between its recordings: maximum "
                    "over ranks. Null if duration_ns is null."},
    [J_KIND] =
        {"device_kind", TM_TEXT, "",
         "Kind of the devices, as in job.rank; the word \"device\" if ranks have different kinds."},
    [J_INTEGRITY] = {"integrity", TM_TEXT, "",
                     "Sentence on the rank whose results are most in doubt (the largest "
                     "job.integrity.moves_pct): what its recording lacks, or what is impossible in "
                     "it, and the consequence. Null if moves_pct is under 1 on every rank."},
};

static const tm_table_def job_def = {
    .name = "job.job",
    .doc = "One row: the job as a whole.",
    TM_ARRAY(columns, job_columns),
    .n_keys = 0,
    .top = J_EVENTS,
    .n_prose = 1,
};

static const tm_column span_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"begin_ns", TM_INT, tm_epoch_ns,
     "Aligned start of one of the rank's traces, since the epoch."},
    {"end_ns", TM_INT, "ns", "begin_ns plus the time that the trace covers."},
};

static const tm_table_def span_def = TM_INTERNAL_TABLE(
    "job.span", "A row for each trace of a rank: the time it covers, for recorded_ns of job.job.",
    span_columns, 2);

/* Rows of this table are added while files are read, because the reasons are known only then. */
static const tm_column left_out_columns[] = {
    {"source", TM_TEXT, "", "Path of the file as given."},
    {"reason", TM_TEXT, "",
     "Why the file is not part of the job. unreadable; overlapping: covers the time of another "
     "trace of its rank; exported: a report whose export was also given; outdated: an export that "
     "is older than its report; other: not a trace; store, page: written by tmerge; covered: other "
     "files that are read contain its recording; older, double: another dump of its rank is read "
     "(tmerge hang); helper: of a process that is not a rank; unranked: has no rank number, and "
     "other traces cover every rank of the job."},
    {"message", TM_TEXT, "", "Sentence on the problem."},
};

static const tm_table_def left_out_def = {
    .name = "job.left_out",
    .doc = "A row for each file that was given, or found in a folder, but is not part of the job.",
    TM_ARRAY(columns, left_out_columns),
    .n_keys = 1,
    .top = -1,
};

static const tm_table_def *const defs[] = {&job_def,
                                           &tm_integrity_table,
                                           &tm_differs_table,
                                           &rank_def,
                                           &tm_job_format_table,
                                           &tm_diagnostic_table,
                                           &left_out_def,
                                           &tm_differs_place,
                                           &tm_differs_kernel,
                                           &tm_differs_group,
                                           &span_def};

/* If the name is empty (unknown), leaves the cell null. */
static tm_status set_name(tm_table *table, tm_cell *cell, const tm_names *names, uint32_t id,
                          tm_error *err) {
    tm_text text = tm_names_text(names, id);
    return text.size ? tm_table_set_bytes(table, cell, text.bytes, text.size, err) : TM_OK;
}

/* Sets the paths of a rank's traces. A rank may have several traces, one after another in time, and
 * a trace may have several spans. */
static tm_status set_source(const tm_rank_view *view, tm_table *table, tm_cell *row,
                            tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_vec joined = TM_VEC(char);
    bool ok = true;
    for (size_t i = 0; i < timeline->n_spans && ok; i++) {
        if (i > 0 && timeline->spans[i].source == timeline->spans[i - 1].source)
            continue;
        tm_text path = tm_names_text(view->names, timeline->spans[i].source);
        ok = (i == 0 || tm_vec_append(&joined, ",", 1)) &&
             tm_vec_append(&joined, path.bytes, path.size);
    }
    tm_status status = ok ? tm_table_set_bytes(table, &row[SOURCE], joined.data, joined.n, err)
                          : tm_fail_memory(err);
    tm_vec_free(&joined);
    return status;
}

static tm_status add_spans(const tm_timeline *timeline, tm_table *table, tm_error *err) {
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        tm_cell *row = span->n_durations > 0 ? tm_table_add_row(table) : NULL;
        if (span->n_durations == 0)
            continue;
        if (!row)
            return tm_fail_memory(err);
        int64_t aligned = tm_rank_clock_true(&timeline->clock, span->begin_ns);
        tm_cell_set_int(&row[0], timeline->rank);
        tm_cell_set_int(&row[1], aligned);
        tm_cell_set_int(&row[2], aligned + (span->end_ns - span->begin_ns));
    }
    return TM_OK;
}

static void set_opening(const tm_timeline *timeline, tm_cell *cell) {
    int64_t ns = 0;
    for (size_t i = 0; i < timeline->n_spans; i++)
        ns += timeline->spans[i].open_ns - timeline->spans[i].begin_ns;
    if (ns > 0)
        tm_cell_set_int(cell, ns);
}

static tm_status set_device_kind(const tm_rank_view *view, tm_table *table, tm_cell *cell,
                                 tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_text kind = tm_trace_noted(tm_timeline_metadata(timeline), TM_DEVICE_KIND);
    if (kind.size > 0)
        return tm_table_set_bytes(table, cell, kind.bytes, kind.size, err);
    bool any = timeline->n_tracks > 0 && timeline->tracks[0].kind == TM_TRACK_GPU;
    return tm_table_set_text(table, cell, any ? "GPU" : NULL, err);
}

/* Returns the name of the error with which a call of CUPTI failed. If there are several errors,
 * returns the first that is not NOT_INITIALIZED, because NOT_INITIALIZED is only a consequence of
 * another error. */
static tm_text profiler_error(tm_text metadata) {
    static const char failed[] = "failed with error CUPTI_";
    tm_text found = {"", 0};
    for (const char *p = metadata.bytes; (p = strstr(p, failed));) {
        p += strlen(failed) - strlen("CUPTI_");
        tm_text name = {p, strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")};
        bool reported = strncmp(p, "CUPTI_ERROR_NOT_INITIALIZED", name.size) != 0;
        if (found.size == 0 || reported)
            found = name;
        if (reported)
            break;
    }
    return found;
}

/* Reads the whole metadata, because the profiler's log is a list, and lists are stored apart. */
static tm_status set_profiler_error(const tm_rank_view *view, tm_table *table, tm_cell *cell,
                                    tm_error *err) {
    tm_vec metadata = TM_VEC(char);
    tm_status status = TM_OK;
    if (view->timeline->device >= 0)
        return TM_OK;
    if (!tm_timeline_metadata_whole(view->timeline, view->names, &metadata))
        status = tm_fail_memory(err);
    if (status == TM_OK) {
        tm_text error = profiler_error((tm_text){metadata.data, metadata.n});
        if (error.size > 0)
            status = tm_table_set_bytes(table, cell, error.bytes, error.size, err);
    }
    tm_vec_free(&metadata);
    return status;
}

static tm_status set_what_lacks(const tm_rank_view *view, tm_table *table, tm_cell *row,
                                tm_error *err) {
    tm_text metadata = tm_timeline_metadata(view->timeline);
    tm_text categories = tm_trace_noted(metadata, TM_OTHER_CATEGORIES);
    if (categories.size > 0)
        TM_TRY(
            tm_table_set_bytes(table, &row[UNRECOGNISED], categories.bytes, categories.size, err));
    return set_profiler_error(view, table, &row[PROFILER_ERROR], err);
}

static tm_status job_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, rank_def.name);
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    int64_t begin, end;
    tm_cell_set_int(&row[RANK], timeline->rank);
    tm_cell_set_known(&row[DEVICE], timeline->device);
    tm_cell_set_int(&row[EVENTS], (int64_t)timeline->n_events);
    if (tm_timeline_range(timeline, &begin, &end)) {
        /* The end is the aligned begin plus the recorded duration. This ignores the clock's
         * drift. */
        int64_t aligned = tm_rank_clock_true(&timeline->clock, begin);
        tm_cell_set_int(&row[BEGIN], aligned);
        tm_cell_set_int(&row[END], aligned + (end - begin));
    }
    tm_cell_set_int(&row[SKIPPED], tm_timeline_count(timeline, TM_DIAGNOSTIC_SKIPPED));
    tm_cell_set_int(&row[REPAIRED], timeline->counts[TM_COUNT_REPAIRED_EVENT]);
    tm_cell_set_bool(&row[TRUNCATED], timeline->truncated);
    set_opening(timeline, &row[OPENING]);
    TM_TRY(add_spans(timeline, tm_tables_find(out, span_def.name), err));
    TM_TRY(set_name(table, &row[FORMAT], view->names, timeline->format, err));
    TM_TRY(set_name(table, &row[HOST], view->names, tm_timeline_host(timeline), err));
    if (tm_timeline_host(timeline) != TM_NO_NAME)
        tm_cell_set_bool(&row[HOST_INFERRED], timeline->host == TM_NO_NAME);
    TM_TRY(set_source(view, table, row, err));
    TM_TRY(tm_diagnostic_text(timeline, table, &row[DIAGNOSTICS], err));
    TM_TRY(set_device_kind(view, table, &row[DEVICE_KIND], err));
    TM_TRY(set_what_lacks(view, table, row, err));
    TM_TRY(tm_diagnostic_rows(view, out, err));
    TM_TRY(tm_integrity_rank(view, out, err));
    return tm_differs_rank(view, out, err);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the number of distinct values in a column; -1 if out of memory. */
static int64_t count_different(const tm_table *table, const char *column) {
    bool text = tm_column_of(table->def, column)->type == TM_TEXT;
    tm_vec values = text ? TM_VEC(const char *) : TM_VEC(int64_t);
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(table, i, column);
        const void *value = text ? (const void *)&cell->value.text : (const void *)&cell->value.i;
        if (!cell->null && !tm_vec_append(&values, value, 1)) {
            tm_vec_free(&values);
            return -1;
        }
    }
    tm_vec_sort(&values, text ? compare_texts : tm_compare_i64);
    int64_t n = values.n > 0;
    for (size_t i = 1; i < values.n; i++) {
        const char *here = (const char *)values.data + i * values.size;
        n += text ? compare_texts(here, here - values.size) != 0
                  : tm_compare_i64(here, here - values.size) != 0;
    }
    tm_vec_free(&values);
    return n;
}

/* Returns the number of distinct numbers of marked steps; -1 if out of memory. Both tables are
 * sorted by rank. */
static int64_t count_steps(const tm_tables *tables) {
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    const tm_table *places = tm_tables_find(tables, tm_differs_place.name);
    tm_vec numbers = TM_VEC(int64_t);
    int64_t n = 0;
    for (size_t i = 0, k = 0; i < steps->n_rows && n >= 0; i++) {
        int64_t rank = tm_table_cell(steps, i, "rank")->value.i;
        while (k < places->n_rows && tm_table_row(places, k)[0].value.i < rank)
            k++;
        bool marks = k < places->n_rows && tm_table_cell(places, k, "marks_steps")->value.i;
        if (marks && !tm_vec_append(&numbers, &tm_table_cell(steps, i, "step")->value.i, 1))
            n = -1;
    }
    tm_vec_sort(&numbers, tm_compare_i64);
    const int64_t *v = numbers.data;
    for (size_t i = 0; i < numbers.n && n >= 0; i++)
        n += i == 0 || v[i] != v[i - 1];
    tm_vec_free(&numbers);
    return n;
}

/* Returns the kind of device of all ranks, ignoring unknown kinds; "device" if kinds differ. */
static const char *device_kind(const tm_table *ranks) {
    const char *word = NULL;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *kind = &tm_table_row(ranks, i)[DEVICE_KIND];
        if (kind->null)
            continue;
        if (word && strcmp(word, kind->value.text) != 0)
            return "device";
        word = kind->value.text;
    }
    return word;
}

/* Sets the begin and duration of the job. Times that count from 0 cannot be compared with times
 * since the epoch. */
static void set_range(const tm_table *ranks, tm_cell *row) {
    /* begin[0]: earliest time that counts from 0; begin[1]: earliest time since the epoch */
    int64_t begin[2] = {INT64_MAX, INT64_MAX}, end = INT64_MIN;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *rank = tm_table_row(ranks, i);
        if (rank[BEGIN].null)
            continue;
        bool dated = rank[BEGIN].value.i >= TM_FIRST_DAY_NS;
        if (rank[BEGIN].value.i < begin[dated])
            begin[dated] = rank[BEGIN].value.i;
        end = rank[END].value.i > end ? rank[END].value.i : end;
    }
    int64_t first = begin[1] < INT64_MAX ? begin[1] : begin[0];
    if (first < INT64_MAX)
        tm_cell_set_int(&row[J_BEGIN], first);
    const bool mixed = begin[0] < INT64_MAX && end >= TM_FIRST_DAY_NS;
    if (first < INT64_MAX && !mixed)
        tm_cell_set_int(&row[J_DURATION], end - first);
}

/* Sets the maximum number of recordings and the longest recorded time of any rank. Takes no union
 * over ranks, because the hosts' clocks may differ. */
static tm_status set_recorded(const tm_table *spans, tm_cell *row, tm_error *err) {
    int64_t recordings = 0, recorded_ns = 0;
    for (size_t i = 0, first = 0; i < spans->n_rows; first = i) {
        const int64_t rank = tm_table_row(spans, first)[0].value.i;
        tm_intervals own = TM_INTERVALS();
        bool ok = true;
        for (; i < spans->n_rows && tm_table_row(spans, i)[0].value.i == rank && ok; i++) {
            const tm_cell *span = tm_table_row(spans, i);
            ok = tm_intervals_add(&own, span[1].value.i, span[2].value.i);
        }
        tm_intervals_normalise(&own);
        const int64_t n = (int64_t)own.n, ns = tm_intervals_length(&own);
        tm_vec_free(&own);
        if (!ok)
            return tm_fail_memory(err);
        recordings = n > recordings ? n : recordings;
        recorded_ns = ns > recorded_ns ? ns : recorded_ns;
    }
    if (!row[J_DURATION].null) {
        tm_cell_set_int(&row[J_RECORDINGS], recordings);
        tm_cell_set_int(&row[J_RECORDED], recorded_ns);
    }
    return TM_OK;
}

static tm_status job_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *ranks = tm_tables_find(out, rank_def.name);
    /* tables of `overlap` and `clock` are complete before any job part runs */
    TM_TRY(tm_differs_job(job, out, err));
    TM_TRY(tm_job_formats(out, err));
    TM_TRY(tm_integrity_job(out, err));
    tm_cell *row = tm_table_add_row(tm_tables_find(out, job_def.name));
    int64_t n_hosts = count_different(ranks, "host");
    int64_t n_steps = count_steps(out);
    if (!row || n_hosts < 0 || n_steps < 0)
        return tm_fail_memory(err);
    int64_t events = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        events += tm_table_row(ranks, i)[EVENTS].value.i;
    tm_cell_set_int(&row[J_RANKS], (int64_t)job->n_ranks);
    if (n_hosts > 0)
        tm_cell_set_int(&row[J_HOSTS], n_hosts);
    tm_cell_set_int(&row[J_STEPS], n_steps);
    tm_cell_set_int(&row[J_EVENTS], events);
    const tm_table *matched = tm_tables_find(out, "clock.part");
    int64_t collectives = 0;
    for (size_t i = 0; i < matched->n_rows; i++)
        collectives += tm_table_cell(matched, i, "collectives")->value.i;
    /* If collectives were not matched, the cell stays null, because 0 would mean that there are
     * none. */
    if (matched->n_rows > 0)
        tm_cell_set_int(&row[J_COLLECTIVES], collectives);
    set_range(ranks, row);
    TM_TRY(set_recorded(tm_tables_find(out, span_def.name), row, err));
    char line[TM_DOUBT_TEXT];
    if (tm_doubt_line(out, line))
        TM_TRY(tm_table_set_text(tm_tables_find(out, job_def.name), &row[J_INTEGRITY], line, err));
    return tm_table_set_text(tm_tables_find(out, job_def.name), &row[J_KIND], device_kind(ranks),
                             err);
}

const tm_analysis tm_analysis_job = {
    .name = "job",
    .summary = "the ranks of the job, their hosts, and what was read from their traces",
    TM_ARRAY(tables, defs),
    .rank = job_rank,
    .job = job_job,
};
