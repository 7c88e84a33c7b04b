#include "build_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "comm_calls.h"
#include "host_comm.h"

/* Returns a bare row. Such a row is for a kernel that has no metadata: only the kernel's name shows
 * that it communicates. */
static tm_collective_attr bare_row(const tm_timeline *timeline, const tm_names *names,
                                   tm_classifier *classifier, size_t row) {
    tm_collective_attr bare = tm_collective_bare((uint32_t)row);
    bare.kind = (uint8_t)tm_classifier_kind(classifier, names, timeline->name[row]).kind;
    return bare;
}

static bool is_bare(const tm_collective_attr *a) {
    bool no_text = a->name == TM_NO_NAME && a->dtype == TM_NO_NAME && a->group == TM_NO_NAME &&
                   a->group_description == TM_NO_NAME && a->group_ranks == TM_NO_NAME &&
                   a->in_split == TM_NO_NAME && a->out_split == TM_NO_NAME;
    return no_text && a->comms_id == 0 && a->seq == -1 && a->in_elements == -1 &&
           a->out_elements == -1 && a->group_size == -1 && a->rank_start == -1 &&
           a->rank_stride == -1 && a->src_rank == -1 && a->dst_rank == -1;
}

/* Removes all bare rows: the rows that an earlier classification added, and rows of the trace that
 * contain no more than these. add_missing adds them again where they are needed, so that roles
 * depend only on what was recorded. Returns the number of rows left. */
static size_t keep_recorded(tm_collective_attr *rows, size_t n, const tm_names *names) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_bare(&rows[i]))
            continue;
        tm_text name = tm_names_text(names, rows[i].name);
        rows[kept] = rows[i];
        rows[kept++].kind = (uint8_t)tm_collective_kind_of_name(name.bytes, name.size);
    }
    return kept;
}

static bool is_kernel(const tm_timeline *timeline, size_t row) {
    return timeline->kind[row] == TM_DURATION && timeline->category[row] == TM_CAT_KERNEL;
}

static tm_role role_of(const tm_timeline *timeline, size_t row, bool communicates) {
    if (is_kernel(timeline, row) || communicates)
        return communicates ? TM_ROLE_COMMUNICATION : TM_ROLE_COMPUTE;
    bool memory = timeline->kind[row] == TM_DURATION && (timeline->category[row] == TM_CAT_MEMCPY ||
                                                         timeline->category[row] == TM_CAT_MEMSET);
    return memory ? TM_ROLE_MEMORY : TM_ROLE_NONE;
}

/* Inserts a bare row for each communication kernel without a row. Goes from the end to the start,
 * so that each row is moved before it is overwritten. */
static void add_missing(const tm_timeline *timeline, const tm_names *names,
                        tm_classifier *classifier, tm_collective_attr *rows, size_t n,
                        size_t n_missing) {
    size_t to = n + n_missing;
    for (size_t row = timeline->n_events; row-- > 0 && to > n;) {
        while (n > 0 && rows[n - 1].event > row)
            rows[--to] = rows[--n];
        bool has = n > 0 && rows[n - 1].event == row;
        if (timeline->role[row] == TM_ROLE_COMMUNICATION && !has)
            rows[--to] = bare_row(timeline, names, classifier, row);
    }
}

bool tm_timeline_is_repeated(const tm_timeline *timeline, const tm_names *names,
                             const tm_track *track, size_t row) {
    const uint32_t launch = timeline->launch[row];
    return row > track->first && launch != TM_NO_EVENT && launch != row &&
           timeline->launch[row - 1] == launch && timeline->duration_ns[row] > 0 &&
           timeline->begin_ns[row - 1] == timeline->begin_ns[row] &&
           timeline->duration_ns[row - 1] == timeline->duration_ns[row] &&
           timeline->name[row - 1] == timeline->name[row] &&
           timeline->category[row - 1] == timeline->category[row] &&
           !strstr(tm_names_text(names, timeline->name[launch]).bytes, "Graph");
}

tm_status tm_timeline_find_roles(tm_timeline *timeline, const tm_names *names,
                                 tm_classifier *classifier, tm_error *err) {
    tm_collective_attr *rows = timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t n = keep_recorded(rows, timeline->n_attrs[TM_ATTR_COLLECTIVE], names);
    size_t next = 0, n_missing = 0;
    const bool of_cpu = tm_timeline_is_of_cpu(timeline);
    const tm_track *track = timeline->tracks;
    for (size_t row = 0; row < timeline->n_events; row++) {
        while (next < n && rows[next].event < row)
            next++;
        bool has = next < n && rows[next].event == row;
        bool communicates = is_kernel(timeline, row)
                                ? has || tm_kernel_communicates(tm_classifier_kind(
                                             classifier, names, timeline->name[row]))
                                : has && of_cpu;
        while (row >= (size_t)track->first + track->count)
            track++;
        timeline->role[row] = (uint8_t)(tm_timeline_is_repeated(timeline, names, track, row)
                                            ? TM_ROLE_NONE
                                            : role_of(timeline, row, communicates));
        n_missing += timeline->role[row] == TM_ROLE_COMMUNICATION && !has;
    }
    timeline->n_attrs[TM_ATTR_COLLECTIVE] = n;
    rows = realloc(rows, (n + n_missing + 1) * sizeof *rows);
    if (!rows)
        return tm_fail_memory(err);
    add_missing(timeline, names, classifier, rows, n, n_missing);
    timeline->attrs[TM_ATTR_COLLECTIVE] = rows;
    timeline->n_attrs[TM_ATTR_COLLECTIVE] = n + n_missing;
    TM_TRY(tm_comm_calls_ask(timeline, names, classifier, rows, n + n_missing, err));
    return of_cpu ? tm_timeline_find_cpu_roles(timeline, names, err) : TM_OK;
}
