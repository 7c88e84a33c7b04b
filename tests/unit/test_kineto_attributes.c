/* The tracks that the Kineto reader finds, and what it keeps of the args of events. */
#include <math.h>

#include "kineto_fixture.h"

static void a_number_and_its_text_are_the_same_track(void **state) {
    static const char *const events[] = {
        "{'ph':'X','cat':'cpu_op','name':'e','pid':123,'tid':-4,'ts':1,'dur':2}",
        "{'ph':'X','cat':'cpu_op','name':'e','pid':'123','tid':'-4','ts':1,'dur':2}",
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,'args':{'device':0,"
         "'stream':7}}"),
        ("{'ph':'X','cat':'kernel','name':'e','pid':'0','tid':'7','ts':1,'dur':2,"
         "'args':{'device':0,'stream':7}}"),
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':'stream 7 ','ts':1,'dur':2,"
         "'args':{'device':0,'stream':7}}"),
        "{'ph':'X','cat':'Kernel','name':'e','pid':2,'tid':'stream 20 ','ts':1,'dur':2}",
        "{'ph':'X','cat':'Kernel','name':'e','pid':3,'tid':21,'ts':1,'dur':2}",
        "{'ph':'X','cat':'kernel','name':'e','pid':'x','tid':'y','ts':1,'dur':2}",
        "{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':-1,'ts':1,'dur':2}", /* no stream */
        ("{'ph':'X','cat':'cpu_op','name':'e','pid':'Spans','tid':'PyTorch Profiler','ts':1,"
         "'dur':2}"),
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2}",
    };
    reading r = READ_EVENTS(events);
    static const struct {
        size_t track;
        int32_t device;
        int64_t stream;
        const char *pid, *tid;
    } expected[] = {
        {0, -1, -1, "123", "-4"},    {0, -1, -1, "123", "-4"},
        {1, 0, 7, "0", "7"},         {1, 0, 7, "0", "7"},
        {2, 0, 7, "0", "stream 7 "}, {3, 2, 20, "2", "stream 20 "},
        {4, 3, 21, "3", "21"},       {5, -1, -1, "x", "y"},
        {6, 0, -1, "0", "-1"},       {7, -1, -1, "Spans", "PyTorch Profiler"},
        {8, -1, -1, "", ""},
    };
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(event_at(&r, i)->track, expected[i].track);
        assert_int_equal(track_at(&r, i)->device, expected[i].device);
        assert_int_equal(track_at(&r, i)->stream, expected[i].stream);
        assert_name(&r.ground, track_at(&r, i)->pid, expected[i].pid);
        assert_name(&r.ground, track_at(&r, i)->tid, expected[i].tid);
    }
    assert_int_equal(r.trace.tracks.n, 9);
    close_reading(&r);
}

static void a_gpu_whose_pid_equals_a_process_has_tracks_of_its_own(void **state) {
    static const char *const events[] = {
        "{'ph':'X','cat':'cpu_op','name':'e','pid':1,'tid':7,'ts':1,'dur':2}",
        "{'ph':'X','cat':'kernel','name':'e','pid':1,'tid':7,'ts':1,'dur':2}",
        "{'ph':'X','cat':'cuda_runtime','name':'e','pid':1,'tid':7,'ts':1,'dur':2}",
        "{'ph':'X','cat':'gpu_memset','name':'e','pid':1,'tid':7,'ts':1,'dur':2}",
    };
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.tracks.n, 2);
    assert_int_equal(track_at(&r, 0)->kind, TM_TRACK_CPU);
    assert_int_equal(track_at(&r, 1)->kind, TM_TRACK_GPU);
    assert_int_equal(event_at(&r, 2)->track, event_at(&r, 0)->track);
    assert_int_equal(event_at(&r, 3)->track, event_at(&r, 1)->track);
    close_reading(&r);
}

static void metadata_records_name_processes_and_threads_and_the_last_wins(void **state) {
    static const char *const events[] = {
        "{'ph':'M','name':'process_name','pid':1,'tid':0,'ts':0,'args':{'name':'first'}}",
        "{'ph':'M','name':'thread_name','pid':1,'tid':2,'ts':0,'args':{'name':'old'}}",
        "{'ph':'X','cat':'cpu_op','name':'e','pid':1,'tid':2,'ts':1,'dur':2}",
        "{'ph':'X','cat':'cpu_op','name':'e','pid':1,'tid':3,'ts':1,'dur':2}",
        "{'ph':'X','cat':'cpu_op','name':'e','pid':2,'tid':2,'ts':1,'dur':2}",
        ("{'ph':'M','name':'thread_name','pid':1,'tid':'2','ts':0,"
         "'args':{'name':'thread 2 (python)'}}"),
        ("{'ph':'M','name':'process_name','pid':'1','tid':0,'ts':0,"
         "'args':{'name':'pyt\\u0068on'}}"),
        /* makes no track */
        "{'ph':'M','name':'thread_name','pid':9,'tid':9,'ts':0,'args':{'name':'nobody'}}",
        "{'ph':'M','name':'process_labels','pid':1,'args':{'labels':'CPU'}}",
        "{'ph':'M','name':'process_sort_index','pid':1,'args':{'sort_index':5}}",
        "{'ph':'M','name':'thread_name','pid':1,'tid':3}",
    };
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.tracks.n, 3);
    assert_name(&r.ground, track_at(&r, 0)->process_name, "python");
    assert_name(&r.ground, track_at(&r, 0)->thread_name, "thread 2 (python)");
    assert_name(&r.ground, track_at(&r, 1)->process_name, "python");
    assert_name(&r.ground, track_at(&r, 1)->thread_name, "");
    assert_name(&r.ground, track_at(&r, 2)->process_name, "");
    assert_name(&r.ground, track_at(&r, 2)->thread_name, "");
    ASSERT_COUNTS(&r, TM_COUNT_METADATA, 8);
    close_reading(&r);
}

static void a_kernel_has_all_its_attributes(void **state) {
    static const char *const events[] = {
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"
         "'args':{'External id':5,'queued':0,'device':3,'context':1,'stream':27,"
         "'correlation':9007199254740993,'registers per thread':40,'shared memory':49152,"
         "'blocks per SM':1.25,'warps per SM':10.5,'grid':[65535,2,3],'block': [ 128 , 4 , 1 ],"
         "'est. achieved occupancy %':31}}"),
        ("{'ph':'X','cat':'Kernel','name':'e','pid':1,'tid':8,'ts':1,'dur':2,"
         "'args':{'theoretical occupancy %':12.5,'correlation':7}}"),
        "{'ph':'X','cat':'kernel','name':'e','pid':1,'tid':8,'ts':1,'dur':2}",
        /* ROCm: texts for numbers, nothing of an SM */
        ("{'ph':'X','cat':'kernel','name':'e','pid':1,'tid':9,'ts':1,'dur':2,"
         "'args':{'device':'1','stream':'0','correlation':'11','kind':'Dispatch Kernel',"
         "'grid':[1,1,1],'block':[64,1,1]}}"),
    };
    reading r = READ_EVENTS(events);
    const tm_kernel_attr *a = attr_at(&r, TM_ATTR_KERNEL, 0);
    assert_int_equal(r.trace.attrs[TM_ATTR_KERNEL].n, 4);
    assert_int_equal(a->event, 0);
    assert_int_equal(a->correlation, 9007199254740993); /* 2^53 + 1: no double */
    const tm_launch_shape *shape = shape_at(&r.trace, 0);
    assert_int_equal(shape->registers, 40);
    assert_int_equal(shape->shared_memory_bytes, 49152);
    assert_true(shape->blocks_per_sm == 1.25f && shape->warps_per_sm == 10.5f &&
                shape->occupancy_pct == 31.0f);
    static const int32_t grid[] = {65535, 2, 3}, block[] = {128, 4, 1}, none[] = {-1, -1, -1};
    assert_memory_equal(shape->grid, grid, sizeof grid);
    assert_memory_equal(shape->block, block, sizeof block);
    assert_int_equal(track_at(&r, 0)->device, 3); /* what args say, before the pid */
    assert_int_equal(track_at(&r, 0)->stream, 27);
    assert_true(shape_at(&r.trace, 1)->occupancy_pct == 12.5f);
    const tm_kernel_attr *bare = attr_at(&r, TM_ATTR_KERNEL, 2);
    assert_int_equal(bare->event, 2);
    assert_int_equal(bare->correlation, 0);
    shape = shape_at(&r.trace, 2);
    assert_int_equal(shape->registers, -1);
    assert_int_equal(shape->shared_memory_bytes, -1);
    assert_true(isnan(shape->blocks_per_sm) && isnan(shape->warps_per_sm) &&
                isnan(shape->occupancy_pct));
    assert_memory_equal(shape->grid, none, sizeof none);
    assert_memory_equal(shape->block, none, sizeof none);
    const tm_kernel_attr *rocm = attr_at(&r, TM_ATTR_KERNEL, 3);
    assert_int_equal(rocm->correlation, 11);
    assert_int_equal(track_at(&r, 3)->stream, 0);
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

/* 0.03 warps of 64 are 0.05 %, which is written as 0; 12 are not. */
static void an_occupancy_of_0_is_unknown_unless_it_was_rounded(void **state) {
#define OCCUPIED(value, more)                                                                      \
    "{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"                          \
    "'args':{'est. achieved occupancy %':" value more "}}"
    static const char *const events[] = {
        OCCUPIED("0", ",'warps per SM':12"),   OCCUPIED("0", ""),
        OCCUPIED("-99", ",'warps per SM':1"),  OCCUPIED("0", ",'warps per SM':0"),
        OCCUPIED("0", ",'warps per SM':0.03"),
    };
    reading r = READ_EVENTS(events);
    for (size_t i = 0; i < COUNT(events) - 1; i++)
        assert_true(isnan(shape_at(&r.trace, i)->occupancy_pct));
    assert_true(shape_at(&r.trace, COUNT(events) - 1)->occupancy_pct == 0.0f);
    close_reading(&r);
}

static void copies_and_sets_have_bytes_and_a_bandwidth_where_there_is_one(void **state) {
    static const char *const events[] = {
        ("{'ph':'X','cat':'gpu_memcpy','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"
         "'args':{'correlation':3,'bytes':8589934592,'memory bandwidth (GB/s)':12.5}}"),
        ("{'ph':'X','cat':'Memset','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"
         "'args':{'correlation':4,'bytes':16,'memory bandwidth (GB/s)':'N/A'}}"),
        ("{'ph':'X','cat':'gpu_memset','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"
         "'args':{'memory bandwidth (GB/s)':'inf'}}"),
    };
    reading r = READ_EVENTS(events);
    const tm_copy_attr *copy = attr_at(&r, TM_ATTR_COPY, 0), *set = attr_at(&r, TM_ATTR_COPY, 1),
                       *bare = attr_at(&r, TM_ATTR_COPY, 2);
    assert_int_equal(r.trace.attrs[TM_ATTR_COPY].n, 3);
    assert_int_equal(r.trace.attrs[TM_ATTR_KERNEL].n, 0);
    assert_int_equal(copy->event, 0);
    assert_int_equal(copy->correlation, 3);
    assert_int_equal(copy->bytes, 8589934592); /* 2^33 */
    assert_true(copy->bandwidth_gbps == 12.5f);
    assert_int_equal(set->event, 1);
    assert_int_equal(set->bytes, 16);
    assert_true(isnan(set->bandwidth_gbps));
    assert_int_equal(bare->bytes, -1);
    assert_int_equal(bare->correlation, 0);
    assert_true(isnan(bare->bandwidth_gbps));
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

static void calls_of_runtime_and_driver_have_a_correlation_unless_it_is_zero(void **state) {
    static const char *const events[] = {
        ("{'ph':'X','cat':'cuda_runtime','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'cbid':211,'correlation':31}}"),
        ("{'ph':'X','cat':'cuda_runtime','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'correlation':0}}"),
        ("{'ph':'X','cat':'Runtime','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'external id':7,'correlation':32}}"),
        ("{'ph':'X','cat':'cuda_driver','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'correlation':-33}}"),
        "{'ph':'X','cat':'cuda_runtime','name':'e','pid':1,'tid':2,'ts':1,'dur':2}",
        ("{'ph':'X','cat':'cpu_op','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'correlation':34}}"),
    };
    reading r = READ_EVENTS(events);
    static const tm_launch_attr expected[] = {{31, 0}, {32, 2}, {-33, 3}};
    assert_int_equal(r.trace.attrs[TM_ATTR_LAUNCH].n, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tm_launch_attr *launch = attr_at(&r, TM_ATTR_LAUNCH, i);
        assert_int_equal(launch->correlation, expected[i].correlation);
        assert_int_equal(launch->event, expected[i].event);
    }
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

static void a_collective_has_all_its_attributes_on_kernel_and_operator(void **state) {
    static const char *const events[] = {
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':20,'ts':1,'dur':2,"
         "'args':{'correlation':5,'Collective name':'all_to_allv','In msg nelems':4096,"
         "'Out msg nelems':8192,'Group size':32,'dtype':'BFloat16','In split size':'[1, 2]',"
         "'Out split size':'[]','Process Group Name':'0',"
         "'Process Group Description':'default_pg','Process Group Ranks':'[0, 1, ...]',"
         "'Global rank start':8,'Global rank stride':2,'Src Rank':3,'Dst Rank':4,'Seq':77,"
         "'Comms Id':17293822569102704640}}"),
        ("{'ph':'X','cat':'cpu_op','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'Collective name':'allreduce','Process Group Name':12,'Comms Id':'-5'}}"),
        /* no name, no collective */
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':20,'ts':1,'dur':2,"
         "'args':{'Group size':4}}"),
    };
    reading r = READ_EVENTS(events);
    const tm_collective_attr *a = attr_at(&r, TM_ATTR_COLLECTIVE, 0),
                             *op = attr_at(&r, TM_ATTR_COLLECTIVE, 1);
    assert_int_equal(r.trace.attrs[TM_ATTR_COLLECTIVE].n, 2);
    assert_int_equal(a->event, 0);
    assert_name(&r.ground, a->name, "all_to_allv");
    assert_int_equal(a->in_elements, 4096);
    assert_int_equal(a->out_elements, 8192);
    assert_int_equal(a->group_size, 32);
    assert_name(&r.ground, a->dtype, "BFloat16");
    assert_name(&r.ground, a->in_split, "[1, 2]");
    assert_name(&r.ground, a->out_split, "[]");
    assert_name(&r.ground, a->group, "0");
    assert_name(&r.ground, a->group_description, "default_pg");
    assert_name(&r.ground, a->group_ranks, "[0, 1, ...]");
    assert_int_equal(a->rank_start, 8);
    assert_int_equal(a->rank_stride, 2);
    assert_int_equal(a->src_rank, 3);
    assert_int_equal(a->dst_rank, 4);
    assert_int_equal(a->seq, 77);
    /* 17293822569102704640 = 15 * 2^60, as 64 bits with a sign -2^60 */
    assert_int_equal(a->comms_id, -1152921504606846976);
    assert_int_equal(op->event, 1);
    assert_name(&r.ground, op->group, "12");
    assert_int_equal(op->comms_id, -5);
    assert_int_equal(op->seq, -1);
    assert_int_equal(op->in_elements, -1);
    assert_int_equal(op->group_size, -1);
    assert_int_equal(op->rank_start, -1);
    assert_int_equal(op->src_rank, -1);
    assert_int_equal(op->dtype, TM_NO_NAME);
    assert_int_equal(op->group_ranks, TM_NO_NAME);
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

static void a_wait_has_its_kind_its_streams_and_the_ids_of_its_calls(void **state) {
#define SYNC(args)                                                                                 \
    "{'ph':'X','cat':'cuda_sync','name':'Stream Sync','pid':0,'ts':1,'dur':2," args "}"
    static const char *const events[] = {
        SYNC("'tid':24,'args':{'cuda_sync_kind':'Stream Wait Event','wait_on_stream':20,"
             "'wait_on_cuda_event_record_corr_id':1385,'wait_on_cuda_event_id':19,'stream':24,"
             "'correlation':1389,'device':0}"),
        SYNC("'tid':-1,'args':{'cuda_sync_kind':'Event Sync','wait_on_stream':-1,"
             "'wait_on_cuda_event_record_corr_id':-1,'stream':-1,'correlation':24,'device':0}"),
        SYNC("'tid':-1,'args':{'cuda_sync_kind':'Context Sync','stream':4294967295,"
             "'correlation':225,'device':0}"),
        SYNC("'tid':7,'args':{'stream':7,'correlation':15,'device':0}"), /* its name tells */
        SYNC("'tid':7,'args':{'cuda_sync_kind':'New Sync','stream':7,'device':0}"),
        /* no wait, whatever it says */
        ("{'ph':'X','cat':'cpu_op','name':'e','pid':1,'tid':2,'ts':1,'dur':2,"
         "'args':{'wait_on_stream':7}}"),
    };
#undef SYNC
    static const tm_wait_attr expected[] = {
        {1389, 1385, 24, 20, 0, TM_NO_EVENT, TM_NO_EVENT, TM_WAIT_STREAM_WAIT},
        {24, 0, -1, -1, 1, TM_NO_EVENT, TM_NO_EVENT, TM_WAIT_EVENT_SYNC},
        {225, 0, -1, -1, 2, TM_NO_EVENT, TM_NO_EVENT, TM_WAIT_CONTEXT_SYNC},
        {15, 0, -1, 7, 3, TM_NO_EVENT, TM_NO_EVENT, TM_WAIT_STREAM_SYNC}, /* the host waits */
        {0, 0, 7, -1, 4, TM_NO_EVENT, TM_NO_EVENT, TM_WAIT_OTHER},
    };
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.attrs[TM_ATTR_WAIT].n, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tm_wait_attr *a = attr_at(&r, TM_ATTR_WAIT, i), *e = &expected[i];
        assert_int_equal(a->correlation, e->correlation);
        assert_int_equal(a->record_correlation, e->record_correlation);
        assert_int_equal(a->stream, e->stream);
        assert_int_equal(a->on_stream, e->on_stream);
        assert_int_equal(a->event, e->event);
        assert_int_equal(a->call, e->call);
        assert_int_equal(a->record, e->record);
        assert_int_equal(a->kind, e->kind);
    }
    assert_int_equal(track_at(&r, 2)->stream, -1); /* 2^32 - 1 is no stream */
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

static void a_memory_instant_has_bytes_and_what_its_age_recorded(void **state) {
    static const char *const events[] = {
        ("{'ph':'i','cat':'cpu_instant_event','s':'t','name':'[memory]','pid':1,'tid':2,'ts':5,"
         "'args':{'Total Reserved':4194304,'Total Allocated':2048,'Bytes':-1024,"
         "'Addr':139637976727552,'Device Id':3,'Device Type':1,'Ev Idx':9}}"),
        ("{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':2,'ts':5,'args':{'Device Type':0,"
         "'Device Id':-1,'Bytes':64}}"),
    };
    reading r = READ_EVENTS(events);
    const tm_memory_attr *a = attr_at(&r, TM_ATTR_MEMORY, 0), *old = attr_at(&r, TM_ATTR_MEMORY, 1);
    assert_int_equal(r.trace.attrs[TM_ATTR_MEMORY].n, 2);
    assert_int_equal(event_at(&r, 0)->category, TM_CAT_CPU_INSTANT);
    assert_int_equal(event_at(&r, 1)->category, TM_CAT_NONE);
    assert_int_equal(a->event, 0);
    assert_int_equal(a->bytes, -1024);
    assert_int_equal(a->address, 139637976727552);
    assert_int_equal(a->allocated_bytes, 2048);
    assert_int_equal(a->reserved_bytes, 4194304);
    assert_int_equal(a->device_type, 1);
    assert_int_equal(a->device, 3);
    assert_int_equal(old->event, 1);
    assert_int_equal(old->bytes, 64);
    assert_int_equal(old->address, -1);
    assert_int_equal(old->allocated_bytes, -1);
    assert_int_equal(old->reserved_bytes, -1);
    assert_int_equal(old->device_type, 0);
    assert_int_equal(old->device, -1);
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

static void a_counter_has_a_row_for_every_series_that_is_a_number(void **state) {
    static const char *const events[] = {
        ("{'ph':'C','cat':'hardware_counters','name':'sm','pid':'GPU 0 Counters','ts':1,"
         "'args':{'':0.5}}"),
        ("{'ph':'C','name':'several','pid':1,'ts':2,'args':{'a':1,'text':'2','b\\u0062':-3e2,"
         "'nested':{'c':4},'none':null}}"),
        "{'ph':'C','name':'nothing','pid':1,'ts':3}",
        "{'ph':'C','name':'empty','pid':1,'ts':3,'args':{}}",
    };
    reading r = READ_EVENTS(events);
    static const struct {
        uint32_t event;
        const char *series;
        double value;
    } expected[] = {{0, "", 0.5}, {1, "a", 1}, {1, "bb", -300}};
    assert_int_equal(r.trace.events.n, 4);
    assert_int_equal(r.trace.attrs[TM_ATTR_COUNTER].n, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tm_counter_attr *row = attr_at(&r, TM_ATTR_COUNTER, i);
        assert_int_equal(row->event, expected[i].event);
        assert_name(&r.ground, row->series, expected[i].series);
        assert_true(row->value == expected[i].value);
    }
    ASSERT_COUNTS(&r, TM_COUNT_OTHER_CATEGORY, 1);
    close_reading(&r);
}

static void an_attribute_of_another_type_is_left_empty_and_counted(void **state) {
    static const char *const events[] = {
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"
         "'args':{'correlation':'seven','grid':[1,2],'block':[1,'2',3],"
         "'registers per thread':1.5,'shared memory':[16],'device':true}}"),
        /* null is not said, and no wrong type */
        ("{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,"
         "'args':{'correlation':null,'grid':null}}"),
        "{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,'args':[1,2]}",
        "{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,'args':7}",
    };
    reading r = READ_EVENTS(events);
    const tm_kernel_attr *a = attr_at(&r, TM_ATTR_KERNEL, 0);
    assert_int_equal(r.trace.attrs[TM_ATTR_KERNEL].n, 4);
    assert_int_equal(a->correlation, 0);
    const tm_launch_shape *shape = shape_at(&r.trace, 0);
    assert_int_equal(shape->grid[0], -1);
    assert_int_equal(shape->block[0], -1);
    assert_int_equal(shape->registers, -1);
    assert_int_equal(shape->shared_memory_bytes, -1);
    assert_int_equal(track_at(&r, 0)->device, 0); /* the pid says it then */
    ASSERT_COUNTS(&r, TM_COUNT_BAD_VALUE, 6);
    close_reading(&r);
}

static void input_dimensions_of_operators_are_kept_on_one_line(void **state) {
    static const char *const events[] = {
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[8, 16], []]}}",
        ("{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[\n [8,16] ,\n"
         "  []]\n}}"),
        "{'ph':'X','cat':'Operator','name':'e','ts':1,'dur':2,'args':{'Input dims':[[[4]], []]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[\n ]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':null}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':7}}",
        "{'ph':'X','cat':'kernel','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[1]]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[['a b',1.5]]}}",
        /* What was seen before, in turn with what is alike, and on several lines. */
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[8, 16], [3]]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[9, 16], [3]]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[9, 16], [3]]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[8, 16], [3]]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[8,\n16], [3]]}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[[8,\n16], [3]]}}",
    };
    static const struct {
        uint32_t event;
        const char *shapes;
    } expected[] = {{0, "[[8, 16], []]"},   {1, "[[8, 16], []]"},   {2, "[[[4]], []]"},
                    {8, "[[\"a b\",1.5]]"}, {9, "[[8, 16], [3]]"},  {10, "[[9, 16], [3]]"},
                    {11, "[[9, 16], [3]]"}, {12, "[[8, 16], [3]]"}, {13, "[[8, 16], [3]]"},
                    {14, "[[8, 16], [3]]"}};
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.attrs[TM_ATTR_SHAPES].n, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tm_shapes_attr *row = attr_at(&r, TM_ATTR_SHAPES, i);
        assert_int_equal(row->event, expected[i].event);
        assert_name(&r.ground, row->shapes, expected[i].shapes);
    }
    assert_int_equal(r.trace.counts[TM_COUNT_BAD_VALUE], 1); /* the 7 */
    close_reading(&r);
}

static void long_input_dimensions_are_cut_at_512_bytes(void **state) {
    enum { LINES = 2 }; /* without and with a line break in them, the same is kept */
    char event[LINES][4096], expected[1024] = "[";
    const char *events[LINES] = {event[0], event[1]};
    for (int line = 0; line < LINES; line++) {
        strcpy(event[line],
               "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Input Dims':[");
        strcat(event[line], line == 0 ? "" : "\n");
        for (int i = 0; i < 200; i++)
            strcat(event[line], i > 0 ? ", [10, 2]" : "[10, 2]");
        strcat(event[line], "]}}");
    }
    for (int i = 0; i < 80; i++) /* 9 bytes each but the first */
        strcat(expected, i > 0 ? ", [10, 2]" : "[10, 2]");
    memcpy(expected + 509, "...", 4);
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.attrs[TM_ATTR_SHAPES].n, LINES);
    for (size_t i = 0; i < LINES; i++) {
        const tm_shapes_attr *row = attr_at(&r, TM_ATTR_SHAPES, i);
        assert_name(&r.ground, row->shapes, expected);
    }
    close_reading(&r);
}

static void types_and_values_are_kept_of_operators_that_are_counted(void **state) {
#define CALLED(name, args)                                                                         \
    "{'ph':'X','cat':'cpu_op','name':'" name "','ts':1,'dur':2,'args':{" args "}}"
#define DIMS "'Input Dims':[[2, 3]],"
    static const char *const events[] = {
        CALLED("aten::mm", DIMS "'Concrete Inputs':['', '[1]'],'Input type':['float', 'Scalar']"),
        CALLED("aten::mm", DIMS "'Input type':['double']"),
        CALLED("aten::mm", "'Input type':['int'],'Input Dims':[[7]]"),
        CALLED("aten::mm", "'Input type':['int'],'Concrete Inputs':['']"), /* no shapes, no work */
        CALLED("aten::add", DIMS "'Input type':['float']"),
        CALLED("nanogpt::mm", DIMS "'Input type':['float']"),
        CALLED("flash_attn_3::fwd", DIMS "'Input type':null,'Concrete Inputs':['\\\"a']"),
    };
#undef DIMS
#undef CALLED
    static const struct {
        uint32_t event;
        const char *types, *concrete;
    } expected[] = {
        {0, "[\"float\", \"Scalar\"]", "[\"\", \"[1]\"]"},
        {1, "[\"double\"]", ""},
        {2, "[\"int\"]", ""},
        {6, "", "[\"\\\"a\"]"},
    };
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.attrs[TM_ATTR_INPUTS].n, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tm_inputs_attr *row = attr_at(&r, TM_ATTR_INPUTS, i);
        assert_int_equal(row->event, expected[i].event);
        assert_name(&r.ground, row->types, expected[i].types);
        assert_name(&r.ground, row->concrete, expected[i].concrete);
    }
    close_reading(&r);
}

static void operators_keep_autograds_number_and_their_stack(void **state) {
    static const char *const events[] = {
        ("{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Sequence number':7,"
         "'Fwd thread id':0,'Call stack':'f.py(2): g;f.py(9): <module>'}}"),
        ("{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Fwd thread id':1,"
         "'Sequence number':7,'Call stack':''}}"),
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Sequence number':-1}}",
        "{'ph':'X','cat':'cpu_op','name':'e','ts':1,'dur':2,'args':{'Call stack':'a;\\r\\nb'}}",
        "{'ph':'X','cat':'kernel','name':'e','ts':1,'dur':2,'args':{'Sequence number':7}}",
    };
    static const struct {
        tm_operator_attr told;
        const char *stack;
    } expected[] = {{{7, 0, 0, 0, 0}, "f.py(2): g;f.py(9): <module>"},
                    {{7, 1, 0, 0, 1}, ""},
                    {{-1, 3, 0, 0, 0}, "a;b"}};
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.attrs[TM_ATTR_OPERATOR].n, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tm_operator_attr *row = attr_at(&r, TM_ATTR_OPERATOR, i), *e = &expected[i].told;
        assert_int_equal(row->sequence, e->sequence);
        assert_int_equal(row->event, e->event);
        assert_int_equal(row->thread, e->thread);
        assert_name(&r.ground, row->stack, expected[i].stack);
    }
    close_reading(&r);
}

int main(void) {
    return RUN(a_number_and_its_text_are_the_same_track,
               a_gpu_whose_pid_equals_a_process_has_tracks_of_its_own,
               metadata_records_name_processes_and_threads_and_the_last_wins,
               a_kernel_has_all_its_attributes, an_occupancy_of_0_is_unknown_unless_it_was_rounded,
               copies_and_sets_have_bytes_and_a_bandwidth_where_there_is_one,
               calls_of_runtime_and_driver_have_a_correlation_unless_it_is_zero,
               a_collective_has_all_its_attributes_on_kernel_and_operator,
               a_wait_has_its_kind_its_streams_and_the_ids_of_its_calls,
               a_memory_instant_has_bytes_and_what_its_age_recorded,
               a_counter_has_a_row_for_every_series_that_is_a_number,
               an_attribute_of_another_type_is_left_empty_and_counted,
               input_dimensions_of_operators_are_kept_on_one_line,
               operators_keep_autograds_number_and_their_stack,
               long_input_dimensions_are_cut_at_512_bytes,
               types_and_values_are_kept_of_operators_that_are_counted);
}
