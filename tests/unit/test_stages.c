/* Pipeline stages of ranks. */
#include "waits/stages.h"

/* Ranks are 0 to 5. NONE is expected for a rank in no pipeline. */
enum { NONE = -1, RANKS = 6, EDGES_MOST = 24 };

static const struct {
    tm_stage_edge edges[EDGES_MOST]; /* the list ends with an edge from a rank to itself */
    int64_t stages[RANKS];
} pipelines[] = {
    /* Four ranks send forward, and gradients back. */
    {{{0, 1, 10, 0}, {1, 2, 20, 0}, {2, 3, 30, 0}, {3, 2, 40, 0}, {2, 1, 50, 0}, {1, 0, 60, 0}},
     {0, 1, 2, 3, NONE, NONE}},
    /* Edges in any order, with any ranks. */
    {{{0, 5, 60, 0}, {4, 2, 30, 0}, {5, 4, 20, 0}, {0, 1, 5, 0}, {4, 5, 50, 0}, {1, 5, 10, 0}},
     {0, 1, 3, NONE, 2, 1}},
    /* The last rank sends to the first, but only after the first sent. */
    {{{0, 1, 10, 0}, {1, 2, 20, 0}, {2, 3, 30, 0}, {3, 0, 40, 0}}, {0, 1, 2, 3, NONE, NONE}},
    /* Receive ends are known: each rank sends what it has received. */
    {{{0, 1, 10, 20}, {1, 2, 21, 30}, {2, 0, 31, 40}}, {0, 1, 2, NONE, NONE, NONE}},
    /* In a ring, all send at the same time. */
    {{{0, 1, 10, 50}, {1, 2, 12, 50}, {2, 0, 45, 51}}, {NONE, NONE, NONE, NONE, NONE, NONE}},
    /* Two stages of two ranks. The ranks of a stage exchange data before they send on, and back. */
    {{{0, 1, 10, 30},
      {1, 0, 11, 30},
      {0, 2, 40, 60},
      {1, 3, 40, 60},
      {2, 3, 65, 80},
      {3, 2, 66, 80},
      {2, 0, 90, 99},
      {3, 1, 90, 99}},
     {0, 0, 1, 1, NONE, NONE}},
    /* Two pipelines side by side. */
    {{{0, 2, 10, 0}, {2, 4, 20, 0}, {1, 3, 15, 0}, {3, 5, 25, 0}}, {0, 0, 1, 1, 2, 2}},
    /* Two senders in consecutive stages send to one receiver: its stage follows the later one. */
    {{{0, 1, 10, 0}, {1, 2, 20, 0}, {0, 2, 30, 0}}, {0, 1, 1, NONE, NONE, NONE}},
    /* A rank may have four peers: 0 sends to 1, 2, 3, 4. */
    {{{0, 1, 10, 0}, {0, 2, 20, 0}, {0, 3, 30, 0}, {0, 4, 40, 0}}, {0, 1, 1, 1, 1, NONE}},
    /* Five peers are too many, as in an all-to-all of six. */
    {{{0, 1, 10, 0}, {0, 2, 20, 0}, {0, 3, 30, 0}, {0, 4, 40, 0}, {0, 5, 50, 0}},
     {NONE, NONE, NONE, NONE, NONE, NONE}},
    /* No rank sends. */
    {{{0, 0, 0, 0}}, {NONE, NONE, NONE, NONE, NONE, NONE}},
};

TEST(stages_are_one_after_another) {
    for (size_t t = 0; t < COUNT(pipelines); t++) {
        tm_stage_edge edges[EDGES_MOST];
        tm_vec stages = TM_VEC(tm_stage);
        tm_error err;
        size_t n = 0;
        memcpy(edges, pipelines[t].edges, sizeof edges);
        while (edges[n].from != edges[n].to)
            n++;
        assert_int_equal(tm_stages_find(edges, n, &stages, &err), TM_OK);
        for (int64_t rank = 0; rank < RANKS; rank++)
            if (tm_stage_of(&stages, rank) != pipelines[t].stages[rank])
                fail_msg("row %zu: rank %lld is of stage %lld", t, (long long)rank,
                         (long long)tm_stage_of(&stages, rank));
        for (size_t i = 1; i < stages.n; i++)
            assert_true(((tm_stage *)stages.data)[i - 1].rank < ((tm_stage *)stages.data)[i].rank);
        tm_vec_free(&stages);
    }
}

/* An operation of two ranks: a transfer from one to the other, or an operation of another kind. */
typedef struct pair {
    uint64_t group;
    int64_t from, to, begin_ns, to_end_ns;
    bool transfers;
} pair;

static void add_pair(tm_collectives *c, const pair *p) {
    bool lower = p->from < p->to; /* records are in the order of ranks */
    tm_comm_record
        send = {.group = p->group, .rank = p->from, .begin_ns = p->begin_ns, .kind = TM_COLL_SEND},
        receive = {.group = p->group, .rank = p->to, .end_ns = p->to_end_ns, .kind = TM_COLL_RECV};
    tm_instance instance = {.first = c->records.n, .n = 2, .transfers = p->transfers};
    assert_non_null(tm_vec_append(&c->records, lower ? &send : &receive, 1));
    assert_non_null(tm_vec_append(&c->records, lower ? &receive : &send, 1));
    assert_non_null(tm_vec_append(&c->instances, &instance, 1));
}

TEST(edges_are_the_first_transfers_of_a_pair) {
    /* Both directions of a pair belong to one group. */
    static const pair pairs[] = {
        {7, 3, 4, 50, 1, true}, {7, 4, 3, 60, 2, true}, {7, 3, 4, 40, 3, true},
        {7, 4, 3, 70, 4, true}, {8, 9, 3, 5, 6, true},  {8, 3, 9, 1, 1, false},
    };
    static const tm_stage_edge expected[] = {{3, 4, 40, 3}, {4, 3, 60, 2}, {9, 3, 5, 6}};
    tm_collectives c = {.records = TM_VEC(tm_comm_record), .instances = TM_VEC(tm_instance)};
    tm_vec edges = TM_VEC(tm_stage_edge);
    tm_error err;
    for (size_t i = 0; i < COUNT(pairs); i++)
        add_pair(&c, &pairs[i]);
    assert_int_equal(tm_stages_edges(&c, &edges, &err), TM_OK);
    assert_int_equal(edges.n, COUNT(expected));
    assert_memory_equal(edges.data, expected, sizeof expected);
    tm_vec_free(&c.records);
    tm_vec_free(&c.instances);
    tm_vec_free(&edges);
}

RUN_TESTS()
