/* Recognition of communication kernels, and of collectives by name. */
#include "timeline/classify.h"
#include "timeline/comm_calls.h"

/* Kernel names as profilers write them. */
static const struct {
    const char *kind; /* NULL: the kernel computes */
    const char *name;
} kernels[] = {
    /* NCCL up to 2.9 */
    {"broadcast", "ncclBroadcastRingLLKernel_copy_i8(ncclColl)"},
    {"allreduce", "ncclAllReduceRingLLKernel_sum_f32(ncclColl)"},
    {"reducescatter", "ncclReduceScatterRingLLKernel_sum_f16(ncclColl)"},
    {"reduce", "ncclReduceRingLLKernel_sum_f16(ncclColl)"},
    {"sendrecv", "ncclSendRecvKernel_copy_i8(ncclColl)"},
    /* NCCL 2.10 to 2.17 */
    {"allreduce", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"},
    {"allreduce", "ncclKernel_AllReduce_TREE_LL128_Sum___nv_bfloat16(ncclDevComm*, ncclWork*)"},
    {"broadcast", "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)"},
    {"sendrecv", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)"},
    {"allgather", "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)"},
    {"reducescatter", "ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclWorkElem)"},
    {"reduce", "ncclKernel_Reduce_RING_LL_Sum_float(ncclWorkElem)"},
    /* NCCL from 2.18 on */
    {"allgather", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"allreduce", "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevComm*)"},
    {"reducescatter",
     "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"reduce", "ncclDevKernel_Reduce_Sum_u32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"broadcast", "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"sendrecv", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"},
    /* NCCL from 2.27 on: symmetric memory */
    {"allreduce", "ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymDevArgs)"},
    {"allgather", "ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs)"},
    {"reducescatter", "ncclSymkDevKernel_ReduceScatter_LD_sum_f32(ncclSymkDevWorkArgs)"},
    /* names without a type: NCCL for several operations at once, RCCL always */
    {"other", "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"},
    {"other", "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"},
    {"other", "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)"},
    {"other", "ncclDevKernelDebug_Generic_1(ncclDevKernelArgsStorage<4096ul>)"},
    /* custom all-reduce of SGLang, vLLM, PyTorch, FlashInfer */
    {"allreduce", "void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>(...)"},
    {"allreduce", "void vllm::cross_device_reduce_2stage<half, 4>(...)"},
    {"allreduce", "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(...)"},
    {"allreduce", "all_reduce_one_shot_kernel"},
    {"allreduce", "void two_shot_all_reduce_kernel<float, 8>(float**)"},
    {"allreduce", "void oneShotAllReduceKernel<__half>(AllReduceParams)"},
    {"other", "mscclKernel_Sum_half_LL(ncclDevComm*)"},
    {"allreduce", "allreduce_two_shot"},
    {"allreduce", "AllReduce_OneShot<float>"},
    {"allreduce",
     "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<...>"},
    /* kernels for expert parallelism */
    {"alltoall", "void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*)"},
    {"alltoall", "void deep_ep::internode_ll::combine<3, 10, 7168, 9>(void*)"},
    {"alltoall", "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)"},
    {"alltoall", "void dpsk::ep::internode::combine_ll<1>(int*)"},
    {"barrier", "void deep_ep::intranode::barrier<8>(int**, int)"},
    {"other", "void deep_ep::internode_ll::clean_low_latency_buffer<32>(int*)"},
    {"other", "nvshmemi_proxy_quiet_entrypoint()"},
    {"other", "barrier_on_stream_kernel_nvshmem(int)"},
    {"other", "void mscclpp::allreduce<float>(float*)"}, /* operations of MSCCL++ are not matched */
    /* other vendors, in upper or lower case */
    {"allreduce", "rcclAllReduceKernel"},
    {"allgather", "HcclAllGather"},
    {"reducescatter", "oneccl_reduce_scatter"},
    {"allreduce", "NCCLKERNEL_ALLREDUCE"},
    /* kernels of libraries in frameworks and engines */
    {"send", "kuserbuffers_pushsend(int*, int*, int4*, int4*, int)"},
    {"sendrecv", "kuserbuffers_pushsendrecv_atomic(int*, int*, int4*)"},
    {"reducescatter", "void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)"},
    {"allgather", "void userbuffers_fp16_sum_inplace_gpu_mc_ag<8>(int)"},
    {"allreduce", "void userbuffers_fp16_sum_inplace_gpu_mc<8>(int)"},
    {"alltoall", "void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::Args)"},
    {"alltoall", "EpCombineInterNodeV1KernelLowLatency_bf16.kd"},
    {"allreduce", "void quickreduce::allreduce_prototype_twoshot<quickreduce::Two<half, 8>>(int)"},
    {"allreduce", "void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(int)"},
    {"allgather", "void aiter::allgather_vec<float, 8>(int)"},
    {"alltoall", "void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8>(int)"},
    {"alltoall", "void flashinfer::trtllm_alltoall::moeAllToAllKernel(Args)"},
    {"allreduce", "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<8>(float*)"},
    {"allreduce", "void ns::fusedAllReduceRMSNormKernel<half>(ncclWindow_t, ncclDevComm)"},
    {"other", "my_kernel(ncclDevComm, float*)"},
    {"alltoall", "void hybrid_ep::dispatch_kernel<4>(int)"},
    {"alltoall", "void a2a_combine_recv_kernel<8>(int)"},
    {"alltoall",
     "void (anonymous namespace)::dispatchKernel<16u>(int*, unsigned long, std::byte*)"},
    {"alltoall", "nccl_ep_jit_ht_combine_kernel(hybrid_ep::combine_kernel_param_t<8>)"},
    {"alltoall", "void uccl::internode_ll::combine<true>(void*)"},
    {"alltoall", "kernel_dispatch_token_intra_node"},
    {"allgather", "void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)"},
    {"barrier", "c10d::symmetric_memory::barrier_kernel(unsigned int**, int)"},
    {"alltoall", "void stream_executor::gpu::RaggedAllToAllKernelImpl<8l>(void const*)"},
    {"allreduce", "hcom_allReduce__606_0_1"},
    /* mangled names */
    {"alltoall", "_ZN7deep_ep9intranode8dispatchILi8ELi768EEEvP4int4"},
    {"send", "_Z21kuserbuffers_pushsendPiS_P4int4"},
    {"allreduce", "_ZN12_GLOBAL__N_126multimem_all_reduce_kernelIfLi16EEEvPT_m.kd"},
    {NULL, "_Z6kernel18AllReduceOneShot_t"},
    {NULL, "_ZN7deep_ep6layout19get_dispatch_layoutILi256EEEvPKl"},
    {NULL, "_ZN65_GLOBAL__N__0a1b_14_userbuffers_cu_kuserbuffers_pushsend_4567890a10add_kernelEPf"},
    /* kernels of communication libraries that do not communicate */
    {NULL, "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)"},
    {NULL, "void deep_ep::elastic::dispatch_copy_epilogue_impl<1>(void*)"},
    {NULL, "void mori::moe::EpDispatchLowLatencyAsyncSendCopy<float>(Args)"},
    {NULL, "void aiter::local_device_load_rmsnorm<half, 8>(int)"},
    {NULL, "void tensorrt_llm::kernels::moe_comm::moeA2APrepareCombineKernel(int)"},
    {NULL, "void permute_kernel<__nv_bfloat16>(__nv_bfloat16 const*)"},
    {NULL, "void moe_dispatch_permute<half>(half*)"},
    /* kernels that compute, some with words that also occur in communication */
    {NULL, "void small_reduce_kernel<float>(float*)"},
    {NULL, "void cub::DeviceReduceKernel<Policy, float*, AllReduceOp>(float*)"},
    {NULL, "void layer_norm<BlockAllReduce<float> >(float*)"},
    {NULL, "void groupnorm_kernel_dispatch_up<1>(float*)"},
    {NULL, "void aiter::argmax_gfx1250<float>(float*)"},
    /* degenerate names */
    {NULL, "_Z"},
    {NULL, "_ZN99999999999999999999999deep_ep"},
    {NULL, "<<<>::(("},
    {NULL, "void operator()<(a)->b>"},
    {NULL, "void flash::flash_fwd_splitkv_combine_kernel<Traits>(Params)"},
    {NULL, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(float)"},
    {NULL, "void at::native::vectorized_gather_kernel<16, long>(char*, char*)"},
    {NULL, "void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)"},
    {NULL, "void gemmk1::kernel<int, float>(float)"},
    {NULL, "triton_red_fused_all_reduce_scatter_0"},
    {NULL, "void step::run()"}, /* not ::ep:: */
    {NULL, "void sweep::run()"},
    {NULL, "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"},
    {NULL, "Memcpy DtoD (Device -> Device)"},
    {NULL, ""},
};

static tm_classifier *make(const char *extra) {
    tm_classifier *classifier = NULL;
    tm_error err;
    assert_int_equal(tm_classifier_create(extra, &classifier, &err), TM_OK);
    return classifier;
}

static bool communicates(tm_classifier *classifier, const tm_names *names, uint32_t id) {
    return tm_kernel_communicates(tm_classifier_kind(classifier, names, id));
}

TEST(communication_and_its_kind_are_reported_from_the_names_of_kernels) {
    tm_names *names = tm_names_create();
    tm_classifier *classifier = make(NULL);
    for (int round = 0; round < 2; round++) /* in the second round the name is cached */
        for (size_t i = 0; i < COUNT(kernels); i++) {
            const char *name = kernels[i].name, *kind = kernels[i].kind;
            uint32_t id = tm_names_intern_string(names, name);
            tm_kernel_kind kernel = tm_classifier_kind(classifier, names, id);
            if (tm_kernel_communicates(kernel) != (kind != NULL) ||
                (kind && strcmp(tm_collective_word(kernel.kind), kind) != 0))
                fail_msg("%s: class %d, %s", name, (int)kernel.class,
                         tm_collective_word(kernel.kind));
        }
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
}

TEST(an_unknown_kernel_that_sounds_like_communication_is_a_suspect) {
    static const struct {
        tm_kernel_class class;
        const char *name;
    } cases[] = {
        {TM_KERNEL_SUSPECT, "void acme::fast_all_reduce<float>(float**)"},
        {TM_KERNEL_SUSPECT, "_ZN4acme13ringAllGatherEPf"},
        {TM_KERNEL_SUSPECT, "NVLSReduceScatterKernel"},
        {TM_KERNEL_LOCAL, "warpAllReduceKernel<float>(float*)"},
        {TM_KERNEL_LOCAL, "triton_poi_fused_all_gather_into_tensor_0"},
        {TM_KERNEL_LOCAL, "kernel_fused_gemm_allreduce"},
        {TM_KERNEL_UNKNOWN, "void small_reduce<all_gather>(acme::all_reduce)"},
        {TM_KERNEL_UNKNOWN, "reduce_kernel<(Op)1>(float, AllToAll)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (tm_kernel_kind_of(cases[i].name, strlen(cases[i].name)).class != cases[i].class)
            fail_msg("%s", cases[i].name);
}

/* Checks that each of @p words, separated by |, has the expected kind or category. */
static void check_words(const char *words, const char *expected,
                        const char *(*reported)(const char *text, size_t size)) {
    for (const char *word = words, *end; word; word = *end ? end + 1 : NULL) {
        end = strchr(word, '|');
        end = end ? end : word + strlen(word);
        if (strcmp(reported(word, (size_t)(end - word)), expected) != 0)
            fail_msg("%.*s is said to be %s", (int)(end - word), word,
                     reported(word, (size_t)(end - word)));
    }
}

static const char *kind_of(const char *text, size_t size) {
    return tm_collective_word(tm_collective_kind_of_name(text, size));
}

static const char *kind_of_call(const char *text, size_t size) {
    return tm_collective_word(tm_comm_call_kind(text, size));
}

TEST(the_kind_is_reported_from_calls_of_libraries_that_communicate) {
    check_words("nccl:all_to_all|nccl:all_to_allv|nccl:alltoall_base|nccl:_all_to_all|"
                "ncclAllToAll|ncclAlltoAll|ncclAllToAllv|rcclAllToAllv|c10d::alltoall_|"
                "c10d::alltoall_base_|_c10d_functional::all_to_all_single",
                "alltoall", kind_of_call);
    check_words("nccl:all_reduce|c10d::allreduce_|ncclAllReduce", "allreduce", kind_of_call);
    check_words("nccl:gather|ncclGather|c10d::gather_", "gather", kind_of_call);
    check_words("nccl:scatter|c10d::scatter_", "scatter", kind_of_call);
    check_words("nccl:send 0->1|ncclSend|c10d::send", "send", kind_of_call);
    check_words("nccl:recv 0<-1|ncclRecv|c10d::recv_", "recv", kind_of_call);
    check_words("ncclGroupStart|ncclGroupEnd|ncclCommInitRank|nccl:coalesced|nccl|c10d::|"
                "all_to_all|MoE all-to-all|AllToAll4D|aten::gather|my nccl:all_to_all",
                "other", kind_of_call);
}

TEST(the_size_of_a_call_is_that_of_its_tensors) {
    static const struct {
        const char *dimensions, *types;
        int64_t bytes;
    } calls[] = {
        {"[[394241]]", "[\"float\"]", 1576964},
        {"[[8, 16], [3]]", "[\"c10::BFloat16\", \"long int\"]", 280}, /* 128 x 2 + 3 x 8 */
        {"[[8,16],[],[2]]", "[\"c10::Half\", \"Scalar\", \"bool\"]", 258},
        {"[[6], []]", "[\"int\", \"double\"]", 32}, /* a tensor without dimensions is a scalar */
        {"[[5, 2]]", "[\"c10::Float8_e4m3fn\"]", 10},
        {"[[600000000]]", "[\"float\"]", INT64_C(2400000000)},
        {"[[0]]", "[\"float\"]", -1}, /* empty: the metadata may belong to another call */
        {"[[8]]", "[\"c10::QInt\"]", -1},
        {"[[8], [8]]", "[\"float\"]", -1},
        {"[[8]]", "[]", -1},
        {"[[[8]]]", "[\"TensorList\"]", -1},
        {"[[8, 16], [3...", "[\"float\", \"float\"]", -1}, /* the text was cut off */
        {"[[99999999999, 99999999999]]", "[\"float\"]", -1},
        {"[[-1]]", "[\"float\"]", -1},
        {"[]", "[]", -1},
        {"", "", -1},
    };
    for (size_t i = 0; i < COUNT(calls); i++) {
        const tm_text dimensions = {calls[i].dimensions, strlen(calls[i].dimensions)};
        const tm_text types = {calls[i].types, strlen(calls[i].types)};
        if (tm_comm_call_bytes(dimensions, types) != calls[i].bytes)
            fail_msg("%s: %lld", calls[i].dimensions,
                     (long long)tm_comm_call_bytes(dimensions, types));
    }
}

TEST(the_kind_is_reported_from_every_form_of_a_collective_name) {
    check_words("allreduce|all_reduce|nccl:all_reduce|ALLREDUCE|allreduce_coalesced|"
                "allreduce_sparse",
                "allreduce", kind_of);
    check_words("_allgather_base|nccl:_all_gather_base|all_gather|all_gather_into_tensor|"
                "all_gather_into_tensor_coalesced|allgather_into_tensor_coalesced|"
                "allgather_coalesced",
                "allgather", kind_of);
    check_words("_reduce_scatter_base|nccl:_reduce_scatter_base|reduce_scatter|"
                "reduce_scatter_tensor|reduce_scatter_tensor_coalesced",
                "reducescatter", kind_of);
    check_words("broadcast|_broadcast_oop", "broadcast", kind_of);
    check_words("reduce|nccl:reduce|_reduce_oop", "reduce", kind_of);
    check_words("all_to_all|all_to_allv|alltoall_base|nccl:all_to_all", "alltoall", kind_of);
    check_words("gather|nccl:gather", "gather", kind_of);
    check_words("scatter", "scatter", kind_of);
    check_words("send|nccl:send 0->1", "send", kind_of);
    check_words("recv|nccl:recv 0<-1|recv_anysource", "recv", kind_of);
    check_words("sendrecv|collective-permute", "sendrecv", kind_of);
    check_words("barrier|monitored_barrier", "barrier", kind_of);
    check_words("coalesced|nccl:coalesced", "coalesced", kind_of);
    check_words("|wait|init|nccl:", "other", kind_of);
}

TEST(a_name_may_be_of_any_length_and_needs_no_terminator) {
    char name[4096];
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i < 9 ? "allreduce"[i] : 'x';
    assert_int_equal(tm_collective_kind_of_name(name, sizeof name), TM_COLL_ALLREDUCE);
    assert_int_equal(tm_collective_kind_of_kernel(name, sizeof name), TM_COLL_ALLREDUCE);
    assert_int_equal(tm_collective_kind_of_name("sendrecv", 4), TM_COLL_SEND);
    assert_int_equal(tm_collective_kind_of_kernel("sendrecv", 4), TM_COLL_SEND);
}

TEST(a_user_adds_a_pattern_and_takes_none_away) {
    tm_names *names = tm_names_create();
    tm_classifier *classifier = make("^my_(ring|tree)_[0-9]+$");
    static const struct {
        const char *name;
        bool communication;
    } cases[] = {
        {"my_ring_12", true},  {"MY_TREE_3", true},   {"my_ring_", false},
        {"xmy_ring_1", false}, {"my_ring_1x", false}, {"ncclDevKernel_Generic", true},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(
            communicates(classifier, names, tm_names_intern_string(names, cases[i].name)),
            cases[i].communication);
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
}

TEST(a_pattern_that_is_no_expression_is_wrong_usage) {
    static const char *const bad[] = {"(", "a{2", "[a-", "*(", "a\\"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        tm_classifier *classifier = NULL;
        tm_error err = {0};
        char start[64];
        assert_int_equal(tm_classifier_create(bad[i], &classifier, &err), TM_ERR_USAGE);
        assert_null(classifier);
        assert_int_equal(err.status, TM_ERR_USAGE);
        assert_int_equal(err.offset, -1);
        snprintf(start, sizeof start, "'%s' is not a regular expression: ", bad[i]);
        assert_memory_equal(err.message, start, strlen(start));
        assert_true(strlen(err.message) > strlen(start)); /* the reason follows */
    }
    tm_classifier_destroy(NULL);
}

TEST(names_that_come_later_are_reported_too) {
    tm_names *names = tm_names_create();
    tm_classifier *classifier = make(NULL);
    char text[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, i % 3 == 0 ? "nccl_%d" : "gemm_%d", i);
        uint32_t id = tm_names_intern_string(names, text);
        if (i % 7 == 0) /* the other names are looked up when many more are known */
            assert_int_equal(communicates(classifier, names, id), i % 3 == 0);
    }
    for (uint32_t id = 1; id <= 5000; id++)
        assert_int_equal(communicates(classifier, names, id), (id - 1) % 3 == 0);
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
}

static const char *category_of(const char *text, size_t size) {
    return tm_category_word(tm_category_of(text, size));
}

TEST(categories_are_reported_without_case_and_by_their_older_words) {
    check_words("cpu_op|Operator", "cpu_op", category_of);
    check_words("kernel|Kernel|KERNEL", "kernel", category_of);
    check_words("gpu_memcpy|Memcpy", "gpu_memcpy", category_of);
    check_words("Memset", "gpu_memset", category_of);
    check_words("Runtime", "cuda_runtime", category_of);
    check_words("cuda_driver", "cuda_driver", category_of);
    check_words("Python", "python_function", category_of);
    check_words("Trace", "trace", category_of);
    check_words("|none", "none", category_of);
    check_words("other|kernels|kerne|fwdbwd|cuda runtime", "other", category_of);
    for (int c = 0; c < TM_N_CATEGORIES; c++) { /* each word maps to its own category */
        const char *word = tm_category_word((tm_category)c);
        assert_int_equal(tm_category_of(word, strlen(word)), c);
    }
}

RUN_TESTS()
