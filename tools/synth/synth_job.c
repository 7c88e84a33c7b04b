/* The whole run: first the plan, then the ranks one after another. Each file is completed before
 * the next. Ranks share only the plan, so they could be written in parallel. */
#include "synth_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "synth/base/file_sink.h"
#include "synth/base/text_out.h"
#include "synth/formats/kineto_file.h"
#include "synth/sim/sim_replay.h"
#include "synth/truth/true_blame.h"
#include "synth/truth/truth.h"

/* Writes a section of a rank's file. Also measures the GPU work if the section has it. Stops early
 * if a write fails, as on a full disk; commit reports that. */
static tms_status write_section(tms_writer *writer, tms_replay *replay, tms_section section,
                                tms_tally *tally, tms_error *err) {
    bool more = true;
    tms_status status = tms_replay_next(replay, &more, err);

    while (status == TMS_OK && more && !writer->format->failed(writer)) {
        writer->format->events(writer, &replay->events, section);
        if (section == TMS_SECTION_ACTIVITY) {
            status = tms_tally_add_events(tally, &replay->events, err);
        }
        if (status == TMS_OK) {
            status = tms_replay_next(replay, &more, err);
        }
    }
    return status;
}

tms_status tms_job_write_rank(const tms_plan *plan, int64_t rank, tms_writer *writer,
                              tms_tally *tally, tms_error *err) {
    tms_status status = writer->format->begin(writer, rank, err);
    int64_t begin_ns = 0;
    int64_t end_ns = 0;

    /* A file lists thread after thread, so each section simulates the rank again. This is cheap;
     * holding all events of a long job in memory is not. */
    for (int i = 0; i < TMS_SECTION_COUNT && status == TMS_OK; i++) {
        tms_section section = (tms_section)i;
        tms_replay replay;

        status = tms_replay_init(&replay, plan, rank, TMS_SECTION_BIT(section), err);
        if (status == TMS_OK) {
            status = write_section(writer, &replay, section, tally, err);
        }
        begin_ns = replay.begin_ns;
        end_ns = replay.end_ns;
        tms_replay_free(&replay);
    }
    if (status == TMS_OK) {
        writer->format->end(writer, begin_ns, end_ns);
        tms_tally_finish(tally);
        tally->n_recorded = writer->count;
    }
    return status;
}

/* Returns DIR/NAME, owned by the caller; NULL when out of memory. */
static char *join_path(const char *dir, const char *name) {
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = malloc(size);

    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s", dir, name);
    }
    return path;
}

static tms_status open_truth(const tms_config *config, tms_sink **sink, tms_error *err) {
    char *path = join_path(config->dir, "truth.json");
    tms_status status;

    if (path == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a file name");
    }
    status = tms_sink_open(sink, path, TMS_COMPRESS_NONE, err);
    free(path);
    return status;
}

/* Makes the folders of a file below the job's folder, which exists already. Ignores failures,
 * because opening the file then fails and is reported. */
static void make_folders(char *path, size_t dir_length) {
    for (char *slash = strchr(path + dir_length + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
}

static tms_status open_trace(const tms_plan *plan, int64_t rank, tms_writer **writer,
                             tms_error *err) {
    static const char *const endings[TMS_COMPRESSION_COUNT] = {"", ".gz", ".zst"};
    static const tms_format *const formats[] = {[TMS_FORMAT_KINETO] = &tms_format_kineto,
                                                [TMS_FORMAT_NSYS] = &tms_format_nsys,
                                                [TMS_FORMAT_XPLANE] = &tms_format_xplane,
                                                [TMS_FORMAT_ASCEND] = &tms_format_ascend};
    const tms_config *config = plan->config;
    const tms_format *format = formats[config->format];
    char name[160];
    char *path;
    tms_status status;

    if (format->name_file != NULL) {
        format->name_file(name, sizeof name, config, rank);
    } else {
        (void)snprintf(name, sizeof name, "profile_rank_%lld.%s", (long long)rank, format->ending);
    }
    (void)snprintf(name + strlen(name), sizeof name - strlen(name), "%s",
                   endings[config->compress]);
    path = join_path(config->dir, name);
    if (path == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a file name");
    }
    make_folders(path, strlen(config->dir));
    status = format->open(writer, plan, rank, path, err);
    free(path);
    return status;
}

static tms_status write_rank(const tms_plan *plan, int64_t rank, tms_writer *writer, tms_out *truth,
                             const tms_blame *blame, tms_error *err) {
    tms_tally tally;
    tms_status status;

    tms_tally_init(&tally);
    status = tms_job_write_rank(plan, rank, writer, &tally, err);
    if (status == TMS_OK) {
        tms_truth_rank(truth, plan, rank, &tally, blame);
    }
    tms_tally_free(&tally);
    return status;
}

/* Writes the file whose first rank is @p first. If this fails, no truth is written. */
static tms_status write_file(const tms_plan *plan, int64_t first, tms_out *truth,
                             const tms_blame *blame, tms_error *err) {
    const tms_config *config = plan->config;
    tms_writer *writer = NULL;
    tms_status status = open_trace(plan, first, &writer, err);

    if (status != TMS_OK) {
        return status;
    }
    for (int64_t i = 0; i < config->ranks_per_file && first + i < config->ranks; i++) {
        status = status == TMS_OK ? write_rank(plan, first + i, writer, truth, blame, err) : status;
    }
    if (status == TMS_OK) {
        return writer->format->commit(writer, err);
    }
    writer->format->abandon(writer);
    return status;
}

/* Opens the truth first, so that an unwritable folder is found at once. Renames it last: if
 * truth.json exists, all traces are complete. */
static tms_status write_files(const tms_plan *plan, const tms_blame *blame, tms_error *err) {
    const tms_config *config = plan->config;
    tms_sink *sink = NULL;
    tms_out truth = {0};
    tms_status status = open_truth(config, &sink, err);

    if (status != TMS_OK) {
        return status;
    }
    if (!tms_out_init(&truth, sink)) {
        tms_sink_abandon(sink);
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for an output buffer");
    }
    tms_truth_begin(&truth, plan);
    for (int64_t r = 0; r < config->ranks && status == TMS_OK; r += config->ranks_per_file) {
        status = write_file(plan, r, &truth, blame, err);
    }
    if (status == TMS_OK) {
        tms_truth_end(&truth, plan, blame);
        tms_out_flush(&truth);
        status = tms_sink_commit(sink, err);
    } else {
        tms_sink_abandon(sink);
    }
    tms_out_free(&truth);
    return status;
}

/* Measures the size of rank 0's plain trace with this number of steps [B]. */
static tms_status pilot(const tms_config *config, int64_t steps, int64_t *bytes, tms_error *err) {
    tms_config shorter = *config;
    tms_plan plan;
    tms_tally tally;
    tms_sink *sink = NULL;
    tms_writer *writer = NULL;
    tms_status status;

    shorter.steps = steps;
    shorter.window_skew = 0;
    status = tms_plan_build(&plan, &shorter, err);
    if (status != TMS_OK) {
        return status;
    }
    tms_tally_init(&tally);
    status = tms_sink_open_memory(&sink, err);
    if (status == TMS_OK) {
        status = tms_kineto_file_on(&writer, &plan, sink, "", err);
    }
    if (status == TMS_OK) {
        size_t size;

        status = tms_job_write_rank(&plan, 0, writer, &tally, err);
        (void)tms_sink_bytes(sink, &size);
        *bytes = (int64_t)size;
        writer->format->abandon(writer);
    }
    tms_sink_abandon(sink);
    tms_tally_free(&tally);
    tms_plan_free(&plan);
    return status;
}

/* Chooses the number of steps so that the uncompressed traces have about the target size. */
static tms_status choose_steps(tms_config *config, tms_error *err) {
    int64_t one = 0;
    int64_t two = 0;
    int64_t rank_bytes = config->target_mb * 1000000 / config->ranks;
    tms_status status = pilot(config, 1, &one, err);

    if (status == TMS_OK) {
        status = pilot(config, 2, &two, err);
    }
    if (status == TMS_OK) {
        int64_t steps = 1 + (rank_bytes - one + (two - one) / 2) / (two - one);

        config->steps = steps < config->window_skew + 1 ? config->window_skew + 1 : steps;
        status = tms_config_check(config, err);
    }
    return status;
}

tms_status tms_job_run(const tms_config *wanted, tms_error *err) {
    tms_config config = *wanted;
    tms_plan plan;
    tms_blame blame;
    tms_status status = TMS_OK;

    /* If the path exists but is not a folder, opening the first file fails. */
    if (mkdir(config.dir, 0777) != 0 && errno != EEXIST) {
        return tms_fail(err, TMS_ERR_OUTPUT, "cannot create the folder '%s': %s", config.dir,
                        strerror(errno));
    }
    if (config.target_mb > 0) {
        status = choose_steps(&config, err);
    }
    if (status == TMS_OK) {
        status = tms_plan_build(&plan, &config, err);
    }
    if (status != TMS_OK) {
        return status;
    }
    status = tms_blame_build(&blame, &plan, err);
    if (status == TMS_OK) {
        status = write_files(&plan, &blame, err);
        tms_blame_free(&blame);
    }
    tms_plan_free(&plan);
    return status;
}
