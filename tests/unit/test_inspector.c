/* Records of NCCL's inspector: how they are recognised, their rank, and the events made of them. */
#include <inttypes.h>

#include "trace_text.h"

/* A record of NCCL 2.28 to 2.30. It has an operation and, in the verbose form, channels. */
#define RECORD_OF(id, rank, size, operation)                                                       \
    "{'header':{'id':'" id "','rank':" #rank ",'n_ranks':" #size                                   \
    ",'nnodes':1},'metadata':{'inspector_output_format_version':'v4.0','git_rev':'',"              \
    "'rec_mechanism':'nccl_profiler_interface','dump_timestamp_us':9000,'hostname':'n7','pid':5}"  \
    "," operation "}\n"
#define RECORD(operation) RECORD_OF("0xab", 1, 4, operation)
#define CHANNEL(start, stop)                                                                       \
    "{'channel_id':0,'kernel_start_ts':" #start ",'kernel_stop_ts':" #stop ",'kernel_record_ts':"  \
    "0}"
#define TIMES(channels)                                                                            \
    ",'event_trace_sn':{'kernel_events':[]},'event_trace_ts':{'coll_start_ts':1,'coll_stop_ts':2," \
    "'kernel_events':[" channels "]}"
#define PERF(function, bytes, exec, source, times)                                                 \
    "'coll_perf':{'coll':'" function "','coll_sn':3,'coll_msg_size_bytes':" #bytes                 \
    ",'coll_exec_time_us':" #exec ",'coll_timing_source':'" source                                 \
    "','coll_algobw_gbs':1.5,'coll_busbw_gbs':2.25" times "}"
#define TRANSFER(function, peer)                                                                   \
    "'p2p_perf':{'p2p':'" function "','p2p_sn':3,'p2p_peer':" #peer                                \
    ",'p2p_msg_size_bytes':8,'p2p_exec_time_us':5,'p2p_timing_source':'kernel_gpu'" TIMES(         \
        CHANNEL(100, 105)) "}"

static const tm_format *const format = &tm_format_inspector;

TEST(the_first_record_tells_the_format) {
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {RECORD(PERF("AllReduce", 8, 5, "kernel_gpu", "")), true},
        {" " RECORD(TRANSFER("Send", 0)), true},
        {"{'header':{},'metadata':{},'coll_perf':{}}", false},
        {RECORD_OF("0xab", 4, 4, PERF("AllReduce", 8, 5, "kernel_gpu", "")), true}, /* bad rank */
        {"NCCL INFO\n{'header':{'id':\n" RECORD(TRANSFER("Send", 0)), true},
        {"{'header':{'id':'0xab','rank':1,'n_r", true}, /* cut off */
        {RECORD("'coll_perf':7"), false},
        {"{'traceEvents':[]}", false},
        {"[]", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        assert_int_equal(sniffs(format, cases[i].text), cases[i].is);
    }
}

TEST(an_operation_has_its_times_by_two_clocks_and_its_size_by_its_function) {
    static const struct {
        const char *operation, *event;
    } cases[] = {
        /* The host saw the kernel from 120 to 160 us; the GPU measured 45 us. The kernel ended by
         * 160, so it began at 115. */
        {PERF("AllReduce", 8, 45, "kernel_gpu", TIMES(CHANNEL(120, 160))),
         "115000+45000 in=8 out=8"},
        /* The host saw the kernel from 120 us on, so with a duration of 30 us it ended at 150. */
        {PERF("AllReduce", 8, 30, "kernel_gpu", TIMES(CHANNEL(120, 160))),
         "120000+30000 in=8 out=8"},
        /* The host's clock measured it, so it has the host's times. Unused channels are 0. */
        {PERF("Broadcast", 8, 45, "kernel_cpu",
              TIMES(CHANNEL(0, 0) "," CHANNEL(125, 155) "," CHANNEL(120, 150))),
         "120000+35000 in=8 out=8"},
        /* the size in the record is that of one rank's part; there are four ranks */
        {PERF("AllGather", 8, 5, "kernel_gpu", TIMES(CHANNEL(100, 105))),
         "100000+5000 in=8 out=32"},
        {PERF("ReduceScatter", 8, 5, "kernel_gpu", TIMES(CHANNEL(100, 105))),
         "100000+5000 in=32 out=8"},
        {TRANSFER("Send", 0), "100000+5000 in=8 dst=0"},
        {TRANSFER("Recv", 2), "100000+5000 out=8 src=2"},
        /* the record is not of the verbose form; or no channel was seen; or times are impossible */
        {PERF("AllReduce", 8, 5, "kernel_gpu", ""), NULL},
        {PERF("AllReduce", 8, 5, "kernel_gpu", TIMES(CHANNEL(0, 0))), NULL},
        {PERF("AllReduce", 8, 5, "kernel_gpu", TIMES(CHANNEL(9, 8))), NULL},
        {PERF("AllReduce", 8, 5, "kernel_gpu", TIMES(CHANNEL(1, 9000000000000000000))), NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[2048], short_text[128] = "";
        snprintf(found, sizeof found, RECORD(TRANSFER("Send", 3)) RECORD("%s"), cases[i].operation);
        reading r = read_unit_text(format, found, "n7-pid5.log", NULL);
        print_message("case %zu\n", i);
        assert_int_equal(r.trace.events.n, 1 + (cases[i].event != NULL));
        assert_int_equal(r.trace.counts[TM_COUNT_NO_TIME], cases[i].event == NULL);
        if (cases[i].event) {
            const tm_raw_event *e = (const tm_raw_event *)r.trace.events.data + 1;
            const tm_collective_attr *a =
                (const tm_collective_attr *)r.trace.attrs[TM_ATTR_COLLECTIVE].data + 1;
            int n = snprintf(short_text, sizeof short_text, "%" PRId64 "+%" PRId64, e->begin_ns,
                             e->duration_ns);
            const struct {
                const char *key;
                int64_t value;
            } values[] = {{"in", a->in_elements},
                          {"out", a->out_elements},
                          {"src", a->src_rank},
                          {"dst", a->dst_rank}};
            for (size_t k = 0; k < COUNT(values); k++)
                if (values[k].value >= 0)
                    n += snprintf(short_text + n, sizeof short_text - (size_t)n, " %s=%" PRId64,
                                  values[k].key, values[k].value);
            assert_string_equal(short_text, cases[i].event);
        }
        assert_int_equal(r.trace.rank, 1);
        assert_int_equal(r.trace.world_size, 4);
        assert_string_equal(tm_names_text(r.ground.names, r.trace.host).bytes, "n7");
        close_reading(&r);
    }
}

#define SHORT(id, rank, size) RECORD_OF(id, rank, size, TRANSFER("Send", 0))

TEST(a_rank_is_its_place_in_the_largest_communicator) {
    static const struct {
        const char *text, *units;
        int64_t rank;
    } cases[] = {
        {SHORT("0xa", 1, 2) SHORT("0xb", 5, 8) SHORT("0xa", 1, 2), "", 5},
        {SHORT("0xa", 1, 8) SHORT("0xb", 5, 8), "", -1}, /* either group or none is the job's */
        {SHORT("0xb", 5, 8) SHORT("0xa", 0, 2) SHORT("0xb", 3, 8),
         "8:ffffffffffffffff:3 8:ffffffffffffffff:5 ", 0}, /* a process that uses two GPUs */
        {SHORT("0xb", 5, 8) SHORT("0xbg", 1, 16) SHORT("7", 1, 16), "", 5}, /* last two: no hash */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[128];
        print_message("case %zu\n", i);
        units_text(format, cases[i].text, found, sizeof found);
        assert_string_equal(found, cases[i].units);
        if (*cases[i].units)
            continue;
        reading r = read_unit_text(format, cases[i].text, "n7-pid5.log", NULL);
        assert_int_equal(r.trace.rank, cases[i].rank);
        close_reading(&r);
    }
}

TEST(what_is_no_record_costs_no_other_and_what_is_cut_is_read_as_far_as_it_goes) {
    static const char *const damaged[] = {
        "[]",
        "{'header':7,}",
        "{'coll_perf':{'event_trace_ts':{'kernel_events':[{}{}]}}}",
        "{'header':{'id':'0xa",
    };
    const size_t one = sizeof(SHORT("0xa", 0, 2)) - 1;
    char bytes[TRACE_TEXT_MAX];
    for (size_t i = 0; i < COUNT(damaged); i++) {
        snprintf(bytes, sizeof bytes, SHORT("0xa", 0, 2) "\n%s\n" SHORT("0xa", 0, 2), damaged[i]);
        reading r = read_unit_text(format, bytes, "n7-pid5.log", NULL);
        print_message("damaged %zu\n", i);
        assert_int_equal(r.trace.events.n, 2);
        assert_int_equal(r.trace.counts[TM_COUNT_NOT_RECORD], 1);
        close_reading(&r);
    }
    quoted_text(SHORT("0xa", 0, 2) SHORT("0xa", 0, 2), bytes);
    for (size_t cut = 1; cut < 2 * one; cut++) {
        reading r;
        tm_status status = try_unit(format, bytes, cut, "some.log", NULL, &r);
        assert_int_equal(status, cut < one - 1 ? TM_ERR_INPUT : TM_OK);
        if (status == TM_OK) {
            assert_int_equal(r.trace.events.n, cut < 2 * one - 1 ? 1 : 2);
            assert_int_equal(r.trace.truncated, cut > one && cut < 2 * one - 1);
        }
        close_reading(&r);
    }
}

RUN_TESTS()
