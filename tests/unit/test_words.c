/* What names of host calls tell. */
#include "analysis/shared/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    tm_word word;
} cases[] = {
    {"", TM_WORD_OTHER},
    {"cudaLaunchKernel", TM_WORD_OTHER},
    {"cudaGraphLaunch", TM_WORD_GRAPH},
    {"hipGraphLaunch", TM_WORD_GRAPH},
    {"cudaStreamSynchronize", TM_WORD_SYNC},
    {"cuCtxSynchronize", TM_WORD_SYNC},
    {"hipDeviceSynchronize", TM_WORD_SYNC},
    {"Synchronize", TM_WORD_OTHER},
    {"cudaMemcpyAsync", TM_WORD_COPY},
    {"cudaMemcpy", TM_WORD_COPY},
    {"cuMemcpyDtoHAsync_v2", TM_WORD_COPY},
    {"hipMemcpyWithStream", TM_WORD_COPY},
    {"cudaMemsetAsync", TM_WORD_COPY},
    {"cudaMalloc", TM_WORD_ALLOCATION},
    {"cudaMallocHost", TM_WORD_ALLOCATION},
    {"cudaFree", TM_WORD_ALLOCATION},
    {"cudaHostAlloc", TM_WORD_ALLOCATION},
    {"cuMemCreate", TM_WORD_ALLOCATION},
    {"hipMalloc", TM_WORD_ALLOCATION},
    {"cudaMemGetInfo", TM_WORD_OTHER},
    {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", TM_WORD_INPUT},
    {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__init__", TM_WORD_SCOPE},
    {"ProfilerStep#12", TM_WORD_STEP},
    {"Optimizer.step#SGD.step", TM_WORD_OPTIMIZER},
    {"Optimizer.zero_grad#AdamW.zero_grad", TM_WORD_ZERO_GRAD},
    {"nn.Module: Linear_0", TM_WORD_MODULE},
    {"[pl][profile]run_training_batch", TM_WORD_SCOPE},
    {"DistributedDataParallel.forward", TM_WORD_SCOPE},
    {"autograd::engine::evaluate_function: MmBackward0", TM_WORD_BACKWARD},
    {"CudnnConvolutionBackward", TM_WORD_BACKWARD},
    {"torch::autograd::AccumulateGrad", TM_WORD_BACKWARD},
    {"aten::convolution_backward", TM_WORD_OTHER},
    {"enumerate(DataPipe)#ShufflerIterDataPipe", TM_WORD_INPUT},
    {"ProfilerStep#12", TM_WORD_STEP},
    {"gloo:all_reduce", TM_WORD_COMMUNICATION},
    {"c10d::barrier", TM_WORD_COMMUNICATION},
    {"nccl:_all_gather_base", TM_WORD_COMMUNICATION},
    {"aten::copy_", TM_WORD_OTHER},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void names_mean_what_they_say(void **state) {
    (void)state;
    tm_names *names = tm_names_create();
    tm_words words;
    assert_non_null(names);
    uint32_t ids[N_CASES];
    for (size_t i = 0; i < N_CASES; i++)
        ids[i] = tm_names_intern_string(names, cases[i].name);
    assert_true(tm_words_init(&words, names));
    for (size_t round = 0; round < 2; round++) /* also when it is known */
        for (size_t i = 0; i < N_CASES; i++)
            assert_int_equal(tm_words_at(&words, ids[i]), cases[i].word);
    tm_words_free(&words);
    tm_names_destroy(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_mean_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
