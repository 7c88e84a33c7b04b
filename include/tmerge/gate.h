/* Checks whether figures have changed between two jobs by more than given limits. */
#ifndef TMERGE_GATE_H
#define TMERGE_GATE_H

#include "tmerge/table.h"

/** TM_GATE_STEPS_MIN: minimum number of whole steps of each job. TM_GATE_WHY_MAX: maximum length of
 * a text in the column `why`. */
enum { TM_GATE_STEPS_MIN = 5, TM_GATE_WHY_MAX = 160 };

/** The words of the column `verdict`. */
#define TM_GATE_PASS "pass"
#define TM_GATE_FAIL "fail"
#define TM_GATE_UNDECIDED "undecided"

/** A limit on the change of a figure, such as "step=+2%". */
typedef struct tm_gate_limit {
    int name;   /* index of the figure in `names` of gate.c */
    double pct; /* largest allowed change [%]; positive if the limit is on an increase, negative if
                   it is on a decrease */
} tm_gate_limit;

/** Definition of the table that tm_gate_compare fills. */
extern const tm_table_def tm_gate_def;

/** Parses a limit. Returns TM_OK; TM_ERR_USAGE with a list of the known figures. */
tm_status tm_gate_parse(const char *text, tm_gate_limit *out, tm_error *err) TM_MUST_CHECK;

/**
 * Judges each limit. A figure fails if its change exceeds the limit by more than chance explains.
 * It passes if its change is within the limit and chance cannot hide a change beyond the limit.
 * @param sides  tables of the jobs before and after; a table that a store lacks is empty
 * @param out    a table of tm_gate_def that gets a row for each of the [n] limits. A limit on a
 *               figure of steps gets a row for each kind of step.
 * @return       TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_gate_compare(const tm_tables *sides[2], const tm_gate_limit *limits, size_t n,
                          tm_table *out, tm_error *err) TM_MUST_CHECK;

/** Returns the name of a figure in a limit: "step" for "overview.step.step_ns". */
const char *tm_gate_alias(const char *figure);

/** Returns whether a job's traces mark steps. If they do not, the whole recording counts as one
 * step.
 * @param tables  only job.job is read */
bool tm_gate_is_marked(const tm_tables *tables);

#endif
