#include "chrome.h"

#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "repair.h"
#include "window.h"

/* Metadata values larger than this are checked but not kept. Only traceEvents is known to be that
 * large. */
enum { METADATA_VALUE_MAX = 16 << 20 };

typedef struct chrome_reader {
    const tm_chrome_form *form; /* borrowed */
    void *context;              /* argument of form->emit */
    tm_window window;
    tm_chrome_event event;
    tm_repair repair; /* repaired copy of the last malformed event or value */
    tm_part *part;    /* borrowed: the result */
    /* offset of the next part's first event; -1: this is the last part */
    int64_t stop;
    /* `between` holds the bytes from the end of an event to the brace of the next event.
     * `between_mask` selects these bytes of a word. */
    uint64_t between, between_mask;
    size_t between_size; /* number of these bytes without the brace; 0: not known yet */
    bool has_events;
    bool arrived; /* the reader reached the stop exactly, between two elements of traceEvents */
    tm_chrome_keys keys; /* last member, because most of it need not be zeroed */
} chrome_reader;

static void count_repairs(chrome_reader *reader) {
    for (int c = 0; c < TM_N_COUNTS; c++)
        reader->part->trace->counts[c] += reader->repair.counts[c];
}

/* Repairs the value at p, which could not be parsed. On failure, returns NULL. The cursor then has
 * the error, or needs more text. */
static const char *repair_value(chrome_reader *reader, const char *p) {
    tm_json_cursor *cursor = &reader->window.cursor, strict = *cursor;
    if (cursor->fail >= cursor->end)
        return NULL;
    const char *end = tm_json_repair(cursor, p, &reader->repair);
    if (!end && cursor->fail < cursor->end)
        *cursor = strict;
    return end;
}

/* Repairs the event at window->p and parses it again; *text becomes the cursor over the repaired
 * text. */
static const char *parse_repaired(chrome_reader *reader, tm_json_cursor *text) {
    tm_json_cursor strict = reader->window.cursor;
    const char *end = repair_value(reader, reader->window.p), *repaired = reader->repair.text.data;
    if (!end)
        return NULL;
    *text = (tm_json_cursor){.end = repaired + reader->repair.size, .final = true};
    if (!reader->window.scanner->event_parse(text, &reader->keys, repaired, &reader->event)) {
        reader->window.cursor = strict;
        return NULL;
    }
    count_repairs(reader);
    reader->part->trace->counts[TM_COUNT_REPAIRED_EVENT]++;
    return end;
}

static tm_status read_event(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    for (;;) {
        tm_json_cursor repaired, *cursor = &window->cursor;
        const char *end =
            reader->window.scanner->event_parse(cursor, &reader->keys, window->p, &reader->event);
        if (!end) {
            end = parse_repaired(reader, &repaired);
            cursor = &repaired;
        }
        if (end) {
            if (!reader->form->emit(reader->context, cursor, &reader->event))
                return tm_fail_memory(err);
            window->p = end;
            return TM_OK;
        }
        if (reader->repair.no_memory)
            return tm_fail_memory(err);
        tm_status status = tm_window_resume(window, window->p, err);
        reader->part->trace->counts[TM_COUNT_CUT_EVENT] += window->ended;
        /* If the event is incomplete, it is read again when the window has more text. */
        TM_TRY(status);
    }
}

/* Skips a closing bracket that follows a comma, and counts the trailing comma. Returns whether
 * there was one. */
static bool is_closed(chrome_reader *reader, char bracket) {
    if (*reader->window.p != bracket)
        return false;
    reader->window.p++;
    reader->part->trace->counts[TM_COUNT_TRAILING_COMMA]++;
    return true;
}

/* Sets `arrived` if the window is exactly at the stop, where this part ends. Fails if the window is
 * beyond the stop. In that case no element starts at the stop, so the next part has read invalid
 * data. */
static tm_status check_stop(chrome_reader *reader, tm_error *err) {
    const tm_window *window = &reader->window;
    int64_t at = window->buffer_offset + (window->p - window->buffer);
    if (reader->stop < 0 || at < reader->stop)
        return TM_OK;
    reader->arrived = at == reader->stop;
    return reader->arrived ? TM_OK
                           : tm_window_fail(&reader->window, window->p,
                                            "the next part does not start with an event", err);
}

/* Returns whether the bytes from the end of an event to the brace of the next event are the same as
 * between the two previous events. These are at most 8 bytes. Bytes after the window are zeros,
 * which no gap contains. */
static inline bool is_between(const chrome_reader *reader, const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return reader->between_size > 0 && (word & reader->between_mask) == reader->between;
}

/* Remembers the bytes between two events.
 * @param after   offset of the end of the previous event, which may have left the window */
static void learn_between(chrome_reader *reader, int64_t after) {
    const tm_window *window = &reader->window;
    int64_t from = after - window->buffer_offset;
    size_t size = (size_t)(window->p - window->buffer - from);
    if (from < 0 || size == 0 || size >= sizeof reader->between || *window->p != '{')
        return;
    reader->between_size = size;
    reader->between_mask = UINT64_MAX >> (56 - 8 * size); /* including the brace */
    memcpy(&reader->between, window->buffer + from, sizeof reader->between);
    reader->between &= reader->between_mask;
}

/* Reads the elements of traceEvents or of a bare array. At the call, window->p is at the first
 * element. */
static tm_status read_elements(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    for (;;) {
        TM_TRY(check_stop(reader, err));
        if (reader->arrived)
            return TM_OK;
        if (*window->p == '{') {
            TM_TRY(read_event(reader, err));
            if (is_between(reader, window->p)) {
                window->p += reader->between_size;
                continue;
            }
        } else {
            TM_TRY(tm_window_skip_value(window, err));
            reader->part->trace->counts[TM_COUNT_NOT_OBJECT]++;
        }
        int64_t after = window->buffer_offset + (window->p - window->buffer);
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
        learn_between(reader, after);
    }
}

/* Reads all of traceEvents; window->p is after the bracket. */
static tm_status read_events(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->has_events = true;
    TM_TRY(tm_window_space(window, err));
    if (*window->p == ']') {
        window->p++;
        return TM_OK;
    }
    return read_elements(reader, err);
}

/* Appends ,"key":value to the metadata text. Key and value are still in the window. */
static tm_status keep_metadata(chrome_reader *reader, const tm_json_text *key, const char *value,
                               size_t size, tm_error *err) {
    tm_vec *metadata = &reader->part->metadata;
    bool ok = tm_vec_append(metadata, ",\"", 2) != NULL, quoted = false;
    for (size_t i = 0; i < key->size && ok; i++) {
        const bool quote = key->bytes[i] == '"' && (i == 0 || key->bytes[i - 1] != '\\');
        quoted = quoted || quote;
        ok = (!quote || tm_vec_append(metadata, "\\", 1)) &&
             tm_vec_append(metadata, key->bytes + i, 1);
    }
    reader->part->trace->counts[TM_COUNT_UNESCAPED_QUOTE] += quoted;
    return ok && tm_vec_append(metadata, "\":", 2) && tm_vec_append(metadata, value, size)
               ? TM_OK
               : tm_fail_memory(err);
}

static bool read_base_time(chrome_reader *reader, const char *text, size_t size) {
    bool number = *text == '-' || (*text >= '0' && *text <= '9');
    int64_t *base_ns = &reader->part->base_ns;
    return number && tm_number_int(text, size, base_ns) && *base_ns >= 0 &&
           *base_ns <= TM_CHROME_TIME_MAX_NS;
}

/* Returns whether the outermost object continues or ends after a string. If not, the string may
 * contain an unescaped quote. If the window ends after the string, returns true only if the content
 * ends there, too. Otherwise the repair asks for more text. */
static bool ends_member(const tm_window *window, const char *end) {
    const char *next = tm_json_space(end);
    if (next >= window->cursor.end)
        return window->cursor.final;
    return *next == ',' || *next == '}';
}

/* Reads a top-level value. The window keeps the text from key->bytes on, and `key` is adjusted when
 * that text moves. A value longer than METADATA_VALUE_MAX is checked but not kept. */
static tm_status read_metadata(chrome_reader *reader, tm_json_text *key, tm_error *err) {
    tm_window *window = &reader->window;
    tm_json_skip_state state = {0};
    const char *keep = key->bytes;
    ptrdiff_t value = window->p - keep;
    bool repaired = false;
    for (;;) {
        const char *resume = window->p;
        const char *end = window->scanner->skip(&window->cursor, window->p, &state, &resume);
        const bool goes_on = !end || !keep || keep[value] != '"' || ends_member(window, end);
        if (!goes_on || (!end && keep && window->cursor.fail < window->cursor.end)) {
            const char *strict = end;
            end = repair_value(reader, keep + value);
            repaired = end != NULL;
            if (!end && window->cursor.fail < window->cursor.end)
                /* The value is valid, so it is kept. The error after it is reported later. */
                end = strict;
            /* If the value is incomplete, it is read again from its start. */
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
        reader->part->trace->counts[TM_COUNT_ODD_METADATA]++;
        return TM_OK;
    }
    key->bytes = keep;
    const char *text = repaired ? reader->repair.text.data : keep + value;
    size_t size = repaired ? reader->repair.size : (size_t)(window->p - text);
    if (repaired)
        count_repairs(reader);
    if (tm_json_is(key, "baseTimeNanoseconds") && !read_base_time(reader, text, size))
        return tm_window_fail(window, keep + value, "baseTimeNanoseconds is not a time", err);
    return keep_metadata(reader, key, text, size, err);
}

/* Moves from the end of a top-level member to the next member, or past the closing brace. Sets
 * *more to whether there is a next member. */
static tm_status end_member(chrome_reader *reader, bool *more, tm_error *err) {
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

/* Reads the members of the outermost object. At the call, window->p is at the first key, if @p more
 * is set. */
static tm_status read_members(chrome_reader *reader, bool more, tm_error *err) {
    tm_window *window = &reader->window;
    while (more) {
        tm_json_text key = {0};
        TM_TRY(tm_window_key(window, &key, err));
        if (*window->p == '[' && tm_json_is(&key, "traceEvents")) {
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

static tm_status read_object(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->part->in_object = true;
    window->p++;
    TM_TRY(tm_window_space(window, err));
    bool empty = *window->p == '}';
    window->p += empty;
    return read_members(reader, !empty, err);
}

static tm_status end_document(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    TM_TRY(tm_window_space(window, err));
    if (window->p < window->cursor.end || !window->cursor.final)
        return tm_window_fail(window, window->p, "something follows the end of the document", err);
    if (!reader->has_events)
        return tm_window_fail(window, window->p, "the document has no traceEvents", err);
    return TM_OK;
}

static tm_status read_start(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    if (memcmp(window->p, "\xEF\xBB\xBF", 3) == 0)
        window->p += 3; /* byte order mark */
    TM_TRY(tm_window_space(window, err));
    if (*window->p == '[') {
        window->p++;
        return read_events(reader, err);
    }
    if (*window->p == '{')
        return read_object(reader, err);
    return tm_window_fail(window, window->p, "a trace must start with { or [", err);
}

/* Reads a part that starts with an event. The text after the last event shows whether the events
 * are in an object or in a bare array. All parts of a file must agree on this. */
static tm_status read_rest(chrome_reader *reader, tm_error *err) {
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

static tm_status read_content(chrome_reader *reader, tm_error *err) {
    tm_window *window = &reader->window;
    reader->part->begin = window->buffer_offset;
    TM_TRY(window->buffer_offset == 0 ? read_start(reader, err) : read_rest(reader, err));
    if (reader->stop < 0)
        TM_TRY(end_document(reader, err));
    else if (!reader->arrived)
        return tm_window_fail(window, window->p, "the events end before the next part starts", err);
    reader->part->end = reader->stop;
    return TM_OK;
}

tm_status tm_chrome_read_part(tm_source *source, const tm_chrome_form *form, int64_t stop,
                              void *context, tm_part *out, tm_error *err) {
    chrome_reader *reader = malloc(sizeof *reader);
    if (!reader)
        return tm_fail_memory(err);
    memset(reader, 0, offsetof(chrome_reader, keys));
    reader->form = form;
    reader->context = context;
    reader->part = out;
    reader->stop = stop;
    tm_chrome_keys_init(&reader->keys, form->fields, form->n_fields);
    reader->keys.quoted_times = form->quoted_times;
    reader->keys.decimals = form->picoseconds ? 6 : 3;
    tm_status status = tm_window_open(source, &reader->window, err);
    if (status == TM_OK) {
        status = read_content(reader, err);
        out->trace->truncated = reader->window.cut || (status != TM_OK && reader->window.ended);
        tm_window_close(&reader->window);
    }
    tm_repair_free(&reader->repair);
    free(reader);
    return status;
}

uint32_t tm_chrome_intern(tm_names *names, tm_vec *scratch, const tm_json_text *text) {
    if (!text->escaped)
        return tm_names_intern(names, text->bytes, text->size);
    if (!tm_vec_reserve(scratch, text->size))
        return TM_NAME_FAILED;
    size_t size = tm_json_decode(text, scratch->data);
    return tm_names_intern(names, scratch->data, size);
}

bool tm_chrome_operator(tm_trace *trace, tm_names *names, tm_vec *scratch,
                        const tm_operator_attr *reported, const tm_json_text *stack) {
    tm_operator_attr added = *reported;
    size_t size = 0, kept = 0;
    if (stack && !tm_vec_reserve(scratch, stack->size + 1))
        return false;
    char *text = scratch->data;
    if (stack)
        size = tm_json_decode(stack, text);
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\r' && text[i] != '\n')
            text[kept++] = text[i];
    added.stack = kept > 0 ? tm_names_intern(names, text, kept) : TM_NO_NAME;
    if (added.sequence < 0 && kept == 0)
        return true;
    return added.stack != TM_NAME_FAILED &&
           tm_vec_append(&trace->attrs[TM_ATTR_OPERATOR], &added, 1);
}

bool tm_chrome_label(tm_vec *labels, tm_names *names, tm_vec *scratch, const tm_chrome_event *event,
                     unsigned name) {
    const tm_json_text *record = &event->name;
    bool named = event->has_name && tm_chrome_has(event, name);
    bool process = named && tm_json_is(record, "process_name");
    bool thread = named && tm_json_is(record, "thread_name");
    if (!process && !thread)
        return true;
    tm_label label = {
        .pid = tm_chrome_intern(names, scratch, &event->pid),
        .tid = tm_chrome_intern(names, scratch, &event->tid),
        .text = tm_chrome_intern(names, scratch, &event->fields[name].text),
        .process = process,
    };
    return label.pid != TM_NAME_FAILED && label.tid != TM_NAME_FAILED &&
           label.text != TM_NAME_FAILED && tm_vec_append(labels, &label, 1);
}
