/* Formats headers and cells for people in a terminal: rounded, in a suitable unit. */
#ifndef TMERGE_TABLE_SHOWN_H
#define TMERGE_TABLE_SHOWN_H

#include <math.h>

#include "tmerge/table.h"

/** Maximum length of a shown text, in code points; longer ones are cut in the middle. */
enum { TM_SHOWN_POINTS = 48 };

/** Buffer size for any text below: a code point takes at most 4 bytes. */
enum { TM_SHOWN_MAX = 4 * TM_SHOWN_POINTS + 1 };

/** The unit in which a column's values are shown. */
typedef struct tm_shown_unit {
    const char *name; /* "" if none */
    int64_t ns;       /* nanoseconds per unit; 0 for columns that are not times */
} tm_shown_unit;

/** Range of times [ns], by absolute value. `most` is the largest value, `least` the smallest value
 * that is not 0. */
typedef struct tm_shown_range {
    double most, least;
} tm_shown_range;

/** An empty range. */
#define TM_SHOWN_RANGE ((tm_shown_range){0.0, HUGE_VAL})

/**
 * Returns the unit in which numbers that are compared with each other are shown. Usually this is
 * the unit of the largest number. If the smallest number would then show fewer than two digits, a
 * finer unit is chosen, as long as the largest number has at most five digits before the point.
 */
tm_shown_unit tm_shown_unit_of(tm_shown_range range);

/** Returns the unit in which a column is shown: for times, tm_shown_unit_of the range; otherwise
 * the unit in its definition. The name is borrowed from the definition. */
tm_shown_unit tm_shown_choose(const tm_column *column, tm_shown_range range);

/**
 * Chooses the units of a table's time columns. All columns of sums have the same unit. All columns
 * of means, medians and extremes of single events have the same unit, too. The prefix of a column's
 * name shows which kind it is. A column has a unit of its own if its largest value would otherwise
 * be below 0.1.
 *
 * @param ranges  [n] ranges of the columns' values
 * @param units   [n] The caller sets the units of columns that are not times, and of points in
 *                time. This function sets the other units, whose names must be NULL
 */
void tm_shown_choose_all(const tm_column *columns, size_t n, const tm_shown_range *ranges,
                         tm_shown_unit *units);

/** Returns the unit of a time shown relative to another: "+ms". */
tm_shown_unit tm_shown_since(tm_shown_unit unit);

#define TM_SHOWN_LITTLE "<0.001"

/** A change [%] from this on is shown as a factor ("11 times") in place of a percentage. */
#define TM_SHOWN_FACTOR_PCT 900.0

/**
 * Formats the column's name and unit, "compute ms". The unit in the name ("_ns", "_pct") is
 * dropped, because the shown unit may differ.
 */
void tm_shown_header(const tm_column *column, tm_shown_unit unit, char out[TM_SHOWN_MAX]);

/** Returns the unit in the suffix of a column's name ("_ns"), or "". */
const char *tm_shown_unit_of_name(const char *name);

/**
 * Formats one value. Null is "-", bools are "yes" and "no". Times have three decimals, but none in
 * ns. A time that would round to 0 is TM_SHOWN_LITTLE. Percentages have one decimal. Other reals
 * have four significant digits. From 10000 on, they have all digits before the point, because
 * engineers do not read exponents. Control characters in texts become "?", so that a trace cannot
 * control a terminal.
 *
 * @param unit  the unit that tm_shown_choose returned for the cell's column
 * @param out   terminated
 */
void tm_shown_cell(const tm_column *column, tm_shown_unit unit, const tm_cell *cell,
                   char out[TM_SHOWN_MAX]);

/** Returns whether a text is longer than @p points code points. */
bool tm_shown_is_cut(const char *text, size_t points);

/** Formats a text with at most @p points code points, up to TM_SHOWN_POINTS. The cut contains @p
 * tag, to tell apart texts that would look the same. */
void tm_shown_tagged(const char *text, size_t points, const char *tag, char out[TM_SHOWN_MAX]);

/** A text passed by value, e.g. as an argument of printf. */
typedef struct tm_shown_text {
    char text[32];
} tm_shown_text;

/**
 * Formats a percentage for prose: "78 %". "0 %" and "100 %" are exact; values that round to them
 * become "< 1 %" and "> 99 %" (with one decimal "< 0.1 %" and "> 99.9 %").
 *
 * @param decimals  0 or 1
 */
tm_shown_text tm_shown_percent(double percent, int decimals);

/** Formats a time for prose, for example "37.4 ms". The rounded number has two decimals if it is
 * below 10, one if it is below 1,000, and no decimals otherwise. */
void tm_shown_duration(int64_t ns, char *out, size_t size);

/** Formats a time for prose in a given unit; a time that is too small for it is "< 0.01 ms". */
void tm_shown_in(int64_t ns, tm_shown_unit unit, char *out, size_t size);

/** Formats the times of one sentence in one unit, for comparison: "0.64 ms" and "5.63 ms". */
void tm_shown_durations(const int64_t *ns, size_t n, tm_shown_text *out);

/** Adds a time to a range. */
void tm_shown_widen(tm_shown_range *range, double ns);

#endif
