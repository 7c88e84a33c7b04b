/* diff.kernel and diff.operator: compares kernels and operators by name, per rank and step, or per
 * call. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "table/levels.h"

/* Columns of both tables. */
enum {
    K_NAME,
    K_VERDICT,
    K_A,
    K_B,
    K_CHANGE,
    K_PCT,
    K_NOISE,
    K_A_CALLS,
    K_B_CALLS,
    K_PER,
    K_OWN,
    K_A_MEAN = K_OWN,
    K_B_MEAN,
    K_COMMUNICATION,
    N_KERNEL,
    O_A_HOST = K_OWN,
    O_B_HOST,
    O_HOST_CHANGE
};

static const tm_column kernel_columns[N_KERNEL] = {
    {"name", TM_TEXT, "", "Name of the kernel."},
    {"verdict", TM_TEXT, "",
     "Verdict on the change. added or removed: only B or only A has the kernel. slower or faster: "
     "the time changes by more than noise_ns. more or fewer calls: the number of calls changes by "
     "at least 2 %, but the time by at most noise_ns. unclear: the change may be chance. same: no "
     "change. too few steps: A or B has under 3 steps. If times are divided by calls (per = "
     "call), noise is unknown, and there are other words: differs (a change of at least 2 %) or "
     "unclear (a smaller change)."},
    {"a_ns", TM_INT, "ns",
     "Time of the kernel in A, per rank and step (from kernels.kernel.total_ns); 0 if it did not "
     "run. If per = call: mean duration of a call; null without calls."},
    {"b_ns", TM_INT, "ns", "Time of the kernel in B, computed in the same way as a_ns."},
    {"change_ns", TM_INT, "ns", "Change of the time from A to B: b_ns - a_ns."},
    {"change_pct", TM_REAL, "%", "Change of the time relative to A: 100 change_ns / a_ns."},
    {"noise_ns", TM_INT, "ns",
     "How much a_ns and b_ns may differ by chance. Compute kernels: the noise of "
     "overlap.step.compute_ns in diff.job, times the square root of the kernel's share of "
     "compute_ns, as if kernels varied independently. Communication: the noise of comm_ns, without "
     "such a factor. Null with too few steps, or if only A or B has the kernel."},
    {"a_calls", TM_REAL, "",
     "Number of calls in A, per rank and step (from kernels.kernel.calls). If per = call: per "
     "rank, over the whole recording."},
    {"b_calls", TM_REAL, "", "Number of calls in B, computed in the same way as a_calls."},
    {"per", TM_TEXT, "",
     "What times are divided by: step or call. It is call if A or B has under 2 whole steps, "
     "because sums would then depend on the length of the recording. Calls of one name may differ "
     "in size."},
    {"a_mean_ns", TM_INT, "ns", "Mean duration of the kernel in A (kernels.kernel.mean_ns)."},
    {"b_mean_ns", TM_INT, "ns", "Mean duration of the kernel in B (kernels.kernel.mean_ns)."},
    {"communication", TM_BOOL, "", "Whether the kernel communicates."},
};

const tm_table_def tm_diff_kernel_def = {
    .name = "diff.kernel",
    .doc = "A row for each kernel name in A or B, with the largest absolute change first. If per "
           "= call, rows are sorted by the change times the number of calls in A; then come names "
           "that only A or only B has, with the longest time per rank first.",
    TM_ARRAY(columns, kernel_columns),
    .n_keys = 1,
    .top = -1,
};

static const tm_column operator_columns[] = {
    {"name", TM_TEXT, "", "Name of the operator."},
    {"verdict", TM_TEXT, "",
     "As in diff.kernel. Operators without device time are judged by their host times. unclear "
     "also stands for operators that one store lacks while it has the maximum of 1000 operators: "
     "the store may have left them out."},
    {"a_ns", TM_INT, "ns",
     "Device time of the operator in A (from calls.call.device_self_ns), per rank and step; per "
     "call if per = call."},
    {"b_ns", TM_INT, "ns", "Device time of the operator in B, computed in the same way as a_ns."},
    {"change_ns", TM_INT, "ns", "Change of the device time from A to B: b_ns - a_ns."},
    {"change_pct", TM_REAL, "%", "Change of the device time relative to A: 100 change_ns / a_ns."},
    {"noise_ns", TM_INT, "ns",
     "How much the compared times may differ by chance. Device times: as in diff.kernel. Host "
     "times: 10 % of the larger time, or the difference between the ranks of A or B if that is "
     "larger."},
    {"a_calls", TM_REAL, "",
     "Number of calls in A (from calls.call.calls), per rank and step. If per = call: per rank, "
     "over the whole recording."},
    {"b_calls", TM_REAL, "", "Number of calls in B, computed in the same way as a_calls."},
    {"per", TM_TEXT, "", "Divisor of times and calls: step or call, as in diff.kernel."},
    {"a_host_ns", TM_INT, "ns",
     "Host time of the operator in A (from calls.call.host_self_ns), per rank and step; per call "
     "if per = call."},
    {"b_host_ns", TM_INT, "ns",
     "Host time of the operator in B, computed in the same way as a_host_ns."},
    {"host_change_ns", TM_INT, "ns", "Change of the host time from A to B: b_host_ns - a_host_ns."},
};

const tm_table_def tm_diff_operator_def = {
    .name = "diff.operator",
    .doc = "A row for each operator in A or B, sorted by the change on the device, as in "
           "diff.kernel, and then by the change on the host.",
    TM_ARRAY(columns, operator_columns),
    .n_keys = 1,
    .top = -1,
};

/* A store's table lists at most OPERATORS_LISTED operators. If a table has this many rows, other
 * operators may be missing. */
enum { OPERATORS_LISTED = 1000, NONE = -1 };

/* The columns of a table that are compared. */
typedef struct source {
    const char *table, *level;               /* level NULL: all rows are compared */
    const char *device_column, *host_column; /* host_column NULL: the table has no host time */
} source;

/* A name, and its rows in A and B. */
typedef struct pair {
    const char *name;
    /* row in the table of each side; NONE: the side does not have the name */
    ptrdiff_t row[2];
    /* Time on the device and, for operators, time on the host. If diff->by_call is set, these are
     * times per call, otherwise per rank and step. */
    int64_t ns[2], host_ns[2];
    /* Number of calls per rank and step. If diff->by_call is set: per rank. */
    double calls[2];
    double times; /* rows are sorted by the change multiplied by this factor */
    /* The row is sorted last. It has no change, because times are per call and only one side has
     * the name. */
    bool apart;
    /* largest difference between ranks in host time per step, on either side */
    int64_t host_spread_ns;
} pair;

/* Variation of a device time: its middle on each side (tm_sample), and the noise of the difference
 * between A and B. */
typedef struct variation {
    double noise, middle[2];
    bool judges;
} variation;

typedef struct noises {
    variation compute, comm;
} noises;

/* Returns the next character of a name, without what demanglers write in different ways: types of
 * numbers ("(int)4", "4ul") and spaces. "true" and "false" are returned as "1" and "0".
 * @param last  the character before, '\0' at first; set to the returned one */
static char next_char(const char **at, char *last) {
    const char *s = *at + strspn(*at, " ");
    const bool digit = *last >= '0' && *last <= '9', argument = *last == '<' || *last == ',';
    if (argument && *s == '(') { /* "(unsigned long)4096" */
        const char *number = s + strcspn(s, ")");
        s = *number && number[1 + (number[1] == '-')] >= '0' &&
                    number[1 + (number[1] == '-')] <= '9'
                ? number + 1
                : s;
    }
    const char *after = s + strspn(s, "uUlL");
    if (digit && (*after == ',' || *after == '>'))
        s = after;
    for (size_t i = 0; argument && i < 2; i++) {
        const char *word = i ? "true" : "false";
        if (strncmp(s, word, strlen(word)) == 0 && strchr(",>", s[strlen(word)])) {
            *at = s + strlen(word);
            return *last = i ? '1' : '0';
        }
    }
    s += strspn(s, " ");
    *at = *s ? s + 1 : s;
    return *last = *s;
}

static int compare_names(const char *a, const char *b) {
    char x = '\0', y = '\0';
    do {
        (void)next_char(&a, &x);
        (void)next_char(&b, &y);
    } while (x == y && x != '\0');
    return tm_order_i64(x, y);
}

/* Sorts pairs by name. Of pairs with the same name, the pair from A comes first; the pair from B
 * has NONE as its row in A. */
static int by_name(const void *a, const void *b) {
    const pair *x = a, *y = b;
    int order = compare_names(x->name, y->name);
    return order ? order : tm_order_i64(y->row[0], x->row[0]);
}

static int64_t change_of(const int64_t ns[2]) {
    return ns[1] - ns[0];
}

static double weight_of(const pair *p, const int64_t ns[2]) {
    return p->times * (double)llabs(change_of(ns));
}

/* Sorts by the amount of change, largest first. Whether the change is slower or faster does not
 * matter. Equal changes are sorted by name. */
static int by_change(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->apart != y->apart)
        return x->apart ? 1 : -1;
    double by[2] = {weight_of(x, x->ns) - weight_of(y, y->ns),
                    weight_of(x, x->host_ns) - weight_of(y, y->host_ns)};
    for (int i = 0; i < 2; i++)
        if (by[i] != 0.0)
            return by[i] < 0.0 ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool gather(const tm_diff *diff, const source *s, tm_vec *pairs) {
    for (int side = 0; side < 2; side++) {
        const tm_table *from = tm_tables_find(diff->tables[side], s->table);
        size_t end = from->n_rows;
        for (size_t i = s->level ? tm_table_level(from, s->level, &end) : 0; i < end; i++) {
            const tm_cell *cell = tm_table_cell(from, i, "name");
            pair p = {.name = cell->null ? "" : cell->value.text, .row = {NONE, NONE}};
            p.row[side] = (ptrdiff_t)i;
            if (!tm_vec_append(pairs, &p, 1))
                return false;
        }
    }
    return true;
}

static void join(tm_vec *pairs) {
    pair *p = pairs->data;
    size_t kept = 0;
    tm_vec_sort(pairs, by_name);
    for (size_t i = 0; i < pairs->n; i++) {
        pair *last = kept > 0 ? &p[kept - 1] : NULL;
        if (last && last->row[1] == NONE && p[i].row[0] == NONE &&
            compare_names(last->name, p[i].name) == 0)
            last->row[1] = p[i].row[1];
        else
            p[kept++] = p[i];
    }
    pairs->n = kept;
}

static int64_t number(const tm_table *table, ptrdiff_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, (size_t)row, column);
    return cell->null ? 0 : cell->value.i;
}

/* Returns a sum divided by the number of ranks and steps, or by the number of calls. */
static int64_t a_part(int64_t sum, double parts) {
    return llround((double)sum / parts);
}

/* Computes the times and calls of both sides. They are per rank and step, so that jobs of different
 * sizes can be compared. If diff->by_call is set, they are per call, so that recordings of
 * different lengths can be compared. */
static void measure(const tm_diff *diff, const source *s, pair *p) {
    for (int side = 0; side < 2; side++) {
        const tm_table *from = tm_tables_find(diff->tables[side], s->table);
        double steps = diff->rank_steps[side];
        ptrdiff_t row = p->row[side];
        if (row == NONE)
            continue;
        double ranks = fmax(1.0, (double)diff->roles[side].n);
        double calls = (double)number(from, row, "calls"),
               parts = diff->by_call ? fmax(1.0, calls) : steps;
        p->ns[side] = a_part(number(from, row, s->device_column), parts);
        p->calls[side] = calls / (diff->by_call ? ranks : steps);
        if (!s->host_column)
            continue;
        p->host_ns[side] = a_part(number(from, row, s->host_column), parts);
        /* Both columns are sums of a single rank, so the range is divided by the number of steps of
         * one rank. */
        int64_t range = number(from, row, "host_max_ns") - number(from, row, "host_min_ns");
        int64_t spread = a_part(range, steps / ranks);
        p->host_spread_ns = spread > p->host_spread_ns ? spread : p->host_spread_ns;
    }
    p->apart = diff->by_call && (p->row[0] == NONE || p->row[1] == NONE);
    p->times = !diff->by_call ? 1.0 : p->calls[0] > 0.0 ? p->calls[0] : p->calls[1];
}

/* The variances of n independent kernels add up, so a kernel's noise is the total noise times the
 * square root of its share of the time. Communication gets all of the noise, because its kernels
 * vary together when they wait for something. */
static double device_noise(const noises *n, const pair *p, bool communicates) {
    if (communicates)
        return n->comm.noise;
    double share = 0.0;
    for (int side = 0; side < 2; side++)
        if (n->compute.middle[side] > 0.0)
            share = fmax(share, (double)p->ns[side] / n->compute.middle[side]);
    return sqrt(fmin(1.0, share)) * n->compute.noise;
}

/* The noise is the difference between ranks, or a tenth of the time if that is larger, because no
 * table has operators by step. */
static double host_noise(const pair *p) {
    double larger = (double)(p->host_ns[0] > p->host_ns[1] ? p->host_ns[0] : p->host_ns[1]);
    return fmax(0.1 * larger, (double)p->host_spread_ns);
}

/* Returns whether an operator is judged by its device time. An operator without device time is
 * judged by its host time. */
static bool on_device(const pair *p) {
    return p->ns[0] != 0 || p->ns[1] != 0;
}

/* Judges the time per call, because the number of calls depends on the length of the recording. */
static const char *judge_call(const pair *p) {
    const int64_t *ns = on_device(p) ? p->ns : p->host_ns;
    if (change_of(ns) == 0)
        return TM_DIFF_SAME;
    return fabs(tm_diff_pct((double)ns[0], (double)ns[1])) >= TM_DIFF_LEAST_PCT ? TM_DIFF_DIFFERS
                                                                                : TM_DIFF_UNCLEAR;
}

/* Judges the time per step first, and then the number of calls. The number of calls is exact, so it
 * needs no minimum number of steps. */
static const char *judge(const pair *p, bool judges, double noise) {
    double calls = p->calls[1] - p->calls[0];
    int64_t change = change_of(on_device(p) ? p->ns : p->host_ns);
    bool counts = fabs(tm_diff_pct(p->calls[0], p->calls[1])) >= TM_DIFF_LEAST_PCT;
    if (change == 0 && calls == 0.0)
        return TM_DIFF_SAME;
    if (judges && fabs((double)change) > noise)
        return change > 0 ? "slower" : "faster";
    if (counts)
        return calls > 0.0 ? "more calls" : "fewer calls";
    return judges ? TM_DIFF_UNCLEAR : TM_DIFF_FEW;
}

static bool is_communication(const tm_diff *diff, const source *s, const pair *p) {
    /* The value is read from a side that has the name. If both sides have it, the values agree. */
    int side = p->row[0] == NONE;
    const tm_table *from = tm_tables_find(diff->tables[side], s->table);
    if (tm_table_column(from->def, "communication") >= 0)
        return number(from, p->row[side], "communication");
    return tm_call_kind_of((tm_text){p->name, strlen(p->name)}) == TM_CALL_KIND_COMMUNICATION;
}

/* Returns whether the table of the side without the name lists all names. If so, nothing with this
 * name ran on that side. */
static bool lists_all(const tm_diff *diff, const source *s, const pair *p) {
    int without = p->row[0] == NONE ? 0 : 1;
    const tm_table *from = tm_tables_find(diff->tables[without], s->table);
    size_t end, first = s->level ? tm_table_level(from, s->level, &end) : 0;
    return !s->level || end - first < OPERATORS_LISTED;
}

static const char *judge_pair(const tm_diff *diff, const source *s, const pair *p, bool judges,
                              double noise) {
    if (p->row[0] == NONE || p->row[1] == NONE)
        return !lists_all(diff, s, p) ? TM_DIFF_UNCLEAR : p->row[0] == NONE ? "added" : "removed";
    return diff->by_call ? judge_call(p) : judge(p, judges, noise);
}

static void set_means(const tm_diff *diff, const source *s, const pair *p, tm_cell *row) {
    for (int side = 0; side < 2; side++) {
        const tm_table *from = tm_tables_find(diff->tables[side], s->table);
        if (p->row[side] != NONE)
            tm_cell_set_int(&row[K_A_MEAN + side], number(from, p->row[side], "mean_ns"));
    }
}

static void set_times(const pair *p, const int64_t ns[2], tm_cell *a, tm_cell *b, tm_cell *change) {
    if (!p->apart || p->row[0] != NONE)
        tm_cell_set_int(a, ns[0]);
    if (!p->apart || p->row[1] != NONE)
        tm_cell_set_int(b, ns[1]);
    if (!p->apart)
        tm_cell_set_int(change, change_of(ns));
}

static void set_numbers(const pair *p, tm_cell *row) {
    set_times(p, p->ns, &row[K_A], &row[K_B], &row[K_CHANGE]);
    for (int side = 0; side < 2; side++)
        tm_cell_set_real(&row[K_A_CALLS + side], p->calls[side]);
    if (!p->apart)
        tm_cell_set_ratio(&row[K_PCT], 100, change_of(p->ns), p->ns[0]);
}

/* Adds the row of a name. Kernels and operators have different columns after the shared ones. */
static tm_status add_pair(const tm_diff *diff, const source *s, const pair *p, const noises *n,
                          tm_table *out) {
    tm_cell *row = tm_table_add_row(out);
    if (!row)
        return TM_ERR_FAULT;
    bool communicates = is_communication(diff, s, p);
    double noise = on_device(p) ? device_noise(n, p, communicates) : host_noise(p);
    set_numbers(p, row);
    if (n->compute.judges && p->row[0] != NONE && p->row[1] != NONE)
        tm_cell_set_int(&row[K_NOISE], llround(noise));
    if (s->host_column) {
        set_times(p, p->host_ns, &row[O_A_HOST], &row[O_B_HOST], &row[O_HOST_CHANGE]);
    } else {
        set_means(diff, s, p, row);
        tm_cell_set_bool(&row[K_COMMUNICATION], communicates);
    }
    TM_TRY(tm_table_set_text(out, &row[K_NAME], p->name, NULL));
    TM_TRY(tm_table_set_text(out, &row[K_PER], diff->by_call ? "call" : "step", NULL));
    return tm_table_set_text(out, &row[K_VERDICT], judge_pair(diff, s, p, n->compute.judges, noise),
                             NULL);
}

/* Finds the noise from the steps of the whole job, because no table has kernels by step. If there
 * are several kinds of steps, combines the variances of the kinds by their shares of the steps. */
static tm_status find_noise(const tm_diff *diff, const char *column, variation *out,
                            tm_error *err) {
    tm_sample s[TM_KINDS_MAX][2];
    double all[2] = {0.0, 0.0}, square = 0.0;
    *out = (variation){.judges = true};
    for (int k = 0; k < diff->kinds.n; k++)
        for (int side = 0; side < 2; side++) {
            TM_TRY(tm_sample_take(diff->tables[side], "overlap.step", column,
                                  tm_kinds_steps(&diff->kinds, k, side), &s[k][side], err));
            all[side] += (double)s[k][side].n;
        }
    for (int k = 0; k < diff->kinds.n; k++) {
        double share = all[0] > 0.0 ? (double)s[k][0].n / all[0] : 0.0;
        for (int side = 0; side < 2; side++)
            if (all[side] > 0.0)
                out->middle[side] += s[k][side].middle * (double)s[k][side].n / all[side];
        square += pow(share * tm_sample_noise(&s[k][0], &s[k][1]), 2.0);
        out->judges = out->judges && tm_sample_judges(&s[k][0], &s[k][1]);
    }
    out->noise = sqrt(square);
    return TM_OK;
}

static tm_status find_noises(const tm_diff *diff, noises *out, tm_error *err) {
    TM_TRY(find_noise(diff, "compute_ns", &out->compute, err));
    return find_noise(diff, "comm_ns", &out->comm, err);
}

static tm_status compare(const tm_diff *diff, const source *s, tm_table *out, tm_error *err) {
    tm_vec pairs = TM_VEC(pair);
    noises n;
    TM_TRY(find_noises(diff, &n, err));
    tm_status status = gather(diff, s, &pairs) ? TM_OK : TM_ERR_FAULT;
    if (status == TM_OK)
        join(&pairs);
    pair *p = pairs.data;
    for (size_t i = 0; i < pairs.n && status == TM_OK; i++)
        measure(diff, s, &p[i]);
    if (status == TM_OK && pairs.n > 1)
        /* So far, the rows were sorted by name, to join A and B. */
        qsort(p, pairs.n, pairs.size, by_change);
    for (size_t i = 0; i < pairs.n && status == TM_OK; i++)
        status = add_pair(diff, s, &p[i], &n, out);
    tm_vec_free(&pairs);
    return status == TM_OK ? TM_OK : tm_fail_memory(err);
}

tm_status tm_diff_kernels(const tm_diff *diff, tm_table *out, tm_error *err) {
    static const source kernels = {"kernels.kernel", NULL, "total_ns", NULL};
    return compare(diff, &kernels, out, err);
}

tm_status tm_diff_operators(const tm_diff *diff, tm_table *out, tm_error *err) {
    static const source operators = {"calls.call", "operator", "device_self_ns", "host_self_ns"};
    return compare(diff, &operators, out, err);
}
