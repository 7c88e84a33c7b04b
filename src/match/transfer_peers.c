#include "transfer_peers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "timeline/host_comm.h"

/* Returns whether a row is a transfer with several possible peers. Sets *out to a transfer with
 * these peers. */
static bool is_open(const tm_timeline *timeline, const tm_names *names,
                    const tm_collective_attr *row, tm_transfers *out) {
    *out = (tm_transfers){.rank = timeline->rank, .n = 1, .sends = row->kind == TM_COLL_SEND};
    if (!tm_collective_is_one_way(row->kind) || row->group == TM_NO_NAME ||
        row->group_ranks != TM_NO_NAME)
        return false;
    const size_t n = tm_peers_read(tm_names_text(names, row->group).bytes, out->peers);
    for (size_t i = 0; i < n; i++)
        out->alive |= out->peers[i] == out->rank ? 0 : UINT32_C(1) << i;
    return n > 0;
}

static bool is_same(const tm_transfers *a, const tm_transfers *b) {
    return a->rank == b->rank && a->sends == b->sends &&
           memcmp(a->peers, b->peers, sizeof a->peers) == 0;
}

bool tm_transfers_list(const tm_timeline *timeline, const tm_names *names, tm_vec *out) {
    const tm_collective_attr *rows = timeline->attrs[TM_ATTR_COLLECTIVE];
    const size_t first = out->n;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        tm_transfers one, *v = out->data;
        size_t k = first;
        if (!is_open(timeline, names, &rows[i], &one))
            continue;
        while (k < out->n && !is_same(&v[k], &one))
            k++;
        if (k < out->n)
            v[k].n++;
        else if (!tm_vec_append(out, &one, 1))
            return false;
    }
    return true;
}

static int by_rank(const void *a, const void *b) {
    const tm_transfers *x = a, *y = b;
    int order = tm_order_i64(x->rank, y->rank);
    order = order ? order : tm_order_i64(x->sends, y->sends);
    return order ? order : memcmp(x->peers, y->peers, sizeof x->peers);
}

/* Returns the index of the first transfers of this rank or a higher one. */
static size_t first_of(const tm_vec *all, int64_t rank) {
    return tm_bisect(all->data, all->n, sizeof(tm_transfers), &rank, tm_is_less_i64);
}

/* Returns the bit of a rank among the possible peers; 0 if the rank is not a possible peer. */
static uint32_t bit_of(const tm_transfers *of, int64_t rank) {
    uint32_t bit = 0;
    for (size_t i = 0; i < TM_PEERS_MAX; i++)
        bit |= of->alive >> i & 1 && of->peers[i] == rank ? UINT32_C(1) << i : 0;
    return bit;
}

/* Finds the elements of @p all that can be the other side of the transfers @p of: they belong to
 * rank @p peer, have the opposite direction and equally many transfers, and the rank of @p of is
 * one of their possible peers. Sets *n to the number of these elements. Returns the element if
 * there is exactly one, else NULL. */
static tm_transfers *other_side(const tm_vec *all, const tm_transfers *of, int64_t peer,
                                size_t *n) {
    tm_transfers *v = all->data, *found = NULL;
    *n = 0;
    for (size_t i = first_of(all, peer); i < all->n && v[i].rank == peer; i++)
        if (v[i].sends != of->sends && v[i].n == of->n && bit_of(&v[i], of->rank)) {
            found = &v[i];
            ++*n;
        }
    return *n == 1 ? found : NULL;
}

static bool is_one(uint32_t bits) {
    return bits != 0 && (bits & (bits - 1)) == 0;
}

/* Returns whether a rank other than @p peer has transfers whose other side can only be @p of. */
static bool is_taken(const tm_vec *all, const tm_transfers *of, int64_t peer) {
    const tm_transfers *v = all->data;
    bool taken = false;
    size_t n;
    for (size_t p = 0; p < TM_PEERS_MAX; p++)
        for (size_t i = first_of(all, of->peers[p]);
             of->alive >> p & 1 && i < all->n && v[i].rank == of->peers[p]; i++)
            taken |= v[i].rank != peer && is_one(v[i].alive) &&
                     other_side(all, &v[i], of->rank, &n) == of;
    return taken;
}

/* Excludes the peers that have no possible other side. If one peer is left, with a single possible
 * other side that no third rank needs, the rank of @p own becomes the only peer of that side.
 * Returns whether anything changed. */
static bool exclude(const tm_vec *all, tm_transfers *own) {
    const uint32_t before = own->alive;
    size_t n;
    for (size_t i = 0; i < TM_PEERS_MAX; i++) {
        const uint32_t bit = own->alive & UINT32_C(1) << i;
        tm_transfers *other = bit ? other_side(all, own, own->peers[i], &n) : NULL;
        if (bit && n == 0)
            own->alive &= ~bit;
        if (!other || own->alive != bit || is_one(other->alive) || is_taken(all, other, own->rank))
            continue;
        other->alive = bit_of(other, own->rank);
        return true;
    }
    return own->alive != before;
}

void tm_transfers_resolve(tm_vec *all) {
    tm_transfers *v = all->data;
    bool changed = all->n > 0;
    tm_vec_sort(all, by_rank);
    while (changed) {
        changed = false;
        for (size_t i = 0; i < all->n; i++)
            changed |= exclude(all, &v[i]);
    }
}

/* Returns the peer of transfers if both sides agree on it; -1 if it is unknown. */
static int64_t peer_of(const tm_vec *all, const tm_transfers *one) {
    const tm_transfers *v = all->data;
    size_t k = first_of(all, one->rank), bit = 0, n;
    while (k < all->n && !is_same(&v[k], one))
        k++;
    if (k == all->n || !is_one(v[k].alive))
        return -1;
    while (!(v[k].alive >> bit & 1))
        bit++;
    const tm_transfers *other = other_side(all, &v[k], v[k].peers[bit], &n);
    return other && is_one(other->alive) ? v[k].peers[bit] : -1;
}

static bool set_peer(int64_t own, int64_t peer, tm_names *names, tm_collective_attr *row) {
    char text[64];
    snprintf(text, sizeof text, "[%" PRId64 ", %" PRId64 "]", own < peer ? own : peer,
             own < peer ? peer : own);
    *(row->kind == TM_COLL_SEND ? &row->dst_rank : &row->src_rank) = (int32_t)peer;
    row->group = TM_NO_NAME;
    row->group_size = 2;
    row->group_ranks = tm_names_intern_string(names, text);
    return row->group_ranks != TM_NAME_FAILED;
}

tm_status tm_transfers_apply(const tm_vec *all, tm_timeline *timeline, tm_names *names,
                             tm_error *err) {
    tm_collective_attr *rows = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        tm_transfers one;
        const int64_t peer = is_open(timeline, names, &rows[i], &one) ? peer_of(all, &one) : -1;
        if (peer >= 0 && !set_peer(timeline->rank, peer, names, &rows[i]))
            return tm_fail_memory(err);
    }
    return TM_OK;
}
