/* The texts of an Ascend database: table STRING_IDS, to whose ids all other tables refer. Private
 * to this reader. */
#ifndef TMERGE_ASCEND_DB_STRINGS_H
#define TMERGE_ASCEND_DB_STRINGS_H

#include "base/vec.h"
#include "readers/json.h"
#include "readers/sqlite/profiler_database.h"

typedef struct tm_ascend_db_strings {
    tm_vec texts; /* private: vector of char */
    tm_vec ids;   /* private: entries, ascending by id */
    tm_names *names;
} tm_ascend_db_strings;

/** @param names  borrowed; a text is interned here when it is first requested */
void tm_ascend_db_strings_init(tm_ascend_db_strings *strings, tm_names *names);
void tm_ascend_db_strings_free(tm_ascend_db_strings *strings);

/**
 * Reads the table.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_ascend_db_strings_read(tm_ascend_db_strings *strings, const tm_db *db,
                                    tm_error *err) TM_MUST_CHECK;

/** Returns the text of an id, or an empty one for an unknown id; valid as long as @p strings. */
tm_json_text tm_ascend_db_text(const tm_ascend_db_strings *strings, int64_t id);

/** Returns the name id of a text; TM_NO_NAME if there is none, TM_NAME_FAILED if out of memory. */
uint32_t tm_ascend_db_name(tm_ascend_db_strings *strings, int64_t id);

#endif
