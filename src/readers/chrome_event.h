/* Parses one event object of a trace in the Chrome form (JSON). Each format has a table of the args
 * that it keeps (fields). */
#ifndef TMERGE_CHROME_EVENT_H
#define TMERGE_CHROME_EVENT_H

#include "gap.h"
#include "json.h"

#if TM_SIMD
#define tm_chrome_keys_init TM_SIMD_NAME(tm_chrome_keys_init)
#define tm_chrome_event_parse TM_SIMD_NAME(tm_chrome_event_parse)
#define tm_chrome_counters TM_SIMD_NAME(tm_chrome_counters)
#endif

enum { TM_CHROME_FIELDS_MAX = 64 }; /* one word has a bit for each field of an event */

/** An arg to keep. The key in the trace must equal `key` byte by byte. */
typedef struct tm_chrome_field {
    uint8_t type; /* tm_chrome_type */
    uint8_t size; /* size of `key` */
    const char *key;
} tm_chrome_field;

/**
 * Types of values:
 * - INT: an integer, which may be in a string
 * - TEXT: a string or a number
 * - TRIPLE: three integers in an array
 * - ARRAY: the text of an array, with its brackets
 * - MAYBE: like TEXT, but a value of another type is ignored and not counted as bad
 */
typedef enum tm_chrome_type {
    TM_CHROME_INT,
    TM_CHROME_REAL,
    TM_CHROME_TEXT,
    TM_CHROME_TRIPLE,
    TM_CHROME_ARRAY,
    TM_CHROME_MAYBE
} tm_chrome_type;

/** For a list of fields X(id, type, key). The first macro makes the entry of the enum, the second
 * makes the row of the table. */
#define TM_CHROME_FIELD_ID(id, type, key) id,
#define TM_CHROME_FIELD_ROW(id, type, key) [id] = {TM_CHROME_##type, sizeof(key) - 1, key},

typedef union tm_chrome_value {
    int64_t i;
    double r;
    tm_json_text text; /* TEXT: a number or a string (Comms Id may be either); ARRAY: the text with
                          its brackets */
    int32_t triple[3];
} tm_chrome_value;

typedef struct tm_chrome_event {
    char phase; /* 0 if absent or longer than one letter */
    bool has_name, has_category, has_ts, has_duration;
    bool quoted_ts; /* whether ts was a string */
    int bad_values; /* number of args whose value does not have the field's type */
    int64_t ts_ns;  /* relative to the trace's base time [ns; ps if keys->decimals is 6] */
    int64_t duration_ns;
    tm_json_text name, category;
    tm_json_text pid, tid;
    tm_json_text id;  /* id of a flow: a number or a string; size 0 if absent */
    const char *args; /* the opening brace of the args, or NULL */
    /* Name ids of the texts of ARRAY fields, set by the caller: known_ids[text.known] is the id of
     * `text`; 0: not set yet. */
    uint32_t *known_ids;
    uint64_t present; /* bit f is set if the event has a value for fields[f] */
    tm_chrome_value fields[TM_CHROME_FIELDS_MAX];
} tm_chrome_event;

enum { TM_CHROME_GAPS = 512, TM_CHROME_KNOWN = 2048, TM_CHROME_KNOWN_MAX = 128 };

/** A hash table of the keys of a format. It also caches recent gaps, and recent texts that are
 * skipped without parsing. Each reader has its own. */
typedef struct tm_chrome_keys {
    const tm_chrome_field *fields; /* borrowed */
    bool quoted_times;  /* ts and dur may be numbers in quotes; otherwise such values are bad */
    unsigned decimals;  /* decimals of a microsecond: 3 for times in ns, 6 in ps */
    uint8_t slots[256]; /* 1 + index of the field whose key has this hash; 0 if there is none */
    tm_gap event_gaps[TM_CHROME_GAPS];
    tm_gap args_gaps[TM_CHROME_GAPS];
    uint8_t known_sizes[TM_CHROME_KNOWN];    /* 0: the slot is empty */
    uint32_t known_ids[TM_CHROME_KNOWN + 1]; /* [1 + cache slot] */
    /* last member, because it need not be zeroed */
    char known[TM_CHROME_KNOWN][TM_CHROME_KNOWN_MAX];
} tm_chrome_keys;

/** @param fields  [n] at most TM_CHROME_FIELDS_MAX; borrowed */
void tm_chrome_keys_init(tm_chrome_keys *keys, const tm_chrome_field *fields, int n);

/** Parses the object whose opening brace is at @p p. The whole object must be in the window,
 * because the event's texts point into the window. */
const char *tm_chrome_event_parse(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                  tm_chrome_event *out);

/** Handles one series of a counter event and its value. Returns false if out of memory. */
typedef bool tm_chrome_series(void *context, const tm_json_text *key, double value);

/**
 * Calls @p each for every number in the args object at @p p. The args of a counter event contain
 * one number for each series.
 * @param quoted  numbers in strings count, too
 */
const char *tm_chrome_counters(tm_json_cursor *cursor, const char *p, bool quoted,
                               tm_chrome_series *each, void *context);

static inline bool tm_chrome_has(const tm_chrome_event *event, unsigned field) {
    return event->present >> field & 1;
}

/** Returns an INT field, or @p missing if the event does not have it. */
static inline int64_t tm_chrome_int(const tm_chrome_event *event, unsigned field, int64_t missing) {
    return tm_chrome_has(event, field) ? event->fields[field].i : missing;
}

#endif
