/* Sets cells of tables to names. */
#ifndef TMERGE_NAMED_H
#define TMERGE_NAMED_H

#include "tmerge/names.h"
#include "tmerge/table.h"

/** Sets a text cell to the name with an id; leaves it null for TM_NO_NAME. Returns TM_OK;
 * TM_ERR_FAULT. */
static inline tm_status tm_set_named(const tm_names *names, int64_t id, tm_table *table,
                                     tm_cell *cell, tm_error *err) {
    if (id == TM_NO_NAME)
        return TM_OK;
    tm_text text = tm_names_text(names, (uint32_t)id);
    return tm_table_set_bytes(table, cell, text.bytes, text.size, err);
}

#endif
