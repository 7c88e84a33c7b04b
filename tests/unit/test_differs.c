/* Properties that should be equal on all ranks of a job, and the report of those that differ. */

#include "analysis_fixture.h"

#define SECOND INT64_C(1000000000)
#define TODAY (INT64_C(1764547200) * SECOND) /* 2025-12-01 00:00:00 UTC */
#define GROUPS(list) "{\"distributedInfo\":{\"pg_config\":[" list "]}}"
#define GROUP(name, ranks) "{\"pg_name\":\"" name "\",\"ranks\":" ranks "}"

enum { RANKS_MAX = 4, ROWS_MAX = 4 };

/* A rank with [n_kernels] kernels k<first>, ... that fill `length_ns` from begin_ns. */
typedef struct member {
    int64_t begin_ns, length_ns, world_size;
    int first, n_kernels;
    const char *metadata;
} member;

static void add_member(small_job *j, int64_t rank, const member *m) {
    enum { NAME = 16, KERNELS_MAX = 300 };
    static char names[KERNELS_MAX][NAME];
    static event_spec events[KERNELS_MAX];
    for (int i = 0; i < m->n_kernels; i++) {
        snprintf(names[i], NAME, "k%d", m->first + i);
        events[i] = (event_spec){.category = TM_CAT_KERNEL,
                                 .name = names[i],
                                 .duration_ns = m->length_ns,
                                 .where = i,
                                 .kind = TM_DURATION};
    }
    tm_trace trace = make_trace(&j->ground, "one.json", events, (size_t)m->n_kernels, m->begin_ns);
    trace.world_size = m->world_size > 0 ? m->world_size : -1;
    describe(&j->ground, &trace, m->metadata ? m->metadata : "");
    add_trace(j, rank, &trace);
}

#define MEMBER(begin, length)                                                                      \
    { begin, length, 8, 0, 1, NULL }
#define WORLD(size)                                                                                \
    { 0, 9, size, 0, 1, NULL }
#define LISTS(list)                                                                                \
    { 0, 9, 8, 0, 1, GROUPS(list) }
#define KERNELS(first, n)                                                                          \
    { 0, 9, 8, first, n, NULL }

TEST(what_differs_is_listed_with_its_ranks) {
    static const struct {
        const char *name;
        member members[RANKS_MAX]; /* the list ends at the first member without kernels */
        const char *rows[ROWS_MAX];
    } cases[] = {
        {"late recordings overlap the next one",
         {MEMBER(0, 20), MEMBER(19, 20), MEMBER(38, 20), MEMBER(20, 1)},
         {NULL}},
        {"times that do not meet",
         {MEMBER(TODAY + 2 * SECOND, SECOND), MEMBER(TODAY, SECOND), MEMBER(TODAY, 9)},
         {"what=time value=2025-12-01 00:00:00.000 UTC n_ranks=2 ranks=1,2",
          "what=time value=2025-12-01 00:00:02.000 UTC n_ranks=1 ranks=0"}},
        {"no time of day",
         {MEMBER(5, 9), MEMBER(2 * SECOND, 9)},
         {"what=time value=0.000000 s n_ranks=1 ranks=0",
          "what=time value=2.000000 s n_ranks=1 ranks=1"}},
        {"world sizes; one rank does not say",
         {WORLD(8), WORLD(16), WORLD(0), WORLD(8)},
         {"what=world size value=8 n_ranks=2 ranks=0,3",
          "what=world size value=16 n_ranks=1 ranks=1"}},
        {"one name for groups of different ranks, as splitting gives them",
         {LISTS(GROUP("1", "[0,1]")), LISTS(GROUP("1", "[1,0]")), LISTS(GROUP("1", "[2,3]")),
          LISTS(GROUP("1", "[2,3]"))},
         {NULL}},
        {"lists of others, of one, and none",
         {LISTS(GROUP("1", "[1,2,3]")),
          LISTS(GROUP("1", "[1,2,3]") "," GROUP("2", "[1]")),
          LISTS(GROUP("1", "\"[1, 2, ...\"")),
          {0, 9, 8, 0, 1, "no JSON"}},
         {NULL}},
        {"rank 1 says that it is in another group than rank 0 says",
         {LISTS(GROUP("0", "[0,1,2,3]") "," GROUP("1", "[0,1,2]")),
          LISTS(GROUP("0", "[0,1,2,3]") "," GROUP("1", "[1,3]")),
          LISTS(GROUP("0", "[0,1,2,3]") "," GROUP("1", "[0,1,2]")), LISTS(GROUP("0", "[0,1,2,3]"))},
         {"what=process group value=1: 0,1,2 n_ranks=2 ranks=0,2",
          "what=process group value=1: 1,3 n_ranks=1 ranks=1"}},
        {"other kernels",
         {KERNELS(0, 12), KERNELS(12, 12), KERNELS(0, 12), KERNELS(11, 14)},
         {"what=kernels value=1 n_ranks=2 ranks=0,2", "what=kernels value=2 n_ranks=2 ranks=1,3"}},
        {"2 of 12 in common", {KERNELS(0, 12), KERNELS(10, 12)}, {NULL}},
        {"too few to tell", {KERNELS(0, 9), KERNELS(10, 9)}, {NULL}},
        {"a chain whose middle comes last",
         {KERNELS(0, 12), KERNELS(20, 12), KERNELS(10, 12)},
         {NULL}},
        {"a chain whose end is like its middle alone",
         {KERNELS(0, 12), KERNELS(10, 12), KERNELS(20, 12)},
         {NULL}},
        {"few of many", {KERNELS(0, 300), KERNELS(280, 20)}, {NULL}},
        {"many others",
         {KERNELS(0, 290), KERNELS(290, 290)},
         {"what=kernels value=1 n_ranks=1 ranks=0", "what=kernels value=2 n_ranks=1 ranks=1"}},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        small_job j = open_job();
        size_t n = 0;
        print_message("%s\n", cases[c].name);
        for (int64_t rank = 0; rank < RANKS_MAX && cases[c].members[rank].n_kernels > 0; rank++)
            add_member(&j, rank, &cases[c].members[rank]);
        finish_job(&j);
        while (n < ROWS_MAX && cases[c].rows[n])
            n++;
        check_rows(&j, "job.differs", cases[c].rows, n);
        close_job(&j);
    }
}

RUN_TESTS()
