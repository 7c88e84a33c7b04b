#include "kernel_traits.h"

#include <string.h>

/* A row matches a kernel if the kernel's name contains one of `words` but none of the exceptions in
 * `except`. The first row that matches gives the kernel's class. The rows were derived from the
 * kernels of some 150 public traces. Exceptions are needed because some words are parts of other
 * words: `norm` of `normal`, `conv` of `convert`, `gemm` of `fbgemm_gpu`, `flash` of
 * `flashinfer::norm`, `lamb` of `lambda`. */
typedef struct rule {
    tm_class work;
    const char *words, *except;
} rule;

static const rule rules[] = {
    {TM_CLASS_COMMUNICATION,
     "nccl rccl nvshmem deep_ep mscclpp cross_device_reduce all_reduce allreduce AllReduce "
     "all_gather allgather AllGather reduce_scatter ReduceScatter all_to_all AllToAll multimem "
     "lamport one_shot oneshot two_shot twoshot quick_reduce",
     ""},
    {TM_CLASS_EMBEDDING,
     "split_embedding dense_embedding embedding_dense embedding_bag embedding_backward "
     "EmbeddingBag vectorized_gather ndexSelect bounds_check_indices ^embedding_kernel",
     ""},
    {TM_CLASS_OPTIMIZER,
     "adam Adam adagrad FusedLamb lamb_ SGD sgd_ muon multi_tensor foreach nscale_", ""},
    {TM_CLASS_LOSS,
     "nll_loss NLLCriterion cross_entropy CrossEntropy log_softmax LogSoftMax mse_ bce_ kl_div "
     "huber_ smooth_l1_",
     ""},
    {TM_CLASS_NORMALISATION,
     "norm Norm bn_fw bn_bw RowwiseMoments GammaBeta ComputeInternalGradients ComputeGradInput "
     "FusedParams welford",
     "normal Normal"},
    {TM_CLASS_ROUTING,
     "moe_align moe_sum moe::moe_ moe::dev::routing moe::dev::finalize moe::dev::activation "
     "sort_expert routing topk top_k TopK top_p expert_ids virtual_topk sampling multinomial sort "
     "Sort radix Radix argmax ArgMax ArgMin nonzero unique cub:: thrust:: histogram bincount Scan",
     ""},
    {TM_CLASS_COPY, "reshape_and_cache store_kv set_kv recat_copy", ""},
    {TM_CLASS_ATTENTION,
     "flash fmha attn attention Attention _mla MLA PageAttention BatchPrefill BatchDecode sage_fwd "
     "sdpa",
     "create_flashinfer quantize_"},
    {TM_CLASS_CONVOLUTION,
     "conv Conv fprop dgrad wgrad inograd igemm im2col Im2 col2im implicit_ fft1d_ fft2d_ "
     "flip_filter cask_cudnn scudnn precomputed miopen MIOpen Sp3Asm xdlops",
     "convert Convert BatchNorm"},
    {TM_CLASS_MATRIX,
     "gemm Gemm GEMM gemv Cijk_ nvjet cublas cutlass matmul bmm_ mm_kernel splitK split_k splitk "
     "xmma wgmma dot_kernel reduce_1Block wvSplitK arlin fused_moe _lora_ lora_shrink lora_expand "
     "sgmv bgmv XXT ba_plus_cAA triton_tem triton_mm",
     "fbgemm_gpu"},
    {TM_CLASS_SOFTMAX, "oftmax oftMax softMax SoftMax", ""},
    {TM_CLASS_QUANTISATION,
     "quant Quant per_token_group scaled_fp8 input_scale FP8rowwise FP8_qparam", ""},
    {TM_CLASS_POOLING, "max_pool avg_pool average_pool pooling Pooling", ""},
    {TM_CLASS_COPY,
     "emcpy emset copy Copy CatArray transpose permute nchw Nchw nhwc Nhwc concat_ __amd_rocclr",
     ""},
    {TM_CLASS_ELEMENTWISE,
     "lementwise vectorized_ unrolled_ activation silu Silu gelu Gelu relu dropout act_and_mul "
     "clamp fill Fill arange ndex gather scatter where mask triu tril distribution rotary rope "
     "Rope OpTensor op_generic SubTensorOp scalePacked add_tensor upsample nterpolat pad "
     "compute_position write_req spin_kernel axpy scal_ cupy_ ^alloc_ _metadata_kernel "
     "resolve_future bucketize offsets_range ^loop_ ^wrapped_ EigenMetaKernel",
     "loop_reduce wrapped_reduce TensorReduction"},
    {TM_CLASS_REDUCTION, "reduce Reduce TensorReduction _sum sum_ mean_", ""},
};
enum { N_RULES = sizeof rules / sizeof *rules };

/* The first row with a word in the name counts. Rows with fewer bits come first, because names also
 * contain the 32 bits in which kernels accumulate. cuBLAS writes the types of its inputs after
 * nvjet_: q and r are FP8 (e4m3 and e5m2), t is BF16, h is FP16. */
static const struct {
    tm_precision precision;
    const char *words;
} precisions[] = {
    {TM_PRECISION_8, "e4m3 e5m2 E4m3 E5m2 fp8 FP8 nvjet_q nvjet_r i8816 i168 imma_ int8 s8s8"},
    {TM_PRECISION_16,
     "bf16 bfloat16 BFloat16 Bfloat16 fp16 f16 half Half hgemm h884 h1688 h16816 s884 nvjet_h "
     "nvjet_t _HHS_ _BBS_ _HB_ _BB_"},
    {TM_PRECISION_TF32, "tf32 s1688 tensorop_s"},
    {TM_PRECISION_32, "sgemm scudnn f32f32 _f32 _SB_"},
    {TM_PRECISION_64, "dgemm d884 f64 double _DB_"},
};
enum { N_PRECISION_ROWS = sizeof precisions / sizeof *precisions };

/* Words in the names of kernels that use tensor cores. The first words are from the list of
 * NVIDIA's PyProf, which TensorBoard also uses. The other words for NVIDIA are from kernels of
 * cuDNN on Ampere and later, of CUTLASS, of cuBLAS on Hopper and Blackwell, and of attention.
 * Kernels before and after attention use ordinary units, so no word matches them. The words for AMD
 * are from MFMA instructions, Composable Kernel, and MIOpen's implicit GEMM. */
static const char on_tensor_cores[] =
    "h884 s884 h1688 s1688 c1688 i8816 16816 hmma dgrad_1x1_stride_2x2 first_layer_wgrad_kernel "
    "conv1x1 conv2d_c1_k1 direct_group xmma_implicit_gemm xmma_sparse_conv "
    "xmma_warp_specialized_implicit_gemm xmma_gemm xmma_sparse_gemm "
    "xmma_fprop xmma_dgrad xmma_wgrad d884 imma qmma tensorop wmma wgmma tcgen05 nvjet_ deep_gemm "
    "flash_fwd_kernel flash_fwd_splitkv_kernel flash_bwd_dq_dk_dv FlashAttnFwd FlashAttnBwdSm fmha "
    "native_sdpa MLAPageAttentionHopper "
    "mfma xdlops _xdl _gtc";

/* Words in the names of kernels that use ordinary units although a word above matches. */
static const char on_others[] = "simt ffma";

/* Words for fused attention. Triton's kernels are called attn_fwd, for example in PyTorch for
 * ROCm. */
static const char flash[] = "flash fmha mla MLA sage PageAttention attn_fwd attn_bwd";

enum {
    WORDS = 0,
    EXCEPT = WORDS + N_RULES,
    PRECISIONS = EXCEPT + N_RULES,
    TENSOR = PRECISIONS + N_PRECISION_ROWS,
    OTHERS,
    FLASH,
    N_LISTS
};
_Static_assert((int)N_LISTS <= (int)TM_FINDER_LISTS, "a bit for each list");

const char *tm_class_word(tm_class work) {
#define TM_CLASS_WORD(id, word) word,
    static const char *const words[] = {TM_CLASS_LIST(TM_CLASS_WORD)};
#undef TM_CLASS_WORD
    return words[work];
}

bool tm_kernel_words_init(tm_kernel_words *words) {
    tm_finder *finder = &words->finder;
    tm_finder_init(finder);
    bool ok = tm_finder_add(finder, TENSOR, on_tensor_cores) &&
              tm_finder_add(finder, OTHERS, on_others) && tm_finder_add(finder, FLASH, flash);
    for (int r = 0; r < N_RULES && ok; r++)
        ok = tm_finder_add(finder, WORDS + r, rules[r].words) &&
             tm_finder_add(finder, EXCEPT + r, rules[r].except);
    for (int r = 0; r < N_PRECISION_ROWS && ok; r++)
        ok = tm_finder_add(finder, PRECISIONS + r, precisions[r].words);
    return ok;
}

void tm_kernel_words_free(tm_kernel_words *words) {
    tm_finder_free(&words->finder);
}

static bool has(uint64_t found, int list) {
    return found >> list & 1;
}

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

/* Returns the class of a kernel of TorchInductor, which names kernels by their form and the
 * operators that they fuse. Each operator may take only a small part of the time, so a pointwise
 * kernel always counts as elementwise. */
static tm_class inductor_class(const char *name) {
    if (begins(name, "triton_poi_") || begins(name, "triton_for_"))
        return TM_CLASS_ELEMENTWISE;
    if (!begins(name, "triton_red_") && !begins(name, "triton_per_"))
        return TM_CLASS_OTHER;
    if (strstr(name, "log_softmax") || strstr(name, "nll_loss") || strstr(name, "cross_entropy"))
        return TM_CLASS_LOSS;
    return strstr(name, "norm")      ? TM_CLASS_NORMALISATION
           : strstr(name, "softmax") ? TM_CLASS_SOFTMAX
                                     : TM_CLASS_REDUCTION;
}

static tm_class class_of(uint64_t found, const char *name) {
    bool triton = begins(name, "triton_");
    tm_class work = triton ? inductor_class(name) : TM_CLASS_OTHER;
    for (int r = 0; r < N_RULES && work == TM_CLASS_OTHER; r++)
        if (has(found, WORDS + r) && !has(found, EXCEPT + r))
            work = rules[r].work;
    return triton && work == TM_CLASS_OTHER ? TM_CLASS_COMPILED : work;
}

static tm_precision precision_of(uint64_t found, tm_class work) {
    if (!tm_class_multiplies(work))
        return TM_PRECISION_UNKNOWN;
    for (int r = 0; r < N_PRECISION_ROWS; r++)
        if (has(found, PRECISIONS + r))
            return precisions[r].precision;
    return TM_PRECISION_UNKNOWN;
}

/* Returns whether Tensile's name has a matrix instruction, such as _MI16x16x16x1_. */
static bool is_tensile_matrix(const char *name) {
    const char *tile = begins(name, "Cijk_") ? strstr(name, "_MI") : NULL;
    return tile && tile[3] >= '1' && tile[3] <= '9';
}

tm_kernel_traits tm_kernel_traits_of(const tm_kernel_words *words, const char *name) {
    uint64_t found = tm_finder_lists(&words->finder, name);
    tm_class work = class_of(found, name);
    return (tm_kernel_traits){
        .work = (uint8_t)work,
        .precision = (uint8_t)precision_of(found, work),
        .tensor_cores = is_tensile_matrix(name) || (has(found, TENSOR) && !has(found, OTHERS)),
        .flash = work == TM_CLASS_ATTENTION && has(found, FLASH),
    };
}
