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

/* What the others have at an item instead: the desk's first weight becomes what that is more, its
 * second that itself. Returns on which ranks the item is a stall. */
static uint8_t compare_item(const tm_peer_others *others, bool call, tm_crew_row *first,
                            tm_crew_row *second) {
    const tm_peer_around around[2] = {tm_peers_around(others, true),
                                      tm_peers_around(others, false)};
    unsigned stall = 0;
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t own[2] = {first->ns[k], second->ns[k]};
        const int64_t is[2] = {tm_peer_median(&around[0], own[0]),
                               tm_peer_median(&around[1], own[1])};
        if (call)
            stall |= tm_peers_stall(others, own[0], is[0]) || tm_peers_stall(others, own[1], is[1])
                         ? 1U << k
                         : 0;
        first->ns[k] = is[0] - own[0];
        second->ns[k] = is[1];
    }
    return (uint8_t)stall;
}

/* An edge whose item others have, too. */
static void set_edge(const tm_crew *crew, tm_crew_desk *desk, uint32_t e, uint32_t item) {
    const tm_edge *edge = &crew->like->edges[e];
    tm_crew_row *peer = &desk->peer[e];
    if (is_work(edge) || edge->kind == TM_EDGE_HOST) {
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t ns = peer->ns[k] + desk->first[item].ns[k];
            peer->ns[k] = ns > 0 ? ns : 0;
        }
    } else if (edge->kind == TM_EDGE_CALL) {
        for (size_t k = 0; k < TM_LANES; k++)
            peer->ns[k] = desk->second[item].ns[k] > 0 ? desk->second[item].ns[k] : 0;
    } else if (crew->slots[e] != TM_NO_SLOT) {
        const int64_t *unexplained = crew->unexplained[crew->slots[e]].ns;
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t excess = unexplained[k] - desk->second[item].ns[k];
            const int64_t ns = peer->ns[k] - (excess > 0 ? excess : 0);
            peer->ns[k] = unexplained[k] > 0 && ns < 0 ? 0 : ns;
        }
    }
}

/* @param of  [items] the others at each, or NULL; @p stalls  [items] of compare_item */
static void set_edges(const tm_crew *crew, const tm_peer_others *const *of, const uint8_t *stalls,
                      tm_crew_desk *desk) {
    const tm_graph *g = crew->like;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            const tm_edge *edge = &g->edges[e];
            const uint32_t item = item_of(crew, v, edge);
            desk->pair[e] = desk->stall[e] = 0;
            desk->peer[e] = crew->recorded[e];
            if (edge->kind == TM_EDGE_TRANSFER)
                memcpy(desk->peer[e].ns, crew->visits[edge->from & ~TM_FROM_VISIT].usual_ns,
                       sizeof desk->peer[e].ns);
            if (item == NO_ITEM || !of[item])
                continue;
            desk->pair[e] = of[item]->n == 2 ? TM_EDGE_PAIR : 0;
            desk->stall[e] = stalls[item];
            set_edge(crew, desk, e, item);
        }
}

bool tm_crew_peers(const tm_crew *crew, const tm_peer_places *places, tm_crew_desk *desk) {
    const tm_peer_others *others = places->others.data;
    const tm_peer_others **of = malloc((crew->n_items + 1) * sizeof *of);
    uint8_t *stalls = calloc(crew->n_items + 1, sizeof *stalls);
    bool ok = of && stalls && tm_crew_desk_fit(desk, crew);
    if (ok) {
        find_weights(crew, desk);
        for (size_t i = 0; i < crew->n_items; i++) {
            const uint32_t known = places->known[crew->places[i]];
            of[i] = known ? &others[known - 1] : NULL;
            if (known)
                stalls[i] =
                    compare_item(of[i], i >= crew->n_events, &desk->first[i], &desk->second[i]);
        }
        set_edges(crew, of, stalls, desk);
    }
    free(of);
    free(stalls);
    return ok;
}
