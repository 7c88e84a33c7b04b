/* The report of NCCL's RAS on the job: which ranks of each communicator are behind, and which
 * processes are dead. Dumps of the same ranks add data that RAS does not report. */
#ifndef TMERGE_HANG_RAS_H
#define TMERGE_HANG_RAS_H

#include "tmerge/ras.h"
#include "tmerge/table.h"

extern const tm_table_def tm_hang_ras_def, tm_hang_answer_def, tm_hang_move_def;

/** Adds the rows of an answer to hang.ras and hang.move, and its row to hang.answer.
 * @param other  another answer about the same job, or NULL. If it is given, the rows are from the
 *               later answer, and also show the launches between the two answers. */
tm_status tm_hang_ras_rows(const tm_ras *ras, const tm_ras *other, tm_tables *out,
                           tm_error *err) TM_MUST_CHECK;

/** The tables that tm_hang_ras_rows fills. */
typedef struct tm_hang_ras {
    const tm_table *rows, *answer; /* hang.answer has no row if no answer was read */
    const tm_table *moves;         /* has no rows unless two answers were compared */
    /* Number of ranks of the job: the size of the communicator that contains all processes. 0 if
     * unknown. */
    int64_t n_ranks;
} tm_hang_ras;

tm_hang_ras tm_hang_ras_of(const tm_tables *tables);

/** Returns whether a row of hang.ras has this state. */
bool tm_hang_ras_is(const tm_cell *row, tm_ras_state state);

/** Sets @p out to the number of collectives that a global rank launched between two answers. If the
 * number is unknown, @p out does not change. */
void tm_hang_ras_advanced(const tm_hang_ras *ras, int64_t rank, tm_cell *out);

/** State of a process, as reported by RAS. */
typedef enum tm_hang_process { TM_HANG_ALIVE, TM_HANG_UNREACHABLE, TM_HANG_DEAD } tm_hang_process;

/** Sets the state of each global rank's process.
 * @param out  [ras->n_ranks]; initially all TM_HANG_ALIVE */
void tm_hang_ras_processes(const tm_hang_ras *ras, tm_hang_process *out);

#endif
