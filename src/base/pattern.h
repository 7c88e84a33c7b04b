/* Regular expressions given by the user. */
#ifndef TMERGE_PATTERN_H
#define TMERGE_PATTERN_H

#include <regex.h>

#include "tmerge/status.h"

/**
 * Compiles a POSIX extended regular expression, matched without case.
 * @param flags  further flags of regcomp, or 0
 * @param out    free it with regfree if the call returned TM_OK
 * @return       TM_OK; TM_ERR_USAGE if it is not a valid expression, with the library's reason;
 *               TM_ERR_FAULT
 */
tm_status tm_pattern_compile(const char *pattern, int flags, regex_t *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
