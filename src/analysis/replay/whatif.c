/* Analysis `whatif`: how long the job would take if a rank, host, stage, kind of work or kernel
 * performed like its peers. Analysis `stragglers` counts the time that GPUs waited instead. */
#include "tmerge/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/shared/bandwidth.h"
#include "analysis/shared/doubt.h"
#include "analysis/shared/savings.h"
#include "base/median.h"
#include "replay/whatif/result.h"
#include "table/shown.h"
#include "timeline/collectives.h"

/* A result is `sure` only within these limits. DOUBT_PCT: maximum share of unexplained time in the
 * steps, and in a saving [%]. LEAST_SLOWDOWN: minimum slowdown; below it, the ideal time would
 * exceed the recorded time. MISSING_SHARE: maximum share of missing ranks. */
static const double DOUBT_PCT = 5.0, LEAST_SLOWDOWN = 0.99, MISSING_SHARE = 0.1;
/* Maximum share of unmatched communication [%]. Above it, the effects between ranks are unknown. */
static const double MOST_UNMATCHED_PCT = 50.0;
/* Minimum share of the marked steps' time that the replay must cover [%]. */
static const double LEAST_REPLAYED_PCT = 90.0;

enum {
    J_STEP,
    J_IDEAL,
    J_SLOWDOWN,
    J_WASTE,
    J_WORKER,
    J_STAGE,
    J_ERROR,
    J_UNMATCHED,
    J_INFERRED,
    J_SURE,
    J_DOUBT,
    J_FIX,
    J_FIX_PCT,
    J_HEADLINE,
    J_EVIDENCE
};

static const tm_column job_columns[] = {
    [J_STEP] = {"step_ns", TM_INT, "ns", "Mean duration of a step, as in criticalpath.step."},
    [J_IDEAL] =
        {"ideal_ns", TM_INT, "ns",
         "Mean duration of a step in a replay without slow ranks. Null if over half of the "
         "communication is unmatched; slowdown and waste_pct are then null, too. Work takes the "
         "median time of the same work on the other ranks of its role (pipeline stage). If there "
         "is only one other rank, it takes the shorter of the two times. A transfer takes the "
         "median of its kind, group and size. In traces of operations, computation takes the job's "
         "mean for its type, and communication the job's median."},
    [J_SLOWDOWN] = {"slowdown", TM_REAL, "",
                    "How much slow ranks slow the job: step_ns / ideal_ns. In traces of "
                    "operations, this is without the time in step_ns that has no recorded cause."},
    [J_WASTE] = {"waste_pct", TM_REAL, "%",
                 "Share of a step that slow ranks cost: 100 (1 - 1 / slowdown)."},
    [J_WORKER] =
        {"worker_share", TM_REAL, "",
         "Share of the possible saving that the slowest ranks cause: the saving if the 3 % of "
         "ranks (rounded up) with the largest slowdown in whatif.item are fixed, divided by "
         "(step_ns - ideal_ns). M_w in the literature. Null if waste_pct is under 1."},
    [J_STAGE] = {"stage_share", TM_REAL, "",
                 "Share of the possible saving that the last pipeline stage causes: the saving if "
                 "this stage is fixed, divided by (step_ns - ideal_ns). M_s in the literature. "
                 "Null without a pipeline, or if waste_pct is under 1."},
    [J_ERROR] =
        {"replay_error_pct", TM_REAL, "%",
         "Error of the replay: by how many percent the total duration of the steps changes if the "
         "replay leaves out time without a recorded cause. Negative if the steps get shorter."},
    [J_UNMATCHED] = {"unmatched_pct", TM_REAL, "%",
                     "Share of communication time in kernels that were not matched with another "
                     "rank. In the replay, these kernels keep their recorded duration, including "
                     "waits. An operation that lacks some ranks counts as matched here; in "
                     "stragglers.job.matched_share it does so only if its waits are known."},
    [J_INFERRED] = {"inferred_waits", TM_INT, "",
                    "Number of waits between streams that were inferred from order and times, "
                    "because they were not recorded."},
    [J_SURE] = {"sure", TM_BOOL, "",
                "Whether the values in this table can be trusted. True if all of these hold: "
                "replay_error_pct is between -5 and 5; slowdown is at least 0.99; at least half of "
                "the communication is matched between ranks; at least 90 % of the ranks were read; "
                "at least 90 % of the marked steps' time was replayed (not the time before the "
                "first GPU event, if it is unlike that of later steps); twice the clock "
                "uncertainty is at most 5 % of a step; the "
                "recording is complete enough (job.integrity). If no waits for the device are "
                "recorded, one more must hold: hosts spend at most 5 % of the steps' time between "
                "calls, where they may have worked or waited for the device."},
    [J_DOUBT] =
        {"doubt", TM_TEXT, "",
         "Why sure is false; if there are several reasons, the first of: not_recorded (see "
         "job.integrity), unmatched (communication), missing_ranks, clocks, not_replayed (marked "
         "steps), unexplained (replay_error_pct), host_waits (not recorded), slowdown. Null if "
         "sure is true."},
    [J_FIX] =
        {"fix_ns", TM_INT, "ns",
         "Time by which fixing the ranks named in stragglers.finding shortens a mean step. Null if "
         "no rank is named, or if the fix shortens the critical path by under 0.05 %."},
    [J_FIX_PCT] = {"fix_pct", TM_REAL, "%", "fix_ns as a share of a step: 100 fix_ns / step_ns."},
    [J_HEADLINE] = {"headline", TM_TEXT, "",
                    "Sentence on what fixing the ranks named in stragglers.finding saves, or on "
                    "what else would help. If less work of some kind on all ranks saves most, the "
                    "sentence continues the headline of stragglers.job. Null if unknown."},
    [J_EVIDENCE] = {"evidence", TM_TEXT, "",
                    "How the values of this row were computed, and how far they can be trusted."},
};

static const tm_table_def job_def = {
    .name = "whatif.job",
    .doc = "One row: the job compared with itself as if no rank were slower than its peers.",
    TM_ARRAY(columns, job_columns),
    .n_keys = 0,
    .top = -1,
    .n_prose = 2,
};

enum {
    I_WHAT,
    I_NAME,
    I_RANKS,
    I_SAVED,
    I_MOST,
    I_PATH,
    I_SAVED_PCT,
    I_SLOWDOWN,
    I_HOURS,
    I_NEXT,
    I_SURE
};

static const tm_column item_columns[] = {
    [I_WHAT] =
        {"what", TM_TEXT, "",
         "What is changed. plan: ranks are fixed one after another, in each row the rank whose fix "
         "saves most next; each row includes the ranks of the rows before. rank, host, stage, "
         "kind, kernel: the named item performs as on the other ranks. limit: a kind of work takes "
         "no time at all, which is an upper bound for any fix. network: transfers from and to a "
         "host with a slow network are as fast as between other hosts (whatif.network). link: "
         "slow transfers within a host are as fast as other transfers within a host "
         "(whatif.network). even: "
         "at each place of a step, each rank has the mean compute time of all ranks, as if their "
         "work were divided evenly (no row if, over all steps, the rank with the most computation "
         "has under 1 % more than the mean). split: "
         "each stage has the mean compute work of all stages (whatif.split), and also the mean "
         "host work and number of operations. scenario: the change that was requested."},
    [I_NAME] =
        {"name", TM_TEXT, "",
         "Name of the item. network: the host, or several hosts if no operation shows which of "
         "them is slow. link: the host or rank, or several ranks if only "
         "transfers between them are slow. split: the stages that differ. Among the kinds: stall "
         "is host time that "
         "exceeds that of the other ranks by over 1 ms and is over 5 times as long; input is the "
         "host waiting in the data loader; gc is Python's garbage collection; launch is the lag "
         "from a launch call, or from the end of an event, to the start of the next event."},
    [I_RANKS] = {"ranks", TM_INT, "", "Number of ranks that the item is about."},
    [I_SAVED] =
        {"saved_ns", TM_INT, "ns",
         "Time by which a mean step gets shorter if the item performs as on the other ranks; "
         "negative if the step gets longer. Null if the fix shortens the recorded critical path by "
         "under 0.05 %, because the fix cannot save more than that. If over half of the "
         "communication is unmatched, only kinds, kernels and limits have values."},
    [I_MOST] =
        {"saved_most_ns", TM_INT, "ns",
         "Like saved_ns, but in a replay that leaves out the time without a recorded cause."},
    [I_PATH] = {"path_ns", TM_INT, "ns",
                "Time for which a mean step's critical path is on the item. For a rank of the "
                "plan: time by which its fix shortens the path that the earlier fixes leave."},
    [I_SAVED_PCT] = {"saved_pct", TM_REAL, "%",
                     "saved_ns as a share of a step: 100 saved_ns / whatif.job.step_ns."},
    [I_SLOWDOWN] = {"slowdown", TM_REAL, "",
                    "How much the item by itself slows the job: mean duration of a step in which "
                    "the item is as slow as recorded and all other work takes its ideal time, "
                    "divided by ideal_ns. It is a diagnosis, not a saving. Only for ranks, hosts "
                    "and stages; otherwise null. For a rank of a trace of operations: the lower of "
                    "the values for its data-parallel rank and for its stage."},
    [I_HOURS] =
        {"gpu_hours_per_day", TM_REAL, "",
         "GPU hours saved per day: 24 x the number of ranks with GPU events x saved_ns / step_ns."},
    [I_NEXT] = {"next_rank", TM_INT, "", "Rank that has most of the critical path after the fix."},
    [I_SURE] = {"sure", TM_BOOL, "",
                "Whether saved_ns can be trusted. True if all of these hold: whatif.job.sure is "
                "true; saved_most_ns differs from saved_ns by at most 5 % of step_ns; saved_ns, "
                "without its sign, is at least 2 u n. Here u is the clock uncertainty, and n is "
                "how often the critical path of a mean step moves from one rank to another."},
};

static const tm_table_def item_def = {
    .name = "whatif.item",
    .doc =
        "A row for each item that could be fixed, with the time by which the fix shortens a step.",
    TM_ARRAY(columns, item_columns),
    .n_keys = 1,
    .top = I_SAVED,
};

enum { S_STEP, S_NS, S_IDEAL, S_SLOWDOWN, S_BEST, S_SAVED, S_PARTIAL, N_STEP_COLUMNS };

static const tm_column step_columns[N_STEP_COLUMNS] = {
    [S_STEP] = {"step", TM_INT, "", "Number of the step; 0 if the traces mark no steps."},
    [S_NS] = {"step_ns", TM_INT, "ns", "Duration of the step, as in criticalpath.step."},
    [S_IDEAL] = {"ideal_ns", TM_INT, "ns",
                 "Duration of the step in the replay without slow ranks (whatif.job.ideal_ns)."},
    [S_SLOWDOWN] = {"slowdown", TM_REAL, "",
                    "How much slow ranks slow the step: step_ns / ideal_ns, as in whatif.job."},
    [S_BEST] = {"best_rank", TM_INT, "",
                "Rank that shortens this step most if it is fixed in all steps; null if no fix "
                "shortens this step."},
    [S_SAVED] = {"saved_ns", TM_INT, "ns", "Time by which fixing best_rank shortens this step."},
    [S_PARTIAL] = {"partial", TM_BOOL, "", "Whether some ranks did not record the step."},
};

static const tm_table_def step_def = {
    .name = "whatif.step",
    .doc = "A row for each step: its duration, ideal, and best rank to fix.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 1,
    .top = S_NS,
};

enum { P_STAGE, P_RANKS, P_WORK, P_USUAL, P_OWN, P_LAYERS, P_DIFFERS, P_TIMES, N_SPLIT_COLUMNS };

static const tm_column split_columns[N_SPLIT_COLUMNS] = {
    [P_STAGE] = {"stage", TM_INT, "", "Number of the pipeline stage. Stage 0 sends first."},
    [P_RANKS] = {"ranks", TM_INT, "", "Number of ranks of the stage."},
    [P_WORK] =
        {"work_ns", TM_INT, "ns",
         "Time of a rank's compute kernels in a mean step: median over the stage's ranks (with an "
         "even number of ranks, the lower of the two middle values). If any stage has only one "
         "rank, work_ns is usual_ns on all stages, because a slow GPU would look like more work."},
    [P_USUAL] = {"usual_ns", TM_INT, "ns",
                 "Time of the stage's compute kernels in a mean step if each kernel takes its "
                 "usual time: the mean duration of kernels with the same name and launch shape on "
                 "a rank, then the median over the job's ranks."},
    [P_OWN] = {"own_ns", TM_INT, "ns", "Part of usual_ns in kernels that no other stage runs."},
    [P_LAYERS] = {"layers", TM_INT, "",
                  "Number of layers: how often a pass repeats a sequence of kernels. A pass is the "
                  "work that the host launches between two transfers. Null unless at least four "
                  "fifths of the stage's passes have the same number."},
    [P_DIFFERS] =
        {"differs", TM_BOOL, "",
         "Whether the stage has more work than the other stages. Its excess over the mean must be "
         "at least half of the largest excess. Its work must also exceed the work of every "
         "unmarked stage by 3 %, and by three times the usual difference between ranks of a stage. "
         "If most stages have more work, the stages with less work are marked instead."},
    [P_TIMES] = {"times", TM_REAL, "",
                 "Mean work of the stages that differ / mean work of the other stages. Null for "
                 "stages that do not differ."},
};

static const tm_table_def split_def = {
    .name = "whatif.split",
    .doc = "A row for each stage of a pipeline, if some stages have more work than others.",
    TM_ARRAY(columns, split_columns),
    .n_keys = 1,
    .top = P_WORK,
};

enum {
    N_PLACE,
    N_KIND,
    N_BYTES,
    N_RANKS,
    N_HOSTS,
    N_COUNT,
    N_TIME,
    N_OTHERS,
    N_BUSBW,
    N_OTHERS_BUSBW
};

static const tm_column network_columns[] = {
    [N_PLACE] = {"place", TM_INT, "",
                 "Number of the class of operations (kind, size, ranks, hosts), from 0 for the "
                 "class with the most time."},
    [N_KIND] = {"kind", TM_TEXT, "", "Kind of collective; sendrecv for sends and receives."},
    [N_BYTES] = {"bytes", TM_INT, "B", "Size of an operation of the class."},
    [N_RANKS] = {"ranks", TM_INT, "", "Number of ranks of an operation."},
    [N_HOSTS] = {"hosts", TM_INT, "", "Number of hosts of an operation."},
    [N_COUNT] = {"count", TM_INT, "",
                 "Number of operations at the slow place: with the host or ranks that whatif.item "
                 "names (network, link)."},
    [N_TIME] = {"median_ns", TM_INT, "ns",
                "Duration of operations at the slow place: median over the operations of "
                "a group, then median over groups. An operation takes as long as its shortest "
                "kernel, which is the kernel of the last rank to arrive."},
    [N_OTHERS] =
        {"others_ns", TM_INT, "ns",
         "Duration of the other operations of the class, computed like median_ns. A class has a "
         "row only if median_ns exceeds others_ns by 30 % and 10 us, and the lower quartile of "
         "every group at the slow place exceeds the upper quartile of every other group."},
    [N_BUSBW] = {"busbw_gbps", TM_REAL, "GB/s",
                 "Bus bandwidth at the slow place: bytes x f / median_ns, with the factor f of "
                 "collectives.kind.busbw_gbps."},
    [N_OTHERS_BUSBW] = {"others_busbw_gbps", TM_REAL, "GB/s",
                        "Bus bandwidth of the other operations: bytes x f / others_ns, with the "
                        "factor f of collectives.kind.busbw_gbps."},
};

static const tm_table_def network_def = {
    .name = "whatif.network",
    .doc =
        "A row for each class of operations (kind, size, number of ranks and hosts) that is slow "
        "at one place: if a certain host, or certain ranks of a host, take part. There are rows "
        "only if the place is slow in all comparable classes of at least 1 MiB, and also in all "
        "smaller ones down to the smallest slow class.",
    TM_ARRAY(columns, network_columns),
    .n_keys = 1,
    .top = N_TIME,
};

static const tm_table_def *const defs[] = {&job_def, &item_def, &step_def, &network_def,
                                           &split_def};

static const char *const what_words[TM_N_WHATIF] = {
#define WHAT_WORD(id, word) [TM_WHATIF_##id] = word,
    TM_WHATIF_LIST(WHAT_WORD)
#undef WHAT_WORD
};

static int64_t mean(const tm_replay_result *r, int64_t ns) {
    return tm_round_ratio(ns, (int64_t)r->path_steps.n);
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static double error_pct(const tm_replay_result *r) {
    return percent(r->explained_ns - r->total_ns, r->total_ns);
}

static double slowdown(const tm_replay_result *r) {
    return r->ideal_ns > 0 ? (double)r->base_ns / (double)r->ideal_ns : 1.0;
}

static bool lacks_ranks(const tm_replay_result *r) {
    double missing = (double)(r->world_size - r->n_ranks);
    return missing > MISSING_SHARE * (double)r->world_size;
}

static bool is_matched(const tm_replay_result *r) {
    return percent(r->unmatched_ns, r->comm_ns) <= MOST_UNMATCHED_PCT || r->n_ranks == 1;
}

/* Returns whether clocks are exact enough to measure a step. */
static bool is_timed(const tm_replay_result *r) {
    return percent(2 * r->uncertainty_ns, mean(r, r->total_ns)) <= DOUBT_PCT || r->n_ranks == 1;
}

/* Returns the part of the steps' critical paths before the first event of a rank [ns]. Nothing
 * explains it, so no fix shortens it. */
static int64_t before_ns(const tm_replay_result *r) {
    const tm_path_piece *pieces = r->pieces.data;
    int64_t sum = 0;
    for (size_t i = 0; i < r->pieces.n; i++)
        sum += pieces[i].kind == TM_EDGE_BEFORE ? pieces[i].ns : 0;
    return sum;
}

/* Returns the replayed share of the marked steps [%]. Time before the first events is not replayed.
 * It may be most of a short recording. */
static double replayed_pct(const tm_replay_result *r) {
    return r->window_ns > 0 ? percent(r->total_ns - before_ns(r), r->window_ns) : 100.0;
}

/* Returns the share of step time in which it is unknown whether hosts worked or waited [%]. */
static double blocked_pct(const tm_replay_result *r) {
    return r->n_ranks > 0 ? percent(r->blocked_ns / r->n_ranks, r->job_ns) : 0.0;
}

/* Reasons to doubt the figures. Only the first that applies is reported. */
typedef enum doubt {
    DOUBT_MATCH,
    DOUBT_RANKS,
    DOUBT_CLOCKS,
    DOUBT_REPLAYED,
    DOUBT_UNEXPLAINED,
    DOUBT_HOSTS,
    DOUBT_SLOWDOWN,
    DOUBT_NONE
} doubt;

static const char *const doubts[] = {
    [DOUBT_MATCH] = "unmatched",         [DOUBT_RANKS] = "missing_ranks",
    [DOUBT_CLOCKS] = "clocks",           [DOUBT_REPLAYED] = "not_replayed",
    [DOUBT_UNEXPLAINED] = "unexplained", [DOUBT_HOSTS] = "host_waits",
    [DOUBT_SLOWDOWN] = "slowdown"};

static doubt first_doubt(const tm_replay_result *r) {
    return !is_matched(r)                         ? DOUBT_MATCH
           : lacks_ranks(r)                       ? DOUBT_RANKS
           : !is_timed(r)                         ? DOUBT_CLOCKS
           : replayed_pct(r) < LEAST_REPLAYED_PCT ? DOUBT_REPLAYED
           : fabs(error_pct(r)) > DOUBT_PCT       ? DOUBT_UNEXPLAINED
           : blocked_pct(r) > DOUBT_PCT           ? DOUBT_HOSTS
           : slowdown(r) < LEAST_SLOWDOWN         ? DOUBT_SLOWDOWN
                                                  : DOUBT_NONE;
}

/* Writes the reason to doubt the figures, or how they were computed if there is no such reason. */
static void write_evidence(const tm_replay_result *r, char *out, size_t size) {
    double error = error_pct(r), unmatched = percent(r->unmatched_ns, r->comm_ns);
    char clocks[32];
    switch (first_doubt(r)) {
    case DOUBT_MATCH:
        snprintf(out, size,
                 "%.0f %% of the communication is not matched between ranks: it is unknown how "
                 "ranks delay one another, and so how much fixing a rank saves.",
                 unmatched);
        return;
    case DOUBT_RANKS:
        snprintf(out, size,
                 "%" PRId64 " of %" PRId64
                 " ranks were read: a missing rank may be as late as the ranks that were read.",
                 r->n_ranks, r->world_size);
        return;
    case DOUBT_CLOCKS:
        tm_shown_duration(r->uncertainty_ns, clocks, sizeof clocks);
        snprintf(out, size,
                 "Clocks are known only to %s, which is a large part of a step: times between "
                 "ranks of different hosts are unknown.",
                 clocks);
        return;
    case DOUBT_REPLAYED:
        snprintf(
            out, size,
            "Only %.0f %% of the marked steps' time is replayed. The time before the first GPU "
            "event, in which only hosts work, is not part of these figures.",
            replayed_pct(r));
        return;
    case DOUBT_UNEXPLAINED:
        snprintf(out, size,
                 "%.1f %% of the steps' time has no recorded cause (a host that waits without a "
                 "recorded call, or a full queue): the saving may be any amount between the "
                 "smallest and the largest shown.",
                 fabs(error));
        return;
    case DOUBT_HOSTS:
        snprintf(out, size,
                 "While devices ran, hosts made no call for much of the time, and no waits for the "
                 "devices are recorded: hosts may have worked or waited, so it is unknown what "
                 "quicker kernels or less host work would save.");
        return;
    case DOUBT_SLOWDOWN:
        snprintf(out, size,
                 "If all ranks took the time of their peers, steps would be longer: the ranks do "
                 "not run the same program.");
        return;
    case DOUBT_NONE:
        break;
    }
    if (r->operations)
        snprintf(out, size,
                 "Operations are replayed in the order of the pipeline's schedule, without the "
                 "%.1f %% of the steps' time that has no recorded cause. In the ideal, each "
                 "operation takes the usual time of its type in this job. Not modelled: "
                 "contention, and what the program would then do differently.",
                 fabs(error));
    else
        snprintf(
            out, size,
            "Replayed as recorded, every event has its recorded time; %.1f %% of the steps' time "
            "has no recorded cause, and %s of the communication is not matched between ranks. Not "
            "modelled: contention, queues that fill up, and what the program would then do "
            "differently.",
            fabs(error), tm_shown_percent(unmatched, 1).text);
}

static tm_status add_job(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, job_def.name);
    tm_cell *row = tm_table_add_row(table);
    char evidence[512];
    if (!row)
        return tm_fail_memory(err);
    int64_t waste = r->base_ns - r->ideal_ns;
    tm_cell_set_int(&row[J_STEP], mean(r, r->total_ns));
    tm_cell_set_real(&row[J_ERROR], error_pct(r));
    tm_cell_set_real(&row[J_UNMATCHED], percent(r->unmatched_ns, r->comm_ns));
    tm_cell_set_int(&row[J_INFERRED], r->n_inferred);
    const doubt why = first_doubt(r);
    tm_cell_set_bool(&row[J_SURE], why == DOUBT_NONE);
    if (why != DOUBT_NONE)
        TM_TRY(tm_table_set_text(table, &row[J_DOUBT], doubts[why], err));
    if (is_matched(r)) {
        tm_cell_set_int(&row[J_IDEAL], mean(r, r->ideal_ns));
        tm_cell_set_real(&row[J_SLOWDOWN], slowdown(r));
        tm_cell_set_real(&row[J_WASTE], 100.0 * (1.0 - 1.0 / slowdown(r)));
        if (percent(waste, r->base_ns) >= 1.0 && r->workers_ns >= 0)
            tm_cell_set_ratio(&row[J_WORKER], 1.0, r->base_ns - r->workers_ns, waste);
        if (percent(waste, r->base_ns) >= 1.0 && r->stage_ns >= 0)
            tm_cell_set_ratio(&row[J_STAGE], 1.0, r->base_ns - r->stage_ns, waste);
    }
    write_evidence(r, evidence, sizeof evidence);
    return tm_table_set_text(table, &row[J_EVIDENCE], evidence, err);
}

/* Returns whether an item's figures depend on effects between ranks. */
static bool is_across(const tm_whatif_item *item) {
    return item->what != TM_WHATIF_KIND && item->what != TM_WHATIF_KERNEL &&
           item->what != TM_WHATIF_LIMIT;
}

static bool item_is_sure(const tm_replay_result *r, const tm_whatif_item *item) {
    int64_t hops = 0;
    for (size_t k = 0; k < r->path_steps.n; k++)
        hops += ((const tm_path_step *)r->path_steps.data)[k].hops - 1;
    return first_doubt(r) == DOUBT_NONE &&
           percent(llabs(item->saved_most_ns - item->saved_ns), r->total_ns) <= DOUBT_PCT &&
           (hops == 0 || llabs(item->saved_ns) >= 2 * r->uncertainty_ns * hops);
}

static const char *name_text(const tm_replay_result *r, int64_t name) {
    return tm_names_text(r->names, (uint32_t)name).bytes;
}

/* Lists the hosts with a slow network, such as "host3", or the ranks with a slow link, such as "1,
 * 2" or "4-7". */
static void name_network(const tm_replay_result *r, char *out, size_t size) {
    const tm_links_place *ends = r->network.ends.data;
    const size_t n = r->network.ends.n;
    size_t used = 0;
    for (size_t i = 0, last = 0; i < n && used < size; i = last + 1) {
        const char *comma = i > 0 ? ", " : "";
        last = i;
        while (ends[i].what == TM_LINKS_RANK && last + 1 < n &&
               ends[last + 1].id == ends[last].id + 1)
            last++;
        last = last == i + 1 ? i : last; /* two ranks are no range */
        if (ends[i].what != TM_LINKS_RANK)
            used += (size_t)snprintf(out + used, size - used, "%s%.64s", comma,
                                     name_text(r, ends[i].id));
        else if (last == i)
            used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, comma, ends[i].id);
        else
            used += (size_t)snprintf(out + used, size - used, "%s%" PRId64 "-%" PRId64, comma,
                                     ends[i].id, ends[last].id);
    }
}

/* Lists the stages that differ, such as "0, 2". */
static void name_split(const tm_replay_result *r, char *out, size_t size) {
    const tm_split_stage *stages = r->stages.data;
    size_t used = 0;
    for (size_t i = 0; i < r->stages.n && used < size; i++)
        if (stages[i].differs)
            used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, used > 0 ? ", " : "",
                                     stages[i].stage);
}

/* Writes the ranks of a plan up to a position, such as "3, 1". */
static void name_plan(const tm_replay_result *r, size_t item, char *out, size_t size) {
    const tm_whatif_item *items = r->items.data;
    size_t first = item + 1 - (size_t)items[item].ranks, used = 0;
    for (size_t i = first; i <= item && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i > first ? ", " : "",
                                 items[i].id);
}

static tm_status set_name(const tm_replay_result *r, size_t i, tm_table *table, tm_cell *cell,
                          tm_error *err) {
    const tm_whatif_item *item = (const tm_whatif_item *)r->items.data + i;
    char text[256];
    switch ((tm_whatif_what)item->what) {
    case TM_WHATIF_SCENARIO:
        return tm_table_set_text(table, cell, r->scenario, err);
    case TM_WHATIF_HOST:
    case TM_WHATIF_KERNEL:
        return tm_table_set_text(table, cell, name_text(r, item->id), err);
    case TM_WHATIF_KIND:
    case TM_WHATIF_LIMIT:
        return tm_table_set_text(table, cell, tm_fix_kinds[item->id].word, err);
    case TM_WHATIF_PLAN:
        name_plan(r, i, text, sizeof text);
        break;
    case TM_WHATIF_NETWORK:
    case TM_WHATIF_LINK:
        name_network(r, text, sizeof text);
        break;
    case TM_WHATIF_SPLIT:
        name_split(r, text, sizeof text);
        break;
    case TM_WHATIF_EVEN:
        snprintf(text, sizeof text, "compute");
        break;
    default:
        snprintf(text, sizeof text, "%" PRId64, item->id);
        break;
    }
    return tm_table_set_text(table, cell, text, err);
}

static tm_status add_item(const tm_replay_result *r, size_t i, tm_tables *out, tm_error *err) {
    const tm_whatif_item *item = (const tm_whatif_item *)r->items.data + i;
    tm_table *table = tm_tables_find(out, item_def.name);
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    TM_TRY(tm_table_set_text(table, &row[I_WHAT], what_words[item->what], err));
    TM_TRY(set_name(r, i, table, &row[I_NAME], err));
    tm_cell_set_int(&row[I_RANKS], item->ranks);
    tm_cell_set_int(&row[I_PATH], mean(r, item->path_ns));
    if (is_across(item) && !is_matched(r))
        return TM_OK;
    if (item->ideal_ns >= 0)
        tm_cell_set_ratio(&row[I_SLOWDOWN], 1.0, item->ideal_ns, r->ideal_ns);
    if (!item->tried)
        return TM_OK;
    tm_cell_set_int(&row[I_SAVED], mean(r, item->saved_ns));
    tm_cell_set_int(&row[I_MOST], mean(r, item->saved_most_ns));
    tm_cell_set_ratio(&row[I_SAVED_PCT], 100.0, item->saved_ns, r->total_ns);
    tm_cell_set_ratio(&row[I_HOURS], 24.0 * (double)r->n_ranks, item->saved_ns, r->total_ns);
    tm_cell_set_known(&row[I_NEXT], item->next_rank);
    tm_cell_set_bool(&row[I_SURE], item_is_sure(r, item));
    return TM_OK;
}

static tm_status add_steps(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    const tm_path_step *paths = r->path_steps.data;
    for (size_t k = 0; k < r->steps.n; k++) {
        const tm_whatif_step *step = (const tm_whatif_step *)r->steps.data + k;
        tm_cell *row = tm_table_add_row(tm_tables_find(out, step_def.name));
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_STEP], step->number);
        tm_cell_set_int(&row[S_NS], step->ns);
        tm_cell_set_bool(&row[S_PARTIAL], paths[k].partial);
        if (!is_matched(r))
            continue;
        tm_cell_set_int(&row[S_IDEAL], step->ideal_ns);
        tm_cell_set_ratio(&row[S_SLOWDOWN], 1.0, step->base_ns, step->ideal_ns);
        if (step->best_rank >= 0) {
            tm_cell_set_int(&row[S_BEST], step->best_rank);
            tm_cell_set_int(&row[S_SAVED], step->saved_ns);
        }
    }
    return TM_OK;
}

static tm_status add_network(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, network_def.name);
    for (size_t i = 0; i < r->network.slow.n; i++) {
        const tm_links_slow *s = (const tm_links_slow *)r->network.slow.data + i;
        const uint8_t kind = (uint8_t)s->class.kind;
        const double moved =
            (double)s->class.bytes * tm_bus_factor(kind, (int32_t)s->class.n_ranks);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[N_PLACE], (int64_t)i);
        tm_cell_set_int(&row[N_BYTES], s->class.bytes);
        tm_cell_set_int(&row[N_RANKS], s->class.n_ranks);
        tm_cell_set_int(&row[N_HOSTS], s->class.n_hosts);
        tm_cell_set_int(&row[N_COUNT], s->count);
        tm_cell_set_int(&row[N_TIME], s->ns);
        tm_cell_set_int(&row[N_OTHERS], s->others_ns);
        tm_cell_set_real(&row[N_BUSBW], moved / (double)s->ns);
        tm_cell_set_real(&row[N_OTHERS_BUSBW], moved / (double)s->others_ns);
        TM_TRY(tm_table_set_text(table, &row[N_KIND],
                                 tm_collective_word((tm_collective_kind)s->class.kind), err));
    }
    return TM_OK;
}

static tm_status add_split(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    double sums[2] = {0}; /* index 0: stages that do not differ; index 1: stages that differ */
    size_t n[2] = {0};
    for (size_t i = 0; i < r->stages.n; i++) {
        const tm_split_stage *s = (const tm_split_stage *)r->stages.data + i;
        sums[s->differs] += (double)s->work_ns;
        n[s->differs]++;
    }
    for (size_t i = 0; i < r->stages.n; i++) {
        const tm_split_stage *s = (const tm_split_stage *)r->stages.data + i;
        tm_cell *row = tm_table_add_row(tm_tables_find(out, split_def.name));
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[P_STAGE], s->stage);
        tm_cell_set_int(&row[P_RANKS], s->ranks);
        tm_cell_set_int(&row[P_WORK], s->work_ns);
        tm_cell_set_int(&row[P_USUAL], s->usual_ns);
        tm_cell_set_int(&row[P_OWN], s->own_ns);
        if (s->layers > 0)
            tm_cell_set_int(&row[P_LAYERS], s->layers);
        tm_cell_set_bool(&row[P_DIFFERS], s->differs != 0);
        if (s->differs && sums[0] > 0.0)
            tm_cell_set_real(&row[P_TIMES], sums[1] / (double)n[1] / (sums[0] / (double)n[0]));
    }
    return TM_OK;
}

static tm_status whatif_collectives(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_replay_result *r = own->replay;
    if (!r || r->total_ns <= 0)
        return TM_OK;
    TM_TRY(add_job(r, out, err));
    for (size_t i = 0; i < r->items.n; i++)
        TM_TRY(add_item(r, i, out, err));
    TM_TRY(add_network(r, out, err));
    TM_TRY(add_split(r, out, err));
    return add_steps(r, out, err);
}

/* Marks no saving as sure. If work was not recorded, the replay ends too early. */
static tm_status doubt_all(tm_tables *out, tm_cell *row, tm_error *err) {
    tm_table *items = tm_tables_find(out, item_def.name);
    char what[TM_DOUBT_TEXT] = "", text[TM_DOUBT_TEXT + 64];
    for (size_t i = 0; i < items->n_rows; i++)
        tm_cell_set_bool(&tm_table_row(items, i)[I_SURE], false);
    tm_cell_set_bool(&row[J_SURE], false);
    tm_doubt_text(out, what);
    snprintf(text, sizeof text, "In doubt: %s.", what);
    TM_TRY(
        tm_table_set_text(tm_tables_find(out, job_def.name), &row[J_DOUBT], "not_recorded", err));
    return tm_table_set_text(tm_tables_find(out, job_def.name), &row[J_EVIDENCE], text, err);
}

/* Uses the ranks that the verdict names. The job part of `stragglers` has set them before. */
static tm_status whatif_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, job_def.name);
    char headline[TM_SAVINGS_MAX];
    (void)job;
    if (table->n_rows == 0)
        return TM_OK;
    tm_cell *row = tm_table_row(table, 0);
    if (tm_doubt_of_job(out))
        return doubt_all(out, row, err);
    const tm_table *items = tm_tables_find(out, item_def.name);
    size_t named = tm_savings_sentence(out, headline);
    if (named < items->n_rows) {
        row[J_FIX] = *tm_table_cell(items, named, "saved_ns");
        row[J_FIX_PCT] = *tm_table_cell(items, named, "saved_pct");
    }
    return headline[0] ? tm_table_set_text(table, &row[J_HEADLINE], headline, err) : TM_OK;
}

const tm_analysis tm_analysis_whatif = {
    .name = "whatif",
    .summary = "what would help most: how much shorter a step would be with each fix",
    TM_ARRAY(tables, defs),
    .collectives = whatif_collectives,
    .job = whatif_job,
};
