/* Tables that the records of a process refer to: agents, kernels, kinds and operations, texts of
 * markers. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_TABLES_H
#define TMERGE_ROCPROF_TABLES_H

#include "base/vec.h"
#include "readers/json_walk.h"
#include "tmerge/names.h"

/** A text: its position and size in the memory of all texts. The text is interned when it is first
 * requested. */
typedef struct tm_rocprof_text {
    uint32_t at, size;
    uint32_t name; /* its name id; TM_NO_NAME: not interned yet */
} tm_rocprof_text;

/** An agent: a processor or a GPU. */
typedef struct tm_rocprof_agent {
    uint64_t handle;
    int64_t device; /* GPU number on the host; -1 if the agent is not a GPU or has no number */
    int64_t units;  /* number of compute units; -1: unknown */
    int64_t wave;   /* threads per wave; -1: unknown */
    int64_t bytes;  /* size of the agent's memory [bytes]; -1: unknown */
    tm_rocprof_text name;
    bool gpu;
} tm_rocprof_agent;

/** A kernel with its id, or a marker's text with the correlation id of the marker's call. */
typedef struct tm_rocprof_entry {
    uint64_t id;
    tm_rocprof_text text;
    int32_t registers; /* registers per thread; -1: unknown */
} tm_rocprof_entry;

typedef struct tm_rocprof_table {
    tm_vec entries; /* vector of tm_rocprof_entry */
    bool sorted;    /* `entries` are sorted by id */
} tm_rocprof_table;

/** A kind of record. Its n operations are at the indices first, first + 1, ... of
 * tm_rocprof_tables.operations. */
typedef struct tm_rocprof_kind {
    tm_rocprof_text name;
    uint32_t first, n;
} tm_rocprof_kind;

typedef struct tm_rocprof_tables {
    tm_vec texts; /* vector of char */
    tm_vec agents;
    tm_rocprof_table kernels, markers;
    tm_vec kinds;      /* vector of tm_rocprof_kind, indexed by the kind's number */
    tm_vec operations; /* vector of tm_rocprof_text */
    tm_rocprof_text host;
    int64_t pid;              /* -1: unknown */
    int64_t rank, world_size; /* from the environment of the process; -1: unknown */
} tm_rocprof_tables;

void tm_rocprof_tables_init(tm_rocprof_tables *tables);
void tm_rocprof_tables_free(tm_rocprof_tables *tables);

/** Empties the tables for the next process. */
void tm_rocprof_tables_clear(tm_rocprof_tables *tables);

/** Keeps a text of arbitrary bytes. False if out of memory, or if all texts together exceed 4
 * GiB. */
bool tm_rocprof_keep(tm_rocprof_tables *tables, const char *bytes, size_t size,
                     tm_rocprof_text *out);

/** Each of these functions reads the value at the walk's position: the metadata, an agent, an
 * element of kernel_symbols, an element of the names of kinds, or an element of the texts of
 * markers. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_rocprof_read_metadata(tm_rocprof_tables *tables, tm_walk *walk,
                                   tm_error *err) TM_MUST_CHECK;
tm_status tm_rocprof_read_agent(tm_rocprof_tables *tables, tm_walk *walk,
                                tm_error *err) TM_MUST_CHECK;
tm_status tm_rocprof_read_kernel(tm_rocprof_tables *tables, tm_walk *walk,
                                 tm_error *err) TM_MUST_CHECK;
tm_status tm_rocprof_read_kind(tm_rocprof_tables *tables, tm_walk *walk,
                               tm_error *err) TM_MUST_CHECK;
tm_status tm_rocprof_read_marker(tm_rocprof_tables *tables, tm_walk *walk,
                                 tm_error *err) TM_MUST_CHECK;

/** Returns the agent of a handle; NULL if it is unknown. */
const tm_rocprof_agent *tm_rocprof_agent_of(const tm_rocprof_tables *tables, uint64_t handle);

/** Returns the entry with an id; NULL if it is unknown. */
tm_rocprof_entry *tm_rocprof_find(tm_rocprof_table *table, uint64_t id);

/** tm_rocprof_kind_of returns the kind with a number. tm_rocprof_operation_of returns an operation
 * of a kind. Both return NULL if the number is unknown. */
tm_rocprof_kind *tm_rocprof_kind_of(const tm_rocprof_tables *tables, int64_t kind);
tm_rocprof_text *tm_rocprof_operation_of(const tm_rocprof_tables *tables, int64_t kind,
                                         int64_t operation);

/** Whether a text contains a word. False if @p text is NULL. */
bool tm_rocprof_holds(const tm_rocprof_tables *tables, const tm_rocprof_text *text,
                      const char *word);

/** tm_rocprof_is: whether a text equals a word. tm_rocprof_begins: whether a text starts with a
 * word. Both are false if @p text is NULL. */
bool tm_rocprof_is(const tm_rocprof_tables *tables, const tm_rocprof_text *text, const char *word);
bool tm_rocprof_begins(const tm_rocprof_tables *tables, const tm_rocprof_text *text,
                       const char *word);

/** Returns the name id of a text; TM_NO_NAME for NULL or an empty text, TM_NAME_FAILED if out of
 * memory. */
uint32_t tm_rocprof_name(const tm_rocprof_tables *tables, tm_rocprof_text *text, tm_names *names);

#endif
