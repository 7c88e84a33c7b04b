/* Owners of memory blocks: a training step whose owners are known, computed by hand. */
#include "analysis_fixture.h"

#define OP(name, begin, end, thread)                                                               \
    { TM_CAT_CPU_OP, name, begin, (end) - (begin), 0, thread, 1, NULL, TM_DURATION }
#define NOTE(name, begin, end)                                                                     \
    { TM_CAT_USER_ANNOTATION, name, begin, (end) - (begin), 0, 1, 1, NULL, TM_DURATION }

/* Thread 1 is the main thread, thread 2 autograd's. */
static const event_spec events[] = {
    NOTE("ProfilerStep#1", 0, 1000),
    NOTE("ProfilerStep#2", 1000, 2000),
    OP("aten::to", 10, 30, 1),
    {TM_CAT_RUNTIME, "cudaMemcpyAsync", 14, 2, 1, 1, 1, NULL, TM_DURATION},
    {TM_CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 20, 5, 1, 7, 0, NULL, TM_DURATION},
    OP("aten::to", 40, 50, 1), /* changes the dtype, and copies nothing from the host */
    {TM_CAT_PYTHON, "nn.Module: Linear_0", 55, 50, 0, 1, 1, NULL, TM_DURATION},
    OP("aten::linear", 60, 100, 1),
    OP("aten::addmm", 65, 95, 1),
    OP("aten::relu", 110, 120, 1),
    OP("autograd::engine::evaluate_function: AddmmBackward0", 200, 300, 2),
    OP("AddmmBackward0", 205, 295, 2),
    OP("aten::mm", 210, 220, 2),
    OP("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 300, 380, 2),
    OP("torch::autograd::AccumulateGrad", 302, 378, 2),
    OP("aten::clamp", 450, 460, 1),
    NOTE("Optimizer.step#Adam.step", 500, 600),
    OP("aten::zeros_like", 510, 520, 1),
    OP("aten::add", 530, 540, 1),
    OP("aten::linear", 1010, 1050, 1),
    OP("autograd::engine::evaluate_function: MulBackward0", 1100, 1200, 2),
};
enum { LINEAR = 7, ADDMM = 8, ADDMM_BACKWARD = 11, ACCUMULATE = 14 };

/* By time: thread, address, bytes, and the total afterwards. 1000 bytes existed before. */
static const struct {
    int64_t time_ns;
    int thread;
    int64_t address, bytes, total;
} records[] = {
    {12, 1, 0xA, 100, 1100}, /* input: copied from the host */
    {42, 1, 0xB, 10, 1110},  /* activation */
    {66, 1, 0xC, 50, 1160},  /* temporary: freed in the same aten::linear */
    {70, 1, 0xD, 400, 1560}, /* activation */
    {90, 1, 0xC, -50, 1510},
    {112, 1, 0xC, 30, 1540}, /* forward only, at an address that was used before */
    {130, 1, 0xC, -30, 1510},
    {212, 2, 0xF, 80, 1590}, /* temporary of AddmmBackward0, allocated after aten::mm ended */
    {214, 2, 0x6, 60, 1650}, /* autograd detail */
    {280, 2, 0xF, -80, 1570},
    {305, 2, 0xB, -10, 1560},
    {310, 2, 0x7, 200, 1760}, /* gradient, at the peak */
    {320, 2, 0xD, -400, 1360},
    {350, 2, 0x6, -60, 1300},
    {452, 1, 0x1, 7, 1307}, /* other: gradients are clipped before the optimizer */
    {470, 1, 0x1, -7, 1300},
    {512, 1, 0x2, 150, 1450}, /* optimizer state */
    {532, 1, 0x3, 40, 1490},  /* temporary: freed by the optimizer */
    {560, 1, 0x3, -40, 1450},
    {700, 1, 0xA, -100, 1350},
    {720, 1, 0x9, -300, 1050}, /* part of the bytes that existed before */
    {1020, 1, 0x4, 5, 1055},   /* activation */
    {1110, 2, 0x5, 9, 1070},   /* other, because its pass does not end; the total is 6 too large */
};

static void add_job(small_job *j) {
    event_spec all[COUNT(events) + COUNT(records)];
    memcpy(all, events, sizeof events);
    for (size_t i = 0; i < COUNT(records); i++)
        all[COUNT(events) + i] = (event_spec){
            TM_CAT_CPU_INSTANT, "[memory]", records[i].time_ns, 0, 0, records[i].thread, 1, NULL,
            TM_INSTANT};
    tm_trace trace = make_trace(&j->ground, "one.json", all, COUNT(all), 0);
    for (size_t i = 0; i < COUNT(records); i++) {
        const tm_memory_attr record = {.event = (uint32_t)(COUNT(events) + i),
                                       .address = records[i].address,
                                       .bytes = records[i].bytes,
                                       .allocated_bytes = records[i].total,
                                       .reserved_bytes = 4000,
                                       .device_type = 1};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_MEMORY], &record, 1));
    }
    const tm_shapes_attr shapes[] = {{LINEAR, name_of(&j->ground, "[[4, 5]]")},
                                     {ACCUMULATE, name_of(&j->ground, "[[8, 3], []]")}};
    assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_SHAPES], shapes, COUNT(shapes)));
    const tm_inputs_attr inputs = {ACCUMULATE, name_of(&j->ground, "[\"float\", \"\"]"),
                                   TM_NO_NAME};
    assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_INPUTS], &inputs, 1));
    const tm_operator_attr reported[] = {
        {.event = ADDMM, .sequence = 5},
        {.event = ADDMM_BACKWARD, .sequence = 5, .thread = 1},
    };
    assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_OPERATOR], reported, COUNT(reported)));
    add_trace(j, 0, &trace);
    finish_job(j);
}

static void check_table(const char *table, const char *const *rows, size_t n) {
    small_job j = open_job();
    add_job(&j);
    check_rows(&j, table, rows, n);
    close_job(&j);
}
#define CHECK_TABLE(table, rows) check_table(table, rows, COUNT(rows))

/* Means are over the 1098 ns from the first record to the last. Bytes that existed before: (1000 x
 * 708 + 700 x 390) / 1098 = 893.4. Activations: (10 x 263 + 400 x 250 + 5 x 90) / 1098 = 93.9. */
TEST(blocks_have_the_owner_that_they_were_made_with) {
    static const char *const rows[] = {
        "rank=0 device=cuda:0 category=activation peak_bytes=400 peak_pct=22.72727273 "
        "mean_bytes=94 most_bytes=410 end_bytes=5 blocks=3 allocated_bytes=415",
        "rank=0 device=cuda:0 category=autograd_detail peak_bytes=60 peak_pct=3.409090909 "
        "mean_bytes=7 most_bytes=60 end_bytes=0 blocks=1 allocated_bytes=60",
        "rank=0 device=cuda:0 category=forward_only peak_bytes=0 peak_pct=0 "
        "mean_bytes=0 most_bytes=30 end_bytes=0 blocks=1 allocated_bytes=30",
        "rank=0 device=cuda:0 category=gradient peak_bytes=200 peak_pct=11.36363636 "
        "mean_bytes=146 most_bytes=200 end_bytes=200 blocks=1 allocated_bytes=200",
        "rank=0 device=cuda:0 category=input peak_bytes=100 peak_pct=5.681818182 "
        "mean_bytes=63 most_bytes=100 end_bytes=0 blocks=1 allocated_bytes=100",
        "rank=0 device=cuda:0 category=optimizer_state peak_bytes=0 peak_pct=0 "
        "mean_bytes=82 most_bytes=150 end_bytes=150 blocks=1 allocated_bytes=150",
        "rank=0 device=cuda:0 category=other peak_bytes=0 peak_pct=0 "
        "mean_bytes=0 most_bytes=9 end_bytes=9 blocks=2 allocated_bytes=16",
        "rank=0 device=cuda:0 category=preexisting peak_bytes=1000 peak_pct=56.81818182 "
        "mean_bytes=893 most_bytes=1000 end_bytes=700 blocks=null allocated_bytes=null",
        "rank=0 device=cuda:0 category=temporary peak_bytes=0 peak_pct=0 "
        "mean_bytes=7 most_bytes=80 end_bytes=0 blocks=3 allocated_bytes=170",
        "rank=0 device=cuda:0 category=unrecorded peak_bytes=0 peak_pct=0 "
        "mean_bytes=0 most_bytes=6 end_bytes=6 blocks=null allocated_bytes=null",
    };
    CHECK_TABLE("memory.category", rows);
}

TEST(what_lives_at_the_peak_sums_to_it) {
#define LIVE(place, what) "rank=0 device=cuda:0 place=" #place " category=" what
    static const char *const rows[] = {
        LIVE(1, "preexisting operator=null shapes=null module=null step=null block_bytes=null "
                "blocks=null bytes=1000 share_pct=56.81818182"),
        LIVE(2, "activation operator=aten::linear shapes=[[4, 5]] module=nn.Module: Linear_0 "
                "step=1 block_bytes=400 blocks=1 bytes=400 share_pct=22.72727273"),
        LIVE(3, "gradient operator=torch::autograd::AccumulateGrad shapes=[[8, 3], []] "
                "module=null step=1 block_bytes=200 blocks=1 bytes=200 share_pct=11.36363636"),
        LIVE(4, "input operator=aten::to shapes=null module=null step=1 block_bytes=100 blocks=1 "
                "bytes=100 share_pct=5.681818182"),
        LIVE(5, "autograd_detail operator=AddmmBackward0 shapes=null "
                "module=nn.Module: Linear_0 step=1 block_bytes=60 blocks=1 bytes=60 "
                "share_pct=3.409090909"),
    };
    CHECK_TABLE("memory.live", rows);
}

/* The module took 50 and 400 B, and gave back 50. Outside of it, 691 of 1141 B were taken, and 336
 * more given back than taken. Of the 691 B, 100, 60 and 200 exist at the peak. */
TEST(modules_have_what_they_leave_after) {
    static const char *const rows[] = {
        "name=null device=cuda ranks=1 calls=0 self_allocations=11 self_bytes=691 "
        "self_increase_bytes=-336 allocations=11 bytes=691 increase_bytes=-336 peak_bytes=360 "
        "peak_rank=0",
        "name=nn.Module: Linear_0 device=cuda ranks=1 calls=1 self_allocations=2 self_bytes=450 "
        "self_increase_bytes=400 allocations=2 bytes=450 increase_bytes=400 peak_bytes=400 "
        "peak_rank=0",
    };
    CHECK_TABLE("memory.owner/module", rows);
}

/* One gradient has 8 x 3 floats, 96 B; Adam keeps two more copies, 192 B. These are part of the
 * 1000 B that existed before. The gradients are allocated in the pass. */
TEST(gradients_tell_the_parameters) {
    static const char *const rows[] = {
        "rank=0 parameters=24 tensors=1 passes=1 parameter_bytes=96 sharded=false optimizer=Adam "
        "state_least_bytes=192 state_most_bytes=192 preexisting_bytes=1000 gradient_bytes=0 "
        "rest_bytes=712",
    };
    CHECK_TABLE("memory.parameters", rows);
}

TEST(categories_sum_to_the_curve_at_every_moment) {
    small_job j = open_job();
    add_job(&j);
    const tm_table *curve = tm_tables_find(&j.tables, "memory.curve");
    int allocated = tm_table_column(curve->def, "allocated_bytes");
    int first = tm_table_column(curve->def, "preexisting_bytes");
    int64_t most = 0;
    assert_in_range(curve->n_rows, 10, COUNT(records));
    for (size_t i = 0; i < curve->n_rows; i++) {
        const tm_cell *row = tm_table_row(curve, i);
        int64_t total = row[allocated].value.i, sum = 0;
        for (int c = first; c < curve->def->n_columns; c++)
            sum += row[c].value.i;
        assert_int_equal(sum, total);
        most = total > most ? total : most;
    }
    assert_int_equal(most, 1760);
    close_job(&j);
}

RUN_TESTS()
