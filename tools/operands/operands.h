/* What the operands of a command line are, once the lines of lists (@FILE) stand in their place. */
#ifndef TMERGE_OPERANDS_H
#define TMERGE_OPERANDS_H

#include <mpi.h>

#include "base/vec.h"
#include "command.h"

/** A file, a folder or a pattern. */
typedef struct tm_operand {
    const char *text; /* points into the bytes */
    const char *list; /* the list that it stands in; NULL: it was typed */
    int64_t line;     /* of the list, from 1 on */
} tm_operand;

typedef struct tm_operands {
    tm_operand *v; /* owned; [n] */
    size_t n;
    void *bytes; /* owned */
} tm_operands;

/** The list that a typed operand names, NULL where it is none: only @FILE is, and not where a file
 * is called so itself. */
const char *tm_operand_list(const char *typed);

/**
 * Reads the lists. A line is an operand as it is, to its end (LF or CR LF); lines of blanks alone
 * and those that begin with # are passed over.
 *
 * Collective: no.
 * @param out  all 0; to be freed whatever comes of it
 * @return     TM_OK; TM_ERR_INPUT, a list that names nothing, too; TM_ERR_FAULT
 */
tm_status tm_operands_read(const tm_arguments *arguments, tm_operands *out,
                           tm_error *err) TM_MUST_CHECK;

/** The same on every process, as process 0 reads them: what a list names, each host looks for.
 * Collective: over comm. */
tm_status tm_mpi_operands_read(MPI_Comm comm, const tm_arguments *arguments, tm_operands *out,
                               tm_error *err) TM_MUST_CHECK;

/** Fails for an operand: by its name, or by its list and line. */
tm_status tm_operand_fail(const tm_operand *operand, const char *why, tm_error *err);

void tm_operands_free(tm_operands *operands);

#endif
