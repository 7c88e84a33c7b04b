/* Kernels measured with Nsight Compute: reads the output of `ncu --csv`. */
#ifndef TMERGE_NCU_H
#define TMERGE_NCU_H

#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/source.h"

/** Measured figures of a launch. */
typedef enum tm_ncu_figure {
    TM_NCU_SM_PCT,        /* throughput of the multiprocessors [% of peak] */
    TM_NCU_MEMORY_PCT,    /* throughput of the busiest part of the memory system [% of peak] */
    TM_NCU_DRAM_PCT,      /* DRAM throughput [% of peak] */
    TM_NCU_OCCUPANCY_PCT, /* mean of active warps [% of maximum] */
    TM_NCU_FLOP,          /* floating-point operations */
    TM_NCU_DRAM_BYTES,    /* bytes read from and written to DRAM [B] */
    TM_NCU_FLOP_ROOF,     /* peak rate of single-precision operations outside of the tensor cores
                             [FLOP/s] */
    TM_NCU_DRAM_ROOF,     /* DRAM peak [B/s] */
    TM_NCU_TENSOR_ROOF,   /* peak rate of the tensor cores [FLOP/s], for the number type that the
                             kernel uses most on them. If the kernel does not use tensor cores, this
                             is the rate of their fastest type. */
    TM_NCU_N_FIGURES
} tm_ncu_figure;

/** A measured launch. Its duration is meaningless, because ncu runs each kernel many times. */
typedef struct tm_ncu_launch {
    tm_text name;                     /* kernel name as in the file; borrowed */
    int64_t grid[3];                  /* blocks in x, y, z; -1 if the file has no shape */
    int64_t block[3];                 /* threads in x, y, z; -1 if the file has no shape */
    double figures[TM_NCU_N_FIGURES]; /* [tm_ncu_figure], NaN if not in the file */
} tm_ncu_launch;

/** A line in a section of ncu's details page. Texts are borrowed. */
typedef struct tm_ncu_metric {
    size_t launch;               /* index into tm_ncu_launches */
    tm_text section, name, unit; /* "GPU Speed Of Light Throughput", "DRAM Throughput", "%" */
    tm_text text;                /* value as written in the file */
    double value;                /* NaN if the text is not a number */
} tm_ncu_metric;

/** A message of an Nsight Compute rule on a launch. Texts are borrowed. */
typedef struct tm_ncu_rule {
    size_t launch;
    tm_text section, name, type; /* "SpeedOfLight", "SOLBottleneck", "OPT" */
    tm_text text;
    tm_text speedup_type; /* "global": the speedup is of the whole kernel; "local": it is of the
                             part that the rule examines; "": the rule has no estimate */
    double speedup_pct;   /* estimated speedup, NaN without an estimate */
} tm_ncu_rule;

typedef struct tm_ncu tm_ncu;

/** Creates an object without launches. Returns NULL when out of memory. */
tm_ncu *tm_ncu_create(void);

/** Frees it. NULL is allowed. */
void tm_ncu_destroy(tm_ncu *ncu);

/**
 * Adds the launches of a file: a details page (one row per metric) or a raw page (one row per
 * launch). Lines that ncu or the program printed before or after the page are skipped. Launches
 * with the same process id, launch id and name are the same launch, so the two pages of a report
 * complete each other. If a metric occurs twice, the last value counts.
 * @param source  read to its end
 * @return        TM_OK; TM_ERR_INPUT (unreadable, another kind of file, malformed: the offset of
 *                the field); TM_ERR_FAULT. After a failure @p ncu can only be destroyed
 */
tm_status tm_ncu_read(tm_ncu *ncu, tm_source *source, tm_error *err) TM_MUST_CHECK;

/** Returns the launches in the order of their files; borrowed, valid until more are read. */
const tm_ncu_launch *tm_ncu_launches(const tm_ncu *ncu, size_t *n);

/** Return the lines of all sections, or the messages of rules, in the order of their files. If a
 * line or a message occurs twice for a launch, only the last is returned. Borrowed. */
const tm_ncu_metric *tm_ncu_metrics(const tm_ncu *ncu, size_t *n);
const tm_ncu_rule *tm_ncu_rules(const tm_ncu *ncu, size_t *n);

/** Returns the factor from a line's unit to base units (byte, second, hertz): 1e9 for "Gbyte/s", 1
 * for a unit without a prefix. */
double tm_ncu_unit_scale(tm_text unit);

#endif
