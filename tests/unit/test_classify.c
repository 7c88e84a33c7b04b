/* Which kernels communicate, and which collective a name means. */
#include "timeline/classify.h"

/* Kernels as profilers name them. */
static const struct {
    const char *name;
    bool communication;
    tm_collective_kind kind; /* of communication kernels */
} kernels[] = {
    /* NCCL to 2.9 */
    {"ncclBroadcastRingLLKernel_copy_i8(ncclColl)", true, TM_COLL_BROADCAST},
    {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", true, TM_COLL_ALLREDUCE},
    {"ncclReduceScatterRingLLKernel_sum_f16(ncclColl)", true, TM_COLL_REDUCESCATTER},
    {"ncclReduceRingLLKernel_sum_f16(ncclColl)", true, TM_COLL_REDUCE},
    {"ncclSendRecvKernel_copy_i8(ncclColl)", true, TM_COLL_SENDRECV},
    /* 2.10 to 2.17 */
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", true, TM_COLL_ALLREDUCE},
    {"ncclKernel_AllReduce_TREE_LL128_Sum___nv_bfloat16(ncclDevComm*, unsigned long, ncclWork*)",
     true, TM_COLL_ALLREDUCE},
    {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", true,
     TM_COLL_BROADCAST},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", true,
     TM_COLL_SENDRECV},
    {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", true, TM_COLL_ALLGATHER},
    {"ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclWorkElem)", true, TM_COLL_REDUCESCATTER},
    {"ncclKernel_Reduce_RING_LL_Sum_float(ncclWorkElem)", true, TM_COLL_REDUCE},
    /* 2.18 on */
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true, TM_COLL_ALLGATHER},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true,
     TM_COLL_ALLREDUCE},
    {"ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevComm*, unsigned long, ncclWork*)", true,
     TM_COLL_ALLREDUCE},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true,
     TM_COLL_REDUCESCATTER},
    {"ncclDevKernel_Reduce_Sum_u32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true,
     TM_COLL_REDUCE},
    {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true, TM_COLL_BROADCAST},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", true, TM_COLL_SENDRECV},
    /* 2.27 on: symmetric memory */
    {"ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymDevArgs)", true, TM_COLL_ALLREDUCE},
    {"ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs)", true, TM_COLL_ALLGATHER},
    {"ncclSymkDevKernel_ReduceScatter_LD_sum_f32(ncclSymkDevWorkArgs)", true,
     TM_COLL_REDUCESCATTER},
    /* without a type: NCCL under several operations, RCCL always */
    {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", true, TM_COLL_OTHER},
    {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", true, TM_COLL_OTHER},
    {"ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)", true, TM_COLL_OTHER},
    {"ncclDevKernelDebug_Generic_1(ncclDevKernelArgsStorage<4096ul>)", true, TM_COLL_OTHER},
    /* custom all-reduce of SGLang, vLLM, PyTorch, FlashInfer */
    {"void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>(sglang::RankData*, ...)", true,
     TM_COLL_ALLREDUCE},
    {"void vllm::cross_device_reduce_2stage<half, 4>(vllm::RankData*, vllm::RankSignals, ...)",
     true, TM_COLL_ALLREDUCE},
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, "
     "unsigned long, unsigned int**, unsigned long, unsigned long)",
     true, TM_COLL_ALLREDUCE},
    {"all_reduce_one_shot_kernel", true, TM_COLL_ALLREDUCE},
    {"void two_shot_all_reduce_kernel<float, 8>(float**)", true, TM_COLL_ALLREDUCE},
    {"void oneShotAllReduceKernel<__half>(AllReduceParams)", true, TM_COLL_ALLREDUCE},
    {"mscclKernel_Sum_half_LL(ncclDevComm*)", true, TM_COLL_OTHER},
    {"allreduce_two_shot", true, TM_COLL_ALLREDUCE},
    {"AllReduce_OneShot<float>", true, TM_COLL_ALLREDUCE},
    {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<...>", true,
     TM_COLL_ALLREDUCE},
    /* expert parallelism */
    {"void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*, float*, int*, long*)", true,
     TM_COLL_ALLTOALL},
    {"void deep_ep::internode_ll::combine<3, 10, 7168, 9>(void*, void*, int*, void*)", true,
     TM_COLL_ALLTOALL},
    {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, long*)", true,
     TM_COLL_ALLTOALL},
    {"void dpsk::ep::internode::combine_ll<1>(int*)", true, TM_COLL_ALLTOALL},
    {"void deep_ep::intranode::barrier<8>(int**, int)", true, TM_COLL_BARRIER},
    {"void deep_ep::internode_ll::clean_low_latency_buffer<32>(int*)", true, TM_COLL_OTHER},
    {"nvshmemi_proxy_quiet_entrypoint()", true, TM_COLL_OTHER},
    {"barrier_on_stream_kernel_nvshmem(int)", true, TM_COLL_OTHER},
    {"void mscclpp::allreduce<float>(float*)", true, TM_COLL_OTHER}, /* nothing is matched of it */
    /* other vendors, any case */
    {"rcclAllReduceKernel", true, TM_COLL_ALLREDUCE},
    {"HcclAllGather", true, TM_COLL_ALLGATHER},
    {"oneccl_reduce_scatter", true, TM_COLL_REDUCESCATTER},
    {"NCCLKERNEL_ALLREDUCE", true, TM_COLL_ALLREDUCE},
    /* computation, some with words of communication */
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(float)", false, 0},
    {"void at::native::vectorized_gather_kernel<16, long>(char*, char*)", false, 0},
    {"void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)", false, 0},
    {"void gemmk1::kernel<int, float>(float)", false, 0},
    {"triton_red_fused_all_reduce_scatter_0", false, 0},
    {"void step::run()", false, 0}, /* not ::ep:: */
    {"void sweep::run()", false, 0},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", false, 0},
    {"Memcpy DtoD (Device -> Device)", false, 0},
    {"", false, 0},
};

static tm_classifier *make(const char *extra) {
    tm_classifier *classifier = NULL;
    tm_error err;
    assert_int_equal(tm_classifier_create(extra, &classifier, &err), TM_OK);
    return classifier;
}

static void communication_is_told_from_the_names_of_kernels(void **state) {
    tm_names *names = tm_names_create();
    tm_classifier *classifier = make(NULL);
    for (int round = 0; round < 2; round++) /* at first seen, then known */
        for (size_t i = 0; i < COUNT(kernels); i++) {
            uint32_t id = tm_names_intern_string(names, kernels[i].name);
            bool found = tm_classifier_is_communication(classifier, names, id);
            if (found != kernels[i].communication)
                print_message("the kernel is %s\n", kernels[i].name);
            assert_int_equal(found, kernels[i].communication);
        }
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
}

static void the_kind_is_told_from_the_names_of_communication_kernels(void **state) {
    for (size_t i = 0; i < COUNT(kernels); i++) {
        if (!kernels[i].communication)
            continue;
        tm_collective_kind kind =
            tm_collective_kind_of_kernel(kernels[i].name, strlen(kernels[i].name));
        if (kind != kernels[i].kind)
            print_message("the kernel is %s\n", kernels[i].name);
        assert_string_equal(tm_collective_word(kind), tm_collective_word(kernels[i].kind));
    }
}

static void the_kind_is_told_from_every_form_of_a_collective_name(void **state) {
    static const struct {
        const char *name, *kind;
    } cases[] = {
        {"allreduce", "allreduce"},
        {"all_reduce", "allreduce"},
        {"nccl:all_reduce", "allreduce"},
        {"ALLREDUCE", "allreduce"},
        {"allreduce_coalesced", "allreduce"},
        {"allreduce_sparse", "allreduce"},
        {"_allgather_base", "allgather"},
        {"nccl:_all_gather_base", "allgather"},
        {"all_gather", "allgather"},
        {"all_gather_into_tensor", "allgather"},
        {"all_gather_into_tensor_coalesced", "allgather"},
        {"allgather_into_tensor_coalesced", "allgather"},
        {"allgather_coalesced", "allgather"},
        {"_reduce_scatter_base", "reducescatter"},
        {"nccl:_reduce_scatter_base", "reducescatter"},
        {"reduce_scatter", "reducescatter"},
        {"reduce_scatter_tensor", "reducescatter"},
        {"reduce_scatter_tensor_coalesced", "reducescatter"},
        {"broadcast", "broadcast"},
        {"_broadcast_oop", "broadcast"},
        {"reduce", "reduce"},
        {"nccl:reduce", "reduce"},
        {"_reduce_oop", "reduce"},
        {"all_to_all", "alltoall"},
        {"all_to_allv", "alltoall"},
        {"alltoall_base", "alltoall"},
        {"nccl:all_to_all", "alltoall"},
        {"gather", "gather"},
        {"nccl:gather", "gather"},
        {"scatter", "scatter"},
        {"send", "send"},
        {"nccl:send 0->1", "send"},
        {"recv", "recv"},
        {"nccl:recv 0<-1", "recv"},
        {"recv_anysource", "recv"},
        {"sendrecv", "sendrecv"},
        {"collective-permute", "sendrecv"},
        {"barrier", "barrier"},
        {"monitored_barrier", "barrier"},
        {"coalesced", "coalesced"},
        {"nccl:coalesced", "coalesced"},
        {"wait", "other"},
        {"init", "other"},
        {"nccl:", "other"},
        {"", "other"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_collective_kind kind = tm_collective_kind_of_name(cases[i].name, strlen(cases[i].name));
        if (strcmp(tm_collective_word(kind), cases[i].kind) != 0)
            print_message("the name is %s\n", cases[i].name);
        assert_string_equal(tm_collective_word(kind), cases[i].kind);
    }
}

static void a_name_may_be_of_any_length_and_needs_no_terminator(void **state) {
    char name[4096];
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i < 9 ? "allreduce"[i] : 'x';
    assert_int_equal(tm_collective_kind_of_name(name, sizeof name), TM_COLL_ALLREDUCE);
    assert_int_equal(tm_collective_kind_of_kernel(name, sizeof name), TM_COLL_ALLREDUCE);
    assert_int_equal(tm_collective_kind_of_name("sendrecv", 4), TM_COLL_SEND);
    assert_int_equal(tm_collective_kind_of_kernel("sendrecv", 4), TM_COLL_SEND);
}

static void a_user_adds_a_pattern_and_takes_none_away(void **state) {
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
        assert_int_equal(tm_classifier_is_communication(
                             classifier, names, tm_names_intern_string(names, cases[i].name)),
                         cases[i].communication);
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
}

static void a_pattern_that_is_no_expression_is_wrong_usage(void **state) {
    static const char *const bad[] = {"(", "a{2", "[a-", "*(", "a\\"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        tm_classifier *classifier = NULL;
        tm_error err = {0};
        char start[64];
        assert_int_equal(tm_classifier_create(bad[i], &classifier, &err), TM_ERR_USAGE);
        assert_null(classifier);
        assert_int_equal(err.status, TM_ERR_USAGE);
        assert_int_equal(err.offset, -1);
        snprintf(start, sizeof start, "'%s' is no regular expression: ", bad[i]);
        assert_memory_equal(err.message, start, strlen(start));
        assert_true(strlen(err.message) > strlen(start)); /* and the reason */
    }
    tm_classifier_destroy(NULL);
}

static void names_that_come_later_are_told_too(void **state) {
    tm_names *names = tm_names_create();
    tm_classifier *classifier = make(NULL);
    char text[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, i % 3 == 0 ? "nccl_%d" : "gemm_%d", i);
        uint32_t id = tm_names_intern_string(names, text);
        if (i % 7 == 0) /* others are asked for when many more are known */
            assert_int_equal(tm_classifier_is_communication(classifier, names, id), i % 3 == 0);
    }
    for (uint32_t id = 1; id <= 5000; id++)
        assert_int_equal(tm_classifier_is_communication(classifier, names, id), (id - 1) % 3 == 0);
    tm_classifier_destroy(classifier);
    tm_names_destroy(names);
}

static void categories_are_told_without_case_and_by_their_older_words(void **state) {
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"cpu_op", "cpu_op"},
        {"Operator", "cpu_op"},
        {"kernel", "kernel"},
        {"Kernel", "kernel"},
        {"KERNEL", "kernel"},
        {"gpu_memcpy", "gpu_memcpy"},
        {"Memcpy", "gpu_memcpy"},
        {"Memset", "gpu_memset"},
        {"Runtime", "cuda_runtime"},
        {"cuda_driver", "cuda_driver"},
        {"Python", "python_function"},
        {"Trace", "trace"},
        {"", "none"},
        {"none", "none"},
        {"other", "other"},
        {"kernels", "other"},
        {"kerne", "other"},
        {"fwdbwd", "other"},
        {"cuda runtime", "other"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(tm_category_word(tm_category_of(cases[i].text, strlen(cases[i].text))),
                            cases[i].word);
    for (int c = 0; c < TM_N_CATEGORIES; c++) { /* each word is its own */
        const char *word = tm_category_word((tm_category)c);
        assert_int_equal(tm_category_of(word, strlen(word)), c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communication_is_told_from_the_names_of_kernels),
        cmocka_unit_test(the_kind_is_told_from_the_names_of_communication_kernels),
        cmocka_unit_test(the_kind_is_told_from_every_form_of_a_collective_name),
        cmocka_unit_test(a_name_may_be_of_any_length_and_needs_no_terminator),
        cmocka_unit_test(a_user_adds_a_pattern_and_takes_none_away),
        cmocka_unit_test(a_pattern_that_is_no_expression_is_wrong_usage),
        cmocka_unit_test(names_that_come_later_are_told_too),
        cmocka_unit_test(categories_are_told_without_case_and_by_their_older_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
