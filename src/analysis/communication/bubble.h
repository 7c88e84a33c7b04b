/* Internal tables of analysis `bubble`, from which the job's tables are computed. */
#ifndef TMERGE_BUBBLE_H
#define TMERGE_BUBBLE_H

#include "tmerge/analysis.h"

/* Columns of bubble.part: a row for each pass of a rank. */
enum {
    TM_BUBBLE_P_RANK,
    TM_BUBBLE_P_STEP,
    TM_BUBBLE_P_BACKWARD,
    TM_BUBBLE_P_NUMBER,
    TM_BUBBLE_P_BEGIN,
    TM_BUBBLE_P_END,
    TM_BUBBLE_P_N
};

/* Columns of bubble.place: a row for each rank, with its stage. */
enum { TM_BUBBLE_R_RANK, TM_BUBBLE_R_STAGE, TM_BUBBLE_R_N };

/* Columns of bubble.pair: the transfers from one rank to another. */
enum {
    TM_BUBBLE_T_FROM,
    TM_BUBBLE_T_TO,
    TM_BUBBLE_T_FROM_STAGE,
    TM_BUBBLE_T_TO_STAGE,
    TM_BUBBLE_T_COUNT,
    TM_BUBBLE_T_BYTES,
    TM_BUBBLE_T_LATE_SENDER,
    TM_BUBBLE_T_LATE_RECEIVER,
    TM_BUBBLE_T_TRANSFER,
    TM_BUBBLE_T_N
};

extern const tm_table_def tm_bubble_part_def, tm_bubble_place_def, tm_bubble_pair_def,
    tm_bubble_pair_part_def, tm_bubble_stage_def, tm_bubble_step_def, tm_bubble_pass_def;

/** Adds a rank's passes, if the rank sends or receives. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_bubble_passes(const tm_rank_view *view, tm_table *part, tm_error *err) TM_MUST_CHECK;

/** Adds the job's pairs, steps, stages and passes. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_bubble_rows(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
