#include "step_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "analysis/shared/host_time.h"
#include "analysis/shared/passes.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "base/vec.h"
#include "timeline/host_comm.h"

/* Activities of a call besides training, judged by its name. */
typedef enum chore { UNKNOWN, NONE, LOGS, SAVES } chore;

static const struct {
    /* A name matches if it starts with `begin` and contains `part`. An empty text matches any
     * name. */
    const char *begin, *part;
    chore chore;
} chores[] = {
    {"torch/serialization.py(", "): save", SAVES},
    {"", "save_checkpoint", SAVES},
    {"", "SaveCheckpoint", SAVES},
    {"torch/distributed/checkpoint/", "): save", SAVES},
    {"logging/__init__.py(", "", LOGS},
    {"torch/utils/tensorboard/", "", LOGS},
    {"<built-in function print>", "", LOGS},
    {"wandb/", "", LOGS},
    {"", "/wandb/", LOGS},
    {"", "/mlflow/", LOGS},
    {"", "/tensorboardX/", LOGS},
};

/* Names of users' annotations for logging. */
static const char *const logging_words[] = {"log", "logging", "log_metrics", "logger"};

static chore chore_of(const char *name, bool annotation) {
    for (size_t i = 0; i < sizeof chores / sizeof *chores; i++)
        if (strncmp(name, chores[i].begin, strlen(chores[i].begin)) == 0 &&
            strstr(name, chores[i].part))
            return chores[i].chore;
    for (size_t i = 0; annotation && i < sizeof logging_words / sizeof *logging_words; i++)
        if (strcmp(name, logging_words[i]) == 0)
            return LOGS;
    return NONE;
}

/* A node of autograd's graph, or a call of an optimizer. */
typedef struct mark {
    int64_t begin_ns, sequence; /* -1: no sequence number */
    uint32_t row, track;
    int32_t thread; /* thread of the forward operator, because each thread has its own sequence
                       numbers */
    bool update;
} mark;

typedef struct node_key {
    int64_t thread, sequence;
} node_key;

typedef struct finding {
    const tm_rank_view *view;
    tm_vec marks;   /* vector of mark */
    uint8_t *known; /* [names] chore of each name; UNKNOWN: not yet looked at */
    tm_step_part *steps;
    bool numbered;
} finding;

static tm_step_part *step_of(const finding *f, uint32_t row) {
    int32_t step = f->view->timeline->step[row];
    return step == TM_NO_STEP ? NULL : &f->steps[step];
}

/* Adds a call that logs or saves, unless it is nested in a call that was already added. */
static void add_chore(finding *f, uint32_t row, int64_t *until_ns) {
    const tm_timeline *timeline = f->view->timeline;
    uint32_t name = timeline->name[row];
    uint8_t category = timeline->category[row];
    int64_t begin = timeline->begin_ns[row];
    if (begin < *until_ns)
        return;
    if (f->known[name] == UNKNOWN)
        f->known[name] = (uint8_t)chore_of(tm_names_text(f->view->names, name).bytes,
                                           category == TM_CAT_USER_ANNOTATION);
    tm_step_part *step = step_of(f, row);
    if (f->known[name] == NONE || !step)
        return;
    int64_t *sum = f->known[name] == LOGS ? &step->logging_ns : &step->saving_ns;
    *sum = tm_sum(*sum, timeline->duration_ns[row]);
    *until_ns = begin + timeline->duration_ns[row];
}

/* Adds an optimizer's update, unless it is within another update on the same thread. */
static bool add_update(finding *f, uint32_t row, uint32_t track, int64_t *until_ns) {
    const tm_timeline *timeline = f->view->timeline;
    if (timeline->begin_ns[row] < *until_ns ||
        tm_call_kinds_at(f->view->call_kinds, timeline->name[row]) != TM_CALL_KIND_OPTIMIZER)
        return true;
    const mark update = {timeline->begin_ns[row], -1, row, track, 0, true};
    *until_ns = timeline->begin_ns[row] + timeline->duration_ns[row];
    return tm_vec_append(&f->marks, &update, 1);
}

static bool look_at_threads(finding *f) {
    const tm_timeline *timeline = f->view->timeline;
    bool ok = true;
    for (uint32_t t = 0; t < timeline->n_tracks && ok; t++) {
        const tm_track *track = &timeline->tracks[t];
        int64_t chore_until = INT64_MIN, update_until = INT64_MIN;
        bool optimizes = f->view->host->threads[t].optimizes;
        if (track->kind != TM_TRACK_CPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count && ok; row++) {
            uint8_t category = timeline->category[row];
            bool marked = category == TM_CAT_USER_ANNOTATION;
            if (timeline->kind[row] != TM_DURATION)
                continue;
            if (marked || category == TM_CAT_PYTHON)
                add_chore(f, row, &chore_until);
            if (optimizes && (marked || category == TM_CAT_CPU_OP))
                ok = add_update(f, row, t, &update_until);
        }
    }
    return ok;
}

/* Adds a mark for each node of autograd's graph. In some traces, the call that runs a node has no
 * sequence number. So the outermost operator with a sequence number in a node also gets a mark.
 * @param numbers  [operators->n] set to the sequence number of the enclosing node */
static bool add_nodes(finding *f, int64_t *numbers) {
    const tm_timeline *timeline = f->view->timeline;
    const tm_operator_attr *reported = timeline->attrs[TM_ATTR_OPERATOR];
    const tm_call *calls = f->view->operators->calls;
    const uint8_t *pass = f->view->passes->pass;
    size_t n_reported = timeline->n_attrs[TM_ATTR_OPERATOR], next = 0;
    uint32_t track = 0;
    for (size_t i = 0; i < f->view->operators->n; i++) {
        uint32_t row = calls[i].row, parent = calls[i].parent;
        bool backward = pass[i] == TM_PASS_BACKWARD;
        bool inside = parent != TM_NO_CALL && pass[parent] != TM_PASS_FORWARD;
        numbers[i] = inside ? numbers[parent] : -1;
        if (!backward || numbers[i] >= 0)
            continue;
        /* calls, their attributes and tracks are sorted by row */
        while (next < n_reported && reported[next].event < row)
            next++;
        while (row >= timeline->tracks[track].first + timeline->tracks[track].count)
            track++;
        bool numbered =
            next < n_reported && reported[next].event == row && reported[next].thread > 0;
        if (numbered)
            numbers[i] = reported[next].sequence;
        if (inside && numbers[i] < 0)
            continue;
        const mark node = {timeline->begin_ns[row],
                           numbers[i],
                           row,
                           track,
                           numbered ? reported[next].thread : 0,
                           false};
        f->numbered = f->numbered || node.sequence >= 0;
        if (!tm_vec_append(&f->marks, &node, 1))
            return false;
    }
    return true;
}

TM_ORDER_BY(by_begin, mark, begin_ns, row);

/* Finds the track with the most nodes. Autograd has a thread for each device, and one for the host.
 */
static bool busiest(const finding *f, uint32_t *track) {
    const mark *marks = f->marks.data;
    size_t *n = calloc(f->view->timeline->n_tracks + 1, sizeof *n);
    *track = 0;
    for (size_t i = 0; n && i < f->marks.n; i++)
        n[marks[i].track] += marks[i].sequence >= 0;
    for (uint32_t t = 0; n && t < f->view->timeline->n_tracks; t++)
        *track = n[t] > n[*track] ? t : *track;
    bool ok = n != NULL;
    free(n);
    return ok;
}

static void count_updates(finding *f) {
    const mark *marks = f->marks.data;
    bool fresh = true; /* whether a node has run since the last update */
    for (size_t i = 0; i < f->marks.n; i++) {
        tm_step_part *step = step_of(f, marks[i].row);
        if (marks[i].update && step)
            step->updates += fresh;
        fresh = !marks[i].update || (fresh && !step);
    }
}

/* Counts each backward pass in the step in which it starts. Autograd runs the ready node with the
 * highest number, and nodes that become ready later have lower numbers. So a node with a higher
 * number than the last one starts a new pass. A pass that runs a node again does not count, because
 * it is for a second loss of the same forward pass.
 * @param known  the nodes that ran */
static bool count_numbered(finding *f, uint32_t track, tm_keys *known) {
    const mark *marks = f->marks.data;
    int64_t last = -1;
    /* step in which the current pass counts; NULL: the pass does not count */
    tm_step_part *step = NULL;
    size_t first = 0; /* number of nodes in `known` at the start of the current pass */
    for (size_t i = 0; i < f->marks.n; i++) {
        const mark *m = &marks[i];
        if (m->sequence < 0 || m->track != track)
            continue;
        if (last < 0 || m->sequence > last) {
            step = step_of(f, m->row);
            first = known->keys.n;
            if (step)
                step->passes++;
        }
        last = m->sequence;
        uint32_t at = tm_keys_add(known, &(node_key){m->thread, m->sequence});
        if (at == TM_NO_KEY)
            return false;
        if (at >= first || !step)
            continue;
        step->passes--;
        step = NULL;
    }
    return true;
}

static bool count_passes(finding *f) {
    uint32_t track;
    tm_keys known = TM_KEYS(node_key);
    bool ok = busiest(f, &track) && count_numbered(f, track, &known);
    tm_keys_free(&known);
    return ok;
}

static void add_device(finding *f) {
    const tm_timeline *timeline = f->view->timeline;
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        if (timeline->role[row] != TM_ROLE_COMPUTE && timeline->role[row] != TM_ROLE_MEMORY)
            continue;
        tm_step_part *step = step_of(f, row);
        uint32_t op = f->view->operators->above[row];
        if (!step)
            continue;
        step->work_ns = tm_sum(step->work_ns, timeline->duration_ns[row]);
        if (op != TM_NO_CALL && f->view->passes->pass[op] == TM_PASS_RECOMPUTED)
            step->recomputed_ns = tm_sum(step->recomputed_ns, timeline->duration_ns[row]);
    }
}

tm_status tm_step_parts_find(const tm_rank_view *view, tm_step_parts *out, tm_error *err) {
    finding f = {.view = view, .marks = TM_VEC(mark)};
    f.steps = calloc(view->timeline->n_steps + 1, sizeof *f.steps);
    f.known = calloc(view->n_names, 1);
    int64_t *numbers = malloc((view->operators->n + 1) * sizeof *numbers);
    bool ok = f.steps && f.known && numbers && add_nodes(&f, numbers) && look_at_threads(&f);
    bool reported = ok && f.marks.n > 0;
    if (reported) {
        qsort(f.marks.data, f.marks.n, sizeof(mark), by_begin);
        add_device(&f);
        count_updates(&f);
        ok = count_passes(&f);
    }
    tm_vec_free(&f.marks);
    free(numbers);
    free(f.known);
    if (!ok || !reported) {
        free(f.steps);
        f.steps = NULL;
    }
    if (!ok)
        return tm_fail_memory(err);
    *out = (tm_step_parts){f.steps, reported ? view->timeline->n_steps : 0, f.numbered};
    return TM_OK;
}
