/* Iterates over the records of a file of NCCL's inspector, and collects its communicators. */
#ifndef TMERGE_INSPECTOR_FILE_H
#define TMERGE_INSPECTOR_FILE_H

#include "base/keys.h"
#include "inspector_record.h"
#include "tmerge/reader.h"
#include "tmerge/timeline.h"

/** Returns the id of a record's communicator; 0 if it has none. The inspector writes only the first
 * TM_NCCL_DIGITS of NCCL's 16 hex digits, because its buffer of 17 bytes also holds "0x" and the
 * terminating zero. */
uint64_t tm_inspector_id_of(const tm_inspector_record *record);

/** A rank of a communicator that a file mentions. It is used as a key, so it must have no
 * padding. */
typedef struct tm_inspector_member {
    uint64_t id;
    int64_t rank, n_ranks;
} tm_inspector_member;

/** Called for each record. Its texts point into the window and are invalid after the call. Returns
 * false if out of memory. */
typedef bool tm_inspector_each(void *context, const tm_inspector_record *record);

/**
 * Calls @p each for each record of an unread source.
 * @param cut       set to whether the last record is truncated, as after the job was killed
 * @param n_others  increased by the number of objects that are not records, and of damaged lines
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_inspector_read_file(tm_source *source, tm_inspector_each *each, void *context,
                                 bool *cut, int64_t *n_others, tm_error *err) TM_MUST_CHECK;

/** Adds the rank of a record to @p members (keys of type tm_inspector_member). Returns false if out
 * of memory. */
bool tm_inspector_add_member(tm_keys *members, const tm_inspector_record *record);

/** Sorts the members, those of the largest communicators first. The keys can no longer be looked up
 * afterwards. */
void tm_inspector_sort_members(tm_keys *members);

#endif
