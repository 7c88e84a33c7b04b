/* Formats headers and cells for people in a terminal: rounded, in a suitable unit. */
#ifndef TMERGE_TABLE_SHOWN_H
#define TMERGE_TABLE_SHOWN_H

#include <math.h>

#include "tmerge/table.h"

/** Maximum length of a shown text, in code points; longer ones are cut in the middle. */
enum { TM_SHOWN_POINTS = 48 };

/** Buffer size for any text below: a code point takes at most 4 bytes. */
enum { TM_SHOWN_MAX = 4 * TM_SHOWN_POINTS + 1 };

/** The unit by which a column's values are divided. */
typedef struct tm_shown_unit {
    const char *name; /* "" if none */
    int64_t ns;       /* nanoseconds per unit; 0 for columns that are not times */
} tm_shown_unit;

/** Range of times [ns] by absolute value. most: the largest; least: the smallest that is not 0. */
typedef struct tm_shown_range {
    double most, least;
} tm_shown_range;

/** An empty range. */
#define TM_SHOWN_RANGE ((tm_shown_range){0.0, HUGE_VAL})

/**
 * Returns the common unit of numbers that are compared: the unit of the largest; or a finer one if
 * the smallest would otherwise show fewer than two digits, and the largest then has at most five
 * digits before the point.
 */
tm_shown_unit tm_shown_unit_of(tm_shown_range range);

/** Returns the unit in which a column is shown: for times, tm_shown_unit_of the range; otherwise
 * the unit in its definition. The name is borrowed from the definition. */
tm_shown_unit tm_shown_choose(const tm_column *column, tm_shown_range range);

/**
 * Chooses the units of a table's time columns. All sums share one unit, and all means, medians and
 * extremes of single events (recognised by the prefix of the name) share another. A column gets its
 * own unit if it would show no digit before the second decimal.
 *
 * @param ranges  [n] ranges of the columns' values
 * @param units   [n] set by the caller for columns that are not times, and for points in time; this
 *                function sets the others, which have no name yet
 */
void tm_shown_choose_all(const tm_column *columns, size_t n, const tm_shown_range *ranges,
                         tm_shown_unit *units);

/** Returns the unit of a time shown relative to another: "+ms". */
tm_shown_unit tm_shown_since(tm_shown_unit unit);

#define TM_SHOWN_LITTLE "<0.001"

/**
 * Formats the column's name and unit, "compute ms". The unit in the name ("_ns", "_pct") is
 * dropped, because the shown unit may differ.
 */
void tm_shown_header(const tm_column *column, tm_shown_unit unit, char out[TM_SHOWN_MAX]);

/** Returns the unit in the suffix of a column's name ("_ns"), or "". */
const char *tm_shown_unit_of_name(const char *name);

/**
 * Formats one value. Null is "-", bools are yes and no. Times have three decimals (none in ns),
 * percentages one, other reals four significant digits, and all digits before the point from 10000
 * on, because engineers do not read exponents. A time that would round to 0 is TM_SHOWN_LITTLE.
 * Control characters in texts become "?", so that a trace cannot control a terminal.
 *
 * @param unit  from tm_shown_choose for the cell's column
 * @param out   terminated
 */
void tm_shown_cell(const tm_column *column, tm_shown_unit unit, const tm_cell *cell,
                   char out[TM_SHOWN_MAX]);

/** Whether a text is longer than @p points code points. */
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

/** Formats a time for prose: "37.4 ms"; two decimals below 10, one below 1,000, after rounding. */
void tm_shown_duration(int64_t ns, char *out, size_t size);

/** Formats a time for prose in a given unit; a time that is too small for it is "< 0.01 ms". */
void tm_shown_in(int64_t ns, tm_shown_unit unit, char *out, size_t size);

/** Formats the times of one sentence in one unit, for comparison: "0.64 ms" and "5.63 ms". */
void tm_shown_durations(const int64_t *ns, size_t n, tm_shown_text *out);

/** Adds a time to a range. */
void tm_shown_widen(tm_shown_range *range, double ns);

#endif
