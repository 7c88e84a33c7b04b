/* Finds the domains that collectives link. Also estimates their clocks: by the median differences
 * between the ends of pairs of domains. The pairs with the most events in common are used. */
#include <stdlib.h>

#include "base/sorted.h"
#include "fit_state.h"

/* Called with pairs of an event's anchors: the first anchor with each other anchor. These pairs
 * link the same domains as all pairs do, but their number grows only linearly with the number of
 * anchors. */
typedef void pair_visitor(tm_fit_state *state, const tm_fit_row *first, const tm_fit_row *other);

static void visit_pairs(tm_fit_state *state, pair_visitor *visit) {
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        const tm_fit_row *first = NULL;
        for (size_t i = 0; i < event->n && event->n_anchors > 1; i++) {
            const tm_fit_row *row = state->rows + event->first + i;
            if (!(row->flags & TM_CLOCK_ANCHOR))
                continue;
            if (first)
                visit(state, first, row);
            else
                first = row;
        }
    }
}

static void count_pair(tm_fit_state *state, const tm_fit_row *first, const tm_fit_row *other) {
    const int32_t pair[2] = {first->domain, other->domain};
    int64_t *n = tm_keys_value(&state->pairs, &state->pair_counts, pair);
    state->failed = state->failed || !n;
    if (n)
        ++*n;
}

/* Two domains, and a number of events. In these events, the first anchor is of domain `from`, and a
 * later anchor is of domain `to`. */
typedef struct link {
    int32_t from, to;
    int64_t n;
} link;

TM_ORDER_BY(by_ends, link, from, to);

/* Gathers the links of all processes. Each pair is listed once in each direction. */
static tm_status gather_links(tm_fit_state *state, tm_vec *out, tm_error *err) {
    tm_vec own = TM_VEC(link);
    const int32_t(*pairs)[2] = state->pairs.keys.data;
    const int64_t *counts = state->pair_counts.data;
    bool ok = !state->failed;
    for (size_t i = 0; i < state->pairs.keys.n && ok; i++)
        ok = tm_vec_append(&own, &(link){pairs[i][0], pairs[i][1], counts[i]}, 1) &&
             tm_vec_append(&own, &(link){pairs[i][1], pairs[i][0], counts[i]}, 1);
    tm_status status = tm_fit_agree(state, ok, err);
    if (status == TM_OK)
        status = state->reducer->gather(state->reducer->context, &own, out, err);
    tm_vec_free(&own);
    size_t kept = 0;
    link *links = out->data;
    if (status == TM_OK && out->n > 1)
        qsort(links, out->n, sizeof *links, by_ends);
    for (size_t i = 0; i < out->n; i++)
        if (kept > 0 && by_ends(&links[kept - 1], &links[i]) == 0)
            links[kept - 1].n += links[i].n;
        else
            links[kept++] = links[i];
    out->n = kept;
    return status;
}

/* A candidate domain, and the number of events that link it to a domain already in the forest. */
typedef struct offer {
    int64_t n;
    int32_t domain;
} offer;

/* Returns whether offer a comes before offer b: it has more events, or equally many events and a
 * lower domain. */
static bool is_better(const offer *a, const offer *b) {
    return a->n != b->n ? a->n > b->n : a->domain < b->domain;
}

/* Adds an offer to a heap with the best offer on top. Each link makes at most one offer. */
static void push_offer(offer *heap, size_t *n, offer new) {
    size_t at = (*n)++;
    for (; at > 0 && is_better(&new, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = new;
}

static offer pop_offer(offer *heap, size_t *n) {
    offer best = heap[0], last = heap[--*n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < *n; at = child) {
        child += child + 1 < *n && is_better(&heap[child + 1], &heap[child]);
        if (!is_better(&heap[child], &last))
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return best;
}

/* Adds a domain to the forest and pushes offers for its links. */
static void take_in(tm_fit_state *state, const tm_vec *links, int32_t next, offer *heap,
                    size_t *n_offers) {
    const link *first = links->data, *end = first + links->n;
    state->strong[next] = state->parent[next] == next ? next : state->strong[state->parent[next]];
    state->sorted[next] = -1.0;
    for (const link *l = first + TM_FIRST_FROM(link, from, first, links->n, next);
         l < end && l->from == next; l++)
        if (state->sorted[l->to] >= 0.0 && (double)l->n > state->sorted[l->to]) {
            state->sorted[l->to] = (double)l->n;
            state->parent[l->to] = next;
            push_offer(heap, n_offers, (offer){l->n, l->to});
        }
}

/* Grows the maximum spanning forest by Prim's algorithm. Each time, adds the domain with the best
 * offer. Sets `parent` (of a root: the root), `strong` and `order`, in which parents come before
 * children. Uses `sorted` as scratch memory: -1 for a domain in the forest; otherwise the number of
 * events of the domain's best offer, 0 without an offer. */
static void grow_forest(tm_fit_state *state, const tm_vec *links, offer *heap, int32_t *order) {
    int32_t n = state->n_domains, n_in = 0;
    size_t n_offers = 0;
    for (int32_t h = 0; h < n; h++) {
        state->parent[h] = h;
        state->sorted[h] = 0.0;
    }
    for (int32_t root = 0; root < n; root++) {
        if (state->sorted[root] < 0.0)
            continue;
        order[n_in++] = root;
        take_in(state, links, root, heap, &n_offers);
        while (n_offers > 0) {
            int32_t next = pop_offer(heap, &n_offers).domain;
            if (state->sorted[next] < 0.0)
                continue;
            order[n_in++] = next;
            take_in(state, links, next, heap, &n_offers);
        }
    }
}

/* Adds an estimate of the child's offset from its parent. The estimate assumes that both domains
 * ended at the same time. */
static void add_difference(tm_fit_state *state, const tm_fit_row *first, const tm_fit_row *other) {
    if (state->parent[other->domain] == first->domain)
        tm_median_search_add(&state->select, (size_t)other->domain, first->end - other->end);
    else if (state->parent[first->domain] == other->domain)
        tm_median_search_add(&state->select, (size_t)first->domain, other->end - first->end);
}

/** Finds the components: domains linked by anchors. Starts the fit with the median end difference
 * between each domain and its parent in the spanning forest, and with drifts of 0. */
tm_status tm_fit_link(tm_fit_state *state, tm_error *err) {
    int32_t *order = state->component; /* scratch until the components are known */
    tm_vec links = TM_VEC(link);
    visit_pairs(state, count_pair);
    tm_status status = gather_links(state, &links, err);
    offer *heap = malloc((links.n + 1) * sizeof *heap);
    if (status == TM_OK)
        status = tm_fit_agree(state, heap != NULL, err);
    if (status == TM_OK)
        grow_forest(state, &links, heap, order);
    tm_vec_free(&links);
    free(heap);
    TM_TRY(status);
    tm_median_search_begin(&state->select);
    for (int pass = 0; pass < TM_MEDIAN_SEARCH_PASSES; pass++) {
        visit_pairs(state, add_difference);
        TM_TRY(tm_median_search_next(&state->select, state->reducer, err));
    }
    for (int32_t k = 0; k < state->n_domains; k++) {
        int32_t h = order[k], parent = state->parent[h];
        if (parent != h)
            state->middle[h] =
                state->middle[parent] + tm_median_search_median(&state->select, (size_t)h);
    }
    for (int32_t h = 0; h < state->n_domains; h++)
        state->component[h] = state->strong[h];
    return TM_OK;
}

TM_ORDER_BY(by_value, tm_fit_vote, value);

/* Returns the weighted median. If exactly half of the weight is on each side, returns the mean of
 * the middle two values. */
static double weighted_median(tm_fit_vote *votes, size_t n) {
    double half = 0.0, sum = 0.0;
    qsort(votes, n, sizeof *votes, by_value);
    for (size_t i = 0; i < n; i++)
        half += votes[i].weight / 2.0;
    size_t i = 0;
    while (i + 1 < n && sum + votes[i].weight < half)
        sum += votes[i++].weight;
    bool even = i + 1 < n && sum + votes[i].weight == half;
    return even ? (votes[i].value + votes[i + 1].value) / 2.0 : votes[i].value;
}

int32_t tm_fit_list(tm_fit_state *state, const int32_t *component) {
    int32_t n_lists = 0;
    /* [list] During the last loop: place of the list's next domain. After the loop: end of the
     * list. */
    size_t *next = state->list_first + 1;
    for (int32_t h = 0; h < state->n_domains; h++)
        if (component[h] == h)
            state->list_of[h] = n_lists++;
    memset(state->list_first, 0, ((size_t)n_lists + 2) * sizeof *state->list_first);
    for (int32_t h = 0; h < state->n_domains; h++)
        next[state->list_of[component[h]] + 1]++;
    for (int32_t k = 1; k <= n_lists; k++)
        next[k] += next[k - 1];
    for (int32_t h = 0; h < state->n_domains; h++) {
        state->list_of[h] = state->list_of[component[h]];
        state->listed[next[state->list_of[h]]++] = h;
    }
    return n_lists;
}

/* Moves one component to its wall clocks, as described at tm_fit_gauge. */
static void gauge(tm_fit_state *state, const int32_t *domains, size_t n) {
    size_t n_votes = 0;
    /* Smallest sigma. Weights are relative to it: if all sigmas are equal, all weights are exactly
     * 1. */
    double best = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        best = state->sigma[domains[i]] < best ? state->sigma[domains[i]] : best;
    if (!isfinite(best))
        return;
    for (size_t i = 0; i < n; i++) {
        int32_t h = domains[i];
        if (!isfinite(state->sigma[h]))
            continue;
        double share = state->sigma[h] > 0.0 ? best / state->sigma[h] : 1.0;
        state->votes[n_votes++] = (tm_fit_vote){state->wall[h] - state->middle[h], share * share};
    }
    double shift = weighted_median(state->votes, n_votes);
    for (size_t i = 0; i < n; i++)
        state->middle[domains[i]] += shift;
}

/** Moves each component as a whole close to its wall clocks: by the median of the clocks' distances
 * from their wall clocks, weighted by 1/variance. A single wall clock that is years off hardly
 * changes a median. */
void tm_fit_gauge(tm_fit_state *state, const int32_t *component) {
    int32_t n_lists = tm_fit_list(state, component);
    for (int32_t k = 0; k < n_lists; k++)
        gauge(state, state->listed + state->list_first[k],
              state->list_first[k + 1] - state->list_first[k]);
}
