/* Measures one rank. The starts and ends of its GPU work are sorted by time. Nothing changes
 * between two adjacent ones, so the interval between them is counted as a whole: once for the
 * rank's window, and once for each step that it intersects. */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

void tms_tally_init(tms_tally *tally) {
    memset(tally, 0, sizeof *tally);
}

void tms_tally_free(tms_tally *tally) {
    free(tally->steps);
    free(tally->edges);
    memset(tally, 0, sizeof *tally);
}

/* Makes room for `more` items. When out of memory, the array is unchanged. */
static void *reserve(void *items, size_t count, size_t more, size_t *capacity, size_t item_size) {
    size_t wanted = *capacity * 2 + 64;
    void *grown;

    if (*capacity - count >= more) {
        return items;
    }
    if (wanted > SIZE_MAX / item_size) {
        return NULL;
    }
    grown = realloc(items, wanted * item_size);
    if (grown != NULL) {
        *capacity = wanted;
    }
    return grown;
}

tms_status tms_tally_add_step(tms_tally *tally, int64_t step, int64_t begin_ns, int64_t end_ns,
                              tms_error *err) {
    tms_step_times *steps =
        reserve(tally->steps, tally->n_steps, 1, &tally->steps_capacity, sizeof *steps);

    if (steps == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for steps");
    }
    tally->steps = steps;
    steps[tally->n_steps++] = (tms_step_times){
        .step = step, .annotation_begin_ns = begin_ns, .annotation_end_ns = end_ns};
    return TMS_OK;
}

/* Records the end of GPU work in the step whose annotation contains its launch. */
static void note_end(tms_tally *tally, int64_t launch_ns, int64_t end_ns) {
    /* Goes backwards, because work comes step by step: the last step nearly always matches. */
    for (size_t i = tally->n_steps; i > 0; i--) {
        tms_step_times *step = &tally->steps[i - 1];

        if (launch_ns >= step->annotation_begin_ns && launch_ns < step->annotation_end_ns) {
            step->work_end_ns = end_ns > step->work_end_ns ? end_ns : step->work_end_ns;
            return;
        }
    }
}

tms_status tms_tally_add_work(tms_tally *tally, tms_work work, int64_t launch_ns, int64_t begin_ns,
                              int64_t end_ns, tms_error *err) {
    tms_edge *edges =
        reserve(tally->edges, tally->n_edges, 2, &tally->edges_capacity, sizeof *edges);

    if (edges == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for GPU events");
    }
    tally->edges = edges;
    edges[tally->n_edges++] = (tms_edge){begin_ns, work, 1};
    edges[tally->n_edges++] = (tms_edge){end_ns, work, -1};
    note_end(tally, launch_ns, end_ns);
    return TMS_OK;
}

/* Returns the kind of GPU work of an event; TMS_WORK_COUNT if the event is no GPU work. */
static tms_work work_of(tms_kind kind) {
    switch (tms_kind_get(kind)->shape) {
    case TMS_SHAPE_KERNEL:
        return TMS_WORK_COMPUTE;
    case TMS_SHAPE_COMM:
        return TMS_WORK_COMM;
    case TMS_SHAPE_MEMCPY:
    case TMS_SHAPE_MEMSET:
        return TMS_WORK_MEMORY;
    case TMS_SHAPE_OP:
    case TMS_SHAPE_ANNOTATION:
    case TMS_SHAPE_INSTANT:
    case TMS_SHAPE_RUNTIME:
    case TMS_SHAPE_GPU_ANNOTATION:
    case TMS_SHAPE_COUNT:
        break;
    }
    return TMS_WORK_COUNT;
}

tms_status tms_tally_add_events(tms_tally *tally, const tms_events *events, tms_error *err) {
    tms_status status =
        tms_tally_add_step(tally, events->step, events->step_begin_ns, events->step_end_ns, err);

    for (size_t i = 1; i <= events->count && status == TMS_OK; i++) {
        const tms_event *event = &events->items[i];
        tms_work work = work_of(event->kind);

        if (work != TMS_WORK_COUNT) {
            status = tms_tally_add_work(tally, work, event->launch_ns, event->begin_ns,
                                        event->begin_ns + event->duration_ns, err);
        }
    }
    return status;
}

/* Sets the windows of the steps after all work has been added. A step's window begins with its
 * annotation, but not before the end of the previous window. It ends when the last work that the
 * step launched ends. */
static void set_windows(tms_tally *tally) {
    int64_t previous_end_ns = INT64_MIN;

    for (size_t i = 0; i < tally->n_steps; i++) {
        tms_step_times *step = &tally->steps[i];

        step->begin_ns = step->annotation_begin_ns;
        if (previous_end_ns > step->begin_ns) {
            step->begin_ns = previous_end_ns;
        }
        step->end_ns = step->begin_ns;
        if (step->annotation_end_ns > step->end_ns) {
            step->end_ns = step->annotation_end_ns;
        }
        if (step->work_end_ns > step->end_ns) {
            step->end_ns = step->work_end_ns;
        }
        step->times.window_ns = step->end_ns - step->begin_ns;
        previous_end_ns = step->end_ns;
    }
}

/* Compares only times: the order of edges at equal times is irrelevant, see tms_tally_finish. */
static int compare_edges(const void *a, const void *b) {
    int64_t left = ((const tms_edge *)a)->time_ns;
    int64_t right = ((const tms_edge *)b)->time_ns;

    return (left > right) - (left < right);
}

/* Counts an interval. For each kind of work, `running` has the number of items that are active in
 * the interval. */
static void count(tms_times *times, const int64_t running[TMS_WORK_COUNT], int64_t length_ns) {
    bool compute = running[TMS_WORK_COMPUTE] > 0;
    bool comm = running[TMS_WORK_COMM] > 0;
    bool memory = running[TMS_WORK_MEMORY] > 0;

    /* Each time is the length of a union of intervals. In a sweep, that is the sum of the lengths
     * of the parts in which the condition holds. */
    times->work_ns[TMS_WORK_COMPUTE] += compute ? length_ns : 0;
    times->work_ns[TMS_WORK_COMM] += comm ? length_ns : 0;
    times->work_ns[TMS_WORK_MEMORY] += memory ? length_ns : 0;
    times->overlap_ns += comm && compute ? length_ns : 0;
    times->exposed_comm_ns += comm && !compute ? length_ns : 0;
    times->exposed_memory_ns += memory && !compute && !comm ? length_ns : 0;
    times->busy_ns += compute || comm || memory ? length_ns : 0;
}

/* Counts the interval [begin_ns, end_ns) in every step that it intersects. The intervals must come
 * in order, because *first moves past the steps that end before the interval. */
static void count_steps(tms_tally *tally, size_t *first, const int64_t running[TMS_WORK_COUNT],
                        int64_t begin_ns, int64_t end_ns) {
    while (*first < tally->n_steps && tally->steps[*first].end_ns <= begin_ns) {
        (*first)++;
    }
    /* This is nearly always one step, or two if their boundary is in the interval. */
    for (size_t i = *first; i < tally->n_steps && tally->steps[i].begin_ns < end_ns; i++) {
        tms_step_times *step = &tally->steps[i];
        int64_t from_ns = begin_ns > step->begin_ns ? begin_ns : step->begin_ns;
        int64_t to_ns = end_ns < step->end_ns ? end_ns : step->end_ns;

        if (from_ns < to_ns) {
            count(&step->times, running, to_ns - from_ns);
        }
    }
}

void tms_tally_finish(tms_tally *tally) {
    int64_t running[TMS_WORK_COUNT] = {0};
    size_t first = 0;

    set_windows(tally);
    if (tally->n_edges > 0) {
        qsort(tally->edges, tally->n_edges, sizeof *tally->edges, compare_edges);
        tally->total.window_ns = tally->edges[tally->n_edges - 1].time_ns - tally->edges[0].time_ns;
    }
    for (size_t i = 0; i + 1 < tally->n_edges; i++) {
        const tms_edge *edge = &tally->edges[i];

        /* The order of simultaneous edges is irrelevant: no time passes between them. */
        running[edge->work] += edge->change;
        if (edge[1].time_ns > edge->time_ns) {
            count(&tally->total, running, edge[1].time_ns - edge->time_ns);
            count_steps(tally, &first, running, edge->time_ns, edge[1].time_ns);
        }
    }
    /* The idle time is the remainder, so idle and busy time add up to exactly the window. */
    tally->total.idle_ns = tally->total.window_ns - tally->total.busy_ns;
    for (size_t i = 0; i < tally->n_steps; i++) {
        tms_times *times = &tally->steps[i].times;

        times->idle_ns = times->window_ns - times->busy_ns;
    }
}
