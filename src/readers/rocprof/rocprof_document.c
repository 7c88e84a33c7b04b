#include "rocprof_document.h"

#include <stdlib.h>

/* A record that comes before the tables that it refers to. */
typedef struct early {
    tm_rocprof_record record;
    tm_rocprof_list list;
} early;

typedef struct document {
    tm_walk walk;
    const tm_rocprof_sink *sink;
    tm_rocprof_tables tables;
    int64_t process; /* index of the current process; -1 before the first process */
    /* has_agents, has_kernels, has_names: whether these tables of the current process were read */
    bool has_processes, has_agents, has_kernels, has_names;
    bool open;            /* the end of the process was not yet reported to the sink */
    tm_vec early;         /* vector of early: records of the current process */
    tm_rocprof_list list; /* the current list */
    tm_rocprof_gaps gaps[L_SAMPLES];
    tm_rocprof_record record;
} document;

static const struct {
    const char *key, *key_2024;
} lists[] = {
#define LIST_ROW(id, key, key_2024) [id] = {key, key_2024},
    TM_ROCPROF_LISTS(LIST_ROW)
#undef LIST_ROW
};

static tm_rocprof_list list_of(const tm_json_text *key) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (tm_walk_is(key, lists[i].key) ||
            (lists[i].key_2024 && tm_walk_is(key, lists[i].key_2024)))
            return (tm_rocprof_list)i;
    return key->size > 10 && tm_json_begins(key, "pc_sample_") ? L_SAMPLES : L_OTHER;
}

static tm_status skip(document *d, tm_error *err) {
    return tm_window_skip_value(&d->walk.window, err);
}

/* Calls a function for each element of the array at the walk's position. Skips the value if it is
 * not an array. */
static tm_status read_array(document *d, tm_walk_each *each, tm_error *err) {
    return tm_walk_at(&d->walk) == '[' ? tm_walk_list(&d->walk, each, d, err) : skip(d, err);
}

static tm_status read_object(document *d, tm_walk_each *each, tm_error *err) {
    return tm_walk_at(&d->walk) == '{' ? tm_walk_list(&d->walk, each, d, err) : skip(d, err);
}

static const char *parse_record(void *context, tm_json_cursor *cursor, const char *p) {
    document *d = context;
    return tm_rocprof_record_parse(cursor, p, &d->gaps[d->list], &d->record);
}

/* Whether all tables that records refer to were already read. */
static bool has_all(const document *d) {
    return d->has_agents && (d->sink->devices_alone || (d->has_kernels && d->has_names));
}

static bool give_early(document *d) {
    const early *v = d->early.data;
    for (size_t i = 0; i < d->early.n; i++)
        if (!d->sink->record(d->sink->context, &d->tables, v[i].list, &v[i].record))
            return false;
    d->early.n = 0;
    return true;
}

static tm_status each_record(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    (void)key;
    TM_TRY(tm_walk_item(&d->walk, parse_record, d, err));
    bool ok;
    if (has_all(d)) {
        ok = d->sink->record(d->sink->context, &d->tables, d->list, &d->record);
    } else {
        const early kept = {d->record, d->list};
        ok = tm_vec_append(&d->early, &kept, 1) != NULL;
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status each_sample(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    (void)key;
    TM_TRY(skip(d, err));
    if (d->sink->counts)
        d->sink->counts[TM_COUNT_OTHER_PHASE]++;
    return TM_OK;
}

static tm_status each_list(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    d->list = list_of(key);
    if (d->sink->devices_alone && d->list != L_DISPATCH && d->list != L_COPY)
        return skip(d, err);
    return read_array(d, d->list == L_SAMPLES ? each_sample : each_record, err);
}

/* Skips the hardware counters of dispatches. They are a single list of samples. */
static tm_status each_callback_list(void *context, const tm_json_text *key, tm_error *err) {
    (void)key;
    return read_array(context, each_sample, err);
}

#define EACH(name, read)                                                                           \
    static tm_status name(void *context, const tm_json_text *key, tm_error *err) {                 \
        document *d = context;                                                                     \
        (void)key;                                                                                 \
        return read(&d->tables, &d->walk, err);                                                    \
    }
EACH(each_agent, tm_rocprof_read_agent)
EACH(each_kernel, tm_rocprof_read_kernel)
EACH(each_kind, tm_rocprof_read_kind)
EACH(each_marker, tm_rocprof_read_marker)
#undef EACH

static tm_status each_strings(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    if (tm_walk_is(key, "buffer_records"))
        return read_array(d, each_kind, err);
    return tm_walk_is(key, "marker_api") ? read_array(d, each_marker, err) : skip(d, err);
}

static tm_status each_member(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    bool texts = !d->sink->devices_alone;
    if (tm_walk_is(key, "metadata"))
        return tm_rocprof_read_metadata(&d->tables, &d->walk, err);
    if (tm_walk_is(key, "agents")) {
        TM_TRY(read_array(d, each_agent, err));
        d->has_agents = true;
    } else if (tm_walk_is(key, "kernel_symbols") && texts) {
        TM_TRY(read_array(d, each_kernel, err));
        d->has_kernels = true;
    } else if (tm_walk_is(key, "strings") && texts) {
        TM_TRY(read_object(d, each_strings, err));
        d->has_names = true;
    } else if (tm_walk_is(key, "buffer_records")) {
        return read_object(d, each_list, err);
    } else if (tm_walk_is(key, "callback_records") && texts) {
        return read_object(d, each_callback_list, err);
    } else {
        return skip(d, err);
    }
    return !has_all(d) || give_early(d) ? TM_OK : tm_fail_memory(err);
}

static tm_status end_process(document *d, tm_error *err) {
    bool ok = !d->open || (give_early(d) && d->sink->end(d->sink->context, &d->tables, d->process));
    d->open = false;
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status each_process(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    (void)key;
    d->process++;
    if ((d->sink->process >= 0 && d->process != d->sink->process) || tm_walk_at(&d->walk) != '{')
        return skip(d, err);
    tm_rocprof_tables_clear(&d->tables);
    d->has_agents = d->has_kernels = d->has_names = false;
    d->open = true;
    TM_TRY(tm_walk_list(&d->walk, each_member, d, err));
    return end_process(d, err);
}

static tm_status each_top(void *context, const tm_json_text *key, tm_error *err) {
    document *d = context;
    if (!tm_walk_is(key, "rocprofiler-sdk-tool"))
        return skip(d, err);
    d->has_processes = true;
    return read_array(d, each_process, err);
}

static tm_status read_all(document *d, tm_error *err) {
    TM_TRY(tm_walk_list(&d->walk, each_top, d, err));
    TM_TRY(tm_walk_end(&d->walk, err));
    if (!d->has_processes)
        return tm_window_fail(&d->walk.window, d->walk.window.p,
                              "the document does not have rocprofiler-sdk-tool", err);
    return TM_OK;
}

tm_status tm_rocprof_document(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                              tm_error *err) {
    document *d = calloc(1, sizeof *d);
    if (!d)
        return tm_fail_memory(err);
    d->sink = sink;
    d->process = -1;
    d->early = TM_VEC(early);
    *cut = false;
    tm_rocprof_tables_init(&d->tables);
    tm_status status = tm_walk_open(source, sink->counts, &d->walk, err);
    if (status == TM_OK) {
        status = read_all(d, err);
        *cut = tm_walk_is_cut(&d->walk, status);
        if (*cut && end_process(d, NULL) != TM_OK)
            status = tm_fail_memory(err);
        tm_walk_close(&d->walk);
    }
    tm_rocprof_tables_free(&d->tables);
    tm_vec_free(&d->early);
    free(d);
    return status;
}
