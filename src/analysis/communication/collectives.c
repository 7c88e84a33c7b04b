/* Analysis `collectives`: the speed of each kind of collective in each group, the operations with
 * the longest waits or the most exposed time, and the bytes that ranks send to one another. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/bandwidth.h"
#include "analysis/shared/size_class.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "rank_pairs.h"
#include "timeline/collectives.h"
#include "waits/most_exposed.h"

enum {
    K_KIND,
    K_GROUP,
    K_RANKS,
    K_SIZE_CLASS,
    K_HOW,
    K_BITS,
    K_AT_LEAST,
    K_COUNT,
    K_BYTES,
    K_TRANSFER,
    K_P95,
    K_SKEW,
    K_ALGBW,
    K_BUSBW
};

static const tm_column kind_columns[] = {
    [K_KIND] = {"kind", TM_TEXT, "", "Kind of collective, such as allreduce or allgather."},
    [K_GROUP] = {"group", TM_TEXT, "",
                 "Name of the process group; its sorted ranks if the group has no name."},
    [K_RANKS] = {"ranks", TM_INT, "", "Number of ranks in the group."},
    [K_SIZE_CLASS] = {"size_class_bytes", TM_INT, "B",
                      "Size class: the largest power of two that does not exceed the size. Null "
                      "without metadata."},
    [K_HOW] = {"how", TM_TEXT, "",
               "How kernels of different ranks were matched. metadata: kernels carry a sequence "
               "number. order: kernels carry only the group; the n-th kernel of a rank matches the "
               "n-th kernel of every other rank. inferred: kernels carry no metadata, and the "
               "group was inferred from the waits between ranks."},
    [K_BITS] =
        {"evidence_bits", TM_INT, "",
         "Evidence for an inferred group: -log2 of the probability that a rank fits by chance, for "
         "the rank with the weakest evidence. Null if the group was not inferred."},
    [K_AT_LEAST] = {"at_least", TM_BOOL, "",
                    "Whether an inferred group may have more ranks than were found, so that its "
                    "waits are lower bounds. Null if the group was not inferred."},
    [K_COUNT] = {"count", TM_INT, "",
                 "Number of complete operations, in which every rank of the group has a kernel."},
    [K_BYTES] = {"bytes", TM_INT, "B",
                 "Median size of the operations. As in nccl-tests, size is the output for "
                 "all-gather, and the input for all-reduce, broadcast, reduce, reduce-scatter and "
                 "all-to-all. Null without metadata."},
    [K_TRANSFER] =
        {"median_transfer_ns", TM_INT, "ns",
         "Median time from the latest start to the latest end on any rank. Null if ranks may "
         "have left before others arrived (as in many broadcasts), or if the clocks cannot be "
         "compared."},
    [K_P95] = {"p95_transfer_ns", TM_INT, "ns",
               "95th percentile (nearest rank) of the time from the latest start to the latest end "
               "on any rank. Null if median_transfer_ns is null."},
    [K_SKEW] = {"median_skew_ns", TM_INT, "ns",
                "Median time from the earliest to the latest start on any rank. Null if "
                "median_transfer_ns is null."},
    [K_ALGBW] = {"algbw_gbps", TM_REAL, "GB/s",
                 "Algorithm bandwidth: median of size / (latest end - latest start), over "
                 "operations for which this time is above 0. 1 GB is 1e9 bytes."},
    [K_BUSBW] = {"busbw_gbps", TM_REAL, "GB/s",
                 "Bus bandwidth: algbw_gbps x f. For n ranks, f is 2(n-1)/n for all-reduce, "
                 "(n-1)/n for all-gather, reduce-scatter and all-to-all, and 1 for other kinds."},
};

static const tm_table_def kind_def = {
    .name = "collectives.kind",
    .doc = "A row for each kind of collective, process group, size class and way of matching, over "
           "complete operations.",
    TM_ARRAY(columns, kind_columns),
    .n_keys = 5,
    .top = K_COUNT,
};

enum {
    W_INSTANCE,
    W_KIND,
    W_GROUP,
    W_SEQ,
    W_STEP,
    W_BYTES,
    W_BEGIN,
    W_SKEW,
    W_WAIT,
    W_LAST_RANK,
    W_TRANSFER
};

static const tm_column worst_columns[] = {
    [W_INSTANCE] = {"instance", TM_INT, "",
                    "Number of the operation in this table. Operation 0 has the longest wait."},
    [W_KIND] = {"kind", TM_TEXT, "", "Kind of collective, such as allreduce."},
    [W_GROUP] = {"group", TM_TEXT, "",
                 "Name of the process group; its sorted ranks if the group has no name."},
    [W_SEQ] = {"seq", TM_INT, "",
               "Sequence number of the operation in its group (`Seq`); null if not recorded."},
    [W_STEP] = {"step", TM_INT, "",
                "Step in which the operation's lowest rank runs it; null if in no step."},
    [W_BYTES] = {"bytes", TM_INT, "B",
                 "Size of the operation as its lowest rank records it; null without metadata."},
    [W_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "Earliest start of the operation's kernels, since the epoch."},
    [W_SKEW] = {"skew_ns", TM_INT, "ns", "Time from the earliest to the latest start on any rank."},
    [W_WAIT] = {"wait_ns", TM_INT, "ns",
                "Time that ranks waited for the last rank to start: sum over ranks."},
    [W_LAST_RANK] =
        {"last_rank", TM_INT, "",
         "Rank that started last. Null if this is unknown because of the clocks' uncertainty."},
    [W_TRANSFER] = {"transfer_ns", TM_INT, "ns",
                    "Time from the latest start to the latest end on any rank."},
};

static const tm_table_def worst_def = {
    .name = "collectives.worst",
    .doc = "A row for each of the 100 operations with the longest waits, sorted by wait_ns and "
           "then by start.",
    TM_ARRAY(columns, worst_columns),
    .n_keys = 1,
    .top = W_WAIT,
};

static const tm_column arrival_columns[] = {
    {"instance", TM_INT, "", "Number of the operation in collectives.worst."},
    {"rank", TM_INT, "", "Global rank."},
    {"begin_ns", TM_INT, tm_epoch_ns, "Start of the rank's kernel, since the epoch."},
    {"end_ns", TM_INT, tm_epoch_ns, "End of the rank's kernel, since the epoch."},
};

static const tm_table_def arrival_def = {
    .name = "collectives.arrival",
    .doc = "A row for each rank of each operation in collectives.worst.",
    TM_ARRAY(columns, arrival_columns),
    .n_keys = 2,
    .top = -1,
};

enum {
    I_INSTANCE,
    I_KIND,
    I_GROUP,
    I_SEQ,
    I_STEP,
    I_BYTES,
    I_INFERRED,
    I_RANKS,
    I_BEGIN,
    I_EXPOSED,
    I_LONGEST,
    I_LONGEST_RANK,
    I_COMM,
    I_WAIT
};

static const tm_column instance_columns[] = {
    [I_INSTANCE] =
        {"instance", TM_INT, "",
         "Number of the operation in this table. Operation 0 has the most exposed time."},
    [I_KIND] =
        {"kind", TM_TEXT, "",
         "Kind of collective, such as allreduce; sendrecv for a send with the matching receive."},
    [I_GROUP] = {"group", TM_TEXT, "",
                 "Name of the process group; its sorted ranks if the group has no name."},
    [I_SEQ] = {"seq", TM_INT, "",
               "Sequence number of the operation in its group (`Seq`); null if not recorded."},
    [I_STEP] = {"step", TM_INT, "",
                "Step in which the operation's lowest rank runs it; null if in no step."},
    [I_BYTES] = {"bytes", TM_INT, "B",
                 "Size of the operation (see collectives.kind.bytes) as its lowest rank records "
                 "it; null if unknown."},
    [I_INFERRED] = {"bytes_inferred", TM_BOOL, "",
                    "Whether bytes was computed from the shapes and types of the tensors in the "
                    "call that launched the kernel (such as nccl:all_reduce), because the kernel "
                    "has no metadata. Null if bytes is null."},
    [I_RANKS] =
        {"ranks", TM_INT, "",
         "Number of ranks whose kernel is known. The sums of this row count only these ranks."},
    [I_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "Earliest start of the operation's kernels, since the epoch."},
    [I_EXPOSED] = {"exposed_ns", TM_INT, "ns",
                   "Time in which the operation's kernels run while their rank runs no compute "
                   "kernel: sum over ranks. It includes waits for the last rank. The sum over all "
                   "operations is exposed_comm_ns of overlap.rank, or more if a rank runs several "
                   "communication kernels at once."},
    [I_LONGEST] = {"longest_exposed_ns", TM_INT, "ns",
                   "Largest exposed time of the operation on any rank."},
    [I_LONGEST_RANK] =
        {"longest_rank", TM_INT, "",
         "Rank with the largest exposed time (longest_exposed_ns); if several, the lowest."},
    [I_COMM] = {"comm_ns", TM_INT, "ns", "Duration of the operation's kernels: sum over ranks."},
    [I_WAIT] =
        {"wait_ns", TM_INT, "ns",
         "Time that ranks waited for the last rank to start: sum over ranks; null if unknown."},
};

static const tm_table_def instance_def = {
    .name = "collectives.instance",
    .doc = "A row for each of the operations with the most exposed time, sorted by exposed_ns: of "
           "each kind of collective, the 50 operations with the largest exposed_ns and the 50 with "
           "the largest longest_exposed_ns. The table events has the exposed time of every kernel.",
    TM_ARRAY(columns, instance_columns),
    .n_keys = 1,
    .top = I_EXPOSED,
};

enum { U_GROUP, U_RANKS, U_REASON, U_COUNT, N_UNMATCHED_COLUMNS };

static const tm_column unmatched_columns[N_UNMATCHED_COLUMNS] = {
    [U_GROUP] = {"group", TM_TEXT, "",
                 "Name of the process group; its sorted ranks if the group has no name. Null if "
                 "the kernels belong to no group."},
    [U_RANKS] = {"ranks", TM_INT, "", "Number of ranks of the group; null if unknown."},
    [U_REASON] =
        {"reason", TM_TEXT, "",
         "Why the kernels were not matched. order unproven: they have no metadata, and the waits "
         "between ranks do not show the group. one-sided: kernels of their library (such as "
         "DeepEP) do not correspond to kernels of other ranks. group unknown: the group's ranks "
         "are unknown. peer unknown: the other rank of the transfer is unknown. transfers differ: "
         "sender and receiver recorded different numbers or sizes of transfers. The other reasons "
         "concern kernels without a sequence number whose order differs between ranks. too few: a "
         "match could be chance. signatures differ: no match has equal kinds, sizes and steps on "
         "all ranks. incoherent: in no match do the ends of two ranks differ by a constant time. "
         "ambiguous: several matches fit. no counterpart: when the kernel ends, no kernel of the "
         "other ranks ends. ends need not meet: a rank lacks kernels, and ends do not show which, "
         "because ranks leave this kind of collective (such as a broadcast) at different times."},
    [U_COUNT] = {"count", TM_INT, "", "Number of unmatched kernels."},
};

static const tm_table_def unmatched_def = {
    .name = "collectives.unmatched",
    .doc = "A row for each process group and reason: how many communication kernels belong to no "
           "operation, and why.",
    TM_ARRAY(columns, unmatched_columns),
    .n_keys = 3,
    .top = U_COUNT,
};

/* Unmatched kernels of each process. The job part sums rows with equal keys, because
 * tm_over_ranks_merge does not support text keys. */
static const tm_table_def unmatched_part_def = TM_INTERNAL_TABLE(
    "collectives.unmatched_part",
    "A row for each process, group and reason: its part of collectives.unmatched.",
    unmatched_columns, 3);

static const tm_table_def *const defs[] = {&kind_def,      &worst_def,         &arrival_def,
                                           &instance_def,  &tm_pair_def,       &tm_pair_part_def,
                                           &unmatched_def, &unmatched_part_def};

/* Sorts complete operations first, because only these are shown. */
static int by_class(const void *a, const void *b) {
    const tm_instance_value *x = a, *y = b;
    int order = tm_order_i64(x->state, y->state);
    order = order ? order : tm_order_i64(x->kind, y->kind);
    order = order ? order : tm_order_u64(x->group, y->group);
    order = order ? order : strcmp(tm_match_word(x->way), tm_match_word(y->way));
    return order ? order : tm_order_i64(tm_size_class(x->bytes), tm_size_class(y->bytes));
}

/* Sets the medians of a class. `scratch` has room for n int64_t or n double. */
static void set_medians(tm_cell *row, const tm_instance_value *v, size_t n, void *scratch) {
    int64_t *values = scratch;
    double *rates = scratch;
    for (size_t i = 0; i < n; i++)
        values[i] = v[i].bytes;
    if (v->bytes >= 0)
        tm_cell_set_int(&row[K_BYTES], tm_median_any(values, n));
    /* If operations do not synchronise, or if clocks cannot be compared, the last start (L) is
     * unknown. The values below are then unknown, too. */
    size_t n_timed = 0, n_skews = 0, n_rates = 0;
    for (size_t i = 0; i < n; i++)
        if (v[i].transfer_ns >= 0)
            values[n_timed++] = v[i].transfer_ns;
    if (n_timed == 0)
        return;
    tm_cell_set_int(&row[K_TRANSFER], tm_median_any(values, n_timed));
    tm_cell_set_int(&row[K_P95], tm_percentile_95(values, n_timed));
    for (size_t i = 0; i < n; i++)
        if (v[i].transfer_ns >= 0)
            values[n_skews++] = v[i].skew_ns;
    tm_cell_set_int(&row[K_SKEW], tm_median_any(values, n_skews));
    for (size_t i = 0; i < n; i++)
        if (v[i].transfer_ns > 0 && v[i].bytes >= 0)
            rates[n_rates++] = (double)v[i].bytes / (double)v[i].transfer_ns;
    if (n_rates > 0) {
        double rate = tm_median_real(rates, n_rates);
        tm_cell_set_real(&row[K_ALGBW], rate);
        tm_cell_set_real(&row[K_BUSBW], rate * tm_bus_factor(v->kind, v->group_size));
    }
}

/* Sets the weakest evidence of any operation of a class. Evidence differs between streams of the
 * same ranks, because each stream is matched separately. */
static void set_evidence(tm_cell *row, const tm_instance_value *v, size_t n) {
    int32_t bits = v->evidence_bits;
    bool at_least = false;
    for (size_t i = 0; i < n; i++) {
        bits = v[i].evidence_bits < bits ? v[i].evidence_bits : bits;
        at_least = at_least || v[i].at_least;
    }
    tm_cell_set_int(&row[K_BITS], bits);
    tm_cell_set_int(&row[K_AT_LEAST], at_least);
}

/* Adds the row of a class: [n] complete operations of one kind, group and size class. */
static tm_status add_class(tm_table *table, const tm_instance_value *v, size_t n, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    int64_t *scratch = malloc(n * sizeof *scratch);
    if (!row || !scratch) {
        free(scratch);
        return tm_fail_memory(err);
    }
    tm_cell_set_int(&row[K_RANKS], v->group_size);
    tm_cell_set_int(&row[K_COUNT], (int64_t)n);
    if (v->bytes >= 0)
        tm_cell_set_int(&row[K_SIZE_CLASS], tm_size_class(v->bytes));
    set_medians(row, v, n, scratch);
    free(scratch);
    if (v->way == TM_MATCH_INFERRED)
        set_evidence(row, v, n);
    TM_TRY(tm_table_set_text(table, &row[K_HOW], tm_match_word(v->way), err));
    TM_TRY(tm_table_set_text(table, &row[K_KIND], tm_collective_word((tm_collective_kind)v->kind),
                             err));
    return tm_table_set_text(table, &row[K_GROUP], v->group_text, err);
}

/* Adds the rows of the groups that this process owns, with all their operations. */
static tm_status add_classes(const tm_collectives *own, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, kind_def.name);
    tm_instance_value *v = own->values.data;
    size_t n = own->values.n;
    if (n > 1)
        qsort(v, n, sizeof *v, by_class);
    for (size_t first = 0, i = 0; first < n && v[first].state == TM_INSTANCE_COMPLETE; first = i) {
        for (i = first + 1; i < n && by_class(&v[first], &v[i]) == 0; i++)
            ;
        TM_TRY(add_class(table, v + first, i - first, err));
    }
    return TM_OK;
}

/* Adds the times at which each member arrived and left, for an operation with a row in
 * collectives.worst. */
static tm_status add_arrivals(const tm_comm_record *members, const tm_instance *instance,
                              int64_t place, tm_table *table, tm_error *err) {
    for (size_t i = 0; i < instance->n; i++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], place);
        tm_cell_set_int(&row[1], members[i].rank);
        tm_cell_set_int(&row[2], members[i].begin_ns);
        tm_cell_set_int(&row[3], members[i].end_ns);
    }
    return TM_OK;
}

/* Returns the rank that arrived last; -1 if the clocks' uncertainty allows several. */
static int64_t last_rank(const tm_comm_record *members, const tm_instance *instance) {
    const tm_comm_record *last = members;
    for (size_t i = 1; i < instance->n; i++)
        if (members[i].begin_ns > last->begin_ns)
            last = &members[i];
    for (size_t i = 0; i < instance->n; i++)
        if (&members[i] != last &&
            last->begin_ns - members[i].begin_ns <= tm_joint_uncertainty(last, &members[i]))
            return -1;
    return last->rank;
}

/* Adds an operation that is among the worst of the job; @p place is its number in
 * collectives.worst. */
static tm_status add_worst(const tm_comm_record *members, const tm_instance *instance,
                           int64_t place, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    int64_t begin = members->begin_ns, end = members->end_ns, wait = 0;
    for (size_t i = 0; i < instance->n; i++) {
        begin = members[i].begin_ns < begin ? members[i].begin_ns : begin;
        end = members[i].end_ns > end ? members[i].end_ns : end;
        wait += tm_member_wait(&members[i], instance->last_ns);
    }
    tm_cell_set_int(&row[W_INSTANCE], place);
    tm_cell_set_known(&row[W_SEQ], members->seq);
    tm_cell_set_known(&row[W_STEP], members->step);
    tm_cell_set_known(&row[W_BYTES], members->bytes);
    tm_cell_set_int(&row[W_BEGIN], begin);
    tm_cell_set_int(&row[W_SKEW], instance->last_ns - begin);
    tm_cell_set_int(&row[W_WAIT], wait);
    int64_t last = last_rank(members, instance);
    tm_cell_set_known(&row[W_LAST_RANK], last);
    tm_cell_set_int(&row[W_TRANSFER], end > instance->last_ns ? end - instance->last_ns : 0);
    TM_TRY(tm_table_set_text(table, &row[W_KIND],
                             tm_collective_word((tm_collective_kind)members->kind), err));
    return tm_table_set_text(table, &row[W_GROUP], members->group_text, err);
}

/* Sets the sums over an operation's members, and the member with the most exposed time. */
static void set_exposed(tm_cell *row, const tm_comm_record *members, const tm_instance *instance) {
    int64_t begin = members->begin_ns, exposed = 0, comm = 0, wait = 0;
    const tm_comm_record *longest = members;
    for (size_t i = 0; i < instance->n; i++) {
        begin = members[i].begin_ns < begin ? members[i].begin_ns : begin;
        exposed = tm_sum(exposed, members[i].exposed_ns);
        comm = tm_sum(comm, members[i].end_ns - members[i].begin_ns);
        wait = tm_sum(wait, tm_member_wait(&members[i], instance->last_ns));
        longest = members[i].exposed_ns > longest->exposed_ns ? &members[i] : longest;
    }
    tm_cell_set_int(&row[I_BEGIN], begin);
    tm_cell_set_int(&row[I_EXPOSED], exposed);
    tm_cell_set_int(&row[I_LONGEST], longest->exposed_ns);
    tm_cell_set_int(&row[I_LONGEST_RANK], longest->rank);
    tm_cell_set_int(&row[I_COMM], comm);
    if (instance->waits)
        tm_cell_set_int(&row[I_WAIT], wait);
}

/* Sets the size of an operation. Calls record the size of the input. For an all-gather, the size is
 * that of the output: input times number of ranks, or unknown if a rank is unknown. */
static void set_size(tm_cell *row, const tm_comm_record *members) {
    const bool inferred = members->bytes < 0;
    int64_t bytes = inferred ? members->call_bytes : members->bytes;
    if (inferred && bytes >= 0 && members->kind == TM_COLL_ALLGATHER)
        bytes = members->at_least || bytes > INT64_MAX / members->group_size
                    ? -1
                    : bytes * members->group_size;
    if (bytes < 0)
        return;
    tm_cell_set_int(&row[I_BYTES], bytes);
    tm_cell_set_bool(&row[I_INFERRED], inferred);
}

/* Adds an operation of this process that is among the job's operations with the most exposed time.
 */
static tm_status add_exposed(const tm_comm_record *members, const tm_instance *instance,
                             int64_t place, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[I_INSTANCE], place);
    tm_cell_set_known(&row[I_SEQ], members->seq);
    tm_cell_set_known(&row[I_STEP], members->step);
    set_size(row, members);
    tm_cell_set_int(&row[I_RANKS], (int64_t)instance->n);
    set_exposed(row, members, instance);
    const char *kind = tm_collective_word((tm_collective_kind)tm_operation_kind(members));
    TM_TRY(tm_table_set_text(table, &row[I_KIND], kind, err));
    return tm_table_set_text(table, &row[I_GROUP], members->group_text, err);
}

static const char *reason_word(uint8_t reason) {
    static const char *const words[] = {"",
#define REASON_WORD(name, word) word,
                                        TM_UNMATCHED_REASONS(REASON_WORD)
#undef REASON_WORD
    };
    return words[reason];
}

static tm_status add_left_out(const tm_collectives *own, tm_table *table, tm_error *err) {
    const tm_left_out *left_out = own->left_out.data;
    for (size_t i = 0; i < own->left_out.n; i++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        const char *group = left_out[i].group_text;
        tm_cell_set_known(&row[U_RANKS], left_out[i].group_size);
        tm_cell_set_int(&row[U_COUNT], left_out[i].count);
        TM_TRY(tm_table_set_text(table, &row[U_GROUP], group[0] ? group : NULL, err));
        TM_TRY(tm_table_set_text(table, &row[U_REASON], reason_word(left_out[i].reason), err));
    }
    return TM_OK;
}

static tm_status collectives_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_comm_record *records = own->records.data;
    const tm_instance *instances = own->instances.data;
    const tm_worst *worst = own->worst.data;
    for (size_t i = 0; i < own->worst.n; i++) {
        const tm_instance *instance = &instances[worst[i].instance];
        const tm_comm_record *members = records + instance->first;
        TM_TRY(
            add_worst(members, instance, worst[i].place, tm_tables_find(out, worst_def.name), err));
        TM_TRY(add_arrivals(members, instance, worst[i].place,
                            tm_tables_find(out, arrival_def.name), err));
    }
    const tm_worst *exposed = own->exposed.data;
    for (size_t i = 0; i < own->exposed.n; i++) {
        const tm_instance *instance = &instances[exposed[i].instance];
        TM_TRY(add_exposed(records + instance->first, instance, exposed[i].place,
                           tm_tables_find(out, instance_def.name), err));
    }
    TM_TRY(add_left_out(own, tm_tables_find(out, unmatched_part_def.name), err));
    return add_classes(own, out, err);
}

static bool same_text(const tm_cell *a, const tm_cell *b) {
    return a->null == b->null && (a->null || strcmp(a->value.text, b->value.text) == 0);
}

static bool same_row(const tm_cell *a, const tm_cell *b) {
    return same_text(&a[U_GROUP], &b[U_GROUP]) && a[U_RANKS].null == b[U_RANKS].null &&
           (a[U_RANKS].null || a[U_RANKS].value.i == b[U_RANKS].value.i) &&
           same_text(&a[U_REASON], &b[U_REASON]);
}

/* copies texts, because each table owns the texts of its cells */
static tm_status add_unmatched(const tm_cell *from, int64_t count, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    if (!from[U_RANKS].null)
        tm_cell_set_int(&row[U_RANKS], from[U_RANKS].value.i);
    tm_cell_set_int(&row[U_COUNT], count);
    TM_TRY(tm_table_set_text(table, &row[U_GROUP],
                             from[U_GROUP].null ? NULL : from[U_GROUP].value.text, err));
    return tm_table_set_text(table, &row[U_REASON], from[U_REASON].value.text, err);
}

/* Merges adjacent rows of unmatched kernels with equal keys. */
static tm_status collectives_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    const tm_table *parts = tm_tables_find(out, unmatched_part_def.name);
    tm_table *table = tm_tables_find(out, unmatched_def.name);
    for (size_t first = 0, i = 0; first < parts->n_rows; first = i) {
        int64_t count = 0;
        for (i = first;
             i < parts->n_rows && same_row(tm_table_row(parts, first), tm_table_row(parts, i)); i++)
            count += tm_table_row(parts, i)[U_COUNT].value.i;
        TM_TRY(add_unmatched(tm_table_row(parts, first), count, table, err));
    }
    tm_pairs_job(out);
    return TM_OK;
}

const tm_analysis tm_analysis_collectives = {
    .name = "collectives",
    .summary = "how fast each kind of collective is in each group, which operations waited longest "
               "or were exposed longest, and which ranks send most to which",
    TM_ARRAY(tables, defs),
    .rank = tm_pairs_rank,
    .collectives = collectives_own,
    .merge = tm_pairs_merge,
    .job = collectives_job,
};
