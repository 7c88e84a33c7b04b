/* Information about the program itself. */
#ifndef TMERGE_ABOUT_H
#define TMERGE_ABOUT_H

#include <stdbool.h>

#include "tmerge/status.h"

/** Answers --version or -V, --plugin-path and --generate=WHAT. Called before MPI_Init.
 * @param status  set if the result is true: TM_OK; TM_ERR_INPUT if the plugin is missing
 * @return        whether the argument is one of these */
bool tm_about(const char *argument, tm_status *status, tm_error *err);

#endif
