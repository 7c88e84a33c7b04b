/* Answers of NCCL's RAS, in the words and order of NCCL's src/ras/client_support.cc: the rows of
 * hang.ras, what is left out, and what is rejected. */
#include <inttypes.h>

#include "analysis/hang/ras.h"
#include "tmerge/analysis.h"
#include "trace_text.h"

/* Global rank N is process 10N on host 10.0.0.N. Counts are of AllGather, then AllReduce. */
#define PLACE(r, global)                                                                           \
    "{'rank':" #r ",'host':'10.0.0." #global "','pid':10" #global                                  \
    ",'cuda_dev':0,'nvml_dev':" #global
#define IN_STATE(r, global, init, error, flag, gathers, reduces)                                   \
    PLACE(r, global)                                                                               \
    ",'status':{'init_state':" #init ",'async_error':" #error ",'" flag                            \
    "':true},'collective_counts':{'AllGather':" #gathers ",'AllReduce':" #reduces "}}"
#define RANK(r, global, gathers, reduces) IN_STATE(r, global, 0, 0, "none", gathers, reduces)
#define LOST(r, global, unresponsive, dead)                                                        \
    PLACE(r, global)                                                                               \
    ",'status':{'unresponsive':" #unresponsive ",'considered_dead':" #dead "}}"
#define TWO(a, b) a "," b
#define THREE(a, b, c) TWO(a, b) "," c
#define COMM(hash, size, ranks, missing)                                                           \
    "{'hash':'" hash "','secondary_hash':'0x1:0x2','size':" #size ",'ranks':[" ranks               \
    "],'missing_ranks':[" missing "]}"
#define ANSWER(comms)                                                                              \
    "{'nccl_version':'2.30.4','timestamp':'2026-03-04 05:06:07','communicators':[" comms           \
    "],'ras':{'timeouts_count':0}}"

static tm_status read_answer(tm_ras *ras, const char *text, size_t size, tm_error *err) {
    tm_source *source;
    assert_ok(tm_source_open_memory(text, size, "ras.json", &source, err));
    const tm_status status = tm_ras_read(ras, source, err);
    tm_source_close(source);
    return status;
}

/* Writes a row as "PLACE.MEMBER rank R state, of OPERATION OWN/OTHERS;". */
static void row_text(const tm_table *t, size_t row, char *out, size_t size) {
    static const char *const columns[] = {"place",     "member",   "rank",  "state",
                                          "operation", "launched", "others"};
    for (size_t i = 0; i < COUNT(columns); i++) {
        const tm_cell *cell = tm_table_cell(t, row, columns[i]);
        const size_t n = strlen(out);
        if (tm_column_of(t->def, columns[i])->type == TM_TEXT)
            snprintf(out + n, size - n, "%s ", cell->null ? "-" : cell->value.text);
        else if (cell->null)
            snprintf(out + n, size - n, "- ");
        else
            snprintf(out + n, size - n, "%" PRId64 " ", cell->value.i);
    }
    snprintf(out + strlen(out) - 1, 2, ";");
}

static void rows_text(const tm_ras *ras, char *out, size_t size) {
    tm_tables tables;
    assert_ok(tm_analysis_tables(&tables, NULL));
    assert_ok(tm_hang_ras_rows(ras, NULL, &tables, NULL));
    tm_table *t = tm_tables_find(&tables, "hang.ras");
    tm_table_sort(t);
    *out = '\0';
    for (size_t i = 0; i < t->n_rows; i++)
        row_text(t, i, out, size);
    tm_tables_destroy(&tables);
}

/* All ranks of a communicator launch the same collectives in the same order. A rank with fewer, and
 * no more of any kind, is behind. A rank with more of some kind launched others. If nothing else is
 * stated, the rank with most has 3 + 12 = 15. */
TEST(a_rank_is_reported_by_its_state_and_its_counts) {
    static const struct {
        const char *comms, *rows;
        int64_t left_out;
    } cases[] = {
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 12), RANK(1, 1, 3, 12)), ""), "", 0},
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 11), RANK(1, 1, 3, 12)), ""),
         "1 0 0 behind AllReduce 11 12;", 0},
        /* 12 - 11 = 1 AllReduce less, and 3 - 1 = 2 AllGather */
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 12), RANK(1, 1, 1, 11)), ""),
         "1 1 1 behind AllGather 1 3;", 0},
        /* 4 + 11 is 15, too, but rank 1 has more AllGather than rank 0 */
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 12), RANK(1, 1, 4, 11)), ""),
         "1 1 1 differs AllGather 4 3;", 0},
        {COMM("0xa", 6,
              THREE(IN_STATE(0, 0, 0, 6, "abort_flag", 3, 12),
                    IN_STATE(1, 1, 0, 0, "abort_flag", 3, 12),
                    IN_STATE(2, 2, 0, 0, "destroy_flag", 3,
                             12)) "," THREE(IN_STATE(3, 3, 0, 0, "finalize_called", 3, 12),
                                            IN_STATE(4, 4, 7, 7, "none", 3, 12),
                                            IN_STATE(5, 5, 3, 0, "none", 3, 12)),
              ""),
         "1 0 0 failed - - -;1 1 1 aborted - - -;1 2 2 ending - - -;1 3 3 ending - - -;"
         "1 4 4 starting - - -;1 5 5 failed - - -;",
         0},
        {COMM("0xa", 4, RANK(2, 2, 3, 12),
              THREE(LOST(0, 0, false, false), LOST(1, 1, true, false), LOST(3, 3, true, true))),
         "1 0 0 gone - - -;1 1 1 unreachable - - -;1 3 3 dead - - -;", 0},
        /* Ranks 0 and 1 of 0xb are ranks 0 and 2 of 0xa, which has all processes. */
        {COMM("0xa", 3, TWO(RANK(0, 0, 3, 12), RANK(1, 1, 3, 12)),
              LOST(2, 2, true, true)) "," COMM("0xb", 2, RANK(0, 0, 3, 12), LOST(1, 2, true, true)),
         "1 2 2 dead - - -;2 1 2 dead - - -;", 0},
        /* No communicator has all three processes. */
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 11), RANK(1, 1, 3, 12)),
              "") "," COMM("0xb", 2, TWO(RANK(0, 1, 3, 12), RANK(1, 2, 3, 12)), ""),
         "1 0 - behind AllReduce 11 12;", 0},
        /* Two communicators have all processes, and number them differently. */
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 11), RANK(1, 1, 3, 12)),
              "") "," COMM("0xb", 2, TWO(RANK(0, 1, 3, 12), RANK(1, 0, 3, 12)), ""),
         "1 0 - behind AllReduce 11 12;", 0},
        /* NCCL does not know the process of one rank. */
        {COMM("0xa", 2, RANK(0, 0, 3, 12),
              "{'rank':1,'host':'unknown','pid':-1,'cuda_dev':0,'nvml_dev':0,'status':{"
              "'unresponsive':true,'considered_dead':true}}"),
         "1 1 - dead - - -;", 0},
        /* Two numbers are no ranks of the communicator; then one rank occurs twice. */
        {COMM("0xa", 2, THREE(RANK(0, 0, 3, 12), RANK(1057455228, 1, 3, 12), RANK(-1, 1, 3, 12)),
              ""),
         "", 2},
        {COMM("0xa", 2, TWO(RANK(0, 0, 3, 12), RANK(0, 0, 3, 9)), ""), "", 1},
    };
    tm_ras *ras = tm_ras_create();
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[TRACE_TEXT_MAX], rows[1024];
        char whole[TRACE_TEXT_MAX];
        print_message("case %zu\n", i);
        snprintf(whole, sizeof whole, "%s%s%s", "{'nccl_version':'2.30.4','communicators':[",
                 cases[i].comms, "]}");
        assert_ok(read_answer(ras, text, quoted_text(whole, text), NULL));
        rows_text(ras, rows, sizeof rows);
        assert_string_equal(rows, cases[i].rows);
        assert_int_equal(tm_ras_left_out(ras), cases[i].left_out);
    }
    tm_ras_destroy(ras);
}

/* NCCL 2.28.7 and 2.28.9 omit the comma between nvml_dev and status of a missing rank. */
TEST(the_comma_that_nccl_2_28_forgets_is_added_and_counted) {
    char text[TRACE_TEXT_MAX], rows[256];
    tm_ras *ras = tm_ras_create();
    const size_t n = quoted_text(
        ANSWER(COMM("0xa", 2, RANK(0, 0, 3, 12),
                    PLACE(1, 1) "\n 'status':{'unresponsive':true,'considered_dead':true}}")),
        text);
    assert_ok(read_answer(ras, text, n, NULL));
    rows_text(ras, rows, sizeof rows);
    assert_string_equal(rows, "1 1 1 dead - - -;");
    assert_int_equal(tm_ras_commas(ras), 1);
    tm_ras_destroy(ras);
}

TEST(what_is_no_whole_answer_is_refused_at_its_byte) {
    static const struct {
        const char *text, *why;
        int64_t offset;
        bool is; /* it counts as an answer */
    } cases[] = {
        {"NCCL version 2.26.2 compiled with CUDA 12.6\n", "ncclras -f json", -1, true},
        {"{'communicators_count':1,'communicators':{}}", "have a list of communicators", -1, true},
        {"{'timestamp':'2026-03-04 05:06:07','group':'LIFECYCLE'}", "have a list of communicators",
         -1, false},
        {"{'communicators_count':1,'communicators':[7 7]}", "a comma", 44, true},
        {"{'communicators_count' 1}", "a colon", 23, true},
        {"NCCL version 2.26.2+cuda12.6\n", "as JSON", 0, false},
        {"{'distributedInfo':{'nccl_version':'2.30.4'}}", "have a list of communicators", -1,
         false},
    };
    char text[TRACE_TEXT_MAX];
    tm_ras *ras = tm_ras_create();
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_error err = {.offset = -1};
        const size_t n = quoted_text(cases[i].text, text);
        assert_int_equal(tm_ras_is_answer(text, n), cases[i].is);
        assert_int_equal(read_answer(ras, text, n, &err), TM_ERR_INPUT);
        assert_non_null(strstr(err.message, cases[i].why));
        assert_int_equal(err.offset, cases[i].offset);
    }
    const size_t whole =
        quoted_text(ANSWER(COMM("0xa", 2, RANK(0, 0, 3, 12), LOST(1, 1, true, true))), text);
    for (size_t n = 1; n < whole; n++) {
        tm_error err = {.offset = -1};
        assert_int_equal(read_answer(ras, text, n, &err), TM_ERR_INPUT);
        assert_in_range(err.offset, n - 1, n); /* where a token or the file ends early */
    }
    tm_ras_destroy(ras);
}

RUN_TESTS()
