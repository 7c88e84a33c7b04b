#include "most_exposed.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"

TM_ORDER_FALLING(by_place, tm_exposed_key, exposed_ns, begin_ns, rank, event);

static int by_kind(const void *a, const void *b) {
    const tm_exposed_key *x = a, *y = b;
    int order = tm_order_i64(x->kind, y->kind);
    return order ? order : by_place(a, b);
}

static int by_kind_and_longest(const void *a, const void *b) {
    const tm_exposed_key *x = a, *y = b;
    int order = tm_order_i64(x->kind, y->kind);
    order = order ? order : tm_order_i64(y->longest_ns, x->longest_ns);
    return order ? order : by_place(a, b);
}

/* Sorts n keys. @p order sorts by kind first. Then appends the first TM_EXPOSED_MAX keys of each
 * kind. */
static bool take_first(tm_exposed_key *keys, size_t n, int (*order)(const void *, const void *),
                       tm_vec *out) {
    size_t taken = 0;
    qsort(keys, n, sizeof *keys, order);
    for (size_t i = 0; i < n; i++) {
        taken = i > 0 && keys[i].kind == keys[i - 1].kind ? taken + 1 : 0;
        if (taken < TM_EXPOSED_MAX && !tm_vec_append(out, &keys[i], 1))
            return false;
    }
    return true;
}

/* For each kind, keeps the keys with the largest sums of exposed times, and the keys with the
 * largest single exposed times. Sorts the kept keys with by_place, and removes duplicates. A
 * process may call cut for its own operations before the keys of all processes are joined: this
 * does not change the final result. */
static tm_status cut(tm_vec *keys, tm_error *err) {
    tm_vec kept = TM_VEC(tm_exposed_key);
    const bool ok = keys->n == 0 || (take_first(keys->data, keys->n, by_kind, &kept) &&
                                     take_first(keys->data, keys->n, by_kind_and_longest, &kept));
    tm_exposed_key *v = kept.data;
    size_t n = 0;
    tm_vec_sort(&kept, by_place);
    for (size_t i = 0; i < kept.n; i++)
        if (n == 0 || by_place(&v[n - 1], &v[i]) != 0)
            v[n++] = v[i];
    kept.n = n;
    tm_vec_free(keys);
    *keys = kept;
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_exposed_key key_of(const tm_collectives *collectives, const tm_instance *instance) {
    const tm_comm_record *members =
        (const tm_comm_record *)collectives->records.data + instance->first;
    tm_exposed_key key = {.begin_ns = members->begin_ns,
                          .rank = members->rank,
                          .event = members->event,
                          .kind = tm_operation_kind(members)};
    for (size_t i = 0; i < instance->n; i++) {
        if (members[i].exposed_ns < 0) /* if one member's time is unknown, so is the sum */
            return (tm_exposed_key){.exposed_ns = -1};
        key.exposed_ns = tm_sum(key.exposed_ns, members[i].exposed_ns);
        key.longest_ns =
            members[i].exposed_ns > key.longest_ns ? members[i].exposed_ns : key.longest_ns;
        key.begin_ns = members[i].begin_ns < key.begin_ns ? members[i].begin_ns : key.begin_ns;
    }
    return key;
}

tm_status tm_exposed_find(const tm_collectives *collectives, tm_vec *out, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        tm_exposed_key key = key_of(collectives, &instances[i]);
        if (key.exposed_ns >= 0 && !tm_vec_append(out, &key, 1))
            return tm_fail_memory(err);
    }
    return cut(out, err);
}

tm_status tm_exposed_keep(tm_vec *all, tm_collectives *collectives, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    TM_TRY(cut(all, err));
    const tm_exposed_key *keys = all->data;
    for (size_t i = 0; i < collectives->instances.n && all->n > 0; i++) {
        tm_exposed_key key = key_of(collectives, &instances[i]);
        const tm_exposed_key *found = bsearch(&key, keys, all->n, sizeof key, by_place);
        tm_worst kept = {i, found ? found - keys : 0};
        if (found && !tm_vec_append(&collectives->exposed, &kept, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}
