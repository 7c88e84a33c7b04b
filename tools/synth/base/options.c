/* The table of options, and the printing of their values. */
#include "config.h"

#include <limits.h>
#include <string.h>

/* No option takes negative values, so -1 means "none", and is printed as that word. */
#define NO_RANK (-1)

/* Gives the offset of a field. The table has offsets, so that an option needs no code. */
#define FIELD(name) offsetof(tms_config, name)

/* The last two members of most rows: the type of the option, and the list of its words. */
#define NUMBER TMS_OPTION_NUMBER, NULL
#define FLAG TMS_OPTION_FLAG, NULL

/* Words of options, in the order of the enumerations in config.h. */
static const char *const size_words[] = {"fixed", "small", "mixed", "large", NULL};
static const char *const slow_words[] = {"gpu", "host", NULL};
static const char *const fault_words[] = {"slow-loader", "small-kernels", "no-overlap",
                                          "leak",        "pageable",      NULL};
static const char *const format_words[] = {"kineto", "nsys", "xplane", "ascend", NULL};

/* The limits keep every product of two fields below 2^63. tms_config_check also rejects
 * combinations of values that are too large. */
static const tms_option options[] = {
    {"ranks", "N", "ranks of the job, one GPU each", FIELD(ranks), 0, 8, 1, 65536, NUMBER},
    {"ranks-per-host", "N", "ranks (and GPUs) on each host", FIELD(host_ranks), 0, 8, 1, 1024,
     NUMBER},
    {"steps", "N", "training steps that are recorded", FIELD(steps), 0, 5, 1, 1000000, NUMBER},
    {"first-step", "N", "number of the first ProfilerStep", FIELD(first_step), 0, 3, 0, INT_MAX,
     NUMBER},
    {"layers", "N", "layers of the model", FIELD(layers), 0, 12, 1, 100000, NUMBER},
    {"buckets", "N", "gradient buckets (all-reduces) per step, up to one a layer", FIELD(buckets),
     0, 4, 0, 100000, NUMBER},
    {"bytes-per-bucket", "B", "size of a gradient bucket in bytes", FIELD(bucket_bytes), 0,
     26214400, 2, (int64_t)1 << 40, NUMBER},
    {"compute-us", "US", "mean GPU time of a layer's forward pass in us; backward: twice",
     FIELD(compute_ns), 3, 400000, 1000, 1000000000, NUMBER},
    {"jitter", "PCT", "standard deviation of each duration in percent of its mean",
     FIELD(jitter_ppm), 4, 20000, 0, 1000000, NUMBER},
    {"share-jitter", "PCT",
     "standard deviation of a model copy's share of the data, drawn in each step, in percent",
     FIELD(share_ppm), 4, 0, 0, 1000000, NUMBER},
    {"host-jitter", "PCT",
     "standard deviation of the part of a kernel's duration that a host's ranks share, in percent",
     FIELD(shared_ppm), 4, 0, 0, 1000000, NUMBER},
    {"hiccup-percent", "PCT", "compute kernels that take 10 times as long", FIELD(hiccup_ppm), 4, 0,
     0, 1000000, NUMBER},
    {"bandwidth-gbps", "GBPS", "bus bandwidth of an all-reduce in GB/s (1e9 bytes)",
     FIELD(bandwidth_mbps), 3, 100000, 1, 100000000, NUMBER},
    {"latency-us", "US", "fixed part of an all-reduce's transfer time in us", FIELD(latency_ns), 3,
     20000, 0, 1000000000, NUMBER},
    {"end-jitter-ns", "NS", "greatest lag of one rank's end of an all-reduce in ns",
     FIELD(end_jitter_ns), 0, 0, 0, 1000000, NUMBER},
    {"slow-rank", "R", "rank that is slow in all steps or --slow-steps", FIELD(slow_rank), 0,
     NO_RANK, 0, 65535, NUMBER},
    {"slow-factor", "F", "time of the slow rank's kernels, or of its launches, as a multiple",
     FIELD(slow_ppm), 6, 1500000, 10000, 100000000, NUMBER},
    {"cpu-ops", "N", "CPU operator events per layer and direction", FIELD(cpu_ops), 0, 4, 0, 100000,
     NUMBER},
    {"seed", "N", "seed; same seed and options give the same bytes", FIELD(seed), 0, 1, 0,
     INT64_MAX, NUMBER},
    {"tp", "N", "ranks of a tensor-parallel group; tp changes fastest, then dp, then pp", FIELD(tp),
     0, 1, 1, 65536, NUMBER},
    {"pp", "N", "stages of the pipeline (all forward passes first, as GPipe)", FIELD(pp), 0, 1, 1,
     65536, NUMBER},
    {"microbatches", "N", "microbatches per step", FIELD(microbatches), 0, 1, 1, 10000, NUMBER},
    {"sequence-parallel", "", "tensor parallelism by all-gathers and reduce-scatters",
     FIELD(sequence_parallel), 0, 0, 0, 1, FLAG},
    {"sharded", "", "reduce-scatters of gradients and all-gathers of parameters", FIELD(sharded), 0,
     0, 0, 1, FLAG},
    {"blocking", "", "nothing is computed while a gradient bucket is reduced", FIELD(blocking), 0,
     0, 0, 1, FLAG},
    {"grad-norm", "", "two small collectives of all ranks per step; always with tp, pp or sharded",
     FIELD(grad_norm), 0, 0, 0, 1, FLAG},
    {"no-world", "", "no collective has all ranks", FIELD(no_world), 0, 0, 0, 1, FLAG},
    {"components", "N", "equal parts of the job, of whole hosts, that never communicate",
     FIELD(components), 0, 1, 1, 65536, NUMBER},
    {"activation-bytes", "B", "size of a layer's activations in bytes", FIELD(activation_bytes), 0,
     4194304, 2, (int64_t)1 << 40, NUMBER},
    {"sizes", "WORD", "sizes of messages: fixed, small, mixed or large", FIELD(sizes), 0, 0, 0, 3,
     TMS_OPTION_WORD, size_words},
    {"slow-kind", "WORD", "what is slow: gpu (its kernels) or host (its launches)",
     FIELD(slow_kind), 0, 0, 0, 1, TMS_OPTION_WORD, slow_words},
    {"slow-steps", "FROM-TO", "numbers of the slow steps (default: all)", FIELD(slow_from), 0,
     NO_RANK, 0, INT_MAX, TMS_OPTION_RANGE, NULL},
    {"slow", "R:F[:S[:K]]",
     "ranks R take F times as long, in steps S, kernels K (N or FROM-TO);"
     " repeatable",
     FIELD(n_slow), 0, 0, 0, TMS_MOST_SLOW, TMS_OPTION_SLOW, NULL},
    {"rotating", "", "each step another rank is slow", FIELD(rotating), 0, 0, 0, 1, FLAG},
    {"offset-us", "US",
     "standard deviation of the hosts' clock offsets (at most 3.5 of it; host 0: 0)",
     FIELD(offset_ns), 3, 0, 0, 10000000000, NUMBER},
    {"drift-ppb", "PPB",
     "standard deviation of the hosts' clock drifts (at most 3.5 of it; host 0: 0)",
     FIELD(drift_ppb), 0, 0, 0, 1000000, NUMBER},
    {"ntp-step-us", "US", "the last host's clock is set forward by this in the middle",
     FIELD(ntp_step_ns), 3, 0, 0, 10000000000, NUMBER},
    {"gpu-error-ns", "NS", "greatest error of a GPU's clock against its host's in ns",
     FIELD(gpu_error_ns), 0, 0, 0, 1000000, NUMBER},
    {"end-bias-ns", "NS",
     "how much later a group's last member ends an operation than its first, in ns; in a pair, "
     "either is later",
     FIELD(end_bias_ns), 0, 0, 0, 1000000, NUMBER},
    {"late-percent", "PCT", "communication kernels that end up to 2 ms late on their rank alone",
     FIELD(late_ppm), 4, 0, 0, 1000000, NUMBER},
    {"lost-percent", "PCT", "communication kernels missing in the traces", FIELD(lost_ppm), 4, 0, 0,
     1000000, NUMBER},
    {"window-skew", "N", "recordings begin up to this many steps late", FIELD(window_skew), 0, 0, 0,
     1000000, NUMBER},
    {"no-metadata", "", "kernels carry no arguments of their collective", FIELD(no_metadata), 0, 0,
     0, 1, FLAG},
    {"custom-all-reduce", "",
     "all-reduces of tensor groups are kernels of their own, without metadata",
     FIELD(custom_all_reduce), 0, 0, 0, 1, FLAG},
    {"graphs", "", "each step is a CUDA graph: one launch, and no metadata", FIELD(graphs), 0, 0, 0,
     1, FLAG},
    {"seq", "", "collectives carry a sequence number", FIELD(seq), 0, 0, 0, 1, FLAG},
    {"comms-id", "", "collectives carry a Comms Id", FIELD(comms_id), 0, 0, 0, 1, FLAG},
    {"fault", "WORD", "slow-loader, small-kernels, no-overlap, leak or pageable; repeatable",
     FIELD(faults), 0, 0, 0, 31, TMS_OPTION_WORDS, fault_words},
    {"no-instances", "", "truth.json without the list of collectives", FIELD(no_instances), 0, 0, 0,
     1, FLAG},
    {"format", "WORD",
     "kineto (PyTorch profiler, JSON), nsys (Nsight Systems, sqlite), xplane (TensorFlow and JAX,"
     " a file a host) or ascend (torch_npu, JSON)",
     FIELD(format), 0, 0, 0, 3, TMS_OPTION_WORD, format_words},
    {"ranks-per-file", "N", "processes of one host that share a file of --format nsys",
     FIELD(ranks_per_file), 0, 1, 1, 1024, NUMBER},
    {"host-tables", "",
     "with --format nsys: also the tables of host and memory in its documented schema",
     FIELD(host_tables), 0, 0, 0, 1, FLAG},
    {"target-gb", "GB", "sets --steps such that all traces together have about this size",
     FIELD(target_mb), 3, 0, 0, 100000000, NUMBER},
};

const tms_option *tms_config_options(size_t *count) {
    *count = sizeof options / sizeof options[0];
    return options;
}

int64_t tms_config_value(const tms_config *config, const tms_option *option) {
    int64_t value;

    /* The value is copied with memcpy, because the table has only the field's offset. */
    memcpy(&value, (const char *)config + option->offset, sizeof value);
    return value;
}

void tms_config_print(char text[32], int64_t value, int64_t digits) {
    int64_t unit = 1;
    int n;

    if (value == NO_RANK) {
        (void)snprintf(text, 32, "none");
        return;
    }
    for (int64_t i = 0; i < digits; i++) {
        unit *= 10;
    }
    n = snprintf(text, 32, "%lld", (long long)(value / unit));
    if (value % unit == 0) {
        return;
    }
    n += snprintf(text + n, 32 - (size_t)n, ".%0*lld", (int)digits, (long long)(value % unit));
    /* "400", not "400.000". */
    while (text[n - 1] == '0') {
        text[--n] = '\0';
    }
}
