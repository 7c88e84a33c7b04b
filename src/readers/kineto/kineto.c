/* PyTorch profiler (Kineto) traces: JSON of the Chrome trace event form, streamed. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export_mark.h"
#include "kineto_emit.h"
#include "kineto_processes.h"
#include "kineto_sniff.h"
#include "readers/formats.h"
#include "readers/number.h"
#include "readers/repair.h"
#include "readers/window.h"
#include "scanner.h"

/* A top-level value beyond this is checked but not kept: only traceEvents is ever that large. */
enum { METADATA_VALUE_MAX = 16 << 20 };

typedef struct kineto_reader {
    tm_window window;
    const tm_scanner *scanner;
    tm_kineto_keys keys;
    tm_kineto_emitter emitter;
    tm_kineto_event event;
    tm_repair repair; /* the event or value that was malformed last */
    tm_part *part;    /* borrowed: what is read */
    char own[32];     /* what the processes of the rank begin with that is read; "": all are */
    int64_t stop;     /* the byte at which the next part's first event begins; -1: none */
    bool has_events;
    bool arrived; /* exactly at the stop, between two elements of traceEvents */
} kineto_reader;

static void count_repairs(kineto_reader *reader) {
    for (int c = 0; c < TM_N_COUNTS; c++)
        reader->emitter.trace->counts[c] += reader->repair.counts[c];
}

/* Mends the value at p that could not be parsed. NULL where that cannot be done: then the cursor
 * says why the parse failed, or that more of the text is needed to tell. */
static const char *mend(kineto_reader *reader, const char *p) {
    tm_json_cursor *cursor = &reader->window.cursor, strict = *cursor;
    if (cursor->fail >= cursor->end)
        return NULL;
    const char *end = tm_json_repair(cursor, p, &reader->repair);
    if (!end && cursor->fail < cursor->end)
        *cursor = strict;
    return end;
}

/* Mends the event at window->p and parses it again; *text is the cursor over the mended text. */
static const char *parse_mended(kineto_reader *reader, tm_json_cursor *text) {
    tm_json_cursor strict = reader->window.cursor;
    const char *end = mend(reader, reader->window.p), *mended = reader->repair.text.data;
    if (!end)
        return NULL;
    *text = (tm_json_cursor){.end = mended + reader->repair.size, .final = true};
    if (!reader->scanner->event_parse(text, &reader->keys, mended, &reader->event)) {
        reader->window.cursor = strict;
        return NULL;
    }
    count_repairs(reader);
    reader->emitter.trace->counts[TM_COUNT_REPAIRED_EVENT]++;
    return end;
}

/* Of an export of several ranks: whether an event is of the one that is read. Its process is called
 * then as its own trace called it. */
static bool is_own(kineto_reader *reader) {
    size_t size = strlen(reader->own);
    tm_json_text *pid = &reader->event.pid;
    if (pid->size < size || memcmp(pid->bytes, reader->own, size) != 0)
        return false;
    pid->bytes += size;
    pid->size -= size;
    return true;
}

static tm_status read_event(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    for (;;) {
        tm_json_cursor mended, *cursor = &window->cursor;
        const char *end =
            reader->scanner->event_parse(cursor, &reader->keys, window->p, &reader->event);
        if (!end) {
            end = parse_mended(reader, &mended);
            cursor = &mended;
        }
        if (end) {
            if (is_own(reader) && !tm_kineto_emit(&reader->emitter, cursor, &reader->event))
                return tm_fail_memory(err);
            window->p = end;
            return TM_OK;
        }
        if (reader->repair.no_memory)
            return tm_fail_memory(err);
        tm_status status = tm_window_resume(window, window->p, err);
        reader->emitter.trace->counts[TM_COUNT_CUT_EVENT] += window->ended;
        TM_TRY(status); /* else the event is read again as a whole */
    }
}

/* Where the next member of an array or object should stand: true where the bracket that closes it
 * does, behind a comma too many. */
static bool is_closed(kineto_reader *reader, char bracket) {
    if (*reader->window.p != bracket)
        return false;
    reader->window.p++;
    reader->emitter.trace->counts[TM_COUNT_TRAILING_COMMA]++;
    return true;
}

/* True where this part ends, at the start of an element. What begins behind the stop shows that
 * the stop is no element's start: then nothing that was read from there on counts. */
static tm_status check_stop(kineto_reader *reader, tm_error *err) {
    const tm_window *window = &reader->window;
    int64_t at = window->buffer_offset + (window->p - window->buffer);
    if (reader->stop < 0 || at < reader->stop)
        return TM_OK;
    reader->arrived = at == reader->stop;
    return reader->arrived ? TM_OK
                           : tm_window_fail(&reader->window, window->p,
                                            "the next part does not begin with an event", err);
}

/* Elements of traceEvents, or of a bare array; window->p stands at the first. */
static tm_status read_elements(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    for (;;) {
        TM_TRY(check_stop(reader, err));
        if (reader->arrived)
            return TM_OK;
        if (*window->p == '{') {
            TM_TRY(read_event(reader, err));
        } else {
            TM_TRY(tm_window_skip_value(window, err));
            reader->emitter.trace->counts[TM_COUNT_NOT_OBJECT]++;
        }
        TM_TRY(tm_window_space(window, err));
        char c = *window->p;
        if (c != ',' && c != ']')
            return window->p < window->cursor.end
                       ? tm_window_fail(window, window->p, "a comma or ] should follow the event",
                                        err)
                       : tm_window_fail(window, window->p, "the file ends inside traceEvents", err);
        window->p++;
        if (c == ']')
            return TM_OK;
        TM_TRY(tm_window_space(window, err));
        if (is_closed(reader, ']'))
            return TM_OK;
    }
}

/* All of traceEvents; window->p stands behind the bracket. */
static tm_status read_events(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->has_events = true;
    TM_TRY(tm_window_space(window, err));
    if (*window->p == ']') {
        window->p++;
        return TM_OK;
    }
    return read_elements(reader, err);
}

/* Adds ,"key":value to the metadata text; both lie in the window. */
static tm_status keep_metadata(kineto_reader *reader, const tm_json_text *key, const char *value,
                               size_t size, tm_error *err) {
    tm_vec *metadata = &reader->part->metadata;
    if (!tm_vec_append(metadata, ",\"", 2) || !tm_vec_append(metadata, key->bytes, key->size) ||
        !tm_vec_append(metadata, "\":", 2) || !tm_vec_append(metadata, value, size))
        return tm_fail_memory(err);
    return TM_OK;
}

static bool read_base_time(kineto_reader *reader, const char *text, size_t size) {
    bool number = *text == '-' || (*text >= '0' && *text <= '9');
    int64_t *base_ns = &reader->part->base_ns;
    return number && tm_number_int(text, size, base_ns) && *base_ns >= 0 &&
           *base_ns <= TM_KINETO_TIME_MAX_NS;
}

/* A top-level value: [key->bytes, window->p) stays in the window while it is read. `key` is moved
 * along. Over METADATA_VALUE_MAX the value is only checked. */
static tm_status read_metadata(kineto_reader *reader, tm_json_text *key, tm_error *err) {
    tm_window *window = &reader->window;
    tm_json_skip_state state = {0};
    const char *keep = key->bytes;
    ptrdiff_t value = window->p - keep;
    bool mended = false;
    for (;;) {
        const char *resume = window->p;
        const char *end = tm_json_skip(&window->cursor, window->p, &state, &resume);
        if (!end && keep && window->cursor.fail < window->cursor.end) {
            end = mend(reader, keep + value);
            mended = end != NULL;
            /* Where more of the text is needed, the value is read again as a whole. */
            state = (tm_json_skip_state){0};
            resume = keep + value;
        }
        if (end) {
            window->p = end;
            break;
        }
        if (reader->repair.no_memory)
            return tm_fail_memory(err);
        if (keep && resume - keep > METADATA_VALUE_MAX)
            keep = NULL;
        ptrdiff_t ahead = keep ? resume - keep : 0;
        TM_TRY(tm_window_resume(window, keep ? keep : resume, err));
        keep = keep ? window->p : NULL;
        window->p += ahead;
    }
    if (!keep) {
        reader->emitter.trace->counts[TM_COUNT_ODD_METADATA]++;
        return TM_OK;
    }
    key->bytes = keep;
    const char *text = mended ? reader->repair.text.data : keep + value;
    size_t size = mended ? reader->repair.size : (size_t)(window->p - text);
    if (mended)
        count_repairs(reader);
    if (key->size == 19 && memcmp(key->bytes, "baseTimeNanoseconds", 19) == 0 &&
        !read_base_time(reader, text, size))
        return tm_window_fail(window, keep + value, "baseTimeNanoseconds is no time", err);
    return keep_metadata(reader, key, text, size, err);
}

/* A key, its colon and the start of its value; *key points into the window. */
static tm_status read_key(tm_window *window, tm_json_text *key, tm_error *err) {
    for (;;) {
        const char *p = window->p;
        if (*p != '"' && p < window->cursor.end)
            return tm_window_fail(window, p, "a key should stand here", err);
        p = *p == '"' ? tm_json_string(&window->cursor, p + 1, key)
                      : tm_json_fail(&window->cursor, p, "a key should stand here");
        if (p) {
            p = tm_json_space(p);
            if (*p != ':')
                p = tm_json_fail(&window->cursor, p, "a colon should follow the key");
        }
        if (p) {
            p = tm_json_space(p + 1);
            if (*p) {
                window->p = p;
                return TM_OK;
            }
            (void)tm_json_fail(&window->cursor, p, "a value should stand here");
        }
        TM_TRY(tm_window_resume(window, window->p, err));
    }
}

/* Behind a member of the outermost object: at the next one (*more), or behind the closing brace. */
static tm_status end_member(kineto_reader *reader, bool *more, tm_error *err) {
    tm_window *window = &reader->window;
    TM_TRY(tm_window_space(window, err));
    char c = *window->p;
    if (c != ',' && c != '}')
        return tm_window_fail(window, window->p,
                              window->p < window->cursor.end
                                  ? "a comma or } should follow the value"
                                  : "the file ends inside its outermost object",
                              err);
    window->p++;
    *more = c == ',';
    if (!*more)
        return TM_OK;
    TM_TRY(tm_window_space(window, err));
    *more = !is_closed(reader, '}');
    return TM_OK;
}

/* Members of the outermost object; window->p stands at the first key where there are more. */
static tm_status read_members(kineto_reader *reader, bool more, tm_error *err) {
    tm_window *window = &reader->window;
    while (more) {
        tm_json_text key = {0};
        TM_TRY(read_key(window, &key, err));
        if (*window->p == '[' && key.size == 11 && memcmp(key.bytes, "traceEvents", 11) == 0) {
            window->p++;
            TM_TRY(read_events(reader, err));
            if (reader->arrived)
                return TM_OK;
        } else {
            TM_TRY(read_metadata(reader, &key, err));
        }
        TM_TRY(end_member(reader, &more, err));
    }
    return TM_OK;
}

static tm_status read_object(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->part->in_object = true;
    window->p++;
    TM_TRY(tm_window_space(window, err));
    bool empty = *window->p == '}';
    window->p += empty;
    return read_members(reader, !empty, err);
}

static int64_t int_member(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    /* Ranks are far below 2^53, where a double is exact. */
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e15
               ? (int64_t)item->valuedouble
               : -1;
}

/* Keeps the metadata text without its white space, and takes rank, world size and host from it. */
static tm_status finish_metadata(tm_part *whole, tm_names *names, tm_error *err) {
    tm_trace *trace = whole->trace;
    if (whole->metadata.n == 0)
        return TM_OK;
    if (!tm_vec_append(&whole->metadata, "}", 2))
        return tm_fail_memory(err);
    char *text = whole->metadata.data;
    *text = '{'; /* in the place of the first comma */
    cJSON_Minify(text);
    cJSON *root = cJSON_Parse(text);
    if (!root) /* its grammar was checked, but cJSON takes no lone surrogates */
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
    trace->metadata = tm_names_intern_string(names, text);
    if (trace->host == TM_NAME_FAILED || trace->metadata == TM_NAME_FAILED)
        return tm_fail_memory(err);
    return TM_OK;
}

static tm_status end_document(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    TM_TRY(tm_window_space(window, err));
    if (window->p < window->cursor.end || !window->cursor.final)
        return tm_window_fail(window, window->p, "something follows the end of the document", err);
    if (!reader->has_events)
        return tm_window_fail(window, window->p, "the document has no traceEvents", err);
    return TM_OK;
}

/* From the start of the document. */
static tm_status read_start(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    if (memcmp(window->p, "\xEF\xBB\xBF", 3) == 0)
        window->p += 3; /* a byte order mark: no part of the text */
    TM_TRY(tm_window_space(window, err));
    if (*window->p == '[') {
        window->p++;
        return read_events(reader, err);
    }
    if (*window->p == '{')
        return read_object(reader, err);
    return tm_window_fail(window, window->p, "a trace begins with { or [", err);
}

/* From an event on. Whether traceEvents stand in an object is only known from what follows them:
 * where that is not what the first part found, the parts do not fit together. */
static tm_status read_rest(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    bool more = false;
    reader->has_events = true;
    TM_TRY(read_elements(reader, err));
    if (reader->stop >= 0)
        return TM_OK;
    TM_TRY(tm_window_space(window, err));
    if (window->p == window->cursor.end && window->cursor.final)
        return TM_OK;
    reader->part->in_object = true;
    TM_TRY(end_member(reader, &more, err));
    return read_members(reader, more, err);
}

static tm_status read_content(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->part->begin = window->buffer_offset;
    TM_TRY(window->buffer_offset == 0 ? read_start(reader, err) : read_rest(reader, err));
    if (reader->stop < 0)
        TM_TRY(end_document(reader, err));
    else if (!reader->arrived)
        return tm_window_fail(window, window->p, "the events end before the next part begins", err);
    reader->part->end = reader->stop;
    return TM_OK;
}

/* @p own  as in kineto_reader */
static tm_status read_part(tm_source *source, int64_t stop, const char *own, tm_names *names,
                           tm_part *out, tm_error *err) {
    kineto_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tm_fail_memory(err);
    reader->part = out;
    reader->stop = stop;
    snprintf(reader->own, sizeof reader->own, "%s", own);
    size_t n_scanners;
    const tm_scanner *scanners = tm_scanners(&n_scanners);
    reader->scanner = &scanners[n_scanners - 1];
    tm_kineto_keys_init(&reader->keys);
    tm_kineto_emitter_init(&reader->emitter, out, names);
    tm_status status = tm_window_open(source, &reader->window, err);
    if (status == TM_OK) {
        status = read_content(reader, err);
        out->trace->truncated = reader->window.cut || (status != TM_OK && reader->window.ended);
        tm_window_close(&reader->window);
    }
    tm_kineto_emitter_free(&reader->emitter);
    tm_repair_free(&reader->repair);
    free(reader);
    return status;
}

static tm_status kineto_read_part(tm_source *source, int64_t stop, tm_names *names, tm_part *out,
                                  tm_error *err) {
    return read_part(source, stop, "", names, out, err);
}

static tm_status kineto_finish(tm_part *whole, tm_names *names, tm_error *err) {
    TM_TRY(tm_kineto_one_process(whole->trace, names, err));
    TM_TRY(finish_metadata(whole, names, err));
    tm_part_finish(whole);
    return TM_OK;
}

/* Puts what an export says of one of its ranks in the place of what it says of itself. */
static tm_status choose_members(tm_part *whole, int64_t rank, tm_error *err) {
    char key[24];
    bool ok = whole->metadata.n > 0 && tm_vec_append(&whole->metadata, "}", 2);
    snprintf(key, sizeof key, "%lld", (long long)rank);
    if (!ok)
        return whole->metadata.n > 0 ? tm_fail_memory(err) : TM_OK;
    *(char *)whole->metadata.data = '{';
    cJSON *root = cJSON_Parse(whole->metadata.data);
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(root, TM_EXPORT_MEMBERS);
    char *text = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(all, key));
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

/* A text that ends too early gives what it holds, unless that is nothing. */
static tm_status read_whole(tm_source *source, const tm_unit *unit, tm_names *names, tm_trace *out,
                            tm_error *err) {
    tm_part whole;
    char own[32] = "";
    if (unit)
        snprintf(own, sizeof own, TM_EXPORT_PROCESS, (long long)unit->rank);
    tm_part_init(&whole, out);
    tm_status status = read_part(source, -1, own, names, &whole, err);
    if (out->truncated && out->events.n > 0)
        status = TM_OK;
    if (status == TM_OK && unit)
        status = choose_members(&whole, unit->rank, err);
    if (status == TM_OK)
        status = kineto_finish(&whole, names, err);
    tm_part_free(&whole);
    return status;
}

static tm_status kineto_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return read_whole(source, NULL, names, out, err);
}

static tm_status kineto_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                  tm_trace *out, tm_error *err) {
    return read_whole(source, unit, names, out, err);
}

const tm_format tm_format_kineto = {
    .name = "kineto",
    .summary = "PyTorch profiler traces (Kineto JSON), plain, gzip or zstd",
    .sniff = tm_kineto_sniff,
    .read = kineto_read,
    .find_event = tm_kineto_find_event,
    .read_part = kineto_read_part,
    .finish = kineto_finish,
    .peek_rank = tm_kineto_peek_rank,
    .has_units = tm_kineto_has_units,
    .list_units = tm_kineto_list_units,
    .read_unit = kineto_read_unit,
};
