#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"
#include "base/sorted.h"

enum { COUNT_LEAST = 3, ENDS_MOST = 3, ABOVE_NS = 10000, LARGE_BYTES = 1 << 20 };
static const double SLOWER = 1.3;

void tm_links_free(tm_links *network) {
    tm_vec_free(&network->ends);
    tm_vec_free(&network->slow);
}

static bool is_compared(const tm_instance *i) {
    return i->state == TM_INSTANCE_COMPLETE && i->n > 1 && (i->waits || i->transfers);
}

TM_ORDER_BY(by_place, tm_links_place, what, id);

/* Sets @p places to the places of an operation except the link, ascending. There must be room for n
 * + 1. Returns the number of its hosts; 0 if one of them is unknown. */
static size_t list_places(const tm_comm_record *r, size_t n, tm_links_host_of *host_of,
                          const void *context, tm_vec *places) {
    tm_links_place *v = places->data;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t host = host_of(context, r[i].rank);
        if (host == TM_NO_NAME)
            return 0;
        v[i] = (tm_links_place){TM_LINKS_HOST, host};
    }
    qsort(v, n, sizeof *v, by_place);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || v[kept - 1].id != v[i].id)
            v[kept++] = v[i];
    v[0].what = kept == 1 ? TM_LINKS_INSIDE : TM_LINKS_HOST;
    for (size_t i = 0; i < n && kept == 1; i++)
        v[i + 1] = (tm_links_place){TM_LINKS_RANK, r[i].rank}; /* ascending, as in tm_instance */
    places->n = kept == 1 ? n + 1 : kept;
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

static bool add_places(uint64_t group, const tm_vec *places, tm_vec *members) {
    const uint64_t all = tm_hash(TM_HASH_BEGIN, places->data, places->n * places->size);
    tm_links_member member = {group, {TM_LINKS_LINK, (int64_t)all}};
    bool ok = tm_vec_append(members, &member, 1) != NULL;
    for (size_t i = 0; i < places->n && ok; i++) {
        member.place = ((const tm_links_place *)places->data)[i];
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

/* Lists the places of each group once. */
tm_status tm_links_collect(const tm_collectives *c, tm_links_host_of *host_of, const void *context,
                           tm_vec *taken, tm_vec *members, tm_error *err) {
    const tm_instance *instances = c->instances.data;
    tm_keys groups = TM_KEYS(uint64_t);
    tm_vec places = TM_VEC(tm_links_place);
    bool ok = true;
    for (size_t i = 0; i < c->instances.n && ok; i++) {
        const tm_comm_record *r = (const tm_comm_record *)c->records.data + instances[i].first;
        places.n = 0;
        if (!is_compared(&instances[i]) || r->bytes <= 0)
            continue;
        ok = tm_vec_append(&places, NULL, instances[i].n + 1) != NULL;
        const size_t n = ok ? list_places(r, instances[i].n, host_of, context, &places) : 0;
        if (n < 1)
            continue;
        const tm_links_taken one = {class_of(r, instances[i].n, n), r->group,
                                    shortest(r, instances[i].n)};
        if (tm_keys_find(&groups, &r->group) == TM_NO_KEY)
            ok = tm_keys_add(&groups, &r->group) != TM_NO_KEY &&
                 add_places(r->group, &places, members);
        ok = ok && tm_vec_append(taken, &one, 1);
    }
    tm_keys_free(&groups);
    tm_vec_free(&places);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_links_summarise(tm_vec *taken, tm_vec *links, tm_error *err) {
    const tm_links_taken *v = taken->data;
    bool ok = true;
    tm_vec_sort(taken, by_taken);
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
    return order ? order : by_place(&x->place, &y->place);
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

static bool is_at(const field *f, uint64_t group, tm_links_place place) {
    const tm_links_member key = {group, place};
    return bsearch(&key, f->members->data, f->members->n, sizeof key, by_member) != NULL;
}

/* Of the links in [first, end), returns the median time of those at a place. If @p at is false,
 * returns the median time of those elsewhere. Returns -1 if there are none. */
static int64_t median_of(const field *f, size_t first, size_t end, tm_links_place place, bool at) {
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        if (is_at(f, f->links[i].group, place) == at)
            f->scratch[n++] = f->links[i].ns;
    return n > 0 ? tm_median_any(f->scratch, n) : -1;
}

/* Compares the links [first, end) of a class: links at a place with links elsewhere. False if there
 * is nothing to compare. */
static bool compare_class(const field *f, size_t first, size_t end, tm_links_place place,
                          tm_links_slow *out, bool *slow) {
    int64_t least_ns = INT64_MAX, most_ns = 0;
    *out = (tm_links_slow){.class = f->links[first].class,
                           .ns = median_of(f, first, end, place, true),
                           .others_ns = median_of(f, first, end, place, false)};
    for (size_t i = first; i < end; i++) {
        const tm_links_time *link = &f->links[i];
        if (is_at(f, link->group, place)) {
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

/* Returns whether a place's transfers are slow in all classes that tm_links_compare requires.
 * @param slow  vector of tm_links_slow; replaced */
static bool test_place(const field *f, tm_links_place place, tm_vec *slow, bool *ok) {
    int64_t smallest = LARGE_BYTES;
    slow->n = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0, end; i < f->n; i = end) {
            tm_links_slow one;
            bool is;
            end = end_of_class(f, i);
            if (!compare_class(f, i, end, place, &one, &is))
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

/* Returns whether places a and b always occur together: each group in the slow classes is at both
 * or at neither. */
static bool are_one(const field *f, const tm_links *found, tm_links_place a, tm_links_place b) {
    for (size_t i = 0; i < f->n; i++)
        if (find_slow(found, &f->links[i].class) &&
            is_at(f, f->links[i].group, a) != is_at(f, f->links[i].group, b))
            return false;
    return true;
}

static int by_time(const void *a, const void *b) {
    const tm_links_slow *x = a, *y = b;
    const double of_x = (double)x->count * (double)x->ns, of_y = (double)y->count * (double)y->ns;
    return of_x != of_y ? (of_x > of_y ? -1 : 1) : by_class(&x->class, &y->class);
}

static bool is_below(const void *element, const void *key) {
    return ((const tm_links_member *)element)->group < *(const uint64_t *)key;
}

/* Returns the first place of a group, and sets @p n to the number of its places. A place may occur
 * several times, next to one another. */
static const tm_links_member *places_of(const field *f, uint64_t group, size_t *n) {
    const tm_links_member *m = f->members->data;
    const size_t first = tm_bisect(m, f->members->n, sizeof *m, &group, is_below);
    for (*n = 0; first + *n < f->members->n && m[first + *n].group == group;)
        ++*n;
    return m + first;
}

/* Lists the places of one sort of the slowest group of each class. No other can be slow. */
static bool list_candidates(const field *f, tm_links_what what, tm_keys *places) {
    for (size_t i = 0, n; i < f->n; i = end_of_class(f, i)) {
        const tm_links_member *m = places_of(f, f->links[i].group, &n);
        for (size_t k = 0; k < n; k++)
            if (m[k].place.what == what && tm_keys_add(places, &m[k].place) == TM_NO_KEY)
                return false;
    }
    return true;
}

static bool is_end(tm_links_place place) {
    return place.what == TM_LINKS_HOST || place.what == TM_LINKS_RANK;
}

/* Replaces a link by its ends. */
static bool list_ends_of(const field *f, tm_vec *ends) {
    const tm_links_place link = *(const tm_links_place *)ends->data;
    bool ok = true;
    size_t n, i = 0;
    while (!is_at(f, f->links[i].group, link))
        i++;
    const tm_links_member *m = places_of(f, f->links[i].group, &n);
    ends->n = 0;
    for (size_t k = 0; k < n && ok; k++)
        if (is_end(m[k].place) && (k == 0 || by_member(&m[k - 1], &m[k]) != 0))
            ok = tm_vec_append(ends, &m[k].place, 1) != NULL;
    return ok;
}

/* Finds the slow places of one sort. Finds none if several do not always occur together. */
static bool find_places(const field *f, tm_links_what what, tm_links *out) {
    tm_keys places = TM_KEYS(tm_links_place);
    tm_vec slow = TM_VEC(tm_links_slow);
    bool ok = list_candidates(f, what, &places), one = true;
    for (size_t i = 0; i < places.keys.n && ok; i++) {
        const tm_links_place *place = (const tm_links_place *)places.keys.data + i;
        if (!test_place(f, *place, &slow, &ok))
            continue;
        if (out->ends.n == 0)
            ok = tm_vec_append(&out->slow, slow.data, slow.n) != NULL;
        else
            one = one && are_one(f, out, *(const tm_links_place *)out->ends.data, *place);
        ok = ok && tm_vec_append(&out->ends, place, 1);
    }
    if (ok && what == TM_LINKS_LINK && out->ends.n == 1)
        ok = list_ends_of(f, &out->ends);
    const tm_links_place *ends = out->ends.data;
    const bool any = what == TM_LINKS_LINK && out->ends.n > 0 && ends[0].what == TM_LINKS_RANK;
    if (!one || (out->ends.n > ENDS_MOST && !any))
        out->ends.n = out->slow.n = 0;
    tm_keys_free(&places);
    tm_vec_free(&slow);
    return ok;
}

/* Returns by how much all slow transfers together exceed the time of the others [ns]. */
static double excess_ns(const tm_links *found) {
    const tm_links_slow *v = found->slow.data;
    double sum = 0.0;
    for (size_t i = 0; i < found->slow.n; i++)
        sum += (double)v[i].count * (double)(v[i].ns - v[i].others_ns);
    return sum;
}

static bool find_slowest(const field *f, tm_links *out) {
    bool ok = true;
    for (int what = TM_LINKS_HOST; what <= TM_LINKS_LINK && ok; what++) {
        tm_links found = TM_LINKS();
        ok = find_places(f, (tm_links_what)what, &found);
        if (excess_ns(&found) > excess_ns(out)) {
            const tm_links less = *out;
            *out = found;
            found = less;
        }
        tm_links_free(&found);
    }
    if (out->ends.n > 1)
        qsort(out->ends.data, out->ends.n, out->ends.size, by_place);
    if (out->slow.n > 1)
        qsort(out->slow.data, out->slow.n, out->slow.size, by_time);
    return ok;
}

tm_status tm_links_compare(tm_vec *links, tm_vec *members, tm_links *out, tm_error *err) {
    tm_vec_sort(links, by_link);
    tm_vec_sort(members, by_member);
    const field f = {links->data, links->n, members, malloc((links->n + 1) * sizeof *f.scratch)};
    const bool ok = f.scratch && find_slowest(&f, out);
    free(f.scratch);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns whether all slow ends are places of an operation. */
static bool is_slow_at(const tm_links *network, const tm_vec *places) {
    const tm_links_place *slow = network->ends.data;
    for (size_t i = 0; i < network->ends.n; i++)
        if (!bsearch(&slow[i], places->data, places->n, places->size, by_place))
            return false;
    return true;
}

tm_status tm_links_factors(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, const tm_links *network, tm_vec *factors,
                           tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    tm_vec places = TM_VEC(tm_links_place);
    bool ok = true;
    for (size_t i = 0; i < collectives->instances.n && ok && network->ends.n > 0; i++) {
        const tm_instance *it = &instances[i];
        const tm_comm_record *r = (const tm_comm_record *)collectives->records.data + it->first;
        places.n = 0;
        if (!is_compared(it))
            continue;
        ok = tm_vec_append(&places, NULL, it->n + 1) != NULL;
        const size_t n = ok ? list_places(r, it->n, host_of, context, &places) : 0;
        const tm_links_class class = class_of(r, it->n, n);
        const tm_links_slow *slow = find_slow(network, &class);
        if (!slow || !is_slow_at(network, &places))
            continue;
        for (size_t k = 0; k < it->n && ok; k++) {
            const tm_links_factor one = {(uint64_t)r->rank << 32 | r->event,
                                         (double)slow->others_ns / (double)slow->ns, r[k].origin};
            ok = tm_vec_append(factors, &one, 1) != NULL;
        }
    }
    tm_vec_free(&places);
    return ok ? TM_OK : tm_fail_memory(err);
}
