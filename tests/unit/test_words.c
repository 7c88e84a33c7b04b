/* Words for the devices of a job in sentences. */
#include "analysis/shared/words.h"

#include "analysis_fixture.h"

TEST(sentences_of_gpus_are_said_of_other_devices) {
    static const struct {
        const char *device, *sentence, *said;
    } cases[] = {
        {"NPU", "GPUs do nothing; look at the GPU, \"GPU time\" (GPU).",
         "NPUs do nothing; look at the NPU, \"GPU time\" (NPU)."},
        {"device", "GPU time of GPUs, not GPUsed, GPU_0, MYGPU, a_GPU or GPU2",
         "device time of devices, not GPUsed, GPU_0, MYGPU, a_GPU or GPU2"},
        {"NPU", "CUDA or HIP graphs, torch.compile or CUDA graphs.",
         "graphs of kernels, torch.compile or graphs of kernels."},
        {"TPU", "CUDA or HIP graphs: use a separate stream, and offload only where.",
         "more of a step in one program: offload ahead of time, and only where."},
        {"XPU", "Copy from pinned memory (cudaMallocHost, hipHostMalloc), GPU",
         "Copy from pinned memory, XPU"},
        {"CPU",
         "its kernels run at normal speed, but its GPU idles 1 ms: look at its host, not at "
         "its GPU; GPUs",
         "its operators run at normal speed, but it runs no operator for 1 ms: look at what it "
         "does between them (Python, other processes); CPUs"},
        {"NPU", "of a GPU", "of an NPU"},
        {"CPU", "in which a kernel runs", "in which an operator runs"},
        {"XPU", "", ""},
    };
    tm_vec out = TM_VEC(char);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(tm_words_say(cases[i].device, cases[i].sentence, &out));
        assert_string_equal(out.data, cases[i].said);
    }
    tm_vec_free(&out);
}

/* Adds a rank with one kernel. @param kind  device kind in its trace, or NULL */
static void add(small_job *j, int64_t rank, const char *kind, size_t n_kernels) {
    static const event_spec kernel[] = {
        {TM_CAT_KERNEL, "k", 0, 1000, 1, 7, 0, NULL, TM_DURATION},
    };
    char metadata[64];
    tm_trace trace = make_trace(&j->ground, "t.json", kernel, n_kernels, 0);
    snprintf(metadata, sizeof metadata, "{%s%s%s}", kind ? TM_DEVICE_KIND : "", kind ? kind : "",
             kind ? "\"" : "");
    trace.metadata = tm_names_intern_string(j->ground.names, metadata);
    add_trace(j, rank, &trace);
}

TEST(the_job_takes_the_word_of_its_ranks) {
    static const struct {
        const char *kinds[2], *word;
        size_t n_kernels;
        const char *of_rank[2]; /* `device_kind` of each rank in job.rank */
    } cases[] = {
        {{NULL, NULL}, "GPU", 1, {"GPU", "GPU"}},     {{NULL, NULL}, "GPU", 0, {NULL, NULL}},
        {{"NPU", "NPU"}, "NPU", 1, {"NPU", "NPU"}},   {{"NPU", NULL}, "NPU", 0, {"NPU", NULL}},
        {{"NPU", NULL}, "device", 1, {"NPU", "GPU"}}, {{"", "TPU"}, "device", 1, {"GPU", "TPU"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        small_job j = open_job();
        add(&j, 0, cases[i].kinds[0], cases[i].n_kernels);
        add(&j, 1, cases[i].kinds[1], cases[i].n_kernels);
        finish_job(&j);
        for (size_t r = 0; r < 2; r++) {
            const tm_table *ranks = tm_tables_find(&j.tables, "job.rank");
            const tm_cell *kind = tm_table_cell(ranks, r, "device_kind");
            assert_int_equal(kind->null, cases[i].of_rank[r] == NULL);
            if (!kind->null)
                assert_string_equal(kind->value.text, cases[i].of_rank[r]);
        }
        assert_string_equal(tm_words_device(&j.tables), cases[i].word);
        close_job(&j);
    }
}

/* Even the verdict of a job without events uses the word for its devices. */
TEST(verdict_and_advice_are_said_so) {
    small_job j = open_job();
    add(&j, 0, "NPU", 0);
    add(&j, 1, NULL, 0);
    finish_job(&j);
    const tm_table *job = tm_tables_find(&j.tables, "stragglers.job");
    const char *evidence = tm_table_cell(job, 0, "evidence")->value.text;
    assert_string_equal(
        evidence,
        "The traces hold no NPU events: if the job has NPUs, let the profiler record them");
    close_job(&j);
}

RUN_TESTS()
