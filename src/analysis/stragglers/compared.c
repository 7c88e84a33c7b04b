#include "compared.h"

#include <math.h>
#include <stdlib.h>

#include "base/median.h"
#include "base/sums.h"
#include "p_values.h"
#include "replay/job/call_times.h"
#include "replay/whatif/result.h"
#include "waits/stages.h"

enum {
    S_GROUP,
    S_PLACE,
    S_RANK,
    S_FROM,
    S_TO,
    S_UNITS,
    S_EXCESS,
    S_P,
    S_UNIT,
    S_HOST,
    S_ALL,
    S_STAGE,
    S_WORK,
    S_UNSTEADY
};

static const tm_column suspect_columns[] = {
    [S_GROUP] = {"group", TM_INT, "", "Identity of the group of ranks that was tested."},
    [S_PLACE] = {"place", TM_INT, "",
                 "Number of the suspect in the order in which the group's suspects were found."},
    [S_RANK] = {"rank", TM_INT, "", "Global rank of the suspect; for a host, its lowest rank."},
    [S_FROM] = {"from", TM_INT, "", "As in stragglers.finding."},
    [S_TO] = {"to", TM_INT, "", "As in stragglers.finding."},
    [S_UNITS] = {"units", TM_INT, "", "As in stragglers.finding."},
    [S_EXCESS] = {"excess_ns", TM_INT, "ns", "As in stragglers.finding."},
    [S_P] = {"p", TM_REAL, "", "As in stragglers.finding."},
    [S_UNIT] = {"unit", TM_INT, "", "Kind of the units that were compared (tm_unit_kind)."},
    [S_HOST] = {"host", TM_BOOL, "", "Whether the suspect is a host."},
    [S_ALL] = {"throughout", TM_BOOL, "", "Whether the suspect is late in all units."},
    [S_STAGE] = {"of_stage", TM_BOOL, "",
                 "Whether the stage of the suspect was compared with other stages."},
    [S_WORK] = {"work", TM_INT, "", "Kind of work that was compared (tm_suspect_work)."},
    [S_UNSTEADY] =
        {"unsteady", TM_BOOL, "",
         "Whether few steps were compared and the suspect's excess differs between them."},
};

const tm_table_def tm_compared_suspect = TM_INTERNAL_TABLE(
    "stragglers.suspect", "A row for each group and member that takes longer than chance explains.",
    suspect_columns, 2);

static const tm_column standing_columns[] = {
    {"group", TM_INT, "", "Identity of the group of ranks that was tested."},
    {"rank", TM_INT, "", "Global rank."},
    {"excess_ns", TM_INT, "ns", "As in stragglers.rank."},
    {"p", TM_REAL, "", "As in stragglers.rank."},
};

const tm_table_def tm_compared_standing = TM_INTERNAL_TABLE(
    "stragglers.standing", "A row for each group and member: the result for its own time.",
    standing_columns, 2);

tm_suspect tm_compared_read(const tm_cell *row) {
    return (tm_suspect){
        .member = row[S_RANK].value.i,
        .from = row[S_FROM].value.i,
        .to = row[S_TO].value.i,
        .units = row[S_UNITS].value.i,
        .excess_ns = row[S_EXCESS].value.i,
        .p = row[S_P].value.r,
        .unit = (tm_unit_kind)row[S_UNIT].value.i,
        .host = row[S_HOST].value.i,
        .throughout = row[S_ALL].value.i,
        .of_stage = row[S_STAGE].value.i,
        .unsteady = row[S_UNSTEADY].value.i,
        .work = (uint8_t)row[S_WORK].value.i,
    };
}

tm_standing tm_compared_read_standing(const tm_cell *row) {
    return (tm_standing){row[1].value.i, row[2].value.i,
                         row[3].null ? (double)NAN : row[3].value.r};
}

static tm_status add_rows(tm_tables *tables, int64_t group, const tm_vec *suspects,
                          const tm_vec *standings, tm_error *err) {
    for (size_t i = 0; i < suspects->n; i++) {
        const tm_suspect *s = (const tm_suspect *)suspects->data + i;
        tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_compared_suspect.name));
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_GROUP], group);
        tm_cell_set_int(&row[S_PLACE], (int64_t)i);
        tm_cell_set_int(&row[S_RANK], s->member);
        tm_cell_set_int(&row[S_FROM], s->from);
        tm_cell_set_int(&row[S_TO], s->to);
        tm_cell_set_int(&row[S_UNITS], s->units);
        tm_cell_set_int(&row[S_EXCESS], s->excess_ns);
        tm_cell_set_real(&row[S_P], s->p);
        tm_cell_set_int(&row[S_UNIT], s->unit);
        tm_cell_set_bool(&row[S_HOST], s->host);
        tm_cell_set_bool(&row[S_ALL], s->throughout);
        tm_cell_set_bool(&row[S_STAGE], s->of_stage);
        tm_cell_set_bool(&row[S_UNSTEADY], s->unsteady);
        tm_cell_set_int(&row[S_WORK], s->work);
    }
    for (size_t i = 0; i < standings->n; i++) {
        const tm_standing *s = (const tm_standing *)standings->data + i;
        tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_compared_standing.name));
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], group);
        tm_cell_set_int(&row[1], s->member);
        tm_cell_set_int(&row[2], s->excess_ns);
        if (!isnan(s->p))
            tm_cell_set_real(&row[3], s->p);
    }
    return TM_OK;
}

/* Returns how many members took part in the first operation of a group. @p own has the n own times
 * of the group. */
static size_t count_members(const tm_own_time *own, size_t n) {
    size_t members = 1;
    while (members < n && own[members].key == own->key && own[members].last_ns == own->last_ns)
        members++;
    return members;
}

static void fill(const tm_collectives *all, const tm_own_time *own, tm_own_times *times,
                 int64_t *steps, int64_t *hosts, int64_t *stages) {
    for (size_t i = 0; i < times->n; i++) {
        times->members[i] = own[i].rank;
        hosts[i] = own[i].host == TM_NO_NAME ? -1 : (int64_t)own[i].host;
        stages[i] = tm_stage_of(&all->stages, own[i].rank);
    }
    for (size_t row = 0; row < times->n_rows; row++) {
        for (size_t i = 0; i < times->n; i++)
            times->ns[row * times->n + i] = own[row * times->n + i].ns;
        times->from[row] = times->to[row] = (int64_t)row;
        steps[row] = own[row * times->n].step;
    }
}

/* Tests a group in which all members take part in every operation. */
static tm_status test_group(const tm_collectives *all, const tm_own_time *own, size_t n,
                            tm_tables *tables, tm_error *err) {
    size_t members = count_members(own, n), rows = n / members;
    tm_own_times times = {0};
    tm_vec suspects = TM_VEC(tm_suspect), standings = TM_VEC(tm_standing);
    int64_t *steps = malloc((rows + 2 * members) * sizeof *steps);
    tm_status status =
        steps ? tm_own_times_create(members, rows, &times, err) : tm_fail_memory(err);
    if (status == TM_OK) {
        int64_t *hosts = steps + rows, *stages = hosts + members;
        fill(all, own, &times, steps, hosts, stages);
        tm_compared compared = {.stretches = &times,
                                .steps = steps,
                                .hosts = hosts,
                                .stages = stages,
                                .n_tests = (double)all->n_compared / (double)members};
        status = tm_suspects_find(&compared, &suspects, &standings, err);
    }
    /* The number only identifies the group. Its sign and size mean nothing. */
    if (status == TM_OK)
        status = add_rows(tables, (int64_t)(own->group >> 1), &suspects, &standings, err);
    tm_own_times_free(&times);
    tm_vec_free(&suspects);
    tm_vec_free(&standings);
    free(steps);
    return status;
}

/* Ways to compare the work of ranks. WAY_PARTS finds ranks that are always a little slower, even in
 * few steps. WAY_STEPS finds ranks that take much longer once in each step. WAY_STAGES is for
 * stages of few ranks, and compares the ranks of all stages with one another: the compared value is
 * a rank's excess over the other ranks of its stage, relative to the usual time of the stage. */
typedef enum works_way { WAY_PARTS, WAY_STEPS, WAY_STAGES, N_WAYS } works_way;

/* Share of the significance level for each kind of work, for parts and steps together. TM_WORKS_LAG
 * needs only a small share, because few ranks have unexplained starts. CALLS_SHARE is for the
 * median times of calls, which are compared only between hosts. It is small, because each median is
 * over thousands of calls. */
static const double SHARES[] = {
    [TM_WORKS_DEVICE] = 0.5, [TM_WORKS_HOST] = 0.45, [TM_WORKS_LAG] = 0.05};
static const double CALLS_SHARE = 0.05;
static const double PARTS_OF_USUAL = 1e9;
/* Limits for findings from parts of steps. If there are at most STEADY_STEPS steps, such a finding
 * counts only if the excess is steady: its mean over the steps is at least STEADY_TIMES its
 * standard deviation. For four steps, this corresponds to a Student's t of 6 (p 0.009). */
static const double STEADY_STEPS = 8.0, STEADY_TIMES = 3.0;

/* Input of a test: a kind of work, on ranks [first, first + n). */
typedef struct works_range {
    const tm_works *works;
    size_t first, n;
    tm_works_kind kind;
    works_way way;
    double n_tests;
    tm_orders *orders; /* as in tm_compared */
} works_range;

static int64_t work_at(const works_range *r, size_t i, size_t row) {
    return tm_works_sums(r->works, r->first + i, r->kind)[row];
}

/* Returns the end of the rows of the step of @p row. */
static size_t end_of_step(const tm_works *works, size_t row) {
    size_t end = row + 1;
    while (end < works->n_rows && works->steps[end] == works->steps[row])
        end++;
    return end;
}

/* Returns the end of the ranks of the stage of rank @p first. */
static size_t end_of_stage(const tm_works *works, size_t first) {
    size_t end = first + 1;
    while (end < works->ranks.n &&
           tm_works_at(works, end)->stage == tm_works_at(works, first)->stage)
        end++;
    return end;
}

static void fill_works(const works_range *r, tm_own_times *times, int64_t *steps) {
    times->parts = r->way == WAY_PARTS;
    times->n_rows = 0;
    for (size_t row = 0, end; row < r->works->n_rows; row = end) {
        bool any = false;
        end = r->way == WAY_PARTS ? row + 1 : end_of_step(r->works, row);
        for (size_t i = 0; i < r->n; i++) {
            int64_t sum = 0;
            for (size_t k = row; k < end; k++)
                sum = tm_sum(sum, work_at(r, i, k));
            times->ns[times->n_rows * r->n + i] = sum;
            any = any || sum > 0;
        }
        times->from[times->n_rows] = times->to[times->n_rows] = r->works->steps[row];
        steps[times->n_rows] = r->works->steps[row];
        times->n_rows += any;
    }
}

/* Computes by how much each member takes longer in each row than the median of the other members of
 * its stage [ns].
 * @param out  [n_rows][times->n] */
static tm_status find_excess(const works_range *r, const tm_own_times *times, int64_t *out,
                             tm_error *err) {
    int64_t *sorted = malloc((r->n + 1) * sizeof *sorted);
    if (!sorted)
        return tm_fail_memory(err);
    for (size_t i = 0, end; i < r->n; i = end) {
        end = end_of_stage(r->works, r->first + i) - r->first;
        for (size_t row = 0; row < times->n_rows; row++) {
            const tm_own_times stage = {
                .n = end - i, .n_rows = 1, .ns = times->ns + row * r->n + i};
            if (stage.n >= 2)
                tm_own_times_excess(&stage, 0, sorted, out + row * r->n + i);
            else
                out[row * r->n + i] = 0;
        }
    }
    free(sorted);
    return TM_OK;
}

/* Replaces the time of each member by its excess over the other members of its stage, relative to
 * the stage's median time. */
static tm_status scale_by_stage(const works_range *r, tm_own_times *times, const int64_t *excess,
                                tm_error *err) {
    int64_t *taken = malloc((times->n_rows * r->n + 1) * sizeof *taken);
    if (!taken)
        return tm_fail_memory(err);
    for (size_t i = 0, end; i < r->n; i = end) {
        size_t n = 0;
        end = end_of_stage(r->works, r->first + i) - r->first;
        for (size_t row = 0; row < times->n_rows; row++)
            for (size_t k = i; k < end; k++)
                taken[n++] = times->ns[row * r->n + k];
        const double usual = n > 0 ? (double)tm_median_any(taken, n) + 1.0 : 1.0;
        for (size_t row = 0; row < times->n_rows; row++)
            for (size_t k = i; k < end; k++)
                times->ns[row * r->n + k] =
                    (int64_t)(PARTS_OF_USUAL * (double)excess[row * r->n + k] / usual);
    }
    free(taken);
    return TM_OK;
}

/* Returns a member's excess in the rows within [from, to] [ns]. */
static int64_t excess_of(const tm_own_times *times, const int64_t *excess, int64_t member,
                         int64_t from, int64_t to) {
    int64_t sum = 0;
    for (size_t i = 0; i < times->n; i++)
        for (size_t row = 0; row < times->n_rows && times->members[i] == member; row++)
            if (times->from[row] >= from && times->to[row] <= to)
                sum = tm_sum(sum, excess[row * times->n + i]);
    return sum;
}

/* Returns whether a member's excess is similar in each step, or there are many steps. If the excess
 * differs between few steps, for example because of unequal shares of data, the parts of a step are
 * no independent evidence. */
static bool is_steady(const works_range *r, const tm_own_times *times, const tm_suspect *s,
                      const int64_t *excess) {
    double n = 0.0, sum = 0.0, squares = 0.0;
    for (size_t row = 0, end; row < times->n_rows; row = end) {
        end = row;
        double of_step = 0.0;
        for (; end < times->n_rows && times->from[end] == times->from[row]; end++)
            for (size_t i = 0; i < r->n; i++)
                of_step += times->members[i] == s->member ? (double)excess[end * r->n + i] : 0.0;
        if (times->from[row] < s->from || times->to[row] > s->to)
            continue;
        n += 1.0;
        sum += of_step;
        squares += of_step * of_step;
    }
    if (n < 2.0 || n > STEADY_STEPS)
        return true;
    const double mean = sum / n, variance = (squares - sum * mean) / (n - 1.0);
    return mean >= STEADY_TIMES * sqrt(fmax(variance, 0.0));
}

/* Marks suspects that were found in parts of steps, and whose excess is not steady. Hosts are not
 * marked, because their excess is a median over ranks. */
static tm_status mark_unsteady(const works_range *r, const tm_own_times *times, int64_t *excess,
                               tm_vec *suspects, tm_error *err) {
    tm_suspect *v = suspects->data;
    TM_TRY(find_excess(r, times, excess, err));
    for (size_t i = 0; i < suspects->n; i++)
        v[i].unsteady = !v[i].host && !is_steady(r, times, &v[i], excess);
    return TM_OK;
}

static tm_status find_in_works(const works_range *r, tm_own_times *times, tm_vec *suspects,
                               tm_vec *standings, tm_error *err) {
    int64_t *steps = malloc((times->n_rows + times->n + 1) * sizeof *steps);
    int64_t *excess = calloc(times->n_rows * times->n + 1, sizeof *excess);
    tm_status status = steps && excess ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        int64_t *hosts = steps + times->n_rows;
        for (size_t i = 0; i < r->n; i++) {
            times->members[i] = tm_works_at(r->works, r->first + i)->rank;
            hosts[i] = tm_works_at(r->works, r->first + i)->host;
        }
        fill_works(r, times, steps);
        if (r->way == WAY_STAGES) {
            status = find_excess(r, times, excess, err);
            status = status == TM_OK ? scale_by_stage(r, times, excess, err) : status;
        }
        const tm_compared compared = {.stretches = times,
                                      .steps = steps,
                                      .hosts = hosts,
                                      .n_tests = r->n_tests,
                                      .hosts_only = r->kind == TM_WORKS_CALL,
                                      .orders = r->orders};
        if (status == TM_OK && times->n_rows > 0)
            status = tm_suspects_find(&compared, suspects, standings, err);
        /* Unexplained starts (TM_WORKS_LAG) need not be steady, because a rank's share of the data
         * does not delay starts. */
        if (status == TM_OK && r->way == WAY_PARTS && r->kind != TM_WORKS_LAG && suspects->n > 0)
            status = mark_unsteady(r, times, excess, suspects, err);
    }
    for (size_t i = 0; i < suspects->n && r->way == WAY_STAGES; i++) {
        tm_suspect *s = (tm_suspect *)suspects->data + i;
        s->excess_ns = excess_of(times, excess, s->member, s->from, s->to);
    }
    for (size_t i = 0; i < standings->n && r->way == WAY_STAGES; i++) {
        tm_standing *s = (tm_standing *)standings->data + i;
        s->excess_ns = excess_of(times, excess, s->member, INT64_MIN, INT64_MAX);
    }
    free(steps);
    free(excess);
    return status;
}

/* Returns the part of a member's excess in which its kernels ran at once: only one of them is then
 * the time that the member takes longer [ns]. */
static int64_t at_once(const tm_own_times *times, const int64_t *excess, const tm_suspect *s) {
    const int64_t ns = excess_of(times, excess, s->member, s->from, s->to);
    return ns < 0 || s->excess_ns < 0 ? 0 : ns < s->excess_ns ? ns : s->excess_ns;
}

/* Subtracts from the excess of device work the part in which kernels ran at once. */
static tm_status count_once(const works_range *of, tm_own_times *times, tm_vec *suspects,
                            tm_vec *standings, tm_error *err) {
    works_range r = *of;
    int64_t *steps = malloc((r.works->n_rows + 1) * sizeof *steps);
    int64_t *excess = malloc((r.works->n_rows * r.n + 1) * sizeof *excess);
    tm_status status = steps && excess ? TM_OK : tm_fail_memory(err);
    r.kind = TM_WORKS_AT_ONCE;
    r.way = WAY_STEPS;
    if (status == TM_OK) {
        fill_works(&r, times, steps);
        status = find_excess(&r, times, excess, err);
    }
    for (size_t i = 0; i < suspects->n && status == TM_OK; i++) {
        tm_suspect *s = (tm_suspect *)suspects->data + i;
        s->excess_ns -= at_once(times, excess, s);
    }
    for (size_t i = 0; i < standings->n && status == TM_OK; i++) {
        tm_standing *s = (tm_standing *)standings->data + i;
        s->excess_ns -= at_once(times, excess,
                                &(tm_suspect){.member = s->member,
                                              .from = INT64_MIN,
                                              .to = INT64_MAX,
                                              .excess_ns = s->excess_ns});
    }
    free(steps);
    free(excess);
    return status;
}

static bool has_calls(const tm_works *works) {
    bool any = false;
    for (size_t i = 0; i < works->ranks.n; i++)
        for (size_t row = 0; row < works->n_rows && !any; row++)
            any = tm_works_sums(works, i, TM_WORKS_CALL)[row] > 0;
    return any;
}

/* Keeps only hosts whose calls take at least TM_HOST_FACTOR_LEAST times as long as on other hosts.
 * The excess of a kept host is that of its calls, scaled to all work of the host. */
static void keep_slow_hosts(const works_range *r, const tm_own_times *times, tm_vec *suspects) {
    tm_suspect *v = suspects->data;
    size_t kept = 0;
    for (size_t i = 0; i < suspects->n; i++) {
        int64_t calls = 0, host = 0;
        for (size_t k = 0; k < r->n; k++)
            for (size_t row = 0; times->members[k] == v[i].member && row < r->works->n_rows;
                 row++) {
                calls = tm_sum(calls, work_at(r, k, row));
                host = tm_sum(host, tm_works_sums(r->works, k, TM_WORKS_HOST)[row]);
            }
        const double longer = (double)v[i].excess_ns / (double)(calls + 1);
        if (!v[i].host || longer < 1.0 - 1.0 / TM_HOST_FACTOR_LEAST)
            continue;
        v[kept] = v[i];
        v[kept++].excess_ns = (int64_t)(longer * (double)host);
    }
    suspects->n = kept;
}

static tm_status test_works(const works_range *r, tm_tables *tables, tm_error *err) {
    tm_own_times times = {0};
    tm_vec suspects = TM_VEC(tm_suspect), standings = TM_VEC(tm_standing);
    tm_status status = tm_own_times_create(r->n, r->works->n_rows, &times, err);
    if (status == TM_OK)
        status = find_in_works(r, &times, &suspects, &standings, err);
    if (status == TM_OK && r->kind == TM_WORKS_CALL) {
        keep_slow_hosts(r, &times, &suspects);
        standings.n = 0;
    }
    if (status == TM_OK && r->kind == TM_WORKS_DEVICE)
        status = count_once(r, &times, &suspects, &standings, err);
    for (size_t i = 0; i < suspects.n; i++)
        ((tm_suspect *)suspects.data)[i].work = r->kind == TM_WORKS_DEVICE ? TM_SUSPECT_DEVICE
                                                : r->kind == TM_WORKS_LAG  ? TM_SUSPECT_LAG
                                                                           : TM_SUSPECT_HOST;
    const size_t group = (r->first * TM_N_WORKS + r->kind) * N_WAYS + r->way;
    if (status == TM_OK)
        status = add_rows(tables, (int64_t)group, &suspects, &standings, err);
    tm_own_times_free(&times);
    tm_vec_free(&suspects);
    tm_vec_free(&standings);
    return status;
}

/* Compares each kind of work in two ways: by parts of steps within each stage, and by steps over
 * all ranks. */
static tm_status add_works(const tm_works *works, tm_orders *orders, tm_tables *tables,
                           tm_error *err) {
    const size_t n = works->ranks.n;
    const bool stages = n > 0 && end_of_stage(works, 0) < n;
    const bool parts = works->n_rows > 1 && works->steps[0] == works->steps[1];
    const bool calls = has_calls(works);
    const double n_tests = (parts ? 2.0 : 1.0) / (calls ? 1.0 - CALLS_SHARE : 1.0);
    works_range r = {.works = works, .orders = orders};
    for (r.kind = 0; r.kind < TM_WORKS_AT_ONCE && n >= 2; r.kind++) {
        const double of_kind = n_tests / SHARES[r.kind];
        r.way = WAY_PARTS;
        for (r.first = 0; r.first < n && parts; r.first += r.n) {
            r.n = end_of_stage(works, r.first) - r.first;
            r.n_tests = of_kind * (double)n / (double)r.n;
            if (r.n >= 2)
                TM_TRY(test_works(&r, tables, err));
        }
        r = (works_range){works, 0, n, r.kind, stages ? WAY_STAGES : WAY_STEPS, of_kind, orders};
        TM_TRY(test_works(&r, tables, err));
    }
    r = (works_range){works, 0, n, TM_WORKS_CALL, WAY_PARTS, 1.0 / CALLS_SHARE, orders};
    return calls ? test_works(&r, tables, err) : TM_OK;
}

tm_status tm_compared_add(tm_tables *tables, const tm_collectives *own, tm_error *err) {
    if (own->has_works) {
        tm_orders orders[2] = {{0}, {0}};
        tm_status status =
            own->replay ? add_works(&own->replay->works, orders, tables, err) : TM_OK;
        tm_orders_free(&orders[0]);
        tm_orders_free(&orders[1]);
        return status;
    }
    const tm_own_time *v = own->own_times.data;
    for (size_t first = 0, i = 0; first < own->own_times.n; first = i) {
        for (i = first; i < own->own_times.n && v[i].group == v[first].group; i++)
            ;
        TM_TRY(test_group(own, v + first, i - first, tables, err));
    }
    return TM_OK;
}
