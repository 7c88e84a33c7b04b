/* Recognises a Kineto trace from a part of it. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_SNIFF_H
#define TMERGE_KINETO_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/source.h"
#include "tmerge/status.h"

struct tm_vec;

/* These functions implement the members of tm_format, where they are described. */
bool tm_kineto_sniff(const char *head, size_t size, bool whole);
int64_t tm_kineto_peek_rank(const char *head, size_t size);
bool tm_kineto_has_units(const char *head, size_t size);
tm_status tm_kineto_list_units(tm_source *source, bool known, struct tm_vec *units, bool *foreign,
                               tm_error *err) TM_MUST_CHECK;
tm_status tm_kineto_find_event(tm_source *source, int64_t *offset, tm_error *err) TM_MUST_CHECK;

#endif
