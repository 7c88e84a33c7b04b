/* Pickles of plain data: dicts, lists, tuples, texts and numbers. Nothing of a pickle is ever run:
 * of what its machine can do, only what makes such data is known here, and all else is refused. */
#ifndef TMERGE_PICKLE_H
#define TMERGE_PICKLE_H

#include <stdbool.h>

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/source.h"

typedef enum tm_pickle_type {
    TM_PICKLE_NONE,
    TM_PICKLE_BOOL,
    TM_PICKLE_INT,
    TM_PICKLE_REAL,
    TM_PICKLE_TEXT,
    TM_PICKLE_LIST, /* or a tuple */
    TM_PICKLE_DICT
} tm_pickle_type;

typedef struct tm_pickle_value {
    union {
        int64_t i; /* also of a bool */
        double r;
        uint32_t id; /* of a text, in texts; of a container, in containers */
    } as;
    tm_pickle_type type;
} tm_pickle_value;

typedef struct tm_pickle {
    tm_names *texts;   /* owned */
    tm_vec containers; /* of tm_pickle_run: what lists and dicts hold. Two values may share one, and
                        * one may hold itself. */
    tm_vec items;      /* of tm_pickle_value; of a dict key, value, key, value, ... */
    tm_pickle_value root; /* what the pickle is of */
} tm_pickle;

/** Where a container's items stand in items. */
typedef struct tm_pickle_run {
    size_t first, n, room;
} tm_pickle_run;

/**
 * Reads one pickle, of any protocol, and nothing behind it.
 * @param out  free it with tm_pickle_free, whatever comes of the call
 * @return     TM_OK; TM_ERR_INPUT (an instruction that plain data do not need, one on the wrong
 *             values, the end of the file, over 2^26 values; the offset is that of the
 *             instruction); TM_ERR_FAULT
 */
tm_status tm_pickle_read(tm_source *source, tm_pickle *out, tm_error *err) TM_MUST_CHECK;

/**
 * The same, but a pickle that was cut short is read as far as it goes: what was still open holds
 * what had come by then.
 * @param cut  set on TM_OK
 */
tm_status tm_pickle_read_cut(tm_source *source, tm_pickle *out, bool *cut,
                             tm_error *err) TM_MUST_CHECK;

/** Makes an empty one, for who reads the same values from elsewhere. False when memory is out. */
bool tm_pickle_init(tm_pickle *out);

/** A new container of these @p n items, which are copied. False when memory is out. */
bool tm_pickle_make(tm_pickle *pickle, tm_pickle_type type, const tm_pickle_value *items, size_t n,
                    tm_pickle_value *out) TM_MUST_CHECK;
void tm_pickle_free(tm_pickle *pickle);

/** The items of a list or tuple; none of another value. */
const tm_pickle_value *tm_pickle_items(const tm_pickle *pickle, const tm_pickle_value *value,
                                       size_t *n);

/** The keys and values of a dict, one after the other: @p n is twice its size. */
const tm_pickle_value *tm_pickle_members(const tm_pickle *pickle, const tm_pickle_value *value,
                                         size_t *n);

/** What a dict has under a key, the last of equals; NULL where it does not, and of what is none. */
const tm_pickle_value *tm_pickle_get(const tm_pickle *pickle, const tm_pickle_value *value,
                                     const char *key);

/** The integer under a key; @p missing where there is none, or of another type. */
int64_t tm_pickle_int(const tm_pickle *pickle, const tm_pickle_value *value, const char *key,
                      int64_t missing);

/** The text under a key; "" where there is none. */
const char *tm_pickle_text(const tm_pickle *pickle, const tm_pickle_value *value, const char *key);

#endif
