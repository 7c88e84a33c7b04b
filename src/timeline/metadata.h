/* What a trace says of itself, as JSON: its lists, which many ranks share, stand among the names,
 * once; the rest, which is a rank's own, does not. */
#ifndef TMERGE_METADATA_H
#define TMERGE_METADATA_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/**
 * Cuts out the lists of a text of JSON: arrays of numbers, texts that begin as one, and other
 * long arrays; "@list 0" and so on stands in their places. The rest loses its white space.
 *
 * @param text   [size] of sound grammar
 * @param names  takes the lists, each a value of JSON
 * @param own    of char: the rest is appended
 * @param lists  of uint32_t: the lists' name ids are appended, in the order of their numbers
 * @return       false when memory is out
 */
bool tm_metadata_cut(const char *text, size_t size, tm_names *names, tm_vec *own, tm_vec *lists);

/** A rank's own, terminated; empty where the trace says nothing. */
tm_text tm_timeline_metadata(const tm_timeline *timeline);

/** Where the value of a member of JSON begins, of an object that stands there without white space,
 * as a rank's own metadata and their values do; NULL where it has none of this key. */
const char *tm_metadata_member(const char *object, const char *key);

/** The number of the first list that is the value of this key from *p on, which goes behind it;
 * SIZE_MAX where there is none. */
size_t tm_metadata_next_list(const char **p, const char *key);

/** The name id of the list that a text in there stands for; TM_NO_NAME where it stands for none. */
uint32_t tm_timeline_list(const tm_timeline *timeline, const char *text);

/**
 * A rank's metadata with its lists in their places.
 *
 * @param out  of char; appended to, terminator included
 * @return     false when memory is out
 */
bool tm_timeline_metadata_whole(const tm_timeline *timeline, const tm_names *names, tm_vec *out);

/** A list of ranks. */
typedef struct tm_rank_list {
    tm_vec ranks; /* of int64_t, ascending; none where it is cut ("...") or no list */
    bool more;    /* "[0, 1, ?]" has more, of which there is no trace */
    bool read;    /* by tm_rank_list_read */
} tm_rank_list;

/** Reads "[0, 1, 2]", in quotes or not. False when memory is out. @p out->ranks is freed by the
 * caller. */
bool tm_rank_list_read(tm_text text, tm_rank_list *out);

#endif
