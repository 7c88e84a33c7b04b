#include "delay.h"

#include <math.h>
#include <stdlib.h>

#include "base/sorted.h"

typedef struct arrival {
    int64_t begin_ns, end_ns, rank;
    size_t member; /* index among the operation's records */
} arrival;

/* The arrivals at an operation, and working memory. All arrays have n elements, in the order of the
 * arrivals. */
typedef struct meeting {
    arrival *arrivals;
    size_t n;
    bool any_cut;                  /* some kernel ends before the last kernel begins */
    double *weight, *gone, *part;  /* `weight` is the input of layer(); `gone` and `part` are its
                                      working memory */
    double *cost, *waited, *begun; /* results */
} meeting;

static bool carries(const tm_instance *instance) {
    return instance->waits || instance->transfers;
}

tm_status tm_delay_participants(const tm_collectives *collectives, int owner, tm_vec *participants,
                                tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    const tm_comm_record *records = collectives->records.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        const tm_instance *instance = &instances[i];
        if (!carries(instance))
            continue;
        for (size_t k = instance->first; k < instance->first + instance->n; k++) {
            tm_participant participant = {
                .group = records[k].group,
                .rank = records[k].rank,
                .wait_ns = tm_member_wait(&records[k], instance->last_ns),
                .event = records[k].event,
                .member = (uint32_t)k, /* 32 bits suffice: tm_mpi_shuffle allows at most 2^31
                                          records per process */
                .owner = owner,
                .origin = records[k].origin,
                .transfer = !instance->waits,
            };
            if (!tm_vec_append(participants, &participant, 1))
                return tm_fail_memory(err);
        }
    }
    return TM_OK;
}

TM_ORDER_BY(by_member, tm_participant, member);

void tm_delay_sort(tm_vec *participants) {
    tm_vec_sort(participants, by_member);
}

void tm_delay_together(const tm_collectives *collectives, tm_participant *participants) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        size_t n = instances[i].n, n_released = 0, n_waited = 0;
        if (!carries(&instances[i]))
            continue;
        for (size_t k = 0; k < n; k++) {
            n_released += participants[k].released;
            n_waited += participants[k].released && participants[k].wait_ns > 0;
        }
        for (size_t k = 0; k < n; k++)
            participants[k].together = participants[k].transfer ? n_waited > 0 : n_released == n;
        participants += n;
    }
}

TM_ORDER_BY(by_begin, arrival, begin_ns, rank);

static void close_meeting(meeting *m) {
    free(m->arrivals);
    free(m->weight);
    *m = (meeting){0};
}

static bool open_meeting(meeting *m, const tm_comm_record *members, const tm_instance *instance) {
    enum { N_COLUMNS = 6 };
    size_t n = instance->n;
    *m = (meeting){.n = n, .arrivals = malloc(n * sizeof *m->arrivals)};
    m->weight = calloc(n, N_COLUMNS * sizeof(double));
    if (!m->arrivals || !m->weight) {
        close_meeting(m);
        return false;
    }
    double **columns[N_COLUMNS - 1] = {&m->gone, &m->part, &m->cost, &m->waited, &m->begun};
    for (size_t c = 1; c < N_COLUMNS; c++)
        *columns[c - 1] = m->weight + c * n;
    for (size_t i = 0; i < n; i++) {
        m->arrivals[i] = (arrival){members[i].begin_ns, members[i].end_ns, members[i].rank, i};
        m->any_cut = m->any_cut || members[i].end_ns < instance->last_ns;
    }
    qsort(m->arrivals, n, sizeof *m->arrivals, by_begin);
    return true;
}

/* Returns the gap in which kernel i ends. Gap j starts with arrival j. */
static size_t gap_of_end(const meeting *m, size_t i) {
    size_t next = i + 1;
    return i + TM_FIRST_AFTER(arrival, begin_ns, m->arrivals + next, m->n - next,
                              m->arrivals[i].end_ns);
}

/* If a kernel ends before the last arrival, removes its weight from the gaps after its end. */
static void cut_weights(meeting *m) {
    for (size_t i = 0; i < m->n; i++)
        m->gone[i] = m->part[i] = 0.0;
    for (size_t i = 0; i + 1 < m->n && m->any_cut; i++) {
        int64_t end = m->arrivals[i].end_ns;
        size_t gap = gap_of_end(m, i);
        m->gone[gap] += m->weight[i];
        if (end > m->arrivals[gap].begin_ns)
            m->part[gap] += m->weight[i] * (double)(end - m->arrivals[gap].begin_ns);
    }
}

/* Splits the wait in layers, as blame.h describes, with a weight for the wait of each early rank.
 * Sets @p late to the sums of the late ranks. Takes one pass over the arrivals. */
static void layer(meeting *m, double *late) {
    double active = 0.0, sum = 0.0;
    cut_weights(m);
    late[0] = 0.0;
    for (size_t j = 0; j + 1 < m->n; j++) {
        int64_t gap = m->arrivals[j + 1].begin_ns - m->arrivals[j].begin_ns;
        active += m->weight[j];
        active -= m->gone[j];
        sum += (active * (double)gap + m->part[j]) / (double)(m->n - j - 1);
        late[j + 1] = sum;
    }
}

/* Computes the cost of each late rank, and the sums `waited` and `begun`. A sum divided by the cost
 * is a mean of delay.h: `waited` gives W, and `begun` gives s. Here, s counts from the first
 * arrival. */
static void set_means(meeting *m, const tm_participant *participants) {
    for (size_t i = 0; i < m->n; i++)
        m->weight[i] = 1.0;
    layer(m, m->cost);
    for (size_t i = 0; i < m->n; i++)
        m->weight[i] = (double)participants[m->arrivals[i].member].all_ns;
    layer(m, m->waited);
    for (size_t i = 0; i < m->n; i++)
        m->weight[i] = (double)(m->arrivals[i].begin_ns - m->arrivals[0].begin_ns);
    layer(m, m->begun);
}

static double fraction_of(const meeting *m, size_t i, const tm_participant *participants) {
    if (!(m->cost[i] > 0.0))
        return 0.0;
    double waited =
        (double)participants[m->arrivals[i].member].other_ns - m->waited[i] / m->cost[i];
    double late =
        (double)(m->arrivals[i].begin_ns - m->arrivals[0].begin_ns) - m->begun[i] / m->cost[i];
    if (!(waited > 0.0))
        return 0.0;
    return waited < late ? waited / late : 1.0;
}

static bool add_pending_cost(tm_delay_flow *flow, const tm_comm_record *member, int64_t step,
                             int64_t ns) {
    tm_pending_cost pending_cost = {member->rank, step, ns, member->event, member->origin};
    return ns == 0 || tm_vec_append(&flow->pending_costs, &pending_cost, 1);
}

static bool add_cost(tm_delay_flow *flow, tm_cost cost) {
    return (cost.passed_ns == 0 && cost.indirect_ns == 0) || tm_vec_append(&flow->costs, &cost, 1);
}

static bool begin_instance(const tm_comm_record *members, const tm_instance *instance,
                           const tm_participant *participants, double *fractions,
                           tm_delay_flow *flow) {
    meeting m;
    bool ok = open_meeting(&m, members, instance);
    if (!ok)
        return false;
    set_means(&m, participants);
    for (size_t i = 0; i < m.n && ok; i++) {
        const tm_comm_record *member = &members[m.arrivals[i].member];
        double fraction = fraction_of(&m, i, participants);
        /* The part of the cost that is passed on. It is rounded down, so that it is not more than
         * the rank has caused. A transfer passes nothing on here, because it has no caused wait. */
        int64_t passed = instance->waits ? (int64_t)floor(fraction * m.cost[i]) : 0;
        fractions[m.arrivals[i].member] = fraction;
        ok = add_pending_cost(flow, member, members->step, passed) &&
             add_cost(flow, (tm_cost){member->rank, members->step, passed, 0});
    }
    close_meeting(&m);
    return ok;
}

tm_status tm_delay_begin(const tm_collectives *collectives, const tm_participant *participants,
                         double *fractions, tm_delay_flow *flow, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    const tm_comm_record *records = collectives->records.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        size_t first = instances[i].first;
        if (!carries(&instances[i]))
            continue;
        if (!begin_instance(&records[first], &instances[i], participants, fractions + first, flow))
            return tm_fail_memory(err);
        participants += instances[i].n;
    }
    return TM_OK;
}

/* Cost of one step that was passed back to one rank, because the rank waited in one operation. */
typedef struct share {
    const tm_instance *instance;
    int64_t step, ns;
    size_t member; /* index among the operation's records */
} share;

TM_ORDER_BY(by_place, share, instance, step, member);

static const tm_instance *instance_of(const tm_collectives *collectives, size_t member) {
    const tm_vec *instances = &collectives->instances;
    size_t next = TM_FIRST_AFTER(tm_instance, first, instances->data, instances->n, member);
    return (const tm_instance *)instances->data + next - 1;
}

/* Collects the cost that was passed back, with one sum for each operation, step and member. */
static bool gather_shares(const tm_collectives *collectives, const tm_vec *cost_shares,
                          tm_vec *out) {
    const tm_cost_share *v = cost_shares->data;
    for (size_t i = 0; i < cost_shares->n; i++) {
        const tm_instance *instance = instance_of(collectives, v[i].member);
        share s = {instance, v[i].step, v[i].ns, v[i].member - instance->first};
        if (!tm_vec_append(out, &s, 1))
            return false;
    }
    share *shares = out->data;
    size_t n = 0;
    tm_vec_sort(out, by_place);
    for (size_t i = 0; i < out->n; i++) {
        if (n > 0 && by_place(&shares[n - 1], &shares[i]) == 0)
            shares[n - 1].ns += shares[i].ns;
        else
            shares[n++] = shares[i];
    }
    out->n = n;
    return true;
}

/* Splits n shares of one operation and step among the late ranks: sets m->cost. Returns the sum of
 * the shares. */
static int64_t weigh_shares(meeting *m, const tm_comm_record *members, const share *shares,
                            size_t n) {
    int64_t total = 0;
    for (size_t i = 0; i < m->n; i++)
        m->begun[i] = 0.0; /* until the loop below, `begun` is indexed by member, not by arrival */
    for (size_t i = 0; i < n; i++) {
        int64_t wait = tm_member_wait(&members[shares[i].member], shares[i].instance->last_ns);
        m->begun[shares[i].member] = (double)shares[i].ns / (double)wait;
        total += shares[i].ns;
    }
    for (size_t i = 0; i < m->n; i++)
        m->weight[i] = m->begun[m->arrivals[i].member];
    layer(m, m->cost);
    return total;
}

/* Splits the shares of one operation and step into whole nanoseconds. The exact parts are added up,
 * and each sum is rounded. The difference of two successive rounded sums is the part in whole
 * nanoseconds, so the parts add up exactly. */
static bool split_shares(const tm_comm_record *members, const share *shares, size_t n,
                         const double *fractions, tm_delay_flow *flow) {
    meeting m;
    bool ok = open_meeting(&m, members, shares->instance);
    if (!ok)
        return false;
    int64_t total = weigh_shares(&m, members, shares, n), given = 0;
    double sum = 0.0;
    for (size_t i = 0; i < m.n && ok; i++) {
        const tm_comm_record *member = &members[m.arrivals[i].member];
        sum += m.cost[i];
        bool rest = i + 1 == m.n || sum >= (double)total;
        int64_t part = (rest ? total : (int64_t)floor(sum + 0.5)) - given;
        int64_t passed = (int64_t)floor(fractions[m.arrivals[i].member] * (double)part + 0.5);
        passed = passed < part ? passed : part;
        given += part;
        ok = add_pending_cost(flow, member, shares->step, passed) &&
             add_cost(flow, (tm_cost){member->rank, shares->step, 0, part - passed});
    }
    close_meeting(&m);
    return ok;
}

tm_status tm_delay_split(const tm_collectives *collectives, const double *fractions,
                         tm_vec *cost_shares, tm_delay_flow *flow, tm_error *err) {
    const tm_comm_record *records = collectives->records.data;
    tm_vec shares = TM_VEC(share);
    bool ok = gather_shares(collectives, cost_shares, &shares);
    const share *v = shares.data;
    tm_vec_free(cost_shares);
    for (size_t first = 0, i = 0; first < shares.n && ok; first = i) {
        size_t member = v[first].instance->first;
        for (i = first + 1;
             i < shares.n && v[i].instance == v[first].instance && v[i].step == v[first].step; i++)
            ;
        ok = split_shares(&records[member], &v[first], i - first, fractions + member, flow);
    }
    tm_vec_free(&shares);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_delay_end(tm_delay_flow *flow, tm_error *err) {
    const tm_pending_cost *pending_costs = flow->pending_costs.data;
    for (size_t i = 0; i < flow->pending_costs.n; i++)
        if (!add_cost(flow, (tm_cost){pending_costs[i].rank, pending_costs[i].step, 0,
                                      pending_costs[i].ns}))
            return tm_fail_memory(err);
    flow->pending_costs.n = 0;
    return TM_OK;
}

TM_ORDER_BY(by_rank, tm_cost, rank, step);

void tm_delay_settle(tm_vec *costs) {
    tm_cost *v = costs->data;
    size_t n = 0;
    tm_vec_sort(costs, by_rank);
    for (size_t i = 0; i < costs->n; i++) {
        if (n > 0 && by_rank(&v[n - 1], &v[i]) == 0) {
            v[n - 1].passed_ns += v[i].passed_ns;
            v[n - 1].indirect_ns += v[i].indirect_ns;
        } else {
            v[n++] = v[i];
        }
    }
    costs->n = n;
}
