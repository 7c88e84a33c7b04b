/* Headers and cells as a person reads them in a terminal: rounded, in a unit that suits them. */
#ifndef TMERGE_TABLE_SHOWN_H
#define TMERGE_TABLE_SHOWN_H

#include <math.h>

#include "tmerge/table.h"

/** Longest text shown, in code points; a longer one is cut in the middle. */
enum { TM_SHOWN_POINTS = 48 };

/** Room for anything below: every code point takes at most 4 bytes. */
enum { TM_SHOWN_MAX = 4 * TM_SHOWN_POINTS + 1 };

/** What the values of a column are divided by, and what that is called. */
typedef struct tm_shown_unit {
    const char *name; /* "" where there is none */
    int64_t ns;       /* nanoseconds in one; 0 for columns that are not times */
} tm_shown_unit;

/** Absolute values of times in ns: the largest, and the smallest that is not 0. */
typedef struct tm_shown_range {
    double most, least;
} tm_shown_range;

/** Nothing yet. */
#define TM_SHOWN_RANGE ((tm_shown_range){0.0, HUGE_VAL})

/**
 * The one unit that numbers which are read together are shown in, so that they compare at a glance:
 * that of the largest, or a finer one where less than two digits of the smallest would be left and
 * the largest keeps five digits before the point.
 */
tm_shown_unit tm_shown_unit_of(tm_shown_range range);

/** The unit of a column: of times as above, else its own; the name is borrowed from the definition.
 */
tm_shown_unit tm_shown_choose(const tm_column *column, tm_shown_range range);

/**
 * Chooses the units of a table's columns of times. Sums are read together, and so are means,
 * medians and extremes of single events, which their names begin with. Such columns share a unit,
 * but for those of which it would leave no digit before the second behind the point.
 *
 * @param ranges  [n] what is in the columns
 * @param units   [n] of other columns, or moments, set; of these no name, and set by this
 */
void tm_shown_choose_all(const tm_column *columns, size_t n, const tm_shown_range *ranges,
                         tm_shown_unit *units);

/** The unit of a moment that is told by what has passed since another: "+ms". */
tm_shown_unit tm_shown_since(tm_shown_unit unit);

#define TM_SHOWN_LITTLE "<0.001"

/**
 * The column's name and unit, "compute ms". What the name says of the unit itself ("_ns", "_pct")
 * is dropped, for the unit shown may be another one.
 */
void tm_shown_header(const tm_column *column, tm_shown_unit unit, char out[TM_SHOWN_MAX]);

/** The unit that the end of a column's name says ("_ns"), or "". */
const char *tm_shown_unit_of_name(const char *name);

/**
 * One value. Null is "-", bools are yes and no. Times have three decimals (none in ns), percents
 * one, other reals four significant digits, and all before the point from 10000 on, since engineers
 * do not read exponents. A time that would be 0 and is not is TM_SHOWN_LITTLE. Control characters
 * of texts are "?": a trace must not steer a terminal.
 *
 * @param unit  what tm_shown_choose said of the cell's column
 * @param out   terminated
 */
void tm_shown_cell(const tm_column *column, tm_shown_unit unit, const tm_cell *cell,
                   char out[TM_SHOWN_MAX]);

/** Whether a text is longer than so many code points. */
bool tm_shown_is_cut(const char *text, size_t points);

/** A text of at most TM_SHOWN_POINTS @p points; where it is cut @p tag stands, to tell it from
 * others that are cut alike. */
void tm_shown_tagged(const char *text, size_t points, const char *tag, char out[TM_SHOWN_MAX]);

/** A text that is given by value, for an argument of printf. */
typedef struct tm_shown_text {
    char text[32];
} tm_shown_text;

/**
 * A share for prose, of 100: "78 %". "0 %" and "100 %" are exact: what rounds to them is "< 1 %"
 * and
 * "> 99 %" (with one decimal "< 0.1 %" and "> 99.9 %").
 *
 * @param decimals  0 or 1
 */
tm_shown_text tm_shown_percent(double percent, int decimals);

/** A time for prose: "37.4 ms"; two decimals below 10, one below 1,000, rounded first. */
void tm_shown_duration(int64_t ns, char *out, size_t size);

/** The same in a unit that stands fast; what it cannot show is "< 0.01 ms". */
void tm_shown_in(int64_t ns, tm_shown_unit unit, char *out, size_t size);

/** Times of one sentence that are compared, in one unit: "0.64 ms" and "5.63 ms". */
void tm_shown_durations(const int64_t *ns, size_t n, tm_shown_text *out);

/** Adds a time to a range. */
void tm_shown_widen(tm_shown_range *range, double ns);

#endif
