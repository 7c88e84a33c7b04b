/* Communicators that traces tell by a hash: their ranks, sizes and peers, from all ranks' word. */
#include "match/communicators.h"

#include <inttypes.h>

#include "comm_fixture.h"

enum { RANKS_MAX = 4, OWN_MAX = 3 };

typedef struct claim {
    const char *name;
    int32_t n_ranks, place; /* -1 not recorded */
} claim;

/* What each rank says, and what becomes of a kernel of the first rank that has the group "c". */
typedef struct member_case {
    claim claims[RANKS_MAX][OWN_MAX]; /* by rank; a name of NULL ends a rank's */
    bool all_told;
    comm_spec kernel;
    const char *expected; /* ranks, size, from, to, in, out */
} member_case;

static tm_timeline timeline_of(ground *g, const member_case *c, int rank) {
    tm_timeline timeline = build_comm(g, rank, &c->kernel, 1, NULL, 0);
    timeline.communicators = calloc(OWN_MAX, sizeof *timeline.communicators);
    assert_non_null(timeline.communicators);
    for (size_t i = 0; i < OWN_MAX && c->claims[rank][i].name; i++) {
        const claim *own = &c->claims[rank][i];
        bool used = i + 1 == OWN_MAX || !own[1].name; /* in the last of several traces */
        timeline.communicators[timeline.n_communicators++] =
            (tm_communicator){name_of(g, own->name), own->n_ranks, own->place, used};
    }
    return timeline;
}

/* The ranks are on two processes: the even ones on 0, the odd ones on 1. */
static void check_case(ground *g, const member_case *c) {
    tm_vec members = TM_VEC(tm_membership), answers = TM_VEC(tm_membership);
    tm_timeline timelines[RANKS_MAX];
    for (int rank = RANKS_MAX; rank-- > 0;) { /* in any order */
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
    assert_int_equal(tm_memberships_apply(&here, c->all_told, timeline, g->names, &g->err), TM_OK);
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

static void the_ranks_of_a_communicator_are_those_that_have_it(void **state) {
    static const member_case cases[] = {
        /* recorded sizes: 0 and 2 have it, and others are nobody's business */
        {{{{"c", 2, 0}, {"d", 4, 0}}, {{"d", 4, 1}}, {{"d", 4, 2}, {"c", 2, 1}}, {{"d", 4, 3}}},
         false,
         ALLREDUCE,
         "[0, 2] 2 from -1 to -1 in 8 out 8"},
        /* one that recorded it is enough */
        {{{{"c", -1, -1}}, {{"c", 3, 1}}, {{NULL, 0, 0}}, {{"c", -1, -1}}},
         false,
         ALLREDUCE,
         "[0, 1, 3] 3 from -1 to -1 in 8 out 8"},
        /* nobody did: its users, if every rank of the job told its own, are all */
        {{{{"c", -1, -1}}, {{"c", -1, -1}}, {{"d", -1, -1}}, {{"d", -1, -1}}},
         true,
         ALLREDUCE,
         "[0, 1] 2 from -1 to -1 in 8 out 8"},
        {{{{"c", -1, -1}}, {{"c", -1, -1}}, {{"d", -1, -1}}, {{NULL, 0, 0}}},
         false,
         ALLREDUCE,
         " -1 from -1 to -1 in 8 out 8"},
        /* one user is no group */
        {{{{"c", -1, -1}}, {{"d", -1, -1}}, {{"d", -1, -1}}, {{"d", -1, -1}}},
         true,
         ALLREDUCE,
         " -1 from -1 to -1 in 8 out 8"},
        /* of two ranks there is no trace */
        {{{{"c", 4, 0}}, {{"c", 4, 3}}, {{NULL, 0, 0}}, {{NULL, 0, 0}}},
         false,
         ALLREDUCE,
         "[0, 1, ?] 4 from -1 to -1 in 8 out 8"},
        /* contradictions: two sizes, more members than there can be, more than any job has */
        {{{{"c", 2, 0}}, {{"c", 3, 1}}, {{NULL, 0, 0}}, {{NULL, 0, 0}}},
         true,
         ALLREDUCE,
         " -1 from -1 to -1 in 8 out 8"},
        {{{{"c", 2, 0}}, {{"c", 2, 1}}, {{"c", 2, 1}}, {{NULL, 0, 0}}},
         true,
         ALLREDUCE,
         " -1 from -1 to -1 in 8 out 8"},
        {{{{"c", INT32_MAX, 0}}, {{"c", -1, -1}}, {{NULL, 0, 0}}, {{NULL, 0, 0}}},
         true,
         ALLREDUCE,
         " -1 from -1 to -1 in 8 out 8"},
        /* a rank that said it in two traces, in one without the size, is one rank */
        {{{{"c", -1, -1}, {"c", 2, 0}}, {{"c", 2, 1}}, {{NULL, 0, 0}}, {{NULL, 0, 0}}},
         false,
         ALLREDUCE,
         "[0, 1] 2 from -1 to -1 in 8 out 8"},
    };
    check_cases(cases, COUNT(cases));
}

#define SEND(to)                                                                                   \
    { .name = "send", .group = "c", .in = GIVEN(8), .dst = GIVEN(to) }
#define RECEIVE(from)                                                                              \
    { .name = "recv", .group = "c", .out = GIVEN(8), .src = GIVEN(from) }

static void a_peer_is_the_rank_at_its_place(void **state) {
    static const member_case cases[] = {
        /* places that are not in the order of the ranks: 1 is at place 2, 2 at 1 */
        {{{{"c", 3, 0}}, {{"c", 3, 2}}, {{"c", 3, 1}}, {{NULL, 0, 0}}},
         false,
         SEND(1),
         "[0, 1, 2] 3 from -1 to 2 in 8 out -1"},
        {{{{"c", 3, 0}}, {{"c", 3, 2}}, {{"c", 3, 1}}, {{NULL, 0, 0}}},
         false,
         RECEIVE(2),
         "[0, 1, 2] 3 from 1 to -1 in -1 out 8"},
        /* one place is not known, or claimed twice, or there is no such place */
        {{{{"c", 3, 0}}, {{"c", -1, -1}}, {{"c", 3, 1}}, {{NULL, 0, 0}}},
         false,
         SEND(1),
         "[0, 1, 2] 3 from -1 to -1 in 8 out -1"},
        {{{{"c", 3, 0}}, {{"c", 3, 1}}, {{"c", 3, 1}}, {{NULL, 0, 0}}},
         false,
         SEND(1),
         "[0, 1, 2] 3 from -1 to -1 in 8 out -1"},
        {{{{"c", 3, 0}}, {{"c", 3, 2}}, {{"c", 3, 1}}, {{NULL, 0, 0}}},
         false,
         SEND(3),
         "[0, 1, 2] 3 from -1 to -1 in 8 out -1"},
        /* one that claims two, in two traces */
        {{{{"c", 3, 0}, {"c", 3, 1}}, {{"c", 3, 1}}, {{"c", 3, 2}}, {{NULL, 0, 0}}},
         false,
         SEND(2),
         "[0, 1, 2] 3 from -1 to -1 in 8 out -1"},
        /* one that says the same in two */
        {{{{"c", 3, 0}, {"c", 3, 0}}, {{"c", 3, 1}}, {{"c", 3, 2}}, {{NULL, 0, 0}}},
         false,
         SEND(2),
         "[0, 1, 2] 3 from -1 to 2 in 8 out -1"},
        /* a member has no trace */
        {{{{"c", 3, 0}}, {{"c", 3, 2}}, {{NULL, 0, 0}}, {{NULL, 0, 0}}},
         false,
         SEND(2),
         "[0, 1, ?] 3 from -1 to -1 in 8 out -1"},
        /* between two there is but one other */
        {{{{NULL, 0, 0}}, {{"c", -1, -1}}, {{NULL, 0, 0}}, {{"c", -1, -1}}},
         true,
         SEND(0),
         "[1, 3] 2 from -1 to 3 in 8 out -1"},
        {{{{NULL, 0, 0}}, {{"c", -1, -1}}, {{NULL, 0, 0}}, {{"c", -1, -1}}},
         false,
         SEND(0),
         " -1 from -1 to -1 in 8 out -1"},
    };
    check_cases(cases, COUNT(cases));
}

static void what_gathers_and_scatters_moves_the_pieces_of_all(void **state) {
    static const member_case cases[] = {
        {{{{"c", 2, 0}}, {{"c", 2, 1}}},
         false,
         {.name = "allgather", .group = "c", .in = GIVEN(8)},
         "[0, 1] 2 from -1 to -1 in 8 out 16"},
        {{{{"c", 2, 0}}, {{"c", 2, 1}}},
         false,
         {.name = "reducescatter", .group = "c", .out = GIVEN(8)},
         "[0, 1] 2 from -1 to -1 in 16 out 8"},
        {{{{"c", -1, -1}}, {{"c", -1, -1}}},
         false,
         {.name = "allgather", .group = "c", .in = GIVEN(8)},
         " -1 from -1 to -1 in 8 out -1"},
        {{{{"c", 2, 0}}, {{"c", 2, 1}}}, /* no memory is as large */
         false,
         {.name = "allgather", .group = "c", .in = GIVEN(INT64_MAX / 100)},
         "[0, 1] 2 from -1 to -1 in 92233720368547758 out -1"},
    };
    check_cases(cases, COUNT(cases));
}

static void kernels_of_other_groups_stay_as_they_are(void **state) {
    static const member_case other = {{{{"c", 2, 0}}, {{"c", 2, 1}}},
                                      false,
                                      {.name = "send",
                                       .group = "pp",
                                       .ranks = "[0, 5]",
                                       .size = 2,
                                       .in = GIVEN(8),
                                       .dst = GIVEN(5)},
                                      "[0, 5] 2 from -1 to 5 in 8 out -1"};
    check_cases(&other, 1);
}

static void what_one_rank_alone_uses_shows_that_others_are_missing(void **state) {
    const tm_membership all[] = {
        {1, 0, -1, -1, 0, true}, {1, 0, -1, -1, 0, true}, /* in two traces: alone */
        {2, 3, -1, -1, 1, true}, {2, 0, -1, -1, 0, true}, /* by two */
        {3, 1, 4, 1, 0, true},                            /* how many there are was recorded */
        {4, 1, -1, -1, 0, false}                          /* no kernel: one rank alone needs none */
    };
    tm_vec members = TM_VEC(tm_membership), answers = TM_VEC(tm_membership);
    tm_error err;
    size_t n_alone;
    assert_non_null(tm_vec_append(&members, all, COUNT(all)));
    assert_int_equal(tm_memberships_answer(&members, &answers, &n_alone, &err), TM_OK);
    assert_int_equal(n_alone, 1);
    assert_int_equal(answers.n, 2 + 2 * 2 + 1 + 1); /* both of 2 go to processes 0 and 1 */
    tm_vec_free(&members);
    tm_vec_free(&answers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ranks_of_a_communicator_are_those_that_have_it),
        cmocka_unit_test(a_peer_is_the_rank_at_its_place),
        cmocka_unit_test(what_gathers_and_scatters_moves_the_pieces_of_all),
        cmocka_unit_test(kernels_of_other_groups_stay_as_they_are),
        cmocka_unit_test(what_one_rank_alone_uses_shows_that_others_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
