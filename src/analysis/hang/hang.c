/* Analysis `hang`: finds which ranks hold up a stuck job, from dumps of flight recorders. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "last_events.h"
#include "ras.h"
#include "sentences.h"
#include "tables.h"

#define KEY(name, doc)                                                                             \
    { name, TM_INT, "", doc }

static const tm_column dump_columns[N_HD] = {
    [HD_RANK] = {"rank", TM_INT, "", "Global rank."},
    [HD_PATH] = {"path", TM_TEXT, "", "Path of the dump's file."},
    [HD_VERSION] = {"version", TM_TEXT, "", "Version of the dump's format."},
    [HD_CUT] = {"cut", TM_BOOL, "", "Whether the file is cut short."},
    [HD_LEFT_OUT] = {"left_out", TM_INT, "",
                     "Number of entries that were skipped because they lack required fields."},
    [HD_CALLS] = {"calls", TM_INT, "", "Number of entries that were read."},
    [HD_WRAPPED] = {"wrapped", TM_BOOL, "",
                    "Whether the ring buffer has overwritten its oldest entries."},
    [HD_WRITTEN] = {"written_ns", TM_INT, tm_epoch_ns,
                    "Time of the file's last write, since the epoch."},
    [HD_UNREADABLE] = {"unreadable", TM_BOOL, "",
                       "Whether the file cannot be read, so that it is unknown what the rank did."},
    [HD_LAST_GROUP] = {"last_group", TM_INT, "", "Process group of the last entry."},
    [HD_LAST_SEQ] = {"last_number", TM_INT, "", "Number of the last entry in its group."},
    [HD_LAST_OP] = {"last_operation", TM_TEXT, "", "Operation of the last entry."},
    [HD_LAST_NS] = {"last_ns", TM_INT, tm_epoch_ns,
                    "Time at which the last entry was issued, since the epoch."},
    [HD_LAST_STATE] = {"last_state", TM_INT, "", "State of the last entry (tm_flight_state)."},
    [HD_LAST_BACKEND] = {"last_backend", TM_TEXT, "",
                         "Backend (nccl, gloo, ...) of the last entry."},
    [HD_FRAMES] = {"frames", TM_TEXT, "", "Stack frames of the user's program at the last entry."},
};

static const tm_column group_columns[N_HG] = {
    [HG_GROUP] = KEY("group", "Hash of name and ranks."),
    [HG_NAME] = {"name", TM_TEXT, "", "Name of the group."},
    [HG_DESC] = {"description", TM_TEXT, "", "Description given by the program."},
    [HG_RANKS] = {"ranks", TM_TEXT, "", "Global ranks of the group."},
};

static const tm_column progress_columns[N_HP] = {
    [HP_GROUP] = KEY("group", "Hash of name and ranks."),
    [HP_RANK] = {"rank", TM_INT, "", "Global rank."},
    [HP_FIRST] = {"first", TM_INT, "", "Number of the group's first operation in the dump."},
    [HP_LAST] = {"last", TM_INT, "", "Number of the group's last operation in the dump."},
    [HP_OPEN] = {"open", TM_INT, "",
                 "Number of the first operation that has not ended; null if all have ended."},
    [HP_SIZE] = {"size", TM_INT, "",
                 "Number of ranks of the group, derived from the sizes of an all_gather."},
    [HP_DONE] = {"done", TM_INT, "",
                 "Number of the last operation of the group whose end proves that all ranks had "
                 "reached it; null if there is none."},
};

static const tm_column call_columns[N_HC] = {
    [HC_GROUP] = KEY("group", "Hash of name and ranks."),
    [HC_RANK] = {"rank", TM_INT, "", "Global rank."},
    [HC_P2P] = {"p2p", TM_BOOL, "", "Whether the call is a send or receive."},
    [HC_SEQ] = {"number", TM_INT, "", "Number of the operation in the group."},
    [HC_FORM] = {"form", TM_INT, "", "Hash of operation, sizes and types."},
    [HC_OP] = {"operation", TM_TEXT, "", "Name of the operation."},
    [HC_BACKEND] = {"backend", TM_TEXT, "", "Backend (nccl, gloo, ...) of the operation."},
    [HC_INPUTS] = {"inputs", TM_TEXT, "", "Sizes and types of the inputs."},
    [HC_OUTPUTS] = {"outputs", TM_TEXT, "", "Sizes and types of the outputs."},
    [HC_STATE] = {"state", TM_INT, "", "State of the operation (tm_flight_state)."},
    [HC_CREATED] = {"created_ns", TM_INT, tm_epoch_ns,
                    "Time at which the call was issued, since the epoch."},
    [HC_READY] = {"ready_ns", TM_INT, tm_epoch_ns,
                  "Time from which the operation can wait for other ranks, since the epoch: when "
                  "it was issued, or when the group's operations before it were seen to end."},
    [HC_TIMEOUT] = {"timeout_ns", TM_INT, "ns", "Timeout of the operation."},
    [HC_FRAMES] = {"frames", TM_TEXT, "", "Stack frames of the user's program at the call."},
    [HC_BEFORE] = {"before", TM_INT, "",
                   "For a send or receive: number of earlier calls of the same operation by this "
                   "rank in this group. Null if their records are lost."},
};

const tm_table_def tm_hang_dump_def = {.name = "hang.dump",
                                       .doc = "A row for each dump.",
                                       TM_ARRAY(columns, dump_columns),
                                       .n_keys = 2,
                                       .top = -1,
                                       .internal = true};
const tm_table_def tm_hang_group_def = {
    .name = "hang.group",
    .doc = "A row for each group and each process that read dumps of it.",
    TM_ARRAY(columns, group_columns),
    .n_keys = 1,
    .top = -1,
    .internal = true};
const tm_table_def tm_hang_progress_def = {
    .name = "hang.progress",
    .doc = "A row for each group and rank: how far the rank has come.",
    TM_ARRAY(columns, progress_columns),
    .n_keys = 2,
    .top = -1,
    .internal = true};
const tm_table_def tm_hang_call_def = {.name = "hang.call",
                                       .doc =
                                           "A row for each operation needed to explain the hang.",
                                       TM_ARRAY(columns, call_columns),
                                       .n_keys = 4,
                                       .top = -1,
                                       .internal = true};

static const tm_table_def *const tables[] = {
    &tm_hang_job_def,  &tm_hang_collective_def, &tm_hang_rank_def,     &tm_hang_ras_def,
    &tm_hang_dump_def, &tm_hang_group_def,      &tm_hang_progress_def, &tm_hang_call_def,
    &tm_hang_seen_def, &tm_hang_answer_def,     &tm_hang_move_def};

/* Keeps only the first row of each key. The other rows are further dumps of a rank, or repetitions
 * of a group that several dumps list. */
static void leave_doubles(tm_table *table) {
    const size_t width = (size_t)table->def->n_columns;
    size_t w = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *row = tm_table_row(table, i);
        if (w > 0 && tm_table_row(table, w - 1)[0].value.i == row[0].value.i)
            continue;
        if (w != i)
            memcpy(tm_table_row(table, w), row, width * sizeof *row);
        w++;
    }
    table->n_rows = w;
}

/* Returns whether a list of ranks ("0 1 12") contains a rank. */
static bool lists(const char *ranks, int64_t rank) {
    for (int64_t next; (next = tm_hang_next_rank(&ranks)) >= 0;)
        if (next == rank)
            return true;
    return false;
}

/* Returns the key of the group that has the same name as group @p unreported and contains the rank.
 * Returns @p key if there is no such group, or if there are several. */
static int64_t reported_key(const tm_table *groups, size_t unreported, int64_t rank, int64_t key) {
    const char *name = tm_hang_text(groups, unreported, HG_NAME);
    int64_t found = key;
    size_t n = 0;
    for (size_t g = 0; g < groups->n_rows; g++)
        if (strcmp(tm_hang_text(groups, g, HG_NAME), name) == 0 &&
            lists(tm_hang_text(groups, g, HG_RANKS), rank)) {
            found = tm_hang_int(groups, g, HG_GROUP, key);
            n++;
        }
    return n == 1 ? found : key;
}

/* Moves rows of groups without known ranks to other groups. A dump may lack the ranks of a group,
 * for example if it is cut short. The dump's rows of this group then belong to the group of the
 * same name in other dumps. */
static void join_unreported(const tm_table *groups, tm_table *rows, int group, int rank) {
    for (size_t g = 0; g < groups->n_rows; g++) {
        const int64_t key = tm_hang_int(groups, g, HG_GROUP, 0);
        if (*tm_hang_text(groups, g, HG_RANKS))
            continue;
        for (size_t i = 0; i < rows->n_rows; i++) {
            tm_cell *row = tm_table_row(rows, i);
            if (!row[group].null && row[group].value.i == key)
                row[group].value.i = reported_key(groups, g, row[rank].value.i, key);
        }
    }
    tm_table_sort(rows);
}

/* Converts times to the job's clock, on ranks whose trace has a comparable clock. */
static void move_times(const tm_table *seen, tm_table *rows, int rank, int column) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        tm_cell *row = tm_table_row(rows, i);
        const tm_cell *of = tm_hang_seen_of(seen, row[rank].value.i);
        if (of && !of[HS_OFFSET].null && !row[column].null)
            row[column].value.i += of[HS_OFFSET].value.i;
    }
}

static tm_status hang_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_hang_world world;
    tm_hang_causes causes = {
        .culprits = TM_VEC(int64_t), .also = TM_VEC(int64_t), .besides = TM_VEC(int64_t)};
    tm_table *dumps = tm_tables_find(out, tm_hang_dump_def.name);
    (void)job;
    if (dumps->n_rows == 0 && tm_hang_ras_of(out).answer->n_rows == 0)
        return TM_OK;
    leave_doubles(dumps);
    leave_doubles(tm_tables_find(out, tm_hang_group_def.name));
    const tm_table *groups = tm_tables_find(out, tm_hang_group_def.name);
    join_unreported(groups, dumps, HD_LAST_GROUP, HD_RANK);
    join_unreported(groups, tm_tables_find(out, tm_hang_progress_def.name), HP_GROUP, HP_RANK);
    join_unreported(groups, tm_tables_find(out, tm_hang_call_def.name), HC_GROUP, HC_RANK);
    const tm_table *seen = tm_tables_find(out, tm_hang_seen_def.name);
    move_times(seen, dumps, HD_RANK, HD_WRITTEN);
    move_times(seen, dumps, HD_RANK, HD_LAST_NS);
    move_times(seen, tm_tables_find(out, tm_hang_call_def.name), HC_RANK, HC_CREATED);
    move_times(seen, tm_tables_find(out, tm_hang_call_def.name), HC_RANK, HC_READY);
    tm_status status = tm_hang_world_make(out, job->world_size, &world, err);
    if (status == TM_OK)
        status = tm_hang_find_causes(&world, &causes) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_hang_say(&world, &causes, out, err);
    tm_hang_causes_free(&causes);
    tm_hang_world_free(&world);
    return status;
}

const tm_analysis tm_analysis_hang = {
    .name = "hang",
    .summary = "who is missing in a job that hangs (tmerge hang)",
    TM_ARRAY(tables, tables),
    .rank = tm_hang_seen_rank,
    .job = hang_job,
};
