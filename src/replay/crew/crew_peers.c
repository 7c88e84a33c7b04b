/* What is compared of the ranks of a crew, and what the others took instead. */
#include <stdlib.h>
#include <string.h>

#include "replay/peers.h"

static void raise(int64_t *row, const int64_t *ns) {
    for (size_t k = 0; k < TM_LANES; k++)
        row[k] = ns[k] > row[k] ? ns[k] : row[k];
}

/* As tm_peer_weights. @param first, second  [TM_LANES] */
static void weigh_item(const tm_crew *crew, size_t item, int64_t *first, int64_t *second) {
    const tm_crew_items *items = crew->items;
    memset(first, 0, TM_LANES * sizeof *first);
    memset(second, 0, TM_LANES * sizeof *second);
    for (uint32_t i = items->first[item]; i < items->first[item + 1]; i++) {
        const uint32_t edge = items->edges[i].edge;
        if (items->edges[i].tells == TM_TELLS_FIRST)
            raise(first, crew->recorded[edge].ns);
        else if (items->edges[i].tells == TM_TELLS_SECOND)
            memcpy(second, crew->recorded[edge].ns, TM_LANES * sizeof *second);
        else if (items->edges[i].tells == TM_TELLS_EXCESS)
            raise(second, crew->unexplained[items->slots[edge]].ns);
    }
}

/* The items of a slice; those of one model after the other are asked for. */
typedef struct slice_items {
    const tm_crew_places *of;
    const tm_crew_items *items;
    tm_vec list; /* of uint32_t */
} slice_items;

static bool list_items(slice_items *s, const tm_crew_items *items) {
    const uint64_t *hashes = s->of->places->keys.keys.data;
    if (s->items == items)
        return true;
    s->items = items;
    s->list.n = 0;
    for (uint32_t i = 0; i < items->n; i++)
        if (tm_peer_slice_has(s->of->slice, hashes[items->places[i]]) &&
            !tm_vec_append(&s->list, &i, 1))
            return false;
    return true;
}

/* How many rows each place has, two further: adding rows moves it to where the next begins. */
static size_t *count_rows(const tm_crew *crews, size_t n, slice_items *s) {
    const size_t n_places = s->of->places->keys.keys.n;
    size_t *first = calloc(n_places + 2, sizeof *first);
    bool ok = first != NULL;
    for (size_t c = 0; c < n && ok; c++) {
        ok = list_items(s, crews[c].items);
        for (size_t i = 0; i < s->list.n && ok && crews[c].n > 0; i++)
            first[crews[c].items->places[((const uint32_t *)s->list.data)[i]] + 2]++;
    }
    for (size_t p = 0; p < n_places && ok; p++)
        first[p + 2] += first[p + 1];
    if (!ok) {
        free(first);
        return NULL;
    }
    return first;
}

static void add_row(const tm_crew *crew, size_t item, tm_peer_row *row) {
    const bool always = crew->items->always[item];
    weigh_item(crew, item, row->first_ns, row->second_ns);
    row->n = 0;
    for (size_t k = 0; k < crew->n; k++) {
        row->first_ns[row->n] = row->first_ns[k];
        row->second_ns[row->n] = row->second_ns[k];
        row->n += always || row->second_ns[k] > 0;
    }
}

static void add_rows(const tm_crew *crew, const slice_items *s, size_t *first, tm_peer_row *rows) {
    const uint64_t *hashes = s->of->places->keys.keys.data;
    const uint32_t *list = s->list.data;
    for (size_t i = 0; i < s->list.n; i++) {
        const uint32_t p = crew->items->places[list[i]];
        tm_peer_row *row = &rows[first[p + 1]++];
        row->place = hashes[p];
        row->origin = s->of->slice->origin;
        add_row(crew, list[i], row);
    }
}

tm_status tm_crew_rows(const tm_crew *crews, size_t n, const tm_crew_places *of, tm_vec *rows,
                       tm_error *err) {
    slice_items s = {.of = of, .list = TM_VEC(uint32_t)};
    size_t *first = count_rows(crews, n, &s);
    const size_t n_rows = first ? first[of->places->keys.keys.n + 1] : 0;
    bool ok = first && (n_rows == 0 || tm_vec_append(rows, NULL, n_rows));
    for (size_t c = 0; c < n && ok && n_rows > 0; c++) {
        ok = list_items(&s, crews[c].items);
        if (ok && crews[c].n > 0)
            add_rows(&crews[c], &s, first, rows->data);
    }
    free(first);
    tm_vec_free(&s.list);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* An item that others have, too. */
typedef struct compared {
    int64_t more[TM_LANES];   /* what the first weight of the others is more */
    int64_t second[TM_LANES]; /* of the others */
    uint8_t stall;            /* on which ranks it is one */
} compared;

static void compare_item(const tm_crew *crew, size_t item, const tm_peer_others *others,
                         compared *out) {
    const tm_peer_around around[2] = {tm_peers_around(others, true),
                                      tm_peers_around(others, false)};
    const bool call = item >= crew->items->n_events;
    unsigned stall = 0;
    weigh_item(crew, item, out->more, out->second);
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t own[2] = {out->more[k], out->second[k]};
        const int64_t is[2] = {tm_peer_median(&around[0], own[0]),
                               tm_peer_median(&around[1], own[1])};
        if (call)
            stall |= tm_peers_stall(others, own[0], is[0]) || tm_peers_stall(others, own[1], is[1])
                         ? 1U << k
                         : 0;
        out->more[k] = is[0] - own[0];
        out->second[k] = is[1];
    }
    out->stall = (uint8_t)stall;
}

/* What an edge of the item has on the others; false: as recorded. */
static bool set_edge(const tm_crew *crew, const tm_item_edge *edge, const compared *is,
                     int64_t *peer) {
    const int64_t *recorded = crew->recorded[edge->edge].ns;
    const uint32_t slot = crew->items->slots[edge->edge];
    if (edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY || edge->kind == TM_EDGE_HOST) {
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t ns = recorded[k] + is->more[k];
            peer[k] = ns > 0 ? ns : 0;
        }
    } else if (edge->kind == TM_EDGE_CALL) {
        for (size_t k = 0; k < TM_LANES; k++)
            peer[k] = is->second[k] > 0 ? is->second[k] : 0;
    } else if (slot != TM_NO_SLOT) {
        const int64_t *unexplained = crew->unexplained[slot].ns;
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t excess = unexplained[k] - is->second[k];
            const int64_t ns = recorded[k] - (excess > 0 ? excess : 0);
            peer[k] = unexplained[k] > 0 && ns < 0 ? 0 : ns;
        }
    } else {
        return false;
    }
    return true;
}

static void set_item(const tm_crew *crew, size_t item, const tm_peer_others *others,
                     tm_crew_desk *desk) {
    const tm_crew_items *items = crew->items;
    compared is;
    compare_item(crew, item, others, &is);
    for (uint32_t i = items->first[item]; i < items->first[item + 1]; i++) {
        const uint32_t e = items->edges[i].edge;
        if (set_edge(crew, &items->edges[i], &is, desk->peer[e].ns))
            desk->known[e] = TM_DESK_PEER;
        desk->known[e] |= others->n == 2 ? TM_EDGE_PAIR : 0;
        desk->stall[e] = is.stall;
    }
}

bool tm_crew_peers(const tm_crew *crew, const tm_peer_places *places, tm_crew_desk *desk) {
    const tm_peer_others *others = places->others.data;
    const tm_crew_items *items = crew->items;
    if (!tm_crew_desk_fit(desk, crew))
        return false;
    memset(desk->known, 0, tm_crew_edges(crew));
    memset(desk->stall, 0, tm_crew_edges(crew));
    for (size_t i = 0; i < items->n; i++) {
        const uint32_t known = places->known[items->places[i]];
        if (known)
            set_item(crew, i, &others[known - 1], desk);
    }
    for (uint32_t i = items->first[items->n]; i < items->first[items->n + 1]; i++) {
        const uint32_t e = items->edges[i].edge; /* of a transfer */
        const uint32_t visit = crew->like->edges[e].from & ~TM_FROM_VISIT;
        memcpy(desk->peer[e].ns, crew->visits[visit].usual_ns, sizeof desk->peer[e].ns);
        desk->known[e] = TM_DESK_PEER;
    }
    return true;
}
