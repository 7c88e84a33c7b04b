#include "summary/summary.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/shared/device_means.h"
#include "analysis/shared/doubt.h"
#include "analysis/shared/kinds_of_steps.h"
#include "analysis/shared/words.h"
#include "base/median.h"
#include "base/sums.h"
#include "summary/summary_text.h"

#define YEAR_NS (INT64_C(86400000000000) * 366)

/* This diagnostic has a separate line in the summary. */
#define MOSTLY_SKIPPED "mostly_skipped"

static void append_date(int64_t ns, char *out, size_t size) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm utc;
    char text[32];
    /* A time near 1970 is not absolute: times in hand-made traces start at 0. */
    if (ns > YEAR_NS && gmtime_r(&seconds, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) > 0)
        snprintf(out + strlen(out), size - strlen(out), " from %s UTC", text);
}

/* Writes "227.0 ms from 2025-12-13 10:40:28 UTC". */
static void write_when(const tm_table *job, char *out, size_t size) {
    char recorded[32], all[32];
    *out = '\0';
    if (!tm_table_cell(job, 0, "duration_ns")->null) {
        tm_shown_duration(number(job, 0, "duration_ns"), all, sizeof all);
        tm_shown_duration(number(job, 0, "recorded_ns"), recorded, sizeof recorded);
        if (number(job, 0, "recordings") > 1)
            snprintf(out, size, "%s recorded in %" PRId64 " recordings over ", recorded,
                     number(job, 0, "recordings"));
        snprintf(out + strlen(out), size - strlen(out), "%s", all);
        append_date(number(job, 0, "begin_ns"), out, size);
    } else if (!tm_table_cell(job, 0, "begin_ns")->null) {
        snprintf(out, size,
                 "the total length is not known: some times count from 0, others since 1970");
    }
}

static bool is_far(int64_t ns, int64_t mean_ns, double share) {
    return fabs((double)(mean_ns - ns)) > share * (double)mean_ns;
}

/* Writes the length of a step, which is the mean over the replayed steps: " of 42.1 ms". Savings
 * are percentages of this length. If over 5 % of the mean time from one step mark to the next is
 * not replayed, or it differs much and some steps are not replayed, writes both: " of 450.0 us
 * (40.0 us replayed)". If the median step differs much from the mean, writes " of 6.43 ms (mean;
 * median 3.11 ms)". */
static void write_lengths(const tm_tables *tables, char *out, size_t size) {
    const tm_table *steps = tm_tables_find(tables, "whatif.step");
    const int64_t mean = number(tm_tables_find(tables, "whatif.job"), 0, "step_ns");
    int64_t *all = malloc((steps->n_rows + 1) * sizeof *all), median = mean;
    tm_shown_text times[2];
    size_t n = 0;
    for (size_t i = 0; i < steps->n_rows && all; i++)
        if (number(steps, i, "step_ns") > 0 && number(steps, i, "partial") == 0)
            all[n++] = number(steps, i, "step_ns");
    if (n > 0)
        median = tm_median_any(all, n);
    free(all);
    const int64_t marked = number(tm_tables_find(tables, "overview.job"), 0, "mean_step_ns");
    const bool lacks =
        (int64_t)steps->n_rows < number(tm_tables_find(tables, "job.job"), 0, "steps");
    const bool partly = (marked > mean && is_far(mean, marked, 0.05)) ||
                        (marked > 0 && lacks && is_far(mean, marked, 0.1));
    tm_shown_durations((const int64_t[]){partly ? marked : mean, partly ? mean : median}, 2, times);
    snprintf(out, size, " of %s", times[0].text);
    if (partly)
        snprintf(out + strlen(out), size - strlen(out), " (%s replayed)", times[1].text);
    else if (is_far(median, mean, 0.25))
        snprintf(out + strlen(out), size - strlen(out), " (mean; median %s)", times[1].text);
}

/* Writes "4 steps of 42.1 ms". If the steps have named kinds, leaves out the length, because
 * tm_summary_kinds writes it. */
static void write_steps(const tm_tables *tables, char *out, size_t size) {
    const int64_t steps = number(tm_tables_find(tables, "job.job"), 0, "steps");
    const tm_table *kinds = tm_tables_find(tables, "steps.kind");
    const bool named =
        kinds->n_rows > 1 || (kinds->n_rows == 1 && !tm_table_cell(kinds, 0, "phase")->null);
    const tm_table *replayed = tm_tables_find(tables, "whatif.job");
    snprintf(out, size, "no steps marked");
    if (steps > 0)
        snprintf(out, size, "%" PRId64 " step%s", steps, steps == 1 ? "" : "s");
    if (steps == 0 || replayed->n_rows == 0 || number(replayed, 0, "step_ns") <= 0 || named)
        return;
    write_lengths(tables, out + strlen(out), size - strlen(out));
}

/* Prints the heading. If it is too long for one line with the number of events, leaves out this
 * number. */
static void print_heading(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *job = tm_tables_find(tables, "job.job");
    const int64_t hosts = number(job, 0, "hosts"), events = number(job, 0, "events");
    char what[320], when[160], on[48] = "", marked[160], held[48];
    if (!tm_table_cell(job, 0, "hosts")->null)
        snprintf(on, sizeof on, " on %" PRId64 " host%s", hosts, hosts == 1 ? "" : "s");
    write_steps(tables, marked, sizeof marked);
    snprintf(what, sizeof what, "%" PRId64 " rank%s%s, %s", number(job, 0, "ranks"),
             number(job, 0, "ranks") == 1 ? "" : "s", on, marked);
    snprintf(held, sizeof held, ", %" PRId64 " event%s", events, events == 1 ? "" : "s");
    write_when(job, when, sizeof when);
    const int left = tm_console_width() - (int)(strlen(what) + 2 + strlen(when));
    const bool fits = left >= 0;
    if (!fits || left >= (int)strlen(held))
        snprintf(what + strlen(what), sizeof what - strlen(what), "%s", held);
    printf("%s%s%s%s%s\n", colors->strong, what, colors->off,
           *when == '\0' ? ""
           : fits        ? ", "
                         : "\n",
           when);
    tm_summary_kinds(tables);
}

/* Warns of ranks that seem to be of different jobs. This warning is first, because everything else
 * treats the traces as one job. */
static void print_differs(const tm_table *differs, const tm_colors *colors) {
    static const struct {
        const char *what, *text;
    } lines[] = {
        {"time", "recorded at times that do not overlap:"},
        {"world size", "the traces give different numbers of ranks:"},
        {"process group", "the traces give different ranks for a process group:"},
        {"kernels", "hardly any kernel name in common:"},
    };
    enum { VALUES_SHOWN = 4 };
    if (differs->n_rows == 0)
        return;
    printf("%s! these traces may not be of one job:%s\n", colors->warning, colors->off);
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        char text[1024] = "";
        int n = 0;
        for (size_t i = 0; i < differs->n_rows; i++) {
            const tm_cell *row = tm_table_row(differs, i);
            if (strcmp(row[0].value.text, lines[l].what) != 0 || ++n > VALUES_SHOWN)
                continue;
            bool valued = strcmp(lines[l].what, "kernels") != 0;
            size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s %.60s%srank%s %.60s%s%s",
                     n == 1 ? lines[l].text : ",", valued ? row[1].value.text : "",
                     valued ? " (" : "", row[2].value.i == 1 ? "" : "s", row[3].value.text,
                     strlen(row[3].value.text) > 60 ? "..." : "", valued ? ")" : "");
        }
        if (n > VALUES_SHOWN)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", and %d more",
                     n - VALUES_SHOWN);
        if (n > 0)
            tm_console_wrap(text, 0, tm_console_width());
    }
    puts("  (show job.differs says more; the following treats them as one job)\n");
}

/* Prints one rank of a list, and before the first rank the text. *n counts the ranks. */
static void print_one_more(const char *text, int64_t rank, int *n, const tm_colors *colors) {
    if (*n == 0)
        printf("%s%s", colors->warning, text);
    if (*n < LIST_SHOWN)
        printf("%s %" PRId64, *n ? "," : "", rank);
    (*n)++;
}

static void end_ranks(int n, const tm_colors *colors) {
    if (n > 0)
        printf("%s%s\n", n > LIST_SHOWN ? ", ..." : "", colors->off);
}

/* Names the truncated traces. Prints nothing if there is only one and the next line names it. */
static void print_truncated(const tm_tables *tables, bool more, const tm_colors *colors) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    const bool said = more && sum_column(ranks, "truncated") == 1 && tm_doubt_is_cut(tables);
    int n = 0;
    for (size_t i = 0; i < ranks->n_rows && !said; i++)
        if (number(ranks, i, "truncated"))
            print_one_more("! truncated, and read up to where they are cut: the traces of rank",
                           number(ranks, i, "rank"), &n, colors);
    end_ranks(n, colors);
    if (n > 0 && !more)
        puts("");
}

/* Warns of data that was not recorded. This comes before the figures that may be wrong because of
 * it. */
static void print_integrity(const tm_tables *tables, const tm_colors *colors) {
    const tm_cell *line = tm_table_cell(tm_tables_find(tables, "job.job"), 0, "integrity");
    print_truncated(tables, !line->null, colors);
    if (line->null)
        return;
    fputs(colors->warning, stdout);
    tm_console_beside(stdout, "!", 2, line->value.text);
    fputs(colors->off, stdout);
    puts("  (show job.integrity says more)\n");
}

void tm_summary_job(const tm_tables *tables, int lines, const tm_colors *colors) {
    print_integrity(tables, colors);
    print_heading(tables, colors);
    print_differs(tm_tables_find(tables, "job.differs"), colors);
    tm_summary_verdict(tables, lines, colors);
    puts("");
}

static tm_shown_text percent(int64_t part, int64_t whole) {
    return tm_shown_percent(whole > 0 ? 100.0 * (double)part / (double)whole : 0.0, 1);
}

static void print_allreduce(const tm_table *kinds) {
    int64_t comm = 0, overlap = 0;
    for (size_t i = 0; i < kinds->n_rows; i++)
        if (strcmp(tm_table_cell(kinds, i, "kind")->value.text, "allreduce") == 0 &&
            !tm_table_cell(kinds, i, "overlap_ns")->null) {
            comm += number(kinds, i, "comm_ns");
            overlap += number(kinds, i, "overlap_ns");
        }
    if (comm > 0)
        printf(", of AllReduce %s", percent(overlap, comm).text);
}

/* Sums a column over the rows of a table. If the table has a row for each step, leaves out steps
 * that were recorded only in part. */
static int64_t sum_whole(const tm_table *table, const char *own_column) {
    bool of_steps = tm_table_column(table->def, "partial") >= 0;
    int64_t sum = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (!of_steps || number(table, i, "partial") == 0)
            sum += number(table, i, own_column);
    return sum;
}

/* Returns whether at least one rank uses several devices. The tables by step do not distinguish the
 * devices of a rank. */
static bool any_several(const tm_tables *tables) {
    return tm_tables_find(tables, "overlap.device")->n_rows > 0;
}

/* Returns whether at least one rank has a device that is nearly always idle. */
static bool any_idle(const tm_tables *tables) {
    bool any = false;
    for (size_t i = 0; i < tm_tables_find(tables, "overlap.device")->n_rows; i++)
        any = any || !tm_device_works(tables, i);
    return any;
}

/* Sums a column over whole steps (@p steps) or over ranks. If a rank has several devices, the mean
 * over its devices counts. */
static int64_t sum_of(const tm_tables *tables, bool steps, const char *own_column) {
    return steps ? sum_whole(tm_tables_find(tables, "overlap.step"), own_column)
                 : tm_device_mean_sum(tables, own_column);
}

/* Returns the time [ns] that a rank waits in receives, as a mean over ranks. Returns 0 if it is
 * negligible. The tables by rank do not include this wait, because they do not split a receive into
 * wait and transfer. */
static int64_t receives_wait(const tm_tables *tables) {
    const double shown_pct = 2.0;
    const tm_table *ranks = tm_tables_find(tables, "overlap.rank");
    const int64_t waited = sum_column(tm_tables_find(tables, "bubble.pair"), "late_sender_ns");
    const int64_t window = sum_column(ranks, "window_ns");
    const bool shown = 100.0 * (double)waited >= shown_pct * (double)window && waited > 0;
    return shown ? waited / (int64_t)ranks->n_rows : 0;
}

/* Writes " (wait 20.5 %)": the share of the time in which ranks wait for others in exposed
 * communication. Writes "" if the share is small. Also writes "" if the wait in receives is
 * printed, or if the wait is unknown for more than a tenth of the communication. */
static void write_wait(const tm_tables *tables, bool steps, int64_t window, char *out,
                       size_t size) {
    *out = '\0';
    if (any_several(tables)) /* the wait is not known for each device */
        return;
    const int64_t exposed = sum_of(tables, steps, "exposed_comm_ns");
    const int64_t wait = sum_of(tables, steps, "exposed_wait_ns");
    const int64_t unknown = sum_of(tables, steps, "exposed_unmatched_ns");
    if (receives_wait(tables) == 0 && 10 * unknown <= exposed && 100 * wait > window)
        snprintf(out, size, " (wait %s)", percent(wait, window).text);
}

/* Prints the shares of the devices' time by activity, in percent. Uses shorter words if the line is
 * too long. Leaves out communication if the job has none. */
static void print_shares(const tm_tables *tables, bool steps, const char *label, const char *idle) {
    static const char *const words[] = {"exposed comm", "exposed"};
    const int64_t window = sum_of(tables, steps, "window_ns");
    const bool comm = tm_device_mean_sum(tables, "comm_ns") > 0;
    char wait[64], exposed[128] = "", line[288];
    size_t w = 0;
    int length;
    write_wait(tables, steps, window, wait, sizeof wait);
    do {
        if (comm)
            snprintf(exposed, sizeof exposed, ", %s %s%s", words[w],
                     percent(sum_of(tables, steps, "exposed_comm_ns"), window).text, wait);
        length = snprintf(line, sizeof line, "%.32s: compute %s%s, copies %s, %s %s", label,
                          percent(sum_of(tables, steps, "compute_ns"), window).text, exposed,
                          percent(sum_of(tables, steps, "exposed_memory_ns"), window).text, idle,
                          percent(sum_of(tables, steps, "idle_ns"), window).text);
    } while (length > tm_console_width() && ++w < sizeof words / sizeof *words);
    line[0] = (char)toupper((unsigned char)line[0]);
    puts(line);
}

/* Sums the windows of the ranks whose device time was recorded [ns]. */
static int64_t known_window(const tm_tables *tables) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    int64_t window = 0;
    for (size_t i = 0; i < overlap->n_rows; i++)
        window += tm_summary_lacks_compute(tables, i) ? 0 : number(overlap, i, "window_ns");
    return window;
}

/* Returns whether to print shares within steps in addition. They are printed if whole steps cover
 * at most 90 % of the recording. */
static bool shows_steps(const tm_tables *tables) {
    const int64_t in_steps = sum_whole(tm_tables_find(tables, "overlap.step"), "window_ns");
    return number(tm_tables_find(tables, "job.job"), 0, "steps") > 0 && in_steps > 0 &&
           (double)in_steps <= 0.9 * (double)known_window(tables) && !any_several(tables);
}

/* If a part of the device's time was not recorded, the shares are uncertain. Prints the lowest and
 * the highest value that each share can have. */
static void print_bounds(const tm_tables *tables) {
    const tm_table *table = tm_tables_find(tables, "job.integrity");
    static const char *const columns[] = {"compute_least_pct", "compute_most_pct", "idle_least_pct",
                                          "idle_most_pct"};
    tm_shown_text bounds[4];
    char text[256];
    if (!tm_doubt_of_job(tables))
        return;
    for (int i = 0; i < 4; i++)
        bounds[i] = tm_shown_percent(tm_table_cell(table, 0, columns[i])->value.r, 1);
    snprintf(text, sizeof text,
             "(only the recorded part: compute could be %s to %s, idle %s to %s)", bounds[0].text,
             bounds[1].text, bounds[2].text, bounds[3].text);
    bool one = table->n_rows == 1 && !any_several(tables);
    tm_console_wrap(one ? text : "(only the recorded part)", 0, tm_console_width());
}

static bool has_verdict(const tm_table *ranks, size_t row, const char *word) {
    const tm_cell *cell = tm_table_cell(ranks, row, "verdict");
    return !cell->null && strcmp(cell->value.text, word) == 0;
}

/* Returns the rank that caused most waiting if it is not slow: the verdict names other ranks as
 * stragglers, and its own work takes at most 1 % longer than the work of the others. (Pipeline
 * stages always wait for one another.) Otherwise, returns -1. */
static int64_t cleared_rank(const tm_tables *tables) {
    const double much_pct = 1.0;
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    size_t most = 0;
    bool named = false;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const double share = tm_table_cell(ranks, i, "caused_share")->value.r;
        most = share > tm_table_cell(ranks, most, "caused_share")->value.r ? i : most;
        named |= has_verdict(ranks, i, "straggler");
    }
    const tm_cell *excess = named ? tm_table_cell(ranks, most, "excess_pct") : NULL;
    const bool slow = !excess || excess->null || excess->value.r > much_pct ||
                      has_verdict(ranks, most, "straggler") || has_verdict(ranks, most, "unknown");
    return slow ? -1 : number(ranks, most, "rank");
}

static void print_receives(const tm_tables *tables) {
    const int64_t wait_ns = receives_wait(tables), cleared = cleared_rank(tables);
    char time[32];
    tm_shown_duration(wait_ns, time, sizeof time);
    if (wait_ns > 0 && cleared >= 0)
        printf("Waits in receives: %s per rank. Rank %" PRId64
               " caused most waits, but is not slow\n",
               time, cleared);
    else if (wait_ns > 0)
        printf("Waits in receives: %s per rank (not included in \"waited\")\n", time);
}

/* If ranks have several devices, prints what their times and shares mean. */
static void print_several(const tm_tables *tables, const char *device) {
    char text[256];
    if (!any_several(tables))
        return;
    snprintf(
        text, sizeof text,
        "(ranks with several %ss: times count while any of their %ss is busy; shares are means "
        "over the %ss%s; overlap.device lists each %s)",
        device, device, device, any_idle(tables) ? " that work" : "", device);
    tm_console_wrap(text, 0, tm_console_width());
}

static void print_totals(const tm_tables *tables) {
    int64_t comm = tm_device_mean_sum(tables, "comm_ns");
    const char *device = tm_words_device(tables);
    if (known_window(tables) == 0)
        return;
    /* If the traces show only the transfers of communication, waits in communication appear as idle
     * time. */
    bool waits = number(tm_tables_find(tables, "clock.check"), 0, "transfers_alone") == 0;
    const char *idle = waits ? "idle" : "idle or waits";
    print_several(tables, device);
    print_shares(tables, false, device, idle);
    const size_t lacking = tm_summary_count_lacking(tables);
    if (lacking > 0)
        printf("(without %zu rank%s that recorded only communication)\n", lacking,
               lacking == 1 ? "" : "s");
    print_bounds(tables);
    if (shows_steps(tables))
        print_shares(tables, true, "Steps", idle);
    if (comm > 0) {
        printf("Overlap: %s of communication hides behind computation",
               percent(tm_device_mean_sum(tables, "overlap_ns"), comm).text);
        if (!any_several(tables))
            print_allreduce(tm_tables_find(tables, "overlap.kind"));
        puts("");
    }
    print_receives(tables);
}

/* Prints throughput: the user gives what a step processes, the traces give the step's length. */
static void print_rates(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "overview.job");
    static const struct {
        const char *what, *given_column, *rate_column, *each_column;
    } rates[] = {{"samples", "samples_per_step", "samples_per_s", "device_samples_per_s"},
                 {"tokens", "tokens_per_step", "tokens_per_s", "device_tokens_per_s"}};
    for (size_t i = 0; i < 2 && job->n_rows > 0; i++) {
        const tm_cell *given = tm_table_cell(job, 0, rates[i].given_column);
        const tm_cell *rate = tm_table_cell(job, 0, rates[i].rate_column);
        const tm_cell *each = tm_table_cell(job, 0, rates[i].each_column);
        if (given->null)
            continue;
        if (rate->null)
            printf("Throughput: no %s/s, because %s\n", rates[i].what,
                   tm_tables_find(tables, "steps.kind")->n_rows > 1 ? "steps are of several kinds"
                                                                    : "no whole step is marked");
        else
            printf("Throughput: %.*f %s/s, %.*f per rank, with the given %" PRId64 " per step\n",
                   rate->value.r < 1000.0, rate->value.r, rates[i].what, each->value.r < 1000.0,
                   each->value.r, given->value.i);
    }
}

void tm_summary_figures(const tm_tables *tables) {
    print_totals(tables);
    print_rates(tables);
}

/* Hashes the steps, in order, of the rank whose first row is *row. */
static uint64_t steps_hash(const tm_table *steps, size_t *row) {
    int64_t rank = number(steps, *row, "rank");
    uint64_t hash = 0;
    for (; *row < steps->n_rows && number(steps, *row, "rank") == rank; ++*row)
        hash = (hash ^ (uint64_t)number(steps, *row, "step")) * 0x9E3779B97F4A7C15u + 1;
    return hash;
}

/* Returns the hash of the steps that most ranks have, by Boyer-Moore majority vote. */
static uint64_t usual_steps(const tm_table *steps) {
    uint64_t usual = 0;
    int64_t votes = 0;
    for (size_t row = 0; row < steps->n_rows;) {
        uint64_t hash = steps_hash(steps, &row);
        usual = votes == 0 ? hash : usual;
        votes += hash == usual ? 1 : -1;
    }
    return usual;
}

static void print_odd_steps(const tm_table *steps, const tm_colors *colors) {
    uint64_t usual = usual_steps(steps);
    int odd = 0;
    for (size_t row = 0; row < steps->n_rows;) {
        size_t first = row;
        if (steps_hash(steps, &row) == usual)
            continue;
        print_one_more("! these ranks recorded other steps than most ranks:",
                       number(steps, first, "rank"), &odd, colors);
    }
    end_ranks(odd, colors);
}

static void print_ranks_without_steps(const tm_table *ranks, const tm_colors *colors) {
    int n = 0;
    for (size_t row = sum_column(ranks, "steps") > 0 ? 0 : ranks->n_rows; row < ranks->n_rows;
         row++)
        if (number(ranks, row, "steps") == 0)
            print_one_more("! no steps are marked on these ranks, so figures by step lack them:",
                           number(ranks, row, "rank"), &n, colors);
    end_ranks(n, colors);
}

typedef struct diagnostic_sum {
    int64_t count, last_rank;
    int n_ranks;
    char ranks[128]; /* the first ranks */
} diagnostic_sum;

static void add_rank(diagnostic_sum *sum, int64_t rank) {
    size_t at = strlen(sum->ranks);
    if (sum->n_ranks > 0 && rank == sum->last_rank)
        return;
    if (sum->n_ranks < LIST_SHOWN)
        snprintf(sum->ranks + at, sizeof sum->ranks - at, "%s %" PRId64, at > 0 ? "," : "", rank);
    else if (sum->n_ranks == LIST_SHOWN)
        snprintf(sum->ranks + at, sizeof sum->ranks - at, ", ...");
    sum->last_rank = rank;
    sum->n_ranks++;
}

/* Sums up a diagnostic over all rows that have it. @p row is its first row. Returns false if an
 * earlier row has the same diagnostic, because it is then already summed up. */
static bool sum_diagnostic(const tm_table *diagnostics, size_t row, diagnostic_sum *sum) {
    const char *word = tm_table_cell(diagnostics, row, "remark")->value.text;
    *sum = (diagnostic_sum){0};
    for (size_t i = 0; i < diagnostics->n_rows; i++) {
        if (strcmp(tm_table_cell(diagnostics, i, "remark")->value.text, word) != 0)
            continue;
        if (i < row)
            return false;
        sum->count += number(diagnostics, i, "count");
        add_rank(sum, number(diagnostics, i, "rank"));
    }
    return true;
}

/* Prints a line for each diagnostic of a class. The line has the count, the ranks and the meaning.
 * Returns whether the class has any diagnostics. */
static bool print_diagnostics_of(const tm_tables *tables, const char *class, const char *what,
                                 const tm_colors *colors) {
    const tm_table *diagnostics = tm_tables_find(tables, "job.remark");
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    bool any = false, skipped = strcmp(class, "skipped") == 0;
    int64_t all = sum_column(ranks, "events") + sum_column(ranks, "skipped_events");
    for (size_t i = 0; i < diagnostics->n_rows; i++) {
        diagnostic_sum sum;
        char text[640], of[32] = "", whose[160] = "";
        if (strcmp(tm_table_cell(diagnostics, i, "class")->value.text, class) != 0 ||
            strcmp(tm_table_cell(diagnostics, i, "remark")->value.text, MOSTLY_SKIPPED) == 0 ||
            !sum_diagnostic(diagnostics, i, &sum))
            continue;
        if (skipped)
            snprintf(of, sizeof of, " of %" PRId64, all);
        if (ranks->n_rows > 1)
            snprintf(whose, sizeof whose, "; rank%s%s", sum.n_ranks == 1 ? "" : "s", sum.ranks);
        snprintf(text, sizeof text, "%s (%" PRId64 "%s%s): %.400s", what, sum.count, of, whose,
                 tm_table_cell(diagnostics, i, "meaning")->value.text);
        fputs(colors->warning, stdout);
        tm_console_beside(stdout, "!", 2, text);
        fputs(colors->off, stdout);
        any = true;
    }
    return any;
}

/* Prints how much time was left out because some profilers were still starting. */
static void print_opening(const tm_table *ranks, const tm_colors *colors) {
    int64_t most = 0, least = INT64_MAX;
    char text[256];
    tm_shown_text times[2];
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const int64_t ns = number(ranks, i, "opening_ns");
        most = ns > most ? ns : most;
        least = ns > 0 && ns < least ? ns : least;
    }
    if (most == 0)
        return;
    tm_shown_durations((const int64_t[]){most - least, most}, 2, times);
    snprintf(text, sizeof text,
             "profilers started up to %s apart, so ranks waited in the first collective: up to %s "
             "of a rank is left out (job.rank, opening_ns)",
             times[0].text, times[1].text);
    fputs(colors->warning, stdout);
    tm_console_beside(stdout, "!", 2, text);
    fputs(colors->off, stdout);
}

/* Names the ranks whose traces have more unusable than usable events, because their results rest on
 * few events. */
static void print_mostly_skipped(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *diagnostics = tm_tables_find(tables, "job.remark");
    int n = 0;
    for (size_t i = 0; i < diagnostics->n_rows; i++)
        if (strcmp(tm_table_cell(diagnostics, i, "remark")->value.text, MOSTLY_SKIPPED) == 0)
            print_one_more("! less than half of the events could be used in the traces of rank",
                           number(diagnostics, i, "rank"), &n, colors);
    end_ranks(n, colors);
}

/* Prints diagnostics, except repaired and minor ones: these change no figure, and are only in
 * job.remark. */
static void print_diagnostics(const tm_tables *tables, const tm_colors *colors) {
    print_opening(tm_tables_find(tables, "job.rank"), colors);
    print_mostly_skipped(tables, colors);
    bool any = print_diagnostics_of(tables, "skipped", "events skipped", colors);
    any = print_diagnostics_of(tables, "odd", "odd, kept as it is", colors) || any;
    if (any)
        puts("  (show job.remark says in which traces)");
}

/* Warns of kernels that may be misclassified: they count as computation, but their names suggest
 * that they communicate. Does not warn if they take less than 1 % of the time of all kernels. Names
 * the kernel that takes most time. */
static void print_suspects(const tm_table *kernels, const tm_colors *colors) {
    enum { PERCENT = 1 };
    const tm_cell *largest = NULL;
    int64_t all_ns = 0, suspect_ns = 0, n = 0;
    for (size_t i = 0; i < kernels->n_rows; i++) {
        all_ns = tm_sum(all_ns, number(kernels, i, "total_ns"));
        if (!tm_table_cell(kernels, i, "may_communicate")->value.i)
            continue;
        largest = largest ? largest : tm_table_cell(kernels, i, "name");
        suspect_ns = tm_sum(suspect_ns, number(kernels, i, "total_ns"));
        n++;
    }
    if (!largest || suspect_ns < all_ns / 100 * PERCENT)
        return;
    const tm_column *column = &kernels->def->columns[0];
    char name[TM_SHOWN_MAX], text[512];
    tm_shown_cell(column, (tm_shown_unit){"", 0}, largest, name);
    snprintf(text, sizeof text,
             "counts as computation, but by its name may communicate: %s%s, %s of the kernels' "
             "time; if it does, give --comm-pattern REGEX (show kernels.kernel, may_communicate)",
             name, n > 1 ? " and others" : "", percent(suspect_ns, all_ns).text);
    fputs(colors->warning, stdout);
    tm_console_beside(stdout, "!", 2, text);
    fputs(colors->off, stdout);
}

/* Returns the number of lines that tm_summary_figures prints. */
static int figure_lines(const tm_tables *tables) {
    return 2 + 2 * any_several(tables) + (tm_summary_count_lacking(tables) > 0) +
           tm_doubt_of_job(tables) + shows_steps(tables) + (receives_wait(tables) > 0);
}

/* Returns the number of lines that verdict and advice may take. With this number, the summary of a
 * job with up to 8 ranks and without warnings fits on a screen of 24 lines. Returns 0, which means
 * no limit, if the table by rank is too long for this anyway. */
static int room(const tm_tables *tables) {
    enum { SCREEN = 24, LEAST = 5, HEADING = 1, BLANK = 1, TABLE_HEAD = 2, STORED = 1 };
    enum { MOST = 8, ALL_SHOWN = 16 }; /* ALL_SHOWN: as in the table by rank */
    const int64_t ranks = (int64_t)tm_tables_find(tables, "overlap.rank")->n_rows;
    const int64_t rows = ranks <= ALL_SHOWN ? ranks : TM_SUMMARY_RANKS_OF_MANY + 2;
    const int64_t left = SCREEN - HEADING - BLANK - TABLE_HEAD - STORED - rows -
                         figure_lines(tables) - tm_summary_state_lines(tables) -
                         (tm_tables_find(tables, "job.left_out")->n_rows > 0);
    if (ranks > MOST && ranks <= ALL_SHOWN)
        return 0;
    return left > LEAST ? (int)left : LEAST;
}

static void print_stored(const tm_tables *tables, const char *store, const char *page) {
    char text[2 * TM_PATH_MAX + 64];
    const bool advised = tm_tables_find(tables, "advice.item")->n_rows > 0;
    snprintf(text, sizeof text, "in %s; more: tmerge show %s%s%s%s", store, store,
             advised ? " [advice]" : "", page ? "; report in " : "", page ? page : "");
    fputs("Stored", stdout);
    tm_console_wrap(text, (int)strlen("Stored"), tm_console_width());
}

tm_status tm_summary_print(const tm_tables *tables, const tm_loaded *loaded, const char *store,
                           const char *page, const tm_colors *colors, tm_error *err) {
    const int lines = room(tables);
    tm_summary_job(tables, lines, colors);
    if (tm_summary_has_ranks(tables))
        TM_TRY(tm_summary_ranks(tables, colors, err));
    if (tm_summary_count_lacking(tables) == tm_tables_find(tables, "overlap.rank")->n_rows)
        TM_TRY(tm_summary_bandwidth(tables, err));
    else if (!tm_steps_capture(tables))
        tm_summary_figures(tables);
    tm_summary_state(tables);
    tm_summary_advice(tables, lines);
    tm_summary_clocks(tables, colors);
    tm_summary_missing(loaded, tables, colors);
    tm_summary_formats(tm_tables_find(tables, "job.rank"), tm_tables_find(tables, "job.format"),
                       colors);
    print_odd_steps(tm_tables_find(tables, "overlap.step"), colors);
    print_ranks_without_steps(tm_tables_find(tables, "overview.rank"), colors);
    print_suspects(tm_tables_find(tables, "kernels.kernel"), colors);
    print_diagnostics(tables, colors);
    tm_summary_left_out(tables, colors);
    print_stored(tables, store, page);
    return TM_OK;
}
