/* Operators whose work (FLOP and bytes) can be computed from their arguments. */
#ifndef TMERGE_COUNTED_H
#define TMERGE_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

/* Operators with exactly these names. Names of fused operators may contain mm or flash_attn,
 * too. */
#define TM_COUNTED_LIST(X)                                                                         \
    X(TM_COUNTED_MM, "aten::mm")                                                                   \
    X(TM_COUNTED_SCALED_MM, "aten::_scaled_mm")                                                    \
    X(TM_COUNTED_INT_MM, "aten::_int_mm")                                                          \
    X(TM_COUNTED_ADDMM, "aten::addmm")                                                             \
    X(TM_COUNTED_ADDMM_ACTIVATION, "aten::_addmm_activation")                                      \
    X(TM_COUNTED_BMM, "aten::bmm")                                                                 \
    X(TM_COUNTED_BADDBMM, "aten::baddbmm")                                                         \
    X(TM_COUNTED_LINEAR, "aten::linear")                                                           \
    X(TM_COUNTED_CONVOLUTION, "aten::convolution")                                                 \
    X(TM_COUNTED_INNER_CONVOLUTION, "aten::_convolution")                                          \
    X(TM_COUNTED_CONVOLUTION_BACKWARD, "aten::convolution_backward")                               \
    X(TM_COUNTED_FLASH, "aten::_scaled_dot_product_flash_attention")                               \
    X(TM_COUNTED_FLASH_BACKWARD, "aten::_scaled_dot_product_flash_attention_backward")             \
    X(TM_COUNTED_EFFICIENT, "aten::_scaled_dot_product_efficient_attention")                       \
    X(TM_COUNTED_EFFICIENT_BACKWARD, "aten::_scaled_dot_product_efficient_attention_backward")     \
    X(TM_COUNTED_CUDNN, "aten::_scaled_dot_product_cudnn_attention")                               \
    X(TM_COUNTED_CUDNN_BACKWARD, "aten::_scaled_dot_product_cudnn_attention_backward")             \
    X(TM_COUNTED_AITER_GEMM, "aiter::gemm_a16w16")                                                 \
    X(TM_COUNTED_VLLM_GEMM, "vllm::rocm_unquantized_gemm")                                         \
    X(TM_COUNTED_FLASH_2, "flash_attn::_flash_attn_forward")                                       \
    X(TM_COUNTED_FLASH_2_BACKWARD, "flash_attn::_flash_attn_backward")                             \
    X(TM_COUNTED_FLASH_2_PACKED, "flash_attn::_flash_attn_varlen_forward")                         \
    X(TM_COUNTED_FLASH_2_PACKED_BACKWARD, "flash_attn::_flash_attn_varlen_backward")               \
    X(TM_COUNTED_FLASH_3, "flash_attn_3::fwd")                                                     \
    X(TM_COUNTED_FLASH_3_BACKWARD, "flash_attn_3::bwd")

typedef enum tm_counted {
#define TM_COUNTED_ENUM(id, name) id,
    TM_COUNTED_LIST(TM_COUNTED_ENUM)
#undef TM_COUNTED_ENUM
        TM_N_COUNTED
} tm_counted;

/** Returns the operator with this name; TM_N_COUNTED for any other name. */
tm_counted tm_counted_of(const char *name, size_t size);

/** The operator that autograd runs once per pass and parameter. Its input is the parameter's
 * gradient. */
#define TM_ACCUMULATE_GRAD "torch::autograd::AccumulateGrad"

/** Prefix of PyTorch's ranges around NCCL: "nccl:all_reduce". Their inputs are the tensors of the
 * collective. */
#define TM_NCCL_RANGE "nccl:"

/** Returns whether the types of an operator's inputs are kept. They are kept for the operators
 * above, for TM_ACCUMULATE_GRAD (whose inputs have the types of parameters), and for names that
 * begin with TM_NCCL_RANGE. */
bool tm_inputs_are_kept(const char *name, size_t size);

#endif
