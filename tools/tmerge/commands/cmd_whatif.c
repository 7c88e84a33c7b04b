/* tmerge whatif: what would help most, or what a user's scenario would save. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/words.h"
#include "arguments/options.h"
#include "mpi/exchange/agree.h"
#include "output/csv_folder.h"
#include "replay/whatif/result.h"
#include "run_job.h"
#include "self_launch.h"
#include "table/shown.h"
#include "timeline/collectives.h"
#include "tmerge/analysis.h"

enum { TOP = 10 };

static const tm_option options[] = {
    {"fix", 0, "X", "what if X performed as on the other ranks: rank=3, host=NAME+kind=host, ..."},
    {"scale", 0, "X:F",
     "what if X took F times as long: kernel=REGEX:0.5; --fix and --scale may be repeated"},
    {"each", 0, "WHAT",
     "list every rank, host, stage, kind or kernel, with the time that its fix saves"},
    {"top", 0, "N", "only the N items that save most"},
    {"step", 0, "LIST", "compute all figures only for these steps"},
    {"json", 0, NULL,
     "one JSON document; integers are exact, null stands for a value that does not exist"},
    TM_OPTION_CSV_DIR,
    TM_OPTION_JOBS,
    TM_OPTION_MEMORY,
    TM_OPTION_COLOR,
};

typedef struct question {
    const char *path;
    const char *each; /* NULL: not given */
    int64_t top;      /* -1: not given */
    tm_list steps;
    const char *folder; /* folder for CSV files; NULL: none */
    bool json;
    tm_colors colors;
    tm_scenario scenario;
    tm_pipeline_store from;
    const char *whole; /* as in tm_words_whole; set before text is printed */
    bool marked;       /* whether the job's steps are marked */
} question;

static bool is_what(const tm_cell *cell, const char *word) {
    return strcmp(cell->value.text, word) == 0;
}

/* Returns whether a row is not one of the alternative fixes. Such a row is a step of the plan (it
 * includes the earlier steps), the limit for a kind of work, or the user's scenario. */
static bool is_apart(const tm_cell *cell) {
    return is_what(cell, "plan") || is_what(cell, "limit") || is_what(cell, "scenario");
}

static bool keep_what(const tm_table *table, const tm_cell *row, void *context) {
    const tm_cell *what = &row[tm_table_column(table->def, "what")];
    return is_what(what, context) || (strcmp(context, "kind") == 0 && is_what(what, "limit"));
}

/* Writes "rank 3" or "kernel gemm...", shortened if it is long. */
static void write_label(const tm_table *items, size_t row, char out[TM_SHOWN_MAX]) {
    const tm_cell *what = tm_table_cell(items, row, "what");
    char *text;
    const char *name = tm_table_cell(items, row, "name")->value.text;
    const char *word = what->value.text;
    if (is_what(what, "plan"))
        word = strchr(name, ',') ? "ranks" : "rank";
    else if (is_what(what, "limit"))
        word = "kind";
    size_t size = strlen(word) + strlen(name) + 2;
    const tm_column column = {"label", TM_TEXT, "", ""};
    out[0] = '\0';
    text = malloc(size);
    if (!text)
        return;
    snprintf(text, size, "%s %s", word, name);
    const tm_cell cell = {.value.text = text};
    tm_shown_cell(&column, (tm_shown_unit){"", 0}, &cell, out);
    free(text);
}

/* Returns whether to print savings as ranges, from saved_ns to saved_most_ns. This is so if the
 * figures are sure, or if only unexplained time makes them unsure. */
static bool has_ranges(const tm_table *job) {
    const tm_cell *doubt = tm_table_cell(job, 0, "doubt");
    return tm_table_cell(job, 0, "sure")->value.i ||
           (!doubt->null && strcmp(doubt->value.text, "unexplained") == 0);
}

/* Writes a doubt about an item's saving: "to 34.3 ms" if it may be larger; "not sure" if it is
 * uncertain whether there is a saving (as in analysis/shared/savings.c); "" if it is sure. */
static void write_doubt(const tm_table *job, const tm_table *items, size_t row, tm_shown_unit unit,
                        char *out, size_t size) {
    const tm_cell *saved = tm_table_cell(items, row, "saved_ns");
    const tm_cell *most = tm_table_cell(items, row, "saved_most_ns");
    const tm_cell *sure = tm_table_cell(items, row, "sure");
    const double step_ns = (double)tm_table_cell(job, 0, "step_ns")->value.i;
    char time[32];
    snprintf(out, size, "%s", !sure->null && !sure->value.i ? "not sure" : "");
    if (!*out || !has_ranges(job) || saved->null ||
        (double)(most->value.i - saved->value.i) <
            fmax(0.001 * step_ns, 0.02 * (double)saved->value.i))
        return;
    tm_shown_in(most->value.i, unit, time, sizeof time);
    snprintf(out, size, "to %s", time);
}

/* Prints an item. If its saving is negative, the change makes steps longer. */
static void print_item(const tm_table *job, const tm_table *items, size_t row, tm_shown_unit unit) {
    char label[TM_SHOWN_MAX], time[32] = "-", percent[32] = "-", doubt[40];
    const tm_cell *saved = tm_table_cell(items, row, "saved_ns");
    write_label(items, row, label);
    if (!saved->null) {
        tm_shown_in(saved->value.i, unit, time, sizeof time);
        const tm_shown_text share =
            tm_shown_percent(tm_table_cell(items, row, "saved_pct")->value.r, 1);
        snprintf(percent, sizeof percent, "%s", share.text);
    }
    write_doubt(job, items, row, unit, doubt, sizeof doubt);
    printf("  %-*s %9s %7s%s%s\n", TM_SHOWN_POINTS, label, time, percent, *doubt ? "  " : "",
           doubt);
}

/* Returns whether a row is listed: it saves time, or @p all is set. If @p word is not NULL, the row
 * must also be of this kind. If it is NULL, the row must be one of the alternative fixes. */
static bool is_listed(const tm_table *items, size_t row, const char *word, bool all) {
    const tm_cell *what = tm_table_cell(items, row, "what");
    const tm_cell *saved = tm_table_cell(items, row, "saved_ns");
    return (word ? is_what(what, word) : !is_apart(what)) &&
           (all || (!saved->null && saved->value.i > 0));
}

/* Prints up to @p most listed rows, in a unit that suits all of them. */
static void print_items(const tm_table *job, const tm_table *items, const char *word, int64_t most,
                        bool all) {
    bool unknown = false;
    tm_shown_range range = TM_SHOWN_RANGE;
    for (size_t i = 0; i < items->n_rows; i++) {
        const tm_cell *saved = tm_table_cell(items, i, "saved_ns");
        if (is_listed(items, i, word, all) && !saved->null)
            tm_shown_widen(&range, (double)saved->value.i);
    }
    for (size_t i = 0; i < items->n_rows && most > 0; i++) {
        const tm_cell *saved = tm_table_cell(items, i, "saved_ns");
        if (!is_listed(items, i, word, all))
            continue;
        print_item(job, items, i, tm_shown_unit_of(range));
        unknown = unknown || saved->null;
        most--;
    }
    if (unknown)
        puts("  -: the fix takes under 0.05 % off the critical path, so it cannot save more than "
             "that");
}

static void print_sentence(const char *text) {
    tm_console_wrap(text, 0, tm_console_width());
}

/* Prints the step time, and a warning if the figures are uncertain. */
static void print_job(const question *q, const tm_table *job) {
    const tm_cell *ideal = tm_table_cell(job, 0, "ideal_ns");
    tm_shown_text times[2];
    tm_shown_durations((const int64_t[]){tm_table_cell(job, 0, "step_ns")->value.i,
                                         ideal->null ? 0 : ideal->value.i},
                       2, times);
    printf("%s%c%s %s %s%s", q->colors.strong, toupper((unsigned char)q->whole[0]), q->whole + 1,
           q->marked ? "takes" : "is", times[0].text, q->colors.off);
    if (!ideal->null)
        printf("; %s if everything took its usual time in this job", times[1].text);
    puts("");
    if (!tm_table_cell(job, 0, "sure")->value.i) {
        printf("%sNot sure:%s\n", q->colors.warning, q->colors.off);
        print_sentence(tm_table_cell(job, 0, "evidence")->value.text);
    }
}

static void print_title(const question *q, const char *title) {
    printf("%s%-*s%s %s\n", q->colors.strong, TM_SHOWN_POINTS + 2, title, q->colors.off,
           q->marked ? "saved a step" : "saved");
}

static bool has_what(const tm_table *items, const char *word) {
    for (size_t i = 0; i < items->n_rows; i++)
        if (is_what(tm_table_cell(items, i, "what"), word))
            return true;
    return false;
}

/* Prints the overview, the largest saving first. Equal savings keep the table's order. */
static void print_overview(const question *q, const tm_table *job, tm_table *items) {
    print_job(q, job);
    if (has_what(items, "plan")) {
        puts("");
        print_title(q, "Rank by rank, each together with the ranks before it");
        print_items(job, items, "plan", INT64_MAX, true);
    }
    tm_table_rank(items, tm_table_column(items->def, "saved_ns"));
    puts("");
    print_title(q, "What would help most");
    print_items(job, items, NULL, q->top >= 0 ? q->top : TOP, false);
}

static void print_each(const question *q, const tm_table *job, tm_table *items) {
    int64_t most = q->top >= 0 ? q->top : INT64_MAX;
    tm_table_rank(items, tm_table_column(items->def, "saved_ns"));
    print_title(q, "As on the other ranks");
    print_items(job, items, q->each, most, true);
    if (strcmp(q->each, "kind") == 0) {
        puts("");
        print_title(q, "If it took no time at all: no fix can save more");
        print_items(job, items, "limit", most, true);
    }
}

static void print_doubt(const tm_table *job, const tm_table *items) {
    tm_shown_text times[2]; /* saving, maximum saving */
    char text[256];
    if (!tm_table_cell(job, 0, "sure")->value.i)
        print_sentence(tm_table_cell(job, 0, "evidence")->value.text);
    if (!has_ranges(job))
        return;
    tm_shown_durations((const int64_t[]){tm_table_cell(items, 0, "saved_ns")->value.i,
                                         tm_table_cell(items, 0, "saved_most_ns")->value.i},
                       2, times);
    snprintf(text, sizeof text,
             "a step gets shorter by %s, or by %s if the replay leaves out time without a recorded "
             "cause; a saving smaller than the clocks' uncertainty is not sure either",
             times[0].text, times[1].text);
    print_sentence(text);
}

static void print_scenario(const question *q, const tm_table *job, const tm_table *items) {
    const tm_cell *saved = tm_table_cell(items, 0, "saved_ns");
    char step[32];
    tm_shown_text times[4]; /* step now, step after the change, their difference, and the part of
                               the critical path that changes */
    printf("%s%s%s\n", q->colors.strong, q->scenario.text, q->colors.off);
    int64_t step_ns = tm_table_cell(job, 0, "step_ns")->value.i;
    tm_shown_duration(step_ns, step, sizeof step);
    if (saved->null) {
        printf("  %s %s %s; how long it would be with this change is unknown:\n", q->whole,
               q->marked ? "takes" : "is", step);
        print_sentence(tm_table_cell(job, 0, "evidence")->value.text);
        return;
    }
    const tm_cell *next = tm_table_cell(items, 0, "next_rank");
    double percent = tm_table_cell(items, 0, "saved_pct")->value.r;
    int64_t path_ns = tm_table_cell(items, 0, "path_ns")->value.i;
    tm_shown_durations(
        (const int64_t[]){step_ns, step_ns - saved->value.i, llabs(saved->value.i), path_ns}, 4,
        times);
    const tm_shown_text share = tm_shown_percent(percent < 0 ? -percent : percent, 1);
    printf("  %s %s %s; it would %s ", q->whole, q->marked ? "takes" : "is", times[0].text,
           q->marked ? "take" : "be");
    if (saved->value.i == 0)
        puts("as long");
    else
        printf("%s: %s %s (%s)\n", times[1].text, times[2].text,
               saved->value.i < 0 ? "longer" : "shorter", share.text);
    if (path_ns == 0)
        printf("  none of it is on the critical path");
    else
        printf("  this changes %s of %scritical path", times[3].text,
               q->marked ? "each step's " : "the ");
    if (saved->value.i != 0 && !next->null)
        printf("; then rank %lld has most of the path", (long long)next->value.i);
    puts("");
    if (!tm_table_cell(items, 0, "sure")->value.i) {
        printf("  %snot sure:%s\n", q->colors.warning, q->colors.off);
        print_doubt(job, items);
    }
}

/* Reads whether steps are marked, which the tables of a replay do not have. */
static tm_status read_whole(question *q, tm_error *err) {
    tm_tables tables;
    tm_store *store;
    TM_TRY(tm_analysis_tables(&tables, err));
    tm_table *job = tm_tables_find(&tables, "job.job");
    tm_status status = tm_store_open(q->path, &store, err);
    if (status == TM_OK) {
        status = tm_store_read_table(store, job, err);
        tm_store_close(store);
    }
    q->whole = tm_words_whole(&tables);
    q->marked = job->n_rows > 0 && tm_table_cell(job, 0, "steps")->value.i > 0;
    tm_tables_destroy(&tables);
    return status;
}

static tm_status print_text(question *q, const tm_tables *tables, tm_error *err) {
    const tm_table *job = tm_tables_find(tables, "whatif.job");
    tm_table *items = tm_tables_find(tables, "whatif.item");
    TM_TRY(read_whole(q, err));
    if (job->n_rows == 0)
        puts("No figure is known: only communication or no device event was recorded, or clocks "
             "cannot be compared (tmerge show clock.rank).");
    else if (q->scenario.text)
        print_scenario(q, job, items);
    else if (q->each)
        print_each(q, job, items);
    else
        print_overview(q, job, items);
    return TM_OK;
}

/* Tables of the answer. With --each or a scenario, the answer has only the first two. */
static const char *const answers[] = {"whatif.job", "whatif.item", "whatif.step", "whatif.network",
                                      "whatif.split"};
enum { N_ANSWERS = sizeof answers / sizeof *answers };

static tm_status print_machine(const question *q, const tm_tables *tables, tm_error *err) {
    const tm_table *shown[N_ANSWERS];
    char *text = NULL;
    size_t n = q->each || q->scenario.text ? 2 : N_ANSWERS;
    for (size_t t = 0; t < n; t++)
        shown[t] = tm_tables_find(tables, answers[t]);
    if (q->folder)
        return tm_csv_folder_write(q->folder, shown, n, err);
    tm_status status = tm_tables_json(shown, n, q->path, &text, err);
    if (status == TM_OK)
        fputs(text, stdout);
    free(text);
    return status;
}

/* Removes the rows that the user did not ask for, and prints the remaining ones. */
static tm_status answer(question *q, const tm_tables *tables, tm_error *err) {
    tm_table *items = tm_tables_find(tables, "whatif.item");
    char *each = NULL, scenario[] = "scenario";
    bool text = !q->json && !q->folder, known = items->n_rows > 0;
    if (q->each) {
        each = strdup(q->each);
        if (!each)
            return tm_fail_memory(err);
    }
    if (each || q->scenario.text)
        tm_table_filter(items, keep_what, each ? each : scenario);
    free(each);
    if (known && q->each && items->n_rows == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--each %s: %s", q->each,
                       strcmp(q->each, "kind") == 0 || strcmp(q->each, "kernel") == 0
                           ? "no item is on the critical path"
                           : "the job does not have two of them to compare");
    if (!tm_console_speaks()) /* only one process prints; checked only here, so that earlier
                                 failures occur on all processes */
        return TM_OK;
    if (q->top >= 0 && !text)
        tm_table_top(items, (size_t)q->top);
    return text ? print_text(q, tables, err) : print_machine(q, tables, err);
}

static tm_status answer_stored(question *q, tm_error *err) {
    tm_tables tables;
    tm_store *store;
    TM_TRY(tm_analysis_tables(&tables, err));
    tm_status status = tm_store_open(q->path, &store, err);
    if (status == TM_OK) {
        if (!tm_store_has_table(store, answers[0]))
            status = tm_fail(err, TM_ERR_INPUT, q->path, -1,
                             "an older tmerge wrote this store without what-if figures; tmerge "
                             "analyze adds them");
        for (size_t t = 0; t < N_ANSWERS && status == TM_OK; t++)
            if (tm_store_has_table(
                    store, answers[t])) /* the store of an older tmerge may lack some tables */
                status = tm_store_read_table(store, tm_tables_find(&tables, answers[t]), err);
        tm_store_close(store);
    }
    if (status == TM_OK)
        status = answer(q, &tables, err);
    tm_tables_destroy(&tables);
    return status;
}

static tm_status read_timelines(tm_pipeline *p, void *context, tm_error *err) {
    question *q = context;
    TM_TRY(tm_mpi_agree(p->comm, tm_pipeline_settings(p, &q->from, err), err));
    TM_TRY(tm_mpi_same_file(p->comm, q->path, err));
    p->scenario = q->scenario.text ? &q->scenario : NULL;
    p->steps = q->steps.n > 0 ? &q->steps : NULL;
    return tm_pipeline_restore(p, &q->from, err);
}

/* Answers from the replay, on process 0. */
static tm_status answer_replayed(tm_pipeline *p, void *context, tm_error *err) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    const tm_collectives replayed = {.replay = &p->replay};
    for (size_t i = 0; i < n; i++)
        if (strcmp(analyses[i]->name, "whatif") == 0)
            TM_TRY(analyses[i]->collectives(&replayed, &p->tables, err));
    tm_table_sort(tm_tables_find(&p->tables, "whatif.item"));
    return answer(context, &p->tables, err);
}

static tm_status take_options(const tm_arguments *arguments, question *q, tm_error *err) {
    static const char *const each[] = {"rank", "host", "stage", "kind", "kernel"};
    bool known = false;
    if (arguments->n_operands != 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge whatif needs one store; see --help");
    q->json = tm_argument(arguments, "json") != NULL;
    q->folder = tm_argument(arguments, "csv-dir");
    if (q->json && q->folder)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv-dir exclude each other");
    q->path = q->from.path = arguments->operands[0];
    q->each = tm_argument(arguments, "each");
    for (size_t i = 0; i < sizeof each / sizeof *each && q->each; i++)
        known = known || strcmp(q->each, each[i]) == 0;
    if (q->each && !known)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--each takes rank, host, stage, kind or kernel, not '%s'", q->each);
    int64_t jobs; /* -j must be valid, even if no replay is needed */
    TM_TRY(tm_self_launch_parse(arguments, &jobs, err));
    TM_TRY(tm_count_parse(tm_argument(arguments, "top"), "top", &q->top, err));
    TM_TRY(tm_list_parse(tm_argument(arguments, "step"), "step", &q->steps, err));
    for (size_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].name, "fix") == 0 ||
            strcmp(arguments->given[i].name, "scale") == 0)
            TM_TRY(tm_scenario_add(&q->scenario, arguments->given[i].name,
                                   arguments->given[i].value, err));
    if (q->scenario.text && (q->each || q->top >= 0))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--fix and --scale make one scenario: leave out --each and --top");
    return tm_console_colors(tm_argument(arguments, "color"), 1, &q->colors, err);
}

static tm_status whatif_run(const tm_arguments *arguments, tm_error *err) {
    question q = {.scenario = TM_SCENARIO()};
    const tm_pipeline_input input = {
        .read = read_timelines, .finish = answer_replayed, .context = &q};
    tm_status status = take_options(arguments, &q, err);
    if (status == TM_OK)
        status = q.scenario.text || q.steps.n > 0 ? tm_pipeline_run(arguments, NULL, &input, err)
                                                  : answer_stored(&q, err);
    tm_pipeline_store_close(&q.from);
    tm_scenario_free(&q.scenario);
    return status;
}

const tm_command tm_command_whatif = {
    .name = "whatif",
    .usage = "STORE [--fix X | --scale X:F]... [--each WHAT] [options]",
    .summary =
        "Shows which fix would help most, or how long steps would be if something took less time",
    TM_ARRAY(options, options),
    .run = whatif_run,
};
