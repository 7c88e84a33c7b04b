#include "tensor_cores.h"

#include <stddef.h>
#include <string.h>

/* Those of NVIDIA's PyProf, which TensorBoard has too, then what came after it. */
static const char *const kernels[] = {
    "h884", "s884", "h1688", "s1688", "c1688", "i8816", "16816", "hmma", "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm",
    "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm",
    /* cuDNN on Ampere and later, CUTLASS, cuBLAS on Hopper and Blackwell */
    "xmma_fprop", "xmma_dgrad", "xmma_wgrad", "d884", "imma", "qmma", "tensorop", "wmma", "wgmma",
    "tcgen05", "nvjet_", "deep_gemm",
    /* attention; what prepares it and what cleans up run on the ordinary units */
    "flash_fwd_kernel", "flash_fwd_splitkv_kernel", "flash_bwd_dq_dk_dv", "FlashAttnFwd",
    "FlashAttnBwdSm", "fmha", "native_sdpa", "MLAPageAttentionHopper",
    /* AMD: MFMA instructions, Composable Kernel, MIOpen's implicit GEMM */
    "mfma", "xdlops", "_xdl", "_gtc"};

/* Kernels of the same libraries for the ordinary units. */
static const char *const others[] = {"simt", "ffma"};

/* The first group by name; the second are the backward operators that launch such kernels. */
static const char *const operators[] = {
    "aten::_convolution", "aten::_convolution_nogroup", "aten::conv1d", "aten::conv2d",
    "aten::conv3d", "aten::conv_tbc", "aten::conv_transpose1d", "aten::conv_transpose2d",
    "aten::conv_transpose3d", "aten::convolution", "aten::cudnn_convolution",
    "aten::cudnn_convolution_transpose", "aten::miopen_convolution", "aten::prelu", "aten::addmm",
    "aten::addmm_", "aten::addmv", "aten::addr", "aten::matmul", "aten::mm", "aten::mv",
    "aten::linear", "aten::addbmm", "aten::baddbmm", "aten::bmm", "aten::chain_matmul",
    "aten::linalg_multi_dot", "aten::_thnn_fused_lstm_cell", "aten::_thnn_fused_gru_cell",
    "aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell", "aten::rnn_relu_cell",
    "aten::_scaled_mm", "aten::_grouped_mm", "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_cudnn_attention", "aten::_flash_attention_forward",
    "aten::_efficient_attention_forward", "aten::_cudnn_attention_forward",
    /* backward */
    "aten::convolution_backward", "aten::cudnn_convolution_backward",
    "aten::cudnn_convolution_backward_weight", "aten::cudnn_convolution_backward_input",
    "aten::cudnn_convolution_transpose_backward",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::cudnn_convolution_transpose_backward_input", "aten::_flash_attention_backward",
    "aten::_efficient_attention_backward", "aten::_cudnn_attention_backward",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention_backward", "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward", "ConvolutionBackward0", "MmBackward", "MmBackward0",
    "MvBackward", "MvBackward0", "AddmmBackward", "AddmmBackward0", "AddmvBackward",
    "AddmvBackward0", "AddbmmBackward", "AddbmmBackward0", "BmmBackward0", "BaddbmmBackward0"};

static bool has_any(const char *name, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* Tensile writes the matrix instruction of a kernel as in _MI16x16x16x1_. */
static bool is_tensile_matrix(const char *name) {
    const char *tile = strncmp(name, "Cijk_", 5) == 0 ? strstr(name, "_MI") : NULL;
    return tile && tile[3] >= '1' && tile[3] <= '9';
}

bool tm_kernel_on_tensor_cores(const char *name) {
    return is_tensile_matrix(name) || (has_any(name, kernels, sizeof kernels / sizeof *kernels) &&
                                       !has_any(name, others, sizeof others / sizeof *others));
}

bool tm_operator_fits_tensor_cores(const char *name) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(name, operators[i]) == 0)
            return true;
    return false;
}
