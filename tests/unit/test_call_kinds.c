/* Kinds of host calls by their names. */
#include "analysis/shared/call_kinds.h"

static const struct {
    const char *name;
    tm_call_kind kind;
} cases[] = {
    {"", TM_CALL_KIND_OTHER},
    {"cudaLaunchKernel", TM_CALL_KIND_LAUNCH},
    {"cuLaunchKernelEx", TM_CALL_KIND_LAUNCH},
    {"hipExtModuleLaunchKernel", TM_CALL_KIND_LAUNCH},
    {"cudaLaunchHostFunc", TM_CALL_KIND_OTHER},
    {"hipStreamBeginCapture", TM_CALL_KIND_CAPTURE},
    {"cudaStreamEndCapture_ptsz", TM_CALL_KIND_CAPTURED},
    {"cudaStreamGetCaptureInfo_v2", TM_CALL_KIND_OTHER},
    {"cudaGraphLaunch", TM_CALL_KIND_GRAPH},
    {"hipGraphLaunch", TM_CALL_KIND_GRAPH},
    {"cudaStreamSynchronize", TM_CALL_KIND_SYNC},
    {"cuCtxSynchronize", TM_CALL_KIND_SYNC},
    {"hipDeviceSynchronize", TM_CALL_KIND_SYNC},
    {"Synchronize", TM_CALL_KIND_OTHER},
    {"cudaMemcpyAsync", TM_CALL_KIND_COPY},
    {"cudaMemcpy", TM_CALL_KIND_COPY},
    {"cuMemcpyDtoHAsync_v2", TM_CALL_KIND_COPY},
    {"hipMemcpyWithStream", TM_CALL_KIND_COPY},
    {"cudaMemsetAsync", TM_CALL_KIND_COPY},
    {"cudaMalloc", TM_CALL_KIND_ALLOCATION},
    {"cudaMallocHost", TM_CALL_KIND_ALLOCATION},
    {"cudaFree", TM_CALL_KIND_ALLOCATION},
    {"cudaHostAlloc", TM_CALL_KIND_ALLOCATION},
    {"cudaHostRegister", TM_CALL_KIND_ALLOCATION},
    {"cuMemHostAlloc", TM_CALL_KIND_ALLOCATION},
    {"hipHostUnregister", TM_CALL_KIND_ALLOCATION},
    {"synchronizeStream", TM_CALL_KIND_SYNC},
    {"cuMemCreate", TM_CALL_KIND_ALLOCATION},
    {"hipMalloc", TM_CALL_KIND_ALLOCATION},
    {"cuModuleLoadDataEx", TM_CALL_KIND_LOADING},
    {"hipModuleUnload", TM_CALL_KIND_LOADING},
    {"cudaMemGetInfo", TM_CALL_KIND_OTHER},
    {"AscendCL@aclrtSynchronizeStreamWithTimeout", TM_CALL_KIND_SYNC},
    {"AscendCL@aclrtMemcpyAsync", TM_CALL_KIND_COPY},
    {"AscendCL@aclrtStreamWaitEvent", TM_CALL_KIND_OTHER},
    {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", TM_CALL_KIND_INPUT},
    {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__init__", TM_CALL_KIND_SCOPE},
    {"ProfilerStep#12", TM_CALL_KIND_OTHER}, /* TM_CALL_KIND_STEP is not known from a name */
    {"Optimizer.step#SGD.step", TM_CALL_KIND_OPTIMIZER},
    {"Optimizer.zero_grad#AdamW.zero_grad", TM_CALL_KIND_ZERO_GRAD},
    {"nn.Module: Linear_0", TM_CALL_KIND_MODULE},
    {"[pl][profile]run_training_batch", TM_CALL_KIND_SCOPE},
    {"DistributedDataParallel.forward", TM_CALL_KIND_SCOPE},
    {"autograd::engine::evaluate_function: MmBackward0", TM_CALL_KIND_BACKWARD},
    {"CudnnConvolutionBackward", TM_CALL_KIND_BACKWARD},
    {"torch::autograd::AccumulateGrad", TM_CALL_KIND_BACKWARD},
    {"aten::convolution_backward", TM_CALL_KIND_OTHER},
    {"enumerate(DataPipe)#ShufflerIterDataPipe", TM_CALL_KIND_INPUT},
    {"gloo:all_reduce", TM_CALL_KIND_COMMUNICATION},
    {"c10d::barrier", TM_CALL_KIND_COMMUNICATION},
    {"nccl:_all_gather_base", TM_CALL_KIND_COMMUNICATION},
    {"aten::copy_", TM_CALL_KIND_OTHER},
};
enum { N_CASES = sizeof cases / sizeof *cases };

TEST(names_mean_what_they_say) {
    tm_names *names = tm_names_create();
    tm_call_kinds call_kinds;
    assert_non_null(names);
    uint32_t ids[N_CASES];
    for (size_t i = 0; i < N_CASES; i++)
        ids[i] = tm_names_intern_string(names, cases[i].name);
    assert_true(tm_call_kinds_init(&call_kinds, names));
    for (size_t round = 0; round < 2; round++) /* in the second round, the name is cached */
        for (size_t i = 0; i < N_CASES; i++)
            assert_int_equal(tm_call_kinds_at(&call_kinds, ids[i]), cases[i].kind);
    tm_call_kinds_free(&call_kinds);
    tm_names_destroy(names);
}

RUN_TESTS()
