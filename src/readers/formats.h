/* The formats by their names, for the registry and for tests of one of them. */
#ifndef TMERGE_FORMATS_H
#define TMERGE_FORMATS_H

#include "tmerge/reader.h"

#define TM_FORMAT(name) extern const tm_format tm_format_##name;
#include "readers/formats.def"
#undef TM_FORMAT

#endif
