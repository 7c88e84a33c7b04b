/* Classes of kernels: names from real traces, and every cell of a small job. */
#include "analysis_fixture.h"

#include "analysis/shared/kernel_traits.h"

/* Names from public traces. Each shows a class, bits, or a word that may mislead. */
static const struct {
    const char *name;
    tm_class work;
    tm_precision precision;
    bool flash;
} cases[] = {
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", TM_CLASS_COMMUNICATION, 0, false},
    {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT", TM_CLASS_MATRIX, TM_PRECISION_16, false},
    /* launched by aten::_scaled_mm with e5m2 and e4m3 */
    {"nvjet_qrtst_128x160_128x5_2x1_v_bz_coopA_algo2_TNT", TM_CLASS_MATRIX, TM_PRECISION_8, false},
    {"volta_sgemm_128x32_nt", TM_CLASS_MATRIX, TM_PRECISION_32, false},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x3_nn_align4>(", TM_CLASS_MATRIX,
     TM_PRECISION_TF32, false},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8", TM_CLASS_MATRIX, TM_PRECISION_32,
     false},
    {"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN", TM_CLASS_MATRIX, TM_PRECISION_16, false},
    {"void dot_kernel<float, 128, 0, cublasDotParams<", TM_CLASS_MATRIX, 0, false},
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, cutlass::half_t>",
     TM_CLASS_ATTENTION, TM_PRECISION_16, true},
    {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128", TM_CLASS_ATTENTION,
     TM_PRECISION_8, true},
    {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc", TM_CLASS_CONVOLUTION,
     TM_PRECISION_TF32, false},
    {"attn_fwd", TM_CLASS_ATTENTION, 0, true},
    {"void flashinfer::norm::RMSNormKernel<8, __nv_bfloat16>", TM_CLASS_NORMALISATION, 0, false},
    {"void at::native::batch_norm_backward_kernel<c10::BFloat16, c10::BFloat16, float",
     TM_CLASS_NORMALISATION, 0, false},
    {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
     "4, at::native::templates::cuda::normal_and_transform<",
     TM_CLASS_ELEMENTWISE, 0, false},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<", TM_CLASS_OPTIMIZER, 0,
     false},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, true>",
     TM_CLASS_SOFTMAX, 0, false},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(",
     TM_CLASS_COPY, 0, false},
    {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<",
     TM_CLASS_EMBEDDING, 0, false},
    {"loop_convert_fusion.kd", TM_CLASS_ELEMENTWISE, 0, false},
    {"loop_reduce_fusion", TM_CLASS_REDUCTION, 0, false},
    {"void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<",
     TM_CLASS_ELEMENTWISE, 0, false},
    {"void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorReductionOp<",
     TM_CLASS_REDUCTION, 0, false},
    {"triton_poi_fused__unsafe_view_mul_nll_loss_forward_pow_relu_3", TM_CLASS_ELEMENTWISE, 0,
     false},
    {"triton_red_fused__log_softmax_div_mul_prepare_softmax_online_0", TM_CLASS_LOSS, 0, false},
    {"triton_per_fused__flash_attn_backward__unsafe_view_mul_sigmoid_1", TM_CLASS_REDUCTION, 0,
     false},
    {"triton__0d1d2d3de", TM_CLASS_COMPILED, 0, false},
    {"void cub::DeviceRadixSortOnesweepKernel<", TM_CLASS_ROUTING, 0, false},
    {"void clover::par_ranged2d_kernel<PdV_kernel(bool, int, int", TM_CLASS_OTHER, 0, false},
    {"x", TM_CLASS_OTHER, 0, false},
    {"", TM_CLASS_OTHER, 0, false},
};

TEST(names_tell_the_class) {
    tm_kernel_words words;
    assert_true(tm_kernel_words_init(&words));
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_kernel_traits t = tm_kernel_traits_of(&words, cases[i].name);
        if (t.work != cases[i].work || t.precision != cases[i].precision ||
            t.flash != cases[i].flash)
            fail_msg("%s: %s, precision %d, flash %d", cases[i].name,
                     tm_class_word((tm_class)t.work), t.precision, t.flash);
    }
    tm_kernel_words_free(&words);
}

#define OP(name, begin, duration)                                                                  \
    { TM_CAT_CPU_OP, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define CALL(begin, correlation)                                                                   \
    { TM_CAT_RUNTIME, "launch", begin, 1, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* Rank 0: an attention operator launches hgemm (30). A backward operator launches sgemm (20). The
 * optimizer step has no operator around it, and launches relu (5). NCCL runs for 40, and its launch
 * is unknown. */
static const event_spec rank_0[] = {
    OP("aten::scaled_dot_product_attention", 0, 10),
    CALL(1, 1),
    OP("MmBackward0", 20, 10),
    CALL(21, 2),
    OP("Optimizer.step#AdamW.step", 40, 10),
    CALL(41, 3),
    KERNEL("hgemm", 100, 30, 1),
    KERNEL("sgemm", 130, 20, 2),
    KERNEL("relu", 150, 5, 3),
    KERNEL("ncclDevKernel_AllReduce", 160, 40, 9),
};

/* Rank 1: hgemm runs for 150, and its launch is unknown. */
static const event_spec rank_1[] = {KERNEL("hgemm", 100, 150, 9)};

/* Matrix multiply has 30 + 20 + 150 = 200 of 245 in all, and 180 of it in 16 bits. Rank 0 has 50
 * (30 in 16 bits), which is 52.63 % of its 95; rank 1 has 150. The median is 100. */
TEST(a_job_by_hand) {
    static const char *const kernels[] = {
        ("class calls total_ns optimizer_ns backward_ns attention_ns outside_ns bits8_ns bits16_ns "
         "tf32_ns bits32_ns bits64_ns flash_ns share_pct bits16_pct bits32_pct names top_name "
         "top_name_ns ranks median_rank_ns slowest_rank_ns slowest_rank spread"),
        "matrix~multiply 3 200 0 20 30 150 0 180 0 20 0 0 81.63265306 90 10 2 hgemm 180 2 100 150 "
        "1 1.5",
        ("communication 1 40 0 0 0 40 0 0 0 0 0 0 16.32653061 null null 1 ncclDevKernel_AllReduce "
         "40 1 40 40 0 1"),
        "elementwise 1 5 5 0 0 5 0 0 0 0 0 0 2.040816327 null null 1 relu 5 1 5 5 0 1",
    };
    static const char *const ranks[] = {
        ("rank class calls total_ns optimizer_ns backward_ns attention_ns outside_ns bits8_ns "
         "bits16_ns tf32_ns bits32_ns bits64_ns flash_ns share_pct bits16_pct bits32_pct"),
        "0 communication 1 40 0 0 0 40 0 0 0 0 0 0 42.10526316 null null",
        "0 elementwise 1 5 5 0 0 5 0 0 0 0 0 0 5.263157895 null null",
        "0 matrix~multiply 2 50 0 20 30 0 0 30 0 20 0 0 52.63157895 60 40",
        "1 matrix~multiply 1 150 0 0 0 150 0 150 0 0 0 0 100 100 0",
    };
    small_job j = open_job();
    add_rank(&j, 1, rank_1, COUNT(rank_1));
    add_rank(&j, 0, rank_0, COUNT(rank_0));
    finish_job(&j);
    CHECK_NAMED(&j, "classes.work/class", kernels);
    CHECK_NAMED(&j, "classes.work/rank", ranks);
    close_job(&j);
}

RUN_TESTS()
