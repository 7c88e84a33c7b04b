/* Parses options by the option table, and computes values that depend on several options. Every
 * number is stored as an integer: microseconds become nanoseconds, and percentages become parts per
 * million. Numbers are parsed digit by digit, because the output must not depend on how a machine
 * rounds. getopt_long is not used, because POSIX does not have it. Besides, --help and the truth
 * file are made from the same table. */
#include "config.h"

#include <limits.h>
#include <string.h>

/* Words of --compress, also used in the truth file. */
static const char *const compression_names[TMS_COMPRESSION_COUNT] = {
    [TMS_COMPRESS_NONE] = "none",
    [TMS_COMPRESS_GZIP] = "gzip",
    [TMS_COMPRESS_ZSTD] = "zstd",
};

/* Sets a field of an option. @p index 0 is the option's own field, 1 the next field, and so on. */
static void set_value(tms_config *config, const tms_option *option, int64_t value, size_t index) {
    memcpy((char *)config + option->offset + index * sizeof value, &value, sizeof value);
}

const char *tms_config_compression_name(tms_compression compress) {
    return compression_names[compress];
}

void tms_config_init(tms_config *config) {
    size_t count;
    const tms_option *options = tms_config_options(&count);

    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < count; i++) {
        set_value(config, &options[i], options[i].initial, 0);
        if (options[i].type == TMS_OPTION_RANGE) {
            set_value(config, &options[i], options[i].initial, 1);
        }
    }
}

/* Appends a decimal digit. Returns false if the value would exceed int64_t. */
static bool push_digit(int64_t *value, int digit) {
    if (*value > (INT64_MAX - digit) / 10) {
        return false;
    }
    *value = *value * 10 + digit;
    return true;
}

/* Parses a decimal number, and multiplies it by 10^digits. For example, "12.5" becomes 12500 if @p
 * digits is 3. The result is exact. With strtod, it would not be. */
static bool parse_decimal(const char *text, int64_t digits, int64_t *value) {
    const char *p = text;
    int64_t decimals = -1; /* digits after the point so far; -1 before the point */

    *value = 0;
    for (; *p != '\0'; p++) {
        if (*p == '.' && decimals < 0 && p != text && digits > 0) {
            decimals = 0;
            continue;
        }
        if (*p < '0' || *p > '9' || decimals == digits || !push_digit(value, *p - '0')) {
            return false;
        }
        decimals += decimals >= 0;
    }
    for (int64_t i = decimals < 0 ? 0 : decimals; i < digits; i++) {
        if (!push_digit(value, 0)) {
            return false;
        }
    }
    return p != text && decimals != 0;
}

/* Parses a number. The error names the allowed range. */
static tms_status parse_number(tms_config *config, const tms_option *option, const char *text,
                               tms_error *err) {
    int64_t value;
    char low[32];
    char high[32];

    if (parse_decimal(text, option->digits, &value) && value >= option->low &&
        value <= option->high) {
        set_value(config, option, value, 0);
        return TMS_OK;
    }
    tms_config_print(low, option->low, option->digits);
    tms_config_print(high, option->high, option->digits);
    return tms_fail(err, TMS_ERR_USAGE,
                    "--%s takes a number from %s to %s with at most %lld decimals, not '%s'",
                    option->name, low, high, (long long)option->digits, text);
}

/* Parses a word. Sets the option's field to the index of the word. If the option accepts several
 * words, adds the word to the set in the field instead. */
static tms_status parse_word(tms_config *config, const tms_option *option, const char *text,
                             tms_error *err) {
    for (int64_t i = 0; option->words[i] != NULL; i++) {
        if (strcmp(text, option->words[i]) == 0) {
            bool set = option->type == TMS_OPTION_WORDS;
            int64_t others = tms_config_value(config, option);

            set_value(config, option, set ? others | INT64_C(1) << i : i, 0);
            return TMS_OK;
        }
    }
    return tms_fail(err, TMS_ERR_USAGE, "--%s does not know the word '%s' (%s)", option->name, text,
                    option->help);
}

/* Parses N or FROM-TO, both inclusive. If @p text is NULL, sets nothing. */
static bool parse_span(const char *text, int64_t *from, int64_t *to) {
    char first[32];
    size_t length = text != NULL ? strcspn(text, "-") : sizeof first;

    if (length >= sizeof first) {
        return text == NULL;
    }
    memcpy(first, text, length);
    first[length] = '\0';
    return parse_decimal(first, 0, from) &&
           parse_decimal(text[length] == '-' ? text + length + 1 : first, 0, to) && *from <= *to;
}

static tms_status parse_range(tms_config *config, const tms_option *option, const char *text,
                              tms_error *err) {
    int64_t low;
    int64_t high;

    if (strchr(text, '-') == NULL || !parse_span(text, &low, &high) || high > option->high) {
        return tms_fail(err, TMS_ERR_USAGE, "--%s takes two numbers FROM-TO, not '%s'",
                        option->name, text);
    }
    set_value(config, option, low, 0);
    set_value(config, option, high, 1);
    return TMS_OK;
}

/* Parses the value R:F[:S[:K]] of --slow (ranks, factor, steps, kernels) and appends it. */
static tms_status parse_slow(tms_config *config, const tms_option *option, const char *text,
                             tms_error *err) {
    tms_slow slow = {text, 0, 0, 0, -1, -1, -1, -1};
    char copy[128] = "";
    char *fields[4] = {NULL};
    char *rest = copy;

    (void)snprintf(copy, sizeof copy, "%s", text);
    for (int i = 0; i < 4 && rest != NULL; i++) {
        fields[i] = rest;
        rest = strchr(rest, ':');
        if (rest != NULL) {
            *rest++ = '\0';
        }
    }
    if (strlen(text) >= sizeof copy || rest != NULL || fields[1] == NULL ||
        config->n_slow == option->high ||
        !parse_span(fields[0], &slow.first_rank, &slow.last_rank) ||
        !parse_decimal(fields[1], 6, &slow.ppm) || slow.ppm < 10000 || slow.ppm > TMS_SLOWEST_PPM ||
        !parse_span(fields[2], &slow.first_step, &slow.last_step) ||
        !parse_span(fields[3], &slow.first_kernel, &slow.last_kernel)) {
        return tms_fail(err, TMS_ERR_USAGE,
                        "--slow takes RANKS:FACTOR[:STEPS[:KERNELS]], up to %d times, not '%s'",
                        TMS_MOST_SLOW, text);
    }
    config->slow[config->n_slow++] = slow;
    return TMS_OK;
}

/* Parses --compress. It is not in the table, because its field is an enumeration. */
static tms_status parse_compression(tms_config *config, const char *text, tms_error *err) {
    for (int i = 0; i < TMS_COMPRESSION_COUNT; i++) {
        if (strcmp(text, compression_names[i]) == 0) {
            config->compress = (tms_compression)i;
            return TMS_OK;
        }
    }
    return tms_fail(err, TMS_ERR_USAGE, "--compress takes none, gzip or zstd, not '%s'", text);
}

/* Finds an option by its name with dashes. The name ends at an "=". */
static const tms_option *find_option(const char *name) {
    size_t count;
    const tms_option *options = tms_config_options(&count);
    size_t length = strcspn(name, "=");

    for (size_t i = 0; i < count && strncmp(name, "--", 2) == 0; i++) {
        if (strlen(options[i].name) == length - 2 &&
            strncmp(options[i].name, name + 2, length - 2) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

/* Sets an option. @p name is as typed, and may continue with "=VALUE". */
static tms_status parse_option(tms_config *config, const char *name, const char *value,
                               tms_error *err) {
    size_t length = strcspn(name, "=");
    const tms_option *option = find_option(name);

    if (strcmp(name, "-o") == 0 || (length == 8 && strncmp(name, "--output", 8) == 0)) {
        config->dir = value;
        return TMS_OK;
    }
    if (length == 10 && strncmp(name, "--compress", 10) == 0) {
        return parse_compression(config, value, err);
    }
    if (option == NULL) {
        return tms_fail(err, TMS_ERR_USAGE, "unknown option '%s'; --help lists them", name);
    }
    switch (option->type) {
    case TMS_OPTION_WORD:
    case TMS_OPTION_WORDS:
        return parse_word(config, option, value, err);
    case TMS_OPTION_RANGE:
        return parse_range(config, option, value, err);
    case TMS_OPTION_SLOW:
        return parse_slow(config, option, value, err);
    case TMS_OPTION_FLAG:
    case TMS_OPTION_NUMBER:
        break;
    }
    return parse_number(config, option, value, err);
}

/* Returns the value of the option argv[*i], given as --name=value or --name value; NULL if there is
 * none. Moves *i to the last argument used. */
static const char *value_of(int argc, char **argv, int *i) {
    const char *name = argv[*i];
    const char *equals = strncmp(name, "--", 2) == 0 ? strchr(name, '=') : NULL;
    const tms_option *option = find_option(name);

    if (equals != NULL) {
        return equals + 1;
    }
    if (option != NULL && option->type == TMS_OPTION_FLAG) {
        return "1";
    }
    return *i + 1 < argc ? argv[++*i] : NULL;
}

tms_status tms_config_parse(tms_config *config, int argc, char **argv, tms_error *err) {
    tms_config_init(config);
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        const char *value;
        tms_status status;

        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            config->help = true;
            return TMS_OK;
        }
        if (name[0] != '-') {
            return tms_fail(err, TMS_ERR_USAGE, "'%s' is not an option; the folder goes to -o",
                            name);
        }
        value = value_of(argc, argv, &i);
        if (value == NULL) {
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
    if (config->format == TMS_FORMAT_XPLANE) {
        if (config->ranks_per_file != 1) {
            return tms_fail(err, TMS_ERR_USAGE, "--ranks-per-file needs --format nsys");
        }
        config->ranks_per_file = config->host_ranks;
    }
    return tms_config_check(config, err);
}

/* Checks how the job is distributed over its ranks. */
static tms_status check_parallelism(const tms_config *config, tms_error *err) {
    if (config->ranks % (config->tp * config->pp * config->components) != 0) {
        return tms_fail(
            err, TMS_ERR_USAGE,
            "--ranks %lld is not a multiple of --tp %lld x --pp %lld x --components %lld",
            (long long)config->ranks, (long long)config->tp, (long long)config->pp,
            (long long)config->components);
    }
    /* Ranks of a host share a clock, so a host must not have ranks of two components. */
    if (config->components > 1 && config->ranks / config->components % config->host_ranks != 0) {
        return tms_fail(err, TMS_ERR_USAGE, "--components %lld does not divide the hosts",
                        (long long)config->components);
    }
    if (config->grad_norm != 0 && (config->no_world != 0 || config->components > 1)) {
        return tms_fail(err, TMS_ERR_USAGE,
                        "--grad-norm needs all ranks: no --no-world, no --components");
    }
    if (config->pp > config->layers) {
        return tms_fail(err, TMS_ERR_USAGE, "--pp %lld is more than --layers %lld",
                        (long long)config->pp, (long long)config->layers);
    }
    if (config->sequence_parallel != 0 && config->tp == 1) {
        return tms_fail(err, TMS_ERR_USAGE, "--sequence-parallel needs --tp 2 or more");
    }
    if (config->buckets > config->layers) {
        return tms_fail(err, TMS_ERR_USAGE, "--buckets %lld is more than --layers %lld",
                        (long long)config->buckets, (long long)config->layers);
    }
    return TMS_OK;
}

static tms_status check_slowness(const tms_config *config, tms_error *err) {
    if (config->slow_rank >= config->ranks) {
        return tms_fail(err, TMS_ERR_USAGE, "--slow-rank %lld is not below --ranks %lld",
                        (long long)config->slow_rank, (long long)config->ranks);
    }
    if (config->rotating != 0 && config->slow_rank >= 0) {
        return tms_fail(err, TMS_ERR_USAGE, "--rotating chooses the slow rank: no --slow-rank");
    }
    if (config->slow_kind == TMS_SLOW_HOST && config->slow_ppm < 1000000) {
        return tms_fail(err, TMS_ERR_USAGE, "--slow-kind host needs --slow-factor 1 or more");
    }
    for (int64_t i = 0; i < config->n_slow; i++) {
        const tms_slow *slow = &config->slow[i];

        if (slow->last_rank >= config->ranks ||
            (config->slow_kind == TMS_SLOW_HOST && slow->ppm < 1000000)) {
            return tms_fail(err, TMS_ERR_USAGE,
                            "--slow %s: no such rank, or a factor below 1 for a slow host",
                            slow->text);
        }
    }
    if (config->window_skew >= config->steps && config->target_mb == 0) {
        return tms_fail(err, TMS_ERR_USAGE, "--window-skew %lld is not below --steps %lld",
                        (long long)config->window_skew, (long long)config->steps);
    }
    return TMS_OK;
}

static tms_status check_format(const tms_config *config, tms_error *err) {
    if (config->format != TMS_FORMAT_NSYS && config->format != TMS_FORMAT_XPLANE &&
        config->ranks_per_file > 1) {
        return tms_fail(err, TMS_ERR_USAGE, "--ranks-per-file needs --format nsys");
    }
    if (config->format != TMS_FORMAT_KINETO &&
        (config->custom_all_reduce != 0 || config->graphs != 0)) {
        return tms_fail(err, TMS_ERR_USAGE,
                        "--custom-all-reduce and --graphs are only for --format kineto");
    }
    /* A file has the clock of one host, so it must not have ranks of two hosts. */
    if (config->host_ranks % config->ranks_per_file != 0) {
        return tms_fail(err, TMS_ERR_USAGE,
                        "--ranks-per-file %lld does not divide "
                        "--ranks-per-host %lld",
                        (long long)config->ranks_per_file, (long long)config->host_ranks);
    }
    if (config->format == TMS_FORMAT_NSYS && config->compress != TMS_COMPRESS_NONE) {
        return tms_fail(err, TMS_ERR_USAGE, "--compress is not for --format nsys");
    }
    if (config->format != TMS_FORMAT_KINETO && config->target_mb > 0) {
        return tms_fail(err, TMS_ERR_USAGE, "--target-gb is only for --format kineto");
    }
    return TMS_OK;
}

/* Estimates a step's length [ns], only to prevent overflow, so floating point is good enough. A
 * layer takes three times its forward time and a share of the optimizer; an operator takes far less
 * than 20 us. */
static double step_estimate_ns(const tms_config *config) {
    double most = config->n_slow > 0 ? 1e-6 * (double)TMS_SLOWEST_PPM * (double)TMS_SLOWEST_PPM
                                     : (double)config->slow_ppm;
    /* The largest factor by which noise can lengthen steps and kernels: noise is at most 3.5
     * standard deviations. */
    double slow = (1.0 + most * 1e-6) * (1.0 + 3.5e-6 * (double)config->share_ppm) *
                  (1.0 + 3.5e-6 * (double)config->shared_ppm) *
                  (config->hiccup_ppm > 0 ? (double)TMS_HICCUP : 1.0);
    double layer_ns = 4.0 * (double)config->compute_ns * slow + 20e3 * (double)config->cpu_ops +
                      (tms_config_has(config, TMS_FAULT_SMALL_KERNELS) ? 1e6 * slow : 0.0);
    double bucket_ns = 5.0 * (double)tms_config_transfer_ns(config) + (double)config->end_jitter_ns;
    double activation_ns =
        config->tp == 1 && config->pp == 1
            ? 0.0
            : 40.0 * (double)tms_config_move_ns(config, 16 * config->activation_bytes, 2, 0);
    double scale = config->sizes == TMS_SIZES_FIXED ? 1.0 : 16.0;
    /* No rank takes part in more than nine collectives per layer. */
    double late_ns = config->late_ppm > 0 ? 9.0 * (double)TMS_LATE_NS : 0.0;

    return (layer_ns + activation_ns + late_ns) * (double)config->layers *
               (double)config->microbatches +
           2.0 * scale * bucket_ns * (double)config->buckets;
}

tms_status tms_config_check(const tms_config *config, tms_error *err) {
    tms_status status = check_parallelism(config, err);

    if (status == TMS_OK) {
        status = check_slowness(config, err);
    }
    if (status == TMS_OK) {
        status = check_format(config, err);
    }
    if (status == TMS_OK && step_estimate_ns(config) * (double)config->steps > 2e17) {
        status = tms_fail(err, TMS_ERR_USAGE, "the simulated job would last longer than 3 years");
    }
    return status;
}

void tms_config_help(FILE *to) {
    size_t count;
    const tms_option *options = tms_config_options(&count);

    fprintf(to, "usage: tmerge-synth -o DIR [options]\n\n"
                "Writes the profiles of a simulated training job, DIR/profile_rank_0.json\n"
                "and so on, or as the chosen format names them, and DIR/truth.json: the right\n"
                "results of an analysis, in whole nanoseconds.\n\n"
                "  -o, --output DIR         folder to write to, created when missing\n");
    for (size_t i = 0; i < count; i++) {
        char left[64];
        char initial[32];

        (void)snprintf(left, sizeof left, "--%s %s", options[i].name, options[i].unit);
        fprintf(to, "      %-24s %s", left, options[i].help);
        if (options[i].type == TMS_OPTION_NUMBER) {
            tms_config_print(initial, options[i].initial, options[i].digits);
            fprintf(to, " (default %s)", initial);
        } else if (options[i].type == TMS_OPTION_WORD) {
            fprintf(to, " (default %s)", options[i].words[0]);
        }
        fprintf(to, "\n");
    }
    fprintf(to, "      %-24s none, gzip or zstd (default none)\n", "--compress WHICH");
    fprintf(to, "  -h, %-24s this text\n", "--help");
}

/* Multiplies the quotient and the remainder of bytes / n separately, so that no product exceeds
 * 2^63. */
int64_t tms_config_move_ns(const tms_config *config, int64_t bytes, int64_t n, int64_t passes) {
    int64_t moved = bytes;

    if (passes > 0) {
        moved = bytes / n * passes * (n - 1) + bytes % n * passes * (n - 1) / n;
    }
    /* bytes divided by bandwidth in 1e6 B/s is a time in microseconds */
    return moved * 1000 / config->bandwidth_mbps + config->latency_ns;
}

int64_t tms_config_transfer_ns(const tms_config *config) {
    /* As in nccl-tests: a ring all-reduce moves 2(n-1)/n of the bytes. */
    return tms_config_move_ns(config, config->bucket_bytes, config->ranks, 2);
}

int64_t tms_config_stage_layers(const tms_config *config, int64_t stage) {
    return (stage + 1) * config->layers / config->pp - stage * config->layers / config->pp;
}

int64_t tms_config_stage_buckets(const tms_config *config, int64_t stage) {
    int64_t layers = tms_config_stage_layers(config, stage);

    return config->buckets < layers ? config->buckets : layers;
}

int64_t tms_config_scaled_bytes(const tms_config *config, int64_t bytes, int64_t index) {
    /* Message sizes in units of 1/64 of the size that the option gives. Successive messages use
     * them in turn. */
    static const int64_t mixed[] = {1, 8, 64, 256};
    int64_t scaled = bytes;

    if (config->sizes == TMS_SIZES_SMALL) {
        scaled = bytes / 256;
    } else if (config->sizes == TMS_SIZES_MIXED) {
        scaled = bytes / 64 * mixed[index % 4];
    } else if (config->sizes == TMS_SIZES_LARGE) {
        scaled = bytes * 16;
    }
    return scaled > 2 ? scaled : 2;
}
