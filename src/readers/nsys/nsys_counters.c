#include "nsys_counters.h"

#include <inttypes.h>
#include <stdio.h>

#include "nsys_units.h"

/* A metric: its name, and two numbers that identify it. For a GPU, `of` is the type and `number` is
 * the metric id. For a network card, `of` is the list and `number` is the index in it. */
typedef struct metric {
    int64_t of, number;
    uint32_t name;
} metric;

typedef struct sampling {
    tm_nsys_emitter *e;
    tm_vec metrics; /* vector of metric: a few dozen */
    /* vector of metric: `of` is the number of a GPU in the machine, `name` is its CUDA ordinal */
    tm_vec gpus;
} sampling;

/* Keeps the CUDA ordinal of a GPU of this process, if the export records ordinals. */
static tm_status take_gpu(void *context, sqlite3_value **values, tm_error *err) {
    sampling *s = context;
    const metric found = {tm_db_int(values, 0, -1), 0, (uint32_t)tm_db_int(values, 1, -1)};
    if (tm_db_int(values, 2, -1) != tm_nsys_pid(s->e->unit->process))
        return TM_OK;
    return tm_vec_append(&s->gpus, &found, 1) ? TM_OK : tm_fail_memory(err);
}

/* Returns the CUDA ordinal of a GPU; -1 if the process does not own it. If no ordinals are
 * recorded, returns the number of the GPU. */
static int64_t device_of(const sampling *s, int64_t gpu) {
    const metric *v = s->gpus.data;
    for (size_t i = 0; i < s->gpus.n; i++)
        if (v[i].of == gpu)
            return v[i].name;
    return s->gpus.n > 0 ? -1 : gpu;
}

static tm_status take_metric(void *context, sqlite3_value **values, tm_error *err) {
    sampling *s = context;
    const metric found = {tm_db_int(values, 0, -1), tm_db_int(values, 1, -1),
                          tm_nsys_intern(s->e, tm_db_text(values[2]))};
    return found.name != TM_NAME_FAILED && tm_vec_append(&s->metrics, &found, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Returns a metric's name id; TM_NO_NAME if it is not listed. */
static uint32_t name_of(const sampling *s, int64_t of, int64_t number) {
    const metric *v = s->metrics.data;
    for (size_t i = 0; i < s->metrics.n; i++)
        if (v[i].of == of && v[i].number == number)
            return v[i].name;
    return TM_NO_NAME;
}

static tm_status add_sample(tm_nsys_emitter *e, int64_t time, tm_raw_event event, double value,
                            tm_error *err) {
    tm_counter_attr attr = {.value = value, .series = tm_names_intern_string(e->names, "")};
    event.kind = TM_COUNTER;
    event.category = TM_CAT_NONE;
    TM_TRY(tm_nsys_add_at(e, time, time, event, &attr.event, err));
    return tm_nsys_add_counter(e, &attr, err);
}

/* Returns whether the unit has work on the device. (The mask of its devices also contains devices
 * that are not used.) */
static bool has_used(const tm_nsys_emitter *e, int64_t device) {
    const tm_track *tracks = e->trace->tracks.data;
    for (size_t i = 0; i < e->trace->tracks.n; i++)
        if (tracks[i].kind == TM_TRACK_GPU && tracks[i].device == device)
            return true;
    return false;
}

/* The lowest byte of the type is the GPU's number in the machine. */
static tm_status take_gpu_sample(void *context, sqlite3_value **values, tm_error *err) {
    enum { TIME, TYPE, METRIC, VALUE };
    const sampling *s = context;
    const int64_t type = tm_db_int(values, TYPE, 0), device = device_of(s, type & 0xFF);
    if (device < 0 || !has_used(s->e, device))
        return TM_OK;
    const tm_raw_event event = {.name = name_of(s, type, tm_db_int(values, METRIC, -1)),
                                .track = tm_nsys_track_of(s->e, TM_TRACK_GPU, device, -1)};
    return add_sample(s->e, tm_db_int(values, TIME, INT64_MIN), event,
                      sqlite3_value_double(values[VALUE]), err);
}

/* Takes a sample of a network card. The sample covers the time from its start to its end. Its event
 * is at the start. */
static tm_status take_nic_sample(void *context, sqlite3_value **values, tm_error *err) {
    enum { TIME, CARD, PORT, LIST, INDEX, VALUE };
    const sampling *s = context;
    tm_nsys_emitter *e = s->e;
    char card[48];
    snprintf(card, sizeof card, "NIC %" PRId64, tm_db_int(values, CARD, -1));
    uint32_t pid = tm_names_intern_string(e->names, card);
    snprintf(card, sizeof card, "port %" PRId64, tm_db_int(values, PORT, -1));
    uint32_t tid = tm_names_intern_string(e->names, card);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return tm_fail_memory(err);
    const tm_raw_event event = {
        .name = name_of(s, tm_db_int(values, LIST, -1), tm_db_int(values, INDEX, -1)),
        .track = tm_trace_track(e->trace, TM_TRACK_CPU, pid, tid)};
    return add_sample(e, tm_db_int(values, TIME, INT64_MIN), event,
                      sqlite3_value_double(values[VALUE]), err);
}

tm_status tm_nsys_add_counters(tm_nsys_emitter *e, tm_error *err) {
    static const char *const gpu_metrics[] = {"typeId", "metricId", "metricName"};
    static const char *const gpu[] = {"timestamp", "typeId", "metricId", "value"};
    static const char *const nic_metrics[] = {"metricsListId", "metricsIdx", "name"};
    static const char *const nic[] = {"start",         "globalId",   "portId",
                                      "metricsListId", "metricsIdx", "value"};
    const struct {
        tm_db_query metrics, samples;
        tm_db_each *each;
    } kinds[] = {
        {{"TARGET_INFO_GPU_METRICS", gpu_metrics, 3, NULL, NULL},
         {"GPU_METRICS", gpu, 4, NULL, NULL},
         take_gpu_sample},
        {{"TARGET_INFO_NETWORK_METRICS", nic_metrics, 3, NULL, NULL},
         {"NET_NIC_METRIC", nic, 6, NULL, NULL},
         take_nic_sample},
    };
    static const char *const gpus[] = {"gpuId", "cudaId", "pid"};
    const tm_db_query ordinals = {"TARGET_INFO_CUDA_DEVICE", gpus, 3, NULL, NULL};
    sampling s = {e, TM_VEC(metric), TM_VEC(metric)};
    tm_status status = tm_db_scan(e->db, &ordinals, 0, take_gpu, &s, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == TM_OK; i++) {
        s.metrics.n = 0;
        status = tm_db_scan(e->db, &kinds[i].metrics, 0, take_metric, &s, err);
        if (status == TM_OK)
            status = tm_db_scan(e->db, &kinds[i].samples, 0, kinds[i].each, &s, err);
    }
    tm_vec_free(&s.metrics);
    tm_vec_free(&s.gpus);
    return status;
}
