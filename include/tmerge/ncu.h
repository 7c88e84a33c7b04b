/* What Nsight Compute measured of kernels: the output of `ncu --csv`. */
#ifndef TMERGE_NCU_H
#define TMERGE_NCU_H

#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/source.h"

/** What is known of a launch. */
typedef enum tm_ncu_figure {
    TM_NCU_SM_PCT,        /* throughput of the multiprocessors [% of peak] */
    TM_NCU_MEMORY_PCT,    /* of the busiest part of the memory system [% of peak] */
    TM_NCU_DRAM_PCT,      /* of DRAM [% of peak] */
    TM_NCU_OCCUPANCY_PCT, /* active warps [% of the most] */
    TM_NCU_FLOP,          /* floating-point operations */
    TM_NCU_DRAM_BYTES,    /* bytes read from and written to DRAM [B] */
    TM_NCU_FLOP_ROOF,     /* of single precision outside the tensor cores [FLOP/s] */
    TM_NCU_DRAM_ROOF,     /* of DRAM [B/s] */
    TM_NCU_TENSOR_ROOF,   /* of the tensor cores, in the type that it used most, else the fastest
                             [FLOP/s] */
    TM_NCU_N_FIGURES
} tm_ncu_figure;

/** A launch that was measured. Its time is no guide to anything: a kernel is run again and again.
 */
typedef struct tm_ncu_launch {
    tm_text name;                     /* of the kernel, as the file has it; borrowed */
    int64_t grid[3];                  /* blocks in x, y, z; -1 where the file has no shape */
    int64_t block[3];                 /* threads in x, y, z; the same */
    double figures[TM_NCU_N_FIGURES]; /* by tm_ncu_figure, NaN where the file lacks it */
} tm_ncu_launch;

/** A line of a section of a details page. Texts are borrowed. */
typedef struct tm_ncu_metric {
    size_t launch;               /* which of tm_ncu_launches */
    tm_text section, name, unit; /* "GPU Speed Of Light Throughput", "DRAM Throughput", "%" */
    tm_text text;                /* the value as it stands there */
    double value;                /* NaN where that is no number */
} tm_ncu_metric;

/** What a rule of Nsight Compute says of a launch. Texts are borrowed. */
typedef struct tm_ncu_rule {
    size_t launch;
    tm_text section, name, type; /* "SpeedOfLight", "SOLBottleneck", "OPT" */
    tm_text text;
    tm_text speedup_type; /* "global": of the kernel, "local": of the part; empty without */
    double speedup_pct;   /* that it estimates, NaN without */
} tm_ncu_rule;

typedef struct tm_ncu tm_ncu;

/** Without launches. NULL when memory is out. */
tm_ncu *tm_ncu_create(void);

/** Takes NULL. */
void tm_ncu_destroy(tm_ncu *ncu);

/**
 * Adds the launches of a file: a details page (a row for each metric) or a raw page (a row for each
 * launch), with whatever ncu and the program print around it. Launches of one process id, launch id
 * and name are one, so that both pages of a report complete each other; of a metric that comes
 * twice the last value counts.
 *
 * @param source  read to its end
 * @return        TM_OK; TM_ERR_INPUT (unreadable, another kind of file, malformed: the offset is
 *                that of the field); TM_ERR_FAULT. After a failure @p ncu can only be destroyed
 */
tm_status tm_ncu_read(tm_ncu *ncu, tm_source *source, tm_error *err) TM_MUST_CHECK;

/** The launches in the order of their files; borrowed, valid until more are read. */
const tm_ncu_launch *tm_ncu_launches(const tm_ncu *ncu, size_t *n);

/** The lines of all sections, and what rules say, in the order of their files; a line or a rule
 * that comes twice for a launch once, as it came last. Borrowed likewise. */
const tm_ncu_metric *tm_ncu_metrics(const tm_ncu *ncu, size_t *n);
const tm_ncu_rule *tm_ncu_rules(const tm_ncu *ncu, size_t *n);

/** What one of a unit of a line is in base units (byte, second, hertz): 1e9 of "Gbyte/s", 1 where
 * it has no prefix. */
double tm_ncu_unit_scale(tm_text unit);

#endif
