/* Exports reports of Nsight Systems (.nsys-rep), which only nsys can read. Private to the reader of
 * Nsight Systems exports. */
#ifndef TMERGE_NSYS_REPORT_H
#define TMERGE_NSYS_REPORT_H

#include "tmerge/reader.h"

/** Runs `nsys export` to an SQLite database. */
extern const tm_converter tm_nsys_converter;

#endif
