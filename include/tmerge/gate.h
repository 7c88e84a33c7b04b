/* Limits on how far figures may change from one job to another, and whether they are kept. */
#ifndef TMERGE_GATE_H
#define TMERGE_GATE_H

#include "tmerge/table.h"

/** Whole steps that each job needs, and how long a sentence on a figure may be. */
enum { TM_GATE_STEPS_MIN = 5, TM_GATE_WHY_MAX = 160 };

/** The words of the column `verdict`. */
#define TM_GATE_PASS "pass"
#define TM_GATE_FAIL "fail"
#define TM_GATE_UNDECIDED "undecided"

/** "step=+2%". */
typedef struct tm_gate_limit {
    int name;   /* of the figure, in gate.c */
    double pct; /* how much higher it may be; below 0: how much lower */
} tm_gate_limit;

/** The definition of the table that tm_gate_compare fills: see its columns. */
extern const tm_table_def tm_gate_def;

/** TM_OK; TM_ERR_USAGE, with the figures that there are. */
tm_status tm_gate_parse(const char *text, tm_gate_limit *out, tm_error *err) TM_MUST_CHECK;

/**
 * Judges each limit. A figure fails where it is seen beyond its limit and chance does not explain
 * that; it passes where it is within and chance could not hide as large a change.
 *
 * @param sides  tables of the job before and of that after; one that a store lacks is empty
 * @param out    of tm_gate_def: a row for each of [n] limits, or for each kind of steps
 * @return       TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_gate_compare(const tm_tables *sides[2], const tm_gate_limit *limits, size_t n,
                          tm_table *out, tm_error *err) TM_MUST_CHECK;

/** What a figure of its table is called in a limit: "step" of "overview.step.step_ns". */
const char *tm_gate_alias(const char *figure);

/** False where a job's traces mark no steps: its whole recording counts as one.
 * @param tables  job.job is read */
bool tm_gate_is_marked(const tm_tables *tables);

#endif
