#include "rank_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/over_ranks.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "timeline/metadata.h"

/* PAIRS_MOST: maximum number of pairs that are shown. GROUP_MOST: maximum number of ranks of a
 * group whose pairs are counted. PyTorch cuts lists after 30 ranks, so the limits matter only for
 * traces with longer lists. */
enum { PAIRS_MOST = 5000, GROUP_MOST = 64 };

enum { FROM, TO, COUNT, EVEN, UNKNOWN, BYTES, EXPECTED, SHARE, TIMES_EVEN, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [FROM] = {"from_rank", TM_INT, "", "Rank that sends."},
    [TO] = {"to_rank", TM_INT, "",
            "Rank that receives; equal to from_rank for data that stays on the rank."},
    [COUNT] = {"count", TM_INT, "",
               "Number of all-to-all operations of from_rank whose bytes are known; bytes is the "
               "sum over these."},
    [EVEN] = {"even_count", TM_INT, "",
              "Number of operations in count that have no split sizes, so that every rank gets the "
              "same amount."},
    [UNKNOWN] = {"unknown_count", TM_INT, "",
                 "Number of all-to-all operations of from_rank whose bytes are unknown: the split "
                 "sizes or the type are not recorded, or do not fit the size and the group."},
    [BYTES] = {"bytes", TM_INT, "B",
               "Bytes that from_rank sends to to_rank, summed over operations: the sender's input "
               "bytes, times its split size for to_rank, divided by the sum of its split sizes. "
               "Null if count is 0."},
    [EXPECTED] = {"expected_bytes", TM_INT, "B",
                  "Bytes that to_rank receives from from_rank, computed from outputs and split "
                  "sizes in the trace of to_rank; null if that trace does not have them."},
    [SHARE] = {"share_pct", TM_REAL, "%",
               "Share of to_rank in all bytes that from_rank sends: 100 bytes / the sum of bytes "
               "over all receivers."},
    [TIMES_EVEN] = {"times_even", TM_REAL, "",
                    "How many times as many bytes to_rank gets as in an even division: bytes / the "
                    "bytes that to_rank would get if from_rank divided its data evenly in each "
                    "operation. Null if to_rank would get none."},
};

const tm_table_def tm_pair_def = {
    .name = "collectives.pair",
    .doc =
        "A row for each pair of sender and receiver in all-to-all operations, matched or not. Only "
        "groups of up to 64 ranks whose list of ranks is recorded (PyTorch cuts lists after 30). "
        "Limited to the 5000 pairs with the most bytes. If times_even is well over 1 for the same "
        "to_rank with most senders, that rank has the experts that are chosen too often.",
    TM_ARRAY(columns, columns),
    .n_keys = 2,
    .top = BYTES,
};

enum { P_FROM, P_TO, P_RANK, P_COUNT, P_EVEN, P_UNKNOWN, P_BYTES, P_EACH, P_REPORTED, P_EXPECTED };

static const tm_column part_columns[] = {
    [P_FROM] = {"from_rank", TM_INT, "", "As in collectives.pair."},
    [P_TO] = {"to_rank", TM_INT, "", "As in collectives.pair."},
    [P_RANK] = {"rank", TM_INT, "", "Rank whose trace the row is from: from_rank or to_rank."},
    [P_COUNT] = {"count", TM_INT, "", "As in collectives.pair."},
    [P_EVEN] = {"even_count", TM_INT, "", "As in collectives.pair."},
    [P_UNKNOWN] = {"unknown_count", TM_INT, "", "As in collectives.pair."},
    [P_BYTES] = {"bytes", TM_INT, "B", "As in collectives.pair."},
    [P_EACH] =
        {"each_bytes", TM_REAL, "B",
         "Bytes that to_rank would get if from_rank divided its data evenly in each operation."},
    [P_REPORTED] = {"expected_count", TM_INT, "", "Number of operations that expected_bytes sums."},
    [P_EXPECTED] = {"expected_bytes", TM_INT, "B", "As in collectives.pair."},
};

const tm_table_def tm_pair_part_def = TM_PART_TABLE(
    "collectives.pair_part",
    "Two rows for each pair of ranks, one for each rank: the rank's part of the row in "
    "collectives.pair.",
    part_columns, P_RANK);

typedef struct pair {
    int64_t from, to;
} pair;

/* A rank's records of a pair. */
typedef struct pair_record {
    int64_t count, even, unknown, bytes, expected_count, expected_bytes;
    double each_bytes;
} pair_record;

/* A rank's records of all pairs. */
typedef struct rank_records {
    const tm_rank_view *view;
    tm_keys lists;  /* keys of uint32_t: name ids of texts that are lists of ranks */
    tm_vec groups;  /* vector of tm_rank_list: one per list */
    tm_keys pairs;  /* keys of pair */
    tm_vec records; /* vector of pair_record: one per pair */
} rank_records;

/* One side of an operation on one rank: the data that the rank sends to the ranks of its group, or
 * the data that it receives from them. */
typedef struct side {
    bool sends, known, even;
    int64_t bytes; /* bytes to or from all ranks together */
    size_t n;      /* number of ranks of the group */
    /* The split sizes count rows of a tensor. `rows` is their sum; it is 0 if there are no data.
     * row_bytes is the size of a row. */
    int64_t rows, row_bytes;
    int64_t split[GROUP_MOST]; /* [n] */
} side;

/* Reads a list such as "[3, 0]", with or without quotes. Returns false for other texts, and for
 * lists that do not have s->n numbers, such as lists cut with "...". */
static bool read_split(const char *text, side *s) {
    const char *p = text + (*text == '"');
    size_t n = 0;
    for (p += *p == '['; n < s->n; n++) {
        char *end;
        s->split[n] = strtoll(p, &end, 10);
        if (end == p || s->split[n] < 0)
            return false;
        s->rows = tm_sum(s->rows, s->split[n]);
        p = end + (*end == ',');
    }
    return *p == ']';
}

/* Returns whether an operation sends the same amount to every rank: its list of split sizes is
 * empty, or there is no list and the name does not say that sizes vary. */
static bool is_even(const tm_names *names, const tm_collective_attr *attr, tm_text list) {
    const char *name = tm_names_text(names, attr->name).bytes;
    if (list.size == 0)
        return !strstr(name, "allv") && !strstr(name, "allV");
    return strcmp(list.bytes, "[]") == 0 || strcmp(list.bytes, "\"[]\"") == 0;
}

/* Sets the data of one side. PyTorch's split sizes count rows of a tensor, not elements. */
static void split_side(const tm_names *names, const tm_collective_attr *attr, side *s) {
    const tm_text list = tm_names_text(names, s->sends ? attr->in_split : attr->out_split);
    const int64_t elements = s->sends ? attr->in_elements : attr->out_elements;
    const int64_t size = tm_dtype_bytes(tm_names_text(names, attr->dtype));
    if (elements < 0 || elements > INT64_MAX / 32 || size == 0)
        return;
    s->even = is_even(names, attr, list);
    s->bytes = elements * size;
    for (size_t i = 0; i < s->n && s->even; i++)
        s->split[i] = 1;
    if (s->even)
        s->rows = (int64_t)s->n;
    else if (!read_split(list.bytes, s))
        return;
    s->known = s->rows > 0 ? elements % s->rows == 0 : elements == 0;
    s->row_bytes = s->known && s->rows > 0 ? elements / s->rows * size : 0;
}

static void add_share(const side *s, size_t i, pair_record *t) {
    const int64_t bytes = s->split[i] * s->row_bytes;
    if (!s->sends) {
        t->expected_count += s->known;
        t->expected_bytes = tm_sum(t->expected_bytes, s->known ? bytes : 0);
        return;
    }
    t->count += s->known;
    t->even += s->known && s->even;
    t->unknown += !s->known;
    t->bytes = tm_sum(t->bytes, s->known ? bytes : 0);
    t->each_bytes += s->known ? (double)s->bytes / (double)s->n : 0.0;
}

static bool add_side(rank_records *t, const tm_collective_attr *attr, const tm_vec *ranks,
                     bool sends) {
    const int64_t own = t->view->timeline->rank, *members = ranks->data;
    side s = {.sends = sends, .n = ranks->n};
    split_side(t->view->names, attr, &s);
    for (size_t i = 0; i < s.n; i++) {
        const pair key = sends ? (pair){own, members[i]} : (pair){members[i], own};
        pair_record *found = tm_keys_value(&t->pairs, &t->records, &key);
        if (!found)
            return false;
        add_share(&s, i, found);
    }
    return true;
}

/* Adds an operation, if the ranks of its group are known and include this rank. */
static bool add_operation(rank_records *t, const tm_collective_attr *attr) {
    tm_rank_list *group = tm_keys_value(&t->lists, &t->groups, &attr->group_ranks);
    const int64_t rank = t->view->timeline->rank;
    if (!group || (!group->read &&
                   !tm_rank_list_read(tm_names_text(t->view->names, attr->group_ranks), group)))
        return false;
    const tm_vec *ranks = &group->ranks;
    const size_t at = tm_lower_bound(ranks->data, ranks->n, rank);
    if (group->more || ranks->n > GROUP_MOST || at == ranks->n ||
        ((const int64_t *)ranks->data)[at] != rank)
        return true;
    return add_side(t, attr, ranks, true) && add_side(t, attr, ranks, false);
}

static bool add_operations(rank_records *t) {
    const tm_timeline *timeline = t->view->timeline;
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++)
        if (attrs[i].kind == TM_COLL_ALLTOALL && attrs[i].group_ranks != TM_NO_NAME &&
            timeline->role[attrs[i].event] == TM_ROLE_COMMUNICATION && !add_operation(t, &attrs[i]))
            return false;
    return true;
}

static bool add_parts(const rank_records *t, tm_table *table) {
    const pair *pairs = t->pairs.keys.data;
    const pair_record *found = t->records.data;
    for (size_t i = 0; i < t->records.n; i++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return false;
        tm_cell_set_int(&row[P_FROM], pairs[i].from);
        tm_cell_set_int(&row[P_TO], pairs[i].to);
        tm_cell_set_int(&row[P_RANK], t->view->timeline->rank);
        tm_cell_set_int(&row[P_COUNT], found[i].count);
        tm_cell_set_int(&row[P_EVEN], found[i].even);
        tm_cell_set_int(&row[P_UNKNOWN], found[i].unknown);
        tm_cell_set_int(&row[P_BYTES], found[i].bytes);
        tm_cell_set_real(&row[P_EACH], found[i].each_bytes);
        tm_cell_set_int(&row[P_REPORTED], found[i].expected_count);
        tm_cell_set_int(&row[P_EXPECTED], found[i].expected_bytes);
    }
    return true;
}

tm_status tm_pairs_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    rank_records t = {.view = view,
                      .lists = TM_KEYS(uint32_t),
                      .groups = TM_VEC(tm_rank_list),
                      .pairs = TM_KEYS(pair),
                      .records = TM_VEC(pair_record)};
    const bool ok = add_operations(&t) && add_parts(&t, tm_tables_find(out, tm_pair_part_def.name));
    tm_rank_list *groups = t.groups.data;
    for (size_t i = 0; i < t.groups.n; i++)
        tm_vec_free(&groups[i].ranks);
    tm_keys_free(&t.lists);
    tm_vec_free(&t.groups);
    tm_keys_free(&t.pairs);
    tm_vec_free(&t.records);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status set_pair(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                          tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    const int64_t count = tm_over_ranks_sum(rows, P_COUNT),
                  bytes = tm_over_ranks_sum(rows, P_BYTES);
    double each = 0;
    (void)names;
    (void)shown;
    (void)err;
    for (size_t i = rows->first; i < rows->end; i++)
        each += tm_table_row(rows->part, i)[P_EACH].value.r;
    row[FROM] = key[P_FROM];
    row[TO] = key[P_TO];
    tm_cell_set_int(&row[COUNT], count);
    tm_cell_set_int(&row[EVEN], tm_over_ranks_sum(rows, P_EVEN));
    tm_cell_set_int(&row[UNKNOWN], tm_over_ranks_sum(rows, P_UNKNOWN));
    if (count > 0) {
        tm_cell_set_int(&row[BYTES], bytes);
        tm_cell_set_real(&row[TIMES_EVEN], (double)bytes / each);
    }
    if (tm_over_ranks_sum(rows, P_REPORTED) > 0)
        tm_cell_set_int(&row[EXPECTED], tm_over_ranks_sum(rows, P_EXPECTED));
    return TM_OK;
}

tm_status tm_pairs_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_pair_part_def, &tm_pair_def, names, tables, set_pair, err);
}

void tm_pairs_job(tm_tables *tables) {
    tm_table *table = tm_tables_find(tables, tm_pair_def.name);
    for (size_t first = 0, i = 0; first < table->n_rows; first = i) {
        const int64_t from = tm_table_row(table, first)[FROM].value.i;
        int64_t sent = 0;
        for (; i < table->n_rows && tm_table_row(table, i)[FROM].value.i == from; i++)
            if (!tm_table_row(table, i)[BYTES].null)
                sent = tm_sum(sent, tm_table_row(table, i)[BYTES].value.i);
        for (size_t k = first; k < i; k++)
            if (!tm_table_row(table, k)[BYTES].null)
                tm_cell_set_ratio(&tm_table_row(table, k)[SHARE], 100.0,
                                  tm_table_row(table, k)[BYTES].value.i, sent);
    }
    tm_table_top(table, PAIRS_MOST);
    tm_table_sort(table);
}
