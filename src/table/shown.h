/* Headers and cells as a person reads them in a terminal: rounded, in a unit that suits them. */
#ifndef TMERGE_TABLE_SHOWN_H
#define TMERGE_TABLE_SHOWN_H

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

/** In place of nanoseconds: each value has a unit of its own, behind it. */
enum { TM_SHOWN_BY_ROW = -1 };

/**
 * The one unit that a whole column is shown in, so that its numbers compare at a glance.
 *
 * @param largest  of a column of times, its largest absolute value in ns; 0 where it has none
 * @return         for such a column the unit that suits it, else the column's own; the name is
 *                 borrowed from the definition
 */
tm_shown_unit tm_shown_choose(const tm_column *column, double largest);

/** The unit of a moment that is told by what has passed since another: "+ms". */
tm_shown_unit tm_shown_since(tm_shown_unit unit);

/** The longest value in a unit of its own, seconds apart. */
#define TM_SHOWN_BY_ROW_MOST "999.999 ms"

/** The absolute value of a time, for that. */
double tm_shown_time(const tm_column *column, const tm_cell *cell);

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
 * do not read exponents. A unit of a value's own is two characters wide. Control characters of
 * texts are "?": a trace must not steer a terminal.
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

#endif
