#include "own_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "p_values.h"

tm_status tm_own_times_create(size_t n, size_t n_rows, tm_own_times *out, tm_error *err) {
    *out = (tm_own_times){.n = n, .n_rows = n_rows, .each = 1};
    out->ns = calloc(n * n_rows + 1, sizeof *out->ns);
    out->from = calloc(n_rows + 1, sizeof *out->from);
    out->to = calloc(n_rows + 1, sizeof *out->to);
    out->members = calloc(n + 1, sizeof *out->members);
    if (out->ns && out->from && out->to && out->members)
        return TM_OK;
    tm_own_times_free(out);
    return tm_fail_memory(err);
}

void tm_own_times_free(tm_own_times *times) {
    free(times->ns);
    free(times->from);
    free(times->to);
    free(times->members);
    *times = (tm_own_times){0};
}

void tm_own_times_drop(tm_own_times *times, size_t member) {
    size_t kept = 0;
    for (size_t i = 0; i < times->n_rows * times->n; i++)
        if (i % times->n != member)
            times->ns[kept++] = times->ns[i];
    for (size_t i = member + 1; i < times->n; i++)
        times->members[i - 1] = times->members[i];
    times->n--;
}

/* Returns element k of the sorted values without the value at @p place. */
static int64_t without(const int64_t *sorted, size_t place, size_t k) {
    return sorted[k + (k >= place)];
}

void tm_own_times_excess(const tm_own_times *times, size_t row, int64_t *sorted, int64_t *out) {
    size_t n = times->n, others = n - 1;
    const int64_t *ns = times->ns + row * n;
    memcpy(sorted, ns, n * sizeof *sorted);
    tm_sort_values(sorted, n);
    for (size_t i = 0; i < n; i++) {
        size_t place = tm_lower_bound(sorted, n, ns[i]);
        int64_t middle[2] = {without(sorted, place, (others - 1) / 2),
                             without(sorted, place, others / 2)};
        out[i] = ns[i] - tm_median(middle, 2);
    }
}

/* The rows of one step: [first, end). */
typedef struct step_rows {
    size_t first, end;
} step_rows;

/* Finds the steps of the rows. Leaves out the first and the last step if they are incomplete.
 * Returns the number of steps, at most n_rows. */
static size_t find_steps(const int64_t *steps, size_t n_rows, step_rows *out, int64_t *scratch) {
    size_t n = 0, first = 0;
    for (size_t i = 0; i < n_rows; i++) {
        if (steps[i] < 0)
            continue;
        if (n > 0 && steps[out[n - 1].first] == steps[i] && out[n - 1].end == i)
            out[n - 1].end = i + 1;
        else
            out[n++] = (step_rows){i, i + 1};
    }
    for (size_t i = 0; i < n; i++)
        scratch[i] = (int64_t)(out[i].end - out[i].first);
    double usual = n > 0 ? (double)tm_median_any(scratch, n) : 0.0;
    if (n > 2 && (double)(out[n - 1].end - out[n - 1].first) <= 0.5 * usual)
        n--;
    if (n > 2 && (double)(out[0].end - out[0].first) <= 0.5 * usual)
        first = 1;
    memmove(out, out + first, (n - first) * sizeof *out);
    return n - first;
}

/* Appends a unit with the sum of rows [first, end). */
static void add_unit(const tm_own_times *from, size_t first, size_t end, tm_own_times *units) {
    int64_t *sums = units->ns + units->n_rows * units->n;
    for (size_t row = first; row < end; row++)
        for (size_t i = 0; i < from->n; i++)
            sums[i] = tm_sum(sums[i], from->ns[row * from->n + i]);
    units->from[units->n_rows] = from->from[first];
    units->to[units->n_rows] = from->to[end - 1];
    units->n_rows++;
}

/* Returns the centred score of each member in each row; NULL if out of memory. The score is the
 * number of members that take less time, minus the number of members that take more. Subtracting
 * the member's mean over the rows centres it.
 * @param candidate  set to the member with the largest sum of scores. It may really be slow, so its
 *                   scores are not used to estimate chance. */
static double *centred_places(const tm_own_times *times, size_t *candidate, tm_error *err) {
    size_t n = times->n;
    double most = -(double)INFINITY, *places = malloc((n * times->n_rows + 1) * sizeof *places);
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!places || !sorted) {
        free(places);
        free(sorted);
        (void)tm_fail_memory(err);
        return NULL;
    }
    for (size_t row = 0; row < times->n_rows; row++) {
        const int64_t *ns = times->ns + row * n;
        memcpy(sorted, ns, n * sizeof *sorted);
        tm_sort_values(sorted, n);
        for (size_t i = 0; i < n; i++)
            places[row * n + i] = (double)tm_lower_bound(sorted, n, ns[i]) +
                                  (double)tm_lower_bound(sorted, n, ns[i] + 1) - (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t row = 0; row < times->n_rows; row++)
            sum += places[row * n + i];
        for (size_t row = 0; row < times->n_rows; row++)
            places[row * n + i] -= sum / (double)times->n_rows;
        *candidate = sum > most ? i : *candidate;
        most = sum > most ? sum : most;
    }
    free(sorted);
    return places;
}

/* Sums the scores of each member in each step, and returns the sum of the squares of these sums.
 * The places of rows are counted from the end of a step, because the first step may lack its
 * beginning.
 * @param orders  [places][n][steps] for each place, the step from which the score is taken; NULL:
 *                each step has its own scores */
static double step_squares(const double *scores, size_t n, const step_rows *steps, size_t n_steps,
                           const size_t *orders, size_t n_places) {
    double squares = 0.0;
    for (size_t s = 0; s < n_steps; s++)
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t place = 0; place < n_places; place++) {
                size_t step = orders ? orders[(place * n + i) * n_steps + s] : s;
                sum += scores[(steps[step].end - 1 - place) * n + i];
            }
            squares += sum * sum;
        }
    return squares;
}

static void shuffle(size_t *order, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)(tm_draw(seed, i) % i), moved = order[i - 1];
        order[i - 1] = order[other];
        order[other] = moved;
    }
}

/* Tests whether a member's times are correlated within a step. */
static tm_status hangs_together(const tm_own_times *times, const step_rows *steps, size_t n_steps,
                                bool *out, tm_error *err) {
    enum { ORDERS = 199 };
    size_t n_places = n_steps > 0 ? steps[0].end - steps[0].first : 0, reached = 1, candidate = 0;
    const double most = (times->parts ? 0.02 : 0.1) * (1 + ORDERS);
    for (size_t s = 1; s < n_steps; s++)
        n_places =
            steps[s].end - steps[s].first < n_places ? steps[s].end - steps[s].first : n_places;
    double *scores = centred_places(times, &candidate, err);
    size_t *orders = malloc((n_places * times->n * n_steps + 1) * sizeof *orders);
    if (scores && orders) {
        double own = step_squares(scores, times->n, steps, n_steps, NULL, n_places);
        for (size_t draw = 0; draw < ORDERS && (double)reached <= most; draw++) {
            for (size_t i = 0; i < n_places * times->n; i++)
                shuffle(orders + i * n_steps, n_steps, tm_draw(draw, i));
            reached += step_squares(scores, times->n, steps, n_steps, orders, n_places) >= own;
        }
        *out = (double)reached <= most;
    }
    bool ok = scores && orders;
    free(scores);
    free(orders);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the number of stretches in a block (TM_UNIT_BLOCK); 0 if out of memory. */
static size_t block_length(const tm_own_times *times, tm_error *err) {
    size_t n = times->n, rows = times->n_rows, candidate = 0;
    double *scores = centred_places(times, &candidate, err);
    bool ok = scores != NULL;
    double tau = 1.0, whole = 0.0, before = 0.0, least = 0.5 / sqrt((double)rows);
    for (size_t i = 0; i < rows * n && ok; i++)
        whole += n == 2 || i % n != candidate ? scores[i] * scores[i] : 0.0;
    /* If the order of members never changes, centred scores are only rounding errors. */
    bool varies = whole > 1e-9 * (double)(rows * n);
    for (size_t lag = 1; lag < rows && ok && varies; lag++) {
        double sum = 0.0;
        for (size_t i = 0; i + lag * n < rows * n; i++)
            sum += n == 2 || i % n != candidate ? scores[i] * scores[i + lag * n] : 0.0;
        if (lag > 1 && before + sum / whole < least)
            break;
        tau += lag > 1 ? 2.0 * before : 0.0;
        before = sum / whole;
    }
    free(scores);
    return !ok ? 0 : tau < 1.15 ? 1 : (size_t)ceil(8.0 * tau);
}

/* Joins neighbouring units until there are at most TM_UNITS_MAX cells (units x members). */
static void join(tm_own_times *units) {
    size_t most = TM_UNITS_MAX / units->n, made = 0;
    most = most < TM_UNITS_LEAST ? TM_UNITS_LEAST : most;
    size_t length = (units->n_rows + most - 1) / most;
    if (length < 2)
        return;
    for (size_t first = 0; first + length <= units->n_rows; first += length, made++) {
        for (size_t i = 0; i < units->n; i++) {
            int64_t sum = 0;
            for (size_t row = first; row < first + length; row++)
                sum = tm_sum(sum, units->ns[row * units->n + i]);
            units->ns[made * units->n + i] = sum;
        }
        units->from[made] = units->from[first];
        units->to[made] = units->to[first + length - 1];
    }
    units->n_rows = made;
    units->each *= (int64_t)length;
}

/* The steps of the stretches. */
typedef struct step_list {
    const step_rows *rows; /* [n] */
    size_t n;
} step_list;

static tm_status make_units(const tm_own_times *stretches, const int64_t *numbers,
                            const step_list *in, tm_own_times *units, tm_unit_kind *unit,
                            tm_error *err) {
    const step_rows *steps = in->rows;
    size_t n_steps = in->n;
    const tm_unit_kind one = stretches->parts ? TM_UNIT_PART : TM_UNIT_STRETCH;
    bool together = true;
    *unit = TM_UNIT_STEP;
    if (n_steps >= 2 && pow((double)stretches->n, 1.0 - (double)n_steps) > 0.001) {
        TM_TRY(hangs_together(stretches, steps, n_steps, &together, err));
        *unit = together ? TM_UNIT_STEP : one;
    } else if (n_steps < 2) {
        *unit = n_steps > 0 && stretches->parts ? TM_UNIT_PART : TM_UNIT_BLOCK;
    }
    size_t length = *unit == TM_UNIT_BLOCK ? block_length(stretches, err) : 1;
    if (length == 0)
        return tm_fail_memory(err);
    for (size_t s = 0; s < n_steps && *unit != TM_UNIT_BLOCK; s++) {
        if (*unit == TM_UNIT_STEP) {
            add_unit(stretches, steps[s].first, steps[s].end, units);
            units->from[units->n_rows - 1] = units->to[units->n_rows - 1] = numbers[steps[s].first];
        }
        for (size_t row = steps[s].first; row < steps[s].end && *unit == one; row++)
            add_unit(stretches, row, row + 1, units);
    }
    for (size_t row = 0; row + length <= stretches->n_rows && *unit == TM_UNIT_BLOCK; row += length)
        add_unit(stretches, row, row + length, units);
    units->each = (int64_t)length;
    join(units);
    return TM_OK;
}

static int64_t longest_of(const int64_t *ns, size_t n) {
    int64_t longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = ns[i] > longest ? ns[i] : longest;
    return longest;
}

/* Adds a row of `from` to the last row of `out`. */
static void add_to_last(const tm_own_times *from, size_t row, tm_own_times *out) {
    size_t n = from->n, last = out->n_rows - 1;
    for (size_t i = 0; i < n; i++)
        out->ns[last * n + i] = tm_sum(out->ns[last * n + i], from->ns[row * n + i]);
    out->to[last] = from->to[row];
}

/* Ends the last row, which is too short: adds it to the previous row if that is of the same step;
 * otherwise drops it. */
static void close_short(tm_own_times *out, const int64_t *steps) {
    size_t last = --out->n_rows;
    if (last > 0 && steps[last - 1] == steps[last])
        add_to_last(out, last, out);
}

/* Joins each row that is too short with the next row of its step. At the end of a step, joins it
 * with the previous row. */
static void join_short(const tm_own_times *from, const int64_t *from_steps, tm_own_times *out,
                       int64_t *steps) {
    size_t n = from->n;
    double mean = 0.0;
    bool open = false; /* whether the last row is still too short */
    for (size_t row = 0; row < from->n_rows; row++)
        mean += (double)longest_of(from->ns + row * n, n) / (double)from->n_rows;
    out->n_rows = 0;
    for (size_t row = 0; row < from->n_rows; row++) {
        bool same = out->n_rows > 0 && steps[out->n_rows - 1] == from_steps[row];
        if (open && !same)
            close_short(out, steps);
        if (!open || !same) {
            size_t made = out->n_rows++;
            memset(out->ns + made * n, 0, n * sizeof *out->ns);
            out->from[made] = from->from[row];
            steps[made] = from_steps[row];
        }
        add_to_last(from, row, out);
        open = (double)longest_of(out->ns + (out->n_rows - 1) * n, n) < 0.1 * mean;
    }
    if (open)
        close_short(out, steps);
    memcpy(out->members, from->members, n * sizeof *out->members);
}

static tm_status units_of(const tm_own_times *stretches, const int64_t *steps, tm_own_times *units,
                          tm_unit_kind *unit, tm_error *err) {
    size_t n_rows = stretches->n_rows;
    step_rows *rows = malloc((n_rows + 1) * sizeof *rows);
    int64_t *scratch = malloc((n_rows + 1) * sizeof *scratch);
    tm_status status = rows && scratch ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_own_times_create(stretches->n, n_rows, units, err);
    if (status == TM_OK) {
        step_list found = {rows, find_steps(steps, n_rows, rows, scratch)};
        memcpy(units->members, stretches->members, stretches->n * sizeof *units->members);
        units->n_rows = 0;
        status = make_units(stretches, steps, &found, units, unit, err);
        if (status != TM_OK)
            tm_own_times_free(units);
    }
    free(rows);
    free(scratch);
    return status;
}

tm_status tm_own_times_units(const tm_own_times *stretches, const int64_t *steps,
                             tm_own_times *units, tm_unit_kind *unit, tm_error *err) {
    tm_own_times joined = {0};
    int64_t *joined_steps = malloc((stretches->n_rows + 1) * sizeof *joined_steps);
    tm_status status = joined_steps ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_own_times_create(stretches->n, stretches->n_rows, &joined, err);
    if (status == TM_OK) {
        joined.parts = stretches->parts;
        join_short(stretches, steps, &joined, joined_steps);
        status = units_of(&joined, joined_steps, units, unit, err);
    }
    tm_own_times_free(&joined);
    free(joined_steps);
    return status;
}
