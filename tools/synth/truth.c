/* Writes the truth as JSON with integers only: every reader of JSON that keeps 64 bits gets them
 * exactly. One rank at a time, so that nothing is held but the plan. */
#include "truth.h"

/* Writes ', "name": value'; the first member of an object is written by hand. */
static void member(tms_out *out, const char *name, int64_t value) {
    tms_out_text(out, ", \"", 3);
    tms_out_string(out, name);
    tms_out_text(out, "\": ", 3);
    tms_out_int(out, value);
}

/* All options, so that a truth file says how to make its traces again. */
static void config_members(tms_out *out, const tms_config *config) {
    size_t count;
    const tms_option *options = tms_config_options(&count);

    /* Options as they would be typed; "-" in a name becomes "_" as in all other keys. */
    for (size_t i = 0; i < count; i++) {
        int64_t value = tms_config_value(config, &options[i]);
        char text[32];

        tms_config_format(text, value, options[i].digits);
        tms_out_text(out, "\"", 1);
        for (const char *p = options[i].name; *p != '\0'; p++) {
            tms_out_text(out, *p == '-' ? "_" : p, 1);
        }
        tms_out_text(out, "\": ", 3);
        /* An option that was left out, like --slow-rank, is below zero and has no value. */
        tms_out_string(out, value < 0 ? "null" : text);
        tms_out_text(out, ", ", 2);
    }
    tms_out_string(out, "\"compress\": \"");
    tms_out_string(out, tms_config_compression_name(config->compress));
    tms_out_text(out, "\"", 1);
}

void tms_truth_begin(tms_out *out, const tms_config *config) {
    tms_out_string(out, "{\"seed\": ");
    tms_out_int(out, config->seed);
    tms_out_string(out, ",\n \"config\": {");
    config_members(out, config);
    tms_out_string(out, "},\n \"ranks\": [");
}

/* The same members for a rank and for a step, named as the columns of the tables. */
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

void tms_truth_rank(tms_out *out, const tms_config *config, int64_t rank, const tms_tally *tally) {
    tms_layout layout = tms_layout_of(config, rank);

    tms_out_string(out, rank > 0 ? ",\n  {\"rank\": " : "\n  {\"rank\": ");
    tms_out_int(out, rank);
    tms_out_string(out, ", \"host\": \"host");
    tms_out_int(out, layout.host);
    tms_out_text(out, "\"", 1);
    member(out, "device", layout.device);
    times_members(out, &tally->total);
    member(out, "events", tally->n_recorded);
    tms_out_string(out, ",\n   \"steps\": [");
    /* Window and times of each step, begins and ends included: those can be read off no table. */
    for (size_t i = 0; i < tally->n_steps; i++) {
        const tms_step_times *step = &tally->steps[i];

        tms_out_string(out, i > 0 ? ",\n    {\"step\": " : "\n    {\"step\": ");
        tms_out_int(out, step->step);
        member(out, "begin_ns", step->begin_ns);
        member(out, "end_ns", step->end_ns);
        times_members(out, &step->times);
        tms_out_text(out, "}", 1);
    }
    tms_out_string(out, "]}");
}

/* A kernel that ends before the last rank has come has no transfer, and waits for as long as it
 * runs: that cannot be for a real all-reduce, but clocks that disagree may show it. */
tms_part tms_truth_split(int64_t begin_ns, int64_t end_ns, int64_t last_ns) {
    int64_t until_ns = end_ns < last_ns ? end_ns : last_ns;
    tms_part part = {0, 0};

    if (until_ns > begin_ns) {
        part.wait_ns = until_ns - begin_ns;
    }
    if (end_ns > last_ns) {
        part.transfer_ns = end_ns - last_ns;
    }
    return part;
}

int64_t tms_truth_last_rank(const int64_t *begin_ns, int64_t n_ranks) {
    int64_t last = 0;

    for (int64_t r = 1; r < n_ranks; r++) {
        last = begin_ns[r] > begin_ns[last] ? r : last;
    }
    return last;
}

/* One number per rank, in order of rank. */
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

/* Writes each rank's wait, or each rank's transfer. */
/* A kernel's two parts go to two lists, for a reader takes each for a column. */
static void part_list(tms_out *out, const char *name, const tms_plan *plan, size_t at) {
    int64_t ranks = plan->config->ranks;
    int64_t last_ns = plan->begin_ns[at + (size_t)tms_truth_last_rank(plan->begin_ns + at, ranks)];
    bool wait = name[0] == 'w';

    tms_out_string(out, ", \"");
    tms_out_string(out, name);
    tms_out_string(out, "\": [");
    for (int64_t r = 0; r < ranks; r++) {
        size_t i = at + (size_t)r;
        tms_part part = tms_truth_split(plan->begin_ns[i], plan->end_ns[i], last_ns);

        tms_out_string(out, r > 0 ? ", " : "");
        tms_out_int(out, wait ? part.wait_ns : part.transfer_ns);
    }
    tms_out_text(out, "]", 1);
}

/* One all-reduce: all its arrivals, and what they mean. */
static void collective(tms_out *out, const tms_plan *plan, int64_t step, int64_t index) {
    const tms_config *config = plan->config;
    size_t at = tms_plan_index(config, step, index);

    tms_out_string(out, step + index > 0 ? ",\n  {\"step\": " : "\n  {\"step\": ");
    tms_out_int(out, config->first_step + step);
    member(out, "index", index);
    number_list(out, "begin_ns", plan->begin_ns + at, config->ranks);
    number_list(out, "end_ns", plan->end_ns + at, config->ranks);
    member(out, "last_rank", tms_truth_last_rank(plan->begin_ns + at, config->ranks));
    part_list(out, "wait_ns", plan, at);
    part_list(out, "transfer_ns", plan, at);
    tms_out_text(out, "}", 1);
}

void tms_truth_end(tms_out *out, const tms_plan *plan) {
    tms_out_string(out, "],\n \"collectives\": [");
    for (int64_t step = 0; step < plan->config->steps; step++) {
        for (int64_t i = 0; i < plan->config->buckets; i++) {
            collective(out, plan, step, i);
        }
    }
    tms_out_string(out, "]}\n");
}
