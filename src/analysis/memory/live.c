/* The table memory.live: the memory that was allocated at a device's peak. */
#include "base/keys.h"
#include "base/sorted.h"
#include "devices.h"
#include "tables.h"

/* Maximum number of groups that have their own row. One more row is for all other groups. */
enum { ROWS = 40 };

enum {
    L_RANK,
    L_DEVICE,
    L_PLACE,
    L_CATEGORY,
    L_OPERATOR,
    L_SHAPES,
    L_MODULE,
    L_STEP,
    L_SIZE,
    L_BLOCKS,
    L_BYTES,
    L_PCT
};

static const tm_column live_columns[] = {
    [L_RANK] = {"rank", TM_INT, "", "Global rank."},
    [L_DEVICE] = {"device", TM_TEXT, "", TM_DEVICE_DOC},
    [L_PLACE] = {"place", TM_INT, "", "Position of the row in the order of bytes: 1 has most."},
    [L_CATEGORY] = {"category", TM_TEXT, "",
                    "Category of the blocks, as in memory.category. Null in the last row if it "
                    "sums the groups after the first 40."},
    [L_OPERATOR] = {"operator", TM_TEXT, "",
                    "Outermost operator that allocated the blocks, without autograd's wrappers; "
                    "null if they were allocated outside of all operators."},
    [L_SHAPES] = {"shapes", TM_TEXT, "", "Shapes of the operator's inputs; null if not recorded."},
    [L_MODULE] =
        {"module", TM_TEXT, "",
         "Innermost open module. In the backward pass: the module of the forward operator whose "
         "gradient is computed, if autograd's numbers link the two. Null if no module was open."},
    [L_STEP] = {"step", TM_INT, "",
                "Step in which the blocks were allocated; null if outside of steps. Blocks from a "
                "step long before the peak are kept from step to step."},
    [L_SIZE] = {"block_bytes", TM_INT, "B",
                "Size of each block. Null for categories without blocks (see "
                "memory.category.blocks), and in the last row if it sums other groups."},
    [L_BLOCKS] = {"blocks", TM_INT, "", "Number of blocks of the group."},
    [L_BYTES] = {"bytes", TM_INT, "B",
                 "Sum of the sizes of the blocks. The rows of a device add up to "
                 "memory.device.peak_bytes."},
    [L_PCT] = {"share_pct", TM_REAL, "%",
               "Share of the group at the device's peak: 100 bytes / memory.device.peak_bytes."},
};

const tm_table_def tm_memory_live_def = {
    .name = "memory.live",
    .doc = "A row for each group of blocks that were allocated at the peak of a rank's device, if "
           "[memory] records have addresses. A group consists of equal blocks of one operator and "
           "step. The table has the 40 largest groups of each device, and a row for the rest.",
    TM_ARRAY(columns, live_columns),
    .n_keys = 3,
    .top = L_BYTES,
};

/* The properties that all blocks of a group share. The struct has no padding, because it is hashed
 * as bytes. */
typedef struct group_key {
    int64_t size;
    uint32_t op, shapes, module; /* name ids; TM_NO_NAME: none */
    int32_t step;                /* index of the step; TM_NO_STEP: none */
    uint32_t category, unused;
} group_key;

typedef struct group {
    int64_t blocks, bytes;
    /* `key`: number of the key. `first`: level of the group's first block, which makes the sort
     * order unique. */
    uint32_t key, first;
} group;

/* A device, and the table for its rows. */
typedef struct place {
    const tm_rank_view *view;
    const tm_device_levels *levels;
    tm_table *table;
} place;

TM_ORDER_FALLING(by_bytes, group, bytes, first);

static uint32_t shapes_of(const tm_timeline *timeline, uint32_t row) {
    const tm_shapes_attr *v = timeline->attrs[TM_ATTR_SHAPES];
    size_t n = timeline->n_attrs[TM_ATTR_SHAPES];
    size_t i = TM_FIRST_FROM(tm_shapes_attr, event, v, n, row);
    return i < n && v[i].event == row ? v[i].shapes : TM_NO_NAME;
}

/* Returns the module that is open at an allocation. In a backward pass, returns the module of the
 * forward operator. Returns TM_NO_CALL if there is no module. */
static uint32_t module_of(const tm_live *live, uint32_t event, const tm_scope *at) {
    uint32_t op = live->view->operators->above[event];
    if (at->module != TM_NO_CALL || op == TM_NO_CALL ||
        live->view->passes->forward[op] == TM_NO_EVENT)
        return at->module;
    return tm_scopes_at(live->scopes, live->view->passes->forward[op]).module;
}

static group_key key_of(const tm_live *live, const tm_device_levels *d, const tm_block *block) {
    const tm_timeline *timeline = live->view->timeline;
    const tm_scopes *scopes = live->scopes;
    const tm_memory_level *level = (const tm_memory_level *)d->levels.data + block->taken;
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    uint32_t event = records[level->record].event;
    tm_scope at = tm_scopes_at(scopes, event);
    group_key key = {.size = block->bytes,
                     .op = TM_NO_NAME,
                     .shapes = TM_NO_NAME,
                     .module = TM_NO_NAME,
                     .step = timeline->step[event],
                     .category = block->category};
    if (at.op != TM_NO_CALL) {
        uint32_t row = scopes->calls.calls[at.op].row;
        key.op = timeline->name[row];
        key.shapes = shapes_of(timeline, row);
    }
    uint32_t module = module_of(live, event, &at);
    if (module != TM_NO_CALL)
        key.module = timeline->name[scopes->calls.calls[module].row];
    return key;
}

/* Adds groups for memory that is in no block: it was allocated before the trace, or is known only
 * from totals. */
static bool find_unblocked(const tm_timeline *timeline, const tm_device_levels *d,
                           const tm_blocks *blocks, tm_keys *keys, tm_vec *groups) {
    static const tm_memory_category unblocked[] = {TM_MEMORY_PREEXISTING, TM_MEMORY_STACK,
                                                   TM_MEMORY_UNRECORDED};
    tm_category_walk walk = tm_category_walk_begin(timeline, d, blocks);
    while (walk.next <= d->peak)
        tm_category_walk_next(&walk);
    for (uint32_t i = 0; i < sizeof unblocked / sizeof *unblocked; i++) {
        const group_key key = {.op = TM_NO_NAME,
                               .shapes = TM_NO_NAME,
                               .module = TM_NO_NAME,
                               .step = TM_NO_STEP,
                               .category = unblocked[i]};
        if (walk.bytes[unblocked[i]] == 0)
            continue;
        group *g = tm_keys_value(keys, groups, &key);
        if (!g)
            return false;
        *g = (group){.bytes = walk.bytes[unblocked[i]], .key = (uint32_t)groups->n - 1, .first = i};
    }
    return true;
}

static bool find_groups(const tm_live *live, const tm_device_levels *d, const tm_blocks *blocks,
                        tm_keys *keys, tm_vec *groups) {
    const tm_block *v = blocks->blocks.data;
    for (uint32_t i = 0; i < blocks->blocks.n && v[i].taken <= d->peak; i++) {
        if (v[i].freed <= d->peak)
            continue;
        const group_key key = key_of(live, d, &v[i]);
        group *g = tm_keys_value(keys, groups, &key);
        if (!g)
            return false;
        if (g->blocks++ == 0) {
            g->key = (uint32_t)(g - (group *)groups->data);
            g->first = v[i].taken;
        }
        g->bytes += v[i].bytes;
    }
    if (groups->n > 0)
        tm_sort(groups->data, groups->n, sizeof(group), by_bytes);
    return true;
}

/* Adds a row and sets its common columns, also for the row that stands for the rest. Returns NULL
 * if out of memory. */
static tm_cell *add_row(const place *at, int64_t number, int64_t bytes) {
    const tm_memory_level *v = at->levels->levels.data;
    tm_cell *row = tm_table_add_row(at->table);
    if (!row)
        return NULL;
    tm_cell_set_int(&row[L_RANK], at->view->timeline->rank);
    tm_cell_set_int(&row[L_PLACE], number);
    tm_cell_set_int(&row[L_BYTES], bytes);
    tm_cell_set_ratio(&row[L_PCT], 100.0, bytes, v[at->levels->peak].allocated_bytes);
    return row;
}

static tm_status set_name(const place *at, uint32_t name, tm_cell *cell, tm_error *err) {
    tm_text text = tm_names_text(at->view->names, name);
    return name == TM_NO_NAME ? TM_OK
                              : tm_table_set_bytes(at->table, cell, text.bytes, text.size, err);
}

static tm_status set_device(const place *at, tm_cell *row, tm_error *err) {
    return tm_device_set_text(at->levels->type, at->levels->device, at->table, &row[L_DEVICE], err);
}

static tm_status add_group(const place *at, const group *g, const group_key *key, int64_t number,
                           tm_error *err) {
    tm_cell *row = add_row(at, number, g->bytes);
    if (!row)
        return tm_fail_memory(err);
    if (g->blocks > 0) {
        tm_cell_set_int(&row[L_SIZE], key->size);
        tm_cell_set_int(&row[L_BLOCKS], g->blocks);
    }
    if (key->step != TM_NO_STEP)
        tm_cell_set_int(&row[L_STEP], at->view->timeline->steps[key->step].number);
    TM_TRY(set_name(at, key->op, &row[L_OPERATOR], err));
    TM_TRY(set_name(at, key->shapes, &row[L_SHAPES], err));
    TM_TRY(set_name(at, key->module, &row[L_MODULE], err));
    TM_TRY(tm_table_set_text(at->table, &row[L_CATEGORY],
                             tm_memory_category_word((tm_memory_category)key->category), err));
    return set_device(at, row, err);
}

static tm_status add_rest(const place *at, const tm_vec *all, tm_error *err) {
    int64_t blocks = 0, bytes = 0;
    for (size_t i = ROWS; i < all->n; i++) {
        blocks += ((const group *)all->data)[i].blocks;
        bytes += ((const group *)all->data)[i].bytes;
    }
    tm_cell *row = add_row(at, ROWS + 1, bytes);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[L_BLOCKS], blocks);
    return set_device(at, row, err);
}

tm_status tm_memory_add_live(const tm_live *live, const tm_device_levels *d,
                             const tm_blocks *blocks, tm_tables *out, tm_error *err) {
    tm_keys keys = TM_KEYS(group_key);
    tm_vec groups = TM_VEC(group);
    const place at = {live->view, d, tm_tables_find(out, tm_memory_live_def.name)};
    tm_status status = TM_OK;
    if (!find_unblocked(live->view->timeline, d, blocks, &keys, &groups) ||
        !find_groups(live, d, blocks, &keys, &groups))
        status = tm_fail_memory(err);
    for (size_t i = 0; i < groups.n && i < ROWS && status == TM_OK; i++) {
        const group *g = (const group *)groups.data + i;
        const group_key *key = (const group_key *)keys.keys.data + g->key;
        status = add_group(&at, g, key, (int64_t)i + 1, err);
    }
    if (groups.n > ROWS && status == TM_OK)
        status = add_rest(&at, &groups, err);
    tm_keys_free(&keys);
    tm_vec_free(&groups);
    return status;
}
