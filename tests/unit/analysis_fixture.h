/* Builds small jobs from lists of events and checks the rows of their analysis tables. */
#ifndef TMERGE_TEST_ANALYSIS_FIXTURE_H
#define TMERGE_TEST_ANALYSIS_FIXTURE_H

#include "timeline_fixture.h"
#include "tmerge/analysis.h"

typedef struct small_job {
    ground ground;
    tm_tables tables;
    tm_job job;
} small_job;

small_job open_job(void);
void close_job(small_job *j);

void add_rank(small_job *j, int64_t rank, const event_spec *events, size_t n);

/* Analyses a rank with one trace, which the caller may have changed. */
void add_trace(small_job *j, int64_t rank, tm_trace *trace);
void add_traces(small_job *j, int64_t rank, tm_trace *const *traces, size_t n);

/* Runs the analysis of the whole job; call it after all ranks have been added. */
void finish_job(small_job *j);

/* Checks that a table has exactly these rows, written as for assert_row. For a name "TABLE/LEVEL",
 * checks the level; the rows lack the level, and columns that are null. */
void check_rows(const small_job *j, const char *name, const char *const *rows, size_t n);
#define CHECK_ROWS(j, table, rows) check_rows(j, table, rows, COUNT(rows))

/* Like check_rows, but the first row has the column names, and the other rows have values. In
 * values, ~ stands for a space. */
void check_named(const small_job *j, const char *name, const char *const *rows, size_t n);
#define CHECK_NAMED(j, table, rows) check_named(j, table, rows, COUNT(rows))

#endif
