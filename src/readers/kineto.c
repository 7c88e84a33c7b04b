/* PyTorch profiler (Kineto) traces: JSON of the Chrome trace event form, streamed. */
#include "kineto.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "kineto_emit.h"
#include "number.h"
#include "repair.h"
#include "scanner.h"
#include "window.h"

/* A top-level value beyond this is checked but not kept: only traceEvents is ever that large. */
enum { METADATA_VALUE_MAX = 16 << 20 };

typedef struct kineto_reader {
    tm_window window;
    const tm_scanner *scanner;
    tm_kineto_keys keys;
    tm_kineto_emitter emitter;
    tm_kineto_event event;
    tm_repair repair; /* the event or value that was malformed last */
    tm_vec metadata;  /* of char: {"key":value,...} as it stood, without the events */
    int64_t base_ns;
    bool has_events, has_base;
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
            if (!tm_kineto_emit(&reader->emitter, cursor, &reader->event))
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

/* The elements of traceEvents, or of a bare array; window->p stands behind the bracket. */
static tm_status read_events(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->has_events = true;
    TM_TRY(tm_window_space(window, err));
    if (*window->p == ']') {
        window->p++;
        return TM_OK;
    }
    for (;;) {
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

/* Adds "key":value to the metadata text; both lie in the window. */
static tm_status keep_metadata(kineto_reader *reader, const tm_json_text *key, const char *value,
                               size_t size, tm_error *err) {
    tm_vec *metadata = &reader->metadata;
    const char *lead = metadata->n == 0 ? "{\"" : ",\"";
    if (!tm_vec_append(metadata, lead, 2) || !tm_vec_append(metadata, key->bytes, key->size) ||
        !tm_vec_append(metadata, "\":", 2) || !tm_vec_append(metadata, value, size))
        return tm_fail_memory(err);
    return TM_OK;
}

static bool read_base_time(kineto_reader *reader, const char *text, size_t size) {
    bool number = *text == '-' || (*text >= '0' && *text <= '9');
    reader->has_base = true;
    return number && tm_number_int(text, size, &reader->base_ns) && reader->base_ns >= 0 &&
           reader->base_ns <= TM_KINETO_TIME_MAX_NS;
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

static tm_status read_object(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    window->p++;
    TM_TRY(tm_window_space(window, err));
    if (*window->p == '}') {
        window->p++;
        return TM_OK;
    }
    for (;;) {
        tm_json_text key = {0};
        TM_TRY(read_key(window, &key, err));
        if (*window->p == '[' && key.size == 11 && memcmp(key.bytes, "traceEvents", 11) == 0) {
            window->p++;
            TM_TRY(read_events(reader, err));
        } else {
            TM_TRY(read_metadata(reader, &key, err));
        }
        TM_TRY(tm_window_space(window, err));
        char c = *window->p;
        if (c != ',' && c != '}')
            return tm_window_fail(window, window->p,
                                  window->p < window->cursor.end
                                      ? "a comma or } should follow the value"
                                      : "the file ends inside its outermost object",
                                  err);
        window->p++;
        if (c == '}')
            return TM_OK;
        TM_TRY(tm_window_space(window, err));
        if (is_closed(reader, '}'))
            return TM_OK;
    }
}

static int64_t int_member(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    /* Ranks are far below 2^53, where a double is exact. */
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e15
               ? (int64_t)item->valuedouble
               : -1;
}

/* Keeps the metadata text without its white space, and takes rank, world size and host from it. */
static tm_status finish_metadata(kineto_reader *reader, tm_trace *trace, tm_error *err) {
    tm_names *names = reader->emitter.names;
    if (reader->metadata.n == 0)
        return TM_OK;
    if (!tm_vec_append(&reader->metadata, "}", 2))
        return tm_fail_memory(err);
    cJSON_Minify(reader->metadata.data);
    cJSON *root = cJSON_Parse(reader->metadata.data);
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
    trace->metadata = tm_names_intern_string(names, reader->metadata.data);
    if (trace->host == TM_NAME_FAILED || trace->metadata == TM_NAME_FAILED)
        return tm_fail_memory(err);
    return TM_OK;
}

static tm_status read_content(kineto_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    if (memcmp(window->p, "\xEF\xBB\xBF", 3) == 0)
        window->p += 3; /* a byte order mark: no part of the text */
    TM_TRY(tm_window_space(window, err));
    if (*window->p == '[') {
        window->p++;
        TM_TRY(read_events(reader, err));
    } else if (*window->p == '{') {
        TM_TRY(read_object(reader, err));
    } else {
        return tm_window_fail(window, window->p, "a trace begins with { or [", err);
    }
    TM_TRY(tm_window_space(window, err));
    if (window->p < window->cursor.end || !window->cursor.final)
        return tm_window_fail(window, window->p, "something follows the end of the document", err);
    if (!reader->has_events)
        return tm_window_fail(window, window->p, "the document has no traceEvents", err);
    return TM_OK;
}

/* A text that ends too early gives what it holds, unless that is nothing. */
static tm_status read_document(kineto_reader *reader, tm_trace *trace, tm_error *err) {
    tm_status status = read_content(reader, err);
    trace->truncated = reader->window.cut || (status != TM_OK && reader->window.ended);
    if (!trace->truncated || trace->events.n == 0)
        TM_TRY(status);
    TM_TRY(finish_metadata(reader, trace, err));
    tm_kineto_emit_finish(&reader->emitter, reader->base_ns);
    trace->base_ns = reader->has_base ? reader->base_ns : -1;
    return TM_OK;
}

static tm_status kineto_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    kineto_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tm_fail_memory(err);
    reader->metadata = TM_VEC(char);
    size_t n_scanners;
    const tm_scanner *scanners = tm_scanners(&n_scanners);
    reader->scanner = &scanners[n_scanners - 1];
    tm_kineto_keys_init(&reader->keys);
    tm_kineto_emitter_init(&reader->emitter, out, names);
    tm_status status = tm_window_open(source, &reader->window, err);
    if (status == TM_OK) {
        status = read_document(reader, out, err);
        tm_window_close(&reader->window);
    }
    tm_kineto_emitter_free(&reader->emitter);
    tm_repair_free(&reader->repair);
    tm_vec_free(&reader->metadata);
    free(reader);
    return status;
}

static bool known_key(const tm_json_text *key) {
    static const char *const known[] = {
        "schemaVersion",       "traceEvents",      "deviceProperties", "distributedInfo",
        "baseTimeNanoseconds", "displayTimeUnit",  "trace_id",         "traceName",
        "cupti_version",       "computeProperties"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == key->size && memcmp(known[i], key->bytes, key->size) == 0)
            return true;
    return false;
}

/* Walks the keys of the object at p until one is known, or equals `wanted` where that is given. */
static bool has_key(tm_json_cursor *cursor, const char *p, const char *wanted) {
    tm_json_text key;
    p = tm_json_space(p + 1);
    while (p && *p == '"') {
        p = tm_json_string(cursor, p + 1, &key);
        if (!p)
            return false;
        if (wanted ? key.size == strlen(wanted) && memcmp(key.bytes, wanted, key.size) == 0
                   : known_key(&key))
            return true;
        p = tm_json_space(p);
        if (*p != ':')
            return false;
        p = tm_json_skip_value(cursor, tm_json_space(p + 1));
        if (!p)
            return false;
        p = tm_json_space(p);
        p = *p == ',' ? tm_json_space(p + 1) : NULL;
    }
    return false;
}

/* `head` is followed by TM_JSON_PADDING zero bytes, as tm_file_sniff reads it. */
static bool kineto_sniff(const char *head, size_t size, bool whole) {
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    const char *p = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? head + 3 : head;
    p = tm_json_space(p);
    if (*p == '{') /* a malformed value before the first known key is for the reader to judge */
        return has_key(&cursor, p, NULL) || strstr(head, "\"traceEvents\"");
    if (*p != '[')
        return false;
    p = tm_json_space(p + 1);
    return *p == '{' && has_key(&cursor, p, "ph");
}

static int64_t kineto_peek_rank(const char *head, size_t size) {
    static const char info[] = "\"distributedInfo\"", rank[] = "\"rank\"";
    const char *p = strstr(head, info); /* the zero bytes behind the head end it */
    p = p ? strstr(p, rank) : NULL;
    if (!p || p >= head + size)
        return -1;
    p = tm_json_space(p + sizeof rank - 1);
    if (*p != ':')
        return -1;
    p = tm_json_space(p + 1);
    size_t digits = strspn(p, "0123456789");
    int64_t value;
    return digits > 0 && digits < 16 && tm_number_int(p, digits, &value) ? value : -1;
}

const tm_format tm_format_kineto = {
    .name = "kineto",
    .summary = "PyTorch profiler traces (Kineto JSON), plain, gzip or zstd",
    .sniff = kineto_sniff,
    .read = kineto_read,
    .peek_rank = kineto_peek_rank,
};
