/* Reports of Nsight Systems (.nsys-rep), which only its own program can read: their export. Private
 * to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_REPORT_H
#define TMERGE_NSYS_REPORT_H

#include "tmerge/reader.h"

/** `nsys export`, to an SQLite database. */
extern const tm_converter tm_nsys_converter;

#endif
