#include "exchanges.h"

#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "base/sums.h"

enum { PROGRAM, OPERATION, GROUP, KIND, RANKS, MEMBERS, BYTES, COUNT, TOTAL, WAIT, MAX, MAX_RANK };

static const tm_column columns[] = {
    [PROGRAM] = {"program", TM_TEXT, "",
                 "Name of the compiled program (module). For a barrier: name of the program after "
                 "it. Null if unknown."},
    [OPERATION] = {"operation", TM_TEXT, "",
                   "Name of the operation in the program. For a GPU profile without operations: "
                   "name of the kernel."},
    [GROUP] = {"group", TM_TEXT, "",
               "Replica group as numbers of the job's cores or devices. For a group within a "
               "process: numbers within the process, with the host. Null if unknown."},
    [KIND] = {"kind", TM_TEXT, "", "Kind of collective, such as allreduce, allgather or barrier."},
    [RANKS] = {"ranks", TM_INT, "",
               "Number of ranks of the group for which a run of the operation was recorded."},
    [MEMBERS] = {"members", TM_INT, "", "Number of members of the group; null if unknown."},
    [BYTES] = {"bytes", TM_INT, "B",
               "Bytes that a rank reads and writes in one run, as the compiler counts them. On "
               "GPUs: computed from shapes and replica groups in the program. Null if unknown."},
    [COUNT] = {"count", TM_INT, "", "Number of runs of the operation, over all ranks."},
    [TOTAL] = {"total_ns", TM_INT, "ns",
               "Duration of the runs, summed over all ranks. For a barrier, the time until all "
               "ranks have arrived. XProf shows other times: it leaves barriers out of all-reduce, "
               "and counts the excess of a run over the shortest run as waiting."},
    [WAIT] =
        {"wait_ns", TM_INT, "ns",
         "Time that ranks waited for late ranks: sum over the runs whose wait is known; null if no "
         "wait is known. Transfers from one member to another (permutations) have their waits in "
         "bubble.pair. In a ring, a kernel belongs to two pairs, so it has no wait there."},
    [MAX] = {"max_rank_ns", TM_INT, "ns", "Largest total_ns on a rank."},
    [MAX_RANK] = TM_MAX_RANK_COLUMN,
};

const tm_table_def tm_pod_collective_def = {
    .name = "pod.collective",
    .doc = "A row for each collective operation of a program and replica group.",
    TM_ARRAY(columns, columns),
    .n_keys = 3,
    .top = TOTAL,
};

enum {
    P_PROGRAM,
    P_OPERATION,
    P_GROUP,
    P_RANK,
    P_KIND,
    P_MEMBERS,
    P_BYTES,
    P_COUNT,
    P_TOTAL,
    P_WAITS,
    P_WAIT
};

static const tm_column part_columns[] = {
    [P_PROGRAM] = {"program", TM_INT, "", "Id of the program's name."},
    [P_OPERATION] = {"operation", TM_INT, "", "Id of the operation's name."},
    [P_GROUP] = {"group", TM_INT, "", "Id of the group's name."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_KIND] = {"kind", TM_INT, "", "Kind of collective (tm_collective_kind)."},
    [P_MEMBERS] = {"members", TM_INT, "", "Number of members of the group; -1: unknown."},
    [P_BYTES] = {"bytes", TM_INT, "B", "Bytes of one run; -1: unknown."},
    [P_COUNT] = {"count", TM_INT, "", "Number of runs."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the runs."},
    [P_WAITS] = {"waits", TM_INT, "", "Number of runs with a known wait."},
    [P_WAIT] = {"wait_ns", TM_INT, "ns", "Sum of the known waits of the runs."},
};

const tm_table_def tm_pod_collective_part_def = TM_PART_TABLE(
    "pod.collective_part", "A row for each rank and operation.", part_columns, P_RANK);

typedef struct key {
    int64_t program, operation, group;
} key;

typedef struct sums {
    int64_t kind, members, bytes, count, total_ns, waits, wait_ns;
} sums;

/* Positions in TM_ATTR_XLA and TM_ATTR_COLLECTIVE, which are read in the order of rows. */
typedef struct place {
    const tm_timeline *timeline;
    const tm_track *track;
    size_t next, next_of_group;
} place;

static const tm_collective_attr *group_of(place *at, uint32_t row) {
    const tm_collective_attr *v = at->timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t n = at->timeline->n_attrs[TM_ATTR_COLLECTIVE];
    while (at->next_of_group < n && v[at->next_of_group].event < row)
        at->next_of_group++;
    return at->next_of_group < n && v[at->next_of_group].event == row ? &v[at->next_of_group]
                                                                      : NULL;
}

/* Returns the program of the core's next operation, to which a barrier belongs. */
static uint32_t program_after(const place *at) {
    const tm_xla_attr *v = at->timeline->attrs[TM_ATTR_XLA];
    bool any = at->next < at->timeline->n_attrs[TM_ATTR_XLA] &&
               v[at->next].event - at->track->first < at->track->count;
    return any ? v[at->next].program : TM_NO_NAME;
}

static bool add(place *at, uint32_t row, tm_rank_sums *all) {
    const tm_timeline *timeline = at->timeline;
    const tm_xla_attr *reported = tm_xla_of(timeline, row, &at->next);
    const tm_collective_attr *attr = group_of(at, row);
    bool named = reported && reported->hlo != TM_NO_NAME;
    const key k = {named                                   ? reported->program
                   : attr && attr->kind == TM_COLL_BARRIER ? program_after(at)
                                                           : TM_NO_NAME,
                   named ? reported->hlo : timeline->name[row], attr ? attr->group : TM_NO_NAME};
    sums *sum = tm_rank_sums_at(all, &k);
    if (!sum)
        return false;
    if (sum->count++ == 0) {
        sum->kind = attr ? attr->kind : TM_COLL_OTHER;
        sum->members = attr ? attr->group_size : -1;
        sum->bytes = reported ? reported->bytes : -1;
    }
    sum->total_ns = tm_sum(sum->total_ns, timeline->duration_ns[row]);
    bool waits = attr && attr->wait_ns >= 0;
    sum->waits += waits;
    sum->wait_ns = tm_sum(sum->wait_ns, waits ? attr->wait_ns : 0);
    return true;
}

/* Collects collectives that are kernels, but not the host's calls that requested them. */
static bool collect(const tm_timeline *timeline, tm_rank_sums *all) {
    place at = {.timeline = timeline};
    bool ok = true;
    for (size_t t = 0; t < timeline->n_tracks && ok; t++) {
        at.track = &timeline->tracks[t];
        uint32_t end = at.track->first + at.track->count;
        for (uint32_t row = at.track->first; row < end && ok; row++)
            ok = timeline->role[row] != TM_ROLE_COMMUNICATION || add(&at, row, all);
    }
    return ok;
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const key *k = of;
    const sums *s = value;
    cells[P_PROGRAM] = k->program;
    cells[P_OPERATION] = k->operation;
    cells[P_GROUP] = k->group;
    cells[P_KIND] = s->kind;
    cells[P_MEMBERS] = s->members;
    cells[P_BYTES] = s->bytes;
    cells[P_COUNT] = s->count;
    cells[P_TOTAL] = s->total_ns;
    cells[P_WAITS] = s->waits;
    cells[P_WAIT] = s->wait_ns;
}

tm_status tm_exchanges_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_rank_sums all = TM_RANK_SUMS(key, sums);
    bool ok = collect(view->timeline, &all);
    return tm_rank_sums_put(&all, ok, view->timeline->rank, set_cells,
                            tm_tables_find(out, tm_pod_collective_part_def.name), err);
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                         tm_cell *row, tm_error *err) {
    const tm_cell *one = tm_rank_rows_key(rows);
    tm_over_ranks total;
    tm_collective_kind kind = (tm_collective_kind)one[P_KIND].value.i;
    /* The members of a transfer have different kinds: one sends, and another receives. */
    for (size_t i = rows->first + 1; i < rows->end; i++)
        if (tm_table_row(rows->part, i)[P_KIND].value.i != (int64_t)kind)
            kind = TM_COLL_SENDRECV;
    TM_TRY(tm_over_ranks_column(rows, P_TOTAL, &total, err));
    for (int c = 0; c < P_RANK; c++)
        TM_TRY(tm_set_named(names, one[c].value.i, shown, &row[c], err));
    tm_cell_set_int(&row[RANKS], total.ranks);
    if (one[P_MEMBERS].value.i > 0)
        tm_cell_set_int(&row[MEMBERS], one[P_MEMBERS].value.i);
    tm_cell_set_known(&row[BYTES], one[P_BYTES].value.i);
    tm_cell_set_int(&row[COUNT], tm_over_ranks_sum(rows, P_COUNT));
    tm_cell_set_int(&row[TOTAL], total.sum);
    if (tm_over_ranks_sum(rows, P_WAITS) > 0)
        tm_cell_set_int(&row[WAIT], tm_over_ranks_sum(rows, P_WAIT));
    tm_cell_set_int(&row[MAX], total.max);
    tm_cell_set_int(&row[MAX_RANK], total.max_rank);
    return tm_table_set_text(shown, &row[KIND], tm_collective_word(kind), err);
}

tm_status tm_exchanges_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_pod_collective_part_def, &tm_pod_collective_def, names, tables,
                               set_row, err);
}
