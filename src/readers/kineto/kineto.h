/* The Kineto reader's row for the registry. */
#ifndef TMERGE_KINETO_H
#define TMERGE_KINETO_H

#include "tmerge/reader.h"

extern const tm_format tm_format_kineto;

#endif
