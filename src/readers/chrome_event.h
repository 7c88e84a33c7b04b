/* One event object of a trace of the Chrome form (JSON), from bytes to fields. What a format keeps
 * of an event's args is its own: a table of fields. */
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

/** An arg that is kept. Keys are compared exactly as profilers write them. */
typedef struct tm_chrome_field {
    uint8_t type; /* tm_chrome_type */
    uint8_t size; /* of the key */
    const char *key;
} tm_chrome_field;

/** INT: also one in a string. TEXT: a number, too. TRIPLE: three integers in an array. ARRAY: the
 * brackets and what is between them, as it stands. MAYBE: a TEXT, unless another event writes
 * another thing by that key. */
typedef enum tm_chrome_type {
    TM_CHROME_INT,
    TM_CHROME_REAL,
    TM_CHROME_TEXT,
    TM_CHROME_TRIPLE,
    TM_CHROME_ARRAY,
    TM_CHROME_MAYBE
} tm_chrome_type;

/** For a table of fields from a list of rows X(id, type, key): the enum's entry, and the table's.
 */
#define TM_CHROME_FIELD_ID(id, type, key) id,
#define TM_CHROME_FIELD_ROW(id, type, key) [id] = {TM_CHROME_##type, sizeof(key) - 1, key},

typedef union tm_chrome_value {
    int64_t i;
    double r;
    tm_json_text text; /* a number or string where a TEXT is wanted: Comms Id is either; the
                        * brackets and what is between them where an ARRAY is */
    int32_t triple[3];
} tm_chrome_value;

typedef struct tm_chrome_event {
    char phase; /* 0 where absent or longer than a letter */
    bool has_name, has_category, has_ts, has_duration;
    bool quoted_ts; /* it stood in a string */
    int bad_values; /* args whose value has not the type of the field */
    int64_t ts_ns;  /* without the trace's base time; like the next in ps where the keys say so */
    int64_t duration_ns;
    tm_json_text name, category;
    tm_json_text pid, tid;
    tm_json_text id;     /* of a flow: a number or a string; size 0 where there is none */
    const char *args;    /* the object's opening brace, or NULL */
    uint32_t *known_ids; /* by ARRAY's text.known: whoever interns that text may keep its id there,
                          * which is 0 where the text is new */
    uint64_t present;    /* bit f: fields[f] holds a value */
    tm_chrome_value fields[TM_CHROME_FIELDS_MAX];
} tm_chrome_event;

enum { TM_CHROME_GAPS = 512, TM_CHROME_KNOWN = 2048, TM_CHROME_KNOWN_MAX = 128 };

/** A format's keys by hash, and what was seen last by what came before it: gaps, and the texts of
 * strings and arrays of args that are not taken apart. One for each reader. */
typedef struct tm_chrome_keys {
    const tm_chrome_field *fields; /* borrowed */
    bool quoted_times;             /* ts and dur may stand in strings, else such are none */
    unsigned decimals;             /* of a microsecond: 3 for times in ns, 6 for ps */
    uint8_t slots[256];            /* field + 1, 0 is free */
    tm_gap event_gaps[TM_CHROME_GAPS];
    tm_gap args_gaps[TM_CHROME_GAPS];
    uint8_t known_sizes[TM_CHROME_KNOWN];             /* 0: none */
    uint32_t known_ids[TM_CHROME_KNOWN + 1];          /* from 1 on */
    char known[TM_CHROME_KNOWN][TM_CHROME_KNOWN_MAX]; /* the last member: need not be cleared */
} tm_chrome_keys;

/** @param fields  [n] at most TM_CHROME_FIELDS_MAX; borrowed */
void tm_chrome_keys_init(tm_chrome_keys *keys, const tm_chrome_field *fields, int n);

/**
 * Parses the object at @p p (its opening brace), which must lie in the window.
 * Texts point into the window.
 */
const char *tm_chrome_event_parse(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                  tm_chrome_event *out);

/** A series of a counter event, and its value. False when memory is out. */
typedef bool tm_chrome_series(void *context, const tm_json_text *key, double value);

/** Calls @p each for every number in the args object at @p p: the series of a counter event.
 * @param quoted  also for numbers in strings */
const char *tm_chrome_counters(tm_json_cursor *cursor, const char *p, bool quoted,
                               tm_chrome_series *each, void *context);

static inline bool tm_chrome_has(const tm_chrome_event *event, unsigned field) {
    return event->present >> field & 1;
}

/** An INT field, or @p missing where the event does not have it. */
static inline int64_t tm_chrome_int(const tm_chrome_event *event, unsigned field, int64_t missing) {
    return tm_chrome_has(event, field) ? event->fields[field].i : missing;
}

#endif
