/* What NCCL's RAS reports on the job: the ranks that are behind in each communicator, and dead
 * processes. It is combined with dumps of the same ranks. */
#ifndef TMERGE_HANG_RAS_H
#define TMERGE_HANG_RAS_H

#include "tmerge/ras.h"
#include "tmerge/table.h"

extern const tm_table_def tm_hang_ras_def, tm_hang_answer_def, tm_hang_move_def;

/** Adds the rows of an answer to hang.ras, and its row to hang.answer. @param other another answer
 * about the same job, or NULL. If there is one, the rows are from the later answer, and show what
 * was launched between the two. */
tm_status tm_hang_ras_rows(const tm_ras *ras, const tm_ras *other, tm_tables *out,
                           tm_error *err) TM_MUST_CHECK;

/** The tables that tm_hang_ras_rows fills. */
typedef struct tm_hang_ras {
    const tm_table *rows, *answer; /* answer: no row if no answer was read */
    const tm_table *moves;         /* no rows unless two answers were compared */
    /* ranks of the job, i.e. of the communicator that has all processes; 0: unknown */
    int64_t n_ranks;
} tm_hang_ras;

tm_hang_ras tm_hang_ras_of(const tm_tables *tables);

/** Returns whether a row of hang.ras has the given state. */
bool tm_hang_ras_is(const tm_cell *row, tm_ras_state state);

/** Sets @p out to the number of collectives that a global rank launched between two answers. Leaves
 * it null if that is unknown. */
void tm_hang_ras_advanced(const tm_hang_ras *ras, int64_t rank, tm_cell *out);

/** State of a process according to RAS. */
typedef enum tm_hang_process { TM_HANG_ALIVE, TM_HANG_UNREACHABLE, TM_HANG_DEAD } tm_hang_process;

/** Sets the state of each global rank's process.
 * @param out  [ras->n_ranks]; initially all TM_HANG_ALIVE */
void tm_hang_ras_processes(const tm_hang_ras *ras, tm_hang_process *out);

#endif
