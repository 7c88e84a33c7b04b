#include "run_job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/efficiency/peaks.h"
#include "analysis/shared/call_kinds.h"
#include "analysis/shared/doubt.h"
#include "base/limits.h"
#include "base/memory_pages.h"
#include "base/pattern.h"
#include "inputs/host_map.h"
#include "launch/launch.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/dictionary.h"
#include "mpi/exchange/progress.h"
#include "mpi/gather_tables.h"
#include "mpi/report_write.h"
#include "mpi/store_read.h"
#include "mpi/store_write.h"
#include "mpi/wait.h"
#include "output/output_file.h"
#include "output/progress_line.h"
#include "output/store_page.h"
#include "self_launch.h"
#include "spill.h"
#include "summary/summary.h"
#include "timeline/levels.h"
#include "timeline/packed_events.h"
#include "tmerge/analysis.h"
#include "tmerge/report.h"
#include "tmerge/store.h"

/* [tm_align] words of --align, and of the attribute in the store. */
static const char *const align_words[] = {
    [TM_ALIGN_AUTO] = "auto", [TM_ALIGN_UTC] = "utc", [TM_ALIGN_NONE] = "none"};

static bool is_store(const void *context, const char *path) {
    (void)context;
    return tm_store_is_store(path);
}

static tm_status check_output(const tm_pipeline *p, tm_error *err) {
    static const tm_output_kind store = {"a tmerge store", is_store, NULL};
    const bool force = tm_argument(p->arguments, "force") != NULL;
    TM_TRY(tm_output_check(p->output, &store, force, err));
    return p->page ? tm_page_check(p->page, force, err) : TM_OK;
}

tm_status tm_pipeline_check_output(const tm_pipeline *p, tm_error *err) {
    return tm_mpi_agree(p->comm, p->self == 0 ? check_output(p, err) : TM_OK, err);
}

/* Checks a pattern that was read from the store. The user did not type it, so if it is invalid, the
 * store is damaged. */
static tm_status take_pattern(const tm_pipeline_store *from, const char *name, const char *pattern,
                              const char **out, tm_error *err) {
    regex_t compiled;
    *out = pattern;
    tm_status status = pattern ? tm_pattern_compile(pattern, REG_NOSUB, &compiled, err) : TM_OK;
    if (status == TM_ERR_USAGE)
        return tm_fail(err, TM_ERR_INPUT, from->path, -1,
                       "the store is damaged: its %s is not a regular expression", name);
    if (status == TM_OK && pattern)
        regfree(&compiled);
    return status;
}

static tm_status take_peak(const tm_pipeline_store *from, const char **out, tm_error *err) {
    tm_peaks peaks = {{0}};
    *out = from->peak;
    return !from->peak || tm_peaks_parse(from->peak, &peaks, err) == TM_OK
               ? TM_OK
               : tm_fail(err, TM_ERR_INPUT, from->path, -1,
                         "the store is damaged: its peak rates are not valid");
}

tm_status tm_pipeline_settings(tm_pipeline *p, tm_pipeline_store *from, tm_error *err) {
    TM_TRY(tm_store_open(from->path, &from->store, err));
    TM_TRY(tm_store_read_text(from->store, "command", &from->command, err));
    TM_TRY(tm_store_read_text(from->store, "align", &from->align, err));
    TM_TRY(tm_store_read_text(from->store, "comm_pattern", &from->comm_pattern, err));
    TM_TRY(tm_store_read_text(from->store, "step_pattern", &from->step_pattern, err));
    TM_TRY(tm_store_read_text(from->store, "peak", &from->peak, err));
    int64_t wall = p->wall_uncertainty_ns;
    TM_TRY(tm_store_read_number(from->store, "wall_uncertainty_ns", wall, &wall, err));
    if (!tm_argument(p->arguments, "wall-uncertainty") && wall > 0)
        p->wall_uncertainty_ns = wall;
    if (!tm_argument(p->arguments, "samples-per-step"))
        TM_TRY(tm_store_read_number(from->store, "samples_per_step", 0, &p->samples, err));
    if (!tm_argument(p->arguments, "tokens-per-step"))
        TM_TRY(tm_store_read_number(from->store, "tokens_per_step", 0, &p->tokens, err));
    p->command = from->command;
    p->compress = p->compress && tm_store_is_compressed(from->store);
    if (!tm_argument(p->arguments, "comm-pattern"))
        TM_TRY(take_pattern(from, "comm_pattern", from->comm_pattern, &p->comm_pattern, err));
    if (!tm_argument(p->arguments, "step-pattern"))
        TM_TRY(take_pattern(from, "step_pattern", from->step_pattern, &p->step_pattern, err));
    if (!tm_argument(p->arguments, "peak"))
        TM_TRY(take_peak(from, &p->peak, err));
    if (!tm_argument(p->arguments, "align") && from->align &&
        !tm_align_parse(from->align, &p->align))
        return tm_fail(err, TM_ERR_INPUT, from->path, -1,
                       "the store was aligned by '%.40s', which this tmerge does not know",
                       from->align);
    return TM_OK;
}

tm_status tm_pipeline_restore(tm_pipeline *p, tm_pipeline_store *from, tm_error *err) {
    const tm_load_options patterns = {.comm_pattern = p->comm_pattern,
                                      .step_pattern = p->step_pattern};
    tm_table *left_out = tm_tables_find(&p->tables, "job.left_out");
    tm_status status = tm_mpi_restore(p->comm, from->store, &patterns, left_out, &p->loaded, err);
    tm_store_close(from->store); /* close it now, because the new store may replace its file */
    from->store = NULL;
    return status;
}

void tm_pipeline_store_close(tm_pipeline_store *from) {
    tm_store_close(from->store);
    free(from->command);
    free(from->align);
    free(from->comm_pattern);
    free(from->step_pattern);
    free(from->peak);
}

static void say(const tm_pipeline *p, const char *what) {
    if (p->self == 0 && p->shows_progress)
        tm_line_phase(what);
}

static tm_status match_ranks(tm_pipeline *p, tm_error *err) {
    int64_t n_ranks = (int64_t)p->loaded.n_ranks, world = p->loaded.world_size;
    const tm_match_options match = {
        .names = p->names,
        .world_size = world > n_ranks ? world : n_ranks,
        .wall_uncertainty_ns = p->wall_uncertainty_ns,
    };
    const tm_align_options align = {p->align, p->wall_uncertainty_ns, p->names};
    say(p, "matching collectives");
    TM_TRY(tm_mpi_match(p->comm, &match, p->loaded.timelines, p->loaded.n_timelines,
                        &p->collectives, err));
    tm_times_end(&p->times, "matching");
    say(p, "aligning clocks");
    TM_TRY(tm_mpi_align(p->comm, &align, p->loaded.timelines, p->loaded.n_timelines,
                        &p->collectives, err));
    tm_times_end(&p->times, "clocks");
    say(p, "finding who waits for whom");
    TM_TRY(tm_mpi_wait(p->comm, n_ranks, p->loaded.timelines, p->loaded.n_timelines,
                       &p->collectives, err));
    tm_times_end(&p->times, "waits");
    return TM_OK;
}

/* Replays the job. Does nothing with --no-replay, or if the clocks of several ranks were not
 * aligned. */
static tm_status replay(tm_pipeline *p, tm_error *err) {
    tm_replay_result_init(&p->replay);
    if (tm_argument(p->arguments, "no-replay") ||
        (p->align == TM_ALIGN_NONE && p->loaded.n_ranks > 1))
        return TM_OK;
    const tm_replay_plan plan = {.timelines = p->loaded.timelines,
                                 .n_timelines = p->loaded.n_timelines,
                                 .names = p->names,
                                 .world_size = p->loaded.world_size,
                                 .scenario = p->scenario,
                                 .steps = p->steps};
    say(p, "replaying the job");
    TM_TRY(tm_mpi_replay(p->comm, &plan, &p->collectives, &p->replay, err));
    p->collectives.replay = p->self == 0 ? &p->replay : NULL;
    p->collectives.has_works = p->replay.works.n_rows > 0;
    tm_pages_give_back();
    tm_times_end(&p->times, "replaying");
    return TM_OK;
}

static void free_matched(tm_pipeline *p) {
    tm_collectives_free(&p->collectives);
    tm_replay_result_free(&p->replay);
}

/* Analyses a rank, and sets its levels for the store. */
static tm_status analyse_timeline(tm_pipeline *p, tm_timeline *timeline, tm_call_kinds *call_kinds,
                                  tm_error *err) {
    TM_TRY(tm_timeline_open(timeline, err));
    TM_TRY(tm_analyse_rank(timeline, call_kinds, &p->tables, err));
    TM_TRY(tm_analyse_compress(&p->tables, err));
    if (p->output)
        TM_TRY(tm_levels_make(timeline, err));
    tm_timeline_close(timeline);
    return TM_OK;
}

/* Runs the analyses of single ranks. From here on, a rank's events are packed unless they are
 * used. */
static tm_status analyse_ranks(tm_pipeline *p, tm_error *err) {
    const tm_progress_sink sink = {tm_line_bar, NULL};
    tm_progress_work work = {"analysing", "events", 0};
    tm_progress *progress;
    for (size_t i = 0; i < p->loaded.n_timelines; i++)
        work.total += (int64_t)p->loaded.timelines[i].n_events;
    MPI_Allreduce(MPI_IN_PLACE, &work.total, 1, MPI_INT64_T, MPI_SUM, p->comm);
    TM_TRY(tm_progress_begin(p->comm, p->shows_progress ? &sink : NULL, &work, &progress, err));
    tm_call_kinds call_kinds; /* shared by all ranks, so that each name is classified only once */
    tm_status status = tm_call_kinds_init(&call_kinds, p->names) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_analyse_collectives(&p->collectives, &p->tables, err);
    free_matched(p);
    for (size_t i = 0; i < p->loaded.n_timelines && status == TM_OK; i++)
        status = tm_timeline_pack(&p->loaded.timelines[i], err);
    for (size_t i = 0; i < p->loaded.n_timelines && status == TM_OK; i++) {
        status = analyse_timeline(p, &p->loaded.timelines[i], &call_kinds, err);
        tm_progress_add(progress, (int64_t)p->loaded.timelines[i].n_events, 0);
    }
    tm_call_kinds_free(&call_kinds);
    tm_progress_end(progress);
    return tm_mpi_agree(p->comm, status, err);
}

static tm_status analyse(tm_pipeline *p, tm_error *err) {
    tm_status status = TM_OK;
    tm_peaks peaks = {{0}};
    TM_TRY(analyse_ranks(p, err));
    TM_TRY(tm_mpi_merge_keys(p->comm, p->names, &p->tables, err));
    TM_TRY(tm_mpi_gather_tables(p->comm, &p->tables, err));
    const tm_job job = {.n_ranks = p->loaded.n_ranks,
                        .world_size = p->loaded.world_size,
                        .aligned = p->align != TM_ALIGN_NONE,
                        .align = align_words[p->align],
                        .names = p->names,
                        .ncu = p->ncu,
                        .snapshots = p->snapshots,
                        .peaks = &peaks,
                        .samples = p->samples,
                        .tokens = p->tokens};
    if (p->peak && p->self == 0)
        status = tm_peaks_parse(p->peak, &peaks, err);
    if (p->self == 0 && status == TM_OK)
        status = tm_analyse_job(&job, &p->tables, err);
    return tm_mpi_agree(p->comm, status, err);
}

static tm_status write_timelines(tm_pipeline *p, tm_timeline **timelines, tm_error *err) {
    for (size_t i = 0; i < p->loaded.n_timelines; i++)
        timelines[i] = &p->loaded.timelines[i];
    enum { ALWAYS = 4, SOMETIMES = 6 };
    tm_store_attribute attributes[ALWAYS + SOMETIMES] = {
        {"align", align_words[p->align], 0},
        {"ranks", NULL, (int64_t)p->loaded.n_ranks},
        {"world_size", NULL, p->loaded.world_size},
        {"wall_uncertainty_ns", NULL, p->wall_uncertainty_ns},
    };
    size_t n = ALWAYS;
    if (p->command)
        attributes[n++] = (tm_store_attribute){"command", p->command, 0};
    if (p->comm_pattern)
        attributes[n++] = (tm_store_attribute){"comm_pattern", p->comm_pattern, 0};
    if (p->step_pattern)
        attributes[n++] = (tm_store_attribute){"step_pattern", p->step_pattern, 0};
    if (p->peak)
        attributes[n++] = (tm_store_attribute){"peak", p->peak, 0};
    if (p->samples > 0)
        attributes[n++] = (tm_store_attribute){"samples_per_step", NULL, p->samples};
    if (p->tokens > 0)
        attributes[n++] = (tm_store_attribute){"tokens_per_step", NULL, p->tokens};
    const tm_store_plan plan = {
        .path = p->output,
        .timelines = timelines,
        .n_timelines = p->loaded.n_timelines,
        .compress = p->compress,
        .names = p->names,
        .tables = &p->tables,
        .tool_version = TMERGE_VERSION,
        .attributes = attributes,
        .n_attributes = n,
    };
    return tm_mpi_store_write(p->comm, &plan, err);
}

static tm_status write_store(tm_pipeline *p, tm_error *err) {
    tm_timeline **timelines = calloc(p->loaded.n_timelines + 1, sizeof *timelines);
    tm_status status = tm_mpi_agree(p->comm, timelines ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = write_timelines(p, timelines, err);
    free(timelines);
    return status;
}

static tm_status write_page(const tm_pipeline *p, tm_error *err) {
    const tm_mpi_report report = {.timelines = p->loaded.timelines,
                                  .n_timelines = p->loaded.n_timelines,
                                  .names = p->names,
                                  .tables = &p->tables,
                                  .store = p->output,
                                  .path = p->page,
                                  .version = TMERGE_VERSION};
    if (p->self == 0)
        tm_output_watch(p->page);
    return tm_mpi_report_write(p->comm, &report, err);
}

/* Broadcasts process 0's decision whether to show progress. Only process 0 can find out whether a
 * person watches. */
static void share_progress(tm_pipeline *p) {
    int shows = p->shows_progress;
    MPI_Bcast(&shows, 1, MPI_INT, 0, p->comm);
    p->shows_progress = shows != 0;
    if (shows && p->self == 0)
        tm_line_begin(tm_console_redraws());
}

/* Warns if the user's step pattern matches nothing on some ranks. */
static void warn_of_pattern(const tm_pipeline *p) {
    int64_t n = 0;
    for (size_t i = 0; i < p->loaded.n_timelines; i++) {
        const tm_timeline *timeline = &p->loaded.timelines[i];
        n += timeline->n_steps == 0 || !timeline->steps[0].annotated;
    }
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_SUM, p->comm);
    if (p->self == 0 && n > 0)
        tm_console_warn("--step-pattern '%s' matches no annotation of %" PRId64 " of %zu rank%s: "
                        "%s",
                        p->step_pattern, n, p->loaded.n_ranks, p->loaded.n_ranks == 1 ? "" : "s",
                        (size_t)n < p->loaded.n_ranks ? "they have no steps"
                                                      : "there the whole trace counts as one step");
}

/* Warns if the user's communication pattern matches no name. */
static void warn_of_communication(const tm_pipeline *p) {
    regex_t pattern;
    bool any = false;
    if (tm_pattern_compile(p->comm_pattern, REG_NOSUB, &pattern, NULL) != TM_OK)
        return; /* only for lack of memory: the readers have compiled the same pattern */
    for (size_t i = 0; i < tm_names_count(p->names) && !any; i++)
        any = regexec(&pattern, tm_names_text(p->names, (uint32_t)i).bytes, 0, NULL, 0) == 0;
    regfree(&pattern);
    if (!any)
        tm_console_warn("--comm-pattern '%s' matches no name in these traces", p->comm_pattern);
}

/* Implements --strict: fails if the results are doubtful. At this point, everything has been
 * written. */
static tm_status fail_doubted(const tm_pipeline *p, tm_error *err) {
    char what[TM_DOUBT_TEXT];
    return tm_doubt_text(&p->tables, what)
               ? tm_fail(err, TM_ERR_INPUT, p->output, -1, "--strict: %s", what)
               : TM_OK;
}

static tm_status run_phases(tm_pipeline *p, const tm_pipeline_input *input, tm_error *err) {
    TM_TRY(tm_mpi_agree(p->comm, tm_analysis_tables(&p->tables, err), err));
    say(p, "reading");
    TM_TRY(input->read(p, input->context, err));
    tm_times_end(&p->times, "reading");
    if (input->without && p->loaded.n_ranks == 0) {
        say(p, NULL);
        return input->without(p, input->context, err);
    }
    say(p, "joining names");
    TM_TRY(tm_host_names(p->comm, tm_argument(p->arguments, "host-map"), &p->loaded, err));
    TM_TRY(tm_mpi_unify_names(p->comm, p->loaded.names, p->loaded.timelines, p->loaded.n_timelines,
                              &p->names, err));
    tm_times_end(&p->times, "names");
    TM_TRY(match_ranks(p, err));
    TM_TRY(replay(p, err));
    if (input->finish) {
        say(p, NULL);
        return tm_mpi_agree(p->comm, p->self == 0 ? input->finish(p, input->context, err) : TM_OK,
                            err);
    }
    TM_TRY(analyse(p, err));
    tm_pages_give_back();
    tm_times_end(&p->times, "analysing");
    if (p->output) {
        say(p, "writing the store");
        TM_TRY(write_store(p, err));
        tm_times_end(&p->times, "writing");
    }
    if (p->page) {
        say(p, "writing the report");
        TM_TRY(write_page(p, err));
        tm_times_end(&p->times, "reporting");
    }
    say(p, NULL);
    if (tm_argument(p->arguments, "times"))
        tm_times_print(&p->times, p->comm);
    if (p->step_pattern)
        warn_of_pattern(p);
    if (p->self != 0)
        return TM_OK;
    if (p->comm_pattern)
        warn_of_communication(p);
    if (input->warn)
        input->warn(p, input->context);
    TM_TRY(input->print
               ? input->print(p, input->context, err)
               : tm_summary_print(&p->tables, &p->loaded, p->output, p->page, &p->colors, err));
    TM_TRY(tm_tables_whole(&p->tables, err));
    return tm_argument(p->arguments, "strict") ? fail_doubted(p, err) : TM_OK;
}

bool tm_align_parse(const char *word, tm_align *out) {
    for (size_t i = 0; i < sizeof align_words / sizeof *align_words; i++)
        if (strcmp(word, align_words[i]) == 0) {
            *out = (tm_align)i;
            return true;
        }
    return false;
}

/* Parses a time above 0 such as "5ms" (units ns, us, ms, s) to nanoseconds. Returns false if it is
 * invalid. */
static bool parse_duration(const char *text, int64_t *out) {
    static const struct {
        const char *word;
        double ns;
    } units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0.0))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].word) == 0) {
            double ns = value * units[i].ns;
            *out = ns >= 1.0 && ns <= 1e15 ? llround(ns) : 0;
            return *out > 0;
        }
    return false;
}

static tm_status choose_page(tm_pipeline *p, tm_error *err) {
    const char *chosen = tm_argument(p->arguments, "html");
    bool none = tm_argument(p->arguments, "no-html") != NULL;
    if (chosen && none)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--html and --no-html exclude each other");
    if (none || (!chosen && !tm_report_is_built()))
        return TM_OK;
    p->page = chosen ? strdup(chosen) : tm_output_beside(p->output, ".html");
    if (!p->page)
        return tm_fail_memory(err);
    if (strcmp(p->page, p->output) == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "the store and its page have the same name: %s",
                       p->page);
    return TM_OK;
}

/* Parses a rate. Without the option, the rate is 0 (unknown). The user gives 0 to drop a rate that
 * the store has. */
static tm_status parse_rate(const tm_pipeline *p, const char *option, int64_t *out, tm_error *err) {
    TM_TRY(tm_count_parse(tm_argument(p->arguments, option), option, out, err));
    *out = *out < 0 ? 0 : *out;
    return TM_OK;
}

static tm_status parse_options(tm_pipeline *p, tm_error *err) {
    const char *align = tm_argument(p->arguments, "align");
    const char *pattern = tm_argument(p->arguments, "comm-pattern");
    const char *steps = tm_argument(p->arguments, "step-pattern");
    const char *wall = tm_argument(p->arguments, "wall-uncertainty");
    const char *peak = tm_argument(p->arguments, "peak");
    tm_peaks peaks = {{0}};
    if (align && !tm_align_parse(align, &p->align))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--align takes auto, utc or none, not '%s'",
                       align);
    p->wall_uncertainty_ns = TM_WALL_UNCERTAINTY_NS;
    if (wall && !parse_duration(wall, &p->wall_uncertainty_ns))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--wall-uncertainty takes a time like 5ms or 200us, not '%s'", wall);
    if (peak)
        TM_TRY(tm_peaks_parse(peak, &peaks, err));
    TM_TRY(parse_rate(p, "samples-per-step", &p->samples, err));
    TM_TRY(parse_rate(p, "tokens-per-step", &p->tokens, err));
    p->peak = peak && *peak ? peak : NULL;
    p->comm_pattern = pattern && *pattern ? pattern : NULL;
    p->step_pattern = steps && *steps ? steps : NULL;
    p->compress = !tm_argument(p->arguments, "no-compress");
    TM_TRY(tm_size_parse(tm_argument(p->arguments, "memory"), "memory", &p->memory, err));
    TM_TRY(tm_console_colors(tm_argument(p->arguments, "color"), 1, &p->colors, err));
    return tm_console_progress(tm_argument(p->arguments, "progress"),
                               tm_argument(p->arguments, "quiet") != NULL, &p->shows_progress, err);
}

/* Does the part of a run that needs no other process: parses options, checks outputs. */
static tm_status start(tm_pipeline *p, const tm_pipeline_input *input, tm_error *err) {
    TM_TRY(parse_options(p, err));
    tm_status status = input->has_page ? choose_page(p, err) : TM_OK;
    if (status == TM_OK)
        status = tm_self_launch(p->arguments, err);
    tm_times_begin(&p->times, tm_launch_began_ns());
    if (status == TM_OK)
        status = tm_launch_mpi(err);
    if (status != TM_OK)
        free(p->page);
    return status;
}

/* Limits the memory of this process to --memory. If --memory is not given, the limit is this
 * process's share of three quarters of the host's memory. */
static void bound_memory(tm_pipeline *p) {
    const char *temporary = getenv("TMPDIR"), *end = p->output ? strrchr(p->output, '/') : NULL;
    const int64_t host = tm_memory("");
    const int n = tm_launch_place()->local_size;
    const bool asked = p->memory > 0;
    if (end)
        snprintf(p->folder, sizeof p->folder, "%.*s", end > p->output ? (int)(end - p->output) : 1,
                 p->output);
    else
        snprintf(p->folder, sizeof p->folder, "%s",
                 p->output                 ? "."
                 : temporary && *temporary ? temporary
                                           : "/tmp");
    if (!asked)
        p->memory = host == INT64_MAX ? 0 : host / 4 * 3 / (n > 1 ? n : 1);
    if (p->memory > 0)
        tm_spill_begin(p->memory, p->folder, asked);
}

/* Warns if data did not fit into memory, and says how much. If the run failed because the temporary
 * file could not be written, the error says so. */
static tm_status say_spilled(const tm_pipeline *p, tm_status status, tm_error *err) {
    static const char why[] = "no temporary file for what does not fit into memory (--memory)";
    int error = tm_spill_error();
    int64_t bytes = tm_spill_most();
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, p->comm);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, p->comm);
    if (error != 0 && status == TM_ERR_FAULT)
        return tm_fail(err, TM_ERR_OUTPUT, p->folder, -1, "%s: %s", why, strerror(error));
    if (p->self == 0 && error != 0)
        tm_console_warn("%s: %s: %s", p->folder, why, strerror(error));
    if (p->self == 0 && bytes > 0 && status == TM_OK)
        tm_console_warn("%.2f GiB did not fit into memory (--memory: %.2f GiB a process) and went "
                        "to temporary files in %s, which is slower",
                        (double)bytes / 1073741824.0, (double)p->memory / 1073741824.0, p->folder);
    return status;
}

tm_status tm_pipeline_run(const tm_arguments *arguments, const char *output,
                          const tm_pipeline_input *input, tm_error *err) {
    const char *chosen = tm_argument(arguments, "output");
    tm_pipeline p = {.arguments = arguments, .output = chosen ? chosen : output};
    TM_TRY(start(&p, input, err));
    MPI_Comm_dup(MPI_COMM_WORLD, &p.comm);
    MPI_Comm_rank(p.comm, &p.self);
    if (p.self == 0 && p.output)
        tm_output_watch(p.output);
    share_progress(&p);
    tm_times_end(&p.times, "starting");
    bound_memory(&p);
    tm_status status = run_phases(&p, input, err);
    tm_line_end();
    status = say_spilled(&p, status, err);
    free_matched(&p);
    tm_names_destroy(p.names);
    tm_loaded_free(&p.loaded);
    tm_tables_destroy(&p.tables);
    free(p.page);
    MPI_Comm_free(&p.comm);
    return status; /* main reports the error, then ends MPI */
}
