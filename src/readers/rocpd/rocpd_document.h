/* A rocpd database: the processes that it holds, and what their records refer to. Private to the
 * rocpd reader. */
#ifndef TMERGE_ROCPD_DOCUMENT_H
#define TMERGE_ROCPD_DOCUMENT_H

#include "rocpd_rows.h"

/** Tables of one profiled process or more: their names end with the same suffix. */
enum { TM_ROCPD_SUFFIX_MAX = 64 };
typedef struct tm_rocpd_set {
    char suffix[TM_ROCPD_SUFFIX_MAX];
} tm_rocpd_set;

/** Strings that are not in the database: names of calls of which it keeps less. */
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
    tm_source *source; /* borrowed, as sink */
    const tm_rocprof_sink *sink;
    tm_rocprof_tables tables;
    tm_rocpd_strings strings; /* of the set at hand */
    tm_vec classes; /* of uint8_t: tm_rocprof_list that a string as a category stands for */
    int64_t words[TM_ROCPD_WORDS]; /* numbers of strings */
    const tm_rocpd_set *set;       /* at hand */
    int64_t process;               /* of the set, by its id */
    int64_t n_rows, n_done;        /* of the set's tables of records, about; for the source */
} tm_rocpd_document;

/** Whether the database at a path is one of rocpd. False too where it cannot be read. */
bool tm_rocpd_claims(const char *path);

/** As tm_rocprof_document. */
tm_status tm_rocpd_document_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                                 tm_error *err) TM_MUST_CHECK;

/**
 * Runs a statement on the tables of the set at hand, as tm_db_select does: "@" in it stands for
 * their suffix, ?1 for the process; its value is not used.
 * @param table  without suffix; no rows where the set lacks it. NULL: the set is known to have all
 */
tm_status tm_rocpd_select(const tm_rocpd_document *d, const char *table,
                          const tm_db_statement *statement, tm_db_each *each, void *context,
                          tm_error *err) TM_MUST_CHECK;

/** Tells the sink of the records of the process at hand. */
tm_status tm_rocpd_read_records(tm_rocpd_document *d, tm_error *err) TM_MUST_CHECK;

/** Rows of a table of the set at hand, about. */
int64_t tm_rocpd_rows(const tm_rocpd_document *d, const char *table);

#endif
