/* A Perfetto trace as Kineto's JSON, which is made while it is read. Private to the Perfetto
 * reader.
 */
#ifndef TMERGE_PERFETTO_CONVERT_H
#define TMERGE_PERFETTO_CONVERT_H

#include "tmerge/source.h"

typedef struct tm_pf_convert tm_pf_convert;

/**
 * Reads the trace once, for what its times, tracks and slices are.
 * @param source  that was not read yet; borrowed, and read again while JSON is made
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_pf_convert_open(tm_source *source, tm_pf_convert **out, tm_error *err) TM_MUST_CHECK;
void tm_pf_convert_close(tm_pf_convert *convert);

/** As tm_source_make, of a tm_pf_convert. */
tm_status tm_pf_convert_make(void *convert, void *buffer, size_t capacity, size_t *n,
                             tm_error *err);

/** Whether the trace ends too early, and the JSON at what is whole of it. */
bool tm_pf_convert_cut(const tm_pf_convert *convert);

/** Events that nothing is made of: what they refer to was lost, or their time is unknown. */
int64_t tm_pf_convert_lost(const tm_pf_convert *convert);

/** What failed while JSON was made; its status is TM_OK where nothing did. */
const tm_error *tm_pf_convert_failure(const tm_pf_convert *convert);

#endif
