/* Parses one event object of a trace in the Chrome form (JSON). Each format defines the args to
 * keep in a table of fields. */
#ifndef TMERGE_CHROME_EVENT_H
#define TMERGE_CHROME_EVENT_H

#include "gap.h"
#include "json.h"

#if TM_SIMD
#define tm_chrome_keys_init TM_SIMD_NAME(tm_chrome_keys_init)
#define tm_chrome_event_parse TM_SIMD_NAME(tm_chrome_event_parse)
#define tm_chrome_counters TM_SIMD_NAME(tm_chrome_counters)
#endif

enum { TM_CHROME_FIELDS_MAX = 64 }; /* the presence bits of an event are one word */

/** An arg to keep. Keys are compared exactly. */
typedef struct tm_chrome_field {
    uint8_t type; /* tm_chrome_type */
    uint8_t size; /* of the key */
    const char *key;
} tm_chrome_field;

/** INT: also in a string. TEXT: also a number. TRIPLE: three integers in an array. ARRAY: the raw
 * text, brackets included. MAYBE: like TEXT, but other types of values are allowed and ignored. */
typedef enum tm_chrome_type {
    TM_CHROME_INT,
    TM_CHROME_REAL,
    TM_CHROME_TEXT,
    TM_CHROME_TRIPLE,
    TM_CHROME_ARRAY,
    TM_CHROME_MAYBE
} tm_chrome_type;

/** For a table of fields given as a list X(id, type, key): the enum entry and the table row. */
#define TM_CHROME_FIELD_ID(id, type, key) id,
#define TM_CHROME_FIELD_ROW(id, type, key) [id] = {TM_CHROME_##type, sizeof(key) - 1, key},

typedef union tm_chrome_value {
    int64_t i;
    double r;
    tm_json_text text; /* TEXT: a number or a string (Comms Id is either); ARRAY: the raw text,
                          brackets included */
    int32_t triple[3];
} tm_chrome_value;

typedef struct tm_chrome_event {
    char phase; /* 0 if absent or longer than one letter */
    bool has_name, has_category, has_ts, has_duration;
    bool quoted_ts; /* whether ts was in a string */
    int bad_values; /* args whose value does not have the field's type */
    int64_t ts_ns;  /* without the trace's base time; like the duration in ps if the keys say so */
    int64_t duration_ns;
    tm_json_text name, category;
    tm_json_text pid, tid;
    tm_json_text id;     /* of a flow: a number or a string; size 0 if absent */
    const char *args;    /* the object's opening brace, or NULL */
    uint32_t *known_ids; /* by an ARRAY's text.known: the id that the caller interned that text as;
                            0 if the text is new */
    uint64_t present;    /* bit f: fields[f] has a value */
    tm_chrome_value fields[TM_CHROME_FIELDS_MAX];
} tm_chrome_event;

enum { TM_CHROME_GAPS = 512, TM_CHROME_KNOWN = 2048, TM_CHROME_KNOWN_MAX = 128 };

/** A format's keys by hash, and caches of recently seen gaps and of texts of unparsed args. One per
 * reader. */
typedef struct tm_chrome_keys {
    const tm_chrome_field *fields; /* borrowed */
    bool quoted_times;  /* ts and dur may be in strings; otherwise such values are invalid */
    unsigned decimals;  /* of a microsecond: 3 for times in ns, 6 for ps */
    uint8_t slots[256]; /* field + 1, 0 is free */
    tm_gap event_gaps[TM_CHROME_GAPS];
    tm_gap args_gaps[TM_CHROME_GAPS];
    uint8_t known_sizes[TM_CHROME_KNOWN];             /* 0: none */
    uint32_t known_ids[TM_CHROME_KNOWN + 1];          /* index from 1 */
    char known[TM_CHROME_KNOWN][TM_CHROME_KNOWN_MAX]; /* last member: need not be cleared */
} tm_chrome_keys;

/** @param fields  [n] at most TM_CHROME_FIELDS_MAX; borrowed */
void tm_chrome_keys_init(tm_chrome_keys *keys, const tm_chrome_field *fields, int n);

/** Parses the object at @p p (its opening brace), which must be completely in the window. Texts
 * point into the window. */
const char *tm_chrome_event_parse(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                  tm_chrome_event *out);

/** Handles one series of a counter event and its value. Returns false if out of memory. */
typedef bool tm_chrome_series(void *context, const tm_json_text *key, double value);

/** Calls @p each for every number in the args object at @p p: the series of a counter event.
 * @param quoted  also for numbers in strings */
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
