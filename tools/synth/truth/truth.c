/* Writes the truth as JSON. All numbers are integers, which every reader with 64-bit numbers keeps
 * exactly. Writes rank by rank, so that only the plan is in memory. */
#include "truth.h"

#include "synth/sim/host_clock.h"
#include "synth/sim/injected_faults.h"

/* Limits above which the list of collectives is omitted: it would be too large to read, and slower
 * to write than the traces. */
#define MOST_INSTANCES 200000
#define MOST_ARRIVALS 4000000

/* Writes ', "name": value'. The comma comes first, so this cannot write the first member of an
 * object. */
static void member(tms_out *out, const char *name, int64_t value) {
    tms_out_text(out, ", \"", 3);
    tms_out_string(out, name);
    tms_out_text(out, "\": ", 3);
    tms_out_int(out, value);
}

static void text_member(tms_out *out, const char *name, const char *value) {
    tms_out_text(out, ", \"", 3);
    tms_out_string(out, name);
    tms_out_text(out, "\": \"", 4);
    tms_out_string(out, value);
    tms_out_text(out, "\"", 1);
}

static void words(tms_out *out, const tms_option *option, int64_t set) {
    bool first = true;

    tms_out_text(out, "[", 1);
    for (int i = 0; option->words[i] != NULL; i++) {
        if ((set >> i & 1) != 0) {
            tms_out_string(out, first ? "\"" : ", \"");
            tms_out_string(out, option->words[i]);
            tms_out_text(out, "\"", 1);
            first = false;
        }
    }
    tms_out_text(out, "]", 1);
}

static void option_value(tms_out *out, const tms_config *config, const tms_option *option) {
    int64_t value = tms_config_value(config, option);
    char text[32];

    switch (option->type) {
    case TMS_OPTION_NUMBER:
        tms_config_print(text, value, option->digits);
        /* -1 means that the option was not given, as with --slow-rank. */
        tms_out_string(out, value < 0 ? "null" : text);
        break;
    case TMS_OPTION_FLAG:
        tms_out_string(out, value != 0 ? "true" : "false");
        break;
    case TMS_OPTION_WORD:
        tms_out_text(out, "\"", 1);
        tms_out_string(out, option->words[value]);
        tms_out_text(out, "\"", 1);
        break;
    case TMS_OPTION_WORDS:
        words(out, option, value);
        break;
    case TMS_OPTION_RANGE: /* only --slow-steps */
        if (value < 0) {
            tms_out_string(out, "null");
        } else {
            tms_out_text(out, "[", 1);
            tms_out_int(out, config->slow_from);
            tms_out_text(out, ", ", 2);
            tms_out_int(out, config->slow_to);
            tms_out_text(out, "]", 1);
        }
        break;
    case TMS_OPTION_SLOW:
        tms_out_text(out, "[", 1);
        for (int64_t i = 0; i < config->n_slow; i++) {
            tms_out_string(out, i > 0 ? ", \"" : "\"");
            tms_out_string(out, config->slow[i].text);
            tms_out_text(out, "\"", 1);
        }
        tms_out_text(out, "]", 1);
        break;
    }
}

/* Writes all options, so that a truth file shows how to make the traces again. */
static void config_members(tms_out *out, const tms_config *config) {
    size_t count;
    const tms_option *options = tms_config_options(&count);

    /* The keys are the names of the options, with "_" in place of "-". */
    for (size_t i = 0; i < count; i++) {
        tms_out_text(out, "\"", 1);
        for (const char *p = options[i].name; *p != '\0'; p++) {
            tms_out_text(out, *p == '-' ? "_" : p, 1);
        }
        tms_out_text(out, "\": ", 3);
        option_value(out, config, &options[i]);
        tms_out_text(out, ", ", 2);
    }
    tms_out_string(out, "\"compress\": \"");
    tms_out_string(out, tms_config_compression_name(config->compress));
    tms_out_text(out, "\"", 1);
}

/* Writes the clock of each host. sim/host_clock.h has the formula. */
static void hosts(tms_out *out, const tms_plan *plan) {
    const tms_config *config = plan->config;

    tms_out_string(out, "\"epoch_ns\": ");
    tms_out_int(out, TMS_EPOCH_NS);
    tms_out_string(out, ",\n \"hosts\": [");
    for (int64_t rank = 0; rank < config->ranks; rank += config->host_ranks) {
        tms_placement placement = tms_placement_of(config, rank);
        tms_clock clock = tms_clock_of(plan, &placement);

        tms_out_string(out, rank > 0 ? ",\n  {\"host\": \"host" : "\n  {\"host\": \"host");
        tms_out_int(out, placement.host);
        tms_out_text(out, "\"", 1);
        member(out, "offset_ns", clock.offset_ns);
        member(out, "drift_ppb", clock.drift_ppb);
        member(out, "ntp_step_ns", clock.step_ns);
        member(out, "ntp_step_at_ns", clock.step_at_ns);
        tms_out_text(out, "}", 1);
    }
    tms_out_text(out, "]", 1);
}

static void straggler(tms_out *out, const tms_config *config) {
    tms_out_string(out, "\"straggler\": ");
    if (config->slow_rank < 0 && config->rotating == 0) {
        tms_out_string(out, "null");
        return;
    }
    tms_out_string(out, config->slow_kind == TMS_SLOW_HOST ? "{\"kind\": \"host\", \"rank\": "
                                                           : "{\"kind\": \"gpu\", \"rank\": ");
    if (config->rotating != 0) {
        tms_out_string(out, "null");
    } else {
        tms_out_int(out, config->slow_rank);
    }
    /* The slow rank of each step; -1: none. */
    tms_out_string(out, ", \"by_step\": [");
    for (int64_t step = 0; step < config->steps; step++) {
        tms_out_string(out, step > 0 ? ", " : "");
        tms_out_int(out, tms_injected_slow_rank(config, step));
    }
    tms_out_string(out, "]}");
}

void tms_truth_begin(tms_out *out, const tms_plan *plan) {
    tms_out_string(out, "{\"seed\": ");
    tms_out_int(out, plan->config->seed);
    tms_out_string(out, ",\n \"config\": {");
    config_members(out, plan->config);
    tms_out_string(out, "},\n ");
    straggler(out, plan->config);
    tms_out_string(out, ",\n ");
    hosts(out, plan);
    tms_out_string(out, ",\n \"ranks\": [");
}

/* Writes members of a rank or step, named like the columns of tmerge's tables. */
static void times_members(tms_out *out, const tms_times *times) {
    member(out, "window_ns", times->window_ns);
    member(out, "compute_ns", times->work_ns[TMS_WORK_COMPUTE]);
    member(out, "comm_ns", times->work_ns[TMS_WORK_COMM]);
    member(out, "memory_ns", times->work_ns[TMS_WORK_MEMORY]);
    member(out, "overlap_ns", times->overlap_ns);
    member(out, "exposed_comm_ns", times->exposed_comm_ns);
    member(out, "exposed_memory_ns", times->exposed_memory_ns);
    member(out, "busy_ns", times->busy_ns);
    member(out, "idle_ns", times->idle_ns);
}

void tms_truth_share(tms_out *out, tms_share share) {
    int64_t micro = (share.rest + TMS_SHARE_UNIT / 2000000) / (TMS_SHARE_UNIT / 1000000);
    char digits[7] = {'.'};

    tms_out_int(out, share.whole_ns + micro / 1000000);
    for (int i = 6; i > 0; i--, micro /= 10) {
        digits[i] = (char)('0' + micro % 10);
    }
    tms_out_text(out, digits, sizeof digits);
}

/* Writes how long a rank waited and how much waiting it caused. The caused wait is a fraction of
 * nanoseconds, so it is written as a string. */
static void blame_members(tms_out *out, const tms_rank_blame *blame) {
    member(out, "collectives", blame->collectives);
    member(out, "last_arrivals", blame->last_arrivals);
    member(out, "tied", blame->tied);
    member(out, "wait_ns", blame->wait_ns);
    member(out, "transfer_ns", blame->transfer_ns);
    tms_out_string(out, ", \"caused_wait_ns\": \"");
    tms_truth_share(out, blame->caused);
    tms_out_text(out, "\"", 1);
    member(out, "steps_led", blame->steps_led);
}

void tms_truth_rank(tms_out *out, const tms_plan *plan, int64_t rank, const tms_tally *tally,
                    const tms_blame *blame) {
    tms_placement placement = tms_placement_of(plan->config, rank);

    tms_out_string(out, rank > 0 ? ",\n  {\"rank\": " : "\n  {\"rank\": ");
    tms_out_int(out, rank);
    tms_out_string(out, ", \"host\": \"host");
    tms_out_int(out, placement.host);
    tms_out_text(out, "\"", 1);
    member(out, "device", placement.device);
    times_members(out, &tally->total);
    member(out, "events", tally->n_recorded);
    blame_members(out, &blame->ranks[rank]);
    member(out, "gpu_error_ns", tms_clock_of(plan, &placement).gpu_error_ns);
    tms_out_string(out, ",\n   \"steps\": [");
    /* Writes the window and times of each step; also starts and ends, which no table of tmerge has.
     */
    for (size_t i = 0; i < tally->n_steps; i++) {
        const tms_step_times *step = &tally->steps[i];

        tms_out_string(out, i > 0 ? ",\n    {\"step\": " : "\n    {\"step\": ");
        tms_out_int(out, step->step);
        member(out, "begin_ns", step->begin_ns);
        member(out, "end_ns", step->end_ns);
        times_members(out, &step->times);
        member(out, "slow_ppm",
               tms_injected_slow_ppm(plan->config, rank, step->step - plan->config->first_step));
        tms_out_text(out, "}", 1);
    }
    tms_out_string(out, "]}");
}

/* Writes one number per member, in order of rank. */
static void number_list(tms_out *out, const char *name, const int64_t *values, int64_t count) {
    tms_out_string(out, ", \"");
    tms_out_string(out, name);
    tms_out_string(out, "\": [");
    for (int64_t r = 0; r < count; r++) {
        tms_out_string(out, r > 0 ? ", " : "");
        tms_out_int(out, values[r]);
    }
    tms_out_text(out, "]", 1);
}

/* Writes the wait or the transfer time of each member's kernel, as a list. @p name is "wait_ns" or
 * "transfer_ns". */
static void split_list(tms_out *out, const char *name, const tms_plan *plan, size_t at, int64_t n) {
    int64_t last_ns = plan->begin_ns[at + (size_t)tms_blame_last(plan->begin_ns + at, n)];
    bool wait = name[0] == 'w';

    tms_out_string(out, ", \"");
    tms_out_string(out, name);
    tms_out_string(out, "\": [");
    for (int64_t r = 0; r < n; r++) {
        size_t i = at + (size_t)r;
        tms_split split = tms_blame_split(plan->begin_ns[i], plan->end_ns[i], last_ns);

        tms_out_string(out, r > 0 ? ", " : "");
        tms_out_int(out, wait ? split.wait_ns : split.transfer_ns);
    }
    tms_out_text(out, "]", 1);
}

/* Writes an instance's attributes and participants. */
static void instance_members(tms_out *out, const tms_plan *plan, int64_t step, int64_t i) {
    const tms_instance *instance = &plan->instances[i];
    const tms_channel *channel = &plan->groups.channels[instance->channel];
    const tms_ranks *ranks = &channel->ranks;

    member(out, "index", i - channel->first_instance);
    text_member(out, "kind", tms_collective_get(instance->what)->kind);
    tms_out_string(out, ", \"group\": \"");
    tms_out_int(out, channel->name);
    tms_out_text(out, "\"", 1);
    member(out, "bytes", instance->bytes);
    if (instance->what == TMS_SEND) {
        member(out, "src", tms_ranks_at(ranks, instance->sender));
        member(out, "dst", tms_ranks_at(ranks, 1 - instance->sender));
    }
    tms_out_string(out, ", \"ranks\": [");
    for (int64_t p = 0; p < ranks->size; p++) {
        tms_out_string(out, p > 0 ? ", " : "");
        tms_out_int(out, tms_ranks_at(ranks, p));
    }
    tms_out_string(out, tms_plan_complete(plan, step, i) ? "], \"complete\": true"
                                                         : "], \"complete\": false");
}

/* Writes one collective of one step: its arrivals, and the values computed from them. */
static void collective(tms_out *out, const tms_plan *plan, int64_t step, int64_t i) {
    const tms_instance *instance = &plan->instances[i];
    const tms_ranks *ranks = &plan->groups.channels[instance->channel].ranks;
    size_t at = tms_plan_first(plan, step, i);

    tms_out_string(out, step + i > 0 ? ",\n  {\"step\": " : "\n  {\"step\": ");
    tms_out_int(out, plan->config->first_step + step);
    instance_members(out, plan, step, i);
    number_list(out, "begin_ns", plan->begin_ns + at, ranks->size);
    number_list(out, "end_ns", plan->end_ns + at, ranks->size);
    if (tms_blame_waits(plan, step, i)) {
        member(out, "last_rank",
               tms_ranks_at(ranks, tms_blame_last(plan->begin_ns + at, ranks->size)));
        split_list(out, "wait_ns", plan, at, ranks->size);
        split_list(out, "transfer_ns", plan, at, ranks->size);
    }
    tms_out_text(out, "}", 1);
}

/* Writes each step's wait, and the rank that caused most of it. The file does not say which rank
 * holds the job up: "straggler" and the options give the slow ranks. */
static void expected(tms_out *out, const tms_plan *plan, const tms_blame *blame) {
    const tms_config *config = plan->config;

    tms_out_string(out, "],\n \"expected\": {\"wait_ns\": ");
    tms_out_int(out, blame->wait_ns);
    tms_out_string(out, ", \"steps\": [");
    for (int64_t step = 0; step < config->steps; step++) {
        const tms_step_blame *row = &blame->steps[step];

        tms_out_string(out, step > 0 ? ",\n  {\"step\": " : "\n  {\"step\": ");
        tms_out_int(out, config->first_step + step);
        member(out, "rank", row->leader);
        member(out, "wait_ns", row->wait_ns);
        tms_out_string(out, ", \"caused_wait_ns\": \"");
        tms_truth_share(out, row->caused);
        tms_out_string(out, "\"}");
    }
    tms_out_string(out, "]}");
}

void tms_truth_end(tms_out *out, const tms_plan *plan, const tms_blame *blame) {
    int64_t instances = plan->groups.n_instances * plan->config->steps;
    int64_t arrivals = plan->groups.n_parts * plan->config->steps;

    expected(out, plan, blame);
    tms_out_string(out, ",\n \"instances\": ");
    tms_out_int(out, instances);
    if (plan->config->no_instances != 0 || instances > MOST_INSTANCES || arrivals > MOST_ARRIVALS) {
        tms_out_string(out, ",\n \"collectives\": null}\n");
        return;
    }
    tms_out_string(out, ",\n \"collectives\": [");
    for (int64_t step = 0; step < plan->config->steps; step++) {
        for (int64_t i = 0; i < plan->groups.n_instances; i++) {
            collective(out, plan, step, i);
        }
    }
    tms_out_string(out, "]}\n");
}
