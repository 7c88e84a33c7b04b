/* Names and launch shapes are from real traces (nanoGPT on eight H100). They must look real,
 * because readers classify events by name and category. For example, they find communication by
 * "nccl" in a kernel's name, copies by the category, and steps by "ProfilerStep#". A new kind needs
 * a row here and a name in the header. */
#include "catalogue.h"

/* Shapes of a GPT-like model: 16,384 tokens, width 768. All events of a kind have the same shapes,
 * as in a model with equal layers. */
#define DIMS_TOKENS                                                                                \
    "\"Concrete Inputs\": [\"\"], \"Input type\": [\"c10::BFloat16\"], "                           \
    "\"Input Strides\": [[768, 1]], \"Input Dims\": [[16384, 768]], "
#define DIMS_LINEAR                                                                                \
    "\"Concrete Inputs\": [\"\", \"\", \"\"], "                                                    \
    "\"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"], "                  \
    "\"Input Strides\": [[768, 1], [768, 1], [1]], "                                               \
    "\"Input Dims\": [[16384, 768], [768, 768], [768]], "

static const tms_kind_info kinds[TMS_KIND_COUNT] = {
    /* Readers find steps and data loading by the first two annotations. The others are torch's
     * own. */
    [TMS_ANN_STEP] = {.name = "ProfilerStep#",
                      .shape = TMS_SHAPE_ANNOTATION,
                      .number = TMS_NUMBER_STEP},
    [TMS_ANN_DATALOADER] = {.name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                            .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_OPTIMIZER] = {.name = "Optimizer.step#AdamW.step", .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_ZERO_GRAD] = {.name = "Optimizer.zero_grad#AdamW.zero_grad",
                           .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_ALL_REDUCE] = {.name = "nccl:all_reduce", .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_ALL_GATHER] = {.name = "nccl:_all_gather_base", .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_REDUCE_SCATTER] = {.name = "nccl:_reduce_scatter_base", .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_BROADCAST] = {.name = "nccl:broadcast", .shape = TMS_SHAPE_ANNOTATION},
    [TMS_ANN_SEND] = {.name = "nccl:send ",
                      .shape = TMS_SHAPE_ANNOTATION,
                      .number = TMS_NUMBER_PEER},
    [TMS_ANN_RECV] = {.name = "nccl:recv ",
                      .shape = TMS_SHAPE_ANNOTATION,
                      .number = TMS_NUMBER_PEER},

    /* Forward operators come in pairs: an outer one, and an inner one that launches kernels and
       starts the arrow to its backward operator. */
    [TMS_OP_TO] = {.name = "aten::to", .args = DIMS_TOKENS},
    [TMS_OP_COPY] = {.name = "aten::copy_", .args = DIMS_TOKENS},
    [TMS_OP_LINEAR] = {.name = "aten::linear", .args = DIMS_LINEAR},
    [TMS_OP_ADDMM] = {.name = "aten::addmm", .flow = TMS_FLOW_OUT, .args = DIMS_LINEAR},
    [TMS_OP_NORM] = {.name = "aten::layer_norm", .args = DIMS_TOKENS},
    [TMS_OP_NATIVE_NORM] = {.name = "aten::native_layer_norm",
                            .flow = TMS_FLOW_OUT,
                            .args = DIMS_TOKENS},
    [TMS_OP_ATTENTION] = {.name = "aten::scaled_dot_product_attention", .args = DIMS_TOKENS},
    [TMS_OP_FLASH] = {.name = "aten::_scaled_dot_product_flash_attention",
                      .flow = TMS_FLOW_OUT,
                      .args = DIMS_TOKENS},
    [TMS_OP_LOSS] = {.name = "aten::cross_entropy_loss", .args = DIMS_TOKENS},
    /* Operators of the backward pass: autograd's wrapper, and in it the graph node, where the arrow
       ends. */
    [TMS_OP_EVALUATE] = {.name = "autograd::engine::evaluate_function: AddmmBackward0"},
    [TMS_OP_ADDMM_BACKWARD] = {.name = "AddmmBackward0", .flow = TMS_FLOW_IN, .args = DIMS_TOKENS},
    [TMS_OP_EVALUATE_NORM] = {.name =
                                  "autograd::engine::evaluate_function: NativeLayerNormBackward0"},
    [TMS_OP_NORM_BACKWARD] = {.name = "NativeLayerNormBackward0",
                              .flow = TMS_FLOW_IN,
                              .args = DIMS_TOKENS},
    [TMS_OP_EVALUATE_FLASH] = {.name = "autograd::engine::evaluate_function: "
                                       "ScaledDotProductFlashAttentionBackward0"},
    [TMS_OP_FLASH_BACKWARD] = {.name = "ScaledDotProductFlashAttentionBackward0",
                               .flow = TMS_FLOW_IN,
                               .args = DIMS_TOKENS},
    /* The writer adds the collective's arguments, because they depend on the job. */
    [TMS_OP_COMMS] = {.name = "record_param_comms"},
    [TMS_OP_ZERO] = {.name = "aten::zero_", .args = DIMS_TOKENS},
    [TMS_OP_ADAMW] = {.name = "aten::_fused_adamw_"},
    [TMS_INSTANT_MEMORY] = {.name = "[memory]", .shape = TMS_SHAPE_INSTANT},

    /* As in real files, some arrows are incomplete: cudaEventRecord has an end without a start, and
       waits and synchronisations have a start without an end. */
    [TMS_RT_LAUNCH] = {"cudaLaunchKernel", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 211},
    [TMS_RT_LAUNCH_EX] = {"cudaLaunchKernelExC", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 430},
    [TMS_RT_GRAPH_LAUNCH] = {"cudaGraphLaunch", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 311},
    [TMS_RT_MEMCPY] = {"cudaMemcpyAsync", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 41},
    [TMS_RT_MEMSET] = {"cudaMemsetAsync", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 51},
    [TMS_RT_EVENT_RECORD] = {"cudaEventRecord", TMS_SHAPE_RUNTIME, TMS_FLOW_IN, .cbid = 135},
    [TMS_RT_WAIT_EVENT] = {"cudaStreamWaitEvent", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 147},
    [TMS_RT_SYNCHRONIZE] = {"cudaDeviceSynchronize", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT, .cbid = 165},
    [TMS_RT_STREAM_SYNCHRONIZE] = {"cudaStreamSynchronize", TMS_SHAPE_RUNTIME, TMS_FLOW_OUT,
                                   .cbid = 131},

    /* Names of computations must not match a reader's pattern for communication. The long template
       names are intended, because most bytes of a real file belong to such names. */
    [TMS_GPU_NORM] = {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<"
                      "c10::BFloat16, float>(int, float, c10::BFloat16 const*, c10::BFloat16 "
                      "const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
                      TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                      .launch = {32, 24, {16384, 1, 1}, {32, 4, 1}, 100}},
    [TMS_GPU_GEMM_QKV] = {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT", TMS_SHAPE_KERNEL,
                          TMS_FLOW_IN, .launch = {168, 213148, {2, 66, 1}, {384, 1, 1}, 0}},
    [TMS_GPU_FLASH] = {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::"
                       "Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
                       "cutlass::bfloat16_t>, false, true, false, false, true, true, false, "
                       "false>(pytorch_flash::Flash_fwd_params)",
                       TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                       .launch = {255, 49152, {8, 16, 12}, {128, 1, 1}, 13}},
    [TMS_GPU_GEMM_MLP] = {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", TMS_SHAPE_KERNEL,
                          TMS_FLOW_IN, .launch = {168, 213148, {2, 66, 1}, {384, 1, 1}, 0}},
    [TMS_GPU_GELU] = {"void at::native::vectorized_elementwise_kernel<4, at::native::"
                      "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
                      "{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::"
                      "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, at::native::"
                      "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType))",
                      TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                      .launch = {32, 0, {98304, 1, 1}, {128, 1, 1}, 100}},
    [TMS_GPU_LOSS] = {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, "
                      "c10::BFloat16, float, c10::BFloat16, at::native::(anonymous namespace)::"
                      "LogSoftMaxForwardEpilogue>(c10::BFloat16*, c10::BFloat16 const*, int)",
                      TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                      .launch = {40, 128, {16384, 1, 1}, {1024, 1, 1}, 50}},
    [TMS_GPU_GELU_BACKWARD] = {"void at::native::vectorized_elementwise_kernel<4, at::native::"
                               "GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::"
                               "GeluType)::{lambda()#2}, std::array<char*, 3ul> >(int)",
                               TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                               .launch = {40, 0, {98304, 1, 1}, {128, 1, 1}, 75}},
    [TMS_GPU_GEMM_DGRAD] = {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT", TMS_SHAPE_KERNEL,
                            TMS_FLOW_IN, .launch = {168, 213148, {2, 66, 1}, {384, 1, 1}, 0}},
    [TMS_GPU_GEMM_WGRAD] = {"nvjet_tst_128x160_64x5_2x4_v_bz_NTT", TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                            .launch = {168, 221364, {8, 15, 1}, {384, 1, 1}, 0}},
    [TMS_GPU_FLASH_BACKWARD] = {"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
                                "pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, "
                                "false, false, cutlass::bfloat16_t>, false, true, false, false, "
                                "true, true, false>(pytorch_flash::Flash_bwd_params)",
                                TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                                .launch = {255, 147456, {8, 16, 12}, {256, 1, 1}, 13}},
    [TMS_GPU_NORM_BACKWARD] = {"void at::native::(anonymous namespace)::layer_norm_grad_input_"
                               "kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 const*, "
                               "c10::BFloat16 const*, float const*, float const*, int)",
                               TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                               .launch = {38, 128, {16384, 1, 1}, {128, 1, 1}, 75}},
    [TMS_GPU_ADAMW] = {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
                       "at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, "
                       "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
                       "(at::native::ADAM_MODE)1, false>, float const*, double, double>",
                       TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                       .launch = {58, 0, {320, 1, 1}, {512, 1, 1}, 100}},
    [TMS_GPU_SQUARES] = {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
                         "at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::"
                         "(anonymous namespace)::LpNormFunctor<float, (at::native::NormType)1, "
                         "float, 1, 1, 0>, float*, int>",
                         TMS_SHAPE_KERNEL, TMS_FLOW_IN,
                         .launch = {32, 2048, {320, 1, 1}, {512, 1, 1}, 100}},
    /* A kernel that takes less time than the call that launches it. */
    [TMS_GPU_SMALL] = {"void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<"
                       "float>, std::array<char*, 3ul>, 4, TrivialOffsetCalculator<2, unsigned int>"
                       ", TrivialOffsetCalculator<1, unsigned int> >(int)",
                       TMS_SHAPE_KERNEL, TMS_FLOW_IN, .launch = {24, 0, {8, 1, 1}, {128, 1, 1}, 3}},
/* Names as in NCCL 2.18 and later. */
#define NCCL_KERNEL(what)                                                                          \
    {                                                                                              \
        "ncclDevKernel_" what "(ncclDevKernelArgsStorage<4096ul>)", TMS_SHAPE_COMM, TMS_FLOW_IN,   \
            .launch = {                                                                            \
                96,                                                                                \
                103808,                                                                            \
                {24, 1, 1},                                                                        \
                {544, 1, 1},                                                                       \
                0                                                                                  \
            }                                                                                      \
    }
    [TMS_GPU_ALL_REDUCE] = NCCL_KERNEL("AllReduce_Sum_bf16_RING_LL"),
    [TMS_GPU_ALL_REDUCE_FLOAT] = NCCL_KERNEL("AllReduce_Sum_f32_RING_LL"),
/* Kernels that inference engines run instead of NCCL's between GPUs of one host. The message size
 * decides which. */
#define CUSTOM_KERNEL(what)                                                                        \
    {                                                                                              \
        "void sglang::cross_device_reduce_" what "<__nv_bfloat16, 8>(sglang::RankData*, "          \
        "sglang::RankSignals, sglang::Signal*, __nv_bfloat16*, int, int)",                         \
            TMS_SHAPE_COMM, TMS_FLOW_IN, .launch = {                                               \
                40,                                                                                \
                0,                                                                                 \
                {36, 1, 1},                                                                        \
                {512, 1, 1},                                                                       \
                0                                                                                  \
            }                                                                                      \
    }
    [TMS_GPU_CUSTOM_ONE_STAGE] = CUSTOM_KERNEL("1stage"),
    [TMS_GPU_CUSTOM_TWO_STAGE] = CUSTOM_KERNEL("2stage"),
    [TMS_GPU_ALL_GATHER] = NCCL_KERNEL("AllGather_RING_LL"),
    [TMS_GPU_REDUCE_SCATTER] = NCCL_KERNEL("ReduceScatter_Sum_bf16_RING_LL"),
    [TMS_GPU_BROADCAST] = NCCL_KERNEL("Broadcast_RING_LL"),
    [TMS_GPU_SEND_RECV] = NCCL_KERNEL("SendRecv"),
    [TMS_GPU_MEMCPY] = {.name = "Memcpy HtoD (Pinned -> Device)",
                        .shape = TMS_SHAPE_MEMCPY,
                        .flow = TMS_FLOW_IN},
    [TMS_GPU_MEMCPY_PAGEABLE] = {.name = "Memcpy HtoD (Pageable -> Device)",
                                 .shape = TMS_SHAPE_MEMCPY,
                                 .flow = TMS_FLOW_IN},
    [TMS_GPU_MEMSET] = {.name = "Memset (Device)", .shape = TMS_SHAPE_MEMSET, .flow = TMS_FLOW_IN},

    /* Copies of CPU annotations on GPU tracks. A reader must not count them as work. */
    [TMS_GPU_ANN_STEP] = {.name = "ProfilerStep#",
                          .shape = TMS_SHAPE_GPU_ANNOTATION,
                          .number = TMS_NUMBER_STEP},
    [TMS_GPU_ANN_ALL_REDUCE] = {.name = "nccl:all_reduce", .shape = TMS_SHAPE_GPU_ANNOTATION},
    [TMS_GPU_ANN_ALL_GATHER] = {.name = "nccl:_all_gather_base", .shape = TMS_SHAPE_GPU_ANNOTATION},
    [TMS_GPU_ANN_REDUCE_SCATTER] = {.name = "nccl:_reduce_scatter_base",
                                    .shape = TMS_SHAPE_GPU_ANNOTATION},
    [TMS_GPU_ANN_BROADCAST] = {.name = "nccl:broadcast", .shape = TMS_SHAPE_GPU_ANNOTATION},
    [TMS_GPU_ANN_SEND] = {.name = "nccl:send ",
                          .shape = TMS_SHAPE_GPU_ANNOTATION,
                          .number = TMS_NUMBER_PEER},
    [TMS_GPU_ANN_RECV] = {.name = "nccl:recv ",
                          .shape = TMS_SHAPE_GPU_ANNOTATION,
                          .number = TMS_NUMBER_PEER},
};

/* The last member says whether the operation synchronises, because only such operations have waits
 * in tmerge's tables. Sends and receives do not synchronise, because NCCL runs both as one kernel.
 * A broadcast does not synchronise, because its root may leave early; see tms_blame_waits. */
static const tms_collective_info collectives[TMS_COLLECTIVE_COUNT] = {
    [TMS_ALL_REDUCE] = {"allreduce", "allreduce", TMS_ANN_ALL_REDUCE, TMS_GPU_ANN_ALL_REDUCE,
                        TMS_GPU_ALL_REDUCE, 2, true},
    [TMS_ALL_GATHER] = {"_allgather_base", "allgather", TMS_ANN_ALL_GATHER, TMS_GPU_ANN_ALL_GATHER,
                        TMS_GPU_ALL_GATHER, 1, true},
    [TMS_REDUCE_SCATTER] = {"_reduce_scatter_base", "reducescatter", TMS_ANN_REDUCE_SCATTER,
                            TMS_GPU_ANN_REDUCE_SCATTER, TMS_GPU_REDUCE_SCATTER, 1, true},
    [TMS_BROADCAST] = {"broadcast", "broadcast", TMS_ANN_BROADCAST, TMS_GPU_ANN_BROADCAST,
                       TMS_GPU_BROADCAST, 0, false},
    [TMS_SEND] = {"send", "send", TMS_ANN_SEND, TMS_GPU_ANN_SEND, TMS_GPU_SEND_RECV, 0, false},
    [TMS_RECV] = {"recv", "recv", TMS_ANN_RECV, TMS_GPU_ANN_RECV, TMS_GPU_SEND_RECV, 0, false},
};

/* The categories as PyTorch has written them since 2022; older files have "Kernel" and "Memcpy". */
static const char *const categories[TMS_SHAPE_COUNT] = {
    [TMS_SHAPE_OP] = "cpu_op",
    [TMS_SHAPE_ANNOTATION] = "user_annotation",
    [TMS_SHAPE_INSTANT] = "cpu_instant_event",
    [TMS_SHAPE_RUNTIME] = "cuda_runtime",
    [TMS_SHAPE_KERNEL] = "kernel",
    [TMS_SHAPE_COMM] = "kernel",
    [TMS_SHAPE_MEMCPY] = "gpu_memcpy",
    [TMS_SHAPE_MEMSET] = "gpu_memset",
    [TMS_SHAPE_GPU_ANNOTATION] = "gpu_user_annotation",
};

const tms_kind_info *tms_kind_get(tms_kind kind) {
    return &kinds[kind];
}

const tms_collective_info *tms_collective_get(tms_collective what) {
    return &collectives[what];
}

const char *tms_shape_category(tms_shape shape) {
    return categories[shape];
}
