/* Reads PyTorch profiler (Kineto) traces: JSON of the Chrome trace event form, streamed. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export_mark.h"
#include "kineto_devices.h"
#include "kineto_emit.h"
#include "kineto_frames.h"
#include "kineto_fused.h"
#include "kineto_host.h"
#include "kineto_named.h"
#include "kineto_processes.h"
#include "kineto_sniff.h"
#include "readers/chrome.h"
#include "readers/formats.h"
#include "timeline/metadata.h"

const tm_chrome_field tm_kineto_fields[N_FIELDS] = {TM_KINETO_FIELDS(TM_CHROME_FIELD_ROW)};

typedef struct kineto_reader {
    tm_kineto_emitter *emitters; /* [n] one for each rank of the file */
    size_t n;
    tm_kineto_way way;
    tm_keys owners; /* keys of type int64_t: number of the owner (rank) whose events go to each
                       emitter */
    tm_kineto_named named;
} kineto_reader;

/* Gives an event to the emitter of its owner. Metadata events without an owner go to all emitters,
 * where labels of processes without events have no effect. */
static __attribute__((noinline)) bool emit_to_owner(kineto_reader *reader, tm_json_cursor *cursor,
                                                    tm_kineto_event *event) {
    int64_t owner = reader->way == TM_KINETO_NAME ? tm_kineto_named_owner(&reader->named, event)
                                                  : tm_kineto_owner(reader->way, event);
    uint32_t number = owner >= 0 ? tm_keys_find(&reader->owners, &owner) : TM_NO_KEY;
    bool ok = number == TM_NO_KEY || tm_kineto_emit(&reader->emitters[number], cursor, event);
    for (size_t k = 0; k < reader->n && owner < 0 && event->phase == 'M' && ok; k++)
        ok = tm_kineto_emit(&reader->emitters[k], cursor, event);
    return ok;
}

static bool emit(void *context, tm_json_cursor *cursor, tm_chrome_event *event) {
    kineto_reader *reader = context;
    if (__builtin_expect(reader->way != TM_KINETO_ALONE, false))
        return emit_to_owner(reader, cursor, event);
    return tm_kineto_emit(reader->emitters, cursor, event);
}

static const tm_chrome_form form = {.fields = tm_kineto_fields, .n_fields = N_FIELDS, .emit = emit};

static int64_t int_member(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    /* The number is a double. Ranks are far below 2^53, so they are exact. */
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e15
               ? (int64_t)item->valuedouble
               : -1;
}

/* Interns the metadata as compact text without the lists, and reads rank, world size and host from
 * it. */
static tm_status finish_metadata(tm_part *whole, tm_names *names, tm_error *err) {
    tm_trace *trace = whole->trace;
    if (whole->metadata.n == 0)
        return TM_OK;
    if (!tm_vec_append(&whole->metadata, "}", 2))
        return tm_fail_memory(err);
    /* The text starts with the comma before the first member, which becomes the brace. */
    *(char *)whole->metadata.data = '{';
    tm_vec own = TM_VEC(char);
    bool ok =
        tm_metadata_cut(whole->metadata.data, whole->metadata.n - 1, names, &own, &trace->lists) &&
        tm_vec_append(&own, "", 1);
    tm_vec_free(&whole->metadata);
    if (ok)
        trace->metadata = tm_names_intern_string(names, own.data);
    cJSON *root = ok ? cJSON_Parse(own.data) : NULL;
    tm_vec_free(&own);
    /* The metadata is valid JSON at this point. If there is no root, cJSON has rejected a lone
     * surrogate. */
    if (!root)
        trace->counts[TM_COUNT_ODD_METADATA]++;
    const cJSON *info = cJSON_GetObjectItemCaseSensitive(root, "distributedInfo");
    trace->rank = int_member(info, "rank");
    trace->world_size = int_member(info, "world_size");
    if (trace->rank > TM_RANK_MAX || trace->world_size > TM_RANK_MAX) {
        trace->rank = trace->rank > TM_RANK_MAX ? -1 : trace->rank;
        trace->world_size = trace->world_size > TM_RANK_MAX ? -1 : trace->world_size;
        trace->counts[TM_COUNT_ODD_METADATA]++;
    }
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(root, "host_name");
    host = host ? host : cJSON_GetObjectItemCaseSensitive(root, "hostname");
    trace->host = tm_names_intern_string(names, cJSON_GetStringValue(host));
    cJSON_Delete(root);
    if (!ok || trace->host == TM_NAME_FAILED || trace->metadata == TM_NAME_FAILED)
        return tm_fail_memory(err);
    return TM_OK;
}

static tm_status kineto_read_part(tm_source *source, int64_t stop, tm_names *names, tm_part *out,
                                  tm_error *err) {
    tm_kineto_emitter *emitter = malloc(sizeof *emitter);
    kineto_reader reader = {.emitters = emitter, .n = 1};
    if (!emitter)
        return tm_fail_memory(err);
    tm_kineto_emitter_init(emitter, out, names);
    tm_status status = tm_chrome_read_part(source, &form, stop, &reader, out, err);
    tm_kineto_emitter_free(emitter);
    free(emitter);
    return status;
}

/* Prepares to read several ranks of a file at once.
 * @param parts   [n] one per rank, initialised by the caller
 * @param reader  free it with close_reader, whatever the result */
static tm_status open_reader(kineto_reader *reader, const tm_unit *units, size_t n, tm_part *parts,
                             tm_names *names, tm_error *err) {
    *reader = (kineto_reader){.emitters = calloc(n, sizeof *reader->emitters),
                              .way = (tm_kineto_way)units->devices,
                              .owners = TM_KEYS(int64_t)};
    if (!reader->emitters)
        return tm_fail_memory(err);
    for (; reader->n < n; reader->n++) {
        tm_kineto_emitter_init(&reader->emitters[reader->n], &parts[reader->n], names);
        if (tm_keys_add(&reader->owners, &units[reader->n].process) == TM_NO_KEY)
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static void close_reader(kineto_reader *reader) {
    for (size_t k = 0; k < reader->n; k++)
        tm_kineto_emitter_free(&reader->emitters[k]);
    free(reader->emitters);
    tm_keys_free(&reader->owners);
    tm_kineto_named_free(&reader->named);
}

static tm_status finish(tm_part *whole, tm_names *names, tm_error *err) {
    TM_TRY(tm_kineto_judge_devices(whole, names, err));
    TM_TRY(tm_kineto_one_process(whole->trace, names, err));
    TM_TRY(tm_kineto_finish_host(whole, names, err));
    TM_TRY(tm_kineto_name_frames(whole->trace, names, err));
    TM_TRY(finish_metadata(whole, names, err));
    tm_part_finish(whole);
    return TM_OK;
}

static tm_status kineto_finish(tm_part *whole, tm_names *names, tm_error *err) {
    tm_trace *trace = whole->trace;
    if (!tm_kineto_names_ranks(whole, names))
        return finish(whole, names, err);
    /* The file has several ranks. The caller must read them one by one. */
    tm_trace_free(trace);
    memset(trace->counts, 0, sizeof trace->counts);
    trace->is_fused = true;
    return TM_OK;
}

/* Returns the metadata of one rank of a file. A file that was merged from several traces has the
 * metadata of the first one. Its world size applies to all ranks. Its rank and groups do not, and
 * are removed. */
static cJSON *members_of(cJSON *root, const tm_unit *unit) {
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)unit->rank);
    if (unit->devices == TM_KINETO_EXPORT)
        return cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(root, TM_EXPORT_MEMBERS), key);
    cJSON *info = cJSON_GetObjectItemCaseSensitive(root, "distributedInfo");
    cJSON_DeleteItemFromObjectCaseSensitive(info, "rank");
    cJSON_DeleteItemFromObjectCaseSensitive(info, "pg_config");
    return root;
}

/* Replaces the file's metadata by the metadata of one rank. */
static tm_status choose_members(tm_part *whole, const tm_unit *unit, tm_error *err) {
    bool ok = whole->metadata.n > 0 && tm_vec_append(&whole->metadata, "}", 2);
    if (!ok)
        return whole->metadata.n > 0 ? tm_fail_memory(err) : TM_OK;
    *(char *)whole->metadata.data = '{';
    cJSON *root = cJSON_Parse(whole->metadata.data);
    char *text = cJSON_PrintUnformatted(members_of(root, unit));
    whole->metadata.n = 0;
    size_t size = text ? strlen(text) : 0;
    if (size > 2) { /* {"key":...} becomes ,"key":... */
        *text = ',';
        ok = tm_vec_append(&whole->metadata, text, size - 1) != NULL;
    }
    cJSON_free(text);
    cJSON_Delete(root);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Accepts a truncated file if it has any events. */
static tm_status kineto_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    tm_part whole;
    tm_part_init(&whole, out);
    tm_status status = kineto_read_part(source, -1, names, &whole, err);
    if (out->truncated && out->events.n > 0)
        status = TM_OK;
    if (status == TM_OK)
        status = kineto_finish(&whole, names, err);
    tm_part_free(&whole);
    return status;
}

/* Copies the data of the whole file to a rank's part: sets the base time and truncation, adds the
 * counts, and appends the metadata. */
static tm_status take_file(tm_part *part, const tm_part *file, tm_error *err) {
    part->base_ns = file->base_ns;
    part->trace->truncated = file->trace->truncated;
    for (int c = 0; c < TM_N_COUNTS; c++)
        part->trace->counts[c] += file->trace->counts[c];
    bool ok = file->metadata.n == 0 ||
              tm_vec_append(&part->metadata, file->metadata.data, file->metadata.n);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status finish_unit(tm_part *part, const tm_part *file, const tm_unit *unit,
                             tm_names *names, tm_error *err) {
    TM_TRY(take_file(part, file, err));
    TM_TRY(choose_members(part, unit, err));
    return finish(part, names, err);
}

static tm_status kineto_read_units(tm_source *source, const tm_unit *units, size_t n,
                                   tm_names *names, tm_trace *const *out, tm_error *err) {
    kineto_reader reader;
    /* This trace receives the events without a rank. */
    tm_trace own;
    tm_part file, *parts = malloc(n * sizeof *parts);
    bool any = false;
    if (!parts)
        return tm_fail_memory(err);
    tm_trace_init(&own);
    tm_part_init(&file, &own);
    for (size_t k = 0; k < n; k++)
        tm_part_init(&parts[k], out[k]);
    tm_status status = open_reader(&reader, units, n, parts, names, err);
    if (status == TM_OK && reader.way == TM_KINETO_NAME)
        status = tm_kineto_named_read(tm_source_path(source), &reader.named, err);
    if (status == TM_OK)
        status = tm_chrome_read_part(source, &form, -1, &reader, &file, err);
    close_reader(&reader);
    for (size_t k = 0; k < n; k++)
        any = any || out[k]->events.n > 0;
    if (own.truncated && any)
        status = TM_OK;
    for (size_t k = 0; k < n && status == TM_OK; k++)
        status = finish_unit(&parts[k], &file, &units[k], names, err);
    for (size_t k = 0; k < n; k++)
        tm_part_free(&parts[k]);
    tm_part_free(&file);
    tm_trace_free(&own);
    free(parts);
    return status;
}

static tm_status kineto_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                  tm_trace *out, tm_error *err) {
    return kineto_read_units(source, unit, 1, names, &out, err);
}

const tm_format tm_format_kineto = {
    .name = "kineto",
    .summary = "PyTorch profiler traces (Kineto JSON) of any device, plain, gzip or zstd",
    .richer = "a newer PyTorch",
    .sniff = tm_kineto_sniff,
    .read = kineto_read,
    .find_event = tm_kineto_find_event,
    .read_part = kineto_read_part,
    .finish = kineto_finish,
    .peek_rank = tm_kineto_peek_rank,
    .has_units = tm_kineto_has_units,
    .list_units = tm_kineto_list_units,
    .read_unit = kineto_read_unit,
    .read_units = kineto_read_units,
    .units_are_copies = true,
};
