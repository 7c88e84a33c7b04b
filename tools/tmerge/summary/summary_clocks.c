/* Lines of the summary on clocks and matching. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/words.h"
#include "analysis/stragglers/findings.h"
#include "summary/summary.h"
#include "summary/summary_text.h"
#include "timeline/collectives.h"
#include "tmerge/reader.h"

enum { REASONS_SHOWN = 4 };

/* A GPU event may start before its launch by up to this time [ns], because profilers make errors
 * when they convert times. If it starts earlier than that, a clock is wrong. Measured: 0 with
 * NVIDIA, where a launch takes at least 2 us; 2 us with AMD; 24 us with NPUs. The clock of a TPU
 * was wrong by 680 us. */
#define EARLY_NS INT64_C(100000)

static bool has_format(const tm_table *ranks, const char *name) {
    for (size_t row = 0; row < ranks->n_rows; row++)
        if (strcmp(tm_table_cell(ranks, row, "format")->value.text, name) == 0)
            return true;
    return false;
}

/* Prints the formats' advice on kernels whose group has no name. If there are no such kernels,
 * prints the advice on kernels of groups that have a name, but whose ranks are unknown. */
static void print_advice(const tm_table *unmatched, const tm_table *ranks) {
    bool unnamed = false, unknown = false;
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    for (size_t row = 0; row < unmatched->n_rows; row++)
        if (strcmp(tm_table_cell(unmatched, row, "reason")->value.text, "group unknown") == 0) {
            unknown = true;
            unnamed = unnamed || tm_table_cell(unmatched, row, "group")->null;
        }
    for (size_t i = 0; i < n; i++) {
        const char *advice = unnamed   ? formats[i]->advice_unnamed_group
                             : unknown ? formats[i]->advice_unknown_group
                                       : NULL;
        if (advice && has_format(ranks, formats[i]->name))
            printf("  (%s)\n", advice);
    }
}

/* Returns a profiler that writes the metadata that the ranks' traces may lack; NULL if there is
 * none. */
static const char *richer_profiler(const tm_table *ranks) {
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    for (size_t i = 0; i < n; i++)
        if (formats[i]->richer && has_format(ranks, formats[i]->name))
            return formats[i]->richer;
    return NULL;
}

/* Prints what to do about a reason for unmatched communication. */
static void print_remedy(const char *reason, const char *richer) {
    static const struct {
        const char *reason, *what, *richer_does; /* richer_does: what a profiler with more metadata
                                                    would do. what and richer_does may be NULL. */
    } remedies[] = {
        {"order unproven", "times do not prove a group", "writes metadata"},
        {"no metadata", NULL, "writes the metadata of more kernels"},
        {"one-sided", "the kernels do not correspond; another recording does not help", NULL},
        {"peer unknown", NULL, "records the peers of transfers"},
        {"transfers differ", "record the same steps on all ranks", NULL},
        {"too few", "record more steps", NULL},
        {"signatures differ", "record the same steps on all ranks", "writes metadata"},
        {"incoherent", NULL, "writes metadata of collectives"},
        {"ambiguous", NULL, "writes metadata of collectives"},
        {"no counterpart", "give the traces of all ranks, over the same time", NULL},
        {"ends need not meet", "a broadcast is matched only if no kernel next to it is missing",
         "numbers collectives"},
    };
    size_t i = 0, n = sizeof remedies / sizeof *remedies;
    while (i < n && strcmp(remedies[i].reason, reason) != 0)
        i++;
    const char *what = i < n ? remedies[i].what : NULL;
    const char *does = i < n && richer ? remedies[i].richer_does : NULL;
    if (what || does)
        printf("  (%s: %s%s%s%s%s)\n", reason, what ? what : "", what && does ? "; " : "",
               does ? richer : "", does ? " " : "", does ? does : "");
}

/* In a job of one rank, nothing can be matched, and the verdict says so. */
static bool has_unmatched(const tm_tables *tables) {
    return number(tm_tables_find(tables, "clock.check"), 0, "unmatched") > 0 &&
           tm_tables_find(tables, "job.rank")->n_rows > 1;
}

bool tm_summary_mostly_unmatched(const tm_tables *tables) {
    const tm_cell *share =
        tm_table_cell(tm_tables_find(tables, "stragglers.job"), 0, "matched_share");
    return has_unmatched(tables) && (share->null || share->value.r < TM_MATCHED_CLEARED);
}

void tm_summary_unmatched(const tm_tables *tables, bool remedies, const tm_colors *colors) {
    static const char *const words[] = {
#define REASON_WORD(name, word) word,
        TM_UNMATCHED_REASONS(REASON_WORD)
#undef REASON_WORD
    };
    enum { N_WORDS = sizeof words / sizeof *words };
    const tm_table *table = tm_tables_find(tables, "collectives.unmatched");
    int64_t unmatched = number(tm_tables_find(tables, "clock.check"), 0, "unmatched");
    const char *reported[REASONS_SHOWN] = {NULL};
    int64_t counts[N_WORDS] = {0};
    for (size_t row = 0; row < table->n_rows; row++)
        for (size_t w = 0; w < N_WORDS; w++)
            if (strcmp(tm_table_cell(table, row, "reason")->value.text, words[w]) == 0)
                counts[w] += number(table, row, "count");
    const bool of_cpu = strcmp(tm_words_device(tables), "CPU") == 0;
    printf("%s! %" PRId64 " of %" PRId64 " %s could not be matched:", colors->warning, unmatched,
           sum_column(tm_tables_find(tables, "overlap.kind"), "count"),
           of_cpu ? "communication operations" : "communication kernels");
    for (size_t shown = 0; shown < REASONS_SHOWN; shown++) {
        size_t most = 0;
        for (size_t w = 1; w < N_WORDS; w++)
            most = counts[w] > counts[most] ? w : most;
        if (counts[most] > 0) {
            printf("%s%s %" PRId64, shown > 0 ? ", " : "\n  ", words[most], counts[most]);
            reported[shown] = words[most];
        }
        counts[most] = 0;
    }
    printf("%s\n", colors->off);
    for (size_t i = 0; i < REASONS_SHOWN && remedies; i++)
        if (reported[i])
            print_remedy(reported[i], richer_profiler(tm_tables_find(tables, "job.rank")));
    print_advice(table, tm_tables_find(tables, "job.rank"));
}

/* Summary of clock.rank. */
typedef struct clocks {
    int64_t ranks, domains, components;
    int64_t worst_ns;        /* maximum uncertainty */
    int64_t low_ns, high_ns; /* minimum and maximum offset */
    int64_t early;        /* number of ranks with GPU events that start long before their launch */
    int64_t earliest_ns;  /* the longest time from such an event to its launch */
    int64_t late;         /* number of ranks with kernels that end long after a wait for them */
    int64_t latest_ns;    /* the longest time from such a wait to the kernel's end */
    int64_t alone;        /* number of ranks whose clock cannot be compared with others */
    const char *split;    /* name of a host whose ranks have different clocks */
    size_t set[2], n_set; /* number of domains (ranks that share a clock) whose clock was set during
                             the recording, and the rows of the first two */
} clocks;

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool is_first_of_domain(const tm_table *ranks, size_t row) {
    for (size_t i = 0; i < row; i++)
        if (number(ranks, i, "domain") == number(ranks, row, "domain"))
            return false;
    return true;
}

static void look_for_late(const tm_table *integrity, clocks *c) {
    for (size_t row = 0; row < integrity->n_rows; row++) {
        const tm_cell *latest = tm_table_cell(integrity, row, "latest_ns");
        const int64_t ns = latest->null ? 0 : latest->value.i;
        c->late += ns > EARLY_NS;
        c->latest_ns = larger(c->latest_ns, ns);
    }
}

static clocks look_at(const tm_table *ranks) {
    clocks c = {.ranks = (int64_t)ranks->n_rows, .low_ns = INT64_MAX, .high_ns = INT64_MIN};
    const char *host = NULL;
    int64_t domain = -1;
    for (size_t row = 0; row < ranks->n_rows; row++) {
        const tm_cell *name = tm_table_cell(ranks, row, "host");
        bool same = host && !name->null && strcmp(host, name->value.text) == 0;
        c.split = same && number(ranks, row, "domain") != domain ? host : c.split;
        host = name->null ? NULL : name->value.text;
        domain = number(ranks, row, "domain");
        c.domains = larger(c.domains, domain + 1);
        const tm_cell *early = tm_table_cell(ranks, row, "earliest_ns");
        c.early += !early->null && early->value.i > EARLY_NS;
        c.earliest_ns = early->null ? c.earliest_ns : larger(c.earliest_ns, early->value.i);
        if (tm_table_cell(ranks, row, "offset_ns")->null) {
            c.alone++;
            continue;
        }
        c.components = larger(c.components, number(ranks, row, "component") + 1);
        c.worst_ns = larger(c.worst_ns, number(ranks, row, "uncertainty_ns"));
        c.high_ns = larger(c.high_ns, number(ranks, row, "offset_ns"));
        c.low_ns = -larger(-c.low_ns, -number(ranks, row, "offset_ns"));
        if (number(ranks, row, "set_ns") != 0 && is_first_of_domain(ranks, row)) {
            if (c.n_set < 2)
                c.set[c.n_set] = row;
            c.n_set++;
        }
    }
    return c;
}

/* Writes the state of the clocks. Returns whether it is known that they agree. */
static bool write_state(const clocks *c, const char *align, char *out, size_t size) {
    char uncertainty[32], apart[32], were[64] = "";
    if (strcmp(align, "none") == 0) {
        snprintf(out, size, "clocks not compared (--align=none)");
    } else if (strcmp(align, "utc") == 0) {
        snprintf(out, size, "clocks as recorded, not aligned (--align=utc)");
    } else if (c->domains <= 1) {
        snprintf(out, size, "one clock");
        return true;
    } else if (c->components > 1 || c->alone > 0) {
        snprintf(out, size, "clocks %s",
                 c->alone == c->ranks ? "not aligned" : "only partly aligned");
    } else {
        tm_shown_duration(c->worst_ns, uncertainty, sizeof uncertainty);
        tm_shown_duration(c->high_ns - c->low_ns, apart, sizeof apart);
        if (c->high_ns > c->low_ns)
            snprintf(were, sizeof were, " (were %s apart)", apart);
        snprintf(out, size, "%" PRId64 " clocks agree to %s%s", c->domains, uncertainty, were);
        return true;
    }
    return false;
}

static void warn_components(const clocks *c, const tm_colors *colors) {
    if (c->components > 1) {
        printf("%s! the %s fall into %" PRId64
               " parts that no collective links: times of different\n  parts are compared by wall "
               "clocks, which may be wrong (show clock.rank)%s\n",
               colors->warning, c->split ? "clocks" : "hosts", c->components, colors->off);
    }
    if (c->alone == c->ranks)
        printf("%s! no clock can be compared with another: neither the times of the traces\n  nor "
               "collectives allow it (show clock.rank)%s\n",
               colors->warning, colors->off);
    else if (c->alone > 0)
        printf("%s! the clock%s of %" PRId64
               " rank%s cannot be compared with the others: neither their times\n  nor collectives "
               "allow it (show clock.rank says which)%s\n",
               colors->warning, c->alone == 1 ? "" : "s", c->alone, c->alone == 1 ? "" : "s",
               colors->off);
}

static void print_clock(const tm_table *ranks, size_t row) {
    const tm_cell *host = tm_table_cell(ranks, row, "host");
    if (host->null)
        printf("rank %" PRId64, number(ranks, row, "rank"));
    else
        fputs(host->value.text, stdout);
}

/* Warns of clocks that were set during the recording. If two clocks have collectives only with each
 * other, it is not known which of them was set. The same collectives fit both possibilities, with
 * opposite signs. */
static void warn_set(const clocks *c, const tm_table *ranks, const tm_colors *colors) {
    if (c->n_set == 0)
        return;
    int64_t set_ns = number(ranks, c->set[0], "set_ns");
    int64_t sum_ns = c->n_set == 2 ? set_ns + number(ranks, c->set[1], "set_ns") : set_ns;
    bool either = llabs(sum_ns) < llabs(set_ns) / 10;
    printf("%s! the clock of ", colors->warning);
    print_clock(ranks, c->set[0]);
    if (either) {
        printf(" or of ");
        print_clock(ranks, c->set[1]);
    }
    printf(" was changed by about ");
    print_time(llabs(set_ns));
    printf(" during the recording: its times are wrong by as much");
    if (c->n_set > 1 && !either)
        printf(";\n  %zu clocks were changed in all (show clock.rank)", c->n_set);
    puts(colors->off);
}

/* Warns of kernels that end after the host had waited for them. Either the clock or the ends of
 * these kernels must be wrong. */
static void warn_late(const clocks *c, const tm_tables *tables, const tm_colors *colors) {
    if (c->late == 0)
        return;
    printf("%s! the times of the %s%s of ", colors->warning, tm_words_device(tables),
           c->late == 1 ? "" : "s");
    print_counted(c->late, "rank", " are wrong: kernels end up to ");
    print_time(c->latest_ns);
    printf("\n  after the host had waited for them (show job.integrity says which)%s\n",
           colors->off);
}

/* Warns of ranks that leave collectives later than other ranks with the same clock. */
static void warn_slow_ends(const tm_table *ranks, const tm_colors *colors) {
    size_t n = 0, most = 0;
    for (size_t row = 0; row < ranks->n_rows; row++) {
        const int64_t ns = number(ranks, row, "ends_late_ns");
        most = n == 0 || ns > number(ranks, most, "ends_late_ns") ? row : most;
        n += ns > 0;
    }
    if (n == 0)
        return;
    printf("%s! rank %" PRId64, colors->warning, number(ranks, most, "rank"));
    if (n > 1)
        printf(" and %zu more leave", n - 1);
    printf("%s collectives %s", n > 1 ? "" : " leaves", n > 1 ? "up to " : "");
    print_time(number(ranks, most, "ends_late_ns"));
    printf(
        " later than other ranks of %s host:\n  look at %s network, and at the path from the GPU "
        "to it. On another machine,\n  the clock would differ instead (--host-map)%s\n",
        n > 1 ? "their" : "its", n > 1 ? "their" : "its", colors->off);
}

static void warn_clocks(const clocks *c, const tm_tables *tables, const tm_colors *colors) {
    warn_components(c, colors);
    if (c->split)
        printf("%s! the ranks of %s do not share a clock: each is aligned by itself%s\n",
               colors->warning, c->split, colors->off);
    warn_slow_ends(tm_tables_find(tables, "clock.rank"), colors);
    warn_set(c, tm_tables_find(tables, "clock.rank"), colors);
    warn_late(c, tables, colors);
    if (c->early == 0)
        return;
    bool one = c->early == 1;
    printf("%s! the clock%s of the %s%s of ", colors->warning, one ? "" : "s",
           tm_words_device(tables), one ? "" : "s");
    print_counted(c->early, "rank", one ? " is" : " are");
    printf(" wrong: kernels begin up to ");
    print_time(c->earliest_ns);
    printf("\n  before their launch (show clock.rank says which)%s\n", colors->off);
}

/* Warns of collectives that a rank left before another entered them. If this holds for most
 * collectives of a single clock, their kernels are not of the same operations. */
static void warn_causality(const clocks *c, const tm_table *check, bool fitted,
                           const tm_colors *colors) {
    const int64_t violations = number(check, 0, "violations_after");
    const bool one = c->domains == 1, most = 2 * violations >= number(check, 0, "matched");
    if (violations == 0)
        return;
    printf("%s! %s", colors->warning,
           one && most ? "these traces may be of several runs: on one clock,\n  in "
           : one       ? "on one clock, in "
           : fitted    ? "clocks still disagree: in "
                       : "clocks disagree: in ");
    print_counted(violations, "collective", " one rank ended up to ");
    print_time(number(check, 0, "worst_after_ns"));
    printf("%sbefore another started%s\n", one && most ? " " : "\n  ", colors->off);
}

/* Returns whether the groups of operations may have more ranks than were found. */
static bool are_open(const tm_tables *tables) {
    const tm_table *kinds = tm_tables_find(tables, "collectives.kind");
    bool at_least = false;
    for (size_t row = 0; row < kinds->n_rows; row++) {
        const tm_cell *cell = tm_table_cell(kinds, row, "at_least");
        at_least = at_least || (!cell->null && cell->value.i != 0);
    }
    return at_least;
}

static void warn_at_least(const tm_tables *tables, const tm_colors *colors) {
    if (are_open(tables))
        printf("%s! some inferred groups may have more ranks: their waits are lower bounds\n  "
               "(show collectives.kind says which)%s\n",
               colors->warning, colors->off);
}

/* Returns whether the rank that came last is also known for some incomplete collectives. There are
 * then more collectives with a known last rank than matched ones. */
static bool barriers_tell(const tm_tables *tables, int64_t matched) {
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    bool more = false;
    for (size_t i = 0; i < ranks->n_rows; i++)
        more = more || number(ranks, i, "collectives") > matched;
    return more;
}

/* Appends "; 76 of 84 collectives complete (8 lack ranks), 189 kernels matched without
 * metadata". */
static void append_matched(const tm_tables *tables, char *out, size_t size) {
    const tm_table *check = tm_tables_find(tables, "clock.check");
    const int64_t matched = number(check, 0, "matched"), found = number(check, 0, "collectives");
    const int64_t inferred = number(check, 0, "inferred"), lack = number(check, 0, "incomplete");
    char of[32] = "", lacking[96] = "", without[64] = "";
    if (found == 0)
        return;
    if (matched < found)
        snprintf(of, sizeof of, " of %" PRId64, found);
    if (lack > 0)
        snprintf(lacking, sizeof lacking, " (%" PRId64 " lack%s ranks%s)", lack,
                 lack == 1 ? "s" : "",
                 barriers_tell(tables, matched) ? "; barriers among them show who came last" : "");
    if (inferred > 0)
        snprintf(without, sizeof without, ", %" PRId64 " %s matched without metadata", inferred,
                 strcmp(tm_words_device(tables), "CPU") == 0 ? "operations" : "kernels");
    snprintf(out + strlen(out), size - strlen(out), "; %" PRId64 "%s collective%s complete%s%s%s",
             matched, of, found == 1 ? "" : "s", are_open(tables) ? " as far as known" : "",
             lacking, without);
}

static const char *align_of(const tm_table *check) {
    const tm_cell *align = tm_table_cell(check, 0, "align");
    return align->null ? "utc" : align->value.text;
}

bool tm_summary_agreement(const tm_tables *tables, char *out, size_t size) {
    const tm_table *check = tm_tables_find(tables, "clock.check");
    const clocks c = look_at(tm_tables_find(tables, "clock.rank"));
    *out = '\0';
    if (c.ranks < 2) /* nothing to match */
        return true;
    const bool agree = write_state(&c, align_of(check), out, size);
    append_matched(tables, out, size);
    return agree && !c.split && c.n_set == 0 && number(check, 0, "violations_after") == 0;
}

void tm_summary_clocks(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *check = tm_tables_find(tables, "clock.check");
    const bool fitted = strcmp(align_of(check), "auto") == 0;
    clocks c = look_at(tm_tables_find(tables, "clock.rank"));
    look_for_late(tm_tables_find(tables, "job.integrity"), &c);
    int64_t found = number(check, 0, "collectives"), suspect = number(check, 0, "suspect");
    if (number(check, 0, "inferred") > 0)
        warn_at_least(tables, colors);
    if (fitted)
        warn_clocks(&c, tables, colors);
    warn_causality(&c, check, fitted, colors);
    if (suspect > 0)
        printf("%s! the kernels of %" PRId64 " of %" PRId64
               " collectives contradict one another (kind, size or time)%s\n",
               colors->warning, suspect, found, colors->off);
    if (has_unmatched(tables) && !tm_summary_mostly_unmatched(tables))
        tm_summary_unmatched(tables, false, colors);
}
