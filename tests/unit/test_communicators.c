/* Communicators that traces identify by a hash: ranks, sizes and peers from all memberships. */
#include "match/communicators.h"

#include <inttypes.h>

#include "comm_fixture.h"

enum { RANKS_MAX = 4, OWN_MAX = 3 };

/* The memberships of each rank, separated by /, and the expected result for a kernel of the first
 * rank in group "c". A membership is a group ("c"), a group with its recorded size and place
 * ("c40": size 4, place 0), or a group with a lower bound of its size ("c-4"). Size 9 stands for
 * more ranks than any job has. */
typedef struct member_case {
    const char *memberships;
    comm_spec kernel;
    const char *expected; /* ranks, size, peer, in, out */
    bool all_reported;
} member_case;

/* Adds the memberships of one rank. Only the membership in the last trace is marked as used. */
static void add_memberships(ground *g, tm_timeline *timeline, const char *memberships) {
    for (; *memberships && *memberships != '/'; memberships++) {
        const char name[] = {*memberships, '\0'};
        tm_communicator own = {.name = name_of(g, name), .n_ranks = -1, .place = -1};
        if (memberships[1] == '-') { /* a lower bound of the size */
            own.n_ranks = -(memberships[2] - '0');
            memberships += 2;
        } else if (memberships[1] >= '0' && memberships[1] <= '9') {
            own.n_ranks = memberships[1] == '9' ? INT32_MAX : memberships[1] - '0';
            own.place = memberships[2] - '0';
            memberships += 2;
        }
        memberships += memberships[1] == ' ';
        own.used = !memberships[1] ||
                   memberships[1] == '/'; /* whether this is the membership of the last trace */
        timeline->communicators[timeline->n_communicators++] = own;
    }
}

static tm_timeline timeline_of(ground *g, const member_case *c, int rank) {
    tm_timeline timeline = build_comm(g, rank, &c->kernel, 1, NULL, 0);
    const char *memberships = c->memberships;
    timeline.communicators = calloc(OWN_MAX, sizeof *timeline.communicators);
    assert_non_null(timeline.communicators);
    for (int before = 0; before < rank && memberships; before++) {
        memberships = strchr(memberships, '/');
        memberships = memberships ? memberships + 1 : NULL;
    }
    if (memberships)
        add_memberships(g, &timeline, memberships);
    return timeline;
}

/* Checks a case with two processes: even ranks on 0, odd ranks on 1. */
static void check_case(ground *g, const member_case *c) {
    tm_vec members = TM_VEC(tm_membership), answers = TM_VEC(tm_membership);
    tm_timeline timelines[RANKS_MAX];
    for (int rank = RANKS_MAX; rank-- > 0;) {
        timelines[rank] = timeline_of(g, c, rank);
        assert_int_equal(
            tm_memberships_list(&timelines[rank], g->names, rank % 2, &members, &g->err), TM_OK);
    }
    size_t n_alone;
    assert_int_equal(tm_memberships_answer(&members, &answers, &n_alone, &g->err), TM_OK);
    int owner = -1;
    for (int rank = 0; rank < RANKS_MAX && owner < 0; rank++)
        for (size_t i = 0; i < timelines[rank].n_communicators; i++)
            if (timelines[rank].communicators[i].name == name_of(g, "c"))
                owner = rank;
    assert_true(owner >= 0);
    tm_vec here = TM_VEC(tm_membership);
    for (size_t i = 0; i < answers.n; i++)
        if (((const tm_membership *)answers.data)[i].process == owner % 2)
            assert_non_null(tm_vec_append(&here, (const tm_membership *)answers.data + i, 1));
    tm_memberships_sort(&here);
    tm_timeline *timeline = &timelines[owner];
    assert_int_equal(tm_memberships_apply(&here, c->all_reported, timeline, g->names, &g->err),
                     TM_OK);
    assert_int_equal(timeline->n_communicators, 0);
    const tm_collective_attr *a = collective_at(timeline, c->kernel.begin_ns, c->kernel.stream);
    char found[160];
    snprintf(found, sizeof found, "%s %d from %d to %d in %" PRId64 " out %" PRId64,
             tm_names_text(g->names, a->group_ranks).bytes, a->group_size, a->src_rank, a->dst_rank,
             a->in_elements, a->out_elements);
    assert_string_equal(found, c->expected);
    for (int rank = 0; rank < RANKS_MAX; rank++)
        tm_timeline_destroy(&timelines[rank]);
    tm_vec_free(&members);
    tm_vec_free(&answers);
    tm_vec_free(&here);
}

static void check_cases(const member_case *cases, size_t n) {
    ground g = open_ground();
    for (size_t i = 0; i < n; i++) {
        print_message("case %zu\n", i);
        check_case(&g, &cases[i]);
    }
    close_ground(&g);
}

#define ALLREDUCE                                                                                  \
    { .name = "allreduce", .group = "c", .in = GIVEN(8), .out = GIVEN(8) }

TEST(the_ranks_of_a_communicator_are_those_that_have_it) {
    static const member_case cases[] = {
        /* ranks 0 and 2 membership c, with recorded sizes; memberships of other groups are ignored
         */
        {"c20 d40/d41/d42 c21/d43", ALLREDUCE, "[0, 2] 2 from -1 to -1 in 8 out 8", false},
        /* one rank that recorded the size is enough */
        {"c/c31//c", ALLREDUCE, "[0, 1, 3] 3 from -1 to -1 in 8 out 8", false},
        /* no rank recorded the size: if all ranks stated their groups, all users are members */
        {"c/c/d/d", ALLREDUCE, "[0, 1] 2 from -1 to -1 in 8 out 8", true},
        {"c/c/d", ALLREDUCE, " -1 from -1 to -1 in 8 out 8", false},
        /* a group that only one rank uses is unknown */
        {"c/d/d/d", ALLREDUCE, " -1 from -1 to -1 in 8 out 8", true},
        /* two ranks have no trace */
        {"c40/c43", ALLREDUCE, "[0, 1, ?] 4 from -1 to -1 in 8 out 8", false},
        /* contradictions: two sizes, more members than the size, more than any job has */
        {"c20/c31", ALLREDUCE, " -1 from -1 to -1 in 8 out 8", true},
        {"c20/c21/c21", ALLREDUCE, " -1 from -1 to -1 in 8 out 8", true},
        {"c90/c", ALLREDUCE, " -1 from -1 to -1 in 8 out 8", true},
        /* a lower bound is the size if fewer ranks have the group */
        {"c-4/c-3", ALLREDUCE, "[0, 1, ?] 4 from -1 to -1 in 8 out 8", true},
        {"c-2/c/c", ALLREDUCE, "[0, 1, 2] 3 from -1 to -1 in 8 out 8", true},
        /* a membership in two traces, once without the size, is of one rank */
        {"c c20/c21", ALLREDUCE, "[0, 1] 2 from -1 to -1 in 8 out 8", false},
    };
    check_cases(cases, COUNT(cases));
}

#define SEND(to)                                                                                   \
    { .name = "send", .group = "c", .in = GIVEN(8), .dst = GIVEN(to) }
#define RECEIVE(from)                                                                              \
    { .name = "recv", .group = "c", .out = GIVEN(8), .src = GIVEN(from) }

TEST(a_peer_is_the_rank_at_its_place) {
    static const member_case cases[] = {
        /* places are not in rank order: rank 1 is at place 2, and rank 2 at place 1 */
        {"c30/c32/c31", SEND(1), "[0, 1, 2] 3 from -1 to 2 in 8 out -1", false},
        {"c30/c32/c31", RECEIVE(2), "[0, 1, 2] 3 from 1 to -1 in -1 out 8", false},
        /* a place is unknown, claimed twice, or does not exist */
        {"c30/c/c31", SEND(1), "[0, 1, 2] 3 from -1 to -1 in 8 out -1", false},
        {"c30/c31/c31", SEND(1), "[0, 1, 2] 3 from -1 to -1 in 8 out -1", false},
        {"c30/c32/c31", SEND(3), "[0, 1, 2] 3 from -1 to -1 in 8 out -1", false},
        /* a rank that memberships two places, in two traces */
        {"c30 c31/c31/c32", SEND(2), "[0, 1, 2] 3 from -1 to -1 in 8 out -1", false},
        /* a rank that memberships the same place in two traces */
        {"c30 c30/c31/c32", SEND(2), "[0, 1, 2] 3 from -1 to 2 in 8 out -1", false},
        /* a member without a trace */
        {"c30/c32", SEND(2), "[0, 1, ?] 3 from -1 to -1 in 8 out -1", false},
        /* of two ranks, the peer is the other one */
        {"/c//c", SEND(0), "[1, 3] 2 from -1 to 3 in 8 out -1", true},
        {"/c//c", SEND(0), " -1 from -1 to -1 in 8 out -1", false},
    };
    check_cases(cases, COUNT(cases));
}

#define ALLGATHER(n)                                                                               \
    { .name = "allgather", .group = "c", .in = GIVEN(n) }
#define SCATTER(n)                                                                                 \
    { .name = "reducescatter", .group = "c", .out = GIVEN(n) }
#define OTHER                                                                                      \
    { .name = "send", .group = "pp", .ranks = "[0, 5]", .size = 2, .in = GIVEN(8), .dst = GIVEN(5) }

TEST(what_gathers_and_scatters_moves_the_pieces_of_all) {
    static const member_case cases[] = {
        {"c20/c21", ALLGATHER(8), "[0, 1] 2 from -1 to -1 in 8 out 16", false},
        {"c20/c21", SCATTER(8), "[0, 1] 2 from -1 to -1 in 16 out 8", false},
        {"c/c", ALLGATHER(8), " -1 from -1 to -1 in 8 out -1", false},
        /* the size exceeds any memory */
        {"c20/c21", ALLGATHER(INT64_C(92233720368547758)),
         "[0, 1] 2 from -1 to -1 in 92233720368547758 out -1", false},
        /* a kernel of another group is unchanged */
        {"c20/c21", OTHER, "[0, 5] 2 from -1 to 5 in 8 out -1", false},
    };
    check_cases(cases, COUNT(cases));
}

#define MEMBER(of, whose, size, at, holder, uses)                                                  \
    {                                                                                              \
        .communicator = (of), .rank = (whose), .n_ranks = (size), .place = (at),                   \
        .process = (holder), .used = (uses)                                                        \
    }

TEST(what_one_rank_alone_uses_shows_that_others_are_missing) {
    const tm_membership all[] = {
        MEMBER(1, 0, -1, -1, 0, true),
        MEMBER(1, 0, -1, -1, 0, true), /* one rank in two traces */
        MEMBER(2, 3, -1, -1, 1, true),
        MEMBER(2, 0, -1, -1, 0, true), /* two ranks membership group 2 */
        MEMBER(3, 1, 4, 1, 0, true),   /* its size was recorded */
        MEMBER(4, 1, -1, -1, 0, false) /* no kernel uses group 4, so n_alone omits it */
    };
    tm_vec members = TM_VEC(tm_membership), answers = TM_VEC(tm_membership);
    tm_error err;
    size_t n_alone;
    assert_non_null(tm_vec_append(&members, all, COUNT(all)));
    assert_int_equal(tm_memberships_answer(&members, &answers, &n_alone, &err), TM_OK);
    assert_int_equal(n_alone, 1);
    assert_int_equal(answers.n, 2 + 2 * 2 + 1 + 1); /* processes 0 and 1 both get group 2 */
    tm_vec_free(&members);
    tm_vec_free(&answers);
}

RUN_TESTS()
