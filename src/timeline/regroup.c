#include "regroup.h"

#include <inttypes.h>
#include <stdio.h>

#include "identity/rank_numbers.h"
#include "metadata.h"

typedef struct regrouping {
    tm_names *names;
    const tm_vec *moves;
    int64_t replica;
    tm_keys known; /* keys of type uint32_t: name ids of lists */
    tm_vec moved; /* vector of uint32_t: name id of the renumbered list, for each list in `known` */
    tm_vec text;  /* vector of char */
    /* Cache for groups that are given by size, start and stride: the last such group, and its start
     * in the job. */
    int32_t size, start, stride, moved_start;
} regrouping;

/* Reads the number of a rank at p, and appends its number in the job. Returns the position after
 * the number; NULL if the rank is unknown in the job. Sets *ok to false if out of memory. */
static const char *move_number(regrouping *r, const char *p, bool *ok) {
    char digits[24];
    int64_t value = 0;
    while (*p >= '0' && *p <= '9' && value <= TM_RANK_MAX)
        value = value * 10 + (*p++ - '0');
    int64_t rank = value <= TM_RANK_MAX ? tm_rank_moved(r->moves, r->replica, value) : -1;
    int n = snprintf(digits, sizeof digits, "%" PRId64, rank);
    *ok = tm_vec_append(&r->text, digits, (size_t)n) != NULL;
    return rank >= 0 ? p : NULL;
}

/* Renumbers the ranks of a list, for example "[0, 1]" to "[2, 3]". The result is "[]" if one of the
 * ranks is unknown in the job. Keeps quotes, and the dots of a truncated list. Returns
 * TM_NAME_FAILED if out of memory. */
static uint32_t move_text(regrouping *r, uint32_t id) {
    const char *p = tm_names_text(r->names, id).bytes;
    bool ok = true;
    r->text.n = 0;
    while (p && *p && ok) {
        if (*p >= '0' && *p <= '9')
            p = move_number(r, p, &ok);
        else
            ok = tm_vec_append(&r->text, p++, 1) != NULL;
    }
    if (!ok)
        return TM_NAME_FAILED;
    return p ? tm_names_intern(r->names, r->text.data, r->text.n)
             : tm_names_intern_string(r->names, "[]");
}

/* Renumbers a list. Remembers the result, because events have few different lists. Returns false if
 * out of memory. */
static bool move_list(regrouping *r, uint32_t *id) {
    if (*id == TM_NO_NAME)
        return true;
    uint32_t *moved = tm_keys_value(&r->known, &r->moved, id);
    if (moved && *moved == TM_NO_NAME)
        *moved = move_text(r, *id);
    *id = moved ? *moved : TM_NAME_FAILED;
    return *id != TM_NAME_FAILED;
}

static int32_t move_rank(const regrouping *r, int32_t rank) {
    int64_t moved = rank >= 0 ? tm_rank_moved(r->moves, r->replica, rank) : -1;
    return moved <= INT32_MAX ? (int32_t)moved : -1;
}

/* Returns the job's number of the first rank of a group. Returns -1 if a rank of the group is
 * unknown in the job, or if the stride between the ranks is different there. */
static int32_t move_start(const regrouping *r, const tm_collective_attr *attr) {
    int64_t start = attr->rank_start >= 0 ? move_rank(r, attr->rank_start) : -1;
    for (int64_t i = 1; i < attr->group_size && start >= 0; i++) {
        int64_t by = i * attr->rank_stride;
        if (tm_rank_moved(r->moves, r->replica, attr->rank_start + by) != start + by)
            start = -1;
    }
    return (int32_t)start;
}

static bool move_collective(regrouping *r, tm_collective_attr *attr) {
    if (r->size != attr->group_size || r->start != attr->rank_start ||
        r->stride != attr->rank_stride) {
        r->size = attr->group_size;
        r->start = attr->rank_start;
        r->stride = attr->rank_stride;
        r->moved_start = move_start(r, attr);
    }
    attr->rank_start = r->moved_start;
    attr->src_rank = move_rank(r, attr->src_rank);
    attr->dst_rank = move_rank(r, attr->dst_rank);
    return move_list(r, &attr->group_ranks);
}

static bool move_all(regrouping *r, tm_trace *trace) {
    tm_collective_attr *attrs = trace->attrs[TM_ATTR_COLLECTIVE].data;
    uint32_t *lists = trace->lists.data;
    const char *metadata = tm_names_text(r->names, trace->metadata).bytes;
    const char *p = tm_metadata_member(metadata, "distributedInfo");
    bool ok = true;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_COLLECTIVE].n && ok; i++)
        ok = move_collective(r, &attrs[i]);
    for (size_t list; ok && p && (list = tm_metadata_next_list(&p, "ranks")) < trace->lists.n;)
        ok = move_list(r, &lists[list]);
    return ok;
}

tm_status tm_trace_regroup(tm_trace *trace, tm_names *names, const tm_vec *moves, int64_t replica,
                           tm_error *err) {
    regrouping r = {.names = names,
                    .moves = moves,
                    .replica = replica,
                    .known = TM_KEYS(uint32_t),
                    .moved = TM_VEC(uint32_t),
                    .text = TM_VEC(char),
                    .start = -1,
                    .moved_start = -1};
    bool ok = move_all(&r, trace);
    tm_keys_free(&r.known);
    tm_vec_free(&r.moved);
    tm_vec_free(&r.text);
    return ok ? TM_OK : tm_fail_memory(err);
}
