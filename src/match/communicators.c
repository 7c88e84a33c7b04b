#include "communicators.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"

static uint64_t hash_of(const tm_names *names, uint32_t name) {
    tm_text text = tm_names_text(names, name);
    return tm_hash_mixed(0, text.bytes, text.size);
}

static uint64_t key_of(const tm_communicator *c, const tm_names *names) {
    return c->nccl ? tm_hash_mixed(1, &c->nccl, sizeof c->nccl) : hash_of(names, c->name);
}

tm_membership tm_membership_of(const tm_communicator *c, int64_t rank, int process,
                               const tm_names *names) {
    return (tm_membership){.communicator = key_of(c, names),
                           .name = hash_of(names, c->name),
                           .nccl = c->nccl,
                           .rank = rank,
                           .n_ranks = c->n_ranks,
                           .place = c->place,
                           .process = process,
                           .used = c->used,
                           .numbered = c->numbered,
                           .joined = c->joined};
}

tm_status tm_memberships_list(const tm_timeline *timeline, const tm_names *names, int process,
                              tm_vec *out, tm_error *err) {
    for (size_t i = 0; i < timeline->n_communicators; i++) {
        const tm_membership member =
            tm_membership_of(&timeline->communicators[i], timeline->rank, process, names);
        if (!tm_vec_append(out, &member, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Of several traces of a rank, the trace that recorded more comes first. */
static int by_communicator(const void *a, const void *b) {
    const tm_membership *x = a, *y = b;
    int order = tm_order_u64(x->communicator, y->communicator);
    order = order ? order : tm_order_i64(x->rank, y->rank);
    order = order ? order : tm_order_i64(y->n_ranks, x->n_ranks);
    return order ? order : tm_order_i64(x->place, y->place);
}

void tm_memberships_sort(tm_vec *members) {
    tm_vec_sort(members, by_communicator);
}

size_t tm_memberships_end(const tm_vec *members, size_t first) {
    const tm_membership *v = members->data;
    size_t end = first + 1;
    while (end < members->n && v[end].communicator == v[first].communicator)
        end++;
    return end;
}

static int by_value(const void *a, const void *b) {
    return tm_order_i64(*(const int32_t *)a, *(const int32_t *)b);
}

/* Appends a copy of the members [first, end) for each process that holds one of them. */
static bool answer_run(const tm_vec *members, size_t first, size_t end, tm_vec *out) {
    const tm_membership *v = members->data;
    int32_t *processes = malloc((end - first + 1) * sizeof *processes);
    for (size_t i = first; i < end && processes; i++)
        processes[i - first] = v[i].process;
    if (processes)
        qsort(processes, end - first, sizeof *processes, by_value);
    bool ok = processes != NULL;
    for (size_t p = 0; p < end - first && ok; p++)
        for (size_t i = first; i < end && ok; i++) {
            tm_membership answer = v[i];
            answer.process = processes[p];
            ok = (p > 0 && processes[p] == processes[p - 1]) || tm_vec_append(out, &answer, 1);
        }
    free(processes);
    return ok;
}

/* Returns whether only one rank uses a communicator of unknown size. If so, other ranks did not
 * report all of their communicators. */
static bool is_alone(const tm_membership *run, size_t n) {
    bool used = false;
    for (size_t i = 0; i < n; i++) {
        if (run[i].rank != run->rank || run[i].n_ranks > 0)
            return false;
        used = used || run[i].used;
    }
    return used;
}

tm_status tm_memberships_answer(tm_vec *members, tm_vec *out, size_t *n_alone, tm_error *err) {
    *n_alone = 0;
    tm_memberships_sort(members);
    for (size_t first = 0, end; first < members->n; first = end) {
        end = tm_memberships_end(members, first);
        *n_alone += is_alone((const tm_membership *)members->data + first, end - first);
        if (!answer_run(members, first, end, out))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* What the ranks recorded about a communicator. */
typedef struct group {
    uint32_t name;
    /* Name that the communicator's kernels get. It is `name`, or a common name if ranks use several
     * names. */
    uint32_t reported;
    bool joined;       /* as in tm_communicator */
    bool mixed;        /* ranks use several names, or number the operations differently */
    uint32_t list;     /* id of the text that lists the ranks; TM_NO_NAME if unknown */
    int32_t size;      /* -1 unknown */
    size_t n;          /* number of members with a trace */
    int64_t *ranks;    /* [n] ascending; owned */
    int64_t *by_place; /* [n] rank at each place; NULL if places are unknown; owned */
} group;

/* Lists the ranks of a communicator's n members, each rank once. Returns false if out of memory. */
static bool list_members(const tm_membership *run, size_t n, group *out) {
    out->ranks = malloc(n * sizeof *out->ranks);
    out->by_place = malloc(n * sizeof *out->by_place);
    for (size_t i = 0; i < n && out->ranks; i++)
        if (i == 0 || run[i].rank != run[i - 1].rank)
            out->ranks[out->n++] = run[i].rank;
    return out->ranks && out->by_place;
}

/* Returns the recorded size of the communicator. Returns -1 if no member recorded it, and 0 if the
 * records disagree. */
static int32_t recorded_size(const tm_membership *run, size_t n) {
    int32_t size = -1;
    for (size_t i = 0; i < n; i++)
        if (run[i].n_ranks > 0) {
            if (size > 0 && run[i].n_ranks != size)
                return 0;
            size = run[i].n_ranks;
        }
    return size;
}

/* Returns the smallest number of ranks that the communicator can have, according to its members. */
static int32_t least_size(const tm_membership *run, size_t n) {
    int32_t least = 1;
    for (size_t i = 0; i < n; i++)
        least = -run[i].n_ranks > least ? -run[i].n_ranks : least;
    return least;
}

/* Sets the rank at each place of the group. If a place does not have exactly one member, frees
 * by_place instead. */
static void order_by_place(const tm_membership *run, size_t n, group *g) {
    size_t filled = 0;
    bool clear = (size_t)g->size == g->n;
    for (size_t i = 0; i < g->n; i++)
        g->by_place[i] = -1;
    for (size_t i = 0; i < n && clear; i++) {
        if (run[i].place < 0)
            continue;
        int64_t *at = (size_t)run[i].place < g->n ? &g->by_place[run[i].place] : NULL;
        bool moved = i > 0 && run[i].rank == run[i - 1].rank && run[i - 1].place >= 0 &&
                     run[i].place != run[i - 1].place;
        clear = at && !moved && (*at < 0 || *at == run[i].rank);
        filled += clear && *at < 0;
        if (clear)
            *at = run[i].rank;
    }
    if (clear && filled == g->n)
        return;
    free(g->by_place);
    g->by_place = NULL;
}

/* Writes the ranks as the profiler does: "[0, 1, 2]", or "[0, 1, ?]" if some ranks have no
 * trace. */
static bool print_list(group *g, tm_names *names) {
    tm_vec text = TM_VEC(char);
    char part[32];
    bool ok = true, more = g->size > (int64_t)g->n;
    for (size_t i = 0; i < g->n && ok; i++) {
        int size = snprintf(part, sizeof part, "%s%" PRId64, i ? ", " : "[", g->ranks[i]);
        ok = tm_vec_append(&text, part, (size_t)size) != NULL;
    }
    const char *end = more ? ", ?]" : "]";
    ok = ok && tm_vec_append(&text, end, strlen(end));
    g->list = ok ? tm_names_intern(names, text.data, text.n) : TM_NAME_FAILED;
    tm_vec_free(&text);
    return g->list != TM_NAME_FAILED;
}

/* Chooses one name for a group whose ranks use several names. */
static bool find_name(const tm_membership *run, size_t n, const tm_communicator *of,
                      tm_names *names, group *out) {
    bool differ = false;
    char text[24];
    for (size_t i = 1; i < n; i++)
        differ = differ || run[i].name != run->name || run[i].numbered != run->numbered;
    if (!differ || of->nccl == 0)
        return true;
    snprintf(text, sizeof text, "%" PRIx64, of->nccl);
    out->reported = tm_names_intern_string(names, text);
    out->mixed = true;
    return out->reported != TM_NAME_FAILED;
}

static bool find_group(const tm_vec *answers, bool all_reported, const tm_communicator *of,
                       tm_names *names, group *out) {
    const tm_membership *v = answers->data;
    uint64_t hash = key_of(of, names);
    size_t first = TM_FIRST_FROM(tm_membership, communicator, v, answers->n, hash);
    /* n is at least 1, because the rank itself is a member */
    size_t n = tm_memberships_end(answers, first) - first;
    *out =
        (group){.name = of->name, .reported = of->name, .joined = of->joined, .list = TM_NO_NAME};
    if (!list_members(v + first, n, out) || !find_name(v + first, n, of, names, out))
        return false;
    out->size = recorded_size(v + first, n);
    const int32_t least = out->size < 0 ? least_size(v + first, n) : 1;
    if (out->size < 0 && all_reported && out->n > 1)
        out->size = (int32_t)out->n;
    if (least > (int64_t)out->n)
        out->size = least;
    order_by_place(v + first, n, out);
    if (out->size > TM_GROUP_RANKS_MAX || out->size < (int64_t)out->n) {
        out->size = -1;
        return true;
    }
    return print_list(out, names);
}

/* Returns the job rank of the peer that has this place in the group; -1 if it is unknown. */
static int32_t peer_of(const group *g, int64_t own, int32_t place) {
    if (place < 0 || (size_t)place >= g->n || (size_t)g->size != g->n)
        return -1;
    if (g->by_place)
        return (int32_t)g->by_place[place];
    return g->n == 2 ? (int32_t)g->ranks[g->ranks[0] == own] : -1;
}

/* Returns the number of elements of all ranks' pieces together; -1 if unknown or implausible. */
static int64_t all_pieces(int64_t piece, int32_t n_ranks) {
    return n_ranks > 0 && piece >= 0 && piece < INT64_MAX / 64 / n_ranks ? piece * n_ranks : -1;
}

static void apply_group(const group *g, int64_t rank, tm_collective_attr *attr) {
    attr->group = g->reported;
    attr->group_ranks = g->list;
    attr->group_size = g->size;
    if (g->mixed && attr->seq != TM_SEQ_REPEATED) {
        attr->seq = -1;
        attr->comms_id = 0;
    }
    if (g->joined)
        return;
    attr->src_rank = peer_of(g, rank, attr->src_rank);
    attr->dst_rank = peer_of(g, rank, attr->dst_rank);
    if (attr->kind == TM_COLL_ALLGATHER)
        attr->out_elements = all_pieces(attr->in_elements, g->size);
    if (attr->kind == TM_COLL_REDUCESCATTER)
        attr->in_elements = all_pieces(attr->out_elements, g->size);
}

/* Tries the last group first, because consecutive kernels usually have the same group. */
static void apply_groups(const group *groups, size_t n, tm_timeline *timeline) {
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t k = 0;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        for (size_t tried = 0; tried < n && groups[k].name != attrs[i].group; tried++)
            k = k + 1 < n ? k + 1 : 0;
        if (n > 0 && groups[k].name == attrs[i].group)
            apply_group(&groups[k], timeline->rank, &attrs[i]);
    }
}

tm_status tm_memberships_apply(const tm_vec *answers, bool all_reported, tm_timeline *timeline,
                               tm_names *names, tm_error *err) {
    size_t n = timeline->n_communicators;
    group *groups = calloc(n + 1, sizeof *groups);
    bool ok = groups != NULL;
    for (size_t i = 0; i < n && ok; i++)
        ok = find_group(answers, all_reported, &timeline->communicators[i], names, &groups[i]);
    if (ok)
        apply_groups(groups, n, timeline);
    for (size_t i = 0; i < n && groups; i++) {
        free(groups[i].ranks);
        free(groups[i].by_place);
    }
    free(groups);
    free(timeline->communicators);
    timeline->communicators = NULL;
    timeline->n_communicators = 0;
    return ok ? TM_OK : tm_fail_memory(err);
}
