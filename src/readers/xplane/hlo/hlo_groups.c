#include "hlo_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/letters.h"
#include "base/median.h"

enum { DIMENSIONS = 16, PAIRS_MAX = 4096 };

/* What the numbers in a group stand for. */
typedef enum mode {
    REPLICAS, /* replicas in the same partition as the device */
    PARTS,    /* partitions in the same replica as the device */
    REPLICAS_OF_ALL_PARTS,
    GLOBAL /* devices: number r * n_parts + p is partition p of replica r */
} mode;

static mode mode_of(const tm_hlo *hlo) {
    bool channel = tm_hlo_attribute(hlo, "channel_id").size > 0;
    bool global = tm_text_is(tm_hlo_attribute(hlo, "use_global_device_ids"), "true");
    static const char *const of_parts[] = {"all-to-all", "ragged-all-to-all", "collective-permute",
                                           "collective-broadcast"};
    if (!channel)
        return REPLICAS;
    for (size_t i = 0; i < sizeof of_parts / sizeof *of_parts; i++)
        if (tm_text_begins(hlo->opcode, of_parts[i]))
            return PARTS;
    return global ? GLOBAL : REPLICAS_OF_ALL_PARTS;
}

/* Reads a number; NULL if there is none, or it is implausibly large. */
static const char *number(const char *p, const char *end, int64_t *out) {
    const char *begin = p;
    *out = 0;
    while (p < end && *p >= '0' && *p <= '9' && *out < TM_GROUP_RANKS_MAX)
        *out = *out * 10 + (*p++ - '0');
    return p > begin && *out <= TM_GROUP_RANKS_MAX ? p : NULL;
}

/* Reads the numbers of a list such as "2,4]" up to the bracket. Returns NULL if the bracket is
 * missing. */
static const char *numbers(const char *p, const char *end, char close, int64_t *out, size_t max,
                           size_t *n) {
    for (*n = 0; p && p < end && *n < max;) {
        p = number(p, end, &out[(*n)++]);
        if (p && p < end && *p == close)
            return p + 1;
        if (!p || p == end || *p++ != ',')
            return NULL;
    }
    return NULL;
}

static bool skip(const char **p, const char *end, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - *p) < size || memcmp(*p, word, size) != 0)
        return false;
    *p += size;
    return true;
}

/* An array of shape `dims` that contains the numbers 0, 1, 2, ... It is read after its dimensions
 * were transposed. */
typedef struct iota {
    int64_t dims[DIMENSIONS], order[DIMENSIONS];
    size_t n;
} iota;

static int64_t iota_at(const iota *v, int64_t place) {
    int64_t strides[DIMENSIONS] = {0}, value = 0, stride = 1;
    for (size_t i = v->n; i-- > 0; stride *= v->dims[i])
        strides[i] = stride;
    for (size_t i = v->n; i-- > 0;) {
        int64_t size = v->dims[v->order[i]];
        value += place % size * strides[v->order[i]];
        place /= size;
    }
    return value;
}

static bool is_valid(const iota *v, int64_t n) {
    int64_t product = 1;
    uint32_t seen = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (v->dims[i] < 1 || v->order[i] >= (int64_t)v->n || product > TM_GROUP_RANKS_MAX)
            return false;
        seen |= UINT32_C(1) << v->order[i];
        product *= v->dims[i];
    }
    return product == n && seen == (UINT32_C(1) << v->n) - 1;
}

/* Finds the group of `own` in "[4,2]<=[2,4]T(1,0)". */
static bool iota_group(tm_text text, int64_t own, tm_vec *out) {
    const char *p = text.bytes + 1, *end = text.bytes + text.size;
    int64_t shape[2];
    size_t n;
    iota v;
    p = numbers(p, end, ']', shape, 2, &n);
    if (!p || n != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > TM_GROUP_RANKS_MAX / shape[1] ||
        !skip(&p, end, "<=["))
        return true;
    p = numbers(p, end, ']', v.dims, DIMENSIONS, &v.n);
    for (size_t i = 0; i < DIMENSIONS; i++)
        v.order[i] = (int64_t)i;
    n = v.n;
    if (p && skip(&p, end, "T("))
        p = numbers(p, end, ')', v.order, DIMENSIONS, &n);
    if (!p || p != end || n != v.n || !is_valid(&v, shape[0] * shape[1]))
        return true;
    int64_t place = 0, all = shape[0] * shape[1];
    while (place < all && iota_at(&v, place) != own)
        place++;
    for (int64_t i = 0, first = place / shape[1] * shape[1]; i < shape[1] && place < all; i++) {
        int64_t value = iota_at(&v, first + i);
        if (!tm_vec_append(out, &value, 1))
            return false;
    }
    return true;
}

/* Finds the group of `own` in "{{0,1},{2,3}}". */
static bool listed_group(tm_text text, int64_t own, tm_vec *out) {
    const char *p = text.bytes + 1, *end = text.bytes + text.size;
    while (p < end && *p == '{') {
        bool found = false;
        out->n = 0;
        do {
            int64_t value;
            p = number(p + 1, end, &value);
            if (!p || p == end) {
                out->n = 0;
                return true;
            }
            if (!tm_vec_append(out, &value, 1))
                return false;
            found = found || value == own;
        } while (*p == ',');
        if (found && *p == '}')
            return true;
        p += p + 1 < end && p[1] == ',' ? 2 : 1;
    }
    out->n = 0;
    return true;
}

static bool has(const tm_vec *values, int64_t value) {
    const int64_t *v = values->data;
    for (size_t i = 0; i < values->n; i++)
        if (v[i] == value)
            return true;
    return false;
}

enum { NO_END = -1, ABSURD = -2 };

/* Returns the next number of "{{0,1},{1,2}}", NO_END after the last. */
static int64_t next_end(const char **p, const char *end) {
    int64_t value = NO_END;
    while (*p < end && (**p < '0' || **p > '9'))
        (*p)++;
    if (*p < end && !(*p = number(*p, end, &value))) {
        *p = end;
        value = ABSURD;
    }
    return value;
}

/* Finds all numbers that the pairs of "{{0,1},{1,2}}" link to `own`. */
static bool linked(tm_text text, int64_t own, tm_vec *out) {
    tm_vec pairs = TM_VEC(int64_t);
    const char *p = text.bytes, *end = p + text.size;
    bool ok = true, valid = true;
    for (int64_t value; p < end && ok && valid;) {
        value = next_end(&p, end);
        valid = value != ABSURD && pairs.n < PAIRS_MAX;
        ok = value < 0 || !valid || tm_vec_append(&pairs, &value, 1);
    }
    const int64_t *v = pairs.data;
    ok = ok && tm_vec_append(out, &own, 1);
    for (size_t before = 0; before < out->n && ok;) {
        before = out->n;
        for (size_t i = 0; i + 1 < pairs.n && ok; i += 2) {
            bool first = has(out, v[i]), second = has(out, v[i + 1]);
            if (first != second)
                ok = tm_vec_append(out, &v[first ? i + 1 : i], 1);
        }
    }
    tm_vec_free(&pairs);
    out->n = valid && out->n > 1 ? out->n : 0;
    return ok;
}

static bool count_up(size_t n, tm_vec *out) {
    for (int64_t i = 0; i < (int64_t)n; i++)
        if (!tm_vec_append(out, &i, 1))
            return false;
    return true;
}

/* Finds the group that contains @p own. The groups have the numbers 0 to n - 1 as members. */
static bool find_numbers(const tm_hlo *hlo, int64_t own, size_t n, tm_vec *out) {
    tm_text pairs = tm_hlo_attribute(hlo, "source_target_pairs");
    tm_text groups = tm_hlo_attribute(hlo, "replica_groups");
    if (pairs.size > 0)
        return linked(pairs, own, out);
    if (groups.size == 0 || tm_text_is(groups, "{}"))
        return count_up(n, out);
    return groups.bytes[0] == '[' ? iota_group(groups, own, out) : listed_group(groups, own, out);
}

/* Adds the devices for which a number of a group stands. Returns false if out of memory. */
static bool add_devices(const tm_assignment *a, mode m, int64_t value, size_t own_at, tm_vec *out) {
    size_t own_part = own_at % a->n_parts, own_replica = own_at / a->n_parts;
    size_t at = m == REPLICAS ? (size_t)value * a->n_parts + own_part
                : m == PARTS  ? own_replica * a->n_parts + (size_t)value
                : m == GLOBAL ? (size_t)value
                              : (size_t)value * a->n_parts;
    size_t n = m == REPLICAS_OF_ALL_PARTS ? a->n_parts : 1;
    return tm_vec_append(out, &a->devices[at], n);
}

static size_t find_own(const tm_assignment *a, int64_t own) {
    size_t at = 0;
    while (at < a->n_replicas * a->n_parts && a->devices[at] != own)
        at++;
    return at;
}

static size_t number_at(const tm_assignment *a, mode m, size_t at) {
    return m == PARTS ? at % a->n_parts : m == GLOBAL ? at : at / a->n_parts;
}

int tm_hlo_ends(const tm_hlo *hlo, const tm_assignment *a, int64_t own) {
    tm_text pairs = tm_hlo_attribute(hlo, "source_target_pairs");
    size_t at = find_own(a, own);
    int64_t number = (int64_t)number_at(a, mode_of(hlo), at);
    int found = 0;
    if (at == a->n_replicas * a->n_parts)
        return 0;
    for (const char *p = pairs.bytes, *end = p + pairs.size; p < end;) {
        int64_t from = next_end(&p, end), to = next_end(&p, end);
        if (from >= 0 && to >= 0 && from != to)
            found |= (from == number ? TM_HLO_SENDS : 0) | (to == number ? TM_HLO_RECEIVES : 0);
    }
    return found;
}

bool tm_hlo_group(const tm_hlo *hlo, const tm_assignment *a, int64_t own, tm_vec *out) {
    tm_vec group = TM_VEC(int64_t);
    size_t at = find_own(a, own), all = a->n_replicas * a->n_parts;
    mode m = mode_of(hlo);
    size_t n = m == PARTS ? a->n_parts : m == GLOBAL ? all : a->n_replicas;
    out->n = 0;
    if (at == all)
        return true;
    bool ok = find_numbers(hlo, (int64_t)number_at(a, m, at), n, &group), valid = true;
    const int64_t *v = group.data;
    for (size_t i = 0; i < group.n && ok && valid; i++) {
        valid = v[i] >= 0 && v[i] < (int64_t)n;
        ok = !valid || add_devices(a, m, v[i], at, out);
    }
    tm_vec_free(&group);
    if (!valid)
        out->n = 0;
    tm_sort_values(out->data, out->n);
    return ok;
}

bool tm_assignment_all(const tm_assignment *a, tm_vec *out) {
    out->n = 0;
    if (!tm_vec_append(out, a->devices, a->n_replicas * a->n_parts))
        return false;
    tm_sort_values(out->data, out->n);
    return true;
}

uint32_t tm_hlo_group_name(tm_names *names, const char *what, const tm_vec *members, tm_text host) {
    const int64_t *v = members->data;
    tm_vec text = TM_VEC(char);
    bool ok = tm_vec_append(&text, what, strlen(what)) != NULL;
    for (size_t i = 0, last; i < members->n && ok; i = last + 1) {
        char part[48];
        for (last = i; last + 1 < members->n && v[last + 1] == v[last] + 1;)
            last++;
        int size = snprintf(part, sizeof part, "%s%" PRId64, i > 0 ? "," : " ", v[i]);
        if (last > i)
            size += snprintf(part + size, sizeof part - (size_t)size, "-%" PRId64, v[last]);
        ok = tm_vec_append(&text, part, (size_t)size) != NULL;
    }
    if (ok && host.size > 0)
        ok = tm_vec_append(&text, " of ", 4) && tm_vec_append(&text, host.bytes, host.size);
    uint32_t name = ok ? tm_names_intern(names, text.data, text.n) : TM_NAME_FAILED;
    tm_vec_free(&text);
    return name;
}
