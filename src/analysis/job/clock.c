/* Analysis `clock`: how the hosts' clocks differ, and what collectives show about them. */
#include "tmerge/analysis.h"

#include "timeline/collectives.h"

enum {
    R_RANK,
    R_HOST,
    R_OFFSET,
    R_DRIFT,
    R_UNCERTAINTY,
    R_LOW,
    R_HIGH,
    R_RESIDUAL,
    R_LATE,
    R_EARLY,
    R_EARLIEST,
    R_COMPONENT,
    R_METHOD,
    R_ANCHORS,
    R_DOMAIN,
    R_SET
};

static const tm_column rank_columns[] = {
    [R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [R_HOST] = {"host", TM_TEXT, "", "Host of the rank, as in job.rank."},
    [R_OFFSET] = {"offset_ns", TM_INT, "ns",
                  "Correction of the rank's clock: aligned time minus recorded time, at the middle "
                  "of the rank's trace. Null if method is none; drift_ppb, uncertainty_ns, "
                  "component and anchors are then null, too."},
    [R_DRIFT] = {"drift_ppb", TM_REAL, "ppb", "Change of offset_ns per second of recorded time."},
    [R_UNCERTAINTY] = {"uncertainty_ns", TM_INT, "ns",
                       "Uncertainty of the rank's aligned times: their standard deviation relative "
                       "to the other clocks of the component, maximum over the trace. For method "
                       "wall: relative to all clocks, as given by --wall-uncertainty. May be an "
                       "upper bound if over 64 clocks are linked. 0 with --align=utc."},
    [R_LOW] = {"low_ns", TM_INT, "ns",
               "Lower limit of offset_ns, relative to the clock of the component that has the most "
               "anchors. It follows from causality: a collective cannot end on a rank before it "
               "has started on every rank. Null if there is no limit."},
    [R_HIGH] = {"high_ns", TM_INT, "ns",
                "Upper limit of offset_ns (see low_ns); null if there is no limit."},
    [R_RESIDUAL] =
        {"residual_ns", TM_INT, "ns",
         "How much later than other ranks this rank ends its collectives: aligned end on this rank "
         "minus the median end over all ranks, then the median over the rank's matched "
         "collectives. It shows the error of the GPU's clock, and the effect of the rank's place "
         "in rings and trees. Null without matched collectives."},
    [R_LATE] = {"ends_late_ns", TM_INT, "ns",
                "How much later than the earliest rank of its host this rank ends its collectives, "
                "if the lag is steady and the GPU's clock is right: kernels start right after "
                "their launches. The rank really leaves late, for example because its network is "
                "slow. Null without such a lag, and if the ranks may have different clocks."},
    [R_EARLY] = {"early_kernels", TM_INT, "",
                 "Number of GPU events that start before their launch."},
    [R_EARLIEST] = {"earliest_ns", TM_INT, "ns",
                    "Largest time by which a GPU event starts before its launch; null if there is "
                    "no such event. Up to 30 us is normal for NPUs, because profilers convert "
                    "device times to host times. Otherwise the GPU's clock is wrong."},
    [R_COMPONENT] =
        {"component", TM_INT, "",
         "Number of the component. Clocks of ranks in the same component can be compared."},
    [R_METHOD] =
        {"method", TM_TEXT, "",
         "How the clock was aligned. fit: fitted to ends of collectives that several clocks share. "
         "wall: taken as recorded. none: cannot be compared with other clocks."},
    [R_ANCHORS] = {"anchors", TM_INT, "",
                   "Number of collectives whose ends the fit of this clock used. Each of them "
                   "links this clock to another clock."},
    [R_DOMAIN] = {"domain", TM_INT, "",
                  "Number of the clock domain. Ranks of the same domain share a clock: all ranks "
                  "of a host, unless ends of collectives show otherwise."},
    [R_SET] = {"set_ns", TM_INT, "ns",
               "Approximate jump of the rank's clock during the recording; null if it did not "
               "jump. Aligned times of the rank may be wrong by as much as set_ns. If there are "
               "only two clocks, both have the value, because either may have jumped."},
};

static const tm_table_def rank_def = {
    .name = "clock.rank",
    .doc = "A row for each rank: how its clock relates to the job's clock.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_EARLY,
    .form = TM_FORM_BARS,
};

enum {
    C_COLLECTIVES,
    C_MATCHED,
    C_INCOMPLETE,
    C_UNMATCHED,
    C_INFERRED,
    C_TRANSFERS,
    C_SUSPECT,
    C_BEFORE,
    C_AFTER,
    C_WORST_BEFORE,
    C_WORST_AFTER,
    C_ALIGN,
    N_CHECK_COLUMNS
};

static const tm_column check_columns[N_CHECK_COLUMNS] = {
    [C_COLLECTIVES] = {"collectives", TM_INT, "",
                       "Number of collectives that were found, complete or not."},
    [C_MATCHED] = {"matched", TM_INT, "",
                   "Number of collectives in which every member has a matched kernel, without "
                   "suspect collectives (column suspect)."},
    [C_INCOMPLETE] = {"incomplete", TM_INT, "",
                      "Number of collectives in which some member has no matched kernel, without "
                      "suspect collectives (column suspect)."},
    [C_UNMATCHED] = {"unmatched", TM_INT, "",
                     "Number of communication kernels that belong to no collective; "
                     "collectives.unmatched has the reasons."},
    [C_INFERRED] = {"inferred", TM_INT, "",
                    "Number of communication kernels without metadata whose collective was "
                    "inferred from the waits between ranks."},
    [C_TRANSFERS] =
        {"transfers_alone", TM_INT, "",
         "Number of communication kernels that their traces record only from the arrival of the "
         "last rank on, without the wait before. Such traces do not show who waited."},
    [C_SUSPECT] = {"suspect", TM_INT, "",
                   "Number of collectives that may be mismatched: members differ in kind or size, "
                   "a rank occurs twice, or the collective violates causality on aligned clocks by "
                   "far more than the uncertainty."},
    [C_BEFORE] = {"violations_before", TM_INT, "",
                  "Number of synchronising collectives in which a rank ended before another rank "
                  "started, on clocks as recorded. Null if align is none."},
    [C_AFTER] = {"violations_after", TM_INT, "",
                 "Number of synchronising collectives in which a rank ended before another rank "
                 "started, on aligned clocks. Null if align is none."},
    [C_WORST_BEFORE] = {"worst_before_ns", TM_INT, "ns",
                        "Largest time by which a rank ended before another rank started in the "
                        "same collective, on clocks as recorded; null without violations."},
    [C_WORST_AFTER] = {"worst_after_ns", TM_INT, "ns",
                       "Largest time by which a rank ended before another rank started in the same "
                       "collective, on aligned clocks; null without violations."},
    [C_ALIGN] = {"align", TM_TEXT, "",
                 "How clocks were aligned. auto: fitted to ends of collectives. utc: taken as "
                 "recorded. none: clocks are not compared."},
};

static const tm_table_def check_def = {
    .name = "clock.check",
    .doc = "One row: how much communication was matched, and whether the clocks obey causality.",
    TM_ARRAY(columns, check_columns),
    .n_keys = 0,
    .top = -1,
};

/* Results of matching on each process. The job combines the rows to sums and maxima. */
static const tm_table_def part_def = TM_INTERNAL_TABLE(
    "clock.part", "A row for each process: its part of clock.check.", check_columns, 0);

static const tm_table_def *const defs[] = {&rank_def, &check_def, &part_def};

static const char *const method_words[] = {
    [TM_CLOCK_AS_RECORDED] = "wall", [TM_CLOCK_FITTED] = "fit", [TM_CLOCK_UNKNOWN] = "none"};

/* If a value is unknown, its cell stays null. */
static void set_clock(tm_cell *row, const tm_rank_clock *clock) {
    tm_cell_set_int(&row[R_DOMAIN], clock->domain);
    if (clock->step_ns != 0)
        tm_cell_set_int(&row[R_SET], clock->step_ns);
    if (clock->ends_late_ns > 0)
        tm_cell_set_int(&row[R_LATE], clock->ends_late_ns);
    if (clock->n_residuals > 0)
        tm_cell_set_int(&row[R_RESIDUAL], clock->residual_ns);
    if (clock->way == TM_CLOCK_UNKNOWN)
        return;
    tm_cell_set_int(&row[R_OFFSET], clock->offset_ns);
    tm_cell_set_real(&row[R_DRIFT], clock->drift_ppb);
    tm_cell_set_int(&row[R_UNCERTAINTY], clock->uncertainty_ns);
    tm_cell_set_int(&row[R_COMPONENT], clock->component);
    tm_cell_set_int(&row[R_ANCHORS], clock->anchors);
    if (clock->bounded) {
        tm_cell_set_int(&row[R_LOW], clock->low_ns);
        tm_cell_set_int(&row[R_HIGH], clock->high_ns);
    }
}

static tm_status clock_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    int64_t early = 0, earliest = 0;
    for (size_t row = 0; row < timeline->n_events; row++) {
        uint32_t launch = timeline->launch[row];
        int64_t by =
            launch == TM_NO_EVENT ? 0 : timeline->begin_ns[launch] - timeline->begin_ns[row];
        early += by > 0;
        earliest = by > earliest ? by : earliest;
    }
    tm_cell *row = tm_table_add_row(tm_tables_find(out, rank_def.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[R_RANK], timeline->rank);
    tm_cell_set_int(&row[R_EARLY], early);
    if (early > 0)
        tm_cell_set_int(&row[R_EARLIEST], earliest);
    set_clock(row, &timeline->clock);
    return tm_table_set_text(tm_tables_find(out, rank_def.name), &row[R_METHOD],
                             method_words[timeline->clock.way], err);
}

/* Counts violations on aligned clocks. Violations on clocks as recorded were counted during
 * alignment. */
static tm_status clock_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_comm_record *records = own->records.data;
    const tm_instance *instances = own->instances.data;
    const tm_left_out *left_out = own->left_out.data;
    /* `states` is indexed by tm_instance_state */
    int64_t states[3] = {0}, violations = 0, worst = 0, unmatched = 0, inferred = 0, alone = 0;
    for (size_t i = 0; i < own->left_out.n; i++)
        unmatched += left_out[i].count;
    for (size_t i = 0; i < own->records.n; i++) {
        inferred += records[i].way == TM_MATCH_INFERRED;
        alone += records[i].transfer_alone;
    }
    for (size_t i = 0; i < own->instances.n; i++) {
        states[instances[i].state]++;
        int64_t lead =
            instances[i].waits ? tm_members_lead(records + instances[i].first, instances[i].n) : 0;
        violations += lead > 0;
        worst = lead > worst ? lead : worst;
    }
    tm_cell *row = tm_table_add_row(tm_tables_find(out, part_def.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[C_COLLECTIVES], (int64_t)own->instances.n);
    tm_cell_set_int(&row[C_MATCHED], states[TM_INSTANCE_COMPLETE]);
    tm_cell_set_int(&row[C_INCOMPLETE], states[TM_INSTANCE_INCOMPLETE]);
    tm_cell_set_int(&row[C_SUSPECT], states[TM_INSTANCE_SUSPECT]);
    tm_cell_set_int(&row[C_UNMATCHED], unmatched);
    tm_cell_set_int(&row[C_INFERRED], inferred);
    tm_cell_set_int(&row[C_TRANSFERS], alone);
    tm_cell_set_int(&row[C_BEFORE], own->violations_before);
    tm_cell_set_int(&row[C_AFTER], violations);
    tm_cell_set_int(&row[C_WORST_BEFORE], own->worst_before_ns);
    tm_cell_set_int(&row[C_WORST_AFTER], worst);
    return TM_OK;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Combines the rows of all processes: sums the columns with counts, which come first, and takes the
 * maximum of the columns with times. Violations stay null if clocks are not compared. */
static tm_status sum_parts(const tm_table *parts, tm_table *check, const tm_job *job,
                           tm_error *err) {
    int64_t sums[N_CHECK_COLUMNS] = {0};
    for (size_t i = 0; i < parts->n_rows; i++) {
        const tm_cell *part = tm_table_row(parts, i);
        for (int c = C_COLLECTIVES; c <= C_AFTER; c++)
            sums[c] += part[c].value.i;
        for (int c = C_WORST_BEFORE; c <= C_WORST_AFTER; c++)
            sums[c] = larger(sums[c], part[c].value.i);
    }
    tm_cell *row = tm_table_add_row(check);
    if (!row)
        return tm_fail_memory(err);
    for (int c = C_COLLECTIVES; c <= (job->aligned ? C_AFTER : C_SUSPECT); c++)
        tm_cell_set_int(&row[c], sums[c]);
    for (int c = C_WORST_BEFORE; c <= C_WORST_AFTER; c++)
        if (job->aligned && sums[c] > 0)
            tm_cell_set_int(&row[c], sums[c]);
    return tm_table_set_text(check, &row[C_ALIGN], job->align, err);
}

/* Copies the hosts' names from job.rank. Both tables have a row for each rank, in the same order.
 */
static tm_status clock_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, rank_def.name);
    const tm_table *ranks = tm_tables_find(out, "job.rank");
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *from = tm_table_cell(ranks, i, "host");
        TM_TRY(tm_table_set_text(table, &tm_table_row(table, i)[R_HOST],
                                 from->null ? NULL : from->value.text, err));
    }
    return sum_parts(tm_tables_find(out, part_def.name), tm_tables_find(out, check_def.name), job,
                     err);
}

const tm_analysis tm_analysis_clock = {
    .name = "clock",
    .summary = "how far apart the hosts' clocks were, and how many operations were matched",
    TM_ARRAY(tables, defs),
    .rank = clock_rank,
    .collectives = clock_own,
    .job = clock_job,
};
