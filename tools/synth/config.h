/* What job to simulate: the options of tmerge-synth, parsed into integers. */
#ifndef TMERGE_SYNTH_CONFIG_H
#define TMERGE_SYNTH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

typedef enum tms_compression {
    TMS_COMPRESS_NONE,
    TMS_COMPRESS_GZIP,
    TMS_COMPRESS_ZSTD,
    TMS_COMPRESSION_COUNT
} tms_compression;

/* Integers throughout, so that no rounding of a machine's floating point reaches the output. */
typedef struct tms_config {
    const char *dir; /* folder to write to; borrowed from argv */
    tms_compression compress;
    bool help;          /* --help was given: nothing else is checked */
    int64_t ranks;      /* processes, one GPU each */
    int64_t host_ranks; /* ranks per host */
    int64_t steps;
    int64_t first_step; /* number in the first ProfilerStep#N */
    int64_t layers;
    int64_t buckets;        /* gradient buckets, one all-reduce each, per step */
    int64_t bucket_bytes;   /* [B] */
    int64_t compute_ns;     /* mean forward time of one layer on the GPU [ns] */
    int64_t jitter_ppm;     /* standard deviation of each duration [1e-6 of its mean] */
    int64_t bandwidth_mbps; /* bus bandwidth [1e6 B/s] */
    int64_t latency_ns;     /* added to every transfer [ns] */
    int64_t end_jitter_ns;  /* greatest lag of a rank's end behind the common end [ns] */
    int64_t slow_rank;      /* -1: none */
    int64_t slow_ppm;       /* the slow rank's compute time [1e-6 of a normal one] */
    int64_t cpu_ops;        /* operator events per layer and direction */
    int64_t seed;
} tms_config;

/* One numeric option; the table drives parsing, --help and the truth file alike. */
typedef struct tms_option {
    const char *name;  /* without the leading dashes */
    const char *unit;  /* stands for the value in --help */
    const char *help;  /* one line */
    size_t offset;     /* of its int64_t in tms_config */
    int digits;        /* decimals kept: the field holds value * 10^digits */
    int64_t initial;   /* default, scaled as the field is */
    int64_t low, high; /* allowed range, scaled as the field is */
} tms_option;

/**
 * All numeric options in the order of --help.
 *
 * @param count  set to the number of rows
 * @return       the table; static
 */
const tms_option *tms_config_options(size_t *count);

/* The value of one option as stored in @p config, scaled by 10^digits. */
int64_t tms_config_value(const tms_config *config, const tms_option *option);

/* Writes a value scaled by 10^digits as a plain decimal number without trailing zeros. */
void tms_config_format(char text[32], int64_t value, int digits);

/* "none", "gzip" or "zstd"; static. */
const char *tms_config_compression_name(tms_compression compress);

/* Fills in the defaults; dir is NULL. */
void tms_config_init(tms_config *config);

/**
 * Parses and checks a command line.
 *
 * @param config  set in full on TMS_OK; with --help only `help` is to be looked at
 * @return        TMS_OK; TMS_ERR_USAGE
 * Owner: `dir` borrows from @p argv.
 */
tms_status tms_config_parse(tms_config *config, int argc, char **argv, tms_error *err);

/**
 * Checks what concerns several options at once: ranges against one another, and that the job
 * ends while its times still fit.
 */
tms_status tms_config_check(const tms_config *config, tms_error *err);

/* Prints the text of --help. */
void tms_config_help(FILE *to);

/* Time that one all-reduce of a bucket takes once its last rank has come, without jitter [ns]. */
int64_t tms_config_transfer_ns(const tms_config *config);

#endif
