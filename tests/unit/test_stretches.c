/* Operations at which a group's ranks can be compared, and their own work in between. */
#include "waits/stretches.h"

#include "timeline_fixture.h"
#include "waits/rank_waits.h"

/* Another kernel of the rank. The operation is on stream 20 in [100, 200) us. */
typedef struct beside {
    int stream;
    int64_t begin_ns, end_ns;
    bool communicates;
} beside;

typedef struct scene {
    beside events[4];
    bool computes, follows;
    int64_t done_ns;
} scene;

static const scene scenes[] = {
    /* Before the operation: nothing; one kernel; two: the one that ends last counts. */
    {{{0}}, false, false, 100000},
    {{{7, 50000, 80000, false}}, false, false, 80000},
    {{{7, 10000, 90000, false}, {8, 20000, 50000, false}}, false, false, 90000},
    /* Inside the operation, until 1 us before its end or earlier. */
    {{{7, 120000, 150000, false}}, true, false, 100000},
    {{{7, 150000, 199000, false}}, true, false, 100000},
    /* A kernel that begins with the operation does not begin after it. */
    {{{7, 100000, 150000, false}}, false, false, 100000},
    /* On another stream: runs until 1 us before the end, or begins and ends later. */
    {{{7, 150000, 199001, false}}, true, false, 100000},
    {{{7, 150000, 250000, false}}, true, false, 100000},
    {{{7, 50000, 250000, false}}, true, false, 100000},
    {{{7, 199001, 250000, false}}, false, false, 100000},
    {{{7, 199500, 199900, false}}, false, false, 100000},
    /* On the same stream: a kernel that was launched early begins before the end, and continues. */
    {{{20, 190000, 260000, false}}, false, false, 100000},
    /* Another stream has a kernel, too, whichever is longer or began first. */
    {{{20, 190000, 260000, false}, {7, 150000, 210000, false}}, true, false, 100000},
    {{{20, 150000, 260000, false}, {7, 190000, 210000, false}}, true, false, 100000},
    {{{20, 190000, 260000, false}, {7, 150000, 300000, false}}, true, false, 100000},
    {{{20, 190000, 260000, false}, {7, 40000, 90000, false}}, false, false, 90000},
    /* Communication is not computation. */
    {{{21, 120000, 150000, true}}, false, false, 100000},
    /* The operation must follow another on its stream within 5 us: not later, not on another
     * stream, not with a kernel in between. */
    {{{20, 10000, 95000, true}}, false, true, 100000},
    {{{20, 10000, 94999, true}}, false, false, 100000},
    {{{21, 10000, 99000, true}}, false, false, 100000},
    {{{20, 10000, 96000, true}, {20, 97000, 98000, false}}, false, false, 98000},
};

TEST(a_rank_tells_when_it_computed) {
    for (size_t t = 0; t < COUNT(scenes); t++) {
        ground g = open_ground();
        event_spec events[8] = {{TM_CAT_KERNEL, "op", 100000, 100000, 0, 20, 0, "allreduce", 0}};
        size_t n = 1;
        for (const beside *b = scenes[t].events; b->end_ns > 0; b++)
            events[n++] = (event_spec){.category = TM_CAT_KERNEL,
                                       .name = b->communicates ? "other" : "gemm",
                                       .begin_ns = b->begin_ns,
                                       .duration_ns = b->end_ns - b->begin_ns,
                                       .where = b->stream,
                                       .collective = b->communicates ? "allreduce" : NULL};
        tm_timeline timeline = build_one(&g, 5, events, n);
        tm_participant participant = {.event = row_named(&g, &timeline, "op")};
        assert_int_equal(tm_stretches_look(&timeline, &participant, 1, &g.err), TM_OK);
        if (participant.computes != scenes[t].computes ||
            participant.follows != scenes[t].follows || participant.done_ns != scenes[t].done_ns ||
            participant.host != timeline.host)
            fail_msg("row %zu: computes %d, follows %d, done %lld", t, participant.computes,
                     participant.follows, (long long)participant.done_ns);
        tm_timeline_destroy(&timeline);
        close_ground(&g);
    }
}

/* An operation of two ranks, and the arrival they agree on. */
static const struct {
    bool waits, transfers;
    bool follows[2], computes[2];
    tm_arrival arrival;
    bool meets;
    int64_t own_ns[2]; /* as reported; used if waits are known and all ranks have one */
    bool taken;
} operations[] = {
    {true, false, {false, false}, {false, false}, TM_ARRIVAL_BEGIN, true, {50, 0}, true},
    {true, false, {false, false}, {false, true}, TM_ARRIVAL_BEGIN, false, {60, -1}, false},
    /* The operation neither waits nor transfers, so it has no participations. */
    {false, false, {false, false}, {false, false}, TM_ARRIVAL_UNKNOWN, false, {0, 0}, false},
    {true, false, {true, false}, {false, false}, TM_ARRIVAL_DONE, true, {70, 71}, true},
    {false, true, {false, false}, {false, false}, TM_ARRIVAL_BEGIN, true, {80, 81}, false},
    {true, false, {false, true}, {true, false}, TM_ARRIVAL_UNKNOWN, false, {-1, -1}, false},
    {true, false, {true, true}, {false, false}, TM_ARRIVAL_DONE, true, {90, 91}, true},
};

TEST(members_agree_on_their_arrival) {
    enum { N = COUNT(operations) };
    tm_collectives c = {.records = TM_VEC(tm_comm_record), .instances = TM_VEC(tm_instance)};
    tm_vec own = TM_VEC(tm_own_time);
    tm_participant participants[2 * N];
    tm_error err;
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        tm_instance instance = {.first = 2 * i,
                                .n = 2,
                                .last_ns = 1000 - (int64_t)i,
                                .waits = operations[i].waits,
                                .transfers = operations[i].transfers};
        assert_non_null(tm_vec_append(&c.instances, &instance, 1));
        for (size_t k = 0; k < 2; k++) {
            tm_comm_record record = {
                .group = 9 - i % 2, .key = i, .rank = 10 + (int64_t)k, .step = 4};
            assert_non_null(tm_vec_append(&c.records, &record, 1));
            if (operations[i].waits || operations[i].transfers)
                participants[n++] = (tm_participant){.follows = operations[i].follows[k],
                                                     .computes = operations[i].computes[k],
                                                     .own_ns = operations[i].own_ns[k],
                                                     .host = 3};
        }
    }
    tm_stretches_agree(&c, participants);
    assert_int_equal(tm_stretches_take(&c, participants, &own, &err), TM_OK);
    for (size_t i = 0, v = 0, taken = 0; i < N; i++)
        for (size_t k = 0; k < 2 && (operations[i].waits || operations[i].transfers); k++, v++) {
            if (participants[v].arrival != operations[i].arrival ||
                participants[v].meets != operations[i].meets)
                fail_msg("row %zu: %d, %d", i, participants[v].arrival, participants[v].meets);
            if (!operations[i].taken)
                continue;
            const tm_own_time *o = (const tm_own_time *)own.data + taken++;
            assert_true(taken <= own.n);
            assert_int_equal(o->key, i);
            assert_int_equal(o->rank, 10 + k);
            assert_int_equal(o->ns, operations[i].own_ns[k]);
            assert_int_equal(o->last_ns, 1000 - (int64_t)i);
            assert_int_equal(o->step, 4);
            assert_int_equal(o->host, 3);
        }
    assert_int_equal(own.n, 6);
    /* Operation 3 is of group 8; 6, and then 0, are of group 9. Each has two members. */
    static const uint64_t keys[] = {3, 3, 6, 6, 0, 0};
    assert_int_equal(tm_stretches_sort(&own), 4);
    for (size_t i = 0; i < own.n; i++) {
        assert_int_equal(((const tm_own_time *)own.data)[i].key, keys[i]);
        assert_int_equal(((const tm_own_time *)own.data)[i].rank, 10 + i % 2);
    }
    tm_vec_free(&own);
    tm_vec_free(&c.records);
    tm_vec_free(&c.instances);
}

/* A rank computes in [0, 100), [200, 300), [400, 500), [600, 700). Group A has operations in [100,
 * 200), with a wait of 80, [500, 600) and [700, 800). Group B has one in [300, 400), which waits 80
 * and releases the rank. The rank had computed until 490 before A's second operation, and until 650
 * before A's third. */
#define BEGIN TM_ARRIVAL_BEGIN
#define DONE TM_ARRIVAL_DONE
#define UNKNOWN TM_ARRIVAL_UNKNOWN
static const struct {
    struct {
        tm_arrival arrival;
        bool meets;
    } of_a[3];
    int64_t own_ns[3];
} stretches[] = {
    /* own times are 500 - 200 - B's wait of 80, and 700 - 600 */
    {{{BEGIN, true}, {BEGIN, true}, {BEGIN, true}}, {-1, 220, 100}},
    /* own time from begin to begin, with A's waits: 500 - 100 - 80; 700 - 500 */
    {{{BEGIN, false}, {BEGIN, false}, {BEGIN, false}}, {-1, 320, 200}},
    /* if arrivals are the ends of computation: 490 - 200 - 80; 650 - 600 */
    {{{DONE, true}, {DONE, true}, {DONE, true}}, {-1, 210, 50}},
    /* if the arrival in between is unknown: 700 - 200 - 80; 700 - 100 - 80 */
    {{{BEGIN, true}, {UNKNOWN, false}, {BEGIN, false}}, {-1, -1, 420}},
    {{{BEGIN, false}, {UNKNOWN, false}, {BEGIN, false}}, {-1, -1, 520}},
    {{{UNKNOWN, false}, {BEGIN, false}, {DONE, true}}, {-1, -1, 150}},
};

TEST(own_time_leaves_out_waits_of_other_groups) {
    enum { A = 1, B = 2 };
    static const struct {
        const char *name;
        uint64_t group;
        int64_t begin_ns, wait_ns, done_ns;
    } ops[] = {{"a", A, 100, 80, 100},
               {"b", B, 300, 80, 300},
               {"c", A, 500, 0, 490},
               {"d", A, 700, 0, 650}};
    for (size_t t = 0; t < COUNT(stretches); t++) {
        ground g = open_ground();
        event_spec events[8];
        tm_vec participants = TM_VEC(tm_participant);
        tm_rank_waits held = tm_rank_waits_open();
        for (size_t i = 0; i < 4; i++) {
            events[i] = (event_spec){TM_CAT_KERNEL,          ops[i].name, ops[i].begin_ns, 100, 0,
                                     20 + (int)ops[i].group, 0,           "allreduce",     0};
            events[4 + i] =
                (event_spec){TM_CAT_KERNEL, "gemm", 200 * (int64_t)i, 100, 0, 7, 0, 0, 0};
        }
        tm_timeline timeline = build_one(&g, 5, events, COUNT(events));
        for (size_t i = 0, a = 0; i < 4; i++) {
            tm_participant participant = {.group = ops[i].group,
                                          .rank = 5,
                                          .wait_ns = ops[i].wait_ns,
                                          .done_ns = ops[i].done_ns,
                                          .event = row_named(&g, &timeline, ops[i].name),
                                          .member = (uint32_t)i};
            if (ops[i].group == A) {
                participant.arrival = (uint8_t)stretches[t].of_a[a].arrival;
                participant.meets = stretches[t].of_a[a++].meets;
            }
            assert_non_null(tm_vec_append(&participants, &participant, 1));
        }
        tm_rank_waits_sort(&participants);
        tm_participant *v = participants.data;
        assert_int_equal(tm_rank_waits_add(&held, &timeline, v, participants.n, &g.err), TM_OK);
        assert_int_equal(tm_rank_waits_since(&held, v, &g.err), TM_OK);
        for (size_t i = 0; i < participants.n; i++) {
            size_t a = v[i].member == 0 ? 0 : v[i].member - 1;
            if (v[i].group == A && v[i].own_ns != stretches[t].own_ns[a])
                fail_msg("row %zu, operation %zu: %lld", t, a, (long long)v[i].own_ns);
        }
        tm_vec_free(&participants);
        tm_rank_waits_free(&held);
        tm_timeline_destroy(&timeline);
        close_ground(&g);
    }
}

RUN_TESTS()
