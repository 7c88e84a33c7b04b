/* Declares every analysis, for the registry and for tests of single analyses. */
#ifndef TMERGE_ANALYSES_H
#define TMERGE_ANALYSES_H

#include "tmerge/analysis.h"

#define TM_ANALYSIS(room, name) extern const tm_analysis tm_analysis_##name;
#include "analysis/analyses.def"
#undef TM_ANALYSIS

#endif
