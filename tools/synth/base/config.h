/* The job to simulate: the options of tmerge-synth, parsed into integers. */
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

/* TMS_MOST_SLOW: maximum number of --slow options. TMS_SLOWEST_PPM: maximum product of their
 * factors [1e-6]. */
#define TMS_MOST_SLOW 16
#define TMS_SLOWEST_PPM INT64_C(100000000)

/* A --slow option: slow ranks, factor, slow steps and slow kernels. Ranges include both ends. */
typedef struct tms_slow {
    const char *text; /* as typed; borrowed from argv */
    int64_t ppm; /* factor [1e-6] by which the time of kernels or launches is multiplied, relative
                    to a normal rank */
    int64_t first_rank;
    int64_t last_rank;
    int64_t first_step; /* number of the step; -1: all */
    int64_t last_step;
    int64_t first_kernel; /* index of the kernel among a step's compute kernels; -1: all */
    int64_t last_kernel;
} tms_slow;

/* Contains only integers, so that the output never depends on a machine's rounding. */
typedef struct tms_config {
    const char *dir; /* folder to write to; borrowed from argv */
    tms_compression compress;
    bool help;          /* --help was given: nothing else is set */
    int64_t ranks;      /* number of ranks: processes with one GPU each */
    int64_t host_ranks; /* ranks per host */
    int64_t steps;
    int64_t first_step; /* number of the first step: N in ProfilerStep#N */
    int64_t layers;
    int64_t buckets;      /* number of gradient buckets per step */
    int64_t bucket_bytes; /* [B] */
    int64_t compute_ns;   /* mean forward time of one layer on the GPU [ns] */
    int64_t jitter_ppm;   /* standard deviation of each duration [1e-6 of its mean] */
    int64_t share_ppm;    /* standard deviation of the work that a copy of the model has in a step
                             [1e-6 of the mean] */
    int64_t shared_ppm; /* standard deviation of the part of a kernel's duration that is the same on
                           all ranks of a host [1e-6 of the duration's mean] */
    int64_t hiccup_ppm; /* fraction of kernels that take TMS_HICCUP times their normal time
                           [1e-6] */
    int64_t bandwidth_mbps; /* bus bandwidth [1e6 B/s] */
    int64_t latency_ns;     /* added to the time of every transfer [ns] */
    int64_t end_jitter_ns;  /* maximum time from the common end of an operation to the end on one
                               rank [ns] */
    int64_t slow_rank;      /* -1: none */
    int64_t slow_ppm;       /* time of the slow rank's kernels or launches [1e-6 of the time on a
                               normal rank] */
    int64_t cpu_ops;        /* operator events per layer and direction */
    int64_t seed;
    int64_t tp; /* number of ranks of a tensor-parallel group. In the numbers of ranks, the tensor
                   index changes fastest, then the data index, then the stage */
    int64_t pp; /* stages of the pipeline */
    int64_t components; /* number of equal parts of the job that share no group */
    int64_t microbatches;
    int64_t sequence_parallel; /* flags, 0 or 1 */
    int64_t sharded;
    int64_t blocking;
    int64_t grad_norm;
    int64_t no_world;
    int64_t activation_bytes; /* size of the activations of one layer and microbatch [B] */
    int64_t sizes;            /* a tms_sizes */
    int64_t slow_kind;        /* a tms_slow_kind */
    int64_t slow_from;        /* numbers of the first and last slow step; -1: all are slow */
    int64_t slow_to;
    int64_t n_slow;
    tms_slow slow[TMS_MOST_SLOW];
    int64_t rotating;
    int64_t offset_ns;    /* standard deviation of the hosts' clock offsets [ns] */
    int64_t drift_ppb;    /* standard deviation of the hosts' drifts [ns per s] */
    int64_t ntp_step_ns;  /* the last host's clock jumps forward by this in the middle of the job
                             [ns] */
    int64_t gpu_error_ns; /* maximum error of a GPU's clock relative to its host's [ns] */
    int64_t end_bias_ns;  /* time from the end of an operation on its first member to the end on its
                             last member [ns] */
    int64_t late_ppm;     /* fraction of communication kernels that end late [1e-6] */
    int64_t lost_ppm;     /* fraction of communication kernels that the files lack [1e-6] */
    int64_t window_skew;  /* maximum number of steps by which a rank's recording starts late */
    int64_t no_metadata;
    int64_t custom_all_reduce;
    int64_t graphs;
    int64_t seq;
    int64_t comms_id;
    int64_t faults; /* set of TMS_FAULT_BIT */
    int64_t no_instances;
    int64_t format;         /* a tms_format_word */
    int64_t ranks_per_file; /* used only by the format nsys. (A file of the format xplane has all
                               ranks of a host.) */
    int64_t host_tables;    /* used only by the format nsys; see formats/write_nsys_host.h */
    int64_t target_mb;      /* total size of all traces [1e6 B]; 0: --steps decides */
} tms_config;

/* Formats of traces, in the order of the words of --format. */
typedef enum tms_format_word {
    TMS_FORMAT_KINETO,
    TMS_FORMAT_NSYS,
    TMS_FORMAT_XPLANE,
    TMS_FORMAT_ASCEND
} tms_format_word;

/* Sizes of messages, in the order of the words of --sizes. */
typedef enum tms_sizes {
    TMS_SIZES_FIXED, /* the sizes that the options give */
    TMS_SIZES_SMALL, /* 1/256 of the sizes that the options give */
    TMS_SIZES_MIXED, /* 1/64, 1/8, 1 and 4 times these sizes, in rotation */
    TMS_SIZES_LARGE  /* 16 times these sizes */
} tms_sizes;

/* What is slow on the slow rank, in the order of the words of --slow-kind. */
typedef enum tms_slow_kind { TMS_SLOW_GPU, TMS_SLOW_HOST } tms_slow_kind;

/* Faults of the job, in the order of the words of --fault. */
typedef enum tms_fault {
    TMS_FAULT_SLOW_LOADER,   /* the GPU idles while the next batch is made */
    TMS_FAULT_SMALL_KERNELS, /* many kernels take less time than the calls that launch them */
    TMS_FAULT_NO_OVERLAP,    /* gradients are reduced only after the backward pass */
    TMS_FAULT_LEAK,          /* each step frees less than it allocated */
    TMS_FAULT_PAGEABLE       /* batches are copied from pageable memory, one by one */
} tms_fault;

/* Factor by which a hiccup lengthens a kernel. */
#define TMS_HICCUP INT64_C(10)

/* Maximum delay [ns] of an end that --late-percent delays. */
#define TMS_LATE_NS INT64_C(2000000)

#define TMS_FAULT_BIT(fault) (INT64_C(1) << (int)(fault))

static inline bool tms_config_has(const tms_config *config, tms_fault fault) {
    return (config->faults & TMS_FAULT_BIT(fault)) != 0;
}

/* The syntax of an option's value. */
typedef enum tms_option_type {
    TMS_OPTION_NUMBER,
    TMS_OPTION_FLAG,  /* a flag: the value may be missing, or it is 1 or 0 */
    TMS_OPTION_WORD,  /* one of `words`; the field becomes the index of the word */
    TMS_OPTION_WORDS, /* any of `words`, because the option may be repeated; the field has one bit
                         for each word */
    TMS_OPTION_RANGE, /* FROM-TO: sets this field and the next one */
    TMS_OPTION_SLOW   /* the value is parsed into a new tms_slow; the field is the number of all
                         tms_slow */
} tms_option_type;

/* An option. The table of options drives parsing, --help and the truth file. */
typedef struct tms_option {
    const char *name;  /* without the leading dashes */
    const char *unit;  /* placeholder of the value in --help; empty for a flag */
    const char *help;  /* one line */
    size_t offset;     /* offset in tms_config of the field, an int64_t */
    int64_t digits;    /* number of decimals; the field is the value * 10^digits */
    int64_t initial;   /* default, scaled like the field */
    int64_t low, high; /* allowed range, scaled like the field */
    tms_option_type type;
    const char *const *words; /* the allowed words, and then NULL as the end; NULL if the option's
                                 value is not a word */
} tms_option;

/**
 * Returns all options in the table, in the order of --help.
 *
 * @param count  set to the number of rows
 * @return       the table; static
 */
const tms_option *tms_config_options(size_t *count);

/* Returns an option's value in @p config, scaled by 10^digits. */
int64_t tms_config_value(const tms_config *config, const tms_option *option);

/* Writes value / 10^digits as a decimal number without trailing zeros. */
void tms_config_print(char text[32], int64_t value, int64_t digits);

/* Returns "none", "gzip" or "zstd"; static. */
const char *tms_config_compression_name(tms_compression compress);

/* Sets the defaults; dir is NULL. */
void tms_config_init(tms_config *config);

/** Parses and checks a command line.
 *
 * @param config set on TMS_OK; with --help, only `help` is set. `dir` borrows from @p argv
 * @return TMS_OK; TMS_ERR_USAGE */
tms_status tms_config_parse(tms_config *config, int argc, char **argv, tms_error *err);

/** Checks combinations of options, and that no time in the job can overflow. */
tms_status tms_config_check(const tms_config *config, tms_error *err);

void tms_config_help(FILE *to);

/* Returns the time [ns] from the last arrival to the end in an all-reduce of a bucket over all
 * ranks, without noise. */
int64_t tms_config_transfer_ns(const tms_config *config);

/** Returns the time of a message at the job's bandwidth, plus the latency [ns].
 *
 * @param bytes   size of the message [B] by the convention of nccl-tests, at most 2^45
 * @param n       number of ranks of the group, at least 1
 * @param passes how often (n-1)/n of the bytes move: 2 for an all-reduce, 1 for an all-gather or
 *               reduce-scatter. 0 means that all bytes move once */
int64_t tms_config_move_ns(const tms_config *config, int64_t bytes, int64_t n, int64_t passes);

/* Returns the number of layers of a pipeline stage. Layers are distributed evenly. */
int64_t tms_config_stage_layers(const tms_config *config, int64_t stage);

/* Returns the number of gradient buckets of a pipeline stage: at most one per layer. */
int64_t tms_config_stage_buckets(const tms_config *config, int64_t stage);

/* Returns the size [B] of the index-th message. @p bytes is the size that the option gives. --sizes
 * changes it. */
int64_t tms_config_scaled_bytes(const tms_config *config, int64_t bytes, int64_t index);

/* Returns the number of data-parallel copies of the model in one component. */
static inline int64_t tms_config_dp(const tms_config *config) {
    return config->ranks / (config->tp * config->pp * config->components);
}

/* Returns whether only data parallelism is simulated. Its group is then the whole job. */
static inline bool tms_config_plain(const tms_config *config) {
    return config->tp == 1 && config->pp == 1 && config->components == 1;
}

/* Returns whether each step ends with two small collectives of the whole job. */
static inline bool tms_config_world(const tms_config *config) {
    if (config->no_world != 0 || config->components > 1) {
        return false;
    }
    return config->grad_norm != 0 || !tms_config_plain(config) || config->sharded != 0;
}

#endif
