/* Metadata of a trace, whose lists are cut out and put back; lists of ranks. */
#include "timeline/metadata.h"

#include "timeline_fixture.h"

enum { LISTS_MAX = 3 };

#define LONG "{\"id\":0,\"name\":\"a device with a name that is long enough to be cut out\"}"

TEST(lists_are_cut_out_and_come_back) {
    static const struct {
        const char *text, *own;
        const char *lists[LISTS_MAX + 1];
        const char *whole; /* NULL: same as `text` */
    } cases[] = {
        {"", "", {NULL}, NULL},
        {"{ \"a\" : 1,\n\t\"b\" :\r\"x  y\" }",
         "{\"a\":1,\"b\":\"x  y\"}",
         {NULL},
         "{\"a\":1,\"b\":\"x  y\"}"},
        {"{\"a\":[0, 1, 2],\"b\":[7]}",
         "{\"a\":\"@list 0\",\"b\":\"@list 1\"}",
         {"[0, 1, 2]", "[7]"},
         NULL},
        {"{\"a\":[],\"b\":[\"x\"],\"c\":[[]]}",
         "{\"a\":[],\"b\":[\"x\"],\"c\":[[]]}",
         {NULL},
         NULL},
        /* a list inside a string; a quote and a bracket inside a string that is not a list */
        {"{\"a\":\"[0, 1]\",\"b\":\"\\\"[\"}",
         "{\"a\":\"@list 0\",\"b\":\"\\\"[\"}",
         {"\"[0, 1]\""},
         NULL},
        /* long arrays are cut out, unless something in them was already cut out */
        {"{\"d\": [" LONG "]}", "{\"d\":\"@list 0\"}", {"[" LONG "]"}, "{\"d\":[" LONG "]}"},
        {"{\"d\":[" LONG ",[1,2]]}", "{\"d\":[" LONG ",\"@list 0\"]}", {"[1,2]"}, NULL},
        /* nothing is cut out if the text already contains a placeholder */
        {"{\"a\":[0,1],\"b\":\"@list 0\"}", "{\"a\":[0,1],\"b\":\"@list 0\"}", {NULL}, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ground g = open_ground();
        tm_vec own = TM_VEC(char), lists = TM_VEC(uint32_t), whole = TM_VEC(char);
        const char *text = cases[i].text;
        assert_true(tm_metadata_cut(text, strlen(text), g.names, &own, &lists));
        assert_non_null(tm_vec_append(&own, "", 1));
        assert_string_equal(own.data, cases[i].own);
        const tm_timeline timeline = {.metadata = own.data,
                                      .n_metadata = own.n - 1,
                                      .metadata_lists = lists.data,
                                      .n_metadata_lists = lists.n};
        for (size_t l = 0; l < lists.n; l++)
            assert_name(&g, timeline.metadata_lists[l], cases[i].lists[l]);
        assert_null(cases[i].lists[lists.n]);
        assert_true(tm_timeline_metadata_whole(&timeline, g.names, &whole));
        assert_string_equal(whole.data, cases[i].whole ? cases[i].whole : text);
        tm_vec_free(&own);
        tm_vec_free(&lists);
        tm_vec_free(&whole);
        close_ground(&g);
    }
}

TEST(a_text_stands_for_a_list_that_is_there) {
    uint32_t lists[] = {5, 6};
    const tm_timeline timeline = {.metadata_lists = lists, .n_metadata_lists = 2};
    static const struct {
        const char *text;
        uint32_t list;
    } cases[] = {{"@list 0", 5},
                 {"@list 1", 6},
                 {"@list 2", TM_NO_NAME},
                 {"@list ", 0},
                 {"@list 1x", 0},
                 {"@list -1", 0},
                 {"list 1", 0},
                 {"@list 99999999999999999999", 0},
                 {NULL, 0}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(tm_timeline_list(&timeline, cases[i].text), cases[i].list);
    assert_string_equal(tm_timeline_metadata(&timeline).bytes, "");
}

TEST(a_member_is_found_in_its_object_alone) {
    static const struct {
        const char *object, *value; /* value of member "b" */
    } cases[] = {
        {"", NULL},
        {"{}", NULL},
        {"{\"b\":1}", "1}"},
        {"{\"a\":\"b\",\"b\":[2],\"b\":3}", "[2],\"b\":3}"},
        {"{\"a\":{\"b\":1},\"c\":[{\"b\":2}],\"ab\":3}", NULL},
        {"{\"a\":\"}\\\"\",\"b\":\"x\"},{\"b\":1}", "\"x\"},{\"b\":1}"},
        {"{\"a\":1},{\"b\":1}", NULL}, /* "b" is after the object's end */
        {"[\"b\",1]", NULL},
        {"{\"b\"", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *found = tm_metadata_member(cases[i].object, "b");
        assert_true((found == NULL) == (cases[i].value == NULL));
        if (found)
            assert_string_equal(found, cases[i].value);
    }
}

TEST(lists_of_ranks_are_read_in_order) {
    static const struct {
        const char *text;
        size_t n;
        bool more;
    } cases[] = {
        {"[2, 0, 1]", 3, false}, {"\"[0,1]\"", 2, false}, {"[\n  0,\n  1\n]", 2, false},
        {"[0, 1, ?]", 2, true},  {"[?]", 0, false},       {"[0, 1, ..., 29, ...]", 0, false},
        {"[]", 0, false},        {"", 0, false},          {"0, 1]", 0, false},
        {"[0, 1", 0, false},     {"[0 1]", 0, false},     {"[0, -1]", 0, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_rank_list list;
        assert_true(tm_rank_list_read((tm_text){cases[i].text, strlen(cases[i].text)}, &list));
        assert_int_equal(list.ranks.n, cases[i].n);
        assert_int_equal(list.more, cases[i].more);
        for (size_t r = 0; r < list.ranks.n; r++)
            assert_int_equal(((const int64_t *)list.ranks.data)[r], r);
        tm_vec_free(&list.ranks);
    }
}

RUN_TESTS()
