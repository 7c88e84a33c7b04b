#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/over_ranks.h"
#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "base/sums.h"

const tm_column tm_tree_part_columns[] = {
    {"path", TM_INT, "", "Hash of the names from the root on."},
    {"parent", TM_INT, "", "That of the parent; 0 for none."},
    {"depth", TM_INT, "", "Nodes above it."},
    {"rank", TM_INT, "", "Global rank."},
    {"name", TM_INT, "", "Id of the name."},
    {"calls", TM_INT, "", "Calls."},
    {"host_total_ns", TM_INT, "ns", "Sum of their durations."},
    {"host_self_ns", TM_INT, "ns", "Of it, in none below."},
    {"device_total_ns", TM_INT, "ns", "Sum of durations of what they launched."},
    {"device_self_ns", TM_INT, "ns", "Of it, launched in none below."},
};

const tm_column tm_tree_columns[TM_TREE_N] = {
    [TM_TREE_NODE] = {"node", TM_INT, "", "Its number: what a node holds follows it."},
    [TM_TREE_PARENT] = {"parent", TM_INT, "", "The node that it lies in; null for none."},
    [TM_TREE_DEPTH] = {"depth", TM_INT, "", "How many nodes it lies in."},
    [TM_TREE_NAME] = {"name", TM_TEXT, "", "Name of the call, without addresses."},
    [TM_TREE_CALLS] = {"calls", TM_INT, "", "Calls by this path, over all ranks."},
    [TM_TREE_HOST_TOTAL] = {"host_total_ns", TM_INT, "ns", "Sum of their durations."},
    [TM_TREE_HOST_SELF] = {"host_self_ns", TM_INT, "ns",
                           "host_total_ns without that of the nodes in it."},
    [TM_TREE_DEVICE_TOTAL] = {"device_total_ns", TM_INT, "ns",
                              "Sum of the durations of what was launched in them, on GPUs."},
    [TM_TREE_DEVICE_SELF] = {"device_self_ns", TM_INT, "ns",
                             "device_total_ns without that of the nodes in it."},
    [TM_TREE_RANKS] = {"ranks", TM_INT, "", "Ranks that have it."},
    [TM_TREE_HOST_MEDIAN] = {"host_median_ns", TM_INT, "ns",
                             "Median over these ranks of a rank's host_total_ns."},
    [TM_TREE_HOST_MAX] = {"host_max_ns", TM_INT, "ns", "The largest of a rank."},
    [TM_TREE_HOST_RANK] = {"host_max_rank", TM_INT, "", "That rank; of equals the lowest."},
    [TM_TREE_DEVICE_MEDIAN] = {"device_median_ns", TM_INT, "ns",
                               "Median over these ranks of a rank's device_total_ns."},
    [TM_TREE_DEVICE_MAX] = {"device_max_ns", TM_INT, "ns", "The largest of a rank."},
    [TM_TREE_DEVICE_RANK] = {"device_max_rank", TM_INT, "", "That rank; of equals the lowest."},
};

#define NO_NODE UINT32_MAX

/* A node of a rank; its parent's number is less than its own. */
typedef struct node {
    uint64_t path;
    int64_t calls, host_ns, host_below_ns, device_self_ns, device_ns;
    uint32_t name, parent, depth;
} node;

/* What tells nodes of one rank apart: the text's hash, for names may differ in addresses alone. */
typedef struct node_key {
    uint64_t text;
    uint64_t parent;
} node_key;

typedef struct tree {
    tm_keys keys;     /* of node_key, and */
    tm_vec nodes;     /* of node */
    uint64_t *hashes; /* by name id, 0 not known yet */
    uint32_t *of;     /* by call */
} tree;

/* Behind the text before the address in " at 0x7f5c2c0b1d30>". */
static const char *before_address(const char *text) {
    const char *at = strstr(text, " at 0x");
    return at ? at : text + strlen(text);
}

static const char *behind_address(const char *at) {
    if (*at == '\0')
        return at;
    at += strlen(" at 0x");
    return at + strspn(at, "0123456789abcdefABCDEF");
}

static uint64_t text_hash(tree *t, const tm_names *names, uint32_t name) {
    if (t->hashes[name] == 0) {
        const char *text = tm_names_text(names, name).bytes, *end = before_address(text);
        const char *rest = behind_address(end);
        uint64_t hash = tm_hash_mixed(0, text, (size_t)(end - text));
        hash = tm_hash_mixed(hash, rest, strlen(rest));
        t->hashes[name] = hash ? hash : 1;
    }
    return t->hashes[name];
}

/* The node of a call, whose parent has its own already; NO_NODE when memory is out. */
static uint32_t add_call(tree *t, const tm_rank_view *view, const tm_call *call) {
    uint32_t name = view->timeline->name[call->row];
    uint32_t parent = call->parent == TM_NO_CALL ? NO_NODE : t->of[call->parent];
    const node_key key = {text_hash(t, view->names, name), parent};
    node *n = tm_keys_value(&t->keys, &t->nodes, &key);
    if (!n)
        return NO_NODE;
    node *nodes = t->nodes.data;
    if (n->calls == 0) {
        uint64_t above = parent == NO_NODE ? 0 : nodes[parent].path;
        const uint64_t words[] = {above, key.text};
        *n = (node){.path = tm_hash_words(0, words, 2),
                    .name = name,
                    .parent = parent,
                    .depth = parent == NO_NODE ? 0 : nodes[parent].depth + 1};
    }
    n->calls++;
    n->host_ns = tm_sum(n->host_ns, view->timeline->duration_ns[call->row]);
    return (uint32_t)(n - nodes);
}

/* Sums go from the leaves to the roots: nodes stand behind their parents. */
static void add_device(tree *t, const tm_rank_view *view, const tm_calls *calls) {
    const tm_timeline *timeline = view->timeline;
    node *nodes = t->nodes.data;
    for (uint32_t row = 0; row < timeline->n_events; row++)
        if (timeline->role[row] != TM_ROLE_NONE && calls->above[row] != TM_NO_CALL) {
            node *n = &nodes[t->of[calls->above[row]]];
            n->device_self_ns = tm_sum(n->device_self_ns, timeline->duration_ns[row]);
        }
    for (size_t i = t->nodes.n; i-- > 0;) {
        node *n = &nodes[i];
        n->device_ns = tm_sum(n->device_ns, n->device_self_ns);
        if (n->parent == NO_NODE)
            continue;
        node *parent = &nodes[n->parent];
        parent->device_ns = tm_sum(parent->device_ns, n->device_ns);
        parent->host_below_ns = tm_sum(parent->host_below_ns, n->host_ns);
    }
}

static bool add_rows(const tree *t, int64_t rank, tm_table *part) {
    const node *nodes = t->nodes.data;
    for (size_t i = 0; i < t->nodes.n; i++) {
        const node *n = &nodes[i];
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return false;
        tm_cell_set_int(&row[TM_TREE_P_PATH], (int64_t)n->path);
        tm_cell_set_int(&row[TM_TREE_P_PARENT],
                        n->parent == NO_NODE ? 0 : (int64_t)nodes[n->parent].path);
        tm_cell_set_int(&row[TM_TREE_P_DEPTH], n->depth);
        tm_cell_set_int(&row[TM_TREE_P_RANK], rank);
        tm_cell_set_int(&row[TM_TREE_P_NAME], n->name);
        tm_cell_set_int(&row[TM_TREE_P_CALLS], n->calls);
        tm_cell_set_int(&row[TM_TREE_P_HOST_TOTAL], n->host_ns);
        /* Calls of rounded times may cross one another, and take longer than what holds them. */
        int64_t own = n->host_ns - n->host_below_ns;
        tm_cell_set_int(&row[TM_TREE_P_HOST_SELF], own > 0 ? own : 0);
        tm_cell_set_int(&row[TM_TREE_P_DEVICE_TOTAL], n->device_ns);
        tm_cell_set_int(&row[TM_TREE_P_DEVICE_SELF], n->device_self_ns);
    }
    return true;
}

tm_status tm_tree_rows(const tm_rank_view *view, const tm_calls *calls, tm_table *part,
                       tm_error *err) {
    tree t = {.keys = TM_KEYS(node_key), .nodes = TM_VEC(node)};
    t.hashes = calloc(tm_names_count(view->names), sizeof *t.hashes);
    t.of = malloc((calls->n + 1) * sizeof *t.of);
    bool ok = t.hashes && t.of;
    for (size_t i = 0; i < calls->n && ok; i++) {
        t.of[i] = add_call(&t, view, &calls->calls[i]);
        ok = t.of[i] != NO_NODE;
    }
    if (ok) {
        add_device(&t, view, calls);
        ok = add_rows(&t, view->timeline->rank, part);
    }
    tm_keys_free(&t.keys);
    tm_vec_free(&t.nodes);
    free(t.hashes);
    free(t.of);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status set_name(const tm_names *names, int64_t id, tm_table *shown, tm_cell *cell,
                          tm_error *err) {
    const char *text = tm_names_text(names, (uint32_t)id).bytes, *end = before_address(text);
    tm_vec plain = TM_VEC(char);
    const char *rest = behind_address(end);
    bool ok = tm_vec_append(&plain, text, (size_t)(end - text)) &&
              tm_vec_append(&plain, rest, strlen(rest) + 1);
    tm_status status = ok ? tm_table_set_text(shown, cell, plain.data, err) : tm_fail_memory(err);
    tm_vec_free(&plain);
    return status;
}

/* Four sums, side by side in both tables. */
static void set_sums(const tm_table *part, size_t first, size_t end, tm_cell *row) {
    for (int c = 0; c <= TM_TREE_DEVICE_SELF - TM_TREE_CALLS; c++)
        tm_cell_set_int(&row[TM_TREE_CALLS + c],
                        tm_over_ranks_sum(part, first, end, TM_TREE_P_CALLS + c));
}

tm_status tm_tree_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                        tm_error *err) {
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        const tm_cell *key = tm_table_row(part, first);
        tm_over_ranks host, device;
        end = tm_over_ranks_end(part, first);
        TM_TRY(tm_over_ranks_column(part, first, end, TM_TREE_P_HOST_TOTAL, &host, err));
        TM_TRY(tm_over_ranks_column(part, first, end, TM_TREE_P_DEVICE_TOTAL, &device, err));
        tm_cell *row = tm_table_add_row(shown);
        if (!row)
            return tm_fail_memory(err);
        row[TM_TREE_NODE] = key[TM_TREE_P_PATH];
        row[TM_TREE_PARENT] = key[TM_TREE_P_PARENT];
        row[TM_TREE_DEPTH] = key[TM_TREE_P_DEPTH];
        set_sums(part, first, end, row);
        tm_cell_set_int(&row[TM_TREE_RANKS], host.ranks);
        tm_cell_set_int(&row[TM_TREE_HOST_MEDIAN], host.median);
        tm_cell_set_int(&row[TM_TREE_HOST_MAX], host.max);
        tm_cell_set_int(&row[TM_TREE_HOST_RANK], host.max_rank);
        tm_cell_set_int(&row[TM_TREE_DEVICE_MEDIAN], device.median);
        tm_cell_set_int(&row[TM_TREE_DEVICE_MAX], device.max);
        tm_cell_set_int(&row[TM_TREE_DEVICE_RANK], device.max_rank);
        TM_TRY(set_name(names, key[TM_TREE_P_NAME].value.i, shown, &row[TM_TREE_NAME], err));
    }
    return TM_OK;
}

/* A row, by what it is found and in which order it is put. */
typedef struct place {
    int64_t path, parent, total_ns;
    uint32_t row, above;  /* above: the place of the parent, NO_NODE for none */
    uint32_t first, next; /* its first child, and the one behind it in its parent's list */
} place;

static int by_path(const void *a, const void *b) {
    return tm_order_i64(((const place *)a)->path, ((const place *)b)->path);
}

/* The shorter first, so that lists that are filled from the front begin with the longest. */
static int by_time(const void *a, const void *b) {
    const place *x = *(const place *const *)a, *y = *(const place *const *)b;
    return x->total_ns != y->total_ns ? tm_order_i64(x->total_ns, y->total_ns)
                                      : tm_order_i64(y->path, x->path);
}

/* A parent is no shorter than what it holds, so that the longest nodes are a tree. */
static void keep_longest(tm_table *shown) {
    if (shown->n_rows <= TM_TREE_NODES)
        return;
    tm_table_sort(shown);
    tm_table_rank(shown, TM_TREE_HOST_TOTAL);
    int64_t least = tm_table_row(shown, TM_TREE_NODES)[TM_TREE_HOST_TOTAL].value.i;
    size_t n = TM_TREE_NODES;
    /* Of equals all go, for a child may be among them and its parent not. */
    while (n > 0 && tm_table_row(shown, n - 1)[TM_TREE_HOST_TOTAL].value.i == least)
        n--;
    shown->n_rows = n;
}

static bool find_parents(place *places, size_t n) {
    place **order = malloc((n + 1) * sizeof(place *));
    if (!order)
        return false;
    qsort(places, n, sizeof *places, by_path);
    for (size_t i = 0; i < n; i++) {
        const place key = {.path = places[i].parent};
        const place *above = bsearch(&key, places, n, sizeof key, by_path);
        places[i].above = above ? (uint32_t)(above - places) : NO_NODE;
        order[i] = &places[i];
    }
    qsort(order, n, sizeof *order, by_time);
    /* places[n] is above the roots. */
    places[n].first = NO_NODE;
    for (size_t i = 0; i < n; i++) {
        place *above = &places[order[i]->above == NO_NODE ? n : order[i]->above];
        order[i]->next = above->first;
        above->first = (uint32_t)(order[i] - places);
    }
    free(order);
    return true;
}

/* Numbers them in the order of a walk that goes down first. */
static void number_nodes(tm_table *shown, place *places, size_t n) {
    int64_t next = 0;
    uint32_t at = places[n].first;
    while (at != NO_NODE) {
        tm_cell *row = tm_table_row(shown, places[at].row);
        places[at].total_ns = next; /* from here on its number */
        tm_cell_set_int(&row[TM_TREE_NODE], next++);
        if (places[at].above == NO_NODE)
            row[TM_TREE_PARENT].null = true;
        else
            tm_cell_set_int(&row[TM_TREE_PARENT], places[places[at].above].total_ns);
        uint32_t down = places[at].first;
        while (down == NO_NODE && at != NO_NODE) {
            down = places[at].next;
            at = places[at].above;
        }
        at = down;
    }
}

tm_status tm_tree_number(tm_table *shown, tm_error *err) {
    keep_longest(shown);
    size_t n = shown->n_rows;
    place *places = malloc((n + 1) * sizeof *places);
    bool ok = places != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        const tm_cell *row = tm_table_row(shown, i);
        places[i] = (place){.path = row[TM_TREE_NODE].value.i,
                            .parent = row[TM_TREE_PARENT].value.i,
                            .total_ns = row[TM_TREE_HOST_TOTAL].value.i,
                            .row = (uint32_t)i,
                            .first = NO_NODE};
    }
    ok = ok && find_parents(places, n);
    if (ok) {
        number_nodes(shown, places, n);
        tm_table_sort(shown);
    }
    free(places);
    return ok ? TM_OK : tm_fail_memory(err);
}
