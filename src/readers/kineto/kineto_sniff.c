#include "kineto_sniff.h"

#include <stdlib.h>

#include "base/export_mark.h"
#include "base/vec.h"
#include "kineto_event.h"
#include "kineto_fused.h"
#include "readers/number.h"
#include "readers/window.h"
#include "tmerge/reader.h"

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

/* Returns whether the object at p has the key @p wanted. If @p wanted is NULL, returns whether it
 * has a key that only Kineto writes. */
static bool has_key(tm_json_cursor *cursor, const char *p, const char *wanted) {
    tm_json_text key;
    p = tm_json_space(p + 1);
    while (p && *p == '"') {
        p = tm_json_string(cursor, p + 1, &key);
        if (!p)
            return false;
        if (wanted ? tm_json_is(&key, wanted) : known_key(&key))
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

/* @p head must be followed by TM_JSON_PADDING zero bytes. tm_file_sniff appends them. */
bool tm_kineto_sniff(const char *head, size_t size, bool whole) {
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    const char *p = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? head + 3 : head;
    p = tm_json_space(p);
    /* the value before the first known key is malformed; the reader will report this */
    if (*p == '{')
        return has_key(&cursor, p, NULL) || strstr(head, "\"traceEvents\"");
    if (*p != '[')
        return false;
    p = tm_json_space(p + 1);
    return *p == '{' && has_key(&cursor, p, "ph");
}

int64_t tm_kineto_peek_rank(const char *head, size_t size) {
    static const char info[] = "\"distributedInfo\"", rank[] = "\"rank\"";
    const char *p = strstr(head, info); /* zero bytes follow the head: they end the search */
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

#define RANKS_FIRST TM_EXPORT_FIRST "\"" TM_EXPORT_RANKS "\": ["

bool tm_kineto_has_units(const char *head, size_t size) {
    return tm_kineto_way_of(head, size, size < TM_SNIFF_BYTES) != TM_KINETO_ALONE;
}

/* @p head is zero-terminated. */
static tm_status list_ranks(const char *head, const char *path, tm_vec *units, tm_error *err) {
    const char *p = head + strlen(RANKS_FIRST);
    for (;;) {
        tm_unit unit = {.devices = TM_KINETO_EXPORT, .clock_ns = -1};
        size_t digits = strspn(p, "0123456789");
        if (digits == 0 || digits > 9 || !tm_number_int(p, digits, &unit.rank))
            return tm_fail(err, TM_ERR_INPUT, path, p - head,
                           "the list tmerge_ranks is damaged: a rank should be here");
        unit.process = unit.reported = unit.rank;
        if (!tm_vec_append(units, &unit, 1))
            return tm_fail_memory(err);
        p += digits;
        if (strncmp(p, ", ", 2) != 0)
            return TM_OK;
        p += 2;
    }
}

/* Read errors are ignored here, because the reader will report them. */
tm_status tm_kineto_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                               tm_error *err) {
    char *head = calloc(1, TM_SNIFF_BYTES + TM_JSON_PADDING);
    size_t n = 1, size = 0;
    tm_error unread;
    (void)known;
    (void)foreign;
    if (!head)
        return tm_fail_memory(err);
    for (; size < TM_SNIFF_BYTES && n > 0; size += n)
        if (tm_source_read(source, head + size, TM_SNIFF_BYTES - size, &n, &unread) != TM_OK)
            n = 0;
    tm_kineto_way way = tm_kineto_way_of(head, size, size < TM_SNIFF_BYTES);
    tm_status status = TM_OK;
    if (way == TM_KINETO_EXPORT)
        status = list_ranks(head, tm_source_path(source), units, err);
    else
        status = tm_kineto_list_fused(tm_source_path(source), way, units, err);
    free(head);
    return status;
}

/* Returns whether the object at p follows a comma or a bracket, or the window starts with it. */
static bool follows_comma(const tm_window *window, const char *p) {
    while (p > window->buffer && (p[-1] == ' ' || p[-1] == '\n' || p[-1] == '\r' || p[-1] == '\t'))
        p--;
    return p == window->buffer || p[-1] == ',' || p[-1] == '[';
}

/* Searches for the start of an event. This is a guess, because the match may be inside a string or
 * in the arguments of another event. */
static int64_t find_event(tm_window *window, tm_chrome_keys *keys) {
    tm_kineto_event event;
    const char *p = window->p, *end = window->cursor.end;
    while ((p = memchr(p, '{', (size_t)(end - p)))) {
        const char *after = NULL;
        if (follows_comma(window, p))
            after = window->scanner->event_parse(&window->cursor, keys, p, &event);
        if (after && event.phase && event.has_ts) {
            after = tm_json_space(after);
            if (*after == ',' || *after == ']')
                return window->buffer_offset + (p - window->buffer);
        }
        p++;
    }
    return -1;
}

/* Only one window is searched. If no event starts in it, the trace is not divided here. */
tm_status tm_kineto_find_event(tm_source *source, int64_t *offset, tm_error *err) {
    tm_window window;
    tm_chrome_keys *keys = malloc(sizeof *keys);
    tm_status status = keys ? tm_window_open(source, &window, err) : tm_fail_memory(err);
    if (status == TM_OK) {
        tm_chrome_keys_init(keys, tm_kineto_fields, N_FIELDS);
        *offset = find_event(&window, keys);
        tm_window_close(&window);
    }
    free(keys);
    return status;
}
