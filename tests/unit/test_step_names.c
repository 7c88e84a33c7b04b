/* Kinds of steps, found by the words of their annotations. */
#include "analysis/shared/kinds_of_steps.h"
#include "rows_fixture.h"
#include "timeline/step_names.h"
#include "timeline_fixture.h"

TEST(a_kind_is_the_words_without_the_numbers) {
    static const char *const cases[][2] = {
        {"ProfilerStep#12", "ProfilerStep"},
        {"step[DECODE bs=16]", "DECODE"},
        {"step[EXTEND bs=2 toks=14721 c_sq=14721]", "EXTEND"},
        {"step[TARGET_VERIFY bs=3]", "TARGET_VERIFY"},
        {"step[12]", "step"},
        {"train_step_3", "train_step"},
        {"eval step 4", "eval step"},
        {"Iteration 5: loss=0.31 lr: 1e-4", "Iteration"},
        {"train_iteration=3", "train_iteration"},
        {"step3", "step"},
        {"mode=train step=7", "mode train"},
        {"prefill 8x128", "prefill"},
        {"tokens: [3, 4] late", "late"},
        {"Schritt f\xc3\xbcr 3", "Schritt f\xc3\xbcr"},
        {"12", ""},
        {"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz",
         "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrst"},
        {"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrs\xc3\xbc",
         "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrs"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char kind[TM_STEP_KIND_MAX];
        tm_step_kind_of((tm_text){cases[i][0], strlen(cases[i][0])}, kind);
        assert_string_equal(kind, cases[i][1]);
    }
}

TEST(steps_of_a_number_have_the_kind_that_all_ranks_say) {
    static const char *const marks[2][3] = {{"a", "b", "b"}, {"a", "a", NULL}};
    tm_tables tables = open_tables();
    for (int rank = 0; rank < 2; rank++)
        for (int step = 0; step < 3; step++)
            if (marks[rank][step])
                add_rowf(&tables, "steps.mark", "rank=%d step=%d kind=%s", rank, step,
                         marks[rank][step]);
    const tm_step_kinds kinds = tm_step_kinds_find(&tables);
    assert_int_equal(kinds.n, 2);
    assert_int_equal(tm_step_kind(&kinds, 0, 1), 1);
    assert_int_equal(tm_step_kind(&kinds, 1, 1), 0);
    assert_int_equal(tm_step_kind(&kinds, -1, 0), 0);
    assert_int_equal(tm_step_kind(&kinds, -1, 1), -1); /* ranks have different kinds */
    assert_int_equal(tm_step_kind(&kinds, -1, 2), 1);
    assert_int_equal(tm_step_kind(&kinds, 1, 2), -1);
    tm_tables_destroy(&tables);
}

TEST(more_than_eight_kinds_are_none) {
    tm_tables tables = open_tables();
    for (int i = 0; i < 9; i++) {
        assert_int_equal(tm_step_kinds_find(&tables).n, i);
        add_rowf(&tables, "steps.mark", "rank=0 step=%d kind=%c", i, 'a' + i);
    }
    assert_int_equal(tm_step_kinds_find(&tables).n, 0);
    tm_tables_destroy(&tables);
}

RUN_TESTS()
