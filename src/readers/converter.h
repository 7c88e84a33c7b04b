/* Reports among the inputs: whose they are, and what converts them. */
#ifndef TMERGE_CONVERTER_H
#define TMERGE_CONVERTER_H

#include "tmerge/reader.h"

/** What converts a file that its name says is a report; NULL for other names. */
const tm_converter *tm_converter_of(const char *path);

/**
 * The path that a report's trace has by default: beside it, with the converter's end for its own.
 * @return  false where @p size is too small
 */
bool tm_converter_trace(const tm_converter *converter, const char *report, char *out, size_t size);

/**
 * Looks for the converter's program on the PATH.
 * @return  false where it is not there; @p out is not set then
 */
bool tm_converter_find(const tm_converter *converter, char *out, size_t size);

#endif
