/* Measures tmerge's reader on one trace: from file to events, then from events to a timeline.
 *
 *   read_trace PATH
 *
 * Prints: bytes (decoded), records (entries of traceEvents), events (kept), names; read_s, user_s
 * and system_s (until the events are read); build_s (without read_s); cpu_s (user and system time
 * in all); read_kb and build_kb (peak resident memory after reading and building); held_kb
 * (resident memory with only the timeline). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "timeline/build_timeline.h"
#include "timeline/trace.h"
#include "timing.h"
#include "tmerge/reader.h"

typedef struct result {
    double read_s, build_s, user_s, system_s, cpu_s;
    long read_kb, build_kb, held_kb;
    int64_t records, events;
} result;

static long peak_kb(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}

/* Current resident memory [KiB], which only Linux reports; -1 elsewhere. */
static long held_kb(void) {
    char line[256], *end = line;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return -1;
    if (fgets(line, sizeof line, file))
        (void)strtol(line, &end, 10); /* skips the mapped size */
    fclose(file);
    long pages = end > line ? strtol(end, NULL, 10) : 0;
    return pages > 0 ? pages * (sysconf(_SC_PAGESIZE) / 1024) : -1;
}

static tm_status measure(const char *path, tm_names *names, tm_classifier *classifier, result *out,
                         tm_error *err) {
    const tm_build_context context = {.names = names, .classifier = classifier};
    tm_trace trace, *traces[] = {&trace};
    tm_timeline timeline;
    double start = now_s();
    tm_status status = tm_trace_read(&(tm_trace_file){.path = path}, names, NULL, &trace, err);
    out->read_s = now_s() - start;
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    out->user_s = seconds_of(usage.ru_utime);
    out->system_s = seconds_of(usage.ru_stime);
    out->read_kb = usage.ru_maxrss;
    if (status != TM_OK) {
        tm_trace_free(&trace);
        return status;
    }
    out->events = out->records = (int64_t)trace.events.n;
    out->records += trace.counts[TM_COUNT_FLOW] + trace.counts[TM_COUNT_METADATA];
    for (int c = 0; c < TM_N_COUNTS; c++)
        out->records +=
            tm_count_info((tm_count)c)->diagnostic == TM_DIAGNOSTIC_SKIPPED ? trace.counts[c] : 0;
    start = now_s();
    status = tm_timeline_build(traces, 1, 0, &context, &timeline, err);
    out->build_s = now_s() - start;
    (void)getrusage(RUSAGE_SELF, &usage);
    out->cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    out->build_kb = peak_kb();
    out->held_kb = held_kb();
    if (status == TM_OK)
        tm_timeline_destroy(&timeline);
    return status;
}

/* Counts decoded bytes. Runs after the measurement, because it reads the file again. */
static tm_status count_bytes(const char *path, int64_t *bytes, tm_error *err) {
    enum { PIECE = 1 << 18 };
    static char piece[PIECE];
    tm_source *source;
    size_t n = 1;
    TM_TRY(tm_source_open(path, &source, err));
    tm_status status = TM_OK;
    while (status == TM_OK && n > 0)
        status = tm_source_read(source, piece, sizeof piece, &n, err);
    *bytes = tm_source_offset(source);
    tm_source_close(source);
    return status;
}

static tm_status run(const char *path, tm_error *err) {
    result r = {0};
    int64_t bytes = 0;
    tm_classifier *classifier = NULL;
    tm_names *names = tm_names_create();
    tm_status status = names ? tm_classifier_create(NULL, &classifier, err) : tm_fail_memory(err);
    if (status == TM_OK)
        status = measure(path, names, classifier, &r, err);
    if (status == TM_OK)
        status = count_bytes(path, &bytes, err);
    if (status == TM_OK)
        printf("bytes=%" PRId64 " records=%" PRId64 " events=%" PRId64
               " read_s=%.6f user_s=%.6f system_s=%.6f build_s=%.6f read_kb=%ld build_kb=%ld "
               "held_kb=%ld cpu_s=%.6f names=%zu\n",
               bytes, r.records, r.events, r.read_s, r.user_s, r.system_s, r.build_s, r.read_kb,
               r.build_kb, r.held_kb, r.cpu_s, tm_names_count(names));
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: read_trace PATH\n", stderr);
        return TM_ERR_USAGE;
    }
    tm_error err;
    tm_status status = run(argv[1], &err);
    if (status != TM_OK) {
        char text[2048];
        tm_error_text(&err, text, sizeof text);
        fprintf(stderr, "read_trace: %s\n", text);
    }
    return (int)status;
}
