/* Names of kernels and operators in real traces, and whether these use tensor cores. */

#include "analysis/shared/kernel_traits.h"
#include "analysis/shared/tensor_cores.h"

typedef struct named {
    const char *name;
    bool expected;
} named;

TEST(kernels_tell_by_their_name) {
    static const named cases[] = {
        {"volta_h884gemm_128x64_ldg8_nn", true},
        {"volta_fp16_s884cudnn_fp16_128x128_ldg8_wgrad_idx_exp_interior_nhwc_nt", true},
        {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", true},
        {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", true},
        {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32", true},
        {"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x32x8_stage3_"
         "warpsize2x2x1_g1_ffma_aligna4_alignc4_execute_kernel__5x_cudnn",
         false},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_nn_align2>(",
         true},
        {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(", false},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", true},
        {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT", true}, /* Hopper and Blackwell */
        {"nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", true},
        {"void deep_gemm::fp8_gemm_kernel<1536u, 7168u, 128u, 16u, 128u, 1u, 8u>", true},
        {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>", true},
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<", true},
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<", true},
        {"void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<cute::tuple<", false},
        {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128", true},
        {"Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0", true}, /* ROCm */
        {"Cijk_Ailk_Bljk_SB_MT32x32x64_SN_1LDSB0_APM1_MIWT2", false},
        {"_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47", true},
        {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3",
         true},
        {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x128x32_wt32x32x8", true},
        {"volta_sgemm_128x64_nt", false},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>", false},
        {"triton_red_fused__fused_rms_norm_0", false},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", false},
        {"", false},
    };
    tm_kernel_words words;
    assert_true(tm_kernel_words_init(&words));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tm_kernel_traits_of(&words, cases[i].name).tensor_cores != cases[i].expected)
            fail_msg("%s", cases[i].name);
    tm_kernel_words_free(&words);
}

TEST(operators_are_known_by_their_whole_name) {
    static const named cases[] = {
        {"aten::mm", true},          {"aten::addmm", true},      {"aten::linear", true},
        {"AddmmBackward", true},     {"AddmmBackward0", true},   {"aten::cudnn_convolution", true},
        {"aten::add", false},        {"aten::mm_", false},       {"mm", false},
        {"aten::batch_norm", false}, {"aten::linear_fc", false}, {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tm_operator_fits_tensor_cores(cases[i].name) != cases[i].expected)
            fail_msg("%s", cases[i].name);
}

RUN_TESTS()
