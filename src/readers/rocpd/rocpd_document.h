/* A rocpd database: its processes, and the tables that their records refer to. Private to the rocpd
 * reader. */
#ifndef TMERGE_ROCPD_DOCUMENT_H
#define TMERGE_ROCPD_DOCUMENT_H

#include "rocpd_rows.h"

enum { TM_ROCPD_SUFFIX_MAX = 64 };

/** A set: the tables of one or more profiled processes. The names of these tables have the same
 * suffix. */
typedef struct tm_rocpd_set {
    char suffix[TM_ROCPD_SUFFIX_MAX];
} tm_rocpd_set;

/** Names that the reader gives to calls, because the database has no strings with these names. */
typedef enum tm_rocpd_word {
    TM_ROCPD_MARK,
    TM_ROCPD_ALLOCATE,
    TM_ROCPD_FREE,
    TM_ROCPD_SCRATCH_ALLOCATE,
    TM_ROCPD_SCRATCH_FREE,
    TM_ROCPD_SCRATCH_RECLAIM,
    TM_ROCPD_WORDS
} tm_rocpd_word;

typedef struct tm_rocpd_document {
    tm_db db;
    tm_source *source; /* `source` and `sink` are borrowed */
    const tm_rocprof_sink *sink;
    tm_rocprof_tables tables;
    tm_rocpd_strings strings; /* strings of the current set */
    /* vector of uint8_t. If string i is the name of a category, classes[i] is the category's
     * tm_rocprof_list. */
    tm_vec classes;
    int64_t words[TM_ROCPD_WORDS]; /* string numbers */
    const tm_rocpd_set *set;       /* the current one */
    int64_t process;               /* id of the current process within its set */
    /* To report progress: approximate number of rows in the tables of records, and number of rows
     * read so far. */
    int64_t n_rows, n_done;
} tm_rocpd_document;

/** Whether the file at a path is a rocpd database. Also false if the file cannot be read. */
bool tm_rocpd_accepts(const char *path);

/** Implements tm_rocprof_document for rocpd. */
tm_status tm_rocpd_document_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                                 tm_error *err) TM_MUST_CHECK;

/**
 * Runs a statement on the tables of the current set, like tm_db_select. In the statement's text,
 * "@" stands for the suffix of the set, and ?1 for the process. The statement's member `value` is
 * ignored.
 *
 * @param table  name of the table without the suffix. If the set lacks this table, there are no
 *               rows. NULL: all sets have the tables of the statement
 */
tm_status tm_rocpd_select(const tm_rocpd_document *d, const char *table,
                          const tm_db_statement *statement, tm_db_each *each, void *context,
                          tm_error *err) TM_MUST_CHECK;

/** Passes the records of the current process to the sink. */
tm_status tm_rocpd_read_records(tm_rocpd_document *d, tm_error *err) TM_MUST_CHECK;

/** Returns the approximate number of rows of a table of the current set. */
int64_t tm_rocpd_rows(const tm_rocpd_document *d, const char *table);

#endif
