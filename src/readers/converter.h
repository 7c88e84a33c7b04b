/* Finds the programs that convert report files among the inputs. */
#ifndef TMERGE_CONVERTER_H
#define TMERGE_CONVERTER_H

#include "tmerge/reader.h"

/** Returns the converter for a file whose name has the extension of a report; NULL for other
 * names. */
const tm_converter *tm_converter_of(const char *path);

/**
 * Builds the default path of a report's converted trace: only the extension differs.
 * @return  false if @p size is too small
 */
bool tm_converter_trace(const tm_converter *converter, const char *report, char *out, size_t size);

/**
 * Looks for the converter's program on the PATH.
 * @return  false if it is not found; @p out is then not set
 */
bool tm_converter_find(const tm_converter *converter, char *out, size_t size);

#endif
