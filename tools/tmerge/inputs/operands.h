/* The operands of a command line. A list (@FILE) is replaced by its lines. */
#ifndef TMERGE_OPERANDS_H
#define TMERGE_OPERANDS_H

#include <mpi.h>

#include "arguments/command.h"
#include "base/vec.h"

/** A file, a folder or a pattern. */
typedef struct tm_operand {
    const char *text; /* points into the bytes of tm_operands */
    const char *list; /* the list that contains the operand; NULL if the operand was typed */
    int64_t line;     /* the operand's line in the list, from 1 */
} tm_operand;

typedef struct tm_operands {
    tm_operand *v; /* owned; [n] */
    size_t n;
    void *bytes; /* owned */
} tm_operands;

/** Returns the name of the list file if a typed operand is @FILE; NULL if the operand is no list.
 * If a file has the name "@FILE" itself, the operand is this file. */
const char *tm_operand_list(const char *typed);

/** Reads the operands and their lists. Each line, up to LF or CR LF, is an operand. Blank lines and
 * lines that start with # are skipped.
 *
 * Collective: no.
 * @param out  all 0 before the call; freed by the caller, also after a failure
 * @return     TM_OK; TM_ERR_INPUT, also for an empty list; TM_ERR_FAULT */
tm_status tm_operands_read(const tm_arguments *arguments, tm_operands *out,
                           tm_error *err) TM_MUST_CHECK;

/** Reads the operands on process 0 and broadcasts them. Each host then looks for the files itself.
 * Collective: over comm. */
tm_status tm_mpi_operands_read(MPI_Comm comm, const tm_arguments *arguments, tm_operands *out,
                               tm_error *err) TM_MUST_CHECK;

/** Fails because of an operand. The message has its text, and its list and line if it is from a
 * list. */
tm_status tm_operand_fail(const tm_operand *operand, const char *why, tm_error *err);

void tm_operands_free(tm_operands *operands);

#endif
