/* The rows of the registry, one for each file of this folder that is an analysis. */
#ifndef TMERGE_ANALYSES_H
#define TMERGE_ANALYSES_H

#include "tmerge/analysis.h"

extern const tm_analysis tm_analysis_job;
extern const tm_analysis tm_analysis_overlap;
extern const tm_analysis tm_analysis_ratio;
extern const tm_analysis tm_analysis_imbalance;
extern const tm_analysis tm_analysis_stragglers;
extern const tm_analysis tm_analysis_collectives;
extern const tm_analysis tm_analysis_groups;
extern const tm_analysis tm_analysis_clock;
extern const tm_analysis tm_analysis_overview;
extern const tm_analysis tm_analysis_operators;
extern const tm_analysis tm_analysis_phases;
extern const tm_analysis tm_analysis_input;
extern const tm_analysis tm_analysis_modules;
extern const tm_analysis tm_analysis_launches;
extern const tm_analysis tm_analysis_idle;
extern const tm_analysis tm_analysis_transfers;
extern const tm_analysis tm_analysis_memory;
extern const tm_analysis tm_analysis_kernels;
extern const tm_analysis tm_analysis_contention;
extern const tm_analysis tm_analysis_advice;

#endif
