#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/passes.h"
#include "base/hash.h"
#include "base/keys.h"
#include "base/sums.h"
#include "timeline/host_comm.h"

static const tm_column part_columns[TM_TREE_P_N] = {
    {"level", TM_INT, "", "Level of the row (tm_tree_level)."},
    {"path", TM_INT, "", "Hash of the names on the path from the root."},
    {"parent", TM_INT, "", "Hash of the parent's path; 0: no parent."},
    {"depth", TM_INT, "", "Number of ancestors."},
    {"rank", TM_INT, "", "Global rank."},
    {"name", TM_INT, "", "Name id, or a special value (call_tree.h)."},
    {"calls", TM_INT, "", "Number of calls."},
    {"host_total_ns", TM_INT, "ns", "Total duration of the calls."},
    {"host_self_ns", TM_INT, "ns", "Part of host_total_ns outside of the node's children."},
    {"device_total_ns", TM_INT, "ns", "Duration of the GPU events that the calls launched."},
    {"device_self_ns", TM_INT, "ns",
     "Part of device_total_ns that the node's children did not launch."},
    {"forward_device_ns", TM_INT, "ns",
     "Part of device_total_ns that belongs to the forward pass."},
    {"recomputed_device_ns", TM_INT, "ns",
     "Part of device_total_ns that the backward pass recomputes."},
    {"backward_device_ns", TM_INT, "ns",
     "Part of device_total_ns that belongs to the backward pass."},
    {"backward_host_ns", TM_INT, "ns",
     "Host time of backward work of the calls and their nested calls."},
};

const tm_table_def tm_tree_part =
    TM_PART_TABLE("calls.tree_part", "A row for each level, rank and path of calls.", part_columns,
                  TM_TREE_P_RANK);

#define NO_NODE UINT32_MAX
/* Stands for the node of a call that repeats another call. Later, the call gets the node of that
 * other call. */
#define LATER (UINT32_MAX - 1)

/* A node of a rank's tree. Its parent has a lower index. */
typedef struct node {
    uint64_t path;
    int64_t calls, host_ns, host_below_ns, backward_host_ns;
    int64_t device_self_ns, device_ns[TM_N_PASSES];
    int64_t name;
    uint32_t parent, depth;
} node;

/* Key of a node. `text` is a hash of the name without addresses, because a function's name may
 * contain different addresses on each run. */
typedef struct node_key {
    uint64_t text;
    uint64_t parent;
} node_key;

typedef struct tree {
    const tm_rank_view *view;
    tm_tree_level level;
    const tm_calls *calls;
    const tm_passes *passes; /* NULL: backward work counts for the calls that launched it */
    tm_keys keys;            /* keys of node_key */
    tm_vec nodes;            /* vector of node */
    uint64_t *hashes;        /* [names] hash of each name; 0: not yet computed */
    uint32_t *of;            /* [calls] node of each call */
    bool stacks;             /* whether nodes are functions of recorded call stacks */
} tree;

tm_plain_name tm_tree_plain_name(tm_text name) {
    static const char address[] = " at 0x";
    const size_t size = sizeof address - 1;
    const char *end = name.bytes + name.size, *at = name.bytes;
    while ((at = memchr(at, ' ', (size_t)(end - at))) != NULL &&
           ((size_t)(end - at) < size || memcmp(at, address, size) != 0))
        at++;
    at = at ? at : end;
    const char *after = at < end ? at + size : end;
    while (after < end && strchr("0123456789abcdefABCDEF", *after) && *after)
        after++;
    return (tm_plain_name){{name.bytes, (size_t)(at - name.bytes)}, {after, (size_t)(end - after)}};
}

static uint64_t hash_of(tm_text name) {
    tm_plain_name plain = tm_tree_plain_name(name);
    uint64_t hash = tm_hash_mixed(0, plain.head.bytes, plain.head.size);
    hash = tm_hash_mixed(hash, plain.tail.bytes, plain.tail.size);
    return hash ? hash : 1;
}

static uint64_t text_hash(tree *t, uint32_t name) {
    if (t->hashes[name] == 0)
        t->hashes[name] = hash_of(tm_names_text(t->view->names, name));
    return t->hashes[name];
}

/* Returns the node that has a given name and parent. If there is none, adds it first. Returns
 * NO_NODE if out of memory. */
static uint32_t add_node(tree *t, uint64_t text, int64_t name, uint32_t parent) {
    const node_key key = {text, parent};
    node *n = tm_keys_value(&t->keys, &t->nodes, &key);
    if (!n)
        return NO_NODE;
    node *nodes = t->nodes.data;
    if (n->path == 0) {
        const uint64_t words[] = {parent == NO_NODE ? 0 : nodes[parent].path, text};
        *n = (node){.path = tm_hash_words(0, words, 2),
                    .name = name,
                    .parent = parent,
                    .depth = parent == NO_NODE ? 0 : nodes[parent].depth + 1};
    }
    return (uint32_t)(n - nodes);
}

/* Adds a call to the child of @p parent that has the call's name. */
static bool add_call(tree *t, uint32_t call, uint32_t parent) {
    uint32_t row = t->calls->calls[call].row, name = t->view->timeline->name[row];
    uint32_t at = add_node(t, text_hash(t, name), name, parent);
    t->of[call] = at;
    if (at == NO_NODE)
        return false;
    node *n = (node *)t->nodes.data + at;
    n->calls++;
    n->host_ns = tm_sum(n->host_ns, t->view->timeline->duration_ns[row]);
    return true;
}

/* Returns the forward call that a recomputed call repeats: the call of the same name around the
 * forward operator. Returns TM_NO_CALL if there is none. */
static uint32_t duplicate_of(tree *t, uint32_t call) {
    const tm_timeline *timeline = t->view->timeline;
    uint32_t row = t->calls->calls[call].row;
    uint32_t op = t->passes ? t->view->operators->above[row] : TM_NO_CALL;
    uint32_t forward = op == TM_NO_CALL ? TM_NO_EVENT : t->passes->forward[op];
    uint32_t found = forward == TM_NO_EVENT ? TM_NO_CALL : t->calls->above[forward];
    while (found != TM_NO_CALL && timeline->name[t->calls->calls[found].row] != timeline->name[row])
        found = t->calls->calls[found].parent;
    return found;
}

/* Adds a recomputed call to the node of the call that it repeats. Also adds its duration to the
 * node's ancestors, because their calls do not contain the recomputed call. */
static void add_again(tree *t, uint32_t call, uint32_t at) {
    node *nodes = t->nodes.data;
    int64_t duration = t->view->timeline->duration_ns[t->calls->calls[call].row];
    t->of[call] = at;
    nodes[at].calls++;
    for (; at != NO_NODE; at = nodes[at].parent)
        nodes[at].host_ns = tm_sum(nodes[at].host_ns, duration);
}

static bool add_calls(tree *t) {
    const tm_call *calls = t->calls->calls;
    bool ok = true;
    for (uint32_t i = 0; i < t->calls->n && ok; i++) {
        uint32_t parent = calls[i].parent;
        bool later =
            parent == TM_NO_CALL ? duplicate_of(t, i) != TM_NO_CALL : t->of[parent] == LATER;
        t->of[i] = LATER;
        if (!later)
            ok = add_call(t, i, parent == TM_NO_CALL ? NO_NODE : t->of[parent]);
    }
    for (uint32_t i = 0; i < t->calls->n && ok; i++) {
        uint32_t parent = calls[i].parent;
        uint32_t duplicate =
            t->of[i] == LATER && parent == TM_NO_CALL ? duplicate_of(t, i) : TM_NO_CALL;
        if (duplicate != TM_NO_CALL && t->of[duplicate] != LATER)
            add_again(t, i, t->of[duplicate]);
        else if (t->of[i] == LATER)
            ok = add_call(t, i, parent == TM_NO_CALL ? NO_NODE : t->of[parent]);
    }
    return ok;
}

/* Adds the functions in the recorded stacks of calls. The self time of a function is the duration
 * of its calls, minus nested calls with a different stack. Until sum_up is called, host_ns is the
 * self time. */
static bool add_stacks(tree *t) {
    const tm_timeline *timeline = t->view->timeline;
    const tm_operator_attr *reported = timeline->attrs[TM_ATTR_OPERATOR];
    bool ok = true;
    for (size_t i = 0; i < t->calls->n && ok; i++) {
        const tm_call *call = &t->calls->calls[i];
        while (reported->event != call->row)
            reported++;
        uint32_t at = NO_NODE;
        tm_text rest = tm_names_text(t->view->names, reported->stack);
        while (rest.size > 0 && ok) {
            at = add_node(t, hash_of(tm_tree_next_frame(&rest)),
                          TM_TREE_STACK - (int64_t)reported->stack, at);
            ok = at != NO_NODE;
        }
        t->of[i] = at;
        uint32_t around = call->parent == TM_NO_CALL ? NO_NODE : t->of[call->parent];
        if (!ok || around == at)
            continue;
        node *nodes = t->nodes.data;
        nodes[at].calls++;
        nodes[at].host_ns = tm_sum(nodes[at].host_ns, timeline->duration_ns[call->row]);
        if (around != NO_NODE)
            nodes[around].host_ns -= timeline->duration_ns[call->row];
    }
    return ok;
}

static int by_row(const void *key, const void *call) {
    uint32_t row = *(const uint32_t *)key, other = ((const tm_call *)call)->row;
    return (row > other) - (row < other);
}

/* Returns the call that launched an event. This is the runtime call if its stack was recorded.
 * Otherwise it is the call around the runtime call. */
static uint32_t call_of_event(const tree *t, uint32_t row) {
    uint32_t asked = t->stacks ? tm_timeline_asked(t->view->timeline, row) : TM_NO_EVENT;
    const tm_call *calls = t->calls->calls, *own = NULL;
    if (asked != TM_NO_EVENT)
        own = bsearch(&asked, calls, t->calls->n, sizeof *calls, by_row);
    return own ? (uint32_t)(own - calls) : t->calls->above[row];
}

/* Returns the node to which a GPU event's time is added, and sets its pass; NO_NODE if out of
 * memory. */
static uint32_t node_of_event(tree *t, uint32_t row, tm_pass *pass) {
    /* used instead of a name's hash */
    static const uint64_t outside = 1, unknown = 2;
    uint32_t call = call_of_event(t, row);
    uint32_t op = t->passes ? t->view->operators->above[row] : TM_NO_CALL;
    *pass = op == TM_NO_CALL ? TM_PASS_FORWARD : (tm_pass)t->passes->pass[op];
    uint32_t forward = t->passes ? tm_pass_of_event(t->view, row) : TM_NO_EVENT;
    if (forward != TM_NO_EVENT)
        call = t->calls->above[forward];
    if (call != TM_NO_CALL)
        return t->of[call];
    return t->view->timeline->launch[row] == TM_NO_EVENT
               ? add_node(t, unknown, TM_TREE_UNKNOWN, NO_NODE)
               : add_node(t, outside, TM_TREE_OUTSIDE, NO_NODE);
}

static bool add_device(tree *t) {
    const tm_timeline *timeline = t->view->timeline;
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        tm_pass pass;
        if (timeline->role[row] == TM_ROLE_NONE)
            continue;
        uint32_t at = node_of_event(t, row, &pass);
        if (at == NO_NODE)
            return false;
        node *n = (node *)t->nodes.data + at;
        n->device_self_ns = tm_sum(n->device_self_ns, timeline->duration_ns[row]);
        n->device_ns[pass] = tm_sum(n->device_ns[pass], timeline->duration_ns[row]);
    }
    return true;
}

/* Adds the host time of autograd's outermost nodes to the calls that contain their forward
 * operators. */
static void add_backward_host(tree *t) {
    const tm_call *ops = t->view->operators->calls;
    for (size_t i = 0; i < t->view->operators->n; i++) {
        uint32_t forward = tm_pass_of_operator(t->view, i);
        if (forward == TM_NO_EVENT || t->calls->above[forward] == TM_NO_CALL)
            continue;
        node *n = (node *)t->nodes.data + t->of[t->calls->above[forward]];
        n->backward_host_ns =
            tm_sum(n->backward_host_ns, t->view->timeline->duration_ns[ops[i].row]);
    }
}

/* Adds the times of children to their parents. Goes backwards, because children come after their
 * parents. */
static void sum_up(tree *t) {
    node *nodes = t->nodes.data;
    for (size_t i = t->nodes.n; i-- > 0;) {
        node *n = &nodes[i];
        if (t->stacks)
            n->host_ns = tm_sum(n->host_ns, n->host_below_ns);
        if (n->parent == NO_NODE)
            continue;
        node *parent = &nodes[n->parent];
        for (int pass = 0; pass < TM_N_PASSES; pass++)
            parent->device_ns[pass] = tm_sum(parent->device_ns[pass], n->device_ns[pass]);
        parent->host_below_ns = tm_sum(parent->host_below_ns, n->host_ns);
        parent->backward_host_ns = tm_sum(parent->backward_host_ns, n->backward_host_ns);
    }
}

static bool add_rows(const tree *t, tm_table *part) {
    const node *nodes = t->nodes.data;
    for (size_t i = 0; i < t->nodes.n; i++) {
        const node *n = &nodes[i];
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return false;
        int64_t device = 0;
        for (int pass = 0; pass < TM_N_PASSES; pass++) {
            device = tm_sum(device, n->device_ns[pass]);
            if (t->passes)
                tm_cell_set_int(&row[TM_TREE_P_FORWARD + pass], n->device_ns[pass]);
        }
        if (t->passes)
            tm_cell_set_int(&row[TM_TREE_P_BACKWARD_HOST], n->backward_host_ns);
        tm_cell_set_int(&row[TM_TREE_P_LEVEL], t->level);
        tm_cell_set_int(&row[TM_TREE_P_PATH], (int64_t)n->path);
        tm_cell_set_int(&row[TM_TREE_P_PARENT],
                        n->parent == NO_NODE ? 0 : (int64_t)nodes[n->parent].path);
        tm_cell_set_int(&row[TM_TREE_P_DEPTH], n->depth);
        tm_cell_set_int(&row[TM_TREE_P_RANK], t->view->timeline->rank);
        tm_cell_set_int(&row[TM_TREE_P_NAME], n->name);
        tm_cell_set_int(&row[TM_TREE_P_CALLS], n->calls);
        tm_cell_set_int(&row[TM_TREE_P_HOST_TOTAL], n->host_ns);
        /* Because times are rounded, a call may seem to end after the call around it. */
        int64_t own = n->host_ns - n->host_below_ns;
        tm_cell_set_int(&row[TM_TREE_P_HOST_SELF], own > 0 ? own : 0);
        tm_cell_set_int(&row[TM_TREE_P_DEVICE_TOTAL], device);
        tm_cell_set_int(&row[TM_TREE_P_DEVICE_SELF], n->device_self_ns);
    }
    return true;
}

static tm_status make_rows(tree *t, tm_tables *out, tm_error *err) {
    t->keys = TM_KEYS(node_key);
    t->nodes = TM_VEC(node);
    t->hashes = calloc(t->view->n_names, sizeof *t->hashes);
    t->of = malloc((t->calls->n + 1) * sizeof *t->of);
    bool ok = t->hashes && t->of && (t->stacks ? add_stacks(t) : add_calls(t)) && add_device(t);
    if (ok && t->passes)
        add_backward_host(t);
    if (ok)
        sum_up(t);
    ok = ok && add_rows(t, tm_tables_find(out, tm_tree_part.name));
    tm_keys_free(&t->keys);
    tm_vec_free(&t->nodes);
    free(t->hashes);
    free(t->of);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_tree_rows(const tm_rank_view *view, tm_tree_level level, const tm_calls *calls,
                       const struct tm_passes *passes, tm_tables *out, tm_error *err) {
    tree t = {.view = view, .level = level, .calls = calls, .passes = passes};
    return make_rows(&t, out, err);
}

tm_status tm_tree_stack_rows(const tm_rank_view *view, const tm_calls *calls, tm_tables *out,
                             tm_error *err) {
    tree t = {.view = view, .level = TM_TREE_FUNCTIONS, .calls = calls, .stacks = true};
    return make_rows(&t, out, err);
}
