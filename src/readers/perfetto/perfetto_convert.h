/* A Perfetto trace as Kineto's JSON, which is made while it is read. Private to the Perfetto
 * reader.
 */
#ifndef TMERGE_PERFETTO_CONVERT_H
#define TMERGE_PERFETTO_CONVERT_H

#include "base/vec.h"
#include "tmerge/source.h"

struct tm_unit;
typedef struct tm_pf_convert tm_pf_convert;

/**
 * Reads the trace once, for what its times, tracks and slices are.
 * @param source  that was not read yet; borrowed, and read again while JSON is made
 * @param unit    of an export of tmerge, as tm_pf_list_ranks lists it; NULL: of all of a trace
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_pf_convert_open(tm_source *source, const struct tm_unit *unit, tm_pf_convert **out,
                             tm_error *err) TM_MUST_CHECK;
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

/** Whether a file begins as tmerge's exports for Perfetto do. */
bool tm_pf_is_export(const char *head, size_t size);

/**
 * Lists the ranks of such an export: as the process the number of the sequence, and as the devices
 * the blocks of compressed packets that lie before it.
 * @param source  that was not read yet
 * @param units   of tm_unit, appended to; none of an export that does not tell what its tracks were
 * @return        TM_OK, also where the file is damaged, which its reader tells; TM_ERR_FAULT
 */
tm_status tm_pf_list_ranks(tm_source *source, struct tm_vec *units, tm_error *err) TM_MUST_CHECK;

#endif
