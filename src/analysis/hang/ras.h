/* What NCCL's RAS reports on the job: which ranks of which communicator are behind, and which
 * processes are dead. Joins this with the ranks of the dumps. */
#ifndef TMERGE_HANG_RAS_H
#define TMERGE_HANG_RAS_H

#include "tmerge/ras.h"
#include "tmerge/table.h"

extern const tm_table_def tm_hang_ras_def, tm_hang_answer_def, tm_hang_move_def;

/** Adds the rows of an answer: those of hang.ras, and one of hang.answer.
 * @param other  another answer about the job, or NULL: rows are of the later one, and show what was
 *               launched between the two */
tm_status tm_hang_ras_rows(const tm_ras *ras, const tm_ras *other, tm_tables *out,
                           tm_error *err) TM_MUST_CHECK;

/** The tables of an answer. */
typedef struct tm_hang_ras {
    const tm_table *rows, *answer; /* answer: no row if none was read */
    const tm_table *moves;         /* no rows unless two answers were compared */
    int64_t n_ranks; /* of the job, from the communicator that has all processes; 0: unknown */
} tm_hang_ras;

tm_hang_ras tm_hang_ras_of(const tm_tables *tables);

/** Returns whether a row of hang.ras is of a state. */
bool tm_hang_ras_is(const tm_cell *row, tm_ras_state state);

/** Sets how many collectives a global rank launched between two answers, if that is known. */
void tm_hang_ras_advanced(const tm_hang_ras *ras, int64_t rank, tm_cell *out);

/** State of a process according to RAS. */
typedef enum tm_hang_process { TM_HANG_ALIVE, TM_HANG_UNREACHABLE, TM_HANG_DEAD } tm_hang_process;

/** Sets the process of each global rank.
 * @param out  [ras->n_ranks] all TM_HANG_ALIVE */
void tm_hang_ras_processes(const tm_hang_ras *ras, tm_hang_process *out);

#endif
