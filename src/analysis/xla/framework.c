/* Analysis `framework`: operators of TensorFlow and JAX, on the host and on the devices. */
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/calls.h"
#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "analysis/shared/xla.h"
#include "analysis/shared/xla_ops.h"
#include "base/keys.h"
#include "base/sums.h"
#include "table/levels.h"

/* Maximum number of operators in the table for each side. */
enum { LISTED = 500 };

/* Sides, in alphabetical order of their words, so that rows sorted by id are also sorted by
 * word. */
typedef enum side { DEVICE, HOST, N_SIDES } side;
static const char *const side_words[N_SIDES] = {"device", "host"};

enum { P_SIDE, P_OPERATOR, P_RANK, P_OCCURRENCES, P_TOTAL, P_SELF, N_PART };

static const tm_column part_columns[N_PART] = {
    [P_SIDE] = {"side", TM_INT, "", "Side: 0 device, 1 host."},
    [P_OPERATOR] = {"operator", TM_INT, "", "Id of the operator's name."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_OCCURRENCES] = {"occurrences", TM_INT, "", "Number of runs."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the runs' durations."},
    [P_SELF] = {"self_ns", TM_INT, "ns", "Sum of the runs' self times."},
};

static const tm_table_def part_def = TM_PART_TABLE(
    "framework.work_part", "A row for each rank, side and operator.", part_columns, 2);

enum {
    LEVEL,
    SIDE_,
    OPERATOR,
    TYPE,
    OPERATORS,
    OCCURRENCES,
    TOTAL,
    SELF,
    SHARE,
    RANKS,
    MAX_RANK_TIME,
    MAX_RANK
};

static const tm_column columns[] = {
    [LEVEL] = TM_LEVEL_COLUMN("operator or type"),
    [SIDE_] = {"side", TM_TEXT, "",
               "Where the row's time was spent. host: in the operator, on threads of the host. "
               "device: in the work that the operator launched on devices."},
    [OPERATOR] = {"operator", TM_TEXT, "",
                  "Name of the operator. Null for device work without an operator, such as copies, "
                  "and on level type."},
    [TYPE] = {"type", TM_TEXT, "",
              "Type of the operator: for TensorFlow, the part of its name after the colon; for "
              "JAX, the last part of its name."},
    [OPERATORS] = {"operators", TM_INT, "",
                   "Number of distinct operators of this type; null on level operator."},
    [OCCURRENCES] = {"occurrences", TM_INT, "",
                     "Number of runs, over all ranks. If side is device, number of kernels."},
    [TOTAL] = {"total_ns", TM_INT, "ns",
               "Duration of all runs, including nested operators: sum over all ranks."},
    [SELF] = {"self_ns", TM_INT, "ns",
              "Duration of all runs, without nested operators: sum over all ranks."},
    [SHARE] = {"share_pct", TM_REAL, "%",
               "Share of the row in the self time of its side (host or device): 100 self_ns / the "
               "sum of self_ns over all operators of the side."},
    [RANKS] = {"ranks", TM_INT, "",
               "Number of ranks that ran the operator. This and the next two columns are null on "
               "level type."},
    [MAX_RANK_TIME] = {"max_rank_ns", TM_INT, "ns", "Largest self_ns on a rank."},
    [MAX_RANK] = TM_MAX_RANK_COLUMN,
};

static const tm_table_def work_def = {
    .name = "framework.work",
    .doc = "A row for each operator of TensorFlow or JAX on the host and on devices, over all "
           "ranks: the 500 of each side with the largest self_ns. Also a row for each type of "
           "operators, over all operators of the type.",
    TM_ARRAY(columns, columns),
    .n_keys = TYPE + 1,
    .top = SELF,
};

static const tm_table_def *const defs[] = {&work_def, &part_def};

/* Has no padding, because keys are compared as bytes. */
typedef struct operator_key {
    uint32_t side, name;
} operator_key;

typedef struct operator_sum {
    int64_t occurrences, total_ns, self_ns;
} operator_sum;

static bool add(tm_rank_sums *sums, operator_key key, int64_t total_ns, int64_t self_ns) {
    operator_sum *sum = tm_rank_sums_at(sums, &key);
    if (!sum)
        return false;
    sum->occurrences++;
    sum->total_ns = tm_sum(sum->total_ns, total_ns);
    sum->self_ns = tm_sum(sum->self_ns, self_ns);
    return true;
}

static bool add_devices(const tm_rank_view *view, tm_rank_sums *sums, tm_error *err) {
    tm_vec ops;
    bool ok = tm_xla_ops_find(view->timeline, view->names, &ops, err) == TM_OK;
    for (size_t i = 0; i < ops.n && ok; i++) {
        const tm_xla_op *op = (const tm_xla_op *)ops.data + i;
        if (op->part != TM_XLA_ASYNC)
            ok = add(sums, (operator_key){DEVICE, op->attr->origin},
                     view->timeline->duration_ns[op->attr->event], op->self_ns);
    }
    tm_vec_free(&ops);
    return ok;
}

/* Adds events of GPU streams without an XLA attribute, which are copies of programs' inputs. */
static bool add_unreported(const tm_rank_view *view, tm_rank_sums *sums) {
    const tm_timeline *timeline = view->timeline;
    size_t next = 0;
    bool ok = true;
    for (uint32_t row = 0; row < timeline->n_events && ok; row++)
        if (timeline->role[row] != TM_ROLE_NONE && !tm_xla_of(timeline, row, &next))
            ok = add(sums, (operator_key){DEVICE, TM_NO_NAME}, timeline->duration_ns[row],
                     timeline->duration_ns[row]);
    return ok;
}

/* Returns whether only the runtime call of a device event was recorded. The reader then adds a
 * device event with the same start and duration, directly before the call. */
static bool is_of_call(const tm_timeline *timeline, uint32_t row) {
    size_t call = (size_t)row + 1;
    return call < timeline->n_events && timeline->category[call] == TM_CAT_RUNTIME &&
           timeline->begin_ns[call] == timeline->begin_ns[row] &&
           timeline->duration_ns[call] == timeline->duration_ns[row];
}

static bool add_hosts(const tm_rank_view *view, tm_rank_sums *sums) {
    const tm_timeline *timeline = view->timeline;
    const tm_call *calls = view->operators->calls;
    size_t n = view->operators->n;
    int64_t *self_ns = calloc(n + 1, sizeof *self_ns);
    bool ok = self_ns != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        int64_t duration = timeline->duration_ns[calls[i].row];
        if (is_of_call(timeline, calls[i].row))
            continue;
        self_ns[i] += duration;
        if (calls[i].parent != TM_NO_CALL)
            self_ns[calls[i].parent] -= duration;
    }
    for (size_t i = 0; i < n && ok; i++)
        if (!is_of_call(timeline, calls[i].row))
            ok = add(sums, (operator_key){HOST, timeline->name[calls[i].row]},
                     timeline->duration_ns[calls[i].row], self_ns[i]);
    free(self_ns);
    return ok;
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const operator_key *key = of;
    const operator_sum *sum = value;
    cells[P_SIDE] = key->side;
    cells[P_OPERATOR] = key->name;
    cells[P_OCCURRENCES] = sum->occurrences;
    cells[P_TOTAL] = sum->total_ns;
    cells[P_SELF] = sum->self_ns;
}

static tm_status framework_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_rank_sums sums = TM_RANK_SUMS(operator_key, operator_sum);
    if (!tm_xla_is(view))
        return TM_OK;
    bool ok = add_devices(view, &sums, err) && add_hosts(view, &sums) &&
              (tm_xla_is_tpu(view) || add_unreported(view, &sums));
    return tm_rank_sums_put(&sums, ok, view->timeline->rank, set_cells,
                            tm_tables_find(out, part_def.name), err);
}

/* Returns the type in an operator's name: MatMul for "scope/MatMul:MatMul"; add for
 * "jit(f)/jit(main)/add:" and "jit(f)/add"; dot_general for
 * "dot_general[dimension_numbers=...]". */
static tm_text type_of(tm_text name) {
    const char *end = name.bytes + name.size, *begin = end;
    while (begin > name.bytes && begin[-1] != ':')
        begin--;
    if (begin > name.bytes && begin < end)
        return (tm_text){begin, (size_t)(end - begin)};
    end -= begin > name.bytes; /* leaves out a colon at the end */
    const char *bracket = memchr(name.bytes, '[', (size_t)(end - name.bytes));
    end = bracket ? bracket : end;
    for (begin = end; begin > name.bytes && begin[-1] != '/';)
        begin--;
    return (tm_text){begin, (size_t)(end - begin)};
}

static tm_status set_operator(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                              tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    const int64_t name = key[P_OPERATOR].value.i;
    tm_over_ranks self;
    TM_TRY(tm_over_ranks_column(rows, P_SELF, &self, err));
    tm_cell_set_int(&row[OCCURRENCES], tm_over_ranks_sum(rows, P_OCCURRENCES));
    tm_cell_set_int(&row[TOTAL], tm_over_ranks_sum(rows, P_TOTAL));
    tm_cell_set_int(&row[SELF], self.sum);
    tm_cell_set_int(&row[RANKS], self.ranks);
    tm_cell_set_int(&row[MAX_RANK_TIME], self.max);
    tm_cell_set_int(&row[MAX_RANK], self.max_rank);
    TM_TRY(tm_table_set_text(table, &row[LEVEL], "operator", err));
    TM_TRY(tm_table_set_text(table, &row[SIDE_], side_words[key[P_SIDE].value.i], err));
    TM_TRY(tm_set_named(names, name, table, &row[OPERATOR], err));
    if (name == TM_NO_NAME)
        return TM_OK;
    tm_text type = type_of(tm_names_text(names, (uint32_t)name));
    return tm_table_set_bytes(table, &row[TYPE], type.bytes, type.size, err);
}

static tm_status framework_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&part_def, &work_def, names, tables, set_operator, err);
}

static side side_of(const tm_cell *row) {
    return strcmp(row[SIDE_].value.text, side_words[HOST]) == 0 ? HOST : DEVICE;
}

/* Returns the row for the type of the operator in row @p of. If there is none yet, adds a row of
 * zeros. */
static tm_cell *row_of_type(tm_table *table, tm_names *texts, tm_vec *rows, size_t of,
                            tm_error *err) {
    const tm_cell from[] = {tm_table_row(table, of)[SIDE_], tm_table_row(table, of)[TYPE]};
    uint32_t id = tm_names_intern_string(texts, from[1].null ? "" : from[1].value.text);
    size_t at = (size_t)id * N_SIDES + side_of(tm_table_row(table, of));
    const uint32_t absent = UINT32_MAX;
    while (id != TM_NAME_FAILED && rows->n <= at)
        if (!tm_vec_append(rows, &absent, 1))
            return NULL;
    if (id == TM_NAME_FAILED)
        return NULL;
    uint32_t *number = (uint32_t *)rows->data + at;
    if (*number != absent)
        return tm_table_row(table, *number);
    *number = (uint32_t)table->n_rows;
    tm_cell *row = tm_table_add_row(table);
    if (!row || tm_table_set_text(table, &row[LEVEL], "type", err) != TM_OK)
        return NULL;
    row[SIDE_] = from[0];
    row[TYPE] = from[1];
    for (int c = OPERATORS; c <= SELF; c++)
        tm_cell_set_int(&row[c], 0);
    return row;
}

static bool sum_types(tm_table *table, int64_t all_ns[N_SIDES], tm_error *err) {
    tm_names *texts = tm_names_create();
    tm_vec rows = TM_VEC(uint32_t);
    bool ok = texts != NULL;
    for (size_t i = 0, n = table->n_rows; i < n && ok; i++) {
        tm_cell *row = row_of_type(table, texts, &rows, i, err);
        const tm_cell *from = tm_table_row(table, i);
        ok = row != NULL;
        if (!ok)
            break;
        row[OPERATORS].value.i += !from[OPERATOR].null;
        row[OCCURRENCES].value.i = tm_sum(row[OCCURRENCES].value.i, from[OCCURRENCES].value.i);
        row[TOTAL].value.i = tm_sum(row[TOTAL].value.i, from[TOTAL].value.i);
        row[SELF].value.i = tm_sum(row[SELF].value.i, from[SELF].value.i);
        all_ns[side_of(from)] = tm_sum(all_ns[side_of(from)], from[SELF].value.i);
    }
    tm_names_destroy(texts);
    tm_vec_free(&rows);
    return ok;
}

/* Returns whether any operator has a name. If none has, there is nothing to sum. */
static bool any_is_reported(const tm_table *operators) {
    for (size_t i = 0; i < operators->n_rows; i++)
        if (!tm_table_row(operators, i)[OPERATOR].null)
            return true;
    return false;
}

static bool is_listed(const tm_table *table, const tm_cell *row, void *context) {
    size_t *left = context;
    (void)table;
    if (tm_row_has_level(row, "type"))
        return true;
    side of = side_of(row);
    left[of] -= left[of] > 0;
    return left[of] > 0;
}

static tm_status framework_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    tm_table *table = tm_tables_find(out, work_def.name);
    int64_t all_ns[N_SIDES] = {0};
    size_t left[N_SIDES] = {LISTED + 1, LISTED + 1};
    if (!any_is_reported(table))
        left[HOST] = left[DEVICE] = 0;
    else if (!sum_types(table, all_ns, err))
        return tm_fail_memory(err);
    for (size_t i = 0; i < table->n_rows; i++) {
        tm_cell *row = tm_table_row(table, i);
        tm_cell_set_ratio(&row[SHARE], 100.0, row[SELF].value.i, all_ns[side_of(row)]);
    }
    tm_table_sort(table);
    tm_table_top(table, SIZE_MAX);
    tm_table_filter(table, is_listed, left);
    return TM_OK;
}

const tm_analysis tm_analysis_framework = {
    .name = "framework",
    .summary = "operators of TensorFlow and JAX by type, on the host and on the devices",
    TM_ARRAY(tables, defs),
    .rank = framework_rank,
    .merge = framework_merge,
    .job = framework_job,
};
