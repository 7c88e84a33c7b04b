#include "nsys_fixture.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <unistd.h>

#include "trace_text.h"

/* Tables that all schemas have. */
#define STRINGS "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
#define GRID                                                                                       \
    "registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, "    \
    "blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, "    \
    "localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER"
#define RUNTIME                                                                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "     \
    "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT "   \
    "NULL, returnValue INTEGER NOT NULL, callchainId INTEGER"
#define NVTX                                                                                       \
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "  \
    "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "             \
    "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value "     \
    "INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, "        \
    "jsonTextId INTEGER, jsonText TEXT"
#define START                                                                                      \
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime "    \
    "TEXT"
#define EXPORT(version)                                                                            \
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"                              \
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '" version "'), "               \
    "('EXPORT_PARAM_TIME_NORMALIZE', 'false'), ('EXPORT_PARAM_TIME_SHIFT', '0');"
/* Tables of activities. The macro gets the columns before and after the green context, a column
 * that only newer schemas have. */
#define ACTIVITY(kind)                                                                             \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_" kind " (start INTEGER NOT NULL, end INTEGER NOT NULL, "    \
    "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
#define GREEN "greenContextId INTEGER, "
#define PLACE "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
#define NAMES "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, "
#define LAUNCH "launchType INTEGER, cacheConfig INTEGER, "
#define MEMCPY                                                                                     \
    "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind "         \
    "INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, "   \
    "dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER"
#define MEMSET "value INTEGER, bytes INTEGER, graphNodeId INTEGER, memKind INTEGER"
#define MODERN                                                                                     \
    ACTIVITY("KERNEL")                                                                             \
    GREEN PLACE NAMES                                                                              \
        "mangledName INTEGER, " LAUNCH GRID                                                        \
        ", sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, "   \
        "clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);" ACTIVITY("MEMCPY")                \
            GREEN PLACE MEMCPY ", copyCount INTEGER);" ACTIVITY("MEMSET") GREEN PLACE MEMSET       \
        ");" RUNTIME ");"

const schema schemas[N_SCHEMAS] = {
    {"the oldest", STRINGS RUNTIME ");" NVTX ");" ACTIVITY("KERNEL") PLACE NAMES LAUNCH GRID
     ");" ACTIVITY("MEMCPY") PLACE MEMCPY ");" ACTIVITY("MEMSET") PLACE MEMSET ");"},
    {"2.9", STRINGS START ");" RUNTIME ", name TEXT);" NVTX ");" ACTIVITY("KERNEL") PLACE NAMES
     "mangledName INTEGER, " LAUNCH GRID
     ", sharedMemoryExecuted INTEGER, graphNodeId INTEGER);" ACTIVITY("MEMCPY") PLACE MEMCPY
     ", name TEXT);" ACTIVITY("MEMSET") PLACE MEMSET
     ");"
     "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
     "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION', '2.9.1');"},
    {"3.13", STRINGS START ");" EXPORT("3.13.2") MODERN NVTX ");"},
    {"3.20", STRINGS START ");" EXPORT("3.20.2") MODERN NVTX ", binaryData BLOB);"},
    {"3.25",
     STRINGS START ", systemClockNs INTEGER);" EXPORT("3.25.0") MODERN NVTX ", binaryData BLOB);"},
    {"3.28", STRINGS START ", systemClockNs INTEGER, sessionStartCntVctNs INTEGER);" EXPORT(
                 "3.28.1") MODERN NVTX ", binaryData BLOB, eventId INTEGER);"},
};

static char path[64];

const char *write_export(const char *tables, const char *sql) {
    sqlite3 *db;
    char *message = NULL;
    snprintf(path, sizeof path, "nsys_%ld.sqlite", (long)getpid());
    (void)remove(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, tables, NULL, NULL, &message) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static tm_status list_units(tm_vec *units, bool *foreign, tm_error *err) {
    tm_file_info info;
    assert_int_equal(tm_file_sniff(path, &info, NULL), TM_OK);
    assert_int_equal(info.kind, TM_FILE_TRACE);
    assert_string_equal(info.format->name, "nsys");
    return tm_file_list_units(&info, false, units, foreign, err);
}

nsys read_nsys(size_t i) {
    nsys n = {.ground = open_ground(), .units = TM_VEC(tm_unit)};
    bool foreign = true;
    tm_status status = list_units(&n.units, &foreign, &n.ground.err);
    if (status == TM_OK)
        status =
            tm_trace_read(&(tm_trace_file){.path = path, .unit = (const tm_unit *)n.units.data + i},
                          n.ground.names, NULL, &n.trace, &n.ground.err);
    if (status != TM_OK)
        print_message("%s\n", n.ground.err.message);
    assert_int_equal(status, TM_OK);
    assert_false(foreign);
    assert_true(i < n.units.n);
    (void)remove(path);
    return n;
}

nsys read_statements(const char *const *sql) {
    char all[16384] = "";
    for (; *sql; sql++) {
        assert_true(strlen(all) + strlen(*sql) < sizeof all);
        strcat(all, *sql);
    }
    (void)write_export(schemas[LATEST].tables, all);
    return read_nsys(0);
}

void close_nsys(nsys *n) {
    tm_trace_free(&n->trace);
    tm_vec_free(&n->units);
    close_ground(&n->ground);
}

const char *events_of(const nsys *n) {
    static char text[4096];
    const tm_raw_event *events = n->trace.events.data;
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < n->trace.events.n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %" PRId64 " %" PRId64 "\n",
                                 tm_names_text(n->ground.names, events[i].name).bytes,
                                 tm_category_word(events[i].category), events[i].begin_ns,
                                 events[i].duration_ns);
    return text;
}

const char *attrs_of(const nsys *n) {
    static char text[4096];
    *text = '\0';
    for (size_t i = 1; i < n->trace.events.n; i++) {
        size_t used = strlen(text);
        attrs_text(&n->trace, n->ground.names, i, text + used, sizeof text - used - 1);
        strcat(text, "\n");
    }
    return text;
}
