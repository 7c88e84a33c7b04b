/* Records grouped into instances: which are complete, which are suspect, and which have a wait. */
#include "match/instances.h"

enum { MEMBERS = 4 };

/* One operation: its members, and the expected state. */
typedef struct operation {
    struct {
        int64_t rank, begin_ns, bytes;
        uint8_t kind;
        int32_t group_size;
    } members[MEMBERS];
    size_t n;
    uint8_t way;
    uint8_t state;
    bool waits;
    int64_t last_ns;
} operation;

static tm_collectives open_collectives(void) {
    return (tm_collectives){.records = TM_VEC(tm_comm_record), .instances = TM_VEC(tm_instance)};
}

static void close_collectives(tm_collectives *c) {
    tm_vec_free(&c->records);
    tm_vec_free(&c->instances);
}

static void add_members(tm_collectives *c, const operation *o, uint64_t key) {
    for (size_t i = 0; i < o->n; i++) {
        bool barrier = o->members[i].kind == TM_COLL_BARRIER; /* bytes: its duration in ns */
        tm_comm_record record = {.group = 1,
                                 .key = key,
                                 .begin_ns = o->members[i].begin_ns,
                                 .end_ns =
                                     o->members[i].begin_ns + (barrier ? o->members[i].bytes : 1),
                                 .bytes = o->members[i].bytes,
                                 .rank = o->members[i].rank,
                                 .event = (uint32_t)i,
                                 .group_size = o->members[i].group_size,
                                 .kind = o->members[i].kind,
                                 .way = o->way};
        assert_non_null(tm_vec_append(&c->records, &record, 1));
    }
}

#define AR TM_COLL_ALLREDUCE
#define BARRIER TM_COLL_BARRIER
#define BROADCAST TM_COLL_BROADCAST
#define REDUCE TM_COLL_REDUCE
#define SENDRECV TM_COLL_SENDRECV
#define COALESCED TM_COLL_COALESCED
#define GATHER TM_COLL_ALLGATHER
#define SCATTER TM_COLL_REDUCESCATTER
#define ALLTOALL TM_COLL_ALLTOALL
#define SEND TM_COLL_SEND
#define RECV TM_COLL_RECV
#define COMPLETE TM_INSTANCE_COMPLETE
#define INCOMPLETE TM_INSTANCE_INCOMPLETE
#define SUSPECT TM_INSTANCE_SUSPECT
#define SEQ TM_MATCH_SEQ
#define PAIR TM_MATCH_PAIR
#define ORDER TM_MATCH_ORDER
#define INFERRED TM_MATCH_INFERRED
#define OTHER TM_COLL_OTHER

static const operation operations[] = {
    /* members {rank, begin, bytes, kind, group size} */
    {{{1, 30, 8, AR, 2}, {0, 20, 8, AR, 2}}, 2, SEQ, COMPLETE, true, 30},
    {{{1, 20, 8, AR, 2}, {0, 30, 8, AR, 2}}, 2, SEQ, COMPLETE, true, 30},
    {{{2, -5, 8, AR, 3}, {0, -9, 8, AR, 3}, {1, -7, 8, AR, 3}}, 3, SEQ, COMPLETE, true, -5},
    /* some members are missing */
    {{{1, 30, 8, AR, 3}, {0, 20, 8, AR, 3}}, 2, SEQ, INCOMPLETE, false, 30},
    {{{1, 30, 8, AR, 2}}, 1, SEQ, INCOMPLETE, false, 30},
    /* a member that stays in a barrier for at most 6 us came last, whoever else is missing */
    {{{1, 30, 6000, BARRIER, 3}, {0, 20, 6000, BARRIER, 3}}, 2, SEQ, INCOMPLETE, true, 30},
    {{{1, 30, 6001, BARRIER, 3}, {0, 20, 6001, BARRIER, 3}}, 2, SEQ, INCOMPLETE, false, 30},
    {{{1, 30, 8, BARRIER, 3}}, 1, SEQ, INCOMPLETE, false, 30},
    {{{1, 30, 8, BARRIER, 2}, {0, 20, 9, BARRIER, 3}}, 2, SEQ, SUSPECT, false, 30},
    /* a group of one has no wait */
    {{{1, 30, 8, AR, 1}}, 1, SEQ, COMPLETE, false, 30},
    /* kinds that do not synchronise have no wait */
    {{{0, 20, 8, BROADCAST, 2}, {1, 30, 8, BROADCAST, 2}}, 2, SEQ, COMPLETE, false, 30},
    {{{0, 20, 8, REDUCE, 2}, {1, 30, 8, REDUCE, 2}}, 2, SEQ, COMPLETE, false, 30},
    {{{0, 2, -1, SENDRECV, 2}, {1, 3, -1, SENDRECV, 2}}, 2, ORDER, COMPLETE, false, 3},
    {{{0, 20, 8, COALESCED, 2}, {1, 30, 8, COALESCED, 2}}, 2, SEQ, COMPLETE, false, 30},
    {{{0, 20, 8, BARRIER, 2}, {1, 30, 8, BARRIER, 2}}, 2, SEQ, COMPLETE, true, 30},
    {{{0, 20, 8, GATHER, 2}, {1, 30, 8, GATHER, 2}}, 2, SEQ, COMPLETE, true, 30},
    {{{0, 2, 8, SCATTER, 2}, {1, 3, 8, SCATTER, 2}}, 2, SEQ, COMPLETE, true, 3},
    /* sizes may differ in an all-to-all, but not in other kinds */
    {{{0, 20, 8, ALLTOALL, 2}, {1, 30, 9, ALLTOALL, 2}}, 2, SEQ, COMPLETE, true, 30},
    {{{0, 20, 8, AR, 2}, {1, 30, 9, AR, 2}}, 2, SEQ, SUSPECT, false, 30},
    {{{0, 20, -1, AR, 2}, {1, 30, 9, AR, 2}}, 2, SEQ, SUSPECT, false, 30},
    {{{0, 1, 8, AR, 3}, {1, 2, 8, AR, 3}, {2, 3, 9, AR, 3}}, 3, SEQ, SUSPECT, false, 3},
    {{{0, 1, 9, AR, 3}, {1, 2, 8, AR, 3}, {2, 3, 8, AR, 3}}, 3, SEQ, SUSPECT, false, 3},
    /* different kinds */
    {{{0, 20, 8, AR, 2}, {1, 30, 8, GATHER, 2}}, 2, SEQ, SUSPECT, false, 30},
    {{{0, 2, 8, ALLTOALL, 2}, {1, 3, 8, AR, 2}}, 2, SEQ, SUSPECT, false, 3},
    /* a kernel whose name does not show the kind takes the kind of the others */
    {{{0, 2, -1, SENDRECV, 2}, {1, 3, -1, ALLTOALL, 2}}, 2, INFERRED, COMPLETE, true, 3},
    {{{0, 2, -1, AR, 2}, {1, 3, -1, OTHER, 2}}, 2, INFERRED, COMPLETE, true, 3},
    {{{0, 2, -1, SENDRECV, 2}, {1, 3, -1, SENDRECV, 2}}, 2, INFERRED, COMPLETE, false, 3},
    {{{0, 2, -1, SENDRECV, 2}, {1, 3, -1, ALLTOALL, 2}}, 2, SEQ, SUSPECT, false, 3},
    /* different sizes count even if members are missing */
    {{{0, 20, 8, AR, 3}, {1, 30, 9, AR, 3}}, 2, SEQ, SUSPECT, false, 30},
    /* a rank occurs twice: in addition to all others, or in place of one */
    {{{0, 1, 8, AR, 2}, {1, 2, 8, AR, 2}, {1, 3, 8, AR, 2}}, 3, SEQ, SUSPECT, false, 3},
    {{{1, 2, 8, AR, 2}, {1, 3, 8, AR, 2}}, 2, SEQ, SUSPECT, false, 3},
    /* more members than the group has, or another group size */
    {{{0, 1, 8, AR, 2}, {1, 2, 8, AR, 2}, {2, 3, 8, AR, 2}}, 3, SEQ, SUSPECT, false, 3},
    {{{0, 1, 8, AR, 1}, {1, 2, 8, AR, 1}}, 2, SEQ, SUSPECT, false, 2},
    {{{0, 1, 8, AR, 2}, {1, 2, 8, AR, 3}}, 2, SEQ, SUSPECT, false, 2},
    /* a transfer: a send and a receive of one size */
    {{{0, 1, 8, SEND, 2}, {1, 2, 8, RECV, 2}}, 2, PAIR, COMPLETE, false, 2},
    {{{0, 1, 8, RECV, 2}, {1, 2, 8, SEND, 2}}, 2, PAIR, COMPLETE, false, 2},
    {{{0, 1, 8, SEND, 2}, {1, 2, 8, SEND, 2}}, 2, PAIR, SUSPECT, false, 2},
    {{{0, 1, 8, SEND, 2}, {1, 2, 9, RECV, 2}}, 2, PAIR, SUSPECT, false, 2},
    {{{0, 1, 8, SEND, 2}}, 1, PAIR, INCOMPLETE, false, 1},
};

static void check(const tm_collectives *c, size_t at, const operation *o) {
    const tm_instance *instance = (const tm_instance *)c->instances.data + at;
    const tm_comm_record *members = (const tm_comm_record *)c->records.data + instance->first;
    assert_int_equal(instance->n, o->n);
    assert_int_equal(instance->state, o->state);
    assert_int_equal(instance->waits, o->waits);
    assert_int_equal(instance->transfers, o->way == PAIR && o->state == COMPLETE);
    assert_int_equal(instance->last_ns, o->last_ns);
    for (size_t i = 1; i < instance->n; i++)
        assert_true(members[i].rank >= members[i - 1].rank);
}

TEST(an_operation_is_complete_incomplete_or_suspect) {
    tm_error err;
    for (size_t i = 0; i < COUNT(operations); i++) {
        tm_collectives c = open_collectives();
        add_members(&c, &operations[i], 3);
        assert_int_equal(tm_match_instances(&c, &err), TM_OK);
        assert_int_equal(c.instances.n, 1);
        check(&c, 0, &operations[i]);
        close_collectives(&c);
    }
}

TEST(operations_lie_one_after_the_other) {
    tm_error err;
    tm_collectives c = open_collectives();
    size_t n_seq = 0, at = 0;
    assert_int_equal(tm_match_instances(&c, &err), TM_OK); /* empty input */
    assert_int_equal(c.instances.n, 0);
    for (size_t i = COUNT(operations); i-- > 0;) /* keys in descending order */
        if (operations[i].way == SEQ)
            add_members(&c, &operations[i], i);
    assert_int_equal(tm_match_instances(&c, &err), TM_OK);
    const tm_instance *instances = c.instances.data;
    for (size_t i = 0; i < COUNT(operations); i++) {
        if (operations[i].way != SEQ)
            continue;
        assert_int_equal(instances[n_seq].first, at);
        check(&c, n_seq, &operations[i]);
        at += instances[n_seq++].n;
    }
    assert_int_equal(c.instances.n, n_seq);
    assert_int_equal(c.records.n, at);
    close_collectives(&c);
}

TEST(group_way_and_key_tell_operations_apart) {
    static const struct {
        uint64_t group, key;
        uint8_t way;
    } names[] = {{1, 1, SEQ},
                 {1, 2, SEQ},
                 {2, 1, SEQ},
                 {1, 1, TM_MATCH_ORDER},
                 {1, 1, TM_MATCH_COMMS_ID},
                 {UINT64_MAX, 1, SEQ},
                 {1, UINT64_MAX, SEQ}};
    tm_error err;
    tm_collectives c = open_collectives();
    for (int64_t rank = 0; rank < 2; rank++)
        for (size_t i = 0; i < COUNT(names); i++) {
            tm_comm_record record = {.group = names[i].group,
                                     .key = names[i].key,
                                     .way = names[i].way,
                                     .rank = rank,
                                     .group_size = 2,
                                     .kind = AR};
            assert_non_null(tm_vec_append(&c.records, &record, 1));
        }
    assert_int_equal(tm_match_instances(&c, &err), TM_OK);
    assert_int_equal(c.instances.n, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(((const tm_instance *)c.instances.data)[i].state, COMPLETE);
    close_collectives(&c);
}

TEST(a_member_waits_until_the_last_begin_or_its_own_end) {
    static const struct {
        int64_t begin_ns, end_ns, last_ns, wait_ns;
    } cases[] = {
        {10, 50, 30, 20}, {30, 50, 30, 0}, {10, 25, 30, 15},
        {10, 30, 30, 20}, {10, 10, 30, 0}, {-10, 50, -5, 5},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_comm_record record = {.begin_ns = cases[i].begin_ns, .end_ns = cases[i].end_ns};
        assert_int_equal(tm_member_wait(&record, cases[i].last_ns), cases[i].wait_ns);
    }
}

/* Members come at 0, 60 and 100: the first two 140 earlier than the last, in sum. Clocks are
 * certain up to 2 x 3. */
TEST(a_broadcast_has_waits_if_all_kernels_last_until_the_last_rank_came) {
    static const struct {
        int64_t ends[3];
        uint8_t kind, state;
        int64_t bytes;
        bool met;
    } cases[] = {
        {{140, 140, 140}, BROADCAST, COMPLETE, 8, true},  /* (140 - 40) + (80 - 40) = 140 longer */
        {{140, 106, 140}, BROADCAST, COMPLETE, 8, false}, /* it may have left at 100 */
        /* (107 - 40) + (107 - 60 - 40) = 74 longer: at least half of 140 */
        {{107, 107, 140}, BROADCAST, COMPLETE, 8, true},
        {{107, 107, 143}, BROADCAST, COMPLETE, 8, false}, /* 64 + 4 = 68 longer */
        {{140, 140, 140}, REDUCE, COMPLETE, 8, true},
        {{140, 140, 140}, TM_COLL_GATHER, COMPLETE, 8, true},
        {{140, 140, 140}, TM_COLL_SCATTER, COMPLETE, 8, true},
        {{140, 140, 140}, BROADCAST, COMPLETE, 0, false}, /* nothing moves */
        {{140, 140, 140}, BROADCAST, INCOMPLETE, 8, false},
        {{140, 140, 140}, BROADCAST, SUSPECT, 8, false},
        {{140, 140, 140}, SENDRECV, COMPLETE, 8, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_instance instance = {.n = 3, .state = cases[i].state, .last_ns = 100};
        tm_comm_record members[3] = {
            {.begin_ns = 0, .end_ns = cases[i].ends[0]},
            {.begin_ns = 60, .end_ns = cases[i].ends[1]},
            {.begin_ns = 100, .end_ns = cases[i].ends[2]},
        };
        for (size_t k = 0; k < 3; k++) {
            members[k].kind = cases[i].kind;
            members[k].bytes = cases[i].bytes;
            members[k].spread_ns = 3;
        }
        if (tm_instance_met(&instance, members) != cases[i].met)
            fail_msg("case %zu", i);
    }
}

RUN_TESTS()
