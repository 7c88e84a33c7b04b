/* Helpers of the job generator tests: jobs of all shapes, generated and written to memory. */
#ifndef TMERGE_TESTS_SYNTH_JOBS_H
#define TMERGE_TESTS_SYNTH_JOBS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "synth/base/config.h"
#include "synth/base/file_sink.h"
#include "synth/base/text_out.h"
#include "synth/formats/kineto_file.h"
#include "synth/sim/sim_plan.h"
#include "synth/synth_job.h"
#include "synth/truth/tally.h"

/* Number of ranks, parallel sizes (tensor, pipeline), microbatches, sequence, sharding. */
typedef struct shape {
    int64_t ranks, tp, pp, microbatches, sequence, sharded;
} shape;

static const shape shapes[] = {
    {8, 1, 1, 1, 0, 0},  {8, 2, 1, 1, 0, 0},  {8, 1, 2, 3, 0, 0},  {8, 2, 2, 2, 1, 1},
    {8, 8, 1, 2, 1, 0},  {8, 1, 8, 8, 0, 0},  {8, 1, 1, 2, 0, 1},  {16, 4, 2, 1, 0, 1},
    {24, 2, 3, 4, 0, 0}, {64, 4, 4, 4, 1, 1}, {64, 2, 1, 1, 0, 0},
};

static inline tms_config job_of(const shape *s) {
    tms_config config;
    tms_config_init(&config);
    config.ranks = s->ranks;
    config.host_ranks = 4;
    config.tp = s->tp;
    config.pp = s->pp;
    config.microbatches = s->microbatches;
    config.sequence_parallel = s->sequence;
    config.sharded = s->sharded;
    config.steps = 3;
    config.layers = 8;
    config.compute_ns = 100000;
    config.cpu_ops = 1;
    return config;
}

static inline tms_plan plan_of(const tms_config *config) {
    tms_plan plan;
    tms_error err;
    assert_int_equal(tms_config_check(config, &err), TMS_OK);
    assert_int_equal(tms_plan_build(&plan, config, &err), TMS_OK);
    return plan;
}

/* A rank's recording: its file as a string, and the ground truth. */
typedef struct recording {
    tms_tally tally;
    tms_sink *sink;
    const char *text;
    size_t size;
} recording;

static inline recording record(const tms_plan *plan, int64_t rank) {
    recording r = {.text = NULL};
    tms_writer *writer = NULL;
    tms_error err;
    assert_int_equal(tms_sink_open_memory(&r.sink, &err), TMS_OK);
    assert_int_equal(tms_kineto_file_on(&writer, plan, r.sink, "a.json", &err), TMS_OK);
    tms_tally_init(&r.tally);
    assert_int_equal(tms_job_write_rank(plan, rank, writer, &r.tally, &err), TMS_OK);
    writer->format->abandon(writer);
    tms_sink_write(r.sink, "", 1); /* terminates the string */
    r.text = tms_sink_bytes(r.sink, &r.size);
    return r;
}

static inline recording record_of(const tms_config *config, int64_t rank) {
    tms_plan plan = plan_of(config);
    recording r = record(&plan, rank);
    tms_plan_free(&plan);
    return r;
}

static inline void forget(recording *r) {
    tms_tally_free(&r->tally);
    tms_sink_abandon(r->sink);
}

static inline int64_t occurrences(const char *text, const char *part) {
    int64_t n = 0;
    for (const char *p = strstr(text, part); p != NULL; p = strstr(p + 1, part))
        n++;
    return n;
}

/* Starts output to memory. end_out compares the output with the expected text. */
static inline tms_out begin_out(tms_sink **sink) {
    tms_out out;
    tms_error err;
    assert_int_equal(tms_sink_open_memory(sink, &err), TMS_OK);
    assert_true(tms_out_init(&out, *sink));
    return out;
}

static inline void end_out(tms_out *out, tms_sink *sink, const char *expected) {
    size_t size;
    tms_out_flush(out);
    const char *bytes = tms_sink_bytes(sink, &size);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(bytes, expected, size);
    tms_out_free(out);
    tms_sink_abandon(sink);
}

#endif
