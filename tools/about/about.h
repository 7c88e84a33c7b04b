/* What tmerge says of itself. */
#ifndef TMERGE_ABOUT_H
#define TMERGE_ABOUT_H

#include <stdbool.h>

#include "tmerge/status.h"

/**
 * Prints the answer to --version or -V, --plugin-path or --generate=WHAT. Before MPI_Init.
 * @param status  set where the argument is one of them: TM_OK; TM_ERR_INPUT where the plugin lies
 *                at none of its places
 * @return        whether it is
 */
bool tm_about(const char *argument, tm_status *status, tm_error *err);

#endif
