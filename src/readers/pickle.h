/* Reads pickles of plain data: dicts, lists, tuples, texts and numbers. Nothing in a pickle is
 * executed: only the opcodes that build such data are accepted. */
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
    TM_PICKLE_LIST, /* a list or a tuple */
    TM_PICKLE_DICT
} tm_pickle_type;

typedef struct tm_pickle_value {
    union {
        int64_t i; /* an integer or a bool */
        double r;
        uint32_t id; /* for a text, its id in `texts`; for a container, its index in `containers` */
    } as;
    tm_pickle_type type;
} tm_pickle_value;

/** The items of a container: n elements of `items`, from index `first` on. */
typedef struct tm_pickle_run {
    size_t first, n, room;
} tm_pickle_run;

typedef struct tm_pickle {
    tm_names *texts; /* owned */
    /* vector of tm_pickle_run: the items of each list or dict. Two values may share one container,
     * and a container may contain itself. */
    tm_vec containers;
    /* vector of tm_pickle_value. The items of a dict alternate: key, value, key, value, ... */
    tm_vec items;
    tm_pickle_value root; /* the pickled value */
    tm_vec stack,
        memo; /* vector of tm_pickle_value. The reader keeps this memory for the next pickle. */
} tm_pickle;

/** A pickle that holds nothing. */
#define TM_PICKLE                                                                                  \
    ((tm_pickle){.containers = TM_VEC(tm_pickle_run),                                              \
                 .items = TM_VEC(tm_pickle_value),                                                 \
                 .stack = TM_VEC(tm_pickle_value),                                                 \
                 .memo = TM_VEC(tm_pickle_value)})

/**
 * Reads one pickle of any protocol. The pickle must be the whole content of the source.
 *
 * @param out  TM_PICKLE, or a pickle that was read before. The values of that pickle are replaced,
 *             and its memory is reused.
 * @return     TM_OK; TM_ERR_INPUT with the offset of the opcode, if plain data does not need the
 *             opcode, if the opcode has wrong values, if the file ends early, or if lists and dicts
 *             have over 2^25 values in total; TM_ERR_FAULT
 */
tm_status tm_pickle_read(tm_source *source, tm_pickle *out, tm_error *err) TM_MUST_CHECK;

/**
 * Like tm_pickle_read, but reads a truncated pickle as far as it goes. Containers that were still
 * open keep the items read so far.
 *
 * @param cut  set on TM_OK to whether the pickle is truncated
 */
tm_status tm_pickle_read_cut(tm_source *source, tm_pickle *out, bool *cut,
                             tm_error *err) TM_MUST_CHECK;

/** Empties a pickle, to fill it from another source. Returns false if out of memory. */
bool tm_pickle_clear(tm_pickle *out);

/** Makes a container with copies of @p n items. Returns false if out of memory. */
bool tm_pickle_make(tm_pickle *pickle, tm_pickle_type type, const tm_pickle_value *items, size_t n,
                    tm_pickle_value *out) TM_MUST_CHECK;
void tm_pickle_free(tm_pickle *pickle);

/** Returns the items of a list or tuple. Other values have no items. */
const tm_pickle_value *tm_pickle_items(const tm_pickle *pickle, const tm_pickle_value *value,
                                       size_t *n);

/** Returns the keys and values of a dict: key, value, key, value, ... Sets *n to twice the number
 * of keys. */
const tm_pickle_value *tm_pickle_members(const tm_pickle *pickle, const tm_pickle_value *value,
                                         size_t *n);

/** Returns the value of a key in a dict, the last one if the key is repeated; NULL if the key is
 * absent, or the value is not a dict. */
const tm_pickle_value *tm_pickle_get(const tm_pickle *pickle, const tm_pickle_value *value,
                                     const char *key);

/** Returns the integer that a dict has for a key. Returns @p missing if the key is absent, or if
 * its value is not an integer. */
int64_t tm_pickle_int(const tm_pickle *pickle, const tm_pickle_value *value, const char *key,
                      int64_t missing);

/** Returns the text that a dict has for a key. Returns "" if the key is absent, or if its value is
 * not a text. */
const char *tm_pickle_text(const tm_pickle *pickle, const tm_pickle_value *value, const char *key);

#endif
