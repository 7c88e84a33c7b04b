/* TPUs in XPlane: the clocks of cores, HLO operations, and their participants. */
#include "readers/xplane/hlo/hlo_groups.h"
#include "readers/xplane/tpu/tpu_clock.h"

enum { N_OPERATIONS = 2000 };

/* Consecutive operations of 40 ms, 80 s in all, on a core whose clock is 15 ppm slow and 44 us
 * behind. The file corrects the drift once per second, by 15 us. As in real files, operations are
 * late by 20 to 198 ms in 5 of every 10 s. */
static void make_times(tm_tpu_times times[N_OPERATIONS]) {
    for (int64_t i = 0; i < N_OPERATIONS; i++) {
        int64_t at = INT64_C(40000000000) * i, tenth = i * 40 / 1000 % 10;
        int64_t late = tenth < 5 ? 0 : INT64_C(20000000000) + i * 50000000 % INT64_C(178000000000);
        int64_t shift = 44000000 + at / INT64_C(1000000000000) * 15000000 + late;
        times[N_OPERATIONS - 1 - i] =
            (tm_tpu_times){at + shift, INT64_C(39999998000), at, INT64_C(39999998000)};
    }
}

/* The true time is the device's plus 44 us and 15 ppm, minus 7.5 us (half a correction). The line
 * must be within 2 us of that, in any order of the operations. */
TEST(the_line_leads_through_where_most_operations_lie) {
    static tm_tpu_times times[N_OPERATIONS];
    tm_tpu_clock clock;
    tm_error err;
    make_times(times);
    assert_int_equal(tm_tpu_clock_fit(times, N_OPERATIONS, &clock, &err), TM_OK);
    for (int64_t second = 0; second < 80; second += 5) {
        int64_t at = second * INT64_C(1000000000000);
        int64_t host = at + 44000000 + second * 15000000 - 7500000;
        assert_in_range(tm_tpu_clock_host(&clock, at) - host + 2000000, 0, 4000000);
    }
    tm_tpu_clock_free(&clock);
}

/* In the file, the run is [100, 300), late by 100 at its begin and by 190 at its end. Its
 * operations show that by the core's clock it is [0, 110). */
TEST(what_has_no_time_of_the_core_moves_with_operations) {
    static const tm_tpu_times times[] = {
        {110, 40, 10, 40},  /* the file has it 100 late, */
        {240, 50, 50, 50},  /* 190 late, */
        {1000, 10, 900, 10} /* and 100 late */
    };
    static const struct {
        int64_t begin, end, moved_begin, moved_end;
    } cases[] = {
        {100, 300, 0, 110},    /* contains the first two */
        {105, 110, 5, 10},     /* ends where the first begins */
        {290, 300, 100, 110},  /* begins where the second ends */
        {980, 990, 880, 890},  /* before the third */
        {1020, 1030, 920, 930} /* after all operations */
    };
    tm_tpu_clock clock;
    tm_error err;
    assert_int_equal(tm_tpu_clock_fit(times, COUNT(times), &clock, &err), TM_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t begin = cases[i].begin, end = cases[i].end;
        tm_tpu_clock_move(&clock, &begin, &end);
        assert_int_equal(begin - tm_tpu_clock_host(&clock, cases[i].moved_begin), 0);
        assert_int_equal(end - tm_tpu_clock_host(&clock, cases[i].moved_end), 0);
    }
    tm_tpu_clock_free(&clock);
}

TEST(without_times_of_the_core_the_files_stand) {
    tm_tpu_clock clock;
    tm_error err;
    int64_t begin = 5, end = 9;
    assert_int_equal(tm_tpu_clock_fit(NULL, 0, &clock, &err), TM_OK);
    tm_tpu_clock_move(&clock, &begin, &end);
    assert_int_equal(begin, 5);
    assert_int_equal(end, 9);
    assert_int_equal(tm_tpu_clock_host(&clock, 7), 7);
    tm_tpu_clock_free(&clock);
}

static tm_text text(const char *string) {
    return (tm_text){string, strlen(string)};
}

static void check_text(tm_text found, const char *expected) {
    assert_int_equal(found.size, strlen(expected));
    assert_memory_equal(found.bytes, expected, found.size);
}

#define COPY                                                                                       \
    "%copy-start.1 = (f32[5,1024]{1,0:T(8,128)S(5)}, f32[5,1024]{1,0:T(8,128)}, u32[]{:S(2)}) "    \
    "copy-start(f32[5,1024]{1,0:T(8,128)} %fusion.2)"

TEST(an_operation_is_taken_apart) {
    static const struct {
        const char *text, *name, *opcode, *operand, *channel;
        int64_t bytes; /* bytes of its operands */
    } cases[] = {
        {COPY, "copy-start.1", "copy-start", "fusion.2", "", INT64_C(5) * 1024 * 4},
        {"%all-reduce = (f32[8]{0}, bf16[2,3]{1,0}) all-reduce(f32[8]{0} %a, bf16[2,3]{1,0} %b), "
         "metadata={op_name=\"x(y), channel_id=9\"}, channel_id=1, to_apply=%add",
         "all-reduce", "all-reduce", "a", "1", 8 * 4 + 6 * 2},
        {"%d = f32[8]{0} all-gather-done((f32[1]{0}, f32[8]{0}) %all-gather-start.3)", "d",
         "all-gather-done", "all-gather-start.3", "", INT64_C(9) * 4},
        {"%p = pred[] parameter(0)", "p", "parameter", "", "", -1},
        {"fusion.7", "fusion.7", "", "", "", -1},
        {"%cut = (f32[8]{0}, f32[", "cut", "", "", "", -1},
        {"%odd = f32[99999999999]{0} copy(f32[99999999999]{0} %x)", "odd", "copy", "x", "", -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_hlo hlo = tm_hlo_parse(text(cases[i].text));
        check_text(hlo.name, cases[i].name);
        check_text(hlo.opcode, cases[i].opcode);
        check_text(tm_hlo_first_operand(&hlo), cases[i].operand);
        check_text(tm_hlo_attribute(&hlo, "channel_id"), cases[i].channel);
        assert_int_equal(tm_hlo_size_of(hlo.operands).bytes, cases[i].bytes);
    }
    tm_hlo hlo = tm_hlo_parse(text(COPY));
    assert_int_equal(tm_hlo_memory(hlo.shape, 0), TM_HLO_HOST_MEMORY);
    assert_int_equal(tm_hlo_memory(hlo.shape, 1), 0);
    assert_int_equal(tm_hlo_memory(hlo.shape, 2), 2);
    assert_int_equal(tm_hlo_memory(hlo.shape, 3), 0);
    assert_string_equal(tm_hlo_size_of(hlo.operands).dtype, "Float");
}

TEST(the_category_tells_what_an_operation_does) {
    static const struct {
        const char *text, *category;
        tm_hlo_kind kind;
    } cases[] = {
#define OP(name, opcode) "%" name " = f32[] " opcode "(f32[] %x)"
        {OP("all-reduce", "all-reduce"), "all-reduce", {TM_HLO_COLLECTIVE, 0, TM_COLL_ALLREDUCE}},
        {OP("f.1", "fusion"), "all-reduce fusion", {TM_HLO_COLLECTIVE, 0, TM_COLL_ALLREDUCE}},
        {OP("a", "all-gather-start"),
         "all-gather-start",
         {TM_HLO_COLLECTIVE, TM_HLO_START, TM_COLL_ALLGATHER}},
        {OP("a", "all-gather-done"),
         "all-gather-done",
         {TM_HLO_COLLECTIVE, TM_HLO_DONE, TM_COLL_ALLGATHER}},
        {OP("reduce-scatter-start.2", "async-start"),
         "async-start",
         {TM_HLO_COLLECTIVE, TM_HLO_START, TM_COLL_REDUCESCATTER}},
        {OP("slice-done.2", "async-done"), "async-done", {TM_HLO_COPY, TM_HLO_DONE, 0}},
        {OP("c", "copy-start"), "copy-start", {TM_HLO_COPY, TM_HLO_START, 0}},
        {OP("c", "copy-done"), "copy-done", {TM_HLO_COPY, TM_HLO_DONE, 0}},
        {OP("c", "copy"), "data formatting", {TM_HLO_COMPUTE, 0, 0}},
        {OP("p", "collective-permute"),
         "collective-permute",
         {TM_HLO_COLLECTIVE, 0, TM_COLL_SENDRECV}},
        {OP("s", "send"), "send", {TM_HLO_COLLECTIVE, TM_HLO_START, TM_COLL_SEND}},
        {OP("s", "send-done"), "send-done", {TM_HLO_COLLECTIVE, TM_HLO_DONE, TM_COLL_SEND}},
        {OP("s", "send"), "host send", {TM_HLO_TO_HOST, TM_HLO_START, 0}},
        {OP("s", "recv-done"), "host recv", {TM_HLO_FROM_HOST, TM_HLO_DONE, 0}},
        {OP("i", "infeed"), "infeed", {TM_HLO_FROM_HOST, 0, 0}},
        {OP("w.1", "while"), "while", {TM_HLO_HOLDS, 0, 0}},
        {OP("w.1", "while"), "", {TM_HLO_HOLDS, 0, 0}},
        {OP("f", "fusion"), "loop fusion", {TM_HLO_COMPUTE, 0, 0}},
        {OP("f", "custom-call"), "custom-call", {TM_HLO_COMPUTE, 0, 0}},
        {"sendrecv_kernel", "", {TM_HLO_COMPUTE, 0, 0}},
#undef OP
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_hlo hlo = tm_hlo_parse(text(cases[i].text));
        tm_hlo_kind kind = tm_hlo_kind_of(&hlo, text(cases[i].category));
        assert_int_equal(kind.class, cases[i].kind.class);
        assert_int_equal(kind.part, cases[i].kind.part);
        assert_int_equal(kind.kind, cases[i].kind.kind);
    }
}

/* The program lists its eight devices in an unusual order, so that a device's position in the list
 * differs from its id. They are 2 replicas of 4 parts, or 1 replica of 8. */
TEST(a_group_is_found_by_its_text) {
    static const int64_t devices[] = {10, 11, 12, 13, 7, 6, 5, 4};
#define ALL_REDUCE(attributes) "%a = f32[] all-reduce(f32[] %x), " attributes
#define PERMUTE(attributes) "%a = f32[] collective-permute(f32[] %x), " attributes
#define GLOBAL ", channel_id=1, use_global_device_ids=true"
    static const struct {
        const char *text;
        size_t parts;
        int64_t own;
        int64_t members[9]; /* ended by 0 */
    } cases[] = {
        /* Numbers are parts of the one replica. The group of part 2 is {2,3}: devices 12, 13 */
        {ALL_REDUCE("replica_groups={{0,1},{2,3},{4,5,6},{7}}" GLOBAL), 8, 12, {12, 13}},
        {ALL_REDUCE("replica_groups={{0,1},{2,3},{4,5,6},{7}}" GLOBAL), 8, 6, {5, 6, 7}},
        /* 0..7 as 2 rows of 4, transposed: 0 4 1 5 2 6 3 7, in pairs. Device 5 is part 6; its pair
         * is {2, 6}: devices 12 and 5 */
        {ALL_REDUCE("replica_groups=[4,2]<=[2,4]T(1,0)" GLOBAL), 8, 5, {5, 12}},
        {ALL_REDUCE("replica_groups=[2,4]<=[8]" GLOBAL), 8, 4, {4, 5, 6, 7}},
        /* 0..7 as 2 x 2 x 2, last two axes swapped: 0 2 1 3 4 6 5 7, in pairs. Device 11 is part 1;
         * its pair is {1, 3}: devices 11 and 13 */
        {ALL_REDUCE("replica_groups=[4,2]<=[2,2,2]T(0,2,1)" GLOBAL), 8, 11, {11, 13}},
        {ALL_REDUCE("replica_groups={}"), 1, 11, {4, 5, 6, 7, 10, 11, 12, 13}},
        /* numbers are replicas; members have the same part: part 1 of both is devices 11 and 6 */
        {ALL_REDUCE("replica_groups={{0,1}}"), 4, 6, {6, 11}},
        /* with a channel but without global ids, all parts of these replicas are in the group */
        {ALL_REDUCE("channel_id=1, replica_groups={{0},{1}}"), 4, 6, {4, 5, 6, 7}},
        /* A permutation with a channel is between parts: 0 -> 1 -> 0 and 2 -> 3 */
        {PERMUTE("channel_id=1, source_target_pairs={{0,1},{1,0},{2,3}}"), 4, 6, {6, 7}},
        {PERMUTE("channel_id=1, source_target_pairs={{0,1},{1,0}}"), 4, 4, {0}},
        /* invalid groups */
        {ALL_REDUCE("replica_groups=[4,2]<=[2,4]T(1,1)" GLOBAL), 8, 4, {0}},
        {ALL_REDUCE("replica_groups=[4,2]<=[2,5]" GLOBAL), 8, 4, {0}},
        {ALL_REDUCE("replica_groups=[4,2" GLOBAL), 8, 4, {0}},
        {ALL_REDUCE("replica_groups={{0,7},{8,x}}" GLOBAL), 8, 11, {0}},
        {ALL_REDUCE("replica_groups={{0,9}}" GLOBAL), 8, 10, {0}},
        {ALL_REDUCE("replica_groups={}"), 1, 99, {0}},
    };
    tm_vec members = TM_VEC(int64_t);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_assignment assignment = {devices, COUNT(devices) / cases[i].parts, cases[i].parts};
        tm_hlo hlo = tm_hlo_parse(text(cases[i].text));
        size_t n = 0;
        while (cases[i].members[n] != 0)
            n++;
        assert_true(tm_hlo_group(&hlo, &assignment, cases[i].own, &members));
        assert_int_equal(members.n, n);
        if (n > 0)
            assert_memory_equal(members.data, cases[i].members, n * sizeof(int64_t));
    }
    tm_vec_free(&members);
}

/* Number 0 only sends, 3 only receives, and 1 does both. 2 sends to itself, and 4 is in no pair. */
TEST(a_permutation_tells_who_gives_and_who_takes) {
    static const int64_t devices[] = {10, 11, 12, 13, 14};
    static const int ends[] = {
        TM_HLO_SENDS, TM_HLO_SENDS | TM_HLO_RECEIVES, 0, TM_HLO_RECEIVES, 0, 0};
    const tm_assignment assignment = {devices, 1, 5};
    tm_hlo hlo =
        tm_hlo_parse(text(PERMUTE("channel_id=1, source_target_pairs={{0,1},{1,3},{2,2}}")));
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(tm_hlo_ends(&hlo, &assignment, 10 + i), ends[i]);
}

RUN_TESTS()
