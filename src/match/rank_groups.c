#include "rank_groups.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "timeline/metadata.h"

/* Describes a group's ranks: by a list, or by start and stride. A process reads each list once, for
 * all of its ranks. */
typedef struct set_key {
    int64_t start, stride; /* used if there is no list: `size` ranks from `start` on */
    int32_t size;
    uint32_t list; /* name id */
} set_key;

typedef struct group_key {
    uint32_t name;
    int32_t size;
    uint32_t set; /* index in sets; TM_NO_KEY: unknown */
} group_key;

typedef struct shared_group {
    tm_group group;
    bool made;
} shared_group;

/* A cache entry: the fields by which a rank's kernels identify a group, and the group. Many kernels
 * have the same fields. */
typedef struct known_group {
    uint32_t name, ranks;
    int32_t size, start, stride;
    tm_group group;
} known_group;

/* A process group that the rank's metadata lists. */
typedef struct config {
    char *name;    /* owned */
    uint32_t list; /* name id of the text that lists the group's ranks */
} config;

struct tm_group_finder {
    const tm_names *names;
    int64_t world_size;
    tm_keys set_keys, group_keys; /* of set_key, group_key */
    tm_vec sets;                  /* vector of tm_rank_list, parallel to set_keys */
    tm_vec groups;                /* vector of shared_group, parallel to group_keys */
    /* The following members belong to the current rank. */
    const tm_timeline *timeline;
    tm_vec known;   /* vector of known_group */
    tm_vec configs; /* vector of config */
};

tm_status tm_group_finder_create(const tm_names *names, int64_t world_size, tm_group_finder **out,
                                 tm_error *err) {
    tm_group_finder *finder = calloc(1, sizeof *finder);
    if (!finder)
        return tm_fail_memory(err);
    *finder = (tm_group_finder){.names = names,
                                .world_size = world_size,
                                .set_keys = TM_KEYS(set_key),
                                .group_keys = TM_KEYS(group_key),
                                .sets = TM_VEC(tm_rank_list),
                                .groups = TM_VEC(shared_group),
                                .known = TM_VEC(known_group),
                                .configs = TM_VEC(config)};
    *out = finder;
    return TM_OK;
}

static void leave_rank(tm_group_finder *finder) {
    config *configs = finder->configs.data;
    for (size_t i = 0; i < finder->configs.n; i++)
        free(configs[i].name);
    finder->configs.n = 0;
    finder->known.n = 0;
}

void tm_group_finder_destroy(tm_group_finder *finder) {
    if (!finder)
        return;
    tm_rank_list *sets = finder->sets.data;
    for (size_t i = 0; i < finder->sets.n; i++)
        tm_vec_free(&sets[i].ranks);
    leave_rank(finder);
    tm_keys_free(&finder->set_keys);
    tm_keys_free(&finder->group_keys);
    TM_VECS_FREE(&finder->sets, &finder->groups, &finder->known, &finder->configs);
    free(finder);
}

/* Reads the entries of pg_config. Of several entries with the same name, the first one counts. */
tm_status tm_group_finder_enter(tm_group_finder *finder, const tm_timeline *timeline,
                                tm_error *err) {
    bool ok = true;
    leave_rank(finder);
    finder->timeline = timeline;
    if (timeline->n_metadata_lists == 0)
        return TM_OK;
    const char *reported =
        tm_metadata_member(tm_timeline_metadata(timeline).bytes, "distributedInfo");
    cJSON *info = reported ? cJSON_ParseWithOpts(reported, NULL, false) : NULL;
    const cJSON *configs = cJSON_GetObjectItemCaseSensitive(info, "pg_config"), *each;
    cJSON_ArrayForEach(each, configs) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(each, "pg_name"));
        const char *ranks = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(each, "ranks"));
        config *added = name && ok ? tm_vec_push(&finder->configs) : NULL;
        if (added)
            *added = (config){calloc(1, strlen(name) + 1), tm_timeline_list(timeline, ranks)};
        ok = ok && (!name || (added && added->name));
        if (added && added->name)
            memcpy(added->name, name, strlen(name));
    }
    cJSON_Delete(info);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the name id of the list of ranks in the pg_config entry with this name; TM_NO_NAME if
 * there is none. */
static uint32_t configured_list(const tm_group_finder *finder, tm_text name) {
    const config *configs = finder->configs.data;
    for (size_t i = 0; i < finder->configs.n; i++)
        if (strlen(configs[i].name) == name.size &&
            memcmp(configs[i].name, name.bytes, name.size) == 0)
            return configs[i].list;
    return TM_NO_NAME;
}

/* Returns the operator that issued the kernel. This is the last operator on the launch's thread in
 * which the launch starts. Unlike the kernel, the operator has the start and the stride of the
 * group. */
static const tm_collective_attr *asking_operator(const tm_timeline *timeline, uint32_t kernel) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    uint32_t launch = timeline->launch[kernel];
    if (launch == TM_NO_EVENT)
        return NULL;
    uint32_t first = tm_timeline_track(timeline, launch)->first;
    size_t i = tm_timeline_collectives_from(timeline, launch);
    while (i-- > 0 && attrs[i].event >= first) {
        uint32_t row = attrs[i].event;
        if (timeline->begin_ns[launch] <= timeline->begin_ns[row] + timeline->duration_ns[row])
            return &attrs[i];
    }
    return NULL;
}

/* Makes the set of ranks that a key describes. Returns false if out of memory. */
static bool read_set(const tm_group_finder *finder, const set_key *key, tm_rank_list *out) {
    bool ok = true;
    if (key->list != TM_NO_NAME)
        return tm_rank_list_read(tm_names_text(finder->names, key->list), out);
    *out = (tm_rank_list){.ranks = TM_VEC(int64_t), .read = true};
    for (int32_t i = 0; i < key->size && ok; i++) {
        int64_t rank = key->start + (int64_t)i * key->stride;
        ok = tm_vec_append(&out->ranks, &rank, 1);
    }
    return ok;
}

/* Sets *out to the index of the set of ranks that a key describes, and makes the set if necessary.
 * Leaves *out unchanged if the key describes no ranks. Returns false if out of memory. */
static bool find_set(tm_group_finder *finder, const set_key *key, uint32_t *out) {
    tm_rank_list *set = tm_keys_value(&finder->set_keys, &finder->sets, key);
    if (!set || (!set->read && !read_set(finder, key, set)))
        return false;
    if (set->ranks.n > 0)
        *out = tm_keys_find(&finder->set_keys, key);
    return true;
}

static bool find_listed(tm_group_finder *finder, uint32_t list, uint32_t *out) {
    return list == TM_NO_NAME || find_set(finder, &(set_key){.list = list}, out);
}

static bool can_count(const tm_collective_attr *attr) {
    return attr->group_size >= 1 && attr->group_size <= TM_GROUP_RANKS_MAX;
}

static bool find_regular(tm_group_finder *finder, const tm_collective_attr *attr, uint32_t *out) {
    const tm_collective_attr *asked =
        attr->rank_start >= 0 ? attr : asking_operator(finder->timeline, attr->event);
    if (!asked || asked->rank_start < 0 || asked->rank_stride < 1 || !can_count(attr))
        return true;
    const set_key key = {asked->rank_start, asked->rank_stride, attr->group_size, TM_NO_NAME};
    return find_set(finder, &key, out);
}

/* If the group is as large as the job, sets *out to the index of the set of all ranks. Otherwise,
 * leaves *out unchanged. Returns false if out of memory. */
static bool find_all(tm_group_finder *finder, const tm_collective_attr *attr, uint32_t *out) {
    const set_key key = {0, 1, attr->group_size, TM_NO_NAME};
    return !can_count(attr) || attr->group_size != finder->world_size ||
           find_set(finder, &key, out);
}

static bool has_rank(const tm_rank_list *set, int64_t rank) {
    const int64_t *ranks = set->ranks.data;
    size_t at = tm_lower_bound(ranks, set->ranks.n, rank);
    return at < set->ranks.n && ranks[at] == rank;
}

/* Writes ascending ranks as ranges: "0-3,8". If there is not enough space, ends with "...". */
static void print_ranks(const int64_t *ranks, size_t n, char out[TM_GROUP_TEXT_MAX]) {
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        size_t last = i;
        while (last + 1 < n && ranks[last + 1] == ranks[last] + 1)
            last++;
        char part[48];
        int size = last > i ? snprintf(part, sizeof part, "%s%" PRId64 "-%" PRId64, i ? "," : "",
                                       ranks[i], ranks[last])
                            : snprintf(part, sizeof part, "%s%" PRId64, i ? "," : "", ranks[i]);
        if (used + (size_t)size + 4 >= TM_GROUP_TEXT_MAX) {
            memcpy(out + used, "...", 4);
            return;
        }
        memcpy(out + used, part, (size_t)size + 1);
        used += (size_t)size;
        i = last + 1;
    }
}

/* Copies a text. If it is too long, cuts it at a character boundary, so that it stays valid
 * UTF-8. */
static void copy_text(tm_text text, char out[TM_GROUP_TEXT_MAX]) {
    size_t size = text.size < TM_GROUP_TEXT_MAX ? text.size : TM_GROUP_TEXT_MAX - 1;
    while (size > 0 && size < text.size && ((unsigned char)text.bytes[size] & 0xC0) == 0x80)
        size--;
    memcpy(out, text.bytes, size);
    out[size] = '\0';
}

/* Makes a group.
 * @param set  ranks of the group; NULL: unknown */
static tm_group make_group(const tm_group_finder *finder, const group_key *key,
                           const tm_rank_list *set) {
    tm_text name = tm_names_text(finder->names, key->name);
    tm_group group = {.n_ranks = key->size, .known = set != NULL};
    group.id = tm_hash_mixed(0, name.bytes, name.size);
    if (set) {
        int32_t n = (int32_t)set->ranks.n;
        group.id = tm_hash_mixed(group.id, set->ranks.data, set->ranks.n * sizeof(int64_t));
        if (!set->more || key->size > TM_GROUP_RANKS_MAX || key->size <= n)
            group.n_ranks = n + set->more;
    } else {
        group.id = tm_hash_mixed(group.id, &key->size, sizeof key->size);
    }
    if (name.size > 0)
        copy_text(name, group.text);
    else if (set)
        print_ranks(set->ranks.data, set->ranks.n, group.text);
    return group;
}

/* Sets *out to the index of the set of ranks of a kernel's group; TM_NO_KEY if the ranks are
 * unknown. Returns false if out of memory. */
static bool find_ranks(tm_group_finder *finder, const tm_collective_attr *attr, uint32_t *out) {
    tm_text name = tm_names_text(finder->names, attr->group);
    *out = TM_NO_KEY;
    bool ok = find_listed(finder, attr->group_ranks, out);
    if (ok && *out == TM_NO_KEY && name.size > 0)
        ok = find_listed(finder, configured_list(finder, name), out);
    if (ok && *out == TM_NO_KEY)
        ok = find_regular(finder, attr, out);
    return ok && *out == TM_NO_KEY ? find_all(finder, attr, out) : ok;
}

tm_status tm_group_ranks(tm_group_finder *finder, const tm_collective_attr *attr,
                         const tm_rank_list **out, tm_error *err) {
    uint32_t set;
    if (!find_ranks(finder, attr, &set))
        return tm_fail_memory(err);
    *out = set != TM_NO_KEY ? (const tm_rank_list *)finder->sets.data + set : NULL;
    return TM_OK;
}

/* Finds the group of a kernel of the current rank. */
static bool find_group(tm_group_finder *finder, const tm_collective_attr *attr, tm_group *out) {
    group_key key = {attr->group, attr->group_size, TM_NO_KEY};
    bool ok = find_ranks(finder, attr, &key.set);
    shared_group *shared = ok ? tm_keys_value(&finder->group_keys, &finder->groups, &key) : NULL;
    if (!shared)
        return false;
    const tm_rank_list *set =
        key.set != TM_NO_KEY ? (const tm_rank_list *)finder->sets.data + key.set : NULL;
    if (!shared->made)
        *shared = (shared_group){make_group(finder, &key, set), true};
    *out = shared->group;
    out->known = set && has_rank(set, finder->timeline->rank);
    return true;
}

tm_status tm_group_find(tm_group_finder *finder, const tm_collective_attr *attr, tm_group *out,
                        tm_error *err) {
    const known_group *known = finder->known.data;
    for (size_t i = finder->known.n; i-- > 0;)
        if (known[i].name == attr->group && known[i].ranks == attr->group_ranks &&
            known[i].size == attr->group_size && known[i].start == attr->rank_start &&
            known[i].stride == attr->rank_stride) {
            *out = known[i].group;
            return TM_OK;
        }
    known_group added = {.name = attr->group,
                         .ranks = attr->group_ranks,
                         .size = attr->group_size,
                         .start = attr->rank_start,
                         .stride = attr->rank_stride};
    if (!find_group(finder, attr, &added.group) || !tm_vec_append(&finder->known, &added, 1))
        return tm_fail_memory(err);
    *out = added.group;
    return TM_OK;
}

tm_group tm_group_of_ranks(const int64_t *ranks, size_t n) {
    tm_group group = {
        .id = tm_hash_mixed(0, ranks, n * sizeof *ranks), .n_ranks = (int32_t)n, .known = true};
    print_ranks(ranks, n, group.text);
    return group;
}
