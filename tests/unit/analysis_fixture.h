/* The tables of a small job: ranks are given as events, then rows are looked at. */
#ifndef TMERGE_TEST_ANALYSIS_FIXTURE_H
#define TMERGE_TEST_ANALYSIS_FIXTURE_H

#include "timeline_fixture.h"
#include "tmerge/analysis.h"

/* A job in the making. */
typedef struct small_job {
    ground ground;
    tm_tables tables;
    tm_job job;
} small_job;

small_job open_job(void);
void close_job(small_job *j);

/* Analyses a rank of these events. */
void add_rank(small_job *j, int64_t rank, const event_spec *events, size_t n);

/* Analyses a rank of one trace that may have been added to. */
void add_trace(small_job *j, int64_t rank, tm_trace *trace);
void add_traces(small_job *j, int64_t rank, tm_trace *const *traces, size_t n);

/* Runs the job's part; to be called once all ranks are there. */
void finish_job(small_job *j);

/* These rows and no others, as assert_row has them. */
void check_rows(const small_job *j, const char *name, const char *const *rows, size_t n);
#define CHECK_ROWS(j, table, rows) check_rows(j, table, rows, COUNT(rows))

/* The same of rows of values; the first row has the names of the columns. In values ~ stands for a
 * space. */
void check_named(const small_job *j, const char *name, const char *const *rows, size_t n);
#define CHECK_NAMED(j, table, rows) check_named(j, table, rows, COUNT(rows))

#endif
