#include "tensor_cores.h"

#include <stddef.h>
#include <string.h>

/* Operators with tensor-core kernels: forward operators, then backward operators. */
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

bool tm_operator_fits_tensor_cores(const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (size == operators[i].size && memcmp(name, operators[i].name, size) == 0)
            return true;
    return false;
}
