#include "table/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/letters.h"
#include "base/utf8.h"

static const tm_shown_unit time_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
enum { N_TIME_UNITS = sizeof time_units / sizeof *time_units };

/* Returns the absolute value. Also works for INT64_MIN, for which -value would overflow. */
static uint64_t magnitude(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* A finer unit is chosen only while values stay below this: five digits before the point. */
static const double WIDEST = 1e5;

tm_shown_unit tm_shown_unit_of(tm_shown_range range) {
    size_t u = 0; /* the largest unit that is not above the largest value */
    while (u + 1 < N_TIME_UNITS && range.most >= (double)time_units[u + 1].ns)
        u++;
    while (u > 0 && range.least < (double)time_units[u].ns / 100.0 &&
           range.most < WIDEST * (double)time_units[u - 1].ns)
        u--;
    return time_units[u];
}

tm_shown_unit tm_shown_choose(const tm_column *column, tm_shown_range range) {
    return strcmp(column->unit, "ns") == 0 ? tm_shown_unit_of(range)
                                           : (tm_shown_unit){column->unit, 0};
}

/* Returns whether the values of a column are of single events. ("max_rank_ns" is no such column:
 * its value is the sum of one rank.) */
static bool is_of_events(const tm_column *column) {
    static const char *const words[] = {"mean_", "median_", "min_", "max_", "p95_", "stddev_"};
    bool of_events = false;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        of_events = of_events || strncmp(column->name, words[w], strlen(words[w])) == 0;
    return of_events && !strstr(column->name, "_rank_");
}

/* Returns the range of the values of a group (@p a) and of one more column (@p b). The range also
 * contains a tenth of the column's largest value, so that a unit for this range shows the largest
 * value as 0.1 or more. */
static tm_shown_range join(tm_shown_range a, tm_shown_range b) {
    const double least = fmin(b.least, b.most > 0.0 ? b.most / 10.0 : HUGE_VAL);
    return (tm_shown_range){fmax(a.most, b.most), fmin(a.least, least)};
}

/* Looks only at columns that have no unit yet: columns of single events if @p of_events is set,
 * otherwise columns of sums. Returns the column with the largest value, or n if there is no such
 * column. */
static size_t next_largest(const tm_column *columns, size_t n, const tm_shown_range *ranges,
                           const tm_shown_unit *units, bool of_events) {
    size_t found = n;
    for (size_t c = 0; c < n; c++)
        if (!units[c].name && is_of_events(&columns[c]) == of_events &&
            (found == n || ranges[c].most > ranges[found].most))
            found = c;
    return found;
}

/* Gives one unit to the column `first`, which has the largest values, and to all columns that this
 * unit suits. */
static void choose_group(const tm_column *columns, size_t n, const tm_shown_range *ranges,
                         size_t first, tm_shown_unit *units) {
    const tm_shown_unit open = {"", -1};
    const bool of_events = is_of_events(&columns[first]);
    tm_shown_range group = ranges[first];
    for (size_t c = first; c < n; c = next_largest(columns, n, ranges, units, of_events)) {
        const tm_shown_range with = join(group, ranges[c]);
        if (ranges[c].most > 0.0 && ranges[c].most < (double)tm_shown_unit_of(with).ns / 10.0)
            break;
        group = with;
        units[c] = open;
    }
    for (size_t c = 0; c < n; c++)
        if (units[c].ns == open.ns)
            units[c] = tm_shown_unit_of(group);
}

void tm_shown_choose_all(const tm_column *columns, size_t n, const tm_shown_range *ranges,
                         tm_shown_unit *units) {
    for (int of_events = 0; of_events < 2; of_events++) {
        size_t first;
        while ((first = next_largest(columns, n, ranges, units, of_events)) < n)
            choose_group(columns, n, ranges, first, units);
    }
}

tm_shown_unit tm_shown_since(tm_shown_unit unit) {
    static const char *const names[N_TIME_UNITS] = {"+ns", "+us", "+ms", "+s"};
    for (size_t u = 0; u < N_TIME_UNITS; u++)
        if (time_units[u].ns == unit.ns)
            unit.name = names[u];
    return unit;
}

/* Units. For each unit: its name, and the suffix that stands for it at the end of a column's
 * name. */
static const char *const suffixes[][2] = {
    {"ns", "_ns"},   {"%", "_pct"},          {"B", "_bytes"},       {"GB/s", "_gbps"},
    {"ppb", "_ppb"}, {"GFLOP/s", "_gflops"}, {"TFLOP/s", "_tflops"}};
enum { N_SUFFIXES = sizeof suffixes / sizeof *suffixes };

const char *tm_shown_unit_of_name(const char *name) {
    for (size_t s = 0; s < N_SUFFIXES; s++)
        if (tm_ends_with(name, strlen(name), suffixes[s][1]))
            return suffixes[s][0];
    return "";
}

void tm_shown_header(const tm_column *column, tm_shown_unit unit, char out[TM_SHOWN_MAX]) {
    size_t length = strlen(column->name);
    for (size_t s = 0; s < N_SUFFIXES; s++)
        if (strcmp(column->unit, suffixes[s][0]) == 0 && length > strlen(suffixes[s][1]) &&
            tm_ends_with(column->name, length, suffixes[s][1])) {
            length -= strlen(suffixes[s][1]);
            break;
        }
    snprintf(out, TM_SHOWN_MAX, "%.*s%s%s", (int)length, column->name, unit.name[0] ? " " : "",
             unit.name);
}

/* Prints a time as whole nanoseconds if the unit is 1 ns. Otherwise prints it with three decimals,
 * rounded half away from zero. Computes with integers, because a time since the epoch has more
 * digits than a double. */
static void show_time(int64_t value, int64_t unit_ns, char out[TM_SHOWN_MAX]) {
    if (unit_ns == 1) {
        snprintf(out, TM_SHOWN_MAX, "%" PRId64, value);
        return;
    }
    uint64_t step = (uint64_t)unit_ns / 1000;
    uint64_t thousandths = (magnitude(value) + step / 2) / step;
    snprintf(out, TM_SHOWN_MAX, "%s%" PRIu64 ".%03" PRIu64, value < 0 && thousandths ? "-" : "",
             thousandths / 1000, thousandths % 1000);
}

/* Removes the sign of a value that was rounded to zero. */
static void drop_sign_of_zero(char *digits) {
    if (digits[0] == '-' && strspn(digits, "-0.") == strlen(digits))
        memmove(digits, digits + 1, strlen(digits));
}

/* Prints a real with the decimals of its unit, or with four significant digits if the unit has no
 * fixed decimals. Values from 1e15 on are printed with an exponent, because a double of that size
 * has no decimals, and the digits of the largest values would not fit. */
static void show_real(const tm_column *column, tm_shown_unit unit, double value,
                      char out[TM_SHOWN_MAX]) {
    double scaled = unit.ns > 1 ? value / (double)unit.ns : value;
    int decimals = -1;
    if (unit.ns > 0)
        decimals = unit.ns > 1 ? 3 : 0;
    else if (strcmp(column->unit, "%") == 0)
        decimals = 1;
    else if (fabs(scaled) >= 9999.5) /* without this, %.4g would print an exponent */
        decimals = 0;
    if (decimals < 0 || fabs(scaled) >= 1e15)
        snprintf(out, TM_SHOWN_MAX, "%.4g", scaled);
    else
        snprintf(out, TM_SHOWN_MAX, "%.*f", decimals, scaled);
    drop_sign_of_zero(out);
}

/* Appends code points [first, end) of the text and returns the new end of the output. */
static char *copy_points(const char *text, size_t first, size_t end, char *out) {
    size_t size = strlen(text);
    bool valid = true;
    for (size_t at = 0, point = 0; at < size && point < end; point++) {
        size_t length = tm_utf8_sequence(text + at, size - at, &valid);
        if (point >= first && length == 1) {
            *out++ = valid && !tm_utf8_is_control(text + at, 1) ? text[at] : '?';
        } else if (point >= first) {
            bool plain = valid && !tm_utf8_is_control(text + at, length);
            size_t written = plain ? length : 1;
            memcpy(out, plain ? text + at : "?", written);
            out += written;
        }
        at += length;
    }
    return out;
}

bool tm_shown_is_cut(const char *text, size_t points) {
    size_t size = strlen(text);
    return size > points && tm_utf8_length(text, size) > points;
}

/* Returns the length [code points] of the function's name at the start of a C++ signature: the part
 * before the first "<" or "(". Returns 0 if there is neither. */
static size_t function_points(const char *text) {
    static const char anonymous[] = "(anonymous namespace)";
    size_t end = strcspn(text, "<(");
    while (strncmp(text + end, anonymous, sizeof anonymous - 1) == 0) {
        end += sizeof anonymous - 1;
        end += strcspn(text + end, "<(");
    }
    return text[end] ? tm_utf8_length(text, end) : 0;
}

/* Cuts the middle out, because kernel names differ at both ends. Keeps less of the end if the whole
 * function name then fits. */
void tm_shown_tagged(const char *text, size_t points, const char *tag, char out[TM_SHOWN_MAX]) {
    size_t length = tm_utf8_length(text, strlen(text)), gap = strlen(tag);
    size_t tail = (points - gap) / 2, least = points / 6, name = function_points(text);
    if (name + gap + tail > points)
        tail = name + gap + least > points ? least : points - gap - name;
    if (!tm_shown_is_cut(text, points)) {
        *copy_points(text, 0, points, out) = '\0';
        return;
    }
    out = copy_points(text, 0, points - gap - tail, out);
    memcpy(out, tag, gap);
    *copy_points(text, length - tail, length, out + gap) = '\0';
}

/* Returns whether a time that is not 0 would be shown as 0. Always false for points in time, where
 * a rounded 0 loses nothing. */
static bool vanishes(const tm_column *column, tm_shown_unit unit, const tm_cell *cell) {
    if (unit.ns <= 1 || unit.name[0] == '+')
        return false;
    const double value = column->type == TM_REAL ? cell->value.r : (double)cell->value.i;
    return value > 0.0 && value < (double)unit.ns / 2000.0;
}

void tm_shown_cell(const tm_column *column, tm_shown_unit unit, const tm_cell *cell,
                   char out[TM_SHOWN_MAX]) {
    if (cell->null) {
        snprintf(out, TM_SHOWN_MAX, "-");
        return;
    }
    if (vanishes(column, unit, cell)) {
        snprintf(out, TM_SHOWN_MAX, "%s", TM_SHOWN_LITTLE);
        return;
    }
    switch (column->type) {
    case TM_TEXT:
        tm_shown_tagged(cell->value.text, TM_SHOWN_POINTS, "...", out);
        break;
    case TM_BOOL:
        snprintf(out, TM_SHOWN_MAX, "%s", cell->value.i ? "yes" : "no");
        break;
    case TM_REAL:
        show_real(column, unit, cell->value.r, out);
        break;
    case TM_INT:
        show_time(cell->value.i, unit.ns > 0 ? unit.ns : 1, out);
        break;
    }
}

tm_shown_text tm_shown_percent(double percent, int decimals) {
    tm_shown_text out;
    double step = decimals > 0 ? 0.1 : 1.0;
    bool small = percent > 0.0 && percent < step / 2;
    bool large = percent < 100.0 && percent >= 100.0 - step / 2;
    snprintf(out.text, sizeof out.text, "%s%.*f %%",
             small   ? "< "
             : large ? "> "
                     : "",
             decimals > 0 ? 1 : 0,
             small   ? step
             : large ? 100.0 - step
                     : percent);
    return out;
}

void tm_shown_duration(int64_t ns, char *out, size_t size) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    int unit = 0;
    if (ns < 1000) {
        snprintf(out, size, "%" PRId64 " ns", ns);
        return;
    }
    /* The unit is chosen for the rounded value: 999.96 us is 1.00 ms. */
    while (unit < 3 && value >= 999.95) {
        value /= 1000.0;
        unit++;
    }
    snprintf(out, size, value < 9.995 ? "%.2f %s" : "%.1f %s", value, units[unit]);
}

void tm_shown_in(int64_t ns, tm_shown_unit unit, char *out, size_t size) {
    const double value = (double)ns / (double)unit.ns;
    if (unit.ns == 1 || ns == 0)
        snprintf(out, size, "%" PRId64 " %s", ns, unit.name);
    else if (ns > 0 && value < 0.005)
        snprintf(out, size, "< 0.01 %s", unit.name);
    else
        snprintf(out, size, fabs(value) < 9.995 ? "%.2f %s" : "%.1f %s", value, unit.name);
}

void tm_shown_widen(tm_shown_range *range, double ns) {
    range->most = fmax(range->most, fabs(ns));
    range->least = ns != 0.0 ? fmin(range->least, fabs(ns)) : range->least;
}

void tm_shown_durations(const int64_t *ns, size_t n, tm_shown_text *out) {
    tm_shown_range range = TM_SHOWN_RANGE;
    for (size_t i = 0; i < n; i++)
        tm_shown_widen(&range, (double)ns[i]);
    /* Times below a thousandth of the largest time do not lead to a finer unit: a sentence need not
     * show their digits. */
    range.least = fmax(range.least, range.most / 1000);
    for (size_t i = 0; i < n; i++)
        tm_shown_in(ns[i], tm_shown_unit_of(range), out[i].text, sizeof out[i].text);
}
