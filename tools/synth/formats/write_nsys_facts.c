/* Writes facts about hosts and processes. Values that matter to a reader are from real exports. The
 * card is the same as in kineto_frame.c. */
#include "write_nsys_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)

/* A secret that no reader may show. Tests search for it in all output that is made from the file.
 */
#define SECRET "not-a-real-secret"

/* Numbers by which Nsight identifies properties. */
enum { ENVIRONMENT = 610, DRIVER = 611, HOSTNAME = 619 };

typedef struct variable {
    const char *name;
    char value[64];
} variable;

/* Returns the monotonic clock, which counts from boot. Hosts were booted on different days. */
static int64_t uptime_ns(const tms_nsys_session *session) {
    return session->begin_ns - (TMS_EPOCH_NS - (10 + session->host % 1000) * DAY_NS);
}

static void session_facts(tms_db *db, const tms_nsys_session *session) {
    time_t seconds = (time_t)(session->begin_ns / SECOND_NS);
    struct tm utc;
    char text[32];

    (void)gmtime_r(&seconds, &utc);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    TMS_ROW(db, TMS_TABLE_SESSION, TMS_INT(session->begin_ns), TMS_TEXT(text), TMS_TEXT(text),
            TMS_INT(uptime_ns(session)));
}

/* Writes an environment variable in two places: to the table, and to the list that has all
 * variables. Returns the end of the list. */
static char *write_variable(tms_db *db, const variable *entry, char *list) {
    char text[128];

    (void)snprintf(text, sizeof text, "%s=\"%s\"", entry->name, entry->value);
    TMS_ROW(db, TMS_TABLE_CAPTURE, TMS_TEXT("PROCESS_0:ENVIRONMENT_VARIABLE"), TMS_TEXT(text));
    return list + snprintf(list, 128, "%s=%s;", entry->name, entry->value);
}

/* Writes the environment of a process in the two places in which Nsight stores it: in the table,
 * and in the list. */
static void environment(tms_db *db, const tms_config *config, const tms_nsys_session *session) {
    variable entries[] = {
        {"PATH", "/usr/local/cuda/bin:/usr/bin:/bin"},
        {"AWS_SECRET_ACCESS_KEY", SECRET "-1"},
        {"RANK", ""},
        {"LOCAL_RANK", ""},
        {"WORLD_SIZE", ""},
        {"HF_TOKEN", SECRET "-2"},
        {"RANK_SERVICE_PASSWORD", SECRET "-3"}, /* readers use RANK, but must not use this */
        {"CUDA_HOME", "/usr/local/cuda"},
    };
    /* A file with several ranks has the environment of their launcher, without the three variables
     * of a rank. */
    bool one = config->ranks_per_file == 1;
    char list[sizeof entries / sizeof entries[0] * 128];
    char *end = list;

    (void)snprintf(entries[2].value, sizeof entries[2].value, "%lld", (long long)session->rank);
    (void)snprintf(entries[3].value, sizeof entries[3].value, "%lld",
                   (long long)(session->rank % config->host_ranks));
    (void)snprintf(entries[4].value, sizeof entries[4].value, "%lld", (long long)config->ranks);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (one || i < 2 || i > 4) {
            end = write_variable(db, &entries[i], end);
        }
    }
    TMS_ROW(db, TMS_TABLE_SYSTEM, TMS_INT(TMS_NSYS_MACHINE), TMS_TEXT("Local (CLI)"),
            TMS_TEXT("DeviceEnvironment"), TMS_INT(ENVIRONMENT), TMS_TEXT(list));
}

/* Makes a GPU's UUID, which is the same in each run. */
static void gpu_uuid(char text[64], int64_t host, int64_t device) {
    (void)snprintf(text, 64, "5eed0000-0000-4000-8000-%06llx%06llx", (unsigned long long)host,
                   (unsigned long long)device);
}

/* Writes every card of the host, as the Kineto format does. */
static void gpus(tms_db *db, const tms_config *config, int64_t host) {
    for (int64_t i = 0; i < config->host_ranks; i++) {
        char uuid[64];
        char bus[32];

        gpu_uuid(uuid, host, i);
        (void)snprintf(bus, sizeof bus, "%04llx:01:00.0", (unsigned long long)i);
        TMS_ROW(db, TMS_TABLE_GPU, TMS_INT(TMS_NSYS_MACHINE), TMS_INT(i),
                TMS_TEXT("NVIDIA H100 80GB HBM3"), TMS_TEXT(bus), TMS_INT(1), TMS_INT(52428800),
                TMS_INT(85028372480), TMS_INT(3352320000000), TMS_INT(1980000000), TMS_INT(132),
                TMS_TEXT(uuid), TMS_TEXT("GH100"), TMS_INT(i), TMS_INT(65536), TMS_INT(49152),
                TMS_INT(232448), TMS_INT(233472), TMS_INT(65536), TMS_INT(32), TMS_INT(64),
                TMS_INT(32), TMS_INT(1024), TMS_INT(9), TMS_INT(0));
    }
}

static void options(tms_db *db, const tms_config *config) {
    const char *const capture[][2] = {
        {"DEVICE_ID", "Local (CLI)"},
        {"CAPTURE_EVENT_TYPE", "NvtxEvents"},
        {"CAPTURE_EVENT_TYPE", "Cuda"},
        {"CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph"},
        {"PROCESS_0:COMMAND", config->ranks_per_file > 1 ? "torchrun" : "python"},
        {"PROCESS_0:ARGUMENT_0", "train.py"},
    };
    const char *const export[][2] = {
        {"EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"},
        {"EXPORT_PRODUCT_VERSION", "2026.2.1.210"},
        {"EXPORT_PRODUCT_DATE", "2026.2"},
        {"EXPORT_SCHEMA_VERSION", "3.25.0"},
        {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
        {"EXPORT_SCHEMA_VERSION_MINOR", "25"},
        {"EXPORT_SCHEMA_VERSION_MICRO", "0"},
        {"EXPORT_PLATFORM", "linux-desktop"},
        {"EXPORT_ARCH", "x64"},
        /* The export may be made on another machine than the recorded host. */
        {"EXPORT_HOST", "workstation"},
        {"EXPORT_PARAM_EXPORT_TYPE", "SQLite"},
        {"EXPORT_PARAM_LAZY", "true"},
        {"EXPORT_PARAM_INCLUDE_JSON", "false"},
        {"EXPORT_PARAM_INCLUDE_BLOBS", config->no_metadata != 0 ? "false" : "true"},
        {"EXPORT_PARAM_TIME_NORMALIZE", "false"},
        {"EXPORT_PARAM_TIME_SHIFT", "0"},
    };

    for (size_t i = 0; i < sizeof capture / sizeof capture[0]; i++) {
        TMS_ROW(db, TMS_TABLE_CAPTURE, TMS_TEXT(capture[i][0]), TMS_TEXT(capture[i][1]));
    }
    for (size_t i = 0; i < sizeof export / sizeof export[0]; i++) {
        TMS_ROW(db, TMS_TABLE_EXPORT, TMS_TEXT(export[i][0]), TMS_TEXT(export[i][1]));
    }
}

void tms_nsys_begin_facts(tms_db *db, const tms_config *config, const tms_nsys_session *session) {
    char host[32];

    (void)snprintf(host, sizeof host, "host%lld", (long long)session->host);
    session_facts(db, session);
    TMS_ROW(db, TMS_TABLE_SYSTEM, TMS_INT(TMS_NSYS_MACHINE), TMS_TEXT("Local (CLI)"),
            TMS_TEXT("CudaDriverVersion"), TMS_INT(DRIVER), TMS_TEXT("12080"));
    TMS_ROW(db, TMS_TABLE_SYSTEM, TMS_INT(TMS_NSYS_MACHINE), TMS_TEXT("Local (CLI)"),
            TMS_TEXT("Hostname"), TMS_INT(HOSTNAME), TMS_TEXT(host));
    environment(db, config, session);
    gpus(db, config, session->host);
    options(db, config);
    /* Every export also has processes that are not ranks. */
    TMS_ROW(db, TMS_TABLE_PROCESS, TMS_INT(tms_nsys_process(1)), TMS_INT(1), TMS_TEXT("systemd"));
    TMS_ROW(db, TMS_TABLE_PROCESS, TMS_INT(tms_nsys_process(900)), TMS_INT(900), TMS_TEXT("nsys"));
    /* Severity 1 is "information". The time is before the session, as in real exports. */
    TMS_ROW(db, TMS_TABLE_DIAGNOSTIC, TMS_INT(-55592340), TMS_INT(2), TMS_INT(1), TMS_INT(1),
            TMS_TEXT("Profiling has started."));
}

void tms_nsys_rank_facts(tms_db *db, const tms_config *config, const tms_placement *placement,
                         const int64_t thread_names[2]) {
    int64_t pid = placement->pid[TMS_TRACK_HOST];

    TMS_ROW(db, TMS_TABLE_PROCESS, TMS_INT(tms_nsys_process(pid)), TMS_INT(pid),
            TMS_TEXT("python"));
    for (int i = 0; i < 2; i++) {
        tms_track track = i == 0 ? TMS_TRACK_HOST : TMS_TRACK_AUTOGRAD;

        TMS_ROW(db, TMS_TABLE_THREAD_NAME, TMS_INT(thread_names[i]), TMS_INT(20),
                TMS_INT(tms_nsys_thread(pid, placement->tid[track])));
    }
    for (int64_t i = 0; i < config->host_ranks; i++) {
        char uuid[64];

        gpu_uuid(uuid, placement->host, i);
        TMS_ROW(db, TMS_TABLE_CUDA_DEVICE, TMS_INT(i), TMS_INT(i), TMS_INT(pid), TMS_TEXT(uuid),
                TMS_INT(132));
    }
    for (int track = TMS_TRACK_COMPUTE; track < TMS_TRACK_COUNT; track++) {
        if (tms_placement_used(config, placement, (tms_track)track)) {
            TMS_ROW(db, TMS_TABLE_CUDA_STREAM, TMS_INT(placement->tid[track]), TMS_INT(0),
                    TMS_INT(1), TMS_INT(pid), TMS_INT(1), TMS_INT(0),
                    TMS_INT(track != TMS_TRACK_COMPUTE));
        }
    }
}

void tms_nsys_end_facts(tms_db *db, const tms_nsys_session *session) {
    int64_t duration_ns = session->end_ns - session->begin_ns;

    /* Times in this table are of the monotonic clock, so it does not give an offset for events. */
    TMS_ROW(db, TMS_TABLE_ANALYSIS, TMS_INT(TMS_NSYS_MACHINE), TMS_INT(duration_ns),
            TMS_INT(uptime_ns(session)), TMS_INT(uptime_ns(session) + duration_ns));
}
