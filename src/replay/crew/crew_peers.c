/* What is compared of the ranks of a crew, and what the others took instead. */
#include <stdlib.h>
#include <string.h>

#include "replay/peers.h"

static const uint32_t NO_ITEM = UINT32_MAX;

static bool is_lag(const tm_edge *edge) {
    return edge->kind == TM_EDGE_LAUNCH || edge->kind == TM_EDGE_GAP || edge->kind == TM_EDGE_WAIT;
}

static bool is_work(const tm_edge *edge) {
    return edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY;
}

/* As of a graph alone; a lag is compared on ranks where some of it is unexplained. */
static uint32_t item_of(const tm_crew *crew, uint32_t node, const tm_edge *edge) {
    const uint32_t *parts = crew->like->parts;
    if (is_work(edge))
        return parts[edge->from] / 2;
    if (edge->kind == TM_EDGE_HOST || edge->kind == TM_EDGE_CALL)
        return parts[node] / 2;
    return is_lag(edge) && parts[node] < 2 * crew->n_events ? parts[node] / 2 : NO_ITEM;
}

static void raise(tm_crew_row *row, const int64_t *ns) {
    for (size_t k = 0; k < TM_LANES; k++)
        row->ns[k] = ns[k] > row->ns[k] ? ns[k] : row->ns[k];
}

/* An event's duration, and what nothing explains of its begin; of a call what lies before it, and
 * its own work. */
static void find_weights(const tm_crew *crew, tm_crew_desk *desk) {
    const tm_graph *g = crew->like;
    memset(desk->first, 0, crew->n_items * sizeof *desk->first);
    memset(desk->second, 0, crew->n_items * sizeof *desk->second);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            const tm_edge *edge = &g->edges[e];
            const uint32_t item = item_of(crew, v, edge);
            if (item == NO_ITEM)
                continue;
            if (edge->kind == TM_EDGE_HOST || (is_work(edge) && g->parts[v] / 2 == item))
                raise(&desk->first[item], crew->recorded[e].ns);
            else if (edge->kind == TM_EDGE_CALL)
                desk->second[item] = crew->recorded[e];
            else if (is_lag(edge) && crew->slots[e] != TM_NO_SLOT)
                raise(&desk->second[item], crew->unexplained[crew->slots[e]].ns);
        }
}

/* Of each item, whether it is compared on every rank: calls, and work of a rank's own. */
static void mark_always(const tm_crew *crew, uint8_t *always) {
    const tm_graph *g = crew->like;
    for (size_t i = 0; i < crew->n_items; i++)
        always[i] = i >= crew->n_events;
    for (uint32_t e = 0; e < g->first[g->n_nodes]; e++)
        if (is_work(&g->edges[e]))
            always[g->parts[g->edges[e].from] / 2] = true;
}

static bool is_in(const tm_peer_slice *slice, uint64_t place) {
    return (place >> 32) % slice->n_slices == slice->slice;
}

/* How many rows each place has, two further: adding rows moves it to where the next begins. */
static size_t *count_rows(const tm_crew *crews, size_t n, const tm_peer_places *places,
                          const tm_peer_slice *slice) {
    const size_t n_places = places->keys.keys.n;
    const uint64_t *hashes = places->keys.keys.data;
    size_t *first = calloc(n_places + 2, sizeof *first);
    for (size_t c = 0; c < n && first; c++)
        for (size_t i = 0; i < crews[c].n_items && crews[c].n > 0; i++)
            first[crews[c].places[i] + 2]++;
    for (size_t p = 0; p < n_places && first; p++)
        first[p + 2] = first[p + 1] + (is_in(slice, hashes[p]) ? first[p + 2] : 0);
    return first;
}

static void add_row(const tm_crew *crew, const tm_crew_desk *desk, size_t item, bool always,
                    tm_peer_row *row) {
    row->n = 0;
    for (size_t k = 0; k < crew->n; k++) {
        row->first_ns[row->n] = desk->first[item].ns[k];
        row->second_ns[row->n] = desk->second[item].ns[k];
        row->n += always || desk->second[item].ns[k] > 0;
    }
}

static void add_rows(const tm_crew *crew, const tm_crew_desk *desk, const tm_peer_places *places,
                     const tm_peer_slice *slice, size_t *first, tm_peer_row *rows) {
    const uint64_t *hashes = places->keys.keys.data;
    uint8_t *always = desk->stall; /* an item has an edge */
    mark_always(crew, always);
    for (size_t i = 0; i < crew->n_items; i++) {
        const uint32_t p = crew->places[i];
        if (!is_in(slice, hashes[p]))
            continue;
        tm_peer_row *row = &rows[first[p + 1]++];
        row->place = hashes[p];
        row->origin = slice->origin;
        add_row(crew, desk, i, always[i], row);
    }
}

tm_status tm_crew_rows(const tm_crew *crews, size_t n, const tm_crew_places *of, tm_crew_desk *desk,
                       tm_vec *rows, tm_error *err) {
    const tm_peer_places *places = of->places;
    const tm_peer_slice *slice = of->slice;
    size_t *first = count_rows(crews, n, places, slice);
    const size_t n_rows = first ? first[places->keys.keys.n + 1] : 0;
    bool ok = first && (n_rows == 0 || tm_vec_append(rows, NULL, n_rows));
    for (size_t c = 0; c < n && ok && n_rows > 0; c++) {
        if (crews[c].n == 0)
            continue;
        ok = tm_crew_desk_fit(desk, &crews[c]);
        if (!ok)
            break;
        find_weights(&crews[c], desk);
        add_rows(&crews[c], desk, places, slice, first, rows->data);
    }
    free(first);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* What of a weight the others have instead, by rank. */
static void add_apart(const tm_crew_row *is, const tm_crew_row *own, tm_crew_row *peer) {
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t ns = peer->ns[k] + is->ns[k] - own->ns[k];
        peer->ns[k] = ns > 0 ? ns : 0;
    }
}

/* An edge whose place others have, too: is what they took at its item. */
static void set_edge(const tm_crew *crew, tm_crew_desk *desk, uint32_t e, uint32_t item,
                     const tm_crew_row is[2]) {
    const tm_edge *edge = &crew->like->edges[e];
    tm_crew_row *peer = &desk->peer[e];
    if (is_work(edge) || edge->kind == TM_EDGE_HOST) {
        add_apart(&is[0], &desk->first[item], peer);
    } else if (edge->kind == TM_EDGE_CALL) {
        for (size_t k = 0; k < TM_LANES; k++)
            peer->ns[k] = is[1].ns[k] > 0 ? is[1].ns[k] : 0;
    } else if (crew->slots[e] != TM_NO_SLOT) {
        const int64_t *unexplained = crew->unexplained[crew->slots[e]].ns;
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t excess = unexplained[k] - is[1].ns[k];
            const int64_t ns = peer->ns[k] - (excess > 0 ? excess : 0);
            peer->ns[k] = unexplained[k] > 0 && ns < 0 ? 0 : ns;
        }
    }
}

static void set_edges(const tm_crew *crew, const tm_peer_others *others, tm_crew_desk *desk,
                      uint32_t v, uint32_t e) {
    const uint32_t item = item_of(crew, v, &crew->like->edges[e]);
    const tm_edge *edge = &crew->like->edges[e];
    tm_crew_row is[2];
    uint8_t stall = 0;
    desk->pair[e] = desk->stall[e] = 0;
    desk->peer[e] = crew->recorded[e];
    if (edge->kind == TM_EDGE_TRANSFER)
        memcpy(desk->peer[e].ns, crew->visits[edge->from & ~TM_FROM_VISIT].usual_ns,
               sizeof desk->peer[e].ns);
    if (item == NO_ITEM || !others)
        return;
    const tm_peer_around first = tm_peers_around(others, true);
    const tm_peer_around second = tm_peers_around(others, false);
    for (size_t k = 0; k < TM_LANES; k++) {
        is[0].ns[k] = tm_peer_median(&first, desk->first[item].ns[k]);
        is[1].ns[k] = tm_peer_median(&second, desk->second[item].ns[k]);
    }
    for (size_t k = 0; k < TM_LANES && item >= crew->n_events; k++)
        stall |= (uint8_t)(tm_peers_stall(others, desk->first[item].ns[k], is[0].ns[k]) ||
                                   tm_peers_stall(others, desk->second[item].ns[k], is[1].ns[k])
                               ? 1U << k
                               : 0);
    desk->pair[e] = others->n == 2 ? TM_EDGE_PAIR : 0;
    desk->stall[e] = stall;
    set_edge(crew, desk, e, item, is);
}

bool tm_crew_peers(const tm_crew *crew, const tm_peer_places *places, tm_crew_desk *desk) {
    const tm_graph *g = crew->like;
    const tm_peer_others *others = places->others.data;
    if (!tm_crew_desk_fit(desk, crew))
        return false;
    find_weights(crew, desk);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            const uint32_t item = item_of(crew, v, &g->edges[e]);
            const uint32_t known = item == NO_ITEM ? 0 : places->known[crew->places[item]];
            set_edges(crew, known ? &others[known - 1] : NULL, desk, v, e);
        }
    return true;
}
