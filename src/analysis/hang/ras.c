#include "ras.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"
#include "moves.h"
#include "tables.h"

static const tm_column ras_columns[N_HR] = {
    [HR_COMM] = {"place", TM_INT, "", "Number of the communicator in the answer, from 1."},
    [HR_MEMBER] = {"member", TM_INT, "", "Rank within the communicator."},
    [HR_RANK] =
        {"rank", TM_INT, "",
         "Global rank: the rank in the communicator that contains all processes. Null if there is "
         "no such communicator, or if there are several that number the ranks differently."},
    [HR_HASH] = {"communicator", TM_TEXT, "", "NCCL's hash of the communicator."},
    [HR_SIZE] = {"size", TM_INT, "", "Number of ranks in the communicator."},
    [HR_STATE] =
        {"state", TM_TEXT, "",
         "What is wrong with the rank. dead: the process has not answered for a minute. "
         "unreachable: the process did not answer. gone: the process does not have this "
         "communicator. failed, aborted: as NCCL reports. ending: the communicator is being "
         "finalized. starting: the communicator is not initialised. behind: the rank launched "
         "fewer collectives than another rank. differs: the rank launched different collectives."},
    [HR_OPERATION] =
        {"operation", TM_TEXT, "",
         "Kind of collective whose count differs most from its count on the rank that launched the "
         "most collectives. Only for the states behind and differs; otherwise null."},
    [HR_LAUNCHED] = {"launched", TM_INT, "",
                     "Number of collectives of this kind (column operation) that the rank "
                     "launched. Null if operation is null."},
    [HR_MOST] =
        {"others", TM_INT, "",
         "For comparison with launched: how many collectives of the same kind were launched by the "
         "rank that launched the most collectives. Null if operation is null."},
    [HR_ADVANCED] = {"advanced", TM_INT, "",
                     "Number of collectives that the rank launched between the two answers, in the "
                     "communicators that both answers contain; null if unknown."},
    [HR_ERROR] = {"error", TM_INT, "",
                  "NCCL's result code (ncclResult_t) if the rank failed; otherwise null."},
    [HR_HOST] = {"host", TM_TEXT, "", "Network address of the rank's host; null if unknown."},
    [HR_PID] = {"pid", TM_INT, "", "Process id of the rank; null if unknown."},
    [HR_GPU] = {"gpu", TM_INT, "", "GPU of the rank, as numbered by the driver; null if unknown."},
};

const tm_table_def tm_hang_ras_def = {
    .name = "hang.ras",
    .doc = "A row for each rank of a communicator that NCCL's RAS reports as missing, failed or "
           "behind. Only if tmerge hang read an answer of ncclras.",
    TM_ARRAY(columns, ras_columns),
    .n_keys = 2,
    .top = -1,
};

static const tm_column answer_columns[N_HA] = {
    [HA_RANKS] = {"ranks", TM_INT, "", "Number of ranks of the job; 0: unknown."},
    [HA_COMMS] = {"communicators", TM_INT, "", "Number of communicators in the answer."},
    [HA_PROCESSES] = {"processes", TM_INT, "", "Number of processes in the answer."},
    [HA_LEFT_OUT] = {"left_out", TM_INT, "",
                     "Number of entries that were ignored, because their rank does not exist in "
                     "their communicator or occurs twice."},
    [HA_COMMAS] = {"commas", TM_INT, "",
                   "Number of commas that were missing in the answer's JSON, and that were added."},
    [HA_VERSION] = {"version", TM_TEXT, "", "Version of NCCL."},
    [HA_TIME] = {"time", TM_TEXT, "", "Local time at which RAS answered."},
    [HA_COMPARED] = {"compared", TM_INT, "",
                     "Whether two answers were compared, or why not (tm_hang_compared)."},
    [HA_APART] = {"apart_s", TM_INT, "", "Seconds since the earlier answer; null if unknown."},
};

const tm_table_def tm_hang_answer_def = {.name = "hang.answer",
                                         .doc = "One row: the answer of ncclras.",
                                         TM_ARRAY(columns, answer_columns),
                                         .n_keys = 1,
                                         .top = -1,
                                         .internal = true};

static const tm_column move_columns[N_HM] = {
    [HM_RANK] = {"rank", TM_INT, "", "Global rank; null if unknown."},
    [HM_ADVANCED] = {"advanced", TM_INT, "",
                     "Number of collectives launched since the earlier answer."},
};

const tm_table_def tm_hang_move_def = {.name = "hang.move",
                                       .doc = "A row for each GPU that two answers count.",
                                       TM_ARRAY(columns, move_columns),
                                       .n_keys = 2,
                                       .top = -1,
                                       .internal = true};

/* Returns the global rank of the member's GPU; -1 if unknown. */
static int64_t rank_of(const tm_vec *world, const tm_ras_member *m) {
    const tm_hang_gpu *found = tm_hang_find_gpu(world, m);
    return found ? found->number : -1;
}

/* Lists the GPUs of a communicator, sorted. The list is empty if the answer lacks a GPU. Returns
 * false if out of memory. */
static bool take_gpus(const tm_ras_comm *c, tm_vec *out) {
    bool whole = c->n_members > 0 && (int64_t)c->n_members == c->size;
    out->n = 0;
    for (size_t i = 0; i < c->n_members && whole; i++) {
        const tm_hang_gpu d = tm_hang_gpu_of(&c->members[i], c->members[i].rank);
        whole = d.pid >= 0;
        if (whole && !tm_vec_append(out, &d, 1))
            return false;
    }
    if (out->n > 1)
        tm_sort(out->data, out->n, sizeof(tm_hang_gpu), tm_hang_by_gpu);
    const tm_hang_gpu *v = out->data;
    for (size_t i = 1; i < out->n && whole; i++)
        whole = tm_hang_by_gpu(&v[i - 1], &v[i]) != 0;
    out->n = whole ? out->n : 0;
    return true;
}

/* Returns whether @p world has the GPUs of all communicators. If a communicator has as many ranks
 * as @p world, it must also number them in the same way. */
static bool is_world(const tm_vec *world, const tm_ras_comm *comms, size_t n) {
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < comms[c].n_members; i++) {
            const tm_ras_member *m = &comms[c].members[i];
            const int64_t rank = rank_of(world, m);
            if (m->pid >= 0 &&
                (rank < 0 || (comms[c].size == (int64_t)world->n && rank != m->rank)))
                return false;
        }
    return world->n > 0;
}

/* Finds the communicator that has all processes. It is PyTorch's default group, whose ranks are the
 * global ranks. If there is none, @p world stays empty. Returns false if out of memory. */
static bool find_world(const tm_ras_comm *comms, size_t n, tm_vec *world) {
    const tm_ras_comm *largest = NULL;
    for (size_t c = 0; c < n; c++)
        largest = !largest || comms[c].size > largest->size ? &comms[c] : largest;
    if (!largest)
        return true;
    if (!take_gpus(largest, world))
        return false;
    world->n = is_world(world, comms, n) ? world->n : 0;
    return true;
}

static bool count_processes(const tm_ras_comm *comms, size_t n, int64_t *out) {
    tm_vec all = TM_VEC(tm_hang_gpu);
    bool ok = true;
    for (size_t c = 0; c < n && ok; c++)
        for (size_t i = 0; i < comms[c].n_members && ok; i++) {
            tm_hang_gpu d = tm_hang_gpu_of(&comms[c].members[i], 0);
            d.gpu = 0;
            ok = d.pid < 0 || tm_vec_append(&all, &d, 1);
        }
    if (all.n > 1)
        tm_sort(all.data, all.n, sizeof(tm_hang_gpu), tm_hang_by_gpu);
    const tm_hang_gpu *v = all.data;
    *out = 0;
    for (size_t i = 0; i < all.n; i++)
        *out += i == 0 || tm_hang_by_gpu(&v[i - 1], &v[i]) != 0;
    tm_vec_free(&all);
    return ok;
}

/* Returns the member that launched the most collectives, or the first of them if there are several;
 * NULL if no member has counts. */
static const tm_ras_member *farthest(const tm_ras_comm *c) {
    const tm_ras_member *found = NULL;
    for (size_t i = 0; i < c->n_members; i++)
        if (c->members[i].n_counts > 0 &&
            (!found || tm_hang_launched(&c->members[i]) > tm_hang_launched(found)))
            found = &c->members[i];
    return found;
}

static int64_t count_of(const tm_ras_member *m, const char *operation) {
    for (size_t i = 0; i < m->n_counts; i++)
        if (strcmp(m->counts[i].operation, operation) == 0)
            return m->counts[i].launched;
    return 0;
}

/* How a member's counts differ from the counts of the member with the most launches. */
typedef struct lag {
    const char *operation; /* the operation whose count differs most; NULL: all counts are equal */
    int64_t own, other;
    /* whether the member launched any operation more often than the member with the most
     * launches */
    bool differs;
} lag;

/* Compares a member with the member with the most launches. All ranks of a communicator launch the
 * same collectives in the same order. So a rank that is only behind has launched no operation more
 * often. */
static lag lag_of(const tm_ras_member *m, const tm_ras_member *most) {
    lag l = {.operation = NULL};
    for (size_t i = 0; i < most->n_counts; i++) {
        const tm_ras_count *of = &most->counts[i];
        const int64_t own = count_of(m, of->operation);
        const int64_t gap = own > of->launched ? own - of->launched : of->launched - own;
        const int64_t known = l.own > l.other ? l.own - l.other : l.other - l.own;
        l.differs = l.differs || own > of->launched;
        if (gap > known) {
            l.operation = of->operation;
            l.own = own;
            l.other = of->launched;
        }
    }
    return l;
}

static const char *const states[] = {
    [TM_RAS_RUNNING] = NULL,
    [TM_RAS_STARTING] = "starting",
    [TM_RAS_ENDING] = "ending",
    [TM_RAS_ABORTED] = "aborted",
    [TM_RAS_FAILED] = "failed",
    [TM_RAS_GONE] = "gone",
    [TM_RAS_UNREACHABLE] = "unreachable",
    [TM_RAS_DEAD] = "dead",
};

static tm_status set_state(tm_table *t, tm_cell *row, const tm_ras_member *m, const lag *l,
                           tm_error *err) {
    if (m->state != TM_RAS_RUNNING)
        return tm_table_set_text(t, &row[HR_STATE], states[m->state], err);
    tm_cell_set_int(&row[HR_LAUNCHED], l->own);
    tm_cell_set_int(&row[HR_MOST], l->other);
    TM_TRY(tm_table_set_text(t, &row[HR_OPERATION], l->operation, err));
    return tm_table_set_text(t, &row[HR_STATE], l->differs ? "differs" : "behind", err);
}

/* Adds a row with a member's data, except its state and global rank. */
static tm_status add_member(tm_table *t, const tm_ras_comm *c, const tm_ras_member *m,
                            tm_cell **out, tm_error *err) {
    tm_cell *row = *out = tm_table_add_row(t);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HR_MEMBER], m->rank);
    tm_cell_set_int(&row[HR_SIZE], c->size);
    if (m->state == TM_RAS_FAILED)
        tm_cell_set_int(&row[HR_ERROR], m->error);
    if (m->pid >= 0) {
        tm_cell_set_int(&row[HR_PID], m->pid);
        TM_TRY(tm_table_set_text(t, &row[HR_HOST], m->host, err));
    }
    tm_cell_set_known(&row[HR_GPU], m->gpu);
    return tm_table_set_text(t, &row[HR_HASH], c->hash, err);
}

/* State while the rows of an answer are added. If there are two answers, this is the later one. */
typedef struct reading {
    /* Vectors of tm_hang_gpu. In `world`, `number` is the GPU's global rank. In `moves`, it is the
     * number of collectives that the GPU launched between the two answers. */
    tm_vec world, moves;
    tm_hang_compared compared;
    int64_t apart_s; /* time between the two answers [s]; -1: unknown */
} reading;

static tm_status add_comm(tm_table *t, const tm_ras_comm *comms, size_t place, const reading *r,
                          tm_error *err) {
    const tm_ras_comm *c = &comms[place];
    const tm_ras_member *most = farthest(c);
    for (size_t i = 0; i < c->n_members; i++) {
        const tm_ras_member *m = &c->members[i];
        const lag l = most && m->n_counts > 0 ? lag_of(m, most) : (lag){.operation = NULL};
        const int64_t rank = rank_of(&r->world, m);
        tm_cell *row;
        if (m->state == TM_RAS_RUNNING && !l.operation)
            continue;
        TM_TRY(add_member(t, c, m, &row, err));
        tm_cell_set_int(&row[HR_COMM], (int64_t)place + 1);
        tm_cell_set_known(&row[HR_RANK], rank);
        const tm_hang_gpu *move = tm_hang_find_gpu(&r->moves, m);
        if (move)
            tm_cell_set_int(&row[HR_ADVANCED], move->number);
        TM_TRY(set_state(t, row, m, &l, err));
    }
    return TM_OK;
}

static tm_status add_answer(const tm_ras *ras, tm_table *t, int64_t n_ranks, tm_cell **out,
                            tm_error *err) {
    size_t n;
    int64_t processes;
    const tm_ras_comm *comms = tm_ras_comms(ras, &n);
    tm_cell *row = *out = tm_table_add_row(t);
    if (!row || !count_processes(comms, n, &processes))
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HA_RANKS], n_ranks);
    tm_cell_set_int(&row[HA_COMMS], (int64_t)n);
    tm_cell_set_int(&row[HA_PROCESSES], processes);
    tm_cell_set_int(&row[HA_LEFT_OUT], tm_ras_left_out(ras));
    tm_cell_set_int(&row[HA_COMMAS], tm_ras_commas(ras));
    TM_TRY(tm_table_set_text(t, &row[HA_VERSION], tm_ras_version(ras), err));
    return tm_table_set_text(t, &row[HA_TIME], tm_ras_time(ras), err);
}

static tm_status add_moves(tm_table *t, const reading *r, tm_error *err) {
    const tm_hang_gpu *v = r->moves.data;
    for (size_t i = 0; i < r->moves.n; i++) {
        const tm_ras_member m = {.host = v[i].host, .pid = v[i].pid, .gpu = v[i].gpu};
        const int64_t rank = rank_of(&r->world, &m);
        tm_cell *row = tm_table_add_row(t);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_known(&row[HM_RANK], rank);
        tm_cell_set_int(&row[HM_ADVANCED], v[i].number);
    }
    return TM_OK;
}

static tm_status add_rows(const tm_ras *ras, const reading *r, tm_tables *out, tm_error *err) {
    size_t n;
    tm_cell *row;
    const tm_ras_comm *comms = tm_ras_comms(ras, &n);
    for (size_t c = 0; c < n; c++)
        TM_TRY(add_comm(tm_tables_find(out, tm_hang_ras_def.name), comms, c, r, err));
    TM_TRY(add_moves(tm_tables_find(out, tm_hang_move_def.name), r, err));
    TM_TRY(add_answer(ras, tm_tables_find(out, tm_hang_answer_def.name), (int64_t)r->world.n, &row,
                      err));
    tm_cell_set_int(&row[HA_COMPARED], r->compared);
    tm_cell_set_known(&row[HA_APART], r->apart_s);
    return TM_OK;
}

tm_status tm_hang_ras_rows(const tm_ras *ras, const tm_ras *other, tm_tables *out, tm_error *err) {
    size_t n;
    const bool first = other && tm_hang_is_earlier(ras, other);
    const tm_ras *after = first ? other : ras, *before = first ? ras : other;
    const tm_ras_comm *comms = tm_ras_comms(after, &n);
    reading r = {.world = TM_VEC(tm_hang_gpu),
                 .moves = TM_VEC(tm_hang_gpu),
                 .compared = TM_HANG_ONE_ANSWER,
                 .apart_s = before ? tm_hang_apart(before, after) : -1};
    const bool ok = find_world(comms, n, &r.world) &&
                    (!before || tm_hang_find_moves(before, after, &r.moves, &r.compared));
    const tm_status status = ok ? add_rows(after, &r, out, err) : tm_fail_memory(err);
    tm_vec_free(&r.world);
    tm_vec_free(&r.moves);
    return status;
}

tm_hang_ras tm_hang_ras_of(const tm_tables *tables) {
    tm_hang_ras r = {.rows = tm_tables_find(tables, tm_hang_ras_def.name),
                     .moves = tm_tables_find(tables, tm_hang_move_def.name),
                     .answer = tm_tables_find(tables, tm_hang_answer_def.name)};
    if (r.answer->n_rows > 0)
        r.n_ranks = tm_table_row(r.answer, 0)[HA_RANKS].value.i;
    return r;
}

bool tm_hang_ras_is(const tm_cell *row, tm_ras_state state) {
    return strcmp(row[HR_STATE].value.text, states[state]) == 0;
}

void tm_hang_ras_advanced(const tm_hang_ras *r, int64_t rank, tm_cell *out) {
    /* Rows are sorted by rank. Rows without a rank come last. */
    size_t low = 0, high = r->moves->n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const tm_cell *of = &tm_table_row(r->moves, middle)[HM_RANK];
        if (!of->null && of->value.i < rank)
            low = middle + 1;
        else
            high = middle;
    }
    const tm_cell *row = low < r->moves->n_rows ? tm_table_row(r->moves, low) : NULL;
    if (row && !row[HM_RANK].null && row[HM_RANK].value.i == rank)
        *out = row[HM_ADVANCED];
}

void tm_hang_ras_processes(const tm_hang_ras *r, tm_hang_process *out) {
    for (size_t i = 0; i < r->rows->n_rows; i++) {
        const tm_cell *row = tm_table_row(r->rows, i);
        if (row[HR_RANK].null)
            continue;
        if (tm_hang_ras_is(row, TM_RAS_DEAD))
            out[row[HR_RANK].value.i] = TM_HANG_DEAD;
        else if (tm_hang_ras_is(row, TM_RAS_UNREACHABLE))
            out[row[HR_RANK].value.i] = TM_HANG_UNREACHABLE;
    }
}
