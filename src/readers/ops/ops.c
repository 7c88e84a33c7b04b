/* Operation-level traces, as written by ByteDance's straggler analysis: one array in the Chrome
 * trace event format for a whole job. An event is an operation of the training loop (a forward or
 * backward pass of a micro-batch, a collective), and a process is a data-parallel rank.
 *
 * In these traces a communication starts when its last rank arrives. A rank's wait is therefore in
 * the gap before the communication, and cannot be distinguished from other idle time. */
#include "ops_emit.h"
#include "readers/formats.h"
#include "readers/window.h"

typedef bool each_event(void *context, const tm_ops_event *event);

static bool has_all(const tm_ops_event *e) {
    return tm_ops_is_operation(e) && e->chunk != INT64_MIN;
}

/* Looks at the first operation. Names of threads may come before it. */
static bool ops_sniff(const char *head, size_t size, bool whole) {
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    const char *p = tm_json_space(head);
    tm_ops_event event;
    if (*p != '[')
        return false;
    for (char before = ','; before == ','; before = *p++) {
        p = tm_json_space(p + (*p == '['));
        if (*p != '{')
            return false;
        p = tm_ops_event_parse(&cursor, p, &event);
        if (!p || has_all(&event))
            return p != NULL;
        if (event.phase != 'M')
            return false;
        p = tm_json_space(p);
    }
    return false;
}

static tm_status read_event(tm_window *window, each_event *each, void *context, tm_error *err) {
    tm_ops_event event;
    for (;;) {
        const char *end = tm_ops_event_parse(&window->cursor, window->p, &event);
        if (end) {
            window->p = end;
            return each(context, &event) ? TM_OK : tm_fail_memory(err);
        }
        TM_TRY(tm_window_resume(window, window->p, err));
    }
}

static tm_status read_array(tm_window *window, each_event *each, void *context, tm_error *err) {
    TM_TRY(tm_window_space(window, err));
    if (*window->p != '[')
        return tm_window_fail(window, window->p, "a trace of operations begins with [", err);
    do {
        /* This skips the opening bracket or a comma. */
        window->p++;
        TM_TRY(tm_window_space(window, err));
        if (*window->p != '{')
            return tm_window_fail(window, window->p, "an event is expected here", err);
        TM_TRY(read_event(window, each, context, err));
        TM_TRY(tm_window_space(window, err));
    } while (*window->p == ',');
    if (*window->p != ']')
        return tm_window_fail(window, window->p, "a comma or ] should follow the event", err);
    window->p++;
    TM_TRY(tm_window_space(window, err));
    if (window->p < window->cursor.end)
        return tm_window_fail(window, window->p, "something follows the end of the document", err);
    return TM_OK;
}

/* Calls @p each for each event of the file, also if the file is truncated (*cut). */
static tm_status read_file(tm_source *source, each_event *each, void *context, bool *cut,
                           tm_error *err) {
    tm_window window;
    TM_TRY(tm_window_open(source, &window, err));
    tm_status status = read_array(&window, each, context, err);
    *cut = window.cut || (status != TM_OK && window.ended);
    tm_window_close(&window);
    return status == TM_ERR_INPUT && *cut ? TM_OK : status;
}

static bool add_to_job(void *context, const tm_ops_event *event) {
    return tm_ops_job_add(context, event);
}

static tm_status ops_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                tm_error *err) {
    tm_ops_job job;
    bool cut;
    (void)known;
    *foreign = false;
    tm_ops_job_init(&job);
    tm_status status = read_file(source, add_to_job, &job, &cut, err);
    tm_ops_job_finish(&job);
    const tm_ops_rank *ranks = job.ranks.data;
    for (size_t i = 0; i < job.ranks.n && status == TM_OK; i++) {
        const tm_unit unit = {
            .process = ranks[i].data, .devices = -1, .rank = ranks[i].rank, .clock_ns = -1};
        if (ranks[i].n_operations > 0 && !tm_vec_append(units, &unit, 1))
            status = tm_fail_memory(err);
    }
    tm_ops_job_free(&job);
    return status;
}

/* Reads the whole job, but keeps only one rank's operations. */
typedef struct rank_reader {
    tm_ops_job job;
    tm_ops_emitter emitter;
} rank_reader;

static bool add_to_rank(void *context, const tm_ops_event *event) {
    rank_reader *r = context;
    return tm_ops_job_add(&r->job, event) && tm_ops_emitter_add(&r->emitter, event);
}

static tm_status ops_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                               tm_trace *out, tm_error *err) {
    rank_reader r;
    tm_ops_job_init(&r.job);
    tm_ops_emitter_init(&r.emitter, unit->rank, names, out);
    tm_status status = read_file(source, add_to_rank, &r, &out->truncated, err);
    if (status == TM_OK) {
        tm_ops_job_finish(&r.job);
        status = tm_ops_emit(&r.emitter, &r.job, err);
    }
    tm_ops_emitter_free(&r.emitter);
    tm_ops_job_free(&r.job);
    return status;
}

/* Always fails. The file contains a whole job, so it can only be read unit by unit. */
static tm_status ops_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    (void)names;
    (void)out;
    return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                   "this trace of operations contains a whole job: its ranks are read one by one");
}

const tm_format tm_format_ops = {
    .name = "ops",
    .summary = "Operation-level traces of training jobs (ByteDance's straggler analysis): JSON, "
               "plain, gzip or zstd",
    .cannot_tell = "Only the transfer of communication is recorded: a rank's wait cannot be "
                   "distinguished from its other idle time.",
    .sniff = ops_sniff,
    .read = ops_read,
    .list_units = ops_list_units,
    .read_unit = ops_read_unit,
};
