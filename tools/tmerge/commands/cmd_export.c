/* tmerge export: writes the events of a store in other programs' formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments/command.h"
#include "arguments/options.h"
#include "base/letters.h"
#include "base/temp_file.h"
#include "output/console.h"
#include "output/output_file.h"
#include "show/show_options.h"
#include "sql/sql.h"
#include "table/levels.h"
#include "table/shown.h"
#include "tmerge/analysis.h"
#include "tmerge/export.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

static const tm_option options[] = {
    {"format", 0, "FORMAT",
     "perfetto (usual): Perfetto's own format, for any size; tmerge reads it too. chrome: "
     "Chrome's JSON, for small windows; tmerge and Chrome read it, but Perfetto 56 leaves out "
     "events that overlap on a stream, and rounds times to 256 ns. csv: one line per event, "
     "times since the epoch. "
     "sqlite: a database with all tables and events. archive: the original traces and tmerge's "
     "clock offsets, which Perfetto 58 applies and older versions ignore. folded: the call stacks "
     "of all ranks, one line per stack, for flame graph tools. speedscope: the same stacks as JSON "
     "for speedscope.app, which refuses PyTorch's own traces. Without --format, the ending of FILE "
     "decides, such as .csv"},
    {"time", 0, "WHICH",
     "time of call stacks: host (time on the host, the default) or device (time of the GPU work "
     "that they launched)"},
    {"output", 'o', "FILE",
     "the file to write, or - for standard output (STORE with .perfetto-trace, .json, .csv, "
     ".sqlite, .tar or .speedscope.json in place of .h5; standard output for folded)"},
    TM_OPTION_RANK,
    {"from", 0, "T",
     "only events that end after T, in seconds from the job's start; an event that started earlier "
     "is written whole"},
    {"to", 0, "T", "only events that start before T; an event that ends later is written whole"},
    {"force", 0, NULL, "overwrite the output even if it is not an earlier export"},
};

typedef struct selection {
    const tm_export_format *format;
    const char *store, *output;
    char *named; /* output that is named after the store; owned */
    bool to_stdout, of_devices;
    tm_list ranks;
    int64_t from_ns, to_ns; /* relative to the job's start */
    bool has_from, has_to;
} selection;

/* Data read from the store; all owned. */
typedef struct job {
    tm_store *store;
    tm_tables tables; /* job.job and job.rank */
    tm_names *names;
    tm_timeline *ranks;
    size_t n_ranks;
    const char **hosts;
    bool *wanted, *only; /* [n_ranks] wanted: ranks to export; only: the rank that is being read */
    int64_t begin_ns, world_size;
} job;

static bool is_export(const void *context, const char *path) {
    return tm_export_is_one(context, path);
}

/* Parses seconds with at most nine decimals, without rounding. */
static tm_status parse_seconds(const char *text, const char *option, int64_t *ns, bool *given,
                               tm_error *err) {
    enum { WHOLE_MAX = 9, DECIMALS = 9 };
    *given = text != NULL;
    if (!text)
        return TM_OK;
    const char *p = text + (*text == '-');
    int64_t value = 0;
    int whole = 0, decimals = 0;
    for (; *p >= '0' && *p <= '9' && whole < WHOLE_MAX; p++, whole++)
        value = value * 10 + (*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9' && decimals < DECIMALS; p++, decimals++)
            value = value * 10 + (*p - '0');
    if (*p != '\0' || whole == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--%s takes seconds from the job's start, such as 1.5, not '%s'", option,
                       text);
    for (; decimals < DECIMALS; decimals++)
        value *= 10;
    *ns = *text == '-' ? -value : value;
    return TM_OK;
}

/* Returns the format whose files end like @p output; if several do, the format with the longest
 * ending. Returns Perfetto's format if there is none. */
static const tm_export_format *usual_format(const char *output) {
    size_t n;
    const tm_export_format *const *formats = tm_export_formats(&n), *found = NULL;
    for (size_t i = 0; i < n && output; i++)
        if (formats[i]->ending && tm_ends_with(output, strlen(output), formats[i]->ending) &&
            (!found || strlen(formats[i]->ending) > strlen(found->ending)))
            found = formats[i];
    return found ? found : tm_export_format_find("perfetto");
}

static tm_status parse_format(const char *name, const char *output, const tm_export_format **out,
                              tm_error *err) {
    *out = name ? tm_export_format_find(name) : usual_format(output);
    if (*out)
        return TM_OK;
    char known[128] = "";
    size_t n;
    const tm_export_format *const *formats = tm_export_formats(&n);
    for (size_t i = 0; i < n; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                 i == 0      ? ""
                 : i + 1 < n ? ", "
                             : " or ",
                 formats[i]->name);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--format takes %s, not '%s'", known, name);
}

/* Parses --time. Only the formats folded and speedscope have this option. They always write all
 * ranks and the whole recording, so this fails if a part is requested. */
static tm_status parse_time(const tm_arguments *arguments, selection *s, tm_error *err) {
    const char *time = tm_argument(arguments, "time");
    bool part = tm_argument(arguments, "rank") || s->has_from || s->has_to;
    s->of_devices = time && strcmp(time, "device") == 0;
    if (time && !s->of_devices && strcmp(time, "host") != 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--time takes host or device, not '%s'", time);
    if (time && !s->format->of_stacks)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--time is only for folded and speedscope");
    return part && s->format->of_stacks ? tm_fail(err, TM_ERR_USAGE, NULL, -1,
                                                  "--format %s writes the stacks of all ranks and "
                                                  "times: leave out --rank, --from and --to",
                                                  s->format->name)
                                        : TM_OK;
}

static tm_status name_output(const char *given, selection *s, tm_error *err) {
    s->output = given ? given : "-";
    if (given || !s->format->ending)
        return TM_OK;
    s->output = s->named = tm_output_beside(s->store, s->format->ending);
    return s->named ? TM_OK : tm_fail_memory(err);
}

static tm_status parse_selection(const tm_arguments *arguments, selection *s, tm_error *err) {
    const char *output = tm_argument(arguments, "output");
    TM_TRY(parse_format(tm_argument(arguments, "format"), output, &s->format, err));
    s->store = arguments->operands[0];
    TM_TRY(name_output(output, s, err));
    s->to_stdout = strcmp(s->output, "-") == 0;
    TM_TRY(tm_list_parse(tm_argument(arguments, "rank"), "rank", &s->ranks, err));
    TM_TRY(parse_seconds(tm_argument(arguments, "from"), "from", &s->from_ns, &s->has_from, err));
    TM_TRY(parse_seconds(tm_argument(arguments, "to"), "to", &s->to_ns, &s->has_to, err));
    if (s->has_from && s->has_to && s->from_ns >= s->to_ns)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--from must be before --to");
    TM_TRY(parse_time(arguments, s, err));
    if (s->format->needs_file && (s->to_stdout || s->has_from || s->has_to))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--format %s writes whole traces to a file: leave out --from, --to and -o -",
                       s->format->name);
    if (s->format->is_database && s->to_stdout)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--format %s writes a file, not standard output: leave out -o -",
                       s->format->name);
    return TM_OK;
}

/* Checks the output. The store itself is not overwritten, even with --force. */
static tm_status check_output(const tm_arguments *arguments, const selection *s, tm_error *err) {
    struct stat output = {0}, store = {0};
    const tm_output_kind kind = {s->format->begins_size > 0 ? "an earlier export of this format"
                                                            : "recognised as an earlier export",
                                 is_export, s->format};
    if (s->to_stdout)
        return TM_OK;
    if (stat(s->output, &output) == 0 && stat(s->store, &store) == 0 &&
        output.st_dev == store.st_dev && output.st_ino == store.st_ino)
        return tm_fail(err, TM_ERR_OUTPUT, s->output, -1, "this file is the store");
    return tm_output_check(s->output, &kind, tm_argument(arguments, "force") != NULL, err);
}

/* Reads job.job and job.rank. If no event has a duration, the job has no start; times then count
 * from the epoch. */
static tm_status read_tables(job *j, tm_error *err) {
    TM_TRY(tm_analysis_tables(&j->tables, err));
    tm_table *jobs = tm_tables_find(&j->tables, "job.job");
    TM_TRY(tm_store_read_table(j->store, jobs, err));
    if (jobs->n_rows > 0 && !tm_table_cell(jobs, 0, "begin_ns")->null)
        j->begin_ns = tm_table_cell(jobs, 0, "begin_ns")->value.i;
    TM_TRY(tm_store_read_number(j->store, "world_size", -1, &j->world_size, err));
    return tm_store_read_table(j->store, tm_tables_find(&j->tables, "job.rank"), err);
}

/* Returns a rank's host. If its name is unknown, the table has a number in its place. */
static const char *host_of(const job *j, int64_t rank) {
    const tm_table *table = tm_tables_find(&j->tables, "job.rank");
    size_t row = tm_table_find_row(table, &rank, 1);
    const tm_cell *host = row < table->n_rows ? tm_table_cell(table, row, "host") : NULL;
    return host && !host->null ? host->value.text : "";
}

static tm_status read_job(const selection *s, job *j, tm_error *err) {
    const tm_show_options shown = {.ranks = s->ranks};
    TM_TRY(tm_store_open(s->store, &j->store, err));
    TM_TRY(read_tables(j, err));
    if (s->format->of_stacks) {
        tm_table *tree = tm_tables_find(&j->tables, "calls.tree");
        TM_TRY(tm_store_read_table(j->store, tree, err));
        tm_table_keep_level(tree, "function");
        return TM_OK;
    }
    if (!s->format->is_database)
        TM_TRY(tm_store_read_names(j->store, &j->names, err));
    TM_TRY(tm_store_read_ranks(j->store, &j->ranks, &j->n_ranks, err));
    j->hosts = calloc(j->n_ranks, sizeof *j->hosts);
    j->wanted = calloc(j->n_ranks, sizeof *j->wanted);
    j->only = calloc(j->n_ranks, sizeof *j->only);
    if (!j->hosts || !j->wanted || !j->only)
        return tm_fail_memory(err);
    for (size_t i = 0; i < j->n_ranks; i++) {
        j->hosts[i] = host_of(j, j->ranks[i].rank);
        j->wanted[i] = tm_list_has(&s->ranks, j->ranks[i].rank);
    }
    return tm_show_options_check(&shown, j->store, err);
}

static void warn_of_window(const job *j) {
    char time[32];
    const tm_table *jobs = tm_tables_find(&j->tables, "job.job");
    const tm_cell *duration = jobs->n_rows > 0 ? tm_table_cell(jobs, 0, "duration_ns") : NULL;
    if (!duration || duration->null) {
        tm_console_warn("there is no event between --from and --to");
        return;
    }
    tm_shown_duration(duration->value.i, time, sizeof time);
    tm_console_warn("there is no event between --from and --to: the job lasts from 0 to %s", time);
}

/* Fails if the window is outside of the job. */
static tm_status check_window(const selection *s, const job *j, tm_error *err) {
    const tm_table *jobs = tm_tables_find(&j->tables, "job.job");
    const tm_cell *duration = jobs->n_rows > 0 ? tm_table_cell(jobs, 0, "duration_ns") : NULL;
    char time[32];
    if (!duration || duration->null)
        return TM_OK;
    bool after = s->has_from && s->from_ns >= duration->value.i;
    if (!after && !(s->has_to && s->to_ns <= 0))
        return TM_OK;
    tm_shown_duration(duration->value.i, time, sizeof time);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s: the job lasts from 0 to %s",
                   after ? "from" : "to", time);
}

static void free_job(job *j) {
    free(j->hosts);
    free(j->wanted);
    free(j->only);
    free(j->ranks);
    tm_names_destroy(j->names);
    tm_tables_destroy(&j->tables);
    if (j->store)
        tm_store_close(j->store);
}

/* number of a rank's events in memory at a time */
enum { PIECE_EVENTS = 1 << 15 };

typedef struct exporter {
    job *job;
    tm_export *x;
    tm_store_pieces *pieces; /* NULL: the format does not need events */
    size_t at;               /* index of the current rank */
} exporter;

static tm_status read_piece(void *context, size_t first, unsigned what, const tm_timeline **out,
                            tm_error *err) {
    const exporter *e = context;
    return tm_store_read_piece(e->pieces, e->at, first, what, out, err);
}

static tm_status export_rank(void *context, tm_timeline *timeline, size_t at, tm_error *err) {
    exporter *e = context;
    job *j = e->job;
    const tm_event_rows rows = {read_piece, e};
    e->at = at;
    j->only[at] = true;
    tm_status status =
        tm_store_read_older_metadata(j->store, j->names, j->ranks, j->only, j->n_ranks, err);
    j->only[at] = false;
    if (status == TM_OK)
        status = tm_export_rank(e->x, timeline, e->pieces ? &rows : NULL, err);
    return status;
}

/* Returns the records that the format needs. Attribute tables are in the order of tm_attr. */
static unsigned records_of(const tm_export_format *format) {
    unsigned records = 0;
    for (int a = 0; a < TM_N_ATTRS; a++)
        if (format->attrs >> a & 1)
            records |= 1u << (TM_RECORD_LAUNCHES + a);
    if (format->metadata)
        records |= 1u << TM_RECORD_METADATA | 1u << TM_RECORD_METADATA_LISTS;
    return records;
}

static tm_status export_ranks(job *j, const tm_export_format *format, tm_export *x, tm_error *err) {
    exporter e = {.job = j, .x = x};
    const tm_store_visit_plan plan = {.store = j->store,
                                      .names = j->names,
                                      .ranks = j->ranks,
                                      .n = j->n_ranks,
                                      .wanted = j->wanted,
                                      .records = records_of(format),
                                      .spans_alone = format->spans_alone,
                                      .no_events = true,
                                      .visitor = export_rank,
                                      .context = &e};
    if (!format->spans_alone && !format->of_stacks)
        TM_TRY(tm_store_open_pieces(&plan, PIECE_EVENTS, &e.pieces, err));
    tm_status status = tm_store_visit(&plan, err);
    tm_store_close_pieces(e.pieces);
    return status;
}

static tm_status export_all(const selection *s, job *j, int fd, int64_t *n_events, tm_error *err) {
    const tm_export_job all = {
        .names = j->names,
        .ranks = j->ranks,
        .hosts = j->hosts,
        .n_ranks = j->n_ranks,
        .wanted = j->wanted,
        .world_size = j->world_size,
        .begin_ns = j->begin_ns,
        .from_ns = s->has_from ? j->begin_ns + s->from_ns : INT64_MIN,
        .to_ns = s->has_to ? j->begin_ns + s->to_ns : INT64_MAX,
        .tool_version = TMERGE_VERSION,
        .stacks = tm_tables_find(&j->tables, "calls.tree"),
        .of_devices = s->of_devices,
    };
    tm_export *x;
    const char *path = s->to_stdout ? "standard output" : s->output;
    TM_TRY(tm_export_create(s->format, &all, fd, path, &x, err));
    tm_status status = export_ranks(j, s->format, x, err);
    if (status == TM_OK)
        status = tm_export_end(x, err);
    *n_events = tm_export_events(x);
    if (status == TM_OK && *n_events == 0 && (s->has_from || s->has_to))
        warn_of_window(j);
    tm_export_destroy(x);
    return status;
}

static tm_status fail_output(const selection *s, int code, tm_error *err) {
    return tm_fail(err, TM_ERR_OUTPUT, s->output, -1, "cannot be written: %s", strerror(code));
}

static tm_status export_database(const selection *s, const job *j, int fd, int64_t *n_events,
                                 tm_error *err) {
    const tm_sql_export what = {
        .ranks = j->wanted,
        .from_ns = s->has_from ? j->begin_ns + s->from_ns : INT64_MIN,
        .to_ns = s->has_to ? j->begin_ns + s->to_ns : INT64_MAX,
        .path = s->output,
        .fd = fd,
    };
    TM_TRY(tm_sql_write(j->store, &what, n_events, err));
    if (*n_events == 0 && (s->has_from || s->has_to))
        warn_of_window(j);
    return TM_OK;
}

/* Exports to a temporary file, which gets its final name when it is complete. */
static tm_status export_file(const selection *s, job *j, tm_error *err) {
    tm_temp_file temp;
    int64_t n_events = 0;
    tm_status status = tm_temp_file_create(&temp, s->output) ? TM_OK : tm_fail_memory(err);
    int code = 0;
    tm_output_watch(s->output);
    if (status == TM_OK && (code = tm_temp_file_open(&temp)) != 0)
        status = fail_output(s, code, err);
    if (status == TM_OK)
        status = s->format->is_database ? export_database(s, j, temp.fd, &n_events, err)
                                        : export_all(s, j, temp.fd, &n_events, err);
    if (status == TM_OK && (code = tm_temp_file_publish(&temp)) != 0)
        status = fail_output(s, code, err);
    tm_temp_file_discard(&temp);
    if (status == TM_OK)
        printf("%s: %lld %s\n", s->output, (long long)n_events,
               s->format->of_stacks ? "stacks" : "events");
    return status;
}

static tm_status export_selection(const selection *s, tm_error *err) {
    job j = {0};
    int64_t n_events;
    tm_status status = read_job(s, &j, err);
    if (status == TM_OK)
        status = check_window(s, &j, err);
    if (status == TM_OK)
        status = s->to_stdout ? export_all(s, &j, STDOUT_FILENO, &n_events, err)
                              : export_file(s, &j, err);
    free_job(&j);
    return status;
}

static tm_status export_run(const tm_arguments *arguments, tm_error *err) {
    selection s = {0};
    if (arguments->n_operands != 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge export needs one store; see --help");
    tm_status status = parse_selection(arguments, &s, err);
    if (status == TM_OK)
        status = check_output(arguments, &s, err);
    if (status == TM_OK && tm_console_speaks()) /* only one process writes the file */
        status = export_selection(&s, err);
    free(s.named);
    return status;
}

const tm_command tm_command_export = {
    .name = "export",
    .usage = "STORE [--format FORMAT] [--rank LIST] [--from T] [--to T] [--time WHICH] [-o FILE]",
    .summary = "Writes the merged events for Perfetto, as Chrome's JSON or as CSV",
    TM_ARRAY(options, options),
    .run = export_run,
};
