/* Where traces are, of a folder that holds none. */
#ifndef TMERGE_ELSEWHERE_H
#define TMERGE_ELSEWHERE_H

#include "tmerge/status.h"

/**
 * Looks for traces below a folder, where neither it nor the folders in it hold any: a few levels
 * deep, in no more than thousands of files, and through no links.
 *
 * @return  TM_ERR_INPUT where there are some: the message names their folders; TM_OK; TM_ERR_FAULT
 */
tm_status tm_elsewhere_fail(const char *folder, tm_error *err) TM_MUST_CHECK;

#endif
