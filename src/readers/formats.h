/* Declares all formats by name, for the registry and for tests of a single format. */
#ifndef TMERGE_FORMATS_H
#define TMERGE_FORMATS_H

#include "tmerge/reader.h"

#define TM_FORMAT(name) extern const tm_format tm_format_##name;
#include "readers/formats.def"
#undef TM_FORMAT

#endif
