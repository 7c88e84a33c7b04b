/* Analysis `criticalpath`: the chain of calls, kernels and transfers over all ranks that determines
 * when each step ends. */
#include "tmerge/analysis.h"

#include <stdlib.h>

#include "base/keys.h"
#include "base/median.h"
#include "base/sorted.h"
#include "replay/whatif/result.h"
#include "timeline/collectives.h"

/* Limits for numbers of rows. NAMES_MAX: names on the path. PIECES_MAX: pieces of a step (fewer if
 * there are many steps, but at least PIECES_LEAST). ALL_PIECES_MAX: pieces of all steps
 * together. */
enum { NAMES_MAX = 200, PIECES_MAX = 2000, PIECES_LEAST = 20, ALL_PIECES_MAX = 200000 };

/* Parts of the critical path by kind of edge, in the order of the columns. */
#define PARTS(X)                                                                                   \
    X(COMPUTE, "compute_ns", "Time in compute kernels.")                                           \
    X(COPY, "copy_ns", "Time in copies and sets.")                                                 \
    X(COMM, "comm_ns", "Time in communication kernels that were not matched between ranks.")       \
    X(TRANSFER, "transfer_ns",                                                                     \
      "Time in transfers: from the start of the last rank's kernel of an operation to the end of " \
      "a rank's kernel.")                                                                          \
    X(LAUNCH, "launch_ns",                                                                         \
      "Time from the start of a call to the start of the event that it launched.")                 \
    X(GAP, "gap_ns",                                                                               \
      "Time from the end of an event to the start of the next event on the stream.")               \
    X(WAIT, "wait_ns",                                                                             \
      "Time from the end of an event to the start of an event on another stream that waited for "  \
      "it.")                                                                                       \
    X(HOST, "host_ns", "Host time between runtime and driver calls.")                              \
    X(CALL, "call_ns", "Time in runtime and driver calls.")                                        \
    X(SYNC, "sync_ns",                                                                             \
      "Time from the end of an event on the GPU to the end of the call that waited for it.")       \
    X(BEFORE, "before_ns",                                                                         \
      "Time from the start of the first step (see step_ns) to an event without a recorded "        \
      "predecessor.")

enum {
#define PART_ENUM(id, name, doc) PART_##id,
    PARTS(PART_ENUM)
#undef PART_ENUM
        N_PARTS
};

static const uint8_t part_of[TM_N_EDGE_KINDS] = {
#define PART_OF(id, name, doc) [TM_EDGE_##id] = PART_##id,
    PARTS(PART_OF)
#undef PART_OF
};

#define PART_COLUMN(id, name, doc) {name, TM_INT, "ns", doc},

enum {
    S_STEP,
    S_NS,
    S_HOPS,
    S_PIECES,
    S_RANK,
    S_SHARE,
    S_PARTS,
    N_STEP_COLUMNS = S_PARTS + N_PARTS
};

static const tm_column step_columns[] = {
    {"step", TM_INT, "", "Number of the step; 0 if the traces mark no steps."},
    {"step_ns", TM_INT, "ns",
     "Duration of the step over all ranks: from the end of the last GPU event of all previous "
     "steps to the end of the last GPU event of this step. The first step starts when the "
     "last of all ranks has started it, but at the job's first GPU event if that is earlier, or if "
     "the host time before it is unlike that of later steps. If there was a warm-up (GPU work that "
     "ends before the first step starts), "
     "the first step instead starts when the last of all ranks launches its first work of this "
     "step. The parts of the critical path add up to step_ns."},
    {"hops", TM_INT, "",
     "Number of stretches of the step's critical path that are on one rank each: 1 + the number of "
     "times that the path moves to another rank."},
    {"pieces", TM_INT, "", "Number of pieces (edges) of the step's critical path."},
    {"rank", TM_INT, "",
     "Rank that has most of the step's critical path; the lowest if there are several."},
    {"rank_share", TM_REAL, "",
     "Share of the step in which the critical path is on this rank (column rank)."},
    PARTS(PART_COLUMN)};

static const tm_table_def step_def = {
    .name = "criticalpath.step",
    .doc = "A row for each step: the parts of its critical path. The path contains no waiting for "
           "other ranks, because at each operation it continues on the rank that came last.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 1,
    .top = S_NS,
};

enum { R_RANK, R_PATH, R_SHARE, R_NEAR, R_SLACK, R_PARTS, N_RANK_COLUMNS = R_PARTS + N_PARTS };

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"path_ns", TM_INT, "ns", "Time that the critical path is on the rank: sum over all steps."},
    {"path_share", TM_REAL, "",
     "Share of the time of all steps in which the critical path is on the rank: path_ns / the sum "
     "of step_ns."},
    {"near_ns", TM_INT, "ns",
     "Time of the rank's compute kernels and copies that are nearly critical: their slack is under "
     "1 % of the time of all steps. If near_ns is large on many ranks, fixing only one of these "
     "ranks helps little."},
    {"slack_ns", TM_INT, "ns",
     "Slack of the rank: time by which everything on the rank could be late without the job ending "
     "later. Null if no step's end depends on the rank."},
    PARTS(PART_COLUMN)};

static const tm_table_def rank_def = {
    .name = "criticalpath.rank",
    .doc = "A row for each rank: its part of the critical path. A transfer counts for the rank on "
           "which the path continues.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_PATH,
    .form = TM_FORM_BARS,
};

enum { N_KIND, N_NAME, N_PATH, N_SHARE, N_COUNT, N_RANKS, N_NAME_COLUMNS };

static const tm_column name_columns[N_NAME_COLUMNS] = {
    [N_KIND] = {"kind", TM_TEXT, "", "Kind of edge, as in the parts of criticalpath.step."},
    [N_NAME] = {"name", TM_TEXT, "",
                "Name of the event or call. For a lag: name of the event after the lag. For host "
                "time: name of the call after it. Null if the event or call has no name."},
    [N_PATH] = {"path_ns", TM_INT, "ns",
                "Time on the critical path in pieces of this kind and name: sum over all steps."},
    [N_SHARE] = {"path_share", TM_REAL, "",
                 "Share of the time of all steps in which the critical path is in pieces of this "
                 "kind and name: path_ns / the sum of step_ns."},
    [N_COUNT] = {"count", TM_INT, "", "Number of pieces of this kind and name."},
    [N_RANKS] = {"ranks", TM_INT, "", "Number of ranks that have pieces of this kind and name."},
};

static const tm_table_def name_def = {
    .name = "criticalpath.name",
    .doc =
        "A row for each kind and name on the critical path. Limited to the 200 with the most time.",
    TM_ARRAY(columns, name_columns),
    .n_keys = 2,
    .top = N_PATH,
};

enum { P_STEP, P_PLACE, P_RANK, P_KIND, P_NAME, P_EVENT, P_BEGIN, P_DURATION, N_PIECE_COLUMNS };

static const tm_column piece_columns[N_PIECE_COLUMNS] = {
    [P_STEP] = {"step", TM_INT, "", "Number of the step."},
    [P_PLACE] = {"place", TM_INT, "", "Number of the piece in the step, in order of time, from 0."},
    [P_RANK] = {"rank", TM_INT, "", "Rank that the path is on in this piece."},
    [P_KIND] = {"kind", TM_TEXT, "", "Kind of edge, as in the parts of criticalpath.step."},
    [P_NAME] = {"name", TM_TEXT, "",
                "Name of the event or call, as in criticalpath.name. If pieces were merged, rank, "
                "kind and name are those of the longest piece."},
    [P_EVENT] = {"event", TM_INT, "",
                 "Row of the event or call in the rank's events in the store. If pieces were "
                 "joined, of one of them. Null if the piece has no event or call."},
    [P_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "Start of the piece on the job's clock, since the epoch."},
    [P_DURATION] = {"duration_ns", TM_INT, "ns",
                    "Duration of the piece. The pieces of a step add up to step_ns."},
};

static const tm_table_def piece_def = {
    .name = "criticalpath.piece",
    .doc = "A row for each piece of the critical path; there are no gaps between pieces. Adjacent "
           "pieces of one rank, kind and name are one row. If a step has over 2,000 pieces, or "
           "more than its share of 200,000 in total, the shortest pieces are merged into the "
           "preceding ones.",
    TM_ARRAY(columns, piece_columns),
    .n_keys = 2,
    .top = P_DURATION,
};

enum { L_RANK, L_DEVICE, L_STREAM, L_BEGIN, L_EVENTS, L_SLACK, L_MOST, N_SLACK_COLUMNS };

static const tm_column slack_columns[N_SLACK_COLUMNS] = {
    [L_RANK] = {"rank", TM_INT, "", "Global rank."},
    [L_DEVICE] = {"device", TM_INT, "",
                  "Number of the device of the stream; null if not recorded."},
    [L_STREAM] = {"stream", TM_INT, "", "Number of the stream; null if not recorded."},
    [L_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "Start of the row's first event on the job's clock, since the epoch. The row "
                 "covers all events that start on the stream before the next row."},
    [L_EVENTS] = {"events", TM_INT, "", "Number of kernels, copies and sets that the row covers."},
    [L_SLACK] = {"slack_ns", TM_INT, "ns",
                 "Smallest slack of an event in the row: time by which one event could end later "
                 "without the job ending later. Null if no step's end depends on the events."},
    [L_MOST] = {"slack_most_ns", TM_INT, "ns",
                "Largest slack of an event in the row. Null if no step's end depends on one of the "
                "events."},
};

static const tm_table_def slack_def = {
    .name = "criticalpath.slack",
    .doc = "A row for adjacent events of a stream with the same slack. If a rank has over 2,048 "
           "such rows, or more than its share (at least 8) of 32,768 in total, adjacent events "
           "with similar slack are merged.",
    TM_ARRAY(columns, slack_columns),
    .n_keys = 4,
    .top = L_SLACK,
};

static const tm_table_def *const defs[] = {&step_def, &rank_def, &name_def, &piece_def, &slack_def};

static const char *const kind_words[] = {
#define KIND_WORD(id, word) word,
    TM_EDGE_LIST(KIND_WORD)
#undef KIND_WORD
};

static const tm_path_piece *piece_at(const tm_replay_result *r, size_t i) {
    return (const tm_path_piece *)r->pieces.data + i;
}

static size_t rank_place(const tm_replay_result *r, int64_t rank) {
    return TM_FIRST_FROM(tm_whatif_rank, rank, r->ranks.data, r->ranks.n, rank);
}

static tm_status set_name(tm_table *table, tm_cell *cell, const tm_replay_result *r, uint32_t name,
                          tm_error *err) {
    return name == TM_NO_NAME
               ? TM_OK
               : tm_table_set_text(table, cell, tm_names_text(r->names, name).bytes, err);
}

/* Adds the row of a step. The pieces of the step are elements [first, after) of all pieces. */
static tm_status add_step(const tm_replay_result *r, const tm_path_step *step, size_t first,
                          size_t after, tm_tables *out, tm_error *err) {
    int64_t parts[N_PARTS] = {0}, ns = step->end_ns - step->begin_ns;
    int64_t *by_rank = calloc(r->ranks.n + 1, sizeof *by_rank);
    tm_cell *row = tm_table_add_row(tm_tables_find(out, step_def.name));
    size_t most = 0;
    for (size_t i = first; i < after && by_rank; i++) {
        parts[part_of[piece_at(r, i)->kind]] += piece_at(r, i)->ns;
        by_rank[rank_place(r, piece_at(r, i)->rank)] += piece_at(r, i)->ns;
    }
    for (size_t i = 1; i < r->ranks.n && by_rank; i++)
        most = by_rank[i] > by_rank[most] ? i : most;
    if (!row || !by_rank) {
        free(by_rank);
        return tm_fail_memory(err);
    }
    tm_cell_set_int(&row[S_STEP], step->number);
    tm_cell_set_int(&row[S_NS], ns);
    tm_cell_set_int(&row[S_HOPS], step->hops);
    tm_cell_set_int(&row[S_PIECES], (int64_t)(after - first));
    if (after > first) {
        tm_cell_set_int(&row[S_RANK], ((const tm_whatif_rank *)r->ranks.data)[most].rank);
        tm_cell_set_ratio(&row[S_SHARE], 1.0, by_rank[most], ns);
    }
    for (int p = 0; p < N_PARTS; p++)
        tm_cell_set_int(&row[S_PARTS + p], parts[p]);
    free(by_rank);
    return TM_OK;
}

static tm_status add_ranks(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, rank_def.name);
    int64_t(*parts)[N_PARTS] = calloc(r->ranks.n + 1, sizeof *parts);
    tm_status status = parts ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < r->pieces.n && status == TM_OK; i++)
        parts[rank_place(r, piece_at(r, i)->rank)][part_of[piece_at(r, i)->kind]] +=
            piece_at(r, i)->ns;
    for (size_t i = 0; i < r->ranks.n && status == TM_OK; i++) {
        const tm_whatif_rank *rank = (const tm_whatif_rank *)r->ranks.data + i;
        tm_cell *row = tm_table_add_row(table);
        int64_t path = 0;
        if (!row) {
            status = tm_fail_memory(err);
            break;
        }
        for (int p = 0; p < N_PARTS; p++) {
            path += parts[i][p];
            tm_cell_set_int(&row[R_PARTS + p], parts[i][p]);
        }
        tm_cell_set_int(&row[R_RANK], rank->rank);
        tm_cell_set_int(&row[R_PATH], path);
        tm_cell_set_ratio(&row[R_SHARE], 1.0, path, r->total_ns);
        tm_cell_set_int(&row[R_NEAR], rank->slack.near_ns);
        tm_cell_set_known(&row[R_SLACK], rank->slack.least_ns);
    }
    free(parts);
    return status;
}

/* Key of a row of criticalpath.name. */
typedef struct label {
    uint32_t name, kind;
} label;

typedef struct labelled {
    label label;
    int64_t path_ns, count, ranks;
} labelled;

/* Key of the sums of a rank. */
typedef struct rank_label {
    label label;
    int64_t rank;
} rank_label;

TM_ORDER_FALLING(by_path, labelled, path_ns, label.kind, label.name);

/* Sums the pieces by kind, name and rank. */
static bool sum_ranks(const tm_replay_result *r, tm_keys *keys, tm_vec *sums) {
    for (size_t i = 0; i < r->pieces.n; i++) {
        const tm_path_piece *p = piece_at(r, i);
        labelled *sum = tm_keys_value(keys, sums, &(rank_label){{p->name, p->kind}, p->rank});
        if (!sum)
            return false;
        sum->path_ns += p->ns;
        sum->count++;
    }
    return true;
}

/* Combines the sums of all ranks that have the same kind and name, and counts these ranks. */
static bool join_ranks(const tm_keys *rank_keys, const tm_vec *of_ranks, tm_vec *sums) {
    tm_keys keys = TM_KEYS(label);
    bool ok = true;
    for (size_t i = 0; i < of_ranks->n && ok; i++) {
        const labelled *own = (const labelled *)of_ranks->data + i;
        const label *key = &((const rank_label *)rank_keys->keys.data + i)->label;
        labelled *sum = tm_keys_value(&keys, sums, key);
        ok = sum != NULL;
        if (!sum)
            break;
        sum->label = *key;
        sum->path_ns += own->path_ns;
        sum->count += own->count;
        sum->ranks++;
    }
    tm_keys_free(&keys);
    return ok;
}

static bool sum_names(const tm_replay_result *r, tm_vec *sums) {
    tm_keys keys = TM_KEYS(rank_label);
    tm_vec of_ranks = TM_VEC(labelled);
    bool ok = sum_ranks(r, &keys, &of_ranks) && join_ranks(&keys, &of_ranks, sums);
    tm_keys_free(&keys);
    tm_vec_free(&of_ranks);
    if (ok && sums->n > 1)
        qsort(sums->data, sums->n, sums->size, by_path);
    return ok;
}

static tm_status add_names(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, name_def.name);
    tm_vec sums = TM_VEC(labelled);
    tm_status status = sum_names(r, &sums) ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < sums.n && i < NAMES_MAX && status == TM_OK; i++) {
        const labelled *sum = (const labelled *)sums.data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row) {
            status = tm_fail_memory(err);
            break;
        }
        tm_cell_set_int(&row[N_PATH], sum->path_ns);
        tm_cell_set_ratio(&row[N_SHARE], 1.0, sum->path_ns, r->total_ns);
        tm_cell_set_int(&row[N_COUNT], sum->count);
        tm_cell_set_int(&row[N_RANKS], sum->ranks);
        status = tm_table_set_text(table, &row[N_KIND], kind_words[sum->label.kind], err);
        if (status == TM_OK)
            status = set_name(table, &row[N_NAME], r, sum->label.name, err);
    }
    tm_vec_free(&sums);
    return status;
}

/* Returns the maximum number of pieces of a step. */
static size_t pieces_of_a_step(const tm_replay_result *r) {
    size_t share = ALL_PIECES_MAX / (r->path_steps.n + 1);
    return share > PIECES_MAX ? PIECES_MAX : share < PIECES_LEAST ? PIECES_LEAST : share;
}

/* Merges a piece into the row before it. The row has the rank, kind and name of the longest of its
 * pieces. */
static void merge_piece(tm_path_piece *row, tm_path_piece piece, int64_t *longest_ns) {
    const int64_t begin_ns = row->begin_ns, ns = row->ns + piece.ns;
    if (piece.ns > *longest_ns) {
        *longest_ns = piece.ns;
        *row = piece;
    }
    row->begin_ns = begin_ns;
    row->ns = ns;
}

/* Joins adjacent pieces of a step that have the same rank, kind and name. If too many pieces
 * remain, keeps the first and the longest pieces, and merges each other piece into the kept piece
 * before it. */
static bool join_pieces(const tm_replay_result *r, size_t first, size_t after, tm_vec *out) {
    for (size_t i = first; i < after; i++) {
        const tm_path_piece *p = piece_at(r, i);
        tm_path_piece *last = out->n > 0 ? (tm_path_piece *)out->data + out->n - 1 : NULL;
        if (last && last->rank == p->rank && last->kind == p->kind && last->name == p->name)
            last->ns += p->ns;
        else if (!tm_vec_append(out, p, 1))
            return false;
    }
    const size_t most = pieces_of_a_step(r);
    if (out->n <= most)
        return true;
    int64_t *lengths = malloc(out->n * sizeof *lengths);
    tm_path_piece *v = out->data;
    for (size_t i = 0; i < out->n && lengths; i++)
        lengths[i] = v[i].ns;
    if (!lengths)
        return false;
    int64_t least = tm_select(lengths, out->n, out->n - most);
    free(lengths);
    size_t kept = 1;
    int64_t longest_ns = v[0].ns;
    for (size_t i = 1; i < out->n; i++) {
        if (v[i].ns > least) {
            longest_ns = v[i].ns;
            v[kept++] = v[i];
        } else {
            merge_piece(&v[kept - 1], v[i], &longest_ns);
        }
    }
    out->n = kept;
    return true;
}

static tm_status add_pieces(const tm_replay_result *r, size_t first, size_t after, tm_tables *out,
                            tm_error *err) {
    tm_table *table = tm_tables_find(out, piece_def.name);
    tm_vec joined = TM_VEC(tm_path_piece);
    tm_status status = join_pieces(r, first, after, &joined) ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < joined.n && status == TM_OK; i++) {
        const tm_path_piece *p = (const tm_path_piece *)joined.data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row) {
            status = tm_fail_memory(err);
            break;
        }
        tm_cell_set_int(&row[P_STEP], p->step);
        tm_cell_set_int(&row[P_PLACE], (int64_t)i);
        tm_cell_set_int(&row[P_RANK], p->rank);
        if (p->event != TM_NO_EVENT)
            tm_cell_set_int(&row[P_EVENT], p->event);
        tm_cell_set_int(&row[P_BEGIN], tm_timebase_job(&r->base, p->begin_ns));
        tm_cell_set_int(&row[P_DURATION], p->ns);
        status = tm_table_set_text(table, &row[P_KIND], kind_words[p->kind], err);
        if (status == TM_OK)
            status = set_name(table, &row[P_NAME], r, p->name, err);
    }
    tm_vec_free(&joined);
    return status;
}

static tm_status add_slacks(const tm_replay_result *r, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, slack_def.name);
    for (size_t i = 0; i < r->slacks.n; i++) {
        const tm_slack_run *run = (const tm_slack_run *)r->slacks.data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[L_RANK], run->rank);
        tm_cell_set_known(&row[L_DEVICE], run->device);
        tm_cell_set_known(&row[L_STREAM], run->stream);
        tm_cell_set_int(&row[L_BEGIN], tm_timebase_job(&r->base, run->begin_ns));
        tm_cell_set_int(&row[L_EVENTS], run->n);
        if (run->least_ns < INT64_MAX)
            tm_cell_set_int(&row[L_SLACK], run->least_ns);
        if (run->most_ns < INT64_MAX)
            tm_cell_set_int(&row[L_MOST], run->most_ns);
    }
    return TM_OK;
}

static tm_status path_collectives(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_replay_result *r = own->replay;
    if (!r)
        return TM_OK;
    for (size_t k = 0, first = 0, after = 0; k < r->path_steps.n; k++, first = after) {
        const tm_path_step *step = (const tm_path_step *)r->path_steps.data + k;
        while (after < r->pieces.n && piece_at(r, after)->step == step->number)
            after++;
        TM_TRY(add_step(r, step, first, after, out, err));
        TM_TRY(add_pieces(r, first, after, out, err));
    }
    TM_TRY(add_ranks(r, out, err));
    TM_TRY(add_slacks(r, out, err));
    return add_names(r, out, err);
}

const tm_analysis tm_analysis_criticalpath = {
    .name = "criticalpath",
    .summary = "the critical path over all ranks, which decides when each step ends",
    TM_ARRAY(tables, defs),
    .collectives = path_collectives,
};
