/* The records of a file of NCCL's inspector, one after another, and the communicators in it. */
#ifndef TMERGE_INSPECTOR_FILE_H
#define TMERGE_INSPECTOR_FILE_H

#include "base/keys.h"
#include "inspector_record.h"
#include "tmerge/reader.h"
#include "tmerge/timeline.h"

/** The communicator of a record; 0 where it is none. Of NCCL's 16 hex digits the inspector writes
 * the first TM_NCCL_DIGITS: its buffer has 17 bytes for "0x", these and the end. */
uint64_t tm_inspector_id_of(const tm_inspector_record *record);

/** A rank of a communicator, as a file has it. Without padding: it is a key. */
typedef struct tm_inspector_member {
    uint64_t id;
    int64_t rank, n_ranks;
} tm_inspector_member;

/** The texts of the record lie in the window, and are gone after the call. False: memory is out. */
typedef bool tm_inspector_each(void *context, const tm_inspector_record *record);

/**
 * Gives each record of a source of which nothing was read.
 * @param cut       set to whether the last record is cut off, as where the job was killed
 * @param n_others  objects that are no records, and lines that are damaged, are added
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_inspector_read_file(tm_source *source, tm_inspector_each *each, void *context,
                                 bool *cut, int64_t *n_others, tm_error *err) TM_MUST_CHECK;

/** Notes the member that a record is of, in keys of tm_inspector_member. False: memory is out. */
bool tm_inspector_add_member(tm_keys *members, const tm_inspector_record *record);

/** Sorts them, the largest communicators first: from then on they are a list only. */
void tm_inspector_sort_members(tm_keys *members);

#endif
