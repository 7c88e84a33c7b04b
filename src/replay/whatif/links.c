#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"

enum { COUNT_LEAST = 3, HOSTS_MOST = 3, ABOVE_NS = 10000, LARGE_BYTES = 1 << 20 };
static const double SLOWER = 1.3;

void tm_links_free(tm_links *network) {
    tm_vec_free(&network->hosts);
    tm_vec_free(&network->slow);
}

static bool is_compared(const tm_instance *i) {
    return i->state == TM_INSTANCE_COMPLETE && i->n > 1 && (i->waits || i->transfers);
}

/* Sets @p hosts to the hosts of an operation, ascending. Returns their number; 0 if one of them is
 * unknown. */
static size_t list_hosts(const tm_comm_record *r, size_t n, tm_links_host_of *host_of,
                         const void *context, int64_t *hosts) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t host = host_of(context, r[i].rank);
        if (host == TM_NO_NAME)
            return 0;
        hosts[i] = host;
    }
    tm_sort_values(hosts, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || hosts[kept - 1] != hosts[i])
            hosts[kept++] = hosts[i];
    return kept;
}

static tm_links_class class_of(const tm_comm_record *r, size_t n, size_t n_hosts) {
    /* Sends in both directions belong to one class. */
    const bool pair = tm_collective_is_one_way(r->kind);
    return (tm_links_class){pair ? TM_COLL_SENDRECV : r->kind, r->bytes, (int64_t)n,
                            (int64_t)n_hosts};
}

static int by_class(const tm_links_class *x, const tm_links_class *y) {
    int order = tm_order_i64(x->kind, y->kind);
    order = order ? order : tm_order_i64(x->n_ranks, y->n_ranks);
    order = order ? order : tm_order_i64(x->n_hosts, y->n_hosts);
    return order ? order : tm_order_i64(x->bytes, y->bytes);
}

static int by_taken(const void *a, const void *b) {
    const tm_links_taken *x = a, *y = b;
    int order = by_class(&x->class, &y->class);
    order = order ? order : tm_order_u64(x->group, y->group);
    return order ? order : tm_order_i64(x->ns, y->ns);
}

static bool add_members(uint64_t group, const int64_t *hosts, size_t n, tm_vec *members) {
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const tm_links_member member = {group, hosts[i]};
        ok = tm_vec_append(members, &member, 1) != NULL;
    }
    return ok;
}

static int64_t shortest(const tm_comm_record *r, size_t n) {
    int64_t ns = INT64_MAX;
    for (size_t i = 0; i < n; i++)
        ns = r[i].end_ns - r[i].begin_ns < ns ? r[i].end_ns - r[i].begin_ns : ns;
    return ns;
}

/* Lists the hosts of each group once. */
tm_status tm_links_collect(const tm_collectives *c, tm_links_host_of *host_of, const void *context,
                           tm_vec *taken, tm_vec *members, tm_error *err) {
    const tm_instance *instances = c->instances.data;
    tm_keys groups = TM_KEYS(uint64_t);
    tm_vec hosts = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < c->instances.n && ok; i++) {
        const tm_comm_record *r = (const tm_comm_record *)c->records.data + instances[i].first;
        hosts.n = 0;
        if (!is_compared(&instances[i]) || r->bytes <= 0)
            continue;
        ok = tm_vec_append(&hosts, NULL, instances[i].n) != NULL;
        const size_t n = ok ? list_hosts(r, instances[i].n, host_of, context, hosts.data) : 0;
        if (n < 2)
            continue;
        const tm_links_taken one = {class_of(r, instances[i].n, n), r->group,
                                    shortest(r, instances[i].n)};
        if (tm_keys_find(&groups, &r->group) == TM_NO_KEY)
            ok = tm_keys_add(&groups, &r->group) != TM_NO_KEY &&
                 add_members(r->group, hosts.data, n, members);
        ok = ok && tm_vec_append(taken, &one, 1);
    }
    tm_keys_free(&groups);
    tm_vec_free(&hosts);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_links_summarise(tm_vec *taken, tm_vec *links, tm_error *err) {
    const tm_links_taken *v = taken->data;
    bool ok = true;
    if (taken->n > 1)
        qsort(taken->data, taken->n, taken->size, by_taken);
    for (size_t i = 0, end; i < taken->n && ok; i = end) {
        for (end = i + 1; end < taken->n && v[end].group == v[i].group &&
                          by_class(&v[end].class, &v[i].class) == 0;
             end++)
            ;
        const size_t n = end - i;
        const tm_links_time link = {v[i].class,      v[i].group,      (int64_t)n,
                                    v[i + n / 2].ns, v[i + n / 4].ns, v[i + 3 * n / 4].ns};
        ok = n < COUNT_LEAST || tm_vec_append(links, &link, 1);
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

static int by_member(const void *a, const void *b) {
    const tm_links_member *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    return order ? order : tm_order_i64(x->host, y->host);
}

static int by_link(const void *a, const void *b) {
    const tm_links_time *x = a, *y = b;
    int order = by_class(&x->class, &y->class);
    order = order ? order : tm_order_i64(y->ns, x->ns);
    return order ? order : tm_order_u64(x->group, y->group);
}

typedef struct field {
    const tm_links_time *links; /* [n] sorted by class; within a class, the slowest is first */
    size_t n;
    const tm_vec *members; /* vector of tm_links_member */
    int64_t *scratch;      /* [n] */
} field;

static bool crosses(const field *f, uint64_t group, int64_t host) {
    const tm_links_member key = {group, host};
    return bsearch(&key, f->members->data, f->members->n, sizeof key, by_member) != NULL;
}

/* Of the links in [first, end), returns the median time of those that involve a host. If @p across
 * is false, returns the median time of those that do not involve it. Returns -1 if there are
 * none. */
static int64_t median_of(const field *f, size_t first, size_t end, int64_t host, bool across) {
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        if (crosses(f, f->links[i].group, host) == across)
            f->scratch[n++] = f->links[i].ns;
    return n > 0 ? tm_median_any(f->scratch, n) : -1;
}

/* Compares the links [first, end) of a class: links that involve a host with links that do not.
 * False if there is nothing to compare. */
static bool compare_class(const field *f, size_t first, size_t end, int64_t host,
                          tm_links_slow *out, bool *slow) {
    int64_t least_ns = INT64_MAX, most_ns = 0;
    *out = (tm_links_slow){.class = f->links[first].class,
                           .ns = median_of(f, first, end, host, true),
                           .others_ns = median_of(f, first, end, host, false)};
    for (size_t i = first; i < end; i++) {
        const tm_links_time *link = &f->links[i];
        if (crosses(f, link->group, host)) {
            least_ns = link->low_ns < least_ns ? link->low_ns : least_ns;
            out->count += link->count;
        } else {
            most_ns = link->high_ns > most_ns ? link->high_ns : most_ns;
        }
    }
    *slow = least_ns > most_ns && (double)out->ns >= SLOWER * (double)out->others_ns &&
            out->ns - out->others_ns > ABOVE_NS;
    return out->ns >= 0 && out->others_ns >= 0;
}

static size_t end_of_class(const field *f, size_t first) {
    size_t end = first + 1;
    while (end < f->n && by_class(&f->links[first].class, &f->links[end].class) == 0)
        end++;
    return end;
}

/* Returns whether a host's transfers are slow in all classes that tm_links_compare requires.
 * @param slow  vector of tm_links_slow; replaced */
static bool test_host(const field *f, int64_t host, tm_vec *slow, bool *ok) {
    int64_t smallest = LARGE_BYTES;
    slow->n = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0, end; i < f->n; i = end) {
            tm_links_slow one;
            bool is;
            end = end_of_class(f, i);
            if (!compare_class(f, i, end, host, &one, &is))
                continue;
            if (pass == 1 && !is && one.class.bytes >= smallest)
                return false;
            if (pass == 1 || !is)
                continue;
            smallest = one.class.bytes < smallest ? one.class.bytes : smallest;
            *ok = *ok && tm_vec_append(slow, &one, 1);
        }
    return *ok && slow->n > 0;
}

static const tm_links_slow *find_slow(const tm_links *network, const tm_links_class *class) {
    const tm_links_slow *v = network->slow.data;
    for (size_t i = 0; i < network->slow.n; i++)
        if (by_class(&v[i].class, class) == 0)
            return &v[i];
    return NULL;
}

/* Returns whether hosts a and b always occur together: each group in the slow classes has both
 * hosts or neither. */
static bool are_one(const field *f, const tm_links *found, int64_t a, int64_t b) {
    for (size_t i = 0; i < f->n; i++)
        if (find_slow(found, &f->links[i].class) &&
            crosses(f, f->links[i].group, a) != crosses(f, f->links[i].group, b))
            return false;
    return true;
}

static int by_time(const void *a, const void *b) {
    const tm_links_slow *x = a, *y = b;
    const double of_x = (double)x->count * (double)x->ns, of_y = (double)y->count * (double)y->ns;
    return of_x != of_y ? (of_x > of_y ? -1 : 1) : by_class(&x->class, &y->class);
}

/* Lists the hosts of the slowest group of each class. No other host can be slow. */
static bool list_candidates(const field *f, tm_keys *hosts) {
    const tm_links_member *m = f->members->data;
    for (size_t i = 0; i < f->n; i = end_of_class(f, i))
        for (size_t k = 0; k < f->members->n; k++)
            if (m[k].group == f->links[i].group && tm_keys_add(hosts, &m[k].host) == TM_NO_KEY)
                return false;
    return true;
}

static bool find_hosts(const field *f, tm_links *out) {
    tm_keys hosts = TM_KEYS(int64_t);
    tm_vec slow = TM_VEC(tm_links_slow);
    bool ok = list_candidates(f, &hosts), one = true;
    for (size_t i = 0; i < hosts.keys.n && ok; i++) {
        const int64_t host = ((const int64_t *)hosts.keys.data)[i];
        if (!test_host(f, host, &slow, &ok))
            continue;
        one =
            one && (out->hosts.n == 0 || are_one(f, out, *(const int64_t *)out->hosts.data, host));
        if (out->hosts.n == 0)
            ok = tm_vec_append(&out->slow, slow.data, slow.n) != NULL;
        ok = ok && tm_vec_append(&out->hosts, &host, 1);
    }
    if (!one || out->hosts.n > HOSTS_MOST)
        out->hosts.n = out->slow.n = 0;
    if (out->hosts.n > 1)
        qsort(out->hosts.data, out->hosts.n, out->hosts.size, tm_compare_i64);
    if (out->slow.n > 1)
        qsort(out->slow.data, out->slow.n, out->slow.size, by_time);
    tm_keys_free(&hosts);
    tm_vec_free(&slow);
    return ok;
}

tm_status tm_links_compare(tm_vec *links, tm_vec *members, tm_links *out, tm_error *err) {
    if (links->n > 1)
        qsort(links->data, links->n, links->size, by_link);
    if (members->n > 1)
        qsort(members->data, members->n, members->size, by_member);
    const field f = {links->data, links->n, members, malloc((links->n + 1) * sizeof *f.scratch)};
    const bool ok = f.scratch && find_hosts(&f, out);
    free(f.scratch);
    return ok ? TM_OK : tm_fail_memory(err);
}

static bool is_across(const tm_links *network, const int64_t *hosts, size_t n) {
    const int64_t host = *(const int64_t *)network->hosts.data;
    for (size_t i = 0; i < n; i++)
        if (hosts[i] == host)
            return true;
    return false;
}

tm_status tm_links_factors(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, const tm_links *network, tm_vec *factors,
                           tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    tm_vec hosts = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < collectives->instances.n && ok && network->hosts.n > 0; i++) {
        const tm_instance *it = &instances[i];
        const tm_comm_record *r = (const tm_comm_record *)collectives->records.data + it->first;
        hosts.n = 0;
        if (!is_compared(it))
            continue;
        ok = tm_vec_append(&hosts, NULL, it->n) != NULL;
        const size_t n = ok ? list_hosts(r, it->n, host_of, context, hosts.data) : 0;
        const tm_links_class class = class_of(r, it->n, n);
        const tm_links_slow *slow = find_slow(network, &class);
        if (!slow || !is_across(network, hosts.data, n))
            continue;
        for (size_t k = 0; k < it->n && ok; k++) {
            const tm_links_factor one = {(uint64_t)r->rank << 32 | r->event,
                                         (double)slow->others_ns / (double)slow->ns, r[k].origin};
            ok = tm_vec_append(factors, &one, 1) != NULL;
        }
    }
    tm_vec_free(&hosts);
    return ok ? TM_OK : tm_fail_memory(err);
}
