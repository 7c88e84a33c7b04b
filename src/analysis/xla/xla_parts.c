#include "xla_parts.h"

#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "analysis/shared/call_kinds.h"
#include "base/intervals.h"

static const char *const words[TM_XLA_N_PARTS] = {
    [TM_XLA_COMPUTE_16] = "compute",
    [TM_XLA_COMPUTE_32] = "compute",
    [TM_XLA_COMPUTE_UNTYPED] = "compute",
    [TM_XLA_INFEED] = "input",
    [TM_XLA_OUTPUT] = "output",
    [TM_XLA_DEVICE_COPIES] = "device_to_device",
    [TM_XLA_OFFLOAD] = "offload",
    [TM_XLA_COLLECTIVES] = "collectives",
    [TM_XLA_BARRIER] = "collectives",
    [TM_XLA_INPUT_WAIT] = "input",
    [TM_XLA_LAUNCH] = "launch",
    [TM_XLA_HOST_COPIES] = "input",
    [TM_XLA_COMPILE] = "compilation",
    [TM_XLA_HOST] = "host",
    [TM_XLA_OTHER] = "other",
};

const char *tm_xla_part_word(int part) {
    return words[part];
}

/* A cache of facts about names. 0 means that a value is not yet known. */
typedef struct sorter {
    const tm_rank_view *view;
    /* [names of host calls] 1 + part, or 1 + TM_XLA_OTHER if the call is in no part */
    uint8_t *host;
    uint8_t *width; /* [names of shapes and kernels] 16 or 32 bits */
    uint8_t *moves; /* [names of categories] 1 + whether the category rearranges data */
    bool shuffles, sparse;
    size_t next;          /* index into TM_ATTR_XLA */
    size_t next_of_group; /* index into TM_ATTR_COLLECTIVE */
} sorter;

static bool holds_any(const char *text, const char *const *parts) {
    while (*parts && !strstr(text, *parts))
        parts++;
    return *parts != NULL;
}

/* Returns 16 if a name of XLA, TensorFlow or a kernel contains a type of at most 16 bits; otherwise
 * 32. */
static uint8_t width_of(sorter *s, uint32_t name) {
    static const char *const narrow[] = {"half", "f16", "fp16", "float16", "f8e", NULL};
    if (s->width[name] == 0)
        s->width[name] = holds_any(tm_names_text(s->view->names, name).bytes, narrow) ? 16 : 32;
    return s->width[name];
}

static int part_of_kernel(sorter *s, uint32_t row, const tm_xla_attr *reported) {
    bool typed = reported && reported->shape != TM_NO_NAME;
    uint8_t width = width_of(s, typed ? reported->shape : s->view->timeline->name[row]);
    return width == 16 ? TM_XLA_COMPUTE_16 : typed ? TM_XLA_COMPUTE_32 : TM_XLA_COMPUTE_UNTYPED;
}

static bool begins_any(const tm_names *names, uint32_t name, const char *const *starts) {
    tm_text text = name != TM_NO_NAME ? tm_names_text(names, name) : (tm_text){"", 0};
    while (*starts && strncmp(text.bytes, *starts, strlen(*starts)) != 0)
        starts++;
    return *starts != NULL;
}

/* Returns whether a copy brings input to the device, or results back to the host. Other copies of a
 * program from and to host memory are offloading. */
static bool is_fed(const tm_rank_view *view, const tm_xla_attr *reported) {
    static const char *const categories[] = {"infeed", "outfeed", "host ", NULL};
    static const char *const operations[] = {"infeed", "outfeed", "send", "recv", NULL};
    return begins_any(view->names, reported->category, categories) ||
           begins_any(view->names, reported->hlo, operations);
}

static int part_of_copy(sorter *s, uint32_t row, const tm_xla_attr *reported) {
    const char *name = tm_names_text(s->view->names, s->view->timeline->name[row]).bytes;
    bool in = strncmp(name, "Memcpy HtoD", 11) == 0, out = strncmp(name, "Memcpy DtoH", 11) == 0;
    if (!in && !out)
        return TM_XLA_DEVICE_COPIES;
    if (!reported || reported->program == TM_NO_NAME)
        return in ? TM_XLA_HOST_COPIES : TM_XLA_OUTPUT;
    return !is_fed(s->view, reported) ? TM_XLA_OFFLOAD : in ? TM_XLA_INFEED : TM_XLA_OUTPUT;
}

/* Returns whether the row is the barrier before a program's first collective. */
static bool is_barrier(sorter *s, uint32_t row) {
    const tm_timeline *timeline = s->view->timeline;
    const tm_collective_attr *v = timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t n = timeline->n_attrs[TM_ATTR_COLLECTIVE];
    while (s->next_of_group < n && v[s->next_of_group].event < row)
        s->next_of_group++;
    return s->next_of_group < n && v[s->next_of_group].event == row &&
           v[s->next_of_group].kind == TM_COLL_BARRIER;
}

static int part_of_device(sorter *s, uint32_t row) {
    const tm_timeline *timeline = s->view->timeline;
    const tm_xla_attr *reported = tm_xla_of(timeline, row, &s->next);
    switch (timeline->role[row]) {
    case TM_ROLE_COMPUTE:
        return part_of_kernel(s, row, reported);
    case TM_ROLE_COMMUNICATION:
        return is_barrier(s, row) ? TM_XLA_BARRIER : TM_XLA_COLLECTIVES;
    case TM_ROLE_MEMORY:
        return part_of_copy(s, row, reported);
    default:
        return TM_XLA_OTHER;
    }
}

/* Returns whether XProf counts a category as data shuffle (smart_suggestion/signal_provider.h). */
static bool rearranges(sorter *s, uint32_t category) {
    static const char *const categories[] = {"broadcast",
                                             "concatenate",
                                             "data formatting",
                                             "dynamic-slice",
                                             "dynamic-update-slice",
                                             "gather",
                                             "pad",
                                             "reverse",
                                             "scatter",
                                             "select",
                                             "shuffle",
                                             "slice",
                                             "sort",
                                             "select-and-scatter"};
    if (s->moves[category] == 0) {
        const char *text = tm_names_text(s->view->names, category).bytes;
        size_t i = 0;
        while (i < sizeof categories / sizeof *categories && strcmp(categories[i], text) != 0)
            i++;
        s->moves[category] = (uint8_t)(1 + (i < sizeof categories / sizeof *categories));
    }
    return s->moves[category] > 1;
}

/* CORE is a further set, which is used only if there are SparseCores: computation of the core
 * itself. */
enum { CORE = TM_XLA_N_TIMES, N_SETS };

static bool is_sparse(const tm_rank_view *view, const tm_track *track) {
    return track->kind == TM_TRACK_GPU && track->thread_name != TM_NO_NAME &&
           strncmp(tm_names_text(view->names, track->thread_name).bytes, "SparseCore ", 11) == 0;
}

/* Adds a compute event to the set of SparseCores or to the set of the core itself. If the event is
 * of the core and rearranges data, also adds it to the set of shuffles. */
static bool add_compressed(sorter *s, const tm_track *track, uint32_t row, tm_intervals *sets) {
    const tm_timeline *timeline = s->view->timeline;
    const tm_xla_attr *reported = tm_xla_of(timeline, row, &s->next);
    int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
    if (s->sparse && is_sparse(s->view, track))
        return tm_intervals_add(&sets[TM_XLA_SPARSE], begin, end);
    bool known = reported && reported->category != TM_NO_NAME;
    s->shuffles |= known;
    if (known && rearranges(s, reported->category) &&
        !tm_intervals_add(&sets[TM_XLA_SHUFFLE], begin, end))
        return false;
    return !s->sparse || tm_intervals_add(&sets[CORE], begin, end);
}

static int part_of_call(const char *name, bool waits) {
    static const char *const compile[] = {"::Compile", "backend_compile", "XlaCompile", NULL};
    if (waits || strncmp(name, "IteratorGetNext", 15) == 0)
        return TM_XLA_INPUT_WAIT;
    if (strcmp(name, "ExecutorState::Process") == 0)
        return TM_XLA_LAUNCH;
    if (strncmp(name, "InfeedEnqueue", 13) == 0)
        return TM_XLA_HOST_COPIES;
    return holds_any(name, compile) ? TM_XLA_COMPILE : TM_XLA_OTHER;
}

static int part_of_host(sorter *s, uint32_t row) {
    const tm_timeline *timeline = s->view->timeline;
    uint32_t name = timeline->name[row];
    uint8_t category = timeline->category[row];
    if (category == TM_CAT_RUNTIME || category == TM_CAT_DRIVER)
        return TM_XLA_LAUNCH;
    if ((category != TM_CAT_CPU_OP && category != TM_CAT_USER_ANNOTATION) ||
        tm_timeline_is_step(timeline, row))
        return TM_XLA_OTHER;
    if (s->host[name] == 0) {
        bool waits = tm_call_kinds_at(s->view->call_kinds, name) == TM_CALL_KIND_INPUT;
        const char *text = tm_names_text(s->view->names, name).bytes;
        s->host[name] = (uint8_t)(1 + part_of_call(text, waits));
    }
    int part = s->host[name] - 1;
    return part == TM_XLA_OTHER && category == TM_CAT_CPU_OP ? TM_XLA_HOST : part;
}

static bool collect(sorter *s, tm_intervals *sets) {
    const tm_timeline *timeline = s->view->timeline;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (timeline->kind[row] != TM_DURATION)
                continue;
            int part = track->kind == TM_TRACK_GPU ? part_of_device(s, row) : part_of_host(s, row);
            int64_t begin = timeline->begin_ns[row];
            if (part != TM_XLA_OTHER &&
                !tm_intervals_add(&sets[part], begin, begin + timeline->duration_ns[row]))
                return false;
            if (part <= TM_XLA_COMPUTE_UNTYPED && !add_compressed(s, track, row, sets))
                return false;
        }
    }
    for (int i = 0; i < N_SETS; i++)
        tm_intervals_normalise(&sets[i]);
    return true;
}

/* Sets how much of each step a set covers. */
static void add_lengths(const tm_timeline *timeline, const tm_intervals *set, int time,
                        int64_t *out) {
    for (size_t i = 0; i < timeline->n_steps; i++)
        out[i * TM_XLA_N_TIMES + (size_t)time] =
            tm_intervals_length_in(set, timeline->steps[i].begin_ns, timeline->steps[i].end_ns);
}

/* Measures the time of each part. Time that an earlier part has does not count again. Gaps between
 * recordings do not count. */
static bool measure(const tm_rank_view *view, tm_intervals *sets, int64_t *out) {
    const tm_timeline *timeline = view->timeline;
    tm_intervals covered = TM_INTERVALS(), next = TM_INTERVALS();
    bool ok = true;
    for (int part = 0; part < TM_XLA_OTHER && ok; part++) {
        if (sets[part].n == 0)
            continue;
        ok = tm_intervals_subtract(&sets[part], &covered, &next);
        if (ok)
            add_lengths(timeline, &next, part, out);
        ok = ok && tm_intervals_unite(&covered, &sets[part], &next);
        tm_intervals swapped = covered;
        covered = next;
        next = swapped;
    }
    for (size_t i = 0; i < timeline->n_steps && ok; i++) {
        int64_t *parts = out + i * TM_XLA_N_TIMES;
        parts[TM_XLA_OTHER] = tm_step_window(timeline, &timeline->steps[i]);
        for (int part = 0; part < TM_XLA_OTHER; part++)
            parts[TM_XLA_OTHER] -= parts[part];
    }
    ok = ok && tm_intervals_subtract(&sets[TM_XLA_SPARSE], &sets[CORE], &next);
    if (ok) {
        add_lengths(timeline, &sets[TM_XLA_SHUFFLE], TM_XLA_SHUFFLE, out);
        add_lengths(timeline, &next, TM_XLA_SPARSE, out);
    }
    tm_vec_free(&covered);
    tm_vec_free(&next);
    return ok;
}

tm_status tm_xla_parts_find(const tm_rank_view *view, tm_xla_parts *out, tm_error *err) {
    size_t n_names = tm_names_count(view->names);
    uint8_t *known = calloc(3 * n_names + 1, 1);
    sorter s = {.view = view, .host = known};
    int64_t *ns = calloc(view->timeline->n_steps * TM_XLA_N_TIMES + 1, sizeof *ns);
    tm_intervals sets[N_SETS];
    for (int i = 0; i < N_SETS; i++)
        sets[i] = TM_INTERVALS();
    for (size_t t = 0; t < view->timeline->n_tracks; t++)
        s.sparse |= is_sparse(view, &view->timeline->tracks[t]);
    if (known) {
        s.width = known + n_names;
        s.moves = s.width + n_names;
    }
    bool ok = known && ns && collect(&s, sets) && measure(view, sets, ns);
    for (int i = 0; i < N_SETS; i++)
        tm_vec_free(&sets[i]);
    free(known);
    if (ok)
        *out = (tm_xla_parts){ns, s.shuffles, s.sparse};
    else
        free(ns);
    return ok ? TM_OK : tm_fail_memory(err);
}
