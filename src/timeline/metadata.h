/* Metadata of a trace as JSON. It is stored in two parts. Lists are the same on many ranks, so each
 * list is stored once, as a name. All other metadata is the rank's own metadata, and is stored for
 * each rank. */
#ifndef TMERGE_METADATA_H
#define TMERGE_METADATA_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/**
 * Cuts the lists out of a JSON text, and puts "@list 0", "@list 1" and so on in their place. Lists
 * are arrays of numbers, strings that start with "[", and other long arrays. Removes white space
 * from the rest.
 * @param text   [size] with valid syntax
 * @param names  gets the lists, each as a JSON value
 * @param own    vector of char: the rest is appended
 * @param lists  vector of uint32_t: the lists' name ids are appended, in the order of their numbers
 * @return       false if out of memory
 */
bool tm_metadata_cut(const char *text, size_t size, tm_names *names, tm_vec *own, tm_vec *lists);

/** Returns a rank's metadata without the lists, terminated; empty if the trace has none. */
tm_text tm_timeline_metadata(const tm_timeline *timeline);

/** Returns the start of the value of a key in a JSON object; NULL if the object does not have the
 * key. The object must not contain white space; a rank's own metadata has none. */
const char *tm_metadata_member(const char *object, const char *key);

/** Returns the number of the first list at or after *p that is a value of this key, and moves *p
 * past the reference; SIZE_MAX if there is none. */
size_t tm_metadata_next_list(const char **p, const char *key);

/** Returns the name id of the list that a text ("@list 0") refers to; TM_NO_NAME if it is not such
 * a reference. */
uint32_t tm_timeline_list(const tm_timeline *timeline, const char *text);

/**
 * Writes a rank's metadata with the lists put back.
 *
 * @param out  vector of char; appended to, including the terminator
 * @return     false if out of memory
 */
bool tm_timeline_metadata_whole(const tm_timeline *timeline, const tm_names *names, tm_vec *out);

typedef struct tm_rank_list {
    tm_vec ranks; /* vector of int64_t, ascending; empty if the list was truncated ("...") or is no
                     list */
    bool more;    /* the list was like "[0, 1, ?]": there are further ranks, which have no trace */
    bool read;    /* set by tm_rank_list_read */
} tm_rank_list;

/** Reads a list such as "[0, 1, 2]", with or without quotes. Returns false if out of memory. The
 * caller frees @p out->ranks. */
bool tm_rank_list_read(tm_text text, tm_rank_list *out);

/** Returns the bytes of an element of torch's type (`dtype`); 0 if the type is unknown. */
int64_t tm_dtype_bytes(tm_text dtype);

#endif
