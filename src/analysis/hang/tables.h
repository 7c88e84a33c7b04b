/* The tables of analysis `hang`: three that users see, and internal tables that carry the data of
 * dumps to process 0. */
#ifndef TMERGE_HANG_TABLES_H
#define TMERGE_HANG_TABLES_H

#include <stdlib.h>

#include "tmerge/table.h"

extern const tm_table_def tm_hang_job_def, tm_hang_collective_def, tm_hang_rank_def;
extern const tm_table_def tm_hang_dump_def, tm_hang_group_def, tm_hang_progress_def,
    tm_hang_call_def;

/** Maximum number of a rank's open sends and receives that are kept. */
enum { TM_HANG_KEPT_P2P = 512 };

/** Returns NULL for an empty text, so that a cell stays null. */
static inline const char *tm_hang_or_null(const char *text) {
    return *text ? text : NULL;
}

/** Returns the text of a cell; "" for null. */
static inline const char *tm_hang_text(const tm_table *t, size_t row, int column) {
    const tm_cell *cell = tm_table_row(t, row) + column;
    return cell->null ? "" : cell->value.text;
}

static inline int64_t tm_hang_int(const tm_table *t, size_t row, int column, int64_t missing) {
    const tm_cell *cell = tm_table_row(t, row) + column;
    return cell->null ? missing : cell->value.i;
}

/** Returns the next rank of a group's list, such as "0 1 12", and advances *text past this rank.
 * Returns -1 at the end of the list. */
static inline int64_t tm_hang_next_rank(const char **text) {
    long long rank = -1;
    for (char *end; rank < 0 && **text; *text = *end ? end + 1 : end)
        rank = strtoll(*text, &end, 10);
    return rank < 0 ? -1 : rank;
}

/* Columns of each table. */
enum {
    HD_RANK,
    HD_PATH,
    HD_VERSION,
    HD_CUT,
    HD_LEFT_OUT,
    HD_CALLS,
    HD_WRAPPED,
    HD_WRITTEN,
    HD_UNREADABLE,
    HD_LAST_GROUP,
    HD_LAST_SEQ,
    HD_LAST_OP,
    HD_LAST_NS,
    HD_LAST_STATE,
    HD_LAST_BACKEND,
    HD_FRAMES,
    N_HD
};
enum { HG_GROUP, HG_NAME, HG_DESC, HG_RANKS, N_HG };
enum { HP_GROUP, HP_RANK, HP_FIRST, HP_LAST, HP_OPEN, HP_SIZE, HP_DONE, N_HP };
enum {
    HC_GROUP,
    HC_RANK,
    HC_P2P,
    HC_SEQ,
    HC_FORM,
    HC_OP,
    HC_BACKEND,
    HC_INPUTS,
    HC_OUTPUTS,
    HC_STATE,
    HC_CREATED,
    HC_READY,
    HC_TIMEOUT,
    HC_FRAMES,
    HC_BEFORE,
    N_HC
};
enum {
    HR_COMM,
    HR_MEMBER,
    HR_RANK,
    HR_HASH,
    HR_SIZE,
    HR_STATE,
    HR_OPERATION,
    HR_LAUNCHED,
    HR_MOST,
    HR_ADVANCED,
    HR_ERROR,
    HR_HOST,
    HR_PID,
    HR_GPU,
    N_HR
};
enum {
    HA_RANKS,
    HA_COMMS,
    HA_PROCESSES,
    HA_LEFT_OUT,
    HA_COMMAS,
    HA_VERSION,
    HA_TIME,
    HA_COMPARED,
    HA_APART,
    N_HA
};
enum { HM_RANK, HM_ADVANCED, N_HM };

#endif
