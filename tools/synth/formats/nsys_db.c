/* Columns, their types and their order are from exports of schema 3.25; those of the table
 * TARGET_INFO_GPU are from schema 3.13. */
#include "nsys_db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

/* The first columns of all GPU work, and other lists of columns that several tables have. */
#define TIMES "start INTEGER NOT NULL, end INTEGER NOT NULL, "
#define PLACE                                                                                      \
    TIMES "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, "        \
          "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
#define RANGE TIMES "eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL"
#define WRITTEN_RANGE "start, end, eventClass, globalTid, nameId"
#define WRITTEN_PLACE "start, end, deviceId, contextId, streamId, correlationId, globalPid, "

/* A table: its name, all of its columns, and the columns that are written in each row. All other
 * columns are NULL. */
static const struct table {
    const char *name;
    const char *columns;
    const char *written;
} tables[TMS_TABLE_COUNT] = {
    [TMS_TABLE_STRING] = {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
                          "id, value"},
    [TMS_TABLE_THREAD_NAME] = {"ThreadNames",
                               "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER",
                               "nameId, priority, globalTid"},
    [TMS_TABLE_PROCESS] = {"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT",
                           "globalPid, pid, name"},
    [TMS_TABLE_KERNEL] =
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         PLACE "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, "
               "launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, "
               "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, "
               "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
               "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
               "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, "
               "gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
               "sharedMemoryLimitConfig INTEGER, qmdBulkReleaseDone INTEGER, "
               "qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER, "
               "clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER, "
               "clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER, "
               "maxActiveClusters INTEGER, sharedMemoryRequestedPercentage INTEGER, "
               "tensorSizeMinusOneElements TEXT NOT NULL",
         WRITTEN_PLACE "demangledName, shortName, launchType, cacheConfig, registersPerThread, "
                       "gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, "
                       "dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, "
                       "tensorSizeMinusOneElements"},
    [TMS_TABLE_MEMCPY] =
        {"CUPTI_ACTIVITY_KIND_MEMCPY",
         PLACE "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, "
               "srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, "
               "dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, "
               "graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER",
         WRITTEN_PLACE "bytes, copyKind, srcKind, dstKind, virtualAddress, copyCount"},
    [TMS_TABLE_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET",
                          PLACE "value INTEGER NOT NULL, bytes INTEGER NOT NULL, "
                                "graphNodeId INTEGER, memKind INTEGER",
                          WRITTEN_PLACE "value, bytes, memKind"},
    [TMS_TABLE_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                           TIMES "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId "
                                 "INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
                                 "callchainId INTEGER",
                           "start, end, eventClass, globalTid, correlationId, nameId, returnValue"},
    [TMS_TABLE_SYNCHRONIZATION] =
        {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
         PLACE "deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, "
               "eventSyncId INTEGER",
         WRITTEN_PLACE "syncType, eventId, eventSyncId"},
    [TMS_TABLE_NVTX] =
        {"NVTX_EVENTS",
         "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
         "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, "
         "textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, "
         "doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, "
         "jsonTextId INTEGER, jsonText TEXT, binaryData TEXT",
         "start, end, eventType, text, globalTid, textId, domainId, binaryData"},
    [TMS_TABLE_PAYLOAD_SCHEMA] =
        {"NVTX_PAYLOAD_SCHEMAS",
         "domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER, "
         "numEntries INTEGER, payloadSize INTEGER, alignTo INTEGER",
         "domainId, schemaId, type, numEntries, payloadSize"},
    [TMS_TABLE_PAYLOAD_ENTRY] =
        {"NVTX_PAYLOAD_SCHEMA_ENTRIES",
         "domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, "
         "flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, "
         "offset INTEGER",
         "domainId, schemaId, idx, type, name, offset"},
    [TMS_TABLE_SESSION] = {"TARGET_INFO_SESSION_START_TIME",
                           "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, "
                           "systemClockNs INTEGER",
                           "utcEpochNs, utcTime, localTime, systemClockNs"},
    [TMS_TABLE_ANALYSIS] = {"ANALYSIS_DETAILS",
                            "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, "
                            "startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL",
                            "globalVid, duration, startTime, stopTime"},
    [TMS_TABLE_SYSTEM] = {"TARGET_INFO_SYSTEM_ENV",
                          "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, "
                          "nameEnum INTEGER NOT NULL, value TEXT NOT NULL",
                          "globalVid, devStateName, name, nameEnum, value"},
    [TMS_TABLE_GPU] =
        {"TARGET_INFO_GPU",
         "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, "
         "isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, "
         "clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT, luid INTEGER, "
         "chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, ctrlDevPath TEXT, revision INTEGER, "
         "nodeMask INTEGER, constantMemory INTEGER, maxIPC INTEGER, maxRegistersPerBlock INTEGER, "
         "maxShmemPerBlock INTEGER, maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER, "
         "maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, asyncEngines INTEGER, "
         "maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, "
         "maxBlockDimX INTEGER, maxBlockDimY INTEGER, maxBlockDimZ INTEGER, "
         "maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER, computeMajor INTEGER, "
         "computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER",
         "vmId, id, name, busLocation, isDiscrete, l2CacheSize, totalMemory, memoryBandwidth, "
         "clockRate, smCount, uuid, chipName, cuDevice, maxRegistersPerBlock, maxShmemPerBlock, "
         "maxShmemPerBlockOptin, maxShmemPerSm, maxRegistersPerSm, threadsPerWarp, "
         "maxWarpsPerSm, maxBlocksPerSm, maxThreadsPerBlock, computeMajor, computeMinor"},
    [TMS_TABLE_CUDA_DEVICE] = {"TARGET_INFO_CUDA_DEVICE",
                               "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, "
                               "pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER",
                               "gpuId, cudaId, pid, uuid, numMultiprocessors"},
    [TMS_TABLE_CUDA_STREAM] =
        {"TARGET_INFO_CUDA_STREAM",
         "streamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, "
         "processId INTEGER NOT NULL, contextId INTEGER NOT NULL, priority INTEGER NOT NULL, "
         "flag INTEGER NOT NULL",
         "streamId, hwId, vmId, processId, contextId, priority, flag"},
    [TMS_TABLE_DIAGNOSTIC] = {"DIAGNOSTIC_EVENT",
                              "timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, "
                              "source INTEGER NOT NULL, severity INTEGER NOT NULL, "
                              "text TEXT NOT NULL, globalPid INTEGER",
                              "timestamp, timestampType, source, severity, text"},
    [TMS_TABLE_CAPTURE] = {"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT", "name, value"},
    [TMS_TABLE_EXPORT] = {"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT", "name, value"},
    [TMS_TABLE_OS_RUNTIME] = {"OSRT_API",
                              RANGE
                              ", returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER",
                              WRITTEN_RANGE},
    [TMS_TABLE_SCHEDULING] = {"SCHED_EVENTS",
                              "start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER "
                              "NOT NULL, globalTid INTEGER, threadState INTEGER, "
                              "threadBlock INTEGER",
                              "start, cpu, isSchedIn, globalTid"},
    [TMS_TABLE_CUDNN] = {"CUDNN_EVENTS", RANGE, WRITTEN_RANGE},
    [TMS_TABLE_CUBLAS] = {"CUBLAS_EVENTS", RANGE, WRITTEN_RANGE},
    [TMS_TABLE_OPENMP] = {"OPENMP_EVENT_KIND_PARALLEL",
                          RANGE ", correlationId INTEGER, eventKind INTEGER, parallelId INTEGER, "
                                "parentTaskId INTEGER",
                          WRITTEN_RANGE},
    [TMS_TABLE_OPENACC] = {"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH",
                           RANGE ", eventKind INTEGER, DeviceType INTEGER, lineNo INTEGER, "
                                 "kernelName INTEGER",
                           WRITTEN_RANGE},
    [TMS_TABLE_SYSCALL] = {"SYSCALL", RANGE, WRITTEN_RANGE},
    [TMS_TABLE_MEMORY_USAGE] =
        {"CUDA_GPU_MEMORY_USAGE_EVENTS",
         "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
         "contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, "
         "bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, "
         "name TEXT, correlationId INTEGER",
         "start, globalPid, deviceId, contextId, address, pc, bytes, memKind, "
         "memoryOperationType"},
    [TMS_TABLE_CPU_FAULT] = {"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                             "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, address INTEGER "
                             "NOT NULL, originalFaultPc INTEGER, CpuInstruction INTEGER NOT NULL, "
                             "module INTEGER, unresolvedFaultPc INTEGER",
                             "start, globalPid, address, CpuInstruction"},
    [TMS_TABLE_GPU_FAULT] = {"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                             TIMES "globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
                                   "address INTEGER NOT NULL, numberOfPageFaults INTEGER NOT NULL, "
                                   "faultAccessType INTEGER NOT NULL",
                             "start, end, globalPid, deviceId, address, numberOfPageFaults, "
                             "faultAccessType"},
    [TMS_TABLE_GPU_METRIC] = {"GPU_METRICS",
                              "rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER NOT NULL, "
                              "metricId INTEGER NOT NULL, value INTEGER NOT NULL",
                              "timestamp, typeId, metricId, value"},
    [TMS_TABLE_GPU_METRIC_NAME] = {"TARGET_INFO_GPU_METRICS",
                                   "typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName "
                                   "TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT "
                                   "NULL",
                                   "typeId, sourceId, typeName, metricId, metricName"},
    [TMS_TABLE_NIC_METRIC] = {"NET_NIC_METRIC",
                              TIMES "globalId INTEGER NOT NULL, portId INTEGER NOT NULL, "
                                    "metricsListId INTEGER NOT NULL, metricsIdx INTEGER NOT NULL, "
                                    "value INTEGER NOT NULL",
                              "start, end, globalId, portId, metricsListId, metricsIdx, value"},
    [TMS_TABLE_NIC_METRIC_NAME] = {"TARGET_INFO_NETWORK_METRICS",
                                   "metricsListId INTEGER NOT NULL, metricsIdx INTEGER NOT NULL, "
                                   "name TEXT NOT NULL, description TEXT NOT NULL, unit TEXT NOT "
                                   "NULL",
                                   "metricsListId, metricsIdx, name, description, unit"},
};

struct tms_db {
    sqlite3 *handle;
    char *path;
    char *temporary;
    int code; /* SQLite's code of the first failure; SQLITE_OK: none */
    sqlite3_stmt *insert[TMS_TABLE_COUNT];
    int n_written[TMS_TABLE_COUNT]; /* number of cells of a row that are set */
};

/* Keeps only the first failure, because it may cause further ones. */
static bool note(tms_db *db, int code) {
    if (db->code == SQLITE_OK && code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        db->code = code;
    }
    return db->code == SQLITE_OK;
}

static void run(tms_db *db, const char *sql) {
    if (db->code == SQLITE_OK) {
        (void)note(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
    }
}

static void create(tms_db *db, tms_table table) {
    const struct table *made = &tables[table];
    char *sql = sqlite3_mprintf("CREATE TABLE %s (%s)", made->name, made->columns);
    char marks[128] = "?";
    char *mark = marks + 1;
    int n = 1;

    if (sql == NULL) {
        (void)note(db, SQLITE_NOMEM);
        return;
    }
    run(db, sql);
    sqlite3_free(sql);
    for (const char *p = made->written; *p != '\0'; p++) {
        if (*p == ',') {
            memcpy(mark, ",?", 3);
            mark += 2;
            n++;
        }
    }
    sql = sqlite3_mprintf("INSERT INTO %s (%s) VALUES (%s)", made->name, made->written, marks);
    if (sql == NULL) {
        (void)note(db, SQLITE_NOMEM);
    } else if (db->code == SQLITE_OK) {
        (void)note(db, sqlite3_prepare_v2(db->handle, sql, -1, &db->insert[table], NULL));
    }
    sqlite3_free(sql);
    db->n_written[table] = n;
}

/* Frees everything except the file. */
static void destroy(tms_db *db) {
    for (int i = 0; i < TMS_TABLE_COUNT; i++) {
        (void)sqlite3_finalize(db->insert[i]);
    }
    (void)sqlite3_close(db->handle);
    free(db->path);
    free(db->temporary);
    free(db);
}

static tms_status fail(const tms_db *db, const char *reason, tms_error *err) {
    return tms_fail(err, db->code == SQLITE_NOMEM ? TMS_ERR_FAULT : TMS_ERR_OUTPUT,
                    "cannot write '%s': %s", db->path, reason);
}

tms_status tms_db_open(tms_db **db, const char *path, bool host, tms_error *err) {
    tms_db *made = calloc(1, sizeof *made);
    size_t size = strlen(path) + sizeof ".tmp";
    tms_status status;

    if (made == NULL || (made->path = malloc(size)) == NULL ||
        (made->temporary = malloc(size)) == NULL) {
        free(made != NULL ? made->path : NULL);
        free(made);
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a file name");
    }
    (void)snprintf(made->path, size, "%s", path);
    (void)snprintf(made->temporary, size, "%s.tmp", path);
    /* SQLite would append to the file of an earlier run. */
    (void)unlink(made->temporary);
    (void)note(made, sqlite3_open_v2(made->temporary, &made->handle,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));
    /* If writing fails, the file is removed, so it needs neither rollback nor protection against
     * power loss. */
    run(made, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (int i = 0; i < (host ? TMS_TABLE_COUNT : TMS_TABLE_OS_RUNTIME); i++) {
        create(made, (tms_table)i);
    }
    if (made->code != SQLITE_OK) {
        status = fail(made, sqlite3_errstr(made->code), err);
        tms_db_abandon(made);
        return status;
    }
    *db = made;
    return TMS_OK;
}

/* Binds a cell. SQLite borrows bytes and text until the caller resets the statement. */
static int bind(sqlite3_stmt *statement, int i, const tms_cell *cell) {
    if (cell->null) {
        return sqlite3_bind_null(statement, i);
    }
    if (cell->size > 0) {
        return sqlite3_bind_blob(statement, i, cell->data, (int)cell->size, NULL);
    }
    if (cell->data != NULL) {
        return sqlite3_bind_text(statement, i, cell->data, -1, NULL);
    }
    return sqlite3_bind_int64(statement, i, cell->number);
}

void tms_db_row(tms_db *db, tms_table table, const tms_cell *cells) {
    sqlite3_stmt *statement = db->insert[table];

    for (int i = 0; i < db->n_written[table] && db->code == SQLITE_OK; i++) {
        (void)note(db, bind(statement, i + 1, &cells[i]));
    }
    if (db->code == SQLITE_OK) {
        (void)note(db, sqlite3_step(statement));
        (void)note(db, sqlite3_reset(statement));
    }
}

bool tms_db_failed(const tms_db *db) {
    return db->code != SQLITE_OK;
}

tms_status tms_db_commit(tms_db *db, tms_error *err) {
    tms_status status = TMS_OK;

    run(db, "COMMIT");
    for (int i = 0; i < TMS_TABLE_COUNT; i++) {
        (void)sqlite3_finalize(db->insert[i]);
        db->insert[i] = NULL;
    }
    (void)note(db, sqlite3_close(db->handle));
    db->handle = NULL;
    if (db->code != SQLITE_OK) {
        status = fail(db, sqlite3_errstr(db->code), err);
    } else if (rename(db->temporary, db->path) != 0) {
        status = fail(db, strerror(errno), err);
    }
    if (status != TMS_OK) {
        (void)unlink(db->temporary);
    }
    destroy(db);
    return status;
}

void tms_db_abandon(tms_db *db) {
    if (db != NULL) {
        (void)unlink(db->temporary);
        destroy(db);
    }
}
