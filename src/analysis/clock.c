/* Analysis `clock`: how the hosts' clocks stood, and what the collectives say of them. */
#include "analyses.h"

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
    R_EARLY,
    R_COMPONENT,
    R_METHOD,
    R_ANCHORS,
    N_RANK_COLUMNS
};

static const tm_column rank_columns[N_RANK_COLUMNS] = {
    [R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [R_HOST] = {"host", TM_TEXT, "", "Host of the rank, as in job.rank."},
    [R_OFFSET] = {"offset_ns", TM_INT, "ns",
                  "Aligned minus recorded time at the middle of the rank's own trace."},
    [R_DRIFT] = {"drift_ppb", TM_REAL, "ppb", "Its change per second of recorded time."},
    [R_UNCERTAINTY] = {"uncertainty_ns", TM_INT, "ns", "Of the offset; 0 for clocks as recorded."},
    [R_LOW] = {"low_ns", TM_INT, "ns",
               "Lower end of the offset's guaranteed interval; null where there is none."},
    [R_HIGH] = {"high_ns", TM_INT, "ns", "Upper end of the same."},
    [R_RESIDUAL] = {"residual_ns", TM_INT, "ns",
                    "Median of the rank's matched ends against the fit; null without a fit."},
    [R_EARLY] = {"early_kernels", TM_INT, "", "GPU events that begin before their launch."},
    [R_COMPONENT] = {"component", TM_INT, "",
                     "Ranks of one component have clocks that can be compared."},
    [R_METHOD] = {"method", TM_TEXT, "", "fit, wall (as recorded) or none."},
    [R_ANCHORS] = {"anchors", TM_INT, "", "Collectives used for the fit."},
};

static const tm_table_def rank_def = {
    .name = "clock.rank",
    .doc = "A row for each rank: its clock against the job's.",
    .columns = rank_columns,
    .n_columns = N_RANK_COLUMNS,
    .n_keys = 1,
    .top = R_EARLY,
};

enum {
    C_COLLECTIVES,
    C_MATCHED,
    C_INCOMPLETE,
    C_UNMATCHED,
    C_SUSPECT,
    C_BEFORE,
    C_AFTER,
    C_WORST_BEFORE,
    C_WORST_AFTER,
    N_CHECK_COLUMNS
};

static const tm_column check_columns[N_CHECK_COLUMNS] = {
    [C_COLLECTIVES] = {"collectives", TM_INT, "", "Operations found, complete or not."},
    [C_MATCHED] = {"matched", TM_INT, "", "Operations of which every member gave a kernel."},
    [C_INCOMPLETE] = {"incomplete", TM_INT, "", "Operations of which some members gave none."},
    [C_UNMATCHED] = {"unmatched", TM_INT, "",
                     "Communication kernels that belong to no operation; why stands in "
                     "collectives.unmatched."},
    [C_SUSPECT] = {"suspect", TM_INT, "",
                   "Operations whose members contradict one another: kind, size, a rank twice."},
    [C_BEFORE] = {"violations_before", TM_INT, "",
                  "Synchronising operations in which a rank ended before another began, on clocks "
                  "as recorded."},
    [C_AFTER] = {"violations_after", TM_INT, "", "The same on aligned clocks."},
    [C_WORST_BEFORE] = {"worst_before_ns", TM_INT, "ns",
                        "The largest such lead, on clocks as recorded; null without violation."},
    [C_WORST_AFTER] = {"worst_after_ns", TM_INT, "ns", "The same on aligned clocks."},
};

static const tm_table_def check_def = {
    .name = "clock.check",
    .doc = "One row: what was matched, and whether clocks obey causality.",
    .columns = check_columns,
    .n_columns = N_CHECK_COLUMNS,
    .n_keys = 0,
    .top = -1,
};

/* What each process matched; the job's row is their sum. */
static const tm_table_def part_def = {
    .name = "clock.part",
    .doc = "A row for each process: its part of clock.check.",
    .columns = check_columns,
    .n_columns = N_CHECK_COLUMNS,
    .n_keys = 0,
    .top = -1,
    .internal = true,
};

static const tm_table_def *const defs[] = {&rank_def, &check_def, &part_def};

static tm_status clock_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    int64_t early = 0;
    for (size_t row = 0; row < timeline->n_events; row++)
        early += timeline->launch[row] != TM_NO_EVENT &&
                 timeline->begin_ns[row] < timeline->begin_ns[timeline->launch[row]];
    tm_cell *row = tm_table_add_row(tm_tables_find(out, rank_def.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[R_RANK], timeline->rank);
    tm_cell_set_int(&row[R_EARLY], early);
    return TM_OK;
}

/* How far the first end lies before the last begin: nobody can leave before all have come. */
static int64_t lead_of(const tm_comm_record *members, const tm_instance *instance) {
    int64_t first_end = members->end_ns;
    for (size_t i = 1; i < instance->n; i++)
        first_end = members[i].end_ns < first_end ? members[i].end_ns : first_end;
    return instance->last_ns - first_end;
}

static tm_status clock_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_comm_record *records = own->records.data;
    const tm_instance *instances = own->instances.data;
    const tm_left_out *left_out = own->left_out.data;
    int64_t states[3] = {0}, violations = 0, worst = 0, unmatched = 0;
    for (size_t i = 0; i < own->left_out.n; i++)
        unmatched += left_out[i].count;
    for (size_t i = 0; i < own->instances.n; i++) {
        states[instances[i].state]++;
        int64_t lead =
            instances[i].waits ? lead_of(records + instances[i].first, &instances[i]) : 0;
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
    tm_cell_set_int(&row[C_BEFORE], violations);
    tm_cell_set_int(&row[C_WORST_BEFORE], worst);
    return TM_OK;
}

static tm_status sum_parts(const tm_table *parts, tm_table *check, bool aligned, tm_error *err) {
    int64_t sums[N_CHECK_COLUMNS] = {0};
    for (size_t i = 0; i < parts->n_rows; i++) {
        const tm_cell *part = tm_table_row(parts, i);
        for (int c = C_COLLECTIVES; c <= C_BEFORE; c++)
            sums[c] += part[c].value.i;
        if (part[C_WORST_BEFORE].value.i > sums[C_WORST_BEFORE])
            sums[C_WORST_BEFORE] = part[C_WORST_BEFORE].value.i;
    }
    tm_cell *row = tm_table_add_row(check);
    if (!row)
        return tm_fail_memory(err);
    for (int c = C_COLLECTIVES; c <= C_SUSPECT; c++)
        tm_cell_set_int(&row[c], sums[c]);
    if (!aligned)
        return TM_OK;
    /* Clocks are taken as recorded, so that after is before. */
    tm_cell_set_int(&row[C_BEFORE], sums[C_BEFORE]);
    tm_cell_set_int(&row[C_AFTER], sums[C_BEFORE]);
    if (sums[C_BEFORE] > 0) {
        tm_cell_set_int(&row[C_WORST_BEFORE], sums[C_WORST_BEFORE]);
        tm_cell_set_int(&row[C_WORST_AFTER], sums[C_WORST_BEFORE]);
    }
    return TM_OK;
}

static tm_status clock_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, rank_def.name);
    const tm_table *ranks = tm_tables_find(out, "job.rank");
    int host = tm_table_column(ranks->def, "host");
    for (size_t i = 0; i < table->n_rows; i++) {
        tm_cell *row = tm_table_row(table, i);
        const tm_cell *from = &tm_table_row(ranks, i)[host];
        if (job->aligned) {
            tm_cell_set_int(&row[R_OFFSET], 0);
            tm_cell_set_real(&row[R_DRIFT], 0.0);
            tm_cell_set_int(&row[R_UNCERTAINTY], 0);
            tm_cell_set_int(&row[R_COMPONENT], 0);
            tm_cell_set_int(&row[R_ANCHORS], 0);
        }
        TM_TRY(tm_table_set_text(table, &row[R_METHOD], job->aligned ? "wall" : "none", err));
        TM_TRY(tm_table_set_text(table, &row[R_HOST], from->null ? NULL : from->value.text, err));
    }
    return sum_parts(tm_tables_find(out, part_def.name), tm_tables_find(out, check_def.name),
                     job->aligned, err);
}

const tm_analysis tm_analysis_clock = {
    .name = "clock",
    .summary = "how the hosts' clocks stood to one another, and what was matched",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = clock_rank,
    .collectives = clock_own,
    .job = clock_job,
};
