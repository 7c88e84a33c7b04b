/* Analysis `structure`: the content of a step: micro-batches, updates, recomputation, phases. */
#include "tmerge/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/over_ranks.h"
#include "base/sums.h"
#include "step_parts.h"

enum {
    STEP,
    RANKS,
    MICRO,
    MICRO_MAX,
    MICRO_RANK,
    UPDATES,
    PER_UPDATE,
    AGAIN,
    AGAIN_PCT,
    LOGGING,
    SAVING,
    FORWARD,
    BACKWARD,
    OPTIMIZER,
    DATA,
    OTHER,
    BEYOND
};

static const tm_column columns[] = {
    [STEP] = {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    [RANKS] = {"ranks", TM_INT, "", "Number of ranks that recorded the step."},
    [MICRO] = {"micro_batches", TM_INT, "",
               "Number of backward passes of a rank: median over ranks. Passes are found by "
               "autograd's sequence numbers, which decrease within a pass. Gradient accumulation "
               "and pipelines run a pass for each micro-batch; several losses of one forward pass "
               "count as one pass. Null without sequence numbers."},
    [MICRO_MAX] = {"max_micro_batches", TM_INT, "",
                   "Number of backward passes of a rank: maximum over ranks."},
    [MICRO_RANK] = {"max_rank", TM_INT, "",
                    "Rank with the most backward passes (max_micro_batches); the lowest if there "
                    "are several."},
    [UPDATES] = {"updates", TM_INT, "",
                 "Number of updates of a rank: median over ranks. A call of Optimizer.step is an "
                 "update. Several calls without a backward pass in between are one update."},
    [PER_UPDATE] =
        {"micro_batches_per_update", TM_REAL, "",
         "Mean number of backward passes per update: sum over ranks / updates of all ranks."},
    [AGAIN] = {"recomputed_ns", TM_INT, "ns",
               "GPU time of work that the backward pass recomputes (activation checkpointing): sum "
               "over ranks. An operator counts as recomputed if it runs in a node of autograd's "
               "graph, but records for autograd, as forward operators do. Does not include "
               "recomputation in compiled graphs."},
    [AGAIN_PCT] = {"recomputed_pct", TM_REAL, "%",
                   "Share of recomputation in GPU work: 100 recomputed_ns / the time of all "
                   "kernels, copies and sets launched in the step, without communication."},
    [LOGGING] =
        {"logging_ns", TM_INT, "ns",
         "Host time in calls that log: Python's logging and print, TensorBoard, Weights & Biases, "
         "MLflow, and annotations named log, logging, logger or log_metrics. Sum over ranks."},
    [SAVING] = {"saving_ns", TM_INT, "ns",
                "Host time in calls that save a checkpoint: torch.save, save_checkpoint, and "
                "annotations of that name. Sum over ranks."},
    [FORWARD] = {"forward_pct", TM_REAL, "%",
                 "Share of step time in the forward phase: 100 forward_ns / step_ns of "
                 "phases.step, each summed over ranks. 35 to 40 % is usual."},
    [BACKWARD] = {"backward_pct", TM_REAL, "%",
                  "Share of step time in the backward phase: 100 backward_ns / step_ns of "
                  "phases.step, each summed over ranks. 40 to 45 % is usual."},
    [OPTIMIZER] = {"optimizer_pct", TM_REAL, "%",
                   "Share of step time in the optimizer phase: 100 optimizer_ns / step_ns of "
                   "phases.step, each summed over ranks. Up to 15 % is usual."},
    [DATA] = {"data_pct", TM_REAL, "%",
              "Share of step time in waits for a batch: 100 data_ns / step_ns of phases.step, each "
              "summed over ranks. Under 10 % is usual."},
    [OTHER] = {"other_pct", TM_REAL, "%",
               "Share of step time in no phase: 100 other_ns / step_ns of phases.step, each summed "
               "over ranks. Under 10 % is usual."},
    [BEYOND] = {"beyond", TM_TEXT, "",
                "Phases whose share is above the usual range, each with the upper limit, such as "
                "forward over 40 %; null if there are none."},
};

static const tm_table_def step_def = {
    .name = "structure.step",
    .doc = "A row for each step of a training job, over the ranks whose traces show its backward "
           "pass or its updates.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = AGAIN,
};

enum { P_STEP, P_RANK, P_MICRO, P_UPDATES, P_AGAIN, P_WORK, P_LOGGING, P_SAVING, N_PART_COLUMNS };

static const tm_column part_columns[N_PART_COLUMNS] = {
    [P_STEP] = {"step", TM_INT, "", "Number of the step."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_MICRO] = {"micro_batches", TM_INT, "", "Number of backward passes of the rank."},
    [P_UPDATES] = {"updates", TM_INT, "", "Number of updates of the rank."},
    [P_AGAIN] = {"recomputed_ns", TM_INT, "ns",
                 "GPU time of work that the backward pass recomputes."},
    [P_WORK] = {"work_ns", TM_INT, "ns",
                "GPU time of kernels, copies and sets, without communication."},
    [P_LOGGING] = {"logging_ns", TM_INT, "ns", "Host time in calls that log."},
    [P_SAVING] = {"saving_ns", TM_INT, "ns", "Host time in calls that save a checkpoint."},
};

static const tm_table_def part_def =
    TM_PART_TABLE("structure.step_part",
                  "A row for each step of a rank: its part of structure.step.", part_columns, 1);

static const tm_table_def *const defs[] = {&step_def, &part_def};

static tm_status structure_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_step_parts parts;
    tm_table *table = tm_tables_find(out, part_def.name);
    TM_TRY(tm_step_parts_find(view, &parts, err));
    bool ok = true;
    for (size_t i = 0; i < parts.n && ok; i++) {
        const tm_step_part *p = &parts.steps[i];
        tm_cell *row = tm_table_add_row(table);
        ok = row != NULL;
        if (!ok)
            break;
        tm_cell_set_int(&row[P_STEP], view->timeline->steps[i].number);
        tm_cell_set_int(&row[P_RANK], view->timeline->rank);
        if (parts.numbered)
            tm_cell_set_int(&row[P_MICRO], p->passes);
        tm_cell_set_int(&row[P_UPDATES], p->updates);
        tm_cell_set_int(&row[P_AGAIN], p->recomputed_ns);
        tm_cell_set_int(&row[P_WORK], p->work_ns);
        tm_cell_set_int(&row[P_LOGGING], p->logging_ns);
        tm_cell_set_int(&row[P_SAVING], p->saving_ns);
    }
    free(parts.steps);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status set_step(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                          tm_cell *row, tm_error *err) {
    tm_over_ranks micro, updates;
    (void)names;
    (void)table;
    TM_TRY(tm_over_ranks_column(rows, P_MICRO, &micro, err));
    TM_TRY(tm_over_ranks_column(rows, P_UPDATES, &updates, err));
    row[STEP] = tm_rank_rows_key(rows)[P_STEP];
    tm_cell_set_int(&row[RANKS], updates.ranks);
    if (micro.ranks > 0) {
        tm_cell_set_int(&row[MICRO], micro.median);
        tm_cell_set_int(&row[MICRO_MAX], micro.max);
        tm_cell_set_int(&row[MICRO_RANK], micro.max_rank);
        tm_cell_set_ratio(&row[PER_UPDATE], 1.0, micro.sum, updates.sum);
    }
    const int64_t again = tm_over_ranks_sum(rows, P_AGAIN);
    tm_cell_set_int(&row[UPDATES], updates.median);
    tm_cell_set_int(&row[AGAIN], again);
    tm_cell_set_ratio(&row[AGAIN_PCT], 100.0, again, tm_over_ranks_sum(rows, P_WORK));
    tm_cell_set_int(&row[LOGGING], tm_over_ranks_sum(rows, P_LOGGING));
    tm_cell_set_int(&row[SAVING], tm_over_ranks_sum(rows, P_SAVING));
    return TM_OK;
}

static tm_status structure_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&part_def, &step_def, names, tables, set_step, err);
}

/* A phase, with the upper limit of its usual share of a step according to profiling guides. */
static const struct {
    const char *word, *column;
    int most_pct;
} phases[] = {{"forward", "forward_ns", 40},
              {"backward", "backward_ns", 45},
              {"optimizer", "optimizer_ns", 15},
              {"data", "data_ns", 10},
              {"other", "other_ns", 10}};

enum { N_PHASES = sizeof phases / sizeof *phases };

typedef struct step_sum {
    int64_t phase_ns[N_PHASES], step_ns;
} step_sum;

static tm_status set_phases(tm_table *table, size_t i, const step_sum *sum, tm_error *err) {
    char text[128] = "";
    tm_cell *row = tm_table_row(table, i);
    for (int p = 0; p < N_PHASES; p++) {
        tm_cell *cell = &row[FORWARD + p];
        tm_cell_set_ratio(cell, 100.0, sum->phase_ns[p], sum->step_ns);
        if (!cell->null && cell->value.r > phases[p].most_pct)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s over %d %%",
                     *text ? ", " : "", phases[p].word, phases[p].most_pct);
    }
    return *text ? tm_table_set_text(table, &row[BEYOND], text, err) : TM_OK;
}

static tm_status structure_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, step_def.name);
    const tm_table *steps = tm_tables_find(out, "phases.step");
    step_sum *sums = calloc(table->n_rows + 1, sizeof *sums);
    tm_status status = sums ? TM_OK : tm_fail_memory(err);
    (void)job;
    for (size_t i = 0; status == TM_OK && i < steps->n_rows; i++) {
        int64_t number = tm_table_cell(steps, i, "step")->value.i;
        size_t at = tm_table_find_row(table, &number, 1);
        for (int p = 0; p < N_PHASES && at < table->n_rows; p++)
            sums[at].phase_ns[p] =
                tm_sum(sums[at].phase_ns[p], tm_table_cell(steps, i, phases[p].column)->value.i);
        sums[at].step_ns = tm_sum(sums[at].step_ns, tm_table_cell(steps, i, "step_ns")->value.i);
    }
    for (size_t i = 0; status == TM_OK && i < table->n_rows; i++)
        status = set_phases(table, i, &sums[i], err);
    free(sums);
    return status;
}

const tm_analysis tm_analysis_structure = {
    .name = "structure",
    .summary = "the parts of a step: micro-batches, recomputation, phases",
    TM_ARRAY(tables, defs),
    .rank = structure_rank,
    .merge = structure_merge,
    .job = structure_job,
};
