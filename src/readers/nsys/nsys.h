/* The reader of Nsight Systems' SQLite exports. */
#ifndef TMERGE_NSYS_H
#define TMERGE_NSYS_H

#include "tmerge/reader.h"

extern const tm_format tm_format_nsys;

#endif
