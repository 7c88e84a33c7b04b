/* Analysis `pipeline`: how hosts feed their devices, by the stages of tf.data and by enqueueing. */
#include <stdlib.h>

#include "analysis/shared/calls.h"
#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "analysis/shared/xla.h"
#include "base/intervals.h"
#include "base/median.h"
#include "base/sums.h"

/* Kinds of stages, as XProf defines them. */
typedef enum stage_kind { NO_STAGE, PREPROCESSING, READING, ADVANCED, ENQUEUE, N_KINDS } stage_kind;

static const char *const kind_words[N_KINDS] = {
    [PREPROCESSING] = "preprocessing",
    [READING] = "reading",
    [ADVANCED] = "advanced_reading",
    [ENQUEUE] = "enqueue",
};

enum { HOST, STAGE, KIND, CALLS, TOTAL, SELF, MEAN_SELF, SHARE, WAIT, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [HOST] = {"host", TM_TEXT, "", "Name of the host, from the profile."},
    [STAGE] = {"stage", TM_TEXT, "",
               "Stage of the input pipeline. tf.data: the name of an iterator, after the names of "
               "the iterators that it feeds, outermost first. Other libraries (Grain): Input::, "
               "kind and name. Calls that transfer data to devices are stages, too."},
    [KIND] = {"kind", TM_TEXT, "",
              "Kind of the stage. reading: an iterator that reads files (its name ends in "
              "TFRecord, TextLine, ...) on demand. advanced_reading: such an iterator that reads "
              "ahead (with Prefetch, ParallelMap, Interleave, MemoryReader or MemoryWriter in its "
              "name). preprocessing: any other iterator. enqueue: InfeedEnqueue and copies to "
              "devices. Libraries other than tf.data record the kind."},
    [CALLS] = {"calls", TM_INT, "", "Number of runs of the stage."},
    [TOTAL] = {"total_ns", TM_INT, "ns",
               "Duration of the runs, summed over threads, which may overlap."},
    [SELF] = {"self_ns", TM_INT, "ns",
              "total_ns without stages nested on the same thread. Includes waits for stages on "
              "other threads (wait_ns)."},
    [MEAN_SELF] = {"mean_self_ns", TM_INT, "ns", "Mean self time of a run: self_ns / calls."},
    [SHARE] = {"share_pct", TM_REAL, "%",
               "Share of the stage in the host's stages: 100 self_ns / the sum of self_ns over all "
               "stages of the host."},
    [WAIT] = {"wait_ns", TM_INT, "ns",
              "Part of self_ns in which the stage waited for an iterator that feeds it and that "
              "ran on another thread."},
};

static const tm_table_def stage_def = {
    .name = "pipeline.stage",
    .doc = "A row for each host and stage of its input pipeline, in the whole recording.",
    TM_ARRAY(columns, columns),
    .n_keys = 2,
    .top = SELF,
};

enum { H_HOST, H_KINDS, H_TOTAL = H_KINDS + N_KINDS - 1, H_STAGE, H_STAGE_PCT, N_HOST_COLUMNS };

static const tm_column host_columns[N_HOST_COLUMNS] = {
    {"host", TM_TEXT, "", "Name of the host, from the profile."},
    {"preprocessing_ns", TM_INT, "ns",
     "Time in preprocessing stages: sum of pipeline.stage.self_ns. XProf instead scales "
     "preprocessing and reading to the time in which devices are fed."},
    {"reading_ns", TM_INT, "ns",
     "Time in stages that read on demand: sum of pipeline.stage.self_ns."},
    {"advanced_reading_ns", TM_INT, "ns",
     "Time in stages that read ahead: sum of pipeline.stage.self_ns."},
    {"enqueue_ns", TM_INT, "ns",
     "Time in stages that transfer data to devices: sum of pipeline.stage.self_ns."},
    {"self_ns", TM_INT, "ns",
     "Time in all stages: preprocessing_ns + reading_ns + advanced_reading_ns + enqueue_ns."},
    {"slowest_stage", TM_TEXT, "",
     "Stage with the most time apart from waits (self_ns - wait_ns); the first if there are "
     "several."},
    {"slowest_pct", TM_REAL, "%",
     "Share of slowest_stage in the time of all stages, both without waits: 100 (self_ns - "
     "wait_ns) / the sum of self_ns - wait_ns over all stages. Null if the sum is 0."},
};

static const tm_table_def host_def = {
    .name = "pipeline.host",
    .doc = "A row for each host with stages in pipeline.stage: the time of its input pipeline by "
           "kind of stage.",
    TM_ARRAY(columns, host_columns),
    .n_keys = 1,
    .top = H_TOTAL,
};

enum { P_HOST, P_STAGE, P_RANK, P_KIND, P_CALLS, P_TOTAL, P_SELF, P_WAIT, N_PART_COLUMNS };

static const tm_column part_columns[N_PART_COLUMNS] = {
    {"host", TM_INT, "", "Id of the host's name."},
    {"stage", TM_INT, "", "Id of the stage's name."},
    {"rank", TM_INT, "", "Global rank."},
    {"kind", TM_INT, "", "Kind of the stage (stage_kind)."},
    {"calls", TM_INT, "", "Number of runs."},
    {"total_ns", TM_INT, "ns", "Sum of the durations of the runs."},
    {"self_ns", TM_INT, "ns", "Sum of the runs' self times."},
    {"wait_ns", TM_INT, "ns", "Sum of the runs' waits for other threads."},
};

static const tm_table_def part_def = TM_PART_TABLE(
    "pipeline.part", "A row for each rank and stage of its host.", part_columns, P_RANK);

static const tm_table_def *const defs[] = {&host_def, &stage_def, &part_def};

static bool holds_any(const char *text, const char *const *parts) {
    while (*parts && !strstr(text, *parts))
        parts++;
    return *parts != NULL;
}

static bool ends_in_reader(tm_text name) {
    static const char *const readers[] = {"::TFRecord", "::TextLine", "::FixedLengthRecord",
                                          "::SSTable",  "::RecordIO", "::ArrayRecord"};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        size_t size = strlen(readers[i]);
        if (name.size >= size && strcmp(name.bytes + name.size - size, readers[i]) == 0)
            return true;
    }
    return false;
}

static stage_kind kind_of(tm_text name) {
    static const char *const ahead[] = {"::MemoryReader", "::MemoryWriter", "::Interleave",
                                        "::Prefetch",     "::ParallelMap",  NULL};
    if (strncmp(name.bytes, "Input::Enqueue::", 16) == 0)
        return ENQUEUE;
    if (strncmp(name.bytes, "Input::Read::", 13) == 0)
        return READING;
    if (strncmp(name.bytes, "Input::Preprocessing::", 22) == 0)
        return PREPROCESSING;
    if (strncmp(name.bytes, "Iterator::", 10) == 0)
        return !ends_in_reader(name)          ? PREPROCESSING
               : holds_any(name.bytes, ahead) ? ADVANCED
                                              : READING;
    bool enqueue = strncmp(name.bytes, "InfeedEnqueue", 13) == 0 ||
                   strncmp(name.bytes, "MemcpyH2D", 9) == 0 ||
                   strncmp(name.bytes, "MemcpyHtoD", 10) == 0;
    return enqueue ? ENQUEUE : NO_STAGE;
}

/* Kinds of stages by name id. An element of `kinds` is 1 + the kind; 0: not yet known. */
typedef struct stages {
    const tm_names *names;
    uint8_t *kinds;
} stages;

static bool is_stage(void *context, const tm_timeline *timeline, uint32_t row) {
    stages *s = context;
    uint32_t name = timeline->name[row];
    if (s->kinds[name] == 0)
        s->kinds[name] = (uint8_t)(1 + kind_of(tm_names_text(s->names, name)));
    return s->kinds[name] > 1 + NO_STAGE;
}

typedef struct sums {
    int64_t calls, total_ns, self_ns, wait_ns;
} sums;

typedef struct stage_key {
    uint32_t host, name, kind;
} stage_key;

static sums *sums_of(const tm_timeline *timeline, const stages *s, uint32_t name,
                     tm_rank_sums *all) {
    return tm_rank_sums_at(all,
                           &(stage_key){tm_timeline_host(timeline), name, s->kinds[name] - 1u});
}

static bool add_calls(const tm_timeline *timeline, const stages *s, const tm_calls *calls,
                      tm_rank_sums *all) {
    for (size_t i = 0; i < calls->n; i++) {
        const tm_call *call = &calls->calls[i];
        sums *sum = sums_of(timeline, s, timeline->name[call->row], all);
        if (!sum)
            return false;
        sum->calls++;
        sum->total_ns = tm_sum(sum->total_ns, timeline->duration_ns[call->row]);
        sum->self_ns = tm_sum(sum->self_ns, call->self_ns);
    }
    return true;
}

/* Returns whether a stage feeds another stage, directly or indirectly. For example,
 * Iterator::Prefetch::Range feeds Iterator::Prefetch. */
static bool feeds(tm_text inner, tm_text outer) {
    return inner.size > outer.size + 2 && memcmp(inner.bytes, outer.bytes, outer.size) == 0 &&
           memcmp(inner.bytes + outer.size, "::", 2) == 0;
}

/* Adds the waits of a stage's calls. A call's wait is the time in which stages that feed it run,
 * minus the time of the calls that are nested in it. */
static bool add_waits_of(const tm_timeline *timeline, const stages *s, const tm_calls *calls,
                         uint32_t name, tm_rank_sums *all) {
    tm_intervals runs = TM_INTERVALS();
    tm_text outer = tm_names_text(s->names, name);
    bool ok = true;
    for (size_t i = 0; i < calls->n && ok; i++) {
        uint32_t row = calls->calls[i].row;
        if (feeds(tm_names_text(s->names, timeline->name[row]), outer))
            ok = tm_intervals_add(&runs, timeline->begin_ns[row],
                                  timeline->begin_ns[row] + timeline->duration_ns[row]);
    }
    tm_intervals_normalise(&runs);
    sums *sum = ok && runs.n > 0 ? sums_of(timeline, s, name, all) : NULL;
    ok = ok && (runs.n == 0 || sum);
    for (size_t i = 0; sum && i < calls->n; i++) {
        const tm_call *call = &calls->calls[i];
        int64_t begin = timeline->begin_ns[call->row], duration = timeline->duration_ns[call->row];
        if (timeline->name[call->row] != name)
            continue;
        int64_t alone = duration - tm_intervals_length_in(&runs, begin, begin + duration);
        sum->wait_ns = tm_sum(sum->wait_ns, alone < call->self_ns ? call->self_ns - alone : 0);
    }
    tm_vec_free(&runs);
    return ok;
}

static bool add_waits(const tm_timeline *timeline, const stages *s, size_t n_names,
                      const tm_calls *calls, tm_rank_sums *all) {
    bool ok = true;
    for (uint32_t name = 0; name < n_names && ok; name++)
        if (s->kinds[name] > 1 + NO_STAGE)
            ok = add_waits_of(timeline, s, calls, name, all);
    return ok;
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const stage_key *key = of;
    const sums *sum = value;
    cells[P_HOST] = key->host;
    cells[P_STAGE] = key->name;
    cells[P_KIND] = key->kind;
    cells[P_CALLS] = sum->calls;
    cells[P_TOTAL] = sum->total_ns;
    cells[P_SELF] = sum->self_ns;
    cells[P_WAIT] = sum->wait_ns;
}

static tm_status pipeline_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    if (!tm_xla_is(view))
        return TM_OK;
    stages s = {view->names, calloc(view->n_names, 1)};
    tm_calls calls = {0};
    const tm_call_class class = {TM_CALL_IN(TM_CAT_CPU_OP) | TM_CALL_IN(TM_CAT_USER_ANNOTATION) |
                                     TM_CALL_IN(TM_CAT_RUNTIME),
                                 is_stage, &s};
    tm_status status =
        s.kinds ? tm_calls_find(view->timeline, class, &calls, err) : tm_fail_memory(err);
    if (status == TM_OK) {
        tm_rank_sums all = TM_RANK_SUMS(stage_key, sums);
        bool ok = add_calls(view->timeline, &s, &calls, &all) &&
                  add_waits(view->timeline, &s, view->n_names, &calls, &all);
        status = tm_rank_sums_put(&all, ok, view->timeline->rank, set_cells,
                                  tm_tables_find(out, part_def.name), err);
    }
    tm_calls_free(&calls);
    free(s.kinds);
    return status;
}

static tm_status set_stage(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                           tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    int64_t calls = tm_over_ranks_sum(rows, P_CALLS), self = tm_over_ranks_sum(rows, P_SELF);
    tm_cell_set_int(&row[CALLS], calls);
    tm_cell_set_int(&row[TOTAL], tm_over_ranks_sum(rows, P_TOTAL));
    tm_cell_set_int(&row[SELF], self);
    tm_cell_set_int(&row[MEAN_SELF], tm_round_ratio(self, calls));
    tm_cell_set_int(&row[WAIT], tm_over_ranks_sum(rows, P_WAIT));
    TM_TRY(tm_set_named(names, key[P_HOST].value.i, shown, &row[HOST], err));
    TM_TRY(tm_set_named(names, key[P_STAGE].value.i, shown, &row[STAGE], err));
    return tm_table_set_text(shown, &row[KIND], kind_words[key[P_KIND].value.i], err);
}

static tm_status pipeline_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&part_def, &stage_def, names, tables, set_stage, err);
}

static bool same_host(const tm_cell *a, const tm_cell *b) {
    return a->null == b->null && (a->null || strcmp(a->value.text, b->value.text) == 0);
}

static int64_t own_ns(const tm_table *stages_of, size_t row) {
    const tm_cell *stage = tm_table_row(stages_of, row);
    return stage[SELF].value.i - stage[WAIT].value.i;
}

/* Adds the row of a host, whose stages are rows [first, end). */
static tm_status add_host(const tm_table *stages_of, size_t first, size_t end, tm_table *hosts,
                          tm_error *err) {
    int64_t of_kind[N_KINDS] = {0}, total = 0, own = 0;
    size_t slowest = first;
    for (size_t i = first; i < end; i++) {
        const tm_cell *stage = tm_table_row(stages_of, i);
        int kind = PREPROCESSING;
        while (strcmp(kind_words[kind], stage[KIND].value.text) != 0)
            kind++;
        of_kind[kind] = tm_sum(of_kind[kind], stage[SELF].value.i);
        total = tm_sum(total, stage[SELF].value.i);
        own = tm_sum(own, own_ns(stages_of, i));
        if (own_ns(stages_of, i) > own_ns(stages_of, slowest))
            slowest = i;
    }
    for (size_t i = first; i < end; i++) {
        tm_cell *stage = tm_table_row(stages_of, i);
        tm_cell_set_ratio(&stage[SHARE], 100, stage[SELF].value.i, total);
    }
    const tm_cell *stage = tm_table_row(stages_of, slowest);
    tm_cell *row = tm_table_add_row(hosts);
    if (!row)
        return tm_fail_memory(err);
    for (int kind = PREPROCESSING; kind < N_KINDS; kind++)
        tm_cell_set_int(&row[H_KINDS + kind - PREPROCESSING], of_kind[kind]);
    tm_cell_set_int(&row[H_TOTAL], total);
    tm_cell_set_ratio(&row[H_STAGE_PCT], 100, own_ns(stages_of, slowest), own);
    TM_TRY(tm_table_set_text(hosts, &row[H_HOST], stage[HOST].null ? NULL : stage[HOST].value.text,
                             err));
    return tm_table_set_text(hosts, &row[H_STAGE], stage[STAGE].value.text, err);
}

static tm_status pipeline_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const tm_table *rows = tm_tables_find(out, stage_def.name);
    tm_table *hosts = tm_tables_find(out, host_def.name);
    (void)job;
    for (size_t first = 0, end; first < rows->n_rows; first = end) {
        for (end = first + 1;
             end < rows->n_rows && same_host(tm_table_row(rows, end), tm_table_row(rows, first));)
            end++;
        TM_TRY(add_host(rows, first, end, hosts, err));
    }
    return TM_OK;
}

const tm_analysis tm_analysis_pipeline = {
    .name = "pipeline",
    .summary = "the input pipeline of each host: reading, preprocessing and feeding devices, by "
               "stage of tf.data",
    TM_ARRAY(tables, defs),
    .rank = pipeline_rank,
    .merge = pipeline_merge,
    .job = pipeline_job,
};
