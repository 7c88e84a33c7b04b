/* Builds Nsight Systems exports from SQL and reads them. */
#ifndef TMERGE_TEST_NSYS_FIXTURE_H
#define TMERGE_TEST_NSYS_FIXTURE_H

#include <stdio.h>

#include "base/vec.h"
#include "timeline_fixture.h"
#include "tmerge/reader.h"

/* globalPid of processes 144 and 145 (pid << 24), and globalTid of their thread 9. */
#define P144 "2415919104"
#define P145 "2432696320"
#define T144 "2415919113"
#define T145 "2432696329"

/* The tables of a schema, with their columns in the schema's order. */
typedef struct schema {
    const char *name, *tables;
} schema;

enum { N_SCHEMAS = 6, LATEST = 5 };
extern const schema schemas[N_SCHEMAS];

/* A unit of an export, read without an error; close_nsys frees it. */
typedef struct nsys {
    ground ground;
    tm_trace trace;
    tm_vec units; /* of tm_unit: all units of the file */
} nsys;

/* Writes an export: the tables, then further SQL. Returns the path, which the next call reuses. */
const char *write_export(const char *tables, const char *sql);

/* Reads unit i of the export that write_export wrote last. */
nsys read_nsys(size_t i);
/* Writes an export of the latest schema with these statements added and reads its first unit. */
nsys read_statements(const char *const *sql);
#define READ_SQL(...) read_statements((const char *const[]){__VA_ARGS__, NULL})
/* SQL that creates a table with these columns and inserts these rows. */
#define TABLE(name, columns, rows)                                                                 \
    "CREATE TABLE " name " (" columns ");INSERT INTO " name " VALUES " rows ";"
void close_nsys(nsys *n);

/* Returns the events in order, one per line as "name category begin duration". */
const char *events_of(const nsys *n);
#define assert_events(n, expected) assert_string_equal(events_of(n), expected)
/* Returns the attributes of each event, one line per event after the first (trace_text.h). */
const char *attrs_of(const nsys *n);
#define assert_attrs(n, expected) assert_string_equal(attrs_of(n), expected)

#endif
