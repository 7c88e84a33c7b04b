/* Analysis `bubble`: when pipeline stages run their passes, and why they are idle. */
#include "bubble.h"

#include "base/keys.h"
#include "base/sums.h"
#include "waits/stages.h"

static const tm_column part_columns[TM_BUBBLE_P_N] = {
    [TM_BUBBLE_P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [TM_BUBBLE_P_STEP] = {"step", TM_INT, "", "Number of the step."},
    [TM_BUBBLE_P_BACKWARD] = {"backward", TM_BOOL, "", "Whether the pass is a backward pass."},
    [TM_BUBBLE_P_NUMBER] =
        {"number", TM_INT, "",
         "Number of the pass among the rank's passes of this direction in the step (bubble.pass)."},
    [TM_BUBBLE_P_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                           "Aligned start of the pass, since the epoch."},
    [TM_BUBBLE_P_END] = {"end_ns", TM_INT, tm_epoch_ns,
                         "Aligned end of the pass, since the epoch."},
};

const tm_table_def tm_bubble_part_def =
    TM_INTERNAL_TABLE("bubble.part", "A row for each pass of a rank that sends or receives.",
                      part_columns, TM_BUBBLE_P_NUMBER + 1);

static const tm_column place_columns[TM_BUBBLE_R_N] = {
    [TM_BUBBLE_R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [TM_BUBBLE_R_STAGE] = {"stage", TM_INT, "", "Number of the rank's pipeline stage."},
};

const tm_table_def tm_bubble_place_def =
    TM_INTERNAL_TABLE("bubble.place", "A row for each rank of a pipeline.", place_columns, 1);

static const tm_column pair_columns[TM_BUBBLE_T_N] = {
    [TM_BUBBLE_T_FROM] = {"from_rank", TM_INT, "", "Rank that sends."},
    [TM_BUBBLE_T_TO] = {"to_rank", TM_INT, "", "Rank that receives."},
    [TM_BUBBLE_T_FROM_STAGE] =
        {"from_stage", TM_INT, "",
         "Pipeline stage of the sender; null if the sender's rank is in no pipeline."},
    [TM_BUBBLE_T_TO_STAGE] =
        {"to_stage", TM_INT, "",
         "Pipeline stage of the receiver; null if the receiver's rank is in no pipeline."},
    [TM_BUBBLE_T_COUNT] = {"count", TM_INT, "",
                           "Number of transfers between the two ranks for which both kernels (send "
                           "and receive) are known."},
    [TM_BUBBLE_T_BYTES] =
        {"bytes", TM_INT, "B",
         "Sum of the sizes of the transfers; null if the size of a transfer is unknown."},
    [TM_BUBBLE_T_LATE_SENDER] =
        {"late_sender_ns", TM_INT, "ns",
         "Time that receive kernels waited for the send kernel to start: sum over the transfers. "
         "Null if not recorded, or if the clocks of the two ranks cannot be compared."},
    [TM_BUBBLE_T_LATE_RECEIVER] = {"late_receiver_ns", TM_INT, "ns",
                                   "Time that send kernels waited for the receive kernel to start: "
                                   "sum over the transfers. Null if late_sender_ns is null."},
    [TM_BUBBLE_T_TRANSFER] =
        {"transfer_ns", TM_INT, "ns",
         "Duration of the transfers: sum over the transfers. A transfer takes as long as the "
         "shorter of its two kernels (send and receive), because that kernel does not wait."},
};

const tm_table_def tm_bubble_pair_def = {
    .name = "bubble.pair",
    .doc = "A row for each pair of ranks in which one rank sent to the other, in a pipeline or "
           "not. Limited to the 5000 pairs with the largest transfer_ns.",
    TM_ARRAY(columns, pair_columns),
    .n_keys = 2,
    .top = TM_BUBBLE_T_TRANSFER,
};

/* Two ranks may be in several groups that different processes own. So the job sums all rows of a
 * pair, in any order. */
const tm_table_def tm_bubble_pair_part_def = TM_INTERNAL_TABLE(
    "bubble.pair_part", "A row for each process and pair of ranks: its part of bubble.pair.",
    pair_columns, TM_BUBBLE_T_N);

static const tm_table_def *const defs[] = {
    &tm_bubble_stage_def, &tm_bubble_step_def,  &tm_bubble_pass_def,     &tm_bubble_pair_def,
    &tm_bubble_part_def,  &tm_bubble_place_def, &tm_bubble_pair_part_def};

static tm_status bubble_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    return tm_bubble_passes(view, tm_tables_find(out, tm_bubble_part_def.name), err);
}

typedef struct pair {
    int64_t from, to;
} pair;

/* Sums over the transfers from one rank to another. */
typedef struct sums {
    int64_t count, bytes, late_sender_ns, late_receiver_ns, transfer_ns;
    bool unsized, unknown;
} sums;

static void add_transfer(sums *s, const tm_comm_record *sender, const tm_comm_record *receiver,
                         const tm_instance *instance) {
    int64_t sent = sender->end_ns - sender->begin_ns,
            received = receiver->end_ns - receiver->begin_ns;
    s->count++;
    s->unsized = s->unsized || sender->bytes < 0;
    s->bytes = tm_sum(s->bytes, sender->bytes);
    s->transfer_ns = tm_sum(s->transfer_ns, sent < received ? sent : received);
    s->unknown = s->unknown || !instance->transfers;
    if (s->unknown)
        return;
    s->late_sender_ns = tm_sum(s->late_sender_ns, tm_member_wait(receiver, sender->begin_ns));
    s->late_receiver_ns = tm_sum(s->late_receiver_ns, tm_member_wait(sender, receiver->begin_ns));
}

static bool add_pair(const pair *key, const sums *s, tm_table *table) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return false;
    tm_cell_set_int(&row[TM_BUBBLE_T_FROM], key->from);
    tm_cell_set_int(&row[TM_BUBBLE_T_TO], key->to);
    tm_cell_set_int(&row[TM_BUBBLE_T_COUNT], s->count);
    if (!s->unsized)
        tm_cell_set_int(&row[TM_BUBBLE_T_BYTES], s->bytes);
    if (!s->unknown) {
        tm_cell_set_int(&row[TM_BUBBLE_T_LATE_SENDER], s->late_sender_ns);
        tm_cell_set_int(&row[TM_BUBBLE_T_LATE_RECEIVER], s->late_receiver_ns);
    }
    tm_cell_set_int(&row[TM_BUBBLE_T_TRANSFER], s->transfer_ns);
    return true;
}

static tm_status add_pairs(const tm_collectives *own, tm_table *table, tm_error *err) {
    const tm_comm_record *records = own->records.data;
    const tm_instance *instances = own->instances.data;
    tm_keys keys = TM_KEYS(pair);
    tm_vec values = TM_VEC(sums);
    bool ok = true;
    for (size_t i = 0; i < own->instances.n && ok; i++) {
        const tm_comm_record *members = records + instances[i].first;
        if (members->way != TM_MATCH_PAIR || instances[i].state != TM_INSTANCE_COMPLETE ||
            instances[i].n != 2)
            continue;
        size_t sends = members[0].kind == TM_COLL_SEND ? 0 : 1;
        const pair key = {members[sends].rank, members[1 - sends].rank};
        sums *s = tm_keys_value(&keys, &values, &key);
        ok = s != NULL;
        if (ok)
            add_transfer(s, &members[sends], &members[1 - sends], &instances[i]);
    }
    for (size_t i = 0; i < keys.keys.n && ok; i++)
        ok = add_pair((const pair *)keys.keys.data + i, (const sums *)values.data + i, table);
    tm_keys_free(&keys);
    tm_vec_free(&values);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status bubble_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_stage *stages = own->stages.data;
    tm_table *places = tm_tables_find(out, tm_bubble_place_def.name);
    for (size_t i = 0; i < own->stages.n && own->first_process; i++) {
        tm_cell *row = stages[i].stage < 0 ? NULL : tm_table_add_row(places);
        if (!row && stages[i].stage >= 0)
            return tm_fail_memory(err);
        if (!row)
            continue;
        tm_cell_set_int(&row[TM_BUBBLE_R_RANK], stages[i].rank);
        tm_cell_set_int(&row[TM_BUBBLE_R_STAGE], stages[i].stage);
    }
    return add_pairs(own, tm_tables_find(out, tm_bubble_pair_part_def.name), err);
}

static tm_status bubble_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    return tm_bubble_rows(out, err);
}

const tm_analysis tm_analysis_bubble = {
    .name = "bubble",
    .summary =
        "pipelines: passes of each stage, the bubble compared with the ideal, and who sends late",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_ANNOTATIONS,
    .rank = bubble_rank,
    .collectives = bubble_own,
    .job = bubble_job,
};
