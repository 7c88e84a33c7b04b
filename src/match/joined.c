#include "joined.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"
#include "timeline/metadata.h"

/* A group that appears in the metadata of the rank's kernels. */
typedef struct named {
    uint32_t name;
    tm_vec ranks; /* vector of int64_t: rank at each place of the group, ascending */
    /* Number of communicators that can be this group. A communicator that can be k different groups
     * counts k times. */
    size_t n_fit;
    /* Index of the first member of a communicator that can be this group. Of several such
     * communicators, it is the last one. */
    size_t first;
} named;

static named *find_named(const tm_vec *groups, uint32_t name) {
    named *v = groups->data;
    for (size_t i = groups->n; i-- > 0;)
        if (v[i].name == name)
            return &v[i];
    return NULL;
}

static bool is_kernel(const tm_timeline *timeline, const tm_collective_attr *attr) {
    return timeline->role[attr->event] == TM_ROLE_COMMUNICATION && attr->name != TM_NO_NAME &&
           attr->group != TM_NO_NAME;
}

/* Lists the groups of the rank's kernels. Leaves out groups whose list of ranks is incomplete. */
static tm_status list_groups(tm_group_finder *finder, const tm_timeline *timeline, tm_vec *out,
                             tm_error *err) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    TM_TRY(tm_group_finder_enter(finder, timeline, err));
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        const tm_rank_list *list;
        if (!is_kernel(timeline, &attrs[i]) || find_named(out, attrs[i].group))
            continue;
        TM_TRY(tm_group_ranks(finder, &attrs[i], &list, err));
        if (!list || list->more || list->ranks.n < 2 || attrs[i].seq == TM_SEQ_REPEATED)
            continue;
        named *added = tm_vec_push(out);
        if (!added)
            return tm_fail_memory(err);
        *added = (named){.name = attrs[i].group, .ranks = TM_VEC(int64_t)};
        if (!tm_vec_append(&added->ranks, list->ranks.data, list->ranks.n))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Returns a rank's place in a group; the group's size if the rank is not a member. */
static size_t place_of(const named *group, int64_t rank) {
    const int64_t *ranks = group->ranks.data;
    size_t at = tm_lower_bound(ranks, group->ranks.n, rank);
    return at < group->ranks.n && ranks[at] == rank ? at : group->ranks.n;
}

bool tm_joins_list_reported(const tm_vec *members, tm_vec *out) {
    const tm_membership *v = members->data;
    for (size_t i = 0; i < members->n; i++)
        if (!tm_vec_append(out, &v[i].rank, 1))
            return false;
    tm_sort_values(out->data, out->n);
    return true;
}

static bool has_reported(const tm_vec *reported, int64_t rank) {
    const int64_t *v = reported->data;
    size_t at = tm_lower_bound(v, reported->n, rank);
    return at < reported->n && v[at] == rank;
}

/* Returns whether the communicator with these n members can be this group. */
static bool can_be(const tm_membership *run, size_t n, const named *group, const tm_vec *reported) {
    const int64_t *ranks = group->ranks.data;
    size_t n_members = 0, n_reported = 0;
    bool used = false, fits = run->nccl != 0;
    for (size_t i = 0; i < n && fits; i++) {
        size_t place = place_of(group, run[i].rank);
        used = used || run[i].used;
        n_members += i == 0 || run[i].rank != run[i - 1].rank;
        fits = place < group->ranks.n &&
               (run[i].n_ranks < 0 || (size_t)run[i].n_ranks == group->ranks.n) &&
               (run[i].place < 0 || (size_t)run[i].place == place);
    }
    for (size_t i = 0; i < group->ranks.n && fits; i++)
        n_reported += has_reported(reported, ranks[i]);
    return fits && used && n_reported == n_members;
}

/* Finds the communicators that fit each group. n_fit is 1 only if exactly one communicator fits,
 * and this communicator fits no other group. */
static void fit(const tm_vec *members, const tm_vec *reported, const tm_vec *groups) {
    const tm_membership *v = members->data;
    named *g = groups->data;
    for (size_t first = 0, end; first < members->n; first = end) {
        end = tm_memberships_end(members, first);
        size_t n_fit = 0;
        for (size_t k = 0; k < groups->n; k++)
            n_fit += can_be(v + first, end - first, &g[k], reported);
        for (size_t k = 0; k < groups->n && n_fit > 0; k++)
            if (can_be(v + first, end - first, &g[k], reported)) {
                g[k].n_fit += n_fit;
                g[k].first = first;
            }
    }
}

/* Adds memberships in a group's communicator: for the rank itself, and for those ranks of the group
 * that recorded no communicators. */
static bool add_members(const named *group, tm_communicator own, int64_t rank,
                        const tm_join_with *with, const tm_names *names) {
    const int64_t *ranks = group->ranks.data;
    bool ok = true;
    for (size_t i = 0; i < group->ranks.n && ok; i++) {
        own.place = (int32_t)i;
        own.used = ranks[i] == rank;
        const tm_membership member = tm_membership_of(&own, ranks[i], with->process, names);
        ok = has_reported(with->reported, ranks[i]) || tm_vec_append(with->own, &member, 1);
    }
    return ok;
}

static tm_status join(const named *group, const tm_join_with *with, tm_timeline *timeline,
                      tm_names *names, tm_error *err) {
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    const uint64_t nccl = ((const tm_membership *)with->members->data)[group->first].nccl;
    tm_communicator *grown = realloc(timeline->communicators, (timeline->n_communicators + 1) *
                                                                  sizeof *timeline->communicators);
    char text[24];
    if (!grown)
        return tm_fail_memory(err);
    timeline->communicators = grown;
    snprintf(text, sizeof text, "%" PRIx64, nccl);
    tm_communicator own = {.name = tm_names_intern_string(names, text),
                           .n_ranks = (int32_t)group->ranks.n,
                           .place = (int32_t)place_of(group, timeline->rank),
                           .used = true,
                           .joined = true,
                           .nccl = nccl};
    if (own.name == TM_NAME_FAILED || !add_members(group, own, timeline->rank, with, names))
        return tm_fail_memory(err);
    grown[timeline->n_communicators++] = own;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++)
        if (attrs[i].group == group->name)
            attrs[i].group = own.name;
    return TM_OK;
}

/* Lists the rank's groups, and finds the communicators that each group can be. */
static tm_status list_fitting(const tm_join_with *with, const tm_timeline *timeline,
                              const tm_names *names, tm_vec *out, tm_error *err) {
    tm_group_finder *finder = NULL;
    tm_status status = tm_group_finder_create(names, with->world_size, &finder, err);
    if (status == TM_OK)
        status = list_groups(finder, timeline, out, err);
    if (status == TM_OK)
        fit(with->members, with->reported, out);
    /* The finder must not be used after the caller has added names. */
    tm_group_finder_destroy(finder);
    return status;
}

tm_status tm_groups_join(const tm_join_with *with, tm_timeline *timeline, tm_names *names,
                         tm_error *err) {
    tm_vec groups = TM_VEC(named);
    tm_status status = list_fitting(with, timeline, names, &groups, err);
    named *g = groups.data;
    for (size_t k = 0; k < groups.n; k++) {
        bool sole = g[k].n_fit == 1 && place_of(&g[k], timeline->rank) < g[k].ranks.n;
        if (status == TM_OK && sole)
            status = join(&g[k], with, timeline, names, err);
        tm_vec_free(&g[k].ranks);
    }
    tm_vec_free(&groups);
    return status;
}
