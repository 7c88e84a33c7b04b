/* Writes Kineto's text to a file or another sink. */
#include "kineto_file.h"

#include <stdlib.h>
#include <string.h>

#include "synth/base/text_out.h"
#include "write_kineto.h"

typedef struct kineto_file {
    tms_writer writer;
    const tms_plan *plan; /* borrowed */
    const char *name;     /* borrowed */
    char *path;           /* owned; NULL if the sink is not owned */
    tms_sink *sink;       /* owned if `path` is not NULL */
    tms_out out;
    tms_kineto *kineto; /* owned; NULL while no rank is being written */
} kineto_file;

static void destroy(kineto_file *file) {
    tms_kineto_free(file->kineto);
    tms_out_free(&file->out);
    free(file->path);
    free(file);
}

static void abandon(tms_writer *writer) {
    kineto_file *file = (kineto_file *)writer;

    if (file != NULL) {
        tms_sink_abandon(file->path != NULL ? file->sink : NULL);
        destroy(file);
    }
}

tms_status tms_kineto_file_on(tms_writer **writer, const tms_plan *plan, tms_sink *sink,
                              const char *name, tms_error *err) {
    kineto_file *file = calloc(1, sizeof *file);

    if (file == NULL || !tms_out_init(&file->out, sink)) {
        free(file);
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for an output buffer");
    }
    file->writer.format = &tms_format_kineto;
    file->plan = plan;
    file->name = name;
    file->sink = sink;
    *writer = &file->writer;
    return TMS_OK;
}

static tms_status open_file(tms_writer **writer, const tms_plan *plan, int64_t rank,
                            const char *path, tms_error *err) {
    kineto_file *file;
    tms_sink *sink;
    tms_writer *made = NULL;
    char *copy;
    tms_status status = tms_sink_open(&sink, path, plan->config->compress, err);

    (void)rank;
    if (status != TMS_OK) {
        return status;
    }
    copy = malloc(strlen(path) + 1);
    status = copy == NULL ? tms_fail(err, TMS_ERR_FAULT, "out of memory for a file name")
                          : tms_kineto_file_on(&made, plan, sink, "", err);
    if (status != TMS_OK) {
        free(copy);
        tms_sink_abandon(sink);
        return status;
    }
    memcpy(copy, path, strlen(path) + 1);
    file = (kineto_file *)made;
    file->path = copy;
    /* A trace contains its own file name, without the folder. */
    file->name = strrchr(copy, '/') != NULL ? strrchr(copy, '/') + 1 : copy;
    *writer = made;
    return TMS_OK;
}

static tms_status begin(tms_writer *writer, int64_t rank, tms_error *err) {
    kineto_file *file = (kineto_file *)writer;

    return tms_kineto_begin(&file->kineto, &file->plan->groups, rank, &file->out, err);
}

static void write_events(tms_writer *writer, const tms_events *events, tms_section section) {
    tms_kineto_events(((kineto_file *)writer)->kineto, events, section);
}

static void end(tms_writer *writer, int64_t begin_ns, int64_t end_ns) {
    kineto_file *file = (kineto_file *)writer;

    tms_kineto_end(file->kineto, begin_ns, end_ns, file->name);
    writer->count = tms_kineto_count(file->kineto);
    tms_kineto_free(file->kineto);
    file->kineto = NULL;
    tms_out_flush(&file->out);
}

static bool failed(const tms_writer *writer) {
    return tms_sink_failed(((const kineto_file *)writer)->sink);
}

static tms_status commit(tms_writer *writer, tms_error *err) {
    kineto_file *file = (kineto_file *)writer;
    tms_status status = tms_sink_commit(file->sink, err);

    destroy(file);
    return status;
}

const tms_format tms_format_kineto = {.ending = "json",
                                      .open = open_file,
                                      .begin = begin,
                                      .events = write_events,
                                      .end = end,
                                      .failed = failed,
                                      .commit = commit,
                                      .abandon = abandon};
