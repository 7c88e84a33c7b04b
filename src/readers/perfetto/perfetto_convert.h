/* Converts a Perfetto trace to Kineto's JSON while it is read. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_CONVERT_H
#define TMERGE_PERFETTO_CONVERT_H

#include "base/vec.h"
#include "tmerge/source.h"

struct tm_unit;
typedef struct tm_pf_convert tm_pf_convert;

/**
 * Reads the trace once, to find times, tracks and slices.
 * @param source  unread; it is borrowed, and is read again while JSON is made
 * @param unit    a rank of a tmerge export, from tm_pf_list_ranks; NULL to convert the whole trace
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_pf_convert_open(tm_source *source, const struct tm_unit *unit, tm_pf_convert **out,
                             tm_error *err) TM_MUST_CHECK;
void tm_pf_convert_close(tm_pf_convert *convert);

/** Makes the next piece of JSON. This is the tm_source_make of a source whose context is a
 * tm_pf_convert. */
tm_status tm_pf_convert_make(void *convert, void *buffer, size_t capacity, size_t *n,
                             tm_error *err);

/** Returns whether the trace ends too early; the JSON then has all complete packets. */
bool tm_pf_convert_cut(const tm_pf_convert *convert);

/** Returns how many events were dropped because data that they refer to was lost, or because their
 * time is unknown. */
int64_t tm_pf_convert_lost(const tm_pf_convert *convert);

/** Returns the error that ended the conversion to JSON; its status is TM_OK if there was none. */
const tm_error *tm_pf_convert_failure(const tm_pf_convert *convert);

/** Returns whether a file starts like tmerge's exports for Perfetto. */
bool tm_pf_is_export(const char *head, size_t size);

/**
 * Lists the ranks of an export by tmerge. In a unit, `process` is the sequence number of the rank,
 * and `devices` is the number of blocks of compressed packets before the rank.
 * @param source  unread
 * @param units   vector of tm_unit; the ranks are appended, unless the export does not describe
 *                its tracks
 * @return        TM_OK, also if the file is damaged, which its reader reports; TM_ERR_FAULT
 */
tm_status tm_pf_list_ranks(tm_source *source, struct tm_vec *units, tm_error *err) TM_MUST_CHECK;

#endif
