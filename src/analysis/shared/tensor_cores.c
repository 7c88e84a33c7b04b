#include "tensor_cores.h"

#include <stddef.h>
#include <stdint.h>
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
#define N(name)                                                                                    \
    { name, sizeof(name) - 1 }
static const struct {
    const char *name;
    size_t size;
} operators[] = {
    N("aten::_convolution"),
    N("aten::_convolution_nogroup"),
    N("aten::conv1d"),
    N("aten::conv2d"),
    N("aten::conv3d"),
    N("aten::conv_tbc"),
    N("aten::conv_transpose1d"),
    N("aten::conv_transpose2d"),
    N("aten::conv_transpose3d"),
    N("aten::convolution"),
    N("aten::cudnn_convolution"),
    N("aten::cudnn_convolution_transpose"),
    N("aten::miopen_convolution"),
    N("aten::prelu"),
    N("aten::addmm"),
    N("aten::addmm_"),
    N("aten::addmv"),
    N("aten::addr"),
    N("aten::matmul"),
    N("aten::mm"),
    N("aten::mv"),
    N("aten::linear"),
    N("aten::addbmm"),
    N("aten::baddbmm"),
    N("aten::bmm"),
    N("aten::chain_matmul"),
    N("aten::linalg_multi_dot"),
    N("aten::_thnn_fused_lstm_cell"),
    N("aten::_thnn_fused_gru_cell"),
    N("aten::lstm_cell"),
    N("aten::gru_cell"),
    N("aten::rnn_tanh_cell"),
    N("aten::rnn_relu_cell"),
    N("aten::_scaled_mm"),
    N("aten::_grouped_mm"),
    N("aten::scaled_dot_product_attention"),
    N("aten::_scaled_dot_product_flash_attention"),
    N("aten::_scaled_dot_product_efficient_attention"),
    N("aten::_scaled_dot_product_cudnn_attention"),
    N("aten::_flash_attention_forward"),
    N("aten::_efficient_attention_forward"),
    N("aten::_cudnn_attention_forward"),
    /* backward */
    N("aten::convolution_backward"),
    N("aten::cudnn_convolution_backward"),
    N("aten::cudnn_convolution_backward_weight"),
    N("aten::cudnn_convolution_backward_input"),
    N("aten::cudnn_convolution_transpose_backward"),
    N("aten::cudnn_convolution_transpose_backward_weight"),
    N("aten::cudnn_convolution_transpose_backward_input"),
    N("aten::_flash_attention_backward"),
    N("aten::_efficient_attention_backward"),
    N("aten::_cudnn_attention_backward"),
    N("aten::_scaled_dot_product_flash_attention_backward"),
    N("aten::_scaled_dot_product_efficient_attention_backward"),
    N("aten::_scaled_dot_product_cudnn_attention_backward"),
    N("CudnnConvolutionBackward"),
    N("CudnnConvolutionTransposeBackward"),
    N("ConvolutionBackward0"),
    N("MmBackward"),
    N("MmBackward0"),
    N("MvBackward"),
    N("MvBackward0"),
    N("AddmmBackward"),
    N("AddmmBackward0"),
    N("AddmvBackward"),
    N("AddmvBackward0"),
    N("AddbmmBackward"),
    N("AddbmmBackward0"),
    N("BmmBackward0"),
    N("BaddbmmBackward0"),
};
#undef N

/* Words by their first byte: first[b] - 1 is one that starts with b, next[w] - 1 another. */
enum { WORDS_MAX = 64 };
typedef struct index {
    uint8_t first[256], next[WORDS_MAX];
} index;

/* Names of kernels reach 2 KB, so they are gone through once and not once for each word. */
static bool has_any(const char *name, const char *const *words, size_t n) {
    index by_byte = {{0}, {0}};
    for (size_t w = 0; w < n; w++) {
        uint8_t *first = &by_byte.first[(unsigned char)*words[w]];
        by_byte.next[w] = *first;
        *first = (uint8_t)(w + 1);
    }
    for (; *name; name++)
        /* The second byte is compared before the word: every word has two. */
        for (uint8_t w = by_byte.first[(unsigned char)*name]; w > 0; w = by_byte.next[w - 1])
            if (words[w - 1][1] == name[1] &&
                strncmp(name, words[w - 1], strlen(words[w - 1])) == 0)
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
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (size == operators[i].size && memcmp(name, operators[i].name, size) == 0)
            return true;
    return false;
}
