#include "groups.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"

/* Groups repeat over the kernels of a rank; the fields that tell one are remembered. */
typedef struct known_group {
    uint32_t name, ranks;
    int32_t size, start, stride;
    tm_group group;
} known_group;

struct tm_group_finder {
    const tm_timeline *timeline;
    const tm_names *names;
    int64_t world_size;
    cJSON *metadata; /* owned, NULL where the trace has none */
    tm_vec known;    /* of known_group */
    tm_vec ranks;    /* of int64_t: the group at hand */
};

tm_status tm_group_finder_create(const tm_timeline *timeline, const tm_names *names,
                                 int64_t world_size, tm_group_finder **out, tm_error *err) {
    tm_group_finder *finder = calloc(1, sizeof *finder);
    if (!finder)
        return tm_fail_memory(err);
    *finder = (tm_group_finder){.timeline = timeline, .names = names, .world_size = world_size};
    finder->known = TM_VEC(known_group);
    finder->ranks = TM_VEC(int64_t);
    tm_text text = tm_names_text(names, timeline->metadata);
    finder->metadata = text.size > 0 ? cJSON_Parse(text.bytes) : NULL;
    *out = finder;
    return TM_OK;
}

void tm_group_finder_destroy(tm_group_finder *finder) {
    if (!finder)
        return;
    cJSON_Delete(finder->metadata);
    tm_vec_free(&finder->known);
    tm_vec_free(&finder->ranks);
    free(finder);
}

/* Reads "[0, 1, 2]"; false where the list is cut ("...") or is none. "[0, 1, ?]" has more, of which
 * there is no trace. */
static bool parse_ranks(const char *p, const char *end, tm_vec *out, bool *more) {
    out->n = 0;
    *more = false;
    if (p == end || *p++ != '[')
        return false;
    while (p < end) {
        int64_t value = 0;
        const char *digits = p;
        while (p < end && *p >= '0' && *p <= '9' && value < 1000000000)
            value = value * 10 + (*p++ - '0');
        if (p + 2 == end && *p == '?' && p[1] == ']' && out->n > 0) {
            *more = true;
            return true;
        }
        if (p == digits || !tm_vec_append(out, &value, 1))
            return false;
        if (p < end && *p == ']')
            return true;
        if (p == end || *p++ != ',')
            return false;
        p += p < end && *p == ' ';
    }
    return false;
}

/* The ranks of the pg_config entry with this name, which is a list or a list in a string. */
static bool configured_ranks(tm_group_finder *finder, tm_text name) {
    const cJSON *info = cJSON_GetObjectItemCaseSensitive(finder->metadata, "distributedInfo");
    const cJSON *configs = cJSON_GetObjectItemCaseSensitive(info, "pg_config");
    const cJSON *config;
    bool more;
    cJSON_ArrayForEach(config, configs) {
        const char *own = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(config, "pg_name"));
        if (!own || strlen(own) != name.size || memcmp(own, name.bytes, name.size) != 0)
            continue;
        const cJSON *ranks = cJSON_GetObjectItemCaseSensitive(config, "ranks"), *rank;
        const char *text = cJSON_GetStringValue(ranks);
        if (text)
            return parse_ranks(text, text + strlen(text), &finder->ranks, &more);
        finder->ranks.n = 0;
        cJSON_ArrayForEach(rank, ranks) {
            int64_t value = (int64_t)cJSON_GetNumberValue(rank);
            if (!tm_vec_append(&finder->ranks, &value, 1))
                return false;
        }
        return finder->ranks.n > 0;
    }
    return false;
}

/* The operator whose call launched the kernel carries start and stride, which kernels lack: the
 * last one on the thread of the launch that holds the launch's begin. */
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

static bool regular_ranks(tm_group_finder *finder, const tm_collective_attr *attr) {
    const tm_collective_attr *asked =
        attr->rank_start >= 0 ? attr : asking_operator(finder->timeline, attr->event);
    if (!asked || asked->rank_start < 0 || asked->rank_stride < 1 || attr->group_size < 1 ||
        attr->group_size > TM_GROUP_RANKS_MAX)
        return false;
    finder->ranks.n = 0;
    for (int32_t i = 0; i < attr->group_size; i++) {
        int64_t rank = asked->rank_start + (int64_t)i * asked->rank_stride;
        if (!tm_vec_append(&finder->ranks, &rank, 1))
            return false;
    }
    return true;
}

/* A group of the size of the job has all of its ranks. */
static bool all_ranks(tm_group_finder *finder, const tm_collective_attr *attr) {
    if (attr->group_size < 1 || attr->group_size > TM_GROUP_RANKS_MAX ||
        attr->group_size != finder->world_size)
        return false;
    finder->ranks.n = 0;
    for (int64_t rank = 0; rank < finder->world_size; rank++)
        if (!tm_vec_append(&finder->ranks, &rank, 1))
            return false;
    return true;
}

static bool has_rank(const tm_vec *ranks, int64_t rank) {
    const int64_t *v = ranks->data;
    for (size_t i = 0; i < ranks->n; i++)
        if (v[i] == rank)
            return true;
    return false;
}

/* "0-3,8": ascending ranks as a list of ranges, cut with "..." where there is no room. */
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

/* Cuts at a character, so that the text stays UTF-8. */
static void copy_text(tm_text text, char out[TM_GROUP_TEXT_MAX]) {
    size_t size = text.size < TM_GROUP_TEXT_MAX ? text.size : TM_GROUP_TEXT_MAX - 1;
    while (size > 0 && size < text.size && ((unsigned char)text.bytes[size] & 0xC0) == 0x80)
        size--;
    memcpy(out, text.bytes, size);
    out[size] = '\0';
}

static tm_group make_group(tm_group_finder *finder, const tm_collective_attr *attr) {
    tm_text name = tm_names_text(finder->names, attr->group);
    tm_text list = tm_names_text(finder->names, attr->group_ranks);
    tm_group group = {.n_ranks = attr->group_size};
    bool more = false;
    bool known = parse_ranks(list.bytes, list.bytes + list.size, &finder->ranks, &more) ||
                 (name.size > 0 && configured_ranks(finder, name)) || regular_ranks(finder, attr) ||
                 all_ranks(finder, attr);
    group.known = known && has_rank(&finder->ranks, finder->timeline->rank);
    group.id = tm_hash_mixed(0, name.bytes, name.size);
    if (known) {
        tm_sort_values(finder->ranks.data, finder->ranks.n);
        group.id = tm_hash_mixed(group.id, finder->ranks.data, finder->ranks.n * sizeof(int64_t));
        if (!more || attr->group_size > TM_GROUP_RANKS_MAX ||
            attr->group_size <= (int32_t)finder->ranks.n)
            group.n_ranks = (int32_t)finder->ranks.n + more;
    } else {
        group.id = tm_hash_mixed(group.id, &attr->group_size, sizeof attr->group_size);
    }
    if (name.size > 0)
        copy_text(name, group.text);
    else if (known)
        print_ranks(finder->ranks.data, finder->ranks.n, group.text);
    return group;
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
    known_group *added = tm_vec_push(&finder->known);
    if (!added)
        return tm_fail_memory(err);
    *added = (known_group){attr->group,      attr->group_ranks, attr->group_size,
                           attr->rank_start, attr->rank_stride, make_group(finder, attr)};
    *out = added->group;
    return TM_OK;
}

tm_group tm_group_of_ranks(const int64_t *ranks, size_t n) {
    tm_group group = {
        .id = tm_hash_mixed(0, ranks, n * sizeof *ranks), .n_ranks = (int32_t)n, .known = true};
    print_ranks(ranks, n, group.text);
    return group;
}
