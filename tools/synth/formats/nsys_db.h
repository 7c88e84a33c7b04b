/* An SQLite file that is being written: the tables of an Nsight Systems export. */
#ifndef TMERGE_SYNTH_NSYS_DB_H
#define TMERGE_SYNTH_NSYS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "synth/base/error.h"

/* The tables with rows; nsys_db.c has their columns. */
typedef enum tms_table {
    TMS_TABLE_STRING,
    TMS_TABLE_THREAD_NAME,
    TMS_TABLE_PROCESS,
    TMS_TABLE_KERNEL,
    TMS_TABLE_MEMCPY,
    TMS_TABLE_MEMSET,
    TMS_TABLE_RUNTIME,
    TMS_TABLE_SYNCHRONIZATION,
    TMS_TABLE_NVTX,
    TMS_TABLE_PAYLOAD_SCHEMA,
    TMS_TABLE_PAYLOAD_ENTRY,
    TMS_TABLE_SESSION,
    TMS_TABLE_ANALYSIS,
    TMS_TABLE_SYSTEM,
    TMS_TABLE_GPU,
    TMS_TABLE_CUDA_DEVICE,
    TMS_TABLE_CUDA_STREAM,
    TMS_TABLE_DIAGNOSTIC,
    TMS_TABLE_CAPTURE,
    TMS_TABLE_EXPORT,
    TMS_TABLE_OS_RUNTIME, /* this and the following tables exist only if write_nsys_host.c writes
                             rows */
    TMS_TABLE_SCHEDULING,
    TMS_TABLE_CUDNN,
    TMS_TABLE_CUBLAS,
    TMS_TABLE_OPENMP,
    TMS_TABLE_OPENACC,
    TMS_TABLE_SYSCALL,
    TMS_TABLE_MEMORY_USAGE,
    TMS_TABLE_CPU_FAULT,
    TMS_TABLE_GPU_FAULT,
    TMS_TABLE_GPU_METRIC,
    TMS_TABLE_GPU_METRIC_NAME,
    TMS_TABLE_NIC_METRIC,
    TMS_TABLE_NIC_METRIC_NAME,
    TMS_TABLE_COUNT
} tms_table;

/* A cell: an integer, text, bytes, or NULL. */
typedef struct tms_cell {
    int64_t number;
    const void *data; /* text or bytes; borrowed until the row is written */
    size_t size;      /* number of bytes; 0: data is a text */
    bool null;
} tms_cell;

/* These macros make a cell. With them, a row can be written as a list of cells. */
#define TMS_INT(value) ((tms_cell){.number = (value)})
#define TMS_TEXT(text) ((tms_cell){.data = (text)})
#define TMS_BYTES(bytes, length) ((tms_cell){.data = (bytes), .size = (length)})
#define TMS_NULL ((tms_cell){.null = true})

typedef struct tms_db tms_db;

/**
 * Makes a file with empty tables under a temporary name in the folder of @p path.
 *
 * @param host  true: also makes the tables that write_nsys_host.c fills
 * @param path  final name; copied
 * @param db    set only on TMS_OK; end it with tms_db_commit or tms_db_abandon
 * @return      TMS_OK; TMS_ERR_OUTPUT with the file and the reason; TMS_ERR_FAULT
 */
tms_status tms_db_open(tms_db **db, const char *path, bool host, tms_error *err);

/* Appends a row. @p cells has a cell for each column that rows of the table set. After a failure,
 * rows are ignored; tms_db_commit reports the failure. */
void tms_db_row(tms_db *db, tms_table table, const tms_cell *cells);

/* Appends a row given as a list: TMS_ROW(db, table, TMS_INT(1), TMS_TEXT("a")). */
#define TMS_ROW(db, table, ...) tms_db_row((db), (table), (const tms_cell[]){__VA_ARGS__})

bool tms_db_failed(const tms_db *db);

/* Gives the file its final name, and frees the db, also after a failure. After a failure there is
 * no file. TMS_OK; TMS_ERR_OUTPUT with the file and the reason; TMS_ERR_FAULT. */
tms_status tms_db_commit(tms_db *db, tms_error *err);

/* Removes the temporary file and frees the db. @p db may be NULL. */
void tms_db_abandon(tms_db *db);

#endif
