/* The option table and the parser over it.
 *
 * Every number is a scaled integer (microseconds become nanoseconds, percent parts per million),
 * read digit by digit: the simulation must not depend on how a machine rounds. getopt_long is no
 * part of POSIX, and the table also writes --help and the truth file. */
#include "config.h"

#include <limits.h>
#include <string.h>

/* Two names would be needed for a value below zero, so "none" is what -1 is called. */
#define NO_RANK (-1)

/* The table finds its fields by offset, so that no option needs code of its own. */
#define FIELD(name) offsetof(tms_config, name)

/* Name, unit, help, field, decimals, default, least, greatest. Limits keep every product of two
 * fields below 2^63; what several options could exceed together tms_config_check refuses. */
static const tms_option options[] = {
    {"ranks", "N", "ranks of the job, one GPU each", FIELD(ranks), 0, 8, 1, 65536},
    {"ranks-per-host", "N", "ranks (and GPUs) on each host", FIELD(host_ranks), 0, 8, 1, 1024},
    {"steps", "N", "training steps that are recorded", FIELD(steps), 0, 5, 1, 1000000},
    {"first-step", "N", "number of the first ProfilerStep", FIELD(first_step), 0, 3, 0, INT_MAX},
    {"layers", "N", "layers of the model", FIELD(layers), 0, 12, 1, 100000},
    {"buckets", "N", "gradient buckets (all-reduces) per step, up to one a layer", FIELD(buckets),
     0, 4, 0, 100000},
    {"bytes-per-bucket", "B", "size of a gradient bucket in bytes", FIELD(bucket_bytes), 0,
     26214400, 2, (int64_t)1 << 40},
    {"compute-us", "US", "mean GPU time of a layer's forward pass in us; backward: twice",
     FIELD(compute_ns), 3, 400000, 1000, 1000000000},
    {"jitter", "PCT", "standard deviation of each duration in percent of its mean",
     FIELD(jitter_ppm), 4, 20000, 0, 1000000},
    {"bandwidth-gbps", "GBPS", "bus bandwidth of an all-reduce in GB/s (1e9 bytes)",
     FIELD(bandwidth_mbps), 3, 100000, 1, 100000000},
    {"latency-us", "US", "fixed part of an all-reduce's transfer time in us", FIELD(latency_ns), 3,
     20000, 0, 1000000000},
    {"end-jitter-ns", "NS", "greatest lag of one rank's end of an all-reduce in ns",
     FIELD(end_jitter_ns), 0, 0, 0, 1000000},
    {"slow-rank", "R", "rank whose compute kernels are slow", FIELD(slow_rank), 0, NO_RANK, 0,
     65535},
    {"slow-factor", "F", "time of the slow rank's compute kernels as a multiple", FIELD(slow_ppm),
     6, 1500000, 10000, 100000000},
    {"cpu-ops", "N", "CPU operator events per layer and direction", FIELD(cpu_ops), 0, 4, 0,
     100000},
    {"seed", "N", "seed; same seed and options give the same bytes", FIELD(seed), 0, 1, 0,
     INT64_MAX},
};

/* As typed, and as written to the truth file. */
static const char *const compression_names[TMS_COMPRESSION_COUNT] = {
    [TMS_COMPRESS_NONE] = "none",
    [TMS_COMPRESS_GZIP] = "gzip",
    [TMS_COMPRESS_ZSTD] = "zstd",
};

const tms_option *tms_config_options(size_t *count) {
    *count = sizeof options / sizeof options[0];
    return options;
}

int64_t tms_config_value(const tms_config *config, const tms_option *option) {
    int64_t value;

    /* memcpy, for the table knows fields by offset alone. */
    memcpy(&value, (const char *)config + option->offset, sizeof value);
    return value;
}

/* The other direction of tms_config_value. */
static void set_value(tms_config *config, const tms_option *option, int64_t value) {
    memcpy((char *)config + option->offset, &value, sizeof value);
}

const char *tms_config_compression_name(tms_compression compress) {
    return compression_names[compress];
}

void tms_config_format(char text[32], int64_t value, int digits) {
    int64_t unit = 1;
    int n;

    if (value == NO_RANK) {
        (void)snprintf(text, 32, "none");
        return;
    }
    for (int i = 0; i < digits; i++) {
        unit *= 10;
    }
    n = snprintf(text, 32, "%lld", (long long)(value / unit));
    if (value % unit == 0) {
        return;
    }
    n += snprintf(text + n, 32 - (size_t)n, ".%0*lld", digits, (long long)(value % unit));
    /* "400" rather than "400.000": what was typed is what is read back. */
    while (text[n - 1] == '0') {
        text[--n] = '\0';
    }
}

void tms_config_init(tms_config *config) {
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        set_value(config, &options[i], options[i].initial);
    }
}

/* Appends a decimal digit; false where the value would pass int64_t. */
static bool push_digit(int64_t *value, int digit) {
    if (*value > (INT64_MAX - digit) / 10) {
        return false;
    }
    *value = *value * 10 + digit;
    return true;
}

/* Parses "12.5" as 12500 for three digits: exact, where strtod would depend on rounding. */
static bool parse_decimal(const char *text, int digits, int64_t *value) {
    const char *p = text;
    int decimals = -1; /* digits seen after the point; -1 before it */

    *value = 0;
    for (; *p != '\0'; p++) {
        if (*p == '.' && decimals < 0 && p != text && digits > 0) {
            decimals = 0;
            continue;
        }
        if (*p < '0' || *p > '9' || decimals == digits || !push_digit(value, *p - '0')) {
            return false;
        }
        /* Counts only once the point has been seen. */
        decimals += decimals >= 0;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < digits; i++) {
        if (!push_digit(value, 0)) {
            return false;
        }
    }
    return p != text && decimals != 0;
}

/* Reads one number; the message names the allowed range, so that no manual is needed. */
static tms_status parse_number(tms_config *config, const tms_option *option, const char *text,
                               tms_error *err) {
    int64_t value;
    char low[32];
    char high[32];

    if (parse_decimal(text, option->digits, &value) && value >= option->low &&
        value <= option->high) {
        set_value(config, option, value);
        return TMS_OK;
    }
    tms_config_format(low, option->low, option->digits);
    tms_config_format(high, option->high, option->digits);
    return tms_fail(err, TMS_ERR_USAGE,
                    "--%s takes a number from %s to %s with at most %d decimals, not '%s'",
                    option->name, low, high, option->digits, text);
}

/* The one option whose value is a word. */
static tms_status parse_compression(tms_config *config, const char *text, tms_error *err) {
    for (int i = 0; i < TMS_COMPRESSION_COUNT; i++) {
        if (strcmp(text, compression_names[i]) == 0) {
            config->compress = (tms_compression)i;
            return TMS_OK;
        }
    }
    return tms_fail(err, TMS_ERR_USAGE, "--compress takes none, gzip or zstd, not '%s'", text);
}

/* A row by its name without the dashes; the name may end at an "=", hence the length. */
static const tms_option *find_option(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

/* Sets one option from its name (as typed, up to any '=') and its value. */
static tms_status parse_option(tms_config *config, const char *name, const char *value,
                               tms_error *err) {
    size_t length = strcspn(name, "=");
    const tms_option *option = NULL;

    if (strcmp(name, "-o") == 0 || (length == 8 && strncmp(name, "--output", 8) == 0)) {
        config->dir = value;
        return TMS_OK;
    }
    if (length == 10 && strncmp(name, "--compress", 10) == 0) {
        return parse_compression(config, value, err);
    }
    if (length > 2 && strncmp(name, "--", 2) == 0) {
        option = find_option(name + 2, length - 2);
    }
    if (option == NULL) {
        return tms_fail(err, TMS_ERR_USAGE, "unknown option '%s'; --help lists them", name);
    }
    return parse_number(config, option, value, err);
}

tms_status tms_config_parse(tms_config *config, int argc, char **argv, tms_error *err) {
    tms_config_init(config);
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        /* --name=value and --name value are the same. */
        const char *value = strncmp(name, "--", 2) == 0 ? strchr(name, '=') : NULL;
        tms_status status;

        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            config->help = true;
            return TMS_OK;
        }
        if (name[0] != '-') {
            return tms_fail(err, TMS_ERR_USAGE, "'%s' is not an option; the folder goes to -o",
                            name);
        }
        if (value != NULL) {
            value++;
        } else if (i + 1 < argc) {
            value = argv[++i];
        } else {
            return tms_fail(err, TMS_ERR_USAGE, "option '%s' is unknown or lacks its value", name);
        }
        status = parse_option(config, name, value, err);
        if (status != TMS_OK) {
            return status;
        }
    }
    if (config->dir == NULL || config->dir[0] == '\0') {
        return tms_fail(err, TMS_ERR_USAGE, "-o DIR is missing: it says where to write");
    }
    return tms_config_check(config, err);
}

tms_status tms_config_check(const tms_config *config, tms_error *err) {
    /* Only an estimate that guards against overflow, hence in floating point: a layer takes its
     * forward time three times and a share of the optimizer, an operator well under 20 us. */
    double layer_ns = 4.0 * (double)config->compute_ns * (1.0 + (double)config->slow_ppm * 1e-6) +
                      20e3 * (double)config->cpu_ops;
    double bucket_ns = 5.0 * (double)tms_config_transfer_ns(config) + (double)config->end_jitter_ns;
    double step_ns = layer_ns * (double)config->layers + bucket_ns * (double)config->buckets;

    if (config->buckets > config->layers) {
        return tms_fail(err, TMS_ERR_USAGE, "--buckets %lld is more than --layers %lld",
                        (long long)config->buckets, (long long)config->layers);
    }
    if (config->slow_rank >= config->ranks) {
        return tms_fail(err, TMS_ERR_USAGE, "--slow-rank %lld is not below --ranks %lld",
                        (long long)config->slow_rank, (long long)config->ranks);
    }
    if (step_ns * (double)config->steps > 1e17) {
        return tms_fail(err, TMS_ERR_USAGE, "the simulated job would last longer than 3 years");
    }
    return TMS_OK;
}

void tms_config_help(FILE *to) {
    fprintf(to, "usage: tmerge-synth -o DIR [options]\n\n"
                "Writes the PyTorch profiler traces of a simulated data-parallel training job,\n"
                "DIR/profile_rank_0.json and so on, and DIR/truth.json: what any analysis of\n"
                "them has to find, in whole nanoseconds.\n\n"
                "  -o, --output DIR         folder to write to, created when missing\n");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        char left[64];
        char initial[32];

        (void)snprintf(left, sizeof left, "--%s %s", options[i].name, options[i].unit);
        tms_config_format(initial, options[i].initial, options[i].digits);
        fprintf(to, "      %-24s %s (default %s)\n", left, options[i].help, initial);
    }
    fprintf(to, "      %-24s none, gzip or zstd (default none)\n", "--compress WHICH");
    fprintf(to, "  -h, %-24s this text\n", "--help");
}

/* Worked out in integers from the whole and the rest of bytes / ranks, so that no product passes
 * 2^63 with the largest bucket and the most ranks. */
int64_t tms_config_transfer_ns(const tms_config *config) {
    /* nccl-tests: a ring moves 2(n-1)/n of the bytes; B / (1e6 B/s) = us, hence the 1000. */
    int64_t moved = config->bucket_bytes / config->ranks * 2 * (config->ranks - 1) +
                    config->bucket_bytes % config->ranks * 2 * (config->ranks - 1) / config->ranks;

    return moved * 1000 / config->bandwidth_mbps + config->latency_ns;
}
